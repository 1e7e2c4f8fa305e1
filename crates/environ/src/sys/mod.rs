//! Linux system calls: one table by x86-64 number, called the same way from every front end.
//!
//! A call takes six values and returns one, or an error number, negated as the kernel returns it. A pointer that leads out of its object
//! is a fault of the program, not `EFAULT`; only the null page gives `EFAULT`. A call that is not in the table returns `ENOSYS` and is a
//! row of the ledger.

pub mod attributes;
mod buffer;
pub mod children;
pub mod dir;
pub mod epoll;
pub mod eventfd;
pub mod fd;
pub mod file;
pub mod internet;
pub mod link;
pub mod lock;
mod maps;
pub mod memory;
pub mod path;
pub mod pipe;
pub mod poll;
pub mod process;
mod seen;
pub mod signals;
pub mod socket;
pub mod spelling;
pub mod standing;
pub mod stat;
pub mod terminal;
pub mod time;
pub mod transfer;
mod volatile;
mod watched;

use std::rc::Rc;

use wryneck_exec::ground::memory::NULL_PAGE;
use wryneck_exec::memory::{block_address, joined, read_bytes, writable_range, write_bytes, write_concrete};
use wryneck_exec::processes::{are_several, running};
use wryneck_exec::{Cx, LedgerKind, Reply, Stop, Value, places, pointer};
use wryneck_expr::ExprId;

use crate::Linux;
use crate::content::Byte;
use crate::errno::{EAGAIN, EBADF, EFAULT, EINVAL, ENOSYS, Halt};
use crate::failing;
use crate::observed;
use crate::sig::Args;
use crate::state::{Node, Open, World};
use crate::threads;

/// Why a part of a structure is concretised.
const STRUCTURE: &str = "a structure given to a system call";

/// A system call in progress.
pub struct Sys<'s, 'c> {
    pub linux: &'s Linux,
    pub cx: &'s mut Cx<'c>,
    pub args: [Value; 6],
    name: &'static str,
    number: u32,
    /// The bytes of the symbolic name that the call may make, as in [`World::names`].
    coming: Rc<[ExprId]>,
    /// The result in place of a number, where it is symbolic.
    symbolic: Option<ExprId>,
}

/// What a system call gives: a number, or why not.
pub type Done = Result<u64, Halt>;

struct SystemCall {
    number: u32,
    name: &'static str,
    run: fn(&mut Sys<'_, '_>) -> Done,
}

macro_rules! system_calls {
    ($($number:literal $name:literal $run:expr;)*) => {
        static SYSCALLS: &[SystemCall] = &[$(SystemCall { number: $number, name: $name, run: $run }),*];
    };
}

