//! `wryneck guard` on a small program: verified once, then run at once; its exit code and streams are its own; a fault is refused.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char line[16] = "";
  int a = 0, b = 0;
  for (int i = 1; i < argc; i++) { a |= !strcmp(argv[i], "-a"); b |= !strcmp(argv[i], "-b"); }
  if (a && b) *(volatile int *)0 = 1;
  const char *mode = getenv("MODE");
  if (mode && mode[0] == 'c') abort();
  if (argc > 3 && fgets(line, sizeof line, stdin)) fputs(line, stderr);
  printf("%s %d\n", argv[0], argc);
  return 40 + argc;
}
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().expect("there is room") };
        fs::write(place.path("p.c"), SOURCE).expect("there is room");
        let built = place.wryneck(&["cc", "-g", "-O1", "p.c", "-o", "p"]).output().expect("it starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The tool with stores of its own, and the cache of everybody for what was lowered.
    fn wryneck(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wryneck"));
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null()).env("WRYNECK_GUARD", self.path("stores"));
        command
    }

    fn guard(&self, words: &[&str]) -> Output {
        self.wryneck(&[&["guard", "--max-paths", "200", "--budget", "60s"], words].concat()).output().expect("it starts")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn answer(output: &Output) -> String {
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    format!("{}{}", line["answer"].as_str().unwrap_or_default(), if line["hit"] == true { ", hit" } else { "" })
}

#[test]
fn a_path_is_verified_once_and_runs_natively() {
    let place = Place::new();
    for front in ["--siblings=wait", "--machine-code"] {
        assert_eq!(answer(&place.guard(&[front, "--on-miss", "run", "--answer", "--", "./p", "x"])), "miss");
        let ran = place.guard(&[front, "--", "./p", "x"]);
        assert_eq!((ran.status.code(), text(&ran.stdout), text(&ran.stderr)), (Some(42), "./p 2\n".into(), String::new()));
        assert_eq!(answer(&place.guard(&[front, "--answer", "--", "./p", "y"])), "clean, hit");
        assert_eq!(answer(&place.guard(&[front, "--answer", "--", "./p", "-a", "-b"])), "faulty");
        let refused = place.guard(&[front, "--", "./p", "-a", "-b"]);
        assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(125), String::new()));
        assert!(text(&refused.stderr).contains("null-dereference"), "{}", text(&refused.stderr));
        let warned = place.guard(&[front, "--on-fault", "warn", "--", "./p", "-a", "-b"]);
        assert_eq!(warned.status.code(), None, "the program's own signal");
        // What else decides is a part of the condition.
        let mut crashes = place.wryneck(&["guard", front, "--max-paths", "200", "--budget", "60s", "--answer", "--", "./p", "y"]);
        assert_eq!(answer(&crashes.env("MODE", "c").output().expect("it starts")), "faulty");
        let only = place.guard(&[front, "--assume", "arguments-only", "--answer", "--", "./p", "y"]);
        assert!(text(&only.stdout).contains(r#""assume":"arguments-only""#), "{}", text(&only.stdout));
    }
}

#[test]
fn what_a_file_says_is_symbolic_up_to_a_size() {
    let source = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char line[16];
  FILE *f = fopen(argv[1], "r");
  if (!f || !fgets(line, sizeof line, f)) return 2;
  if (line[0] == 'x') *(volatile int *)0 = 1;
  return strncmp(line, "max=", 4) == 0;
}
"#;
    let place = Place::new();
    fs::write(place.path("q.c"), source).expect("there is room");
    let built = place.wryneck(&["cc", "-g", "-O1", "q.c", "-o", "q"]).output().expect("it starts");
    assert!(built.status.success(), "{}", text(&built.stderr));
    fs::write(place.path("policy"), "concrete_files = [\"/*\"]\n").expect("there is room");
    let asked = |content: &str, how: &[&str]| {
        fs::write(place.path("f"), content).expect("there is room");
        answer(&place.guard(&[&["--answer"], how, &["--", "./q", "f"]].concat()))
    };
    for front in ["--siblings=wait", "--machine-code"] {
        assert_eq!(asked("max=3\n", &[front, "--siblings", "wait"]), "clean");
        for (content, right) in [("max=4\n", "clean, hit"), ("abcde\n", "clean, hit"), ("xbcde\n", "faulty, hit"), ("max=10\n", "miss")] {
            assert_eq!(asked(content, &[front, "--on-miss", "run"]), right, "{front}: {content}");
        }
    }
    // Where all but arguments is taken to be as it was, a neighbour with other content is none.
    fs::write(place.path("f"), "max=3\n").expect("there is room");
    let alone = ["--answer", "--assume", "arguments-only", "--siblings", "wait", "--", "./q", "f"];
    assert_eq!(answer(&place.guard(&alone)), "clean");
    // A file of another name is another path, which is verified as well.
    fs::write(place.path("g"), "max=5\n").expect("there is room");
    assert_eq!(answer(&place.guard(&["--answer", "--siblings", "wait", "--", "./q", "g"])), "clean");
    assert_eq!(answer(&place.guard(&["--answer", "--", "./q", "g"])), "clean, hit");
    // A file that stays concrete is known by its content.
    let policy = ["--policy", "policy"];
    assert_eq!(asked("longer than that\n", &policy), "clean");
    assert_eq!(asked("longer than that\n", &policy), "clean, hit");
    assert_eq!(asked("other, as long..\n", &[&policy[..], &["--on-miss", "run"]].concat()), "miss");
}

