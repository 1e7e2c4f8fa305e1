//! What a program finds in its process, and the native run itself.
//!
//! The native run is the user's own request: it replaces this process by `execve`, so its exit code, streams, signals, terminal, working directory
//! and environment are its own. How signals were handled when this process began is noted before anything changes it, and put back.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Signals that were ignored when this process began, and those that were blocked: a bit for each, signal 1 first.
static IGNORED: AtomicU64 = AtomicU64::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);
/// Streams that were closed when this process began: a bit for each.
static CLOSED: AtomicU64 = AtomicU64::new(0);

/// Runs before Rust's own start, which ignores `SIGPIPE` and opens streams that are closed.
extern "C" fn note_start() {
    // SAFETY: asks for flags of descriptors.
    let closed = (0..3).fold(0u64, |all, fd| all | u64::from(unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0) << fd);
    CLOSED.store(closed, Ordering::Relaxed);
    let mut ignored = 0u64;
    for signal in 1..=64 {
        // SAFETY: reads how a signal is handled into plain memory; asks for nothing else.
        let handler = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut action) == 0 { action.sa_sigaction } else { libc::SIG_DFL }
        };
        ignored |= u64::from(handler == libc::SIG_IGN) << (signal - 1);
    }
    IGNORED.store(ignored, Ordering::Relaxed);
    // SAFETY: as above.
    let blocked = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &mut set);
        (1..=64).fold(0u64, |all, signal| all | u64::from(libc::sigismember(&set, signal) == 1) << (signal - 1))
    };
    BLOCKED.store(blocked, Ordering::Relaxed);
}

// SAFETY: the section holds functions that are called once before `main`; this one makes system calls and stores numbers.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_START: extern "C" fn() = note_start;

/// `default`, or which signals are ignored and blocked.
pub fn signals() -> Vec<u8> {
    match (IGNORED.load(Ordering::Relaxed), BLOCKED.load(Ordering::Relaxed)) {
        (0, 0) => b"default".to_vec(),
        (ignored, blocked) => format!("ignored {ignored:x} blocked {blocked:x}").into_bytes(),
    }
}

/// Names and values of the environment, in order; `None`: an entry is none of `NAME=value`, and programs see it all the same.
pub fn environment() -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    unsafe extern "C" {
        static environ: *const *const libc::c_char;
    }
    let mut all = Vec::new();
    // SAFETY: the list that the kernel gave ends with null, each entry ends with zero, and this process changes none.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let entry = std::ffi::CStr::from_ptr(*at).to_bytes();
            let equals = entry.iter().position(|b| *b == b'=').filter(|at| *at > 0)?;
            all.push((entry[..equals].to_vec(), entry[equals + 1..].to_vec()));
            at = at.add(1);
        }
    }
    Some(all)
}

/// Replaces this process by the program. Returns only the error.
pub fn become_program(file: &Path, arguments: &[Vec<u8>]) -> io::Error {
    let c = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let prepared = || -> io::Result<(CString, Vec<CString>)> {
        Ok((c(file.as_os_str().as_bytes())?, arguments.iter().map(|argument| c(argument)).collect::<io::Result<_>>()?))
    };
    let (file, arguments) = match prepared() {
        Ok(prepared) => prepared,
        Err(error) => return error,
    };
    let mut pointers: Vec<*const libc::c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let (ignored, blocked) = (IGNORED.load(Ordering::Relaxed), BLOCKED.load(Ordering::Relaxed));
    // SAFETY: the strings and the list that ends with null live until the call returns, which it does only with an error. The environment is this
    // process's own. Streams that were closed are closed on success. Signals are set to what they were when it began; no handler of ours runs afterwards.
    unsafe {
        for signal in 1..=64 {
            let was_ignored = ignored >> (signal - 1) & 1 == 1;
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = if was_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        let mut set: libc::sigset_t = std::mem::zeroed();
        (1..=64).filter(|signal| blocked >> (signal - 1) & 1 == 1).for_each(|signal| _ = libc::sigaddset(&mut set, signal));
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
        (0..3).filter(|fd| was_closed(*fd)).for_each(|fd| _ = libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC));
        unsafe extern "C" {
            static environ: *const *const libc::c_char;
        }
        libc::execve(file.as_ptr(), pointers.as_ptr(), environ);
    }
    io::Error::last_os_error()
}

