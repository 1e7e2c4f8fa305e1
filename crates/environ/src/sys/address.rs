//! Where the program wants the address of a socket: a pointer, and the room behind it, which becomes the length of the whole address.

use wryneck_exec::Value;

use super::Sys;
use super::socket::{SYMBOLIC, unsupported};
use crate::errno::{EINVAL, Halt};

/// Room for an address: its place, its bytes, and where the program keeps that number.
pub struct Room {
    at: u64,
    bytes: usize,
    count_at: u64,
}

impl Sys<'_, '_> {
    /// The room that the program gives at two arguments, a pointer and a pointer to the number of bytes, for an address of so many bytes.
    pub(super) fn room_for_address(&mut self, [pointer, count]: [usize; 2], len: usize) -> Result<Room, Halt> {
        let count_at = self.block(self.args[count], 4, true)?;
        let bytes = self.cx.read_bytes(count_at, 4)?;
        let bytes = self.cx.joined(&bytes);
        let bytes = self.cx.concretise(Value::Sym(bytes), "the room for a socket's address")? as u32 as i32;
        let bytes = usize::try_from(bytes).map_err(|_| EINVAL)?.min(len);
        let at = self.block(self.args[pointer], bytes as u64, true)?;
        Ok(Room { at, bytes, count_at })
    }

    /// Writes as much of an address as there is room for, and how long it is.
    pub(super) fn put_in_room(&mut self, room: &Room, address: &[u8]) -> Result<(), Halt> {
        if room.bytes > 0 {
            self.put(room.at, &address[..room.bytes])?;
        }
        self.put(room.count_at, &(address.len() as u32).to_le_bytes())
    }

    /// Writes an address where the program wants it, at arguments 1 and 2, if it does.
    pub(super) fn put_address(&mut self, family: u16, address: &[u8]) -> Result<(), Halt> {
        if self.is_null(1)? {
            return Ok(());
        }
        if address == SYMBOLIC {
            return unsupported("the name of a socket that is symbolic");
        }
        let whole = [&family.to_le_bytes()[..], address].concat();
        let room = self.room_for_address([1, 2], whole.len())?;
        self.put_in_room(&room, &whole)
    }
}
