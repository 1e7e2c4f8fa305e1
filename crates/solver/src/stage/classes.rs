//! Classes: the values of a byte that no condition of a query tells apart.
//!
//! A condition on several bytes sees each of them through the largest expressions that depend on that byte alone: an entry of a scanner's table, a
//! comparison with a letter. Values for which all of these are equal form a class, and one of each class stands for the others in a search. Exact. The
//! 256 values of a byte that a parser reads are often thirty classes.
use rustc_hash::{FxHashMap, FxHashSet};

use wryneck_expr::visit::operands;
use wryneck_expr::{ExprId, Pool, SymId};

use crate::domain::Domain;
use crate::tables::Tables;

/// What it takes to split 256 values by an expression, in vectors.
const SPLIT: usize = 16;

/// The largest expressions below these that depend on one symbol alone and have at most 64 bits.
pub(crate) fn views(pool: &Pool, forms: impl Iterator<Item = ExprId>) -> Vec<(SymId, ExprId)> {
    let (mut views, mut seen, mut open) = (Vec::new(), FxHashSet::default(), Vec::new());
    open.extend(forms.filter(|form| seen.insert(*form)));
    while let Some(e) = open.pop() {
        match pool.support(e) {
            [] => {}
            &[symbol] if pool.width(e) <= 64 => views.push((symbol, e)),
            _ => open.extend(operands(pool, e).filter(|operand| seen.insert(*operand))),
        }
    }
    views
}

/// One value of each class among those of `domain`, the smallest, and how many vectors it took. `views`: what the conditions see of the symbol.
pub(crate) fn representatives(pool: &Pool, tables: &mut Tables, views: &[ExprId], symbol: SymId, domain: Domain) -> (Domain, usize) {
    let (mut class_of, mut first, mut work) = ([0_u8; 256], domain.min().into_iter().collect::<Vec<u8>>(), 0);
    for &view in views {
        if first.len() == domain.count() as usize {
            break;
        }
        let values = tables.values(pool, view, symbol);
        let mut split: FxHashMap<(u8, u64), u8> = FxHashMap::default();
        first.clear();
        for value in domain.iter() {
            let class = &mut class_of[usize::from(value)];
            *class = *split.entry((*class, values[usize::from(value)])).or_insert_with(|| {
                first.push(value);
                (first.len() - 1) as u8
            });
        }
        work += SPLIT;
    }
    let mut one_of_each = Domain::EMPTY;
    first.into_iter().for_each(|value| one_of_each.insert(value));
    (one_of_each, work)
}