/// Real and effective user, real and effective group.
pub fn ids() -> Vec<u8> {
    // SAFETY: system calls that only return numbers.
    let [user, effective, group, effective_group] = unsafe { [libc::getuid(), libc::geteuid(), libc::getgid(), libc::getegid()] };
    format!("{user} {effective} {group} {effective_group}").into_bytes()
}

/// Supplementary groups.
pub fn groups() -> Option<Vec<u8>> {
    let mut groups = vec![0; 1 << 16];
    // SAFETY: the list has the room that is said.
    let count = unsafe { libc::getgroups(1 << 16, groups.as_mut_ptr()) };
    let groups = &groups[..usize::try_from(count).ok()?];
    Some(groups.iter().map(u32::to_string).collect::<Vec<_>>().join(" ").into_bytes())
}

/// The mask of permissions, in octal.
pub fn umask() -> Vec<u8> {
    // SAFETY: sets the mask and puts it back; this process has one thread that makes files.
    let mask = unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        mask
    };
    format!("{mask:o}").into_bytes()
}

/// The limits of the process, by number.
pub fn limits() -> Vec<u8> {
    let pair = |resource: u32| {
        // SAFETY: `limit` is plain memory that the call fills.
        unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(resource as _, &mut limit);
            format!("{:x}:{:x}", limit.rlim_cur, limit.rlim_max)
        }
    };
    (0..16).map(pair).collect::<Vec<_>>().join(" ").into_bytes()
}

/// The processors that this process may run on, as the kernel says them.
pub fn processors() -> Option<Vec<u8>> {
    let mut mask = [0u64; 128];
    // SAFETY: the kernel fills the array, of whose size it is told.
    let len = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr()) };
    let bytes: Vec<u8> = mask.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.get(..usize::try_from(len).ok()?).map(<[u8]>::to_vec)
}

/// Rows of the auxiliary vector that the kernel gives every program alike, and AT_PLATFORM. The kernel is asked, because a C library answers with what
/// it made of them.
pub fn auxiliary() -> Vec<u8> {
    // AT_HWCAP, AT_CLKTCK, AT_HWCAP2, AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN, AT_MINSIGSTKSZ.
    const NUMBERS: [libc::c_ulong; 6] = [16, 17, 26, 27, 28, 51];
    const PLATFORM: libc::c_ulong = 15;
    // From memory: a file of `/proc` takes longer than all rows.
    let row = |number: &libc::c_ulong| {
        // SAFETY: `errno` is this thread's own, and `getauxval` reads what the kernel gave this process.
        let (value, error) = unsafe {
            *libc::__errno_location() = 0;
            (libc::getauxval(*number), *libc::__errno_location())
        };
        (error == 0).then(|| format!("{number}={value} "))
    };
    let numbers: String = NUMBERS.iter().filter_map(row).collect();
    // SAFETY: the row of the platform is a string that lives as long as the process, or 0.
    let platform = unsafe {
        let platform = libc::getauxval(PLATFORM) as *const libc::c_char;
        if platform.is_null() { &[][..] } else { std::ffi::CStr::from_ptr(platform).to_bytes() }
    };
    [numbers.as_bytes(), platform].concat()
}

/// What [`descriptors`] begins with where a program finds its three streams; numbers of others that it inherits come next.
pub const STANDARD: &str = "standard";

/// Whether a stream was closed when this process began: it is what Rust's start opened in its place.
fn was_closed(fd: i32) -> bool {
    (0..3).contains(&fd) && CLOSED.load(Ordering::Relaxed) >> fd & 1 == 1
}

/// Numbers of descriptors that one call asks about.
const ASKED: usize = 512;

