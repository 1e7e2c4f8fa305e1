//! `xtask setup`: musl as one bitcode file, `<cache>/libc.bc`.
//!
//! The generic C of musl, for x86-64, without its assembly; `runtime/musl` overlays it: its headers come before musl's and its
//! sources replace those at the same path. What stays undefined is listed in [`EXTERNALS`] and is the engine's to answer; the
//! set-up fails if the list is not exact. Cost: 40 s on two cores once, then hashing the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::bitcode::NativeMusl;
use crate::cache::{Cache, Inputs, files};
use crate::{bitcode, debian, process};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// musl as bitcode
    Libc {
        /// An unpacked musl source tree to use instead of Debian's package
        #[arg(long, value_name = "DIR")]
        musl_source: Option<PathBuf>,
    },
}

pub fn run(args: &Args) -> Result<()> {
    let What::Libc { musl_source } = &args.what;
    let cache = Cache::open()?;
    let _lock = cache.lock()?;
    let source = match musl_source {
        Some(dir) if dir.join("src/env/__libc_start_main.c").is_file() => dir.canonicalize()?,
        Some(dir) => bail!("`{}` is not a musl source tree", dir.display()),
        None => debian::source(&cache, "musl")?,
    };
    let overlay = overlay()?;
    let inputs = Inputs::default()
        .text(&bitcode::clang_version()?)
        .text(include_str!("setup.rs"))
        .texts(bitcode::SHAPE.iter().copied())
        .tree(&overlay)?
        .tree(&source)?;
    let product = cache.product("libc", &inputs, |dir| Build { source, overlay, dir: dir.to_owned() }.run())?;
    println!("{}", cache.link("libc.bc", &product.join("libc.bc"))?.display());
    Ok(())
}

fn overlay() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/musl");
    here.canonicalize().with_context(|| format!("the overlay `{}` is missing", here.display()))
}

/// Functions that the library leaves to the engine, sorted: the overlay's own, the allocator, and control flow that C cannot
/// express.
const EXTERNALS: &[&str] = &[
    "__wryneck_concretise",
    "__wryneck_land",
    "__wryneck_pad_below",
    "__wryneck_panic",
    "__wryneck_room",
    "__wryneck_run_fini_array",
    "__wryneck_run_init_array",
    "__wryneck_signalled",
    "__wryneck_signals",
    "__wryneck_syscall",
    "__wryneck_terminate",
    "aligned_alloc",
    "calloc",
    "free",
    "longjmp",
    "malloc",
    "realloc",
    "setjmp",
];

/// Sources that are not compiled, as prefixes of their paths in the tree, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("src/malloc/calloc.c", "the engine allocates"),
    ("src/malloc/free.c", "the engine allocates"),
    ("src/malloc/libc_calloc.c", "the overlay forwards it"),
    ("src/malloc/lite_malloc.c", "the engine allocates"),
    ("src/malloc/mallocng/", "the engine allocates"),
    ("src/malloc/oldmalloc/", "the engine allocates"),
    ("src/malloc/realloc.c", "the engine allocates"),
    ("src/thread/__unmapself.c", "jumps to another stack; the overlay has it"),
    ("src/thread/pthread_cancel.c", "edits a machine context; there is one thread"),
];

/// Sources whose fast path reads whole words, beyond the end of a string: without `__GNUC__` they go byte by byte.
const BYTEWISE: &[&str] = &["src/string/", "src/multibyte/mbsrtowcs.c"];

/// Sources that read variable arguments their caller may not have passed; they get `lenient_va_arg.h`.
const LENIENT: &[&str] =
    &["src/fcntl/fcntl.c", "src/linux/clone.c", "src/linux/prctl.c", "src/linux/ptrace.c", "src/misc/ioctl.c", "src/misc/syscall.c"];

/// Sources with an empty inline assembly as a barrier, which these macros turn to nothing.
const BARRIERS: &[(&str, &[&str])] =
    &[("src/env/__libc_start_main.c", &["-D__asm__(...)="]), ("src/string/explicit_bzero.c", &["-D__asm__=", "-D__volatile__(...)="])];

struct Build {
    source: PathBuf,
    overlay: PathBuf,
    dir: PathBuf,
}

/// A source file: where it is, and its path in the tree.
struct Unit {
    file: PathBuf,
    name: String,
}

impl Build {
    fn run(&self) -> Result<()> {
        self.generate_headers()?;
        let units = self.units()?;
        fs::create_dir_all(self.dir.join("units"))?;
        process::parallel(&units, |unit| self.compile(unit))?;
        let library = self.dir.join("libc.bc");
        process::output(Command::new(bitcode::LLVM_LINK).args(units.iter().map(|unit| self.object(unit))).arg("-o").arg(&library))?;
        fs::remove_dir_all(self.dir.join("units"))?;
        check_externals(&library)?;
        self.check_behaviour(&library)
    }

