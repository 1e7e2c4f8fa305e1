//! The backward walk over a recorded path, of bitcode and of machine code.
//!
//! # What it computes
//!
//! A *point* lies before an operation of the path. At a point the walk has an abstract state:
//! - `live`: what the slice after the point reads before the path writes it: slots of each call in progress, bytes of memory, environment
//!   cells; a byte is live as a value, or only as an address ([`Live`]);
//! - `taken`, by call: when an operation of the call was last added to the slice; and `passed`: when each block's beginning was passed;
//! - `exit`: what is live at the path's call of `exit`, if the path ends by one.
//!
//! # Laws
//!
//! 1. *Lattice*. States of one point are ordered by inclusion ([`Needs::within`]); a value is more than an address. Compared are what is
//!    live, what was added to the slice, and which blocks are not settled. A block is settled if the slice has nothing between the point
//!    and the block. A larger state makes the same decisions of the path before the point relevant, and perhaps more.
//! 2. *Transfer*. Walking over an operation is monotone: from a larger state follows a larger one. An operation that defines something live
//!    is added to the slice; what it defines is no longer live, and what it reads is. Any other operation changes nothing, unless with
//!    other operands it might have written something live or have been an event. A copy of what is live as an address makes its source live
//!    as an address, and the address it was loaded from as a value.
//! 3. *Branch*. A branch is relevant if something was added to the slice since the walk passed its immediate post-dominator. It is also
//!    relevant if an alternative up to there may reach an event or write something live. The same holds if it may end the program while the
//!    slice is not empty. The path may have left the branch for `exit`, without an event before `exit`. Then `exit` replaces the
//!    post-dominator: what is live there counts.
//! 4. *Join*. The live-in set of a subtree is the least upper bound of those of its paths ([`Needs::join`]). Each of them is within it.
//! 5. *Equality*. Two states at one program point are equal for a live-in set if they agree on three parts. These are all that is live, all
//!    that calls with a summary read, and the registers that calls in progress will restore. Then each path from one state has a path from
//!    the other with the same events.
//!
//! A frame on the walk's stack is a call of the path, entered at its last operation and left at its first. Time counts up as the walk goes
//! backwards. Functions with a summary are added to the slice as a whole or not at all. The walk ends where recording began. Bitcode and
//! machine code each implement [`Code`].

mod group;
#[cfg(test)]
mod laws;
mod steps;
mod summarised;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::{CodePos, Step, Traced, Wanted};
use wryneck_ir::{Inst, Op};

pub use self::group::Group;
pub use self::steps::{Course, Former, Record, Taken, is_call};
pub use self::summarised::Skipped;
use super::explain::Why;
use super::live::{Live, Placed};
use super::needs::{Call, Known, Needs};
use crate::flow::{BitSet, Effects, Grows, Place, Summary};

/// The record does not match the code. This is a defect of the slicer, except for code that appeared while the path ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub &'static str);

/// Whether what summaries assume of standard output and error held on the path.
pub fn hold(path: &Traced<'_>) -> Result<(), Mismatch> {
    match path.environment.premises(path.state).standard_output {
        true => Ok(()),
        false => Err(Mismatch("standard output or error was closed or is another file")),
    }
}

/// Whether a branch that the path took is to be judged.
pub enum Asks {
    No,
    /// It is relevant, whatever its alternatives are.
    Always,
    /// It took this edge.
    Edge(u32),
}

