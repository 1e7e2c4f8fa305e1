//! The world that a path was verified in and that its input is looked up in: one place answers questions about it, for both.
//!
//! Questions are those of [`wryneck_environ::observed`] and of [`super::shape`]. What depends on the process alone (descriptors, user, limits) is
//! asked by the process that is going to become the program ([`of_process`]) and handed to the one that verifies.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use wryneck_environ::observed::{self, Window, question};
use wryneck_environ::{DirEntry, Host, Stat};
use wryneck_guard::{Given, World};

use super::process;
use crate::host::RealHost;

/// Answers by question; `None`: there is none.
pub type Answers = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Largest regular file on standard input whose content is a fact.
const STDIN: u64 = 1 << 20;
/// Memory that the host may take a quarter of for a file.
const MEMORY: u64 = 256 << 20;

/// The world, and what is known of it.
pub struct Here {
    host: RealHost,
    known: RefCell<Answers>,
    /// Asking changed when a file was read last.
    disturbed: Cell<bool>,
}

impl Here {
    /// The world, with answers that are known already.
    pub fn new(known: Answers) -> Here {
        Here { host: RealHost::new(MEMORY), known: RefCell::new(known), disturbed: Cell::new(false) }
    }

    pub fn user_and_system(&self) -> (u32, [Vec<u8>; 6]) {
        (RealHost::user(), self.host.uname())
    }

    /// What was answered so far is asked again.
    pub fn forget(&self) {
        self.known.borrow_mut().clear();
        self.disturbed.set(false);
    }

