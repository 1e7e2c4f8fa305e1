//! What a run knows so far, shared between the thread that explores and the watchdog, which tells it where the run is cut off.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use wryneck_report::{Checked, Finding, Goal, LedgerRow, Lines, Native, Pruning, RuleResult, Run, Status, Totals};

use crate::allocator;
use crate::budget::Cause;
use crate::results::Ends;
use crate::usage;

/// What is known.
#[derive(Default)]
pub struct Facts {
    pub command: Vec<String>,
    pub folder: String,
    pub ends: Ends,
    pub findings: Vec<Finding>,
    pub ledger: Vec<LedgerRow>,
    pub totals: Totals,
    pub lines: Lines,
    /// Paths that are left to explore.
    pub pending: u64,
    /// By rule: its name, what must hold, paths that had to do with it.
    pub rules: Vec<(String, String, u64)>,
    /// How the exploration ended, if it has.
    pub status: Option<Status>,
    pub pruning: Option<Pruning>,
    pub goal: Option<Goal>,
    /// Findings are to be replayed.
    pub replays: bool,
}

/// The facts, shared.
#[derive(Clone, Default)]
pub struct Known(Arc<Mutex<Facts>>);

impl Known {
    /// Changes the facts, or reads them.
    pub fn with<T>(&self, change: impl FnOnce(&mut Facts) -> T) -> T {
        allocator::undisturbed(|| change(&mut self.lock()))
    }

    fn lock(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run as it is known, ended by `cause` while it did `work`.
    pub fn cut_off(&self, began: Instant, cause: Cause, work: &str) -> Run {
        let facts = self.lock();
        let (limit, flag) = limit(cause);
        let mut ledger = facts.ledger.clone();
        ledger.push(cut_off(work, 1, cause));
        let stopped = || Status::Stopped { limit: limit.into(), flag: flag.into(), pending: facts.pending.max(1) };
        let mut findings = facts.findings.clone();
        if facts.replays {
            for finding in findings.iter_mut().filter(|f| f.native.is_none()) {
                finding.native = Some(Native::NotReplayed(cause.shown()));
            }
        }
        let mut run = Run {
            command: facts.command.clone(),
            folder: facts.folder.clone(),
            status: facts.status.clone().unwrap_or_else(stopped),
            seconds: began.elapsed().as_secs_f64(),
            ends: facts.ends.rows(),
            findings,
            ledger,
            totals: Totals { memory: usage::peak(), ..facts.totals.clone() },
            lines: facts.lines.clone(),
            rules: Vec::new(),
            pruning: facts.pruning.clone(),
            goal: facts.goal.clone(),
        };
        // A run that was cut off verifies nothing, so its verdicts assume nothing.
        let verdict = |(id, summary, relevant): &(String, String, u64)| {
            RuleResult::new(&run, &Checked { id, summary, relevant: *relevant, occurs: true, assumptions: &[] })
        };
        run.rules = facts.rules.iter().map(verdict).collect();
        run
    }
}

/// The limit's name, and the flag that changes it.
fn limit(cause: Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::Time => ("time", "--max-time"),
        Cause::Memory => ("memory", "--max-memory"),
        Cause::Interrupted => ("interrupted", ""),
    }
}

/// The row of the ledger that says what was given up.
pub fn cut_off(work: &str, count: u64, cause: Cause) -> LedgerRow {
    let (name, flag) = limit(cause);
    LedgerRow { kind: "cut-off".into(), what: format!("{work} ({name})"), count, flag: flag.into() }
}
