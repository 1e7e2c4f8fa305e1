//! Waiting for a slow disk: what a run has found is not given up because its time is over, so this time is not counted as the run's.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::budget;

/// Most that a run may wait after its end.
const MOST: Duration = Duration::from_secs(20);

/// Who waits, and how long was waited after the run's end.
#[derive(Default)]
struct Waits {
    waiting: u32,
    since: Option<Instant>,
    ended: Duration,
}

static WAITS: Mutex<Waits> = Mutex::new(Waits { waiting: 0, since: None, ended: Duration::ZERO });

fn waits() -> MutexGuard<'static, Waits> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Waits {
    /// How long was waited after the run's end, which was this long ago.
    fn late(&self, over: Duration) -> Duration {
        let now = self.since.map_or(Duration::ZERO, |since| since.elapsed().min(over));
        (self.ended + now).min(MOST)
    }
}

/// Does something that waits for the disk.
pub fn wait<T>(work: impl FnOnce() -> T) -> T {
    let mut all = waits();
    all.waiting += 1;
    all.since.get_or_insert_with(Instant::now);
    drop(all);
    let result = work();
    let over = budget::over_by();
    let mut all = waits();
    all.waiting -= 1;
    if all.waiting == 0 {
        all.ended = all.late(over);
        all.since = None;
    }
    result
}

/// How long the run has waited for the disk since its time was over, at most [`MOST`].
pub fn waited() -> Duration {
    let over = budget::over_by();
    waits().late(over)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{MOST, Waits};

    #[test]
    fn what_is_waited_after_the_end_counts_up_to_a_limit() {
        let second = Duration::from_secs(1);
        let since = Instant::now().checked_sub(10 * second);
        let of = |ended, over| Waits { waiting: 1, since, ended }.late(over);
        assert_eq!(of(second, Duration::ZERO), second, "before the end nothing counts");
        assert_eq!(of(second, 3 * second), 4 * second);
        assert_eq!(of(19 * second, 3 * second), MOST);
        assert_eq!(Waits { ended: second, ..Waits::default() }.late(3 * second), second);
    }
}
