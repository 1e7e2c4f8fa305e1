//! From Rust to bitcode: one `.rs` file with the standard library, by `rustc`. Results are cached by the content of every file it read.
//!
//! The standard library's own bitcode is in its `.rlib` files, for link-time optimisation. A program that is optimised so (`-C lto=fat`) is one module,
//! which `-C save-temps` keeps. Nothing is linked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result};

use crate::build::missing;
use crate::compile::{self, Compiler, Made};
use crate::problem::problem;
use crate::{cache, data};

pub const RUSTC: &str = "rustc";
/// What to do without it.
pub const INSTALL: &str = "install a Rust toolchain whose LLVM is at most 22 (`rustc -vV` says which it has), or give a `.bc` file";

/// For bitcode that holds the whole program and is good to explore (compare [`compile::SHAPE`]). Addresses are fixed, since the replay's program is static.
pub const SHAPE: &[&str] = &[
    "-g",
    "-Clto=fat",
    "-Ccodegen-units=1",
    "-Csave-temps",
    "-Crelocation-model=static",
    "-Cno-vectorize-loops",
    "-Cno-vectorize-slp",
    "-Cllvm-args=-unroll-threshold=0",
];
/// As `rustc` compiles a file, with its checks; a little optimised, since the standard library is slow without.
const FLAGS: &[&str] =
    &["--edition=2024", "--crate-type=bin", "-Copt-level=1", "-Coverflow-checks=on", "-Cdebug-assertions=on", "-Awarnings"];
/// In place of the linker: it does nothing, successfully.
const NO_LINKER: &str = "-Clinker=true";

/// The bitcode of a Rust program; the compiler's own words if it does not compile.
pub fn bitcode(target: &Path) -> Result<PathBuf> {
    data::open(target).with_context(|| format!("cannot read `{}`", target.display()))?;
    // Its version is a part of what names the result: the file of this name on `PATH` may be rustup's.
    let version = Command::new(RUSTC).arg("-vV").output().map_err(|error| Rustc.missing(error))?;
    let mut rustc = Command::new(RUSTC);
    rustc.arg(format!("-Cmetadata={}", cache::digest(&[&version.stdout]))).args(FLAGS).args(SHAPE).arg(NO_LINKER).arg(target);
    compile::cached(rustc, target, "bc", &Rustc)
}

/// How `rustc` is told where things go.
struct Rustc;

impl Compiler for Rustc {
    fn missing(&self, error: io::Error) -> anyhow::Error {
        missing(error, RUSTC, INSTALL)
    }

    fn write_to(&self, rustc: &mut Command, made: &Made<'_>) {
        let folder = made.scratch.join("rust");
        rustc.arg("--out-dir").arg(&folder).arg(format!("--emit=link,dep-info={}", made.read.display()));
    }

    fn finish(&self, target: &Path, made: &Made<'_>) -> Result<()> {
        let bitcode = whole_program(&made.scratch.join("rust"), |_| true)?.ok_or_else(|| {
            problem(
                format!("`rustc` kept no bitcode of `{}`", target.display()),
                "give the `.bc` file; another version of `rustc` may keep it",
            )
        })?;
        fs::rename(bitcode, made.output)?;
        // The first rule names the files that were read; the target of the others is one of them.
        let rules = fs::read_to_string(made.read)?;
        let first = rules.lines().next().and_then(|rule| rule.split_once(": ")).map_or("", |(_, files)| files);
        Ok(fs::write(made.read, format!("_: {first}\n"))?)
    }
}

/// The module that `rustc -C lto=fat -C save-temps` left in a folder: that of the whole program, optimised. `wanted` chooses by the file's name.
pub fn whole_program(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let file = entry?.path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Of an earlier stage: `….rcgu.no-opt.bc`, `….rcgu.lto.input.bc`.
        if name.ends_with(".rcgu.bc") && wanted(name) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
