//! The allocator: malloc and its family, C++'s operators new and delete. The engine owns the objects (docs/design/005).
//!
//! A symbolic size is concretised, smallest first, and the ledger says so. Without `--fail-calls`, an allocation fails only if it
//! is larger than the heap's objects may be (2 GiB), which the ledger says unless no machine has that much memory: it returns null, and sets errno if the
//! libc has a function for that.

use wryneck_exec::ground::memory::HeapObject;
use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value, heap_calls, memory, thread_pointer};

use crate::Linux;
use crate::errno::{EINVAL, ENOMEM};
use crate::failing;
use crate::sig::Args;
use crate::start;

const PAGE: u64 = 4096;

/// Kinds of heap object: who may free it.
pub const MALLOC: u32 = 0;
/// What the program was given: arguments, environment.
pub const GIVEN: u32 = 1;
/// By `mmap`.
pub const MAPPED: u32 = 2;
/// By C++'s `operator new`.
pub const NEW: u32 = 3;
/// By C++'s `operator new[]`.
pub const NEW_ARRAY: u32 = 4;
/// By the C++ library's own `operator new` or `operator new[]`, which call `malloc`; so `free` frees it.
const BY_NEW: [u32; 2] = [5, 6];
/// What `free` frees. A program that replaces one of C++'s operators may free what the other made, so no more is asked of it.
const FREED_BY_FREE: &[u32] = &[MALLOC, BY_NEW[0], BY_NEW[1]];

const ALIGN: u64 = 16;

/// An allocation of more than this (bytes) may fail on some machine.
pub const MUCH: u64 = 1 << 30;

/// Memory of this size. Where a path is to be that of native runs, much of it makes the path one that nobody knows.
fn allocate(linux: &Linux, cx: &mut Cx<'_>, size: u64, align: u64, zero: bool, kind: u32) -> Option<u64> {
    if size > MUCH && linux.captured.log.is_some() {
        cx.state.approximates("an allocation of more than a gigabyte may fail");
    }
    heap_calls::allocate(cx, size, align, zero, kind)
}

/// Allocates what `size` says, which is asked only if the allocation works: what fails fails for every size.
fn give(
    linux: &Linux,
    cx: &mut Cx<'_>,
    size: impl FnOnce(&mut Cx<'_>) -> Result<Option<u64>, Stop>,
    align: u64,
    zero: bool,
    kind: u32,
) -> Result<Reply, Stop> {
    let fate = failing::allocation(cx)?;
    let addr = match fate.error() {
        None => size(cx)?.and_then(|size| allocate(linux, cx, size, align, zero, kind)),
        Some(_) => None,
    };
    fate.seal(cx);
    Ok(match addr {
        Some(addr) => Reply::Value(Value::Bits(addr)),
        None => out_of_memory(cx),
    })
}

/// Null, with errno set: of machine code where the C library's is, else by the overlay's function for it if it is there.
fn out_of_memory(cx: &mut Cx<'_>) -> Reply {
    if let Some(at) = errno_of_machine_code(cx) {
        cx.state.dirty = true;
        cx.state.memory.space.write(at, &ENOMEM.0.to_le_bytes());
        return Reply::Value(Value::Bits(0));
    }
    match start::function(cx, "__wryneck_out_of_memory") {
        Some(f) => Reply::Tail(f, Vec::new()),
        None => Reply::Value(Value::Bits(0)),
    }
}

/// The address of the running thread's `errno`, where that may be written.
fn errno_of_machine_code(cx: &Cx<'_>) -> Option<u64> {
    let source = cx.core.code_source.as_ref()?;
    let thread = thread_pointer(cx).filter(|pointer| *pointer != 0)?;
    let read = |at: u64, out: &mut [u8]| cx.state.memory.space.read(at, out);
    let at = source.borrow().errno(thread, &read)?;
    memory::writable_range(cx, at, 4).then_some(at)
}

pub fn malloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    give(linux, cx, |cx| args.number(cx, 0).map(Some), ALIGN, false, MALLOC)
}

pub fn calloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    give(linux, cx, |cx| Ok(args.number(cx, 0)?.checked_mul(args.number(cx, 1)?)), ALIGN, true, MALLOC)
}

pub fn free(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    release(args, cx, FREED_BY_FREE)
}

fn release(args: &Args<'_>, cx: &mut Cx<'_>, kinds: &[u32]) -> Result<Reply, Stop> {
    if let Some(object) = heap_calls::to_free(cx, args.value(0), kinds)? {
        heap_calls::release(cx, &object);
    }
    Ok(Reply::Void)
}

pub fn realloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let old = heap_calls::to_free(cx, args.value(0), FREED_BY_FREE)?;
    let mut given = 0;
    let size = |cx: &mut Cx<'_>| {
        given = args.number(cx, 1)?;
        Ok(Some(given))
    };
    let new = give(linux, cx, size, ALIGN, false, MALLOC)?;
    if let (Some(old), &Reply::Value(Value::Bits(new))) = (old, &new)
        && new != 0
    {
        move_to(cx, &old, new, given)?;
    }
    Ok(new)
}

