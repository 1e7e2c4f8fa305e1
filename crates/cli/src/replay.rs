//! Replaying tests: the program runs natively on each, confined and under limits, in a scratch folder of its own, and the ends are compared.
//!
//! A program that cannot be confined is not run. What was explored may be hostile, and its inputs are the ones that break it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use wryneck_confine::{Collected, Confinement, Ended, Job, Level, Limit, Limits, Put};
use wryneck_environ::ProgramInput;
use wryneck_report::{Finding, KTest};

use crate::about::{About, Ordered};
use crate::beneath::Beneath;
use crate::budget;
use crate::child;
use crate::data;
use crate::early::{Early, Place};
use crate::explored::Explored;
use crate::gcov;
use crate::judge::{self, Expected, OWN_ORDER, SLICED, Verdict, Watched};
use crate::native::{Sanitizer, TEST_VARIABLE, UNWATCHED};
use crate::preload;
use crate::problem::problem;
use crate::scheduled::Order;
use crate::scratch::Scratch;
use crate::symbolic::{self, Concrete, ConcreteFile};

/// Wall time of one test, unless another is asked for.
pub const TIME: Duration = Duration::from_secs(10);

/// Confinement for replays, or why there is none; `unconfined` if the user asked for that.
pub fn confinement(unconfined: bool) -> std::result::Result<Confinement, String> {
    if unconfined {
        return Ok(Confinement::unconfined());
    }
    // What a killed probe leaves is removed by the next start.
    let scratch = Scratch::new().map_err(|error| format!("cannot make a scratch folder: {error}"))?;
    Confinement::probe_in(scratch.path())
}

/// Runs the program on the test of each finding and notes what that showed; builds that began `early` are used.
pub fn findings(folder: &Path, findings: &mut [Finding], unconfined: bool, early: Option<Early>) -> Result<()> {
    use wryneck_report::Native;
    let confinement = match confinement(unconfined) {
        Ok(confinement) => confinement,
        Err(why) => {
            findings.iter_mut().for_each(|finding| finding.native = Some(Native::NotReplayed(no_confinement(&why))));
            return Ok(());
        }
    };
    let mut tests = Vec::new();
    for finding in findings.iter() {
        if let Some(test) = &finding.test {
            let test = folder.join(test);
            tests.push(Task { shows: leak(finding, &test).ok().flatten(), test });
        }
    }
    let explored = Explored::of(folder, &[])?;
    let place = match &early {
        Some(early) => early.place(),
        None => Place::new(&explored)?,
    };
    let replay = Replay::of(explored, place, TIME, confinement)?;
    let mut verdicts = replay.all(&tests).into_iter();
    for finding in findings {
        let verdict = finding.test.as_ref().and_then(|_| verdicts.next());
        finding.native = Some(match verdict {
            Some(Verdict::Same) if finding.kind.id.starts_with("rule:") && !ends_in_fault(folder, finding)? => {
                Native::NotReplayable("the program ends the same natively, where the rule's events are not watched".into())
            }
            Some(Verdict::Same) if is_behind(folder, finding)? => {
                Native::NotReplayable("natively, its path goes its own way behind the first fault".into())
            }
            Some(Verdict::Same) => Native::Reproduced,
            Some(Verdict::Different(how)) => Native::NotReproduced(how),
            Some(Verdict::Cannot(why)) => Native::NotReplayable(why),
            None => Native::NotReplayable("no test was written".into()),
        });
    }
    Ok(())
}

/// Bytes that one replay may have: of what is left of the run's, each of those that run at once has a part.
fn memory() -> u64 {
    let at_once = thread::available_parallelism().map_or(1, usize::from) as u64;
    let left = budget::get().map_or(u64::MAX, |budget| budget.memory.saturating_sub(child::memory_of_self()) / at_once);
    Limits::default().memory.min(left)
}

