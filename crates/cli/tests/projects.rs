//! Whole projects: `tests/project` (a static library, two programs, one of them in C++) is built as it stands by make and by cmake, its
//! programs are explored and their tests replayed; and everything that can be wrong with a program's bitcode is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
/// What every build that is not confined says first.
const UNCONFINED: &str = "wryneck: the build runs unconfined, with all that you may do; see `wryneck build --confined`\n";

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

    #[track_caller]
    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("there is room");
    }

    fn wryneck(&self, words: &str) -> Output {
        let words = words.split_whitespace();
        Command::new(WRYNECK).current_dir(self.0.path()).args(words).output().expect("the tool was built")
    }

    /// Runs a command that must succeed; its standard error, but for the line that a build is not confined.
    #[track_caller]
    fn done(&self, words: &str) -> String {
        let out = self.wryneck(words);
        assert!(out.status.success(), "{words}: {}{}", text(&out.stdout), text(&out.stderr));
        text(&out.stderr).replace(UNCONFINED, "")
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
        panic!("`cmake` is not installed: install Debian's `cmake`");
    }
    let project = Project::new();
    project.done("build -- cmake -S . -B made");
    let said = project.done("build -- cmake --build made");
    assert_eq!(said, "wryneck: made `./made/check`\nwryneck: made `./made/count`\n");
    assert_eq!(project.explored("made/count --sym-arg 3"), ["0", "1", "2"]);
    assert_eq!(project.explored("made/check --sym-arg 3"), ["0", "1"]);
}

