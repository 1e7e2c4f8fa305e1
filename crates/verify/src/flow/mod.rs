//! Static analysis of the whole program, as path slicing needs it (paper 1, sections 5 and 7.3; Jhala and Majumdar, "Path slicing", PLDI
//! 2005).
//!
//! [`cfg`] computes post-dominators, [`summary`] holds the effects of functions whose instructions are not analysed, `local`, `waves` and
//! `points_to` compute points-to sets, and `effects` combines them. A path may leave an alternative without reaching the alternative's end.
//! Of such a path two things count: its events, and its writes before a call of `exit`, whose code may read them. Its other writes are
//! never read. Effects of single alternatives are computed on first use and cached.

mod arithmetic;
pub mod bits;
mod broken;
pub mod cfg;
mod context;
mod copies;
mod effects;
mod events;
pub mod fitting;
mod graph;
mod known;
mod liveness;
mod local;
mod objects;
mod places;
mod points_to;
mod solution;
mod sparse;
pub mod summary;
mod unwritten;
mod values;
mod waves;
mod wrappers;
mod writer;
mod writes;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_ir::link::{GlobalId, Target};

pub use bits::BitSet;
pub use broken::Broken;
pub use cfg::Cfg;
pub use context::ContextId;
use effects::Facts;
pub use events::Events;
pub use graph::components;
use liveness::Liveness;
pub use solution::Solution;
pub use summary::{CellKind, Gives, Holder, Place, PointerFlow, SYSTEM_CALL, Summaries, Summary};
pub use waves::TooLarge;
pub use writer::is_standard_output;
pub use writes::{CellWrites, Changes, Effects, Extent, Grows, Writes};

/// A variable, a stack slot of a function, what one call allocates: an object as the static facts know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectId(pub u32);

/// A function, its context, a block that branches, and the edge taken.
type Side = (u32, ContextId, u32, u32);

/// The static facts of a program.
pub struct Flow {
    image: Rc<Image>,
    facts: Facts,
    sides: RefCell<FxHashMap<Side, Rc<Effects>>>,
    differing: RefCell<FxHashMap<(u32, ContextId, u32), Rc<BitSet>>>,
    rests: RefCell<FxHashMap<(CodePos, ContextId), Rc<Effects>>>,
    operations: RefCell<FxHashMap<(CodePos, ContextId), Rc<Effects>>>,
    live: RefCell<FxHashMap<u32, Liveness>>,
    /// Where the variables begin that are the program's, not a library's.
    variables: OnceCell<FxHashSet<u64>>,
}

impl Flow {
    /// `entry`: the function that begins, where it is not `main`.
    /// `kept`: what [`Flow::solved`] gave for the same program, summaries and entry; if it does not fit, it is solved again.
    /// The error: it takes too long to say what pointers may point to.
    pub fn new(
        image: Rc<Image>,
        events: Box<dyn Events>,
        summaries: Summaries,
        entry: Option<&str>,
        kept: Option<Solution>,
    ) -> Result<Flow, TooLarge> {
        let facts = Facts::new(image.clone(), events, summaries, entry, kept)?;
        Ok(Flow {
            image,
            facts,
            sides: RefCell::default(),
            differing: RefCell::default(),
            rests: RefCell::default(),
            operations: RefCell::default(),
            live: RefCell::default(),
            variables: OnceCell::new(),
        })
    }

    /// What pointers may point to, if that had to be solved: most of the cost of a start, which another one may be spared.
    pub fn solved(&self) -> Option<&Solution> {
        self.facts.points_to.solved()
    }

    /// The block that operation `op` lies in.
    pub fn block_of(&self, func: u32, op: u32) -> u32 {
        self.facts.cfg(func).block_of(op)
    }

    /// The first block where all ways out of the branch that ends `block` meet again; `None`: only at the function's return, or never.
    pub fn join(&self, func: u32, context: ContextId, block: u32) -> Option<u32> {
        self.facts.cfg_in(func, context).join(block)
    }

    /// The edges that a block ends with, each once.
    pub fn edges(&self, func: u32, context: ContextId, block: u32) -> Vec<u32> {
        self.facts.cfg_in(func, context).blocks[block as usize].edges.iter().map(|(edge, _)| *edge).collect()
    }

    /// What may happen when the branch that ends `block` takes `edge` (as the function numbers it), from the edge's copies on until the
    /// join, copies of edges into the join with it, or until the function returns if there is none.
    pub fn side(&self, func: u32, context: ContextId, block: u32, edge: u32) -> Rc<Effects> {
        if let Some(known) = self.sides.borrow().get(&(func, context, block, edge)) {
            return known.clone();
        }
        let (module, function) = self.image.function(func);
        let target = module.edges.range(function.edges)[edge as usize].block;
        let mut all = Effects::default();
        self.add_copies(func, edge, &mut all);
        self.add_ways(func, context, [target], self.join(func, context, block), &mut all);
        let all = Rc::new(all);
        self.sides.borrow_mut().insert((func, context, block, edge), all.clone());
        all
    }

