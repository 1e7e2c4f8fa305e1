//! Source packages of Debian, kept in the cache. How apt is asked stands in the tool, which has a command for libraries.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::cache::Cache;

#[path = "../../crates/cli/src/debian.rs"]
mod apt;

/// The unpacked source tree of Debian package `package`, patches applied; fetched once, then taken from the cache.
pub fn source(cache: &Cache, package: &str) -> Result<PathBuf> {
    let tree = cache.path("source").join(package);
    if tree.is_dir() {
        return Ok(tree);
    }
    let scratch = cache.path("source").join(format!("{package}.part"));
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    let unpacked = scratch.join("tree");
    apt::Sources::new(scratch.clone())
        .and_then(|sources| sources.unpack(package, &unpacked))
        .with_context(|| format!("cannot get the source of `{package}`; a source tree can be given instead"))?;
    fs::rename(unpacked, &tree)?;
    fs::remove_dir_all(&scratch)?;
    Ok(tree)
}
