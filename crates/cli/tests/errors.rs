//! Bad input: each case ends with exit code 2 and an error that says what is wrong and what to do.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
const PROGRAM: &str = "int main(void) { return 0; }\n";

fn wryneck(dir: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(dir).args(words).output().expect("the tool was built")
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room")
}

/// Runs and expects exit code 2 and an error with these parts, of which the first is its beginning.
#[track_caller]
fn refused(dir: &Path, words: &[&str], parts: &[&str]) {
    let out = wryneck(dir, words);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
    assert!(said.starts_with(&format!("error: {}", parts[0])), "{words:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{words:?}: `{part}` is missing: {said}");
    }
}

#[track_caller]
fn clang(dir: &Path, source: &str, flags: &[&str], out: &str) {
    fs::write(dir.join("source.c"), source).expect("there is room");
    let done = Command::new("clang-22").current_dir(dir).args(flags).args(["source.c", "-o", out]).status().expect("clang-22 is installed");
    assert!(done.success());
}

#[test]
fn files_that_are_no_programs() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("text.bc"), "hello, this is a text\n").expect("there is room");
    refused(dir, &["run", "text.bc"], &["`text.bc`: ", "help: "]);
    fs::write(dir.join("empty.bc"), "").expect("there is room");
    refused(dir, &["run", "empty.bc"], &["`empty.bc`: the file is empty", "help: "]);
    refused(dir, &["run", "missing.bc"], &["cannot read `missing.bc`", "No such file"]);
    refused(dir, &["run", "missing.c"], &["cannot read `missing.c`"]);
    fs::write(dir.join("program.exe"), "MZ").expect("there is room");
    refused(dir, &["run", "program.exe"], &["`program.exe` is not a `.c`, `.cc`, `.rs`, `.bc` or `.ll` file", "help: compile with"]);
    refused(dir, &["run", "gone"], &["cannot read `gone`", "No such file"]);
    clang(dir, PROGRAM, &["-c"], "object.bc");
    refused(dir, &["run", "object.bc"], &["`object.bc`: this is", "not LLVM bitcode", "help: compile with `clang -c -emit-llvm`"]);
}

#[test]
fn a_tool_alone_finds_what_was_set_up() {
    use std::os::unix::fs::{DirBuilderExt, symlink};
    let dir = scratch();
    let dir = dir.path();
    fs::DirBuilder::new().mode(0o700).create(dir.join("cache")).expect("there is room");
    fs::copy(WRYNECK, dir.join("tool")).expect("there is room");
    fs::write(dir.join("p.c"), PROGRAM).expect("there is room");
    let run = || {
        let mut tool = Command::new(dir.join("tool"));
        tool.current_dir(dir).env("WRYNECK_CACHE", dir.join("cache")).args(["run", "--no-libc", "--no-replay", "p.c"]);
        tool.output().expect("it was copied")
    };
    let out = run();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(2) && said.contains("wryneck-lower` is missing") && said.contains("`wryneck setup`"), "{said}");
    fs::DirBuilder::new().mode(0o700).create(dir.join("cache/setup")).expect("there is room");
    let built = Path::new(WRYNECK).with_file_name("wryneck-lower");
    symlink(built, dir.join("cache/setup/wryneck-lower")).expect("there is room");
    let out = run();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    refused(dir, &["setup", "--source", "."], &["`.` is not the repository of wryneck", "help: "]);
    refused(dir, &["setup", "now"], &["`now` is one word too many"]);
}

#[test]
fn overflow_that_the_target_cannot_show() {
    let dir = scratch();
    let dir = dir.path();
    clang(dir, PROGRAM, &["-c", "-emit-llvm"], "good.bc");
    clang(dir, PROGRAM, &[], "program");
    for class in ["unsigned", "conversions", "all"] {
        refused(dir, &["run", "--overflow", class, "good.bc"], &["`--overflow ", "needs C source", "help: give the `.c` file"]);
    }
    refused(dir, &["run", "--overflow", "signed", "./program"], &["`--overflow` cannot be used with machine code", "help: leave out"]);
    refused(
        dir,
        &["run", "--overflow", "sined", "good.bc"],
        &["`--overflow sined`: not one of `signed`, `unsigned`, `conversions`, `all`"],
    );
    refused(dir, &["probe", "--overflow", "", "--all", "good.bc"], &["`--overflow `: not one of"]);
}

#[test]
fn functions_whose_results_cannot_be_input() {
    let dir = scratch();
    let dir = dir.path();
    let source = "char *name(void); void go(void); int main(void) { go(); return name() != 0; }\n";
    clang(dir, source, &["-c", "-emit-llvm"], "good.bc");
    let refusals = [
        ("", "`` is no name of a function"),
        ("rand,", "`` is no name"),
        ("rand:4", "`rand` takes no size, only `getenv` does"),
        ("getenv:0", "the size of a variable is a number from 1 to 4096"),
        ("a b", "`a b` is no name of a function"),
        ("missing", "the program does not call a function of this name"),
        ("name", "it returns a pointer"),
        ("go", "it returns nothing"),
    ];
    for (names, why) in refusals {
        refused(dir, &["run", "good.bc", "--sym-calls", names], &[&format!("`--sym-calls {names}`: "), why, "help: "]);
    }
    refused(dir, &["run", "good.bc", "--sym-calls"], &["`--sym-calls` lacks its names"]);
}

