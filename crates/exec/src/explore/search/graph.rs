//! The program's static control flow over blocks, backwards: by branches and direct calls. The graph grows as machine code is lifted.

use std::collections::VecDeque;

use wryneck_ir::link::Target;
use wryneck_ir::{ControlFlow, Module, Op, Transfer};

use crate::ground::image::Image;

/// For each block, the blocks that control comes from: predecessors, for an entry block the callers', and what calls come back to.
#[derive(Default)]
pub(super) struct Graph {
    before: Vec<Vec<u32>>,
    /// Blocks of machine code that lead to an address which had no block yet.
    open: Vec<(u32, u64)>,
}

impl Graph {
    /// Takes in the blocks that the image has gained. Whether there were any.
    pub(super) fn grow(&mut self, image: &Image, flow: Option<&dyn ControlFlow>) -> bool {
        let known = self.before.len() as u32;
        if known == image.blocks {
            return false;
        }
        self.before.resize(image.blocks as usize, Vec::new());
        let machine = image.machine_code();
        let grown = match machine {
            // Nothing else grows.
            Some(machine) if known > 0 => machine.func..machine.func + 1,
            Some(_) | None => 0..image.program.functions().len() as u32,
        };
        for func in grown {
            self.add(image, func, known);
        }
        let (Some(flow), Some(machine)) = (flow, machine) else { return true };
        let base = machine.first.block;
        for block in known.max(base)..image.blocks {
            match flow.transfer(block - base) {
                Transfer::To(address) | Transfer::Call { back: address, .. } => self.open.push((block, address)),
                Transfer::Inside | Transfer::Return => {}
            }
        }
        let before = &mut self.before;
        self.open.retain(|(from, address)| match flow.block_of(*address) {
            Some(to) => {
                before[(base + to) as usize].push(*from);
                false
            }
            None => true,
        });
        true
    }

    /// Adds a function's blocks from number `known` on.
    fn add(&mut self, image: &Image, func: u32, known: u32) {
        let unit = image.program.functions()[func as usize].unit;
        let (module, function) = image.function(func);
        let first = image.first_block_of(func);
        let edges = module.edges.range(function.edges);
        for (i, block) in (first..).zip(module.blocks.range(function.blocks)).filter(|(i, _)| *i >= known) {
            let mut lead = |edge: u32| self.before[(first + edges[edge as usize].block) as usize].push(i);
            for inst in module.insts.range(block.insts) {
                match inst.operator() {
                    Some(Op::Br) => lead(inst.a),
                    Some(Op::CondBr) => [inst.b, inst.c].into_iter().for_each(&mut lead),
                    Some(Op::Switch) => {
                        let s = &module.switches.range(function.switches)[inst.b as usize];
                        lead(s.default);
                        module.cases.range(s.cases).iter().for_each(|c| lead(c.edge));
                    }
                    _ => {}
                }
            }
            for called in direct_calls(module, block).filter_map(|symbol| match image.program.target(unit, symbol) {
                Target::Func(f) => Some(f.0),
                Target::Data(..) | Target::Undefined(_) | Target::Null => None,
            }) {
                self.before[image.first_block_of(called) as usize].push(i);
            }
        }
    }

    /// How many blocks each block is away from the nearest of these; `u32::MAX`: none of them is known to be reached.
    pub(super) fn distances(&self, to: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.before.len()];
        let mut queue: VecDeque<u32> = to.filter(|b| (*b as usize) < self.before.len()).collect();
        for b in &queue {
            distance[*b as usize] = 0;
        }
        while let Some(b) = queue.pop_front() {
            let next = distance[b as usize] + 1;
            for &p in &self.before[b as usize] {
                if distance[p as usize] == u32::MAX {
                    distance[p as usize] = next;
                    queue.push_back(p);
                }
            }
        }
        distance
    }
}

/// The symbols that a block calls by name.
fn direct_calls<'m>(module: &'m Module, block: &wryneck_ir::Block) -> impl Iterator<Item = u32> + 'm {
    module.insts.range(block.insts).iter().filter(|i| i.operator() == Some(Op::Call)).map(|i| i.a)
}
