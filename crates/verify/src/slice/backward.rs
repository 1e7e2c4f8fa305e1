//! What all backward walks share at an operation: its definitions, its uses, and the memory it accesses. The walks over bitcode
//! ([`super::walk`]) and over machine code ([`crate::machine_code`]) differ in calls and objects.

use std::ops::Range;

use wryneck_exec::{CodePos, PathEnd, Step, Traced};
use wryneck_ir::{Inst, Op};

use super::live::Live;
use super::needs::{Known, Needs};
use super::walk::{Group, Mismatch};
use crate::flow::{BitSet, Place};
use crate::operand::operand_slots;

/// How far a walk has come, and what it found on the way. Time runs backwards: it counts up as the walk goes.
pub struct Course<'a> {
    pub path: &'a Traced<'a>,
    /// Steps that are left.
    pub position: usize,
    pub time: u64,
    /// When something was taken last; 0: never.
    pub taken: u64,
    pub live: Live,
    /// Bytes that taken calls with a summary read, whatever of it they made their results of.
    pub read: Live,
    /// The operation at hand is the one the path ended at.
    pub at_end: bool,
    /// Decisions that matter.
    pub wanted: Vec<u32>,
    /// What the operation just passed decided.
    pub decided: Option<Range<u32>>,
    /// It was noted what is needed where the path's subtree began.
    pub noted: bool,
}

impl<'a> Course<'a> {
    /// Before the path's last step. How a path ended by a fault matters.
    pub fn new(path: &'a Traced<'a>) -> Course<'a> {
        Course {
            path,
            position: path.trace.steps.len(),
            time: 1,
            taken: u64::from(matches!(path.end, PathEnd::Fault(_))),
            live: Live::default(),
            read: Live::default(),
            at_end: true,
            wanted: Vec::new(),
            decided: None,
            noted: false,
        }
    }
}

/// What a walk took last of a call.
#[derive(Clone, Copy, Default)]
pub struct Taken {
    /// When; 0: never.
    pub time: u64,
    pub at: Option<CodePos>,
}

