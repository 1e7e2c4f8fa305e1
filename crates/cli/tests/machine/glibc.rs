//! Executables of glibc, static and dynamic, and the libraries that loaders map.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Place, ends, text};

/// How paths end, without how many.
fn statuses(run: &Value) -> Vec<String> {
    ends(run).into_iter().map(|(what, _)| what).collect()
}

const WORDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *copy = strdup(argv[1]);
  if (strlen(copy) > 2) return 2;
  if (!strcmp(copy, "ab")) printf("%s %d\n", copy, argc);
  else if (memchr(copy, 'x', 2)) return 1;
  if (copy[0] == 'r' && rand() == 77) return 3;
  free(copy);
  if (argv[1][0] == 'q' && !argv[1][1]) free(copy);
  return 0;
}
"#;

/// Of musl's and of glibc's programs, whose start asks for variables of its own.
#[test]
fn variables_that_a_program_asks_for_are_input() {
    let place = Place::new();
    for flags in [&["-O0", "-g", "-static"][..], &["-O2", "-static-pie", "-fPIE"], &["-O1"]] {
        place.compiled("environment", flags);
        are_those_of_variables(&place, &format!("{flags:?}"));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/environment.c");
    // In a dynamic program the pointer to the variables is the library's, or the program's own where it was linked for a fixed address.
    for flags in [&["-O1", "-static"][..], &["-O1"], &["-O1", "-no-pie", "-s"]] {
        place.built_by_gcc(source.to_str().expect("a path in UTF-8"), &[flags, &["-o", "environment"]].concat());
        are_those_of_variables(&place, &format!("glibc {flags:?}"));
    }
}

/// An address into one mapping whose constant, folded with the length of the mapping, lies in another one.
#[test]
fn a_folded_constant_means_the_object_that_the_address_lies_in() {
    let place = Place::new();
    let text = "#include <stdint.h>\n#include <sys/mman.h>\nstatic char *volatile q[2];\nint main(int argc, char **argv) {\n  \
        long n = (1L + ((unsigned char)argv[1][0] > 3)) << 20;\n  for (int i = 0; i < 2; i++) {\n    \
        char *a = mmap(0, n + 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n    \
        q[i] = (char *)(((uintptr_t)a + n + 4096 - 2496) & -64);\n    *q[i] = 1;\n  }\n  return *q[0] + *q[1];\n}\n";
    fs::write(place.path("main.c"), text).expect("there is room");
    place.built_by_gcc("main.c", &["-O2", "-o", "main"]);
    let run = place.explored(&["main", "--sym-arg", "1"]);
    assert_eq!((&run["findings"], &run["every_path"]), (&serde_json::json!([]), &true.into()), "{run}");
    assert!(ends(&run).into_iter().all(|(what, _)| what == "exit 2"), "{run}");
}

/// A hooked allocator that fails sets the `errno` of the program's own C library.
#[test]
fn allocations_that_fail_set_errno() {
    let place = Place::new();
    let text = "#include <errno.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n\
        size_t n = argv[1][0] == 'a' ? 10 : (size_t)-1 / 2 - 100;\n  errno = 0;\n  volatile char *p = malloc(n), *q = realloc(0, n);\n  return errno + !p + !q;\n}\n";
    fs::write(place.path("main.c"), text).expect("there is room");
    let explored = |place: &Place, shown: &str| {
        let run = place.explored(&["main", "--sym-arg", "1"]);
        let statuses = statuses(&run);
        assert_eq!(statuses, ["exit 0", "exit 14"], "{shown} {run}");
    };
    for flags in [&["-O1"][..], &["-O1", "-static"], &["-O1", "-static-pie"]] {
        place.built_by_gcc("main.c", &[flags, &["-w", "-o", "main"]].concat());
        explored(&place, &format!("{flags:?}"));
    }
    let musl = Command::new("musl-gcc").current_dir(place.0.path()).args(["-w", "-O1", "-static", "main.c", "-o", "main"]).status();
    assert!(musl.expect("musl-tools is installed").success());
    explored(&place, "musl");
}

fn are_those_of_variables(place: &Place, shown: &str) {
    let run = place.explored(&["environment", "--sym-calls", "getenv:3"]);
    let statuses = statuses(&run);
    assert_eq!(statuses, ["exit 1", "exit 2", "exit 3", "exit 5"], "{shown}: {run}");
    assert_eq!(run["every_path"], true, "{shown}: {run}");
    let replayed = place.wryneck(&["replay", "out"]);
    assert!(replayed.status.success(), "{shown}: {}", text(&replayed.stdout));
    let taken = place.explored(&["environment", "--sym-calls", "getenv:3", "A"]);
    assert_eq!(taken["every_path"], false, "`unsetenv` is no input: {taken}");
}

/// Programs of the host's run by glibc's loader. Functions of its library, those among them that are chosen when a program begins, have models.
#[test]
fn dynamic_programs_of_glibc_end_as_natively() {
    let place = Place::new();
    fs::write(place.path("words.c"), WORDS).expect("there is room");
    for flags in [&["-O0", "-g"][..], &["-O2"], &["-O2", "-no-pie"], &["-O2", "-Wl,-z,now"]] {
        place.built_by_gcc("words.c", &[flags, &["-o", "words"]].concat());
        let run = place.explored(&["words", "--sym-arg", "3", "--sym-calls", "rand"]);
        let statuses = statuses(&run);
        let expected = ["exit 0", "exit 1", "exit 2", "exit 3", "fault double-free", "fault out-of-bounds-read"];
        assert_eq!(statuses, expected, "{flags:?}: {run}");
        assert_eq!(run["every_path"], true, "{flags:?}: {run}");
    }
}

/// What the replay library is told is in the environment of programs that were linked with it alone.
#[test]
fn replays_add_no_variables() {
    let place = Place::new();
    let text = "#include <stdlib.h>\n#include <unistd.h>\nextern char **environ;\nint main(void) {\n  char c = 0;\n  read(0, &c, 1);\n  \
        if (*environ || c == 'x') abort();\n  return c == 'y';\n}\n";
    fs::write(place.path("main.c"), text).expect("there is room");
    place.built_by_gcc("main.c", &["-O1", "-o", "main"]);
    let run = place.explored(&["main", "--sym-stdin", "1"]);
    assert_eq!(statuses(&run), ["exit 0", "exit 1", "fault abort"], "{run}");
    place.replayed();
}

const CALLS: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct timespec now;
  if (argc > 1) {
    char *block = malloc(8);
    char *pages = valloc(8), *whole = pvalloc(8);
    if (!block) return 1;
    if (!pages || !whole) return 7;
    if (((long)pages | (long)whole) & 4095) abort();
    whole[4095] = 0;
    free(pages);
    free(whole);
    int fd = open("made", O_CREAT | O_WRONLY, 0600);
    if (fd < 0) return errno == EMFILE ? 2 : 9;
    if (write(fd, argv[0], 1) != 1) return errno == ENOSPC ? 3 : 4;
    return 0;
  }
  if (rand() == 77) return 5;
  if (time(0) == 7) return 6;
  if (clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_nsec == 5) abort();
  return environ[0] ? 8 : 0;
}
"#;

