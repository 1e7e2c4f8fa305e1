//! Completeness: for random C programs over twelve input bits, the set of (status, output) over all 4,096 inputs run natively
//! equals the set over the inputs of the tests that `wryneck run --emit all` writes, with every part switched off in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wryneck_report::ktest::KTest;

use crate::random_c::Generator;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs, seeds 1 to N
    #[arg(long, default_value_t = 300)]
    programs: u64,
    /// Programs tried with each part switched off
    #[arg(long, default_value_t = 60)]
    off: u64,
}

/// What can be switched off, one at a time.
const PARTS: &[&str] = &[
    "snapshots", "quick-checks", "substitution", "known-bits", "byte-domain", "independence", "enumeration", "implied-values",
    "neighbours", "value-sets", "search", "cache", "recent-models",
];

/// Status and output of a program on an input.
type Result1 = (i32, String);

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (mut agree, mut differ, mut results, mut tests) = (0u64, Vec::new(), 0, 0);
    for seed in 1..=args.programs {
        let source = dir.path().join(format!("{seed}.c"));
        fs::write(&source, Generator::program(seed))?;
        let native = native(&source)?;
        let want: BTreeSet<&Result1> = native.values().collect();
        let mut variants: Vec<Vec<String>> = vec![Vec::new()];
        if seed <= args.off {
            variants.extend(PARTS.iter().map(|p| vec!["--off".to_owned(), (*p).to_owned()]));
            variants.push(vec!["--compact-above".into(), "1".into()]);
            // A seed, whose mutants are run between paths.
            let seed = dir.path().join("seed");
            fs::write(&seed, [0, 0])?;
            variants.push(vec!["--seed".into(), format!("in={}", seed.display())]);
        }
        for options in variants {
            let found = explored(&source, &options)?;
            let got: BTreeSet<&Result1> = found.iter().filter_map(|input| native.get(input)).collect();
            tests += found.len();
            if got == want {
                agree += 1;
            } else {
                println!("seed {seed} {options:?}: {} of {} results found", got.len(), want.len());
                differ.push(seed);
            }
        }
        results += want.len();
        if seed % 50 == 0 {
            println!("{seed} programs: {agree} explorations complete, {} not; {results} results, {tests} tests", differ.len());
        }
    }
    println!("complete: {agree} of {} explorations ({results} distinct results, {tests} tests)", agree + differ.len() as u64);
    ensure!(differ.is_empty(), "results were missed for seeds {differ:?}");
    Ok(())
}

/// The results of all inputs, by input.
fn native(source: &Path) -> Result<BTreeMap<u32, Result1>> {
    let binary = source.with_extension("native");
    let built = Command::new("clang-22").args(["-DNATIVE", "-w", "-O1", "-o"]).arg(&binary).arg(source).status()?;
    ensure!(built.success(), "clang-22 does not compile {}", source.display());
    let out = String::from_utf8(Command::new(&binary).output()?.stdout)?;
    out.lines()
        .map(|line| {
            let mut words = line.split(' ');
            let mut next = || words.next().context("the native program prints input, status and output");
            Ok((next()?.parse()?, (next()?.parse()?, next()?.to_owned())))
        })
        .collect()
}

/// The inputs of the tests of an exploration.
fn explored(source: &Path, options: &[String]) -> Result<Vec<u32>> {
    let out = source.with_extension("out");
    let _ = fs::remove_dir_all(&out);
    let run = Command::new(super::wryneck())
        .args(["run", "--quiet", "--emit", "all", "--output"])
        .arg(&out)
        .args(options)
        .arg(source)
        .output()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    if run.status.code() != Some(0) {
        bail!("wryneck ended with {} on {}:\n{}", run.status, source.display(), String::from_utf8_lossy(&run.stderr));
    }
    let mut inputs = Vec::new();
    for entry in fs::read_dir(&out)? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "ktest") {
            continue;
        }
        let test = KTest::from_bytes(&fs::read(&path)?)?;
        let bytes = test.object("in").context("the test has no object `in`")?;
        inputs.push(u32::from(bytes[0]) | u32::from(bytes[1] & 15) << 8);
    }
    Ok(inputs)
}
