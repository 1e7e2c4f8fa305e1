//! Loads, stores and block operations that the inner loop leaves: faults, symbolic bytes, symbolic addresses.
//!
//! A load at a symbolic offset reads the object's bytes within the offset's interval as an array. A store there rewrites each byte it may
//! reach as a select. For objects above `max_symbolic_object` the offset is concretised.

pub(super) mod operations;

use wryneck_expr::{ArrayId, ExprId};
use wryneck_ir::{Inst, Part};

use super::pointer::{Object, Place, What};
use crate::ground::config::Uninit;
use crate::ground::memory::{Byte, PAGE};
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::places;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::{held, pointer, resolve, survive, table, unwritten};

/// Offsets a store at a symbolic offset may have before the offset is concretised.
const MAX_STORE_SPREAD: u64 = 256;
/// Bytes of a page as the kernel has them.
const KERNEL_PAGE: u64 = 4096;
/// Bytes beside a vector in which its object is looked for: the largest blocks that string functions read.
const BLOCK: u64 = 128;
/// From whose beginning some of them read a string that begins inside.
const LINE: u64 = 64;
/// The smallest block that string functions read, bytes: a word of 64 bits.
const WORD: u64 = 8;
/// What string functions of the C library find outside of an object: no end of a string, no letter.
const FILLER: u64 = 0xbd;
/// Symbolic bytes of a block between two looks at the signal to end.
const LOOK_IN_BLOCK: u64 = 1 << 14;
/// Bytes one block operation may move.
const MAX_BLOCK: u64 = 1 << 32;

/// String functions of glibc that read bytes of a word at once, of which they look at those up to the string's end.
const BY_WORDS: [&str; 3] = ["strcspn", "strpbrk", "strspn"];
/// That word, bytes.
const SPAN: u64 = 4;

/// If a symbol's name is that of a string function of the C library, or of a variant for some processors (`__memrchr_sse2`): the function's.
fn string_function(name: &str) -> Option<&str> {
    const NAMES: &[&str] = &[
        "memchr", "memcmp", "memcmpeq", "memrchr", "rawmemchr", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strchrnul",
        "strcmp", "strcpy", "strcspn", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen", "strpbrk", "strrchr", "strspn",
        "strstr", "wcschr", "wcscmp", "wcslen", "wcsncmp", "wcsnlen", "wcsrchr", "wmemchr", "wmemcmp",
    ];
    // The first: `strncasecmp_l`, with a locale.
    const VARIANTS: &[&str] = &["l", "generic", "sse2", "sse42", "sse4_1", "sse4_2", "ssse3", "avx", "avx2", "evex"];
    // Behind its beginning: `wcschr+0x1c`.
    let name = name.split('+').next().unwrap_or_default().trim_start_matches('_');
    let (base, variant) = name.split_once('_').unwrap_or((name, ""));
    let is_known = variant.is_empty() || VARIANTS.iter().any(|v| variant.starts_with(v));
    (is_known && NAMES.binary_search(&base).is_ok()).then_some(base)
}

/// Why the address of a load is concretised.
pub(super) const PAST: &str = "address of a read past its object";

/// Bytes a value of `width` bits takes in memory.
fn bytes_of(width: u32) -> u64 {
    u64::from(width.div_ceil(8))
}

