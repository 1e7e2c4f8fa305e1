//! `wryneck setup`: what the tool needs beside itself, in one folder of the cache, so that an installed `wryneck` works alone.
//!
//! It builds `wryneck-lower` from the source that this tool was built from, copies the headers and the replay library, and makes the C library's bitcode.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::{Context, Result};

use crate::options::{self, Opt, Words};
use crate::problem::problem;
use crate::{build, cache, output, source};

#[derive(Default)]
struct Args {
    source: Option<PathBuf>,
}

static OPTIONS: &[Opt<Args>] = &[Opt {
    name: "--source",
    value: "DIR",
    help: "the repository (default: where this tool was built)",
    set: |a, v| {
        a.source = Some(v.into());
        Ok(())
    },
}];

const SYNOPSIS: &str = "usage: wryneck setup [--source DIR]\n\n\
    Puts what wryneck needs beside itself into one folder of its cache: the program that reads bitcode, headers, the replay library, and the C\n\
    library as bitcode. It needs cargo, and what `./demo` of the repository lists. It takes minutes the first time. Options:\n";

const EXAMPLES: &str = "\nExamples:\n\
    \x20 cargo install --profile dist --path crates/cli && wryneck setup     in the repository\n\
    \x20 wryneck setup --source ~/src/wryneck\n";

pub fn help() -> String {
    format!("{SYNOPSIS}{}{EXAMPLES}", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let (mut args, mut words) = (Args::default(), Words::new(words));
    options::parse(OPTIONS, &mut args, &mut words)?;
    if let Some(word) = words.next() {
        return Err(problem(format!("`{word}` is one word too many"), "write `wryneck setup`"));
    }
    let given = args.source.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let repository =
        given.canonicalize().ok().filter(|dir| dir.join("crates/lower/Cargo.toml").is_file()).ok_or_else(|| {
            problem(format!("`{}` is not the repository of wryneck", given.display()), "write `wryneck setup --source DIR`")
        })?;
    let folder = cache::folder(source::SETUP)?;
    output::note(format!("building in `{}`", repository.display()));
    cargo(&repository, &["build", "--release", "--quiet", "-p", "wryneck-lower", "-p", "xtask"])?;
    let built = target(&repository)?.join("release");
    let scratch = cache::scratch()?;
    let fresh = scratch.path().join(build::LOWER);
    fs::copy(built.join(build::LOWER), &fresh).with_context(|| format!("cannot copy `{}`", built.join(build::LOWER).display()))?;
    cache::place(&fresh, &folder.join(build::LOWER))?;
    let (fresh, place) = (scratch.path().join(source::RUNTIME), folder.join(source::RUNTIME));
    copy(&repository.join(source::RUNTIME), &fresh)
        .and_then(|()| if place.exists() { fs::rename(&place, scratch.path().join("old")) } else { Ok(()) })
        .and_then(|()| fs::rename(&fresh, &place))
        .with_context(|| format!("cannot write `{}`", place.display()))?;
    output::note("making the C library's bitcode");
    ended(Command::new(built.join("xtask")).args(["setup", "libc"]).current_dir(&repository))?;
    output::note(format!("wryneck has what it needs in `{}`", cache::root()?.display()));
    Ok(0)
}

fn cargo(repository: &Path, words: &[&str]) -> Result<Vec<u8>> {
    ended(Command::new("cargo").args(words).current_dir(repository))
}

/// Where cargo puts what it builds.
fn target(repository: &Path) -> Result<PathBuf> {
    let said = cargo(repository, &["metadata", "--no-deps", "--format-version", "1"])?;
    let said: serde_json::Value = serde_json::from_slice(&said).context("`cargo metadata` does not print JSON")?;
    said["target_directory"].as_str().map(PathBuf::from).context("`cargo metadata` names no folder")
}

/// Runs a tool, which says on standard error what it does; its output.
fn ended(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().display().to_string();
    let out = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let out = out
        .map_err(|error| problem(format!("cannot start `{name}`: {error}"), "install a Rust toolchain; `./demo` of the repository does"))?;
    match out.status.success() {
        true => Ok(out.stdout),
        false => Err(problem(format!("`{name}` failed: {}", out.status), "`./demo` of the repository installs what is missing")),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
