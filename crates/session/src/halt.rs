//! When the exploration of a run is to end, as all its workers see it: the only clock of a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wryneck_exec::Limit;
use wryneck_solver::Stop;

use crate::{signal, usage};

/// Limits of a whole run.
const LIMITS: [Limit; 6] = [Limit::Interrupted, Limit::Time, Limit::Memory, Limit::Disk, Limit::Goal, Limit::Instructions];

/// Shared by the collector, which sets it, and the workers, which ask it.
#[derive(Clone)]
pub struct Halt(Arc<Inner>);

struct Inner {
    begin: Instant,
    /// Nanoseconds after `begin`; the largest number: never.
    deadline: AtomicU64,
    /// One more than the place in [`LIMITS`] of the limit that ended it; 0: none has.
    ended_by: AtomicU8,
}

impl Halt {
    /// Without a deadline for now.
    pub fn new() -> Halt {
        Halt(Arc::new(Inner { begin: Instant::now(), deadline: AtomicU64::new(u64::MAX), ended_by: AtomicU8::new(0) }))
    }

    /// From now on the exploration ends then.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        let after = |at: Instant| u64::try_from(at.saturating_duration_since(self.0.begin).as_nanos()).unwrap_or(u64::MAX);
        self.0.deadline.store(deadline.map_or(u64::MAX, after), Ordering::Relaxed);
    }

    /// The exploration ends now, because of this limit of the run.
    pub fn end(&self, limit: Limit) {
        let place = LIMITS.iter().position(|other| *other == limit).unwrap_or(0);
        self.0.ended_by.store(place as u8 + 1, Ordering::Relaxed);
    }

    /// The limit that ended the exploration, if it has ended.
    pub fn ended_by(&self) -> Option<Limit> {
        let place = usize::from(self.0.ended_by.load(Ordering::Relaxed)).checked_sub(1)?;
        LIMITS.get(place).copied()
    }

    /// Whether the deadline has come by `now`.
    pub fn is_late(&self, now: Instant) -> bool {
        let deadline = self.0.deadline.load(Ordering::Relaxed);
        deadline != u64::MAX && now.saturating_duration_since(self.0.begin) >= Duration::from_nanos(deadline)
    }

    /// The limit that ended the exploration, or that is to end it now.
    pub fn ends_by(&self) -> Option<Limit> {
        let now = || {
            let limits = [(signal::interrupted(), Limit::Interrupted), (usage::memory_is_over(), Limit::Memory)];
            let met = limits.into_iter().find(|(met, _)| *met).map(|(_, limit)| limit);
            met.or_else(|| self.is_late(Instant::now()).then_some(Limit::Time))
        };
        self.ended_by().or_else(now)
    }

    /// A signal that comes with an interrupt, with the limits of the run, and after this time.
    pub fn signal(&self, after: Option<Duration>) -> Stop {
        let (halt, until) = (self.clone(), after.map(|time| Instant::now() + time));
        Stop::when(move || until.is_some_and(|until| Instant::now() >= until) || halt.ends_by().is_some())
    }
}

impl Default for Halt {
    fn default() -> Halt {
        Halt::new()
    }
}
