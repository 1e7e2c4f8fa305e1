//! What gates over random programs share: they compare the programs of consecutive seeds, several at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Seeds {
    /// Seed of the first program
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many programs are compared at the same time
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Folder for the programs that differ from their native runs
    #[arg(long)]
    keep: Option<PathBuf>,
}

impl Seeds {
    /// Calls `compare` for each of `programs` seeds. `compare` writes the seed's program to the file that it is given, in a folder of its own, and returns what is
    /// wrong with it. Prints what is wrong, and returns the seeds of the programs concerned.
    pub fn compare(&self, programs: u64, compare: impl Fn(u64, &Path) -> Result<Vec<String>> + Sync) -> Result<BTreeSet<u64>> {
        let dir = tempfile::tempdir()?;
        let seeds: Vec<u64> = (self.from..self.from + programs).collect();
        let wrong = Mutex::new(BTreeSet::new());
        process::parallel_on(self.workers, &seeds, |&seed| {
            let scratch = dir.path().join(seed.to_string());
            fs::create_dir_all(&scratch)?;
            let source = scratch.join("program.c");
            let problems = compare(seed, &source).with_context(|| format!("seed {seed}"))?;
            if !problems.is_empty() {
                if let Some(keep) = &self.keep {
                    fs::create_dir_all(keep)?;
                    fs::copy(&source, keep.join(format!("{seed}.c")))?;
                }
                wrong.lock().expect("no holder panics").insert(seed);
            }
            for problem in problems {
                println!("seed {seed}: {problem}");
            }
            Ok(fs::remove_dir_all(&scratch)?)
        })?;
        Ok(wrong.into_inner().expect("no holder panics"))
    }
}

/// The descriptions of the tests in a run folder.
pub fn tests(out: &Path) -> Result<Vec<Value>> {
    let files = fs::read_dir(out)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let described = files.iter().filter(|path| path.extension().is_some_and(|e| e == "json"));
    described.map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?)).collect()
}

/// An array of numbers as bytes.
pub fn bytes(value: &Value) -> Vec<u8> {
    value.as_array().into_iter().flatten().filter_map(|b| Some(b.as_u64()? as u8)).collect()
}
