//! The backward walk over a recorded path of bitcode.
//!
//! A frame on the walk's stack is a call of the path, entered at its last operation and left at its first. Time counts up as the walk
//! goes backwards. A branch has something relevant between itself and its immediate post-dominator if something was added to the slice
//! after the walk last passed that block. Functions with a summary are added to the slice as a whole or not at all. The walk ends where
//! recording began.

mod calls;
mod group;
mod operations;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::{CodePos, Step, Traced, Wanted};
use wryneck_ir::{Inst, Module, Op};

pub use self::group::Group;
use super::backward::{Backward, Course, Former, Taken, is_call};
use super::checked::Checked;
use super::explain::Why;
use super::live::Live;
use super::needs::{Call, Known, Needs};
use crate::flow::{BitSet, ContextId, Effects, Flow};

/// The record does not match the code. This is our defect, except for code that appeared while the path ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub &'static str);

/// The static facts, and the notes on where paths contradict them.
type Facts<'a> = (&'a Flow, &'a Checked);

/// Slices a recorded path: the recorded decisions that its events depend on, and whether its live-in set at the start of the record is covered.
/// Calls `see` for each branch with two alternatives, with the reason if the branch is relevant.
pub fn wanted(facts: Facts<'_>, known: &Known, path: &Traced<'_>, see: &mut dyn FnMut(CodePos, Option<Why>)) -> Result<Wanted, Mismatch> {
    hold(path)?;
    Walk::new(facts, path, see).found(known)
}

/// Slices a path prefix that ends at a flip, starting from the live-in set `needs`.
pub fn resumed(
    facts: Facts<'_>,
    known: &Known,
    path: &Traced<'_>,
    needs: &Needs,
    see: &mut dyn FnMut(CodePos, Option<Why>),
) -> Result<Wanted, Mismatch> {
    hold(path)?;
    Walk::resume(facts, path, needs, see)?.found(known)
}

/// Whether what summaries assume of standard output and error held on the path.
pub(crate) fn hold(path: &Traced<'_>) -> Result<(), Mismatch> {
    match path.environment.premises(path.state).standard_streams {
        true => Ok(()),
        false => Err(Mismatch("standard output or error was closed or is another file")),
    }
}

/// A call in progress.
struct Frame {
    /// Its number in the trace.
    number: u32,
    func: u32,
    /// Its known constant arguments.
    context: ContextId,
    /// Operations from here on have been walked.
    cursor: u32,
    /// First operation of the block the cursor is in.
    block_start: u32,
    /// The operation before the cursor has been walked, except for what the monitor observed of it.
    handled: bool,
    live: BitSet,
    /// By block: when the walk last passed its beginning.
    passed: FxHashMap<u32, Passed>,
    taken: Taken,
    /// When an edge last copied a live slot; 0: never.
    copied: u64,
    /// It returned on the path.
    returned: bool,
}

/// The walk's last visit of the beginning of a block.
struct Passed {
    time: u64,
    /// The live slots there, if the edge into the block copied one of them.
    live: Option<BitSet>,
}

impl Frame {
    /// Whether nothing between the current point and the block is in the slice, and the live slots at its beginning are known.
    fn is_settled(&self, at: &Passed) -> bool {
        self.taken.time <= at.time && (self.copied <= at.time || at.live.is_some())
    }
}

/// The path's call of `exit`, if its status is not relevant. Other branches that call `exit` with the same exit-live state end as this path does.
struct Exit {
    /// When the walk passed the call, and its effects were added to the slice.
    time: u64,
    live: Live,
    /// True if the path writes exit-live state between this point and `exit`.
    changed: bool,
}

struct Walk<'a> {
    flow: &'a Flow,
    checked: &'a Checked,
    /// It began in the middle of a path.
    resumed: bool,
    /// Where heap objects came to be behind the walk: what was there before is another object.
    allocated: FxHashSet<u64>,
    /// By the beginning of a heap slot that was used again behind the walk: what lay there before.
    former: FxHashMap<u64, Former>,
    course: Course<'a>,
    /// Innermost last.
    frames: Vec<Frame>,
    /// When the walk last passed an event; 0: never.
    happened: u64,
    /// The path's call of `exit`.
    exit: Option<Exit>,
    /// A monitor read the result of the current call.
    result_matters: bool,
    /// Calls in progress where recording began, inside of a call with a summary, outermost first.
    inside: Vec<Call>,
    see: &'a mut dyn FnMut(CodePos, Option<Why>),
}

