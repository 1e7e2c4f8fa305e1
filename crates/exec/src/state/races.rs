//! The accesses of a path's threads, to find data races: vector clocks, and the last accesses of each byte.
//!
//! A thread's clock holds, for each other thread, the last step that happened before the thread's current step. A thread that publishes at
//! a lock joins its clock into that of the lock. A thread that observes the lock joins the clock of the lock into its own. Two accesses
//! race if one of them writes, they are not both atomic, and the later thread's clock does not include the earlier access. Atomic reads
//! observe at their address; atomic writes observe and publish there, whatever their memory order. [`How`] says what counts as atomic.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ground::image::CodePos;
use crate::state::threads::ThreadId;

/// Bytes that share a page of accesses.
const PAGE: u64 = 64;

/// By thread: the last of its steps that is known.
type Clock = Vec<u32>;

/// How an access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    Plain,
    Atomic,
    /// By an instruction of machine code that reads, changes and writes memory without a lock. Compilers make it of an atomic load and store, too, so
    /// it orders threads; two of different threads race all the same, since one may be lost.
    Change,
}

impl How {
    fn races_with(self, other: How) -> bool {
        self == How::Plain || other == How::Plain || self == How::Change && other == How::Change
    }
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) thread: ThreadId,
    step: u32,
    pub(crate) pos: CodePos,
    pub(crate) write: bool,
    how: How,
}

/// The accesses of a byte that a later one may race with: the last write, and the reads since, one of each thread.
#[derive(Clone, Default)]
struct Cell {
    write: Option<Access>,
    reads: Vec<Access>,
}

/// An access of some bytes, as it is made.
#[derive(Clone, Copy)]
pub(crate) struct Touching {
    pub(crate) pos: CodePos,
    pub(crate) address: u64,
    pub(crate) len: u64,
    pub(crate) write: bool,
    pub(crate) how: How,
}

#[derive(Clone, Default)]
pub(crate) struct Races {
    clocks: Vec<Clock>,
    published: BTreeMap<u64, Clock>,
    pages: FxHashMap<u64, Rc<Vec<Cell>>>,
}

fn join(into: &mut Clock, other: &[u32]) {
    into.resize(into.len().max(other.len()), 0);
    into.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

impl Races {
    fn clock(&mut self, thread: ThreadId) -> &mut Clock {
        let index = thread as usize;
        self.clocks.resize_with(self.clocks.len().max(index + 1), Vec::new);
        let clock = &mut self.clocks[index];
        if clock.len() <= index {
            clock.resize(index + 1, 0);
        }
        if clock[index] == 0 {
            clock[index] = 1;
        }
        clock
    }

    /// A thread makes another, which knows what it knows.
    pub(crate) fn make(&mut self, by: ThreadId, new: ThreadId) {
        let known = self.clock(by).clone();
        join(self.clock(new), &known);
        self.clock(by)[by as usize] += 1;
    }

    pub(crate) fn publish(&mut self, thread: ThreadId, at: u64) {
        let known = self.clock(thread).clone();
        join(self.published.entry(at).or_default(), &known);
        self.clock(thread)[thread as usize] += 1;
    }

    pub(crate) fn observe(&mut self, thread: ThreadId, at: u64) {
        if let Some(known) = self.published.get(&at).cloned() {
            join(self.clock(thread), &known);
        }
    }

    /// All of these threads know what was published at an address; nothing is published there any more.
    pub(crate) fn meet(&mut self, last: ThreadId, others: &[ThreadId], at: u64) {
        for thread in others.iter().copied().chain([last]) {
            self.observe(thread, at);
        }
        self.published.remove(&at);
    }

    /// Memory begins anew.
    pub(crate) fn forget(&mut self, address: u64, len: u64) {
        let end = address.saturating_add(len);
        let mut at = address;
        while at < end {
            let page = at / PAGE;
            let next = (page + 1) * PAGE;
            if at.is_multiple_of(PAGE) && next <= end {
                self.pages.remove(&page);
            } else if let Some(cells) = self.pages.get_mut(&page) {
                Rc::make_mut(cells)[(at % PAGE) as usize..(end.min(next) - page * PAGE) as usize].fill(Cell::default());
            }
            at = next;
        }
    }

    /// A thread reads or writes at an address that orders it with others.
    pub(crate) fn synchronise(&mut self, thread: ThreadId, address: u64, write: bool) {
        self.observe(thread, address);
        if write {
            self.publish(thread, address);
        }
    }

    /// A thread accesses memory: the first earlier access that this one races with, and the byte.
    pub(crate) fn touch(&mut self, thread: ThreadId, touching: Touching) -> Option<(Access, u64)> {
        let Touching { pos, address, len, write, how } = touching;
        if how == How::Atomic && !write {
            self.observe(thread, address);
        }
        self.clock(thread);
        let Races { clocks, pages, .. } = &mut *self;
        let known = &clocks[thread as usize];
        // A change is compared by its read and kept by its write, after which its lifted form may read once more.
        let kept = if write { how } else { how.min(How::Atomic) };
        let access = Access { thread, step: known[thread as usize], pos, write, how: kept };
        let unknown = |old: &Access| old.step > known.get(old.thread as usize).copied().unwrap_or(0);
        let races = |old: &&Access| old.thread != thread && old.how.races_with(how) && unknown(old);
        for at in address..address.saturating_add(len) {
            let cells = pages.entry(at / PAGE).or_insert_with(|| Rc::new(vec![Cell::default(); PAGE as usize]));
            let cell = &cells[(at % PAGE) as usize];
            let same = |old: &Access| (old.thread, old.step, old.how) == (thread, access.step, kept);
            // What this thread has just done here is known already.
            if write && cell.reads.is_empty() && cell.write.as_ref().is_some_and(same) || !write && cell.reads.iter().any(same) {
                continue;
            }
            let readers = if write { &cell.reads[..] } else { &[] };
            if let Some(old) = cell.write.iter().chain(readers).find(races) {
                return Some((*old, at));
            }
            let cell = &mut Rc::make_mut(cells)[(at % PAGE) as usize];
            if write {
                *cell = Cell { write: Some(access), reads: Vec::new() };
            } else {
                cell.reads.retain(|old| old.thread != thread);
                cell.reads.push(access);
            }
        }
        if how != How::Plain && (write || how == How::Change) {
            self.synchronise(thread, address, write);
        }
        None
    }
}
