//! Summaries of functions: what a call reads and writes, so that its instructions need no analysis (paper 1, section 7.3).
//!
//! ```toml
//! [[function]]
//! names = ["fputc", "putc"]
//! reads = ["arg0"]
//! writes = ["result", "output(arg1)"]
//!
//! [[function]]
//! names = ["abort"]
//! returns = "never"
//!
//! [[system-call]]             # arguments as of the call that makes it: arg0 is the number
//! numbers = [0]               # read
//! reads = ["arg1", "arg3", "input", "descriptors", "files"]
//! writes = ["result", "*arg2", "input"]
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `gives = "zero"`, `"arg2"`, `"arg2 unless arg1 = 0"` | the result, unless a failure was injected; in a row about a stream, only for a standard stream |
//! | `gives = "natural"` | the result is not negative, under the same conditions |
//! | `returns = "never"` | the function does not return |
//! | `returns = "fault"` | the function does not return and is a fault; alternatives are assumed not to reach it |
//! | `returns = "perhaps"` | a path may end in the function |
//! | `returns = "elsewhere"` | control may continue where the slicer cannot follow; such a call is never pruned |
//! | `returns = "object"` | the result is not null |
//! | `returns = "found"` | the result may be null although `flows` gives it an address |
//! | `flows = ["result = arg0"]` | the call copies an address: from an argument, or from what one points to (`*arg0`) |
//! | `flows = ["result = arg0 + n"]` | the address copied leads somewhere into the object of the argument |
//! | `without-body = true` | the row holds only where the program has no body for the function |
//! | `format = "arg1"` | the argument that is the format of a `printf` or `scanf` |
//! | `unless = "arg1"` | the row holds only in programs that always pass a null pointer there |
//!
//! Cells:
//! - of the call: `result`, `errno`, `arg0` (the argument itself), `*arg0` (the object it points into), `**arg0` (all that can be reached
//!   from it);
//! - of a stream: `error(arg1)`, `input(arg1)`, `output(arg1)`; without an argument of any stream (`output`: of the standard ones);
//! - of a descriptor: `written(arg0)`, the file that it is open on; `standard(arg0)`, a standard stream or descriptor, if the argument
//!   is one;
//! - of all descriptors: `descriptors`, what they are open on; `numbers`, which of them are free; `new descriptor`, a newly opened one;
//! - of files: `files` (attributes), `contents` (of files and pipes), `names` (which file a path name is), `directory` (the working
//!   directory);
//! - of the process: `clock`, `locale`, `conversion` (of multibyte characters, if the caller keeps no state), `process` (the rest of the
//!   kernel's state);
//! - `everything`.
//!
//! A variadic function's last argument is the address of a `va_list` of its variable arguments.
//!
//! A write of `output` or `written` is also a write of `input`, `error`, `errno` and `contents`, unless it goes to standard output or error.
//!
//! The built-in file makes these assumptions. Rows of the user can say otherwise: a later row replaces an earlier one of the same name.
//! - Allocation succeeds ([`Summaries::with_failing_allocation`] does not assume it).
//! - Output to standard output and error does not fail, and the program cannot read it back.
//!   [`Premises`](wryneck_exec::Premises) say whether this held on a path; if not, the path is not sliced.
//!   A branch with an alternative that closes or replaces a standard descriptor by its number is always relevant.
//!
//! Rows that do not fit a program are left out of its summaries ([`fitting`](super::fitting)).

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::broken::{Broken, What};
use crate::rule_file::Mistake;

/// What one kind of state the environment or stdio keeps is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellKind {
    /// Whether an operation of the stream has failed, or met the end.
    StreamError,
    /// What the stream will read next.
    StreamInput,
    /// What was written to the stream.
    StreamOutput,
    /// What each descriptor is open on, and where in it.
    Descriptors,
    /// Which descriptors are free.
    Numbers,
    /// The attributes of files.
    Files,
    /// What is in files and pipes.
    Contents,
    /// Which file a path name is.
    Names,
    /// The working directory.
    Directory,
    Clock,
    /// What `setlocale` sets.
    Locale,
    /// How much of a multibyte character was read, where the caller keeps no state of its own.
    Conversion,
    /// The rest: signal handlers, mappings, umask.
    Process,
}

