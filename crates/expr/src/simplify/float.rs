//! Laws of floating point: what is exact without rounding, and what an order of integers decides.
//!
//! Bit patterns of numbers that are not negative are in the order of their values. A chain of operations with constants on a converted integer
//! is monotone, so comparing its value with a constant is comparing the integer with a threshold, which bisection finds.

use wryneck_ir::float::Format;
use wryneck_ir::{FcmpPred, Round};

use super::law;
use crate::facts::Facts;
use crate::float::{self, FloatOp};
use crate::node::{ExprId, Kind, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// Operations between a converted integer and a comparison that are looked through.
const LONGEST_CHAIN: usize = 16;

impl Pool {
    pub(super) fn simplify_float(&mut self, op: FloatOp, a: ExprId, b: ExprId, width: Width) -> Option<ExprId> {
        match op {
            FloatOp::Add | FloatOp::Sub | FloatOp::Sqrt | FloatOp::Fma | FloatOp::FromUnsigned => None,
            FloatOp::Mul | FloatOp::Div => self.simplify_float_factor(op, a, b),
            FloatOp::Cast => self.simplify_float_cast(a, width),
            FloatOp::Round(mode) => self.simplify_float_round(mode, a),
            FloatOp::ToSigned => self.simplify_float_to_signed(a, width),
            FloatOp::FromSigned if self.is_non_negative(a) => {
                law!("stof(x), x not negative => utof(x)", self.float(FloatOp::FromUnsigned, a, a, width))
            }
            FloatOp::FromSigned => None,
            FloatOp::Compare(predicate) => self.simplify_float_compare(predicate, a, b),
        }
    }

    /// One is a factor and a divisor of no effect on numbers.
    fn simplify_float_factor(&mut self, op: FloatOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let one = float::eval(FloatOp::FromUnsigned, 1, width, 1, 0);
        let is_one = |pool: &Pool, e: ExprId| pool.float_constant(e) == Some(one);
        if is_one(self, b) && self.is_number(a) {
            return law!("x * 1.0 => x and x / 1.0 => x, x no NaN", a);
        }
        if op == FloatOp::Mul && is_one(self, a) && self.is_number(b) {
            return law!("1.0 * x => x, x no NaN", b);
        }
        None
    }

    fn simplify_float_cast(&mut self, a: ExprId, width: Width) -> Option<ExprId> {
        let from = self.width(a);
        if from == width {
            return law!("fcast(x) to its own format => x", a);
        }
        match self.kind(a) {
            Kind::Float(FloatOp::Cast, x, _) if self.width(x) < from && self.is_number(x) => {
                law!("fcast(fcast(x)), the inner one exact, x no NaN => fcast(x)", self.float(FloatOp::Cast, x, x, width))
            }
            Kind::Float(op @ (FloatOp::FromSigned | FloatOp::FromUnsigned), x, _) if self.converts_exactly(op, x, from) => {
                law!("fcast(stof(x)), the conversion exact => stof(x)", self.float(op, x, x, width))
            }
            _ => None,
        }
    }

    fn simplify_float_round(&mut self, mode: Round, a: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Float(FloatOp::FromSigned | FloatOp::FromUnsigned, ..) => law!("fround(stof(x)) => stof(x)", a),
            Kind::Float(FloatOp::Round(_), x, _) if self.is_number(x) => law!("fround(fround(x)) => fround(x), x no NaN", a),
            Kind::Float(FloatOp::Cast, x, _) if self.width(x) < self.width(a) && self.is_number(x) => {
                law!("fround(fcast(x)), the cast exact => fcast(fround(x)), x no NaN", {
                    let rounded = self.float(FloatOp::Round(mode), x, x, self.width(x));
                    self.float(FloatOp::Cast, rounded, rounded, self.width(a))
                })
            }
            _ => None,
        }
    }

    /// An integer that went to a format that holds it, and back.
    fn simplify_float_to_signed(&mut self, a: ExprId, width: Width) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Float(FloatOp::FromSigned, x, _)
                if self.width(x) <= width && self.converts_exactly(FloatOp::FromSigned, x, self.width(a)) =>
            {
                law!("ftos(stof(x)), the conversion exact => sext(x)", self.sext(x, width))
            }
            Kind::Float(FloatOp::FromUnsigned, x, _)
                if self.bits_of_magnitude(FloatOp::FromUnsigned, x) < width
                    && self.converts_exactly(FloatOp::FromUnsigned, x, self.width(a)) =>
            {
                law!("ftos(utof(x)), the conversion exact => zext(x)", {
                    if self.width(x) <= width { self.zext(x, width) } else { self.trunc(x, width) }
                })
            }
            Kind::Float(FloatOp::Cast, x, _) if self.width(x) < self.width(a) => {
                law!("ftos(fcast(x)), the cast exact => ftos(x)", self.float(FloatOp::ToSigned, x, x, width))
            }
            Kind::Float(FloatOp::Round(Round::Trunc), x, _) => {
                law!("ftos(ftrunc(x)) => ftos(x)", self.float(FloatOp::ToSigned, x, x, width))
            }
            _ => None,
        }
    }

    fn simplify_float_compare(&mut self, predicate: u8, a: ExprId, b: ExprId) -> Option<ExprId> {
        let predicate = u32::from(predicate);
        if predicate == 0 || predicate == 15 {
            return law!("fcmp false, fcmp true", self.boolean(predicate == 15));
        }
        if self.float_constant(a).is_some() {
            return law!("fcmp of k and x => the swapped fcmp of x and k", self.float_compare(swapped(predicate), b, a));
        }
        let numbers = self.is_number(a) && self.is_number(b);
        if numbers && predicate & FcmpPred::UNORDERED != 0 {
            return law!("fcmp of numbers, or unordered => fcmp", self.float_compare(predicate & !FcmpPred::UNORDERED, a, b));
        }
        if numbers && predicate == FcmpPred::EQ | FcmpPred::LT | FcmpPred::GT {
            return law!("fcmp ord of numbers => true", ExprId::TRUE);
        }
        if let (Kind::Float(FloatOp::Cast, x, _), Kind::Float(FloatOp::Cast, y, _)) = (self.kind(a), self.kind(b))
            && self.width(x) == self.width(y)
            && self.width(x) < self.width(a)
        {
            return law!("fcmp of exact casts => fcmp of what is cast", self.float_compare(predicate, x, y));
        }
        if let Some(narrow) = self.narrower_comparison(a, b) {
            return law!("fcmp of an exact cast and k => fcmp of what is cast and k", self.float_compare(predicate, narrow.0, narrow.1));
        }
        if let Some(decided) = self.compare_by_threshold(predicate, a, b) {
            return law!("fcmp of a monotone chain on x and k => x compared with a threshold", decided);
        }
        if numbers && [a, b].iter().all(|&e| self.is_positive_pattern(e)) {
            return law!("fcmp of numbers with a clear sign => their bits compared", self.compare_patterns(predicate, a, b));
        }
        None
    }

    /// `fcast(x)` and a constant that the format of `x` holds: `x` and that.
    fn narrower_comparison(&mut self, a: ExprId, b: ExprId) -> Option<(ExprId, ExprId)> {
        let Kind::Float(FloatOp::Cast, x, _) = self.kind(a) else { return None };
        let (narrow, wide) = (self.width(x), self.width(a));
        let k = self.float_constant(b).filter(|_| narrow < wide)?;
        let small = float::eval(FloatOp::Cast, wide, narrow, k, 0);
        let is_same = float::eval(FloatOp::Cast, narrow, wide, small, 0) == k;
        is_same.then(|| (x, self.wide(narrow, &float::limbs(narrow, small))))
    }

    /// Patterns with a clear sign and no NaN among them are in the order of their numbers.
    fn compare_patterns(&mut self, predicate: u32, a: ExprId, b: ExprId) -> ExprId {
        match predicate {
            FcmpPred::EQ => self.eq(a, b),
            FcmpPred::LT => self.ult(a, b),
            FcmpPred::GT => self.ult(b, a),
            5 => self.ule(a, b),
            3 => self.ule(b, a),
            _ => self.ne(a, b),
        }
    }

    /// The comparison of a chain of monotone operations on an integer with a constant, as thresholds of the integer.
    fn compare_by_threshold(&mut self, predicate: u32, a: ExprId, b: ExprId) -> Option<ExprId> {
        let k = self.float_constant(b)?;
        let from = self.width(a);
        if Format::of(from)?.is_nan(k) {
            return None;
        }
        let chain = Chain::of(self, a)?;
        let holds = |predicate: u32, value: u128| float::eval(FloatOp::Compare(predicate as u8), from, 1, value, k) == 1;
        // The chain's value rises with the integer, or falls: the first integer from which it is no longer before the constant, and no longer before or at it.
        let before = if chain.falls { FcmpPred::GT } else { FcmpPred::LT };
        let at = chain.first(|value| !holds(before, value));
        let after = chain.first(|value| !holds(before | FcmpPred::EQ, value));
        let (x, order) = (chain.integer, chain.signed);
        let below = |pool: &mut Pool, threshold: Option<u64>| match threshold {
            None => ExprId::TRUE,
            Some(threshold) => {
                let threshold = pool.bits(pool.width(x), threshold & mask(pool.width(x)));
                if order { pool.slt(x, threshold) } else { pool.ult(x, threshold) }
            }
        };
        let (before_at, before_after) = (below(self, at), below(self, after));
        let (lesser, equal, greater) = {
            let not_before = self.not(before_at);
            (before_at, self.and(not_before, before_after), self.not(before_after))
        };
        let (lt, gt) = if chain.falls { (greater, lesser) } else { (lesser, greater) };
        let mut result = ExprId::FALSE;
        for (outcome, holds) in [(FcmpPred::LT, lt), (FcmpPred::EQ, equal), (FcmpPred::GT, gt)] {
            if predicate & outcome != 0 {
                result = self.or(result, holds);
            }
        }
        Some(result)
    }

    /// The bits of a constant.
    fn float_constant(&self, e: ExprId) -> Option<u128> {
        self.as_limbs(e).filter(|limbs| limbs.len() <= 2).map(float::joined)
    }

    /// Is it certainly no NaN?
    fn is_number(&self, e: ExprId) -> bool {
        match self.kind(e) {
            Kind::Float(FloatOp::FromSigned | FloatOp::FromUnsigned, ..) => true,
            Kind::Float(FloatOp::Cast | FloatOp::Round(_), x, _) => self.is_number(x),
            // A finite factor or divisor other than 0 makes no NaN of a number.
            Kind::Float(FloatOp::Mul | FloatOp::Div | FloatOp::Add | FloatOp::Sub, x, k) => {
                self.float_constant(k).is_some_and(|k| is_plain(self.width(e), k)) && self.is_number(x) || self.is_positive_pattern(e)
            }
            _ => match self.float_constant(e) {
                Some(k) => Format::of(self.width(e)).is_some_and(|format| !format.is_nan(k)),
                None => self.is_positive_pattern(e),
            },
        }
    }

    /// Is it known by its facts to have a clear sign and to be at most infinity?
    fn is_positive_pattern(&self, e: ExprId) -> bool {
        float::is_positive(self.width(e), self.interval(e).1)
    }

    /// The most bits that the magnitude of an integer has.
    fn bits_of_magnitude(&self, op: FloatOp, x: ExprId) -> Width {
        if op == FloatOp::FromUnsigned {
            return 64 - self.interval(x).1.leading_zeros();
        }
        let (lo, hi) = self.signed_interval(x);
        64 - lo.unsigned_abs().max(hi.unsigned_abs()).leading_zeros()
    }

    /// Does the format of `width` bits hold every value of the integer?
    fn converts_exactly(&self, op: FloatOp, x: ExprId, width: Width) -> bool {
        let precision = match width {
            32 => 24,
            64 => 53,
            _ => 64,
        };
        self.bits_of_magnitude(op, x) <= precision
    }

    /// What is known of a result of at most 64 bits by its operands' bounds.
    pub(crate) fn float_facts(&self, op: FloatOp, a: ExprId, b: ExprId, width: Width) -> Option<Facts> {
        let from = self.width(a);
        if width > 64 || from > 64 {
            return None;
        }
        let (lo, hi) = float::bounds(op, from, width, self.interval(a), if op.is_binary() { self.interval(b) } else { (0, 0) })?;
        Some(Facts::between(lo, hi))
    }
}

