//! `--resume`: a run that was stopped and goes on has the paths, findings and verdicts of one that was not; and what it refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// Some 97,000 paths, of which few end in each of three faults.
const MANY: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char *s = argv[1], a[4];
  int n = 0, v = 0;
  for (int i = 0; s[i]; i++) {
    if (s[i] >= '0' && s[i] <= '9') n++;
    else if (s[i] == 'x') v += 2;
    else if (s[i] == '(') v ^= 1;
  }
  if (n == 3 && v == 3) abort();
  if (v == 4 && n == 1) a[n + v] = 1;
  if (v == 6) { char *q = malloc(3); q[v] = 2; free(q); }
  FILE *f = fopen("h.txt", "r");
  if (f && n != 2) fclose(f);
  return n > v;
}
"#;

fn wryneck(dir: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(dir).args(words).output().expect("the tool was built")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a folder has: ends and findings with their counts, the tests in rows and in files, the verdicts.
#[derive(Debug, PartialEq)]
struct Known {
    ends: BTreeSet<(String, String, i64)>,
    findings: BTreeSet<(String, String, i64, i64)>,
    tests: BTreeSet<String>,
    rules: serde_json::Value,
    lines: serde_json::Value,
}

fn known(folder: &Path) -> Known {
    let db = Connection::open_with_flags(folder.join("run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the database opens");
    let mut ends = db.prepare("SELECT class, what, count(*) FROM path GROUP BY 1, 2").expect("it fits the schema");
    let ends = ends.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).and_then(Iterator::collect).expect("rows");
    let mut findings = db.prepare("SELECT kind, message, line, count FROM finding").expect("it fits the schema");
    let findings =
        findings.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).and_then(Iterator::collect).expect("rows");
    let mut named = db.prepare("SELECT test FROM path WHERE test IS NOT NULL").expect("it fits the schema");
    let named: BTreeSet<String> = named.query_map([], |row| row.get(0)).and_then(Iterator::collect).expect("rows");
    let files = fs::read_dir(folder).expect("it is there").flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let tests: BTreeSet<String> = files.filter(|name| name.ends_with(".ktest")).collect();
    assert_eq!(named, tests, "rows name the files");
    let summary: String = db.query_row("SELECT value FROM run WHERE name = 'summary'", [], |row| row.get(0)).expect("it has ended");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("it is JSON");
    assert_eq!(summary["totals"]["paths"], db.query_row("SELECT count(*) FROM path", [], |row| row.get::<_, i64>(0)).expect("rows"));
    assert_eq!(summary["totals"]["tests"], tests.len());
    let verdicts = summary["rules"].as_array().into_iter().flatten().map(|rule| serde_json::json!([rule["id"], rule["verdict"]]));
    Known { ends, findings, tests, rules: verdicts.collect(), lines: summary["lines"].clone() }
}

fn program(dir: &Path) {
    fs::write(dir.join("p.c"), MANY).expect("there is room");
    fs::write(dir.join("h.txt"), "then").expect("there is room");
}

#[test]
fn a_run_that_was_stopped_by_its_limit_goes_on() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    program(dir);
    let whole = wryneck(dir, &["run", "--quiet", "--no-replay", "--output", "whole", "p.c", "--sym-arg", "7"]);
    assert_eq!(whole.status.code(), Some(1), "{}", said(&whole));
    let cut = wryneck(dir, &["run", "--quiet", "--no-replay", "--max-instructions", "8000000", "--output", "cut", "p.c", "--sym-arg", "7"]);
    assert_eq!(cut.status.code(), Some(1), "{}", said(&cut));
    assert_ne!(known(&dir.join("cut")), known(&dir.join("whole")));
    // What a later run asks of the host is what the first one was told.
    fs::remove_file(dir.join("h.txt")).expect("it is there");
    let again = wryneck(dir, &["run", "--resume", "cut", "--quiet", "--output", "again"]);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert_ne!(known(&dir.join("again")), known(&dir.join("whole")), "it has the same limit");
    let rest = wryneck(dir, &["run", "--resume", "again", "--quiet", "--max-instructions", "1000000000", "--output", "rest"]);
    assert_eq!(rest.status.code(), Some(1), "{}", said(&rest));
    assert_eq!(known(&dir.join("rest")), known(&dir.join("whole")));
    let shown = wryneck(dir, &["show", "rest"]);
    assert!(shown.status.success(), "{}", said(&shown));
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    program(dir);
    let words = ["--quiet", "--no-replay", "--rule", "open-close", "p.c", "--sym-arg", "6"];
    let whole = wryneck(dir, &[&["verify", "--prune", "off", "--output", "whole"], &words[..]].concat());
    assert_eq!(whole.status.code(), Some(1), "{}", said(&whole));
    let mut child = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["verify", "--prune", "off", "--output", "cut"])
        .args(words)
        .stdout(Stdio::null())
        .spawn()
        .expect("the tool was built");
    // Until something is left in the folder, or all is done.
    let start = Instant::now();
    let is_left = || {
        let db = Connection::open_with_flags(dir.join("cut/run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.query_row("SELECT count(*) FROM run WHERE name = 'rest'", [], |row| row.get::<_, i64>(0))
    };
    while !is_left().is_ok_and(|n| n > 0) && child.try_wait().expect("it runs").is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was left in a minute");
        sleep(Duration::from_millis(5));
    }
    let live = wryneck(dir, &["verify", "--resume", "cut"]);
    child.kill().expect("it runs or has ended");
    child.wait().expect("it was killed");
    let rest = wryneck(dir, &["verify", "--resume", "cut", "--quiet", "--output", "rest"]);
    match rest.status.code() {
        // It was quick.
        Some(2) if said(&rest).contains("is complete") => return,
        code => assert_eq!(code, Some(1), "{}", said(&rest)),
    }
    assert!(said(&live).contains("still goes on") || live.status.code() == Some(1), "{}", said(&live));
    assert_eq!(known(&dir.join("rest")), known(&dir.join("whole")));
}

