//! The run folder: what is in it, that a killed run leaves a readable one, that limits and an interrupt end cleanly.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
/// Has more paths than a test waits for.
const ENDLESS: &str =
    "int main(int argc, char **argv) {\n  volatile int n = 0;\n  for (char *p = argv[1]; *p; p++) if (*p == 'x') n++;\n  return n;\n}\n";

fn endless(dir: &Path) {
    fs::write(dir.join("endless.c"), ENDLESS).expect("there is room");
}

fn query<T: rusqlite::types::FromSql>(folder: &Path, sql: &str) -> T {
    let db = Connection::open_with_flags(folder.join("run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the database opens");
    db.query_row(sql, [], |row| row.get(0)).expect("the query fits the schema")
}

#[test]
fn a_run_leaves_a_numbered_folder_with_everything() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    fs::write(dir.join("t.c"), "int main(int argc, char **argv) { return argv[1][0] == 'a' ? 1 / (argc - 2) : 3; }\n")
        .expect("there is room");
    for number in 0..2 {
        let out = Command::new(WRYNECK).current_dir(dir).args(["run", "t.c", "--sym-arg", "1"]).output().expect("the tool was built");
        assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(fs::read_link(dir.join("wryneck-last")).expect("it is a link"), Path::new(&format!("wryneck-out-{number}")));
    }
    let folder = dir.join("wryneck-out-1");
    assert_eq!(query::<String>(&folder, "SELECT value FROM run WHERE name = 'status'"), "complete");
    assert_eq!(query::<i64>(&folder, "SELECT count(*) FROM path WHERE class = 'exit' AND what = '3'"), 1);
    assert_eq!(query::<String>(&folder, "SELECT kind || ' ' || line || ' ' || count FROM finding"), "division-by-zero 1 1");
    assert_eq!(query::<i64>(&folder, "SELECT covered FROM coverage WHERE line = 1"), 1);
    let test: String = query(&folder, "SELECT test FROM finding");
    let bytes = fs::read(folder.join(&test)).expect("the test was written");
    assert!(bytes.starts_with(b"KTEST\0\0\0\x03"));
    assert!(bytes.windows(2).any(|w| w == b"a\0"), "the input that divides by zero is in the test");
    assert!(folder.join(&test).with_extension("json").exists() && folder.join("info").exists());
}

#[test]
fn a_killed_run_leaves_a_readable_folder() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    endless(dir);
    let mut child = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["run", "--quiet", "--output", "out", "endless.c", "--sym-arg", "40"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the tool was built");
    let (folder, start) = (dir.join("out"), Instant::now());
    let paths = || {
        Connection::open_with_flags(folder.join("run.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| db.query_row("SELECT count(*) FROM path", [], |row| row.get::<_, i64>(0)))
    };
    while !paths().is_ok_and(|n| n > 0) {
        assert!(start.elapsed() < Duration::from_secs(60), "no path was committed in a minute");
        sleep(Duration::from_millis(50));
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert!(paths().expect("the database can be read") > 0);
    assert_eq!(query::<String>(&folder, "SELECT value FROM run WHERE name = 'status'"), "running");
    assert_eq!(query::<String>(&folder, "PRAGMA integrity_check"), "ok");
}

#[test]
fn limits_and_an_interrupt_end_cleanly() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    endless(dir);
    let out = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["run", "--json", "--max-time", "4s", "--output", "limited", "endless.c", "--sym-arg", "40"])
        .output()
        .expect("the tool was built");
    assert_eq!(out.status.code(), Some(3));
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one JSON object");
    assert_eq!(run["status"]["limit"], "time");
    assert_eq!(run["status"]["flag"], "--max-time");

    let mut child = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["run", "--json", "--output", "interrupted", "endless.c", "--sym-arg", "40"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tool was built");
    while !dir.join("interrupted/test000001.ktest").exists() {
        sleep(Duration::from_millis(50));
        assert!(child.try_wait().expect("it runs").is_none(), "it ended before it was interrupted");
    }
    // `timeout` sends two at once, which are one request.
    let twice = format!("kill -INT {0} && sleep 0.01 && kill -INT {0}", child.id());
    assert!(Command::new("bash").args(["-c", &twice]).status().expect("there is a bash").success());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(3));
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one JSON object");
    assert_eq!(run["status"]["limit"], "interrupted");
    assert!(run["totals"]["tests"].as_u64() > Some(0));
    assert_eq!(query::<String>(&dir.join("interrupted"), "SELECT value FROM run WHERE name = 'status'"), "stopped");
}

#[test]
fn text_and_bitcode_of_llvm_are_targets() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    fs::write(dir.join("t.c"), "int main(int argc, char **argv) { return argv[1][0] == 'a'; }\n").expect("there is room");
    for (flags, file) in [(["-S", "-emit-llvm"], "t.ll"), (["-c", "-emit-llvm"], "t.bc")] {
        let done =
            Command::new("clang-22").current_dir(dir).args(flags).args(["-O1", "t.c", "-o", file]).status().expect("clang-22 is installed");
        assert!(done.success());
        let run = Command::new(WRYNECK)
            .current_dir(dir)
            .args(["run", "--json", "--emit", "all", file, "--sym-arg", "1"])
            .output()
            .expect("the tool was built");
        assert_eq!(run.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&run.stderr));
        let replay = Command::new(WRYNECK).current_dir(dir).args(["replay", "wryneck-last"]).output().expect("the tool was built");
        assert_eq!(replay.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&replay.stdout));
    }
}