    /// A program on the bitcode library and the bare kernel prints what it prints on Debian's native musl.
    fn check_behaviour(&self, library: &Path) -> Result<()> {
        let musl = NativeMusl::debian()?;
        let (ours, theirs) = (self.dir.join("check-bitcode"), self.dir.join("check-native"));
        let (check, bare) = (self.overlay.join("check.c"), self.overlay.join("bare.c"));
        musl.link_bare(&[&check, &bare, library], &ours)?;
        musl.link(&[&check], &theirs)?;
        let run = |program: &Path| -> Result<_> {
            let input = fs::File::open(&check)?;
            let out = Command::new(program).args(["one", "two"]).stdin(input).output()?;
            Ok((String::from_utf8_lossy(&out.stdout).into_owned(), out.status))
        };
        let (ours, theirs) = (run(&ours)?, run(&theirs)?);
        if ours != theirs {
            bail!("the bitcode library behaves unlike the native one:\n{ours:?}\n{theirs:?}");
        }
        Ok(())
    }

    /// The three headers that musl's makefile generates.
    fn generate_headers(&self) -> Result<()> {
        let bits = self.dir.join("include/bits");
        fs::create_dir_all(&bits)?;
        let types = process::output(
            Command::new("sed")
                .arg("-f")
                .arg(self.source.join("tools/mkalltypes.sed"))
                .args([self.source.join("arch/x86_64/bits/alltypes.h.in"), self.source.join("include/alltypes.h.in")]),
        )?;
        fs::write(bits.join("alltypes.h"), types)?;
        let numbers = fs::read_to_string(self.source.join("arch/x86_64/bits/syscall.h.in"))?;
        let plain: String = numbers.lines().map(|line| line.replace("__NR_", "SYS_") + "\n").collect();
        fs::write(bits.join("syscall.h"), numbers + &plain)?;
        let version = fs::read_to_string(self.source.join("VERSION")).unwrap_or_default();
        fs::write(self.dir.join("include/version.h"), format!("#define VERSION \"{}\"\n", version.trim()))?;
        Ok(())
    }

    /// musl's portable sources that are not left out, those of the overlay instead where it has them.
    fn units(&self) -> Result<Vec<Unit>> {
        let named = |root: &Path, file: PathBuf| {
            let name = file.strip_prefix(root).expect("listed below it").to_string_lossy().into_owned();
            Unit { file, name }
        };
        let mut units: Vec<Unit> = files(&self.overlay.join("src"))?.into_iter().map(|file| named(&self.overlay, file)).collect();
        let replaced: BTreeSet<String> = units.iter().map(|unit| unit.name.clone()).collect();
        units.extend(files(&self.source.join("src"))?.into_iter().map(|file| named(&self.source, file)).filter(|unit| {
            // Deeper folders are for other machines (or the allocators, which are left out).
            unit.name.ends_with(".c")
                && unit.name.matches('/').count() == 2
                && !replaced.contains(&unit.name)
                && !LEFT_OUT.iter().any(|(path, _)| unit.name.starts_with(path))
        }));
        Ok(units)
    }

    fn compile(&self, unit: &Unit) -> Result<()> {
        let mut clang = Command::new(bitcode::CLANG);
        clang.args(["-std=c99", "-ffreestanding", "-nostdinc", "-D_XOPEN_SOURCE=700", "-w"]);
        for (root, folder) in [
            (&self.overlay, "arch"),
            (&self.source, "arch/x86_64"),
            (&self.source, "arch/generic"),
            (&self.dir, "include"),
            (&self.source, "src/include"),
            (&self.source, "src/internal"),
            (&self.source, "include"),
        ] {
            clang.arg("-I").arg(root.join(folder));
        }
        // Lines are enough for call stacks; names of the library's variables would double the file.
        clang.args(["-O2", "-gline-tables-only", "-fno-stack-protector", "-emit-llvm"]).args(bitcode::SHAPE);
        for root in [&self.source, &self.overlay] {
            clang.arg(format!("-ffile-prefix-map={}=musl", root.display()));
        }
        clang.arg("-fdebug-compilation-dir=musl");
        if BYTEWISE.iter().any(|path| unit.name.starts_with(path)) {
            clang.arg("-U__GNUC__");
        }
        if LENIENT.contains(&unit.name.as_str()) {
            clang.arg("-include").arg(self.overlay.join("lenient_va_arg.h"));
        }
        clang.args(BARRIERS.iter().filter(|(path, _)| unit.name == *path).flat_map(|(_, flags)| *flags));
        process::output(clang.arg("-c").arg(&unit.file).arg("-o").arg(self.object(unit)))?;
        Ok(())
    }

    fn object(&self, unit: &Unit) -> PathBuf {
        self.dir.join("units").join(unit.name.replace('/', ":")).with_extension("bc")
    }
}

fn check_externals(library: &Path) -> Result<()> {
    let found = bitcode::undefined(library)?;
    let expected: BTreeSet<String> = EXTERNALS.iter().map(|name| (*name).to_owned()).collect();
    if found != expected {
        bail!(
            "undefined in `{}` and not answered by the engine: {:?}; answered but not undefined: {:?}",
            library.display(),
            found.difference(&expected).collect::<Vec<_>>(),
            expected.difference(&found).collect::<Vec<_>>()
        );
    }
    Ok(())
}
