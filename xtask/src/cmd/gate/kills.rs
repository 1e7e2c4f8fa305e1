//! Kills at random moments: of runs, verifications, builds and fresh caches. What a run had found is in its folder, which can be read from its first
//! moment; no process of it goes on; the next start works and leaves nothing of the killed one behind. And runs whose database somebody reads end well.
//!
//! What was found is known by the tests: one of a fault that lay on the disk [`SETTLED`] before the kill must have its finding in the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::random::Random;
use crate::watched;

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 200)]
    kills: u64,
    /// Runs with a reader on their database
    #[arg(long, default_value_t = 100)]
    readers: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How old a test is whose finding must be in the database.
const SETTLED: Duration = Duration::from_secs(1);
/// How long what was killed may take to be gone; one that was asked to end, to tell what it knows.
const GONE: Duration = Duration::from_secs(4);

/// Faults that are found one after the other, all along the run.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  volatile int n = 0;
  for (char *p = argv[1]; *p; p++) {
    if (*p == 'x') n++;
    if (*p == 'f') { FILE *f = fopen("/dev/null", "r"); if (n % 2 && f) fclose(f); }
  }
  switch (n) {
FAULTS
  }
  return n;
}
"#;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Run,
    Verify,
    Build,
    /// A run whose cache is empty.
    Fresh,
}

const KINDS: [Kind; 6] = [Kind::Run, Kind::Run, Kind::Verify, Kind::Build, Kind::Fresh, Kind::Run];
const SIGNALS: [&str; 4] = ["KILL", "KILL", "TERM", "INT"];

struct Place {
    dir: tempfile::TempDir,
    wryneck: PathBuf,
}

