//! Replaying tests: the program runs natively on each, in a scratch folder of its own under a time limit, and the ends are compared.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use wryneck_environ::ProgramInput;
use wryneck_report::{Finding, KTest};

use crate::about::About;
use crate::beneath::Beneath;
use crate::child::{self, Limits};
use crate::confine::{self, Put};
use crate::data;
use crate::explored::Explored;
use crate::judge::{self, Expected, Verdict, Watched};
use crate::native::{Native, Sanitizer};
use crate::output;
use crate::problem::problem;
use crate::symbolic::{self, Concrete, ConcreteFile};

/// Wall time of one test, unless another is asked for.
pub const TIME: Duration = Duration::from_secs(10);

/// Runs the program on the test of each finding and notes what that showed.
pub fn findings(folder: &Path, findings: &mut [Finding]) -> Result<()> {
    let scratch = tempfile::tempdir().context("cannot make a scratch folder")?;
    let mut tests = Vec::new();
    for finding in findings.iter() {
        if let Some(test) = &finding.test {
            let test = folder.join(test);
            tests.push(Task { shows: leak(finding, &test)?, test });
        }
    }
    let replay = Replay::new(folder, &[], scratch.path(), TIME)?;
    let mut verdicts = replay.all(&tests).into_iter();
    for finding in findings {
        use wryneck_report::Native;
        let verdict = finding.test.as_ref().and_then(|_| verdicts.next());
        finding.native = Some(match verdict {
            Some(Verdict::Same) if finding.kind.id.starts_with("rule:") && !ends_in_fault(folder, finding)? => {
                Native::NotReplayable("the program ends the same natively, where the rule's events are not watched".into())
            }
            Some(Verdict::Same) if is_behind(folder, finding)? => {
                Native::NotReplayable("natively, its path goes its own way behind the first access out of bounds".into())
            }
            Some(Verdict::Same) => Native::Reproduced,
            Some(Verdict::Different(how)) => Native::NotReproduced(how),
            Some(Verdict::Cannot(why)) => Native::NotReplayable(why),
            None => Native::NotReplayable("no test was written".into()),
        });
    }
    Ok(())
}

/// Whether the path of a finding's test ends in a fault, which shows natively.
fn ends_in_fault(folder: &Path, finding: &Finding) -> Result<bool> {
    let Some(test) = &finding.test else { return Ok(false) };
    Ok(About::of_test(&folder.join(test))?.class.as_deref() == Some("fault"))
}

/// Whether the path of a finding's test goes on behind a fault, and it is another that the finding tells of.
fn is_behind(folder: &Path, finding: &Finding) -> Result<bool> {
    let Some(test) = &finding.test else { return Ok(false) };
    let about = About::of_test(&folder.join(test))?;
    Ok(about.goes_on && about.message != finding.message)
}

/// The leak that a finding tells of, if it is one: its test says how much.
fn leak(finding: &Finding, test: &Path) -> Result<Option<Expected>> {
    if finding.kind.id != judge::MEMORY_LEAK {
        return Ok(None);
    }
    let about = About::of_test(test)?;
    let same = about.leaks.iter().find(|leak| leak.message == finding.message);
    Ok(same.map(|leak| Expected::Leak { bytes: leak.bytes, objects: leak.objects }))
}

/// One run of a test.
pub struct Task {
    pub test: PathBuf,
    /// What it is to show, if not how its path ended.
    pub shows: Option<Expected>,
}

