//! Replaying tests: the program runs natively on each, in a scratch folder of its own under a time limit, and the ends are compared.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use wryneck_report::{Finding, KTest};

use crate::child::{self, Limits};
use crate::folder;
use crate::judge::{self, Expected, Verdict, Watched};
use crate::native::Native;
use crate::problem::problem;
use crate::symbolic::{self, Concrete};

/// Wall time of one test, unless another is asked for.
pub const TIME: Duration = Duration::from_secs(10);

/// Runs the program on the test of each finding and notes what that showed.
pub fn findings(folder: &Path, findings: &mut [Finding]) -> Result<()> {
    let scratch = tempfile::tempdir().context("cannot make a scratch folder")?;
    let tests: Vec<PathBuf> = findings.iter().filter_map(|f| Some(folder.join(f.test.as_ref()?))).collect();
    let replay = Replay::new(folder, scratch.path(), TIME)?;
    let mut verdicts = replay.all(&tests).into_iter();
    for finding in findings {
        use wryneck_report::Native;
        let verdict = finding.test.as_ref().and_then(|_| verdicts.next());
        finding.native = Some(match verdict {
            Some((_, Verdict::Same)) => Native::Reproduced,
            Some((_, Verdict::Different(how))) => Native::NotReproduced(how),
            Some((_, Verdict::Cannot(why))) => Native::NotReplayable(why),
            None => Native::NotReplayable("no test was written".into()),
        });
    }
    Ok(())
}

/// What the tests of one run share.
pub struct Replay<'a> {
    native: Native,
    /// The words after the target.
    words: symbolic::Words,
    /// `argv[0]`.
    name: Vec<u8>,
    /// The working directory of the run.
    directory: Vec<u8>,
    /// Host files below the run's working directory: path from there, content.
    files: Vec<(PathBuf, Vec<u8>)>,
    scratch: &'a Path,
    limits: Limits,
}

