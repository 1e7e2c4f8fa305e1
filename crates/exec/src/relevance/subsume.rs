//! State subsumption: a relevant flip is skipped if the same program point was fully explored from a state that agrees on its live-in set.
//!
//! A flip begins at a program point: call stack, decision, events so far, environment. An earlier flip may have begun at the same point,
//! with its relevant subtree explored to the end. If this flip's state has the same values in the live-in set of that subtree, it cannot
//! show new behaviour. This follows Boonstoppel, Cadar and Engler, "RWset: attacking path explosion in constraint-based test generation",
//! TACAS 2008. The live-in sets, from the slices of [`crate::Pruner`], take the place of their read sets. The constraints in the unsat
//! cores of that subtree must hold here too. The path to the skipped flip is sliced as if it continued as the earlier one did. A flip that
//! may turn out to be subsumed is held back until the earlier subtree is complete, or nothing else is left.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_expr::{Model, Pool, Remap};
use wryneck_ir::ActiveCall;

use crate::explore::Exploration;
use crate::explore::frontier::{Held, Item};
use crate::explore::replay::Past;
use crate::ground::config::Audit;
use crate::ground::digest::Digest;
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::{Decision, Prefix, PrefixId};
use crate::ground::sharing::Visited;
use crate::relevance::Relevance;
use crate::relevance::pruner::{Begun, Subsumer};
use crate::state::rebuilt::Rebuilt;
use crate::state::rebuilt::remap_shared;
use crate::state::{LEFT_OUT, PathData, Slot, State, SubtreeId};
use crate::step::core::{Core, Flip};

/// The subtree below a flip, while it is explored.
struct Subtree {
    /// The subtree of the path that created the flip.
    parent: SubtreeId,
    begun: Begun,
    /// The number of constraints of the path before the operation that decided.
    constraints: u32,
    /// The constraints of the flip itself, as structural hashes.
    since: Vec<u128>,
    /// Its own path, and the relevant flips on its paths, that are not complete.
    open: u32,
    place: Option<u128>,
    /// Its root.
    state: Rc<State>,
    /// Its live-in set covers all complete paths, so later flips may be compared with it.
    compared: bool,
    /// The path before its root was sliced once, for its first live-in set.
    went_up: bool,
    /// Its live-in set has grown since.
    grew: bool,
    /// The path to its root, including the flipped decision.
    prefix: Prefix,
    model: Model,
    /// The constraints of the path that are in unsat cores of the subtree, by index.
    cores: BTreeSet<u32>,
}

/// The program points at which flips began.
#[derive(Default)]
pub struct Subsumption {
    next: SubtreeId,
    subtrees: BTreeMap<SubtreeId, Subtree>,
    /// By program point: the subtrees in progress that later flips may be compared with.
    running: FxHashMap<u128, Vec<SubtreeId>>,
    /// Flips that are held until a subtree is complete.
    held: BTreeMap<SubtreeId, Vec<Held>>,
    /// Prefixes whose next decision was flipped.
    begun: FxHashSet<PrefixId>,
    /// Subsumed flips that are explored for classification: the prefix, and the flipped decision.
    redundant: FxHashSet<(PrefixId, Decision)>,
    /// The environment data that was hashed last.
    hashed: Option<(Rc<dyn PathData>, u128)>,
    /// The subtree of the path that has just ended.
    ended: Option<SubtreeId>,
}

