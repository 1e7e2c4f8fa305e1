//! What a program can ask of its world, and guard: where the world changed, or the model's answer is not the kernel's, no path is *clean*.
//!
//! One program with a question for each letter crashes by the answer. Each row is a world that a shell makes, a question, and what guard has to say. Every
//! answer is compared with the native run: a clean one does not crash, a faulty one does.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static void crash_if(int it) { if (it) *(volatile int *)0 = 1; }
static void *nothing(void *p) { return p; }
int main(int argc, char **argv) {
  pthread_t thread;
  const char *variable = getenv("VARIABLE");
  struct itimerval timer;
  struct rlimit limit;
  struct stat about;
  char text[128];
  switch (argc > 1 ? argv[1][0] : 0) {
    case 'e': crash_if(variable && variable[0]); break;
    case 'E': crash_if(variable && variable[1] == 'x'); break;
    case 'c': crash_if(fcntl(0, F_GETFD) < 0); break;
    case 'z': crash_if(lseek(0, 5, SEEK_SET) == 0); break;
    case 'h': crash_if(lseek(0, 0, SEEK_HOLE) == 0); break;
    case 'o': crash_if(fcntl(0, F_GETOWN) == 0); break;
    case 'a': crash_if(getauxval(AT_CLKTCK) != 100); crash_if(getauxval(AT_HWCAP) == 0); break;
    case 'n': crash_if(getauxval(AT_EXECFN) && strlen((char *)getauxval(AT_EXECFN)) > 2); break;
    case 't': crash_if(getitimer(ITIMER_REAL, &timer) < 0); break;
    case 'l': crash_if(getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == 512); break;
    case 's': crash_if(fsync(0) < 0); break;
    case 'f': crash_if(openat(0, "f", O_RDONLY) >= 0); break;
    case 'm': {
      int fd = open("f", O_RDONLY);
      char *start = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
      crash_if(start == MAP_FAILED || start[0] == 'X');
      break;
    }
    case 'A': if (!pthread_create(&thread, 0, nothing, 0)) pthread_join(thread, 0); break;
    case 'd': {
      // The entries of a directory are the other arguments, in their order.
      DIR *dir = opendir("d");
      struct dirent *entry;
      int at = 2;
      while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.') crash_if(at >= argc || strcmp(entry->d_name, argv[at++]));
      break;
    }
    case 'p': {
      DIR *dir = opendir("d");
      while (readdir(dir)) crash_if(telldir(dir) > 1000);
      break;
    }
    case 'v': while (variable && *variable) variable++; break;
    case (char)0xff: break;
    // What has another value at each run: printed, it is no part of the path.
    // `SIGHUP` is ignored under `nohup`, and its handling is the program's to find.
    case 'S': { struct sigaction old; sigaction(SIGHUP, 0, &old); crash_if(old.sa_handler == SIG_IGN); break; }
    case 'R': raise(SIGHUP); break;
    case 'T': { long now = time(0); write(1, &now, sizeof now); break; }
    case 'k': crash_if(time(0) < 1700000000); break;
    case 'K': crash_if(time(0) % 7 != 3 && time(0) % 7 == 3); break;
    case 'q': crash_if(time(0) % 2 == argv[1][1] - '0'); break;
    case 'Q': if (time(0) % 2) putchar('o'); else putchar('e'); break;
    case 'i': { int id = getpid(); write(1, &id, sizeof id); break; }
    case 'I': crash_if(getpid() == gettid() + 1 || getpid() < 1); break;
    case 'j': crash_if(gettid() % 2); break;
    case 'J': crash_if(getppid() == getpid()); break;
    case 'b': { unsigned char c; if (getrandom(&c, 1, 0) == 1) write(1, &c, 1); break; }
    case 'B': { unsigned char c; crash_if(getrandom(&c, 1, 0) == 1 && c < 128); break; }
    case 'C': { struct timespec t; crash_if(clock_getres(CLOCK_REALTIME_COARSE, &t) == 0 && t.tv_nsec == 1); break; }
    case 'x': { struct timespec t; crash_if(clock_gettime(10, &t) == 0); break; }
    case 'g': { struct timespec s, t; clock_gettime(CLOCK_MONOTONIC, &s); clock_gettime(CLOCK_MONOTONIC, &t); crash_if(t.tv_nsec > 999999999 || t.tv_sec < 0); break; }
    case 'G': { struct statfs s; crash_if(statfs(".", &s) || s.f_type == 0xef53f || s.f_bsize == 1); break; }
    case 'F': { struct statfs s; crash_if(statfs(".", &s) || s.f_bfree % 2); break; }
    case 'y': { struct sysinfo s; crash_if(sysinfo(&s) || s.totalram == 8ul << 30); break; }
    case 'Y': { struct sysinfo s; crash_if(sysinfo(&s) || s.uptime % 2); break; }
    case 'X': {
      // `statx`, which musl does not declare: the size is at 40, the owner at 20.
      unsigned char s[256];
      crash_if(syscall(SYS_statx, AT_FDCWD, "f", 0, 0xfff, s) || *(long *)(s + 40) == 3 || *(unsigned *)(s + 20) != getuid());
      break;
    }
    case 'L': {
      // A file of which the program says whether it is older than half a year, as `ls -l` does.
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      crash_if(stat("f", &about) || about.st_mtime < now.tv_sec - 15778476);
      break;
    }
    case 'D': {
      time_t now = time(0);
      struct tm *tm = gmtime(&now);
      strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", tm);
      puts(text);
      break;
    }
    // Strings that the program writes to: what follows a shorter one is another string.
    case 'w': if (argc == 4) { argv[2][2] = 0; crash_if(argv[3][0] == 0); } break;
    case 'W': if (variable && getenv("WARIABLE")) { ((char *)variable)[2] = 'x'; crash_if(getenv("WARIABLE") == 0); } break;
    case 'r': if (argc == 3) crash_if(argv[2][1] == 'x'); break;
    // What the program writes to a stream, and the file that the stream is.
    case '1': write(2, "X", 1); crash_if(read(open("f", O_RDONLY), text, 99) > 7); break;
    case '2': write(2, "X", 1); crash_if(stat("f", &about) || about.st_size > 7); break;
    case '3': write(2, "X", 1); crash_if(fstat(2, &about) || about.st_size > 7); break;
    case '4': write(2, "X", 1); crash_if(read(0, text, 99) > 7); break;
    // A stream that takes nothing.
    case 'O': crash_if(write(2, "X", 1) != 1); break;
    // When a file was read last: by the program itself, or by guard as it looked.
    case '5': {
      struct stat then;
      stat("f", &about);
      read(open("f", O_RDONLY), text, 9);
      stat("f", &then);
      crash_if(about.st_atim.tv_nsec != then.st_atim.tv_nsec);
      break;
    }
    case '6':
      stat("f", &about);
      read(open("f", O_RDONLY), text, 9);
      crash_if(about.st_atime > about.st_mtime || about.st_atim.tv_nsec > about.st_mtim.tv_nsec);
      break;
    case '7': crash_if(*(unsigned char *)getauxval(AT_RANDOM) < 128); break;
    case '8': crash_if(mmap((void *)0x10000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == (void *)0x10000); break;
    case '9': crash_if(stat("/proc", &about) || about.st_nlink % 2); break;
    case 'N': { int kind; socklen_t size = sizeof kind; crash_if(getsockopt(0, SOL_SOCKET, SO_TYPE, &kind, &size) == 0); break; }
    // No machine has it, or every one: nobody knows before the run.
    case 'U': { void *volatile much = malloc(1ul << 40); crash_if(!much); break; }
    case 'u': crash_if(read(open("link/f", O_RDONLY), text, 1) == 1 && text[0] == 'X'); break;
    case 'V': { int count = 0; for (char **at = environ; *at; at++) count += !strncmp(*at, "V=", 2) || !strcmp(*at, "odd"); crash_if(count); break; }
  }
  return 0;
}
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().expect("there is room") };
        fs::create_dir(place.path("d")).expect("there is room");
        for name in ["f", "d/alpha", "d/beta", "d/gamma", "d/delta", "d/epsilon"] {
            fs::write(place.path(name), "content").expect("there is room");
        }
        fs::write(place.path("p.c"), SOURCE).expect("there is room");
        let built = place.shell("\"$WRYNECK\" cc -w -g -O1 p.c -o p");
        assert!(built.status.success(), "{}", text(&built.stderr));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.dir.path()).stdin(std::process::Stdio::null());
        command.env("WRYNECK", env!("CARGO_BIN_EXE_wryneck")).env("WRYNECK_GUARD", self.path("stores"));
        command.output().expect("it starts")
    }

    /// Guard answers in a world as it should; the answer is compared with the native run there, too.
    #[track_caller]
    fn answers(&self, front: &str, world: &str, words: &str, right: &str) {
        let asked = self.shell(&format!("{world}\n\"$WRYNECK\" guard --siblings never {front} --budget 60s --answer -- ./p {words}"));
        let line: serde_json::Value =
            serde_json::from_slice(&asked.stdout).unwrap_or_else(|_| panic!("{words}: no answer: {}", text(&asked.stderr)));
        let answer = line["answer"].as_str().unwrap_or_default().to_owned();
        let native = self.shell(&format!("{world}\nexec ./p {words}"));
        let crashed = native.status.code().is_none();
        assert!(answer != "clean" || !crashed, "`{words}` in `{world}`, {front}: clean, and it crashes: {line}");
        assert!(answer != "faulty" || crashed, "`{words}` in `{world}`, {front}: faulty, and it does not crash: {line}");
        assert_eq!(answer, right, "`{words}` in `{world}`, {front}: {line}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The world, the program's words, and the answers that are right.
const ROWS: [(&str, &str, &str); 72] = [
    // The end of a variable's value is a part of the condition.
    ("export VARIABLE=", "e", "clean"),
    ("export VARIABLE=x", "e", "faulty"),
    ("export VARIABLE=a", "E", "clean"),
    ("export VARIABLE=ax", "E", "faulty"),
    ("unset VARIABLE", "E", "clean"),
    // Streams that are closed stay closed.
    ("", "c", "clean"),
    ("exec <&-", "c", "unverified"),
    // The device that says nothing is no empty file.
    ("", "z", "unverified"),
    ("exec <f", "z", "clean"),
    ("exec <f", "h", "unverified"),
    ("", "o", "unverified"),
    ("", "s", "unverified"),
    ("exec <d", "f", "unverified"),
    // What the kernel tells every program.
    ("", "a", "clean"),
    ("", "n", "unverified"),
    ("export VARIABLE=abcd WARIABLE=b", "W", "clean"),
    // What has no model is not known.
    ("", "t", "unverified"),
    ("", "l", "clean"),
    ("ulimit -Sn 512", "l", "faulty"),
    ("printf content >f", "m", "clean"),
    (": >f", "m", "unverified"),
    ("", "p", "unverified"),
    ("", "S", "clean"),
    ("trap '' HUP", "S", "faulty"),
    ("", "R", "faulty"),
    ("trap '' HUP", "R", "clean"),
    // What has another value at each run.
    ("", "T", "clean"),
    ("", "k", "clean"),
    ("", "K", "unverified"),
    ("", "q0", "unverified"),
    ("", "q1", "unverified"),
    ("", "Q", "unverified"),
    ("", "i", "clean"),
    ("", "I", "clean"),
    ("", "j", "unverified"),
    ("", "J", "unverified"),
    ("", "b", "clean"),
    ("", "B", "unverified"),
    ("", "C", "clean"),
    ("", "x", "unverified"),
    ("", "G", "clean"),
    ("", "F", "unverified"),
    ("", "y", "clean"),
    ("", "Y", "unverified"),
    ("", "X", "clean"),
    ("printf abc >f", "X", "faulty"),
    ("", "L", "clean"),
    // A stream that is written may be a file that is read.
    ("printf content >f; exec 2>/dev/null", "1", "clean"),
    ("printf content >f; exec 2>>f", "1", "unverified"),
    ("printf content >f; exec 2>/dev/null", "1", "clean"),
    ("printf content >f; exec 2>/dev/null", "2", "clean"),
    ("printf content >f; exec 2>>f", "2", "unverified"),
    ("printf content >f; exec 2>>f", "3", "unverified"),
    ("printf content >f; exec <f 2>/dev/null", "4", "clean"),
    ("printf content >f; exec <f 2>>f", "4", "unverified"),
    ("exec 2>/dev/null", "O", "clean"),
    ("exec 2>f", "O", "clean"),
    ("exec 2>/dev/full", "O", "unverified"),
    ("printf content >f", "5", "unverified"),
    ("touch f", "6", "clean"),
    ("touch f", "6", "clean"),
    ("", "7", "unverified"),
    ("", "8", "unverified"),
    ("", "9", "unverified"),
    ("", "U", "unverified"),
    ("", "N", "unverified"),
    ("", "V", "clean"),
    ("ulimit -t 77", "V", "unverified"),
    ("ln -sfn d link; printf a >d/f", "u", "clean"),
    ("mkdir -p e; printf X >e/f; ln -sfn e link", "u", "faulty"),
    // Threads may run in another order than the one that was verified.
    ("", "A", "unverified"),
    // Arguments are bytes.
    ("", "\"$(printf '\\377')\"", "clean"),
];

#[test]
fn a_world_that_changes_is_no_hit() {
    let place = Place::new();
    for front in ["", "--machine-code"] {
        for (world, words, right) in ROWS {
            let world = if world.is_empty() { ":" } else { world };
            place.answers(front, world, words, right);
        }
        let order = text(&place.shell("ls -U d | tr '\\n' ' '").stdout);
        let mut names: Vec<&str> = order.split_whitespace().collect();
        place.answers(front, ":", &format!("d {}", names.join(" ")), "clean");
        // The length of a variable that is written is a part of the condition: a shorter one is another path, on which the next string is written.
        let shorter = place.shell(&format!("export VARIABLE=a WARIABLE=b; \"$WRYNECK\" guard --on-miss run {front} --answer -- ./p W"));
        assert!(text(&shorter.stdout).contains("\"answer\":\"miss\""), "{front}: {}", text(&shorter.stdout));
        // No neighbour goes past the end of a variable's value.
        let whole = format!("{front} --siblings wait --max-paths 40 --assume arguments-only");
        place.answers(&whole, "export VARIABLE=abc", "v", "clean");
        // Both sides of a decision on the time are verified, so neither the side nor the time matters.
        let both = format!("{front} --siblings wait --max-paths 200");
        // What a limit left open beside the path of another input is verified when it is asked for.
        if front.is_empty() {
            assert!(place.shell("\"$WRYNECK\" guard forget ./p").status.success());
            place.answers("--siblings wait --max-paths 30", ":", "Q", "clean");
            place.answers(&both, ":", "D", "clean");
        }
        // In machine code divisions of the time take the solver too long, and a comparison's flags are not seen to be decided.
        let more: &[&str] = if front.is_empty() { &["Q", "L", "D", "g", "q7"] } else { &["Q", "L"] };
        for words in more {
            place.answers(&both, ":", words, "clean");
            place.answers(&format!("{front} --on-miss run"), ":", words, "clean");
        }
        // One of the sides crashes.
        place.answers(&both, ":", "q0", "unverified");
        place.answers(front, "touch -d '2 years ago' f", "L", "faulty");
        place.answers(front, "printf content >f; touch f", "L", "clean");
        names.swap(0, 4);
        place.answers(front, ":", &format!("d {}", names.join(" ")), "faulty");
    }
}

/// What a program starts with that no shell gives it: entries that are no variables, two of one name, a timer that runs.
const LAUNCHER: &str = r#"
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
  struct itimerval timer = {{0, 0}, {100, 0}};
  char *all[4096] = {0};
  int n = 0;
  for (char **at = environ; *at && n < 4000; at++) all[n++] = *at;
  switch (getenv("KIND")[0]) {
    case '2': all[n++] = "V=1"; all[n++] = "V=2"; break;
    case 'o': all[n++] = "odd"; break;
    case 't': setitimer(ITIMER_REAL, &timer, 0); break;
  }
  argv[0] = getenv("TOOL");
  return execve(argv[0], argv, all);
}
"#;

#[test]
fn what_no_shell_gives_a_program() {
    let place = Place::new();
    fs::write(place.path("launch.c"), LAUNCHER).expect("there is room");
    let built = place.shell("\"$WRYNECK\" cc -w launch.c -o launch");
    assert!(built.status.success(), "{}", text(&built.stderr));
    for front in ["", "--machine-code"] {
        for (kind, right) in [("2", "unverified"), ("o", "unverified"), ("t", "unverified"), ("none", "clean")] {
            let world = format!("export TOOL=\"$WRYNECK\" WRYNECK=./launch KIND={kind}");
            place.answers(front, &world, "V", right);
        }
    }
    // A program that runs as another user asks another world.
    let refused = place.shell("chmod u+s p; \"$WRYNECK\" guard --answer -- ./p V");
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("rights of its own"), "{}", text(&refused.stderr));
}

/// Under a policy, arguments of any length up to a bound share paths; what follows a shorter one is not known.
#[test]
fn arguments_up_to_a_length() {
    let place = Place::new();
    fs::write(place.path("policy"), "up_to = 8\n").expect("there is room");
    for front in ["", "--machine-code"] {
        let options = format!("{front} --policy policy");
        let rows = [
            // A path that reads the length of no argument is that of every length.
            ("r abc", "clean", false),
            ("r abcdefg", "clean", true),
            ("r a", "clean", true),
            ("r ax", "faulty", false),
            ("r bxc", "faulty", true),
            ("r abcdefghijkl", "clean", false),
            // A shorter argument would make the program write to the next one.
            ("w abcdef g", "unverified", false),
            ("w a g", "unverified", true),
        ];
        for (words, right, hit) in rows {
            let asked = place.shell(&format!("\"$WRYNECK\" guard --on-miss run {options} --answer -- ./p {words}"));
            let found = !text(&asked.stdout).contains("\"answer\":\"miss\"");
            assert_eq!(found, hit, "`{words}` {front}: {}", text(&asked.stdout));
            place.answers(&options, ":", words, right);
        }
    }
}
