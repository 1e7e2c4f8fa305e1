//! The run folder: `run.db`, a `.ktest` and a `.json` per test, `info`. [`read`] reads it; written by a thread of its own, so that exploring never waits
//! for a disk; the queue is bounded, so memory stays bounded too.
//!
//! `schema.sql` documents the database. Cost: about 5 µs per path and 45 µs per test (`uname --sym-args 0 2 2`: 8,991 tests add 0.4 s), on the other core.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use wryneck_report::{Class, Finding, KTest, LedgerRow, Native, Run};

use crate::coverage::{FunctionRow, LineRow};
use crate::host::HostRead;
use crate::problem::problem;

mod database;
mod output;
mod read;

pub use read::{Code, Facts, check, facts_and_files, report};

const SCHEMA: &str = include_str!("schema.sql");
/// Time between transactions.
const COMMIT: Duration = Duration::from_millis(500);
/// Messages that may wait.
const QUEUE: usize = 256;
/// Paths in one.
const TOGETHER: usize = 64;

/// A path that ended.
pub struct PathRow {
    pub class: Class,
    pub what: Arc<str>,
    pub instructions: u64,
    pub depth: u32,
    pub covers_new: bool,
    pub approximated: bool,
    pub test: Option<Box<Test>>,
}

/// A test to write.
pub struct Test {
    /// From 1.
    pub number: u64,
    pub ktest: KTest,
    /// What the `.json` says beside the objects.
    pub about: Value,
    /// The path's decisions.
    pub prefix: Vec<u8>,
}

/// File name of a test.
pub fn test_name(number: u64) -> String {
    format!("test{number:06}.ktest")
}

/// Something to write.
enum Message {
    Paths(Vec<PathRow>),
    Host(Vec<HostRead>),
    /// The findings and the ledger as they are now.
    State(Vec<Finding>, Vec<LedgerRow>),
    Coverage(Vec<LineRow>, Vec<FunctionRow>),
    Fact(&'static str, String),
    /// Facts that take a while to find out.
    Facts(Box<dyn FnOnce() -> Vec<(&'static str, String)> + Send>),
    /// Everything before is to be on disk before this is answered.
    Commit(SyncSender<()>),
}

/// A run folder being written.
pub struct Folder {
    pub path: PathBuf,
    queue: Option<SyncSender<Message>>,
    /// Paths to be sent together: each time the writer wakes costs as much as a short path.
    paths: RefCell<Vec<PathRow>>,
    writer: Option<JoinHandle<()>>,
    failed: Arc<AtomicBool>,
    failure: Arc<Mutex<Option<anyhow::Error>>>,
    /// Held until the run ends: who reads the folder knows by it that the run goes on.
    _live: Option<File>,
}

impl Folder {
    /// Makes the folder: the given one, which must be new or empty, or the next free `wryneck-out-N`.
    pub fn create(asked: Option<&Path>) -> Result<Folder> {
        let path = match asked {
            Some(dir) => output::make_asked(dir)?,
            None => output::make_numbered()?,
        };
        let live = File::open(&path).ok().filter(|folder| flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok());
        let (sender, receiver) = sync_channel(QUEUE);
        let (failed, failure) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let writer = {
            let (path, failed, failure) = (path.clone(), failed.clone(), failure.clone());
            std::thread::spawn(move || {
                if let Err(error) = Writer::run(&path, &receiver) {
                    *failure.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
                    failed.store(true, Ordering::Relaxed);
                }
            })
        };
        Ok(Folder { path, queue: Some(sender), paths: RefCell::default(), writer: Some(writer), failed, failure, _live: live })
    }

    /// Nothing more can be written: the disk is full, or the folder is gone.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Paths without a test wait for others, or for the next message.
    pub fn path_ended(&self, row: PathRow) {
        let has_test = row.test.is_some();
        let mut paths = self.paths.borrow_mut();
        paths.push(row);
        let full = paths.len() == TOGETHER;
        drop(paths);
        if has_test || full {
            self.send_paths();
        }
    }

    pub fn host_reads(&self, reads: Vec<HostRead>) {
        if !reads.is_empty() {
            self.send(Message::Host(reads));
        }
    }

    /// The findings and the ledger as they are now.
    pub fn state(&self, findings: Vec<Finding>, ledger: Vec<LedgerRow>) {
        self.send(Message::State(findings, ledger));
    }

    /// Lines and functions whose coverage is new.
    pub fn coverage(&self, lines: Vec<LineRow>, functions: Vec<FunctionRow>) {
        self.send(Message::Coverage(lines, functions));
    }

    /// A row of the table `run`.
    pub fn fact(&self, name: &'static str, value: String) {
        self.send(Message::Fact(name, value));
    }

    /// Rows of the table `run` that the writer finds out.
    pub fn facts(&self, find: impl FnOnce() -> Vec<(&'static str, String)> + Send + 'static) {
        self.send(Message::Facts(Box::new(find)));
    }

    /// Waits until everything so far is on disk, where others can read it.
    pub fn commit(&self) {
        let (done, wait) = sync_channel(1);
        self.send(Message::Commit(done));
        // A writer that failed answers by hanging up.
        let _ = wait.recv();
    }

    fn send(&self, message: Message) {
        self.send_paths();
        self.enqueue(message);
    }

    fn send_paths(&self) {
        let paths = self.paths.take();
        if !paths.is_empty() {
            self.enqueue(Message::Paths(paths));
        }
    }

    fn enqueue(&self, message: Message) {
        // A writer that failed has hung up; `finish` tells why.
        if let Some(queue) = &self.queue {
            let _ = queue.send(message);
        }
    }

    /// Writes what is left and the summary.
    pub fn finish(mut self, run: &Run) -> Result<()> {
        self.fact("summary", wryneck_report::json::value(run).to_string());
        self.fact("status", if run.status == wryneck_report::Status::Complete { "complete".into() } else { "stopped".into() });
        self.close();
        match self.failure.lock().unwrap_or_else(|e| e.into_inner()).take() {
            Some(error) => Err(error),
            None => write_info(&self.path, run),
        }
    }
}

impl Folder {
    /// Lets the writer write what waits, and waits for it.
    fn close(&mut self) {
        self.send_paths();
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // Its own failure is in `failure`.
            let _ = writer.join();
        }
    }
}

impl Drop for Folder {
    /// Also where the exploration breaks down, what it found is kept.
    fn drop(&mut self) {
        self.close();
    }
}

fn write_info(path: &Path, run: &Run) -> Result<()> {
    let mut text = Vec::new();
    let command: Vec<_> = run.command.iter().map(|w| wryneck_report::units::shell_word(w)).collect();
    text.extend(format!("{}\n\n", command.join(" ")).bytes());
    wryneck_report::terminal::write(&mut text, run)?;
    write_file(&path.join("info"), &text)
}

fn unwritable(path: &Path, error: io::Error) -> anyhow::Error {
    let help = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "free some room, or give a folder on another disk by `--output DIR`",
        _ => "give a folder that can be written by `--output DIR`",
    };
    problem(format!("cannot write `{}`: {error}", path.display()), help)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    made.map_err(|e| unwritable(path, e))
}

/// The thread's side.
struct Writer<'a> {
    folder: &'a Path,
    db: Connection,
    /// Who waits for the transaction to be committed.
    waiting: Vec<SyncSender<()>>,
}

impl Writer<'_> {
    fn run(folder: &Path, queue: &Receiver<Message>) -> Result<()> {
        let file = folder.join("run.db");
        let db = open(&file).with_context(|| format!("cannot write `{}`; is the disk full?", file.display()))?;
        let mut writer = Writer { folder, db, waiting: Vec::new() };
        loop {
            writer.db.execute_batch("BEGIN").context("cannot write `run.db`")?;
            let more = writer.batch(queue)?;
            writer.db.execute_batch("COMMIT").with_context(|| format!("cannot write `{}`; is the disk full?", file.display()))?;
            for done in writer.waiting.drain(..) {
                let _ = done.send(());
            }
            // Readers of a run that goes on are not in the way of a log, which short runs do not need; in the end one plain file is left.
            let journal = if more { "WAL" } else { "DELETE" };
            let changed = writer.db.pragma_update(None, "journal_mode", journal);
            if !more {
                return changed.context("cannot finish `run.db`");
            }
            // While somebody reads there is no change; the next transaction tries again.
        }
    }

