//! Which program runs: found as a shell finds it, and named by everything that runs with it.
//!
//! The key is a hash of the executable's content and of what analyses it: this tool's own executable, the one that lowers, and the C library's bitcode.
//! So a model that changes leaves no verdict of the old one. Content is hashed once; then the hash is remembered for this very file (device, inode,
//! size, times), sealed with the user's key. Only static executables are taken: of others, other files run as well.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{env, time::Duration};

use anyhow::{Context, Result};
use wryneck_guard::Store;
use wryneck_guard::file::{Key, VERSION};

use super::world::Assume;
use crate::preload;
use crate::problem::problem;
use crate::{build, carried, data};

/// A program to run.
pub struct Program {
    /// Absolute.
    pub file: PathBuf,
    pub key: Key,
    identity: Vec<u8>,
}

/// How programs are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FrontEnd {
    /// As bitcode, if the program carries its bitcode.
    Carried,
    MachineCode,
}

/// A file that changed in the same instant in which it was looked at may change again without another time.
const INSTANT: Duration = Duration::from_millis(50);

/// The last words of this command line as they were given; those before them, which are ours, have to be UTF-8.
pub fn given(count: usize) -> Result<Vec<OsString>> {
    let mut words: Vec<OsString> = env::args_os().collect();
    let last = words.split_off(words.len().saturating_sub(count));
    match words.iter().skip(1).find(|word| word.to_str().is_none()) {
        Some(word) => Err(problem(format!("the argument `{}` is not UTF-8", word.display()), "")),
        None => Ok(last),
    }
}

/// The file that a shell would run.
pub fn find(name: &OsStr) -> Result<PathBuf> {
    let shown = name.display();
    if name.as_bytes().contains(&b'/') {
        return std::path::absolute(name).with_context(|| format!("cannot find `{shown}`"));
    }
    let runs = |file: &PathBuf| fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    let found = build::on_path(name, runs);
    found.ok_or_else(|| problem(format!("the program `{shown}` is not found"), "give a path with a `/`, or set `PATH`"))
}

fn identity(m: &fs::Metadata) -> Vec<u8> {
    [m.dev(), m.ino(), m.size(), m.mtime() as u64, m.mtime_nsec() as u64, m.ctime() as u64, m.ctime_nsec() as u64]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect()
}

impl Program {
    /// The program in a file, and its key.
    pub fn open(file: &Path, front: FrontEnd, assume: Assume, store: &Store) -> Result<Program> {
        let (content, identity) = content_of(file, store, front as u8, &|bytes| check(file, bytes, front))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&content).update(&VERSION.to_le_bytes()).update(&[front as u8, assume as u8]);
        for tool in build::tools() {
            // What is not there says nothing; the verification says that it is missing.
            let hash = content_of(&tool, store, TOOL, &|_| Ok(())).map_or([0; 32], |(hash, _)| hash);
            hasher.update(&hash);
        }
        Ok(Program { file: file.to_owned(), key: *hasher.finalize().as_bytes(), identity })
    }

    /// Whether the file is still the one that was looked at.
    pub fn is_same(&self) -> Result<()> {
        match is_now(&self.file, &self.identity) {
            true => Ok(()),
            false => Err(problem(format!("`{}` changed while it was looked up", self.file.display()), "run it again")),
        }
    }
}

/// How files of the tool itself are checked, beside the front ends of programs.
const TOOL: u8 = 255;

