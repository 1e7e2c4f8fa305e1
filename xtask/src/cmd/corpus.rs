//! `xtask corpus PACKAGE`: one of the Debian packages in `packages.rs`, built by `wryneck build` as anyone would build it.
//!
//! `<cache>/PACKAGE/O2/PROGRAM` is the program, which carries its bitcode, and `PROGRAM.bc` that bitcode, for every program of the
//! package. Configured for musl, since gnulib's replacements reach into the C library they were configured for. Cost on two cores:
//! zlib 20 s, the others two to seven minutes each, of which configure takes most.

mod packages;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use anyhow::{Context, Result, bail};

use crate::cache::{self, Cache, Inputs};
use crate::{bitcode, debian, process};
use packages::{AUTOCONF, Autoconf, PACKAGES, Package, Recipe};

#[derive(clap::Args)]
pub struct Args {
    /// bc, busybox, cjson, coreutils, expat, file, grep, gzip, jq, less, libpng1.6, libyaml, lua5.4, mawk, nginx, redis, sed, shadow, sqlite3, tar, tinyxml2
    /// or zlib
    package: String,
    /// Optimisation level of clang; 2 because a path then runs a third of the instructions of 0, and tests on several
    /// values fold into one
    #[arg(long, default_value = "2", value_parser = ["0", "1", "2", "3", "s"])]
    opt: String,
    /// An unpacked release or Debian source tree to use instead of Debian's package
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// Every program of coreutils instead of the twenty of the gates
    #[arg(long)]
    all: bool,
    /// Programs of coreutils to build instead of the twenty of the gates
    programs: Vec<String>,
}

/// The programs of coreutils that the gates run.
const TWENTY: &[&str] = &[
    "base64", "basename", "cat", "comm", "cut", "dirname", "echo", "expr", "fold", "head", "nl", "paste", "pwd", "seq", "sort", "tac",
    "tr", "uname", "uniq", "wc",
];

/// Targets that automake's makefiles lack: the generated headers, which `all` makes first, and all programs without their manuals.
const MORE_TARGETS: &str = ".PHONY: generated-headers every-program\n\
    generated-headers: $(BUILT_SOURCES)\nevery-program: $(bin_PROGRAMS)\n";

pub fn run(args: &Args) -> Result<()> {
    let Some(package) = PACKAGES.iter().find(|row| row.name == args.package) else {
        let names: Vec<_> = PACKAGES.iter().map(|row| row.name).collect();
        bail!("`{}` is not one of {}", args.package, names.join(", "));
    };
    let cache = Cache::open()?;
    let _lock = cache.lock()?;
    let source = match &args.source {
        Some(dir) => dir.canonicalize().with_context(|| format!("`{}` is no source tree", dir.display()))?,
        None => debian::source(&cache, package.name)?,
    };
    let programs: Vec<String> = match args.programs.as_slice() {
        _ if args.all => vec!["every-program".to_owned()],
        [] => TWENTY.iter().map(|name| format!("src/{name}")).collect(),
        given => given.iter().map(|name| format!("src/{name}")).collect(),
    };
    let inputs = Inputs::default()
        .text(&bitcode::clang_version()?)
        .texts([
            include_str!("corpus.rs"),
            &format!("{package:?}"),
            include_str!("../../../crates/cli/src/cmd/cc.rs"),
            include_str!("../../../crates/cli/src/cmd/ld.rs"),
            include_str!("../../../crates/cli/src/symbols.rs"),
        ])
        .text(&args.opt)
        .text(&source.to_string_lossy())
        .texts(programs.iter().map(String::as_str))
        .tree(&source)?;
    let product = cache.product(package.name, &inputs, |dir| {
        Build { package, source, dir: dir.to_owned(), opt: &args.opt, programs: &programs, wryneck: super::wryneck()? }.run()
    })?;
    println!("{}", cache.link(&format!("{}/O{}", package.name, args.opt), &product)?.display());
    Ok(())
}

struct Build<'a> {
    package: &'a Package,
    source: PathBuf,
    dir: PathBuf,
    opt: &'a str,
    programs: &'a [String],
    wryneck: PathBuf,
}

