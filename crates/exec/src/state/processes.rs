//! The processes of a path. One runs, in the fields of [`State`]; the others are parked here, each with its memory and its calls in
//! progress.
//!
//! Processes share the path: its condition, its inputs and the data of the environment. The environment keeps apart which of its data
//! belongs to one process. The environment also decides which process runs next, and what a process waits for.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_expr::{ExprId, Pool, Remap};

use crate::ground::memory::Memory;
use crate::ground::sharing::Visited;
use crate::state::rebuilt::Rebuilt;
use crate::state::threads::{Own, Threads};
use crate::state::variables::Variables;
use crate::state::{Frame, State, hash_frames, hash_memory, renumbered};

/// Names a process of a path: its index in the order in which they were made. The first is 0.
pub type ProcessId = u32;

/// What of a state belongs to a process.
struct Parked {
    own: Own,
    /// Its threads, of which the running one is in `own`.
    threads: Option<Rc<Threads>>,
    memory: Memory,
    stack_top: u64,
    variables: Rc<Variables>,
}

impl Clone for Parked {
    fn clone(&self) -> Parked {
        let memory = self.memory.fork_idle();
        Parked {
            own: self.own.clone(),
            threads: self.threads.clone(),
            memory,
            stack_top: self.stack_top,
            variables: self.variables.clone(),
        }
    }
}

impl Parked {
    /// What belongs to each of its threads.
    fn all(&self) -> impl Iterator<Item = &Own> {
        self.threads.iter().flat_map(|threads| threads.parked()).chain([&self.own])
    }
}

/// The processes of a path that has made some.
#[derive(Clone)]
pub struct Processes {
    /// `None`: it runs, or has ended.
    parked: Vec<Option<Rc<Parked>>>,
    running: ProcessId,
}

impl Processes {
    fn parked(&self) -> impl Iterator<Item = &Rc<Parked>> {
        self.parked.iter().flatten()
    }

    /// The frames of those that do not run.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Rc<Frame>> {
        self.parked().flat_map(|parked| parked.all()).flat_map(Own::all_frames)
    }

    /// Calls `f` with the expressions of those that do not run, but for their frames'.
    pub(super) fn for_each_expr(&self, visited: &mut Visited, f: &mut dyn FnMut(ExprId)) {
        for parked in self.parked() {
            parked.memory.space.for_each_new_page(visited, &mut |page| page.cells().iter().for_each(|cell| f(cell.expr)));
            parked.all().flat_map(Own::exprs).for_each(&mut *f);
        }
    }

    pub(super) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        for parked in self.parked.iter_mut().flatten() {
            let Parked { own, threads, memory, .. } = Rc::make_mut(parked);
            own.remap(map, rebuilt);
            threads.iter_mut().for_each(|threads| Rc::make_mut(threads).remap(map, rebuilt));
            memory.space.replace_symbolic_pages(&mut rebuilt.space, &mut |page| {
                page.cells_mut().iter_mut().for_each(|cell| cell.expr = renumbered(map, cell.expr));
            });
        }
    }

    pub(super) fn hash_into(&self, pool: &Pool, mut h: &mut dyn Hasher) {
        self.running.hash(&mut h);
        for (number, parked) in self.parked.iter().enumerate() {
            let Some(parked) = parked else { continue };
            (number, parked.own.sp, parked.own.announced, &*parked.variables).hash(&mut h);
            parked.threads.iter().for_each(|threads| threads.hash_into(h));
            hash_frames(parked.all().flat_map(Own::all_frames), pool, h);
            hash_memory(&parked.memory, pool, h);
        }
    }
}

/// Whether a path has made a process.
pub fn are_several(state: &State) -> bool {
    state.processes.is_some()
}

/// The process that runs.
pub fn running(state: &State) -> ProcessId {
    state.processes.as_ref().map_or(0, |processes| processes.running)
}

/// Makes a process that is as the running one is, at the operation that the path is at, but for its threads: only the running one is there. It does not
/// run yet.
pub fn make(state: &mut State) -> ProcessId {
    state.dirty = true;
    let copy = Parked {
        own: Own::of(state),
        threads: state.threads.as_ref().map(|threads| Rc::new(threads.of_running())),
        memory: state.memory.fork(),
        stack_top: state.stack_top,
        variables: state.variables.clone(),
    };
    let processes = state.processes.get_or_insert_with(|| Rc::new(Processes { parked: vec![None], running: 0 }));
    let processes = Rc::make_mut(processes);
    processes.parked.push(Some(Rc::new(copy)));
    processes.parked.len() as ProcessId - 1
}

/// Has another process run. `ends`: the running one is over.
pub(crate) fn change(state: &mut State, to: ProcessId, ends: bool) {
    let Some(processes) = &mut state.processes else { return };
    let processes = Rc::make_mut(processes);
    let Some(next) = processes.parked.get_mut(to as usize).and_then(Option::take) else { return };
    let next = Rc::try_unwrap(next).unwrap_or_else(|shared| Parked::clone(&shared));
    let from = std::mem::replace(&mut processes.running, to);
    let mut memory = std::mem::replace(&mut state.memory, next.memory);
    state.memory.space.wake();
    memory.space.sleep();
    let parked = Parked {
        own: next.own.replace(state),
        threads: std::mem::replace(&mut state.threads, next.threads),
        memory,
        stack_top: std::mem::replace(&mut state.stack_top, next.stack_top),
        variables: std::mem::replace(&mut state.variables, next.variables),
    };
    if !ends && let Some(processes) = &mut state.processes {
        Rc::make_mut(processes).parked[from as usize] = Some(Rc::new(parked));
    }
}

/// Another process, which does not run, has the memory that the running one leaves: they shared it.
pub fn leave_memory(state: &mut State, to: ProcessId) {
    state.dirty = true;
    let memory = state.memory.fork();
    let parked = state.processes.as_mut().and_then(|processes| Rc::make_mut(processes).parked[to as usize].as_mut());
    if let Some(parked) = parked {
        Rc::make_mut(parked).memory = memory;
    }
}

/// Drops a process that does not run.
pub fn end(state: &mut State, process: ProcessId) {
    state.dirty = true;
    if let Some(processes) = &mut state.processes {
        Rc::make_mut(processes).parked[process as usize] = None;
    }
}
