//! Calls on the walk: entering and leaving functions, and skipping calls with a summary, which are added to the slice as a whole or not
//! at all.

use std::rc::Rc;

use wryneck_exec::Step;
use wryneck_ir::{Op, Transfer, call_flags};

use super::Walk;
use super::data::ANY;
use crate::flow::{BitSet, CellKind, Gives, Place, Summary, is_standard_output};
use crate::machine_code::effects::Effects;
use crate::slice::backward::{Backward, is_call};
use crate::slice::walk::{Group, Mismatch};

/// What output writes of the environment.
const OF_OUTPUT: [CellKind; 4] = [CellKind::StreamOutput, CellKind::StreamInput, CellKind::StreamError, CellKind::Contents];

impl<'a, 'f> Walk<'a, 'f> {
    /// Leaves a function backwards, to the operation that called it.
    pub(super) fn entered(&mut self, op: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let callee = self.frames.pop().ok_or(Mismatch("a function was entered twice"))?;
        if self.frames.is_empty() {
            return Err(Mismatch("a call without a caller"));
        }
        self.go_to(op);
        self.slots.union_with(&callee.kept);
        if callee.taken.time > 0 {
            self.take();
        }
        self.called_by(op, group, callee.taken.time > 0);
        Ok(())
    }

    /// The branch that made a call; through a pointer if it is a jump.
    pub(super) fn called_by(&mut self, op: u32, group: Option<&Group<'a>>, took: bool) {
        let inst = self.facts.inst(self.course.path.image, op);
        if inst.operator() != Some(Op::Jump) {
            return;
        }
        let decides = group.is_some_and(|group| group.decisions().next().is_some());
        if took || decides {
            self.take();
            self.slots.insert(inst.a);
            if let Some(group) = group {
                self.want(group);
            }
        }
    }

    /// Enters a function backwards, which returned by the jump at `op`, or skips it if it has a summary.
    pub(super) fn returned(&mut self, callee: u32, at: usize, op: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let activation = self.calls.all[callee as usize];
        let summary = activation.entry.and_then(|entry| self.facts.summary(entry));
        if let (Some(summary), Some(entry)) = (summary, activation.entry) {
            return self.summarised(callee, entry, &summary, at);
        }
        self.push(callee, op + 1, true);
        self.go_to(op);
        self.keep();
        if let Some(group) = group
            && group.decisions().next().is_some()
        {
            // The return address was a decision.
            self.take();
            self.want(group);
            let inst = self.facts.inst(self.course.path.image, op);
            self.slots.insert(inst.a);
        }
        Ok(())
    }

    /// Callee-saved registers that are live after the call are live before it.
    fn keep(&mut self) {
        let Some(registers) = &self.facts.registers else { return };
        let kept: BitSet = self.slots.iter().filter(|slot| !registers.clobbered.contains(*slot)).collect();
        kept.iter().for_each(|slot| self.slots.remove(slot));
        self.top().kept = kept;
    }

    /// Skips a call of a function with a summary, which ended with step `end`.
    fn summarised(&mut self, callee: u32, entry: u32, summary: &Summary, end: usize) -> Result<(), Mismatch> {
        let activation = self.calls.all[callee as usize];
        let steps = &self.course.path.trace.steps;
        // The step that observes its beginning is not skipped with it.
        let told = self.tells(entry);
        let begin = match activation.made {
            Some(made) => {
                let first = self.arrived(made.step as usize + 1);
                told.map_or(first, |op| behind_told(steps, op, first, end))
            }
            None => 0,
        };
        let group = Group { steps: &steps[begin..end], stack_below: activation.base };
        self.course.position = begin;
        self.decides(&group);
        self.shown_inside(&group);
        let made = activation.made;
        let key = |arg: u32| made.and_then(|made| made.args.get(arg as usize).copied()).filter(|key| *key != 0);
        let Some(registers) = &self.facts.registers else { return Err(Mismatch("an unknown calling convention")) };
        let (args, result, clobbered) = (registers.arguments.clone(), registers.result, registers.clobbered.clone());
        let effects = self.effects_of_call(activation.site, summary);
        let matters = self.slots.contains(result);
        self.by_summary(summary, &args, matters, &key, &group, &effects, &|walk| {
            // The other registers that calls may change are dead afterwards.
            clobbered.iter().for_each(|slot| walk.slots.remove(slot));
        });
        if activation.made.is_none() {
            // Recording began inside of this call.
            return Ok(());
        }
        match told {
            Some(op) => {
                self.push(callee, op + 1, true);
                self.go_to(op + 1);
                self.keep();
            }
            None => {
                let site = activation.site.ok_or(Mismatch("a call without a caller"))?;
                let last = self.facts.ops(self.course.path.image, site).end - 1;
                let made = activation.made.map_or(0, |made| made.step as usize);
                self.go_to(last);
                // The step that made the call, by itself or in its operation.
                match steps.get(made + 1..).and_then(|rest| rest.iter().position(|step| matches!(step, Step::Slow { .. }))) {
                    Some(behind) if matches!(steps[made], Step::Jump { .. }) => {
                        let slow = made + 1 + behind;
                        self.course.position = slow + 1;
                        let Step::Slow { count, .. } = steps[slow] else { return Err(Mismatch("a jump is slow")) };
                        let group = self.group(count)?;
                        let took = self.top().taken.time == self.course.time;
                        self.called_by(last, Some(&group), took);
                    }
                    _ => self.course.position = made,
                }
            }
        }
        Ok(())
    }