// One more system call: a function in `sys/<area>.rs`, its row here (sorted by number), and a program in `tests/` that does the
// same natively.
system_calls! {
    0 "read" fd::read;
    1 "write" fd::write;
    2 "open" file::open;
    3 "close" fd::close;
    4 "stat" stat::stat;
    5 "fstat" stat::fstat;
    6 "lstat" stat::lstat;
    7 "poll" poll::poll;
    8 "lseek" fd::lseek;
    9 "mmap" memory::mmap;
    10 "mprotect" memory::ignored;
    11 "munmap" memory::munmap;
    12 "brk" memory::brk;
    13 "rt_sigaction" process::rt_sigaction;
    14 "rt_sigprocmask" process::rt_sigprocmask;
    16 "ioctl" terminal::ioctl;
    17 "pread64" fd::pread;
    18 "pwrite64" fd::pwrite;
    19 "readv" fd::readv;
    20 "writev" fd::writev;
    21 "access" stat::access;
    22 "pipe" pipe::pipe;
    23 "select" poll::select;
    24 "sched_yield" children::sched_yield;
    25 "mremap" memory::mremap;
    26 "msync" memory::msync;
    27 "mincore" memory::mincore;
    28 "madvise" memory::madvise;
    32 "dup" fd::dup;
    33 "dup2" fd::dup2;
    34 "pause" signals::pause;
    35 "nanosleep" time::nanosleep;
    36 "getitimer" signals::getitimer;
    37 "alarm" signals::alarm;
    38 "setitimer" signals::setitimer;
    39 "getpid" process::getpid;
    40 "sendfile" transfer::sendfile;
    41 "socket" socket::socket;
    42 "connect" socket::connect;
    43 "accept" socket::accept;
    44 "sendto" socket::sendto;
    45 "recvfrom" socket::recvfrom;
    46 "sendmsg" socket::sendmsg;
    47 "recvmsg" socket::recvmsg;
    48 "shutdown" socket::shutdown;
    49 "bind" socket::bind;
    50 "listen" socket::listen;
    51 "getsockname" socket::getsockname;
    52 "getpeername" socket::getpeername;
    53 "socketpair" socket::socketpair;
    54 "setsockopt" socket::setsockopt;
    55 "getsockopt" socket::getsockopt;
    56 "clone" children::clone;
    57 "fork" children::fork;
    58 "vfork" children::vfork;
    59 "execve" stat::execve;
    60 "exit" process::exit_thread;
    61 "wait4" children::wait4;
    62 "kill" process::kill;
    63 "uname" process::uname;
    72 "fcntl" fd::fcntl;
    73 "flock" lock::flock;
    74 "fsync" fd::sync;
    75 "fdatasync" fd::sync;
    76 "truncate" file::truncate;
    77 "ftruncate" file::ftruncate;
    79 "getcwd" dir::getcwd;
    80 "chdir" dir::chdir;
    81 "fchdir" dir::fchdir;
    82 "rename" link::rename;
    83 "mkdir" dir::mkdir;
    84 "rmdir" dir::rmdir;
    85 "creat" file::creat;
    86 "link" link::link;
    87 "unlink" link::unlink;
    88 "symlink" link::symlink;
    89 "readlink" link::readlink;
    90 "chmod" file::chmod;
    91 "fchmod" file::fchmod;
    92 "chown" file::chown;
    93 "fchown" file::fchown;
    94 "lchown" file::lchown;
    95 "umask" process::umask;
    96 "gettimeofday" time::gettimeofday;
    97 "getrlimit" process::getrlimit;
    98 "getrusage" standing::getrusage;
    99 "sysinfo" process::sysinfo;
    102 "getuid" process::user;
    104 "getgid" process::user;
    105 "setuid" |s| standing::set_ids(s, 1);
    106 "setgid" |s| standing::set_ids(s, 1);
    107 "geteuid" process::user;
    108 "getegid" process::user;
    109 "setpgid" process::setpgid;
    110 "getppid" process::getppid;
    111 "getpgrp" process::getpgrp;
    112 "setsid" process::setsid;
    113 "setreuid" |s| standing::set_ids(s, 2);
    114 "setregid" |s| standing::set_ids(s, 2);
    115 "getgroups" process::zero;
    117 "setresuid" |s| standing::set_ids(s, 3);
    118 "getresuid" standing::getresuid;
    119 "setresgid" |s| standing::set_ids(s, 3);
    120 "getresgid" standing::getresuid;
    121 "getpgid" process::getpgid;
    124 "getsid" process::getpgid;
    127 "rt_sigpending" signals::rt_sigpending;
    128 "rt_sigtimedwait" signals::rt_sigtimedwait;
    129 "rt_sigqueueinfo" signals::rt_sigqueueinfo;
    130 "rt_sigsuspend" signals::rt_sigsuspend;
    131 "sigaltstack" process::sigaltstack;
    133 "mknod" file::mknod;
    137 "statfs" stat::statfs;
    138 "fstatfs" stat::fstatfs;
    140 "getpriority" standing::getpriority;
    143 "sched_getparam" standing::sched_getparam;
    145 "sched_getscheduler" standing::sched_getscheduler;
    146 "sched_get_priority_max" standing::most_priority;
    147 "sched_get_priority_min" standing::least_priority;
    149 "mlock" standing::lock_memory;
    150 "munlock" standing::lock_memory;
    151 "mlockall" standing::lock_all;
    152 "munlockall" standing::lock_memory;
    157 "prctl" process::prctl;
    158 "arch_prctl" process::zero;
    162 "sync" process::zero;
    186 "gettid" process::gettid;
    191 "getxattr" attributes::get;
    192 "lgetxattr" attributes::get_of_link;
    193 "fgetxattr" attributes::get_of_descriptor;
    194 "listxattr" attributes::list;
    195 "llistxattr" attributes::list_of_link;
    196 "flistxattr" attributes::list_of_descriptor;
    200 "tkill" process::tkill;
    201 "time" time::time;
    202 "futex" process::futex;
    204 "sched_getaffinity" process::sched_getaffinity;
    213 "epoll_create" epoll::epoll_create;
    217 "getdents64" dir::getdents64;
    218 "set_tid_address" process::getpid;
    221 "fadvise64" fd::sync;
    227 "clock_settime" time::clock_settime;
    228 "clock_gettime" time::clock_gettime;
    229 "clock_getres" time::clock_getres;
    230 "clock_nanosleep" time::clock_nanosleep;
    231 "exit_group" process::exit;
    232 "epoll_wait" epoll::epoll_wait;
    233 "epoll_ctl" epoll::epoll_ctl;
    234 "tgkill" process::tgkill;
    247 "waitid" children::waitid;
    257 "openat" file::openat;
    258 "mkdirat" dir::mkdirat;
    259 "mknodat" file::mknodat;
    260 "fchownat" file::fchownat;
    262 "newfstatat" stat::newfstatat;
    263 "unlinkat" link::unlinkat;
    264 "renameat" link::renameat;
    265 "linkat" link::linkat;
    266 "symlinkat" link::symlinkat;
    267 "readlinkat" link::readlinkat;
    268 "fchmodat" file::fchmodat;
    269 "faccessat" stat::faccessat;
    270 "pselect6" poll::pselect6;
    271 "ppoll" poll::ppoll;
    273 "set_robust_list" process::zero;
    280 "utimensat" file::utimensat;
    281 "epoll_pwait" epoll::epoll_pwait;
    284 "eventfd" eventfd::eventfd;
    285 "fallocate" file::fallocate;
    288 "accept4" socket::accept4;
    290 "eventfd2" eventfd::eventfd2;
    291 "epoll_create1" epoll::epoll_create1;
    292 "dup3" fd::dup3;
    293 "pipe2" pipe::pipe2;
    295 "preadv" fd::preadv;
    296 "pwritev" fd::pwritev;
    302 "prlimit64" process::prlimit64;
    306 "syncfs" fd::sync;
    316 "renameat2" link::renameat2;
    318 "getrandom" process::getrandom;
    319 "memfd_create" file::memfd_create;
    325 "mlock2" standing::lock_memory;
    326 "copy_file_range" transfer::copy_file_range;
    332 "statx" stat::statx;
    334 "rseq" process::no_such;
    435 "clone3" children::clone3;
    436 "close_range" standing::close_range;
    439 "faccessat2" stat::faccessat2;
    441 "epoll_pwait2" epoll::epoll_pwait2;
    452 "fchmodat2" file::fchmodat2;
}

