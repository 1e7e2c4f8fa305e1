//! What all paths of an exploration share: pool, solver, program, coverage, counters, ledger, and the flips and path ends of the running
//! path.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_expr::{Evaluator, ExprId, Model, Pool, Remap, SymId};
use wryneck_ir::{ActiveCall, CodeSource};
use wryneck_solver::{Budget, PVec, PathCondition, Solver};

use crate::ground::config::Config;
use crate::ground::image::{CodePos, Image};
use crate::ground::path_end::PathEnd;
use crate::ground::places;
use crate::ground::prefix::{Decision, Prefix, PrefixId};
use crate::ground::sharing::Visited;
use crate::ground::stacks::Stacks;
use crate::ground::tree::Tree;
use crate::state::SubtreeId;
use crate::state::rebuilt::Rebuilt;
use crate::state::rebuilt::remap_shared;
use crate::state::survived::Survived;
use crate::state::threads::Order;
use crate::state::{Frame, Input, Script, Slots, State, positions};
use crate::step::contexts::Contexts;
use crate::step::coverage::{Coverage, Entry, Hits};
use crate::step::cx::adoption::Adoption;
use crate::step::goals::Goals;
use crate::step::leaks::Leak;
use crate::step::loops::Loops;
use crate::step::memo::Memo;
use crate::step::optimistic::Optimistic;
use crate::step::plugin::{Environment, LazyInputs, Monitor};
use crate::step::processes;
use crate::step::recorder::Recorder;
use crate::step::seed;
use crate::step::seed::Inputs;
use crate::step::sides::{Sides, Way};

/// Shared by all paths of one exploration.
pub struct Core {
    pub pool: Pool,
    pub solver: Solver,
    pub eval: Evaluator,
    pub image: Rc<Image>,
    pub config: Config,
    pub environment: Rc<dyn Environment>,
    pub monitor: Option<Rc<dyn Monitor>>,
    pub lazy: Option<Rc<dyn LazyInputs>>,
    /// Branches, by function and operation, of which it is known whether they leave a loop that they are in.
    /// Of functions with symbolic branches.
    pub(crate) loops: FxHashMap<u32, Rc<Loops>>,
    /// Whether places are in the program's own code.
    own: FxHashMap<CodePos, bool>,
    /// Elements of tables and targets of pointers, by expression.
    pub(crate) memo: Memo,
    /// Functions whose calls are skipped.
    pub skipped: FxHashSet<u32>,
    /// What runs now, nobody wanted: it is run to see what pruning loses.
    pub auditing: bool,
    /// Where the flip that is audited branches off.
    pub audited: CodePos,
    /// Records the path that is run again, if it is to be.
    pub recorder: Option<Box<Recorder>>,
    /// The input that the first path follows, if it is to follow one that grows as it is read ([`crate::Explorer::follow`]).
    pub seed: Option<Model>,
    /// Bytes of input that are zero in every real input, though conditions on them are a path's: what they contradict is not explored.
    pub zeros: FxHashSet<SymId>,
    /// Lowers the code computed jumps lead to.
    pub code_source: Option<Rc<RefCell<dyn CodeSource>>>,
    /// A byte per block of the program, 1 once a path entered it.
    pub coverage: Coverage,
    /// Blocks covered since the searcher was last told.
    pub newly_covered: Vec<u32>,
    /// Sides of branches that input decides.
    pub sides: Sides,
    /// Those that paths have entered, if the exploration has seeds.
    pub contexts: Contexts,
    /// Inputs for sides that no path has taken, if a fuzzer tries them.
    pub optimistic: Optimistic,
    /// What is to be reached or avoided, if anything.
    pub goals: Option<Goals>,
    pub tree: Tree,
    pub stats: Stats,
    pub ledger: Ledger,
    /// How many targets computed jumps have had, and objects pointers without a base, by the decisions before them.
    pub(crate) targets: FxHashMap<PrefixId, u32>,
    /// Who allocated heap objects.
    pub stacks: Stacks,
    /// Flips made since the searcher was last told.
    pub new_flips: Vec<Flip>,
    /// Where a path is run on concrete input: the input.
    pub(crate) given: Option<Model>,
    /// Where entries of blocks are counted.
    pub(crate) counting: Option<Hits>,
    /// Infeasible other sides that are kept for their cores.
    pub new_refuted: Vec<Refuted>,
    pub ended: Vec<Ended>,
    pub(crate) end_signal: wryneck_solver::Stop,
    /// The running path is a job that is taken up.
    pub(crate) adoption: Option<Box<Adoption>>,
    pub(crate) pending_end: Option<PathEnd>,
    /// What the outermost function returned: a slot's contents and tag.
    pub(crate) result: Option<(u64, u8)>,
    /// Bytes that block operations and allocations have filled since the clock was looked at.
    pub(crate) block_bytes: u64,
    /// Flips that are near on their path share a snapshot ([`Config::own_snapshots`]).
    pub(crate) shares_snapshots: bool,
    /// Instructions of blocks entered by calls, not yet in `stats`.
    pub(crate) entered: u64,
    /// Of no other owner.
    spare: Vec<Rc<Frame>>,
}

