//! Calls on the walk: entering and leaving functions, skipping calls with a summary, and calls that rules observe.

use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Step};
use wryneck_ir::{Inst, NONE, Op, limbs};

use super::Over;
use crate::flow::{BitSet, CellKind, ContextId, Flow, Place, Summary, is_standard_output};
use crate::operand::slots_written;
use crate::slice::live::Live;
use crate::slice::needs::Call;
use crate::slice::walk::{Frame, Group, Mismatch, Skipped, Walk, is_call};

impl<'a> Walk<'a, '_, Over<'a>> {
    /// Walks through the calls of the innermost `count` functions.
    pub(super) fn entered(&mut self, count: usize, group: Option<&Group<'_>>) -> Result<(), Mismatch> {
        let mut callees = Vec::with_capacity(count);
        for _ in 0..count {
            callees.extend(self.frames.pop());
        }
        // Copies of structures passed by value lie in the frame of the function that was entered.
        let copied = callees.iter().any(|callee| self.code.path.image.code(callee.func).by_value)
            && group.is_some_and(|group| group.writes().any(|(at, len)| self.course.live.is_live(at, len)));
        callees.iter().for_each(|callee| self.kill_frame(callee));
        let Some(caller) = self.frames.last() else { return Ok(()) };
        let (func, op) = (caller.func, caller.cursor.saturating_sub(1));
        let inst = self.inst(func, op);
        if !is_call(&inst) {
            return Err(Mismatch("a function was entered by no call"));
        }
        let exits = callees.iter().any(|callee| callee.taken.time > 0);
        let mut took = callees.iter().any(|callee| self.took(callee));
        let args = self.args(func, &inst);
        match &callees[..] {
            [callee] if self.calls(func, &inst, callee.func) => {
                let slots: Vec<u32> = self.live_params(callee).filter_map(|i| args.get(i as usize).copied()).collect();
                self.top().live.extend(slots);
                if let (true, Some(group)) = (copied, group) {
                    self.kill_writes(group);
                    self.add_reads(group.reads());
                    self.top().live.extend(args.iter().copied());
                    took = true;
                }
            }
            _ if copied || callees.iter().any(|callee| !callee.live.is_empty()) => {
                took |= copied;
                self.top().live.extend(args.iter().copied());
                if let Some(group) = group {
                    self.add_reads(group.reads());
                }
            }
            _ => {}
        }
        let indirect = inst.operator() == Some(Op::CallIndirect);
        if let (true, [callee]) = (indirect, &callees[..]) {
            self.code.checked.called(self.code.flow, self.code.path.image, CodePos { func, op }, callee.func);
        }
        if indirect && (took || exits || self.may_matter_at(func, op)) {
            took = true;
            self.top().live.insert(inst.a);
        }
        if took {
            self.take();
            if let Some(group) = group {
                self.want(group);
            }
        } else if exits {
            self.took_at_exit();
        }
        self.top().handled = true;
        if let [callee] = &callees[..]
            && self.code.flow.is_exit(callee.func)
            && self.live_params(callee).next().is_none()
        {
            self.exits();
        }
        Ok(())
    }

    /// The live limbs of parameters at the beginning of a call.
    fn live_params(&self, callee: &Frame<ContextId>) -> impl Iterator<Item = u32> {
        let code = self.code.path.image.code(callee.func);
        let first = code.consts.len() as u32;
        (0..code.param_slots).filter(move |i| callee.live.contains(first + i))
    }

    /// Whether the operation, with any operands, may be an event or change something live.
    fn may_matter_at(&mut self, func: u32, op: u32) -> bool {
        let context = self.top().call;
        self.may_matter(&self.code.flow.operation(func, context, op))
    }