/// `__wryneck_syscall(n, a1, …, a6)`: the one external function the libc's overlay calls.
pub fn syscall(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let number = args.number(cx, 0)?;
    let args = std::array::from_fn(|i| args.value(i + 1));
    threads::kernel::take_mask(cx);
    if let Some(reply) = threads::waits::system_call(linux, cx, number, &args)? {
        return Ok(reply);
    }
    let result = match perform(linux, number, args, cx)? {
        Reply::Value(result) => result,
        switch => return Ok(switch),
    };
    threads::waits::made(cx);
    signals::then(linux, result, Some((number, &args)), cx)
}

/// clock_gettime(clock, time) of the C library, where facts are noted: its own code looks for the kernel's, and where that is nobody knows.
pub fn clock_gettime(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Value::Bits(clock), at) = (args.value(0), args.value(1)) else { return Ok(Reply::Decline) };
    let is_nowhere = matches!(at, Value::Bits(at) if at < NULL_PAGE);
    if linux.captured.log.is_none() || is_nowhere || !time::CLOCKS.contains(&(clock as u32 as i32)) {
        return Ok(Reply::Decline);
    }
    let nothing = Value::Bits(0);
    perform(linux, CLOCK_GETTIME, [Value::Bits(clock as u32 as u64), at, nothing, nothing, nothing, nothing], cx)
}

const CLOCK_GETTIME: u64 = 228;

