//! Operations on the walk: what they define, use and access in memory, including calls of the IR.

use std::rc::Rc;

use wryneck_exec::Step;
use wryneck_exec::code::Callee;
use wryneck_exec::ground::memory::Heap;
use wryneck_ir::{Inst, Op, call_flags, limbs};

use super::Over;
use crate::flow::{CellKind, Place, Summary, is_standard_output};
use crate::machine_code::effects::Effects;
use crate::machine_code::layout::Layout;
use crate::machine_code::ways::by_summary;
use crate::operand::slots_written;
use crate::slice::live::Live;
use crate::slice::walk::{Group, Walk};

/// The environment cells that output writes.
const OF_OUTPUT: [CellKind; 4] = [CellKind::StreamOutput, CellKind::StreamInput, CellKind::StreamError, CellKind::Contents];

/// The arguments that a summary names. Which other registers of the calling convention are arguments is not known.
pub fn named_arguments(summary: &Summary, args: &[u32]) -> Vec<u32> {
    let mut named = Vec::new();
    for place in summary.reads.iter().chain(&summary.writes) {
        match place {
            Place::Arg(i) | Place::Memory(i) | Place::Reachable(i) | Place::Cell(_, Some(i)) | Place::Written(i) | Place::Standard(i) => {
                named.extend(args.get(*i as usize).copied());
            }
            Place::Everything => named.extend(args.iter().copied()),
            Place::Result | Place::Errno | Place::NewDescriptor | Place::Cell(_, None) => {}
        }
    }
    named
}

/// Whether a call writes this place of the environment, and it is live.
pub fn writes_live(layout: &Layout, place: &Place, live: &Live, key: &dyn Fn(u32) -> Option<u64>) -> bool {
    match place {
        Place::Cell(CellKind::StreamOutput, Some(i)) if key(*i).is_some_and(|address| layout.is_standard(address, false)) => {
            live.has_cell(CellKind::StreamOutput, key(*i))
        }
        Place::Cell(CellKind::StreamOutput, Some(_)) => OF_OUTPUT.iter().any(|kind| live.has_cell(*kind, None)),
        Place::Written(i) => !key(*i).is_some_and(is_standard_output) && OF_OUTPUT.iter().any(|kind| live.has_cell(*kind, None)),
        Place::Cell(CellKind::StreamInput, _) => live.has_cell(CellKind::StreamInput, None),
        Place::Cell(kind, stream) => live.has_cell(*kind, stream.and_then(key)),
        Place::NewDescriptor => [CellKind::Descriptors, CellKind::Numbers].iter().any(|kind| live.has_cell(*kind, None)),
        Place::Everything => !live.is_empty(),
        _ => false,
    }
}

impl<'a> Walk<'a, '_, Over<'a, '_>> {
    pub(super) fn is_announced(&mut self, inst: &Inst, mask: u32, group: &Group<'a>) {
        self.happens_here(group);
        let slots: Vec<u32> = self.args(inst).iter().zip(0..32).filter(|(_, i)| mask >> i & 1 != 0).map(|(slot, _)| *slot).collect();
        self.top().live.extend(slots);
        self.add_reads(group.reads());
    }

    /// The observed return of a call.
    pub(super) fn is_shown(&mut self, group: &Group<'_>) {
        self.happens_here(group);
        let result = self.code.facts.registers.as_ref().filter(|_| group.result_matters()).map(|registers| registers.result);
        self.top().live.extend(result);
        self.add_reads(group.reads());
    }

    /// Observed returns in steps that are skipped as a whole.
    pub(super) fn shown_inside(&mut self, group: &Group<'a>) {
        for (at, step) in group.steps.iter().enumerate() {
            if let Step::Shown { count, .. } = step {
                self.is_shown(&Group { steps: &group.steps[at.saturating_sub(*count as usize)..at], stack_below: 0 });
            }
        }
    }

    /// Skips a function of the IR that machine code called at `op`, which has returned.
    pub(super) fn skip_frame(&mut self, inst: &Inst, op: u32, frame: u32) {
        let trace = self.code.path.trace;
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
    }

    /// A call of the IR, added to the slice as a whole or not at all. `values`: its arguments, where they are not zero.
    pub(super) fn asked(&mut self, inst: &Inst, op: u32, group: &Group<'a>, values: Option<[u64; 4]>) {
        let (image, facts) = (self.code.path.image, &*self.code.facts);
        let module = image.function(facts.func).0;
        let call = module.calls[inst.b as usize];
        if call.flags & (call_flags::TELLS_CALL | call_flags::TELLS_RETURN) != 0 {
            self.define(slots_written(module, inst));
            return;
        }
        let args = self.args(inst);
        let known = self.running().map(|function| facts.values_at(image, function, op)).unwrap_or_default();
        let code = image.code(facts.func);
        let constant = |i: u32| args.get(i as usize).and_then(|slot| known.get(code, *slot));
        let callee = (inst.operator() == Some(Op::Call)).then(|| image.callee_of(code.module, inst.a)).flatten();
        let summary = callee.and_then(|callee: Callee| facts.summary_of(image, callee, constant(0)));
        let unknown = || Summary { reads: vec![Place::Everything], writes: vec![Place::Everything], ..Summary::default() };
        let summary = summary.unwrap_or_else(unknown);
        let mut effects = Effects::default();
        by_summary(&summary, &constant, &facts.layout, &mut effects);
        let effects = Rc::new(effects);
        let written = if call.ret_width == 0 { 0..0 } else { inst.dst..inst.dst + limbs(call.ret_width) };
        let result = self.define(written);
        let key = |arg: u32| values.and_then(|values| values.get(arg as usize).copied()).filter(|key| *key != 0);
        self.passed_by(op, group, &summary, args, result, &key, effects);
    }

    /// Argument limbs of a call.
    fn args(&self, inst: &Inst) -> &'a [u32] {
        let module = self.code.path.image.function(self.code.facts.func).0;
        let args = module.calls[inst.b as usize].args;
        if args.count == 0 { &[] } else { module.slot_lists.range(args) }
    }

    /// The bytes of the object that an address lies in, if known; of the heap, those of its slot, which may be used again later on the path.
    pub(super) fn object(&self, address: u64) -> Option<std::ops::Range<u64>> {
        let memory = &self.code.path.state.memory;
        if let Some(slot) = Heap::slot(address) {
            return Some(slot);
        }
        let at = memory.statics.partition_point(|s| s.base <= address).checked_sub(1)?;
        let object = &memory.statics[at];
        (address - object.base < object.size).then(|| object.base..object.base + object.size)
    }
}
