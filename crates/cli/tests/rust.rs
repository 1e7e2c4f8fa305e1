//! Rust programs: as source and as cargo builds them, with unwinding and threads; each path's end is compared with the native one.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

fn program(name: &str) -> String {
    format!("{}/../../tests/rust/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn wryneck(folder: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(folder).args(words).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Explores to the end and replays each path natively; what the run said.
fn explored(folder: &Path, target: &str, words: &[&str]) -> String {
    let ran = wryneck(folder, &[&["run", "--emit", "all", "--output", "out", target], words].concat());
    let said = text(&ran.stdout);
    assert!(said.contains("every path was explored") || said.contains("thread order"), "{said}{}", text(&ran.stderr));
    let replayed = wryneck(folder, &["replay", "out"]);
    let summary = text(&replayed.stdout).lines().last().unwrap_or_default().to_owned();
    assert!(summary.contains(" same end, 0 different end"), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
    assert!(!summary.starts_with("0 same"), "{summary}");
    said
}

#[test]
fn unwinding_runs_what_is_to_be_dropped() {
    let folder = tempfile::tempdir().expect("there is room");
    let said = explored(folder.path(), &program("unwinding.rs"), &["--sym-stdin", "2"]);
    assert!(said.contains("fault[panic]"), "{said}");
}

#[test]
fn panics_that_nobody_catches_are_findings() {
    let folder = tempfile::tempdir().expect("there is room");
    let said = explored(folder.path(), &program("panics.rs"), &["--sym-stdin", "2"]);
    let source = fs::read_to_string(program("panics.rs")).expect("it is there");
    let line = |part: &str| 1 + source.lines().position(|line| line.contains(part)).expect("the line is there");
    for (part, reason) in [
        ("text[2]", "panic_bounds_check"),
        (".unwrap(),", "unwrap_failed"),
        ("100 / ", "panic_const_div_by_zero"),
        ("100 / ", "panic_const_sub_overflow"),
        ("text[1] + 250", "panic_const_add_overflow"),
        ("it is text", "unwrap_failed"),
        ("*cell.borrow()", "panic_already_mutably_borrowed"),
    ] {
        let place = format!("panics.rs:{}:", line(part));
        let found = said.split("fault[panic]").any(|finding| finding.contains(&format!("`{reason}")) && finding.contains(&place));
        assert!(found, "`{reason}` at {place}: {said}");
    }
    assert!(said.contains("exit 3"), "{said}");
    // A caught one is none: the bounds that `third` checks are found on the other way alone.
    assert_eq!(said.matches("natively: reproduced").count(), said.matches("fault[panic]").count(), "{said}");
}

/// Behind a panic that nobody catches the path goes on: what is dropped may exit, abort, or use freed memory.
#[test]
fn what_an_uncaught_panic_drops_runs() {
    let folder = tempfile::tempdir().expect("there is room");
    let said = explored(folder.path(), &program("dropped.rs"), &["--sym-stdin", "1"]);
    for end in ["exit 7", "exit 101", "fault abort", "fault use-after-free"] {
        assert!(said.contains(end), "{end}: {said}");
    }
}

/// Rust names symbols otherwise than functions.
#[test]
fn any_function_is_an_entry() {
    let folder = tempfile::tempdir().expect("there is room");
    let ran = wryneck(folder.path(), &["run", "--entry", "third", &program("panics.rs")]);
    let said = text(&ran.stdout);
    assert!(said.contains("in `third`") && said.contains("text[2]"), "{said}{}", text(&ran.stderr));
}

/// Nothing is replayed: natively such threads reach the limit of wall time under the schedule (docs/plan.md).
#[test]
fn threads_and_their_panics() {
    let folder = tempfile::tempdir().expect("there is room");
    let ran = wryneck(folder.path(), &["run", "--no-replay", &program("threads.rs"), "--sym-arg", "1"]);
    let said = text(&ran.stdout);
    assert!(said.contains("thread order") && said.contains("exit 0") && !said.contains("unsupported"), "{said}{}", text(&ran.stderr));
    // What `env::args` panics by is the program's; what a thread panics by is caught by `join`.
    assert!(!said.contains("the program panics: `panic_fmt`"), "{said}");
}

#[test]
fn source_that_does_not_compile_is_refused_in_the_compiler_s_words() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.rs"), "fn main() { nothing(); }").expect("there is room");
    let ran = wryneck(folder.path(), &["run", "a.rs"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(text(&ran.stderr).contains("cannot find function `nothing`"), "{}", text(&ran.stderr));
    let ran = wryneck(folder.path(), &["run", "--cc-flag=-O2", "a.rs"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(text(&ran.stderr).contains("`--cc-flag` is for C and C++"), "{}", text(&ran.stderr));
}

#[test]
fn what_cargo_builds_carries_its_bitcode() {
    let folder = tempfile::tempdir().expect("there is room");
    let write = |name: &str, content: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it has one")).expect("there is room");
        fs::write(file, content).expect("there is room");
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"tool\", \"part\"]\nresolver = \"2\"\n");
    write("part/Cargo.toml", "[package]\nname = \"part\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    write("part/src/lib.rs", "pub fn last(text: &str) -> char { text.chars().last().unwrap() }\n");
    let manifest =
        "[package]\nname = \"my-tool\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\npart = { path = \"../part\" }\n";
    write("tool/Cargo.toml", manifest);
    write("tool/build.rs", "fn main() { println!(\"cargo:rustc-env=BUILT=yes\"); }\n");
    let source = "fn main() {\n    let word = std::env::args_os().nth(1).unwrap();\n    let Some(word) = word.to_str() else { return };\n    \
        println!(\"{} {}\", env!(\"BUILT\"), part::last(word));\n}\n";
    write("tool/src/main.rs", source);
    for (profile, made) in [(&[][..], "target/debug/my-tool"), (&["--release"][..], "target/release/my-tool")] {
        let built = wryneck(folder.path(), &[&["build", "--", "cargo", "build", "--offline"], profile].concat());
        assert!(text(&built.stdout).contains(made) || text(&built.stderr).contains(made), "{}{}", text(&built.stdout), text(&built.stderr));
        fs::remove_dir_all(folder.path().join("out")).unwrap_or_default();
        let said = explored(folder.path(), made, &["--sym-arg", "1"]);
        assert!(said.contains("part/src/lib.rs:1:"), "{said}");
        assert!(said.contains("natively: reproduced"), "{said}");
    }
}
