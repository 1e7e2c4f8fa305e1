//! A function's instructions over values instead of slots: a slot that is reused for something else is another value there.
//!
//! A slot that some block reads before writing it is one value. Any other slot is read only in the block that wrote it, and each write
//! makes a new value. Values are numbered: such slots first, then the others. Cost: two passes.

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_ir::{Function, Inst, Module, Op, Range, limbs};

use crate::operand::{operand_slots, slots_read, slots_written};

/// A function over values.
#[derive(Debug, Default)]
pub struct Values {
    /// By operation, with values where the module's have slots.
    pub insts: Vec<Inst>,
    /// By operation: the arguments' limbs of calls, and what is returned.
    lists: FxHashMap<u32, Vec<u32>>,
    /// What edges copy.
    pub copies: Vec<EdgeCopies>,
    /// Wide values put together of others: (to, from).
    pub joined: Vec<(u32, u32)>,
    pub count: u32,
}

/// What the edge of a block copies: (to, from).
#[derive(Debug)]
pub struct EdgeCopies {
    pub block: u32,
    pub edge: u32,
    pub copies: Vec<(u32, u32)>,
}

struct Namer<'a> {
    module: &'a Module,
    /// Slots that are values.
    fixed: FxHashSet<u32>,
    /// What a slot holds at this place of a block.
    now: FxHashMap<u32, u32>,
    made: Values,
}

impl Values {
    pub fn of(module: &Module, function: &Function) -> Values {
        let blocks = module.blocks.range(function.blocks);
        let first = blocks.iter().map(|b| b.insts.first).min().unwrap_or(0);
        let end = blocks.iter().map(|b| b.insts.first + b.insts.count).max().unwrap_or(first);
        let params: u32 = module.params.range(function.params).iter().map(|p| limbs(p.width)).sum();
        let made = Values { insts: module.insts[first as usize..end as usize].to_vec(), count: function.slots, ..Values::default() };
        let fixed = (0..function.consts.count + params).collect();
        let mut namer = Namer { module, fixed, now: FxHashMap::default(), made };
        let edges = module.edges.range(function.edges);
        let copies = |edge: u32| module.copies.range(edges[edge as usize].copies);
        let mut written = FxHashSet::default();
        for block in blocks {
            written.clear();
            for inst in module.insts.range(block.insts) {
                let read = slots_read(module, inst);
                namer.fixed.extend(read.into_iter().flatten().filter(|slot| !written.contains(slot)));
                written.extend(slots_written(module, inst));
                for edge in edges_of(module, function, inst) {
                    namer.fixed.extend(copies(edge).iter().map(|c| c.src).filter(|slot| !written.contains(slot)));
                }
            }
        }
        for (number, block) in (0..).zip(blocks) {
            namer.now.clear();
            for i in block.insts.first..block.insts.first + block.insts.count {
                namer.name(i - first, &module.insts[i as usize]);
                for edge in edges_of(module, function, &module.insts[i as usize]) {
                    let copies = copies(edge).iter().map(|c| (c.dst, namer.value(c.src))).collect();
                    namer.made.copies.push(EdgeCopies { block: number, edge, copies });
                }
            }
        }
        namer.made
    }

    /// The limbs of a call's arguments, or of what is returned.
    pub fn list(&self, op: u32) -> &[u32] {
        self.lists.get(&op).map_or(&[], Vec::as_slice)
    }
}

impl Namer<'_> {
    fn value(&self, slot: u32) -> u32 {
        self.now.get(&slot).copied().unwrap_or(slot)
    }

    /// The first of so many values that follow one another and hold what these slots hold.
    fn run(&mut self, slots: std::ops::Range<u32>) -> u32 {
        let first = self.value(slots.start);
        if slots.clone().zip(first..).all(|(slot, value)| self.value(slot) == value) {
            return first;
        }
        let run = self.made.count;
        self.made.count += slots.len() as u32;
        for (to, slot) in (run..).zip(slots) {
            self.made.joined.push((to, self.value(slot)));
        }
        run
    }

    fn name(&mut self, op: u32, inst: &Inst) {
        let mut new = *inst;
        for (n, field) in [(1, &mut new.a), (2, &mut new.b), (3, &mut new.c)] {
            let slots = operand_slots(inst, n);
            if !slots.is_empty() {
                *field = self.run(slots);
            }
        }
        let list = match inst.operator() {
            Some(Op::Call | Op::CallIndirect) => Some(self.module.calls[inst.b as usize].args),
            Some(Op::Ret) => Some(Range { first: inst.a, count: inst.b }),
            Some(_) | None => None,
        };
        if let Some(list) = list.filter(|list| list.count > 0) {
            let values = self.module.slot_lists.range(list).iter().map(|slot| self.value(*slot)).collect();
            self.made.lists.insert(op, values);
        }
        let written = slots_written(self.module, inst);
        if written.clone().any(|slot| self.fixed.contains(&slot)) {
            self.now.retain(|slot, _| !written.contains(slot));
        } else if !written.is_empty() {
            new.dst = self.made.count;
            self.made.count += written.len() as u32;
            self.now.extend(written.zip(new.dst..));
        }
        self.made.insts[op as usize] = new;
    }
}

/// The edges an instruction may take, each once.
pub fn edges_of(module: &Module, function: &Function, inst: &Inst) -> Vec<u32> {
    let mut edges = match inst.operator() {
        Some(Op::Br) => vec![inst.a],
        Some(Op::CondBr) => vec![inst.b, inst.c],
        Some(Op::Switch) => {
            let switch = module.switches.range(function.switches)[inst.b as usize];
            module.cases.range(switch.cases).iter().map(|c| c.edge).chain([switch.default]).collect()
        }
        Some(_) | None => Vec::new(),
    };
    edges.sort_unstable();
    edges.dedup();
    edges
}
