//! What all backward walks share at an operation: its definitions, its uses, and the memory it accesses. The walks over bitcode
//! ([`super::walk`]) and over machine code ([`crate::machine_code`]) differ in calls and objects.

use std::ops::Range;

use wryneck_exec::stacks::StackId;
use wryneck_exec::{CodePos, PathEnd, Step, Traced};
use wryneck_ir::{Inst, Op};

use super::live::Live;
use super::needs::{Known, Needs};
use super::walk::{Group, Mismatch};
use crate::flow::{BitSet, CellKind, Place};
use crate::operand::operand_slots;

/// The progress and results of a walk. Time counts up as the walk goes backwards.
pub struct Course<'a> {
    pub path: &'a Traced<'a>,
    /// The number of steps left.
    pub position: usize,
    pub time: u64,
    /// When something was last added to the slice; 0: never.
    pub taken: u64,
    pub live: Live,
    /// Bytes read by calls with a summary that are in the slice.
    pub read: Live,
    /// The current operation is the one at which the path ended.
    pub at_end: bool,
    /// Relevant decisions.
    pub wanted: Vec<u32>,
    /// The decisions of the operation just passed.
    pub decided: Option<Range<u32>>,
    /// The live-in set at the root of the path's subtree was recorded.
    pub noted: bool,
}

impl<'a> Course<'a> {
    /// Before the path's last step. If a fault ended the path, the fault is relevant.
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

/// A heap object that the path freed, and whose slot it used again.
#[derive(Clone, Copy)]
pub struct Former {
    /// The program had allocated it.
    pub own: bool,
    pub origin: StackId,
    pub base: u64,
}

/// The last operation of a call that was added to the slice.
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
    /// Takes one step backwards.
    fn step(&mut self) -> Result<(), Mismatch>;
    /// Frames of the call stack.
    fn depth(&self) -> usize;
    /// The walk has reached its end.
    fn is_over(&self) -> bool;
    /// The live-in set at the current point.
    fn needs(&self) -> Needs;
    /// The last operation of the current call that was added to the slice.
    fn taken_in_call(&mut self) -> &mut Taken;
    /// The current operation.
    fn at(&mut self) -> CodePos;
    /// The live slots.
    fn slots(&mut self) -> &mut BitSet;
    /// Bytes are defined here and are no longer live. Returns whether one of them was live.
    fn kill(&mut self, address: u64, len: u64) -> bool;
    /// Bytes (addresses and lengths) become live.
    fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>);
    /// A bit for each operand (a, b, c) whose value is a static constant; such operands are never live.
    fn known(&self, op: u32) -> u8;
    /// The operation at `op` wrote these bytes.
    fn wrote(&mut self, _op: u32, _address: u64, _len: u64) {}
    /// Memory was allocated at this address.
    fn came_to_be(&mut self, _address: u64) {}
    /// The slot of the heap object just allocated had held this one.
    fn was_replaced(&mut self, _former: Former) {}
    /// Whether the store at `op` may write something live, with another address.
    fn may_write(&mut self, op: u32) -> bool;
    /// A call that is an event, or a may-event for other arguments, observed before it runs.
    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'a>);
    /// A call that entered no function.
    fn called(&mut self, inst: &Inst, op: u32, group: &Group<'a>);

    /// Walks to the start of the record, or to the walk's end, and records live-in sets. Returns whether the part of the path before it needs no walk.
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
            // A recorded live-in set of a subtree serves the same purpose.
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

    /// Adds the current operation to the slice. So the branches that it depends on are relevant.
    fn take(&mut self) {
        let course = self.course_mut();
        course.time += 1;
        course.taken = course.time;
        let at = Some(self.at());
        *self.taken_in_call() = Taken { time: self.course().time, at };
    }

    /// The last of the remaining steps.
    fn peek(&self) -> Option<Step> {
        let course = self.course();
        course.position.checked_sub(1).map(|at| course.path.trace.steps[at])
    }

    /// Passes the `count` steps of a slow operation and returns them.
    fn group(&mut self, count: u32) -> Result<Group<'a>, Mismatch> {
        let course = self.course_mut();
        let end = course.position - 1;
        let start = end.checked_sub(count as usize).ok_or(Mismatch("a slow operation has more steps than there are"))?;
        course.position = start;
        let group = Group { steps: &course.path.trace.steps[start..end], stack_below: 0 };
        self.decides(&group);
        Ok(group)
    }

    /// Records the decisions among these steps as those just passed.
    fn decides(&mut self, group: &Group<'_>) {
        if let Some(first) = group.decisions().next() {
            self.course_mut().decided = Some(first..group.decisions().last().map_or(first, |last| last + 1));
        }
    }

    /// Whether the preceding slow operation entered a function, which makes it a call.
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

    /// Whether the path ended by a fault at the current operation.
    fn end_matters(&self) -> bool {
        self.course().at_end && matches!(self.course().path.end, PathEnd::Fault(_))
    }

    /// A slow operation, which the inner loop left.
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
        let stores = matches!(inst.operator(), Some(Op::Store | Op::MemCopy | Op::MemMove | Op::MemSet));
        if stores {
            group.writes().for_each(|(address, len)| self.wrote(op, address, len));
        }
        relevant |= self.kill_writes(group);
        let needs = relevant;
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
                self.wrote(op, address, bytes);
                if self.kill(address, bytes) {
                    self.take();
                    self.use_operands(inst, op, &|_| true);
                } else if self.may_write(op) {
                    self.take();
                    // What is stored to a mapping may be read as a file.
                    let file = self.course().live.has_cell(CellKind::Contents, None);
                    self.use_operands(inst, op, &|n| n == 0 || file);
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

    /// These slots are defined here and are no longer live. Returns whether one of them was live.
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

    /// Written bytes are defined here and are no longer live. Returns whether one of them was live.
    fn kill_writes(&mut self, group: &Group<'_>) -> bool {
        let mut live = false;
        for step in group.steps {
            match *step {
                Step::Write { len, address } => live |= self.kill(address, len.into()),
                // The initial contents are constant.
                Step::Allocate { len, address } => {
                    self.kill(address, len.into());
                    self.came_to_be(address);
                }
                Step::Replaced { own, origin, base } => self.was_replaced(Former { own, origin, base }),
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
                Place::Memory(i) | Place::Reachable(i) | Place::Cell(_, Some(i)) | Place::Written(i) | Place::Standard(i) => {
                    slots.extend(args.get(*i as usize).copied())
                }
                Place::Everything => slots.extend(args.iter().copied()),
                Place::Result | Place::Errno | Place::Arg(_) | Place::NewDescriptor | Place::Cell(_, None) => {}
            }
        }
    }
}

pub fn is_call(inst: &Inst) -> bool {
    matches!(inst.operator(), Some(Op::Call | Op::CallIndirect))
}
