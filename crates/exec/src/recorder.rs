//! The record of a path, for walking it backwards (paper 1, section 5: `Slice`).
//!
//! Only a replayed path is recorded ([`crate::Explorer::record`]), by a copy of the inner loop of its own, so exploration costs nothing
//! more. The record has what the code alone does not determine: edges, addresses, calls, and what each slow operation touched. The steps
//! of a slow operation precede their [`Step::Slow`], which counts them. Size: 16 bytes per step.

use rustc_hash::FxHashSet;
use wryneck_ir::ActiveCall;

use crate::core::Core;
use crate::state::State;

/// One thing that happened. `op` is the operation's index in the running function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The branch at `op` (or the comparison fused with it, just before) took an edge of the function.
    Edge {
        op: u32,
        edge: u32,
    },
    /// The computed jump at `op` went to the operation `target`.
    Jump {
        op: u32,
        target: u32,
    },
    /// The load at `op` was of so many bytes at this address.
    Load {
        op: u32,
        bytes: u8,
        address: u64,
    },
    Store {
        op: u32,
        bytes: u8,
        address: u64,
    },
    /// Of the operands of the operation at `op`, this one alone (0, 1, 2 for a, b, c) decided its result: a zero of a conjunction, the
    /// chosen side of a select, whose condition counts besides.
    Only {
        op: u32,
        operand: u8,
    },
    /// The frame of this number (of [`Trace::frames`]) was put on top.
    Enter {
        frame: u32,
    },
    /// The frame on top, of this number, returned by the operation at `op`.
    Leave {
        op: u32,
        frame: u32,
    },
    /// The `count` steps before this one belong to the operation at `op`, which the inner loop left to others.
    Slow {
        op: u32,
        count: u32,
    },
    /// The same, where a monitor was shown that the call at `op` has returned.
    Shown {
        op: u32,
        count: u32,
    },
    /// So many bytes were read.
    Read {
        len: u32,
        address: u64,
    },
    Write {
        len: u32,
        address: u64,
    },
    /// Heap memory or stack came to be.
    Allocate {
        len: u32,
        address: u64,
    },
    /// The path's decision of this index was made.
    Decision {
        index: u32,
    },
    /// The call at hand is an event, or may be one: argument limbs (a bit each) that matter.
    Event {
        args: u32,
    },
    /// With these operands it is one.
    Happens,
    /// The result of the call at hand matters.
    ResultMatters,
}

/// A call of the path.
#[derive(Clone, Copy, Debug)]
pub struct TracedFrame {
    pub func: u32,
    /// Its stack memory: `base .. top`, addresses.
    pub base: u64,
    pub top: u64,
    /// Arguments, concrete ones (others are 0): the first four limbs.
    pub args: [u64; 4],
    /// The step it was entered by; of one in progress when recording began, 0, and the operation that it was at.
    pub entered: u32,
    pub op: u32,
}

/// A call inside machine code.
#[derive(Clone, Copy, Debug)]
pub struct TracedCall {
    /// The step that made it.
    pub step: u32,
    /// Where on the stack its return address is.
    pub base: u64,
    /// What the convention's registers for arguments hold, as far as it is concrete (otherwise 0).
    pub args: [u64; 6],
}

/// A recorded part of a path, to its end.
#[derive(Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    pub frames: Vec<TracedFrame>,
    /// Frames of numbers below this one were in progress when recording began.
    pub open: u32,
    /// The call stack at the end, outermost first: frames with the operation each was at.
    pub end: Vec<(u32, u32)>,
    /// Calls inside machine code that were in progress when recording began, outermost first, and those that were made, in order.
    pub active: Vec<ActiveCall>,
    pub calls: Vec<TracedCall>,
}

/// Which operations of machine code end with calls, and the slots that say what is called with: arguments, then the stack pointer.
#[derive(Default)]
struct Watched {
    func: u32,
    ops: FxHashSet<u32>,
    slots: [u32; 7],
}

