//! Scratch folders: removed at the end, and where a process was killed, by the next one that makes one.
//!
//! Each is locked while its process lives, so one that nobody has locked is left over.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};

/// One that is locked, and one that is just being made.
const PREFIX: &str = "wryneck-scratch-";
const MAKING: &str = "wryneck-making-";
/// Seconds after which one that is being made is left over, too.
const LONG: u64 = 60;

/// The folders of this process.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder of this process.
pub struct Scratch {
    path: PathBuf,
    /// Locked while this process lives.
    _lock: File,
}

impl Scratch {
    /// A new folder where temporary files go.
    pub fn new() -> io::Result<Scratch> {
        remove_left_over();
        Scratch::below(&env::temp_dir())
    }

    fn below(place: &Path) -> io::Result<Scratch> {
        let dir = tempfile::Builder::new().prefix(MAKING).tempdir_in(place)?;
        let lock = File::open(dir.path())?;
        lock_now(&lock);
        let name = dir.path().file_name().unwrap_or_default().to_string_lossy().replacen(MAKING, PREFIX, 1);
        let path = place.join(name);
        fs::rename(dir.path(), &path)?;
        // What has another name now is removed by it.
        let _ = dir.keep();
        OWN.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(Scratch { path, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        OWN.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
    }
}

/// Removes the folders of this process, which is about to end in the middle of its work.
pub fn remove_own() {
    let own = OWN.try_lock().map(|own| own.clone()).unwrap_or_default();
    own.iter().for_each(|path| _ = fs::remove_dir_all(path));
}

/// Removes what killed processes of this user left where temporary files go.
pub fn remove_left_over() {
    remove_below(&env::temp_dir());
}

fn remove_below(place: &Path) {
    // SAFETY: a system call that only returns a number.
    let user = unsafe { libc::geteuid() };
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) || name.starts_with(MAKING)) {
            continue;
        }
        let Ok(data) = entry.metadata() else { continue };
        let old = data.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() > LONG));
        let ours = data.is_dir() && data.uid() == user && (name.starts_with(PREFIX) || old);
        if ours && File::open(entry.path()).is_ok_and(|folder| lock_now(&folder)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a folder if nobody has.
fn lock_now(folder: &File) -> bool {
    flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_locked_is_removed() {
        let place = tempfile::tempdir().expect("there is room");
        let (live, dead) = (Scratch::below(place.path()).expect("there is room"), place.path().join(format!("{PREFIX}dead")));
        fs::create_dir(&dead).expect("there is room");
        fs::write(dead.join("file"), "x").expect("there is room");
        remove_below(place.path());
        assert!(live.path().exists() && !dead.exists());
        drop(live);
        assert_eq!(fs::read_dir(place.path()).expect("it is there").count(), 0);
    }
}
