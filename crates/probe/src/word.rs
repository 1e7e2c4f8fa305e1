//! Which part of an address is the pointer, and what it is called.
//!
//! No type is relied on. The pointer is the term of the address's sum that looks most like one: a word that pointer arithmetic began with,
//! then any whole word of input, then any other term that is no scaled or widened index.

use std::rc::Rc;

use wryneck_exec::Cx;
use wryneck_expr::{ExprId, Kind, Pool, SymId};

use crate::data::Inputs;
use crate::{MARK, is_lazy};

/// How much a term looks like a pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Index,
    Other,
    Word,
    Base,
}

/// Whether an expression is eight bytes of input in their order.
fn is_word(pool: &Pool, e: ExprId) -> bool {
    let support = pool.support(e);
    pool.width(e) == 64
        && matches!(pool.kind(e), Kind::Concat(..))
        && support.len() == 8
        && support.iter().all(|s| pool.sym_info(*s).name == pool.sym_info(support[0]).name)
}

/// The terms of a sum.
fn terms(pool: &Pool, e: ExprId, all: &mut Vec<ExprId>) {
    match pool.kind(e) {
        Kind::Add(a, b) => {
            terms(pool, a, all);
            terms(pool, b, all);
        }
        Kind::Sub(a, _) => terms(pool, a, all),
        _ => all.push(e),
    }
}

/// Whether a term of a sum satisfies a condition; terms that lie very deep do not count.
pub(crate) fn any_term(pool: &Pool, e: ExprId, is_it: &dyn Fn(ExprId) -> bool) -> bool {
    fn any(pool: &Pool, e: ExprId, depth: u32, is_it: &dyn Fn(ExprId) -> bool) -> bool {
        match pool.kind(e) {
            Kind::Add(a, b) if depth < 64 => any(pool, a, depth + 1, is_it) || any(pool, b, depth + 1, is_it),
            Kind::Sub(a, _) if depth < 64 => any(pool, a, depth + 1, is_it),
            _ => is_it(e),
        }
    }
    any(pool, e, 0, is_it)
}

fn rank(pool: &Pool, inputs: &Inputs, term: ExprId) -> Rank {
    let word = is_word(pool, term);
    if pool.support(term).iter().min().is_some_and(|s| inputs.bases.contains(s)) {
        return Rank::Base;
    }
    match pool.kind(term) {
        _ if word => Rank::Word,
        Kind::Zext(_) | Kind::Sext(_) | Kind::Mul(..) | Kind::Shl(..) | Kind::Neg(_) | Kind::Const => Rank::Index,
        _ => Rank::Other,
    }
}

/// Whether a term of a sum is known to be a pointer.
pub(crate) fn has_pointer(e: ExprId, cx: &Cx<'_>) -> bool {
    let pool = &cx.core.pool;
    let mut all = Vec::new();
    terms(pool, e, &mut all);
    let inputs = cx.state.lazy::<Inputs>();
    let known = |term: &ExprId| {
        matches!(pool.kind(*term), Kind::PtrAdd(..)) || inputs.by_word.contains_key(term) || rank(pool, inputs, *term) == Rank::Base
    };
    all.iter().any(known)
}

/// The pointer in an address that is unbound, and the symbols of other words that look as much like one.
pub(crate) fn pointer(cx: &mut Cx<'_>, address: ExprId) -> (ExprId, Vec<SymId>) {
    let pool = &cx.core.pool;
    let mut all = Vec::new();
    terms(pool, address, &mut all);
    all.retain(|term| is_lazy(pool, *term));
    let inputs = cx.state.lazy::<Inputs>();
    // Of several words, one that the path knows to be null is an index, if pointer arithmetic did not begin with it.
    let is_null = |term: ExprId| pool.support(term).iter().all(|symbol| cx.state.path.fixed(*symbol) == Some(0));
    let words = all.iter().filter(|term| rank(pool, inputs, **term) >= Rank::Word).count();
    let best = all.iter().copied().rev().max_by_key(|term| {
        let rank = rank(pool, inputs, *term);
        (words < 2 || rank == Rank::Base || !is_null(*term), rank)
    });
    match best {
        Some(term) if rank(pool, inputs, term) >= Rank::Word => {
            let own = rank(pool, inputs, term);
            let others = all.iter().filter(|other| **other != term && rank(pool, inputs, **other) == own);
            (term, others.flat_map(|other| pool.support(*other).iter().copied()).collect())
        }
        // No part looks like a pointer: all but the constant is.
        _ => match pool.kind(address) {
            Kind::Add(a, b) if pool.as_u64(b).is_some() => (a, Vec::new()),
            Kind::Add(a, b) if pool.as_u64(a).is_some() => (b, Vec::new()),
            _ => (address, Vec::new()),
        },
    }
}

/// Notes that pointer arithmetic began with an address.
pub(crate) fn note_base(address: ExprId, cx: &mut Cx<'_>) {
    let pool = &cx.core.pool;
    if !is_word(pool, address) || !is_lazy(pool, address) {
        return;
    }
    let Some(&first) = pool.support(address).iter().min() else { return };
    if !cx.state.lazy::<Inputs>().bases.contains(&first) {
        Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().bases).insert(first);
    }
}

/// What a pointer is called: an argument, a variable, or a word of an object.
pub(crate) fn name(pool: &Pool, word: ExprId) -> String {
    if !is_word(pool, word) {
        let names = pool.support(word).iter().map(|s| pool.sym_info(*s)).find(|info| info.name.starts_with(MARK));
        return names.map_or("?".into(), |info| format!("{} (computed)", place(&info.name, info.index, 1)));
    }
    let infos = pool.support(word).iter().map(|s| pool.sym_info(*s));
    infos.min_by_key(|info| info.index as i32).map_or("?".into(), |info| place(&info.name, info.index, 8))
}

/// A word or byte of input: `lst` of an argument, `*lst[16]` of what it points to.
pub fn place(symbol: &str, index: u32, bytes: u32) -> String {
    let name = symbol.strip_prefix(MARK).unwrap_or(symbol);
    let whole = !name.starts_with('*') && index == 0 && bytes >= 4;
    if whole { name.to_owned() } else { format!("{name}[{}]", index as i32) }
}
