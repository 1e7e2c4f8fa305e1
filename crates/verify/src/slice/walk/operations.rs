//! Operations on the walk: what they define, what they use, which memory they touch.

use wryneck_exec::{PathEnd, Step};
use wryneck_ir::{Inst, Op};

use super::group::Group;
use super::{Frame, Mismatch, Walk, is_call};
use crate::operand::operand_slots;
use crate::slice::live::Placed;

impl<'a> Walk<'a> {
    /// Whether the operation at hand is where the path ended by a fault.
    pub(super) fn end_matters(&self) -> bool {
        self.at_end && matches!(self.path.end, PathEnd::Fault(_))
    }

    /// An operation the inner loop left to others.
    pub(super) fn slow(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        let func = self.top().func;
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
            return self.called(inst, op, group);
        }
        let mut relevant = self.define(operand_slots(inst, 0));
        let moved = self.moved(inst, group);
        relevant |= self.kill_writes(group);
        let needs = relevant;
        let stores = matches!(inst.operator(), Some(Op::Store | Op::MemCopy | Op::MemMove | Op::MemSet));
        relevant |= stores && self.may_matter(func, op) || self.end_matters();
        if !relevant {
            return;
        }
        self.take();
        self.want(group);
        self.use_operands(inst, &|_| true);
        match moved {
            Some(bytes) => self.add_reads(bytes.into_iter()),
            None if needs || self.end_matters() => self.add_reads(group.reads()),
            None => {}
        }
    }

    /// For a block copy: the bytes whose copies are live.
    pub(super) fn moved(&self, inst: &Inst, group: &Group<'_>) -> Option<Vec<(u64, u64)>> {
        if !matches!(inst.operator(), Some(Op::MemCopy | Op::MemMove)) {
            return None;
        }
        let (mut reads, mut writes) = (group.reads(), group.writes());
        match (reads.next(), reads.next(), writes.next(), writes.next()) {
            (Some((from, n)), None, Some((to, m)), None) if n == m => {
                Some(self.live.offsets(to, m).into_iter().map(|offset| (from + offset, 1)).collect())
            }
            _ => None,
        }
    }

    /// An operation of the inner loop.
    pub(super) fn plain(&mut self, inst: &Inst, op: u32) -> Result<(), Mismatch> {
        let func = self.top().func;
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
                    self.top().live.insert(inst.a);
                    self.add_reads(std::iter::once(access));
                }
            }
            Some(Op::Store) => {
                let (address, bytes) = self.access(op)?;
                if self.kill(address, bytes) {
                    self.take();
                    self.use_operands(inst, &|_| true);
                } else if !self.live.is_empty() && self.may_matter(func, op) {
                    self.take();
                    self.top().live.insert(inst.a);
                }
            }
            Some(Op::Call | Op::CallIndirect) if !self.at_end => return Err(Mismatch("a call left no step")),
            operator => {
                if self.define(operand_slots(inst, 0)) {
                    self.take();
                    self.use_operands(inst, &|n| only.is_none_or(|only| only == n || n == 0 && operator == Some(Op::Select)));
                }
            }
        }
        Ok(())
    }

    /// The address and the bytes of the load or store at `op`.
    pub(super) fn access(&mut self, op: u32) -> Result<(u64, u64), Mismatch> {
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
        let frame = self.top();
        let live = slots.clone().any(|slot| frame.live.contains(slot));
        slots.for_each(|slot| frame.live.remove(slot));
        live
    }

    /// The operands of these numbers (0, 1, 2 for a, b, c) become live.
    fn use_operands(&mut self, inst: &Inst, used: &dyn Fn(u8) -> bool) {
        let top = self.top();
        (0..3).filter(|n| used(*n)).for_each(|n| top.live.extend(operand_slots(inst, usize::from(n) + 1)));
    }

    pub(super) fn kill(&mut self, address: u64, len: u64) -> bool {
        if !self.live.is_live(address, len) {
            return false;
        }
        let placed = self.placed(address);
        self.live.kill(|| placed, address, len)
    }

    /// What was written gets its value here; whether some of it was live.
    pub(super) fn kill_writes(&mut self, group: &Group<'_>) -> bool {
        let mut live = false;
        for step in group.steps {
            match *step {
                Step::Write { len, address } => live |= self.kill(address, len.into()),
                // Its first contents are constant.
                Step::Allocate { len, address } => drop(self.kill(address, len.into())),
                Step::Store { bytes, address, .. } => live |= self.kill(address, bytes.into()),
                _ => {}
            }
        }
        live
    }

    /// A call's memory came to be with it.
    pub(super) fn kill_frame(&mut self, frame: &Frame) {
        let traced = self.path.trace.frames[frame.number as usize];
        let len = traced.top.saturating_sub(traced.base);
        if !self.live.is_live(traced.base, len) {
            return;
        }
        for (slot, i) in self.path.image.code(frame.func).frame.iter().zip(0..) {
            let base = traced.base + slot.offset;
            self.live.kill(|| (self.flow.alloca_object(frame.func, i), base), base, slot.size);
        }
        self.live.kill(|| (self.flow.dynamic_object(frame.func), traced.base), traced.base, len);
    }

    pub(super) fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        for (address, len) in reads {
            let placed = self.placed(address);
            self.live.add(placed, address, len);
        }
    }

    /// The object an address lies in.
    pub(super) fn placed(&self, address: u64) -> Placed {
        let image = self.path.image;
        if let Some(placed) = self.flow.global_object(address) {
            return placed;
        }
        for frame in self.frames.iter().rev() {
            let traced = self.path.trace.frames[frame.number as usize];
            if !(traced.base..traced.top).contains(&address) {
                continue;
            }
            let offset = address - traced.base;
            let slots = &image.code(frame.func).frame;
            let at = slots.partition_point(|slot| slot.offset <= offset);
            return match at.checked_sub(1).filter(|at| offset - slots[*at].offset < slots[*at].size) {
                Some(at) => (self.flow.alloca_object(frame.func, at as u32), traced.base + slots[at].offset),
                None => (self.flow.dynamic_object(frame.func), traced.base),
            };
        }
        match self.path.state.memory.heap.find(address) {
            Some(object) if self.path.environment.allocates(&object) => {
                (self.flow.heap_object(self.path.stacks.get(object.origin)), object.base)
            }
            Some(object) => (self.flow.outside_object(), object.base),
            None => (self.flow.outside_object(), 0),
        }
    }
}
