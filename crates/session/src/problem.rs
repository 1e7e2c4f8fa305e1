//! Errors as the user sees them: what is wrong, and what to do.

use std::fmt;

/// An error with advice.
#[derive(Debug)]
pub struct Problem {
    /// Lower case, no final dot.
    message: String,
    /// What the user can do; empty if there is nothing to say.
    help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// An error with advice.
pub fn problem(message: impl Into<String>, help: impl Into<String>) -> anyhow::Error {
    Problem { message: message.into(), help: help.into() }.into()
}

/// The advice of an error, if it has some.
pub fn advice(error: &anyhow::Error) -> Option<&str> {
    let problem = error.chain().find_map(|cause| cause.downcast_ref::<Problem>())?;
    (!problem.help.is_empty()).then_some(&*problem.help)
}
