//! Laws of division and remainder.

use super::law;
use crate::node::{ExprId, Kind, Width};
use crate::pool::Pool;

impl Pool {
    pub(super) fn simplify_udiv(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.is_zero_const(b) {
            return law!("x udiv 0 => ~0", self.ones(width));
        }
        if width == 1 {
            return law!("1 bit: x udiv y => x | ~y", {
                let not_b = self.not(b);
                self.or(a, not_b)
            });
        }
        if let Some(n) = self.power_of_two(b) {
            return law!("x udiv 2^n => x >>u n", {
                let n = self.number(width, u64::from(n));
                self.lshr(a, n)
            });
        }
        match (self.kind(a), self.kind(b)) {
            (Kind::Zext(x), _) if let Some(k) = self.narrowed(b, self.width(x)) => {
                law!("zext(x) udiv zext(k) => zext(x udiv k)", {
                    let quotient = self.udiv(x, k);
                    self.zext(quotient, width)
                })
            }
            (Kind::Udiv(x, k), _) if let Some(product) = self.product_in_width(k, b) => {
                law!("(x udiv k1) udiv k2 => x udiv (k1 * k2)", {
                    let k = self.bits(width, product);
                    self.udiv(x, k)
                })
            }
            _ => None,
        }
    }

    /// The product of two non-zero constants, if it has no more bits than they have (at most 64).
    fn product_in_width(&self, a: ExprId, b: ExprId) -> Option<u64> {
        let product = self.as_u64(a)?.checked_mul(self.as_u64(b)?)?;
        (product != 0 && product <= crate::wide::mask(self.width(a))).then_some(product)
    }

    pub(super) fn simplify_urem(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.is_zero_const(b) {
            return law!("x urem 0 => x", a);
        }
        if a == b {
            return law!("x urem x => 0", self.zero(width));
        }
        if width == 1 {
            return law!("1 bit: x urem y => x & ~y", {
                let not_b = self.not(b);
                self.and(a, not_b)
            });
        }
        match self.power_of_two(b) {
            Some(0) => return law!("x urem 1 => 0", self.zero(width)),
            Some(n) => {
                return law!("x urem 2^n => zext(x[0..n])", {
                    let low = self.extract(a, 0, n);
                    self.zext(low, width)
                });
            }
            None => {}
        }
        if width <= 64 && self.interval(a).1 < self.interval(b).0 {
            return law!("x urem y, x < y => x", a);
        }
        match self.kind(a) {
            Kind::Zext(x) if let Some(k) = self.narrowed(b, self.width(x)) => {
                law!("zext(x) urem zext(k) => zext(x urem k)", {
                    let rest = self.urem(x, k);
                    self.zext(rest, width)
                })
            }
            _ => None,
        }
    }

    pub(super) fn simplify_sdiv(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.is_one_const(b) && self.width(a) > 1 {
            return law!("x sdiv 1 => x", a);
        }
        if self.is_ones_const(b) && self.width(a) > 1 {
            return law!("x sdiv -1 => -x", self.neg(a));
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return law!("x sdiv y, neither negative => x udiv y", self.udiv(a, b));
        }
        let n = self.positive_power_of_two(b)?;
        law!("x sdiv 2^n => (x >>s n) + (x < 0 & x[low] != 0)", {
            let width = self.width(a);
            let (high, inexact) = (self.extract(a, n, width - n), self.rounds_up(a, n));
            let (floor, correction) = (self.sext(high, width), self.zext(inexact, width));
            self.add(floor, correction)
        })
    }

    pub(super) fn simplify_srem(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) > 1 && (self.is_one_const(b) || self.is_ones_const(b)) {
            return law!("x srem 1, x srem -1 => 0", self.zero(self.width(a)));
        }
        if a == b {
            return law!("x srem x => 0", self.zero(self.width(a)));
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            return law!("x srem y, neither negative => x urem y", self.urem(a, b));
        }
        let n = self.positive_power_of_two(b)?;
        law!("x srem 2^n => sext(x < 0 & x[low] != 0) ++ x[low]", {
            let (inexact, low) = (self.rounds_up(a, n), self.extract(a, 0, n));
            let high = self.sext(inexact, self.width(a) - n);
            self.concat(high, low)
        })
    }

    /// The `n` of a constant 2^n which is positive as a signed value.
    fn positive_power_of_two(&self, e: ExprId) -> Option<Width> {
        self.power_of_two(e).filter(|&n| n > 0 && n < self.width(e) - 1)
    }

    /// Does rounding `x / 2^n` towards zero round up?
    fn rounds_up(&mut self, x: ExprId, n: Width) -> ExprId {
        let (sign, low) = (self.sign_bit(x), self.extract(x, 0, n));
        let exact = self.is_zero(low);
        let inexact = self.not(exact);
        self.and(sign, inexact)
    }
}
