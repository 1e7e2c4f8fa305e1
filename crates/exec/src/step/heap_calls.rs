//! Services for models of allocators and string functions: heap objects and C strings.
//!
//! Each service decides before it changes anything, because a fork runs the whole call again (docs/design/001).

use wryneck_expr::ExprId;

use crate::ground::config::Uninit;
use crate::ground::memory::touch::Reuse;
use crate::ground::memory::{HeapObject, Life, heap};
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::ground::places;
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::pointer::{Place, What};
use crate::step::{lazy, memory, pointer};

/// Bytes after which a string counts as endless.
const MAX_STRING: u64 = 1 << 20;
/// Bytes that a string of lazily made inputs is assumed to have at most, where the engine reads it whole.
const LAZY_STRING: u64 = 24;

/// Bytes that an allocation may have on some machine: the address space of a process.
const MOST_OF_ANY: u64 = 1 << 47;

/// A new heap object of `size` bytes, zero or uninitialised (as the configuration says); `None` if it is too large. Changes the path.
pub fn allocate(cx: &mut Cx<'_>, size: u64, align: u64, zero: bool, kind: u32) -> Option<u64> {
    let origin = match cx.core.config.leaks || cx.core.config.allocation_stacks {
        true => {
            let stack = cx.core.call_stack(cx.state, usize::MAX);
            cx.core.stacks.intern(&stack)
        }
        false => {
            let site = cx.core.own_site(cx.state);
            cx.core.stacks.intern(&[site])
        }
    };
    cx.state.dirty = true;
    let Some((base, replaced)) = cx.state.memory.heap.allocate(size, align, origin, kind) else {
        if size <= MOST_OF_ANY {
            let what = format!("an allocation of more than {} bytes fails", heap::MAX_SIZE);
            cx.state.approximates(&*what);
            cx.core.ledger.note(LedgerKind::Assumption, what);
        }
        return None;
    };
    cx.core.block_bytes += size;
    let zero = zero || cx.core.config.uninit == Uninit::Zero;
    cx.state.memory.space.make_live(base, size, zero, &mut cx.core.pool);
    if let Some(old) = replaced {
        let own = cx.core.environment.allocates(&old);
        cx.state.memory.space.note_reuse(Reuse { own, origin: old.origin, base: old.base });
    }
    Some(base)
}

/// Frees a live heap object, as [`to_free`] gave it. Changes the path.
pub fn release(cx: &mut Cx<'_>, object: &HeapObject) {
    let site = cx.core.own_site(cx.state);
    cx.state.dirty = true;
    cx.state.memory.heap.free(object.base, site);
    cx.state.memory.space.make_dead(object.base, object.size, &mut cx.core.pool);
}

/// The object a pointer given to an allocator stands for; `None` for null. Faults if it is not the start of a live heap
/// object of one of these `kinds`. May decide.
pub fn to_free(cx: &mut Cx<'_>, pointer: Value, kinds: &[u32]) -> Result<Option<HeapObject>, Stop> {
    if let Value::Sym(e) = pointer {
        let zero = cx.core.pool.zero(64);
        let null = cx.core.pool.eq(e, zero);
        let before = cx.state.path.clone();
        let is_null = match cx.core.lazy.is_some() {
            // That freeing null is allowed says nothing about the pointer: no test of the code.
            true => {
                let some = cx.core.pool.not(null);
                cx.choose(&[null, some], &[])? == 0
            }
            false => cx.decide(null)?,
        };
        if is_null {
            if !lazy::holds_on(cx, &before, null) {
                lazy::note_assumed(cx, null, "a freed pointer is null");
            }
            return Ok(None);
        }
    }
    let addr = match pointer::place(cx, pointer, 1, false)? {
        Place::At(addr) => addr,
        Place::In(object, offset) if let Some(offset) = cx.core.pool.as_u64(offset) => object.base.wrapping_add(offset),
        Place::In(object, offset) => {
            let zero = cx.core.pool.zero(64);
            let at_start = cx.core.pool.eq(offset, zero);
            cx.require(at_start, |cx, _| {
                let message = format!("free of a pointer into {}", pointer::describe(cx, &object));
                PathEnd::fault(FaultKind::InvalidFree, message)
            })?;
            object.base
        }
    };
    if addr == 0 {
        return Ok(None);
    }
    if let Some(object) = cx.core.lazy.clone().and_then(|lazy| lazy.freed(addr, cx)) {
        return match object.life {
            Life::Live => Ok(Some(object)),
            Life::Freed(pos) => {
                let name = pointer::object_at(cx, addr).map_or_else(String::new, |o| pointer::describe(cx, &o));
                let message = format!("free of {name}, freed before at {}", places::name(&cx.core.image, pos));
                Err(PathEnd::fault(FaultKind::DoubleFree, message).into())
            }
        };
    }
    match object_from(cx, addr) {
        Some(o) if kinds.contains(&o.kind) => Ok(Some(o)),
        _ => Err(bad_free(cx, addr).into()),
    }
}