/// What the tests of one run share.
pub struct Replay<'a> {
    native: Native,
    /// The function that began, where `main` begins natively.
    entry: Option<String>,
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
    /// Of a run folder, whose target the user perhaps `named`.
    pub fn new<'a>(folder: &Path, named: &[PathBuf], scratch: &'a Path, time: Duration) -> Result<Replay<'a>> {
        if let Err(why) = confine::possible() {
            output::note(format!(
                "tests run on the real file system, since it cannot be kept from them ({why}): mind what the program writes"
            ));
        }
        let Explored { facts, program, bitcode, objects, cc_flags, files } = Explored::of(folder, named)?;
        let name = program.file_stem().unwrap_or_default().as_bytes().to_vec();
        let fails = facts.get("fail_calls").is_some_and(|n| n != "0");
        let native = Native::new(program, bitcode, objects, cc_flags, facts.need("libc")? == "true", fails, scratch.to_owned());
        let directory = facts.need("directory")?.to_owned();
        let limits = Limits { time, memory: None, file: 1 << 30 };
        let entry = facts.get("entry").filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Replay {
            native,
            entry,
            words: symbolic::parse(&facts.words("words")?)?,
            name,
            directory: directory.into_bytes(),
            files,
            scratch,
            limits,
        })
    }

    /// The folder where confined programs leave what is to be read here. Where they run is another one if it can be, since files cannot be
    /// renamed into or out of a folder that is shared.
    fn shared(&self) -> PathBuf {
        if confine::writes_everywhere() { self.scratch.join("shared") } else { self.scratch.to_owned() }
    }

    /// Lets the program count its lines as tests run; the counts are left in a folder below the scratch one, which is returned.
    pub fn count_lines(&mut self) -> Result<PathBuf> {
        if self.native.bitcode.is_none() {
            return Err(problem("machine code has no line counts", "leave out `--gcov`"));
        }
        let dir = self.shared().join("gcov");
        Ok(self.native.gcov.insert(dir).clone())
    }

    /// Replays tests on every core; verdicts in their order.
    pub fn all(&self, tests: &[Task]) -> Vec<Verdict> {
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
        verdicts.into_iter().map(|v| v.unwrap_or_else(lost)).collect()
    }

    fn one(&self, Task { test, shows }: &Task, number: usize) -> Result<Verdict> {
        let bytes = data::read_here(test, data::TEST).with_context(|| format!("cannot read `{}`", test.display()))?;
        let ktest = KTest::from_bytes(&bytes)?;
        let about = About::of_test(test)?;
        let expected = shows.clone().map_or_else(|| expected(&about), Ok)?;
        let verdict = self.judged(test, number, &ktest, &expected)?;
        Ok(match verdict {
            Verdict::Different(how) if about.unwritten_input => {
                Verdict::Cannot(format!("memory never written has other values natively: {how}"))
            }
            Verdict::Different(how) if about.approximated => {
                Verdict::Different(format!("{how}; something on the path was skipped or assumed, see the ledger"))
            }
            Verdict::Different(_) | Verdict::Same | Verdict::Cannot(_) => verdict,
        })
    }

    fn judged(&self, test: &Path, number: usize, ktest: &KTest, expected: &Expected) -> Result<Verdict> {
        let concrete = Concrete::of(&self.words, ktest);
        let outside = |file: &&ConcreteFile| !file.is_below() && (file.path.is_relative() || confine::possible().is_err());
        if let Some(file) = concrete.files.iter().find(outside) {
            return Ok(Verdict::Cannot(format!("the symbolic file `{}` is outside of the scratch folder", file.path.display())));
        }
        if concrete.fails.iter().any(|name| UNCOUNTED.iter().any(|call| name.starts_with(call))) {
            return Ok(Verdict::Cannot("a mapping fails, and the allocator makes natively such calls too".into()));
        }
        if let Some(name) = &self.entry {
            return Ok(Verdict::Cannot(format!("natively nothing calls the entry `{name}` with these arguments")));
        }
        if !concrete.fails.is_empty() && self.native.is_executable() {
            return Ok(Verdict::Cannot("an executable has no replay library that makes the same calls fail".into()));
        }
        let plain = match self.native.plain() {
            Ok(program) => program,
            Err(why) => return Ok(Verdict::Cannot(why.clone())),
        };
        let mut watched = Watched::Silent;
        if let Some(needed) = expected.needs_sanitizer() {
            match self.sanitized(expected, needed, test, number, &concrete)? {
                Ok(verdict) => return Ok(verdict),
                Err(not) => watched = not,
            }
        }
        let ran = self.execute(plain, test, &concrete, &number.to_string(), false)?;
        Ok(match (judge::plain(expected, &ran.ended, &ran.report, &watched), expected) {
            (Verdict::Different(how), Expected::Fault(kind)) if expected.needs_sanitizer().is_none() => {
                judge::second(kind, how, self.sanitized(expected, (kind, Sanitizer::Address), test, number, &concrete)?)
            }
            (verdict, _) => verdict,
        })
    }

    /// What sanitizers say of the test of a fault of this kind, or that they say nothing.
    fn sanitized(
        &self,
        expected: &Expected,
        (kind, sanitizer): (&str, Sanitizer),
        test: &Path,
        number: usize,
        concrete: &Concrete,
    ) -> Result<std::result::Result<Verdict, Watched>> {
        if !concrete.fails.is_empty() {
            return Ok(Err(Watched::No("under which no calls are made to fail".into())));
        }
        let program = match self.native.under(sanitizer) {
            Ok(program) => program,
            Err(why) => return Ok(Err(Watched::No(why.clone()))),
        };
        let ran = self.execute(program, test, concrete, &format!("{number}s"), kind == judge::MEMORY_LEAK)?;
        Ok(judge::sanitized(expected, &ran.sanitizers).ok_or_else(|| Watched::silent(kind, self.native.is_c())))
    }

    /// Runs a program on a test in the new folder `name`, looking for leaks if asked to.
    fn execute(&self, program: &Path, test: &Path, concrete: &Concrete, name: &str, leaks: bool) -> Result<Ran> {
        let dir = self.scratch.join(name);
        let work = dir.join("work");
        fs::create_dir_all(&work)?;
        // Each goes to its absolute path too, which where the program runs is no place of the real file system.
        let (mut placed, mut absolute, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
        for (number, file) in concrete.files.iter().enumerate() {
            let directory = Path::new(OsStr::from_bytes(&self.directory));
            let to = directory.join(&file.path);
            if file.path.is_relative() {
                placed.push((file.path.clone(), file));
                elsewhere.push(Put { from: work.join(&file.path), to, must: false });
                continue;
            }
            let (name, below) = (dir.join(format!("file{number}")), file.path.strip_prefix(directory));
            elsewhere.push(Put { from: name.clone(), to, must: true });
            placed.extend(below.ok().map(|path| (path.to_owned(), file)));
            absolute.push((name, file));
        }
        let beneath = Beneath::open(&work)?;
        for (path, bytes) in &self.files {
            place(&beneath, path, bytes)?;
        }
        // What is symbolic was last changed when the clock of the run began, unless that is symbolic too.
        let then = UNIX_EPOCH + Duration::from_secs(ProgramInput::default().time.unsigned_abs());
        let dated = |made: File, file: &ConcreteFile| match file.stat {
            Some(stat) => set_metadata(&made, stat),
            None => Ok(made.set_times(FileTimes::new().set_modified(then))?),
        };
        for (path, file) in &placed {
            dated(place(&beneath, path, &file.bytes)?, file)?;
        }
        for (path, file) in &absolute {
            let mut made = File::create_new(path)?;
            made.write_all(&file.bytes)?;
            dated(made, file)?;
        }
        let told = self.shared().join(format!("told{name}"));
        fs::create_dir_all(&told)?;
        let (stdin, report) = (dir.join("stdin"), told.join("report"));
        fs::write(&stdin, concrete.stdin.as_deref().unwrap_or_default())?;
        File::options().write(true).open(&stdin)?.set_times(FileTimes::new().set_modified(then))?;
        // To a file: a program may close its standard error before it ends.
        let log = format!("log_path={}", quoted(&told.join(SANITIZERS))?);
        let mut command = Command::new(program);
        command
            .arg0(OsStr::from_bytes(&self.name))
            .args(concrete.args.iter().map(|a| OsStr::from_bytes(a)))
            .env_clear()
            .envs(concrete.env.iter().map(|(k, v)| (OsStr::from_bytes(k), OsStr::from_bytes(v))))
            .env("WRYNECK_TEST", std::path::absolute(test)?)
            .env("WRYNECK_REPORT", &report)
            .env("LSAN_OPTIONS", "use_stacks=0:use_registers=0")
            .env("ASAN_OPTIONS", format!("{log}:detect_leaks={}:detect_stack_use_after_return=1:symbolize=0", u8::from(leaks)))
            .env("MSAN_OPTIONS", &log)
            .env("UBSAN_OPTIONS", &log)
            .current_dir(&work)
            .stdin(Stdio::from(File::open(&stdin)?));
        if confine::possible().is_ok() {
            confine::confine(&mut command, &self.shared(), &work, &elsewhere)?;
        }
        let mut ended = child::run(&mut command, self.limits).context("the native program cannot be started")?;
        ended.stdout = replaced(&ended.stdout, work.as_os_str().as_bytes(), &self.directory);
        let report = data::read_here(&report, data::TEST).unwrap_or_default();
        let report = String::from_utf8_lossy(&report).into_owned();
        let sanitizers = logs(&told);
        let _ = (fs::remove_dir_all(&dir), fs::remove_dir_all(&told));
        Ok(Ran { ended, report, sanitizers })
    }
}

