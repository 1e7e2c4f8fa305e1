//! Integer intrinsics that are not one operator: absolute value, saturation, three-way comparison.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use crate::body::Body;
use crate::ffi::Value;
use crate::inst::Lowered;

pub fn abs<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let zero = s.b.int(width, 0);
    s.each1(v, |s, a| {
        let negated = s.b.binary(Op::Sub, width, zero, a);
        let negative = s.b.binary(Op::Slt, width, a, zero);
        s.choose(width, negative, negated, a)
    })
}

/// -1, 0 or 1, at the result's width.
pub fn three_way<'m>(s: &mut Body<'_, 'm>, less: Op, v: Value<'m>) -> Lowered {
    let (width, result) = (s.element_width(v.operand(0))?, s.element_width(v)?);
    s.each2(v, |s, a, b| {
        let (below, above) = (s.b.binary(less, width, a, b), s.b.binary(less, width, b, a));
        let (below, above) = (s.b.cast(Op::Sext, result, 1, below), s.b.cast(Op::Zext, result, 1, above));
        s.b.binary(Op::Or, result, below, above)
    })
}

pub fn saturating_unsigned_add<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let ones = s.ones(width);
    s.each2(v, |s, a, b| {
        let (sum, overflow) = (s.b.binary(Op::Add, width, a, b), s.b.binary(Op::UaddOverflow, width, a, b));
        s.choose(width, overflow, ones, sum)
    })
}

pub fn saturating_unsigned_sub<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let zero = s.b.int(width, 0);
    s.each2(v, |s, a, b| {
        let (difference, below) = (s.b.binary(Op::Sub, width, a, b), s.b.binary(Op::Ult, width, a, b));
        s.choose(width, below, zero, difference)
    })
}

pub fn saturating_signed_add<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    saturating_signed(s, v, Op::Add, Op::SaddOverflow)
}

pub fn saturating_signed_sub<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    saturating_signed(s, v, Op::Sub, Op::SsubOverflow)
}

/// Addition and subtraction overflow towards the sign of the first operand.
fn saturating_signed<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, op: Op, overflows: Op) -> Lowered {
    let width = s.element_width(v)?;
    s.each2(v, |s, a, b| {
        let (exact, overflow) = (s.b.binary(op, width, a, b), s.b.binary(overflows, width, a, b));
        let bound = signed_bound(s, width, a);
        s.choose(width, overflow, bound, exact)
    })
}

/// The largest number, or the smallest if `a` is negative.
fn signed_bound(s: &mut Body, width: u16, a: Slot) -> Slot {
    let (last, largest) = (s.b.int(width, u64::from(width) - 1), s.largest(width));
    let sign = s.b.binary(Op::Ashr, width, a, last);
    s.b.binary(Op::Xor, width, sign, largest)
}

pub fn saturating_unsigned_shift<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let ones = s.ones(width);
    s.each2(v, |s, a, b| {
        let shifted = s.b.binary(Op::Shl, width, a, b);
        let back = s.b.binary(Op::Lshr, width, shifted, b);
        let same = s.b.binary(Op::Eq, width, back, a);
        s.choose(width, same, shifted, ones)
    })
}

pub fn saturating_signed_shift<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    s.each2(v, |s, a, b| {
        let shifted = s.b.binary(Op::Shl, width, a, b);
        let back = s.b.binary(Op::Ashr, width, shifted, b);
        let same = s.b.binary(Op::Eq, width, back, a);
        let bound = signed_bound(s, width, a);
        s.choose(width, same, shifted, bound)
    })
}

impl Body<'_, '_> {
    /// The largest signed number.
    pub fn largest(&mut self, width: u16) -> Slot {
        let mut limbs = vec![u64::MAX; usize::from(width.div_ceil(64))];
        if let Some(top) = limbs.last_mut() {
            *top = (1 << ((width - 1) % 64)) - 1;
        }
        self.b.wide(width, &limbs)
    }
    /// The smallest signed number: the sign bit alone.
    pub fn smallest(&mut self, width: u16) -> Slot {
        let mut limbs = vec![0; usize::from(width.div_ceil(64))];
        if let Some(top) = limbs.last_mut() {
            *top = 1 << ((width - 1) % 64);
        }
        self.b.wide(width, &limbs)
    }
}
