//! `wryneck verify` of programs with events that are easy to miss: in functions that were inlined, in destructors, in functions that the C library
//! is given to call, in threads. Each is a violation, or makes the verdict INCOMPLETE with a row in the ledger.

use std::fs;
use std::process::Command;

use serde_json::Value;

const RULE: &str = r#"id = "bad"
summary = "bad is never called"
cwe = 1
severity = "error"
instance = "program"
[[event]]
name = "bad"
call = ["bad"]
[[state]]
name = "good"
errors = { bad = "is called" }
"#;

/// The verdict on a program, and the rows of the ledger in words.
fn verdict(program: &str, how: &[&str]) -> (String, String) {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("bad.toml"), RULE).expect("there is room");
    fs::write(dir.path().join("t.c"), program).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wryneck"));
    command.current_dir(dir.path()).args(["verify", "--rule", "bad.toml", "--json", "--no-replay", "--emit", "none", "--output", "out"]);
    let out = command.args(how).args(["t.c", "--sym-arg", "2"]).output().expect("the tool was built");
    let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    (run["rules"][0]["verdict"].as_str().expect("there is a verdict").to_owned(), run["ledger"].to_string())
}

/// What `wryneck run` says of a program.
fn run(program: &str, how: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("t.c"), program).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wryneck"));
    let out = command.current_dir(dir.path()).args(["run", "--json", "--output", "out"]).args(how).args(["t.c", "--sym-arg", "2"]).output();
    serde_json::from_slice(&out.expect("the tool was built").stdout).expect("it is JSON")
}

#[test]
fn a_function_that_was_inlined_makes_the_verdict_incomplete() {
    let program = r#"#include <stdio.h>
static int n;
static void bad(void) { n++; puts("bad"); }
int main(int argc, char **argv) { if (argv[1][0] == 'x') bad(); return n; }
"#;
    let (inlined, ledger) = verdict(program, &["--cc-flag", "-O2"]);
    assert!(inlined == "INCOMPLETE" && ledger.contains("`bad` were inlined"), "{inlined}: {ledger}");
    assert_eq!(verdict(program, &["--cc-flag", "-O0"]).0, "VIOLATED");
}

#[test]
fn destructors_run_with_the_c_library_and_without() {
    let program = r#"void bad(void) {}
__attribute__((destructor)) static void at_end(void) { bad(); }
int main(int argc, char **argv) { return 0; }
"#;
    assert_eq!(verdict(program, &[]).0, "VIOLATED");
    assert_eq!(verdict(program, &["--no-libc"]).0, "VIOLATED");
}

#[test]
fn what_the_c_library_is_given_to_call_is_called_by_the_program() {
    let by = |call: &str| {
        let main = format!("int main(int argc, char **argv) {{ if (argv[1][0] == 'x') {call}; return 0; }}");
        format!("#include <pthread.h>\n#include <stdlib.h>\nvoid bad(void) {{}}\npthread_once_t once = PTHREAD_ONCE_INIT;\n{main}\n")
    };
    for call in ["atexit(bad)", "pthread_once(&once, bad)"] {
        assert_eq!(verdict(&by(call), &[]).0, "VIOLATED", "{call}");
    }
    assert_eq!(verdict(&by("if (argc == 7) bad()"), &[]).0, "VERIFIED");
}