#[test]
fn what_gcc_accepts_is_accepted() {
    let project = Project::new();
    let source = "#include <linux/if_ether.h>\n#include <math.h>\n#include <crypt.h>\n\
        struct a { int x; }; struct b { int y; };\n\
        static twice(int n) { return n + undeclared(n); }\n\
        int main(int argc, char **argv) {\n\
          struct a one = {1}; struct b *other = &one; int *p = argc; char *q = argc ? 0 : 1;\n\
          return twice(argc) + isinf(1.0 * argc) + other->y + (p == 0) + (q != 0) + ETH_ALEN == 9;\n\
        }\n";
    project.write("old.c", source);
    project.write("more.c", "int undeclared(int n) { return n; }\n");
    let flags = "-O1 -std=gnu89 -pedantic -Wall -Wextra -Werror -Wno-such-warning -fno-such-option -fconserve-stack --param ssp-buffer-size=4 -specs=/none";
    let said = project.done(&format!("cc {flags} old.c more.c -lm -o old"));
    assert!(said.contains("warning: `-fno-such-option` is an option of gcc that clang has not; it is left out"), "{said}");
    assert!(said.contains("`-specs=/none`") && !said.contains("error:"), "{said}");
    assert_eq!(project.explored("old --sym-args 0 1 1"), ["0", "1"]);
    // What gcc refuses is refused.
    project.write("wrong.c", "int main(void) { return missing; }\n");
    assert!(!project.wryneck("cc -c wrong.c").status.success());
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

/// Containers, strings, numbers, shared and function objects.
#[test]
fn the_library_of_c_plus_plus_is_there() {
    let project = Project::new();
    let program = "#include <algorithm>\n#include <functional>\n#include <map>\n#include <memory>\n#include <string>\n\
        #include <unordered_map>\n#include <vector>\n\
        int main(int argc, char **argv) {\n\
        \u{20} std::string text = argc > 1 ? argv[1] : \"\";\n\
        \u{20} std::vector<int> order(text.begin(), text.end());\n\
        \u{20} std::sort(order.begin(), order.end());\n\
        \u{20} std::map<char, int> count;\n\
        \u{20} for (char c : text) count[c]++;\n\
        \u{20} std::unordered_map<std::string, int> known{{\"ab\", 1}};\n\
        \u{20} auto last = std::make_shared<int>(order.empty() ? 0 : order.back());\n\
        \u{20} std::function<bool(int)> is = [last](int c) { return *last == c; };\n\
        \u{20} if (known.count(text)) return 4;\n\
        \u{20} return std::to_string(count.size()) == \"2\" && is('z') ? 3 : (int)count.size();\n\
        }\n";
    project.write("all.cc", program);
    project.done("c++ -O1 all.cc -o all");
    assert_eq!(project.explored("./all --sym-arg 2"), ["0", "1", "2", "3", "4"]);
}

/// Assembly has no bitcode: it is named where the program is made, and in every run's ledger; what is lost with it is not passed over.
#[test]
fn objects_without_bitcode_are_named() {
    let project = Project::new();
    project.write("fast.s", ".globl fast\n.text\nfast:\n  mov $3, %eax\n  ret\n");
    project.write("main.c", "int fast(void);\nint main(void) { return fast() == 3 ? 0 : 1; }\n");
    project.write("Makefile", "prog: main.o libfast.a\n\t$(CC) -o $@ main.o libfast.a\nlibfast.a: fast.o\n\t$(AR) rcs $@ $^\n");
    assert_eq!(project.done("build -- make prog"), "wryneck: made `./prog`, without the bitcode of `libfast.a(fast.o)`\n");
    let run = text(&project.wryneck("run --output out ./prog").stdout);
    assert!(run.contains("`libfast.a(fast.o)` carries no bitcode"), "{run}");
    assert!(run.contains("undefined-function") && run.contains(" exit 0") && run.contains(" exit 1"), "{run}");
    project.refused("extract libfast.a", &["no member of `libfast.a` carries bitcode", "help: "]);
    // Nothing but assembly.
    project.write("start.s", ".globl main\n.text\nmain:\n  xor %eax, %eax\n  ret\n");
    let said = project.done("build -- cc start.s -o start");
    assert!(said.contains("made `./start`, which cannot be explored, since it carries no bitcode: none of its objects does"), "{said}");
    project.refused("run ./start", &["`./start` carries no bitcode: none of its objects does", "help: "]);
}

/// Several targets are one program, in whatever form each is; a library gives what is needed of it.
/// What one file does to another's memory is in the bitcode as it is in the machine code: no optimiser looks at both.
#[test]
fn optimised_files_keep_what_they_do_to_each_other() {
    let project = Project::new();
    project.write(
        "set.c",
        "#include <stdlib.h>\nvoid set(char *p, int i) { p[i] = 1; }\nvoid *get(size_t n) { return malloc(n); }\nvoid put(void *p) { free(p); }\n",
    );
    project.write(
        "use.c",
        "#include <stdlib.h>\n#include <unistd.h>\nvoid set(char *, int);\nvoid *get(size_t);\nvoid put(void *);\nint main(void) {\n  unsigned char in;\n  char buf[8];\n  \
         if (read(0, &in, 1) != 1) return 1;\n  if (in > 200) {\n    void *p = get(in == 201 ? 1ull << 62 : 10);\n    if (!p) return 3;\n    put(p);\n    return 77;\n  }\n  \
         set(buf, in);\n  return 0;\n}\n",
    );
    project.done("cc -g -O2 set.c use.c -o use");
    let out = project.wryneck("run --output found ./use --sym-stdin 1");
    let said = text(&out.stdout) + &text(&out.stderr);
    assert!(said.contains("out-of-bounds-write: write of 1 byte at offset 8 of `buf` (8 bytes)"), "{said}");
    for end in ["exit 0", "exit 3", "exit 77"] {
        assert!(said.contains(&format!("1  {end}\n")), "{end}: {said}");
    }
}

/// Where the linker renames symbols, bitcode would not be the program.
#[test]
fn a_program_whose_symbols_are_renamed_carries_no_bitcode() {
    let project = Project::new();
    project.write("w.c", "int foo(void) { return 3; }\nint __wrap_foo(void) { return 8; }\n");
    project.write("m.c", "int foo(void);\nint main(void) { return foo(); }\nint start(void) { return 1; }\n");
    for option in ["-Wl,--wrap=foo", "-Wl,--wrap,foo", "-Wl,--defsym=bar=foo", "-Wl,-e,start"] {
        let said = project.done(&format!("cc m.c w.c -o w {option}"));
        assert!(said.contains("`w` carries no bitcode: `") && said.contains("changes what symbols mean"), "{option}: {said}");
    }
    for option in ["-Wl,-e,_start", "-Wl,--entry=_start"] {
        assert_eq!(project.done(&format!("cc m.c w.c -o w {option}")), "", "{option}");
    }
}

/// `objcopy` changes symbols of machine code alone, so the bitcode would be another program's where that matters.
#[test]
fn a_program_of_objects_whose_symbols_were_changed_carries_no_bitcode() {
    let project = Project::new();
    let files = [
        ("m.c", "int bar(void);\nint main(void) { return bar(); }\n"),
        ("f.c", "static int in(void) { return 2; }\nint foo(void) { return 1 + in(); }\nint bar(void) { return 3 + in(); }\n"),
        ("w.c", "__attribute__((weak)) int foo(void) { return 5; }\nint other(void) { return 6; }\n"),
        ("b.c", "int bar(void) { return 9; }\n"),
        ("in.c", "int in(void);\nint main(void) { return in(); }\n"),
        ("own.c", "void *malloc(unsigned long);\nint bar(void) { return malloc(1) != 0; }\n"),
        ("prefixed.c", "int x_other(void);\nint main(void) { return x_other(); }\n"),
        ("my.c", "void *my_malloc(unsigned long n) { return 0; }\nint f;\n"),
    ];
    for (name, text) in files {
        project.write(name, text);
        project.done(&format!("cc -c {name}"));
    }
    let native = |words: &str| {
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().expect("there is one"));
        assert!(command.current_dir(project.path("")).args(words).status().expect("it is installed").success());
    };
    let none = |words: &str, why: &str| {
        let said = project.done(&format!("cc {words} -o p"));
        assert!(said.contains("`p` carries no bitcode: the symbols of `") && said.contains(why), "{words}: {said}");
    };
    for objcopy in ["objcopy", "llvm-objcopy-22"] {
        let change = |words: &str| native(&format!("{objcopy} {words}"));
        // The other member would be linked as bitcode.
        change("--redefine-sym foo=bar --redefine-sym bar=baz f.o x.o");
        native("ar rcs x.a x.o");
        native("ar rcs b.a b.o");
        none("m.o x.a b.a", "changed after it was compiled: its bitcode defines `foo`, and its machine code does not");
        change("--redefine-sym foo=bar w.o x.o");
        none("m.o x.o", "its bitcode defines `foo`, and its machine code `bar`");
        none("m.o b.o x.o", "its bitcode defines `foo`, and its machine code `bar`");
        change("--redefine-sym malloc=my_malloc own.o x.o");
        none("m.o x.o my.o", "its bitcode refers to `malloc`, and its machine code to `my_malloc`");
        change("--prefix-symbols=x_ w.o x.o");
        none("prefixed.o x.o", "its bitcode defines `other`");
        change("--weaken f.o x.o");
        none("m.o x.o b.o", "`bar` is weak in its machine code");
        // No other file has the symbol: nothing changes.
        assert_eq!(project.done("cc m.o x.o -o p"), "");
        assert_eq!(project.explored("./p"), ["5"]);
        for option in ["--localize-symbol=bar", "--keep-global-symbol=foo"] {
            change(&format!("{option} f.o x.o"));
            none("m.o x.o b.o", "`bar` is local in its machine code");
        }
        change("--localize-symbol=foo f.o x.o");
        assert_eq!(project.done("cc m.o x.o -o p"), "");
        change("--globalize-symbol=in f.o x.o");
        assert_eq!(project.done("cc m.o x.o -o p"), "");
        none("in.o x.o", "`in` is local in its bitcode");
        // An object that `ld -r` made of such.
        change("--redefine-sym foo=bar w.o x.o");
        assert!(project.done("ld -r m.o x.o -o r.o").contains("`r.o` carries no bitcode: the symbols of `x.o`"));
        project.done("ld -r f.o b.o -z muldefs -o r.o");
        change("--redefine-sym foo=goo r.o");
        none("m.o r.o", "its bitcode defines `foo`");
        change("--strip-debug f.o x.o");
        assert_eq!(project.done("cc m.o x.o -o p"), "");
    }
}

