//! How many instructions of the host the builds of two commits execute, as valgrind counts them.
//!
//! Counted is the tool's own process from its start to its end, on filled caches. The compiler, lowering and replays are other processes, which are not
//! counted. The tool tells what it knows from time to time, so a count grows with the time that the run takes: by up to 4 % where an exploration is short.
//! So counts that differ are made again, and the least of each build is taken. Cost: a run under valgrind takes twenty to a hundred times as long.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::super::speed::Run;
use super::builds::Build;
use super::sets::Row;
use crate::process;

/// How many times the instructions of the earlier build the later one may execute.
const MOST: f64 = 1.03;
/// Counts of each, at most, while their ratio is further from 1 than this.
const COUNTS: usize = 3;
const NEAR: f64 = 0.01;

/// An error if nothing can be counted.
pub fn check() -> Result<()> {
    let asked = process::output(Command::new("valgrind").arg("--version"));
    asked.context("the set `speed` counts with valgrind: install Debian's `valgrind`").map(drop)
}

/// Counts a row with both.
pub fn compare(row: &Row, before: &Build, after: &Build) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let run = Run::of((&row.program, row.options, row.words), dir.path())?;
    let mut both = [before, after].map(|build| Counted { run: &run, build, dir: dir.path(), host: u64::MAX });
    let (mut totals, mut ratio) = (Vec::new(), f64::NAN);
    for counted in &both {
        totals.push(counted.explored(&mut Command::new(counted.build.wryneck()))?["totals"].take());
    }
    for _ in 0..COUNTS {
        for counted in &mut both {
            counted.count()?;
        }
        ratio = both[1].host as f64 / both[0].host as f64;
        if (ratio - 1.0).abs() <= NEAR {
            break;
        }
    }
    let of = |name: &str| totals.iter().map(|totals| totals[name].clone()).collect::<Value>();
    Ok(json!({
        "reach": "ended", "paths": of("paths"), "instructions": of("instructions"), "host instructions": both.map(|counted| counted.host),
        "ratio": (ratio * 1e4).round() / 1e4, "equal": ratio <= MOST,
    }))
}

/// A row and a build.
struct Counted<'a> {
    run: &'a Run,
    build: &'a Build,
    dir: &'a Path,
    /// The least count so far.
    host: u64,
}

impl Counted<'_> {
    /// The summary.
    fn explored(&self, tool: &mut Command) -> Result<Value> {
        Ok(self.run.explored(tool.env("WRYNECK_CACHE", self.build.cache()), self.dir)?.1)
    }

    fn count(&mut self) -> Result<()> {
        let log = self.dir.join("valgrind.log");
        let mut tool = Command::new("valgrind");
        tool.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        tool.arg(format!("--log-file={}", log.display())).arg(self.build.wryneck());
        let done = self.explored(&mut tool);
        let said = fs::read_to_string(&log)?;
        done.with_context(|| format!("{} under valgrind, which says: {said}", self.build.commit))?;
        self.host = self.host.min(refs(&said).with_context(|| format!("valgrind counted nothing: {said}"))?);
        Ok(())
    }
}

/// The number in valgrind's line `==PID== I refs: 1,234`.
fn refs(said: &str) -> Option<u64> {
    let (_, number) = said.lines().filter(|line| line.contains(" I ")).find_map(|line| line.split_once("refs:"))?;
    number.trim().replace(',', "").parse().ok()
}
