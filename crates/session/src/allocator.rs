//! The allocator: mimalloc ([`heap`](crate::heap)), which can hold the thread that explores.
//!
//! Where memory runs out in the middle of one long operation, the watchdog ends the run (`watchdog.rs`). While it tells what is known, the exploring
//! thread must not go on to use memory: from then on it stops at its next request for some, outside of any lock of the allocator's. Where it has a lock that
//! the end needs, it asks to be left [`undisturbed`]. Cost: one load of a flag for each request.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mimalloc::MiMalloc;

/// The allocator behind a gate.
pub struct Gated;

static HELD: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread stops when [`hold`] says so, and how many parts of its work it is in that must go on.
    static EXPLORES: Cell<bool> = const { Cell::new(false) };
    static UNDISTURBED: Cell<u32> = const { Cell::new(0) };
}

/// This thread is the one to be held.
pub fn may_be_held() {
    EXPLORES.set(true);
}

/// From now on the exploring thread stops at its next request for memory.
pub fn hold() {
    HELD.store(true, Ordering::Relaxed);
}

/// Does a part of the exploring thread's work without stopping inside of it.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    UNDISTURBED.set(UNDISTURBED.get() + 1);
    let done = work();
    UNDISTURBED.set(UNDISTURBED.get() - 1);
    done
}

#[inline]
fn pass() {
    if HELD.load(Ordering::Relaxed) {
        stop();
    }
}

#[cold]
fn stop() {
    // Not asked of a thread whose variables are gone: it ends anyway.
    let held = EXPLORES.try_with(Cell::get).unwrap_or(false) && UNDISTURBED.try_with(Cell::get).unwrap_or(1) == 0;
    if held {
        // For ever: the process ends meanwhile.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

// SAFETY: every request goes to the allocator as it is.
unsafe impl GlobalAlloc for Gated {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        pass();
        // SAFETY: as the caller promised.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        pass();
        // SAFETY: as the caller promised.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        pass();
        // SAFETY: as the caller promised.
        unsafe { MiMalloc.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }
}