impl CellKind {
    /// The names of the places, and whether an argument can key them.
    const NAMES: [(&str, CellKind, bool); 13] = [
        ("error", CellKind::StreamError, true),
        ("input", CellKind::StreamInput, true),
        ("output", CellKind::StreamOutput, true),
        ("descriptors", CellKind::Descriptors, false),
        ("numbers", CellKind::Numbers, false),
        ("files", CellKind::Files, false),
        ("contents", CellKind::Contents, false),
        ("names", CellKind::Names, false),
        ("directory", CellKind::Directory, false),
        ("clock", CellKind::Clock, false),
        ("locale", CellKind::Locale, false),
        ("conversion", CellKind::Conversion, false),
        ("process", CellKind::Process, false),
    ];
}

impl CellKind {
    pub fn is_of_stream(self) -> bool {
        matches!(self, CellKind::StreamError | CellKind::StreamInput | CellKind::StreamOutput)
    }

    pub fn all() -> impl Iterator<Item = CellKind> {
        CellKind::NAMES.into_iter().map(|(_, kind, _)| kind)
    }

    pub fn words(self) -> &'static str {
        match self {
            CellKind::StreamError => "whether a stream has failed",
            CellKind::StreamInput => "what a stream reads next",
            CellKind::StreamOutput => "what was written to a stream",
            CellKind::Descriptors => "what descriptors are open on",
            CellKind::Numbers => "which descriptors are free",
            CellKind::Files => "the attributes of files",
            CellKind::Contents => "the contents of files",
            CellKind::Names => "which files there are",
            CellKind::Directory => "the working directory",
            CellKind::Clock => "the time",
            CellKind::Locale => "the locale",
            CellKind::Conversion => "a multibyte character that was read in part",
            CellKind::Process => "the state of the process",
        }
    }
}

/// A set of kinds of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cells(u16);

impl Cells {
    pub const ALL: Cells = Cells((1 << CellKind::NAMES.len()) - 1);

    pub fn contains(self, kind: CellKind) -> bool {
        self.0 >> (kind as u16) & 1 != 0
    }
    pub fn insert(&mut self, kind: CellKind) {
        self.0 |= 1 << (kind as u16);
    }
    pub fn union(self, other: Cells) -> Cells {
        Cells(self.0 | other.0)
    }
}

/// What a summary's function reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Result,
    /// C's `errno`.
    Errno,
    Arg(u32),
    /// The object that the argument points into.
    Memory(u32),
    /// All that can be reached from the argument.
    Reachable(u32),
    /// A cell; of the stream that the argument points to, if there is one.
    Cell(CellKind, Option<u32>),
    /// What a descriptor is open on that was not: on other ways this changes none that is.
    NewDescriptor,
    /// What the descriptor is open on, unless it is a standard one.
    Written(u32),
    /// A standard stream or descriptor, if the argument is one.
    Standard(u32),
    Everything,
}

/// Where a pointer is before or after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The address of an object that this call allocates.
    New,
    /// An address of what the program is given.
    Outside,
    /// What the program gave the kernel to call: handlers of signals.
    Handlers,
    /// An address of what it maps.
    Mapped,
    Result,
    Arg(u32),
    /// An address in the object that the argument points into, at or behind the argument.
    Into(u32),
    /// In the object that the result points into.
    InResult,
    /// In the object that the argument points into.
    In(u32),
    /// In files and pipes.
    Files,
}

/// The call may take a pointer over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerFlow {
    pub to: Holder,
    pub from: Holder,
}

/// What a function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub reads: Vec<Place>,
    pub writes: Vec<Place>,
    pub flows: Vec<PointerFlow>,
    pub never_returns: bool,
    /// The path may end in it, but by a fault.
    pub may_end: bool,
    /// Control may go where it is not followed.
    pub elsewhere: bool,
    /// The result is assumed not to be null.
    pub not_null: bool,
    /// The result may be null though what goes there is not.
    pub finds: bool,
    /// What the result is assumed to be.
    pub gives: Option<Gives>,
    /// The argument that is the format of a `printf` or `scanf`.
    pub format: Option<u32>,
    /// The row holds only where this argument is never anything but null.
    pub unless: Option<u32>,
    /// Other rows, for calls whose second argument is one of these numbers.
    pub commands: Vec<(Vec<u64>, Summary)>,
}