/// The live heap object that begins at an address.
pub fn object_from(cx: &Cx<'_>, addr: u64) -> Option<HeapObject> {
    let found = if heap::contains(addr) { cx.state.memory.heap.find(addr) } else { None };
    found.filter(|o| o.base == addr && o.life == Life::Live)
}

/// Gives a live object another kind. Changes the path.
pub fn set_kind(cx: &mut Cx<'_>, object: &HeapObject, kind: u32) {
    cx.state.dirty = true;
    cx.state.memory.heap.set_kind(object, kind);
}

/// That the object at an address, of which `why` says more, may not be freed in this way.
pub fn wrong_way(cx: &Cx<'_>, addr: u64, why: &str) -> PathEnd {
    let name = pointer::object_at(cx, addr).map_or_else(String::new, |object| pointer::describe(cx, &object));
    PathEnd::fault(FaultKind::InvalidFree, format!("free of {name}, {why}"))
}

fn bad_free(cx: &Cx<'_>, addr: u64) -> PathEnd {
    let Some(object) = pointer::variable_at(cx, addr).or_else(|| pointer::object_at(cx, addr)) else {
        return PathEnd::fault(FaultKind::InvalidFree, format!("free of {addr:#x}, which belongs to no object"));
    };
    let name = pointer::describe(cx, &object);
    let offset = pointer::offset_from(cx, &object, addr.wrapping_sub(object.base));
    match object.what {
        What::Heap { freed: Some(pos), .. } if offset == 0 => {
            PathEnd::fault(FaultKind::DoubleFree, format!("free of {name}, freed before at {}", places::name(&cx.core.image, pos)))
        }
        _ if offset == 0 => PathEnd::fault(FaultKind::InvalidFree, format!("free of {name}, which this allocator did not make")),
        _ => PathEnd::fault(FaultKind::InvalidFree, format!("free of a pointer to offset {offset} of {name}")),
    }
}

/// The bytes of a C string before its first byte that is surely NUL; where memory ends first, those before the end. Faults
/// if it ends after bytes none of which can be NUL. May decide only where the pointer is symbolic.
pub fn c_string(cx: &mut Cx<'_>, pointer: Value) -> Result<Vec<ExprId>, Stop> {
    let addr = memory::block_address(cx, pointer, 1, false)?;
    let mut bytes = Vec::new();
    for i in 0..MAX_STRING {
        if i == LAZY_STRING && ends_within(cx, &bytes)? {
            return Ok(bytes);
        }
        let Some(byte) = memory::byte_at(cx, addr.wrapping_add(i)) else {
            if bytes.iter().all(|b| cx.core.pool.as_u64(*b).is_some()) {
                return Err(pointer::bad_access(cx, addr.wrapping_add(i), 1, false).into());
            }
            return Ok(bytes);
        };
        if cx.core.pool.as_u64(byte) == Some(0) {
            return Ok(bytes);
        }
        bytes.push(byte);
    }
    Err(PathEnd::Unsupported(format!("a string of more than {MAX_STRING} bytes")).into())
}

/// Where inputs are lazily made, such a string is assumed to end within these bytes, if it can.
fn ends_within(cx: &mut Cx<'_>, bytes: &[ExprId]) -> Result<bool, Stop> {
    if cx.core.lazy.is_none() || bytes.iter().all(|b| cx.core.pool.as_u64(*b).is_some()) {
        return Ok(false);
    }
    let pool = &mut cx.core.pool;
    let (zero, mut ends) = (pool.bits(8, 0), pool.fls());
    for byte in bytes {
        let end = pool.eq(*byte, zero);
        ends = pool.or(ends, end);
    }
    let can = cx.choose_first(&[ends], 0..0)?.is_some();
    if can {
        let why = format!("a string of at most {LAZY_STRING} bytes");
        cx.core.ledger.note(LedgerKind::DroppedFlip, why.as_str());
        lazy::note_assumed(cx, ends, &why);
    }
    Ok(can)
}

/// As [`c_string`], if every byte is concrete.
pub fn concrete_string(cx: &mut Cx<'_>, pointer: Value) -> Result<Option<Vec<u8>>, Stop> {
    let bytes = c_string(cx, pointer)?;
    Ok(bytes.iter().map(|b| cx.core.pool.as_u64(*b).map(|b| b as u8)).collect())
}
