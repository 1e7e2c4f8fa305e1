//! Programs compiled by clang, lowered and run on the reference interpreter end as they end natively; bad input is a
//! clear error.
//!
//! The oracle is the machine. clang 22 is needed, clang 14 to 19 are used where they are installed, csmith likewise.

mod bad_input;
mod csmith;
mod debug_info;
mod languages;
mod libc;
mod native;
mod programs;
mod shape;
mod variadic;
