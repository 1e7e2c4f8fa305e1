//! The laws: what a node about to be made is equal to.
//!
//! One function per operator, one law per arm, named `lhs => rhs` in the style of bitwuzla's rewriter. A law may call any
//! constructor. Laws end because each makes the term smaller, moves an operator strictly towards its normal position, or
//! looks a bounded number of levels down. Constructors nest a few deep; a guard in `build` stops them at 256.
//!
//! Normal forms, chosen for byte-wise code (a value stored as bytes and loaded back is the identical node):
//! - a shift by a constant is a `Concat` or an extension of an `Extract`; so is a mask of few runs of bits;
//! - a `Concat` leans right, its adjacent parts merged; its zero top is a `Zext`;
//! - constants are the right operand, are added last and gathered; a constant subtracted is its negation added;
//! - a comparison with a constant is `Eq`, `Ult` or `Slt`; negations of orders are the swapped orders;
//! - a pointer absorbs additions into its offset; an anchored one is an operand of `Add`, `Sub`, `Ite` and `PtrAdd` alone.
//!
//! Which law applies depends on structure and facts only, so equal terms get equal normal forms whatever was made before.

mod arith;
mod array;
mod bits;
mod bytes;
mod compare;
#[cfg(test)]
pub(crate) mod coverage;
mod divide;
mod float;
mod ite;
mod reciprocal;
#[cfg(test)]
mod tests;

use crate::node::{ExprId, Kind, Node, Shape, Width, comparison};
use crate::pool::Pool;
use crate::wide::bit;

/// `law!("lhs => rhs", result)`: the result, the law named and, in tests, counted.
macro_rules! law {
    ($law:literal, $result:expr) => {{
        #[cfg(test)]
        $crate::simplify::coverage::hit($law);
        Some($result)
    }};
}
pub(crate) use law;

impl Pool {
    /// What the node is equal to, if a law applies; the operands are in normal form and not all constant.
    pub(crate) fn simplify(&mut self, node: Node) -> Option<ExprId> {
        let width = node.width();
        if let Some(plain) = self.without_anchors(node) {
            return Some(plain);
        }
        if node.op().shape() == Shape::Compare
            && let Some(truth) = self.known_value(node)
        {
            return Some(truth);
        }
        match node.kind() {
            Kind::Const | Kind::Sym(_) => None,
            Kind::Not(a) => self.simplify_not(a),
            Kind::Neg(a) => self.simplify_neg(a),
            Kind::And(a, b) => self.simplify_and(a, b),
            Kind::Or(a, b) => self.simplify_or(a, b),
            Kind::Xor(a, b) => self.simplify_xor(a, b),
            Kind::Add(a, b) => self.simplify_add(a, b),
            Kind::Sub(a, b) => self.simplify_sub(a, b),
            Kind::Mul(a, b) => self.simplify_mul(a, b),
            Kind::Udiv(a, b) => self.simplify_udiv(a, b),
            Kind::Urem(a, b) => self.simplify_urem(a, b),
            Kind::Sdiv(a, b) => self.simplify_sdiv(a, b),
            Kind::Srem(a, b) => self.simplify_srem(a, b),
            Kind::Shl(a, b) => self.simplify_shl(a, b),
            Kind::Lshr(a, b) => self.simplify_lshr(a, b),
            Kind::Ashr(a, b) => self.simplify_ashr(a, b),
            Kind::Eq(a, b) => self.simplify_eq(a, b),
            Kind::Ult(a, b) => self.simplify_ult(a, b),
            Kind::Ule(a, b) => self.simplify_ule(a, b),
            Kind::Slt(a, b) => self.simplify_slt(a, b),
            Kind::Sle(a, b) => self.simplify_sle(a, b),
            Kind::Ite(c, a, b) => self.simplify_ite(c, a, b),
            Kind::Concat(a, b) => self.simplify_concat(a, b),
            Kind::Extract(a, lo) => self.simplify_extract(a, lo, width),
            Kind::Zext(a) => self.simplify_zext(a, width),
            Kind::Sext(a) => self.simplify_sext(a, width),
            Kind::Read(array, index) => self.simplify_read(array, index),
            Kind::PtrAdd(_, offset) if self.is_const(offset) => return None,
            Kind::PtrAdd(base, offset) => self.simplify_ptr(base, offset),
            Kind::Float(op, a, b) => self.simplify_float(op, a, b, width),
        }
        .or_else(|| self.known_value(node))
    }

