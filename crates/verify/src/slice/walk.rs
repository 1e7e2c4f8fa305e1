//! The backward walk over a recorded path.
//!
//! A frame on the walk's stack is a call of the path, entered at its last operation and left at its first. Time runs backwards: it counts
//! up as the walk goes. A branch has something needed between itself and its join if something was taken after the walk last passed the join.
//! Summarised functions are taken or left as a whole. Where recording began, the walk ends.

use rustc_hash::FxHashMap;
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, PathEnd, Step, Traced};
use wryneck_ir::{Inst, Module, NONE, Op, limbs};

use super::explain::Why;
use super::live::{Live, Placed};
use super::operand;
use crate::flow::{BitSet, ContextId, Flow, Gives, Place, Summary};

/// The steps do not fit the code: our defect, but for code that came to be while it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub &'static str);

/// The decisions of the path, from its oldest undecided one on, that its events depend on.
/// `see` is told of each branch with two sides why it matters, if it does.
pub fn wanted(flow: &Flow, path: &Traced<'_>, see: &mut dyn FnMut(CodePos, Option<Why>)) -> Result<Vec<u32>, Mismatch> {
    let mut walk = Walk::new(flow, path, see);
    while walk.position > 0 && !walk.frames.is_empty() {
        walk.step()?;
    }
    Ok(walk.wanted)
}

/// A call in progress.
struct Frame {
    /// In the trace.
    number: u32,
    func: u32,
    /// What is known of its arguments.
    context: ContextId,
    /// Operations from here on are done.
    cursor: u32,
    /// First operation of the block the cursor is in.
    block_start: u32,
    /// The operation before the cursor is done but for what was shown of it.
    handled: bool,
    live: BitSet,
    /// When the walk passed the beginning of a block last.
    passed: FxHashMap<u32, u64>,
    /// When something was taken last; 0: never.
    taken: u64,
    /// It returned on the path.
    returned: bool,
}

struct Walk<'a> {
    flow: &'a Flow,
    path: &'a Traced<'a>,
    /// Steps that are left.
    position: usize,
    time: u64,
    /// Innermost last.
    frames: Vec<Frame>,
    live: Live,
    /// Something was taken.
    any: bool,
    /// The operation at hand is the one the path ended at.
    at_end: bool,
    /// A monitor looked at the result of the call at hand.
    result_matters: bool,
    wanted: Vec<u32>,
    see: &'a mut dyn FnMut(CodePos, Option<Why>),
}

/// What the steps of a slow operation were, in order.
struct Group<'a> {
    steps: &'a [Step],
    /// The stack below this address belongs to calls that are part of the operation; 0 if there are none.
    stack_below: u64,
}

/// No stack is larger, in bytes.
const STACK: u64 = 1 << 32;

impl Group<'_> {
    fn decisions(&self) -> impl Iterator<Item = u32> + '_ {
        self.steps.iter().filter_map(|step| match step {
            Step::Decision { index } => Some(*index),
            _ => None,
        })
    }
    /// But for what calls in there keep on the stack: addresses and lengths.
    fn reads(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let outside = |address: u64| !(self.stack_below.saturating_sub(STACK)..self.stack_below).contains(&address);
        let reads = self.steps.iter().filter_map(|step| match *step {
            Step::Read { len, address } => Some((address, u64::from(len))),
            Step::Load { bytes, address, .. } => Some((address, u64::from(bytes))),
            _ => None,
        });
        reads.filter(move |(address, _)| outside(*address))
    }
    fn writes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.steps.iter().filter_map(|step| match *step {
            Step::Write { len, address } => Some((address, u64::from(len))),
            Step::Store { bytes, address, .. } => Some((address, u64::from(bytes))),
            _ => None,
        })
    }
    fn enters(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Enter { .. })).count()
    }
    fn edge(&self) -> Option<(u32, u32)> {
        self.steps.iter().find_map(|step| match step {
            Step::Edge { op, edge } => Some((*op, *edge)),
            _ => None,
        })
    }
}

