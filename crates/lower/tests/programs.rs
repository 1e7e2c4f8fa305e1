//! Each program of `tests/programs` at each optimisation level, by each compiler: same output and status as natively.

use std::path::{Path, PathBuf};

use crate::native::{compile, compilers, interpret, lower_source, run};

/// Far more than any of the programs takes.
const STEPS: u64 = 20_000_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn check(compiler: &str, flags: &[&str], name: &str) {
    let source = folder().join(name);
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let native = run(&compile(compiler, flags, &source, &scratch.path().join("program"))).expect("the program ends by itself");
    let ours = interpret(lower_source(compiler, flags, &source, scratch.path()), STEPS);
    match ours {
        Ok(Some(ours)) => assert_eq!(ours, native, "{compiler} {flags:?} {name}"),
        Ok(None) => panic!("{compiler} {flags:?} {name}: too many steps"),
        Err(why) => panic!("{compiler} {flags:?} {name}: {why}"),
    }
}

fn check_everywhere(name: &str) {
    for (i, compiler) in compilers().iter().enumerate() {
        let levels: &[&str] = if i == 0 { &["-O0", "-O1", "-O2", "-O3"] } else { &["-O0", "-O2"] };
        for level in levels {
            check(compiler, &[level], name);
        }
    }
    check("clang-22", &["-O2", "-g", "-fPIC"], name);
    check("clang-22", &["-Os", "-no-pie", "-march=haswell", "-ffp-contract=off"], name);
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check_everywhere(concat!(stringify!($name), ".c")); })*

        #[test]
        fn every_program_has_a_test() {
            let entries = std::fs::read_dir(folder()).expect("the folder is there");
            let mut files: Vec<_> = entries.map(|f| f.expect("an entry").file_name().into_string().expect("ASCII")).collect();
            files.sort();
            assert_eq!(files, [$(concat!(stringify!($name), ".c")),*]);
        }
    };
}

programs! { atomics builtins control floats integers memory structures variadic vectors }