/// Results of calls are the test's, and calls fail as it says, by the replay library that is loaded first; calls of the loader never fail.
#[test]
fn replays_have_the_results_and_failures_of_the_test() {
    let place = Place::new();
    fs::write(place.path("calls.c"), CALLS).expect("there is room");
    for flags in [&["-O2"][..], &["-O1", "-no-pie", "-s"]] {
        place.built_by_gcc("calls.c", &[flags, &["-D_GNU_SOURCE", "-o", "calls"]].concat());
        let statuses = |words: &[&str]| statuses(&place.explored(words));
        assert_eq!(statuses(&["calls", "--sym-calls", "rand,time,clock_gettime"]), ["exit 0", "exit 5", "exit 6", "fault abort"]);
        place.replayed();
        assert_eq!(statuses(&["--fail-calls", "1", "calls", "x"]), ["exit 0", "exit 1", "exit 2", "exit 3", "exit 4", "exit 7"]);
        place.replayed();
    }
}

const HEAP: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *block = malloc(8), *other = malloc(24), *volatile p = block;
  memset(other, 0, 24);
  switch (argv[1][0]) {
    case 'a': p[8] = 1; break;
    case 'b': return p[9];
    case 'c': free(block); p[3] = 1; break;
    case 'd': free(block); free(p); break;
    case 'e': p++; free(p); break;
    case 'f': p[-1] = 1; break;
    case 'g': p = realloc(block, 100); p[100] = 1; break;
    case 'h': p = strdup("abc"); return (int)strlen(p + 4);
    case 'i': free(block); p = malloc(8); p[0] = 1; break;
  }
  return other[23];
}
"#;

