//! Every program of coreutils on symbolic arguments, files and standard input: no internal error, every test replayed to the same end or
//! its reason told, and the engine's line coverage against gcov's of the native replays. Resumable.
//!
//! gcov counts the lines of the very bitcode that was explored (`wryneck replay --gcov`); a program at -O0 keeps its lines apart. Lines are
//! compared where both know them to have code. A line that gcov saw and the engine did not is a defect of the engine's; the other
//! way round it may have been run by a path that was cut off by the time limit, or by one whose program did not exit: gcov counts at exit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::bounds::Bounds;
use super::explore::{self, Job};
use crate::cache::{self, Cache};
use crate::gcov::{self, Coverage};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each program
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/coreutils.jsonl")]
    results: PathBuf,
    /// The programs' folder, made by `cargo xtask corpus coreutils --all --opt 0`
    #[arg(long)]
    programs: Option<PathBuf>,
}

const INPUT: &str = "--sym-args 0 1 4 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8";
/// Lines that are named where the two disagree, per program.
const NAMED: usize = 40;

pub fn run(args: &Args) -> Result<()> {
    let programs = match &args.programs {
        Some(dir) => dir.clone(),
        None => Cache::open()?.path("coreutils/O0"),
    };
    let listed = fs::canonicalize(&programs)
        .ok()
        .map(|dir| cache::files(&dir))
        .with_context(|| format!("`{}` is missing; make it with `cargo xtask corpus coreutils --all --opt 0`", programs.display()))??;
    let job = |target: PathBuf| -> Option<Job> {
        let name = target.file_name()?.to_str()?.strip_suffix(".bc")?.to_owned();
        let wanted = args.program.is_empty() || args.program.contains(&name);
        wanted.then(|| Job { name, target, options: Vec::new(), input: INPUT.split(' ').map(str::to_owned).collect() })
    };
    let jobs: Vec<Job> = listed.into_iter().filter_map(job).collect();
    if jobs.is_empty() {
        bail!("no program in `{}`", programs.display());
    }
    let rows = explore::all(&jobs, args.seconds, Some(&replay), &args.results)?;
    summarise(&rows);
    bounds(&rows, &jobs, args.program.is_empty()).hold()
}

/// What the programs have to reach; `all` of them, shares of tests and lines too. What the machine is, the order of folders, the clock and child
/// processes make some tests end otherwise (docs/benchmarks.md).
fn bounds(rows: &[Value], jobs: &[Job], all: bool) -> Bounds {
    let mut bounds = Bounds::default();
    let sum = |value: &dyn Fn(&Value) -> u64| rows.iter().map(value).sum::<u64>() as f64;
    let field = |name: &'static str| sum(&|row| row[name].as_u64().unwrap_or(0));
    let replayed = |name: &'static str| sum(&|row| row["replay"][name].as_u64().unwrap_or(0));
    let lines = |name: &'static str| sum(&|row| row["replay"]["lines"][name].as_u64().unwrap_or(0));
    bounds.at_least("programs", rows.len() as f64, jobs.len() as f64);
    bounds.at_most("internal errors", field("internal"), 0.0);
    if all {
        bounds.at_most("share of tests with a different end", replayed("different") / field("tests"), 0.05);
        bounds.at_most("share of tests that cannot be replayed", replayed("cannot") / field("tests"), 0.01);
        bounds.at_least("share of lines on which gcov agrees", lines("agree") / lines("common"), 0.985);
        bounds.at_least("share of lines covered", field("covered") / field("lines"), 0.4);
    }
    bounds
}

