//! Addresses: the object of an address, the possible targets of a symbolic pointer, and the message when an access is wrong.
//!
//! A symbolic pointer is base + offset (docs/design/005). Its bounds are those of the object that its base came from. Leaving them is the
//! fault; neighbouring objects are not explored. A pointer without a known base is resolved over objects, from its lowest feasible
//! address upwards, one decision each.

use std::rc::Rc;

use wryneck_expr::ExprId;
use wryneck_ir::code_source::Data;
use wryneck_ir::{Inst, Objects};

use super::memory::PAST;
use super::resolve::{Candidate, Lead, Region};
use crate::ground::image::CodePos;
use crate::ground::memory::heap::{self, Life, SLACK};
use crate::ground::memory::{Byte, FUNC_BASE, GLOBAL_BASE, NULL_PAGE};
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::ground::places;
use crate::ground::stacks::StackId;
use crate::state::threads::stack_top;
use crate::state::variables::Variable;
use crate::state::{Frame, State};
use crate::step::cx::{Cx, fix_region};
use crate::step::plugin::{Stop, Value};
use crate::step::{implied, lazy, memory, resolve};

/// Bytes below the stack that Linux keeps free, so that a stack overflow is noticed.
const STACK_GUARD: u64 = 1 << 20;
/// Bytes at the end of the room of another thread's stack that nothing is in.
pub const ROOM_GUARD: u64 = 64 << 10;

/// An object an address belongs to, in bounds or in the slack around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Global {
        name: String,
        writable: bool,
    },
    /// Allocated by these calls; freed at that place, if it is no longer live.
    Heap {
        origin: StackId,
        freed: Option<CodePos>,
        kind: u32,
    },
    Local {
        name: String,
        func: u32,
    },
    /// A dynamic stack allocation.
    Dynamic {
        func: u32,
    },
    Function {
        name: String,
    },
    /// A variable of machine code, by its number with the code source.
    Variable {
        number: u32,
        writable: bool,
    },
}

/// Where a memory access goes.
#[derive(Clone, Debug)]
pub enum Place {
    At(u64),
    /// At a symbolic offset (64 bits) inside an object; bounds not yet checked.
    In(Object, ExprId),
}

/// The object an address belongs to, counting the slack around it.
pub fn object_at(cx: &Cx<'_>, addr: u64) -> Option<Object> {
    let state: &State = cx.state;
    if heap::contains(addr) {
        let o = state.memory.heap.find(addr)?;
        let freed = match o.life {
            Life::Live => None,
            Life::Freed(pos) => Some(pos),
        };
        return Some(Object { base: o.base, size: o.size, what: What::Heap { origin: o.origin, freed, kind: o.kind } });
    }
    if let Some(frames) = state.frames_at(addr) {
        return local_at(cx, frames, addr);
    }
    if let Some(s) = state.memory.static_near(addr, SLACK) {
        let what = What::Global { name: s.name.to_string(), writable: s.writable };
        return Some(Object { base: s.base, size: s.size, what });
    }
    if (FUNC_BASE..GLOBAL_BASE).contains(&addr) {
        let name = cx.core.image.name_at(addr)?.to_owned();
        return Some(Object { base: addr, size: 0, what: What::Function { name } });
    }
    None
}

/// Whether it is a variable on the stack of machine code whose function has returned.
pub(crate) fn has_returned(cx: &Cx<'_>, object: &Object) -> bool {
    let (What::Variable { number, .. }, Some(source)) = (&object.what, &cx.core.code_source) else { return false };
    let source = source.borrow();
    let begin = object.base.wrapping_add(source.object(*number).map_or(0, |o| o.before));
    source.has_returned(*number, begin, &|at, out| cx.state.memory.space.read(at, out))
}

/// The variable of machine code that begins at an address.
pub(crate) fn variable_at(cx: &Cx<'_>, base: u64) -> Option<Object> {
    let Variable { size, before, number, .. } = cx.state.variables.at(base)?;
    let writable = cx.state.memory.static_near(base, 0).is_none_or(|s| s.writable);
    Some(Object { base: base.wrapping_sub(before), size: size + before, what: What::Variable { number, writable } })
}

