//! Programs of coreutils for those who count lines and for KLEE: configured once for this machine, then made by each compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cache::{Cache, Inputs};
use crate::klee::{self, Klee};
use crate::{bitcode, debian, gcov, process};

/// The recipe. `corpus` is not touched for it: what it makes is made again where its source changes.
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "cmd/corpus/packages.rs"]
mod packages;

use packages::{Autoconf, PACKAGES, Recipe};

/// A target that the makefile lacks: the generated headers.
const MORE_TARGETS: &str = ".PHONY: generated-headers\ngenerated-headers: $(BUILT_SOURCES)\n";

/// What uClibc lacks, and KLEE could only call natively: gnulib has it too.
const LACKED: [&str; 2] = ["ac_cv_func_copy_file_range=no", "ac_cv_func_reallocarray=no"];

/// coreutils, configured.
pub struct Coreutils {
    cache: Cache,
    configured: PathBuf,
}

impl Coreutils {
    pub fn configured() -> Result<Coreutils> {
        let cache = Cache::open()?;
        let _lock = cache.lock()?;
        let source = debian::source(&cache, "coreutils")?;
        let recipe = PACKAGES.iter().find(|package| package.name == "coreutils").map(|package| &package.recipe);
        let Some(Recipe::Autoconf(recipe)) = recipe else { bail!("coreutils is no package with a configure script") };
        let inputs = Inputs::default().text(include_str!("coreutils.rs")).text(&format!("{recipe:?}")).text(&source.to_string_lossy());
        let configured = cache.product("coreutils-native", &inputs, |dir| configure(recipe, &source, dir))?;
        Ok(Coreutils { cache, configured })
    }

    /// Programs that count their lines.
    pub fn counted(&self, programs: &[&str]) -> Result<PathBuf> {
        let flags = [format!("CC={}", bitcode::CLANG), format!("CFLAGS={}", gcov::FLAGS)];
        self.made("coreutils-counted", &bitcode::clang_version()?, &flags, programs)
    }

    /// Programs as bitcode for KLEE.
    pub fn bitcode(&self, klee: &Klee, programs: &[&str]) -> Result<PathBuf> {
        let version = process::output(Command::new(&klee.clang).arg("--version"))?;
        let tool = |name: &str| klee.clang.replace("clang", name);
        let flags = [
            format!("CC={} -flto", klee.clang),
            format!("CFLAGS={}", klee::FLAGS),
            format!("LDFLAGS=-fuse-ld={} -Wl,-plugin-opt=emit-llvm -Wl,--lto-O0", tool("lld")),
            format!("AR={}", tool("llvm-ar")),
            format!("RANLIB={}", tool("llvm-ranlib")),
        ];
        self.made("coreutils-klee", &version, &flags, programs)
    }

    fn made(&self, product: &str, compiler: &str, flags: &[String], programs: &[&str]) -> Result<PathBuf> {
        let _lock = self.cache.lock()?;
        let inputs = Inputs::default().text(compiler).text(&self.configured.to_string_lossy());
        let inputs = inputs.texts(flags.iter().map(String::as_str)).texts(programs.iter().copied());
        self.cache.product(product, &inputs, |dir| {
            process::output(Command::new("cp").arg("-a").arg(self.configured.join("build")).arg(dir))?;
            let targets = programs.iter().map(|name| format!("src/{name}"));
            make(&dir.join("build"), &dir.join("make.log"), flags.iter().cloned().chain(targets))
        })
    }
}

fn configure(recipe: &Autoconf, source: &Path, dir: &Path) -> Result<()> {
    let build = dir.join("build");
    process::output(Command::new("cp").arg("-a").arg(source).arg(&build))?;
    let mut configure = Command::new("./configure");
    configure.current_dir(&build).env("FORCE_UNSAFE_CONFIGURE", "1").args(["--disable-dependency-tracking", "--disable-nls"]);
    process::logged(configure.args(LACKED).args(recipe.configure), &dir.join("configure.log"))?;
    if let Some((header, more)) = recipe.config {
        let header = build.join(header);
        let text = fs::read_to_string(&header).with_context(|| format!("configure wrote no `{}`", header.display()))?;
        fs::write(&header, text + more)?;
    }
    fs::write(build.join("more.mk"), MORE_TARGETS)?;
    make(&build, &dir.join("make.log"), ["generated-headers".to_owned()])
}

fn make(build: &Path, log: &Path, words: impl IntoIterator<Item = String>) -> Result<()> {
    let mut make = Command::new("make");
    make.current_dir(build).args(["-j2", "-f", "Makefile", "-f", "more.mk", "MAKEINFO=:"]);
    process::logged(make.args(["AUTOCONF=:", "AUTOMAKE=:", "ACLOCAL=:", "AUTOHEADER=:"]).args(words), log)
}
