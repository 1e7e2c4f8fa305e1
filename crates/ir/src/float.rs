//! What the floating-point operators mean, as pure functions on bits: the one place the interpreter and the engine both ask.
//!
//! The oracle is an x86-64 CPU running what clang emits, NaNs included: 32 and 64 bits as SSE2 does ([`single`], [`double`]:
//! native arithmetic, inlined, for the engine's fast path), 16 bits through 32, 80 bits as the x87 does, 128 bits as the
//! compiler's library does ([`eval`] and friends; `rustc_apfloat` where there is no hardware type). Rounding is to nearest,
//! ties to even. Values are the low bits of a `u128`, bits above the width 0.
//!
//! NaNs (Intel SDM 1, table 4-7): a result computed from NaNs is the first NaN operand made quiet; on the x87 the one with
//! the larger significand. An invalid operation on numbers gives the default NaN, whose sign is set. Rust leaves NaN bits
//! open, so every native result that is a NaN is made by our rule.

mod native;
mod soft;
mod x87;

pub use native::{double, single};
pub use x87::x87;

use crate::inst::{FcmpPred, Op, Round};

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// x87, 80 bits, with an explicit integer bit.
    Extended,
    /// IEEE binary128.
    Quad,
}

impl Format {
    pub const ALL: [Format; 5] = [Format::Half, Format::Single, Format::Double, Format::Extended, Format::Quad];

    /// The format of that many bits.
    #[inline(always)]
    pub fn of(width: u32) -> Option<Format> {
        Some(match width {
            16 => Format::Half,
            32 => Format::Single,
            64 => Format::Double,
            80 => Format::Extended,
            128 => Format::Quad,
            _ => return None,
        })
    }
    /// Bits.
    pub fn width(self) -> u32 {
        match self {
            Format::Half => 16,
            Format::Single => 32,
            Format::Double => 64,
            Format::Extended => 80,
            Format::Quad => 128,
        }
    }
    /// Bits below the binary point.
    fn fraction(self) -> u32 {
        match self {
            Format::Half => 10,
            Format::Single => 23,
            Format::Double => 52,
            Format::Extended => 63,
            Format::Quad => 112,
        }
    }
    fn sign(self) -> u128 {
        1 << (self.width() - 1)
    }
    fn quiet(self) -> u128 {
        1 << (self.fraction() - 1)
    }
    /// The x87's explicit integer bit.
    fn integer_bit(self) -> u128 {
        if self == Format::Extended { 1 << 63 } else { 0 }
    }
    /// All exponent bits.
    fn exponent(self) -> u128 {
        (self.sign() - (1 << self.fraction())) & !self.integer_bit()
    }
    /// What an invalid operation on numbers gives: a quiet NaN with the sign set.
    pub fn default_nan(self) -> u128 {
        self.sign() | self.exponent() | self.integer_bit() | self.quiet()
    }
    /// An x87 pattern that is no number since the 387: a non-zero exponent without the integer bit.
    fn unsupported(self, x: u128) -> bool {
        self == Format::Extended && x & self.exponent() != 0 && x & self.integer_bit() == 0
    }
    /// Not a number (an unsupported pattern counts).
    pub fn is_nan(self, x: u128) -> bool {
        let fraction = (1 << self.fraction()) - 1;
        self.unsupported(x) || x & self.exponent() == self.exponent() && x & fraction != 0
    }
    /// What an operation on these operands gives if one of them is a NaN.
    fn nan_of(self, operands: &[u128]) -> Option<u128> {
        if operands.iter().any(|&x| self.unsupported(x)) {
            return Some(self.default_nan());
        }
        let mut nans = operands.iter().copied().filter(|&x| self.is_nan(x));
        let nan = match self {
            // The larger significand; if they are equal, the positive one.
            Format::Extended => nans.max_by_key(|&x| (x & u128::from(u64::MAX), x & self.sign() == 0)),
            Format::Half | Format::Single | Format::Double | Format::Quad => nans.next(),
        };
        nan.map(|x| x | self.quiet())
    }
}

