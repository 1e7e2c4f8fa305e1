//! Bitcode carried in machine code files: objects have it in the section `.llvm.lto` (clang's FatLTO writes it), linked programs in
//! `.llvmbc`, static libraries in their members.
//!
//! A program's section `.wryneck` is its [`Label`]: hashes of code and bitcode, so that a later change of either one is detected, and
//! what bitcode is missing. Files of unknown origin are read here; the `object` crate checks every offset.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, SectionFlags};

use crate::build::missing;
use crate::cache;
use crate::child::{self, Limits};
use crate::compile;
use crate::data;
use crate::problem::problem;

/// The section of an object.
pub const IN_OBJECT: &str = ".llvm.lto";
/// The section of a linked program.
pub const IN_PROGRAM: &str = ".llvmbc";
/// The section with a program's [`Label`], as JSON.
pub const LABEL: &str = ".wryneck";

/// What a linked program says of the bitcode it carries.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Label {
    /// Hash of the program and its bitcode, see [`digest`].
    pub digest: String,
    /// Objects it was linked of that carry none, the C library and the compiler's own left out.
    pub bare: Vec<String>,
    /// Why it carries none at all.
    pub none: Option<String>,
    /// It is linked with the host's C library. The bitcode is explored with musl.
    #[serde(default)]
    pub of_host: bool,
}

/// The bitcode of a file.
pub struct Carried {
    /// In the cache.
    pub bitcode: PathBuf,
    /// Objects that should have carried a part of it and did not.
    pub bare: Vec<String>,
    /// The machine code has the host's C library.
    pub of_host: bool,
}

impl Carried {
    /// Of a file that is no program yet: it has no C library.
    pub fn of(bitcode: PathBuf, bare: Vec<String>) -> Carried {
        Carried { bitcode, bare, of_host: false }
    }
}

const LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };
const HOW_TO: &str = "clean the build and repeat it with `wryneck build -- make` (or whatever builds it)";
const AGAIN: &str = "build it again";

/// Whether a file of this content is machine code: an ELF file or an archive.
pub fn is_native(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"!<arch>\n", b"!<thin>\n"].iter().any(|magic| content.starts_with(magic))
}

/// The bytes of a file.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    data::read(file, data::PROGRAM).with_context(|| format!("cannot read `{}`", file.display()))
}

/// Whether an ELF file of this content carries no bitcode and does not say why.
pub fn is_bare(content: &[u8]) -> bool {
    let parts = [IN_OBJECT, IN_PROGRAM, LABEL];
    content.starts_with(b"\x7fELF")
        && object::File::parse(content).is_ok_and(|elf| parts.iter().all(|name| elf.section_by_name(name).is_none()))
}

/// The bitcode that `file`, of this content, carries.
pub fn extract(file: &Path, content: &[u8]) -> Result<Carried> {
    let dir = cache::folder("carried")?;
    if !content.starts_with(b"\x7fELF") {
        return of_archive(file, content, &dir);
    }
    let (bitcode, label) = of_elf(file, content)?;
    Ok(Carried { bitcode: kept(&dir, bitcode)?, bare: label.bare, of_host: label.of_host })
}

/// What to say of an object in [`Carried::bare`].
pub fn lacking(object: &str) -> String {
    format!("`{object}` carries no bitcode (assembly, or made by another compiler): what it defines is not explored")
}

/// Whether an object, of which this is the content, carries its bitcode.
pub fn carries(object: &[u8]) -> bool {
    object.starts_with(b"BC\xc0\xde") || object::File::parse(object).is_ok_and(|elf| elf.section_by_name(IN_OBJECT).is_some())
}

/// The hash of everything of a linked program that is loaded to run it (so it may be stripped), and of its bitcode.
/// `None` if the program is no whole ELF file.
pub fn digest(program: &[u8], bitcode: &[u8]) -> Option<String> {
    let elf = object::File::parse(program).ok()?;
    let mut parts = vec![bitcode];
    for section in elf.sections() {
        if matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_ALLOC)) {
            parts.push(section.data().ok()?);
        }
    }
    Some(cache::digest(&parts))
}

