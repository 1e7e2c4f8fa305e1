//! `wryneck deps`: a library from a source tree is built, installed, found by programs and explored with them; what can go wrong is said. No network.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
/// A library as zlib is built, in three files.
const CONFIGURE: &str = "#!/bin/sh\nfor word; do case $word in --prefix=*) echo \"P = ${word#--prefix=}\" > config.mk;; esac; done\n";
const MAKEFILE: &str = "include config.mk\n\
    libz.a: z.c\n\t$(CC) $(CFLAGS) -c z.c && ar rcs $@ z.o\n\
    install:\n\tmkdir -p $(DESTDIR)$(P)/include $(DESTDIR)$(P)/lib/pkgconfig\n\tcp z.h $(DESTDIR)$(P)/include\n\tcp libz.a $(DESTDIR)$(P)/lib\n\
    \tprintf 'Name: z\\nDescription: z\\nVersion: 7\\nLibs: -L$(P)/lib -lz\\n' > $(DESTDIR)$(P)/lib/pkgconfig/z.pc\n";
const PROGRAM: &str = "#include <z.h>\nint main(int c, char **v) { return c > 1 ? packed(v[1][0]) : 9; }\n";

/// A folder with a cache of its own, which has the C library of the user's.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        // A build whose cache is in `/tmp` is not confined.
        let place = Place(tempfile::tempdir_in("/var/tmp").expect("there is room"));
        let home = || PathBuf::from(std::env::var_os("HOME").expect("there is one")).join(".cache/wryneck");
        let cache = std::env::var_os("WRYNECK_CACHE").map_or_else(home, PathBuf::from);
        fs::create_dir(place.path("cache")).expect("there is room");
        fs::set_permissions(place.path("cache"), fs::Permissions::from_mode(0o700)).expect("it is ours");
        symlink(cache.join("libc.bc"), place.path("cache/libc.bc")).expect("there is room");
        fs::create_dir(place.path("source")).expect("there is room");
        place.file("source/configure", CONFIGURE);
        fs::set_permissions(place.path("source/configure"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        place.file("source/Makefile", MAKEFILE);
        place.file("source/z.h", "int packed(int);\n");
        place.file("source/z.c", "#include \"z.h\"\nint packed(int x) { return x == 'z' ? 1 : 2; }\n");
        place.file("program.c", PROGRAM);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("there is room");
    }

    fn wryneck(&self, words: &[&str]) -> Output {
        self.with_path(words, &std::env::var("PATH").expect("there is one"))
    }

    fn with_path(&self, words: &[&str], path: &str) -> Output {
        let mut command = Command::new(WRYNECK);
        command.current_dir(self.0.path()).env("WRYNECK_CACHE", self.path("cache")).env("PATH", path);
        command.args(words).output().expect("the tool was built")
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let out = self.wryneck(words);
        assert!(out.status.success(), "{words:?}: {}{}", text(&out.stdout), text(&out.stderr));
        text(&out.stdout) + &text(&out.stderr)
    }

    #[track_caller]
    fn refused(out: &Output, parts: &[&str]) {
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "`{part}` is missing: {said}"));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(path: &Path) -> String {
    path.canonicalize().expect("it is there").display().to_string()
}

#[test]
fn a_library_is_built_and_found_without_a_flag() {
    let place = Place::new();
    let said = place.done(&["deps", "--source", "source", "zlib"]);
    let library = shown(&place.path("cache/deps/zlib"));
    assert!(said.ends_with(&format!("note: `zlib` is in `{library}`\n")), "{said}");
    assert!(place.done(&["deps"]).contains("zlib       built"));
    assert!(place.done(&["deps", "zlib"]).contains("is there already"));
    assert_eq!(place.done(&["build", "--", "pkg-config", "--libs-only-l", "z"]).lines().next().map(str::trim), Some("-lz"));
    place.done(&["build", "--", "cc", "program.c", "-o", "program", "-lz"]);
    let out = place.wryneck(&["run", "--json", "--output", "out", "program", "--sym-arg", "1"]);
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("it is JSON");
    let mut ends: Vec<_> = run["ends"].as_array().expect("ends are listed").iter().filter_map(|e| e["what"].as_str()).collect();
    ends.sort_unstable();
    assert_eq!(ends, ["1", "2"], "the library is explored");
    assert!(out.status.success(), "{}", text(&out.stderr));
}

#[test]
fn a_library_of_another_recipe_is_built_again() {
    let place = Place::new();
    place.done(&["deps", "--source", "source", "zlib"]);
    place.file("cache/deps/zlib/recipe", "another");
    assert!(place.done(&["deps"]).contains("zlib       stale"));
    let said = place.done(&["deps", "--source", "source", "zlib"]);
    assert!(said.contains("`zlib` is there, of another recipe") && said.contains("`zlib` is in `"), "{said}");
    assert!(place.done(&["deps"]).contains("zlib       built"));
}

/// The compiler warns of it where it is called by itself, and a build once: a `configure` would take the warning for an answer.
#[test]
fn a_stale_library_of_cxx_is_named() {
    let place = Place::new();
    let stale = "warning: the C++ library of `wryneck deps libc++` was built by another recipe";
    let times = |words: &[&str]| place.done(words).matches(stale).count();
    place.file("p.cc", "int f() { return 1; }\n");
    assert_eq!(times(&["c++", "-c", "p.cc"]), 0);
    fs::create_dir_all(place.path("cache/deps/libc++/lib")).expect("there is room");
    assert!(place.done(&["deps"]).contains("libc++     stale"));
    assert_eq!(times(&["c++", "-c", "p.cc"]), 1);
    assert_eq!(times(&["cc", "-c", "program.c", "-include", "stddef.h", "-I", "source"]), 0);
    assert_eq!(times(&["build", "--", "c++", "-c", "p.cc"]), 1);
    assert_eq!(times(&["build", "--", "cc", "-c", "p.cc", "-x", "c"]), 0);
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    Place::refused(&place.wryneck(&["deps", "glib"]), &["`glib` is not one of the libraries", "zlib"]);
    Place::refused(&place.wryneck(&["deps", "--source", "source", "pcre2", "zlib"]), &["`--source` is for one library"]);
    Place::refused(&place.wryneck(&["deps", "--source", "nowhere", "zlib"]), &["`nowhere` is not a folder"]);
    place.file("source/z.c", "int packed(int x) { return y; }\n");
    let log = place.path("cache/deps/zlib.log");
    let out = place.wryneck(&["deps", "--source", "source", "zlib"]);
    Place::refused(&out, &["`zlib` does not build", "undeclared identifier 'y'", &format!("the whole log is `{}`", shown(&log))]);
    assert!(!place.path("cache/deps/zlib").exists());
    // No network, no source of apt, no apt.
    for (apt, part) in [
        ("case \"$*\" in indextargets*) echo /dev/null:1;; *) echo 'Failed to fetch' >&2; exit 100;; esac", "no network?"),
        ("exit 0", "apt knows no Debian repository"),
    ] {
        fs::create_dir_all(place.path("bin")).expect("there is room");
        place.file("bin/apt-get", &format!("#!/bin/sh\n{apt}\n"));
        fs::set_permissions(place.path("bin/apt-get"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
        Place::refused(&place.with_path(&["deps", "zlib"], &path), &[part, "wryneck deps --source DIR zlib"]);
    }
    let nothing = place.path("source").display().to_string();
    Place::refused(&place.with_path(&["deps", "zlib"], &nothing), &["cannot start `apt-get`", "dpkg-dev"]);
}
