//! Operations on the walk: what they define, what they use, which memory they touch; calls of the IR among them.

use wryneck_exec::code::Callee;
use wryneck_exec::{PathEnd, Step};
use wryneck_ir::{Inst, Op, call_flags, limbs};

use super::{Walk, is_call};
use crate::flow::{ObjectId, Place, Summary};
use crate::machine_code::effects::Effects;
use crate::machine_code::ways::by_summary;
use crate::operand::{operand_slots, slots_written};
use crate::slice::live::Placed;
use crate::slice::walk::{Group, Mismatch};

/// Objects are not told apart.
pub const ANY: ObjectId = ObjectId(0);
const PLACED: Placed = (ANY, 0);

impl<'a> Walk<'a, '_> {
    /// Whether the operation at hand is where the path ended by a fault.
    pub(super) fn end_matters(&self) -> bool {
        self.at_end && matches!(self.path.end, PathEnd::Fault(_))
    }

    /// An operation the inner loop left to others.
    pub(super) fn slow(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        if let Some(args) = group.steps.iter().find_map(|step| match step {
            Step::Event { args } => Some(*args),
            _ => None,
        }) {
            return self.announced(inst, args, group);
        }
        if self.at_end && !self.end_matters() {
            return;
        }
        if is_call(inst) {
            return self.asked(inst, op, group, None);
        }
        let mut relevant = self.define(operand_slots(inst, 0));
        relevant |= self.kill_writes(group);
        let needs = relevant;
        let stores = matches!(inst.operator(), Some(Op::Store | Op::MemCopy | Op::MemMove | Op::MemSet));
        relevant |= stores && self.live.has_bytes() || self.end_matters();
        if !relevant {
            return;
        }
        self.take();
        self.want(group);
        self.use_operands(inst, op, &|_| true);
        if needs || self.end_matters() {
            self.add_reads(group.reads());
        }
    }

    /// A call that is an event, or may be one for other arguments, seen before it is made.
    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'_>) {
        self.take();
        self.want(group);
        let slots: Vec<u32> = self.args(inst).iter().zip(0..32).filter(|(_, i)| mask >> i & 1 != 0).map(|(slot, _)| *slot).collect();
        self.slots.extend(slots);
        self.add_reads(group.reads());
    }

    /// The return of such a call.
    pub(super) fn shown(&mut self, group: &Group<'_>) {
        self.take();
        self.want(group);
        let result = self.facts.registers.as_ref().map(|registers| registers.result);
        self.slots.extend(result);
        self.add_reads(group.reads());
    }

    /// Returns that were shown in steps that are passed as a whole.
    pub(super) fn shown_inside(&mut self, group: &Group<'a>) {
        for (at, step) in group.steps.iter().enumerate() {
            if let Step::Shown { count, .. } = step {
                self.shown(&Group { steps: &group.steps[at.saturating_sub(*count as usize)..at], stack_below: 0 });
            }
        }
    }

    /// Past a function of the IR that machine code called at `op`, which has returned.
    pub(super) fn left(&mut self, inst: &Inst, op: u32, frame: u32) -> Result<(), Mismatch> {
        let trace = self.path.trace;
        let traced = trace.frames[frame as usize];
        let begin = match frame < trace.open {
            true => 0,
            false => {
                let enter = traced.entered as usize;
                // In a slow call other steps of the same operation stand around the entry.
                let slow = (enter..self.position).find(|at| matches!(trace.steps[*at], Step::Slow { .. }));
                match slow.map(|at| (at, trace.steps[at])) {
                    Some((at, Step::Slow { op: of, count })) if of == op && at - count as usize <= enter => at - count as usize,
                    _ => enter,
                }
            }
        };
        let group = Group { steps: &trace.steps[begin..self.position], stack_below: traced.top };
        self.position = begin;
        self.decided = group.decisions().next().or(self.decided);
        self.asked(inst, op, &group, Some(traced.args));
        self.top().handled = true;
        Ok(())
    }

    /// A call of the IR, taken or left as a whole; `values`: its arguments, where they are not zero.
    fn asked(&mut self, inst: &Inst, op: u32, group: &Group<'a>, values: Option<[u64; 4]>) {
        let (image, facts) = (self.path.image, &*self.facts);
        let module = image.function(facts.func).0;
        let call = module.calls[inst.b as usize];
        if call.flags & (call_flags::TELLS_CALL | call_flags::TELLS_RETURN) != 0 {
            self.define(slots_written(module, inst));
            return;
        }
        let args = self.args(inst);
        let function = self.frames.last().and_then(|frame| frame.function.clone());
        let known = function.map(|function| facts.values_at(image, &function, op)).unwrap_or_default();
        let code = image.code(facts.func);
        let constant = |i: u32| args.get(i as usize).and_then(|slot| known.get(code, *slot));
        let callee = (inst.operator() == Some(Op::Call)).then(|| image.callee_of(code.module, inst.a)).flatten();
        let summary = callee.and_then(|callee: Callee| facts.summary_of(image, callee, constant(0)));
        let unknown = || Summary { reads: vec![Place::Everything], writes: vec![Place::Everything], ..Summary::default() };
        let summary = summary.unwrap_or_else(unknown);
        let mut effects = Effects::default();
        by_summary(&summary, &constant, &mut effects);
        let written = if call.ret_width == 0 { 0..0 } else { inst.dst..inst.dst + limbs(call.ret_width) };
        let result = written.clone().any(|slot| self.slots.contains(slot));
        let key = |arg: u32| values.and_then(|values| values.get(arg as usize).copied()).filter(|key| *key != 0);
        self.by_summary(&summary, args, result, &key, group, &effects, &|walk| {
            walk.define(written.clone());
        });
    }

    /// Argument limbs of a call.
    fn args(&self, inst: &Inst) -> &'a [u32] {
        let module = self.path.image.function(self.facts.func).0;
        let args = module.calls[inst.b as usize].args;
        if args.count == 0 { &[] } else { module.slot_lists.range(args) }
    }

    /// An operation of the inner loop.
    pub(super) fn plain(&mut self, inst: &Inst, op: u32) -> Result<(), Mismatch> {
        let only = match self.peek() {
            Some(Step::Only { op: at, operand }) if at == op => {
                self.position -= 1;
                Some(operand)
            }
            _ => None,
        };
        match inst.operator() {
            Some(Op::Load) => {
                let access = self.access(op)?;
                if self.define(operand_slots(inst, 0)) {
                    self.take();
                    self.use_operands(inst, op, &|n| n == 0);
                    self.add_reads(std::iter::once(access));
                }
            }
            Some(Op::Store) => {
                let (address, bytes) = self.access(op)?;
                if self.kill(address, bytes) {
                    self.take();
                    self.use_operands(inst, op, &|_| true);
                } else if self.live.has_bytes() && self.known(op) & 1 == 0 {
                    // With another address it might write what is live.
                    self.take();
                    self.slots.insert(inst.a);
                }
            }
            Some(Op::Call | Op::CallIndirect) if !self.at_end => return Err(Mismatch("a call left no step")),
            operator => {
                if self.define(operand_slots(inst, 0)) {
                    self.take();
                    self.use_operands(inst, op, &|n| only.is_none_or(|only| only == n || n == 0 && operator == Some(Op::Select)));
                }
            }
        }
        Ok(())
    }

    /// A bit for each operand of an operation whose value is known.
    fn known(&self, op: u32) -> u8 {
        let function = self.frames.last().and_then(|frame| frame.function.as_ref());
        function.map_or(0, |function| self.facts.known_operands(self.path.image, function, op))
    }

    /// The address and the bytes of the load or store at `op`.
    fn access(&mut self, op: u32) -> Result<(u64, u64), Mismatch> {
        match self.peek() {
            Some(Step::Load { op: at, bytes, address } | Step::Store { op: at, bytes, address }) if at == op => {
                self.position -= 1;
                Ok((address, bytes.into()))
            }
            _ => Err(Mismatch("an access left no step")),
        }
    }

    /// These slots get their value here; whether one was live.
    pub(super) fn define(&mut self, slots: std::ops::Range<u32>) -> bool {
        let live = slots.clone().any(|slot| self.slots.contains(slot));
        slots.for_each(|slot| self.slots.remove(slot));
        live
    }

    /// The operands of these numbers (0, 1, 2 for a, b, c) become live, but for those whose values are known.
    fn use_operands(&mut self, inst: &Inst, op: u32, used: &dyn Fn(u8) -> bool) {
        let known = self.known(op);
        (0..3).filter(|n| used(*n) && known >> n & 1 == 0).for_each(|n| self.slots.extend(operand_slots(inst, usize::from(n) + 1)));
    }

    fn kill(&mut self, address: u64, len: u64) -> bool {
        self.live.is_live(address, len) && self.live.kill(|| PLACED, address, len)
    }

    /// What was written gets its value here; whether some of it was live.
    pub(super) fn kill_writes(&mut self, group: &Group<'_>) -> bool {
        let mut live = false;
        for step in group.steps {
            match *step {
                Step::Write { len, address } => live |= self.kill(address, len.into()),
                Step::Allocate { len, address } => drop(self.kill(address, len.into())),
                Step::Store { bytes, address, .. } => live |= self.kill(address, bytes.into()),
                _ => {}
            }
        }
        live
    }

    pub(super) fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        let shadow = self.facts.shadow.map_or(0..0, |(base, size)| base..base + size);
        for (address, len) in reads.filter(|(address, _)| !shadow.contains(address)) {
            self.live.add(PLACED, address, len);
        }
    }

    /// The bytes of the object that an address lies in, if that is known.
    pub(super) fn object(&self, address: u64) -> Option<std::ops::Range<u64>> {
        let memory = &self.path.state.memory;
        if let Some(object) = memory.heap.find(address) {
            return Some(object.base..object.base + object.size);
        }
        let at = memory.statics.partition_point(|s| s.base <= address).checked_sub(1)?;
        let object = &memory.statics[at];
        (address - object.base < object.size).then(|| object.base..object.base + object.size)
    }
}
