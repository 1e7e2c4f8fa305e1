//! Live-in sets at points of a path. A walk stops where an earlier walk over the same prefix had a live-in set that includes its own.
//!
//! The walk is monotone: a larger live set or slice only makes more decisions relevant. So where an earlier walk passed with a superset,
//! this walk can find nothing new. Cost: a few sets for each point with deferred flips.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use wryneck_exec::SubtreeId;
use wryneck_exec::prefix::PrefixId;

use super::live::Live;
use super::recent::Recent;
use crate::flow::BitSet;

/// The most walks that are cached per point of a path.
const KEPT: usize = 3;
/// New points after which older ones are forgotten. A point takes a few kilobytes, and most are complete by then.
const PLACES: usize = 1 << 13;

/// The live-in set of a call in progress.
#[derive(Clone)]
pub struct Call {
    pub func: u32,
    /// The engine's frame whose slots `live` names, if they are still there. Otherwise [`Needs::saved`] and [`Needs::read`] say where they are.
    pub frame: Option<u32>,
    /// Live slots.
    pub live: BitSet,
    /// Blocks whose beginning the walk passed, and those of them with nothing in the slice between the current point and the block.
    pub passed: BitSet,
    pub settled: BitSet,
    /// For blocks into which an edge copied a live slot: the live slots at their beginning.
    pub joins: FxHashMap<u32, BitSet>,
    /// Something was added to the slice that makes branches without a passed post-dominator relevant.
    pub taken: bool,
    /// Something between the current point and the path's call of `exit` is in the slice.
    pub before_exit: bool,
    pub returned: bool,
}

impl Call {
    /// The join of both live-in sets.
    fn join(&self, other: &Call) -> Call {
        let common = |a: &BitSet, b: &BitSet| a.iter().filter(|n| b.contains(*n)).collect::<BitSet>();
        let passed = common(&self.passed, &other.passed);
        let settled = common(&self.settled, &other.settled);
        let all_settled = |call: &Call| call.passed.is_within(&call.settled);
        let alike = self.passed.is_within(&other.passed) && other.passed.is_within(&self.passed);
        let joins = self.joins.keys().chain(other.joins.keys()).filter(|join| settled.contains(**join));
        let at = |call: &Call, join: u32| call.joins.get(&join).unwrap_or(&call.live).clone();
        Call {
            func: self.func,
            frame: self.frame,
            live: union(&self.live, &other.live),
            joins: joins.map(|join| (*join, union(&at(self, *join), &at(other, *join)))).collect(),
            taken: self.taken || other.taken || !alike || !all_settled(self) || !all_settled(other),
            before_exit: self.before_exit || other.before_exit,
            returned: self.returned && other.returned,
            passed,
            settled,
        }
    }

    /// Whether each branch of the call that is relevant here is relevant with `other`.
    fn within(&self, other: &Call) -> bool {
        // For branches whose post-dominator was not passed, it matters whether the call returned.
        let ends = self.returned || !other.returned && other.passed.is_within(&self.passed);
        let meets = |block: u32| if self.passed.contains(block) { self.settled.contains(block) } else { !self.taken };
        let taken = match other.taken {
            true => other.settled.iter().all(meets),
            false => !self.taken && self.passed.is_within(&self.settled),
        };
        self.func == other.func
            && (!self.before_exit || other.before_exit)
            && self.live.is_within(&other.live)
            && ends
            && taken
            // At other blocks the live slots are those at the current point.
            && self.joins.keys().chain(other.joins.keys()).all(|join| !self.settled.contains(*join) || self.meets_as(other, *join))
    }

    /// For a branch with nothing in the slice before its immediate post-dominator: whether what is live there makes it relevant only if `other` does.
    fn meets_as(&self, other: &Call, join: u32) -> bool {
        let (mine, theirs) = (self.joins.get(&join), other.joins.get(&join));
        match other.passed.contains(join) {
            true if other.settled.contains(join) => mine.unwrap_or(&self.live).is_within(theirs.unwrap_or(&other.live)),
            true => true,
            false => other.taken || mine.is_none(),
        }
    }
}

