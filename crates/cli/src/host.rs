//! The real file system, read only, with a record of every answer for the run folder (docs/design/002, docs/design/015).

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::data;
use wryneck_environ::{DirEntry, Host, Stat, input::mode};
use wryneck_report::units;

/// Largest host file a program can read, in bytes.
const LARGEST: u64 = 256 << 20;
const EIO: i32 = 5;
const EFBIG: i32 = 27;

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRead {
    /// `stat`, `lstat`, `file`, `dir`, `link` or `uname`.
    pub question: &'static str,
    pub path: Vec<u8>,
    /// The bytes of the answer (entries and `stat` as text), or an error number.
    pub answer: Result<Arc<Vec<u8>>, i32>,
}

/// The host, and what was read of it since the record was last taken.
pub struct RealHost {
    record: Rc<RefCell<Vec<HostRead>>>,
    /// Largest file that is read, in bytes, and those that were not.
    most: u64,
    refused: Refused,
}

/// The files that were not read since they are too large, in words.
pub type Refused = Rc<RefCell<Vec<String>>>;

impl RealHost {
    /// A host for a run that may have so much memory: a file may take a quarter of it.
    pub fn new(memory: u64) -> RealHost {
        RealHost { record: Rc::default(), most: LARGEST.min(memory / 4), refused: Rc::default() }
    }

    /// The files that were too large, shared with the host.
    pub fn refused(&self) -> Refused {
        self.refused.clone()
    }

    /// The record, shared with the host.
    pub fn record(&self) -> Rc<RefCell<Vec<HostRead>>> {
        self.record.clone()
    }

    /// What `uname` says of the real system: system, node, release, version, machine, domain.
    pub fn uname(&self) -> [Vec<u8>; 6] {
        // SAFETY: `names` is plain arrays for which zero is valid, and is what the call fills.
        let names = unsafe {
            let mut names: libc::utsname = std::mem::zeroed();
            libc::uname(&mut names);
            names
        };
        let text = |field: &[libc::c_char]| field.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect::<Vec<u8>>();
        let names = [&names.sysname, &names.nodename, &names.release, &names.version, &names.machine, &names.domainname].map(|f| text(f));
        self.note("uname", b"", &Ok(()), |()| names.join(&0));
        names
    }

    /// The user that programs run as: the real one.
    pub fn user() -> u32 {
        // SAFETY: a system call that only returns a number.
        unsafe { libc::geteuid() }
    }

    fn note<T>(&self, question: &'static str, path: &[u8], answer: &Result<T, i32>, bytes: impl FnOnce(&T) -> Vec<u8>) {
        let answer = answer.as_ref().map(|answer| Arc::new(bytes(answer))).map_err(|e| *e);
        self.record.borrow_mut().push(HostRead { question, path: path.to_vec(), answer });
    }
}

impl Host for RealHost {
    fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, i32> {
        let at = at(path);
        let answer = if follow { fs::metadata(at) } else { fs::symlink_metadata(at) }.map(|m| stat(&m)).map_err(number);
        self.note(if follow { "stat" } else { "lstat" }, path, &answer, |s| format!("{s:?}").into_bytes());
        answer
    }

    fn read_file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, i32> {
        let answer = read(at(path), self.most).map(Arc::new);
        if answer == Err(EFBIG) {
            let (path, most) = (String::from_utf8_lossy(path), units::bytes(self.most));
            self.refused
                .borrow_mut()
                .push(format!("the file `{path}` was not read: it has more than {most}, a quarter of the memory or the most there is"));
        }
        self.record.borrow_mut().push(HostRead { question: "file", path: path.to_vec(), answer: answer.clone() });
        answer
    }

    fn list_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>, i32> {
        let answer = list(at(path)).map_err(number).map(|mut entries| {
            entries.sort();
            entries
        });
        self.note("dir", path, &answer, |entries| entries.iter().flat_map(|e| [&e.name[..], b"\0"].concat()).collect());
        answer
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, i32> {
        let answer = fs::read_link(at(path)).map(|p| p.into_os_string().into_vec()).map_err(number);
        self.note("link", path, &answer, Vec::clone);
        answer
    }
}

fn at(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn number(error: io::Error) -> i32 {
    error.raw_os_error().unwrap_or(EIO)
}

/// Only regular files are read: a device or a pipe might never end.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, i32> {
    let meta = fs::metadata(path).map_err(number)?;
    if !meta.is_file() {
        return Err(EIO);
    }
    let (file, _) = data::open(path).map_err(number)?;
    let size = file.metadata().map_err(number)?.len();
    if size > most {
        return Err(EFBIG);
    }
    // Files of the kernel have more than the size they are said to have, and some would wait for more.
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(most + 1).read_to_end(&mut bytes).map_err(number)?;
    if bytes.len() as u64 > most { Err(EFBIG) } else { Ok(bytes) }
}

/// The entries of a directory in the kernel's order.
pub fn entries(path: &[u8]) -> Result<Vec<DirEntry>, i32> {
    list(at(path)).map_err(number)
}

fn list(path: &Path) -> io::Result<Vec<DirEntry>> {
    fs::read_dir(path)?
        .map(|entry| {
            let entry = entry?;
            Ok(DirEntry { name: entry.file_name().into_vec(), ino: entry.ino(), kind: kind(entry.file_type()?) })
        })
        .collect()
}

fn kind(t: fs::FileType) -> u32 {
    match () {
        () if t.is_dir() => mode::DIRECTORY,
        () if t.is_symlink() => mode::LINK,
        () if t.is_fifo() => mode::FIFO,
        () if t.is_char_device() => mode::CHARACTER,
        () => mode::REGULAR,
    }
}

fn stat(m: &Metadata) -> Stat {
    Stat {
        dev: m.dev(),
        ino: m.ino(),
        nlink: m.nlink(),
        mode: m.mode(),
        uid: m.uid(),
        gid: m.gid(),
        rdev: m.rdev(),
        size: m.size(),
        atime: (m.atime(), m.atime_nsec()),
        mtime: (m.mtime(), m.mtime_nsec()),
        ctime: (m.ctime(), m.ctime_nsec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_the_kernel_and_are_recorded() {
        let dir = tempfile::tempdir().expect("there is room");
        let file = dir.path().join("f");
        fs::write(&file, b"hello").expect("there is room");
        let (host, path) = (RealHost::new(1 << 30), file.as_os_str().as_bytes());
        assert_eq!(host.read_file(path), Ok(b"hello".to_vec().into()));
        assert_eq!(host.stat(path, true).map(|s| (s.size, s.mode & mode::KIND)), Ok((5, mode::REGULAR)));
        assert_eq!(host.read_file(b"/no/such/file"), Err(2));
        assert_eq!(host.read_file(b"/dev/zero"), Err(EIO));
        let names = host.list_dir(dir.path().as_os_str().as_bytes()).map(|all| all.into_iter().map(|e| e.name).collect::<Vec<_>>());
        assert_eq!(names, Ok(vec![b"f".to_vec()]));
        let record = host.record();
        let record = record.borrow();
        assert_eq!(record.len(), 5);
        assert_eq!((record[0].question, &record[0].answer), ("file", &Ok(b"hello".to_vec().into())));
        assert_eq!(record[2].answer, Err(2));
    }
}
