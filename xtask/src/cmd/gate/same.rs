//! The same results: explorations to their end by two builds of wryneck (`--before`), or by several workers (`--jobs`), against one of the build under test.
//!
//! - `run`: the decisions and ends of all paths, each of which leaves a test; the findings with their counts; the lines covered.
//! - `verify`: the sequences of events, the findings of rules, the verdicts. Without pruning the counts of ends, too.
//!
//! With `--commits` it is the builds of two commits, and `--set` says on what (`same/commits.rs`). On the rows of `gate speed` it is how many instructions
//! the tool executes (`same/host.rs`).
//!
//! Bitcode and executables of coreutils, and programs of `gate resume`. With `--jobs` only explorations of all paths are compared, since pruning takes one
//! worker. The seconds of each are in the results.

mod builds;
mod commits;
mod host;
mod sets;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::resume::{OWN, known, lines, open};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Another wryneck, whose results must be the same
    #[arg(long)]
    before: Option<PathBuf>,
    /// Workers, whose results must be those of one; may be repeated
    #[arg(long)]
    jobs: Vec<u32>,
    /// Two commits, `BEFORE..AFTER`, whose builds must have the same results; may be repeated
    #[arg(long, conflicts_with_all = ["before", "jobs"])]
    commits: Vec<String>,
    /// What these builds explore; may be repeated
    #[arg(long, value_enum, requires = "commits", default_values = ["twenty", "pairs"])]
    set: Vec<sets::Set>,
    /// Where builds of commits are kept
    #[arg(long, default_value = "target/commits")]
    builds: PathBuf,
    /// Instructions after which these builds end a row, instead of those of the set
    #[arg(long)]
    instructions: Option<u64>,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/same.jsonl")]
    results: PathBuf,
}

/// What is explored: command, program, words. Named as those of `gate resume`; an executable has no extension.
type Row = (&'static str, &'static str, &'static [&'static str]);

static ROWS: &[Row] = &[
    ("run", "base64.bc", &["--sym-stdin", "2"]),
    ("run", "basename.bc", &["--sym-arg", "5"]),
    ("run", "cat.bc", &["-v", "--sym-stdin", "3"]),
    ("run", "comm.bc", &["A", "A", "--sym-files", "1", "2"]),
    ("run", "cut.bc", &["--sym-arg", "3", "A", "--sym-files", "1", "1"]),
    ("run", "dirname.bc", &["--sym-arg", "5"]),
    ("run", "echo.bc", &["--sym-arg", "4"]),
    ("run", "expr.bc", &["--sym-args", "0", "3", "1"]),
    ("run", "faults.c", &["--sym-arg", "6"]),
    ("run", "fold.bc", &["--sym-stdin", "4"]),
    ("run", "head.bc", &["--sym-arg", "3", "--sym-stdin", "1"]),
    ("run", "nl.bc", &["--sym-stdin", "3"]),
    ("run", "paste.bc", &["A", "--sym-files", "1", "4"]),
    ("run", "pwd.bc", &["--sym-arg", "3"]),
    ("run", "seq.bc", &["--sym-arg", "1"]),
    ("run", "sort.bc", &["A", "--sym-files", "1", "2"]),
    ("run", "streams.c", &["--sym-arg", "6"]),
    ("run", "tac.bc", &["A", "--sym-files", "1", "3"]),
    ("run", "tr.bc", &["--sym-arg", "1", "--sym-arg", "1", "--sym-stdin", "2"]),
    ("run", "uname.bc", &["--sym-arg", "3"]),
    ("run", "uniq.bc", &["--sym-stdin", "4"]),
    ("run", "wc.bc", &["--sym-stdin", "4"]),
    ("run", "echo", &["--sym-arg", "3"]),
    ("run", "fold", &["--sym-stdin", "3"]),
    ("run", "uname", &["--sym-args", "0", "2", "2"]),
    ("run", "wc", &["--sym-stdin", "3"]),
    ("verify", "basename.bc", &["--sym-args", "0", "2", "2"]),
    ("verify", "cat.bc", &["A", "--sym-files", "1", "3"]),
    ("verify", "expr.bc", &["--sym-args", "0", "2", "2"]),
    ("verify", "faults.c", &["--sym-arg", "6"]),
    ("verify", "streams.c", &["--sym-arg", "6"]),
    ("verify", "wc.bc", &["--sym-stdin", "3"]),
    ("verify", "uname", &["--sym-args", "0", "2", "2"]),
    ("all", "faults.c", &["--sym-arg", "5"]),
    ("all", "streams.c", &["--sym-arg", "5"]),
    ("all", "wc.bc", &["--sym-stdin", "3"]),
];

