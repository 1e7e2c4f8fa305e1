//! A static program without a libc, as machine code: concretely as the CPU runs it, symbolically to all its ends.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Input, Seen, compile, explore, native};
use wryneck_exec::PathEnd;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/spike.c");
const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

fn seen(found: &common::Found) -> Seen {
    match &found.end {
        PathEnd::Exit(code) => Seen { code: *code, output: found.output.clone() },
        other => panic!("input {:?} ended by {other:?}", found.input),
    }
}

#[test]
fn concrete_runs_end_as_on_the_cpu() {
    for level in LEVELS {
        let (_dir, program) = compile(Path::new(SOURCE), level);
        let file = std::fs::read(&program).unwrap();
        let inputs: [&[u8]; 8] = [b"", b"abc", b"wraz", b"xyb\x05", b"\x05\x0cc\x80", b"55d\x9b", b"\x04\x05f\xff", b"zze1234"];
        for input in inputs {
            let explored = explore(&file, Input::Bytes(input), &[]);
            assert_eq!(explored.paths.len(), 1, "{level} {input:?}");
            assert_eq!(seen(&explored.paths[0]), native(&program, input), "{level} {input:?}");
            assert_eq!(explored.core.stats.decisions, 0, "nothing is symbolic");
        }
    }
}

#[test]
fn a_symbolic_run_finds_every_end() {
    for level in LEVELS {
        let (_dir, program) = compile(Path::new(SOURCE), level);
        let file = std::fs::read(&program).unwrap();
        let explored = explore(&file, Input::Symbolic(4), &[]);
        let mut ours = BTreeSet::new();
        for path in &explored.paths {
            let (here, there) = (seen(path), native(&program, &path.input));
            assert_eq!(here, there, "{level} {:?}", path.input);
            ours.insert(here.code);
            assert!(here.output.ends_with(b"\n"));
        }
        // Every kind, cold or not.
        let want: BTreeSet<u8> = [0, 1, 3, 4, 5, 7, 20].into_iter().flat_map(|kind| [kind, kind + 40]).collect();
        assert_eq!(ours, want, "{level}");
        for word in ["heavy", "middling", "light", "apple ", "bear ", "dog ", "eel ", " cold", "?\n"] {
            let says = |p: &&common::Found| String::from_utf8_lossy(&p.output).contains(word);
            assert!(explored.paths.iter().any(|p| says(&p)), "{level}: no path says {word:?}");
        }
    }
}
