//! Calls of machine code from outside of it: entries, callbacks, preambles, and functions that run at exit.
//!
//! All machine code is one function. A call from outside pushes another frame of this function. Its registers are those of the innermost
//! frame of machine code below it, or the initial registers. Its stack pointer lies below the used part of the stack. The return address
//! is one whose code returns from that frame, so the caller gets a result as from any other function.

use wryneck_ir::{CALL_BACK, Calling, CodeSource, Convention};

use super::frame;
use super::run::entered;
use crate::ground::code::Callee;
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::Tagged;
use crate::state::threads::Begins;
use crate::step::cx::Cx;
use crate::step::memory;
use crate::step::plugin::{Stop, Value};

/// What signal handlers and callbacks must leave alone below the stack pointer (System V x86-64 ABI, section 3.2.2).
const RED_ZONE: u64 = 128;

/// Who is called by an address.
pub enum Called {
    Function(Callee),
    MachineCode(u64),
}

/// Has the machine code that the path is in go on with another stack. `false`: it is none.
pub fn set_stack_pointer(cx: &mut Cx<'_>, pointer: u64) -> bool {
    set_register(cx, |convention| convention.stack_pointer, pointer)
}

/// The same, with another thread pointer.
pub fn set_thread_pointer(cx: &mut Cx<'_>, pointer: u64) -> bool {
    set_register(cx, |convention| convention.thread, pointer)
}

fn set_register(cx: &mut Cx<'_>, limb: fn(&Convention) -> usize, pointer: u64) -> bool {
    let func = cx.pos().func;
    let limb = cx.core.code_source.as_ref().and_then(|source| source.borrow().convention().map(limb));
    let Some(limb) = limb.filter(|_| cx.core.image.is_machine_code(func)) else { return false };
    let slot = cx.core.image.code(func).consts.len() + limb;
    cx.state.dirty = true;
    cx.state.frame_mut().put(slot, (pointer, 0));
    true
}

/// The function that a call of this address reaches; `None` if there is none.
pub(super) fn called_at(cx: &Cx<'_>, address: u64) -> Option<Called> {
    let function = || cx.core.image.callee_at(address).map(Called::Function);
    let is_code = |source: &dyn CodeSource| {
        source.convention().is_some_and(|convention| convention.calling.is_some())
            && source.executable().iter().any(|(base, size)| address.wrapping_sub(*base) < *size)
    };
    let code = cx.core.code_source.as_ref().is_some_and(|source| is_code(&*source.borrow()));
    if code { Some(Called::MachineCode(address)) } else { function() }
}

/// Begins the machine code at an address with these arguments. The caller's operation is already the one after the call.
pub(super) fn enter(cx: &mut Cx<'_>, address: u64, args: &[Value], dst: u32, ret_width: u32) -> Result<(), Stop> {
    let convention = cx.core.code_source.as_ref().and_then(|source| source.borrow().convention().cloned());
    let Some(Convention { calling: Some(calling), arguments, stack_pointer, thread, .. }) = convention else {
        return Err(PathEnd::Internal("machine code that cannot be called".into()).into());
    };
    let image = cx.core.image.clone();
    let Some(machine) = image.machine_code() else { return Err(PathEnd::Internal("no machine code".into()).into()) };
    let own = [stack_pointer, thread];
    let mut limbs = registers(cx, (&calling, own), machine.func, machine.code.consts.len());
    let stack = match limbs[stack_pointer] {
        (pointer, 0) => pointer,
        _ => return Err(PathEnd::Unsupported("a call back to machine code while the stack pointer is symbolic".into()).into()),
    };
    let (registers, pushed) = args.split_at(args.len().min(arguments.len()));
    let registers: Vec<Tagged> = registers.iter().map(|arg| word(cx, *arg)).collect();
    let pointer = (stack.wrapping_sub(RED_ZONE + 8 * pushed.len() as u64) & !15).wrapping_sub(8);
    memory::write_concrete(cx, pointer, &calling.back.to_le_bytes())?;
    for (at, arg) in (pointer + 8..).step_by(8).zip(pushed) {
        match *arg {
            Value::Bits(word) => memory::write_concrete(cx, at, &word.to_le_bytes())?,
            Value::Sym(e) => {
                let word = if cx.core.pool.width(e) < 64 { cx.core.pool.zext(e, 64) } else { e };
                memory::store(cx, Value::Bits(at), word)?;
            }
        }
    }
    memory::write_concrete(cx, pointer.wrapping_add(calling.shadow), &calling.back.to_le_bytes())?;
    limbs[calling.instruction_pointer] = (address, 0);
    limbs[stack_pointer] = (pointer, 0);
    arguments.iter().zip(registers).for_each(|(limb, arg)| limbs[*limb] = arg);
    frame::enter(cx.core, cx.state, &machine.code, &limbs, dst, ret_width)?;
    entered(cx.core, cx.state);
    Ok(())
}

