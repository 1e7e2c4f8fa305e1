//! Non-local jumps: `setjmp` records a landing, `longjmp` unwinds the frames above it and makes `setjmp` return again. An exception unwinds
//! to a landing pad: an [`Op::Unwound`] directly after a call. That operation then gives 1.
//!
//! A landing is a copy of the frame that called `setjmp`, shared until the frame is written. Its token lies in the program's `jmp_buf`, so
//! a copied buffer works. The copy restores the values that live in slots: a value that is live at `setjmp` was computed before it. C
//! leaves variables that are changed after `setjmp` indeterminate unless they are volatile. Volatile ones live in memory, which a jump does
//! not restore. A landing is dropped when its frame is gone, or when the same call fills the same buffer again.

use std::rc::Rc;

use wryneck_ir::{Inst, Op};

use super::frame;
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::Frame;
use crate::state::landings::{Landing, Token};
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};

/// Records a landing at the current call, for the `jmp_buf` at this address. Machine code has none: there `longjmp` is a jump.
pub fn land(cx: &mut Cx<'_>, buffer: u64) -> Result<Token, Stop> {
    let image = cx.core.image.clone();
    if image.is_machine_code(cx.pos().func) {
        return Err(PathEnd::Unsupported("`setjmp` of the C library, called by machine code".into()).into());
    }
    let state = &mut *cx.state;
    let depth = state.frames.len() as u32 - 1;
    let landings = Rc::make_mut(&mut state.landings);
    landings.made += 1;
    let made = landings.made;
    let frame = state.frames.last_mut().expect("a running state has a frame");
    if frame.activation == 0 {
        Rc::make_mut(frame).activation = made;
    }
    let (op, token) = (frame.op(), Token { landing: made, activation: frame.activation });
    let again = |old: &Landing| (old.buffer, old.token.activation, old.frame.op()) == (buffer, token.activation, op);
    landings.all.retain(|old| old.is_active(&state.frames) && !again(old));
    landings.all.push(Landing { token, buffer, depth, sp: state.sp, frame: state.frames[depth as usize].clone() });
    Ok(token)
}

/// Unwinds to a landing and returns `value` from its `setjmp`. Watched calls that are unwound never return: the monitor is told.
pub(super) fn jump_to(cx: &mut Cx<'_>, token: Token, value: Value) -> Result<(), Stop> {
    let active = cx.state.frames.iter().any(|frame| frame.activation == token.activation);
    let landing = cx.state.landings.all.iter().find(|landing| landing.token == token).cloned();
    let Some(landing) = landing.filter(|landing| active && landing.is_active(&cx.state.frames)) else {
        return Err(match active {
            true => PathEnd::Unsupported("`longjmp` by an old copy of a `jmp_buf` that was filled again".into()),
            false => PathEnd::fault(FaultKind::BadCallTarget, "`longjmp` to a function that has returned"),
        }
        .into());
    };
    let abandoned = unwind(cx, landing.depth as usize, landing.frame.op())?;
    restore(cx, &landing);
    tell_unwound(cx, abandoned);
    let (dst, width) = result_of(cx, &landing.frame);
    let value = cx.expr(value, width);
    cx.put(dst, Value::Sym(value));
    cx.state.frame_mut().go_on();
    Ok(())
}

/// Puts the frame of a landing back on top. Stack memory allocated since then is gone.
fn restore(cx: &mut Cx<'_>, landing: &Landing) {
    let top = cx.state.frames.pop().expect("the landing's frame is on top");
    let mut back = (*landing.frame).clone();
    back.watched = top.watched;
    back.widen(top.len());
    for (address, size) in top.dynamic.iter().filter(|block| !back.dynamic.contains(block)) {
        cx.state.memory.space.make_dead(*address, *size, &mut cx.core.pool);
    }
    back.dynamic.retain(|block| top.dynamic.contains(block));
    cx.state.sp = landing.sp;
    cx.state.frames.push(Rc::new(back));
}

