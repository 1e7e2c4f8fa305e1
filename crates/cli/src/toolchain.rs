//! The tools behind `wryneck cc` and its kin: the executables that do the work, and the two cache folders that they need.
//!
//! `sysroot/HASH/` is musl as a compiler driver expects it: links to Debian's musl headers with the kernel's beside them, to musl's
//! library, and to gcc's start files and support library. Nothing else is found from there, so what `configure` detects is true of the C
//! library that runs. `libcrypt.a`, which Debian's musl lacks, is made of the C library's bitcode if `wryneck setup` made that. For C++ there
//! is `libc++.a`, built from `runtime/cxx`, and the headers of libc++ if they are installed.
//! `tools/HASH/` has this executable under the names of compilers and linkers; [`NAMES`] says what each one is. Both are built elsewhere
//! and then renamed, so that many compilers may start at once. Cost: one second, once.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::build::missing;
use crate::compile::{CLANG, MUSL_INCLUDE, SHAPE};
use crate::native::MUSL_LIB;
use crate::problem::problem;
use crate::{cache, child, crypt, output, source};

pub use crate::compile::{INSTALL, OPT};

pub const LINKER: &str = "ld.lld-22";
pub const AR: &str = "llvm-ar-22";
pub const EXTRACT: &str = "llvm-extract-22";
pub const NM: &str = "llvm-nm-22";
pub const OBJCOPY: &str = "llvm-objcopy-22";

/// What code is made for.
pub const TARGET: &str = "--target=x86_64-linux-musl";
/// Objects are ordinary ones that carry their bitcode.
pub const FAT: &[&str] = &["-flto", "-ffat-lto-objects"];
/// The C++ library.
pub const CXX_FLAGS: &[&str] = &["-stdlib=libc++"];
/// What gcc's unwinder calls through weak references once a program has `pthread_key_create`. A static link leaves them null if nothing else needs them.
pub const UNWINDER_NEEDS: &[&str] = &["-Wl,-u,pthread_mutex_lock", "-Wl,-u,pthread_mutex_unlock", "-Wl,-u,pthread_once"];

/// The names under which this executable is a tool, sorted, and the command each one means. Project files name compilers as
/// they like; those of gcc are here because clang takes its arguments.
pub static NAMES: &[(&str, &str)] = &[
    ("c++", "c++"),
    ("c99", "cc"),
    ("cc", "cc"),
    ("clang", "cc"),
    ("clang++", "c++"),
    ("g++", "c++"),
    ("gcc", "cc"),
    ("ld", "ld"),
    ("ld.lld", "ld"),
    ("wryneck-c++", "c++"),
    ("wryneck-cc", "cc"),
    ("wryneck-ld", "ld"),
    ("wryneck-rustc", "rustc"),
    ("x86_64-linux-gnu-g++", "c++"),
    ("x86_64-linux-gnu-gcc", "cc"),
    ("x86_64-linux-gnu-ld", "ld"),
];

/// The command that an executable called `name` is, if that is not `wryneck` itself.
pub fn command_of(name: &OsStr) -> Option<&'static str> {
    let name = Path::new(name).file_name()?;
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, command)| *command)
}