    /// The first step of a function whose call's steps end before `step`, after a block that only jumps there, if there is one.
    fn arrived(&self, step: usize) -> usize {
        match self.course.path.trace.steps.get(step..step + 2) {
            Some(&[Step::Jump { op, .. }, Step::Slow { .. }])
                if matches!(self.facts.transfer(self.facts.block_of(op)), Transfer::To(_)) =>
            {
                step + 2
            }
            _ => step,
        }
    }

    /// The operation in a function's first block that observes its beginning, if there is one.
    fn tells(&self, entry: u32) -> Option<u32> {
        let image = self.course.path.image;
        let module = image.function(self.facts.func).0;
        self.facts.ops(image, entry).find(|op| {
            let inst = self.facts.inst(image, *op);
            is_call(&inst) && module.calls[inst.b as usize].flags & call_flags::TELLS_CALL != 0
        })
    }

    /// The effects of the call that ends a block, with any arguments.
    fn effects_of_call(&mut self, site: Option<u32>, summary: &Summary) -> Rc<Effects> {
        let function = self.frames.last().and_then(|frame| frame.function.clone());
        match (site, function) {
            (Some(site), Some(function)) => self.facts.call_effects(self.course.path.image, &function, site, summary),
            _ => self.facts.effects_of(summary),
        }
    }

    /// A call that is added to the slice as a whole or not at all, by its summary. `key` returns the values of arguments, where they are known. `forget`
    /// removes the registers that the call leaves undefined.
    #[allow(clippy::too_many_arguments, reason = "a call with all that is known of it")]
    pub(super) fn by_summary(
        &mut self,
        summary: &Summary,
        args: &[u32],
        result: bool,
        key: &dyn Fn(u32) -> Option<u64>,
        group: &Group<'a>,
        effects: &Effects,
        forget: &dyn Fn(&mut Walk<'a, 'f>),
    ) {
        if group.steps.iter().any(|step| matches!(step, Step::Event { .. })) {
            // It called back into the program, which made a may-event: the whole call is relevant.
            self.take();
            self.want(group);
            self.kill_writes(group);
            forget(self);
            self.slots.extend(args.iter().copied());
            return self.add_reads(group.reads());
        }
        // Which stream it is is not known.
        let gives = summary.gives.filter(|_| summary.stream().is_none());
        let mut relevant = result && !gives.is_some_and(Gives::is_known);
        relevant |= self.kill_writes(group);
        relevant |= summary.writes.iter().any(|place| match place {
            Place::Cell(CellKind::StreamOutput, Some(_)) => OF_OUTPUT.iter().any(|kind| self.course.live.has_cell(*kind, None)),
            Place::Written(i) => {
                !key(*i).is_some_and(is_standard_output) && OF_OUTPUT.iter().any(|kind| self.course.live.has_cell(*kind, None))
            }
            Place::Cell(CellKind::StreamInput, _) => self.course.live.has_cell(CellKind::StreamInput, None),
            Place::Cell(kind, stream) => self.course.live.has_cell(*kind, stream.and_then(key)),
            Place::NewDescriptor => [CellKind::Descriptors, CellKind::Numbers].iter().any(|kind| self.course.live.has_cell(*kind, None)),
            Place::Everything => !self.course.live.is_empty(),
            _ => false,
        });
        forget(self);
        let base = self.frames.last().map_or(0, |frame| self.base(frame));
        // In another state it may write what it did not write here.
        relevant |= summary.writes_sometimes() && effects.touches(&self.course.live, &BitSet::default(), base, self.thread).is_some();
        if !relevant && !self.end_matters() {
            // The location of its writes may be relevant, but not their value.
            if self.happens(effects).is_some() || effects.touches(&self.course.live, &BitSet::default(), base, self.thread).is_some() {
                self.take();
                self.want(group);
                self.live_places(&summary.writes, args);
            }
            if let (true, Some(Gives::Arg { arg, .. })) = (result, gives) {
                self.take();
                self.slots.extend(args.get(arg as usize).copied());
            }
            return;
        }
        self.take();
        self.want(group);
        self.live_places(&summary.writes, args);
        for place in &summary.reads {
            match place {
                Place::Arg(i) => self.slots.extend(args.get(*i as usize).copied()),
                Place::Memory(i) => {
                    self.slots.extend(args.get(*i as usize).copied());
                    let object = key(*i).and_then(|address| self.object(address));
                    let inside = |address: u64| object.as_ref().is_none_or(|object| object.contains(&address));
                    let of_object: Vec<_> = group.reads().filter(|(address, _)| inside(*address)).collect();
                    self.add_reads(of_object.into_iter());
                }
                Place::Reachable(_) | Place::Everything => {
                    if *place == Place::Everything {
                        CellKind::all().for_each(|kind| self.course.live.add_cell(kind, None));
                    }
                    self.slots.extend(args.iter().copied());
                    self.add_reads(group.reads());
                }
                Place::Cell(kind, stream) => {
                    let of = stream.and_then(key).map(|address| (address, ANY));
                    self.course.live.add_cell(*kind, of);
                    // A descriptor that was not open is one that another way may have opened.
                    if *kind == CellKind::Descriptors && !self.course.path.environment.premises(self.course.path.state).open_descriptors {
                        self.course.live.add_cell(CellKind::Numbers, None);
                    }
                }
                Place::Result | Place::Errno | Place::NewDescriptor | Place::Written(_) | Place::Standard(_) => {}
            }
        }
    }
}

/// The first step after those of the operation `op`, which observes the beginning of a function whose steps are `from .. end`.
fn behind_told(steps: &[Step], op: u32, from: usize, end: usize) -> usize {
    let mut behind = from;
    while let Some(slow) = (behind..end).find(|at| matches!(steps[*at], Step::Slow { .. }))
        && matches!(steps[slow], Step::Slow { op: at, .. } if at == op)
    {
        behind = slow + 1;
    }
    behind
}
