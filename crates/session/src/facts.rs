//! The cache of points-to results, in the folder `facts/` of the cache: nearly all that static analysis costs
//! ([`wryneck_verify::flow::Solution`]). The key hashes the linked modules, the summaries, the entry, and this executable.
//!
//! A run gives the same results with and without the cache. A missing, damaged or foreign file counts as absent; a file that cannot be
//! written is skipped. A file starts with a keyed hash of the rest ([`seal`]), because forged facts would leave out paths. Cost: hashing the
//! program, a few milliseconds.

use std::env;
use std::path::{Path, PathBuf};

use wryneck_ir::link::Program;
use wryneck_verify::flow::Solution;

use crate::{cache, data, kept, seal};

/// The file for a program that begins with `entry`, or with `main`, where these are the files of summaries.
pub fn path(program: &Program, summaries: &[PathBuf], entry: Option<&str>) -> Option<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| _ = hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    add(cache::identity(&env::current_exe().ok()?).ok()?.as_bytes());
    add(entry.unwrap_or_default().as_bytes());
    for file in summaries {
        add(&data::read(file, data::RULES).ok()?);
    }
    for unit in &program.units {
        add(&[u8::from(unit.library)]);
        unit.module.for_each_table(|_, _, bytes| add(bytes));
    }
    Some(cache::folder("facts").ok()?.join(&hasher.finalize().to_hex()[..32]))
}

/// What the key is used for.
const PURPOSE: &str = "facts";

/// What an earlier run kept.
pub fn load(path: &Path) -> Option<Solution> {
    let content = data::read_here(path, data::PROGRAM).ok()?;
    let (hash, rest) = content.split_first_chunk()?;
    (seal::keyed(PURPOSE, &[rest])? == blake3::Hash::from_bytes(*hash)).then(|| postcard::from_bytes(rest).ok())?
}

/// Keeps what this run found.
pub fn save(solution: &Solution, path: &Path) {
    let Ok(rest) = postcard::to_allocvec(solution) else { return };
    let Some(hash) = seal::keyed(PURPOSE, &[&rest]) else { return };
    kept::make_room(path);
    // Without it the next run is slower, that is all.
    let _ = cache::write(&[hash.as_bytes().as_slice(), &rest].concat(), path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn damaged_files_are_as_none() {
        let scratch = tempfile::tempdir().expect("there is room");
        let file = scratch.path().join("facts");
        save(&Solution::default(), &file);
        assert_eq!(load(&file), Some(Solution::default()));
        let whole = fs::read(&file).expect("it was written");
        for (at, end) in (0..whole.len()).flat_map(|at| [(at, whole.len()), (usize::MAX, at)]) {
            let damaged: Vec<u8> = whole[..end].iter().enumerate().map(|(i, byte)| if i == at { byte ^ 1 } else { *byte }).collect();
            fs::write(&file, damaged).expect("there is room");
            assert_eq!(load(&file), None);
        }
    }
}
