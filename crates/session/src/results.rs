//! From the engine's results to plain data: classes of path ends, findings by place and kind, the ledger.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use wryneck_exec::prefix::Prefix;
use wryneck_exec::{CodePos, Core, Ended, Fault, FaultKind, Image, Ledger, LedgerKind, PathEnd, SourcePos, places};
use wryneck_expr::Model;
use wryneck_machine::MachineProgram;
use wryneck_report::{Class, CodeLine, EndCount, Finding, InputValue, Kind, LOSSES, LedgerRow, Place};
use wryneck_verify::checker::Happened;

use crate::folder::Numbered;
use crate::report::Shown;
use crate::symbolic::is_of_working_call;
use crate::{folder, source};

/// The class of an end, and what it is within its class.
pub fn class(end: &PathEnd) -> (Class, Arc<str>) {
    match end {
        PathEnd::Exit(status) => (Class::Exit, status.to_string().into()),
        PathEnd::Fault(fault) => (Class::Fault, fault.kind.id().into()),
        PathEnd::Assumed => (Class::Assumed, "".into()),
        PathEnd::Unsupported(what) => (Class::Unsupported, what.as_str().into()),
        PathEnd::Limit(limit) => (Class::Limit, limit.name_and_flag().0.into()),
        PathEnd::Internal(what) => (Class::Internal, what.as_str().into()),
    }
}

/// Counts of ends.
#[derive(Default)]
pub struct Ends(BTreeMap<(Class, Arc<str>), u64>);

impl Ends {
    pub fn add(&mut self, class: Class, what: &Arc<str>) {
        *self.0.entry((class, what.clone())).or_default() += 1;
    }

    /// Classes in their order, then by count.
    pub fn rows(&self) -> Vec<EndCount> {
        let mut rows: Vec<_> =
            self.0.iter().map(|((class, what), count)| EndCount { class: *class, what: what.to_string(), count: *count }).collect();
        rows.sort_by(|a, b| a.class.cmp(&b.class).then(b.count.cmp(&a.count)));
        rows
    }
}

/// A place of a function in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InSource {
    file: String,
    line: u32,
    /// 0 in executables: optimised code has one operation at several columns.
    column: u32,
    function: String,
}

/// Where a finding is: its kind, its place in the source, and a hash of its story.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceKey(String, Vec<InSource>, u64);

/// A path that can be run again.
pub struct Way {
    /// Where the defect is, innermost first.
    pub at: Vec<CodePos>,
    pub prefix: Prefix,
    pub model: Model,
    pub instructions: u64,
}

/// Something wrong that a path showed.
pub struct Defect<'a> {
    /// The kind's name.
    pub id: Rc<str>,
    pub cwe: u16,
    pub message: String,
    /// Where, innermost first.
    pub at: &'a [CodePos],
    /// The events that led there; a fault has none.
    pub story: &'a [Happened],
}

impl Defect<'_> {
    pub fn fault<'a>(fault: &Fault, at: &'a [CodePos]) -> Defect<'a> {
        Defect { id: fault.kind.id().into(), cwe: fault.kind.cwe(), message: fault.message.clone(), at, story: &[] }
    }

    /// Whether it is an exception or a panic, which ends in the library that throws, or what a library aborts by.
    fn is_thrown(&self) -> bool {
        [FaultKind::Abort, FaultKind::Panic, FaultKind::Uncaught].iter().any(|kind| *self.id == *kind.id())
    }

    /// The same, on a path that continued after a recovered fault.
    pub fn behind_another(mut self) -> Self {
        self.message += "; behind another fault";
        self
    }
}

/// What the paths of one worker showed, by the code where it happened: its numbers.
pub struct Seen {
    /// By number: how the first path came there.
    pub ways: Vec<Way>,
    /// Names the instructions of machine code.
    pub machine: Option<Rc<RefCell<MachineProgram>>>,
    by_code: BTreeMap<(Rc<str>, Vec<CodePos>, u64), u32>,
}

impl Seen {
    pub fn new(machine: Option<Rc<RefCell<MachineProgram>>>) -> Seen {
        Seen { ways: Vec::new(), machine, by_code: BTreeMap::new() }
    }

