//! The folder that a run writes to: made for the user alone, found empty, and the user's own.

use std::fs::{self, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, io};

use anyhow::Result;

use super::unwritable;
use crate::problem::problem;

/// The name that points to the newest run folder.
const LAST: &str = "wryneck-last";
const NUMBERED: &str = "wryneck-out-";

/// The folder that the user asked for, which must be new or empty, and the user's own.
pub(super) fn make_asked(dir: &Path) -> Result<PathBuf> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(|e| unwritable(parent, e))?;
    }
    match make(dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(unwritable(dir, e)),
        Ok(()) | Err(_) => {}
    }
    owned(dir, fs::metadata(dir).map_err(|e| unwritable(dir, e))?)?;
    match fs::read_dir(dir).map_err(|e| unwritable(dir, e))?.next() {
        None => Ok(dir.to_owned()),
        Some(_) => Err(problem(format!("the output folder `{}` is not empty", dir.display()), "give a new one, or remove it")),
    }
}

/// The next free `wryneck-out-N`.
pub(super) fn make_numbered() -> Result<PathBuf> {
    let here = Path::new(".");
    for number in after_last().. {
        let path = PathBuf::from(format!("{NUMBERED}{number}"));
        match make(&path) {
            Ok(()) => {
                point_last_to(&path).map_err(|e| unwritable(Path::new(LAST), e))?;
                return Ok(path);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(unwritable(&env::current_dir().unwrap_or(here.into()), e)),
        }
    }
    Err(problem("every `wryneck-out-N` is taken", "remove some"))
}

/// Only the user can read what a run captures of the user's files.
fn make(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(dir)
}

/// In a folder of somebody else, or one that everybody writes to, files could be laid in the way of ours.
fn owned(dir: &Path, about: Metadata) -> Result<()> {
    let shown = dir.display();
    // SAFETY: a system call that only returns a number.
    let user = unsafe { libc::geteuid() };
    match (about.uid() == user, about.mode() & 0o002 == 0) {
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
    let fresh = format!(".{LAST}-{}", std::process::id());
    std::os::unix::fs::symlink(path, &fresh)?;
    fs::rename(&fresh, LAST)
}
