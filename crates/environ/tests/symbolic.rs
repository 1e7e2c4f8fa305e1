//! What programs with symbolic input do: how many paths, which inputs, which ends.

use std::collections::BTreeSet;
use std::path::Path;

use wryneck_environ::{Arg, Entry, EnvValue, ProgramInput, Stdin, SymFile};
use wryneck_exec::{Config, FaultKind, PathEnd};

use crate::engine::{End, Explored, explore, explore_with};

fn run(program: &str, input: ProgramInput) -> Explored {
    let directory = tempfile::tempdir().expect("a directory");
    explore(program, input, directory.path())
}

fn exits(ends: &[End]) -> BTreeSet<u8> {
    let status = |e: &End| match e.end {
        PathEnd::Exit(status) => Some(status),
        _ => None,
    };
    ends.iter().filter_map(status).collect()
}

fn faults(ends: &[End]) -> Vec<FaultKind> {
    let kind = |e: &End| match &e.end {
        PathEnd::Fault(fault) => Some(fault.kind),
        _ => None,
    };
    let mut kinds: Vec<_> = ends.iter().filter_map(kind).collect();
    kinds.sort();
    kinds
}

fn names(end: &End) -> Vec<(&str, usize)> {
    end.inputs.iter().map(|(name, bytes)| (name.as_str(), bytes.len())).collect()
}

/// Arguments are named, sized and counted as KLEE's.
#[test]
fn arguments() {
    let args = vec![
        Arg::Several { min: 0, max: 2, len: 2 },
        Arg::Concrete(b"fixed".to_vec()),
        Arg::Symbolic(1),
        Arg::Several { min: 1, max: 1, len: 3 },
    ];
    let env = vec![(b"NAME".to_vec(), EnvValue::Symbolic(2)), (b"OTHER".to_vec(), EnvValue::Concrete(b"x".to_vec()))];
    let explored = run("symbolic/arguments.c", ProgramInput { args, env, ..ProgramInput::default() });
    assert_eq!(exits(&explored.ends), BTreeSet::from([4, 5, 6]));
    assert_eq!(explored.ends.len(), 3);
    let fewest = explored.ends.iter().find(|e| e.end == PathEnd::Exit(4)).expect("no optional argument");
    assert_eq!(names(fewest), [("n_args", 4), ("arg00", 2), ("n_args_1", 4), ("arg01", 4), ("env_NAME", 3)]);
    assert_eq!(fewest.inputs[2].1, [1, 0, 0, 0]);
    assert_eq!(fewest.stdout, "fixed OTHER=x\n");
    let most = explored.ends.iter().find(|e| e.end == PathEnd::Exit(6)).expect("two optional arguments");
    assert_eq!(most.inputs[0], ("n_args".into(), vec![2, 0, 0, 0]));
    assert_eq!(names(most)[1..3], [("arg00", 3), ("arg01", 3)]);
}

/// Files `A` and `B` of three bytes each.
fn sym_files() -> Vec<SymFile> {
    ["A", "B"].map(|name| SymFile { path: name.into(), size: (3, 3), metadata: false }).to_vec()
}

/// A file can be given to a symbolic owner, whom `stat` tells as it is.
#[test]
fn owners() {
    let explored = run("symbolic/owners.c", ProgramInput { args: vec![Arg::Symbolic(1)], ..ProgramInput::default() });
    assert_eq!(exits(&explored.ends), BTreeSet::from([1, 2, 3]));
    assert!(explored.ledger.is_empty(), "{:?}", explored.ledger);
    for end in &explored.ends {
        let expected = match end.inputs[0].1[0] {
            b'a' => 1,
            b'x' | 0 => 2,
            _ => 3,
        };
        assert_eq!(end.end, PathEnd::Exit(expected), "{:?}", end.inputs);
    }
}

/// A symbolic path is each symbolic file, `.`, `/` or nothing; contents and standard input are symbolic.
#[test]
fn files() {
    let input =
        ProgramInput { args: vec![Arg::Symbolic(1)], stdin: Stdin::Symbolic(2, 2), sym_files: sym_files(), ..ProgramInput::default() };
    let explored = run("symbolic/files.c", input);
    // No file; A and B each with a first byte that is or is not 'x'; standard input likewise; a directory.
    assert_eq!(exits(&explored.ends), BTreeSet::from([10, 11, 20, 21, 22, 23, 30]));
    assert_eq!(explored.ledger, ["Concretisation: exit status"]);
    for end in &explored.ends {
        assert_eq!(names(end), [("arg00", 2), ("A_data", 3), ("B_data", 3), ("stdin", 2)]);
        let of = |name: &str| end.inputs.iter().find(|(n, _)| n == name).expect("made").1[0];
        let expected = match of("arg00") {
            b'A' => 20 + u8::from(of("A_data") == b'x'),
            b'B' => 22 + u8::from(of("B_data") == b'x'),
            b'.' | b'/' => 30,
            _ => 10 + u8::from(of("stdin") == b'x'),
        };
        assert_eq!(end.end, PathEnd::Exit(expected));
    }
}

