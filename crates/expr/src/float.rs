//! Floating point: operations on bit patterns, as x86-64 computes them ([`wryneck_ir::float`] says what each means).
//!
//! One operator, [`Op::Float`], stands for all of them: two operands and a [`FloatOp`]. The format of the operands is their width, the format of
//! the result its width: 32 and 64 bits (SSE), 80 bits (x87). Rounding is to nearest, ties to even. An operation of one operand has it twice.

use wryneck_ir::float::{self, Format};
use wryneck_ir::{FcmpPred, Op as Ir, Round};

use crate::node::{ExprId, Node, Op, Width};
use crate::pool::Pool;

/// An operation on floating-point bit patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    /// `a * b + c`, rounded once. The second operand is `c` above `b`.
    Fma,
    /// To an integral value.
    Round(Round),
    /// To the format of the result.
    Cast,
    /// To a signed integer of 32 or 64 bits (of 80 bits also 16), towards zero; NaN and out of range: the least one.
    ToSigned,
    /// From a signed (unsigned) integer of at most 64 bits.
    FromSigned,
    FromUnsigned,
    /// 1 bit: an outcome among those of the [`FcmpPred`].
    Compare(u8),
}

impl FloatOp {
    /// All operations, in the order of their codes.
    pub const ALL: [FloatOp; 31] = {
        let mut all = [FloatOp::Add; 31];
        let plain = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Sqrt, FloatOp::Fma];
        let conversions = [FloatOp::Cast, FloatOp::ToSigned, FloatOp::FromSigned, FloatOp::FromUnsigned];
        let mut i = 0;
        while i < 31 {
            all[i] = match i {
                0..6 => plain[i],
                6..11 => FloatOp::Round(Round::ALL[i - 6]),
                11..15 => conversions[i - 11],
                _ => FloatOp::Compare(i as u8 - 15),
            };
            i += 1;
        }
        all
    };

    /// Its number in [`ALL`](Self::ALL), which nodes and stored conditions hold.
    pub fn code(self) -> u32 {
        match self {
            FloatOp::Add => 0,
            FloatOp::Sub => 1,
            FloatOp::Mul => 2,
            FloatOp::Div => 3,
            FloatOp::Sqrt => 4,
            FloatOp::Fma => 5,
            FloatOp::Round(mode) => 6 + mode as u32,
            FloatOp::Cast => 11,
            FloatOp::ToSigned => 12,
            FloatOp::FromSigned => 13,
            FloatOp::FromUnsigned => 14,
            FloatOp::Compare(predicate) => 15 + u32::from(predicate & 15),
        }
    }

    /// The operation of a code. `None`: there is none.
    pub fn of_code(code: u32) -> Option<FloatOp> {
        FloatOp::ALL.get(code as usize).copied()
    }

    /// Does it take two operands?
    pub fn is_binary(self) -> bool {
        use FloatOp::*;
        match self {
            Add | Sub | Mul | Div | Fma | Compare(_) => true,
            Sqrt | Round(_) | Cast | ToSigned | FromSigned | FromUnsigned => false,
        }
    }

    /// Does it take operands of `from` and `second` bits, and give `to` bits?
    pub fn fits(self, from: Width, second: Width, to: Width) -> bool {
        let float = |width: Width| matches!(width, 32 | 64 | 80);
        match self {
            FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div => float(from) && second == from && to == from,
            FloatOp::Sqrt | FloatOp::Round(_) => float(from) && second == from && to == from,
            FloatOp::Fma => matches!(from, 32 | 64) && second == 2 * from && to == from,
            FloatOp::Cast => float(from) && second == from && float(to),
            FloatOp::ToSigned => float(from) && second == from && (matches!(to, 32 | 64) || to == 16 && from == 80),
            FloatOp::FromSigned | FloatOp::FromUnsigned => from <= 64 && second == from && float(to),
            FloatOp::Compare(_) => float(from) && second == from && to == 1,
        }
    }

    /// A word people read.
    pub fn name(self) -> &'static str {
        match self {
            FloatOp::Add => "fadd",
            FloatOp::Sub => "fsub",
            FloatOp::Mul => "fmul",
            FloatOp::Div => "fdiv",
            FloatOp::Sqrt => "fsqrt",
            FloatOp::Fma => "fma",
            FloatOp::Round(Round::Floor) => "ffloor",
            FloatOp::Round(Round::Ceil) => "fceil",
            FloatOp::Round(Round::Trunc) => "ftrunc",
            FloatOp::Round(Round::Even) => "frint",
            FloatOp::Round(Round::Away) => "fround",
            FloatOp::Cast => "fcast",
            FloatOp::ToSigned => "ftos",
            FloatOp::FromSigned => "stof",
            FloatOp::FromUnsigned => "utof",
            FloatOp::Compare(predicate) => COMPARISONS[usize::from(predicate & 15)],
        }
    }
}

/// The names of comparisons by their [`FcmpPred`]: unordered outcomes count or not, then LLVM's names.
const COMPARISONS: [&str; 16] =
    ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une", "true"];

