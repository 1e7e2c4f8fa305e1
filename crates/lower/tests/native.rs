//! Compiling C, running it natively and on the reference interpreter.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wryneck_ir::interp::{Fault, Interp, Stop};
use wryneck_ir::link::{Program, Unit};
use wryneck_lower::{Options, bitcode, lower_module};

use crate::libc::World;

/// The C compilers that are installed, newest first.
pub fn compilers() -> Vec<String> {
    let candidates = [22, 19, 18, 17, 16, 15, 14].map(|n| format!("clang-{n}"));
    let there =
        |c: &String| Command::new(c).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    candidates.into_iter().filter(there).collect()
}

/// Runs the compiler; the result is the file it made.
pub fn compile(compiler: &str, flags: &[&str], source: &Path, out: &Path) -> PathBuf {
    let mut command = Command::new(compiler);
    command.args(["-w", "-std=gnu17"]).args(flags).arg(source).arg("-o").arg(out);
    if !flags.contains(&"-c") && !flags.contains(&"-S") {
        command.arg("-lm");
    }
    let output = command.output().expect("clang runs");
    assert!(output.status.success(), "{compiler} {flags:?} {}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    out.to_owned()
}

/// What a run printed and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    pub output: String,
    pub status: i32,
}

/// Runs an executable without arguments; `None` if it takes more than a few seconds or dies by a signal.
pub fn run(executable: &Path) -> Option<End> {
    let output = Command::new("timeout").arg("5").arg(executable).output().expect("timeout runs");
    let status = output.status.code().filter(|&c| c != 124)?;
    Some(End { output: String::from_utf8_lossy(&output.stdout).into_owned(), status })
}

/// Lowers and verifies a bitcode or text file.
pub fn lower(file: &Path) -> wryneck_ir::Module {
    let bytes = std::fs::read(file).expect("the file was just made");
    let llvm = bitcode::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let lowered = lower_module(&llvm, Options::default()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    wryneck_ir::verify::verify(&lowered.module).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    lowered.module
}

/// Compiles to bitcode and lowers.
pub fn lower_source(compiler: &str, flags: &[&str], source: &Path, scratch: &Path) -> wryneck_ir::Module {
    let all: Vec<&str> = ["-c", "-emit-llvm"].iter().chain(flags).copied().collect();
    lower(&compile(compiler, &all, source, &scratch.join("program.bc")))
}

/// Runs `main` on the reference interpreter. `None`: it took more than `steps` instructions.
pub fn interpret(module: wryneck_ir::Module, steps: u64) -> Result<Option<End>, String> {
    let unit = Unit { name: "program".to_owned(), module, library: false };
    let program = Program::link(vec![unit]).map_err(|e| e.to_string())?;
    let mut interp = Interp::new(&program, World::default(), steps).map_err(|e: Fault| e.to_string())?;
    let stop = interp.run_main(&[b"program"]).ok_or("there is no main")?;
    let output = String::from_utf8_lossy(&interp.externals.output).into_owned();
    match stop {
        Stop::Exit(status) => Ok(Some(End { output, status })),
        Stop::Limit => Ok(None),
        Stop::Fault { fault, function, loc } => {
            let (module, f) = program.function(function);
            let line = module.locations[loc as usize].line;
            Err(format!("{fault} in `{}` line {line}, after {output:?}", module.str(f.name)))
        }
    }
}