/// Compaction at every step, or running every prefix again from the start, changes nothing.
#[test]
fn files_survive_compaction_and_replay() {
    let explored = |config: Config| {
        let args = vec![Arg::Several { min: 0, max: 1, len: 1 }, Arg::Symbolic(1)];
        let input = ProgramInput { args, stdin: Stdin::Symbolic(2, 2), sym_files: sym_files(), ..ProgramInput::default() };
        let directory = tempfile::tempdir().expect("a directory");
        let mut ends: Vec<_> = explore_with("symbolic/copies.c", input, directory.path(), config).ends;
        ends.sort_by(|a, b| a.inputs.cmp(&b.inputs));
        ends
    };
    let plain = explored(Config::default());
    assert!(plain.len() > 8, "{} paths", plain.len());
    assert!(plain.iter().all(|e| matches!(e.end, PathEnd::Exit(_))));
    for config in [
        Config { compact_above: 1, ..Config::default() },
        Config { snapshots: false, ..Config::default() },
        Config { own_snapshots: 0, ..Config::default() },
    ] {
        let shapes = |ends: &[End]| ends.iter().map(|e| (e.end.clone(), e.stdout.len())).collect::<Vec<_>>();
        let mut other = shapes(&explored(config));
        let mut plain = shapes(&plain);
        let key = |(end, len): &(PathEnd, usize)| (format!("{end:?}"), *len);
        other.sort_by_key(key);
        plain.sort_by_key(key);
        assert_eq!(other, plain);
    }
}

/// Every family's way to make, constrain and judge values.
#[test]
fn intrinsics() {
    let explored = run("symbolic/intrinsics.c", ProgramInput::default());
    assert_eq!(exits(&explored.ends), BTreeSet::from([1, 2, 3, 4, 5]));
    assert_eq!(faults(&explored.ends), [FaultKind::AssertionFailed, FaultKind::AssertionFailed, FaultKind::Reported]);
    assert!(explored.ends.iter().any(|e| e.end == PathEnd::Assumed));
    assert!(explored.ledger.iter().any(|row| row == "Warning: careful"));
}

/// Numbers read into floating point reach every value they can have.
#[test]
fn floats() {
    let explored = run("symbolic/floats.c", ProgramInput::default());
    let native = (-2..3).map(|x: i32| (x.abs() * 10 + (x + 2) * 50) as u8).collect();
    assert_eq!(exits(&explored.ends), native);
    assert_eq!(explored.ends.len(), 5);
}

/// Wrong uses of the heap are faults of their kind, and right ones are not.
#[test]
fn heap() {
    let explored = run("symbolic/heap.c", ProgramInput::default());
    use FaultKind::{DoubleFree, InvalidFree, OutOfBoundsRead, OutOfBoundsWrite, UseAfterFree};
    let mut expected = vec![DoubleFree, InvalidFree, InvalidFree, InvalidFree, OutOfBoundsRead, OutOfBoundsWrite, UseAfterFree];
    expected.sort();
    assert_eq!(faults(&explored.ends), expected);
    assert_eq!(exits(&explored.ends), BTreeSet::from([0]));
}

/// A fuzz harness is an entry, and sees exactly as many bytes as there are.
#[test]
fn fuzz_harness() {
    let input = ProgramInput { entry: Entry::Fuzzer { max_len: 3 }, ..ProgramInput::default() };
    let explored = run("symbolic/harness.c", input);
    assert_eq!(faults(&explored.ends), [FaultKind::OutOfBoundsRead]);
    let fault = explored.ends.iter().find(|e| matches!(e.end, PathEnd::Fault(_))).expect("a fault");
    let PathEnd::Fault(what) = &fault.end else { panic!("a fault") };
    assert_eq!(what.message, "read of 1 byte at offset 1 of `data` (1 bytes)");
    assert_eq!(fault.inputs[0], ("size".into(), vec![1, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(fault.inputs[1], ("data".into(), vec![b'!']));
}

/// Any function is an entry: scalars and what pointers lead to are symbolic.
#[test]
fn any_function() {
    let entry = Entry::Function { name: "scale".into(), pointee: 8, parameters: None };
    let explored = run("symbolic/harness.c", ProgramInput { entry, ..ProgramInput::default() });
    assert_eq!(faults(&explored.ends), [FaultKind::DivisionByZero]);
    assert_eq!(exits(&explored.ends), BTreeSet::from([0]));
    assert!(explored.ends.iter().all(|e| e.inputs.len() == 2));
}

/// Without a symbolic input nothing is written to the directory the program works in.
#[test]
fn unknown_system_calls_are_listed() {
    let explored = explore("programs/process.c", ProgramInput::default(), Path::new("/"));
    assert!(explored.ledger.iter().any(|row| row == "UnknownSystemCall: number 1000"));
}
