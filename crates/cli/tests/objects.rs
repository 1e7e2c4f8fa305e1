//! Relocatable objects: several, linked, end as their native program does; any function of them, or of executables, is an entry; what is wrong with
//! them is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("there is room"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a source of `tests/objects` to `NAME.o`, or to another file.
    #[track_caller]
    fn compiled(&self, source: &str, flags: &[&str]) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects").join(source);
        let done = Command::new("musl-gcc").current_dir(self.0.path()).args(flags).arg("-c").arg(path).status();
        assert!(done.expect("musl-tools is installed").success(), "{source} {flags:?}");
    }

    #[track_caller]
    fn linked(&self, words: &[&str]) {
        let done = Command::new("musl-gcc").current_dir(self.0.path()).args(words).status();
        assert!(done.expect("musl-tools is installed").success(), "{words:?}");
    }

    fn wryneck(&self, words: &[&str]) -> Output {
        Command::new(WRYNECK).current_dir(self.0.path()).args(words).output().expect("the tool was built")
    }

    #[track_caller]
    fn explored(&self, words: &[&str]) -> Value {
        let _ = fs::remove_dir_all(self.path("out"));
        let out = self.wryneck(&[&["run", "--emit", "all", "--json", "--output", "out"], words].concat());
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&out.stderr)))
    }

    /// What the first test's path printed.
    fn printed(&self) -> String {
        let test: Value = serde_json::from_slice(&fs::read(self.path("out/test000001.json")).expect("it was written")).expect("JSON");
        text(&serde_json::from_value::<Vec<u8>>(test["stdout"].clone()).expect("bytes"))
    }

    #[track_caller]
    fn refused(&self, words: &[&str], parts: &[&str]) {
        let _ = fs::remove_dir_all(self.path("out"));
        let out = self.wryneck(&[&["run", "--output", "out"], words].concat());
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{words:?}: `{part}` is missing: {said}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ends(run: &Value) -> Vec<(String, u64)> {
    let word = |e: &Value, key: &str| e[key].as_str().unwrap_or("").to_owned();
    let end = |e: &Value| (format!("{} {}", word(e, "class"), word(e, "what")), e["count"].as_u64().unwrap_or(0));
    let mut all: Vec<_> = run["ends"].as_array().expect("ends are listed").iter().map(end).collect();
    all.sort();
    all
}

/// In every model of code and of thread-local storage.
#[test]
fn objects_end_as_their_program() {
    let place = Place::new();
    let flags: [&[&str]; 8] = [
        &["-O0", "-g"],
        &["-O2", "-fno-pic"],
        &["-O2", "-fPIC", "-gz", "-g"],
        &["-O0", "-fPIC"],
        &["-O1", "-fPIC", "-ftls-model=local-dynamic", "-fstack-protector-all"],
        &["-O1", "-ftls-model=initial-exec", "-fno-plt"],
        &["-O2", "-ffunction-sections", "-fdata-sections"],
        &["-O1", "-mcmodel=large", "-fno-pic"],
    ];
    for flags in flags {
        let flags = [flags, &["-fcommon"]].concat();
        place.compiled("one.c", &flags);
        place.compiled("two.c", &flags);
        place.linked(&["one.o", "two.o", "-static", "-o", "program"]);
        let native = Command::new(place.path("program")).arg("first").current_dir(place.path("")).output().expect("it runs");
        let run = place.explored(&["one.o", "two.o", "first"]);
        assert_eq!(ends(&run), [(format!("exit {}", native.status.code().expect("it exits")), 1)], "{flags:?}");
        assert_eq!(place.printed(), text(&native.stdout), "{flags:?}");
        let said = text(&place.wryneck(&["replay", "out"]).stdout);
        assert!(said.ends_with("1 same end, 0 different end, 0 cannot replay\n"), "{flags:?}: {said}");
        let run = place.explored(&["one.o", "two.o", "--sym-arg", "1"]);
        let kinds: Vec<String> = ends(&run).into_iter().map(|(end, _)| end).collect();
        assert_eq!(kinds, ["exit 20", "fault out-of-bounds-write"], "{flags:?}");
    }
}

/// What is found has lines where objects have debug information, and names its object where not.
#[test]
fn findings_in_objects_are_placed() {
    let place = Place::new();
    let found = |flags: &[&str], argument: &str| {
        place.compiled("one.c", flags);
        place.compiled("two.c", flags);
        let run = place.explored(&["one.o", "two.o", argument]);
        assert_eq!(run["findings"].as_array().map(Vec::len), Some(1), "{flags:?} {argument}: {run}");
        run["findings"][0].clone()
    };
    let finding = found(&["-O0", "-g", "-fcommon"], "t");
    assert_eq!(finding["message"], "write of 4 bytes at offset 16 of `table` (16 bytes by debug information)");
    let place_of = &finding["stack"][0];
    assert!(place_of["file"].as_str().is_some_and(|file| file.ends_with("one.c")) && place_of["line"] == 42, "{place_of}");
    let finding = found(&["-O0", "-g", "-fcommon"], "h");
    assert_eq!(finding["message"], "write of 4 bytes at offset 8 of a heap object (8 bytes) allocated at one.c:38");
    let finding = found(&["-O2", "-fcommon"], "t");
    assert_eq!(finding["message"], "write of 4 bytes at offset 16 of `two.o(.data)` (16 bytes)");
}

#[test]
fn groups_of_sections_are_kept_once() {
    let place = Place::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/group.cc");
    for level in ["-O0", "-O2"] {
        for (name, define) in [("main.o", "-DMAIN"), ("other.o", "-DOTHER")] {
            let mut compiler = Command::new("g++");
            compiler.current_dir(place.path("")).args([level, "-g", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", define]);
            assert!(compiler.arg("-c").arg(&source).args(["-o", name]).status().expect("g++ is installed").success());
        }
        let run = place.explored(&["main.o", "other.o"]);
        assert_eq!(ends(&run), [("exit 0".to_owned(), 1)], "{level}: {run}");
        assert_eq!(place.printed(), "11 9\n", "{level}");
    }
}

/// With debug information an entry gets what its parameters say, as bitcode's; a preamble sets up what it works on; on every front end alike.
#[test]
fn any_function_is_an_entry() {
    let place = Place::new();
    place.compiled("list.c", &["-O0", "-g"]);
    place.compiled("gaps.c", &["-O0", "-g", "-DMAIN"]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/list.c").display().to_string();
    fs::write(place.path("stub.c"), "int nowhere(int x) { return x; }\n").expect("there is room");
    for (name, flags) in [("static", &["-static"][..]), ("dynamic", &[])] {
        place.linked(&[&["list.o", "gaps.o", "stub.c", "-o", name], flags].concat());
    }
    for target in [&source, "list.o", "./static", "./dynamic"] {
        let run = place.explored(&["--entry", "find", "--preamble", "set_up", target]);
        assert_eq!(ends(&run), [("exit 0".to_owned(), 4)], "{target}: {run}");
        let run = place.explored(&["--entry", "find", target]);
        assert_eq!(ends(&run), [("fault abort".to_owned(), 1)], "{target}: {run}");
        let run = place.explored(&["--entry", "peek", "--entry-bytes", "8", target]);
        assert_eq!(ends(&run), [("exit 0".to_owned(), 1), ("fault out-of-bounds-read".to_owned(), 1)], "{target}: {run}");
        assert_eq!(run["findings"][0]["message"], "read of 1 byte at offset 8 of what `text` points to (8 bytes)", "{target}: {run}");
        assert!(run["findings"][0]["native"].to_string().contains("nothing calls the entry"), "{target}: {run}");
    }
    // Without, six words of input, which the ledger says.
    place.compiled("list.c", &["-O0"]);
    let run = place.explored(&["--entry", "find", "--preamble", "set_up", "list.o"]);
    assert_eq!(ends(&run), [("exit 0".to_owned(), 4)], "{run}");
    assert!(run["ledger"].to_string().contains("what `find` takes is not known without debug information: 6 words of input"), "{run}");
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    place.compiled("gaps.c", &["-O0", "-g"]);
    let run = place.explored(&["--entry", "calls", "gaps.o"]);
    let unsupported = "unsupported call of `nowhere`, which is defined nowhere".to_owned();
    assert_eq!(ends(&run), [("exit 0".to_owned(), 1), (unsupported, 1)], "{run}");
    place.refused(&["--entry", "real", "gaps.o"], &["the parameter `x` of `real` is neither an integer nor a pointer"]);
    place.refused(&["gaps.o"], &["the program has no function `main`", "`--entry NAME`", "`calls`"]);
    place.refused(&["--entry", "nothing", "gaps.o"], &["the program has no function `nothing`"]);
    place.refused(&["--entry", "calls", "--preamble", "nothing", "gaps.o"], &["the program has no function `nothing`"]);
    place.refused(&["--preamble", "calls", "gaps.o"], &["`--preamble`", "`--entry NAME`"]);
    place.refused(&["--entry", "calls", "--off", "stand-ins", "gaps.o"], &["`--off stand-ins` cannot be used with machine code"]);
    fs::copy(place.path("gaps.o"), place.path("same.o")).expect("there is room");
    place.refused(&["--entry", "calls", "gaps.o", "same.o"], &["`same.o`", "is defined in `gaps.o` too"]);
    place.compiled("gaps.c", &["-O0", "-DMISSING"]);
    let run = place.explored(&["--entry", "uses", "gaps.o"]);
    assert_eq!(ends(&run), [("unsupported read of 4 bytes at `missing`, which is not in the objects".to_owned(), 1)], "{run}");
    fs::write(place.path("broken.o"), &fs::read(place.path("same.o")).expect("it is there")[..700]).expect("there is room");
    place.refused(&["broken.o"], &["`broken.o` is a damaged ELF file"]);
}
