//! Buffers that a program gives for a socket's address or option. It gives a pointer to the buffer, and a pointer to the buffer's size. The call
//! writes how long its answer is over the size.

use super::Sys;
use super::socket::{SYMBOLIC, unsupported};
use crate::errno::{EINVAL, Halt};

/// A buffer of the program. Addresses are the program's, sizes are bytes.
pub struct Buffer {
    address: u64,
    /// How much of the answer fits.
    pub size: usize,
    /// Where the program keeps the size.
    size_address: u64,
}

impl Sys<'_, '_> {
    /// The buffer for an answer of `len` bytes. Its pointer and the pointer to its size are the arguments of these numbers. `EINVAL`: the size is
    /// negative. May ask the solver, since a symbolic size is fixed; `why` says so in the ledger.
    pub(super) fn buffer(&mut self, [pointer, size]: [usize; 2], len: usize, why: &str) -> Result<Buffer, Halt> {
        let size_address = self.block(self.args[size], 4, true)?;
        let size = self.number_in_memory(size_address, 4, why)? as u32 as i32;
        let size = usize::try_from(size).map_err(|_| EINVAL)?.min(len);
        let address = self.block(self.args[pointer], size as u64, true)?;
        Ok(Buffer { address, size, size_address })
    }

    /// Writes as much of an answer as fits, and this length over the size.
    pub(super) fn fill(&mut self, buffer: &Buffer, answer: &[u8], len: usize) -> Result<(), Halt> {
        if buffer.size > 0 {
            self.put(buffer.address, &answer[..buffer.size])?;
        }
        self.put(buffer.size_address, &(len as u32).to_le_bytes())
    }

    /// The buffer for the address of a socket.
    pub(super) fn address_buffer(&mut self, arguments: [usize; 2], len: usize) -> Result<Buffer, Halt> {
        self.buffer(arguments, len, "the room for a socket's address")
    }

    /// Writes an address to the buffer of arguments 1 and 2, unless the pointer is null.
    pub(super) fn put_address(&mut self, family: u16, address: &[u8]) -> Result<(), Halt> {
        if self.is_null(1)? {
            return Ok(());
        }
        if address == SYMBOLIC {
            return unsupported("the name of a socket that is symbolic");
        }
        let whole = [&family.to_le_bytes()[..], address].concat();
        let buffer = self.address_buffer([1, 2], whole.len())?;
        self.fill(&buffer, &whole, whole.len())
    }
}