    /// The argument limbs of a call.
    pub(super) fn args(&self, func: u32, inst: &Inst) -> &'a [u32] {
        let module = self.module(func);
        let args = module.calls[inst.b as usize].args;
        if args.count == 0 { &[] } else { module.slot_lists.range(args) }
    }

    /// Whether the current call calls `callee` directly, and not through a model.
    pub(super) fn calls(&self, func: u32, inst: &Inst, callee: u32) -> bool {
        match inst.operator() {
            Some(Op::Call) => self.callee(func, inst) == Some(Callee::Body(callee)),
            _ => true,
        }
    }

    pub(super) fn callee(&self, func: u32, inst: &Inst) -> Option<Callee> {
        match inst.operator() {
            Some(Op::Call) => self.code.path.image.callee_of(self.code.path.image.code(func).module, inst.a),
            _ => None,
        }
    }

    /// Enters a function that returned by operation `ret` to the call at `op`, or skips it if it has a summary.
    pub(super) fn leave(&mut self, inst: &Inst, op: u32, ret: u32, number: u32) -> Result<(), Mismatch> {
        let traced = self.code.path.trace.frames[number as usize];
        let caller = self.top().func;
        if let Some(summary) = self.code.flow.summary(Callee::Body(traced.func), None) {
            return self.summarised(inst, op, number, summary);
        }
        let width = self.module(caller).calls[inst.b as usize].ret_width;
        let result = self.live_result(inst, limbs(width));
        self.enter(number, Some(op), ret + 1, true);
        let returned = self.inst(traced.func, ret);
        let list = if returned.b == 0 {
            &[][..]
        } else {
            &self.module(traced.func).slot_lists[returned.a as usize..(returned.a + returned.b) as usize]
        };
        let needed: Vec<u32> = result.iter().filter_map(|limb| list.get(*limb as usize).copied()).collect();
        if !needed.is_empty() {
            self.top().live.extend(needed);
            self.take();
        }
        self.pass_return(ret);
        Ok(())
    }

    /// The live limbs of a call's result, which are defined here.
    pub(super) fn live_result(&mut self, inst: &Inst, count: u32) -> Vec<u32> {
        let shown = std::mem::take(&mut self.result_matters);
        let frame = self.top();
        let is_live = |limb: u32| inst.dst != NONE && frame.live.contains(inst.dst + limb);
        let live: Vec<u32> = (0..count).filter(|limb| shown && *limb == 0 || is_live(*limb)).collect();
        if inst.dst != NONE {
            live.iter().for_each(|limb| frame.live.remove(inst.dst + limb));
        }
        live
    }

    /// Skips a call of a function with a body and a summary, which is added to the slice as a whole or not at all.
    pub(super) fn summarised(&mut self, inst: &Inst, op: u32, number: u32, summary: &Summary) -> Result<(), Mismatch> {
        let traced = self.code.path.trace.frames[number as usize];
        let steps = &self.code.path.trace.steps;
        let enter = traced.entered as usize;
        if number < self.code.path.trace.open {
            // Recording began inside of this call.
            let group = Group { steps: &steps[..self.course.position], stack_below: traced.top };
            self.course.position = 0;
            let taken = self.top().taken.time;
            self.passed_by(inst, op, &group, summary, Some(traced.func), &|_| None);
            let took = self.top().taken.time > taken;
            self.inside = (number..self.code.path.trace.open).map(|number| self.began_inside(number, took)).collect();
            self.decides(&group);
            return Ok(());
        }
        if !matches!(steps.get(enter), Some(Step::Enter { frame }) if *frame == number) {
            return Err(Mismatch("a call whose beginning was not recorded"));
        }
        // In a slow call, other steps of the same operation surround the entry.
        let behind = steps[enter + 1..].iter().position(|step| {
            !matches!(
                step,
                Step::Read { .. }
                    | Step::Write { .. }
                    | Step::Allocate { .. }
                    | Step::Replaced { .. }
                    | Step::Decision { .. }
                    | Step::Event { .. }
                    | Step::Happens
            )
        });
        let after = enter + 1 + behind.unwrap_or(0);
        let begin = match steps.get(after) {
            Some(Step::Slow { count, .. }) if after - *count as usize <= enter => after - *count as usize,
            _ => enter,
        };
        let group = Group { steps: &steps[begin..self.course.position], stack_below: traced.top };
        self.course.position = begin;
        let key = |arg: u32| traced.args.get(arg as usize).copied().filter(|key| *key != 0);
        self.passed_by(inst, op, &group, summary, Some(traced.func), &key);
        self.top().handled = true;
        Ok(())
    }

    /// The live-in set of a call inside of one with a summary, if recording began there. If the outer call is in the slice, so is the rest
    /// of the inner call.
    fn began_inside(&self, number: u32, took: bool) -> Call {
        let path = self.code.path;
        let traced = path.trace.frames[number as usize];
        let mut live = if took { self.code.flow.live_before(traced.func, traced.op) } else { BitSet::default() };
        if number + 1 < path.trace.open {
            // Its call has not returned its result yet.
            let call = self.inst(traced.func, traced.op.saturating_sub(1));
            slots_written(self.module(traced.func), &call).for_each(|slot| live.remove(slot));
        }
        let (passed, settled, joins) = Default::default();
        Call { func: traced.func, frame: Some(number), live, passed, settled, joins, taken: took, before_exit: took, returned: true }
    }

    /// Passes a call with a summary. `body`: the called function, if it has a body. `key` returns the values of arguments, where they are known.
    fn passed_by(
        &mut self,
        inst: &Inst,
        op: u32,
        group: &Group<'_>,
        summary: &Summary,
        body: Option<u32>,
        key: &dyn Fn(u32) -> Option<u64>,
    ) {
        let (func, context) = self.here();
        let flow = self.code.flow;
        if let Some(body) = body.filter(|_| self.code.checked.is_on()) {
            self.check_summarised(CodePos { func, op }, context, group, (body, summary), key);
        }
        let width = self.module(func).calls[inst.b as usize].ret_width;
        let result = !self.live_result(inst, limbs(width)).is_empty();
        let effects = flow.operation(func, context, op);
        // Relevant only as an event: it returns, and its body has no event.
        let comes_back = effects.event && !effects.leaves && !effects.exits;
        let skipped = Skipped {
            summary,
            args: self.args(func, inst),
            by_pointer: (inst.operator() == Some(Op::CallIndirect)).then_some(inst.a),
            result,
            gives: flow.given(func, op),
            rests_on: None,
            key,
            effects,
            mere_event: &|| comes_back && body.is_some_and(|body| !flow.event_inside(body)),
        };
        self.by_summary(op, group, &skipped);
    }

    /// Checks the summary of a call against the memory that the call accessed, as far as the program can see it, and against the functions
    /// that it called.
    fn check_summarised(
        &self,
        at: CodePos,
        context: ContextId,
        group: &Group<'_>,
        call: (u32, &Summary),
        key: &dyn Fn(u32) -> Option<u64>,
    ) {
        let image = self.code.path.image;
        for (address, len) in group.writes_outside() {
            if let Some(placed) = self.visible(address) {
                self.code.checked.wrote(self.code.flow, image, at, context, placed, (address, len));
            }
        }
        for (address, _) in group.reads() {
            if let Some(placed) = self.visible(address) {
                self.code.checked.read(self.code.flow, image, at, call, placed, &|i| key(i).map(|address| self.object_at(address)));
            }
        }
        for step in group.steps {
            if let Step::Enter { frame } = *step {
                let callee = self.code.path.trace.frames[frame as usize].func;
                // A function of the program may have a summary, too, which is then about what it calls as well.
                if image.is_library(call.0) && !image.is_library(callee) {
                    self.code.checked.called_back(image, at, call.0, callee);
                }
            }
        }
    }

    /// A call of a model, or of an undefined function.
    pub(super) fn is_called(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        let func = self.top().func;
        let image = self.code.path.image;
        let args = self.args(func, inst);
        let constant = |arg: u32| {
            let consts = &image.code(func).consts;
            args.get(arg as usize).and_then(|slot| consts.get(*slot as usize)).copied()
        };
        let summary = match self.callee(func, inst) {
            Some(Callee::Model(model)) => self.code.flow.summary_of(image.model_name(model), constant(0)),
            Some(Callee::Undefined(u)) => self.code.flow.summary_of(image.undefined_name(u), constant(0)),
            Some(Callee::Body(_)) | None => None,
        };
        match summary {
            Some(summary) => self.passed_by(inst, op, group, summary, None, &constant),
            None => {
                let unknown = Summary { reads: vec![Place::Everything], writes: vec![Place::Everything], ..Summary::default() };
                self.passed_by(inst, op, group, &unknown, None, &constant);
            }
        }
    }

    /// A call that is an event, or a may-event for other arguments, observed before it runs. A call that is no event is not in the slice,
    /// but the operands that decide this are live.
    pub(super) fn is_announced(&mut self, inst: &Inst, mask: u32, group: &Group<'_>) {
        let func = self.top().func;
        self.happens_here(group);
        let (context, op) = (self.top().call, self.at().op);
        if !self.code.flow.operation(func, context, op).event {
            return;
        }
        let slots: Vec<u32> = self.args(func, inst).iter().zip(0..32).filter(|(_, i)| mask >> i & 1 != 0).map(|(slot, _)| *slot).collect();
        let top = self.top();
        top.live.extend(slots);
        if inst.operator() == Some(Op::CallIndirect) {
            top.live.insert(inst.a);
        }
        self.add_reads(group.reads());
    }

    /// The observed return of a call.
    pub(super) fn is_shown(&mut self, inst: &Inst, group: &Group<'_>) {
        self.happens_here(group);
        self.result_matters = is_call(inst) && group.result_matters();
        self.add_reads(group.reads());
    }
}

