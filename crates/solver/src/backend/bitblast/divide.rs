//! Division and remainder circuits.
//!
//! Technique: restoring division, one row per dividend bit. The partial remainder is kept only as wide as the divisor can be, so `x / 10`
//! costs 64 rows of five bits. By SMT-LIB a zero divisor gives the quotient all ones (the rows do that by themselves) and the dividend as
//! remainder (one multiplexer, absent when the divisor has a constant one bit). Signed division is unsigned division of magnitudes.
use super::aig::{Aig, Lit};
use super::circuit::{self, Bits};
use super::meter::Meter;
use crate::answer::Why;

/// Quotient and remainder, unsigned.
pub(super) fn unsigned(aig: &mut Aig, a: &[Lit], d: &[Lit], meter: &Meter) -> Result<(Bits, Bits), Why> {
    let width = a.len();
    let divisor_width = d.iter().rposition(|&bit| bit != Lit::FALSE).map_or(0, |top| top + 1);
    // One bit more than the divisor: the remainder after the next dividend bit has come in.
    let mut divisor = d[..divisor_width].to_vec();
    divisor.push(Lit::FALSE);
    let mut rest = circuit::constant(0, divisor_width);
    let mut quotient = circuit::constant(0, width);
    for i in (0..width).rev() {
        meter.check(aig)?;
        rest.insert(0, a[i]);
        let fits = circuit::less(aig, &divisor, &rest, true);
        let less = circuit::sub(aig, &rest, &divisor);
        rest = circuit::select(aig, fits, &less, &rest);
        rest.truncate(divisor_width);
        quotient[i] = fits;
    }
    rest.resize(width, Lit::FALSE);
    let nonzero = circuit::any(aig, d.iter().copied());
    let remainder = circuit::select(aig, nonzero, &rest, a);
    Ok((quotient, remainder))
}

/// Quotient rounded towards zero, and remainder with the dividend's sign.
pub(super) fn signed(aig: &mut Aig, a: &[Lit], d: &[Lit], meter: &Meter) -> Result<(Bits, Bits), Why> {
    let (a_sign, d_sign) = (a[a.len() - 1], d[d.len() - 1]);
    let (a_size, d_size) = (circuit::neg_if(aig, a_sign, a), circuit::neg_if(aig, d_sign, d));
    let (quotient, remainder) = unsigned(aig, &a_size, &d_size, meter)?;
    let differ = aig.xor(a_sign, d_sign);
    Ok((circuit::neg_if(aig, differ, &quotient), circuit::neg_if(aig, a_sign, &remainder)))
}
