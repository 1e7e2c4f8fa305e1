//! Runs a native program that may be hostile, so that nothing it does has an effect outside: `wryneck` replays tests by this, and a test
//! may be `rm -r /`.
//!
//! A [`Confinement`] is the only way to run one. It is made by [`Confinement::probe`], which runs a small program confined and so knows
//! that it works here, or by [`Confinement::unconfined`], which is said by the user. Nothing falls back from one to the other.
//!
//! The process that is started is an init ([`init`]): it makes the namespaces and the file system ([`mounts`]), starts the program as its
//! child without powers ([`powers`]) and under a filter of system calls ([`filter`]), reports how it ended and takes all that is left with
//! it. The parent waits for that ([`watch`]), keeps the limits and kills the init. Where the kernel or a container gives no namespaces,
//! Landlock ([`landlock`]) and a stricter filter confine it.
//!
//! Between fork and exec only system calls are made, on memory that the parent has laid out ([`plan`]). Cost: 1 to 3 ms a run.

mod filter;
mod init;
mod landlock;
mod mounts;
mod plan;
mod powers;
mod probe;
mod stuck;
mod sys;
mod usage;
mod watch;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

pub use watch::Collected;

/// How far a program is kept from the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Namespaces: it has processes, a network and files of its own; what it changes is gone when it ends.
    Full,
    /// Landlock and a filter of system calls: it reads system folders, writes its own, and has no network. Some calls kill it.
    Plain,
    /// It runs as any program of the user does.
    None,
}

impl Level {
    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Level::Full => "namespaces",
            Level::Plain => "Landlock",
            Level::None => "unconfined",
        }
    }
}

/// How a level is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Mounts as the machine's root, then a user namespace for the program.
    Root,
    /// All in a user namespace.
    User,
    Plain,
    None,
}

/// The right to run programs, and how they are confined. Has no other constructors than the two.
#[derive(Clone, Copy, Debug)]
pub struct Confinement {
    kind: Kind,
}

impl Confinement {
    /// The strongest confinement that works here, shown by running a program under it; the error says why there is none.
    pub fn probe() -> Result<Confinement, String> {
        Confinement::probe_in(&std::env::temp_dir())
    }

    /// The same; the probe makes its temporary folder in this one.
    pub fn probe_in(place: &Path) -> Result<Confinement, String> {
        probe::probe(place)
    }

    /// The same at this level alone. [`Level::None`] cannot be asked for.
    pub fn probe_level(level: Level) -> Result<Confinement, String> {
        Confinement::probe_level_in(level, &std::env::temp_dir())
    }

    /// The same; the probe makes its temporary folder in this one.
    pub fn probe_level_in(level: Level, place: &Path) -> Result<Confinement, String> {
        probe::probe_level(level, place)
    }

    /// No confinement, because the user asks for none: the program does to the machine what it does.
    pub fn unconfined() -> Confinement {
        Confinement { kind: Kind::None }
    }

    pub fn level(&self) -> Level {
        match self.kind {
            Kind::Root | Kind::User => Level::Full,
            Kind::Plain => Level::Plain,
            Kind::None => Level::None,
        }
    }

    /// Runs a program to its end or to the first limit; `stop` says whether the user wants it ended now.
    pub fn run(&self, job: &Job, limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Ended, Failure> {
        watch::run(self.kind, job, limits, stop)
    }
}

/// A file that the program is to find, at [`Level::Full`].
#[derive(Clone, Debug)]
pub struct Put {
    pub from: PathBuf,
    /// Absolute.
    pub to: PathBuf,
    /// Without it there is no point in running.
    pub must: bool,
}

/// A program and what it is given. All paths are absolute.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub program: PathBuf,
    /// `argv`, the name first.
    pub args: Vec<Vec<u8>>,
    /// Lines of the environment, `NAME=VALUE`.
    pub env: Vec<Vec<u8>>,
    /// Where it runs.
    pub work: PathBuf,
    /// The file that is its standard input.
    pub stdin: PathBuf,
    pub files: Vec<Put>,
    /// More that it may read where Landlock confines it.
    pub readable: Vec<PathBuf>,
    /// Folders that it may write, and whose files are wanted afterwards.
    pub collect: Vec<PathBuf>,
    /// It may trace its own threads, as leak checkers do.
    pub traces: bool,
    /// At [`Level::Full`]: folders whose changes are kept. If there is one, nothing else can be written, but for `scratch`.
    pub keep: Vec<PathBuf>,
    /// The folder that `/tmp` is then.
    pub scratch: Option<PathBuf>,
    /// The program has this process's input and outputs, instead of `stdin` and pipes.
    pub inherits: bool,
}

