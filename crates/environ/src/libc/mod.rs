//! Models of libc functions: those whose instructions are of no interest, and those that C code cannot implement here (allocation,
//! assertion, exit).

pub mod alloc;
pub mod assert;
pub mod fenv;
pub mod jump;
pub mod memory;
pub mod stdlib;
pub mod string;
pub mod unwind;
