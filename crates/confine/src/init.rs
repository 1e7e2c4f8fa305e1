//! The process between `wryneck` and the program: process 1 of the program's namespaces, or where there are none the one that orphans
//! come to. It sets things up, starts the program, waits, reports, and takes with it what is left.
//!
//! All here runs between fork and exec: system calls alone, on what [`Plan`] holds. The program is never process 1, to which the kernel
//! delivers no signals that it does not handle. The init has powers that the program has not, and cannot be traced by it. It ends when its
//! socket does: when `wryneck` ends in whatever way. The kernel's death signal, which hangs on the thread that forked, comes on top.

use std::os::fd::RawFd;
use std::{mem, ptr};

use crate::plan::Plan;
use crate::sys::{self, Errno, check, check_long};
use crate::{Kind, Step, filter, landlock, powers};

/// What is sent to the parent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Message {
    pub(crate) tag: u32,
    /// A step's number, or a status as wait(2) gives it.
    pub(crate) first: u32,
    /// An error number, or microseconds of processor time.
    pub(crate) second: i64,
}

/// With the descriptors of folders: `/proc`, if it is the program's own, and those to be collected.
pub(crate) const READY: u32 = 1;
pub(crate) const FAILED: u32 = 2;
pub(crate) const ENDED: u32 = 3;

/// Most folders to be collected.
pub(crate) const MOST_FOLDERS: usize = 7;

/// The child's ends of what it is connected by.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) socket: RawFd,
    pub(crate) stdout: RawFd,
    pub(crate) stderr: RawFd,
    /// Closed when the program begins.
    pub(crate) began: RawFd,
    /// None where it is to be opened.
    pub(crate) stdin: Option<RawFd>,
}

/// Where they are once all other descriptors are closed.
const SOCKET: RawFd = 3;
const BEGAN: RawFd = 4;
const STDOUT: RawFd = 5;
const STDERR: RawFd = 6;
const JAIL: RawFd = 7;
const STDIN: RawFd = 8;
const FREE: RawFd = 9;

type Done = Result<(), (Step, Errno)>;

/// The child's whole life.
pub(crate) fn run(plan: &mut Plan, ends: Ends) -> ! {
    let outcome = keep(plan, ends).and_then(|()| live(plan));
    if let Err((step, errno)) = outcome {
        // Where descriptors could not be moved, the socket is still where it was.
        let failed = Message { tag: FAILED, first: step as u32, second: errno.into() };
        for socket in [SOCKET, ends.socket] {
            if send(socket, failed, &[]).is_ok() {
                break;
            }
        }
    }
    // SAFETY: ends the process without running anything of the parent's.
    unsafe { libc::_exit(1) }
}

/// Closes all descriptors but those that are needed, which get low numbers.
fn keep(plan: &Plan, ends: Ends) -> Done {
    let failed = |why| (Step::Descriptors, why);
    let jail = plan.jail.as_ref().map(|jail| jail.fd());
    let kept = [Some(ends.socket), Some(ends.began), Some(ends.stdout), Some(ends.stderr), jail, ends.stdin];
    let mut above = [-1; 6];
    for (fd, above) in kept.iter().zip(&mut above) {
        if let Some(fd) = fd {
            // SAFETY: a plain system call on numbers.
            *above = check(unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 20) }).map_err(failed)?;
        }
    }
    for (above, low) in above.iter().zip([SOCKET, BEGAN, STDOUT, STDERR, JAIL, STDIN]) {
        if *above >= 0 {
            // SAFETY: a plain system call on numbers.
            check(unsafe { libc::dup3(*above, low, libc::O_CLOEXEC) }).map_err(failed)?;
        } else {
            sys::close(low);
        }
    }
    sys::close_range(FREE as libc::c_uint, libc::c_uint::MAX).map_err(failed)?;
    sys::close_range(0, 2).map_err(failed)
}

/// Sets things up, starts the program and waits for its end.
fn live(plan: &mut Plan) -> Done {
    // The first to go where memory is short.
    let _ = sys::write_file(c"/proc/self/oom_score_adj", b"1000");
    // SAFETY: a system call without arguments.
    unsafe { libc::setsid() };
    let namespaces = matches!(plan.kind, Kind::Root | Kind::User);
    if plan.kind == Kind::User {
        let failed = |why| (Step::Users, why);
        sys::write_file(c"/proc/self/setgroups", b"deny").map_err(failed)?;
        sys::write_file(c"/proc/self/uid_map", plan.users.to_bytes()).map_err(failed)?;
        sys::write_file(c"/proc/self/gid_map", plan.groups.to_bytes()).map_err(failed)?;
    }
    if let Some(mounts) = &plan.mounts {
        mounts.carry_out()?;
    }
    if namespaces {
        sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0).map_err(|why| (Step::Fork, why))?;
    } else {
        sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0).map_err(|why| (Step::Fork, why))?;
    }
    folders(plan, namespaces)?;
    sys::prctl(libc::PR_SET_DUMPABLE, 0, 0).map_err(|why| (Step::Fork, why))?;
    let program = start(plan)?;
    let outcome = wait(program);
    if !namespaces {
        kill_all(program);
    }
    outcome.map_err(|why| (Step::Init, why))
}

