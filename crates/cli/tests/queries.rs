//! Queries that a run needs no more, counted on small programs.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

/// A run of this program, with options and the words after it, beside a file `seed` that holds an `a`.
fn explored(source: &str, options: &[&str], input: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("program.c"), source).and_then(|()| fs::write(dir.path().join("seed"), "a")).expect("there is room");
    let words = [&["run", "--json", "--no-replay", "--output", "out"], options, &["program.c"], input].concat();
    let ran = Command::new(env!("CARGO_BIN_EXE_wryneck")).current_dir(dir.path()).args(words).output().expect("it starts");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)))
}

/// The exit statuses of a run, with which all paths end.
fn statuses(run: &Value) -> BTreeSet<u8> {
    let status = |end: &Value| end["what"].as_str().and_then(|what| what.parse().ok()).unwrap_or_else(|| panic!("{end}"));
    run["ends"].as_array().into_iter().flatten().map(status).collect()
}

/// The totals of a run on four bytes of an argument.
fn totals(source: &str) -> Value {
    let run = explored(source, &[], &["--sym-arg", "4"]);
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

/// The smallest exit status is hard to find: the engine tries one, and where the smallest of the others is hard to find, too, another one.
#[test]
fn values_that_are_hard_to_find_are_all_tried() {
    let source = "#include <unistd.h>
        int main(void) {
          unsigned char b[3];
          if (read(0, b, 3) != 3) return 250;
          int v = b[1] * b[2] - b[0] * b[1];
          unsigned long all = v, first = b[0] + (all & 1);
          unsigned sum = 1;
          if (all % 7 == 5) { sum += 37; if ((first & 3) == 0) sum *= 3; }
          if (all % 3 == 1) return 99;
          if ((all & 0x80) == 0) sum += 161;
          if (all % 10 == 2) sum *= 3;
          return sum + (all & 7);
        }";
    let natively = |[a, b, c]: [i32; 3]| {
        let v = b * c - a * b;
        let (all, first) = (v as i64 as u64, a as u64 + (v & 1) as u64);
        let mut sum = 1_u64;
        if all % 7 == 5 {
            sum = if first & 3 == 0 { 38 * 3 } else { 38 };
        }
        if all % 3 == 1 {
            return 99;
        }
        sum += if all & 0x80 == 0 { 161 } else { 0 };
        sum *= if all % 10 == 2 { 3 } else { 1 };
        (sum + (all & 7)) as u8
    };
    let bytes = || 0..256;
    let mut expected: BTreeSet<u8> = BTreeSet::from([250]);
    expected.extend(bytes().flat_map(|a| bytes().flat_map(move |b| bytes().map(move |c| natively([a, b, c])))));

    let run = explored(source, &["--emit", "none", "--off", "search"], &["--sym-stdin", "3"]);
    // All three bytes are there.
    expected.remove(&250);
    assert_eq!(statuses(&run), expected, "{run}");
}

/// There is no expression for a remainder: its operands become constants, and no value is lost.
#[test]
fn remainders_of_floating_point_lose_no_value() {
    let source = "#include <unistd.h>
        int main(void) {
          unsigned char b[2];
          if (read(0, b, 2) != 2) return 250;
          double half = (double)(b[0] & 31) / 2, by = (b[1] & 3) + 0.75;
          return (int)(4 * __builtin_fmod(half, by)) + 16 * (b[1] > 200);
        }";
    let natively = |a: u8, b: u8| (4.0 * ((f64::from(a & 31) / 2.0) % (f64::from(b & 3) + 0.75))) as u8 + 16 * u8::from(b > 200);
    let expected: BTreeSet<u8> = (0..=255).flat_map(|a| (0..=255).map(move |b| natively(a, b))).collect();
    let run = explored(source, &["--emit", "none"], &["--sym-stdin", "2"]);
    let mut found = statuses(&run);
    found.remove(&250);
    assert_eq!(found, expected, "{run}");
}

/// A comparison ends at the first difference: what was never written behind it is read on no other path.
#[test]
fn strings_that_were_not_written_are_compared_byte_by_byte() {
    let source = "#include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(void) {
          char c = 0, *p = malloc(3);
          read(0, &c, 1);
          p[0] = c;
          return strncmp(p, \"baa\", 3) > 0 ? 5 : 3;
        }";
    let run = explored(source, &["--emit", "none", "--uninit", "report", "--seed", "seed"], &["--sym-stdin", "1"]);
    let ends: BTreeSet<&str> = run["ends"].as_array().into_iter().flatten().filter_map(|end| end["what"].as_str()).collect();
    assert_eq!(ends, BTreeSet::from(["3", "5", "uninitialised-read"]), "{run}");
}
