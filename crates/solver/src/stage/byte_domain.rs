//! Byte domain: a condition on one symbol of at most 8 bits against the values the path leaves that symbol.
//!
//! Exact when the symbol shares no constraint with another: then the domain is the whole truth. Otherwise it can only refute. Cost: one
//! trie look-up, one table look-up and four word operations; a refutation also looks at each constraint on the symbol once.
use wryneck_expr::{Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::{Item, Query};
use crate::solver::Solver;
use crate::tables::Tables;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let symbol = Tables::byte_symbol(pool, query.goal)?;
    let table = solver.tables.get(pool, query.goal, symbol);
    let Some(domain) = query.pc.domain(symbol) else {
        return Some(match table.min() {
            Some(value) => query.sat(&[(symbol, u64::from(value))]),
            None => query.unsat(pool, []),
        });
    };
    match table.and(domain).min() {
        None => Some(refute(solver, pool, query, symbol, table)),
        Some(value) if query.pc.group_of(symbol).is_some_and(|group| group.symbols.len() == 1) => {
            Some(query.sat(&[(symbol, u64::from(value))]))
        }
        Some(_) => None,
    }
}

/// A core none of whose members can be left out: each constraint is dropped if the kept ones before it and all after it still leave the
/// goal's table nothing.
fn refute(solver: &mut Solver, pool: &Pool, query: &Query<'_>, symbol: SymId, table: Domain) -> Answer {
    let group = query.pc.group_of(symbol).into_iter().flat_map(|group| group.iter());
    let alone: Vec<(Item, Domain)> = group
        .filter(|&(_, constraint)| pool.support(constraint) == [symbol])
        .map(|(index, form)| (Item { index, form }, solver.tables.get(pool, form, symbol)))
        .collect();
    let mut after = vec![table; alone.len() + 1];
    for (i, (_, values)) in alone.iter().enumerate().rev() {
        after[i] = after[i + 1].and(*values);
    }
    let mut kept = Vec::new();
    let mut before = table;
    for (i, (item, values)) in alone.iter().enumerate() {
        if !before.and(after[i + 1]).is_empty() {
            kept.push(*item);
            before = before.and(*values);
        }
    }
    query.unsat(pool, kept)
}
