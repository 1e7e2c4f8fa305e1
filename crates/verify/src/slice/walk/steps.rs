//! What the walk does at an operation: its definitions, its uses, and the memory it accesses.

use std::ops::Range;

use wryneck_exec::prefix::PrefixId;
use wryneck_exec::stacks::StackId;
use wryneck_exec::{Begun, CodePos, PathEnd, Step, Traced};
use wryneck_ir::{Inst, Op};

use super::{Code, Group, Mismatch, Walk};
use crate::flow::{CellKind, Place};
use crate::operand::operand_slots;
use crate::slice::live::{Live, Placed};
use crate::slice::needs::Known;

/// Bytes of a pointer.
const WORD: u64 = 8;
const WORD_BITS: u16 = 64;

/// What the walk itself reads of a recorded path.
pub struct Record<'a> {
    pub steps: &'a [Step],
    /// A fault ended the path.
    pub faulted: bool,
    /// The first decision that is asked for.
    pub oldest: u32,
    /// As of [`Traced`].
    pub places: &'a [PrefixId],
    pub open: &'a dyn Fn(u32) -> bool,
    pub begun: Option<Begun>,
    pub compared: bool,
    /// No system call was given a descriptor that was not open.
    pub open_descriptors: bool,
}

impl<'a> Record<'a> {
    pub fn of(path: &'a Traced<'a>) -> Record<'a> {
        Record {
            steps: &path.trace.steps,
            faulted: matches!(path.end, PathEnd::Fault(_)),
            oldest: path.oldest,
            places: path.places,
            open: path.open,
            begun: path.begun,
            compared: path.compared,
            open_descriptors: path.environment.premises(path.state).open_descriptors,
        }
    }
}

