//! The slots whose values at an immediate post-dominator depend on the path taken to it. A copy on an edge makes no difference if all edges
//! copy the same value.

use wryneck_ir::{Function, Module};

use super::bits::BitSet;
use super::cfg::Cfg;
use crate::operand::slots_written;

/// By number of a slot that edges copy to: the slot at the branch whose value it holds, or that this depends on the path. Any other slot
/// is unchanged.
type Held = Vec<u32>;
const DEPENDS: u32 = u32::MAX;

/// The slots whose values at the immediate post-dominator of the branch that ends `block` depend on the path to it. Slots that operations write on
/// some path are included. Cost: two passes over the blocks in between, and one per level of nested loops.
pub fn differing(module: &Module, function: &Function, cfg: &Cfg, block: u32, join: u32) -> BitSet {
    let edges = &cfg.blocks[block as usize].edges;
    let between = cfg.reachable(edges.iter().map(|(_, to)| *to), Some(join));
    let arrives = cfg.arriving(&between, Some(join));
    let mut written = BitSet::default();
    for b in between.iter().filter(|b| arrives[**b as usize]) {
        let ops = cfg.blocks[*b as usize].ops.clone();
        ops.for_each(|op| written.extend(slots_written(module, &module.insts[(cfg.first_inst + op) as usize])));
    }
    let records = module.edges.range(function.edges);
    let copies = |edge: u32| module.copies.range(records[edge as usize].copies);
    let onward = |from: u32| cfg.blocks[from as usize].edges.iter().filter(|(_, to)| *to == join || arrives[*to as usize]);
    let order: Vec<u32> = cfg.forward().iter().copied().filter(|b| *b == block || arrives[*b as usize]).collect();
    let mut slots: Vec<u32> = order.iter().flat_map(|b| onward(*b)).flat_map(|(edge, _)| copies(*edge)).map(|copy| copy.dst).collect();
    slots.sort_unstable();
    slots.dedup();
    let number = |slot: u32| slots.binary_search(&slot).ok();
    let value = |held: &Held, slot: u32| match number(slot) {
        _ if written.contains(slot) => DEPENDS,
        Some(number) => held[number],
        None => slot,
    };
    let mut at: Vec<Option<Held>> = vec![None; cfg.blocks.len()];
    at[block as usize] = Some(slots.clone());
    let mut todo = vec![false; cfg.blocks.len()];
    todo[block as usize] = true;
    while order.iter().any(|b| todo[*b as usize]) {
        for &from in &order {
            let Some(held) = at[from as usize].clone().filter(|_| std::mem::take(&mut todo[from as usize])) else { continue };
            for (edge, to) in onward(from) {
                let mut new = held.clone();
                for copy in copies(*edge) {
                    number(copy.dst).into_iter().for_each(|number| new[number] = value(&held, copy.src));
                }
                todo[*to as usize] |= match &mut at[*to as usize] {
                    Some(known) => merge(known, &new),
                    none => none.replace(new).is_none(),
                };
            }
        }
    }
    let depends = at[join as usize].iter().flatten().zip(&slots).filter(|(held, _)| **held == DEPENDS).map(|(_, slot)| *slot);
    written.extend(depends);
    written
}

