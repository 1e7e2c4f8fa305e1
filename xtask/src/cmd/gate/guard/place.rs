//! Where guard is tested: a folder with a cache, files that change, and the programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::trace::{self, Own, Trace};
use crate::cache::Cache;
use crate::random::Random;

pub struct Place {
    dir: tempfile::TempDir,
    wryneck: PathBuf,
    pub risky: PathBuf,
    machine_code: bool,
}

/// What a program is given.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub words: Vec<String>,
    mode: Option<String>,
    /// The directory it runs in: `good` or `bad`.
    bad: bool,
    stdin: Option<String>,
    /// Asked with a policy by which lengths up to one are alike.
    any_length: bool,
}

/// That policy.
const ANY_LENGTH: &str = "up_to = 8\nstdin_up_to = 8\nfile_up_to = 16\n";

/// What guard says.
pub struct Answer {
    pub kind: String,
    pub hit: bool,
    /// The number of the stored path, if one says what is known.
    pub path: Option<u64>,
    pub text: String,
}

/// How a run ended; no code where a signal ended it.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Input {
    pub fn plain(words: &[&str]) -> Input {
        Input { words: words.iter().map(|word| (*word).to_owned()).collect(), ..Input::default() }
    }

    pub fn risky(random: &mut Random) -> Input {
        const WORDS: [&str; 17] =
            ["-a", "-b", "-a", "-b", "-ff", "-fg", "-fnone", "-fd", "-ff", "7", "3", "12", "=zq", "=zb", "=x", "word", "-R"];
        let count = random.below(4);
        let words = (0..count).map(|_| WORDS[random.below(WORDS.len())].to_owned()).collect();
        let mode = [None, None, Some(""), Some("c"), Some("e"), Some("do!"), Some("do."), Some("dont")][random.below(8)];
        let stdin = [None, None, Some("abk"), Some("abc"), Some("a")][random.below(5)];
        let (bad, any_length) = (random.below(4) == 0, random.below(2) == 0);
        Input { words, mode: mode.map(Into::into), bad, stdin: stdin.map(Into::into), any_length }
    }

    /// Standard input alone.
    pub fn of_stdin(stdin: Option<String>, any_length: bool) -> Input {
        Input { stdin, any_length, ..Input::default() }
    }

    pub fn of_words(all: &[&str], random: &mut Random) -> Input {
        let count = random.below(4);
        let mut words: Vec<String> = (0..count).map(|_| all[random.below(all.len())].to_owned()).collect();
        // Now and then one letter is another.
        if let Some(word) = words.last_mut().filter(|word| random.below(3) == 0 && word.is_ascii() && !word.is_empty()) {
            let at = random.below(word.len());
            word.replace_range(at..=at, &char::from(b'!' + random.below(90) as u8).to_string());
        }
        Input { words, any_length: random.below(2) == 0, ..Input::default() }
    }
}

impl Place {
    pub fn new(machine_code: bool) -> Result<Place> {
        let dir = tempfile::Builder::new().prefix("wryneck-guard-").tempdir()?;
        let wryneck = fs::canonicalize(super::super::wryneck()).context("build wryneck with `cargo build --release`")?;
        let place = Place { risky: dir.path().join("risky"), dir, wryneck, machine_code };
        fs::create_dir_all(place.path("good/d"))?;
        fs::create_dir_all(place.path("bad/d"))?;
        fs::create_dir(place.path("cache"))?;
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(place.path("cache"), fs::Permissions::from_mode(0o700))?;
        fs::copy(Cache::open()?.path("libc.bc"), place.path("cache/libc.bc"))?;
        fs::write(place.path("policy"), ANY_LENGTH)?;
        place.compile("risky", include_str!("risky.c"))?;
        Ok(place)
    }

    /// Builds a program as `wryneck cc` does, at -O0.
    pub fn compile(&self, name: &str, source: &str) -> Result<PathBuf> {
        let (from, to) = (self.path(&format!("{name}.c")), self.path(name));
        fs::write(&from, source)?;
        let mut command = Command::new(&self.wryneck);
        command.args(["cc", "-g", "-O0"]).arg(&from).arg("-o").arg(&to).env("WRYNECK_CACHE", self.path("cache"));
        let built = command.output()?;
        ensure!(built.status.success(), "`{name}.c` does not compile: {}\n{source}", String::from_utf8_lossy(&built.stderr));
        Ok(to)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("cache/guard")
    }

