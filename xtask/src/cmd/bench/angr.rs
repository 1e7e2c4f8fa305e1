//! angr beside wryneck: ten small executables (`benches/angr`) with the same symbolic input, both explored to the end.
//!
//! The executables are linked dynamically against musl, so that angr has its summaries of the library's functions, as its users do. Both are timed as whole
//! processes, which is what the gate compares, and angr from loading the program on, too, without what Python takes to import it. wryneck is timed at first starts,
//! of programs of which there was none before (what is kept of the loader by any program serves them, too), and at later ones, for which the first has kept
//! lowered code. Of several runs the median counts. What angr does not end in its time took at least that.
//! Resumable: what the results file has, keyed by program and limit, is not run again. Cost: at most the limit for each program.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::{Cache, Inputs};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds that angr has for each program
    #[arg(long, default_value_t = 300)]
    seconds: u32,
    /// Only these programs
    programs: Vec<String>,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/angr.jsonl")]
    results: PathBuf,
}

const FOLDER: &str = "benches/angr";
/// angr, and what of the packages it needs is not too new for it.
const PACKAGES: [&str; 3] = ["angr==9.2.213", "bitstring<5", "pycparser==3.0"];
/// So many times as fast we are to be, on each program, at its first start.
const GATE: f64 = 50.0;

/// First and later starts of wryneck, and runs of angr, whose medians count.
const STARTS: usize = 9;
const ANGR_RUNS: usize = 3;

/// A program and its symbolic input.
struct Case {
    name: String,
    source: PathBuf,
    /// `argument` or `stdin`, and its bytes.
    kind: String,
    size: String,
}

pub fn run(args: &Args) -> Result<()> {
    let python = set_up()?;
    let mut rows = Vec::new();
    let known = fs::read_to_string(&args.results).unwrap_or_default();
    let known: Vec<Value> = known.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("the results file is damaged")?;
    let cases = cases()?;
    let wanted = |case: &&Case| args.programs.is_empty() || args.programs.contains(&case.name);
    for case in cases.iter().filter(wanted) {
        let same = |row: &&Value| row["program"] == case.name.as_str() && row["limit"] == args.seconds && row["input"] == case.input();
        let row = match known.iter().rfind(same) {
            Some(row) => row.clone(),
            None => case.measure(&python, args)?,
        };
        rows.push(row);
    }
    ensure!(!rows.is_empty(), "no such program in {FOLDER}");
    let slow = print(&rows);
    ensure!(slow == 0, "{slow} programs are not explored {GATE} times as fast as by angr");
    Ok(())
}

/// The programs, by name; the first line of each says what its input is.
fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(FOLDER).with_context(|| format!("cannot list `{FOLDER}`"))? {
        let source = entry?.path();
        if source.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let text = fs::read_to_string(&source)?;
        let input = text.lines().next().and_then(|line| line.strip_prefix("// input: ")?.split_once(' '));
        let (kind, size) = input.with_context(|| format!("`{}` does not begin with its input", source.display()))?;
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        cases.push(Case { name, kind: kind.into(), size: size.into(), source });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// A Python that has angr, in the cache.
fn set_up() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let _lock = cache.lock()?;
    let folder = cache.product("angr", &Inputs::default().texts(PACKAGES), |dir| {
        println!("setting angr up");
        process::logged(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")), &dir.join("venv.log"))?;
        let pip = dir.join("venv/bin/python");
        process::logged(Command::new(pip).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES), &dir.join("pip.log"))
    })?;
    Ok(folder.join("venv/bin/python"))
}

impl Case {
    fn input(&self) -> String {
        format!("{} {}", self.kind, self.size)
    }

    /// Explores it with both and keeps what came out.
    fn measure(&self, python: &Path, args: &Args) -> Result<Value> {
        let dir = tempfile::tempdir()?;
        let program = dir.path().join(&self.name);
        let row = json!({
            "program": self.name, "input": self.input(), "limit": args.seconds,
            "wryneck": self.with_wryneck(&program, dir.path())?, "angr": self.with_angr(python, &program, args.seconds)?,
        });
        let mut file = OpenOptions::new().create(true).append(true).open(&args.results)?;
        writeln!(file, "{row}")?;
        Ok(row)
    }

    /// Builds the program; of its content there has been none before.
    fn build(&self, program: &Path) -> Result<()> {
        let nanoseconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let own = format!("-Wl,--build-id=0x{nanoseconds:032x}");
        process::output(Command::new("musl-gcc").args(["-O1", "-w", &own, "-o"]).arg(program).arg(&self.source))?;
        Ok(())
    }

