//! Backends: decision procedures over our expressions, each a row of [`BACKENDS`].
//!
//! A backend sees expressions, not a vendor's terms, so it may translate as it likes and remember translations between calls.
use wryneck_expr::{ExprId, Pool, SymId};

use crate::answer::Why;
use crate::budget::Budget;
use crate::config::Config;

pub(crate) mod bitblast;
pub mod smtlib_process;

pub use smtlib_process::SmtlibProcess;

/// Decides conjunctions.
pub trait Backend {
    /// Are these 1-bit expressions satisfiable together? Everything above its budget is [`Verdict::Unknown`]; it never panics.
    fn check(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Verdict;

    /// The pool was compacted: no expression means what it meant.
    fn forget(&mut self);

    /// Work done since the backend was made.
    fn effort(&self) -> Effort;

    /// Bytes held, about.
    fn memory(&self) -> usize;
}

/// What a backend says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Values of the symbols the assertions depend on; a symbol left out may have any value.
    Sat(Vec<(SymId, u64)>),
    /// The assertions at these positions, ascending, are unsatisfiable together.
    Unsat(Vec<usize>),
    Unknown(Why),
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Calls of the solver underneath.
    pub calls: u64,
    pub conflicts: u64,
    /// Gates made by bit-blasting.
    pub gates: u64,
    /// Gates that were given clauses.
    pub clauses: u64,
    /// Literals that the SAT solver propagated.
    pub propagations: u64,
    /// How often the and-inverter graph, or the process, started afresh.
    pub restarts: u64,
}

/// A row of [`BACKENDS`].
pub struct Row {
    pub name: &'static str,
    pub help: &'static str,
    kind: RowKind,
}

enum RowKind {
    Bitblast,
    /// A program and its arguments.
    Process(&'static [&'static str]),
}

// One more backend: a row here, sorted by name, its package among those that ./test installs, and for a new kind a file; `tests/conformance.rs` then compares it with brute force on all
// operators at widths 1 to 8, under exhausted budgets, and re-solves its cores.
pub static BACKENDS: &[Row] = &[
    Row { name: "bitblast", help: "and-inverter graph and CaDiCaL, in process", kind: RowKind::Bitblast },
    Row { name: "cvc5", help: "the process `cvc5`", kind: RowKind::Process(&["cvc5", "--incremental", "--lang=smt2"]) },
    Row { name: "z3", help: "the process `z3`", kind: RowKind::Process(&["z3", "-in"]) },
];

/// No backend has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no solver backend is called `{0}`")]
pub struct UnknownBackend(pub String);

/// The row of that name.
pub fn by_name(name: &str) -> Result<&'static Row, UnknownBackend> {
    BACKENDS.iter().find(|row| row.name == name).ok_or_else(|| UnknownBackend(name.to_owned()))
}

impl Row {
    /// A backend of this kind. A process is started when it is first asked.
    pub fn make(&self, config: &Config) -> Box<dyn Backend> {
        match self.kind {
            RowKind::Bitblast => Box::new(bitblast::Bitblast::new(config)),
            RowKind::Process(command) => Box::new(SmtlibProcess::new(command.iter().map(|&word| word.to_owned()).collect())),
        }
    }

    /// The program that has to be installed, if any.
    pub fn program(&self) -> Option<&'static str> {
        match self.kind {
            RowKind::Bitblast => None,
            RowKind::Process(command) => command.first().copied(),
        }
    }
}
