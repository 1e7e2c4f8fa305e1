//! Runs and verifications that are stopped at random moments, by a kill, by Ctrl-C, by a request to end or by a limit, and go on by `--resume`, again and
//! again, until nothing is left. In the end they have what the same command has that was never stopped.
//!
//! - `run`: the ends of paths with their counts, the findings with theirs, the ends of the paths that have a test (all of them), the lines covered.
//! - `verify`: the sequences of events, the findings of rules, the verdicts. Which irrelevant alternative a path takes depends on the solver's models, so its
//!   other ends may differ.
//!
//! Every second round over the programs explores by two workers; `verify` has one. A trial that is in the results is not done again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::random::Random;
use crate::watched;

#[derive(clap::Args)]
pub struct Args {
    /// Stops, at least
    #[arg(long, default_value_t = 100)]
    kills: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/resume.jsonl")]
    results: PathBuf,
}

/// A program and its input for `run` and for `verify`. `.bc`: bitcode of coreutils; `.c`: one of [`OWN`]; else an executable of coreutils.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

static PROGRAMS: [Row; 11] = [
    ("basename.bc", &["--sym-arg", "8"], &["--sym-args", "0", "3", "3"]),
    ("cat.bc", &["-v", "--sym-stdin", "4"], &["A", "--sym-files", "1", "3"]),
    ("cut.bc", &["--sym-arg", "3", "A", "--sym-files", "1", "2"], &["--sym-arg", "4", "A", "--sym-files", "1", "3"]),
    ("expr.bc", &["--sym-args", "0", "3", "1"], &["--sym-args", "0", "3", "2"]),
    ("faults.c", &["--sym-arg", "6"], &["--sym-arg", "8"]),
    ("fold.bc", &["--sym-stdin", "5"], &["--sym-stdin", "6"]),
    ("streams.c", &["--sym-arg", "6"], &["--sym-arg", "8"]),
    ("tr.bc", &["--sym-arg", "2", "--sym-arg", "1", "--sym-stdin", "2"], &["--sym-arg", "2", "--sym-arg", "1", "--sym-stdin", "2"]),
    ("uname", &["--sym-args", "0", "2", "2"], &["--sym-args", "0", "2", "2"]),
    ("wc.bc", &["--sym-stdin", "4"], &["--sym-stdin", "4"]),
    (SEEDED, &["--sym-stdin", "6"], &["--sym-stdin", "6"]),
];

/// The program that has a seed: with one, strings are compared as one value.
const SEEDED: &str = "words.c";
const SEED: &str = "ab qr";

pub static OWN: [(&str, &str); 3] = [
    (
        "faults.c",
        r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char *s = argv[1], a[4];
  int n = 0, v = 0;
  FILE *f = fopen("/etc/passwd", "r");
  for (int i = 0; s[i]; i++) {
    if (s[i] >= '0' && s[i] <= '9') n++;
    else if (s[i] == 'x') v += 2;
    else if (s[i] == '(') v ^= 1;
  }
  if (f && n != 2) fclose(f);
  if (n == 3 && v == 3) abort();
  if (v == 4 && n == 1) a[n + v] = 1;
  if (v == 6) { char *q = malloc(3); q[v] = 2; free(q); }
  if (n == 5) printf("%d\n", 10 / (v - 1));
  return n > v;
}
"#,
    ),
    (
        "streams.c",
        r#"#include <stdio.h>
int main(int argc, char **argv) {
  char *s = argv[1];
  int n = 0, v = 0;
  FILE *f = fopen("/etc/passwd", "r"), *g = 0;
  if (!f) return 1;
  for (int i = 0; s[i]; i++) {
    if (s[i] >= '0' && s[i] <= '9') n++;
    else if (s[i] == 'x') v += 2;
    else if (s[i] == 'o' && !g) g = fopen("/etc/group", "r");
    if (s[i] == 'c' && n == 2 && f) { fclose(f); f = 0; }
    if (s[i] == 'r' && g) { char b[2]; fread(b, 1, 1, g); }
  }
  if (f && n != 3) fclose(f);
  if (g && v != 4) fclose(g);
  return v;
}
"#,
    ),
    (
        SEEDED,
        r#"#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char s[7] = {0};
  if (read(0, s, 6) != 6) return 9;
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  int v = 0;
  for (int i = 0; i < 3; i++) {
    if (!strncmp(s + 2 * i, "ab", 2)) v = v * 3 + 1;
    else if (!memcmp(s + i, "qr ", 3)) v = v * 3 + 2;
    else if (s[2 * i] > 'p') v *= 2;
  }
  if (!strcmp(s, "abcdef")) return 40;
  if (v != 4) fclose(f);
  return v;
}
"#,
    ),
];

/// How a run is stopped.
const STOPS: [&str; 5] = ["KILL", "INT", "KILL", "TERM", "limit"];
/// Stops of one trial, at most.
const MOST: usize = 5;

