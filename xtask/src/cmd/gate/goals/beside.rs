//! The same goals for KLEE, which has no search for a place: it explores, and its counts are read
//! until the place is covered, or what the program has written until it has the text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Goal;
use crate::coreutils::Coreutils;
use crate::klee::{self, Klee, Place};
use crate::process;

pub struct Beside {
    klee: Klee,
    /// coreutils as KLEE's bitcode.
    programs: PathBuf,
}

/// Input that KLEE's runtime does not have.
const UNKNOWN: [&str; 2] = ["--sym-env", "--sym-file"];

impl Beside {
    pub fn new(klee: Klee, goals: &[Goal]) -> Result<Beside> {
        let mut names: Vec<&str> =
            goals.iter().filter(|goal| goal.kind == "coreutils").filter_map(|goal| goal.target.file_stem()?.to_str()).collect();
        names.sort_unstable();
        names.dedup();
        let programs = if names.is_empty() { PathBuf::new() } else { Coreutils::configured()?.bitcode(&klee, &names)? };
        Ok(Beside { klee, programs })
    }

    /// The kind of KLEE's row of a goal.
    pub fn kind(&self, goal: &Goal) -> String {
        format!("KLEE {} {}", self.klee.searchers(), goal.kind)
    }

    pub fn search(&self, goal: &Goal, seconds: u32, scratch: &Path) -> Result<Value> {
        if let Some(word) = goal.words.iter().find(|word| UNKNOWN.contains(&word.as_str())) {
            return Ok(json!({ "reached": Value::Null, "end": format!("KLEE has no `{word}`") }));
        }
        let out = scratch.join("klee");
        let _ = fs::remove_dir_all(&out);
        let target = if goal.kind == "coreutils" {
            self.programs.join("build/src").join(goal.target.file_stem().unwrap_or_default())
        } else {
            let target = scratch.join("secret.bc");
            let mut clang = Command::new(&self.klee.clang);
            // glibc's headers give the functions of `scanf` names that uClibc does not have, but for old C.
            clang
                .args(klee::FLAGS.split(' '))
                .args(["-std=gnu89", "-D_GNU_SOURCE", "-c", "-emit-llvm", "-o"])
                .arg(&target)
                .arg(&goal.target);
            process::output(&mut clang)?;
            target
        };
        let wanted = goal.options.get(1).context("a goal has a place")?;
        let is_there = |written: &str| {
            let counts = || fs::read_to_string(out.join("run.istats")).unwrap_or_default();
            Ok(match (wanted.strip_prefix("output:"), wanted.rsplit_once(':')) {
                (Some(text), _) => written.contains(text),
                (None, Some((file, line))) => klee::reached(&counts(), &Place::Line(file.to_owned(), line.parse()?)),
                (None, None) => klee::reached(&counts(), &Place::Function(wanted.clone())),
            })
        };
        let done = self.klee.explore(&target, &goal.words, seconds, &["--istats-write-interval=2s"], &out, is_there)?;
        let end = if done.hit { "reached" } else { "missed" };
        Ok(json!({ "reached": done.hit, "seconds": done.seconds, "work": done.work, "paths": done.paths, "end": end }))
    }

    /// How many of its goals KLEE has reached.
    pub fn summarise(&self, rows: &[Value]) {
        for kind in ["bitcode", "coreutils"] {
            let name = format!("KLEE {} {kind}", self.klee.searchers());
            let asked: Vec<&Value> = rows.iter().filter(|row| row["kind"] == name.as_str()).collect();
            let count = |reached: Value| asked.iter().filter(|row| row["reached"] == reached).count();
            println!(
                "{name}: {} of {} reached; {} have input that KLEE does not have",
                count(true.into()),
                asked.len(),
                count(Value::Null)
            );
        }
    }
}
