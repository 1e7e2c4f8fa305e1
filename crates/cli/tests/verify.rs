//! `wryneck verify`: what pruning leaves out of small programs, beside what there is without it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// What the tool says of a program, and the distinct sequences of its events.
fn explored(dir: &Path, program: &str, rule: &str, how: &[&str]) -> (Value, BTreeSet<String>) {
    fs::write(dir.join("t.c"), program).expect("there is room");
    let words = ["verify", "--rule", rule, "--json", "--no-replay", "--emit", "none", "--audit", "off", "--sequences", "sequences"];
    let out =
        Command::new(WRYNECK).current_dir(dir).args(words).args(how).args(["t.c", "--sym-arg", "4"]).output().expect("the tool was built");
    let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    assert_eq!(run["status"]["kind"], "complete", "{run}");
    let sequences = fs::read_to_string(dir.join("sequences")).expect("they were written");
    (run, sequences.lines().map(str::to_owned).collect())
}

/// The verdict, how many paths there were, and their distinct sequences of events.
fn verified(dir: &Path, program: &str, rule: &str, how: &[&str]) -> (String, u64, BTreeSet<String>) {
    let (run, sequences) = explored(dir, program, rule, how);
    let verdict = run["rules"][0]["verdict"].as_str().expect("there is a verdict").to_owned();
    (verdict, run["totals"]["paths"].as_u64().expect("a number"), sequences)
}

#[track_caller]
fn needs_one_path(program: &str, rule: &str) {
    let dir = tempfile::tempdir().expect("there is room");
    let pruned = verified(dir.path(), program, rule, &[]);
    let all = verified(dir.path(), program, rule, &["--prune", "off"]);
    assert!(pruned.0 == "VERIFIED" && all.0 == "VERIFIED", "{pruned:?}, {all:?}");
    assert!(pruned.1 == 1 && all.1 > 1, "{} of {} paths", pruned.1, all.1);
    assert_eq!(pruned.2, all.2);
}

#[test]
fn what_output_decides_inside_makes_no_other_event() {
    let digits = r#"#include <stdio.h>
int main(int argc, char **argv) {
  printf("%u %s\n", 1000u * (unsigned char)argv[1][0], argv[1]);
  return ferror(stdout);
}
"#;
    needs_one_path(digits, "file-access");
}

#[test]
fn output_that_did_not_fail_ends_no_program() {
    let checked = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *in = fopen("/dev/null", "r");
  if (!in) return 1;
  for (char *p = argv[1]; *p; p++)
    if (*p != ' ' && putchar(*p) < 0) exit(2);
  if (printf("%d\n", argv[1][0]) < 0) exit(2);
  fclose(in);
  return 0;
}
"#;
    needs_one_path(checked, "open-close");
}

/// After each byte the program knows one of two things, however it came to it; what it makes of a byte it asks `kind`.
fn parity(kind: &str) -> String {
    let main = r#"
int main(int argc, char **argv) {
  int odd = 0;
  for (int i = 0; i < 4; i++) {
    int k = kind(argv[1], i);
    if (k == 1) odd = !odd;
    if (k == 2) odd = 0;
  }
  FILE *in = odd ? fopen("/dev/null", "r") : 0;
  return in ? fclose(in) : 0;
}
"#;
    format!("#include <stdio.h>\nint kind(char *s, int i) {{ {kind} }}{main}")
}

const KIND: &str = "if (s[i] == 'x') return 1; if (s[i] == 'y') return 2; return 0;";

#[track_caller]
fn needs_few_paths(program: &str, how: &[&str]) {
    let dir = tempfile::tempdir().expect("there is room");
    let summary = "[[function]]\nnames = [\"kind\"]\nreads = [\"*arg0\", \"arg1\"]\nwrites = [\"result\"]\n";
    fs::write(dir.path().join("kind.toml"), summary).expect("there is room");
    let (verdict, paths, sequences) = verified(dir.path(), program, "open-close", how);
    let all = verified(dir.path(), program, "open-close", &["--prune", "off"]);
    assert_eq!((verdict, sequences), (all.0, all.2));
    assert_eq!(all.1, 81);
    assert!(paths < 20, "{paths} paths");
}

#[test]
fn equal_states_go_on_in_one_way() {
    needs_few_paths(&parity(KIND), &[]);
}

#[test]
fn states_inside_functions_with_a_summary_are_compared() {
    needs_few_paths(&parity(KIND), &["--summaries", "kind.toml"]);
}

#[test]
fn what_would_be_left_out_behind_equal_states_is_redundant() {
    let dir = tempfile::tempdir().expect("there is room");
    let count = |how: &[&str], what: &str| {
        let (run, _) = explored(dir.path(), &parity(KIND), "open-close", how);
        run["pruning"][what].as_u64().unwrap_or_else(|| panic!("{run}"))
    };
    let (relevant, redundant) = (count(&["--no-prune"], "relevant"), count(&["--no-prune"], "redundant"));
    assert_eq!((relevant, relevant + redundant), (count(&[], "relevant"), 81));
    // All that was left out is explored, and nothing is lost.
    assert!(count(&["--audit", "all"], "audited") > 0);
}