/// Whether a call writes this place of the environment, and it is live. `key` gives arguments' values, where they are known.
pub fn writes_live(flow: &Flow, place: &Place, live: &Live, key: &dyn Fn(u32) -> Option<u64>) -> bool {
    const OF_OUTPUT: [CellKind; 3] = [CellKind::StreamInput, CellKind::StreamError, CellKind::StreamOutput];
    match place {
        Place::Cell(CellKind::StreamOutput, None) => {
            flow.standard_outputs().any(|(address, _)| live.has_cell(CellKind::StreamOutput, Some(address)))
        }
        Place::Cell(CellKind::StreamOutput, Some(stream)) => match key(*stream) {
            Some(address) if flow.is_standard_output(address) => live.has_cell(CellKind::StreamOutput, Some(address)),
            address => live.has_cell(CellKind::Contents, None) || OF_OUTPUT.iter().any(|kind| live.has_cell(*kind, address)),
        },
        Place::Cell(CellKind::StreamInput, _) if flow.streams_share() => live.has_cell(CellKind::StreamInput, None),
        Place::Cell(kind, stream) => live.has_cell(*kind, stream.and_then(key)),
        Place::NewDescriptor => [CellKind::Descriptors, CellKind::Numbers].iter().any(|kind| live.has_cell(*kind, None)),
        Place::Written(descriptor) => {
            !key(*descriptor).is_some_and(is_standard_output)
                && [CellKind::Contents, CellKind::StreamInput, CellKind::StreamOutput].iter().any(|kind| live.has_cell(*kind, None))
        }
        Place::Everything => !live.is_empty(),
        _ => false,
    }
}
