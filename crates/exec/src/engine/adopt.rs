//! Adoption: one explorer goes on where another one of the same program stopped (docs/design/014).
//!
//! [`Explorer::left`] names what is pending; [`Explorer::adopt`] takes it in place of the path from the root. A job waits as plain data until it is selected.
//! Then its prefix is re-run from the root. Each decision is asserted under the job's input, and the solver is asked where that does not satisfy it: once, for
//! the flip, if the input is the one that was stored. So no prefix and no input leads to an infeasible path.
//!
//! Under pruning the decisions before the flip have deferred alternatives, too. They are made again as the prefix is re-run, if they were deferred when the
//! other explorer stopped. Those on no pending path stay away: nothing can make them relevant any more, because only a path through a decision can.

use std::collections::{BTreeMap, VecDeque};

use super::{Control, Explorer, Item, POLL};
use crate::explore::search::{Candidate, ItemId};
use crate::ground::image::CodePos;
use crate::ground::job::{Deferral, Deferred, Job, encode_model};
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::{Decision, PrefixId, encode};
use crate::ground::tree::Tree;
use crate::state::NO_SUBTREE;
use crate::state::State;
use crate::step::core::{Flip, LedgerKind};
use crate::step::cx::adoption::{Adoption, Refusal};
use crate::step::plugin::Stop;

/// Steps between two looks at whether to stop.
const LOOK: u32 = 64;

/// A job that waits, at its leaf in the tree of paths.
pub(crate) struct Adopted {
    job: Job,
    id: PrefixId,
    pub(super) node: u32,
}

