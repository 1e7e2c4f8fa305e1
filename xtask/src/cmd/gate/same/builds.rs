//! wryneck as it was at a commit: built in a work tree of its own, kept with what it reads, with a cache of its own.
//!
//! `FOLDER/COMMIT/` has the two programs, `runtime/`, `rules/` and `cache/`; `FOLDER/tree` and `FOLDER/target` are what they are built in. One target
//! folder for all commits, since most of a build are crates that no commit changes. Cost: three to six minutes for the first commit, one to three for others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::cache::Cache;
use crate::process;

/// The tool of a commit.
pub struct Build {
    pub commit: String,
    /// An absolute path.
    dir: PathBuf,
}

impl Build {
    /// That of a commit, built if it is not in the folder yet.
    pub fn of(commit: &str, folder: &Path) -> Result<Build> {
        fs::create_dir_all(folder)?;
        let build = Build { commit: commit.to_owned(), dir: folder.canonicalize()?.join(commit) };
        if !build.wryneck().exists() {
            build.make(folder)?;
        }
        build.link_libc()?;
        Ok(build)
    }

    fn make(&self, folder: &Path) -> Result<()> {
        let tree = folder.join("tree");
        if !tree.exists() {
            process::output(Command::new("git").args(["worktree", "add", "--detach"]).arg(&tree))?;
        }
        process::output(Command::new("git").arg("-C").arg(&tree).args(["checkout", "--quiet", "--detach", &self.commit]))?;
        let target = folder.canonicalize()?.join("target");
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&tree).env("CARGO_TARGET_DIR", &target).args(["build", "--release", "-p", "wryneck-cli", "-p", "wryneck-lower"]);
        process::output(&mut cargo)?;
        fs::create_dir_all(&self.dir)?;
        // The tool finds `runtime` beside itself, so that the next checkout does not change it.
        process::output(Command::new("cp").arg("-r").args(["runtime", "rules"].map(|name| tree.join(name))).arg(&self.dir))?;
        for name in ["wryneck-lower", "wryneck"] {
            fs::copy(target.join("release").join(name), self.dir.join(name))?;
        }
        Ok(())
    }

    /// The C library is today's on both sides; all else of the cache is made by this build.
    fn link_libc(&self) -> Result<()> {
        let link = self.cache().join("libc.bc");
        if !link.exists() {
            fs::create_dir_all(self.cache())?;
            symlink(Cache::open()?.path("libc.bc").canonicalize()?, link)?;
        }
        Ok(())
    }

    pub fn wryneck(&self) -> PathBuf {
        self.dir.join("wryneck")
    }

    pub fn cache(&self) -> PathBuf {
        self.dir.join("cache")
    }

    /// What was known of gnulib's functions.
    pub fn summaries(&self) -> PathBuf {
        self.dir.join("rules/summaries/gnulib.toml")
    }
}
