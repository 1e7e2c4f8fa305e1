//! Uninitialised memory: input of the program, or a fault where the program depends on it.
//!
//! [`Uninit::Symbolic`]: it is input. The first read of an uninitialised byte turns all uninitialised bytes in its `PIECE` of the object
//! into input, named after the object. [`Uninit::SymbolicGlobals`]: the program's own variables without an initial value count too,
//! although C zeroes them. In bitcode these are the variables that are all zeros; in executables those without bytes in the file. Pointers
//! among them may have any value.
//!
//! [`Uninit::Report`]: reading is harmless, but a branch, an address or output must not depend on such a byte. A byte that is read before
//! it is written becomes a symbol named after its object, and copies carry the symbol. A decision first tests by support whether its
//! expression contains such a symbol. If so, the solver is asked whether another value of the symbol would change the result. Parts of `&&`
//! and `||` without such a symbol are decided first, as the program's own tests would be. The other modes cost nothing.
//!
//! A vector load of machine code may read bytes outside of an object together with the object's own. In every mode, decisions must not
//! depend on such bytes. They must not be stored either, except on the stack. A string function that ignores them is right; a copy that
//! moves them is not.

use rustc_hash::FxHashMap;
use wryneck_expr::subst::subst;
use wryneck_expr::{ExprId, Kind, SymId};

use crate::ground::config::Uninit;
use crate::ground::memory::Byte;
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::pointer::{Object, What};
use crate::step::{inputs, pointer};

/// What the names of such symbols begin with; no input of a program does.
pub(crate) const MARK: &str = "never written: ";
/// What the names of bytes outside of an object begin with that a vector load read with the object's own.
const OUTSIDE: &str = "outside: ";
/// What comes after it in such a name is not shown.
const HIDDEN: char = '\0';
/// Bytes of an object that become input together.
const PIECE: u64 = 1024;

/// The description of an object, with its address after [`HIDDEN`]: two objects of one place in the source have bytes of their own.
fn only(cx: &Cx<'_>, object: &Object) -> String {
    format!("{}{HIDDEN}{:x}", pointer::describe(cx, object), object.base)
}

impl Cx<'_> {
    /// Faults if the value depends on memory that was never written. `what` is decided by it: "a branch", "an address". May decide; asks
    /// the solver where the value mentions such memory.
    pub fn require_written(&mut self, e: ExprId, what: &str) -> Result<(), Stop> {
        if self.core.config.uninit != Uninit::Report && !self.state.overread {
            return Ok(());
        }
        let mut e = e;
        loop {
            let unwritten = unwritten_in(self, e);
            if unwritten.is_empty() {
                return Ok(());
            }
            match clean_part(self, e) {
                Some((first, if_set, if_clear)) => e = if self.decide(first)? { if_set } else { if_clear },
                None => return require_same(self, e, &unwritten, what),
            }
        }
    }
}

/// The symbol of a byte that was never written.
pub(crate) fn unwritten_byte(cx: &mut Cx<'_>, addr: u64) -> ExprId {
    let (name, offset) = match pointer::object_at(cx, addr) {
        Some(object) => (only(cx, &object), addr.wrapping_sub(object.base)),
        None => ("memory that belongs to no object".into(), addr),
    };
    // What is below the stack pointer becomes unwritten again with each replaced function: two reads may give two values.
    let when = if cx.core.config.scratch { format!(" read at instruction {}", cx.state.instructions) } else { String::new() };
    let symbol = cx.core.pool.symbol(&format!("{MARK}{name}{when}"), offset as u32, 8);
    cx.core.pool.sym(symbol)
}

/// The input that a byte never written becomes. Not a change that a fork would have to undo: reading again gives the same symbol.
pub(crate) fn unwritten_input(cx: &mut Cx<'_>, addr: u64) -> ExprId {
    let variable = cx.state.variables.over(addr);
    let variable = variable.and_then(|v| Some(Object { base: v.base, size: v.size, ..pointer::variable_at(cx, v.base)? }));
    let object =
        variable.or_else(|| named_data(cx, addr)).or_else(|| pointer::object_at(cx, addr)).filter(|o| addr.wrapping_sub(o.base) < o.size);
    let (mut name, base, size) = object.map_or(("memory".into(), addr, 1), |o| (input_name(cx, &o), o.base, o.size));
    let start = (addr - base) / PIECE * PIECE;
    if start > 0 {
        name = format!("{name}+{start}");
    }
    let dirty = cx.state.dirty;
    let bytes = inputs::new_input(cx, &name, PIECE.min(size - start));
    cx.state.dirty = dirty;
    for (at, byte) in (base + start..).zip(&bytes) {
        if cx.state.memory.space.byte(at) == Byte::Uninitialised {
            cx.state.memory.space.store_expr(at, 1, *byte, &mut cx.core.pool);
        }
    }
    cx.state.unwritten_input = true;
    bytes[(addr - base - start) as usize]
}

/// The variable of static storage that a symbol of machine code names.
fn named_data(cx: &Cx<'_>, addr: u64) -> Option<Object> {
    let data = cx.core.code_source.as_ref()?.borrow().data(addr)?;
    let writable = cx.state.memory.static_near(addr, 0).is_none_or(|s| s.writable);
    Some(Object { base: data.address, size: data.size, what: What::Global { name: data.name, writable } })
}

