//! Which conditions are costly for the SAT solver: products, quotients, floating point, and hashes.
use rustc_hash::FxHashSet;
use wryneck_expr::visit::post_order;
use wryneck_expr::{ExprId, Kind, Pool};

use crate::tables::work_of;

/// Bits from which on products and quotients are costly.
const WIDE: u32 = 8;
/// Sums, differences and exclusive ors of two symbolic numbers that are costly together: a hash of a few bytes has more.
const MIXED: usize = 24;
/// Their bits.
const MIXED_WIDE: u32 = 16;

#[derive(Default)]
pub(crate) struct Costly {
    /// Wide products or quotients, or many sums of symbolic numbers.
    pub(crate) hash: bool,
    pub(crate) float: bool,
}

impl Costly {
    pub(crate) fn of(pool: &Pool, goal: ExprId) -> Costly {
        let mut costly = Costly::default();
        let mut mixed = 0;
        post_order(pool, &[goal], |e| match pool.kind(e) {
            Kind::Float(..) => costly.float = true,
            _ if is_product(pool, e) => costly.hash = true,
            _ => mixed += usize::from(is_mixed(pool, e)),
        });
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
        let elements = if let Kind::Read(array, _) = kind { pool.array_open(array) } else { &[] };
        let dear = matches!(kind, Kind::Float(..)) || is_product(pool, e);
        if !dear && kind.children().all(|child| cheap.contains(&child)) && elements.iter().all(|elem| cheap.contains(elem)) {
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