    /// Whether an answer changed the world: what was answered before it may be another answer now.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed.get()
    }

    /// Reads a file or a stream, and notes whether that changed when it was read last.
    fn reading<T>(&self, what: Result<i32, &[u8]>, read: impl FnOnce() -> T) -> T {
        let before = process::read_last(what);
        let answer = read();
        if process::read_last(what) != before {
            self.disturbed.set(true);
        }
        answer
    }

    /// The answer to a question, asked once.
    pub fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        if let Some(known) = self.known.borrow().get(question) {
            return known.clone();
        }
        let answer = self.ask(question);
        self.known.borrow_mut().insert(question.to_vec(), answer.clone());
        answer
    }

    /// Seconds since 1970, the same until all is asked again.
    fn now(&self) -> Option<u64> {
        std::str::from_utf8(&self.answer(b"now")?).ok()?.parse().ok()
    }

    fn ask(&self, question: &[u8]) -> Option<Vec<u8>> {
        let space = question.iter().position(|b| *b == b' ').unwrap_or(question.len());
        let (kind, about) = (&question[..space], question.get(space + 1..).unwrap_or_default());
        let text = || std::str::from_utf8(about).ok();
        let fd = || text()?.parse::<i32>().ok().filter(|fd| (0..3).contains(fd));
        let error = |e: i32| wryneck_environ::errno::Errno(e);
        match kind {
            b"kind" => Some(observed::kind(&self.host.stat(about, false).map_err(error))),
            b"file" => {
                let content = self.reading(Err(about), || self.host.read_file(about));
                Some(observed::content(&content.map_err(error), &|content| self.digest(content)))
            }
            b"length" => self.host.stat(about, false).ok().map(|stat| stat.size.to_string().into_bytes()),
            b"size" => self.host.stat(about, false).ok().map(|stat| stat.size.to_le_bytes().to_vec()),
            b"bytes" => self.reading(Err(about), || self.host.read_file(about)).ok().map(|content| content.to_vec()),
            b"dir" => {
                let entries = self.reading(Err(about), || self.list_dir(about));
                Some(observed::listing(&entries.map(Rc::from).map_err(error)))
            }
            b"link" => Some(observed::target(&self.host.read_link(about).map(Rc::from).map_err(error))),
            b"lstat" => process::stat(Err(about)),
            b"fstat" => process::stat(Ok(fd()?)),
            b"dots" => self.reading(Err(about), || dots(about)),
            b"written" => Some(process::written()),
            b"apart" => Some(process::is_apart(about, &self.answer(b"written")?)),
            b"timers" => Some(process::timers()),
            b"filter" => Some(process::filter()),
            b"access" => {
                let (want, path) = about.split_at_checked(2)?;
                Some(process::may_access(path, std::str::from_utf8(want).ok()?.trim().parse().ok()?))
            }
            b"regular" => Some(if process::is_regular(fd()?)? { b"yes".to_vec() } else { b"no".to_vec() }),
            b"accepts" => Some(process::accepts(fd()?)),
            b"seek" => Some(process::place(fd()?)),
            b"flags" => Some(process::flags(fd()?)),
            b"ioctl" => {
                let (fd, request) = text()?.split_once(' ')?;
                let fd = fd.parse().ok().filter(|fd| (0..3).contains(fd))?;
                process::ioctl(fd, u64::from_str_radix(request, 16).ok()?)
            }
            b"statfs" => process::statfs(about),
            b"statx" => {
                let mut words = about.splitn(3, |b| *b == b' ');
                let mut number = || u32::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 16).ok();
                let (mask, flags) = (number()?, number()?);
                process::statx(words.next()?, mask, flags)
            }
            b"sysinfo" => process::sysinfo(),
            b"clock" => process::clock_steps(text()?.parse().ok()?),
            b"now" => Some(process::now()?.to_string().into_bytes()),
            b"minute" => Some((self.now()? / 60).to_string().into_bytes()),
            Window::QUESTION => {
                let start = text()?.parse().ok()?;
                Some(if Window::holds(start, self.now()?) { b"yes".to_vec() } else { b"no".to_vec() })
            }
            b"cwd" => std::env::current_dir().ok().map(|dir| dir.into_os_string().into_encoded_bytes()),
            b"uname" => Some(self.host.uname().join(&0)),
            b"ids" => Some(process::ids()),
            b"groups" => process::groups(),
            b"signals" => Some(process::signals()),
            b"umask" => Some(process::umask()),
            b"limits" => Some(process::limits()),
            b"processors" => process::processors(),
            b"auxiliary" => Some(process::auxiliary()),
            b"descriptors" => process::descriptors(),
            b"stdin" if about == b"size" => process::stdin_content(STDIN).map(|content| content.len().to_string().into_bytes()),
            b"stdin" if process::stdin_is_null() => Some(b"null".to_vec()),
            b"stdin" => self.reading(Ok(0), || process::stdin_content(STDIN)).map(|content| self.digest(&content)),
            _ => None,
        }
    }
}

/// The answers that only the process knows which is to become the program.
pub fn of_process(here: &Here) -> Answers {
    let mut all: Vec<Vec<u8>> = [
        "ids", "groups", "signals", "umask", "limits", "auxiliary", "processors", "descriptors", "stdin size", "stdin content", "written",
        "apart 0", "timers", "filter",
    ]
    .map(Into::into)
    .to_vec();
    all.extend(["1", "2"].map(|fd| question("accepts", fd.as_bytes())));
    for fd in ["0", "1", "2"] {
        all.extend(["fstat", "regular", "seek", "flags"].map(|kind| question(kind, fd.as_bytes())));
        all.extend(["5401", "5413"].map(|request| question("ioctl", format!("{fd} {request}").as_bytes())));
    }
    all.into_iter().map(|question| (question.clone(), here.answer(&question))).collect()
}

/// Where a directory lists `.` and `..`: a place and an inode each.
fn dots(path: &[u8]) -> Option<Vec<u8>> {
    use rustix::fs::{Mode, OFlags, RawDir, open};
    let directory = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = Vec::with_capacity(8192);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    let (mut places, mut place) = ([None, None], 0);
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        match entry.file_name().to_bytes() {
            b"." => places[0] = Some(format!("{place} {}", entry.ino())),
            b".." => places[1] = Some(format!("{place} {}", entry.ino())),
            _ => {}
        }
        place += 1;
    }
    let [Some(own), Some(above)] = places else { return None };
    Some(format!("{own} {above}").into_bytes())
}

