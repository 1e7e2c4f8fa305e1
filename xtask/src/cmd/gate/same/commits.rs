//! The same results of the builds of two commits, on all rows of a set.
//!
//! A row is explored to its end, or until all paths together have executed so many instructions: a bound that does not depend on time, the same for both
//! builds. The searchers are the tool's own with a fixed seed. Each part of what is left behind is compared, and what differs is named. If anything does, the
//! earlier build explores the row once more, to tell a change from a row that differs from itself.
//!
//! Both builds of a row work in the same folder one after the other, since programs see its name. Two rows at a time.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::super::resume::{lines, open};
use super::builds::Build;
use super::sets::{Row, Set};
use super::{Args, host, target};
use crate::process;

/// The seed of the searchers.
const SEED: &str = "1";
/// No exploration may need so long; one that does is not compared.
const MOST: &str = "30min";
/// What of the two is in `equal`; that of the other parts is named where it differs.
const GATE: [&str; 5] = ["ends", "tests", "findings", "verdicts", "sequences"];

pub fn run(args: &Args) -> Result<()> {
    if let Some(dir) = args.results.parent() {
        fs::create_dir_all(dir)?;
    }
    if args.set.contains(&Set::Speed) {
        host::check()?;
    }
    let mut wrong = 0;
    for pair in &args.commits {
        let (before, after) = pair.split_once("..").context("two commits are written `BEFORE..AFTER`")?;
        let (before, after) = (Build::of(before, &args.builds)?, Build::of(after, &args.builds)?);
        for &set in &args.set {
            wrong += compare_set(set, &before, &after, args)?;
        }
    }
    ensure!(wrong == 0, "{wrong} rows differ");
    Ok(())
}

/// How many rows differ.
fn compare_set(set: Set, before: &Build, after: &Build, args: &Args) -> Result<usize> {
    let known: Vec<Value> =
        fs::read_to_string(&args.results).unwrap_or_default().lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let asked = |row: &Row| args.program.is_empty() || args.program.contains(&row.program);
    let rows: Vec<Row> = set.rows().into_iter().filter(asked).collect();
    let file = Mutex::new(OpenOptions::new().create(true).append(true).open(&args.results)?);
    let done = Mutex::new(Vec::new());
    process::parallel_on(2, &rows, |row| {
        let name = row.name(set);
        let is_same = |known: &&Value| name.iter().all(|(key, value)| known[key] == *value);
        // A row that could not be explored is tried again.
        let commits = |known: &&Value| {
            known["reach"] != "none" && known["before"] == before.commit.as_str() && known["after"] == after.commit.as_str()
        };
        let result = match known.iter().filter(is_same).find(commits) {
            Some(known) => known.clone(),
            None => {
                let mut result = Value::Object(name);
                (result["before"], result["after"]) = (before.commit.as_str().into(), after.commit.as_str().into());
                let compared = match set {
                    Set::Speed => host::compare(row, before, after),
                    _ => compare(row, before, after, args.instructions.or(set.bound())),
                };
                match compared {
                    Ok(Value::Object(more)) => result.as_object_mut().expect("it was made as one").extend(more),
                    Ok(_) => {}
                    // A row that cannot be explored says why, and is not equal.
                    Err(error) => (result["reach"], result["error"]) = ("none".into(), format!("{error:#}").into()),
                }
                println!("{result}");
                writeln!(file.lock().expect("no job panics"), "{result}")?;
                result
            }
        };
        done.lock().expect("no job panics").push(result);
        Ok(())
    })?;
    let done = done.into_inner()?;
    let count = |is: &dyn Fn(&&Value) -> bool| done.iter().filter(is).count();
    let wrong = count(&|row| row["equal"] != true);
    let (ended, bounded) = (count(&|row| row["reach"] == "ended"), count(&|row| row["reach"] == "bounded"));
    let (before, after) = (&before.commit, &after.commit);
    println!("{before}..{after} {}: {} rows, {ended} to their end, {bounded} bounded; {wrong} differ", set.word(), done.len());
    Ok(wrong)
}

