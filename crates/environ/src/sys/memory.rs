//! Memory from the kernel: mappings are heap objects, and the break moves within one object of a fixed size.
//!
//! A mapping of a file is a copy. A shared mapping and its file are made equal where a program could see a difference: before the file is
//! read, after it is written, and when the mapping goes. Two mappings of one file, one of them shared and writable, would have to be
//! equal at every access: this is a named limit.

use std::rc::Rc;

use wryneck_exec::ground::memory::{self, Life};
use wryneck_exec::memory::clear;
use wryneck_exec::{PathEnd, Value, heap_calls};

use super::fd::O_ACCMODE;
use super::{Done, Sys};
use crate::content::Byte;
use crate::errno::{EACCES, EEXIST, EFAULT, EINVAL, ENODEV, ENOMEM, Halt};
use crate::libc::alloc::{MAPPED, MUCH};
use crate::state::{Mapping, NodeId, NodeKind};
use crate::threads::machine_code;

/// Bytes of a page of the kernel's.
pub(super) const PAGE: u64 = 4096;
const MAP_SHARED: u32 = 1;
const MAP_TYPE: u32 = 3;
const MAP_FIXED: u32 = 0x10;
const MAP_ANONYMOUS: u32 = 0x20;
const MAP_STACK: u32 = 0x20000;
const MAP_FIXED_NOREPLACE: u32 = 0x100_000;
const PROT_WRITE: u32 = 2;
const PROT_EXEC: u32 = 4;
/// Bytes the break can move.
const BREAK_ROOM: u64 = 1 << 24;

impl Sys<'_, '_> {
    /// The shared mappings of a file: their addresses, and how much of each the file reaches.
    fn shared_mappings(&self, node: NodeId) -> Vec<(u64, Mapping, u64)> {
        let world = self.world();
        if world.own.mappings.is_empty() {
            return Vec::new();
        }
        let len = world.node(node).content.len();
        let reached = |m: &Mapping| len.saturating_sub(m.offset).min(m.len);
        world.own.mappings.iter().filter(|(_, m)| m.shared && m.node == node).map(|(addr, m)| (*addr, *m, reached(m))).collect()
    }

    /// What the program wrote to shared mappings of a file gets there.
    pub fn from_mappings(&mut self, node: NodeId) -> Result<(), Halt> {
        for (addr, mapping, len) in self.shared_mappings(node).into_iter().filter(|(_, m, _)| m.writable) {
            if len > 0 {
                let bytes = self.get(addr, len)?;
                self.change().node_mut(node).content.write(mapping.offset, &bytes);
            }
        }
        Ok(())
    }

    /// What a file now holds gets to its shared mappings.
    pub fn to_mappings(&mut self, node: NodeId) -> Result<(), Halt> {
        for (addr, mapping, len) in self.shared_mappings(node) {
            let mut bytes = self.world().node(node).content.read(mapping.offset, len);
            bytes.resize(mapping.len as usize, Byte::Concrete(0));
            self.put_bytes(addr, &bytes)?;
        }
        Ok(())
    }

    /// The mapping that a range lies in: its address and its bytes. Stacks of threads are not on the heap.
    fn mapped(&self, addr: u64, len: u64) -> Option<(u64, u64)> {
        let of_heap = || {
            let object = self.cx.state.memory.heap.find(addr)?;
            let inside = addr >= object.base && addr.checked_add(len)? <= object.base + object.size;
            (object.kind == MAPPED && object.life == Life::Live && inside).then_some((object.base, object.size))
        };
        of_heap().or_else(|| machine_code::mapped(self.cx, addr, len))
    }

    /// Takes away the mapping that begins at an address.
    fn release(&mut self, base: u64) {
        match self.cx.state.memory.heap.find(base) {
            Some(object) if object.base == base => heap_calls::release(self.cx, &object),
            Some(_) | None => machine_code::unmap(self.cx, base),
        }
    }

