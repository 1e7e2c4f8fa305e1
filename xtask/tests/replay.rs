//! The replay library gives a native program the inputs of a test, and says how the replay ended.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::{fs, str};

/// A `.ktest` file (version 3) without arguments.
fn ktest(objects: &[(&str, &[u8])]) -> Vec<u8> {
    let number = |n: usize| u32::try_from(n).expect("small").to_be_bytes();
    let mut file = [b"KTEST".as_slice(), &number(3), &number(0), &number(0), &number(0), &number(objects.len())].concat();
    for (name, bytes) in objects {
        file.extend([&number(name.len()), name.as_bytes(), &number(bytes.len()), bytes].concat());
    }
    file
}

#[derive(Debug)]
struct Replay {
    status: ExitStatus,
    output: String,
    report: String,
}

/// Compiles `program` with the replay library and runs it on the bytes of `test`.
fn replay(program: &str, test: &[u8]) -> Replay {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    let dir = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| dir.path().join(name);
    fs::write(at("program.c"), program).expect("written");
    fs::write(at("test.ktest"), test).expect("written");
    let compiled = Command::new("clang-22")
        .args(["-w", "-fsanitize=address", "-I"])
        .arg(runtime.join("include"))
        .args([at("program.c"), runtime.join("replay.c")])
        .arg("-o")
        .arg(at("program"))
        .status()
        .expect("clang-22 is installed");
    assert!(compiled.success());
    let out = Command::new(at("program"))
        .env("WRYNECK_TEST", at("test.ktest"))
        .env("WRYNECK_REPORT", at("report"))
        .output()
        .expect("it was just linked");
    Replay {
        status: out.status,
        output: str::from_utf8(&out.stdout).expect("text").to_owned(),
        report: fs::read_to_string(at("report")).unwrap_or_default(),
    }
}

const INPUTS: &str = r#"
#include <klee/klee.h>
#include <stdio.h>
#include <wryneck.h>
short __VERIFIER_nondet_short(void);
int main(void) {
  char word[3];
  klee_make_symbolic(word, sizeof word, "word");
  int first = klee_int("x"), second = klee_range(0, 10, "x");
  long third = wryneck_choose_range(-5, 5, "y");
  printf("%.3s %d %d %ld %d\n", word, first, second, third, __VERIFIER_nondet_short());
  wryneck_assume(second > first);
  if (second == 9) wryneck_report("broken-invariant", "second is 9");
  return 3;
}"#;

/// The inputs of `INPUTS`; the engine may number equal names.
fn inputs(second: u8) -> Vec<u8> {
    ktest(&[
        ("word", b"abc"),
        ("x", &[1, 0, 0, 0]),
        ("y", &(-4i64).to_le_bytes()),
        ("x_1", &[second, 0, 0, 0]),
        ("__VERIFIER_nondet_short", &[0xff, 0xff]),
    ])
}

#[test]
fn every_declared_intrinsic_is_there() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    let mut uses = "#include <wryneck.h>\n#include <klee/klee.h>\nvoid *all[] = {\n".to_owned();
    for header in ["wryneck.h", "klee/klee.h"] {
        let text = fs::read_to_string(runtime.join("include").join(header)).expect("it is ours");
        let called = text.lines().filter(|line| line.contains(';')).filter_map(|line| line.split_once('('));
        let names = called.filter_map(|(before, _)| before.split([' ', '*']).next_back());
        uses.extend(names.filter(|name| name.starts_with(['k', 'w'])).map(|name| format!("(void *){name},\n")));
    }
    assert!(uses.matches("klee_").count() >= 30, "{uses}");
    let run = replay(&format!("{uses}}};\nint main(void) {{ return sizeof all / sizeof *all >= 40 ? 0 : 1; }}"), &ktest(&[]));
    assert!(run.status.success(), "{run:?}");
}

#[test]
fn inputs_arrive_by_name_and_order() {
    let run = replay(INPUTS, &inputs(7));
    assert_eq!((run.output.as_str(), run.status.code(), run.report.as_str()), ("abc 1 7 -4 -1\n", Some(3), ""));
}

#[test]
fn ends_beyond_the_programs_own_are_told() {
    assert_eq!(replay(INPUTS, &inputs(1)).report, "dropped\n");
    assert_eq!(replay(INPUTS, &inputs(10)).report, "dropped\n");
    let found = replay(INPUTS, &inputs(9));
    assert_eq!((found.status.code(), found.report.as_str()), (None, "finding broken-invariant: second is 9\n"));
}

#[test]
fn a_test_that_does_not_fit_is_told() {
    let cases = [
        (ktest(&[("word", b"ab")]), "cannot replay: another size in the test of input `word`\n"),
        (ktest(&[("other", b"abc")]), "cannot replay: the test has no input `word`\n"),
        (b"KTEST".to_vec(), ""),
        (inputs(7)[..40].to_vec(), ""),
    ];
    for (test, report) in cases {
        let run = replay(INPUTS, &test);
        assert_eq!(run.status.code(), Some(70), "{}", run.report);
        assert!(run.report.starts_with("cannot replay: ") && (report.is_empty() || run.report == report), "{}", run.report);
    }
}

#[test]
fn a_fuzz_harness_gets_exactly_its_bytes() {
    let harness = "#include <stdint.h>\n#include <stdio.h>\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return printf(\"%zu:%.*s\\n\", size, (int)size, data), 0; }";
    assert_eq!(replay(harness, &ktest(&[("data", b"wryneck")])).output, "7:wryneck\n");
    let cut = ktest(&[("size", &3u64.to_le_bytes()), ("data", b"wryneck")]);
    assert_eq!(replay(harness, &cut).output, "3:wry\n");
    let none = replay(harness, &ktest(&[]));
    assert_eq!((none.output.as_str(), none.report.as_str()), ("0:\n", ""), "{none:?}");
}
