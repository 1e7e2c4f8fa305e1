//! Native programs for replays: the run's bitcode with musl and the replay library, and one under sanitizers, since most memory faults do
//! not show without: of C source under the address and undefined-behaviour sanitizers; of bitcode under the address sanitizer, with the
//! host's C library, which the sanitizer needs (the headers of both agree in what programs' code depends on). The memory sanitizer, which sees
//! uninitialised reads, excludes the others and has a program of its own, and so has the thread sanitizer, which sees data races.
//!
//! A program that names functions of threads is compiled to objects first, whose calls of these functions are led to a scheduler ([`scheduled`]).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::build::{Kind, missing};
use crate::child::{self, Limits};
use crate::compile::{self, CLANG, MUSL_INCLUDE};
use crate::toolchain::{INSTALL, OPT};
use crate::{gcov, preload, scheduled, source, stubs};

/// Musl's objects as Debian's `musl-dev` installs them.
pub const MUSL_LIB: &str = "/usr/lib/x86_64-linux-musl";
/// Where the replay library finds its test.
pub const TEST_VARIABLE: &str = "WRYNECK_TEST";
/// Why an executable has no run under a sanitizer.
pub const UNWATCHED: &str = "machine code cannot be watched by sanitizers";
/// Functions whose calls the replay library may make fail.
const ALLOCATORS: [&str; 6] = ["malloc", "calloc", "realloc", "aligned_alloc", "memalign", "posix_memalign"];
/// What runs the threads of a program, in the folder `runtime`.
const SCHEDULER: &str = "threads/threads.c";
/// Has each block of a program call the scheduler, so that a loop that waits for another thread ends.
const BLOCKS: &str = "-fsanitize-coverage=bb,no-prune,trace-pc";
const LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };

/// A program that can be run, or why it cannot be built.
pub type Built = std::result::Result<PathBuf, String>;

/// The native forms of one run's program, each built when it is first needed.
pub struct Native {
    /// The target as it was given.
    pub program: PathBuf,
    /// `None`: the program's machine code was explored.
    pub bitcode: Option<PathBuf>,
    /// What that was linked of, if it was not an executable.
    pub objects: Vec<PathBuf>,
    pub cc_flags: Vec<String>,
    /// Whether the program was compiled for musl.
    pub libc: bool,
    /// Whether calls failed on purpose: the replay library is built to do the same.
    pub fail_calls: bool,
    /// Functions whose results are the test's.
    pub sym_calls: Vec<String>,
    /// Whether clients of the test connect.
    pub sym_sockets: bool,
    /// Where executables are put.
    pub scratch: PathBuf,
    /// Where the plain program's line counts go, if it is to count.
    pub gcov: Option<PathBuf>,
    plain: OnceLock<Built>,
    sanitized: [OnceLock<Built>; 3],
    scheduled: OnceLock<bool>,
    /// Whether an executable was linked with the replay library.
    linked: OnceLock<bool>,
    preloaded: OnceLock<Built>,
    heap_guard: OnceLock<Built>,
}

/// What watches a native run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// And of leaks; of C source, undefined behaviour too.
    Address,
    /// Uninitialised memory.
    Memory,
    /// Data races.
    Thread,
}

impl Sanitizer {
    /// Clang's name, and for C source the one that goes with it.
    fn names(self, is_c: bool) -> &'static str {
        match (self, is_c) {
            (Sanitizer::Address, true) => "address,undefined",
            (Sanitizer::Address, false) => "address",
            (Sanitizer::Memory, _) => "memory",
            (Sanitizer::Thread, _) => "thread",
        }
    }

    /// Those of these flags by which the replay library is compiled, whose last one is the sanitizer's: the library itself is not watched for races.
    fn library_flags<'f, 'w>(self, flags: &'f [&'w str]) -> &'f [&'w str] {
        match self {
            Sanitizer::Address | Sanitizer::Memory => flags,
            Sanitizer::Thread => &flags[..flags.len() - 1],
        }
    }
}