/// Explores a row by both.
fn compare(row: &Row, before: &Build, after: &Build, bound: Option<u64>) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let case = Case { row, target: target(dir.path(), &row.program)?, dir: dir.path() };
    let (want, got) = (case.explored(before, bound)?, case.explored(after, bound)?);
    ensure!(!want.is_out_of_time() && !got.is_out_of_time(), "it takes longer than {MOST}");
    let differs = want.differs(&got);
    let mut result = json!({
        "reach": if want.is_complete() { "ended" } else { "bounded" }, "bound": bound.filter(|_| !want.is_complete()),
        "paths": want.paths, "tests": want.parts["tests"].as_array().map_or(0, Vec::len), "sequences": want.sequences(),
        "instructions": [want.instructions, got.instructions], "seconds": [want.seconds, got.seconds],
        "equal": !differs.iter().any(|part| GATE.contains(part)),
    });
    if !differs.is_empty() {
        let again = want.differs(&case.explored(before, bound)?);
        result["differs"] = json!(differs);
        result["before differs from itself"] = json!(again);
        result["shortly"] = differs.iter().map(|&part| (part.to_owned(), difference(&want.parts[part], &got.parts[part]))).collect();
    }
    Ok(result)
}

impl Row {
    /// What tells it from others in the results.
    fn name(&self, set: Set) -> Map<String, Value> {
        let name = json!({
            "set": set.word(), "command": self.command, "program": self.program, "words": self.words, "rule": self.rule,
            "machine code": self.is_machine_code,
        });
        name.as_object().expect("it was made as one").clone()
    }
}

struct Case<'a> {
    row: &'a Row,
    target: PathBuf,
    dir: &'a Path,
}

/// What an exploration left behind.
struct Explored {
    /// By name.
    parts: Map<String, Value>,
    status: Value,
    paths: u64,
    instructions: u64,
    seconds: f64,
}

impl Explored {
    fn is_complete(&self) -> bool {
        self.status["kind"] == "complete"
    }

    fn is_out_of_time(&self) -> bool {
        self.status["limit"] == "time"
    }

    fn sequences(&self) -> usize {
        self.parts["sequences"].as_array().map_or(0, Vec::len)
    }

    fn differs(&self, other: &Explored) -> Vec<&str> {
        self.parts.iter().filter(|(name, part)| other.parts[*name] != **part).map(|(name, _)| name.as_str()).collect()
    }
}

