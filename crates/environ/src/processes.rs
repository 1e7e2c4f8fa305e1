//! The processes of a path (docs/processes.md): what the kernel knows of each, and who goes on.
//!
//! One process runs until it waits or ends; then the next one that can goes on. A process that waits makes its system call again when it goes on
//! ([`wryneck_exec::processes`]). Whether what it waits for has happened, that call sees: so after each call that did something, all may try again.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_exec::processes::ProcessId;
use wryneck_exec::threads::ThreadId;

use crate::state::{Fd, Mapping, NodeId, World};
use crate::sys::signals::{self, Pending};
use crate::threads::Threads;

/// The most processes of a path.
pub const MOST: usize = 256;
/// System calls that a process makes before others get their turn: a program may ask in a loop for what another process does.
pub const CALLS: u32 = 1000;

/// What of the environment belongs to one process.
#[derive(Clone, Default)]
pub struct Own {
    pub fds: Vec<Option<Fd>>,
    pub working_directory: NodeId,
    /// Mappings of files, by address.
    pub mappings: Rc<BTreeMap<u64, Mapping>>,
    /// The first address of the break's room and the break, once the program has asked.
    pub break_at: Option<(u64, u64)>,
    pub umask: u32,
    /// Handlers by signal, as `rt_sigaction` was given them.
    pub handlers: Rc<BTreeMap<u32, [u64; 4]>>,
    pub signal_mask: u64,
    pub pending: Rc<Pending>,
    /// `stack_t` of the stack that handlers run on: address, flags, size.
    pub signal_stack: [u64; 3],
    pub threads: Rc<Threads>,
}

/// Threads may hold expressions; those of the running process are hashed with the path's other ones.
impl Hash for Own {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (&self.fds, self.working_directory, &self.mappings, self.break_at, self.umask).hash(h);
        (&self.handlers, self.signal_mask, &self.pending, self.signal_stack).hash(h);
    }
}

/// What a process does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs, or may run.
    Ready,
    /// It waits: for what, in words and with its place.
    Waits(Rc<str>),
    /// It has ended, with this status word of `wait`, which its parent has not asked for yet.
    Ended(u32),
    Gone,
}

#[derive(Clone, Hash)]
pub struct Process {
    /// `None`: the parent has ended.
    pub parent: Option<ProcessId>,
    pub status: Status,
    /// It has been made and has not run yet: the call that made it gives 0.
    pub is_new: bool,
    /// It runs in its parent's memory, which waits for its end, on a stack of its own (`posix_spawn`).
    pub shares_memory: bool,
    /// The child of its `vfork` that it waits for.
    pub waits_for: Option<ProcessId>,
    /// It has let others go on before its current call.
    pub gave_way: bool,
    /// When the wait that it has begun ends by itself, in microseconds that the clock has moved on.
    pub until: Option<u64>,
    /// System calls that it has made since it waited, or since others had their turn.
    pub calls: u32,
    /// Empty while it runs.
    own: Own,
}

/// The processes of a path that has made some, by number.
#[derive(Clone, Default, Hash)]
pub struct Processes {
    pub all: Vec<Process>,
    /// What the first one ended with.
    pub first: Option<u32>,
}

impl Process {
    fn of(parent: Option<ProcessId>, is_new: bool, own: Own) -> Process {
        Process {
            parent,
            status: Status::Ready,
            shares_memory: false,
            waits_for: None,
            is_new,
            gave_way: false,
            until: None,
            calls: 0,
            own,
        }
    }

    pub fn is_alive(&self) -> bool {
        self.status == Status::Ready || self.waits()
    }

    fn waits(&self) -> bool {
        matches!(self.status, Status::Waits(_))
    }
}

impl Processes {
    /// Those that wait may try whether what they wait for has happened.
    pub fn try_again(&mut self) {
        for process in self.all.iter_mut().filter(|process| process.waits()) {
            process.status = Status::Ready;
            // So may its threads that wait in system calls.
            if !process.own.threads.is_empty() {
                Rc::make_mut(&mut process.own.threads).step();
            }
        }
    }

    /// Whether one that waits has set a timer.
    pub fn are_timed(&self) -> bool {
        self.all.iter().any(|process| process.waits() && signals::is_timed(&process.own))
    }

    /// The threads of the processes that do not run.
    pub fn threads(&self) -> impl Iterator<Item = &Rc<Threads>> {
        self.all.iter().map(|process| &process.own.threads)
    }

    pub fn threads_mut(&mut self) -> impl Iterator<Item = &mut Rc<Threads>> {
        self.all.iter_mut().map(|process| &mut process.own.threads)
    }
}

impl World {
    /// The processes, to change; the first one may be alone.
    pub fn processes_mut(&mut self) -> &mut Processes {
        let processes = Rc::make_mut(&mut self.processes);
        if processes.all.is_empty() {
            processes.all.push(Process::of(None, false, Own::default()));
        }
        processes
    }

    /// A copy of the running process, as `fork` of this thread makes it: signals that are pending and timers stay with the parent.
    pub fn add_process(&mut self, parent: ProcessId, thread: ThreadId) {
        for fd in self.own.fds.iter().flatten() {
            self.opens[fd.open as usize].refs += 1;
        }
        let threads = self.own.threads.clone().of_thread(thread);
        let own = Own { pending: Rc::default(), threads, ..self.own.clone() };
        self.processes_mut().all.push(Process::of(Some(parent), true, own));
    }

    /// Puts what belongs to a process in place of what belongs to another, which is kept.
    pub fn exchange(&mut self, from: ProcessId, to: ProcessId) {
        if from == to {
            return;
        }
        let next = std::mem::take(&mut self.processes_mut().all[to as usize].own);
        self.processes_mut().all[from as usize].own = std::mem::replace(&mut self.own, next);
    }

    /// Whether the running process has made so many calls that others have their turn.
    pub fn has_had_its_turn(&self, running: ProcessId) -> bool {
        self.processes.all.get(running as usize).is_some_and(|process| process.calls > CALLS)
    }

    /// Another process than the running one that may run, the next one first.
    pub fn ready(&self, running: ProcessId) -> Option<ProcessId> {
        let all = &self.processes.all;
        let mut others = (1..all.len()).map(|i| (running as usize + i) % all.len());
        others.find(|i| all[*i].status == Status::Ready).map(|i| i as ProcessId)
    }

    /// The process whose wait ends first by itself.
    pub fn first_to_wake(&self) -> Option<(u64, ProcessId)> {
        let waits = (0..).zip(&self.processes.all).filter(|(_, process)| process.waits());
        waits.filter_map(|(i, process)| Some((process.until?, i))).min()
    }

    /// Where all others wait for a time, or may only try again: the one whose time comes first, and that time.
    pub fn only_sleeper(&self, running: ProcessId) -> Option<(u64, ProcessId)> {
        let others = (0..).zip(&self.processes.all).filter(|(i, process)| *i != running && process.is_alive());
        let (sleepers, awake): (Vec<_>, Vec<_>) = others.partition(|(_, process)| process.until.is_some());
        let is_busy = awake.iter().any(|(_, process)| process.status == Status::Ready);
        sleepers.iter().filter_map(|(i, process)| Some((process.until?, *i))).min().filter(|_| !is_busy)
    }

    /// A system call of the running process has done something: those that wait may try again.
    pub fn let_others_try(&mut self, running: ProcessId) {
        let processes = self.processes_mut();
        let mine = &mut processes.all[running as usize];
        (mine.calls, mine.gave_way, mine.until) = (mine.calls + 1, false, None);
        processes.try_again();
    }
}
