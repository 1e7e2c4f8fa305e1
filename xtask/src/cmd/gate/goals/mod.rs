//! Goals: programs with a secret (`tests/goals/*.c`), as bitcode and as static executables of musl, and lines deep in coreutils. Each is searched by
//! `wryneck run --find`; what was reached is then reached natively, by the command line of `replay --shell`, a line under gdb. Resumable.
//!
//! With `--klee` KLEE gets the same goals, one after ours: it has reached a goal when one of its paths has.
//!
//! A goal that is not reached in its time is a miss. A test that does not reach it natively fails the gate: that would be a wrong answer.

mod beside;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::klee;
use crate::process;
use beside::Beside;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each goal
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Only goals whose names have this in them
    #[arg(long, default_value = "")]
    only: String,
    /// Where results are kept, one JSON object a line; goals found there are not searched again
    #[arg(long, default_value = "docs/results/goals.jsonl")]
    results: PathBuf,
    /// The programs and the table of lines
    #[arg(long, default_value = "tests/goals")]
    folder: PathBuf,
    #[command(flatten)]
    klee: klee::Args,
}

/// Goals that are to be reached, of a hundred of each kind.
const SHARE: usize = 90;

/// How a hit is looked at natively.
#[derive(Clone)]
enum Shows {
    /// The program prints this.
    Output(String),
    /// A debugger stops at the line. gcov would miss lines before calls that never return.
    Line(String),
}

#[derive(Clone)]
struct Goal {
    name: String,
    kind: &'static str,
    target: PathBuf,
    options: Vec<String>,
    words: Vec<String>,
    shows: Shows,
}

pub fn run(args: &Args) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let mut goals = secrets(args, scratch.path())?;
    goals.extend(lines(args)?);
    goals.retain(|goal| goal.name.contains(&args.only));
    ensure!(!goals.is_empty(), "no goal has `{}` in its name", args.only);
    let beside = args.klee.open()?.map(|klee| Beside::new(klee, &goals)).transpose()?;
    let known = fs::read_to_string(&args.results).unwrap_or_default();
    let known: Vec<Value> = known.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("the results file is damaged")?;
    let mut rows = Vec::new();
    for goal in &goals {
        let row = goal.row(goal.kind, args, &known, || goal.search(args, scratch.path()))?;
        rows.push(row);
        if let Some(beside) = beside.as_ref().filter(|_| goal.kind != "executable") {
            rows.push(goal.row(&beside.kind(goal), args, &known, || beside.search(goal, args.seconds, scratch.path()))?);
        }
    }
    if let Some(beside) = &beside {
        beside.summarise(&rows);
    }
    let mut short = Vec::new();
    for kind in ["bitcode", "executable", "coreutils"] {
        let of_kind: Vec<&Value> = rows.iter().filter(|row| row["kind"] == kind).collect();
        let reached = of_kind.iter().filter(|row| row["reached"] == true).count();
        println!("{kind}: {reached} of {} reached within {} s", of_kind.len(), args.seconds);
        if reached * 100 < of_kind.len() * SHARE {
            short.push(kind);
        }
    }
    let wrong: Vec<&Value> = rows.iter().filter(|row| row["reached"] == true && row["native"] == false).map(|row| &row["goal"]).collect();
    ensure!(wrong.is_empty(), "reached, but not natively: {wrong:?}");
    ensure!(short.is_empty(), "fewer than {SHARE} % reached: {short:?}");
    Ok(())
}

/// The programs with a secret, on both front ends.
fn secrets(args: &Args, scratch: &Path) -> Result<Vec<Goal>> {
    let mut goals = Vec::new();
    let mut sources: Vec<PathBuf> = fs::read_dir(&args.folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    sources.retain(|path| path.extension().is_some_and(|end| end == "c"));
    sources.sort();
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&source)?;
        let header =
            |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key)?.strip_prefix(": ").map(str::to_owned));
        let need = |key: &str| header(key).with_context(|| format!("`{}` has no `//@ {key}:`", source.display()));
        let mut options = vec!["--find".to_owned(), need("find")?];
        options.extend(header("avoid").into_iter().flat_map(|avoid| ["--avoid".to_owned(), avoid]));
        let words: Vec<String> = need("words")?.split(' ').map(str::to_owned).collect();
        let program = scratch.join(&name);
        process::output(Command::new("musl-gcc").args(["-static", "-g", "-O1", "-w", "-o"]).arg(&program).arg(&source))?;
        for (kind, target) in [("bitcode", source.clone()), ("executable", program)] {
            let (name, options, words) = (name.clone(), options.clone(), words.clone());
            goals.push(Goal { name, kind, target, options, words, shows: Shows::Output("Well done".into()) });
        }
    }
    Ok(goals)
}