/// The live-in set of a walk at a point of the path.
#[derive(Clone)]
pub struct Needs {
    /// Outermost first.
    pub calls: Vec<Call>,
    pub live: Live,
    /// Bytes that calls with a summary read, and where calls in progress saved live registers.
    pub read: Live,
    /// Slots of the innermost call's frame that hold live registers of its callers.
    pub saved: BitSet,
    /// Where a live register of a caller is saved is not known, so that states cannot be compared.
    pub unplaced: bool,
    /// Something was added to the slice.
    pub any: bool,
    /// If no event happens before the path's call of `exit`: the exit-live state, and whether the path changes it in between.
    pub exit: Option<(Live, bool)>,
}

impl Needs {
    pub fn within(&self, other: &Needs) -> bool {
        let exits = match (&self.exit, &other.exit) {
            (Some((exit, changed)), Some((other, others))) => exit.is_within(other) && (!changed || *others),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        exits
            && (!self.any || other.any)
            && self.calls.len() == other.calls.len()
            && self.calls.iter().zip(&other.calls).all(|(call, other)| call.within(other))
            && self.live.is_within(&other.live)
            && self.read.is_within(&other.read)
            && self.saved.is_within(&other.saved)
            && (!self.unplaced || other.unplaced)
    }

    /// The join of both, if they belong to the same point and kind of end. Each one is within it.
    pub fn join(&self, other: &Needs) -> Option<Needs> {
        let exit = match (&self.exit, &other.exit) {
            (Some((live, changed)), Some((others, other_changed))) => Some((both(live, others), *changed || *other_changed)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        if self.calls.len() != other.calls.len() {
            return None;
        }
        let calls = self.calls.iter().zip(&other.calls).map(|(call, other)| call.join(other)).collect();
        Some(Needs {
            calls,
            live: both(&self.live, &other.live),
            read: both(&self.read, &other.read),
            saved: union(&self.saved, &other.saved),
            unplaced: self.unplaced || other.unplaced,
            any: self.any || other.any,
            exit,
        })
    }
}

fn union(a: &BitSet, b: &BitSet) -> BitSet {
    let mut all = a.clone();
    all.union_with(b);
    all
}

fn both(a: &Live, b: &Live) -> Live {
    let mut all = a.clone();
    all.add_all(b);
    all
}

/// By prefix: the live-in sets of the last walks that passed that point.
#[derive(Default)]
pub struct Known {
    walks: RefCell<Recent<PrefixId, Vec<Needs>>>,
    /// By subtree: the joined live-in sets of all walks that passed its root, by kind of end.
    noted: RefCell<FxHashMap<SubtreeId, Vec<Needs>>>,
}

impl Known {
    /// Whether the live-in set of an earlier walk contains this one.
    pub fn covers(&self, place: PrefixId, needs: &Needs) -> bool {
        self.walks.borrow().at(&place).flat_map(|(walks, _)| walks).any(|other| needs.within(other))
    }

    /// A walk passed the root of a subtree. Returns whether the subtree's live-in set has grown.
    pub fn note(&self, subtree: SubtreeId, needs: Needs) -> bool {
        let mut noted = self.noted.borrow_mut();
        let noted = noted.entry(subtree).or_default();
        if noted.iter().any(|other| needs.within(other)) {
            return false;
        }
        match noted.iter_mut().find_map(|other| Some((other.join(&needs)?, other))) {
            Some((joined, other)) => *other = joined,
            None => noted.push(needs),
        }
        true
    }

    /// Removes and returns the live-in set of a complete subtree.
    pub fn take(&self, subtree: SubtreeId) -> Option<Vec<Needs>> {
        self.noted.borrow_mut().remove(&subtree)
    }

    /// The live-in set of a subtree so far.
    pub fn noted<T>(&self, subtree: SubtreeId, see: impl FnOnce(&[Needs]) -> T) -> T {
        see(self.noted.borrow().get(&subtree).map_or(&[], Vec::as_slice))
    }

    /// A walk towards the oldest decision with deferred flips passed a point.
    pub fn add(&self, place: PrefixId, needs: Needs) {
        let mut walks = self.walks.borrow_mut();
        if walks.new.len() >= PLACES {
            walks.age();
        }
        let walks = walks.new.entry(place).or_default();
        if walks.len() == KEPT {
            walks.remove(0);
        }
        walks.push(needs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> BitSet {
        numbers.iter().copied().collect()
    }

    fn call(live: &[u32], passed: &[u32], settled: &[u32], taken: bool) -> Call {
        Call {
            func: 0,
            frame: Some(0),
            live: set(live),
            passed: set(passed),
            settled: set(settled),
            joins: FxHashMap::default(),
            taken,
            before_exit: false,
            returned: true,
        }
    }

    #[test]
    fn who_needs_less_is_within() {
        let all = call(&[1, 2], &[3, 4], &[4], true);
        assert!(all.within(&all));
        assert!(call(&[1], &[3, 4], &[4], true).within(&all) && !call(&[5], &[3, 4], &[4], true).within(&all), "live slots");
        assert!(call(&[], &[3, 4], &[3, 4], true).within(&all), "something taken that is behind both blocks");
        assert!(!call(&[], &[3, 4], &[3], true).within(&all), "something taken between here and block 4");
        assert!(!call(&[], &[3], &[3], true).within(&all), "block 4 was never passed, so what was taken may lie before it");
        assert!(call(&[], &[3], &[3], false).within(&all), "nothing was taken");
        assert!(!all.within(&call(&[1, 2], &[3, 4], &[3, 4], false)), "something was taken");
        let joins = |live: &[u32]| Call { joins: [(4, set(live))].into_iter().collect(), ..all.clone() };
        assert!(joins(&[7]).within(&joins(&[7, 8])) && !joins(&[8]).within(&joins(&[7])), "slots that are live where ways meet");
        assert!(
            !joins(&[7]).within(&all) && joins(&[2]).within(&all) && !all.within(&joins(&[7])),
            "what is live there is live here without copies"
        );
        let ended = Call { returned: false, ..all.clone() };
        assert!(all.within(&ended) && !ended.within(&all), "what did not return may go on elsewhere");
        let earlier = Call { returned: false, ..call(&[1, 2], &[4], &[4], true) };
        assert!(!earlier.within(&ended) && ended.within(&earlier), "a join that was passed leaves less to ask");
    }

    #[test]
    fn both_are_within_what_they_need_together() {
        let joins = |call: Call, live: &[u32]| Call { joins: [(4, set(live))].into_iter().collect(), ..call };
        let calls = [
            call(&[1, 2], &[3, 4], &[4], true),
            call(&[5], &[3], &[3], false),
            call(&[], &[3, 4], &[3, 4], false),
            joins(call(&[2], &[3, 4], &[4], true), &[7]),
            joins(call(&[2], &[4], &[4], true), &[8]),
            Call { returned: false, ..call(&[1], &[4], &[4], true) },
            Call { before_exit: true, ..call(&[1], &[4], &[], true) },
        ];
        for (a, b) in calls.iter().flat_map(|a| calls.iter().map(move |b| (a, b))) {
            let both = a.join(b);
            assert!(a.within(&both) && b.within(&both));
        }
        assert!(!calls[1].join(&calls[2]).within(&calls[2]), "more is needed together");
    }

    /// Random live-in sets of one point, of small sets so that many are comparable.
    fn random_needs(count: usize) -> Vec<Needs> {
        let mut seed = 7u64;
        let mut next = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut one = || {
            let mut bits = |of: u64| set(&(0..3).filter(|_| next(of) == 0).collect::<Vec<_>>());
            let (live, passed, saved) = (bits(2), bits(2), bits(3));
            let settled: BitSet = passed.iter().filter(|block| bits(2).contains(*block)).collect();
            let joins = settled.iter().filter(|block| bits(3).contains(*block)).collect::<Vec<_>>();
            let joins = joins.into_iter().map(|block| (block, bits(2))).collect();
            let mut bytes = |of: u64| {
                let mut live = Live::default();
                bits(of).iter().for_each(|byte| live.add(Default::default(), byte.into(), 1));
                live
            };
            let (memory, read, at_exit) = (bytes(2), bytes(3), bytes(3));
            let (taken, before_exit, returned, any) = (next(2) == 0, next(2) == 0, next(2) == 0, next(2) == 0);
            let (exits, changed, unplaced) = (next(2) == 0, next(2) == 0, next(4) == 0);
            // Where nothing was taken, every block that was passed is settled.
            let taken = taken || !passed.is_within(&settled);
            let (func, frame) = (0, Some(0));
            let call = Call { func, frame, live, passed, settled, joins, taken, before_exit, returned };
            Needs { calls: vec![call], live: memory, read, saved, unplaced, any, exit: exits.then_some((at_exit, changed)) }
        };
        (0..count).map(|_| one()).collect()
    }

    #[test]
    fn live_in_sets_are_ordered_and_joined() {
        // Joins are comparable with what they join.
        let mut all = random_needs(120);
        for level in 0..2 {
            let joined: Vec<Needs> = all.windows(2 + level).filter_map(|few| few[0].join(&few[1 + level])).take(60).collect();
            all.extend(joined);
        }
        let mut comparable = 0;
        for a in &all {
            assert!(a.within(a));
            for b in &all {
                let Some(both) = a.join(b) else {
                    assert!(a.exit.is_some() != b.exit.is_some() && !a.within(b));
                    continue;
                };
                assert!(a.within(&both) && b.within(&both), "a join is an upper bound");
                for c in all.iter().filter(|c| b.within(c)) {
                    comparable += usize::from(a.within(b));
                    assert!(!a.within(b) || a.within(c), "the order is transitive");
                }
            }
        }
        assert!(comparable > 500, "{comparable} comparable triples");
    }

    #[test]
    fn what_was_noted_of_a_subtree_grows() {
        let known = Known::default();
        let needs = |slot: u32, any: bool| Needs {
            calls: vec![call(&[slot], &[], &[], true)],
            live: Live::default(),
            read: Live::default(),
            saved: BitSet::default(),
            unplaced: false,
            any,
            exit: None,
        };
        assert!(known.note(7, needs(1, false)) && !known.note(7, needs(1, false)));
        assert!(known.note(7, needs(2, true)) && !known.note(7, needs(1, true)) && known.note(8, needs(1, false)));
        let exits = Needs { exit: Some((Live::default(), false)), ..needs(1, false) };
        assert!(known.note(7, exits.clone()) && !known.note(7, exits), "ends of another kind are noted beside");
        assert_eq!(known.take(7).map(|needs| needs.len()), Some(2));
        assert!(known.take(7).is_none() && known.noted(8, <[Needs]>::len) == 1);
    }

    #[test]
    fn places_keep_the_last_walks() {
        let known = Known::default();
        let place = PrefixId::default();
        let needs = |slot: u32| Needs {
            calls: vec![call(&[slot], &[], &[], true)],
            live: Live::default(),
            read: Live::default(),
            saved: BitSet::default(),
            unplaced: false,
            any: true,
            exit: None,
        };
        assert!(!known.covers(place, &needs(1)));
        (1..=4).for_each(|slot| known.add(place, needs(slot)));
        assert!(!known.covers(place, &needs(1)) && (2..=4).all(|slot| known.covers(place, &needs(slot))));
    }
}
