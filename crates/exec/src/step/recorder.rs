//! The record of a path, for walking it backwards (paper 1, section 5: `Slice`).
//!
//! Only a replayed path is recorded ([`crate::Explorer::record`]), by a copy of the inner loop of its own, so exploration costs nothing
//! more. The record has what the code alone does not determine: edges, addresses, calls, and what each slow operation touched. The steps
//! of a slow operation precede their [`Step::Slow`], which counts them. Size: 16 bytes per step.

use rustc_hash::FxHashSet;
use wryneck_ir::ActiveCall;

use crate::ground::memory::touch::{Reuse, Touch, Touched};
use crate::ground::places;
use crate::ground::stacks::StackId;
use crate::state::State;
use crate::step::core::Core;

/// One recorded step. `op` is the operation's index in the running function.
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
    /// The load at `op` read this many bytes at this address.
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
    /// Only this operand (0, 1, 2 for a, b, c) of the operation at `op` decided its result: a zero of a conjunction, or the chosen
    /// operand of a select, whose condition counts too.
    Only {
        op: u32,
        operand: u8,
    },
    /// The frame of this number (of [`Trace::frames`]) was pushed.
    Enter {
        frame: u32,
    },
    /// The top frame, of this number, returned by the operation at `op`.
    Leave {
        op: u32,
        frame: u32,
    },
    /// The `count` steps before this one belong to the slow operation at `op`.
    Slow {
        op: u32,
        count: u32,
    },
    /// The same, for a monitor's observation that the call at `op` has returned.
    Shown {
        op: u32,
        count: u32,
    },
    /// This many bytes were read.
    Read {
        len: u32,
        address: u64,
    },
    Write {
        len: u32,
        address: u64,
    },
    /// Heap or stack memory was allocated.
    Allocate {
        len: u32,
        address: u64,
    },
    /// The heap object just allocated lies in the slot of a freed one, which began at `base`; `own`: the program had allocated it.
    Replaced {
        own: bool,
        origin: StackId,
        base: u64,
    },
    /// The path made its decision of this index.
    Decision {
        index: u32,
    },
    /// The current call is an event or a may-event, which depends on these argument limbs (a bit each).
    Event {
        args: u32,
    },
    /// It is an event with the operands of this path.
    Happens,
    /// A monitor read the result of the current call.
    ResultMatters,
}

impl From<Touch> for Step {
    fn from(touch: Touch) -> Step {
        match touch {
            Touch::Bytes { how: Touched::Read, len, address } => Step::Read { len, address },
            Touch::Bytes { how: Touched::Write | Touched::Clear, len, address } => Step::Write { len, address },
            Touch::Bytes { how: Touched::Allocate, len, address } => Step::Allocate { len, address },
            Touch::Reuse(Reuse { own, origin, base }) => Step::Replaced { own, origin, base },
        }
    }
}

/// A call of the path.
#[derive(Clone, Copy, Debug)]
pub struct TracedFrame {
    pub func: u32,
    /// Its stack memory: `base .. top`, addresses.
    pub base: u64,
    pub top: u64,
    /// The first four limbs of its arguments, as far as they are concrete (otherwise 0).
    pub args: [u64; 4],
    /// The step that entered it. For a call in progress when recording began: 0, and its current operation.
    pub entered: u32,
    pub op: u32,
}

/// A call inside machine code.
#[derive(Clone, Copy, Debug)]
pub struct TracedCall {
    /// The step that made it.
    pub step: u32,
    /// The stack address of its return address.
    pub base: u64,
    /// The values of the calling convention's argument registers, as far as they are concrete (otherwise 0).
    pub args: [u64; 6],
}

/// The record of a path from some point to its end.
#[derive(Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    pub frames: Vec<TracedFrame>,
    /// Frames with smaller numbers were in progress when recording began.
    pub open: u32,
    /// The call stack at the end, outermost first: frames with their current operations.
    pub end: Vec<(u32, u32)>,
    /// Calls of machine code: those in progress when recording began, outermost first, then those made on the path, in order.
    pub active: Vec<ActiveCall>,
    pub calls: Vec<TracedCall>,
    /// Words of 64 bits that machine code stored, in order: the step of the store, and the word.
    pub words: Vec<(u32, u64)>,
    /// What the frames of machine code held when recording began: words that are not zero, with their addresses.
    pub held: Vec<(u64, u64)>,
}

/// More bytes of the stack are not read when recording begins.
const MOST_HELD: u64 = 1 << 16;

/// The operations that end blocks of machine code with calls, and the slots of the calls' arguments, then of the stack pointer.
#[derive(Default)]
struct Watched {
    func: u32,
    ops: FxHashSet<u32>,
    slots: [u32; 7],
}

/// A position in a record.
pub struct Mark {
    steps: usize,
    frames: usize,
    calls: usize,
    words: usize,
    end: Vec<(u32, u32)>,
}

