//! Adoption: an explorer continues where another one of the same program stopped (docs/design/014).
//!
//! [`Explorer::left`] lists the pending work. [`Explorer::adopt`] replaces the path from the root by that work. A job stays plain data
//! until it is selected. Then its prefix is run again from the root, and each decision is asserted under the job's input. The solver is
//! asked only about decisions that the input does not satisfy. With the stored input that is only the flip. So a wrong prefix or input
//! cannot lead to an infeasible path.
//!
//! Under pruning the decisions before the flip have deferred alternatives, too. They are made again with the prefix if they were deferred
//! when the other explorer stopped. Deferred flips that lie on no pending path are not made again: only a path through their decision could
//! make them relevant.

use std::collections::{BTreeMap, VecDeque};

use super::{Control, Explorer, batch, judges};
use crate::explore::frontier::{Adopted, Item};
use crate::explore::replay::run_script;
use crate::ground::job::{Deferral, Deferred, Job, encode_model};
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::{Decision, PrefixId, encode};
use crate::ground::tree::Tree;
use crate::state::NO_SUBTREE;
use crate::state::State;
use crate::step::core::{Core, Flip, LedgerKind};
use crate::step::cx::adoption::{Adoption, Refusal};
use crate::step::plugin::Stop;

/// What an explorer keeps of what was left, and of what it leaves.
#[derive(Default)]
pub(super) struct Adopting {
    deferred: Deferred,
    /// Paths that ended and are to be shown again.
    ended: VecDeque<Adopted>,
    /// Paths and flips at which the end of the run came.
    cut: BTreeMap<PrefixId, Job>,
}

/// What an explorer takes over from another one.
#[derive(Default)]
pub struct Rest {
    /// Paths that had ended, and whose ends [`Control::ended`] gets again, in this order and before all others.
    pub ended: Vec<Job>,
    /// What was [left](Explorer::left).
    pub jobs: Vec<Job>,
    /// What was [deferred](Explorer::deferred).
    pub deferred: Deferred,
}

/// Something that is left to explore.
pub struct Left<'a> {
    /// Names its decisions.
    pub id: PrefixId,
    explorer: &'a Explorer,
    what: What<'a>,
}

