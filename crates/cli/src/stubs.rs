//! `--sym-calls` natively: stubs whose results are the test's, in place of the functions that the program or the C library defines.
//!
//! A stub leaves its result where integers and where floating-point numbers are returned, so its type need not be known. The names come from
//! a run folder; [`symbolic::parse`](crate::symbolic::parse) lets none through that is more than a name.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::native::tool;
use crate::toolchain::{EXTRACT, NM};

/// Functions that the replay library itself defines, because they write what they say.
const WRITERS: [&str; 5] = ["arc4random_buf", "clock_gettime", "getrandom", "gettimeofday", "time"];
/// What finds its value in the environment.
const GETENV: &str = "getenv";

/// Whether any of these functions has its results from the replay library.
pub fn are_any(names: &[String]) -> bool {
    names.iter().any(|name| name != GETENV)
}

/// How the replay library is built for these functions.
pub fn defines(names: &[String]) -> Vec<String> {
    let writers = names.iter().filter(|name| WRITERS.contains(&name.as_str()));
    std::iter::once("-DSYM_CALLS".to_owned()).chain(writers.map(|name| format!("-DSYM_CALLS_{name}"))).collect()
}

/// The stubs of the other functions, as an assembler's text.
fn text(names: &[String]) -> String {
    let mut text = ".text\n".to_owned();
    for (number, name) in names.iter().filter(|name| !WRITERS.contains(&name.as_str()) && *name != GETENV).enumerate() {
        let _ = write!(
            text,
            ".globl {name}\n.type {name}, @function\n{name}:\n\tsubq $8, %rsp\n\tleaq .Lname{number}(%rip), %rdi\n\t\
             call wryneck_sym_call@PLT\n\tmovq %rax, %xmm0\n\taddq $8, %rsp\n\tret\n\
             .section .rodata\n.Lname{number}: .asciz \"{name}\"\n.text\n"
        );
    }
    text + ".section .note.GNU-stack, \"\", @progbits\n"
}

/// Writes the stubs; their file.
pub fn write(names: &[String], scratch: &Path) -> Result<PathBuf> {
    let file = fresh(".s", scratch)?;
    fs::write(&file, text(names))?;
    Ok(file)
}

/// A file of its own, since the plain program and those under sanitizers are built at the same time. It goes with the scratch folder.
pub fn fresh(ending: &str, scratch: &Path) -> Result<PathBuf> {
    Ok(tempfile::Builder::new().suffix(ending).tempfile_in(scratch)?.into_temp_path().keep()?)
}

/// Those of these functions that the bitcode defines.
pub fn defined(bitcode: &Path, names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let said = tool(Command::new(NM).args(["--defined-only", "--format=just-symbols"]).arg(bitcode))?;
    Ok(names.iter().filter(|name| *name != GETENV && said.lines().any(|line| line.trim() == *name)).cloned().collect())
}

/// The bitcode without these functions, where it defines any.
pub fn without(bitcode: &Path, names: &[String], scratch: &Path) -> Result<PathBuf> {
    let own = defined(bitcode, names)?;
    if own.is_empty() {
        return Ok(bitcode.to_owned());
    }
    let out = fresh(".bc", scratch)?;
    tool(Command::new(EXTRACT).arg("--delete").args(own.iter().map(|name| format!("--func={name}"))).arg(bitcode).arg("-o").arg(&out))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_or_reads_the_environment_has_no_stub() {
        let names = ["rand", "time", "getenv", "level"].map(String::from);
        assert_eq!(defines(&names), ["-DSYM_CALLS", "-DSYM_CALLS_time"]);
        let text = text(&names);
        assert!(text.contains("\nrand:\n") && text.contains("\nlevel:\n") && !text.contains("time:") && !text.contains("getenv"), "{text}");
    }
}