    /// Ends the mappings of files in a range, whose contents change now.
    fn unmap(&mut self, addr: u64, len: u64) -> Result<(), Halt> {
        let end = addr.saturating_add(len);
        let over: Vec<_> =
            self.world().own.mappings.iter().filter(|(at, m)| **at < end && addr < **at + m.len).map(|(a, m)| (*a, *m)).collect();
        for (at, mapping) in over {
            if mapping.shared {
                self.from_mappings(mapping.node)?;
            }
            let mappings = Rc::make_mut(&mut self.change().own.mappings);
            mappings.remove(&at);
            if at < addr {
                mappings.insert(at, Mapping { len: addr - at, ..mapping });
            }
            if end < at + mapping.len {
                mappings.insert(end, Mapping { len: at + mapping.len - end, offset: mapping.offset + (end - at), ..mapping });
            }
        }
        Ok(())
    }
}

/// mmap(address, length, protection, flags, descriptor, offset).
pub fn mmap(s: &mut Sys<'_, '_>) -> Done {
    let (hint, len, protection) = (s.long(0)?, s.long(1)?, s.int(2)? as u32);
    let (flags, fd, offset) = (s.int(3)? as u32, s.int(4)?, s.long(5)?);
    let fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0;
    if !offset.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    if flags & MAP_SHARED != 0 && (protection & PROT_WRITE != 0 || flags & MAP_ANONYMOUS == 0) {
        if wryneck_exec::processes::are_several(s.cx.state) {
            return Err(PathEnd::Unsupported("shared memory of one of several processes".into()).into());
        }
        s.change().shares_memory |= flags & MAP_ANONYMOUS != 0;
    }
    let file = if flags & MAP_ANONYMOUS == 0 { Some(s.opened(fd)?.0) } else { None };
    if len == 0 || flags & MAP_TYPE == 0 || fixed && !hint.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    let len = len.checked_next_multiple_of(PAGE).ok_or(ENOMEM)?;
    let mut mapping = None;
    if let Some(open) = file {
        let shared = flags & MAP_SHARED != 0;
        let readable = matches!(open.flags & O_ACCMODE, 0 | 2);
        let kind = s.world().node(open.node).kind;
        match kind {
            _ if !readable || shared && protection & PROT_WRITE != 0 && open.flags & O_ACCMODE != 2 => return Err(EACCES.into()),
            NodeKind::Regular | NodeKind::Endless => {}
            NodeKind::Directory
            | NodeKind::Link
            | NodeKind::Pipe { .. }
            | NodeKind::Output
            | NodeKind::Null
            | NodeKind::Full
            | NodeKind::Socket
            | NodeKind::Event { .. }
            | NodeKind::Epoll => {
                return Err(ENODEV.into());
            }
        }
        if kind == NodeKind::Regular {
            mapping = Some(Mapping { len, node: open.node, offset, shared, writable: protection & PROT_WRITE != 0 });
        }
    }
    if let Some(new) = mapping.filter(|m| m.shared)
        && s.world().own.mappings.values().any(|m| m.node == new.node && m.shared && (m.writable || new.writable))
    {
        return Err(PathEnd::Unsupported("two shared mappings of one file that may be written".into()).into());
    }
    if hint != 0 && !fixed {
        s.linux.captured.note_unknown("whether a mapping is made where it is wished for");
    }
    if len > MUCH {
        s.linux.captured.note_unknown("whether there is so much memory");
    }
    let is_stack = !fixed && flags & MAP_STACK != 0 && file.is_none() && s.cx.core.config.machine_code;
    let addr = match is_stack.then(|| machine_code::map(s.cx, len)).flatten() {
        _ if fixed => fixed_room(s, hint, len, flags)?,
        Some(of_stack) => of_stack,
        None => heap_calls::allocate(s.cx, len, PAGE, true, MAPPED).ok_or(ENOMEM)?,
    };
    if fixed {
        clear(s.cx, addr, len)?;
    }
    if let Some(mapping) = mapping {
        s.from_mappings(mapping.node)?;
        let content = &s.world().node(mapping.node).content;
        let concrete = content.concrete(offset, len);
        match &concrete {
            Some(bytes) if bytes.is_empty() => {}
            Some(bytes) => s.put(addr, bytes)?,
            None => {
                let bytes = content.read(offset, len);
                s.put_bytes(addr, &bytes)?;
            }
        }
        if protection & (PROT_EXEC | PROT_WRITE) == PROT_EXEC {
            code(s, addr, concrete, &mapping)?;
        }
        Rc::make_mut(&mut s.change().own.mappings).insert(addr, mapping);
    }
    Ok(addr)
}