/// The order of threads is input: a run goes on in it, and a test leads a run there.
#[test]
fn orders_of_threads_go_on() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/threads/philosophers.c");
    let run = ["run", "--quiet", "--no-replay", "--schedules", "2", "--output"];
    let begun = |rest: &[&str]| wryneck(dir, &[&run[..], rest, &[&source.to_string_lossy()]].concat());
    let whole = begun(&["whole"]);
    assert_eq!(whole.status.code(), Some(1), "{}", said(&whole));
    let cut = begun(&["cut", "--max-instructions", "20000"]);
    assert_eq!(cut.status.code(), Some(3), "{}", said(&cut));
    let rest = wryneck(dir, &["run", "--resume", "cut", "--quiet", "--max-instructions", "1000000000", "--output", "rest"]);
    assert_eq!(rest.status.code(), Some(1), "{}", said(&rest));
    assert_eq!(known(&dir.join("rest")), known(&dir.join("whole")));

    let tests = fs::read_dir(dir.join("whole")).expect("it is there").flatten().map(|entry| entry.path());
    let is_deadlock =
        |test: &std::path::PathBuf| fs::read_to_string(test.with_extension("json")).is_ok_and(|text| text.contains("\"deadlock\""));
    let test = tests.filter(|test| test.extension().is_some_and(|ending| ending == "ktest")).find(is_deadlock).expect("it was found");
    let led = begun(&["led", "--max-instructions", "1000", "--seed", &test.to_string_lossy()]);
    assert_eq!(led.status.code(), Some(1), "{}", said(&led));
}

#[test]
fn a_pruned_verification_goes_on_to_the_same_verdict() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    program(dir);
    let words = ["--quiet", "--no-replay", "--rule", "open-close", "p.c", "--sym-arg", "6"];
    let whole = wryneck(dir, &[&["verify", "--sequences", "whole.txt", "--output", "whole"], &words[..]].concat());
    assert_eq!(whole.status.code(), Some(1), "{}", said(&whole));
    let (mut from, mut stops) = ("cut0".to_owned(), 0);
    let limits = ["--max-instructions", "4000", "--sequences", "cut.txt"];
    wryneck(dir, &[&["verify", "--output", &from][..], &limits, &words].concat());
    loop {
        let to = format!("cut{}", stops + 1);
        let out = wryneck(dir, &["verify", "--resume", &from, "--quiet", "--output", &to]);
        if said(&out).contains("is complete") {
            break;
        }
        assert!(matches!(out.status.code(), Some(1 | 3)), "{}", said(&out));
        (from, stops) = (to, stops + 1);
        assert!(stops < 500, "it gets no further");
    }
    assert!(stops > 2, "{stops} stops are too few to show anything");
    let (got, want) = (known(&dir.join(&from)), known(&dir.join("whole")));
    // Which faults relevant paths meet beside the rule's events depends on inputs that no rule asks about.
    let of_rules = |all: &Known| {
        let rules = all.findings.iter().filter(|(kind, ..)| kind.starts_with("rule:"));
        rules.map(|(kind, message, line, _)| (kind.clone(), message.clone(), *line)).collect::<BTreeSet<_>>()
    };
    assert_eq!((of_rules(&got), &got.rules), (of_rules(&want), &want.rules));
    let sequences = |file: &str| fs::read_to_string(dir.join(file)).expect("it was written");
    assert_eq!(sequences("cut.txt"), sequences("whole.txt"));
}

