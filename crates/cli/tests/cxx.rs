//! C++: each program of `tests/cxx` reads a byte. What it prints and how it ends, compiled by `wryneck c++` and explored, is what it does for all
//! bytes natively, compiled by g++ against the host's C++ library; and all its tests replay to the same end.
//!
//! The programs there need the small C++ library, and are explored with it alone. Those of `tests/cxx/whole` need `wryneck deps libc++`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
const ABORTED: i32 = -6;

/// Status and output.
type End = (i32, String);

fn native(source: &Path, dir: &Path) -> BTreeSet<End> {
    let program = dir.join("native");
    let built =
        Command::new("g++").args(["-w", "-std=c++20", "-pthread", "-o"]).arg(&program).arg(source).status().expect("g++ is installed");
    assert!(built.success(), "{}", source.display());
    let end = |byte: u8| {
        let mut child = Command::new(&program)
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("it is piped").write_all(&[byte]).expect("it reads");
        let out = child.wait_with_output().expect("it ends");
        (out.status.code().unwrap_or_else(|| -out.status.signal().unwrap_or(0)), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    (0..=255).map(end).collect()
}

/// The tool in a folder; with the small C++ library if the folder has a cache of its own.
fn wryneck(dir: &Path) -> Command {
    let mut tool = Command::new(WRYNECK);
    tool.current_dir(dir);
    if dir.join("cache").is_dir() {
        tool.env("WRYNECK_CACHE", dir.join("cache"));
    }
    tool
}

/// A folder with a cache of its own, which has the C library of the user's.
fn small() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("there is room");
    let home = || PathBuf::from(std::env::var_os("HOME").expect("there is one")).join(".cache/wryneck");
    let theirs = std::env::var_os("WRYNECK_CACHE").map_or_else(home, PathBuf::from);
    fs::DirBuilder::new().mode(0o700).create(dir.path().join("cache")).expect("there is room");
    symlink(theirs.join("libc.bc"), dir.path().join("cache/libc.bc")).expect("there is room");
    dir
}

/// The ends of all paths of a program, and the messages of findings.
fn explored(source: &Path, dir: &Path, level: &str) -> (BTreeSet<End>, BTreeSet<String>) {
    let built = wryneck(dir).args(["c++", "-w", "-std=c++20", level, "-o", "program"]).arg(source).output();
    let built = built.expect("the tool was built");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    explored_as(source, dir, &format!("out{level}"), &["program"])
}

/// The same where these are the target and the options before it.
fn explored_as(source: &Path, dir: &Path, folder: &str, target: &[&str]) -> (BTreeSet<End>, BTreeSet<String>) {
    let out = dir.join(folder);
    let tool = |words: &[&str]| wryneck(dir).args(words).output().expect("the tool was built");
    let done = tool(&[&["run", "--json", "--emit", "all", "--output", folder], target, &["--sym-stdin", "1"]].concat());
    let run: serde_json::Value = serde_json::from_slice(&done.stdout).expect("it is JSON");
    // Threads have other orders, which the programs do not depend on.
    let is_whole = done.status.code() != Some(3) || run["losses"] == serde_json::json!(["thread order"]);
    assert!(is_whole && done.status.code() != Some(2), "{}: {run}", source.display());
    let replayed = tool(&["replay", folder]);
    let words = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(words.ends_with(" same end, 0 different end, 0 cannot replay\n"), "{words}");
    let findings = run["findings"].as_array().into_iter().flatten();
    let messages = findings.map(|finding| finding["message"].as_str().unwrap_or_default().to_owned()).collect();
    let mut ends = BTreeSet::new();
    for file in fs::read_dir(&out).expect("the run made it").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.starts_with("test") || !name.ends_with(".json") {
            continue;
        }
        let test: serde_json::Value = serde_json::from_slice(&fs::read(file.path()).expect("it is there")).expect("it is JSON");
        let bytes: Vec<u8> = test["stdout"].as_array().into_iter().flatten().filter_map(|b| b.as_u64()).map(|b| b as u8).collect();
        let what = test["what"].as_str().unwrap_or_default();
        let status = if test["class"] == "exit" { what.parse().unwrap_or(-1) } else { ABORTED };
        ends.insert((status, String::from_utf8_lossy(&bytes).into_owned()));
    }
    (ends, messages)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cxx").join(name).canonicalize().expect("the repository has it")
}

