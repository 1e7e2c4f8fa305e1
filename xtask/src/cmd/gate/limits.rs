//! Hard programs under small limits: the memory of a run and its children stays within a tenth of `--max-memory`, it ends within two seconds of
//! `--max-time`, and what it gave up is in the ledger. Results are kept by case, so that a gate that was stopped goes on.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::watched;

#[derive(clap::Args)]
pub struct Args {
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Seconds of `--max-time`, for each of which every case is run
    #[arg(long, value_delimiter = ',', default_value = "20,5,3")]
    seconds: Vec<u64>,
    /// `--max-memory`, in MiB
    #[arg(long, default_value_t = 500)]
    memory: u64,
    /// Where results are kept; those that are there are not measured again
    #[arg(long, default_value = "docs/results/limits.jsonl")]
    results: PathBuf,
}

/// How long after its time a run may end, in seconds, and how much more memory it may have, as a part of 1.
const LATE: f64 = 2.0;
const ABOVE: f64 = 0.1;
const SOURCES: &str = "tests/hard";

struct Case {
    name: &'static str,
    command: &'static str,
    source: &'static str,
    options: &'static [&'static str],
    input: &'static [&'static str],
}

const fn case(name: &'static str, source: &'static str, options: &'static [&'static str], input: &'static [&'static str]) -> Case {
    Case { name, command: "run", source, options, input }
}

// One more: a row, and its source in `tests/hard`.
static CASES: &[Case] = &[
    case("solver", "solver.c", &[], &[]),
    case("solver-table", "table.c", &[], &["--sym-arg", "64"]),
    case("recursion", "recursion.c", &[], &[]),
    case("huge-object", "object.c", &[], &[]),
    case("huge-argument", "argument.c", &[], &["--sym-arg", "65536"]),
    case("many-paths", "paths.c", &[], &["--sym-arg", "40"]),
    case("slow-replays", "findings.c", &[], &["--sym-arg", "1"]),
    case("huge-lowering", "lowering.c", &[], &["--sym-arg", "1"]),
    case("path-tree", "paths.c", &["--tree", "tree"], &["--sym-arg", "40"]),
    case("long-loop", "loop.c", &[], &["--sym-arg", "1"]),
    case("forks-with-memory", "forks.c", &[], &["--sym-arg", "60"]),
    case("memory", "memory.c", &[], &["--sym-arg", "1"]),
    case("expressions", "expressions.c", &[], &["--sym-arg", "1"]),
    case("host-file", "file.c", &[], &["big", "--sym-arg", "1"]),
    case("reports", "paths.c", &["--emit", "all", "--sarif", "s", "--lcov", "l", "--jsonl", "j"], &["--sym-arg", "40"]),
    Case {
        name: "verify-sequences",
        command: "verify",
        source: "events.c",
        options: &["--sequences", "sequences", "--no-prune"],
        input: &["--sym-arg", "40"],
    },
];

pub fn run(args: &Args) -> Result<()> {
    let known = fs::read_to_string(&args.results).unwrap_or_default();
    let mut rows: Vec<Value> = known.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let dir = tempfile::tempdir()?;
    // As large as the largest that is read, but a megabyte.
    fs::write(dir.path().join("big"), vec![b'x'; 255 << 20])?;
    let mut bad = 0;
    for case in CASES.iter().filter(|case| case.name.contains(&args.only)) {
        for &seconds in &args.seconds {
            let same = |row: &&Value| row["case"] == case.name && row["max_time"] == seconds && row["max_memory"] == args.memory << 20;
            let row = match rows.iter().find(same) {
                Some(row) => row.clone(),
                None => {
                    let row = measure(case, seconds, args.memory << 20, dir.path())?;
                    let file = fs::OpenOptions::new().append(true).create(true).open(&args.results);
                    writeln!(file.with_context(|| format!("cannot write `{}`", args.results.display()))?, "{row}")?;
                    rows.push(row.clone());
                    row
                }
            };
            let wrong = row["wrong"].as_array().is_some_and(|wrong| !wrong.is_empty());
            bad += usize::from(wrong);
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            println!(
                "{:<18} {seconds:>3} s: {:>6.2} s, {:>4} MiB, {:<24} {}",
                case.name,
                row["seconds"].as_f64().unwrap_or(0.0),
                row["peak"].as_u64().unwrap_or(0) >> 20,
                text("end"),
                if wrong { format!("WRONG {}", row["wrong"]) } else { String::new() }
            );
        }
    }
    ensure!(bad == 0, "{bad} runs did not keep to their limits");
    Ok(())
}

fn measure(case: &Case, seconds: u64, memory: u64, dir: &Path) -> Result<Value> {
    let out = dir.join("out");
    let _ = fs::remove_dir_all(&out);
    let source = Path::new(SOURCES).join(case.source).canonicalize()?;
    let wryneck = fs::canonicalize(super::wryneck()).context("build wryneck with `cargo build --release`")?;
    let seen = watched::run(
        Command::new(wryneck)
            .current_dir(dir)
            .args([case.command, "--json", "--max-time", &format!("{seconds}s"), "--max-memory", &format!("{}M", memory >> 20), "--output"])
            .arg(&out)
            .args(case.options)
            .arg(source)
            .args(case.input),
    )?;
    let said = String::from_utf8_lossy(&seen.output.stderr);
    let run: Value = serde_json::from_slice(&seen.output.stdout).unwrap_or(Value::Null);
    let given_up: Vec<&Value> = run["ledger"].as_array().into_iter().flatten().filter(|row| row["kind"] == "cut-off").collect();
    let mut wrong = Vec::new();
    if seen.seconds > seconds as f64 + LATE {
        wrong.push(format!("it ended {:.2} s late", seen.seconds - seconds as f64));
    }
    if seen.peak as f64 > memory as f64 * (1.0 + ABOVE) {
        wrong.push(format!("it had {} MiB", seen.peak >> 20));
    }
    let end = match (&run, seen.output.status.code()) {
        // Before there is a run: the error names the limit.
        (Value::Null, Some(2)) if said.contains(" limit (") => said.lines().next().unwrap_or_default().chars().take(100).collect(),
        (Value::Null, code) => {
            wrong.push(format!("no summary, exit code {code:?}: {said}"));
            "none".to_owned()
        }
        (run, _) if run["status"]["kind"] == "stopped" => {
            if given_up.is_empty() {
                wrong.push("the ledger does not say what was given up".into());
            }
            format!("stopped: {}", run["status"]["limit"].as_str().unwrap_or_default())
        }
        (_, code) => {
            let told = matches!(code, Some(0 | 1 | 3)) || !given_up.is_empty() || said.contains("limit (");
            if !told {
                wrong.push(format!("exit code {code:?}: {said}"));
            }
            run["status"]["kind"].as_str().unwrap_or_default().to_owned()
        }
    };
    Ok(json!({
        "case": case.name, "max_time": seconds, "max_memory": memory, "seconds": (seen.seconds * 100.0).round() / 100.0, "peak": seen.peak,
        "code": seen.output.status.code(), "end": end, "given_up": given_up.iter().map(|row| &row["what"]).collect::<Vec<_>>(),
        "findings": run["findings"].as_array().map(Vec::len), "wrong": wrong,
    }))
}
