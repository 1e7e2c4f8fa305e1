//! What one path may hold of the engine's memory: a program that fills gigabytes ends its own path, not the run.

use crate::ground::path_end::{Limit, PathEnd};
use crate::state::State;
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// Bytes of pages that a path may make or copy before all that it holds is counted again.
const COUNT_EVERY: u64 = 64 << 20;

/// Ends a path that holds too much. Looks at its pages only where many were made since it last did.
pub(crate) fn check(core: &Core, state: &mut State) -> Result<(), Stop> {
    if state.memory.space.copies.have_grown(COUNT_EVERY) { within(core, state, 0) } else { Ok(()) }
}

/// Ends the path if it would hold too much once a block of `len` bytes is written, whose pages may all be new.
pub(crate) fn room_for_block(cx: &Cx<'_>, len: u64) -> Result<(), Stop> {
    if len < COUNT_EVERY / 4 { Ok(()) } else { within(cx.core, cx.state, len) }
}

fn within(core: &Core, state: &State, more: u64) -> Result<(), Stop> {
    let held = state.memory.space.held().saturating_add(more);
    if held <= core.config.max_memory / 2 { Ok(()) } else { Err(PathEnd::Limit(Limit::PathMemory).into()) }
}