/// The numbers of this process's open descriptors. The kernel (since 6.2) says by the size of the list how many there are, and `poll` says which numbers
/// are none: both together are much faster than the list.
fn open_descriptors() -> Option<Vec<i32>> {
    const LIST: &str = "/proc/self/fd";
    let count = usize::try_from(rustix::fs::stat(LIST).ok()?.st_size).ok()?;
    let mut asked: [libc::pollfd; ASKED] = std::array::from_fn(|fd| libc::pollfd { fd: fd as i32, events: 0, revents: 0 });
    // SAFETY: the array is as long as is said. Without a time to wait it changes nothing.
    if count > 0 && unsafe { libc::poll(asked.as_mut_ptr(), ASKED as libc::nfds_t, 0) } >= 0 {
        let open = asked.iter().filter(|one| one.revents & libc::POLLNVAL == 0);
        let open: Vec<i32> = open.map(|one| one.fd).collect();
        if open.len() == count {
            return Some(open);
        }
    }
    fs::read_dir(LIST).ok()?.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// The descriptors that a program inherits: [`STANDARD`] if 0 can be read, and 1 and 2 can be written.
pub fn descriptors() -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for fd in open_descriptors()? {
        // SAFETY: asks for numbers of a descriptor; one that is closed by now is an error.
        let (kept, flags) = unsafe { (libc::fcntl(fd, libc::F_GETFD), libc::fcntl(fd, libc::F_GETFL)) };
        if kept >= 0 && kept & libc::FD_CLOEXEC == 0 && flags >= 0 && !was_closed(fd) {
            all.push((fd, flags & libc::O_ACCMODE, flags & libc::O_PATH != 0));
        }
    }
    all.sort_unstable();
    let fits = |(fd, (number, mode, is_path)): (i32, &(i32, i32, bool))| {
        let other = if fd == 0 { libc::O_WRONLY } else { libc::O_RDONLY };
        *number == fd && *mode != other && !is_path
    };
    let standard = all.len() >= 3 && (0..3).zip(&all).all(fits);
    let others = all.iter().skip(3).map(|(fd, _, _)| format!(" {fd}")).collect::<String>();
    Some(if standard { format!("{STANDARD}{others}") } else { format!("{all:?}") }.into_bytes())
}

/// What `struct stat` says a file is.
struct Kind {
    /// The bits of its mode that tell files, directories, pipes and devices apart.
    mode: u32,
    device: u64,
    inode: u64,
    /// The device that it stands for.
    stands_for: u64,
}

/// The kind of a stream, or of a file that is not followed.
fn kind(what: Result<i32, &[u8]>) -> Option<Kind> {
    let bytes = stat(what)?;
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let mode = u32::from_le_bytes(*bytes.get(24..)?.first_chunk()?) & libc::S_IFMT;
    Some(Kind { mode, device: number(0)?, inode: number(8)?, stands_for: number(40)? })
}

/// Device and inode of a regular file; of a link, its own.
fn identity(what: Result<i32, &[u8]>) -> Option<String> {
    kind(what).filter(|kind| kind.mode == libc::S_IFREG).map(|kind| format!("{}:{}", kind.device, kind.inode))
}

/// The regular files that are streams which can be written, one a word.
pub fn written() -> Vec<u8> {
    // SAFETY: asks for flags of a descriptor; one that is closed is an error, whose bits are those of no mode.
    let writes = |fd: &i32| matches!(unsafe { libc::fcntl(*fd, libc::F_GETFL) } & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR);
    let all: Vec<String> = (0..3).filter(|fd| !was_closed(*fd)).filter(writes).filter_map(|fd| identity(Ok(fd))).collect();
    all.join(" ").into_bytes()
}

/// Whether a file, or standard input (`0`), is none of those that [`written`] lists.
pub fn is_apart(about: &[u8], written: &[u8]) -> Vec<u8> {
    let own = identity(if about == b"0" { Ok(0) } else { Err(about) });
    let meets = own.is_some_and(|own| written.split(|b| *b == b' ').any(|other| other == own.as_bytes()));
    if meets { b"no".to_vec() } else { b"yes".to_vec() }
}