fn check(name: &str, messages: &[&str]) {
    compare(&source(name), &small(), messages);
}

fn compare(source: &Path, dir: &tempfile::TempDir, messages: &[&str]) {
    let name = source.display();
    let native = native(source, dir.path());
    for level in ["-O0", "-O2"] {
        let (ours, said) = explored(source, dir.path(), level);
        assert_eq!(ours, native, "{name} {level}");
        assert_eq!(said.iter().map(String::as_str).collect::<Vec<_>>(), messages, "{name} {level}");
    }
}

/// What nobody catches is a finding for each place that throws it, though the library ends the program at one place.
#[test]
fn each_uncaught_exception_is_found() {
    check(
        "uncaught.cc",
        &["terminate called: uncaught int", "terminate called: uncaught std::length_error", "terminate called: uncaught std::out_of_range"],
    );
}

/// Optimised code has copies of what the library has. They are the library's, as the linker says.
#[test]
fn what_optimised_code_leaves_to_the_library_is_there() {
    check("library.cc", &[]);
    let source = source("library.cc");
    let dir = small();
    let target = ["--cc-flag=-O2", "--cc-flag=-std=c++20", &source.to_string_lossy()];
    assert_eq!(explored_as(&source, dir.path(), "out", &target).0, native(&source, dir.path()));
}

/// A thread's variables are destroyed, and gcc's unwinder finds what it calls, though this program needs none of it.
#[test]
fn executables_throw_and_end_natively() {
    let dir = small();
    let text = "#include <stdexcept>\n#include <unistd.h>\nstruct T { ~T() { write(1, \"gone\\n\", 5); } };\nthread_local T t;\n\
        int main() { (void)&t; try { throw std::range_error(\"caught\\n\"); } catch (std::exception &e) { write(1, e.what(), 7); } }\n";
    fs::write(dir.path().join("p.cc"), text).expect("there is room");
    let built = wryneck(dir.path()).args(["c++", "p.cc", "-o", "p"]).output().expect("the tool was built");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(dir.path().join("p")).output().expect("it starts");
    assert_eq!((ran.status.code(), String::from_utf8_lossy(&ran.stdout).as_ref()), (Some(0), "caught\ngone\n"));
    let lifted = wryneck(dir.path()).args(["run", "--machine-code", "--output", "out", "./p"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&lifted.stdout).into_owned() + &String::from_utf8_lossy(&lifted.stderr);
    assert!(said.contains("1  exit 0") && said.contains("every path was explored"), "{said}");
}

#[test]
fn functions_that_the_program_lists_run_at_its_start_and_end() {
    check("arrays.cc", &[]);
}

#[test]
fn depth_is_told_by_addresses_of_frames() {
    check("frames.cc", &[]);
}

/// `operator delete` frees by `free`, which is no second event.
#[test]
fn memory_is_freed_once_by_delete() {
    let dir = small();
    fs::write(dir.path().join("p.cc"), "int main() { int *p = new int(3), *q = new int[4]; delete p; delete[] q; }")
        .expect("there is room");
    let tool = |words: &[&str]| wryneck(dir.path()).args(words).output().expect("the tool was built");
    assert!(tool(&["c++", "-w", "-g", "p.cc", "-o", "p"]).status.success());
    for (folder, front) in [("bitcode", &[][..]), ("machine", &["--machine-code"])] {
        let words = [&["verify", "--rule", "memory-leak", "--output", folder], front, &["./p", "--sym-arg", "1"]].concat();
        let done = tool(&words);
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("VERIFIED"), "{folder}: {said}");
    }
}

