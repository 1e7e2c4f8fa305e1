//! Pruning: which flips are explored (paper 1, section 5; docs/design/010). *Wanted* in this file means relevant, *waiting* means deferred,
//! *portion* means segment.
//!
//! A flip starts deferred. It becomes relevant in three ways. A path that completes makes the flips of the decisions in its slice relevant.
//! A relevant flip that proves infeasible makes the flips of every decision in its unsat core relevant. The reason is that another choice
//! at one of these decisions may make it feasible. A path that does not complete makes all its flips relevant. Flips that are deferred when
//! no relevant flip is left are pruned. These rules do not depend on the order of exploration, so every searcher works. Algorithm 1 of the
//! paper, which loses behaviour, is kept for comparison ([`Pruning::AsPrinted`]).
//!
//! A completed path is replayed without the solver and sliced. First its last segment is sliced, from the flip where the path began. The
//! slice extends back to the oldest decision with deferred flips only if its live-in set exceeds those of earlier paths with the same
//! prefix. An alternative that a quick check refutes is recorded without a state. Where nearly every flip becomes relevant, few paths are
//! sliced. The others make all their flips relevant, which is always sound, but which paths these are depends on the order.

use std::any::Any;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use wryneck_expr::Model;
use wryneck_solver::{Answer, Budget};

use crate::explore::Exploration;
use crate::explore::frontier::Item;
use crate::explore::replay::Past;
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::{Made, Prefix, PrefixId};
use crate::relevance::Relevance;
use crate::relevance::deferred::{Explored, Waiting};
use crate::relevance::pruner::{Begun, Subsumer, Traced, Wanted};
use crate::relevance::subsume::Subsumption;
use crate::state::State;
use crate::state::SubtreeId;
use crate::step::core::{Core, Ended, Flip, LedgerKind, Refuted};

/// How flips are pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pruning {
    /// Only relevant flips are explored.
    Wanted,
    /// All flips are explored, and paths are classified as relevant or redundant.
    Classified,
    /// All flips are explored, and every path is recorded and given to the pruner, to measure the cost. The result is ignored.
    Measured,
    /// Paper 1's Algorithm 1 as printed: a path that ends drops the flips that are not in its slice. Loses behaviour.
    AsPrinted,
}

/// The segment of a path that is recorded and sliced.
struct Portion {
    /// The first decision of the segment.
    oldest: u32,
    /// Where recording starts, if given.
    snapshot: Option<Rc<State>>,
    /// If given, the segment ends before the last deciding operation, with this live-in set. Otherwise it ends where the path does.
    behind: Option<Rc<dyn Any>>,
    /// If given, the segment starts at the root of this subtree, whose live-in set is recorded.
    begun: Option<Begun>,
}

impl Portion {
    /// The segment from this decision to the end of the path.
    fn from(oldest: u32) -> Portion {
        Portion { oldest, snapshot: None, behind: None, begun: None }
    }
}

/// The benefit of slicing: of the recent decisions that slices were asked about, how many stayed deferred.
#[derive(Default)]
pub struct Benefit {
    asked: u64,
    unwanted: u64,
    /// Paths that are not sliced for each path that is.
    rest: u32,
    since: u32,
}

impl Benefit {
    /// Decisions between two evaluations.
    const WINDOW: u64 = 256;
    /// Slicing every path pays if at least one decision in this many stays deferred.
    const WORTH: u64 = 64;
    const MOST_REST: u32 = 15;

    /// Whether the next path is sliced.
    fn slices(&mut self) -> bool {
        let turn = self.since >= self.rest;
        self.since = if turn { 0 } else { self.since + 1 };
        turn
    }

    fn note(&mut self, asked: u64, unwanted: u64) {
        self.asked += asked;
        self.unwanted += unwanted;
        if self.asked >= Benefit::WINDOW {
            let poor = self.unwanted * Benefit::WORTH < self.asked;
            self.rest = if poor { (2 * self.rest + 1).min(Benefit::MOST_REST) } else { 0 };
            (self.asked, self.unwanted) = (0, 0);
        }
    }
}

