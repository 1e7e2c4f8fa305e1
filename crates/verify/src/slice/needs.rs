//! What walks need of the part of a path before a place: paths that share that part and need no more of it settle nothing new there.
//!
//! A walk with less behind it finds less: what is live only adds to what matters, so does what was taken. So a walk may stop where an
//! earlier one passed that needed all that it needs. Cost: a few sets for each place whose other sides wait.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use wryneck_exec::prefix::PrefixId;

use super::live::Live;
use crate::flow::BitSet;

/// Walks that are remembered of one place.
const KEPT: usize = 3;

/// What a walk needs of a call in progress.
#[derive(Clone)]
pub struct Call {
    pub func: u32,
    /// Slots.
    pub live: BitSet,
    /// Beginnings of blocks that were passed, and those of them behind which nothing was taken.
    pub passed: BitSet,
    pub settled: BitSet,
    /// Of these, those that an edge copied a live slot into: what is live at their beginnings.
    pub joins: FxHashMap<u32, BitSet>,
    /// Something was taken that branches without a join after it ask for.
    pub taken: bool,
    pub returned: bool,
}

impl Call {
    /// Whether no branch of the call is kept here that `other` does not keep.
    fn within(&self, other: &Call) -> bool {
        // Branches whose join was not passed ask whether the call returned.
        let ends = self.returned || !other.returned && other.passed.is_within(&self.passed);
        let meets = |block: u32| if self.passed.contains(block) { self.settled.contains(block) } else { !self.taken };
        let taken = match other.taken {
            true => other.settled.iter().all(meets),
            false => !self.taken && self.passed.is_within(&self.settled),
        };
        self.func == other.func
            && self.live.is_within(&other.live)
            && ends
            && taken
            // What is live at other blocks is what is live here.
            && self.joins.keys().chain(other.joins.keys()).all(|join| !self.settled.contains(*join) || self.meets_as(other, *join))
    }

    /// Whether a branch with this join, behind which nothing was taken, is not kept for what is live there unless `other` keeps it.
    fn meets_as(&self, other: &Call, join: u32) -> bool {
        let (mine, theirs) = (self.joins.get(&join), other.joins.get(&join));
        match other.passed.contains(join) {
            true if other.settled.contains(join) => mine.unwrap_or(&self.live).is_within(theirs.unwrap_or(&other.live)),
            true => true,
            false => other.taken || mine.is_none(),
        }
    }
}

/// What a walk needs of all that is before a place.
pub struct Needs {
    /// Outermost first.
    pub calls: Vec<Call>,
    pub live: Live,
    /// Something was taken.
    pub any: bool,
    /// No event happens before the path calls `exit`: what is live there, and whether some of it was changed on the way.
    pub exit: Option<(Live, bool)>,
}

impl Needs {
    fn within(&self, other: &Needs) -> bool {
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
    }
}

/// By the decisions before a place: what the last walks that passed it needed.
#[derive(Default)]
pub struct Known {
    walks: RefCell<FxHashMap<PrefixId, Vec<Needs>>>,
}

impl Known {
    /// Whether an earlier walk needed all this.
    pub fn covers(&self, place: PrefixId, needs: &Needs) -> bool {
        self.walks.borrow().get(&place).is_some_and(|walks| walks.iter().any(|other| needs.within(other)))
    }

    /// A walk that is to go on to the oldest undecided decision passed a place.
    pub fn add(&self, place: PrefixId, needs: Needs) {
        let mut walks = self.walks.borrow_mut();
        let walks = walks.entry(place).or_default();
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
        Call { func: 0, live: set(live), passed: set(passed), settled: set(settled), joins: FxHashMap::default(), taken, returned: true }
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
    fn places_keep_the_last_walks() {
        let known = Known::default();
        let place = PrefixId::default();
        let needs = |slot: u32| Needs { calls: vec![call(&[slot], &[], &[], true)], live: Live::default(), any: true, exit: None };
        assert!(!known.covers(place, &needs(1)));
        (1..=4).for_each(|slot| known.add(place, needs(slot)));
        assert!(!known.covers(place, &needs(1)) && (2..=4).all(|slot| known.covers(place, &needs(slot))));
    }
}
