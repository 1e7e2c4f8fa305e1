//! Where a run folder is: the one that was asked for, or the next numbered one, with its database in it from its first moment. It is made for the user alone,
//! found empty, and the user's own.
//!
//! The folder is made under another name beside its place, gets its database, and is renamed. Who makes it holds a lock on it meanwhile, so one that a
//! killed run left behind is known, and the next run takes it.

use std::cell::Cell;
use std::ffi::{CString, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};

use super::{database_unwritable, unwritable};
use crate::problem::problem;

/// The name that points to the newest run folder.
const LAST: &str = "wryneck-last";
const NUMBERED: &str = "wryneck-out-";
/// Runs that make a folder of one name at once.
const MAKERS: u32 = 64;

/// Makes the folder; `fill` puts the database into it.
///
/// Gives the folder and its lock, by which others see that the run goes on.
pub fn make(asked: Option<&Path>, fill: &dyn Fn(&Path) -> Result<()>) -> Result<(PathBuf, File)> {
    match asked {
        Some(dir) => make_asked(dir, fill),
        None => make_numbered(fill),
    }
}

fn make_asked(dir: &Path, fill: &dyn Fn(&Path) -> Result<()>) -> Result<(PathBuf, File)> {
    let taken = || Err(problem(format!("the output folder `{}` is not empty", dir.display()), "give a new one, or remove it"));
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        // It may be a mount point or somebody's working directory: it stays the one it is, and gets what was made elsewhere.
        Ok(true) => {
            owned(dir, &fs::metadata(dir).map_err(|e| unwritable(dir, &e))?)?;
            let lock = File::open(dir).map_err(|e| unwritable(dir, &e))?;
            // A reader that looks at it just now has it, which is no harm.
            let _ = lock_now(&lock);
            let begun = Begun::new(dir, &"run".into()).map_err(|e| unwritable(dir, &e))?;
            fill(&begun.path).context(database_unwritable(dir))?;
            for made in fs::read_dir(&begun.path).map_err(|e| unwritable(dir, &e))?.flatten() {
                fs::rename(made.path(), dir.join(made.file_name())).map_err(|e| unwritable(dir, &e))?;
            }
            return Ok((dir.to_owned(), lock));
        }
        Ok(false) => return taken(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(unwritable(dir, &e)),
    }
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else { return taken() };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    fs::create_dir_all(parent).map_err(|e| unwritable(dir, &e))?;
    let begun = Begun::new(parent, &name.to_owned()).map_err(|e| unwritable(dir, &e))?;
    fill(&begun.path).context(database_unwritable(dir))?;
    match begun.becomes(dir) {
        Ok(()) => Ok((dir.to_owned(), begun.lock(dir)?)),
        Err(e) if is_taken(&e) => taken(),
        Err(e) => Err(unwritable(dir, &e)),
    }
}

fn make_numbered(fill: &dyn Fn(&Path) -> Result<()>) -> Result<(PathBuf, File)> {
    let here = Path::new(".");
    let shown = || std::env::current_dir().unwrap_or(here.into());
    let begun = Begun::new(here, &OsString::from("wryneck-out")).map_err(|e| unwritable(&shown(), &e))?;
    fill(&begun.path).context(database_unwritable(&shown()))?;
    for number in after_last().. {
        let path = PathBuf::from(format!("{NUMBERED}{number}"));
        match begun.becomes(&path) {
            Ok(()) => {
                point_last_to(&path).map_err(|e| unwritable(Path::new(LAST), &e))?;
                let lock = begun.lock(&path)?;
                return Ok((path, lock));
            }
            Err(e) if is_taken(&e) => {}
            Err(e) => return Err(unwritable(&shown(), &e)),
        }
    }
    Err(problem("every `wryneck-out-N` is taken", "remove some"))
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EEXIST | libc::ENOTEMPTY))
}

/// A folder that has not its own name yet. Unless it gets it, it is removed.
struct Begun {
    path: PathBuf,
    /// It has its own name: what is at `path` now is another's.
    renamed: Cell<bool>,
    /// Locked while the maker lives.
    lock: File,
}

