//! `run.db` opened to read, as what it may be: a hostile file.
//!
//! | attack | what stops it |
//! |---|---|
//! | views, triggers, virtual tables, generated columns | the schema must be ours, word for word; they are off, and the schema is not trusted |
//! | a query that never ends | a limit on the database's steps |
//! | a tree whose pages are used many times, which unpacks without end | rows may have no more bytes than the file |
//! | a journal that names files to delete (a "super-journal") | journals are read only from a copy, and such a name is refused |
//! | a forged index of the log (`-shm`) | shared with a live run of the same user only; others are read from a copy |
//! | links, devices, pipes | regular files only, no link |
//!
//! A run that goes on holds a lock on its folder ([`super::Folder`]): its database is read beside it. One that ended is one plain file, which cannot
//! change. One that was killed left a log: what it had committed is read from a copy, so reading changes nothing.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use rustix::fs::{FlockOperation, flock};

use super::SCHEMA;
use super::read::AGAIN;
use crate::data;
use crate::problem::problem;
use crate::scratch::Scratch;

/// The number of the schema this version writes and reads.
const SCHEMA_NUMBER: i64 = 6;
/// Steps of the database's machine that all queries may take, in [`STEP`]s: some seconds. A row takes about twenty.
const MOST_STEPS: u32 = 400_000;
const STEP: i32 = 1_000;
/// Longest value: a captured host file may have 256 MiB.
const LONGEST: i32 = 300 << 20;
/// How long a run that goes on may be in the way.
const PATIENCE: Duration = Duration::from_secs(2);
/// What a rollback journal ends with that names a super-journal (SQLite's file format, 3).
const SUPER_JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A database that is read.
pub(super) struct Database {
    db: Connection,
    file: PathBuf,
    /// Bytes of the files it is read from.
    size: u64,
    /// Where they were copied to, if they were.
    _copy: Option<Scratch>,
}

impl Database {
    /// Of a run folder that this version reads.
    pub(super) fn open(folder: &Path) -> Result<Database> {
        let shown = folder.display();
        let file = folder.join("run.db");
        if !folder.exists() {
            return Err(problem(format!("`{shown}` does not exist"), "give a run folder, such as `wryneck-last`"));
        }
        if !folder.is_dir() {
            return Err(problem(format!("`{shown}` is not a folder"), "give a run folder, such as `wryneck-last`"));
        }
        let (Some(size), log) = (size(&file)?, size(&beside(&file, "-wal"))?.unwrap_or(0)) else {
            let empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
            let why = if empty { "it is empty" } else { "it has no `run.db`" };
            return Err(problem(format!("`{shown}` is not a run folder: {why}"), "give the folder that `wryneck run` wrote"));
        };
        let journal = size_of_journal(&file)?;
        if size == 0 && log == 0 {
            return Err(problem(
                format!("`{}` is empty: the run ended before it wrote anything, or the file is damaged", file.display()),
                AGAIN,
            ));
        }
        // SQLite refuses links anywhere in a name; the folder's own name may be one (`wryneck-last`).
        let real = folder.canonicalize().map_err(|e| unopenable(&file, &e))?.join("run.db");
        let (db, copy) = match (is_live(folder), log + journal) {
            (true, _) => (connect(&real, Access::Shared), None),
            (false, 0) => (connect(&real, Access::Fixed), None),
            (false, _) => {
                let copy = copied(&real).map_err(|e| unopenable(&file, &e))?;
                (connect(&copy.path().join("run.db"), Access::Own), Some(copy))
            }
        };
        let db = db.map_err(|e| unreadable(&file, &e))?;
        // What a run writes meanwhile counts, too.
        let size = if is_live(folder) { u64::MAX } else { size + log + journal };
        let database = Database { db, file, size, _copy: copy };
        database.check_schema()?;
        Ok(database)
    }

    pub(super) fn damaged(&self, why: &str) -> anyhow::Error {
        problem(format!("`{}` is damaged: {why}", self.file.display()), AGAIN)
    }

    /// What `read` makes of each row of a query.
    pub(super) fn rows<T>(&self, sql: &str, mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Gives each row of a query to `read`. The columns are those of a table, so in an honest file they lie there once.
    pub(super) fn each(&self, sql: &str, mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) -> Result<()> {
        let unpacked = Cell::new(0);
        let mut all = || -> rusqlite::Result<bool> {
            let mut query = self.db.prepare(sql)?;
            let columns = query.column_count();
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let bytes = (0..columns).map(|column| row.get_ref(column).map_or(0, length)).sum::<u64>();
                unpacked.set(unpacked.get() + bytes.max(LEAST_ROW));
                if unpacked.get() > self.size {
                    return Ok(false);
                }
                read(row)?;
            }
            Ok(true)
        };
        match all() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.damaged("its tables hold more than the file")),
            Err(error) => Err(unreadable(&self.file, &error)),
        }
    }

    /// The one number that a query gives.
    pub(super) fn number(&self, sql: &str) -> Result<i64> {
        self.db.query_row(sql, [], |row| row.get(0)).map_err(|e| unreadable(&self.file, &e))
    }

    fn check_schema(&self) -> Result<()> {
        let number = self.number("PRAGMA user_version")?;
        let there = schema(&self.db).map_err(|e| unreadable(&self.file, &e))?;
        let ours = Connection::open_in_memory().and_then(|db| {
            db.execute_batch(SCHEMA)?;
            schema(&db)
        });
        let ours = ours.map_err(|e| unreadable(&self.file, &e))?;
        let shown = self.file.display();
        Err(match (there.is_empty(), number) {
            (false, SCHEMA_NUMBER) if there == ours => return Ok(()),
            (true, 0) => {
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
            (_, _) => self.damaged("its tables are not those of a run"),
        })
    }
}

