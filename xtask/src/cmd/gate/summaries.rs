//! Summaries against what calls do: each of about a hundred calls of the C library is followed by each of as many others, which show what
//! they give. Whatever the first leaves behind for the second, pruning must keep: the event sequences of all paths are the same without it.
//! One run per second call has all first ones, chosen by a symbolic byte, so a row of the summaries that lacks a read or a write loses a sequence.
//!
//! Rows that no call here drives are listed. Cost: about a second of one core for each second call.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only second calls whose names have this in them
    #[arg(long, default_value = "")]
    only: String,
    /// So many second calls, evenly spread, instead of all
    #[arg(long)]
    sample: Option<usize>,
}

const PROGRAM: &str = include_str!("summaries.c");
const RULE: &str = r#"id = "gives"
summary = "nothing is wrong"
cwe = 1
severity = "note"
instance = "program"
[[event]]
name = "a"
call = ["gave0"]
[[event]]
name = "b"
call = ["gave1"]
[[event]]
name = "c"
call = ["gave2"]
[[event]]
name = "d"
call = ["gave3"]
[[state]]
name = "any"
on = { a = "any", b = "any", c = "any", d = "any" }
"#;
const SUMMARIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/verify/src/flow/summaries.toml");

/// What was found of a second call.
struct Found {
    name: String,
    /// Distinct sequences of events, pruned or not.
    all: usize,
    /// First calls that may be made otherwise than in the program that was run.
    lost: Vec<String>,
    why: Option<String>,
}

pub fn run(args: &Args) -> Result<()> {
    let wryneck = fs::canonicalize(super::wryneck()).context("the tool is not built")?;
    let dir = tempfile::tempdir()?;
    fs::write(dir.path().join("t.c"), PROGRAM)?;
    fs::write(dir.path().join("rule.toml"), RULE)?;
    let names = |list: &str| -> Vec<String> {
        let rest = PROGRAM.split_once(&format!("#define {list}(")).map_or("", |(_, rest)| rest);
        let body = rest.split_once("\n\n").map_or(rest, |(body, _)| body);
        let call = format!(" {}(", &list[..1]);
        body.split(&call).skip(1).filter_map(|part| Some(part.split_once(',')?.0.to_owned())).collect()
    };
    let (firsts, seconds) = (names("WRITERS"), names("READERS"));
    ensure!(firsts.len() > 80 && seconds.len() > 80, "the calls are not found in the program");
    let mut chosen: Vec<usize> = (0..seconds.len()).filter(|n| seconds[*n].contains(&args.only)).collect();
    if let Some(sample) = args.sample.filter(|sample| (1..chosen.len()).contains(sample)) {
        chosen = (0..sample).map(|n| chosen[n * chosen.len() / sample]).collect();
    }
    // The first run makes what all share: the program as bitcode, its static facts.
    let place = dir.path();
    sequences(&wryneck, place, "first", 0, "wanted", None)?;
    let found: Mutex<Vec<Found>> = Mutex::default();
    process::parallel(&chosen, |n| {
        let one = of_second(&wryneck, place, *n, &seconds[*n], &firsts)?;
        found.lock().expect("no job panics").push(one);
        Ok(())
    })?;
    let mut found = found.into_inner().expect("no job panics");
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let (mut wrong, mut telling) = (0, 0);
    for found in &found {
        telling += usize::from(found.all > 1);
        if let Some(why) = &found.why {
            wrong += 1;
            println!("{}: {why}", found.name);
        }
        if !found.lost.is_empty() {
            wrong += 1;
            println!("{} after {}: what it gives is not seen pruned", found.name, found.lost.join(", "));
        }
    }
    let undriven = undriven(&firsts, &seconds)?;
    println!("not driven, because no call of the program is of their row: {}", undriven.join(" "));
    println!("{} first calls before {} others, of which {telling} tell some of them apart: {wrong} wrong", firsts.len(), found.len());
    ensure!(wrong == 0, "{wrong} calls give what their summaries do not say");
    Ok(())
}

/// Compares the sequences of a second call after all first ones, pruned and not.
fn of_second(wryneck: &Path, dir: &Path, second: usize, name: &str, firsts: &[String]) -> Result<Found> {
    let (all, _) = sequences(wryneck, dir, name, second, "off", None)?;
    let (pruned, why) = sequences(wryneck, dir, name, second, "wanted", None)?;
    let mut lost = Vec::new();
    if all != pruned {
        // Which first call it is that pruning leaves out.
        for (first, called) in firsts.iter().enumerate() {
            let both = ["off", "wanted"].map(|prune| sequences(wryneck, dir, name, second, prune, Some(first)));
            let [all, pruned] = both;
            if all?.0 != pruned?.0 {
                lost.push(called.clone());
            }
        }
        if lost.is_empty() {
            lost.push(format!("one of several ({} sequences of {})", pruned.len(), all.len()));
        }
    }
    Ok(Found { name: name.to_owned(), all: all.len(), lost, why })
}

/// The distinct sequences of events, and what is wrong with the run if anything is.
fn sequences(
    wryneck: &Path,
    dir: &Path,
    name: &str,
    second: usize,
    prune: &str,
    first: Option<usize>,
) -> Result<(BTreeSet<String>, Option<String>)> {
    let of = first.map_or(String::new(), |first| format!("-{first}"));
    // Names of one length: the program sees the length of its working directory's name.
    let place: PathBuf = dir.join(format!("{name}-{prune:-<6}{of}"));
    fs::create_dir_all(&place)?;
    let mut command = Command::new(wryneck);
    command.current_dir(&place).args(["verify", "--rule", "../rule.toml", "--json", "--no-replay", "--emit", "none", "--output", "out"]);
    command.args(["--max-time", "300s", "--prune", prune, "--sequences", "sequences", "../t.c"]).arg(second.to_string());
    command.args(["--sym-arg", "1"]).args(first.map(|first| first.to_string()));
    let out = command.output().with_context(|| format!("cannot start `{}`", wryneck.display()))?;
    let run: Value =
        serde_json::from_slice(&out.stdout).with_context(|| format!("{name}: the run said: {}", String::from_utf8_lossy(&out.stderr)))?;
    let internal = run["ends"].as_array().into_iter().flatten().any(|end| end["class"] == "internal");
    let complete = run["status"]["kind"] == "complete";
    let why = (internal || !complete).then(|| format!("the run with `--prune {prune}` did not complete: {}", run["status"]));
    let text = fs::read_to_string(place.join("sequences"))?;
    fs::remove_dir_all(&place)?;
    Ok((text.lines().map(str::to_owned).collect(), why))
}

/// The names of the summaries that the program does not call.
fn undriven(firsts: &[String], seconds: &[String]) -> Result<Vec<String>> {
    let text = fs::read_to_string(SUMMARIES)?;
    let called: BTreeSet<&str> = PROGRAM.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let rows = text.lines().filter_map(|line| line.strip_prefix("names = [")?.strip_suffix(']'));
    let names = rows.map(|row| row.split(", ").map(|name| name.trim_matches('"')).collect::<Vec<_>>());
    let driven = |names: &[&str]| names.iter().any(|name| called.contains(name) || firsts.iter().chain(seconds).any(|call| call == name));
    Ok(names.filter(|names| !driven(names)).filter_map(|names| names.first().map(|name| (*name).to_owned())).collect())
}
