//! What a run says of each rule it checked (paper 1).

use serde::{Deserialize, Serialize};

use crate::run::{Finding, Native, Run, Status};
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
    /// What the verdict takes for granted, besides the bounds of the input.
    #[serde(default)]
    pub assumptions: Vec<String>,
}

/// A rule as a run checked it.
pub struct Checked<'a> {
    pub id: &'a str,
    pub summary: &'a str,
    /// Paths with an event of it.
    pub relevant: u64,
    /// A function whose calls are its events occurs in the program.
    pub occurs: bool,
    /// What the run takes for granted by its options.
    pub assumptions: &'a [&'a str],
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

/// Entries of the ledger that mean a path went on with a guess.
const GUESSED: &[&str] = &["undefined-function", "unknown-system-call"];

/// Kinds of faults that end the native program, too, or that are found at its end, sorted. After any other the machine may go on.
const ENDS: &[&str] = &[
    "abort", "assertion-failed", "deadlock", "division-by-zero", "division-overflow", "memory-leak", "null-dereference", "panic",
    "read-only-write", "reported", "stack-overflow", "trap", "uncaught-exception",
];

/// Whether a finding ends its path where the native program may go on, and no replay has shown the fault.
pub(crate) fn may_go_on(finding: &Finding) -> bool {
    let fault = &finding.kind.id;
    !fault.starts_with("rule:") && !ENDS.contains(&fault.as_str()) && finding.native != Some(Native::Reproduced)
}

impl RuleResult {
    /// Judges a rule by the rest of the run.
    pub fn new(run: &Run, rule: &Checked<'_>) -> RuleResult {
        let Checked { id, summary, relevant, .. } = *rule;
        let ledger = |kinds: &[&str]| run.ledger.iter().any(|row| kinds.contains(&row.kind.as_str()));
        let of_rule = |denied: bool| run.findings.iter().filter(|f| f.kind.id == kind(id) && f.is_denied() == denied).count();
        let (findings, denied) = (of_rule(false), of_rule(true));
        // Natively those paths go on.
        let cut_short = run.findings.iter().filter(|f| f.is_denied()).count();
        let unknown = run.findings.iter().filter(|f| may_go_on(f)).count();
        let (verdict, why) = match &run.status {
            _ if findings > 0 => (Verdict::Violated, format!("{}, see above", plural(findings as u64, "violation"))),
            _ if denied > 0 => {
                (Verdict::Incomplete, format!("the native program denies {}, see above", plural(denied as u64, "violation")))
            }
            _ if cut_short > 0 => {
                (Verdict::Incomplete, format!("the native program denies {}, see above", plural(cut_short as u64, "finding")))
            }
            _ if run.pruning.as_ref().is_some_and(|pruning| !pruning.lost.is_empty()) => {
                (Verdict::Incomplete, "pruning lost a sequence of events, which is a defect of wryneck: please report it".into())
            }
            Status::Complete if ledger(GUESSED) => (Verdict::Incomplete, "some calls have no model, see the ledger".into()),
            Status::Complete if run.is_complete_as_assumed() && unknown > 0 => {
                (Verdict::Incomplete, format!("paths end at {} but may go on natively, see above", plural(unknown as u64, "fault")))
            }
            Status::Complete if run.is_complete_as_assumed() && relevant > 0 => {
                (Verdict::Verified, "on every input within the bounds".into())
            }
            Status::Complete if run.is_complete_as_assumed() && !rule.occurs => {
                let why = "none of its functions occurs in the program: they may have other names there, or be inlined";
                (Verdict::Incomplete, why.into())
            }
            Status::Complete if run.is_complete_as_assumed() => (Verdict::Incomplete, "no path has an event of this rule".into()),
            Status::Complete if ledger(&["contradicted-fact"]) => {
                let why = "a path contradicts what its slice rests on, see the ledger: a defect of wryneck, please report it";
                (Verdict::Incomplete, why.into())
            }
            Status::Complete => (Verdict::Incomplete, "some paths were not followed to their end or were left out, see the ledger".into()),
            Status::Stopped { limit, .. } => (Verdict::Incomplete, format!("stopped: {limit}")),
            Status::Unfinished => (Verdict::Incomplete, "the run has not ended".into()),
        };
        RuleResult { id: id.into(), summary: summary.into(), verdict, relevant, why, assumptions: assumptions(run, rule) }
    }
}