impl Replay<'_> {
    pub fn new<'a>(folder: &Path, scratch: &'a Path, time: Duration) -> Result<Replay<'a>> {
        let fact = |name: &str| -> Result<String> {
            folder::read_fact(folder, name)?.ok_or_else(|| problem(format!("`{}/run.db` lacks the fact `{name}`", folder.display()), ""))
        };
        let words = |name: &str| -> Result<Vec<String>> {
            serde_json::from_str(&fact(name)?)
                .with_context(|| format!("the fact `{name}` of `{}` is not a list of words", folder.display()))
        };
        let program = PathBuf::from(fact("program")?);
        let name = program.file_stem().unwrap_or_default().as_bytes().to_vec();
        let kept = folder.join(crate::cmd::run::KEPT);
        let bitcode = if kept.exists() { kept } else { fact("bitcode")?.into() };
        if !bitcode.exists() {
            return Err(problem(format!("the bitcode `{}` is gone", bitcode.display()), "put it back, or run the program again"));
        }
        let native = Native::new(program, bitcode, words("cc_flags")?, fact("libc")? == "true", scratch.to_owned());
        let directory = fact("directory")?;
        let files = folder::read_files(folder, Path::new(&directory))?;
        let limits = Limits { time, memory: None, file: 1 << 30 };
        Ok(Replay { native, words: symbolic::parse(&words("words")?)?, name, directory: directory.into_bytes(), files, scratch, limits })
    }

    /// Replays tests on every core; verdicts in their order.
    pub fn all(&self, tests: &[PathBuf]) -> Vec<(PathBuf, Verdict)> {
        let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![None; tests.len()]));
        let work = || {
            while let Some((i, test)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tests.get(i)?))) {
                let verdict = self.one(test, i).unwrap_or_else(|e| Verdict::Cannot(format!("{e:#}")));
                verdicts.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(verdict);
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(tests.len()) {
                scope.spawn(work);
            }
        });
        let verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lost = || Verdict::Cannot("the replay was lost".into());
        tests.iter().cloned().zip(verdicts.into_iter().map(|v| v.unwrap_or_else(lost))).collect()
    }

    fn one(&self, test: &Path, number: usize) -> Result<Verdict> {
        let bytes = fs::read(test).with_context(|| format!("cannot read `{}`", test.display()))?;
        let ktest = KTest::from_bytes(&bytes)?;
        let about = about(&test.with_extension("json"))?;
        let verdict = self.judged(test, number, &ktest, &expected(&about)?)?;
        Ok(match verdict {
            Verdict::Different(how) if about["approximated"] == true => {
                Verdict::Different(format!("{how}; something on the path was skipped or assumed, see the ledger"))
            }
            Verdict::Different(_) | Verdict::Same | Verdict::Cannot(_) => verdict,
        })
    }

    fn judged(&self, test: &Path, number: usize, ktest: &KTest, expected: &Expected) -> Result<Verdict> {
        let concrete = Concrete::of(&self.words, ktest);
        let plain = match self.native.plain() {
            Ok(program) => program,
            Err(why) => return Ok(Verdict::Cannot(why.clone())),
        };
        let mut watched = Watched::Silent;
        if let Expected::Fault(kind) = expected
            && judge::needs_sanitizer(kind)
        {
            match self.native.sanitized() {
                Ok(program) => {
                    let (ended, _) = self.execute(program, test, &concrete, &format!("{number}s"))?;
                    if let Some(verdict) = judge::sanitized(kind, &ended) {
                        return Ok(verdict);
                    }
                    watched = Watched::silent(kind, self.native.is_c());
                }
                Err(why) => watched = Watched::No(why.clone()),
            }
        }
        let (ended, report) = self.execute(plain, test, &concrete, &number.to_string())?;
        Ok(judge::plain(expected, &ended, &report, &watched))
    }

    /// Runs a program on a test in the new folder `name`; how it ended and what the replay library said.
    fn execute(&self, program: &Path, test: &Path, concrete: &Concrete, name: &str) -> Result<(child::Ended, String)> {
        let dir = self.scratch.join(name);
        let work = dir.join("work");
        fs::create_dir_all(&work)?;
        let symbolic = concrete.files.iter().map(|(name, bytes)| (Path::new(name), bytes));
        for (path, bytes) in self.files.iter().map(|(path, bytes)| (path.as_path(), bytes)).chain(symbolic) {
            let file = work.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&work))?;
            fs::write(file, bytes)?;
        }
        let (stdin, report) = (dir.join("stdin"), dir.join("report"));
        fs::write(&stdin, concrete.stdin.as_deref().unwrap_or_default())?;
        let mut command = Command::new(program);
        command
            .arg0(OsStr::from_bytes(&self.name))
            .args(concrete.args.iter().map(|a| OsStr::from_bytes(a)))
            .env_clear()
            .envs(concrete.env.iter().map(|(k, v)| (OsStr::from_bytes(k), OsStr::from_bytes(v))))
            .env("WRYNECK_TEST", std::path::absolute(test)?)
            .env("WRYNECK_REPORT", &report)
            .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=1:symbolize=0")
            .current_dir(&work)
            .stdin(Stdio::from(File::open(&stdin)?));
        let mut ended = child::run(&mut command, self.limits).context("the native program cannot be started")?;
        ended.stdout = replaced(&ended.stdout, work.as_os_str().as_bytes(), &self.directory);
        let said = fs::read_to_string(&report).unwrap_or_default();
        let _ = fs::remove_dir_all(&dir);
        Ok((ended, said))
    }
}

/// Where a program prints its working directory, the run's stands for the scratch folder.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = rest.windows(from.len()).position(|w| w == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// What the file beside a test says of its path.
fn about(file: &Path) -> Result<Value> {
    let text = fs::read(file).with_context(|| format!("cannot read `{}`, which says how the path ended", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("`{}` is damaged", file.display()))
}

fn expected(about: &Value) -> Result<Expected> {
    let what = about["what"].as_str().unwrap_or_default();
    Ok(match about["class"].as_str() {
        Some("exit") => {
            let stdout = about.get("stdout").and_then(|v| serde_json::from_value(v.clone()).ok());
            Expected::Exit(what.parse().context("the exit status is not a number")?, stdout)
        }
        Some("fault") => Expected::Fault(what.into()),
        Some(class) => Expected::Open(format!("{class} {what}")),
        None => Expected::Open("it is not said how it ended".into()),
    })
}
