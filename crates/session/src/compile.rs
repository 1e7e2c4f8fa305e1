//! From source to bitcode, and to objects for replays: a compiler, a limited child whose results are cached by the content of every file it read.
//!
//! Layout, below `c/` in the cache: `KEY.d`, the files that the last compilation of this source with these flags read (make's syntax,
//! clang's `-MD`); `HASH.bc` or `HASH.o`, what was made, where HASH is that of the key and of the contents of all those files. A header that appears
//! earlier in the search path than the one read before is not noticed (ccache's direct mode has the same limit).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, io};

use anyhow::{Context, Result, bail};

use crate::build::{self, missing};
use crate::child::{self, Limits};
use crate::{cache, data, source};

/// The compiler, of the LLVM that `wryneck-lower` links.
pub const CLANG: &str = "clang-22";
pub const LLVM_LINK: &str = "llvm-link-22";
pub const OPT: &str = "opt-22";
/// What to do if one of LLVM's tools is missing.
pub const INSTALL: &str = "install Debian's `clang-22`, `lld-22` and `llvm-22`";
/// Musl's headers as Debian's `musl-dev` installs them.
pub const MUSL_INCLUDE: &str = "/usr/include/x86_64-linux-musl";

const LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };
const FLAGS: [&str; 7] = ["-g", "-O0", "-emit-llvm", "-c", "-fno-stack-protector", "-ffp-contract=off", "-Wno-everything"];

/// For bitcode that is good to explore: vectors hide that bytes are independent, unrolled loops add branches on the trip count, tables
/// instead of switches turn a decision into a read at a symbolic address, and a fused multiply-add is not what x86-64 computes.
pub const SHAPE: &[&str] = &["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-jump-tables", "-ffp-contract=off"];

/// Which C library the target is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Libc {
    Musl,
    None,
}

/// The bitcode of a C file, compiled for the C library's headers if it is to be linked; clang's own words if it cannot be.
pub fn bitcode(target: &Path, libc: Libc, flags: &[String]) -> Result<PathBuf> {
    data::open(target).with_context(|| format!("cannot read `{}`", target.display()))?;
    let mut clang = Command::new(CLANG);
    clang.args(FLAGS);
    if libc == Libc::Musl && Path::new(MUSL_INCLUDE).is_dir() {
        clang.args(["--target=x86_64-linux-musl", "-nostdlibinc", "-isystem", MUSL_INCLUDE]);
    }
    clang.arg("-I").arg(source::runtime()?.join("include")).args(flags).arg(target);
    cached(clang, target, "bc", &Clang)
}

/// The object of a C++ file as `wryneck c++` compiles it, which knows the C++ library. It carries its bitcode.
pub fn cxx(target: &Path, flags: &[String]) -> Result<PathBuf> {
    data::open(target).with_context(|| format!("cannot read `{}`", target.display()))?;
    let mut command = Command::new(build::command()?);
    // Which library it is tells the object from one that was compiled for another.
    let library = cxx_library()?;
    command.args(["c++", "-O0", "-w", "-c"]).arg("-B").arg(library.parent().unwrap_or(&library)).args(flags).arg(target);
    cached(command, target, "o", &Clang)
}

/// The C++ library as an archive. The compiler is asked once.
pub fn cxx_library() -> Result<PathBuf> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let asked = Command::new(build::command()?).args(["c++", "-print-file-name=libc++.a"]).output();
    let asked = asked.map_err(|error| missing(error, "wryneck", "build it with `cargo build --release -p wryneck-cli`"))?;
    Ok(FOUND.get_or_init(|| PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim())).clone())
}

/// Where a compilation writes.
pub struct Made<'a> {
    /// Gone when it is over.
    pub scratch: &'a Path,
    pub output: &'a Path,
    /// The files it read, as make's rule `_: FILE...`.
    pub read: &'a Path,
}

/// What compilers differ in.
pub trait Compiler {
    /// The error if it could not be started.
    fn missing(&self, error: io::Error) -> anyhow::Error;
    /// Says in the arguments where to write.
    fn write_to(&self, command: &mut Command, made: &Made<'_>);
    /// After a compilation that succeeded: what [`Made`] names is there.
    fn finish(&self, _target: &Path, _made: &Made<'_>) -> Result<()> {
        Ok(())
    }
}

/// Clang, which compiles one file.
pub struct Clang;

impl Compiler for Clang {
    fn missing(&self, error: io::Error) -> anyhow::Error {
        missing(error, CLANG, "install Debian's `clang-22`, or give a `.bc` file")
    }

