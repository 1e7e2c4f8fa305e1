//! Child processes, with what went wrong in words: the command, its exit, and the end of what it said.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context, Result, bail};

/// How many lines of a failed command's output are shown.
const SHOWN: usize = 15;

/// Runs `command` to its end and returns what it wrote to its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let out = command.output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    check(command, &out)?;
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs `command` to its end, whatever that is; how many seconds of processor time it took. Nothing else may end meanwhile.
pub fn timed(command: &mut Command) -> Result<(Output, f64)> {
    let before = of_children()?;
    let done = command.output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    Ok((done, of_children()? - before))
}

/// Seconds of processor time of the children that have ended, as the kernel counts it in hundredths.
pub fn of_children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Behind the name, which may hold anything: the 16th and 17th fields of the line.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |field: usize| fields.get(field - 3).and_then(|text| text.parse::<f64>().ok()).context("/proc/self/stat is not as expected");
    Ok((ticks(16)? + ticks(17)?) / 100.0)
}

/// Runs `command` to its end with both its outputs in the file `log`, whose end an error shows.
pub fn logged(command: &mut Command, log: &Path) -> Result<()> {
    let file = fs::File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let status = command.stdout(file.try_clone()?).stderr(file).status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        let text = fs::read(log).unwrap_or_default();
        bail!("`{}` failed ({status}), log in `{}`:\n{}", shown(command), log.display(), tail(&text));
    }
    Ok(())
}

/// Calls `job` on every item, on as many threads as the machine has cores; the first error in item order is returned.
pub fn parallel<T: Sync>(items: &[T], job: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    parallel_on(thread::available_parallelism().map_or(1, usize::from), items, job)
}

/// The same on so many threads.
pub fn parallel_on<T: Sync>(workers: usize, items: &[T], job: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let mut errors = thread::scope(|scope| {
        let work = || {
            let mut errors = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(item) = items.get(index)
            {
                errors.extend(job(item).err().map(|error| (index, error)));
            }
            errors
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|h| h.join().expect("jobs return their errors")).collect::<Vec<_>>()
    });
    errors.sort_by_key(|(index, _)| *index);
    errors.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
}

fn check(command: &Command, out: &Output) -> Result<()> {
    if !out.status.success() {
        bail!("`{}` failed ({}):\n{}", shown(command), out.status, tail(&out.stderr));
    }
    Ok(())
}

/// The command as one would type it, cut to a line that can be read.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut line = words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(400) {
        line.truncate(end);
        line.push('…');
    }
    line
}

fn tail(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
