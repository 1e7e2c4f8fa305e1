//! Whatever the input, the parent of `wryneck-lower` sees a file, a clear error, or a child that LLVM killed; never
//! anything else.

use std::path::Path;
use std::process::{Command, Output};

use crate::native::compile;

/// Runs the executable under a time limit, as its parent does.
fn run(input: &Path, output: &Path) -> Output {
    let exe = env!("CARGO_BIN_EXE_wryneck-lower");
    Command::new("timeout").args(["20", exe]).arg(input).arg("-o").arg(output).output().expect("timeout runs")
}

/// The error it must give: its kind, out of the last line.
fn error_kind(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    let line: serde_json::Value = serde_json::from_str(text.lines().last().expect("a line")).expect("a line of JSON");
    assert_eq!(line["level"], "error");
    assert!(!line["message"].as_str().expect("a message").is_empty() && !line["help"].as_str().expect("help").is_empty());
    line["kind"].as_str().expect("a kind").to_owned()
}

fn kind_of(bytes: &[u8]) -> String {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (input, out) = (scratch.path().join("input"), scratch.path().join("out.wir"));
    std::fs::write(&input, bytes).expect("written");
    let kind = error_kind(&run(&input, &out));
    assert!(!out.exists(), "an error leaves no file");
    kind
}

fn bitcode(flags: &[&str], source: &str) -> Vec<u8> {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("input.c");
    std::fs::write(&file, source).expect("written");
    std::fs::read(compile("clang-22", flags, &file, &scratch.path().join("out"))).expect("made")
}

const SOURCE: &str = "int puts(const char *); int g[4] = {1, 2}; int main(int c, char **v) { if (c > 1) puts(v[1]); return g[c]; }";

#[test]
fn each_kind_of_wrong_file_has_its_error() {
    let good = bitcode(&["-c", "-emit-llvm"], SOURCE);
    assert_eq!(kind_of(b""), "empty");
    assert_eq!(kind_of(b"int main() {}"), "malformed");
    assert_eq!(kind_of(b"\0\x01\x02\x03 nothing known"), "not-bitcode");
    assert_eq!(kind_of(&bitcode(&["-c"], SOURCE)), "not-bitcode");
    assert_eq!(kind_of(b"!<arch>\nmore"), "not-bitcode");
    assert_eq!(kind_of(&good[..2]), "truncated");
    assert_eq!(kind_of(&good[..good.len() / 2]), "truncated");
    assert_eq!(kind_of(&good[..good.len() / 4 * 4 - 4]), "truncated");
    assert_eq!(kind_of(&bitcode(&["-c", "-emit-llvm", "-m32"], "int main() { return 0; }")), "wrong-target");
    assert_eq!(kind_of(&bitcode(&["-c", "-emit-llvm", "--target=powerpc64-linux-gnu"], "int x;")), "wrong-target");
    assert_eq!(kind_of(&bitcode(&["-c", "-emit-llvm", "--target=aarch64-linux-gnu"], "int x;")), "wrong-target");
    assert_eq!(kind_of(b"define i32 @f() {\n  ret i64 0\n}\n"), "malformed");
    assert_eq!(kind_of(b"define void @f() {\n  %x = add i32 %y, 1\n  %y = add i32 %x, 1\n  ret void\n}\n"), "invalid");
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let missing = scratch.path().join("missing.bc");
    assert_eq!(error_kind(&run(&missing, &scratch.path().join("out.wir"))), "io");
    let input = scratch.path().join("input.bc");
    std::fs::write(&input, bitcode(&["-c", "-emit-llvm"], SOURCE)).expect("written");
    assert_eq!(error_kind(&run(&input, &scratch.path().join("no/such/folder/out.wir"))), "write");
    let without_output = Command::new(env!("CARGO_BIN_EXE_wryneck-lower")).arg(&input).output().expect("runs");
    assert_eq!(error_kind(&without_output), "usage");
}

#[test]
fn text_and_bitcode_lower_alike() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let printed = |flags: &[&str]| {
        let input = scratch.path().join("input");
        std::fs::write(&input, bitcode(flags, SOURCE)).expect("written");
        let out = Command::new(env!("CARGO_BIN_EXE_wryneck-lower")).arg(&input).arg("--print").output().expect("runs");
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).expect("text")
    };
    assert_eq!(printed(&["-c", "-emit-llvm"]), printed(&["-S", "-emit-llvm"]));
}

/// A small generator of its own, so that a seed means the same bytes for ever (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n as u64) as usize
    }
}

/// Mutants of programs: bytes changed, bits flipped, pieces cut out or repeated.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(8) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                let end = (at + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(16)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
}

#[test]
fn mutated_bitcode_is_a_file_or_an_error_or_kills_only_the_child() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let originals: Vec<Vec<u8>> = [("control.c", "-O0"), ("vectors.c", "-O2"), ("structures.c", "-O1"), ("variadic.c", "-O2")]
        .iter()
        .map(|(name, level)| {
            let source = std::fs::read_to_string(folder.join(name)).expect("a program");
            bitcode(&["-c", "-emit-llvm", "-g", level], &source)
        })
        .collect();
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (input, out) = (scratch.path().join("input.bc"), scratch.path().join("out.wir"));
    let (mut random, mut killed) = (Random(1), 0);
    for i in 0..200 {
        let mut bytes = originals[i % originals.len()].clone();
        mutate(&mut bytes, &mut random);
        std::fs::write(&input, &bytes).expect("written");
        let output = run(&input, &out);
        match output.status.code() {
            Some(0) => {
                let module = wryneck_ir::file::open(&out).expect("an IR file");
                wryneck_ir::verify::verify(&module).expect("a well-formed module");
            }
            Some(2) => assert_ne!(error_kind(&output), "internal", "mutant {i}: {output:?}"),
            // A signal that ends the child ends `timeout` too; 124 is the time limit.
            None | Some(124 | 137) => killed += 1,
            other => panic!("mutant {i}: {other:?} {output:?}"),
        }
    }
    assert!(killed < 50, "{killed} of 200 children were killed");
}
