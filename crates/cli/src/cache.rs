//! The cache outside the repository, `$WRYNECK_CACHE` or `~/.cache/wryneck`: IR files by the hash of what they were made from.
//!
//! Layout: `libc.bc` (made by `cargo xtask setup libc`), `ir/HASH.wir` and, where there is something to say, `ir/HASH.notes`; `c/` is
//! described in `compile.rs`, `code/` in `kept.rs`, `facts/` in `facts.rs`.

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::problem::problem;

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
    let dir = root()?.join(name);
    if !dir.is_dir() {
        fs::create_dir_all(&dir)
            .with_context(|| format!("cannot make the cache `{}`; set `WRYNECK_CACHE` to a folder that can be written", dir.display()))?;
    }
    Ok(dir)
}

/// What names a file without reading it: where it is, its size, and when it was last changed.
pub fn identity(path: &std::path::Path) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
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
