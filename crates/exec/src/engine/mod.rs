//! The exploration loop: select a pending item, check a flip's feasibility, run the path for one batch, and report the new flips to the
//! searcher.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use wryneck_expr::{Model, Pool};
use wryneck_solver::{Answer, Budget, PVec, Solver, Why};

use crate::explore::Exploration;
use crate::explore::frontier::{Frontier, Held, Item, SeedEnd};
use crate::explore::fuzz::Fuzzer;
use crate::explore::replay::{Replayer, See};
use crate::explore::search::Searcher;
use crate::ground::config::Config;
use crate::ground::image::Image;
use crate::ground::memory::STACK_TOP;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::{Decision, PrefixId};
use crate::ground::sharing::Visited;
use crate::ground::tree::Tree;
use crate::relevance::Relevance;
use crate::relevance::pruner::Pruner;
use crate::relevance::pruning::Pruning;
use crate::relevance::subsume::Subsumption;
use crate::state::rebuilt::Rebuilt;
use crate::state::{LEFT_OUT, NO_SUBTREE, Script, Slot, Slots, State};
use crate::step::core::{Checked, Core, Ended, Flip, LedgerKind};
use crate::step::cx::Cx;
use crate::step::goals::Goals;
use crate::step::optimistic;
use crate::step::plugin::{Environment, LazyInputs, Monitor, Stop, Value};
use crate::step::seed::Inputs;
use crate::step::{arith, frame, leaks};

mod adopt;
mod batch;

pub use adopt::{Left, Rest};

/// What the caller of an exploration decides while it runs. Only it knows the time.
pub trait Control {
    /// Asked between batches and now and then inside them: shall the exploration end, and why?
    fn stop(&mut self, core: &Core, pending: usize) -> Option<Limit>;
    /// A path has ended.
    fn ended(&mut self, core: &mut Core, ended: Ended);
    /// A signal that the exploration is to end, asked inside the queries of running paths too.
    fn end_signal(&mut self) -> wryneck_solver::Stop {
        wryneck_solver::Stop::never()
    }
    /// Bytes of memory in use; 0 if unknown. Asked now and then.
    fn memory_used(&mut self) -> u64 {
        0
    }
    /// The same once the allocator has returned freed memory to the system. Slow: asked before a path ends for what it holds.
    fn memory_trimmed(&mut self) -> u64 {
        self.memory_used()
    }
    /// A signal for the solver to give up one query that the caller thinks takes too long.
    fn solver_stop(&mut self) -> wryneck_solver::Stop {
        wryneck_solver::Stop::never()
    }
    /// Called between paths, where what is [left](Explorer::left) can be read, and [handed out](Explorer::hand_out).
    fn between(&mut self, _: &mut Explorer) {}
}

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every feasible path was run to its end.
    Complete,
    /// It was stopped with work left.
    Stopped(Limit),
}

/// An exploration of one program from one entry.
pub struct Explorer {
    pub core: Core,
    frontier: Frontier,
    replayer: Replayer,
    /// Runs mutants of seeds between paths; to be set before [`Explorer::start`].
    pub fuzzer: Fuzzer,
    relevance: Relevance,
    subsumption: Subsumption,
    adopting: adopt::Adopting,
    compact_at: usize,
}

impl Explorer {
    /// Prepares an exploration that begins with a call of `entry`, a function with a body.
    pub fn new(
        image: Image,
        pool: Pool,
        solver: Solver,
        environment: Rc<dyn Environment>,
        monitor: Option<Rc<dyn Monitor>>,
        config: Config,
        search: Box<dyn Searcher>,
    ) -> Explorer {
        let mut image = image;
        if let Some(monitor) = &monitor {
            image.watch(&|name| monitor.watches(name));
        }
        let mut core = Core::new(image, pool, solver, environment.clone(), config);
        let mut data = Slots::default();
        data.set(Slot::Environment, environment.initial());
        if let Some(monitor) = &monitor {
            data.set(Slot::Monitor, monitor.initial());
        }
        core.monitor = monitor;
        let root = State {
            frames: Vec::new(),
            memory: core.image.memory.fork_idle(),
            path: Default::default(),
            model: Model::default(),
            prefix: Default::default(),
            script: Script::new(),
            taken: 0,
            dirty: false,
            before: None,
            inputs: PVec::default(),
            data,
            announced: false,
            returned: None,
            binding: None,
            called_unknown: None,
            sp: STACK_TOP,
            stack_top: STACK_TOP,
            threads: None,
            processes: None,
            instructions: 0,
            loops: Rc::default(),
            covers_new: false,
            node: Tree::ROOT,
            subtree: NO_SUBTREE,
            approximated: None,
            unwritten_input: false,
            overread: false,
            survived: Rc::default(),
            landings: Rc::default(),
            jumped: false,
            guided: false,
            awaited: Vec::new(),
            reached: None,
            last_snapshot: None,
            variables: Rc::default(),
        };
        let compact_at = core.config.compact_above;
        Explorer {
            core,
            frontier: Frontier::new(search),
            replayer: Replayer::new(root),
            fuzzer: Fuzzer::default(),
            relevance: Relevance::default(),
            subsumption: Subsumption::default(),
            adopting: adopt::Adopting::default(),
            compact_at,
        }
    }

