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
pub mod text;
pub mod verify;

#[cfg(test)]
mod samples;

pub use code_source::{ActiveCall, Calling, CodeObject, CodeSource, Convention, NoCode, Transfer};
pub use inst::{FcmpPred, Inst, NONE, Op, Operand, Part, Round, limbs};
pub use module::*;
