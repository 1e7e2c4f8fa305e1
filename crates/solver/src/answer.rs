//! What a query is answered with.
use wryneck_expr::Model;

/// The answer to "path condition and condition: satisfiable?".
#[derive(Clone, Debug)]
pub enum Answer {
    /// A model of both; it differs from the query's base model only in symbols of the touched independent groups.
    Sat(Model),
    /// No model exists.
    Unsat(Core),
    /// Not decided; asking again with a larger budget may decide it.
    Unknown(Why),
}

/// Why a condition contradicts a path: indices into [`constraints`](crate::PathCondition::constraints), ascending, without repeats. The
/// named constraints and the query's condition are unsatisfiable together; empty if the condition alone is. Small, not always minimal.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Core(pub Vec<u32>);

/// Why a query was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Why {
    #[error("the query needs more gates than its budget allows")]
    Nodes,
    #[error("the query has more gates than are given to the SAT solver")]
    Cone,
    #[error("the search met more conflicts than its budget allows")]
    Conflicts,
    #[error("its time was up")]
    Stopped,
    #[error("the expression has more than 64 bits")]
    TooWide,
    #[error("the query has floating point of 80 bits, which SMT-LIB text does not have")]
    NoText,
    #[error("the solver process ended, or answered something else than a verdict and its model")]
    Process,
    #[error("the SAT solver failed")]
    Backend,
    /// A defect of ours: the caller's model, or one that a stage found.
    #[error("internal error: a model does not satisfy its path condition")]
    BrokenModel,
}

impl Answer {
    /// The model, if satisfiable.
    pub fn model(self) -> Option<Model> {
        match self {
            Answer::Sat(model) => Some(model),
            Answer::Unsat(_) | Answer::Unknown(_) => None,
        }
    }

    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat(_))
    }
}
