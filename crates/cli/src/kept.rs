//! What runs of an executable keep of its lowered code, in the cache's folder `code/`: `HASH.wir`, by content of the files and by what else it hangs
//! on ([`wryneck_machine::Kept`]).
//!
//! A run is the same with it and without: a file that is missing, damaged or of something else is as none, and what cannot be written is not kept.
//! Files are written beside their place and renamed, so several runs may do so at once; the last one counts. The folder has at most [`MAX_FILES`].

use std::path::{Path, PathBuf};
use std::{env, fs};

use wryneck_ir::file;
use wryneck_machine::{Kept, MachineProgram};

use crate::cache;

/// The oldest files make room for others.
const MAX_FILES: usize = 256;

/// The file for a program of which these are all files, by content, lowered by this very executable of ours.
pub fn path(source: &MachineProgram, files: &[String]) -> Option<PathBuf> {
    let own = cache::identity(&env::current_exe().ok()?).ok()?;
    let all = format!("{own} {} {}", source.shape(), files.join(" "));
    Some(cache::folder("code").ok()?.join(format!("{}.wir", cache::digest(&[all.as_bytes()]))))
}

/// What earlier runs kept.
pub fn load(path: &Path) -> Kept {
    file::open(path).ok().and_then(Kept::from_module).unwrap_or_else(Kept::empty)
}

/// Keeps what this run brought.
pub fn save(source: &MachineProgram, path: &Path) {
    let Some(module) = source.kept() else { return };
    if !path.exists() {
        make_room(path);
    }
    // Without it the next run is slower, that is all.
    let _ = file::write(&module, path);
}

/// Removes the oldest files of the folder, if it is full.
fn make_room(path: &Path) {
    let files = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort_unstable();
    let more = (files.len() + 1).saturating_sub(MAX_FILES);
    files.iter().take(more).for_each(|(_, file)| _ = fs::remove_file(file));
}
