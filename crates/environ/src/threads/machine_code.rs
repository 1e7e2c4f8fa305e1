//! Threads of machine code: their stacks, and the memory that the thread pointer leads to, as musl lays it out on x86-64.
//!
//! The C library of other programs maps the stacks itself: what it maps as one gets such a room, too, so that calls are known there.
//!
//! A stack lies at the end of a room of its own below the first thread's, beside which there is room for its shadow. The descriptor of a thread lies at
//! the thread pointer, and the thread-local variables below it. They begin as the program's file says (`PT_TLS`). The room is free again when
//! the thread has ended.

use wryneck_exec::config::Uninit;
use wryneck_exec::ground::memory::Static;
use wryneck_exec::pointer::ROOM_GUARD;
use wryneck_exec::threads::{Begins, ThreadId};
use wryneck_exec::{Cx, PathEnd, Stop, globals, heap_calls, memory, thread_pointer};
use wryneck_ir::code_source::{Stack, ThreadImage};

use super::life::{describe, peek};
use super::of;
use crate::Linux;
use crate::libc::alloc::GIVEN;
use crate::state::World;

/// Of musl's descriptor, in bytes from its beginning: the table of the blocks of thread-local variables, by file, which begins with their number.
const TABLE: u64 = 8;
/// What all threads have in common: the address of the kernel's functions, and the stack protector's word.
const COMMON: [u64; 2] = [32, 40];
/// Bytes of the descriptor and what is reserved behind it; the table comes next.
const DESCRIPTOR: u64 = 256;
const TABLE_BYTES: u64 = 16;
/// Alignment of the descriptor.
const ALIGN: u64 = 64;
/// Bytes of thread-local variables, at most.
const MOST_LOCALS: u64 = 1 << 30;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// Bytes at the beginning of a stack that belong to nobody, as at the first thread's.
const BEFORE: u64 = 4096;

/// Whether the functions of threads have models here: those of bitcode always have.
pub(super) fn has_models(linux: &Linux, cx: &Cx<'_>) -> bool {
    !cx.core.config.machine_code || linux.input.process.as_ref().is_some_and(|process| process.threads)
}

fn known(cx: &Cx<'_>) -> Option<(Stack, ThreadImage)> {
    let source = cx.core.code_source.as_ref()?.borrow();
    Some((source.stack()?, source.thread_image()))
}

/// A stack that the program has mapped in a room: its address and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mapped {
    room: u64,
    base: u64,
    len: u64,
}

/// A room without a stack.
fn unused(cx: &Cx<'_>, stack: &Stack) -> Option<u64> {
    let threads = &World::of(cx).own.threads;
    // That of a thread that has ended is free.
    let is_taken = |room: u64| threads.all.iter().any(|thread| thread.room == room) || threads.mapped.iter().any(|m| m.room == room);
    (1..=stack.rooms.0).find(|room| !is_taken(*room))
}

/// Maps a stack of so many bytes, a multiple of a page, for the program. Its address; `None` where there is no room for it.
pub(crate) fn map(cx: &mut Cx<'_>, len: u64) -> Option<u64> {
    let (stack, _) = known(cx)?;
    let room = unused(cx, &stack)?;
    let (base, size) = stack.room(room)?;
    let base = (base + size - ROOM_GUARD).checked_sub(len).filter(|at| *at >= base + ROOM_GUARD)?;
    cx.state.dirty = true;
    map_both(cx, &stack, base, len, &format!("thread {room}"), true);
    super::threads(cx).mapped.push(Mapped { room, base, len });
    Some(base)
}

/// The mapped stack that a range lies in: its address and its bytes.
pub(crate) fn mapped(cx: &Cx<'_>, at: u64, len: u64) -> Option<(u64, u64)> {
    let inside = |m: &&Mapped| at >= m.base && at.checked_add(len).is_some_and(|end| end <= m.base + m.len);
    World::of(cx).own.threads.mapped.iter().find(inside).map(|m| (m.base, m.len))
}

/// Takes a mapped stack away.
pub(crate) fn unmap(cx: &mut Cx<'_>, base: u64) {
    let Some((stack, _)) = known(cx) else { return };
    super::threads(cx).mapped.retain(|m| m.base != base);
    unmap_both(cx, &stack, base);
}

/// Maps a stack and its shadow.
fn map_both(cx: &mut Cx<'_>, stack: &Stack, base: u64, size: u64, whose: &str, zero: bool) {
    let [of_stack, of_shadow] = places(stack, base).map(|(base, what)| {
        let name = format!("{what} of {whose}").into();
        Static { base, size, name, writable: true }
    });
    globals::map_for(&mut cx.state.memory, of_stack, zero, &mut cx.core.pool);
    globals::map_for(&mut cx.state.memory, of_shadow, true, &mut cx.core.pool);
}

fn unmap_both(cx: &mut Cx<'_>, stack: &Stack, base: u64) {
    cx.state.dirty = true;
    for (base, _) in places(stack, base) {
        globals::unmap_for(&mut cx.state.memory, base, &mut cx.core.pool);
    }
}

