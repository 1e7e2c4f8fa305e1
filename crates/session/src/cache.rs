//! The cache outside the repository, `$WRYNECK_CACHE` or `~/.cache/wryneck`: what was made, by the hash of what it was made from.
//!
//! Layout: `libc.bc` (made by `cargo xtask setup libc`), `ir/HASH.wir` and, where there is something to say, `ir/HASH.notes`; `c/` is
//! described in `compile.rs`, `code/` in `kept.rs`, `facts/` in `facts.rs`; `tmp/` has what is being made; `key` is the user's (`seal.rs`).
//!
//! **It heals.** A file is made in `tmp/`, flushed, and renamed. Beside it, `NAME.sum` is a keyed hash, of its content ([`is_whole`]) or, for large files
//! that carry a hash of their own, of what names this very file ([`is_ours`]). A file that does not fit is made again. So what is truncated, altered, or laid
//! there by somebody else is never used. Each user of `tmp/` holds a lock on its folder there; folders without a holder are of killed runs, and go.
//!
//! **It is the user's.** Nobody else may own the cache or write to it: bitcode and objects from it are linked into programs.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::problem::problem;
use crate::{data, seal};

/// The cache's folder, which may not be there yet.
pub fn root() -> Result<PathBuf> {
    match (env::var_os("WRYNECK_CACHE"), env::var_os("HOME")) {
        (Some(dir), _) => Ok(dir.into()),
        (None, Some(home)) => Ok(PathBuf::from(home).join(".cache/wryneck")),
        (None, None) => Err(problem("neither `WRYNECK_CACHE` nor `HOME` is set", "set `WRYNECK_CACHE` to a folder that can be written")),
    }
}

/// A folder below the cache, made if it is not there.
pub fn folder(name: &str) -> Result<PathBuf> {
    static CHECKED: OnceLock<()> = OnceLock::new();
    let root = root()?;
    let unmakeable = |dir: &Path| format!("cannot make the cache `{}`; set `WRYNECK_CACHE` to a folder that can be written", dir.display());
    if CHECKED.get().is_none() {
        make(&root).with_context(|| unmakeable(&root))?;
        check_owner(&root)?;
        CHECKED.get_or_init(|| sweep(&root.join(TEMPORARY)));
    }
    let dir = root.join(name);
    if !dir.is_dir() {
        make(&dir).with_context(|| unmakeable(&dir))?;
    }
    Ok(dir)
}

fn make(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(dir)
}

fn check_owner(root: &Path) -> Result<()> {
    let about = fs::metadata(root).with_context(|| format!("cannot read the cache `{}`", root.display()))?;
    let shown = root.display();
    // SAFETY: a system call that only returns a number.
    let user = unsafe { libc::geteuid() };
    if about.uid() != user {
        return Err(problem(
            format!("the cache `{shown}` belongs to another user ({}): what lies there becomes part of programs", about.uid()),
            "set `WRYNECK_CACHE` to a folder of your own",
        ));
    }
    if about.mode() & 0o022 != 0 {
        return Err(problem(
            format!("others can write to the cache `{shown}`: what lies there becomes part of programs"),
            format!("if nobody did, `chmod go-w {}`; else remove it", wryneck_report::units::shell_word(&shown.to_string())),
        ));
    }
    Ok(())
}

const TEMPORARY: &str = "tmp";

/// A folder in the cache for what is being made; it goes with this value, or after a kill at the next start.
pub struct Scratch {
    dir: TempDir,
    /// Held as long as the folder is used.
    _lock: File,
}

