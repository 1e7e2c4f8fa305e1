//! What computes with exponents: partial remainders, scaling, taking a number apart.
//!
//! A remainder is exact. Where the exponents differ by 64 or more, one instruction reduces the dividend by some of the difference
//! and says so by C2 (Intel SDM 2, FPREM); by how much, processors agree. Operands and results that are no normal numbers are
//! unsupported, but for a dividend of zero.

use wryneck_ir::build::Slot;
use wryneck_ir::{FcmpPred, NONE, Op};

use super::compare;
use crate::cpu::x86_64::emit::Emit;

/// Exponents count from here.
pub(super) const BIAS: u64 = 0x3fff;
const SIGN: u64 = 0x8000;
const EXPONENT: u64 = 0x7fff;
/// Conditions in the status word: C0, C1, C2, C3.
const CONDITIONS: [u64; 4] = [8, 9, 10, 14];

/// The exponent of a number, 16 bits.
pub(super) fn exponent(x: &mut Emit<'_, '_, '_, '_>, value: Slot) -> Slot {
    let mask = x.constant(16, EXPONENT);
    x.op(Op::And, 16, value.limb(1), mask)
}
/// Ends the path where a number is none of those with a leading bit of 1. Zero may be allowed.
fn only_normal(x: &mut Emit<'_, '_, '_, '_>, value: Slot, zero_too: bool) {
    let exponent = exponent(x, value);
    let (one, most, top) = (x.constant(16, 1), x.constant(16, EXPONENT - 1), x.constant(64, 1 << 63));
    let (below, above, open) = (x.op(Op::Ult, 16, exponent, one), x.op(Op::Ult, 16, most, exponent), x.op(Op::Ult, 64, value, top));
    let mut odd = x.op(Op::Or, 1, below, above);
    odd = x.op(Op::Or, 1, odd, open);
    if zero_too {
        let (nothing, zero) = (x.constant(64, 0), x.constant(16, 0));
        let (significand, none) = (x.op(Op::Ne, 64, value, nothing), x.op(Op::Ne, 16, exponent, zero));
        let other = x.op(Op::Or, 1, significand, none);
        odd = x.op(Op::And, 1, odd, other);
    }
    x.unsupported_if(odd, "a partial remainder, or a number scaled or taken apart, that is not normal");
}
/// A number with another exponent, and a sign or none.
fn with_exponent(x: &mut Emit<'_, '_, '_, '_>, significand: Slot, exponent: Slot) -> Slot {
    let dst = x.p.temp(80);
    x.p.copy(64, dst, significand);
    x.p.copy(16, dst.limb(1), exponent);
    dst
}
fn arithmetic(x: &mut Emit<'_, '_, '_, '_>, op: Op, a: Slot, b: Slot) -> Slot {
    x.op(op, 80, a, b)
}
/// One of two numbers.
fn choose(x: &mut Emit<'_, '_, '_, '_>, bit: Slot, then: Slot, other: Slot) -> Slot {
    let dst = x.p.temp(80);
    for (limb, width) in [(0, 64), (1, 16)] {
        let chosen = x.select(width, bit, then.limb(limb), other.limb(limb));
        x.p.copy(width, dst.limb(limb), chosen);
    }
    dst
}
/// Sets C0, C1, C2 and C3.
fn conditions(x: &mut Emit<'_, '_, '_, '_>, bits: [Slot; 4]) -> Result<(), String> {
    let (word, others) = (x.named("FPUStatusWord")?, x.constant(16, !0x4700));
    let mut all = x.op(Op::And, 16, word, others);
    for (bit, at) in bits.into_iter().zip(CONDITIONS) {
        let (wide, by) = (x.cast(Op::Zext, 16, 1, bit), x.constant(16, at));
        let moved = x.op(Op::Shl, 16, wide, by);
        all = x.op(Op::Or, 16, all, moved);
    }
    x.p.copy(16, word, all);
    Ok(())
}

