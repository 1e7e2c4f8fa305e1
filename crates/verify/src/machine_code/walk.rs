//! Machine code, as the backward walk sees it ([`crate::slice::walk`]): all calls run in one IR function and share its registers.
//!
//! While the walk is inside of a function, live registers that the function preserves belong to its caller. So the instructions that save
//! and restore them do not become relevant. A call of a function with a summary is added to the slice as a whole or not at all. Its
//! arguments are read at the call. The same holds for a call of the IR, by which machine code reaches models. All decisions that the path
//! made before machine code began are relevant.

mod calls;
mod data;
mod pointed;

use std::cell::RefCell;
use std::rc::Rc;

use wryneck_exec::{CodePos, Image, Step, Traced, Wanted};
use wryneck_ir::{Inst, Op, Transfer};

use super::code::{Facts, Function};
use super::effects::{Effects, Memory};
use super::saved::Place as Saved;
use super::trace::{Calls, Move};
use crate::flow::{BitSet, Place, Summary};
use crate::slice::explain::Why;
use crate::slice::live::{Live, Placed};
use crate::slice::needs::{Known, Needs};
use crate::slice::walk::{Asks, Code, Frame, Group, Mismatch, Record, Walk, hold};

/// Slices a recorded path: see [`crate::slice::Front::slice`].
pub fn slice(
    facts: &mut Facts,
    known: &Known,
    path: &Traced<'_>,
    from: Option<&Needs>,
    see: &mut dyn FnMut(CodePos, Option<Why>),
) -> Result<Wanted, Mismatch> {
    hold(path)?;
    let Some(machine) = path.trace.frames.iter().position(|frame| frame.func == facts.func) else {
        return Ok(Wanted { decisions: all_before(path, path.trace.steps.len()), settled: false, noted: false });
    };
    let calls = Calls::find(facts, path)?;
    let frame = path.state.frames.iter().find(|frame| frame.func() == facts.func);
    let thread = facts.registers.as_ref().zip(frame).and_then(|(registers, frame)| {
        let slot = registers.thread as usize;
        frame.concrete(slot)
    });
    let over = Over {
        path,
        facts,
        calls,
        machine: machine as u32,
        done: false,
        began_inside: false,
        thread,
        private: RefCell::new(((0, 0, 0), Rc::from([]))),
        assumed: RefCell::default(),
    };
    let mut walk = Walk::new(over, Record::of(path), see);
    walk.enter_all()?;
    if let Some(needs) = from {
        walk.resume(needs)?;
    }
    let mut wanted = walk.found(known)?;
    wanted.decisions.extend(all_before(path, walk.course.position));
    Ok(wanted)
}

/// All decisions of the first steps.
fn all_before(path: &Traced<'_>, count: usize) -> Vec<u32> {
    let decisions = path.trace.steps[..count].iter().filter_map(|step| match step {
        Step::Decision { index } => Some(*index),
        _ => None,
    });
    decisions.filter(|index| *index >= path.oldest).collect()
}

/// Machine code under a walk.
struct Over<'a, 'f> {
    path: &'a Traced<'a>,
    facts: &'f mut Facts,
    calls: Calls,
    /// The number of machine code's frame in the trace.
    machine: u32,
    done: bool,
    /// Recording began inside of a call with a summary.
    began_inside: bool,
    /// The address of thread-local memory, if known.
    thread: Option<u64>,
    /// What [`Walk::private`] last found, for these calls in progress: how many, and the innermost one with its function's first block.
    private: RefCell<((usize, u32, u32), Ranges)>,
    /// Addresses of variables whose words the last answers about pointers rest on.
    assumed: RefCell<Vec<u64>>,
}

/// Addresses and lengths, ascending and apart.
type Ranges = Rc<[(u64, u64)]>;

/// The function that a call runs, if it is known.
type Running = Option<Rc<Function>>;

impl<'a> Code<'a> for Over<'a, '_> {
    type Call = Running;
    type Changes = Memory;

    fn inst(&self, _: u32, op: u32) -> Inst {
        self.facts.inst(self.path.image, op)
    }
    fn block_of(&self, _: u32, op: u32) -> u32 {
        self.facts.block_of(op)
    }
    fn first_op(&self, _: u32, block: u32) -> u32 {
        self.facts.ops(self.path.image, block).start
    }
    fn known(walk: &Walk<'a, '_, Self>, op: u32) -> u8 {
        let function = walk.frames.last().and_then(|frame| frame.call.as_ref());
        function.map_or(0, |function| walk.code.facts.known_operands(walk.code.path.image, function, op))
    }

