//! Error numbers of Linux on x86-64, and the two ways in which a system call stops: with an error number, or with the end of its path.

use wryneck_exec::threads::ThreadId;
use wryneck_exec::{PathEnd, Stop};

/// An error number, as the kernel returns it negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub i32);

impl Errno {
    /// What the kernel leaves in the register of the result.
    pub fn negated(self) -> u64 {
        i64::from(-self.0) as u64
    }
}

macro_rules! errnos {
    ($($name:ident = $number:literal;)*) => { $(pub const $name: Errno = Errno($number);)* };
}

errnos! {
    EPERM = 1;
    ENOENT = 2;
    ESRCH = 3;
    EINTR = 4;
    EIO = 5;
    ENXIO = 6;
    EBADF = 9;
    ECHILD = 10;
    EAGAIN = 11;
    ENOMEM = 12;
    EACCES = 13;
    EFAULT = 14;
    EBUSY = 16;
    EEXIST = 17;
    ENODEV = 19;
    ENOTDIR = 20;
    EISDIR = 21;
    EINVAL = 22;
    EMFILE = 24;
    ENOTTY = 25;
    EFBIG = 27;
    ENOSPC = 28;
    ESPIPE = 29;
    EPIPE = 32;
    ERANGE = 34;
    EDEADLK = 35;
    ENAMETOOLONG = 36;
    ENOSYS = 38;
    ENOTEMPTY = 39;
    ELOOP = 40;
    ENODATA = 61;
    EOVERFLOW = 75;
    ENOTSOCK = 88;
    EDESTADDRREQ = 89;
    EMSGSIZE = 90;
    EPROTOTYPE = 91;
    ENOPROTOOPT = 92;
    EPROTONOSUPPORT = 93;
    ESOCKTNOSUPPORT = 94;
    EOPNOTSUPP = 95;
    EAFNOSUPPORT = 97;
    EADDRINUSE = 98;
    EADDRNOTAVAIL = 99;
    ECONNRESET = 104;
    EISCONN = 106;
    ENOTCONN = 107;
    ETIMEDOUT = 110;
    ECONNREFUSED = 111;
    // Not seen by programs: EINTR, or the call is made again where the handler's flags say so (`ERESTARTSYS`).
    RESTARTS = 512;
}

/// Why a system call did not do its work.
#[derive(Debug)]
pub enum Halt {
    Errno(Errno),
    Stop(Stop),
    /// The thread waits: this one goes on, and the call is made again.
    Switch(ThreadId),
}

impl Halt {
    /// What stops the path's operation: of an error number or a wait, which are none, an internal error.
    pub fn stop(self) -> Stop {
        match self {
            Halt::Stop(stop) => stop,
            Halt::Errno(errno) => PathEnd::Internal(format!("error {} is no reason to stop", errno.0)).into(),
            Halt::Switch(thread) => PathEnd::Internal(format!("a switch to thread {thread} is no reason to stop")).into(),
        }
    }
}

impl From<Errno> for Halt {
    fn from(e: Errno) -> Halt {
        Halt::Errno(e)
    }
}

impl From<Stop> for Halt {
    fn from(s: Stop) -> Halt {
        Halt::Stop(s)
    }
}

impl From<PathEnd> for Halt {
    fn from(end: PathEnd) -> Halt {
        Halt::Stop(end.into())
    }
}
