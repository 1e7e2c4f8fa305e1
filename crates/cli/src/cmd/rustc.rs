//! `wryneck rustc`: rustc, whose programs carry their whole bitcode, with the standard library's and that of all crates.
//!
//! Cargo calls it as `RUSTC_WRAPPER`: the first word is the compiler. A library is compiled as it is, and keeps its bitcode, which cargo leaves out where it
//! needs none. A program is optimised at link time (`-C lto=fat`), so the compiler has one module of all of it, which `-C save-temps` keeps; that goes into
//! the program as `wryneck ld` does it ([`super::ld::put`]). Build scripts and procedural macros run on this machine alone and stay as they are.
//!
//! Rust links for the host's C library, so `cc` has to be the host's here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ld;
use crate::build::{self, missing};
use crate::carried::Label;
use crate::rust::{INSTALL, RUSTC, SHAPE, whole_program};
use crate::{child, output, toolchain};

pub fn run(mut words: Vec<String>) -> Result<u8> {
    // Cargo gives the compiler, a user does not.
    let is_compiler = |word: &String| Path::new(word).file_stem().is_some_and(|name| name == RUSTC);
    let compiler = if words.first().is_some_and(is_compiler) { words.remove(0) } else { RUSTC.to_owned() };
    let program = Program::of(&words);
    if program.is_some() {
        leave_out_incremental(&mut words);
    }
    let mut command = Command::new(&compiler);
    child::bind(&mut command, libc::SIGKILL);
    command.args(&words);
    if is_compilation(&words) {
        command.args(["-g", "-Cembed-bitcode=yes"]);
        if let Some(linker) = host_linker()?.filter(|_| !words.iter().any(|word| word.contains("linker="))) {
            command.arg(format!("-Clinker={}", linker.display()));
        }
    }
    if program.is_some() {
        command.args(SHAPE);
    }
    let status = command.status().map_err(|error| missing(error, &compiler, INSTALL))?;
    if let Some(program) = program.filter(|_| status.success()) {
        program.carry()?;
    }
    Ok(ld::exit_code(status))
}

/// Whether the words compile something, and ask for nothing.
fn is_compilation(words: &[String]) -> bool {
    words.iter().any(|word| Path::new(word).extension().is_some_and(|extension| extension == "rs"))
}

/// The values of an option, written `--name VALUE` or `--name=VALUE`.
fn values<'a>(words: &'a [String], name: &'a str) -> impl Iterator<Item = &'a str> {
    words.iter().enumerate().filter_map(move |(i, word)| match word.strip_prefix(name)? {
        "" => words.get(i + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
}

/// The value of a code generation option, written `-C NAME=VALUE` or `-CNAME=VALUE`.
fn codegen<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
    let behind = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| *word == "-C").map(|(_, value)| value.as_str());
    let joined = words.iter().filter_map(|word| word.strip_prefix("-C"));
    behind.chain(joined).find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
}

/// Incremental compilation and optimisation at link time exclude each other.
fn leave_out_incremental(words: &mut Vec<String>) {
    let is_option = |word: &str| word.starts_with("incremental=");
    while let Some(at) = (0..words.len()).find(|&i| words[i] == "-C" && words.get(i + 1).is_some_and(|word| is_option(word))) {
        words.drain(at..at + 2);
    }
    words.retain(|word| !word.strip_prefix("-C").is_some_and(is_option));
}

/// The C compiler that links on this machine: the first `cc` on `PATH` that is not this tool.
fn host_linker() -> Result<Option<PathBuf>> {
    let tools = toolchain::tools()?;
    Ok(build::on_path("cc", |cc| cc.is_file() && !cc.starts_with(&tools)))
}

/// A program that is compiled.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    folder: PathBuf,
    /// The beginning of the names of its temporary files.
    stem: String,
    output: PathBuf,
}

impl Program {
    /// `None`: the words compile a library, something that runs on this machine alone, or nothing.
    fn of(words: &[String]) -> Option<Program> {
        let source = words.iter().find(|word| word.ends_with(".rs")).map(Path::new)?;
        let kinds: Vec<&str> = values(words, "--crate-type").flat_map(|kinds| kinds.split(',')).collect();
        let makes = values(words, "--emit").all(|what| what.split(',').any(|kind| kind.split('=').next() == Some("link")));
        let name = values(words, "--crate-name").last().or_else(|| source.file_stem()?.to_str())?.replace('-', "_");
        if !makes || name.starts_with("build_script_") || !kinds.iter().all(|kind| *kind == "bin") {
            return None;
        }
        let stem = format!("{name}{}", codegen(words, "extra-filename").unwrap_or_default());
        let output = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1)).map(PathBuf::from);
        let folder = values(words, "--out-dir").last().map(PathBuf::from);
        let folder = output.as_deref().and_then(Path::parent).map(Path::to_owned).or(folder).unwrap_or_default();
        let stem = output.as_deref().and_then(Path::file_stem).map_or(stem, |name| name.to_string_lossy().into_owned());
        let output = output.unwrap_or_else(|| folder.join(&stem));
        let folder = if folder.as_os_str().is_empty() { ".".into() } else { folder };
        Some(Program { folder, stem, output })
    }

    /// Puts the bitcode in, and removes what `-C save-temps` left.
    fn carry(&self) -> Result<()> {
        if !self.output.is_file() {
            return Ok(());
        }
        let is_own = |name: &str| name.strip_prefix(&self.stem).is_some_and(|rest| rest.starts_with('.'));
        let bitcode = whole_program(&self.folder, is_own)?;
        let mut label = Label { of_host: true, ..Label::default() };
        if bitcode.is_none() {
            label.none = Some("`rustc` kept none".into());
        }
        ld::put(&self.output, bitcode.as_deref(), &mut label)?;
        if let Some(why) = &label.none {
            output::say("wryneck", format!("`{}` carries no bitcode: {why}", self.output.display()));
        }
        for entry in fs::read_dir(&self.folder).context("cannot list what was compiled")?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_own(&name) && name.contains(".rcgu.") {
                fs::remove_file(entry.path()).with_context(|| format!("cannot remove `{}`", entry.path().display()))?;
            }
        }
        ld::tell(&self.output, label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn programs_are_told_from_what_runs_here() {
        let of = |line: &str| Program::of(&words(line)).map(|program| (program.output.display().to_string(), program.stem));
        let cargo = "--crate-name my_tool --edition=2024 src/main.rs --crate-type bin --emit=dep-info,link -C extra-filename=-1f --out-dir target/deps";
        assert_eq!(of(cargo), Some(("target/deps/my_tool-1f".into(), "my_tool-1f".into())));
        assert_eq!(of("-O my-tool.rs"), Some(("my_tool".into(), "my_tool".into())));
        assert_eq!(of("a.rs -o made/b"), Some(("made/b".into(), "b".into())));
        assert_eq!(of("--crate-name x src/lib.rs --crate-type lib --emit=dep-info,metadata,link"), None);
        assert_eq!(of("--crate-name build_script_build build.rs --crate-type bin"), None);
        assert_eq!(of("--crate-name x src/main.rs --crate-type bin --emit=dep-info,metadata"), None);
        assert_eq!(of("-vV"), None);
    }

    #[test]
    fn incremental_compilation_is_left_out() {
        let mut all = words("a.rs -C incremental=/x -C debuginfo=2 -Cincremental=y");
        leave_out_incremental(&mut all);
        assert_eq!(all, ["a.rs", "-C", "debuginfo=2"]);
    }
}
