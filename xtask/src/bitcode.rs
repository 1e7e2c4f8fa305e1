//! How C becomes bitcode that is good to execute symbolically: which clang, which flags, and why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// The tools of the LLVM that `wryneck-lower` links, as Debian names them.
pub const CLANG: &str = "clang-22";
pub const LLVM_LINK: &str = "llvm-link-22";
const LLVM_NM: &str = "llvm-nm-22";

/// Flags beside the optimisation level. Optimised code is a third of the instructions, but some optimisations cost more than
/// they save: vectors hide that bytes are independent, unrolled loops add branches on the trip count, tables instead of
/// switches turn a decision into a read at a symbolic address, and a fused multiply-add is not what x86-64 computes.
pub const SHAPE: &[&str] = &["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-jump-tables", "-ffp-contract=off"];

/// clang's own words on its version: part of every product's name.
pub fn clang_version() -> Result<String> {
    process::output(Command::new(CLANG).arg("--version"))
}

/// The names that bitcode file `file` leaves undefined. Not the weak ones: they are meant to be missing, their address is 0.
pub fn undefined(file: &Path) -> Result<BTreeSet<String>> {
    let listed = process::output(Command::new(LLVM_NM).args(["--undefined-only", "--format=posix"]).arg(file))?;
    let strong = |line: &str| line.split_once(" U ").map(|(name, _)| name.to_owned());
    Ok(listed.lines().filter_map(strong).collect())
}

/// A symbol that a file defines.
pub struct Symbol {
    pub name: String,
    pub is_code: bool,
    pub address: u64,
    pub size: u64,
}

/// The symbols that an object, an archive or a program defines.
pub fn symbols(file: &Path) -> Result<Vec<Symbol>> {
    let listed = process::output(Command::new(LLVM_NM).args(["--defined-only", "--format=posix"]).arg(file))?;
    let symbol = |line: &str| {
        let mut words = line.split(' ');
        let (name, kind) = (words.next()?.to_owned(), words.next()?);
        let mut number = || words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
        let (address, size) = (number()?, number().unwrap_or_default());
        Some(Symbol { name, is_code: matches!(kind, "T" | "t" | "W" | "w"), address, size })
    };
    Ok(listed.lines().filter_map(symbol).collect())
}

/// Musl as Debian installs it for native programs.
pub struct NativeMusl {
    pub include: PathBuf,
    pub lib: PathBuf,
}

impl NativeMusl {
    /// Where Debian's `musl-dev` puts it.
    pub fn debian() -> Result<NativeMusl> {
        let lib = PathBuf::from("/usr/lib/x86_64-linux-musl");
        if !lib.join("libc.a").is_file() {
            bail!("`{}` has no `libc.a`; install Debian's `musl-dev`", lib.display());
        }
        Ok(NativeMusl { include: "/usr/include/x86_64-linux-musl".into(), lib })
    }

    /// A static native program from C, bitcode or objects.
    pub fn link(&self, inputs: &[&Path], program: &Path) -> Result<()> {
        process::output(&mut self.linking(inputs, program)?)?;
        Ok(())
    }

    /// The command that does so, for options of one's own.
    pub fn linking(&self, inputs: &[&Path], program: &Path) -> Result<Command> {
        self.linking_bare(&[&[&*self.lib.join("crt1.o"), &self.lib.join("crti.o")], inputs].concat(), program)
    }

    /// The same, but `inputs` have their own `_start`, and take from musl's library only what they leave undefined.
    pub fn link_bare(&self, inputs: &[&Path], program: &Path) -> Result<()> {
        process::output(&mut self.linking_bare(inputs, program)?)?;
        Ok(())
    }

    fn linking_bare(&self, inputs: &[&Path], program: &Path) -> Result<Command> {
        let mut clang = Command::new(CLANG);
        clang
            .args(["--target=x86_64-linux-musl", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld", "-w", "-isystem"])
            .arg(&self.include)
            .args(inputs)
            .args([self.lib.join("libc.a"), compiler_support()?, self.lib.join("crtn.o")])
            .arg("-o")
            .arg(program);
        Ok(clang)
    }
}

/// The compiler's run-time library (`libgcc.a`), of which musl's `printf` needs the wide arithmetic.
pub fn compiler_support() -> Result<PathBuf> {
    Ok(process::output(Command::new(CLANG).arg("-print-libgcc-file-name"))?.trim().into())
}