#[test]
fn several_targets_are_linked() {
    let project = Project::new();
    let files = [
        ("main.c", "int twice(int);\nint main(int c, char **v) { return twice(v[1][0] == 'x') + (c > 2); }\n"),
        ("twice.c", "int twice(int n) { return 2 * n; }\n"),
        ("other.c", "int main(void) { return 77; }\n"),
    ];
    files.into_iter().for_each(|(name, text)| project.write(name, text));
    project.done("cc -c twice.c -o twice.o");
    let archived = Command::new("ar").current_dir(project.path("")).args(["rcs", "twice.a", "twice.o"]).status();
    assert!(archived.expect("binutils is installed").success());
    for words in ["main.c twice.c --sym-arg 1", "--sym-arg 1 main.c twice.o", "main.c twice.a --sym-arg 1", "twice.c main.c --sym-arg 1"] {
        assert_eq!(project.explored(words), ["0", "2"], "{words}");
    }
    assert_eq!(project.explored("main.c twice.c --sym-arg 1 --literal other.c"), ["1", "3"]);
    let out = project.wryneck("run --output linked main.c other.c");
    assert!(text(&out.stderr).contains("do not link"), "{}", text(&out.stderr));
}

#[test]
fn programs_that_are_gone_strange_or_changed_are_refused() {
    let project = Project::new();
    project.done("build -- make");
    project.refused("run ./gone", &["cannot read `./gone`: No such file", "help: ", "build it again"]);
    project.write("cut", &fs::read(project.path("count")).expect("it was made")[..3000]);
    project.refused("run ./cut", &["`./cut` is a damaged ELF file", "help: "]);

    let objcopy = |words: &[&str]| {
        let done = Command::new("llvm-objcopy-22").current_dir(project.0.path()).args(words).status().expect("it is installed");
        assert!(done.success(), "{words:?}");
    };
    // Stripped, it is still the same program; LLVM's own tool strips everything.
    let strip = Command::new("strip").current_dir(project.0.path()).args(["count", "-o", "stripped"]).status().expect("it is installed");
    assert!(strip.success());
    objcopy(&["--strip-all", "count", "shorn"]);
    project.refused("extract ./shorn", &["`./shorn` carries no bitcode: ", "or it was stripped of it"]);
    assert_eq!(project.explored("./stripped --sym-arg 3"), ["0", "1", "2"]);
    // The bitcode of another program; machine code that was changed; bitcode that was taken out.
    let other = "is not that of its machine code: one of them was changed after it was linked";
    project.done("extract check -o check.bc");
    objcopy(&["--update-section", ".llvmbc=check.bc", "count", "mixed"]);
    project.refused("run ./mixed", &["the bitcode in `./mixed`", other, "help: build it again"]);
    objcopy(&["--dump-section", ".text=text", "count", "same"]);
    let mut code = fs::read(project.path("text")).expect("it was written");
    code[40] ^= 1;
    project.write("text", code);
    objcopy(&["--update-section", ".text=text", "count", "patched"]);
    project.refused("run ./patched", &["the bitcode in `./patched`", other]);
    objcopy(&["--remove-section", ".llvmbc", "count", "bare"]);
    project.refused("run ./bare", &["`./bare` has lost the bitcode it carried"]);
}

