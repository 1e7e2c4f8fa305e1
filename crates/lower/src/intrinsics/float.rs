//! Float intrinsics that are not one operator: library functions, conversions, IEEE 754-2019 extrema, classes.
//!
//! The rounding mode is to nearest and exceptions are not seen, also where the program asks for more (`constrained`).
//! `fmuladd` rounds twice, as x86-64 without FMA does.

use wryneck_ir::build::{CallDef, Callee, Slot};
use wryneck_ir::{FcmpPred, NONE, Op, call_flags};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{TypeKind, Value};
use crate::inst::Lowered;

/// Suffix of the C library's functions for a float's width; `half` has none of its own.
fn suffix(width: u16) -> Option<&'static str> {
    match width {
        32 => Some("f"),
        64 => Some(""),
        80 => Some("l"),
        128 => Some("f128"),
        _ => None,
    }
}

impl<'m> Body<'_, 'm> {
    /// Calls the C library's function on each leaf of the arguments.
    pub fn libm(&mut self, function: &str, v: Value<'m>) -> Lowered {
        let width = self.cx.types.float(v.ty())?;
        let mut args = Vec::new();
        for i in (0..v.args()).filter(|&i| v.operand(i).ty().kind() != TypeKind::LLVMMetadataTypeKind) {
            let own = self.element_width(v.operand(i))?;
            args.push((self.value(v.operand(i))?, own, self.cx.types.float(v.operand(i).ty()).is_ok()));
        }
        let leaves = args.first().map_or(0, |(val, ..)| val.leaves().len());
        let mut out = Vec::new();
        for i in 0..leaves {
            let own: Vec<_> = args.iter().map(|(val, w, f)| (val.leaves()[i.min(val.leaves().len() - 1)], *w, *f)).collect();
            out.push(self.call_libm(function, width, &own));
        }
        Ok(Some(out.into_iter().collect()))
    }
    /// Calls a library function on scalars: slot, width, whether it is a float. A `half` goes through `float`.
    fn call_libm(&mut self, function: &str, width: u16, args: &[(Slot, u16, bool)]) -> Slot {
        let wide = if suffix(width).is_some() { width } else { 32 };
        let name = format!("{function}{}", suffix(wide).unwrap_or_default());
        let symbol = self.b.names.symbol(self.b.module, &name);
        let convert = |s: &mut Self, (slot, own, float): (Slot, u16, bool)| match float && own != wide && own == width {
            true => (s.b.cast(Op::Fcast, wide, own, slot), wide),
            false => (slot, own),
        };
        let args: Vec<(Slot, u16)> = args.iter().map(|&arg| convert(self, arg)).collect();
        let def = CallDef { args: &args, ret_width: wide, flags: call_flags::RETURNS_FLOAT, named: args.len() as u32 };
        let result = self.b.call(Callee::Symbol(symbol), def);
        if wide == width { result } else { self.b.cast(Op::Fcast, width, wide, result) }
    }
    fn float_compare_slots(&mut self, width: u16, a: Slot, b: Slot, outcomes: u32) -> Slot {
        self.b.value(Op::Fcmp, width, a, b, outcomes)
    }
    /// A library function that returns one result and writes another: `T f(T, R *)`, on each leaf.
    fn split(&mut self, function: &str, v: Value<'m>, second_width: Option<u16>) -> Lowered {
        let width = self.cx.types.float(v.operand(0).ty())?;
        let second_width = second_width.unwrap_or(width);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &a in self.value(v.operand(0))?.leaves() {
            let place = self.b.alloca(16, 16, function);
            let place = self.b.value(Op::Alloca, 64, place, NONE, NONE);
            first.push(self.call_libm(function, width, &[(a, width, true), (place, 64, false)]));
            second.push(self.b.load(second_width, place, 0));
        }
        Ok(Some(first.into_iter().chain(second).collect()))
    }
}

/// Mantissa and exponent.
pub fn frexp<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    s.split("frexp", v, Some(32))
}

/// Fraction and integral part.
pub fn modf<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    s.split("modf", v, None)
}

pub fn sine_cosine<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.cx.types.float(v.operand(0).ty())?;
    let value = s.value(v.operand(0))?;
    let mut out = Vec::new();
    for function in ["sin", "cos"] {
        for &a in value.leaves() {
            out.push(s.call_libm(function, width, &[(a, width, true)]));
        }
    }
    Ok(Some(out.into_iter().collect()))
}

/// A float to an integer power: the compiler's run-time function.
pub fn power<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.cx.types.float(v.ty())?;
    let function = match width {
        32 => "__powisf2",
        64 => "__powidf2",
        80 => "__powixf2",
        _ => return Err(Unsupported::Float(v.ty().to_string())),
    };
    let symbol = s.b.names.symbol(s.b.module, function);
    let exponent = s.scalar(v.operand(1))?;
    s.each1(v, |s, a| {
        let def = CallDef { args: &[(a, width), (exponent, 32)], ret_width: width, flags: call_flags::RETURNS_FLOAT, named: 2 };
        s.b.call(Callee::Symbol(symbol), def)
    })
}