/// Opens the folders that are to be read afterwards and sends them to the parent.
fn folders(plan: &Plan, namespaces: bool) -> Done {
    let failed = |why| (Step::Folders, why);
    let (mut all, mut count) = ([-1; MOST_FOLDERS + 1], 0);
    let proc = namespaces.then_some(c"/proc");
    for path in proc.into_iter().chain(plan.collect.iter().map(|path| path.as_c_str())) {
        let place = all.get_mut(count).ok_or((Step::Folders, libc::E2BIG))?;
        *place = sys::open(path, libc::O_RDONLY | libc::O_DIRECTORY, 0).map_err(failed)?;
        count += 1;
    }
    send(SOCKET, Message { tag: READY, first: 0, second: 0 }, &all[..count]).map_err(failed)?;
    all[..count].iter().for_each(|fd| sys::close(*fd));
    Ok(())
}

/// Forks the program's process; its number.
fn start(plan: &mut Plan) -> Result<libc::pid_t, (Step, Errno)> {
    let failed = |why| (Step::Fork, why);
    let mut go = [-1; 2];
    // SAFETY: the array lives through the call.
    check(unsafe { libc::pipe2(go.as_mut_ptr(), libc::O_CLOEXEC) }).map_err(failed)?;
    let users = if plan.kind == Kind::Root { libc::CLONE_NEWUSER } else { 0 };
    // SAFETY: the child makes only system calls until it executes the program or exits.
    let pid = unsafe { sys::clone(users) }.map_err(failed)?;
    if pid == 0 {
        sys::close(go[1]);
        let mut byte = 0u8;
        // SAFETY: the byte lives through the call.
        unsafe { libc::read(go[0], (&raw mut byte).cast(), 1) };
        let (step, errno) = become_program(plan);
        let _ = send(SOCKET, Message { tag: FAILED, first: step as u32, second: errno.into() }, &[]);
        // SAFETY: ends the process.
        unsafe { libc::_exit(1) };
    }
    if plan.kind == Kind::Root {
        // Where mapping fails the program, which waits, is ended with this process.
        let mut path = [0; 64];
        for (file, map) in [(&b"/uid_map"[..], &plan.users), (b"/gid_map", &plan.groups)] {
            let place = sys::path_of_process(&mut path, b"/proc/", pid, file);
            sys::write_file(place, map.to_bytes()).map_err(|why| (Step::Users, why))?;
        }
    }
    if let Some(mounts) = &plan.mounts {
        mounts.complete()?;
    }
    sys::close(go[0]);
    sys::close(go[1]);
    sys::close(BEGAN);
    Ok(pid)
}

/// Gives up all powers and executes the program; what failed.
fn become_program(plan: &mut Plan) -> (Step, Errno) {
    match prepare(plan) {
        Ok(()) => (Step::Execute, plan.execute()),
        Err(failed) => failed,
    }
}

