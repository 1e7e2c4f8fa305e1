//! Limited children: tools that read files of unknown origin run with bounds on processor time, memory and wall time, and their
//! crash is an answer. They keep to what is left of the run's own limits ([`crate::budget`]), and end when this process does.

use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::allocator;
use crate::budget::{self, Cause};
use crate::problem::problem;

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time and wall time.
    pub time: Duration,
    /// Bytes of address space; `None` where the child reserves more than it uses (sanitizers).
    pub memory: Option<u64>,
    /// Largest file it may write, in bytes.
    pub file: u64,
}

/// How a child ended, and what it wrote.
pub struct Ended {
    pub status: ExitStatus,
    /// It was killed because its wall time was over.
    pub timed_out: bool,
    /// It was killed because a limit of the run was met, or the user asked.
    pub cut: Option<Cause>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Ended {
    /// An error if the run's own limits ended the child, which was to do `what`.
    pub fn check_cut(&self, what: &str) -> anyhow::Result<()> {
        match self.cut {
            Some(cause) => Err(problem(format!("{what} was ended: {}", cause.shown()), cause.help())),
            None => Ok(()),
        }
    }
}

/// Most bytes kept of each of a child's outputs; the rest is read and dropped.
const KEPT: u64 = 16 << 20;
/// Longest pause between two looks at a child.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `command` under `limits` and those of the run, with both outputs captured.
pub fn run(command: &mut Command, limits: Limits) -> io::Result<Ended> {
    limit(command, limits);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let listed = Listed::new(child.id());
    let (status, end) = wait(&mut child, limits.time)?;
    drop(listed);
    let join = |handle: thread::JoinHandle<Vec<u8>>| handle.join().unwrap_or_default();
    let cut = if let End::Cut(cause) = end { Some(cause) } else { None };
    Ok(Ended { status, timed_out: end == End::TimedOut, cut, stdout: join(stdout), stderr: join(stderr) })
}

/// How waiting for a child ended.
#[derive(PartialEq, Eq)]
enum End {
    Itself,
    TimedOut,
    Cut(Cause),
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(KEPT).read_to_end(&mut kept);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        kept
    })
}

/// Waits, with looks that come less and less often, and kills the child's whole group when its time or the run's is over.
fn wait(child: &mut Child, time: Duration) -> io::Result<(ExitStatus, End)> {
    let (start, mut pause) = (Instant::now(), Duration::from_micros(200));
    loop {
        if let Some(status) = child.try_wait()? {
            let timed_out = status.signal() == Some(libc::SIGXCPU);
            return Ok((status, if timed_out { End::TimedOut } else { End::Itself }));
        }
        let end = match budget::over_for_children().or_else(too_much_memory) {
            Some(cause) => End::Cut(cause),
            None if start.elapsed() > time => End::TimedOut,
            None => {
                thread::sleep(pause);
                pause = (pause * 3 / 2).min(LOOK);
                continue;
            }
        };
        // SAFETY: a plain system call; the group is the child's own, made in `limit`, and it has not been waited for yet.
        unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
        return Ok((child.wait()?, end));
    }
}

fn too_much_memory() -> Option<Cause> {
    let most = budget::get()?.memory;
    (memory_of_self() + memory_of_children() > most).then_some(Cause::Memory)
}

fn limit(command: &mut Command, limits: Limits) {
    command.process_group(0);
    let seconds = limits.time.as_secs() + 1;
    let bounds = [
        (libc::RLIMIT_CPU, Some(seconds)),
        (libc::RLIMIT_AS, limits.memory),
        (libc::RLIMIT_FSIZE, Some(limits.file)),
        (libc::RLIMIT_CORE, Some(0)),
    ];
    // SAFETY: between fork and exec only `setrlimit` is called, which is async-signal-safe; `bounds` was made before.
    unsafe {
        command.pre_exec(move || {
            for (resource, bound) in bounds {
                if let Some(bound) = bound {
                    let bound = libc::rlimit { rlim_cur: bound, rlim_max: bound };
                    libc::setrlimit(resource, &bound);
                }
            }
            Ok(())
        });
    }
    bind(command, libc::SIGKILL);
}