/// Reads the bytes of a load; machine code (`inst`) may read past the object.
fn load_bytes(cx: &mut Cx<'_>, inst: Option<&Inst>, pointer: Value, size: u64) -> Result<ExprId, Stop> {
    let e = match pointer::known(cx, pointer) {
        Value::Bits(addr) => return load_past(cx, inst, addr, size),
        Value::Sym(e) => e,
    };
    cx.require_written(e, "an address")?;
    let e = pointer::resolved(cx, e)?;
    let mut candidates = resolve::candidates(cx, e);
    if candidates.len() > 1
        && let Some(word) = table::load_any(cx, &mut candidates, size)?
    {
        return Ok(word);
    }
    match pointer::place_among(cx, candidates, size, false, inst)? {
        Place::At(addr) => load_past(cx, inst, addr, size),
        Place::In(object, offset) => {
            // Before the bounds are checked: each value is in bounds or not.
            let mut offset = table::automaton_offset(cx, offset)?;
            let readable = readable(cx, &object, offset, size);
            // Its interval alone says of most offsets that they are inside.
            if let Some(inst) = inst
                && cx.core.pool.interval(offset).1.checked_add(size).is_none_or(|end| end > readable)
                && read_at_once(cx, inst, object.base, size).is_some()
                && !decide_within(cx, readable, offset, size)?
            {
                let base = cx.core.pool.bits(64, object.base);
                let addr = cx.core.pool.add(base, offset);
                let addr = cx.concretise(Value::Sym(addr), PAST)?;
                if let Some(part) = outside_of_object(cx, inst, addr, size) {
                    return Ok(part);
                }
                offset = cx.core.pool.bits(64, addr.wrapping_sub(object.base));
            }
            check_within(cx, &object, readable, offset, size, false)?;
            load_within(cx, &Object { size: readable, ..object }, offset, size)
        }
    }
}

/// Reads at an address; machine code may read past the object.
fn load_past(cx: &mut Cx<'_>, inst: Option<&Inst>, addr: u64, size: u64) -> Result<ExprId, Stop> {
    match inst.and_then(|inst| outside_of_object(cx, inst, addr, size)) {
        Some(part) => Ok(part),
        None => load_at(cx, addr, size),
    }
}

/// Decides whether a read of `size` bytes at an offset ends before `end`.
fn decide_within(cx: &mut Cx<'_>, end: u64, offset: ExprId, size: u64) -> Result<bool, Stop> {
    let Some(last) = end.checked_sub(size) else { return Ok(false) };
    let last = cx.core.pool.bits(64, last);
    let within = cx.core.pool.ule(offset, last);
    cx.decide(within)
}

/// What a load of machine code at an address is a part of, if it may lie past its object; whether a string function of the C library reads it.
fn read_at_once(cx: &Cx<'_>, inst: &Inst, address: u64, size: u64) -> Option<(Part, bool)> {
    if !cx.core.config.machine_code {
        return None;
    }
    let known = Part::unpack(inst.b);
    if known.is_none() && size > 1 && size < WORD {
        return None;
    }
    let here = places::source(&cx.core.image, cx.pos());
    let function = here.first().and_then(|here| string_function(&here.function));
    let block = match function {
        Some(name) if size == 1 && BY_WORDS.contains(&name) => Some(Part { of: SPAN as u32, at: (address % SPAN) as u32 }),
        Some(_) if size >= WORD => Some(Part { of: size as u32, at: 0 }),
        _ => None,
    };
    let in_library = block.is_some();
    Some((known.or(block)?, in_library))
}

/// Reads `width` bits, little-endian. May decide and fault; asks the solver only for symbolic addresses.
pub fn load(cx: &mut Cx<'_>, pointer: Value, width: u32) -> Result<ExprId, Stop> {
    let whole = load_bytes(cx, None, pointer, bytes_of(width))?;
    Ok(cx.core.pool.extract(whole, 0, width))
}

/// Reads at an offset that is in bounds.
pub(super) fn load_within(cx: &mut Cx<'_>, object: &Object, offset: ExprId, size: u64) -> Result<ExprId, Stop> {
    match cx.core.pool.as_u64(offset) {
        Some(offset) => load_at(cx, object.base + offset, size),
        None => load_in(cx, object, offset, size),
    }
}