/// The lines of coreutils, at -O0, where each has code of its own.
fn lines(args: &Args) -> Result<Vec<Goal>> {
    let programs = Cache::open()?.path("coreutils/O0");
    let table = args.folder.join("coreutils.txt");
    let text = fs::read_to_string(&table).with_context(|| format!("cannot read `{}`", table.display()))?;
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let mut parts = line.split_whitespace();
        let (Some(program), Some(place)) = (parts.next(), parts.next()) else { bail!("`{line}` is not a program and a place") };
        let target = programs.join(program).with_extension("bc");
        ensure!(target.is_file(), "`{}` is missing; make it with `cargo xtask corpus coreutils --opt 0`", target.display());
        Ok(Goal {
            name: line.to_owned(),
            kind: "coreutils",
            target,
            options: vec!["--find".into(), place.into()],
            words: parts.map(str::to_owned).collect(),
            shows: Shows::Line(place.into()),
        })
    });
    rows.collect()
}

impl Goal {
    /// The row that is known of this kind, or a new one, which is printed and kept.
    fn row(&self, kind: &str, args: &Args, known: &[Value], search: impl FnOnce() -> Result<Value>) -> Result<Value> {
        let same = |row: &&Value| row["goal"] == self.name.as_str() && row["kind"] == kind && row["limit"] == args.seconds;
        let row = match known.iter().rfind(same) {
            Some(row) => row.clone(),
            None => {
                let mut row = search()?;
                row["goal"] = self.name.as_str().into();
                row["kind"] = kind.into();
                row["limit"] = args.seconds.into();
                let mut file = OpenOptions::new().create(true).append(true).open(&args.results)?;
                writeln!(file, "{row}")?;
                row
            }
        };
        let (seconds, paths, end) = (row["seconds"].as_f64().unwrap_or(0.0), &row["paths"], &row["end"]);
        println!("{kind:<11} {:<52} {seconds:>6.1} s  {paths:>7} paths  {end}", self.name);
        Ok(row)
    }

    fn search(&self, args: &Args, scratch: &Path) -> Result<Value> {
        let out = scratch.join("out");
        let _ = fs::remove_dir_all(&out);
        let mut command = Command::new(super::wryneck());
        command
            .args(["run", "--json", "--no-replay", "--max-memory", "3G", "--max-time", &format!("{}s", args.seconds), "--output"])
            .arg(&out);
        let done = command.args(&self.options).arg(&self.target).args(&self.words).output()?;
        let run: Value = serde_json::from_slice(&done.stdout)
            .with_context(|| format!("{}: the run said no more than: {}", self.name, String::from_utf8_lossy(&done.stderr)))?;
        let reached = &run["goal"]["reached"];
        let native = match reached["test"].as_str() {
            Some(test) => self.shows.natively(&out.join(test))?,
            None => false,
        };
        let end = if reached.is_object() { reached["end"].clone() } else { format!("missed: {}", run["status"]).into() };
        Ok(json!({
            "reached": reached.is_object(), "native": native,
            "exit": done.status.code(), "seconds": run["seconds"], "paths": run["totals"]["paths"], "end": end,
        }))
    }
}

impl Shows {
    /// Whether the native program reaches the goal on a test.
    fn natively(&self, test: &Path) -> Result<bool> {
        match self {
            Shows::Output(text) => {
                let line = process::output(Command::new(super::wryneck()).args(["replay", "--shell"]).arg(test))?;
                let ran = Command::new("bash").arg("-c").arg(&line).output()?;
                Ok(String::from_utf8_lossy(&ran.stdout).contains(text))
            }
            Shows::Line(place) => {
                let line = process::output(Command::new(super::wryneck()).args(["replay", "--shell"]).arg(test))?;
                let (before, behind) = line.rsplit_once(" ./program").with_context(|| format!("no program runs in `{line}`"))?;
                let line = format!("{before} gdb -q -batch -ex 'break {place}' -ex run --args ./program{behind}");
                // The locale that musl has where nobody sets one.
                let ran = Command::new("bash").env("LC_ALL", "C.UTF-8").arg("-c").arg(&line).output()?;
                Ok(String::from_utf8_lossy(&ran.stdout).contains("Breakpoint 1, "))
            }
        }
    }
}
