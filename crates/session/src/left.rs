//! What is left of a run, written from time to time, so that another run can go on (`--resume`).
//!
//! The tables `pending` and `deferred` get what has changed since they were last written. In the same transaction the fact `rest` says how far the run was
//! then ([`SoFar`]). What came after it is done again. Rows of paths that ended before it are in the database before it. Cost: the names of all that is pending
//! are compared each time; the pauses grow with what that takes.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wryneck_exec::prefix::PrefixId;
use wryneck_exec::{Core, Deferral, Explorer};
use wryneck_report::{LedgerRow, Totals};

/// Time before the first writing, and between two.
const PAUSE: Duration = Duration::from_millis(300);
/// The part of a run's time that writing takes, at most: one in so many.
const SHARE: u32 = 30;

/// What writing one pending path takes: following its decisions through memory, most of it (measured: 4.6 µs, the writer's own thread 1 µs).
const EACH: Duration = Duration::from_micros(6);

/// What writing so many pending paths takes.
pub fn cost(pending: usize) -> Duration {
    EACH.saturating_mul(u32::try_from(pending).unwrap_or(u32::MAX))
}

/// How far a run was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SoFar {
    /// Rows of paths.
    pub paths: u64,
    /// The rows of paths that the end of the run cut off: they are pending.
    pub cut: Vec<u64>,
    pub tests: u64,
    pub tests_left_out: u64,
    /// For each finding, the paths that showed it.
    pub counts: Vec<u64>,
    /// The engine's.
    pub ledger: Vec<LedgerRow>,
    pub totals: Totals,
    /// Of the rules: for each, the paths that had to do with it; and the distinct sequences of events.
    pub relevant: Vec<u64>,
    pub sequences: BTreeSet<String>,
    /// Relevant flips, and those that were subsumed.
    pub wanted: u64,
    pub subsumed: u64,
    #[serde(flatten)]
    pub covered: Covered,
}

/// Of bitcode: what paths entered, as runs of what they did and did not, beginning with what they did not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Covered {
    blocks: Vec<u32>,
    /// Sides of branches.
    sides: Vec<u32>,
}

impl Covered {
    /// What the engine's paths entered.
    pub fn of(core: &Core) -> Covered {
        // Machine code is numbered as it is lowered.
        let is_known = core.code_source.is_none();
        if is_known { Covered { blocks: runs(&core.coverage), sides: runs(core.sides.taken()) } } else { Covered::default() }
    }

    /// What any of these has.
    pub fn either<'a>(all: impl Iterator<Item = &'a Covered> + Clone) -> Covered {
        Covered { blocks: either(all.clone().map(|one| &*one.blocks)), sides: either(all.map(|one| &*one.sides)) }
    }

    /// Has the engine take it for entered.
    pub fn restore(&self, core: &mut Core) {
        set_runs(&mut core.coverage, &self.blocks);
        let sides = length(&self.sides);
        if sides <= core.image.edges as usize {
            set_runs(core.sides.taken_mut(sides), &self.sides);
        }
    }
}

/// The number of a row.
type Row = i64;

/// Changes of the tables.
pub struct Changes {
    pub gone: Vec<Row>,
    /// Prefixes and inputs.
    pub new: Vec<(Row, Vec<u8>, Vec<u8>)>,
    pub no_longer_deferred: Vec<Row>,
    pub deferred: Vec<(Row, Deferral)>,
}

/// Knows what the tables have.
pub struct Left {
    pending: Rows<PrefixId>,
    deferred: Rows<Deferral>,
    next: Instant,
}

/// The rows of a table by the names of what is in them.
struct Rows<N> {
    all: FxHashMap<N, Row>,
    /// The last row, and the distance to the next: the rows of several workers are different ones.
    last: Row,
    step: Row,
}

impl<N: Eq + Hash> Rows<N> {
    fn new(worker: u32, of: u32) -> Rows<N> {
        let step = Row::from(of.max(1));
        Rows { all: FxHashMap::default(), last: Row::from(worker) + 1 - step, step }
    }

    /// Has the table have these, of which `give` is given what is new with its row; gives the rows that go.
    fn become_these<T>(&mut self, these: impl Iterator<Item = T>, name: impl Fn(&T) -> N, mut give: impl FnMut(Row, &T)) -> Vec<Row> {
        let mut before = std::mem::take(&mut self.all);
        self.all.reserve(before.len());
        for this in these {
            let (last, step) = (&mut self.last, self.step);
            self.all.entry(name(&this)).or_insert_with_key(|name| {
                before.remove(name).unwrap_or_else(|| {
                    *last += step;
                    give(*last, &this);
                    *last
                })
            });
        }
        let mut gone: Vec<Row> = before.into_values().collect();
        gone.sort_unstable();
        gone
    }
}

impl Left {
    /// Of the worker of this number, of so many.
    pub fn new(now: Instant, worker: u32, of: u32) -> Left {
        Left { pending: Rows::new(worker, of), deferred: Rows::new(worker, of), next: now + PAUSE }
    }

    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// What has changed.
    pub fn changes(&mut self, explorer: &Explorer) -> Changes {
        let start = Instant::now();
        let (mut new, mut deferred) = (Vec::new(), Vec::new());
        let gone = self.pending.become_these(
            explorer.left(),
            |left| left.id,
            |row, left| {
                let (prefix, input) = left.encoded();
                new.push((row, prefix, input));
            },
        );
        let no_longer_deferred = self.deferred.become_these(explorer.deferred(), |name| *name, |row, name| deferred.push((row, *name)));
        self.next = Instant::now() + PAUSE.max(start.elapsed() * SHARE);
        Changes { gone, new, no_longer_deferred, deferred }
    }
}

/// Runs of 0 and of other values, in turn.
fn runs(bytes: &[u8]) -> Vec<u32> {
    let (mut runs, mut is_set) = (vec![0], false);
    for byte in bytes {
        if (*byte != 0) != is_set {
            is_set = !is_set;
            runs.push(0);
        }
        *runs.last_mut().expect("one is there") += 1;
    }
    runs
}

/// The [`runs`] of what any of these has set.
fn either<'a>(all: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let all: Vec<&[u32]> = all.filter(|runs| !runs.is_empty()).collect();
    let Some(most) = all.iter().map(|runs| length(runs)).max() else { return Vec::new() };
    let mut bytes = vec![0; most];
    all.iter().for_each(|one| set_runs(&mut bytes[..length(one)], one));
    runs(&bytes)
}

/// Of how many bytes runs are.
fn length(runs: &[u32]) -> usize {
    runs.iter().map(|run| *run as usize).sum()
}

/// Sets the bytes that [`runs`] says were set, if it is of so many.
fn set_runs(bytes: &mut [u8], runs: &[u32]) {
    if length(runs) != bytes.len() {
        return;
    }
    let mut at = 0;
    for (turn, run) in runs.iter().enumerate() {
        let end = at + *run as usize;
        if turn % 2 == 1 {
            bytes[at..end].fill(1);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_give_the_bytes_again() {
        for bytes in [&[][..], &[0], &[1], &[0, 0, 1, 1, 0], &[1, 0, 1, 0, 0, 0, 1]] {
            let mut again = vec![0; bytes.len()];
            set_runs(&mut again, &runs(bytes));
            assert_eq!(again, bytes);
        }
        let mut other = [0; 3];
        set_runs(&mut other, &runs(&[1, 1]));
        assert_eq!(other, [0; 3], "they are of another program");
    }
}
