//! Words that a replaced function would have left on the stack or in registers: where they decide, no path of machine code is *clean*.
//!
//! Without a replaced function between, what the program itself left there is known exactly, and the answer is the native run's.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = r#"
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, optnone))
static char text[] = "some text", *heap;
static void crash_if(int it) { if (it) *(volatile int *)0 = 1; }
APART void fill(long with) { volatile long all[40]; for (int i = 0; i < 40; i++) all[i] = with; }
APART long leftover(int at) { volatile long all[40]; return all[at]; }
APART int any_leftover(long is) { volatile long all[40]; for (int i = 0; i < 40; i++) if (all[i] == is) return 1; return 0; }
APART int result(char *p) { free(p); }
APART unsigned long scratch(char *p) { unsigned long word; free(p); __asm__ volatile("mov %%r8, %0" : "=r"(word)); return word; }
APART unsigned long vector(char *p) { unsigned long word; free(p); __asm__ volatile("movq %%xmm7, %0" : "=r"(word)); return word; }
APART char *gone(void) { char mine[64]; memset(mine, 'x', sizeof mine); char *volatile p = mine; return p; }
int main(int argc, char **argv) {
  heap = malloc(100);
  strcpy(heap, text);
  switch (argc > 1 ? argv[1][0] : 0) {
    // What the program itself left.
    case 'a': fill(77); crash_if(leftover(20) != 77); break;
    case 'b': fill(77); crash_if(leftover(20) == 77); break;
    // A replaced function has run since.
    case 'c': fill(77); free(heap); crash_if(leftover(38) == 77); break;
    case 'd': fill(77); free(heap); crash_if(!any_leftover(78) && leftover(39) != 77); break;
    case 'e': fill(77); heap = realloc(heap, 5000); crash_if(leftover(39) == 77); break;
    // Two calls leave different words.
    case 'f': { fill(1); free(heap); long a = leftover(39); heap = realloc(malloc(argc), 99); crash_if(a != leftover(39)); break; }
    // Registers.
    case 'g': crash_if(result(heap) == 0); break;
    case 'h': crash_if(scratch(heap) == 0); break;
    case 'i': crash_if(vector(heap) == 0); break;
    // A function that is given memory of an ended call.
    case 'j': { char *p = gone(); crash_if(strncmp(p, "xxxx", 4) == 0); break; }
    // Words that nobody looks at decide nothing.
    case 'k': fill(77); free(heap); leftover(38); result(malloc(3)); break;
  }
  return 0;
}
"#;

fn shell(dir: &Path, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(dir).stdin(std::process::Stdio::null());
    command.env("WRYNECK", env!("CARGO_BIN_EXE_wryneck")).env("WRYNECK_GUARD", dir.join("stores"));
    command.output().expect("it starts")
}

/// The question, and whether its path can be clean.
const ROWS: [(&str, &str); 11] = [
    ("a", "clean"),
    ("b", "faulty"),
    ("c", "not clean"),
    ("d", "not clean"),
    ("e", "not clean"),
    ("f", "not clean"),
    ("g", "not clean"),
    ("h", "not clean"),
    ("i", "not clean"),
    ("j", "not clean"),
    ("k", "clean"),
];

#[test]
fn what_a_replaced_function_leaves_behind_decides_no_clean_path() {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("p.c"), SOURCE).expect("there is room");
    for level in ["-O0", "-O1"] {
        let built = shell(dir.path(), &format!("\"$WRYNECK\" cc -w -g {level} p.c -o p"));
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        for (word, right) in ROWS {
            let asked =
                shell(dir.path(), &format!("\"$WRYNECK\" guard --siblings never --machine-code --budget 60s --answer -- ./p {word}"));
            let line: serde_json::Value = serde_json::from_slice(&asked.stdout)
                .unwrap_or_else(|_| panic!("{word}: no answer: {}", String::from_utf8_lossy(&asked.stderr)));
            let answer = line["answer"].as_str().unwrap_or_default();
            match right {
                "not clean" => assert_ne!(answer, "clean", "`{word}` {level}: {line}"),
                _ => {
                    assert_eq!(answer, right, "`{word}` {level}: {line}");
                    let crashed = shell(dir.path(), &format!("exec ./p {word}")).status.code().is_none();
                    assert_eq!(answer == "faulty", crashed, "`{word}` {level}: the native run differs");
                }
            }
        }
    }
}
