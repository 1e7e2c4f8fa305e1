//! What a path asked of the world outside: the facts under which its end is what it is (docs/design/017, paper 4).
//!
//! Where facts are noted ([`Linux::noting_facts`](crate::Linux::noting_facts)), each system call notes what its answer depends on. A fact is a
//! question and an answer, both bytes. [`Host::seen`](crate::Host::seen) answers questions; who checks facts later asks the same
//! host again. [`RULES`] says for every system call what it notes. What nobody can check before a run is the fact [`UNKNOWN`], which never holds.
//!
//! Attributes of files and streams are symbolic input named by their question, so a path depends only on those that it branches on.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::Value;

use crate::errno::{EINVAL, Errno, Halt};
use crate::input::{DirEntry, Stat, Stdin, mode};
use crate::state::{NodeId, NodeKind, STDERR};
use crate::sys::{Done, Sys};

/// Questions that begin so have no answer before the run.
pub const UNKNOWN: &str = "unknown";

/// Notes that begin so are of constraints, see [`named`].
const NAMED: &str = "named";

/// The constraints that a note is about, if it says which of them name a file: they assert that input is what it is, byte by byte.
pub fn named(question: &[u8]) -> Option<std::ops::Range<usize>> {
    let about = std::str::from_utf8(question).ok()?.strip_prefix(NAMED)?.trim_start();
    let (start, end) = about.split_once(' ')?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// The question how signals are handled as the program starts: `default`, or `ignored BITS blocked BITS` in hexadecimal.
const SIGNALS: &[u8] = b"signals";

/// The kind of question what the bytes of a file are: their symbolic input has its name.
pub const BYTES: &str = "bytes";

/// The kind of question how many bytes a file has, as eight bytes: where its length is symbolic, that input has its name.
pub const SIZE: &str = "size";

/// A question: its kind, and what it is about.
pub fn question(kind: &str, about: &[u8]) -> Vec<u8> {
    [kind.as_bytes(), b" ", about].concat()
}

/// A question and its answer.
pub type Fact = (Rc<[u8]>, Rc<[u8]>);

/// What names of input begin with that has another value at each run.
pub const VOLATILE: &str = "volatile ";

/// The name of an input that has another value at each run. The zero tells the number of a repeated name from the name.
pub fn volatile(what: &str) -> String {
    format!("{VOLATILE}{what}\0")
}

/// What an input is, in words, if it has another value at each run; and the time of day within which its paths are those of a run.
pub fn is_volatile(name: &str) -> Option<(&str, Option<Window>)> {
    let what = name.strip_prefix(VOLATILE)?.split('\0').next()?;
    Some(match Window::of_name(what) {
        Some(window) => ("the time of day", Some(window)),
        None => (what, None),
    })
}

/// The hour that the time of day is taken to be in. Paths that branch on the time are those of one such hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// Seconds since 1970.
    pub start: u64,
}

impl Window {
    pub const SECONDS: u64 = 3600;
    /// A run asks for the time at most so many seconds after it was looked up: this is assumed.
    pub const LONGEST: u64 = 600;
    /// The kind of question whether a run that is looked up now is within a window.
    pub const QUESTION: &[u8] = b"hour";

    /// The hour of the clock, or near its end one that begins with its second half.
    pub fn around(now: u64) -> Window {
        let within = now % Window::SECONDS;
        let late = within >= Window::SECONDS - Window::LONGEST;
        Window { start: now - within + if late { Window::SECONDS / 2 } else { 0 } }
    }

    /// The name of the time in it, and the question whether a run that is looked up now is within it; the answer is `yes`.
    pub fn name(self) -> String {
        format!("hour {}", self.start)
    }

    pub fn of_name(name: &str) -> Option<Window> {
        Some(Window { start: name.strip_prefix("hour ")?.parse().ok()? })
    }

    /// Whether a run that begins now asks for the time within the window.
    pub fn holds(start: u64, now: u64) -> bool {
        start <= now && now + Window::LONGEST <= start + Window::SECONDS
    }
}

