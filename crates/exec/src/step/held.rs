//! What one path may hold of the engine's memory: a program that fills gigabytes ends its own path, not the run.

use crate::ground::path_end::{Limit, PathEnd};
use crate::state::State;
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// All that a path holds is counted where it has made this part of its share since.
const PARTS: u64 = 32;
/// Bytes of pages that a path makes at least before all that it holds is counted.
const FEW: u64 = 1 << 20;

/// Bytes that one path may hold.
fn share(core: &Core) -> u64 {
    core.config.max_memory / 2
}

/// Ends a path that holds too much. Looks at its pages only where many were made since it last did.
pub(crate) fn check(core: &Core, state: &mut State) -> Result<(), Stop> {
    if state.memory.space.copies.have_grown((share(core) / PARTS).max(FEW)) { within(core, state, 0) } else { Ok(()) }
}

/// Ends a path in whose batch the process has grown too much, whatever holds the memory: `before` and `used` are bytes of the process.
pub(crate) fn check_growth(core: &Core, before: u64, used: u64) -> Result<(), Stop> {
    if used <= core.config.max_memory || used - before.min(used) <= share(core) { Ok(()) } else { Err(too_much()) }
}

/// Ends the path if it would hold too much once a block of `len` bytes is written, whose pages may all be new.
pub(crate) fn room_for_block(cx: &Cx<'_>, len: u64) -> Result<(), Stop> {
    if len < share(cx.core) / PARTS { Ok(()) } else { within(cx.core, cx.state, len) }
}

fn within(core: &Core, state: &State, more: u64) -> Result<(), Stop> {
    if state.memory.space.held().saturating_add(more) <= share(core) { Ok(()) } else { Err(too_much()) }
}

fn too_much() -> Stop {
    PathEnd::Limit(Limit::PathMemory).into()
}
