//! The twenty programs as static executables: their machine code against their bitcode on the same symbolic input, in paths a second, and
//! whether the machine code's tests replay natively to the same end, but for those whose end shows in no native run.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::explore::{self, Job};
use super::twenty::{chosen, job};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each run of each program
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/machine.jsonl")]
    results: PathBuf,
}

/// Paths a second of machine code, at least, as a share of bitcode's.
const SHARE: f64 = 0.5;

pub fn run(args: &Args) -> Result<()> {
    let programs = Cache::open()?.path("coreutils/O2");
    let (mut slow, mut different) = (Vec::new(), Vec::new());
    for name in chosen(&args.program) {
        let bitcode = job(&format!("{name}.bc"), programs.join(name).with_extension("bc"), &[]);
        let machine = job(name, programs.join(name), &["--machine-code"]);
        let row = |job: Job, replay: Option<explore::Replay<'_>>| -> Result<Value> {
            let known = job.name.clone();
            let rows = explore::all(&[job], args.seconds, replay, &args.results)?;
            Ok(rows.into_iter().find(|r| r["program"] == *known).unwrap_or_default())
        };
        let (bitcode, machine) = (row(bitcode, None)?, row(machine, Some(&explore::replay))?);
        let rate = |r: &Value| r["paths"].as_f64().unwrap_or(0.0) / r["seconds"].as_f64().unwrap_or(1.0);
        let count = |key: &str| machine["replay"][key].as_u64().unwrap_or(0);
        let share = rate(&machine) / rate(&bitcode);
        let tests = machine["tests"].as_u64().unwrap_or(0);
        println!(
            "{name:<10} bitcode {:>8.0} paths/s, machine code {:>8.0} paths/s: {share:>5.2}; {} of {tests} tests end the same, {} differ, {} cannot replay, {} of them silent",
            rate(&bitcode),
            rate(&machine),
            count("same"),
            count("different"),
            count("cannot"),
            count("silent"),
        );
        // Where both are done, the time is that of starting.
        let done = [&bitcode, &machine].iter().all(|r| r["status"] == "complete");
        if share < SHARE && !done {
            slow.push(name);
        }
        if count("same") + count("silent") != tests {
            different.push(name);
        }
    }
    ensure!(slow.is_empty() && different.is_empty(), "slower than {SHARE} of bitcode: {slow:?}; tests end differently: {different:?}");
    Ok(())
}
