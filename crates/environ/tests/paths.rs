//! Symbolic paths against the real kernel: each string that one may be ends as natively, and none is left out.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use wryneck_environ::{Arg, ProgramInput};
use wryneck_exec::{Config, PathEnd};

use crate::engine::{Explored, Native, explore_with};

const PROGRAM: &str = "symbolic/paths.c";
/// How the program ends for strings that are none of the alphabet's, or that it would rather not try natively.
const OTHER: u8 = 77;
/// All letters that matter.
const ALL: &str = "Adlx./";

/// A working directory, the only file in another one.
struct Furnished(tempfile::TempDir);

impl Furnished {
    fn new() -> Furnished {
        let furnished = Furnished(tempfile::tempdir().expect("a directory"));
        let directory = furnished.path();
        fs::create_dir_all(directory.join("d")).expect("directories");
        for file in ["A", "d/A"] {
            fs::write(directory.join(file), file).expect("a file");
        }
        symlink("d", directory.join("l")).expect("a link");
        furnished
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("w")
    }
}

fn explored(how: char, alphabet: &str, length: u32, config: Config) -> Explored {
    let how = how.to_string().into_bytes();
    let args = vec![Arg::Symbolic(length), Arg::Concrete(how), Arg::Concrete(alphabet.into())];
    explore_with(PROGRAM, ProgramInput { args, ..ProgramInput::default() }, &Furnished::new().path(), config)
}

/// All strings of up to so many letters.
fn strings(alphabet: &str, length: u32) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut first = 0;
    for _ in 0..length {
        let longest = all[first..].to_vec();
        first = all.len();
        all.extend(longest.iter().flat_map(|s| alphabet.chars().map(move |letter| format!("{s}{letter}"))));
    }
    all
}

fn same_as_kernel(how: char, alphabet: &str, length: u32) {
    let explored = explored(how, alphabet, length, Config::default());
    let mut outputs = BTreeMap::new();
    for end in explored.ends {
        match end.end {
            PathEnd::Exit(OTHER) => {}
            PathEnd::Exit(0) => {
                let path = end.stdout.lines().find_map(|line| line.strip_prefix("path: ")).expect("it spells the path").to_owned();
                assert!(outputs.insert(path.clone(), end.stdout).is_none(), "`{path}` twice");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(!explored.ledger.iter().any(|row| row.starts_with("DroppedFlip")), "{:?}", explored.ledger);
    let (native, how) = (Native::new(PROGRAM), how.to_string());
    let mut wrong = Vec::new();
    for path in strings(alphabet, length) {
        let (stdout, code) = native.run(&Furnished::new().path(), Path::new("/dev/null"), &[&path, &how, alphabet]);
        match code {
            Some(0) => match outputs.remove(&path) {
                Some(ours) if ours == stdout => {}
                ours => wrong.push(format!("`{path}`: {stdout} but here {}", ours.unwrap_or("nothing".into()))),
            },
            code => assert_eq!(code, Some(OTHER.into()), "`{path}`"),
        }
    }
    assert!(wrong.is_empty(), "{} strings: {}", wrong.len(), wrong.join("\n"));
    assert_eq!(outputs.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "strings that are none");
}

#[test]
fn files_are_looked_up() {
    same_as_kernel('l', ALL, 3);
    same_as_kernel('l', "A./x", 5);
}

#[test]
fn files_are_opened_or_made() {
    same_as_kernel('o', ALL, 3);
    same_as_kernel('o', "./x", 5);
    same_as_kernel('x', ALL, 3);
}

#[test]
fn directories_are_made() {
    same_as_kernel('m', ALL, 3);
    same_as_kernel('m', "d/x", 4);
    same_as_kernel('p', "x./", 2);
    same_as_kernel('M', ALL, 3);
}

#[test]
fn names_are_removed() {
    same_as_kernel('u', ALL, 3);
    same_as_kernel('r', ALL, 3);
}

#[test]
fn links_are_made() {
    same_as_kernel('k', ALL, 3);
    same_as_kernel('s', ALL, 3);
    same_as_kernel('t', ALL, 3);
}

#[test]
fn files_are_renamed() {
    same_as_kernel('n', ALL, 3);
    same_as_kernel('N', ALL, 3);
    same_as_kernel('f', ALL, 3);
}

#[test]
fn the_working_directory_changes() {
    same_as_kernel('c', ALL, 3);
}

/// Compaction at every step, running every prefix again from the start, and keeping flips that cannot be change nothing.
#[test]
fn symbolic_names_survive_compaction_and_replay() {
    let outputs = |config: Config| {
        let mut ends: Vec<_> = explored('n', "Ax", 2, config).ends.into_iter().map(|end| (format!("{:?}", end.end), end.stdout)).collect();
        ends.retain(|(_, stdout)| stdout.contains("path: "));
        ends.sort();
        ends
    };
    let plain = outputs(Config::default());
    assert!(plain.len() > 5, "{} paths", plain.len());
    for config in [
        Config { compact_above: 1, ..Config::default() },
        Config { snapshots: false, ..Config::default() },
        Config { own_snapshots: 0, ..Config::default() },
        Config { quick_checks: false, keep_infeasible_flips: true, ..Config::default() },
    ] {
        assert_eq!(outputs(config), plain);
    }
}

/// What is not known of the host is assumed, and said: a directory with a name that the path might be.
#[test]
fn assumptions_are_listed() {
    let assumed = |length: u32| {
        let ledger = explored('l', "x", length, Config::default()).ledger;
        ledger.into_iter().filter(|row| row.starts_with("Assumption")).collect::<Vec<_>>()
    };
    assert_eq!(assumed(1), Vec::<String>::new());
    let longer = assumed(5);
    assert!(
        longer.iter().any(|row| row == "Assumption: a symbolic path names no file in `/` that the run has not come across"),
        "{longer:?}"
    );
}