#[test]
fn a_file_and_standard_input_may_have_any_length_up_to_one() {
    // Sums its standard input, or the file, into a place for eleven bytes.
    let source = r#"#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
  struct stat s;
  char all[32], sum[11] = {0};
  if (fd < 0 || fstat(fd, &s)) return 2;
  ssize_t n = read(fd, all, sizeof all);
  if (argc > 1 && s.st_size != n) return 3;
  for (ssize_t i = 0; i < n; i++) sum[i] = all[i] == 'y';
  return n > 2 && sum[2];
}
"#;
    let place = Place::new();
    fs::write(place.path("q.c"), source).expect("there is room");
    let built = place.wryneck(&["cc", "-g", "-O0", "q.c", "-o", "q"]).output().expect("it starts");
    assert!(built.status.success(), "{}", text(&built.stderr));
    fs::write(place.path("policy"), "file_up_to = 12\nstdin_up_to = 12\n").expect("there is room");
    let policy = ["--answer", "--policy", "policy", "--siblings", "wait"];
    for front in ["--verbose", "--machine-code"] {
        for of_file in [true, false] {
            let asked = |content: &str, how: &[&str]| {
                fs::write(place.path("f"), content).expect("there is room");
                let words = if of_file { &["--", "./q", "f"][..] } else { &["--", "./q"] };
                let stdin = fs::File::open(place.path("f")).expect("it was written");
                let options: Vec<&str> = policy.iter().chain(how).copied().collect();
                let mut command = place.wryneck(&[&["guard", "--budget", "60s", front], &options[..], words].concat());
                answer(&command.stdin(stdin).output().expect("it starts"))
            };
            assert_eq!(asked("four", &[]), "clean", "{front} {of_file}");
            for (content, right) in [
                ("four", "clean, hit"),
                ("fyyr", "clean, hit"),
                ("", "clean, hit"),
                ("eleven byte", "clean, hit"),
                ("twelve bytes", "faulty, hit"),
                ("thirteen byte", "miss"),
            ] {
                assert_eq!(asked(content, &["--on-miss", "run"]), right, "{front} {of_file}: {content}");
            }
        }
    }
}

