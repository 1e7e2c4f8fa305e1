//! The options of `wryneck guard`.

use std::path::PathBuf;

use anyhow::Result;

use super::policy::Policy;
use super::program::FrontEnd;
use super::world::Assume;
use crate::options::{Opt, bytes, number, one_of, seconds};

/// What happens where the input's path has a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    Refuse,
    Warn,
    Run,
}

/// What happens where nothing is known of the input's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMiss {
    Verify,
    Background,
    Run,
    Refuse,
}

/// When the paths beside the input's own are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siblings {
    /// Before the run, within the budget.
    Wait,
    /// While the program runs and after it, in a process of its own.
    Background,
    Never,
}

/// In which order stored paths are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Tree,
    Linear,
    Recent,
}

/// The options of one `wryneck guard`.
pub struct GuardArgs {
    pub on_fault: OnFault,
    pub on_miss: OnMiss,
    pub siblings: Siblings,
    pub assume: Assume,
    pub lookup: Lookup,
    pub front: FrontEnd,
    /// Seconds for verification.
    pub budget: f64,
    pub memory: u64,
    /// Most paths of one verification.
    pub paths: u64,
    policy: Option<PathBuf>,
    /// Only say what is known.
    pub answer: bool,
    pub verbose: bool,
    /// With `answer`: look up so often, to measure.
    pub repeat: u64,
    /// `argv[0]` of the program.
    pub name: Option<String>,
}

impl Default for GuardArgs {
    fn default() -> GuardArgs {
        GuardArgs {
            on_fault: OnFault::Refuse,
            on_miss: OnMiss::Verify,
            siblings: Siblings::Wait,
            assume: Assume::Nothing,
            lookup: Lookup::Tree,
            front: FrontEnd::Carried,
            budget: 5.0,
            memory: 2 << 30,
            paths: u64::MAX,
            policy: None,
            answer: false,
            verbose: false,
            repeat: 1,
            name: None,
        }
    }
}

impl GuardArgs {
    pub fn policy(&self) -> Result<Policy> {
        let policy = Policy::read(self.policy.as_deref())?;
        Ok(if self.assume == Assume::ArgumentsOnly { policy.of_arguments_alone() } else { policy })
    }
}

// One more option: a row (sorted by name). The help and the parsing follow.
#[rustfmt::skip]
pub static OPTIONS: &[Opt<GuardArgs>] = &[
    Opt { name: "--answer", value: "", help: "say what is known as JSON instead of running; exit code 0 clean, 1 faulty, 3 not verified",
        set: |a, _| { a.answer = true; Ok(()) } },
    Opt { name: "--argv0", value: "NAME", help: "the program's name as it sees it (default: as typed)",
        set: |a, v| { a.name = Some(v.into()); Ok(()) } },
    Opt { name: "--assume", value: "nothing|arguments-only", help: "check all that a path depends on (default), or the arguments alone, as in the paper",
        set: |a, v| { a.assume = one_of(v, &[("arguments-only", Assume::ArgumentsOnly), ("nothing", Assume::Nothing)])?; Ok(()) } },
    Opt { name: "--budget", value: "TIME", help: "time for one verification (default 5s); one that it ends first leaves the path not verified",
        set: |a, v| { a.budget = seconds(v)?; Ok(()) } },
    Opt { name: "--lookup", value: "tree|linear|mru", help: "walk the decision tree (default), or try stored paths one after the other, oldest or most recently used first",
        set: |a, v| { a.lookup = one_of(v, &[("linear", Lookup::Linear), ("mru", Lookup::Recent), ("tree", Lookup::Tree)])?; Ok(()) } },
    Opt { name: "--machine-code", value: "", help: "verify the machine code though the program carries its bitcode",
        set: |a, _| { a.front = FrontEnd::MachineCode; Ok(()) } },
    Opt { name: "--max-memory", value: "SIZE", help: "memory of one verification (default 2G)",
        set: |a, v| { a.memory = bytes(v)?; Ok(()) } },
    Opt { name: "--max-paths", value: "N", help: "most paths of one verification",
        set: |a, v| { a.paths = number(v)?; Ok(()) } },
    Opt { name: "--on-fault", value: "refuse|warn|run", help: "if this input's path has a fault: do not run (default), run with a warning, run",
        set: |a, v| { a.on_fault = one_of(v, &[("refuse", OnFault::Refuse), ("run", OnFault::Run), ("warn", OnFault::Warn)])?; Ok(()) } },
    Opt { name: "--on-miss", value: "verify|background|run|refuse", help: "if nothing is known: verify first (default), run and verify meanwhile, run, do not run",
        set: |a, v| { a.on_miss = one_of(v, &[("background", OnMiss::Background), ("refuse", OnMiss::Refuse), ("run", OnMiss::Run), ("verify", OnMiss::Verify)])?; Ok(()) } },
    Opt { name: "--policy", value: "FILE", help: "what becomes symbolic, as TOML: arguments, argument, up_to, concrete, environment, variable, stdin, stdin_up_to, file, file_up_to, concrete_files, attributes",
        set: |a, v| { a.policy = Some(v.into()); Ok(()) } },
    Opt { name: "--repeat", value: "N", help: "with `--answer`: look up N times and report the mean time",
        set: |a, v| { a.repeat = number(v)?; Ok(()) } },
    Opt { name: "--siblings", value: "wait|background|never", help: "explore the paths beside this input's within the budget, before the run (default) or meanwhile",
        set: |a, v| { a.siblings = one_of(v, &[("background", Siblings::Background), ("never", Siblings::Never), ("wait", Siblings::Wait)])?; Ok(()) } },
    Opt { name: "--verbose", value: "", help: "say on standard error what is known before the program runs",
        set: |a, _| { a.verbose = true; Ok(()) } },
];
