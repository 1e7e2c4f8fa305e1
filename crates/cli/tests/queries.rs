//! Queries that a run needs no more, counted on small programs.

use std::fs;
use std::process::Command;

use serde_json::Value;

/// The totals of a run on four bytes of an argument.
fn totals(source: &str) -> Value {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("program.c"), source).expect("there is room");
    let words = ["run", "--json", "--no-replay", "--output", "out", "program.c", "--sym-arg", "4"];
    let ran = Command::new(env!("CARGO_BIN_EXE_wryneck")).current_dir(dir.path()).args(words).output().expect("it starts");
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    assert_eq!(run["status"]["kind"], "complete", "{run}");
    run["totals"].clone()
}

#[test]
fn an_offset_that_the_end_of_a_loop_implies_needs_no_query() {
    // `get` is `text` again, but its expression has the length in it. Each read would ask for its bounds.
    let totals = totals(
        "int main(int argc, char **argv) {
           static char text[64];
           char *put = text;
           unsigned length = (argv[1][0] + argv[1][1]) & 31, left = length;
           while (left--) *put++ = argv[1][2];
           const char *get = put - length;
           unsigned sum = 0;
           for (unsigned i = 0; i < 20; i++) sum += get[i];
           return sum == 300;
         }",
    );
    let count = |name: &str| totals[name].as_u64().expect("a number");
    assert!(count("queries") <= count("paths") && count("solver_calls") == 0, "{totals}");
}

#[test]
fn states_of_a_scanner_in_tables_need_no_solver() {
    let totals = totals(
        "enum { START, NAME, NUMBER, ERROR };
         static const unsigned char class_of[256] = {['a'] = 1, ['b'] = 1, ['0'] = 2, ['1'] = 2};
         static const unsigned char next[] = {ERROR, NAME, NUMBER, ERROR, NAME, NAME, ERROR, ERROR, NUMBER, ERROR, ERROR, ERROR};
         int main(int argc, char **argv) {
           unsigned char state = START;
           for (int i = 0; i < 4; i++) state = next[state * 3 + class_of[(unsigned char)argv[1][i]]];
           return state;
         }",
    );
    assert_eq!(totals["solver_calls"], 0, "{totals}");
}