fn local_at(cx: &Cx<'_>, frames: &[Rc<Frame>], addr: u64) -> Option<Object> {
    // Frames lie one below the other: the innermost one whose top is above the address owns it.
    let i = frames.partition_point(|f| f.top > addr).checked_sub(1)?;
    let frame = &frames[i];
    if let Some(&(base, size)) = frame.dynamic.iter().find(|(b, s)| addr + SLACK >= *b && addr < b + s + SLACK) {
        return Some(Object { base, size, what: What::Dynamic { func: frame.func() } });
    }
    let code = cx.core.image.code(frame.func());
    let rel = addr.checked_sub(frame.base)?;
    let n = code.frame.partition_point(|s| s.offset <= rel);
    let before = n.checked_sub(1).filter(|&n| rel < code.frame[n].offset + code.frame[n].size + SLACK);
    let n = before.or_else(|| (n < code.frame.len()).then_some(n))?;
    let slot = code.frame[n];
    let (module, function) = cx.core.image.function(frame.func());
    let name = module.str(module.allocas.range(function.allocas)[n].name).to_owned();
    Some(Object { base: frame.base + slot.offset, size: slot.size, what: What::Local { name, func: frame.func() } })
}

/// Where a pointer leads: an address, or an object with a symbolic offset. May decide; binds unknown pointers to objects.
pub fn place(cx: &mut Cx<'_>, pointer: Value, size: u64, write: bool) -> Result<Place, Stop> {
    let e = match known(cx, pointer) {
        Value::Bits(addr) => return Ok(Place::At(addr)),
        Value::Sym(e) => e,
    };
    cx.require_written(e, "an address")?;
    let e = resolved(cx, e)?;
    let candidates = resolve::candidates(cx, e);
    place_among(cx, candidates, size, write, None)
}

/// An address with its lazily made pointers replaced by their objects; `Err(Stop::Bind)` if one is unbound.
pub(super) fn resolved(cx: &mut Cx<'_>, e: ExprId) -> Result<ExprId, Stop> {
    match cx.core.lazy.clone() {
        Some(lazy) => lazy.resolve(e, cx),
        None => Ok(e),
    }
}

/// Which of these conditions about a pointer's object the path takes: the engine's choice, unless the code has tested it.
pub(super) fn choose_object(cx: &mut Cx<'_>, conds: &[ExprId]) -> Result<usize, Stop> {
    let before = cx.core.lazy.is_some().then(|| cx.state.path.clone());
    let at = cx.choose(conds, &[])?;
    if before.is_some_and(|path| !lazy::holds_on(cx, &path, conds[at])) {
        lazy::note_assumed(cx, conds[at], "which object a pointer points to");
    }
    Ok(at)
}

/// Which of these places a pointer leads to: one decision. `load` may read past its object.
pub(super) fn place_among(
    cx: &mut Cx<'_>,
    mut candidates: Vec<Candidate>,
    size: u64,
    write: bool,
    load: Option<&Inst>,
) -> Result<Place, Stop> {
    let conds: Vec<ExprId> = candidates.iter().map(|candidate| candidate.cond).collect();
    let at = if conds.len() == 1 { 0 } else { choose_object(cx, &conds)? };
    let e = match candidates.swap_remove(at).lead {
        Lead::To(Place::In(object, offset)) => {
            let offset = match cx.core.lazy.clone() {
                Some(lazy) => lazy.access(&object, offset, size, write, cx)?,
                None => offset,
            };
            return Ok(Place::In(object, implied::value(cx, offset)));
        }
        Lead::To(place) => return Ok(place),
        Lead::Unknown(e) => implied::value(cx, e),
    };
    if let Some(addr) = cx.core.pool.as_u64(e) {
        return Ok(Place::At(addr));
    }
    if cx.core.lazy.clone().is_some_and(|lazy| lazy.is_unbound(e, cx)) {
        // What was chosen may be a pointer that is bound.
        let resolved = resolved(cx, e)?;
        if resolved == e {
            return Err(Stop::Bind(e));
        }
        let candidates = resolve::candidates(cx, resolved);
        return place_among(cx, candidates, size, write, load);
    }
    resolve(cx, e, size, write, load)
}