impl Subsumption {
    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(wryneck_expr::ExprId)) {
        self.held.values().flatten().for_each(|held| held.for_each_expr(visited, keep));
        self.subtrees.values().for_each(|tree| tree.state.for_each_expr(visited, keep));
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.hashed = None;
        self.held.values_mut().flatten().for_each(|held| held.remap(map, rebuilt));
        self.subtrees.values_mut().for_each(|tree| remap_shared(&mut tree.state, map, rebuilt));
    }

    /// A path of this subtree has just ended.
    pub(crate) fn note_ended(&mut self, of: SubtreeId) {
        self.ended = Some(of);
    }

    /// The path that has just ended, if any, is complete.
    pub(crate) fn leave_ended(&mut self, relevance: &mut Relevance, below: &mut Exploration<'_>) {
        if let Some(subtree) = self.ended.take() {
            self.leave_subtree(relevance, below, subtree);
        }
    }

    /// Whether a flip is a subsumed one that is explored for classification.
    pub(crate) fn is_redundant(&self, before: PrefixId, made: Decision) -> bool {
        self.redundant.contains(&(before, made))
    }

    /// Flips that are held.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.values().flatten()
    }

    /// Whether the decision after this prefix was flipped.
    pub(crate) fn began(&self, before: PrefixId) -> bool {
        self.begun.contains(&before)
    }

    /// The root of a subtree, its parent, and the state there.
    pub(crate) fn portion(&self, of: SubtreeId) -> Option<(Begun, SubtreeId, Rc<State>)> {
        let tree = self.subtrees.get(&of)?;
        Some((tree.begun, tree.parent, tree.state.clone()))
    }

    /// The live-in set of a subtree has grown. Returns whether to slice the path before its root now; otherwise that happens at the end.
    pub(crate) fn goes_up(&mut self, of: SubtreeId) -> bool {
        let Some(tree) = self.subtrees.get_mut(&of) else { return true };
        tree.grew = tree.went_up;
        !std::mem::replace(&mut tree.went_up, true)
    }

    fn with_parents(&self, of: SubtreeId) -> impl Iterator<Item = SubtreeId> + '_ {
        std::iter::successors(Some(of), |at| Some(self.subtrees.get(at)?.parent))
    }

    /// Whether this subtree or an enclosing one may be compared with later flips.
    pub(crate) fn is_compared(&self, of: SubtreeId) -> bool {
        self.with_parents(of).any(|at| self.subtrees.get(&at).is_some_and(|tree| tree.compared))
    }

    fn is_inside(&self, of: SubtreeId, other: SubtreeId) -> bool {
        self.with_parents(of).any(|at| at == other)
    }

    /// These constraints of a path in a subtree are the unsat core of an alternative of the decision at this index, or of a later one.
    pub(crate) fn note_core(&mut self, of: SubtreeId, index: u32, core: impl Iterator<Item = u32> + Clone) {
        let mut at = of;
        while let Some(tree) = self.subtrees.get_mut(&at) {
            if tree.begun.start <= index {
                let own = tree.constraints + tree.since.len() as u32;
                tree.cores.extend(core.clone().filter(|constraint| *constraint < own));
            }
            at = tree.parent;
        }
    }

    /// The program point of a flip, as a hash. `calls`: those in progress inside machine code. `None`: such flips are not compared.
    fn place(&mut self, pool: &Pool, flip: &Flip, state: &State, calls: &[ActiveCall]) -> Option<u128> {
        // The constraints of several decisions of one operation are not known before it runs.
        if state.returned.is_some() || flip.script.len() != 1 || matches!(flip.script.back(), Some(Decision::Above(_))) {
            return None;
        }
        let mut h = Digest::default();
        for call in calls {
            (call.base, call.block?).hash(&mut h);
        }
        for frame in &state.frames {
            (frame.func(), frame.op(), frame.base, frame.top).hash(&mut h);
            frame.dynamic.hash(&mut h);
        }
        flip.script.hash(&mut h);
        (state.announced, state.sp).hash(&mut h);
        h.add(data_digest(state.data.monitor(), pool));
        let environment = match &self.hashed {
            Some((data, hash)) if Rc::ptr_eq(data, state.data.get(Slot::Environment)) => *hash,
            Some(_) | None => {
                let digest = data_digest(state.data.environment(), pool);
                self.hashed = Some((state.data.get(Slot::Environment).clone(), digest));
                digest
            }
        };
        h.add(environment);
        Some(h.digest())
    }
}

/// A hash of a plug-in's data: each half of its expressions' hashes once.
fn data_digest(data: &dyn PathData, pool: &Pool) -> u128 {
    let mut h = Digest::default();
    data.hash_into(&mut h, &mut |e| pool.digest(e) as u64);
    data.hash_into(&mut h, &mut |e| (pool.digest(e) >> 64) as u64);
    h.digest()
}

impl Subsumption {
    /// A relevant flip on a path of this subtree will be explored.
    pub(crate) fn enter_subtree(&mut self, of: SubtreeId) {
        if let Some(tree) = self.subtrees.get_mut(&of) {
            tree.open += 1;
        }
    }

    /// A path or a flip of this subtree is complete. The subtree and its parents may be complete now, too.
    pub(crate) fn leave_subtree(&mut self, relevance: &mut Relevance, below: &mut Exploration<'_>, of: SubtreeId) {
        let mut at = of;
        while let Some(tree) = self.subtrees.get_mut(&at) {
            tree.open -= 1;
            if tree.open > 0 {
                return;
            }
            if std::mem::take(&mut tree.grew) {
                let past = Past { prefix: tree.prefix.clone(), subtree: tree.parent, model: tree.model.clone(), end: PathEnd::Assumed };
                relevance.want_behind(self, below, past, at);
            }
            let Some(tree) = self.subtrees.remove(&at) else { return };
            if let Some(continuations) = relevance.mode.pruner().as_ref().and_then(|pruner| pruner.continuations()) {
                let state = &tree.state;
                let before = tree.cores.iter().filter_map(|index| state.path.constraint(*index));
                let mut cores: Vec<u128> = before.map(|constraint| below.core.pool.digest(constraint)).collect();
                if tree.cores.last().is_some_and(|last| *last >= tree.constraints) {
                    cores.extend(&tree.since);
                }
                continuations.complete(at, tree.place.filter(|_| tree.compared), state, &below.core.pool, cores);
            }
            self.stop_waiting(below, at, tree.place);
            at = tree.parent;
        }
    }

    /// The live-in sets of this subtree and of its parents cannot be determined.
    pub(crate) fn forget_subtrees(&mut self, below: &mut Exploration<'_>, of: SubtreeId) {
        let mut at = of;
        while let Some(parent) = self.subtrees.get(&at).map(|tree| tree.parent) {
            self.forget_subtree(below, at);
            at = parent;
        }
    }

