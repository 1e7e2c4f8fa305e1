//! Where flips began and their live-in sets, so that flips in subsumed states are skipped ([`wryneck_exec::subsume`]).
//!
//! A live-in set has slots of frames, bytes of memory, and what calls with a summary read. Environment cells have no value to compare;
//! the environment's whole data is part of the program point instead. Values are compared by structural hashes.

use std::any::Any;
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::SubtreeId;
use wryneck_exec::digest::Digest;
use wryneck_exec::ground::memory::page::Byte;
use wryneck_exec::{Continuations, State, Subsumer, Traced, Wanted};
use wryneck_expr::{ExprId, Pool};

use super::needs::Needs;
use super::recent::Recent;
use super::{Front, PathSlicer};

/// A live-in set: slots by frame, and bytes of memory (addresses and lengths), each ascending.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Parts {
    slots: Vec<(u32, u32)>,
    bytes: Vec<(u64, u64)>,
}

impl Parts {
    fn of(needs: &[Needs]) -> Parts {
        let (mut slots, mut bytes) = (Vec::new(), super::live::Live::default());
        for needs in needs {
            for call in &needs.calls {
                slots.extend(call.frame.into_iter().flat_map(|frame| call.live.iter().map(move |slot| (frame, slot))));
            }
            let innermost = needs.calls.last().and_then(|call| call.frame);
            slots.extend(innermost.into_iter().flat_map(|frame| needs.saved.iter().map(move |slot| (frame, slot))));
            bytes.add_all(&needs.live);
            bytes.add_all(&needs.read);
        }
        slots.sort_unstable();
        slots.dedup();
        Parts { slots, bytes: bytes.bytes() }
    }

    fn slot(state: &State, frame: u32, slot: u32, pool: &Pool) -> Option<(u128, u8)> {
        let frame = state.frames.get(frame as usize)?;
        let (value, tag) = frame.slot(slot as usize)?;
        Some(if tag == 0 { (value.into(), 0) } else { (pool.digest(ExprId::from_raw(value as u32)), 1) })
    }

    fn byte(state: &State, address: u64, pool: &Pool) -> (u128, u16) {
        match state.memory.space.byte(address) {
            Byte::Concrete(byte) => (byte.into(), 0),
            Byte::Dead => (0, 1),
            Byte::Uninitialised => (0, 2),
            Byte::Symbolic { expr, index } => (pool.digest(expr), 3 + index),
        }
    }

    /// A hash of the values of this live-in set in a state.
    fn values(&self, state: &State, pool: &Pool) -> u128 {
        let mut h = Digest::default();
        for (frame, slot) in &self.slots {
            Parts::slot(state, *frame, *slot, pool).hash(&mut h);
        }
        for (address, len) in &self.bytes {
            (*address..address + len).for_each(|byte| Parts::byte(state, byte, pool).hash(&mut h));
        }
        h.digest()
    }

    fn are_equal(&self, a: &State, b: &State, pool: &Pool) -> bool {
        self.slots.iter().all(|(frame, slot)| Parts::slot(a, *frame, *slot, pool) == Parts::slot(b, *frame, *slot, pool))
            && self
                .bytes
                .iter()
                .all(|(address, len)| (*address..address + len).all(|byte| Parts::byte(a, byte, pool) == Parts::byte(b, byte, pool)))
    }
}

/// A complete subtree: its live-in set, and the constraints of its unsat cores, by their hashes.
struct Entry {
    needs: Rc<Vec<Needs>>,
    cores: Vec<u128>,
}

/// Complete subtrees of one program point, by live-in set, then by the hash of its values.
type Entries = BTreeMap<Parts, FxHashMap<u128, Vec<Rc<Entry>>>>;

/// The most live-in sets that are cached of one program point.
const KINDS: usize = 64;
/// New entries after which older ones are forgotten. An entry takes a few kilobytes.
const ENTRIES: usize = 1 << 15;

/// The complete subtrees by program point. Of many, the most recently added or found ones are remembered.
#[derive(Default)]
pub struct Complete {
    places: Recent<u128, Entries>,
    /// New entries.
    count: usize,
}

impl Complete {
    fn add(&mut self, place: u128, parts: Parts, values: u128, entry: Rc<Entry>) {
        if self.count == ENTRIES {
            self.places.age();
            self.count = 0;
        }
        let kinds = self.places.new.entry(place).or_default();
        if kinds.len() < KINDS || kinds.contains_key(&parts) {
            kinds.entry(parts).or_default().entry(values).or_default().push(entry);
            self.count += 1;
        }
    }
}

impl<F: Front> Continuations for PathSlicer<F> {
    fn may_equal(&self, subtree: SubtreeId, began: &State, state: &State, pool: &Pool) -> bool {
        self.known.noted(subtree, Parts::of).are_equal(began, state, pool)
    }

    fn complete(&self, subtree: SubtreeId, place: Option<u128>, began: &State, pool: &Pool, cores: Vec<u128>) {
        let (Some(needs), Some(place)) = (self.known.take(subtree), place) else { return };
        let parts = Parts::of(&needs);
        let values = parts.values(began, pool);
        self.complete.borrow_mut().add(place, parts, values, Rc::new(Entry { needs: Rc::new(needs), cores }));
    }

    fn noted(&self, subtree: SubtreeId) -> Rc<dyn Any> {
        self.known.noted(subtree, |needs| Rc::new(needs.to_vec()))
    }

    fn find(&self, place: u128, state: &State, cond: ExprId, pool: &Pool) -> Option<Subsumer> {
        let mut complete = self.complete.borrow_mut();
        let hashes: LazyCell<FxHashMap<u128, u32>, _> = LazyCell::new(|| {
            let all = state.path.constraints().into_iter().zip(0..);
            let since = pool.conjuncts(cond).into_iter().map(|part| (part, state.path.len() as u32));
            since.chain(all).map(|(constraint, index)| (pool.digest(constraint), index)).collect()
        });
        let constraints = |entry: &Entry| entry.cores.iter().map(|hash| hashes.get(hash).copied()).collect::<Option<Vec<u32>>>();
        // The iterator borrows `complete`: it is gone before the entry is added again.
        let found = complete.places.at(&place).flat_map(|(entries, is_old)| entries.iter().map(move |kind| (kind, is_old))).find_map(
            |((parts, by_values), is_old)| {
                let values = parts.values(state, pool);
                let mut alike = by_values.get(&values).into_iter().flatten();
                let (constraints, entry) = alike.find_map(|entry| Some((constraints(entry)?, entry)))?;
                Some((parts.clone(), values, is_old, constraints, entry.clone()))
            },
        );
        let (parts, values, is_old, constraints, entry) = found?;
        let needs = entry.needs.clone();
        if is_old {
            complete.add(place, parts, values, entry);
        }
        Some(Subsumer { constraints, needs })
    }

    fn resume(&self, needs: &dyn Any, path: &Traced<'_>) -> Result<Wanted, String> {
        let Some(all_needs) = needs.downcast_ref::<Vec<Needs>>() else {
            return Err("what is needed of a path is not known".into());
        };
        let mut all = Wanted { decisions: Vec::new(), settled: true, noted: !all_needs.is_empty() };
        for needs in all_needs {
            let wanted = self.front.slice(&self.known, path, Some(needs), &mut |_, _| {}).map_err(|mismatch| mismatch.to_string())?;
            all.decisions.extend(wanted.decisions);
            all.settled &= wanted.settled;
            all.noted &= wanted.noted;
        }
        Ok(all)
    }
}
