//! Rounding: an exact value, or one whose lowest bit stands for all that is below, to the nearest number of a format; and to an integral value.

use wryneck_ir::Round;

use super::aig::{Aig, Lit};
use super::circuit::{self, Bits};
use super::float_number::{Layout, Number};
use super::meter::Meter;
use crate::answer::Why;

/// A value to be rounded.
pub(super) struct Exact {
    pub(super) layout: Layout,
    pub(super) sign: Lit,
    /// Biased and signed: the weight of the top bit.
    pub(super) exponent: Bits,
    /// The top bit is set, unless the value is 0 or smaller than the format's normal numbers; the lowest bit is sticky.
    pub(super) significand: Bits,
    /// Can it be below the normal numbers?
    pub(super) may_underflow: bool,
}

impl Exact {
    /// A number as it is, to be added.
    pub(super) fn of(number: &Number, sign: Lit) -> Exact {
        let (exponent, significand) = (number.exponent.clone(), number.significand.clone());
        Exact { layout: number.layout, sign, exponent, significand, may_underflow: true }
    }
}

/// To nearest, ties to even; too large is infinite. At least two bits more than the format's are given.
pub(super) fn round(aig: &mut Aig, exact: Exact, meter: &Meter) -> Result<Bits, Why> {
    let Exact { layout, sign, exponent, significand, may_underflow } = exact;
    let precision = layout.precision();
    let width = exponent.len();
    // Below the normal numbers the significand moves down until the exponent is 1.
    let one = circuit::constant(1, width);
    let missing = circuit::sub(aig, &one, &exponent);
    let is_below = circuit::less_signed(aig, &exponent, &one, false);
    let (significand, below) = if may_underflow {
        let by: Bits = missing.iter().map(|&bit| aig.and(bit, is_below)).collect();
        (shift_right_sticky(aig, &significand, &by, meter)?, is_below)
    } else {
        (significand, Lit::FALSE)
    };
    let cut = significand.len() - precision;
    let (rest, kept) = significand.split_at(cut);
    let (guard, low) = rest.split_last().map_or((Lit::FALSE, &[][..]), |(guard, low)| (*guard, low));
    let sticky = circuit::any(aig, low.iter().copied());
    let odd = aig.or(sticky, kept[0]);
    let up = aig.and(guard, odd);
    // Exponent and fraction as one number: a carry out of the fraction is the next exponent. A subnormal number has exponent 0.
    let subnormal = aig.or(below, !kept[precision - 1]);
    let field: Bits = exponent.iter().map(|&bit| aig.and(bit, !subnormal)).collect();
    let packed = [&kept[..precision - 1], &field[..width - 1]].concat();
    let packed = circuit::add(aig, &packed, &[], up);
    let (fraction, field) = packed.split_at(precision - 1);
    // An exponent of all ones or more is infinite.
    let most = circuit::constant((1 << layout.exponent) - 1, field.len());
    let over = circuit::less(aig, &most, field, true);
    let infinity = layout.infinity(sign);
    let number = layout.pack(aig, sign, field, fraction);
    Ok(circuit::select(aig, over, &infinity, &number))
}

/// Shifted down by an unsigned amount; the lowest bit gathers what falls off.
pub(super) fn shift_right_sticky(aig: &mut Aig, bits: &[Lit], amount: &[Lit], meter: &Meter) -> Result<Bits, Why> {
    let length = bits.len();
    let rows = (usize::BITS - length.leading_zeros()) as usize;
    let mut bits = bits.to_vec();
    for (row, &by) in amount.iter().enumerate().take(rows) {
        meter.check(aig)?;
        let step = 1 << row;
        let lost = circuit::any(aig, bits[..step.min(length)].iter().copied());
        let mut moved: Bits = (0..length).map(|i| bits.get(i + step).copied().unwrap_or(Lit::FALSE)).collect();
        moved[0] = aig.or(moved[0], lost);
        bits = circuit::select(aig, by, &moved, &bits);
    }
    let too_far = circuit::any(aig, amount.iter().skip(rows).copied());
    let anything = circuit::any(aig, bits.iter().copied());
    let mut gone = circuit::constant(0, length);
    gone[0] = anything;
    Ok(circuit::select(aig, too_far, &gone, &bits))
}

/// To an integral value of the same format.
pub(super) fn to_integral(aig: &mut Aig, mode: Round, a: &[Lit], meter: &Meter) -> Result<Bits, Why> {
    let layout = Layout::of(a.len());
    let x = Number::unpack(aig, a, layout);
    let precision = layout.precision();
    // With this exponent or more the lowest bit of the significand is an integer.
    let whole_at = circuit::constant_signed(layout.bias() + layout.fraction as i64, x.exponent.len());
    let is_whole = circuit::less_signed(aig, &whole_at, &x.exponent, true);
    let by = circuit::sub(aig, &whole_at, &x.exponent);
    let room = [circuit::constant(0, 2), x.significand.clone()].concat();
    let shifted = shift_right_sticky(aig, &room, &by, meter)?;
    let (sticky, guard, integer) = (shifted[0], shifted[1], &shifted[2..]);
    let inexact = aig.or(sticky, guard);
    let up = match mode {
        Round::Trunc => Lit::FALSE,
        Round::Floor => aig.and(x.sign, inexact),
        Round::Ceil => aig.and(!x.sign, inexact),
        Round::Away => guard,
        Round::Even => {
            let odd = aig.or(sticky, integer[0]);
            aig.and(guard, odd)
        }
    };
    let integer = circuit::extend(integer, Lit::FALSE, precision + 1);
    let integer = circuit::add(aig, &integer, &[], up);
    let nothing = !circuit::any(aig, integer.iter().copied());
    let (significand, zeros) = circuit::normalise(aig, &integer, meter)?;
    let top = circuit::constant_signed(layout.bias() + precision as i64, x.exponent.len());
    let exponent = circuit::sub(aig, &top, &circuit::extend(&zeros, Lit::FALSE, x.exponent.len()));
    let number = layout.pack(aig, x.sign, &exponent[..layout.exponent], &significand[1..precision]);
    let zero = layout.zero(x.sign);
    let result = circuit::select(aig, nothing, &zero, &number);
    let mut same = a.to_vec();
    // What is large already is itself; a NaN is made quiet, a pattern that is no number becomes the default one.
    same[layout.fraction - 1] = aig.or(same[layout.fraction - 1], x.nan);
    let mut default = layout.infinity(Lit::TRUE);
    default[layout.fraction - 1] = Lit::TRUE;
    let result = circuit::select(aig, is_whole, &same, &result);
    Ok(circuit::select(aig, x.unsupported, &default, &result))
}
