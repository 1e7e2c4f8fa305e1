//! Files that data names: a source by its `#line`, a member of a thin archive, a log in a folder that a hostile program writes to.
//!
//! Such a name may lead to a device, a pipe, a kernel log or a file of a terabyte. So every one is opened here: only a regular file, without
//! waiting, never as a controlling terminal, and read up to a limit. What a user names (`--stdin`) may be a pipe and is not opened here.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes of a source file, in messages and reports.
pub const SOURCE: u64 = 16 << 20;
/// Most bytes of a test, of what is said of it, or of a sanitizer's log.
pub const TEST: u64 = 256 << 20;
/// Most bytes of a file of rules or summaries.
pub const RULES: u64 = 16 << 20;
/// Most bytes of a program, an object, a library or bitcode.
pub const PROGRAM: u64 = 2 << 30;

/// Opens a regular file to read.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    open_by(path, 0)
}

/// Opens a regular file that is no link itself.
pub fn open_here(path: &Path) -> io::Result<(File, Metadata)> {
    open_by(path, libc::O_NOFOLLOW).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"),
        _ => error,
    })
}

/// The bytes of a regular file, an error if it has more than `limit`.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, limit)
}

/// As [`read`], of a file that is no link itself.
pub fn read_here(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    bounded(open_here(path)?, limit)
}

/// As [`read`], as text.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Up to `most` bytes a regular file begins with.
pub fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.0.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_by(path: &Path, flags: i32) -> io::Result<(File, Metadata)> {
    // Asked first, since opening alone wakes who waits on a pipe and may act on a device.
    regular(&std::fs::metadata(path)?)?;
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags).open(path)?;
    let metadata = file.metadata()?;
    regular(&metadata)?;
    Ok((file, metadata))
}

fn regular(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        // As the kernel says it, and as programs under analysis see it.
        false if metadata.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR)),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// No more than the size that the file is said to have: files of the kernel have none, and some of them never end.
fn bounded((file, metadata): (File, Metadata), limit: u64) -> io::Result<Vec<u8>> {
    let size = metadata.len();
    if size > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it has {size} bytes, at most {limit} are read")));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn only_regular_files_are_read_and_only_to_a_limit() {
        let scratch = tempfile::tempdir().expect("there is room");
        let place = |name: &str| scratch.path().join(name);
        std::fs::write(place("f"), "four").expect("there is room");
        assert_eq!(read(&place("f"), 4).ok(), Some(b"four".to_vec()));
        assert_eq!(beginning(&place("f"), 2).ok(), Some(b"fo".to_vec()));
        let said = |result: io::Result<Vec<u8>>| result.expect_err("it is an error").to_string();
        assert_eq!(said(read(&place("f"), 3)), "it has 4 bytes, at most 3 are read");
        assert_eq!(said(read(Path::new("/dev/zero"), 3)), "it is not a regular file");
        assert!(Command::new("mkfifo").arg(place("fifo")).status().expect("there is a `mkfifo`").success());
        assert_eq!(said(read(&place("fifo"), 3)), "it is not a regular file");
        assert_eq!(read(scratch.path(), 3).expect_err("it is a folder").raw_os_error(), Some(libc::EISDIR));
        symlink(place("f"), place("link")).expect("there is room");
        assert_eq!(read(&place("link"), 4).ok(), Some(b"four".to_vec()));
        assert_eq!(said(read_here(&place("link"), 4)), "it is a symbolic link");
        // Reading it would wait for the kernel's next message.
        assert!(read(Path::new("/proc/kmsg"), 1 << 20).is_ok_and(|bytes| bytes.is_empty()) || !Path::new("/proc/kmsg").exists());
    }
}
