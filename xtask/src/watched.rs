//! A process that is watched while it runs: the memory that it and its children have, and which children those are.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// What was seen of a process that has ended.
pub struct Seen {
    pub output: Output,
    pub seconds: f64,
    /// Most resident memory of the process with its children, in bytes.
    pub peak: u64,
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Result<Seen> {
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start the command")?;
    let (id, peak, done) = (child.id(), AtomicU64::new(0), AtomicBool::new(false));
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(memory(id, &tree(id)), Ordering::Relaxed);
                thread::sleep(LOOK);
            }
        });
        let output = child.wait_with_output();
        done.store(true, Ordering::Relaxed);
        output
    })?;
    Ok(Seen { output, seconds: start.elapsed().as_secs_f64(), peak: peak.into_inner() })
}

/// A process, known for good: its number may be another's later.
pub type Process = (u32, u64);

/// A process and its children's children.
pub fn tree(id: u32) -> BTreeSet<Process> {
    let (mut open, mut all) = (vec![id], BTreeSet::new());
    while let Some(id) = open.pop() {
        let Some(began) = began(id) else { continue };
        all.insert((id, began));
        for thread in fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    all
}

/// Bytes of memory of a process and its children together: its resident pages, and those that each child has for itself. A child that has not begun a program of
/// its own shares all pages with its parent, which count once.
pub fn memory(root: u32, processes: &BTreeSet<Process>) -> u64 {
    let pages = |id: u32| fs::read_to_string(format!("/proc/{id}/statm")).ok()?.split(' ').nth(1)?.parse::<u64>().ok();
    let private = |id: u32| {
        let parts = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
        let number = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        parts.lines().filter(|line| line.starts_with("Private_")).map(number).sum::<u64>() * 1024
    };
    let children = processes.iter().filter(|(id, _)| *id != root);
    pages(root).unwrap_or(0) * 4096 + children.map(|(id, _)| private(*id)).sum::<u64>()
}

/// Seconds of processor time of all threads of a process; none if it has ended.
pub fn processor_seconds(id: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // Fields 14 and 15, in ticks; the third is the first after the name.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields.get(11..13)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(ticks as f64 / 100.0)
}

/// Those of the processes that have not ended, with their command lines.
pub fn alive(processes: &BTreeSet<Process>) -> Vec<String> {
    let here = processes.iter().filter(|(id, time)| began(*id) == Some(*time));
    let line = |id: u32| String::from_utf8_lossy(&fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default()).replace('\0', " ");
    here.map(|(id, _)| format!("{id} {}", line(*id))).collect()
}

/// When a process began; none if it has ended, also if nobody has waited for it yet.
fn began(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // Behind the name, which may hold anything: state, and as the 22nd field the time.
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Sends a signal by its name.
pub fn signal(child: &Child, name: &str) -> Result<()> {
    Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().context("cannot start `kill`")?;
    Ok(())
}
