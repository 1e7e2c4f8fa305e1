//! What a start of `wryneck verify` costs: the first one of a program, which solves what its pointers may point to, and a later one, which takes
//! that from the cache; beside one without slices, which asks for no facts at all.
//!
//! Processor time of runs that end after their first instructions, the least of several turns. The cache is one of its own that leads to all of the real one but
//! for the kept facts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::explore::{self, GNULIB, hundredths};
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Turns, of which the fastest counts
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// Where results go, one JSON object a line
    #[arg(long, default_value = "docs/results/starts.jsonl")]
    results: PathBuf,
}

/// The package of `cargo xtask corpus`, and the program.
const PROGRAMS: [(&str, &str); 6] =
    [("coreutils", "cat"), ("coreutils", "sort"), ("coreutils", "dir"), ("coreutils", "expr"), ("sed", "sed"), ("tar", "tar")];
/// The cache's folder of what is left out.
const FACTS: &str = "facts";

pub fn run(args: &Args) -> Result<()> {
    let real = Cache::open()?.path("");
    let mut lines = String::new();
    println!("{:<8} {:>10} {:>8} {:>8} {:>12}", "", "no facts", "first", "later", "kept, bytes");
    for (package, program) in PROGRAMS {
        let target = real.join(package).join("O2").join(program).with_extension("bc");
        ensure!(target.exists(), "`{}` is missing; make it with `cargo xtask corpus {package} --all`", target.display());
        let (mut least, mut bytes) = ([f64::INFINITY; 3], 0);
        for _ in 0..args.turns.max(1) {
            let cache = beside(&real)?;
            for (least, pruning) in least.iter_mut().zip(["recorded", "sliced", "sliced"]) {
                let options = ["verify", "--rule", "open-close", "--summaries", GNULIB, "--prune", pruning];
                *least = least.min(explore::timed(&options, 1, &target, &[], Some(cache.path()))?);
            }
            let kept = fs::read_dir(cache.path().join(FACTS))?.next().context("the first start kept nothing")??;
            bytes = kept.metadata()?.len();
        }
        let [none, first, later] = least;
        println!("{program:<8} {none:>9.2}s {first:>7.2}s {later:>7.2}s {bytes:>12}");
        let row = json!({
            "program": program, "none": hundredths(none), "first": hundredths(first), "later": hundredths(later), "bytes": bytes,
        });
        lines += &format!("{row}\n");
    }
    fs::write(&args.results, lines).with_context(|| format!("cannot write `{}`", args.results.display()))
}

/// A cache without kept facts.
fn beside(real: &Path) -> Result<tempfile::TempDir> {
    let dir = tempfile::tempdir()?;
    for entry in fs::read_dir(real)? {
        let entry = entry?;
        if entry.file_name() != FACTS {
            symlink(entry.path(), dir.path().join(entry.file_name()))?;
        }
    }
    Ok(dir)
}
