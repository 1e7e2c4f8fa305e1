//! A state: one path in progress. It has no link to the engine, and a fork copies a handful of reference counts.

pub mod awaited;
pub mod frame;
pub mod landings;
pub mod processes;
pub(crate) mod races;
pub mod rebuilt;
pub mod slots;
pub mod survived;
pub mod threads;
pub mod variables;

use std::collections::VecDeque;
use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::FxHasher;
use wryneck_expr::{ExprId, Model, Pool, Remap, SymId};
use wryneck_solver::{PVec, PathCondition};

use crate::ground::image::CodePos;
use crate::ground::memory::Memory;
use crate::ground::prefix::{Decision, Prefix};
use crate::ground::sharing::Visited;
use crate::state::awaited::Awaited;
pub use crate::state::frame::{Frame, Tagged};
use crate::state::landings::Landings;
use crate::state::processes::Processes;
use crate::state::rebuilt::Rebuilt;
pub use crate::state::slots::{AnyData, NoData, PathData, Slot, Slots, own_data};
use crate::state::survived::Survived;
use crate::state::threads::Threads;
use crate::state::variables::Variables;

/// Names the subtree below one flip.
pub type SubtreeId = u32;

/// The subtree of paths that began at no flip.
pub const NO_SUBTREE: SubtreeId = SubtreeId::MAX;

/// The subtree of paths below flips that subsumption would have pruned.
pub const LEFT_OUT: SubtreeId = SubtreeId::MAX - 1;

/// Symbolic input a path has made: an object of the test case.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: Rc<str>,
    /// One symbol of 8 bits per byte.
    pub bytes: Rc<[SymId]>,
}

/// A watched call that has returned, which the monitor has not been shown yet.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// The lowest limb of the result: a slot's contents and tag.
    pub result: Option<(u64, u8)>,
}

impl Returned {
    fn expr(&self) -> Option<ExprId> {
        self.result.filter(|(_, tag)| *tag != 0).map(|(value, _)| ExprId::from_raw(value as u32))
    }

    fn remap(&mut self, map: &Remap) {
        if let Some(e) = self.expr() {
            self.result = Some((u64::from(renumbered(map, e).raw()), 1));
        }
    }
}

/// How often a path took edge `edge` of `func`, `depth` calls deep.
#[derive(Clone, Copy, Debug)]
pub struct LoopCount {
    pub func: u32,
    pub edge: u32,
    pub depth: u32,
    pub count: u32,
}

/// Decisions a path still has to follow before it decides for itself.
pub type Script = VecDeque<Decision>;

/// One path in progress.
pub struct State {
    pub frames: Vec<Rc<Frame>>,
    pub memory: Memory,
    pub path: PathCondition,
    /// An assignment that satisfies `path`.
    pub model: Model,
    pub prefix: Prefix,
    pub script: Script,
    /// Decisions taken since the current operation began: a fork re-runs the operation from its beginning.
    pub taken: u32,
    /// The path condition when the current operation began, if the operation has added to it: what its flips begin with.
    pub(crate) before: Option<PathCondition>,
    /// Whether the current operation has changed anything yet; it must not decide afterwards.
    pub dirty: bool,
    pub inputs: PVec<Input>,
    /// The data of plug-ins.
    pub data: Slots,
    /// The monitor has been shown the call the top frame is at.
    pub announced: bool,
    pub returned: Option<Returned>,
    /// The address whose pointer is bound before the operation that the path is at (again).
    pub binding: Option<ExprId>,
    /// The unknown function that machine code is about to call, in words.
    pub called_unknown: Option<Rc<str>>,
    /// Lowest address of the stack in use.
    pub sp: u64,
    /// Where the running thread's stack ends.
    pub(crate) stack_top: u64,
    /// `None`: there has been one thread.
    pub(crate) threads: Option<Rc<Threads>>,
    /// `None`: there has been one process.
    pub(crate) processes: Option<Rc<Processes>>,
    /// Objects inside the stack and the data of machine code that it has computed addresses in.
    pub variables: Rc<Variables>,
    /// Instructions run on this path.
    pub instructions: u64,
    /// How often each back edge under a symbolic condition was taken, kept only under a loop limit.
    pub loops: Rc<Vec<LoopCount>>,
    /// The path has entered a block, or taken a side of a branch, that no path had before.
    pub covers_new: bool,
    /// The path's leaf in the tree of paths.
    pub node: u32,
    /// The flip it began at, if any.
    pub subtree: SubtreeId,
    /// What on this path was skipped, bounded or answered otherwise than natively, if anything was: the first few.
    pub approximated: Option<Rc<str>>,
    /// Memory it never wrote has become input.
    pub unwritten_input: bool,
    /// A vector load has read bytes outside of its object (unwritten.rs).
    pub overread: bool,
    /// Accesses out of bounds behind which it went on.
    pub survived: Rc<Vec<Survived>>,
    /// Where a `longjmp` may continue.
    pub landings: Rc<Landings>,
    /// The path has made a `longjmp`, thrown an exception, or has signals that may be delivered. Such paths are not sliced.
    pub jumped: bool,
    /// What the path concretises is first compared with what its model has: it follows a seed, or began as a flip of a path that did (seed.rs).
    pub guided: bool,
    /// Goals whose blocks the path is in (goals.rs).
    pub awaited: Vec<Awaited>,
    /// The goal that it has reached.
    pub reached: Option<u32>,
    /// The last snapshot of this path, while its flips share snapshots ([`Core::shares_snapshots`]).
    pub(crate) last_snapshot: Option<Rc<State>>,
}

