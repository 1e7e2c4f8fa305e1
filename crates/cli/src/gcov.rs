//! Line counts of native replays by gcov: the explored bitcode gets gcov's counters, and their files are left for gcov to read after the
//! tests have run. An oracle of the engine's coverage, which shares only the bitcode with it.
//!
//! The counters are written when a program exits. What runs before a fault, an abort or `_exit` is not counted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result};
use wryneck_confine::Collected;

use crate::compile::{self, CLANG};
use crate::native::tool;
use crate::toolchain::OPT;
use crate::{data, source};

/// What gcov reads: the program's blocks and lines, and their counts.
const KINDS: [&str; 2] = ["gcno", "gcda"];

/// The bitcode with counters; `dir` gets a `.gcno`, and its `.gcda` when the program runs.
pub fn instrument(bitcode: &Path, dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let (text, counted) = (dir.join("units.ll"), dir.join("counted.bc"));
    tool(Command::new("llvm-dis-22").arg("-o").arg(&text).arg(bitcode))?;
    fs::write(&text, one_unit(&fs::read_to_string(&text)?))?;
    tool(Command::new(OPT).current_dir(dir).args(["-passes=insert-gcov-profiling", "-o"]).arg(&counted).arg(&text))?;
    Ok(counted)
}

/// A linked module has many units, and LLVM's pass would count every function anew for each of them. It passes over units that look like
/// those of modules, so all but the first of their list are made to: the pass keeps one checksum per unit that it counts, and finds it by the
/// unit's place in the list.
fn one_unit(module: &str) -> String {
    const UNIT: &str = " = distinct !DICompileUnit(";
    const LIST: &str = "!llvm.dbg.cu = !{";
    let first = module.lines().find_map(|l| l.strip_prefix(LIST)).and_then(|list| list.split([',', '}']).next()).unwrap_or_default();
    // Where the pass would write its files: elsewhere, in a hostile module.
    let plain = module.lines().filter(|line| !line.starts_with("!llvm.gcov"));
    let line = |line: &str| match line.split_once(UNIT) {
        Some((name, rest)) if name != first => format!("{name}{UNIT}dwoId: 1, {rest}\n"),
        Some(_) | None => format!("{line}\n"),
    };
    plain.map(line).collect()
}

/// What a program with counters is linked with.
pub fn library(musl: bool, flags: &[&str]) -> Result<Vec<PathBuf>> {
    let resources = tool(Command::new(CLANG).arg("-print-resource-dir"))?;
    let mut library = vec![Path::new(resources.trim()).join("lib/linux/libclang_rt.profile-x86_64.a")];
    if musl {
        let source = source::runtime()?.canonicalize()?.join("gcov.c");
        let mut clang = Command::new(CLANG);
        clang.args(flags).args(["-O1", "-w", "-c"]).arg(&source);
        library.push(compile::cached(clang, &source, "o", &compile::Clang)?);
    }
    Ok(library)
}

/// Most bytes of one file of counts.
const MOST: u64 = 256 << 20;

/// Writes the counts that a confined program left where the next one finds them and adds to them.
pub fn keep(counted: &Collected, dir: &Path) -> Result<()> {
    for name in counted.names() {
        if Path::new(&name).extension() == Some(OsStr::new("gcda"))
            && let Some(counts) = counted.read(&name, MOST)
        {
            let path = dir.join(&name);
            fs::write(&path, counts).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    Ok(())
}

/// Copies what gcov reads to a new folder or one that has such files.
pub fn collect(from: &Path, to: &Path) -> Result<()> {
    let copy = || -> io::Result<()> {
        fs::create_dir_all(to)?;
        // Where there was no test, nothing was built.
        fs::create_dir_all(from)?;
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| KINDS.iter().any(|kind| path.extension() == Some(OsStr::new(kind)))) {
                // The program may have laid a link there.
                fs::write(to.join(name), data::read_here(&path, data::TEST)?)?;
            }
        }
        Ok(())
    };
    copy().with_context(|| format!("cannot copy the counts to `{}`", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_unit_of_the_list_is_counted() {
        let module = "!llvm.dbg.cu = !{!2, !0}\n!0 = distinct !DICompileUnit(file: !1)\n!2 = distinct !DICompileUnit(file: !3)\n";
        let one = "!llvm.dbg.cu = !{!2, !0}\n!0 = distinct !DICompileUnit(dwoId: 1, file: !1)\n!2 = distinct !DICompileUnit(file: !3)\n";
        assert_eq!(one_unit(module), one);
    }
}
