//! `xtask corpus coreutils`: Debian's coreutils, each program whole as bitcode and as a native executable of that same bitcode.
//!
//! `<cache>/coreutils/O2/echo.bc` is what is explored, `<cache>/coreutils/O2/echo` is where its tests are replayed. Configured
//! for musl, since gnulib's replacements reach into the C library they were configured for. The objects are bitcode (`-flto`)
//! and lld's own symbol resolution links them, so a program holds the archive members it needs and no more; only the C library
//! stays outside. Cost: 50 s for configure, 10 s for twenty programs on two cores.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use anyhow::{Context, Result, bail};

use crate::bitcode::{self, NativeMusl};
use crate::cache::{Cache, Inputs};
use crate::{debian, process};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    corpus: Corpus,
}

#[derive(clap::Subcommand)]
enum Corpus {
    /// Programs of Debian's coreutils
    Coreutils {
        /// Optimisation level of clang; 2 because a path then runs a third of the instructions of 0, and tests on several
        /// values fold into one
        #[arg(long, default_value = "2", value_parser = ["0", "1", "2", "3", "s"])]
        opt: String,
        /// An unpacked coreutils release or Debian source tree to use instead of Debian's package
        #[arg(long, value_name = "DIR")]
        source: Option<PathBuf>,
        /// Programs to build instead of the twenty of the gates
        programs: Vec<String>,
    },
}

/// The programs of the gates.
const PROGRAMS: &[&str] = &[
    "base64", "basename", "cat", "comm", "cut", "dirname", "echo", "expr", "fold", "head", "nl", "paste", "pwd", "seq", "sort", "tac",
    "tr", "uname", "uniq", "wc",
];

pub fn run(args: &Args) -> Result<()> {
    let Corpus::Coreutils { opt, source, programs } = &args.corpus;
    let cache = Cache::open()?;
    let _lock = cache.lock()?;
    let source = match source {
        Some(dir) if dir.join("src/coreutils.c").is_file() => dir.canonicalize()?,
        Some(dir) => bail!("`{}` is not a coreutils source tree", dir.display()),
        None => debian::source(&cache, "coreutils")?,
    };
    let programs: Vec<String> = match programs.as_slice() {
        [] => PROGRAMS.iter().map(|&name| name.to_owned()).collect(),
        given => given.to_vec(),
    };
    let inputs = Inputs::default()
        .text(&bitcode::clang_version()?)
        .text(include_str!("corpus.rs"))
        .texts(bitcode::SHAPE.iter().copied())
        .text(opt)
        .text(&source.to_string_lossy())
        .texts(programs.iter().map(String::as_str))
        .tree(&source.join("src"))?;
    let product = cache.product("coreutils", &inputs, |dir| {
        Build { source, dir: dir.to_owned(), opt, programs: &programs, musl: NativeMusl::debian()? }.run()
    })?;
    println!("{}", cache.link(&format!("coreutils/O{opt}"), &product)?.display());
    Ok(())
}

/// What configure is told: nothing that a static single-threaded program cannot have, no libraries beside libc.
const CONFIGURE: &[&str] = &[
    "--build=x86_64-pc-linux-musl",
    "--disable-acl",
    "--disable-dependency-tracking",
    "--disable-libcap",
    "--disable-nls",
    "--disable-threads",
    "--disable-xattr",
    "--enable-no-install-program=stdbuf",
    "--without-libgmp",
    "--without-openssl",
    "--without-selinux",
];

/// Code that picks instructions by asking the CPU, in assembly; without it the portable code runs.
const CONFIG_TAIL: &str = "\n#undef USE_AVX2_WC_LINECOUNT\n#undef USE_PCLMUL_CRC32\n";

/// Targets that the programs' own makefile lacks: the generated headers, which its `all` makes first.
const MORE_TARGETS: &str = ".PHONY: generated-headers\ngenerated-headers: $(BUILT_SOURCES)\n";

struct Build<'a> {
    source: PathBuf,
    dir: PathBuf,
    opt: &'a str,
    programs: &'a [String],
    musl: NativeMusl,
}

impl Build<'_> {
    fn run(&self) -> Result<()> {
        let build = self.dir.join("build");
        fs::create_dir_all(&build)?;
        let compiler = self.write_compiler(&build)?;
        self.configure(&build, &compiler)?;
        self.make(&build)?;
        process::parallel(self.programs, |program| {
            let bitcode = self.dir.join(program).with_extension("bc");
            fs::copy(build.join("src").join(program), &bitcode)?;
            self.musl.link(&[&bitcode], &self.dir.join(program))
        })?;
        fs::remove_dir_all(&build)?;
        Ok(())
    }

    /// A compiler for configure and make: clang for musl's headers, and for linking musl's start files and library.
    fn write_compiler(&self, build: &Path) -> Result<PathBuf> {
        let path = build.join("cc");
        let lib = self.musl.lib.display();
        let text = format!(
            "#!/bin/sh\n\
             common='{clang} --target=x86_64-linux-musl -nostdlibinc -isystem {include}'\n\
             for word; do case $word in -c|-S|-E) exec $common \"$@\";; esac; done\n\
             exec $common -nostdlib -static -fuse-ld=lld {lib}/crt1.o {lib}/crti.o \"$@\" {lib}/libc.a {support} {lib}/crtn.o\n",
            clang = bitcode::CLANG,
            include = self.musl.include.display(),
            support = bitcode::compiler_support()?.display(),
        );
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    fn configure(&self, build: &Path, compiler: &Path) -> Result<()> {
        process::logged(
            Command::new(self.source.join("configure"))
                .current_dir(build)
                // configure refuses to run as root otherwise.
                .env("FORCE_UNSAFE_CONFIGURE", "1")
                .args(CONFIGURE)
                .arg(format!("CC={}", compiler.display()))
                .args([format!("AR={}", bitcode::LLVM_AR), format!("RANLIB={}", bitcode::LLVM_RANLIB)])
                .arg("CFLAGS=-O0"),
            &self.dir.join("configure.log"),
        )?;
        let config = build.join("lib/config.h");
        let text = fs::read_to_string(&config).context("configure wrote no `lib/config.h`")?;
        fs::write(&config, text + CONFIG_TAIL)?;
        fs::write(build.join("more.mk"), MORE_TARGETS)?;
        Ok(())
    }

    fn make(&self, build: &Path) -> Result<()> {
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let flags = format!("-O{} -g -w -flto {}", self.opt, bitcode::SHAPE.join(" "));
        let make = |log: &str, targets: &[String]| {
            let mut make = Command::new("make");
            make.current_dir(build).arg(format!("-j{jobs}")).args(["-f", "Makefile", "-f", "more.mk"]);
            // Debian's patches touch no input of the autotools, whatever the time stamps say.
            make.args(["AUTOCONF=:", "AUTOMAKE=:", "ACLOCAL=:", "AUTOHEADER=:", "MAKEINFO=:"]);
            // lld stops after resolving symbols and writes the program as bitcode.
            make.arg(format!("CFLAGS={flags}")).arg("LDFLAGS=-flto -Wl,--plugin-opt=emit-llvm");
            process::logged(make.args(targets), &self.dir.join(log))
        };
        make("headers.log", &["generated-headers".to_owned()])?;
        let targets: Vec<String> = self.programs.iter().map(|program| format!("src/{program}")).collect();
        make("make.log", &targets)
    }
}
