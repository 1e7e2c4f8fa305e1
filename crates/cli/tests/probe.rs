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
    let results = place.results(&["--function", "kept", "--function", "changed", "--skip", "s?t", "--no-deepen", "f.c"]);
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
    place.refused(&["--all", "stripped.o"], &["has no function `*`", "has no symbols of functions", "--function 0x1234"]);
    let results = place.results(&["--function", "0xffff0", "stripped.o"]);
    assert!(results[0]["unsupported"].to_string().contains("has no code at 0xffff0"), "{results:?}");
    assert_eq!(place.results(&["--function", "0x0", "stripped.o"])[0]["status"], "exhausted");
    place.file("naked.c", "__attribute__((naked)) int bare(void) { __asm__(\"mov $1, %eax\\n ret\"); }\n");
    let results = place.results(&["--function", "bare", "naked.c"]);
    assert!(results[0]["unsupported"].to_string().contains("inline assembly"), "{results:?}");
    assert_eq!(place.results(&["--function", "one", "f.o"])[0]["status"], "exhausted");
}

/// What a shared object takes from elsewhere: functions of the C library, of nobody, unknown ones, variables of its own, of other libraries and of
/// the thread; words that are relocated in each way.
#[test]
fn shared_objects_are_probed_as_debian_ships_them() {
    let place = Place::new();
    place.file(
        "s.c",
        "#include <stdlib.h>\n#include <string.h>\n\
         extern int nobody(int *); extern int foreign;\n\
         struct s { int (*f)(struct s *); int n; };\n\
         int own = 4; int *to_own = &own; static _Thread_local int mine = 3; _Thread_local int seen;\n\
         int bad_pair(void) { char *p = malloc(4); if (!p) return 0; free(p); free(p); return 1; }\n\
         int good_pair(void) { char *p = malloc(4); if (!p) return 0; free(p); return 1; }\n\
         int bad_null(struct s *s) { if (!s) return s->n; return 0; }\n\
         int bad_after_unknown(struct s *s) { int *p = 0; s->f(s); return *p; }\n\
         int good_after_unknown(struct s *s) { s->n = 0; s->f(s); return 10 / (s->n ? s->n : 1); }\n\
         int bad_after_nobody(int n) { int *p = 0; if (nobody(&n) == 3) return *p; return n; }\n\
         int bad_own(void) { own = 1; if (own == 1 && to_own) return *(int *)8; return 0; }\n\
         int bad_thread(void) { mine = 7; seen = mine; if (seen == 7) return *(int *)0; return 0; }\n\
         int bad_foreign(void) { foreign = 2; if (foreign == 2) return *(int *)0; return 0; }\n\
         int good_length(const char *s) { return strlen(s) > 3 ? s[3] : 0; }\n",
    );
    place.file("other.c", "int foreign;\n");
    let compile = |words: &[&str]| {
        let done = Command::new("clang-22").current_dir(place.0.path()).args(["-g", "-shared", "-fPIC"]).args(words).status();
        assert!(done.expect("clang is installed").success());
    };
    compile(&["other.c", "-o", "libother.so"]);
    compile(&["-O0", "s.c", "libother.so", "-o", "s.so"]);
    let stripped = Command::new("llvm-objcopy-22").current_dir(place.0.path()).args(["--strip-all", "s.so", "stripped.so"]).status();
    assert!(stripped.expect("LLVM's tools are installed").success());
    for target in ["s.so", "stripped.so"] {
        let results = place.results(&["--all", target]);
        let of = |name: &str| results.iter().find(|r| r["function"] == name).expect("it was probed");
        for result in results.iter().filter(|r| r["function"].as_str().is_some_and(|name| name.starts_with("good_"))) {
            assert!(kinds(result, "must").is_empty() && result["unsupported"] == serde_json::json!({}), "{target}: {result}");
        }
        for name in ["bad_pair", "bad_after_unknown", "bad_after_nobody", "bad_own", "bad_thread", "bad_foreign"] {
            assert_eq!(kinds(of(name), "must").len(), 1, "{target}: {}", of(name));
        }
    }
}

