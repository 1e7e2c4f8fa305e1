//! Planted faults: every fixture of `tests/fail` that has a repaired twin. The tool finds the fault at its line and reproduces it natively,
//! and nothing in the twin. Then a second opinion, which shares no code with the tool's replays: gcc with its sanitizers, or valgrind, on the
//! input of the finding's test. There the fixture dies of the same kind of fault at the same line, and the twin does not.

mod witness;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::witness::{Input, Pair};
use crate::cache::files;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only every N-th fixture
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Only fixtures whose path has one of these words
    fixtures: Vec<String>,
}

/// Where the fixtures are.
const FOLDER: &str = "tests/fail";
/// Time of one exploration.
const EXPLORE: &str = "60s";

/// A fixture as its headers and marks say (`crates/cli/tests/fixtures` has the format).
struct Fixture {
    file: PathBuf,
    args: Vec<String>,
    options: Vec<String>,
    cc: Vec<String>,
    faults: Vec<Planted>,
}

struct Planted {
    line: u64,
    kind: String,
    part: String,
}

/// Fixtures that gcc cannot judge, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("memory/names_of_musl.c", "gcc links glibc, which lacks the function"),
    ("uninitialised/global.c", "memory that was never written has other values natively, and no sanitizer of gcc's watches it"),
];

/// A row of the table.
#[derive(Clone, Copy, Default)]
struct Counts {
    fixtures: u32,
    planted: u32,
    found: u32,
    reproduced: u32,
    confirmed: u32,
    twins: u32,
}

pub fn run(args: &Args) -> Result<()> {
    let mut all: Vec<Fixture> =
        files(Path::new(FOLDER))?.iter().filter_map(|file| Fixture::read(file).transpose()).collect::<Result<_>>()?;
    all.retain(|f| args.fixtures.is_empty() || args.fixtures.iter().any(|word| f.file.to_string_lossy().contains(word.as_str())));
    let before = all.len();
    all.retain(Fixture::has_witness);
    println!(
        "{} fixtures are left out: gcc checks neither {}, nor gives results of calls, nor has clients, nor goes on behind a fault",
        before - all.len(),
        UNCHECKED.join(" nor ")
    );
    OTHERWISE.iter().for_each(|(name, why)| println!("{name} is left out: {why}"));
    let all: Vec<Fixture> = all.into_iter().step_by(args.every.max(1)).collect();
    ensure!(!all.is_empty(), "no such fixtures with a twin in {FOLDER}");
    let dir = tempfile::tempdir()?;
    witness::libraries(dir.path())?;

    let (table, wrong) = (Mutex::new(BTreeMap::<String, Counts>::new()), Mutex::new(Vec::new()));
    process::parallel(&all, |fixture| {
        let scratch = tempfile::tempdir_in(dir.path())?;
        let mut complain = |why: String| wrong.lock().expect("no holder panics").push(format!("{}: {why}", fixture.file.display()));
        for (kind, counts) in
            fixture.check(scratch.path(), dir.path(), &mut complain).with_context(|| fixture.file.display().to_string())?
        {
            table.lock().expect("no holder panics").entry(kind).or_default().add(counts);
        }
        Ok(())
    })?;
    let (table, mut wrong) = (table.into_inner().expect("no holder panics"), wrong.into_inner().expect("no holder panics"));
    print(&table, all.len());
    wrong.sort();
    wrong.iter().for_each(|line| println!("{line}"));
    ensure!(wrong.is_empty(), "{} faults or twins are not as planted", wrong.len());
    Ok(())
}

/// Kinds that gcc's sanitizers do not look for.
const UNCHECKED: [&str; 2] = ["lossy-conversion", "unsigned-overflow"];

impl Fixture {
    /// Whether a native build by gcc can show the fault.
    fn has_witness(&self) -> bool {
        let unchecked = self.faults.iter().any(|fault| UNCHECKED.contains(&fault.kind.as_str()));
        let own_way = |word: &String| ["--sym-calls", "--sym-socket", "--keep-going"].iter().any(|option| word.starts_with(option));
        let of_gcc = OTHERWISE.iter().any(|(name, _)| self.file.ends_with(name));
        !unchecked && !of_gcc && !self.options.iter().chain(&self.args).any(own_way)
    }

