//! The formats the host language has no type for (16, 80, 128 bits), by `rustc_apfloat`, on operands that are no NaNs; and the
//! square root it lacks, by digit recurrence.

use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round as Rounding, Status};

use super::Format;
use crate::inst::{FcmpPred, Op, Round};

/// Runs `$body` with `$F` naming the format's type.
macro_rules! with_format {
    ($format:expr, $F:ident => $body:expr) => {
        match $format {
            Format::Half => {
                type $F = Half;
                $body
            }
            Format::Single => {
                type $F = Single;
                $body
            }
            Format::Double => {
                type $F = Double;
                $body
            }
            Format::Extended => {
                type $F = X87DoubleExtended;
                $body
            }
            Format::Quad => {
                type $F = Quad;
                $body
            }
        }
    };
}

pub(super) fn eval(op: Op, f: Format, a: u128, b: u128, c: u128) -> Option<u128> {
    with_format!(f, F => {
        let (x, y) = (F::from_bits(a), F::from_bits(b));
        let r = match op {
            Op::Fadd => (x + y).value,
            Op::Fsub => (x - y).value,
            Op::Fmul => (x * y).value,
            Op::Fdiv => (x / y).value,
            Op::Frem => x.c_fmod(y).value,
            Op::Fma => x.mul_add(y, F::from_bits(c)).value,
            Op::Fsqrt => sqrt(x),
            _ => return None,
        };
        Some(if r.is_nan() { f.default_nan() } else { r.to_bits() })
    })
}

/// Root and remainder of the fraction, two bits of it per digit (the schoolbook method in base 2): 120 digits, one sticky
/// bit, then one rounding.
fn sqrt<F: Float>(x: F) -> F {
    if x.is_zero() || x.is_nan() || x.is_infinite() && !x.is_negative() {
        return x;
    }
    if x.is_negative() {
        return F::NAN;
    }
    let mut exponent = 0;
    let fraction = x.frexp(&mut exponent);
    // x = m * 2^(exponent - bits) with an even exponent and m < 2^120.
    let bits = 120 - exponent.rem_euclid(2);
    let m = wide_fraction(fraction, bits);
    let (mut root, mut rest) = (0u128, 0u128);
    for digit in 0..120 {
        let next = if digit < 60 { m >> (118 - 2 * digit) & 3 } else { 0 };
        rest = rest << 2 | next;
        let trial = root << 2 | 1;
        root <<= 1;
        if rest >= trial {
            rest -= trial;
            root |= 1;
        }
    }
    let sticky = u128::from(rest != 0);
    F::from_u128(root << 1 | sticky).value.scalbn((exponent - bits) / 2 - 61)
}

/// fraction * 2^bits of a fraction in [0.5, 1) whose precision is at most 113 bits; in two steps, since 2^120 may be beyond
/// the format's range.
fn wide_fraction<F: Float>(fraction: F, bits: i32) -> u128 {
    let precision = F::PRECISION as i32;
    fraction.scalbn(precision).to_u128(128).value << (bits - precision)
}

/// The outcome of a comparison, one bit of [`FcmpPred`].
pub(super) fn order(f: Format, a: u128, b: u128) -> u32 {
    let order = with_format!(f, F => F::from_bits(a).partial_cmp(&F::from_bits(b)));
    order.map_or(FcmpPred::UNORDERED, FcmpPred::of)
}

pub(super) fn round(f: Format, mode: Round, x: u128) -> u128 {
    let mode = match mode {
        Round::Floor => Rounding::TowardNegative,
        Round::Ceil => Rounding::TowardPositive,
        Round::Trunc => Rounding::TowardZero,
        Round::Even => Rounding::NearestTiesToEven,
        Round::Away => Rounding::NearestTiesToAway,
    };
    with_format!(f, F => F::from_bits(x).round_to_integral(mode).value.to_bits())
}

pub(super) fn cast(from: Format, to: Format, x: u128) -> u128 {
    fn convert<F: FloatConvert<T>, T: Float>(x: u128) -> u128 {
        F::from_bits(x).convert(&mut false).value.to_bits()
    }
    with_format!(from, F => with_format!(to, T => convert::<F, T>(x)))
}

/// Towards zero; `None` if it does not fit.
pub(super) fn to_i128(f: Format, x: u128) -> Option<i128> {
    if f.is_nan(x) {
        return None;
    }
    let r = with_format!(f, F => F::from_bits(x).to_i128(128));
    (!r.status.intersects(Status::INVALID_OP)).then_some(r.value)
}

/// Towards zero; `None` if it does not fit.
pub(super) fn to_u128(f: Format, x: u128) -> Option<u128> {
    if f.is_nan(x) {
        return None;
    }
    let r = with_format!(f, F => F::from_bits(x).to_u128(128));
    (!r.status.intersects(Status::INVALID_OP)).then_some(r.value)
}

pub(super) fn from_signed(f: Format, v: i128) -> u128 {
    with_format!(f, F => F::from_i128(v).value.to_bits())
}

pub(super) fn from_unsigned(f: Format, v: u128) -> u128 {
    with_format!(f, F => F::from_u128(v).value.to_bits())
}
