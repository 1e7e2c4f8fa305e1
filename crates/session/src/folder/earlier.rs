//! What a run that goes on where another one was stopped takes over from that one's folder. It is read as any run folder is: as data that may be hostile.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, ensure};
use wryneck_exec::{Deferral, Job, prefix::PrefixId};
use wryneck_report::{Class, InputValue};

use super::database::Database;
use crate::decided::Decisions;
use crate::host::{Answers, QUESTIONS};
use crate::left::SoFar;
use crate::problem::problem;

/// A path that ended.
pub struct EarlierPath {
    pub class: Class,
    pub what: String,
    pub instructions: u64,
    pub depth: u32,
    pub covers_new: bool,
    pub approximated: bool,
    /// Findings that it was the first to show.
    pub finds: u64,
    pub decisions: Option<Decisions>,
    /// The number of its test.
    pub test: Option<u64>,
}

/// What there is of an earlier run, as it was when its rest was last written.
pub struct Earlier {
    /// `None`: it was killed before that.
    pub so_far: Option<SoFar>,
    /// All but those that are pending again.
    pub paths: Vec<EarlierPath>,
    pub jobs: Vec<Job>,
    pub deferred: Vec<Deferral>,
    /// For each finding, the input that showed it.
    pub inputs: Vec<Vec<InputValue>>,
    pub host: Answers,
    /// Lines that paths ran.
    pub covered: BTreeSet<(String, u32)>,
}

/// Reads a run folder, whose fact `rest` is given if it has one.
pub fn earlier(folder: &Path, rest: Option<&str>) -> Result<Earlier> {
    let db = Database::open(folder)?;
    let damaged = |what: &str| db.damaged(what);
    let so_far: Option<SoFar> =
        rest.map(|text| serde_json::from_str(text).map_err(|e| damaged(&format!("the fact `rest` cannot be read: {e}")))).transpose()?;
    let mut host = Answers::new();
    type Read = (String, Vec<u8>, Option<i32>, Option<Vec<u8>>);
    let reads: Vec<Read> =
        db.rows("SELECT question, path, error, answer FROM host", |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    for (question, path, error, answer) in reads {
        let known = QUESTIONS.into_iter().find(|known| *known == question).ok_or_else(|| damaged("it asked the host something unknown"))?;
        let answer = match (error, answer) {
            (Some(error), _) => Err(error),
            (None, Some(bytes)) => Ok(bytes.into()),
            (None, None) => return Err(damaged("an answer of the host is missing")),
        };
        host.entry((known, path)).or_insert(answer);
    }
    let Some(known) = &so_far else {
        return Ok(Earlier {
            so_far,
            paths: Vec::new(),
            jobs: Vec::new(),
            deferred: Vec::new(),
            inputs: Vec::new(),
            host,
            covered: BTreeSet::new(),
        });
    };
    type Row = (u64, String, EarlierPath, Option<String>);
    let sql = "SELECT id, class, what, instructions, depth, covers_new, approximated, finds, prefix, test, places FROM path ORDER BY id";
    let rows: Vec<Row> = db.rows(sql, |row| {
        let unsigned = |column: usize| row.get::<_, i64>(column).map(|n| u64::try_from(n).unwrap_or(0));
        let path = EarlierPath {
            class: Class::Internal,
            what: row.get(2)?,
            instructions: unsigned(3)?,
            depth: row.get(4)?,
            covers_new: row.get(5)?,
            approximated: row.get(6)?,
            finds: unsigned(7)?,
            decisions: row.get::<_, Option<Vec<u8>>>(8)?.zip(row.get(10)?).map(|(prefix, places)| Decisions { prefix, places }),
            test: None,
        };
        Ok((unsigned(0)?, row.get(1)?, path, row.get(9)?))
    })?;
    ensure!(rows.len() as u64 >= known.paths, damaged("rows of paths are missing"));
    let mut paths = Vec::with_capacity(rows.len());
    for (id, class, path, test) in rows {
        if id > known.paths || known.cut.contains(&id) {
            continue;
        }
        let class = Class::ALL.into_iter().find(|c| c.name() == class).ok_or_else(|| damaged("a class of path ends is unknown"))?;
        let test = test.map(|name| number_of(&name).ok_or_else(|| damaged("the name of a test is none"))).transpose()?;
        paths.push(EarlierPath { class, test, ..path });
    }
    let texts: Vec<String> = db.rows("SELECT inputs FROM finding ORDER BY id", |row| row.get(0))?;
    let inputs = texts.iter().map(|text| serde_json::from_str(text).unwrap_or_default()).collect();
    let stored: Vec<(Vec<u8>, Vec<u8>)> = db.rows("SELECT prefix, input FROM pending", |row| Ok((row.get(0)?, row.get(1)?)))?;
    let job = |(prefix, input): &(Vec<u8>, Vec<u8>)| Job::decode(prefix, input).ok_or_else(|| damaged("a pending path cannot be read"));
    let jobs = stored.iter().map(job).collect::<Result<_>>()?;
    let named: Vec<(Vec<u8>, bool)> = db.rows("SELECT name, flip FROM deferred", |row| Ok((row.get(0)?, row.get(1)?)))?;
    let deferral = |(id, flip): (Vec<u8>, bool)| {
        let id = PrefixId::from_bytes(id.try_into().map_err(|_| damaged("the name of a deferred flip is none"))?);
        Ok(if flip { Deferral::Flip(id) } else { Deferral::Place(id) })
    };
    let deferred = named.into_iter().map(deferral).collect::<Result<_>>()?;
    let covered = db.rows("SELECT file, line FROM coverage WHERE covered = 1", |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Earlier { so_far, paths, jobs, deferred, inputs, host, covered: covered.into_iter().collect() })
}

/// The number of a test's file name, if it is one.
pub(super) fn number_of(name: &str) -> Option<u64> {
    let number = Path::new(name).file_stem().and_then(OsStr::to_str)?.strip_prefix("test")?.parse().ok()?;
    (super::test_name(number) == name).then_some(number)
}

/// Whether the run that writes a folder goes on; then it cannot be continued.
pub fn refuse_live(folder: &Path) -> Result<()> {
    match super::database::is_live(folder) {
        true => Err(problem(format!("the run in `{}` still goes on", folder.display()), "wait until it ends, or end it by Ctrl-C")),
        false => Ok(()),
    }
}
