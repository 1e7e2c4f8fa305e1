//! What a choice among addresses of objects and constants may point to, whatever the path's state: read off once, and kept for all paths.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Kind, Pool};

use super::resolve::{Key, MOST_DEPTH, MOST_NODES, Target, either};
use super::table::Offset;
use crate::step::cx::Cx;

/// The targets of a choice, sorted by key, each key once; a constant is an address without an object. `None`: there is another pointer among
/// them, or there are too many.
pub(super) fn chosen(cx: &mut Cx<'_>, choice: ExprId) -> Option<Rc<[Target]>> {
    if let Some(known) = cx.core.memo.targets(choice) {
        return known;
    }
    let targets = read_off(&mut cx.core.pool, choice, &mut FxHashMap::default(), 0).map(Rc::from);
    cx.core.memo.keep_targets(choice, targets.clone());
    targets
}

/// From the leaves up: the condition of a leaf is often an equality, which implies the conditions above it.
fn read_off(pool: &mut Pool, e: ExprId, known: &mut FxHashMap<ExprId, Vec<Target>>, depth: u32) -> Option<Vec<Target>> {
    if let Some(target) = leaf(pool, e) {
        return Some(vec![target]);
    }
    if let Some(known) = known.get(&e) {
        return Some(known.clone());
    }
    let (c, a, b) = match pool.kind(e) {
        Kind::Ite(c, a, b) => (c, a, b),
        _ => pool.as_choice_of_constants(e)?,
    };
    if known.len() >= MOST_NODES || depth >= MOST_DEPTH {
        return None;
    }
    let (a, b) = (read_off(pool, a, known, depth + 1)?, read_off(pool, b, known, depth + 1)?);
    let targets = either(pool, c, &a, &b);
    known.insert(e, targets.clone());
    Some(targets)
}

/// What a pointer with a base points to, or a constant.
fn leaf(pool: &Pool, e: ExprId) -> Option<Target> {
    if let Some((base, offset)) = pool.as_ptr(e) {
        return Some(Target { key: Key::Object(base), cond: ExprId::TRUE, offset });
    }
    pool.as_u64(e).map(|addr| Target { key: Key::Address(addr), cond: ExprId::TRUE, offset: e })
}

/// Keeps what an element of a table points to, one of these words at these values of its offset, which has no others. The words tell it in less time
/// than the element: there, each word has the conditions of all choices above it.
pub(super) fn keep_element(cx: &mut Cx<'_>, element: ExprId, offset: &Offset, words: &[(u64, ExprId)]) {
    if matches!(cx.core.pool.kind(element), Kind::Ite(..))
        && let Some(targets) = of_words(cx, offset, words)
    {
        cx.core.memo.keep_targets(element, Some(Rc::from(targets)));
    }
}

/// What one of the words at values of an offset points to, and which of them it is.
type There = (usize, Target);

/// The targets of words at values of an offset, both in order. `None`: one of them may be another pointer.
fn of_words(cx: &mut Cx<'_>, offset: &Offset, words: &[(u64, ExprId)]) -> Option<Vec<Target>> {
    let mut groups: BTreeMap<Key, Vec<There>> = BTreeMap::new();
    for (at, &(_, word)) in words.iter().enumerate() {
        let pool = &cx.core.pool;
        if let Some(target) = leaf(pool, word) {
            groups.entry(target.key).or_default().push((at, target));
        } else {
            chosen(cx, word)?.iter().for_each(|target| groups.entry(target.key).or_default().push((at, *target)));
        }
    }
    Some(joined(&mut cx.core.pool, offset, &words.iter().map(|(value, _)| *value).collect::<Vec<_>>(), groups))
}

/// One target for each key, of what the words at these values of an offset point to.
fn joined(pool: &mut Pool, offset: &Offset, values: &[u64], groups: BTreeMap<Key, Vec<There>>) -> Vec<Target> {
    let target = |(key, group): (Key, Vec<There>)| {
        let cond = is_one_of(pool, offset, values, 0, &group);
        Target { key, cond, offset: inside(pool, offset, values, &group) }
    };
    groups.into_iter().map(target).collect()
}

/// Whether the offset is the value of one of a group, and that one points there. It is one of `values`, the first of which has the place `first`.
fn is_one_of(pool: &mut Pool, offset: &Offset, values: &[u64], first: usize, group: &[There]) -> ExprId {
    match group {
        [] => ExprId::FALSE,
        [(_, target)] if values.len() == 1 => target.cond,
        [(at, target)] => {
            let here = offset.is(pool, values[at - first]);
            pool.and(here, target.cond)
        }
        _ if group.len() == values.len() && group.iter().all(|(_, target)| target.cond == ExprId::TRUE) => ExprId::TRUE,
        _ => {
            let middle = values.len() / 2;
            let (low, high) = group.split_at(group.partition_point(|(at, _)| *at < first + middle));
            let low = is_one_of(pool, offset, &values[..middle], first, low);
            let high = is_one_of(pool, offset, &values[middle..], first + middle, high);
            let below = offset.is_below(pool, values[middle]);
            pool.ite(below, low, high)
        }
    }
}

