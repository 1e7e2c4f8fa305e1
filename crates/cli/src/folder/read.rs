//! A run folder read: facts for a replay, or all that it tells. Also of a run that goes on or was killed, as far as it was committed.
//!
//! Nothing in it is trusted: a folder that is empty, damaged or of another version is an error that says so, never a wrong report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wryneck_report::{
    Class, EndCount, FileCoverage, Finding, FunctionCoverage, Kind, LedgerRow, Lines, Native, Report, Run, Sources, Status, Test, Totals,
};

use crate::problem::problem;

/// The number of the schema this version writes and reads.
const SCHEMA_NUMBER: i64 = 4;
const AGAIN: &str = "run the program again; the command is in the folder's `info` if the run had ended";

/// Whose lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Application,
    /// The C library's too.
    All,
}

/// A run folder that is read.
struct Reader {
    db: Connection,
    file: PathBuf,
}

/// Whether a folder is a run folder that this version reads.
pub fn check(folder: &Path) -> Result<()> {
    Reader::open(folder).map(|_| ())
}

/// A fact of a run folder's table `run`.
pub fn read_fact(folder: &Path, name: &str) -> Result<Option<String>> {
    Ok(Reader::open(folder)?.facts()?.remove(name))
}

/// The host files that the run read below `directory`: path from there, content.
pub fn read_files(folder: &Path, directory: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let reader = Reader::open(folder)?;
    let all: Vec<(Vec<u8>, Vec<u8>)> =
        reader.rows("SELECT path, answer FROM host WHERE question = 'file' AND error IS NULL", |row| Ok((row.get(0)?, row.get(1)?)))?;
    let below = |(path, bytes): (Vec<u8>, Vec<u8>)| {
        let path = PathBuf::from(OsString::from_vec(path));
        Some((path.strip_prefix(directory).ok()?.to_owned(), bytes))
    };
    Ok(all.into_iter().filter_map(below).collect())
}

/// All that a run folder tells.
pub fn report(folder: &Path, code: Code) -> Result<Report> {
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
        sources: Sources::default(),
    };
    report.sources = sources(&report);
    Ok(report)
}