/// A kind of code, as the walk sees it.
pub trait Code<'a>: Sized {
    /// What is known of a call in progress.
    type Call;
    /// What an alternative may write.
    type Changes: Grows;

    fn inst(&self, func: u32, op: u32) -> Inst;
    /// The block of an operation.
    fn block_of(&self, func: u32, op: u32) -> u32;
    /// The first operation of a block.
    fn first_op(&self, func: u32, block: u32) -> u32;
    /// A bit for each operand (a, b, c) of an operation of the top call whose value follows from the program point; such operands are never live.
    fn known(walk: &Walk<'a, '_, Self>, op: u32) -> u8;

    /// The function of a call, as live-in sets name it.
    fn function(&self, frame: &Frame<Self::Call>) -> u32;
    /// Frames of the engine's call stack at the current point.
    fn depth(walk: &Walk<'a, '_, Self>) -> usize;
    /// The walk has reached its end, although steps are left.
    fn is_over(walk: &Walk<'a, '_, Self>) -> bool;
    /// Adds to a live-in set the saved registers that are compared, too: see law 5.
    fn compared(walk: &mut Walk<'a, '_, Self>, needs: &mut Needs);
    /// The engine's frame that holds a call's live slots, if they are there.
    fn state_frame(walk: &Walk<'a, '_, Self>, call: usize) -> Option<u32>;

    /// Leaves a block by its beginning, to the step that led into it.
    fn at_start(walk: &mut Walk<'a, '_, Self>) -> Result<(), Mismatch>;
    /// The engine's frame of this number returned by the operation `ret` to the call at `op`.
    fn left(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, ret: u32, frame: u32) -> Result<(), Mismatch>;
    /// Whether the branch at `op` of the top call is judged. `decides`: the path made a decision there.
    fn asks(walk: &Walk<'a, '_, Self>, inst: &Inst, op: u32, edge: Option<u32>, decides: bool) -> Result<Asks, Mismatch>;
    /// A call that is an event, or a may-event for other arguments, observed before it runs.
    fn announced(walk: &mut Walk<'a, '_, Self>, inst: &Inst, mask: u32, group: &Group<'a>);
    /// The observed return of such a call.
    fn shown(walk: &mut Walk<'a, '_, Self>, inst: &Inst, group: &Group<'a>);
    /// A call that entered no function.
    fn called(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, group: &Group<'a>);

    /// The immediate post-dominator of a block of the top call, if there is one; `None`: the function is not known.
    fn join(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Option<u32>>;
    /// The edges of the branch that ends a block of the top call, but for the one it took.
    fn others(walk: &Walk<'a, '_, Self>, block: u32, edge: u32) -> Vec<u32>;
    /// The effects of taking an edge, up to the immediate post-dominator or the return.
    fn side(walk: &mut Walk<'a, '_, Self>, block: u32, edge: u32) -> Rc<Effects<Self::Changes>>;
    /// The slots whose values at the immediate post-dominator depend on the path to it. `None`: only the slots that each alternative writes
    /// are known.
    fn differing(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Rc<BitSet>>;
    /// The effects after the operation at `op` until the call returns, and whether it may return.
    fn rest(walk: &mut Walk<'a, '_, Self>, call: usize, op: u32) -> (Rc<Effects<Self::Changes>>, bool);
    /// Whether an event may happen once `exit` is called.
    fn event_at_exit(&self) -> bool;
    /// Whether these changes, of an alternative in this call, touch something live in memory or in the environment.
    fn touched(walk: &Walk<'a, '_, Self>, frame: &Frame<Self::Call>, live: &Live, changes: &Self::Changes) -> Option<Why>;
    /// As [`Code::touched`], of memory alone.
    fn touched_memory(walk: &Walk<'a, '_, Self>, frame: &Frame<Self::Call>, live: &Live, changes: &Self::Changes) -> Option<Why>;
    /// Whether the store at `op`, which wrote these bytes (addresses and lengths), may write something live, with another address. `decides`: the
    /// path made a decision there, which may have chosen the address.
    fn may_write(walk: &mut Walk<'a, '_, Self>, op: u32, written: &[(u64, u64)], decides: bool) -> bool;
    /// What the last answers rest on becomes live.
    fn settle(_walk: &mut Walk<'a, '_, Self>) {}

    /// The object an address lies in.
    fn placed(walk: &Walk<'a, '_, Self>, address: u64) -> Placed;
    /// Memory that the program itself cannot reach.
    fn is_hidden(&self, address: u64) -> bool;
    /// The byte may be a file's, which other calls write.
    fn is_mapped(walk: &Walk<'a, '_, Self>, address: u64) -> bool;
    /// The arguments that may decide what a call with a summary does.
    fn deciding(summary: &Summary, args: &[u32]) -> Vec<u32>;
    /// Whether a call writes this place of the environment, and it is live. `key` returns arguments' values, where they are known.
    fn writes_live(&self, place: &Place, live: &Live, key: &dyn Fn(u32) -> Option<u64>) -> bool;
    /// Of these bytes, those of the object at an address.
    fn of_object(walk: &Walk<'a, '_, Self>, address: u64, bytes: Vec<(u64, u64)>) -> Vec<(u64, u64)>;

    /// The operation at `op` of the top call is an event.
    fn happened(_walk: &Walk<'a, '_, Self>, _op: u32) {}
    /// The call of the branch at `op` returned, but the walk passed no immediate post-dominator of the branch.
    fn never_met(_walk: &Walk<'a, '_, Self>, _op: u32) {}
    /// The operation at `op` wrote these bytes.
    fn wrote(_walk: &mut Walk<'a, '_, Self>, _op: u32, _address: u64, _len: u64) {}
    /// Memory was allocated at this address.
    fn came_to_be(&mut self, _address: u64) {}
    /// The slot of the heap object just allocated held this object before.
    fn was_replaced(&mut self, _former: Former) {}
}

/// A call in progress.
pub struct Frame<C> {
    /// Its number in the trace, or among the calls of machine code.
    pub number: u32,
    /// The function of the IR.
    pub func: u32,
    pub call: C,
    /// Operations from here on have been walked.
    pub cursor: u32,
    /// First operation of the block the cursor is in.
    pub block_start: u32,
    /// The operation before the cursor has been walked, except for what the monitor observed of it.
    pub handled: bool,
    /// Live slots.
    pub live: BitSet,
    /// By block: when the walk last passed its beginning.
    pub passed: FxHashMap<u32, Passed>,
    pub taken: Taken,
    /// When an edge last copied a live slot; 0: never.
    pub copied: u64,
    /// It returned on the path.
    pub returned: bool,
}

/// The walk's last visit of the beginning of a block.
pub struct Passed {
    pub time: u64,
    /// The live slots there, if the edge into the block copied one of them.
    pub live: Option<BitSet>,
}

impl<C> Frame<C> {
    /// Whether nothing between the current point and the block is in the slice, and the live slots at its beginning are known.
    fn is_settled(&self, at: &Passed) -> bool {
        self.taken.time <= at.time && (self.copied <= at.time || at.live.is_some())
    }
}

/// The path's call of `exit`, if its status is not relevant. Other branches that call `exit` with the same exit-live state end as this path does.
pub struct Exit {
    /// When the walk passed the call, and its effects were added to the slice.
    pub time: u64,
    pub live: Live,
    /// True if the path writes exit-live state between this point and `exit`. A branch that reaches `exit` early skips these writes, so it is
    /// relevant.
    pub changed: bool,
}

pub struct Walk<'a, 's, C: Code<'a>> {
    pub code: C,
    pub course: Course<'a>,
    /// It began in the middle of a path.
    pub resumed: bool,
    /// Innermost last.
    pub frames: Vec<Frame<C::Call>>,
    /// When the walk last passed an event; 0: never.
    pub happened: u64,
    /// The path's call of `exit`.
    pub exit: Option<Exit>,
    /// A monitor read the result of the current call.
    pub result_matters: bool,
    /// Calls in progress where recording began, inside of a call with a summary, outermost first.
    pub inside: Vec<Call>,
    see: &'s mut dyn FnMut(CodePos, Option<Why>),
}

impl<'a, 's, C: Code<'a>> Walk<'a, 's, C> {
    /// At the end of a record, without calls.
    pub fn new(code: C, record: Record<'a>, see: &'s mut dyn FnMut(CodePos, Option<Why>)) -> Walk<'a, 's, C> {
        Walk {
            code,
            course: Course::new(record),
            resumed: false,
            frames: Vec::new(),
            happened: 0,
            exit: None,
            result_matters: false,
            inside: Vec::new(),
            see,
        }
    }

    /// Starts a walk before the path's current operation, with this live-in set. Three times stand for the history of the walk: before
    /// something was added to the slice, when it was added, and afterwards.
    pub fn resume(&mut self, needs: &Needs) -> Result<(), Mismatch> {
        const LONG_AGO: u64 = 0;
        const AT_EXIT: u64 = 1;
        const TAKEN: u64 = 2;
        const SINCE: u64 = 3;
        self.resumed = true;
        if self.frames.len() != needs.calls.len() {
            return Err(Mismatch("a flip begins in other calls than the one that is taken for it"));
        }
        let handled = match self.peek() {
            Some(Step::Slow { op, count }) => self.frames.last().is_some_and(|top| top.cursor == op + 1) && !self.enters(count),
            Some(_) | None => false,
        };
        if let Some(frame) = self.frames.last_mut().filter(|_| !handled) {
            frame.cursor -= 1;
            let (func, op) = (frame.func, frame.cursor);
            let start = self.block_start(func, op);
            self.top().block_start = start;
        }
        for (frame, call) in self.frames.iter_mut().zip(&needs.calls) {
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
        self.frames.last_mut().into_iter().for_each(|frame| frame.handled = handled);
        let live = needs.live.placed(|address| C::placed(self, address));
        let at_exit = needs.exit.as_ref().map(|(live, changed)| Exit {
            time: AT_EXIT,
            live: live.placed(|at| C::placed(self, at)),
            changed: *changed,
        });
        self.exit = at_exit;
        (self.course.time, self.course.taken, self.course.at_end) = (SINCE, if needs.any { TAKEN } else { 0 }, false);
        (self.course.live, self.course.read) = (live, needs.read.clone());
        Ok(())
    }

    /// Walks to the start of the record, or to the walk's end. Returns what is relevant.
    pub fn found(&mut self, known: &Known) -> Result<Wanted, Mismatch> {
        let settled = self.go(known)?;
        Ok(Wanted { decisions: std::mem::take(&mut self.course.wanted), settled, noted: self.course.noted })
    }

    pub fn push(&mut self, number: u32, func: u32, call: C::Call, cursor: u32, returned: bool) {
        let block_start = self.block_start(func, cursor.saturating_sub(1));
        self.frames.push(Frame {
            number,
            func,
            call,
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

    pub fn block_start(&self, func: u32, op: u32) -> u32 {
        self.code.first_op(func, self.code.block_of(func, op))
    }

    pub fn inst(&self, func: u32, op: u32) -> Inst {
        self.code.inst(func, op)
    }

    pub fn top(&mut self) -> &mut Frame<C::Call> {
        self.frames.last_mut().expect("the walk goes on only in a call")
    }

    /// The live-in set at the current point.
    fn needed(&mut self) -> Needs {
        let exit = self.same_exit();
        let call = |(at, frame): (usize, &Frame<C::Call>)| {
            let settled = || frame.passed.iter().filter(|(_, at)| frame.is_settled(at));
            Call {
                func: self.code.function(frame),
                frame: C::state_frame(self, at),
                live: frame.live.clone(),
                passed: frame.passed.keys().copied().collect(),
                settled: settled().map(|(block, _)| *block).collect(),
                joins: settled().filter_map(|(block, at)| Some((*block, at.live.clone()?))).collect(),
                taken: frame.taken.time.max(frame.copied) > 0 && (frame.returned || exit.is_none()),
                before_exit: exit.is_some_and(|exit| frame.taken.time > exit.time),
                returned: frame.returned,
            }
        };
        let calls = self.frames.iter().enumerate().map(call).chain(self.inside.iter().cloned()).collect();
        let mut needs = Needs {
            calls,
            live: self.course.live.clone(),
            read: self.course.read.clone(),
            saved: BitSet::default(),
            unplaced: false,
            any: self.course.taken > 0,
            exit: exit.map(|exit| (exit.live.clone(), exit.changed)),
        };
        if self.course.record.compared {
            C::compared(self, &mut needs);
        }
        needs
    }

    /// The path's call of `exit`, if no event happens between this point and `exit`. A branch that reaches `exit` without an event has the same
    /// sequence, unless the path changes exit-live state in between.
    pub fn same_exit(&self) -> Option<&Exit> {
        self.exit.as_ref().filter(|exit| self.happened <= exit.time)
    }

    /// The walk has passed the path's call of `exit`.
    pub fn exits(&mut self) {
        self.exit = Some(Exit { time: self.course.time, live: self.course.live.clone(), changed: false });
    }

    /// Whether the operations of a call that the walk has left make the calling operation relevant. Operations that are in the slice only
    /// for the effects of `exit` do not make the path to `exit` relevant.
    pub fn took(&self, callee: &Frame<C::Call>) -> bool {
        callee.taken.time > self.same_exit().map_or(0, |exit| exit.time)
    }

    /// The walk has left a call some of whose operations are in the slice, but not its caller's operation.
    pub fn took_at_exit(&mut self) {
        let since = self.same_exit().map_or(0, |exit| exit.time);
        let top = self.top();
        top.taken.time = top.taken.time.max(since);
    }

    /// Takes one step backwards.
    fn back(&mut self) -> Result<(), Mismatch> {
        let frame = self.top();
        let (func, cursor, start, handled) = (frame.func, frame.cursor, frame.block_start, frame.handled);
        if cursor == start {
            self.end_address();
            return C::at_start(self);
        }
        let op = cursor - 1;
        let inst = self.inst(func, op);
        if is_call(&inst) || matches!(self.peek(), Some(Step::Slow { op: at, .. } | Step::Shown { op: at, .. }) if at == op) {
            self.end_address();
        }
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
                C::shown(self, &inst, &group);
                return Ok(());
            }
            Some(Step::Leave { op: at, frame }) if is_call(&inst) && !handled => {
                self.course.position -= 1;
                return C::left(self, &inst, op, at, frame);
            }
            _ => {}
        }
        if !handled {
            self.plain(&inst, op)?;
        }
        self.course.at_end = false;
        let frame = self.top();
        (frame.handled, frame.cursor) = (false, op);
        Ok(())
    }

    /// Marks the beginning of a block of the top call as passed.
    pub fn pass(&mut self, block: u32, live: Option<BitSet>) {
        self.course.time += 1;
        let time = self.course.time;
        self.top().passed.insert(block, Passed { time, live });
    }

    /// Walks through the branch at `op`, or right after it if `op` is a comparison that is fused with it.
    pub fn branch(&mut self, op: u32, edge: Option<u32>, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let func = self.top().func;
        let ends = |inst: &Inst| matches!(inst.operator(), Some(Op::Br | Op::CondBr | Op::Switch | Op::Jump));
        let branch = if ends(&self.inst(func, op)) { op } else { op + 1 };
        let inst = self.inst(func, branch);
        let start = self.block_start(func, branch);
        let frame = self.top();
        (frame.cursor, frame.block_start, frame.handled) = (branch + 1, start, false);
        let decides = group.is_some_and(|group| group.decisions().next().is_some());
        let judged = match C::asks(self, &inst, branch, edge, decides)? {
            Asks::No => None,
            Asks::Always => Some(Some(Why::Between(None))),
            Asks::Edge(edge) => Some(self.matters(func, branch, edge)),
        };
        C::settle(self);
        if let Some(why) = judged {
            (self.see)(CodePos { func, op: branch }, why);
            if why.is_some() {
                self.take();
                self.top().live.insert(inst.a);
                if let Some(group) = group {
                    self.want(group);
                }
            }
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

    /// Whether the branch at operation `branch` of the top call, which took `edge`, is relevant, and why.
    fn matters(&mut self, func: u32, branch: u32, edge: u32) -> Option<Why> {
        let block = self.code.block_of(func, branch);
        let Some(join) = C::join(self, block) else { return Some(Why::Between(None)) };
        let innermost = self.frames.len() - 1;
        let frame = &self.frames[innermost];
        let joined = join.and_then(|join| frame.passed.get(&join));
        if join.is_some() && joined.is_none() && frame.returned && !self.resumed {
            C::never_met(self, branch);
        }
        // The path ended on this successor. The alternative may continue.
        let ended = joined.is_none() && !frame.returned;
        let settled = joined.map_or(frame.taken.time.max(frame.copied) == 0, |at| frame.is_settled(at));
        if !(settled || ended && self.same_exit().is_some_and(|exit| !exit.changed)) {
            return Some(Why::Between(frame.taken.at));
        }
        let differ = joined.and_then(|at| {
            let live = at.live.as_ref().unwrap_or(&frame.live);
            C::differing(self, block).map(|differing| live.meets(&differing))
        });
        if ended {
            let callers = (0..innermost).rev().take_while(|at| !self.frames[*at].returned);
            let calls: Vec<usize> = std::iter::once(innermost).chain(callers).collect();
            for at in calls {
                let op = if at == innermost { branch } else { self.frames[at].cursor.saturating_sub(1) };
                let (rest, returns) = C::rest(self, at, op);
                let why = self.goes_on(at, &rest);
                if why.is_some() {
                    return why;
                }
                // Its callers continue only if it returns.
                if !returns {
                    break;
                }
            }
            if self.same_exit().is_some() {
                return None;
            }
        }
        C::others(self, block, edge).into_iter().find_map(|other| {
            let side = C::side(self, block, other);
            let frame = &self.frames[innermost];
            let local = differ.unwrap_or_else(|| frame.live.meets(&side.slots));
            let changes = || if local { Some(Why::Local) } else { C::touched(self, frame, &self.course.live, &side.changes) };
            self.happens(innermost, &side).or_else(changes)
        })
    }

    /// Why the effects of an alternative in a call are relevant, apart from its writes.
    pub fn happens(&self, call: usize, way: &Effects<C::Changes>) -> Option<Why> {
        match self.same_exit() {
            _ if way.event => Some(Why::Event),
            _ if way.standard => Some(Why::Standard),
            _ if way.leaves && self.course.taken > 0 => Some(Why::Leaves),
            Some(exit) if way.exits && exit.changed => Some(Why::Leaves),
            Some(exit) if way.exits => C::touched(self, &self.frames[call], &exit.live, &way.at_exit),
            None if way.exits && self.course.taken > 0 => Some(Why::Leaves),
            None if way.exits && self.code.event_at_exit() => Some(Why::Event),
            _ => None,
        }
    }

    /// Why an alternative that continues past the path's end is relevant. It continues until it calls `exit`.
    fn goes_on(&self, call: usize, rest: &Effects<C::Changes>) -> Option<Why> {
        match self.same_exit() {
            None => (rest.event || rest.exits && self.code.event_at_exit()).then_some(Why::GoesOn),
            Some(_) if rest.event => Some(Why::GoesOn),
            Some(exit) => self.happens(call, rest).or_else(|| C::touched(self, &self.frames[call], &exit.live, &rest.changes)),
        }
    }

    /// Whether the effects of an operation of the top call are relevant, whatever its operands are.
    pub fn may_matter(&self, effects: &Effects<C::Changes>) -> bool {
        let Some(at) = self.frames.len().checked_sub(1) else { return false };
        self.happens(at, effects).is_some() || C::touched(self, &self.frames[at], &self.course.live, &effects.changes).is_some()
    }
}
