//! One operation at a time, with everything that can happen: symbolic operands, forks, faults, wide values, model calls.
//!
//! The inner loop ([`run`]) handles what is concrete and cannot fail. What it leaves comes here, one instruction family per file.

pub mod arith;
pub mod call;
mod chosen;
pub(crate) mod contexts;
pub mod control;
pub mod core;
pub mod coverage;
pub mod cx;
pub mod float;
pub mod frame;
pub mod goals;
pub mod heap_calls;
pub(crate) mod held;
mod implied;
pub mod inputs;
pub mod landing;
pub(crate) mod lazy;
pub mod leaks;
pub(crate) mod loops;
pub mod machine;
pub(crate) mod memo;
pub mod memory;
pub(crate) mod optimistic;
pub mod plugin;
pub mod pointer;
pub mod processes;
mod races;
pub mod recorder;
mod resolve;
pub mod run;
pub mod scratch;
pub mod seed;
pub(crate) mod sides;
pub mod survive;
mod table;
pub mod threads;
pub(crate) mod turn;
mod unwritten;
mod variadic;

use wryneck_expr::ExprId;
use wryneck_ir::{Inst, Op, Operand, limbs};

use crate::ground::path_end::{FaultKind, PathEnd};
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};

/// Does the operation the top frame is at, and moves the frame on.
pub fn slow(cx: &mut Cx<'_>) -> Result<(), Stop> {
    cx.begin_operation();
    if let Some(end) = cx.core.pending_end.take() {
        return Err(end.into());
    }
    let image = cx.core.image.clone();
    let pos = cx.pos();
    let code = image.code(pos.func);
    let module = &image.program.units[code.module as usize].module;
    let inst = module.insts[(code.first_inst + pos.op) as usize];
    let op = inst.operator().expect("verified: every instruction has an operator");
    match op {
        Op::Load => memory::operations::load(cx, &inst)?,
        Op::Store => memory::operations::store(cx, &inst)?,
        Op::MemCopy | Op::MemMove => memory::operations::copy(cx, &inst)?,
        Op::MemSet => memory::operations::set(cx, &inst)?,
        Op::MemUndef => memory::operations::undef(cx, &inst)?,
        Op::PtrAdd => pointer::add(cx, &inst)?,
        Op::Anchor => pointer::anchor(cx, &inst)?,
        Op::Alloca => return Err(PathEnd::Internal("alloca left the inner loop".into()).into()),
        Op::AllocaDyn => {
            let size = cx.operand(inst.a, 64);
            let size = cx.concretise(size, "size of a stack allocation")?;
            let Some(addr) = frame::allocate_dynamic(cx.core, cx.state, size, inst.b.into()) else {
                let message = format!("{size} bytes of dynamic allocation do not fit on the stack");
                return Err(PathEnd::fault(FaultKind::StackOverflow, message).into());
            };
            cx.put(inst.dst, Value::Bits(addr));
        }
        Op::StackSave => {
            let sp = cx.state.sp;
            cx.put(inst.dst, Value::Bits(sp));
        }
        Op::StackRestore => {
            let mark = cx.operand(inst.a, 64);
            let mark = cx.concretise(mark, "mark of the stack")?;
            frame::restore_dynamic(cx.core, cx.state, mark);
        }
        Op::Br | Op::CondBr | Op::Switch => return control::branch(cx, code, op),
        Op::Ret => return Err(PathEnd::Internal("return left the inner loop".into()).into()),
        Op::Call | Op::CallIndirect => return call::call(cx, code, op, &inst),
        Op::Jump => {
            drop(image);
            return control::jump(cx, &inst);
        }
        Op::Unreachable => {
            let message = "code the compiler took for unreachable (a missing return, or a false assumption)";
            return Err(PathEnd::fault(FaultKind::Trap, message).into());
        }
        Op::Trap => {
            let message = format!("the program trapped ({})", module.str(inst.a));
            return Err(PathEnd::fault(FaultKind::Trap, message).into());
        }
        Op::Unsupported => {
            let why = module.str(inst.a).to_owned();
            cx.core.ledger.note(LedgerKind::UnsupportedInstruction, why.clone());
            return Err(PathEnd::Unsupported(why).into());
        }
        op if float::is_float(op) => float::step(cx, op, &inst)?,
        op => integer(cx, op, &inst)?,
    }
    cx.state.frame_mut().go_on();
    Ok(())
}

/// Integer operators of any width, with the faults of division and shifting.
fn integer(cx: &mut Cx<'_>, op: Op, inst: &Inst) -> Result<(), Stop> {
    let [_, ka, kb, kc] = op.operands();
    let width = u32::from(inst.width);
    let mut operands = Vec::with_capacity(3);
    for (kind, slot, high) in [(ka, inst.a, true), (kb, inst.b, false), (kc, inst.c, false)] {
        let w = match kind {
            Operand::Val => width,
            Operand::Bit => 1,
            Operand::Word => 64,
            Operand::SrcVal if op == Op::Concat => {
                if high {
                    width - inst.c
                } else {
                    inst.c
                }
            }
            Operand::SrcVal => inst.c,
            _ => continue,
        };
        operands.push(cx.wide_operand(slot, w));
    }
    match op {
        Op::Udiv | Op::Urem => check_division(cx, operands[1], None, width)?,
        Op::Sdiv | Op::Srem => check_division(cx, operands[1], Some(operands[0]), width)?,
        Op::Shl | Op::Lshr | Op::Ashr if inst.c == 1 => check_shift(cx, operands[1], width)?,
        _ => {}
    }
    if let Some(second) = operands.get(1).and_then(|second| cx.core.pool.as_u64(*second))
        && float::takes_part(&cx.core.pool, op, operands[0], second)
    {
        operands[0] = float::taken_apart(cx, operands[0])?;
    }
    let number = if op == Op::Extract { inst.b } else { inst.c };
    let Some(result) = arith::integer(&mut cx.core.pool, op, width, &operands, number) else {
        return Err(PathEnd::Internal(format!("operator `{}` has no meaning in the slow path", op.name())).into());
    };
    cx.put_wide(inst.dst, result);
    Ok(())
}