/// Merges the slot values of two paths. Returns whether less is known than in `held`.
fn merge(held: &mut Held, other: &Held) -> bool {
    let differ = held.iter_mut().zip(other).filter(|(held, other)| held != other && **held != DEPENDS);
    differ.map(|(held, _)| *held = DEPENDS).count() > 0
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::cfg::Unknown;
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }
    }

    fn parsed(text: &str) -> (Module, Cfg) {
        let module = wryneck_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let cfg = Cfg::new(&module, &module.functions[0], &Unknown);
        (module, cfg)
    }

    /// Blocks that lead anywhere, by edges that copy among four slots; some write one.
    fn program(random: &mut Random) -> String {
        let mut text = "func strong @f(%a: 64, %b: 64, %c: 64, %d: 64, %way: 1) -> 64 {\nentry: br l0\n".to_owned();
        let blocks = 3 + random.below(6);
        for block in 0..blocks {
            write!(text, "l{block}: ").expect("text grows");
            if random.below(4) == 0 {
                let to = ["a", "b", "c", "d"][random.below(4) as usize];
                write!(text, "%{to} = add.64 %{to}, {block} ").expect("text grows");
            }
            let edge = |random: &mut Random| {
                let to = if random.below(5) == 0 { random.below(blocks) } else { (block + 1 + random.below(2)).min(blocks) };
                let slots = ["%a", "%b", "%c", "%d", "7"];
                let copies: Vec<String> = (0..4)
                    .map(|i| (i, random.below(15) as usize))
                    .filter_map(|(to, from)| Some(format!("{} = {}", slots[to], slots.get(from)?)))
                    .collect();
                if copies.is_empty() { format!("l{to}") } else { format!("l{to}({})", copies.join(", ")) }
            };
            let (yes, no) = (edge(random), edge(random));
            writeln!(text, "condbr %way, {yes}, {no}").expect("text grows");
        }
        write!(text, "l{blocks}: ret.64 %a }}").expect("text grows");
        text
    }

    /// Which slot at the branch, or which write on the way (numbers from `1 << 20` on), each slot holds at the join, on a random way.
    fn walk(module: &Module, cfg: &Cfg, (mut block, join): (u32, u32), random: &mut Random) -> Option<Vec<u32>> {
        let function = &module.functions[0];
        let mut held: Vec<u32> = (0..function.slots).collect();
        for step in 0..60 {
            let edges = &cfg.blocks[block as usize].edges;
            let (edge, to) = *edges.get(random.below(edges.len().max(1) as u64) as usize)?;
            let copies = module.copies.range(module.edges.range(function.edges)[edge as usize].copies);
            let values: Vec<u32> = copies.iter().map(|copy| held[copy.src as usize]).collect();
            copies.iter().zip(values).for_each(|(copy, value)| held[copy.dst as usize] = value);
            if to == join {
                return Some(held);
            }
            block = to;
            for op in cfg.blocks[block as usize].ops.clone() {
                let inst = &module.insts[(cfg.first_inst + op) as usize];
                slots_written(module, inst).for_each(|slot| held[slot as usize] = (1 << 20) + (step << 10) + op);
            }
        }
        None
    }

    #[test]
    fn other_slots_hold_the_same_on_all_ways() {
        let mut random = Random(1);
        let (mut copied, mut differ) = (0, 0);
        for _ in 0..2000 {
            let text = program(&mut random);
            let (module, cfg) = parsed(&text);
            for block in 0..cfg.blocks.len() as u32 {
                let Some(join) = cfg.join(block).filter(|_| cfg.blocks[block as usize].edges.len() > 1) else { continue };
                let differing = differing(&module, &module.functions[0], &cfg, block, join);
                let ways: Vec<Vec<u32>> = (0..12).filter_map(|_| walk(&module, &cfg, (block, join), &mut random)).collect();
                for (slot, way) in (0..module.functions[0].slots).flat_map(|slot| ways.iter().map(move |way| (slot, way))) {
                    let (first, other) = (ways[0][slot as usize], way[slot as usize]);
                    assert!(first == other || differing.contains(slot), "slot {slot} from block {block} to {join}\n{text}");
                    copied += u32::from(first == other && first != slot && !differing.contains(slot));
                    differ += u32::from(first != other);
                }
            }
        }
        assert!(copied > 1000 && differ > 1000, "{copied} slots hold others, {differ} differ");
    }

    #[test]
    fn the_same_value_copied_on_both_ways_is_no_difference() {
        let (module, cfg) = parsed(
            "func strong @f(%a: 64, %b: 64, %way: 1) -> 64 {
             entry: condbr %way, yes, no
             yes: %x = add.64 %b, 1 br end(%p = %a, %q = %a, %r = %x)
             no: br last(%s = %a)
             last: br end(%p = %s, %q = %b, %r = %b)
             end: %y = add.64 %p, %q %z = add.64 %y, %r ret.64 %z }",
        );
        // Constants, then parameters, come first.
        let edge = module.edges.range(module.functions[0].edges).iter().find(|edge| edge.copies.count == 3).expect("three copies");
        let [p, q, r] = [0, 1, 2].map(|i| module.copies.range(edge.copies)[i].dst);
        let differing = differing(&module, &module.functions[0], &cfg, 0, cfg.join(0).expect("both sides meet"));
        assert!(!differing.contains(p) && differing.contains(q) && differing.contains(r));
    }
}
