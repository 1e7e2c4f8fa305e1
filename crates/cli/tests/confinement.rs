//! Replays are confined: what they do stays inside, they keep to their limits, and they end when `wryneck` does.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

fn run(dir: &Path, source: &str, options: &[&str], words: &[&str]) -> Value {
    run_in(dir, source, options, words, None)
}

fn run_in(dir: &Path, source: &str, options: &[&str], words: &[&str], scratch: Option<&OsStr>) -> Value {
    fs::write(dir.join("p.c"), source).expect("there is room");
    let mut command = Command::new(WRYNECK);
    command.current_dir(dir).args(["run", "--json", "--output", "out"]).args(options).arg("p.c").args(words);
    command.envs(scratch.map(|scratch| ("TMPDIR", scratch)));
    let out = command.output().expect("the tool was built");
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn verdict(run: &Value) -> (&str, &str) {
    let native = &run["findings"][0]["native"];
    (native["verdict"].as_str().unwrap_or_default(), native["why"].as_str().unwrap_or_default())
}

#[test]
fn a_file_that_a_replay_removes_stays_unless_the_user_asks() {
    let scratch = tempfile::tempdir().expect("there is room");
    let (dir, data) = (scratch.path(), scratch.path().join("mydata"));
    fs::write(&data, "precious").expect("there is room");
    let source = "#include <stdlib.h>\n#include <unistd.h>\n\
        int main(int c, char **v) { if (c > 2 && v[2][0] == 'f') { unlink(v[1]); abort(); } return 0; }\n";
    let words = [data.to_str().expect("it is text"), "--sym-arg", "2"];
    let explored = run(dir, source, &[], &words);
    assert_eq!(verdict(&explored), ("reproduced", ""), "{explored}");
    assert!(data.exists());
    fs::remove_dir_all(dir.join("out")).expect("it is there");
    run(dir, source, &["--no-replay"], &words);
    let replay = |options: &[&str]| {
        Command::new(WRYNECK).current_dir(dir).arg("replay").args(options).arg("out").status().expect("the tool was built")
    };
    assert!(replay(&[]).success() && data.exists());
    assert!(replay(&["--unconfined"]).success() && !data.exists());
}

/// Faults that show under sanitizers, whose options are separated by some of these characters.
#[test]
fn a_scratch_folder_may_have_any_name() {
    let source = "#include <stdlib.h>\nint main(int c, char **v) { char *p = malloc(4); free(p); return v[1][0] == 'f' ? p[1] : 0; }\n";
    for name in ["a,b", "a:b", "a b", "a\\b", "a\nb", "a\"b", "a=b"] {
        let place = tempfile::tempdir().expect("there is room");
        let scratch = place.path().join(name);
        fs::create_dir(&scratch).expect("there is room");
        let explored = run_in(place.path(), source, &[], &["--sym-arg", "1"], Some(scratch.as_os_str()));
        assert_eq!(verdict(&explored), ("reproduced", ""), "{name:?}: {explored}");
    }
}

/// Memory that a program takes natively alone, until it is killed.
#[test]
fn a_limit_is_no_reproduction() {
    let scratch = tempfile::tempdir().expect("there is room");
    let source = "#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <wryneck.h>\n\
        int main(int c, char **v) {\n\
        \u{20} if (wryneck_is_replay()) for (;;) memset(malloc(1 << 24), 1, 1 << 24);\n\
        \u{20} if (v[1][0] == 'f') kill(getpid(), SIGKILL);\n  return 0;\n}\n";
    let explored = run(scratch.path(), source, &[], &["--sym-arg", "1"]);
    let (verdict, why) = verdict(&explored);
    // The engine runs the input concretely instead.
    assert_eq!(verdict, "inconclusive", "{explored}");
    // On a busy machine the time ends before there is no more memory.
    assert!(["the limit of memory", "the limit of wall time"].iter().any(|limit| why.contains(limit)), "{why}");
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(20));
    }
}

/// Natively the program forks and waits; its processes are known by a word of their arguments.
#[test]
fn the_native_program_ends_with_the_tool() {
    let source = "#include <stdlib.h>\n#include <unistd.h>\n#include <wryneck.h>\n\
        int main(int c, char **v) {\n\
        \u{20} if (wryneck_is_replay()) { fork(); for (;;) pause(); }\n\
        \u{20} if (v[2][0] == 'f') abort();\n  return 0;\n}\n";
    for signal in ["-KILL", "-INT", "-TERM"] {
        let scratch = tempfile::tempdir().expect("there is room");
        fs::write(scratch.path().join("p.c"), source).expect("there is room");
        let word = format!("ends-with-the-tool{}{signal}", std::process::id());
        for command in [&["run", "--output", "out", "p.c", &word, "--sym-arg", "1"][..], &["replay", "out"]] {
            let mut tool = Command::new(WRYNECK)
                .current_dir(scratch.path())
                .args(command)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the tool was built");
            let pid = tool.id().to_string();
            wait_until("no native program began", || count(&word) >= 2);
            assert!(Command::new("kill").args([signal, &pid]).status().expect("there is a `kill`").success());
            tool.wait().expect("it was started");
            wait_until("the native program goes on", || count(&word) == 0);
        }
    }
}

/// How many processes have the word and are no `wryneck`.
fn count(word: &str) -> usize {
    let lines = fs::read_dir("/proc").expect("it is there").flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let is_native = |line: &Vec<u8>| {
        let parts: Vec<&[u8]> = line.split(|&b| b == 0).collect();
        parts.first() != Some(&WRYNECK.as_bytes()) && parts.contains(&word.as_bytes())
    };
    lines.filter(is_native).count()
}