#[test]
fn another_build_of_the_tool_starts_anew() {
    let place = Place::new();
    assert_eq!(answer(&place.guard(&["--siblings", "never", "--answer", "--", "./p", "x"])), "clean");
    // A byte after the executable's sections: it does the same, and is another one.
    let (own, other) = (PathBuf::from(env!("CARGO_BIN_EXE_wryneck")), place.path("wryneck"));
    fs::copy(&own, &other).expect("there is room");
    std::os::unix::fs::symlink(own.with_file_name("wryneck-lower"), place.path("wryneck-lower")).expect("there is room");
    let asked = |tool: &Path| {
        let mut command = Command::new(tool);
        command.args(["guard", "--on-miss", "run", "--answer", "--", "./p", "x"]);
        command.current_dir(place.dir.path()).stdin(Stdio::null()).env("WRYNECK_GUARD", place.path("stores"));
        answer(&command.output().expect("it starts"))
    };
    assert_eq!((asked(&own), asked(&other)), ("clean, hit".into(), "clean, hit".into()));
    fs::OpenOptions::new().append(true).open(&other).and_then(|mut file| file.write_all(b"x")).expect("there is room");
    assert_eq!((asked(&own), asked(&other)), ("clean, hit".into(), "miss".into()));
}

#[test]
fn what_cannot_be_checked_is_said_and_runs_all_the_same() {
    let place = Place::new();
    let mut command = place.wryneck(&["guard", "--max-paths", "50", "--", "./p", "1", "2", "3"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("it is a pipe").write_all(b"line\n").expect("it reads");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(44), "./p 4\n".into()));
    assert!(text(&ended.stderr).contains("not verified: ") && text(&ended.stderr).ends_with("line\n"), "{}", text(&ended.stderr));
    let refused = place.guard(&["--on-miss", "refuse", "--", "./p", "never", "seen"]);
    assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(125), String::new()));
    let budget = place.wryneck(&["guard", "--budget", "1ms", "--answer", "--", "./p", "again"]).output().expect("it starts");
    assert_eq!(answer(&budget), "unverified", "a budget that ends first leaves nothing clean");
    // What is not modelled is named.
    fs::write(place.path("n.c"), "#include <sys/shm.h>\nint main(void) { return shmget(IPC_PRIVATE, 4096, 0600) < -1; }\n")
        .expect("there is room");
    let built = place.wryneck(&["cc", "-O0", "n.c", "-o", "n"]).output().expect("it starts");
    assert!(built.status.success(), "{}", text(&built.stderr));
    let said = text(&place.guard(&["--answer", "--", "./n"]).stdout);
    assert!(said.contains("unverified") && said.contains("not modelled exactly: the system call shmget (29)"), "{said}");
}

#[test]
fn shims_status_and_forgetting() {
    let place = Place::new();
    let installed = place.wryneck(&["guard", "install", "--to", "bin", "./p"]).output().expect("it starts");
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    let mut shim = Command::new(place.path("bin/p"));
    shim.arg("x").env("WRYNECK_GUARD", place.path("stores")).stdin(Stdio::null());
    let ran = shim.output().expect("it starts");
    assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(42), "p 2\n".into()), "{}", text(&ran.stderr));
    let status = || text(&place.wryneck(&["guard", "status"]).output().expect("it starts").stdout);
    assert!(status().contains("clean, ") && status().contains("/p ("), "{}", status());
    fs::write(place.path("history"), "ls\np x y\np x y\np 'quoted'\n").expect("there is room");
    let warmed = place.wryneck(&["guard", "warm", "--max-paths", "50", "./p", "--history", "history"]).output().expect("it starts");
    assert!(text(&warmed.stdout).starts_with("1 inputs: "), "{}{}", text(&warmed.stdout), text(&warmed.stderr));
    assert!(place.wryneck(&["guard", "forget", "./p"]).status().is_ok_and(|status| status.success()));
    assert!(!status().contains("/p ("), "{}", status());
    let nothing = place.wryneck(&["guard", "--", "./nothing"]).output().expect("it starts");
    assert!(nothing.status.code() == Some(2) && text(&nothing.stderr).contains("nothing"), "{}", text(&nothing.stderr));
    assert!(
        Path::new("/bin/sh").exists() && place.guard(&["--", "/bin/sh", "-c", "true"]).status.code() == Some(2),
        "a dynamic program is refused"
    );
}
