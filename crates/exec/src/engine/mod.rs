//! The exploration loop: select a pending flip, check its feasibility, run it to its end, and report the new flips to the searcher.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use wryneck_expr::{Model, Pool};
use wryneck_solver::{Answer, Budget, Solver};

use crate::explore::search::{Candidate, ItemId, Searcher};
use crate::ground::config::Config;
use crate::ground::image::Image;
use crate::ground::memory::pvec::PVec;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::PrefixId;
use crate::ground::sharing::Visited;
use crate::ground::tree::Tree;
use crate::relevance::audit::Auditor;
use crate::relevance::classify::Classes;
use crate::relevance::pruner::Pruner;
use crate::relevance::pruning::{Benefit, Pruning, Waiting};
use crate::relevance::subsume::{Held, Subsumption};
use crate::state::rebuilt::Rebuilt;
use crate::state::{LEFT_OUT, NO_SUBTREE};
use crate::state::{NoData, PathData, Script, State};
use crate::step::core::{Checked, Core, Ended, Flip, LedgerKind};
use crate::step::cx::Cx;
use crate::step::lazy;
use crate::step::leaks;
use crate::step::plugin::{Environment, LazyInputs, Monitor, Stop, Value};
use crate::step::recorder::Step;
use crate::step::run::{Exit, run};
use crate::step::{arith, call, frame, slow};

mod adopt;
mod pressure;
mod seeds;
mod toward;

pub use adopt::{Left, Rest};
pub use seeds::SeedEnd;

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

/// What a recorded operation is.
#[derive(Clone, Copy)]
enum Shown {
    /// One of the program.
    Operation,
    /// A call's return, shown to the monitor.
    Return,
}

/// Something that can be run next.
pub(crate) enum Item {
    Flip(Flip),
    /// A path that used up its batch.
    Paused(Box<State>),
    /// A feasible flip that has waited.
    Held(Box<Held>),
    /// What another explorer left.
    Job(Box<adopt::Adopted>),
}

