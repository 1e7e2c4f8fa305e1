//! The inner loop: runs concrete operations until one needs more.
//!
//! It is compiled for each value of two constants. `CHECKED = false` runs frames without a symbolic slot: only a load can create one there,
//! and such a load leaves the loop. `CHECKED = true` tests the tags of operands, and builds expressions for plain arithmetic on symbolic
//! operands in place. `TRACE = true` also records steps, or reports accesses to find data races. Whatever may fork, fault or end the path
//! leaves the loop with the frame's `op` at that operation.

use std::rc::Rc;

use wryneck_expr::ExprId;
use wryneck_ir::Op;

use super::arith;
use super::float;
use super::frame;
use super::races::{self, Watch};
use crate::ground::code::{Code, Kind, Prepared};
use crate::ground::image::CodePos;
use crate::state::State;
use crate::state::races::Touching;
use crate::step::core::Core;
use crate::step::recorder::Step;

/// Why the inner loop was left. The top frame's `op` says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The operation at `op` needs the slow path.
    Slow,
    /// The batch is used up.
    Budget,
    /// Enter the loop again: the top frame needs the other copy of the loop.
    Again,
    /// The outermost function returned.
    Returned,
}

/// Runs until an exit. `budget` is counted down by the instructions of each block entered.
/// `TRACE`: a recorder is installed and records every edge, address, call and return.
pub fn run<const CHECKED: bool, const TRACE: bool>(core: &mut Core, state: &mut State, budget: &mut i64) -> Exit {
    let image = core.image.clone();
    loop {
        let top = state.frame_mut();
        if top.is_symbolic() != CHECKED {
            return Exit::Again;
        }
        let code = image.code(top.func());
        let (slots, tags, op) = top.raw(code);
        // SAFETY: the frame was made for `code`: it has `code.slots` slots and tags (`Frame::raw`), and the verifier promises that operations,
        // edges and switches only name slots, operations and edges of this function. Nothing else touches the frame in there.
        let left = unsafe { run_frame::<CHECKED, TRACE>(core, state, code, slots, tags, op, budget) };
        match left {
            Left::Call { op } => match frame::call(core, state, code, op) {
                Ok(true) => {
                    if TRACE {
                        entered(core, state);
                    }
                }
                Ok(false) => return Exit::Slow,
                Err(end) => {
                    core.pending_end = Some(end);
                    return Exit::Slow;
                }
            },
            Left::Ret { op } => {
                if !frame::ret(core, state, code, op) {
                    return Exit::Returned;
                }
                if TRACE && let Some(recorder) = &mut core.recorder {
                    recorder.leave(op);
                }
                if state.returned.is_some() {
                    return Exit::Again;
                }
            }
            Left::With(exit) => return exit,
        }
    }
}

/// Tells the recorder, if there is one, of the frame on top, which was just put there.
pub fn entered(core: &mut Core, state: &mut State) {
    let Some(recorder) = &mut core.recorder else { return };
    let frame = state.frame();
    let first = core.image.code(frame.func()).consts.len();
    let arg = |i: usize| frame.concrete(first + i).unwrap_or(0);
    recorder.enter(frame.func(), frame.base, frame.top, std::array::from_fn(arg));
}

/// How `run_frame` ends: a call or return to make at `op` (also stored in the frame), or an exit of the loop.
enum Left {
    Call { op: u32 },
    Ret { op: u32 },
    With(Exit),
}

#[inline(always)]
fn sign_extend(value: u64, shift: u32) -> i64 {
    ((value << shift) as i64) >> shift
}

