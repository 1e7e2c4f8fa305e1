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

/// How executables are built: those whose functions of threads have models, and those whose own run.
const MODELLED: [&[&str]; 2] = [&["musl-gcc", "-O1", "-static"], &["musl-gcc", "-O1"]];
const OWN: [&[&str]; 4] = [&["gcc", "-O1"], &["gcc", "-O1", "-s"], &["gcc", "-O1", "-static"], &["musl-gcc", "-O1", "-static", "-s"]];

/// A folder with a program of C as an executable, built by this command.
#[track_caller]
fn built(text: &str, build: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("program.c"), text).expect("there is room");
    let mut gcc = Command::new(build[0]);
    gcc.current_dir(folder.path()).args(["-w", "-g", "-pthread", "program.c", "-o", "program"]).args(&build[1..]);
    assert!(gcc.status().expect("the compilers are installed").success());
    folder
}

/// What a run says of it.
#[track_caller]
fn of_executable(text: &str, build: &[&str], options: &[&str]) -> Value {
    let folder = built(text, build);
    said(folder.path(), &[&["run", "--json", "--output", "out"], options, &["program"]].concat())
}

/// The ids of its findings.
#[track_caller]
fn found_in_executable(text: &str, build: &[&str]) -> Vec<String> {
    let run = of_executable(text, build, &["--no-replay", "--schedules", "1"]);
    assert_ne!(run["totals"]["paths"], 0, "{run}");
    run["findings"].as_array().into_iter().flatten().map(|f| f["kind"]["id"].as_str().unwrap_or("").to_owned()).collect()
}

/// A program in which two threads run this.
fn twice(statements: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, l = PTHREAD_MUTEX_INITIALIZER;\n\
         static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int n;\nstatic atomic_int a;\nstatic char text[200], from[200];\n\
         static __thread int own = 3;\nstatic pthread_once_t once = PTHREAD_ONCE_INIT;\nstatic void init(void) {{ n++; }}\n\
         static void *run(void *p) {{ long size = (long)p; {statements} return 0; }}\n\
         int main(int argc, char **argv) {{\n  pthread_t t[2];\n\
         for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)(100L + argc));\n\
         for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n  return n == 77 || own != 3 || text[argc];\n}}\n"
    )
}

#[test]
fn an_executable_races_by_two_unlocked_changes() {
    for flags in MODELLED.into_iter().chain(OWN) {
        let races = |statements: &str| found_in_executable(&twice(statements), flags);
        // What a stripped program's own library accesses orders its threads.
        if !flags.contains(&"-s") || flags[0] == "gcc" {
            assert_eq!(races("n++;"), ["data-race"], "{flags:?}");
        }
        for fine in [
            "a++;",
            "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);",
            "pthread_once(&once, init); if (n != 1) abort();",
            "while (atomic_exchange(&a, 1)) { } n++; atomic_store(&a, 0);",
            // What compilers make of an atomic load and a store of one more.
            "static atomic_int ids; int me = atomic_fetch_add(&ids, 1); while (atomic_load(&a) != me) sched_yield(); n++; \
             __asm__ volatile(\"incl %0\" : \"+m\"(a));",
            "own++; if (own != 4) abort();",
            "memcpy(text, from, size);",
            "char *q = malloc(size); memset(q, 1, size); free(q);",
        ] {
            assert_eq!(races(fine), Vec::<String>::new(), "{flags:?} {fine}");
        }
    }
}

#[test]
fn a_deadlock_names_the_lock_of_an_executable() {
    let text = twice("pthread_mutex_lock(&m); if (n++ == 0) return 0; pthread_mutex_unlock(&m);");
    let run = of_executable(&text, &["musl-gcc", "-static"], &[]);
    let message = run["findings"][0]["message"].as_str().unwrap_or("");
    assert!(message.contains("the mutex `m` (40 bytes), which thread 1 held when it ended"), "{run}");
    assert_eq!(run["findings"][0]["native"]["verdict"], "reproduced", "{run}");
}