    /// The slots whose values at the join of the branch that ends `block` depend on the way there: those that operations write on some way,
    /// and those that not all ways copy the same value to. All of them if there is no join.
    pub fn differing(&self, func: u32, context: ContextId, block: u32) -> Rc<BitSet> {
        if let Some(known) = self.differing.borrow().get(&(func, context, block)) {
            return known.clone();
        }
        let (module, function) = self.image.function(func);
        let cfg = self.facts.cfg_in(func, context);
        let differing = match (self.facts.points_to.local(func), cfg.join(block)) {
            (Some(local), Some(join)) if !local.jumps => copies::differing(module, function, &cfg, block, join),
            _ => (0..function.slots).collect(),
        };
        let differing = Rc::new(differing);
        self.differing.borrow_mut().insert((func, context, block), differing.clone());
        differing
    }

    /// The slots of a call in progress that it may read from `op` on before it writes them.
    pub fn live_before(&self, func: u32, op: u32) -> BitSet {
        let (module, function) = self.image.function(func);
        let cfg = self.facts.cfg(func);
        if self.facts.points_to.local(func).is_none_or(|local| local.jumps) {
            return (0..function.slots).collect();
        }
        let mut all = self.live.borrow_mut();
        let liveness = all.entry(func).or_insert_with(|| Liveness::new(module, function, cfg));
        liveness.before(module, function, cfg, op)
    }

    /// The effects in `func` after the call at `op` until `func` returns.
    pub fn rest(&self, func: u32, context: ContextId, op: u32) -> Rc<Effects> {
        let at = (CodePos { func, op }, context);
        if let Some(known) = self.rests.borrow().get(&at) {
            return known.clone();
        }
        let mut all = self.facts.behind(func, context, op);
        let cfg = self.facts.cfg_in(func, context);
        let edges = &cfg.blocks[cfg.block_of(op) as usize].edges;
        edges.iter().for_each(|(edge, _)| self.add_copies(func, *edge, &mut all));
        self.add_ways(func, context, edges.iter().map(|(_, to)| *to), None, &mut all);
        let all = Rc::new(all);
        self.rests.borrow_mut().insert(at, all.clone());
        all
    }

    /// Whether `func` may return after the call at `op`.
    pub fn returns(&self, func: u32, context: ContextId, op: u32) -> bool {
        let cfg = self.facts.cfg_in(func, context);
        cfg.returning(cfg.block_of(op))
    }

    fn add_copies(&self, func: u32, edge: u32, all: &mut Effects) {
        let (module, function) = self.image.function(func);
        let copies = module.edges.range(function.edges)[edge as usize].copies;
        for copy in module.copies.range(copies) {
            all.slots.insert(copy.dst);
        }
    }

    /// What may happen on the ways from blocks until `stop`.
    fn add_ways(&self, func: u32, context: ContextId, starts: impl IntoIterator<Item = u32>, stop: Option<u32>, all: &mut Effects) {
        let cfg = self.facts.cfg_in(func, context);
        let blocks = cfg.reachable(starts, stop);
        let arrives = cfg.arriving(&blocks, stop);
        let mut written = all.changes.clone();
        for block in blocks {
            let effects = self.facts.block(func, context, block);
            written.add(&effects.changes);
            if arrives[block as usize] {
                all.add(&effects);
                cfg.blocks[block as usize].edges.iter().for_each(|(edge, _)| self.add_copies(func, *edge, all));
            } else {
                all.add_end(&effects);
            }
        }
        all.close(&written);
    }

    /// Whether an event may happen inside of a function that has a summary.
    pub fn event_inside(&self, func: u32) -> bool {
        self.facts.library_event(Callee::Body(func))
    }

    /// What the operation at `op` may do, whatever its operands are: a store through a pointer any of the objects the pointer may lead to, a
    /// call by pointer any of the functions. No slots.
    pub fn operation(&self, func: u32, context: ContextId, op: u32) -> Rc<Effects> {
        let at = (CodePos { func, op }, context);
        if let Some(known) = self.operations.borrow().get(&at) {
            return known.clone();
        }
        let effects = Rc::new(self.facts.operation(func, context, op));
        self.operations.borrow_mut().insert(at, effects.clone());
        effects
    }