/// Records the running path.
#[derive(Default)]
pub struct Recorder {
    pub trace: Trace,
    /// Frames in progress.
    stack: Vec<u32>,
    watched: Option<Watched>,
}

impl Recorder {
    /// Begins a record at `state`.
    pub fn new(core: &Core, state: &State) -> Recorder {
        let mut recorder = Recorder { watched: Watched::of(core), ..Recorder::default() };
        recorder.trace.active = core.active_calls(state);
        recorder.trace.held = recorder.held(state);
        for frame in &state.frames {
            let traced = TracedFrame { func: frame.func(), base: frame.base, top: frame.top, args: [0; 4], entered: 0, op: frame.op() };
            recorder.stack.push(recorder.trace.frames.len() as u32);
            recorder.trace.frames.push(traced);
        }
        recorder.trace.open = recorder.stack.len() as u32;
        recorder
    }

    /// The words of the frames of machine code's calls in progress.
    fn held(&self, state: &State) -> Vec<(u64, u64)> {
        let low = self.watched.as_ref().and_then(|watched| {
            let [.., pointer] = watched.slots;
            state.frames.iter().find(|frame| frame.func() == watched.func)?.concrete(pointer as usize)
        });
        let Some(low) = low else { return Vec::new() };
        let high = self.trace.active.iter().map(|call| call.base).max().unwrap_or(0).min(low.saturating_add(MOST_HELD));
        let words = (low.next_multiple_of(8)..high).step_by(8);
        let word = |at: u64| {
            let mut bytes = [0; 8];
            state.memory.space.read(at, &mut bytes).then(|| u64::from_le_bytes(bytes))
        };
        words.filter_map(|at| Some((at, word(at).filter(|word| *word != 0)?))).collect()
    }

    #[inline(always)]
    pub fn step(&mut self, step: Step) {
        self.trace.steps.push(step);
    }

    /// A store of concrete bytes.
    #[inline(always)]
    pub fn store(&mut self, op: u32, bytes: u8, address: u64, value: u64) {
        if bytes == 8 && self.watched.is_some() {
            self.trace.words.push((self.trace.steps.len() as u32, value));
        }
        self.step(Step::Store { op, bytes, address });
    }

    /// The running function is about to leave a block by the operation `op`, with these slots and tags.
    #[inline(always)]
    pub fn leaves(&mut self, func: u32, op: u32, slots: &[u64], tags: &[u8]) {
        let Some(watched) = &self.watched else { return };
        if watched.func == func && watched.ops.contains(&op) {
            let value = |slot: u32| slots.get(slot as usize).copied().filter(|_| tags[slot as usize] == 0).unwrap_or(0);
            let [args @ .., pointer] = watched.slots.map(value);
            self.trace.calls.push(TracedCall { step: self.trace.steps.len() as u32, base: pointer, args });
        }
    }

    /// A frame was pushed.
    pub fn enter(&mut self, func: u32, base: u64, top: u64, args: [u64; 4]) {
        let number = self.trace.frames.len() as u32;
        self.trace.frames.push(TracedFrame { func, base, top, args, entered: self.trace.steps.len() as u32, op: 0 });
        self.stack.push(number);
        self.step(Step::Enter { frame: number });
    }

    /// The top frame returned.
    pub fn leave(&mut self, op: u32) {
        if let Some(frame) = self.stack.pop() {
            self.step(Step::Leave { op, frame });
        }
    }

    /// The current position, if the path is at `state`.
    pub fn mark(&self, state: &State) -> Mark {
        let end = self.stack.iter().copied().zip(state.call_stack().iter().rev().map(|pos| pos.op)).collect();
        let Trace { steps, frames, calls, words, .. } = &self.trace;
        Mark { steps: steps.len(), frames: frames.len(), calls: calls.len(), words: words.len(), end }
    }

    /// Ends the record at an earlier position.
    pub fn cut(mut self, mark: Mark) -> Trace {
        self.trace.steps.truncate(mark.steps);
        self.trace.frames.truncate(mark.frames);
        self.trace.calls.truncate(mark.calls);
        self.trace.words.truncate(mark.words);
        self.trace.end = mark.end;
        self.trace
    }

    /// Ends the record.
    pub fn finish(mut self, state: &State) -> Trace {
        self.trace.end = self.mark(state).end;
        self.trace
    }
}

impl Watched {
    fn of(core: &Core) -> Option<Watched> {
        let source = core.code_source.as_ref()?.borrow();
        let convention = source.convention()?;
        let machine = core.image.machine_code()?;
        let first = machine.code.consts.len() as u32;
        let mut slots = [0; 7];
        let limbs = convention.arguments.iter().take(6).chain([&convention.stack_pointer]);
        slots.iter_mut().zip(limbs).for_each(|(slot, limb)| *slot = first + *limb as u32);
        let ops = source.call_blocks().into_iter().map(|block| places::end_of(&core.image, machine.func, block).op).collect();
        Some(Watched { func: machine.func, ops, slots })
    }
}