    /// Has only those flips explored that `pruner` wants. To be called before [`Explorer::start`].
    pub fn prune(&mut self, pruning: Pruning, pruner: Rc<dyn Pruner>) {
        self.relevance.prune(&mut self.core, pruning, pruner);
    }

    /// Has inputs made as paths use them. Calls of the functions `skipped` are not followed. To be called before [`Explorer::start`].
    pub fn make_inputs(&mut self, lazy: Rc<dyn LazyInputs>, skipped: FxHashSet<u32>) {
        self.replayer.root_mut().data.set(Slot::Inputs, lazy.initial());
        self.core.skipped = skipped;
        self.core.lazy = Some(lazy);
    }

    /// The number of flips that no path wanted so far; `None` if all are explored.
    pub fn unwanted(&self) -> Option<usize> {
        self.relevance.pruned()
    }

    /// The number of relevant paths; `None` if it is not known.
    pub fn relevant(&self) -> Option<u64> {
        self.relevance.relevant(&self.core)
    }

    /// Whether this decision after this prefix is relevant, or was not a flip.
    pub fn wants(&self, before: PrefixId, made: Decision) -> bool {
        self.relevance.wants(&self.subsumption, before, made)
    }

    /// Whether state subsumption is on.
    pub fn subsumes(&self) -> bool {
        self.relevance.mode().subsumes(&self.core)
    }

    /// Runs a whole path again by its decisions, which `model` satisfies, and shows each decision, until `stop` says that it takes too long. The solver
    /// is not asked; counters and ledger stay as they are. Gives the state at its end and how it ended.
    pub fn retrace(&mut self, decisions: &[Decision], model: Model, stop: &wryneck_solver::Stop, see: See<'_>) -> (Box<State>, PathEnd) {
        self.replayer.retrace(&mut self.core, decisions, model, stop, see)
    }

    /// Runs the program from its beginning on the input of a model, as numbers: nothing is symbolic. Asks no solver. Gives the state at the path's end
    /// and how it ended, until `stop` says that it takes too long.
    pub fn concretely(&mut self, model: Model, stop: &wryneck_solver::Stop) -> (Box<State>, PathEnd) {
        self.replayer.concretely(&mut self.core, model, stop)
    }

    /// Has the first path follow an input: values of bytes by the names of the inputs that they are in. Before it starts.
    pub fn follow(&mut self, inputs: &[(String, Vec<u8>)]) {
        self.core.seed.get_or_insert_default();
        inputs.iter().for_each(|(name, bytes)| self.core.add_seed(name, bytes));
        let root = self.replayer.root_mut();
        root.model = self.core.seed.clone().unwrap_or_default();
        root.guided = true;
    }

    /// Seeds: values of bytes by the names of the inputs that they are in; other bytes are 0. Before it starts, after its fuzzer is known. Seeds are numbered from
    /// 0 in this order. A large corpus is the fuzzer's to choose from ([`Fuzzer::chooses`]).
    pub fn add_seeds(&mut self, seeds: Vec<Inputs>) {
        if seeds.is_empty() {
            return;
        }
        let chooses = self.fuzzer.chooses(seeds.len());
        let first = self.frontier.add_seeds(&mut self.core, &seeds, !chooses);
        if chooses {
            self.fuzzer.look_at((first..).zip(seeds));
        }
        self.replayer.root_mut().guided = true;
    }

    /// What became of the seeds, by number.
    pub fn seed_ends(&self) -> &[SeedEnd] {
        self.frontier.seed_ends()
    }