/// The arithmetic operators: `fadd` to `frem`, `fneg`, `fabs`, `fsqrt`, `fma`, `fmin`, `fmax`. Operands an operator does not
/// have are ignored; `None` for other operators.
pub fn eval(op: Op, f: Format, a: u128, b: u128, c: u128) -> Option<u128> {
    match op {
        Op::Fneg => return Some(a ^ f.sign()),
        Op::Fabs => return Some(a & !f.sign()),
        Op::Fmin if f.is_nan(a) => return Some(b),
        Op::Fmax if f.is_nan(a) => return Some(b),
        Op::Fmin => return Some(if cmp(f, FcmpPred::LT, b, a) { b } else { a }),
        Op::Fmax => return Some(if cmp(f, FcmpPred::LT, a, b) { b } else { a }),
        _ => {}
    }
    Some(match f {
        Format::Single => single::eval(op, a as u64, b as u64, c as u64)?.into(),
        Format::Double => double::eval(op, a as u64, b as u64, c as u64)?.into(),
        // Exact in binary32 before one rounding, or so close that rounding twice changes nothing (24 >= 2 * 11 + 2).
        Format::Half if op != Op::Fma => {
            let up = |x| cast(Format::Half, Format::Single, x) as u64;
            cast(Format::Single, Format::Half, single::eval(op, up(a), up(b), 0)?.into())
        }
        Format::Half | Format::Extended | Format::Quad => {
            let operands = match op {
                Op::Fsqrt => &[a][..],
                Op::Fma => &[a, b, c],
                _ => &[a, b],
            };
            match f.nan_of(operands) {
                Some(nan) => nan,
                None => soft::eval(op, f, a, b, c)?,
            }
        }
    })
}

/// Does the comparison hold? `predicate` is an [`FcmpPred`].
pub fn cmp(f: Format, predicate: u32, a: u128, b: u128) -> bool {
    let outcome = match f {
        Format::Single => return single::cmp(predicate, a as u64, b as u64),
        Format::Double => return double::cmp(predicate, a as u64, b as u64),
        Format::Half | Format::Extended | Format::Quad if f.is_nan(a) || f.is_nan(b) => FcmpPred::UNORDERED,
        Format::Half | Format::Extended | Format::Quad => soft::order(f, a, b),
    };
    predicate & outcome != 0
}

/// To an integral value.
pub fn round(f: Format, mode: Round, x: u128) -> u128 {
    match f {
        Format::Single => single::round(mode, x as u64).into(),
        Format::Double => double::round(mode, x as u64).into(),
        Format::Half | Format::Extended | Format::Quad => f.nan_of(&[x]).unwrap_or_else(|| soft::round(f, mode, x)),
    }
}

/// From one format to another.
pub fn cast(from: Format, to: Format, x: u128) -> u128 {
    if from == to {
        return x;
    }
    if from.unsupported(x) {
        return to.default_nan();
    }
    if from.is_nan(x) {
        // The payload keeps its highest bits.
        let payload = x & ((1 << from.fraction()) - 1);
        let payload = if to.fraction() >= from.fraction() {
            payload << (to.fraction() - from.fraction())
        } else {
            payload >> (from.fraction() - to.fraction())
        };
        let sign = if x & from.sign() != 0 { to.sign() } else { 0 };
        return sign | to.exponent() | to.integer_bit() | to.quiet() | payload;
    }
    match (from, to) {
        (Format::Single, Format::Double) => f64::from(f32::from_bits(x as u32)).to_bits().into(),
        (Format::Double, Format::Single) => (f64::from_bits(x as u64) as f32).to_bits().into(),
        _ => soft::cast(from, to, x),
    }
}

/// To a signed integer of `width` bits (1 to 128), towards zero. Out of range and NaN: the "integer indefinite" value of
/// the instruction clang picks (the CPU's widths are 32 and 64, on the x87 also 16), cut to `width`.
pub fn to_signed(f: Format, width: u32, x: u128) -> u128 {
    let v = match (f, width) {
        (Format::Extended, ..=16) => indefinite(16, f, x),
        (_, ..=32) => indefinite(32, f, x),
        (_, ..=64) => indefinite(64, f, x),
        _ => indefinite(width, f, x),
    };
    v & low(width)
}

