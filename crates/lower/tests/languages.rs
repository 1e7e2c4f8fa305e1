//! C++ and Rust without unwinding, and LLVM's own text, end as they end natively.

#![expect(clippy::disallowed_methods, reason = "continuous integration tells a test by the environment")]

use std::path::Path;
use std::process::Command;

use crate::native::{End, interpret, lower, run};

fn make(command: &str, args: &[&str], out: &Path) {
    let output = Command::new(command).args(args).arg("-o").arg(out).output().unwrap_or_else(|e| panic!("{command}: {e}"));
    assert!(output.status.success(), "{command} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn check(what: &str, native: &Path, bitcode: &Path) {
    let native: End = run(native).expect("the program ends by itself");
    match interpret(lower(bitcode), 5_000_000) {
        Ok(Some(ours)) => assert_eq!(ours, native, "{what}"),
        Ok(None) => panic!("{what}: too many steps"),
        Err(why) => panic!("{what}: {why}"),
    }
}

#[test]
fn cpp() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/languages/classes.cpp");
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let (native, bitcode) = (scratch.path().join("native"), scratch.path().join("program.bc"));
        let flags = ["-w", "-fno-exceptions", level, source];
        make("clang++-22", &flags, &native);
        make("clang++-22", &[&flags[..], &["-c", "-emit-llvm"]].concat(), &bitcode);
        check(level, &native, &bitcode);
    }
}

/// The LLVM that rustc is built on; a newer one than ours writes bitcode that we cannot read.
fn rustc_llvm() -> u32 {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().find_map(|l| l.strip_prefix("LLVM version: ")).unwrap_or_default();
    version.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[test]
fn rust() {
    if rustc_llvm() > wryneck_lower::ffi::version()[0] {
        assert!(std::env::var_os("CI").is_none(), "this rustc writes bitcode of a newer LLVM than the one that reads it");
        return;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/languages/numbers.rs");
    for level in ["opt-level=0", "opt-level=1", "opt-level=3"] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let (native, bitcode) = (scratch.path().join("native"), scratch.path().join("program.bc"));
        let flags = ["-C", "panic=abort", "-C", level, "-C", "overflow-checks=off", "--edition=2021", source];
        make("rustc", &[&flags[..], &["-C", "link-arg=-lc"]].concat(), &native);
        make("rustc", &[&flags[..], &["--emit=llvm-bc", "-C", "codegen-units=1"]].concat(), &bitcode);
        check(level, &native, &bitcode);
    }
}

#[test]
fn llvm_text() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/languages/intrinsics.ll");
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (native, bitcode) = (scratch.path().join("native"), scratch.path().join("program.bc"));
    make("clang-22", &["-w", "-O0", source, "-lm"], &native);
    check("as written", &native, Path::new(source));
    make("clang-22", &["-w", "-O2", "-c", "-emit-llvm", source], &bitcode);
    check("optimised", &native, &bitcode);
}