pub fn run(args: &Args) -> Result<()> {
    if !args.commits.is_empty() {
        return commits::run(args);
    }
    ensure!(
        args.before.is_some() || !args.jobs.is_empty(),
        "what is to be compared? give `--before WRYNECK`, `--jobs N` or `--commits BEFORE..AFTER`"
    );
    let (mut compared, mut wrong) = (0, Vec::new());
    for (command, program, words) in ROWS {
        let is_asked = args.program.is_empty() || args.program.iter().any(|asked| asked == program);
        if !is_asked || args.before.is_none() && *command == "verify" {
            continue;
        }
        let dir = tempfile::tempdir()?;
        let case = Case { command, target: target(dir.path(), program)?, words, dir: dir.path() };
        let own = super::wryneck();
        let (want, seconds) = case.explored(&own, "one", 1)?;
        let mut row = json!({ "command": command, "program": program, "words": words, "seconds": seconds });
        if let Some(before) = &args.before {
            let (got, seconds) = case.explored(before, "before", 1)?;
            (row["before"], row["equal"]) = (seconds.into(), (got == want).into());
            if got != want {
                row["differs"] = difference(&want, &got);
            }
            compared += 1;
        }
        for jobs in args.jobs.iter().filter(|_| *command != "verify") {
            let (got, seconds) = case.explored(&own, &format!("jobs{jobs}"), *jobs)?;
            row[format!("jobs {jobs}")] = json!({ "seconds": seconds, "equal": got == want });
            if got != want {
                (row["equal"], row["differs"]) = (false.into(), difference(&want, &got));
            }
            compared += 1;
        }
        println!("{row}");
        writeln!(OpenOptions::new().create(true).append(true).open(&args.results)?, "{row}")?;
        if row["equal"] == false {
            wrong.push(row);
        }
    }
    println!("{compared} comparisons, {} programs with other results", wrong.len());
    ensure!(compared > 0, "nothing was compared");
    ensure!(wrong.is_empty(), "results differ");
    Ok(())
}

fn target(dir: &Path, program: &str) -> Result<PathBuf> {
    match OWN.iter().find(|(own, _)| *own == program) {
        Some((_, text)) => {
            fs::write(dir.join(program), text)?;
            Ok(dir.join(program))
        }
        None => Ok(Cache::open()?.path("coreutils/O2").join(program)),
    }
}

struct Case<'a> {
    command: &'a str,
    target: PathBuf,
    words: &'a [&'a str],
    dir: &'a Path,
}

impl Case<'_> {
    /// What a wryneck finds to the end, and its seconds.
    fn explored(&self, wryneck: &Path, folder: &str, jobs: u32) -> Result<(Value, f64)> {
        let mut command = Command::new(fs::canonicalize(wryneck).with_context(|| format!("there is no `{}`", wryneck.display()))?);
        command.current_dir(self.dir).arg(if self.command == "run" { "run" } else { "verify" });
        command.args(["--quiet", "--no-replay", "--emit", "all", "--output", folder, "--max-time", "10min"]);
        command.args(["--sequences", &format!("{folder}.txt")]);
        match self.command {
            "run" => &mut command,
            "verify" => command.args(["--rule", "open-close"]),
            _ => command.args(["--rule", "open-close", "--prune", "off"]),
        };
        if jobs > 1 {
            command.args(["-j", &jobs.to_string()]);
        }
        let start = Instant::now();
        let done = command.arg(&self.target).args(self.words).stdin(Stdio::null()).output()?;
        let seconds = (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        ensure!(matches!(done.status.code(), Some(0 | 1)), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
        let found = known(self.dir, if self.command == "verify" { "verify" } else { "run" }, folder)?;
        let paths = match self.command {
            "verify" => Vec::new(),
            _ => lines(
                &open(&self.dir.join(folder))?,
                "SELECT class || ' ' || what || ' ' || depth || ' ' || coalesce(hex(prefix), '') FROM path ORDER BY 1",
            )?,
        };
        let sequences = fs::read_to_string(self.dir.join(format!("{folder}.txt"))).unwrap_or_default();
        Ok((json!({ "found": found, "paths": paths, "sequences": sequences }), seconds))
    }
}

/// What differs, shortly.
fn difference(want: &Value, got: &Value) -> Value {
    let count = |all: &Value| all["paths"].as_array().map_or(0, Vec::len);
    let found = if want["found"] == got["found"] { Value::Null } else { json!([want["found"], got["found"]]) };
    json!({ "paths": [count(want), count(got)], "found": found, "sequences": want["sequences"] == got["sequences"] })
}