/// Facts, each once, and those of the running operation.
#[derive(Default)]
pub struct Log {
    numbers: FxHashMap<Fact, u32>,
    facts: Vec<Fact>,
    pending: Vec<u32>,
}

/// A fact that a path depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Constraints of the path when it asked.
    pub after: u32,
    /// Number of the fact, see [`Linux::fact`](crate::Linux::fact).
    pub fact: u32,
}

impl Log {
    fn note(&mut self, question: Vec<u8>, answer: Vec<u8>) {
        let fact: Fact = (question.into(), answer.into());
        let next = self.facts.len() as u32;
        let number = *self.numbers.entry(fact.clone()).or_insert(next);
        if number == next {
            self.facts.push(fact);
        }
        if !self.pending.contains(&number) {
            self.pending.push(number);
        }
    }

    /// Question and answer.
    pub fn fact(&self, number: u32) -> Option<Fact> {
        self.facts.get(number as usize).cloned()
    }
}

impl crate::host::Captured {
    /// Notes a fact for the running path, if facts are noted.
    pub fn note(&self, fact: impl FnOnce() -> (Vec<u8>, Vec<u8>)) {
        if let Some(log) = &self.log {
            let (question, answer) = fact();
            let outside = [&b" /proc"[..], b" /sys", b" /dev"].iter().any(|at| {
                let ends = |end: usize| question.get(end).is_none_or(|next| *next == b'/');
                question.windows(at.len()).enumerate().any(|(i, window)| window == *at && ends(i + at.len()))
            });
            let mut log = log.borrow_mut();
            if outside && !question.ends_with(b" /dev/null") {
                let what = String::from_utf8_lossy(&question).into_owned();
                log.note(self::question(UNKNOWN, format!("what the kernel answers to `{what}`").as_bytes()), Vec::new());
            }
            log.note(question, answer);
        }
    }

    /// What was noted so far is nobody's.
    pub fn forget_pending(&self) {
        if let Some(log) = &self.log {
            log.borrow_mut().pending.clear();
        }
    }

    /// Notes that these constraints of the running path say which file a name leads to ([`named`]).
    pub fn note_named(&self, constraints: std::ops::Range<usize>) {
        if !constraints.is_empty() {
            self.note(|| (question(NAMED, format!("{} {}", constraints.start, constraints.end).as_bytes()), Vec::new()));
        }
    }

    /// Notes that the running path depends on something that nobody can check before a run.
    pub fn note_unknown(&self, what: &str) {
        self.note(|| (question(UNKNOWN, what.as_bytes()), Vec::new()));
    }

    /// Notes that a file whose content or size the path depends on, or standard input (`0`), is none that it writes to by a stream.
    pub fn note_apart(&self, about: &[u8]) {
        self.note_same(question("apart", about), b"yes", "what the program writes to a file that it reads or asks about");
    }

    /// Whether standard input is known to be `/dev/null`: the model takes it for an empty file.
    pub fn stdin_is_null(&self) -> bool {
        self.seen(b"stdin content").is_none_or(|answer| &*answer == b"null")
    }

    /// The answer that says which signals the program inherits as ignored, and these: a bit for each, signal 1 first. `None`: nobody knows, or
    /// some are blocked.
    pub fn ignored_signals(&self) -> Option<(Vec<u8>, u64)> {
        self.log.as_ref()?;
        let answer = self.seen(SIGNALS)?.to_vec();
        let ignored = match std::str::from_utf8(&answer).ok()? {
            "default" => 0,
            text => u64::from_str_radix(text.strip_prefix("ignored ")?.strip_suffix(" blocked 0")?, 16).ok()?,
        };
        Some((answer, ignored))
    }

    /// Notes that the answer to a question is the one that the model gave; unknown, if it is another one now.
    pub fn note_same(&self, question: Vec<u8>, given: &[u8], what: &str) {
        match self.log.is_some().then(|| self.seen(&question)) {
            None => {}
            Some(Some(answer)) if *answer == *given => self.note(|| (question, given.to_vec())),
            Some(_) => self.note_unknown(what),
        }
    }
}