#[test]
fn what_cannot_be_continued_is_refused_by_name() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    program(dir);
    let run = ["run", "--quiet", "--no-replay", "--max-instructions", "1000000", "--output"];
    let refused = |words: &[&str], why: &str| {
        let out = wryneck(dir, words);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {}", said(&out));
        assert!(said(&out).contains(why), "{words:?}: {}", said(&out));
    };
    wryneck(dir, &[&run[..], &["done", "p.c", "--sym-arg", "1"]].concat());
    refused(&["run", "--resume", "done"], "is complete: nothing is left");
    wryneck(dir, &[&run[..], &["few", "--max-forks", "2", "p.c", "--sym-arg", "6"]].concat());
    refused(&["run", "--resume", "few"], "what it left out cannot be gone on with: dropped flip");
    refused(&["run", "--resume", "none"], "cannot find `none`");
    wryneck(dir, &[&run[..], &["cut", "p.c", "--sym-arg", "6"]].concat());
    refused(&["run", "--resume", "cut", "p.c"], "`p.c`: a run that goes on has its target");
    refused(&["run", "--resume", "cut", "--uninit", "symbolic"], "`--uninit` would change the run");
    refused(&["verify", "--resume", "cut"], "is a run of `wryneck run`");
    // Others' folders: the command is theirs.
    let change = |sql: &str| {
        let db = Connection::open(dir.join("cut/run.db")).expect("the database opens");
        db.execute_batch(sql).expect("it fits the schema");
    };
    change("CREATE TEMP TABLE t AS SELECT * FROM run; UPDATE run SET value = replace(value, 'p.c', 'q.c') WHERE name = 'command'");
    refused(&["run", "--resume", "cut"], "not made by this user's wryneck");
    change("UPDATE run SET value = replace(value, 'q.c', 'p.c') WHERE name = 'command'");
    change("UPDATE pending SET prefix = x'09' WHERE id = (SELECT min(id) FROM pending)");
    refused(&["run", "--resume", "cut"], "a pending path cannot be read");
    change("UPDATE pending SET prefix = x'01' WHERE id = (SELECT min(id) FROM pending)");
    fs::write(dir.join("p.c"), MANY.replace("n == 3", "n == 4")).expect("there is room");
    refused(&["run", "--resume", "cut"], "has changed since");
}

/// With a seed, strings are compared as one value: the run that goes on makes the same decisions, though the seed has had its turn.
#[test]
fn a_run_with_a_seed_goes_on() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    let program = "#include <string.h>\n#include <unistd.h>\nint main(void) {\n  char b[5] = {0};\n  if (read(0, b, 4) != 4) return 9;\n  \
                   if (!strcmp(b, \"abcd\")) return 1;\n  if (!strncmp(b, \"qr\", 2)) return 3;\n  return 0;\n}\n";
    fs::write(dir.join("p.c"), program).expect("there is room");
    fs::write(dir.join("seed"), "wxyz").expect("there is room");
    let words = ["--quiet", "--no-replay", "--emit", "all", "--seed", "seed", "p.c", "--sym-stdin", "4"];
    let whole = wryneck(dir, &[&["run", "--output", "whole"], &words[..]].concat());
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    let cut = wryneck(dir, &[&["run", "--output", "cut", "--max-instructions", "1"], &words[..]].concat());
    assert_eq!(cut.status.code(), Some(3), "{}", said(&cut));
    let rest = wryneck(dir, &["run", "--resume", "cut", "--quiet", "--max-instructions", "1000000", "--output", "rest"]);
    assert_eq!(rest.status.code(), Some(0), "{}", said(&rest));
    assert_eq!(known(&dir.join("rest")), known(&dir.join("whole")));
}

#[test]
fn a_run_that_has_reached_its_goal_does_not_go_on() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    program(dir);
    let found = wryneck(dir, &["run", "--quiet", "--find", "abort", "--output", "found", "p.c", "--sym-arg", "7"]);
    assert_eq!(found.status.code(), Some(0), "{}", said(&found));
    let rest = wryneck(dir, &["run", "--resume", "found", "--output", "rest"]);
    assert_eq!(rest.status.code(), Some(2), "{}", said(&rest));
    assert!(said(&rest).contains("has reached its goal"), "{}", said(&rest));
}
