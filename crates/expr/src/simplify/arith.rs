//! Laws of addition, subtraction, negation and multiplication, and of pointers.

use super::law;
use crate::node::{ExprId, Kind};
use crate::pool::Pool;

impl Pool {
    pub(super) fn simplify_neg(&mut self, a: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            _ if self.width(a) == 1 => law!("1 bit: -x => x", a),
            Kind::Neg(x) => law!("-(-x) => x", x),
            Kind::Sub(x, y) => law!("-(x - y) => y - x", self.sub(y, x)),
            Kind::Add(x, k) if self.is_const(k) => law!("-(x + k) => -k - x", {
                let k = self.neg(k);
                self.sub(k, x)
            }),
            Kind::Not(x) => law!("-(~x) => x + 1", {
                let one = self.number(self.width(x), 1);
                self.add(x, one)
            }),
            Kind::Mul(x, k) if self.is_const(k) => law!("-(x * k) => x * -k", {
                let k = self.neg(k);
                self.mul(x, k)
            }),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => law!("-(c ? k1 : k2) => c ? -k1 : -k2", {
                let (x, y) = (self.neg(x), self.neg(y));
                self.ite(c, x, y)
            }),
            Kind::Zext(c) if self.width(c) == 1 => law!("-zext(c), c of 1 bit => sext(c)", self.sext(c, self.width(a))),
            Kind::Sext(c) if self.width(c) == 1 => law!("-sext(c), c of 1 bit => zext(c)", self.zext(c, self.width(a))),
            _ => None,
        }
    }

    pub(super) fn simplify_add(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x + y => x ^ y", self.xor(a, b));
        }
        if self.is_const(b) {
            return self.simplify_add_const(a, b);
        }
        if a == b {
            return law!("x + x => x << 1", {
                let one = self.number(self.width(a), 1);
                self.shl(a, one)
            });
        }
        if self.complements(a, b) {
            return law!("x + ~x => ~0", self.ones(self.width(a)));
        }
        self.simplify_add_sided(a, b)
            .or_else(|| self.simplify_add_sided(b, a))
            .or_else(|| self.simplify_add_quotients(a, b))
            .or_else(|| self.join_disjoint(a, b))
    }

    /// `a + k`
    fn simplify_add_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            _ if self.is_zero_const(k) => law!("x + 0 => x", a),
            Kind::Add(x, k1) if self.is_const(k1) => law!("(x + k1) + k2 => x + (k1 + k2)", {
                let k = self.add(k1, k);
                self.add(x, k)
            }),
            Kind::Sub(k1, x) if self.is_const(k1) => law!("(k1 - x) + k2 => (k1 + k2) - x", {
                let k = self.add(k1, k);
                self.sub(k, x)
            }),
            Kind::Neg(x) => law!("-x + k => k - x", self.sub(k, x)),
            Kind::Not(x) => law!("~x + k => (k - 1) - x", {
                let ones = self.ones(self.width(k));
                let k = self.add(k, ones);
                self.sub(k, x)
            }),
            Kind::PtrAdd(base, offset) if self.undoes_base(base, k) => law!("ptr(b, x) + -k => x + (b - k), k more than half of b", {
                let base = self.bits(64, base);
                let k = self.add(base, k);
                self.add(offset, k)
            }),
            Kind::PtrAdd(base, offset) => law!("ptr(b, x) + k => ptr(b, x + k)", {
                let offset = self.add(offset, k);
                self.ptr(base, offset)
            }),
            Kind::Ite(c, x, y) if self.is_fixed(x) && self.is_fixed(y) => {
                law!("(c ? k1 : k2) + k => c ? k1 + k : k2 + k, also of anchored pointers", {
                    let (x, y) = (self.add(x, k), self.add(y, k));
                    self.ite(c, x, y)
                })
            }
            _ => None,
        }
    }

    /// Does adding the constant take an address away again, so that a difference of pointers is left and not a pointer?
    fn undoes_base(&self, base: u64, k: ExprId) -> bool {
        self.as_u64(k).is_some_and(|k| (k as i64) < 0 && k.wrapping_neg() > base / 2)
    }

    /// `a + b`, neither a constant, with `a` looked into.
    fn simplify_add_sided(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::PtrAdd(base, offset) if self.as_ptr(b).is_none() => law!("ptr(b, x) + y => ptr(b, x + y)", {
                let offset = self.add(offset, b);
                self.ptr(base, offset)
            }),
            Kind::Add(x, k) if self.is_const(k) => law!("(x + k) + y => (x + y) + k", {
                let sum = self.add(x, b);
                self.add(sum, k)
            }),
            Kind::Neg(x) if x == b => law!("-x + x => 0", self.zero(self.width(a))),
            Kind::Neg(x) => law!("-x + y => y - x", self.sub(b, x)),
            Kind::Sub(k, x) if self.is_const(k) => law!("(k - x) + y => (y - x) + k", {
                let difference = self.sub(b, x);
                self.add(difference, k)
            }),
            Kind::Sub(x, y) if y == b => law!("(x - y) + y => x", x),
            _ => None,
        }
    }

    /// `a + b` in the code of a division.
    fn simplify_add_quotients(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        self.add_undone_sign(a, b)
            .or_else(|| self.add_undone_sign(b, a))
            .or_else(|| self.add_to_product(a, b))
            .or_else(|| self.add_to_product(b, a))
            .or_else(|| self.add_remainder(a, b))
            .or_else(|| self.add_remainder(b, a))
            .or_else(|| self.simplify_remainder(a, b, true))
            .or_else(|| self.simplify_remainder(b, a, true))
    }

    pub(super) fn simplify_sub(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.width(a) == 1 {
            return law!("1 bit: x - y => x ^ y", self.xor(a, b));
        }
        if a == b {
            return law!("x - x => 0", self.zero(self.width(a)));
        }
        if self.is_const(b) {
            return law!("x - k => x + -k", {
                let k = self.neg(b);
                self.add(a, k)
            });
        }
        if self.is_zero_const(a) {
            return law!("0 - x => -x", self.neg(b));
        }
        self.simplify_sub_pointers(a, b).or_else(|| self.simplify_sub_terms(a, b)).or_else(|| self.simplify_remainder(a, b, false))
    }

    fn simplify_sub_pointers(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.as_ptr(a), self.as_ptr(b)) {
            (Some((base, x)), Some((other, y))) if base == other => law!("ptr(b, x) - ptr(b, y) => x - y", self.sub(x, y)),
            (Some((base, x)), Some((other, y))) => law!("ptr(b, x) - ptr(c, y) => (x - y) + (b - c)", {
                let (difference, k) = (self.sub(x, y), self.bits(64, base.wrapping_sub(other)));
                self.add(difference, k)
            }),
            (Some((base, x)), None) => law!("ptr(b, x) - y => ptr(b, x - y)", {
                let offset = self.sub(x, b);
                self.ptr(base, offset)
            }),
            (None, Some((base, y))) => law!("x - ptr(b, y) => (x - y) + -b", {
                let (difference, k) = (self.sub(a, y), self.bits(64, base.wrapping_neg()));
                self.add(difference, k)
            }),
            (None, None) => None,
        }
    }

    fn simplify_sub_terms(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.kind(a), self.kind(b)) {
            (Kind::Add(x, k), _) if self.is_const(k) => law!("(x + k) - y => (x - y) + k", {
                let difference = self.sub(x, b);
                self.add(difference, k)
            }),
            (_, Kind::Add(y, k)) if self.is_const(k) => law!("x - (y + k) => (x - y) + -k", {
                let (difference, k) = (self.sub(a, y), self.neg(k));
                self.add(difference, k)
            }),
            (Kind::Sub(k, x), _) if self.is_const(k) && !self.is_const(a) => law!("(k - x) - y => k - (x + y)", {
                let sum = self.add(x, b);
                self.sub(k, sum)
            }),
            (_, Kind::Sub(k, y)) if self.is_const(k) => law!("x - (k - y) => (x + y) + -k", {
                let (sum, k) = (self.add(a, y), self.neg(k));
                self.add(sum, k)
            }),
            (_, Kind::Neg(y)) => law!("x - -y => x + y", self.add(a, y)),
            (Kind::Add(x, y), _) if x == b || y == b => law!("(x + y) - x => y", if x == b { y } else { x }),
            (_, Kind::Add(x, y)) if x == a || y == a => law!("x - (x + y) => -y", self.neg(if x == a { y } else { x })),
            (Kind::Sub(x, y), _) if x == b => law!("(x - y) - x => -y", self.neg(y)),
            (_, Kind::Sub(x, y)) if x == a => law!("x - (x - y) => y", y),
            _ => None,
        }
    }

    pub(super) fn simplify_mul(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return law!("1 bit: x * y => x & y", self.and(a, b));
        }
        if self.is_const(b) {
            return self.simplify_mul_const(a, b);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.kind(x) {
                Kind::Zext(c) if self.width(c) == 1 => {
                    return law!("zext(c) * y, c of 1 bit => c ? y : 0", {
                        let zero = self.zero(width);
                        self.ite(c, y, zero)
                    });
                }
                Kind::Neg(x) => {
                    return law!("-x * y => -(x * y)", {
                        let product = self.mul(x, y);
                        self.neg(product)
                    });
                }
                _ => {}
            }
        }
        None
    }

    /// `a * k`
    fn simplify_mul_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        if self.is_zero_const(k) {
            return law!("x * 0 => 0", k);
        }
        if self.is_one_const(k) {
            return law!("x * 1 => x", a);
        }
        if self.is_ones_const(k) {
            return law!("x * -1 => -x", self.neg(a));
        }
        if let Some(n) = self.power_of_two(k) {
            return law!("x * 2^n => x << n", {
                let n = self.number(self.width(a), u64::from(n));
                self.shl(a, n)
            });
        }
        match self.kind(a) {
            Kind::Mul(x, k1) if self.is_const(k1) => law!("(x * k1) * k2 => x * (k1 * k2)", {
                let k = self.mul(k1, k);
                self.mul(x, k)
            }),
            Kind::Add(x, k1) if self.is_const(k1) => law!("(x + k1) * k => (x * k) + (k1 * k)", {
                let (product, sum) = (self.mul(x, k), self.mul(k1, k));
                self.add(product, sum)
            }),
            Kind::Neg(x) => law!("-x * k => x * -k", {
                let k = self.neg(k);
                self.mul(x, k)
            }),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => {
                law!("(c ? k1 : k2) * k => c ? k1 * k : k2 * k", {
                    let (x, y) = (self.mul(x, k), self.mul(y, k));
                    self.ite(c, x, y)
                })
            }
            Kind::Zext(c) if self.width(c) == 1 => law!("zext(c) * k, c of 1 bit => c ? k : 0", {
                let zero = self.zero(self.width(k));
                self.ite(c, k, zero)
            }),
            _ => None,
        }
    }

    pub(super) fn simplify_ptr(&mut self, base: u64, offset: ExprId) -> Option<ExprId> {
        match self.kind(offset) {
            Kind::PtrAdd(inner, x) => law!("ptr(b, ptr(c, x)) => ptr(b, x + c)", {
                let inner = self.bits(64, inner);
                let offset = self.add(x, inner);
                self.ptr(base, offset)
            }),
            _ => None,
        }
    }
}