/// The hash of a file's content and the file's identity. The content is read and checked only if this very file was not, in this way.
fn content_of(file: &Path, store: &Store, way: u8, check: &dyn Fn(&[u8]) -> Result<()>) -> Result<(Key, Vec<u8>)> {
    let cannot = || format!("cannot read `{}`", file.display());
    let (mut content, about) = data::open(file).with_context(cannot)?;
    let identity = identity(&about);
    let name = blake3::hash(&[file.as_os_str().as_bytes(), &[0, way]].concat()).to_hex();
    let memory = store.dir().join(format!("{}.id", &name[..32]));
    // The purpose changes with what [`check`] refuses: what an earlier build let pass is checked again.
    let seal = |hash: &[u8]| {
        store.seal("content without rights", &[file.as_os_str().as_bytes(), &identity, &[way], env!("CARGO_PKG_VERSION").as_bytes(), hash])
    };
    if let Some(hash) = remembered(&memory, &about, &seal) {
        return Ok((hash, identity));
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).with_context(cannot)?;
    check(&bytes)?;
    let hash: Key = *blake3::hash(&bytes).as_bytes();
    if is_now(file, &identity) {
        // Without it the content is hashed again.
        let _ = store.replace(&memory, &[&hash[..], &seal(&hash)].concat());
    }
    Ok((hash, identity))
}

fn is_now(file: &Path, identity: &[u8]) -> bool {
    fs::metadata(file).is_ok_and(|m| self::identity(&m) == identity)
}

/// The hash that was noted for a file of this identity.
fn remembered(memory: &Path, about: &fs::Metadata, seal: &dyn Fn(&[u8]) -> [u8; 32]) -> Option<Key> {
    let (file, note) = data::open_here(memory).ok()?;
    let mut bytes = Vec::with_capacity(64);
    File::take(file, 65).read_to_end(&mut bytes).ok()?;
    let (key, sealed) = bytes.split_at_checked(32)?;
    let time = |seconds: i64, nanoseconds: i64| Duration::new(u64::try_from(seconds).unwrap_or(0), nanoseconds as u32);
    let (noted, changed) = (time(note.mtime(), note.mtime_nsec()), time(about.ctime(), about.ctime_nsec()));
    if seal(key) != *sealed || noted < changed + INSTANT { None } else { key.try_into().ok() }
}

/// Whether what runs is what is analysed.
fn check(file: &Path, content: &[u8], front: FrontEnd) -> Result<()> {
    let shown = file.display();
    if has_rights(file) {
        return Err(problem(
            format!("`{shown}` runs with rights of its own (its mode, or its capabilities): guard asks the world with yours"),
            "run it without guard",
        ));
    }
    if !content.starts_with(b"\x7fELF") || object::File::parse(content).is_err() {
        return Err(problem(format!("`{shown}` is no ELF executable"), "guard runs compiled programs; name the interpreter of a script"));
    }
    if preload::loader(content).is_some() {
        return Err(problem(
            format!("`{shown}` is linked dynamically: the libraries that it runs with are not what was verified"),
            "link it statically, such as by `wryneck cc`",
        ));
    }
    if front == FrontEnd::Carried && !carried::is_bare(content) {
        let carried = carried::extract(file, content)?;
        if carried.of_host {
            return Err(problem(
                format!("`{shown}` cannot be verified as bitcode: it is linked with the host's C library, and bitcode runs with musl"),
                "verify its machine code: `--machine-code`",
            ));
        }
        // What carries no bitcode could be taken for the C library's function of that name.
        if let Some(object) = carried.bare.first() {
            return Err(problem(
                format!("a part of `{shown}` cannot be verified as bitcode: {}", carried::lacking(object)),
                "verify its machine code: `--machine-code`",
            ));
        }
    }
    Ok(())
}

/// Whether a file is to be run as another user or group, or with capabilities.
fn has_rights(file: &Path) -> bool {
    const OTHERS: u32 = libc::S_ISUID | libc::S_ISGID;
    let by_mode = fs::metadata(file).is_ok_and(|m| m.mode() & OTHERS != 0);
    let mut value = [0u8; 64];
    by_mode
        || !matches!(
            rustix::fs::getxattr(file, "security.capability", &mut value[..]),
            Err(rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP)
        )
}

/// An error of the program's start, in words.
pub fn cannot_start(file: &Path, error: &io::Error) -> anyhow::Error {
    problem(format!("cannot run `{}`: {error}", file.display()), "")
}
