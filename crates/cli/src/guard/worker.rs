//! The process that verifies: started by the one that is to become the program, and bound to it unless it works in the background.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::verify::{self, Reply, Request};
use crate::problem::problem;
use crate::seal;

/// The word that makes a `wryneck guard` the worker; a descriptor's number comes next.
pub const WORD: &str = "--worker";
/// Beyond its own limits, a worker that hangs is ended after this time.
const GRACE: Duration = Duration::from_secs(10);
/// Most bytes of a request or a reply.
const MOST: u64 = 64 << 20;

/// What was asked for, and later what is replied: a file in memory, which a child inherits.
fn shared(request: &Request) -> Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("wryneck-guard", rustix::fs::MemfdFlags::empty())?);
    file.write_all(&serde_json::to_vec(request)?)?;
    file.rewind()?;
    Ok(file)
}

fn command(file: &File) -> Result<Command> {
    let own = std::env::current_exe().context("cannot find this executable")?;
    let mut command = Command::new(own);
    command.args(["guard", WORD, &file.as_raw_fd().to_string()]).stdin(Stdio::null());
    // What it has to say is in the reply: the streams are the program's.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Verifies in a child, which ends with this process, and waits for it.
pub fn wait_for(request: &Request) -> Result<Reply> {
    let mut file = shared(request)?;
    let mut command = command(&file)?;
    let parent = std::process::id();
    // SAFETY: between fork and exec only system calls are made that are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 != parent {
                libc::_exit(127);
            }
            Ok(())
        });
    }
    let mut child = command.spawn().context("cannot start the verification")?;
    let most = Duration::from_secs_f64(request.time.min(1e6)) + verify::WRITING + GRACE;
    let Some(status) = ended_within(&mut child, most)? else {
        return Ok(Reply { first: "the verification did not end in time".into(), ..Reply::default() });
    };
    let mut text = Vec::new();
    file.rewind()?;
    Read::take(&mut file, MOST).read_to_end(&mut text)?;
    match serde_json::from_slice::<Reply>(&text) {
        Ok(reply) => Ok(reply),
        // It ended without a word.
        Err(_) if status.success() => Err(problem("the verification gave no answer", "")),
        Err(_) => Ok(Reply { first: format!("the verification ended early ({status})"), ..Reply::default() }),
    }
}

/// How the child ended; `None`: it had to be killed when this time was over.
fn ended_within(child: &mut Child, most: Duration) -> Result<Option<ExitStatus>> {
    let pid = rustix::process::Pid::from_child(child);
    if let Ok(pidfd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        let mut watched = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let limit = most.as_millis().try_into().unwrap_or(i32::MAX);
        // SAFETY: one descriptor is looked at, which is open until the end of this block.
        if unsafe { libc::poll(&raw mut watched, 1, limit) } == 0 {
            child.kill().and_then(|()| child.wait()).context("cannot end the verification")?;
            return Ok(None);
        }
    }
    child.wait().map(Some).context("cannot wait for the verification")
}

/// Verifies in a process that nobody waits for: it has no parent of ours, no terminal, and none of the program's streams.
pub fn detach(request: &Request) -> Result<()> {
    let file = shared(request)?;
    let mut command = command(&file)?;
    // SAFETY: as above; the process between ends at once, so the worker is nobody's child that the program could wait for.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            match libc::fork() {
                0 => Ok(()),
                -1 => Err(std::io::Error::last_os_error()),
                _ => libc::_exit(0),
            }
        });
    }
    // The start waits for the second process, too: both hold the pipe that tells errors of it.
    command.status().context("cannot start the verification in the background")?;
    Ok(())
}

/// The worker itself; the exit code.
pub fn work(words: &[String]) -> Result<u8> {
    let fd: i32 = words
        .first()
        .and_then(|fd| fd.parse().ok())
        .filter(|fd| *fd > 2)
        .ok_or_else(|| problem(format!("`{WORD}` is for the tool itself"), ""))?;
    // SAFETY: the descriptor was inherited for this; nothing else of this process knows it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    let mut text = Vec::new();
    Read::take(&mut file, MOST).read_to_end(&mut text).context("cannot read what is to be verified")?;
    let request: Request = serde_json::from_slice(&text).context("cannot read what is to be verified")?;
    let key = seal::user_key()?;
    let reply = verify::verify(request, key);
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => Reply { first: format!("cannot be verified: {error:#}"), ..Reply::default() },
    };
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(&reply)?)?;
    Ok(0)
}