/// Why a test is not replayed where it cannot be confined.
pub fn no_confinement(why: &str) -> String {
    format!("no confinement: {why}")
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
pub struct Replay {
    place: Place,
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
    limits: Limits,
    confinement: Confinement,
    /// Line counts are added to by one program at a time.
    counting: Mutex<()>,
}

impl Replay {
    /// Of a run folder, whose target the user perhaps `named`.
    pub fn new(folder: &Path, named: &[PathBuf], time: Duration, confinement: Confinement) -> Result<Replay> {
        let explored = Explored::of(folder, named)?;
        let place = Place::new(&explored)?;
        Replay::of(explored, place, time, confinement)
    }

    /// Of what was explored, whose native programs are built in `place`.
    fn of(explored: Explored, place: Place, time: Duration, confinement: Confinement) -> Result<Replay> {
        let Explored { facts, program, files, .. } = explored;
        let name = program.file_stem().unwrap_or_default().as_bytes().to_vec();
        let directory = facts.need("directory")?.to_owned();
        let limits = Limits { time, memory: memory(), ..Limits::default() };
        let entry = facts.get("entry").filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Replay {
            place,
            entry,
            words: symbolic::parse(&facts.words("words")?)?,
            name,
            directory: directory.into_bytes(),
            files,
            limits,
            confinement,
            counting: Mutex::new(()),
        })
    }

    /// Lets the program count its lines as tests run; the counts are left in a folder below the scratch one, which is returned.
    pub fn count_lines(&mut self) -> Result<PathBuf> {
        if self.place.native.bitcode.is_none() {
            return Err(problem("machine code has no line counts", "leave out `--gcov`"));
        }
        let dir = self.place.dir.join("gcov");
        let native = Arc::get_mut(&mut self.place.native).context("the program is being built already")?;
        Ok(native.gcov.insert(dir).clone())
    }

    /// Replays tests on every core; verdicts in their order.
    pub fn all(&self, tests: &[Task]) -> Vec<Verdict> {
        let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![None; tests.len()]));
        let stop = || budget::over_for_children().is_some();
        let work = || {
            while let Some((i, test)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tests.get(i)?))) {
                let verdict = match budget::over_for_children() {
                    Some(cause) => Ok(Verdict::Cannot(format!("not replayed: {}", cause.shown()))),
                    None => self.one(test, i, &stop),
                };
                let verdict = verdict.unwrap_or_else(|e| Verdict::Cannot(format!("{e:#}")));
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

    fn one(&self, Task { test, shows }: &Task, number: usize, stop: &dyn Fn() -> bool) -> Result<Verdict> {
        let bytes = data::read_here(test, data::TEST).with_context(|| format!("cannot read `{}`", test.display()))?;
        let ktest = KTest::from_bytes(&bytes)?;
        let about = About::of_test(test)?;
        let expected = shows.clone().map_or_else(|| expected(&about), Ok)?;
        let in_own_order = expected.is_of_order() && !self.place.native.is_scheduled();
        if in_own_order && !expected.may_be_stuck() {
            return Ok(Verdict::Cannot(OWN_ORDER.into()));
        }
        let ran = Mutex::new(None);
        // An alarm may end a wait.
        let stuck = expected.may_be_stuck() || about.threads && expected != Expected::Fault("abort".into());
        let time = if in_own_order { self.limits.time.min(STUCK) } else { self.limits.time };
        let limits = Limits { stuck, time, ..self.limits };
        let concrete = Concrete::of(&self.words, &ktest);
        let verdict = self.judged(number, &Test { bytes: &bytes, concrete, limits, stop, ran: &ran }, &expected)?;
        if in_own_order && verdict != Verdict::Same {
            return Ok(Verdict::Cannot(OWN_ORDER.into()));
        }
        let ran = ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        let order = about.order.as_ref().filter(|_| self.place.native.is_scheduled());
        let verdict = in_order(verdict, &about, order, &expected, ran.as_ref());
        Ok(match verdict {
            Verdict::Different(how) if self.confinement.level() == Level::Plain => {
                Verdict::Cannot(format!("{how}, confined by Landlock alone, where it may not do all that it does elsewhere"))
            }
            Verdict::Different(how) if about.handles_faults && about.class.as_deref() == Some("fault") => {
                Verdict::Cannot(format!("the program handles the signals of its own faults, and ends as it likes: {how}"))
            }
            Verdict::Different(how) if about.unwritten_input => {
                Verdict::Cannot(format!("memory never written has other values natively: {how}"))
            }
            Verdict::Different(how) if about.approximated => {
                Verdict::Different(format!("{how}; something on the path was skipped or assumed: {}", about.assumption()))
            }
            Verdict::Different(_) | Verdict::Same | Verdict::Cannot(_) => verdict,
        })
    }

    fn judged(&self, number: usize, test: &Test, expected: &Expected) -> Result<Verdict> {
        let concrete = &test.concrete;
        let outside = |file: &&ConcreteFile| !file.is_below() && (file.path.is_relative() || self.confinement.level() != Level::Full);
        if let Some(file) = concrete.files.iter().find(outside) {
            return Ok(Verdict::Cannot(format!("the symbolic file `{}` is outside of the scratch folder", file.path.display())));
        }
        if concrete.fails.iter().any(|name| UNCOUNTED.iter().any(|call| name.starts_with(call))) {
            return Ok(Verdict::Cannot("a mapping fails, and the allocator makes natively such calls too".into()));
        }
        if let Some(name) = &self.entry {
            return Ok(Verdict::Cannot(format!("natively nothing calls the entry `{name}` with these arguments")));
        }
        if let Some(Err(why)) = self.place.native.preloaded() {
            let needs = [
                (!self.words.sockets.is_empty(), "in which clients connect"),
                (concrete.calls, "that gives the same results of calls"),
                (!concrete.fails.is_empty(), "that makes the same calls fail"),
            ];
            if let Some((_, what)) = needs.iter().find(|(is_needed, _)| *is_needed) {
                return Ok(Verdict::Cannot(format!("{why}, {what}")));
            }
        }
        let plain = match self.place.native.plain() {
            Ok(program) => program,
            Err(why) => return Ok(Verdict::Cannot(why.clone())),
        };
        let mut watched = Watched::Silent;
        if let Some(needed) = expected.needs_sanitizer() {
            // The thread sanitizer misses a race now and then: of 300 runs of one test in the same order it missed it in four.
            let attempts = if needed.1 == Sanitizer::Thread { 4 } else { 1 };
            for _ in 0..attempts {
                match self.sanitized(expected, needed, test, number)? {
                    Ok(verdict) => return Ok(verdict),
                    Err(not) => watched = not,
                }
                if watched != Watched::Silent {
                    break;
                }
            }
        }
        if let Expected::Fault(kind) = expected
            && kind == judge::DATA_RACE
        {
            return Ok(Verdict::Cannot(match watched {
                Watched::No(why) => format!("`{kind}` shows only under a sanitizer, {why}"),
                Watched::Silent => "the thread sanitizer saw no race in the order of the path".into(),
            }));
        }
        let ran = self.execute(plain, test, &number.to_string(), Looks::Nowhere)?;
        match ran.ended.limit {
            Some(Limit::Stuck) if expected.may_be_stuck() => return Ok(Verdict::Same),
            Some(limit) => return Ok(Verdict::Cannot(format!("natively {limit}"))),
            None => {}
        }
        Ok(match (judge::plain(expected, &ran.ended, &ran.report, &watched), expected) {
            (Verdict::Different(how), Expected::Fault(kind)) if expected.needs_sanitizer().is_none() => {
                judge::second(kind, how, self.sanitized(expected, (kind, Sanitizer::Address), test, number)?)
            }
            (verdict, _) => verdict,
        })
    }

    /// What sanitizers say of the test of a fault of this kind, or that they say nothing.
    fn sanitized(
        &self,
        expected: &Expected,
        (kind, sanitizer): (&str, Sanitizer),
        test: &Test,
        number: usize,
    ) -> Result<std::result::Result<Verdict, Watched>> {
        if !test.concrete.fails.is_empty() {
            return Ok(Err(Watched::No("under which no calls are made to fail".into())));
        }
        let native = &self.place.native;
        if native.is_executable() && judge::IN_HEAP.contains(&kind) {
            return Ok(match self.guarded(expected, test, number)? {
                Ok(()) => Ok(Verdict::Same),
                Err(why) => Err(Watched::No(why)),
            });
        }
        let program = match native.under(sanitizer) {
            Ok(program) => program,
            Err(why) => return Ok(Err(Watched::No(why.clone()))),
        };
        let looks = if kind == judge::MEMORY_LEAK { Looks::ForLeaks } else { Looks::Nowhere };
        let ran = self.execute(program, test, &format!("{number}s"), looks)?;
        if let Some(limit) = ran.ended.limit {
            return Ok(Err(Watched::No(format!("under which {limit}"))));
        }
        Ok(judge::sanitized(expected, &ran.sanitizers, self.place.native.is_scheduled())
            .ok_or_else(|| Watched::silent(kind, self.place.native.is_c())))
    }

    /// Whether the heap guard sees the fault of an executable, or why not. Once with blocks that end exactly where they should; code for aligned blocks may
    /// fault there, so a second time with blocks that are aligned as the C library aligns them.
    fn guarded(&self, expected: &Expected, test: &Test, number: usize) -> Result<std::result::Result<(), String>> {
        let native = &self.place.native;
        let (program, looks) = match (native.plain(), native.heap_guard()) {
            (Ok(program), Ok(_)) => (program, [false, true].map(|aligned| Looks::InHeap { aligned })),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(format!("{UNWATCHED}, and {why}"))),
        };
        let mut saw = "nothing".to_owned();
        for how in looks {
            let ran = self.execute(program, test, &format!("{number}g"), how)?;
            if let Some(limit) = ran.ended.limit {
                saw = format!("nothing: {limit}");
            }
            match judge::sanitized(expected, &ran.sanitizers, false) {
                Some(Verdict::Same) => return Ok(Ok(())),
                Some(Verdict::Different(other) | Verdict::Cannot(other)) => saw = format!("`{other}`"),
                None => {}
            }
        }
        Ok(Err(format!("{UNWATCHED}, and the heap guard saw {saw}")))
    }

    /// Runs a program on a test in the new folder `name`.
    fn execute(&self, program: &Path, Test { bytes, concrete, limits, stop, ran }: &Test, name: &str, looks: Looks) -> Result<Ran> {
        let dir = self.place.dir.join(name);
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
        let told = dir.join("told");
        fs::create_dir_all(&told)?;
        let (stdin, own) = (dir.join("stdin"), dir.join("test"));
        // The run folder may be where a confined program sees nothing.
        fs::write(&own, bytes)?;
        fs::write(&stdin, concrete.stdin.as_deref().unwrap_or_default())?;
        File::options().write(true).open(&stdin)?.set_times(FileTimes::new().set_modified(then))?;
        // To a file: a program may close its standard error before it ends.
        let log = format!("log_path={}", quoted(&told.join(SANITIZERS))?);
        let told_env = [
            (TEST_VARIABLE, own.into_os_string()),
            ("WRYNECK_REPORT", told.join(REPORT).into_os_string()),
            ("WRYNECK_ORDER", told.join(ORDER).into_os_string()),
            ("LSAN_OPTIONS", "use_stacks=0:use_registers=0".into()),
            (
                "ASAN_OPTIONS",
                format!("{log}:detect_leaks={}:detect_stack_use_after_return=1:symbolize=0", u8::from(looks == Looks::ForLeaks)).into(),
            ),
            ("MSAN_OPTIONS", log.clone().into()),
            ("TSAN_OPTIONS", format!("{log}:{RACES_ONLY}").into()),
            ("UBSAN_OPTIONS", log.into()),
        ];
        let native = &self.place.native;
        let preloaded = native.preloaded().and_then(|built| built.as_ref().ok());
        let guard = if let Looks::InHeap { .. } = looks { native.heap_guard().as_ref().ok() } else { None };
        let libraries: Vec<&PathBuf> = guard.into_iter().chain(preloaded).collect();
        let heap = guard.map(|_| (preload::HEAP, told.join(SANITIZERS).into_os_string()));
        let align = (looks == Looks::InHeap { aligned: true }).then(|| (preload::ALIGN.0, preload::ALIGN.1.into()));
        let listed: Vec<&OsStr> = libraries.iter().map(|library| library.as_os_str()).collect();
        let load = (!listed.is_empty()).then(|| (preload::VARIABLE, listed.join(OsStr::new(":"))));
        // A program without the replay library would see them.
        let is_asked = native.asks_for_test() || preloaded.is_some();
        let told_env = told_env.into_iter().filter(|_| is_asked).chain(heap).chain(align).chain(load);
        let line = |name: &[u8], value: &[u8]| [name, b"=", value].concat();
        let counts = self.place.native.gcov.as_deref();
        let job = Job {
            program: program.to_owned(),
            args: [&self.name].into_iter().chain(&concrete.args).cloned().collect(),
            env: concrete
                .env
                .iter()
                .map(|(name, value)| line(name, value))
                .chain(told_env.map(|(name, value): (&str, OsString)| line(name.as_bytes(), value.as_bytes())))
                .collect(),
            work: work.clone(),
            stdin,
            files: elsewhere,
            readable: [&dir].into_iter().chain(libraries).cloned().collect(),
            collect: [told.as_path()].into_iter().chain(counts).map(Path::to_owned).collect(),
            traces: looks == Looks::ForLeaks,
            ..Job::default()
        };
        let turn = counts.map(|_| self.counting.lock().unwrap_or_else(PoisonError::into_inner));
        let mut ended = self.confinement.run(&job, limits, stop).context("the native program cannot be run")?;
        if let (Some(Limit::Interrupted), Some(cause)) = (ended.limit, budget::over_for_children()) {
            bail!("the replay was ended: {}", cause.shown());
        }
        if let (Some(counts), [_, counted]) = (counts, &ended.collected[..]) {
            gcov::keep(counted, counts)?;
        }
        drop(turn);
        ended.stdout = replaced(&ended.stdout, work.as_os_str().as_bytes(), &self.directory);
        let read = |name: &OsStr| ended.collected.first().and_then(|told| told.read(name, TOLD));
        let text = |name: &OsStr| String::from_utf8_lossy(&read(name).unwrap_or_default()).into_owned();
        *ran.lock().unwrap_or_else(PoisonError::into_inner) = read(ORDER.as_ref()).and_then(|bytes| Order::of_bytes(&bytes));
        let report = text(REPORT.as_ref());
        let names = ended.collected.first().map(Collected::names).unwrap_or_default();
        let sanitizers =
            names.iter().filter(|name| name.as_bytes().starts_with(SANITIZERS.as_bytes())).take(LOGS).map(|name| text(name)).collect();
        let _ = fs::remove_dir_all(&dir);
        Ok(Ran { ended, report, sanitizers })
    }
}