/// A branch's other side, not yet explored: the state before it, and what must hold there (docs/design/001). The solver has not
/// been asked unless `checked`.
pub struct Flip {
    /// The state before the operation that decided, shared by the flips of one operation, or one before that ([`Core::shares_snapshots`]). `None`: run the
    /// prefix again.
    pub state: Option<Rc<State>>,
    /// Decisions up to and including the flipped one.
    pub prefix: Prefix,
    /// Decisions of the operation, up to and including the flipped one.
    pub script: Script,
    /// Satisfies [`Flip::path`].
    pub model: Model,
    /// The path condition up to the flipped decision: that of [`Flip::state`], and what the same operation asserted before.
    pub path: PathCondition,
    /// Holds on this side.
    pub cond: ExprId,
    /// Where this side leads, if the decision was a branch.
    pub way: Option<Way>,
    pub pos: CodePos,
    /// What is known about its feasibility.
    pub checked: Checked,
    pub instructions: u64,
    /// How often its query was given up; it is asked again with a larger budget.
    pub given_up: u8,
    /// Its leaf in the tree of paths.
    pub node: u32,
    /// Of the path that left it behind.
    pub subtree: SubtreeId,
}

/// The other side of a decision that cheap facts show infeasible: what made it so may matter to whoever wants it (docs/design/010).
pub struct Refuted {
    /// Decisions before it.
    pub before: Prefix,
    /// Of the path, when it decided, and what satisfies it.
    pub path: PathCondition,
    pub model: Model,
    /// What cannot hold besides.
    pub cond: ExprId,
}

impl Refuted {
    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        keep(self.cond);
        self.path.for_each_expr(&mut visited.paths, keep);
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.cond = map.get(self.cond).expect("conditions of flips are roots");
        self.path.remap(map, &mut rebuilt.paths);
    }
}

impl Flip {
    /// The name of the decisions before the flipped one.
    pub fn before(&self) -> PrefixId {
        self.prefix.backwards().next().map_or(PrefixId::default(), |made| made.before)
    }

    /// The decision that was taken otherwise, as it is to be taken.
    pub fn last(&self) -> Option<Decision> {
        self.prefix.backwards().next().map(|made| made.decision)
    }

    /// Whether the state's path condition is what [`Flip::path`] begins with, and no decision of the operation is on its prefix (the law in
    /// [`crate::step::cx`]).
    pub(crate) fn keeps_the_law(&self, state: &State) -> bool {
        let same = |index: u32| state.path.constraint(index) == self.path.constraint(index);
        state.prefix.id() == self.before_operation().id() && (0..state.path.len() as u32).all(same)
    }