#[test]
fn a_build_that_fails_is_shown_in_its_own_words() {
    let project = Project::new();
    project.write("count.c", "int main(void) { return missing; }\n");
    let out = project.wryneck("build -- make count");
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("count.c:1:25: error: use of undeclared identifier 'missing'"), "{said}");
    assert!(said.ends_with("error: the build failed: `make count` ended with exit code 2\n"), "{said}");
    project.refused("build", &["no command is given", "help: "]);
    project.refused("build -- nosuchtool", &["the tool `nosuchtool` is not installed", "help: "]);
}

/// A build without a network that writes in its folder and its own `/tmp` alone; without that, it is said that it can do all.
#[test]
fn builds_can_be_confined() {
    let (project, outside) = (Project::new(), tempfile::tempdir_in("/var/tmp").expect("there is room"));
    let target = outside.path().join("made");
    project.write("all.mk", format!("include Makefile\nescape: ; echo made > /tmp/made; echo made > {}\n", target.display()));
    let said = text(&project.wryneck("build -- make").stderr);
    assert!(said.starts_with(UNCONFINED), "{said}");
    project.done("build -- make clean");
    if project.wryneck("build --confined -- true").status.code() == Some(2) {
        // A container may have no namespaces; then nothing is run.
        assert!(std::env::var_os("CI").is_none(), "continuous integration needs namespaces of users");
        return;
    }
    let said = project.done("build --confined -- make");
    assert_eq!(said, "wryneck: made `./check`\nwryneck: made `./count`\n");
    let out = project.wryneck("build --confined -- make -f all.mk escape");
    assert!(!out.status.success() && !target.exists(), "{}", text(&out.stderr));
    assert_eq!(project.wryneck("build --confined -- sh -c false").status.code(), Some(1));
    assert_eq!(project.wryneck("build --confined -- no-such-command").status.code(), Some(127));
}