fn failed(error: Errno) -> Vec<u8> {
    format!("error {}", error.0).into_bytes()
}

/// What the models use of a file's attributes. Those that programs see are symbolic.
pub fn kind(answer: &Result<Stat, Errno>) -> Vec<u8> {
    match answer {
        Err(e) => failed(*e),
        Ok(s) => {
            let links = if s.nlink > 1 && s.mode & mode::KIND != mode::DIRECTORY { format!(" {} {}", s.dev, s.ino) } else { String::new() };
            format!("{:o} {} {}{links}", s.mode, s.uid, s.gid).into_bytes()
        }
    }
}

pub fn content<T: AsRef<[u8]>>(answer: &Result<std::sync::Arc<T>, Errno>, digest: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    match answer {
        Err(e) => failed(*e),
        Ok(bytes) => digest((**bytes).as_ref()),
    }
}

/// In the order in which the kernel lists them.
pub fn listing(answer: &Result<Rc<[DirEntry]>, Errno>) -> Vec<u8> {
    match answer {
        Err(e) => failed(*e),
        Ok(entries) => entries.iter().flat_map(|e| [format!("{} {:o} ", e.ino, e.kind).as_bytes(), &e.name, b"\0"].concat()).collect(),
    }
}

pub fn target(answer: &Result<Rc<[u8]>, Errno>) -> Vec<u8> {
    match answer {
        Err(e) => failed(*e),
        Ok(target) => target.to_vec(),
    }
}

