//! Bitcode carried in files of machine code: an object has it in the section `.llvm.lto` (as clang's FatLTO writes it), a linked
//! program in `.llvmbc`, and a static library in its members.
//!
//! A program's `.wryneck` holds the hash of its machine code, so that code changed afterwards is noticed. Files of unknown origin are
//! read here; the `object` crate checks every offset.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::build::missing;
use crate::cache;
use crate::child::{self, Limits};
use crate::problem::problem;
use crate::toolchain;

/// The section of an object.
pub const IN_OBJECT: &str = ".llvm.lto";
/// The section of a linked program.
pub const IN_PROGRAM: &str = ".llvmbc";
/// The section with the hash of the program's `.text`.
pub const CODE_HASH: &str = ".wryneck";

const LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };
const HOW_TO: &str = "build it with `wryneck build -- make` (or whatever builds it)";

/// Whether a file of this content is machine code: an ELF file or an archive.
pub fn is_native(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"!<arch>\n", b"!<thin>\n"].iter().any(|magic| content.starts_with(magic))
}

/// The bitcode that `file` carries, as a file in the cache.
pub fn extract(file: &Path) -> Result<PathBuf> {
    let content = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let dir = cache::folder("carried")?;
    match content.starts_with(b"\x7fELF") {
        true => kept(&dir, of_elf(file, &content)?),
        false => of_archive(file, &content, &dir),
    }
}

/// The hash of the machine code of a linked program.
pub fn code_hash(content: &[u8]) -> Option<String> {
    let elf = object::File::parse(content).ok()?;
    let code = elf.section_by_name(".text")?;
    Some(cache::digest(&[code.data().ok()?]))
}

fn of_elf<'a>(file: &Path, content: &'a [u8]) -> Result<&'a [u8]> {
    let shown = file.display();
    let elf = object::File::parse(content).map_err(|e| problem(format!("`{shown}` is a damaged ELF file: {e}"), HOW_TO))?;
    let section = |name: &str| elf.section_by_name(name).and_then(|s| s.data().ok());
    if let Some(bitcode) = section(IN_OBJECT) {
        return Ok(bitcode);
    }
    let Some(bitcode) = section(IN_PROGRAM) else {
        return Err(problem(format!("`{shown}` carries no bitcode"), HOW_TO));
    };
    match (section(CODE_HASH), code_hash(content)) {
        (Some(then), Some(now)) if then != now.as_bytes() => Err(problem(
            format!("the bitcode that `{shown}` carries is not that of its machine code, which was changed after it was linked"),
            "build it again",
        )),
        _ => Ok(bitcode),
    }
}

/// Links the bitcode of all members.
fn of_archive(file: &Path, content: &[u8], dir: &Path) -> Result<PathBuf> {
    let shown = file.display();
    let damaged = |e: object::Error| problem(format!("`{shown}` is a damaged archive: {e}"), HOW_TO);
    let archive = ArchiveFile::parse(content).map_err(damaged)?;
    let (mut members, mut parts) = (Vec::new(), Vec::new());
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let outside;
        let data = if archive.is_thin() {
            let place = file.parent().unwrap_or(Path::new("")).join(&name);
            outside = fs::read(&place).with_context(|| format!("cannot read `{}`, a member of `{shown}`", place.display()))?;
            &outside
        } else {
            member.data(content).map_err(damaged)?
        };
        let bitcode = of_elf(Path::new(&format!("{shown}({name})")), data)?;
        parts.push(cache::digest(&[bitcode]));
        members.push(kept(dir, bitcode)?);
    }
    let name = cache::digest(&parts.iter().map(String::as_bytes).collect::<Vec<_>>());
    let linked = dir.join(format!("{name}.bc"));
    if linked.is_file() {
        return Ok(linked);
    }
    let scratch = tempfile::tempdir_in(dir)?;
    let fresh = scratch.path().join("bc");
    let ended = child::run(Command::new(toolchain::LLVM_LINK).args(&members).arg("-o").arg(&fresh), LIMITS)
        .map_err(|e| missing(e, toolchain::LLVM_LINK, toolchain::INSTALL))?;
    if !ended.status.success() {
        bail!("the members of `{shown}` do not link:\n{}", String::from_utf8_lossy(&ended.stderr).trim_end());
    }
    fs::rename(&fresh, &linked)?;
    Ok(linked)
}

/// Writes bitcode to the cache under its hash.
fn kept(dir: &Path, bitcode: &[u8]) -> Result<PathBuf> {
    let file = dir.join(format!("{}.bc", cache::digest(&[bitcode])));
    if fs::metadata(&file).is_ok_and(|m| m.len() == bitcode.len() as u64) {
        return Ok(file);
    }
    let scratch = tempfile::tempdir_in(dir).with_context(|| format!("cannot write to `{}`", dir.display()))?;
    let fresh = scratch.path().join("bc");
    fs::write(&fresh, bitcode).with_context(|| format!("cannot write `{}`", fresh.display()))?;
    fs::rename(&fresh, &file)?;
    Ok(file)
}
