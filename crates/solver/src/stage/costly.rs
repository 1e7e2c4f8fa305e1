//! Which constraints are costly for the SAT solver: products, quotients, floating point, and hashes.
use wryneck_expr::visit::post_order;
use wryneck_expr::{ExprId, Kind, Pool};

/// Bits from which on products and quotients are costly.
const WIDE: u32 = 8;
/// Sums, differences and exclusive ors of two symbolic numbers that are costly together: a hash of a few bytes has more.
const MIXED: usize = 24;
/// Their bits.
const MIXED_WIDE: u32 = 16;

/// What a vector of floating-point operations costs, in vectors of others.
const FLOAT_WORK: usize = 32;

#[derive(Default)]
pub(super) struct Costly {
    /// Wide products or quotients, or many sums of symbolic numbers.
    pub(super) hash: bool,
    pub(super) float: bool,
}

impl Costly {
    pub(super) fn of(pool: &Pool, assertions: &[ExprId]) -> Costly {
        let mut costly = Costly::default();
        let mut mixed = 0;
        post_order(pool, assertions, |e| match pool.kind(e) {
            Kind::Float(..) => costly.float = true,
            Kind::Mul(..) | Kind::Udiv(..) | Kind::Urem(..) | Kind::Sdiv(..) | Kind::Srem(..) => costly.hash |= pool.width(e) >= WIDE,
            Kind::Add(a, b) | Kind::Sub(a, b) | Kind::Xor(a, b) if pool.width(e) >= MIXED_WIDE => {
                mixed += usize::from(!pool.support(a).is_empty() && !pool.support(b).is_empty());
            }
            _ => {}
        });
        costly.hash |= mixed >= MIXED;
        costly
    }
}

/// What a sweep of an expression costs: its nodes, elements of arrays included.
pub(super) fn work(pool: &Pool, e: ExprId) -> usize {
    let mut work = 0;
    post_order(pool, &[e], |e| work += if matches!(pool.kind(e), Kind::Float(..)) { FLOAT_WORK } else { 1 });
    work
}
