//! Memory from the kernel: anonymous and private file mappings are heap objects; the break cannot move.

use wryneck_exec::memory::{HeapObject, Life};
use wryneck_exec::{PathEnd, Value};

use super::{Done, Sys};
use crate::content::Byte;
use crate::errno::{EACCES, EINVAL, ENOMEM};
use crate::libc::alloc::MAPPED;
use crate::state::NodeKind;

const PAGE: u64 = 4096;
const MAP_SHARED: u32 = 1;
const MAP_FIXED: u32 = 0x10;
const MAP_ANONYMOUS: u32 = 0x20;
const PROT_WRITE: u32 = 2;

/// mmap(address, length, protection, flags, descriptor, offset).
pub fn mmap(s: &mut Sys<'_, '_>) -> Done {
    let (len, protection, flags, fd, offset) = (s.long(1)?, s.int(2)? as u32, s.int(3)? as u32, s.int(4)?, s.long(5)?);
    if len == 0 || !offset.is_multiple_of(PAGE) || flags & 3 == 0 {
        return Err(EINVAL.into());
    }
    if flags & MAP_FIXED != 0 {
        return Err(PathEnd::Unsupported("`mmap` at a fixed address".into()).into());
    }
    let mut bytes: Vec<Byte> = Vec::new();
    if flags & MAP_ANONYMOUS == 0 {
        let (_, node) = s.opened(fd)?;
        if node.kind != NodeKind::Regular {
            return Err(EACCES.into());
        }
        bytes = node.content.read(offset, len);
        if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
            return Err(PathEnd::Unsupported("a shared, writable mapping of a file".into()).into());
        }
    }
    let len = len.checked_next_multiple_of(PAGE).ok_or(ENOMEM)?;
    let addr = s.cx.allocate(len, PAGE, true, MAPPED).ok_or(ENOMEM)?;
    if !bytes.is_empty() {
        s.put_bytes(addr, &bytes)?;
    }
    Ok(addr)
}

/// munmap(address, length): a whole mapping goes; a part of one stays.
pub fn munmap(s: &mut Sys<'_, '_>) -> Done {
    let (addr, len) = (s.long(0)?, s.long(1)?);
    if !addr.is_multiple_of(PAGE) || len == 0 {
        return Err(EINVAL.into());
    }
    let found: Option<HeapObject> = s.cx.state.memory.heap.find(addr);
    if let Some(object) = found
        && (object.base, object.kind, object.life) == (addr, MAPPED, Life::Live)
        && object.size <= len.next_multiple_of(PAGE)
    {
        s.cx.release(&object);
    }
    Ok(0)
}

/// The break stays where it is, which is how the kernel says no.
pub fn brk(_: &mut Sys<'_, '_>) -> Done {
    Ok(1 << 39)
}

/// mprotect, madvise: nothing that a correct program can see.
pub fn ignored(s: &mut Sys<'_, '_>) -> Done {
    match s.args[0] {
        Value::Bits(addr) if !addr.is_multiple_of(PAGE) => Err(EINVAL.into()),
        _ => Ok(0),
    }
}
