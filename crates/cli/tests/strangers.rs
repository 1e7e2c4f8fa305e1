//! Run folders from strangers, in small: `cargo xtask gate strangers` has forty attacks and thousands of mutants.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

fn wryneck(dir: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(dir).args(words).output().expect("the tool was built")
}

/// What it said, where it must have failed with the tool's exit code for errors.
fn refused(dir: &Path, words: &[&str]) -> String {
    let done = wryneck(dir, words);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{words:?}: {said}");
    said
}

/// A folder with a run of a small program, and its database.
fn explored(dir: &Path) -> Connection {
    fs::write(dir.join("t.c"), "int main(int c, char **v) { return v[1][0] == 'x'; }\n").expect("there is room");
    let run = wryneck(dir, &["run", "--emit", "all", "--output", "out", "t.c", "--sym-arg", "1"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    Connection::open(dir.join("out/run.db")).expect("it is a database")
}

fn change(db: &Connection, fact: &str, value: &str) {
    assert_eq!(db.execute("UPDATE run SET value = ? WHERE name = ?", [value, fact]).expect("it is a table"), 1);
}

#[test]
fn flags_come_from_a_list_unless_the_user_gave_them() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    let db = explored(dir);
    change(&db, "cc_flags", r#"["-fplugin=/no/such.so"]"#);
    let said = refused(dir, &["replay", "out"]);
    assert!(said.contains("`-fplugin=/no/such.so`, which is not on the list"), "{said}");
    // The user's own, which the seal tells.
    let run = ["run", "--emit", "all", "--output", "own", "--cc-flag=-include", "--cc-flag=stdio.h", "t.c", "--sym-arg", "1"];
    assert_eq!(wryneck(dir, &run).status.code(), Some(0));
    assert_eq!(wryneck(dir, &["replay", "own"]).status.code(), Some(0));
}

#[test]
fn what_a_foreign_folder_names_outside_is_named_by_the_user() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    let db = explored(dir);
    change(&db, "seal", "");
    drop(db);
    // Its bitcode lies in the folder.
    let replay = wryneck(dir, &["replay", "out"]);
    let said = String::from_utf8_lossy(&replay.stderr).into_owned();
    assert!(replay.status.code() == Some(0) && said.contains("lies outside of the run folder"), "{said}");
    fs::copy(dir.join("out/program.bc"), dir.join("program.bc")).expect("it is there");
    fs::remove_file(dir.join("out/program.bc")).expect("it is there");
    let db = Connection::open(dir.join("out/run.db")).expect("it is a database");
    for fact in ["program", "bitcode"] {
        change(&db, fact, &dir.join("program.bc").display().to_string());
    }
    db.execute("UPDATE run SET value = '{}' WHERE name = 'content'", []).expect("it is a table");
    drop(db);
    let said = refused(dir, &["replay", "out"]);
    assert!(said.contains("name it: `wryneck replay --program"), "{said}");
    assert_eq!(wryneck(dir, &["replay", "--program", "program.bc", "out"]).status.code(), Some(0));
}

#[test]
fn a_target_that_changed_is_not_replayed() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    drop(explored(dir));
    fs::write(dir.join("t.c"), "int main(void) { return 9; }\n").expect("there is room");
    let said = refused(dir, &["replay", "out"]);
    assert!(said.contains("t.c` has changed since it was explored"), "{said}");
}

#[test]
fn a_damaged_cache_heals() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    fs::write(dir.join("t.c"), "int main(int c, char **v) { return v[1][0] == 'x'; }\n").expect("there is room");
    let run = || {
        let mut command = Command::new(WRYNECK);
        command.current_dir(dir).args(["run", "--no-libc", "t.c", "--sym-arg", "1"]).env("WRYNECK_CACHE", dir.join("cache"));
        let done = command.output().expect("the tool was built");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(matches!(done.status.code(), Some(0 | 3)), "{said}");
        said
    };
    assert!(!run().contains("in the cache"));
    let files = |folder: &str, ending: &str| -> Vec<_> {
        let all = fs::read_dir(dir.join("cache").join(folder)).expect("it is there").flatten().map(|e| e.path());
        all.filter(|path| path.extension().is_some_and(|e| e == ending)).collect()
    };
    for (folder, ending) in [("c", "bc"), ("ir", "wir")] {
        for file in files(folder, ending) {
            let mut bytes = fs::read(&file).expect("it is there");
            bytes.truncate(bytes.len() - 40);
            fs::write(&file, &bytes).expect("there is room");
        }
        assert!(run().contains("it is made again"), "{folder}");
        assert!(!run().contains("in the cache"), "{folder}");
    }
    // Of a killed run.
    fs::create_dir(dir.join("cache/tmp/left")).expect("there is room");
    run();
    assert!(!dir.join("cache/tmp/left").exists());
}

#[test]
fn variables_and_alignments_of_terabytes_are_refused() {
    let scratch = tempfile::tempdir().expect("there is room");
    let dir = scratch.path();
    fs::write(dir.join("t.c"), "static char a[1L << 42];\nint main(int c, char **v) { a[c] = v[1][0]; return a[c * 2L]; }\n")
        .expect("there is room");
    let said = refused(dir, &["run", "--no-libc", "t.c", "--sym-arg", "1"]);
    assert!(said.contains("the program's variables, as they are aligned, need"), "{said}");
    let aligned: String = (0..300).map(|i| format!("_Alignas(1 << 28) volatile char a{i}; ")).collect();
    let sum: String = (0..300).map(|i| format!(" + a{i}")).collect();
    fs::write(dir.join("a.c"), format!("{aligned}\nint main(int c, char **v) {{ return v[1][0]{sum}; }}\n")).expect("there is room");
    let said = refused(dir, &["run", "--no-libc", "a.c", "--sym-arg", "1"]);
    assert!(said.contains("the program's variables, as they are aligned, need"), "{said}");
}
