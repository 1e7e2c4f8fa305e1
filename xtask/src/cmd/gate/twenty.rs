//! Twenty programs of coreutils on symbolic arguments, files and standard input: how paths end, coverage, and whether every test
//! replays natively to the same end. Resumable: a program already in the results file is not run again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

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
const INPUT: [&str; 13] = ["--sym-args", "0", "1", "4", "--sym-args", "0", "2", "2", "--sym-files", "1", "8", "--sym-stdin", "8"];

pub fn run(args: &Args) -> Result<()> {
    let known = fs::read_to_string(&args.results).unwrap_or_default();
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    for line in known.lines() {
        let row: Value = serde_json::from_str(line).with_context(|| format!("{}: not our results", args.results.display()))?;
        rows.insert(format!("{} {}", row["program"], row["limit"]), row);
    }
    if let Some(dir) = args.results.parent() {
        fs::create_dir_all(dir)?;
    }
    for program in PROGRAMS.iter().filter(|p| args.program.is_empty() || args.program.iter().any(|q| q == *p)) {
        let key = format!("{} {}", Value::from(*program), args.seconds);
        if rows.contains_key(&key) {
            continue;
        }
        let row = measure(program, args)?;
        writeln!(OpenOptions::new().create(true).append(true).open(&args.results)?, "{row}")?;
        print(&row);
        rows.insert(key, row);
    }
    summarise(rows.values().filter(|r| r["limit"] == args.seconds));
    Ok(())
}

fn measure(program: &str, args: &Args) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let target = Cache::open()?.path("coreutils/O2").join(program).with_extension("bc");
    let done = Command::new(super::wryneck())
        .args(["run", "--json", "--max-time", &format!("{}s", args.seconds), "--output"])
        .arg(&out)
        .arg(&target)
        .args(INPUT)
        .output()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    let run: Value =
        serde_json::from_slice(&done.stdout).with_context(|| format!("{program}: {}", String::from_utf8_lossy(&done.stderr)))?;
    let count = |class: &str| -> u64 {
        let ends = run["ends"].as_array().into_iter().flatten();
        ends.filter(|e| e["class"] == class).filter_map(|e| e["count"].as_u64()).sum()
    };
    let tests = fs::read_dir(&out)?.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "ktest")).count();
    let replay = if args.no_replay { Value::Null } else { replay(&out)? };
    Ok(json!({
        "program": program, "limit": args.seconds, "seconds": run["seconds"], "status": run["status"]["kind"],
        "paths": run["totals"]["paths"], "exit": count("exit"), "fault": count("fault"), "unsupported": count("unsupported"),
        "limits": count("limit"), "internal": count("internal"), "assumed": count("assumed"),
        "lines": run["lines"]["all"], "covered": run["lines"]["covered"], "memory": run["totals"]["memory"],
        "tests": tests, "replay": replay, "ledger": run["ledger"],
    }))
}

fn replay(out: &std::path::Path) -> Result<Value> {
    let done = Command::new(super::wryneck()).args(["replay", "--json"]).arg(out).output()?;
    let told: Value = serde_json::from_slice(&done.stdout).unwrap_or(Value::Null);
    Ok(
        json!({ "exit": done.status.code(), "verdicts": told["verdicts"], "same": told["same"], "different": told["different"], "cannot": told["cannot"] }),
    )
}

fn print(r: &Value) {
    let n = |name: &str| r[name].as_u64().unwrap_or(0);
    println!(
        "{:<9} {:>7.1} s {:<9} {:>8} paths: {:>7} exit {:>5} fault {:>4} unsupported {:>4} limit {:>2} internal; lines {:>4}/{:<4} {:>5} tests, replay {}",
        r["program"].as_str().unwrap_or(""),
        r["seconds"].as_f64().unwrap_or(0.0),
        r["status"].as_str().unwrap_or(""),
        n("paths"),
        n("exit"),
        n("fault"),
        n("unsupported"),
        n("limits"),
        n("internal"),
        n("covered"),
        n("lines"),
        n("tests"),
        r["replay"]["exit"],
    );
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
