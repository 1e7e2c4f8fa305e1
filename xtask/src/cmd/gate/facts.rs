//! Mutations of static facts: one fact that a verdict rests on is left out, and what checks facts must notice. Programs are those of `tests/traps`
//! that violate their rule. A broken fact counts if slicing by it alone says VERIFIED of such a program; then the same run with the checks of
//! paths against facts, and with those and the audit, must not.
//!
//! Broken are facts of the functions that a program's text names, and of the library's. Rows are written program by program, so a gate that was
//! ended goes on where it was. Cost: a few hundred short runs a program, about 20 minutes of two cores.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::bitcode::CLANG;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Facts of each program that are broken, at most
    #[arg(long, default_value_t = 2)]
    each: usize,
    /// Programs of which nothing is known yet, at most
    #[arg(long, default_value_t = usize::MAX)]
    programs: usize,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/facts.jsonl")]
    results: PathBuf,
}

/// Facts that are needed, and how many of a hundred must be noticed.
const LEAST: usize = 50;
const NOTICED: usize = 90;
/// Constraints and stores of a function that are tried.
const MOST: usize = 24;
const TRAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/traps");

pub fn run(args: &Args) -> Result<()> {
    let text = fs::read_to_string(Path::new(TRAPS).join("traps.c"))?;
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("void ")?.split_once("(char c) { // VIOLATED").map(|(name, _)| name.to_owned()))
        .collect();
    let dir = tempfile::tempdir()?;
    let before = fs::read_to_string(&args.results).unwrap_or_default();
    let rows: Vec<Value> = before.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let done: BTreeSet<&str> = rows.iter().filter_map(|row| row["program"].as_str()).collect();
    let left: Vec<&String> = names.iter().filter(|name| !done.contains(name.as_str())).take(args.programs).collect();
    println!("{} programs, {} of them done before", names.len(), done.len());
    let rows = Mutex::new(rows.clone());
    process::parallel(&left, |name| {
        let found = of_program(dir.path(), name, body(&text, name), args.each)?;
        println!("{name}: {} facts broken", found.len());
        let mut rows = rows.lock().expect("no job panics");
        rows.extend(found);
        rows.sort_by_key(|row| row.to_string());
        fs::write(&args.results, rows.iter().map(|row| format!("{row}\n")).collect::<String>())?;
        Ok(())
    })?;
    let rows = rows.into_inner().expect("no job panics");
    let mut kinds: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let (mut by_check, mut by_all) = (0, 0);
    for row in &rows {
        let kind = row["fact"].as_str().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
        let (check, all) = (row["check"] != "VERIFIED", row["all"] != "VERIFIED");
        let counts = kinds.entry(kind).or_default();
        counts[0] += 1;
        counts[1] += usize::from(check);
        counts[2] += usize::from(all);
        by_check += usize::from(check);
        by_all += usize::from(all);
        if !all {
            println!("not noticed: {row}");
        }
    }
    for (kind, [facts, check, all]) in kinds {
        println!("{kind:<8} {facts:>3} broken, {check:>3} noticed by the checks of paths, {all:>3} with the audit");
    }
    println!("{} facts broken, {by_check} noticed by the checks of paths, {by_all} with the audit", rows.len());
    ensure!(rows.len() >= LEAST, "only {} facts were found that verdicts rest on", rows.len());
    ensure!(100 * by_all >= NOTICED * rows.len(), "{} broken facts were not noticed", rows.len() - by_all);
    Ok(())
}

/// The text of a program's function.
fn body<'a>(text: &'a str, name: &str) -> &'a str {
    let rest = text.split_once(&format!("void {name}(char c)")).map_or("", |(_, rest)| rest);
    rest.split_once("\n}\n").map_or(rest, |(body, _)| body)
}

/// The facts that the verdict on a program rests on, broken one by one.
fn of_program(dir: &Path, name: &str, body: &str, each: usize) -> Result<Vec<Value>> {
    let code = dir.join(format!("{name}.bc"));
    let mut clang = Command::new(CLANG);
    clang.args(["-c", "-emit-llvm", "-O0", "-g", "-w", &format!("-DTRAP={name}"), "-o"]).arg(&code).arg(Path::new(TRAPS).join("traps.c"));
    process::output(&mut clang)?;
    let verdict = |fact: Option<&str>, how: &[&str]| verdict(&code, fact, how);
    let alone = ["--off", "fact-checks", "--audit", "off"];
    ensure!(verdict(None, &alone)?.as_deref() == Some("VIOLATED"), "`{name}` is not found to violate its rule");
    let helpers = ["hit", "copy_bytes", "swap_bytes", "sort", "put", "get", "glue", "another", "judge"];
    let calls = |function: &&str| body.contains(&format!("{function}(")) || *function == "swap_bytes" && body.contains("sort(");
    let functions: Vec<&str> = std::iter::once(name).chain(helpers.into_iter().filter(calls)).collect();
    let numbered = |kind: &'static str| functions.iter().flat_map(move |of| (0..MOST).map(move |n| format!("{kind}:{of}:{n}")));
    let library = [
        "memccpy", "wmemcpy", "swab", "vsnprintf", "snprintf", "sprintf", "strtoul", "sscanf", "fwrite", "fread", "calloc", "malloc",
        "write", "read", "strchr", "memchr", "strstr", "strpbrk", "wcsrchr", "strtol", "stpcpy", "mmap", "9", "25",
    ];
    let library: Vec<&str> = library
        .into_iter()
        .filter(|of| body.contains(of) || *of == "9" && body.contains("mmap(") || *of == "25" && body.contains("mremap("))
        .collect();
    let of_library = ["write", "read", "flow"]
        .into_iter()
        .flat_map(|kind| library.iter().flat_map(move |of| (0..4).map(move |n| format!("{kind}:{of}:{n}"))));
    let (mut rows, mut kinds) = (Vec::new(), BTreeSet::new());
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for fact in numbered("pointer").chain(numbered("store")).chain(numbered("callee")).chain(of_library) {
        let kind = fact.split(':').next().unwrap_or_default().to_owned();
        if count.get(&kind).is_some_and(|n| *n >= each) {
            continue;
        }
        if verdict(Some(&fact), &alone)?.as_deref() != Some("VERIFIED") {
            continue;
        }
        *count.entry(kind.clone()).or_default() += 1;
        kinds.insert(kind);
        let check = verdict(Some(&fact), &["--audit", "off"])?;
        let all = verdict(Some(&fact), &[])?;
        rows.push(json!({ "program": name, "fact": fact, "check": check, "all": all }));
    }
    Ok(rows)
}

/// What the tool says of a program with a broken fact; `None`: there is no such fact.
fn verdict(code: &Path, fact: Option<&str>, how: &[&str]) -> Result<Option<String>> {
    let out = tempfile::tempdir()?;
    let mut command = Command::new(crate::cmd::wryneck()?);
    command
        .args(["verify", "--json", "--no-replay", "--emit", "none", "--max-time", "60s", "--rule"])
        .arg(Path::new(TRAPS).join("never.toml"));
    command.args(how).args(fact.iter().flat_map(|fact| ["--break-fact", fact]));
    let done = command.arg("--output").arg(out.path().join("out")).arg(code).args(["--sym-arg", "1"]).output()?;
    if done.status.code() == Some(2) && String::from_utf8_lossy(&done.stderr).contains("there is no fact") {
        return Ok(None);
    }
    let run: Value = serde_json::from_slice(&done.stdout).with_context(|| String::from_utf8_lossy(&done.stderr).into_owned())?;
    Ok(run["rules"][0]["verdict"].as_str().map(str::to_owned))
}