/// What is mapped from a file to be executed is code, as a shared library's is that the program loads.
fn code(s: &mut Sys<'_, '_>, addr: u64, bytes: Option<Vec<u8>>, of: &Mapping) -> Result<(), Halt> {
    let Some(source) = s.cx.core.code_source.clone() else { return Ok(()) };
    // Large, and asked for once.
    let file = || s.world().node(of.node).content.concrete(0, u64::MAX).unwrap_or_default();
    let mapped = bytes.is_some_and(|bytes| source.borrow_mut().map_code(addr, bytes, &file, of.offset));
    match mapped {
        true => Ok(()),
        false => Err(PathEnd::Unsupported("a mapping of code that is symbolic, or where other code was".into()).into()),
    }
}

/// A fixed address must lie in a mapping there is, which is how programs that reserve room first use it.
fn fixed_room(s: &mut Sys<'_, '_>, addr: u64, len: u64, flags: u32) -> Done {
    if s.mapped(addr, len).is_none() {
        return Err(PathEnd::Unsupported("`mmap` at a fixed address that is not mapped".into()).into());
    }
    if flags & MAP_FIXED_NOREPLACE != 0 {
        return Err(EEXIST.into());
    }
    s.unmap(addr, len)?;
    Ok(addr)
}

/// munmap(address, length): a whole mapping goes; a part of one stays accessible, which the documents say.
pub fn munmap(s: &mut Sys<'_, '_>) -> Done {
    let (addr, len) = (s.long(0)?, s.long(1)?);
    if !addr.is_multiple_of(PAGE) || len == 0 {
        return Err(EINVAL.into());
    }
    s.unmap(addr, len)?;
    if s.mapped(addr, 1).is_some_and(|(base, size)| base == addr && size <= len.next_multiple_of(PAGE)) {
        s.release(addr);
    }
    Ok(0)
}

/// mremap(address, old length, new length, flags): a mapping that grows moves.
pub fn mremap(s: &mut Sys<'_, '_>) -> Done {
    const MAY_MOVE: u32 = 1;
    let (addr, old, new, flags) = (s.long(0)?, s.long(1)?, s.long(2)?, s.int(3)? as u32);
    if !addr.is_multiple_of(PAGE) || new == 0 || flags & !7 != 0 {
        return Err(EINVAL.into());
    }
    if flags & !MAY_MOVE != 0 || old == 0 {
        return Err(PathEnd::Unsupported("`mremap` to a fixed address, or of a second view".into()).into());
    }
    let (old, new) = (old.checked_next_multiple_of(PAGE).ok_or(EINVAL)?, new.checked_next_multiple_of(PAGE).ok_or(EINVAL)?);
    let (base, size) = s.mapped(addr, old).ok_or(EFAULT)?;
    if new <= old {
        if new < old {
            s.unmap(addr + new, old - new)?;
        }
        return Ok(addr);
    }
    if flags & MAY_MOVE == 0 {
        return Err(ENOMEM.into());
    }
    let mapping = s.world().own.mappings.get(&addr).copied().filter(|m| m.len == old);
    if let Some(mapping) = mapping {
        s.from_mappings(mapping.node)?;
    }
    if new > MUCH {
        s.linux.captured.note_unknown("whether there is so much memory");
    }
    let to = heap_calls::allocate(s.cx, new, PAGE, true, MAPPED).ok_or(ENOMEM)?;
    let bytes = s.get(addr, old)?;
    s.put_bytes(to, &bytes)?;
    s.unmap(addr, old)?;
    if let Some(mapping) = mapping {
        let more = s.world().node(mapping.node).content.read(mapping.offset + old, new - old);
        if !more.is_empty() {
            s.put_bytes(to + old, &more)?;
        }
        Rc::make_mut(&mut s.change().own.mappings).insert(to, Mapping { len: new, ..mapping });
    }
    if base == addr && size <= old {
        s.release(addr);
    }
    Ok(to)
}

