//! Random programs of consecutive seeds, several at a time: what gates over a generator share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Seeds {
    /// The first one's seed
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Programs at a time
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Keep the programs that differ in this folder
    #[arg(long)]
    keep: Option<PathBuf>,
}

impl Seeds {
    /// Has so many programs compared, each in a folder of its own: `compare` writes the program of a seed to the given file and says what is wrong. Prints
    /// that; gives the seeds of the programs of which something is wrong.
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