    /// Takes in a defect that a path showed.
    pub fn add(&mut self, core: &Core, defect: Defect<'_>, ended: &Ended) -> Shown {
        let image = &core.image;
        let what = distinct(&defect);
        let code = (what.clone(), key_frames(image, &defect), story(core, defect.story, &mut |pos, h| pos.hash(h)));
        let next = self.ways.len() as u32;
        let place = || {
            let innermost = |&pos: &CodePos| places::source(image, pos).into_iter().next();
            let in_source = |s: SourcePos| {
                let column = if self.machine.is_some() { 0 } else { s.column };
                InSource { file: s.file, line: s.line, column, function: s.function }
            };
            let places = code.1.iter().filter_map(innermost).map(in_source).collect();
            let told = story(core, defect.story, &mut |pos, h| places::source(image, pos).iter().for_each(|s| (&s.file, s.line).hash(h)));
            PlaceKey(what.to_string(), places, told)
        };
        if let Some(&number) = self.by_code.get(&code) {
            return Shown { number, first: None };
        }
        let place = place();
        self.by_code.insert(code, next);
        let at = defect.at.to_vec();
        let code = self.machine.as_ref().map(|machine| disassembled(&machine.borrow(), image, defect.at)).unwrap_or_default();
        let finding = Finding { code, ..finding(image, defect, ended) };
        self.ways.push(Way { at, prefix: ended.prefix.clone(), model: ended.model.clone(), instructions: ended.instructions });
        Shown { number: next, first: Some(Box::new((finding, place))) }
    }
}

/// Findings, one per kind, place and story. The place is the innermost frame together with the innermost one of the application, so that two
/// misuses of one library function are two findings.
#[derive(Default)]
pub struct Findings {
    pub all: Vec<Finding>,
    /// The worker of the first path of each, and its number there.
    pub shown_by: Vec<(u32, u32)>,
    /// Indices of those that have changed since they were last taken.
    changed: BTreeSet<usize>,
    by_number: FxHashMap<(u32, u32), usize>,
    by_place: BTreeMap<PlaceKey, usize>,
}

impl Findings {
    /// Takes in what a path of a worker showed; whether it is the first of its finding, and the finding's index. `None`: the worker has never told what
    /// its number is.
    pub fn add(&mut self, worker: u32, shown: Shown) -> Option<(bool, usize)> {
        let number = (worker, shown.number);
        let known = match shown.first {
            None => *self.by_number.get(&number)?,
            Some(first) => {
                let (finding, place) = *first;
                let next = self.all.len();
                let index = *self.by_place.entry(place).or_insert(next);
                self.by_number.insert(number, index);
                if index == next {
                    self.changed.insert(index);
                    self.all.push(finding);
                    self.shown_by.push(number);
                    return Some((true, index));
                }
                index
            }
        };
        self.all[known].count += 1;
        self.changed.insert(known);
        Some((false, known))
    }

    /// Counts paths of an earlier run that showed a finding.
    pub fn count_earlier(&mut self, index: usize, paths: u64) {
        self.all[index].count += paths;
        self.changed.insert(index);
    }

    /// Those that have changed since the last time, with their numbers.
    pub fn take_changed(&mut self) -> Vec<Numbered> {
        std::mem::take(&mut self.changed).into_iter().map(|index| (index as i64 + 1, self.all[index].clone())).collect()
    }

    /// Notes that all have changed.
    pub fn all_changed(&mut self) {
        self.changed = (0..self.all.len()).collect();
    }

    /// The test that shows a finding.
    pub fn set_test(&mut self, index: usize, number: u64) {
        self.all[index].test = Some(folder::test_name(number));
    }
}

/// What kind of defect it is, as far as two at one place are two. Optimised code throws several types at one place.
fn distinct(defect: &Defect<'_>) -> Rc<str> {
    if *defect.id == *FaultKind::Uncaught.id() { defect.message.as_str().into() } else { defect.id.clone() }
}

/// What tells violations of one kind at one place apart: the events that led there, with their call stacks (paper 1, section 6), of which
/// `position` hashes the places. The same code may be there twice, so places in the source decide in the end.
fn story(core: &Core, events: &[Happened], position: &mut dyn FnMut(CodePos, &mut FxHasher)) -> u64 {
    let mut h = FxHasher::default();
    for happened in events {
        (&happened.event, &happened.function).hash(&mut h);
        core.stacks.get(happened.stack).iter().for_each(|pos| position(*pos, &mut h));
    }
    h.finish()
}

/// The innermost frame and that of the program. Of what is thrown, the program's alone: all of it ends in the library that throws.
fn key_frames(image: &Image, defect: &Defect<'_>) -> Vec<CodePos> {
    let stack = defect.at;
    if let Some(own) = defect.is_thrown().then(|| stack.iter().find(|pos| places::is_own(image, **pos))).flatten() {
        return vec![*own];
    }
    let application = stack.iter().position(|pos| !places::in_library(image, *pos)).unwrap_or(0);
    let mut frames = vec![stack.first().copied().unwrap_or_default()];
    frames.extend(stack.get(application).filter(|_| application > 0));
    frames
}

