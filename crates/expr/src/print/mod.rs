//! Printers: text for people and for solver processes.

pub mod human;
pub mod smtlib;
mod smtlib_float;
