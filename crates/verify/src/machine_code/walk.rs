//! The backward walk over a recorded path of machine code: as [`crate::slice::walk`], but calls are blocks of one function.
//!
//! Registers are slots that all calls share. A call of a function with a summary is added to the slice as a whole or not at all, with the
//! register values at the call. The same holds for a call of the IR, by which machine code reaches models. What runs before machine code
//! makes all its decisions relevant.

mod calls;
mod data;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::{CodePos, Step, Traced, Wanted};
use wryneck_ir::{Inst, Op, Transfer};

use super::code::{Facts, Function};
use super::effects::Effects;
use super::trace::{Calls, Move};
use crate::flow::BitSet;
use crate::slice::backward::{Backward, Course, Taken, is_call};
use crate::slice::explain::Why;
use crate::slice::needs::{Call, Known, Needs};
use crate::slice::walk::{Group, Mismatch, hold};

/// As [`crate::slice::walk::wanted`].
pub fn wanted(facts: &mut Facts, known: &Known, path: &Traced<'_>, see: &mut dyn FnMut(CodePos, Option<Why>)) -> Result<Wanted, Mismatch> {
    hold(path)?;
    let Some(machine) = path.trace.frames.iter().position(|frame| frame.func == facts.func) else {
        return Ok(Wanted { decisions: all_before(path, path.trace.steps.len()), settled: false, noted: false });
    };
    let calls = Calls::find(facts, path)?;
    let mut walk = Walk::new(facts, path, calls, machine as u32, see)?;
    let settled = walk.go(known)?;
    let before = all_before(path, walk.course.position);
    walk.course.wanted.extend(before);
    Ok(Wanted { decisions: walk.course.wanted, settled, noted: walk.course.noted })
}

/// All decisions of the first steps.
fn all_before(path: &Traced<'_>, count: usize) -> Vec<u32> {
    let decisions = path.trace.steps[..count].iter().filter_map(|step| match step {
        Step::Decision { index } => Some(*index),
        _ => None,
    });
    decisions.filter(|index| *index >= path.oldest).collect()
}

/// A call in progress.
struct Frame {
    call: u32,
    function: Option<Rc<Function>>,
    /// Operations from here on have been walked; then the first operation of their block.
    cursor: u32,
    block_start: u32,
    /// The operation before the cursor has been walked, except for what the monitor observed of it.
    handled: bool,
    /// When the walk last passed the beginning of a block.
    passed: FxHashMap<u32, u64>,
    taken: Taken,
    returned: bool,
    /// Callee-saved registers that are live in its callers.
    kept: BitSet,
}

struct Walk<'a, 'f> {
    facts: &'f mut Facts,
    course: Course<'a>,
    calls: Calls,
    /// The number of machine code's frame in the trace.
    machine: u32,
    /// Innermost last.
    frames: Vec<Frame>,
    slots: BitSet,
    done: bool,
    /// The address of thread-local memory, if known.
    thread: Option<u64>,
    see: &'f mut dyn FnMut(CodePos, Option<Why>),
}

impl<'a, 'f> Walk<'a, 'f> {
    fn new(
        facts: &'f mut Facts,
        path: &'a Traced<'a>,
        calls: Calls,
        machine: u32,
        see: &'f mut dyn FnMut(CodePos, Option<Why>),
    ) -> Result<Walk<'a, 'f>, Mismatch> {
        let Some(at) = path.trace.end.iter().position(|(number, _)| *number == machine) else {
            return Err(Mismatch("the path ended outside of machine code"));
        };
        let frame = path.state.frames.iter().find(|frame| frame.func == facts.func);
        let thread = facts.registers.as_ref().zip(frame).and_then(|(registers, frame)| {
            let slot = registers.thread as usize;
            frame.slots.get(slot).copied().filter(|_| frame.tags[slot] == 0)
        });
        let mut walk = Walk {
            facts,
            course: Course::new(path),
            machine,
            frames: Vec::new(),
            slots: BitSet::default(),
            done: false,
            thread,
            see,
            calls,
        };
        let end = walk.calls.end.clone();
        let inner: Vec<Option<u32>> = end.iter().skip(1).map(|call| walk.calls.all[*call as usize].site).collect();
        for (call, site) in end.iter().zip(inner.into_iter().chain([None])) {
            let cursor = match site {
                Some(block) => walk.facts.ops(path.image, block).end,
                None => path.trace.end[at].1 + 1,
            };
            walk.push(*call, cursor, false);
        }
        // A function that machine code called belongs to the calling operation.
        if let Some((above, _)) = path.trace.end.get(at + 1) {
            let begin = match path.trace.frames[*above as usize].entered {
                _ if *above < path.trace.open => 0,
                entered => entered as usize,
            };
            let group = Group { steps: &path.trace.steps[begin..], stack_below: 0 };
            walk.course.position = begin;
            if walk.end_matters() {
                walk.take();
                walk.want(&group);
                walk.add_reads(group.reads());
            }
            walk.top().handled = true;
        }
        Ok(walk)
    }