/// mincore(address, length, vector): all pages that are mapped are in memory.
pub fn mincore(s: &mut Sys<'_, '_>) -> Done {
    let (addr, len) = (s.long(0)?, s.long(1)?);
    if !addr.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    let pages = len.checked_next_multiple_of(PAGE).ok_or(ENOMEM)? / PAGE;
    let space = &s.cx.state.memory.space;
    if !(0..pages).all(|page| addr.checked_add(page * PAGE).is_some_and(|at| !matches!(space.byte(at), memory::Byte::Dead))) {
        return Err(ENOMEM.into());
    }
    let vector = s.block(s.args[2], pages, true)?;
    s.put(vector, &vec![1; pages as usize])?;
    Ok(0)
}

/// msync(address, length, flags).
pub fn msync(s: &mut Sys<'_, '_>) -> Done {
    let (addr, len, flags) = (s.long(0)?, s.long(1)?, s.int(2)? as u32);
    if !addr.is_multiple_of(PAGE) || flags & !7 != 0 || flags & 5 == 5 {
        return Err(EINVAL.into());
    }
    if len > 0 && s.mapped(addr, len).is_none() {
        return Err(ENOMEM.into());
    }
    Ok(0)
}

/// brk(address): where the break now is. It begins at an object of its own, all of which may be accessed.
pub fn brk(s: &mut Sys<'_, '_>) -> Done {
    let wanted = s.long(0)?;
    let (first, old) = match s.world().own.break_at {
        Some(known) => known,
        None => match heap_calls::allocate(s.cx, BREAK_ROOM, PAGE, true, MAPPED) {
            Some(addr) => (addr, addr),
            None => return Err(ENOMEM.into()),
        },
    };
    let new = if (first..=first + BREAK_ROOM).contains(&wanted) { wanted } else { old };
    if new < old {
        // What comes back later is zero again, from the next page on.
        let from = new.next_multiple_of(PAGE).min(old);
        clear(s.cx, from, old - from)?;
    }
    s.change().own.break_at = Some((first, new));
    Ok(new)
}

/// madvise(address, length, advice): memory that is given up is as it was when it was mapped; other advice changes nothing that can be seen.
pub fn madvise(s: &mut Sys<'_, '_>) -> Done {
    const DONTNEED: i32 = 4;
    const DONTNEED_LOCKED: i32 = 24;
    let (addr, len, advice) = (s.long(0)?, s.long(1)?, s.int(2)?);
    if !addr.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    let len = len.checked_next_multiple_of(PAGE).ok_or(EINVAL)?;
    match advice {
        DONTNEED | DONTNEED_LOCKED if len > 0 => {}
        0..=4 | 8 | 10..=24 => return Ok(0),
        9 | 25.. => return Err(PathEnd::Unsupported(format!("advice {advice} of `madvise`")).into()),
        _ => return Err(EINVAL.into()),
    }
    let end = addr.checked_add(len).ok_or(ENOMEM)?;
    let of_files: Vec<_> =
        s.world().own.mappings.iter().filter(|(at, m)| **at < end && addr < **at + m.len).map(|(a, m)| (*a, *m)).collect();
    let bytes = match of_files[..] {
        [] => Vec::new(),
        [(at, mapping)] if at <= addr && end <= at + mapping.len && mapping.shared => return Ok(0),
        [(at, mapping)] if at <= addr && end <= at + mapping.len => {
            s.from_mappings(mapping.node)?;
            s.world().node(mapping.node).content.read(mapping.offset + (addr - at), len)
        }
        _ => return Err(PathEnd::Unsupported("`madvise` that gives up parts of several mappings".into()).into()),
    };
    if s.mapped(addr, len).is_none() {
        return Err(PathEnd::Unsupported("`madvise` that gives up what `mmap` did not give".into()).into());
    }
    clear(s.cx, addr, len)?;
    if !bytes.is_empty() {
        s.put_bytes(addr, &bytes)?;
    }
    Ok(0)
}

/// mprotect: nothing that a correct program can see.
pub fn ignored(s: &mut Sys<'_, '_>) -> Done {
    match s.args[0] {
        Value::Bits(addr) if !addr.is_multiple_of(PAGE) => Err(EINVAL.into()),
        _ => Ok(0),
    }
}