/// Instructions between two looks at the clock (the caller's).
pub(crate) const POLL: i64 = 200_000;
/// Queries inside a path between two looks at the clock.
const POLL_QUERIES: u64 = 16;
/// Decisions between two looks at the clock.
const POLL_DECISIONS: u64 = 64;
/// Instructions that a decision counts as in a batch: a path that decides in an endless loop gives others their turn.
const DECISION: u64 = 10_000;
/// New expressions asked for between two looks at the clock.
const POLL_REWRITES: u64 = 200_000;
/// Bytes of memory that block operations may fill between two looks at the clock and at memory.
const POLL_BYTES: u64 = 16 << 20;
/// An exploration of one program from one entry.
pub struct Explorer {
    pub core: Core,
    pub(crate) search: Box<dyn Searcher>,
    pub(crate) items: BTreeMap<ItemId, Item>,
    /// Flips that nobody wants yet, by the decisions before the flipped one.
    pub(crate) waiting: BTreeMap<PrefixId, Waiting>,
    pub(crate) benefit: Benefit,
    /// Under pruning: where the running path began, if it began at a flip and was not interrupted.
    pub(crate) begun: Option<Rc<State>>,
    pub(crate) pruning: Option<(Pruning, Rc<dyn Pruner>)>,
    pub(crate) classes: Classes,
    pub(crate) subsumption: Subsumption,
    pub(crate) auditor: Auditor,
    adopting: adopt::Adopting,
    next_id: ItemId,
    /// What every path starts as; prefixes are run from here.
    pub(crate) root: State,
    compact_at: usize,
    /// Memory in use when snapshots were last given up: only growth beyond it is pressure again, since freed memory is
    /// used again but not always handed back to the system.
    relieved_at: u64,
    /// Set while the exploration goes depth-first under memory pressure: the number of pending items at which it stops doing so.
    deep_until: Option<usize>,
    /// Above this number of pending items the exploration goes depth-first.
    most_pending: usize,
    selections: u64,
    seeds: seeds::Seeds,
    /// Turns that paths had behind a goal.
    turns_behind: u32,
    /// Blocks of the program when code was last lowered ahead.
    blocks_known: u32,
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
        let monitor_data: Rc<dyn PathData> = monitor.as_ref().map_or_else(|| Rc::new(NoData) as Rc<dyn PathData>, |m| m.initial());
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
            env: environment.initial(),
            monitor: monitor_data,
            lazy: Rc::new(NoData),
            announced: false,
            returned: None,
            binding: None,
            called_unknown: None,
            sp: crate::ground::memory::STACK_TOP,
            instructions: 0,
            loops: Rc::default(),
            covers_new: false,
            node: Tree::ROOT,
            subtree: NO_SUBTREE,
            approximated: false,
            unwritten_input: false,
            overread: false,
            survived: Rc::default(),
            landings: Rc::default(),
            jumped: false,
            guided: false,
            awaited: Vec::new(),
            reached: None,
            variables: Rc::default(),
        };
        let compact_at = core.config.compact_above;
        Explorer {
            core,
            search,
            items: BTreeMap::new(),
            waiting: BTreeMap::new(),
            benefit: Benefit::default(),
            begun: None,
            pruning: None,
            classes: Classes::default(),
            subsumption: Subsumption::default(),
            auditor: Auditor::default(),
            adopting: adopt::Adopting::default(),
            next_id: 0,
            root,
            compact_at,
            relieved_at: 0,
            deep_until: None,
            most_pending: usize::MAX,
            selections: 0,
            seeds: seeds::Seeds::default(),
            turns_behind: 0,
            blocks_known: 0,
        }
    }

    /// Has only those flips explored that `pruner` wants. To be called before [`Explorer::start`].
    pub fn prune(&mut self, pruning: Pruning, pruner: Rc<dyn Pruner>) {
        self.core.config.keep_infeasible_flips = pruning != Pruning::AsPrinted;
        self.core.config.allocation_stacks = true;
        self.pruning = Some((pruning, pruner));
    }

    /// Has inputs made as paths use them. Calls of the functions `skipped` are not followed. To be called before [`Explorer::start`].
    pub fn make_inputs(&mut self, lazy: Rc<dyn LazyInputs>, skipped: FxHashSet<u32>) {
        self.root.lazy = lazy.initial();
        self.core.skipped = skipped;
        self.core.lazy = Some(lazy);
    }

    pub fn is_pruned(&self) -> bool {
        self.pruning.is_some() && !self.explores_all()
    }

    /// Flips that nobody wanted so far.
    pub fn unwanted(&self) -> usize {
        self.waiting.values().map(Waiting::count).sum()
    }

    /// Lets `set_up` prepare the state all paths start from (arguments, files), then puts a call of function `entry` on it.
    pub fn start(&mut self, entry: u32, set_up: impl FnOnce(&mut Cx<'_>) -> Result<Vec<Value>, Stop>) -> Result<(), Stop> {
        self.root.memory.space.wake();
        let mut cx = Cx { core: &mut self.core, state: &mut self.root };
        let args = set_up(&mut cx)?;
        let args: Vec<_> = args
            .into_iter()
            .map(|v| match v {
                Value::Bits(bits) => (bits, 0),
                Value::Sym(e) => arith::to_slot(&self.core.pool, e),
            })
            .collect();
        let image = self.core.image.clone();
        frame::enter(&mut self.core, &mut self.root, image.code(entry), &args, 0, 64)?;
        self.root.memory.space.sleep();
        let first = self.root.fork_idle();
        self.add(Item::Paused(Box::new(first)));
        Ok(())
    }

    /// Explores until everything is done or `control` stops it.
    pub fn explore(&mut self, control: &mut dyn Control) -> Outcome {
        self.core.end_signal = control.end_signal();
        self.show_again(control);
        let outcome = self.explore_items(control);
        self.classify_again();
        outcome
    }

    fn explore_items(&mut self, control: &mut dyn Control) -> Outcome {
        loop {
            control.between(self);
            // All that is relevant is done by the time an audit begins.
            let stopped = |limit| if self.core.auditing { Outcome::Complete } else { Outcome::Stopped(limit) };
            if let Some(limit) = control.stop(&self.core, self.items.len()) {
                return stopped(limit);
            }
            if self.core.stats.instructions >= self.core.config.max_instructions {
                return stopped(Limit::Instructions);
            }
            let state = match self.next_reached().or_else(|| self.next_of_seed()).or_else(|| self.select()) {
                Some(id) => {
                    self.search.remove(id);
                    let Some(item) = self.items.remove(&id) else { continue };
                    match item {
                        Item::Paused(state) => Some(state),
                        Item::Flip(flip) => self.activate(flip, control),
                        Item::Held(held) => self.begin(*held, true),
                        Item::Job(job) => self.take_up(*job, control),
                    }
                }
                None => match self.wait_no_longer() {
                    Some(held) => self.begin(held, false),
                    None if self.audit() => continue,
                    None => return Outcome::Complete,
                },
            };
            if let Some(mut state) = state {
                state.memory.space.wake();
                let stopped = self.run(&mut state, control);
                state.memory.space.sleep();
                self.after_run(state, stopped);
            }
            self.tell(control);
            if self.core.pool.len() > self.compact_at {
                self.compact();
            }
            self.relieve_memory(control);
        }
    }

    /// Pending flips and paused paths.
    pub fn pending(&self) -> usize {
        self.items.len() + self.subsumption.held().count()
    }

    fn is_urgent(&self, flip: &Flip) -> bool {
        let (core, names) = (&self.core, self.core.config.urgent);
        !names.is_empty() && core.pool.support(flip.cond).iter().any(|symbol| core.pool.sym_info(*symbol).name.starts_with(names))
    }

    pub(crate) fn add(&mut self, item: Item) {
        let of = |f: &Flip| Candidate {
            block: f.block,
            pos: f.pos,
            depth: f.prefix.len(),
            node: f.node,
            instructions: f.instructions,
            of_seed: self.seeds.is_running(),
            urgent: self.is_urgent(f),
            calls: Rc::default(),
        };
        let mut candidate = match &item {
            Item::Flip(flip) => of(flip),
            Item::Held(held) => of(&held.flip),
            Item::Paused(s) => Candidate::of(s, s.prefix.len(), s.node),
            Item::Job(job) => Candidate::of(&self.root, job.depth(), job.node),
        };
        candidate.calls = self.calls_around(&item);
        let id = self.next_id;
        self.next_id += 1;
        self.search.add(id, &candidate);
        self.items.insert(id, item);
    }

    /// Turns a flip into a path, if it is feasible. Asks the solver unless that is known.
    fn activate(&mut self, mut flip: Flip, control: &mut dyn Control) -> Option<Box<State>> {
        let unwanted = self.note_begun(&flip);
        let Some(mut state) = self.realise(&mut flip, control) else {
            self.core.tree.finish(flip.node);
            if !unwanted {
                self.leave_subtree(flip.subtree);
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
        let exact = self.begun.is_some();
        let snapshot = self.begun.take().unwrap_or_else(|| Rc::new(state.fork_idle()));
        self.begin(Held { flip, state, snapshot, exact }, true)
    }

    fn realise(&mut self, flip: &mut Flip, control: &mut dyn Control) -> Option<Box<State>> {
        let budget = Budget { stop: control.solver_stop(), ..Budget::default() };
        if flip.checked == Checked::NotYet {
            self.core.stats.solver_checks += 1;
            match self.core.solver.check(&mut self.core.pool, &flip.path, flip.cond, &flip.model, &budget) {
                Answer::Sat(model) => flip.model = model,
                Answer::Unsat(core) => {
                    self.core.stats.flips_infeasible += 1;
                    if !self.note_infeasible(flip) {
                        self.want_core(&flip.prefix.without_last(1), flip.subtree, &core.0);
                    }
                    return None;
                }
                Answer::Unknown(_) if self.cut(flip) => return None,
                Answer::Unknown(why) => {
                    self.want_all(&flip.prefix.without_last(1), flip.subtree);
                    self.core.stats.flips_unknown += 1;
                    self.core.ledger.note(LedgerKind::SolverTimeout, why.to_string());
                    return None;
                }
            }
        }
        let mut state = match flip.state.take() {
            Some(snapshot) => {
                self.begun = (self.waits() && (!self.classifies() || self.subsumes())).then(|| snapshot.clone());
                let state = Rc::try_unwrap(snapshot).unwrap_or_else(|shared| shared.fork_idle());
                Box::new(state)
            }
            None => match self.rerun(&flip.before_operation(), &flip.model) {
                Some(state) => state,
                None => {
                    self.cut(flip);
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

    /// Runs a path until it ends (`Some`) or its batch is used up.
    fn run(&mut self, state: &mut State, control: &mut dyn Control) -> Option<Stop> {
        let batch = self.core.config.batch;
        let mut used = 0;
        while used < batch {
            let mut budget = POLL;
            let (queries, decisions) = (self.core.stats.solver_checks, self.core.stats.decisions);
            let rewrites = self.core.pool.rewrites();
            self.core.block_bytes = 0;
            let ended = loop {
                let mut stepped = self.step(state, &mut budget);
                if !state.awaited.is_empty() && stepped.is_ok() {
                    stepped = self.core.note_reached(state).map_err(Stop::from);
                }
                let asked = self.core.stats.solver_checks - queries >= POLL_QUERIES;
                let decided = self.core.stats.decisions - decisions >= POLL_DECISIONS;
                let rewritten = self.core.pool.rewrites().wrapping_sub(rewrites) >= POLL_REWRITES;
                match stepped {
                    Ok(()) if budget < 0 || asked || decided || rewritten || self.core.block_bytes >= POLL_BYTES => break None,
                    Ok(()) => {}
                    Err(stop) => break Some(stop),
                }
            };
            let ran = (POLL - budget) as u64 + std::mem::take(&mut self.core.entered);
            state.instructions += (POLL - budget) as u64;
            self.core.stats.instructions += ran;
            used += ran.max(1) + DECISION * (self.core.stats.decisions - decisions);
            if ended.is_some() {
                return ended;
            }
            if let Some(limit) = control.stop(&self.core, self.items.len()) {
                self.cut_path(state);
                return Some(PathEnd::Limit(limit).into());
            }
        }
        None
    }

    /// The inner loop until its next exit, and the slow operation there.
    pub(crate) fn step(&mut self, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
        if state.returned.is_some() {
            *budget -= 1;
            return self.recorded(state, Shown::Return, call::show_return);
        }
        if state.binding.is_some() {
            *budget -= 1;
            return self.recorded(state, Shown::Return, lazy::bind);
        }
        let exit = self.advance(state, budget);
        self.handle(exit, state, budget)
    }

    pub(crate) fn advance(&mut self, state: &mut State, budget: &mut i64) -> Exit {
        match (state.frame().symbolic, self.core.recorder.is_some()) {
            (true, false) => run::<true, false>(&mut self.core, state, budget),
            (false, false) => run::<false, false>(&mut self.core, state, budget),
            (true, true) => run::<true, true>(&mut self.core, state, budget),
            (false, true) => run::<false, true>(&mut self.core, state, budget),
        }
    }

    pub(crate) fn handle(&mut self, exit: Exit, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
        match exit {
            Exit::Budget | Exit::Again => Ok(()),
            Exit::Slow => {
                *budget -= 1;
                self.recorded(state, Shown::Operation, slow)
            }
            Exit::Returned => {
                Cx { core: &mut self.core, state }.begin_operation();
                let environment = self.core.environment.clone();
                let whole = |(value, tag)| if tag == 0 { Value::Bits(value) } else { Value::Sym(crate::step::run::expr_of(value)) };
                let value = self.core.result.map(whole);
                Err(environment.returned(value, &mut Cx { core: &mut self.core, state }).into())
            }
        }
    }

    /// Does a slow operation; if there is a recorder, it is told what the operation did.
    fn recorded(&mut self, state: &mut State, what: Shown, operation: fn(&mut Cx<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let Some(recorder) = &mut self.core.recorder else {
            let done = operation(&mut Cx { core: &mut self.core, state });
            let done = lazy::binds_first(state, done);
            state.before = state.before.take().filter(|_| done.is_err());
            return done;
        };
        let (op, first) = (state.frame().op, recorder.trace.steps.len());
        state.memory.space.drain_log().for_each(drop);
        let done = operation(&mut Cx { core: &mut self.core, state });
        let done = lazy::binds_first(state, done);
        state.before = state.before.take().filter(|_| done.is_err());
        if let Some(recorder) = &mut self.core.recorder {
            let steps = &mut recorder.trace.steps;
            steps.extend(state.memory.space.drain_log().map(Step::from));
            let count = (steps.len() - first) as u32;
            steps.push(match what {
                Shown::Operation => Step::Slow { op, count },
                Shown::Return => Step::Shown { op: op.saturating_sub(1), count },
            });
        }
        done
    }

    fn after_run(&mut self, mut state: Box<State>, stopped: Option<Stop>) {
        match stopped {
            Some(Stop::Bind(_)) => unreachable!("`binds_first` has answered it"),
            None if self.gives_up_audited(&state) => self.core.tree.finish(state.node),
            Some(Stop::End(PathEnd::Limit(_))) if self.core.auditing => self.core.tree.finish(state.node),
            None if self.has_gone_on(&state) => {
                self.core.end(&state, PathEnd::Limit(Limit::Goal), Vec::new());
                self.core.tree.finish(state.node);
            }
            None => self.add(Item::Paused(state)),
            Some(Stop::End(end)) => {
                if end == PathEnd::Limit(Limit::Interrupted) {
                    self.cut_path(&state);
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
                self.subsumption.ended = Some(state.subtree);
            }
        }
    }

    /// Gives the searcher and the caller what a run left behind.
    fn tell(&mut self, control: &mut dyn Control) {
        self.take_in();
        for mut ended in std::mem::take(&mut self.core.ended) {
            ended.seed = self.seed_of(&ended);
            self.prune_after(&ended);
            control.ended(&mut self.core, ended);
        }
        if let Some(subtree) = self.subsumption.ended.take() {
            self.leave_subtree(subtree);
        }
        self.begun = None;
        for block in std::mem::take(&mut self.core.newly_covered) {
            self.search.covered(block);
        }
    }

    /// Drops every expression that no path needs, and renumbers the rest (docs/design/006). A safe point: nothing runs.
    pub fn compact(&mut self) {
        self.core.stats.compactions += 1;
        let (items, waiting, root, subsumption, auditor) = (&self.items, &self.waiting, &self.root, &self.subsumption, &self.auditor);
        let tree = &self.core.tree;
        let remap = self.core.pool.compact(&mut |keep| {
            let mut visited = Visited::default();
            root.for_each_expr(&mut visited, keep);
            for item in items.values() {
                match item {
                    Item::Flip(flip) => flip.for_each_expr(&mut visited, keep),
                    Item::Paused(s) => s.for_each_expr(&mut visited, keep),
                    Item::Held(held) => held.for_each_expr(&mut visited, keep),
                    Item::Job(_) => {}
                }
            }
            subsumption.for_each_expr(&mut visited, keep);
            waiting.values().for_each(|waiting| waiting.for_each_expr(&mut visited, keep));
            auditor.left_out().for_each(|flip| flip.for_each_expr(&mut visited, keep));
            tree.for_each_expr(keep);
        });
        let mut rebuilt = Rebuilt::default();
        self.root.remap(&remap, &mut rebuilt);
        for item in self.items.values_mut() {
            match item {
                Item::Flip(flip) => flip.remap(&remap, &mut rebuilt),
                Item::Paused(s) => s.remap(&remap, &mut rebuilt),
                Item::Held(held) => held.remap(&remap, &mut rebuilt),
                Item::Job(_) => {}
            }
        }
        self.subsumption.remap(&remap, &mut rebuilt);
        self.waiting.values_mut().for_each(|waiting| waiting.remap(&remap, &mut rebuilt));
        self.auditor.left_out_mut().for_each(|flip| flip.remap(&remap, &mut rebuilt));
        self.core.tree.remap(&remap);
        self.core.solver.remap(&remap);
        self.core.eval.clear();
        self.compact_at = self.core.config.compact_above.max(2 * self.core.pool.len());
    }
}
