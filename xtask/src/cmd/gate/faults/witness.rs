//! The second opinion on a finding: the fixture compiled by gcc, run on the input of the finding's test under gcc's sanitizers or valgrind.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use crate::process;

/// Who is asked for the second opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// gcc's, of addresses and undefined behaviour.
    Sanitizers,
    /// The same, and gcc's leak checker.
    Leaks,
    Valgrind,
}

/// How a witness tells of a kind of fault.
pub struct Sign {
    kind: &'static str,
    pub witness: Witness,
    /// Words that the report has all of; one such group is enough.
    said: &'static [&'static [&'static str]],
    /// Whether the program is killed by SIGABRT, rather than ended by a sanitizer.
    aborts: bool,
}

const fn said(kind: &'static str, said: &'static [&'static [&'static str]]) -> Sign {
    Sign { kind, witness: Witness::Sanitizers, said, aborts: false }
}

// One more kind: a row, sorted.
static SIGNS: &[Sign] = &[
    Sign { kind: "abort", witness: Witness::Sanitizers, said: &[&[]], aborts: true },
    Sign { kind: "assertion-failed", witness: Witness::Sanitizers, said: &[&["Assertion `"], &["wryneck replay: finding"]], aborts: true },
    said("bad-call-target", &[&["AddressSanitizer: SEGV"]]),
    said("division-by-zero", &[&["runtime error: division by zero"]]),
    said("division-overflow", &[&["runtime error: division of", "cannot be represented"]]),
    said("double-free", &[&["AddressSanitizer: attempting double-free"]]),
    said("invalid-free", &[&["AddressSanitizer: attempting free on address which was not malloc"]]),
    Sign { kind: "memory-leak", witness: Witness::Leaks, said: &[&["LeakSanitizer: detected memory leaks"]], aborts: false },
    said("null-dereference", &[&["runtime error:", "null pointer"], &["AddressSanitizer: SEGV on unknown address 0x0000000000"]]),
    said(
        "out-of-bounds-read",
        &[
            &["-overflow on address", "READ of size"],
            &["-underflow on address", "READ of size"],
            // Far from its object.
            &["AddressSanitizer: SEGV", "READ memory access"],
            &["out of bounds"],
            &["insufficient space for an object"],
        ],
    ),
    said(
        "out-of-bounds-write",
        &[
            &["-overflow on address", "WRITE of size"],
            &["-underflow on address", "WRITE of size"],
            &["AddressSanitizer: SEGV", "WRITE memory access"],
            &["out of bounds"],
            &["insufficient space for an object"],
        ],
    ),
    said("read-only-write", &[&["AddressSanitizer: SEGV", "WRITE memory access"]]),
    Sign { kind: "reported", witness: Witness::Sanitizers, said: &[&["wryneck replay: finding"]], aborts: true },
    said("shift-too-far", &[&["runtime error: shift exponent"]]),
    said(
        "signed-overflow",
        &[&["runtime error: signed integer overflow"], &["runtime error: negation of"], &["runtime error: left shift of"]],
    ),
    said("stack-overflow", &[&["AddressSanitizer: stack-overflow"]]),
    said("trap", &[&["runtime error: execution reached an unreachable program point"], &["AddressSanitizer: ILL"]]),
    Sign { kind: "uninitialised-read", witness: Witness::Valgrind, said: &[&["uninitialised"]], aborts: false },
    said("use-after-free", &[&["heap-use-after-free"]]),
    said("use-after-return", &[&["stack-use-after-return"]]),
    said("wild-pointer", &[&["AddressSanitizer: SEGV"]]),
];

/// Seconds of a native run.
const LIMIT: &str = "10";
const SIGABRT: i32 = 6;

/// Makes the call of `malloc` fail whose number (from 1) is in `$FAILS`.
const FAILING: &str = "
#include <stdlib.h>
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) {
  static int calls;
  const char *fails = getenv(\"FAILS\");
  return ++calls == (fails ? atoi(fails) : 0) ? NULL : __real_malloc(size);
}
";

/// The row of a kind.
pub fn sign(kind: &str) -> Result<&'static Sign> {
    SIGNS.iter().find(|s| s.kind == kind).with_context(|| format!("no row for the kind `{kind}`"))
}