pub(super) fn load_at(cx: &mut Cx<'_>, addr: u64, size: u64) -> Result<ExprId, Stop> {
    if size <= 8
        && let Some(e) = cx.state.memory.space.whole_cell(addr, size)
    {
        return Ok(e);
    }
    let mut bytes = [0; 16];
    if let Some(bytes) = bytes.get_mut(..size as usize)
        && cx.state.memory.space.read(addr, bytes)
    {
        return Ok(constant(cx, bytes));
    }
    let mut parts = Vec::with_capacity(size as usize);
    let (mut inside, zero) = (false, cx.core.pool.bits(8, 0));
    for i in 0..size {
        let byte = byte_at(cx, addr.wrapping_add(i));
        inside |= byte.is_some();
        parts.push(byte.unwrap_or(zero));
        if byte.is_none() && !may_overhang(cx, addr, size) {
            return Err(pointer::bad_access(cx, addr, size, false).into());
        }
    }
    if inside { Ok(joined(cx, &parts)) } else { Err(pointer::bad_access(cx, addr, size, false).into()) }
}

/// Whether a read of `size` bytes at an address may lie partly outside of the object.
fn may_overhang(cx: &Cx<'_>, addr: u64, size: u64) -> bool {
    cx.core.config.machine_code && size <= 16 && size.is_power_of_two() && addr.is_multiple_of(size)
}

/// What a load of machine code reads that lies partly or wholly outside of its object; nothing where it lies inside, or faults at once. String
/// functions read whole blocks and then look only at the object's bytes: no page ends inside such a block, so the processor does not
/// object. The bytes outside of a vector have any value, and the path faults where anything depends on them (unwritten.rs). In
/// functions that a symbol calls a string function of the C library, branches may: there the bytes are [`FILLER`], which no string
/// ends with, so that one without an end is read on into the next block.
pub(super) fn outside_of_object(cx: &mut Cx<'_>, inst: &Inst, address: u64, size: u64) -> Option<ExprId> {
    let is_live = |at| !matches!(cx.state.memory.space.byte(at), Byte::Dead);
    if (address..address.saturating_add(size)).all(is_live) {
        return None;
    }
    let (whole, in_library) = read_at_once(cx, inst, address, size)?;
    let start = address.checked_sub(whole.at.into())?;
    let gone = |o: &Object| matches!(o.what, What::Heap { freed: Some(_), .. }) || pointer::has_returned(cx, o);
    // A string that begins later in the line may be alive; what lies beside an object is not its own.
    let begins_later = in_library && (start..=start | (LINE - 1)).any(is_live);
    if !begins_later && pointer::object_at(cx, start).is_some_and(|object| start.wrapping_sub(object.base) < object.size && gone(&object)) {
        return None;
    }
    let last = start.checked_add(u64::from(whole.of) - 1)?;
    let page = start / KERNEL_PAGE;
    if page != last / KERNEL_PAGE {
        return None;
    }
    let block = if size == 1 { 0 } else { BLOCK };
    let near = start.saturating_sub(block).max(page * KERNEL_PAGE)..=last.saturating_add(block).min(page * KERNEL_PAGE + KERNEL_PAGE - 1);
    // The vector's own bytes first: what lies in it is more likely its object.
    let object = (start..=last).chain(near).find_map(|at| {
        let live = !matches!(cx.state.memory.space.byte(at), Byte::Dead);
        live.then(|| pointer::object_at(cx, at)).flatten()
    })?;
    let mut bytes = Vec::with_capacity(size as usize);
    for at in address..address + size {
        let inside = if at.wrapping_sub(object.base) < object.size { byte_at(cx, at) } else { None };
        bytes.push(match inside {
            Some(byte) => byte,
            None if in_library => cx.core.pool.bits(8, FILLER),
            None => unwritten::overread_byte(cx, at, &object),
        });
    }
    Some(joined(cx, &bytes))
}

/// Up to which size of the object a read of `size` bytes at `offset` may reach: the object's own, or whole words.
fn readable(cx: &Cx<'_>, object: &Object, offset: ExprId, size: u64) -> u64 {
    let aligned = match cx.core.pool.as_u64(offset) {
        Some(offset) => object.base.wrapping_add(offset).is_multiple_of(size),
        None => object.base.is_multiple_of(size) && cx.core.pool.known_bits(offset).0.trailing_ones() >= size.trailing_zeros(),
    };
    let end = object.base.wrapping_add(object.size);
    if aligned && may_overhang(cx, 0, size) { end.next_multiple_of(size).wrapping_sub(object.base) } else { object.size }
}

