//! A floating-point pattern taken apart: sign, exponent, significand, and what kind of number it is.

use super::aig::{Aig, Lit};
use super::circuit::{self, Bits};
use super::meter::Meter;
use crate::answer::Why;

/// Where the parts of a format are, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) exponent: usize,
    /// Bits below the binary point.
    pub(super) fraction: usize,
    /// The x87's integer bit is stored.
    pub(super) explicit: bool,
}

impl Layout {
    /// The format of 32, 64 or 80 bits.
    pub(super) fn of(width: usize) -> Layout {
        let (exponent, fraction, explicit) = match width {
            32 => (8, 23, false),
            64 => (11, 52, false),
            _ => (15, 63, true),
        };
        Layout { width, exponent, fraction, explicit }
    }

    /// Bits of a significand, the integer bit included.
    pub(super) fn precision(self) -> usize {
        self.fraction + 1
    }

    pub(super) fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Bits of a signed exponent that holds sums of three.
    pub(super) fn exponents(self) -> usize {
        self.exponent + 3
    }

    /// A number from its parts; the integer bit is set where the exponent is not 0.
    pub(super) fn pack(self, aig: &mut Aig, sign: Lit, exponent: &[Lit], fraction: &[Lit]) -> Bits {
        let mut bits = fraction[..self.fraction].to_vec();
        if self.explicit {
            bits.push(circuit::any(aig, exponent.iter().copied()));
        }
        bits.extend_from_slice(&exponent[..self.exponent]);
        bits.push(sign);
        bits
    }

    pub(super) fn infinity(self, sign: Lit) -> Bits {
        let mut bits = circuit::constant(0, self.fraction);
        bits.resize(self.width - 1, Lit::TRUE);
        bits.push(sign);
        bits
    }

    pub(super) fn zero(self, sign: Lit) -> Bits {
        let mut bits = circuit::constant(0, self.width - 1);
        bits.push(sign);
        bits
    }
}

/// A pattern's parts.
pub(super) struct Number {
    pub(super) layout: Layout,
    pub(super) sign: Lit,
    /// Biased, at least 1, of [`Layout::exponents`] bits.
    pub(super) exponent: Bits,
    /// The integer bit is the top one.
    pub(super) significand: Bits,
    pub(super) nan: Lit,
    /// A pattern of the x87 that is no number; `nan` holds, too.
    pub(super) unsupported: Lit,
    pub(super) infinite: Lit,
    pub(super) zero: Lit,
}

/// A significand whose top bit is set unless it is 0, and its biased exponent, which may be negative.
pub(super) struct Signed {
    pub(super) exponent: Bits,
    pub(super) significand: Bits,
}

impl Number {
    pub(super) fn unpack(aig: &mut Aig, bits: &[Lit], layout: Layout) -> Number {
        let low = layout.width - 1 - layout.exponent;
        let fraction = &bits[..layout.fraction];
        let exponent = &bits[low..layout.width - 1];
        let normal = circuit::any(aig, exponent.iter().copied());
        let extreme = exponent.iter().fold(Lit::TRUE, |so_far, &bit| aig.and(so_far, bit));
        let has_fraction = circuit::any(aig, fraction.iter().copied());
        let integer = if layout.explicit { bits[layout.fraction] } else { normal };
        let unsupported = if layout.explicit { aig.and(normal, !integer) } else { Lit::FALSE };
        let nan = aig.and(extreme, has_fraction);
        let nan = aig.or(nan, unsupported);
        let infinite = aig.and(extreme, !nan);
        let nothing = aig.or(has_fraction, integer);
        let mut biased = exponent.to_vec();
        biased[0] = aig.or(biased[0], !normal);
        Number {
            layout,
            sign: bits[layout.width - 1],
            exponent: circuit::extend(&biased, Lit::FALSE, layout.exponents()),
            significand: [fraction, &[integer]].concat(),
            nan,
            unsupported,
            infinite,
            zero: aig.and(!nothing, !normal),
        }
    }

    /// The number with its significand shifted up until its top bit is set.
    pub(super) fn normalised(&self, aig: &mut Aig, meter: &Meter) -> Result<Signed, Why> {
        let (significand, zeros) = circuit::normalise(aig, &self.significand, meter)?;
        let exponent = circuit::sub(aig, &self.exponent, &circuit::extend(&zeros, Lit::FALSE, self.exponent.len()));
        Ok(Signed { exponent, significand })
    }
}