/// Compiles what answers programs' intrinsics, once in each form, and what fails.
pub fn libraries(dir: &Path) -> Result<()> {
    let source = dir.join("failing.c");
    fs::write(&source, FAILING)?;
    process::output(Command::new("gcc").args(["-O1", "-c"]).arg(&source).arg("-o").arg(dir.join("failing.o")))?;
    for witness in [Witness::Sanitizers, Witness::Valgrind] {
        process::output(witness.gcc().args(["-c", "runtime/replay.c", "-o"]).arg(witness.library(dir)))?;
    }
    Ok(())
}

impl Witness {
    fn library(self, dir: &Path) -> PathBuf {
        dir.join(if self == Witness::Valgrind { "plain.o" } else { "sanitized.o" })
    }

    /// The compiler and its flags.
    fn gcc(self) -> Command {
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O0", "-w", "-Iruntime/include"]);
        match self {
            Witness::Sanitizers | Witness::Leaks => gcc.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
            Witness::Valgrind => &mut gcc,
        };
        gcc
    }

    /// What the program is started by; without its arguments and environment.
    fn start(self, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.arg(LIMIT);
        if self == Witness::Valgrind {
            command.args(["valgrind", "--quiet", "--error-exitcode=99"]);
        }
        command.arg(program).env_clear().env("PATH", "/usr/bin:/bin");
        let leaks = u8::from(self == Witness::Leaks);
        let options = format!("detect_leaks={leaks}:detect_stack_use_after_return=1:allocator_may_return_null=1:handle_sigill=1");
        command.env("ASAN_OPTIONS", options);
        command
    }
}

/// A fixture and its twin as programs for a witness.
pub struct Pair {
    witness: Witness,
    /// The file name of the fixture.
    name: String,
    faulty: PathBuf,
    repaired: PathBuf,
    scratch: PathBuf,
}

