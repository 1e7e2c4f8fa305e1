//! Queries as SMT-LIB 2 text (logic QF_BV, with floating point QF_BVFP), for any solver process.
//!
//! Every operator node is bound by a `let` of its own, so the text is linear in the nodes (and array elements). Truth values
//! are 1-bit vectors throughout; comparisons are turned into bits and assertions into `(= e #b1)`. A `Read` is a chain of
//! `ite` over the elements; a `PtrAdd` is the addition it means. Symbols are named `s<number>`.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::smtlib_float;
use crate::node::{ExprId, Kind, SymId, arithmetic, comparison};
use crate::pool::Pool;
use crate::visit::post_order;
use crate::wide;

/// The name of a symbol in the text.
pub fn symbol_name(symbol: SymId) -> String {
    format!("s{}", symbol.0)
}

/// A whole script: logic, declarations of the symbols used, one assertion for each 1-bit expression, `(check-sat)`.
pub fn query(pool: &Pool, assertions: &[ExprId]) -> String {
    let mut out = format!("(set-logic {})\n", logic(pool, assertions));
    declare(pool, assertions, &mut out);
    for &assertion in assertions {
        out.push_str("(assert ");
        term_equal(pool, assertion, "#b1", &mut out);
        out.push_str(")\n");
    }
    out.push_str("(check-sat)\n");
    out
}

/// The logic of the expressions: with floating point or without.
pub fn logic(pool: &Pool, expressions: &[ExprId]) -> &'static str {
    if smtlib_float::operations(pool, expressions).is_empty() { "QF_BV" } else { "QF_BVFP" }
}

/// Can the text say the expressions? It has no floating point of 80 bits.
pub fn is_expressible(pool: &Pool, expressions: &[ExprId]) -> bool {
    smtlib_float::operations(pool, expressions).iter().all(|&e| smtlib_float::is_expressible(pool, e))
}

/// Declares the symbols the expressions depend on, one line each, ascending; then the results of floating-point operations, each with an
/// assertion that says what it is.
pub fn declare(pool: &Pool, expressions: &[ExprId], out: &mut String) {
    let mut symbols: Vec<SymId> = expressions.iter().flat_map(|&e| pool.support(e)).copied().collect();
    symbols.sort_unstable();
    symbols.dedup();
    for symbol in symbols {
        put(out, format_args!("(declare-const {} (_ BitVec {}))\n", symbol_name(symbol), pool.sym_info(symbol).width));
    }
    for operation in smtlib_float::operations(pool, expressions) {
        smtlib_float::define(pool, operation, out);
    }
}

/// One expression as a bit-vector term.
pub fn term(pool: &Pool, e: ExprId) -> String {
    let mut out = String::new();
    with_lets(pool, &[e], &mut out, |out, names| out.push_str(&names[&e]));
    out
}

/// `(= e other)` with `e`'s bindings around it.
fn term_equal(pool: &Pool, e: ExprId, other: &str, out: &mut String) {
    with_lets(pool, &[e], out, |out, names| put(out, format_args!("(= {} {other})", names[&e])));
}

/// Binds every operator node below the roots, children first, and writes `body` inside.
fn with_lets(pool: &Pool, roots: &[ExprId], out: &mut String, body: impl FnOnce(&mut String, &FxHashMap<ExprId, String>)) {
    let mut names: FxHashMap<ExprId, String> = FxHashMap::default();
    let mut lets = 0usize;
    post_order(pool, roots, |e| {
        let name = match pool.kind(e) {
            Kind::Const => constant(pool.as_limbs(e).expect("a constant"), pool.width(e)),
            Kind::Sym(symbol) => symbol_name(symbol),
            Kind::Float(..) => smtlib_float::name(e),
            _ => {
                put(out, format_args!("(let ((e{} ", e.raw()));
                operator(pool, e, &names, out);
                out.push_str(")) ");
                lets += 1;
                format!("e{}", e.raw())
            }
        };
        names.insert(e, name);
    });
    body(out, &names);
    out.extend(std::iter::repeat_n(')', lets));
}

/// An operator over the names of its operands.
fn operator(pool: &Pool, e: ExprId, names: &FxHashMap<ExprId, String>, out: &mut String) {
    let (width, op) = (pool.width(e), pool.op(e).smt());
    let name = |child: ExprId| names[&child].as_str();
    let extension = |child: ExprId| width - pool.width(child);
    match pool.kind(e) {
        Kind::Const | Kind::Sym(_) | Kind::Float(..) => out.push_str(name(e)),
        Kind::Not(a) | Kind::Neg(a) => put(out, format_args!("({op} {})", name(a))),
        comparison!(a, b) => {
            put(out, format_args!("(ite ({op} {} {}) #b1 #b0)", name(a), name(b)));
        }
        arithmetic!(a, b) | Kind::Concat(a, b) => {
            put(out, format_args!("({op} {} {})", name(a), name(b)));
        }
        Kind::Ite(c, a, b) => put(out, format_args!("(ite (= {} #b1) {} {})", name(c), name(a), name(b))),
        Kind::Extract(a, lo) => put(out, format_args!("((_ {op} {} {lo}) {})", lo + width - 1, name(a))),
        Kind::Zext(a) | Kind::Sext(a) => put(out, format_args!("((_ {op} {}) {})", extension(a), name(a))),
        Kind::PtrAdd(base, offset) => put(out, format_args!("({op} {} {})", constant(&[base], 64), name(offset))),
        Kind::Read(array, index) => {
            let elems = pool.array_elems(array);
            for (i, &elem) in elems.iter().enumerate() {
                put(out, format_args!("(ite (= {} {}) {} ", name(index), constant(&[i as u64], 64), name(elem)));
            }
            out.push_str("#x00");
            out.extend(std::iter::repeat_n(')', elems.len()));
        }
    }
}

/// A constant: hexadecimal where the width allows, else binary.
pub(super) fn constant(limbs: &[u64], width: u32) -> String {
    let bits = |i: u32, n: u32| wide::extract(limbs, i, n)[0];
    if width.is_multiple_of(4) {
        let digits = (0..width / 4).rev().map(|i| char::from_digit(bits(4 * i, 4) as u32, 16).expect("4 bits"));
        "#x".chars().chain(digits).collect()
    } else {
        "#b".chars().chain((0..width).rev().map(|i| if wide::bit(limbs, i) { '1' } else { '0' })).collect()
    }
}

pub(super) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes any text");
}
