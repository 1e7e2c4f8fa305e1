//! `wryneck replay`: runs the tests of runs natively, with a verdict for each.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::folder;
use crate::gcov;
use crate::judge::Verdict;
use crate::options::{self, Opt, Words, seconds};
use crate::output;
use crate::problem::problem;
use crate::replay::{self, Replay, Task};
use crate::shell;

struct Args {
    /// Where line counts go, if they are wanted.
    gcov: Option<PathBuf>,
    /// What was explored, for a folder that another user or machine made.
    program: Vec<PathBuf>,
    timeout: f64,
    json: bool,
    quiet: bool,
    /// Command lines are printed, and nothing is run.
    shell: bool,
    unconfined: bool,
}

// One more option: a row (sorted by name).
#[rustfmt::skip]
static OPTIONS: &[Opt<Args>] = &[
    Opt { name: "--gcov", value: "DIR", help: "count lines natively: DIR gets `.gcno` and `.gcda` files for `llvm-cov-22 gcov`",
        set: |a, v| { a.gcov = Some(v.into()); Ok(()) } },
    Opt { name: "--json", value: "", help: "print one JSON object instead of lines",
        set: |a, _| { a.json = true; Ok(()) } },
    Opt { name: "--program", value: "FILE", help: "the target, where the run folder was made by another user or machine; repeat it for more objects",
        set: |a, v| { a.program.push(v.into()); Ok(()) } },
    Opt { name: "--quiet", value: "", help: "print the last line only",
        set: |a, _| { a.quiet = true; Ok(()) } },
    Opt { name: "--shell", value: "", help: "run nothing: print a command line for each test that does what it says on the real system (bash, ksh, zsh)",
        set: |a, _| { a.shell = true; Ok(()) } },
    Opt { name: "--timeout", value: "TIME", help: "wall time of one test (default 10s)",
        set: |a, v| { a.timeout = seconds(v)?; Ok(()) } },
    Opt { name: "--unconfined", value: "", help: "run tests on the real system: the program may change and delete files, and all else that you may",
        set: |a, _| { a.unconfined = true; Ok(()) } },
];

const EXAMPLES: &str = "\
examples:
  wryneck replay wryneck-last                    every test of the newest run
  wryneck replay --json out | jq .               as data
  wryneck replay out/test000003.ktest            one test
  wryneck replay --shell out/test000003.ktest    its command line, to paste
";

/// Above so many tests, those that end the same are not listed.
const LISTED: usize = 20;

pub fn help() -> String {
    let options = options::help(OPTIONS);
    format!("usage: wryneck replay [options] RUN|TEST…\n\n{EXAMPLES}\noptions:\n{options}\nexit code 0: every test ended as its path did\n")
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let mut args = Args { gcov: None, program: Vec::new(), timeout: 10.0, json: false, quiet: false, shell: false, unconfined: false };
    let mut words = Words::new(words);
    options::parse(OPTIONS, &mut args, &mut words)?;
    let targets = words.rest();
    if targets.is_empty() {
        return Err(problem("no run and no test is given", "write `wryneck replay wryneck-last`"));
    }
    if args.shell {
        return print_lines(&args, &targets);
    }
    let confinement = replay::confinement(args.unconfined);
    let mut verdicts = Vec::new();
    for target in targets {
        let (folder, tests) = tests_of(Path::new(&target))?;
        let confinement = match &confinement {
            Ok(confinement) => *confinement,
            Err(why) => {
                verdicts.extend(tests.into_iter().map(|test| (test, Verdict::Cannot(replay::no_confinement(why)))));
                continue;
            }
        };
        let mut replay = Replay::new(&folder, &args.program, Duration::from_secs_f64(args.timeout), confinement)?;
        let counts = args.gcov.is_some().then(|| replay.count_lines()).transpose()?;
        let tasks: Vec<Task> = tests.iter().map(|test| Task { test: test.clone(), shows: None }).collect();
        let replayed = replay.all(&tasks);
        let inconclusive = folder::inconclusive(&folder)?;
        verdicts.extend(tests.into_iter().zip(replayed).map(|(test, verdict)| {
            let why = test.file_name().and_then(|name| inconclusive.get(name.to_str()?));
            match (verdict, why) {
                (Verdict::Different(_), Some(why)) => (test, Verdict::Cannot(format!("inconclusive: {why}"))),
                (verdict, _) => (test, verdict),
            }
        }));
        if let (Some(from), Some(to)) = (&counts, &args.gcov) {
            gcov::collect(from, to)?;
        }
    }
    output::write(|out| print(out, &args, &verdicts))?;
    Ok(u8::from(verdicts.iter().any(|(_, v)| *v != Verdict::Same)))
}

