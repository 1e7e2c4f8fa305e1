//! The thread that writes a run folder: tests as files, everything else in batches into the database.
//!
//! A batch is committed after [`COMMIT`] at the latest, one with a finding after [`SOON`], so that a run that is killed leaves what it found. The database
//! keeps a log of writes beside it while the run goes on (SQLite's WAL mode), so neither side of a reader waits; at the end it becomes one plain file unless
//! somebody reads it just then. Failures are noted and told at the end: they never lose what the run itself knows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use wryneck_exec::Deferral;
use wryneck_report::{LedgerRow, Native};

use super::{EarlierPath, Fact, Message, Numbered, PathRow, SCHEMA, State, Test, database_unwritable, test_name, write_file};
use crate::data;
use crate::left::Changes;

/// Time between transactions.
const COMMIT: Duration = Duration::from_millis(200);
/// The same where there is a finding.
const SOON: Duration = Duration::from_millis(50);
/// Bytes in which file systems count.
const BLOCK: usize = 4096;
/// How long a transaction waits for another process.
const BUSY: Duration = Duration::from_secs(5);
/// How long the end waits for readers to leave, to have one plain file.
const ALONE: Duration = Duration::from_millis(100);

/// Puts a database into a new folder that has only these facts.
pub fn create(folder: &Path, facts: &[Fact]) -> Result<()> {
    let file = folder.join("run.db");
    // A link in its place would be written through.
    File::create_new(&file)?;
    let mut db = open(&file)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = db.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    for (name, value) in facts {
        transaction.execute("INSERT INTO run VALUES (?, ?)", params![name, value])?;
    }
    Ok(transaction.commit()?)
}

/// Writes what comes until the end.
pub fn run(folder: &Path, state: &State, queue: Receiver<Message>) {
    let file = folder.join("run.db");
    let mut waiting = Vec::new();
    let done = open(&file).map_err(Error::from).and_then(|db| {
        let mut writer = Writer { folder, state, db, files: 0, waiting: Vec::new() };
        let done = writer.run(&queue, &file);
        waiting = std::mem::take(&mut writer.waiting);
        done
    });
    if let Err(error) = done {
        state.fail(format!("{:#}", error.context(database_unwritable(folder))));
        state.failed.store(true, Ordering::Relaxed);
    }
    // The database is closed. Who waits, and what is sent from now on, is answered by hanging up.
    drop((waiting, queue));
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(file)?;
    db.busy_timeout(BUSY)?;
    // A crash of the machine may lose the run; a crash of the tool may not.
    db.execute_batch("PRAGMA synchronous = OFF")?;
    Ok(db)
}

const INSERT_PATH: &str = "INSERT INTO path (class, what, instructions, depth, covers_new, approximated, finds, prefix, places, test) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

struct Writer<'a> {
    folder: &'a Path,
    state: &'a State,
    db: Connection,
    /// Bytes of files beside the database.
    files: u64,
    /// Who waits for the transaction to be committed.
    waiting: Vec<SyncSender<()>>,
}