pub fn copysign<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let (sign, rest) = (s.smallest(width), s.largest(width));
    s.each2(v, |s, a, b| {
        let (magnitude, sign) = (s.b.binary(Op::And, width, a, rest), s.b.binary(Op::And, width, b, sign));
        s.b.binary(Op::Or, width, magnitude, sign)
    })
}

pub fn multiply_add<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.cx.types.float(v.ty())?;
    let (a, b, c) = (s.value(v.operand(0))?, s.value(v.operand(1))?, s.value(v.operand(2))?);
    let mut out = Vec::new();
    for ((&a, &b), &c) in a.leaves().iter().zip(b.leaves()).zip(c.leaves()) {
        let product = s.b.binary(Op::Fmul, width, a, b);
        out.push(s.b.binary(Op::Fadd, width, product, c));
    }
    Ok(Some(out.into_iter().collect()))
}

fn cast<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, op: Op) -> Lowered {
    for ty in [v.ty(), v.operand(0).ty()] {
        if s.cx.types.is_bfloat(ty) {
            return Err(Unsupported::Float(ty.to_string()));
        }
    }
    let (to, from) = (s.element_width(v)?, s.element_width(v.operand(0))?);
    s.each1(v, |s, a| s.b.cast(op, to, from, a))
}

pub fn convert<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    cast(s, v, Op::Fcast)
}

pub fn to_signed<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    cast(s, v, Op::FtoS)
}

pub fn to_unsigned<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    cast(s, v, Op::FtoU)
}

pub fn from_signed<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    cast(s, v, Op::StoF)
}

pub fn from_unsigned<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    cast(s, v, Op::UtoF)
}

const NEGATIVE: u32 = FcmpPred::LT;
const AT_LEAST: u32 = FcmpPred::GT | FcmpPred::EQ;

/// Too large gives the largest, too small the smallest, NaN zero.
pub fn to_signed_saturating<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (from, to) = (s.cx.types.float(v.operand(0).ty())?, s.element_width(v)?);
    let (largest, smallest, zero) = (s.largest(to), s.smallest(to), s.b.int(to, 0));
    s.each1(v, |s, a| {
        let limit = s.b.cast(Op::UtoF, from, to, smallest);
        let lower = s.b.unary(Op::Fneg, from, limit);
        let exact = s.b.cast(Op::FtoS, to, from, a);
        let too_small = s.float_compare_slots(from, a, lower, NEGATIVE);
        let too_large = s.float_compare_slots(from, a, limit, AT_LEAST);
        let nan = s.float_compare_slots(from, a, a, FcmpPred::UNORDERED);
        let result = s.choose(to, too_small, smallest, exact);
        let result = s.choose(to, too_large, largest, result);
        s.choose(to, nan, zero, result)
    })
}

/// Too large gives the largest, negative and NaN zero.
pub fn to_unsigned_saturating<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (from, to) = (s.cx.types.float(v.operand(0).ty())?, s.element_width(v)?);
    let (ones, zero, top_bit) = (s.ones(to), s.b.int(to, 0), s.smallest(to));
    s.each1(v, |s, a| {
        let half = s.b.cast(Op::UtoF, from, to, top_bit);
        let limit = s.b.binary(Op::Fadd, from, half, half);
        let float_zero = s.b.int(from, 0);
        let exact = s.b.cast(Op::FtoU, to, from, a);
        let too_large = s.float_compare_slots(from, a, limit, AT_LEAST);
        let no_number = s.float_compare_slots(from, a, float_zero, FcmpPred::LT | FcmpPred::UNORDERED);
        let result = s.choose(to, too_large, ones, exact);
        s.choose(to, no_number, zero, result)
    })
}

pub fn maximum<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    extremum(s, v, Op::Fmax, true)
}

pub fn minimum<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    extremum(s, v, Op::Fmin, true)
}

pub fn maximum_number<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    extremum(s, v, Op::Fmax, false)
}

pub fn minimum_number<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    extremum(s, v, Op::Fmin, false)
}

/// IEEE 754-2019: -0 is less than +0; a NaN wins if `nan_wins`. Equal numbers differ in the sign of zero only, so
/// the conjunction of their bits is the larger and the disjunction the smaller.
fn extremum<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, op: Op, nan_wins: bool) -> Lowered {
    let width = s.cx.types.float(v.ty())?;
    let of_equal = if op == Op::Fmax { Op::And } else { Op::Or };
    s.each2(v, |s, a, b| {
        let (unequal, equal) = (s.b.binary(op, width, a, b), s.b.binary(of_equal, width, a, b));
        let same = s.float_compare_slots(width, a, b, FcmpPred::EQ);
        let number = s.choose(width, same, equal, unequal);
        if !nan_wins {
            return number;
        }
        let nan = s.b.binary(Op::Fadd, width, a, b);
        let unordered = s.float_compare_slots(width, a, b, FcmpPred::UNORDERED);
        s.choose(width, unordered, nan, number)
    })
}

