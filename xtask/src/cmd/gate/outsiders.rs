//! Programs that this project was not tuned to, as Debian has them (`cargo xtask corpus PACKAGE` builds them): each is explored for a while, its findings
//! and its tests are run natively. Wrong is a finding that does not show, a test that ends otherwise, an internal error, or a limit that does not hold.
//! Findings that no native run can judge are listed, to be read.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::explore::{self, Job, Packages};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    packages: Packages,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/outsiders.jsonl")]
    results: PathBuf,
}

/// How long after its limit a run may end, with its replays.
const LATE: f64 = 2.0;

/// Package, program, and the words after it.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("busybox", "busybox_unstripped", "awk --sym-arg 6 --sym-stdin 4"),
    ("busybox", "busybox_unstripped", "dc --sym-stdin 8"),
    ("busybox", "busybox_unstripped", "printf --sym-args 1 3 4"),
    ("busybox", "busybox_unstripped", "sed --sym-args 1 2 5 --sym-stdin 6"),
    ("busybox", "busybox_unstripped", "sh -c --sym-arg 6"),
    ("busybox", "busybox_unstripped", "tar t --sym-stdin 512"),
    ("expat", "xmlwf", "--sym-stdin 12"),
    ("jq", "jq", "--sym-arg 2 --sym-stdin 5"),
    ("jq", "jq", "-n --sym-arg 5"),
    ("libyaml", "run-loader", "A --sym-files 1 10"),
    ("libyaml", "run-parser", "A --sym-files 1 10"),
    ("lua5.4", "lua", "- --sym-stdin 8"),
    ("lua5.4", "luac", "-p - --sym-stdin 8"),
    ("mawk", "mawk", "--sym-arg 6 --sym-stdin 4"),
    ("sqlite3", "sqlite3", ":memory: --sym-arg 8"),
    ("sqlite3", "sqlite3", "--sym-stdin 12"),
];

pub fn run(args: &Args) -> Result<()> {
    let cache = Cache::open()?;
    let asked = PROGRAMS.iter().filter(|(package, ..)| args.packages.has(package));
    let jobs: Vec<Job> =
        asked.map(|(package, program, input)| explore::of_package(&cache, package, program, input)).collect::<Result<_>>()?;
    let rows = explore::all(&jobs, args.packages.seconds, Some(&explore::replay), &args.results)?;
    println!(
        "\n| program | paths | lines covered | findings reproduced, inconclusive, other | tests: same, different, assumed, cannot | seconds |\n|---|---|---|---|---|---|"
    );
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| jobs.iter().any(|job| row["program"] == job.name.as_str())) {
        table_row(row);
        wrong.extend(
            judge(row, f64::from(args.packages.seconds))
                .into_iter()
                .map(|what| format!("{}: {what}", row["program"].as_str().unwrap_or(""))),
        );
    }
    wrong.iter().for_each(|what| println!("{what}"));
    ensure!(wrong.is_empty(), "{} things are wrong", wrong.len());
    Ok(())
}

fn verdicts(row: &Value, verdict: &str) -> usize {
    row["findings"].as_array().into_iter().flatten().filter(|finding| finding["verdict"] == verdict).count()
}

fn table_row(row: &Value) {
    let n = |value: &Value| value.as_u64().unwrap_or(0);
    let (reproduced, inconclusive) = (verdicts(row, "reproduced"), verdicts(row, "inconclusive"));
    let other = row["findings"].as_array().map_or(0, Vec::len) - reproduced - inconclusive;
    println!(
        "| `{}` | {} | {} of {} | {reproduced}, {inconclusive}, {other} | {}, {}, {}, {} | {:.1} |",
        row["program"].as_str().unwrap_or(""),
        n(&row["paths"]),
        n(&row["covered"]),
        n(&row["lines"]),
        n(&row["replay"]["same"]),
        n(&row["replay"]["different"]) - n(&row["replay"]["assumed"]),
        n(&row["replay"]["assumed"]),
        n(&row["replay"]["cannot"]),
        row["wall"].as_f64().unwrap_or(0.0),
    );
    for finding in row["findings"].as_array().into_iter().flatten().filter(|finding| finding["verdict"] != "reproduced") {
        println!("    {}: {} ({}, {}: {})", finding["place"], finding["message"], finding["kind"], finding["verdict"], finding["why"]);
    }
}

/// What is wrong about a run.
fn judge(row: &Value, limit: f64) -> Vec<String> {
    let n = |value: &Value| value.as_u64().unwrap_or(0);
    let late = row["wall"].as_f64().unwrap_or(f64::MAX) - limit;
    // What the ledger says that the machine does otherwise (`fork` fails) may end otherwise.
    let different = n(&row["replay"]["different"]) - n(&row["replay"]["assumed"]);
    let tests = match row["replay"]["same"].is_null() {
        true => "its tests were not replayed".to_owned(),
        false => format!("{different} tests end otherwise natively: {}", row["replay"]["differs"]),
    };
    [
        (late > LATE, format!("it ended {late:.1} s after its limit")),
        (verdicts(row, "not-reproduced") > 0, format!("{} findings do not show natively", verdicts(row, "not-reproduced"))),
        (verdicts(row, "not-replayed") > 0, format!("{} findings were not replayed", verdicts(row, "not-replayed"))),
        (n(&row["internal"]) > 0, format!("{} internal errors", n(&row["internal"]))),
        (row["replay"]["same"].is_null() || different > 0, tests),
    ]
    .into_iter()
    .filter_map(|(is, what)| is.then_some(what))
    .collect()
}