/// Where musl and nothing else is found.
pub fn sysroot() -> Result<PathBuf> {
    let sources = cxx_sources()?;
    let mut parts = vec![LAYOUT.as_bytes().to_vec()];
    for source in sources.iter().chain([&cxx()?.join("new.h")]) {
        parts.push(fs::read(source).with_context(|| format!("cannot read `{}`", source.display()))?);
    }
    let crypt = crypt::source();
    parts.extend(crypt.iter().map(|libc| libc.as_os_str().as_encoded_bytes().to_vec()));
    let name = cache::digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    folder(&format!("sysroot/{name}"), |dir| {
        let (include, lib) = (dir.join("usr/include"), dir.join("usr/lib"));
        fs::create_dir_all(&include)?;
        fs::create_dir_all(&lib)?;
        if !Path::new(MUSL_LIB).join("libc.a").is_file() {
            return Err(problem(format!("musl is missing: `{MUSL_LIB}` has no `libc.a`"), "install Debian's `musl-dev`"));
        }
        link_all(Path::new(MUSL_INCLUDE), &include, |_| true)?;
        let header = include.join("crypt.h");
        if !header.exists() {
            fs::write(header, CRYPT)?;
        }
        // Left out where they are not installed: few programs ask the kernel past the C library.
        for kernel in KERNEL_INCLUDES {
            symlink(kernel, include.join(Path::new(kernel).file_name().expect("it has one")))?;
        }
        link_all(Path::new(MUSL_LIB), &lib, |_| true)?;
        let library = lib.join("libcrypt.a");
        if let Some(libc) = crypt.filter(|_| !library.exists()) {
            crypt::make(&libc, &library, dir).unwrap_or_else(|why| output::say("warning", format!("{why:#}; programs link without it")));
        }
        for version in fs::read_dir(GCC).into_iter().flatten().flatten() {
            let place = lib.join("gcc/x86_64-linux-gnu").join(version.file_name());
            fs::create_dir_all(&place)?;
            link_all(&version.path(), &place, |name| name.starts_with("crt") || name.starts_with("libgcc"))?;
        }
        cxx_library(dir, &lib.join("libc++.a"), &sources)
    })
}

/// Changed whenever [`sysroot`] lays out anything else than before.
const LAYOUT: &str = "10";
/// The kernel's headers that musl has none of.
const KERNEL_INCLUDES: [&str; 10] = [
    "/usr/include/asm-generic",
    "/usr/include/drm",
    "/usr/include/linux",
    "/usr/include/misc",
    "/usr/include/mtd",
    "/usr/include/rdma",
    "/usr/include/sound",
    "/usr/include/video",
    "/usr/include/xen",
    "/usr/include/x86_64-linux-gnu/asm",
];
/// A header that Debian's musl lacks, as it lacks the functions.
const CRYPT: &str = "#pragma once\nstruct crypt_data { int initialized; char __buf[256]; };\n\
    char *crypt(const char *, const char *);\nchar *crypt_r(const char *, const char *, struct crypt_data *);\n";
/// Gcc's own files, a folder for each version.
const GCC: &str = "/usr/lib/gcc/x86_64-linux-gnu";
/// Libc++'s headers as Debian's `libc++-22-dev` installs them.
const LIBCXX: &str = "/usr/lib/llvm-22/include/c++/v1";

/// The folder of the C++ library's sources and configuration.
pub fn cxx() -> Result<PathBuf> {
    Ok(source::runtime()?.join("cxx"))
}

/// What the C++ library is made of; some of it needs the headers of libc++.
fn cxx_sources() -> Result<Vec<PathBuf>> {
    let library: &[&str] = if Path::new(LIBCXX).is_dir() { &["thrown.cc", "library.cc"] } else { &[] };
    let dir = cxx()?;
    Ok(["support.cc", "nothrow.cc", "thread_exit.cc", "exception.cc", "find_object.c"]
        .iter()
        .chain(library)
        .map(|name| dir.join(name))
        .collect())
}

/// Compiles the C++ library, as objects that carry their bitcode.
fn cxx_library(sysroot: &Path, library: &Path, sources: &[PathBuf]) -> Result<()> {
    let mut objects = Vec::new();
    for source in sources {
        let object = sysroot.join(source.file_name().expect("it has one")).with_extension("o");
        let mut clang = Command::new(CLANG);
        clang.arg(TARGET).arg(format!("--sysroot={}", sysroot.display())).args(CXX_FLAGS).arg("-cxx-isystem").arg(cxx()?);
        if source.extension().is_some_and(|extension| extension == "cc") {
            clang.arg("-std=c++20");
        }
        clang.args(FAT).args(SHAPE).args(["-O1", "-w", "-c"]).arg(source).arg("-o").arg(&object);
        must(&mut clang, CLANG)?;
        objects.push(object);
    }
    must(Command::new(AR).arg("rcs").arg(library).args(&objects), AR)?;
    objects.iter().try_for_each(|object| Ok(fs::remove_file(object)?))
}

