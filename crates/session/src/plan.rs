//! A plan: what a user asked for, as plain data (docs/design/013). It holds all that determines what is found, and nothing of how that is shown.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wryneck_exec::Pruning;
use wryneck_exec::config::{Audit, Config};
use wryneck_verify::Policy;

use crate::overflow::Overflow;

/// Which paths leave a test behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Emit {
    /// Those that cover new code, and the first of each finding.
    New,
    All,
    None,
}

/// What is explored, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub target: PathBuf,
    /// Further targets, which are linked with the first.
    pub objects: Vec<PathBuf>,
    /// Symbolic input and the program's arguments, as typed.
    pub words: Vec<String>,
    /// Bytes of resident memory, that of children included.
    pub max_memory: u64,
    /// Seconds for one query.
    pub solver_timeout: Option<f64>,
    pub emit: Emit,
    pub entry: Option<String>,
    /// Bytes behind a pointer argument of `entry`; most bytes given to a fuzz entry.
    pub entry_bytes: u32,
    /// Runs before `entry`.
    pub preamble: Option<String>,
    /// A file with standard input, which is concrete then.
    pub stdin: Option<PathBuf>,
    pub libc: bool,
    /// Calls of functions that no object defines are skipped.
    pub skip_undefined: bool,
    /// Patterns of the functions of machine code whose calls are skipped.
    pub skip: Vec<String>,
    /// An executable is run as machine code though it carries its bitcode.
    pub machine_code: bool,
    /// Functions of machine code that have models are recognised by their symbols.
    pub stand_ins: bool,
    /// Addresses in optimised machine code know the frames they are in.
    pub frames: bool,
    /// Addresses in machine code know the variables they are in.
    pub variables: bool,
    pub cc_flags: Vec<String>,
    /// Results that are findings where they overflow.
    pub overflow: Overflow,
    /// Calls of a path that may fail though they need not.
    pub fail_calls: u32,
    /// Names and files of rules to check.
    pub rules: Vec<String>,
    /// How they are watched.
    pub policy: Policy,
    /// How rules prune the exploration; `None`: not at all.
    pub prune: Option<Pruning>,
    /// Paths that are recorded are sliced, too; `false` only to measure what recording costs.
    pub slices: bool,
    /// The source line whose branches are to be explained.
    pub explain: Option<(String, Option<u32>)>,
    /// Files that say what functions of the program do.
    pub summaries: Vec<PathBuf>,
    /// A static fact that is broken on purpose, to see whether that is noticed.
    pub broken_fact: Option<String>,
    /// Sliced paths are compared with the static facts.
    pub checks: bool,
    /// Searchers taking turns; `None`: as suits the exploration.
    pub search: Option<Vec<String>>,
    /// Files and folders of inputs whose paths come first.
    pub seeds: Vec<String>,
    /// What appears in these folders while the run goes on is taken up.
    pub follow: bool,
    /// The core is shared with who fills them.
    pub give_way: bool,
    /// Mutants of seeds, and of what their paths lead to, are run too.
    pub mutants: bool,
    /// Strings are compared as one value in a search for a goal, and with seeds.
    pub compare_whole: bool,
    /// The run goes on where one with seeds was stopped: it makes the same decisions.
    pub had_seeds: bool,
    /// What is to be reached, and what is to be avoided on the way.
    pub find: Vec<String>,
    pub avoid: Vec<String>,
    pub config: Config,
    pub solver: wryneck_solver::Config,
}

/// Flips that pruning left out and that are explored all the same, at least.
const AUDITED: u64 = 20;

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            target: PathBuf::new(),
            objects: Vec::new(),
            words: Vec::new(),
            max_memory: 8 << 30,
            solver_timeout: None,
            emit: Emit::New,
            entry: None,
            entry_bytes: 16,
            preamble: None,
            stdin: None,
            libc: true,
            skip_undefined: false,
            skip: Vec::new(),
            machine_code: false,
            stand_ins: true,
            frames: false,
            variables: true,
            cc_flags: Vec::new(),
            overflow: Overflow::default(),
            fail_calls: 0,
            rules: Vec::new(),
            policy: Policy::default(),
            prune: Some(Pruning::Wanted),
            slices: true,
            explain: None,
            summaries: Vec::new(),
            broken_fact: None,
            checks: true,
            search: None,
            seeds: Vec::new(),
            follow: false,
            give_way: false,
            mutants: true,
            compare_whole: true,
            had_seeds: false,
            find: Vec::new(),
            avoid: Vec::new(),
            config: Config { audit: Audit::AtLeast(AUDITED), ..Config::default() },
            solver: wryneck_solver::Config::default(),
        }
    }
}

impl Plan {
    /// Whether inputs lead the run, or have led the one that it goes on with: such a run has one worker, and compares strings as one value.
    pub fn is_led(&self) -> bool {
        self.had_seeds || !self.seeds.is_empty() || !self.find.is_empty()
    }

    /// To explore all paths of this target, which these words follow.
    pub fn of(target: impl Into<PathBuf>, words: &[&str]) -> Plan {
        Plan { target: target.into(), words: words.iter().map(|word| (*word).to_owned()).collect(), prune: None, ..Plan::default() }
    }

    /// What clang is told when it compiles a source of the target.
    pub fn compiler_flags(&self) -> Vec<String> {
        self.cc_flags.iter().cloned().chain(self.overflow.flags()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_survives_as_text() {
        let mut plan = Plan::of("a.c", &["--sym-arg", "3"]);
        (plan.solver.backend, plan.config.max_depth, plan.prune) = ("z3".into(), 7, Some(Pruning::Classified));
        let text = serde_json::to_string(&plan).expect("it is plain data");
        let again: Plan = serde_json::from_str(&text).expect("it was just written");
        assert_eq!(format!("{again:?}"), format!("{plan:?}"));
        let none: Result<Plan, _> = serde_json::from_str(r#"{"solver":{"backend":"magic"}}"#);
        assert!(none.is_err(), "there is no such backend");
    }
}