/// Makes a file that the run folder names.
fn place(beneath: &Beneath, path: &Path, bytes: &[u8]) -> Result<File> {
    beneath.write(path, bytes).with_context(|| format!("cannot make the file `{}` that the run folder names", path.display()))
}

/// Gives a file the permissions that were symbolic, and its times.
fn set_metadata(file: &File, [permissions, accessed, modified]: [u32; 3]) -> Result<()> {
    let time = |seconds: u32| UNIX_EPOCH + Duration::from_secs(seconds.into());
    file.set_times(FileTimes::new().set_accessed(time(accessed)).set_modified(time(modified)))?;
    let fixed = file.metadata()?.mode() & !wryneck_environ::FREE_PERMISSIONS;
    Ok(file.set_permissions(Permissions::from_mode(fixed | (permissions & wryneck_environ::FREE_PERMISSIONS)))?)
}

/// Failing calls that cannot be found natively by counting.
const UNCOUNTED: [&str; 2] = ["fail_mmap", "fail_mremap"];

/// What running a program on a test showed.
struct Ran {
    ended: child::Ended,
    /// Of the replay library.
    report: String,
    sanitizers: String,
}

/// The name of the sanitizers' logs, to which they add a process number.
const SANITIZERS: &str = "sanitizers";

fn logs(dir: &Path) -> String {
    let is_log = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(SANITIZERS);
    let logs = fs::read_dir(dir).into_iter().flatten().flatten().filter(is_log);
    logs.map(|log| String::from_utf8_lossy(&data::read_here(&log.path(), data::TEST).unwrap_or_default()).into_owned()).collect()
}

/// A path in the options of a sanitizer, where a colon or space would end it.
fn quoted(path: &Path) -> Result<String> {
    let path = path.display().to_string();
    match ['\'', '"'].into_iter().find(|quote| !path.contains(*quote)) {
        Some(quote) => Ok(format!("{quote}{path}{quote}")),
        None => Err(problem(format!("the scratch folder `{path}` has both kinds of quotes in its name"), "set `TMPDIR` to another folder")),
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

fn expected(about: &About) -> Result<Expected> {
    let what = about.what.as_str();
    Ok(match about.class.as_deref() {
        Some("exit") => Expected::Exit(what.parse().context("the exit status is not a number")?, about.stdout.clone()),
        Some("fault") => Expected::Fault(what.into()),
        Some(class) => Expected::Open(format!("{class} {what}")),
        None => Expected::Open("it is not said how it ended".into()),
    })
}