fn finding(image: &Image, defect: Defect<'_>, ended: &Ended) -> Finding {
    let mut stack = stack(image, defect.at);
    if defect.is_thrown() {
        stack = from_own(image, defect.at).unwrap_or(stack);
    }
    let source_line = source::line(&stack[0].file, stack[0].line);
    Finding {
        kind: Kind { id: defect.id.to_string(), cwe: defect.cwe },
        message: defect.message,
        stack,
        inputs: inputs(ended).into_iter().filter(|i| !is_of_working_call(i.name.as_bytes(), &i.bytes)).collect(),
        count: 1,
        test: None,
        source_line,
        code: Vec::new(),
        variables: Vec::new(),
        native: None,
        steps: Vec::new(),
    }
}

/// A call stack as places, from the innermost one of the program's own code: what a library does to throw or panic tells nothing.
fn from_own(image: &Image, at: &[CodePos]) -> Option<Vec<Place>> {
    let own = at.iter().position(|pos| places::is_own(image, *pos))?;
    let all = stack(image, &at[own..]);
    let first = all.iter().position(|place| !places::is_of_toolchain(&place.file))?;
    Some(all[first..].to_vec())
}

/// Instructions shown before the fault's, and after it.
const AROUND: (usize, usize) = (5, 3);

/// The instructions around the innermost place of a stack that is in machine code, if that has no debug information.
fn disassembled(machine: &MachineProgram, image: &Image, stack: &[CodePos]) -> Vec<CodeLine> {
    let Some(&pos) = stack.iter().find(|pos| image.is_machine_code(pos.func)) else { return Vec::new() };
    let known = places::source(image, pos).iter().any(|source| !source.file.is_empty());
    let Some(here) = machine.address_of(places::instruction(image, pos)).filter(|_| !known) else { return Vec::new() };
    let lines = machine.disassembled(here, AROUND.0, AROUND.1);
    lines.into_iter().map(|l| CodeLine { address: l.address, place: l.place, text: l.text, here: l.address == here }).collect()
}

/// The call stack as places, innermost first, without the frames that begin a program. Never empty.
pub fn stack(image: &Image, stack: &[CodePos]) -> Vec<Place> {
    let last = stack.iter().rposition(|pos| !places::in_library(image, *pos)).unwrap_or(stack.len().saturating_sub(1));
    let mut places: Vec<Place> = stack.iter().take(last + 1).flat_map(|&pos| places::source(image, pos)).map(place).collect();
    // What calls Rust's `main`: C's, which has no lines, and the standard library.
    let came_along = |place: &Place| places::is_of_toolchain(&place.file);
    if places.last().is_some_and(|last| last.file.is_empty())
        && places.iter().any(came_along)
        && let Some(main) = places.iter().rposition(|place| !place.file.is_empty() && !came_along(place))
    {
        places.truncate(main + 1);
    }
    if places.is_empty() {
        places.push(Place::default());
    }
    places
}

/// A source position as plain data.
pub fn place(s: SourcePos) -> Place {
    Place { function: s.function, file: s.file, line: s.line, column: s.column }
}

/// The inputs of a path under its model, in the order they were made.
pub fn inputs(ended: &Ended) -> Vec<InputValue> {
    ended.given().into_iter().map(|(name, bytes)| InputValue { name, bytes }).collect()
}

/// The name of a kind of entry, and the flag that changes it.
fn ledger_kind(kind: LedgerKind) -> (&'static str, &'static str) {
    match kind {
        LedgerKind::UndefinedFunction => ("undefined-function", "--undefined error"),
        LedgerKind::UnknownSystemCall => ("unknown-system-call", ""),
        LedgerKind::FailedModel => ("failed-model", ""),
        LedgerKind::UnsupportedInstruction => ("unsupported-instruction", ""),
        LedgerKind::UnsupportedOperation => ("unsupported-operation", ""),
        LedgerKind::Concretisation => ("concretisation", ""),
        LedgerKind::DroppedFlip => ("dropped-flip", "--max-forks, --max-memory"),
        LedgerKind::ThreadOrder => ("thread-order", "--schedules"),
        LedgerKind::SolverTimeout => ("solver-timeout", "--solver-timeout, --solver"),
        LedgerKind::Assumption => ("assumption", ""),
        LedgerKind::ContradictedFact => ("contradicted-fact", "--no-prune"),
        LedgerKind::Limit => ("limit", "--max-resolutions, --max-memory"),
        LedgerKind::Warning => ("warning", ""),
    }
}

/// The engine's ledger, and what the lowering left out.
pub fn ledger(ledger: &Ledger, notes: &[String]) -> Vec<LedgerRow> {
    let row = |kind, what: &str, count| {
        let (name, flag) = ledger_kind(kind);
        debug_assert_eq!(LOSSES.contains(&name), kind.loses(), "the report's list of losses agrees with the engine's");
        LedgerRow { kind: name.into(), what: what.into(), count, flag: flag.into() }
    };
    let mut rows: Vec<_> = ledger.rows.iter().map(|((kind, what), count)| row(*kind, what, *count)).collect();
    rows.extend(notes.iter().map(|note| row(LedgerKind::Warning, note, 1)));
    rows
}