impl Adopted {
    pub(super) fn depth(&self) -> u32 {
        self.job.prefix.len() as u32
    }
}

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
        let items = self.items.values().map(|item| match item {
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
        let waiting = self.waiting.iter().flat_map(|(place, waiting)| {
            let flips = waiting.flips.iter().map(|flip| Deferral::Flip(flip.prefix.id()));
            flips.chain([Deferral::Place(*place)])
        });
        waiting.chain(self.adopting.deferred.all())
    }

    /// Explores this in place of the path from the root. After [`Explorer::start`], before the exploration.
    pub fn adopt(&mut self, rest: Rest) {
        let begun: Vec<ItemId> = self.items.keys().copied().collect();
        for id in begun {
            self.search.remove(id);
            self.items.remove(&id);
        }
        self.adopting.deferred = rest.deferred;
        let shown = rest.ended.len();
        let nodes = self.core.tree.spread(Tree::ROOT, shown + rest.jobs.len());
        let adopted = |(job, node): (Job, u32)| Adopted { id: PrefixId::of(&job.prefix), job, node };
        let mut all = rest.ended.into_iter().chain(rest.jobs).zip(nodes).map(adopted);
        self.adopting.ended = all.by_ref().take(shown).collect();
        all.for_each(|adopted| self.add(Item::Job(Box::new(adopted))));
    }

    /// Gives away this many flips at most, for others to explore: those after the fewest decisions, because much is below them. Not under pruning, which
    /// has to know what becomes of them.
    pub fn hand_out(&mut self, most: usize) -> Vec<Job> {
        let depth = |item: &Item| match item {
            Item::Flip(flip) => Some(flip.prefix.len()),
            Item::Job(adopted) => Some(adopted.depth()),
            Item::Paused(_) | Item::Held(_) => None,
        };
        let mut chosen: Vec<(u32, ItemId)> = self.items.iter().filter_map(|(id, item)| Some((depth(item)?, *id))).collect();
        chosen.sort_unstable();
        chosen.truncate(most);
        let mut jobs = Vec::new();
        for (_, id) in chosen {
            self.search.remove(id);
            let (job, node) = match self.items.remove(&id) {
                Some(Item::Flip(flip)) => {
                    let tried = self.core.targets.get(&flip.before()).copied().unwrap_or(0);
                    (Job::of(flip.prefix.to_vec(), &flip.model, &self.core.pool, tried), flip.node)
                }
                Some(Item::Job(adopted)) => (adopted.job, adopted.node),
                Some(Item::Paused(_) | Item::Held(_)) | None => continue,
            };
            self.core.tree.finish(node);
            jobs.push(job);
        }
        jobs
    }

    /// Runs the paths again that had ended, unless the run is to end.
    pub(super) fn show_again(&mut self, control: &mut dyn Control) {
        // Nothing on their way is left for later.
        let deferred = std::mem::take(&mut self.adopting.deferred);
        while control.stop(&self.core, self.items.len()).is_none()
            && let Some(adopted) = self.adopting.ended.pop_front()
        {
            if let Some(mut state) = self.take_up(adopted, control) {
                state.memory.space.wake();
                let mut stopped = None;
                while stopped.is_none() {
                    stopped = self.run(&mut state, control);
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
        let Adopted { job, id, node } = adopted;
        let mut state = Box::new(self.root.fork_idle());
        state.script = job.prefix.iter().copied().collect();
        state.model = job.model(&mut self.core.pool);
        state.node = node;
        if let (Some(Decision::Above(_)), [before @ .., _]) = (job.prefix.last(), &job.prefix[..]) {
            self.core.targets.insert(PrefixId::of(before), job.tried);
        }
        let (deferred, stop) = (std::mem::take(&mut self.adopting.deferred), control.solver_stop());
        self.core.adoption = Some(Box::new(Adoption { stop, deferred, refuted: Vec::new(), refusal: None }));
        let ended = self.run_script(&mut state);
        let Adoption { mut deferred, refuted, refusal, .. } = *self.core.adoption.take().expect("it was just there");
        deferred.note_refuted(refuted);
        self.adopting.deferred = deferred;
        state.covers_new = false;
        self.take_in();
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
                self.want_core(&before, NO_SUBTREE, &core.0);
            }
            (Some(Refusal { before, why: Err(why) }), _) => {
                self.want_all(&before, NO_SUBTREE);
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

    /// Runs a path until it has followed its script, or its end. What is noted on the way was noted before.
    fn run_script(&mut self, state: &mut State) -> Option<Stop> {
        let (ledger, entered) = (std::mem::take(&mut self.core.ledger), self.core.entered);
        let (mut steps, mut ended) = (0u32, None);
        state.memory.space.wake();
        while !state.script.is_empty() && ended.is_none() {
            self.core.ledger.rows.clear();
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(LOOK) && self.core.end_signal.asked() {
                ended = Some(PathEnd::Limit(crate::Limit::Interrupted).into());
                break;
            }
            let mut budget = POLL;
            ended = self.step(state, &mut budget).err();
            state.instructions += (POLL - budget) as u64;
        }
        state.memory.space.sleep();
        let last = std::mem::replace(&mut self.core.ledger, ledger);
        for (row, count) in last.rows {
            *self.core.ledger.rows.entry(row).or_default() += count;
        }
        self.core.entered = entered;
        ended
    }

    /// The end of the run came while a flip was looked at: it is left. Returns whether that is so.
    pub(super) fn cut(&mut self, flip: &Flip) -> bool {
        let ends = self.core.end_signal.asked();
        if ends && !self.core.auditing {
            let tried = self.core.targets.get(&flip.before()).copied().unwrap_or(0);
            self.adopting.cut.insert(flip.prefix.id(), Job::of(flip.prefix.to_vec(), &flip.model, &self.core.pool, tried));
        }
        ends
    }

    /// The end of the run comes on a path: it is left, too.
    pub(super) fn cut_path(&mut self, state: &State) {
        if !self.core.auditing {
            let prefix = decisions(state);
            let tried = self.core.targets.get(&state.prefix.id()).copied().unwrap_or(0);
            self.adopting.cut.insert(PrefixId::of(&prefix), Job::of(prefix, &state.model, &self.core.pool, tried));
        }
    }
}

impl Candidate {
    /// Of a path that goes on from this state.
    pub(super) fn of(state: &State, depth: u32, node: u32) -> Candidate {
        let pos = state.call_stack().first().copied().unwrap_or(CodePos::default());
        Candidate {
            block: None,
            pos,
            depth,
            node,
            instructions: state.instructions,
            of_seed: false,
            urgent: false,
            calls: Default::default(),
        }
    }
}