fn constant(cx: &mut Cx<'_>, bytes: &[u8]) -> ExprId {
    let mut limbs = vec![0u64; bytes.len().div_ceil(8)];
    for (i, b) in bytes.iter().enumerate() {
        limbs[i / 8] |= u64::from(*b) << (8 * (i % 8));
    }
    cx.core.pool.wide(8 * bytes.len() as u32, &limbs)
}

/// Bytes, lowest first, as one value.
pub fn joined(cx: &mut Cx<'_>, parts: &[ExprId]) -> ExprId {
    let mut whole = parts[0];
    for part in &parts[1..] {
        whole = cx.core.pool.concat(*part, whole);
    }
    whole
}

/// The 8-bit expression of a byte; `None` if it belongs to no object. An uninitialised byte gets its value here.
pub fn byte_at(cx: &mut Cx<'_>, addr: u64) -> Option<ExprId> {
    Some(match cx.state.memory.space.byte(addr) {
        Byte::Dead => return None,
        Byte::Concrete(b) => cx.core.pool.bits(8, b.into()),
        Byte::Symbolic { expr, index } => cx.core.pool.extract(expr, 8 * u32::from(index), 8),
        Byte::Uninitialised => {
            let s = match cx.core.config.uninit {
                Uninit::Symbolic if let Some(lazy) = cx.core.lazy.clone() => lazy.unwritten(addr, cx),
                Uninit::Zero => cx.core.pool.bits(8, 0),
                Uninit::Report => unwritten::unwritten_byte(cx, addr),
                Uninit::Symbolic | Uninit::SymbolicGlobals => unwritten::unwritten_input(cx, addr),
            };
            cx.state.memory.space.store_expr(addr, 1, s, &mut cx.core.pool);
            s
        }
    })
}

fn load_in(cx: &mut Cx<'_>, object: &Object, offset: ExprId, size: u64) -> Result<ExprId, Stop> {
    let within = |(low, high): (u64, u64)| (low.min(high).min(object.size - size), high.min(object.size - size));
    let (mut low, mut high) = within(cx.core.pool.interval(offset));
    if high - low + size > cx.core.config.max_symbolic_object {
        (low, high) = table::bounds_of_few(cx, offset).map_or((low, high), within);
    }
    if high - low + size > cx.core.config.max_symbolic_object {
        let offset = cx.concretise(Value::Sym(offset), "offset into a large object")?;
        return load_at(cx, object.base + offset, size);
    }
    if let Some(word) = table::load_element(cx, object, offset, size, low, high)? {
        return Ok(word);
    }
    let array = array_in(cx, object, low, high + size, size)?;
    let mut parts = Vec::with_capacity(size as usize);
    for i in 0..size {
        let shift = cx.core.pool.bits(64, i.wrapping_sub(low));
        let index = cx.core.pool.add(offset, shift);
        parts.push(cx.core.pool.read(array, index));
    }
    Ok(joined(cx, &parts))
}

/// The bytes of an object from `low` to `high`, as an array that values of `size` bytes are read from.
fn array_in(cx: &mut Cx<'_>, object: &Object, low: u64, high: u64, size: u64) -> Result<ArrayId, Stop> {
    let mut values = vec![0; (high - low) as usize];
    if cx.state.memory.space.read(object.base + low, &mut values) {
        return Ok(cx.core.pool.array_of_bytes(&values));
    }
    let mut bytes = Vec::with_capacity(values.len());
    let overhangs = may_overhang(cx, object.base, size);
    for i in low..high {
        match byte_at(cx, object.base + i) {
            Some(e) => bytes.push(e),
            None if overhangs => bytes.push(cx.core.pool.bits(8, 0)),
            None => return Err(pointer::bad_offset(cx, object, i, 1, false).into()),
        }
    }
    Ok(cx.core.pool.array(&bytes))
}