impl<'a> Walk<'a> {
    fn new(flow: &'a Flow, path: &'a Traced<'a>, see: &'a mut dyn FnMut(CodePos, Option<Why>)) -> Walk<'a> {
        let fault = matches!(path.end, PathEnd::Fault(_));
        let mut walk = Walk {
            flow,
            path,
            position: path.trace.steps.len(),
            time: 1,
            frames: Vec::new(),
            live: Live::default(),
            any: fault,
            at_end: true,
            result_matters: false,
            wanted: Vec::new(),
            see,
        };
        for (number, op) in &path.trace.end {
            let call = walk.frames.last().map(|caller| caller.cursor - 1);
            walk.push(*number, call, *op + 1, false);
        }
        walk
    }

    /// `call`: the operation of the frame on top that called it, if that is known.
    fn push(&mut self, number: u32, call: Option<u32>, cursor: u32, returned: bool) {
        let func = self.path.trace.frames[number as usize].func;
        let context = match (self.frames.last(), call) {
            (Some(caller), Some(op)) if self.calls(caller.func, &self.inst(caller.func, op), func) => {
                self.flow.context(caller.func, caller.context, op, func)
            }
            _ => 0,
        };
        let block_start = self.block_start(func, cursor.saturating_sub(1));
        self.frames.push(Frame {
            number,
            func,
            context,
            cursor,
            block_start,
            handled: false,
            live: BitSet::default(),
            passed: FxHashMap::default(),
            taken: 0,
            returned,
        });
    }

    fn block_start(&self, func: u32, op: u32) -> u32 {
        self.flow.first_op(func, self.flow.block_of(func, op))
    }

    fn module(&self, func: u32) -> &'a Module {
        self.path.image.function(func).0
    }

    fn inst(&self, func: u32, op: u32) -> Inst {
        let code = self.path.image.code(func);
        self.module(func).insts[(code.first_inst + op) as usize]
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the walk goes on only in a frame")
    }

    fn peek(&self) -> Option<Step> {
        self.position.checked_sub(1).map(|at| self.path.trace.steps[at])
    }

    /// The steps of the slow operation that `count` steps belong to, which are passed.
    fn group(&mut self, count: u32) -> Result<Group<'a>, Mismatch> {
        let end = self.position - 1;
        let start = end.checked_sub(count as usize).ok_or(Mismatch("a slow operation has more steps than there are"))?;
        self.position = start;
        Ok(Group { steps: &self.path.trace.steps[start..end], stack_below: 0 })
    }

    /// Whether the slow operation just before called the function at hand: then it is its caller's.
    fn enters(&self, count: u32) -> bool {
        let end = self.position - 1;
        let steps = self.path.trace.steps.get(end.saturating_sub(count as usize)..end);
        steps.is_some_and(|steps| steps.iter().any(|step| matches!(step, Step::Enter { .. })))
    }

    /// Something is taken: what decided that it happens matters.
    fn take(&mut self) {
        self.time += 1;
        self.any = true;
        let time = self.time;
        self.top().taken = time;
    }

    fn want(&mut self, group: &Group<'_>) {
        self.wanted.extend(group.decisions().filter(|index| *index >= self.path.oldest));
    }

    /// Goes one step back.
    fn step(&mut self) -> Result<(), Mismatch> {
        let frame = self.top();
        let (func, cursor, start) = (frame.func, frame.cursor, frame.block_start);
        if cursor == start {
            return self.at_start();
        }
        let op = cursor - 1;
        let inst = self.inst(func, op);
        match self.peek() {
            Some(Step::Slow { op: at, count }) if at == op && !self.enters(count) => {
                let group = self.group(count)?;
                self.slow(&inst, op, &group);
                self.at_end = false;
                self.top().handled = true;
                return Ok(());
            }
            Some(Step::Shown { op: at, count }) if at == op => {
                let group = self.group(count)?;
                self.shown(&inst, &group);
                return Ok(());
            }
            Some(Step::Leave { op: at, frame }) if is_call(&inst) && !self.frames.last().is_some_and(|f| f.handled) => {
                self.position -= 1;
                return self.leave(&inst, op, at, frame);
            }
            _ => {}
        }
        if !self.frames.last().is_some_and(|f| f.handled) {
            self.plain(&inst, op)?;
        }
        self.at_end = false;
        let frame = self.top();
        frame.handled = false;
        frame.cursor = op;
        Ok(())
    }

    /// At the beginning of a block: the edge into it, or the call of the function.
    fn at_start(&mut self) -> Result<(), Mismatch> {
        match self.peek() {
            Some(Step::Edge { op, edge }) => {
                self.position -= 1;
                self.edge(op, edge, None)
            }
            Some(Step::Slow { count, .. }) => {
                let group = self.group(count)?;
                match group.edge() {
                    Some((op, edge)) => self.edge(op, edge, Some(&group)),
                    None if group.enters() > 0 => self.entered(group.enters(), Some(&group)),
                    None => Err(Mismatch("a block was entered by no edge")),
                }
            }
            Some(Step::Enter { .. }) => {
                self.position -= 1;
                self.entered(1, None)
            }
            // A function that a model called before this one.
            Some(Step::Leave { op, frame }) => {
                self.position -= 1;
                self.push(frame, None, op + 1, true);
                self.pass_return(op);
                Ok(())
            }
            Some(_) | None => Err(Mismatch("a block was entered by no step")),
        }
    }

    /// Marks the return the top frame is at as passed.
    fn pass_return(&mut self, op: u32) {
        let func = self.top().func;
        let start = self.block_start(func, op);
        let frame = self.top();
        frame.cursor = op;
        frame.block_start = start;
    }

    /// Through an edge and the branch that took it.
    fn edge(&mut self, op: u32, edge: u32, group: Option<&Group<'_>>) -> Result<(), Mismatch> {
        let func = self.top().func;
        let module = self.module(func);
        let function = self.path.image.function(func).1;
        let record = module.edges.range(function.edges).get(edge as usize).ok_or(Mismatch("no such edge"))?;
        self.time += 1;
        let time = self.time;
        self.top().passed.insert(record.block, time);
        let copies = module.copies.range(record.copies);
        let frame = self.top();
        let needed: Vec<_> = copies.iter().filter(|copy| frame.live.contains(copy.dst)).copied().collect();
        needed.iter().for_each(|copy| frame.live.remove(copy.dst));
        frame.live.extend(needed.iter().map(|copy| copy.src));
        if !needed.is_empty() {
            self.take();
        }
        // A comparison is fused with the branch behind it.
        let ends = |inst: &Inst| matches!(inst.operator(), Some(Op::Br | Op::CondBr | Op::Switch));
        let branch = if ends(&self.inst(func, op)) { op } else { op + 1 };
        let inst = self.inst(func, branch);
        let start = self.block_start(func, branch);
        let frame = self.top();
        (frame.cursor, frame.block_start, frame.handled) = (branch, start, false);
        match inst.operator() {
            Some(Op::Br) => {}
            Some(Op::CondBr | Op::Switch) => {
                if !self.flow.edges(func, self.top().context, self.flow.block_of(func, branch)).contains(&edge) {
                    return Err(Mismatch("an allocation failed, which slices take for impossible"));
                }
                let why = self.matters(func, branch, edge);
                (self.see)(CodePos { func, op: branch }, why);
                if why.is_some() {
                    self.take();
                    self.top().live.insert(inst.a);
                    if let Some(group) = group {
                        self.want(group);
                    }
                }
            }
            _ => return Err(Mismatch("an edge leaves from what is no branch")),
        }
        Ok(())
    }

    /// Whether the branch at operation `branch` of the top frame, which took `edge`, matters to what was taken behind it.
    fn matters(&mut self, func: u32, branch: u32, edge: u32) -> Option<Why> {
        let block = self.flow.block_of(func, branch);
        let frame = self.frames.last().expect("a branch runs in a frame");
        let join = self.flow.join(func, frame.context, block);
        let joined = join.and_then(|join| frame.passed.get(&join).copied());
        if frame.taken > joined.unwrap_or(0) {
            return Some(Why::Between);
        }
        // The path ended on this side: the other one may go on.
        if joined.is_none() && !frame.returned {
            let goes_on = |frame: &Frame, op: u32| self.flow.rest(frame.func, frame.context, op).event;
            let callers = self.frames[..self.frames.len() - 1].iter();
            let unfinished = callers.rev().take_while(|frame| !frame.returned);
            if goes_on(frame, branch) || unfinished.into_iter().any(|frame| goes_on(frame, frame.cursor.saturating_sub(1))) {
                return Some(Why::GoesOn);
            }
        }
        let other = self.flow.edges(func, frame.context, block).into_iter().filter(|other| *other != edge);
        other.into_iter().find_map(|other| {
            let side = self.flow.side(func, frame.context, block, other);
            match () {
                () if side.event => Some(Why::Event),
                () if side.leaves && self.any => Some(Why::Leaves),
                () if frame.live.meets(&side.slots) => Some(Why::Local),
                () => self.live.touched_by(&side),
            }
        })
    }

    /// Through the call of the innermost `count` functions.
    fn entered(&mut self, count: usize, group: Option<&Group<'_>>) -> Result<(), Mismatch> {
        let mut callees = Vec::with_capacity(count);
        for _ in 0..count {
            callees.extend(self.frames.pop());
        }
        callees.iter().for_each(|callee| self.kill_frame(callee));
        let Some(caller) = self.frames.last() else { return Ok(()) };
        let (func, op) = (caller.func, caller.cursor.saturating_sub(1));
        let inst = self.inst(func, op);
        if !is_call(&inst) {
            return Err(Mismatch("a function was entered by no call"));
        }
        let mut took = callees.iter().any(|callee| callee.taken > 0);
        let args = self.args(func, &inst);
        match &callees[..] {
            [callee] if self.calls(func, &inst, callee.func) => {
                let code = self.path.image.code(callee.func);
                let first = code.consts.len() as u32;
                let params = (0..code.param_slots).filter(|i| callee.live.contains(first + i));
                let slots: Vec<u32> = params.filter_map(|i| args.get(i as usize).copied()).collect();
                let by_value = code.by_value && group.is_some_and(|group| group.writes().any(|(at, len)| self.live.is_live(at, len)));
                self.top().live.extend(slots);
                if let (true, Some(group)) = (by_value, group) {
                    self.kill_writes(group);
                    self.add_reads(group.reads());
                    self.top().live.extend(args.iter().copied());
                    took = true;
                }
            }
            _ if callees.iter().any(|callee| !callee.live.is_empty()) => {
                self.top().live.extend(args.iter().copied());
                if let Some(group) = group {
                    self.add_reads(group.reads());
                }
            }
            _ => {}
        }
        let indirect = inst.operator() == Some(Op::CallIndirect);
        if indirect && (took || self.may_matter(func, op)) {
            took = true;
            self.top().live.insert(inst.a);
        }
        if took {
            self.take();
            if let Some(group) = group {
                self.want(group);
            }
        }
        self.top().handled = true;
        Ok(())
    }

    /// Whether the operation, whatever its operands, may be an event or change what is needed.
    fn may_matter(&mut self, func: u32, op: u32) -> bool {
        let context = self.top().context;
        let effects = self.flow.operation(func, context, op);
        effects.event || effects.leaves && self.any || self.live.touched_by(&effects).is_some()
    }

    /// Argument limbs of a call.
    fn args(&self, func: u32, inst: &Inst) -> &'a [u32] {
        let module = self.module(func);
        let args = module.calls[inst.b as usize].args;
        if args.count == 0 { &[] } else { module.slot_lists.range(args) }
    }

    /// Whether the call at hand calls `callee` itself, and not a model that does.
    fn calls(&self, func: u32, inst: &Inst, callee: u32) -> bool {
        match inst.operator() {
            Some(Op::Call) => self.callee(func, inst) == Some(Callee::Body(callee)),
            _ => true,
        }
    }

    fn callee(&self, func: u32, inst: &Inst) -> Option<Callee> {
        match inst.operator() {
            Some(Op::Call) => self.path.image.callee_of(self.path.image.code(func).module, inst.a),
            _ => None,
        }
    }

    /// Into a function that returned by operation `ret` to the call at `op`; past it, if it has a summary.
    fn leave(&mut self, inst: &Inst, op: u32, ret: u32, number: u32) -> Result<(), Mismatch> {
        let traced = self.path.trace.frames[number as usize];
        let caller = self.top().func;
        if let Some(summary) = self.flow.summary(Callee::Body(traced.func), None) {
            return self.summarised(inst, op, number, summary);
        }
        let width = self.module(caller).calls[inst.b as usize].ret_width;
        let result = self.live_result(inst, limbs(width));
        self.push(number, Some(op), ret + 1, true);
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

    /// The limbs of a call's result that are live, which get their value here.
    fn live_result(&mut self, inst: &Inst, count: u32) -> Vec<u32> {
        let shown = std::mem::take(&mut self.result_matters);
        let frame = self.top();
        let is_live = |limb: u32| inst.dst != NONE && frame.live.contains(inst.dst + limb);
        let live: Vec<u32> = (0..count).filter(|limb| shown && *limb == 0 || is_live(*limb)).collect();
        if inst.dst != NONE {
            live.iter().for_each(|limb| frame.live.remove(inst.dst + limb));
        }
        live
    }

    /// Past a call of a function with a body and a summary, which is taken or left as a whole.
    fn summarised(&mut self, inst: &Inst, op: u32, number: u32, summary: &Summary) -> Result<(), Mismatch> {
        let traced = self.path.trace.frames[number as usize];
        let steps = &self.path.trace.steps;
        let enter = traced.entered as usize;
        if self.path.trace.start.iter().any(|(frame, _)| *frame == number) {
            // Recording began inside of it.
            let group = Group { steps: &steps[..self.position], stack_below: traced.top };
            self.position = 0;
            self.by_summary(inst, op, &group, summary, &|_| None);
            return Ok(());
        }
        if !matches!(steps.get(enter), Some(Step::Enter { frame }) if *frame == number) {
            return Err(Mismatch("a call whose beginning was not recorded"));
        }
        // In a slow call other steps of the same operation stand around the entry.
        let behind = steps[enter + 1..].iter().position(|step| {
            !matches!(
                step,
                Step::Read { .. }
                    | Step::Write { .. }
                    | Step::Allocate { .. }
                    | Step::Cell { .. }
                    | Step::Decision { .. }
                    | Step::Event { .. }
            )
        });
        let after = enter + 1 + behind.unwrap_or(0);
        let begin = match steps.get(after) {
            Some(Step::Slow { count, .. }) if after - *count as usize <= enter => after - *count as usize,
            _ => enter,
        };
        let group = Group { steps: &steps[begin..self.position], stack_below: traced.top };
        self.position = begin;
        let key = |arg: u32| traced.args.get(arg as usize).copied().filter(|key| *key != 0);
        self.by_summary(inst, op, &group, summary, &key);
        self.top().handled = true;
        Ok(())
    }

    /// A call that is taken or left as a whole, by what its summary says. `key` gives arguments' values, where they are known.
    fn by_summary(&mut self, inst: &Inst, op: u32, group: &Group<'_>, summary: &Summary, key: &dyn Fn(u32) -> Option<u64>) {
        let func = self.top().func;
        let width = self.module(func).calls[inst.b as usize].ret_width;
        let result = !self.live_result(inst, limbs(width)).is_empty();
        let mut relevant = result && summary.gives.is_none();
        relevant |= self.kill_writes(group);
        relevant |= summary.writes.iter().any(|place| match place {
            Place::Cell(kind, stream) => self.live.has_cell(*kind, stream.and_then(key)),
            Place::Everything => !self.live.is_empty(),
            _ => false,
        });
        let args = self.args(func, inst);
        if !relevant && !self.end_matters() {
            // Where it writes may matter, but not what.
            if self.may_matter(func, op) {
                self.take();
                self.want(group);
                self.live_places(inst, &summary.writes, args);
            }
            // What it is assumed to give depends on an argument alone, or on nothing.
            if let (true, Some(Gives::Arg { arg, .. })) = (result, summary.gives) {
                self.take();
                self.top().live.extend(args.get(arg as usize).copied());
            }
            return;
        }
        self.take();
        self.want(group);
        self.live_places(inst, &summary.writes, args);
        for place in &summary.reads {
            match place {
                Place::Arg(i) => {
                    let slot = args.get(*i as usize).copied();
                    self.top().live.extend(slot);
                }
                Place::Memory(i) => {
                    let slot = args.get(*i as usize).copied();
                    self.top().live.extend(slot);
                    let object = key(*i).map(|address| self.placed(address));
                    let of_object: Vec<_> =
                        group.reads().filter(|(address, _)| object.is_none_or(|object| self.placed(*address) == object)).collect();
                    self.add_reads(of_object.into_iter());
                }
                Place::Reachable(_) | Place::Everything => {
                    self.top().live.extend(args.iter().copied());
                    self.add_reads(group.reads());
                }
                Place::Cell(kind, stream) => self.live.add_cell(*kind, stream.and_then(key)),
                Place::Result | Place::Errno => {}
            }
        }
    }

    /// The arguments that say where a call writes become live, and the pointer it is made by.
    fn live_places(&mut self, inst: &Inst, writes: &[Place], args: &[u32]) {
        let by_pointer = (inst.operator() == Some(Op::CallIndirect)).then_some(inst.a);
        let top = self.top();
        top.live.extend(by_pointer);
        for place in writes {
            match place {
                Place::Memory(i) | Place::Reachable(i) | Place::Cell(_, Some(i)) => top.live.extend(args.get(*i as usize).copied()),
                Place::Everything => top.live.extend(args.iter().copied()),
                Place::Result | Place::Errno | Place::Arg(_) | Place::Cell(_, None) => {}
            }
        }
    }

    /// Whether the operation at hand is where the path ended by a fault.
    fn end_matters(&self) -> bool {
        self.at_end && matches!(self.path.end, PathEnd::Fault(_))
    }

    /// An operation the inner loop left to others.
    fn slow(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
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
        let mut relevant = self.define(operand::defines(inst));
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
        let top = self.top();
        operand::uses(inst).for_each(|run| top.live.extend(run.0..run.0 + run.1));
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
                Some(self.live.offsets(to, m).into_iter().map(|offset| (from + offset, 1)).collect())
            }
            _ => None,
        }
    }

    /// A call of a model, or of a function nobody defines.
    fn called(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        let func = self.top().func;
        let image = self.path.image;
        let args = self.args(func, inst);
        let constant = |arg: u32| {
            let consts = &image.code(func).consts;
            args.get(arg as usize).and_then(|slot| consts.get(*slot as usize)).copied()
        };
        let summary = match self.callee(func, inst) {
            Some(Callee::Model(model)) => self.flow.summary_of(image.model_name(model), constant(0)),
            Some(Callee::Undefined(u)) => self.flow.summary_of(image.undefined_name(u), constant(0)),
            Some(Callee::Body(_)) | None => None,
        };
        match summary {
            Some(summary) => self.by_summary(inst, op, group, summary, &constant),
            None => {
                let unknown = Summary { reads: vec![Place::Everything], writes: vec![Place::Everything], ..Summary::default() };
                self.by_summary(inst, op, group, &unknown, &constant);
            }
        }
    }

    /// A call that is an event, or may be one for other arguments, seen before it is made.
    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'_>) {
        let func = self.top().func;
        self.take();
        self.want(group);
        let slots: Vec<u32> = self.args(func, inst).iter().zip(0..32).filter(|(_, i)| mask >> i & 1 != 0).map(|(slot, _)| *slot).collect();
        let top = self.top();
        top.live.extend(slots);
        if inst.operator() == Some(Op::CallIndirect) {
            top.live.insert(inst.a);
        }
        self.add_reads(group.reads());
    }

    /// The return of such a call.
    fn shown(&mut self, inst: &Inst, group: &Group<'_>) {
        self.take();
        self.want(group);
        self.result_matters = is_call(inst);
        self.add_reads(group.reads());
    }

    /// An operation of the inner loop.
    fn plain(&mut self, inst: &Inst, op: u32) -> Result<(), Mismatch> {
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
                if self.define(operand::defines(inst)) {
                    self.take();
                    self.top().live.insert(inst.a);
                    self.add_reads(std::iter::once(access));
                }
            }
            Some(Op::Store) => {
                let (address, bytes) = self.access(op)?;
                if self.kill(address, bytes) {
                    self.take();
                    let top = self.top();
                    operand::uses(inst).for_each(|run| top.live.extend(run.0..run.0 + run.1));
                } else if !self.live.is_empty() && self.may_matter(func, op) {
                    self.take();
                    self.top().live.insert(inst.a);
                }
            }
            Some(Op::Call | Op::CallIndirect) if !self.at_end => return Err(Mismatch("a call left no step")),
            operator => {
                if self.define(operand::defines(inst)) {
                    self.take();
                    let top = self.top();
                    let used = |n: u8| only.is_none_or(|only| only == n || n == 0 && operator == Some(Op::Select));
                    for (run, _) in operand::uses(inst).zip(0..).filter(|(_, n)| used(*n)) {
                        top.live.extend(run.0..run.0 + run.1);
                    }
                }
            }
        }
        Ok(())
    }

    /// The address and the bytes of the load or store at `op`.
    fn access(&mut self, op: u32) -> Result<(u64, u64), Mismatch> {
        match self.peek() {
            Some(Step::Load { op: at, bytes, address } | Step::Store { op: at, bytes, address }) if at == op => {
                self.position -= 1;
                Ok((address, bytes.into()))
            }
            _ => Err(Mismatch("an access left no step")),
        }
    }

    /// These slots get their value here; whether one was live.
    fn define(&mut self, run: Option<operand::Run>) -> bool {
        let Some((first, count)) = run else { return false };
        let frame = self.top();
        let live = (first..first + count).any(|slot| frame.live.contains(slot));
        (first..first + count).for_each(|slot| frame.live.remove(slot));
        live
    }

    fn kill(&mut self, address: u64, len: u64) -> bool {
        if !self.live.is_live(address, len) {
            return false;
        }
        let placed = self.placed(address);
        self.live.kill(|| placed, address, len)
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

    /// A call's memory came to be with it.
    fn kill_frame(&mut self, frame: &Frame) {
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

    fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        for (address, len) in reads {
            let placed = self.placed(address);
            self.live.add(placed, address, len);
        }
    }

    /// The object an address lies in.
    fn placed(&self, address: u64) -> Placed {
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

fn is_call(inst: &Inst) -> bool {
    matches!(inst.operator(), Some(Op::Call | Op::CallIndirect))
}
