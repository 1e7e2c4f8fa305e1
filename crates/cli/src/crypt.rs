//! `libcrypt.a`: musl's `crypt` and its kin, which Debian's musl lacks, taken out of the C library's bitcode.
//!
//! The bitcode has all of musl. What `crypt` reaches is kept. Of that, what `libc.a` defines becomes a declaration again, and the rest gets internal
//! names, so that it cannot meet the names of a program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result};

use crate::build::LIBC;
use crate::cache;
use crate::compile::CLANG;
use crate::native::{self, MUSL_LIB};
use crate::toolchain::{AR, EXTRACT, FAT, NM, OPT, TARGET};

/// Keeps the functions of `crypt.h` and `unistd.h`, and what they reach.
const KEEP: [&str; 2] = ["-passes=internalize,globaldce", "-internalize-public-api-list=crypt,crypt_r,encrypt,setkey"];

/// The C library's bitcode, if it was made. The name of the file that is meant names its content.
pub fn source() -> Option<PathBuf> {
    cache::root().ok()?.join(LIBC).canonicalize().ok()
}

/// Makes the library `library`; `scratch` is a folder for what is made on the way.
pub fn make(libc: &Path, library: &Path, scratch: &Path) -> Result<()> {
    let [reached, own, kept, object] = ["reached.bc", "own.bc", "kept.bc", "crypt.o"].map(|name| scratch.join(name));
    tool(OPT, |c| c.args(KEEP).arg(libc).arg("-o").arg(&reached))?;
    let names = |more: &[&str], file: &Path| -> Result<BTreeSet<String>> {
        let said = tool(NM, |c| c.args(["--defined-only", "--format=just-symbols", "--quiet"]).args(more).arg(file))?;
        Ok(said.lines().map(str::to_owned).collect())
    };
    let libc_s = names(&["--extern-only"], &Path::new(MUSL_LIB).join("libc.a"))?;
    let not_ours: Vec<String> = names(&[], &reached)?.intersection(&libc_s).cloned().collect();
    let not_ours = format!("^({})$", not_ours.join("|"));
    let kinds = ["rfunc", "ralias", "rglob"].map(|kind| format!("--{kind}={not_ours}"));
    tool(EXTRACT, |c| c.arg("--delete").args(kinds).arg(&reached).arg("-o").arg(&own))?;
    tool(OPT, |c| c.args(KEEP).arg(&own).arg("-o").arg(&kept))?;
    tool(CLANG, |c| c.arg(TARGET).args(FAT).args(["-O1", "-w", "-c"]).arg(&kept).arg("-o").arg(&object))?;
    tool(AR, |c| c.arg("rcs").arg(library).arg(&object))?;
    [reached, own, kept, object].iter().try_for_each(|file| Ok(fs::remove_file(file)?))
}

/// What one of LLVM's tools prints.
fn tool(name: &str, words: impl FnOnce(&mut Command) -> &mut Command) -> Result<String> {
    native::tool(words(&mut Command::new(name))).context("`libcrypt.a` cannot be made")
}