/// Whether a timer of the process runs that an earlier program set: it would end the program by a signal.
pub fn timers() -> Vec<u8> {
    let runs = |which: libc::c_int| {
        // SAFETY: the call fills the structure.
        unsafe {
            let mut timer: libc::itimerval = std::mem::zeroed();
            libc::getitimer(which, &mut timer) != 0 || timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
        }
    };
    let any = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF].into_iter().any(runs);
    if any { b"set".to_vec() } else { b"none".to_vec() }
}

/// Whether system calls of the process are filtered: 0, or the kind of filter.
pub fn filter() -> Vec<u8> {
    // SAFETY: asks for a number.
    let mode = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) };
    mode.to_string().into_bytes()
}

/// When a file was read last, or a stream; nothing, if nobody knows.
pub fn read_last(what: Result<i32, &[u8]>) -> Option<Vec<u8>> {
    stat(what).and_then(|bytes| Some(bytes.get(72..88)?.to_vec()))
}

fn error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// `struct stat` of a stream, or of a file that is not followed.
pub fn stat(what: Result<i32, &[u8]>) -> Option<Vec<u8>> {
    const SIZE: usize = size_of::<libc::stat>();
    let path = what.err().map(CString::new).transpose().ok()?;
    let mut bytes = [0u8; SIZE];
    let place = bytes.as_mut_ptr().cast::<libc::stat>();
    // SAFETY: the array has the structure's size, its bytes may have any values, and the kernel's calls write to unaligned memory as well.
    let done = unsafe {
        match (what, &path) {
            (Ok(fd), _) => libc::fstat(fd, place),
            (Err(_), Some(path)) => libc::lstat(path.as_ptr(), place),
            (Err(_), None) => return None,
        }
    };
    (done == 0).then(|| bytes.to_vec())
}

/// `struct statfs` of the file system that a file is on.
pub fn statfs(path: &[u8]) -> Option<Vec<u8>> {
    let path = CString::new(path).ok()?;
    let mut bytes = [0u8; 120];
    // SAFETY: the kernel fills the structure, which has as many bytes on x86-64.
    let done = unsafe { libc::syscall(libc::SYS_statfs, path.as_ptr(), bytes.as_mut_ptr()) };
    (done == 0).then(|| bytes.to_vec())
}

/// `struct statx` of a file that is not followed, with the fields and the way of asking that a program wants.
pub fn statx(path: &[u8], mask: u32, flags: u32) -> Option<Vec<u8>> {
    let path = CString::new(path).ok()?;
    let mut bytes = [0u8; 256];
    let flags = flags | libc::AT_SYMLINK_NOFOLLOW as u32;
    // SAFETY: the kernel fills the structure, which has as many bytes.
    let done = unsafe { libc::syscall(libc::SYS_statx, libc::AT_FDCWD, path.as_ptr(), flags, mask, bytes.as_mut_ptr()) };
    (done == 0).then(|| bytes.to_vec())
}

/// `struct sysinfo`.
pub fn sysinfo() -> Option<Vec<u8>> {
    let mut bytes = [0u8; 112];
    // SAFETY: the kernel fills the structure, which has as many bytes on x86-64.
    let done = unsafe { libc::syscall(libc::SYS_sysinfo, bytes.as_mut_ptr()) };
    (done == 0).then(|| bytes.to_vec())
}

/// The steps of a clock of the system, in seconds and nanoseconds; `None`: there is no such clock, or it is a process's own.
pub fn clock_steps(clock: i32) -> Option<Vec<u8>> {
    let mut steps = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    let done = clock >= 0 && unsafe { libc::clock_getres(clock, &mut steps) } == 0;
    done.then(|| format!("{} {}", steps.tv_sec, steps.tv_nsec).into_bytes())
}

