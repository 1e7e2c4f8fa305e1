//! The parent's side of a run: starts the init, reads what the program writes, keeps the limits, and takes what the init reports.
//!
//! Memory and processes are counted in the program's own `/proc`, or down from the init, every few milliseconds: address space says
//! nothing of programs under sanitizers, which reserve terabytes, and a control group is rarely ours to make. A limit kills the init, and
//! with it all that the program has started. What a program's grandchildren hold open keeps nobody waiting.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use std::{mem, ptr};

use crate::init::{self, Ends, MOST_FOLDERS, Message};
use crate::plan::Plan;
use crate::stuck::{self, Waiting};
use crate::sys::{self, check};
use crate::usage::{self, Usage};
use crate::{Ended, Failure, Job, Kind, Limit, Limits, Step};

/// Most bytes kept of each of a program's outputs; the rest is read and dropped.
const KEPT: usize = 16 << 20;
/// How often the limits are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// After how many looks at the limits it is looked whether all threads wait.
const RARELY: u32 = 10;
/// How long an init may take to kill what is left, where there is no process namespace.
const PATIENCE: Duration = Duration::from_secs(3);

/// A folder that the program could write, held open since before it began. Can be read until the folder itself is removed.
#[derive(Debug)]
pub struct Collected {
    dir: OwnedFd,
}

impl Collected {
    /// The names in the folder.
    pub fn names(&self) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(format!("/proc/self/fd/{}", self.dir.as_raw_fd())).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect()
    }

    /// The first `most` bytes of a file in the folder, if it is there and a regular file: links are not followed, FIFOs not waited for.
    pub fn read(&self, name: &std::ffi::OsStr, most: u64) -> Option<Vec<u8>> {
        use std::os::unix::ffi::OsStrExt;
        let name = CString::new(name.as_bytes()).ok()?;
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
        // SAFETY: the string lives through the call.
        let fd = check(unsafe { libc::openat(self.dir.as_raw_fd(), name.as_ptr(), flags) }).ok()?;
        // SAFETY: the descriptor was just opened and is nobody else's.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// A running init and what it is connected by.
struct Run<'a> {
    kind: Kind,
    limits: &'a Limits,
    init: libc::pid_t,
    socket: Option<OwnedFd>,
    outputs: [Output; 2],
    /// Ends when the program begins.
    began: Option<OwnedFd>,
    usage: Usage,
    /// How many looks there were, and the threads at the last one that found each waiting.
    looks: u32,
    waiting: Option<Vec<Waiting>>,
    folders: Vec<OwnedFd>,
    ended: Option<(ExitStatus, Duration)>,
    failed: Option<Failure>,
    limit: Option<Limit>,
}

struct Output {
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
}

/// Runs a program; [`crate::Confinement::run`] says how.
pub(crate) fn run(kind: Kind, job: &Job, limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Ended, Failure> {
    let plan = Plan::new(kind, job, limits)?;
    let killed_before = usage::killed_for_memory();
    let mut run = spawn(kind, plan, limits)?;
    run.watch(stop);
    run.end();
    run.result(killed_before)
}

fn spawn(kind: Kind, mut plan: Plan, limits: &Limits) -> Result<Run<'_>, Failure> {
    let failed = |step| move |errno| Failure::new(step, &io::Error::from_raw_os_error(errno));
    let [stdout, their_stdout] = pipe().map_err(failed(Step::Pipes))?;
    let [stderr, their_stderr] = pipe().map_err(failed(Step::Pipes))?;
    let [began, their_began] = pipe().map_err(failed(Step::Pipes))?;
    let [socket, their_socket] = sockets().map_err(failed(Step::Pipes))?;
    let inherits = plan.stdin.is_none();
    let ends = Ends {
        socket: their_socket.as_raw_fd(),
        stdout: if inherits { libc::STDOUT_FILENO } else { their_stdout.as_raw_fd() },
        stderr: if inherits { libc::STDERR_FILENO } else { their_stderr.as_raw_fd() },
        began: their_began.as_raw_fd(),
        stdin: inherits.then_some(libc::STDIN_FILENO),
    };
    let apart =
        libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
    let flags = match kind {
        Kind::Root => apart,
        Kind::User => apart | libc::CLONE_NEWUSER,
        Kind::Plain | Kind::None => 0,
    };
    // No handler of the parent's may run in the child.
    let mask = block_signals();
    // SAFETY: the child makes only system calls on what was made before; it never returns from `init::run`.
    let init = match unsafe { sys::clone(flags) } {
        Ok(0) => init::run(&mut plan, ends),
        other => other,
    };
    // SAFETY: the mask is one that the kernel gave, and lives through the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut()) };
    let init = init.map_err(failed(Step::Namespaces))?;
    let output = |pipe| Output { pipe: Some(pipe), kept: Vec::new() };
    let usage = Usage::new(matches!(kind, Kind::Root | Kind::User), init, &plan.work);
    Ok(Run {
        kind,
        limits,
        init,
        socket: Some(socket),
        outputs: [output(stdout), output(stderr)],
        began: Some(began),
        usage,
        looks: 0,
        waiting: None,
        folders: Vec::new(),
        ended: None,
        failed: None,
        limit: None,
    })
}