/// A finite constant other than 0.
fn is_plain(width: Width, k: u128) -> bool {
    let zero = 0;
    let differs = float::eval(FloatOp::Compare(6), width, 1, k, zero) == 1;
    // Infinity less itself is a NaN.
    let rest = float::eval(FloatOp::Sub, width, width, k, k);
    differs && Format::of(width).is_some_and(|format| !format.is_nan(rest))
}

fn swapped(predicate: u32) -> u32 {
    let (lt, gt) = (predicate & FcmpPred::LT, predicate & FcmpPred::GT);
    predicate & !(FcmpPred::LT | FcmpPred::GT) | if lt != 0 { FcmpPred::GT } else { 0 } | if gt != 0 { FcmpPred::LT } else { 0 }
}

/// Operations on a converted integer, innermost first, each monotone and none with a NaN as its result.
struct Chain {
    integer: ExprId,
    signed: bool,
    /// Inclusive bounds of the integer.
    bounds: (i128, i128),
    /// The width of the integer and of the first number.
    widths: (Width, Width),
    steps: Vec<Step>,
    /// Does the value fall while the integer rises?
    falls: bool,
}

/// An operation, its constant, whether the constant is the first operand, and the widths of operand and result.
struct Step {
    op: FloatOp,
    constant: u128,
    first: bool,
    widths: (Width, Width),
}

