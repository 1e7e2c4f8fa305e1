//! Laws of comparisons. What facts decide is decided before these are tried.
//!
//! Orders against a constant are written strictly: `x <= k` as `x < k + 1`. The laws that hold for the signed and the
//! unsigned order alike are written once, with [`Order`].

use super::law;
use crate::node::{ExprId, Kind, Op, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// A choice nested deeper than this is not compared branch by branch.
const LEVELS: u32 = 32;

/// Which order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Unsigned,
    Signed,
}

impl Order {
    fn less(self) -> Op {
        match self {
            Order::Unsigned => Op::Ult,
            Order::Signed => Op::Slt,
        }
    }
    fn less_or_equal(self) -> Op {
        match self {
            Order::Unsigned => Op::Ule,
            Order::Signed => Op::Sle,
        }
    }
}

/// A sum that may cross the end of its range.
enum Sum {
    Within(ExprId),
    TooSmall,
    TooLarge,
}

impl Pool {
    pub(super) fn simplify_eq(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if a == b {
            return law!("x == x => 1", ExprId::TRUE);
        }
        if self.complements(a, b) {
            return law!("x == ~x => 0", ExprId::FALSE);
        }
        if self.width(a) == 1 {
            return match b {
                ExprId::TRUE => law!("x == 1, of 1 bit => x", a),
                ExprId::FALSE => law!("x == 0, of 1 bit => ~x", self.not(a)),
                _ => law!("x == y, of 1 bit => ~(x ^ y)", {
                    let differ = self.xor(a, b);
                    self.not(differ)
                }),
            };
        }
        if self.is_const(b) {
            return self.simplify_eq_const(a, b);
        }
        self.simplify_eq_parts(a, b)
            .or_else(|| self.simplify_eq_sums(a, b))
            .or_else(|| self.simplify_eq_sided(a, b))
            .or_else(|| self.simplify_eq_sided(b, a))
    }

