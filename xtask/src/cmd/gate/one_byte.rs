//! Truth: programs of one byte of input end as the native programs do, and print the same. Those with signals (`tests/signals`) have handlers, masks, timers,
//! jumps out of handlers, waits that signals end, and default actions; those with processes (`tests/processes`) children, pipes, signals between them. Each
//! program is compiled against musl and against the host's C library. Each end of ours is the native one of the same input. Each native end is one of ours.
//! The replay of no test ends otherwise. Native programs that differ, which run side by side, are run again alone.
//!
//! `//@ inputs: N` in a program: natively only the first N, because each waits. `//@ musl`: other C libraries do otherwise.
//! `//@ bitcode`: not as an executable (docs/limits.md).
//! `//@ handles faults`: the program handles signals of its own faults; there a path ends, so that only the other ends are compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::ends::{self, End, native};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Explore static executables instead of bitcode
    #[arg(long)]
    executables: bool,
}

/// What one program did.
#[derive(Default)]
struct Seen {
    ends: usize,
    natives: usize,
    wrong: Vec<String>,
}

/// `kind`: the folder of the programs, of which there are at least so many.
pub fn run(kind: &str, fewest: usize, args: &Args) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(kind);
    let mut programs: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
    programs.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    programs.retain(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().contains(&args.only)));
    if args.executables {
        programs.retain(|path| !fs::read_to_string(path).is_ok_and(|text| text.starts_with("//@ bitcode\n")));
    }
    programs.sort();
    let (dir, all) = (tempfile::tempdir()?, Mutex::new(Seen::default()));
    process::parallel(&programs, |source| {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let seen = check(source, &dir.path().join(&*name), args.executables)?;
        let mut all = all.lock().expect("no holder panics");
        (all.ends, all.natives) = (all.ends + seen.ends, all.natives + seen.natives);
        all.wrong.extend(seen.wrong.into_iter().map(|what| format!("{name}: {what}")));
        Ok(())
    })?;
    let all = all.into_inner().expect("no holder panics");
    all.wrong.iter().for_each(|line| println!("{line}"));
    let form = if args.executables { "executables" } else { "bitcode" };
    println!("{kind}: {} programs as {form}, {} ends, {} native runs; {} differ", programs.len(), all.ends, all.natives, all.wrong.len());
    ensure!(all.wrong.is_empty(), "{} comparisons differ", all.wrong.len());
    ensure!(!args.only.is_empty() || programs.len() >= fewest, "there are {} programs, fewer than {fewest}", programs.len());
    Ok(())
}

fn check(source: &Path, scratch: &Path, executables: bool) -> Result<Seen> {
    fs::create_dir_all(scratch)?;
    let text = fs::read_to_string(source)?;
    let directive = |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
    let count = directive("inputs: ").map_or(Ok(256), |n| n.trim().parse::<u16>())?;
    let faults = directive("handles faults").is_some();
    let mut seen = Seen::default();
    let compilers = if directive("musl").is_some() { &["musl-gcc"][..] } else { &["musl-gcc", "gcc"] };
    let built: Vec<PathBuf> = compilers.iter().map(|compiler| build(source, scratch, compiler)).collect::<Result<_>>()?;
    let target = if executables { &built[0] } else { source };
    let out = scratch.join("out");
    let ours = ends::ours(target, &out, &["--no-replay", "--max-time", "60"], &status)?;
    seen.ends = ours.len();
    if !faults {
        seen.wrong.extend(ends::replayed_otherwise(&out)?);
    }
    fs::remove_dir_all(&out)?;
    let known: BTreeSet<&End> = ours.iter().map(|(_, end)| end).collect();
    for (program, compiler) in built.iter().zip(compilers) {
        let inputs: Vec<u8> = ours.iter().map(|(input, _)| *input).collect();
        for ((input, end), native) in ours.iter().zip(native(program, &inputs)?) {
            let is_ours = |native: &End| native == end || faults && end.0 < 0;
            if !is_ours(&native) && !alone(program, *input, is_ours)? {
                seen.wrong.push(format!("{input:#x}, {compiler}: {} instead of {}", shown(end), shown(&native)));
            }
        }
        if !faults {
            let inputs: Vec<u8> = (0..count).map(|input| input as u8).collect();
            for (input, end) in inputs.iter().zip(native(program, &inputs)?) {
                seen.natives += 1;
                let is_known = |native: &End| known.contains(native);
                if !is_known(&end) && !alone(program, *input, is_known)? {
                    seen.wrong.push(format!("{input:#x}, {compiler}: {} is lost", shown(&end)));
                }
            }
        }
    }
    if faults && !ours.iter().any(|(_, end)| end.0 < 0) {
        seen.wrong.push("no fault is found".into());
    }
    Ok(seen)
}

/// Whether the native program, run by itself a few times, ends once as it is expected to. On a busy machine it may be late: a timer rings before the
/// sleep that it is to end.
fn alone(program: &Path, input: u8, is_expected: impl Fn(&End) -> bool) -> Result<bool> {
    const TIMES: usize = 5;
    for _ in 0..TIMES {
        if native(program, &[input])?.iter().any(&is_expected) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn shown((status, output): &End) -> String {
    format!("{status} {:?}", String::from_utf8_lossy(output))
}

fn build(source: &Path, scratch: &Path, compiler: &str) -> Result<PathBuf> {
    let program = scratch.join(compiler);
    let done = Command::new(compiler).args(["-w", "-g", "-O1", "-static", "-o"]).arg(&program).arg(source).output()?;
    ensure!(done.status.success(), "{compiler} does not compile {}: {}", source.display(), String::from_utf8_lossy(&done.stderr));
    Ok(program)
}

/// The status of a test, or the signal that the machine would send, with a minus.
fn status(test: &Value) -> Option<i32> {
    let (what, message) = (test["what"].as_str()?, test["message"].as_str().unwrap_or_default());
    match (test["class"].as_str()?, what) {
        ("exit", status) => status.parse().ok(),
        ("fault", "abort") => message.rsplit_once("signal ").map_or(Some(-6), |(_, signal)| signal.parse::<i32>().ok().map(|n| -n)),
        ("fault", "assertion-failed") => Some(-6),
        ("fault", "division-by-zero" | "division-overflow") => Some(-8),
        ("fault", "null-dereference" | "wild-pointer" | "read-only-write") => Some(-11),
        _ => None,
    }
}
