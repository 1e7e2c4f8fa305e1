//! Floating point in SMT-LIB's theory FloatingPoint, for solver processes.
//!
//! That theory has one NaN; our patterns have many. So the result of an operation is a constant of its own, `f<number>`, and an assertion
//! says what it is: the theory's number, or where the theory has a NaN the pattern that the CPU gives.

use wryneck_ir::Round;

use super::smtlib::{constant, put, term};
use crate::float::{self, FloatOp};
use crate::node::{ExprId, Kind, Width};
use crate::pool::Pool;
use crate::visit::post_order;

/// Exponent bits, and significand bits with the integer bit.
fn format(width: Width) -> Option<(Width, Width)> {
    match width {
        32 => Some((8, 24)),
        64 => Some((11, 53)),
        _ => None,
    }
}

/// The operations of floating point below the expressions, operands first.
pub(super) fn operations(pool: &Pool, expressions: &[ExprId]) -> Vec<ExprId> {
    let mut found = Vec::new();
    post_order(pool, expressions, |e| {
        if matches!(pool.kind(e), Kind::Float(..)) {
            found.push(e);
        }
    });
    found
}

/// Can the text say all of this? The x87's format has no counterpart there.
pub(super) fn is_expressible(pool: &Pool, operation: ExprId) -> bool {
    let Kind::Float(op, a, _) = pool.kind(operation) else { return true };
    let known = |e: ExprId| format(pool.width(e)).is_some();
    match op {
        FloatOp::FromSigned | FloatOp::FromUnsigned => known(operation),
        FloatOp::Cast => known(operation) && known(a),
        _ => known(a),
    }
}

pub(super) fn name(operation: ExprId) -> String {
    format!("f{}", operation.raw())
}

/// Declares the result of an operation and says what it is.
pub(super) fn define(pool: &Pool, operation: ExprId, out: &mut String) {
    let Kind::Float(op, a, b) = pool.kind(operation) else { return };
    let (result, width) = (name(operation), pool.width(operation));
    put(out, format_args!("(declare-const {result} (_ BitVec {width}))\n"));
    let said = match op {
        FloatOp::Compare(predicate) => format!("(= {result} (ite {} #b1 #b0))", comparison(predicate, &number(pool, a), &number(pool, b))),
        FloatOp::ToSigned => format!("(= {result} {})", to_signed(pool, a, width)),
        FloatOp::FromSigned => same(&result, width, &format!("({} RNE {})", to_fp("to_fp", width), term(pool, a))),
        FloatOp::FromUnsigned => same(&result, width, &format!("({} RNE {})", to_fp("to_fp_unsigned", width), term(pool, a))),
        _ => {
            let value = arithmetic(pool, op, a, b, width);
            format!("(ite (fp.isNaN {value}) (= {result} {}) {})", nan(pool, op, a, b, width), same(&result, width, &value))
        }
    };
    put(out, format_args!("(assert {said})\n"));
}

/// `result` is the pattern of a number.
fn same(result: &str, width: Width, value: &str) -> String {
    format!("(= {} {value})", as_number(result, width))
}

fn to_fp(word: &str, width: Width) -> String {
    let (exponent, significand) = format(width).unwrap_or_default();
    format!("(_ {word} {exponent} {significand})")
}

fn as_number(bits: &str, width: Width) -> String {
    format!("({} {bits})", to_fp("to_fp", width))
}

fn number(pool: &Pool, e: ExprId) -> String {
    as_number(&term(pool, e), pool.width(e))
}

fn arithmetic(pool: &Pool, op: FloatOp, a: ExprId, b: ExprId, width: Width) -> String {
    let x = number(pool, a);
    let two = |word: &str| format!("(fp.{word} RNE {x} {})", number(pool, b));
    match op {
        FloatOp::Add => two("add"),
        FloatOp::Sub => two("sub"),
        FloatOp::Mul => two("mul"),
        FloatOp::Div => two("div"),
        FloatOp::Sqrt => format!("(fp.sqrt RNE {x})"),
        FloatOp::Fma => {
            let [y, z] = halves(pool, b, width).map(|part| as_number(&part, width));
            format!("(fp.fma RNE {x} {y} {z})")
        }
        FloatOp::Round(mode) => {
            let mode = match mode {
                Round::Floor => "RTN",
                Round::Ceil => "RTP",
                Round::Trunc => "RTZ",
                Round::Even => "RNE",
                Round::Away => "RNA",
            };
            format!("(fp.roundToIntegral {mode} {x})")
        }
        _ => format!("({} RNE {x})", to_fp("to_fp", width)),
    }
}