#[test]
fn events_of_threads_are_seen_and_sockets_that_there_are_none_of_are_in_the_ledger() {
    let program = |calls: &str| {
        let headers = "#include <pthread.h>\n#include <sys/socket.h>\n#include <threads.h>\nvoid bad(void) {}\n";
        let run = "static void *run(void *p) { bad(); return p; }\nstatic int run_too(void *p) { bad(); return 0; }\n";
        format!("{headers}{run}int main(int argc, char **argv) {{ pthread_t t; thrd_t u; {calls}; return argc == 7 ? bad(), 1 : 0; }}\n")
    };
    let calls = [
        "pthread_create(&t, 0, run, 0), pthread_join(t, 0)",
        "thrd_create(&u, run_too, 0), thrd_join(u, 0)",
        "pthread_create(&t, 0, (void *(*)(void *))bad, 0), pthread_join(t, 0)",
        "pthread_key_t key; pthread_key_create(&key, (void (*)(void *))bad); pthread_setspecific(key, &t); pthread_exit(0)",
    ];
    for call in calls {
        let (verdict, ledger) = verdict(&program(call), &[]);
        assert!(verdict == "VIOLATED", "{call}: {verdict}: {ledger}");
    }
    let (verdict, ledger) = verdict(&program("if (socket(AF_INET, SOCK_STREAM, 0) >= 0) bad()"), &[]);
    assert!(verdict == "INCOMPLETE" && ledger.contains("`socket` fails"), "{verdict}: {ledger}");
}

#[test]
fn what_is_asked_of_this_run_is_an_assumption() {
    let program = |condition: &str| {
        let headers = "#include <time.h>\n#include <unistd.h>\nvoid bad(void) {}\n";
        format!("{headers}int main(int argc, char **argv) {{ if ({condition}) bad(); return 0; }}\n")
    };
    for (condition, row) in [("time(0) == 5", "the time is"), ("getpid() == 7", "process ids"), ("isatty(0)", "terminal")] {
        let (verdict, ledger) = verdict(&program(condition), &[]);
        assert!(verdict == "VERIFIED" && ledger.contains("assumption") && ledger.contains(row), "{condition}: {verdict}: {ledger}");
    }
    assert!(!verdict(&program("argc == 7"), &[]).1.contains("assumption"));
}

#[test]
fn arrays_that_the_linker_makes_are_no_faults_and_verify_nothing() {
    let array = "typedef void (*call)(void);\nstatic void good(void) {}\nvoid bad(void) {}\n\
                 static call one __attribute__((section(\"calls\"), used)) = good;\nextern call __start_calls[], __stop_calls[];\n";
    let writes = "if (argv[1][0] == 'x') for (call *p = __start_calls; p < __stop_calls; p++) *p = bad; if (*(volatile call *)&one) one();";
    let weak = "extern call __start_other[] __attribute__((weak)); return argv[1][0] == 'x' && __start_other && (bad(), 1);";
    let ends = "extern char end, edata __attribute__((weak)); if (argv[1][0] == 'x' && &edata) bad(); return &end == (char *)&one;";
    let reads = "call first = *(volatile call *)__start_calls; first(); return argv[1][0] == 'x' && first == bad;";
    for (body, symbol) in [(writes, "__start_calls"), (reads, "__start_calls"), (weak, "__start_other"), (ends, "edata")] {
        let (verdict, ledger) = verdict(&format!("{array}int main(int argc, char **argv) {{ {body} }}\n"), &[]);
        assert!(
            verdict == "INCOMPLETE" && ledger.contains(&format!("`{symbol}`, which the linker defines")),
            "{body}: {verdict}: {ledger}"
        );
    }
    let inside = "extern int table[100]; int *entry = table + 70; return *entry + argc;";
    for body in [reads, inside] {
        let run = run(&format!("{array}int main(int argc, char **argv) {{ {body} }}\n"), &[]);
        assert!(run["findings"].as_array().is_some_and(Vec::is_empty), "{}", run["findings"]);
        let end = &run["ends"][0];
        assert!(end["class"] == "unsupported" && end["what"].to_string().contains("nothing defines"), "{end}");
    }
}

/// Its verdict under the rule `locks`.
fn locks(program: &str) -> String {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("t.c"), program).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wryneck"));
    command
        .current_dir(dir.path())
        .args(["verify", "--rule", "locks", "--json", "--no-replay", "--emit", "none", "--output", "out", "t.c"]);
    let out = command.output().expect("the tool was built");
    let run: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    run["rules"][0]["verdict"].as_str().expect("there is a verdict").to_owned()
}