impl Pair {
    /// Compiles both in `scratch`; `libraries` is where [`libraries`] put them.
    pub fn build(file: &Path, cc: &[String], witness: Witness, libraries: &Path, scratch: &Path) -> Result<Pair> {
        let build = |name: &str, flag: &str| -> Result<PathBuf> {
            let out = scratch.join(name);
            let mut gcc = witness.gcc();
            gcc.args(cc).arg(flag).arg(file).arg(witness.library(libraries)).arg(libraries.join("failing.o"));
            gcc.args(["-Wl,--wrap=malloc", "-lm", "-o"]).arg(&out);
            process::output(&mut gcc)?;
            Ok(out)
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (faulty, repaired) = (build("faulty", "-DFAULTY")?, build("repaired", "-DFIXED")?);
        Ok(Pair { witness, name, faulty, repaired, scratch: scratch.to_owned() })
    }

    /// Runs both on the input of a test; the error says what is not as it should be.
    pub fn confirm(&self, sign: &Sign, line: u64, input: &Input, test: &Path) -> Result<()> {
        ensure!(sign.witness == self.witness, "faults of one fixture need {:?} and {:?}", sign.witness, self.witness);
        let died = self.execute(&self.faulty, input, test)?;
        let said = String::from_utf8_lossy(&died.stderr);
        let aborted = died.status.signal() == Some(SIGABRT);
        let as_said = sign.said.iter().any(|all| all.iter().all(|words| said.contains(words)));
        ensure!(!died.status.success() && aborted == sign.aborts && as_said, "{:?}: {}: {}", self.witness, died.status, head(&said));
        // A stack runs out at any instruction of its function, and silence names no line.
        let mut names = said.match_indices(&self.name).filter(|(at, _)| said[..*at].ends_with(['/', '(']));
        let place = names.find_map(|(at, name)| said[at + name.len()..].strip_prefix(':')?.split(|c: char| !c.is_ascii_digit()).next());
        if let Some(place) = place.filter(|_| sign.kind != "stack-overflow") {
            ensure!(place == line.to_string(), "{:?}: at line {place}: {}", self.witness, head(&said));
        }
        let lives = self.execute(&self.repaired, input, test)?;
        let said = String::from_utf8_lossy(&lives.stderr);
        let silent = !["ERROR: ", "runtime error:", "wryneck replay:", "ninitialised"].iter().any(|words| said.contains(words));
        ensure!(lives.status.code().is_some() && silent, "{:?} on the twin: {}: {}", self.witness, lives.status, head(&said));
        Ok(())
    }

    /// Runs a program in a folder of its own; inputs that it asks for by intrinsics come from the test.
    fn execute(&self, program: &Path, input: &Input, test: &Path) -> Result<Output> {
        let dir = tempfile::tempdir_in(&self.scratch)?;
        let stdin = self.scratch.join("stdin");
        fs::write(&stdin, &input.stdin)?;
        for (name, bytes) in &input.files {
            fs::write(dir.path().join(name), bytes)?;
        }
        let mut command = self.witness.start(program);
        command.args(input.args.iter().map(|a| OsStr::from_bytes(a))).env("WRYNECK_TEST", test);
        if let Some(number) = input.fails {
            command.env("FAILS", number.to_string());
        }
        command.envs(input.env.iter().map(|(name, value)| (name, OsStr::from_bytes(value))));
        command.current_dir(dir.path()).stdin(Stdio::from(File::open(&stdin)?)).output().context("cannot start `timeout`")
    }
}

/// The beginning of a report.
fn head(said: &str) -> String {
    said.lines().filter(|l| !l.starts_with("====")).take(2).collect::<Vec<_>>().join(" / ")
}

/// What a program is given, from the words after the target and the inputs of a finding.
#[derive(Default)]
pub struct Input {
    args: Vec<Vec<u8>>,
    env: Vec<(String, Vec<u8>)>,
    stdin: Vec<u8>,
    /// Names and contents.
    files: Vec<(String, Vec<u8>)>,
    /// Which call of `malloc` finds no memory, from 1.
    fails: Option<usize>,
}

impl Input {
    pub fn of(words: &[String], inputs: &Value) -> Result<Input> {
        let bytes = |name: &str| -> Vec<u8> {
            let object = inputs.as_array().into_iter().flatten().find(|o| o["name"] == name);
            object.and_then(|o| serde_json::from_value(o["bytes"].clone()).ok()).unwrap_or_default()
        };
        let allocations =
            inputs.as_array().into_iter().flatten().filter(|o| o["name"].as_str().is_some_and(|n| n.starts_with("fail_malloc")));
        let fails = allocations.map(|o| o["bytes"][0] != 0).position(|fails| fails).map(|before| before + 1);
        let text = |name: &str| bytes(name).split(|&b| b == 0).next().unwrap_or_default().to_vec();
        let (mut input, mut symbolic, mut words) = (Input { fails, ..Input::default() }, 0, words.iter());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| anyhow!("`{word}` lacks its value"));
            match word.as_str() {
                "--sym-arg" => {
                    value()?;
                    input.args.push(text(&format!("arg{symbolic:02}")));
                    symbolic += 1;
                }
                "--sym-stdin" => {
                    value()?;
                    input.stdin = bytes("stdin");
                }
                "--sym-files" => {
                    let count = value()?.parse()?;
                    value()?;
                    input.files = ('A'..='Z').take(count).map(|name| (name.to_string(), bytes(&format!("{name}_data")))).collect();
                }
                "--sym-env" => {
                    let (name, _) = value()?.split_once(':').context("`--sym-env` lacks its length")?;
                    input.env.push((name.to_owned(), text(&format!("env_{name}"))));
                }
                _ => {
                    ensure!(!word.starts_with("--"), "the gate does not know `{word}`");
                    input.args.push(word.clone().into_bytes());
                }
            }
        }
        Ok(input)
    }
}
