//! The threads of a path. One runs, in the fields of [`State`]; the others are parked here with the parts of a state that each thread has
//! for itself.
//!
//! The engine makes, parks and switches threads ([`crate::step::threads`]). The environment decides which thread runs next, and what a
//! thread waits for.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_expr::{ExprId, Remap};

use crate::ground::code::Code;
use crate::ground::memory::{PAGE, STACK_TOP};
use crate::state::awaited::Awaited;
use crate::state::landings::Landings;
use crate::state::races::Races;
use crate::state::rebuilt::Rebuilt;
use crate::state::{Frame, LoopCount, Returned, State, remap_frames, renumbered};

/// Names a thread of a path: its index in the order in which they were made. The first is 0.
pub type ThreadId = u32;

/// What a thread that does not run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wait {
    /// The environment's name for the kind of thing.
    pub kind: u32,
    /// Which one.
    pub on: u64,
    /// It ends by itself at some time.
    pub timed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs, or may run.
    Ready,
    Waits(Wait),
    Ended,
}

/// What of a state belongs to the running thread.
#[derive(Clone, Default)]
pub(crate) struct Own {
    pub(crate) frames: Vec<Rc<Frame>>,
    pub(crate) landings: Rc<Landings>,
    pub(crate) announced: bool,
    pub(crate) returned: Option<Returned>,
    pub(crate) binding: Option<ExprId>,
    pub(crate) called_unknown: Option<Rc<str>>,
    pub(crate) sp: u64,
    pub(crate) loops: Rc<Vec<LoopCount>>,
    pub(crate) awaited: Vec<Awaited>,
}

impl Own {
    /// A copy of what belongs to the running thread.
    pub(crate) fn of(state: &State) -> Own {
        Own {
            frames: state.frames.clone(),
            landings: state.landings.clone(),
            announced: state.announced,
            returned: state.returned,
            binding: state.binding,
            called_unknown: state.called_unknown.clone(),
            sp: state.sp,
            loops: state.loops.clone(),
            awaited: state.awaited.clone(),
        }
    }

    /// Puts it in place of what belongs to the running thread, and gives that.
    pub(super) fn replace(self, state: &mut State) -> Own {
        Own {
            frames: std::mem::replace(&mut state.frames, self.frames),
            landings: std::mem::replace(&mut state.landings, self.landings),
            announced: std::mem::replace(&mut state.announced, self.announced),
            returned: std::mem::replace(&mut state.returned, self.returned),
            binding: std::mem::replace(&mut state.binding, self.binding),
            called_unknown: std::mem::replace(&mut state.called_unknown, self.called_unknown),
            sp: std::mem::replace(&mut state.sp, self.sp),
            loops: std::mem::replace(&mut state.loops, self.loops),
            awaited: std::mem::replace(&mut state.awaited, self.awaited),
        }
    }

    /// Its frames, and those of its landings.
    pub(super) fn all_frames(&self) -> impl Iterator<Item = &Rc<Frame>> {
        self.frames.iter().chain(self.landings.all.iter().map(|landing| &landing.frame))
    }

    /// The expressions that it holds beside those of its frames.
    pub(super) fn exprs(&self) -> impl Iterator<Item = ExprId> {
        self.returned.and_then(|returned| returned.expr()).into_iter().chain(self.binding)
    }

    pub(super) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        remap_frames(&mut self.frames, &mut self.landings, map, rebuilt);
        self.returned.iter_mut().for_each(|returned| returned.remap(map));
        self.binding = self.binding.map(|address| renumbered(map, address));
    }
}

/// What a thread of machine code begins with: addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begins {
    /// Its stack grows down from here.
    pub stack: u64,
    /// Where its own memory is, by the thread pointer.
    pub own: u64,
}

#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    /// Empty while it runs.
    pub(crate) own: Own,
    /// If it runs machine code.
    pub(crate) begins: Option<Begins>,
    /// Its instances of the program's thread-local variables, in the order of [`crate::ground::thread_locals::thread_locals`].
    pub(crate) locals: Rc<[u64]>,
}

/// The order in which the threads of a path ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// For each switch, the thread that it made run, and the number of decisions before it, modulo 256; the first [`Order::MOST`] of them.
    pub first: Vec<[u8; 2]>,
    /// The number of all switches.
    pub count: u64,
    /// The number of decisions on who goes on.
    pub decisions: u64,
    /// A thread gave way because it had run for long, which nothing but the engine counts.
    pub sliced: bool,
}

impl Order {
    /// Switches that are recorded; `ORDER` of runtime/threads.c is the same number.
    pub const MOST: usize = 4096;

    fn push(&mut self, to: ThreadId) {
        if self.first.len() < Order::MOST {
            self.first.push([to.try_into().unwrap_or(u8::MAX), self.decisions as u8]);
        }
        self.count += 1;
    }
}

/// The threads of a path that has made some.
#[derive(Clone)]
pub struct Threads {
    pub(crate) all: Vec<Thread>,
    pub(crate) running: ThreadId,
    /// Instructions that the running one may run before others get their turn.
    pub(crate) slice: i64,
    pub(crate) races: Rc<Races>,
    pub(crate) order: Rc<Order>,
}

