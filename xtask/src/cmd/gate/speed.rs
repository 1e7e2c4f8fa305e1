//! Speed: concrete programs against native in the same run, start-up, and small symbolic runs to their end.
//!
//! Every figure is the least of several runs. Times of the native programs have the time of an empty one subtracted, and the tool's
//! have the time of an empty one under it subtracted; symbolic runs are wall time, start-up included. `gate same --set speed` counts the tool's own
//! instructions on the rows of bitcode and C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bounds::Bounds;
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Runs of which the quickest counts
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Also echo `--sym-args 0 3 3`, which takes longer
    #[arg(long)]
    long: bool,
}

/// Seconds of a start-up, of a musl program.
const START: f64 = 0.025;
/// Concrete programs: how often their native time, as bitcode and lifted, and IR instructions a second.
const RATIO: f64 = 60.0;
const LIFTED: f64 = 200.0;
const RATE: f64 = 150e6;
/// Bytes of a small symbolic run.
const MEMORY: f64 = 300e6;

/// What the tool runs: program, flags of the compiler, input.
pub(super) type Row<'a> = (&'a str, &'static [&'static str], &'static [&'static str]);

const SCALAR: &[&str] = &["--cc-flag", "-O2", "--cc-flag", "-fno-vectorize", "--cc-flag", "-fno-slp-vectorize"];

pub(super) const EMPTY: Row<'static> = ("empty.c", &["--cc-flag", "-O2"], &[]);
pub(super) const CONCRETE: [Row<'static>; 2] = [("sieve.c", SCALAR, &[]), ("sha256.c", SCALAR, &[])];
/// Symbolic runs, with the gate in seconds.
pub(super) const SYMBOLIC: [(Row<'static>, f64); 5] = [
    (("echo.bc", &[], &["--sym-args", "0", "2", "2"]), 0.15),
    (("uname.bc", &[], &["--sym-arg", "2"]), 0.6),
    (("basename.bc", &[], &["--sym-arg", "3"]), 0.15),
    (("dirname.bc", &[], &["--sym-arg", "3"]), 0.15),
    (("cat.bc", &[], &["-v", "--sym-stdin", "3"]), 1.5),
];
/// Also symbolic: the pattern of 7 bytes is in the program.
pub(super) const MATCHER: Row<'static> = ("matcher.c", &["--cc-flag", "-O1"], &[]);

pub fn run(args: &Args) -> Result<()> {
    let mut bounds = Bounds::default();
    let dir = tempfile::tempdir()?;
    let row = |row, runs| ours(&Run::of(row, dir.path())?, dir.path(), runs);
    let native_empty = native(&program(EMPTY.0, dir.path())?, dir.path(), args.runs)?;
    let ours_empty = row(EMPTY, args.runs)?;
    println!("start-up: {:.1} ms for a musl program, exec to the end of main (gate: {:.0})", ours_empty.seconds * 1e3, START * 1e3);
    bounds.at_most("seconds of a start-up", ours_empty.seconds, START);
    println!("{:<10} {:>12} {:>12} {:>8} {:>16}", "concrete", "native -O2", "wryneck", "ratio", "instructions/s");
    for concrete in CONCRETE {
        let base = (native(&program(concrete.0, dir.path())?, dir.path(), args.runs)? - native_empty).max(1e-4);
        let name = concrete.0.trim_end_matches(".c");
        compared((name, RATIO), base, &row(concrete, args.runs)?, &ours_empty, &mut bounds);
    }
    lifted(dir.path(), args.runs, &mut bounds)?;
    println!("{:<34} {:>10} {:>10} {:>8} {:>10}", "symbolic, to the end", "wall", "gate", "paths", "memory");
    for (symbolic, gate) in SYMBOLIC {
        let what = format!("{} {}", symbolic.0.trim_end_matches(".bc"), symbolic.2.join(" "));
        report(&what, &row(symbolic, args.runs)?, gate, &mut bounds);
    }
    report("matcher, 7 pattern bytes", &row(MATCHER, args.runs)?, 1.5, &mut bounds);
    if args.long {
        report("echo --sym-args 0 3 3", &row(("echo.bc", &[], &["--sym-args", "0", "3", "3"]), 1)?, 60.0, &mut bounds);
    }
    bounds.hold()
}

/// The same programs as machine code, static against musl: the executable runs natively and lifted.
fn lifted(dir: &Path, runs: u32, bounds: &mut Bounds) -> Result<()> {
    let build = |source: &Path, name: &str| -> Result<PathBuf> {
        let binary = dir.join(name);
        let built = Command::new("musl-gcc").args(["-O2", "-w", "-static", "-o"]).arg(&binary).arg(source).status()?;
        ensure!(built.success(), "musl-gcc does not compile {}", source.display());
        Ok(binary)
    };
    let ours = |binary: &Path| ours(&Run { target: binary.to_owned(), options: &[], input: &[] }, dir, runs);
    let empty = build(&program(EMPTY.0, dir)?, "empty.lifted")?;
    let native_empty = quickest(&empty, runs)?;
    let ours_empty = ours(&empty)?;
    println!("start-up: {:.1} ms for an executable", ours_empty.seconds * 1e3);
    println!("{:<10} {:>12} {:>12} {:>8} {:>16}", "lifted", "native -O2", "wryneck", "ratio", "instructions/s");
    for (source, ..) in CONCRETE {
        let name = source.trim_end_matches(".c");
        let binary = build(&program(source, dir)?, name)?;
        let base = (quickest(&binary, runs)? - native_empty).max(1e-4);
        compared((name, LIFTED), base, &ours(&binary)?, &ours_empty, bounds);
    }
    Ok(())
}

/// A concrete run against the seconds that the program takes natively, both without their start.
fn compared((name, most): (&str, f64), native: f64, run: &Ours, empty: &Ours, bounds: &mut Bounds) {
    let seconds = run.seconds - empty.seconds;
    let rate = run.instructions / seconds / 1e6;
    bounds.at_most(&format!("{name}: times the native time"), seconds / native, most);
    bounds.at_least(&format!("{name}: instructions a second"), rate * 1e6, RATE);
    println!("{name:<10} {:>9.1} ms {:>9.1} ms {:>7.0}x {rate:>12.0} M/s", native * 1e3, seconds * 1e3, seconds / native);
}

fn report(what: &str, run: &Ours, gate: f64, bounds: &mut Bounds) {
    bounds.at_most(&format!("{what}: seconds"), run.seconds, gate);
    bounds.at_most(&format!("{what}: bytes of memory"), run.memory, MEMORY);
    println!("{what:<34} {:>8.3} s {gate:>8.2} s {:>8} {:>6.0} MiB", run.seconds, run.paths, run.memory / 1048576.0);
}

fn native(source: &Path, dir: &Path, runs: u32) -> Result<f64> {
    let binary = dir.join("native");
    let built = Command::new("clang-22").args(["-O2", "-w", "-static", "-o"]).arg(&binary).arg(source).status()?;
    ensure!(built.success(), "clang-22 does not compile {}", source.display());
    quickest(&binary, runs)
}

/// The least time a program takes, process start included, in seconds.
fn quickest(binary: &Path, runs: u32) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..runs * 4 {
        let start = Instant::now();
        let status = Command::new(binary).stdout(Stdio::null()).status()?;
        best = best.min(start.elapsed().as_secs_f64());
        ensure!(status.success(), "{} ended with {status}", binary.display());
    }
    Ok(best)
}

/// Where the program of a row is. The empty one is written to the folder.
fn program(name: &str, dir: &Path) -> Result<PathBuf> {
    if name == EMPTY.0 {
        fs::write(dir.join(name), "int main(void) { return 0; }\n")?;
        return Ok(dir.join(name));
    }
    Ok(if name.ends_with(".c") { Path::new("benches/c").join(name) } else { Cache::open()?.path("coreutils/O2").join(name) })
}

/// A run of the tool.
pub(super) struct Run {
    target: PathBuf,
    options: &'static [&'static str],
    input: &'static [&'static str],
}

