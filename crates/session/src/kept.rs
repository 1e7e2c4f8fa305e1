//! The cache of lifted code, in the folder `code/` of the cache: `HASH.wir` for the program, and another one for the loader with the C
//! library, by content and by what else determines the code ([`wryneck_machine::Kept`]).
//!
//! A run gives the same results with and without the cache. A missing, damaged or foreign file counts as absent; a file that cannot be
//! written is skipped. Files are renamed into their place ([`cache::write`]), so several runs may write at once; the last one wins. The folder
//! has at most [`MAX_FILES`].

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wryneck_ir::file;
use wryneck_machine::{Kept, MachineProgram};

use crate::cache;

/// The oldest files make room for others; each has its sum beside it.
const MAX_FILES: usize = 512;

/// A file of a program, whose lowered code is kept apart.
pub struct Part {
    /// Its addresses.
    pub range: Range<u64>,
    /// All that its code hangs on, by content.
    pub content: Vec<String>,
}

/// Has what earlier runs kept of these files used, and gives where what this run brings is to be kept.
pub fn load(source: &mut MachineProgram, parts: &[Part]) -> Vec<PathBuf> {
    let paths: Vec<Option<PathBuf>> = parts.iter().map(|part| path(source, part)).collect();
    let known = paths.into_iter().zip(parts).filter_map(|(path, part)| Some((path?, part)));
    known
        .map(|(path, part)| {
            // It is a part of a module, which cannot be verified alone: only what this tool wrote itself is used.
            let ours = if cache::is_ours(&path) { file::open(&path).ok() } else { None };
            let kept = ours.and_then(|module| Kept::from_module(module, part.range.clone()));
            source.keep(kept.unwrap_or_else(|| Kept::empty(part.range.clone())));
            path
        })
        .collect()
}

/// The place of what is kept of a file, lowered by this very executable of ours.
fn path(source: &MachineProgram, part: &Part) -> Option<PathBuf> {
    let own = cache::identity(&env::current_exe().ok()?).ok()?;
    let all = format!("{own} {} {}", source.shape(&part.range), part.content.join(" "));
    Some(cache::folder("code").ok()?.join(format!("{}.wir", cache::digest(&[all.as_bytes()]))))
}

/// Keeps what this run brought, at the places that [`load`] gave.
pub fn save(source: &MachineProgram, paths: &[PathBuf]) {
    for (path, module) in paths.iter().zip(source.kept()) {
        let Some(module) = module else { continue };
        if !path.exists() {
            make_room(path);
        }
        // Without it the next run is slower, that is all.
        if cache::write(&file::to_bytes(module), path).is_ok() {
            cache::vouch(path);
        }
    }
}

/// Removes the older half of the folder of a file that is to be written, if it is full: asking each file's age takes long, and is seldom done so.
pub fn make_room(path: &Path) {
    let files: Vec<_> = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten().collect();
    if files.len() < MAX_FILES {
        return;
    }
    let mut files: Vec<_> = files.iter().filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort_unstable();
    files.iter().take(files.len() / 2).for_each(|(_, file)| _ = fs::remove_file(file));
}
