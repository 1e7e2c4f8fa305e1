//! Limits and interrupts: a run keeps to them in every phase, says what it gave up, and loses nothing that it found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
/// Two faults and more paths than a test waits for.
const FAULTS: &str = "#include <stdlib.h>\nint main(int argc, char **argv) {\n  volatile int n = 0;\n  if (argv[1][0] == 'a') abort();\n\
                      \x20 if (argv[1][0] == 'b') return 1 / (argc - 2);\n  for (char *p = argv[1]; *p; p++) if (*p == 'x') n++;\n  return n;\n}\n";

fn hard(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hard").join(name)
}

fn scratch() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("faults.c"), FAULTS).expect("there is room");
    dir
}

fn wryneck(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(WRYNECK);
    command.current_dir(dir).args(words);
    command
}

fn json(out: &Output) -> serde_json::Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn gave_up(run: &serde_json::Value, what: &str) -> bool {
    let rows = run["ledger"].as_array().expect("a list");
    rows.iter().any(|row| row["kind"] == "cut-off" && row["what"].as_str().is_some_and(|text| text.contains(what)))
}

fn findings(folder: &Path) -> rusqlite::Result<i64> {
    let db = Connection::open_with_flags(folder.join("run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    db.query_row("SELECT count(*) FROM finding", [], |row| row.get(0))
}

/// Starts a run that goes on for long.
fn started(dir: &Path, output: &str) -> Child {
    let words = ["run", "--no-replay", "--json", "--output", output, "faults.c", "--sym-arg", "40"];
    wryneck(dir, &words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the tool was built")
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what} in two minutes");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_lowering_that_takes_too_long_is_ended_and_says_so() {
    let dir = scratch();
    let source = hard("lowering.c");
    let out = wryneck(dir.path(), &["run", "--max-time", "1s", &source.display().to_string(), "--sym-arg", "1"])
        .env("WRYNECK_CACHE", dir.path().join("cache"))
        .output()
        .expect("the tool was built");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("compiling was ended: time limit (1.00 s)") && said.contains("--max-time"), "{said}");
}

#[test]
fn one_operation_that_takes_too_long_is_cut_off_by_the_watchdog() {
    let dir = scratch();
    let source = hard("object.c").display().to_string();
    let words = ["run", "--json", "--max-time", "1s", "--cc-flag", "-DSIZE=11000000", &source];
    let out = wryneck(dir.path(), &words).output().expect("the tool was built");
    let run = json(&out);
    assert_eq!((out.status.code(), &run["status"]["limit"]), (Some(3), &"time".into()), "{run}");
    assert!(gave_up(&run, "the exploration"), "{run}");
    let folder = dir.path().join(run["folder"].as_str().expect("a folder"));
    assert_eq!(findings(&folder).expect("the folder can be read"), 0);
}

#[test]
fn an_input_that_takes_too_much_memory_is_refused_by_name() {
    let dir = scratch();
    let source = hard("object.c").display().to_string();
    let out = wryneck(dir.path(), &["run", "--json", "--max-memory", "500M", &source]).output().expect("the tool was built");
    let run = json(&out);
    assert_eq!((out.status.code(), &run["ends"][0]["what"]), (Some(3), &"memory-of-one-path".into()), "{run}");
    let what = run["ledger"][0]["what"].as_str().expect("a row");
    assert!(what.contains("the symbolic input `v` of 4194304 bytes"), "{what}");
}

#[test]
fn a_large_file_of_the_host_is_refused_by_name() {
    let dir = scratch();
    File::create(dir.path().join("big")).and_then(|file| file.set_len(200 << 20)).expect("there is room");
    let source = hard("file.c").display().to_string();
    let words = ["run", "--json", "--max-memory", "500M", &source, "big", "--sym-arg", "1"];
    let run = json(&wryneck(dir.path(), &words).output().expect("the tool was built"));
    let what = run["ledger"][0]["what"].as_str().expect("a row");
    assert!(what.contains("/big` was not read"), "{what}");
    assert_eq!(run["exit_code"], 3);
}

#[test]
fn memory_has_a_bound_that_holds() {
    let dir = scratch();
    let source = hard("expressions.c").display().to_string();
    let out =
        wryneck(dir.path(), &["run", "--json", "--max-memory", "400M", &source, "--sym-arg", "1"]).output().expect("the tool was built");
    let run = json(&out);
    assert_eq!(run["status"]["limit"], "memory", "{run}");
    let most = run["totals"]["memory"].as_u64().expect("a number");
    assert!(most > 300 << 20 && most < 440 << 20, "{most}");
}

#[test]
fn a_path_that_fills_memory_ends_and_the_others_go_on() {
    let dir = scratch();
    // By blocks, and by stores of eight bytes.
    let source = "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  char c = argv[1][0];\n  while (c == 'x' || c == 'y') {\n\
        \x20   long *block = malloc(32 << 20);\n    if (!block) return 9;\n    if (c == 'x') memset(block, argc, 32 << 20);\n\
        \x20   for (int i = 0; c == 'y' && i < 4 << 20; i += 128) block[i] = i;\n  }\n  return c == 'z';\n}\n";
    fs::write(dir.path().join("fill.c"), source).expect("there is room");
    let words = ["run", "--json", "--max-memory", "500M", "fill.c", "--sym-arg", "1"];
    let run = json(&wryneck(dir.path(), &words).output().expect("the tool was built"));
    let ends: Vec<String> =
        run["ends"].as_array().expect("a list").iter().map(|end| format!("{} {} {}", end["count"], end["class"], end["what"])).collect();
    let expected = [r#"2 "limit" "memory-of-one-path""#, r#"1 "exit" "1""#];
    assert!(expected.iter().all(|end| ends.iter().any(|have| have == end)) && !ends.iter().any(|end| end.contains("\"9\"")), "{ends:?}");
    assert_eq!((&run["exit_code"], &run["status"]["kind"]), (&3.into(), &"complete".into()), "{run}");
}

#[test]
fn an_allocation_that_is_too_large_here_is_told() {
    let dir = scratch();
    for (size, told) in [("5ul << 30", true), ("-8ul", false), ("1ul << 30", false)] {
        fs::write(dir.path().join("large.c"), format!("#include <stdlib.h>\nint main(void) {{ return malloc({size}) != 0; }}\n"))
            .expect("there is room");
        let _ = fs::remove_dir_all(dir.path().join("out"));
        let run = json(&wryneck(dir.path(), &["run", "--json", "--output", "out", "large.c"]).output().expect("the tool was built"));
        assert_eq!(run["every_path"], !told, "{size}: {run}");
    }
}

#[test]
fn the_tree_of_paths_says_what_it_lacks() {
    let dir = scratch();
    let source = hard("paths.c").display().to_string();
    let words = ["run", "--json", "--max-time", "4s", "--tree", "tree", &source, "--sym-arg", "40"];
    let run = json(&wryneck(dir.path(), &words).output().expect("the tool was built"));
    let tree = fs::read_to_string(dir.path().join("tree")).expect("it was begun");
    assert!(tree.ends_with('\n') && tree.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    // However far it came: what is missing is in the ledger.
    let rows = run["ledger"].as_array().expect("a list").iter();
    let missing: u64 = rows.filter(|row| row["what"] == "writing the tree of paths (time)").filter_map(|row| row["count"].as_u64()).sum();
    assert_eq!(run["totals"]["paths"], tree.lines().count() as u64 + missing, "{run}");
}

#[test]
fn a_run_folder_has_a_limit_and_keeps_findings() {
    let dir = scratch();
    let words = ["run", "--no-replay", "--json", "--emit", "all", "--max-disk", "20M", "faults.c", "--sym-arg", "40"];
    let run = json(&wryneck(dir.path(), &words).output().expect("the tool was built"));
    assert_eq!((&run["status"]["limit"], &run["status"]["flag"]), (&"disk".into(), &"--max-disk".into()), "{run}");
    assert!(gave_up(&run, "tests were not written"), "{run}");
    let folder = dir.path().join(run["folder"].as_str().expect("a folder"));
    assert_eq!(findings(&folder).expect("the folder can be read"), 2);
    let size: u64 = fs::read_dir(&folder).expect("it is there").flatten().map(|f| f.metadata().map_or(0, |m| m.len())).sum();
    assert!(size < 22 << 20, "{size}");
}

#[test]
fn findings_are_on_disk_when_a_run_is_killed() {
    let dir = scratch();
    let mut run = started(dir.path(), "out");
    let folder = dir.path().join("out");
    wait_for("no findings", || findings(&folder).is_ok_and(|n| n == 2));
    run.kill().expect("it runs");
    run.wait().expect("it was killed");
    let shown = wryneck(dir.path(), &["show", "out", "--findings"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success() && said.contains("abort") && said.contains("division-by-zero"), "{said}");
}

#[test]
fn a_folder_can_be_read_from_its_first_moment() {
    let dir = scratch();
    for number in 0..5 {
        let name = format!("out{number}");
        let mut run = started(dir.path(), &name);
        wait_for("no folder", || dir.path().join(&name).exists());
        run.kill().expect("it runs");
        run.wait().expect("it was killed");
        let shown = wryneck(dir.path(), &["show", &name]).output().expect("the tool was built");
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    }
    let left: Vec<_> = fs::read_dir(dir.path()).expect("it is there").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

/// A reader that has a transaction open is in the way of nothing, at the end neither.
#[test]
fn a_reader_does_not_disturb_a_run() {
    let dir = scratch();
    let run = started(dir.path(), "out");
    let folder = dir.path().join("out");
    wait_for("no findings", || findings(&folder).is_ok_and(|n| n == 2));
    let db = Connection::open(folder.join("run.db")).expect("the database opens");
    db.execute_batch("BEGIN").expect("it can be read");
    let paths: i64 = db.query_row("SELECT count(*) FROM path", [], |row| row.get(0)).expect("it can be read");
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("there is a `kill`");
    assert!(interrupted.success());
    let out = run.wait_with_output().expect("it ends");
    let summary = json(&out);
    assert_eq!((out.status.code(), &summary["status"]["limit"]), (Some(1), &"interrupted".into()));
    let same: i64 = db.query_row("SELECT count(*) FROM path", [], |row| row.get(0)).expect("it can be read");
    assert_eq!(paths, same);
    drop(db);
    let shown = wryneck(dir.path(), &["show", "out"]).output().expect("the tool was built");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("interrupted"), "{}", String::from_utf8_lossy(&shown.stderr));
}

#[test]
fn files_that_cannot_be_written_are_told_before_the_run() {
    let dir = scratch();
    for option in ["--sarif", "--lcov", "--jsonl", "--tree", "--sequences"] {
        let words = ["run", "--output", "out", option, "nowhere/file", "faults.c", "--sym-arg", "1"];
        let out = wryneck(dir.path(), &words).output().expect("the tool was built");
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{option}: {said}");
        assert!(said.starts_with("error: cannot write `nowhere/file`"), "{option}: {said}");
        assert!(!dir.path().join("out").exists(), "{option}");
    }
}

/// Writing fails in the middle, as on a full disk: what was found is told all the same.
#[test]
fn a_disk_that_becomes_full_does_not_lose_the_summary() {
    let dir = scratch();
    let command = format!("ulimit -f 300; exec {WRYNECK} run --no-replay --emit all --output out faults.c --sym-arg 14");
    // Without the cache a limit on files would meet the compiler first.
    let warm =
        wryneck(dir.path(), &["run", "--no-replay", "--quiet", "--max-time", "20s", "--output", "warm", "faults.c", "--sym-arg", "1"]);
    assert!({ warm }.status().expect("the tool was built").code().is_some());
    let out = Command::new("bash").current_dir(dir.path()).args(["-c", &command]).output().expect("there is a shell");
    let (said, told) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(2), "{told}");
    assert!(said.contains("fault[abort]") && said.contains("2 findings; stopped: disk"), "{said}");
    assert!(told.contains("cannot write `out/run.db`; is the disk full?"), "{told}");
    assert_eq!(findings(&dir.path().join("out")).expect("the folder can be read"), 2);
}

/// What a killed run started does not go on.
#[test]
fn a_compiler_ends_with_the_run_that_started_it() {
    let dir = scratch();
    let mark = dir.path().join("marked.c");
    fs::copy(hard("lowering.c"), &mark).expect("there is room");
    let mut run = wryneck(dir.path(), &["run", "marked.c", "--sym-arg", "1"])
        .env("WRYNECK_CACHE", dir.path().join("cache"))
        .stdout(Stdio::null())
        .stderr(Stdio::from(File::create(dir.path().join("log")).expect("there is room")))
        .spawn()
        .expect("the tool was built");
    let works = |dir: &Path| {
        let processes = fs::read_dir("/proc").expect("there is a /proc").flatten();
        let here = |entry: fs::DirEntry| {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let is_clang = line.starts_with(b"clang-22\0");
            is_clang && fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == dir)
        };
        processes.into_iter().any(here)
    };
    let place = dir.path().canonicalize().expect("it is there");
    wait_for("no compiler", || works(&place));
    run.kill().expect("it runs");
    run.wait().expect("it was killed");
    wait_for("the compiler goes on", || !works(&place));
}

#[test]
fn a_path_of_many_batches_ends_though_thousands_are_pending() {
    let scratch = scratch();
    let dir = scratch.path();
    let long = "#include <unistd.h>\nint main(void) {\n  unsigned char b[64];\n  int n = 0;\n  if (read(0, b, 64) != 64) return 1;\n\
                \x20 for (int i = 0; i < 16000; i++) if (b[i % 64] > i * 7 % 251) n++;\n  return n & 1;\n}\n";
    fs::write(dir.join("long.c"), long).expect("there is room");
    let words = ["run", "--json", "--no-replay", "--max-instructions", "5000000", "--output", "out", "long.c", "--sym-stdin", "64"];
    let run = json(&wryneck(dir, &words).output().expect("the tool was built"));
    assert!(gave_up(&run, "paths that were running or pending (instructions)"), "{run}");
    assert!(run["totals"]["paths"].as_u64().is_some_and(|paths| paths >= 20), "{}", run["totals"]);
}
