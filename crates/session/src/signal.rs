//! Signals: the first Ctrl-C or request to terminate ends the run cleanly, the second one kills as usual; files that grow too large are errors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// When the first interrupt came: nanoseconds of the monotonic clock; 0 if none has.
static INTERRUPTED: AtomicU64 = AtomicU64::new(0);

/// A second signal that comes so soon is no second request: `timeout` sends one to its child and one to the group that the child is in.
const SAME: Duration = Duration::from_millis(300);

extern "C" fn interrupt(signal: libc::c_int) {
    let now = now().max(1);
    match INTERRUPTED.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if Duration::from_nanos(now.saturating_sub(first)) > SAME => {
            // SAFETY: both calls are async-signal-safe; no handler of ours runs after them.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        Ok(_) | Err(_) => {}
    }
}

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is what the call fills; it is async-signal-safe.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// From now on an interrupt or a request to terminate is noted; another one kills.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: `action` is a plain C struct for which zero is valid; the handler makes async-signal-safe calls alone.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = interrupt as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// A limit on the size of files (`ulimit -f`) is an error of writing instead of the end of the process. Children get the default back (`child.rs`).
pub fn files_may_be_too_large() {
    // SAFETY: sets how one signal is handled; no handler of ours runs.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) != 0
}

/// How long ago the first interrupt came.
pub fn interrupted_for() -> Option<Duration> {
    let at = INTERRUPTED.load(Ordering::Relaxed);
    (at != 0).then(|| Duration::from_nanos(now().saturating_sub(at)))
}
