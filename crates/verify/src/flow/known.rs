//! Facts about calls: which never return, and which results are not null, so that a test for null has one successor.
//!
//! A result is not null if the function's summary says so; allocation is assumed to succeed (see [`summary`](super::summary)). It is also
//! not null if the function returns only such results and addresses of variables.

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::code::Callee;
use wryneck_ir::{Inst, Module, NONE, Op, call_flags, limbs};

use super::cfg::{Calls, Cfg, End};
use super::effects::Facts;
use super::local::{CallSite, CallTarget, Local};
use super::summary::Holder;
use super::values::EdgeCopies;
use super::writer::arguments;
use crate::operand::slots_written;

pub struct Known<'a> {
    pub facts: &'a Facts,
    pub func: u32,
    pub module: &'a Module,
    pub local: &'a Local,
    /// Values that are never null: certain results of calls, addresses of variables.
    pub not_null: FxHashSet<u32>,
    /// Values that tell whether another value is 0 (`true`) or not 0.
    pub null_tests: FxHashMap<u32, (u32, bool)>,
}

impl<'a> Known<'a> {
    /// Collects the calls of a function, and its comparisons with 0.
    pub fn of(facts: &'a Facts, func: u32, local: &'a Local) -> Known<'a> {
        let module = facts.image.function(func).0;
        let mut known = Known { facts, func, module, local, not_null: FxHashSet::default(), null_tests: FxHashMap::default() };
        known.find();
        known
    }

    fn find(&mut self) {
        let local = self.local;
        self.not_null.extend(local.fixed.keys());
        let zero = |value| self.facts.constant(self.func, Some(value)) == Some(0);
        for inst in &local.values.insts {
            if let Some(op @ (Op::Eq | Op::Ne)) = inst.operator()
                && inst.width <= 64
                && local.is_once(inst.dst)
            {
                let tested = if zero(inst.b) { Some(inst.a) } else { zero(inst.a).then_some(inst.b) };
                if let Some(value) = tested {
                    self.null_tests.insert(inst.dst, (value, op == Op::Eq));
                }
            }
        }
        for site in &local.calls {
            let inst = &local.values.insts[site.op as usize];
            let CallTarget::Direct(Some(callee)) = site.target else { continue };
            if inst.dst != NONE && local.is_once(inst.dst) && self.gives_object(callee, inst, site) {
                self.not_null.insert(inst.dst);
            }
        }
    }

    fn gives_object(&self, callee: Callee, inst: &Inst, site: &CallSite) -> bool {
        if let Callee::Body(f) = callee
            && self.facts.not_null[f as usize]
        {
            return true;
        }
        let Some(summary) = self.facts.summary(callee, site.number) else { return false };
        let mut to_result = summary.flows.iter().filter(|flow| flow.to == Holder::Result).map(|flow| flow.from);
        let passed = match (to_result.next(), to_result.next(), summary.finds) {
            (Some(Holder::Arg(i) | Holder::Into(i)), None, false) => {
                arguments(self.module, inst, self.local.values.list(site.op)).get(i as usize).copied()
            }
            _ => None,
        };
        summary.not_null || passed.is_some_and(|slot| self.not_null.contains(&slot))
    }

    /// Adds the values that only hold such values if only the reached blocks run.
    pub fn follow(&mut self, cfg: &Cfg, reached: &[u32]) {
        let values = &self.local.values;
        let function = self.facts.image.function(self.func).1;
        let params = self.module.params.range(function.params).iter().map(|p| limbs(p.width)).sum::<u32>();
        let given = function.consts.count..function.consts.count + params;
        let mut sources: FxHashMap<u32, Vec<u32>> = given.map(|slot| (slot, vec![NONE])).collect();
        for number in reached {
            let block = &cfg.blocks[*number as usize];
            for inst in &values.insts[block.ops.start as usize..block.ops.end as usize] {
                let from = match inst.operator() {
                    Some(Op::Copy | Op::PtrAdd) if inst.width == 64 => &[inst.a][..],
                    Some(Op::Select) if inst.width == 64 => &[inst.b, inst.c][..],
                    Some(_) | None => &[NONE][..],
                };
                slots_written(self.module, inst).for_each(|value| sources.entry(value).or_default().extend(from));
            }
        }
        let taken = |c: &&EdgeCopies| reached.contains(&c.block) && cfg.blocks[c.block as usize].edges.iter().any(|(e, _)| *e == c.edge);
        for (to, from) in values.copies.iter().filter(taken).flat_map(|c| &c.copies).chain(&values.joined) {
            sources.entry(*to).or_default().push(*from);
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
    fn never_returns(&self, call: &Inst) -> Option<End> {
        let record = self.module.calls[call.b as usize];
        let unit = self.facts.image.program.functions()[self.func as usize].unit;
        let callee = if call.operator() == Some(Op::Call) { self.facts.image.callee_of(unit, call.a) } else { None };
        let first = self.module.slot_lists.get(record.args.first as usize).filter(|_| record.args.count > 0);
        let number = self.facts.constant(self.func, first.copied());
        let known = callee.and_then(|callee| self.facts.never_returns(callee, number));
        known.or((record.flags & call_flags::NO_RETURN != 0).then_some(End::Leave))
    }
    fn never_takes(&self, op: u32) -> Option<u32> {
        let branch = self.local.values.insts.get(op as usize)?;
        let (value, null) = self.null_tests.get(&branch.a).filter(|_| branch.b != branch.c)?;
        self.not_null.contains(value).then_some(if *null { branch.b } else { branch.c })
    }
}