    /// An operator for which the objects of pointers mean nothing, on the constants that anchored pointers are.
    fn without_anchors(&mut self, node: Node) -> Option<ExprId> {
        let anchored = |e: ExprId| self.meta[e.index()].anchored;
        let (a, b) = match node.kind() {
            Kind::Const | Kind::Sym(_) | Kind::Ite(..) | Kind::PtrAdd(..) | Kind::Sub(..) => return None,
            // A sum of two pointers is none; one of a pointer and a number is a pointer.
            Kind::Add(a, b) if self.as_ptr(a).is_none() || self.as_ptr(b).is_none() => return None,
            // As memory does with what is stored: the value as it is.
            Kind::Extract(a, _) if self.width(a) == node.width() => return None,
            Kind::Read(_, index) => (None, Some(index)),
            Kind::Not(a) | Kind::Neg(a) | Kind::Extract(a, _) | Kind::Zext(a) | Kind::Sext(a) => (Some(a), None),
            Kind::Add(a, b) | Kind::Concat(a, b) | comparison!(a, b) => (Some(a), Some(b)),
            Kind::And(a, b) | Kind::Or(a, b) | Kind::Xor(a, b) | Kind::Mul(a, b) => (Some(a), Some(b)),
            Kind::Udiv(a, b) | Kind::Urem(a, b) | Kind::Sdiv(a, b) | Kind::Srem(a, b) => (Some(a), Some(b)),
            Kind::Shl(a, b) | Kind::Lshr(a, b) | Kind::Ashr(a, b) | Kind::Float(_, a, b) => (Some(a), Some(b)),
        };
        let (a, b) = (a.filter(|a| anchored(*a)), b.filter(|b| anchored(*b)));
        a.or(b)?;
        let (a, b) = (a.map(|a| self.unanchored(a)), b.map(|b| self.unanchored(b)));
        law!("f(ptr(b, k)) => f(b + k), f not a choice, sum or difference", self.with_operands(node, a, b))
    }

    /// The value without the objects of the anchored pointers it is or chooses.
    fn unanchored(&mut self, e: ExprId) -> ExprId {
        if !self.meta[e.index()].anchored {
            return e;
        }
        match (self.kind(e), self.as_u64(e)) {
            (_, Some(address)) => self.bits(64, address),
            (Kind::Ite(c, a, b), _) => {
                let (a, b) = (self.unanchored(a), self.unanchored(b));
                self.ite(c, a, b)
            }
            _ => e,
        }
    }

    /// Is it a constant or an anchored pointer?
    fn is_fixed(&self, e: ExprId) -> bool {
        self.is_const(e) || self.is_anchored(e)
    }

    /// The constant that facts leave as the only value.
    fn known_value(&mut self, node: Node) -> Option<ExprId> {
        let value = (node.width() <= 64).then(|| self.derive_facts(node).value())??;
        law!("x, whose bits are all known => constant", self.bits(node.width(), value))
    }

    /// Is it the constant 0?
    fn is_zero_const(&self, e: ExprId) -> bool {
        self.as_limbs(e).is_some_and(|limbs| limbs.iter().all(|&limb| limb == 0))
    }
    /// Is it the constant 1?
    fn is_one_const(&self, e: ExprId) -> bool {
        self.as_limbs(e).is_some_and(|limbs| limbs[0] == 1 && limbs[1..].iter().all(|&limb| limb == 0))
    }
    /// Is it the constant of all ones?
    fn is_ones_const(&self, e: ExprId) -> bool {
        self.as_limbs(e).is_some_and(|limbs| ones_below(limbs, self.width(e)) == self.width(e))
    }
    /// The `n` of a constant 2^n.
    fn power_of_two(&self, e: ExprId) -> Option<Width> {
        let limbs = self.as_limbs(e)?;
        let bits: u32 = limbs.iter().map(|limb| limb.count_ones()).sum();
        (bits == 1).then(|| trailing_zeros(limbs))
    }
    /// Are they each other's complement?
    fn complements(&self, a: ExprId, b: ExprId) -> bool {
        self.kind(a) == Kind::Not(b) || self.kind(b) == Kind::Not(a)
    }
    /// Is the top bit known to be 0?
    fn is_non_negative(&self, e: ExprId) -> bool {
        let width = self.width(e);
        matches!(self.kind(e), Kind::Zext(_)) || width <= 64 && self.known_bits(e).0 >> (width - 1) & 1 == 1
    }
}

/// The number of zeros below the lowest 1; all bits if there is none.
fn trailing_zeros(limbs: &[u64]) -> Width {
    let whole = limbs.iter().take_while(|&&limb| limb == 0).count();
    64 * whole as Width + limbs.get(whole).map_or(0, |limb| limb.trailing_zeros())
}

/// The number of ones below the lowest 0, at most the width.
fn ones_below(limbs: &[u64], width: Width) -> Width {
    let whole = limbs.iter().take_while(|&&limb| limb == u64::MAX).count();
    (64 * whole as Width + limbs.get(whole).map_or(0, |limb| limb.trailing_ones())).min(width)
}

/// The runs of equal bits, from bit 0 up: (bit value, length). Stops after `limit` runs with `None`.
fn runs(limbs: &[u64], width: Width, limit: usize) -> Option<Vec<(bool, Width)>> {
    let mut runs: Vec<(bool, Width)> = Vec::with_capacity(limit);
    for i in 0..width {
        let value = bit(limbs, i);
        if let Some((_, len)) = runs.last_mut().filter(|(last, _)| *last == value) {
            *len += 1;
        } else if runs.len() == limit {
            return None;
        } else {
            runs.push((value, 1));
        }
    }
    Some(runs)
}