/// What a verdict takes for granted: by the run's options, by what was pruned, and what the ledger lists.
fn assumptions(run: &Run, rule: &Checked<'_>) -> Vec<String> {
    let pruned = run.pruning.as_ref().is_some_and(|pruning| pruning.never.is_some_and(|never| never > 0));
    let ends = pruned.then_some("code that was pruned ends without a fault");
    let listed = run.ledger.iter().filter(|row| row.kind == "assumption").map(|row| row.what.clone());
    rule.assumptions.iter().copied().chain(ends).map(str::to_owned).chain(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::golden;
    use crate::run::{Class, EndCount, LedgerRow};

    #[test]
    fn only_a_complete_run_with_an_event_verifies() {
        let ends = vec![EndCount { class: Class::Exit, what: "0".into(), count: 2 }];
        let clean = Run { status: Status::Complete, findings: vec![], ends, ledger: vec![], ..golden() };
        let judged = |run: &Run, relevant, occurs| {
            RuleResult::new(run, &Checked { id: "r", summary: "s", relevant, occurs, assumptions: &["one thread"] })
        };
        let verdict = |run: &Run, relevant| judged(run, relevant, true).verdict;
        assert!(judged(&clean, 0, false).why.contains("occurs"));
        let assumed = LedgerRow { kind: "assumption".into(), what: "a clock".into(), count: 1, flag: String::new() };
        assert_eq!(judged(&Run { ledger: vec![assumed], ..clean.clone() }, 1, true).assumptions, ["one thread", "a clock"]);
        assert_eq!(verdict(&clean, 1), Verdict::Verified);
        assert_eq!(verdict(&clean, 0), Verdict::Incomplete);
        assert_eq!(verdict(&golden(), 1), Verdict::Incomplete);
        for kind in ["undefined-function", "unknown-system-call", "dropped-flip", "solver-timeout", "contradicted-fact"] {
            let row = LedgerRow { kind: kind.into(), what: "x".into(), count: 1, flag: String::new() };
            assert_eq!(verdict(&Run { ledger: vec![row], ..clean.clone() }, 1), Verdict::Incomplete, "{kind}");
        }
        let mut found = golden().findings;
        found[0].kind.id = kind("r");
        assert_eq!(verdict(&Run { findings: found.clone(), ..clean.clone() }, 1), Verdict::Violated);
        found[0].native = Some(crate::run::Native::NotReproduced("exit 0".into()));
        assert_eq!(verdict(&Run { findings: found, ..clean }, 1), Verdict::Incomplete);
    }

    #[test]
    fn a_path_that_may_go_on_after_its_fault_is_not_verified() {
        let ends = vec![EndCount { class: Class::Exit, what: "0".into(), count: 2 }];
        let clean = Run { status: Status::Complete, ends, ledger: vec![], ..golden() };
        let verdict = |fault: &str, native: Option<Native>| {
            let mut found = golden().findings;
            found.truncate(1);
            found[0].kind.id = fault.into();
            found[0].native = native;
            let checked = Checked { id: "r", summary: "s", relevant: 1, occurs: true, assumptions: &[] };
            RuleResult::new(&Run { findings: found, ..clean.clone() }, &checked).verdict
        };
        let why = || "no source".to_owned();
        for native in [Native::Inconclusive(why()), Native::NotReplayable(why()), Native::NotReplayed(why())] {
            assert_eq!(verdict("out-of-bounds-read", Some(native.clone())), Verdict::Incomplete, "{native:?}");
            assert_eq!(verdict("abort", Some(native.clone())), Verdict::Verified, "{native:?}");
        }
        assert_eq!(verdict("out-of-bounds-write", None), Verdict::Incomplete);
        assert_eq!(verdict("out-of-bounds-read", Some(Native::Reproduced)), Verdict::Verified);
        assert_eq!(verdict("abort", Some(Native::NotReproduced(why()))), Verdict::Incomplete);
        assert!(ENDS.is_sorted());
    }
}