/// Makes a system call by its x86-64 number: what the kernel leaves in the register, or another thread goes on, and the call is made again.
pub fn perform(linux: &Linux, number: u64, args: [Value; 6], cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if let Some((_, what)) = ASKED.iter().find(|(asked, _)| *asked == number) {
        if cx.core.monitor.is_some() {
            cx.core.ledger.note(LedgerKind::Assumption, *what);
        }
        // A loader measures itself, and looks which processor runs it.
        if !places::in_library(&cx.core.image, cx.pos()) {
            cx.state.approximates(*what);
        }
        linux.captured.note_unknown(what);
        observed::keep(&mut Sys { linux, cx, args, name: "", number: 0, coming: Rc::default(), symbolic: None });
        return Ok(Reply::Value(Value::Bits(0)));
    }
    let row = SYSCALLS.binary_search_by(|row| u64::from(row.number).cmp(&number));
    let Ok(row) = row.map(|i| &SYSCALLS[i]) else {
        let name = path::name_of_unknown(number);
        cx.state.approximates(format!("the system call {name} has no model"));
        cx.core.ledger.note(LedgerKind::UnknownSystemCall, name);
        return Ok(Reply::Value(Value::Bits(ENOSYS.negated())));
    };
    if let Some((_, same, what)) = OF_THIS_RUN.iter().find(|(names, ..)| names.contains(&row.name))
        && !is_of_the_library_itself(cx)
    {
        // Where facts are noted these answers are input, or facts.
        if *same == Replayed::Otherwise && linux.captured.log.is_none() {
            cx.state.approximates(*what);
        }
        // A verdict names what it assumes; tests of a run are of that run alone.
        if cx.core.monitor.is_some() {
            cx.core.ledger.note(LedgerKind::Assumption, *what);
        }
    }
    let mut sys = Sys { linux, cx, args, name: row.name, number: row.number, coming: Rc::default(), symbolic: None };
    if are_several(sys.cx.state) && World::of(sys.cx).has_had_its_turn(running(sys.cx.state)) {
        sys.end_turn().map_err(Halt::stop)?;
    }
    if sys.cx.state.has_threads() {
        sys.keeps_its_file()?;
    }
    let fate = failing::system_call(&mut sys, row.name)?;
    let orders = sys.cx.state.has_threads() && threads::calls::orders(sys.cx, row.name, sys.args[0]);
    if fate.is_short() {
        sys.args[2] = Value::Bits(1);
    }
    let done = match fate.error() {
        // A descriptor is closed whatever `close` says.
        Some(e) if row.name == "close" => (row.run)(&mut sys).and(Err(e.into())),
        Some(e) => Err(e.into()),
        None => (row.run)(&mut sys),
    };
    if matches!(done, Err(Halt::Errno(EBADF))) {
        // Of most calls the descriptor is the first argument.
        let standard = matches!(sys.args[0], Value::Bits(fd) if fd as u32 <= 2);
        let world = sys.change();
        world.bad_descriptor = true;
        world.standard_moved |= standard;
    }
    fate.seal(sys.cx);
    if are_several(sys.cx.state) {
        if let Err(Halt::Errno(EAGAIN)) = done {
            sys.give_way().map_err(Halt::stop)?;
        }
        let me = running(sys.cx.state);
        if !matches!(done, Err(Halt::Stop(_))) {
            sys.change().let_others_try(me);
        }
    }
    if orders && done.is_ok() {
        threads::calls::ordered(sys.cx);
    }
    observed::called(&mut sys, row.name, &done);
    match done {
        Ok(value) => Ok(Reply::Value(sys.symbolic.map_or(Value::Bits(value), Value::Sym))),
        Err(Halt::Errno(e)) => Ok(Reply::Value(Value::Bits(e.negated()))),
        Err(Halt::Switch(thread)) => Ok(Reply::Switch(thread)),
        Err(Halt::Stop(stop)) => Err(stop),
    }
}

/// What the kernel answers when a test is replayed natively.
#[derive(PartialEq)]
enum Replayed {
    Same,
    Otherwise,
}
use Replayed::{Otherwise, Same};

/// Calls that ask for extended attributes.
const ATTRIBUTES: &[&str] = &["fgetxattr", "flistxattr", "getxattr", "lgetxattr", "listxattr", "llistxattr"];

