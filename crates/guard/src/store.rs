//! Stores on disk: one file for each program, in a folder of the user's own.
//!
//! A file is made beside its place and renamed over it, so readers need no lock and a killed writer leaves the old file. Writers hold a lock
//! for each program, read what is there, add to it and replace it. A file ends with a keyed hash. It is checked whole once; then a small file beside
//! it vouches for this very file by what changes with it (as the cache does), so a lookup reads only what it needs. A file that does not fit is
//! set aside under another name, and the program's paths are verified again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::file::{Damaged, Key, SEAL, View, encode};
use crate::map;
use crate::tree::Tree;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot use `{path}`: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("`{0}` belongs to another user, or others can write to it")]
    NotOurs(PathBuf),
    #[error("the paths of this program outgrew a store")]
    TooLarge,
}

/// A folder of stores, and the user's key.
pub struct Store {
    dir: PathBuf,
    key: [u8; 32],
}

/// What is known of a program.
pub enum Loaded {
    Nothing,
    /// A file was there that this user's tool did not write, or that is damaged; now it has this name.
    SetAside(PathBuf),
    Paths(Mapped),
}

/// A store's file in memory.
pub struct Mapped {
    map: Mmap,
    key: Key,
}

impl Mapped {
    pub fn view(&self) -> Result<View<'_>, Damaged> {
        View::of(&self.map, &self.key)
    }

    /// Bytes of the file.
    pub fn size(&self) -> usize {
        self.map.len()
    }
}

/// A lock on one program's store, or on its verification. It goes with the value.
pub struct Lock {
    _file: File,
}

/// The name that files of a program begin with.
pub fn hex(key: &Key) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Key> {
    let mut key = Key::default();
    let digits = text.as_bytes();
    (digits.len() == 2 * key.len()).then_some(())?;
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(key)
}

/// Most bytes of a description.
const MOST_TEXT: u64 = 1 << 16;

impl Store {
    /// The stores in a folder, which is made if it is not there. `key` is the user's secret.
    pub fn open(dir: &Path, key: [u8; 32]) -> Result<Store, StoreError> {
        let io = |error| StoreError::Io { path: dir.to_owned(), error };
        fs::DirBuilder::new().mode(0o700).recursive(true).create(dir).map_err(io)?;
        let about = fs::symlink_metadata(dir).map_err(io)?;
        if !about.is_dir() || about.uid() != rustix::process::geteuid().as_raw() || about.mode() & 0o022 != 0 {
            return Err(StoreError::NotOurs(dir.to_owned()));
        }
        Ok(Store { dir: dir.to_owned(), key })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, program: &Key, ending: &str) -> PathBuf {
        self.dir.join(format!("{}.{ending}", hex(program)))
    }

