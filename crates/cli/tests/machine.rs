//! Executables as machine code: they end as natively, however they are linked; their paths are those of their bitcode; what is wrong with them
//! is found and named; and what cannot be done with them is said.

#[path = "machine/glibc.rs"]
mod glibc;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
/// How programs are linked, all for musl.
const LINKED: [&[&str]; 4] = [&["-static"], &["-static", "-g"], &["-static-pie", "-fPIE"], &[]];

/// A folder for programs, removed when it is dropped.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("there is room"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program of `tests/machine`.
    #[track_caller]
    fn compiled(&self, name: &str, flags: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine").join(name).with_extension("c");
        let done = Command::new("musl-gcc").current_dir(self.0.path()).args(flags).arg(source).args(["-o", name]).status();
        assert!(done.expect("musl-tools is installed").success(), "{name} {flags:?}");
    }

    /// Builds a program of the host's, for glibc.
    #[track_caller]
    fn built_by_gcc(&self, source: &str, flags: &[&str]) {
        let done = Command::new("gcc").current_dir(self.0.path()).arg("-w").args(flags).arg(source).status();
        assert!(done.expect("gcc is installed").success(), "{source} {flags:?}");
    }

    /// As [`Place::compiled`], by clang.
    #[track_caller]
    fn compiled_by_clang(&self, name: &str, flags: &[&str]) {
        let object = format!("{name}.o");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine").join(name).with_extension("c");
        let mut clang = Command::new("clang-22");
        clang.current_dir(self.0.path()).args(["--target=x86_64-linux-musl", "-fPIE", "-isystem", "/usr/include/x86_64-linux-musl", "-c"]);
        let done = clang.args(flags.iter().filter(|f| !f.starts_with("-static"))).arg(source).args(["-o", &object]).status();
        assert!(done.expect("clang is installed").success(), "{name} {flags:?}");
        let done = Command::new("musl-gcc").current_dir(self.0.path()).args(flags).args([&object, "-o", name]).status();
        assert!(done.expect("musl-tools is installed").success(), "{name} {flags:?}");
    }

    fn wryneck(&self, words: &[&str]) -> Output {
        Command::new(WRYNECK).current_dir(self.0.path()).args(words).output().expect("the tool was built")
    }

    fn native(&self, words: &[&str]) -> Output {
        Command::new(self.path(words[0])).current_dir(self.0.path()).args(&words[1..]).output().expect("it runs")
    }

    /// Explores; the run as JSON.
    #[track_caller]
    fn explored(&self, words: &[&str]) -> Value {
        let _ = fs::remove_dir_all(self.path("out"));
        let out = self.wryneck(&[&["run", "--emit", "all", "--json", "--output", "out"], words].concat());
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&out.stderr)))
    }

    /// All tests must replay to the same end.
    #[track_caller]
    fn replayed(&self) {
        let said = text(&self.wryneck(&["replay", "out"]).stdout);
        assert!(said.ends_with(" same end, 0 different end, 0 cannot replay\n"), "{said}");
    }

    #[track_caller]
    fn refused(&self, words: &[&str], parts: &[&str]) {
        let out = self.wryneck(words);
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

/// How paths end, and how many in each way.
fn ends(run: &Value) -> Vec<(String, u64)> {
    let end = |e: &Value| {
        (format!("{} {}", e["class"].as_str().unwrap_or(""), e["what"].as_str().unwrap_or("")), e["count"].as_u64().unwrap_or(0))
    };
    let mut all: Vec<_> = run["ends"].as_array().expect("ends are listed").iter().map(end).collect();
    all.sort();
    all
}

#[test]
fn concrete_runs_end_as_on_the_cpu() {
    let place = Place::new();
    fs::write(place.path("text"), "one\ntwo\nthree\n").expect("there is room");
    for flags in LINKED {
        for level in ["-O0", "-O2"] {
            place.compiled("works", &[&[level], flags].concat());
            let native = place.native(&["works", "first"]);
            for options in [&[][..], &["--off", "stand-ins"]] {
                let run = place.explored(&[options, &["./works", "first"]].concat());
                let status = native.status.code().expect("it exits");
                assert_eq!(ends(&run), [(format!("exit {status}"), 1)], "{flags:?} {level} {options:?}");
                let test: Value =
                    serde_json::from_slice(&fs::read(place.path("out/test000001.json")).expect("it was written")).expect("JSON");
                let printed: Vec<u8> = serde_json::from_value(test["stdout"].clone()).expect("bytes");
                assert_eq!(text(&printed), text(&native.stdout), "{flags:?} {level} {options:?}");
                place.replayed();
            }
        }
    }
}

/// The paths of an executable are those of its bitcode, with stand-ins and without.
#[test]
fn symbolic_runs_find_the_ends_that_bitcode_has() {
    let place = Place::new();
    let input = ["--sym-args", "0", "1", "3", "--sym-stdin", "2", "--sym-files", "1", "2"];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/asks.c");
    let bitcode = place.explored(&[&[source.to_str().expect("UTF-8")][..], &input].concat());
    let statuses = ["exit 1", "exit 2", "exit 5", "exit 6", "exit 9"];
    assert_eq!(ends(&bitcode).iter().map(|e| e.0.as_str()).collect::<Vec<_>>(), statuses);
    for flags in LINKED {
        place.compiled("asks", &[&["-O2"], flags].concat());
        let run = place.explored(&[&["./asks"][..], &input].concat());
        assert_eq!(ends(&run), ends(&bitcode), "{flags:?}");
        place.replayed();
        let run = place.explored(&[&["--off", "stand-ins", "./asks"][..], &input].concat());
        assert_eq!(ends(&run).iter().map(|e| e.0.as_str()).collect::<Vec<_>>(), statuses, "{flags:?}");
        place.replayed();
    }
}

#[test]
fn what_is_wrong_is_found_and_named() {
    let place = Place::new();
    place.compiled("wrong", &["-static", "-O0"]);
    let expected = [
        ("h", "out-of-bounds-write", "write of 1 byte at offset 100 of a heap object (100 bytes)"),
        ("f", "use-after-free", "write of 1 byte at offset 3 of a heap object (100 bytes)"),
        ("d", "double-free", "heap object (100 bytes)"),
        ("c", "read-only-write", "`fixed` (8 bytes by its symbol), which is read-only"),
        ("t", "read-only-write", "`.text`"),
        ("j", "bad-call-target", "in `.bss`, which may not be executed"),
        ("z", "bad-call-target", "jump to 0"),
        ("n", "null-dereference", "write of 1 byte at the null pointer"),
        ("a", "abort", "the program aborts"),
    ];
    for (what, kind, message) in expected {
        let run = place.explored(&["./wrong", what]);
        let findings = run["findings"].as_array().expect("findings are listed");
        assert_eq!(findings.len(), 1, "{what}: {run}");
        assert_eq!(findings[0]["kind"]["id"], kind, "{what}: {run}");
        assert!(findings[0]["message"].as_str().is_some_and(|m| m.contains(message)), "{what}: {run}");
    }
    assert_eq!(ends(&place.explored(&["./wrong", "x"])), [("exit 1".to_owned(), 1)]);
}

/// Memory that was never written is input if one asks for it, the heap and the stack below what was written, and zero otherwise.
#[test]
fn memory_never_written_is_input() {
    let place = Place::new();
    place.compiled("unwritten", &["-static", "-O0"]);
    assert_eq!(ends(&place.explored(&["./unwritten"])), [("exit 4".to_owned(), 1)]);
    let run = place.explored(&["--uninit", "symbolic", "./unwritten"]);
    assert_eq!(ends(&run), [("exit 2".to_owned(), 1), ("exit 3".to_owned(), 1), ("exit 4".to_owned(), 1)]);
}

/// Without debug information, the instructions around a fault are shown, with symbols; `show` has them from the run folder.
#[test]
fn instructions_are_shown_where_there_is_no_source() {
    let place = Place::new();
    place.compiled("wrong", &["-static", "-O0"]);
    let run = place.explored(&["./wrong", "n"]);
    let code = run["findings"][0]["code"].as_array().expect("instructions");
    let here: Vec<&Value> = code.iter().filter(|line| line["here"] == true).collect();
    assert!(code.len() > 4 && here.len() == 1, "{run}");
    let (at, text) = (here[0]["place"].as_str().unwrap_or(""), here[0]["text"].as_str().unwrap_or(""));
    assert!(at.starts_with("main+0x") && text.starts_with("mov     byte ptr [rax], "), "{run}");
    let address = format!("{:#x}", here[0]["address"].as_u64().unwrap_or(0));
    let shown = text_of(&place.wryneck(&["show", "out", "--findings"]));
    assert!(shown.contains(&format!("--> `{at}` at {address} (no debug information)\n")), "{shown}");
    assert!(shown.contains(&format!("    >   {address}  {at}  {text}\n")), "{shown}");
    let sarif = text_of(&place.wryneck(&["show", "out", "--sarif", "-"]));
    assert!(sarif.contains(&format!("\"fullyQualifiedName\": \"{at}\"")) && sarif.contains("\"absoluteAddress\""), "{sarif}");
    place.compiled("wrong", &["-static", "-O0", "-g"]);
    assert_eq!(place.explored(&["./wrong", "n"])["findings"][0]["code"], serde_json::json!([]));
}

/// With debug information, findings tell the variables of the functions in progress: all of them where nothing is optimised, and of others
/// which the compiler kept nowhere.
#[test]
fn variables_in_scope_are_told() {
    let place = Place::new();
    let cases: [(&str, [&[&str]; 2]); 2] = [
        (
            "-O0",
            [
                &["count = 6", "scale = 2.5", "color = GREEN", "text = \"ab\"", "sum = 350", "i = 4", "step = -3"],
                &["argc = 2", "kept = 42", "got = 0"],
            ],
        ),
        ("-O2", [&["count = 6", "sum = 2", "i = 0", "text = optimised-out"], &["argc = 2", "kept = 42", "argv = optimised-out"]]),
    ];
    for (level, expected) in cases {
        place.compiled("scope", &["-static", "-g", level]);
        let run = place.explored(&["./scope", "--sym-arg", "2"]);
        let finding = &run["findings"][0];
        assert_eq!(finding["stack"].as_array().map(Vec::len), Some(2), "{level}: {run}");
        let told = |depth: usize| {
            let all = finding["variables"][depth].as_array().expect("variables of each place").iter();
            all.map(|v| format!("{} = {}", v["name"].as_str().unwrap_or(""), v["value"].as_str().unwrap_or(""))).collect::<Vec<_>>()
        };
        for (depth, wanted) in expected.iter().enumerate() {
            let told = told(depth);
            for words in *wanted {
                assert!(told.iter().any(|t| t == words), "{level}: {words}: {told:?}");
            }
        }
        let structure = |depth: usize| told(depth).into_iter().find(|t| t.starts_with("at = ")).unwrap_or_default();
        if level == "-O0" {
            assert!(structure(0).starts_with("at = {x = -7, y = {1, 2}, name = 0x") && structure(0).ends_with(" \"n\\x02\"}"), "{run}");
            assert_eq!(structure(0), structure(1));
        }
        let shown = text_of(&place.wryneck(&["show", "out", "--findings"]));
        assert!(shown.contains(&format!("      with {}", told(0).join(", "))), "{shown}");
    }
}

fn text_of(out: &Output) -> String {
    text(&out.stdout)
}

/// A return elsewhere than to its call, after long jumps too; places are lines where there is debug information, and their callers with them.
#[test]
fn returns_are_checked_and_call_stacks_shown() {
    let place = Place::new();
    place.compiled("smash", &["-static", "-g", "-O1", "-fno-stack-protector"]);
    let run = place.explored(&["./smash", "--sym-arg", "30"]);
    let found = &run["findings"][0];
    assert_eq!(run["findings"].as_array().map(Vec::len), Some(1), "{run}");
    assert_eq!((&found["kind"]["id"], &found["native"]["verdict"]), (&"overwritten-return-address".into(), &"reproduced".into()), "{run}");
    let functions = |found: &Value| -> Vec<(String, u64)> {
        let place = |p: &Value| (p["function"].as_str().unwrap_or("").to_owned(), p["line"].as_u64().unwrap_or(0));
        found["stack"].as_array().expect("a stack").iter().map(place).collect()
    };
    assert_eq!(functions(found), [("copy".to_owned(), 13), ("main".to_owned(), 26)], "{run}");
    assert!(ends(&run).iter().any(|(end, _)| end == "exit 3"), "short ones return: {run}");
    let run = place.explored(&["./smash", "short", "x"]);
    let found = &run["findings"][0];
    assert!(found["message"].as_str().is_some_and(|m| m.ends_with("of a heap object (12 bytes) allocated at smash.c:21")), "{run}");
    assert_eq!(functions(found), [("main".to_owned(), 28)], "{run}");
    let run = place.explored(&["./smash", "short"]);
    assert_eq!(ends(&run), [("exit 3".to_owned(), 1)]);
}

/// What a program calls by a name of the C library is its own, where debug information says where it is from.
#[test]
fn functions_of_library_names_may_be_the_program_s() {
    let place = Place::new();
    place.compiled("own", &["-static", "-g", "-O0", "-fno-builtin"]);
    for word in ["abc", "xyz"] {
        let status = place.native(&["own", word]).status.code().expect("it exits");
        assert_eq!(ends(&place.explored(&["./own", word])), [(format!("exit {status}"), 1)]);
    }
}

/// What the rules find in an executable, however it is linked, pruned or not, is what they find in its bitcode.
#[test]
fn rules_watch_executables_as_they_watch_bitcode() {
    let place = Place::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/rules.c");
    let input = ["--sym-files", "1", "1", "--sym-arg", "1"];
    let rules = [
        "verify", "--json", "--rule", "open-close", "--rule", "memory-leak", "--rule", "file-access", "--rule", "assertion", "--output",
        "out",
    ];
    let verified = |target: &str, level: &str, prune: &str| {
        let _ = fs::remove_dir_all(place.path("out"));
        let flags: &[&str] = if target.ends_with(".c") { &["--cc-flag", level] } else { &[] };
        let out = place.wryneck(&[&rules[..], &["--prune", prune], flags, &[target], &input].concat());
        serde_json::from_slice::<Value>(&out.stdout).unwrap_or_else(|e| panic!("{target}: {e}: {}", text(&out.stderr)))
    };
    let told = |run: &Value| {
        let finding = |f: &Value| (f["kind"]["id"].to_string(), f["stack"][0]["line"].as_u64(), f["stack"][0]["function"].to_string());
        let mut all: Vec<_> = run["findings"].as_array().expect("findings are listed").iter().map(finding).collect();
        all.sort();
        let rule = |r: &Value| (r["id"].to_string(), r["verdict"].to_string());
        (all, run["rules"].as_array().expect("rules are judged").iter().map(rule).collect::<Vec<_>>(), run["pruning"]["sequences"].as_u64())
    };
    for level in ["-O0", "-O2"] {
        let bitcode = told(&verified(source.to_str().expect("UTF-8"), level, "off"));
        assert!(bitcode.0.len() >= 2, "{bitcode:?}");
        for flags in [&["-static"][..], &["-static-pie", "-fPIE"], &[]] {
            place.compiled("rules", &[&[level, "-g"], flags].concat());
            for prune in ["off", "wanted"] {
                assert_eq!(told(&verified("./rules", level, prune)), bitcode, "{flags:?} {level} --prune {prune}");
            }
        }
        // Bound at once: a call in tail position that the loader has yet to bind is told of its caller.
        place.built_by_gcc(source.to_str().expect("UTF-8"), &[level, "-g", "-Wl,-z,now", "-o", "rules"]);
        for prune in ["off", "wanted"] {
            assert_eq!(told(&verified("./rules", level, prune)), bitcode, "glibc {level} --prune {prune}");
        }
    }
}

/// The results of calls that nothing looks at, in all the ways a compiler has of doing so.
#[test]
fn results_that_nobody_looks_at_are_found() {
    let place = Place::new();
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/results.c")).expect("it is there");
    let wanted: Vec<u64> = (1..).zip(source.lines()).filter(|(_, line)| line.contains("// ignored")).map(|(n, _)| n).collect();
    assert!(wanted.len() >= 8);
    for flags in [&["-O0", "-g", "-static"][..], &["-O2", "-g", "-static"], &["-O0", "-g"], &["-O1", "-g", "-static-pie", "-fPIE"]] {
        place.compiled("results", &[&["-w"], flags].concat());
        for prune in ["off", "wanted"] {
            let out = place.wryneck(&[
                "verify", "--rule", "unchecked-results", "--prune", prune, "--json", "--no-replay", "./results", "--sym-arg", "1",
            ]);
            let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
            let line =
                |f: &Value| f["stack"].as_array().into_iter().flatten().find_map(|p| Some(p["line"].as_u64()?).filter(|line| *line > 0));
            let mut found: Vec<u64> = run["findings"].as_array().expect("findings are listed").iter().filter_map(line).collect();
            found.sort_unstable();
            assert_eq!(found, wanted, "{flags:?} {prune}: {run}");
        }
    }
}

/// Jumps to addresses made of input go to every target there is; those outside of code are one finding.
#[test]
fn computed_jumps_go_everywhere_they_can() {
    let place = Place::new();
    for flags in LINKED {
        place.compiled("jumps", &[&["-O2"], flags].concat());
        let run = place.explored(&["./jumps", "--sym-arg", "2"]);
        let found: Vec<String> = ends(&run).into_iter().map(|(end, _)| end).collect();
        let expected = [
            "exit 0", "exit 1", "exit 10", "exit 11", "exit 12", "exit 14", "exit 17", "exit 2", "exit 3", "exit 32", "fault abort",
            "fault bad-call-target",
        ];
        assert_eq!(found, expected, "{flags:?}: {run}");
        assert_eq!(run["findings"].as_array().map(Vec::len), Some(2), "{run}");
        place.replayed();
    }
}

/// Bounds of paths: visits of a block, targets of a jump; and calls that fail where they need not.
#[test]
fn bounds_end_paths_by_name_and_calls_fail() {
    let place = Place::new();
    for flags in LINKED {
        place.compiled("bounds", &[&["-O1"], flags].concat());
        let run = place.explored(&["--loop-limit", "3", "./bounds", "--sym-arg", "9"]);
        let exits = ["exit 0", "exit 1", "exit 2", "limit loop"].map(|end| (end.to_owned(), 1));
        assert!(ends(&run).len() >= 4 && ends(&run).last() == Some(&exits[3]), "{flags:?}: {run}");
        assert!(ends(&run).starts_with(&exits[..3]), "{flags:?}: {run}");
        assert_eq!(ends(&place.explored(&["./bounds", "--sym-arg", "9"])).len(), 10, "{flags:?}");
        let run = place.explored(&["--fail-calls", "1", "./bounds"]);
        let all: Vec<String> = ends(&run).into_iter().map(|(end, _)| end).collect();
        assert!(["exit 1", "exit 2", "exit 3"].iter().all(|end| all.iter().any(|known| known == end)), "{flags:?}: {run}");
        let said = text(&place.wryneck(&["replay", "out"]).stdout);
        assert!(said.contains("no replay library") && said.contains(" 0 different end,"), "{flags:?}: {said}");
    }
    place.compiled("jumps", &["-O2"]);
    let run = place.explored(&["--max-targets", "2", "./jumps", "--sym-arg", "2"]);
    assert!(ends(&run).iter().any(|(end, _)| end == "limit targets"), "{run}");
}

/// The paths that bounds leave are the same in each order.
#[test]
fn bounds_do_not_depend_on_the_order() {
    let place = Place::new();
    place.compiled("jumps", &["-O2", "-static"]);
    place.compiled("bounds", &["-O1", "-static"]);
    for bounded in [&["--max-targets", "2", "./jumps", "--sym-arg", "2"], &["--loop-limit", "3", "./bounds", "--sym-arg", "9"]] {
        let found = |order: &str| ends(&place.explored(&[&["--search", order], &bounded[..]].concat()));
        let expected = found("default");
        assert!(expected.iter().any(|(end, _)| end.starts_with("limit ")), "{expected:?}");
        ["dfs", "bfs", "random-path"].into_iter().for_each(|order| assert_eq!(found(order), expected, "{order} {bounded:?}"));
    }
}

/// Buffers in a table of pointers, which are replaced when they are too small, matter for nothing else.
#[test]
fn stores_through_tables_of_pointers_are_pruned() {
    let place = Place::new();
    let verified = |options: &[&str]| -> (Value, u64) {
        let _ = fs::remove_dir_all(place.path("out"));
        let words = ["verify", "--rule", "open-close", "--json", "--audit", "off", "--no-replay", "--output", "out"];
        let out = place.wryneck(&[&words[..], options, &["--sym-args", "0", "2", "3", "./slots"]].concat());
        let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
        (run["rules"][0]["verdict"].clone(), run["totals"]["paths"].as_u64().unwrap_or_default())
    };
    place.compiled_by_clang("slots", &["-O0", "-g", "-static", "-fno-pie", "-DWRONG=0"]);
    let ((pruned, few), (whole, all)) = (verified(&[]), verified(&["--prune", "off"]));
    assert_eq!((pruned, whole), ("VERIFIED".into(), "VERIFIED".into()));
    assert!(few * 10 < all, "{few} of {all} paths");
    place.compiled_by_clang("slots", &["-O0", "-g", "-static", "-fno-pie", "-DWRONG=1"]);
    assert_eq!(verified(&[]).0, "VIOLATED", "the size of a slot decides");
}

/// What is written to standard output and error matters for nothing else, in an executable as in bitcode.
#[test]
fn output_to_standard_streams_is_pruned() {
    let place = Place::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/streams.c");
    let relevant = |target: &str, options: &[&str]| -> (Value, Value) {
        let words = ["verify", "--rule", "open-close", "--json", "--audit", "off", "--no-replay", "--emit", "none"];
        let out = place.wryneck(&[&words[..], options, &["--sym-arg", "3", target]].concat());
        let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
        (run["rules"][0]["verdict"].clone(), run["rules"][0]["relevant"].clone())
    };
    for flag in ["-DERRNO", "-DNONE"] {
        place.compiled("streams", &["-O0", "-static", flag]);
        let bitcode = relevant(source.to_str().expect("UTF-8"), &["--cc-flag", flag]);
        assert_eq!(bitcode, ("VERIFIED".into(), 1.into()), "{flag}");
        assert_eq!(relevant("./streams", &[]), bitcode, "{flag}");
    }
}

/// Without debug information, code that keeps a frame pointer has frames, which end before the saved registers, and globals the sizes of their symbols.
#[test]
fn frames_and_symbols_have_bounds() {
    let place = Place::new();
    let expected = [
        ("s", "p", "out-of-bounds-write", "write of 1 byte at offset 40 of `the frame of stack` (40 bytes by the frame pointer)"),
        ("i", "i", "out-of-bounds-write", "write of 4 bytes at offset 64 of `the frame of index_of` (64 bytes by the frame pointer)"),
        ("c", "g", "out-of-bounds-write", "write of 6 bytes at offset 59 of `the frame of copied` (64 bytes by the frame pointer)"),
        ("g", "j", "out-of-bounds-write", "write of 1 byte at offset 8 of `text` (8 bytes by its symbol)"),
        ("G", "e", "out-of-bounds-write", "write of 4 bytes at offset 16 of `numbers` (16 bytes by its symbol)"),
    ];
    for flags in [&["-O0", "-static"][..], &["-O0", "-static-pie", "-fPIE"], &["-O0"]] {
        place.compiled("overflows", &[&["-w", "-fno-stack-protector"], flags].concat());
        for (how, far, kind, message) in expected {
            let run = place.explored(&["./overflows", how, far]);
            assert_eq!(run["findings"][0]["kind"]["id"], kind, "{flags:?} {how}: {run}");
            assert_eq!(run["findings"][0]["message"], message, "{flags:?} {how}");
            assert_eq!(ends(&place.explored(&["./overflows", how, "c"])).len(), 1, "{flags:?} {how}");
        }
    }
    // What stays inside is no finding, where a frame pointer is kept in optimised code neither.
    for flags in [&["-O0", "-static"][..], &["-O0"], &["-O2", "-fno-omit-frame-pointer", "-static"], &["-O2", "-fno-omit-frame-pointer"]] {
        place.compiled("variables", flags);
        assert_eq!(ends(&place.explored(&["./variables"])), [("exit 0".to_owned(), 1)], "{flags:?}");
    }
}

/// Optimised code without a frame pointer has frames where one asks for them; with debug information, too. What stays inside is no finding.
#[test]
fn frames_of_optimised_code_have_bounds() {
    let place = Place::new();
    for flags in [&["-O2", "-static"][..], &["-O2", "-g", "-static"], &["-O2"]] {
        place.compiled("frames", &[&["-fno-stack-protector"], flags].concat());
        for (how, function) in [("leaf", "leaf"), ("calling", "calling")] {
            let run = |options: &[&str], count: &[&str]| place.explored(&[options, &["./frames", how], count].concat());
            assert_eq!(run(&["--frames"], &["16"])["findings"].as_array().map(Vec::len), Some(0), "{flags:?} {how}");
            for count in [&["200"][..], &["--sym-arg", "3"]] {
                let found = run(&["--frames"], count);
                assert_eq!(found["findings"][0]["kind"]["id"], "out-of-bounds-write", "{flags:?} {how}: {found}");
                let message = found["findings"][0]["message"].as_str().unwrap_or("");
                assert!(message.contains(&format!("`the frame of {function}` (")), "{flags:?} {how}: {found}");
                assert!(message.ends_with(" bytes by the unwinding tables)"), "{flags:?} {how}: {found}");
            }
            assert!(!run(&[], &["200"])["findings"].to_string().contains("unwinding"), "{flags:?} {how}");
        }
        for (name, words) in [("variables", &[][..]), ("works", &["a"]), ("works", &[])] {
            place.compiled(name, flags);
            let program = format!("./{name}");
            let words = [&[program.as_str()], words].concat();
            let ends_with = |options: &[&str]| ends(&place.explored(&[options, &words].concat()));
            assert_eq!(ends_with(&["--frames"]), ends_with(&[]), "{flags:?} {name}");
        }
    }
}

/// With debug information, coverage is that of source lines: all that have code, and those that ran.
#[test]
fn lines_are_covered() {
    let place = Place::new();
    place.compiled("asks", &["-static", "-g", "-O0"]);
    let lines = |words: &[&str]| {
        let run = place.explored(words);
        (run["lines"]["covered"].as_u64().unwrap_or(0), run["lines"]["all"].as_u64().unwrap_or(0))
    };
    let (few, all) = lines(&["./asks"]);
    // Those of the C library's start are not the program's.
    assert!(0 < few && few < 5 && (10..15).contains(&all), "{few} of {all}");
    let (most, same) = lines(&["./asks", "--sym-arg", "2", "A", "--sym-stdin", "1", "--sym-files", "1", "1"]);
    assert!(most > few + 4 && same == all, "{most} of {same}");
}

/// Code that was not optimised leaves its variables: at fixed places, at symbolic ones, in functions it calls and in the C library's.
#[test]
fn overflows_of_variables_are_found() {
    let place = Place::new();
    let write = "out-of-bounds-write";
    // The last letter that is fine, the first that is not, and what is found.
    let expected = [
        ("s", 'e', 'f', write, "write of 1 byte at offset 4 of `name` (4 bytes by debug information)"),
        ("i", 'f', 'g', write, "write of 4 bytes at offset 24 of `table` (24 bytes by debug information)"),
        ("m", 'c', 'd', write, "write of 4 bytes at offset 72 of `parts` (60 bytes by debug information)"),
        ("c", 'f', 'g', write, "write of 6 bytes at offset 0 of `to` (5 bytes by debug information)"),
        ("n", 'g', 'h', write, "write of 1 byte at offset 6 of `here` (6 bytes by debug information)"),
        ("v", 'u', 'v', write, "write of 1 byte at offset 20 of `part` (20 bytes by debug information)"),
        ("g", 'i', 'j', write, "write of 1 byte at offset 8 of `text` (8 bytes by debug information)"),
        ("G", 'd', 'e', write, "write of 4 bytes at offset 16 of `numbers` (16 bytes by debug information)"),
    ];
    for flags in [LINKED[0], LINKED[2]] {
        place.compiled("overflows", &[&["-O0", "-g"], flags].concat());
        for (what, last, first, kind, message) in expected {
            let run = |word: &str, options: &[&str]| place.explored(&[options, &["./overflows", what, word]].concat());
            let fine = run(&last.to_string(), &[]);
            assert_eq!(fine["findings"].as_array().map(Vec::len), Some(0), "{what} {flags:?}: {fine}");
            let found = run(&first.to_string(), &[]);
            assert_eq!(found["findings"].as_array().map(Vec::len), Some(1), "{what} {flags:?}: {found}");
            assert_eq!(found["findings"][0]["kind"]["id"], kind, "{what} {flags:?}: {found}");
            assert_eq!(found["findings"][0]["message"], message, "{what} {flags:?}: {found}");
            let off = run(&first.to_string(), &["--off", "variables"]);
            assert!(!off["findings"].to_string().contains("debug information"), "{what} {flags:?}: {off}");
        }
        for (what, message) in [("i", "`table` (24 bytes"), ("G", "`numbers` (16 bytes"), ("m", "`parts` (60 bytes")] {
            let run = place.explored(&["./overflows", what, "--sym-arg", "1"]);
            assert!(run["findings"][0]["message"].as_str().is_some_and(|m| m.contains(message)), "{what} {flags:?}: {run}");
        }
        for (what, message) in [("f", "free of `text` (8 bytes by"), ("F", "free of `part` (20 bytes by")] {
            let run = place.explored(&["./overflows", what, "a"]);
            assert_eq!(run["findings"][0]["kind"]["id"], "invalid-free", "{what} {flags:?}: {run}");
            assert!(run["findings"][0]["message"].as_str().is_some_and(|m| m.starts_with(message)), "{what} {flags:?}: {run}");
        }
        let run = place.explored(&["./overflows", "r", "c"]);
        let message = "read of 1 byte at offset 2 of `here` (8 bytes by debug information), whose function has returned";
        assert_eq!(run["findings"][0]["kind"]["id"], "use-after-return", "{flags:?}: {run}");
        assert_eq!(run["findings"][0]["message"], message, "{flags:?}: {run}");
    }
}

/// What leaves no variable is no finding, and runs as natively.
#[test]
fn variables_that_are_not_left_are_no_findings() {
    let place = Place::new();
    for compiler in ["gcc", "clang"] {
        for flags in [LINKED[0], LINKED[3]] {
            let all = [&["-O0", "-g", "-w"], flags].concat();
            match compiler {
                "clang" => place.compiled_by_clang("variables", &all),
                _ => place.compiled("variables", &all),
            }
            let native = place.native(&["variables"]);
            assert_eq!(native.status.code(), Some(0));
            for options in [&[][..], &["--off", "stand-ins"], &["--off", "variables"]] {
                let run = place.explored(&[options, &["./variables"]].concat());
                assert_eq!(ends(&run), [("exit 0".to_owned(), 1)], "{compiler} {flags:?} {options:?}: {run}");
                let test: Value =
                    serde_json::from_slice(&fs::read(place.path("out/test000001.json")).expect("it was written")).expect("JSON");
                let printed: Vec<u8> = serde_json::from_value(test["stdout"].clone()).expect("bytes");
                assert_eq!(text(&printed), text(&native.stdout), "{compiler} {flags:?} {options:?}");
            }
        }
    }
}

/// The program of paper 1's Figure 1 as an executable: pruned, fewer paths are looked at, and all events are seen.
#[test]
fn executables_are_pruned() {
    let place = Place::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pass/rules/concatenate.c");
    let verified = |target: &str, prune: &str| -> Value {
        let _ = fs::remove_dir_all(place.path("out"));
        let words = [
            "verify", "--json", "--rule", "open-close", "--output", "out", "--prune", prune, "--audit", "off", "--off", "subsumption",
            target,
        ];
        let out = place.wryneck(&[&words[..], &["--sym-args", "0", "2", "2", "--sym-files", "1", "2"]].concat());
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{target}: {e}: {}", text(&out.stderr)))
    };
    let paths = |run: &Value| run["totals"]["paths"].as_u64().expect("paths are counted");
    let bitcode = paths(&verified(source.to_str().expect("UTF-8"), "wanted"));
    let program = place.path("concatenate");
    for level in ["-O0", "-O2"] {
        let made = Command::new("musl-gcc").args([level, "-static", "-o"]).arg(&program).arg(&source).status();
        assert!(made.expect("musl-gcc is there").success());
        let (all, pruned) = (verified("./concatenate", "off"), verified("./concatenate", "wanted"));
        assert_eq!(pruned["rules"][0]["verdict"], "VERIFIED");
        assert_eq!(pruned["pruning"]["sequences"], all["pruning"]["sequences"]);
        // Fewer than of bitcode would be right; what summaries say of streams since they were tested keeps more here (docs/plan.md, issue 18).
        assert!(paths(&pruned) < paths(&all), "{level}: {} of {}; of bitcode {bitcode}", paths(&pruned), paths(&all));
    }
}

/// Flips in equal states of executables are left out. States in which a caller's register differs, which a callee has saved, are not equal.
#[test]
fn equal_states_of_executables_are_explored_once() {
    let place = Place::new();
    for level in ["-O0", "-O1", "-O2"] {
        place.compiled("saved", &[level, "-static"]);
        let explored = |prune: &str| {
            let words =
                ["verify", "--json", "--no-replay", "--rule", "open-close", "--prune", prune, "--audit", "off", "--sequences", "sequences"];
            let out = place.wryneck(&[&words[..], &["./saved", "--sym-stdin", "5"]].concat());
            let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
            let sequences = fs::read_to_string(place.path("sequences")).expect("sequences are written");
            (sequences, run["pruning"]["subsumed"].as_u64())
        };
        let ((all, _), (found, subsumed)) = (explored("off"), explored("wanted"));
        assert_eq!((all.lines().count(), &found), (7, &all), "{level}");
        assert!(subsumed > Some(5), "{level}: {subsumed:?}");
    }
}

/// What decides nothing in a function that only pointers lead to, by a jump in tail position, is left out.
#[test]
fn functions_in_tail_position_are_pruned() {
    let place = Place::new();
    fs::write(place.path("tail.c"), TAIL).expect("there is room");
    let made = Command::new("musl-gcc").args(["-O1", "-static", "-o"]).arg(place.path("tail")).arg(place.path("tail.c")).status();
    assert!(made.expect("musl-gcc is there").success());
    let paths = |prune: &str| {
        let words =
            ["verify", "--json", "--no-replay", "--rule", "open-close", "--prune", prune, "--audit", "off", "./tail", "--sym-arg", "2"];
        let out = place.wryneck(&words);
        let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
        assert_eq!(run["rules"][0]["verdict"], "VERIFIED");
        run["totals"]["paths"].as_u64().expect("paths are counted")
    };
    assert_eq!((paths("wanted"), paths("off")), (1, 7));
}

const TAIL: &str = r#"#include <stdio.h>
#include <stdlib.h>
static char *word;
static int count;
static void handler(void) {
  for (char *p = word; *p; p++)
    if (*p == 'x') count++;
}
int main(int argc, char **argv) {
  word = argv[1];
  atexit(handler);
  FILE *in = fopen("/dev/null", "r");
  if (in) fclose(in);
  return 0;
}
"#;

#[test]
fn results_of_calls_are_input() {
    let place = Place::new();
    let calls = ["inputs", "--sym-calls", "rand,sensor,level,inner,time,clock_gettime"];
    for flags in [&["-O0", "-g", "-static"][..], &["-O2", "-g", "-static-pie", "-fPIE"], &["-O1", "-g"]] {
        place.compiled("inputs", flags);
        let run = place.explored(&calls);
        let statuses: Vec<String> = ends(&run).into_iter().map(|(what, _)| what).collect();
        assert_eq!(statuses, ["exit 0", "exit 3", "exit 4", "exit 5", "exit 7", "exit 8"], "{flags:?}");
        assert_eq!(run["every_path"], true, "{run}");
    }
    let refused = |name: &str| text(&place.wryneck(&["run", "inputs", "--sym-calls", name]).stderr);
    for (name, why) in [("nothing", "nothing"), ("pointer", "a pointer"), ("nowhere", "no function")] {
        assert!(refused(name).contains(why), "{name}: {}", refused(name));
    }
    place.compiled("inputs", &["-O0", "-static"]);
    assert!(refused("sensor").contains("debug information"), "{}", refused("sensor"));
}

#[test]
fn quotients_by_constants_are_those_of_the_cpu() {
    let place = Place::new();
    place.compiled("divisions", &["-O1", "-DALL"]);
    let mut expected: Vec<String> = text(&place.native(&["divisions"]).stdout).lines().map(str::to_owned).collect();
    expected.sort();
    for (optimised, by_clang) in [("-O0", false), ("-O2", false), ("-O2", true)] {
        match by_clang {
            true => place.compiled_by_clang("divisions", &[optimised, "-static"]),
            false => place.compiled("divisions", &[optimised, "-static"]),
        }
        let run = place.explored(&["--emit", "none", "divisions", "--sym-stdin", "2"]);
        let found: Vec<String> = ends(&run).into_iter().map(|(what, _)| what).collect();
        assert_eq!(found, expected, "{optimised}: {run}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    place.compiled("asks", &["-static"]);
    for (option, value) in [("--cc-flag", "-O2"), ("--undefined", "error")] {
        place.refused(&["run", option, value, "./asks"], &[&format!("`{option}` cannot be used with machine code: "), "help: leave out"]);
    }
    place.refused(&["run", "--no-libc", "./asks"], &["`--no-libc` cannot be used with machine code"]);
    fs::write(place.path("asks.c"), "int main(void) { return 0; }\n").expect("there is room");
    place.refused(&["run", "--machine-code", "asks.c"], &["`asks.c` is not an executable"]);
    for part in ["stand-ins", "variables"] {
        place.refused(&["run", "--off", part, "asks.c"], &[&format!("`--off {part}` is for machine code")]);
    }
    place.built_by_gcc("asks.c", &["-Wl,--dynamic-linker=/lib/ld-other.so", "-o", "other"]);
    place.refused(&["run", "./other"], &["`./other` is linked dynamically, for the loader `/lib/ld-other.so`", "help: "]);
    place.explored(&["./asks"]);
    place.refused(&["replay", "--gcov", "counts", "out"], &["machine code has no line counts"]);
}

/// Lowered code is kept in the cache: later runs are the same, whatever is in the file, and put it right.
#[test]
fn a_run_is_the_same_with_code_that_was_kept() {
    let place = Place::new();
    place.compiled("jumps", &["-O1"]);
    let cache = place.path("cache");
    let run = |words: &[&str]| {
        let _ = fs::remove_dir_all(place.path("out"));
        let mut command = Command::new(WRYNECK);
        command.current_dir(place.0.path()).env("WRYNECK_CACHE", &cache).args(["run", "--json", "--emit", "none", "--output", "out"]);
        let out = command.args(words).output().expect("the tool was built");
        let mut run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&out.stderr)));
        run["seconds"].take();
        ["memory", "solver_seconds"].iter().for_each(|key| _ = run["totals"][key].take());
        run
    };
    let files = || -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            fs::read_dir(cache.join("code")).expect("it is there").map(|file| file.expect("a file").path()).collect();
        // Each has its sum beside it.
        all.retain(|file| file.extension().is_some_and(|e| e == "wir"));
        all.sort();
        all
    };
    let content = || -> Vec<Vec<u8>> { files().iter().map(|file| fs::read(file).expect("it can be read")).collect() };
    let first = run(&["./jumps", "--sym-arg", "3"]);
    // The loader with the C library has a file of its own.
    let kept = content();
    assert_eq!(kept.len(), 2);
    assert_eq!((run(&["./jumps", "--sym-arg", "3"]), content() == kept), (first.clone(), true));
    // Another input asks for more, or in another order; both are kept.
    let other = run(&["./jumps", "x"]);
    let both = content();
    assert_eq!(run(&["./jumps", "--sym-arg", "3"]), first);
    assert_eq!((run(&["./jumps", "x"]), content() == both), (other, true));
    for (at, file) in files().iter().enumerate() {
        let own = &kept[at];
        for damage in [&b""[..], b"wryneck", &own[..own.len() / 2], &[&own[..own.len() - 1], b"?"].concat()] {
            fs::write(file, damage).expect("it can be written");
            assert_eq!((run(&["./jumps", "--sym-arg", "3"]), &content()[at] == own), (first.clone(), true), "{} bytes", damage.len());
        }
    }
    // Another program finds what is kept of the loader, and is the same without it.
    place.compiled("jumps", &["-O2"]);
    let others = run(&["./jumps", "x"]);
    assert_eq!(files().len(), 3);
    fs::remove_dir_all(cache.join("code")).expect("it is ours");
    assert_eq!((run(&["./jumps", "x"]), files().len()), (others.clone(), 2));
    // Other options have files of their own; where none can be written, there is none.
    run(&["--off", "stand-ins", "./jumps", "x"]);
    assert_eq!(files().len(), 4);
    fs::remove_dir_all(cache.join("code")).expect("it is ours");
    fs::write(cache.join("code"), "").expect("there is room");
    assert_eq!(run(&["./jumps", "x"]), others);
}