impl Build<'_> {
    fn run(&self) -> Result<()> {
        if !self.package.needs.is_empty() {
            process::output(Command::new(&self.wryneck).arg("deps").args(self.package.needs))?;
        }
        let build = self.dir.join("build");
        process::output(Command::new("cp").arg("-a").arg(&self.source).arg(&build))?;
        match &self.package.recipe {
            Recipe::Autoconf(recipe) => self.autoconf(recipe, &build)?,
            Recipe::Script(script) => self.script(script, &build)?,
        }
        let wanted = |program: &PathBuf| {
            let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            self.package.programs.is_empty() || self.package.programs.contains(&name)
        };
        let programs: Vec<_> = programs_below(&build)?.into_iter().filter(wanted).collect();
        if programs.is_empty() || programs.len() < self.package.programs.len() {
            bail!("not all programs were made in `{}`", build.display());
        }
        process::parallel(&programs, |program| {
            let copy = self.dir.join(program.file_name().expect("it is a file"));
            fs::copy(program, &copy)?;
            process::output(Command::new(&self.wryneck).arg("extract").arg(&copy).arg("-o").arg(with_bc(&copy)))?;
            Ok(())
        })?;
        for file in self.package.keeps {
            let file = build.join(file);
            fs::copy(&file, self.dir.join(file.file_name().expect("it has one")))?;
        }
        fs::remove_dir_all(&build)?;
        Ok(())
    }

    fn autoconf(&self, recipe: &Autoconf, build: &Path) -> Result<()> {
        self.configure(recipe, build)?;
        self.make(recipe, build)
    }

    fn script(&self, script: &str, build: &Path) -> Result<()> {
        let mut sh = self.command(build, "sh");
        sh.args(["-e", "-c", script]).env("CFLAGS", self.flags(build));
        process::logged(&mut sh, &self.dir.join("build.log"))
    }

    /// The build's folder goes away, the source stays: findings show its lines.
    fn flags(&self, build: &Path) -> String {
        format!("-O{} -w -ffile-prefix-map={}={}", self.opt, build.display(), self.source.display())
    }

    /// `wryneck build -- PROGRAM …`, in the build's folder.
    fn command(&self, build: &Path, program: &str) -> Command {
        let mut command = Command::new(&self.wryneck);
        // configure refuses to run as root otherwise.
        command.current_dir(build).env("FORCE_UNSAFE_CONFIGURE", "1").args(["build", "--", program]);
        command
    }

    fn configure(&self, recipe: &Autoconf, build: &Path) -> Result<()> {
        let mut configure = self.command(build, "./configure");
        configure.args(recipe.configure).env("CFLAGS", self.flags(build));
        if build.join("configure.ac").exists() {
            configure.args(AUTOCONF);
        }
        process::logged(&mut configure, &self.dir.join("configure.log"))?;
        if let Some((header, more)) = recipe.config {
            let header = build.join(header);
            let text = fs::read_to_string(&header).with_context(|| format!("configure wrote no `{}`", header.display()))?;
            fs::write(&header, text + more)?;
        }
        Ok(())
    }

    fn make(&self, recipe: &Autoconf, build: &Path) -> Result<()> {
        fs::write(build.join("more.mk"), MORE_TARGETS)?;
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let make = |number: usize, targets: &[String]| {
            let mut make = self.command(build, "make");
            make.arg(format!("-j{jobs}")).args(["-f", "Makefile", "-f", "more.mk"]);
            // Debian's patches touch no input of the autotools, whatever the time stamps say.
            make.args(["AUTOCONF=:", "AUTOMAKE=:", "ACLOCAL=:", "AUTOHEADER=:", "MAKEINFO=:"]);
            process::logged(make.args(targets), &self.dir.join(format!("make{number}.log")))
        };
        if recipe.targets.is_empty() {
            return make(0, &["all".to_owned()]);
        }
        for (number, &target) in recipe.targets.iter().enumerate() {
            match target {
                "PROGRAMS" => make(number, self.programs)?,
                _ => make(number, &[target.to_owned()])?,
            }
        }
        Ok(())
    }
}

/// Linked programs below `build`, those of gnulib's tests left out.
fn programs_below(build: &Path) -> Result<Vec<PathBuf>> {
    let linked = |file: &PathBuf| {
        let content = fs::read(file).unwrap_or_default();
        // An ELF file of type `ET_EXEC`.
        content.starts_with(b"\x7fELF") && content.get(16..18) == Some(&[2, 0])
    };
    let tests = build.join("gnulib-tests");
    Ok(cache::files(build)?.into_iter().filter(|file| !file.starts_with(&tests)).filter(linked).collect())
}

fn with_bc(program: &Path) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".bc");
    name.into()
}
