//! What is known of a function's calls: which never return, and which results are not null, so that a test for null goes one way.
//!
//! That a function's result is not null is said by its summary (allocation is assumed to succeed, see [`summary`](super::summary)), or
//! found: all it returns are such results and addresses of variables.

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::code::Callee;
use wryneck_ir::{Inst, Module, NONE, Op, call_flags, limbs};

use super::cfg::{Calls, Cfg};
use super::effects::{Facts, arguments};
use super::local::{self, CallTarget, Local};
use super::summary::Holder;

pub struct Known<'a> {
    pub facts: &'a Facts,
    pub func: u32,
    pub module: &'a Module,
    /// Slots that are never null: results of calls, addresses of variables.
    pub not_null: FxHashSet<u32>,
    /// Slots that hold whether another one is null (`true`) or not null.
    pub null_tests: FxHashMap<u32, (u32, bool)>,
}

impl Known<'_> {
    /// Looks at the calls, and at what is compared with null.
    pub fn find(&mut self, local: &Local) {
        self.not_null.extend(local.fixed.keys());
        let (module, function) = self.facts.image.function(self.func);
        let zero = |slot| self.facts.constant(self.func, Some(slot)) == Some(0);
        for block in module.blocks.range(function.blocks) {
            for inst in module.insts.range(block.insts) {
                if let Some(op @ (Op::Eq | Op::Ne)) = inst.operator()
                    && inst.width == 64
                    && local.is_once(inst.dst)
                {
                    let tested = if zero(inst.b) { Some(inst.a) } else { zero(inst.a).then_some(inst.b) };
                    if let Some(slot) = tested {
                        self.null_tests.insert(inst.dst, (slot, op == Op::Eq));
                    }
                }
            }
        }
        let first = module.blocks.range(function.blocks).iter().map(|b| b.insts.first).min().unwrap_or(0);
        for site in &local.calls {
            let inst = &module.insts[(first + site.op) as usize];
            let CallTarget::Direct(Some(callee)) = site.target else { continue };
            if inst.dst != NONE && local.is_once(inst.dst) && self.gives_object(callee, inst, site.number) {
                self.not_null.insert(inst.dst);
            }
        }
    }

    fn gives_object(&self, callee: Callee, inst: &Inst, number: Option<u64>) -> bool {
        if let Callee::Body(f) = callee
            && self.facts.not_null[f as usize]
        {
            return true;
        }
        let Some(summary) = self.facts.summary(callee, number) else { return false };
        let mut to_result = summary.flows.iter().filter(|flow| flow.to == Holder::Result).map(|flow| flow.from);
        let passed = match (to_result.next(), to_result.next(), summary.finds) {
            (Some(Holder::Arg(i)), None, false) => arguments(self.module, inst).get(i as usize).copied(),
            _ => None,
        };
        summary.not_null || passed.is_some_and(|slot| self.not_null.contains(&slot))
    }

    /// Adds the slots that hold nothing else where only the reached blocks run.
    pub fn follow(&mut self, cfg: &Cfg, reached: &[u32]) {
        let (module, function) = self.facts.image.function(self.func);
        let params = module.params.range(function.params).iter().map(|p| limbs(p.width)).sum::<u32>();
        let given = function.consts.count..function.consts.count + params;
        let mut sources: FxHashMap<u32, Vec<u32>> = given.map(|slot| (slot, vec![NONE])).collect();
        for b in reached.iter().map(|b| &cfg.blocks[*b as usize]) {
            for inst in &module.insts[(cfg.first_inst + b.ops.start) as usize..(cfg.first_inst + b.ops.end) as usize] {
                let from = match inst.operator() {
                    Some(Op::Copy | Op::PtrAdd) if inst.width == 64 => &[inst.a][..],
                    Some(Op::Select) if inst.width == 64 => &[inst.b, inst.c][..],
                    Some(_) | None => &[NONE][..],
                };
                local::written(module, inst).for_each(|slot| sources.entry(slot).or_default().extend(from));
            }
            for (edge, _) in &b.edges {
                let copies = module.edges.range(function.edges)[*edge as usize].copies;
                module.copies.range(copies).iter().for_each(|c| sources.entry(c.dst).or_default().push(c.src));
            }
        }
        loop {
            let holds = |from: &Vec<u32>| from.iter().all(|slot| self.not_null.contains(slot));
            let more: Vec<u32> =
                sources.iter().filter(|(to, from)| !self.not_null.contains(to) && holds(from)).map(|(to, _)| *to).collect();
            if more.is_empty() {
                return;
            }
            self.not_null.extend(more);
        }
    }
}

impl Calls for Known<'_> {
    fn never_returns(&self, call: &Inst) -> bool {
        let record = self.module.calls[call.b as usize];
        if record.flags & call_flags::NO_RETURN != 0 {
            return true;
        }
        let unit = self.facts.image.program.functions()[self.func as usize].unit;
        let callee = if call.operator() == Some(Op::Call) { self.facts.image.callee_of(unit, call.a) } else { None };
        match callee {
            Some(Callee::Body(f)) => self.facts.never[f as usize],
            Some(callee) => {
                let first = self.module.slot_lists.get(record.args.first as usize).filter(|_| record.args.count > 0);
                let number = self.facts.constant(self.func, first.copied());
                self.facts.summary(callee, number).is_some_and(|s| s.never_returns)
            }
            None => false,
        }
    }

    fn never_takes(&self, branch: &Inst) -> Option<u32> {
        let (slot, null) = self.null_tests.get(&branch.a)?;
        let never = if *null { branch.b } else { branch.c };
        (self.not_null.contains(slot) && branch.b != branch.c).then_some(never)
    }
}
