//! Processes: switching between them. The environment decides which process runs.
//!
//! A process that cannot continue is parked at the operation that it could not do. When it runs again it repeats that operation.

use crate::state::State;
use crate::state::processes::change;
pub use crate::state::processes::{ProcessId, are_several, end, leave_memory, make, running};
use crate::step::plugin::{Stop, Turn};

/// Has the process go on that an operation gave way to.
pub(super) fn switches(state: &mut State, done: Result<(), Stop>) -> Result<(), Stop> {
    let Err(Stop::Switch(Turn { to, ends })) = done else { return done };
    change(state, to, ends);
    Ok(())
}