/// The slot and the width in bits of the result of the call that a frame is at.
fn result_of(cx: &Cx<'_>, frame: &Frame) -> (u32, u32) {
    let image = &cx.core.image;
    let code = image.code(frame.func());
    let module = &image.program.units[code.module as usize].module;
    let inst: Inst = module.insts[(code.first_inst + frame.op()) as usize];
    debug_assert!(matches!(inst.operator(), Some(Op::Call | Op::CallIndirect)));
    (inst.dst, module.calls[inst.b as usize].ret_width.clamp(1, 64))
}

/// The innermost frame below `height` (the number of frames that are left of) whose call has a landing pad: its index and the address
/// of the pad's table.
pub fn pad_below(cx: &Cx<'_>, height: usize) -> Option<(usize, u64)> {
    let frames = cx.state.frames.get(..height).unwrap_or(&cx.state.frames);
    frames.iter().enumerate().rev().find_map(|(i, frame)| Some((i, pad_of(cx, frame)?)))
}

/// The table of the landing pad of the call that a frame waits for.
fn pad_of(cx: &Cx<'_>, frame: &Frame) -> Option<u64> {
    let image = &cx.core.image;
    let code = image.code(frame.func());
    let module = &image.program.units[code.module as usize].module;
    // A caller's next operation is the one behind its call.
    let inst = module.insts.get((code.first_inst + frame.op()) as usize)?;
    (inst.operator() == Some(Op::Unwound)).then(|| image.target_address(image.program.target(code.module, inst.a)))
}

/// Unwinds to the landing pad of this frame's call.
pub(super) fn land_at(cx: &mut Cx<'_>, depth: usize) -> Result<(), Stop> {
    let frame = cx.state.frames.get(depth).filter(|frame| pad_of(cx, frame).is_some());
    let Some(op) = frame.map(|frame| frame.op()) else {
        return Err(PathEnd::Internal("an exception lands where no landing pad is".into()).into());
    };
    let abandoned = unwind(cx, depth, op - 1)?;
    tell_unwound(cx, abandoned);
    let image = cx.core.image.clone();
    let code = image.code(cx.state.frame().func());
    let inst = image.program.units[code.module as usize].module.insts[(code.first_inst + op) as usize];
    cx.put(inst.dst, Value::Bits(1));
    cx.state.frame_mut().go_on();
    Ok(())
}

/// Removes the frames above the one of this index, which goes on at or behind its operation `op`. How many calls that a monitor
/// watches are over.
fn unwind(cx: &mut Cx<'_>, depth: usize, op: u32) -> Result<u32, Stop> {
    // What the unwound frames have come to counts; what they would have come to does not.
    cx.core.note_reached(cx.state)?;
    cx.state.awaited.retain(|awaited| awaited.survives(depth, op));
    cx.state.jumped = true;
    Ok(drop_frames(cx, depth + 1))
}

/// Removes all frames of the running thread, which ends; a monitor is told.
pub(super) fn unwind_thread(cx: &mut Cx<'_>) -> Result<(), Stop> {
    cx.core.note_reached(cx.state)?;
    cx.state.awaited.clear();
    cx.state.landings = Rc::default();
    let abandoned = drop_frames(cx, 0);
    tell_unwound(cx, abandoned);
    Ok(())
}

/// Removes frames until so many are left. How many calls that a monitor watches are over.
fn drop_frames(cx: &mut Cx<'_>, left: usize) -> u32 {
    let mut abandoned = u32::from(std::mem::take(&mut cx.state.announced));
    for top in cx.state.frames.split_off(left).iter().rev() {
        abandoned += u32::from(top.watched);
        frame::release_stack(cx.core, cx.state, top);
        if let Some(recorder) = &mut cx.core.recorder {
            recorder.leave(top.op());
        }
    }
    abandoned
}

fn tell_unwound(cx: &mut Cx<'_>, calls: u32) {
    if calls > 0
        && let Some(monitor) = cx.core.monitor.clone()
    {
        monitor.on_unwind(calls, cx);
    }
}
