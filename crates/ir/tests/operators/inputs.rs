//! Inputs: corners and random values that suit a row.

use wryneck_ir::Op;
use wryneck_ir::float::{self, Format};

use crate::LIMBS;
use crate::rows::{Kind, Row};

/// A deterministic generator (xorshift64*).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }
}

type Value = [u64; LIMBS];

/// Operands for a row.
pub fn of(row: &Row, rng: &mut Rng) -> Vec<[Value; 3]> {
    let count = match row.kind {
        Kind::Float(_) if row.params().count() > 1 => 250,
        _ if row.params().count() > 1 => 60,
        _ => 120,
    };
    let widths: Vec<u32> = row.params().collect();
    let mut out = Vec::new();
    while out.len() < count {
        let mut operands = [[0; LIMBS]; 3];
        for (i, &width) in widths.iter().enumerate() {
            operands[i] = match row.kind {
                Kind::Float(f) => split(any_float(f, rng)),
                Kind::FloatWithin(f, bits, signed) => split(float_within(f, bits, signed, rng)),
                Kind::Shift if i + 1 == widths.len() && rng.below(8) > 0 => small(rng.below(u64::from(width) + 3), width),
                Kind::Integer | Kind::Division | Kind::Shift => integer(width, rng),
            };
        }
        if row.kind == Kind::Division && (operands[1] == [0; LIMBS] || overflows(&operands, widths[0])) {
            continue;
        }
        if let (Op::Fma, Kind::Float(f)) = (row.op, row.kind)
            && !fma_is_fair(f, &operands)
        {
            continue;
        }
        if let (true, Kind::Float(f)) = (row.library, row.kind)
            && operands.iter().any(|v| is_unstated(f, row.op, v))
        {
            continue;
        }
        out.push(operands);
    }
    out
}

/// What libraries treat in ways of their own: x87 patterns that are no numbers, and signalling NaNs in fmin and fmax.
fn is_unstated(f: Format, op: Op, v: &Value) -> bool {
    let bits = u128::from(v[0]) | u128::from(v[1]) << 64;
    let quiet = 1
        << match f {
            Format::Half => 9,
            Format::Single => 22,
            Format::Double => 51,
            Format::Extended => 62,
            Format::Quad => 111,
        };
    let no_number = f == Format::Extended && v[0] >> 63 == 0;
    f.is_nan(bits) && (no_number || matches!(op, Op::Fmin | Op::Fmax) && bits & quiet == 0)
}

/// The least number by -1, where C is undefined; the interpreter's fault is tested elsewhere.
fn overflows(operands: &[Value; 3], width: u32) -> bool {
    let ones: Value = std::array::from_fn(|i| ones_below(width.saturating_sub(64 * i as u32)));
    let mut least = [0; LIMBS];
    least[(width as usize - 1) / 64] = 1 << ((width - 1) % 64);
    operands[0] == least && operands[1] == ones
}

/// Rounding to a double first must not matter: of 16-bit numbers whose exponents are close, the sum is exact there.
fn fma_is_fair(f: Format, operands: &[Value; 3]) -> bool {
    if f != Format::Half {
        return true;
    }
    let exponent = |v: &Value| (v[0] >> 10 & 31) as i64;
    let product = exponent(&operands[0]) + exponent(&operands[1]) - 15;
    (product - exponent(&operands[2])).abs() < 25
}

fn ones_below(bits: u32) -> u64 {
    match bits {
        0 => 0,
        1..64 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

fn small(v: u64, width: u32) -> Value {
    let mut out = [0; LIMBS];
    out[0] = v & ones_below(width);
    out
}

fn integer(width: u32, rng: &mut Rng) -> Value {
    let shape = rng.below(8);
    let at = rng.below(u64::from(width));
    std::array::from_fn(|i| {
        let here = |bit: u64| if bit / 64 == i as u64 { 1 << (bit % 64) } else { 0 };
        let limb = match shape {
            0 => here(at),
            1 => u64::MAX - if i == 0 { at % 4 } else { 0 },
            2 => {
                if i == 0 {
                    at % 5
                } else {
                    0
                }
            }
            3 => ones_below((at as u32).saturating_sub(64 * i as u32)),
            4 => here(u64::from(width) - 1) | if i == 0 { at % 3 } else { 0 },
            _ => rng.next(),
        };
        limb & ones_below(width.saturating_sub(64 * i as u32))
    })
}

fn split(v: u128) -> Value {
    [v as u64, (v >> 64) as u64, 0, 0]
}

/// Corners of a format, or random bits with an exponent near the middle, or any bits.
fn any_float(f: Format, rng: &mut Rng) -> u128 {
    let width = f.width();
    let bits = u128::MAX >> (128 - width);
    let random = u128::from(rng.next()) << 64 | u128::from(rng.next());
    let sign = (random >> 17 & 1) << (width - 1);
    let quiet = f.default_nan() & (bits >> 1);
    let infinity = float::eval(Op::Fdiv, f, float::from_unsigned(f, 1), 0, 0).unwrap();
    let corner = match rng.below(15) {
        0 => 0,
        1 => infinity,
        2 => quiet,
        3 => quiet | random & 0xff,
        // Signalling: the quiet bit moved down by one.
        4 => quiet ^ (quiet ^ infinity) | (quiet ^ infinity) >> 1,
        5 => float::from_unsigned(f, 1),
        // Whole and half numbers, powers of two and their neighbours.
        6 => float::eval(Op::Fdiv, f, float::from_unsigned(f, random >> 120), float::from_unsigned(f, 2), 0).unwrap(),
        7 => float::from_unsigned(f, 1 << (random % 80)),
        8 => (float::from_unsigned(f, 1 << (random % 70)) + (random >> 90 & 3)) & (bits >> 1),
        // The least numbers, and the greatest.
        9 => random & 0xff,
        10 => infinity - 1 - (random & 0xff),
        11 | 12 => {
            let whole = float::from_unsigned(f, u128::from(rng.next()) >> rng.below(60));
            float::eval(Op::Fdiv, f, whole, float::from_unsigned(f, 1 << rng.below(40)), 0).unwrap()
        }
        _ => random & (bits >> 1),
    };
    corner & (bits >> 1) | sign
}

fn float_within(f: Format, bits: u32, signed: bool, rng: &mut Rng) -> u128 {
    let limit = if f == Format::Half { bits.min(15) } else { bits };
    let whole = u128::from(rng.next()) << 64 | u128::from(rng.next());
    let whole = whole >> (128 - (limit - 1)).max(rng.below(128) as u32);
    let x = float::from_unsigned(f, whole);
    let x = if rng.below(3) == 0 { float::eval(Op::Fdiv, f, x, float::from_unsigned(f, 3), 0).unwrap() } else { x };
    // Rounding may have reached the limit itself.
    let limit = float::from_unsigned(f, 1 << (limit - 1));
    let x = if float::cmp(f, wryneck_ir::FcmpPred::LT, x, limit) { x } else { 0 };
    if signed && rng.below(2) == 0 { float::eval(Op::Fneg, f, x, 0, 0).unwrap() } else { x }
}