/// The registers of the innermost machine code, or those that the running thread begins with. Constants have the first slots of its frame.
/// `own`: the limbs of the stack pointer and the thread pointer.
fn registers(cx: &Cx<'_>, (calling, own): (&Calling, [usize; 2]), func: u32, constants: usize) -> Vec<Tagged> {
    let count = calling.initial.len();
    if let Some(frame) = cx.state.frames.iter().rev().find(|frame| frame.func() == func) {
        return (constants..constants + count).map(|slot| frame.get(slot)).collect();
    }
    let mut initial: Vec<Tagged> = calling.initial.iter().map(|value| (*value, 0)).collect();
    if let Some(Begins { stack, own: memory }) = begins(cx) {
        (initial[own[0]], initial[own[1]]) = ((stack, 0), (memory, 0));
    }
    initial
}

fn begins(cx: &Cx<'_>) -> Option<Begins> {
    cx.state.threads.as_ref()?.begins()
}

/// The thread pointer of the running thread, if it runs machine code; 0 before the program has set it.
pub fn thread_pointer(cx: &Cx<'_>) -> Option<u64> {
    let limb = cx.core.code_source.as_ref().and_then(|source| Some(source.borrow().convention()?.thread))?;
    let machine = cx.core.image.machine_code()?;
    let frame = cx.state.frames.iter().rev().find(|frame| frame.func() == machine.func);
    let slot = machine.code.consts.len() + limb;
    frame.and_then(|frame| frame.concrete(slot)).or_else(|| begins(cx).map(|begins| begins.own))
}

/// An argument as a register has it.
fn word(cx: &mut Cx<'_>, value: Value) -> Tagged {
    match value {
        Value::Bits(bits) => (bits, 0),
        Value::Sym(e) => {
            let width = cx.core.pool.width(e);
            let e = if width < 64 { cx.core.pool.zext(e, 64) } else { e };
            (u64::from(e.raw()), 1)
        }
    }
}

/// Enters whatever is called by an address. What only a call can do, and what a monitor watches, is called by [`CALL_BACK`].
pub(super) fn enter_called(cx: &mut Cx<'_>, address: u64, args: &[Value], dst: u32, ret_width: u32) -> Result<(), Stop> {
    let image = cx.core.image.clone();
    let enter_body = |cx: &mut Cx<'_>, f: u32, args: &[Value]| {
        let args: Vec<Tagged> = args.iter().map(super::call::tagged).collect();
        frame::enter(cx.core, cx.state, image.code(f), &args, dst, ret_width)?;
        entered(cx.core, cx.state);
        Ok(())
    };
    let caller = || match image.callee_at(image.function_address(CALL_BACK)?) {
        Some(Callee::Body(f)) if args.len() <= 1 => Some(f),
        Some(_) | None => None,
    };
    match called_at(cx, address) {
        Some(Called::MachineCode(address)) => enter(cx, address, args, dst, ret_width),
        Some(Called::Function(callee @ Callee::Body(f))) if !image.is_watched(callee) => enter_body(cx, f, args),
        Some(Called::Function(callee)) => match (callee, caller()) {
            (_, Some(caller)) => enter_body(cx, caller, &[Value::Bits(address), args.first().copied().unwrap_or(Value::Bits(0))]),
            (Callee::Body(f), None) => enter_body(cx, f, args),
            (Callee::Model(_) | Callee::Undefined(_), None) => {
                let name = image.callee_name(callee);
                Err(PathEnd::Unsupported(format!("`{name}`, which has no body, as a function that is called back")).into())
            }
        },
        None => {
            let what = format!("call back to {address:#x}, which is not a function");
            Err(PathEnd::fault(FaultKind::BadCallTarget, what).into())
        }
    }
}