/// Has the kernel send a child this signal when the thread that starts it ends, so also when this process is killed. A child that is started just as this process dies
/// sees that and does not begin. Signals that we ignore have their default in the child.
pub fn bind(command: &mut Command, signal: libc::c_int) {
    let lifeline = lifeline();
    // SAFETY: between fork and exec only system calls are made that are async-signal-safe, on values made before.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            libc::prctl(libc::PR_SET_PDEATHSIG, signal);
            if let Some((read, write)) = lifeline {
                // Of this process the other end is open alone; parent process ids say nothing across namespaces.
                libc::close(write);
                let mut poll = libc::pollfd { fd: read, events: 0, revents: 0 };
                libc::poll(&mut poll, 1, 0);
                if poll.revents & libc::POLLHUP != 0 {
                    libc::_exit(127);
                }
            }
            Ok(())
        });
    }
}

/// A pipe whose writing end this process alone has: children see by it whether it lives.
fn lifeline() -> Option<(RawFd, RawFd)> {
    static LIFELINE: OnceLock<Option<(io::PipeReader, io::PipeWriter)>> = OnceLock::new();
    LIFELINE.get_or_init(|| io::pipe().ok()).as_ref().map(|(read, write)| (read.as_raw_fd(), write.as_raw_fd()))
}

/// The children that run now.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A child in the list of those that run.
struct Listed(u32);

impl Listed {
    fn new(id: u32) -> Listed {
        allocator::undisturbed(|| RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(id));
        Listed(id)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| *id != self.0);
    }
}

fn running() -> Vec<u32> {
    allocator::undisturbed(|| RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Kills the groups of all children that run.
pub fn kill_all() {
    for id in running() {
        // SAFETY: a plain system call; the group is the child's own. Where it has just ended there is none, which is no harm.
        unsafe { libc::kill(-(id as libc::pid_t), libc::SIGKILL) };
    }
}

/// Resident memory of this process, in bytes; 0 if the system does not say.
pub fn memory_of_self() -> u64 {
    resident("self")
}

/// Processor time of this thread so far. Zero where the kernel does not count it.
pub fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(0))
}

/// Resident memory of the children that run, and of theirs.
pub fn memory_of_children() -> u64 {
    let mut open: Vec<String> = running().iter().map(u32::to_string).collect();
    let mut bytes = 0;
    while let Some(id) = open.pop() {
        bytes += resident(&id);
        let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().map(str::to_owned));
        }
    }
    bytes
}

fn resident(process: &str) -> u64 {
    let pages = fs::read_to_string(format!("/proc/{process}/statm")).ok();
    let resident = pages.as_deref().and_then(|text| text.split(' ').nth(1)).and_then(|n| n.parse::<u64>().ok());
    resident.unwrap_or(0) * 4096
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: u64) -> Ended {
        let limits = Limits { time: Duration::from_secs(seconds), memory: Some(1 << 30), file: 1000 };
        run(Command::new("sh").args(["-c", script]), limits).expect("there is a shell")
    }

    #[test]
    fn output_and_status_come_back() {
        let ended = shell("echo out; echo err >&2; exit 3", 10);
        assert_eq!((ended.status.code(), &ended.stdout[..], &ended.stderr[..]), (Some(3), &b"out\n"[..], &b"err\n"[..]));
        assert!(!ended.timed_out);
    }

    #[test]
    fn time_and_file_size_are_bounded() {
        let start = Instant::now();
        assert!(shell("sleep 30 & sleep 30", 1).timed_out);
        assert!(start.elapsed() < Duration::from_secs(20));
        let dir = tempfile::tempdir().expect("there is room");
        let file = dir.path().join("big");
        let ended = shell(&format!("head -c 5000 /dev/zero > {}", file.display()), 10);
        assert_ne!(ended.status.code(), Some(0));
        assert!(std::fs::metadata(&file).expect("it was begun").len() <= 1000);
    }

    /// The thread that starts a child stands for this process: the kernel cannot tell its end from that of the whole.
    #[test]
    fn children_end_with_who_started_them() {
        let started = thread::spawn(|| {
            let mut command = Command::new("sleep");
            bind(command.arg("600"), libc::SIGKILL);
            command.spawn().expect("there is a `sleep`")
        });
        let mut child = started.join().expect("it starts a child");
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the child lives on");
            thread::sleep(LOOK);
        };
        assert_eq!(status.signal(), Some(libc::SIGKILL));
    }
}