impl Native {
    pub fn new(
        program: PathBuf,
        bitcode: Option<PathBuf>,
        objects: Vec<PathBuf>,
        cc_flags: Vec<String>,
        libc: bool,
        fail_calls: bool,
        scratch: PathBuf,
    ) -> Native {
        Native {
            program,
            bitcode,
            objects,
            cc_flags,
            libc,
            fail_calls,
            sym_calls: Vec::new(),
            sym_sockets: false,
            scratch,
            gcov: None,
            plain: OnceLock::new(),
            sanitized: Default::default(),
            scheduled: OnceLock::new(),
            linked: OnceLock::new(),
            preloaded: OnceLock::new(),
            heap_guard: OnceLock::new(),
        }
    }

    /// The bitcode that was explored, as machine code.
    pub fn plain(&self) -> &Built {
        self.plain.get_or_init(|| self.build_plain().map_err(|e| format!("{e:#}")))
    }

    /// The program under a sanitizer.
    pub fn under(&self, sanitizer: Sanitizer) -> &Built {
        self.sanitized[sanitizer as usize].get_or_init(|| {
            let built = match &self.bitcode {
                None => Err(anyhow!(UNWATCHED)),
                // Source that needs musl's headers is watched as the bitcode that was explored.
                Some(bitcode) if self.is_c() && stubs::defined(bitcode, &self.sym_calls).is_ok_and(|own| own.is_empty()) => {
                    self.build_sanitized(sanitizer).or_else(|why| self.build_sanitized_bitcode(bitcode, sanitizer).map_err(|_| why))
                }
                Some(bitcode) => self.build_sanitized_bitcode(bitcode, sanitizer),
            };
            built.map_err(|e| format!("{e:#}"))
        })
    }

    /// Whether the target was an executable without bitcode, which is run as it is.
    pub fn is_executable(&self) -> bool {
        self.bitcode.is_none() && self.objects.is_empty()
    }

    /// Whether the program asks for its test. An executable does if it was linked with the replay library; any other program is linked with it here.
    pub fn asks_for_test(&self) -> bool {
        let names_it = |bytes: Vec<u8>| bytes.windows(TEST_VARIABLE.len()).any(|name| name == TEST_VARIABLE.as_bytes());
        !self.is_executable() || *self.linked.get_or_init(|| fs::read(&self.program).is_ok_and(names_it))
    }

    /// What is to be loaded before the libraries of an executable. `None`: its tests need nothing, or it is none.
    pub fn preloaded(&self) -> Option<&Built> {
        let is_needed = self.fail_calls || self.sym_sockets || stubs::are_any(&self.sym_calls);
        let build = || preload::replay_library(self).map_err(|e| format!("{e:#}"));
        (self.is_executable() && is_needed).then(|| self.preloaded.get_or_init(build))
    }

    /// What is to be loaded before the libraries of an executable for heap faults to show.
    pub fn heap_guard(&self) -> &Built {
        self.heap_guard.get_or_init(|| preload::heap_guard(self).map_err(|e| format!("{e:#}")))
    }

    /// Whether the target was C source.
    pub fn is_c(&self) -> bool {
        matches!(Kind::of(&self.program), Ok(Kind::C))
    }

    /// Whether threads run natively as the schedule of a test says.
    pub fn is_scheduled(&self) -> bool {
        *self.scheduled.get_or_init(|| self.bitcode.as_ref().is_some_and(|bitcode| scheduled::is_wanted(bitcode).unwrap_or(false)))
    }

    /// Compiles a file to an object and leads its calls of functions of threads to the scheduler, which is compiled by `flags`.
    fn led(&self, file: &Path, compile: &mut Command, flags: &[&str]) -> Result<PathBuf> {
        let object = scheduled::object(&self.scratch)?;
        tool(compile.args([BLOCKS, "-c"]).arg(file).arg("-o").arg(&object))?;
        scheduled::lead(&object, &runtime_object(SCHEDULER, flags)?, &self.sym_calls, &self.scratch)?;
        Ok(object)
    }