enum What<'a> {
    Flip(&'a Flip),
    Path(&'a State),
    Job(&'a Job),
}

impl Left<'_> {
    /// As plain data.
    pub fn job(&self) -> Job {
        let (prefix, input) = self.encoded();
        Job::decode(&prefix, &input).expect("it was just encoded")
    }

    /// The bytes of its prefix and of its input in files ([`Job::decode`]).
    pub fn encoded(&self) -> (Vec<u8>, Vec<u8>) {
        let core = &self.explorer.core;
        let (prefix, model, after) = match self.what {
            What::Job(job) => return (encode(&job.prefix), job.encode_input()),
            What::Flip(flip) => (flip.prefix.to_vec(), &flip.model, flip.before()),
            What::Path(state) => (decisions(state), &state.model, state.prefix.id()),
        };
        (encode(&prefix), encode_model(model, &core.pool, core.targets.get(&after).copied().unwrap_or(0)))
    }
}

/// The decisions of a path, and those it still has to follow.
fn decisions(state: &State) -> Vec<Decision> {
    state.prefix.to_vec().into_iter().chain(state.script.iter().copied()).collect()
}

impl Explorer {
    /// All that is left to explore. Nothing is, once all that is relevant is done and an audit runs.
    pub fn left(&self) -> impl Iterator<Item = Left<'_>> {
        let all = !self.core.auditing;
        let items = self.frontier.items().map(|item| match item {
            Item::Flip(flip) => (flip.prefix.id(), What::Flip(flip)),
            Item::Held(held) => (held.flip.prefix.id(), What::Flip(&held.flip)),
            Item::Paused(state) => (PrefixId::of(&decisions(state)), What::Path(state)),
            Item::Job(adopted) => (adopted.id, What::Job(&adopted.job)),
        });
        let held = self.subsumption.held().map(|held| (held.flip.prefix.id(), What::Flip(&held.flip)));
        let cut = self.adopting.cut.iter().map(|(id, job)| (*id, What::Job(job)));
        let ended = self.adopting.ended.iter().map(|adopted| (adopted.id, What::Job(&adopted.job)));
        items.chain(held).chain(cut).chain(ended).filter(move |_| all).map(|(id, what)| Left { id, explorer: self, what })
    }

    /// What is deferred. What jobs have on their way that nobody has taken up is among it.
    pub fn deferred(&self) -> impl Iterator<Item = Deferral> {
        self.relevance.names().chain(self.adopting.deferred.all())
    }

    /// Explores this in place of the path from the root. After [`Explorer::start`], before the exploration.
    pub fn adopt(&mut self, rest: Rest) {
        self.frontier.clear();
        self.adopting.deferred = rest.deferred;
        let shown = rest.ended.len();
        let nodes = self.core.tree.spread(Tree::ROOT, shown + rest.jobs.len());
        let pos = self.replayer.root().call_stack().first().copied().unwrap_or_default();
        let adopted = |(job, node): (Job, u32)| Adopted { id: PrefixId::of(&job.prefix), job, node, pos };
        let mut all = rest.ended.into_iter().chain(rest.jobs).zip(nodes).map(adopted);
        self.adopting.ended = all.by_ref().take(shown).collect();
        all.for_each(|adopted| self.frontier.add(&mut self.core, Item::Job(Box::new(adopted))));
    }

    /// Gives away this many flips at most, for others to explore: those after the fewest decisions, because much is below them. Not under pruning, which
    /// has to know what becomes of them.
    pub fn hand_out(&mut self, most: usize) -> Vec<Job> {
        let Explorer { core, frontier, .. } = self;
        let mut jobs = Vec::new();
        for item in frontier.take_shallowest(most) {
            let (job, node) = match item {
                Item::Flip(flip) => {
                    let tried = core.targets.get(&flip.before()).copied().unwrap_or(0);
                    (Job::of(flip.prefix.to_vec(), &flip.model, &core.pool, tried), flip.node)
                }
                Item::Job(adopted) => (adopted.job, adopted.node),
                Item::Paused(_) | Item::Held(_) => continue,
            };
            core.tree.finish(node);
            jobs.push(job);
        }
        jobs
    }

    /// Runs the paths again that had ended, unless the run is to end.
    pub(super) fn show_again(&mut self, control: &mut dyn Control) {
        // Nothing on their way is left for later.
        let deferred = std::mem::take(&mut self.adopting.deferred);
        while control.stop(&self.core, self.frontier.len()).is_none()
            && let Some(adopted) = self.adopting.ended.pop_front()
        {
            if let Some(mut state) = self.take_up(adopted, control) {
                state.memory.space.wake();
                let mut stopped = None;
                while stopped.is_none() {
                    stopped = batch::run(&mut self.core, &mut self.adopting, self.frontier.len(), &mut state, control);
                }
                state.memory.space.sleep();
                self.after_run(state, stopped);
            }
            self.tell(control);
        }
        self.adopting.deferred = deferred;
    }

    /// Turns a job into a path, if there is one. Asks the solver.
    pub(super) fn take_up(&mut self, adopted: Adopted, control: &mut dyn Control) -> Option<Box<State>> {
        let Adopted { job, id, node, .. } = adopted;
        let mut state = Box::new(self.replayer.root().fork_idle());
        state.script = job.prefix.iter().copied().collect();
        state.model = job.model(&mut self.core.pool);
        state.node = node;
        if let (Some(Decision::Above(_)), [before @ .., _]) = (job.prefix.last(), &job.prefix[..]) {
            self.core.targets.insert(PrefixId::of(before), job.tried);
        }
        let (deferred, stop) = (std::mem::take(&mut self.adopting.deferred), control.solver_stop());
        self.core.adoption = Some(Box::new(Adoption { stop, deferred, refuted: Vec::new(), refusal: None }));
        let ended = run_script(&mut self.core, &mut state);
        let Adoption { mut deferred, refuted, refusal, .. } = *self.core.adoption.take().expect("it was just there");
        deferred.note_refuted(refuted);
        self.adopting.deferred = deferred;
        state.covers_new = false;
        let (relevance, _, mut below) = judges(self);
        relevance.take_in(&mut below);
        let is_whole = state.script.is_empty();
        match (refusal, ended) {
            (_, Some(Stop::End(PathEnd::Limit(_)))) if !is_whole && self.core.end_signal.asked() => {
                self.adopting.cut.insert(id, job);
            }
            (Some(Refusal { why: Err(_), .. }), _) if self.core.end_signal.asked() => {
                self.adopting.cut.insert(id, job);
            }
            (Some(Refusal { before, why: Ok(core) }), _) if is_whole => {
                self.core.stats.flips_infeasible += 1;
                let (relevance, subsumption, mut below) = judges(self);
                relevance.want_core(subsumption, &mut below, &before, NO_SUBTREE, &core.0);
            }
            (Some(Refusal { before, why: Err(why) }), _) => {
                let (relevance, subsumption, mut below) = judges(self);
                relevance.want_all(subsumption, &mut below, &before, NO_SUBTREE);
                self.core.stats.flips_unknown += 1;
                self.core.ledger.note(LedgerKind::SolverTimeout, why.to_string());
            }
            (Some(_), _) | (None, Some(_)) if !is_whole => {
                self.core.stats.flips_lost += 1;
                self.core.ledger.note(LedgerKind::DroppedFlip, "a stored path that does not fit the program");
            }
            (Some(_), _) => {}
            (None, None) => return Some(state),
            (None, ended) => {
                self.after_run(state, ended);
                return None;
            }
        }
        self.core.tree.finish(node);
        None
    }
}

impl Adopting {
    /// The end of the run came while a flip was looked at: it is left. Returns whether that is so.
    pub(super) fn cut(&mut self, core: &Core, flip: &Flip) -> bool {
        let ends = core.end_signal.asked();
        if ends && !core.auditing {
            let tried = core.targets.get(&flip.before()).copied().unwrap_or(0);
            self.cut.insert(flip.prefix.id(), Job::of(flip.prefix.to_vec(), &flip.model, &core.pool, tried));
        }
        ends
    }

    /// How many flips and paths the end of the run came at.
    pub(super) fn cut_count(&self) -> usize {
        self.cut.len()
    }

    /// The end of the run comes on a path: it is left, too.
    pub(super) fn cut_path(&mut self, core: &Core, state: &State) {
        if !core.auditing {
            let prefix = decisions(state);
            let tried = core.targets.get(&state.prefix.id()).copied().unwrap_or(0);
            self.cut.insert(PrefixId::of(&prefix), Job::of(prefix, &state.model, &core.pool, tried));
        }
    }
}