    /// The decisions before the operation that made the flip.
    pub(crate) fn before_operation(&self) -> Prefix {
        self.prefix.without_last(self.script.len())
    }

    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        keep(self.cond);
        self.path.for_each_expr(&mut visited.paths, keep);
        if let Some(state) = &self.state {
            state.for_each_expr(visited, keep);
        }
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.cond = map.get(self.cond).expect("conditions of flips are roots");
        self.path.remap(map, &mut rebuilt.paths);
        if let Some(state) = &mut self.state {
            remap_shared(state, map, rebuilt);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    NotYet,
    Feasible,
}

/// What a path leaves behind.
pub struct Ended {
    pub end: PathEnd,
    pub prefix: Prefix,
    pub subtree: SubtreeId,
    /// Valid until the next compaction.
    pub path: PathCondition,
    pub model: Model,
    pub inputs: PVec<Input>,
    /// Innermost first.
    pub call_stack: Vec<CodePos>,
    pub instructions: u64,
    pub covers_new: bool,
    /// Why a native run may differ.
    pub approximated: Option<Rc<str>>,
    /// Memory it never wrote was input: a native run has something else there.
    pub unwritten_input: bool,
    /// It made threads or processes: a native run has an order of its own.
    pub threads: bool,
    /// The order in which its threads ran, if it made any.
    pub order: Option<Rc<Order>>,
    /// Accesses out of bounds behind which it went on, in their order.
    pub survived: Rc<Vec<Survived>>,
    /// What it lost, if the configuration asks for it and the path exits.
    pub leaks: Vec<Leak>,
    /// The state's structural hash, if the configuration asks for it.
    pub hash: Option<u64>,
    /// The data of plug-ins.
    pub data: Slots,
    /// The number of the seed whose path it is ([`crate::Explorer::add_seed`]).
    pub seed: Option<u32>,
    /// The number of the goal that it has reached.
    pub reached: Option<u32>,
}

impl Ended {
    /// The inputs that the path made, by their names, as its model has them.
    pub fn given(&self) -> Inputs {
        seed::given(&self.inputs, &self.model)
    }
}

/// Counters of an exploration. Plain numbers; the caller measures time.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub instructions: u64,
    pub paths: u64,
    pub decisions: u64,
    pub flips: u64,
    /// Flips that cheap facts showed infeasible as they were made.
    pub flips_dropped_at_once: u64,
    pub flips_infeasible: u64,
    /// Under pruning: flips that some path wanted, and those that nobody did and were explored all the same.
    pub flips_wanted: u64,
    /// Wanted ones that were left out, since all was explored behind an equal state.
    pub flips_subsumed: u64,
    pub flips_audited: u64,
    pub flips_lost: u64,
    pub flips_unknown: u64,
    pub solver_checks: u64,
    pub compactions: u64,
    pub snapshots_given_up: u64,
    pub blocks_covered: u64,
}

/// Instructions that a decision counts as in a batch: a path that decides in an endless loop gives others their turn.
const DECISION: u64 = 10_000;
/// What it takes, about.
const DECIDED: u64 = 1_000;
/// The same of the SAT solver's work, about by the time it takes: so does a path of hard queries.
const CONFLICT: u64 = 2_000;
const PROPAGATION: u64 = 15;
const GATE: u64 = 10;
const CLAUSES: u64 = 30;
/// The same of a vector of a sweep.
const VECTOR: u64 = 4;
/// Calls among which the program's own code is looked for.
const OWN_CALLS: usize = 24;
/// How much larger each next budget is of a query that may be put off.
pub(crate) const NEXT: u64 = 10;

impl Stats {
    /// Instructions and decisions so far, weighed as in [`Config::batch`]. Unlike there, the solver's work does not count.
    pub(crate) fn work(&self) -> u64 {
        self.instructions + DECISION * self.decisions
    }
}

/// What was skipped, bounded, guessed or given up, with how often: part of every result.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub rows: BTreeMap<(LedgerKind, String), u64>,
}

/// Kinds of entries in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerKind {
    UndefinedFunction,
    UnknownSystemCall,
    /// A call that the model answered with an error because the tool lacks what it asks for: a thread, a socket.
    FailedModel,
    UnsupportedInstruction,
    UnsupportedOperation,
    Concretisation,
    DroppedFlip,
    /// Orders of threads that were left out.
    ThreadOrder,
    SolverTimeout,
    Assumption,
    /// A path did what a static fact that slices rest on rules out: our defect.
    ContradictedFact,
    Limit,
    Warning,
}

impl LedgerKind {
    /// Whether behaviour of the program is left out, or guessed: a run with such an entry did not explore every path.
    pub fn loses(self) -> bool {
        match self {
            LedgerKind::UndefinedFunction
            | LedgerKind::UnknownSystemCall
            | LedgerKind::FailedModel
            | LedgerKind::UnsupportedInstruction
            | LedgerKind::UnsupportedOperation
            | LedgerKind::DroppedFlip
            | LedgerKind::ThreadOrder
            | LedgerKind::SolverTimeout
            | LedgerKind::Assumption
            | LedgerKind::ContradictedFact
            | LedgerKind::Limit => true,
            // The other values of what is concretised are flips.
            LedgerKind::Concretisation | LedgerKind::Warning => false,
        }
    }
}

impl Ledger {
    pub fn note(&mut self, kind: LedgerKind, what: impl Into<String>) {
        *self.rows.entry((kind, what.into())).or_default() += 1;
    }
}

impl Core {
    /// The caller's signal that the exploration is to end.
    pub fn end_signal(&self) -> &wryneck_solver::Stop {
        &self.end_signal
    }