    fn function(&self, frame: &Frame<Running>) -> u32 {
        self.calls.all[frame.number as usize].entry.unwrap_or(u32::MAX)
    }
    fn depth(walk: &Walk<'a, '_, Self>) -> usize {
        // Calls inside of a call with a summary are not known.
        if walk.code.began_inside { 0 } else { walk.code.machine as usize + 1 }
    }
    fn is_over(walk: &Walk<'a, '_, Self>) -> bool {
        walk.code.done
    }
    fn compared(walk: &mut Walk<'a, '_, Self>, needs: &mut Needs) {
        walk.add_saved(needs);
    }
    fn state_frame(walk: &Walk<'a, '_, Self>, call: usize) -> Option<u32> {
        (call + 1 == walk.frames.len()).then_some(walk.code.machine)
    }

    fn at_start(walk: &mut Walk<'a, '_, Self>) -> Result<(), Mismatch> {
        let at = walk.course.position - 1;
        match walk.code.path.trace.steps[at] {
            Step::Edge { op, edge } => {
                walk.course.position = at;
                walk.came(at, op, Some(edge), None)
            }
            Step::Slow { count, .. } => {
                let group = walk.group(count)?;
                let first = walk.course.position;
                let moved = (first..).zip(group.steps).find_map(|(at, step)| match *step {
                    Step::Edge { op, edge } => Some((at, op, Some(edge))),
                    Step::Jump { op, .. } => Some((at, op, None)),
                    _ => None,
                });
                match moved {
                    Some((at, op, edge)) => walk.came(at, op, edge, Some(&group)),
                    None if group.enters() > 0 => {
                        walk.begin(first + count as usize);
                        Ok(())
                    }
                    None => Err(Mismatch("a block was entered by no edge")),
                }
            }
            Step::Enter { frame } if frame == walk.code.machine => {
                walk.begin(at + 1);
                Ok(())
            }
            _ => Err(Mismatch("a block was entered by no step")),
        }
    }

    fn left(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, _: u32, frame: u32) -> Result<(), Mismatch> {
        walk.skip_frame(inst, op, frame);
        Ok(())
    }

    fn asks(walk: &Walk<'a, '_, Self>, inst: &Inst, op: u32, edge: Option<u32>, decides: bool) -> Result<Asks, Mismatch> {
        let transfer = walk.code.facts.transfer(walk.code.facts.block_of(op));
        match inst.operator() {
            Some(Op::Br) => Ok(Asks::No),
            // Returns lead back to their calls.
            Some(Op::CondBr | Op::Jump) if transfer == Transfer::Return && !decides => Ok(Asks::No),
            Some(Op::Jump) if matches!(transfer, Transfer::To(_)) => Ok(Asks::No),
            Some(Op::CondBr | Op::Jump) => Ok(edge.filter(|_| transfer != Transfer::Return).map_or(Asks::Always, Asks::Edge)),
            _ => Err(Mismatch("an edge leaves from what is no branch")),
        }
    }

    fn announced(walk: &mut Walk<'a, '_, Self>, inst: &Inst, mask: u32, group: &Group<'a>) {
        walk.is_announced(inst, mask, group);
    }
    fn shown(walk: &mut Walk<'a, '_, Self>, _: &Inst, group: &Group<'a>) {
        walk.is_shown(group);
    }
    fn called(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, group: &Group<'a>) {
        walk.asked(inst, op, group, None);
    }

