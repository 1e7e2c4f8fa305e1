//! Many functions: each in a process of its own, some at once, with results that survive a kill.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::args::ProbeArgs;
use super::outcome::{Grade, Outcome};
use crate::child::{self, Limits};
use crate::problem::problem;
use crate::{output, signal};

/// Time beyond its own that a probe gets to prepare the target and to run harnesses.
const MORE: Duration = Duration::from_secs(60);
/// Between lines of progress.
const PROGRESS: Duration = Duration::from_secs(2);

/// The part of the functions that a shard has: every N-th, so that large neighbours are spread.
pub fn shard(functions: Vec<String>, (part, of): (usize, usize)) -> Vec<String> {
    functions.into_iter().enumerate().filter(|(i, _)| i % of == part - 1).map(|(_, name)| name).collect()
}

/// Results that an earlier sweep left in a file. A last line that was not written whole is left out.
pub fn earlier(file: &Path) -> Result<Vec<Outcome>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut all = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(outcome) => all.push(outcome),
            Err(_) if number + 1 == lines.len() => {}
            Err(error) => {
                return Err(problem(
                    format!("`{}`, line {}: {error}", file.display(), number + 1),
                    "give another file by `--results`, or remove that line",
                ));
            }
        }
    }
    Ok(all)
}

/// Probes these functions; their results in the order in which they came, after those of earlier sweeps.
pub fn run(args: &ProbeArgs, functions: &[String]) -> Result<Vec<Outcome>> {
    let mut before = args.results.as_deref().map(earlier).transpose()?.unwrap_or_default();
    before.retain(|outcome| functions.contains(&outcome.function));
    let done: BTreeSet<&str> = before.iter().map(|outcome| outcome.function.as_str()).collect();
    let left: Vec<&String> = functions.iter().filter(|name| !done.contains(name.as_str())).collect();
    let file = match &args.results {
        Some(path) => {
            // What a kill cut off is overwritten.
            let whole: String = before.iter().filter_map(|o| serde_json::to_string(o).ok()).map(|line| line + "\n").collect();
            fs::write(path, whole).with_context(|| format!("cannot write `{}`", path.display()))?;
            Some(OpenOptions::new().append(true).open(path).with_context(|| format!("cannot write `{}`", path.display()))?)
        }
        None => None,
    };
    let (next, found) = (AtomicUsize::new(0), Mutex::new((before.clone(), file, Instant::now() + PROGRESS)));
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let work = || {
        while let Some(name) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
            if signal::interrupted() || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
            let outcome = match one(args, name) {
                Ok(outcome) => outcome,
                Err(error) => {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            };
            let (all, file, when) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(file), Ok(line)) = (file, serde_json::to_string(&outcome)) {
                // One write: a kill leaves whole lines, or none.
                let _ = file.write_all((line + "\n").as_bytes());
            }
            all.push(outcome);
            if !args.quiet && Instant::now() >= *when {
                *when = Instant::now() + PROGRESS;
                let musts = all.iter().flat_map(|o| &o.findings).filter(|f| f.grade == Grade::Must).count();
                output::note(format!("{} of {} functions, {musts} must errors", all.len(), functions.len()));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..args.jobs.min(left.len()) {
            scope.spawn(work);
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).0)
}

/// Probes one function in a process of its own.
fn one(args: &ProbeArgs, function: &str) -> Result<Outcome> {
    let start = Instant::now();
    let mut command = Command::new(std::env::current_exe().context("cannot find this executable")?);
    command.args(words(args, function));
    let time = Duration::from_secs_f64(args.max_time) + MORE;
    let ended = child::run(&mut command, Limits { time, memory: None, file: 1 << 30 }).context("cannot start `wryneck probe`")?;
    let milliseconds = start.elapsed().as_millis() as u64;
    let text = String::from_utf8_lossy(&ended.stdout);
    if let Some(outcome) = text.lines().last().and_then(|line| serde_json::from_str(line).ok()) {
        return Ok(outcome);
    }
    if ended.timed_out {
        return Ok(Outcome::cut_off(function, "time", milliseconds));
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    if said.contains("memory") && ended.status.code() != Some(2) || said.contains("memory limit") {
        return Ok(Outcome::cut_off(function, "memory", milliseconds));
    }
    let why = said.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("the probe broke down").to_owned();
    Ok(Outcome { milliseconds, ..Outcome::unsupported(function, why) })
}

/// The words for the probe of one function.
fn words(args: &ProbeArgs, function: &str) -> Vec<String> {
    let mut words: Vec<String> = vec!["probe".into(), "--one".into(), "--function".into(), function.into()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    args.skip.iter().for_each(|glob| option("--skip", glob.clone()));
    args.rules.iter().for_each(|rule| option("--rule", rule.clone()));
    args.cc_flags.iter().for_each(|flag| option("--cc-flag", flag.clone()));
    args.overflow.iter().for_each(|classes| option("--overflow", classes.clone()));
    option("--max-time", format!("{}s", args.max_time));
    option("--max-memory", args.max_memory.to_string());
    option("--loop-limit", args.loop_limit.to_string());
    option("--stale", args.stale.to_string());
    option("--stale-time", format!("{}s", args.stale_time));
    option("--object-bytes", args.bounds.object_bytes.to_string());
    option("--aliases", args.bounds.aliases.to_string());
    option("--pointers", if args.bounds.makes { "lazy" } else { "plain" }.into());
    args.contracts.iter().for_each(|file| option("--contracts", file.display().to_string()));
    args.check.iter().for_each(|file| option("--check", file.display().to_string()));
    option("--fail-calls", args.fail_calls.to_string());
    option("--globals", if args.globals_initial { "initial" } else { "lazy" }.into());
    option("--report", if args.report == Grade::May { "may" } else { "must" }.into());
    let switches = [
        ("--constructors", args.constructors),
        ("--machine-code", args.machine_code),
        ("--no-deepen", !args.deepen),
        ("--no-replay", !args.replay),
        ("--unconfined", args.unconfined),
    ];
    words.extend(switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.to_owned()));
    words.push(args.target.display().to_string());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_disjoint_and_together_whole() {
        let all: Vec<String> = (0..11).map(|i| i.to_string()).collect();
        let mut together: Vec<String> = (1..=3).flat_map(|part| shard(all.clone(), (part, 3))).collect();
        together.sort_by_key(|name| name.parse::<u32>().ok());
        assert_eq!(together, all);
    }
}