/// The progress and results of a walk. Time counts up as the walk goes backwards.
pub struct Course<'a> {
    pub record: Record<'a>,
    /// The number of steps left.
    pub position: usize,
    pub time: u64,
    /// When something was last added to the slice; 0: never.
    pub taken: u64,
    pub live: Live,
    /// A slot of the top call that is live only as an address: see [`Live`]. The operation that defines it is in the current block.
    pub address: Option<u32>,
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
    pub fn new(record: Record<'a>) -> Course<'a> {
        Course {
            position: record.steps.len(),
            time: 1,
            taken: u64::from(record.faulted),
            record,
            live: Live::default(),
            address: None,
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

impl<'a, C: Code<'a>> Walk<'a, '_, C> {
    /// Walks to the start of the record, or to the walk's end, and records live-in sets. Returns whether the part of the path before it needs no walk.
    pub(super) fn go(&mut self, known: &Known) -> Result<bool, Mismatch> {
        let Record { begun, oldest, places, open, .. } = self.course.record;
        let mut settled = false;
        while self.course.position > 0 && !C::is_over(self) {
            self.back()?;
            let Some(decisions) = self.course.decided.take() else { continue };
            let depth = C::depth(self);
            if let Some(begun) = begun.filter(|begun| decisions.contains(&begun.start) && begun.frames as usize == depth) {
                let needs = self.needed();
                if !needs.unplaced {
                    settled = !known.note(begun.subtree, needs);
                    self.course.noted = true;
                }
            }
            // A recorded live-in set of a subtree serves the same purpose.
            if begun.is_none()
                && self.course.position > 0
                && decisions.clone().any(open)
                && let Some(place) = places.get(decisions.start as usize)
            {
                known.add(*place, self.needed());
            }
        }
        let start = places.get(oldest as usize);
        Ok(settled || begun.is_none() && !C::is_over(self) && start.is_some_and(|place| known.covers(*place, &self.needed())))
    }

    /// Adds the current operation to the slice. So the branches that it depends on are relevant.
    pub fn take(&mut self) {
        let course = &mut self.course;
        course.time += 1;
        course.taken = course.time;
        let at = Some(self.at());
        self.top().taken = Taken { time: self.course.time, at };
    }

    /// The current operation.
    pub fn at(&mut self) -> CodePos {
        let frame = self.top();
        CodePos { func: frame.func, op: frame.cursor.saturating_sub(1) }
    }

    /// The last of the remaining steps.
    pub fn peek(&self) -> Option<Step> {
        let course = &self.course;
        course.position.checked_sub(1).map(|at| course.record.steps[at])
    }

    /// Passes the `count` steps of a slow operation and returns them.
    pub fn group(&mut self, count: u32) -> Result<Group<'a>, Mismatch> {
        let course = &mut self.course;
        let end = course.position - 1;
        let start = end.checked_sub(count as usize).ok_or(Mismatch("a slow operation has more steps than there are"))?;
        course.position = start;
        let group = Group { steps: &course.record.steps[start..end], stack_below: 0 };
        self.decides(&group);
        Ok(group)
    }

    /// Records the decisions among these steps as those just passed.
    pub fn decides(&mut self, group: &Group<'_>) {
        if let Some(first) = group.decisions().next() {
            self.course.decided = Some(first..group.decisions().last().map_or(first, |last| last + 1));
        }
    }

    /// Whether the preceding slow operation entered a function, which makes it a call.
    pub fn enters(&self, count: u32) -> bool {
        let course = &self.course;
        let end = course.position - 1;
        let steps = course.record.steps.get(end.saturating_sub(count as usize)..end);
        steps.is_some_and(|steps| steps.iter().any(|step| matches!(step, Step::Enter { .. })))
    }

    pub fn want(&mut self, group: &Group<'_>) {
        let course = &mut self.course;
        let oldest = course.record.oldest;
        course.wanted.extend(group.decisions().filter(|index| *index >= oldest));
    }

    /// Whether the path ended by a fault at the current operation.
    pub fn end_matters(&self) -> bool {
        self.course.at_end && self.course.record.faulted
    }

    /// A slow operation, which the inner loop left.
    pub(super) fn slow(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        if let Some(args) = group.steps.iter().find_map(|step| match step {
            Step::Event { args } => Some(*args),
            _ => None,
        }) {
            return C::announced(self, inst, args, group);
        }
        if self.course.at_end && !self.end_matters() {
            return;
        }
        if is_call(inst) {
            return C::called(self, inst, op, group);
        }
        let mut relevant = self.define(operand_slots(inst, 0));
        let moved = self.moved(inst, group);
        let stores = matches!(inst.operator(), Some(Op::Store | Op::MemCopy | Op::MemMove | Op::MemSet));
        if stores {
            group.writes().for_each(|(address, len)| C::wrote(self, op, address, len));
        }
        relevant |= self.kill_writes(group);
        let needs = relevant;
        relevant |=
            stores && C::may_write(self, op, &group.writes().collect::<Vec<_>>(), group.decisions().next().is_some()) || self.end_matters();
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
                Some(self.course.live.offsets(to, m).into_iter().map(|offset| (from + offset, 1)).collect())
            }
            _ => None,
        }
    }

    /// An operation of the inner loop.
    pub(super) fn plain(&mut self, inst: &Inst, op: u32) -> Result<(), Mismatch> {
        let only = match self.peek() {
            Some(Step::Only { op: at, operand }) if at == op => {
                self.course.position -= 1;
                Some(operand)
            }
            _ => None,
        };
        match inst.operator() {
            Some(Op::Load) => {
                let access = self.access(op)?;
                let address = self.defines_address(inst);
                let value = self.define(operand_slots(inst, 0));
                if value || address {
                    self.take();
                    self.use_operands(inst, op, &|n| n == 0);
                    match value || access.1 != WORD {
                        true => self.add_reads(std::iter::once(access)),
                        false => self.add_addresses([access.0]),
                    }
                }
            }
            Some(Op::Store) => {
                let (address, bytes) = self.access(op)?;
                C::wrote(self, op, address, bytes);
                let word = bytes == WORD && self.course.live.is_address(address);
                if self.kill(address, bytes) {
                    self.take();
                    self.use_operands(inst, op, &|n| n == 0 || !word);
                    if word && C::known(self, op) >> 1 & 1 == 0 {
                        self.end_address();
                        self.course.address = Some(inst.b);
                    }
                } else if C::may_write(self, op, &[(address, bytes)], false) {
                    self.take();
                    // What is stored to a mapping may be read as a file.
                    let file = self.course.live.has_cell(CellKind::Contents, None);
                    self.use_operands(inst, op, &|n| n == 0 || file);
                }
            }
            Some(Op::Call | Op::CallIndirect) if !self.course.at_end => return Err(Mismatch("a call left no step")),
            operator => {
                let address = self.defines_address(inst);
                let value = self.define(operand_slots(inst, 0));
                if address && !value && operator == Some(Op::Copy) && inst.width == WORD_BITS {
                    self.take();
                    self.course.address = Some(inst.a).filter(|_| C::known(self, op) & 1 == 0);
                } else if address || value {
                    self.take();
                    self.use_operands(inst, op, &|n| only.is_none_or(|only| only == n || n == 0 && operator == Some(Op::Select)));
                }
            }
        }
        Ok(())
    }

    /// Whether the operation defines the slot that is live only as an address, which it then no longer is.
    fn defines_address(&mut self, inst: &Inst) -> bool {
        let slots = operand_slots(inst, 0);
        self.course.address.take_if(|slot| slots.contains(slot)).is_some()
    }

    /// The slot that was live only as an address is live as a value.
    pub(super) fn end_address(&mut self) {
        let slot = self.course.address.take();
        self.top().live.extend(slot);
    }

    /// The address and the bytes of the load or store at `op`.
    fn access(&mut self, op: u32) -> Result<(u64, u64), Mismatch> {
        match self.peek() {
            Some(Step::Load { op: at, bytes, address } | Step::Store { op: at, bytes, address }) if at == op => {
                self.course.position -= 1;
                Ok((address, bytes.into()))
            }
            _ => Err(Mismatch("an access left no step")),
        }
    }

    /// These slots are defined here and are no longer live. Returns whether one of them was live.
    pub fn define(&mut self, slots: Range<u32>) -> bool {
        let needed = &mut self.top().live;
        let live = slots.clone().any(|slot| needed.contains(slot));
        slots.for_each(|slot| needed.remove(slot));
        live
    }

    /// The operands of these numbers (0, 1, 2 for a, b, c) become live.
    fn use_operands(&mut self, inst: &Inst, op: u32, used: &dyn Fn(u8) -> bool) {
        let known = C::known(self, op);
        let slots = &mut self.top().live;
        (0..3).filter(|n| used(*n) && known >> n & 1 == 0).for_each(|n| slots.extend(operand_slots(inst, usize::from(n) + 1)));
    }

    /// Bytes are defined here and are no longer live. Returns whether one of them was live.
    fn kill(&mut self, address: u64, len: u64) -> bool {
        if self.course.record.compared {
            self.course.read.kill(Placed::default, address, len);
        }
        if !self.course.live.is_live(address, len) {
            return false;
        }
        if let Some(exit) = &mut self.exit {
            exit.changed |= exit.live.is_live(address, len);
        }
        let placed = C::placed(self, address);
        self.course.live.kill(|| placed, address, len)
    }

    /// Bytes (addresses and lengths) become live.
    pub fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        for (address, len) in reads {
            if self.code.is_hidden(address) {
                continue;
            }
            let placed = C::placed(self, address);
            self.course.live.add(placed, address, len);
            if C::is_mapped(self, address) {
                self.course.live.add_cell(CellKind::Contents, None);
            }
        }
    }

    /// Words become live as addresses: see [`Live`].
    pub fn add_addresses(&mut self, words: impl IntoIterator<Item = u64>) {
        for word in words {
            if word % WORD != 0 || C::is_mapped(self, word) {
                self.add_reads(std::iter::once((word, WORD)));
            } else if !self.code.is_hidden(word) {
                let placed = C::placed(self, word);
                self.course.live.add_address(placed, word);
            }
        }
    }

    /// Written bytes are defined here and are no longer live. Returns whether one of them was live.
    pub fn kill_writes(&mut self, group: &Group<'_>) -> bool {
        let mut live = false;
        for step in group.steps {
            match *step {
                Step::Write { len, address } => live |= self.kill(address, len.into()),
                // The initial contents are constant.
                Step::Allocate { len, address } => {
                    self.kill(address, len.into());
                    self.code.came_to_be(address);
                }
                Step::Replaced { own, origin, base } => self.code.was_replaced(Former { own, origin, base }),
                Step::Store { bytes, address, .. } => live |= self.kill(address, bytes.into()),
                _ => {}
            }
        }
        live
    }

    /// The arguments that say where a call writes become live.
    pub(super) fn live_places(&mut self, writes: &[Place], args: &[u32]) {
        let slots = &mut self.top().live;
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