/// What `new[]` made and `delete` frees, and the other way round, is found and shows natively.
#[test]
fn arrays_are_deleted_as_arrays() {
    let dir = small();
    let text = "#include <memory>\n#include <new>\n#include <string>\n#include <unistd.h>\nstruct alignas(64) Wide { char c; };\nstruct D { ~D() {} };\nint main() {\n  \
        char in = 0;\n  read(0, &in, 1);\n  switch (in) {\n  \
        case 'a': delete new int[3];\n    break;\n  \
        case 'b': delete[] new int(3);\n    break;\n  \
        case 'c': operator delete(new (std::nothrow) char[9], std::nothrow);\n    break;\n  \
        case 'd': delete[] new (std::align_val_t(64)) Wide;\n    break;\n  \
        default:\n    delete[] new D[3]; delete new D; delete[] new Wide[2]; delete new Wide;\n    \
        delete[] new (std::nothrow) int[2]; operator delete(operator new(3, std::nothrow)); delete (int *)nullptr; delete[] (int *)nullptr;\n    \
        std::unique_ptr<int[]> p(new int[in & 3]); std::string s(40, in); std::make_shared<int>(in);\n  }\n}\n";
    fs::write(dir.path().join("p.cc"), text).expect("there is room");
    let tool = |words: &[&str]| wryneck(dir.path()).args(words).output().expect("the tool was built");
    assert!(tool(&["c++", "-w", "-g", "-std=c++20", "p.cc", "-o", "p"]).status.success());
    for (folder, target) in [("carried", "./p"), ("source", "p.cc")] {
        let done = tool(&["run", "--json", "--output", folder, target, "--sym-stdin", "1"]);
        let run: serde_json::Value = serde_json::from_slice(&done.stdout).expect("it is JSON");
        let findings = run["findings"].as_array().expect("they are listed").iter();
        let said: BTreeSet<String> =
            findings.map(|f| format!("{}, {}", f["message"].as_str().unwrap_or_default(), f["native"]["verdict"])).collect();
        let expected = [(12, 11, "delete", "new[]"), (4, 13, "delete[]", "new"), (9, 15, "delete", "new[]"), (64, 17, "delete[]", "new")];
        let message = |(bytes, line, by, made): (u32, u32, &str, &str)| {
            format!("free of a heap object ({bytes} bytes) allocated at p.cc:{line}, by `{by}`, though `{made}` made it, \"reproduced\"")
        };
        assert_eq!(said, expected.map(message).into(), "{folder}");
        assert_eq!(run["every_path"], true, "{folder}");
    }
}

/// A program's own operators may take memory from where they like, and give it to those of the library.
#[test]
fn operators_of_the_program_mix_with_the_library_s() {
    let dir = small();
    let rest = "#include <memory>\n#include <new>\n#include <vector>\n#include <cstdlib>\n#include <unistd.h>\nstruct T { int i; ~T() {} };\nint main() {\n  \
        char in = 0;\n  read(0, &in, 1);\n  delete new T; delete[] new T[2]; delete new (std::nothrow) int; delete[] new (std::nothrow) int[2];\n  \
        std::vector<int> v(in & 3); std::make_shared<T>();\n  return 7;\n}\n";
    let new = "void *operator new(size_t n) { return malloc(n + 1); }\n";
    let delete = "void operator delete(void *p) noexcept { free(p); }\n";
    let array = "void *operator new[](size_t n) { return malloc(n + 1); }\n";
    for (number, own) in [new, delete, array, &[new, delete].concat()].iter().enumerate() {
        fs::write(dir.path().join("p.cc"), format!("#include <stdlib.h>\n{own}{rest}")).expect("there is room");
        let folder = format!("out{number}");
        let tool = |words: &[&str]| wryneck(dir.path()).args(words).output().expect("the tool was built");
        assert!(tool(&["c++", "-w", "-g", "p.cc", "-o", "p"]).status.success());
        let done = tool(&["run", "--output", &folder, "./p", "--sym-stdin", "1"]);
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(0) && said.contains("exit 7"), "{own}{said}");
    }
}

