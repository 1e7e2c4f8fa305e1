//! Implied values: parts of an address that equalities on the path make constant.
//!
//! A copy loop whose length is input ends with `length == 7` on the path. Pointers computed from the length have one value then, but their
//! expressions do not show it, and each access would ask the solver for its bounds. KLEE rewrites expressions by such equalities, too
//! (OSDI 2008, section 3.3, "implied value concretization"). Here only addresses are rewritten, when they are used.
//!
//! A part over one byte is also constant where the values that the path leaves the byte leave the part one: after `c != 0xef` a pointer to which
//! a compiler added `c == 0xef` leads to one place, and what is read there depends on that place alone.
//!
//! The result depends on the path condition alone: the model is a guess of the constant, and the path has the equality or not. Pruning
//! turns it off, because a slice would not see that an access depends on the branch that asserted the equality.
//! Cost: at most [`MOST_NODES`] nodes, each evaluated, looked up in its group of constraints, and rebuilt; of a part over one byte, its range. No query.

use rustc_hash::FxHashSet;
use wryneck_expr::subst::Substitution;
use wryneck_expr::visit::operands;
use wryneck_expr::{ExprId, Kind};
use wryneck_solver::{Tables, ranges};

use crate::step::cx::Cx;

/// Nodes of an address above its constant parts. One that has more is left as it is.
const MOST_NODES: usize = 64;

/// An address, or an offset into an object, with its implied parts as constants.
pub(super) fn value(cx: &mut Cx<'_>, e: ExprId) -> ExprId {
    if !cx.core.config.implied_values {
        return e;
    }
    match cx.core.pool.support(e).len() {
        0 => return e,
        // Tables are read at such offsets: the parts of most have more than one value.
        1 => return of_byte(cx, e).unwrap_or(e),
        _ => {}
    }
    let (mut substitution, mut is_same) = (Substitution::new(), true);
    let (mut open, mut seen) = (vec![e], FxHashSet::default());
    while let Some(part) = open.pop() {
        if cx.core.pool.support(part).is_empty() || !seen.insert(part) {
            continue;
        }
        // What is rebuilt is what was looked at.
        if seen.len() > MOST_NODES {
            return e;
        }
        if let Some(value) = constant(cx, part) {
            is_same = false;
            substitution.replace(part, value);
            continue;
        }
        open.extend(operands(&cx.core.pool, part));
    }
    if is_same { e } else { substitution.apply(&mut cx.core.pool, e) }
}

/// The constant that a part equals on this path, if one of the constraints says so.
fn constant(cx: &mut Cx<'_>, part: ExprId) -> Option<ExprId> {
    let width = cx.core.pool.width(part);
    if width > 64 || matches!(cx.core.pool.kind(part), Kind::PtrAdd(..)) {
        return None;
    }
    if let Kind::Sym(symbol) = cx.core.pool.kind(part) {
        let value = cx.state.path.fixed(symbol)?;
        return Some(cx.core.pool.bits(width, value));
    }
    if let Some(value) = of_byte(cx, part) {
        return Some(value);
    }
    let guess = cx.core.eval.eval(&cx.core.pool, part, &cx.state.model);
    let guess = cx.core.pool.bits(width, guess);
    let equal = cx.core.pool.eq(part, guess);
    cx.state.path.contains(&cx.core.pool, equal).then_some(guess)
}

/// The constant that a part over one byte equals for all values that the path leaves the byte, if ranges tell.
fn of_byte(cx: &mut Cx<'_>, part: ExprId) -> Option<ExprId> {
    let width = cx.core.pool.width(part);
    if width > 64 || Tables::byte_symbol(&cx.core.pool, part).is_none() {
        return None;
    }
    let (lo, hi) = ranges::bounds(&cx.core.pool, &cx.state.path, part);
    (lo == hi).then(|| cx.core.pool.bits(width, lo))
}