/// No sanitizer watches executables. Blocks that end at a page that nobody may touch show most heap faults.
#[test]
fn heap_faults_show_natively() {
    let place = Place::new();
    fs::write(place.path("heap.c"), HEAP).expect("there is room");
    for flags in [&["-O1"][..], &["-O2", "-s", "-no-pie"]] {
        place.built_by_gcc("heap.c", &[flags, &["-fno-builtin", "-o", "heap"]].concat());
        let run = place.explored(&["heap", "--sym-arg", "1"]);
        let faults =
            [("double-free", 1), ("invalid-free", 1), ("out-of-bounds-read", 2), ("out-of-bounds-write", 3), ("use-after-free", 1)];
        let expected: Vec<(String, u64)> = faults.iter().map(|(kind, count)| (format!("fault {kind}"), *count)).collect();
        let found: Vec<(String, u64)> = ends(&run).into_iter().filter(|(what, _)| what.starts_with("fault ")).collect();
        assert_eq!(found, expected, "{flags:?}: {run}");
        place.replayed();
    }
}

/// The tables of letters are parts of a large object. An element of one is an index into the other.
#[test]
fn tables_of_letters_split_no_path() {
    let place = Place::new();
    let source = "#include <ctype.h>\n#include <stdio.h>\nint main(void) {\n  int c = getchar(), d = getchar();\n\
                  return !!isspace(c) + 2 * !!isdigit(toupper(d));\n}\n";
    fs::write(place.path("letters.c"), source).expect("there is room");
    for flags in [&["-O0"][..], &["-O2"], &["-O1", "-static"]] {
        place.built_by_gcc("letters.c", &[flags, &["-o", "letters"]].concat());
        let run = place.explored(&["letters", "--sym-stdin", "2"]);
        assert_eq!(statuses(&run), ["exit 0", "exit 1", "exit 2", "exit 3"], "{flags:?}: {run}");
        assert_eq!((&run["every_path"], &run["totals"]["paths"]), (&true.into(), &4.into()), "{flags:?}: {run}");
        place.replayed();
        // A loader asks for the processor and the time, which is nothing that the path may differ by. Static programs ask by functions of unknown origin.
        let test = fs::read_to_string(place.path("out/test000001.json")).expect("each path has a test");
        assert!(test.contains("\"approximated\":false") || flags.contains(&"-static"), "{flags:?}: {test}");
    }
}

/// Coroutines of the C library, rounding that is set to what it is, and atomic additions of few bits: the state of the x87 and of SSE is saved and loaded.
#[test]
fn states_of_the_processor_are_saved_and_loaded() {
    let place = Place::new();
    fs::write(place.path("processor.c"), include_str!("processor.c")).expect("there is room");
    for flags in [&["-O0"][..], &["-O1"]] {
        place.built_by_gcc("processor.c", &[flags, &["-Wl,--no-as-needed", "-lm", "-o", "processor"]].concat());
        let run = place.explored(&["processor", "--sym-stdin", "1"]);
        assert_eq!(statuses(&run), ["exit 14", "exit 5", "exit 6", "exit 8", "exit 9"], "{flags:?}: {run}");
        assert_eq!(run["every_path"], true, "{flags:?}: {run}");
        place.replayed();
    }
}

/// A nested function accesses variables of the outer one by the address of a structure that no debug information tells of.
#[test]
fn variables_that_nested_functions_share_have_no_bounds() {
    let place = Place::new();
    fs::write(place.path("shared.c"), include_str!("shared.c")).expect("there is room");
    place.built_by_gcc("shared.c", &["-O0", "-g", "-o", "shared"]);
    let run = place.explored(&["shared", "--sym-stdin", "1"]);
    assert!(statuses(&run).iter().all(|end| end.starts_with("exit")), "{run}");
    place.replayed();
}

/// gcc writes code to the stack for a nested function whose address is taken. `lahf` loads a flag that is not kept.
#[test]
fn code_on_the_stack_and_the_auxiliary_carry_are_unsupported() {
    let place = Place::new();
    fs::write(place.path("nested.c"), include_str!("nested.c")).expect("there is room");
    for level in ["-O0", "-O2"] {
        place.built_by_gcc("nested.c", &[level, "-g", "-o", "nested"]);
        let run = place.explored(&["nested", "--sym-stdin", "1"]);
        let ends = statuses(&run);
        assert!(
            ends.iter().any(|end| end.contains("written to its stack")) && !ends.iter().any(|end| end.contains("fault")),
            "{level}: {run}"
        );
    }
    let flag = r#"int main(void) { unsigned short f; __asm__("lahf\n movw %%ax, %0" : "=r"(f) : : "ax"); return f >> 12 & 1; }"#;
    fs::write(place.path("flag.c"), flag).expect("there is room");
    place.built_by_gcc("flag.c", &["-o", "flag"]);
    let run = place.explored(&["flag"]);
    assert!(statuses(&run)[0].contains("unsupported instruction `lahf`"), "{run}");
}