/// Calls that `--skip` names are followed when time is left: what only following them shows is found, and what it denies is no must error.
#[test]
fn skipped_functions_are_entered_when_time_is_left() {
    let place = Place::new();
    place.file(
        "f.c",
        "int pick(int n) { return n > 3 ? 2 : 1; }\n\
         void clear(int *p) { *p = 0; }\n\
         int bad_found(int n) { int x = 5; clear(&x); return n / x; }\n\
         int good_denied(int n) { int *p = 0; if (pick(n) == 7) return *p; return 0; }\n",
    );
    for target in ["f.c", "f.o"] {
        if target == "f.o" {
            let words = ["-g", "-O0", "-c", "f.c", "-o", "f.o"];
            let done = Command::new("clang-22").current_dir(place.0.path()).args(words).status();
            assert!(done.expect("clang is installed").success());
        }
        let words = ["--function", "bad_*", "--function", "good_*", "--skip", "pick", "--skip", "clear"];
        let shallow = place.results(&[&words[..], &["--no-deepen", target]].concat());
        let deep = place.results(&[&words[..], &[target]].concat());
        let of = |results: &[Value], name: &str| {
            let result = results.iter().find(|r| r["function"] == name).expect("it was probed");
            kinds(result, "must")
        };
        assert_eq!((of(&shallow, "bad_found"), of(&shallow, "good_denied").len()), (vec![], 1), "{target}: {shallow:?}");
        assert_eq!(
            (of(&deep, "bad_found"), of(&deep, "good_denied").len()),
            (vec!["division-by-zero".to_owned()], 0),
            "{target}: {deep:?}"
        );
    }
}

const LIST: &str = "#include <stdlib.h>\n\
    struct pair { short a, b[2]; };\n\
    struct list { struct list *next; union { int len; unsigned flags; }; struct pair in; };\n\
    static int step(struct list *p, int n) { if (!p) return p->len; if (n < 0) return n / (p->len - p->len); return p->len + n; }\n\
    static int lost(struct list *p) { if (!p) return p->len; return p->len; }\n\
    static int never(struct list *p) { if (!p) return p->len; return p->len; }\n\
    int (*kept)(struct list *) = never;\n\
    static int middle(struct list *p, int n) { return step(p, n) + 1; }\n\
    int root(struct list *p, int n) { if (!p || n < 3) return 0; return middle(p, n - 1); }\n\
    int other(int n) { struct list own = { 0 }; return n > 0 ? step(&own, 4) + lost(&own) : lost(0); }\n\
    int third(struct list *p) { return p ? never(p) : 0; }\n\
    int bad_field(struct list *p) { if (p->len == 0) return 1 / p->len; if (p->in.b[1] == 3) return *(int *)0; return 0; }\n";

