//! The floor of the exploration: what is pending and in which order it runs ([`frontier`], [`search`]), and running a path again ([`replay`]).

pub mod frontier;
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
