//! What a worker gives back, as plain data: no expression, no shared reference, no place in its memory (docs/design/013).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use wryneck_exec::Outcome;
use wryneck_exec::prefix::PrefixId;
use wryneck_report::{Class, Finding, LedgerRow, Lines, Object, Pruning, Totals};

use crate::coverage::{FunctionRow, LineRow};
use crate::decided::Decisions;
use crate::left::{Changes, Covered};
use crate::results::PlaceKey;

/// A path that ended.
pub struct PathReport {
    /// Names its decisions.
    pub id: PrefixId,
    pub class: Class,
    /// What it is within its class.
    pub what: Arc<str>,
    /// The end of the run cut it off: it is left.
    pub cut: bool,
    pub instructions: u64,
    /// Decisions.
    pub depth: u32,
    /// Symbolic inputs.
    pub inputs: u64,
    pub approximated: bool,
    /// The name of the goal's word that it has reached, by number.
    pub reached: Option<u32>,
    /// It entered code, or took a side of a branch, that no path of this worker had.
    pub covers_new: bool,
    /// The blocks that its worker has entered since the last report of such a path, and the sides, by their names ([`crate::recorder`]). Of a worker alone: none.
    pub entered: Vec<u64>,
    /// What it showed that is wrong, in its order.
    pub shown: Vec<Shown>,
    /// Its decisions and its test. Only where the collector may want them: its worker knows nothing like it.
    pub decisions: Option<Decisions>,
    pub test: Option<Box<Outline>>,
}

/// A test but for its number and its command line.
pub struct Outline {
    pub objects: Vec<Object>,
    /// What the `.json` says beside the objects.
    pub about: Value,
}

/// Something wrong that a path showed.
pub struct Shown {
    /// Its worker's number for all that is like it.
    pub number: u32,
    /// Where it is the first of that number.
    pub first: Option<Box<(Finding, PlaceKey)>>,
}

/// What a worker knows of itself so far.
#[derive(Default)]
pub struct Interim {
    /// Its own, without those of an earlier run.
    pub totals: Totals,
    pub solver: Duration,
    pub pending: usize,
    pub ledger: Vec<LedgerRow>,
    /// Snapshots were given up, so the order of paths depends on memory.
    pub short_of_memory: bool,
    /// The share of code that was entered, from 0 to 1.
    pub share: f64,
    /// Lines with code, and those whose state has changed, as functions; if that was asked for.
    pub lines: Option<(Lines, Vec<LineRow>, Vec<FunctionRow>)>,
}

/// What is left to explore, with what the rules and the coverage are where only that is left.
pub struct Rest {
    pub changes: Changes,
    pub rules: RulesSoFar,
    pub covered: Covered,
}

/// What a worker's rules came to, those of an earlier run among it.
#[derive(Clone, Debug, Default)]
pub struct RulesSoFar {
    pub relevant: Vec<u64>,
    pub sequences: BTreeSet<String>,
    pub wanted: u64,
    pub subsumed: u64,
}

/// How an exploration of a worker ended.
pub struct Explored {
    pub outcome: Outcome,
    pub pending: usize,
}

/// What there is to say when all is explored.
#[derive(Default)]
pub struct Ends {
    pub notes: Vec<String>,
    pub rules: Option<RulesEnd>,
}

impl Ends {
    /// Adds what another worker has to say.
    pub fn add(&mut self, other: Ends) {
        if let (Some(own), Some(its)) = (&mut self.rules, other.rules) {
            own.add(its);
        }
    }
}

/// What rules came to at the end.
pub struct RulesEnd {
    pub so_far: RulesSoFar,
    /// By rule: its name, what must hold, and whether it can be broken at all.
    pub rules: Vec<(String, String, bool)>,
    pub pruning: Pruning,
    pub calls_fail: bool,
}