/// Calls whose answer is this run's, and what is assumed where a program asks.
static OF_THIS_RUN: &[(&[&str], Replayed, &str)] = &[
    (
        &["clock_gettime", "gettimeofday", "time"],
        Otherwise,
        "the time is that of this run: a fixed second, a microsecond more at each look",
    ),
    (&["getpid", "getppid", "gettid", "getpgrp", "getpgid", "getsid", "setsid"], Otherwise, "process ids are those of this run"),
    (&["getuid", "geteuid", "getgid", "getegid", "getgroups", "getresuid", "getresgid"], Same, "user and groups are those of this run"),
    (ATTRIBUTES, Same, "no file has extended attributes"),
    (&["getrandom"], Otherwise, "random bytes are those of this run"),
    (&["ioctl"], Same, "no descriptor is a terminal"),
    (
        &["uname", "sysinfo", "sched_getaffinity", "getrlimit", "prlimit64", "getpriority", "sched_getscheduler", "sched_getparam"],
        Same,
        "the machine and its limits are those of this run",
    ),
];

/// What lifted instructions ask for ([`wryneck_ir::ASKS_TIME`] and its like), and what is assumed.
static ASKED: &[(u64, &str)] = &[
    (wryneck_ir::ASKS_PROCESSOR, "the processor is the one that `cpuid` names here: SSE2, and nothing that came later"),
    (wryneck_ir::ASKS_TIME, "the counter that `rdtsc` reads is that of this run: it grows by the same at each look"),
];

/// Whether the C library asks for itself: how to buffer standard output, which thread runs.
fn is_of_the_library_itself(cx: &Cx<'_>) -> bool {
    const ITSELF: [&str; 4] = ["__stdout_write", "raise", "abort", "__init_tp"];
    let names = cx.state.frames.iter().rev().take(3).map(|frame| cx.core.image.name(frame.func()));
    names.into_iter().any(|name| ITSELF.contains(&name))
}

/// The name of a system call that there is.
pub(crate) fn name_of(number: u64) -> &'static str {
    SYSCALLS.iter().find(|row| u64::from(row.number) == number).map_or("", |row| row.name)
}

/// The names of all system calls.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    SYSCALLS.iter().map(|row| row.name).collect()
}

/// Whether a pointer is null: a decision, if its bits are symbolic.
pub(crate) fn is_null(cx: &mut Cx<'_>, pointer: Value) -> Result<bool, Stop> {
    let Value::Sym(e) = pointer else { return Ok(pointer == Value::Bits(0)) };
    let zero = cx.core.pool.bits(64, 0);
    let null = cx.core.pool.eq(e, zero);
    cx.decide(null)
}

impl<'s, 'c> Sys<'s, 'c> {
    /// Access to files before the program starts.
    pub fn of_start(linux: &'s Linux, cx: &'s mut Cx<'c>) -> Sys<'s, 'c> {
        Sys { linux, cx, args: [Value::Bits(0); 6], name: "start", number: 0, coming: Rc::default(), symbolic: None }
    }
}

impl Sys<'_, '_> {
    /// Notes that the model answers otherwise than the kernel.
    pub fn fails(&mut self, what: &'static str) {
        self.cx.core.ledger.note(LedgerKind::FailedModel, what);
        self.cx.state.approximates(what);
    }

    /// Argument `i` as 64 bits; a symbolic one is concretised.
    pub fn long(&mut self, i: usize) -> Result<u64, Halt> {
        Ok(self.cx.concretise(self.args[i], &format!("argument {} of system call `{}`", i + 1, self.name))?)
    }

    /// Whether the pointer at argument `i` is null: a decision, if its bits are symbolic.
    pub fn is_null(&mut self, i: usize) -> Result<bool, Halt> {
        Ok(is_null(self.cx, self.args[i])?)
    }

    /// Argument `i` as a place in a file, from its start.
    pub fn offset(&mut self, i: usize) -> Result<u64, Halt> {
        let at = self.long(i)?;
        if (at as i64) < 0 { Err(EINVAL.into()) } else { Ok(at) }
    }

    /// Argument `i` as an `int`; a symbolic one is concretised.
    pub fn int(&mut self, i: usize) -> Result<i32, Halt> {
        let e = self.cx.expr(self.args[i], 32);
        let bits = self.cx.concretise(Value::Sym(e), &format!("argument {} of system call `{}`", i + 1, self.name))?;
        Ok(bits as u32 as i32)
    }

    pub fn world(&self) -> &World {
        World::of(self.cx)
    }

    /// The world, to change: nothing may be decided afterwards.
    pub fn change(&mut self) -> &mut World {
        World::change(self.cx)
    }

