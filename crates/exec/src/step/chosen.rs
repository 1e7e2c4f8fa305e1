//! What a choice among addresses of objects and constants may point to, whatever the path's state: read off once, and kept for all paths.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Kind, Pool};

use super::resolve::{Key, MOST_DEPTH, MOST_NODES, Target, either};
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
    if let Some((base, offset)) = pool.as_ptr(e) {
        return Some(vec![Target { key: Key::Object(base), cond: ExprId::TRUE, offset }]);
    }
    if let Some(addr) = pool.as_u64(e) {
        return Some(vec![Target { key: Key::Address(addr), cond: ExprId::TRUE, offset: e }]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use wryneck_expr::{Evaluator, Model};

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
                let model = Model::empty().with(&[(symbol, value)]);
                let mut eval = Evaluator::default();
                let held: Vec<_> = targets.iter().filter(|t| eval.eval(&pool, t.cond, &model) == 1).collect();
                let [target] = held[..] else { panic!("{turn} {value}: {held:?} of {targets:?}") };
                let offset = eval.eval(&pool, target.offset, &model);
                let addr = match target.key {
                    Key::Object(base) => base.wrapping_add(offset),
                    _ => offset,
                };
                assert_eq!(addr, eval.eval(&pool, choice, &model));
            }
        }
    }
}