#[test]
fn bitcode_that_is_damaged_or_of_another_machine() {
    let dir = scratch();
    let dir = dir.path();
    clang(dir, PROGRAM, &["-c", "-emit-llvm"], "good.bc");
    let good = fs::read(dir.join("good.bc")).expect("it was made");
    for cut in [good.len() / 2, good.len() - 5] {
        fs::write(dir.join("cut.bc"), &good[..cut]).expect("there is room");
        refused(dir, &["run", "cut.bc"], &["`cut.bc`: ", "help: "]);
    }
    clang(dir, PROGRAM, &["-c", "-emit-llvm", "--target=aarch64-linux-gnu"], "arm.bc");
    refused(dir, &["run", "arm.bc"], &["`arm.bc`: the module is for target `aarch64", "help: compile with `--target=x86_64"]);
}

#[test]
fn programs_without_a_beginning() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("f.c"), "int f(int x) { return x; }\n").expect("there is room");
    refused(dir, &["run", "f.c"], &["the program has no function `main`", "`--entry NAME`", "`f`"]);
    refused(dir, &["run", "--entry", "g", "f.c"], &["the program has no function `g`", "it defines `f`"]);
    let out = wryneck(dir, &["run", "--quiet", "--entry", "f", "f.c"]);
    assert!(matches!(out.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn source_that_does_not_compile_is_answered_in_clang_s_words() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("bad.c"), "int main(void) { return x; }\n").expect("there is room");
    refused(dir, &["run", "bad.c"], &["`bad.c` does not compile:", "bad.c:1:25: error: use of undeclared identifier 'x'"]);
}

#[test]
fn command_lines_that_cannot_be_meant() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("p.c"), PROGRAM).expect("there is room");
    refused(
        dir,
        &["run", "p.c", "--sym-args", "3", "1", "2"],
        &["`--sym-args 3 1 2` asks for at least 3 and at most 1", "`--sym-args 1 3 2`"],
    );
    refused(dir, &["run", "p.c", "--sym-args", "1", "2"], &["`--sym-args` lacks its N", "write `--sym-args MIN MAX N`"]);
    refused(dir, &["run", "p.c", "--sym-arg", "x"], &["`--sym-arg`: N is `x`"]);
    refused(dir, &["run", "p.c", "--sym-argz", "3"], &["`--sym-argz` is no symbolic input", "write `--sym-arg`"]);
    refused(dir, &["run", "p.c", "--sym-arg=3"], &["`--sym-arg=3` is no symbolic input", "write `--sym-arg 3`"]);
    refused(
        dir,
        &["run", "p.c", "--max-time", "3s"],
        &["`--max-time` comes after the target", "write `wryneck run --max-time TIME TARGET"],
    );
    refused(dir, &["run", "--max-time", "soon", "p.c"], &["`--max-time soon`: not a time"]);
    refused(dir, &["run", "--max-tme", "3s", "p.c"], &["the option `--max-tme` is unknown", "did you mean `--max-time`"]);
    refused(dir, &["run", "-j", "0", "p.c"], &["`-j 0`: a run has at least one worker"]);
    refused(dir, &["verify", "-j", "2", "p.c"], &["`-j 2` cannot be used with `verify` with pruning", "`verify --prune off`"]);
    refused(dir, &["run", "-j", "2", "--find", "main", "p.c"], &["`-j 2` cannot be used with `--find`", "leave out `-j`"]);
    refused(dir, &["run"], &["no target is given"]);
    refused(dir, &["walk"], &["`walk` is not a command"]);
    refused(dir, &["replay", "p.c"], &["`p.c` does not lie in a run folder"]);
}

#[test]
fn output_that_cannot_be_written() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("p.c"), PROGRAM).expect("there is room");
    refused(dir, &["run", "--output", "/proc/nowhere", "p.c"], &["cannot write `/proc/nowhere`", "`--output DIR`"]);
    refused(dir, &["run", "--output", "p.c", "p.c"], &["cannot write `p.c`"]);
    refused(dir, &["run", "--output", ".", "p.c"], &["the output folder `.` is not empty"]);
}

#[test]
fn a_full_disk_is_told() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("p.c"), PROGRAM).expect("there is room");
    // A limit on the size of files stops the database as a full disk does; the signal is ignored so that writing fails instead.
    let command = format!("trap '' XFSZ; ulimit -f 16; exec {WRYNECK} run --output out p.bc");
    clang(dir, PROGRAM, &["-c", "-g", "-emit-llvm"], "p.bc");
    let first = wryneck(dir, &["run", "--quiet", "--output", "warm", "p.bc"]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let out = Command::new("bash").current_dir(dir).args(["-c", &command]).output().expect("there is a shell");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write `out/run.db`") && said.contains("disk full"), "{said}");
}

#[test]
fn tools_that_are_missing() {
    let dir = scratch();
    let dir = dir.path();
    fs::write(dir.join("p.c"), PROGRAM).expect("there is room");
    let no_path = Command::new(WRYNECK).current_dir(dir).env("PATH", "/nowhere").args(["run", "p.c"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&no_path.stderr);
    assert_eq!(no_path.status.code(), Some(2));
    assert!(said.contains("the tool `clang-22` is not installed") && said.contains("help: install Debian's `clang-22`"), "{said}");
    let alone = dir.join("wryneck");
    fs::copy(WRYNECK, &alone).expect("there is room");
    clang(dir, PROGRAM, &["-c", "-emit-llvm"], "p.bc");
    let out = Command::new(&alone).current_dir(dir).args(["run", "p.bc"]).output().expect("it was copied");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("wryneck-lower` is missing") && said.contains("cargo build --release -p wryneck-lower"), "{said}");
    let cache = dir.join("cache");
    fs::write(dir.join("libc.c"), "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n").expect("there is room");
    let out =
        Command::new(WRYNECK).current_dir(dir).env("WRYNECK_CACHE", &cache).args(["run", "libc.c"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("the C library is not set up") && said.contains("cargo xtask setup libc"), "{said}");
}