impl Begun {
    fn new(parent: &Path, name: &OsString) -> io::Result<Begun> {
        for number in 0..MAKERS {
            let mut new = OsString::from(".");
            new.push(name);
            new.push(format!(".new{number}"));
            let path = parent.join(new);
            // Only the user can read what a run captures of the user's files.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) => {}
                Err(e) => return Err(e),
            }
            let Ok(lock) = File::open(&path) else { continue };
            let own = lock.metadata().is_ok_and(|about| about.uid() == user());
            if !own || !lock_now(&lock) {
                continue;
            }
            // Its maker may have renamed it between the opening and the lock.
            if !same(&lock, &path) {
                continue;
            }
            if !fs::read_dir(&path)?.flatten().all(|left| fs::remove_file(left.path()).is_ok()) {
                continue;
            }
            return Ok(Begun { path, renamed: Cell::new(false), lock });
        }
        Err(io::Error::other(format!("`{}` and its like are in use", parent.join(".*.new0").display())))
    }

    /// Its lock, which is held on.
    fn lock(&self, shown: &Path) -> Result<File> {
        self.lock.try_clone().map_err(|e| unwritable(shown, &e))
    }

    /// Renames it, if there is nothing of that name.
    fn becomes(&self, path: &Path) -> io::Result<()> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let (from, to) = (text(&self.path)?, text(path)?);
        // SAFETY: both are strings that live until the call returns.
        let done = unsafe { libc::renameat2(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::RENAME_NOREPLACE) };
        let error = io::Error::last_os_error();
        let done = match done {
            0 => Ok(()),
            // A file system that cannot: an empty folder of this name would be replaced.
            _ if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) && fs::symlink_metadata(path).is_err() => {
                fs::rename(&self.path, path)
            }
            _ => Err(error),
        };
        self.renamed.set(done.is_ok());
        done
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if !self.renamed.get() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn lock_now(folder: &File) -> bool {
    flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn user() -> u32 {
    // SAFETY: a system call that only returns a number.
    unsafe { libc::geteuid() }
}

/// In a folder of somebody else, or one that everybody writes to, files could be laid in the way of ours.
fn owned(dir: &Path, about: &Metadata) -> Result<()> {
    let shown = dir.display();
    match (about.uid() == user(), about.mode() & 0o002 == 0) {
        (true, true) => Ok(()),
        (false, _) => Err(problem(
            format!("the output folder `{shown}` belongs to another user ({})", about.uid()),
            "give one of your own by `--output DIR`",
        )),
        (true, false) => Err(problem(
            format!("everybody can write to the output folder `{shown}`"),
            format!("take that away by `chmod o-w {}`, or give another one", wryneck_report::units::shell_word(&shown.to_string())),
        )),
    }
}

fn same(open: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (open.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

/// The number after the newest folder's.
fn after_last() -> u32 {
    let last = fs::read_link(LAST).ok();
    let number = last.as_deref().and_then(Path::to_str).and_then(|name| name.strip_prefix(NUMBERED)?.parse::<u32>().ok());
    number.map_or(0, |n| n.saturating_add(1))
}

/// Replaces the link in one step, so that it always leads somewhere. A file of that name that is no link is left alone.
fn point_last_to(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(LAST).is_ok_and(|m| !m.is_symlink()) {
        return Ok(());
    }
    let fresh = format!(".{LAST}.new");
    // One that is there was left by a killed run, or is another run's: either way the link ends up at one of the newest folders.
    let _ = fs::remove_file(&fresh);
    match std::os::unix::fs::symlink(path, &fresh).and_then(|()| fs::rename(&fresh, LAST)) {
        Err(e) if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(dir: &Path) -> Result<()> {
        Ok(fs::write(dir.join("run.db"), "x")?)
    }

    #[test]
    fn a_folder_has_its_database_when_it_has_its_name_and_a_killed_run_s_is_taken() {
        let dir = tempfile::tempdir().expect("there is room");
        let left = dir.path().join(".out.new0");
        fs::create_dir(&left).expect("there is room");
        fs::write(left.join("run.db"), "half").expect("there is room");
        let out = dir.path().join("out");
        let made = make(Some(&out), &|path| {
            assert!(!out.exists() && path == left);
            fill(path)
        });
        assert_eq!(made.expect("it is new").0, out);
        assert_eq!(fs::read_to_string(out.join("run.db")).expect("it is there"), "x");
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 1);
        assert!(make(Some(&out), &fill).is_err(), "it is not empty");
        let empty = dir.path().join("empty");
        fs::create_dir(&empty).expect("there is room");
        assert_eq!(make(Some(&empty), &fill).expect("it is empty").0, empty);
    }

    #[test]
    fn one_that_cannot_be_filled_leaves_nothing() {
        let dir = tempfile::tempdir().expect("there is room");
        let out = dir.path().join("out");
        assert!(make(Some(&out), &|_| Err(problem("no", ""))).is_err());
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn two_that_are_made_at_once_do_not_meet() {
        let dir = tempfile::tempdir().expect("there is room");
        let (one, two) = (Begun::new(dir.path(), &"out".into()), Begun::new(dir.path(), &"out".into()));
        let (one, two) = (one.expect("there is room"), two.expect("there is room"));
        assert_ne!(one.path, two.path);
        one.becomes(&dir.path().join("out")).expect("it is free");
        assert!(is_taken(&two.becomes(&dir.path().join("out")).expect_err("it is taken")));
    }
}