/// Where memory came from and went is said by lines of the program, not of the library or its headers.
#[test]
fn memory_is_allocated_and_freed_at_lines_of_the_program() {
    let dir = small();
    let text = "#include <unistd.h>\n#include <vector>\nint main() {\n  char in;\n  if (read(0, &in, 1) != 1) return 1;\n  std::vector<int> v(3);\n\
        const int *first = v.data();\n  if (in == 'b') return first[3];\n  if (in == 'f')\n    v.reserve(9);\n  return *first;\n}\n";
    fs::write(dir.path().join("p.cc"), text).expect("there is room");
    let done = wryneck(dir.path()).args(["run", "p.cc", "--sym-stdin", "1"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    for message in ["a heap object (12 bytes) allocated at p.cc:6 (", "a heap object (12 bytes) allocated at p.cc:6, freed at p.cc:10 ("] {
        assert!(said.contains(message), "{said}");
    }
}

/// A source is a target as it is, alone or with others; a finding has the line of the program that throws, not the library's.
#[test]
fn sources_of_cxx_are_targets() {
    let dir = small();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("there is room");
    let (declared, defined) =
        ("#include <vector>\nint sum(const std::vector<int> &);\n", "{ int s = 0; for (int i : v) s += i; return s; }\n");
    let main = "#include <unistd.h>\nint main() {\n  char in[2];\n  if (read(0, in, 2) != 2) return 1;\n  std::vector<int> v(in, in + 2);\n  \
        return v.at(sum(v) & 3) > 0;\n}\n";
    let sum = format!("#include <vector>\nint sum(const std::vector<int> &v) {defined}");
    write("a.cc", &format!("{declared}{main}"));
    write("b.cpp", &sum);
    write("whole.cxx", &format!("{declared}{sum}{main}"));
    for targets in [&["whole.cxx"][..], &["a.cc", "b.cpp"]] {
        let words =
            [&["run", "--output"], &[targets[0].split('.').next().unwrap_or_default()][..], targets, &["--sym-stdin", "2"]].concat();
        let done = wryneck(dir.path()).args(&words).output().expect("the tool was built");
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        let line = if targets.len() == 1 { 10 } else { 8 };
        assert!(said.contains(&format!("{}:{line}:", targets[0])) && said.contains("uncaught std::out_of_range"), "{said}");
        assert!(said.contains("natively: reproduced") && said.contains("every path was explored"), "{said}");
    }
}

#[test]
fn handlers_take_what_they_take_natively() {
    check("handlers.cc", &["terminate called: uncaught double"]);
}

/// With all of libc++: streams, threads, files, text.
fn check_whole(name: &str) {
    let built = Command::new(WRYNECK).arg("deps").output().expect("the tool was built");
    let built = String::from_utf8_lossy(&built.stdout).into_owned();
    assert!(
        built.lines().any(|line| line.starts_with("libc++ ") && line.contains(" built ")),
        "run `wryneck deps libc++`, as `./test` does"
    );
    compare(&source(&format!("whole/{name}")), &tempfile::tempdir().expect("there is room"), &[]);
}

#[test]
fn streams_are_read_and_written_as_natively() {
    check_whole("streams.cc");
}

#[test]
fn threads_of_the_library_run_as_natively() {
    check_whole("threads.cc");
}

#[test]
fn texts_numbers_and_errors_are_as_natively() {
    check_whole("text.cc");
}

/// Who uses a stream without it is told what to do.
#[test]
fn what_the_small_library_lacks_is_named() {
    let dir = small();
    let uses =
        [("iostream", "std::cout << 1;"), ("sstream", "std::ostringstream s;"), ("mutex", "std::mutex m;"), ("thread", "std::thread t;")];
    for (header, statement) in uses {
        fs::write(dir.path().join("p.cc"), format!("#include <{header}>\nint main() {{ {statement} }}\n")).expect("there is room");
        let done = wryneck(dir.path()).args(["run", "p.cc"]).output().expect("the tool was built");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains("run `wryneck deps libc++` once"), "{said}");
    }
}