impl Case<'_> {
    fn explored(&self, build: &Build, bound: Option<u64>) -> Result<Explored> {
        let (empty, out, sequences) = (self.dir.join("empty"), self.dir.join("out"), self.dir.join("sequences"));
        for folder in [&empty, &out] {
            let _ = fs::remove_dir_all(folder);
        }
        fs::create_dir(&empty)?;
        let mut command = Command::new(build.wryneck());
        command.env("WRYNECK_CACHE", build.cache()).current_dir(&empty).stdin(Stdio::null());
        command.arg(if self.row.command == "run" { "run" } else { "verify" });
        command.args(["--quiet", "--no-replay", "--emit", "all", "--max-memory", "6G", "--max-time", MOST, "--search-seed", SEED]);
        command.args(bound.iter().flat_map(|most| ["--max-instructions".to_owned(), most.to_string()]));
        command.args(self.row.rule.iter().flat_map(|rule| ["--rule", rule]));
        command.args(self.row.is_machine_code.then_some("--machine-code"));
        command.args(if self.row.command == "all" { &["--prune", "off"][..] } else { &[] });
        if self.row.has_summaries {
            command.arg("--summaries").arg(build.summaries());
        }
        command.arg("--sequences").arg(&sequences).arg("--output").arg(&out).arg(&self.target).args(self.row.words);
        let start = Instant::now();
        let done = command.output()?;
        let seconds = (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        // 3 says that a limit stopped it.
        ensure!(matches!(done.status.code(), Some(0 | 1 | 3)), "{}: {}", build.commit, String::from_utf8_lossy(&done.stderr));
        let db = open(&out)?;
        let summary: String = db.query_row("SELECT value FROM run WHERE name = 'summary'", [], |row| row.get(0))?;
        let summary: Value = serde_json::from_str(&summary)?;
        let total = |name: &str| summary["totals"][name].as_u64().unwrap_or(0);
        Ok(Explored {
            parts: self.parts(&db, &summary, &out, &sequences)?,
            status: summary["status"].clone(),
            paths: total("paths"),
            instructions: total("instructions"),
            seconds,
        })
    }

    /// What is compared.
    fn parts(&self, db: &rusqlite::Connection, summary: &Value, out: &Path, sequences: &Path) -> Result<Map<String, Value>> {
        let all = |sql: &str| -> Result<Value> {
            let dir = self.dir.to_string_lossy();
            Ok(lines(db, sql)?.into_iter().map(|line| line.replace(&*dir, "DIR")).collect())
        };
        let verdicts = summary["rules"].as_array().into_iter().flatten().map(|rule| json!([rule["id"], rule["verdict"]]));
        let mut inputs: Vec<String> = Vec::new();
        for file in fs::read_dir(out)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "ktest") {
                inputs.push(blake3::hash(&fs::read(path)?).to_hex().to_string());
            }
        }
        inputs.sort();
        let end = "class || ' ' || what";
        let finding = "kind || ' ' || file || ':' || line || ' ' || message";
        let path = "class || ' ' || what || ' ' || depth || ' ' || coalesce(hex(prefix), '')";
        let mut parts = Map::new();
        let mut add = |name: &str, part: Value| parts.insert(name.to_owned(), part);
        add("ends", all(&format!("SELECT {end} || ' ' || count(*) FROM path GROUP BY class, what ORDER BY 1"))?);
        add("tests", all(&format!("SELECT {path} FROM path WHERE test IS NOT NULL ORDER BY 1"))?);
        add("findings", all(&format!("SELECT DISTINCT {finding} FROM finding ORDER BY 1"))?);
        add("verdicts", verdicts.collect());
        add("status", summary["status"].clone());
        add("sequences", fs::read_to_string(sequences).unwrap_or_default().lines().collect());
        // Not asked of a build with the same behaviour, but it tells where the two part.
        add("bytes of tests", json!(inputs));
        add("order of paths", all(&format!("SELECT {path} FROM path ORDER BY id"))?);
        add("instructions of paths", all("SELECT CAST(instructions AS TEXT) FROM path ORDER BY id")?);
        add("counts of findings", all(&format!("SELECT {finding} || ' ' || count FROM finding ORDER BY 1"))?);
        add("covered lines", all("SELECT file || ':' || line FROM coverage WHERE covered = 1 ORDER BY file, line")?);
        add("ledger", all("SELECT kind || ' ' || what || ' ' || count FROM ledger ORDER BY 1")?);
        add("pruning", summary["pruning"].clone());
        Ok(parts)
    }
}

/// What only one of two lists has: how many of each, and the first ones.
fn difference(want: &Value, got: &Value) -> Value {
    let (Some(want), Some(got)) = (want.as_array(), got.as_array()) else { return json!([want, got]) };
    let only = |one: &[Value], other: &[Value]| {
        let other: std::collections::BTreeSet<String> = other.iter().map(Value::to_string).collect();
        let only: Vec<String> = one.iter().map(Value::to_string).filter(|line| !other.contains(line)).collect();
        let first: Vec<String> = only.iter().take(3).map(|line| line.chars().take(200).collect()).collect();
        json!({ "all": one.len(), "only here": only.len(), "first": first })
    };
    json!([only(want, got), only(got, want)])
}