/// The program's own functions of threads ask the kernel: what is found is the same, but that a lock has no name.
#[test]
fn threads_as_the_kernel_makes_them() {
    let orders = "if (size & 1) { pthread_mutex_lock(&m); pthread_mutex_lock(&l); } else { pthread_mutex_lock(&l); pthread_mutex_lock(&m); } \
                  n++; pthread_mutex_unlock(&m); pthread_mutex_unlock(&l);";
    let orders = twice(orders).replace("(void *)(100L + argc)", "(void *)(100L + i)");
    let waits = twice("pthread_mutex_lock(&m); while (!n) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);");
    let overruns = twice("char *q = malloc(4); memset(q, 0, 4); a = q[size % 100 + 3]; free(q);");
    for build in OWN {
        // Another order is needed, for which functions have to have names.
        let named = !build.contains(&"musl-gcc");
        let expected: &[&str] = if named { &["deadlock"] } else { &[] };
        assert_eq!(found_in_executable(&orders, build), expected, "{build:?}");
        let run = of_executable(&waits, build, &["--no-replay"]);
        assert_eq!(run["findings"][0]["kind"]["id"], "deadlock", "{build:?} {run}");
        let message = run["findings"][0]["message"].as_str().unwrap_or("");
        let join = if named { "the main thread waits for thread 1 to end" } else { "the main thread waits for the futex" };
        assert!(message.contains(join), "{build:?} {run}");
        let run = of_executable(&overruns, build, &["--no-replay"]);
        if named {
            assert_eq!(run["findings"][0]["kind"]["id"], "out-of-bounds-read", "{build:?} {run}");
        }
    }
}

/// Where the order does not matter, a native run of an executable ends as the path does.
#[test]
fn an_exit_of_an_executable_with_threads_is_replayed() {
    let text =
        twice("pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);").replace("return n == 77", "return argv[1][0] == 'a' || n == 77");
    for build in OWN.into_iter().chain(MODELLED) {
        let folder = built(&text, build);
        said(folder.path(), &["run", "--json", "--no-replay", "--emit", "all", "--output", "out", "program", "--sym-arg", "1"]);
        let replayed = said(folder.path(), &["replay", "--json", "out"]);
        assert_eq!((&replayed["same"], &replayed["cannot"]), (&2.into(), &0.into()), "{build:?} {replayed}");
    }
}

/// What was wrong once: programs with how they are built, and the one end that they have.
#[test]
fn threads_of_executables_end_as_natively() {
    const BEGIN: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <signal.h>\n#include <stdatomic.h>\n\
        #include <stdlib.h>\n#include <sys/prctl.h>\n#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n";
    let programs = [
        // Without optimisation the address of the variable lies on the stack, with the variable's bounds.
        (
            &["gcc", "-O0"][..],
            "static atomic_int turn; static int n;\n__attribute__((optimize(\"O2\"), noinline)) static void add(int k) { n += k; }\n\
             static void *w(void *a) { while (atomic_load(&turn) != 1) sched_yield(); add(4); atomic_store(&turn, 2); return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); add(1); atomic_store(&turn, 1);\n\
             while (atomic_load(&turn) != 2) sched_yield(); add(2); pthread_join(t, 0); return n; }\n",
            "7",
        ),
        // A lock whose owner has ended.
        (
            &["gcc", "-O2"],
            "static pthread_mutex_t m; static void *w(void *a) { pthread_mutex_lock(&m); return 0; }\n\
             int main(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);\n\
             pthread_mutex_init(&m, &a); pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return pthread_mutex_lock(&m); }\n",
            "130",
        ),
        // A time that is input, while another thread can run.
        (
            &["gcc", "-O2"],
            "static void *w(void *a) { struct timespec t = {0, (long)a}; nanosleep(&t, 0); return 0; }\n\
             int main(int n, char **s) { pthread_t t, u; pthread_create(&t, 0, w, (void *)(s[1][0] & 1L)); pthread_create(&u, 0, w, (void *)1000L);\n\
             pthread_join(t, 0); pthread_join(u, 0); return 0; }\n",
            "0",
        ),
        // Where one thread is left, there may be processes, handlers and names.
        (
            &["gcc", "-O2"],
            "static volatile int got; static void on(int s) { got = s; }\nstatic void *w(void *a) { prctl(PR_SET_NAME, \"worker\"); return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); signal(SIGUSR1, on); raise(SIGUSR1);\n\
             int s; if (fork() == 0) _exit(3); wait(&s); return WEXITSTATUS(s) + got; }\n",
            "13",
        ),
    ];
    for (build, text, end) in programs {
        let text = format!("{BEGIN}{text}");
        for build in [build, &[build, &["-static"]].concat(), &["musl-gcc", "-O2", "-static", "-s"]] {
            let run = of_executable(&text, build, &["--no-replay", "--sym-arg", "1"]);
            let ends: Vec<&Value> = run["ends"].as_array().into_iter().flatten().map(|end| &end["what"]).collect();
            assert_eq!(ends, [end], "{build:?} {text} {run}");
            assert_eq!(run["findings"], serde_json::json!([]), "{build:?} {run}");
        }
    }
}