impl Reader {
    fn open(folder: &Path) -> Result<Reader> {
        let file = folder.join("run.db");
        let shown = folder.display();
        if !folder.exists() {
            return Err(problem(format!("`{shown}` does not exist"), "give a run folder, such as `wryneck-last`"));
        }
        if !folder.is_dir() {
            return Err(problem(format!("`{shown}` is not a folder"), "give a run folder, such as `wryneck-last`"));
        }
        let size = match fs::metadata(&file) {
            Ok(data) => data.len(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
                let why = if empty { "it is empty" } else { "it has no `run.db`" };
                return Err(problem(format!("`{shown}` is not a run folder: {why}"), "give the folder that `wryneck run` wrote"));
            }
            Err(e) => return Err(problem(format!("cannot read `{}`: {e}", file.display()), "")),
        };
        if size == 0 && !file.with_extension("db-wal").exists() {
            return Err(problem(
                format!("`{}` is empty: the run ended before it wrote anything, or the file is damaged", file.display()),
                AGAIN,
            ));
        }
        // Where it may be written, what a killed run left half written is undone.
        let db = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|e| unreadable(&file, &e))?;
        let reader = Reader { db, file };
        reader.check_schema()?;
        Ok(reader)
    }

    fn check_schema(&self) -> Result<()> {
        let number: i64 = self.one("PRAGMA user_version")?;
        let tables: i64 = self.one("SELECT count(*) FROM sqlite_master WHERE name = 'run'")?;
        if number == SCHEMA_NUMBER && tables == 1 {
            return Ok(());
        }
        let shown = self.file.display();
        Err(match (tables, number) {
            (0, 0) => {
                problem(format!("`{shown}` has no tables: the run ended before it wrote anything, or this is not its database"), AGAIN)
            }
            (_, n) if n < SCHEMA_NUMBER => problem(
                format!("`{shown}` was written by an older version of wryneck: its schema is {n}, this version reads {SCHEMA_NUMBER}"),
                "run the program again, or read it with the version that wrote it",
            ),
            (_, n) if n > SCHEMA_NUMBER => problem(
                format!("`{shown}` was written by a newer version of wryneck: its schema is {n}, this version reads {SCHEMA_NUMBER}"),
                "read it with the version that wrote it",
            ),
            (_, _) => self.damaged("its tables are missing"),
        })
    }

    fn damaged(&self, why: &str) -> anyhow::Error {
        problem(format!("`{}` is damaged: {why}", self.file.display()), AGAIN)
    }

    fn rows<T>(&self, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>> {
        let all = || -> rusqlite::Result<Vec<T>> { self.db.prepare(sql)?.query_map([], read)?.collect() };
        all().map_err(|e| unreadable(&self.file, &e))
    }

    fn one<T: FromSql>(&self, sql: &str) -> Result<T> {
        self.db.query_row(sql, [], |row| row.get(0)).map_err(|e| unreadable(&self.file, &e))
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
            pruning: if summary["pruning"].is_object() { self.json("the pruning", &part("pruning"))? } else { None },
        })
    }

    /// What a run that has not ended has done so far.
    fn totals(&self) -> Result<Totals> {
        let mut all = self.rows("SELECT count(*), total(instructions), total(depth), count(test) FROM path", |row| {
            let (instructions, decisions): (f64, f64) = (row.get(1)?, row.get(2)?);
            let (instructions, decisions) = (instructions as u64, decisions as u64);
            Ok(Totals { paths: count(row, 0)?, instructions, decisions, tests: count(row, 3)?, ..Totals::default() })
        })?;
        Ok(all.pop().unwrap_or_default())
    }

    fn ends(&self) -> Result<Vec<EndCount>> {
        let rows: Vec<(String, String, u64)> =
            self.rows("SELECT class, what, count(*) FROM path GROUP BY class, what", |row| Ok((row.get(0)?, row.get(1)?, count(row, 2)?)))?;
        let class = |name: &str| {
            let known = Class::ALL.into_iter().find(|c| c.name() == name);
            known.ok_or_else(|| self.damaged(&format!("`{name}` is no class of path ends")))
        };
        let mut ends = Vec::with_capacity(rows.len());
        for (name, what, count) in rows {
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
            Ok(Test { file: row.get(0)?, class: row.get(1)?, what: row.get(2)?, instructions: count(row, 3)?, depth: count(row, 4)? })
        })
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

fn unreadable(file: &Path, error: &rusqlite::Error) -> anyhow::Error {
    let shown = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => problem(format!("`{shown}` is damaged: it is not a SQLite database"), AGAIN),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            problem(format!("cannot open `{shown}`: {error}"), "the database of a killed run needs a folder that can be written")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => problem(format!("`{shown}` is locked: {error}"), "try again"),
        _ => problem(format!("`{shown}` is damaged: {error}"), AGAIN),
    }
}

/// The sources that findings and the application's coverage speak of, as far as they are there.
fn sources(report: &Report) -> Sources {
    let mut sources = Sources::default();
    let places = report.run.findings.iter().flat_map(|f| f.stack.iter().chain(f.steps.iter().map(|s| &s.place)));
    let mut files: Vec<&str> = places.map(|p| p.file.as_str()).chain(report.coverage.iter().map(|c| c.file.as_str())).collect();
    files.sort_unstable();
    files.dedup();
    for file in files.into_iter().filter(|f| !f.is_empty()) {
        // A name without a root was compiled in the run's directory.
        if let Ok(bytes) = fs::read(Path::new(&report.directory).join(file)) {
            sources.add(file.to_owned(), &String::from_utf8_lossy(&bytes));
        }
    }
    sources
}
