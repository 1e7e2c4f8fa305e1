//! The limits of this process: its time and memory, set once where a command begins, and how much of them is left.
//!
//! Process-wide, as signals are: tools that run as children deep inside other work must keep to the same limits. A run that meets a limit of time or
//! an interrupt may go on for [`AFTER`] to tell what it found; whatever still runs then is ended by the watchdog (`watchdog.rs`). The time that it waits
//! for the disk meanwhile does not count ([`crate::disk`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wryneck_report::units;
use wryneck_solver::Stop;

use crate::{disk, signal};

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub began: Instant,
    /// Wall time, start-up and replays included.
    pub time: Option<Duration>,
    /// Bytes of resident memory, those of children included.
    pub memory: u64,
}

/// How long a run may go on after its time is over or it was interrupted, to end its work in good order.
pub const AFTER: Duration = Duration::from_millis(800);

static BUDGET: OnceLock<Budget> = OnceLock::new();

/// Sets the limits of this process. Later calls change nothing.
pub fn begin(budget: Budget) {
    let _ = BUDGET.set(budget);
}

/// The limits, if the command has any.
pub fn get() -> Option<&'static Budget> {
    BUDGET.get()
}

/// When the time of the run is over.
pub fn deadline() -> Option<Instant> {
    get().and_then(|b| b.began.checked_add(b.time?))
}

/// How long ago the run's time was over or it was interrupted, whichever was first.
pub fn over_by() -> Duration {
    let late = deadline().map(|deadline| Instant::now().saturating_duration_since(deadline));
    late.max(signal::interrupted_for()).unwrap_or_default()
}

/// Whether the run has ended its main work and tells what it found.
static ENDING: AtomicBool = AtomicBool::new(false);

/// From now on work that is begun has [`AFTER`] more to end in.
pub fn ends() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Whether children have to end now: in the end a little earlier than everything else, since what they did is still to be told.
pub fn over_for_children() -> Option<Cause> {
    over_since(if ENDING.load(Ordering::Relaxed) { AFTER / 4 * 3 } else { Duration::ZERO })
}

/// A signal that this part (of 1) of the time that is left is over, or that the run is.
pub fn share(part: f64) -> Stop {
    let now = Instant::now();
    let left = deadline().map(|deadline| (deadline + AFTER).saturating_duration_since(now).mul_f64(part));
    Stop::when(move || over_since(AFTER.mul_f64(part)).is_some() || left.is_some_and(|left| now.elapsed() >= left))
}

/// What ends the work of a run before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Time,
    Memory,
    Interrupted,
}

impl Cause {
    /// The limit as messages name it, with its value.
    pub fn shown(self) -> String {
        let time = get().and_then(|b| b.time).map_or(String::new(), |time| format!(" ({})", units::seconds(time.as_secs_f64())));
        let memory = get().map_or(String::new(), |b| format!(" ({})", units::bytes(b.memory)));
        match self {
            Cause::Time => format!("time limit{time}"),
            Cause::Memory => format!("memory limit{memory}"),
            Cause::Interrupted => "interrupted".into(),
        }
    }

    /// What the user can do about it.
    pub fn help(self) -> &'static str {
        match self {
            Cause::Time => "allow more by `--max-time TIME`",
            Cause::Memory => "allow more by `--max-memory SIZE`",
            Cause::Interrupted => "",
        }
    }
}

/// Whether the run's time is over or it was interrupted: new work is not begun.
pub fn over() -> Option<Cause> {
    over_since(Duration::ZERO)
}

/// The same, with the time that a run has to end its work in good order.
pub fn over_for_good() -> Option<Cause> {
    over_since(AFTER)
}

/// The same, with so much time. From [`AFTER`] on the run may wait for the disk, too.
pub fn over_since(grace: Duration) -> Option<Cause> {
    let grace = if grace < AFTER { grace } else { grace + disk::waited() };
    if signal::interrupted_for().is_some_and(|time| time >= grace) {
        return Some(Cause::Interrupted);
    }
    deadline().is_some_and(|deadline| Instant::now() >= deadline + grace).then_some(Cause::Time)
}
