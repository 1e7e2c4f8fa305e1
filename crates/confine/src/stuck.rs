//! Whether a program can never go on: each of its threads waits for another one.
//!
//! The threads of a process namespace are known from outside. `/proc/PID/task/TID/syscall` names the system call that a thread waits in, and its
//! arguments. A thread that has not been switched between two looks, and waits in both, did not run between them. If that holds for all
//! threads, then all waited at one time, and nothing inside the namespace can wake any of them.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Of `futex`: the operation without its flags.
const OPERATION: u64 = 0x7f;

/// A thread that waits: its identifier, and how often it has been switched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    thread: PathBuf,
    switches: String,
}

/// All threads of these processes, if there are some and each waits for another one.
pub(crate) fn all_wait(processes: &[PathBuf]) -> Option<Vec<Waiting>> {
    let mut all = Vec::new();
    for process in processes {
        // The signal of a timer ends a wait; those of `setitimer` are not shown.
        if fs::read(process.join("timers")).is_ok_and(|timers| !timers.is_empty()) {
            return None;
        }
        for task in fs::read_dir(process.join("task")).ok()? {
            all.push(waiting(task.ok()?.path(), process)?);
        }
    }
    all.sort_by(|a, b| a.thread.cmp(&b.thread));
    (!all.is_empty()).then_some(all)
}

/// A thread, if it waits for another one without a limit of time.
fn waiting(thread: PathBuf, process: &Path) -> Option<Waiting> {
    let status = fs::read_to_string(thread.join("status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim()));
    let dead = field("State:")?.starts_with('Z');
    // A timer that nothing shows may send it.
    let caught = u64::from_str_radix(field("SigCgt:")?, 16).ok()?;
    if !dead && (caught >> (libc::SIGALRM - 1) & 1 != 0 || !waits(&fs::read_to_string(thread.join("syscall")).ok()?, process)) {
        return None;
    }
    let switches = [field("voluntary_ctxt_switches:")?, field("nonvoluntary_ctxt_switches:")?].join(" ");
    Some(Waiting { thread, switches })
}

/// Whether this line of `/proc/PID/task/TID/syscall` is a call that ends by what another thread does, and by nothing else.
fn waits(line: &str, process: &Path) -> bool {
    let mut words = line.split_whitespace();
    let Some(Ok(call)) = words.next().map(str::parse::<i64>) else { return false };
    let args: Vec<u64> = words.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    let [first, operation, _, time, ..] = args[..] else { return false };
    match call {
        libc::SYS_futex => {
            let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET, libc::FUTEX_LOCK_PI].map(|one| one as u64);
            waits.contains(&(operation & OPERATION)) && time == 0
        }
        libc::SYS_wait4 | libc::SYS_waitid => true,
        libc::SYS_read | libc::SYS_readv | libc::SYS_write | libc::SYS_writev => {
            let file = fs::metadata(process.join("fd").join(first.to_string()));
            file.is_ok_and(|file| file.file_type().is_fifo())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_without_a_limit_of_time_are_known() {
        let process = Path::new("/proc/self");
        let futex = |operation: i32, time: u64| format!("202 0x7f00 {operation:#x} 0x2 {time:#x} 0x0 0xffffffff 0x7ffd 0x7f01");
        assert!(waits(&futex(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, 0), process));
        assert!(waits(&futex(libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME, 0), process));
        assert!(!waits(&futex(libc::FUTEX_WAIT, 0x7ffd_0000), process));
        assert!(!waits(&futex(libc::FUTEX_WAKE, 0), process));
        assert!(!waits("running", process));
        assert!(!waits("-1 0x7ffd 0x7f01", process));
        assert!(!waits("", process));
    }

    #[test]
    fn a_program_that_runs_is_not_stuck() {
        assert_eq!(all_wait(&["/proc/self".into()]), None);
        assert_eq!(all_wait(&[]), None);
    }
}