    /// The open file and node of a descriptor; of one that stands for a path alone, `EBADF`.
    pub fn opened(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let (open, node) = self.opened_any(fd)?;
        if open.flags & fd::O_PATH != 0 { Err(EBADF.into()) } else { Ok((open, node)) }
    }

    /// The open file and node of any descriptor.
    pub fn opened_any(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let world = self.world();
        let open = *world.open_of(fd).ok_or(EBADF)?;
        Ok((open, world.node(open.node)))
    }

    /// The address of a block of the program, in bounds; `EFAULT` in the null page.
    pub fn block(&mut self, pointer: Value, len: u64, write: bool) -> Result<u64, Halt> {
        if let Value::Bits(addr) = pointer
            && addr < NULL_PAGE
            && len > 0
        {
            return Err(EFAULT.into());
        }
        if len == 0 {
            return Ok(0);
        }
        let addr = block_address(self.cx, pointer, len, write)?;
        if write && !writable_range(self.cx, addr, len) {
            return Err(pointer::bad_access(self.cx, addr, len, true).into());
        }
        Ok(addr)
    }

    /// Writes a structure of the kernel's at a checked address.
    pub fn put(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Halt> {
        Ok(write_concrete(self.cx, addr, bytes)?)
    }

    /// Writes a file's bytes at a checked address.
    pub fn put_bytes(&mut self, addr: u64, bytes: &[Byte]) -> Result<(), Halt> {
        let concrete: Option<Vec<u8>> = bytes
            .iter()
            .map(|b| match b {
                Byte::Concrete(b) => Some(*b),
                Byte::Symbolic(_) => None,
            })
            .collect();
        if let Some(bytes) = concrete {
            return self.put(addr, &bytes);
        }
        let bytes: Vec<ExprId> = bytes
            .iter()
            .map(|b| match b {
                Byte::Concrete(b) => self.cx.core.pool.bits(8, (*b).into()),
                Byte::Symbolic(e) => *e,
            })
            .collect();
        Ok(write_bytes(self.cx, addr, &bytes)?)
    }

    /// Reads a block of the program at a checked address.
    pub fn get(&mut self, addr: u64, len: u64) -> Result<Vec<Byte>, Halt> {
        let mut bytes = vec![0; len as usize];
        if self.cx.state.memory.space.read(addr, &mut bytes) {
            return Ok(bytes.into_iter().map(Byte::Concrete).collect());
        }
        let bytes = read_bytes(self.cx, addr, len)?;
        let byte = |e: ExprId| self.cx.core.pool.as_u64(e).map_or(Byte::Symbolic(e), |b| Byte::Concrete(b as u8));
        Ok(bytes.into_iter().map(byte).collect())
    }

    /// Reads a block of the program that is about to leave it.
    pub fn output(&mut self, addr: u64, len: u64) -> Result<Vec<Byte>, Halt> {
        let bytes = self.get(addr, len)?;
        for byte in &bytes {
            if let Byte::Symbolic(e) = byte {
                self.cx.require_written(*e, "output")?;
            }
        }
        Ok(bytes)
    }

    /// Reads 64-bit words of the program, concretised.
    pub fn words(&mut self, pointer: Value, count: u64) -> Result<Vec<u64>, Halt> {
        let addr = self.block(pointer, 8 * count, false)?;
        (0..count).map(|i| self.number_in_memory(addr + 8 * i, 8, STRUCTURE)).collect()
    }

    /// Reads a number of this many bytes of the program, concretised.
    pub fn number_at(&mut self, pointer: Value, bytes: u64) -> Result<u64, Halt> {
        let addr = self.block(pointer, bytes, false)?;
        self.number_in_memory(addr, bytes, STRUCTURE)
    }

    /// The same, of memory that can be read. `why` says in the ledger what is concretised.
    fn number_in_memory(&mut self, addr: u64, bytes: u64, why: &str) -> Result<u64, Halt> {
        let bytes = read_bytes(self.cx, addr, bytes)?;
        let e = joined(self.cx, &bytes);
        Ok(self.cx.concretise(Value::Sym(e), why)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repetition() {
        assert!(SYSCALLS.windows(2).all(|w| w[0].number < w[1].number), "sort the rows of SYSCALLS");
    }
}
