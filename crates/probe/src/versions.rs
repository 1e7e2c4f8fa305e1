//! Values that a skipped call may have changed: their symbols have a number behind their name (`flag#1`), and so do the results of skipped calls.

use wryneck_exec::Cx;
use wryneck_expr::{ExprId, Pool, SymId};

use crate::data::Inputs;
use crate::{MARK, grade};

/// Whether the path's latest test comes out as it does only because a skipped call has changed what was tested before, or because two skipped calls of a
/// function gave different results; in words. Asks the solver.
pub(crate) fn disagree(cx: &mut Cx<'_>) -> Option<String> {
    let inputs = cx.state.lazy::<Inputs>();
    let (tests, of_loops) = (inputs.small_tests.clone(), inputs.of_loops.clone());
    let (last, before) = tests.split_last()?;
    let pool = &cx.core.pool;
    let mut earlier: Vec<SymId> = before.iter().flat_map(|test| pool.support(test.cond).iter().copied()).collect();
    earlier.sort_unstable();
    earlier.dedup();
    let mut pairs = Vec::new();
    for new in pool.support(last.cond).iter().copied().filter(|new| !of_loops.contains(new)) {
        let Some((name, version)) = version(pool, new) else { continue };
        let is_earlier = |old: &SymId| {
            let info = pool.sym_info(*old);
            let of = self::version(pool, *old);
            let same_name = of.map_or(&*info.name == name, |(other, number)| other == name && number < version);
            same_name && info.index == pool.sym_info(new).index
        };
        pairs.extend(earlier.iter().rev().find(|old| is_earlier(old)).map(|old| (*old, new)));
    }
    let (_, new) = *pairs.first()?;
    let name = version(pool, new)?.0.trim_start_matches(MARK).to_owned();
    let mut same = ExprId::TRUE;
    for (old, new) in pairs {
        let pool = &mut cx.core.pool;
        let (old, new) = (pool.sym(old), pool.sym(new));
        let equal = pool.eq(old, new);
        same = pool.and(same, equal);
    }
    let all: Vec<ExprId> = tests.iter().map(|test| test.cond).collect();
    if !grade::excludes(&all, same, cx) {
        return None;
    }
    Some(match name.ends_with("()") {
        true => format!("two calls of `{name}`, which is skipped, would have to give different results"),
        false => format!("a skipped call would have to change `{name}`"),
    })
}

/// A symbol's name without its number, and the number; `None`: it has none.
fn version(pool: &Pool, symbol: SymId) -> Option<(&str, u32)> {
    let (name, number) = pool.sym_info(symbol).name.rsplit_once('#')?;
    Some((name, number.parse().ok()?))
}
