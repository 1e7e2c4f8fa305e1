//! `wryneck cc` and `wryneck c++`: clang for musl, whose objects carry their bitcode.
//!
//! This process becomes clang: same words, same output, same exit code. Two flags do the work. With `-ffat-lto-objects` clang stores the
//! bitcode for link-time optimisation in the section `.llvm.lto` of an otherwise ordinary object (LLVM's FatLTO), so static libraries of
//! such objects carry bitcode too. With `--ld-path` it links by `wryneck ld`. Programs are static, so that they contain all the code they
//! run. Cost: one more `exec`, and optimised code is generated twice.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Result;

use crate::build::missing;
use crate::compile::{CLANG, SHAPE};
use crate::toolchain;

/// Beside the target. Debug information gives findings their lines; a stack protector is code of the compiler's, not the program's.
const FLAGS: &[&str] = &["-static", "-no-pie", "-g", "-fno-stack-protector"];

pub fn c(words: Vec<String>) -> Result<u8> {
    become_clang(words, &[])
}

pub fn cxx(words: Vec<String>) -> Result<u8> {
    become_clang(words, &["--driver-mode=g++"])
}

fn become_clang(words: Vec<String>, mode: &[&str]) -> Result<u8> {
    let mut clang = Command::new(CLANG);
    clang.args(mode).arg(toolchain::TARGET);
    // After `--` there are only files.
    let files = words.iter().position(|word| word == "--").unwrap_or(words.len());
    clang.args(&words[..files]);
    clang.arg("--start-no-unused-arguments");
    clang.arg(format!("--sysroot={}", toolchain::sysroot()?.display()));
    clang.arg(format!("--ld-path={}", toolchain::tools()?.join("ld.lld").display()));
    clang.args(FLAGS).args(toolchain::FAT).args(SHAPE).args(toolchain::CXX_FLAGS).arg("-cxx-isystem").arg(toolchain::cxx()?);
    clang.arg("--end-no-unused-arguments");
    clang.args(&words[files..]);
    Err(missing(clang.exec(), CLANG, toolchain::INSTALL))
}