    fn write_to(&self, clang: &mut Command, made: &Made<'_>) {
        clang.args(["-MD", "-MT", "_", "-MF"]).arg(made.read).arg("-o").arg(made.output);
    }
}

/// What a compiler makes of `target` by these arguments, which lack only the output; in the cache, with this extension. The compiler's own
/// words if it cannot.
pub fn cached(mut command: Command, target: &Path, extension: &str, compiler: &dyn Compiler) -> Result<PathBuf> {
    let (dir, key) = (cache::folder("c")?, key(&command)?);
    let read = dir.join(format!("{key}.d"));
    let file = |name| dir.join(name).with_extension(extension);
    if let Some(made) = content(&key, &read).map(file).filter(|made| made.exists()) {
        if cache::is_whole(&made) {
            return Ok(made);
        }
        cache::heals(&made, "is damaged");
    }
    let scratch = cache::scratch()?;
    let (fresh, fresh_read) = (scratch.path().join("bc"), scratch.path().join("d"));
    let places = Made { scratch: scratch.path(), output: &fresh, read: &fresh_read };
    compiler.write_to(&mut command, &places);
    let ended = child::run(&mut command, LIMITS).map_err(|e| compiler.missing(e))?;
    ended.check_cut(&format!("`{}`: compiling", target.display()))?;
    if !ended.status.success() {
        let words = String::from_utf8_lossy(&ended.stderr);
        bail!("`{}` does not compile:\n{}", target.display(), words.trim_end());
    }
    compiler.finish(target, &places)?;
    cache::place(&fresh_read, &read)?;
    // A name with a tab or a line end in it cannot be read back: then what was made is of no later use.
    let name = content(&key, &read).unwrap_or_else(|| format!("{key}-{}", std::process::id()));
    let made = file(name);
    cache::place_whole(&fresh, &made)?;
    Ok(made)
}

/// What names a compilation but for the contents of files: the compiler, its arguments, and the folder it runs in.
fn key(command: &Command) -> Result<String> {
    let tool = command.get_program();
    let found = build::on_path(tool, |tool| tool.is_file());
    let compiler = found.map(|tool| cache::identity(&tool)).transpose()?.unwrap_or_default();
    let folder = command.get_current_dir().map_or_else(env::current_dir, |dir| Ok(dir.to_owned()))?;
    let mut parts = vec![compiler.into_bytes(), folder.into_os_string().into_encoded_bytes()];
    parts.extend(command.get_args().map(|arg| arg.as_encoded_bytes().to_vec()));
    Ok(cache::digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// The name, without extension, of the file made from what the files listed in `read` hold now; `None` if one of them cannot be read.
fn content(key: &str, read: &Path) -> Option<String> {
    let mut parts = vec![key.as_bytes().to_vec()];
    for file in listed(&data::read_text(read, data::SOURCE).ok()?) {
        parts.push(data::read(Path::new(&file), data::PROGRAM).ok()?);
    }
    Some(cache::digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// The prerequisites of make's rule `_: FILE...`, where a backslash continues the line or quotes a space or hash, and `$$` is `$`.
fn listed(rule: &str) -> Vec<String> {
    let (mut files, mut file) = (Vec::new(), String::new());
    let mut chars = rule.strip_prefix("_:").unwrap_or(rule).chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ (' ' | '#'))) => {
                file.push(next);
                chars.next();
            }
            ('\\', Some('\n')) => {}
            ('$', Some('$')) => {
                file.push('$');
                chars.next();
            }
            (c, _) if c.is_whitespace() => files.extend((!file.is_empty()).then(|| std::mem::take(&mut file))),
            (c, _) => file.push(c),
        }
    }
    files.extend((!file.is_empty()).then_some(file));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_rules_are_unquoted() {
        assert_eq!(listed("_: a.c \\\n  my\\ file.h \\\n  x$$y.h z\\#.h\n"), ["a.c", "my file.h", "x$y.h", "z#.h"]);
        assert!(listed("_:\n").is_empty());
    }
}
