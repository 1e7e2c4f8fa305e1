//! The cache outside the repository: every product in a folder named by the hash of all that went into it.
//!
//! A product is built beside its final place and renamed into it, so a folder in the store is whole. Links with plain names
//! (`libc.bc`, `coreutils/O2`) point to the product that was made last; the tool and the scripts know only those.
//! Cost: hashing a source tree, well under a second.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fs, os};

use anyhow::{Context, Result};

/// `$WRYNECK_CACHE`, or `~/.cache/wryneck`.
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Makes the folder if it is not there.
    pub fn open() -> Result<Cache> {
        let root = match env::var_os("WRYNECK_CACHE") {
            Some(dir) => PathBuf::from(dir),
            None => PathBuf::from(env::var_os("HOME").context("neither `WRYNECK_CACHE` nor `HOME` is set")?).join(".cache/wryneck"),
        };
        // The tool refuses a cache that others can write to.
        fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(root.join("store"))
            .with_context(|| format!("cannot make the cache `{}`; set `WRYNECK_CACHE` to a folder you can write", root.display()))?;
        Ok(Cache { root: root.canonicalize()? })
    }

    /// Waits until no other process builds into the cache; the file holds the others off until it is dropped.
    pub fn lock(&self) -> Result<fs::File> {
        let file = fs::File::create(self.root.join("lock"))?;
        file.lock().context("cannot lock the cache")?;
        Ok(file)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The folder of product `name` made from `inputs`, built by `build` in an empty folder if it is not there yet.
    /// What a failed build left stays as `<folder>.part` until the next try.
    pub fn product(&self, name: &str, inputs: &Inputs, build: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let dir = self.root.join("store").join(format!("{name}-{}", inputs.digest()));
        if dir.is_dir() {
            return Ok(dir);
        }
        let part = dir.with_extension("part");
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        fs::create_dir_all(&part)?;
        build(&part)?;
        fs::rename(&part, &dir)?;
        Ok(dir)
    }

    /// Makes the plain name `link` (below the cache) point to `target`.
    pub fn link(&self, link: &str, target: &Path) -> Result<PathBuf> {
        let link = self.root.join(link);
        fs::create_dir_all(link.parent().expect("links lie below the cache"))?;
        let fresh = link.with_extension("new");
        let _ = fs::remove_file(&fresh);
        os::unix::fs::symlink(target, &fresh)?;
        fs::rename(&fresh, &link).with_context(|| format!("cannot replace `{}`", link.display()))?;
        Ok(link)
    }
}

/// What goes into a product, hashed as it is named.
#[derive(Default)]
pub struct Inputs(blake3::Hasher);

impl Inputs {
    pub fn text(mut self, text: &str) -> Inputs {
        self.0.update(&text.len().to_le_bytes()).update(text.as_bytes());
        self
    }

    pub fn texts<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> Inputs {
        texts.into_iter().fold(self, Inputs::text)
    }

    /// Every file below `dir`: its path from there and its content.
    pub fn tree(mut self, dir: &Path) -> Result<Inputs> {
        for file in files(dir)? {
            let name = file.strip_prefix(dir).expect("listed below it").to_string_lossy();
            let content = fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
            self = self.text(&name);
            self.0.update(&content.len().to_le_bytes()).update(&content);
        }
        Ok(self)
    }

    fn digest(&self) -> String {
        self.0.finalize().to_hex()[..16].to_owned()
    }
}

/// Every regular file below `dir`, sorted.
pub fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