impl State {
    /// A copy that goes its own way. The original gives up its exclusive pages.
    pub fn fork(&mut self) -> State {
        let memory = self.memory.fork();
        self.with_memory(memory)
    }

    /// As [`State::fork`], of a state that is not running.
    pub fn fork_idle(&self) -> State {
        self.with_memory(self.memory.fork_idle())
    }

    fn with_memory(&self, memory: Memory) -> State {
        State {
            frames: self.frames.clone(),
            memory,
            path: self.path.clone(),
            model: self.model.clone(),
            prefix: self.prefix.clone(),
            script: self.script.clone(),
            taken: self.taken,
            before: self.before.clone(),
            dirty: self.dirty,
            inputs: self.inputs.clone(),
            data: self.data.clone(),
            announced: self.announced,
            returned: self.returned,
            binding: self.binding,
            called_unknown: self.called_unknown.clone(),
            sp: self.sp,
            stack_top: self.stack_top,
            threads: self.threads.clone(),
            processes: self.processes.clone(),
            variables: self.variables.clone(),
            instructions: self.instructions,
            loops: self.loops.clone(),
            covers_new: self.covers_new,
            node: self.node,
            subtree: self.subtree,
            approximated: self.approximated.clone(),
            unwritten_input: self.unwritten_input,
            overread: self.overread,
            survived: self.survived.clone(),
            landings: self.landings.clone(),
            jumped: self.jumped,
            guided: self.guided,
            awaited: self.awaited.clone(),
            reached: self.reached,
            last_snapshot: None,
        }
    }

