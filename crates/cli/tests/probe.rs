//! `wryneck probe`: grades, evidence, sweeps that go on after a kill, and bad input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("there is room"))
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path
    }

    fn probe(&self, words: &[&str]) -> Output {
        Command::new(WRYNECK).current_dir(self.0.path()).arg("probe").args(words).output().expect("the tool was built")
    }

    #[track_caller]
    fn results(&self, words: &[&str]) -> Vec<Value> {
        let out = self.probe(&[&["--json", "--quiet"], words].concat());
        assert_ne!(out.status.code(), Some(2), "{words:?}: {}", text(&out.stderr));
        text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[track_caller]
    fn refused(&self, words: &[&str], parts: &[&str]) {
        let out = self.probe(words);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{words:?}: `{part}` is not in {said}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn figures() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/probe/figures.c").display().to_string()
}

fn kinds(result: &Value, grade: &str) -> Vec<String> {
    let all = result["findings"].as_array().into_iter().flatten().filter(|f| f["grade"] == grade);
    all.map(|f| f["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_papers_figures_have_one_must_error_and_the_repaired_twin_none() {
    let place = Place::new();
    let results = place.results(&["--all", &figures()]);
    let of = |name: &str| results.iter().find(|r| r["function"] == name).expect("it was probed");
    assert_eq!(kinds(of("bad_contrived"), "must"), ["assertion-failed"]);
    assert_eq!(of("bad_contrived")["findings"][0]["native"]["result"], "reproduced");
    for name in ["good_contrived", "list_head", "lock", "unlock"] {
        assert!(kinds(of(name), "must").is_empty(), "{name}");
    }
}

#[test]
fn what_may_happen_is_reported_on_demand_with_its_precondition() {
    let place = Place::new();
    place.file("f.c", "int half(int *p, int n) { return *p / n; }\n");
    assert!(place.results(&["--function", "half", "f.c"])[0]["findings"].as_array().expect("a list").is_empty());
    let results = place.results(&["--function", "half", "--report", "may", "f.c"]);
    assert!(kinds(&results[0], "may").contains(&"division-by-zero".to_owned()), "{results:?}");
    assert!(kinds(&results[0], "must").is_empty(), "{results:?}");
    let text = results[0].to_string();
    assert!(text.contains("p != NULL") && text.contains("n == 0"), "{text}");
}

#[test]
fn a_skipped_call_forgets_what_it_could_change() {
    let place = Place::new();
    place.file(
        "f.c",
        "void set(int *p) { *p = 0; }\n\
         int kept(int n) { int x = 1, y = 0; set(&x); return n / y; }\n\
         int changed(int n) { int x = 0; set(&x); return n / x; }\n",
    );
    let results = place.results(&["--function", "kept", "--function", "changed", "--skip", "s?t", "f.c"]);
    let of = |name: &str| results.iter().find(|r| r["function"] == name).expect("it was probed");
    assert_eq!(kinds(of("kept"), "must"), ["division-by-zero"]);
    assert!(kinds(of("changed"), "must").is_empty(), "{results:?}");
    assert_eq!(kinds(&place.results(&["--function", "changed", "f.c"])[0], "must"), ["division-by-zero"]);
}

#[test]
fn a_sweep_goes_on_after_a_line_that_a_kill_cut_off() {
    let place = Place::new();
    let results = place.0.path().join("out.jsonl");
    let words = ["--all", "--quiet", "--no-replay", "--results", "out.jsonl"];
    let figures = figures();
    place.probe(&[&words[..], &[&figures]].concat());
    let whole = fs::read_to_string(&results).expect("it was written");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 5);
    fs::write(&results, format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..20])).expect("it can be written");
    place.probe(&[&words[..], &[&figures]].concat());
    let again = fs::read_to_string(&results).expect("it was written");
    assert_eq!(again.lines().count(), 5);
    assert!(again.starts_with(&format!("{}\n{}\n", lines[0], lines[1])), "what was there is kept");
}

#[test]
fn shards_are_parts_of_the_work_list() {
    let place = Place::new();
    let figures = figures();
    let list = |shard: &str| text(&place.probe(&["--all", "--list", "--shard", shard, &figures]).stdout);
    assert_eq!(list("1/2").lines().count() + list("2/2").lines().count(), 5);
    assert!(list("1/2").contains("\"function\":\"lock\""), "{}", list("1/2"));
}

#[test]
fn bad_input_is_named() {
    let place = Place::new();
    place.file("f.c", "#include <stdarg.h>\nint sum(int n, ...) { return n; }\nint one(void) { return 1; }\n");
    place.refused(&["f.c"], &["no function is given"]);
    place.refused(&["--all"], &["no target is given"]);
    place.refused(&["--function", "nothing", "f.c"], &["has no function `nothing`", "`sum`"]);
    place.refused(&["--shard", "3/2", "--all", "f.c"], &["expected I/N"]);
    place.refused(&["--all", "missing.c"], &["missing.c"]);
    let results = place.results(&["--function", "sum", "f.c"]);
    assert!(results[0]["unsupported"].to_string().contains("variable arguments"), "{results:?}");
    let compile = |words: &[&str]| {
        let done = Command::new("clang-22").current_dir(place.0.path()).args(words).status();
        assert!(done.expect("clang is installed").success(), "{words:?}");
    };
    compile(&["-c", "f.c", "-o", "f.o"]);
    compile(&["-shared", "-fPIC", "f.c", "-o", "f.so"]);
    let stripped = Command::new("llvm-objcopy-22").current_dir(place.0.path()).args(["--strip-all", "f.o", "stripped.o"]).status();
    assert!(stripped.expect("LLVM's tools are installed").success());
    place.refused(&["--all", "stripped.o"], &["has no symbols of functions"]);
    place.refused(&["--all", "f.so"], &["is a shared object"]);
    assert_eq!(place.results(&["--function", "one", "f.o"])[0]["status"], "exhausted");
}