/// A thread that is told to end by another one, or gets a signal of another, ends the path by name.
#[test]
fn a_signal_for_another_thread_of_the_kernel_is_unsupported() {
    let text = "#include <pthread.h>\n#include <unistd.h>\nstatic void *run(void *p) { pause(); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); sleep(1); pthread_cancel(t); return pthread_join(t, 0); }\n";
    let run = of_executable(text, OWN[0], &["--no-replay"]);
    assert_eq!(run["findings"], serde_json::json!([]), "{run}");
    assert_eq!(run["every_path"], false, "{run}");
}

#[test]
fn an_executable_has_at_most_32_threads() {
    let text = "#include <errno.h>\n#include <pthread.h>\nstatic void *run(void *p) { return p; }\nint main(void) {\n  pthread_t t;\n  int made = 0;\n\
        while (pthread_create(&t, 0, run, 0) == 0) made++;\n  if (made < 31) __builtin_trap();\n  return 0;\n}\n";
    assert_eq!(found_in_executable(text, &["musl-gcc", "-static"]), Vec::<String>::new());
    // The room of one that has ended is another's.
    let text = "#include <pthread.h>\nstatic void *run(void *p) { return p; }\nint main(void) {\n  pthread_t t;\n  for (int i = 0; i < 70; i++) {\n\
        if (pthread_create(&t, 0, run, 0)) __builtin_trap();\n    pthread_join(t, 0);\n  }\n  return 0;\n}\n";
    assert_eq!(found_in_executable(text, &["musl-gcc", "-static"]), Vec::<String>::new());
}

#[test]
fn an_ended_thread_leaves_no_stack_and_no_variables() {
    let text = "#include <pthread.h>\nstatic __thread int own;\nstatic void *run(void *p) { return &own; }\nint main(void) {\n  pthread_t t;\n  void *at;\n\
        pthread_create(&t, 0, run, 0);\n  pthread_join(t, &at);\n  return *(int *)at;\n}\n";
    assert_eq!(found_in_executable(text, &["musl-gcc", "-static"]), ["use-after-free"]);
    let text = "#include <pthread.h>\nstatic int deep(int n) { volatile char room[1000]; room[n % 1000] = n; return n ? deep(n - 1) + room[n % 1000] * 0 : 0; }\n\
        static void *run(void *p) { deep(SIZE / 1000); return p; }\nint main(void) {\n  pthread_t t;\n  pthread_attr_t a;\n  pthread_attr_init(&a);\n\
        pthread_attr_setstacksize(&a, 262144);\n  pthread_create(&t, &a, run, 0);\n  return pthread_join(t, 0);\n}\n";
    assert_eq!(found_in_executable(text, &["musl-gcc", "-static", "-DSIZE=400000"]), ["stack-overflow"]);
    assert_eq!(found_in_executable(text, &["musl-gcc", "-static", "-DSIZE=100000"]), Vec::<String>::new());
}

#[test]
fn a_pipe_orders_the_writer_before_the_reader() {
    let text = "#include <pthread.h>\n#include <unistd.h>\nstatic int n, ends[2];\nstatic void *run(void *p) { n = 1; write(ends[1], \"x\", 1); return p; }\n\
        int main(void) {\n  pthread_t t;\n  char c;\n  pipe(ends);\n  pthread_create(&t, 0, run, 0);\n  sleep(1);\n  read(ends[0], &c, 1);\n  n++;\n\
        return pthread_join(t, 0);\n}\n";
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("pipe.c"), text).expect("there is room");
    let run = said(folder.path(), &["run", "--json", "--no-replay", "--output", "out", "pipe.c"]);
    assert_eq!(run["findings"], serde_json::json!([]), "{run}");
    assert_eq!(run["ends"][0]["what"], "0", "{run}");
}