/// Fixes the object that an address without a base lies in: that of the smallest address it can have. Larger addresses become a pending
/// flip. Not the object of the model's address: which one is first must depend on the path alone. Asks the solver.
fn resolve(cx: &mut Cx<'_>, e: ExprId, size: u64, write: bool, load: Option<&Inst>) -> Result<Place, Stop> {
    let (least, region) = fix_region(cx, e, &|cx, address| {
        let Region { base, size, .. } = resolve::region_of(cx, address);
        (base, size)
    })?;
    match resolve::region_of(cx, region.0).object.filter(|object| object.base == region.0) {
        Some(object) => {
            let base = cx.core.pool.bits(64, object.base);
            let offset = cx.core.pool.sub(e, base);
            Ok(Place::In(object, offset))
        }
        None if load.is_some_and(|inst| memory::outside_of_object(cx, inst, least, size).is_some()) => {
            Ok(Place::At(cx.concretise(Value::Sym(e), PAST)?))
        }
        None => Err(bad_access(cx, least, size, write).into()),
    }
}

/// Whether the address `k` of an object, to which `rest` is added, says that the object is meant.
pub(super) fn is_base(cx: &Cx<'_>, k: u64, object: &Object, rest: ExprId) -> bool {
    match object.what {
        What::Function { .. } | What::Variable { .. } => false,
        What::Global { .. } if cx.core.config.machine_code => {
            let (low, high) = cx.core.pool.interval(rest);
            let last = k.wrapping_sub(object.base).checked_add(high);
            low <= high && k >= object.base && last.is_some_and(|last| last < object.size)
        }
        // Compilers fold constants into addresses: that of `a[i - 4]` is no address of the object that lies there.
        What::Heap { .. } if cx.core.config.machine_code => k.checked_sub(object.base).is_some_and(|inside| inside <= object.size),
        What::Global { .. } | What::Heap { .. } | What::Local { .. } | What::Dynamic { .. } => true,
    }
}

/// A value, with a symbolic one replaced by its bits where the expression is constant.
pub(super) fn known(cx: &Cx<'_>, v: Value) -> Value {
    match v {
        Value::Sym(e) => cx.value(e),
        bits => bits,
    }
}

/// The fault of accessing `size` bytes at a concrete address that does not allow it.
pub fn bad_access(cx: &Cx<'_>, addr: u64, size: u64, write: bool) -> PathEnd {
    let verb = if write { "write" } else { "read" };
    let access = format!("{verb} of {size} byte{}", if size == 1 { "" } else { "s" });
    if addr < NULL_PAGE {
        let at = if addr == 0 { String::new() } else { format!(" plus {addr}") };
        return PathEnd::fault(FaultKind::NullDereference, format!("{access} at the null pointer{at}"));
    }
    if let Some(name) = cx.core.code_source.as_ref().and_then(|source| source.borrow().elsewhere(addr).map(str::to_owned)) {
        return PathEnd::Unsupported(format!("{access} at `{name}`, which is not in the objects"));
    }
    match object_at(cx, addr) {
        None if is_below_stack(cx, addr) => PathEnd::fault(FaultKind::StackOverflow, format!("{access} below the stack, which is used up")),
        None if is_stack(cx, addr) => {
            let message = format!("{access} on the stack below the running function: the variable's function has returned");
            PathEnd::fault(FaultKind::UseAfterReturn, message)
        }
        None => PathEnd::fault(FaultKind::WildPointer, format!("{access} at {addr:#x}, which belongs to no object")),
        Some(object) => bad_offset(cx, &object, addr.wrapping_sub(object.base), size, write),
    }
}

/// Whether an address lies where the stack of machine code would have to grow to.
fn is_below_stack(cx: &Cx<'_>, addr: u64) -> bool {
    let Some(stack) = cx.core.code_source.as_ref().and_then(|source| source.borrow().stack()) else { return false };
    let (count, size) = stack.rooms;
    let begin = match cx.state.threads.as_ref().and_then(|threads| threads.begins()) {
        // Its room holds no stack but its own.
        Some(begins) => begins.stack - (begins.stack - stack.base) % size..begins.stack,
        None => {
            // Below that are the stacks of others, if there are any.
            let guard = if cx.state.has_threads() { ROOM_GUARD } else { STACK_GUARD };
            stack.base + count * size - guard..stack.base + count * size
        }
    };
    let offset = addr.wrapping_sub(stack.base);
    let in_room = cx.state.has_threads() && offset < count * size && {
        // The room of a thread that has ended is empty.
        let end = stack.base + (offset / size + 1) * size;
        let statics = &cx.state.memory.statics;
        statics.get(statics.partition_point(|s| s.base <= addr)).is_some_and(|above| above.base < end)
    };
    in_room || begin.contains(&addr)
}

