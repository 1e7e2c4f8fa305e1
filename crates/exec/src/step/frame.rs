//! Calls and returns between functions of the program: creating, filling and removing frames.

use std::rc::Rc;

use wryneck_ir::{NONE, limbs};

use crate::ground::code::{Callee, Code};
use crate::ground::config::Uninit;
use crate::ground::memory::NULL_PAGE;
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::{Frame, Returned, State, Tagged};
use crate::step::core::Core;

/// Bytes below a frame that dead frames of its callees may keep until it returns itself: what points there is to find nothing, not the variables of
/// the next callee.
const KEPT: u64 = 1 << 16;

/// Makes the direct call at operation `op` of `code`: `Ok(false)` if it must go the slow way, an error if the path ends.
pub fn call(core: &mut Core, state: &mut State, code: &Code, op: u32) -> Result<bool, PathEnd> {
    let p = code.ops[op as usize];
    let image = core.image.clone();
    let callee = image.code(p.a);
    let call = code.calls[p.b as usize];
    if callee.by_value
        || call.variadic != callee.variadic
        || core.lazy.is_some() && core.skipped.contains(&p.a)
        || core.monitor.is_some() && image.is_watched(Callee::Body(p.a))
    {
        return Ok(false);
    }
    let mut spare = core.spare_frame();
    let frame = Rc::make_mut(&mut spare);
    frame.begin(callee);
    localise(state, callee, frame);
    let caller = state.frame_mut();
    caller.go_to(op + 1);
    let args = &code.lists[call.args.first as usize..(call.args.first + call.args.count) as usize];
    let first = callee.consts.len();
    for (i, arg) in args.iter().take(callee.param_slots as usize).enumerate() {
        frame.put(first + i, caller.get(*arg as usize));
    }
    frame.dst = p.dst;
    frame.ret_width = call.ret_width;
    push(core, state, callee, spare).inspect_err(|_| state.frame_mut().go_to(op))?;
    Ok(true)
}

/// Pushes a frame for `callee` with these argument limbs; the caller's `op` is already after its call.
pub fn enter(core: &mut Core, state: &mut State, callee: &Code, args: &[Tagged], dst: u32, ret_width: u32) -> Result<(), PathEnd> {
    let mut spare = core.spare_frame();
    let frame = Rc::make_mut(&mut spare);
    frame.begin(callee);
    localise(state, callee, frame);
    let first = callee.consts.len();
    for (i, arg) in args.iter().take(callee.param_slots as usize).enumerate() {
        frame.put(first + i, *arg);
    }
    frame.dst = dst;
    frame.ret_width = ret_width;
    push(core, state, callee, spare)
}

/// In other threads than the first, thread-local variables have addresses of their own.
#[inline]
fn localise(state: &State, callee: &Code, frame: &mut Frame) {
    if !callee.locals.is_empty()
        && let Some(threads) = &state.threads
    {
        threads.localise(frame, callee);
    }
}

/// Gives the frame, which nobody else has, its stack memory and puts it on top.
fn push(core: &mut Core, state: &mut State, callee: &Code, mut pushed: Rc<Frame>) -> Result<(), PathEnd> {
    let lowest = state.stack_top - core.config.stack_size;
    let fits = state.sp.checked_sub(callee.frame_size).is_some_and(|sp| sp >= lowest);
    if !fits || state.frames.len() >= core.config.max_frames as usize {
        let message = format!("the stack is used up ({} calls deep, {} bytes)", state.frames.len(), state.stack_top - state.sp);
        return Err(PathEnd::fault(FaultKind::StackOverflow, message));
    }
    let frame = Rc::make_mut(&mut pushed);
    frame.top = state.sp;
    if callee.frame_size > 0 {
        let base = (state.sp - callee.frame_size) & !(callee.frame_align - 1);
        let zero = core.config.uninit == Uninit::Zero;
        for slot in &callee.frame {
            state.memory.space.make_live(base + slot.offset, slot.size, zero, &mut core.pool);
        }
        state.sp = base;
    }
    frame.base = state.sp;
    state.frames.push(pushed);
    core.cover(state, callee.entry.block);
    state.instructions += u64::from(callee.entry.weight);
    core.entered += u64::from(callee.entry.weight);
    Ok(())
}

/// Makes the return at operation `op` of `code`; `false` if the outermost function returned (its result is then in
/// `core.result`).
pub fn ret(core: &mut Core, state: &mut State, code: &Code, op: u32) -> bool {
    let p = code.ops[op as usize];
    let list = &code.lists[p.a as usize..(p.a + p.b) as usize];
    let frame = state.frames.pop().expect("a return runs in a frame");
    release_stack(core, state, &frame);
    if code.leaves_address && state.frames.last().is_some_and(|caller| caller.base - frame.base <= KEPT) {
        state.sp = frame.base;
    }
    if state.frames.is_empty() {
        core.result = list.first().map(|s| frame.get(*s as usize));
        state.frames.push(frame);
        return false;
    }
    if frame.dst != NONE {
        let want = limbs(frame.ret_width) as usize;
        let caller = state.frame_mut();
        for i in 0..want {
            let (mut value, tag) = list.get(i).map_or((0, 0), |s| frame.get(*s as usize));
            // A call through a wrong prototype may expect fewer bits than the function returns.
            if tag == 0 && i + 1 == want && !frame.ret_width.is_multiple_of(64) {
                value &= (1 << (frame.ret_width % 64)) - 1;
            }
            caller.put(frame.dst as usize + i, (value, tag));
        }
    }
    if frame.watched {
        let result = list.first().map(|s| frame.get(*s as usize));
        state.returned = Some(Returned { result });
    }
    core.recycle(frame);
    true
}

/// Gives a frame's stack memory back; its addresses belong to nothing afterwards.
pub(super) fn release_stack(core: &mut Core, state: &mut State, frame: &Frame) {
    for (addr, size) in &frame.dynamic {
        state.memory.space.make_dead(*addr, *size, &mut core.pool);
    }
    if frame.top > frame.base {
        state.memory.space.make_dead(frame.base, frame.top - frame.base, &mut core.pool);
    }
    state.sp = frame.top;
}

/// Books `size` bytes of dynamic stack for the top frame; `None` if the stack is used up.
pub fn allocate_dynamic(core: &mut Core, state: &mut State, size: u64, align: u64) -> Option<u64> {
    const SLACK: u64 = 16;
    let align = align.max(16);
    let lowest = state.stack_top - core.config.stack_size;
    let sp = state.sp.checked_sub(size)?.checked_sub(2 * SLACK + align)?;
    if sp < lowest.max(NULL_PAGE) {
        return None;
    }
    let base = (sp + SLACK) & !(align - 1);
    let zero = core.config.uninit == Uninit::Zero;
    state.memory.space.make_live(base, size, zero, &mut core.pool);
    state.sp = sp & !15;
    state.frame_mut().dynamic.push((base, size));
    Some(base)
}

/// Frees the dynamic allocations of the top frame below address `mark`.
pub fn restore_dynamic(core: &mut Core, state: &mut State, mark: u64) {
    let frame = state.frame_mut();
    let mut gone = Vec::new();
    while let Some(&(addr, size)) = frame.dynamic.last().filter(|(addr, _)| *addr < mark) {
        gone.push((addr, size));
        frame.dynamic.pop();
    }
    for (addr, size) in gone {
        state.memory.space.make_dead(addr, size, &mut core.pool);
    }
    state.sp = mark.max(state.sp);
}