    fn join(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Option<u32>> {
        let function = walk.running()?;
        function.local(block)?;
        Some(function.join(block))
    }
    fn others(walk: &Walk<'a, '_, Self>, block: u32, edge: u32) -> Vec<u32> {
        let edges = walk.running().and_then(|function| Some(&function.cfg.blocks[function.local(block)? as usize].edges));
        edges.into_iter().flatten().map(|(edge, _)| *edge).filter(|other| *other != edge).collect()
    }
    fn side(walk: &mut Walk<'a, '_, Self>, block: u32, edge: u32) -> Rc<Effects> {
        match walk.running().cloned() {
            Some(function) => walk.code.facts.side(walk.code.path.image, &function, block, edge),
            None => Rc::new(walk.code.facts.anything()),
        }
    }
    fn differing(_: &Walk<'a, '_, Self>, _: u32) -> Option<Rc<BitSet>> {
        None
    }
    fn rest(walk: &mut Walk<'a, '_, Self>, call: usize, op: u32) -> (Rc<Effects>, bool) {
        walk.rest_of(call, op)
    }
    fn event_at_exit(&self) -> bool {
        self.facts.event_at_exit
    }
    fn touched(walk: &Walk<'a, '_, Self>, frame: &Frame<Running>, live: &Live, changes: &Memory) -> Option<Why> {
        walk.touches(frame, live, changes, false)
    }
    fn touched_memory(walk: &Walk<'a, '_, Self>, frame: &Frame<Running>, live: &Live, changes: &Memory) -> Option<Why> {
        walk.touches(frame, live, changes, true)
    }
    fn settle(walk: &mut Walk<'a, '_, Self>) {
        walk.settle_assumed();
    }
    fn may_write(walk: &mut Walk<'a, '_, Self>, op: u32, written: &[(u64, u64)], decides: bool) -> bool {
        !walk.returns(op) && Over::known(walk, op) & 1 == 0 && walk.may_write_live(op, written, decides)
    }

    fn placed(walk: &Walk<'a, '_, Self>, address: u64) -> Placed {
        (walk.code.facts.layout.part(address), 0)
    }
    fn is_hidden(&self, address: u64) -> bool {
        self.facts.layout.is_hidden(address)
    }
    fn is_mapped(walk: &Walk<'a, '_, Self>, address: u64) -> bool {
        let path = walk.code.path;
        path.state.memory.heap.find(address).is_some_and(|object| path.environment.maps(&object))
    }
    fn deciding(summary: &Summary, args: &[u32]) -> Vec<u32> {
        data::named_arguments(summary, args)
    }
    fn writes_live(&self, place: &Place, live: &Live, key: &dyn Fn(u32) -> Option<u64>) -> bool {
        data::writes_live(&self.facts.layout, place, live, key)
    }
    fn of_object(walk: &Walk<'a, '_, Self>, address: u64, bytes: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        match walk.object(address) {
            Some(object) => bytes.into_iter().filter(|(address, _)| object.contains(address)).collect(),
            None => bytes,
        }
    }
}

impl Over<'_, '_> {
    /// The stack address of a call's return address; 0: unknown.
    fn base(&self, frame: &Frame<Running>) -> u64 {
        self.calls.all[frame.number as usize].base
    }
}

impl<'a> Walk<'a, '_, Over<'a, '_>> {
    /// Whether an operation belongs to the end of a return: what it stores lies in the shadow stack.
    fn returns(&self, op: u32) -> bool {
        self.code.facts.ends_return(self.code.path.image, self.code.facts.block_of(op))
    }

    /// Memory in the frames of calls in progress that no pointer leads to.
    fn private(&self) -> Ranges {
        let top = self.frames.last();
        let entry = top.and_then(|top| top.call.as_ref()).map_or(u32::MAX, |function| function.entry);
        let calls = (self.frames.len(), top.map_or(0, |top| top.number), entry);
        if let (of, known) = &*self.code.private.borrow()
            && *of == calls
        {
            return known.clone();
        }
        let mut all = Vec::new();
        for frame in &self.frames {
            let base = self.code.base(frame);
            let ranges = frame.call.iter().flat_map(|function| &function.private).filter(|_| base != 0);
            all.extend(ranges.map(|(low, high)| (base.wrapping_add_signed(*low), (high - low) as u64)));
        }
        all.sort_unstable();
        // Frames do not overlap, unless a program moves its stack.
        let mut behind = 0;
        all.retain(|(address, len)| {
            let apart = *address >= behind;
            behind = behind.max(address.saturating_add(*len));
            apart
        });
        let all = Ranges::from(all);
        *self.code.private.borrow_mut() = (calls, all.clone());
        all
    }

    /// Pushes the calls in progress at the path's end.
    fn enter_all(&mut self) -> Result<(), Mismatch> {
        let path = self.code.path;
        let machine = self.code.machine;
        let Some(at) = path.trace.end.iter().position(|(number, _)| *number == machine) else {
            return Err(Mismatch("the path ended outside of machine code"));
        };
        let end = self.code.calls.end.clone();
        let inner: Vec<Option<u32>> = end.iter().skip(1).map(|call| self.code.calls.all[*call as usize].site).collect();
        for (call, site) in end.iter().zip(inner.into_iter().chain([None])) {
            let cursor = match site {
                Some(block) => self.code.facts.ops(path.image, block).end,
                None => path.trace.end[at].1 + 1,
            };
            self.enter(*call, cursor, false);
        }
        // A function that machine code called belongs to the calling operation.
        if let Some((above, _)) = path.trace.end.get(at + 1) {
            let begin = match path.trace.frames[*above as usize].entered {
                _ if *above < path.trace.open => 0,
                entered => entered as usize,
            };
            let group = Group { steps: &path.trace.steps[begin..], stack_below: 0 };
            self.course.position = begin;
            if self.end_matters() {
                self.take();
                self.want(&group);
                self.add_reads(group.reads());
            }
            self.top().handled = true;
        }
        Ok(())
    }

