//! Each program makes system calls and prints what they give; the engine's output must be the kernel's, byte for byte.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wryneck_environ::{ProgramInput, Stdin};
use wryneck_exec::PathEnd;

use crate::engine::{Native, explore};

const INPUT: &[u8] = b"the input\nof the program\n";

/// What each program finds in its working directory.
fn furnish(directory: &Path) {
    fs::write(directory.join("file"), "contents of the file\n").expect("a file");
    fs::create_dir(directory.join("dir")).expect("a directory");
    fs::write(directory.join("dir/inner"), "inner\n").expect("a file");
    std::os::unix::fs::symlink("file", directory.join("link")).expect("a link");
    fs::set_permissions(directory.join("file"), fs::Permissions::from_mode(0o640)).expect("permissions");
    fs::set_permissions(directory.join("dir"), fs::Permissions::from_mode(0o755)).expect("permissions");
}

fn same_as_kernel(program: &str) {
    let (real, ours, outside) = (tempfile::tempdir(), tempfile::tempdir(), tempfile::tempdir());
    let (real, ours, outside) = (real.expect("made"), ours.expect("made"), outside.expect("made"));
    furnish(real.path());
    furnish(ours.path());
    let stdin = outside.path().join("stdin");
    fs::write(&stdin, INPUT).expect("the input");
    let (stdout, code) = Native::new(program).run(real.path(), &stdin, &[]);
    let input = ProgramInput { stdin: Stdin::Bytes(INPUT.to_vec()), ..ProgramInput::default() };
    let explored = explore(program, input, ours.path());
    let [end] = explored.ends.as_slice() else { panic!("one path, not {}", explored.ends.len()) };
    assert!(stdout.len() > 100, "the program says something: {stdout}");
    assert_eq!(end.stdout, stdout);
    assert_eq!(end.end, PathEnd::Exit(code.expect("it exits") as u8));
    let mut left: Vec<_> = fs::read_dir(ours.path()).expect("listed").map(|e| e.expect("an entry").file_name()).collect();
    left.sort();
    assert_eq!(left, ["dir", "file", "link"], "the real file system is not written");
}

#[test]
fn descriptors() {
    same_as_kernel("programs/descriptors.c");
}

#[test]
fn files() {
    same_as_kernel("programs/files.c");
}

#[test]
fn directories() {
    same_as_kernel("programs/directories.c");
}

#[test]
fn process_and_memory() {
    same_as_kernel("programs/process.c");
}

#[test]
fn library_functions() {
    same_as_kernel("programs/library.c");
}

#[test]
fn watched_descriptors() {
    same_as_kernel("programs/epoll.c");
}
