//! The limits of a run, over all its workers.

use std::time::{Duration, Instant};

use wryneck_exec::Limit;

use crate::halt::Halt;
use crate::{budget, left, signal, usage};

/// When to stop.
#[derive(Clone)]
pub struct Limits {
    /// When the exploration ends; earlier once there is something to replay.
    pub halt: Halt,
    /// All that the run may take.
    pub time: Option<Duration>,
    /// Instructions over all paths and workers.
    pub instructions: u64,
    /// Findings are replayed.
    pub replays: bool,
}

impl Limits {
    /// Time that replays get of the run's: to build the program natively, longer in a long run, where it is little beside, and for each finding, but
    /// no more than a fifth of it.
    pub(super) fn leave_time_for(&self, findings: usize) {
        const BUILD: Duration = Duration::from_millis(2000);
        const EACH: Duration = Duration::from_millis(150);
        if let Some((end, time)) = budget::deadline().zip(self.time).filter(|_| self.replays) {
            let each = EACH.saturating_mul(u32::try_from(findings).unwrap_or(u32::MAX));
            let build = BUILD.max(time / 40);
            self.halt.set_deadline(end.checked_sub(build.saturating_add(each).min(time / 5)));
        }
    }

    /// Time that is left to write so many pending paths: no more than a fifth of the run's.
    fn time_for(&self, pending: usize) -> Duration {
        left::cost(pending).min(self.time.unwrap_or_default() / 5)
    }

    /// Which limit is met, but for those of one path.
    pub(super) fn met(&self, now: Instant, pending: usize) -> Option<Limit> {
        match () {
            () if signal::interrupted() => Some(Limit::Interrupted),
            () if self.halt.is_late(now + self.time_for(pending)) => Some(Limit::Time),
            () if usage::memory_is_over() => Some(Limit::Memory),
            () => None,
        }
    }
}
