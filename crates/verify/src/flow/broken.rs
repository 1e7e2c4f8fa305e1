//! Deliberate faults in the static analysis, one at a time. A test injects them to see whether the checks of the static analysis find them:
//! - `write:NAME:N`, `read:NAME:N` and `flow:NAME:N` leave out row N of a function's summary;
//! - `pointer:NAME:N` leaves out pointer constraint N of a function;
//! - `store:NAME:N` leaves out what the Nth store of a function writes;
//! - `callee:NAME:N` leaves out the effects of the Nth call in a function.
//!
//! A run has no such fault unless it asks for one.

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Write,
    Read,
    Flow,
    Pointer,
    Store,
    Callee,
}

/// The kinds by their names.
const KINDS: [(&str, What); 6] = [
    ("write", What::Write),
    ("read", What::Read),
    ("flow", What::Flow),
    ("pointer", What::Pointer),
    ("store", What::Store),
    ("callee", What::Callee),
];

/// A fact that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub what: What,
    /// Of a function; of a system call, its number.
    pub function: String,
    /// Which one, from 0.
    pub number: usize,
}

impl Broken {
    /// Reads `KIND:NAME:N`.
    pub fn parse(text: &str) -> Option<Broken> {
        let mut parts = text.split(':');
        let kind = parts.next()?;
        let (_, what) = KINDS.iter().find(|(name, _)| *name == kind)?;
        let broken = Broken { what: *what, function: parts.next()?.to_owned(), number: parts.next()?.parse().ok()? };
        parts.next().is_none().then_some(broken)
    }

    /// Whether number `n` of this kind is broken of a function.
    pub fn is(&self, what: What, function: &str, n: usize) -> bool {
        self.what == what && self.function == function && self.number == n
    }
}
