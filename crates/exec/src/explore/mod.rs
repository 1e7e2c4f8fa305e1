//! The floor that orders the exploration: pending items and searchers ([`frontier`], [`search`]), replay ([`replay`]), and fuzzing between
//! paths ([`fuzz`]).

mod corpus;
pub mod frontier;
pub mod fuzz;
pub mod replay;
pub mod search;

use crate::explore::frontier::Frontier;
use crate::explore::replay::Replayer;
use crate::step::core::Core;

/// This floor and those below it, lent to the floor above.
pub(crate) struct Exploration<'a> {
    pub core: &'a mut Core,
    pub frontier: &'a mut Frontier,
    pub replayer: &'a Replayer,
}
