//! The last line of a run's limits: a thread that watches time and memory, and ends the run where its own work does not.
//!
//! Work ends itself where it can: the exploration, the solver, children and what comes after look at the limits ([`crate::budget`]). One operation may take
//! long all the same, or ask for much memory at once. Then this thread tells what is known ([`end_by`]) and ends the process: the run's summary, its findings
//! and a row of the ledger that names the work that was cut off. Cost: a look at memory takes about 20 µs; looks come the more often the less is left, every
//! 50 ms at least.

use std::fs;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::budget::{self, Budget, Cause};
use crate::problem::{self, problem};
use crate::{allocator, child, disk, scratch};

pub use crate::usage::{look, memory, memory_is_over, memory_trimmed, work, works_on};

/// How long after [`budget::AFTER`] work is cut off.
const LATE: Duration = Duration::from_millis(250);
/// How long telling what is known may take then, and where memory is over, which is not waited for.
const LAST: Duration = Duration::from_millis(600);
const LAST_OF_MEMORY: Duration = Duration::from_millis(1500);
/// What is said where there was no time to tell what is known, and how long that may take on a loaded machine.
const SAID: Duration = Duration::from_millis(200);
const LAST_WORDS: &str = "wryneck was cut off before it had told what is known: the run's folder has what was written by then\n";
/// Longest and shortest pause between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// Bytes a second that memory can grow by at most.
const GROWTH: u64 = 4 << 30;
/// Memory above its limit by this part of it is not waited for.
const ABOVE: u64 = 32;
/// A run that tells its end, perhaps because its memory is over, may take this part of the limit more.
const TELLING: u64 = 8;

/// Who ends the run.
const NOBODY: u8 = 0;
const RUN: u8 = 1;
const WATCHDOG: u8 = 2;
static ENDED_BY: AtomicU8 = AtomicU8::new(NOBODY);
/// Bytes that were in use when the run began to tell its end.
static AT_END: AtomicU64 = AtomicU64::new(0);

/// Tells what is known and gives the exit code.
type End = Box<dyn Fn(Cause, &str) -> u8 + Send + Sync>;
static END: OnceLock<End> = OnceLock::new();

/// Watches the limits of this process from now on. To be called by the thread that explores.
pub fn start(budget: Budget) {
    budget::begin(budget);
    allocator::may_be_held();
    thread::spawn(move || {
        loop {
            let left = look(budget.memory);
            if let Some(cause) = to_be_cut() {
                cut(cause);
            }
            thread::sleep(Duration::from_secs_f64(left as f64 / GROWTH as f64).clamp(PAUSE.0, PAUSE.1));
        }
    });
}

/// From now on the end is told by `end`, if it comes from here.
pub fn end_by(end: impl Fn(Cause, &str) -> u8 + Send + Sync + 'static) {
    let _ = END.set(Box::new(end));
}

/// The run tells its end itself from now on. Does not return if the watchdog already does.
pub fn run_ends() {
    AT_END.store(memory(), Ordering::Release);
    if ENDED_BY.compare_exchange(NOBODY, RUN, Ordering::AcqRel, Ordering::Acquire) == Err(WATCHDOG) {
        loop {
            thread::sleep(LAST);
        }
    }
}

fn to_be_cut() -> Option<Cause> {
    let most = |limit: u64| match ENDED_BY.load(Ordering::Acquire) {
        RUN => limit.max(AT_END.load(Ordering::Acquire)).saturating_add(limit / TELLING),
        _ => limit.saturating_add(limit / ABOVE),
    };
    let memory = || budget::get().is_some_and(|b| memory() > most(b.memory)).then_some(Cause::Memory);
    budget::over_since(budget::AFTER + LATE).or_else(memory)
}

/// Ends the process.
fn cut(cause: Cause) -> ! {
    let work = work();
    // Where even this does not end, a reader of the output does not read.
    let last = if cause == Cause::Memory { LAST_OF_MEMORY } else { LAST };
    thread::spawn(move || {
        let start = Instant::now();
        let waited = disk::waited();
        while start.elapsed() < last + disk::waited().saturating_sub(waited) {
            thread::sleep(PAUSE.1);
        }
        // Standard error may be locked, and may not be read.
        let words = thread::spawn(|| {
            fs::File::options().append(true).open("/dev/stderr").map(|mut stderr| stderr.write_all(LAST_WORDS.as_bytes()))
        });
        let start = Instant::now();
        while !words.is_finished() && start.elapsed() < SAID {
            thread::sleep(PAUSE.0);
        }
        exit(2)
    });
    let mine = ENDED_BY.compare_exchange(NOBODY, WATCHDOG, Ordering::AcqRel, Ordering::Acquire).is_ok();
    if cause == Cause::Memory {
        allocator::hold();
    }
    child::kill_all();
    match END.get().filter(|_| mine) {
        Some(end) => {
            let code = end(cause, &work);
            scratch::remove_own();
            exit(code)
        }
        None => {
            problem::print(&problem(format!("{work} was cut off: {}", cause.shown()), cause.help()));
            scratch::remove_own();
            exit(2)
        }
    }
}

/// Ends the process at once: other threads are in the middle of their work.
fn exit(code: u8) -> ! {
    // SAFETY: ends the process; what was printed has been flushed.
    unsafe { libc::_exit(code.into()) }
}
