//! The real file system, read only, with a record of every answer for the run folder (docs/design/002, docs/design/015).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wryneck_environ::{DirEntry, Host, Stat, input::mode};
use wryneck_report::units;

use crate::{allocator, data};

/// Largest host file a program can read, in bytes.
const LARGEST: u64 = 256 << 20;
const EIO: i32 = 5;
const EFBIG: i32 = 27;

/// What can be asked of the host.
pub const QUESTIONS: [&str; 6] = ["dir", "file", "link", "lstat", "stat", "uname"];

/// The bytes of an answer, or an error number.
pub type Answer = Result<Arc<Vec<u8>>, i32>;

/// Answers by question and path.
pub type Answers = BTreeMap<(&'static str, Vec<u8>), Answer>;

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRead {
    /// One of [`QUESTIONS`].
    pub question: &'static str,
    pub path: Vec<u8>,
    /// The bytes of the answer (entries and `stat` as text), or an error number.
    pub answer: Answer,
}

/// What all workers of a run see of the host: each answer is captured when it is first asked for, or was by an earlier run.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Captured>>);

#[derive(Default)]
struct Captured {
    answers: Answers,
    /// What was captured since the record was last taken.
    record: Vec<HostRead>,
    /// The files that were not read since they are too large, in words.
    refused: Vec<String>,
}

impl Shared {
    /// Where an earlier run got these answers. They are part of the record.
    pub fn after(earlier: Answers) -> Shared {
        let read = |((question, path), answer): (&(&'static str, Vec<u8>), &Answer)| HostRead {
            question,
            path: path.clone(),
            answer: answer.clone(),
        };
        let record = earlier.iter().map(read).collect();
        Shared(Arc::new(Mutex::new(Captured { answers: earlier, record, refused: Vec::new() })))
    }

    /// What was captured since this was last asked.
    pub fn take_record(&self) -> Vec<HostRead> {
        allocator::undisturbed(|| std::mem::take(&mut self.lock().record))
    }

    /// The files that were too large, in words.
    pub fn refused(&self) -> Vec<String> {
        allocator::undisturbed(|| self.lock().refused.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host as one worker asks it.
pub struct RealHost {
    shared: Shared,
    /// Largest file that is read, in bytes.
    most: u64,
}

impl RealHost {
    /// A host for a run that may have so much memory: a file may take a quarter of it.
    pub fn new(memory: u64) -> RealHost {
        RealHost::of(memory, Shared::default())
    }

    /// The same, with what others have captured.
    pub fn of(memory: u64, shared: Shared) -> RealHost {
        RealHost { shared, most: LARGEST.min(memory / 4) }
    }

    /// The answer to a question, which is asked if nobody has; as `parse` reads it.
    fn answer<T>(
        &self,
        question: &'static str,
        path: &[u8],
        parse: impl FnOnce(&[u8]) -> Option<T>,
        ask: impl FnOnce() -> Result<T, i32>,
        bytes: impl FnOnce(&T) -> Vec<u8>,
    ) -> Result<T, i32> {
        allocator::undisturbed(|| {
            let mut captured = self.shared.lock();
            let key = (question, path.to_vec());
            match captured.answers.get(&key) {
                Some(Ok(known)) => {
                    if let Some(known) = parse(known) {
                        return Ok(known);
                    }
                }
                Some(Err(error)) => return Err(*error),
                None => {}
            }
            let answer = ask();
            let as_bytes = answer.as_ref().map(|answer| Arc::new(bytes(answer))).map_err(|e| *e);
            captured.record.push(HostRead { question, path: path.to_vec(), answer: as_bytes.clone() });
            captured.answers.insert(key, as_bytes);
            answer
        })
    }

    /// What `uname` says of the real system: system, node, release, version, machine, domain.
    pub fn uname(&self) -> [Vec<u8>; 6] {
        let known = |bytes: &[u8]| bytes.split(|b| *b == 0).map(<[u8]>::to_vec).collect::<Vec<_>>().try_into().ok();
        let ask = || {
            // SAFETY: `names` is plain arrays for which zero is valid, and is what the call fills.
            let names = unsafe {
                let mut names: libc::utsname = std::mem::zeroed();
                libc::uname(&mut names);
                names
            };
            let text = |field: &[libc::c_char]| field.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect::<Vec<u8>>();
            Ok([&names.sysname, &names.nodename, &names.release, &names.version, &names.machine, &names.domainname].map(|f| text(f)))
        };
        self.answer("uname", b"", known, ask, |names| names.join(&0)).unwrap_or_default()
    }

    /// The user that programs run as: the real one.
    pub fn user() -> u32 {
        // SAFETY: a system call that only returns a number.
        unsafe { libc::geteuid() }
    }
}

impl Host for RealHost {
    fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, i32> {
        let question = if follow { "stat" } else { "lstat" };
        let ask = || if follow { fs::metadata(at(path)) } else { fs::symlink_metadata(at(path)) }.map(|m| stat(&m)).map_err(number);
        self.answer(question, path, stat_of, ask, numbers_of)
    }

    fn read_file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, i32> {
        allocator::undisturbed(|| {
            let mut captured = self.shared.lock();
            let key = ("file", path.to_vec());
            if let Some(answer) = captured.answers.get(&key) {
                return answer.clone();
            }
            let answer = read(at(path), self.most).map(Arc::new);
            if answer == Err(EFBIG) {
                let (path, most) = (String::from_utf8_lossy(path), units::bytes(self.most));
                captured
                    .refused
                    .push(format!("the file `{path}` was not read: it has more than {most}, a quarter of the memory or the most there is"));
            }
            captured.record.push(HostRead { question: "file", path: path.to_vec(), answer: answer.clone() });
            captured.answers.insert(key, answer.clone());
            answer
        })
    }

    fn list_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>, i32> {
        let ask = || {
            list(at(path)).map_err(number).map(|mut entries| {
                entries.sort();
                entries
            })
        };
        self.answer("dir", path, entries_of, ask, |entries| entries.iter().flat_map(bytes_of).collect())
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, i32> {
        let ask = || fs::read_link(at(path)).map(|p| p.into_os_string().into_vec()).map_err(number);
        self.answer("link", path, |bytes| Some(bytes.to_vec()), ask, Vec::clone)
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
    // Whoever asks when a file was read last is to learn of the program's own reading; of files of others the kernel does not let that be.
    let _ = rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::NOATIME);
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

/// An entry in the record.
fn bytes_of(entry: &DirEntry) -> Vec<u8> {
    [format!("{} {} ", entry.ino, entry.kind).as_bytes(), &entry.name, b"\0"].concat()
}

/// The entries in a record.
fn entries_of(bytes: &[u8]) -> Option<Vec<DirEntry>> {
    let entry = |bytes: &[u8]| {
        let mut parts = bytes.splitn(3, |b| *b == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (ino, kind) = (number()?, u32::try_from(number()?).ok()?);
        Some(DirEntry { name: parts.next()?.to_vec(), ino, kind })
    };
    bytes.strip_suffix(b"\0").map_or(Some(Vec::new()), |all| all.split(|b| *b == 0).map(entry).collect())
}

/// What `stat` says, in the record.
fn numbers_of(s: &Stat) -> Vec<u8> {
    let (a, m, c) = (s.atime, s.mtime, s.ctime);
    let (mode, uid, gid) = (s.mode, s.uid, s.gid);
    format!("{} {} {} {mode} {uid} {gid} {} {} {} {} {} {} {} {}", s.dev, s.ino, s.nlink, s.rdev, s.size, a.0, a.1, m.0, m.1, c.0, c.1)
        .into_bytes()
}

/// The same out of a record.
fn stat_of(bytes: &[u8]) -> Option<Stat> {
    let numbers: Vec<i128> = std::str::from_utf8(bytes).ok()?.split(' ').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [dev, ino, nlink, mode, uid, gid, rdev, size, times @ ..] = &numbers[..] else { return None };
    let whole = |n: &i128| u64::try_from(*n).ok();
    let half = |n: &i128| u32::try_from(*n).ok();
    let times: Vec<i64> = times.iter().map(|n| i64::try_from(*n).ok()).collect::<Option<_>>()?;
    let [a, an, m, mn, c, cn] = times[..] else { return None };
    Some(Stat {
        dev: whole(dev)?,
        ino: whole(ino)?,
        nlink: whole(nlink)?,
        mode: half(mode)?,
        uid: half(uid)?,
        gid: half(gid)?,
        rdev: whole(rdev)?,
        size: whole(size)?,
        atime: (a, an),
        mtime: (m, mn),
        ctime: (c, cn),
    })
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
        let record = host.shared.take_record();
        assert_eq!(record.len(), 5);
        assert_eq!((record[0].question, &record[0].answer), ("file", &Ok(b"hello".to_vec().into())));
        assert_eq!(record[2].answer, Err(2));
    }

    #[test]
    fn a_later_run_sees_the_host_as_an_earlier_one_did() {
        let dir = tempfile::tempdir().expect("there is room");
        let (file, odd) = (dir.path().join("f"), dir.path().join("a b"));
        fs::write(&file, b"hello").expect("there is room");
        fs::write(&odd, b"").expect("there is room");
        std::os::unix::fs::symlink("f", dir.path().join("l")).expect("there is room");
        let path = |p: &Path| p.as_os_str().as_bytes().to_vec();
        let (folder, f, link, none) = (path(dir.path()), path(&file), path(&dir.path().join("l")), path(&dir.path().join("none")));
        let ask = |host: &RealHost| {
            let stats: Vec<_> = [&f, &link, &none].iter().flat_map(|p| [host.stat(p, true), host.stat(p, false)]).collect();
            (host.uname(), stats, host.read_file(&f), host.read_file(&none), host.list_dir(&folder), host.read_link(&link))
        };
        let host = RealHost::new(1 << 30);
        let then = ask(&host);
        assert!(then.4.as_ref().is_ok_and(|all| all.len() == 3) && then.1[1].is_ok() && then.1[4] == Err(2));
        let record = host.shared.take_record();
        let earlier: Answers = record.iter().map(|r| ((r.question, r.path.clone()), r.answer.clone())).collect();
        fs::write(&file, b"it has changed").expect("there is room");
        fs::remove_file(&odd).expect("it is there");
        let later = RealHost::of(1 << 30, Shared::after(earlier));
        assert_eq!(ask(&later), then);
        assert_eq!(later.shared.take_record().len(), record.len());
        assert!(record.iter().all(|r| QUESTIONS.contains(&r.question)));
    }
}