impl Scratch {
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A new one.
pub fn scratch() -> Result<Scratch> {
    let above = folder(TEMPORARY)?;
    let cannot = || format!("cannot write to `{}`", above.display());
    loop {
        let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir_in(&above).with_context(cannot)?;
        // Between the two a start may have taken it for a leftover.
        let lock = File::open(dir.path()).and_then(|lock| {
            flock(&lock, FlockOperation::LockExclusive)?;
            Ok(lock)
        });
        match lock {
            Ok(lock) if dir.path().exists() => return Ok(Scratch { dir, _lock: lock }),
            Err(error) if dir.path().exists() => return Err(error).with_context(cannot),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Removes what killed runs left.
fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let Ok(folder) = File::open(entry.path()) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// What names a file without reading it: where it is, its size, and when it was last changed.
pub fn identity(path: &Path) -> Result<String> {
    let place = path.canonicalize().with_context(|| format!("cannot find `{}`", path.display()))?;
    let m = fs::metadata(&place)?;
    Ok(format!("{} {} {}.{}", place.display(), m.size(), m.mtime(), m.mtime_nsec()))
}

/// Sixteen bytes of hash over all parts, as text.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Puts a finished file of a [`Scratch`] into its place.
pub fn place(fresh: &Path, file: &Path) -> Result<()> {
    let placed = File::open(fresh).and_then(|fresh| fresh.sync_data()).and_then(|()| fs::rename(fresh, file));
    placed.with_context(|| format!("cannot write `{}`", file.display()))
}

/// Writes a file by way of a [`Scratch`].
pub fn write(bytes: &[u8], file: &Path) -> Result<()> {
    let scratch = scratch()?;
    let fresh = scratch.path().join("file");
    File::create_new(&fresh).and_then(|mut f| f.write_all(bytes)).with_context(|| format!("cannot write `{}`", fresh.display()))?;
    place(&fresh, file)
}

/// As [`place`], for [`is_whole`].
pub fn place_whole(fresh: &Path, file: &Path) -> Result<()> {
    let sum = sum_of_content(fresh);
    place(fresh, file)?;
    sum.map_or(Ok(()), |sum| write(sum.as_bytes(), &sum_file(file)))
}

/// Whether a file has the content with which [`place_whole`] put it there.
pub fn is_whole(file: &Path) -> bool {
    let sum = |()| data::read_text(&sum_file(file), 64).ok();
    data::open_here(file).ok().map(drop).and_then(sum).is_some_and(|sum| sum_of_content(file).is_some_and(|now| now == sum))
}

fn sum_of_content(file: &Path) -> Option<String> {
    let bytes = data::read_here(file, data::PROGRAM).ok()?;
    Some(seal::keyed("content", &[&bytes])?.to_hex().to_string())
}

/// Notes that this very file is right, as it lies there.
pub fn vouch(file: &Path) {
    // Without it, it is checked again, or made again.
    let _ = identity_here(file).and_then(|sum| write(sum.as_bytes(), &sum_file(file)).ok());
}

/// Whether [`vouch`] was told of this file, and it is still the same one. Its content is not looked at.
pub fn is_ours(file: &Path) -> bool {
    let sum = data::read_text(&sum_file(file), 64).ok();
    sum.is_some() && sum == identity_here(file)
}

/// A keyed hash of what changes with a file: nobody can set the time of its last change.
fn identity_here(file: &Path) -> Option<String> {
    let m = fs::symlink_metadata(file).ok().filter(|m| m.is_file())?;
    let numbers = [m.dev(), m.ino(), m.size(), m.mtime() as u64, m.mtime_nsec() as u64, m.ctime() as u64, m.ctime_nsec() as u64];
    let parts: Vec<[u8; 8]> = numbers.iter().map(|n| n.to_le_bytes()).collect();
    Some(seal::keyed("file", &[file.file_name()?.as_encoded_bytes(), parts.as_flattened()])?.to_hex().to_string())
}

fn sum_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sum");
    name.into()
}

/// Says that a file is made again.
pub fn heals(file: &Path, why: &str) {
    crate::notice::give(&format!("`{}` in the cache {why}: it is made again", file.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_runs_left_goes_and_what_is_used_stays() {
        let temporary = tempfile::tempdir().expect("there is room");
        let (left, used) = (temporary.path().join("left"), temporary.path().join("used"));
        for dir in [&left, &used] {
            fs::create_dir(dir).expect("there is room");
            fs::write(dir.join("file"), "").expect("there is room");
        }
        let lock = File::open(&used).expect("it is there");
        flock(&lock, FlockOperation::LockExclusive).expect("nobody has it");
        sweep(temporary.path());
        assert!(!left.exists() && used.join("file").exists());
    }

    #[test]
    fn the_cache_is_the_user_s_alone() {
        let cache = tempfile::tempdir().expect("there is room");
        assert!(check_owner(cache.path()).is_ok());
        for mode in [0o770, 0o702] {
            fs::set_permissions(cache.path(), Permissions::from_mode(mode)).expect("it is ours");
            let error = check_owner(cache.path()).expect_err("others can write").to_string();
            assert!(error.contains("others can write to the cache") && error.contains(&cache.path().display().to_string()), "{error}");
        }
        // Of root; tests may run as root, and then of nobody.
        let other = Path::new("/proc/1");
        // SAFETY: a system call that only returns a number.
        if unsafe { libc::geteuid() } != 0 {
            assert!(check_owner(other).expect_err("it is another's").to_string().contains("belongs to another user"));
        }
    }
}