/// What a verdict on a path with threads says, where its threads ran natively in this order. `order`: that of the path, if a native run can follow it.
fn in_order(verdict: Verdict, about: &About, order: Option<&Ordered>, expected: &Expected, ran: Option<&Order>) -> Verdict {
    let Some(order) = order else {
        return match verdict {
            Verdict::Different(how) if about.threads => Verdict::Cannot(format!("{OWN_ORDER}: {how}")),
            verdict => verdict,
        };
    };
    let path = Order { first: order.first.clone(), count: order.count };
    let followed = match (&verdict, ran) {
        (Verdict::Cannot(_), _) => true,
        (_, None) => return Verdict::Cannot(OWN_ORDER.into()),
        // The program may go on after a fault, and may end before it is where the path ended.
        (Verdict::Same, Some(ran)) => matches!(expected, Expected::Fault(_)) || *ran == path,
        (Verdict::Different(_), Some(ran)) => path.begins(ran) || ran.begins(&path),
    };
    let mut differs = ran.map(|ran| ran.differs(&path)).unwrap_or_default();
    if order.sliced {
        differs += SLICED;
    }
    match verdict {
        Verdict::Different(how) if !followed => Verdict::Cannot(format!("natively the threads run in another order ({differs}): {how}")),
        Verdict::Same if !followed => Verdict::Cannot(format!("it ends the same natively, in another order of its threads ({differs})")),
        verdict => verdict,
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

/// What a native run is to show beside its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Nowhere,
    ForLeaks,
    /// Heap faults of an executable; `aligned`: blocks begin where the C library's may.
    InHeap {
        aligned: bool,
    },
}

/// What running a program on a test showed.
struct Ran {
    ended: Ended,
    /// Of the replay library.
    report: String,
    sanitizers: String,
}

/// A test as it is run.
struct Test<'a> {
    /// As a file.
    bytes: &'a [u8],
    concrete: Concrete,
    limits: Limits,
    /// Whether the user wants no more of it.
    stop: &'a dyn Fn() -> bool,
    /// The order in which threads ran the last time.
    ran: &'a Mutex<Option<Order>>,
}

/// The name of the sanitizers' logs, to which they add a process number.
const SANITIZERS: &str = "sanitizers";
/// The name of the replay library's report.
const REPORT: &str = "report";
/// The name of the scheduler's file.
const ORDER: &str = "order";
/// What the thread sanitizer looks for. It does not see the scheduler's locks.
const RACES_ONLY: &str = "halt_on_error=0:report_thread_leaks=0:report_signal_unsafe=0:report_mutex_bugs=0:report_destroy_locked=0:\
                          detect_deadlocks=0:symbolize=0:atexit_sleep_ms=0";
/// How long a program may take to a deadlock that its own order of threads decides.
const STUCK: Duration = Duration::from_secs(2);
/// Most bytes read of one of these, and most logs.
const TOLD: u64 = 4 << 20;
const LOGS: usize = 100;

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
