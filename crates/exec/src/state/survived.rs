//! Recovered faults of a path ([`crate::step::survive`]).

use crate::ground::image::CodePos;
use crate::ground::path_end::Fault;

/// A fault that did not end its path.
#[derive(Clone, Debug)]
pub struct Survived {
    pub fault: Fault,
    /// Innermost first.
    pub stack: Vec<CodePos>,
}