/// Vectors may reach past their object where nothing depends on what lies there.
#[test]
fn bytes_behind_an_object_may_be_read_and_not_used() {
    let place = Place::new();
    // `halves` reads past two objects that input chooses.
    let programs =
        [("block", "depends on offset 6 of a heap object (6 bytes)"), ("halves", "depends on offset 8 of a heap object (8 bytes)")];
    for ((name, what), options) in programs.into_iter().flat_map(|program| [(program, &["-g", "-O0"][..]), (program, &["-g", "-O2"])]) {
        let target = format!("./{name}");
        place.compiled(name, &[options, &["-static", "-DFIXED"]].concat());
        let run = place.explored(&["--sym-arg", "1", &target]);
        assert_eq!((&run["findings"], &run["status"]["kind"]), (&serde_json::json!([]), &"complete".into()), "{options:?}: {run}");
        let ends: Vec<&str> = run["ends"].as_array().expect("ends").iter().filter_map(|end| end["what"].as_str()).collect();
        assert!(ends.contains(&"0") && ends.contains(&"1"), "{options:?}: {run}");
        place.compiled(name, &[options, &["-static"]].concat());
        let run = place.explored(&["--sym-arg", "1", &target]);
        let finding = &run["findings"][0];
        assert_eq!(finding["kind"]["id"], "out-of-bounds-read", "{options:?}: {run}");
        assert!(finding["message"].as_str().is_some_and(|m| m.contains(what)), "{run}");
    }
}
