//! Limited children: tools that read files of unknown origin run with bounds on processor time, memory and wall time, and their
//! crash is an answer.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

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
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Most bytes kept of each of a child's outputs; the rest is read and dropped.
const KEPT: u64 = 16 << 20;

/// Runs `command` under `limits`, with both outputs captured.
pub fn run(command: &mut Command, limits: Limits) -> io::Result<Ended> {
    limit(command, limits);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let (status, timed_out) = wait(&mut child, limits.time)?;
    let join = |handle: thread::JoinHandle<Vec<u8>>| handle.join().unwrap_or_default();
    Ok(Ended { status, timed_out, stdout: join(stdout), stderr: join(stderr) })
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

/// Waits, with looks that come less and less often, and kills the child's whole group when its time is over.
fn wait(child: &mut Child, time: Duration) -> io::Result<(ExitStatus, bool)> {
    let (start, mut pause) = (Instant::now(), Duration::from_micros(200));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, status.signal() == Some(libc::SIGXCPU)));
        }
        if start.elapsed() > time {
            // SAFETY: a plain system call; the group is the child's own, made in `limit`, and it has not been waited for yet.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            return Ok((child.wait()?, true));
        }
        thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(20));
    }
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
}
