//! A run folder read: facts for a replay, or all that it tells. Also of a run that goes on or was killed, as far as it was committed.
//!
//! Nothing in it is trusted: a folder that is empty, damaged or of another version is an error that says so, never a wrong report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rusqlite::Row;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wryneck_report::{
    Class, EndCount, FileCoverage, Finding, FunctionCoverage, InputValue, KTest, Kind, LedgerRow, Lines, Native, Object, Report, Run,
    Sources, Status, Test, Totals, Tree,
};

use crate::folder::database::Database;
use crate::folder::earlier::number_of;
use crate::folder::tree::Paths;
use crate::problem::problem;
use crate::{beneath, data, seal};

/// Most bytes of host files that a replay puts back.
const MOST_FILES: i64 = 1 << 30;
/// Most bytes of a test's file whose inputs a report has, and of all of them.
const ONE_TEST: u64 = 1 << 20;
const ALL_TESTS: u64 = 64 << 20;
/// Most bytes of all sources of a report.
const ALL_SOURCES: u64 = 256 << 20;
pub(super) const AGAIN: &str = "run the program again; the command is in the folder's `info` if the run had ended";

/// Whose lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Application,
    /// The C library's too.
    All,
}

/// A run folder that is read.
struct Reader {
    db: Database,
}

/// Whether a folder is a run folder that this version reads.
pub fn check(folder: &Path) -> Result<()> {
    Reader::open(folder).map(|_| ())
}

/// The facts of a run folder's table `run`.
pub struct Facts {
    all: BTreeMap<String, String>,
    /// Of which folder.
    folder: PathBuf,
}

impl Facts {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(String::as_str)
    }

    /// One that every run has.
    pub fn need(&self, name: &str) -> Result<&str> {
        let lacks = || problem(format!("`{}` lacks the fact `{name}`", self.folder.join("run.db").display()), AGAIN);
        self.get(name).ok_or_else(lacks)
    }

    /// One that is a list.
    pub fn words(&self, name: &str) -> Result<Vec<String>> {
        let folder = self.folder.display();
        serde_json::from_str(self.need(name)?).with_context(|| format!("the fact `{name}` of `{folder}` is not a list of words"))
    }

    /// Whether this user's tool wrote those that say what is compiled and run.
    pub fn are_sealed(&self) -> bool {
        seal::fits(&self.all)
    }
}