    /// `None` if the file is no C program with a fault and a twin.
    fn read(file: &Path) -> Result<Option<Fixture>> {
        if file.extension() != Some(OsStr::new("c")) {
            return Ok(None);
        }
        let text = fs::read_to_string(file)?;
        let header = |name: &str| -> Vec<String> {
            let values = text.lines().filter_map(|l| l.strip_prefix("//@ ")?.strip_prefix(name)?.strip_prefix(':'));
            values.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        let planted = |line: u64, mark: &str| {
            let fault = mark.strip_prefix(" FAULT ")?;
            let (kind, part) = fault.split_once(':').unwrap_or((fault, ""));
            Some(Planted { line, kind: kind.trim().to_owned(), part: part.trim().to_owned() })
        };
        let marks = (1..).zip(text.lines()).flat_map(|(line, text)| text.split("//~").skip(1).map(move |mark| (line, mark)));
        let faults: Vec<Planted> = marks.filter_map(|(line, mark)| planted(line, mark)).collect();
        let file = file.canonicalize()?;
        let fixture = Fixture { file, args: header("args"), options: header("options"), cc: header("cc"), faults };
        // Rules add findings of their own.
        let faults_alone = !fixture.faults.is_empty() && !text.contains("//~ VIOLATION");
        Ok((text.contains("FIXED") && faults_alone).then_some(fixture))
    }

    /// Explores the fixture and its twin, then asks a witness; what came out for each kind.
    fn check(&self, scratch: &Path, libraries: &Path, complain: &mut dyn FnMut(String)) -> Result<BTreeMap<String, Counts>> {
        let mut table = BTreeMap::<String, Counts>::new();
        let (run, out) = self.explore(scratch, "planted", &[])?;
        let (twin, _) = self.explore(scratch, "twin", &["-DFIXED"])?;
        let pair = Pair::build(&self.file, &self.cc, witness::sign(&self.faults[0].kind)?.witness, libraries, scratch)?;
        let mut findings: Vec<&Value> = run["findings"].as_array().into_iter().flatten().collect();
        for planted in &self.faults {
            let counts = table.entry(planted.kind.clone()).or_insert(Counts { fixtures: 1, ..Counts::default() });
            counts.planted += 1;
            let Some(at) = findings.iter().position(|f| self.is(planted, f)) else {
                complain(format!("line {}: `{}` is not found", planted.line, planted.kind));
                continue;
            };
            let finding = findings.swap_remove(at);
            counts.found += 1;
            match finding["native"]["verdict"].as_str() {
                Some("reproduced") => counts.reproduced += 1,
                _ => complain(format!("line {}: natively: {}", planted.line, finding["native"])),
            }
            match self.opinion(planted, finding, &out, &pair) {
                Ok(()) => counts.confirmed += 1,
                Err(why) => complain(format!("line {}: {why:#}", planted.line)),
            }
        }
        findings.iter().for_each(|f| complain(format!("nobody planted: {}", f["message"])));
        let first = table.get_mut(&self.faults[0].kind).expect("the first fault has a row");
        first.twins = twin["findings"].as_array().map_or(0, |all| all.len() as u32);
        if twin["exit_code"] != 0 {
            complain(format!("the twin: {} findings, {}", first.twins, twin["status"]));
        }
        Ok(table)
    }

    /// Runs the tool; what it says, and its folder.
    fn explore(&self, scratch: &Path, name: &str, flags: &[&str]) -> Result<(Value, PathBuf)> {
        let out = scratch.join(name);
        let mut command = Command::new(super::wryneck());
        command.args(["run", "--json", "--max-time", EXPLORE, "--output"]).arg(&out).args(&self.options);
        command.args(self.cc.iter().map(String::as_str).chain(flags.iter().copied()).map(|flag| format!("--cc-flag={flag}")));
        let done =
            command.arg(&self.file).args(&self.args).output().context("cannot start wryneck: build it with `cargo build --release`")?;
        let told = serde_json::from_slice(&done.stdout).with_context(|| String::from_utf8_lossy(&done.stderr).into_owned())?;
        Ok((told, out))
    }

    /// Whether a finding is what was planted.
    fn is(&self, planted: &Planted, finding: &Value) -> bool {
        let inside = |frame: &&Value| frame["file"].as_str().is_some_and(|file| Path::new(file) == self.file);
        let frame = finding["stack"].as_array().into_iter().flatten().find(inside);
        frame.is_some_and(|frame| frame["line"] == planted.line)
            && finding["kind"]["id"] == *planted.kind
            && finding["message"].as_str().is_some_and(|m| m.contains(&planted.part))
    }

    /// The second opinion on a finding; the error says what is not as it should be.
    fn opinion(&self, planted: &Planted, finding: &Value, out: &Path, pair: &Pair) -> Result<()> {
        let test = out.join(finding["test"].as_str().context("the finding has no test")?);
        pair.confirm(witness::sign(&planted.kind)?, planted.line, &Input::of(&self.args, &finding["inputs"])?, &test)
    }
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.fixtures += other.fixtures;
        self.planted += other.planted;
        self.found += other.found;
        self.reproduced += other.reproduced;
        self.confirmed += other.confirmed;
        self.twins += other.twins;
    }
}

fn print(table: &BTreeMap<String, Counts>, fixtures: usize) {
    println!("| kind | fixtures | planted | found | reproduced | confirmed | findings on twins |");
    println!("|---|---|---|---|---|---|---|");
    let row = |kind: &str, c: &Counts| {
        println!("| {kind} | {} | {} | {} | {} | {} | {} |", c.fixtures, c.planted, c.found, c.reproduced, c.confirmed, c.twins);
    };
    let mut sum = Counts::default();
    for (kind, counts) in table {
        row(kind, counts);
        sum.add(*counts);
    }
    row("all", &Counts { fixtures: fixtures as u32, ..sum });
}
