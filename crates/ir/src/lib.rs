//! wryneck's intermediate representation: small, typed by bit width, made for running, and a file (docs/design/003).
//!
//! Reading order: [`inst`] (what an instruction is), [`module`] (the tables), [`build`] (how they are made). Imports nothing
//! of ours.

#![deny(unsafe_code)]

pub mod arith;
pub mod build;
pub mod code_source;
pub mod file;
pub mod float;
pub mod inst;
pub mod interp;
pub mod link;
pub mod module;
pub mod pad;
pub mod text;
pub mod verify;

#[cfg(test)]
mod samples;

pub use code_source::{ActiveCall, Calling, CodeObject, CodeSource, Convention, NoCode, Transfer};
pub use inst::{ATOMIC, FcmpPred, Inst, NONE, Op, Operand, Part, Round, limbs};
pub use module::*;

/// The variable in which the C library of bitcode describes the running thread (`runtime/musl`): each thread has one.
pub const THREAD: &str = "__wryneck_thread";

/// The function, linked with each program, that calls what it is given, with the argument that it is given.
pub const CALL_BACK: &str = "__wryneck_call_back";

/// Numbers of system calls that no kernel has: lifted code asks by them for what a constant answers, so that a verdict can name it. Which processor?
pub const ASKS_PROCESSOR: u64 = 0x1_0000_0001;
/// What time?
pub const ASKS_TIME: u64 = 0x1_0000_0002;