/// What a test does to files it does to a copy, as its path did; the real ones stay.
#[test]
fn replays_change_nothing_outside() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    fs::write(dir.join("kept"), "old\n").expect("there is room");
    let program = "#include <fcntl.h>\n#include <signal.h>\n#include <unistd.h>\n\
        int main(int argc, char **argv) {\n\
        \u{20} int file = open(KEPT, O_WRONLY | O_TRUNC);\n\
        \u{20} if (file < 0 || write(file, argv[1], 1) != 1 || close(file)) return 2;\n\
        \u{20} return argv[1][0] == 'x' ? 1 : 0;\n}\n";
    fs::write(dir.join("t.c"), program).expect("there is room");
    let flag = format!("--cc-flag=-DKEPT=\"{}\"", dir.join("kept").display());
    let run = Command::new(WRYNECK)
        .current_dir(dir)
        .args(["run", "--emit", "all", "--output", "out", &flag, "t.c", "--sym-arg", "1"])
        .output()
        .expect("the tool was built");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains(" exit 0") && said.contains(" exit 1") && !said.contains(" exit 2"), "{said}");
    let replay = Command::new(WRYNECK).current_dir(dir).args(["replay", "out"]).output().expect("the tool was built");
    let said = String::from_utf8_lossy(&replay.stdout);
    // In a container it may not be possible to let the file be opened.
    assert!(said.contains(" 0 different end"), "{said}");
    assert_eq!(fs::read_to_string(dir.join("kept")).expect("it is there"), "old\n");
}

/// A character that decides whether the file is opened, and one that decides nothing.
const TREE: &str = "#include <stdio.h>\nint main(int argc, char **argv) {\n  volatile int n = 0;\n  if (argv[1][1] == 'y') n++;\n\
                    \x20 if (argv[1][0] == 'x') fclose(fopen(\"t.c\", \"r\"));\n  return 0;\n}\n";

#[test]
fn the_tree_of_paths_knows_events_and_what_pruning_leaves_out() {
    let scratch = tempfile::tempdir().expect("there is room");
    fs::write(scratch.path().join("t.c"), TREE).expect("there is room");
    let tree = |option: &[&str]| -> Vec<serde_json::Value> {
        let command = ["verify", "--rule", "open-close", "--no-replay", "--cc-flag", "-O0", "--tree", "tree"];
        let mut run = Command::new(WRYNECK);
        run.current_dir(scratch.path()).args(command).args(option).args(["t.c", "--sym-arg", "2"]);
        let out = run.output().expect("the tool was built");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = fs::read_to_string(scratch.path().join("tree")).expect("it was written");
        text.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect()
    };
    let (all, pruned) = (tree(&["--no-prune"]), tree(&["--audit", "off"]));
    assert_eq!((all.len(), pruned.len()), (4, 2));
    let opens = |path: &&serde_json::Value| path["events"] == "open-close/open#1 open-close/close#1";
    assert_eq!((all.iter().filter(opens).count(), pruned.iter().filter(opens).count()), (2, 1));
    assert!(all.iter().all(|path| path["end"] == "exit"));
    // The places of decisions that nobody wants, on a path that is explored all the same up to there; by node: whether pruning explores it.
    let (mut explored, mut left_out) = (vec![true], Vec::new());
    let mut relevant = 0;
    for path in &all {
        let mut wanted = explored[path["after"].as_u64().expect("a number") as usize];
        for decision in path["new"].as_array().expect("a list") {
            left_out.extend((wanted && decision[2] == false).then(|| decision[1].as_str().unwrap_or_default()));
            wanted &= decision[2] == true;
            explored.push(wanted);
        }
        relevant += usize::from(wanted);
    }
    assert_eq!((relevant, left_out), (pruned.len(), vec!["t.c:4"]));
}
