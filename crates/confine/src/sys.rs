//! System calls with their errors, for code that runs between fork and exec: no allocation, no locks, no formatting.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr;

/// The error number of a failed call.
pub(crate) type Errno = i32;

/// The current error number.
pub(crate) fn errno() -> Errno {
    // SAFETY: the pointer is this thread's own and always valid.
    unsafe { *libc::__errno_location() }
}

/// The result of a call that returns a negative number when it fails.
pub(crate) fn check(result: libc::c_int) -> Result<libc::c_int, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// As [`check`], of calls made by number.
pub(crate) fn check_long(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

pub(crate) fn open(path: &CStr, flags: libc::c_int, mode: libc::c_uint) -> Result<RawFd, Errno> {
    // SAFETY: the string lives through the call.
    check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })
}

pub(crate) fn close(fd: RawFd) {
    // SAFETY: closing a descriptor touches no memory of ours.
    unsafe { libc::close(fd) };
}

/// Makes a folder; one that is there already is fine.
pub(crate) fn mkdir(path: &CStr, mode: libc::mode_t) -> Result<(), Errno> {
    // SAFETY: the string lives through the call.
    match check(unsafe { libc::mkdir(path.as_ptr(), mode) }) {
        Ok(_) | Err(libc::EEXIST) => Ok(()),
        Err(why) => Err(why),
    }
}

pub(crate) fn chdir(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the string lives through the call.
    check(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// Writes a file that exists, such as those of `/proc`, in one call.
pub(crate) fn write_file(file: &CStr, content: &[u8]) -> Result<(), Errno> {
    let fd = open(file, libc::O_WRONLY, 0)?;
    // SAFETY: the buffer lives through the call.
    let written = unsafe { libc::write(fd, content.as_ptr().cast(), content.len()) };
    let result = check_long(written as libc::c_long).map(drop);
    close(fd);
    result
}

pub(crate) fn mount(
    from: Option<&CStr>,
    place: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> Result<(), Errno> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the strings live through the call.
    check(unsafe { libc::mount(pointer(from), place.as_ptr(), pointer(kind), flags, pointer(options).cast()) }).map(drop)
}

/// Shows `from` at `place` too, without what is mounted below it.
pub(crate) fn bind(from: &CStr, place: &CStr) -> Result<(), Errno> {
    mount(Some(from), place, None, libc::MS_BIND, None)
}

/// Adds attributes (`MOUNT_ATTR_…`) to the mount at `place`.
pub(crate) fn restrict_mount(place: &CStr, attributes: u64) -> Result<(), Errno> {
    let attributes: [u64; 4] = [attributes, 0, 0, 0];
    // SAFETY: the structure `mount_attr` is four words; it and the string live through the call.
    let done =
        unsafe { libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, place.as_ptr(), 0, attributes.as_ptr(), size_of_val(&attributes)) };
    check_long(done).map(drop)
}

/// Closes all descriptors from `first` to `last`.
pub(crate) fn close_range(first: libc::c_uint, last: libc::c_uint) -> Result<(), Errno> {
    // SAFETY: closing descriptors touches no memory of ours.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop)
}

/// The number of an operation of prctl(2) and its first two arguments; the others are 0.
pub(crate) fn prctl(operation: libc::c_int, first: libc::c_ulong, second: libc::c_ulong) -> Result<libc::c_int, Errno> {
    // SAFETY: only called with operations whose arguments are numbers.
    check(unsafe { libc::prctl(operation, first, second, 0, 0) })
}

/// A new process like fork(2), in the new namespaces that `flags` name.
///
/// # Safety
/// In the child, only async-signal-safe functions may be called until it executes a program or exits.
pub(crate) unsafe fn clone(flags: libc::c_int) -> Result<libc::pid_t, Errno> {
    let flags = (flags | libc::SIGCHLD) as libc::c_ulong;
    // SAFETY: without CLONE_VM the child has a copy of the memory and goes on here; the caller keeps it async-signal-safe.
    check_long(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) }).map(|pid| pid as libc::pid_t)
}

/// The decimal digits of a process number, with a final 0, behind `before` and in front of `after`.
pub(crate) fn path_of_process<'a>(buffer: &'a mut [u8; 64], before: &[u8], pid: libc::pid_t, after: &[u8]) -> &'a CStr {
    let mut digits = [0; 10];
    let (mut rest, mut first) = (pid.unsigned_abs(), digits.len());
    while first == digits.len() || rest > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let mut end = 0;
    for part in [before, &digits[first..], after, b"\0"] {
        buffer[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
    CStr::from_bytes_with_nul(&buffer[..end]).unwrap_or(c"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_numbers_are_written_into_paths() {
        let mut buffer = [0; 64];
        assert_eq!(path_of_process(&mut buffer, b"/proc/", 0, b"/uid_map"), c"/proc/0/uid_map");
        assert_eq!(path_of_process(&mut buffer, b"/proc/", 4_194_304, b""), c"/proc/4194304");
    }
}