/// Bytes that a row takes at least: a header, a key.
const LEAST_ROW: u64 = 4;

fn length(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

/// Kind, name, table and text of all that a database has; comments and spaces do not count.
fn schema(db: &Connection) -> rusqlite::Result<Vec<[String; 4]>> {
    let plain = |sql: Option<String>| {
        let lines = sql.iter().flat_map(|sql| sql.lines()).map(|line| line.split("--").next().unwrap_or(line).to_owned());
        lines.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut query = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")?;
    let rows = query.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, plain(row.get(3)?)]))?;
    let mut all = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

/// How a database is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Beside the run that writes it.
    Shared,
    /// It cannot change; nothing beside it is looked at.
    Fixed,
    /// A copy, which its log is written into.
    Own,
}

fn connect(file: &Path, access: Access) -> rusqlite::Result<Connection> {
    let mode = match access {
        Access::Shared => "mode=ro",
        Access::Fixed => "mode=ro&immutable=1",
        Access::Own => "mode=rw",
    };
    let name: String = file.as_os_str().as_bytes().iter().map(|b| format!("%{b:02X}")).collect();
    let way = if access == Access::Own { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let flags = way | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(format!("file:{name}?{mode}"), flags)?;
    db.busy_timeout(PATIENCE)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        db.set_db_config(setting, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 10_000),
        (Limit::SQLITE_LIMIT_COLUMN, 32),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 2),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
        db.set_limit(limit, most)?;
    }
    let mut left = MOST_STEPS;
    db.progress_handler(
        STEP,
        Some(move || {
            left = left.saturating_sub(1);
            left == 0
        }),
    )?;
    db.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")?;
    Ok(db)
}

/// Whether the run that writes a folder goes on, as the same user. It holds a lock on the folder, which ends with it.
pub(super) fn is_live(folder: &Path) -> bool {
    let Ok(folder) = File::open(folder) else { return false };
    // SAFETY: a system call that only returns a number.
    let own = folder.metadata().is_ok_and(|m| m.uid() == unsafe { libc::geteuid() });
    own && flock(&folder, FlockOperation::NonBlockingLockShared).is_err()
}

/// The database and its logs in a folder of their own.
fn copied(file: &Path) -> io::Result<Scratch> {
    let copy = Scratch::new()?;
    for end in ["", "-wal", "-journal"] {
        let from = beside(file, end);
        if size_of_regular(&from)?.is_none() {
            continue;
        }
        let (mut open, about) = data::open_here(&from)?;
        if end == "-journal" && names_another(&mut open, about.len())? {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its journal names another one"));
        }
        let mut to = File::create_new(beside(&copy.path().join("run.db"), end))?;
        io::copy(&mut io::Read::take(open, about.len()), &mut to)?;
    }
    Ok(copy)
}

/// Whether a rollback journal names a super-journal, which would be deleted with it.
fn names_another(journal: &mut File, size: u64) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let Some(at) = size.checked_sub(SUPER_JOURNAL.len() as u64) else { return Ok(false) };
    let mut end = [0; SUPER_JOURNAL.len()];
    journal.read_exact_at(&mut end, at)?;
    Ok(end == SUPER_JOURNAL)
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The size of a regular file that is no link; `None` if there is none.
fn size_of_regular(file: &Path) -> io::Result<Option<u64>> {
    match fs::symlink_metadata(file) {
        Ok(about) if about.is_file() => Ok(Some(about.len())),
        Ok(about) if about.is_symlink() => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link")),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn size(file: &Path) -> Result<Option<u64>> {
    size_of_regular(file).map_err(|error| problem(format!("cannot read `{}`: {error}", file.display()), AGAIN))
}

fn size_of_journal(file: &Path) -> Result<u64> {
    Ok(size(&beside(file, "-journal"))?.unwrap_or(0))
}

fn unopenable(file: &Path, error: &io::Error) -> anyhow::Error {
    let help = match error.kind() {
        io::ErrorKind::InvalidData => AGAIN,
        _ => "a killed run is read from a copy in `TMPDIR`, which needs room",
    };
    problem(format!("cannot read `{}`: {error}", file.display()), help)
}

fn unreadable(file: &Path, error: &rusqlite::Error) -> anyhow::Error {
    let shown = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => problem(format!("`{shown}` is damaged: it is not a SQLite database"), AGAIN),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            problem(format!("cannot open `{shown}`: {error}"), "the folder must be readable, and no part of its name a link")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => problem(format!("`{shown}` is locked: {error}"), "try again"),
        Some(ErrorCode::OperationInterrupted) => problem(format!("`{shown}` takes too long to read"), AGAIN),
        _ => problem(format!("`{shown}` is damaged: {error}"), AGAIN),
    }
}