/// To an unsigned integer of `width` bits (1 to 128), towards zero; as clang builds it from the CPU's signed conversions.
pub fn to_unsigned(f: Format, width: u32, x: u128) -> u128 {
    let v = match (f, width) {
        (Format::Extended, ..16) => indefinite(16, f, x),
        (_, ..32) => indefinite(32, f, x),
        (_, ..64) => indefinite(64, f, x),
        (Format::Extended, 64) => {
            let two63 = from_unsigned(f, 1 << 63);
            let far = cmp(f, FcmpPred::GT | FcmpPred::EQ | FcmpPred::UNORDERED, x, two63);
            let rest = if far { eval(Op::Fsub, f, x, two63, 0).unwrap_or(x) } else { x };
            indefinite(64, f, rest) ^ u128::from(far) << 63
        }
        (Format::Half, 64) => to_unsigned(Format::Single, 64, cast(f, Format::Single, x)),
        (Format::Single | Format::Double, 64) => {
            let two63 = from_unsigned(f, 1 << 63);
            let small = indefinite(64, f, x);
            let large = indefinite(64, f, eval(Op::Fsub, f, x, two63, 0).unwrap_or(x));
            if small >> 63 & 1 == 1 { small | large } else { small }
        }
        _ => soft::to_u128(f, x).filter(|&v| v <= low(width)).unwrap_or(u128::MAX),
    };
    v & low(width)
}

/// `x` as a signed integer of `width` bits, or its least one if it does not fit.
fn indefinite(width: u32, f: Format, x: u128) -> u128 {
    let least = i128::MIN >> (128 - width);
    let v = match f {
        Format::Half => return indefinite(width, Format::Single, cast(f, Format::Single, x)),
        Format::Single => native_i128(f32::from_bits(x as u32).into()),
        Format::Double => native_i128(f64::from_bits(x as u64)),
        Format::Extended | Format::Quad => soft::to_i128(f, x),
    };
    v.filter(|v| (least..=!least).contains(v)).unwrap_or(least) as u128
}

fn native_i128(x: f64) -> Option<i128> {
    let limit = -(i128::MIN as f64);
    (x >= -limit && x < limit).then_some(x as i128)
}

/// From a signed integer (already sign-extended).
pub fn from_signed(f: Format, v: i128) -> u128 {
    match f {
        Format::Single => (v as f32).to_bits().into(),
        Format::Double => (v as f64).to_bits().into(),
        Format::Half | Format::Extended | Format::Quad => soft::from_signed(f, v),
    }
}

/// From an unsigned integer.
pub fn from_unsigned(f: Format, v: u128) -> u128 {
    match f {
        Format::Single => (v as f32).to_bits().into(),
        Format::Double => (v as f64).to_bits().into(),
        Format::Half | Format::Extended | Format::Quad => soft::from_unsigned(f, v),
    }
}

fn low(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_of_the_formats() {
        assert_eq!(Format::Single.default_nan(), 0xffc0_0000);
        assert_eq!(Format::Double.default_nan(), 0xfff8_0000_0000_0000);
        assert_eq!(Format::Extended.default_nan(), 0xffff_c000_0000_0000_0000);
        assert_eq!(Format::Half.default_nan(), 0xfe00);
        for f in Format::ALL {
            assert!(f.is_nan(f.default_nan()) && !f.is_nan(f.exponent() | f.integer_bit()));
        }
    }
    #[test]
    fn roots_are_rounded_once() {
        // A double's root computed in 128 bits and rounded to 64 is the hardware's (113 >= 2 * 53 + 2).
        let mut seed = 7u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = seed >> 1;
            if Format::Double.is_nan(x.into()) {
                continue;
            }
            let wide = eval(Op::Fsqrt, Format::Quad, cast(Format::Double, Format::Quad, x.into()), 0, 0).unwrap();
            assert_eq!(cast(Format::Quad, Format::Double, wide), f64::from_bits(x).sqrt().to_bits().into());
        }
    }
}