    /// The compiler, whose temporary files are gone with the scratch folder even where it is killed.
    fn clang(&self) -> Command {
        let mut clang = Command::new(CLANG);
        clang.env("TMPDIR", &self.scratch);
        clang
    }

    /// The replay library as objects, compiled by these flags.
    pub fn replay_library(&self, flags: &[&str]) -> Result<Vec<PathBuf>> {
        let mut flags = flags.to_vec();
        let mut objects = Vec::new();
        if self.sym_sockets {
            objects.push(runtime_object("sockets.c", &flags)?);
            flags.push("-DSYM_SOCKETS");
        }
        let defines = stubs::defines(&self.sym_calls);
        if !self.sym_calls.is_empty() {
            objects.push(stubs::write(&self.sym_calls, &self.scratch)?);
            flags.extend(defines.iter().map(String::as_str));
        }
        if self.is_scheduled() {
            objects.push(runtime_object(SCHEDULER, &flags)?);
            flags.push("-DTHREADS");
        }
        objects.push(runtime_object("replay.c", &flags)?);
        Ok(objects)
    }

    fn build_plain(&self) -> Result<PathBuf> {
        let musl = self.libc && Path::new(MUSL_LIB).join("libc.a").is_file();
        // Bitcode that was compiled for the host's C library, as Rust's is, may name functions that only that has.
        self.build_with(musl).or_else(|why| if musl { self.build_with(false).map_err(|_| why) } else { Err(why) })
    }

    /// The bitcode that was explored, with musl or with the host's C library.
    fn build_with(&self, musl: bool) -> Result<PathBuf> {
        let explored = self.bitcode.as_ref().map_or(&self.objects[..], std::slice::from_ref);
        let [first, ..] = explored else { return Ok(self.program.clone()) };
        let out = self.scratch.join("plain");
        let for_musl: &[&str] = if musl { &["--target=x86_64-linux-musl", "-nostdlibinc", "-isystem", MUSL_INCLUDE] } else { &[] };
        let fails: &[&str] = if self.fail_calls { &["-DFAIL_CALLS"] } else { &[] };
        let replay = self.replay_library(&[for_musl, &["-O1"], fails].concat())?;
        let first = &stubs::without(first, &self.sym_calls, &self.scratch)?;
        let (bitcode, counts): (Vec<PathBuf>, _) = match &self.gcov {
            None => (std::iter::once(first).chain(&explored[1..]).cloned().collect(), Vec::new()),
            Some(dir) => (vec![gcov::instrument(first, dir)?], gcov::library(musl, for_musl)?),
        };
        let bitcode = if self.is_scheduled() {
            let flags = [for_musl, &["-w", "-Wno-override-module"]].concat();
            let led = |file: &PathBuf| self.led(file, self.clang().args(&flags), &[for_musl, &["-O1"], fails].concat());
            bitcode.iter().map(led).collect::<Result<Vec<_>>>()?
        } else {
            bitcode
        };
        let mut link = self.clang();
        if !self.sym_calls.is_empty() {
            // A library's object may define one of them beside another function that the program calls: `srand` beside `rand`.
            link.arg("-Wl,--allow-multiple-definition");
        }
        if self.fail_calls {
            link.args(ALLOCATORS.map(|name| format!("-Wl,--wrap={name}")));
        }
        if musl {
            let part = |name: &str| Path::new(MUSL_LIB).join(name);
            let support = tool(Command::new(CLANG).arg("-print-libgcc-file-name"))?;
            // Equal strings stay apart, as they are in the engine: programs compare addresses.
            link.args(["--target=x86_64-linux-musl", "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-O0", "-w", "-Wno-override-module"])
                .args([part("crt1.o"), part("crti.o")])
                .args(bitcode)
                .args(replay)
                .args(counts)
                .arg(part("libc.a"))
                // What unwinds exceptions, if there are any.
                .args(["-Wl,--eh-frame-hdr".into(), runtime_object("cxx/find_object.c", &[for_musl, &["-O1"]].concat())?])
                .arg(Path::new(support.trim()).with_file_name("libgcc_eh.a"))
                .args([support.trim().into(), part("libc.a"), part("crtn.o")]);
        } else {
            link.args(["-w", "-Wno-override-module", "-no-pie"]).args(bitcode).args(&replay).args(counts).arg("-lm");
        }
        tool(link.arg("-o").arg(&out))?;
        Ok(out)
    }