    /// A program of coreutils that was built with its bitcode; at -O0, where one branch or switch of the bitcode is one sequence of instructions.
    pub fn coreutils(&self, name: &str) -> Result<PathBuf> {
        let file = Cache::open()?.path("coreutils/O0").join(name);
        ensure!(file.is_file(), "`{}` is missing: `cargo xtask corpus coreutils --opt 0 --all`", file.display());
        Ok(file)
    }

    /// Files `f` and `g` have other content now.
    pub fn shuffle(&self, random: &mut Random) -> Result<()> {
        const CONTENT: [&str; 6] = ["", "X marks", "a:b\n", "thirteen byte", "one two\nthree\n", "a:b:c\nd:e:f\n"];
        if random.below(3) == 0 {
            let dir = ["good", "bad"][random.below(2)];
            let file = self.path(dir).join(["f", "g"][random.below(2)]);
            if random.below(5) == 0 {
                let _ = fs::remove_file(&file);
            } else {
                fs::write(&file, CONTENT[random.below(CONTENT.len())])?;
            }
        }
        Ok(())
    }

    fn given(&self, command: &mut Command, input: &Input) -> Result<()> {
        command.args(&input.words).current_dir(self.path(if input.bad { "bad" } else { "good" }));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("WRYNECK_CACHE", self.path("cache"));
        if let Some(mode) = &input.mode {
            command.env("MODE", mode);
        }
        match &input.stdin {
            Some(text) => {
                let file = self.path("stdin");
                // A file that is written anew is another file to guard, as its time says.
                if fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
                    fs::write(&file, text)?;
                }
                command.stdin(fs::File::open(file)?);
            }
            None => _ = command.stdin(Stdio::null()),
        }
        Ok(())
    }

    /// A command of guard's for a program, before its words.
    pub fn command(&self, options: &[&str], program: &Path) -> Command {
        let mut command = Command::new(&self.wryneck);
        command.arg("guard").args(options);
        if self.machine_code {
            command.arg("--machine-code");
        }
        command.arg("--").arg(program);
        command
    }

    pub fn start(&self, options: &[&str], program: &Path, input: &Input) -> Result<std::process::Child> {
        let mut command = self.command(options, program);
        self.given(&mut command, input)?;
        Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// What guard knows of an input; a miss is verified, if asked for.
    pub fn answer(&self, program: &Path, input: &Input, verifies: bool) -> Result<Answer> {
        let policy = self.path("policy").display().to_string();
        let mut options = vec!["--answer", "--budget", "2s", "--max-paths", "400", "--on-miss", if verifies { "verify" } else { "run" }];
        if input.any_length {
            options.extend(["--policy", &policy]);
        }
        let mut command = self.command(&options, program);
        self.given(&mut command, input)?;
        let out = command.output()?;
        let text = String::from_utf8_lossy(&out.stdout);
        let said = || format!("{input:?}: {:?}: {text}{}", out.status, String::from_utf8_lossy(&out.stderr));
        ensure!(matches!(out.status.code(), Some(0 | 1 | 3)), "guard gives no answer: {}", said());
        let line: serde_json::Value = serde_json::from_str(text.trim()).with_context(said)?;
        let kind = line["answer"].as_str().unwrap_or_default().to_owned();
        Ok(Answer {
            hit: line["hit"] == true,
            path: line["path"].as_u64().filter(|_| kind == "clean" || kind == "faulty"),
            text: line["text"].as_str().unwrap_or_default().to_owned(),
            kind,
        })
    }

    /// The program under guard.
    pub fn guarded(&self, program: &Path, input: &Input) -> Result<Ended> {
        let mut command = self.command(&["--max-paths", "400"], program);
        self.given(&mut command, input)?;
        ended(&mut command)
    }

    /// The program alone.
    pub fn native(&self, program: &Path, input: &Input) -> Result<Ended> {
        let mut command = Command::new(program);
        self.given(&mut command, input)?;
        ended(&mut command)
    }

    /// The program alone, step by step.
    pub fn traced(&self, program: &Path, input: &Input, own: &Own) -> Result<Trace> {
        let mut command = Command::new(program);
        self.given(&mut command, input)?;
        trace::run(command.stdout(Stdio::piped()).stderr(Stdio::piped()), own)
    }

    /// `guard status`.
    pub fn status(&self) -> Result<Ended> {
        ended(Command::new(&self.wryneck).args(["guard", "status"]).env("WRYNECK_CACHE", self.path("cache")))
    }
}

fn ended(command: &mut Command) -> Result<Ended> {
    let out = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ended { code: out.status.code(), out: text(&out.stdout), err: text(&out.stderr) })
}