/// A result that is known where nothing is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Zero,
    /// The argument itself; `unless` that other argument is zero.
    Arg {
        arg: u32,
        unless: Option<u32>,
    },
    /// Some number that is not negative.
    Natural,
}

impl Summary {
    /// The row for calls with this second argument, if they have one of their own.
    pub fn of_command(&self, command: u64) -> Option<&Summary> {
        self.commands.iter().find(|(numbers, _)| numbers.contains(&command)).map(|(_, summary)| summary)
    }

    /// The argument that is the stream the row is about.
    pub fn stream(&self) -> Option<u32> {
        self.writes.iter().chain(&self.reads).find_map(|place| match place {
            Place::Cell(kind, stream) if kind.is_of_stream() => *stream,
            _ => None,
        })
    }

    /// Whether more than its arguments decides if it writes: it may fail, or meet the end of a file.
    pub fn writes_sometimes(&self) -> bool {
        self.writes.iter().chain(&self.reads).any(|place| matches!(place, Place::Errno | Place::Cell(..) | Place::Everything))
    }

    /// Whether it says something of streams, or makes one.
    pub fn is_about_streams(&self) -> bool {
        let of_stream = |place: &Place| matches!(place, Place::Cell(kind, _) if kind.is_of_stream());
        self.writes.iter().chain(&self.reads).any(of_stream)
    }
}

impl Gives {
    /// Whether arguments alone, or nothing, tell the result.
    pub fn is_known(self) -> bool {
        matches!(self, Gives::Zero | Gives::Arg { .. })
    }
}

/// Summaries by name, and by number of system calls.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    functions: BTreeMap<String, Summary>,
    /// Those that hold only where there is no body.
    bodiless: BTreeMap<String, Summary>,
    system_calls: BTreeMap<u64, Summary>,
    /// Those of functions of the program itself, which only a user can vouch for.
    program: BTreeMap<String, Summary>,
    /// A fact that is broken on purpose.
    broken: Option<Broken>,
}

