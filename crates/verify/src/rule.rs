//! The contents of a rule file: events, and the automaton of an instance.

use std::collections::BTreeMap;
use std::fmt;

use crate::checker::{About, At, Operands};

/// A systems rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub about: About,
    pub events: Vec<Event>,
    /// Indices of events, by function.
    pub by_function: BTreeMap<String, Vec<usize>>,
    /// Names of the name spaces. The first is that of the instances themselves and has none.
    pub spaces: Vec<String>,
    /// The first is where an instance is before its first event.
    pub states: Vec<State>,
    /// What is one instance to a thread is another one to the next: who holds a lock.
    pub per_thread: bool,
}

/// Calls that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub at: At,
    /// Names of functions.
    pub functions: Vec<String>,
    pub whose: Whose,
    /// Further names that the instance gets.
    pub gains: Vec<Naming>,
    pub loses: Vec<Lost>,
    /// All must hold.
    pub when: Vec<Condition>,
}

/// The instance that an event happens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The rule has one.
    Only,
    /// All that are known.
    Every,
    /// The one of this name. A name of the first space is always somebody's, others must have been given.
    Named(Naming),
}

/// A name: what an operand is in a name space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    pub space: u8,
    pub operand: Operand,
}

/// Names that an instance loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    Name(Naming),
    /// All it has in a space.
    Space(u8),
}

/// A value of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Result,
    /// An argument, the first is 0.
    Arg(u32),
    /// The pointer that an argument points to.
    At(u32),
    /// An `int` of the array that an argument points to.
    Int(u32, u32),
    /// The string that an argument points to.
    Text(u32),
    /// As `Text`, a file name: without `./` and repeated slashes.
    Path(u32),
    /// The value of a pointer that is a global variable.
    Global(String),
}

/// What must hold of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Of the operand, or its bits in `mask`; as signed numbers of its width.
    Compare { operand: Operand, mask: Option<u64>, relation: Relation, value: i64 },
    /// The string has one of these characters, or none of them.
    Has { text: Operand, any: bool, of: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub name: String,
    /// By the event's name; events that are not here change nothing.
    pub steps: BTreeMap<String, Step>,
    /// An instance's life ends here; the next step begins another.
    pub end: bool,
    /// What is wrong with an instance that is in this state when the program exits.
    pub at_exit: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the state of this number.
    To(usize),
    /// A violation, and what is wrong; the instance stays in its state.
    Error(String),
}

impl Relation {
    /// Every relation, as it is written.
    pub const ALL: [(&'static str, Relation); 6] = [
        ("==", Relation::Equal),
        ("!=", Relation::NotEqual),
        ("<", Relation::Less),
        ("<=", Relation::AtMost),
        (">", Relation::Greater),
        (">=", Relation::AtLeast),
    ];

    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::Greater => left > right,
            Relation::AtLeast => left >= right,
        }
    }
}

impl Operand {
    fn mark(&self, operands: &mut Operands) {
        match self {
            Operand::Result => operands.result = true,
            Operand::Global(_) => {}
            Operand::Arg(i) | Operand::At(i) | Operand::Int(i, _) | Operand::Text(i) | Operand::Path(i) => {
                operands.args |= 1_u32.checked_shl(*i).unwrap_or(0);
            }
        }
    }
}

impl Event {
    /// What decides whether and to whom it happens.
    pub fn operands(&self) -> Operands {
        let mut all = Operands::default();
        let lost = self.loses.iter().filter_map(|lost| match lost {
            Lost::Name(naming) => Some(naming),
            Lost::Space(_) => None,
        });
        let whose = match &self.whose {
            Whose::Named(naming) => Some(naming),
            Whose::Only | Whose::Every => None,
        };
        whose.into_iter().chain(&self.gains).chain(lost).for_each(|naming| naming.operand.mark(&mut all));
        for condition in &self.when {
            let (Condition::Compare { operand, .. } | Condition::Has { text: operand, .. }) = condition;
            operand.mark(&mut all);
        }
        all
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Result => f.write_str("result"),
            Operand::Arg(i) => write!(f, "arg{i}"),
            Operand::At(i) => write!(f, "*arg{i}"),
            Operand::Int(i, index) => write!(f, "arg{i}[{index}]"),
            Operand::Text(i) => write!(f, "text arg{i}"),
            Operand::Path(i) => write!(f, "path arg{i}"),
            Operand::Global(name) => write!(f, "global {name}"),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Relation::ALL.iter().find(|(_, r)| r == self).map_or("", |(text, _)| text))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Compare { operand, mask: None, relation, value } => write!(f, "{operand} {relation} {value}"),
            Condition::Compare { operand, mask: Some(mask), relation, value } => write!(f, "{operand} & {mask:#x} {relation} {value:#x}"),
            Condition::Has { text, any: true, of } => write!(f, "{text} has {of}"),
            Condition::Has { text, any: false, of } => write!(f, "{text} lacks {of}"),
        }
    }
}