/// Host files below a folder: path from there, content.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// The facts, and the host files that the run read below its working directory.
pub fn facts_and_files(folder: &Path) -> Result<(Facts, Files)> {
    let reader = Reader::open(folder)?;
    let facts = Facts { all: reader.facts()?, folder: folder.to_owned() };
    let directory = Path::new(facts.need("directory")?);
    let size = reader.db.number("SELECT cast(total(length(answer)) AS INTEGER) FROM host WHERE question = 'file' AND error IS NULL")?;
    if size > MOST_FILES {
        return Err(problem(format!("the run read {size} bytes of host files, a replay puts back at most {MOST_FILES}"), AGAIN));
    }
    let all: Vec<(Vec<u8>, Vec<u8>)> =
        reader.db.rows("SELECT path, answer FROM host WHERE question = 'file' AND error IS NULL", |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut files = Vec::new();
    for (path, bytes) in all {
        let path = PathBuf::from(OsString::from_vec(path));
        let Ok(below) = path.strip_prefix(directory) else { continue };
        // The program may have named a file of elsewhere from there.
        files.extend(beneath::inside(below).map(|below| (below, bytes)));
    }
    Ok((facts, files))
}

/// The tests of findings that no native run can judge, and why.
pub fn inconclusive(folder: &Path) -> Result<BTreeMap<String, String>> {
    let sql = "SELECT test, native_why FROM finding WHERE native = 'inconclusive' AND test IS NOT NULL AND native_why IS NOT NULL";
    let rows = Reader::open(folder)?.rows(sql, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.into_iter().collect())
}

/// All that a run folder tells; with `details` also the tree of its paths and the inputs of its tests.
pub fn report(folder: &Path, code: Code, details: bool) -> Result<Report> {
    let reader = Reader::open(folder)?;
    let facts = reader.facts()?;
    let fact = |name: &str| facts.get(name).cloned().unwrap_or_default();
    let coverage = reader.coverage(code)?;
    let run = reader.run(folder, &facts, &coverage)?;
    let mut report = Report {
        run,
        version: fact("version"),
        directory: fact("directory"),
        coverage,
        tests: reader.tests()?,
        tree: if details { reader.tree()? } else { Tree::default() },
        sources: Sources::default(),
    };
    report.sources = sources(&report);
    if details {
        inputs(folder, &mut report.tests);
    }
    Ok(report)
}

impl Reader {
    fn open(folder: &Path) -> Result<Reader> {
        let reader = Reader { db: Database::open(folder)? };
        Ok(reader)
    }

    fn damaged(&self, why: &str) -> anyhow::Error {
        self.db.damaged(why)
    }

    fn rows<T>(&self, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>> {
        self.db.rows(sql, read)
    }

    fn json<T: DeserializeOwned>(&self, what: &str, text: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|e| self.damaged(&format!("{what} cannot be read: {e}")))
    }

    fn facts(&self) -> Result<BTreeMap<String, String>> {
        Ok(self.rows("SELECT name, value FROM run", |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    }

    fn run(&self, folder: &Path, facts: &BTreeMap<String, String>, coverage: &[FileCoverage]) -> Result<Run> {
        let command = facts.get("command").ok_or_else(|| self.damaged("the fact `command` is missing"))?;
        let summary: Value = match facts.get("summary") {
            Some(text) => self.json("the summary", text)?,
            None => Value::Null,
        };
        let part = |name: &str| summary[name].to_string();
        let (status, totals, seconds) = match summary.is_null() {
            true => (Status::Unfinished, self.totals()?, 0.0),
            false => (
                self.json("the status", &part("status"))?,
                self.json("the totals", &part("totals"))?,
                self.json("the time", &part("seconds"))?,
            ),
        };
        let rules = if summary["rules"].is_array() { self.json("the rules' verdicts", &part("rules"))? } else { Vec::new() };
        let application = || coverage.iter().filter(|f| !f.library);
        Ok(Run {
            command: self.json("the command", command)?,
            folder: folder.display().to_string(),
            status,
            seconds,
            ends: self.ends()?,
            findings: self.findings()?,
            ledger: self.rows("SELECT kind, what, count, flag FROM ledger ORDER BY kind, what", ledger_row)?,
            totals,
            lines: Lines {
                covered: application().map(FileCoverage::covered).sum::<usize>() as u64,
                all: application().map(|f| f.lines.len()).sum::<usize>() as u64,
            },
            rules,
            goal: if summary["goal"].is_object() { self.json("the goal", &part("goal"))? } else { None },
            pruning: if summary["pruning"].is_object() { self.json("the pruning", &part("pruning"))? } else { None },
        })
    }

    /// What a run that has not ended has done so far.
    fn totals(&self) -> Result<Totals> {
        let mut totals = Totals::default();
        self.db.each("SELECT instructions, depth, test IS NOT NULL FROM path", |row| {
            totals.paths += 1;
            totals.instructions = totals.instructions.saturating_add(count(row, 0)?);
            totals.decisions = totals.decisions.saturating_add(count(row, 1)?);
            totals.tests += u64::from(row.get::<_, bool>(2)?);
            Ok(())
        })?;
        Ok(totals)
    }

    /// Counted here: sorted by the database, hostile texts might fill a disk.
    fn ends(&self) -> Result<Vec<EndCount>> {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        self.db.each("SELECT class, what FROM path", |row| {
            *counts.entry((row.get(0)?, row.get(1)?)).or_default() += 1;
            Ok(())
        })?;
        let class = |name: &str| {
            let known = Class::ALL.into_iter().find(|c| c.name() == name);
            known.ok_or_else(|| self.damaged(&format!("`{name}` is no class of path ends")))
        };
        let mut ends = Vec::with_capacity(counts.len());
        for ((name, what), count) in counts {
            ends.push(EndCount { class: class(&name)?, what, count });
        }
        ends.sort_by(|a, b| a.class.cmp(&b.class).then(b.count.cmp(&a.count)));
        Ok(ends)
    }

    fn findings(&self) -> Result<Vec<Finding>> {
        type Texts = (String, String, String, String, Option<String>, Option<String>, String);
        let sql = "SELECT kind, cwe, message, count, test, source_line, stack, inputs, steps, code, native, native_why, variables FROM finding ORDER BY id";
        let rows: Vec<(Finding, Texts)> = self.rows(sql, |row| {
            let finding = Finding {
                kind: Kind { id: row.get(0)?, cwe: row.get(1)? },
                message: row.get(2)?,
                stack: Vec::new(),
                inputs: Vec::new(),
                count: count(row, 3)?,
                test: row.get(4)?,
                source_line: row.get(5)?,
                code: Vec::new(),
                variables: Vec::new(),
                native: None,
                steps: Vec::new(),
            };
            Ok((finding, (row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?, row.get(12)?)))
        })?;
        let mut findings = Vec::with_capacity(rows.len());
        for (finding, (stack, inputs, steps, code, verdict, why, variables)) in rows {
            let stack: Vec<_> = self.json("a call stack", &stack)?;
            if stack.is_empty() {
                return Err(self.damaged("a call stack is empty"));
            }
            let native = verdict.and_then(|v| Native::from_words(&v, &why.unwrap_or_default()));
            let (inputs, steps) = (self.json("the inputs", &inputs)?, self.json("the decisions", &steps)?);
            let code = self.json("machine code", &code)?;
            let variables = self.json("variables", &variables)?;
            findings.push(Finding { stack, inputs, steps, code, variables, native, ..finding });
        }
        Ok(findings)
    }

    fn tests(&self) -> Result<Vec<Test>> {
        self.rows("SELECT test, class, what, instructions, depth FROM path WHERE test IS NOT NULL ORDER BY id", |row| {
            let (instructions, depth) = (count(row, 3)?, count(row, 4)?);
            Ok(Test { file: row.get(0)?, class: row.get(1)?, what: row.get(2)?, instructions, depth, inputs: None })
        })
    }

    /// The paths of the tests, in the order of these.
    fn tree(&self) -> Result<Tree> {
        let (mut paths, mut test) = (Paths::default(), 0);
        self.db.each("SELECT prefix, places FROM path WHERE test IS NOT NULL ORDER BY id", |row| {
            if let Some(prefix) = row.get_ref(0)?.as_blob_or_null()? {
                paths.add(test, prefix, row.get_ref(1)?.as_str_or_null()?.unwrap_or_default());
            }
            test += 1;
            Ok(())
        })?;
        Ok(paths.tree())
    }

    fn coverage(&self, code: Code) -> Result<Vec<FileCoverage>> {
        let mut files: BTreeMap<(bool, String), FileCoverage> = BTreeMap::new();
        fn of<'a>(files: &'a mut BTreeMap<(bool, String), FileCoverage>, library: bool, file: &str) -> &'a mut FileCoverage {
            let empty = || FileCoverage { file: file.to_owned(), library, lines: Vec::new(), functions: Vec::new() };
            files.entry((library, file.to_owned())).or_insert_with(empty)
        }
        let wanted = |library: bool| code == Code::All || !library;
        type Row4 = (bool, String, u32, bool);
        let lines: Vec<Row4> = self.rows("SELECT library, file, line, covered FROM coverage ORDER BY file, line", |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        for (library, file, line, covered) in lines.into_iter().filter(|row| wanted(row.0)) {
            of(&mut files, library, &file).lines.push((line, covered));
        }
        let functions: Vec<(Row4, String)> = self
            .rows("SELECT library, file, line, entered, name FROM function ORDER BY file, line, name", |row| {
                Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), row.get(4)?))
            })?;
        for ((library, file, line, entered), name) in functions.into_iter().filter(|(row, _)| wanted(row.0)) {
            of(&mut files, library, &file).functions.push(FunctionCoverage { name, line, entered });
        }
        Ok(files.into_values().collect())
    }
}

