//! Numbers in text: small programs that read and print floating-point numbers are explored to the end. Each test ends natively as its path, and texts over
//! an alphabet of numbers give natively nothing that no path gives. One and two workers find the same ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::seeds;
use crate::bitcode::NativeMusl;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each exploration, which has to end by itself
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Programs in `tests/numbers`, and the bytes of their argument.
const PROGRAMS: &[(&str, usize)] = &[("text", 6), ("print", 3), ("quadratic", 3), ("scan", 4), ("forms", 3), ("fraction", 3)];
/// What the texts that are run natively are made of.
const ALPHABET: &[u8] = b"0259.eE-+xn ";
/// Texts of longer arguments are so many of all.
const MOST_TEXTS: usize = 200_000;

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/numbers");
    for &(name, size) in PROGRAMS {
        let source = tests.join(name).with_extension("c");
        let native = Native::build(&source, dir.path())?;
        let started = Instant::now();
        let (texts, ends) = explored(&source, size, args.seconds, 1, &dir.path().join("out"))?;
        let seconds = started.elapsed().as_secs_f64();
        // A second worker runs the decisions of a prefix again, under another model.
        let (_, again) = explored(&source, size, args.seconds, 2, &dir.path().join("out"))?;
        ensure!(sorted(&again) == sorted(&ends), "{name}: {} paths by two workers, {} by one", again.len(), ends.len());
        for ((text, found), want) in texts.iter().zip(&ends).zip(native.ends(&texts)?) {
            ensure!(*found == want, "{name}: a test with {text:x?} ends as {found:?}, natively {want:?}");
        }
        let known: BTreeSet<&String> = ends.iter().collect();
        let all = texts_of(size);
        for (text, want) in all.iter().zip(native.ends(&all)?) {
            ensure!(known.contains(&want), "{name}: {text:x?} natively ends as {want:?}, as no path does");
        }
        println!("{name} ({size} bytes): {} paths in {seconds:.1} s, as natively; so are {} texts", texts.len(), all.len());
    }
    Ok(())
}

fn sorted(ends: &[String]) -> Vec<&String> {
    let mut ends: Vec<_> = ends.iter().collect();
    ends.sort_unstable();
    ends
}

/// Texts over the alphabet: all, or some evenly among them.
fn texts_of(size: usize) -> Vec<Vec<u8>> {
    let all = ALPHABET.len().pow(size as u32);
    let text = |mut at: usize| {
        let mut digit = || {
            let digit = ALPHABET[at % ALPHABET.len()];
            at /= ALPHABET.len();
            digit
        };
        (0..size).map(|_| digit()).collect()
    };
    (0..all).step_by(all.div_ceil(MOST_TEXTS)).map(text).collect()
}

struct Native(PathBuf);

impl Native {
    fn build(source: &Path, dir: &Path) -> Result<Native> {
        let binary = dir.join("native");
        process::output(NativeMusl::debian()?.linking(&[source], &binary)?.args(["-DNATIVE", "-w", "-O1"]))?;
        Ok(Native(binary))
    }

    /// What the program prints and gives for each text, up to its first zero byte.
    fn ends(&self, texts: &[Vec<u8>]) -> Result<Vec<String>> {
        let mut child = Command::new(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take().context("it has a standard input")?;
        let lines: String = texts.iter().map(|text| text.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n").collect();
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let out = child.wait_with_output()?;
        writer.join().expect("it does not panic")?;
        let ends: Vec<String> = String::from_utf8(out.stdout)?.lines().map(str::to_owned).collect();
        ensure!(ends.len() == texts.len(), "the native program ended with {} after {} of {} texts", out.status, ends.len(), texts.len());
        Ok(ends)
    }
}

/// The argument of each test, and what its path printed and gave.
fn explored(source: &Path, size: usize, seconds: u64, workers: u32, out: &Path) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    let _ = fs::remove_dir_all(out);
    let run = Command::new(super::wryneck())
        .args(["run", "--quiet", "--json", "--no-replay", "--emit", "all", "--max-time", &format!("{seconds}s")])
        .args(["-j", &workers.to_string(), "--output"])
        .arg(out)
        .arg(source)
        .args(["--sym-arg", &size.to_string()])
        .output()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    let summary: Value = serde_json::from_slice(&run.stdout)
        .with_context(|| format!("wryneck ended with {} on {}:\n{}", run.status, source.display(), String::from_utf8_lossy(&run.stderr)))?;
    ensure!(summary["status"]["kind"].as_str() == Some("complete"), "{} does not end in {seconds} s", source.display());
    let (mut texts, mut ends) = (Vec::new(), Vec::new());
    for test in seeds::tests(out)? {
        let (class, what) = (test["class"].as_str().unwrap_or("?"), test["what"].as_str().unwrap_or("?"));
        ensure!(class == "exit", "{}: a path ends as {class} {what}", source.display());
        let mut text = seeds::bytes(&test["objects"][0]["bytes"]);
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
        texts.push(text);
        ends.push(String::from_utf8_lossy(&seeds::bytes(&test["stdout"])).into_owned() + what.rsplit(' ').next().unwrap_or_default());
    }
    Ok((texts, ends))
}
