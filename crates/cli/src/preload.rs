//! The replay library of a dynamic executable: a shared library that the loader maps before the others, so that calls have the test's results, fail as
//! the test says, and find its clients. What the program's own file defines comes before it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use wryneck_machine::Elf;

use crate::compile::CLANG;
use crate::native::{Native, tool};
use crate::stubs;

/// The beginning of the name of glibc's loader.
const LOADER: &[u8] = b"ld-linux-x86-64";
/// The variable that names libraries to map first.
pub const VARIABLE: &str = "LD_PRELOAD";

/// Builds it for a program of the host's C library.
pub fn build(native: &Native) -> Result<PathBuf> {
    let loader = Elf::parse(&fs::read(&native.program)?)?.interpreter;
    let is_glibc = |path: &[u8]| path.rsplit(|b| *b == b'/').next().is_some_and(|name| name.starts_with(LOADER));
    match loader {
        Some(path) if is_glibc(&path) => {}
        Some(path) => bail!("there is no replay library for programs that `{}` loads", String::from_utf8_lossy(&path)),
        None => bail!("a static executable takes no replay library"),
    }
    if let [own, ..] = &stubs::defined(&native.program, &native.sym_calls)?[..] {
        bail!("`{own}` is the executable's own, and comes before the replay library's");
    }
    let out = native.scratch.join("replay.so");
    let flags = ["-fPIC", "-O1", "-fvisibility=hidden", "-DPRELOADED"];
    let fails = native.fail_calls.then_some("-DFAIL_CALLS");
    let asks = native.asks_for_test().then_some("-DASKS_TOO");
    let objects = native.replay_library(&flags.into_iter().chain(fails).chain(asks).collect::<Vec<_>>())?;
    tool(Command::new(CLANG).env("TMPDIR", &native.scratch).args(["-shared", "-w"]).args(objects).arg("-o").arg(&out))?;
    Ok(out)
}
