//! Functions with a planted error that must happen, and their repaired twins (`tests/probe`), as bitcode and as objects; the twins as optimised objects, too.
//!
//! Every error has to be found as a must error, with its kind and line; nothing may be found in a twin. What is missed is listed with its
//! reason in `tests/probe/misses.txt`; a miss that is not there, and a row there that is found, fail the gate.

pub mod libraries;
pub mod mutants;
pub mod paths;
pub mod sweep;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only files whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only this form: bitcode, object or optimised
    #[arg(long)]
    frontend: Option<String>,
    /// Where the fixtures are
    #[arg(long, default_value = "tests/probe")]
    folder: PathBuf,
    /// Where results go, a JSON line for each function
    #[arg(long)]
    results: Option<PathBuf>,
}

/// A function of a fixture.
struct Function {
    name: String,
    /// First and last line.
    lines: (u32, u32),
    /// Planted errors: line and kind. A function without its own has those of the file's helpers.
    errors: Vec<(u32, String)>,
}

/// Objects at -O2. A compiler may remove a planted error there, so that only the twins are asked about.
const OPTIMISED: &str = "optimised";

/// The functions `bad_*` and `good_*` of a fixture.
fn functions(text: &str) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    let mut helpers = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        if let Some(name) = defined(line) {
            all.push(Function { name, lines: (number, number), errors: Vec::new() });
        }
        let current = all.last_mut().filter(|f| f.name.starts_with("bad_") || f.name.starts_with("good_"));
        let planted = line.split_once("//~ ").map(|(_, kind)| (number, kind.trim().to_owned()));
        match current {
            Some(function) => {
                function.lines.1 = number;
                function.errors.extend(planted);
            }
            None => helpers.extend(planted),
        }
    }
    for function in all.iter_mut().filter(|f| f.name.starts_with("bad_") && f.errors.is_empty()) {
        function.errors.clone_from(&helpers);
    }
    all.retain(|f| f.name.starts_with("bad_") || f.name.starts_with("good_"));
    all
}

/// The name of the function whose definition begins on a line.
fn defined(line: &str) -> Option<String> {
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.ends_with('{') && line.contains('(');
    let before = line.split_once('(').filter(|_| begins)?.0;
    before.rsplit([' ', '*']).next().map(str::to_owned)
}

pub fn run(args: &Args) -> Result<()> {
    let misses = fs::read_to_string(args.folder.join("misses.txt")).unwrap_or_default();
    let known: BTreeMap<(String, String), String> = misses
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            Some(((words.next()?.to_owned(), words.next()?.to_owned()), words.next()?.to_owned()))
        })
        .collect();
    let folder = tempfile::tempdir()?;
    let mut files: Vec<PathBuf> = fs::read_dir(&args.folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|e| ["c", "cpp", "rs"].iter().any(|language| e == *language)));
    files.retain(|file| args.only.as_ref().is_none_or(|only| file.to_string_lossy().contains(only.as_str())));
    files.sort();
    ensure!(!files.is_empty(), "no fixture is there");
    let (mut lines, mut failed) = (String::new(), 0);
    for frontend in ["bitcode", "object", OPTIMISED].into_iter().filter(|f| args.frontend.as_deref().is_none_or(|only| only == *f)) {
        let (mut found, mut planted, mut clean, mut twins) = (0, 0, 0, 0);
        for file in &files {
            let mut fixture = functions(&fs::read_to_string(file)?);
            fixture.retain(|function| frontend != OPTIMISED || function.name.starts_with("good_"));
            if fixture.is_empty() {
                continue;
            }
            let results = probe(file, frontend, folder.path())?;
            for function in fixture {
                let Some(result) = results.iter().find(|r| r["function"] == function.name.as_str()) else {
                    println!("{frontend} {}: no result", function.name);
                    failed += 1;
                    continue;
                };
                let musts: Vec<&Value> = result["findings"].as_array().into_iter().flatten().filter(|f| f["grade"] == "must").collect();
                let missed: Vec<&(u32, String)> = function.errors.iter().filter(|error| !musts.iter().any(|f| shows(f, error))).collect();
                let good = function.name.starts_with("good_");
                let fine = if good { musts.is_empty() } else { missed.is_empty() };
                lines += &serde_json::json!({ "frontend": frontend, "function": function.name, "fine": fine, "status": result["status"],
                    "milliseconds": result["milliseconds"] })
                .to_string();
                lines.push('\n');
                let row = known.get(&(frontend.to_owned(), function.name.clone()));
                (twins, planted) = (twins + u32::from(good), planted + u32::from(!good));
                (clean, found) = (clean + u32::from(good && fine), found + u32::from(!good && fine));
                match (fine, row) {
                    (true, None) => {}
                    (true, Some(_)) => {
                        println!("{frontend} {}: is as it should be now; take it out of misses.txt", function.name);
                        failed += 1;
                    }
                    (false, Some(reason)) => println!("{frontend} {}: known miss: {reason}", function.name),
                    (false, None) if good => {
                        println!("{frontend} {}: {} must errors in a twin: {}", function.name, musts.len(), musts[0]["message"]);
                        failed += 1;
                    }
                    (false, None) => {
                        let (status, why) =
                            (&result["status"], [&result["bounded"], &result["unsupported"]].map(Value::to_string).join(" "));
                        println!("{frontend} {} (line {}): {missed:?} not found: {status} {why}", function.name, function.lines.0);
                        failed += 1;
                    }
                }
            }
        }
        let errors = if planted > 0 { format!("{found} of {planted} planted errors found, ") } else { String::new() };
        println!("{frontend}: {errors}{clean} of {twins} twins clean");
    }
    if let Some(results) = &args.results {
        fs::write(results, lines)?;
    }
    ensure!(failed == 0, "{failed} functions are not as they should be");
    Ok(())
}

