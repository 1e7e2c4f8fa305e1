//! Runs every C program below `tests/pass`, `tests/fail`, `tests/limits` and `tests/rules` symbolically and compares with what it says of itself; then replays its
//! tests natively, where exit code and output must be the same and faults must show.
//!
//! A fixture states, the harness acts:
//! ```c
//! //@ args: --sym-arg 2        words after the target
//! //@ options: --search dfs    options of `wryneck run`
//! //@ cc: -O1                  flags for clang
//! //@ paths: 3                 how many paths end (assumed ones left out)
//! //@ exit: 1                  exit code of the run; 0 in `pass`, 1 in `fail` unless given
//! //@ replay: no               the tests are not replayed, and why
//! p[4] = 0;                    //~ FAULT out-of-bounds-write: offset 4
//! ```
//! A rule's violation is announced by `//~ VIOLATION RULE: message`; it need not show natively.
//! A fixture whose text has `FIXED` has a twin, itself compiled with `-DFIXED`, which must be clean.
//! A file of `tests/rules` begins with `//@ rule: ID` and holds many programs: each function whose line begins with `int NAME(` is one, on symbolic
//! arguments. `wryneck verify` must say VIOLATED of those that announce a violation, at its line, and VERIFIED of the others, which so must have
//! events. Both are checked pruned and unpruned.
//! Every finding must show natively too, and be announced by `//~` on its line with its kind and a part of its message, and every
//! announcement found. A file
//! `NAME.txt` beside `NAME.c` is the whole summary, renewed by `cargo test --test fixtures -- --bless`. Other words select fixtures.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use serde_json::Value;

/// Programs of each kind that every rule has.
const MANY: usize = 8;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// What a fixture says of itself.
#[derive(Default)]
struct Fixture {
    file: PathBuf,
    args: Vec<String>,
    options: Vec<String>,
    paths: Option<u64>,
    exit: i32,
    replay: bool,
    /// Its functions are programs, which this rule is about.
    rule: Option<String>,
    /// Compiled with `-DFIXED` it is clean.
    twin: bool,
    /// Line, kind, part of the message.
    faults: Vec<(u64, String, String)>,
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    // A test runner that asks for a list gets one test: the fixtures.
    if words.iter().any(|w| w == "--list") {
        if !words.iter().any(|w| w == "--ignored") {
            println!("fixtures: test");
        }
        return ExitCode::SUCCESS;
    }
    let bless = words.iter().any(|w| w == "--bless");
    let wanted: Vec<&String> = words.iter().filter(|w| !w.starts_with('-') && *w != "fixtures").collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").canonicalize().expect("the repository has the folder `tests`");
    let mut files = Vec::new();
    for folder in ["pass", "fail", "limits", "rules"] {
        c_files(&root.join(folder), &mut files);
    }
    files.retain(|f| wanted.is_empty() || wanted.iter().any(|w| f.to_string_lossy().contains(*w)));
    files.sort();
    let failures = check_all(&files, bless);
    for (file, why) in &failures {
        println!("FAILED {}\n  {}\n", file.strip_prefix(&root).unwrap_or(file).display(), why.trim_end().replace('\n', "\n  "));
    }
    let (failed, passed) = (failures.len(), files.len() - failures.len());
    println!("test result: {}. {passed} passed; {failed} failed; 0 ignored", if failed == 0 { "ok" } else { "FAILED" });
    println!("{passed} passed, {failed} failed");
    if failed == 0 && (passed > 0 || !wanted.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Checks fixtures on every core; what failed, sorted.
fn check_all(files: &[PathBuf], bless: bool) -> Vec<(PathBuf, String)> {
    let (failures, next) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(file, bless) {
                        failures.lock().expect("no thread panics").push((file.clone(), why));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics");
    failures.sort();
    failures
}

fn c_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            c_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "c") {
            files.push(path);
        }
    }
}

/// Reads a fixture's own words.
fn read(file: &Path) -> Result<Fixture, String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let fails = file.components().any(|c| c.as_os_str() == "fail");
    let mut f = Fixture { file: file.to_owned(), exit: i32::from(fails), replay: true, ..Fixture::default() };
    f.twin = text.contains("FIXED");
    let words = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(header) = line.strip_prefix("//@ ") {
            let (name, value) = header.split_once(':').ok_or(format!("line {number}: a header is `//@ NAME: VALUE`"))?;
            let value = value.trim();
            match name {
                "args" => f.args = words(value),
                "options" => f.options = words(value),
                "cc" => f.options.extend(words(value).into_iter().map(|flag| format!("--cc-flag={flag}"))),
                "paths" => f.paths = Some(value.parse().map_err(|_| format!("line {number}: `{value}` is no number"))?),
                "exit" => f.exit = value.parse().map_err(|_| format!("line {number}: `{value}` is no number"))?,
                "replay" => f.replay = false,
                "rule" => f.rule = Some(value.to_owned()),
                _ => return Err(format!("line {number}: the header `{name}` is unknown")),
            }
        }
        for announced in line.split("//~ ").skip(1) {
            let (what, words) = announced.split_once(' ').unwrap_or((announced, ""));
            let (kind, part) = words.split_once(':').unwrap_or((words, ""));
            let kind = match what {
                "FAULT" => kind.trim().to_owned(),
                "VIOLATION" => format!("rule:{}", kind.trim()),
                _ => return Err(format!("line {number}: `{what}` is neither FAULT nor VIOLATION")),
            };
            f.faults.push((number, kind, part.trim().to_owned()));
        }
    }
    Ok(f)
}