/// The second factor and the addend of a fused multiplication.
fn halves(pool: &Pool, b: ExprId, width: Width) -> [String; 2] {
    let whole = term(pool, b);
    [format!("((_ extract {} 0) {whole})", width - 1), format!("((_ extract {} {width}) {whole})", 2 * width - 1)]
}

/// The pattern of an operation's NaN: that of the first operand that is one, made quiet; else the default.
fn nan(pool: &Pool, op: FloatOp, a: ExprId, b: ExprId, width: Width) -> String {
    let fraction = format(width).map_or(0, |(_, significand)| significand - 1);
    let quiet = constant(&[1 << (fraction - 1)], width);
    let default = constant(&[float::eval(FloatOp::Sqrt, width, width, 1 << (width - 1) | 1, 0) as u64], width);
    if op == FloatOp::Cast {
        return cast_nan(&term(pool, a), pool.width(a), width);
    }
    let mut operands = vec![term(pool, a)];
    match op {
        FloatOp::Fma => operands.extend(halves(pool, b, width)),
        _ if op.is_binary() => operands.push(term(pool, b)),
        _ => {}
    }
    operands.iter().rev().fold(default, |other, bits| format!("(ite (fp.isNaN {}) (bvor {bits} {quiet}) {other})", as_number(bits, width)))
}

/// The payload keeps its highest bits.
fn cast_nan(bits: &str, from: Width, to: Width) -> String {
    let fraction = |width: Width| format(width).map_or(0, |(_, significand)| significand - 1);
    let (have, want) = (fraction(from), fraction(to));
    let sign = format!("((_ extract {0} {0}) {bits})", from - 1);
    let exponent = format!("(bvnot (_ bv0 {}))", to - 1 - want);
    let payload = if want >= have {
        format!("(concat ((_ extract {} 0) {bits}) (_ bv0 {}))", have - 1, want - have)
    } else {
        format!("((_ extract {} {}) {bits})", have - 1, have - want)
    };
    let quiet = constant(&[1 << (want - 1)], to);
    format!("(bvor {quiet} (concat {sign} (concat {exponent} {payload})))")
}

fn to_signed(pool: &Pool, a: ExprId, width: Width) -> String {
    let from = pool.width(a);
    let whole = format!("(fp.roundToIntegral RTZ {})", number(pool, a));
    let limit = |sign: u128| {
        let power = float::eval(FloatOp::FromUnsigned, 64, from, 1 << (width - 1), 0);
        as_number(&constant(&float::limbs(from, power | sign << (from - 1)), from), from)
    };
    let inside = format!("(and (fp.leq {} {whole}) (fp.lt {whole} {}))", limit(1), limit(0));
    format!("(ite {inside} ((_ fp.to_sbv {width}) RTZ {whole}) {})", constant(&[1 << (width - 1)], width))
}

fn comparison(predicate: u8, x: &str, y: &str) -> String {
    use wryneck_ir::FcmpPred;
    let mut any = String::from("(or false");
    for (outcome, word) in [(FcmpPred::EQ, "fp.eq"), (FcmpPred::LT, "fp.lt"), (FcmpPred::GT, "fp.gt")] {
        if u32::from(predicate) & outcome != 0 {
            put(&mut any, format_args!(" ({word} {x} {y})"));
        }
    }
    if u32::from(predicate) & FcmpPred::UNORDERED != 0 {
        put(&mut any, format_args!(" (fp.isNaN {x}) (fp.isNaN {y})"));
    }
    any + ")"
}
