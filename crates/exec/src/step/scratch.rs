//! What a replaced function would have left behind, in machine code: words in scratch registers, and bytes below the stack pointer.
//!
//! A model leaves both as they were; the real function writes there what it likes. Code that reads a variable before it is written, or the result
//! of a function that returns none, finds these words. Under [`Config::scratch`](crate::Config) they count as memory that was never written
//! (unwritten.rs), so a decision that depends on them is a fault.

use crate::step::cx::Cx;
use crate::step::plugin::Value;
use crate::step::unwritten::MARK;

/// Bytes below the stack pointer that a replaced function may write: libraries' functions with a model take far less stack.
const REACH: u64 = 1 << 16;

/// The stack pointer of the machine code on top, and the first address of the stack; `None` if it is symbolic or elsewhere.
fn stack_pointer(cx: &Cx<'_>) -> Option<(u64, u64)> {
    let source = cx.core.code_source.as_ref()?.borrow();
    let stack = source.stack()?;
    let slot = scratch_slots(cx)? + source.convention()?.stack_pointer;
    let frame = cx.state.frames.last()?;
    let pointer = frame.concrete(slot)?;
    stack.contains(pointer).then_some((stack.base, pointer))
}

/// The slot of the first register in the frame on top, if machine code is on top.
fn scratch_slots(cx: &Cx<'_>) -> Option<usize> {
    let func = cx.state.frames.last()?.func();
    cx.core.image.is_machine_code(func).then(|| cx.core.image.code(func).consts.len())
}

/// A replaced function with these arguments returns to machine code: the words that it would have left behind count as never written.
pub(crate) fn forget(cx: &mut Cx<'_>, args: &[Value]) {
    let below = stack_pointer(cx);
    // The model was given bytes of an ended call, which the function might have overwritten before it read them.
    let is_below = |(base, pointer): (u64, u64)| args.iter().any(|a| matches!(a, Value::Bits(at) if (base..pointer).contains(at)));
    if below.is_none_or(is_below) {
        cx.state.approximates("a function of the C library is given the place of an ended call");
    }
    forget_below_stack(cx);
    let limbs = cx.core.code_source.as_ref().and_then(|source| Some(source.borrow().convention()?.scratch.clone()));
    let (Some([words, vectors]), Some(first)) = (limbs, scratch_slots(cx)) else { return };
    // Words are told apart by the call, because two calls leave different results. Vectors would cost too much memory so.
    let after = format!("{MARK}a register after the replaced function at instruction {}", cx.state.instructions);
    let vector = format!("{MARK}a vector after a replaced function");
    for (name, limb) in words.into_iter().map(|limb| (&after, limb)).chain(vectors.into_iter().map(|limb| (&vector, limb))) {
        let symbol = cx.core.pool.symbol(name, limb as u32, 64);
        let value = Value::Sym(cx.core.pool.sym(symbol));
        cx.put((first + limb) as u32, value);
    }
}

/// Bytes below the stack pointer of machine code count as never written, if [`Config::scratch`](crate::Config) is set: code that the engine does not
/// run has used them.
pub fn forget_below_stack(cx: &mut Cx<'_>) {
    if !cx.core.config.scratch {
        return;
    }
    let Some((base, pointer)) = stack_pointer(cx) else { return };
    let lowest = base.max(pointer.saturating_sub(REACH));
    cx.state.memory.space.make_live(lowest, pointer - lowest, false, &mut cx.core.pool);
}