/// The fault of accessing `size` bytes at `offset` of an object that does not allow it.
pub fn bad_offset(cx: &Cx<'_>, object: &Object, offset: u64, size: u64, write: bool) -> PathEnd {
    let verb = if write { "write" } else { "read" };
    let access = format!("{verb} of {size} byte{}", if size == 1 { "" } else { "s" });
    let name = describe(cx, object);
    let from = offset_from(cx, object, offset);
    if let What::Function { name } = &object.what
        && cx.core.image.undefined_data_at(object.base).is_some()
    {
        return PathEnd::Unsupported(format!("{access} at `{name}`, which nothing defines"));
    }
    if let What::Heap { freed: Some(pos), .. } = object.what {
        let message = format!("{access} at offset {} of {name}, freed at {}", from, places::name(&cx.core.image, pos));
        return PathEnd::fault(FaultKind::UseAfterFree, message);
    }
    if has_returned(cx, object) {
        let message = format!("{access} at offset {} of {name}, whose function has returned", from);
        return PathEnd::fault(FaultKind::UseAfterReturn, message);
    }
    if is_below_stack(cx, object.base.wrapping_add(offset)) {
        return PathEnd::fault(FaultKind::StackOverflow, format!("{access} below the stack, which is used up"));
    }
    let inside = offset < object.size && size <= object.size - offset;
    if inside && is_accessible(cx, object.base.wrapping_add(offset), size, write) {
        return PathEnd::Internal(format!("{access} at offset {} of {name} is in bounds, and would be reported as a fault", from));
    }
    if inside && write {
        return PathEnd::fault(FaultKind::ReadOnlyWrite, format!("{access} at offset {} of {name}, which is read-only", from));
    }
    let kind = if write { FaultKind::OutOfBoundsWrite } else { FaultKind::OutOfBoundsRead };
    PathEnd::fault(kind, format!("{access} at offset {} of {name}", from))
}

/// Whether an access of so many bytes there is allowed: a fault of such an access would be a defect of ours.
fn is_accessible(cx: &Cx<'_>, addr: u64, size: u64, write: bool) -> bool {
    match write {
        true => memory::writable_range(cx, addr, size),
        false => (0..size.min(1 << 16)).all(|i| !matches!(cx.state.memory.space.byte(addr.wrapping_add(i)), Byte::Dead)),
    }
}

/// Where a heap object was allocated, in words: in the program's own code, if that is among the calls that are known.
pub(super) fn origin_name(cx: &Cx<'_>, origin: StackId) -> String {
    let (image, stack) = (&cx.core.image, cx.core.stacks.get(origin));
    let own = stack.iter().find(|pos| places::is_own(image, **pos));
    places::name(image, *own.unwrap_or(&stack[0]))
}

/// The object in words: name, size, where it came from.
pub fn describe(cx: &Cx<'_>, object: &Object) -> String {
    let size = object.size;
    match &object.what {
        // A compiler may keep no names.
        What::Global { name, .. } if name.is_empty() => format!("a variable of the program ({size} bytes)"),
        What::Local { name, .. } if name.is_empty() => format!("a local variable ({size} bytes)"),
        What::Global { name, .. } => format!("`{name}` ({size} bytes)"),
        What::Local { name, .. } => format!("`{name}` ({size} bytes)"),
        What::Dynamic { func } => format!("a stack allocation of `{}` ({size} bytes)", cx.core.image.name(*func)),
        What::Heap { .. } if let Some((name, _)) = cx.core.lazy.as_ref().and_then(|lazy| lazy.name(object.base, cx)) => name,
        What::Heap { .. } if let Some(name) = environment_name(cx, object.base) => format!("{name} ({size} bytes)"),
        What::Heap { origin, .. } => format!("a heap object ({size} bytes) allocated at {}", origin_name(cx, *origin)),
        What::Function { name } => format!("the code of `{name}`"),
        What::Variable { number, .. } => {
            let source = cx.core.code_source.as_ref().map(|source| source.borrow());
            match source.as_ref().and_then(|source| source.object(*number)) {
                Some(object) => format!("`{}` ({size} bytes by {})", object.name, object.known_by),
                None => format!("a variable ({size} bytes)"),
            }
        }
    }
}

/// An offset as messages give it: in a lazily made object from where its pointer points to.
pub(crate) fn offset_from(cx: &Cx<'_>, object: &Object, offset: u64) -> i64 {
    let lead = cx.core.lazy.as_ref().and_then(|lazy| lazy.name(object.base, cx)).map_or(0, |(_, lead)| lead);
    offset.wrapping_sub(lead) as i64
}

