//! Lines of libraries that inputs cover natively: those of ours, of libFuzzer, and of both, each from the same single seed (`benches/fuzz`) and for the same time
//! on the same core. Both run side by side, and each takes up what the other leaves (Yun et al., "QSYM", USENIX Security 2018, section 4). libFuzzer has a low
//! priority, and wryneck sleeps while libFuzzer finds more new code than it does. One run says little, so the median of several counts.
//!
//! Unlike other benches it judges: ours alone have to cover nine tenths of libFuzzer's lines, and both more than either alone for four libraries.

mod libraries;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::{self, Cache, Inputs};
use crate::cmd::gate::bounds::{self, Bounds};
use crate::cmd::gate::explore::Kept;
use crate::gcov::{self, Run};
use crate::{bitcode, debian, process};
use libraries::{LIBRARIES, Library};

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for ours, for libFuzzer, and for both side by side: libFuzzer takes 0 for no limit
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Runs of each, of which the median counts; the generators of random numbers have another seed in each
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The core that they run on
    #[arg(long, default_value_t = 0)]
    core: u32,
    /// Only these libraries
    #[arg(long)]
    library: Vec<String>,
    /// The targets
    #[arg(long, default_value = "benches/fuzz")]
    folder: PathBuf,
    /// Where results are kept, one JSON object a line; rows found there are not measured again
    #[arg(long, default_value = "docs/results/fuzzers.jsonl")]
    results: PathBuf,
}

/// Most bytes of an input.
const BYTES: &str = "64";
/// Beside each other: the priority of libFuzzer (nice), and options of wryneck.
const NICE: u32 = 10;
const BESIDE: &[&str] = &["--follow-seeds", "--give-way"];
/// Of libFuzzer's lines that ours alone have to cover, and libraries for which both have to be ahead of either alone.
const SHARE: f64 = 0.9;
const AHEAD: f64 = 4.0;

/// Gives each file to the target.
const MAIN: &str = r#"
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(int argc, char **argv) {
  static uint8_t data[1 << 16];
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) return 1;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
  }
  return 0;
}
"#;

pub fn run(args: &Args) -> Result<()> {
    let tool = bounds::version()?;
    let compiler = bitcode::clang_version()?;
    let compiler = compiler.lines().next().unwrap_or_default();
    let mut kept = Kept::open(&args.results)?;
    let mut found = Vec::new();
    for library in LIBRARIES.iter().filter(|row| args.library.is_empty() || args.library.iter().any(|asked| asked == row.name)) {
        let target = Target::built(library, args, &tool)?;
        let mut measured = |who: &str, tool: &str, explore: &dyn Fn(&Path, u32) -> Result<()>| -> Result<Vec<Value>> {
            let mut run = |run: u32| {
                let name = format!("{} {who} {run}", library.name);
                kept.row(&name, args.seconds, tool, || {
                    let scratch = tempfile::tempdir()?;
                    let corpus = scratch.path().join("corpus");
                    target.begin(&corpus)?;
                    explore(&corpus, run)?;
                    let row = target.covered(&corpus)?;
                    println!("{name}: {row}");
                    Ok(row)
                })
            };
            (1..=args.runs).map(&mut run).collect()
        };
        let theirs = measured("libFuzzer", compiler, &|corpus, run| target.fuzz(corpus, args.seconds, run, 0))?;
        let ours = measured("wryneck", &tool, &|corpus, run| target.explore(corpus, args.seconds, run, &[]))?;
        let both = measured("both", &tool, &|corpus, run| {
            thread::scope(|scope| {
                let fuzzer = scope.spawn(|| target.fuzz(corpus, args.seconds, run, NICE));
                target.explore(corpus, args.seconds, run, BESIDE)?;
                fuzzer.join().expect("it does not panic")
            })
        })?;
        found.push((library, ours, theirs, both));
    }
    println!("\n| library | lines | libFuzzer | wryneck | share | both | ahead |\n|---|---|---|---|---|---|---|");
    let mut bounds = Bounds::default();
    let mut ahead = 0.0;
    for (library, ours, theirs, both) in &found {
        let [ours_median, theirs_median, both_median] = [ours, theirs, both].map(|rows| median(rows));
        let share = ours_median / theirs_median;
        let is_ahead = both_median > ours_median && both_median > theirs_median;
        let [ours_all, theirs_all, both_all] = [ours, theirs, both].map(|rows| all(rows));
        println!(
            "| {} | {} | {theirs_all} | {ours_all} | {share:.2} | {both_all} | {} |",
            library.name,
            ours[0]["lines"],
            if is_ahead { "yes" } else { "no" }
        );
        bounds.at_least(&format!("{}: lines of ours, as a share of libFuzzer's", library.name), share, SHARE);
        ahead += f64::from(is_ahead);
    }
    if found.len() == LIBRARIES.len() {
        bounds.at_least("libraries for which both are ahead of either alone", ahead, AHEAD);
    }
    bounds.hold()
}

/// The lines that each run covers, fewest first.
fn covered(rows: &[Value]) -> Vec<u64> {
    let mut lines: Vec<u64> = rows.iter().map(|row| row["covered"].as_u64().unwrap_or(0)).collect();
    lines.sort_unstable();
    lines
}

fn median(rows: &[Value]) -> f64 {
    let lines = covered(rows);
    (lines[(lines.len() - 1) / 2] + lines[lines.len() / 2]) as f64 / 2.0
}

