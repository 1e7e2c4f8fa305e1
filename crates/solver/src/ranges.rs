//! Unsigned ranges of expressions on a path: interval arithmetic whose leaves are the path's byte domains.
//!
//! The interval kept with an expression holds on every path; here the symbols have only the values their domains leave them, so that "three
//! digits make a number below 1000" needs no solver. Sound, not complete: what an arm cannot bound falls back to the kept interval. Cost:
//! at most [`MOST_NODES`] visits, depth at most [`MOST_LEVELS`]; both only make the range wider.
use wryneck_expr::float;
use wryneck_expr::{ExprId, Kind, Pool, SymId};

use crate::path::PathCondition;

const MOST_NODES: u32 = 200;
const MOST_LEVELS: u32 = 24;
/// Elements of an array that an index may choose among.
const MOST_ELEMENTS: usize = 16;

/// Inclusive unsigned bounds.
pub type Range = (u64, u64);

/// The truth value that a 1-bit condition has under every model of the path, if ranges tell.
pub(crate) fn decided(pool: &Pool, pc: &PathCondition, cond: ExprId) -> Option<bool> {
    match (Ranges { pool, pc, visits: 0 }).of(cond, MOST_LEVELS) {
        (0, 0) => Some(false),
        (1, _) => Some(true),
        _ => None,
    }
}

/// Unsigned bounds, inclusive, of an expression of at most 64 bits on the path. The solver's backend is not asked.
pub fn bounds(pool: &Pool, pc: &PathCondition, e: ExprId) -> Range {
    (Ranges { pool, pc, visits: 0 }).of(e, MOST_LEVELS)
}

struct Ranges<'a> {
    pool: &'a Pool,
    pc: &'a PathCondition,
    visits: u32,
}

fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Ranges<'_> {
    /// Above 64 bits: `(0, u64::MAX)`, which no arm relies on.
    fn of(&mut self, e: ExprId, levels: u32) -> Range {
        let kept = self.pool.interval(e);
        self.visits += 1;
        if levels == 0 || kept.0 == kept.1 || self.visits > MOST_NODES || self.pool.width(e) > 64 {
            return kept;
        }
        let (lo, hi) = self.derive(e, levels - 1).unwrap_or(kept);
        // Both hold, so they meet on every path that can be taken.
        let meet = (lo.max(kept.0), hi.min(kept.1));
        if meet.0 <= meet.1 { meet } else { kept }
    }

    fn derive(&mut self, e: ExprId, levels: u32) -> Option<Range> {
        let width = self.pool.width(e);
        match self.pool.kind(e) {
            Kind::Sym(symbol) => self.symbol(symbol),
            Kind::Zext(a) => Some(self.of(a, levels)),
            Kind::Sext(a) => {
                let (lo, hi) = self.of(a, levels);
                (hi <= mask(self.pool.width(a)) >> 1).then_some((lo, hi))
            }
            Kind::Concat(high, low) => {
                let by = self.pool.width(low);
                let ((a, b), (c, d)) = (self.of(high, levels), self.of(low, levels));
                Some((a << by | c, b << by | d))
            }
            Kind::Extract(a, low) if self.pool.width(a) <= 64 => {
                let (lo, hi) = self.of(a, levels);
                // What lies above is the same, so the order is that of the part.
                let above = |value: u64| (value >> low) & !mask(width);
                (above(lo) == above(hi)).then_some((lo >> low & mask(width), hi >> low & mask(width)))
            }
            Kind::Ite(c, a, b) => Some(match self.of(c, levels) {
                (0, 0) => self.of(b, levels),
                (1, _) => self.of(a, levels),
                _ => {
                    let ((a, b), (c, d)) = (self.of(a, levels), self.of(b, levels));
                    (a.min(c), b.max(d))
                }
            }),
            Kind::Not(a) => {
                let (lo, hi) = self.of(a, levels);
                Some((!hi & mask(width), !lo & mask(width)))
            }
            Kind::Add(a, b)
            | Kind::Sub(a, b)
            | Kind::Mul(a, b)
            | Kind::Udiv(a, b)
            | Kind::Urem(a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b) => {
                let (a, b) = (self.of(a, levels), self.of(b, levels));
                arithmetic(self.pool.kind(e), width, a, b)
            }
            Kind::Eq(a, b) if self.is_excluded(a, b) || self.is_excluded(b, a) => Some((0, 0)),
            Kind::Eq(a, b) | Kind::Ult(a, b) | Kind::Ule(a, b) | Kind::Slt(a, b) | Kind::Sle(a, b) if self.pool.width(a) <= 64 => {
                let width = self.pool.width(a);
                let (a, b) = (self.of(a, levels), self.of(b, levels));
                comparison(self.pool.kind(e), width, a, b)
            }
            Kind::Eq(..) | Kind::Ult(..) | Kind::Ule(..) | Kind::Slt(..) | Kind::Sle(..) | Kind::Extract(..) => None,
            Kind::Const | Kind::Neg(_) | Kind::Xor(..) | Kind::Sdiv(..) | Kind::Srem(..) | Kind::Shl(..) => None,
            Kind::Read(array, index) => {
                let (lo, hi) = self.of(index, levels);
                let elems = self.pool.array_elems(array);
                let chosen = elems.get(lo as usize..=usize::try_from(hi).ok()?).filter(|chosen| chosen.len() <= MOST_ELEMENTS)?;
                chosen.iter().map(|&elem| self.of(elem, levels)).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
            }
            Kind::Float(op, a, b) if width <= 64 && self.pool.width(a) <= 64 => {
                let bounds = (self.of(a, levels), if op.is_binary() { self.of(b, levels) } else { (0, 0) });
                float::bounds(op, self.pool.width(a), width, bounds.0, bounds.1)
            }
            Kind::Lshr(..) | Kind::Ashr(..) | Kind::PtrAdd(..) | Kind::Float(..) => None,
        }
    }

    fn symbol(&self, symbol: SymId) -> Option<Range> {
        let Some(domain) = self.pc.domain(symbol) else {
            return self.pc.fixed(symbol).map(|value| (value, value));
        };
        Some((domain.min()?.into(), domain.max()?.into()))
    }

    /// Whether this is a symbol whose domain lacks this constant: it may lie between two that the domain has.
    fn is_excluded(&self, symbol: ExprId, constant: ExprId) -> bool {
        let Kind::Sym(symbol) = self.pool.kind(symbol) else { return false };
        let value = self.pool.as_u64(constant).and_then(|value| u8::try_from(value).ok());
        value.is_some_and(|value| self.pc.domain(symbol).is_some_and(|domain| !domain.contains(value)))
    }
}