/// A trial's command, in a place of its own.
struct Trial<'a> {
    command: &'a str,
    workers: &'static str,
    target: PathBuf,
    words: &'a [&'a str],
    dir: &'a Path,
}

/// How a session ended.
enum Session {
    /// Stopped; its folder, if it had got so far.
    Stopped(Option<PathBuf>),
    Done,
}

pub fn run(args: &Args) -> Result<()> {
    let known = fs::read_to_string(&args.results).unwrap_or_default();
    let mut rows: BTreeMap<u64, Value> = BTreeMap::new();
    for line in known.lines() {
        let row: Value = serde_json::from_str(line).with_context(|| format!("{}: not our results", args.results.display()))?;
        rows.insert(row["trial"].as_u64().unwrap_or(0), row);
    }
    let kills = |rows: &BTreeMap<u64, Value>| rows.values().filter_map(|row| row["stops"].as_array()).map(Vec::len).sum::<usize>() as u64;
    let least = 2 * PROGRAMS.len() as u64;
    for number in 0.. {
        if number >= least && kills(&rows) >= args.kills {
            break;
        }
        if rows.contains_key(&number) {
            continue;
        }
        let row = trial(number, args.seed).with_context(|| format!("trial {number}"))?;
        println!("{row}");
        writeln!(OpenOptions::new().create(true).append(true).open(&args.results)?, "{row}")?;
        rows.insert(number, row);
    }
    let wrong: Vec<&Value> = rows.values().filter(|row| row["equal"] != true).collect();
    let went_on = rows.values().filter_map(|row| row["adopted"].as_u64()).sum::<u64>();
    println!("{} trials, {} stops, {went_on} sessions that went on with what one before had left", rows.len(), kills(&rows));
    wrong.iter().for_each(|row| println!("WRONG {row}"));
    ensure!(wrong.is_empty(), "{} trials differ from the run that was never stopped", wrong.len());
    ensure!(4 * went_on >= args.kills, "only {went_on} sessions went on with what one before had left");
    Ok(())
}

fn trial(number: u64, seed: u64) -> Result<Value> {
    let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (name, run, verify) = PROGRAMS[number as usize / 2 % PROGRAMS.len()];
    let (command, words) = if number.is_multiple_of(2) { ("run", run) } else { ("verify", verify) };
    let dir = tempfile::tempdir()?;
    let dir = dir.path();
    let target = match OWN.iter().find(|(own, _)| *own == name) {
        Some((_, text)) => {
            fs::write(dir.join(name), text)?;
            dir.join(name)
        }
        None => Cache::open()?.path("coreutils/O2").join(name),
    };
    let workers = if command == "run" && number as usize / (2 * PROGRAMS.len()) % 2 == 1 { "2" } else { "1" };
    let trial = Trial { command, workers, target, words, dir };
    let start = Instant::now();
    let done = trial.start(None, "whole", u64::MAX)?.wait_with_output()?;
    let whole = start.elapsed();
    ensure!(matches!(done.status.code(), Some(0 | 1)), "the whole run: {}", String::from_utf8_lossy(&done.stderr));
    let want = trial.known("whole")?;
    let instructions = serde_json::from_slice::<Value>(&done.stdout)?["totals"]["instructions"].as_u64().unwrap_or(1);
    let (mut before, mut stops, mut adopted, mut sessions) = (None, Vec::new(), 0, 0);
    let last = loop {
        let folder = format!("part{sessions}");
        sessions += 1;
        ensure!(sessions < 40, "it does not come to its end");
        let how = if stops.len() < MOST { STOPS[random.below(STOPS.len())] } else { "none" };
        let pause = Duration::from_micros(random.below(whole.as_micros() as usize) as u64);
        let most = if how == "limit" { random.below(instructions as usize) as u64 + 1 } else { u64::MAX };
        let is_left = before.as_deref().is_some_and(|folder| has_rest(folder).unwrap_or(false));
        match trial.session(before.as_deref(), &folder, how, pause, most)? {
            Session::Done if dir.join(&folder).exists() => {
                adopted += u64::from(is_left);
                break folder;
            }
            // The one before had nothing left.
            Session::Done => break before.and_then(|path: PathBuf| Some(path.file_name()?.to_str()?.to_owned())).context("no folder")?,
            Session::Stopped(folder) => {
                stops.push(how);
                if let Some(folder) = folder {
                    adopted += u64::from(is_left);
                    before = Some(folder);
                }
            }
        }
    };
    let got = trial.known(&last)?;
    let mut row = json!({ "trial": number, "program": name, "command": command, "workers": workers, "stops": stops, "adopted": adopted, "equal": got == want });
    if got != want {
        (row["got"], row["want"]) = (got, want);
    }
    Ok(row)
}