/// What every caller keeps is a contract, also through functions that only pass it on; what one breaks, or who may be called by others, has none.
#[test]
fn contracts_are_inferred_from_all_callers_and_silence_what_they_rule_out() {
    let place = Place::new();
    place.file("l.c", LIST);
    let out = place.probe(&["--all", "--quiet", "--infer", "l.contracts", "l.c"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let file = fs::read_to_string(place.0.path().join("l.contracts")).expect("it was written");
    for line in ["step: requires p != NULL\n", "step: requires n >= 0\n", "middle: requires p != NULL\n", "middle: requires n >= 0\n"] {
        assert!(file.contains(line), "{line} is not in {file}");
    }
    for line in ["lost: requires p", "never: requires", "root: requires", "third: requires", "other: requires"] {
        assert!(!file.contains(line), "{line} is in {file}");
    }
    let words = ["--function", "step", "--function", "lost", "--function", "never"];
    let of = |words: &[&str]| {
        let results = place.results(words);
        let must = |name: &str| kinds(results.iter().find(|r| r["function"] == name).expect("it was probed"), "must").len();
        ["step", "lost", "never"].map(must)
    };
    assert_eq!(of(&[&words[..], &["l.c"]].concat()), [2, 1, 1]);
    assert_eq!(of(&[&words[..], &["--contracts", "l.contracts", "l.c"]].concat()), [0, 1, 1]);
    place.refused(&["--all", "--infer", "x", "--contracts", "l.contracts", "l.c"], &["infer first"]);
    let words = ["-c", "l.c", "-o", "l.o"];
    assert!(Command::new("clang-22").current_dir(place.0.path()).args(words).status().expect("clang is installed").success());
    place.refused(&["--all", "--infer", "x", "l.o"], &["needs bitcode"]);
}

#[test]
fn contracts_name_fields() {
    let place = Place::new();
    place.file("l.c", LIST);
    let words = ["-g", "-O0", "-c", "l.c", "-o", "l.o"];
    assert!(Command::new("clang-22").current_dir(place.0.path()).args(words).status().expect("clang is installed").success());
    for target in ["l.c", "l.o"] {
        let of = |contract: &str| {
            place.file("f.contracts", &format!("bad_field: requires {contract}\n"));
            kinds(&place.results(&["--function", "bad_field", "--contracts", "f.contracts", target])[0], "must").len()
        };
        assert_eq!(of("p != 0"), 2, "{target}");
        assert_eq!(of("p->len > 0"), 1, "{target}");
        assert_eq!(of("p->flags != 0 && p->in.b[1] < 3"), 0, "{target}");
        let results = place.results(&["--function", "bad_field", "--contracts", "f.contracts", target]);
        assert!(results[0]["unsupported"] == serde_json::json!({}), "{results:?}");
    }
    place.file("f.contracts", "bad_field: requires p->size > 0\n");
    let results = place.results(&["--function", "bad_field", "--contracts", "f.contracts", "l.c"]);
    assert!(results[0]["unsupported"].to_string().contains("a field of the structure"), "{results:?}");
}

/// A callee without a result that accepts null says nothing of its caller's pointer. One with a result may tell its caller, which goes on.
#[test]
fn a_callee_that_accepts_null_is_no_test_of_its_caller() {
    let place = Place::new();
    place.file(
        "f.c",
        "struct s { int n; };\n\
         static void note(struct s *p) { if (p) p->n++; }\n\
         static int ready(struct s *p) { if (!p) return -1; return p->n & 1; }\n\
         static int count(struct s *p) { if (!p) return -1; return p->n; }\n\
         int good_noted(struct s *p) { note(p); return p->n; }\n\
         int bad_noted(struct s *p) { note(p); if (!p) return p->n; return p->n; }\n\
         int bad_ready(struct s *p) { if (ready(p) < 0) return p->n; return 0; }\n\
         int good_count(struct s *p) { if (count(p) < 0) return p->n; return 0; }\n",
    );
    let results = place.results(&["--function", "good_*", "--function", "bad_*", "--report", "may", "f.c"]);
    let of = |name: &str, grade: &str| kinds(results.iter().find(|r| r["function"] == name).expect("it was probed"), grade);
    assert!(of("good_noted", "must").is_empty(), "{results:?}");
    assert_eq!(of("good_noted", "may"), ["null-dereference"]);
    let noted = results.iter().find(|r| r["function"] == "good_noted").expect("it was probed");
    assert!(noted.to_string().contains("only a callee has tested the pointer"), "{noted}");
    assert_eq!(of("bad_noted", "must"), ["null-dereference"]);
    assert_eq!(of("bad_ready", "must"), ["null-dereference"]);
    // A valid pointer may have this result, too.
    assert!(of("good_count", "must").is_empty(), "{results:?}");
}