/// Whether a finding is a planted error: its kind, and its line in some frame.
fn shows(finding: &Value, (line, kind): &(u32, String)) -> bool {
    let frames = finding["stack"].as_array().into_iter().flatten();
    finding["kind"] == kind.as_str() && frames.into_iter().any(|place| place["line"] == *line)
}

/// The results of all functions of a fixture.
fn probe(file: &Path, frontend: &str, folder: &Path) -> Result<Vec<Value>> {
    let target = target(file, frontend, folder)?;
    let mut tool = Command::new(super::wryneck());
    let ran = tool.args(["probe", "--all", "--json", "--quiet", "--no-replay"]).arg(&target).output()?;
    ensure!(ran.status.code() != Some(2), "`wryneck probe {}`: {}", target.display(), String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8_lossy(&ran.stdout);
    text.lines().map(|line| serde_json::from_str(line).context("a result is no JSON")).collect()
}

/// What is probed: C as it is, C++ and Rust as bitcode, all three as objects.
fn target(file: &Path, frontend: &str, folder: &Path) -> Result<PathBuf> {
    let language = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let (emit, ending) = if frontend == "bitcode" { ("llvm-bc", "bc") } else { ("obj", "o") };
    let level = if frontend == OPTIMISED { 2 } else { 0 };
    let out = folder.join(file.file_name().unwrap_or_default()).with_extension(ending);
    let mut compiler = match (language, frontend) {
        ("rs", _) => {
            let mut rustc = Command::new("rustc");
            rustc.args(["--edition", "2024", "--crate-type=lib", "-g", "-Cpanic=abort", "--cap-lints=allow"]);
            rustc.arg(format!("-Copt-level={level}")).arg(format!("--emit={emit}"));
            rustc
        }
        ("c", "bitcode") => return Ok(file.to_owned()),
        (_, frontend) => {
            let mut clang = Command::new(if language == "cpp" { "clang++-22" } else { "clang-22" });
            clang
                .arg(format!("-O{level}"))
                .args(["-g", "-c", "-w", "-fno-stack-protector"])
                .args((frontend == "bitcode").then_some("-emit-llvm"));
            clang
        }
    };
    process::output(compiler.arg("-o").arg(&out).arg(file)).with_context(|| format!("cannot compile `{}`", file.display()))?;
    Ok(out)
}