    /// The context of the call of `callee` at `op` of `func`, which runs in its own.
    pub fn context(&self, func: u32, own: ContextId, op: u32, callee: u32) -> ContextId {
        match self.facts.points_to.local(func) {
            Some(local) => self.facts.context(func, own, local.values.list(op), callee),
            None => 0,
        }
    }

    /// First operation of a block.
    pub fn first_op(&self, func: u32, block: u32) -> u32 {
        self.facts.cfg(func).blocks[block as usize].ops.start
    }

    /// The summary of a function without a body, or replaced by a model; of a system call by its number, if that is known.
    pub fn summary_of(&self, name: &str, number: Option<u64>) -> Option<&Summary> {
        self.facts.summaries.of_call(name, number)
    }

    /// What a call of the function may do; no slots.
    pub fn function(&self, func: u32) -> Rc<Effects> {
        self.facts.function(func)
    }

    /// The summary that stands for a call; `number` is the first argument if it is known, which tells system calls apart. Functions of
    /// the program itself have none, whatever their names.
    pub fn summary(&self, callee: Callee, number: Option<u64>) -> Option<&Summary> {
        self.facts.summary(callee, number)
    }

    /// What the call by pointer at a place may call.
    pub fn targets(&self, at: CodePos) -> &[Callee] {
        self.facts.points_to.targets(at)
    }

    /// The variable at an address, and where it begins.
    pub fn global_object(&self, address: u64) -> Option<(ObjectId, u64)> {
        self.facts.points_to.objects.global(address)
    }

    /// Whether the variable that begins at an address is the program's, not a library's.
    pub fn is_variable_of_the_program(&self, base: u64) -> bool {
        let program = &self.image.program;
        let own = || {
            let own = (0..).zip(program.globals()).filter(|(_, g)| g.live && !program.units[g.place.unit as usize].library);
            own.map(|(g, _)| self.image.target_address(Target::Data(GlobalId(g), 0))).collect()
        };
        self.variables.get_or_init(own).contains(&base)
    }

    /// The instance, in a frame of `func`, of its stack variable `alloca`.
    pub fn alloca_object(&self, func: u32, alloca: u32) -> ObjectId {
        self.facts.points_to.objects.alloca(func, alloca)
    }

    /// What frames of `func` allocate as they go, and their copies of structures passed by value.
    pub fn dynamic_object(&self, func: u32) -> ObjectId {
        self.facts.points_to.objects.dynamic(func)
    }

    /// What the call at the first location allocates; the locations after it are its callers, innermost first. May be cut off where callers are no
    /// longer distinguished.
    pub fn heap_object(&self, stack: &[CodePos]) -> ObjectId {
        self.facts.points_to.objects.heap_object(stack).unwrap_or(self.outside_object())
    }

    /// What the program maps.
    pub fn mapped_object(&self) -> ObjectId {
        objects::MAPPED
    }

    /// What the program is given: arguments, variables of the environment.
    pub fn outside_object(&self) -> ObjectId {
        objects::OUTSIDE
    }

    /// Whether the address is that of a standard stream that is written to.
    pub fn is_standard_output(&self, address: u64) -> bool {
        self.facts.standard.iter().skip(1).any(|(_, at)| *at == address)
    }

    /// The addresses of standard output and standard error, the streams.
    pub fn standard_outputs(&self) -> impl Iterator<Item = (u64, ObjectId)> + '_ {
        self.facts.standard.iter().skip(1).map(|(object, address)| (*address, *object))
    }

    /// Whether two streams may have one descriptor.
    pub fn streams_share(&self) -> bool {
        self.facts.shares
    }

    /// What the call at `op` of `func` is assumed to give.
    pub fn given(&self, func: u32, op: u32) -> Option<Gives> {
        self.facts.given(func, op)
    }

    /// Whether a result was assumed of standard input, which holds if its descriptor was not moved.
    pub fn assumes_input(&self) -> bool {
        self.facts.assumed_input.get()
    }

    /// Whether the function is C's `exit`, where all ways meet that end the program in good order.
    pub fn is_exit(&self, func: u32) -> bool {
        self.facts.exit == Some(func)
    }

    /// Whether an event may happen once `exit` is called.
    pub fn event_at_exit(&self) -> bool {
        self.facts.exit.is_some_and(|exit| self.function(exit).event)
    }

    /// Where C's `errno` lies.
    pub fn errno(&self) -> Option<(ObjectId, u64)> {
        self.facts.errno()
    }

    pub fn summaries(&self) -> &Summaries {
        &self.facts.summaries
    }

    /// How large the points-to problem was, in words.
    pub fn statistics(&self) -> String {
        self.facts.points_to.statistics()
    }

    /// An object in words.
    pub fn object_name(&self, object: ObjectId) -> String {
        self.facts.points_to.objects.name(object)
    }
}
