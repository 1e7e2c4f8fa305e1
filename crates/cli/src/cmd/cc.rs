//! `wryneck cc` and `wryneck c++`: clang for musl, whose objects carry their bitcode.
//!
//! This process becomes clang: same words, same output, same exit code. Two flags do the work. With `-ffat-lto-objects` clang stores the
//! bitcode for link-time optimisation in the section `.llvm.lto` of an otherwise ordinary object (LLVM's FatLTO), so static libraries of
//! such objects carry bitcode too. With `--ld-path` it links by `wryneck ld`. Programs are static, so that they contain all the code they
//! run. Cost: one more `exec`, and optimised code is generated twice.
//!
//! Some errors of clang are warnings of gcc 12, and warnings here, too ([`LENIENT`]). `-Werror` is taken back; `-Werror=NAME` stays. Options that only gcc
//! has are left out, with a warning. To find them, `wryneck cc` asks clang once more (`-###`), where there are options that few projects use.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use super::{deps, ld};
use crate::build::missing;
use crate::compile::{CLANG, SHAPE};
use crate::{output, toolchain};

/// Beside the target. Debug information gives findings their lines; a stack protector is code of the compiler's, not the program's.
const FLAGS: &[&str] = &["-static", "-no-pie", "-g", "-fno-stack-protector"];

/// Errors of clang that gcc 12 warns of.
const LENIENT: &[&str] = &[
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=int-conversion",
    "-Wno-error=return-mismatch",
    "-Wno-unknown-warning-option",
];
/// Last: warnings of clang, or in macros of musl's headers, would fail builds that gcc lets pass under `-Werror`.
const NO_ERRORS: &str = "-Wno-error";
/// Options of code generation that clang has, sorted. Others may be gcc's alone.
const COMMON: &[&str] = &[
    "-fPIC",
    "-fPIE",
    "-fcommon",
    "-fdata-sections",
    "-ffunction-sections",
    "-fno-builtin",
    "-fno-common",
    "-fno-exceptions",
    "-fno-omit-frame-pointer",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fomit-frame-pointer",
    "-fpic",
    "-fpie",
    "-fstack-protector-strong",
    "-fvisibility=hidden",
    "-fwrapv",
    "-m64",
];

pub fn c(words: Vec<String>) -> Result<u8> {
    become_clang(words, &[])
}

pub fn cxx(words: Vec<String>) -> Result<u8> {
    become_clang(words, &["--driver-mode=g++"])
}

fn become_clang(mut words: Vec<String>, mode: &[&str]) -> Result<u8> {
    leave_out_gcc_s(&mut words, mode);
    let mut clang = Command::new(CLANG);
    clang.args(mode).arg(toolchain::TARGET).args(LENIENT);
    // After `--` there are only files.
    let files = words.iter().position(|word| word == "--").unwrap_or(words.len());
    clang.args(&words[..files]);
    clang.arg("--start-no-unused-arguments");
    clang.arg(format!("--sysroot={}", toolchain::sysroot()?.display()));
    clang.arg(format!("--ld-path={}", toolchain::tools()?.join("ld.lld").display()));
    clang.args(FLAGS).args(toolchain::FAT).args(SHAPE).args(toolchain::CXX_FLAGS);
    if !mode.is_empty() {
        clang.args(toolchain::UNWINDER_NEEDS);
        // A build says it at its end; a `configure` takes compilers that say anything for such as refuse an option.
        match env::var_os(ld::JOURNAL) {
            None => deps::warn_of_stale_cxx()?,
            Some(journal) => fs::write(Path::new(&journal).with_extension(ld::HAS_CXX), "").context("cannot note that C++ is compiled")?,
        }
    }
    // A project that wants none of these headers brings a library of its own.
    if !words.iter().any(|word| word == "-nostdinc++") {
        clang.args(toolchain::cxx_library_flags()?);
    }
    // After the project's own: what `wryneck deps` built stands in for what a system has.
    for library in toolchain::libraries()? {
        clang.arg("-idirafter").arg(library.join("include")).arg("-L").arg(library.join("lib"));
    }
    clang.arg(NO_ERRORS).arg("--end-no-unused-arguments");
    clang.args(&words[files..]);
    Err(missing(clang.exec(), CLANG, toolchain::INSTALL))
}

/// Takes out the options that only gcc has: those of its own files of options and parameters, and of code generation those that clang says it
/// does not know.
fn leave_out_gcc_s(words: &mut Vec<String>, mode: &[&str]) {
    let mut left_out = own_options(words);
    let files = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_rare = |word: &String| is_of_code(word) && COMMON.binary_search(&word.as_str()).is_err();
    if words[..files].iter().any(is_rare) {
        let asked = Command::new(CLANG).args(mode).arg(toolchain::TARGET).arg("-###").args(&*words).output();
        let said = asked.map(|asked| String::from_utf8_lossy(&asked.stderr).into_owned()).unwrap_or_default();
        let unknown: Vec<&str> = said.lines().filter_map(unknown_option).collect();
        words.retain(|word| {
            let is_unknown = is_of_code(word) && unknown.contains(&word.as_str());
            left_out.extend(is_unknown.then(|| word.clone()));
            !is_unknown
        });
    }
    for option in left_out {
        output::say("warning", format!("`{option}` is an option of gcc that clang has not; it is left out"));
    }
}

/// Takes out `--param NAME=VALUE` and `-specs=FILE`, wherever their values are.
fn own_options(words: &mut Vec<String>) -> Vec<String> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let mut rest = std::mem::take(words).into_iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--param" => left_out.push(format!("{word} {}", rest.next().unwrap_or_default())),
            _ if ["--param=", "-specs=", "--specs="].iter().any(|own| word.starts_with(own)) => left_out.push(word),
            "--" => {
                kept.push(word);
                kept.extend(rest.by_ref());
            }
            _ => kept.push(word),
        }
    }
    *words = kept;
    left_out
}

/// Whether a word says how code is generated.
fn is_of_code(word: &str) -> bool {
    (word.starts_with("-f") || word.starts_with("-m")) && word.len() > 2
}

/// The option of clang's `error: unknown argument: '-fX'`, or `unknown argument '-fX'; did you mean …`.
fn unknown_option(line: &str) -> Option<&str> {
    line.split_once("unknown argument")?.1.split('\'').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_gcc_are_left_out() {
        assert!(COMMON.windows(2).all(|w| w[0] < w[1]));
        let mut words: Vec<String> =
            "-O2 --param ssp-buffer-size=4 -specs=/x.specs -c a.c -- --param".split(' ').map(str::to_owned).collect();
        assert_eq!(own_options(&mut words), ["--param ssp-buffer-size=4", "-specs=/x.specs"]);
        assert_eq!(words, ["-O2", "-c", "a.c", "--", "--param"]);
        assert_eq!(unknown_option("clang: error: unknown argument: '-fno-such'"), Some("-fno-such"));
        assert_eq!(unknown_option("clang: error: unknown argument '-fx'; did you mean '-fy'?"), Some("-fx"));
        assert_eq!(unknown_option("clang: warning: argument unused"), None);
    }

    #[test]
    fn clang_says_which_options_of_code_it_does_not_know() {
        let mut words: Vec<String> = "-fconserve-stack -fno-such-thing -mno-such -fwrapv -c a.c".split(' ').map(str::to_owned).collect();
        leave_out_gcc_s(&mut words, &[]);
        assert!(!words.iter().any(|word| word.contains("no-such")), "{words:?}");
        assert!(words.ends_with(&["-fwrapv".into(), "-c".into(), "a.c".into()]), "{words:?}");
    }
}
