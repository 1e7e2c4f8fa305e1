//! The log of an address space: accesses made outside of the inner loop, while a path is recorded or data races are searched for.

use crate::ground::stacks::StackId;

/// How memory was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    Read,
    Write,
    /// Zeros that the kernel puts there: it is as new.
    Clear,
    Allocate,
}

/// The heap object just allocated lies in the slot of a freed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// The program had allocated the freed object.
    pub own: bool,
    pub origin: StackId,
    /// Where the freed object began.
    pub base: u64,
}

/// One entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Bytes { how: Touched, len: u32, address: u64 },
    Reuse(Reuse),
}