/// The room for one more thread's stack; `None`: there is none. In words why no thread can be made.
pub(super) fn free_room(cx: &Cx<'_>) -> Result<Option<u64>, &'static str> {
    let (Some((stack, image)), Some(pointer)) = (known(cx), thread_pointer(cx).filter(|pointer| *pointer != 0)) else {
        return Err("where the thread's own memory is, is not known");
    };
    let table = peek(cx, pointer + TABLE);
    if peek(cx, table) > 1 || peek(cx, table) == 1 && image.size == 0 {
        return Err("libraries have thread-local variables");
    }
    Ok(unused(cx, &stack))
}

/// Where in a room a stack of so many bytes lies: its lowest address, and its bytes; `None`: it does not fit.
fn stack_in(stack: &Stack, room: u64, bytes: u64) -> Option<(u64, u64)> {
    let (base, size) = stack.room(room)?;
    let bytes = bytes.checked_next_multiple_of(PAGE)?.checked_add(BEFORE)?;
    (bytes <= size - 2 * ROOM_GUARD).then(|| (base + size - ROOM_GUARD - bytes, bytes))
}

/// Prepares what a new thread has of its own, with a stack of so many bytes in a room that is free.
pub(super) fn prepare(cx: &mut Cx<'_>, number: ThreadId, room: u64, bytes: u64) -> Result<Begins, Stop> {
    let missing = || PathEnd::Internal("a thread without a room".into());
    let ((stack, image), first) = known(cx).zip(thread_pointer(cx)).ok_or_else(missing)?;
    let too_large = || PathEnd::Unsupported(format!("a stack of {bytes} bytes for a thread"));
    let (base, size) = stack_in(&stack, room, bytes).ok_or_else(too_large)?;
    cx.state.dirty = true;
    let zero = cx.core.config.uninit == Uninit::Zero;
    map_both(cx, &stack, base, size, &format!("thread {number}"), zero);
    let own = own_memory(cx, number, first, image)?;
    Ok(Begins { stack: base + size - BEFORE, own })
}

/// Where a stack and its shadow lie, and what each is called.
fn places(stack: &Stack, base: u64) -> [(u64, &'static str); 2] {
    [(base, "the stack"), (stack.shadow.0 + (base - stack.base), "the shadow of the stack")]
}

/// The descriptor of a new thread, with its variables; `other`: that of a thread.
fn own_memory(cx: &mut Cx<'_>, number: ThreadId, other: u64, image: ThreadImage) -> Result<u64, Stop> {
    let table = peek(cx, other + TABLE);
    let count = peek(cx, table);
    let below = if count == 1 { other.wrapping_sub(peek(cx, table + 8)) } else { 0 };
    let align = image.align.max(ALIGN);
    // The file and the program's memory may say anything.
    let fits = below <= MOST_LOCALS && align <= PAGE && align.is_power_of_two() && (image.size <= below || count == 0);
    let room = if fits { below.next_multiple_of(align) } else { 0 };
    let allocated = if fits { heap_calls::allocate(cx, room + DESCRIPTOR + TABLE_BYTES, align, true, GIVEN) } else { None };
    let Some(base) = allocated else {
        return Err(PathEnd::Unsupported(format!("thread-local variables of {} bytes", image.size)).into());
    };
    World::change(cx).name_given(base, format!("the thread-local variables of thread {number}"));
    let at = base + room;
    if count == 1 {
        let mut bytes = vec![0; image.bytes as usize];
        cx.state.memory.space.read(image.address, &mut bytes);
        memory::write_concrete(cx, at - below, &bytes)?;
    }
    describe(cx, at, number, other)?;
    for field in COMMON {
        let word = peek(cx, other + field);
        memory::write_concrete(cx, at + field, &word.to_le_bytes())?;
    }
    let words = [count, at - below].map(u64::to_le_bytes).concat();
    memory::write_concrete(cx, at + DESCRIPTOR, &words)?;
    memory::write_concrete(cx, at + TABLE, &(at + DESCRIPTOR).to_le_bytes())?;
    Ok(at)
}

/// The running thread has ended: its stack is gone, and so are its thread-local variables.
pub(super) fn ended(cx: &mut Cx<'_>, thread: ThreadId) {
    let this = of(cx, thread);
    let (room, bytes, handle) = (std::mem::take(&mut this.room), this.stack, this.handle);
    let Some((stack, Some((base, _)))) = known(cx).map(|(stack, _)| (stack, stack_in(&stack, room, bytes))) else { return };
    unmap_both(cx, &stack, base);
    if let Some(object) = cx.state.memory.heap.find(handle) {
        heap_calls::release(cx, &object);
    }
}

/// The address from which the stack of a thread grows down, unless it is the first one's.
pub(super) fn stack_end(cx: &Cx<'_>, thread: ThreadId) -> Option<u64> {
    let thread = World::of(cx).own.threads.all.get(thread as usize)?;
    let (base, size) = stack_in(&known(cx)?.0, thread.room, thread.stack)?;
    Some(base + size)
}
