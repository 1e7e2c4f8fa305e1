//! Errors as the user sees them, printed.

pub use wryneck_session::problem::{advice, problem};

use crate::output;

/// Prints an error, its causes and its advice.
pub fn print(error: &anyhow::Error) {
    output::say("error", format!("{error:#}"));
    if let Some(advice) = advice(error) {
        output::say("  = help", advice);
    }
}