impl Run<'_> {
    /// Until the init has gone or a limit is reached.
    fn watch(&mut self, stop: &dyn Fn() -> bool) {
        let start = Instant::now();
        let mut next = start + LOOK;
        while self.socket.is_some() && self.limit.is_none() {
            self.wait(next.saturating_duration_since(Instant::now()));
            self.outputs.iter_mut().for_each(Output::read);
            self.receive();
            let now = Instant::now();
            if self.ended.is_some() || self.failed.is_some() || now < next {
                continue;
            }
            next = now + LOOK;
            self.limit = if stop() {
                Some(Limit::Interrupted)
            } else if now - start > self.limits.time {
                Some(Limit::Time)
            } else {
                self.excess()
            };
        }
    }

    /// The limit on what the program uses that it has reached. Until it begins, its process is a copy of this one.
    fn excess(&mut self) -> Option<Limit> {
        if self.began.as_ref().is_some_and(|pipe| !is_at_end(pipe)) {
            return None;
        }
        self.began = None;
        self.usage.excess(self.limits).or_else(|| self.is_stuck().then_some(Limit::Stuck))
    }

    /// Whether each thread waits for another one, and none has run since the last look.
    fn is_stuck(&mut self) -> bool {
        self.looks += 1;
        if !self.limits.stuck || !self.looks.is_multiple_of(RARELY) {
            return false;
        }
        let before = mem::take(&mut self.waiting);
        self.waiting = self.usage.proc.is_some().then(|| stuck::all_wait(&self.usage.processes(self.limits.processes))).flatten();
        self.waiting.is_some() && self.waiting == before
    }

    /// Waits for news.
    fn wait(&self, time: Duration) {
        let pipes = self.outputs.iter().map(|output| output.pipe.as_ref()).chain([self.socket.as_ref()]);
        let fd = |pipe: Option<&OwnedFd>| pipe.map_or(-1, AsRawFd::as_raw_fd);
        let mut all: Vec<libc::pollfd> = pipes.map(|pipe| libc::pollfd { fd: fd(pipe), events: libc::POLLIN, revents: 0 }).collect();
        let time = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
        // SAFETY: the array and the time live through the call.
        unsafe { libc::ppoll(all.as_mut_ptr(), all.len() as libc::nfds_t, &raw const time, ptr::null()) };
    }

    /// Takes what the init has sent.
    fn receive(&mut self) {
        while let Some(socket) = &self.socket {
            match receive(socket.as_raw_fd()) {
                Ok(Some((message, fds))) => self.take(message, fds),
                Ok(None) => self.socket = None,
                Err(libc::EAGAIN | libc::EINTR) => return,
                Err(_) => self.socket = None,
            }
        }
    }

    fn take(&mut self, message: Message, fds: Vec<OwnedFd>) {
        match message.tag {
            init::READY => {
                let mut fds = fds.into_iter();
                if matches!(self.kind, Kind::Root | Kind::User) {
                    self.usage.proc = fds.next();
                }
                self.folders = fds.collect();
            }
            init::FAILED => {
                let failure = Failure { step: Step::of(message.first), errno: Some(message.second as i32), detail: String::new() };
                self.failed.get_or_insert(failure);
            }
            _ => {
                let time = Duration::from_micros(message.second.unsigned_abs());
                self.ended = Some((ExitStatus::from_raw(message.first as i32), time));
            }
        }
    }

    /// Ends all that still runs and reaps the init.
    fn end(&mut self) {
        let namespaces = matches!(self.kind, Kind::Root | Kind::User);
        // Without a process namespace the init itself ends what is left, when its socket is closed.
        self.socket = None;
        let start = Instant::now();
        while !namespaces && start.elapsed() < PATIENCE && !self.reaped(libc::WNOHANG) {
            std::thread::sleep(Duration::from_micros(300));
            self.outputs.iter_mut().for_each(Output::read);
        }
        if self.init > 0 {
            // SAFETY: a plain system call; the process is our child and has not been waited for.
            unsafe { libc::kill(self.init, libc::SIGKILL) };
            self.reaped(0);
        }
        self.outputs.iter_mut().for_each(Output::read);
    }

    /// Waits for the init's end; whether it has ended.
    fn reaped(&mut self, options: libc::c_int) -> bool {
        loop {
            // SAFETY: without a place for the status the call touches no memory.
            match unsafe { libc::waitpid(self.init, ptr::null_mut(), options) } {
                0 => return false,
                -1 if sys::errno() == libc::EINTR => {}
                _ => {
                    self.init = 0;
                    return true;
                }
            }
        }
    }

    fn result(self, killed_before: Option<u64>) -> Result<Ended, Failure> {
        let [stdout, stderr] = self.outputs.map(|output| output.kept);
        let killed = || killed_before.is_some() && usage::killed_for_memory() != killed_before;
        let (status, limit) = match (self.limit, self.ended, self.failed) {
            (Some(limit), ended, _) => (ended.map_or(ExitStatus::from_raw(libc::SIGKILL), |(status, _)| status), Some(limit)),
            (None, _, Some(failure)) => return Err(failure),
            (None, Some((status, time)), None) => {
                let confined = self.kind != Kind::None;
                let limit = match status.signal() {
                    Some(libc::SIGXCPU) => Some(Limit::ProcessorTime),
                    Some(libc::SIGKILL) if time >= Duration::from_secs(self.limits.cpu_seconds()) => Some(Limit::ProcessorTime),
                    Some(libc::SIGKILL) if killed() => Some(Limit::Memory),
                    Some(libc::SIGXFSZ) => Some(Limit::FileSize),
                    Some(libc::SIGSYS) if confined => Some(Limit::Refused),
                    Some(_) | None => None,
                };
                (status, limit)
            }
            (None, None, None) if killed() => (ExitStatus::from_raw(libc::SIGKILL), Some(Limit::Memory)),
            (None, None, None) => return Err(Failure { step: Step::Init, errno: None, detail: String::new() }),
        };
        let collected = self.folders.into_iter().map(|dir| Collected { dir }).collect();
        Ok(Ended { status, limit, stdout, stderr, collected })
    }
}