fn ledger_row(row: &Row<'_>) -> rusqlite::Result<LedgerRow> {
    Ok(LedgerRow { kind: row.get(0)?, what: row.get(1)?, count: count(row, 2)?, flag: row.get(3)? })
}

/// A number that cannot be negative; in a damaged file it may be.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// Reads the inputs of tests, as far as their files are there.
fn inputs(folder: &Path, tests: &mut [Test]) {
    let mut left = ALL_TESTS;
    for test in tests {
        // The database may name any file.
        let Some(bytes) = number_of(&test.file).and_then(|_| data::read_here(&folder.join(&test.file), ONE_TEST.min(left)).ok()) else {
            continue;
        };
        left -= bytes.len() as u64;
        let Ok(read) = KTest::from_bytes(&bytes) else { continue };
        let value = |o: Object| InputValue { name: String::from_utf8_lossy(&o.name).into_owned(), bytes: o.bytes };
        test.inputs = Some(read.objects.into_iter().map(value).collect());
    }
}

/// The sources that findings and the application's coverage speak of, as far as they are there.
fn sources(report: &Report) -> Sources {
    let mut sources = Sources::default();
    let places = report.run.findings.iter().flat_map(|f| f.stack.iter().chain(f.steps.iter().map(|s| &s.place)));
    let mut files: Vec<&str> = places.map(|p| p.file.as_str()).chain(report.coverage.iter().map(|c| c.file.as_str())).collect();
    files.sort_unstable();
    files.dedup();
    let mut left = ALL_SOURCES;
    for file in files.into_iter().filter(|f| !f.is_empty()) {
        // A name without a root was compiled in the run's directory.
        if let Ok(bytes) = data::read(&Path::new(&report.directory).join(file), data::SOURCE.min(left)) {
            left -= bytes.len() as u64;
            sources.add(file.to_owned(), &String::from_utf8_lossy(&bytes));
        }
    }
    sources
}
