//! The trait of a rule (paper 1, section 4, `Checker`).
//!
//! Rule files implement it by [`crate::automaton`], Rust code by [`crate::unchecked`]; `builtin.rs` lists both. The paper's `OnExecution`
//! is split in two, because a fork runs its operation again: [`Checker::events`] reads and decides, [`Checker::learn`] changes.
//! `MayBeEvent` is a list of names, which the image resolves once, so the static analysis runs no code of a rule. The paper's `Clone` is
//! that of the rule's [`PathData`].

use std::collections::BTreeSet;
use std::fmt;
use std::ops::BitOrAssign;
use std::rc::Rc;

use wryneck_exec::stacks::StackId;
use wryneck_exec::{CodePos, Cx, PathData, Stop, Value};

use crate::names::Text;

/// A rule, as the machinery around it sees it.
pub trait Checker {
    fn about(&self) -> &About;
    /// The functions whose calls may be events. No other call is one.
    fn functions(&self) -> Vec<&str>;
    /// The parts of a call of this function that determine its events: the paper's `evmask`.
    fn operands(&self, function: &str) -> Operands;
    /// The pointers for which calls of this function are events, if not for all.
    fn pointers(&self, _function: &str) -> Option<Pointers> {
        None
    }
    /// The name of an event, by its index.
    fn event_name(&self, event: usize) -> &str;
    /// Whether every event is a violation. Then a path without events keeps the rule, if the program has may-events.
    fn wants_no_event(&self) -> bool {
        false
    }
    /// The rule's data at a path's start. It forks with the state.
    fn start(&self) -> Rc<dyn PathData>;
    /// The events of a call, in order; usually none or one. May read memory, decide and concretise. Changes
    /// nothing.
    fn events(&self, call: &Shown<'_>, known: &dyn PathData, cx: &mut Cx<'_>) -> Result<Vec<Occurrence>, Stop>;
    /// Whether a call with these arguments may be an event for some result. Asks nothing; if unsure, it may.
    fn concerns(&self, _call: &Shown<'_>, _known: &dyn PathData) -> bool {
        true
    }
    /// An event happens: updates the rule's data, and returns what the event breaks. Asks nothing.
    fn learn(&self, event: &Occurrence, here: Here<'_>, known: &mut dyn PathData) -> Learned;
    /// The program ends: returns the instances that are left and should not be.
    fn at_exit(&self, known: &dyn PathData) -> Vec<Wrong>;
    /// Describes the rule for people.
    fn explain(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// The description of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub id: String,
    /// What must hold, in a line.
    pub summary: String,
    /// Common Weakness Enumeration number.
    pub cwe: u16,
    pub severity: Severity,
    /// What an instance is, in a word: `stream`.
    pub instance: String,
    /// Notes; may be empty.
    pub notes: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Call,
    Return,
}

/// A value of a call, of `width` bits (at most 64; of a wider value the lowest bits).
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub value: Value,
    pub width: u32,
}

impl Word {
    /// A constant's bits in `mask`, as a signed number of its width.
    pub fn constant(self, mask: Option<u64>) -> Option<i64> {
        let Value::Bits(bits) = self.value else { return None };
        let unused = 64 - self.width.clamp(1, 64);
        Some((((bits & mask.unwrap_or(u64::MAX)) << unused) as i64) >> unused)
    }
}

/// A call as rules see it.
pub struct Shown<'a> {
    pub at: At,
    /// The names that rules have for the function called.
    pub names: &'a [Rc<str>],
    pub args: &'a [Word],
    /// At the return.
    pub result: Option<Word>,
    /// The call.
    pub pos: CodePos,
}

/// Parts of a call. Memory that arguments point to belongs to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Bit `i`: argument `i`.
    pub args: u32,
    pub result: bool,
}

impl BitOrAssign for Operands {
    fn bitor_assign(&mut self, other: Operands) {
        self.args |= other.args;
        self.result |= other.result;
    }
}

/// Calls are events only if an argument is a pointer that an earlier call of certain functions returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointers {
    pub arg: u32,
    /// They are events for a null pointer, too.
    pub null: bool,
    /// The functions.
    pub makers: BTreeSet<String>,
}

impl Pointers {
    /// The union of both; `None`: calls are events for any pointer.
    pub fn or(mut self, other: Pointers) -> Option<Pointers> {
        self.null |= other.null;
        self.makers.extend(other.makers);
        (self.arg == other.arg).then_some(self)
    }
}

/// What identifies an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Number(u64),
    Text(Rc<[u8]>),
    /// A symbolic string, by its number on the path.
    Symbolic(u32),
}

/// A key in a name space: an instance may be known as a path, as streams and as descriptors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// 0 is the space of what the rule is about.
    pub space: u8,
    pub key: Key,
}

/// An event of a call, with all that was decided about it.
#[derive(Clone, Debug, Default)]
pub struct Occurrence {
    /// Index among the checker's events.
    pub event: usize,
    /// The instance it happens to, if the event has a key.
    pub key: Option<Name>,
    /// Further names that the instance gets, and names that it loses.
    pub gains: Vec<Name>,
    pub loses: Vec<Name>,
    /// Symbolic strings that the names above are the first to have, by their numbers.
    pub texts: Vec<(u32, Text)>,
}

/// Where an event happens.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// The function called.
    pub function: &'a Rc<str>,
    pub stack: StackId,
}

/// The effect of an event.
#[derive(Debug, Default)]
pub struct Learned {
    /// The instance, numbered from 1 in the order of first events on the path; 0 if the event concerns none in particular. `None`: it was no event,
    /// because it concerns an unknown instance.
    pub instance: Option<u32>,
    pub wrong: Vec<Wrong>,
}

/// A step in the life of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Happened {
    pub event: Rc<str>,
    /// The function called.
    pub function: Rc<str>,
    /// Where, innermost first.
    pub stack: StackId,
}

/// A rule is broken.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What is wrong, without the place.
    pub message: String,
    /// The place of the last event, or for a violation at exit that of the instance's first.
    pub stack: StackId,
    /// The events of the instance so far, each once.
    pub trail: Rc<Vec<Happened>>,
}