/// Division by zero, and with a dividend given, MIN / -1.
fn check_division(cx: &mut Cx<'_>, divisor: ExprId, dividend: Option<ExprId>, width: u32) -> Result<(), Stop> {
    let zero = cx.core.pool.zero(width);
    let ok = cx.core.pool.ne(divisor, zero);
    cx.require(ok, |_, _| PathEnd::fault(FaultKind::DivisionByZero, "division by zero"))?;
    let Some(dividend) = dividend else { return Ok(()) };
    let pool = &mut cx.core.pool;
    let bad = pool.sdiv_overflow(dividend, divisor);
    let ok = pool.not(bad);
    cx.require(ok, |_, _| PathEnd::fault(FaultKind::DivisionOverflow, "the quotient of the smallest number and -1 does not fit"))
}

fn check_shift(cx: &mut Cx<'_>, by: ExprId, width: u32) -> Result<(), Stop> {
    let limit = cx.core.pool.number(width, u64::from(width));
    let ok = cx.core.pool.ult(by, limit);
    cx.require(ok, |cx, model| {
        let mut eval = wryneck_expr::Evaluator::default();
        let amount = if width <= 64 { eval.eval(&cx.core.pool, by, model).to_string() } else { "too many".into() };
        PathEnd::fault(FaultKind::ShiftTooFar, format!("a {width}-bit value is shifted by {amount}"))
    })
}

impl Cx<'_> {
    /// The value of `width <= 64` bits in a slot of the top frame.
    pub(crate) fn operand(&mut self, slot: u32, width: u32) -> Value {
        let frame = self.state.frame();
        let (value, tag) = frame.get(slot as usize);
        if tag == 0 {
            return Value::Bits(value);
        }
        let e = arith::fit(&mut self.core.pool, run::expr_of(value), width);
        self.value(e)
    }

    /// The expression of a value of any width that begins at a slot.
    pub(crate) fn wide_operand(&mut self, slot: u32, width: u32) -> ExprId {
        let frame = self.state.frame();
        let part = |i: u32| frame.get((slot + i) as usize);
        if width <= 64 {
            let (value, tag) = part(0);
            return arith::slot_expr(&mut self.core.pool, value, tag, width);
        }
        let count = limbs(width);
        let parts: Vec<_> = (0..count).map(part).collect();
        if parts.iter().all(|(_, tag)| *tag == 0) {
            let values: Vec<u64> = parts.iter().map(|(value, _)| *value).collect();
            return self.core.pool.wide(width, &values);
        }
        let mut whole = None;
        for (i, (value, tag)) in parts.into_iter().enumerate() {
            let w = (width - 64 * i as u32).min(64);
            let e = arith::slot_expr(&mut self.core.pool, value, tag, w);
            whole = Some(whole.map_or(e, |low| self.core.pool.concat(e, low)));
        }
        whole.expect("a width of at least 1 bit has a limb")
    }

    /// Puts a value of at most 64 bits into a slot of the top frame.
    pub(crate) fn put(&mut self, slot: u32, value: Value) {
        if slot == wryneck_ir::NONE {
            return;
        }
        let (contents, tag) = match value {
            Value::Bits(bits) => (bits, 0),
            Value::Sym(e) => arith::to_slot(&self.core.pool, e),
        };
        self.state.frame_mut().put(slot as usize, (contents, tag));
    }

    /// Puts a value of any width into the slots from `slot` on.
    pub(crate) fn put_wide(&mut self, slot: u32, e: ExprId) {
        let width = self.core.pool.width(e);
        if width <= 64 {
            return self.put(slot, Value::Sym(e));
        }
        if let Some(values) = self.core.pool.as_limbs(e).map(<[u64]>::to_vec) {
            for (i, v) in (0u32..).zip(values) {
                self.put(slot + i, Value::Bits(v));
            }
            return;
        }
        for i in 0..limbs(width) {
            let part = self.core.pool.extract(e, 64 * i, (width - 64 * i).min(64));
            self.put(slot + i, Value::Sym(part));
        }
    }

    /// The value an expression stands for: its bits if it is constant, and no pointer that knows its object.
    pub fn value(&self, e: ExprId) -> Value {
        match self.core.pool.as_plain(e) {
            Some(bits) => Value::Bits(bits),
            None => Value::Sym(e),
        }
    }

    /// The expression of a value at a width in bits.
    pub fn expr(&mut self, value: Value, width: u32) -> ExprId {
        match value {
            Value::Bits(bits) => self.core.pool.bits(width, if width < 64 { bits & ((1 << width) - 1) } else { bits }),
            Value::Sym(e) => arith::fit(&mut self.core.pool, e, width),
        }
    }
}
