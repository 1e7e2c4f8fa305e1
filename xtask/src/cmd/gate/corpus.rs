//! Programs that unmodified builds made with `wryneck build` (`cargo xtask corpus`): each is explored as the executable that it is, and
//! its tests are replayed. Prints a table for the documentation and what the runs met that is not modelled.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::Value;

use super::bounds::Bounds;
use super::explore::{self, Job};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each program
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Only programs of these packages
    #[arg(long)]
    package: Vec<String>,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/corpus.jsonl")]
    results: PathBuf,
}

// One more program: a row (package, program, symbolic input), sorted.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("coreutils", "expr", "--sym-args 0 3 3"),
    ("coreutils", "sort", "--sym-args 0 1 3 --sym-stdin 8"),
    ("coreutils", "tr", "--sym-args 0 2 3 --sym-stdin 6"),
    ("grep", "grep", "--sym-args 0 2 3 --sym-stdin 6"),
    ("gzip", "gzip", "--sym-args 0 2 2 --sym-stdin 8"),
    ("sed", "sed", "--sym-args 0 2 3 --sym-stdin 6"),
    ("shadow", "chage", "--sym-args 0 2 3"),
    ("shadow", "groups", "--sym-args 0 2 3"),
    ("shadow", "passwd", "--sym-args 0 2 3 --sym-stdin 6"),
    ("shadow", "pwck", "--sym-args 0 2 2"),
    ("shadow", "useradd", "--sym-args 0 2 3"),
    ("tar", "rmt", "--sym-stdin 12"),
    ("tar", "tar", "--sym-args 0 2 3 --sym-stdin 6"),
    ("zlib", "example", ""),
    ("zlib", "minigzip", "--sym-args 0 1 2 --sym-stdin 8"),
];

pub fn run(args: &Args) -> Result<()> {
    let cache = Cache::open()?;
    let mut jobs = Vec::new();
    for (package, program, input) in PROGRAMS.iter().filter(|row| args.package.is_empty() || args.package.iter().any(|p| p == row.0)) {
        let target = cache.path(&format!("{package}/O2/{program}"));
        if !target.is_file() {
            bail!("`{}` is missing; build it with `cargo xtask corpus {package}`", target.display());
        }
        jobs.push(Job {
            name: format!("{package}/{program}"),
            target,
            options: Vec::new(),
            input: input.split_whitespace().map(str::to_owned).collect(),
        });
    }
    let rows = explore::all(&jobs, args.seconds, Some(&explore::replay), &args.results)?;
    println!(
        "\n| program | input | paths | exit | fault | other | lines covered | tests: same, different, cannot |\n|---|---|---|---|---|---|---|---|"
    );
    for row in &rows {
        let input = jobs.iter().find(|job| row["program"] == job.name.as_str()).map(|job| job.input.join(" ")).unwrap_or_default();
        table_row(row, &input);
    }
    not_modelled(&rows);
    bounds(&rows, jobs.len()).hold()
}

/// What the programs have to reach. An archive with the times of the folder that `tar` ran in may differ.
fn bounds(rows: &[Value], programs: usize) -> Bounds {
    let mut bounds = Bounds::default();
    let sum = |value: &dyn Fn(&Value) -> u64| rows.iter().map(value).sum::<u64>() as f64;
    bounds.at_least("programs", rows.len() as f64, programs as f64);
    bounds.at_most("internal errors", sum(&|row| row["internal"].as_u64().unwrap_or(0)), 0.0);
    let tests = sum(&|row| row["tests"].as_u64().unwrap_or(0));
    bounds.at_most("share of tests that do not end as natively", sum(&explore::unexplained) / tests, 0.005);
    for row in rows {
        let name = row["program"].as_str().unwrap_or("");
        bounds.at_least(&format!("{name}: paths that exit"), row["exit"].as_f64().unwrap_or(0.0), 1.0);
        bounds.at_least(&format!("{name}: lines"), row["covered"].as_f64().unwrap_or(0.0), 1.0);
    }
    bounds
}

fn table_row(row: &Value, input: &str) {
    let n = |value: &Value| value.as_u64().unwrap_or(0);
    let other = n(&row["unsupported"]) + n(&row["limits"]) + n(&row["internal"]) + n(&row["assumed"]);
    let replay = &row["replay"];
    println!(
        "| {} | `{input}` | {} | {} | {} | {other} | {} of {} | {}, {}, {} |",
        row["program"].as_str().unwrap_or(""),
        n(&row["paths"]),
        n(&row["exit"]),
        n(&row["fault"]),
        n(&row["covered"]),
        n(&row["lines"]),
        n(&replay["same"]),
        n(&replay["different"]),
        n(&replay["cannot"]),
    );
}

/// What the ledgers and the ends name that the tool lacks, summed over programs.
fn not_modelled(rows: &[Value]) {
    const KINDS: [&str; 2] = ["undefined-function", "unknown-system-call"];
    let mut sum: BTreeMap<(&str, &str), (u64, Vec<&str>)> = BTreeMap::new();
    for row in rows {
        let list = |name: &str| row[name].as_array().into_iter().flatten();
        let ledger = list("ledger").filter(|entry| KINDS.iter().any(|kind| entry["kind"] == *kind)).map(|entry| (&entry["kind"], entry));
        for (kind, entry) in ledger.chain(list("gaps").map(|entry| (&entry["class"], entry))) {
            let (count, programs) = sum.entry((kind.as_str().unwrap_or(""), entry["what"].as_str().unwrap_or(""))).or_default();
            *count += entry["count"].as_u64().unwrap_or(0);
            programs.extend(row["program"].as_str());
        }
    }
    for ((kind, what), (count, programs)) in sum {
        println!("{kind}: {what}: {count} in {}", programs.join(", "));
    }
}