/// What a system call's answer depends on, beside the path itself.
#[derive(Clone, Copy)]
enum Rule {
    /// The path alone, or what the models of files note.
    Path,
    /// Something nobody knows before the run.
    Unknown(&'static str),
    /// It changes files: whether it may, and what it finds, is not checked.
    Changes,
    /// As the function says.
    Asks(fn(&Sys<'_, '_>, &Done)),
}

/// What the answers of waits, and of timers, depend on.
const READY: &str = "which descriptors are ready";
const CHILDREN: &str = "whether the process was begun with children";
const ATTRIBUTES: &str = "extended attributes of files";
const TIMERS: &str = "when a timer's signal comes";
const STANDING: &str = "the priority of the process, and who it may become";

/// Every system call of the table in `sys/mod.rs`, sorted by name. A call that is missing here is unknown.
#[rustfmt::skip]
static RULES: &[(&str, Rule)] = &[
    ("accept", Rule::Asks(kind_of_stream)), ("accept4", Rule::Asks(kind_of_stream)), ("access", Rule::Path), ("alarm", Rule::Unknown(TIMERS)), ("arch_prctl", Rule::Path), ("brk", Rule::Path),
    ("chdir", Rule::Path), ("clock_getres", Rule::Path), ("clock_gettime", Rule::Path), ("clock_nanosleep", Rule::Path), ("clone", Rule::Path), ("clone3", Rule::Path), ("close", Rule::Path),
    ("close_range", Rule::Path), ("connect", Rule::Asks(kind_of_stream)), ("copy_file_range", Rule::Asks(transfer)), ("dup", Rule::Path), ("dup2", Rule::Path), ("dup3", Rule::Path),
    ("epoll_create", Rule::Path), ("epoll_create1", Rule::Path), ("epoll_ctl", Rule::Asks(watched)), ("epoll_pwait", Rule::Unknown(READY)), ("epoll_pwait2", Rule::Unknown(READY)),
    ("epoll_wait", Rule::Unknown(READY)), ("eventfd", Rule::Path), ("eventfd2", Rule::Path), ("execve", Rule::Path), ("exit", Rule::Path), ("exit_group", Rule::Path),
    ("faccessat", Rule::Path), ("faccessat2", Rule::Path), ("fadvise64", Rule::Asks(advise)), ("fchdir", Rule::Asks(kind_of_stream)), ("fcntl", Rule::Asks(fcntl)),
    ("fdatasync", Rule::Asks(kind_of_stream)), ("fgetxattr", Rule::Unknown(ATTRIBUTES)), ("flistxattr", Rule::Unknown(ATTRIBUTES)), ("flock", Rule::Unknown("locks of other processes")),
    ("fork", Rule::Path), ("fstat", Rule::Path), ("fstatfs", Rule::Path), ("fsync", Rule::Asks(kind_of_stream)), ("futex", Rule::Path), ("getcwd", Rule::Asks(getcwd)),
    ("getdents64", Rule::Asks(getdents)), ("getegid", Rule::Asks(ids)), ("geteuid", Rule::Asks(ids)), ("getgid", Rule::Asks(ids)), ("getgroups", Rule::Asks(groups)),
    ("getitimer", Rule::Unknown(TIMERS)), ("getpeername", Rule::Asks(kind_of_stream)), ("getpgid", Rule::Path), ("getpgrp", Rule::Path), ("getpid", Rule::Path), ("getppid", Rule::Path),
    ("getpriority", Rule::Unknown(STANDING)), ("getrandom", Rule::Path), ("getresgid", Rule::Asks(ids)), ("getresuid", Rule::Asks(ids)), ("getrlimit", Rule::Path),
    ("getrusage", Rule::Unknown("what the process has used")), ("getsid", Rule::Path), ("getsockname", Rule::Asks(kind_of_stream)), ("getsockopt", Rule::Asks(kind_of_stream)),
    ("gettid", Rule::Path), ("gettimeofday", Rule::Path), ("getuid", Rule::Asks(ids)), ("getxattr", Rule::Unknown(ATTRIBUTES)), ("ioctl", Rule::Asks(ioctl)), ("kill", Rule::Asks(signals)),
    ("lgetxattr", Rule::Unknown(ATTRIBUTES)), ("listen", Rule::Asks(kind_of_stream)), ("listxattr", Rule::Unknown(ATTRIBUTES)), ("llistxattr", Rule::Unknown(ATTRIBUTES)),
    ("lseek", Rule::Asks(seek)), ("lstat", Rule::Path), ("madvise", Rule::Path), ("memfd_create", Rule::Path), ("mincore", Rule::Unknown("which pages are in memory")),
    ("mlock", Rule::Unknown("how much memory may be locked")), ("mlock2", Rule::Unknown("how much memory may be locked")), ("mlockall", Rule::Unknown("how much memory may be locked")),
    ("mmap", Rule::Asks(mmap)), ("mprotect", Rule::Path), ("mremap", Rule::Path), ("msync", Rule::Path), ("munlock", Rule::Unknown("how much memory may be locked")),
    ("munlockall", Rule::Unknown("how much memory may be locked")), ("munmap", Rule::Path), ("nanosleep", Rule::Path), ("newfstatat", Rule::Path), ("open", Rule::Asks(open)),
    ("openat", Rule::Asks(openat)), ("pause", Rule::Asks(signals)), ("pipe", Rule::Path), ("pipe2", Rule::Path), ("poll", Rule::Unknown(READY)), ("ppoll", Rule::Unknown(READY)),
    ("pread64", Rule::Asks(read)), ("preadv", Rule::Asks(read)), ("prlimit64", Rule::Asks(own_process)), ("pselect6", Rule::Unknown(READY)), ("pwrite64", Rule::Asks(write)),
    ("pwritev", Rule::Asks(write)), ("read", Rule::Asks(read)), ("readlink", Rule::Path), ("readlinkat", Rule::Path), ("readv", Rule::Asks(read)), ("recvfrom", Rule::Asks(receive)),
    ("recvmsg", Rule::Asks(receive)), ("rseq", Rule::Path), ("rt_sigaction", Rule::Asks(signals)), ("rt_sigpending", Rule::Asks(signals)), ("rt_sigprocmask", Rule::Asks(signals)),
    ("rt_sigqueueinfo", Rule::Asks(signals)), ("rt_sigsuspend", Rule::Asks(signals)), ("rt_sigtimedwait", Rule::Asks(signals)), ("sched_get_priority_max", Rule::Path),
    ("sched_get_priority_min", Rule::Path), ("sched_getaffinity", Rule::Asks(processors)), ("sched_getparam", Rule::Unknown(STANDING)), ("sched_getscheduler", Rule::Unknown(STANDING)),
    ("sched_yield", Rule::Path), ("select", Rule::Unknown(READY)), ("sendfile", Rule::Unknown("how much one transfer between files moves")), ("sendmsg", Rule::Asks(kind_of_stream)),
    ("sendto", Rule::Asks(kind_of_stream)), ("set_robust_list", Rule::Path), ("set_tid_address", Rule::Path), ("setgid", Rule::Unknown(STANDING)), ("setitimer", Rule::Unknown(TIMERS)),
    ("setpgid", Rule::Path), ("setregid", Rule::Unknown(STANDING)), ("setresgid", Rule::Unknown(STANDING)), ("setresuid", Rule::Unknown(STANDING)), ("setreuid", Rule::Unknown(STANDING)),
    ("setsockopt", Rule::Asks(kind_of_stream)), ("setuid", Rule::Unknown(STANDING)), ("shutdown", Rule::Asks(kind_of_stream)), ("sigaltstack", Rule::Path), ("socket", Rule::Path),
    ("socketpair", Rule::Path), ("stat", Rule::Path), ("statfs", Rule::Path), ("statx", Rule::Path), ("sync", Rule::Path), ("syncfs", Rule::Asks(kind_of_stream)), ("sysinfo", Rule::Path),
    ("tgkill", Rule::Asks(signals)), ("time", Rule::Path), ("tkill", Rule::Asks(signals)), ("umask", Rule::Asks(umask)), ("uname", Rule::Asks(uname)), ("vfork", Rule::Path),
    ("wait4", Rule::Unknown(CHILDREN)), ("waitid", Rule::Unknown(CHILDREN)), ("write", Rule::Asks(write)), ("writev", Rule::Asks(write)),
];

/// Calls that change files, sorted.
static CHANGES: &[&str] = &[
    "bind", "chmod", "chown", "creat", "fallocate", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "ftruncate", "lchown", "link",
    "linkat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2", "rmdir", "symlink", "symlinkat", "truncate",
    "unlink", "unlinkat", "utimensat",
];

fn rule(name: &str) -> Rule {
    if CHANGES.binary_search(&name).is_ok() {
        return Rule::Changes;
    }
    match RULES.binary_search_by(|(row, _)| (*row).cmp(name)) {
        Ok(i) => RULES[i].1,
        Err(_) => Rule::Unknown("the answer of a system call without a check"),
    }
}

/// A system call is done: what its answer depends on becomes the path's.
pub fn called(s: &mut Sys<'_, '_>, name: &'static str, done: &Done) {
    let captured = &s.linux.captured;
    if captured.log.is_none() {
        return;
    }
    match rule(name) {
        Rule::Path => {}
        Rule::Unknown(what) => captured.note_unknown(&format!("{what} (`{name}`)")),
        Rule::Changes => captured.note_unknown(&format!("whether files can be changed (`{name}`)")),
        Rule::Asks(ask) => ask(s, done),
    }
    keep(s);
}

/// What was noted since the last call becomes the path's.
pub fn keep(s: &mut Sys<'_, '_>) {
    let Some(log) = &s.linux.captured.log else { return };
    let pending = std::mem::take(&mut log.borrow_mut().pending);
    let known = &s.world().observed;
    let new: Vec<u32> = pending.into_iter().filter(|fact| known.iter().all(|o| o.fact != *fact)).collect();
    if !new.is_empty() {
        let after = s.cx.state.path.len() as u32;
        let observed = Rc::make_mut(&mut s.change().observed);
        observed.extend(new.into_iter().map(|fact| Observed { after, fact }));
    }
}

/// The descriptor that is argument `i`, if it is a stream that the program was given: its number.
fn stream(s: &Sys<'_, '_>, i: usize) -> Option<NodeId> {
    let Value::Bits(fd) = s.args[i] else { return None };
    let open = s.world().open_of(fd as u32 as i32)?;
    (open.node <= STDERR).then_some(open.node)
}

/// An argument, if it is a number.
fn number(s: &Sys<'_, '_>, i: usize) -> Option<u64> {
    match s.args[i] {
        Value::Bits(bits) => Some(bits),
        Value::Sym(_) => None,
    }
}

pub(crate) fn numbered(kind: &str, stream: NodeId) -> Vec<u8> {
    question(kind, stream.to_string().as_bytes())
}

/// Standard input is read.
fn read(s: &Sys<'_, '_>, _: &Done) {
    let Some(fd) = number(s, 0) else { return s.linux.captured.note_unknown("what is read from a symbolic descriptor") };
    let Some(open) = s.world().open_of(fd as u32 as i32) else { return };
    match s.world().node(open.node).kind {
        NodeKind::Endless | NodeKind::Full => s.linux.captured.note_unknown("what a device gives"),
        _ if open.node == 0 => stdin(s),
        _ if open.node <= STDERR => s.linux.captured.note_unknown("what is read from an output stream"),
        _ => {}
    }
}

fn stdin(s: &Sys<'_, '_>) {
    let kind = match s.linux.input.stdin {
        // The size is input.
        Stdin::Symbolic(least, most) if least < most => return s.linux.captured.note_apart(b"0"),
        Stdin::Symbolic(..) => "stdin size",
        Stdin::Bytes(_) => "stdin content",
    };
    s.linux.captured.note_apart(b"0");
    match s.linux.captured.seen(kind.as_bytes()) {
        Some(answer) => s.linux.captured.note(|| (kind.as_bytes().to_vec(), answer.to_vec())),
        None => s.linux.captured.note_unknown("what standard input gives, which is no regular file"),
    }
}

/// A file that was given is written, or one that the path opened, which [`open`] notes.
fn write(s: &Sys<'_, '_>, _: &Done) {
    match stream(s, 0) {
        Some(0) => s.linux.captured.note_unknown("whether standard input can be written"),
        Some(output) => s.linux.captured.note_same(
            numbered("accepts", output),
            b"yes",
            "whether a stream can be written, which is full or has no reader",
        ),
        None => {}
    }
}

/// To a stream that is no regular file the kernel copies nothing, as the model says.
fn transfer(s: &Sys<'_, '_>, done: &Done) {
    if let (Err(Halt::Errno(e)), Some(stream)) = (done, stream(s, 2))
        && *e == EINVAL
        && stream != 0
    {
        if self::stream(s, 0) == Some(0) {
            stdin(s);
        }
        return s.linux.captured.note_same(numbered("regular", stream), b"no", "whether an output stream is a regular file");
    }
    s.linux.captured.note_unknown("how much one transfer between files moves");
}

fn mmap(s: &Sys<'_, '_>, done: &Done) {
    const MAP_ANONYMOUS: u64 = 0x20;
    const PAGE: u64 = 4096;
    // The kernel ends a program that touches a page after the file's last one; the model does not.
    let mapping = done.as_ref().ok().and_then(|addr| s.world().own.mappings.get(addr));
    if mapping.is_some_and(|m| m.offset + m.len > s.world().node(m.node).content.len().next_multiple_of(PAGE)) {
        s.linux.captured.note_unknown("whether pages after a file's end are touched");
    }
    if number(s, 3).is_none_or(|flags| flags & MAP_ANONYMOUS == 0) && stream(s, 4).is_some() {
        s.linux.captured.note_unknown("a mapping of a stream");
    }
}

/// A call that asks of a stream what it is: a file, a directory, a pipe, a device.
fn kind_of_stream(s: &Sys<'_, '_>, _: &Done) {
    if stream(s, 0).is_some() {
        s.linux.captured.note_unknown("what kind of file a stream is");
    }
}

/// Whether a stream can be watched.
fn watched(s: &Sys<'_, '_>, _: &Done) {
    if [0, 2].into_iter().any(|i| stream(s, i).is_some()) {
        s.linux.captured.note_unknown("what kind of file a stream is");
    }
}

/// A stream may be a socket.
fn receive(s: &Sys<'_, '_>, done: &Done) {
    kind_of_stream(s, done);
    read(s, done);
}

/// A regular file takes any advice.
fn advise(s: &Sys<'_, '_>, done: &Done) {
    if stream(s, 0) == Some(0) && !s.linux.captured.stdin_is_null() { stdin(s) } else { kind_of_stream(s, done) }
}

fn seek(s: &Sys<'_, '_>, _: &Done) {
    const SEEK_END: u64 = 2;
    let (offset, whence) = (number(s, 1), number(s, 2));
    let open = number(s, 0).and_then(|fd| s.world().open_of(fd as u32 as i32));
    // On ext4 the places of a directory are hashes.
    if open.is_some_and(|open| s.world().node(open.node).kind == NodeKind::Directory) && (offset, whence) != (Some(0), Some(0)) {
        s.linux.captured.note_unknown("the place in a directory");
    }
    if whence.is_none_or(|whence| whence > SEEK_END) {
        s.linux.captured.note_unknown("where a file has holes");
    }
    match stream(s, 0) {
        // A device is at its beginning always.
        Some(0) => {
            stdin(s);
            if offset != Some(0) && s.linux.captured.stdin_is_null() {
                s.linux.captured.note_unknown("the place of a device");
            }
        }
        // The model's answer.
        Some(stream) => s.linux.captured.note_same(numbered("seek", stream), b"error 29", "whether an output stream has a place"),
        None => {}
    }
}

fn fcntl(s: &Sys<'_, '_>, done: &Done) {
    const F_GETFL: u64 = 3;
    const LOCKS: [u64; 6] = [5, 6, 7, 36, 37, 38];
    // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: the descriptor's own, which is known.
    const ITS_OWN: [u64; 6] = [0, 1, 2, 3, 4, 1030];
    match (number(s, 1), stream(s, 0), done) {
        (Some(F_GETFL), Some(stream), Ok(flags)) => {
            s.linux.captured.note_same(numbered("flags", stream), flags.to_string().as_bytes(), "the flags of a stream");
        }
        (Some(command), _, _) if LOCKS.contains(&command) => s.linux.captured.note_unknown("locks of other processes"),
        (Some(command), Some(_), _) if !ITS_OWN.contains(&command) => {
            s.linux.captured.note_unknown("what `fcntl` says of a stream");
        }
        (Some(_), _, _) => {}
        (None, _, _) => s.linux.captured.note_unknown("the answer of a symbolic `fcntl`"),
    }
}

fn ioctl(s: &Sys<'_, '_>, done: &Done) {
    let (Some(fd), Some(request)) = (stream(s, 0), number(s, 1)) else { return };
    // A terminal's answer is noted where it is given.
    let Err(Halt::Errno(e)) = done else {
        const FIONREAD: u64 = 0x541b;
        if request == FIONREAD {
            stdin(s);
            if s.linux.captured.stdin_is_null() {
                s.linux.captured.note_unknown("what a device says of itself");
            }
        }
        return;
    };
    let question = question("ioctl", format!("{fd} {:x}", request as u32).as_bytes());
    s.linux.captured.note_same(question, &failed(*e), "whether a stream is a terminal");
}

fn open(s: &Sys<'_, '_>, done: &Done) {
    opened(s, number(s, 1), done);
}

fn openat(s: &Sys<'_, '_>, done: &Done) {
    opened(s, number(s, 2), done);
}

fn opened(s: &Sys<'_, '_>, flags: Option<u64>, done: &Done) {
    const CHANGES: u64 = 0o103 | 0o1000 | 0o20_000_000;
    let null = match done {
        Ok(fd) => s.world().open_of(*fd as i32).is_some_and(|open| s.world().node(open.node).kind == NodeKind::Null),
        Err(_) => false,
    };
    if flags.is_none_or(|flags| flags & CHANGES != 0) && !null {
        s.linux.captured.note_unknown("whether files can be changed (`open`)");
    }
}

fn getcwd(s: &Sys<'_, '_>, _: &Done) {
    cwd(s);
}

/// A path begins at the working directory.
pub fn cwd(s: &Sys<'_, '_>) {
    let captured = &s.linux.captured;
    captured.note(|| (b"cwd".to_vec(), s.linux.input.working_directory.clone()));
}

/// Where `.` and `..` are listed is the kernel's choice.
fn getdents(s: &Sys<'_, '_>, _: &Done) {
    let node = number(s, 0).and_then(|fd| Some(s.world().node(s.world().open_of(fd as u32 as i32)?.node)));
    let unchanged = node.filter(|node| node.entries.values().all(Option::is_some)).and_then(|node| node.host.clone());
    let question = unchanged.map(|path| question("dots", &path));
    match question.and_then(|question| Some((s.linux.captured.seen(&question)?, question))) {
        Some((answer, question)) => s.linux.captured.note(|| (question, answer.to_vec())),
        None => s.linux.captured.note_unknown("in which order a changed directory is listed"),
    }
}

/// Limits are a fact of every path; those of another process are not.
fn own_process(s: &Sys<'_, '_>, _: &Done) {
    if number(s, 0) != Some(0) {
        s.linux.captured.note_unknown("the answer about another process");
    }
}

fn processors(s: &Sys<'_, '_>, done: &Done) {
    own_process(s, done);
    match s.linux.captured.seen(b"processors") {
        Some(answer) => s.linux.captured.note(|| (b"processors".to_vec(), answer.to_vec())),
        None => s.linux.captured.note_unknown("the processors that the program may run on"),
    }
}

fn ids(s: &Sys<'_, '_>, _: &Done) {
    let user = s.linux.input.user;
    s.linux.captured.note_same(b"ids".to_vec(), format!("{user} {user} {user} {user}").as_bytes(), "user and group");
}

fn groups(s: &Sys<'_, '_>, _: &Done) {
    s.linux.captured.note_same(b"groups".to_vec(), b"", "the groups of the user");
}

fn signals(s: &Sys<'_, '_>, _: &Done) {
    match s.linux.captured.ignored_signals() {
        Some(answer) => s.linux.captured.note(|| (SIGNALS.to_vec(), answer.0)),
        None => s.linux.captured.note_unknown("which signals are blocked"),
    }
}

fn umask(s: &Sys<'_, '_>, _: &Done) {
    s.linux.captured.note_same(b"umask".to_vec(), b"22", "the mask of permissions");
}

fn uname(s: &Sys<'_, '_>, _: &Done) {
    s.linux.captured.note_same(b"uname".to_vec(), &s.linux.input.uname.join(&0), "the names of the system");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_say_nothing_twice() {
        assert!(RULES.windows(2).all(|w| w[0].0 < w[1].0), "sort the rows of RULES");
        assert!(CHANGES.windows(2).all(|w| w[0] < w[1]), "sort the rows of CHANGES");
        assert!(RULES.iter().all(|(name, _)| CHANGES.binary_search(name).is_err()));
    }

    #[test]
    fn every_row_is_a_system_call() {
        let known = crate::sys::names();
        for name in RULES.iter().map(|(name, _)| name).chain(CHANGES) {
            assert!(known.contains(name), "`{name}` is no system call of the table");
        }
        let unknown: Vec<&str> =
            known.into_iter().filter(|name| matches!(rule(name), Rule::Unknown(what) if what.ends_with("without a check"))).collect();
        assert_eq!(unknown, ["setsid", "prctl", "clock_settime"], "say in RULES what the answer of a new system call depends on");
    }
}
