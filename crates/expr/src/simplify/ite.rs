//! Laws of choice.

use super::{law, runs};
use crate::node::{ExprId, Kind, Width};
use crate::pool::Pool;

impl Pool {
    pub(super) fn simplify_ite(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        if c == ExprId::TRUE {
            return law!("1 ? x : y => x", a);
        }
        if c == ExprId::FALSE {
            return law!("0 ? x : y => y", b);
        }
        if a == b {
            return law!("c ? x : x => x", a);
        }
        if let Kind::Not(d) = self.kind(c) {
            return law!("~c ? x : y => c ? y : x", self.ite(d, b, a));
        }
        if self.width(a) == 1 {
            return self.simplify_ite_bit(c, a, b);
        }
        if self.is_const(a) && self.is_const(b) {
            return self.simplify_ite_const(c, a, b);
        }
        self.simplify_ite_nested(c, a, b).or_else(|| self.simplify_ite_extended(c, a, b))
    }

    /// `c ? a : b` of 1 bit.
    fn simplify_ite_bit(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (a, b) {
            (ExprId::TRUE, ExprId::FALSE) => law!("c ? 1 : 0 => c", c),
            (ExprId::FALSE, ExprId::TRUE) => law!("c ? 0 : 1 => ~c", self.not(c)),
            (ExprId::TRUE, _) => law!("c ? 1 : x => c | x", self.or(c, b)),
            (ExprId::FALSE, _) => law!("c ? 0 : x => ~c & x", {
                let not_c = self.not(c);
                self.and(not_c, b)
            }),
            (_, ExprId::TRUE) => law!("c ? x : 1 => ~c | x", {
                let not_c = self.not(c);
                self.or(not_c, a)
            }),
            (_, ExprId::FALSE) => law!("c ? x : 0 => c & x", self.and(c, a)),
            _ if c == a => law!("c ? c : x => c | x", self.or(c, b)),
            _ if c == b => law!("c ? x : c => c & x", self.and(c, a)),
            _ if self.complements(a, b) => law!("c ? x : ~x => ~(c ^ x)", {
                let differ = self.xor(c, a);
                self.not(differ)
            }),
            _ if self.complements(a, c) => law!("c ? ~c : x => ~c & x", self.and(a, b)),
            _ if self.complements(b, c) => law!("c ? x : ~c => ~c | x", self.or(a, b)),
            _ => self.simplify_ite_nested(c, a, b),
        }
    }

    /// `c ? a : b`, constants.
    fn simplify_ite_const(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let (at, len, rising) = self.differ_in_one_run(a, b)?;
        law!("c ? k1 : k2, differing in one run of ones => high ++ sext(c) ++ low", {
            let bit = if rising { c } else { self.not(c) };
            let mut value = self.sext(bit, len);
            if at > 0 {
                let low = self.extract(a, 0, at);
                value = self.concat(value, low);
            }
            if at + len < width {
                let high = self.extract(a, at + len, width - at - len);
                value = self.concat(high, value);
            }
            value
        })
    }

    /// Place and length of the one run of bits that are all 1 in one of two constants and all 0 in the other, equal
    /// elsewhere; true if they are 1 in the first.
    pub(super) fn differ_in_one_run(&self, a: ExprId, b: ExprId) -> Option<(Width, Width, bool)> {
        let (x, y) = (self.as_limbs(a)?, self.as_limbs(b)?);
        let differ: Vec<u64> = x.iter().zip(y).map(|(x, y)| x ^ y).collect();
        let (at, len) = match runs(&differ, self.width(a), 3)?.as_slice() {
            [(true, len)] | [(true, len), (false, _)] => (0, *len),
            [(false, at), (true, len)] | [(false, at), (true, len), (false, _)] => (*at, *len),
            _ => return None,
        };
        let within: u32 = differ.iter().zip(x).map(|(d, x)| (d & x).count_ones()).sum();
        (within == len || within == 0).then_some((at, len, within == len))
    }

    /// A choice within a choice.
    fn simplify_ite_nested(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.kind(a), self.kind(b)) {
            (Kind::Ite(d, x, _), _) if c == d => law!("c ? (c ? x : y) : z => c ? x : z", self.ite(c, x, b)),
            (_, Kind::Ite(d, _, y)) if c == d => law!("c ? x : (c ? y : z) => c ? x : z", self.ite(c, a, y)),
            (_, Kind::Ite(d, x, y)) if a == x => law!("c ? x : (d ? x : y) => (c | d) ? x : y", {
                let either = self.or(c, d);
                self.ite(either, a, y)
            }),
            (_, Kind::Ite(d, x, y)) if a == y => law!("c ? x : (d ? y : x) => (~c & d) ? y : x", {
                let not_c = self.not(c);
                let only_d = self.and(not_c, d);
                self.ite(only_d, x, a)
            }),
            (Kind::Ite(d, x, y), _) if b == y => law!("c ? (d ? x : y) : y => (c & d) ? x : y", {
                let both = self.and(c, d);
                self.ite(both, x, b)
            }),
            (Kind::Ite(d, x, y), _) if b == x => law!("c ? (d ? x : y) : x => (c & ~d) ? y : x", {
                let not_d = self.not(d);
                let both = self.and(c, not_d);
                self.ite(both, y, b)
            }),
            _ => self.simplify_ite_equal(c, a, b),
        }
    }

    /// A choice that its own condition makes idle.
    fn simplify_ite_equal(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        match self.kind(c) {
            Kind::Eq(x, y) if (x, y) == (a, b) || (y, x) == (a, b) => law!("x == y ? x : y => y", b),
            _ => None,
        }
    }

    /// A choice of extended values: the extension of the choice.
    fn simplify_ite_extended(&mut self, c: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let (x, y) = match (self.kind(a), self.kind(b)) {
            (Kind::Zext(x), Kind::Zext(y)) => {
                let inner = self.width(x).max(self.width(y));
                (self.zext(x, inner), self.zext(y, inner))
            }
            (Kind::Zext(x), Kind::Const) => (x, self.narrowed(b, self.width(x))?),
            (Kind::Const, Kind::Zext(y)) => (self.narrowed(a, self.width(y))?, y),
            (Kind::Sext(x), Kind::Sext(y)) if self.width(x) == self.width(y) => {
                return law!("c ? sext(x) : sext(y) => sext(c ? x : y)", {
                    let chosen = self.ite(c, x, y);
                    self.sext(chosen, width)
                });
            }
            _ => return None,
        };
        law!("c ? zext(x) : zext(y) => zext(c ? x : y)", {
            let chosen = self.ite(c, x, y);
            self.zext(chosen, width)
        })
    }
}
