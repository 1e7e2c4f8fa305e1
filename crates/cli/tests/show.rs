//! `wryneck show`: what it tells of a run that ended and of one that was killed, its formats, and run folders that cannot be read.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
const PROGRAM: &str = r#"#include <string.h>
static int unused(int x) { return x + 1; }
static void fill(char *a, int n) {
  if (n > 3)
    a[n] = 1;
}
int main(int argc, char **argv) {
  char a[4] = {0};
  if (argc > 9) return unused(argc);
  if (strchr(argv[1], 'x'))
    fill(a, (int)strlen(argv[1]));
  return 0;
}
"#;

fn wryneck(dir: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(dir).args(words).output().expect("the tool was built")
}

/// What `show` prints.
#[track_caller]
fn shown(dir: &Path, words: &[&str]) -> String {
    let out = wryneck(dir, &[&["show"], words].concat());
    assert_eq!(out.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Runs `PROGRAM` into the folder `out`.
fn explored(options: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("t.c"), PROGRAM).expect("there is room");
    let run = [&["run", "--quiet", "--output", "out"], options, &["t.c", "--sym-arg", "4"]].concat();
    let out = wryneck(dir.path(), &run);
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    dir
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

#[test]
fn a_run_is_shown_with_source_coverage_and_ledger() {
    let scratch = explored(&[]);
    let dir = scratch.path();
    let all = shown(dir, &["out"]);
    contains(&all, &["wryneck run --quiet --output out t.c --sym-arg 4\n", "fault[out-of-bounds-write]: write of 1 byte at offset 4"]);
    contains(
        &all,
        &[
            "t.c:5:10 in `fill`\n",
            "       4 |   if (n > 3)\n       5 |     a[n] = 1;\n         |          ^ write of 1 byte",
            "      11 |     fill(a,",
        ],
    );
    contains(&all, &["t.c: 9 of 10 lines (90.0 %), 2 of 3 functions entered\n", "1 finding; every path was explored\n"]);
    contains(
        &all,
        &[
            "t.c:10:7 in `main`: `strchr` looks at the input\n",
            "t.c:10:7 in `main`: goes to line 11",
            "`strlen` looks at the input (4 times)",
        ],
    );
    contains(&shown(dir, &["out", "--coverage"]), &["     2  unused  never entered", "never ran: 2\n"]);
    let source = shown(dir, &["--source", "t.c", "out"]);
    contains(&source, &["     2 - | static int unused", "     5 + |     a[n] = 1;", "     1   | #include", "`+` ran, `-` never ran"]);
    assert!(shown(dir, &["out", "--ledger"]).starts_with("ledger"));
    assert!(shown(dir, &["out", "--findings"]).starts_with("fault["));
    assert!(!shown(dir, &["out", "--coverage"]).contains("strchr"));
    contains(&shown(dir, &["out", "--coverage", "--libc"]), &["strchr"]);
    contains(&shown(dir, &["--help"]), &["Examples:", "--sarif FILE"]);

    // The same in the summary of the run.
    let info = fs::read_to_string(dir.join("out/info")).expect("it was written");
    let last = |text: &str| text.lines().last().map(str::to_owned);
    assert_eq!(last(&info), last(&all));

    fs::write(dir.join("t.c"), PROGRAM.replace("[n] = 1", "[n] = 2")).expect("there is room");
    contains(&shown(dir, &["out"]), &["       5 |     a[n] = 1;\n", "= the source has changed since the run"]);
    fs::remove_file(dir.join("t.c")).expect("it was there");
    contains(&shown(dir, &["out"]), &["       5 |     a[n] = 1;\n", "= the source is not there any more"]);
    contains(&shown(dir, &["out", "--source", "t.c"]), &["is not there"]);
}

#[test]
fn a_killed_run_is_shown() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    let endless = "int main(int argc, char **argv) {\n  volatile int n = 0;\n  for (char *p = argv[1]; *p; p++) if (*p == 'x') n++;\n  return n;\n}\n";
    fs::write(dir.join("endless.c"), endless).expect("there is room");
    let mut child = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["run", "--quiet", "--output", "out", "endless.c", "--sym-arg", "60"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the tool was built");
    let start = Instant::now();
    let saved = || {
        Connection::open_with_flags(dir.join("out/run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| db.query_row("SELECT count(*) FROM coverage", [], |row| row.get::<_, i64>(0)))
    };
    while !saved().is_ok_and(|n| n > 0) {
        assert!(start.elapsed() < Duration::from_secs(60), "no coverage was committed in a minute");
        sleep(Duration::from_millis(50));
    }
    contains(&shown(dir, &["out"]), &["the run has not ended"]);
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    let text = shown(dir, &["out"]);
    contains(&text, &["endless.c: ", "exit", "no finding; the run has not ended: it goes on, or it was killed\n"]);
    for format in [&["--json"][..], &["--jsonl", "-"], &["--lcov", "-"], &["--sarif", "-"]] {
        assert!(!shown(dir, &[&["out"], format].concat()).is_empty());
    }
}

#[test]
fn what_was_killed_half_written_is_shown_as_it_was_before() {
    let scratch = explored(&[]);
    let dir = scratch.path();
    let before = shown(dir, &["out", "--lcov", "-"]);
    let file = fs::read(dir.join("out/run.db")).expect("the run wrote it");
    let db = Connection::open(dir.join("out/run.db")).expect("the run wrote it");
    // No room to keep changes in memory: they are in the file before they are committed.
    db.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE coverage SET covered = 1 - covered; UPDATE path SET class = 'gone';")
        .expect("it can be written");
    fs::create_dir(dir.join("killed")).expect("there is room");
    for entry in fs::read_dir(dir.join("out")).expect("the run wrote it").map(|entry| entry.expect("it can be read").path()) {
        if entry.is_file() {
            fs::copy(&entry, dir.join("killed").join(entry.file_name().expect("it has a name"))).expect("there is room");
        }
    }
    assert_ne!(fs::read(dir.join("killed/run.db")).expect("it was copied"), file, "something was written");
    assert_eq!(shown(dir, &["killed", "--lcov", "-"]), before);
}

#[test]
fn formats_agree_with_the_run() {
    let scratch = explored(&["--sarif", "t.sarif", "--lcov", "t.info"]);
    let dir = scratch.path();
    let lcov = shown(dir, &["out", "--lcov", "-"]);
    contains(&lcov, &["/t.c\n", "FN:2,unused\n", "FNDA:0,unused\n", "FNDA:1,main\n", "DA:2,0\n", "DA:5,1\n", "end_of_record\n"]);
    assert_eq!(lcov.matches("end_of_record").count(), 1);
    assert!(shown(dir, &["out", "--lcov", "-", "--libc"]).contains("FNDA:1,strchr\n"));
    assert_eq!(fs::read_to_string(dir.join("t.info")).expect("it was written"), lcov);

    let sarif = shown(dir, &["out", "--sarif", "-"]);
    assert_eq!(fs::read_to_string(dir.join("t.sarif")).expect("it was written"), sarif);
    let log: Value = serde_json::from_str(&sarif).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "t.c");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    assert_eq!(result["ruleId"], "out-of-bounds-write");

    let rows: Vec<Value> = shown(dir, &["out", "--jsonl", "-"]).lines().map(|l| serde_json::from_str(l).expect("an object")).collect();
    let of = |kind: &str| rows.iter().filter(|row| row["type"] == kind).collect::<Vec<_>>();
    let tests = fs::read_dir(dir.join("out")).expect("it is there").flatten();
    assert_eq!(of("test").len(), tests.filter(|e| e.path().extension().is_some_and(|x| x == "ktest")).count());
    assert_eq!(of("finding").len(), 1);
    let ended: u64 = of("end").iter().filter_map(|row| row["count"].as_u64()).sum();
    assert_eq!(of("run")[0]["totals"]["paths"].as_u64(), Some(ended));
}

#[test]
fn fingerprints_survive_another_run_of_moved_source() {
    let fingerprints = |source: &str, options: &[&str]| {
        let scratch = tempfile::tempdir().expect("there is room");
        fs::write(scratch.path().join("t.c"), source).expect("there is room");
        wryneck(scratch.path(), &[&["run", "--quiet", "--output", "out"], options, &["t.c", "--sym-arg", "4"]].concat());
        let log: Value = serde_json::from_str(&shown(scratch.path(), &["out", "--sarif", "-"])).expect("JSON");
        log["runs"][0]["results"].as_array().expect("results").iter().map(|r| r["partialFingerprints"].clone()).collect::<Vec<_>>()
    };
    let first = fingerprints(PROGRAM, &[]);
    assert_eq!(first.len(), 1);
    assert_eq!(first, fingerprints(&format!("// One more line.\n\n{PROGRAM}"), &["--search", "bfs"]));
    assert_ne!(first, fingerprints(&PROGRAM.replace("fill", "spill"), &[]));
}

/// `show` and `replay` refuse the folder `out`, in words with these parts.
#[track_caller]
fn refused(dir: &Path, parts: &[&str]) {
    for command in ["show", "replay"] {
        let out = wryneck(dir, &[command, "out"]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{command}: {said}");
        assert!(said.starts_with("error: `out") && said.contains("  = help: "), "{command}: {said}");
        contains(&said, parts);
    }
}

#[test]
fn folders_that_are_no_run_folders() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    refused(dir, &["`out` does not exist"]);
    fs::create_dir(dir.join("out")).expect("there is room");
    refused(dir, &["`out` is not a run folder: it is empty"]);
    fs::write(dir.join("out/test000001.ktest"), "KTEST").expect("there is room");
    refused(dir, &["`out` is not a run folder: it has no `run.db`"]);
    let out = wryneck(dir, &["show"]);
    contains(&String::from_utf8_lossy(&out.stderr), &["error: no run is given", "wryneck show wryneck-last"]);
    let out = wryneck(dir, &["show", "out", "--pdf", "-"]);
    contains(&String::from_utf8_lossy(&out.stderr), &["error: the option `--pdf` is unknown"]);
}

#[test]
fn databases_that_cannot_be_read() {
    let scratch = explored(&["--no-replay"]);
    let dir = scratch.path();
    let file = dir.join("out/run.db");
    let good = fs::read(&file).expect("it was written");
    let change = |sql: &str| {
        fs::write(&file, &good).expect("there is room");
        Connection::open(&file).and_then(|db| db.execute_batch(sql)).expect("the statement fits the schema");
    };

    fs::write(&file, "").expect("there is room");
    refused(dir, &["`out/run.db` is empty"]);
    fs::write(&file, "this is a text\n".repeat(1000)).expect("there is room");
    refused(dir, &["`out/run.db` is damaged: it is not a SQLite database"]);
    fs::write(&file, &good[..good.len() / 3]).expect("there is room");
    refused(dir, &["`out/run.db` is damaged"]);
    change("PRAGMA user_version = 1");
    refused(dir, &["`out/run.db` was written by an older version of wryneck: its schema is 1"]);
    change("PRAGMA user_version = 99");
    refused(dir, &["`out/run.db` was written by a newer version of wryneck: its schema is 99"]);
    change("DROP TABLE run");
    refused(dir, &["`out/run.db` is damaged: its tables are not those of a run"]);
    fs::remove_file(&file).expect("it was there");
    refused(dir, &["`out` is not a run folder: it has no `run.db`"]);

    // What only `show` reads.
    for sql in ["DROP TABLE finding", "UPDATE finding SET stack = '[]'", "UPDATE finding SET steps = '{'", "UPDATE path SET class = 'odd'"]
    {
        change(sql);
        let out = wryneck(dir, &["show", "out"]);
        assert_eq!(out.status.code(), Some(2), "{sql}");
        contains(&String::from_utf8_lossy(&out.stderr), &["error: `out/run.db` is damaged: ", "help: run the program again"]);
    }
}

/// No byte of a damaged database breaks the tool down.
#[test]
fn flipped_bytes_never_break_the_tool_down() {
    let scratch = explored(&["--no-replay"]);
    let dir = scratch.path();
    let file = dir.join("out/run.db");
    let good = fs::read(&file).expect("it was written");
    for i in 0..60_usize {
        let mut bad = good.clone();
        // A fixed sequence of places, spread over the whole file, more of them in its first page.
        let span = if i % 3 == 0 { 4096.min(bad.len()) } else { bad.len() };
        for k in 0..8 {
            let at = (i * 8 + k + 1).wrapping_mul(2_654_435_761) % span;
            bad[at] ^= 0x5a;
        }
        fs::write(&file, &bad).expect("there is room");
        let out = wryneck(dir, &["show", "out"]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(matches!(out.status.code(), Some(0 | 2)) && !said.contains("broke down") && !said.contains("panicked"), "{i}: {said}");
    }
}

#[test]
fn replays_need_the_bitcode() {
    let scratch = explored(&["--no-replay"]);
    let dir = scratch.path();
    for kept in ["out/program.bc", "t.c"] {
        fs::remove_file(dir.join(kept)).expect("it was there");
    }
    let out = wryneck(dir, &["replay", "out"]);
    contains(&String::from_utf8_lossy(&out.stderr), &["error: `", "program.bc`, which was explored, is gone", "help: "]);
    assert_eq!(out.status.code(), Some(2));
    contains(&shown(dir, &["out"]), &["= the source is not there any more", "1 finding; every path was explored\n"]);
}