/// Replays the tests of a run folder with line counts: the verdicts, and the lines on which the engine and gcov agree.
fn replay(out: &Path) -> Result<Value> {
    let scratch = tempfile::tempdir()?;
    let counts = scratch.path().join("gcov");
    let done = Command::new(super::wryneck()).args(["replay", "--json", "--timeout", "3s", "--gcov"]).arg(&counts).arg(out).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    if said.contains("real file system") {
        bail!("tests of `rm` and `kill` are not run where they cannot be kept from the machine: {said}");
    }
    let told: Value = serde_json::from_slice(&done.stdout).with_context(|| format!("the replay said no more than: {said}"))?;
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for test in told["tests"].as_array().into_iter().flatten().filter(|test| test["verdict"] != "same end") {
        *reasons.entry(format!("{}: {}", test["verdict"].as_str().unwrap_or(""), test["why"].as_str().unwrap_or(""))).or_default() += 1;
    }
    let (ours, theirs) = (ours(out)?, gcov::lines(&counts, &counts)?);
    Ok(json!({
        "exit": done.status.code(), "same": told["same"], "different": told["different"], "cannot": told["cannot"],
        "reasons": reasons, "lines": compared(&ours, &theirs),
    }))
}

fn compared(ours: &Coverage, theirs: &Coverage) -> Value {
    let common: Vec<_> = ours.iter().filter_map(|(line, ran)| Some((line, *ran, *theirs.get(line)?))).collect();
    let named = |mine: bool| -> (usize, Vec<String>) {
        let lines = common.iter().filter(|(_, ran, counted)| (*ran, *counted) == (mine, !mine));
        (lines.clone().count(), lines.take(NAMED).map(|((file, line), ..)| format!("{file}:{line}")).collect())
    };
    let ((more, ours_only), (less, gcov_only)) = (named(true), named(false));
    json!({
        "common": common.len(), "agree": common.len() - more - less, "ours_only": more, "gcov_only": less,
        "ours_only_lines": ours_only, "gcov_only_lines": gcov_only,
        "unknown_to_gcov": ours.len() - common.len(), "unknown_to_us": theirs.len() - common.len(),
    })
}

/// The engine's coverage of the application.
fn ours(out: &Path) -> Result<Coverage> {
    let rows = process::output(Command::new(super::wryneck()).args(["show", "--jsonl", "-"]).arg(out))?;
    let mut lines = Coverage::new();
    for row in rows.lines().filter(|row| row.contains("\"coverage\"")) {
        let row: Value = serde_json::from_str(row)?;
        let file = row["file"].as_str().unwrap_or_default();
        for line in row["lines"].as_array().into_iter().flatten() {
            lines.insert((file.to_owned(), line[0].as_u64().unwrap_or(0)), line[1] == true);
        }
    }
    Ok(lines)
}

fn summarise(rows: &[Value]) {
    let n = |value: &Value| value.as_u64().unwrap_or(0);
    let sum = |value: &dyn Fn(&Value) -> u64| rows.iter().map(value).sum::<u64>();
    let lines = |name: &'static str| sum(&|row| n(&row["replay"]["lines"][name]));
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    for row in rows {
        let (name, lines) = (row["program"].as_str().unwrap_or(""), &row["replay"]["lines"]);
        if n(&lines["gcov_only"]) > 0 {
            println!("{name}: run natively, but not by the engine: {}", lines["gcov_only_lines"]);
        }
        for (reason, count) in row["replay"]["reasons"].as_object().into_iter().flatten() {
            println!("{name}: {count} tests {reason}");
        }
    }
    let mean = rows.iter().map(|row| percent(n(&row["covered"]), n(&row["lines"]))).sum::<f64>() / rows.len().max(1) as f64;
    println!(
        "{} programs, {} paths, {} internal errors, {} tests: {} same end, {} different, {} cannot be replayed",
        rows.len(),
        sum(&|row| n(&row["paths"])),
        sum(&|row| n(&row["internal"])),
        sum(&|row| n(&row["tests"])),
        sum(&|row| n(&row["replay"]["same"])),
        sum(&|row| n(&row["replay"]["different"])),
        sum(&|row| n(&row["replay"]["cannot"])),
    );
    println!(
        "mean coverage {mean:.1} %; gcov agrees on {} of {} lines ({:.2} %), {} ran only in the engine, {} only natively",
        lines("agree"),
        lines("common"),
        percent(lines("agree"), lines("common")),
        lines("ours_only"),
        lines("gcov_only"),
    );
}
