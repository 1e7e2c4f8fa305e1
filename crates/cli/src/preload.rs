//! What the loader of a dynamic executable maps before its libraries: the replay library, by which calls have the test's results, fail as the test says,
//! and find its clients; and the heap guard, by which heap faults show that no sanitizer watches. What the program's own file defines comes before them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use object::Endianness;
use object::elf::PT_INTERP;
use object::read::elf::{ElfFile64, ProgramHeader};

use crate::compile::CLANG;
use crate::machine::{GLIBC, is_loader};
use crate::native::{Native, runtime_object, tool};
use crate::stubs;

/// The variable that names libraries to map first.
pub const VARIABLE: &str = "LD_PRELOAD";

/// Where the heap guard says what it saw, and what has it align blocks as the C library does.
pub const HEAP: &str = "WRYNECK_HEAP";
pub const ALIGN: (&str, &str) = ("WRYNECK_ALIGN", "16");

const FLAGS: [&str; 3] = ["-fPIC", "-O1", "-fvisibility=hidden"];

/// Builds the replay library of a program.
pub fn replay_library(native: &Native) -> Result<PathBuf> {
    has_glibc(native)?;
    if let [own, ..] = &stubs::defined(&native.program, &native.sym_calls)?[..] {
        bail!("`{own}` is the executable's own, and comes before the replay library's");
    }
    let fails = native.fail_calls.then_some("-DFAIL_CALLS");
    let asks = native.asks_for_test().then_some("-DASKS_TOO");
    let flags: Vec<&str> = FLAGS.into_iter().chain(["-DPRELOADED"]).chain(fails).chain(asks).collect();
    shared(native, "replay.so", native.replay_library(&flags)?)
}

/// Builds the heap guard for a program.
pub fn heap_guard(native: &Native) -> Result<PathBuf> {
    has_glibc(native)?;
    shared(native, "guards.so", vec![runtime_object("guards.c", &FLAGS)?])
}

/// Whether the program has the C library that these libraries are made for, and a loader.
fn has_glibc(native: &Native) -> Result<()> {
    match loader(&fs::read(&native.program)?) {
        Some(path) if is_loader(path, GLIBC) => Ok(()),
        Some(path) => bail!("there is no replay library for programs that `{}` loads", String::from_utf8_lossy(path)),
        None => bail!("a static executable takes no replay library"),
    }
}

/// The path of the program that an ELF executable of 64 bits asks to be loaded by (`PT_INTERP`).
pub fn loader(content: &[u8]) -> Option<&[u8]> {
    let file = ElfFile64::<Endianness>::parse(content).ok()?;
    let header = file.elf_program_headers().iter().find(|header| header.p_type(file.endian()) == PT_INTERP)?;
    header.data(file.endian(), content).unwrap_or_default().split(|b| *b == 0).next()
}

/// Links a library in the scratch folder.
fn shared(native: &Native, name: &str, objects: Vec<PathBuf>) -> Result<PathBuf> {
    let out = native.scratch.join(name);
    if out.as_os_str().as_bytes().iter().any(|b| b" :".contains(b)) {
        bail!("a replay library cannot be loaded from `{}`, whose name has a space or a colon", native.scratch.display());
    }
    tool(Command::new(CLANG).env("TMPDIR", &native.scratch).args(["-shared", "-w"]).args(objects).arg("-o").arg(&out))?;
    Ok(out)
}