/// What a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall time, and processor time of each process.
    pub time: Duration,
    /// Bytes of memory of all its processes together.
    pub memory: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files that it writes.
    pub disk: u64,
    /// How many processes there may be at once.
    pub processes: usize,
    /// Open files of a process.
    pub descriptors: u64,
    /// Ends a program of which each thread waits for another one, at [`Level::Full`]: nothing but a timer could make it go on.
    pub stuck: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(10),
            memory: 2 << 30,
            file: 1 << 30,
            disk: 1 << 30,
            processes: 100,
            descriptors: 1024,
            stuck: false,
        }
    }
}

impl Limits {
    /// As good as none, for programs that the user chose to run: nothing is counted.
    pub fn none() -> Limits {
        const LONG: Duration = Duration::from_secs(1 << 40);
        Limits { time: LONG, memory: u64::MAX, file: u64::MAX, disk: 1 << 30, processes: usize::MAX, descriptors: u64::MAX, stuck: false }
    }

    fn cpu_seconds(&self) -> u64 {
        self.time.as_secs() + 1
    }
}

/// What ended a program that did not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Time,
    ProcessorTime,
    Memory,
    Processes,
    FileSize,
    Disk,
    /// It made a system call that the confinement answers by killing it.
    Refused,
    /// Each of its threads waits for another one.
    Stuck,
    /// The user ended it.
    Interrupted,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Time => "it reached the limit of wall time",
            Limit::ProcessorTime => "it reached the limit of processor time",
            Limit::Memory => "it reached the limit of memory",
            Limit::Processes => "it reached the limit of processes",
            Limit::FileSize => "it reached the limit of a file's size",
            Limit::Disk => "it reached the limit of disk space",
            Limit::Refused => "it made a system call that the confinement refuses",
            Limit::Stuck => "each of its threads waits for another one",
            Limit::Interrupted => "it was interrupted",
        })
    }
}

/// How a program ended, and what it left.
#[derive(Debug)]
pub struct Ended {
    /// Of a program that a limit ended, that of its being killed.
    pub status: ExitStatus,
    pub limit: Option<Limit>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The folders of [`Job::collect`], in their order.
    pub collected: Vec<Collected>,
}

/// A program that could not be run.
#[derive(Debug)]
pub struct Failure {
    pub step: Step,
    /// The error number, if the step is a system call.
    pub errno: Option<i32>,
    /// More in words.
    pub detail: String,
}

impl Failure {
    fn new(step: Step, error: &std::io::Error) -> Failure {
        let detail = if error.raw_os_error().is_some() { String::new() } else { error.to_string() };
        Failure { step, errno: error.raw_os_error(), detail }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", STEPS[self.step as usize].1)?;
        if let Some(errno) = self.errno {
            write!(f, ": {}", std::io::Error::from_raw_os_error(errno))?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// What was being done when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    Plan,
    Pipes,
    Namespaces,
    Descriptors,
    Users,
    Private,
    Memory,
    Overlay,
    Root,
    Devices,
    Proc,
    Files,
    Folders,
    Fork,
    Input,
    Work,
    Limits,
    Capabilities,
    Landlock,
    Filter,
    Execute,
    Init,
}

/// Every step, in the order of the type.
const STEPS: [(Step, &str); 22] = [
    (Step::Plan, "the confinement cannot be planned"),
    (Step::Pipes, "no pipes can be made"),
    (Step::Namespaces, "no namespaces can be made"),
    (Step::Descriptors, "descriptors cannot be closed"),
    (Step::Users, "users cannot be mapped"),
    (Step::Private, "mounts cannot be kept apart"),
    (Step::Memory, "no file system in memory can be mounted"),
    (Step::Overlay, "no overlay can be mounted"),
    (Step::Root, "the root cannot be changed"),
    (Step::Devices, "`/dev` cannot be made"),
    (Step::Proc, "`/proc` cannot be mounted"),
    (Step::Files, "a file cannot be put where the program finds it"),
    (Step::Folders, "a folder is not there"),
    (Step::Fork, "no process can be made"),
    (Step::Input, "the standard input cannot be opened"),
    (Step::Work, "the working directory cannot be entered"),
    (Step::Limits, "limits cannot be set"),
    (Step::Capabilities, "capabilities cannot be given up"),
    (Step::Landlock, "Landlock does not confine"),
    (Step::Filter, "no filter of system calls can be installed"),
    (Step::Execute, "the program cannot be executed"),
    (Step::Init, "its init was killed"),
];

impl Step {
    fn of(number: u32) -> Step {
        STEPS.get(number as usize).map_or(Step::Init, |(step, _)| *step)
    }
}

/// Whether `path` is one that a program may be given.
fn absolute(path: &Path) -> Result<&Path, Failure> {
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Failure { step: Step::Plan, errno: None, detail: format!("`{}` is not absolute", path.display()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_their_order() {
        assert!(STEPS.iter().enumerate().all(|(number, (step, _))| *step as usize == number));
    }
}