impl<'a> Walk<'a> {
    fn new((flow, checked): Facts<'a>, path: &'a Traced<'a>, see: &'a mut dyn FnMut(CodePos, Option<Why>)) -> Walk<'a> {
        let mut walk = Walk {
            flow,
            checked,
            resumed: false,
            allocated: FxHashSet::default(),
            former: FxHashMap::default(),
            course: Course::new(path),
            frames: Vec::new(),
            happened: 0,
            exit: None,
            result_matters: false,
            inside: Vec::new(),
            see,
        };
        for (number, op) in &path.trace.end {
            let call = walk.frames.last().map(|caller| caller.cursor - 1);
            walk.push(*number, call, *op + 1, false);
        }
        walk
    }

    /// Starts before the path's current operation, with this live-in set. Three times stand for its history: before something was added to the slice,
    /// when it was added, and afterwards.
    fn resume(
        facts: Facts<'a>,
        path: &'a Traced<'a>,
        needs: &Needs,
        see: &'a mut dyn FnMut(CodePos, Option<Why>),
    ) -> Result<Walk<'a>, Mismatch> {
        const LONG_AGO: u64 = 0;
        const AT_EXIT: u64 = 1;
        const TAKEN: u64 = 2;
        const SINCE: u64 = 3;
        let mut walk = Walk { resumed: true, ..Walk::new(facts, path, see) };
        if walk.frames.len() != needs.calls.len() {
            return Err(Mismatch("a flip begins in other calls than the one that is taken for it"));
        }
        let handled = match walk.peek() {
            Some(Step::Slow { op, count }) => path.trace.end.last().is_some_and(|(_, at)| *at == op) && !walk.enters(count),
            Some(_) | None => false,
        };
        if let Some(frame) = walk.frames.last_mut().filter(|_| !handled) {
            frame.cursor -= 1;
            let (func, op) = (frame.func, frame.cursor);
            let start = walk.block_start(func, op);
            walk.top().block_start = start;
        }
        for (frame, call) in walk.frames.iter_mut().zip(&needs.calls) {
            let unsettled: Vec<u32> = call.passed.iter().filter(|block| !call.settled.contains(*block)).collect();
            frame.taken.time = match &needs.exit {
                Some(_) if call.before_exit => TAKEN,
                Some(_) => AT_EXIT,
                None if call.taken || !unsettled.is_empty() => TAKEN,
                None => LONG_AGO,
            };
            frame.passed = unsettled.into_iter().map(|block| (block, Passed { time: LONG_AGO, live: None })).collect();
            let settled = call.settled.iter().map(|block| (block, Passed { time: SINCE, live: call.joins.get(&block).cloned() }));
            frame.passed.extend(settled);
            frame.live = call.live.clone();
            frame.returned = call.returned;
        }
        walk.frames.last_mut().into_iter().for_each(|frame| frame.handled = handled);
        let live = needs.live.placed(|address| walk.placed(address));
        let at_exit =
            needs.exit.as_ref().map(|(live, changed)| Exit { time: AT_EXIT, live: live.placed(|at| walk.placed(at)), changed: *changed });
        walk.exit = at_exit;
        (walk.course.time, walk.course.taken, walk.course.at_end) = (SINCE, if needs.any { TAKEN } else { 0 }, false);
        (walk.course.live, walk.course.read) = (live, needs.read.clone());
        Ok(walk)
    }

    fn found(mut self, known: &Known) -> Result<Wanted, Mismatch> {
        let settled = self.go(known)?;
        Ok(Wanted { decisions: self.course.wanted, settled, noted: self.course.noted })
    }

    /// `call`: the operation of the top frame that called it, if known.
    fn push(&mut self, number: u32, call: Option<u32>, cursor: u32, returned: bool) {
        let func = self.course.path.trace.frames[number as usize].func;
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
            taken: Taken::default(),
            copied: 0,
            returned,
        });
    }

    fn block_start(&self, func: u32, op: u32) -> u32 {
        self.flow.first_op(func, self.flow.block_of(func, op))
    }

    fn module(&self, func: u32) -> &'a Module {
        self.course.path.image.function(func).0
    }

    fn inst(&self, func: u32, op: u32) -> Inst {
        let code = self.course.path.image.code(func);
        self.module(func).insts[(code.first_inst + op) as usize]
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the walk goes on only in a frame")
    }

    /// The live-in set at the current point.
    fn needed(&self) -> Needs {
        let exit = self.same_exit();
        let call = |frame: &Frame| {
            let settled = || frame.passed.iter().filter(|(_, at)| frame.is_settled(at));
            Call {
                func: frame.func,
                live: frame.live.clone(),
                passed: frame.passed.keys().copied().collect(),
                settled: settled().map(|(block, _)| *block).collect(),
                joins: settled().filter_map(|(block, at)| Some((*block, at.live.clone()?))).collect(),
                taken: frame.taken.time.max(frame.copied) > 0 && (frame.returned || exit.is_none()),
                before_exit: exit.is_some_and(|exit| frame.taken.time > exit.time),
                returned: frame.returned,
            }
        };
        let calls = self.frames.iter().map(call).chain(self.inside.iter().cloned()).collect();
        Needs {
            calls,
            live: self.course.live.clone(),
            read: self.course.read.clone(),
            any: self.course.taken > 0,
            exit: exit.map(|exit| (exit.live.clone(), exit.changed)),
        }
    }

    /// The path's call of `exit`, if no event happens between this point and `exit`. A branch that reaches `exit` without an event has the same
    /// sequence, unless the path changes exit-live state in between.
    fn same_exit(&self) -> Option<&Exit> {
        self.exit.as_ref().filter(|exit| self.happened <= exit.time)
    }

    /// Takes one step backwards.
    fn back(&mut self) -> Result<(), Mismatch> {
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
                self.course.at_end = false;
                self.top().handled = true;
                return Ok(());
            }
            Some(Step::Shown { op: at, count }) if at == op => {
                let group = self.group(count)?;
                self.shown(&inst, &group);
                return Ok(());
            }
            Some(Step::Leave { op: at, frame }) if is_call(&inst) && !self.frames.last().is_some_and(|f| f.handled) => {
                self.course.position -= 1;
                return self.leave(&inst, op, at, frame);
            }
            _ => {}
        }
        if !self.frames.last().is_some_and(|f| f.handled) {
            self.plain(&inst, op)?;
        }
        self.course.at_end = false;
        let frame = self.top();
        frame.handled = false;
        frame.cursor = op;
        Ok(())
    }

    /// Leaves a block by its beginning: through the edge into it, or the call of the function.
    fn at_start(&mut self) -> Result<(), Mismatch> {
        match self.peek() {
            Some(Step::Edge { op, edge }) => {
                self.course.position -= 1;
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
                self.course.position -= 1;
                self.entered(1, None)
            }
            // A function that a model called before this one.
            Some(Step::Leave { op, frame }) => {
                self.course.position -= 1;
                self.push(frame, None, op + 1, true);
                self.pass_return(op);
                Ok(())
            }
            Some(_) | None => Err(Mismatch("a block was entered by no step")),
        }
    }

    /// Marks the return at the top frame's cursor as passed.
    fn pass_return(&mut self, op: u32) {
        let func = self.top().func;
        let start = self.block_start(func, op);
        let frame = self.top();
        frame.cursor = op;
        frame.block_start = start;
    }

    /// Walks through an edge and the branch that took it.
    fn edge(&mut self, op: u32, edge: u32, group: Option<&Group<'_>>) -> Result<(), Mismatch> {
        let func = self.top().func;
        let module = self.module(func);
        let function = self.course.path.image.function(func).1;
        let record = module.edges.range(function.edges).get(edge as usize).ok_or(Mismatch("no such edge"))?;
        self.course.time += 1;
        let time = self.course.time;
        let copies = module.copies.range(record.copies);
        let frame = self.top();
        let needed: Vec<_> = copies.iter().filter(|copy| frame.live.contains(copy.dst)).copied().collect();
        let live = (!needed.is_empty()).then(|| frame.live.clone());
        frame.passed.insert(record.block, Passed { time, live });
        needed.iter().for_each(|copy| frame.live.remove(copy.dst));
        frame.live.extend(needed.iter().map(|copy| copy.src));
        if !needed.is_empty() {
            frame.copied = time + 1;
            self.course.time += 1;
        }
        // A comparison is fused with the branch after it.
        let ends = |inst: &Inst| matches!(inst.operator(), Some(Op::Br | Op::CondBr | Op::Switch));
        let branch = if ends(&self.inst(func, op)) { op } else { op + 1 };
        let inst = self.inst(func, branch);
        let start = self.block_start(func, branch);
        let frame = self.top();
        (frame.cursor, frame.block_start, frame.handled) = (branch + 1, start, false);
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
        self.top().cursor = branch;
        if op != branch {
            // So that the live set holds before the operation that decided.
            let comparison = self.inst(func, op);
            self.plain(&comparison, op)?;
            self.top().cursor = op;
        }
        Ok(())
    }

    /// Whether the branch at operation `branch` of the top frame, which took `edge`, is relevant, and why.
    fn matters(&mut self, func: u32, branch: u32, edge: u32) -> Option<Why> {
        let block = self.flow.block_of(func, branch);
        let frame = self.frames.last().expect("a branch runs in a frame");
        let join = self.flow.join(func, frame.context, block);
        let joined = join.and_then(|join| frame.passed.get(&join));
        if join.is_some() && joined.is_none() && frame.returned && !self.resumed {
            self.checked.never_met(self.course.path.image, CodePos { func, op: branch });
        }
        // The path ended on this successor. The alternative may continue.
        let ended = joined.is_none() && !frame.returned;
        let settled = joined.map_or(frame.taken.time.max(frame.copied) == 0, |at| frame.is_settled(at));
        if !(settled || ended && self.same_exit().is_some_and(|exit| !exit.changed)) {
            return Some(Why::Between(frame.taken.at));
        }
        if ended {
            let callers = self.frames[..self.frames.len() - 1].iter().rev().take_while(|frame| !frame.returned);
            let calls = std::iter::once((frame, branch)).chain(callers.map(|frame| (frame, frame.cursor.saturating_sub(1))));
            let mut why = None;
            for (frame, op) in calls {
                why = why.or_else(|| self.goes_on(&self.flow.rest(frame.func, frame.context, op)));
                // Its callers continue only if it returns.
                if why.is_some() || !self.flow.returns(frame.func, frame.context, op) {
                    break;
                }
            }
            if why.is_some() || self.same_exit().is_some() {
                return why;
            }
        }
        let differ = joined.map(|at| at.live.as_ref().unwrap_or(&frame.live).meets(&self.flow.differing(func, frame.context, block)));
        let other = self.flow.edges(func, frame.context, block).into_iter().filter(|other| *other != edge);
        other.into_iter().find_map(|other| {
            let side = self.flow.side(func, frame.context, block, other);
            let local = differ.unwrap_or_else(|| frame.live.meets(&side.slots));
            let changes = || if local { Some(Why::Local) } else { self.course.live.touched_by(&side.changes) };
            self.happens(&side).or_else(changes)
        })
    }

    /// Why the effects of an alternative are relevant, apart from its writes.
    fn happens(&self, way: &Effects) -> Option<Why> {
        match self.same_exit() {
            _ if way.event => Some(Why::Event),
            _ if way.standard => Some(Why::Standard),
            _ if way.leaves && self.course.taken > 0 => Some(Why::Leaves),
            Some(exit) if way.exits && exit.changed => Some(Why::Leaves),
            Some(exit) if way.exits => exit.live.touched_by(&way.at_exit),
            None if way.exits && self.course.taken > 0 => Some(Why::Leaves),
            None if way.exits && self.flow.event_at_exit() => Some(Why::Event),
            _ => None,
        }
    }

    /// Why an alternative that continues past the path's end is relevant. It continues until it calls `exit`.
    fn goes_on(&self, rest: &Effects) -> Option<Why> {
        match self.same_exit() {
            None => (rest.event || rest.exits && self.flow.event_at_exit()).then_some(Why::GoesOn),
            Some(_) if rest.event => Some(Why::GoesOn),
            Some(exit) => self.happens(rest).or_else(|| exit.live.touched_by(&rest.changes)),
        }
    }
}