/// The offset inside the object of a group, which is not empty.
fn inside(pool: &mut Pool, offset: &Offset, values: &[u64], group: &[There]) -> ExprId {
    let (_, first) = group[0];
    if group.iter().all(|(_, target)| target.offset == first.offset) {
        return first.offset;
    }
    let (left, right) = group.split_at(group.len() / 2);
    let (low, high) = (inside(pool, offset, values, left), inside(pool, offset, values, right));
    let below = offset.is_below(pool, values[right[0].0]);
    pool.ite(below, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wryneck_expr::{Evaluator, Model};

    /// Exactly one target's condition holds under the model, and that target is the pointer's.
    fn check(pool: &Pool, targets: &[Target], pointer: ExprId, model: &Model) {
        let mut eval = Evaluator::default();
        let held: Vec<_> = targets.iter().filter(|t| eval.eval(pool, t.cond, model) == 1).collect();
        let [target] = held[..] else { panic!("{held:?} of {targets:?}") };
        let offset = eval.eval(pool, target.offset, model);
        let addr = match target.key {
            Key::Object(base) => base.wrapping_add(offset),
            _ => offset,
        };
        assert_eq!(addr, eval.eval(pool, pointer, model), "of {targets:?}");
    }

    /// At each value of the offset exactly one target's condition holds, and it is the word's; also of words that repeat.
    #[test]
    fn the_targets_of_random_tables_are_those_of_their_words() {
        let mut random = crate::ground::random(12);
        for turn in 0..300 {
            let mut pool = Pool::new();
            let symbol = pool.symbol("in", 0, 8);
            let input = pool.sym(symbol);
            let count = 2 + random(if turn % 3 == 0 { 4 } else { 40 });
            let (index, most) = (pool.zext(input, 64), pool.bits(64, count as u64));
            let (index, eight) = (pool.urem(index, most), pool.bits(64, 8));
            let offset = pool.mul(index, eight);
            let kinds = 1 + random(12);
            let (odd, input8) = (pool.extract(input, 0, 1), pool.zext(input, 64));
            let mut word = |at: usize| {
                let word = match random(kinds) {
                    11 => {
                        let (object, zero) = (pool.ptr(0x10_0200, input8), pool.bits(64, 0));
                        pool.ite(odd, object, zero)
                    }
                    0 => pool.bits(64, 0),
                    1 => pool.bits(64, 0x1000 + 16 * random(2) as u64),
                    kind => {
                        let inside = pool.bits(64, 8 * random(2) as u64);
                        pool.ptr(0x10_0000 + 0x100 * kind as u64, inside)
                    }
                };
                (8 * at as u64, word)
            };
            let words: Vec<_> = (0..count).map(&mut word).collect();
            let mut groups: BTreeMap<Key, Vec<There>> = BTreeMap::new();
            for (at, (_, word)) in words.iter().enumerate() {
                let there = read_off(&mut pool, *word, &mut FxHashMap::default(), 0).expect("all are addresses");
                there.into_iter().for_each(|target| groups.entry(target.key).or_default().push((at, target)));
            }
            let values: Vec<u64> = words.iter().map(|(value, _)| *value).collect();
            let by = Offset::of(&pool, offset);
            let targets = joined(&mut pool, &by, &values, groups);
            assert!(targets.windows(2).all(|w| w[0].key < w[1].key));
            for value in 0..=255u64 {
                check(&pool, &targets, words[value as usize % count].1, &Model::empty().with(&[(symbol, value)]));
            }
        }
    }

    /// For each value of the input exactly one target's condition holds, and it is the pointer's; with and without shared parts.
    #[test]
    fn the_targets_of_random_choices_are_those_of_their_values() {
        let mut random = crate::ground::random(11);
        for turn in 0..400 {
            let mut pool = Pool::new();
            let symbol = pool.symbol("in", 0, 8);
            let input = pool.sym(symbol);
            let mut nodes: Vec<ExprId> = (0..6).map(|at| pool.bits(64, 0x1000 + 0x10 * at)).collect();
            for base in [0x10_0000, 0x20_0000] {
                let (at, wide) = (pool.bits(64, random(64) as u64), pool.zext(input, 64));
                nodes.push(pool.ptr(base, if random(2) == 0 { at } else { wide }));
            }
            for _ in 0..1 + random(40) {
                let bound = pool.bits(8, random(256) as u64);
                let cond = pool.ult(input, bound);
                let mut choose = |nodes: &mut Vec<ExprId>| {
                    let at = random(nodes.len());
                    if turn % 2 == 0 && at >= 8 { nodes.swap_remove(at) } else { nodes[at] }
                };
                let (a, b) = (choose(&mut nodes), choose(&mut nodes));
                nodes.push(pool.ite(cond, a, b));
            }
            let choice = *nodes.last().expect("there are leaves");
            let targets = read_off(&mut pool, choice, &mut FxHashMap::default(), 0).expect("all are addresses");
            assert!(targets.windows(2).all(|w| w[0].key < w[1].key));
            for value in 0..=255 {
                check(&pool, &targets, choice, &Model::empty().with(&[(symbol, value)]));
            }
        }
    }
}