/// The median, and all in brackets.
fn all(rows: &[Value]) -> String {
    let each: Vec<String> = covered(rows).iter().map(u64::to_string).collect();
    format!("{} ({})", median(rows), each.join(", "))
}

/// A library with its target.
struct Target {
    seed: Vec<u8>,
    /// Programs: libFuzzer's, and one that counts lines.
    natives: PathBuf,
    /// Objects that carry bitcode.
    units: PathBuf,
    core: u32,
}

impl Target {
    fn built(library: &Library, args: &Args, tool: &str) -> Result<Target> {
        let cache = Cache::open()?;
        let _lock = cache.lock()?;
        let tree = debian::source(&cache, library.package)?;
        let harness = args.folder.join(library.target).canonicalize().with_context(|| format!("`{}` is missing", library.target))?;
        let text = fs::read_to_string(&harness)?;
        let inputs = |compiler: &str| {
            let inputs = Inputs::default().texts([include_str!("fuzzers.rs"), include_str!("fuzzers/libraries.rs")]);
            inputs.text(compiler).text(&text).text(&tree.to_string_lossy())
        };
        let natives = cache.product(&format!("fuzz-{}", library.name), &inputs(&bitcode::clang_version()?), |dir| {
            let (sources, flags) = library.prepared(&tree, dir)?;
            let main = dir.join("main.c");
            fs::write(&main, MAIN)?;
            let clang = |more: &str, program: &str, last: &[&Path]| -> Result<()> {
                let mut clang = Command::new(if library.is_cxx() { "clang++-22" } else { bitcode::CLANG });
                clang.current_dir(dir).args(more.split(' ')).args(&flags).arg(&harness).args(&sources).args(last);
                process::output(clang.arg("-lm").arg("-o").arg(program))?;
                Ok(())
            };
            clang("-g -O2 -w -fsanitize=fuzzer", "fuzzer", &[])?;
            clang(gcov::FLAGS, "counted", &[&main])
        })?;
        let units = cache.product(&format!("fuzz-units-{}", library.name), &inputs(tool), |dir| {
            let (sources, flags) = library.prepared(&tree, dir)?;
            for source in [vec![harness.clone()], sources].concat() {
                let mut compiler = Command::new(crate::cmd::wryneck()?);
                compiler.arg(if library.is_cxx() { "c++" } else { "cc" }).current_dir(dir).args(["-g", "-O2", "-w", "-c"]);
                process::output(compiler.args(&flags).arg(&source))?;
            }
            Ok(())
        })?;
        Ok(Target { seed: library.seed(&text)?, natives, units, core: args.core })
    }

    fn on_core(&self, nice: u32, program: &Path) -> Command {
        let mut command = Command::new("taskset");
        command.args(["-c", &self.core.to_string(), "nice", "-n", &nice.to_string()]).arg(program);
        command
    }

    /// A corpus of the seed alone.
    fn begin(&self, corpus: &Path) -> Result<()> {
        fs::create_dir(corpus)?;
        Ok(fs::write(corpus.join("seed"), &self.seed)?)
    }

    fn fuzz(&self, corpus: &Path, seconds: u32, seed: u32, nice: u32) -> Result<()> {
        let mut fuzzer = self.on_core(nice, &self.natives.join("fuzzer"));
        fuzzer.args([&format!("-max_total_time={seconds}"), &format!("-max_len={BYTES}"), &format!("-seed={seed}"), "-timeout=10"]);
        // What it ends by at a crash stays out of the corpus.
        let crashes = corpus.with_file_name("crashes");
        fs::create_dir_all(&crashes)?;
        fuzzer.arg(format!("-artifact_prefix={}/", crashes.display())).arg(corpus);
        let done = fuzzer.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        if !done.status.success() {
            println!("libFuzzer ended early: {}", said.lines().last().unwrap_or_default());
        }
        Ok(())
    }

    fn explore(&self, corpus: &Path, seconds: u32, seed: u32, more: &[&str]) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let mut wryneck = self.on_core(0, &crate::cmd::wryneck()?);
        wryneck.args(["run", "--json", "--no-replay", "--entry-bytes", BYTES]);
        wryneck.args(["--max-time", &format!("{seconds}s"), "--search-seed", &seed.to_string()]);
        wryneck.args(more).arg("--output").arg(scratch.path().join("out")).arg("--seed").arg(corpus).arg("--export").arg(corpus);
        let units = cache::files(&self.units)?.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "o"));
        let done = wryneck.args(units).stdin(Stdio::null()).output()?;
        let ran: Result<Value, _> = serde_json::from_slice(&done.stdout);
        ensure!(ran.is_ok(), "the run said no more than: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    /// Lines of the library and the target that the files of a corpus cover, each in a process of its own.
    fn covered(&self, corpus: &Path) -> Result<Value> {
        let file = |path: PathBuf| -> Result<Run> {
            let bytes = fs::read(path)?;
            Ok(Run { args: vec![b"input".to_vec()], stdin: Vec::new(), files: vec![("input".into(), bytes)] })
        };
        let runs: Vec<Run> = cache::files(corpus)?.into_iter().map(file).collect::<Result<_>>()?;
        let mut lines = gcov::of_runs(&self.natives.join("counted"), &self.natives, &runs)?;
        lines.retain(|(file, _), _| !file.ends_with("main.c") && !file.starts_with("/usr/"));
        Ok(json!({ "inputs": runs.len(), "lines": lines.len(), "covered": lines.values().filter(|ran| **ran).count() }))
    }
}
