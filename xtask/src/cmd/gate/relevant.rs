//! How well executables are pruned: relevant paths of unoptimised programs of coreutils, as static executables and as bitcode, under a rule.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bounds::Bounds;
use crate::cache::Cache;
use crate::cmd::wryneck;

#[derive(clap::Args)]
pub struct Args {
    /// The programs
    #[arg(long, default_values = ["cat", "echo", "pwd", "test"])]
    program: Vec<String>,
    /// The rule
    #[arg(long, default_value = "open-close")]
    rule: String,
    /// Seconds for each exploration
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Relevant paths of an executable, at most, for each of its bitcode's.
const TIMES: f64 = 3.0;
/// Two arguments of two bytes, one, or none.
const INPUT: [&str; 4] = ["--sym-args", "0", "2", "2"];

pub fn run(args: &Args) -> Result<()> {
    let programs = Cache::open()?.path("coreutils/O0");
    let mut bounds = Bounds::default();
    for name in &args.program {
        let program = programs.join(name);
        let make = || format!("there is no `{}`: `cargo xtask corpus coreutils --opt 0 {}`", program.display(), args.program.join(" "));
        ensure!(program.exists(), make());
        let (bitcode, executable) = (args.relevant(&program.with_extension("bc"), &[])?, args.relevant(&program, &["--machine-code"])?);
        println!("{name:<8} bitcode {bitcode}, executable {executable}");
        ensure!(bitcode.verdict == executable.verdict, "{name}: the verdicts differ");
        bounds.at_most(&format!("{name}: paths for each of bitcode's"), executable.paths / bitcode.paths, TIMES);
    }
    bounds.hold()
}

/// What an exploration came to.
struct Relevant {
    verdict: String,
    paths: f64,
    seconds: f64,
}

impl std::fmt::Display for Relevant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} relevant paths in {:.1} s", self.verdict, self.paths, self.seconds)
    }
}

impl Args {
    fn relevant(&self, target: &Path, options: &[&str]) -> Result<Relevant> {
        // Arguments name files, and the folder has none.
        let folder = tempfile::tempdir()?;
        let (run, inside) = (folder.path().join("run"), folder.path().join("empty"));
        fs::create_dir(&inside)?;
        let mut command = Command::new(wryneck()?);
        command.args(["verify", "--json", "--emit", "none", "--no-replay", "--audit", "off", "--max-time"]);
        command.arg(format!("{}s", self.seconds)).args(["--rule", &self.rule]).args(options).arg("--output").arg(&run);
        let done = command.args(INPUT).arg(target).current_dir(&inside).output()?;
        let text = || String::from_utf8_lossy(&done.stderr).into_owned();
        let found: Value = serde_json::from_slice(&done.stdout).with_context(text)?;
        let rule = &found["rules"][0];
        Ok(Relevant {
            verdict: rule["verdict"].as_str().with_context(text)?.to_owned(),
            paths: rule["relevant"].as_f64().with_context(text)?,
            seconds: found["seconds"].as_f64().unwrap_or_default(),
        })
    }
}