fn prepare(plan: &mut Plan) -> Done {
    // SAFETY: system calls on numbers.
    unsafe {
        libc::setsid();
        // Without namespaces nobody else takes it along when the init is killed.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    sys::chdir(&plan.work).map_err(|why| (Step::Work, why))?;
    let input = match &plan.stdin {
        Some(path) => sys::open(path, libc::O_RDONLY, 0).map_err(|why| (Step::Input, why))?,
        None => STDIN,
    };
    for (from, to) in [(input, 0), (STDOUT, 1), (STDERR, 2)] {
        if from == to {
            // SAFETY: a system call on numbers.
            check(unsafe { libc::fcntl(from, libc::F_SETFD, 0) }).map_err(|why| (Step::Descriptors, why))?;
        } else {
            // SAFETY: a system call on numbers.
            check(unsafe { libc::dup2(from, to) }).map_err(|why| (Step::Descriptors, why))?;
        }
    }
    powers::limit(&plan.limits)?;
    if plan.kind != Kind::None {
        powers::drop_all()?;
    }
    if plan.jail.is_some() {
        landlock::enter(JAIL).map_err(|why| (Step::Landlock, why))?;
    }
    // The socket, which is still to report what fails, and the pipe are closed where the program begins.
    sys::close_range(BEGAN as libc::c_uint + 1, libc::c_uint::MAX).map_err(|why| (Step::Descriptors, why))?;
    default_signals();
    // SAFETY: a system call without arguments.
    filter::set_own(&mut plan.filters, unsafe { libc::getpid() });
    for filter in &plan.filters {
        if seccompiler::apply_filter(filter).is_err() {
            return Err((Step::Filter, sys::errno()));
        }
    }
    Ok(())
}

/// No signal is blocked or ignored, as in a program that a shell starts.
fn default_signals() {
    const SIGNALS: libc::c_int = 64;
    // SAFETY: `action` and `none` are plain structures for which zero is valid, SIG_DFL is 0; they live through the calls. Those signals
    // that cannot be changed give an error, which means nothing.
    unsafe {
        let action: libc::sigaction = mem::zeroed();
        for signal in 1..=SIGNALS {
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
        let none: libc::sigset_t = mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Reaps all that ends until it is the program, which is reported, or the parent has gone.
fn wait(program: libc::pid_t) -> Result<(), Errno> {
    // SAFETY: the set is a plain structure for which zero is valid, and lives through the calls. Signals have been blocked since the fork.
    let signals = unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?
    };
    loop {
        if let Some(ended) = reap(program)? {
            let _ = send(SOCKET, ended, &[]);
            return Ok(());
        }
        let mut both = [SOCKET, signals].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: the array lives through the call.
        unsafe { libc::poll(both.as_mut_ptr(), both.len() as libc::nfds_t, -1) };
        if both[0].revents != 0 {
            return Ok(());
        }
        if both[1].revents != 0 {
            let mut taken = [0u8; 128];
            // SAFETY: the buffer lives through the call.
            while unsafe { libc::read(signals, taken.as_mut_ptr().cast(), taken.len()) } > 0 {}
        }
    }
}

/// Reaps what has ended; the message about the program, if it is among that.
fn reap(program: libc::pid_t) -> Result<Option<Message>, Errno> {
    loop {
        let mut status = 0;
        // SAFETY: zero is valid for the structure; both live through the call.
        let (pid, usage) = unsafe {
            let mut usage: libc::rusage = mem::zeroed();
            (libc::wait4(-1, &raw mut status, libc::WNOHANG | libc::__WALL, &raw mut usage), usage)
        };
        if pid == program {
            let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
            return Ok(Some(Message { tag: ENDED, first: status as u32, second: micros(usage.ru_utime) + micros(usage.ru_stime) }));
        }
        if pid == 0 {
            return Ok(None);
        }
        if pid < 0 && sys::errno() != libc::EINTR {
            return Err(sys::errno());
        }
    }
}

/// Without a process namespace: kills what the program has started. Orphans come to this process, so its children are killed until there
/// are none.
fn kill_all(program: libc::pid_t) {
    const ROUNDS: usize = 20_000;
    // SAFETY: a system call without arguments.
    let own = unsafe { libc::getpid() };
    let mut first = [0; 64];
    let first = sys::path_of_process(&mut first, b"/proc/self/task/", own, b"/children");
    // SAFETY: a system call on numbers; the program leads a group of its own, and if it has been reaped the number is still the group's
    // while members are left.
    unsafe { libc::kill(-program, libc::SIGKILL) };
    for _ in 0..ROUNDS {
        if let Ok(list) = sys::open(first, libc::O_RDONLY, 0) {
            kill_listed(list);
            sys::close(list);
        }
        let mut status = 0;
        // SAFETY: the status lives through the call.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) } {
            -1 if sys::errno() != libc::EINTR => return,
            0 => {
                let pause = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
                // SAFETY: the structure lives through the call.
                unsafe { libc::nanosleep(&raw const pause, ptr::null_mut()) };
            }
            _ => {}
        }
    }
}

/// Kills the processes whose numbers a file of `/proc` lists.
fn kill_listed(list: RawFd) {
    let (mut pid, mut buffer) = (0, [0u8; 4096]);
    loop {
        // SAFETY: the buffer lives through the call.
        let got = unsafe { libc::read(list, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Some(read) = usize::try_from(got).ok().filter(|&n| n > 0) else { return };
        for &byte in &buffer[..read] {
            if byte.is_ascii_digit() {
                pid = pid * 10 + libc::pid_t::from(byte - b'0');
            } else if pid > 0 {
                // SAFETY: a system call on numbers; the process is a child, which has not been waited for.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                pid = 0;
            }
        }
    }
}

/// Sends a message, with descriptors.
fn send(socket: RawFd, message: Message, fds: &[RawFd]) -> Result<(), Errno> {
    #[repr(C, align(8))]
    struct Control([u8; 128]);
    let mut control = Control([0; 128]);
    let mut data = libc::iovec { iov_base: (&raw const message).cast_mut().cast(), iov_len: size_of::<Message>() };
    // SAFETY: `header` is a plain structure for which zero is valid. It points to `data` and `control`, which live through the call;
    // `control` has room for the descriptors, at most `MOST_FOLDERS` and one, and is aligned as its header.
    unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut data;
        header.msg_iovlen = 1;
        if !fds.is_empty() {
            let bytes = size_of_val(fds) as libc::c_uint;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(bytes) as _;
            ptr::copy_nonoverlapping(fds.as_ptr().cast::<u8>(), libc::CMSG_DATA(first), bytes as usize);
        }
        check_long(libc::sendmsg(socket, &raw const header, libc::MSG_NOSIGNAL) as libc::c_long).map(drop)
    }
}
