//! One exploration under rules, pruned or not: what the benches compare, and of which programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::process;

/// Whether flips that cannot matter are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Pruned,
    Unpruned,
}

impl Mode {
    pub const BOTH: [Mode; 2] = [Mode::Pruned, Mode::Unpruned];

    /// As in the results.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Pruned => "pruned",
            Mode::Unpruned => "unpruned",
        }
    }

    /// The value of `--prune`.
    fn option(self) -> &'static str {
        match self {
            Mode::Pruned => "wanted",
            Mode::Unpruned => "classified",
        }
    }
}

/// What is known of gnulib's functions.
pub const GNULIB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rules/summaries/gnulib.toml");

/// The bounds of paper 1 for coreutils.
pub const INPUT: [&str; 9] = ["--sym-args", "0", "3", "2", "--sym-files", "2", "8", "--sym-stdin", "8"];

/// coreutils as bitcode.
#[derive(clap::Args)]
pub struct Programs {
    /// The programs' folder, made by `cargo xtask corpus coreutils --all`
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

impl Programs {
    /// Their folder, as an absolute path.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = match &self.programs {
            Some(dir) => dir.clone(),
            None => Cache::open()?.path("coreutils/O2"),
        };
        let missing = || format!("`{}` is missing; make it with `cargo xtask corpus coreutils --all`", folder.display());
        fs::canonicalize(&folder).with_context(missing)
    }
}

/// What is explored.
pub struct Exploration<'a> {
    pub target: &'a Path,
    /// The words after the target.
    pub input: &'a [&'a str],
    /// Identifiers of rules.
    pub rules: &'a [&'a str],
    pub mode: Mode,
    /// What functions of the program are trusted to do.
    pub summaries: Option<&'a Path>,
    /// The time limit.
    pub seconds: u32,
    /// Bytes, as `--max-memory` takes them.
    pub memory: &'a str,
    /// Searchers by name, where not the tool is to choose.
    pub search: Option<&'a str>,
    /// Parts of the tool that are switched off, by name.
    pub off: Option<&'a str>,
    /// Where the tree of paths is to be written.
    pub tree: Option<&'a Path>,
}

/// What came out.
pub struct Explored {
    /// What `--json` says.
    pub run: Value,
    /// Distinct event sequences of the paths that exited, and those of them that have an event.
    pub sequences: u64,
    pub relevant: u64,
}

impl Explored {
    /// What is said of a rule.
    pub fn rule(&self, id: &str) -> &Value {
        let rules = self.run["rules"].as_array().into_iter().flatten();
        rules.into_iter().find(|rule| rule["id"] == id).unwrap_or(&Value::Null)
    }

    /// The counts that rows of results share.
    pub fn counts(&self) -> Value {
        let run = &self.run;
        let ended = |class: &str| -> u64 {
            let ends = run["ends"].as_array().into_iter().flatten();
            ends.filter(|e| e["class"] == class).filter_map(|e| e["count"].as_u64()).sum()
        };
        json!({
            "took": run["seconds"], "status": run["status"], "paths": run["totals"]["paths"], "instructions": run["totals"]["instructions"],
            "memory": run["totals"]["memory"], "exit": ended("exit"), "fault": ended("fault"), "limits": ended("limit"),
            "unsupported": ended("unsupported"), "internal": ended("internal"), "sequences": self.sequences,
            "relevant_sequences": self.relevant, "pruning": run["pruning"],
        })
    }
}

impl Exploration<'_> {
    /// Runs it in an empty folder, since a program may read all of its working directory.
    pub fn run(&self) -> Result<Explored> {
        let dir = tempfile::tempdir()?;
        let (empty, out, sequences) = (dir.path().join("empty"), dir.path().join("out"), dir.path().join("sequences"));
        fs::create_dir(&empty)?;
        let wryneck = crate::cmd::wryneck()?;
        let mut command = Command::new(&wryneck);
        command
            .current_dir(&empty)
            .args(["verify", "--json", "--no-replay", "--prune", self.mode.option(), "--max-memory", self.memory])
            .args(["--max-time", &format!("{}s", self.seconds), "--rule", &self.rules.join(","), "--sequences"])
            .arg(&sequences)
            .arg("--output")
            .arg(&out)
            .args(self.search.iter().flat_map(|names| ["--search", names]))
            .args(self.off.iter().flat_map(|names| ["--off", names]))
            .args(self.tree.iter().flat_map(|file| [Path::new("--tree"), file]))
            .args(self.summaries.iter().flat_map(|file| [Path::new("--summaries"), file]))
            .arg(self.target)
            .args(self.input);
        let done = command.output().with_context(|| format!("cannot start `{}`", wryneck.display()))?;
        let said = || format!("{}: {}: {}", self.target.display(), done.status, String::from_utf8_lossy(&done.stderr));
        let run: Value = serde_json::from_slice(&done.stdout).with_context(said)?;
        let lines = fs::read_to_string(&sequences).with_context(said)?;
        let lines: BTreeSet<&str> = lines.lines().collect();
        let relevant = lines.iter().filter(|line| !line.is_empty()).count() as u64;
        Ok(Explored { run, sequences: lines.len() as u64, relevant })
    }
}

/// Seconds of processor time of the quiet tool with these options, ended after so many instructions, in an empty folder as above; with another cache if one is given.
pub fn timed(options: &[&str], instructions: u64, target: &Path, input: &[&str], cache: Option<&Path>) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let empty = dir.path().join("empty");
    fs::create_dir(&empty)?;
    let mut command = Command::new(crate::cmd::wryneck()?);
    command
        .envs(cache.map(|cache| ("WRYNECK_CACHE", cache)))
        .current_dir(&empty)
        .args(options)
        .args(["--quiet", "--no-replay", "--emit", "none", "--max-instructions", &instructions.to_string(), "--output"])
        .arg(dir.path().join("out"))
        .arg(target)
        .args(input);
    let (done, seconds) = process::timed(&mut command)?;
    // 1 says that there is a finding, 3 that it was stopped.
    ensure!(done.status.code().is_some_and(|code| code < 2 || code == 3), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(seconds)
}

/// As results keep seconds.
pub fn hundredths(seconds: f64) -> Value {
    ((100.0 * seconds).round() / 100.0).into()
}
