//! Several workers find what one finds, the library explores what the command does, and its example works.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use wryneck_session::{Emit, Options, Plan, explore};

#[path = "../examples/explore.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod example;

const PROGRAM: &str = r#"#include <stdlib.h>
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
  return n > v;
}
"#;

/// What is compared of a run: its paths' ends with their decisions, and its findings.
type Known = (Vec<String>, Vec<String>);

fn known(dir: &Path, source: &Path, workers: u32) -> Known {
    let folder = dir.join(format!("run{workers}"));
    let plan = Plan { emit: Emit::All, ..Plan::of(source, &["--sym-arg", "4"]) };
    let run = explore(&plan, Options { workers, folder: Some(folder.clone()), ..Options::default() }).expect("it can be explored");
    assert_eq!(run.status, wryneck_report::Status::Complete, "with {workers} workers");
    let db = Connection::open(folder.join("run.db")).expect("it was written");
    let ends = "SELECT class || ' ' || what || ' ' || depth || ' ' || hex(prefix) FROM path ORDER BY 1";
    let findings = "SELECT kind || ' ' || line || ' ' || message || ' ' || count FROM finding ORDER BY 1";
    let rows = |sql: &str| {
        let mut query = db.prepare(sql).expect("it is one");
        let rows = query.query_map([], |row| row.get(0)).expect("it has no parameters");
        rows.collect::<rusqlite::Result<Vec<String>>>().expect("they are text")
    };
    (rows(ends), rows(findings))
}

#[test]
fn several_workers_find_what_one_finds() {
    let dir = tempfile::tempdir().expect("there is room");
    let source = dir.path().join("faults.c");
    fs::write(&source, PROGRAM).expect("there is room");
    let one = known(dir.path(), &source, 1);
    assert!(one.0.len() > 100 && one.1.len() == 2, "{} paths, {} findings", one.0.len(), one.1.len());
    for workers in [2, 3] {
        assert_eq!(known(dir.path(), &source, workers), one, "{workers} workers");
    }
}

#[test]
fn the_example_prints_findings() {
    let dir = tempfile::tempdir().expect("there is room");
    let source = dir.path().join("divides.c");
    fs::write(&source, "int main(int argc, char **argv) { return 10 / (argv[1][0] - 'a'); }").expect("there is room");
    let words = [source.display().to_string(), "--sym-arg".to_owned(), "1".to_owned()];
    let found = example::findings(&words).expect("it can be explored");
    assert!(matches!(&found[..], [one] if one.starts_with("division-by-zero") && one.contains("=a")), "{found:?}");
}
