//! The four libraries that `wryneck probe` is measured on: Debian's sources, configured, and compiled file by file with musl's headers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bitcode::{CLANG, LLVM_LINK, SHAPE};
use crate::cache::Cache;
use crate::{debian, process};

/// A library.
pub struct Library {
    pub name: &'static str,
    /// The file name of Debian's shared object.
    pub shared: &'static str,
    /// Debian's source package.
    package: &'static str,
    /// Folders whose C files it is made of.
    folders: &'static [&'static str],
    /// Files of those that are not in it: by a part of the name.
    without: &'static [&'static str],
    /// What makes the generated headers, if the named file is not there.
    made: &'static str,
    configure: &'static [&'static str],
    flags: &'static [&'static str],
    /// Folders with headers.
    include: &'static [&'static str],
}

/// One more library: a row.
#[rustfmt::skip]
pub static LIBRARIES: &[Library] = &[
    Library { name: "zlib", shared: "libz.so.1", package: "zlib", folders: &["."], without: &[], made: "zconf.h", configure: &["true"],
        flags: &["-DHAVE_UNISTD_H"], include: &["."] },
    Library { name: "json-c", shared: "libjson-c.so.5", package: "json-c", folders: &["."], without: &[], made: "b/config.h", configure: &["cmake", "-S", ".", "-B", "b"],
        flags: &["-D_GNU_SOURCE", "-Wno-implicit-function-declaration"], include: &[".", "b"] },
    Library { name: "libpng", shared: "libpng16.so.16", package: "libpng1.6", folders: &["."], without: &["example.c", "pngtest.c"], made: "pnglibconf.h",
        configure: &["cp", "scripts/pnglibconf.h.prebuilt", "pnglibconf.h"], flags: &[], include: &[".", "../zlib"] },
    Library { name: "liblzma", shared: "liblzma.so.5", package: "xz-utils",
        folders: &["check", "common", "delta", "lz", "lzma", "rangecoder", "simple"],
        without: &["tablegen", "_small.c", "_fuzz", "hardware_cputhreads.c", "outqueue.c", "_mt.c", "hardware_physmem.c"], made: "config.h",
        configure: &["./configure", "--disable-threads", "--disable-nls", "--disable-shared"],
        flags: &["-DHAVE_CONFIG_H", "-DTUKLIB_SYMBOL_PREFIX=lzma_", "-std=gnu99"],
        include: &[".", "src/liblzma/api", "src/liblzma/common", "src/liblzma/check", "src/liblzma/lz", "src/liblzma/rangecoder",
            "src/liblzma/lzma", "src/liblzma/delta", "src/liblzma/simple", "src/common"] },
];

impl Library {
    /// The library of this name.
    pub fn named(name: &str) -> Result<&'static Library> {
        LIBRARIES.iter().find(|library| library.name == name).with_context(|| format!("no library is called `{name}`"))
    }

    /// Its sources, fetched and configured: in `sources` by any name that begins with its own or its package's, or from Debian.
    pub fn tree(&self, sources: Option<&Path>) -> Result<PathBuf> {
        let tree = match sources {
            Some(folder) => {
                let begins = |path: &PathBuf| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    path.is_dir() && [self.name, self.package, self.package.trim_end_matches("-utils")].iter().any(|n| name.starts_with(n))
                };
                let all = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
                all.filter(begins).min().with_context(|| format!("`{}` has no sources of {}", folder.display(), self.name))?
            }
            None => debian::source(&Cache::open()?, self.package)?,
        };
        let tree = fs::canonicalize(tree)?;
        if !tree.join(self.made).exists() {
            process::output(Command::new(self.configure[0]).args(&self.configure[1..]).current_dir(&tree))
                .with_context(|| format!("cannot configure {}", self.name))?;
        }
        Ok(tree)
    }

    /// Its C files.
    pub fn files(&self, tree: &Path) -> Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for folder in self.folders {
            let at = if self.name == "liblzma" { tree.join("src/liblzma").join(folder) } else { tree.join(folder) };
            all.extend(fs::read_dir(at)?.filter_map(|entry| Some(entry.ok()?.path())));
        }
        all.retain(|path| path.extension().is_some_and(|e| e == "c"));
        all.retain(|path| !self.without.iter().any(|part| path.to_string_lossy().contains(part)));
        all.sort();
        ensure!(!all.is_empty(), "{} has no C files", self.name);
        Ok(all)
    }

    /// Compiles one of its files, or a changed copy, to bitcode. `zlib`: where libpng finds its headers.
    pub fn compile(&self, tree: &Path, zlib: &Path, file: &Path, level: &str, out: &Path) -> Result<()> {
        let mut clang = Command::new(CLANG);
        clang.args(["--target=x86_64-linux-musl", "-nostdlibinc", "-isystem", "/usr/include/x86_64-linux-musl", "-g", "-w", level]);
        let include = |folder: &&str| if *folder == "../zlib" { zlib.to_owned() } else { tree.join(folder) };
        for folder in self.include.iter().map(include) {
            clang.arg("-I").arg(folder);
        }
        clang.args(SHAPE).args(self.flags).args(["-emit-llvm", "-c", "-o"]).arg(out).arg(file);
        process::output(&mut clang).map(drop)
    }

    /// The whole library as bitcode at -O1.
    pub fn bitcode(&self, sources: Option<&Path>, folder: &Path) -> Result<PathBuf> {
        let (tree, zlib) = (self.tree(sources)?, Library::named("zlib")?.tree(sources)?);
        let place = folder.join(self.name);
        fs::create_dir_all(&place)?;
        let files = self.files(&tree)?;
        let object = |file: &Path| {
            let name = file.strip_prefix(&tree).unwrap_or(file).to_string_lossy().replace('/', "_");
            place.join(name).with_extension("bc")
        };
        process::parallel(&files, |file| self.compile(&tree, &zlib, file, "-O1", &object(file)))?;
        let whole = folder.join(format!("{}.bc", self.name));
        process::output(Command::new(LLVM_LINK).arg("-o").arg(&whole).args(files.iter().map(|file| object(file))))?;
        Ok(whole)
    }
}