/// What an object is called in a test.
fn input_name(cx: &Cx<'_>, object: &Object) -> String {
    match &object.what {
        What::Global { name, .. } | What::Local { name, .. } | What::Function { name } => name.clone(),
        What::Dynamic { func } => format!("stack of {}", cx.core.image.name(*func)),
        What::Variable { number, .. } => {
            let source = cx.core.code_source.as_ref().map(|source| source.borrow());
            let name = source.as_ref().and_then(|source| source.object(*number).map(|o| o.name.to_string()));
            name.unwrap_or_else(|| format!("variable {number}"))
        }
        What::Heap { origin, .. } => format!("heap at {}", pointer::origin_name(cx, *origin)),
    }
}

/// The symbol of a byte outside of an object that a vector load read with the object's own. It has any value.
pub(crate) fn overread_byte(cx: &mut Cx<'_>, addr: u64, object: &Object) -> ExprId {
    cx.state.overread = true;
    let name = format!("{OUTSIDE}{}", only(cx, object));
    let symbol = cx.core.pool.symbol(&name, addr.wrapping_sub(object.base) as u32, 8);
    cx.core.pool.sym(symbol)
}

/// The bytes never written, or outside of their object, that the expression mentions.
fn unwritten_in(cx: &Cx<'_>, e: ExprId) -> Vec<SymId> {
    let pool = &cx.core.pool;
    let marked = |s: &&SymId| pool.sym_info(**s).name.starts_with(MARK) || pool.sym_info(**s).name.starts_with(OUTSIDE);
    pool.support(e).iter().filter(marked).copied().collect()
}

/// Faults if a value that is to be stored depends on bytes outside of an object: registers may hold them, and the stack, where
/// functions with variable arguments save registers that hold nothing of theirs. May decide; asks the solver where the value mentions
/// such bytes.
pub(crate) fn require_inside(cx: &mut Cx<'_>, pointer: Value, e: ExprId) -> Result<(), Stop> {
    if !cx.state.overread {
        return Ok(());
    }
    let stack = cx.core.code_source.as_ref().and_then(|source| source.borrow().stack());
    if matches!((pointer, stack), (Value::Bits(at), Some(stack)) if stack.contains(at)) {
        return Ok(());
    }
    let mut outside = unwritten_in(cx, e);
    outside.retain(|s| cx.core.pool.sym_info(*s).name.starts_with(OUTSIDE));
    if outside.is_empty() { Ok(()) } else { require_same(cx, e, &outside, "a store") }
}

/// An address without the bytes outside of an object that its expression mentions: it faults if it depends on them, and else they may
/// be anything. May decide; asks the solver where the value mentions such bytes.
pub(crate) fn address_inside(cx: &mut Cx<'_>, pointer: Value) -> Result<Value, Stop> {
    let Value::Sym(e) = pointer else { return Ok(pointer) };
    if !cx.state.overread || unwritten_in(cx, e).is_empty() {
        return Ok(pointer);
    }
    cx.require_written(e, "an address")?;
    let outside: Vec<SymId> = unwritten_in(cx, e).into_iter().filter(|s| cx.core.pool.sym_info(*s).name.starts_with(OUTSIDE)).collect();
    let pool = &mut cx.core.pool;
    let zero = pool.bits(8, 0);
    let any = outside.into_iter().map(|byte| (pool.sym(byte), zero)).collect();
    let settled = subst(pool, e, &any);
    Ok(cx.value(settled))
}

/// A value as a choice by a condition that mentions nothing unwritten: the condition, the value if it holds, the value if not.
fn clean_part(cx: &mut Cx<'_>, e: ExprId) -> Option<(ExprId, ExprId, ExprId)> {
    let clean = |cx: &Cx<'_>, e: ExprId| cx.core.pool.as_u64(e).is_none() && unwritten_in(cx, e).is_empty();
    let bit = cx.core.pool.width(e) == 1;
    let (fls, tru) = (cx.core.pool.bits(1, 0), cx.core.pool.bits(1, 1));
    match cx.core.pool.kind(e) {
        Kind::Ite(c, a, b) if clean(cx, c) => Some((c, a, b)),
        Kind::And(a, b) if bit && clean(cx, a) => Some((a, b, fls)),
        Kind::And(a, b) if bit && clean(cx, b) => Some((b, a, fls)),
        Kind::Or(a, b) if bit && clean(cx, a) => Some((a, tru, b)),
        Kind::Or(a, b) if bit && clean(cx, b) => Some((b, tru, a)),
        Kind::Not(a) => {
            let (c, x, y) = clean_part(cx, a)?;
            Some((c, cx.core.pool.not(x), cx.core.pool.not(y)))
        }
        _ => None,
    }
}

/// Faults if other values of the unwritten bytes would change the value.
fn require_same(cx: &mut Cx<'_>, e: ExprId, unwritten: &[SymId], what: &str) -> Result<(), Stop> {
    let pool = &mut cx.core.pool;
    let mut others = FxHashMap::default();
    for &byte in unwritten {
        let info = pool.sym_info(byte);
        let (name, index, width) = (format!("another {}", info.name), info.index, info.width);
        let other = pool.symbol(&name, index, width);
        others.insert(pool.sym(byte), pool.sym(other));
    }
    let other = subst(pool, e, &others);
    let differs = pool.ne(e, other);
    let Some(model) = cx.ask(differs)? else { return Ok(()) };
    cx.state.model = model;
    let info = cx.core.pool.sym_info(unwritten[0]);
    let name = info.name.split(HIDDEN).next().unwrap_or_default();
    if let Some(object) = name.strip_prefix(OUTSIDE) {
        let message = format!("{what} depends on offset {} of {object}", info.index as i32);
        return Err(PathEnd::fault(FaultKind::OutOfBoundsRead, message).into());
    }
    let message = format!("{what} depends on byte {} of {}, which was never written", info.index, name.trim_start_matches(MARK));
    Err(PathEnd::fault(FaultKind::UninitialisedRead, message).into())
}