/// Predicates of constrained comparisons, by the outcomes they accept.
const PREDICATES: &[(&[u8], u32)] = &[
    (b"oeq", 1),
    (b"oge", 3),
    (b"ogt", 2),
    (b"ole", 5),
    (b"olt", 4),
    (b"one", 6),
    (b"ord", 7),
    (b"ueq", 9),
    (b"uge", 11),
    (b"ugt", 10),
    (b"ule", 13),
    (b"ult", 12),
    (b"une", 14),
    (b"uno", 8),
];

pub fn constrained_compare<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.cx.types.float(v.operand(0).ty())?;
    let name = v.operand(2).metadata_string();
    let Some(&(_, outcomes)) = PREDICATES.iter().find(|(p, _)| *p == name) else {
        return Err(Unsupported::Intrinsic("llvm.experimental.constrained.fcmp".to_owned()));
    };
    s.each2(v, |s, a, b| s.float_compare_slots(width, a, b, outcomes))
}

// Bits of `llvm.is.fpclass`'s mask: two kinds of NaN, then each class negative and positive, outside in.
const SIGNALLING: u64 = 1;
const QUIET: u64 = 2;
/// Class: bit of the negative, bit of the positive.
const INFINITE: (u64, u64) = (4, 512);
const NORMAL: (u64, u64) = (8, 256);
const SUBNORMAL: (u64, u64) = (16, 128);
const ZERO: (u64, u64) = (32, 64);

/// The bits of infinity, of a quiet NaN without payload, and of the smallest normal number.
fn landmarks(width: u16) -> [[u64; 2]; 3] {
    match width {
        16 => [[0x7c00, 0], [0x7e00, 0], [0x0400, 0]],
        32 => [[0x7f80_0000, 0], [0x7fc0_0000, 0], [0x0080_0000, 0]],
        64 => [[0x7ff << 52, 0], [0xfff << 51, 0], [1 << 52, 0]],
        80 => [[1 << 63, 0x7fff], [3 << 62, 0x7fff], [1 << 63, 1]],
        _ => [[0, 0x7fff << 48], [0, 0xffff << 47], [0, 1 << 48]],
    }
}

/// Is the float in one of the classes of a mask? Magnitudes compare as integers.
pub fn is_class<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.cx.types.float(v.operand(0).ty())?;
    let mask = s.number(v.operand(1)).unwrap_or(0);
    let [infinity, quiet, normal] = landmarks(width).map(|limbs| s.b.wide(width, &limbs));
    let (rest, zero) = (s.largest(width), s.b.int(width, 0));
    s.each1(v, |s, a| {
        let magnitude = s.b.binary(Op::And, width, a, rest);
        let sign = s.b.value(Op::Extract, 1, a, u32::from(width) - 1, u32::from(width));
        let mut found = s.b.int(1, 0);
        let between = |s: &mut Body<'_, 'm>, low: Slot, high: Slot| {
            let (from, to) = (s.b.binary(Op::Ule, width, low, magnitude), s.b.binary(Op::Ult, width, magnitude, high));
            s.b.binary(Op::And, 1, from, to)
        };
        if mask & QUIET != 0 {
            let is = s.b.binary(Op::Ule, width, quiet, magnitude);
            found = s.b.binary(Op::Or, 1, found, is);
        }
        if mask & SIGNALLING != 0 {
            let (past, not_quiet) = (s.b.binary(Op::Ult, width, infinity, magnitude), s.b.binary(Op::Ult, width, magnitude, quiet));
            let is = s.b.binary(Op::And, 1, past, not_quiet);
            found = s.b.binary(Op::Or, 1, found, is);
        }
        for (negative, positive) in [INFINITE, NORMAL, SUBNORMAL, ZERO] {
            if mask & (negative | positive) == 0 {
                continue;
            }
            let mut is = match (negative, positive) {
                INFINITE => s.b.binary(Op::Eq, width, magnitude, infinity),
                NORMAL => between(s, normal, infinity),
                ZERO => s.b.binary(Op::Eq, width, magnitude, zero),
                _ => {
                    let one = s.b.int(width, 1);
                    between(s, one, normal)
                }
            };
            if mask & positive == 0 {
                is = s.b.binary(Op::And, 1, is, sign);
            } else if mask & negative == 0 {
                let positive = s.not(sign);
                is = s.b.binary(Op::And, 1, is, positive);
            }
            found = s.b.binary(Op::Or, 1, found, is);
        }
        found
    })
}
