//! The host's own programs, as Debian ships them: stripped, dynamic, for glibc. Each is explored on symbolic words and input, and each path's test is run
//! natively: it ends the same, with the same output. A path whose ledger says that something was skipped or assumed may end otherwise, and is counted.

use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds of each exploration
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only one program in so many
    #[arg(long, default_value_t = 1)]
    every: usize,
}

/// Programs with their words; some with calls that fail, or whose results are input, which the replay library does natively.
const PROGRAMS: &[&str] = &[
    "--fail-calls 1 /bin/cat --sym-stdin 1",
    "--fail-calls 1 /bin/mkdir -p a/b",
    "--fail-calls 1 /bin/sed -n p --sym-stdin 1",
    "--fail-calls 1 /usr/bin/mawk 1 --sym-stdin 1",
    "--fail-calls 1 /usr/bin/sort --sym-stdin 1",
    "--fail-calls 2 /usr/bin/tee made --sym-stdin 1",
    "--sym-calls clock_gettime /bin/date -u +%H",
    "--sym-calls getrandom /usr/bin/shuf -e a b c",
    "/bin/cat --sym-stdin 3",
    "/bin/dash -c --sym-arg 2",
    "/bin/echo --sym-arg 3",
    "/bin/ls -d --sym-arg 2",
    "/bin/sed --sym-arg 2 --sym-stdin 2",
    "/bin/sed -n p --sym-stdin 3",
    "/bin/true --sym-arg 2",
    "/usr/bin/base64 --sym-stdin 3",
    "/usr/bin/basename --sym-arg 3",
    "/usr/bin/cmp --sym-arg 2 --sym-stdin 1",
    "/usr/bin/cut -c1 --sym-stdin 3",
    "/usr/bin/dirname --sym-arg 3",
    "/usr/bin/expr --sym-args 1 3 1",
    "/usr/bin/factor --sym-arg 2",
    "/usr/bin/fold -w --sym-arg 1 --sym-stdin 3",
    "/usr/bin/head -c --sym-arg 2 --sym-stdin 2",
    "/usr/bin/mawk --sym-arg 2 --sym-stdin 2",
    "/usr/bin/md5sum --sym-stdin 1",
    "/usr/bin/numfmt --to=iec --sym-arg 3",
    "/usr/bin/od --sym-stdin 3",
    "/usr/bin/perl -ne print --sym-stdin 2",
    "/usr/bin/printf --sym-arg 3",
    "/usr/bin/seq --sym-arg 2",
    "/usr/bin/sort --sym-stdin 3",
    "/usr/bin/test --sym-args 1 3 1",
    "/usr/bin/tr a b --sym-stdin 3",
    "/usr/bin/uniq --sym-stdin 4",
    "/usr/bin/wc --sym-stdin 2",
    "/usr/bin/xz -T2 -c --sym-stdin 2",
    "/usr/bin/xz -dc --sym-stdin 3",
];

/// What became of a program's tests.
#[derive(Default)]
struct Replayed {
    same: u64,
    /// Different ends of paths on which the ledger says that something was skipped or assumed.
    noted: u64,
    cannot: u64,
    different: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    let programs: Vec<&str> = PROGRAMS.iter().copied().filter(|program| program.contains(&args.only)).step_by(args.every.max(1)).collect();
    let all: Mutex<Vec<(&str, u64, bool, Replayed)>> = Mutex::default();
    process::parallel(&programs, |program| {
        let (paths, every, replayed) = explore(program, args.seconds).with_context(|| format!("`{program}`"))?;
        all.lock().expect("no holder panics").push((program, paths, every, replayed));
        Ok(())
    })?;
    let mut all = all.into_inner().expect("no holder panics");
    all.sort_by_key(|(program, ..)| *program);
    println!("| program | paths | all | same end | noted in the ledger | cannot replay | different |\n|---|---|---|---|---|---|---|");
    let mut total = [0; 3];
    for (program, paths, every, Replayed { same, noted, cannot, different }) in &all {
        println!(
            "| `{program}` | {paths} | {} | {same} | {noted} | {cannot} | {} |",
            if *every { "yes" } else { "" },
            different.join("; ")
        );
        total = [total[0] + same, total[1] + noted, total[2] + different.len() as u64];
    }
    println!("host: {} tests end as natively, {} noted, {} differ", total[0], total[1], total[2]);
    ensure!(total[2] == 0, "{} tests end otherwise natively", total[2]);
    ensure!(all.iter().all(|(.., replayed)| replayed.same > 0), "a program has no test that ends as natively");
    Ok(())
}

/// Explores a program and replays its tests: how many paths, and whether they are all.
fn explore(program: &str, seconds: u64) -> Result<(u64, bool, Replayed)> {
    let dir = tempfile::tempdir()?;
    let tool = std::fs::canonicalize(super::wryneck()).context("build it with `cargo build --release`")?;
    let told = |words: &[&str]| -> Result<Value> {
        let done = Command::new(&tool).current_dir(dir.path()).args(words).output()?;
        serde_json::from_slice(&done.stdout).with_context(|| format!("no result: {}", String::from_utf8_lossy(&done.stderr).trim()))
    };
    let seconds = format!("{seconds}s");
    let words: Vec<&str> = program.split(' ').collect();
    let run = told(&[&["run", "--json", "--no-replay", "--emit", "all", "--max-time", &seconds, "--output", "out"][..], &words].concat())?;
    let mut replayed = Replayed::default();
    let tests = told(&["replay", "--json", "out"])?;
    for test in tests["tests"].as_array().into_iter().flatten() {
        let why = test["why"].as_str().unwrap_or_default();
        match test["verdict"].as_str() {
            Some("same end") => replayed.same += 1,
            Some("different end") if why.contains(super::explore::ASSUMED) => replayed.noted += 1,
            Some("different end") => replayed.different.push(format!("{}: {why}", test["test"].as_str().unwrap_or_default())),
            _ => replayed.cannot += 1,
        }
    }
    Ok((run["totals"]["paths"].as_u64().unwrap_or_default(), run["every_path"] == true, replayed))
}