    fn push(&mut self, call: u32, cursor: u32, returned: bool) {
        let block = self.facts.block_of(cursor.saturating_sub(1));
        let activation = self.calls.all[call as usize];
        let image = self.course.path.image;
        let function = self.function(activation.last.or(activation.entry), block);
        let block_start = self.facts.ops(image, block).start;
        self.frames.push(Frame {
            call,
            function,
            cursor,
            block_start,
            handled: false,
            passed: FxHashMap::default(),
            taken: Taken::default(),
            returned,
            kept: BitSet::default(),
        });
    }

    /// The function that begins with a block, or else a function that contains `part`.
    fn function(&mut self, entry: Option<u32>, part: u32) -> Option<Rc<Function>> {
        let image = self.course.path.image;
        entry.map(|entry| self.facts.function(image, entry)).or_else(|| self.facts.around(image, part))
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the walk goes on only in a call")
    }

    fn base(&self, frame: &Frame) -> u64 {
        self.calls.all[frame.call as usize].base
    }

    /// The live-in set at the current point.
    fn needed(&self) -> Needs {
        let innermost = self.frames.len().saturating_sub(1);
        let live = |at: usize, frame: &Frame| {
            let mut live = frame.kept.clone();
            if at == innermost {
                live.union_with(&self.slots);
            }
            live
        };
        let call = |(at, frame): (usize, &Frame)| Call {
            func: self.calls.all[frame.call as usize].entry.unwrap_or(u32::MAX),
            live: live(at, frame),
            passed: frame.passed.keys().copied().collect(),
            settled: frame.passed.iter().filter(|(_, at)| **at >= frame.taken.time).map(|(block, _)| *block).collect(),
            joins: FxHashMap::default(),
            taken: frame.taken.time > 0,
            before_exit: false,
            returned: frame.returned,
        };
        let calls = self.frames.iter().enumerate().map(call).collect();
        Needs { calls, live: self.course.live.clone(), read: Default::default(), any: self.course.taken > 0, exit: None }
    }

