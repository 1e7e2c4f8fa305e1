//! Seeds and goals as a user meets them: on bitcode and on executables, with what cannot be used, and natively.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use wryneck_report::{KTest, Object};

const SECRET: &str = r#"#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static jmp_buf out;
static void never(void) { puts("never"); }
static int leave(void) { longjmp(out, 1); return 0; }
static void opened(const char *who) {
    for (const char *c = "Well done, "; *c; c++) write(1, c, 1);
    puts(who);
}
int unused(void) { return 7; }
int main(int argc, char **argv) {
    char buf[13] = {0};
    if (read(0, buf, 12) < 0) return 2;
    if (setjmp(out) == 0) {
        int x = leave();
        printf("%d", x);
    }
    if (argc > 5 && argc < 4) never();
    if (strcmp(buf, "tangerine") == 0) opened("friend");
    else puts("No.");
    return 0;
}
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("there is room"));
        place.put("secret.c", SECRET.as_bytes());
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.at(name).parent().expect("it has one")).expect("there is room");
        fs::write(self.at(name), bytes).expect("there is room");
    }

    fn wryneck(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_wryneck")).current_dir(self.0.path()).args(words).output().expect("it starts")
    }

    /// Runs with `--json`; what it said, and its exit code.
    fn run(&self, words: &[&str]) -> (Value, i32) {
        let done = self.wryneck(&[&["run", "--json", "--max-time", "20s", "--no-replay"], words].concat());
        let said = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{words:?}: {}", text(&done.stderr)));
        (said, done.status.code().expect("it ends by itself"))
    }

    fn error(&self, words: &[&str]) -> String {
        let done = self.wryneck(&[&["run", "--max-time", "20s"], words].concat());
        assert_eq!(done.status.code(), Some(2), "{words:?}: {}", text(&done.stdout));
        text(&done.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn notes(run: &Value) -> String {
    run["ledger"].as_array().into_iter().flatten().map(|row| format!("{}\n", row["what"].as_str().unwrap_or_default())).collect()
}

/// The program's executable, if there is a compiler for it.
fn executable(place: &Place) -> &'static str {
    let done = Command::new("musl-gcc").current_dir(place.0.path()).args(["-static", "-g", "-O1", "-o", "secret", "secret.c"]).status();
    assert!(done.expect("there is a musl-gcc").success());
    "secret"
}

#[test]
fn goals_are_reached_on_both_front_ends_and_natively() {
    let place = Place::new();
    let line = |what: &str| format!("secret.c:{}", 1 + SECRET.lines().position(|line| line.contains(what)).expect("it is there"));
    let done = line("puts(who)");
    for target in ["secret.c", executable(&place)] {
        for goal in ["opened", "output:done, friend", &done] {
            let out = format!("out-{target}-{}", goal.len());
            let (run, code) = place.run(&["--find", goal, "--output", &out, target, "--sym-stdin", "12"]);
            assert_eq!((code, run["goal"]["reached"]["goal"].as_str()), (0, Some(goal)), "{target}, {goal}: {run}");
            let test = format!("{out}/{}", run["goal"]["reached"]["test"].as_str().expect("it has a test"));
            let shell = place.wryneck(&["replay", "--shell", &test]);
            assert!(shell.status.success(), "{}", text(&shell.stderr));
            let ran = Command::new("bash").args(["-c", &text(&shell.stdout)]).output().expect("there is a bash");
            assert_eq!(text(&ran.stdout), "Well done, friend\n", "{}", text(&shell.stdout));
            let replayed = place.wryneck(&["replay", "--quiet", &test]);
            assert!(replayed.status.success(), "{}", text(&replayed.stdout));
        }
    }
}

/// A function of a library that the loader maps while the program runs.
#[test]
fn imported_functions_are_reached() {
    let place = Place::new();
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint main(void) {\n  char text[4] = {0};\n\
                  if (read(0, text, 3) == 3 && text[0] == 'x') {\n    if (strchr(text, 'q')) exit(3);\n    puts(getenv(\"HOME\") ? \"a\" : \"b\");\n  }\n\
                  if (text[0] == 'y' && text[0] == 'z') abort();\n  return 0;\n}\n";
    place.put("imports.c", source.as_bytes());
    let done = Command::new("gcc").current_dir(place.0.path()).args(["-O0", "-o", "imports", "imports.c"]).status();
    assert!(done.expect("there is a gcc").success());
    for (goal, reached) in [("puts", true), ("strchr", true), ("getenv", true), ("abort", false)] {
        let (run, code) = place.run(&["--find", goal, "imports", "--sym-stdin", "3"]);
        assert_eq!((code, run["goal"]["reached"].is_null()), (i32::from(!reached), !reached), "{goal}: {run}");
    }
    let said = place.error(&["--find", "strstr", "imports", "--sym-stdin", "3"]);
    assert!(said.contains("the program has no function `strstr`"), "{said}");
}

/// Constructors and destructors are called by nothing but the start and the end of the program.
#[test]
fn what_runs_around_main_is_reached() {
    let place = Place::new();
    let source = "#include <stdio.h>\nstatic int c;\nstatic void last(void) { putchar('l'); }\n\
                  __attribute__((constructor)) static void before(void) { c = getchar(); }\n\
                  __attribute__((destructor)) static void after(void) { if (c == 'x') last(); }\nint main(void) { return 0; }\n";
    place.put("around.c", source.as_bytes());
    for goal in ["before", "after", "last"] {
        let (run, code) = place.run(&["--find", goal, "around.c", "--sym-stdin", "1"]);
        assert_eq!((code, run["goal"]["reached"].is_null()), (0, false), "{goal}: {run}");
    }
}

#[test]
fn what_cannot_be_reached_is_not() {
    let place = Place::new();
    let behind = 1 + SECRET.lines().position(|line| line.contains("printf(\"%d\"")).expect("it is there");
    // Behind a call that jumps away; and what no value of `argc` leads to.
    for goal in ["never", &format!("secret.c:{behind}")] {
        let (run, code) = place.run(&["--find", goal, "secret.c", "--sym-stdin", "3"]);
        assert_eq!((code, &run["goal"]["reached"]), (1, &Value::Null), "{goal}: {run}");
    }
    let (run, code) = place.run(&["--find", "opened", "--avoid", "output:Well", "secret.c", "--sym-stdin", "12"]);
    assert_eq!(code, 0, "the goal comes before what is avoided: {run}");
    let (run, code) = place.run(&["--find", "puts", "--avoid", "opened", "--avoid", "output:No", "secret.c", "--sym-stdin", "12"]);
    assert_eq!(code, 0, "a call comes before its output: {run}");
    let (run, code) = place.run(&["--find", "output:Well", "--avoid", "opened", "secret.c", "--sym-stdin", "12"]);
    assert_eq!((code, run["goal"]["reached"].is_null()), (1, true), "{run}");
    assert!(notes(&run).contains("--avoid"), "{run}");
    let said = place.error(&["--find", "unused", "secret.c", "--sym-stdin", "3"]);
    assert!(said.contains("cannot be reached: no call"), "{said}");
    for (goal, why) in [
        ("opend", "no function `opend`"),
        ("secret.c:9999", "nearest line with code"),
        ("other.c:3", "no code comes from"),
        ("0x10", "bitcode has no addresses"),
        ("output:", "no text"),
        ("", "no function is named"),
    ] {
        let said = place.error(&["--find", goal, "secret.c", "--sym-stdin", "3"]);
        assert!(said.contains(why), "{goal}: {said}");
    }
    let program = executable(&place);
    for (goal, why) in [("opend", "no function `opend`"), ("0x10", "does not exist"), ("secret.c:9999", "nearest line")] {
        let said = place.error(&["--find", goal, program, "--sym-stdin", "3"]);
        assert!(said.contains(why), "{goal}: {said}");
    }
    let said = text(&place.wryneck(&["verify", "--find", "opened", "secret.c"]).stderr);
    assert!(said.contains("--prune off"), "{said}");
}

#[test]
fn seeds_are_run_first_and_what_is_exported_comes_back() {
    let place = Place::new();
    place.put("corpus/a", b"tangerine");
    place.put("corpus/more/b", b"xyz");
    place.put("corpus/same", b"xyw");
    place.put("corpus/long", &[b'x'; 99]);
    for target in ["secret.c", executable(&place)] {
        let words = ["--seed", "corpus", "--emit", "all", "--export", "new", "--max-instructions", "1", target, "--sym-stdin", "0-12"];
        let (run, _) = place.run(&words);
        assert!(notes(&run).contains("of 3 seeds"), "{run}");
        assert!(notes(&run).contains("1 seeds were left out: longer than the 12 bytes that `stdin` takes"), "{run}");
        // Where not all fits, a limit ends the run after its first paths.
        let (run, code) = place.run(&["--seed", "corpus", "--emit", "all", "--export", "new", target, "--sym-stdin", "0-12"]);
        assert!(notes(&run).contains("2 have paths of their own, 1 take the path of an earlier one"), "{run}");
        assert!(code == 0 || code == 3, "{run}");
        let exported: Vec<_> =
            fs::read_dir(place.at("new")).expect("it was made").map(|entry| fs::read(entry.expect("it is there").path())).collect();
        assert!(exported.iter().any(|bytes| bytes.as_ref().is_ok_and(|bytes| bytes == b"tangerine")), "{} files", exported.len());
        let (run, _) = place.run(&["--seed", "new", target, "--sym-stdin", "0-12"]);
        assert!(!notes(&run).contains("left out") && !notes(&run).contains("excluded"), "{run}");
        fs::remove_dir_all(place.at("new")).expect("it is ours");
    }
}

/// Mutants of a seed reach what is many rounds of a loop away, and change nothing else: with and without them all paths are found.
#[test]
fn mutants_of_seeds_are_run_between_paths() {
    let place = Place::new();
    let source = b"#include <unistd.h>\nint main(void) {\n  char text[40];\n  int n = read(0, text, sizeof text), run = 0, most = 0;\n  \
          for (int i = 0; i < n; i++) {\n    run = text[i] == 'a' ? run + 1 : 0;\n    most = run > most ? run : most;\n  }\n  if (most > 30) _exit(7);\n  return 0;\n}\n";
    place.put("run.c", source);
    place.put("seed", b"xay");
    let seeds = |size: &str, words: &[&str]| {
        let words = [&["--seed", "seed", "--cc-flag=-O0"], words, &["run.c", "--sym-stdin", size]].concat();
        place.run(&words).0
    };
    let made = |run: &Value| notes(run).contains("mutants of inputs");
    let (with, without) = (seeds("0-3", &[]), seeds("0-3", &["--off", "mutants"]));
    assert_eq!(with["totals"]["paths"], without["totals"]["paths"]);
    assert!(!made(&without), "{without}");
    // In forty bytes there are more paths than can be run; a mutant tells which one to take.
    let found = |run: &Value| run["ends"].as_array().is_some_and(|ends| ends.iter().any(|end| end["what"] == "7"));
    let limit: &[&str] = &["--max-instructions", "1500000"];
    let (with, without) = (seeds("0-40", limit), seeds("0-40", &[limit, &["--off", "mutants"]].concat()));
    assert!(made(&with), "{with}");
    assert!(found(&with) && !found(&without), "{with} {without}");
}

/// Of a large corpus the seeds that enter code of their own, or run long, have paths first; all paths are found as without it.
#[test]
fn seeds_of_a_large_corpus_are_chosen_by_the_code_that_they_enter() {
    let place = Place::new();
    let source = b"#include <unistd.h>\nint main(void) {\n  unsigned char text[2];\n  if (read(0, text, 2) != 2) return 1;\n  \
          if (text[0] == 'x') _exit(text[1] == 'y' ? 7 : 2);\n  if (text[0] == 'l') for (volatile int i = 0; i < 200000; i++);\n  return text[1] > 9;\n}\n";
    place.put("many.c", source);
    for n in 0..98u8 {
        place.put(&format!("corpus/{n:03}"), &[n, n]);
    }
    place.put("corpus/x", b"xy");
    place.put("corpus/z", b"lz");
    let seeds = |words: &[&str]| place.run(&[&["--seed", "corpus", "--cc-flag=-O0"], words, &["many.c", "--sym-stdin", "2"]].concat()).0;
    let (with, without) = (seeds(&[]), seeds(&["--off", "mutants"]));
    assert_eq!(with["totals"]["paths"], without["totals"]["paths"]);
    assert!(notes(&without).contains("of 100 seeds 4 have paths of their own, 96 take the path of an earlier one"), "{without}");
    assert!(notes(&with).contains("of 100 seeds 3 have paths of their own, 97 enter no code that these do not"), "{with}");
}

/// A word that a name of any length is compared with takes the name's place in the input.
#[test]
fn a_keyword_is_found_where_a_name_is_compared_with_it() {
    let place = Place::new();
    let source = b"#include <string.h>\n#include <unistd.h>\nint main(void) {\n  char text[40] = {0}, name[40] = {0};\n  read(0, text, 39);\n  \
          int n = 0, spaces = 0;\n  while (text[n] >= 'a' && text[n] <= 'z') name[n] = text[n], n++;\n  \
          for (int i = 0; i < 39; i++) spaces += text[i] == ' ';\n  if (spaces == 3 && strcmp(name, \"incorporatednesslessly\") == 0) _exit(7);\n  return 0;\n}\n";
    place.put("word.c", source);
    place.put("seed", b"ab c d e");
    let seeds = |words: &[&str]| {
        let words =
            [&["--seed", "seed", "--cc-flag=-O0", "--max-instructions", "300000"], words, &["word.c", "--sym-stdin", "0-40"]].concat();
        place.run(&words).0
    };
    let found = |run: &Value| run["ends"].as_array().is_some_and(|ends| ends.iter().any(|end| end["what"] == "7"));
    let (with, without) = (seeds(&[]), seeds(&["--off", "mutants"]));
    assert!(found(&with) && !found(&without), "{with} {without}");
}

/// What a fuzzer leaves in the seeds' folder while a run goes on is taken up, and what cannot be used is counted.
#[test]
fn seeds_that_appear_are_followed() {
    let place = Place::new();
    // There are 2^56 paths, and none of them finds the number.
    let source =
        b"#include <stdint.h>\n#include <string.h>\n#include <unistd.h>\n#define HASH(n) ((n) * (n) * (n) * 3 + ((n) >> 7) * (n))\n\
          int main(void) {\n  char text[64] = {0};\n  uint64_t n, secret = 0x6c6f6e67206c6574;\n  volatile int some = 0;\n  \
          if (read(0, text, 64) < 64) return 1;\n  for (int i = 8; i < 64; i++) if (text[i] == 'q') some++;\n  memcpy(&n, text, 8);\n  \
          if (HASH(n) == HASH(secret)) _exit(7);\n  return 0;\n}\n";
    place.put("late.c", source);
    place.put("corpus/seed", &[b'x'; 64]);
    let late = place.at("corpus/late");
    let writer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(2));
        let rest: Vec<u8> = (0..56).map(|i| if i % 3 == 0 { b'q' } else { b'y' }).collect();
        let text = [&0x6c6f_6e67_206c_6574_u64.to_le_bytes()[..], &rest].concat();
        fs::write(late.with_file_name("too long"), [b'z'; 65]).and_then(|()| fs::write(&late, text)).expect("there is room");
    });
    let words = ["--seed", "corpus", "--follow-seeds", "--solver-timeout", "0.2", "--max-time", "5s", "late.c", "--sym-stdin", "64"];
    let (run, code) = place.run(&words);
    writer.join().expect("it wrote");
    assert!(run["ends"].as_array().is_some_and(|ends| ends.iter().any(|end| end["what"] == "7")), "{code}: {run}");
    assert!(notes(&run).contains("1 seeds appeared while the run went on"), "{run}");
    assert!(notes(&run).contains("1 seeds that appeared were left out: longer than the 64 bytes"), "{run}");
    for (words, why) in [
        (&["--seed", "corpus/seed", "--follow-seeds"][..], "has no folder to follow"),
        (&["--follow-seeds"], "has no folder to follow"),
        (&["--seed", "corpus", "--give-way"], "is for a run with `--follow-seeds`"),
        (&["--seed", "corpus", "--follow-seeds", "--off", "mutants"], "cannot be used with `--off mutants`"),
    ] {
        let said = place.error(&[words, &["late.c", "--sym-stdin", "64"]].concat());
        assert!(said.contains(why), "{said}");
    }
}

/// A mutant that runs long is cut off and forgotten; what it entered is not the next one's.
#[test]
fn mutants_that_run_long_are_cut_off() {
    let place = Place::new();
    let source = b"#include <unistd.h>\nint main(void) {\n  char text[4];\n  int n = read(0, text, sizeof text);\n  \
          if (n == 3) for (volatile int i = 0; i < 100000; i++);\n  return n > 1 && text[1] == 'b';\n}\n";
    place.put("long.c", source);
    place.put("seed", b"aa");
    let seeds = |words: &[&str]| place.run(&[&["--seed", "seed"], words, &["long.c", "--sym-stdin", "0-4"]].concat()).0;
    let (with, without) = (seeds(&[]), seeds(&["--off", "mutants"]));
    assert_eq!(with["totals"]["paths"], without["totals"]["paths"]);
    assert!(notes(&with).contains("mutants of inputs"), "{with}");
}

#[test]
fn seeds_that_cannot_be_used_are_named() {
    let place = Place::new();
    place.put("empty", b"");
    place.put("long", &[b'x'; 50]);
    place.put("garbage.ktest", b"KTEST but no");
    let test =
        |name: &str, bytes: &[u8]| KTest { args: vec![], objects: vec![Object { name: name.into(), bytes: bytes.into() }] }.to_bytes();
    place.put("other.ktest", &test("whatever", b"abc"));
    place.put("right.ktest", &test("stdin", b"tangerine\0\0\0"));
    place.put("none/.hidden", b"x");
    place.put("zero", b"a\0b");
    symlink("/dev/zero", place.at("endless")).expect("there is room");
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().expect("there is a mkfifo").success());
    let stdin: &[&str] = &["secret.c", "--sym-stdin", "12"];
    let two: &[&str] = &["secret.c", "--sym-stdin", "12", "--sym-file", "f:0-3"];
    symlink("self", place.at("self")).expect("there is room");
    let cases: [(&str, &[&str], &str); 18] = [
        ("self", stdin, "symbolic links"),
        ("pipe", stdin, "write `--seed FILE`"),
        ("garbage.ktest", stdin, "write `--seed FILE`"),
        ("f=long", two, "`--sym-file f:0-50`"),
        ("long", &["secret.c", "--sym-arg", "4"], "`--sym-arg 50`"),
        ("long", stdin, "longer than the 12 bytes"),
        ("empty", stdin, "empty, and `stdin` has 12 bytes"),
        ("nothing", stdin, "does not exist"),
        ("7", stdin, "--search-seed"),
        ("none", stdin, "has no seeds"),
        ("garbage.ktest", stdin, "no test"),
        ("endless", stdin, "not a regular file"),
        ("pipe", stdin, "not a regular file"),
        ("zero", two, "`stdin`, `f`"),
        ("f=long", two, "longer than the 3 bytes"),
        ("zero", &["secret.c"], "nothing is symbolic"),
        ("zero", &["secret.c", "--sym-arg", "4"], "it has a zero byte"),
        ("long", &["secret.c", "--sym-arg", "4"], "longer than the 4 bytes that `arg00`"),
    ];
    for (seed, words, why) in cases {
        let said = place.error(&[&["--seed", seed], words].concat());
        assert!(said.contains(why), "{seed}: {said}");
    }
    let said = place.error(&["--export", "new", "secret.c"]);
    assert!(said.contains("`--export`: nothing is symbolic"), "{said}");
    let (run, _) = place.run(&["--seed", "other.ktest", "secret.c", "--sym-stdin", "2"]);
    assert!(notes(&run).contains("for another input: their paths make no `whatever`, but `stdin`"), "{run}");
    let (run, code) = place.run(&["--seed", "right.ktest", "--find", "opened", "secret.c", "--sym-stdin", "12"]);
    assert_eq!((code, run["totals"]["paths"].as_u64()), (0, Some(1)), "the seed's path is the first: {run}");
}

#[test]
fn command_lines_keep_files_apart_and_say_what_they_cannot_do() {
    let place = Place::new();
    place.put(
        "reads.c",
        br#"#include <stdio.h>
#include <klee/klee.h>
int main(int argc, char **argv) {
    char buf[4] = {0};
    FILE *f = fopen("sub/in", "rb");
    if (!f || fread(buf, 1, 3, f) != 3) return 3;
    if (buf[0] == '%' && buf[1] == '\'' && buf[2] == '\\' && argc == 2 && argv[1][0] == '\n') puts("both");
    return 0;
}
"#,
    );
    place.put(
        "makes.c",
        br#"#include <klee/klee.h>
int main(void) { int x; klee_make_symbolic(&x, sizeof x, "x"); return x == 5; }
"#,
    );
    place.put("sub/in", b"xxx");
    let (run, code) = place.run(&["--find", "output:both", "--output", "o", "reads.c", "--sym-file", "sub/in:3", "--sym-arg", "2"]);
    assert_eq!(code, 0, "{run}");
    let test = format!("o/{}", run["goal"]["reached"]["test"].as_str().expect("it has a test"));
    let line = text(&place.wryneck(&["replay", "--shell", &test]).stdout);
    let ran = Command::new("bash").current_dir(place.0.path()).args(["-c", &line]).output().expect("there is a bash");
    assert_eq!(text(&ran.stdout), "both\n", "{line}");
    assert_eq!(fs::read(place.at("sub/in")).ok().as_deref(), Some(&b"xxx"[..]), "the user's file is as it was");
    place.run(&["--output", "m", "makes.c"]);
    let refused = place.wryneck(&["replay", "--shell", &format!("{}/test000001.ktest", Path::new("m").display())]);
    assert!(
        !refused.status.success() && text(&refused.stderr).contains("the input `x` is made inside the program"),
        "{}",
        text(&refused.stderr)
    );
}
