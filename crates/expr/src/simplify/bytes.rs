//! Laws of concatenation, extraction and extension: what makes byte-wise code cheap.
//!
//! A `Concat` leans right and its neighbouring parts are merged wherever they are neighbouring parts of one value, so a
//! value taken apart into bytes and put together again is the value. Extraction goes through every operator that only
//! moves bits, and through arithmetic from bit 0 if all operands have such a part ready.

use super::law;
use crate::node::{ExprId, Kind, Op, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// How many operators a low part is looked for through, and how many nested choices are merged.
const LEVELS: u32 = 3;

/// A choice of two constants by 1 bit: `c ? one : zero`. A constant is a choice by any bit.
#[derive(Clone, Copy)]
struct Choice {
    by: Option<ExprId>,
    one: ExprId,
    zero: ExprId,
}

impl Pool {
    pub(super) fn simplify_extract(&mut self, a: ExprId, lo: Width, width: Width) -> Option<ExprId> {
        if width == self.width(a) {
            return law!("x[all] => x", a);
        }
        let (inner, at) = self.descend(a, lo, width);
        if inner != a {
            return law!("part of a part, of ++, of zext, of sext => part of what it lies in", self.extract(inner, at, width));
        }
        if let Some(quotient) = self.extract_quotient(a, lo, width) {
            return Some(quotient);
        }
        match self.kind(a) {
            Kind::Concat(..) => law!("(x ++ y)[part of both] => x[part] ++ y[part]", self.extract_list(a, lo, width)),
            Kind::Zext(x) if lo >= self.width(x) => law!("zext(x)[above x] => 0", self.zero(width)),
            Kind::Zext(x) => law!("zext(x)[part of x and above] => zext(x[part])", {
                let part = self.extract(x, lo, self.width(x) - lo);
                self.zext(part, width)
            }),
            Kind::Sext(x) => law!("sext(x)[part of x and above] => sext(x[part])", {
                let lo = lo.min(self.width(x) - 1);
                let part = self.extract(x, lo, self.width(x) - lo);
                self.sext(part, width)
            }),
            Kind::Not(x) => law!("(~x)[part] => ~x[part]", {
                let part = self.extract(x, lo, width);
                self.not(part)
            }),
            Kind::Sub(..) | Kind::Add(..)
                if lo + 1 == self.width(a)
                    && let Some(sign) = self.simplify_sign(a) =>
            {
                Some(sign)
            }
            Kind::And(x, k) | Kind::Or(x, k) | Kind::Xor(x, k) if self.is_const(k) => self.extract_masked(a, x, k, lo, width),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) || self.is_ready(a, lo, width, LEVELS) => {
                law!("(c ? x : y)[part] => c ? x[part] : y[part]", {
                    let (x, y) = (self.extract(x, lo, width), self.extract(y, lo, width));
                    self.ite(c, x, y)
                })
            }
            Kind::Neg(x) if self.is_ready(a, lo, width, LEVELS) => law!("(-x)[low] => -x[low]", {
                let low = self.extract(x, lo, width);
                self.neg(low)
            }),
            Kind::And(x, y) | Kind::Or(x, y) | Kind::Xor(x, y) | Kind::Add(x, y) | Kind::Sub(x, y) | Kind::Mul(x, y)
                if self.is_ready(a, lo, width, LEVELS) =>
            {
                law!("(x + y)[low] => x[low] + y[low], also for - * & | ^", {
                    let (x, y) = (self.extract(x, lo, width), self.extract(y, lo, width));
                    self.binary(self.op(a), x, y)
                })
            }
            _ => None,
        }
    }

    /// Part of a list of parts, without recursion over a long one.
    fn extract_list(&mut self, a: ExprId, lo: Width, width: Width) -> ExprId {
        let (mut parts, mut rest, mut width) = (vec![], a, width);
        while let Kind::Concat(high, low) = self.kind(rest)
            && lo < self.width(low)
        {
            let split = self.width(low);
            if lo + width > split {
                parts.push(self.extract(high, 0, lo + width - split));
                width = split - lo;
            }
            rest = low;
        }
        let last = self.extract(rest, lo, width);
        parts.into_iter().rev().fold(last, |value, part| self.concat(part, value))
    }

    /// The smallest part of `a` that `width` bits at `lo` lie wholly in, with their place there.
    fn descend(&self, mut a: ExprId, mut lo: Width, width: Width) -> (ExprId, Width) {
        loop {
            let fits = |part: ExprId, lo: Width| lo + width <= self.width(part);
            (a, lo) = match self.kind(a) {
                Kind::Extract(x, at) => (x, lo + at),
                Kind::Concat(_, low) if fits(low, lo) => (low, lo),
                Kind::Concat(high, low) if lo >= self.width(low) => (high, lo - self.width(low)),
                Kind::Zext(x) | Kind::Sext(x) if fits(x, lo) => (x, lo),
                _ => return (a, lo),
            }
        }
    }

    /// Part of `x & k`, `x | k` or `x ^ k`, if in this part `k` is all zeros or ones, or `x` has it ready.
    fn extract_masked(&mut self, a: ExprId, x: ExprId, k: ExprId, lo: Width, width: Width) -> Option<ExprId> {
        let field = self.extract(k, lo, width);
        let plain = self.is_zero_const(field) || self.is_ones_const(field);
        if !plain && !self.is_ready(x, lo, width, LEVELS) {
            return None;
        }
        law!("(x & k)[part] => x[part] & k[part], k[part] being 0 or ~0, also for | and ^", {
            let part = self.extract(x, lo, width);
            self.binary(self.op(a), part, field)
        })
    }

    /// Is this part of `e` to be had without keeping `e`?
    fn is_ready(&self, e: ExprId, lo: Width, width: Width, levels: u32) -> bool {
        let levels = levels.saturating_sub(1);
        let ready = |e: ExprId| levels > 0 && self.is_ready(e, lo, width, levels);
        match self.kind(e) {
            Kind::Const => true,
            Kind::Zext(x) | Kind::Sext(x) => lo + width <= self.width(x) || lo >= self.width(x),
            Kind::Concat(_, low) => lo + width <= self.width(low) || lo >= self.width(low),
            Kind::Not(x) => ready(x),
            Kind::And(x, y) | Kind::Or(x, y) | Kind::Xor(x, y) | Kind::Ite(_, x, y) => ready(x) && ready(y),
            Kind::Neg(x) => lo == 0 && ready(x),
            Kind::Add(x, y) | Kind::Sub(x, y) | Kind::Mul(x, y) => lo == 0 && ready(x) && ready(y),
            _ => false,
        }
    }

    pub(super) fn simplify_concat(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let width = self.width(high) + self.width(low);
        if self.is_zero_const(high) {
            return law!("0 ++ x => zext(x)", self.zext(low, width));
        }
        match (self.kind(high), self.kind(low)) {
            (Kind::Concat(..), _) => return law!("(x ++ y) ++ z => x ++ (y ++ z)", self.lean_right(high, low)),
            (Kind::Zext(x), _) => {
                return law!("zext(x) ++ y => zext(x ++ y)", {
                    let both = self.concat(x, low);
                    self.zext(both, width)
                });
            }
            (Kind::Const, Kind::Zext(x)) => {
                return law!("k ++ zext(x) => (k ++ 0) ++ x", {
                    let zeros = self.zero(self.width(low) - self.width(x));
                    let k = self.concat(high, zeros);
                    self.concat(k, x)
                });
            }
            (_, Kind::Concat(x, rest)) if let Some(merged) = self.merge(high, x, LEVELS) => {
                return law!("x[hi] ++ (x[lo] ++ y) => x[hi and lo] ++ y", self.concat(merged, rest));
            }
            _ => {}
        }
        let Kind::Sext(x) = self.kind(high) else { return self.merge(high, low, LEVELS) };
        self.merge(high, low, LEVELS).or_else(|| {
            law!("sext(x) ++ y => sext(x ++ y)", {
                let both = self.concat(x, low);
                self.sext(both, width)
            })
        })
    }

    /// The parts of `high`, then `low`, leaning right; without recursion over a long list.
    fn lean_right(&mut self, high: ExprId, low: ExprId) -> ExprId {
        let (mut parts, mut rest) = (vec![], high);
        while let Kind::Concat(x, y) = self.kind(rest) {
            parts.push(x);
            rest = y;
        }
        parts.push(rest);
        parts.into_iter().rev().fold(low, |value, part| self.concat(part, value))
    }

    /// One value of which `high` and `low` are neighbouring parts.
    fn merge(&mut self, high: ExprId, low: ExprId, levels: u32) -> Option<ExprId> {
        let width = self.width(high) + self.width(low);
        match (self.kind(high), self.kind(low)) {
            (Kind::Const, Kind::Const) => return law!("k1 ++ (k2 ++ x) => k ++ x", self.concat(high, low)),
            (Kind::Extract(x, hi), Kind::Extract(y, lo)) if x == y && hi == lo + self.width(low) => {
                return law!("x[hi] ++ x[lo] => x[hi and lo]", self.extract(x, lo, width));
            }
            (Kind::Not(x), Kind::Not(y)) if levels > 0 => {
                let merged = self.merge(x, y, levels - 1)?;
                return law!("~x[hi] ++ ~x[lo] => ~x[hi and lo]", self.not(merged));
            }
            (Kind::Sext(x), _) if levels > 0 && self.width(x) > 1 => {
                let merged = self.merge(x, low, levels - 1)?;
                return law!("sext(x[hi]) ++ x[lo] => sext(x[hi and lo])", self.sext(merged, width));
            }
            (Kind::Ite(c, p, q), Kind::Ite(d, r, s)) if c == d && ![p, q, r, s].iter().all(|&e| self.is_const(e)) => {
                return law!("(c ? x : y) ++ (c ? p : q) => c ? x ++ p : y ++ q", {
                    let (one, zero) = (self.concat(p, r), self.concat(q, s));
                    self.ite(c, one, zero)
                });
            }
            _ => {}
        }
        self.merge_known(high, low)
            .or_else(|| self.merge_sign(high, low))
            .or_else(|| self.merge_choices(high, low))
            .or_else(|| self.merge_with_high(high, low))
            .or_else(|| self.merge_with_low(high, low))
    }

    /// A constant beside a part of a value whose bits there are known to be that constant.
    fn merge_known(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let (k, part, at_high) = if self.is_const(high) { (high, low, true) } else { (low, high, false) };
        let value = self.as_u64(k)?;
        let (bare, value) = match self.kind(part) {
            Kind::Not(x) => (x, !value & mask(self.width(k))),
            _ => (part, value),
        };
        let Kind::Extract(x, at) = self.kind(bare) else { return None };
        let (len, added) = (self.width(part), self.width(k));
        let known_at = if at_high { at + len } else { at.checked_sub(added)? };
        let (zeros, ones) = self.known_bits(x);
        let field = mask(added);
        let is_known = known_at + added <= self.width(x)
            && self.width(x) <= 64
            && zeros >> known_at & field == !value & field
            && ones >> known_at & field == value;
        is_known.then_some(())?;
        law!("k ++ x[lo] => x[hi and lo], x[hi] being known as k, and swapped", {
            let whole = self.extract(x, at.min(known_at), len + added);
            if bare == part { whole } else { self.not(whole) }
        })
    }

    /// Copies of the sign of `low` above it.
    fn merge_sign(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let copied = match self.kind(high) {
            Kind::Sext(bit) if self.width(bit) == 1 => bit,
            _ if self.width(high) == 1 && !self.is_const(high) => high,
            _ => return None,
        };
        if self.is_const(low) || !self.may_be_sign(copied, low) || self.sign_bit(low) != copied {
            return None;
        }
        law!("sext(sign of x) ++ x => sext(x)", self.sext(low, self.width(high) + self.width(low)))
    }

    /// Is it worth making the sign of `low` to compare it with `bit`?
    fn may_be_sign(&self, bit: ExprId, low: ExprId) -> bool {
        let bare = |e: ExprId| if let Kind::Not(x) = self.kind(e) { x } else { e };
        self.width(low) == 1 || matches!(self.kind(bare(bit)), Kind::Extract(..)) || matches!(self.kind(low), Kind::Sext(_))
    }

    /// Constants chosen by the same bit, or beside a choice by it.
    fn merge_choices(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        for (choice, other) in [(high, low), (low, high)] {
            if let Kind::Ite(c, p, q) = self.kind(other)
                && !(self.is_const(p) && self.is_const(q))
                && let Some(Choice { by: Some(d), one, zero }) = self.as_choice(choice, LEVELS)
                && c == d
            {
                return law!("(c ? k1 : k2) ++ (c ? x : y) => c ? k1 ++ x : k2 ++ y, and swapped", {
                    let (p, q) = if choice == high {
                        (self.concat(one, p), self.concat(zero, q))
                    } else {
                        (self.concat(p, one), self.concat(q, zero))
                    };
                    self.ite(c, p, q)
                });
            }
        }
        let is_ite = |e: ExprId| matches!(self.kind(e), Kind::Ite(..));
        if (self.is_const(high) && !is_ite(low)) || (self.is_const(low) && !is_ite(high)) {
            return None;
        }
        let (x, y) = (self.as_choice(high, LEVELS)?, self.as_choice(low, LEVELS)?);
        let by = match (x.by, y.by) {
            (Some(c), Some(d)) if c == d => c,
            (Some(c), None) | (None, Some(c)) => c,
            _ => return None,
        };
        let (one, zero) = (self.concat(x.one, y.one), self.concat(x.zero, y.zero));
        // A choice of one run of bits is written as a `Concat` by its own law.
        if self.differ_in_one_run(one, zero).is_some() {
            return None;
        }
        law!("(c ? k1 : k2) ++ (c ? k3 : k4) => c ? k1 ++ k3 : k2 ++ k4", self.ite(by, one, zero))
    }

    /// The expression as a choice of constants.
    fn as_choice(&mut self, e: ExprId, levels: u32) -> Option<Choice> {
        let width = self.width(e);
        match self.kind(e) {
            Kind::Const => Some(Choice { by: None, one: e, zero: e }),
            Kind::Ite(c, one, zero) if self.is_const(one) && self.is_const(zero) => Some(Choice { by: Some(c), one, zero }),
            Kind::Zext(x) if levels > 0 => {
                let x = self.as_choice(x, levels - 1)?;
                Some(Choice { by: x.by, one: self.zext(x.one, width), zero: self.zext(x.zero, width) })
            }
            Kind::Sext(x) if levels > 0 => {
                let x = self.as_choice(x, levels - 1)?;
                Some(Choice { by: x.by, one: self.sext(x.one, width), zero: self.sext(x.zero, width) })
            }
            Kind::Concat(high, low) if levels > 0 => {
                let (x, y) = (self.as_choice(high, levels - 1)?, self.as_choice(low, levels - 1)?);
                let by = x.by.or(y.by);
                let same = x.by.is_none_or(|c| by == Some(c)) && y.by.is_none_or(|c| by == Some(c));
                same.then(|| Choice { by, one: self.concat(x.one, y.one), zero: self.concat(x.zero, y.zero) })
            }
            Kind::Not(c) if width == 1 => Some(Choice { by: Some(c), one: ExprId::FALSE, zero: ExprId::TRUE }),
            _ if width == 1 => Some(Choice { by: Some(e), one: ExprId::TRUE, zero: ExprId::FALSE }),
            _ => None,
        }
    }

    /// Does extraction go through this operator, so that a part of it may not look like one?
    fn hides_parts(&self, e: ExprId) -> bool {
        match self.op(e) {
            Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::Ite => true,
            Op::Const | Op::Sym | Op::Not | Op::Udiv | Op::Urem | Op::Sdiv | Op::Srem | Op::Shl | Op::Lshr => false,
            Op::Ashr | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Concat | Op::Extract | Op::Zext => false,
            Op::Sext | Op::Read | Op::PtrAdd | Op::Float => false,
        }
    }

    /// `high` is a part of a value whose part below it, simplified, is `low`.
    fn merge_with_high(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let Kind::Extract(x, hi) = self.kind(high) else { return None };
        let lo = hi.checked_sub(self.width(low))?;
        if !self.hides_parts(x) || self.extract(x, lo, self.width(low)) != low {
            return None;
        }
        law!("x[hi] ++ y => x[hi and lo], x[lo] being y", self.extract(x, lo, self.width(high) + self.width(low)))
    }

    /// `low` is a part of a value whose part above it, simplified, is `high`.
    fn merge_with_low(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let Kind::Extract(x, lo) = self.kind(low) else { return None };
        let (hi, width) = (lo + self.width(low), self.width(high));
        if !self.hides_parts(x) || hi + width > self.width(x) || self.extract(x, hi, width) != high {
            return None;
        }
        law!("y ++ x[lo] => x[hi and lo], x[hi] being y", self.extract(x, lo, width + self.width(low)))
    }

    pub(super) fn simplify_zext(&mut self, a: ExprId, width: Width) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Zext(x) => law!("zext(zext(x)) => zext(x)", self.zext(x, width)),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => law!("zext(c ? k1 : k2) => c ? zext(k1) : zext(k2)", {
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.ite(c, x, y)
            }),
            Kind::Extract(x, 0) if self.is_zero_above(x, self.width(a), width) => {
                if width < self.width(x) {
                    law!("zext(x[low]) => x[lower], the bits between being 0", self.extract(x, 0, width))
                } else {
                    law!("zext(x[low]) => zext(x), the bits above being 0", self.zext(x, width))
                }
            }
            Kind::Add(x, y) | Kind::Mul(x, y) if width <= 64 => self.widen(a, x, y, width),
            _ => None,
        }
    }

    /// Are bits `[from, to)` of `x`, as far as it has them, known to be 0?
    fn is_zero_above(&self, x: ExprId, from: Width, to: Width) -> bool {
        let to = to.min(self.width(x));
        self.width(x) <= 64 && mask(to) & !mask(from) & !self.known_bits(x).0 == 0
    }

    /// `zext(x op y)` where the sum or product cannot wrap.
    fn widen(&mut self, a: ExprId, x: ExprId, y: ExprId, width: Width) -> Option<ExprId> {
        let (op, from) = (self.op(a), self.width(a));
        let ((low, high), (_, other)) = (self.interval(x), self.interval(y));
        let bound = if op == Op::Add { high.checked_add(other) } else { high.checked_mul(other) };
        if bound.is_some_and(|bound| bound <= mask(from)) {
            return law!("zext(x + y) => zext(x) + zext(y), not wrapping, also for *", {
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.binary(op, x, y)
            });
        }
        let k = self.as_u64(y).filter(|_| op == Op::Add)?;
        let subtracted = k.wrapping_neg() & mask(from);
        (low >= subtracted).then_some(())?;
        law!("zext(x - k) => zext(x) - zext(k), not wrapping", {
            let (x, k) = (self.zext(x, width), self.bits(width, subtracted.wrapping_neg()));
            self.add(x, k)
        })
    }

    pub(super) fn simplify_sext(&mut self, a: ExprId, width: Width) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Sext(x) => law!("sext(sext(x)) => sext(x)", self.sext(x, width)),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => law!("sext(c ? k1 : k2) => c ? sext(k1) : sext(k2)", {
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                self.ite(c, x, y)
            }),
            _ if let Some(quotient) = self.sext_quotient(a, width) => Some(quotient),
            _ if self.is_non_negative(a) => law!("sext(x) => zext(x), x not negative", self.zext(a, width)),
            _ if self.is_negative(a) => law!("sext(x) => ~0 ++ x, x negative", {
                let ones = self.ones(width - self.width(a));
                self.concat(ones, a)
            }),
            _ => None,
        }
    }

    /// Is the top bit known to be 1?
    fn is_negative(&self, e: ExprId) -> bool {
        let width = self.width(e);
        width <= 64 && self.known_bits(e).1 >> (width - 1) & 1 == 1
    }
}