/// Writes a value of any width, little-endian. May decide and fault; asks the solver only for symbolic addresses.
pub fn store(cx: &mut Cx<'_>, pointer: Value, value: ExprId) -> Result<(), Stop> {
    let size = bytes_of(cx.core.pool.width(value));
    let value = cx.core.pool.zext(value, 8 * size as u32);
    match pointer::place(cx, pointer, size, true)? {
        Place::At(addr) => store_at(cx, addr, value, size),
        Place::In(object, offset) => {
            check_bounds(cx, &object, offset, size, true)?;
            match cx.core.pool.as_u64(offset) {
                Some(offset) => store_at(cx, object.base + offset, value, size),
                None => store_in(cx, &object, offset, value, size),
            }
        }
    }
}

/// Whether every byte of the range is live and on a writable page.
pub fn writable_range(cx: &Cx<'_>, addr: u64, len: u64) -> bool {
    if len > MAX_BLOCK || addr.checked_add(len).is_none() {
        return false;
    }
    let mut at = addr;
    let end = addr + len;
    while at < end {
        let stop = end.min((at / PAGE + 1) * PAGE);
        let Some(page) = cx.state.memory.space.page(at / PAGE) else { return false };
        if !page.is_writable() || !page.all_live((at % PAGE) as usize, (stop - at) as usize) {
            return false;
        }
        at = stop;
    }
    true
}

fn store_at(cx: &mut Cx<'_>, addr: u64, value: ExprId, size: u64) -> Result<(), Stop> {
    if !writable_range(cx, addr, size) {
        return Err(pointer::bad_access(cx, addr, size, true).into());
    }
    put_bytes(cx, addr, value, size);
    Ok(())
}

/// Writes to bytes known to be live and writable.
fn put_bytes(cx: &mut Cx<'_>, addr: u64, value: ExprId, size: u64) {
    let space = &mut cx.state.memory.space;
    match cx.core.pool.as_limbs(value) {
        Some(limbs) => {
            let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).take(size as usize).collect();
            space.write(addr, &bytes);
        }
        None => {
            for i in (0..size).step_by(8) {
                let n = (size - i).min(8);
                let part = cx.core.pool.extract(value, 8 * i as u32, 8 * n as u32);
                match cx.core.pool.as_plain(part) {
                    Some(bits) => {
                        space.write(addr + i, &bits.to_le_bytes()[..n as usize]);
                    }
                    None => {
                        space.store_expr(addr + i, n, part, &mut cx.core.pool);
                    }
                }
            }
        }
    }
}

fn store_in(cx: &mut Cx<'_>, object: &Object, offset: ExprId, value: ExprId, size: u64) -> Result<(), Stop> {
    let (low, high) = cx.core.pool.interval(offset);
    let high = high.min(object.size - size);
    let low = low.min(high);
    if high - low > MAX_STORE_SPREAD {
        let offset = cx.concretise(Value::Sym(offset), "offset of a store into a large object")?;
        return store_at(cx, object.base + offset, value, size);
    }
    let mut new = Vec::with_capacity((high - low + size) as usize);
    for at in low..high + size {
        let Some(mut byte) = byte_at(cx, object.base + at) else {
            return Err(pointer::bad_offset(cx, object, at, 1, true).into());
        };
        // Byte `at` is byte i of the value where the offset is at - i.
        for i in 0..size.min(at + 1) {
            let start = cx.core.pool.bits(64, at - i);
            let here = cx.core.pool.eq(offset, start);
            let part = cx.core.pool.extract(value, 8 * i as u32, 8);
            byte = cx.core.pool.ite(here, part, byte);
        }
        new.push((object.base + at, byte));
    }
    for (addr, byte) in new {
        put_bytes(cx, addr, byte, 1);
    }
    Ok(())
}

/// The access must lie in the object's bounds, be to a live object, and be allowed.
fn check_bounds(cx: &mut Cx<'_>, object: &Object, offset: ExprId, size: u64, write: bool) -> Result<(), Stop> {
    check_within(cx, object, object.size, offset, size, write)
}