impl Writer<'_> {
    fn run(&mut self, queue: &Receiver<Message>, file: &Path) -> Result<()> {
        loop {
            self.db.execute_batch("BEGIN")?;
            let more = self.batch(queue)?;
            self.db.execute_batch("COMMIT")?;
            let size = |file: PathBuf| fs::metadata(file).map_or(0, |m| m.len());
            self.state.used.store(self.files + size(file.to_owned()) + size(file.with_extension("db-wal")), Ordering::Relaxed);
            if !more {
                self.db.busy_timeout(ALONE)?;
                // While somebody reads there is no change: the log stays beside the database, where readers look for it.
                let _ = self.db.pragma_update(None, "journal_mode", "DELETE");
                return Ok(());
            }
            for done in self.waiting.drain(..) {
                let _ = done.send(());
            }
        }
    }

    /// Takes messages until it is time to commit; whether more can come.
    fn batch(&mut self, queue: &Receiver<Message>) -> Result<bool> {
        let mut until = Instant::now() + COMMIT;
        loop {
            match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Message::End(done)) => {
                    self.waiting.push(done);
                    return Ok(false);
                }
                Ok(Message::Commit(done)) => {
                    self.waiting.push(done);
                    return Ok(true);
                }
                Ok(message) => {
                    if matches!(message, Message::Findings(_)) {
                        until = until.min(Instant::now() + SOON);
                    }
                    self.take(message)?;
                    // Where messages never stop to come, waiting for the next one is never over.
                    if Instant::now() >= until {
                        return Ok(true);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Ok(true),
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<()> {
        match message {
            // Both end a batch.
            Message::Commit(_) | Message::End(_) => Ok(()),
            Message::Paths(rows) => rows.into_iter().try_for_each(|row| self.path(row)),
            Message::Earlier(paths, folder) => paths.iter().try_for_each(|path| self.earlier(path, &folder)),
            Message::Left(left) => self.left(left.0, &left.1),
            Message::Host(reads) => {
                let mut insert = self.db.prepare_cached("INSERT INTO host VALUES (?, ?, ?, ?)")?;
                for r in reads {
                    insert.execute(params![
                        r.question,
                        r.path,
                        r.answer.as_ref().err(),
                        r.answer.as_ref().ok().map(|answer| answer.as_slice())
                    ])?;
                }
                Ok(())
            }
            Message::Findings(findings) => self.findings(&findings),
            Message::Ledger(ledger) => self.ledger(&ledger),
            Message::Coverage(lines, functions) => {
                let mut insert = self.db.prepare_cached("INSERT OR REPLACE INTO coverage VALUES (?, ?, ?, ?)")?;
                for l in lines {
                    insert.execute(params![l.file, l.line, l.covered, l.library])?;
                }
                let mut insert = self.db.prepare_cached("INSERT OR REPLACE INTO function VALUES (?, ?, ?, ?, ?)")?;
                for f in functions {
                    insert.execute(params![f.file, f.line, f.name, f.entered, f.library])?;
                }
                Ok(())
            }
            Message::Fact(name, value) => self.fact(name, &value),
            Message::Facts(find) => find().iter().try_for_each(|(name, value)| self.fact(name, value)),
        }
    }

    fn fact(&mut self, name: &str, value: &str) -> Result<()> {
        self.db.prepare_cached("INSERT OR REPLACE INTO run VALUES (?, ?)")?.execute(params![name, value])?;
        Ok(())
    }

    fn path(&mut self, row: PathRow) -> Result<()> {
        let name = row.test.as_ref().map(|t| test_name(t.number));
        let (class, what) = (row.class.name(), &*row.what);
        let mut insert = self.db.prepare_cached(INSERT_PATH)?;
        let (instructions, finds) = (row.instructions as i64, row.finds as i64);
        let (prefix, places) = row.decisions.map(|made| (made.prefix, made.places)).unzip();
        insert.execute(params![class, what, instructions, row.depth, row.covers_new, row.approximated, finds, prefix, places, name])?;
        drop(insert);
        if let (Some(test), Some(name)) = (row.test, name) {
            self.test(&name, &test.ktest.to_bytes(), about(&test).to_string().as_bytes());
        }
        Ok(())
    }

    /// Writes the files of a test.
    fn test(&mut self, name: &str, bytes: &[u8], about: &[u8]) {
        let path = self.folder.join(name);
        let size = [bytes.len(), about.len()].map(|size| size.next_multiple_of(BLOCK) as u64).iter().sum();
        self.files += size;
        self.state.used.fetch_add(size, Ordering::Relaxed);
        // The row says that there was such a path; the next test may fit.
        let written = write_file(&path, bytes).and_then(|()| write_file(&path.with_extension("json"), about));
        if let Err(error) = written {
            self.state.fail(format!("{error:#}"));
        }
    }

    /// A path of an earlier run, and its test out of that run's folder.
    fn earlier(&mut self, path: &EarlierPath, folder: &Path) -> Result<()> {
        let name = path.test.map(test_name);
        let mut insert = self.db.prepare_cached(INSERT_PATH)?;
        let (class, what, instructions, finds) = (path.class.name(), &path.what, path.instructions as i64, path.finds as i64);
        let (prefix, places) = path.decisions.as_ref().map(|made| (&made.prefix, &made.places)).unzip();
        insert.execute(params![class, what, instructions, path.depth, path.covers_new, path.approximated, finds, prefix, places, name])?;
        drop(insert);
        if let Some(name) = name {
            let from = folder.join(&name);
            let both = data::read_here(&from, data::TEST)
                .and_then(|bytes| Ok((bytes, data::read_here(&from.with_extension("json"), data::TEST)?)));
            match both {
                Ok((bytes, about)) => self.test(&name, &bytes, &about),
                Err(error) => self.state.fail(format!("the test `{}` was not taken over: {error}", from.display())),
            }
        }
        Ok(())
    }

    fn left(&mut self, changes: Changes, so_far: &str) -> Result<()> {
        {
            let mut delete = self.db.prepare_cached("DELETE FROM pending WHERE id = ?")?;
            changes.gone.iter().try_for_each(|row| delete.execute([row]).map(drop))?;
            let mut insert = self.db.prepare_cached("INSERT INTO pending VALUES (?, ?, ?)")?;
            changes.new.iter().try_for_each(|(row, prefix, input)| insert.execute(params![row, prefix, input]).map(drop))?;
            let mut delete = self.db.prepare_cached("DELETE FROM deferred WHERE id = ?")?;
            changes.no_longer_deferred.iter().try_for_each(|row| delete.execute([row]).map(drop))?;
            let mut insert = self.db.prepare_cached("INSERT INTO deferred VALUES (?, ?, ?)")?;
            for (row, deferral) in changes.deferred {
                let (name, flip) = match deferral {
                    Deferral::Place(name) => (name, false),
                    Deferral::Flip(name) => (name, true),
                };
                insert.execute(params![row, name.to_bytes(), flip])?;
            }
        }
        self.fact("rest", so_far)
    }

    fn findings(&mut self, findings: &[Numbered]) -> Result<()> {
        let mut insert =
            self.db.prepare_cached("INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        for (id, f) in findings {
            let (place, stack, inputs) = (&f.stack[0], json!(f.stack).to_string(), json!(f.inputs).to_string());
            let (native, why) = f.native.as_ref().map(Native::words).unzip();
            insert.execute(params![
                id,
                f.kind.id,
                f.kind.cwe,
                f.message,
                place.file,
                place.line,
                place.column,
                place.function,
                stack,
                inputs,
                f.count as i64,
                f.test,
                f.source_line,
                json!(f.steps).to_string(),
                native,
                why,
                json!(f.code).to_string(),
                json!(f.variables).to_string()
            ])?;
        }
        Ok(())
    }

    fn ledger(&mut self, ledger: &[LedgerRow]) -> Result<()> {
        let mut insert = self.db.prepare_cached("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)")?;
        for row in ledger {
            insert.execute(params![row.kind, row.what, row.count as i64, row.flag])?;
        }
        Ok(())
    }
}

/// The test as JSON: what it is about, and its objects as numbers.
fn about(test: &Test) -> Value {
    let mut about = test.about.clone();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    about["args"] = test.ktest.args.iter().map(|a| text(a)).collect();
    about["objects"] = test.ktest.objects.iter().map(|o| json!({ "name": text(&o.name), "bytes": o.bytes })).collect();
    about
}
