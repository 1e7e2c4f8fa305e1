//! The run folder: `run.db`, a `.ktest` and a `.json` per test, `info`. [`read`] reads it; [`place`] makes it; [`writer`] writes it on a thread of its
//! own, so that exploring never waits for a disk; the queue is bounded, so memory stays bounded too.
//!
//! `schema.sql` documents the database. Cost: about 5 µs per path and 45 µs per test (`uname --sym-args 0 2 2`: 8,991 tests add 0.4 s), on the other core.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use serde_json::Value;
use wryneck_report::{Class, Finding, KTest, LedgerRow, Run};

use crate::coverage::{FunctionRow, LineRow};
use crate::decided::Decisions;
use crate::host::HostRead;
use crate::left::Changes;
use crate::problem::problem;
use crate::scratch;
use crate::{allocator, budget, disk};

mod database;
mod earlier;
mod place;
mod read;
mod tree;
mod writer;

pub use earlier::{Earlier, EarlierPath, earlier, refuse_live};
pub use read::{Code, Facts, check, facts_and_files, inconclusive, report};

const SCHEMA: &str = include_str!("schema.sql");
/// Messages that may wait. Few: each may be a test, and where the time of a run is over there is little for what waits.
const QUEUE: usize = 32;
/// Paths in one.
const TOGETHER: usize = 64;
/// Kinds of failure that are told; more are of the same cause.
const FAILURES: usize = 8;

/// A path that ended.
pub struct PathRow {
    pub class: Class,
    pub what: Arc<str>,
    pub instructions: u64,
    pub depth: u32,
    pub covers_new: bool,
    pub approximated: bool,
    /// Findings that it is the first to show.
    pub finds: u64,
    /// Its decisions, if they are of use.
    pub decisions: Option<Decisions>,
    pub test: Option<Box<Test>>,
}

/// A test to write.
pub struct Test {
    /// From 1.
    pub number: u64,
    pub ktest: KTest,
    /// What the `.json` says beside the objects.
    pub about: Value,
}

/// File name of a test.
pub fn test_name(number: u64) -> String {
    format!("test{number:06}.ktest")
}

/// A finding and its number, from 1.
pub type Numbered = (i64, Finding);

