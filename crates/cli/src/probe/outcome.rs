//! What the probe of one function found, as plain data: a line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::Seen;

/// How far a probe came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every path of the inputs that are made was explored.
    Exhausted,
    /// A bound ended it, or some paths.
    Bounded,
    /// No path could be explored.
    Unsupported,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    Must,
    May,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub function: String,
}

/// What a native run of the harness showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result", content = "why")]
pub enum Native {
    Reproduced,
    NotReproduced(String),
    NotRun(String),
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: String,
    pub cwe: u16,
    pub grade: Grade,
    pub message: String,
    /// Innermost first; never empty.
    pub stack: Vec<Place>,
    /// Why it is only a may error.
    pub why: Vec<String>,
    /// The inputs, as C.
    pub inputs: Vec<String>,
    /// What they satisfy, as C conditions.
    pub precondition: Vec<String>,
    /// Calls that its path did not follow, and what else its path assumed.
    pub ledger: Vec<String>,
    /// The harness's text, or why there is none.
    pub harness: Result<String, String>,
    pub native: Native,
    /// Paths that showed it.
    pub paths: u64,
    /// Functions whose probes showed it.
    pub seen_from: Vec<String>,
}

/// The probe of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub function: String,
    pub status: Status,
    /// What bounded it, with the number of paths.
    pub bounded: BTreeMap<String, u64>,
    /// What is unsupported, with the number of paths.
    pub unsupported: BTreeMap<String, u64>,
    pub paths: u64,
    /// Paths that returned from the function, or exited.
    pub complete: u64,
    /// Paths by the number of places at which they decided.
    #[serde(default)]
    pub branches: BTreeMap<u64, u64>,
    /// Paths with a skipped call.
    pub havocked: u64,
    pub instructions: u64,
    /// Blocks of the function under test: entered, and all.
    pub blocks: (u64, u64),
    pub milliseconds: u64,
    /// Of processor time, without the harnesses.
    #[serde(default)]
    pub processor_milliseconds: u64,
    pub findings: Vec<Finding>,
    /// Contracts of the functions it calls (`function: requires condition`), and what its calls showed of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checked: BTreeMap<String, Seen>,
}

impl Outcome {
    /// Joins what a probe has shown that followed the calls which this one skipped. If it has explored every path, only its findings count. Else an
    /// error that it has not seen may happen.
    pub fn deepen(&mut self, deeper: Outcome) {
        let exhausted = deeper.status == Status::Exhausted;
        let is_same = |a: &Finding, b: &Finding| a.kind == b.kind && a.stack.first() == b.stack.first();
        let mut rest = std::mem::take(&mut self.findings);
        rest.retain(|old| !exhausted && !deeper.findings.iter().any(|new| is_same(old, new)));
        for finding in rest.iter_mut().filter(|finding| finding.ledger.iter().any(|line| line.starts_with("skipped: "))) {
            finding.grade = Grade::May;
            finding.why.push("it was not seen where the skipped calls were followed".into());
        }
        *self = Outcome {
            paths: self.paths + deeper.paths,
            complete: self.complete + deeper.complete,
            havocked: self.havocked + deeper.havocked,
            instructions: self.instructions + deeper.instructions,
            milliseconds: self.milliseconds + deeper.milliseconds,
            processor_milliseconds: self.processor_milliseconds + deeper.processor_milliseconds,
            findings: deeper.findings.into_iter().chain(rest).collect(),
            ..deeper
        };
    }

    /// Of a function that was not explored.
    pub fn unsupported(function: &str, why: impl Into<String>) -> Outcome {
        Outcome { unsupported: [(why.into(), 1)].into(), ..Outcome::empty(function, Status::Unsupported) }
    }

    /// Of a function whose probe was cut off.
    pub fn cut_off(function: &str, by: &str, milliseconds: u64) -> Outcome {
        Outcome { bounded: [(by.to_owned(), 1)].into(), milliseconds, ..Outcome::empty(function, Status::Bounded) }
    }

    pub fn empty(function: &str, status: Status) -> Outcome {
        Outcome {
            function: function.into(),
            status,
            bounded: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            paths: 0,
            complete: 0,
            branches: BTreeMap::new(),
            havocked: 0,
            instructions: 0,
            blocks: (0, 0),
            milliseconds: 0,
            processor_milliseconds: 0,
            findings: Vec::new(),
            checked: BTreeMap::new(),
        }
    }
}