fn environment_name(cx: &Cx<'_>, base: u64) -> Option<String> {
    let object = cx.state.memory.heap.find(base)?;
    cx.core.environment.object_name(&object, cx.state)
}

/// An address in words: the object that it lies in, of machine code the variable by its symbol.
pub fn describe_address(cx: &Cx<'_>, at: u64) -> String {
    let variable = cx.core.code_source.as_ref().and_then(|source| source.borrow().data(at));
    let named = |data: Data| Object { base: data.address, size: data.size, what: What::Global { name: data.name, writable: true } };
    match variable.map(named).or_else(|| object_at(cx, at)) {
        Some(object) if object.base == at => describe(cx, &object),
        Some(object) => format!("offset {} of {}", at.wrapping_sub(object.base), describe(cx, &object)),
        None => format!("{at:#x}"),
    }
}

/// Whether an address lies where the stack of a thread may.
fn is_stack(cx: &Cx<'_>, addr: u64) -> bool {
    if let Some(stack) = cx.core.code_source.as_ref().and_then(|source| source.borrow().stack()) {
        return cx.state.has_threads() && stack.contains(addr);
    }
    let size = cx.core.config.stack_size;
    let mut tops = (0..cx.state.statuses().len() as u32).map(|thread| stack_top(thread, size));
    tops.any(|top| (top - size..top).contains(&addr))
}

/// Whether a slot holds a constant of the code.
fn is_constant(cx: &Cx<'_>, slot: u32) -> bool {
    (slot as usize) < cx.core.image.code(cx.pos().func).consts.len()
}

/// Whether `add` is asked for an index from null, where inputs are lazily made. However large it is, it makes no address. What is added to a
/// constant null is an integer that the code takes for an address.
fn is_null_indexed(cx: &Cx<'_>, base: u64, offset: ExprId, inst: &Inst) -> bool {
    let lazy = cx.core.lazy.clone().filter(|_| base < NULL_PAGE && !is_constant(cx, inst.a));
    lazy.is_some_and(|lazy| lazy.is_index(offset, inst.c, cx))
}

/// Address arithmetic on a symbolic base or count.
pub fn add(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let base = cx.operand(inst.a, 64);
    let count = cx.wide_operand(inst.b, 64);
    let scale = cx.core.pool.bits(64, inst.c.into());
    let offset = cx.core.pool.mul(count, scale);
    let result = match base {
        Value::Sym(base) => {
            if let Some(lazy) = cx.core.lazy.clone() {
                lazy.is_base(base, cx);
            }
            cx.core.pool.add(base, offset)
        }
        Value::Bits(addr) => match object_at(cx, addr).filter(|o| !matches!(o.what, What::Function { .. })) {
            Some(object) => {
                let inside = cx.core.pool.bits(64, addr.wrapping_sub(object.base));
                let offset = cx.core.pool.add(offset, inside);
                cx.core.pool.ptr(object.base, offset)
            }
            None if is_null_indexed(cx, addr, offset, inst) => {
                let inside = cx.core.pool.bits(64, addr);
                let offset = cx.core.pool.add(offset, inside);
                cx.core.pool.ptr(0, offset)
            }
            None => {
                let addr = cx.core.pool.bits(64, addr);
                cx.core.pool.add(addr, offset)
            }
        },
    };
    cx.put_wide(inst.dst, result);
    Ok(())
}

/// Says which object of machine code an address came from: the address stays what it is.
pub fn anchor(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let (address, base) = (cx.wide_operand(inst.a, 64), cx.operand(inst.b, 64));
    let size = |source: &dyn Objects| source.object(inst.c).map(|object| (object.size, object.before));
    let size = cx.core.code_source.as_ref().and_then(|source| size(&*source.borrow()));
    let result = match (base, size) {
        (Value::Bits(base), Some((size, before))) if cx.core.pool.as_ptr(address).is_none() => {
            let variable = Variable { base, size, before, number: inst.c };
            if cx.state.variables.at(base) != Some(variable) {
                cx.state.dirty = true;
                Rc::make_mut(&mut cx.state.variables).put(variable);
            }
            let begin = cx.core.pool.bits(64, base);
            let offset = cx.core.pool.sub(address, begin);
            cx.core.pool.ptr(base, offset)
        }
        _ => address,
    };
    cx.put_wide(inst.dst, result);
    Ok(())
}
