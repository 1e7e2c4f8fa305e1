//! Several targets as one: C files, bitcode, objects that carry bitcode, and static libraries of these, linked before they are explored.
//!
//! As by a linker: files are taken whole, of a static library what the others need. Machine code alone is linked elsewhere ([`crate::objects`]).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::build::{Kind, missing};
use crate::cache;
use crate::carried::{self, Carried};
use crate::child::{self, Limits};
use crate::compile::{self, Libc};
use crate::objects;
use crate::plan::Plan;
use crate::problem::problem;
use crate::rust;

const LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };
/// Changed whenever [`linked`] makes anything else than before.
const LINKING: &str = "2";
/// Extensions of what can be linked with others.
const LINKED: [&str; 9] = ["C", "a", "bc", "c", "cc", "cpp", "cxx", "ll", "o"];

/// Whether a word names something that can be linked with others, whether or not it is there.
fn is_linked(word: &Path) -> bool {
    word.extension().and_then(|e| e.to_str()).is_some_and(|e| LINKED.contains(&e)) || objects::is_object(word)
}

/// Takes the targets that follow the first one from the words behind it.
pub fn take(target: &Path, words: &mut Vec<String>) -> Vec<PathBuf> {
    let count = if is_linked(target) { words.iter().take_while(|word| is_linked(Path::new(word))).count() } else { 0 };
    words.drain(..count).map(PathBuf::from).collect()
}

/// Whether all targets are objects of machine code without bitcode, or are to be taken as such.
pub fn are_machine_code(plan: &Plan) -> Result<bool> {
    for target in std::iter::once(&plan.target).chain(&plan.objects) {
        if !objects::is_object(target) || !(plan.machine_code || carried::is_bare(&carried::read(target)?)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bitcode of one target, compiled if it is source.
pub fn bitcode(plan: &Plan, target: &Path) -> Result<Carried> {
    let libc = if plan.libc { Libc::Musl } else { Libc::None };
    Ok(match Kind::of(target)? {
        Kind::Llvm => Carried::of(target.to_owned(), Vec::new()),
        Kind::Native => carried::extract(target, &carried::read(target)?)?,
        Kind::Cxx => {
            let object = compile::cxx(target, &plan.compiler_flags())?;
            carried::extract(&object, &carried::read(&object)?)?
        }
        Kind::Rust if !plan.cc_flags.is_empty() => {
            return Err(problem(
                "`--cc-flag` is for C and C++",
                "build with cargo (`wryneck build -- cargo build`), which has options of its own",
            ));
        }
        Kind::Rust => Carried::of(rust::bitcode(target)?, Vec::new()),
        Kind::C => Carried::of(compile::bitcode(target, libc, &plan.compiler_flags())?, Vec::new()),
    })
}

/// The bitcode of all targets, linked.
pub fn linked(plan: &Plan) -> Result<Carried> {
    if plan.machine_code {
        let what = "these targets cannot be linked as machine code: not all of them are relocatable objects";
        return Err(problem(what, "leave out `--machine-code`, or compile them (`clang-22 -c`) and give the objects"));
    }
    let (mut whole, mut libraries, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_cxx = false;
    for target in std::iter::once(&plan.target).chain(&plan.objects) {
        let part = bitcode(plan, target)?;
        is_cxx |= Kind::of(target)? == Kind::Cxx;
        let is_library = target.extension().is_some_and(|e| e == "a");
        if is_library { &mut libraries } else { &mut whole }.push(part.bitcode);
        bare.extend(part.bare);
    }
    if whole.is_empty() {
        whole.append(&mut libraries);
    }
    if is_cxx {
        let library = compile::cxx_library()?;
        libraries.push(carried::extract(&library, &carried::read(&library)?)?.bitcode);
    }
    let digests: Vec<String> =
        whole.iter().chain(&libraries).map(|file| Ok(cache::digest(&[&carried::read(file)?]))).collect::<Result<_>>()?;
    let count = format!("{LINKING} {}", whole.len());
    let parts: Vec<&[u8]> = std::iter::once(&count).chain(&digests).map(|part| part.as_bytes()).collect();
    let dir = cache::folder("carried")?;
    let file = dir.join(format!("{}.bc", cache::digest(&parts)));
    if !cache::is_whole(&file) {
        let scratch = cache::scratch()?;
        let [all, bare, needed] = ["all.bc", "bare.bc", "needed.bc"].map(|name| scratch.path().join(name));
        link(&[], &whole, &all)?;
        let made = match libraries.is_empty() {
            true => all,
            false => {
                // What clang copies from a library for the optimiser counts as defined, so that `llvm-link` would not take the library's.
                run(Command::new(compile::OPT).arg("-passes=elim-avail-extern").arg(&all).arg("-o").arg(&bare), compile::OPT)?;
                link(&["--only-needed"], &[&[bare], &libraries[..]].concat(), &needed)?
            }
        };
        cache::place_whole(&made, &file)?;
    }
    Ok(Carried::of(file, bare))
}

fn link(flags: &[&str], inputs: &[PathBuf], out: &Path) -> Result<PathBuf> {
    run(Command::new(compile::LLVM_LINK).args(flags).args(inputs).arg("-o").arg(out), compile::LLVM_LINK)?;
    Ok(out.to_owned())
}

fn run(command: &mut Command, tool: &str) -> Result<()> {
    let ended = child::run(command, LIMITS).map_err(|e| missing(e, tool, compile::INSTALL))?;
    if !ended.status.success() {
        bail!("the targets do not link:\n{}", String::from_utf8_lossy(&ended.stderr).trim_end());
    }
    Ok(())
}