    pub fn new(image: Image, pool: Pool, solver: Solver, environment: Rc<dyn Environment>, config: Config) -> Core {
        Core {
            pool,
            solver,
            eval: Evaluator::default(),
            coverage: Coverage::of(image.blocks),
            image: Rc::new(image),
            config,
            environment,
            monitor: None,
            lazy: None,
            loops: FxHashMap::default(),
            own: FxHashMap::default(),
            memo: Memo::default(),
            skipped: FxHashSet::default(),
            auditing: false,
            audited: CodePos::default(),
            recorder: None,
            seed: None,
            zeros: FxHashSet::default(),
            code_source: None,
            newly_covered: Vec::new(),
            sides: Sides::default(),
            contexts: Contexts::default(),
            optimistic: Optimistic::default(),
            goals: None,
            tree: Tree::default(),
            stats: Stats::default(),
            ledger: Ledger::default(),
            targets: FxHashMap::default(),
            stacks: Stacks::default(),
            new_flips: Vec::new(),
            new_refuted: Vec::new(),
            ended: Vec::new(),
            given: None,
            counting: None,
            end_signal: wryneck_solver::Stop::never(),
            adoption: None,
            pending_end: None,
            result: None,
            block_bytes: 0,
            shares_snapshots: false,
            entered: 0,
            spare: Vec::new(),
        }
    }

    /// The budget within which a query is not put off that was given up so often, if it may be put off. Pruning has to know at once what becomes of a
    /// flip, and slices know smallest values alone.
    pub(crate) fn short(&self, all: &Budget, given_up: u8) -> Option<Budget> {
        let next = |first: u64| if given_up == 0 { first } else { first.max(1).saturating_mul(NEXT.saturating_pow(given_up.into())) };
        let (conflicts, cone) = (next(self.config.query_patience), next(self.config.query_gates));
        (conflicts < all.conflicts && self.monitor.is_none()).then(|| Budget { conflicts, cone, ..all.clone() })
    }

    /// All work so far, in instructions, weighed as in [`Config::batch`].
    pub(crate) fn work(&self) -> u64 {
        let solver = self.solver.stats();
        let of_solver = [(CONFLICT, solver.conflicts), (PROPAGATION, solver.propagations), (GATE, solver.gates), (CLAUSES, solver.clauses)];
        self.stats.work() + of_solver.iter().map(|(weight, count)| weight * count).sum::<u64>()
    }

    /// All work so far, in instructions, by the time that it takes: with the solver's other stages, which batches leave out, since their work
    /// depends on what is cached.
    pub(crate) fn whole_work(&self) -> u64 {
        self.work() - (DECISION - DECIDED) * self.stats.decisions + VECTOR * self.solver.vectors()
    }

    /// Marks a block as entered.
    pub fn cover(&mut self, state: &mut State, block: u32) {
        if let Some(hits) = &mut self.counting {
            return hits.count(Entry::Block(block));
        }
        if self.coverage[block as usize] == 0 && !self.meet(state, block) {
            self.coverage[block as usize] = 1;
            self.newly_covered.push(block);
            self.stats.blocks_covered += 1;
            state.covers_new = true;
        }
    }

    /// A frame that is nobody else's, to be begun.
    pub(crate) fn spare_frame(&mut self) -> Rc<Frame> {
        self.spare.pop().unwrap_or_else(|| Rc::new(Frame::spare()))
    }

    pub(crate) fn recycle(&mut self, frame: Rc<Frame>) {
        if self.spare.len() < 64 && Rc::strong_count(&frame) == 1 {
            self.spare.push(frame);
        }
    }

    /// The positions of the calls in progress, innermost first, those inside machine code among them: of these, at most `most`.
    pub fn call_stack(&self, state: &State, most: usize) -> Vec<CodePos> {
        let stack = state.call_stack();
        let Some(source) = &self.code_source else { return stack };
        let read = |at: u64, out: &mut [u8]| state.memory.space.read(at, out);
        let mut all = Vec::with_capacity(stack.len());
        for (pos, frame) in stack.into_iter().zip(state.frames.iter().rev()) {
            let callers = match self.image.is_machine_code(pos.func) {
                true => {
                    // Constants have the first slots, parameters those behind them.
                    let first = self.image.code(pos.func).consts.len();
                    let limb = |n: usize| frame.concrete(first + n);
                    let active = source.borrow().calls_in_progress(&limb, &read, most).into_iter();
                    active.take_while(|call| !call.is_outer).filter_map(|call| call.block).collect()
                }
                false => Vec::new(),
            };
            if callers.is_empty() || !places::stands_in(&self.image, pos) {
                all.push(pos);
            }
            all.extend(callers.into_iter().map(|block| places::end_of(&self.image, pos.func, block)));
        }
        all
    }