    /// Takes messages until it is time to commit; whether more can come.
    fn batch(&mut self, queue: &Receiver<Message>) -> Result<bool> {
        let start = Instant::now();
        loop {
            match queue.recv_timeout(COMMIT.saturating_sub(start.elapsed())) {
                Ok(message) => {
                    self.take(message)?;
                    if !self.waiting.is_empty() {
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
            Message::Commit(done) => {
                self.waiting.push(done);
                Ok(())
            }
            Message::Paths(rows) => rows.into_iter().try_for_each(|row| self.path(row)),
            Message::Host(reads) => {
                let mut insert = self.db.prepare_cached("INSERT INTO host VALUES (?, ?, ?, ?)")?;
                for r in reads {
                    insert.execute(params![r.question, r.path, r.answer.as_ref().err(), r.answer.as_ref().ok()])?;
                }
                Ok(())
            }
            Message::State(findings, ledger) => self.state(&findings, &ledger),
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
        let mut insert = self.db.prepare_cached(
            "INSERT INTO path (class, what, instructions, depth, covers_new, approximated, prefix, test) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let prefix = row.test.as_ref().map(|t| &t.prefix);
        let (class, what) = (row.class.name(), &*row.what);
        insert.execute(params![class, what, row.instructions as i64, row.depth, row.covers_new, row.approximated, prefix, name])?;
        drop(insert);
        if let (Some(test), Some(name)) = (row.test, name) {
            let path = self.folder.join(name);
            write_file(&path, &test.ktest.to_bytes())?;
            write_file(&path.with_extension("json"), about(&test).to_string().as_bytes())?;
        }
        Ok(())
    }

    fn state(&mut self, findings: &[Finding], ledger: &[LedgerRow]) -> Result<()> {
        let mut insert =
            self.db.prepare_cached("INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        for (id, f) in (1_i64..).zip(findings) {
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
        let mut insert = self.db.prepare_cached("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)")?;
        for row in ledger {
            insert.execute(params![row.kind, row.what, row.count as i64, row.flag])?;
        }
        Ok(())
    }
}

fn open(file: &Path) -> Result<Connection> {
    // A link in its place would be written through.
    File::create_new(file)?;
    let db = Connection::open(file)?;
    // A crash of the machine may lose the run; a crash of the tool may not.
    db.execute_batch("PRAGMA synchronous = OFF")?;
    db.execute_batch(&format!("BEGIN; {SCHEMA} INSERT INTO run VALUES ('status', 'running'); COMMIT;"))?;
    Ok(db)
}

/// The test as JSON: what it is about, and its objects as numbers.
fn about(test: &Test) -> Value {
    let mut about = test.about.clone();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    about["args"] = test.ktest.args.iter().map(|a| text(a)).collect();
    about["objects"] = test.ktest.objects.iter().map(|o| json!({ "name": text(&o.name), "bytes": o.bytes })).collect();
    about
}
