//! Whether a program checks a call's result: a forward search from the call, through copies and local variables.
//!
//! A use that does more than keep the value checks it: comparing, computing, passing it on, returning it, or storing it where others may
//! read it. A local variable that holds the value keeps it until it is written again. A variable whose address is used for anything but
//! loads and stores counts as a check. The search covers all paths of the function, not just the one that ran. Cost: the operations after
//! the call, once for each location of the value.

pub mod machine_code;

use std::collections::BTreeSet;

use wryneck_exec::{CodePos, Image};
use wryneck_ir::{Function, Inst, Module, NONE, Op};

use crate::flow::cfg::{Cfg, Unknown};
use crate::operand::{slots_read, slots_written};

/// What holds the value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Slot(u32),
    /// A local variable, by its number.
    Local(u32),
}

/// Whether anything checks the result of this call.
pub fn looked_at(image: &Image, call: CodePos) -> bool {
    let (module, function) = image.function(call.func);
    let cfg = Cfg::new(module, function, &Unknown);
    let Some(inst) = module.insts.get((cfg.first_inst + call.op) as usize) else { return true };
    let locals = Locals::new(module, function, &cfg);
    if inst.dst == NONE {
        return false;
    }
    let mut seen = BTreeSet::new();
    let mut work = vec![(call.op + 1, Holder::Slot(inst.dst))];
    while let Some((op, holder)) = work.pop() {
        if !seen.insert((op, holder)) {
            continue;
        }
        let Some(inst) = module.insts.get((cfg.first_inst + op) as usize) else { return true };
        match effect(module, inst, holder, &locals.at(cfg.block_of(op), op)) {
            Effect::Looks => return true,
            Effect::Keeps { also, still } => {
                let holders = || also.into_iter().chain(still.then_some(holder));
                match cfg.blocks.iter().find(|b| b.ops.end == op + 1 && b.ops.start <= op) {
                    None => work.extend(holders().map(|h| (op + 1, h))),
                    Some(block) => {
                        for (edge, to) in &block.edges {
                            let start = cfg.blocks[*to as usize].ops.start;
                            work.extend(holders().flat_map(|h| along(module, function, *edge, h)).map(|h| (start, h)));
                        }
                    }
                }
            }
        }
    }
    false
}

/// How an instruction uses a value.
enum Effect {
    Looks,
    Keeps { also: Option<Holder>, still: bool },
}

fn effect(module: &Module, inst: &Inst, holder: Holder, locals: &[Option<u32>]) -> Effect {
    let Some(op) = inst.operator() else { return Effect::Looks };
    let local = |slot: u32| locals.get(slot as usize).copied().flatten();
    let kept = |also, still| Effect::Keeps { also, still };
    match holder {
        Holder::Slot(slot) => {
            let overwritten = slots_written(module, inst).contains(&slot);
            match op {
                Op::Copy | Op::Trunc | Op::Zext | Op::Sext if inst.a == slot => kept(Some(Holder::Slot(inst.dst)), !overwritten),
                Op::Store if inst.b == slot && inst.a != slot => match local(inst.a) {
                    Some(variable) => kept(Some(Holder::Local(variable)), true),
                    None => Effect::Looks,
                },
                _ if slots_read(module, inst).iter().flatten().any(|read| *read == slot) => Effect::Looks,
                _ => kept(None, !overwritten),
            }
        }
        Holder::Local(variable) => {
            let is = |slot: u32| local(slot) == Some(variable);
            match op {
                Op::Load if is(inst.a) => kept(Some(Holder::Slot(inst.dst)), true),
                Op::Store if is(inst.a) && !is(inst.b) => kept(None, false),
                // A life that ends or begins forgets it.
                Op::MemUndef if is(inst.a) => kept(None, false),
                _ if slots_read(module, inst).into_iter().flatten().any(is) => Effect::Looks,
                _ => kept(None, true),
            }
        }
    }
}

/// The holders after an edge, whose copies happen in parallel.
fn along(module: &Module, function: &Function, edge: u32, holder: Holder) -> Vec<Holder> {
    let Holder::Slot(slot) = holder else { return vec![holder] };
    let edge = module.edges.range(function.edges)[edge as usize];
    let copies = module.copies.range(edge.copies);
    let mut all: Vec<Holder> = copies.iter().filter(|c| c.src == slot).map(|c| Holder::Slot(c.dst)).collect();
    if !copies.iter().any(|c| c.dst == slot) {
        all.push(holder);
    }
    all
}

/// The slots that hold addresses of local variables at the beginnings of blocks. A slot is reused when its address is dead.
struct Locals<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    /// By block, then by slot; `None`: the block is unreachable.
    at_entry: Vec<Option<Vec<Option<u32>>>>,
}

impl<'a> Locals<'a> {
    fn new(module: &'a Module, function: &Function, cfg: &'a Cfg) -> Locals<'a> {
        let mut found = Locals { module, cfg, at_entry: vec![None; cfg.blocks.len()] };
        let mut work = vec![0];
        if let Some(entry) = found.at_entry.first_mut() {
            *entry = Some(vec![None; function.slots as usize]);
        }
        while let Some(b) = work.pop() {
            let Some(block) = cfg.blocks.get(b as usize) else { continue };
            let after = found.at(b, block.ops.end);
            for (edge, to) in &block.edges {
                let mut there = after.clone();
                for copy in module.copies.range(module.edges.range(function.edges)[*edge as usize].copies) {
                    there[copy.dst as usize] = after[copy.src as usize];
                }
                let old = &mut found.at_entry[*to as usize];
                let met = match old {
                    Some(old) => there.iter().zip(&*old).map(|(new, old)| if new == old { *new } else { None }).collect(),
                    None => there,
                };
                if old.as_ref() != Some(&met) {
                    *old = Some(met);
                    work.push(*to);
                }
            }
        }
        found
    }

    /// By slot, before an operation of a block.
    fn at(&self, block: u32, op: u32) -> Vec<Option<u32>> {
        let mut slots = self.at_entry[block as usize].clone().unwrap_or_default();
        for at in self.cfg.blocks[block as usize].ops.start..op {
            let Some(inst) = self.module.insts.get((self.cfg.first_inst + at) as usize) else { break };
            let Some(op) = inst.operator() else { break };
            for slot in slots_written(self.module, inst) {
                if let Some(slot) = slots.get_mut(slot as usize) {
                    *slot = (op == Op::Alloca).then_some(inst.a);
                }
            }
        }
        slots
    }
}
