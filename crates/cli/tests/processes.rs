//! Programs with children as a user meets them: what waits for ever, what fails in a child, and what a child executes.

use std::fs;
use std::process::Command;

use serde_json::Value;

/// The parent keeps the end of the pipe open for which the child waits.
const KEPT_OPEN: &str = r#"#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int p[2];
    char c;
    if (argc < 2 || pipe(p)) return 1;
    if (fork() == 0) {
        close(p[1]);
        while (read(p[0], &c, 1) == 1);
        _exit(0);
    }
    if (argv[1][0] != 'k') close(p[1]);
    wait(NULL);
    return 0;
}
"#;

/// A child that writes out of bounds, and one that aborts.
const FAULTS: &str = r#"#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char text[4];
    if (argc < 2) return 1;
    if (fork() == 0) {
        if (argv[1][0] == 'x') strcpy(text, "too long for it");
        if (argv[1][0] == 'a') abort();
        _exit(0);
    }
    wait(NULL);
    return 0;
}
"#;

/// Builds targets by a program, and stops at the first that fails.
const MAKE: &str = r#"#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int build(char target) {
    char name[] = {target, '.', 'o', 0};
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", name, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++)
        if (build('a' + i)) return 10 + i;
    return 0;
}
"#;

/// Runs the tool on a program, with `--json`: what it said, and its exit code.
fn run(name: &str, program: &str, words: &[&str]) -> (Value, i32) {
    let place = tempfile::tempdir().expect("there is room");
    fs::write(place.path().join(name), program).expect("there is room");
    let done = Command::new(env!("CARGO_BIN_EXE_wryneck")).current_dir(place.path()).args(words).output().expect("it starts");
    let said = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    (said, done.status.code().expect("it ends by itself"))
}

fn ends(run: &Value) -> Vec<(String, u64)> {
    let end = |end: &Value| (format!("{} {}", text(&end["class"]), text(&end["what"])), end["count"].as_u64().unwrap_or(0));
    let mut all: Vec<(String, u64)> = run["ends"].as_array().into_iter().flatten().map(end).collect();
    all.sort();
    all
}

/// Explores a program: its paths end with these statuses, each once.
fn ends_with(name: &str, program: &str, statuses: &[u32]) -> Value {
    let (run, code) = run(name, program, &["run", "--json", "--max-time", "20s", "--no-replay", name]);
    let expected: Vec<(String, u64)> = statuses.iter().map(|status| (format!("exit {status}"), 1)).collect();
    assert_eq!((code, ends(&run)), (3, expected), "{run}");
    run
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn notes(run: &Value) -> String {
    run["ledger"].as_array().into_iter().flatten().map(|row| format!("{}\n", text(&row["what"]))).collect()
}

#[test]
fn a_pipe_that_is_kept_open_is_a_deadlock() {
    let (run, code) = run("kept.c", KEPT_OPEN, &["run", "--json", "--max-time", "20s", "kept.c", "--sym-arg", "1"]);
    let finding = &run["findings"][0];
    assert_eq!((code, text(&finding["kind"]["id"])), (1, "deadlock"), "{run}");
    let message = text(&finding["message"]);
    assert!(message.contains("the first process is at a wait for a child (kept.c:13)"), "{message}");
    assert!(message.contains("child 1 is at a read of an empty pipe or socket that nobody else can fill (kept.c:9)"), "{message}");
    assert!(notes(&run).contains("orders in which processes run"), "{}", notes(&run));
}

#[test]
fn faults_of_a_child_are_findings() {
    let (run, code) = run("faults.c", FAULTS, &["run", "--json", "--max-time", "20s", "faults.c", "--sym-arg", "1"]);
    let findings = run["findings"].as_array().expect("there are findings");
    let mut kinds: Vec<(&str, &str)> = findings.iter().map(|f| (text(&f["kind"]["id"]), text(&f["native"]["verdict"]))).collect();
    kinds.sort_unstable();
    assert_eq!((code, kinds), (1, vec![("abort", "inconclusive"), ("out-of-bounds-write", "reproduced")]), "{run}");
}

#[test]
fn what_a_child_executes_succeeds_or_fails() {
    let run = ends_with("make.c", MAKE, &[0, 10, 11, 12]);
    assert!(notes(&run).contains("a program that a child executes is not run"), "{}", notes(&run));
}

#[test]
fn no_rule_is_verified_of_a_program_that_forks() {
    let (run, code) =
        run("faults.c", FAULTS, &["verify", "--json", "--audit", "off", "--rule", "open-close", "faults.c", "--sym-arg", "1"]);
    assert_eq!((code, text(&run["rules"][0]["verdict"])), (3, "INCOMPLETE"), "{run}");
    assert!(notes(&run).contains("`fork` fails"), "{}", notes(&run));
}

/// A command of the shell, a program whose output is read, and one that is spawned.
const COMMANDS: &str = r#"#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(void) {
    if (system("make all") == 0) return 0;
    FILE *f = popen("ls", "r");
    int c = fgetc(f), status = pclose(f);
    if (c != EOF || status == 0) return 1;
    char *words[] = {"true", NULL};
    pid_t child;
    if (posix_spawnp(&child, "true", NULL, NULL, words, environ)) return 2;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) ? 3 : 4;
}
"#;

#[test]
fn commands_succeed_or_fail_and_say_nothing() {
    ends_with("commands.c", COMMANDS, &[0, 1, 3, 4]);
}