    /// The calls in progress inside machine code, outermost first.
    pub fn active_calls(&self, state: &State) -> Vec<ActiveCall> {
        let (Some(source), Some(machine)) = (&self.code_source, self.image.machine_code()) else { return Vec::new() };
        let Some(frame) = state.frames.iter().find(|frame| frame.func() == machine.func) else { return Vec::new() };
        let limb = |n: usize| frame.concrete(machine.code.consts.len() + n);
        let mut active = source.borrow().calls_in_progress(&limb, &|at, out| state.memory.space.read(at, out), usize::MAX);
        active.reverse();
        active
    }

    /// Lowers what fixed branches of machine code lead to and what its calls come back to, all that can be found so. Needs the image unshared.
    pub(crate) fn lower_beyond(&mut self, state: &State) {
        let Some(source) = self.code_source.clone() else { return };
        let Some(image) = Rc::get_mut(&mut self.image) else { return };
        let mut source = source.borrow_mut();
        loop {
            let beyond = source.take_beyond();
            if beyond.is_empty() {
                break;
            }
            for address in beyond {
                // What cannot be lowered is not known where a static analysis comes to it.
                let _ = image.edge_to(address, &mut *source, &|at, out| state.memory.space.read(at, out));
            }
        }
        self.coverage.grow(image.blocks);
        drop(source);
        self.mark_lowered();
    }

    /// Lowers what lies at these addresses, as far as it is code. Needs the image unshared.
    pub(crate) fn lower_at(&mut self, addresses: &[u64], state: &State) {
        let (Some(source), Some(image)) = (self.code_source.clone(), Rc::get_mut(&mut self.image)) else { return };
        for &address in addresses {
            // What cannot be lowered ends the paths that come to it.
            let _ = image.edge_to(address, &mut *source.borrow_mut(), &|at, out| state.memory.space.read(at, out));
        }
        self.coverage.grow(image.blocks);
    }

    /// Where a path is: of what stands in for a function, where that was called.
    pub fn site(&self, state: &State) -> CodePos {
        self.call_stack(state, 1).first().copied().unwrap_or_default()
    }

    /// Where a path is in the program's own code: the innermost call that is no library's, nor of a header that came with the compiler. Without one, [`Core::site`].
    pub(crate) fn own_site(&mut self, state: &State) -> CodePos {
        // What such a run finds is run again as a path.
        if self.counting.is_some() {
            return CodePos::default();
        }
        let inside = self.code_source.is_some().then(|| self.call_stack(state, OWN_CALLS));
        let (image, own) = (&self.image, &mut self.own);
        let mut is_own = |pos: &CodePos| *own.entry(*pos).or_insert_with(|| places::is_own(image, *pos));
        let (own, first) = match inside {
            Some(stack) => (stack.iter().copied().take(OWN_CALLS).find(&mut is_own), stack.first().copied()),
            None => (positions(&state.frames).take(OWN_CALLS).find(&mut is_own), positions(&state.frames).next()),
        };
        own.or(first).unwrap_or_default()
    }

    /// A byte of input: its symbol, or its value where a path is run on concrete input.
    pub(crate) fn input_byte(&mut self, symbol: SymId) -> ExprId {
        match self.given.as_ref().map(|model| model.get(symbol)) {
            Some(value) => self.pool.bits(8, value),
            None => self.pool.sym(symbol),
        }
    }

    /// Records the end of a path.
    pub(crate) fn end(&mut self, state: &State, end: PathEnd, leaks: Vec<Leak>) {
        self.stats.paths += 1;
        let (reached, end) = self.reached_at_end(state, end);
        self.ended.push(Ended {
            end,
            prefix: state.prefix.clone(),
            subtree: state.subtree,
            path: state.path.clone(),
            model: state.model.clone(),
            inputs: state.inputs.clone(),
            call_stack: self.call_stack(state, usize::MAX),
            instructions: state.instructions,
            covers_new: state.covers_new,
            approximated: state.approximated.clone(),
            unwritten_input: state.unwritten_input,
            threads: state.has_threads() || processes::are_several(state),
            // Of several processes each has an order of its own.
            order: state.threads.as_ref().filter(|_| !processes::are_several(state)).map(|threads| threads.order.clone()),
            survived: state.survived.clone(),
            leaks,
            hash: self.config.hash_states.then(|| state.structural_hash(&self.pool)),
            data: state.data.clone(),
            seed: None,
            reached,
        });
    }
}