/// Prints the command lines of tests. Of several, those that have none are told and left out.
fn print_lines(args: &Args, targets: &[String]) -> Result<u8> {
    let mut code = 0;
    for target in targets {
        let (folder, tests) = tests_of(Path::new(target))?;
        let only = tests.len() == 1 && targets.len() == 1;
        for test in tests {
            match shell::line(&folder, &args.program, &test) {
                Ok(line) => output::write(|out| writeln!(out, "{line}"))?,
                Err(error) if only => return Err(error),
                Err(error) => {
                    output::note(format!("{}: {error:#}", test.display()));
                    code = 1;
                }
            }
        }
    }
    Ok(code)
}

/// The run folder a word names, and the tests to replay.
fn tests_of(target: &Path) -> Result<(PathBuf, Vec<PathBuf>)> {
    if target.is_dir() {
        folder::check(target)?;
        let mut tests: Vec<PathBuf> = fs::read_dir(target)
            .with_context(|| format!("cannot list `{}`", target.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension() == Some(OsStr::new("ktest")))
            .collect();
        tests.sort();
        return Ok((target.to_owned(), tests));
    }
    if !target.exists() {
        return Err(problem(format!("`{}` does not exist", target.display()), "give a run folder or a `.ktest` file"));
    }
    let folder = target.parent().map_or(PathBuf::from("."), |p| if p.as_os_str().is_empty() { ".".into() } else { p.to_owned() });
    match folder.join("run.db").exists() {
        true => Ok((folder, vec![target.to_owned()])),
        false => Err(problem(
            format!("`{}` does not lie in a run folder, which says how its program is built", target.display()),
            "replay tests where `wryneck run` wrote them",
        )),
    }
}

fn print(out: &mut dyn Write, args: &Args, verdicts: &[(PathBuf, Verdict)]) -> io::Result<()> {
    let count = |f: fn(&Verdict) -> bool| verdicts.iter().filter(|(_, v)| f(v)).count();
    let same = count(|v| *v == Verdict::Same);
    let different = count(|v| matches!(v, Verdict::Different(_)));
    let cannot = count(|v| matches!(v, Verdict::Cannot(_)));
    if args.json {
        let tests: Vec<Value> = verdicts
            .iter()
            .map(|(path, v)| {
                let (verdict, why) = parts(v);
                json!({ "test": path.display().to_string(), "verdict": verdict, "why": why })
            })
            .collect();
        return writeln!(out, "{}", json!({ "same": same, "different": different, "cannot": cannot, "tests": tests }));
    }
    for (path, verdict) in verdicts {
        if args.quiet || *verdict == Verdict::Same && verdicts.len() > LISTED {
            continue;
        }
        let (words, why) = parts(verdict);
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        writeln!(out, "{}: {words}{why}", path.display())?;
    }
    writeln!(out, "{same} same end, {different} different end, {cannot} cannot replay")
}

fn parts(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Same => ("same end", ""),
        Verdict::Different(how) => ("different end", how),
        Verdict::Cannot(why) => ("cannot replay", why),
    }
}
