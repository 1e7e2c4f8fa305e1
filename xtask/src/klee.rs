//! Runs KLEE, if somebody has built it, to compare wryneck with it.
//!
//! KLEE gets the options that its authors recommend for coreutils, with two exceptions: no file system is prepared, and the solver runs in KLEE's own
//! process, because that is faster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// The `klee` program to compare with; it needs KLEE's POSIX runtime and klee-uclibc
    #[arg(long, value_name = "PROGRAM")]
    klee: Option<PathBuf>,
    /// The clang of the LLVM version that KLEE was built with
    #[arg(long, value_name = "CLANG", default_value = "clang-16")]
    klee_clang: String,
    /// KLEE's searchers; KLEE interleaves them
    #[arg(long, value_name = "NAME,…", default_value = "random-path,nurs:covnew", value_delimiter = ',')]
    klee_search: Vec<String>,
}

/// A KLEE program and its options.
pub struct Klee {
    program: PathBuf,
    pub clang: String,
    search: Vec<String>,
}

/// Flags of clang for a unit that KLEE runs: nothing optimised yet, and everything left optimisable.
pub const FLAGS: &str = "-g -O1 -Xclang -disable-llvm-passes -w -D__NO_STRING_INLINES -D_FORTIFY_SOURCE=0 -U__OPTIMIZE__";

/// Memory of either tool, in MiB.
pub const MEMORY: u32 = 3000;

/// Between two looks at what it has written.
const LOOK: Duration = Duration::from_millis(500);

/// Seconds after its time in which KLEE may still write tests.
const GRACE: u64 = 60;

impl Args {
    /// Checks that KLEE runs. Without `--klee` there is nothing to check, and a line says so.
    pub fn open(&self) -> Result<Option<Klee>> {
        let Some(program) = &self.klee else {
            println!("KLEE is not run: `--klee PROGRAM` names it");
            return Ok(None);
        };
        let program = program.canonicalize().with_context(|| format!("`{}` is missing", program.display()))?;
        let found = process::output(Command::new(&program).arg("--version"))?;
        println!("{}, {}", found.lines().next().unwrap_or_default(), self.klee_search.join(" and "));
        Ok(Some(Klee { program, clang: self.klee_clang.clone(), search: self.klee_search.clone() }))
    }
}

/// How an exploration ended.
#[derive(Default)]
pub struct Done {
    pub seconds: f64,
    /// Seconds of processor time.
    pub work: f64,
    /// It was enough.
    pub hit: bool,
    /// Of those paths that ended.
    pub paths: u64,
    /// Those that were alive when the time was over.
    pub partial: u64,
}

/// Runs a command in the second of two folders, where nothing else of the root's file system can be written: KLEE opens files that input names.
const CONFINED: &str = r#"for dir in "$1" "$2"; do mount --bind "$dir" "$dir" || exit; done
mount -o remount,bind,ro / && cd "$2" && shift 2 && exec "$@""#;

impl Klee {
    /// The searchers, as a row of results names them.
    pub fn searchers(&self) -> String {
        self.search.join(" ")
    }