    /// Searches in another order; before it starts.
    pub fn search_by(&mut self, search: Box<dyn Searcher>) {
        self.frontier.search_by(search);
    }

    /// Sets what is to be reached. Of machine code, what is at these addresses, and all that is known to follow, is lowered now: the search goes by
    /// it. Before it starts.
    pub fn set_goals(&mut self, goals: Goals, lower: &[u64]) {
        self.core.goals = Some(goals);
        let root = self.replayer.root_mut();
        root.memory.space.wake();
        self.core.lower_at(lower, root);
        self.core.lower_beyond(root);
        root.memory.space.sleep();
        self.core.mark_lowered();
    }

    /// Lets `set_up` prepare the state all paths start from (arguments, files), then puts a call of function `entry` on it.
    pub fn start(&mut self, entry: u32, set_up: impl FnOnce(&mut Cx<'_>) -> Result<Vec<Value>, Stop>) -> Result<(), Stop> {
        let root = self.replayer.root_mut();
        root.memory.space.wake();
        let mut cx = Cx { core: &mut self.core, state: root };
        let args = set_up(&mut cx)?;
        let args: Vec<_> = args
            .into_iter()
            .map(|v| match v {
                Value::Bits(bits) => (bits, 0),
                Value::Sym(e) => arith::to_slot(&self.core.pool, e),
            })
            .collect();
        let image = self.core.image.clone();
        frame::enter(&mut self.core, root, image.code(entry), &args, 0, 64)?;
        root.memory.space.sleep();
        let first = root.fork_idle();
        self.frontier.add(&mut self.core, Item::Paused(Box::new(first)));
        Ok(())
    }

    /// Explores until everything is done or `control` stops it.
    pub fn explore(&mut self, control: &mut dyn Control) -> Outcome {
        self.core.end_signal = control.end_signal();
        self.show_again(control);
        let outcome = match self.explore_items(control) {
            // The end was signalled before `control` knew of it, and what was pending was cut one by one.
            Outcome::Complete if self.adopting.cut_count() > 0 => {
                Outcome::Stopped(control.stop(&self.core, self.pending()).unwrap_or(Limit::Interrupted))
            }
            outcome => outcome,
        };
        let (relevance, subsumption, mut below) = judges(self);
        relevance.classify_again(subsumption, &mut below);
        outcome
    }

    fn explore_items(&mut self, control: &mut dyn Control) -> Outcome {
        loop {
            control.between(self);
            // All that is relevant is done by the time an audit begins.
            let auditing = self.core.auditing;
            let stopped = |limit| if auditing { Outcome::Complete } else { Outcome::Stopped(limit) };
            if let Some(limit) = control.stop(&self.core, self.frontier.len()) {
                if limit == Limit::Time {
                    // No other path leaves a test of what they cover.
                    for state in self.frontier.take_new() {
                        self.adopting.cut_path(&self.core, &state);
                        self.after_run(Box::new(state), Some(PathEnd::Limit(limit).into()));
                    }
                    self.tell(control);
                }
                return stopped(limit);
            }
            if self.core.stats.instructions >= self.core.config.max_instructions {
                return stopped(Limit::Instructions);
            }
            let chosen = self.fuzzer.turn(&mut self.core, &self.replayer);
            self.frontier.take_up(&mut self.core, chosen);
            if self.fuzzer.is_looking() {
                continue;
            }
            let state = match self.frontier.next(&mut self.core, self.replayer.root_mut()) {
                Some(id) => match self.frontier.take(id) {
                    Some(Item::Paused(state)) => Some(state),
                    Some(Item::Flip(flip)) => self.activate(flip, control),
                    Some(Item::Held(held)) => self.begin(*held, true),
                    Some(Item::Job(job)) => self.take_up(*job, control),
                    None => continue,
                },
                None => match self.subsumption.wait_no_longer(&mut self.core) {
                    Some(held) => self.begin(held, false),
                    None => {
                        let (relevance, _, mut below) = judges(self);
                        match relevance.audit(&mut below) {
                            true => continue,
                            false => return Outcome::Complete,
                        }
                    }
                },
            };
            if let Some(mut state) = state {
                state.memory.space.wake();
                let pending = self.frontier.len();
                let stopped = batch::run(&mut self.core, &mut self.adopting, pending, &mut state, control);
                state.memory.space.sleep();
                self.frontier.note_run(&state);
                self.after_run(state, stopped);
            }
            self.tell(control);
            if self.core.pool.len() > self.compact_at {
                self.compact();
            }
            let deferred = self.relevance.deferred().flips_mut();
            self.frontier.relieve_memory(&mut self.core, deferred, &mut || control.memory_used());
        }
    }

    /// Pending flips and paused paths, and those at which the end of the run came.
    pub fn pending(&self) -> usize {
        self.frontier.len() + self.subsumption.held().count() + self.adopting.cut_count()
    }

    fn begin(&mut self, held: Held, may_wait: bool) -> Option<Box<State>> {
        let (relevance, subsumption, mut below) = judges(self);
        subsumption.begin(relevance, &mut below, held, may_wait)
    }

    /// Turns a flip into a path, if it is feasible. Asks the solver unless that is known.
    fn activate(&mut self, mut flip: Flip, control: &mut dyn Control) -> Option<Box<State>> {
        let unwanted = self.relevance.deferred().note_begun(&flip);
        let (given_up, work) = (flip.given_up, self.core.work());
        let leads_to_new = given_up > 0 && flip.way.is_some_and(|way| way.new_entry(&self.core).is_some());
        let realised = self.realise(&mut flip, control);
        if given_up > 0 {
            self.frontier.note_hard(given_up, self.core.work().saturating_sub(work), leads_to_new && realised.is_some());
        }
        let Some(mut state) = realised else {
            if flip.given_up > given_up {
                self.frontier.add(&mut self.core, Item::Flip(flip));
                return None;
            }
            self.core.tree.finish(flip.node);
            if !unwanted {
                let (relevance, subsumption, mut below) = judges(self);
                subsumption.leave_subtree(relevance, &mut below, flip.subtree);
            }
            return None;
        };
        if !self.subsumes() || flip.subtree == LEFT_OUT {
            return Some(state);
        }
        if unwanted {
            state.subtree = NO_SUBTREE;
            return Some(state);
        }
        let begun = self.relevance.take_begun();
        let exact = begun.is_some();
        let snapshot = begun.unwrap_or_else(|| Rc::new(state.fork_idle()));
        self.begin(Held { flip, state, snapshot, exact }, true)
    }

    fn realise(&mut self, flip: &mut Flip, control: &mut dyn Control) -> Option<Box<State>> {
        let all = Budget { conflicts: self.core.config.query_conflicts, ..Budget::until(control.solver_stop()) };
        let short = self.core.short(&all, flip.given_up);
        let is_short = short.is_some();
        let budget = Budget { again: flip.given_up > 0, ..short.unwrap_or(all) };
        if flip.checked == Checked::NotYet {
            self.core.stats.solver_checks += 1;
            match self.core.solver.check(&mut self.core.pool, &flip.path, flip.cond, &flip.model, &budget) {
                Answer::Sat(model) => flip.model = model,
                Answer::Unsat(core) => {
                    optimistic::try_flip_alone(&mut self.core, flip);
                    self.core.stats.flips_infeasible += 1;
                    if !self.relevance.deferred().note_infeasible(flip) {
                        let (relevance, subsumption, mut below) = judges(self);
                        relevance.want_core(subsumption, &mut below, &flip.prefix.without_last(1), flip.subtree, &core.0);
                    }
                    return None;
                }
                Answer::Unknown(_) if self.adopting.cut(&self.core, flip) => return None,
                Answer::Unknown(Why::Conflicts | Why::Cone) if is_short => {
                    optimistic::try_flip_alone(&mut self.core, flip);
                    flip.given_up += 1;
                    return None;
                }
                Answer::Unknown(why) => {
                    let (relevance, subsumption, mut below) = judges(self);
                    relevance.want_all(subsumption, &mut below, &flip.prefix.without_last(1), flip.subtree);
                    self.core.stats.flips_unknown += 1;
                    self.core.ledger.note(LedgerKind::SolverTimeout, why.to_string());
                    return None;
                }
            }
        }
        let before = flip.before_operation();
        let mut state = match flip.state.take() {
            Some(snapshot) if snapshot.prefix.len() == before.len() => {
                self.relevance.note_begins(&self.core, &snapshot);
                let state = Rc::try_unwrap(snapshot).unwrap_or_else(|shared| shared.fork_idle());
                Box::new(state)
            }
            earlier => match self.replayer.rerun(&mut self.core, earlier.as_deref(), &before, &flip.model) {
                Some(state) => state,
                None => {
                    self.adopting.cut(&self.core, flip);
                    return None;
                }
            },
        };
        debug_assert!(flip.keeps_the_law(&state), "a flip's state holds constraints of the operation that decided");
        state.model = flip.model.clone();
        state.script = flip.script.clone();
        state.taken = 0;
        state.node = flip.node;
        state.subtree = flip.subtree;
        Some(state)
    }

    fn after_run(&mut self, mut state: Box<State>, stopped: Option<Stop>) {
        match stopped {
            Some(Stop::Bind(_) | Stop::Switch(_)) => unreachable!("the operation has answered it"),
            None if self.relevance.gives_up(&self.core, &state) => self.core.tree.finish(state.node),
            Some(Stop::End(PathEnd::Limit(_))) if self.core.auditing => self.core.tree.finish(state.node),
            None if self.frontier.has_gone_on(&state) => {
                self.core.end(&state, PathEnd::Limit(Limit::Goal), Vec::new());
                self.core.tree.finish(state.node);
            }
            None => self.frontier.add(&mut self.core, Item::Paused(state)),
            Some(Stop::End(end)) => {
                if end == PathEnd::Limit(Limit::Interrupted) {
                    self.adopting.cut_path(&self.core, &state);
                }
                if let Some(monitor) = self.core.monitor.clone() {
                    monitor.on_end(&end, &mut Cx { core: &mut self.core, state: &mut state });
                }
                if let Some(lazy) = self.core.lazy.clone() {
                    lazy.ends(&end, None, &mut Cx { core: &mut self.core, state: &mut state });
                }
                let leaks = match end {
                    PathEnd::Exit(_) if self.core.config.leaks => leaks::at_exit(&mut Cx { core: &mut self.core, state: &mut state }),
                    _ => Vec::new(),
                };
                self.core.end(&state, end, leaks);
                self.core.tree.finish(state.node);
                self.subsumption.note_ended(state.subtree);
            }
        }
    }

    /// Gives the searcher and the caller what a run left behind.
    fn tell(&mut self, control: &mut dyn Control) {
        self.core.ended.iter().for_each(|ended| self.fuzzer.note_ended(ended));
        self.fuzzer.note_covered(&self.core.newly_covered);
        let (relevance, subsumption, mut below) = judges(self);
        relevance.take_in(&mut below);
        for mut ended in std::mem::take(&mut below.core.ended) {
            ended.seed = below.frontier.seed_of(below.core, &ended);
            relevance.prune_after(subsumption, &mut below, &ended);
            control.ended(below.core, ended);
        }
        subsumption.leave_ended(relevance, &mut below);
        relevance.take_begun();
        for block in std::mem::take(&mut below.core.newly_covered) {
            below.frontier.covered(block);
        }
    }

    /// Drops every expression that no path needs, and renumbers the rest (docs/design/006). A safe point: nothing runs.
    pub fn compact(&mut self) {
        let Explorer { core, frontier, replayer, relevance, subsumption, .. } = self;
        core.stats.compactions += 1;
        let tree = &core.tree;
        let remap = core.pool.compact(&mut |keep| {
            let mut visited = Visited::default();
            replayer.root().for_each_expr(&mut visited, keep);
            frontier.for_each_expr(&mut visited, keep);
            subsumption.for_each_expr(&mut visited, keep);
            relevance.for_each_expr(&mut visited, keep);
            tree.for_each_expr(keep);
        });
        let mut rebuilt = Rebuilt::default();
        replayer.root_mut().remap(&remap, &mut rebuilt);
        frontier.remap(&remap, &mut rebuilt);
        subsumption.remap(&remap, &mut rebuilt);
        relevance.remap(&remap, &mut rebuilt);
        core.tree.remap(&remap);
        core.solver.remap(&remap);
        core.eval.clear();
        core.memo.clear();
        self.compact_at = core.config.compact_above.max(2 * core.pool.len());
    }
}

/// The judges of flips, and what they need of the floors below.
fn judges(explorer: &mut Explorer) -> (&mut Relevance, &mut Subsumption, Exploration<'_>) {
    let Explorer { core, frontier, replayer, relevance, subsumption, .. } = explorer;
    (relevance, subsumption, Exploration { core, frontier, replayer })
}