impl Relevance {
    /// Defers the new flips, or hands them to the searcher.
    pub(crate) fn take_in(&mut self, below: &mut Exploration<'_>) {
        for flip in std::mem::take(&mut below.core.new_flips) {
            match self.mode.0 {
                Some((Pruning::Wanted, _)) => {
                    if below.core.auditing {
                        self.auditor.met(flip.before());
                    }
                    self.deferred.defer(below.core, flip);
                }
                Some((Pruning::Classified | Pruning::Measured, _)) => {
                    self.deferred.note_flip(&flip);
                    below.frontier.add(below.core, Item::Flip(flip));
                }
                Some((Pruning::AsPrinted, _)) | None => below.frontier.add(below.core, Item::Flip(flip)),
            }
        }
        for refuted in std::mem::take(&mut below.core.new_refuted) {
            self.deferred.defer_refuted(refuted);
        }
    }

    /// Marks the relevant flips of a path that has ended.
    pub(crate) fn prune_after(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, ended: &Ended) {
        let Some((pruning, _)) = self.mode.0.clone() else { return };
        if below.core.auditing {
            return;
        }
        let past = Past { prefix: ended.prefix.clone(), subtree: ended.subtree, model: ended.model.clone(), end: ended.end.clone() };
        match pruning {
            Pruning::Wanted | Pruning::Measured => self.want_what_matters(subsumption, below, &past),
            Pruning::Classified => self.classify(subsumption, below, past),
            Pruning::AsPrinted => {
                let places: Vec<PrefixId> = ids(&past.prefix);
                let Some(wanted) = self.slice(subsumption, below, &past, &places, Portion::from(0)) else { return };
                for made in past.prefix.backwards().filter(|made| !wanted.decisions.contains(&made.index)) {
                    below.frontier.drop_other_sides(below.core, &made);
                }
            }
        }
    }

    /// Marks the relevant flips of a completed path.
    pub(crate) fn want_what_matters(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, past: &Past) {
        let Some((pruning, _)) = self.mode.0.clone() else { return };
        if !past.end.is_complete() || !(self.mode.subsumes(below.core) || self.benefit.slices() || pruning == Pruning::Measured) {
            return self.want_all(subsumption, below, &past.prefix, past.subtree);
        }
        if self.mode.subsumes(below.core) {
            return self.want_by_portions(subsumption, below, past.clone(), None);
        }
        let places: Vec<PrefixId> = ids(&past.prefix);
        let Some(oldest) = places.iter().position(|id| self.deferred.has(*id)) else { return };
        let own = self.begun.clone().filter(|begun| begun.prefix.len() as usize > oldest);
        let starts = own.into_iter().map(|begun| (begun.prefix.len(), Some(begun))).chain([(oldest as u32, None)]);
        for (start, snapshot) in starts {
            let Some(wanted) = self.want_slice(subsumption, below, past, &places, Portion { snapshot, ..Portion::from(start) }) else {
                return;
            };
            if wanted.settled {
                return;
            }
        }
    }

    /// Marks the relevant flips of the path to a subsumed flip, as if the path continued as the subsumer's subtree did.
    pub(crate) fn want_as_subsumed(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        flip: &Flip,
        model: &Model,
        subsumer: &Subsumer,
    ) {
        self.want_core(subsumption, below, &flip.prefix, flip.subtree, &subsumer.constraints);
        let past = Past { prefix: flip.prefix.clone(), subtree: flip.subtree, model: model.clone(), end: PathEnd::Assumed };
        self.want_by_portions(subsumption, below, past, Some(subsumer.needs.clone()));
    }

    /// Slices the path up to the root of a subtree, starting from the live-in set there.
    pub(crate) fn want_behind(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, past: Past, subtree: SubtreeId) {
        let Some(pruner) = self.mode.pruner() else { return };
        if let Some(continuations) = pruner.continuations() {
            self.want_by_portions(subsumption, below, past, Some(continuations.noted(subtree)));
        }
    }

    /// Slices the path segment by segment, one per enclosing subtree, and records the live-in set at each subtree's root. Stops at the first one
    /// already known. `behind`: the path ends before its last deciding operation, with this live-in set.
    fn want_by_portions(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        mut past: Past,
        mut behind: Option<Rc<dyn Any>>,
    ) {
        let Some(pruner) = self.mode.pruner() else { return };
        let Some(continuations) = pruner.continuations() else { return };
        let mut at = past.subtree;
        loop {
            let places: Vec<PrefixId> = ids(&past.prefix);
            let waits = places.iter().position(|id| self.deferred.has(*id));
            let Some((begun, parent, snapshot)) = subsumption.portion(at) else {
                if let Some(oldest) = waits {
                    self.want_slice(subsumption, below, &past, &places, Portion { behind, ..Portion::from(oldest as u32) });
                }
                return;
            };
            if waits.is_none() && !subsumption.is_compared(at) {
                return;
            }
            let oldest = snapshot.prefix.len();
            let portion = Portion { oldest, snapshot: Some(snapshot), behind: behind.clone(), begun: Some(begun) };
            let Some(wanted) = self.want_slice(subsumption, below, &past, &places, portion) else { return };
            if !wanted.noted {
                subsumption.forget_subtree(below, at);
            }
            if wanted.settled || wanted.noted && !subsumption.goes_up(at) {
                return;
            }
            if wanted.noted {
                past.prefix = past.prefix.without_last((past.prefix.len() - begun.start - 1) as usize);
                past.subtree = parent;
                behind = Some(continuations.noted(at));
            }
            at = parent;
        }
    }