/// As [`check_bounds`], where the object's bytes may be used up to `end`.
fn check_within(cx: &mut Cx<'_>, object: &Object, end: u64, offset: ExprId, size: u64, write: bool) -> Result<(), Stop> {
    let freed = matches!(object.what, What::Heap { freed: Some(_), .. }) || pointer::has_returned(cx, object);
    let read_only = write && matches!(object.what, What::Global { writable: false, .. } | What::Variable { writable: false, .. });
    let code = matches!(object.what, What::Function { .. });
    if freed || code || read_only || size > end {
        let at = cx.core.eval.eval(&cx.core.pool, offset, &cx.state.model);
        return Err(pointer::bad_offset(cx, object, at, size, write).into());
    }
    let last = cx.core.pool.bits(64, end - size);
    let ok = cx.core.pool.ule(offset, last);
    if survive::may_survive(cx) {
        // A path goes on outside of the bounds, too.
        if cx.decide(ok)? {
            return Ok(());
        }
        let at = cx.core.eval.eval(&cx.core.pool, offset, &cx.state.model);
        return Err(pointer::bad_offset(cx, object, at, size, write).into());
    }
    cx.require(ok, |cx, model| {
        let at = wryneck_expr::Evaluator::default().eval(&cx.core.pool, offset, model);
        pointer::bad_offset(cx, object, at, size, write)
    })
}

/// The bytes of a range, as 8-bit expressions; faults at the first that cannot be read.
pub fn read_bytes(cx: &mut Cx<'_>, addr: u64, len: u64) -> Result<Vec<ExprId>, Stop> {
    if len > MAX_BLOCK {
        return Err(pointer::bad_access(cx, addr, len, false).into());
    }
    let mut out = Vec::with_capacity(len as usize);
    for i in 0..len {
        look_in_block(cx, i)?;
        match byte_at(cx, addr.wrapping_add(i)) {
            Some(e) => out.push(e),
            None => return Err(pointer::bad_access(cx, addr, len, false).into()),
        }
    }
    Ok(out)
}

/// Writes 8-bit expressions to a range; faults if one byte cannot be written, and then writes nothing.
pub fn write_bytes(cx: &mut Cx<'_>, addr: u64, bytes: &[ExprId]) -> Result<(), Stop> {
    if !writable_range(cx, addr, bytes.len() as u64) {
        return Err(pointer::bad_access(cx, addr, bytes.len() as u64, true).into());
    }
    cx.state.dirty = true;
    for (i, byte) in bytes.iter().enumerate() {
        put_bytes(cx, addr + i as u64, *byte, 1);
    }
    Ok(())
}

/// Writes concrete bytes; faults if one byte cannot be written, and then writes nothing.
pub fn write_concrete(cx: &mut Cx<'_>, addr: u64, bytes: &[u8]) -> Result<(), Stop> {
    if !writable_range(cx, addr, bytes.len() as u64) {
        return Err(pointer::bad_access(cx, addr, bytes.len() as u64, true).into());
    }
    cx.state.dirty = true;
    cx.state.memory.space.write(addr, bytes);
    Ok(())
}

/// Writes so many zeros; faults as [`write_concrete`] does.
pub fn clear(cx: &mut Cx<'_>, addr: u64, len: u64) -> Result<(), Stop> {
    if !writable_range(cx, addr, len) {
        return Err(pointer::bad_access(cx, addr, len, true).into());
    }
    cx.state.dirty = true;
    cx.state.memory.space.clear(addr, len, &mut cx.core.pool);
    Ok(())
}

/// Notes that an operation has copied so many bytes: after many, the clock and memory are looked at.
pub fn note_copied(cx: &mut Cx<'_>, len: u64) {
    cx.core.block_bytes += len;
}