impl Host for Here {
    fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, i32> {
        self.host.stat(path, follow)
    }
    fn read_file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, i32> {
        self.host.read_file(path)
    }
    fn list_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>, i32> {
        crate::host::entries(path)
    }
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, i32> {
        self.host.read_link(path)
    }
    fn seen(&self, question: &[u8]) -> Option<Vec<u8>> {
        self.answer(question)
    }
    fn digest(&self, content: &[u8]) -> Vec<u8> {
        let digest = blake3::hash(content).to_hex();
        format!("{} bytes {}", content.len(), &digest[..32]).into_bytes()
    }
}

/// What of a path's condition is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Assume {
    /// Everything.
    Nothing,
    /// The arguments alone, as in the paper: all else is taken to be as it was when the path was verified. Such paths have a store of their own, where
    /// arguments alone are symbolic.
    ArgumentsOnly,
}

/// An input that is looked up.
pub struct Asked<'a> {
    pub here: &'a Here,
    /// Bytes of inputs by name, and answers of [`super::shape`].
    pub inputs: &'a BTreeMap<String, Vec<u8>>,
    pub assume: Assume,
}

/// Whether an input of this name is an argument.
pub fn is_argument(name: &[u8]) -> bool {
    name.strip_prefix(b"arg").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
}

/// The kind of question whether a condition on arguments holds that has no file form. It has no answer.
pub const UNWRITTEN: &str = "unknown-of-arguments";

/// Kinds of questions about the arguments. Which file an argument names (`byte`) is of the world.
const ARGUMENTS: [&[u8]; 7] = [b"argc", b"argv0", b"len", b"policy", UNWRITTEN.as_bytes(), b"up-to", b"word"];

impl World for Asked<'_> {
    fn input(&mut self, name: &[u8]) -> Given {
        let spelled = std::str::from_utf8(name).ok();
        if self.assume == Assume::ArgumentsOnly && !is_argument(name) {
            return Given::Assumed;
        }
        match spelled.and_then(observed::is_volatile) {
            Some((_, Some(window))) => {
                let since = self.here.now().and_then(|now| now.checked_sub(window.start));
                return since.map_or(Given::Unknown, |since| Given::Within(since, since + Window::LONGEST));
            }
            Some((_, None)) => return Given::Any,
            None => {}
        }
        if let Some(bytes) = spelled.and_then(|name| self.inputs.get(name)) {
            return Given::Bytes(bytes.clone());
        }
        // Attributes: the name is the question, up to a zero.
        let question = name.split(|b| *b == 0).next().filter(|question| question.len() < name.len());
        question.and_then(|question| self.here.answer(question)).map_or(Given::Unknown, Given::Bytes)
    }

    fn holds(&mut self, question: &[u8], answer: &[u8]) -> bool {
        let kind = question.split(|b| *b == b' ').next().unwrap_or_default();
        if self.assume == Assume::ArgumentsOnly && !ARGUMENTS.contains(&kind) {
            return true;
        }
        if kind == b"byte" {
            return self.byte(question).is_some_and(|byte| answer == [byte]);
        }
        match std::str::from_utf8(question).ok().and_then(|question| self.inputs.get(question)) {
            Some(given) => given == answer,
            None => self.here.answer(question).is_some_and(|given| given == answer),
        }
    }
}

impl Asked<'_> {
    /// The byte of an input that a question `byte NAME NUMBER` is about.
    fn byte(&self, question: &[u8]) -> Option<u8> {
        let (name, number) = std::str::from_utf8(question).ok()?.strip_prefix("byte ")?.split_once(' ')?;
        self.inputs.get(name)?.get(number.parse::<usize>().ok()?).copied()
    }
}
