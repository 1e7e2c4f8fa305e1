//! Random programs: what csmith makes ends on the reference interpreter as it ends natively.

#![expect(clippy::disallowed_methods, reason = "the seeds may be given")]

use std::process::{Command, Stdio};

use crate::native::{compile, interpret, lower_source, run};

const STEPS: u64 = 3_000_000;

/// Programs of these seeds at a level: how many were compared (others loop too long).
fn compare(seeds: std::ops::Range<u32>, level: &str) -> u32 {
    let mut compared = 0;
    for seed in seeds {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let source = scratch.path().join("program.c");
        let made = Command::new("csmith").args(["--seed", &seed.to_string(), "-o"]).arg(&source).stdout(Stdio::null()).status();
        let made = made.expect("csmith is not installed: install Debian's `csmith` and `libcsmith-dev`");
        assert!(made.success(), "csmith made no program of seed {seed}");
        let flags = [level, "-I/usr/include/csmith"];
        let native = run(&compile("clang-22", &flags, &source, &scratch.path().join("program")));
        let module = lower_source("clang-22", &flags, &source, scratch.path());
        let ours = interpret(module, STEPS).unwrap_or_else(|why| panic!("seed {seed} {level}: {why}"));
        if let (Some(native), Some(ours)) = (native, ours) {
            assert_eq!(ours, native, "seed {seed} {level}");
            compared += 1;
        }
    }
    compared
}

/// `CSMITH_SEEDS=20..300` runs those instead of the first six.
fn seeds() -> std::ops::Range<u32> {
    let asked = std::env::var("CSMITH_SEEDS").ok();
    let parsed = asked.as_deref().and_then(|s| s.split_once("..")).and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    parsed.unwrap_or(1..7)
}

#[test]
fn random_programs_without_optimisation() {
    assert!(2 * compare(seeds(), "-O0") >= seeds().len() as u32);
}

#[test]
fn random_programs_optimised() {
    assert!(2 * compare(seeds(), "-O2") >= seeds().len() as u32);
}
