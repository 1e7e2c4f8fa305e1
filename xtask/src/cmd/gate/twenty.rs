//! Twenty programs of coreutils on symbolic arguments, files and standard input: how paths end, coverage, and whether every test
//! replays natively to the same end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use super::bounds::Bounds;
use super::explore::{self, Job};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each program
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/twenty.jsonl")]
    results: PathBuf,
    /// Do not replay the tests
    #[arg(long)]
    no_replay: bool,
}

const PROGRAMS: [&str; 20] = [
    "base64", "basename", "cat", "comm", "cut", "dirname", "echo", "expr", "fold", "head", "nl", "paste", "pwd", "seq", "sort", "tac",
    "tr", "uname", "uniq", "wc",
];
/// The words of all of them.
pub const INPUT: [&str; 13] = ["--sym-args", "0", "1", "4", "--sym-args", "0", "2", "2", "--sym-files", "1", "8", "--sym-stdin", "8"];

/// Those of the programs that are asked for; all, if none is.
pub fn chosen(asked: &[String]) -> impl Iterator<Item = &'static str> {
    PROGRAMS.into_iter().filter(move |p| asked.is_empty() || asked.iter().any(|q| q == p))
}

/// A target on the input of all of them, under a name in the results.
pub fn job(name: &str, target: PathBuf, options: &[&str]) -> Job {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    Job { name: name.to_owned(), target, options: words(options), input: words(&INPUT) }
}

pub fn run(args: &Args) -> Result<()> {
    let programs = Cache::open()?.path("coreutils/O2");
    let jobs: Vec<Job> = chosen(&args.program).map(|name| job(name, programs.join(name).with_extension("bc"), &[])).collect();
    let replay: Option<explore::Replay<'_>> = if args.no_replay { None } else { Some(&explore::replay) };
    let rows = explore::all(&jobs, args.seconds, replay, &args.results)?;
    summarise(rows.iter());
    bounds(&rows, args).hold()
}

/// What the programs have to reach: the shares of path ends and of lines (the latter of all programs together, and from 20 s on), and native ends.
fn bounds(rows: &[Value], args: &Args) -> Bounds {
    let mut bounds = Bounds::default();
    let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap_or(0)).sum::<u64>() as f64;
    bounds.at_least("programs", rows.len() as f64, chosen(&args.program).count() as f64);
    bounds.at_most("internal errors", sum("internal"), 0.0);
    bounds.at_least("share of paths that end by exit or fault", (sum("exit") + sum("fault")) / sum("paths"), 0.99);
    bounds.at_most("share of unsupported paths", sum("unsupported") / sum("paths"), 0.001);
    if args.program.is_empty() && args.seconds >= 20 {
        bounds.at_least("share of lines", sum("covered") / sum("lines"), 0.5);
    }
    for row in rows.iter().filter(|_| !args.no_replay) {
        bounds.at_most(&format!("{}: tests that do not end as natively", row["program"]), explore::unexplained(row) as f64, 0.0);
    }
    bounds
}

fn summarise<'a>(rows: impl Iterator<Item = &'a Value>) {
    let mut sum: BTreeMap<&str, u64> = BTreeMap::new();
    for r in rows {
        for name in ["paths", "exit", "fault", "unsupported", "limits", "internal", "covered", "lines", "tests"] {
            *sum.entry(name).or_default() += r[name].as_u64().unwrap_or(0);
        }
        *sum.entry("programs").or_default() += 1;
    }
    let get = |name| sum.get(name).copied().unwrap_or(0);
    let share = |n: u64, of: u64| 100.0 * n as f64 / of.max(1) as f64;
    println!(
        "{} programs, {} paths: {:.2} % end by exit or fault, {:.2} % unsupported, {} internal; {:.1} % of application lines; {} tests",
        get("programs"),
        get("paths"),
        share(get("exit") + get("fault"), get("paths")),
        share(get("unsupported"), get("paths")),
        get("internal"),
        share(get("covered"), get("lines")),
        get("tests"),
    );
}
