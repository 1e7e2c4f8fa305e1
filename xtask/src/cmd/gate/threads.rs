//! Threads: random programs of two to four threads (`random_threads.rs`) are explored with `--schedules 2`, and each test is replayed natively under
//! its schedule: real threads that one scheduler lets run, on the C library's memory, the processor and the kernel. Exit code, output, fault and
//! order are the same. Every verdict but `same end` is a difference.
//!
//! Sequential programs also run as they are, with musl's own functions of threads: their end is one of the tests'.
//!
//! With `--frontend host` each program is explored as a dynamic executable of the machine's own C library, whose functions of threads run. Each of its
//! ends in the order without deviation must be one of its bitcode's with `--schedules 2`, or of 20 native runs, of a sequential program that of a native
//! run. What time decides, or which of `detach` and `join` is first, need not be seen natively.
//!
//! With `--frontend machine` each program is explored as a static executable of musl, too, with `--schedules 1` and without races. Its ends, with
//! their output, must be those of its bitcode, each as often.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::seeds::{self, Seeds};
use crate::bitcode::NativeMusl;
use crate::process;
use crate::random_threads::{Program, program};

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(long, default_value_t = 200)]
    programs: u64,
    /// The form that is checked. `bitcode`: against native replays of its tests. `machine`, executables of musl: against bitcode. `host`, executables of glibc:
    /// against bitcode and native runs
    #[arg(long, value_enum, default_value_t)]
    frontend: Frontend,
    #[command(flatten)]
    seeds: Seeds,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Frontend {
    #[default]
    Bitcode,
    Machine,
    Host,
}

/// Most flips of an exploration.
const FORKS: &str = "60";
/// How long a sequential program may run until it counts as one that waits for ever.
const WAITS: Duration = Duration::from_secs(2);

/// If an executable has an end that its bitcode lacks, the program runs natively so many times.
const RUNS: u32 = 20;

/// What the tests of all programs are, by name.
type Counts = Mutex<BTreeMap<&'static str, u64>>;

pub fn run(args: &Args) -> Result<()> {
    let musl = NativeMusl::debian()?;
    let counts = Counts::default();
    let wrong = args.seeds.compare(args.programs, |seed, source| match args.frontend {
        Frontend::Bitcode => compare(source, &program(seed), seed, &musl, &counts),
        Frontend::Machine => compare_front_ends(source, &program(seed), seed, &musl, &counts),
        Frontend::Host => compare_of_host(source, &program(seed), seed, &counts),
    })?;
    let counts = counts.into_inner().expect("no holder panics");
    let counted: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    println!("{} programs: {}", args.programs, counted.join(", "));
    println!("{} differ", wrong.len());
    ensure!(wrong.is_empty(), "{} programs have tests that end otherwise", wrong.len());
    Ok(())
}

/// How a program ended: its status and output, or it waits for ever.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exit(i32, Vec<u8>),
    Waits,
    /// As nothing else may be expected to.
    Fault,
}

impl End {
    fn shown(&self) -> String {
        match self {
            End::Exit(code, stdout) => format!("exit {code} {:?}", String::from_utf8_lossy(stdout)),
            End::Waits => "deadlock".into(),
            End::Fault => "fault".into(),
        }
    }
}

