//! Which conditions are costly for the SAT solver: products, quotients, floating point, and hashes.
use rustc_hash::FxHashSet;
use wryneck_expr::visit::{operands, post_order, top_down};
use wryneck_expr::{ExprId, Kind, Pool};

use crate::tables::work_of;

/// Bits from which on products and quotients are costly.
const WIDE: u32 = 8;
/// Sums, differences and exclusive ors of two symbolic numbers that are costly together: a hash of a few bytes has more.
const MIXED: usize = 24;
/// Their bits.
const MIXED_WIDE: u32 = 16;

/// Nodes of a goal that are looked at. One that has more is costly: texts at positions that depend on input have tens of thousands.
const MOST_NODES: usize = 4_096;

#[derive(Default)]
pub(crate) struct Costly {
    /// Wide products or quotients, many sums of symbolic numbers, or more than [`MOST_NODES`] nodes.
    pub(crate) hash: bool,
    /// A sweep of it is costly, too: floating point, or more than [`MOST_NODES`] nodes.
    pub(crate) sweep: bool,
}

impl Costly {
    /// Cost: at most [`MOST_NODES`] nodes.
    pub(crate) fn of(pool: &Pool, goal: ExprId) -> Costly {
        let (mut costly, mut mixed) = (Costly::default(), 0);
        let is_all = top_down(pool, &[goal], MOST_NODES, |e| {
            match pool.kind(e) {
                Kind::Float(..) => costly.sweep = true,
                _ if is_product(pool, e) => costly.hash = true,
                _ => mixed += usize::from(is_mixed(pool, e)),
            }
            true
        });
        if !is_all {
            return Costly { hash: true, sweep: true };
        }
        costly.hash |= mixed >= MIXED;
        costly
    }
}

/// Is it a wide product, quotient or remainder?
fn is_product(pool: &Pool, e: ExprId) -> bool {
    let is_one = matches!(pool.kind(e), Kind::Mul(..) | Kind::Udiv(..) | Kind::Urem(..) | Kind::Sdiv(..) | Kind::Srem(..));
    is_one && pool.width(e) >= WIDE
}

/// Those of the expressions that have no product or floating-point operation in them.
pub(super) fn cheap(pool: &Pool, all: &[ExprId]) -> FxHashSet<ExprId> {
    let mut cheap = FxHashSet::default();
    post_order(pool, all, |e| {
        let kind = pool.kind(e);
        let dear = matches!(kind, Kind::Float(..)) || is_product(pool, e);
        if !dear && operands(pool, e).all(|operand| cheap.contains(&operand)) {
            cheap.insert(e);
        }
    });
    cheap
}

/// Is it a sum, a difference or an exclusive or of two symbolic numbers?
pub(super) fn is_mixed(pool: &Pool, e: ExprId) -> bool {
    match pool.kind(e) {
        Kind::Add(a, b) | Kind::Sub(a, b) | Kind::Xor(a, b) => {
            pool.width(e) >= MIXED_WIDE && !pool.support(a).is_empty() && !pool.support(b).is_empty()
        }
        _ => false,
    }
}

/// What a sweep of these expressions costs: its nodes, elements of arrays included.
pub(super) fn work(pool: &Pool, all: &[ExprId]) -> usize {
    let mut work = 0;
    post_order(pool, all, |e| work += work_of(pool, e));
    work
}
