//! What a run says of each rule it checked (paper 1).

use serde::{Deserialize, Serialize};

use crate::run::{Run, Status};
use crate::terminal::plural;

/// A rule's verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleResult {
    pub id: String,
    /// What must hold.
    pub summary: String,
    pub verdict: Verdict,
    /// Paths on which at least one event of the rule happened.
    pub relevant: u64,
    /// What the verdict rests on, or what is missing for one.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Every path within the bounds of the input keeps the rule, and at least one had an event.
    Verified,
    Violated,
    Incomplete,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Verified => "VERIFIED",
            Verdict::Violated => "VIOLATED",
            Verdict::Incomplete => "INCOMPLETE",
        }
    }
}

/// What findings of a rule's violations are called: apart from faults that have the same name.
pub fn kind(id: &str) -> String {
    format!("rule:{id}")
}

impl RuleResult {
    /// Judges a rule by the rest of the run.
    pub fn new(run: &Run, id: &str, summary: &str, relevant: u64) -> RuleResult {
        let findings = run.findings.iter().filter(|f| f.kind.id == kind(id)).count();
        let (verdict, why) = match &run.status {
            _ if findings > 0 => (Verdict::Violated, format!("{}, see above", plural(findings as u64, "violation"))),
            Status::Complete if run.is_complete() && relevant > 0 => (Verdict::Verified, "on every input within the bounds".into()),
            Status::Complete if run.is_complete() => (Verdict::Incomplete, "no path has an event of this rule".into()),
            Status::Complete => (Verdict::Incomplete, "some paths were not followed to their end or were left out, see the ledger".into()),
            Status::Stopped { limit, .. } => (Verdict::Incomplete, format!("stopped: {limit}")),
            Status::Unfinished => (Verdict::Incomplete, "the run has not ended".into()),
        };
        RuleResult { id: id.into(), summary: summary.into(), verdict, relevant, why }
    }
}