fn must(command: &mut Command, tool: &str) -> Result<()> {
    child::bind(command, libc::SIGKILL);
    let ended = command.output().map_err(|e| missing(e, tool, INSTALL))?;
    match ended.status.success() {
        true => Ok(()),
        false => bail!("the C++ library cannot be made: {}", String::from_utf8_lossy(&ended.stderr).trim_end()),
    }
}

/// This executable under each of [`NAMES`].
pub fn tools() -> Result<PathBuf> {
    let here = env::current_exe().context("cannot find this executable")?;
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    let name = format!("tools/{}", cache::digest(&[here.as_os_str().as_encoded_bytes(), names.join(" ").as_bytes()]));
    folder(&name, |dir| NAMES.iter().try_for_each(|(name, _)| Ok(symlink(&here, dir.join(name))?)))
}

/// Where `wryneck deps` puts libraries, a folder for each.
pub const LIBRARIES: &str = "deps";

/// Flags for the C++ library's headers, and the folder of its archive if that is not in the sysroot: all of libc++ if `wryneck deps libc++` has built it.
pub fn cxx_library_flags() -> Result<Vec<OsString>> {
    let whole = cache::folder(LIBRARIES)?.canonicalize()?.join(WHOLE_CXX);
    let headers = |dir: PathBuf| ["-cxx-isystem".into(), dir.into_os_string()];
    if !whole.join("lib").is_dir() {
        return Ok(headers(cxx()?).into());
    }
    let mut flags = Vec::from(headers(whole.join("include/c++/v1")));
    flags.extend(["-nostdinc++".into(), "-B".into(), whole.join("lib").into_os_string()]);
    Ok(flags)
}

/// All of libc++ among the libraries of `wryneck deps`.
pub const WHOLE_CXX: &str = "libc++";

/// The libraries that `wryneck deps` built, sorted by name: folders with `include` and `lib`.
pub fn libraries() -> Result<Vec<PathBuf>> {
    let all = fs::read_dir(cache::folder(LIBRARIES)?.canonicalize()?).context("cannot list the libraries in the cache")?;
    let mut libraries: Vec<PathBuf> = all.flatten().map(|entry| entry.path()).filter(|dir| dir.join("lib").is_dir()).collect();
    libraries.sort();
    Ok(libraries)
}

/// Links to every file in the folder `from` whose name is `wanted`.
fn link_all(from: &Path, into: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot list `{}`; install Debian's `musl-dev`", from.display()))? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&wanted) {
            symlink(entry.path(), into.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The folder `name` below the cache, filled by `fill` if it is not there yet.
fn folder(name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let dir = cache::folder("")?.canonicalize()?.join(name);
    if dir.is_dir() {
        return Ok(dir);
    }
    let above = dir.parent().expect("it lies in the cache");
    fs::create_dir_all(above)?;
    let scratch = cache::scratch()?;
    let fresh = scratch.path().join("made");
    fs::create_dir(&fresh)?;
    fill(&fresh)?;
    match fs::rename(&fresh, &dir) {
        Err(error) if !dir.is_dir() => Err(error).with_context(|| format!("cannot make `{}`", dir.display())),
        // Another compiler was faster.
        Ok(()) | Err(_) => Ok(dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_their_names() {
        assert!(NAMES.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(command_of(OsStr::new("/usr/bin/g++")), Some("c++"));
        assert_eq!(command_of(OsStr::new("wryneck-cc")), Some("cc"));
        assert_eq!(command_of(OsStr::new("./wryneck")), None);
    }
}