/// A row of the table `run`: name and value.
pub type Fact = (&'static str, String);

/// Something to write.
enum Message {
    Paths(Vec<PathRow>),
    /// Paths of an earlier run, and the folder that has their tests.
    Earlier(Vec<EarlierPath>, PathBuf),
    /// What is left to explore.
    Left(Box<(Changes, String)>),
    Host(Vec<HostRead>),
    /// Findings that are new or changed.
    Findings(Vec<Numbered>),
    /// The ledger as it is now.
    Ledger(Vec<LedgerRow>),
    Coverage(Vec<LineRow>, Vec<FunctionRow>),
    Fact(&'static str, String),
    /// Facts that take a while to find out.
    Facts(Box<dyn FnOnce() -> Vec<Fact> + Send>),
    /// Everything before is to be on disk before this is answered.
    Commit(SyncSender<()>),
    /// The last one; answered when the database is closed.
    End(SyncSender<()>),
}

/// What the writer says of itself.
#[derive(Default)]
struct State {
    /// The database cannot be written: the disk is full, or the folder is gone.
    failed: AtomicBool,
    /// Bytes written.
    used: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl State {
    fn fail(&self, why: String) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < FAILURES && !failures.contains(&why) {
            failures.push(why);
        }
    }
}

/// A run folder being written. A copy writes to the same folder.
#[derive(Clone)]
pub struct Folder {
    pub path: PathBuf,
    queue: SyncSender<Message>,
    /// Paths to be sent together: each time the writer wakes costs as much as a short path.
    paths: Arc<Mutex<Vec<PathRow>>>,
    state: Arc<State>,
    /// Most bytes it may have.
    most: u64,
    /// Held until the run ends: who reads the folder knows by it that the run goes on.
    _live: Arc<File>,
}

impl Folder {
    /// Makes the folder: the given one, which must be new or empty, or the next free `wryneck-out-N`. It has these facts from the beginning, and at most
    /// about `most` bytes.
    pub fn create(asked: Option<&Path>, most: u64, facts: &[Fact]) -> Result<Folder> {
        let (path, live) = place::make(asked, &|folder| writer::create(folder, facts))?;
        let (queue, receiver) = sync_channel(QUEUE);
        let state = Arc::new(State::default());
        let writer = (path.clone(), state.clone());
        std::thread::spawn(move || {
            scratch::remove_left_over();
            writer::run(&writer.0, &writer.1, receiver)
        });
        Ok(Folder { path, queue, paths: Arc::default(), state, most, _live: Arc::new(live) })
    }

    /// Whether nothing more can be written: the disk is full, or the folder is gone.
    pub fn has_failed(&self) -> bool {
        self.state.failed.load(Ordering::Relaxed)
    }

    /// Whether the folder has room for what is not needed to tell of findings: a tenth of it is left for them.
    pub fn has_room_for_tests(&self) -> bool {
        self.used() <= self.most - self.most / 10
    }

    /// Whether the folder has no more room.
    pub fn is_full(&self) -> bool {
        self.used() > self.most
    }

    fn used(&self) -> u64 {
        self.state.used.load(Ordering::Relaxed)
    }

    /// Paths without a test wait for others, or for the next message.
    pub fn path_ended(&self, row: PathRow) {
        let has_test = row.test.is_some();
        let full = allocator::undisturbed(|| {
            let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
            paths.push(row);
            paths.len() >= TOGETHER
        });
        if has_test || full {
            self.send_paths();
        }
    }

    pub fn host_reads(&self, reads: Vec<HostRead>) {
        if !reads.is_empty() {
            self.send(Message::Host(reads));
        }
    }

    /// Paths of an earlier run, whose tests are in its folder.
    pub fn earlier(&self, paths: Vec<EarlierPath>, folder: PathBuf) {
        self.send(Message::Earlier(paths, folder));
    }

    /// What is left to explore, and how far the run is, as JSON, where all that was sent before is known.
    pub fn left(&self, changes: Changes, so_far: String) {
        self.send(Message::Left(Box::new((changes, so_far))));
    }

    /// Findings that are new or changed: on disk within a tenth of a second.
    pub fn findings(&self, findings: Vec<Numbered>) {
        if !findings.is_empty() {
            self.send(Message::Findings(findings));
        }
    }

    /// The ledger as it is now.
    pub fn ledger(&self, ledger: Vec<LedgerRow>) {
        self.send(Message::Ledger(ledger));
    }

    /// Lines and functions whose coverage is new.
    pub fn coverage(&self, lines: Vec<LineRow>, functions: Vec<FunctionRow>) {
        if !(lines.is_empty() && functions.is_empty()) {
            self.send(Message::Coverage(lines, functions));
        }
    }

    /// A row of the table `run`.
    pub fn fact(&self, name: &'static str, value: String) {
        self.send(Message::Fact(name, value));
    }

    /// Rows of the table `run` that the writer finds out.
    pub fn facts(&self, find: impl FnOnce() -> Vec<Fact> + Send + 'static) {
        self.send(Message::Facts(Box::new(find)));
    }

    /// Waits until everything so far is on disk, where others can read it.
    pub fn commit(&self) {
        let (done, wait) = sync_channel(1);
        self.send(Message::Commit(done));
        self.wait(&wait, "writing `run.db`");
    }

    /// Writes the summary and what is left; what could not be written, if anything.
    pub fn finish(&self, run: &Run) -> Vec<Error> {
        self.fact("summary", wryneck_report::json::value(run).to_string());
        self.fact("status", if run.status == wryneck_report::Status::Complete { "complete".into() } else { "stopped".into() });
        self.close();
        if let Err(error) = write_info(&self.path, run) {
            self.state.fail(format!("{error:#}"));
        }
        let failures = self.state.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter().map(|why| Error::msg(why.clone())).collect()
    }

    /// Lets the writer write what waits, and waits for it. What is sent later is lost.
    pub fn close(&self) {
        let (done, wait) = sync_channel(1);
        self.send(Message::End(done));
        self.wait(&wait, "writing `run.db`");
    }

    /// Waits for an answer as long as the run may go on, and may wait for the disk. A writer that failed answers by hanging up.
    fn wait(&self, answer: &std::sync::mpsc::Receiver<()>, what: &str) {
        const LOOK: Duration = Duration::from_millis(20);
        /// What a writer gets in any case.
        const LEAST: Duration = Duration::from_millis(400);
        let start = Instant::now();
        disk::wait(|| {
            while answer.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if let Some(cause) = budget::over_for_good().filter(|_| start.elapsed() > LEAST) {
                    return self.state.fail(format!("{what} was not awaited: {}", cause.shown()));
                }
            }
        });
    }

    fn send(&self, message: Message) {
        self.send_paths();
        self.enqueue(message);
    }

    fn send_paths(&self) {
        let paths = std::mem::take(&mut *self.paths.lock().unwrap_or_else(PoisonError::into_inner));
        if !paths.is_empty() {
            self.enqueue(Message::Paths(paths));
        }
    }

    fn enqueue(&self, message: Message) {
        // A writer that failed has hung up; `finish` tells why.
        allocator::undisturbed(|| {
            if let Err(TrySendError::Full(message)) = self.queue.try_send(message) {
                disk::wait(|| _ = self.queue.send(message));
            }
        });
    }
}

fn write_info(path: &Path, run: &Run) -> Result<()> {
    let mut text = Vec::new();
    let command: Vec<_> = run.command.iter().map(|w| wryneck_report::units::shell_word(w)).collect();
    text.extend(format!("{}\n\n", command.join(" ")).bytes());
    wryneck_report::terminal::write(&mut text, run)?;
    write_file(&path.join("info"), &text)
}

fn database_unwritable(folder: &Path) -> String {
    format!("cannot write `{}`; is the disk full?", folder.join("run.db").display())
}

fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    let help = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => "free some room, or give a folder on another disk by `--output DIR`",
        _ => "give a folder that can be written by `--output DIR`",
    };
    problem(format!("cannot write `{}`: {error}", path.display()), help)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    made.map_err(|e| unwritable(path, &e))
}