impl Place {
    fn new() -> Result<Place> {
        let dir = tempfile::tempdir()?;
        let faults: String = (3..40).map(|n| format!("  case {n}: if (argv[1][{n}] == 'a') abort();\n    break;\n")).collect();
        fs::write(dir.path().join("p.c"), PROGRAM.replace("FAULTS\n", &faults))?;
        fs::write(dir.path().join("q.c"), "int helper(int x) { return x * 3; }\n")?;
        let make = "p: p.o q.o\n\t$(CC) -o p p.o q.o\n%.o: %.c\n\t$(CC) -c $<\n";
        fs::write(dir.path().join("Makefile"), make)?;
        fs::create_dir(dir.path().join("tmp"))?;
        let wryneck = fs::canonicalize(super::wryneck()).context("build wryneck with `cargo build --release`")?;
        Ok(Place { dir, wryneck })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A command that works in this place alone, but for the cache.
    fn command(&self, kind: Kind, time: &str) -> Result<Command> {
        let mut command = Command::new(&self.wryneck);
        command.current_dir(self.path()).env("TMPDIR", self.path().join("tmp")).stdin(Stdio::null());
        match kind {
            Kind::Run => command.args(["run", "--max-time", time, "--output", "out", "p.c", "--sym-arg", "40"]),
            Kind::Verify => command.args(["verify", "--max-time", time, "--output", "out", "p.c", "--sym-arg", "40"]),
            Kind::Build => command.args(["build", "--", "make", "-B"]),
            Kind::Fresh => {
                let own = self.path().join("cache");
                fs::create_dir_all(&own)?;
                let libc = own.join("libc.bc");
                if !libc.exists() {
                    fs::copy(crate::cache::Cache::open()?.path("libc.bc"), libc)?;
                }
                command.env("WRYNECK_CACHE", own).args(["run", "--max-time", time, "--output", "out", "p.c", "--sym-arg", "40"])
            }
        };
        Ok(command)
    }
}

pub fn run(args: &Args) -> Result<()> {
    let mut random = Random::new(args.seed);
    let mut bad = Vec::new();
    for number in 0..args.kills {
        let (kind, signal) = (KINDS[random.below(KINDS.len())], SIGNALS[random.below(SIGNALS.len())]);
        // Short ones as often as long ones.
        let most = 1 << random.below(12);
        let pause = Duration::from_millis(random.below(most) as u64 + 1);
        let wrong = killed(kind, signal, pause).with_context(|| format!("kill {number}: {kind:?} by {signal} after {pause:?}"))?;
        bad.extend(wrong.into_iter().map(|wrong| format!("kill {number}: {kind:?} by {signal} after {pause:?}: {wrong}")));
    }
    println!("{} kills", args.kills);
    for number in 0..args.readers {
        bad.extend(read(number)?.into_iter().map(|wrong| format!("reader {number}: {wrong}")));
    }
    println!("{} runs with a reader", args.readers);
    bad.iter().for_each(|wrong| println!("WRONG {wrong}"));
    ensure!(bad.is_empty(), "{} of them went wrong", bad.len());
    Ok(())
}

/// Starts, kills, looks at what is left, and starts again; what was wrong.
fn killed(kind: Kind, signal: &str, pause: Duration) -> Result<Vec<String>> {
    let place = Place::new()?;
    let mut wrong = Vec::new();
    let mut command = place.command(kind, "20s")?;
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start wryneck")?;
    thread::sleep(pause);
    let processes = watched::tree(child.id());
    let at = SystemTime::now();
    watched::signal(&child, signal)?;
    if !ends(&mut child)? {
        wrong.push(format!("it goes on {} s later", GONE.as_secs()));
        child.kill()?;
        child.wait()?;
    }
    let start = Instant::now();
    while !watched::alive(&processes).is_empty() && start.elapsed() < GONE {
        thread::sleep(Duration::from_millis(20));
    }
    wrong.extend(watched::alive(&processes).into_iter().map(|line| format!("a process goes on: {line}")));
    let out = place.path().join("out");
    if out.exists() {
        let shown = Command::new(&place.wryneck).current_dir(place.path()).args(["show", "out"]).output()?;
        if !shown.status.success() {
            wrong.push(format!("the folder cannot be read: {}", String::from_utf8_lossy(&shown.stderr)));
        }
        wrong.extend(lost(&out, at)?);
        fs::remove_dir_all(&out)?;
    }
    // The next start.
    let done = place.command(kind, "3s")?.output()?;
    if !matches!(done.status.code(), Some(0 | 1 | 3)) {
        wrong.push(format!("the next start: {}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    wrong.extend(left(place.path())?);
    Ok(wrong)
}

fn ends(child: &mut Child) -> Result<bool> {
    let start = Instant::now();
    while start.elapsed() < GONE {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Faults whose tests lay on the disk for long enough before the kill, and that are no findings in the database.
fn lost(out: &Path, killed: SystemTime) -> Result<Vec<String>> {
    let db = Connection::open_with_flags(out.join("run.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut lost = Vec::new();
    for entry in fs::read_dir(out)?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "json") || entry.metadata()?.modified()? + SETTLED > killed {
            continue;
        }
        let about: Value = serde_json::from_slice(&fs::read(&path)?)?;
        if about["class"] != "fault" {
            continue;
        }
        let line =
            about["stack"].as_array().and_then(|stack| stack.iter().find_map(|place| place["line"].as_u64().filter(|line| *line > 0)));
        let findings: i64 =
            db.query_row("SELECT count(*) FROM finding WHERE stack LIKE ?", [format!("%\"line\":{}%", line.unwrap_or(0))], |row| {
                row.get(0)
            })?;
        if findings == 0 {
            lost.push(format!("the fault of `{}` is no finding of the database", path.display()));
        }
    }
    Ok(lost)
}

/// What is left of the killed one after the next.
fn left(place: &Path) -> Result<Vec<String>> {
    let mut left = Vec::new();
    let hidden = fs::read_dir(place)?.flatten().filter(|e| e.file_name().to_string_lossy().starts_with('.'));
    left.extend(hidden.map(|e| format!("left over: {}", e.path().display())));
    left.extend(fs::read_dir(place.join("tmp"))?.flatten().map(|e| format!("left over: {}", e.path().display())));
    Ok(left)
}

/// A run whose database is read all the time, in every way; what was wrong with its end.
fn read(number: u64) -> Result<Vec<String>> {
    let place = Place::new()?;
    let mut command = Command::new(&place.wryneck);
    command
        .current_dir(place.path())
        .args(["run", "--json", "--no-replay", "--max-time", "1s", "--output", "out", "p.c", "--sym-arg", "40"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (done, out) = (AtomicBool::new(false), place.path().join("out"));
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                match number % 3 {
                    // One that has a transaction open to the end.
                    0 => {
                        let held = || -> rusqlite::Result<()> {
                            let db = Connection::open_with_flags(out.join("run.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                            db.execute_batch("BEGIN")?;
                            db.query_row("SELECT count(*) FROM path", [], |row| row.get::<_, i64>(0))?;
                            while !done.load(Ordering::Relaxed) {
                                thread::sleep(Duration::from_millis(5));
                            }
                            Ok(())
                        };
                        let _ = held();
                    }
                    1 => {
                        let _ = Command::new(&place.wryneck).current_dir(place.path()).args(["show", "out"]).output();
                    }
                    _ => {
                        let count = || -> rusqlite::Result<i64> {
                            let db = Connection::open_with_flags(out.join("run.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                            db.query_row("SELECT count(*) FROM path", [], |row| row.get(0))
                        };
                        let _ = count();
                    }
                }
            }
        });
        let output = child.wait_with_output();
        done.store(true, Ordering::Relaxed);
        output
    })?;
    let mut wrong = Vec::new();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    if !matches!(output.status.code(), Some(1 | 3)) || run.is_null() {
        wrong.push(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let db = Connection::open_with_flags(out.join("run.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let findings: i64 = db.query_row("SELECT count(*) FROM finding", [], |row| row.get(0))?;
    let summary: i64 = db.query_row("SELECT count(*) FROM run WHERE name = 'summary'", [], |row| row.get(0))?;
    let told = run["findings"].as_array().map_or(0, |all| all.len() as i64);
    if findings != told || summary != 1 {
        wrong.push(format!("{findings} findings in the folder, {told} printed, {summary} summaries"));
    }
    Ok(wrong)
}
