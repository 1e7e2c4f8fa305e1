//! `wryneck probe`: any function without set-up, and what must go wrong in it (paper 2).
//!
//! [`args`] reads the words; [`one`] probes one function in this process; [`sweep`] probes many, each in a process of its own, so that one that
//! breaks down, or uses up its time or memory, costs nothing else. What a function's probe found is plain data ([`outcome`]), a JSON line.

pub mod args;
pub mod check;
pub mod collect;
mod contract;
pub mod evidence;
pub mod functions;
pub mod infer;
pub mod one;
pub mod outcome;
pub mod show;
pub mod sweep;
mod types;