    fn enter(&mut self, call: u32, cursor: u32, returned: bool) {
        let block = self.code.facts.block_of(cursor.saturating_sub(1));
        let activation = self.code.calls.all[call as usize];
        let function = self.function(activation.last.or(activation.entry), block);
        self.push(call, self.code.facts.func, function, cursor, returned);
    }

    /// The function that begins with a block, or else a function that contains `part`.
    fn function(&mut self, entry: Option<u32>, part: u32) -> Running {
        let image = self.code.path.image;
        entry.map(|entry| self.code.facts.function(image, entry)).or_else(|| self.code.facts.around(image, part))
    }

    /// The function that the top call runs.
    fn running(&self) -> Option<&Rc<Function>> {
        self.frames.last().and_then(|frame| frame.call.as_ref())
    }

    /// The steps from `position` on belong to machine code.
    fn begin(&mut self, position: usize) {
        self.course.position = position;
        self.code.done = true;
    }

    /// Walks through the branch at `op`, whose step is `at`: inside a function, into one or out of one.
    fn came(&mut self, at: usize, op: u32, edge: Option<u32>, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        match self.code.calls.moves.get(&at).copied() {
            Some(Move::Call) => self.entered(op, group),
            Some(Move::Return(callee)) => self.returned(callee, at, op, group),
            Some(Move::Tail(before)) => {
                self.pass_block();
                self.go_to(op);
                self.top().call = self.function(before, self.code.facts.block_of(op));
                self.called_by(op, group);
                Ok(())
            }
            None => {
                self.pass_block();
                self.branch(op, edge, group)
            }
        }
    }

    /// Marks the beginning of the cursor's block as passed.
    fn pass_block(&mut self) {
        let start = self.top().block_start;
        let block = self.code.facts.block_of(start);
        self.pass(block, None);
    }

    /// Moves the cursor to after an operation.
    fn go_to(&mut self, op: u32) {
        let start = self.block_start(0, op);
        let top = self.top();
        (top.cursor, top.block_start, top.handled) = (op, start, false);
    }

    /// The effects in a call in progress after the operation at `op`, and whether it may return. The C library's start calls `exit` once `main`
    /// has returned.
    fn rest_of(&mut self, call: usize, op: u32) -> (Rc<Effects>, bool) {
        let image = self.code.path.image;
        let block = self.code.facts.block_of(op);
        let main = self.frames.get(call + 1).is_some_and(|inner| self.code.facts.is_main(self.code.function(inner)));
        if main && matches!(self.code.facts.transfer(block), Transfer::Call { begins: true, .. }) {
            return (Rc::new(Effects { exits: true, ..Effects::default() }), false);
        }
        match self.frames[call].call.clone() {
            Some(function) => {
                let returns = function.local(block).is_none_or(|local| function.cfg.returning(local));
                (self.code.facts.rest(image, &function, block), returns)
            }
            None => (Rc::new(self.code.facts.anything()), true),
        }
    }

    /// Adds where the live registers of callers are: see [`super::saved`].
    fn add_saved(&mut self, needs: &mut Needs) {
        let image = self.code.path.image;
        let Some(registers) = &self.code.facts.registers else { return needs.unplaced = true };
        let pointer = registers.stack_pointer;
        for at in 1..self.frames.len() {
            let kept: Vec<u32> = self.frames[at - 1].live.iter().filter(|slot| *slot != pointer).collect();
            for slot in kept {
                match self.saved(image, at, slot) {
                    Saved::Register(slot) => drop(needs.saved.insert(slot)),
                    Saved::Memory(places) => places.into_iter().for_each(|address| needs.read.add(Placed::default(), address, 8)),
                    Saved::Unknown => needs.unplaced = true,
                }
            }
        }
    }

    /// Where the value is that a register held when the call `at` began.
    fn saved(&self, image: &Image, at: usize, slot: u32) -> Saved {
        let facts = &self.code.facts;
        for (at, frame) in self.frames.iter().enumerate().skip(at) {
            let (Some(function), base) = (&frame.call, self.code.base(frame)) else { return Saved::Unknown };
            // A call is the last operation of its block.
            let ops = match self.frames.get(at + 1) {
                Some(inner) => match self.code.calls.all[inner.number as usize].site {
                    Some(site) => facts.ops(image, site),
                    None => return Saved::Unknown,
                },
                None => frame.block_start..frame.cursor,
            };
            match facts.saved_in(image, function, ops, slot) {
                Saved::Register(_) => {}
                Saved::Memory(places) if base != 0 => {
                    return Saved::Memory(places.into_iter().map(|k| base.wrapping_add(k)).collect());
                }
                Saved::Memory(_) | Saved::Unknown => return Saved::Unknown,
            }
        }
        Saved::Register(slot)
    }
}