/// A walk over a path's steps, from the last to the first.
pub trait Backward<'a> {
    fn course(&self) -> &Course<'a>;
    fn course_mut(&mut self) -> &mut Course<'a>;
    /// Goes one step back.
    fn step(&mut self) -> Result<(), Mismatch>;
    /// Frames of the call stack.
    fn depth(&self) -> usize;
    /// Nothing before is part of the walk.
    fn is_over(&self) -> bool;
    /// What is needed of all that is before.
    fn needs(&self) -> Needs;
    /// What was taken last in the call at hand.
    fn taken_in_call(&mut self) -> &mut Taken;
    /// The operation at hand.
    fn at(&mut self) -> CodePos;
    /// The slots whose values are needed.
    fn slots(&mut self) -> &mut BitSet;
    /// Bytes got their value here; whether one was live.
    fn kill(&mut self, address: u64, len: u64) -> bool;
    /// Bytes (addresses and lengths) become live.
    fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>);
    /// A bit for each operand (a, b, c) of an operation whose value is the same on all ways: it is never needed.
    fn known(&self, op: u32) -> u8;
    /// Whether the store at `op` might write what is live, with another address.
    fn may_write(&mut self, op: u32) -> bool;
    /// A call that is an event, or may be one for other arguments, seen before it is made.
    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'a>);
    /// A call that entered no function.
    fn called(&mut self, inst: &Inst, op: u32, group: &Group<'a>);

    /// Goes to where recording began, or the walk is over; notes what is needed on the way. Whether what it needs before is known.
    fn go(&mut self, known: &Known) -> Result<bool, Mismatch> {
        let (path, mut settled) = (self.course().path, false);
        while self.course().position > 0 && !self.is_over() {
            self.step()?;
            let Some(decisions) = self.course_mut().decided.take() else { continue };
            let depth = self.depth();
            if let Some(begun) = path.begun.filter(|begun| decisions.contains(&begun.start) && begun.frames as usize == depth) {
                settled = !known.note(begun.subtree, self.needs());
                self.course_mut().noted = true;
            }
            // Where it is noted for a subtree what is needed, that says as much.
            if path.begun.is_none()
                && self.course().position > 0
                && decisions.clone().any(path.open)
                && let Some(place) = path.places.get(decisions.start as usize)
            {
                known.add(*place, self.needs());
            }
        }
        let start = path.places.get(path.oldest as usize);
        Ok(settled || path.begun.is_none() && !self.is_over() && start.is_some_and(|place| known.covers(*place, &self.needs())))
    }

    /// Something is taken: what decided that it happens matters.
    fn take(&mut self) {
        let course = self.course_mut();
        course.time += 1;
        course.taken = course.time;
        let at = Some(self.at());
        *self.taken_in_call() = Taken { time: self.course().time, at };
    }

    /// The last of the steps that are left.
    fn peek(&self) -> Option<Step> {
        let course = self.course();
        course.position.checked_sub(1).map(|at| course.path.trace.steps[at])
    }

    /// The steps of the slow operation that `count` steps belong to, which are passed.
    fn group(&mut self, count: u32) -> Result<Group<'a>, Mismatch> {
        let course = self.course_mut();
        let end = course.position - 1;
        let start = end.checked_sub(count as usize).ok_or(Mismatch("a slow operation has more steps than there are"))?;
        course.position = start;
        let group = Group { steps: &course.path.trace.steps[start..end], stack_below: 0 };
        self.decides(&group);
        Ok(group)
    }

    /// These steps, if they made decisions, are what was passed last.
    fn decides(&mut self, group: &Group<'_>) {
        if let Some(first) = group.decisions().next() {
            self.course_mut().decided = Some(first..group.decisions().last().map_or(first, |last| last + 1));
        }
    }

    /// Whether the slow operation just before entered a function: then it is a call.
    fn enters(&self, count: u32) -> bool {
        let course = self.course();
        let end = course.position - 1;
        let steps = course.path.trace.steps.get(end.saturating_sub(count as usize)..end);
        steps.is_some_and(|steps| steps.iter().any(|step| matches!(step, Step::Enter { .. })))
    }

    fn want(&mut self, group: &Group<'_>) {
        let course = self.course_mut();
        let oldest = course.path.oldest;
        course.wanted.extend(group.decisions().filter(|index| *index >= oldest));
    }

    /// Whether the operation at hand is where the path ended by a fault.
    fn end_matters(&self) -> bool {
        self.course().at_end && matches!(self.course().path.end, PathEnd::Fault(_))
    }

    /// An operation the inner loop left to others.
    fn slow(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        if let Some(args) = group.steps.iter().find_map(|step| match step {
            Step::Event { args } => Some(*args),
            _ => None,
        }) {
            return self.announced(inst, args, group);
        }
        if self.course().at_end && !self.end_matters() {
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
        relevant |= stores && self.may_write(op) || self.end_matters();
        if !relevant {
            return;
        }
        self.take();
        self.want(group);
        self.use_operands(inst, op, &|_| true);
        match moved {
            Some(bytes) => self.add_reads(bytes.into_iter()),
            None if needs || self.end_matters() => self.add_reads(group.reads()),
            None => {}
        }
    }

    /// For a block copy: the bytes whose copies are live.
    fn moved(&self, inst: &Inst, group: &Group<'_>) -> Option<Vec<(u64, u64)>> {
        if !matches!(inst.operator(), Some(Op::MemCopy | Op::MemMove)) {
            return None;
        }
        let (mut reads, mut writes) = (group.reads(), group.writes());
        match (reads.next(), reads.next(), writes.next(), writes.next()) {
            (Some((from, n)), None, Some((to, m)), None) if n == m => {
                Some(self.course().live.offsets(to, m).into_iter().map(|offset| (from + offset, 1)).collect())
            }
            _ => None,
        }
    }

    /// An operation of the inner loop.
    fn plain(&mut self, inst: &Inst, op: u32) -> Result<(), Mismatch> {
        let only = match self.peek() {
            Some(Step::Only { op: at, operand }) if at == op => {
                self.course_mut().position -= 1;
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
                } else if self.may_write(op) {
                    self.take();
                    self.slots().insert(inst.a);
                }
            }
            Some(Op::Call | Op::CallIndirect) if !self.course().at_end => return Err(Mismatch("a call left no step")),
            operator => {
                if self.define(operand_slots(inst, 0)) {
                    self.take();
                    self.use_operands(inst, op, &|n| only.is_none_or(|only| only == n || n == 0 && operator == Some(Op::Select)));
                }
            }
        }
        Ok(())
    }

    /// The address and the bytes of the load or store at `op`.
    fn access(&mut self, op: u32) -> Result<(u64, u64), Mismatch> {
        match self.peek() {
            Some(Step::Load { op: at, bytes, address } | Step::Store { op: at, bytes, address }) if at == op => {
                self.course_mut().position -= 1;
                Ok((address, bytes.into()))
            }
            _ => Err(Mismatch("an access left no step")),
        }
    }

    /// These slots get their value here; whether one was live.
    fn define(&mut self, slots: Range<u32>) -> bool {
        let needed = self.slots();
        let live = slots.clone().any(|slot| needed.contains(slot));
        slots.for_each(|slot| needed.remove(slot));
        live
    }

    /// The operands of these numbers (0, 1, 2 for a, b, c) become live.
    fn use_operands(&mut self, inst: &Inst, op: u32, used: &dyn Fn(u8) -> bool) {
        let known = self.known(op);
        let slots = self.slots();
        (0..3).filter(|n| used(*n) && known >> n & 1 == 0).for_each(|n| slots.extend(operand_slots(inst, usize::from(n) + 1)));
    }

    /// What was written gets its value here; whether some of it was live.
    fn kill_writes(&mut self, group: &Group<'_>) -> bool {
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

    /// The arguments that say where a call writes become live.
    fn live_places(&mut self, writes: &[Place], args: &[u32]) {
        let slots = self.slots();
        for place in writes {
            match place {
                Place::Memory(i) | Place::Reachable(i) | Place::Cell(_, Some(i)) => slots.extend(args.get(*i as usize).copied()),
                Place::Everything => slots.extend(args.iter().copied()),
                Place::Result | Place::Errno | Place::Arg(_) | Place::NewDescriptor | Place::Cell(_, None) => {}
            }
        }
    }
}

pub fn is_call(inst: &Inst) -> bool {
    matches!(inst.operator(), Some(Op::Call | Op::CallIndirect))
}