impl Chain {
    fn of(pool: &Pool, mut e: ExprId) -> Option<Chain> {
        let mut steps = Vec::new();
        let mut falls = false;
        loop {
            let Kind::Float(op, a, b) = pool.kind(e) else { return None };
            let width = pool.width(e);
            let step = match op {
                FloatOp::FromSigned | FloatOp::FromUnsigned => {
                    steps.reverse();
                    let signed = op == FloatOp::FromSigned;
                    let bounds = if signed {
                        let (lo, hi) = pool.signed_interval(a);
                        (lo.into(), hi.into())
                    } else {
                        let (lo, hi) = pool.interval(a);
                        (lo.into(), hi.into())
                    };
                    return Some(Chain { integer: a, signed, bounds, widths: (pool.width(a), width), steps, falls });
                }
                FloatOp::Cast | FloatOp::Round(_) => Step { op, constant: 0, first: false, widths: (pool.width(a), width) },
                FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div => {
                    let first = pool.is_const(a);
                    let constant = pool.float_constant(if first { a } else { b }).filter(|&k| is_plain(width, k))?;
                    let negative = constant >> (width - 1) & 1 == 1;
                    match op {
                        FloatOp::Div if first => return None,
                        FloatOp::Mul | FloatOp::Div => falls ^= negative,
                        FloatOp::Sub => falls ^= first,
                        _ => {}
                    }
                    Step { op, constant, first, widths: (width, width) }
                }
                _ => return None,
            };
            e = if step.first { b } else { a };
            steps.push(step);
            if steps.len() > LONGEST_CHAIN {
                return None;
            }
        }
    }

    /// The value of an integer.
    fn value(&self, integer: i128) -> u128 {
        let from = self.widths.0;
        let convert = if self.signed { FloatOp::FromSigned } else { FloatOp::FromUnsigned };
        let bits = integer as u128 & u128::from(mask(from));
        let number = float::eval(convert, from, self.widths.1, bits, 0);
        self.steps.iter().fold(number, |value, step| {
            let (a, b) = if step.first { (step.constant, value) } else { (value, step.constant) };
            float::eval(step.op, step.widths.0, step.widths.1, a, b)
        })
    }

    /// The least integer within the bounds of whose value a monotone property holds, as its low bits; `None`: of none.
    fn first(&self, holds: impl Fn(u128) -> bool) -> Option<u64> {
        let (mut lo, mut hi) = self.bounds;
        if !holds(self.value(hi)) {
            return None;
        }
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            if holds(self.value(middle)) {
                hi = middle;
            } else {
                lo = middle + 1;
            }
        }
        Some(lo as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_swap() {
        for predicate in 0..16 {
            assert_eq!(swapped(swapped(predicate)), predicate);
        }
    }
}