/// The function whose calls are system calls; its first argument is the number.
pub const SYSTEM_CALL: &str = "__wryneck_syscall";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "function", default)]
    functions: Vec<Row<String>>,
    #[serde(rename = "system-call", default)]
    system_calls: Vec<Row<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<Name> {
    #[serde(alias = "numbers")]
    names: Vec<Name>,
    /// The second arguments that the row is about, which belongs to a row above of the same function; empty: it is about all calls.
    #[serde(default)]
    commands: Vec<Spanned<u64>>,
    #[serde(default)]
    reads: Vec<Spanned<String>>,
    #[serde(default)]
    writes: Vec<Spanned<String>>,
    #[serde(default)]
    flows: Vec<Spanned<String>>,
    returns: Option<Returns>,
    gives: Option<Spanned<String>>,
    format: Option<Spanned<String>>,
    unless: Option<Spanned<String>>,
    #[serde(default, rename = "without-body")]
    without_body: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Returns {
    Never,
    Fault,
    Perhaps,
    Elsewhere,
    Object,
    Found,
}

impl Summaries {
    /// Those of libc, of the environment's models and of system calls.
    pub fn builtin() -> Summaries {
        let mut all = Summaries::default();
        all.add(include_str!("summaries.toml")).expect("a test reads the built-in file");
        all
    }

    /// The same, where allocation may fail.
    pub fn with_failing_allocation(mut self) -> Summaries {
        self.functions.values_mut().for_each(|s| (s.not_null, s.gives) = (false, None));
        self
    }

    /// Adds the rows of a file.
    pub fn add(&mut self, text: &str) -> Result<(), Mistake> {
        let file: File = toml::from_str(text).map_err(|e| Mistake::at(text, e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
        for row in &file.functions {
            let summary = row.summary(text)?;
            if let Some(first) = row.commands.first() {
                let numbers: Vec<u64> = row.commands.iter().map(|number| *number.get_ref()).collect();
                for name in &row.names {
                    let all = self.functions.get_mut(name).ok_or_else(|| {
                        let message = format!("these calls of `{name}` have a row, and the others have none above it");
                        Mistake::at(text, first.span().start, message)
                    })?;
                    all.commands.push((numbers.clone(), summary.clone()));
                }
                continue;
            }
            let table = if row.without_body { &mut self.bodiless } else { &mut self.functions };
            table.extend(row.names.iter().map(|name| (name.clone(), summary.clone())));
        }
        for row in &file.system_calls {
            let summary = row.summary(text)?;
            if let Some(first) = row.commands.first() {
                return Err(Mistake::at(text, first.span().start, "`commands` are of functions".into()));
            }
            self.system_calls.extend(row.names.iter().map(|number| (*number, summary.clone())));
        }
        Ok(())
    }

    /// Breaks a fact on purpose. Whether it is one that there is, as far as summaries say.
    pub fn break_fact(&mut self, broken: Broken) -> bool {
        let tables = [&mut self.functions, &mut self.bodiless, &mut self.program].into_iter();
        let mut rows: Vec<&mut Summary> = tables.filter_map(|table| table.get_mut(&broken.function)).collect();
        rows.extend(broken.function.parse().ok().and_then(|number: u64| self.system_calls.get_mut(&number)));
        let mut found = matches!(broken.what, What::Pointer | What::Store | What::Callee);
        for row in rows {
            let length = match broken.what {
                What::Write => &mut row.writes,
                What::Read => &mut row.reads,
                What::Flow => {
                    found |= broken.number < row.flows.len();
                    row.flows = row.flows.iter().enumerate().filter(|(n, _)| *n != broken.number).map(|(_, flow)| *flow).collect();
                    continue;
                }
                What::Pointer | What::Store | What::Callee => continue,
            };
            if broken.number < length.len() {
                length.remove(broken.number);
                found = true;
            }
        }
        self.broken = Some(broken);
        found
    }

    /// The fact that is broken on purpose.
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Adds the rows of a user's file; those of functions hold for the program's own functions too.
    pub fn add_of_program(&mut self, text: &str) -> Result<(), Mistake> {
        let mut more = Summaries::default();
        more.add(text)?;
        self.program.extend(more.functions.clone());
        self.functions.extend(more.functions);
        self.bodiless.extend(more.bodiless);
        self.system_calls.extend(more.system_calls);
        Ok(())
    }

    /// Of one of the program's own functions.
    pub fn of_program(&self, name: &str) -> Option<&Summary> {
        self.program.get(name)
    }

    /// Of a library's function, whether or not it has a body.
    pub fn get(&self, name: &str) -> Option<&Summary> {
        self.functions.get(name)
    }

    /// Of a function without a body, or that is replaced by a model.
    pub fn external(&self, name: &str) -> Option<&Summary> {
        self.functions.get(name).or_else(|| self.bodiless.get(name))
    }

    /// Of a call of [`SYSTEM_CALL`] with this number; one that has no row is one the environment does not have: it fails, which no verdict may rest on.
    pub fn system_call(&self, number: u64) -> &Summary {
        static FAILS: Summary = Summary {
            reads: Vec::new(),
            writes: Vec::new(),
            flows: Vec::new(),
            never_returns: false,
            may_end: false,
            elsewhere: true,
            not_null: false,
            finds: false,
            gives: None,
            format: None,
            unless: None,
            commands: Vec::new(),
        };
        self.system_calls.get(&number).unwrap_or(&FAILS)
    }

    /// Of a call of a function without a body, or replaced by a model; `number` is the first argument, if it is known.
    pub fn of_call(&self, name: &str, number: Option<u64>) -> Option<&Summary> {
        match number {
            Some(number) if name == SYSTEM_CALL => Some(self.system_call(number)),
            _ => self.external(name),
        }
    }

    /// The names that have a summary.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Leaves out the rows of functions for which `keep` does not hold, but for the user's.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Summary) -> bool) {
        let program = &self.program;
        self.functions.retain(|name, summary| program.contains_key(name) || keep(name, summary));
    }
}

impl<Name> Row<Name> {
    fn summary(&self, text: &str) -> Result<Summary, Mistake> {
        let places = |words: &[Spanned<String>]| {
            let place = |word: &Spanned<String>| {
                parse_place(word.get_ref()).ok_or_else(|| {
                    let message =
                        format!("`{}` is no place: expected one such as `result`, `*arg0`, `input(arg1)` or `files`", word.get_ref());
                    Mistake::at(text, word.span().start, message)
                })
            };
            words.iter().map(place).collect::<Result<Vec<Place>, Mistake>>()
        };
        let flow = |words: &Spanned<String>| {
            let flow = words.get_ref().split_once(" = ").and_then(|(to, from)| {
                let (to, from) = (parse_holder(to)?, parse_holder(from)?);
                let sensible = !matches!(to, Holder::New | Holder::Outside | Holder::Mapped | Holder::Arg(_) | Holder::Into(_))
                    && from != Holder::Result;
                sensible.then_some(PointerFlow { to, from })
            });
            flow.ok_or_else(|| {
                let message = format!(
                    "`{}` is no way of a pointer: expected one such as `result = arg0`, `result = arg0 + n` or `*arg0 = new`",
                    words.get_ref()
                );
                Mistake::at(text, words.span().start, message)
            })
        };
        let gives = |words: &Spanned<String>| {
            parse_gives(words.get_ref()).ok_or_else(|| {
                let message = format!("`{}` is no result: expected `zero`, `natural`, `arg2` or `arg2 unless arg1 = 0`", words.get_ref());
                Mistake::at(text, words.span().start, message)
            })
        };
        let number = |words: &Spanned<String>| {
            let message = || format!("`{}` is no argument: expected one such as `arg1`", words.get_ref());
            argument(words.get_ref()).ok_or_else(|| Mistake::at(text, words.span().start, message()))
        };
        Ok(Summary {
            reads: places(&self.reads)?,
            writes: places(&self.writes)?,
            flows: self.flows.iter().map(flow).collect::<Result<_, _>>()?,
            never_returns: matches!(self.returns, Some(Returns::Never | Returns::Fault)),
            may_end: matches!(self.returns, Some(Returns::Never | Returns::Perhaps | Returns::Elsewhere)),
            elsewhere: self.returns == Some(Returns::Elsewhere),
            not_null: self.returns == Some(Returns::Object),
            finds: self.returns == Some(Returns::Found),
            gives: self.gives.as_ref().map(gives).transpose()?,
            format: self.format.as_ref().map(number).transpose()?,
            unless: self.unless.as_ref().map(number).transpose()?,
            commands: Vec::new(),
        })
    }
}

fn argument(text: &str) -> Option<u32> {
    text.strip_prefix("arg").and_then(|n| n.parse().ok())
}

fn parse_gives(words: &str) -> Option<Gives> {
    match words.split_once(" unless ") {
        None if words == "zero" => Some(Gives::Zero),
        None if words == "natural" => Some(Gives::Natural),
        None => Some(Gives::Arg { arg: argument(words)?, unless: None }),
        Some((arg, unless)) => Some(Gives::Arg { arg: argument(arg)?, unless: Some(argument(unless.strip_suffix(" = 0")?)?) }),
    }
}

fn parse_holder(word: &str) -> Option<Holder> {
    if let Some(word) = word.strip_suffix(" + n") {
        return argument(word).map(Holder::Into);
    }
    match (word, word.strip_prefix('*')) {
        ("new", _) => Some(Holder::New),
        ("outside", _) => Some(Holder::Outside),
        ("mapped", _) => Some(Holder::Mapped),
        ("handlers", _) => Some(Holder::Handlers),
        ("files", _) => Some(Holder::Files),
        ("result", _) => Some(Holder::Result),
        (_, Some("result")) => Some(Holder::InResult),
        (_, Some(rest)) => argument(rest).map(Holder::In),
        (_, None) => argument(word).map(Holder::Arg),
    }
}

fn parse_place(word: &str) -> Option<Place> {
    if let Some(rest) = word.strip_prefix("**") {
        return argument(rest).map(Place::Reachable);
    }
    if let Some(rest) = word.strip_prefix('*') {
        return argument(rest).map(Place::Memory);
    }
    match word {
        "result" => return Some(Place::Result),
        "errno" => return Some(Place::Errno),
        "everything" => return Some(Place::Everything),
        "new descriptor" => return Some(Place::NewDescriptor),
        _ => {}
    }
    let (name, key) = match word.strip_suffix(')').and_then(|w| w.split_once('(')) {
        Some((name, key)) => (name, Some(argument(key)?)),
        None => (word, None),
    };
    let cell = CellKind::NAMES.iter().find(|(n, _, keyed)| *n == name && (*keyed || key.is_none()));
    match (cell, name, key) {
        (Some((_, kind, _)), _, _) => Some(Place::Cell(*kind, key)),
        (None, "written", Some(arg)) => Some(Place::Written(arg)),
        (None, "standard", Some(arg)) => Some(Place::Standard(arg)),
        (None, _, _) => argument(word).map(Place::Arg),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_file_is_read() {
        let all = Summaries::builtin();
        assert_eq!(all.get("ferror").map(|s| s.reads.clone()), Some(vec![Place::Arg(0), Place::Cell(CellKind::StreamError, Some(0))]));
        assert!(all.get("abort").is_some_and(|s| s.never_returns));
        assert_eq!(all.get("exit"), None, "exit handlers are the program's");
    }

    #[test]
    fn calls_with_some_second_arguments_have_rows_of_their_own() {
        let fcntl = Summaries::builtin().get("fcntl").cloned().expect("it has a row");
        assert!(fcntl.of_command(3).is_some_and(|get| !get.writes.contains(&Place::NewDescriptor)) && fcntl.of_command(0).is_none());
        let mistake = |text: &str| Summaries::default().add(text).expect_err("the others have no row").to_string();
        assert!(mistake("[[function]]\nnames = [\"ioctl\"]\ncommands = [1]").contains("`ioctl`"));
        assert!(mistake("[[system-call]]\nnumbers = [72]\ncommands = [1]").contains("`commands`"));
    }

    #[test]
    fn every_system_call_of_the_environment_and_every_model_has_a_row() {
        let all = Summaries::builtin();
        let rows = |text: &'static str| text.lines().filter_map(|line| line.trim().strip_suffix(';').map(str::to_owned));
        let mut count = 0;
        for row in rows(include_str!("../../../environ/src/sys/mod.rs")) {
            if let Some((Ok(number), _)) = row.split_once(" \"").map(|(number, rest)| (number.parse::<u64>(), rest)) {
                assert!(all.system_calls.contains_key(&number), "{row}");
                count += 1;
            }
        }
        for row in rows(include_str!("../../../environ/src/models.rs")) {
            if let Some((name, _)) = row.strip_prefix('"').and_then(|row| row.split_once("\" (")) {
                assert!(all.external(name).is_some(), "{row}");
                count += 1;
            }
        }
        assert!(count > 200, "the tables are found: {count}");
    }

    #[test]
    fn rows_of_the_user_win_and_mistakes_have_their_place() {
        let mut all = Summaries::builtin();
        all.add("[[function]]\nnames = [\"abort\", \"f\"]\nwrites = [\"**arg2\"]\n").expect("a good file");
        assert_eq!(all.get("abort"), all.get("f"));
        assert_eq!(all.get("f").map(|s| s.writes.clone()), Some(vec![Place::Reachable(2)]));
        let wrong = all.add("[[function]]\nnames = [\"f\"]\nwrites = [\"result\", \"files(arg0)\"]\n").expect_err("files have no key");
        assert_eq!((wrong.line, wrong.column), (3, 21), "{wrong}");
        assert!(all.add("[[function]]\nnames = [\"f\"]\nreturns = \"always\"\n").is_err());
    }
}