fn compare(source: &Path, program: &Program, seed: u64, musl: &NativeMusl, counts: &Counts) -> Result<Vec<String>> {
    let count = |what, by: u64| *counts.lock().expect("no holder panics").entry(what).or_default() += by;
    fs::write(source, &program.text)?;
    let out = source.with_extension("out");
    let mut run = Command::new(super::wryneck());
    run.args(["run", "--quiet", "--no-replay", "--emit", "all", "--max-time", "120s", "--max-forks", FORKS, "--schedules", "2"]);
    // Races end paths, so every other program goes on behind them.
    run.args(if seed.is_multiple_of(2) { ["--off", "races"] } else { ["--cc-flag", "-DAPART"] });
    run.args(["--cc-flag", ["-O0", "-O1"][(seed / 4 % 2) as usize], "--output"]).arg(&out).arg(source);
    if program.has_input {
        run.args(["--sym-arg", "1"]);
    }
    let ended = run.output().context("cannot start wryneck: build it with `cargo build --release`")?;
    if !matches!(ended.status.code(), Some(0 | 1 | 3)) {
        bail!("wryneck ended with {}:\n{}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    let (mut ends, mut problems) = (Vec::new(), Vec::new());
    for test in seeds::tests(&out)? {
        count("tests", 1);
        count("switches", test["order"]["count"].as_u64().unwrap_or(0));
        let what = test["what"].as_str().unwrap_or_default();
        match test["class"].as_str() {
            Some("exit") => {
                count("exits", 1);
                ends.push(End::Exit(what.parse().context("an exit has a status")?, seeds::bytes(&test["stdout"])));
            }
            Some("fault") => {
                let kind = match what {
                    "data-race" => "data races",
                    "deadlock" => "deadlocks",
                    _ => "other faults",
                };
                count(kind, 1);
                ends.push(if what == "deadlock" { End::Waits } else { End::Fault });
            }
            _ => problems.push(format!("a path ends as {} {what}", test["class"])),
        }
    }
    let replayed = Command::new(super::wryneck()).args(["replay", "--json"]).arg(&out).output()?;
    let said: Value = serde_json::from_slice(&replayed.stdout).context("the replay prints one JSON object")?;
    for test in said["tests"].as_array().into_iter().flatten().filter(|test| test["verdict"] != "same end") {
        problems.push(format!("{}: {} {}", test["test"].as_str().unwrap_or("?"), test["verdict"], test["why"]));
    }
    if program.sequential && !program.has_input && !ends.contains(&End::Fault) {
        count("sequential programs as they are", 1);
        let real = as_it_is(source, musl, seed % 2 == 1)?;
        if !ends.contains(&real) {
            problems.push(format!("as it is, it ends as {real:?}, which no test does: {ends:?}"));
        }
    }
    problems.truncate(4);
    Ok(problems)
}

/// Compares the ends of the program's executable with those of its bitcode.
fn compare_front_ends(source: &Path, program: &Program, seed: u64, musl: &NativeMusl, counts: &Counts) -> Result<Vec<String>> {
    fs::write(source, &program.text)?;
    let level = ["-O0", "-O1", "-O2"][(seed % 3) as usize];
    let binary = source.with_extension("native");
    process::output(musl.linking(&[source], &binary)?.args(["-w", "-g", level]))?;
    let options = ["--schedules", "1"];
    let of_bitcode = ends(source, program, &[&options[..], &["--cc-flag", level]].concat())?;
    let of_binary = ends(&binary, program, &options)?;
    let [Explored { all: of_bitcode, complete: true }, Explored { all: of_binary, complete: true }] = [of_bitcode, of_binary] else {
        *counts.lock().expect("no holder panics").entry("not explored to their end").or_default() += 1;
        return Ok(Vec::new());
    };
    let mut counts = counts.lock().expect("no holder panics");
    *counts.entry("ends").or_default() += of_bitcode.values().sum::<u64>();
    let all = of_bitcode.keys().chain(of_binary.keys());
    let count = |ends: &BTreeMap<String, u64>, end: &str| ends.get(end).copied().unwrap_or(0);
    let differ = all.filter(|end| count(&of_bitcode, end) != count(&of_binary, end));
    let mut problems: Vec<String> =
        differ.map(|end| format!("{end}: {} of bitcode, {} of the executable", count(&of_bitcode, end), count(&of_binary, end))).collect();
    problems.dedup();
    problems.truncate(4);
    Ok(problems)
}

/// Compares the ends of the program's dynamic executable with those of its bitcode and of native runs.
fn compare_of_host(source: &Path, program: &Program, seed: u64, counts: &Counts) -> Result<Vec<String>> {
    let count = |what, by: u64| *counts.lock().expect("no holder panics").entry(what).or_default() += by;
    fs::write(source, &program.text)?;
    let level = ["-O0", "-O1", "-O2"][(seed % 3) as usize];
    let binary = source.with_extension("native");
    // `pthread_exit` would load it, for so long that another thread has its turn.
    let linked = ["-Wl,--no-as-needed", "-lgcc_s"];
    process::output(Command::new("gcc").args(["-w", "-g", level, "-pthread", "-o"]).arg(&binary).arg(source).args(linked))?;
    let sequential = program.sequential && !program.has_input;
    let of_binary = ends(&binary, program, &["--schedules", "0"])?;
    count("ends", of_binary.all.values().sum());
    let mut known = BTreeMap::new();
    if !sequential {
        let of_bitcode = ends(source, program, &["--cc-flag", level, "--schedules", "2"])?;
        count("explored to their end as bitcode", of_bitcode.complete.into());
        known = of_bitcode.all;
        // A lock that is given back without being held ends a path there, and not natively.
        if known.keys().any(|end| end.starts_with("fault")) {
            count("with undefined ends", 1);
            return Ok(Vec::new());
        }
    }
    let mut unknown: Vec<&String> = of_binary.all.keys().filter(|end| !known.contains_key(*end)).collect();
    for _ in 0..RUNS {
        if unknown.is_empty() || program.has_input {
            break;
        }
        let real = natively(&binary, &source.with_extension("stdout"))?.shown();
        unknown.retain(|end| **end != real);
    }
    if ["later(", "_detach(t", "_tryjoin_np(", "ready(", "sigtimedwait("].iter().any(|decides| program.body().contains(decides)) {
        count("that time or a detached thread decides, not seen", unknown.len() as u64);
        return Ok(Vec::new());
    }
    Ok(unknown.into_iter().take(4).map(|end| format!("{end} is an end of the executable alone")).collect())
}

/// How often each end of a program was reached, and whether every path was run to its end.
struct Explored {
    all: BTreeMap<String, u64>,
    complete: bool,
}

fn ends(target: &Path, program: &Program, options: &[&str]) -> Result<Explored> {
    let out = target.with_extension("explored");
    let mut run = Command::new(super::wryneck());
    run.args(["run", "--json", "--no-replay", "--emit", "all", "--max-time", "60s", "--off", "races", "--output"]);
    run.arg(&out).args(options).arg(target).args(if program.has_input { &["--sym-arg", "1"][..] } else { &[] });
    let ended = run.output().context("cannot start wryneck: build it with `cargo build --release`")?;
    let said: Value =
        serde_json::from_slice(&ended.stdout).with_context(|| format!("wryneck: {}", String::from_utf8_lossy(&ended.stderr)))?;
    let mut all = BTreeMap::new();
    for test in seeds::tests(&out)? {
        let (class, what) = (test["class"].as_str().unwrap_or_default(), test["what"].as_str().unwrap_or_default());
        let text = String::from_utf8_lossy(&seeds::bytes(&test["stdout"])).into_owned();
        *all.entry(if what == "deadlock" { what.to_owned() } else { format!("{class} {what} {text:?}") }).or_default() += 1;
    }
    fs::remove_dir_all(&out)?;
    Ok(Explored { all, complete: said["status"]["kind"] == "complete" })
}

/// Runs the program without a scheduler.
fn as_it_is(source: &Path, musl: &NativeMusl, apart: bool) -> Result<End> {
    let binary = source.with_extension("native");
    process::output(musl.linking(&[source], &binary)?.args(["-w", "-O1"]).args(apart.then_some("-DAPART")))?;
    natively(&binary, &source.with_extension("stdout"))
}

/// Runs an executable, with its output to a file.
fn natively(binary: &Path, stdout: &Path) -> Result<End> {
    let mut child = Command::new(binary).stdin(Stdio::null()).stdout(fs::File::create(stdout)?).spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > WAITS {
            child.kill()?;
            child.wait()?;
            return Ok(End::Waits);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    match status.code() {
        Some(code) => Ok(End::Exit(code, fs::read(stdout)?)),
        None => bail!("as it is, it dies of signal {:?}", status.signal()),
    }
}
