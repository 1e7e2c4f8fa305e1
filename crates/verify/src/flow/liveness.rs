//! Liveness of slots: which slots a call in progress may still read.

use wryneck_ir::{Function, Module};

use super::bits::BitSet;
use super::cfg::Cfg;
use crate::operand::{slots_read, slots_written};

/// By block: the slots that are live at its beginning. For loops, passes repeat until nothing is added.
pub struct Liveness(Vec<BitSet>);

impl Liveness {
    pub fn new(module: &Module, function: &Function, cfg: &Cfg) -> Liveness {
        let mut all = Liveness(vec![BitSet::default(); cfg.blocks.len()]);
        let mut grows = true;
        while std::mem::take(&mut grows) {
            for &block in cfg.forward().iter().rev() {
                let live = all.before(module, function, cfg, cfg.blocks[block as usize].ops.start);
                let known = &mut all.0[block as usize];
                grows |= !live.is_within(known);
                *known = live;
            }
        }
        all
    }

    /// The slots that are live before an operation.
    pub fn before(&self, module: &Module, function: &Function, cfg: &Cfg, op: u32) -> BitSet {
        let block = &cfg.blocks[cfg.block_of(op) as usize];
        let records = module.edges.range(function.edges);
        let mut live = BitSet::default();
        for (edge, to) in &block.edges {
            let mut there = self.0[*to as usize].clone();
            let copies: Vec<_> =
                module.copies.range(records[*edge as usize].copies).iter().filter(|copy| there.contains(copy.dst)).collect();
            copies.iter().for_each(|copy| there.remove(copy.dst));
            there.extend(copies.iter().map(|copy| copy.src));
            live.union_with(&there);
        }
        for op in (op..block.ops.end).rev() {
            let inst = &module.insts[(cfg.first_inst + op) as usize];
            slots_written(module, inst).for_each(|slot| live.remove(slot));
            live.extend(slots_read(module, inst).into_iter().flatten());
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use super::super::cfg::Unknown;
    use super::*;

    #[test]
    fn what_is_read_later_is_live() {
        let text = "func strong @f(%a: 64, %b: 64, %way: 1) -> 64 {
            entry: br head(%i = %a, %sum = %a)
            head: %unread = add.64 %b, 1 condbr %way, again, end
            again: %next = add.64 %i, 1 br head(%i = %next, %sum = %i)
            end: ret.64 %sum }";
        let module = wryneck_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let function = &module.functions[0];
        let cfg = Cfg::new(&module, function, &Unknown);
        let edges = module.edges.range(function.edges);
        let entry = edges.iter().find(|edge| edge.copies.count == 2).expect("it copies");
        let [i, sum] = [0, 1].map(|n| module.copies.range(entry.copies)[n].dst);
        let first = function.consts.count;
        let (a, b, way) = (first, first + 1, first + 2);
        let written = |block: usize| module.insts[(cfg.first_inst + cfg.blocks[block].ops.start) as usize].dst;
        let (unread, next) = (written(1), written(2));
        let liveness = Liveness::new(&module, function, &cfg);
        let live = |op: u32| {
            let live = liveness.before(&module, function, &cfg, op);
            [a, b, way, i, sum, unread, next].map(|slot| live.contains(slot))
        };
        let at = |block: usize| cfg.blocks[block].ops.start;
        assert_eq!(live(at(0)), [true, true, true, false, false, false, false]);
        assert_eq!(live(at(1)), [false, true, true, true, true, false, false]);
        // Another round reads `b` again, and `i` before the edge writes it.
        assert_eq!(live(at(1) + 1), [false, true, true, true, true, false, false]);
        assert_eq!(live(at(2)), [false, true, true, true, false, false, false]);
        assert_eq!(live(at(2) + 1), [false, true, true, true, false, false, true]);
        assert_eq!(live(at(3)), [false, false, false, false, true, false, false]);
    }
}
