//! The seal of a run folder: proof that this user's tool wrote what a replay compiles and runs, and that those files are as they were.
//!
//! A run folder is data, perhaps from strangers. A replay compiles its source with its flags and runs the result, and a run that goes on takes its
//! command, so these facts, with the content of each file they name, get a keyed hash (BLAKE3). The key lies in the cache, where only the user reads it. A folder
//! without a fitting seal (made elsewhere, altered, or the cache is new) is replayed by the rules for strangers, see `explored.rs`.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use crate::{cache, data};

/// The fact with the hashes of the files that others name, as JSON: path to hash.
pub const CONTENT: &str = "content";
/// The fact with the seal.
pub const SEAL: &str = "seal";
/// The facts under seal.
const SEALED: [&str; 12] =
    ["bitcode", "cc_flags", "command", CONTENT, "directory", "entry", "fail_calls", "libc", "objects", "program", "resumed", "tool"];

type Facts = BTreeMap<String, String>;

/// The user's key, made where there is none. `None`: there can be none, and so no seal.
fn key() -> Option<[u8; 32]> {
    static KEY: OnceLock<Option<[u8; 32]>> = OnceLock::new();
    *KEY.get_or_init(find_key)
}

/// The user's key, for stores of their own.
pub fn user_key() -> anyhow::Result<[u8; 32]> {
    key().ok_or_else(|| {
        crate::problem::problem("there is no key of this user in the cache", "set `WRYNECK_CACHE` to a folder that can be written")
    })
}

fn find_key() -> Option<[u8; 32]> {
    let file = cache::folder("").ok()?.join("key");
    read_key(&file).or_else(|| {
        // Another run may be as far: the first one's is linked into place.
        let mut fresh = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o600)).tempfile_in(file.parent()?).ok()?;
        fresh.write_all(&random().ok()?).ok()?;
        fresh.as_file().sync_all().ok()?;
        match fresh.persist_noclobber(&file) {
            Ok(_) => {}
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists && read_key(&file).is_none() => {
                e.file.persist(&file).ok()?;
            }
            Err(_) => {}
        }
        read_key(&file)
    })
}

/// The key in a file that nobody else can have written or read.
fn read_key(file: &Path) -> Option<[u8; 32]> {
    let (_, about) = data::open_here(file).ok()?;
    // SAFETY: a system call that only returns a number.
    let own = about.uid() == unsafe { libc::geteuid() } && about.mode() & 0o077 == 0;
    if own { data::read_here(file, 32).ok()?.try_into().ok() } else { None }
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

/// A hash that only this user's tool can make, of parts of a purpose; `None` if there is no key.
pub fn keyed(purpose: &str, parts: &[&[u8]]) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new_keyed(&key()?);
    for part in [purpose.as_bytes()].iter().chain(parts) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    Some(hasher.finalize())
}

/// The hash of a file's content.
pub fn content_of(file: &Path) -> io::Result<String> {
    let (file, _) = data::open(file)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(io::Read::take(file, data::PROGRAM))?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// The facts [`CONTENT`] and [`SEAL`] for these others, where the files a replay needs are `files`: what the facts call them, and where they are.
pub fn of(mut facts: Facts, files: &[(String, PathBuf)]) -> Vec<(&'static str, String)> {
    let hashes: BTreeMap<&str, String> = files.iter().filter_map(|(name, file)| Some((name.as_str(), content_of(file).ok()?))).collect();
    let content = serde_json::json!(hashes).to_string();
    facts.insert(CONTENT.into(), content.clone());
    let seal = hash(&facts).map(|hash| (SEAL, hash.to_hex().to_string()));
    [(CONTENT, content)].into_iter().chain(seal).collect()
}

/// Whether this user's tool sealed these facts.
pub fn fits(facts: &Facts) -> bool {
    let given = facts.get(SEAL).and_then(|seal| blake3::Hash::from_hex(seal).ok());
    // The comparison takes the same time wherever they differ.
    given.is_some_and(|given| hash(facts).is_some_and(|hash| hash == given))
}

fn hash(facts: &Facts) -> Option<blake3::Hash> {
    let parts: Vec<&[u8]> = SEALED.iter().flat_map(|name| [name.as_bytes(), facts.get(*name).map_or(b"", |v| v.as_bytes())]).collect();
    keyed("run folder", &parts)
}
