//! Calls on the walk: entering and leaving functions, and skipping calls with a summary. The latter are added to the slice as a whole or
//! not at all.

use std::rc::Rc;

use wryneck_exec::Step;
use wryneck_ir::{Op, Transfer, call_flags};

use super::{Facts, Over};
use crate::flow::{BitSet, Gives, Summary};
use crate::machine_code::effects::Effects;
use crate::machine_code::values::Value;
use crate::slice::walk::{Group, Mismatch, Skipped, Walk, is_call};

impl<'a> Walk<'a, '_, Over<'a, '_>> {
    /// Leaves a function backwards, to the operation that called it.
    pub(super) fn entered(&mut self, op: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let callee = self.frames.pop().ok_or(Mismatch("a function was entered twice"))?;
        if self.frames.is_empty() {
            return Err(Mismatch("a call without a caller"));
        }
        self.go_to(op);
        self.top().cursor = op + 1;
        self.top().live.union_with(&callee.live);
        if self.took(&callee) {
            self.take();
        } else if callee.taken.time > 0 {
            self.took_at_exit();
        }
        self.called_by(op, group);
        // Its status is not relevant, and neither is anything else that another way to it may have in registers.
        let registers = self.code.facts.registers.as_ref();
        let alike = registers.is_some_and(|registers| callee.live.iter().all(|slot| slot == registers.thread));
        let entry = self.code.calls.all[callee.number as usize].entry;
        if alike && entry.is_some_and(|entry| self.code.facts.is_exit(entry)) {
            self.exits();
        }
        Ok(())
    }

    /// Walks over the branch that made a call. A jump is a call through a pointer. It is added to the slice, because the function that
    /// another pointer leads to may do anything.
    pub(super) fn called_by(&mut self, op: u32, group: Option<&Group<'a>>) {
        let inst = self.inst(0, op);
        if inst.operator() == Some(Op::Jump) {
            self.top().cursor = op + 1;
            self.take();
            self.top().live.insert(inst.a);
            if let Some(group) = group {
                self.want(group);
            }
        }
        self.top().cursor = op;
    }

    /// Enters a function backwards, which returned by the jump at `op`, or skips it if it has a summary.
    pub(super) fn returned(&mut self, callee: u32, at: usize, op: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let activation = self.code.calls.all[callee as usize];
        let summary = activation.entry.and_then(|entry| self.summary_at(activation.site, entry));
        if let (Some(summary), Some(entry)) = (summary, activation.entry) {
            return self.summarised(callee, entry, &summary, at);
        }
        self.enter(callee, op + 1, true);
        self.go_to(op);
        self.keep();
        if let Some(group) = group
            && group.decisions().next().is_some()
        {
            // The return address was a decision.
            self.take();
            self.want(group);
            let inst = self.inst(0, op);
            self.top().live.insert(inst.a);
        }
        Ok(())
    }

    /// The summary of a call that a block of the top call's function ends with.
    fn summary_at(&mut self, site: Option<u32>, entry: u32) -> Option<Rc<Summary>> {
        let image = self.code.path.image;
        let (Some(site), Some(function)) = (site, self.running().cloned()) else { return self.code.facts.summary(entry) };
        let facts = &mut *self.code.facts;
        let values = facts.values_between(image, &function, facts.ops(image, site));
        let registers = facts.registers.as_ref().map(|registers| registers.arguments.clone()).unwrap_or_default();
        let code = image.code(facts.func);
        let argument = |i: u32| registers.get(i as usize).and_then(|slot| values.get(code, *slot));
        facts.summary_of_call(entry, &argument)
    }

    /// The walk has just entered a call backwards. Callee-saved registers that are live after the call stay live in its caller. Other live
    /// registers are live in the callee.
    fn keep(&mut self) {
        let Some(registers) = &self.code.facts.registers else { return };
        if let [.., caller, callee] = &mut self.frames[..] {
            let (kept, passed): (BitSet, BitSet) = split(&caller.live, |slot| !registers.clobbered.contains(slot));
            callee.live.union_with(&passed);
            caller.live = kept;
        }
    }

    /// Skips a call of a function with a summary, which ended with step `end`.
    fn summarised(&mut self, callee: u32, entry: u32, summary: &Summary, end: usize) -> Result<(), Mismatch> {
        let activation = self.code.calls.all[callee as usize];
        let steps = &self.code.path.trace.steps;
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
        let effects = self.effects_of_call(activation.site, summary);
        let Some(registers) = &self.code.facts.registers else { return Err(Mismatch("an unknown calling convention")) };
        let mut args = registers.arguments.clone();
        let live = |slot: u32| self.frames.last().is_some_and(|top| top.live.contains(slot));
        let of_program = self.code.facts.of_program(entry);
        // Functions of the C library with a summary give no structures.
        let result = live(registers.result) || of_program && live(registers.second) || registers.float_results.iter().copied().any(live);
        args.extend(self.floats_of_call(activation.site, entry, summary));
        // The other registers that calls may change are dead afterwards.
        let kept = self.frames.last().map(|top| split(&top.live, |slot| !registers.clobbered.contains(slot)).0).unwrap_or_default();
        self.top().live = kept;
        let op = self.at().op;
        self.passed_by(op, &group, summary, &args, result, &key, effects);
        if activation.made.is_none() {
            // Recording began inside of this call.
            self.code.began_inside = true;
            return Ok(());
        }
        match told {
            Some(op) => {
                self.enter(callee, op + 1, true);
                self.go_to(op + 1);
                self.keep();
            }
            None => {
                let site = activation.site.ok_or(Mismatch("a call without a caller"))?;
                let last = self.code.facts.ops(self.code.path.image, site).end - 1;
                let made = activation.made.map_or(0, |made| made.step as usize);
                self.go_to(last);
                // The step that made the call, by itself or in its operation.
                match steps.get(made + 1..).and_then(|rest| rest.iter().position(|step| matches!(step, Step::Slow { .. }))) {
                    Some(behind) if matches!(steps[made], Step::Jump { .. }) => {
                        let slow = made + 1 + behind;
                        self.course.position = slow + 1;
                        let Step::Slow { count, .. } = steps[slow] else { return Err(Mismatch("a jump is slow")) };
                        let group = self.group(count)?;
                        self.called_by(last, Some(&group));
                    }
                    _ => {
                        self.course.position = made;
                        self.called_by(last, None);
                    }
                }
            }
        }
        Ok(())
    }

    /// Walks over a call with a summary, of a function or of the IR. Its result, and registers that it leaves undefined, are no longer
    /// live.
    #[allow(clippy::too_many_arguments, reason = "a call with all that is known of it")]
    pub(super) fn passed_by(
        &mut self,
        op: u32,
        group: &Group<'a>,
        summary: &Summary,
        args: &[u32],
        result: bool,
        key: &dyn Fn(u32) -> Option<u64>,
        effects: Rc<Effects>,
    ) {
        if group.steps.iter().any(|step| matches!(step, Step::Event { .. })) {
            // It called back into the program, which made a may-event: the whole call is relevant.
            self.take();
            self.happened = self.course.time;
            self.want(group);
            self.kill_writes(group);
            self.top().live.extend(args.iter().copied());
            if self.course.record.compared {
                self.course.read.add_all(&group.exposed());
            }
            return self.add_reads(group.reads());
        }
        // Which stream it is is known of this path; so the argument is live.
        let stream = summary.stream();
        let layout = &self.code.facts.layout;
        let standard = |gives: &Gives| stream.and_then(key).is_some_and(|at| layout.is_standard(at, *gives == Gives::Zero));
        let gives = summary.gives.filter(|gives| stream.is_none() || standard(gives));
        let rests_on = stream.filter(|_| gives.is_some());
        let skipped = Skipped { summary, args, by_pointer: None, result, gives, rests_on, key, effects, mere_event: &|| false };
        self.by_summary(op, group, &skipped);
    }

    /// The first step of a function whose call's steps end before `step`, after a block that only jumps there, if there is one.
    fn arrived(&self, step: usize) -> usize {
        match self.code.path.trace.steps.get(step..step + 2) {
            Some(&[Step::Jump { op, .. }, Step::Slow { .. }])
                if matches!(self.code.facts.transfer(self.code.facts.block_of(op)), Transfer::To(_)) =>
            {
                step + 2
            }
            _ => step,
        }
    }

    /// The operation in a function's first block that observes its beginning, if there is one.
    fn tells(&self, entry: u32) -> Option<u32> {
        let image = self.code.path.image;
        let facts: &Facts = self.code.facts;
        let module = image.function(facts.func).0;
        facts.ops(image, entry).find(|op| {
            let inst = facts.inst(image, *op);
            is_call(&inst) && module.calls[inst.b as usize].flags & call_flags::TELLS_CALL != 0
        })
    }

    /// The registers of floats that a call of a function with this summary may read.
    fn floats_of_call(&self, site: Option<u32>, entry: u32, summary: &Summary) -> Vec<u32> {
        let facts = &self.code.facts;
        let Some(registers) = &facts.registers else { return Vec::new() };
        let image = self.code.path.image;
        let count = match (site, self.running()) {
            // Which of its parameters are floats is not known.
            _ if facts.of_program(entry) => None,
            _ if summary.format.is_none() || facts.takes_list(entry) => return Vec::new(),
            (Some(site), Some(function)) => {
                facts.values_between(image, function, facts.ops(image, site)).get(image.code(facts.func), registers.count_of_floats)
            }
            _ => None,
        };
        let count = match count {
            // The lowest byte counts.
            Some(Value::Number(count)) => count as u8 as usize,
            _ => registers.floats.len(),
        };
        registers.floats.iter().take(count).flatten().copied().collect()
    }

    /// The effects of the call that ends a block, with any arguments.
    fn effects_of_call(&mut self, site: Option<u32>, summary: &Summary) -> Rc<Effects> {
        match (site, self.running().cloned()) {
            (Some(site), Some(function)) => self.code.facts.call_effects(self.code.path.image, &function, site, summary),
            _ => self.code.facts.effects_of(summary),
        }
    }
}

/// The members that satisfy a condition, and the others.
fn split(all: &BitSet, first: impl Fn(u32) -> bool) -> (BitSet, BitSet) {
    (all.iter().filter(|slot| first(*slot)).collect(), all.iter().filter(|slot| !first(*slot)).collect())
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