/// The stack of a thread grows down from here.
pub(crate) fn stack_top(thread: ThreadId, stack_size: u64) -> u64 {
    const GUARD: u64 = 1 << 20;
    STACK_TOP + u64::from(thread) * (stack_size.next_multiple_of(PAGE) + GUARD)
}

impl Threads {
    /// The threads that are parked.
    pub(super) fn parked(&self) -> impl Iterator<Item = &Own> {
        self.all.iter().map(|thread| &thread.own)
    }

    /// The same threads, of which all but the running one have ended.
    pub(super) fn of_running(&self) -> Threads {
        let mut threads = self.clone();
        for (number, thread) in (0..).zip(&mut threads.all) {
            if number != threads.running {
                (thread.status, thread.own) = (Status::Ended, Own::default());
            }
        }
        threads
    }

    pub(super) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.all.iter_mut().for_each(|thread| thread.own.remap(map, rebuilt));
    }

    pub(super) fn hash_into(&self, mut h: &mut dyn Hasher) {
        (self.running, self.slice).hash(&mut h);
        for thread in &self.all {
            (thread.status, &thread.locals, thread.own.sp, thread.own.announced, thread.own.returned.is_some()).hash(&mut h);
            thread.own.landings.all.iter().for_each(|landing| landing.key().hash(&mut h));
        }
    }

    /// What the running thread begins with, if it is a thread of machine code that the program has made.
    pub(crate) fn begins(&self) -> Option<Begins> {
        self.all[self.running as usize].begins
    }

    /// Has a new frame of the running thread find the thread's instances of the thread-local variables.
    pub(crate) fn localise(&self, frame: &mut Frame, code: &Code) {
        let locals = &self.all[self.running as usize].locals;
        for (slot, number, offset) in &code.locals {
            if let Some(base) = locals.get(*number as usize) {
                frame.put(*slot as usize, (base.wrapping_add(*offset), 0));
            }
        }
    }
}

impl State {
    /// The frames that are parked, and the landings that are.
    pub(super) fn parked_frames(&self) -> impl Iterator<Item = &Rc<Frame>> {
        let own = self.threads.iter().flat_map(|threads| threads.parked());
        own.flat_map(Own::all_frames)
    }

    pub(super) fn parked_exprs(&self) -> impl Iterator<Item = ExprId> {
        let own = self.threads.iter().flat_map(|threads| threads.parked());
        own.flat_map(Own::exprs)
    }

    /// The parts of the stack in use that belong to threads that do not run, each from its lowest address to its end.
    pub(crate) fn parked_stacks(&self) -> impl Iterator<Item = (u64, u64, &[Rc<Frame>])> {
        let own = self.threads.iter().flat_map(|threads| threads.parked());
        own.filter(|own| !own.frames.is_empty()).map(|own| (own.sp, own.frames[0].top, &own.frames[..]))
    }

    /// The frames whose stack an address lies in.
    pub(crate) fn frames_at(&self, address: u64) -> Option<&[Rc<Frame>]> {
        if address >= self.sp && address < self.stack_top {
            return Some(&self.frames);
        }
        self.parked_stacks().find(|(sp, top, _)| (*sp..*top).contains(&address)).map(|(.., frames)| frames)
    }

    /// Records a switch to another thread.
    pub(crate) fn record_switch(&mut self, to: ThreadId, slice_ended: bool) {
        let Some(threads) = self.threads.as_mut().filter(|threads| threads.running != to) else { return };
        let order = Rc::make_mut(&mut Rc::make_mut(threads).order);
        order.push(to);
        order.sliced |= slice_ended;
    }

    /// Records a decision on who goes on.
    pub(crate) fn record_decision(&mut self) {
        if let Some(threads) = &mut self.threads {
            Rc::make_mut(&mut Rc::make_mut(threads).order).decisions += 1;
        }
    }

    /// Whether the path has made a thread.
    pub fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// The thread that runs.
    pub fn thread(&self) -> ThreadId {
        self.threads.as_ref().map_or(0, |threads| threads.running)
    }

    /// What the threads of the path do.
    pub fn statuses(&self) -> Vec<Status> {
        self.threads.as_ref().map_or_else(|| vec![Status::Ready], |threads| threads.all.iter().map(|thread| thread.status).collect())
    }

    /// A thread's instance of the thread-local variable of this number; that of the first is the variable.
    pub fn thread_local(&self, thread: ThreadId, number: usize) -> Option<u64> {
        self.threads.as_ref()?.all.get(thread as usize)?.locals.get(number).copied()
    }

    /// Has another thread run.
    pub(crate) fn change_thread(&mut self, to: ThreadId) {
        let Some(threads) = &mut self.threads else { return };
        let threads = Rc::make_mut(threads);
        let from = std::mem::replace(&mut threads.running, to);
        if from == to {
            return;
        }
        let next = std::mem::take(&mut threads.all[to as usize].own);
        let parked = next.replace(self);
        if let Some(threads) = &mut self.threads {
            Rc::make_mut(threads).all[from as usize].own = parked;
        }
    }
}
