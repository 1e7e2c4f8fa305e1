//! What this process uses and does: resident memory at the last look, and the work that it is in. The watchdog of a command looks often; without one nobody
//! does, and memory counts as 0.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{allocator, child, heap};

static PEAK: AtomicU64 = AtomicU64::new(0);
static LATEST: AtomicU64 = AtomicU64::new(0);
static MEMORY_IS_OVER: AtomicBool = AtomicBool::new(false);
/// What the run does now, in words that fit before "was cut off".
static WORK: Mutex<Cow<'static, str>> = Mutex::new(Cow::Borrowed("the start"));

/// Names the work that begins.
pub fn works_on(work: impl Into<Cow<'static, str>>) {
    let work = work.into();
    allocator::undisturbed(|| *WORK.lock().unwrap_or_else(PoisonError::into_inner) = work);
}

/// The work that began last.
pub fn work() -> Cow<'static, str> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Most resident memory seen, in bytes, that of children included.
pub fn peak() -> u64 {
    look(u64::MAX);
    PEAK.load(Ordering::Relaxed)
}

/// Resident memory, in bytes; 0 without a watchdog.
pub fn memory() -> u64 {
    if LATEST.load(Ordering::Relaxed) > 0 {
        LATEST.store(child::memory_of_self(), Ordering::Relaxed);
    }
    LATEST.load(Ordering::Relaxed)
}

/// The same once freed memory is returned to the system.
pub fn memory_trimmed() -> u64 {
    heap::trim();
    memory()
}

/// Whether the limit of memory was met.
pub fn memory_is_over() -> bool {
    MEMORY_IS_OVER.load(Ordering::Relaxed)
}

/// Looks at memory, of which `most` may be used; how many bytes are left.
pub fn look(most: u64) -> u64 {
    let own = child::memory_of_self();
    let all = own + child::memory_of_children();
    LATEST.store(own, Ordering::Relaxed);
    PEAK.fetch_max(all, Ordering::Relaxed);
    // Children that use too much are ended by who waits for them.
    if own > most {
        MEMORY_IS_OVER.store(true, Ordering::Relaxed);
    }
    most.saturating_sub(own)
}