impl Run {
    pub(super) fn of((name, options, input): Row, dir: &Path) -> Result<Run> {
        Ok(Run { target: program(name, dir)?, options, input })
    }

    /// To the end, with `dir/out` as its folder: the seconds and the summary. `tool` begins the command.
    pub(super) fn explored(&self, tool: &mut Command, dir: &Path) -> Result<(f64, Value)> {
        let out = dir.join("out");
        let _ = fs::remove_dir_all(&out);
        tool.args(["run", "--json", "--output"]).arg(&out).args(self.options).arg(&self.target).args(self.input);
        let start = Instant::now();
        let done = tool.output().with_context(|| format!("cannot start `{}`", tool.get_program().display()))?;
        let seconds = start.elapsed().as_secs_f64();
        let summary: Value = serde_json::from_str(String::from_utf8_lossy(&done.stdout).trim())
            .with_context(|| format!("{}: {}", self.target.display(), String::from_utf8_lossy(&done.stderr)))?;
        ensure!(summary["status"]["kind"] == "complete", "{} was not explored to its end", self.target.display());
        Ok((seconds, summary))
    }
}

struct Ours {
    seconds: f64,
    instructions: f64,
    paths: u64,
    memory: f64,
}

/// Runs the tool once to fill its caches, then `runs` times.
fn ours(run: &Run, dir: &Path, runs: u32) -> Result<Ours> {
    let mut best: Option<Ours> = None;
    for i in 0..=runs {
        let (seconds, summary) =
            run.explored(&mut Command::new(super::wryneck()), dir).context("wryneck is built with `cargo build --release`")?;
        let total = |name: &str| summary["totals"][name].as_f64().unwrap_or(0.0);
        let this = Ours { seconds, instructions: total("instructions"), paths: total("paths") as u64, memory: total("memory") };
        if i > 0 && best.as_ref().is_none_or(|b| this.seconds < b.seconds) {
            best = Some(this);
        }
    }
    best.context("no run was asked for")
}