#[test]
fn cleanup_handlers_and_what_they_are_given_may_be_chosen_by_input() {
    let pushed = |handler: &str, argument: &str| {
        let handlers = "void bad(void) {}\nstatic void if_x(void *p) { if ((long)p == 'x') bad(); }\nstatic void is_bad(void *p) { bad(); }\n\
                        static void fine(void *p) {}\n";
        let main = format!("pthread_cleanup_push({handler}, {argument}); pthread_exit(0); pthread_cleanup_pop(0); return 0;");
        format!("#include <pthread.h>\n{handlers}int main(int argc, char **argv) {{ {main} }}\n")
    };
    for how in [&[][..], &["--no-prune"]] {
        assert_eq!(verdict(&pushed("if_x", "(void *)(long)argv[1][0]"), how).0, "VIOLATED");
        assert_ne!(verdict(&pushed("argv[1][0] == 'x' ? is_bad : fine", "0"), how).0, "VERIFIED");
    }
}

#[test]
fn a_pointer_that_may_be_null_is_no_fault() {
    let call = |call: &str| {
        let headers = "#define _GNU_SOURCE\n#include <poll.h>\n#include <signal.h>\n#include <sys/resource.h>\n#include <sys/select.h>\n\
                       #include <sys/time.h>\n#include <time.h>\n#include <unistd.h>\n";
        // Null or the object, without a branch.
        let or_null = "#define OR_NULL(o) ((void *)(-(long)(argv[1][0] & 1) & (long)&(o)))\n";
        format!("{headers}{or_null}void bad(void) {{}}\nint main(int argc, char **argv) {{ {call}; return 0; }}\n")
    };
    for body in [
        "struct itimerval t = {0}, o; setitimer(ITIMER_REAL, &t, OR_NULL(o))",
        "sigset_t s, o; sigemptyset(&s); sigprocmask(SIG_BLOCK, OR_NULL(s), OR_NULL(o))",
        "struct sigaction o; sigaction(SIGUSR1, 0, OR_NULL(o))",
        "struct timespec t = {0}, o; nanosleep(&t, OR_NULL(o))",
        "struct timespec t = {0}; sigset_t s; sigemptyset(&s); ppoll(0, 0, &t, OR_NULL(s))",
        "struct rlimit o; prlimit(0, RLIMIT_NOFILE, 0, OR_NULL(o))",
        "fd_set s; FD_ZERO(&s); struct timeval t = {0}; select(1, OR_NULL(s), 0, 0, &t)",
    ] {
        let found = run(&call(body), &[]);
        assert!(found["findings"].as_array().is_some_and(Vec::is_empty) && found["ends"][0]["count"] == 2, "{body}: {found}");
    }
    let from = "struct sockaddr_in a = {AF_INET, htons(7777), {htonl(INADDR_LOOPBACK)}, {0}}, o; socklen_t n = sizeof o; char b[4]; \
                int s = socket(AF_INET, SOCK_DGRAM, 0); bind(s, (void *)&a, sizeof a); recvfrom(s, b, 4, 0, OR_NULL(o), &n)";
    let program = format!("#include <netinet/in.h>\n#include <sys/socket.h>\n{}", call(from));
    let found = run(&program, &["--sym-socket", "udp:7777:1"]);
    assert!(found["findings"].as_array().is_some_and(Vec::is_empty), "{found}");
    assert!(found["ends"].as_array().is_some_and(|ends| ends.iter().all(|end| end["class"] == "exit")), "{found}");
}

#[test]
fn each_thread_holds_its_own_locks() {
    let program = |of_thread: &str| {
        let headers = "#include <pthread.h>\n#include <sched.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n";
        let run = format!("static void *run(void *p) {{ pthread_mutex_lock(&m); {of_thread}; return p; }}\n");
        let main = "pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, run, 0); sched_yield(); pthread_mutex_unlock(&m); pthread_join(t, 0)";
        format!("{headers}{run}int main(void) {{ {main}; return 0; }}\n")
    };
    // Not every order of threads is explored.
    assert_eq!(locks(&program("pthread_mutex_unlock(&m)")), "INCOMPLETE");
    assert_eq!(locks(&program("(void)0")), "VIOLATED");
}
