//! Programs explored for a while each, and their tests replayed: what the gates over many programs share. Resumable: a program
//! that this very tool has a row of in the results file is not run again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::process;

/// One program on one input.
pub struct Job {
    /// As in the results.
    pub name: String,
    pub target: PathBuf,
    /// Options of `run`.
    pub options: Vec<String>,
    /// The words after the target.
    pub input: Vec<String>,
}

/// Which programs of Debian packages, as `cargo xtask corpus PACKAGE` builds them.
#[derive(clap::Args)]
pub struct Packages {
    /// Seconds for each program
    #[arg(long, default_value_t = 60)]
    pub seconds: u32,
    /// Only programs of these packages
    #[arg(long)]
    package: Vec<String>,
}

impl Packages {
    pub fn has(&self, package: &str) -> bool {
        self.package.is_empty() || self.package.iter().any(|asked| asked == package)
    }
}

/// A program of a package on these words; `{}` in them is the package's folder.
pub fn of_package(cache: &Cache, package: &str, program: &str, input: &str) -> Result<Job> {
    let folder = cache.path(&format!("{package}/O2"));
    let target = folder.join(program);
    ensure!(target.is_file(), "`{}` is missing; build it with `cargo xtask corpus {package}`", target.display());
    Ok(Job {
        name: format!("{package}: {program} {input}"),
        target,
        options: Vec::new(),
        input: input.split_whitespace().map(|word| word.replace("{}", &folder.display().to_string())).collect(),
    })
}

/// What is done with a run folder, and what it showed.
pub type Replay<'a> = &'a dyn Fn(&Path) -> Result<Value>;

/// Runs those jobs that `results` has not for this many seconds and this version of the tool, lets `replay` have their run folders, and prints a line for each; the
/// rows of all of them, sorted by name.
pub fn all(jobs: &[Job], seconds: u32, replay: Option<Replay<'_>>, results: &Path) -> Result<Vec<Value>> {
    let tool = super::bounds::version()?;
    let mut kept = Kept::open(results)?;
    for job in jobs {
        kept.row(&job.name, seconds, &tool, || {
            let row = measure(job, seconds, replay)?;
            print(&row);
            Ok(row)
        })?;
    }
    let asked = |row: &Value| row["limit"] == seconds && jobs.iter().any(|job| row["program"] == job.name.as_str());
    Ok(kept.rows.into_values().filter(asked).collect())
}

/// A results file: a JSON object a line, one for each program and limit.
pub struct Kept {
    rows: BTreeMap<String, Value>,
    file: PathBuf,
}

impl Kept {
    pub fn open(file: &Path) -> Result<Kept> {
        let known = fs::read_to_string(file).unwrap_or_default();
        let mut rows: BTreeMap<String, Value> = BTreeMap::new();
        for line in known.lines() {
            let row: Value = serde_json::from_str(line).with_context(|| format!("{}: not our results", file.display()))?;
            rows.insert(Kept::key(&row["program"], &row["limit"]), row);
        }
        if let Some(dir) = file.parent() {
            fs::create_dir_all(dir)?;
        }
        Ok(Kept { rows, file: file.to_owned() })
    }

    fn key(program: &Value, limit: &Value) -> String {
        format!("{program} {limit}")
    }

    /// The row of this very tool; measured and kept, if the file has none.
    pub fn row(&mut self, program: &str, limit: u32, tool: &str, measure: impl FnOnce() -> Result<Value>) -> Result<Value> {
        let key = Kept::key(&program.into(), &limit.into());
        if let Some(row) = self.rows.get(&key).filter(|row| row["tool"] == tool) {
            return Ok(row.clone());
        }
        let mut row = measure()?;
        row["program"] = program.into();
        row["limit"] = limit.into();
        row["tool"] = tool.into();
        self.rows.insert(key, row.clone());
        self.store()?;
        Ok(row)
    }

    /// Replaces the results at once, so that a run that is ended leaves the old ones or the new ones.
    fn store(&self) -> Result<()> {
        let text: String = self.rows.values().map(|row| format!("{row}\n")).collect();
        let new = self.file.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.file).with_context(|| format!("cannot write `{}`", self.file.display()))
    }
}