/// Nothing orders the threads of an executable. A native run in which each thread waits for another one shows the deadlock all the same.
#[test]
fn deadlocks_show_natively() {
    let place = Place::new();
    fs::write(place.path("waits.c"), include_str!("waits.c")).expect("there is room");
    for flags in [&["-O1"][..], &["-O1", "-static"]] {
        place.built_by_gcc("waits.c", &[flags, &["-pthread", "-o", "waits"]].concat());
        let run = place.explored(&["waits", "--sym-stdin", "1"]);
        assert_eq!(statuses(&run), ["exit 0", "fault deadlock"], "{flags:?}: {run}");
        place.replayed();
    }
}

/// A library that defines a function of the C library's is what the program runs.
#[test]
fn random_numbers_of_glibc_are_those_of_the_test() {
    let place = Place::new();
    let text = r#"
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
            unsigned char bytes[6];
            arc4random_buf(bytes, sizeof bytes);
            unsigned below = arc4random_uniform(10);
            double part = drand48();
            long number = mrand48();
            if (below >= 10 || part < 0 || part >= 1 || number != (int)number || getppid() < 0) return 9;
            if (bytes[5] == 7 && below == 9 && arc4random() == 0xffffffff) return 1;
            return part > 0.75 && number == -2147483648L ? 2 : 0;
        }"#;
    fs::write(place.path("random.c"), text).expect("there is room");
    place.built_by_gcc("random.c", &["-D_DEFAULT_SOURCE", "-O1", "-o", "random"]);
    let run = place.explored(&["random", "--sym-calls", "arc4random,arc4random_buf,arc4random_uniform,drand48,mrand48,getppid"]);
    assert_eq!(statuses(&run), ["exit 0", "exit 1", "exit 2"], "{run}");
    place.replayed();
}

#[test]
fn functions_of_other_libraries_are_their_own() {
    let place = Place::new();
    let files = [
        ("length.c", "#include <stddef.h>\nsize_t strlen(const char *s) { return s[0] == 'x' ? 42 : 7; }\n"),
        (
            "memory.c",
            "#include <stddef.h>\nstatic char pool[4096];\nvoid *malloc(size_t n) { return n == 3 ? pool : pool + 64; }\nvoid free(void *p) {}\n",
        ),
        (
            "main.c",
            "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  char *p = malloc(3), *q = malloc(4);\n  \
             int apart = (int)(q - p);\n  free(p);\n  free(p);\n  return (int)strlen(argv[1]) + apart;\n}\n",
        ),
    ];
    files.into_iter().for_each(|(name, text)| fs::write(place.path(name), text).expect("there is room"));
    for name in ["length", "memory"] {
        place.built_by_gcc(&format!("{name}.c"), &["-O1", "-fno-builtin", "-fPIC", "-shared", "-o", &format!("lib{name}.so")]);
    }
    place.built_by_gcc("main.c", &["-O1", "-fno-builtin", "-o", "main", "-L.", "-Wl,--no-as-needed,-rpath,.", "-lmemory", "-llength"]);
    let run = place.explored(&["main", "--sym-arg", "1"]);
    let statuses = statuses(&run);
    assert_eq!(statuses, ["exit 106", "exit 71"], "{run}");
    assert_eq!(run["every_path"], true, "{run}");
}

