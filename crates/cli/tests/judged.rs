//! Findings that no native run can judge are run concretely in the engine, and what constants answer is listed with the verdict.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// An index far behind its array: it hits another one, past all that a sanitizer watches.
const FAR: &str = "#include <string.h>\n\
    __attribute__((noinline)) static int use(char *p) { return p[0]; }\n\
    int main(int count, char **words) {\n\
      char before[4096], a[16], behind[4096], *volatile p = a;\n\
      memset(before, 1, sizeof before);\n\
      memset(behind, 1, sizeof behind);\n\
      a[0] = 0;\n\
      int i = (unsigned char)words[1][0];\n\
      if (i > 250) p[i * 8] = 1;\n\
      return use(before) + use(a) + use(behind) > 2;\n\
    }\n";

/// Ends by itself where it dereferences a null pointer.
const HANDLES: &str = "#include <signal.h>\n#include <unistd.h>\n\
    static void end(int signal) { _exit(9); }\n\
    int main(int count, char **words) {\n\
      int *volatile p = words[1][0] == 'x' ? 0 : &count;\n\
      signal(SIGSEGV, end);\n\
      return *p;\n\
    }\n";

/// Asks for the time and the processor.
const ASKS: &str = "int main(int count, char **words) {\n\
      unsigned a = 0, b, c, d;\n\
      if (words[1][0] == 'c') __asm__ volatile(\"cpuid\" : \"+a\"(a), \"=b\"(b), \"=c\"(c), \"=d\"(d));\n\
      if (words[1][0] == 't') __asm__ volatile(\"rdtsc\" : \"=a\"(a), \"=d\"(d));\n\
      return 0;\n\
    }\n";

/// Calls what the variables of a section hold, by the array that the linker makes of them.
const SECTION: &str = "void good(void) {}\n\
    void bad(void) {}\n\
    typedef void (*function)(void);\n\
    static function one __attribute__((section(\"table\"), used)) = good;\n\
    static function two __attribute__((section(\"table\"), used)) = OTHER;\n\
    extern function __start_table[], __stop_table[];\n\
    int main(int count, char **words) {\n\
      good();\n\
      if (words[1][0] == 'x') for (function *each = __start_table; each < __stop_table; each++) (*each)();\n\
      return 0;\n\
    }\n";

/// Reads another variable by an address that is computed from its neighbour.
const NEIGHBOUR: &str = "void good(void) {}\n\
    void bad(void) {}\n\
    static int one[8] = {1}, two[8] = {1};\n\
    int main(int count, char **words) {\n\
      long distance = (char *)two - (char *)one;\n\
      good();\n\
      if (words[1][0] == 'x' && *(int *)((char *)one + distance)) bad();\n\
      return 0;\n\
    }\n";

fn program(folder: &Path, text: &str) {
    fs::write(folder.join("program.c"), text).expect("there is room");
    let flags = ["-static", "-g", "-w", "-fno-stack-protector", "program.c", "-o", "program"];
    let built = Command::new("musl-gcc").current_dir(folder).args(flags).status();
    assert!(built.expect("musl-tools is installed").success());
}

#[track_caller]
fn wryneck(folder: &Path, words: &[&str]) -> Value {
    let _ = fs::remove_dir_all(folder.join("out"));
    let done = Command::new(WRYNECK).current_dir(folder).args(words).args(["--sym-arg", "1"]).output().expect("the tool was built");
    serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", String::from_utf8_lossy(&done.stderr)))
}

#[test]
fn a_far_access_is_inconclusive_and_not_denied() {
    let folder = tempfile::tempdir().expect("there is room");
    program(folder.path(), FAR);
    for (target, showed) in [("program", "same fault"), ("program.c", "beyond what they watch")] {
        let run = wryneck(folder.path(), &["run", "--json", "--output", "out", target]);
        let found = &run["findings"][0];
        assert_eq!((&found["kind"]["id"], &found["native"]["verdict"]), (&"out-of-bounds-write".into(), &"inconclusive".into()), "{run}");
        let why = found["native"]["why"].as_str().unwrap_or_default();
        assert!(why.contains(showed) && why.contains("run concretely in the engine"), "{target}: {why}");
        // A later replay does not deny it either.
        let again =
            Command::new(WRYNECK).current_dir(folder.path()).args(["replay", "--json", "out"]).output().expect("the tool was built");
        let again: Value = serde_json::from_slice(&again.stdout).expect("it is JSON");
        assert_eq!(again["different"], 0, "{target}: {again}");
    }
}

#[test]
fn a_fault_whose_signal_the_program_handles_is_not_denied() {
    let folder = tempfile::tempdir().expect("there is room");
    program(folder.path(), HANDLES);
    for target in ["program", "program.c"] {
        let run = wryneck(folder.path(), &["run", "--json", "--output", "out", target]);
        let found = run["findings"].as_array().expect("it is a list");
        let (kind, native) = (&found[0]["kind"]["id"], &found[0]["native"]);
        assert_eq!((found.len(), kind), (1, &"null-dereference".into()), "{run}");
        // A sanitizer's own report is not the program's end.
        assert!(native["verdict"] == "inconclusive" || native["verdict"] == "reproduced" && target == "program.c", "{target}: {run}");
    }
}

#[test]
fn what_constants_answer_is_an_assumption_of_the_verdict() {
    let folder = tempfile::tempdir().expect("there is room");
    program(folder.path(), ASKS);
    // Sides without an event need not be explored: without pruning both are.
    let run =
        wryneck(folder.path(), &["verify", "--json", "--no-replay", "--no-prune", "--output", "out", "--rule", "open-close", "program"]);
    for what in ["`rdtsc`", "`cpuid`"] {
        let rows = run["ledger"].as_array().into_iter().flatten();
        let assumptions: Vec<&Value> = rows.filter(|row| row["kind"] == "assumption").map(|row| &row["what"]).collect();
        assert!(assumptions.iter().any(|row| row.to_string().contains(what)), "{what}: {assumptions:?}");
    }
}

/// The verdict of the traps' rule on a program, by a run with these words.
fn verdict(folder: &Path, words: &[&str], target: &str) -> (String, Value) {
    let rule = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traps/never.toml");
    let rule = rule.to_str().expect("the path of the sources is text");
    let run = wryneck(folder, &[&["verify", "--json", "--audit", "off", "--output", "out", "--rule", rule], words, &[target]].concat());
    (run["rules"][0]["verdict"].as_str().unwrap_or_default().to_owned(), run)
}

#[test]
fn the_variables_of_a_section_are_an_array_in_executables() {
    let folder = tempfile::tempdir().expect("there is room");
    for (other, expected) in [("bad", "VIOLATED"), ("good", "VERIFIED")] {
        program(folder.path(), &SECTION.replace("OTHER", other));
        let (found, run) = verdict(folder.path(), &["--no-replay"], "program");
        assert_eq!(found, expected, "{run}");
        // Not so as bitcode.
        let (found, run) = verdict(folder.path(), &["--no-replay", "--cc-flag", "-O0"], "program.c");
        assert_eq!(found, "INCOMPLETE", "{run}");
    }
}

#[test]
fn a_path_that_may_go_on_after_its_fault_keeps_a_rule_unverified() {
    let folder = tempfile::tempdir().expect("there is room");
    program(folder.path(), NEIGHBOUR);
    for words in [&["--no-replay"][..], &[]] {
        let (found, run) = verdict(folder.path(), words, "program");
        assert_eq!(run["findings"][0]["kind"]["id"], "out-of-bounds-read", "{run}");
        assert_eq!(found, "INCOMPLETE", "{run}");
    }
}
