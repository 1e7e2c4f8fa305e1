//! Floating-point operations as circuits, for binary32, binary64 and the x87's 80 bits.
//!
//! Technique: the textbook data paths (Muller et al., "Handbook of Floating-Point Arithmetic", 2018, chapter 8): operands are unpacked into sign,
//! exponent and significand; the exact result is computed with a guard bit and a sticky bit; one shared circuit (`round`) rounds and packs. What
//! the results are, NaNs included, is [`wryneck_ir::float`]'s word. Cost: quadratic in the significand for products, quotients and roots.

use wryneck_expr::{FloatOp, Width};
use wryneck_ir::FcmpPred;
use wryneck_ir::float::Format;

use super::aig::{Aig, Lit};
use super::circuit::{self, Bits};
use super::float_number::{Layout, Number, Signed};
use super::float_round::{self, Exact};
use super::meter::Meter;
use crate::answer::Why;

/// The bits of an operation that [`fits`](FloatOp::fits) its operands' widths and `to` bits.
pub(super) fn operation(aig: &mut Aig, op: FloatOp, a: &[Lit], b: &[Lit], to: Width, meter: &Meter) -> Result<Bits, Why> {
    let mut new = Circuit { aig, meter };
    match op {
        FloatOp::FromSigned => new.integer(a, true, Layout::of(to as usize)),
        FloatOp::FromUnsigned => new.integer(a, false, Layout::of(to as usize)),
        FloatOp::Compare(predicate) => Ok(vec![new.compare(predicate.into(), a, b)]),
        FloatOp::ToSigned => new.truncated(a, to as usize),
        FloatOp::Cast => new.cast(a, Layout::of(to as usize)),
        FloatOp::Round(mode) => float_round::to_integral(new.aig, mode, a, meter),
        FloatOp::Sqrt => new.sqrt(a),
        FloatOp::Mul => new.mul(a, b),
        FloatOp::Div => new.div(a, b),
        FloatOp::Add => new.add(a, b, false),
        FloatOp::Sub => new.add(a, b, true),
        FloatOp::Fma => new.fma(a, &b[..a.len()], &b[a.len()..]),
    }
}

struct Circuit<'a> {
    aig: &'a mut Aig,
    meter: &'a Meter,
}