/// Seconds since 1970.
pub fn now() -> Option<u64> {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Whether the kernel lets this user access a file so, as `access` asks.
pub fn may_access(path: &[u8], want: i32) -> Vec<u8> {
    let may = CString::new(path).is_ok_and(|path| {
        // SAFETY: a system call on a string that ends with zero.
        unsafe { libc::access(path.as_ptr(), want & 7) == 0 }
    });
    if may { b"yes".to_vec() } else { b"no".to_vec() }
}

/// Whether writes to a stream succeed: it is a terminal, a device that takes everything, a file with room, or a pipe or socket with a reader.
pub fn accepts(fd: i32) -> Vec<u8> {
    const ROOM: u64 = 1 << 20;
    // `/dev/null` and `/dev/zero`.
    const TAKE_ALL: [u64; 2] = [libc::makedev(1, 3), libc::makedev(1, 5)];
    let Some(kind) = kind(Ok(fd)) else { return b"no".to_vec() };
    // SAFETY: the calls fill plain memory, and ask of a descriptor.
    let accepts = unsafe {
        match kind.mode {
            libc::S_IFREG => {
                let mut system: libc::statvfs = std::mem::zeroed();
                let mut limit: libc::rlimit = std::mem::zeroed();
                libc::fstatvfs(fd, &mut system) == 0
                    && system.f_bavail.saturating_mul(system.f_frsize) >= ROOM
                    && libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0
                    && limit.rlim_cur == libc::RLIM_INFINITY
            }
            libc::S_IFIFO | libc::S_IFSOCK => {
                let mut one = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                libc::poll(&mut one, 1, 0) >= 0 && one.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) == 0
            }
            libc::S_IFCHR => TAKE_ALL.contains(&kind.stands_for) || libc::isatty(fd) == 1,
            _ => false,
        }
    };
    if accepts { b"yes".to_vec() } else { b"no".to_vec() }
}

/// Whether a stream is a regular file.
pub fn is_regular(fd: i32) -> Option<bool> {
    kind(Ok(fd)).map(|kind| kind.mode == libc::S_IFREG)
}

/// The place of a stream in its file.
pub fn place(fd: i32) -> Vec<u8> {
    // SAFETY: asks for a number.
    let place = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    if place < 0 { format!("error {}", error()).into_bytes() } else { place.to_string().into_bytes() }
}

pub fn flags(fd: i32) -> Vec<u8> {
    // SAFETY: asks for a number.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags < 0 { format!("error {}", error()).into_bytes() } else { flags.to_string().into_bytes() }
}

/// The answer of a terminal to one of the requests that programs ask what a stream is by.
pub fn ioctl(fd: i32, request: u64) -> Option<Vec<u8>> {
    const ASKS: [u64; 2] = [libc::TCGETS, libc::TIOCGWINSZ];
    if !ASKS.contains(&request) {
        return None;
    }
    let mut bytes = [0u8; 256];
    // SAFETY: both requests fill a structure that is smaller than the array.
    let done = unsafe { libc::ioctl(fd, request as _, bytes.as_mut_ptr()) };
    Some(if done < 0 { format!("error {}", error()).into_bytes() } else { [&b"terminal "[..], &bytes[..64]].concat() })
}

/// What a regular file on descriptor 0 holds, if it is read from its beginning and no larger.
pub fn stdin_content(most: u64) -> Option<Vec<u8>> {
    let file = std::mem::ManuallyDrop::new(stdin_file());
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > most || place(0) != b"0" {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(about.len()).ok()?];
    std::os::unix::fs::FileExt::read_exact_at(&*file, &mut bytes, 0).ok()?;
    Some(bytes)
}

/// Whether descriptor 0 is `/dev/null`.
pub fn stdin_is_null() -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let file = std::mem::ManuallyDrop::new(stdin_file());
    let null = fs::metadata("/dev/null").map(|m| m.rdev()).ok();
    file.metadata().is_ok_and(|m| m.file_type().is_char_device() && Some(m.rdev()) == null)
}

/// Descriptor 0 as a file, not to be closed.
fn stdin_file() -> fs::File {
    use std::os::fd::FromRawFd;
    // SAFETY: both users keep it from being closed; an error of a closed descriptor is an error of the calls.
    unsafe { fs::File::from_raw_fd(0) }
}