/// The range of a binary operator at `width` bits from its operands'.
fn arithmetic(kind: Kind, width: u32, (a, b): Range, (c, d): Range) -> Option<Range> {
    let most = mask(width);
    match kind {
        Kind::Add(..) => {
            let wrapped = |x: u64, y: u64| u128::from(x) + u128::from(y) > u128::from(most);
            // Either no sum wraps, or all do.
            (wrapped(a, c) == wrapped(b, d)).then_some((a.wrapping_add(c) & most, b.wrapping_add(d) & most))
        }
        Kind::Sub(..) => ((a >= d) == (b >= c)).then_some((a.wrapping_sub(d) & most, b.wrapping_sub(c) & most)),
        Kind::Mul(..) => (u128::from(b) * u128::from(d) <= u128::from(most)).then(|| (a * c, b * d)),
        Kind::Udiv(..) => (c > 0).then(|| (a / d, b / c)),
        Kind::Urem(..) => match () {
            () if b < c => Some((a, b)),
            () if c > 0 => Some((0, (d - 1).min(b))),
            () => None,
        },
        Kind::And(..) => Some((0, b.min(d))),
        Kind::Or(..) => Some((a.max(c), most)),
        _ => None,
    }
}

/// The range of a comparison of operands of `width` bits.
fn comparison(kind: Kind, width: u32, a: Range, b: Range) -> Option<Range> {
    // Signed order is unsigned order with the sign bits inverted, unless a range holds values of both signs.
    let sign = 1 << (width - 1);
    let biased = |(lo, hi): Range| (lo ^ sign <= hi ^ sign && (lo & sign) == (hi & sign)).then_some((lo ^ sign, hi ^ sign));
    let less = |(a, b): Range, (c, d): Range| known(b < c, a >= d);
    let less_or_equal = |(a, b): Range, (c, d): Range| known(b <= c, a > d);
    match kind {
        Kind::Eq(..) => known(a.0 == a.1 && a == b, a.1 < b.0 || b.1 < a.0),
        Kind::Ult(..) => less(a, b),
        Kind::Ule(..) => less_or_equal(a, b),
        Kind::Slt(..) => less(biased(a)?, biased(b)?),
        Kind::Sle(..) => less_or_equal(biased(a)?, biased(b)?),
        _ => None,
    }
}

fn known(always: bool, never: bool) -> Option<Range> {
    match (always, never) {
        (true, _) => Some((1, 1)),
        (_, true) => Some((0, 0)),
        (false, false) => None,
    }
}