    /// The live-in set of this subtree cannot be determined.
    pub(crate) fn forget_subtree(&mut self, below: &mut Exploration<'_>, of: SubtreeId) {
        if let Some(tree) = self.subtrees.get_mut(&of).filter(|tree| tree.compared) {
            tree.compared = false;
            let place = tree.place;
            self.stop_waiting(below, of, place);
        }
    }

    /// Releases the flips that are held for this subtree.
    fn stop_waiting(&mut self, below: &mut Exploration<'_>, of: SubtreeId, place: Option<u128>) {
        if let Some(place) = place
            && let Some(running) = self.running.get_mut(&place)
        {
            running.retain(|id| *id != of);
            if running.is_empty() {
                self.running.remove(&place);
            }
        }
        for held in self.held.remove(&of).unwrap_or_default() {
            below.core.tree.unpark(held.flip.node);
            below.frontier.add(below.core, Item::Held(Box::new(held)));
        }
    }

    /// If nothing else is left: a flip that is held for the oldest subtree, to be explored.
    pub(crate) fn wait_no_longer(&mut self, core: &mut Core) -> Option<Held> {
        let mut first = self.held.first_entry()?;
        let held = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        let held = held?;
        core.tree.unpark(held.flip.node);
        Some(held)
    }

    /// Begins a feasible flip; `None` if it is held or subsumed. If all flips are explored, a subsumed one is marked instead.
    pub(crate) fn begin(
        &mut self,
        relevance: &mut Relevance,
        below: &mut Exploration<'_>,
        held: Held,
        may_wait: bool,
    ) -> Option<Box<State>> {
        let Some(pruner) = relevance.mode.pruner().filter(|_| relevance.mode.subsumes(below.core)) else { return Some(held.state) };
        let Some(continuations) = pruner.continuations() else { return Some(held.state) };
        let place = held.exact.then(|| below.core.active_calls(&held.snapshot));
        let place = place.and_then(|calls| self.place(&below.core.pool, &held.flip, &held.snapshot, &calls));
        if let Some(place) = place {
            if let Some(subsumer) = continuations.find(place, &held.snapshot, held.flip.cond, &below.core.pool) {
                return self.leave_out(relevance, below, held, &subsumer);
            }
            let alike = |id: &&SubtreeId| {
                let tree = self.subtrees.get(id);
                tree.is_some_and(|tree| tree.compared && continuations.may_equal(**id, &tree.state, &held.snapshot, &below.core.pool))
                    && !self.is_inside(held.flip.subtree, **id)
            };
            let running = self.running.get(&place).filter(|_| may_wait);
            if let Some(of) = running.and_then(|running| running.iter().find(alike).copied()) {
                below.core.tree.park(held.flip.node);
                self.held.entry(of).or_default().push(held);
                return None;
            }
        }
        let Held { flip, mut state, snapshot, .. } = held;
        let id = self.next;
        self.next += 1;
        let begun = Begun { start: flip.prefix.len() - 1, subtree: id, frames: snapshot.frames.len() as u32 };
        if let Some(place) = place {
            self.running.entry(place).or_default().push(id);
        }
        self.begun.insert(flip.before());
        let constraints = snapshot.path.len() as u32;
        // What the operation asserted before the flip holds since the flip, too.
        let earlier = (constraints..flip.path.len() as u32).filter_map(|index| flip.path.constraint(index));
        let since = earlier.chain(below.core.pool.conjuncts(flip.cond)).map(|part| below.core.pool.digest(part)).collect();
        let parent = flip.subtree;
        let tree = Subtree {
            parent,
            begun,
            constraints,
            since,
            open: 1,
            place,
            state: snapshot,
            compared: place.is_some(),
            went_up: false,
            grew: false,
            prefix: flip.prefix,
            model: state.model.clone(),
            cores: BTreeSet::new(),
        };
        self.subtrees.insert(id, tree);
        state.subtree = id;
        Some(state)
    }

    /// A flip is subsumed: its path is sliced as if it continued as the subsumer's subtree did.
    fn leave_out(&mut self, relevance: &mut Relevance, below: &mut Exploration<'_>, held: Held, subsumer: &Subsumer) -> Option<Box<State>> {
        let Held { flip, mut state, .. } = held;
        below.core.stats.flips_subsumed += 1;
        relevance.want_as_subsumed(self, below, &flip, &state.model, subsumer);
        self.leave_subtree(relevance, below, flip.subtree);
        if relevance.mode.explores_all() {
            let left_out = flip.last().map(|last| (flip.before(), last));
            self.redundant.extend(left_out);
            state.subtree = LEFT_OUT;
            return Some(state);
        }
        if below.core.config.audit != Audit::Off {
            below.core.tree.park(flip.node);
            relevance.auditor.keep(flip);
        } else {
            below.core.tree.finish(flip.node);
        }
        None
    }
}