/// The value of an operation that [`fits`](FloatOp::fits): `from` bits of `a` (and of `b`) to `to` bits.
pub fn eval(op: FloatOp, from: Width, to: Width, a: u128, b: u128) -> u128 {
    let format = |width: Width| Format::of(width).expect("the constructor checked the format");
    let arithmetic = |ir: Ir, b: u128, c: u128| float::eval(ir, format(from), a, b, c).expect("an operation of this format");
    match op {
        FloatOp::Add => arithmetic(Ir::Fadd, b, 0),
        FloatOp::Sub => arithmetic(Ir::Fsub, b, 0),
        FloatOp::Mul => arithmetic(Ir::Fmul, b, 0),
        FloatOp::Div => arithmetic(Ir::Fdiv, b, 0),
        FloatOp::Sqrt => arithmetic(Ir::Fsqrt, 0, 0),
        FloatOp::Fma => arithmetic(Ir::Fma, b & (u128::MAX >> (128 - from)), b >> from),
        FloatOp::Round(mode) => float::round(format(from), mode, a),
        FloatOp::Cast => float::cast(format(from), format(to), a),
        FloatOp::ToSigned => float::to_signed(format(from), to, a),
        FloatOp::FromSigned => float::from_signed(format(to), ((a << (128 - from)) as i128) >> (128 - from)),
        FloatOp::FromUnsigned => float::from_unsigned(format(to), a),
        FloatOp::Compare(predicate) => float::cmp(format(from), predicate.into(), a, b).into(),
    }
}

/// The pattern of infinity in a format of at most 64 bits.
fn infinity(width: Width) -> Option<u64> {
    match width {
        32 => Some(0x7f80_0000),
        64 => Some(0x7ff0_0000_0000_0000),
        _ => None,
    }
}

/// Are all patterns up to this one of numbers that are not negative, and so in their order?
pub(crate) fn is_positive(width: Width, most: u64) -> bool {
    infinity(width).is_some_and(|infinity| most <= infinity)
}

/// Bounds of the value of an operation whose result has `to` (at most 64) bits, from the bounds of its operands of `from` bits, all unsigned and inclusive.
/// Operations are monotone on numbers that are not negative, so the bounds' values are the value's bounds. `None`: nothing is known.
pub fn bounds(op: FloatOp, from: Width, to: Width, (a, b): (u64, u64), (c, d): (u64, u64)) -> Option<(u64, u64)> {
    let value = |x: u64, y: u64| eval(op, from, to, x.into(), y.into()) as u64;
    let (first, both) = (is_positive(from, b), is_positive(from, b) && is_positive(from, d));
    let result = match op {
        FloatOp::FromUnsigned if from <= 64 && to <= 64 => (value(a, 0), value(b, 0)),
        FloatOp::FromSigned if from <= 64 && to <= 64 && b >> (from - 1) == 0 => (value(a, 0), value(b, 0)),
        FloatOp::Sqrt | FloatOp::Round(_) | FloatOp::Cast if first && to <= 64 => (value(a, 0), value(b, 0)),
        FloatOp::ToSigned if first && to <= 64 => (value(a, 0), value(b, 0)),
        FloatOp::Add | FloatOp::Mul if both => (value(a, c), value(b, d)),
        FloatOp::Div if both && c > 0 => (value(a, d), value(b, c)),
        FloatOp::Compare(predicate) if both => return compared(predicate.into(), (a, b), (c, d)),
        _ => return None,
    };
    // Zero times infinity and their like are no numbers, and what is too large for an integer is negative.
    let fits = if op == FloatOp::ToSigned { result.1 >> (to - 1) == 0 } else { is_positive(to, result.1) && is_positive(to, result.0) };
    fits.then_some(result)
}

/// Bounds of a comparison of numbers that are not negative.
fn compared(predicate: u32, (a, b): (u64, u64), (c, d): (u64, u64)) -> Option<(u64, u64)> {
    let possible = [(FcmpPred::LT, a < d), (FcmpPred::GT, b > c), (FcmpPred::EQ, a <= d && c <= b)];
    let possible = possible.iter().filter(|outcome| outcome.1).fold(0, |all, outcome| all | outcome.0);
    match predicate & possible {
        0 => Some((0, 0)),
        all if all == possible => Some((1, 1)),
        _ => None,
    }
}

/// Limbs as one number; those above 128 bits are dropped.
pub(crate) fn joined(limbs: &[u64]) -> u128 {
    let limb = |i: usize| u128::from(limbs.get(i).copied().unwrap_or(0));
    limb(1) << 64 | limb(0)
}

/// The limbs of a value of `width` (at most 128) bits.
pub(crate) fn limbs(width: Width, value: u128) -> Vec<u64> {
    if width <= 64 { vec![value as u64] } else { vec![value as u64, (value >> 64) as u64] }
}

impl Pool {
    /// An operation of floating point on `a` and `b`, whose result has `width` bits. One that takes one operand ignores `b`.
    /// Panics if the operation does not fit the widths ([`FloatOp::fits`]).
    pub fn float(&mut self, op: FloatOp, a: ExprId, b: ExprId, width: Width) -> ExprId {
        let b = if op.is_binary() { b } else { a };
        let (from, second) = (self.width(a), self.width(b));
        assert!(op.fits(from, second, width), "`{}` of {from} and {second} to {width} bits", op.name());
        self.make(Node::new(Op::Float, width, a.raw(), b.raw(), op.code()))
    }

    /// 1 bit: is `a` compared with `b` one of the outcomes of `predicate` ([`FcmpPred`])?
    pub fn float_compare(&mut self, predicate: u32, a: ExprId, b: ExprId) -> ExprId {
        self.float(FloatOp::Compare(predicate as u8 & 15), a, b, 1)
    }

    /// 1 bit: is it a NaN?
    pub fn float_is_nan(&mut self, a: ExprId) -> ExprId {
        self.float_compare(FcmpPred::UNORDERED, a, a)
    }
}
