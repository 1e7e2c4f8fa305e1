//! What a rule is: events, and an automaton over them for each instance.

use std::collections::BTreeMap;
use std::fmt;

/// A systems rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: String,
    /// What must hold, in a line.
    pub summary: String,
    /// Common Weakness Enumeration number.
    pub cwe: u16,
    pub severity: Severity,
    /// What an instance is, in a word: `stream`.
    pub instance: String,
    pub events: Vec<Event>,
    /// The first is where an instance is before its first event.
    pub states: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// Calls that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub at: At,
    /// Names of functions.
    pub functions: Vec<String>,
    /// What tells instances apart; without it the rule has one instance.
    pub key: Option<Operand>,
    /// All must hold.
    pub when: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Call,
    Return,
}

/// A value of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Result,
    /// An argument, the first is 0.
    Arg(u32),
    /// The pointer that an argument points to.
    At(u32),
}

/// `operand == value` or `operand != value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    pub operand: Operand,
    pub equal: bool,
    pub value: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub name: String,
    /// By the event's name; events that are not here change nothing.
    pub steps: BTreeMap<String, Step>,
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

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Result => f.write_str("result"),
            Operand::Arg(i) => write!(f, "arg{i}"),
            Operand::At(i) => write!(f, "*arg{i}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.operand, if self.equal { "==" } else { "!=" }, self.value)
    }
}
