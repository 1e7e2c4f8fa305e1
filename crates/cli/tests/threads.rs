//! Native replays of paths with threads, beside those of `tests/threads`: of bitcode, and where the schedule cannot be followed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

const RACE: &str = "#include <pthread.h>\n\
    static int n;\n\
    static void *run(void *p) { n++; return p; }\n\
    int main(void) {\n\
      pthread_t t;\n\
      pthread_create(&t, 0, run, 0);\n\
      n++;\n\
      return pthread_join(t, 0);\n\
    }\n";

/// Its threads compute for more instructions than one may run at a time, in fewer blocks.
const LONG: &str = "#include <pthread.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static unsigned n;\n\
    static void *run(void *p) {\n\
      unsigned x = 1;\n\
      for (int i = 0; i < 60000; i++) x = x * 3 + 1;\n\
      pthread_mutex_lock(&m);\n\
      n += x & 1;\n\
      pthread_mutex_unlock(&m);\n\
      return p;\n\
    }\n\
    int main(void) {\n\
      pthread_t t[2];\n\
      for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);\n\
      for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n\
      return 0;\n\
    }\n";

/// What the tool says of a program in this folder.
#[track_caller]
fn said(folder: &Path, words: &[&str]) -> Value {
    let done = Command::new(WRYNECK).current_dir(folder).args(words).output().expect("the tool was built");
    serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", String::from_utf8_lossy(&done.stderr)))
}

#[test]
fn a_race_of_bitcode_is_reproduced() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("race.c"), RACE).expect("there is room");
    let built = Command::new(WRYNECK).current_dir(folder.path()).args(["cc", "-w", "-g", "race.c", "-o", "race"]).status();
    assert!(built.expect("the tool was built").success());
    let run = said(folder.path(), &["run", "--json", "--output", "out", "race"]);
    let finding = &run["findings"][0];
    assert_eq!((&finding["kind"]["id"], &finding["native"]["verdict"]), (&"data-race".into(), &"reproduced".into()), "{run}");
}

#[test]
fn another_order_than_that_of_the_path_is_no_verdict() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("long.c"), LONG).expect("there is room");
    said(folder.path(), &["run", "--json", "--schedules", "1", "--emit", "all", "--output", "out", "long.c"]);
    let replayed = said(folder.path(), &["replay", "--json", "out/test000001.ktest"]);
    let test = &replayed["tests"][0];
    assert_eq!(test["verdict"], "cannot replay", "{replayed}");
    assert!(test["why"].as_str().is_some_and(|why| why.contains("in another order") && why.contains("run for long")), "{replayed}");
}

#[test]
fn a_schedule_that_does_not_fit_is_no_verdict() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("race.c"), RACE).expect("there is room");
    said(folder.path(), &["run", "--json", "--off", "races", "--schedules", "1", "--emit", "all", "--output", "out", "race.c"]);
    let test = folder.path().join("out/test000001.ktest");
    let mut bytes = fs::read(&test).expect("the run wrote a test");
    // The value of the last input, which is one of the schedule.
    *bytes.last_mut().expect("a test has bytes") = 200;
    fs::write(&test, bytes).expect("there is room");
    let replayed = said(folder.path(), &["replay", "--json", "out/test000001.ktest"]);
    assert_eq!(replayed["tests"][0]["why"], "fewer threads can go on than the test says `schedule`", "{replayed}");
}
