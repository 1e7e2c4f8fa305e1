//! What a running program uses: processes, memory, disk, as `/proc` and statvfs(3) tell.

use std::ffi::{CString, OsStr};
use std::fs;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::{Limit, Limits};

/// A page, in bytes.
const PAGE: u64 = 4096;
/// What is left to the rest of the machine of its memory: this part, and at most so many bytes.
const SPARED: (u64, u64) = (32, 256 << 20);

/// Knows a program's processes, and how much room there was when it began.
pub(crate) struct Usage {
    /// The program's own `/proc`.
    pub(crate) proc: Option<OwnedFd>,
    /// Whether there is to be one.
    namespaces: bool,
    init: libc::pid_t,
    work: CString,
    free: Option<u64>,
}

impl Usage {
    pub(crate) fn new(namespaces: bool, init: libc::pid_t, work: &CString) -> Usage {
        Usage { proc: None, namespaces, init, work: work.clone(), free: if namespaces { None } else { free(work) } }
    }

    /// The limit that is reached, if one is.
    pub(crate) fn excess(&self, limits: &Limits) -> Option<Limit> {
        if limits.memory == u64::MAX {
            return None;
        }
        let processes = self.processes(limits.processes);
        if processes.len() > limits.processes {
            return Some(Limit::Processes);
        }
        let resident: u64 = processes.iter().map(|process| resident(process)).sum();
        // What processes share was counted for each.
        if resident > limits.memory && processes.iter().map(|process| proportional(process)).sum::<u64>() > limits.memory {
            return Some(Limit::Memory);
        }
        if memory_is_short() {
            return Some(Limit::Memory);
        }
        let used = self.free.and_then(|before| Some(before.saturating_sub(free(&self.work)?)));
        used.is_some_and(|used| used > limits.disk).then_some(Limit::Disk)
    }

    /// The folders in `/proc` of the program's processes; not many more than `most`.
    pub(crate) fn processes(&self, most: usize) -> Vec<PathBuf> {
        match (&self.proc, self.namespaces) {
            (Some(proc), _) => {
                let proc = PathBuf::from(format!("/proc/self/fd/{}", proc.as_raw_fd()));
                let number = |name: &OsStr| name.to_str().and_then(|name| name.parse::<u32>().ok());
                let entries = fs::read_dir(&proc).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
                // The first is the init.
                entries.filter(|name| number(name).is_some_and(|pid| pid > 1)).map(|name| proc.join(name)).collect()
            }
            (None, true) => Vec::new(),
            (None, false) => {
                let mut found = vec![self.init.to_string()];
                let mut next = 0;
                while next < found.len() && found.len() <= most + 1 {
                    let tasks = fs::read_dir(format!("/proc/{}/task", found[next])).into_iter().flatten();
                    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
                    let children: Vec<String> =
                        lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
                    found.extend(children);
                    next += 1;
                }
                found.split_off(1).into_iter().map(|pid| Path::new("/proc").join(pid)).collect()
            }
        }
    }
}

/// The resident memory of a process, in bytes.
fn resident(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("statm")).unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages.saturating_mul(PAGE))
}

/// The same, where what is shared counts in parts; where that cannot be read, all of it.
fn proportional(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("smaps_rollup")).unwrap_or_default();
    number_after(&text, "Pss:").map_or_else(|| resident(process), |kilobytes| kilobytes.saturating_mul(1024))
}

fn memory_is_short() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let (total, available) = (number_after(&text, "MemTotal:"), number_after(&text, "MemAvailable:"));
    let spared = |total: u64| (total / SPARED.0).min(SPARED.1 / 1024);
    total.zip(available).is_some_and(|(total, available)| available < spared(total))
}

/// How many processes the kernel has killed because memory ran out.
pub(crate) fn killed_for_memory() -> Option<u64> {
    number_after(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

/// The number in the line that begins so.
fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// Free bytes where a folder is.
fn free(work: &CString) -> Option<u64> {
    // SAFETY: zero is valid for the structure; it and the string live through the call.
    unsafe {
        let mut about: libc::statvfs = mem::zeroed();
        (libc::statvfs(work.as_ptr(), &raw mut about) == 0).then(|| about.f_bavail.saturating_mul(about.f_frsize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_their_names() {
        assert_eq!(number_after("Rss: 5 kB\nPss:     12 kB\n", "Pss:"), Some(12));
        assert_eq!(number_after("oom_kill 3\n", "oom_kill "), Some(3));
        assert_eq!(number_after("", "Pss:"), None);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(resident(Path::new("/proc/self")) > 0 && proportional(Path::new("/proc/self")) > 0);
    }
}