    fn with_wryneck(&self, program: &Path, dir: &Path) -> Result<Value> {
        let first = (0..STARTS).map(|_| {
            self.build(program)?;
            Ok(self.start(program, dir)?.0)
        });
        let first = median(first.collect::<Result<_>>()?);
        let later = median((0..STARTS).map(|_| Ok(self.start(program, dir)?.0)).collect::<Result<_>>()?);
        let (_, run) = self.start(program, dir)?;
        Ok(json!({ "first": first, "seconds": later, "paths": run["totals"]["paths"], "ends": run["ends"] }))
    }

    /// One start, and how many seconds it took.
    fn start(&self, program: &Path, dir: &Path) -> Result<(f64, Value)> {
        let out = dir.join("out");
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        let wryneck = crate::cmd::wryneck()?;
        let mut command = Command::new(&wryneck);
        let option = if self.kind == "stdin" { "--sym-stdin" } else { "--sym-arg" };
        command.current_dir(dir).args(["run", "--json", "--emit", "none", "--no-replay", "--output", "out"]).arg(program);
        let start = Instant::now();
        let done = command.args([option, &self.size]).output().with_context(|| format!("cannot start `{}`", wryneck.display()))?;
        let seconds = start.elapsed().as_secs_f64();
        let said = || format!("{}: {}", self.name, String::from_utf8_lossy(&done.stderr));
        let run: Value = serde_json::from_slice(&done.stdout).with_context(said)?;
        ensure!(run["status"]["kind"] == "complete", "{}: wryneck stopped: {}", self.name, run["status"]);
        Ok((seconds, run))
    }

    /// What angr says; `null` if it did not end in time.
    fn with_angr(&self, python: &Path, program: &Path, seconds: u32) -> Result<Value> {
        let (mut processes, mut explorations, mut stashes) = (Vec::new(), Vec::new(), Value::Null);
        for _ in 0..ANGR_RUNS {
            let mut command = Command::new("timeout");
            command.arg(seconds.to_string()).arg(python).arg(Path::new(FOLDER).join("explore.py")).arg(program);
            let start = Instant::now();
            let done = command.args([&self.kind, &self.size]).output().context("cannot start `timeout`")?;
            if done.status.code() == Some(TIMED_OUT) {
                return Ok(Value::Null);
            }
            processes.push(start.elapsed().as_secs_f64());
            let said = || format!("{}: angr: {}", self.name, String::from_utf8_lossy(&done.stderr));
            let mut ended: Value = serde_json::from_slice(&done.stdout).with_context(said)?;
            explorations.push(ended["seconds"].as_f64().with_context(said)?);
            stashes = ended["stashes"].take();
        }
        Ok(json!({ "process": median(processes), "seconds": median(explorations), "stashes": stashes }))
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The exit code of `timeout`.
const TIMED_OUT: i32 = 124;

/// Prints the table; how many programs are below the gate.
fn print(rows: &[Value]) -> usize {
    println!(
        "| program | input | paths: wryneck | angr | seconds: wryneck, first start | later | angr, loaded | whole | ratio: whole | loaded |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut slow = [0, 0];
    for row in rows {
        let (ours, theirs) = (&row["wryneck"], &row["angr"]);
        let ended = !theirs.is_null();
        let seconds = |of: &Value, which: &str| of[which].as_f64().or(row["limit"].as_f64()).unwrap_or(0.0);
        let (first, later) = (seconds(ours, "first"), seconds(ours, "seconds"));
        let (whole, loaded) = (seconds(theirs, "process"), seconds(theirs, "seconds"));
        let paths: u64 = theirs["stashes"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
        let paths = if ended { paths.to_string() } else { "not ended".into() };
        let least = if ended { "" } else { "at least " };
        slow[0] += usize::from(whole / first < GATE);
        slow[1] += usize::from(loaded / first < GATE);
        println!(
            "| {} | {} | {} | {paths} | {first:.4} | {later:.4} | {least}{loaded:.2} | {least}{whole:.2} | {least}{:.0} | {least}{:.0} |",
            row["program"].as_str().unwrap_or(""),
            row["input"].as_str().unwrap_or(""),
            ours["paths"],
            whole / first,
            loaded / first,
        );
    }
    println!("{} and {} of {} at least {GATE} times as fast at first starts", rows.len() - slow[0], rows.len() - slow[1], rows.len());
    slow[0]
}