impl Circuit<'_> {
    /// The first that holds decides; `otherwise` where none does.
    fn choose(&mut self, cases: &[(Lit, Bits)], otherwise: Bits) -> Bits {
        cases.iter().rev().fold(otherwise, |rest, (condition, bits)| circuit::select(self.aig, *condition, bits, &rest))
    }

    fn any(&mut self, bits: &[Lit]) -> Lit {
        circuit::any(self.aig, bits.iter().copied())
    }

    fn all(&mut self, bits: &[Lit]) -> Lit {
        bits.iter().fold(Lit::TRUE, |so_far, &bit| self.aig.and(so_far, bit))
    }

    fn default_nan(layout: Layout) -> Bits {
        let format = Format::of(layout.width as Width).expect("a layout's format");
        let bits = format.default_nan();
        (0..layout.width).map(|i| Lit::constant(bits >> i & 1 == 1)).collect()
    }

    /// What operands of which one is a NaN give.
    fn nan(&mut self, operands: &[(&[Lit], &Number)]) -> Bits {
        let layout = operands[0].1.layout;
        let quiet = |bits: &[Lit]| {
            let mut bits = bits.to_vec();
            bits[layout.fraction - 1] = Lit::TRUE;
            bits
        };
        if !layout.explicit {
            let cases: Vec<_> = operands.iter().map(|(bits, number)| (number.nan, quiet(bits))).collect();
            return self.choose(&cases, Self::default_nan(layout));
        }
        // The x87: the larger significand, of equal ones the positive; patterns that are no numbers give the default.
        let unsupported: Vec<Lit> = operands.iter().map(|(_, number)| number.unsupported).collect();
        let unsupported = self.any(&unsupported);
        let mut chosen = (operands[0].0.to_vec(), operands[0].1.nan);
        for (bits, number) in &operands[1..] {
            let significand = layout.fraction + 1;
            let larger = circuit::less(self.aig, &chosen.0[..significand], &bits[..significand], false);
            let equal = circuit::equal(self.aig, &chosen.0[..significand], &bits[..significand]);
            let positive = self.all(&[equal, !bits[layout.width - 1]]);
            let wins = self.any(&[larger, positive, !chosen.1]);
            let wins = self.all(&[wins, number.nan]);
            chosen = (circuit::select(self.aig, wins, bits, &chosen.0), self.any(&[chosen.1, number.nan]));
        }
        let cases = [(unsupported, Self::default_nan(layout)), (chosen.1, quiet(&chosen.0))];
        self.choose(&cases, Self::default_nan(layout))
    }

    fn unpack(&mut self, bits: &[Lit]) -> Number {
        Number::unpack(self.aig, bits, Layout::of(bits.len()))
    }

    /// With a significand whose top bit is set, unless the number is zero.
    fn normal(&mut self, bits: &[Lit]) -> Result<(Number, Signed), Why> {
        let number = self.unpack(bits);
        let normal = number.normalised(self.aig, self.meter)?;
        Ok((number, normal))
    }

    fn round(&mut self, exact: Exact) -> Result<Bits, Why> {
        float_round::round(self.aig, exact, self.meter)
    }

    fn mul(&mut self, a: &[Lit], b: &[Lit]) -> Result<Bits, Why> {
        let ((x, p), (y, q)) = (self.normal(a)?, self.normal(b)?);
        let layout = x.layout;
        let sign = self.aig.xor(x.sign, y.sign);
        let exact = self.product(layout, sign, &p, &q)?;
        let rounded = self.round(exact)?;
        let nan = self.nan(&[(a, &x), (b, &y)]);
        let (first, second) = (self.all(&[x.infinite, y.zero]), self.all(&[x.zero, y.infinite]));
        let no_number = self.any(&[x.nan, y.nan, first, second]);
        let (infinite, zero) = (self.any(&[x.infinite, y.infinite]), self.any(&[x.zero, y.zero]));
        Ok(self.choose(&[(no_number, nan), (infinite, layout.infinity(sign)), (zero, layout.zero(sign))], rounded))
    }

    /// The product of two significands, twice as long; its top bit is set.
    fn product(&mut self, layout: Layout, sign: Lit, p: &Signed, q: &Signed) -> Result<Exact, Why> {
        let length = 2 * layout.precision();
        let extend = |bits: &[Lit]| circuit::extend(bits, Lit::FALSE, length);
        let product = circuit::mul(self.aig, &extend(&p.significand), &extend(&q.significand), self.meter)?;
        let top = product[length - 1];
        let significand = shifted_left_unless(self.aig, top, &product);
        // Both significands have one integer bit, the product two.
        let bias = circuit::constant_signed(1 - layout.bias(), layout.exponents());
        let sum = circuit::add(self.aig, &p.exponent, &q.exponent, Lit::FALSE);
        let sum = circuit::add(self.aig, &sum, &bias, Lit::FALSE);
        let exponent = circuit::sub(self.aig, &sum, &[vec![!top], circuit::constant(0, layout.exponents() - 1)].concat());
        Ok(Exact { layout, sign, exponent, significand, may_underflow: true })
    }

    fn div(&mut self, a: &[Lit], b: &[Lit]) -> Result<Bits, Why> {
        let ((x, p), (y, q)) = (self.normal(a)?, self.normal(b)?);
        let layout = x.layout;
        let sign = self.aig.xor(x.sign, y.sign);
        // Restoring division: an integer bit, then the fraction, a guard bit, and one more if the integer bit is 0.
        let mut divisor = q.significand.clone();
        divisor.push(Lit::FALSE);
        let mut rest = p.significand.clone();
        rest.push(Lit::FALSE);
        let mut quotient = Vec::new();
        for _ in 0..layout.precision() + 2 {
            self.meter.check(self.aig)?;
            let fits = circuit::less(self.aig, &divisor, &rest, true);
            let less = circuit::sub(self.aig, &rest, &divisor);
            rest = circuit::select(self.aig, fits, &less, &rest);
            rest.pop();
            rest.insert(0, Lit::FALSE);
            quotient.insert(0, fits);
        }
        let sticky = self.any(&rest);
        let top = quotient[quotient.len() - 1];
        quotient.insert(0, sticky);
        // The lowest bit is the sticky bit: shifted in it stays one, as everything below the guard bit is sticky.
        let significand = shifted_left_unless(self.aig, top, &quotient);
        let difference = circuit::sub(self.aig, &p.exponent, &q.exponent);
        let bias = circuit::constant_signed(layout.bias(), layout.exponents());
        let sum = circuit::add(self.aig, &difference, &bias, Lit::FALSE);
        let exponent = circuit::sub(self.aig, &sum, &[vec![!top], circuit::constant(0, layout.exponents() - 1)].concat());
        let rounded = self.round(Exact { layout, sign, exponent, significand, may_underflow: true })?;
        let nan = self.nan(&[(a, &x), (b, &y)]);
        let (infinities, zeros) = (self.all(&[x.infinite, y.infinite]), self.all(&[x.zero, y.zero]));
        let no_number = self.any(&[x.nan, y.nan, infinities, zeros]);
        let (infinite, zero) = (self.any(&[x.infinite, y.zero]), self.any(&[x.zero, y.infinite]));
        Ok(self.choose(&[(no_number, nan), (infinite, layout.infinity(sign)), (zero, layout.zero(sign))], rounded))
    }

    fn sqrt(&mut self, a: &[Lit]) -> Result<Bits, Why> {
        let (x, p) = self.normal(a)?;
        let layout = x.layout;
        let precision = layout.precision();
        // The bias is odd: a number whose biased exponent is even has twice the significand, so that half its exponent is whole.
        let odd = p.exponent[0];
        let mut radicand = circuit::constant(0, precision + 1);
        let even_case = [vec![Lit::FALSE], p.significand.clone()].concat();
        let odd_case = [p.significand.clone(), vec![Lit::FALSE]].concat();
        radicand.copy_from_slice(&circuit::select(self.aig, odd, &odd_case, &even_case));
        // Digit by digit: a pair of bits of the radicand comes in, a bit of the root goes out; the last one is the guard bit.
        let mut pairs = radicand;
        let mut rest: Bits = Vec::new();
        let mut root: Bits = Vec::new();
        for _ in 0..=precision {
            self.meter.check(self.aig)?;
            let high = pairs.pop().unwrap_or(Lit::FALSE);
            let low = pairs.pop().unwrap_or(Lit::FALSE);
            rest.splice(0..0, [low, high]);
            let mut trial = [vec![Lit::TRUE, Lit::FALSE], root.clone()].concat();
            let length = rest.len().max(trial.len());
            rest.resize(length, Lit::FALSE);
            trial.resize(length, Lit::FALSE);
            let fits = circuit::less(self.aig, &trial, &rest, true);
            let less = circuit::sub(self.aig, &rest, &trial);
            rest = circuit::select(self.aig, fits, &less, &rest);
            root.insert(0, fits);
            // The rest is at most twice the root.
            rest.truncate(root.len() + 1);
        }
        let sticky = self.any(&rest);
        root.insert(0, sticky);
        let bias = circuit::constant_signed(layout.bias(), layout.exponents());
        let sum = circuit::add(self.aig, &p.exponent, &bias, Lit::FALSE);
        let mut exponent = sum[1..].to_vec();
        exponent.push(sum[sum.len() - 1]);
        let rounded = self.round(Exact { layout, sign: Lit::FALSE, exponent, significand: root, may_underflow: false })?;
        let nan = self.nan(&[(a, &x)]);
        let negative = self.all(&[x.sign, !x.zero]);
        let no_number = self.any(&[x.nan, negative]);
        Ok(self.choose(&[(no_number, nan), (x.infinite, layout.infinity(Lit::FALSE)), (x.zero, layout.zero(x.sign))], rounded))
    }

    fn add(&mut self, a: &[Lit], b: &[Lit], subtract: bool) -> Result<Bits, Why> {
        let (x, y) = (self.unpack(a), self.unpack(b));
        let layout = x.layout;
        let y_sign = y.sign.flip_if(subtract);
        let left = Exact::of(&x, x.sign);
        let right = Exact::of(&y, y_sign);
        let (exact, nothing) = self.sum(left, right)?;
        let rounded = self.round(exact)?;
        let nan = self.nan(&[(a, &x), (b, &y)]);
        let differ = self.aig.xor(x.sign, y_sign);
        let opposite = self.all(&[x.infinite, y.infinite, differ]);
        let no_number = self.any(&[x.nan, y.nan, opposite]);
        // Zero is negative only as the sum of negative zeros.
        let both = self.all(&[x.sign, y_sign]);
        let cases =
            [(no_number, nan), (x.infinite, layout.infinity(x.sign)), (y.infinite, layout.infinity(y_sign)), (nothing, layout.zero(both))];
        Ok(self.choose(&cases, rounded))
    }

    /// The sum of two numbers of one length, and whether it is zero: the lesser is shifted below the greater, what falls off is sticky.
    fn sum(&mut self, left: Exact, right: Exact) -> Result<(Exact, Lit), Why> {
        let layout = left.layout;
        let greater = {
            let below = circuit::less_signed(self.aig, &left.exponent, &right.exponent, false);
            let level = circuit::equal(self.aig, &left.exponent, &right.exponent);
            let smaller = circuit::less(self.aig, &left.significand, &right.significand, false);
            let smaller = self.all(&[level, smaller]);
            self.any(&[below, smaller])
        };
        let swap = |aig: &mut Aig, l: &[Lit], r: &[Lit]| (circuit::select(aig, greater, r, l), circuit::select(aig, greater, l, r));
        let (large, small) = swap(self.aig, &left.exponent, &right.exponent);
        let (big, little) = swap(self.aig, &left.significand, &right.significand);
        let sign = self.aig.ite(greater, right.sign, left.sign);
        let differ = self.aig.xor(left.sign, right.sign);
        let distance = circuit::sub(self.aig, &large, &small);
        // Guard, round and sticky bits below; a carry above.
        let below = circuit::constant(0, 3);
        let little = [below.clone(), little].concat();
        let little = float_round::shift_right_sticky(self.aig, &little, &distance, self.meter)?;
        let widen = |bits: Bits| circuit::extend(&bits, Lit::FALSE, bits.len() + 1);
        let (big, little) = (widen([below, big].concat()), widen(little));
        let little: Bits = little.iter().map(|&bit| self.aig.xor(bit, differ)).collect();
        let sum = circuit::add(self.aig, &big, &little, differ);
        let nothing = !self.any(&sum);
        let (significand, zeros) = circuit::normalise(self.aig, &sum, self.meter)?;
        let one = circuit::constant(1, layout.exponents());
        let exponent = circuit::add(self.aig, &large, &one, Lit::FALSE);
        let exponent = circuit::sub(self.aig, &exponent, &circuit::extend(&zeros, Lit::FALSE, layout.exponents()));
        Ok((Exact { layout, sign, exponent, significand, may_underflow: true }, nothing))
    }

    /// `a * b + c`: the exact product and the addend, as long as it, added.
    fn fma(&mut self, a: &[Lit], b: &[Lit], c: &[Lit]) -> Result<Bits, Why> {
        let ((x, p), (y, q), (z, r)) = (self.normal(a)?, self.normal(b)?, self.normal(c)?);
        let layout = x.layout;
        let sign = self.aig.xor(x.sign, y.sign);
        let mut product = self.product(layout, sign, &p, &q)?;
        let mut addend = Exact {
            layout,
            sign: z.sign,
            exponent: r.exponent,
            significand: [circuit::constant(0, layout.precision()), r.significand].concat(),
            may_underflow: true,
        };
        // A zero is below everything.
        let least = circuit::constant_signed(-(1 << (layout.exponents() - 2)), layout.exponents());
        let no_product = self.any(&[x.zero, y.zero]);
        product.exponent = circuit::select(self.aig, no_product, &least, &product.exponent);
        addend.exponent = circuit::select(self.aig, z.zero, &least, &addend.exponent);
        let (exact, nothing) = self.sum(product, addend)?;
        let rounded = self.round(exact)?;
        let nan = self.nan(&[(a, &x), (b, &y), (c, &z)]);
        let infinite = self.any(&[x.infinite, y.infinite]);
        let differ = self.aig.xor(sign, z.sign);
        let (first, second) = (self.all(&[x.infinite, y.zero]), self.all(&[x.zero, y.infinite]));
        let opposite = self.all(&[infinite, z.infinite, differ]);
        let no_number = self.any(&[x.nan, y.nan, z.nan, first, second, opposite]);
        let both = self.all(&[sign, z.sign]);
        let cases =
            [(no_number, nan), (infinite, layout.infinity(sign)), (z.infinite, layout.infinity(z.sign)), (nothing, layout.zero(both))];
        Ok(self.choose(&cases, rounded))
    }

    fn cast(&mut self, a: &[Lit], to: Layout) -> Result<Bits, Why> {
        let (x, p) = self.normal(a)?;
        let from = x.layout;
        let exponents = from.exponents().max(to.exponents());
        let exponent = circuit::extend(&p.exponent, p.exponent[p.exponent.len() - 1], exponents);
        let bias = circuit::constant_signed(to.bias() - from.bias(), exponents);
        let exponent = circuit::add(self.aig, &exponent, &bias, Lit::FALSE);
        // At least a guard and a sticky bit below.
        let room = (to.precision() + 2).saturating_sub(from.precision());
        let significand = [circuit::constant(0, room), p.significand].concat();
        let may_underflow = to.exponent < from.exponent;
        let rounded = self.round(Exact { layout: to, sign: x.sign, exponent, significand, may_underflow })?;
        let fraction = &a[..from.fraction];
        let payload = if to.fraction >= from.fraction {
            [circuit::constant(0, to.fraction - from.fraction), fraction.to_vec()].concat()
        } else {
            fraction[from.fraction - to.fraction..].to_vec()
        };
        let mut nan = to.infinity(x.sign);
        nan[..to.fraction].copy_from_slice(&payload);
        nan[to.fraction - 1] = Lit::TRUE;
        let cases = [(x.unsupported, Self::default_nan(to)), (x.nan, nan), (x.infinite, to.infinity(x.sign)), (x.zero, to.zero(x.sign))];
        Ok(self.choose(&cases, rounded))
    }

    fn integer(&mut self, a: &[Lit], signed: bool, to: Layout) -> Result<Bits, Why> {
        let sign = if signed { a[a.len() - 1] } else { Lit::FALSE };
        let magnitude = circuit::neg_if(self.aig, sign, a);
        let nothing = !self.any(&magnitude);
        let (significand, zeros) = circuit::normalise(self.aig, &magnitude, self.meter)?;
        let room = (to.precision() + 2).saturating_sub(significand.len());
        let top = circuit::constant_signed(to.bias() + a.len() as i64 - 1, to.exponents());
        let exponent = circuit::sub(self.aig, &top, &circuit::extend(&zeros, Lit::FALSE, to.exponents()));
        let significand = [circuit::constant(0, room), significand].concat();
        let rounded = self.round(Exact { layout: to, sign, exponent, significand, may_underflow: false })?;
        Ok(self.choose(&[(nothing, to.zero(Lit::FALSE))], rounded))
    }

    /// Towards zero; what does not fit is the least integer.
    fn truncated(&mut self, a: &[Lit], width: usize) -> Result<Bits, Why> {
        let x = self.unpack(a);
        let layout = x.layout;
        // How many integer bits the number has; the significand is shifted that far into the integer.
        let bias = circuit::constant_signed(1 - layout.bias(), layout.exponents());
        let integer_bits = circuit::add(self.aig, &x.exponent, &bias, Lit::FALSE);
        let below_one = integer_bits[integer_bits.len() - 1];
        let room = [x.significand.clone(), circuit::constant(0, width)].concat();
        let rows = (usize::BITS - width.leading_zeros()) as usize;
        let mut shifted = room;
        for (row, &by) in integer_bits.iter().enumerate().take(rows) {
            self.meter.check(self.aig)?;
            let moved: Bits = (0..shifted.len()).map(|i| i.checked_sub(1 << row).map_or(Lit::FALSE, |from| shifted[from])).collect();
            shifted = circuit::select(self.aig, by, &moved, &shifted);
        }
        let magnitude = shifted[layout.precision()..].to_vec();
        let zero = circuit::constant(0, width);
        let magnitude = circuit::select(self.aig, below_one, &zero, &magnitude);
        let limit = circuit::constant(width as u64, integer_bits.len());
        let too_many = circuit::less(self.aig, &limit, &integer_bits, false);
        let too_many = self.all(&[too_many, !below_one]);
        let no_integer = self.any(&[x.nan, x.infinite, too_many, magnitude[width - 1]]);
        let value = circuit::neg_if(self.aig, x.sign, &magnitude);
        let mut least = circuit::constant(0, width);
        least[width - 1] = Lit::TRUE;
        Ok(circuit::select(self.aig, no_integer, &least, &value))
    }

    /// Is the outcome one of those of the predicate?
    fn compare(&mut self, predicate: u32, a: &[Lit], b: &[Lit]) -> Lit {
        let (x, y) = (self.unpack(a), self.unpack(b));
        let magnitude = |n: &Number| [n.significand.clone(), n.exponent.clone()].concat();
        let (m, n) = (magnitude(&x), magnitude(&y));
        let unordered = self.any(&[x.nan, y.nan]);
        let zeros = self.all(&[x.zero, y.zero]);
        let same_sign = !self.aig.xor(x.sign, y.sign);
        let same = circuit::equal(self.aig, &m, &n);
        let same = self.all(&[same, same_sign]);
        let same = self.any(&[same, zeros]);
        let below = circuit::less(self.aig, &m, &n, false);
        let above = circuit::less(self.aig, &n, &m, false);
        let by_size = self.aig.ite(x.sign, above, below);
        let less = self.aig.ite(same_sign, by_size, x.sign);
        let less = self.all(&[less, !same]);
        let outcomes = [
            (FcmpPred::UNORDERED, unordered),
            (FcmpPred::EQ, self.all(&[same, !unordered])),
            (FcmpPred::LT, self.all(&[less, !unordered])),
            (FcmpPred::GT, self.all(&[!less, !same, !unordered])),
        ];
        let wanted: Vec<Lit> = outcomes.iter().filter(|(bit, _)| predicate & bit != 0).map(|&(_, holds)| holds).collect();
        self.any(&wanted)
    }
}

/// The bits moved up by one, unless `stays`.
fn shifted_left_unless(aig: &mut Aig, stays: Lit, bits: &[Lit]) -> Bits {
    let moved = [&[Lit::FALSE], &bits[..bits.len() - 1]].concat();
    circuit::select(aig, stays, bits, &moved)
}