    /// `a == k`
    fn simplify_eq_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Zext(x) => match self.narrowed(k, self.width(x)) {
                Some(k) => law!("zext(x) == zext(k) => x == k", self.eq(x, k)),
                None => law!("zext(x) == k => 0, k too large", ExprId::FALSE),
            },
            Kind::Sext(x) => match self.narrowed_signed(k, self.width(x)) {
                Some(k) => law!("sext(x) == sext(k) => x == k", self.eq(x, k)),
                None => law!("sext(x) == k => 0, k out of range", ExprId::FALSE),
            },
            Kind::Concat(high, low) => law!("x ++ y == k => x == k[high] & y == k[low]", {
                let split = self.width(low);
                let (k_high, k_low) = (self.extract(k, split, self.width(high)), self.extract(k, 0, split));
                let (high, low) = (self.eq(high, k_high), self.eq(low, k_low));
                self.and(high, low)
            }),
            Kind::Add(x, k1) if self.is_const(k1) => law!("x + k1 == k2 => x == k2 - k1", {
                let k = self.sub(k, k1);
                self.eq(x, k)
            }),
            Kind::Sub(k1, x) if self.is_const(k1) => law!("k1 - x == k2 => x == k1 - k2", {
                let k = self.sub(k1, k);
                self.eq(x, k)
            }),
            Kind::Xor(x, k1) if self.is_const(k1) => law!("x ^ k1 == k2 => x == k1 ^ k2", {
                let k = self.xor(k1, k);
                self.eq(x, k)
            }),
            Kind::Neg(x) => law!("-x == k => x == -k", {
                let k = self.neg(k);
                self.eq(x, k)
            }),
            Kind::Not(x) => law!("~x == k => x == ~k", {
                let k = self.not(k);
                self.eq(x, k)
            }),
            Kind::PtrAdd(base, offset) => law!("ptr(b, x) == k => x == k - b", {
                let base = self.bits(64, base);
                let k = self.sub(k, base);
                self.eq(offset, k)
            }),
            Kind::Sub(x, y) | Kind::Xor(x, y) if self.is_zero_const(k) => {
                law!("x - y == 0 => x == y, also for ^", self.eq(x, y))
            }
            Kind::Or(x, y) if self.is_zero_const(k) => law!("x | y == 0 => x == 0 & y == 0", {
                let (x, y) = (self.eq(x, k), self.eq(y, k));
                self.and(x, y)
            }),
            Kind::And(x, y) if self.is_ones_const(k) => law!("x & y == ~0 => x == ~0 & y == ~0", {
                let (x, y) = (self.eq(x, k), self.eq(y, k));
                self.and(x, y)
            }),
            Kind::Ite(c, x, y) => self.simplify_eq_choice(c, x, y, k),
            _ => None,
        }
    }

    /// `(c ? x : y) == k`
    fn simplify_eq_choice(&mut self, c: ExprId, x: ExprId, y: ExprId, k: ExprId) -> Option<ExprId> {
        if !(self.is_const(x) || self.is_const(y)) || !self.is_shallow(x, y) {
            return None;
        }
        law!("(c ? k1 : y) == k => c ? k1 == k : y == k", {
            let (x, y) = (self.eq(x, k), self.eq(y, k));
            self.ite(c, x, y)
        })
    }

    /// Are choices nested in these two branches at most [`LEVELS`] deep?
    fn is_shallow(&self, x: ExprId, y: ExprId) -> bool {
        let mut at = if self.is_const(x) { y } else { x };
        for _ in 0..LEVELS {
            at = match self.kind(at) {
                Kind::Ite(_, x, y) if self.is_const(x) => y,
                Kind::Ite(_, x, _) => x,
                _ => return true,
            };
        }
        false
    }

    /// `a == b`, both built alike.
    fn simplify_eq_parts(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.kind(a), self.kind(b)) {
            (Kind::Zext(x), Kind::Zext(y)) => law!("zext(x) == zext(y) => x == y, as wide as the wider", {
                let inner = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, inner), self.zext(y, inner));
                self.eq(x, y)
            }),
            (Kind::Sext(x), Kind::Sext(y)) => law!("sext(x) == sext(y) => x == y, as wide as the wider", {
                let inner = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, inner), self.sext(y, inner));
                self.eq(x, y)
            }),
            (Kind::Concat(..), Kind::Concat(_, low)) | (Kind::Concat(_, low), Kind::Zext(_)) => self.split_eq(a, b, low),
            (Kind::Zext(_), Kind::Concat(_, low)) => self.split_eq(a, b, low),
            (Kind::Not(x), Kind::Not(y)) | (Kind::Neg(x), Kind::Neg(y)) => law!("~x == ~y => x == y, also for -", self.eq(x, y)),
            (Kind::PtrAdd(base, x), Kind::PtrAdd(other, y)) => law!("ptr(b, x) == ptr(c, y) => x + (b - c) == y", {
                let apart = self.bits(64, base.wrapping_sub(other));
                let x = self.add(x, apart);
                self.eq(x, y)
            }),
            (Kind::Ite(c, x, y), Kind::Ite(d, p, q)) if c == d => law!("(c ? x : y) == (c ? p : q) => c ? x == p : y == q", {
                let (one, zero) = (self.eq(x, p), self.eq(y, q));
                self.ite(c, one, zero)
            }),
            _ => None,
        }
    }

    /// `a == b`, both made of parts, at the upper end of `low`.
    fn split_eq(&mut self, a: ExprId, b: ExprId, low: ExprId) -> Option<ExprId> {
        law!("x ++ y == p ++ q => x == p & y == q, also for zext(q)", {
            let (at, width) = (self.width(low), self.width(a));
            let (x, p) = (self.extract(a, at, width - at), self.extract(b, at, width - at));
            let (y, q) = (self.extract(a, 0, at), self.extract(b, 0, at));
            let (high, low) = (self.eq(x, p), self.eq(y, q));
            self.and(high, low)
        })
    }

    /// `a == b`, sums with a constant: one constant, on the canonical side.
    fn simplify_eq_sums(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let terms = |e: ExprId| match self.kind(e) {
            Kind::Add(x, k) if self.is_const(k) => (x, Some(k)),
            _ => (e, None),
        };
        let ((x, k1), (y, k2)) = (terms(a), terms(b));
        if x == y {
            return law!("x + k1 == x + k2 => 0, k1 not k2", ExprId::FALSE);
        }
        let first_is_x = self.in_order(x, y) == (x, y);
        // Normal: `first + k == second`.
        match (k1, k2) {
            (Some(k1), Some(k2)) => law!("x + k1 == y + k2 => x + (k1 - k2) == y", {
                let (x, y, k) = if first_is_x { (x, y, self.sub(k1, k2)) } else { (y, x, self.sub(k2, k1)) };
                let sum = self.add(x, k);
                self.eq(sum, y)
            }),
            (Some(k), None) | (None, Some(k)) if first_is_x != k1.is_some() => law!("x + k == y => x == y + -k, in canonical order", {
                let k = self.neg(k);
                let (to, other) = if first_is_x { (x, y) } else { (y, x) };
                let sum = self.add(to, k);
                self.eq(sum, other)
            }),
            _ => None,
        }
    }

    /// `a == b`, neither a constant, with `a` looked into.
    fn simplify_eq_sided(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Add(x, y) | Kind::Xor(x, y) if x == b || y == b => {
                law!("x + y == x => y == 0, also for ^", self.is_zero(if x == b { y } else { x }))
            }
            Kind::Sub(x, y) if x == b => law!("x - y == x => y == 0", self.is_zero(y)),
            Kind::Ite(c, x, y) if x == b => law!("(c ? x : y) == x => c | y == x", {
                let equal = self.eq(y, b);
                self.or(c, equal)
            }),
            Kind::Ite(c, x, y) if y == b => law!("(c ? x : y) == y => ~c | x == y", {
                let (equal, not_c) = (self.eq(x, b), self.not(c));
                self.or(not_c, equal)
            }),
            _ => None,
        }
    }

    pub(super) fn simplify_ult(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x <u y => ~x & y", {
                let not_a = self.not(a);
                self.and(not_a, b)
            });
        }
        self.simplify_less(Order::Unsigned, a, b)
    }

    pub(super) fn simplify_slt(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x <s y => x & ~y", {
                let not_b = self.not(b);
                self.and(a, not_b)
            });
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return law!("x <s y, neither negative => x <u y", self.ult(a, b));
        }
        self.simplify_less(Order::Signed, a, b)
    }

    pub(super) fn simplify_ule(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x <=u y => ~x | y", {
                let not_a = self.not(a);
                self.or(not_a, b)
            });
        }
        self.simplify_less_or_equal(Order::Unsigned, a, b)
    }

    pub(super) fn simplify_sle(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x <=s y => x | ~y", {
                let not_b = self.not(b);
                self.or(a, not_b)
            });
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return law!("x <=s y, neither negative => x <=u y", self.ule(a, b));
        }
        self.simplify_less_or_equal(Order::Signed, a, b)
    }

    /// `a < b`
    fn simplify_less(&mut self, order: Order, a: ExprId, b: ExprId) -> Option<ExprId> {
        let less = order.less();
        if a == b {
            return law!("x < x => 0", ExprId::FALSE);
        }
        if self.is_const(b) {
            self.simplify_below_end(order, a, b).or_else(|| self.simplify_less_const(order, a, b, true))
        } else if self.is_const(a) {
            self.simplify_above_end(order, a, b).or_else(|| self.simplify_less_const(order, b, a, false))
        } else {
            self.simplify_order(order, less, a, b)
        }
    }

    /// `a <= b`
    fn simplify_less_or_equal(&mut self, order: Order, a: ExprId, b: ExprId) -> Option<ExprId> {
        if a == b {
            return law!("x <= x => 1", ExprId::TRUE);
        }
        let (least, greatest) = self.ends(order, self.width(a));
        if a == least || b == greatest {
            return law!("least <= x, x <= greatest => 1", ExprId::TRUE);
        }
        let one = self.number(self.width(a), 1);
        if self.is_const(b) {
            return law!("x <= k => x < k + 1", {
                let next = self.add(b, one);
                self.binary(order.less(), a, next)
            });
        }
        if self.is_const(a) {
            return law!("k <= x => k - 1 < x", {
                let previous = self.sub(a, one);
                self.binary(order.less(), previous, b)
            });
        }
        self.simplify_order(order, order.less_or_equal(), a, b)
    }

    /// The least and the greatest value.
    fn ends(&mut self, order: Order, width: Width) -> (ExprId, ExprId) {
        let least = match order {
            Order::Unsigned => self.zero(width),
            Order::Signed => self.signed_min(width),
        };
        (least, self.not(least))
    }

    /// `x < k`, `k` near an end of the order.
    fn simplify_below_end(&mut self, order: Order, x: ExprId, k: ExprId) -> Option<ExprId> {
        let (least, greatest) = self.ends(order, self.width(x));
        let one = self.number(self.width(x), 1);
        if k == least {
            return law!("x < least => 0", ExprId::FALSE);
        }
        if k == greatest {
            return law!("x < greatest => ~(x == greatest)", self.ne(x, k));
        }
        if k == self.add(least, one) {
            return law!("x < least + 1 => x == least", self.eq(x, least));
        }
        if order == Order::Signed && self.is_zero_const(k) {
            return law!("x <s 0 => sign of x", self.sign_bit(x));
        }
        None
    }

    /// `k < x`, `k` near an end of the order.
    fn simplify_above_end(&mut self, order: Order, k: ExprId, x: ExprId) -> Option<ExprId> {
        let (least, greatest) = self.ends(order, self.width(x));
        let one = self.number(self.width(x), 1);
        if k == greatest {
            return law!("greatest < x => 0", ExprId::FALSE);
        }
        if k == least {
            return law!("least < x => ~(x == least)", self.ne(x, k));
        }
        if k == self.sub(greatest, one) {
            return law!("greatest - 1 < x => x == greatest", self.eq(x, greatest));
        }
        if order == Order::Signed && self.is_ones_const(k) {
            return law!("-1 <s x => ~sign of x", {
                let sign = self.sign_bit(x);
                self.not(sign)
            });
        }
        None
    }

    /// `x < k` if `x_first`, else `k < x`.
    fn simplify_less_const(&mut self, order: Order, x: ExprId, k: ExprId, x_first: bool) -> Option<ExprId> {
        let compare = |pool: &mut Pool, x: ExprId, k: ExprId| {
            if x_first { pool.binary(order.less(), x, k) } else { pool.binary(order.less(), k, x) }
        };
        match self.kind(x) {
            Kind::Zext(y) if order == Order::Unsigned => match self.narrowed(k, self.width(y)) {
                Some(k) => law!("zext(x) <u zext(k) => x <u k, and swapped", compare(self, y, k)),
                None => law!("zext(x) <u k => 1, k too large, and swapped", self.boolean(x_first)),
            },
            Kind::Sext(y) => match (self.narrowed_signed(k, self.width(y)), order) {
                (Some(k), _) => law!("sext(x) < sext(k) => x < k, and swapped", compare(self, y, k)),
                (None, Order::Unsigned) => law!("sext(x) <u k => ~sign of x, k between, and swapped", {
                    let sign = self.sign_bit(y);
                    if x_first { self.not(sign) } else { sign }
                }),
                (None, Order::Signed) => law!("sext(x) <s k => k is positive, k out of range, and swapped", {
                    let sign = self.sign_bit(k);
                    self.boolean((sign == ExprId::FALSE) == x_first)
                }),
            },
            Kind::Concat(high, low) => self.simplify_less_concat(high, low, k, x_first, compare),
            Kind::Not(y) => law!("~x < k => ~k < x, and swapped", {
                let k = self.not(k);
                let (a, b) = if x_first { (k, y) } else { (y, k) };
                self.binary(order.less(), a, b)
            }),
            Kind::Ite(c, p, q) if self.is_const(p) && self.is_const(q) => law!("(c ? k1 : k2) < k => c ? k1 < k : k2 < k, and swapped", {
                let (p, q) = (compare(self, p, k), compare(self, q, k));
                self.ite(c, p, q)
            }),
            Kind::Sub(p, q) if order == Order::Signed && !x_first && self.is_zero_const(k) && self.is_difference_exact(p, q) => {
                law!("0 <s x - y => y <s x, not wrapping", self.slt(q, p))
            }
            Kind::Sub(p, q) if order == Order::Signed && x_first && self.is_one_const(k) && self.is_difference_exact(p, q) => {
                law!("x - y <s 1 => x <=s y, not wrapping", self.sle(p, q))
            }
            Kind::Add(y, k1) if self.is_const(k1) => match self.moved(order, y, k1, k)? {
                Sum::Within(k) => law!("x + k1 < k2 => x < k2 - k1, not wrapping, and swapped", compare(self, y, k)),
                Sum::TooSmall => law!("x + k1 < k2 => 0, k2 - k1 too small, and swapped", self.boolean(!x_first)),
                Sum::TooLarge => law!("x + k1 < k2 => 1, k2 - k1 too large, and swapped", self.boolean(x_first)),
            },
            _ => None,
        }
    }

    /// The sign of a sum or difference, which is what `< 0` becomes.
    pub(super) fn simplify_sign(&mut self, a: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Sub(x, y) if self.is_difference_exact(x, y) => law!("sign of x - y => x <s y, not wrapping", self.slt(x, y)),
            Kind::Add(x, k1) if self.is_const(k1) => {
                let zero = self.zero(self.width(a));
                let Sum::Within(k) = self.moved(Order::Signed, x, k1, zero)? else { return None };
                law!("sign of x + k => x <s -k, not wrapping", self.slt(x, k))
            }
            _ => None,
        }
    }

    /// Is `x - y` as a signed value never outside the width?
    fn is_difference_exact(&self, x: ExprId, y: ExprId) -> bool {
        let width = self.width(x);
        if width > 64 {
            return false;
        }
        let ((x_lo, x_hi), (y_lo, y_hi)) = (self.signed_interval(x), self.signed_interval(y));
        let fits = |x: i64, y: i64| x.checked_sub(y).is_some_and(|difference| crate::eval::signed(width, difference as u64) == difference);
        fits(x_lo, y_hi) && fits(x_hi, y_lo)
    }

    /// `high ++ low` against `k`, where the low part cannot matter.
    fn simplify_less_concat(
        &mut self,
        high: ExprId,
        low: ExprId,
        k: ExprId,
        x_first: bool,
        compare: impl Fn(&mut Pool, ExprId, ExprId) -> ExprId,
    ) -> Option<ExprId> {
        let split = self.width(low);
        let (k_high, k_low) = (self.extract(k, split, self.width(high)), self.extract(k, 0, split));
        let low_is_idle = if x_first { self.is_zero_const(k_low) } else { self.is_ones_const(k_low) };
        low_is_idle.then_some(())?;
        law!("x ++ y < k ++ 0 => x < k, k ++ ~0 < x ++ y => k < x", compare(self, high, k_high))
    }

    /// `k2 - k1`, where `x + k1` does not wrap in the order; `None` if it may.
    fn moved(&mut self, order: Order, x: ExprId, k1: ExprId, k2: ExprId) -> Option<Sum> {
        let width = self.width(x);
        let (k1, k2) = (self.as_u64(k1)?, self.as_u64(k2)?);
        let signed = |value: u64| i128::from(crate::eval::signed(width, value));
        let (lo, hi, k1, k2, least, greatest) = match order {
            Order::Unsigned => {
                let (lo, hi) = self.interval(x);
                let (lo, hi, greatest) = (i128::from(lo), i128::from(hi), i128::from(mask(width)));
                // The constant counts as negative where adding it as it stands would wrap.
                let k1 = if hi + i128::from(k1) > greatest { i128::from(k1) - greatest - 1 } else { i128::from(k1) };
                (lo, hi, k1, i128::from(k2), 0, greatest)
            }
            Order::Signed => {
                let (lo, hi) = self.signed_interval(x);
                let greatest = i128::from(mask(width) >> 1);
                (i128::from(lo), i128::from(hi), signed(k1), signed(k2), -greatest - 1, greatest)
            }
        };
        if lo + k1 < least || hi + k1 > greatest {
            return None;
        }
        Some(match k2 - k1 {
            k if k < least => Sum::TooSmall,
            k if k > greatest => Sum::TooLarge,
            k => Sum::Within(self.bits(width, k as u64)),
        })
    }

    /// `a op b`, neither a constant; `op` is the order or its reflexive closure.
    fn simplify_order(&mut self, order: Order, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.kind(a), self.kind(b)) {
            (Kind::Zext(x), Kind::Zext(y)) if order == Order::Unsigned => law!("zext(x) <u zext(y) => x <u y, as wide as the wider", {
                let inner = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, inner), self.zext(y, inner));
                self.binary(op, x, y)
            }),
            (Kind::Sext(x), Kind::Sext(y)) => law!("sext(x) < sext(y) => x < y, as wide as the wider", {
                let inner = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, inner), self.sext(y, inner));
                self.binary(op, x, y)
            }),
            (Kind::Not(x), Kind::Not(y)) => law!("~x < ~y => y < x", self.binary(op, y, x)),
            (Kind::Concat(x, p), Kind::Concat(y, q)) if x == y => {
                law!("x ++ y < x ++ z => y <u z", {
                    let op = if op == order.less() { Op::Ult } else { Op::Ule };
                    self.binary(op, p, q)
                })
            }
            (Kind::Concat(x, p), Kind::Concat(y, q)) if p == q => law!("x ++ z < y ++ z => x < y", self.binary(op, x, y)),
            (Kind::PtrAdd(base, x), Kind::PtrAdd(other, y))
                if base == other && order == Order::Unsigned && self.stays_above(base, x) && self.stays_above(base, y) =>
            {
                law!("ptr(b, x) <u ptr(b, y) => x <u y, not wrapping", self.binary(op, x, y))
            }
            _ => None,
        }
    }

    /// Does `base + offset` never wrap?
    fn stays_above(&self, base: u64, offset: ExprId) -> bool {
        base.checked_add(self.interval(offset).1).is_some()
    }
}