/// glibc's functions on vectors read past objects, and look at their bytes alone; the library names what chooses them, not them.
#[test]
fn vectors_that_a_library_reads_past_objects_are_no_fault() {
    let place = Place::new();
    let text = "#include <fnmatch.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <strings.h>\n#include <wchar.h>\n\
        int main(int argc, char **argv) {\n  wchar_t *w = malloc(20), *v = malloc(12);\n  char inf[] = \"inF\", p[] = \"a*c\", s[] = \"abbc\";\n\
        int c = argv[1][0];\n  wcscpy(w, L\"abcd\");\n  wmemset(v, L'q', 3);\n\
        int all = (wcschr(w, c & 1 ? L'c' : L'z') != 0) + 2 * (wmemchr(v, c & 2 ? L'q' : L'r', 3) != 0);\n\
        all += 4 * (strtod(inf, 0) > 1e300) + 8 * !fnmatch(p, s, 0) + 16 * !strcasecmp(s, \"ABBC\") + 32 * (wcsnlen(v, 3) == 3);\n\
        pthread_attr_t a;\n  void *at;\n  size_t size;\n  pthread_getattr_np(pthread_self(), &a);\n  pthread_attr_getstack(&a, &at, &size);\n\
        all += 64 * ((char *)&c >= (char *)at && (char *)&c < (char *)at + size);\n  free(w);\n  free(v);\n  return all;\n}\n";
    fs::write(place.path("main.c"), text).expect("there is room");
    // In a program of the last kind glibc hides its `malloc`.
    for flags in [&["-O0"][..], &["-O2"], &["-O2", "-static"], &["-O0", "-static-pie"]] {
        place.built_by_gcc("main.c", &[flags, &["-o", "main"]].concat());
        let run = place.explored(&["main", "--sym-arg", "1"]);
        let statuses = statuses(&run);
        assert_eq!(statuses, ["exit 124", "exit 125", "exit 126", "exit 127"], "{flags:?} {run}");
        assert_eq!((&run["every_path"], &run["findings"]), (&true.into(), &serde_json::json!([])), "{flags:?} {run}");
    }
}

/// glibc's `strcspn` and its kin read whole words of a string, and `strchrnul` whole lines in which a string begins. A string without an end is a fault.
#[test]
fn words_and_lines_of_strings_are_no_fault() {
    let place = Place::new();
    let text = "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  int all = 0;\n  char *open = malloc(8);\n\
        for (int n = 1; n < 10; n++) {\n    char *s = malloc(n + 1), *gone = malloc(33 + 3 * n), *t = malloc(n), *rest = s;\n\
        memset(s, 'a', n), s[n] = 0;\n    free(gone);\n    if (n > 3) s[n - 2] = argv[1][0];\n\
        all += strcspn(s, \"xyz\") + strspn(s, \"abc\") + (strpbrk(s, \"qrx\") != 0);\n    strsep(&rest, \":\");\n    all += rest != 0;\n\
        free(s), free(t);\n  }\n  if (argc > 2) return memset(open, 'a', 8), strcspn(open, \"xyz\");\n  return all & 127;\n}\n";
    fs::write(place.path("main.c"), text).expect("there is room");
    for flags in [&["-O1"][..], &["-O1", "-static"]] {
        place.built_by_gcc("main.c", &[flags, &["-o", "main"]].concat());
        let run = place.explored(&["main", "--sym-arg", "1"]);
        assert_eq!((&run["every_path"], &run["findings"]), (&true.into(), &serde_json::json!([])), "{flags:?} {run}");
        let ours: BTreeSet<String> = ends(&run).into_iter().map(|(what, _)| what).collect();
        let natives: BTreeSet<String> = (0..=u8::MAX)
            .map(|c| {
                let arg = if c == 0 { Vec::new() } else { vec![c] };
                let done = Command::new(place.path("main")).arg(OsStr::from_bytes(&arg)).status();
                format!("exit {}", done.expect("it starts").code().expect("it exits"))
            })
            .collect();
        assert_eq!(ours, natives, "{flags:?} {run}");
        let run = place.explored(&["main", "aa", "bb"]);
        assert_eq!(run["findings"].as_array().map(Vec::len), Some(1), "{flags:?} {run}");
    }
}

/// A library that the loader maps may be another one in the next run.
#[test]
fn code_of_libraries_is_that_of_the_run() {
    let place = Place::new();
    for (name, text) in [("main.c", "int f(int); int main(int argc, char **argv) { return f(argv[1][0]); }"), ("f.c", "")] {
        fs::write(place.path(name), text).expect("there is room");
    }
    let musl = |flags: &[&str]| {
        let done = Command::new("musl-gcc").current_dir(place.0.path()).args(["-O1", "-fPIC"]).args(flags).status();
        assert!(done.expect("musl-tools is installed").success(), "{flags:?}");
    };
    for [one, other] in [["11", "22"], ["33", "44"], ["11", "22"]] {
        fs::write(place.path("f.c"), format!("int f(int x) {{ return x == 97 ? {one} : {other}; }}")).expect("there is room");
        musl(&["-shared", "f.c", "-o", "libf.so"]);
        if !place.path("main").exists() {
            musl(&["main.c", "-L.", "-lf", "-Wl,-rpath,.", "-o", "main"]);
        }
        let statuses: Vec<String> = ends(&place.explored(&["main", "--sym-arg", "1"])).into_iter().map(|(what, _)| what).collect();
        assert_eq!(statuses, [format!("exit {one}"), format!("exit {other}")]);
    }
}
