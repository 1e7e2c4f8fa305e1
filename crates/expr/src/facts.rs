//! Facts: for each node of at most 64 bits, the bits that are the same under every model and an unsigned interval.
//!
//! Forward transfer functions of the known-bits and interval domains (Miné, "Abstract Domains for Bit-Level Machine Integer
//! and Floating-point Operations", 2012), computed once when a node is made, each domain then tightened by the other. Sound,
//! not complete: a fact never asks the solver and never looks below the children. A few nanoseconds a node.

use crate::eval::signed;
use crate::node::{ExprId, Kind, Node, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// What holds of a value under every model. Above 64 bits: [`Facts::WIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Bits that are 0.
    pub(crate) zeros: u64,
    /// Bits that are 1.
    pub(crate) ones: u64,
    /// Unsigned bounds, inclusive.
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Facts {
    /// Nothing known of a value above 64 bits.
    pub(crate) const WIDE: Facts = Facts { zeros: 0, ones: 0, lo: 0, hi: u64::MAX };

    fn unknown(width: Width) -> Facts {
        Facts { zeros: 0, ones: 0, lo: 0, hi: mask(width) }
    }
    pub(crate) fn constant(width: Width, value: u64) -> Facts {
        Facts { zeros: !value & mask(width), ones: value, lo: value, hi: value }
    }
    fn from_bits(width: Width, zeros: u64, ones: u64) -> Facts {
        Facts { zeros: zeros & mask(width), ones, ..Facts::unknown(width) }
    }
    /// Unsigned bounds, inclusive.
    pub(crate) fn between(lo: u64, hi: u64) -> Facts {
        Facts { zeros: 0, ones: 0, lo, hi }
    }
    fn truth(value: Option<bool>) -> Facts {
        value.map_or(Facts::unknown(1), |value| Facts::constant(1, u64::from(value)))
    }

    /// Both hold.
    fn and(self, other: Facts) -> Facts {
        Facts { zeros: self.zeros | other.zeros, ones: self.ones | other.ones, lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }
    /// One of them holds.
    pub(crate) fn or(self, other: Facts) -> Facts {
        Facts { zeros: self.zeros & other.zeros, ones: self.ones & other.ones, lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
    /// Bounds from bits, and bits from the leading digits the bounds agree on.
    fn tightened(self, width: Width) -> Facts {
        let (lo, hi) = (self.lo.max(self.ones), self.hi.min(!self.zeros & mask(width)));
        let agreed = mask(width) & !(u64::MAX.checked_shr((lo ^ hi).leading_zeros()).unwrap_or(0));
        Facts { zeros: self.zeros | !lo & agreed, ones: self.ones | lo & agreed, lo, hi }
    }
    /// The value, if there is only one.
    pub(crate) fn value(self) -> Option<u64> {
        (self.lo == self.hi).then_some(self.lo)
    }
    fn trailing_zeros(self) -> Width {
        self.zeros.trailing_ones()
    }
    fn is_below(self, bound: u64) -> bool {
        self.hi < bound
    }
}

/// Facts of two operands of one width, and the width.
struct Two {
    width: Width,
    a: Facts,
    b: Facts,
}

impl Two {
    fn bits(&self, zeros: u64, ones: u64) -> Facts {
        Facts::from_bits(self.width, zeros, ones)
    }

    fn add(&self, carry: u64) -> Facts {
        let Two { width, a, b } = *self;
        let m = mask(width);
        // The sums of the largest and of the smallest values agree with every sum where their carries agree.
        let largest = (!a.zeros & m).wrapping_add(!b.zeros & m).wrapping_add(carry);
        let smallest = a.ones.wrapping_add(b.ones).wrapping_add(carry);
        let no_carry = !(largest ^ a.zeros ^ b.zeros);
        let carried = smallest ^ a.ones ^ b.ones;
        let known = (a.zeros | a.ones) & (b.zeros | b.ones) & (no_carry | carried) & m;
        let bits = self.bits(!largest & known, smallest & known);
        let sum = |x: u64, y: u64| u128::from(x) + u128::from(y) + u128::from(carry);
        let (lo, hi) = (sum(a.lo, b.lo), sum(a.hi, b.hi));
        let same_wrap = lo >> width == hi >> width;
        if same_wrap { bits.and(Facts::between(lo as u64 & m, hi as u64 & m)) } else { bits }
    }

    fn sub(&self) -> Facts {
        let complement = Facts::complement(self.width, self.b);
        Two { b: complement, ..*self }.add(1)
    }

    fn mul(&self) -> Facts {
        let Two { width, a, b } = *self;
        let even = (a.trailing_zeros() + b.trailing_zeros()).min(width);
        let bits = self.bits(low_mask(even), 0);
        match (a.lo.checked_mul(b.lo), a.hi.checked_mul(b.hi)) {
            (Some(lo), Some(hi)) if hi <= mask(width) => bits.and(Facts::between(lo, hi)),
            _ => bits,
        }
    }

    fn udiv(&self) -> Facts {
        let lo = self.a.lo.checked_div(self.b.hi).unwrap_or(mask(self.width));
        let hi = self.a.hi.checked_div(self.b.lo).unwrap_or(mask(self.width));
        Facts::between(lo, hi)
    }

    fn urem(&self) -> Facts {
        if self.a.is_below(self.b.lo) {
            return self.a;
        }
        // Between two multiples of the divisor the remainder grows with the value.
        if let Some(by) = self.b.value().filter(|&by| by > 0 && self.a.lo / by == self.a.hi / by) {
            return Facts::between(self.a.lo % by, self.a.hi % by);
        }
        let below_divisor = self.b.hi.wrapping_sub(1);
        Facts::between(0, if self.b.lo > 0 { self.a.hi.min(below_divisor) } else { self.a.hi })
    }

    fn shl(&self) -> Facts {
        let Two { width, a, b } = *self;
        let Some(by) = b.value().filter(|&by| by < u64::from(width)) else {
            let even = u64::from(a.trailing_zeros()).saturating_add(b.lo).min(u64::from(width));
            return self.bits(low_mask(even as Width), 0);
        };
        let bits = self.bits(a.zeros << by | low_mask(by as Width), a.ones << by & mask(width));
        if a.hi <= mask(width) >> by { bits.and(Facts::between(a.lo << by, a.hi << by)) } else { bits }
    }

    fn lshr(&self) -> Facts {
        let Two { width, a, b } = *self;
        let shifted = |x: u64, by: u64| if by < u64::from(width) { x >> by } else { 0 };
        let bounds = Facts::between(shifted(a.lo, b.hi), shifted(a.hi, b.lo));
        match b.value().filter(|&by| by < u64::from(width)) {
            Some(by) => bounds.and(self.bits(a.zeros >> by | !(mask(width) >> by), a.ones >> by)),
            None => bounds,
        }
    }

    fn ashr(&self) -> Facts {
        let Two { width, a, b } = *self;
        if sign(width, a) == Some(false) {
            return self.lshr();
        }
        let by = b.lo.min(u64::from(width - 1));
        if b.value().is_some() {
            let fill = |x: u64| (signed(width, x) >> by) as u64 & mask(width);
            return self.bits(fill(a.zeros), fill(a.ones));
        }
        // At least `by` copies of a known sign.
        let copies = mask(width) & !(mask(width) >> by);
        if sign(width, a) == Some(true) { self.bits(0, copies) } else { Facts::unknown(width) }
    }

    fn eq(&self) -> Option<bool> {
        let Two { a, b, .. } = *self;
        let apart = a.hi < b.lo || b.hi < a.lo || (a.zeros & b.ones | a.ones & b.zeros) != 0;
        if apart { Some(false) } else { a.value().zip(b.value()).map(|(x, y)| x == y) }
    }

    fn ult(&self) -> Option<bool> {
        let Two { a, b, .. } = *self;
        if a.hi < b.lo {
            Some(true)
        } else if a.lo >= b.hi {
            Some(false)
        } else {
            None
        }
    }

    fn swapped(&self) -> Two {
        Two { width: self.width, a: self.b, b: self.a }
    }

    /// `a < b` signed: bounds with the sign bit flipped compare unsigned.
    fn slt(&self) -> Option<bool> {
        let bounds = |f: Facts| {
            let (lo, hi) = signed_bounds(self.width, f);
            Facts::between(lo.wrapping_sub(i64::MIN) as u64, hi.wrapping_sub(i64::MIN) as u64)
        };
        Two { width: 64, a: bounds(self.a), b: bounds(self.b) }.ult()
    }
}

impl Facts {
    fn complement(width: Width, a: Facts) -> Facts {
        Facts { zeros: a.ones, ones: a.zeros, lo: mask(width) - a.hi, hi: mask(width) - a.lo }
    }
}

/// Ones in the low `n` (at most 64) bits.
fn low_mask(n: Width) -> u64 {
    if n == 0 { 0 } else { mask(n) }
}

/// The sign bit, if known.
fn sign(width: Width, f: Facts) -> Option<bool> {
    let top = 1 << (width - 1);
    if f.zeros & top != 0 {
        Some(false)
    } else if f.ones & top != 0 {
        Some(true)
    } else {
        None
    }
}

/// Inclusive signed bounds.
fn signed_bounds(width: Width, f: Facts) -> (i64, i64) {
    match sign(width, f) {
        Some(_) => (signed(width, f.lo), signed(width, f.hi)),
        None => (signed(width, 1 << (width - 1)), (mask(width) >> 1) as i64),
    }
}

impl Pool {
    fn facts(&self, e: ExprId) -> Facts {
        self.meta[e.index()].facts
    }

    /// Inclusive signed bounds of an expression of at most 64 bits.
    pub fn signed_interval(&self, e: ExprId) -> (i64, i64) {
        let from_facts = signed_bounds(self.width(e), self.facts(e));
        match self.kind(e) {
            Kind::Sext(a) => signed_bounds(self.width(a), self.facts(a)),
            Kind::Sdiv(a, k) | Kind::Srem(a, k) if let Some(by) = self.positive(k) => {
                let (lo, hi) = signed_bounds(self.width(a), self.facts(a));
                match self.kind(e) {
                    Kind::Sdiv(..) => (lo / by, hi / by),
                    _ => (lo.clamp(1 - by, 0), hi.clamp(0, by - 1)),
                }
            }
            _ => from_facts,
        }
    }

    /// A constant that is positive as a signed number.
    fn positive(&self, e: ExprId) -> Option<i64> {
        self.as_u64(e).map(|value| signed(self.width(e), value)).filter(|value| *value > 0)
    }

    /// The facts of a node about to be made.
    pub(crate) fn derive_facts(&self, node: Node) -> Facts {
        let width = node.width();
        if width > 64 { Facts::WIDE } else { self.derive_narrow_facts(node).tightened(width) }
    }

    fn derive_narrow_facts(&self, node: Node) -> Facts {
        let width = node.width();
        let two = |a: ExprId, b: ExprId| Two { width: self.width(a), a: self.facts(a), b: self.facts(b) };
        let both_positive = |a: ExprId, b: ExprId| [a, b].iter().all(|&e| sign(width, self.facts(e)) == Some(false));
        // Nothing is known of operands above 64 bits.
        let truth =
            |a: ExprId, decide: fn(&Two) -> Option<bool>, two: Two| Facts::truth(if self.width(a) <= 64 { decide(&two) } else { None });
        match node.kind() {
            Kind::Const => Facts::constant(width, Node::join(node.a, node.b)),
            Kind::Sym(_) => Facts::unknown(width),
            Kind::Not(a) => Facts::complement(width, self.facts(a)),
            Kind::Neg(a) => Two { width, a: Facts::constant(width, 0), b: self.facts(a) }.sub(),
            Kind::And(a, b) => {
                let (a, b) = (self.facts(a), self.facts(b));
                Facts { hi: a.hi.min(b.hi), ..Facts::from_bits(width, a.zeros | b.zeros, a.ones & b.ones) }
            }
            Kind::Or(a, b) => {
                let (a, b) = (self.facts(a), self.facts(b));
                Facts { lo: a.lo.max(b.lo), ..Facts::from_bits(width, a.zeros & b.zeros, a.ones | b.ones) }
            }
            Kind::Xor(a, b) => {
                let (a, b) = (self.facts(a), self.facts(b));
                let (same, differ) = (a.zeros & b.zeros | a.ones & b.ones, a.zeros & b.ones | a.ones & b.zeros);
                Facts::from_bits(width, same, differ)
            }
            Kind::Add(a, b) => two(a, b).add(0),
            Kind::PtrAdd(base, offset) => Two { width, a: Facts::constant(width, base), b: self.facts(offset) }.add(0),
            Kind::Sub(a, b) => two(a, b).sub(),
            Kind::Mul(a, b) => two(a, b).mul(),
            Kind::Udiv(a, b) => two(a, b).udiv(),
            Kind::Urem(a, b) => two(a, b).urem(),
            Kind::Sdiv(a, b) if both_positive(a, b) => two(a, b).udiv(),
            Kind::Srem(a, b) if both_positive(a, b) => two(a, b).urem(),
            Kind::Sdiv(..) | Kind::Srem(..) => Facts::unknown(width),
            Kind::Shl(a, b) => two(a, b).shl(),
            Kind::Lshr(a, b) => two(a, b).lshr(),
            Kind::Ashr(a, b) => two(a, b).ashr(),
            Kind::Eq(a, b) => truth(a, Two::eq, two(a, b)),
            Kind::Ult(a, b) => truth(a, Two::ult, two(a, b)),
            Kind::Ule(a, b) => truth(a, |two| two.swapped().ult().map(|less| !less), two(a, b)),
            Kind::Slt(a, b) => truth(a, Two::slt, two(a, b)),
            Kind::Sle(a, b) => truth(a, |two| two.swapped().slt().map(|less| !less), two(a, b)),
            Kind::Ite(_, a, b) => self.facts(a).or(self.facts(b)),
            Kind::Concat(hi, lo) => {
                let (shift, hi, lo) = (self.width(lo), self.facts(hi), self.facts(lo));
                let join = |hi: u64, lo: u64| hi << shift | lo;
                Facts { zeros: join(hi.zeros, lo.zeros), ones: join(hi.ones, lo.ones), lo: join(hi.lo, lo.lo), hi: join(hi.hi, lo.hi) }
            }
            Kind::Extract(a, _) if self.width(a) > 64 => Facts::unknown(width),
            Kind::Extract(a, lo) => {
                let a = self.facts(a);
                let bits = Facts::from_bits(width, a.zeros >> lo, a.ones >> lo & mask(width));
                let same_above = (a.lo >> lo).checked_shr(width) == (a.hi >> lo).checked_shr(width);
                let bounds = Facts::between(a.lo >> lo & mask(width), a.hi >> lo & mask(width));
                if same_above { bits.and(bounds) } else { bits }
            }
            Kind::Zext(a) => {
                let added = mask(width) & !mask(self.width(a));
                Facts { zeros: self.facts(a).zeros | added, ..self.facts(a) }
            }
            Kind::Sext(a) => {
                let (from, a) = (self.width(a), self.facts(a));
                let extend = |x: u64| signed(from, x) as u64 & mask(width);
                let bits = Facts::from_bits(width, extend(a.zeros), extend(a.ones));
                if sign(from, a).is_some() { bits.and(Facts::between(extend(a.lo), extend(a.hi))) } else { bits }
            }
            Kind::Float(op, a, b) => self.float_facts(op, a, b, width).unwrap_or(Facts::unknown(width)),
            Kind::Read(array, index) => {
                let array = &self.arrays[array.index()];
                let in_range = self.facts(index).is_below(array.elems.len() as u64);
                if in_range { array.facts } else { array.facts.or(Facts::constant(8, 0)) }
            }
        }
    }
}
