//! Facts that are broken on purpose, one at a time, so that a test can see whether what checks facts notices: `write:NAME:N`, `read:NAME:N` and
//! `flow:NAME:N` leave row N of a function's summary out, `pointer:NAME:N` constraint N of what a function says about pointers, `store:NAME:N`
//! what the Nth store of a function writes, `callee:NAME:N` the Nth call of a function. Nothing of this is in use unless it is asked for.

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