    /// Explores `bitcode` on `words` in an empty folder, with `options` added, until the time is over or `enough` says so of
    /// what KLEE and the program have written.
    pub fn explore(
        &self,
        bitcode: &Path,
        words: &[String],
        seconds: u32,
        options: &[&str],
        out: &Path,
        mut enough: impl FnMut(&str) -> Result<bool>,
    ) -> Result<Done> {
        let empty = tempfile::tempdir()?;
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", CONFINED, "sh"])
            .args([out.parent().context("the output folder is in one")?, empty.path()])
            // STP recurses as deep as its expressions are.
            .args(["prlimit", "--stack=unlimited"])
            .arg(&self.program)
            .current_dir(empty.path())
            .env_clear()
            .arg(format!("--output-dir={}", out.display()))
            .args([&format!("--max-time={seconds}s"), &format!("--max-memory={MEMORY}")])
            .args(["--libc=uclibc", "--posix-runtime", "--external-calls=all", "--max-memory-inhibit=false", "--max-sym-array-size=4096"])
            .args(["--simplify-sym-indices", "--use-cex-cache", "--use-forked-solver=false", "--switch-type=internal"])
            .args(["--max-static-fork-pct=1", "--max-static-solve-pct=1", "--max-static-cpfork-pct=1"])
            .args(["--use-batching-search", "--batch-instructions=10000"])
            .args(self.search.iter().map(|name| format!("--search={name}")))
            .args(options)
            .arg(bitcode)
            .args(words);
        let log = empty.path().with_extension("log");
        let file = fs::File::create(&log)?;
        let (start, before) = (Instant::now(), process::of_children()?);
        let mut child = command.stdin(std::process::Stdio::null()).stdout(file.try_clone()?).stderr(file).spawn()?;
        let written = || -> Result<String> { Ok(String::from_utf8_lossy(&fs::read(&log)?).into_owned()) };
        let (ended, hit) = loop {
            std::thread::sleep(LOOK);
            let late = start.elapsed() > Duration::from_secs(u64::from(seconds) + GRACE);
            let ended = child.try_wait()?.is_some();
            let hit = enough(&written()?)?;
            if !ended && (late || hit) {
                child.kill()?;
                child.wait()?;
            }
            if ended || late || hit {
                break (ended, hit);
            }
        };
        let (seconds, work) = (start.elapsed().as_secs_f64(), process::of_children()? - before);
        let text = written()?;
        fs::remove_file(&log)?;
        let number =
            |name: &str| -> Option<u64> { text.lines().rfind(|line| line.contains(name))?.rsplit(" = ").next()?.trim().parse().ok() };
        let paths = number("done: completed paths = ");
        if ended && paths.is_none() {
            let last: Vec<&str> = text.lines().rev().take(5).collect();
            bail!("KLEE failed on `{}`: {}", bitcode.display(), last.join(" | "));
        }
        Ok(Done { seconds, work, hit, paths: paths.unwrap_or(0), partial: number("partially completed paths = ").unwrap_or(0) })
    }
}

/// A place that a path should reach.
#[derive(Clone, Debug)]
pub enum Place {
    Function(String),
    Line(String, u64),
}

/// Whether an instruction there ran, as `run.istats` counts them.
pub fn reached(counts: &str, place: &Place) -> bool {
    let events = counts.lines().find_map(|line| line.strip_prefix("events: ")).unwrap_or_default();
    let Some(covered) = events.split_whitespace().position(|name| name == "Icov") else { return false };
    let (mut file, mut function, mut skip) = ("", "", false);
    for line in counts.lines() {
        if let Some(name) = line.strip_prefix("fl=") {
            file = name;
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with("calls=") {
            // The next line counts what the callee did.
            skip = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) && !std::mem::take(&mut skip) {
            let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let here = match place {
                Place::Function(name) => name == function,
                Place::Line(name, wanted) => numbers.get(1) == Some(wanted) && Path::new(file).ends_with(name),
            };
            if here && numbers.get(2 + covered).is_some_and(|count| *count > 0) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_say_what_ran() {
        let counts = "version: 1\npositions: instr line\nevents: I Icov Forks \nfl=src/tr.c\nfn=main\n10 5 3 1 0\n11 6 0 0 0\ncfn=f\ncalls=1 20 7\n11 6 9 9 9\nfn=f\n20 7 0 0 0\n";
        let line = |name: &str, line| reached(counts, &Place::Line(name.into(), line));
        assert!(line("tr.c", 5) && !line("tr.c", 6) && !line("r.c", 5) && !line("tr.c", 7));
        assert!(reached(counts, &Place::Function("main".into())) && !reached(counts, &Place::Function("f".into())));
    }
}