    /// From now on the path may differ from native runs.
    pub fn approximates(&mut self, what: impl Into<Rc<str>>) {
        /// Bytes.
        const FEW: usize = 400;
        let what = what.into();
        match &self.approximated {
            None => self.approximated = Some(what),
            Some(before) if before.contains(&*what) || before.len() > FEW => {}
            Some(before) => self.approximated = Some(format!("{before}; {what}").into()),
        }
    }

    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a running state has a frame")
    }

    #[inline]
    pub fn frame_mut(&mut self) -> &mut Frame {
        Rc::make_mut(self.frames.last_mut().expect("a running state has a frame"))
    }

    /// The positions of the calls in progress, innermost first.
    pub fn call_stack(&self) -> Vec<CodePos> {
        positions(&self.frames).collect()
    }

    /// The frames of all threads of the running process, and of landings.
    pub(crate) fn all_frames(&self) -> Vec<Rc<Frame>> {
        self.own_frames().cloned().collect()
    }

    fn own_frames(&self) -> impl Iterator<Item = &Rc<Frame>> {
        let landings = self.landings.all.iter().map(|landing| &landing.frame);
        self.frames.iter().chain(landings).chain(self.parked_frames())
    }

    /// The environment's data, as the type it has.
    pub fn env<T: 'static>(&self) -> &T {
        self.data.typed(Slot::Environment)
    }

    pub fn env_mut<T: 'static>(&mut self) -> &mut T {
        self.data.typed_mut(Slot::Environment)
    }

    pub fn monitor_mut<T: 'static>(&mut self) -> &mut T {
        self.data.typed_mut(Slot::Monitor)
    }

    /// The data of lazily made inputs, as the type it has.
    pub fn lazy<T: 'static>(&self) -> &T {
        self.data.typed(Slot::Inputs)
    }

    pub fn lazy_mut<T: 'static>(&mut self) -> &mut T {
        self.data.typed_mut(Slot::Inputs)
    }

    /// Calls `f` with every expression the state holds, but for those in parts already met.
    pub fn for_each_expr(&self, visited: &mut Visited, f: &mut dyn FnMut(ExprId)) {
        for frame in
            self.own_frames().chain(self.processes.iter().flat_map(|processes| processes.frames())).filter(|frame| visited.is_new(*frame))
        {
            frame.exprs().for_each(&mut *f);
        }
        self.processes.iter().for_each(|processes| processes.for_each_expr(visited, f));
        self.memory.space.for_each_new_page(visited, &mut |page| page.cells().iter().for_each(|cell| f(cell.expr)));
        self.path.for_each_expr(&mut visited.paths, f);
        debug_assert!(self.before.is_none(), "states are visited between operations");
        self.returned.and_then(|returned| returned.expr()).into_iter().chain(self.binding).chain(self.parked_exprs()).for_each(&mut *f);
        self.data.for_each_expr(visited, f);
    }

    /// Renumbers every expression. `rebuilt` keeps what states share shared.
    pub fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        // Its flips renumber it.
        self.last_snapshot = None;
        remap_frames(&mut self.frames, &mut self.landings, map, rebuilt);
        self.threads.iter_mut().for_each(|threads| Rc::make_mut(threads).remap(map, rebuilt));
        self.processes.iter_mut().for_each(|processes| Rc::make_mut(processes).remap(map, rebuilt));
        self.memory.space.replace_symbolic_pages(&mut rebuilt.space, &mut |page| {
            page.cells_mut().iter_mut().for_each(|cell| cell.expr = renumbered(map, cell.expr));
        });
        self.path.remap(map, &mut rebuilt.paths);
        self.returned.iter_mut().for_each(|returned| returned.remap(map));
        self.binding = self.binding.map(|address| renumbered(map, address));
        self.data.remap(map, &mut rebuilt.data);
    }

    /// A structural hash: equal for equal states, whatever pool or order of exploration made them (docs/design/002).
    pub fn structural_hash(&self, pool: &Pool) -> u64 {
        let exprs = |e| pool.structural_hash(e);
        let mut h = FxHasher::default();
        for landing in &self.landings.all {
            std::hash::Hash::hash(&landing.key(), &mut h);
        }
        self.threads.iter().for_each(|threads| threads.hash_into(&mut h));
        hash_frames(self.own_frames(), pool, &mut h);
        h.write_usize(self.survived.len());
        hash_memory(&self.memory, pool, &mut h);
        self.processes.iter().for_each(|processes| processes.hash_into(pool, &mut h));
        for e in self.path.constraints() {
            h.write_u64(exprs(e));
        }
        for d in self.prefix.to_vec() {
            std::hash::Hash::hash(&d, &mut h);
        }
        h.write_u64(self.sp);
        std::hash::Hash::hash(&*self.variables, &mut h);
        self.binding.into_iter().for_each(|address| h.write_u64(exprs(address)));
        h.write_u8(u8::from(self.announced) | u8::from(self.returned.is_some()) << 1);
        self.data.hash_into(&mut h, &mut |e| exprs(e));
        h.finish()
    }
}

fn hash_frames<'a>(frames: impl Iterator<Item = &'a Rc<Frame>>, pool: &Pool, h: &mut dyn Hasher) {
    for f in frames {
        h.write_u32(f.func());
        h.write_u32(f.op());
        h.write_u64(f.base);
        let (slots, tags) = f.slots();
        for (slot, tag) in slots.iter().zip(tags) {
            h.write_u64(if *tag == 0 { *slot } else { pool.structural_hash(ExprId::from_raw(*slot as u32)) });
        }
    }
}

fn hash_memory(memory: &Memory, pool: &Pool, mut h: &mut dyn Hasher) {
    for (number, page) in memory.space.pages() {
        h.write_u64(number);
        page.hash_into(&mut h);
        for cell in page.cells() {
            let untouched = page.whole_cell(cell.offset.into(), cell.len.into()) == Some(cell.expr);
            if untouched {
                h.write_u16(cell.offset);
                h.write_u64(pool.structural_hash(cell.expr));
            }
        }
    }
}

/// The positions of these calls in progress, innermost first.
pub(crate) fn positions(frames: &[Rc<Frame>]) -> impl Iterator<Item = CodePos> + '_ {
    let frames = frames.iter().rev().enumerate();
    frames.map(|(i, f)| CodePos { func: f.func(), op: if i == 0 { f.op() } else { f.op().saturating_sub(1) } })
}

fn remap_frames(frames: &mut [Rc<Frame>], landings: &mut Rc<Landings>, map: &Remap, rebuilt: &mut Rebuilt) {
    let landings = if landings.all.is_empty() { &mut [][..] } else { &mut Rc::make_mut(landings).all[..] };
    for frame in frames.iter_mut().chain(landings.iter_mut().map(|landing| &mut landing.frame)) {
        rebuilt.frames.change(frame, |frame| frame.exprs().next().is_some(), |frame| frame.renumber(|e| renumbered(map, e)));
    }
}

fn renumbered(map: &Remap, e: ExprId) -> ExprId {
    map.get(e).expect("every expression of a state was a root of the compaction")
}