/// Copies a block; pointers and length are concretised where they are symbolic. Any overlap is a move.
pub fn copy_bytes(cx: &mut Cx<'_>, to: Value, from: Value, len: Value) -> Result<(), Stop> {
    let len = cx.concretise(len, "length of a block copy")?;
    cx.core.block_bytes += len;
    if len == 0 {
        return Ok(());
    }
    let from = block_address(cx, from, len, false)?;
    let to = writable_block(cx, to, len)?;
    held::room_for_block(cx, len)?;
    let mut few = [0; 64];
    let mut many = Vec::new();
    let bytes = match few.get_mut(..len as usize) {
        Some(few) => few,
        None => {
            many.resize(len as usize, 0);
            &mut many
        }
    };
    if cx.state.memory.space.read(from, bytes) {
        cx.state.dirty = true;
        cx.state.memory.space.write(to, bytes);
        return Ok(());
    }
    // Whole cells of eight bytes travel as they are; the rest byte by byte.
    let mut moved = Vec::new();
    let mut at = 0;
    while at < len {
        look_in_block(cx, moved.len() as u64)?;
        let n = (len - at).min(8);
        match cx.state.memory.space.whole_cell(from + at, n) {
            Some(e) => {
                moved.push((at, e, n));
                at += n;
            }
            None => match byte_at(cx, from + at) {
                Some(e) => {
                    moved.push((at, e, 1));
                    at += 1;
                }
                None => return Err(pointer::bad_access(cx, from, len, false).into()),
            },
        }
    }
    cx.state.dirty = true;
    for (done, (at, e, n)) in moved.into_iter().enumerate() {
        look_in_block(cx, done as u64)?;
        put_bytes(cx, to + at, e, n);
    }
    Ok(())
}

/// Fills a block with a byte; pointer and length are concretised where they are symbolic.
pub fn fill_bytes(cx: &mut Cx<'_>, to: Value, byte: Value, len: Value) -> Result<(), Stop> {
    let len = cx.concretise(len, "length of a block fill")?;
    cx.core.block_bytes += len;
    if len == 0 {
        return Ok(());
    }
    let to = writable_block(cx, to, len)?;
    held::room_for_block(cx, len)?;
    cx.state.dirty = true;
    match byte {
        Value::Bits(b) => {
            let page = [b as u8; PAGE as usize];
            for done in (0..len).step_by(PAGE as usize) {
                cx.state.memory.space.write(to + done, &page[..(len - done).min(PAGE) as usize]);
            }
        }
        Value::Sym(_) => {
            let byte = cx.expr(byte, 8);
            for i in 0..len {
                look_in_block(cx, i)?;
                put_bytes(cx, to + i, byte, 1);
            }
        }
    }
    Ok(())
}

/// Ends a path in the middle of a block of symbolic bytes that is too long, or if the exploration is to end. `done`: bytes or whole cells so far.
fn look_in_block(cx: &mut Cx<'_>, done: u64) -> Result<(), Stop> {
    if !done.is_multiple_of(LOOK_IN_BLOCK) || done == 0 {
        return Ok(());
    }
    if done >= cx.core.config.max_symbolic_block {
        return Err(PathEnd::Limit(Limit::ObjectSize).into());
    }
    if cx.core.end_signal.asked() { Err(PathEnd::Limit(Limit::Interrupted).into()) } else { held::check(cx.core, cx.state) }
}

/// The address of a block: bounds are checked before a symbolic offset is concretised.
pub fn block_address(cx: &mut Cx<'_>, pointer: Value, len: u64, write: bool) -> Result<u64, Stop> {
    match pointer::place(cx, pointer, len, write)? {
        Place::At(addr) => Ok(addr),
        Place::In(object, offset) => {
            check_bounds(cx, &object, offset, len, write)?;
            Ok(object.base + cx.concretise(Value::Sym(offset), "address of a block")?)
        }
    }
}

/// The same of a block that may be written as a whole; a fault otherwise.
pub fn writable_block(cx: &mut Cx<'_>, pointer: Value, len: u64) -> Result<u64, Stop> {
    let address = block_address(cx, pointer, len, true)?;
    if writable_range(cx, address, len) { Ok(address) } else { Err(pointer::bad_access(cx, address, len, true).into()) }
}