/// How far a recording had come.
pub struct Mark {
    steps: usize,
    frames: usize,
    calls: usize,
    end: Vec<(u32, u32)>,
}

/// Records the path that is run.
#[derive(Default)]
pub struct Recorder {
    pub trace: Trace,
    /// Frames in progress.
    stack: Vec<u32>,
    watched: Option<Watched>,
}

impl Recorder {
    /// Begins where `state` is.
    pub fn new(core: &Core, state: &State) -> Recorder {
        let mut recorder = Recorder { watched: Watched::of(core), ..Recorder::default() };
        recorder.trace.active = core.active_calls(state);
        for frame in &state.frames {
            let traced = TracedFrame { func: frame.func, base: frame.base, top: frame.top, args: [0; 4], entered: 0, op: frame.op };
            recorder.stack.push(recorder.trace.frames.len() as u32);
            recorder.trace.frames.push(traced);
        }
        recorder.trace.open = recorder.stack.len() as u32;
        recorder
    }

    #[inline(always)]
    pub fn step(&mut self, step: Step) {
        self.trace.steps.push(step);
    }

    /// The running function is about to leave a block by the operation `op`; these are its slots and their tags.
    #[inline(always)]
    pub fn leaves(&mut self, func: u32, op: u32, slots: &[u64], tags: &[u8]) {
        let Some(watched) = &self.watched else { return };
        if watched.func == func && watched.ops.contains(&op) {
            let value = |slot: u32| slots.get(slot as usize).copied().filter(|_| tags[slot as usize] == 0).unwrap_or(0);
            let [args @ .., pointer] = watched.slots.map(value);
            self.trace.calls.push(TracedCall { step: self.trace.steps.len() as u32, base: pointer, args });
        }
    }

    /// A frame was put on top.
    pub fn enter(&mut self, func: u32, base: u64, top: u64, args: [u64; 4]) {
        let number = self.trace.frames.len() as u32;
        self.trace.frames.push(TracedFrame { func, base, top, args, entered: self.trace.steps.len() as u32, op: 0 });
        self.stack.push(number);
        self.step(Step::Enter { frame: number });
    }

    /// The frame on top returned.
    pub fn leave(&mut self, op: u32) {
        if let Some(frame) = self.stack.pop() {
            self.step(Step::Leave { op, frame });
        }
    }

    /// How far it has come, where the path is in `state`.
    pub fn mark(&self, state: &State) -> Mark {
        let end = self.stack.iter().copied().zip(state.call_stack().iter().rev().map(|pos| pos.op)).collect();
        Mark { steps: self.trace.steps.len(), frames: self.trace.frames.len(), calls: self.trace.calls.len(), end }
    }

    /// Ends the recording where it had come so far.
    pub fn cut(mut self, mark: Mark) -> Trace {
        self.trace.steps.truncate(mark.steps);
        self.trace.frames.truncate(mark.frames);
        self.trace.calls.truncate(mark.calls);
        self.trace.end = mark.end;
        self.trace
    }

    /// Ends the recording.
    pub fn finish(mut self, state: &State) -> Trace {
        self.trace.end = self.mark(state).end;
        self.trace
    }
}

impl Watched {
    fn of(core: &Core) -> Option<Watched> {
        let source = core.code_source.as_ref()?.borrow();
        let convention = source.convention()?;
        let (func, code) = core.image.machine_code()?;
        let first = code.consts.len() as u32;
        let mut slots = [0; 7];
        let limbs = convention.arguments.iter().take(6).chain([&convention.stack_pointer]);
        slots.iter_mut().zip(limbs).for_each(|(slot, limb)| *slot = first + *limb as u32);
        let ops = source.call_blocks().into_iter().map(|block| core.image.end_of(func, block).op).collect();
        Some(Watched { func, ops, slots })
    }
}