/// # Safety
/// `slots` and `tags` are those of the top frame of `state`, which runs `code`, verified; `start` is one of its operations.
#[inline(always)]
unsafe fn run_frame<const CHECKED: bool, const TRACE: bool>(
    core: &mut Core,
    state: &mut State,
    code: &Code,
    slots: *mut u64,
    tags: *mut u8,
    start: u32,
    budget: &mut i64,
) -> Left {
    let ops: *const Prepared = code.ops.as_ptr();
    let mut at = start as usize;
    let mut left = *budget;
    let watch = if TRACE { races::watch(core, state, code.func) } else { Watch::Off };

    macro_rules! get {
        ($slot:expr) => {
            // SAFETY: a verified slot number is below `code.slots`.
            unsafe { *slots.add($slot as usize) }
        };
    }
    macro_rules! tag {
        ($slot:expr) => {
            // SAFETY: as for slots.
            unsafe { *tags.add($slot as usize) }
        };
    }
    macro_rules! put {
        ($slot:expr, $value:expr) => {{
            let value = $value;
            // SAFETY: as above.
            unsafe { *slots.add($slot as usize) = value };
            if CHECKED {
                // SAFETY: as above.
                unsafe { *tags.add($slot as usize) = 0 };
            }
        }};
    }
    macro_rules! leave {
        ($exit:expr) => {{
            *budget = left;
            state.frame_mut().go_to(at as u32);
            return $exit;
        }};
    }
    // Plain arithmetic on a symbolic operand: the result's expression is made here.
    macro_rules! symbolic {
        ($p:expr) => {{
            // SAFETY: the slices cover the frame, whose vectors nothing else uses now.
            let (s, t) = unsafe {
                (std::slice::from_raw_parts_mut(slots, code.slots as usize), std::slice::from_raw_parts_mut(tags, code.slots as usize))
            };
            arith::symbolic(&mut core.pool, s, t, $p);
            at += 1;
            continue;
        }};
    }
    macro_rules! unary {
        ($p:ident, $x:ident => $value:expr) => {{
            if CHECKED && tag!($p.a) != 0 {
                symbolic!($p);
            }
            let $x = get!($p.a);
            put!($p.dst, $value);
            at += 1;
        }};
    }
    macro_rules! binary {
        ($p:ident, $x:ident, $y:ident => $value:expr) => {{
            if CHECKED && tag!($p.a) | tag!($p.b) != 0 {
                symbolic!($p);
            }
            let ($x, $y) = (get!($p.a), get!($p.b));
            put!($p.dst, $value);
            at += 1;
        }};
    }
    // Operations the slow path does whenever an operand is symbolic.
    macro_rules! concrete_only {
        ($p:ident, $x:ident, $y:ident, $when:expr => $value:expr) => {{
            if CHECKED && tag!($p.a) | tag!($p.b) != 0 {
                leave!(Left::With(Exit::Slow));
            }
            let ($x, $y) = (get!($p.a), get!($p.b));
            if !$when {
                leave!(Left::With(Exit::Slow));
            }
            put!($p.dst, $value);
            at += 1;
        }};
    }
    macro_rules! take {
        ($edge:expr) => {{
            let edge = $edge;
            if TRACE && let Some(recorder) = &mut core.recorder {
                // SAFETY: the slices cover the frame, whose vectors nothing else uses now.
                let (s, t) = unsafe {
                    (std::slice::from_raw_parts(slots, code.slots as usize), std::slice::from_raw_parts(tags, code.slots as usize))
                };
                recorder.leaves(code.func, at as u32, s, t);
                recorder.step(Step::Edge { op: at as u32, edge });
            }
            // SAFETY: a verified edge number.
            let e = unsafe { code.edges.get_unchecked(edge as usize) };
            for i in e.copies.first..e.copies.first + e.copies.count {
                // SAFETY: the edge's copies were appended to `copies` when it was prepared.
                let c = unsafe { code.copies.get_unchecked(i as usize) };
                let value = get!(c.src);
                // SAFETY: verified slots, or the scratch slot.
                unsafe {
                    *slots.add(c.dst as usize) = value;
                    if CHECKED {
                        *tags.add(c.dst as usize) = *tags.add(c.src as usize);
                    }
                }
            }
            at = e.target as usize;
            left -= i64::from(e.weight);
            // SAFETY: coverage has a byte for every block of the program, and nothing can make it shorter (`Coverage`).
            let is_new = unsafe { *core.coverage.get_unchecked(e.block as usize) } == 0;
            if is_new || e.is_side() && !core.sides.is_taken(code.first.edge + edge) {
                core.enter_by(state, code, at as u32, edge);
            }
            if left < 0 {
                leave!(Left::With(Exit::Budget));
            }
        }};
    }
    // For the recorder: one operand whose value is `$value` decides the result alone.
    macro_rules! decided_by {
        ($p:ident, $value:expr) => {
            if TRACE {
                let decides = |slot: u32| !(CHECKED && tag!(slot) != 0) && get!(slot) == $value;
                let operand = if decides($p.a) { Some(0) } else { decides($p.b).then_some(1) };
                if let (Some(operand), Some(recorder)) = (operand, &mut core.recorder) {
                    recorder.step(Step::Only { op: at as u32, operand });
                }
            }
        };
    }
    macro_rules! compare {
        ($p:ident, $x:ident, $y:ident => $value:expr) => {
            binary!($p, $x, $y => u64::from($value))
        };
    }
    macro_rules! compare_branch {
        ($p:ident, $x:ident, $y:ident => $value:expr) => {{
            if CHECKED && tag!($p.a) | tag!($p.b) != 0 {
                symbolic!($p);
            }
            let ($x, $y) = (get!($p.a), get!($p.b));
            let holds = $value;
            put!($p.dst, u64::from(holds));
            // SAFETY: a fused comparison is followed by its branch.
            let branch = unsafe { &*ops.add(at + 1) };
            take!(if holds { branch.b } else { branch.c });
        }};
    }
    // Where accesses are watched: the path ends if this one races with another.
    macro_rules! shown {
        ($address:expr, $bytes:expr, $write:expr, $access:expr) => {
            if TRACE && watch == Watch::Atomic {
                if $access == wryneck_ir::ATOMIC {
                    races::synchronise(state, $address, $write);
                }
            } else if TRACE && watch != Watch::Off {
                let pos = CodePos { func: code.func, op: at as u32 };
                let touching = Touching { pos, address: $address, len: $bytes, write: $write, how: watch.how($access) };
                if let Some(end) = races::touch(core, state, touching) {
                    core.pending_end = Some(end);
                    leave!(Left::With(Exit::Slow));
                }
            }
        };
    }
    macro_rules! load {
        ($p:ident, $bytes:expr) => {{
            if CHECKED && tag!($p.a) != 0 {
                leave!(Left::With(Exit::Slow));
            }
            let address = get!($p.a);
            match state.memory.space.load(address, $bytes) {
                Some(value) => {
                    if TRACE && let Some(recorder) = &mut core.recorder {
                        recorder.step(Step::Load { op: at as u32, bytes: $bytes, address });
                    }
                    shown!(address, $bytes, false, $p.b);
                    put!($p.dst, value)
                }
                None => leave!(Left::With(Exit::Slow)),
            }
            at += 1;
        }};
    }
    macro_rules! store {
        ($p:ident, $bytes:expr) => {{
            if CHECKED && tag!($p.a) | tag!($p.b) != 0 {
                leave!(Left::With(Exit::Slow));
            }
            let address = get!($p.a);
            if !state.memory.space.store(address, $bytes, get!($p.b)) {
                leave!(Left::With(Exit::Slow));
            }
            if TRACE && let Some(recorder) = &mut core.recorder {
                recorder.store(at as u32, $bytes, address, get!($p.b));
            }
            shown!(address, $bytes, true, $p.c);
            at += 1;
        }};
    }
    macro_rules! float {
        ($p:ident, $bits:ident, $float:ident, $x:ident, $y:ident => $value:expr) => {
            concrete_only!($p, a, b, true => {
                let ($x, $y) = ($float::from_bits(a as $bits), $float::from_bits(b as $bits));
                let value: $float = $value;
                u64::from(value.to_bits())
            })
        };
    }

    loop {
        // SAFETY: control stays inside the function: `at` comes from edges, calls and returns, or one operation after
        // another inside a block, whose last one is a terminator.
        let p = unsafe { &*ops.add(at) };
        let shift = u32::from(p.shift);
        let mask = u64::MAX >> shift;
        match p.kind {
            Kind::Slow => leave!(Left::With(Exit::Slow)),
            Kind::Copy => {
                let value = get!(p.a);
                // SAFETY: verified slots.
                unsafe {
                    *slots.add(p.dst as usize) = value;
                    if CHECKED {
                        *tags.add(p.dst as usize) = *tags.add(p.a as usize);
                    }
                }
                at += 1;
            }
            Kind::Imm => {
                put!(p.dst, (u64::from(p.b) << 32 | u64::from(p.a)) & mask);
                at += 1;
            }
            Kind::Add => binary!(p, x, y => x.wrapping_add(y) & mask),
            Kind::Sub => binary!(p, x, y => x.wrapping_sub(y) & mask),
            Kind::Mul => binary!(p, x, y => x.wrapping_mul(y) & mask),
            Kind::And => {
                decided_by!(p, 0);
                if CHECKED && tag!(p.a) != 0 && tag!(p.b) == 0 && float::takes_part(&core.pool, Op::And, expr_of(get!(p.a)), get!(p.b)) {
                    leave!(Left::With(Exit::Slow));
                }
                binary!(p, x, y => x & y)
            }
            Kind::Or => {
                decided_by!(p, mask);
                binary!(p, x, y => x | y)
            }
            Kind::Xor => binary!(p, x, y => x ^ y),
            Kind::Udiv => concrete_only!(p, x, y, y != 0 => x / y),
            Kind::Urem => concrete_only!(p, x, y, y != 0 => x % y),
            Kind::Sdiv => concrete_only!(p, x, y, y != 0 && y != mask => (sign_extend(x, shift) / sign_extend(y, shift)) as u64 & mask),
            Kind::Srem => concrete_only!(p, x, y, y != 0 && y != mask => (sign_extend(x, shift) % sign_extend(y, shift)) as u64 & mask),
            Kind::Shl => concrete_only!(p, x, y, y < u64::from(p.extra) => x << y & mask),
            Kind::Lshr => concrete_only!(p, x, y, y < u64::from(p.extra) => x >> y),
            Kind::Ashr => concrete_only!(p, x, y, y < u64::from(p.extra) => (sign_extend(x, shift) >> y) as u64 & mask),
            Kind::Fshl | Kind::Fshr => {
                if CHECKED && tag!(p.a) | tag!(p.b) | tag!(p.c) != 0 {
                    leave!(Left::With(Exit::Slow));
                }
                let w = u32::from(p.extra);
                let (x, y, by) = (get!(p.a), get!(p.b), (get!(p.c) % u64::from(w)) as u32);
                let by = if p.kind == Kind::Fshl { by } else { w - by };
                let value = match by {
                    0 => x,
                    _ if by == w => y,
                    _ => (x << by | y >> (w - by)) & mask,
                };
                put!(p.dst, value);
                at += 1;
            }
            Kind::UaddOverflow => concrete_only!(p, x, y, true => u64::from(x.wrapping_add(y) & mask < x)),
            Kind::SaddOverflow => concrete_only!(p, x, y, true => {
                let sum = x.wrapping_add(y);
                ((x ^ sum) & (y ^ sum)) >> (63 - shift) & 1
            }),
            Kind::UsubOverflow => concrete_only!(p, x, y, true => u64::from(x < y)),
            Kind::SsubOverflow => concrete_only!(p, x, y, true => ((x ^ y) & (x ^ x.wrapping_sub(y))) >> (63 - shift) & 1),
            Kind::Ctpop => {
                if CHECKED && tag!(p.a) != 0 {
                    leave!(Left::With(Exit::Slow));
                }
                put!(p.dst, u64::from(get!(p.a).count_ones()));
                at += 1;
            }
            Kind::Eq => compare!(p, x, y => x == y),
            Kind::Ne => compare!(p, x, y => x != y),
            Kind::Ult => compare!(p, x, y => x < y),
            Kind::Ule => compare!(p, x, y => x <= y),
            Kind::Slt => compare!(p, x, y => sign_extend(x, shift) < sign_extend(y, shift)),
            Kind::Sle => compare!(p, x, y => sign_extend(x, shift) <= sign_extend(y, shift)),
            Kind::EqBr => compare_branch!(p, x, y => x == y),
            Kind::NeBr => compare_branch!(p, x, y => x != y),
            Kind::UltBr => compare_branch!(p, x, y => x < y),
            Kind::UleBr => compare_branch!(p, x, y => x <= y),
            Kind::SltBr => compare_branch!(p, x, y => sign_extend(x, shift) < sign_extend(y, shift)),
            Kind::SleBr => compare_branch!(p, x, y => sign_extend(x, shift) <= sign_extend(y, shift)),
            Kind::Sext => unary!(p, x => sign_extend(x, u32::from(p.extra)) as u64 & mask),
            Kind::Trunc => unary!(p, x => x & mask),
            Kind::Extract => unary!(p, x => x >> p.b & mask),
            Kind::Concat => binary!(p, x, y => x << p.c | y),
            Kind::Select => {
                if CHECKED && tag!(p.a) != 0 {
                    symbolic!(p);
                }
                let from = if get!(p.a) != 0 { p.b } else { p.c };
                if TRACE && let Some(recorder) = &mut core.recorder {
                    recorder.step(Step::Only { op: at as u32, operand: 2 - u8::from(get!(p.a) != 0) });
                }
                let value = get!(from);
                // SAFETY: verified slots.
                unsafe {
                    *slots.add(p.dst as usize) = value;
                    if CHECKED {
                        *tags.add(p.dst as usize) = *tags.add(from as usize);
                    }
                }
                at += 1;
            }
            Kind::Bswap => unary!(p, x => x.swap_bytes() >> shift),
            Kind::PtrAdd => {
                if CHECKED && tag!(p.a) | tag!(p.b) != 0 {
                    leave!(Left::With(Exit::Slow));
                }
                put!(p.dst, get!(p.a).wrapping_add(get!(p.b).wrapping_mul(u64::from(p.c))));
                at += 1;
            }
            Kind::Load8 => load!(p, 1),
            Kind::Load16 => load!(p, 2),
            Kind::Load32 => load!(p, 4),
            Kind::Load64 => load!(p, 8),
            Kind::Store8 => store!(p, 1),
            Kind::Store16 => store!(p, 2),
            Kind::Store32 => store!(p, 4),
            Kind::Store64 => store!(p, 8),
            Kind::Alloca => {
                let base = state.frames.last().map_or(0, |f: &Rc<_>| f.base);
                put!(p.dst, base + code.frame[p.a as usize].offset);
                at += 1;
            }
            Kind::Call => leave!(Left::Call { op: at as u32 }),
            Kind::Ret => leave!(Left::Ret { op: at as u32 }),
            Kind::Br => take!(p.a),
            Kind::CondBr => {
                if CHECKED && tag!(p.a) != 0 {
                    leave!(Left::With(Exit::Slow));
                }
                take!(if get!(p.a) != 0 { p.b } else { p.c });
            }
            Kind::Switch => {
                if CHECKED && tag!(p.a) != 0 {
                    leave!(Left::With(Exit::Slow));
                }
                let s = &code.switches[p.b as usize];
                let value = get!(p.a);
                let edge = s.cases.binary_search_by_key(&value, |c| c.0).map_or(s.default, |i| s.cases[i].1);
                take!(edge);
            }
            Kind::Fadd32 => float!(p, u32, f32, x, y => x + y),
            Kind::Fadd64 => float!(p, u64, f64, x, y => x + y),
            Kind::Fsub32 => float!(p, u32, f32, x, y => x - y),
            Kind::Fsub64 => float!(p, u64, f64, x, y => x - y),
            Kind::Fmul32 => float!(p, u32, f32, x, y => x * y),
            Kind::Fmul64 => float!(p, u64, f64, x, y => x * y),
            Kind::Fdiv32 => float!(p, u32, f32, x, y => x / y),
            Kind::Fdiv64 => float!(p, u64, f64, x, y => x / y),
            Kind::Fcmp32 => {
                concrete_only!(p, x, y, true => arith::fcmp(f32::from_bits(x as u32).partial_cmp(&f32::from_bits(y as u32)), p.c))
            }
            Kind::Fcmp64 => concrete_only!(p, x, y, true => arith::fcmp(f64::from_bits(x).partial_cmp(&f64::from_bits(y)), p.c)),
        }
    }
}

/// The expression of a tagged slot's contents.
pub fn expr_of(slot: u64) -> ExprId {
    ExprId::from_raw(slot as u32)
}
