//! Code met while it runs: what is asked of whoever knows machine code (docs/design/003), in three parts.
//!
//! [`Lowering`] is asked for the code itself, [`Objects`] for what lies in the program's memory, and [`ControlFlow`] for how lowered blocks hang
//! together in functions and calls. What a source does not implement, it does not know.

mod flow;
mod lowering;
mod objects;

use std::any::Any;

pub use flow::{ActiveCall, Calling, ControlFlow, Convention, LoopPast, Taken, Transfer, ValueUses};
pub use lowering::{Lowering, NoCode};
pub use objects::{CodeObject, Data, FrameVariable, FrameVariables, Objects, Stack, ThreadImage, Unaddressed};

/// Reads concrete bytes of the running program from an address on; `false` if one of them is not concrete or not there.
pub type ReadBytes<'a> = &'a dyn Fn(u64, &mut [u8]) -> bool;

/// All that is asked of machine code. Who needs only a part takes that part's trait. What only one kind of source knows is asked of its type.
pub trait CodeSource: Lowering + Objects + ControlFlow + Any {}

impl<T: Lowering + Objects + ControlFlow + Any> CodeSource for T {}