    /// Takes one step backwards.
    fn back(&mut self) -> Result<(), Mismatch> {
        let frame = self.top();
        let (cursor, start, handled) = (frame.cursor, frame.block_start, frame.handled);
        if cursor == start {
            return self.at_start();
        }
        let op = cursor - 1;
        let inst = self.facts.inst(self.course.path.image, op);
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
                self.shown(&group);
                return Ok(());
            }
            Some(Step::Leave { frame, .. }) if is_call(&inst) && !handled => return self.left(&inst, op, frame),
            _ => {}
        }
        if !handled {
            self.plain(&inst, op)?;
        }
        self.course.at_end = false;
        let frame = self.top();
        frame.handled = false;
        frame.cursor = op;
        Ok(())
    }

    /// Leaves a block by its beginning, to what led into it.
    fn at_start(&mut self) -> Result<(), Mismatch> {
        let at = self.course.position - 1;
        match self.course.path.trace.steps[at] {
            Step::Edge { op, edge } => {
                self.course.position = at;
                self.came(at, op, Some(edge), None)
            }
            Step::Slow { count, .. } => {
                let group = self.group(count)?;
                let first = self.course.position;
                let moved = (first..).zip(group.steps).find_map(|(at, step)| match *step {
                    Step::Edge { op, edge } => Some((at, op, Some(edge))),
                    Step::Jump { op, .. } => Some((at, op, None)),
                    _ => None,
                });
                match moved {
                    Some((at, op, edge)) => self.came(at, op, edge, Some(&group)),
                    None if group.enters() > 0 => {
                        self.begin(first + count as usize);
                        Ok(())
                    }
                    None => Err(Mismatch("a block was entered by no edge")),
                }
            }
            Step::Enter { frame } if frame == self.machine => {
                self.begin(at + 1);
                Ok(())
            }
            _ => Err(Mismatch("a block was entered by no step")),
        }
    }

    /// The steps from `position` on belong to machine code.
    fn begin(&mut self, position: usize) {
        self.course.position = position;
        self.done = true;
    }

    /// Walks through the branch at `op`, whose step is `at`: inside a function, into one or out of one.
    fn came(&mut self, at: usize, op: u32, edge: Option<u32>, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        match self.calls.moves.get(&at).copied() {
            Some(Move::Call) => self.entered(op, group),
            Some(Move::Return(callee)) => self.returned(callee, at, op, group),
            Some(Move::Tail(before)) => {
                self.pass();
                self.go_to(op);
                self.top().function = self.function(before, self.facts.block_of(op));
                let took = self.top().taken.time > 0;
                self.called_by(op, group, took);
                Ok(())
            }
            None => {
                self.pass();
                self.branch(op, edge, group)
            }
        }
    }

    /// Marks the beginning of the cursor's block as passed.
    fn pass(&mut self) {
        self.course.time += 1;
        let time = self.course.time;
        let block_start = self.top().block_start;
        let to = self.facts.block_of(block_start);
        self.top().passed.insert(to, time);
    }

    /// Moves the cursor to after an operation.
    fn go_to(&mut self, op: u32) {
        let start = self.facts.ops(self.course.path.image, self.facts.block_of(op)).start;
        let top = self.top();
        (top.cursor, top.block_start, top.handled) = (op, start, false);
    }

    /// Walks through a branch inside a function.
    fn branch(&mut self, op: u32, edge: Option<u32>, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let image = self.course.path.image;
        // A comparison is fused with the branch after it.
        let ends = |inst: &Inst| matches!(inst.operator(), Some(Op::Br | Op::CondBr | Op::Jump));
        let branch = if ends(&self.facts.inst(image, op)) { op } else { op + 1 };
        let inst = self.facts.inst(image, branch);
        let block = self.facts.block_of(branch);
        self.go_to(branch);
        let transfer = self.facts.transfer(block);
        let decides = group.is_some_and(|group| group.decisions().next().is_some());
        match inst.operator() {
            Some(Op::Br) => {}
            // Returns lead back to their calls.
            Some(Op::CondBr | Op::Jump) if transfer == Transfer::Return && !decides => {}
            Some(Op::Jump) if matches!(transfer, Transfer::To(_)) => {}
            Some(Op::CondBr | Op::Jump) => {
                let why = match edge {
                    Some(edge) if transfer != Transfer::Return => self.matters(block, edge),
                    _ => Some(Why::Between(None)),
                };
                (self.see)(self.facts.pos(branch), why);
                if why.is_some() {
                    self.take();
                    self.slots.insert(inst.a);
                    if let Some(group) = group {
                        self.want(group);
                    }
                }
            }
            _ => return Err(Mismatch("an edge leaves from what is no branch")),
        }
        Ok(())
    }

    /// Whether the branch that ends a block of the top frame, and took `edge`, is relevant, and why.
    fn matters(&mut self, block: u32, edge: u32) -> Option<Why> {
        let image = self.course.path.image;
        let frame = self.frames.last().expect("a branch runs in a call");
        let Some(function) = frame.function.clone().filter(|function| function.local(block).is_some()) else {
            return Some(Why::Between(None));
        };
        let joined = function.join(block).and_then(|join| frame.passed.get(&join).copied());
        let ended = joined.is_none() && !frame.returned;
        if frame.taken.time > joined.unwrap_or(0) {
            return Some(Why::Between(frame.taken.at));
        }
        let base = self.base(frame);
        if ended && self.facts.event_at_exit {
            // The alternative may reach the end of `main`.
            return Some(Why::GoesOn);
        }
        if ended {
            let unfinished: Vec<(Option<Rc<Function>>, u32)> = self.unfinished(block);
            for (function, block) in unfinished {
                let rest = match function {
                    Some(function) => self.facts.rest(image, &function, block),
                    None => Rc::new(self.facts.anything()),
                };
                if rest.event {
                    return Some(Why::GoesOn);
                }
            }
        }
        let local = function.local(block)?;
        let others: Vec<u32> = function.cfg.blocks[local as usize].edges.iter().map(|(edge, _)| *edge).filter(|e| *e != edge).collect();
        others.into_iter().find_map(|other| {
            let side = self.facts.side(image, &function, block, other);
            self.happens(&side).or_else(|| side.touches(&self.course.live, &self.slots, base, self.thread))
        })
    }

    /// The calls in progress that did not return, innermost first, with their blocks. Calls before `main` are left out.
    fn unfinished(&self, block: u32) -> Vec<(Option<Rc<Function>>, u32)> {
        let mut all = Vec::new();
        let mut block = Some(block);
        for frame in self.frames.iter().rev().take_while(|frame| !frame.returned) {
            let Some(at) = block.take() else { break };
            all.push((frame.function.clone(), at));
            block = self.calls.all[frame.call as usize].site.filter(|site| !self.facts.source.borrow().begins(*site));
        }
        all
    }

    /// Why the effects of an alternative are relevant, apart from its writes.
    fn happens(&self, way: &Effects) -> Option<Why> {
        match way {
            _ if way.event => Some(Why::Event),
            _ if way.standard => Some(Why::Standard),
            _ if way.leaves && self.course.taken > 0 => Some(Why::Leaves),
            _ if way.leaves && self.facts.event_at_exit => Some(Why::Event),
            _ => None,
        }
    }
}
