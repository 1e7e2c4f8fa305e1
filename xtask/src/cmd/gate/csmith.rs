//! Truth: programs of Debian's csmith at -O0 and -O2 end under `wryneck run` with the status and the output that they have natively.
//! A program that runs longer than its limits on either side is counted, not compared. One that the tool does not support fails the gate.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs, seeds 1 to N
    #[arg(long, default_value_t = 500)]
    programs: u32,
}

const LEVELS: [&str; 2] = ["-O0", "-O2"];
/// Seconds of a native program.
const NATIVE_LIMIT: &str = "2";
/// Instructions of ours.
const OUR_LIMIT: &str = "300000000";

#[derive(Default)]
struct Counts {
    same: u32,
    too_long: u32,
    unsupported: Vec<String>,
    differ: Vec<String>,
}

/// How a program ended under the tool.
enum Ours {
    Ended(End),
    /// It ran into a limit.
    TooLong,
    /// The tool lacks something, as these words say.
    Unsupported(String),
}

/// How a program ended: status and output.
#[derive(PartialEq, Eq)]
struct End(i32, Vec<u8>);

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let counts = Mutex::new(Counts::default());
    let seeds: Vec<u32> = (1..=args.programs).collect();
    process::parallel(&seeds, |seed| {
        let source = dir.path().join(format!("{seed}.c"));
        let made = Command::new("csmith").args(["--seed", &seed.to_string(), "-o"]).arg(&source).stdout(Stdio::null()).status();
        ensure!(made.context("csmith is not installed")?.success(), "csmith made no program of seed {seed}");
        for level in LEVELS {
            let ends = match native(&source, level)? {
                Some(end) => Some((end, ours(&source, level)?)),
                None => None,
            };
            let mut counts = counts.lock().expect("no holder panics");
            match ends {
                None | Some((_, Ours::TooLong)) => counts.too_long += 1,
                Some((_, Ours::Unsupported(what))) => counts.unsupported.push(format!("seed {seed} {level}: {what}")),
                Some((native, Ours::Ended(ours))) if native == ours => counts.same += 1,
                Some((native, Ours::Ended(ours))) => {
                    let shown = |end: &End| format!("{} {}", end.0, String::from_utf8_lossy(&end.1).trim_end());
                    counts.differ.push(format!("seed {seed} {level}: native {}; ours {}", shown(&native), shown(&ours)));
                }
            }
        }
        Ok(fs::remove_file(&source)?)
    })?;
    let counts = counts.into_inner().expect("no holder panics");
    counts.differ.iter().for_each(|line| println!("{line}"));
    counts.unsupported.iter().for_each(|line| println!("unsupported: {line}"));
    println!(
        "csmith: {} as natively, {} differ, {} unsupported, {} ran too long to compare",
        counts.same,
        counts.differ.len(),
        counts.unsupported.len(),
        counts.too_long
    );
    ensure!(counts.unsupported.is_empty(), "{} programs are not supported", counts.unsupported.len());
    ensure!(counts.differ.is_empty(), "{} programs do not end as natively", counts.differ.len());
    ensure!(counts.same > counts.too_long, "most programs ran too long to compare");
    Ok(())
}

fn native(source: &Path, level: &str) -> Result<Option<End>> {
    let binary = source.with_extension("native");
    let built = Command::new("clang-22").args([level, "-w", "-I/usr/include/csmith", "-o"]).arg(&binary).arg(source).status()?;
    ensure!(built.success(), "clang-22 does not compile {}", source.display());
    let done = Command::new("timeout").arg(NATIVE_LIMIT).arg(&binary).output()?;
    fs::remove_file(&binary)?;
    Ok(done.status.code().filter(|code| *code != 124).map(|code| End(code, done.stdout)))
}

/// The one end of the program under the tool; an end that is no exit shows as its class.
fn ours(source: &Path, level: &str) -> Result<Ours> {
    let out = source.with_extension("out");
    let done = Command::new(super::wryneck())
        .args(["run", "--json", "--emit", "all", "--max-instructions", OUR_LIMIT, "--cc-flag", level])
        .args(["--cc-flag", "-I/usr/include/csmith", "--output"])
        .arg(&out)
        .arg(source)
        .output()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    let ended = ended(&done, &out).with_context(|| format!("{}: {}", source.display(), String::from_utf8_lossy(&done.stderr)));
    fs::remove_dir_all(&out)?;
    ended
}

fn ended(done: &Output, out: &Path) -> Result<Ours> {
    let run: Value = serde_json::from_slice(&done.stdout)?;
    let unsupported = run["ends"].as_array().into_iter().flatten().find(|end| end["class"] == "unsupported");
    if let Some(end) = unsupported {
        return Ok(Ours::Unsupported(end["what"].to_string()));
    }
    // Incomplete, but all is supported: a limit.
    if done.status.code() == Some(3) {
        return Ok(Ours::TooLong);
    }
    let test: Value = serde_json::from_slice(&fs::read(out.join("test000001.json"))?)?;
    let status = test["what"].as_str().filter(|_| test["class"] == "exit").and_then(|s| s.parse().ok());
    let bytes = super::seeds::bytes(&test["stdout"]);
    Ok(Ours::Ended(match status {
        Some(status) => End(status, bytes),
        None => End(-1, format!("{} {}", test["class"], test["what"]).into_bytes()),
    }))
}