/// Moves an object's bytes, uninitialised ones with them, and frees it.
fn move_to(cx: &mut Cx<'_>, old: &HeapObject, new: u64, size: u64) -> Result<(), Stop> {
    let len = old.size.min(size);
    memory::copy_bytes(cx, Value::Bits(new), Value::Bits(old.base), Value::Bits(len))?;
    heap_calls::release(cx, old);
    Ok(())
}

pub fn reallocarray(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (count, size) = (args.number(cx, 1)?, args.number(cx, 2)?);
    let Some(size) = count.checked_mul(size) else { return Ok(out_of_memory(cx)) };
    let call = wryneck_exec::Call { args: &[args.value(0), Value::Bits(size)], widths: &[64, 64], ..*args.call };
    realloc(linux, &Args::of(&call, &[crate::sig::Ty::Ptr, crate::sig::Ty::Size])?, cx)
}

/// aligned_alloc(alignment, size) and memalign.
pub fn aligned_alloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (align, size) = (args.number(cx, 0)?, args.number(cx, 1)?);
    if align.is_power_of_two() {
        give(linux, cx, |_| Ok(Some(size)), align.max(ALIGN), false, MALLOC)
    } else {
        Ok(Reply::Value(Value::Bits(0)))
    }
}

/// A block that begins at a page.
pub fn valloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    give(linux, cx, |cx| args.number(cx, 0).map(Some), PAGE, false, MALLOC)
}

/// A block of whole pages.
pub fn pvalloc(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    give(linux, cx, |cx| Ok(args.number(cx, 0)?.checked_next_multiple_of(PAGE)), PAGE, false, MALLOC)
}

pub fn posix_memalign(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let result = memory::block_address(cx, args.value(0), 8, true)?;
    let (align, size) = (args.number(cx, 1)?, args.number(cx, 2)?);
    if !align.is_power_of_two() || !align.is_multiple_of(8) {
        return Ok(Reply::Value(Value::Bits(EINVAL.0 as u64)));
    }
    let fate = failing::allocation(cx)?;
    let addr = if fate.error().is_none() { allocate(linux, cx, size, align.max(ALIGN), false, MALLOC) } else { None };
    fate.seal(cx);
    let Some(addr) = addr else {
        return Ok(Reply::Value(Value::Bits(ENOMEM.0 as u64)));
    };
    memory::write_concrete(cx, result, &addr.to_le_bytes())?;
    Ok(Reply::Value(Value::Bits(0)))
}

pub fn malloc_usable_size(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let object = heap_calls::to_free(cx, args.value(0), FREED_BY_FREE)?;
    Ok(Reply::Value(Value::Bits(object.map_or(0, |o| o.size))))
}

/// `operator new(size)`: without exceptions, failing ends the program.
pub fn new(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    cpp_new(linux, args, cx, NEW)
}

/// `operator new[](size)`.
pub fn new_array(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    cpp_new(linux, args, cx, NEW_ARRAY)
}

fn cpp_new(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>, kind: u32) -> Result<Reply, Stop> {
    let size = args.number(cx, 0)?;
    match allocate(linux, cx, size, ALIGN, false, kind) {
        Some(addr) => Ok(Reply::Value(Value::Bits(addr))),
        None => Err(PathEnd::Unsupported(format!("`operator new` of {size} bytes throws")).into()),
    }
}

/// `operator delete(pointer)`, sized or not.
pub fn delete(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    release(args, cx, &[NEW])
}

/// `operator delete[](pointer)`, sized or not.
pub fn delete_array(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    release(args, cx, &[NEW_ARRAY])
}

/// `__wryneck_made_by_new(object, is_array)`: what the C++ library's own operators say of what they got from `malloc`.
pub fn made_by_new(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (at, is_array) = (args.number(cx, 0)?, args.number(cx, 1)? != 0);
    if let Some(object) = heap_calls::object_from(cx, at) {
        heap_calls::set_kind(cx, &object, BY_NEW[usize::from(is_array)]);
    }
    Ok(Reply::Void)
}

/// `__wryneck_deleted(object, is_array)`: one of their counterparts is about to free an object. All else that can be wrong with it `free` finds.
pub fn deleted(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let is_array = args.number(cx, 1)? != 0;
    let Value::Bits(at) = args.value(0) else { return Ok(Reply::Void) };
    let is_other = |object: HeapObject| object.kind == BY_NEW[usize::from(!is_array)];
    match heap_calls::object_from(cx, at).is_some_and(is_other) {
        false => Ok(Reply::Void),
        true if is_array => Err(heap_calls::wrong_way(cx, at, "by `delete[]`, though `new` made it").into()),
        true => Err(heap_calls::wrong_way(cx, at, "by `delete`, though `new[]` made it").into()),
    }
}