/// Runs a fixture; the error says in words what is not as announced.
fn check(file: &Path, bless: bool) -> Result<(), String> {
    let f = read(file)?;
    let scratch = Scratch::of(file)?;
    if let Some(rule) = &f.rule {
        return check_programs(&f, rule, &scratch.0);
    }
    let out = scratch.0.join("out");
    let snapshot = file.with_extension("txt");
    let mut command = Command::new(WRYNECK);
    command.current_dir(&scratch.0).args(["run", "--emit", "all", "--max-time", "60s", "--json"]);
    // A fault that ends its path is judged below with all tests. The run's own replays are in the summaries; and what is only found by an
    // option may go on to a good end.
    if f.options.is_empty() && !snapshot.exists() {
        command.arg("--no-replay");
    }
    command.arg("--output").arg(&out).args(&f.options).arg(&f.file).args(&f.args);
    let ended = command.output().map_err(|e| e.to_string())?;
    let run: Value =
        serde_json::from_slice(&ended.stdout).map_err(|_| format!("the run says: {}", String::from_utf8_lossy(&ended.stderr)))?;
    let mut wrong = compare(&f, &run, ended.status.code());
    if f.replay {
        wrong.extend(replay(&out)?);
        let findings = run["findings"].as_array().into_iter().flatten();
        let of_rule = |f: &Value| f["kind"]["id"].as_str().is_some_and(|id| id.starts_with("rule:"));
        let seen = |f: &&Value| of_rule(f) || f["native"]["verdict"] == "reproduced" || f["native"].is_null() && ends_in_fault(&out, f);
        wrong.extend(findings.filter(|f| !seen(f)).map(|f| format!("{}: natively: {}", f["message"], f["native"])));
    }
    if f.twin {
        wrong.extend(check_twin(&f, &scratch.0)?);
    }
    if snapshot.exists() {
        wrong.extend(compare_summary(&f, &out, &snapshot, bless)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Verifies each program of a file; the error says which are not as announced.
fn check_programs(f: &Fixture, rule: &str, scratch: &Path) -> Result<(), String> {
    let text = fs::read_to_string(&f.file).map_err(|e| e.to_string())?;
    let begins = |(number, line): (u64, &str)| Some((number, line.strip_prefix("int ")?.split_once('(')?.0.to_owned()));
    let programs: Vec<(u64, String)> = (1..).zip(text.lines()).filter_map(begins).collect();
    let (mut wrong, mut violated) = (Vec::new(), 0);
    for (i, (first, name)) in programs.iter().enumerate() {
        let end = programs.get(i + 1).map_or(u64::MAX, |(next, _)| *next);
        let of_it = |line: u64| (*first..end).contains(&line);
        let faults: Vec<_> = f.faults.iter().filter(|(line, ..)| of_it(*line)).cloned().collect();
        let verdict = if faults.is_empty() { "VERIFIED" } else { "VIOLATED" };
        violated += usize::from(!faults.is_empty());
        let exit = i32::from(!faults.is_empty());
        let announced = Fixture { file: f.file.clone(), faults, exit, ..Fixture::default() };
        for prune in ["wanted", "off"] {
            let mut command = Command::new(WRYNECK);
            command
                .current_dir(scratch)
                .args(["verify", "--rule", rule, "--prune", prune, "--entry", name, "--json", "--no-replay", "--emit", "none"]);
            let output = command.args(["--max-time", "60s", "--output", "out"]).args(&f.options).arg(&f.file).args(&f.args).output();
            let ended = output.map_err(|e| e.to_string())?;
            let run: Value = serde_json::from_slice(&ended.stdout)
                .map_err(|_| format!("{name}: the run says: {}", String::from_utf8_lossy(&ended.stderr)))?;
            let said = &run["rules"][0];
            if said["verdict"] != verdict {
                wrong.push(format!("{name}, pruning {prune}: {} instead of {verdict}: {}", said["verdict"], said["why"]));
            }
            wrong.extend(compare(&announced, &run, ended.status.code()).into_iter().map(|w| format!("{name}, pruning {prune}: {w}")));
            fs::remove_dir_all(scratch.join("out")).map_err(|e| e.to_string())?;
        }
    }
    if violated < MANY || programs.len() - violated < MANY {
        wrong.push(format!("{violated} violating and {} clean programs; at least {MANY} of each are wanted", programs.len() - violated));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Whether a finding has a test, whose path ends with it.
fn ends_in_fault(out: &Path, finding: &Value) -> bool {
    let about = finding["test"].as_str().and_then(|test| fs::read(out.join(test).with_extension("json")).ok());
    about.and_then(|text| serde_json::from_slice::<Value>(&text).ok()).is_some_and(|about| about["class"] == "fault")
}

/// The folder that a fixture runs in: the same in every run of the tests, since the cache of what clang makes goes by it.
struct Scratch(PathBuf);

impl Scratch {
    fn of(fixture: &Path) -> Result<Scratch, String> {
        let name: String = fixture.components().rev().take(3).map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("-");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the repaired fixture: nothing may be found.
fn check_twin(f: &Fixture, scratch: &Path) -> Result<Vec<String>, String> {
    let out = scratch.join("twin");
    let mut command = Command::new(WRYNECK);
    command.current_dir(scratch).args(["run", "--max-time", "60s", "--json", "--cc-flag", "-DFIXED", "--output"]);
    let ended = command.arg(&out).args(&f.options).arg(&f.file).args(&f.args).output().map_err(|e| e.to_string())?;
    let said = if ended.stdout.is_empty() { ended.stderr } else { ended.stdout };
    let wrong = (ended.status.code() != Some(0)).then(|| format!("the twin: {}: {}", ended.status, String::from_utf8_lossy(&said)));
    Ok(wrong.into_iter().collect())
}

fn compare(f: &Fixture, run: &Value, exit: Option<i32>) -> Vec<String> {
    let mut wrong = Vec::new();
    if exit != Some(f.exit) {
        wrong.push(format!("exit code {exit:?} instead of {}; ends: {}, ledger: {}", f.exit, run["ends"], run["ledger"]));
    }
    let none = Vec::new();
    let ends = run["ends"].as_array().unwrap_or(&none);
    let paths: u64 = ends.iter().filter(|e| e["class"] != "assumed").filter_map(|e| e["count"].as_u64()).sum();
    if f.paths.is_some_and(|n| n != paths) {
        wrong.push(format!("{paths} paths instead of {}; ends: {}", f.paths.unwrap_or(0), run["ends"]));
    }
    let mut announced = f.faults.clone();
    for finding in run["findings"].as_array().unwrap_or(&none) {
        let place = in_file(finding, &f.file);
        let (kind, message) = (finding["kind"]["id"].as_str().unwrap_or(""), finding["message"].as_str().unwrap_or(""));
        match announced.iter().position(|(line, k, part)| *line == place && k == kind && message.contains(part.as_str())) {
            Some(i) => drop(announced.remove(i)),
            None => wrong.push(format!("not announced: line {place}: {kind}: {message}")),
        }
    }
    wrong.extend(announced.iter().map(|(line, kind, part)| format!("not found: line {line}: {kind}: {part}")));
    wrong
}

/// The line of the innermost frame in the fixture itself; 0 if there is none.
fn in_file(finding: &Value, file: &Path) -> u64 {
    let name = file.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let frames = finding["stack"].as_array();
    let frame = frames.into_iter().flatten().find(|p| p["file"].as_str().is_some_and(|f| f.ends_with(name)));
    frame.and_then(|p| p["line"].as_u64()).unwrap_or(0)
}

fn replay(out: &Path) -> Result<Vec<String>, String> {
    let ended = Command::new(WRYNECK).args(["replay", "--json"]).arg(out).output().map_err(|e| e.to_string())?;
    let verdicts: Value =
        serde_json::from_slice(&ended.stdout).map_err(|_| format!("the replay says: {}", String::from_utf8_lossy(&ended.stderr)))?;
    let tests = verdicts["tests"].as_array().cloned().unwrap_or_default();
    let bad = tests.iter().filter(|t| t["verdict"] != "same end");
    Ok(bad.map(|t| format!("replay: {}: {}", t["verdict"].as_str().unwrap_or(""), t["why"].as_str().unwrap_or(""))).collect())
}

fn compare_summary(f: &Fixture, out: &Path, snapshot: &Path, bless: bool) -> Result<Option<String>, String> {
    let info = fs::read_to_string(out.join("info")).map_err(|e| e.to_string())?;
    let folder = f.file.parent().map(|p| format!("{}/", p.display())).unwrap_or_default();
    // The command and the counters of work are not facts of the source.
    let text: String = info.lines().skip(2).filter(|l| !l.starts_with("work:")).map(|l| format!("{l}\n")).collect();
    let text = text.replace(&out.display().to_string(), "OUT").replace(&folder, "");
    if bless {
        return fs::write(snapshot, text).map(|()| None).map_err(|e| e.to_string());
    }
    let expected = fs::read_to_string(snapshot).map_err(|e| e.to_string())?;
    Ok((text != expected).then(|| format!("the summary is not that of `{}`:\n{text}", snapshot.display())))
}
