//! Bad input: mutated bitcode files, seeded. `wryneck run` gives an answer for each (explored, findings, or an error that says what is
//! wrong), within a time limit, whatever its children do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::random::Random;

#[derive(clap::Args)]
pub struct Args {
    /// How many mutants, seeds 1 to N
    #[arg(long, default_value_t = 10_000)]
    mutants: u64,
}

/// Seconds of exploration, and seconds after which a run counts as hung.
const EXPLORE: &str = "2s";
const HANG: &str = "60";
const SOURCES: &str = "crates/lower/tests/programs";

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let originals = originals(dir.path())?;
    let answers: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let bad: Mutex<Vec<String>> = Mutex::default();
    let seeds: Vec<u64> = (1..=args.mutants).collect();
    process::parallel(&seeds, |&seed| {
        let (file, out) = (dir.path().join(format!("{seed}.bc")), dir.path().join(format!("{seed}.out")));
        let mut random = Random::new(seed);
        let mut bytes = originals[random.below(originals.len())].clone();
        mutate(&mut bytes, &mut random);
        fs::write(&file, &bytes)?;
        let done = Command::new("timeout")
            .args(["--signal=KILL", HANG])
            .arg(super::wryneck())
            .args(["run", "--quiet", "--max-memory", "2G", "--max-time", EXPLORE, "--output"])
            .arg(&out)
            .arg(&file)
            .output()
            .context("cannot start `timeout`")?;
        let words = String::from_utf8_lossy(&done.stderr);
        let answer = match done.status.code() {
            Some(0) => "complete".to_owned(),
            Some(1) => "findings".to_owned(),
            Some(3) => "incomplete".to_owned(),
            Some(2) if !words.contains("panicked") && !words.trim().is_empty() => "error".to_owned(),
            code => format!("BROKEN: exit {code:?}, signal {:?}", done.status.signal()),
        };
        if answer.starts_with("BROKEN") {
            bad.lock().expect("no holder panics").push(format!("mutant {seed}: {answer}: {words}"));
        }
        *answers.lock().expect("no holder panics").entry(answer).or_default() += 1;
        let _ = fs::remove_dir_all(&out);
        Ok(fs::remove_file(&file)?)
    })?;
    let bad = bad.into_inner().expect("no holder panics");
    bad.iter().for_each(|line| println!("{line}"));
    println!("mutants: {:?}", answers.into_inner().expect("no holder panics"));
    ensure!(bad.is_empty(), "{} mutants broke the tool", bad.len());
    Ok(())
}

/// The files that are mutated: small C programs that between them use every kind of instruction, at two levels.
fn originals(dir: &Path) -> Result<Vec<Vec<u8>>> {
    let mut sources: Vec<_> =
        fs::read_dir(SOURCES)?.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    sources.sort();
    let mut made = Vec::new();
    for source in sources {
        for level in ["-O0", "-O2"] {
            let out = dir.join("original.bc");
            let built = Command::new("clang-22")
                .args(["-c", "-emit-llvm", "-g", "-w", level, "-o"])
                .arg(&out)
                .arg(&source)
                .stderr(Stdio::null())
                .status()?;
            if built.success() {
                made.push(fs::read(&out)?);
            }
        }
    }
    ensure!(made.len() >= 4, "no C programs in {SOURCES}");
    Ok(made)
}

/// Bytes changed, bits flipped, pieces cut out or repeated; half of the mutants have one change, which LLVM's reader survives oftener.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let changes = if random.below(2) == 0 { 1 } else { 1 + random.below(8) };
    for _ in 0..changes {
        let at = random.below(bytes.len());
        let end = (at + random.below(16)).min(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..end)),
            _ => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
}