    /// Slices a segment of a path and marks its decisions as relevant. If slicing fails, all flips of the path become relevant.
    fn want_slice(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        past: &Past,
        places: &[PrefixId],
        portion: Portion,
    ) -> Option<Wanted> {
        let oldest = portion.oldest;
        let Some(mut wanted) = self.slice(subsumption, below, past, places, portion) else {
            self.want_all(subsumption, below, &past.prefix, past.subtree);
            return None;
        };
        let mut open: Vec<PrefixId> = places[oldest as usize..].to_vec();
        open.retain(|id| self.deferred.has(*id));
        let asked = open.len();
        let decisions = std::mem::take(&mut wanted.decisions).into_iter().collect();
        self.want(subsumption, below, &past.prefix, past.subtree, decisions, BTreeSet::new());
        open.retain(|id| self.deferred.has(*id));
        self.benefit.note(asked as u64, open.len() as u64);
        Some(wanted)
    }

    /// The relevant decisions of a segment of a path; `None` if slicing fails. `places`: for each decision, the name of the prefix before it.
    fn slice(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        past: &Past,
        places: &[PrefixId],
        portion: Portion,
    ) -> Option<Wanted> {
        let Portion { oldest, snapshot, behind, begun } = portion;
        let pruner = self.mode.pruner()?;
        let of_flip = |id: &PrefixId| self.deferred.snapshot(*id);
        let own = || self.begun.clone().filter(|begun| begun.prefix.len() <= oldest);
        let snapshot = snapshot.or_else(|| of_flip(places.get(oldest as usize)?)).or_else(own);
        // Start at the beginning of the operation that decided.
        let first = past.prefix.backwards().find(|made| made.index <= oldest && made.first).map_or(0, |made| made.index);
        let before = past.prefix.without_last((past.prefix.len() - first) as usize);
        let (trace, state, end) = below.replayer.record(below.core, past, snapshot, &before, behind.is_some())?;
        if behind.is_none() && end != past.end {
            let what = format!("a path that ended as {:?} ended as {end:?} when it was run again", past.end);
            below.core.ledger.note(LedgerKind::Warning, what);
            return None;
        }
        // Where a jump lands is no control flow that the slicer follows.
        if state.jumped {
            below.core.ledger.note(
                LedgerKind::Warning,
                "paths that make a `longjmp`, throw an exception or have signals to deliver are not sliced; all their flips are explored",
            );
            return None;
        }
        if state.has_threads() {
            below.core.ledger.note(LedgerKind::Warning, "paths that make threads are not sliced; all their flips are explored");
            return None;
        }
        below.core.lower_beyond(&state);
        let image = below.core.image.clone();
        let (stacks, environment, compared) = (&below.core.stacks, &*below.core.environment, self.mode.subsumes(below.core));
        let open = |index: u32| places.get(index as usize).is_some_and(|id| self.deferred.has(*id) || subsumption.began(*id));
        let path = Traced {
            image: &image,
            trace: &trace,
            state: &state,
            stacks,
            environment,
            end: &end,
            oldest,
            places,
            open: &open,
            begun,
            compared,
        };
        let wanted = match (behind, pruner.continuations()) {
            (Some(needs), Some(continuations)) => continuations.resume(&*needs, &path),
            (Some(_) | None, _) => pruner.wanted(&path),
        };
        for what in pruner.contradicted() {
            below.core.ledger.note(LedgerKind::ContradictedFact, what);
        }
        match wanted {
            Ok(wanted) => Some(wanted),
            Err(why) => {
                below.core.ledger.note(LedgerKind::Warning, format!("a path was not sliced, so all its flips are explored: {why}"));
                None
            }
        }
    }

