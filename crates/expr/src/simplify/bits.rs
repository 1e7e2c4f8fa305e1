//! Laws of the bitwise operators and of shifts. A value of 1 bit is a truth value, so the boolean laws are here too.

use super::{law, ones_below, runs, trailing_zeros};
use crate::node::{ExprId, Kind, Op, Width};
use crate::pool::Pool;
use crate::wide::{self, mask};

/// A mask of at most this many runs of equal bits is taken apart into pieces.
const FEW_RUNS: usize = 3;

impl Pool {
    pub(super) fn simplify_not(&mut self, a: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Not(x) => law!("~~x => x", x),
            Kind::Ult(x, y) => law!("~(x <u y) => y <=u x", self.ule(y, x)),
            Kind::Ule(x, y) => law!("~(x <=u y) => y <u x", self.ult(y, x)),
            Kind::Slt(x, y) => law!("~(x <s y) => y <=s x", self.sle(y, x)),
            Kind::Sle(x, y) => law!("~(x <=s y) => y <s x", self.slt(y, x)),
            Kind::Or(x, y) if self.width(a) == 1 => law!("1 bit: ~(x | y) => ~x & ~y", {
                let (x, y) = (self.not(x), self.not(y));
                self.and(x, y)
            }),
            Kind::Concat(x, y) => law!("~(x ++ y) => ~x ++ ~y", {
                let (x, y) = (self.not(x), self.not(y));
                self.concat(x, y)
            }),
            Kind::Zext(x) => law!("~zext(x) => ~0 ++ ~x", {
                let (ones, x) = (self.ones(self.width(a) - self.width(x)), self.not(x));
                self.concat(ones, x)
            }),
            Kind::Sext(x) => law!("~sext(x) => sext(~x)", {
                let x = self.not(x);
                self.sext(x, self.width(a))
            }),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => law!("~(c ? k1 : k2) => c ? ~k1 : ~k2", {
                let (x, y) = (self.not(x), self.not(y));
                self.ite(c, x, y)
            }),
            Kind::Add(x, k) if self.is_const(k) => law!("~(x + k) => ~k - x", {
                let k = self.not(k);
                self.sub(k, x)
            }),
            Kind::Sub(k, x) if self.is_const(k) => law!("~(k - x) => x + ~k", {
                let k = self.not(k);
                self.add(x, k)
            }),
            Kind::Xor(x, k) if self.is_const(k) => law!("~(x ^ k) => x ^ ~k", {
                let k = self.not(k);
                self.xor(x, k)
            }),
            Kind::Neg(x) => law!("~-x => x + -1", {
                let ones = self.ones(self.width(x));
                self.add(x, ones)
            }),
            _ => None,
        }
    }

    pub(super) fn simplify_and(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.is_const(b) {
            return self.simplify_and_const(a, b);
        }
        if a == b {
            return law!("x & x => x", a);
        }
        if self.complements(a, b) {
            return law!("x & ~x => 0", self.zero(self.width(a)));
        }
        self.simplify_and_sided(a, b).or_else(|| self.simplify_and_sided(b, a)).or_else(|| self.split_bitwise(Op::And, a, b))
    }

    /// `a & k`
    fn simplify_and_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.is_zero_const(k) {
            return law!("x & 0 => 0", k);
        }
        if self.is_ones_const(k) {
            return law!("x & ~0 => x", a);
        }
        match self.kind(a) {
            Kind::And(x, k1) if self.is_const(k1) => {
                return law!("(x & k1) & k2 => x & (k1 & k2)", {
                    let k = self.and(k1, k);
                    self.and(x, k)
                });
            }
            Kind::Sext(c) if self.width(c) == 1 => {
                return law!("sext(c) & k, c of 1 bit => c ? k : 0", {
                    let zero = self.zero(width);
                    self.ite(c, k, zero)
                });
            }
            Kind::Sext(x) if let Some(k) = self.narrowed(k, self.width(x)) => {
                return law!("sext(x) & zext(k) => zext(x & k)", {
                    let both = self.and(x, k);
                    self.zext(both, width)
                });
            }
            Kind::Zext(_) | Kind::Concat(..) => return self.split_bitwise(Op::And, a, k),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => {
                return self.choose_bitwise(Op::And, c, x, y, k);
            }
            _ => {}
        }
        self.mask_redundant(a, k).or_else(|| self.mask_pieces(Op::And, a, k))
    }

    /// `a & k` where facts say that the mask, or part of it, changes nothing.
    fn mask_redundant(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        let (value, width) = (self.as_u64(k)?, self.width(a));
        let (zeros, _) = self.known_bits(a);
        if value | zeros == mask(width) {
            return law!("x & k => x, all other bits of x being 0", a);
        }
        let needed = value & !zeros;
        (needed != value).then_some(())?;
        law!("x & k => x & k', k' without the known zeros of x", {
            let k = self.bits(width, needed);
            self.and(a, k)
        })
    }

    /// `a & k` or `a | k` where `k` has few runs, as pieces of `a` between runs of constants.
    fn mask_pieces(&mut self, op: Op, a: ExprId, k: ExprId) -> Option<ExprId> {
        let kept = op == Op::And;
        let runs = runs(self.as_limbs(k)?, self.width(a), FEW_RUNS)?;
        law!("x & k, x | k, k of few runs => pieces of x and k", {
            let mut at = 0;
            let mut parts = Vec::with_capacity(runs.len());
            for (value, len) in runs {
                parts.push(if value == kept { self.extract(a, at, len) } else { self.extract(k, at, len) });
                at += len;
            }
            self.concat_all(&parts)
        })
    }

    /// `(c ? x : y) op k`, all constants.
    fn choose_bitwise(&mut self, op: Op, c: ExprId, x: ExprId, y: ExprId, k: ExprId) -> Option<ExprId> {
        law!("(c ? k1 : k2) & k3 => c ? k1 & k3 : k2 & k3, also for | and ^", {
            let (x, y) = (self.binary(op, x, k), self.binary(op, y, k));
            self.ite(c, x, y)
        })
    }

    /// `a & b`, neither a constant, with `a` looked into.
    fn simplify_and_sided(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Zext(x) => law!("zext(x) & y => zext(x & y[low])", {
                let low = self.extract(b, 0, self.width(x));
                let both = self.and(x, low);
                self.zext(both, self.width(a))
            }),
            Kind::Sext(c) if self.width(c) == 1 => law!("sext(c) & y, c of 1 bit => c ? y : 0", {
                let zero = self.zero(self.width(a));
                self.ite(c, b, zero)
            }),
            Kind::And(x, y) if x == b || y == b => law!("(x & y) & x => x & y", a),
            Kind::Or(x, y) if x == b || y == b => law!("(x | y) & x => x", b),
            Kind::And(x, y) if self.complements(x, b) || self.complements(y, b) => {
                law!("(~x & y) & x => 0", self.zero(self.width(a)))
            }
            Kind::Or(x, y) if self.complements(x, b) => law!("(~x | y) & x => y & x", self.and(y, b)),
            Kind::Or(y, x) if self.complements(x, b) => law!("(y | ~x) & x => y & x", self.and(y, b)),
            Kind::Eq(x, k) if self.is_const(k) => match self.decided_at(x, k, b)? {
                true => law!("x == k & p(x) => x == k, if p(k)", a),
                false => law!("x == k & p(x) => 0, if not p(k)", ExprId::FALSE),
            },
            _ => None,
        }
    }

    /// The truth of `p` where `x` is `k`, if `p` compares `x` with a constant.
    fn decided_at(&mut self, x: ExprId, k: ExprId, p: ExprId) -> Option<bool> {
        let (a, b) = match self.kind(p) {
            Kind::Not(q) => return self.decided_at(x, k, q).map(|truth| !truth),
            Kind::Eq(a, b) | Kind::Ult(a, b) | Kind::Ule(a, b) | Kind::Slt(a, b) | Kind::Sle(a, b) => (a, b),
            _ => return None,
        };
        let at = |e: ExprId| if e == x { k } else { e };
        let (a, b) = (at(a), at(b));
        if !self.is_const(a) || !self.is_const(b) {
            return None;
        }
        Some(self.binary(self.op(p), a, b) == ExprId::TRUE)
    }

    pub(super) fn simplify_or(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.is_const(b) {
            return self.simplify_or_const(a, b);
        }
        if a == b {
            return law!("x | x => x", a);
        }
        if self.complements(a, b) {
            return law!("x | ~x => ~0", self.ones(self.width(a)));
        }
        if let (Kind::Not(x), Kind::Not(y)) = (self.kind(a), self.kind(b)) {
            return law!("~x | ~y => ~(x & y)", {
                let both = self.and(x, y);
                self.not(both)
            });
        }
        self.simplify_or_sided(a, b)
            .or_else(|| self.simplify_or_sided(b, a))
            .or_else(|| self.split_bitwise(Op::Or, a, b))
            .or_else(|| self.join_disjoint(a, b))
    }

    /// `a | k`
    fn simplify_or_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        if self.is_zero_const(k) {
            return law!("x | 0 => x", a);
        }
        if self.is_ones_const(k) {
            return law!("x | ~0 => ~0", k);
        }
        match self.kind(a) {
            Kind::Or(x, k1) if self.is_const(k1) => {
                return law!("(x | k1) | k2 => x | (k1 | k2)", {
                    let k = self.or(k1, k);
                    self.or(x, k)
                });
            }
            Kind::Zext(_) | Kind::Concat(..) => return self.split_bitwise(Op::Or, a, k),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => return self.choose_bitwise(Op::Or, c, x, y, k),
            _ => {}
        }
        if let Some(value) = self.as_u64(k)
            && value & !self.known_bits(a).1 == 0
        {
            return law!("x | k => x, the bits of k being 1 in x", a);
        }
        self.mask_pieces(Op::Or, a, k)
    }

    /// `a | b`, neither a constant, with `a` looked into.
    fn simplify_or_sided(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match self.kind(a) {
            Kind::Sext(c) if self.width(c) == 1 => law!("sext(c) | y, c of 1 bit => c ? ~0 : y", {
                let ones = self.ones(self.width(a));
                self.ite(c, ones, b)
            }),
            Kind::Or(x, y) if x == b || y == b => law!("(x | y) | x => x | y", a),
            Kind::And(x, y) if x == b || y == b => law!("(x & y) | x => x", b),
            Kind::Or(x, y) if self.complements(x, b) || self.complements(y, b) => {
                law!("(~x | y) | x => ~0", self.ones(self.width(a)))
            }
            Kind::And(x, y) if self.complements(x, b) => law!("(~x & y) | x => y | x", self.or(y, b)),
            Kind::And(y, x) if self.complements(x, b) => law!("(y & ~x) | x => y | x", self.or(y, b)),
            _ => None,
        }
    }

    pub(super) fn simplify_xor(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.is_const(b) {
            return self.simplify_xor_const(a, b);
        }
        if a == b {
            return law!("x ^ x => 0", self.zero(self.width(a)));
        }
        if self.complements(a, b) {
            return law!("x ^ ~x => ~0", self.ones(self.width(a)));
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.kind(x) {
                Kind::Not(x) => {
                    return law!("~x ^ y => ~(x ^ y)", {
                        let differ = self.xor(x, y);
                        self.not(differ)
                    });
                }
                Kind::Xor(p, q) if p == y || q == y => return law!("(x ^ y) ^ x => y", if p == y { q } else { p }),
                _ => {}
            }
        }
        self.split_bitwise(Op::Xor, a, b).or_else(|| self.join_disjoint(a, b))
    }

    /// `a ^ k`
    fn simplify_xor_const(&mut self, a: ExprId, k: ExprId) -> Option<ExprId> {
        if self.is_zero_const(k) {
            return law!("x ^ 0 => x", a);
        }
        if self.is_ones_const(k) {
            return law!("x ^ ~0 => ~x", self.not(a));
        }
        match self.kind(a) {
            Kind::Xor(x, k1) if self.is_const(k1) => law!("(x ^ k1) ^ k2 => x ^ (k1 ^ k2)", {
                let k = self.xor(k1, k);
                self.xor(x, k)
            }),
            Kind::Not(x) => law!("~x ^ k => x ^ ~k", {
                let k = self.not(k);
                self.xor(x, k)
            }),
            Kind::Zext(_) | Kind::Concat(..) => self.split_bitwise(Op::Xor, a, k),
            Kind::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => self.choose_bitwise(Op::Xor, c, x, y, k),
            _ => None,
        }
    }

    /// A bitwise operator on values made of parts: applied to the parts.
    fn split_bitwise(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let made_of_parts = |e: ExprId| matches!(self.kind(e), Kind::Zext(_) | Kind::Concat(..) | Kind::Const);
        if !made_of_parts(a) || !made_of_parts(b) {
            return None;
        }
        let at = match (self.kind(a), self.kind(b)) {
            (Kind::Zext(x), Kind::Zext(y)) => self.width(x).max(self.width(y)),
            (Kind::Concat(_, low), _) | (_, Kind::Concat(_, low)) => self.width(low),
            (Kind::Zext(x), _) | (_, Kind::Zext(x)) => self.width(x),
            _ => return None,
        };
        law!("(p ++ q) & (r ++ s) => (p & r) ++ (q & s), also for | and ^, and for zext(q) and constants", {
            let high_width = self.width(a) - at;
            let (p, q) = (self.extract(a, at, high_width), self.extract(a, 0, at));
            let (r, s) = (self.extract(b, at, high_width), self.extract(b, 0, at));
            let (high, low) = (self.binary(op, p, r), self.binary(op, q, s));
            self.concat(high, low)
        })
    }

    /// `a op b` with op one of `|`, `^`, `+` and no bit that can be 1 in both, one lying wholly above the other.
    pub(super) fn join_disjoint(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width > 64 {
            return None;
        }
        for (high, low) in [(a, b), (b, a)] {
            let at = self.known_bits(high).0.trailing_ones().min(width);
            if at > 0 && at < width && self.interval(low).1 <= mask(at) {
                return law!("(x ++ 0) + zext(y) => x ++ y, also for | and ^", {
                    let (x, y) = (self.extract(high, at, width - at), self.extract(low, 0, at));
                    self.concat(x, y)
                });
            }
        }
        None
    }

    /// The number of bits of a shift by a constant; the width for all larger ones.
    fn shift_amount(&self, a: ExprId, b: ExprId) -> Option<Width> {
        let (width, limbs) = (self.width(a), self.as_limbs(b)?);
        let fits = limbs[1..].iter().all(|&limb| limb == 0) && limbs[0] < u64::from(width);
        Some(if fits { limbs[0] as Width } else { width })
    }

    pub(super) fn simplify_shl(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return law!("1 bit: x << y => x & ~y", self.and_not(a, b));
        }
        if self.is_zero_const(a) {
            return law!("0 << y => 0", a);
        }
        match self.shift_amount(a, b)? {
            0 => law!("x << 0 => x", a),
            n if n == width => law!("x << n, n of the width or more => 0", self.zero(width)),
            n => match self.kind(a) {
                Kind::Add(x, k) if self.is_const(k) => law!("(x + k) << n => (x << n) + (k << n)", {
                    let (x, k) = (self.shl(x, b), self.shl(k, b));
                    self.add(x, k)
                }),
                _ => law!("x << n => x[low] ++ 0", {
                    let (low, zeros) = (self.extract(a, 0, width - n), self.zero(n));
                    self.concat(low, zeros)
                }),
            },
        }
    }

    pub(super) fn simplify_lshr(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return law!("1 bit: x >>u y => x & ~y", self.and_not(a, b));
        }
        if self.is_zero_const(a) {
            return law!("0 >>u y => 0", a);
        }
        match self.shift_amount(a, b)? {
            0 => law!("x >>u 0 => x", a),
            n if n == width => law!("x >>u n, n of the width or more => 0", self.zero(width)),
            n => law!("x >>u n => zext(x[high])", {
                let high = self.extract(a, n, width - n);
                self.zext(high, width)
            }),
        }
    }

    pub(super) fn simplify_ashr(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return law!("1 bit: x >>s y => x", a);
        }
        if self.is_zero_const(a) || self.is_ones_const(a) {
            return law!("0 >>s y => 0, ~0 >>s y => ~0", a);
        }
        match self.shift_amount(a, b) {
            Some(0) => law!("x >>s 0 => x", a),
            Some(n) => law!("x >>s n => sext(x[high])", {
                let n = n.min(width - 1);
                let high = self.extract(a, n, width - n);
                self.sext(high, width)
            }),
            None if self.is_non_negative(a) => law!("x >>s y, x not negative => x >>u y", self.lshr(a, b)),
            None => None,
        }
    }

    fn and_not(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let not_b = self.not(b);
        self.and(a, not_b)
    }

    /// The constant at `width` bits, if zero-extending that gives it back.
    pub(super) fn narrowed(&mut self, k: ExprId, width: Width) -> Option<ExprId> {
        let limbs = self.as_limbs(k)?;
        let high = wide::extract(limbs, width, self.width(k) - width);
        high.iter().all(|&limb| limb == 0).then(|| self.extract(k, 0, width))
    }

    /// The constant at `width` bits, if sign-extending that gives it back.
    pub(super) fn narrowed_signed(&mut self, k: ExprId, width: Width) -> Option<ExprId> {
        let limbs = self.as_limbs(k)?;
        // The bits from the narrow sign up are all equal.
        let high_width = self.width(k) - width + 1;
        let high = wide::extract(limbs, width - 1, high_width);
        let equal = trailing_zeros(&high) >= high_width || ones_below(&high, high_width) == high_width;
        equal.then(|| self.extract(k, 0, width))
    }
}