/// The bitcode in an ELF file, and what the file says of it.
fn of_elf<'a>(file: &Path, content: &'a [u8]) -> Result<(&'a [u8], Label)> {
    let shown = file.display();
    let elf = object::File::parse(content).map_err(|e| problem(format!("`{shown}` is a damaged ELF file: {e}"), HOW_TO))?;
    let section = |name: &str| elf.section_by_name(name).and_then(|s| s.data().ok());
    if let Some(bitcode) = section(IN_OBJECT) {
        return Ok((bitcode, Label::default()));
    }
    let label: Label = match section(LABEL).map(serde_json::from_slice) {
        Some(Ok(label)) => label,
        Some(Err(_)) => return Err(problem(format!("the section `{LABEL}` of `{shown}` is damaged, or of another version"), AGAIN)),
        None => {
            return Err(problem(
                format!("`{shown}` carries no bitcode: it was not built by `wryneck cc`, or it was stripped of it"),
                HOW_TO,
            ));
        }
    };
    match (&label.none, section(IN_PROGRAM)) {
        (Some(why), _) => Err(problem(format!("`{shown}` carries no bitcode: {why}"), HOW_TO)),
        (None, None) => Err(problem(format!("`{shown}` has lost the bitcode it carried: the section `{IN_PROGRAM}` is gone"), AGAIN)),
        (None, Some(bitcode)) if digest(content, bitcode).is_none_or(|now| now != label.digest) => {
            let what = format!("the bitcode in `{shown}` is not that of its machine code: one of them was changed after it was linked");
            Err(problem(what, AGAIN))
        }
        (None, Some(bitcode)) => Ok((bitcode, label)),
    }
}

/// Links the bitcode of all members that have some.
fn of_archive(file: &Path, content: &[u8], dir: &Path) -> Result<Carried> {
    let shown = file.display();
    let (mut members, mut parts, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for (name, data) in members_of(file, content)? {
        match carries(&data) {
            true => {
                let (bitcode, _) = of_elf(Path::new(&name), &data)?;
                parts.push(cache::digest(&[bitcode]));
                members.push(kept(dir, bitcode)?);
            }
            false => bare.push(name),
        }
    }
    if members.is_empty() {
        return Err(problem(format!("no member of `{shown}` carries bitcode"), HOW_TO));
    }
    let name = cache::digest(&parts.iter().map(String::as_bytes).collect::<Vec<_>>());
    let linked = dir.join(format!("{name}.bc"));
    if cache::is_whole(&linked) {
        return Ok(Carried::of(linked, bare));
    }
    let scratch = cache::scratch()?;
    let fresh = scratch.path().join("bc");
    let ended = child::run(Command::new(compile::LLVM_LINK).args(&members).arg("-o").arg(&fresh), LIMITS)
        .map_err(|e| missing(e, compile::LLVM_LINK, compile::INSTALL))?;
    ended.check_cut(&format!("`{shown}`: linking its members"))?;
    if !ended.status.success() {
        bail!("the members of `{shown}` do not link:\n{}", String::from_utf8_lossy(&ended.stderr).trim_end());
    }
    cache::place_whole(&fresh, &linked)?;
    Ok(Carried::of(linked, bare))
}

/// Most bytes of all members of a thin archive, which may name a file many times.
const THIN: u64 = 2 << 30;

/// The members of an archive: `archive(member)` and the content.
pub fn members_of<'a>(file: &Path, content: &'a [u8]) -> Result<Vec<(String, Cow<'a, [u8]>)>> {
    let shown = file.display();
    let damaged = |e: object::Error| problem(format!("`{shown}` is a damaged archive: {e}"), HOW_TO);
    let archive = ArchiveFile::parse(content).map_err(damaged)?;
    let (mut members, mut left) = (Vec::new(), THIN);
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let data = if archive.is_thin() {
            let place = file.parent().unwrap_or(Path::new("")).join(&name);
            let bytes = data::read(&place, left).with_context(|| format!("cannot read `{}`, a member of `{shown}`", place.display()))?;
            left -= bytes.len() as u64;
            bytes.into()
        } else {
            member.data(content).map_err(damaged)?.into()
        };
        members.push((format!("{shown}({name})"), data));
    }
    Ok(members)
}

/// Writes bitcode to the cache under its hash.
fn kept(dir: &Path, bitcode: &[u8]) -> Result<PathBuf> {
    let file = dir.join(format!("{}.bc", cache::digest(&[bitcode])));
    match data::read_here(&file, data::PROGRAM) {
        Ok(there) if there == bitcode => return Ok(file),
        Ok(_) => cache::heals(&file, "is damaged"),
        Err(_) => {}
    }
    cache::write(bitcode, &file)?;
    Ok(file)
}