impl Output {
    /// Takes what is there, without waiting.
    fn read(&mut self) {
        let mut buffer = [0; 1 << 16];
        // A program that writes without end is not to keep this from looking at its limits.
        for _ in 0..64 {
            let Some(pipe) = &self.pipe else { return };
            // SAFETY: the buffer lives through the call.
            let got = unsafe { libc::read(pipe.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            match usize::try_from(got) {
                Ok(0) => self.pipe = None,
                Ok(read) => self.kept.extend_from_slice(&buffer[..read.min(KEPT - self.kept.len())]),
                Err(_) => return,
            }
        }
    }
}

/// Both ends of a pipe, of which ours does not block.
fn pipe() -> Result<[OwnedFd; 2], sys::Errno> {
    let mut ends = [-1; 2];
    // SAFETY: the array lives through the call; the descriptors are new and nobody else's.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        let ends = ends.map(|fd| OwnedFd::from_raw_fd(fd));
        check(libc::fcntl(ends[0].as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK))?;
        Ok(ends)
    }
}

/// Both ends of a connection that keeps messages apart.
fn sockets() -> Result<[OwnedFd; 2], sys::Errno> {
    let mut ends = [-1; 2];
    // SAFETY: as in `pipe`.
    unsafe {
        check(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()))?;
        Ok(ends.map(|fd| OwnedFd::from_raw_fd(fd)))
    }
}

fn is_at_end(pipe: &OwnedFd) -> bool {
    let mut byte = 0u8;
    // SAFETY: the byte lives through the call.
    unsafe { libc::read(pipe.as_raw_fd(), (&raw mut byte).cast(), 1) == 0 }
}

/// Blocks all signals of this thread; those that were blocked before.
fn block_signals() -> libc::sigset_t {
    // SAFETY: the sets are plain structures for which zero is valid, and live through the calls.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}

/// The next message and its descriptors; `None` at the end.
fn receive(socket: RawFd) -> Result<Option<(Message, Vec<OwnedFd>)>, sys::Errno> {
    #[repr(C, align(8))]
    struct Control([u8; 128]);
    let (mut message, mut control) = (Message { tag: 0, first: 0, second: 0 }, Control([0; 128]));
    let mut data = libc::iovec { iov_base: (&raw mut message).cast(), iov_len: size_of::<Message>() };
    let mut fds = Vec::new();
    // SAFETY: `header` is a plain structure for which zero is valid, and points to what lives through the calls; any bytes are a valid
    // message. The kernel has checked the control data that it wrote, whose descriptors are new and nobody else's.
    let got = unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut data;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let got = libc::recvmsg(socket, &raw mut header, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        if got > 0 && !first.is_null() && (*first).cmsg_type == libc::SCM_RIGHTS {
            let count = ((*first).cmsg_len as usize - libc::CMSG_LEN(0) as usize) / size_of::<RawFd>();
            for index in 0..count.min(MOST_FOLDERS + 1) {
                let fd = ptr::read_unaligned(libc::CMSG_DATA(first).cast::<RawFd>().add(index));
                fds.push(OwnedFd::from_raw_fd(fd));
            }
        }
        got
    };
    match got {
        0 => Ok(None),
        got if got == size_of::<Message>() as isize => Ok(Some((message, fds))),
        got if got < 0 => Err(sys::errno()),
        _ => Err(libc::EPROTO),
    }
}
