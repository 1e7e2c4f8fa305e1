//! Operations on the walk: what they define, use and access in memory, including calls of the IR.

use wryneck_exec::CodePos;
use wryneck_exec::Step;
use wryneck_exec::code::Callee;
use wryneck_exec::memory::Heap;
use wryneck_ir::{Inst, Op, call_flags, limbs};

use super::Walk;
use crate::flow::{BitSet, CellKind, ObjectId, Place, Summary};
use crate::machine_code::effects::Effects;
use crate::machine_code::ways::by_summary;
use crate::operand::slots_written;
use crate::slice::backward::{Backward, Course, Taken};
use crate::slice::live::Placed;
use crate::slice::needs::Needs;
use crate::slice::walk::{Group, Mismatch};

/// Objects are not distinguished.
pub const ANY: ObjectId = ObjectId(0);
const PLACED: Placed = (ANY, 0);

impl<'a> Backward<'a> for Walk<'a, '_> {
    fn course(&self) -> &Course<'a> {
        &self.course
    }
    fn course_mut(&mut self) -> &mut Course<'a> {
        &mut self.course
    }
    fn step(&mut self) -> Result<(), Mismatch> {
        self.back()
    }
    fn is_over(&self) -> bool {
        self.done
    }
    fn depth(&self) -> usize {
        self.frames.len()
    }
    fn needs(&self) -> Needs {
        self.needed()
    }
    fn taken_in_call(&mut self) -> &mut Taken {
        &mut self.top().taken
    }
    fn at(&mut self) -> CodePos {
        let op = self.top().cursor.saturating_sub(1);
        self.facts.pos(op)
    }
    fn slots(&mut self) -> &mut BitSet {
        &mut self.slots
    }

    fn kill(&mut self, address: u64, len: u64) -> bool {
        self.course.live.is_live(address, len) && self.course.live.kill(|| PLACED, address, len)
    }

    fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        let shadow = self.facts.shadow.map_or(0..0, |(base, size)| base..base + size);
        for (address, len) in reads.filter(|(address, _)| !shadow.contains(address)) {
            self.course.live.add(PLACED, address, len);
            // A mapping may be a file's, which other calls write.
            let path = self.course.path;
            if path.state.memory.heap.find(address).is_some_and(|object| path.environment.maps(&object)) {
                self.course.live.add_cell(CellKind::Contents, None);
            }
        }
    }

    fn known(&self, op: u32) -> u8 {
        let function = self.frames.last().and_then(|frame| frame.function.as_ref());
        function.map_or(0, |function| self.facts.known_operands(self.course.path.image, function, op))
    }

    fn may_write(&mut self, op: u32) -> bool {
        self.course.live.has_bytes() && self.known(op) & 1 == 0
    }

    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'a>) {
        if group.happens() {
            self.take();
        }
        self.want(group);
        let slots: Vec<u32> = self.args(inst).iter().zip(0..32).filter(|(_, i)| mask >> i & 1 != 0).map(|(slot, _)| *slot).collect();
        self.slots.extend(slots);
        self.add_reads(group.reads());
    }

    fn called(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        self.asked(inst, op, group, None);
    }
}

impl<'a> Walk<'a, '_> {
    /// The observed return of such a call.
    pub(super) fn shown(&mut self, group: &Group<'_>) {
        if group.happens() {
            self.take();
        }
        self.want(group);
        let result = self.facts.registers.as_ref().filter(|_| group.result_matters()).map(|registers| registers.result);
        self.slots.extend(result);
        self.add_reads(group.reads());
    }

    /// Observed returns in steps that are skipped as a whole.
    pub(super) fn shown_inside(&mut self, group: &Group<'a>) {
        for (at, step) in group.steps.iter().enumerate() {
            if let Step::Shown { count, .. } = step {
                self.shown(&Group { steps: &group.steps[at.saturating_sub(*count as usize)..at], stack_below: 0 });
            }
        }
    }

    /// Skips a function of the IR that machine code called at `op`, which has returned.
    pub(super) fn left(&mut self, inst: &Inst, op: u32, frame: u32) -> Result<(), Mismatch> {
        let trace = self.course.path.trace;
        let traced = trace.frames[frame as usize];
        let begin = match frame < trace.open {
            true => 0,
            false => {
                let enter = traced.entered as usize;
                // In a slow call, other steps of the same operation surround the entry.
                let slow = (enter..self.course.position).find(|at| matches!(trace.steps[*at], Step::Slow { .. }));
                match slow.map(|at| (at, trace.steps[at])) {
                    Some((at, Step::Slow { op: of, count })) if of == op && at - count as usize <= enter => at - count as usize,
                    _ => enter,
                }
            }
        };
        let group = Group { steps: &trace.steps[begin..self.course.position], stack_below: traced.top };
        self.course.position = begin;
        self.decides(&group);
        self.asked(inst, op, &group, Some(traced.args));
        self.top().handled = true;
        Ok(())
    }

    /// A call of the IR, added to the slice as a whole or not at all. `values`: its arguments, where they are not zero.
    fn asked(&mut self, inst: &Inst, op: u32, group: &Group<'a>, values: Option<[u64; 4]>) {
        let (image, facts) = (self.course.path.image, &*self.facts);
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
        let module = self.course.path.image.function(self.facts.func).0;
        let args = module.calls[inst.b as usize].args;
        if args.count == 0 { &[] } else { module.slot_lists.range(args) }
    }

    /// The bytes of the object that an address lies in, if known; of the heap, those of its slot, which may be used again later on the path.
    pub(super) fn object(&self, address: u64) -> Option<std::ops::Range<u64>> {
        let memory = &self.course.path.state.memory;
        if let Some(slot) = Heap::slot(address) {
            return Some(slot);
        }
        let at = memory.statics.partition_point(|s| s.base <= address).checked_sub(1)?;
        let object = &memory.statics[at];
        (address - object.base < object.size).then(|| object.base..object.base + object.size)
    }
}
