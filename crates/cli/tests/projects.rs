//! Whole projects: `tests/project` (a static library, two programs, one of them in C++) is built as it stands by make and by cmake, its
//! programs are explored and their tests replayed; and everything that can be wrong with a program's bitcode is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// A copy of the project, removed when it is dropped.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().expect("there is room");
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project")).expect("the repository has it");
        for file in files.flatten() {
            fs::copy(file.path(), dir.path().join(file.file_name())).expect("there is room");
        }
        Project(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn wryneck(&self, words: &str) -> Output {
        let words = words.split_whitespace();
        Command::new(WRYNECK).current_dir(self.0.path()).args(words).output().expect("the tool was built")
    }

    /// Runs a command that must succeed; its standard error.
    #[track_caller]
    fn done(&self, words: &str) -> String {
        let out = self.wryneck(words);
        assert!(out.status.success(), "{words}: {}{}", text(&out.stdout), text(&out.stderr));
        text(&out.stderr)
    }

    /// Runs a command that must be refused in these words.
    #[track_caller]
    fn refused(&self, words: &str, parts: &[&str]) {
        let out = self.wryneck(words);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words}: {said}");
        for part in parts {
            assert!(said.contains(part), "{words}: `{part}` is missing: {said}");
        }
    }

    /// Explores a program to its end: exit statuses in order; every test must replay to the same end.
    #[track_caller]
    fn explored(&self, words: &str) -> Vec<String> {
        let _ = fs::remove_dir_all(self.path("out"));
        let out = self.wryneck(&format!("run --emit all --json --output out {words}"));
        assert_eq!(out.status.code(), Some(0), "{words}: {}{}", text(&out.stdout), text(&out.stderr));
        let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("it is JSON");
        let replayed = text(&self.wryneck("replay out").stdout);
        assert!(replayed.ends_with(" same end, 0 different end, 0 cannot replay\n"), "{replayed}");
        let ends = run["ends"].as_array().expect("ends are listed").iter();
        let mut statuses: Vec<String> =
            ends.filter(|e| e["class"] == "exit").filter_map(|e| Some(e["what"].as_str()?.to_owned())).collect();
        statuses.sort();
        statuses
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_project_of_make_is_built_explored_and_replayed() {
    let project = Project::new();
    let said = project.done("build -- make");
    assert_eq!(said, "wryneck: made `./check`\nwryneck: made `./count`\n");
    assert_eq!(project.explored("count --sym-arg 3"), ["0", "1", "2"]);
    assert_eq!(project.explored("./check --sym-arg 3"), ["0", "1"]);
    assert_eq!(project.explored("./check --sym-arg 1 two"), ["1"]);
    // The programs are what they would be: two words.
    let count = Command::new(project.path("count")).arg("a b").output().expect("it is a program");
    assert_eq!((count.status.code(), &*count.stdout), (Some(2), &b"2\n"[..]));
}

#[test]
fn a_project_of_cmake_is_built_and_explored() {
    if Command::new("cmake").arg("--version").output().is_err() {
        return;
    }
    let project = Project::new();
    project.done("build -- cmake -S . -B made");
    let said = project.done("build -- cmake --build made");
    assert_eq!(said, "wryneck: made `./made/check`\nwryneck: made `./made/count`\n");
    assert_eq!(project.explored("made/count --sym-arg 3"), ["0", "1", "2"]);
    assert_eq!(project.explored("made/check --sym-arg 3"), ["0", "1"]);
}

#[test]
fn bitcode_is_written_to_a_file() {
    let project = Project::new();
    project.done("build -- make");
    for (words, file) in [("check", "check.bc"), ("libwords.a -o lib.bc", "lib.bc"), ("-o words.bc words.o", "words.bc")] {
        project.done(&format!("extract {words}"));
        assert!(fs::read(project.path(file)).expect("it was written").starts_with(b"BC\xc0\xde"), "{words}");
    }
    assert_eq!(project.explored("check.bc --sym-arg 3"), ["0", "1"]);
}