    fn build_sanitized(&self, sanitizer: Sanitizer) -> Result<PathBuf> {
        let out = self.scratch.join(format!("{sanitizer:?}"));
        let watch = format!("-fsanitize={}", sanitizer.names(true));
        let flags = ["-g", "-O0", "-w", "-fno-sanitize-recover=all", &watch];
        let own = sanitizer.library_flags(&flags);
        let clang = || {
            let mut clang = self.clang();
            clang.args(flags).arg("-I").arg(source::runtime()?.join("include")).args(&self.cc_flags);
            Ok::<_, anyhow::Error>(clang)
        };
        let program = if self.is_scheduled() { &self.led(&self.program, &mut clang()?, own)? } else { &self.program };
        tool(clang()?.arg(program).args(self.replay_library(own)?).args(["-lm", "-o"]).arg(&out))?;
        Ok(out)
    }

    fn build_sanitized_bitcode(&self, bitcode: &Path, sanitizer: Sanitizer) -> Result<PathBuf> {
        let out = self.scratch.join(format!("{sanitizer:?}"));
        let (name, marked) = (sanitizer.names(false), out.with_extension("bc"));
        let mark = format!("-force-attribute=sanitize_{name}");
        let mut others = self.sym_calls.clone();
        if sanitizer == Sanitizer::Address {
            // Those of `host_libc.c` watch.
            others.extend(wryneck_environ::OF_CXX.map(str::to_owned));
        }
        let bitcode = stubs::without(bitcode, &others, &self.scratch)?;
        tool(Command::new(OPT).args(["-passes=forceattrs", &mark, "-o"]).arg(&marked).arg(bitcode))?;
        let watch = format!("-fsanitize={name}");
        let flags = ["--target=x86_64-linux-gnu", "-g", "-O0", "-w", "-Wno-override-module", &watch];
        // Bitcode may be that of position-dependent code. What the host's C library lacks is musl's: `strlcpy`, `pow10`, `__flt_rounds`.
        let link = ["-no-pie", "-lm", "-lc"];
        let musl = Path::new(MUSL_LIB).join("libc.a");
        let behind = Some(musl).filter(|musl| self.libc && musl.is_file());
        let own = sanitizer.library_flags(&flags);
        let program = if self.is_scheduled() { self.led(&marked, self.clang().args(flags), own)? } else { marked };
        let mut inputs = vec![program];
        // The thread sanitizer has these names.
        if sanitizer != Sanitizer::Thread {
            inputs.push(runtime_object("host_libc.c", own)?);
        }
        tool(self.clang().args(flags).args(inputs).args(self.replay_library(own)?).args(link).args(behind).arg("-o").arg(&out))?;
        Ok(out)
    }
}

/// A file of the runtime as an object, compiled by these flags.
pub fn runtime_object(file: &str, flags: &[&str]) -> Result<PathBuf> {
    let runtime = source::runtime()?.canonicalize()?;
    let library = runtime.join(file);
    let mut clang = Command::new(CLANG);
    clang.current_dir(&runtime).args(flags).args(["-w", "-c", "-I"]).arg(runtime.join("include")).arg(&library);
    compile::cached(clang, &library, "o", &compile::Clang)
}

/// Runs a tool to its end; its standard output.
pub fn tool(command: &mut Command) -> Result<String> {
    let ended = child::run(command, LIMITS).map_err(|e| missing(e, &command.get_program().to_string_lossy(), INSTALL))?;
    ended.check_cut("building it natively")?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&ended.stderr);
    let line = words.lines().find(|l| l.contains("error")).or(words.lines().last()).unwrap_or("no message");
    Err(anyhow!("it does not build natively: {}", line.trim()))
}
