//! Random functions of sixteen input bits, of floating point or of hashed tables. The results of all 65,536 inputs run natively equal the ends of the paths that
//! `wryneck run` explores, and the inputs of its tests give these results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::seeds;
use crate::bitcode::NativeMusl;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(long, default_value_t = 200)]
    programs: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Seconds for each exploration; one that ends by it counts as not finished
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Programs in a hundred that may be unfinished
    #[arg(long, default_value_t = 5)]
    unfinished: u64,
    /// Parts of the solver switched off (`enumeration,byte-domain`: then the circuits decide), as `wryneck run --off` takes them
    #[arg(long)]
    off: Option<String>,
    /// As executables
    #[arg(long)]
    machine: bool,
    /// Keep the sources of programs that differ here
    #[arg(long)]
    keep: Option<std::path::PathBuf>,
}

/// What an exploration found.
#[derive(Default)]
struct Found {
    complete: bool,
    tests: usize,
    /// Exit codes of paths.
    ends: BTreeSet<i64>,
    problems: Vec<String>,
}

/// Compares programs of one kind: `program` makes that of a seed.
pub fn run(kind: &str, program: impl Fn(u64) -> String, args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (mut agree, mut unfinished, mut differ, mut paths) = (0, Vec::new(), Vec::new(), 0);
    for seed in args.from..args.from + args.programs {
        let source = dir.path().join(format!("{seed}.c"));
        fs::write(&source, program(seed))?;
        let native = native(&source)?;
        let started = Instant::now();
        let mut found = explored(&source, args, &native)?;
        paths += found.tests;
        let want: BTreeSet<i64> = native.values().copied().collect();
        if found.complete && found.ends != want {
            found.problems.push(format!("natively {want:?}, by paths {:?}", found.ends));
        }
        if let Some(problem) = found.problems.first() {
            println!("seed {seed}: {problem}");
            if let Some(keep) = &args.keep {
                fs::copy(&source, keep.join(format!("{seed}.c")))?;
            }
            differ.push(seed);
        } else if found.complete {
            agree += 1;
        } else {
            println!("seed {seed}: not finished in {:.0} s", started.elapsed().as_secs_f64());
            unfinished.push(seed);
        }
    }
    println!("{kind}: {agree} of {} programs as natively, {} not finished, {paths} tests", args.programs, unfinished.len());
    ensure!(differ.is_empty(), "results differ for seeds {differ:?}");
    ensure!(unfinished.len() as u64 * 100 <= args.unfinished * args.programs, "too many are not finished: seeds {unfinished:?}");
    Ok(())
}

/// The result of every input.
fn native(source: &Path) -> Result<BTreeMap<u16, i64>> {
    let binary = source.with_extension("native");
    let built = Command::new("clang-22").args(["-DNATIVE", "-w", "-O1", "-o"]).arg(&binary).arg(source).arg("-lm").status()?;
    ensure!(built.success(), "clang-22 does not compile {}", source.display());
    let out = String::from_utf8(Command::new(&binary).output()?.stdout)?;
    out.lines()
        .map(|line| {
            let (input, result) = line.split_once(' ').context("the native program prints input and result")?;
            Ok((input.parse()?, result.parse()?))
        })
        .collect()
}

fn explored(source: &Path, args: &Args, native: &BTreeMap<u16, i64>) -> Result<Found> {
    let out = source.with_extension("out");
    let _ = fs::remove_dir_all(&out);
    let mut run = Command::new(super::wryneck());
    run.args(["run", "--quiet", "--json", "--no-replay", "--emit", "all", "--max-time"])
        .arg(format!("{}s", args.seconds))
        .arg("--output")
        .arg(&out);
    if let Some(parts) = &args.off {
        run.args(["--off", parts]);
    }
    if args.machine {
        let program = source.with_extension("program");
        process::output(NativeMusl::debian()?.linking(&[source], &program)?.args(["-O1", "-g"]))?;
        run.arg("--machine-code").arg(&program);
    } else {
        run.arg(source);
    }
    let run = run.args(["--sym-stdin", "2"]).output().context("cannot start wryneck: build it with `cargo build --release`")?;
    let summary: Value = serde_json::from_slice(&run.stdout)
        .with_context(|| format!("wryneck ended with {} on {}:\n{}", run.status, source.display(), String::from_utf8_lossy(&run.stderr)))?;
    let mut found = Found { complete: summary["status"]["kind"].as_str() == Some("complete"), ..Found::default() };
    for test in seeds::tests(&out)? {
        found.tests += 1;
        let byte = |i: usize| test["objects"][0]["bytes"][i].as_u64().unwrap_or(0) as u16;
        let input = byte(0) | byte(1) << 8;
        let want = native.get(&input).copied();
        let (class, what) = (test["class"].as_str().unwrap_or("?"), test["what"].as_str().unwrap_or("?"));
        match class {
            "exit" => {
                let code = what.rsplit(' ').next().and_then(|code| code.parse().ok());
                found.ends.extend(code);
                if code != want {
                    found.problems.push(format!("input {input} ends as {what}, natively {want:?}"));
                }
            }
            "limit" => {}
            // A named limit; the path's result is then missing, too.
            "unsupported" => {
                println!("input {input}: {what}");
                found.complete = false;
            }
            _ => found.problems.push(format!("input {input} ends as {class} {what}")),
        }
    }
    Ok(found)
}