fn measure(job: &Job, seconds: u32, replay: Option<Replay<'_>>) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let wryneck = crate::cmd::wryneck()?;
    let (start, before) = (Instant::now(), process::of_children()?);
    // Its working directory is empty: a program may read all of it.
    let empty = dir.path().join("empty");
    fs::create_dir(&empty)?;
    let done = Command::new(&wryneck)
        .current_dir(empty)
        .args(["run", "--json", "--max-time", &format!("{seconds}s"), "--output"])
        .arg(&out)
        .args(&job.options)
        .arg(&job.target)
        .args(&job.input)
        .output()
        .with_context(|| format!("cannot start `{}`", wryneck.display()))?;
    let (wall, work) = (start.elapsed().as_secs_f64(), process::of_children()? - before);
    let run: Value =
        serde_json::from_slice(&done.stdout).with_context(|| format!("{}: {}", job.name, String::from_utf8_lossy(&done.stderr)))?;
    let count = |class: &str| -> u64 {
        let ends = run["ends"].as_array().into_iter().flatten();
        ends.filter(|e| e["class"] == class).filter_map(|e| e["count"].as_u64()).sum()
    };
    let gap = |e: &&Value| e["class"] == "unsupported" || e["class"] == "internal";
    let gaps: Vec<&Value> = run["ends"].as_array().into_iter().flatten().filter(gap).collect();
    let tests = fs::read_dir(&out)?.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "ktest")).count();
    let replay = replay.map_or(Ok(Value::Null), |replay| replay(&out))?;
    Ok(json!({
        "program": job.name, "limit": seconds, "seconds": run["seconds"], "status": run["status"]["kind"],
        "paths": run["totals"]["paths"], "exit": count("exit"), "fault": count("fault"), "unsupported": count("unsupported"),
        "limits": count("limit"), "internal": count("internal"), "assumed": count("assumed"),
        "lines": run["lines"]["all"], "covered": run["lines"]["covered"], "memory": run["totals"]["memory"], "solver": run["totals"]["solver_seconds"],
        "tests": tests, "replay": replay, "gaps": gaps, "ledger": run["ledger"], "wall": wall, "work": work, "findings": findings(&run),
    }))
}

/// Kind, place, message and what the native run showed, of each finding.
fn findings(run: &Value) -> Vec<Value> {
    let place = |finding: &Value| format!("{}:{}", finding["stack"][0]["file"].as_str().unwrap_or(""), finding["stack"][0]["line"]);
    let of = |finding: &Value| {
        let (message, native) = (&finding["message"], &finding["native"]);
        json!({ "kind": finding["kind"]["id"], "place": place(finding), "message": message, "verdict": native["verdict"], "why": native["why"] })
    };
    run["findings"].as_array().into_iter().flatten().map(of).collect()
}

/// Replays every test of a run folder.
pub fn replay(out: &Path) -> Result<Value> {
    let done = Command::new(super::wryneck()).args(["replay", "--json"]).arg(out).output()?;
    let told: Value = serde_json::from_slice(&done.stdout).unwrap_or(Value::Null);
    let why = || told["tests"].as_array().into_iter().flatten().filter_map(|test| test["why"].as_str());
    let silent = why().filter(|why| SILENT.iter().any(|reason| why.contains(reason))).count();
    let assumed = why().filter(|why| why.contains(ASSUMED)).count();
    let count = |name: &str| told[name].clone();
    let differs = told["tests"].as_array().into_iter().flatten().filter(|test| test["verdict"] == "different end");
    let differs: Vec<&str> = differs.filter_map(|test| test["why"].as_str()).filter(|why| !why.contains(ASSUMED)).collect();
    Ok(json!({
        "exit": done.status.code(), "verdicts": told["verdicts"], "same": count("same"), "different": count("different"), "cannot": count("cannot"),
        "silent": silent, "assumed": assumed, "differs": differs,
    }))
}

/// Tests of a row that neither ended as natively nor say why they could not.
pub fn unexplained(row: &Value) -> u64 {
    let count = |name: &str| row["replay"][name].as_u64().unwrap_or(0);
    row["tests"].as_u64().unwrap_or(0).saturating_sub(count("same") + count("silent") + count("assumed"))
}

/// What replay says of a test on whose path the ledger has something that the machine does otherwise.
pub(super) const ASSUMED: &str = "something on the path was skipped or assumed";

/// Why a test has no end that a native run could show: the time was over, or its finding shows under sanitizers alone.
const SILENT: [&str; 2] = ["the path has no end of its own", "shows only under a sanitizer"];

fn print(r: &Value) {
    let n = |name: &str| r[name].as_u64().unwrap_or(0);
    println!(
        "{:<16} {:>7.1} s {:<9} {:>8} paths: {:>7} exit {:>5} fault {:>4} unsupported {:>4} limit {:>2} internal; lines {:>4}/{:<5} {:>5} tests, replay {}",
        r["program"].as_str().unwrap_or(""),
        r["seconds"].as_f64().unwrap_or(0.0),
        r["status"].as_str().unwrap_or(""),
        n("paths"),
        n("exit"),
        n("fault"),
        n("unsupported"),
        n("limits"),
        n("internal"),
        n("covered"),
        n("lines"),
        n("tests"),
        r["replay"]["exit"],
    );
}