/// `fprem` and, to the nearest, `fprem1`.
pub(super) fn remainder(x: &mut Emit<'_, '_, '_, '_>, nearest: bool) -> Result<(), String> {
    let (dividend, divisor) = (x.named("ST0")?, x.named("ST1")?);
    only_normal(x, dividend, true);
    only_normal(x, divisor, false);
    let (above, below) = (exponent(x, dividend), exponent(x, divisor));
    let most = x.constant(16, EXPONENT - 4);
    let large = x.op(Op::Ult, 16, most, below);
    x.unsupported_if(large, "a partial remainder by a number near the largest");
    let (far, limit) = (x.op(Op::Sub, 16, above, below), x.constant(16, 63));
    let partial = x.op(Op::Slt, 16, limit, far);
    let joined = x.block();
    x.unless(partial, |x| {
        let (five, thirty_two) = (x.constant(16, 31), x.constant(16, 32));
        let by = x.op(Op::And, 16, far, five);
        let by = x.op(Op::Or, 16, by, thirty_two);
        let scaled = x.op(Op::Sub, 16, above, by);
        let divisor = with_exponent(x, divisor, scaled);
        let rest = arithmetic(x, Op::Frem, dividend, divisor);
        x.p.copy(80, dividend, rest);
        let (zero, one) = (x.constant(1, 0), x.constant(1, 1));
        let set = conditions(x, [zero, zero, one, zero]);
        debug_assert!(set.is_ok(), "the status word was read before");
        x.p.builder.jump_to(joined);
    });
    // The dividend modulo eight times the divisor says the last three bits of the quotient.
    let sign_mask = x.constant(16, SIGN);
    let sign = x.op(Op::And, 16, dividend.limb(1), sign_mask);
    let multiple = |x: &mut Emit<'_, '_, '_, '_>, power: u64| {
        let power = x.constant(16, power);
        let exponent = x.op(Op::Add, 16, below, power);
        with_exponent(x, divisor, exponent)
    };
    let magnitude = x.unary(Op::Fabs, 80, dividend);
    let eight = multiple(x, 3);
    let mut rest = arithmetic(x, Op::Frem, magnitude, eight);
    let mut quotient = Vec::new();
    for power in [2, 1, 0] {
        let part = multiple(x, power);
        let fits = compare(x, 80, part, rest, FcmpPred::LT | FcmpPred::EQ);
        let less = arithmetic(x, Op::Fsub, rest, part);
        rest = choose(x, fits, less, rest);
        quotient.push(fits);
    }
    let [mut two, mut one, mut zero] = [quotient[0], quotient[1], quotient[2]];
    let mut result_sign = sign;
    if nearest {
        let (whole, twice) = (multiple(x, 0), arithmetic(x, Op::Fadd, rest, rest));
        let more = compare(x, 80, whole, twice, FcmpPred::LT);
        let half = compare(x, 80, whole, twice, FcmpPred::EQ);
        let odd_half = x.op(Op::And, 1, half, zero);
        let up = x.op(Op::Or, 1, more, odd_half);
        let missing = arithmetic(x, Op::Fsub, whole, rest);
        rest = choose(x, up, missing, rest);
        let other = x.op(Op::Xor, 16, sign, sign_mask);
        result_sign = x.select(16, up, other, sign);
        let carry = x.op(Op::And, 1, zero, up);
        let carries = x.op(Op::And, 1, one, carry);
        (zero, one, two) = (x.op(Op::Xor, 1, zero, up), x.op(Op::Xor, 1, one, carry), x.op(Op::Xor, 1, two, carries));
    }
    let no = x.constant(1, 0);
    conditions(x, [two, zero, no, one])?;
    x.p.copy(64, dividend, rest);
    x.p.emit(Op::Or, 16, dividend.limb(1), rest.limb(1).raw(), result_sign.raw(), NONE);
    x.p.builder.jump_to(joined);
    x.p.builder.start(joined);
    Ok(())
}

/// `fscale`: by the power of two that the second is, rounded towards zero.
pub(super) fn scale(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let (value, power) = (x.named("ST0")?, x.named("ST1")?);
    only_normal(x, value, false);
    only_normal(x, power, true);
    let by = x.cast(Op::FtoS, 32, 80, power);
    let old = exponent(x, value);
    let old = x.cast(Op::Zext, 32, 16, old);
    let new = x.op(Op::Add, 32, old, by);
    let (one, most) = (x.constant(32, 1), x.constant(32, EXPONENT - 1));
    let (low, high) = (x.op(Op::Slt, 32, new, one), x.op(Op::Slt, 32, most, new));
    // A power beyond 32 bits gives the least number, whose sum may be positive again.
    let limit = x.constant(32, 1 << 20);
    let shifted = x.op(Op::Add, 32, by, limit);
    let twice = x.constant(32, 1 << 21);
    let far = x.op(Op::Ult, 32, twice, shifted);
    let outside = x.op(Op::Or, 1, low, high);
    let outside = x.op(Op::Or, 1, outside, far);
    x.unsupported_if(outside, "a number scaled to one that is not normal");
    let (mask, narrow) = (x.constant(16, SIGN), x.cast(Op::Trunc, 16, 32, new));
    let sign = x.op(Op::And, 16, value.limb(1), mask);
    x.p.emit(Op::Or, 16, value.limb(1), sign.raw(), narrow.raw(), NONE);
    Ok(())
}

/// `fxtract`: the exponent as a number, and above it on the stack the significand.
pub(super) fn extract(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let value = x.named("ST0")?;
    only_normal(x, value, false);
    let (old, bias) = (exponent(x, value), x.constant(16, BIAS));
    let power = x.op(Op::Sub, 16, old, bias);
    let wide = x.cast(Op::Sext, 32, 16, power);
    let number = x.cast(Op::StoF, 80, 32, wide);
    let mask = x.constant(16, SIGN);
    let sign = x.op(Op::And, 16, value.limb(1), mask);
    let top = x.op(Op::Or, 16, sign, bias);
    let significand = with_exponent(x, value, top);
    x.p.copy(80, value, number);
    super::push(x, significand)
}