    /// Hands the deferred flips of the decision after this prefix to the searcher. Returns their number, and the infeasible alternatives.
    fn release(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, before: PrefixId) -> (u64, Vec<Refuted>) {
        let Waiting { flips, refuted, explored } = self.deferred.take(before);
        self.classes.reclassify(before);
        let count = (flips.len() + explored.len()) as u64;
        for Explored { subtree, begun, .. } in explored {
            match begun {
                true => subsumption.forget_subtrees(below, subtree),
                false => subsumption.enter_subtree(subtree),
            }
        }
        for flip in flips {
            below.core.tree.unpark(flip.node);
            subsumption.enter_subtree(flip.subtree);
            below.frontier.add(below.core, Item::Flip(flip));
        }
        (count, refuted)
    }

    /// Marks the alternatives of these decisions as relevant, and those of the decisions that asserted these constraints. For an infeasible
    /// alternative, marks those of every decision in its unsat core. Asks the solver where cheap facts give no answer.
    fn want(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        prefix: &Prefix,
        subtree: SubtreeId,
        decisions: BTreeSet<u32>,
        mut constraints: BTreeSet<u32>,
    ) {
        subsumption.note_core(subtree, u32::MAX, constraints.iter().copied());
        let mut operation: Vec<Made> = Vec::new();
        for made in prefix.backwards() {
            if self.deferred.is_empty() {
                return;
            }
            operation.push(made);
            if !made.first {
                continue;
            }
            // An operation asserted the constraints that exist before the next operation but not before this one. Its own unsat cores may
            // contain some of them.
            let (mut asserted, mut again) = (false, true);
            while again {
                again = !constraints.split_off(&made.constraints).is_empty() && !asserted;
                asserted |= again;
                for made in operation.iter().filter(|made| asserted || decisions.contains(&made.index)) {
                    for refuted in self.want_one(subsumption, below, made.before) {
                        match core_of(below.core, &refuted) {
                            Some(core) => {
                                subsumption.note_core(subtree, made.index, core.iter().copied());
                                constraints.extend(core);
                            }
                            None => return self.want_all(subsumption, below, prefix, subtree),
                        }
                        again = true;
                    }
                }
            }
            operation.clear();
        }
    }

    /// Marks the alternatives of the decision after this prefix as relevant; returns the infeasible ones.
    fn want_one(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, before: PrefixId) -> Vec<Refuted> {
        let (flips, refuted) = self.release(subsumption, below, before);
        below.core.stats.flips_wanted += flips + refuted.len() as u64;
        below.core.stats.flips_infeasible += refuted.len() as u64;
        refuted
    }

    /// Marks the flips of all these decisions as relevant, and so the unsat cores of infeasible ones. If all flips are explored and the run is about to
    /// end, classification stops.
    pub(crate) fn want_all(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, prefix: &Prefix, subtree: SubtreeId) {
        if self.mode.explores_all() && below.core.end_signal.asked() {
            return;
        }
        subsumption.forget_subtrees(below, subtree);
        if self.mode.waits(below.core) && !self.deferred.is_empty() {
            for id in ids(prefix) {
                self.want_one(subsumption, below, id);
            }
        }
    }

    /// A relevant alternative of the decision after this prefix, on a path of this subtree, is infeasible because of these constraints.
    pub(crate) fn want_core(
        &mut self,
        subsumption: &mut Subsumption,
        below: &mut Exploration<'_>,
        before: &Prefix,
        subtree: SubtreeId,
        constraints: &[u32],
    ) {
        if self.mode.waits(below.core) {
            self.want(subsumption, below, before, subtree, BTreeSet::new(), constraints.iter().copied().collect());
        }
    }
}

/// The unsat core of an infeasible alternative.
fn core_of(core: &mut Core, refuted: &Refuted) -> Option<Vec<u32>> {
    let budget = Budget { conflicts: core.config.query_conflicts, ..Budget::until(core.end_signal.clone()) };
    core.stats.solver_checks += 1;
    match core.solver.check(&mut core.pool, &refuted.path, refuted.cond, &refuted.model, &budget) {
        Answer::Unsat(core) => Some(core.0.to_vec()),
        Answer::Sat(_) | Answer::Unknown(_) => None,
    }
}

/// For each decision, the name of the prefix before it.
fn ids(prefix: &Prefix) -> Vec<PrefixId> {
    let mut ids: Vec<PrefixId> = prefix.backwards().map(|made| made.before).collect();
    ids.reverse();
    ids
}
