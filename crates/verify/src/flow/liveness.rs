//! Which slots a call in progress may still read: what of it matters to how it goes on.

use wryneck_ir::{Function, Module};

use super::bits::BitSet;
use super::cfg::Cfg;
use crate::operand::{slots_read, slots_written};

/// By block: the slots that may be read from its beginning on before they are written. A loop's are found by passes until none adds any.
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

    /// The slots that may be read from an operation on before they are written.
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