impl Trial<'_> {
    fn start(&self, before: Option<&Path>, folder: &str, most: u64) -> Result<std::process::Child> {
        let mut command = Command::new(fs::canonicalize(super::wryneck())?);
        command.current_dir(self.dir).args([self.command, "--json", "--output", folder, "--sequences", &format!("{folder}.txt")]);
        command.args(["--max-instructions", &most.to_string(), "-j", self.workers]);
        if before.is_none() && self.target.ends_with(SEEDED) {
            fs::write(self.dir.join("seed"), SEED)?;
            command.args(["--seed", "seed"]);
            if self.command == "verify" {
                command.args(["--prune", "off"]);
            }
        }
        match before {
            Some(before) => command.arg("--resume").arg(before),
            None if self.command == "run" => command.args(["--no-replay", "--emit", "all"]).arg(&self.target).args(self.words),
            None => command.args(["--no-replay", "--rule", "open-close"]).arg(&self.target).args(self.words),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start wryneck")
    }

    /// Goes on with an earlier session, or begins, until it is stopped.
    fn session(&self, before: Option<&Path>, folder: &str, how: &str, pause: Duration, most: u64) -> Result<Session> {
        let mut child = self.start(before, folder, most)?;
        let start = Instant::now();
        while !matches!(how, "none" | "limit") && child.try_wait()?.is_none() {
            if start.elapsed() >= pause {
                watched::signal(&child, how)?;
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let Output { status, stdout, stderr } = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&stderr);
        let path = self.dir.join(folder);
        let run: Value = serde_json::from_slice(&stdout).unwrap_or(Value::Null);
        Ok(match status.code() {
            Some(2) if said.contains("is complete: nothing is left") => Session::Done,
            // Nothing was known of it yet.
            Some(2) if said.contains("before it had begun") => bail!("it goes on with a folder that has nothing: {said}"),
            Some(0 | 1) if run["status"]["kind"] == "complete" => Session::Done,
            Some(0 | 1 | 3) | None => Session::Stopped(Some(path).filter(|path| has_seal(path).unwrap_or(false))),
            // Stopped as it began, or while it wrote its folder.
            Some(2)
                if how != "none"
                    && !said.contains("wryneck broke down")
                    && (run.is_null() || ["was cut off", "was not written"].iter().any(|why| said.contains(why))) =>
            {
                Session::Stopped(Some(path).filter(|path| has_seal(path).unwrap_or(false)))
            }
            _ => bail!("{status}: {said}"),
        })
    }

    fn known(&self, folder: &str) -> Result<Value> {
        known(self.dir, self.command, folder)
    }
}

/// What is compared of a folder in `dir`.
pub fn known(dir: &Path, command: &str, folder: &str) -> Result<Value> {
    let db = open(&dir.join(folder))?;
    let summary: String = db.query_row("SELECT value FROM run WHERE name = 'summary'", [], |row| row.get(0))?;
    let summary: Value = serde_json::from_str(&summary)?;
    if command == "verify" {
        let sequences = fs::read_to_string(dir.join(format!("{folder}.txt")))?;
        let findings =
            lines(&db, "SELECT DISTINCT kind || ' ' || line || ' ' || message FROM finding WHERE kind LIKE 'rule:%' ORDER BY 1")?;
        let verdicts: Vec<Value> =
            summary["rules"].as_array().into_iter().flatten().map(|rule| json!([rule["id"], rule["verdict"]])).collect();
        return Ok(json!({ "sequences": sequences.lines().collect::<Vec<_>>(), "findings": findings, "verdicts": verdicts }));
    }
    let ends = "SELECT class || ' ' || what || ' ' || count(*) FROM path GROUP BY class, what ORDER BY 1";
    let tests = "SELECT class || ' ' || what || ' ' || count(*) FROM path WHERE test IS NOT NULL GROUP BY class, what ORDER BY 1";
    let findings = "SELECT kind || ' ' || line || ' ' || message || ' ' || count FROM finding ORDER BY 1";
    let files = fs::read_dir(dir.join(folder))?.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "ktest")).count();
    Ok(json!({
        "ends": lines(&db, ends)?, "tests": lines(&db, tests)?, "files": files, "findings": lines(&db, findings)?,
        "covered": lines(&db, "SELECT file || ':' || line FROM coverage WHERE covered = 1 ORDER BY file, line")?.len(),
    }))
}

pub fn open(folder: &Path) -> Result<Connection> {
    // A killed run's log is read with it.
    Ok(Connection::open_with_flags(folder.join("run.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)?)
}

pub fn lines(db: &Connection, sql: &str) -> Result<Vec<String>> {
    Ok(db.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Whether the run in a folder had begun.
fn has_seal(folder: &Path) -> Result<bool> {
    has_fact(folder, "seal")
}

/// Whether what is left was written.
fn has_rest(folder: &Path) -> Result<bool> {
    has_fact(folder, "rest")
}

fn has_fact(folder: &Path, name: &str) -> Result<bool> {
    ensure!(folder.join("run.db").exists(), "there is no database");
    let count: i64 = open(folder)?.query_row("SELECT count(*) FROM run WHERE name = ?", [name], |row| row.get(0))?;
    Ok(count > 0)
}