    fn io<T>(&self, path: &Path, result: io::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::Io { path: path.to_owned(), error })
    }

    /// A keyed hash for a purpose.
    pub fn seal(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in [purpose.as_bytes()].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// The paths of a program. Cost: a map and two small reads, once the file has been checked whole.
    pub fn load(&self, program: &Key) -> Result<Loaded, StoreError> {
        let path = self.path(program, "paths");
        let file = match open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded::Nothing),
            // A link, or anything else that nobody puts there by accident.
            Err(_) if fs::symlink_metadata(&path).is_ok_and(|m| !m.is_file()) => return self.set_aside(&path),
            Err(error) => return Err(StoreError::Io { path, error }),
        };
        let about = self.io(&path, file.metadata())?;
        let ours = about.is_file() && about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o022 == 0;
        if !ours || about.len() < SEAL as u64 {
            return self.set_aside(&path);
        }
        let map = self.io(&path, map::map(&file))?;
        let mapped = Mapped { map, key: *program };
        if !self.is_vouched_for(&path, &about) {
            if !self.is_whole(&mapped.map) {
                return self.set_aside(&path);
            }
            self.vouch(&path, &about);
        }
        if mapped.view().is_err() { self.set_aside(&path) } else { Ok(Loaded::Paths(mapped)) }
    }

    /// Whether a file's seal is that of its content.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        bytes.split_at_checked(bytes.len().saturating_sub(SEAL)).is_some_and(|(content, seal)| self.seal("paths", &[content]) == seal)
    }

    /// Moves a file out of the way.
    pub fn set_aside(&self, path: &Path) -> Result<Loaded, StoreError> {
        let aside = path.with_extension("damaged");
        self.io(path, fs::rename(path, &aside))?;
        Ok(Loaded::SetAside(aside))
    }

    /// Adds paths to a program's. Waits for other writers. How many paths there are now.
    pub fn commit(&self, program: &Key, paths: &Tree) -> Result<usize, StoreError> {
        let _lock = self.lock(program, "lock", true)?;
        let mut all = match self.load(program)? {
            Loaded::Paths(mapped) => mapped.view().and_then(|view| view.tree()).unwrap_or_default(),
            Loaded::Nothing | Loaded::SetAside(_) => Tree::default(),
        };
        all.merge(paths);
        self.sweep(program);
        let mut bytes = encode(&all, program).ok_or(StoreError::TooLarge)?;
        let seal = self.seal("paths", &[&bytes]);
        bytes.extend(seal);
        let path = self.path(program, "paths");
        self.replace(&path, &bytes)?;
        if let Ok(about) = fs::symlink_metadata(&path) {
            self.vouch(&path, &about);
        }
        Ok(all.len())
    }

    /// Removes what killed writers of a program left. Only a holder of its lock calls this: who writes beside it only loses what costs time.
    fn sweep(&self, program: &Key) {
        let (begin, own) = (hex(program), format!(".{}{FRESH}", std::process::id()));
        let left = |name: &str| name.starts_with(&begin) && name.ends_with(FRESH) && !name.ends_with(&own);
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(left) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Replaces a file as a whole.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let fresh = fresh(path);
        let written = || -> io::Result<()> {
            let _ = fs::remove_file(&fresh);
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&fresh, path)
        };
        let done = written();
        if done.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        self.io(path, done)
    }

    /// What changes with a file; nobody can set the time of its last change.
    fn identity(&self, path: &Path, m: &fs::Metadata) -> [u8; 32] {
        let numbers = [m.dev(), m.ino(), m.size(), m.mtime() as u64, m.mtime_nsec() as u64, m.ctime() as u64, m.ctime_nsec() as u64];
        let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.seal("file", &[path.file_name().unwrap_or_default().as_encoded_bytes(), &numbers])
    }

    fn is_vouched_for(&self, path: &Path, about: &fs::Metadata) -> bool {
        let mut known = Vec::with_capacity(32);
        let read = open(&path.with_extension("sum")).and_then(|file| file.take(33).read_to_end(&mut known));
        read.is_ok() && known == self.identity(path, about)
    }

    /// Notes that the file of these attributes is whole. Without it the file is checked whole again.
    fn vouch(&self, path: &Path, about: &fs::Metadata) {
        let _ = self.replace(&path.with_extension("sum"), &self.identity(path, about));
    }

    /// The lock of this kind on a program; `None` if somebody else has it and it is not waited for.
    pub fn try_lock(&self, program: &Key, kind: &str) -> Result<Option<Lock>, StoreError> {
        match self.lock(program, kind, false) {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::Io { error, .. }) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn lock(&self, program: &Key, kind: &str, waits: bool) -> Result<Lock, StoreError> {
        let path = self.path(program, kind);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32)
            .open(&path);
        let file = self.io(&path, file)?;
        let operation = if waits { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
        self.io(&path, flock(&file, operation).map_err(io::Error::from))?;
        Ok(Lock { _file: file })
    }

    /// What is to be known of a program beside its paths.
    pub fn describe(&self, program: &Key, text: &[u8]) -> Result<(), StoreError> {
        self.replace(&self.path(program, "about"), text)
    }

    /// The programs that have been described, with their descriptions.
    pub fn described(&self) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let mut all = Vec::new();
        for entry in self.io(&self.dir, fs::read_dir(&self.dir))?.flatten() {
            let name = entry.file_name();
            let Some(key) = name.to_str().and_then(|name| unhex(name.strip_suffix(".about")?)) else { continue };
            let mut text = Vec::new();
            let read = open(&entry.path()).and_then(|file| file.take(MOST_TEXT).read_to_end(&mut text));
            if read.is_ok() {
                all.push((key, text));
            }
        }
        all.sort();
        Ok(all)
    }

    /// Removes all that is known of a program; whether there was anything.
    pub fn forget(&self, program: &Key) -> Result<bool, StoreError> {
        let _lock = self.lock(program, "lock", true)?;
        let mut any = false;
        self.sweep(program);
        for ending in ["paths", "sum", "damaged", "recent", "about"] {
            let path = self.path(program, ending);
            match fs::remove_file(&path) {
                Ok(()) => any |= ending == "paths",
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::Io { path, error }),
            }
        }
        Ok(any)
    }
}

/// The end of the name of a file that is being written.
const FRESH: &str = ".new";

fn fresh(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{FRESH}", std::process::id()));
    name.into()
}

/// Opens a file for reading, but no link, and nothing that would have to be waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}
