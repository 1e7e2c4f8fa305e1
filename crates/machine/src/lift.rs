//! Lifting: p-code operations become IR instructions.
//!
//! Nearly always one p-code operation is one IR instruction. P-code's truth values are bytes 0 and 1, ours are bits; both are the same in
//! a slot. An operation without a counterpart ends the block as unsupported, by name.

use wryneck_ir::build::{BlockId, CallDef, Callee, Slot};
use wryneck_ir::{FcmpPred, NONE, Op, Round, SymbolId, limbs};

use crate::anchor::Anchor;
use crate::calls::{self, Calls, Returning};
use crate::cpu::{Asked, Cpu, UserOp};
use crate::pcode::{BoolOp, Decoder, Destination, FloatOp, Instruction, IntOp, IntSign, OpCode, Pcode, PseudoOp, Space, Varnode};
use crate::place::Places;
use crate::registers::RegisterFile;

/// What lifting one instruction needs to know of its surroundings.
pub struct Surroundings<'a> {
    pub cpu: &'static Cpu,
    pub decoder: &'a Decoder,
    pub registers: &'a RegisterFile,
    /// The function that makes system calls.
    pub system_call: SymbolId,
    /// How calls are noted, if they are.
    pub calls: Option<Calls>,
    /// The stack pointer's number among the parameters.
    pub stack_pointer: usize,
}

/// Where control goes in a block of code that other blocks stand for: gives the block of a code address.
pub type BlockOf<'a> = &'a mut dyn FnMut(&mut Places<'_, '_, '_>, u64) -> BlockId;

/// Lifts an instruction into the open block. Afterwards the block is still open exactly if control can get to the next
/// instruction. `bytes` are the instruction's, for messages.
pub fn instruction(s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>, it: &Instruction, bytes: &[u8], block_of: BlockOf<'_>) {
    if !p.builder.in_block() {
        // Behind what ends the path.
        return;
    }
    p.begin(it);
    if !it.confirmed {
        unsupported(s, p, it, bytes, "its translation is not confirmed by a CPU");
        return p.end();
    }
    it.anchors.iter().for_each(|anchor| anchored(p, anchor));
    let returns = it.ops.iter().any(|op| op.op == OpCode::Return);
    let returning = s.calls.filter(|_| returns).map(|calls| calls.stack.returning(p, s.stack_pointer));
    let mut labels: Vec<Option<BlockId>> = vec![None; it.ops.len() + 1];
    let inside = (0..it.ops.len()).filter(|&n| skips_rest(it, n).is_none());
    let targets: Vec<usize> = inside
        .filter_map(|n| match it.destination(n) {
            Some(Destination::Inside(to)) => Some(to),
            Some(Destination::Address(_)) | None => None,
        })
        .collect();
    for to in targets {
        labels[to].get_or_insert_with(|| p.builder.block());
    }
    if let Some(own) = &it.own {
        let end = own.has_fallback().then(|| *labels[it.ops.len()].get_or_insert_with(|| p.builder.block()));
        p.forget();
        if let Some(asked) = own.asks() {
            note(s, p, asked);
        }
        if let Err(what) = own.emit(s.registers, p, it, end) {
            unsupported(s, p, it, bytes, &what);
        }
    }
    for n in 0..it.ops.len() {
        open_label(p, labels[n]);
        if !p.builder.in_block() {
            continue;
        }
        let done = match skips_rest(it, n) {
            Some(cond) => p.read(cond).map(|bit| p.skip_if(bit)),
            None => operation(s, p, it, n, returning, &labels, block_of),
        };
        if let Err(what) = done {
            unsupported(s, p, it, bytes, &what);
        }
    }
    p.end();
    open_label(p, labels[it.ops.len()]);
    // `sigsetjmp` takes its return address off the stack, calls, and puts it back.
    if let Some(calls) = s.calls.filter(|_| it.pushes_memory && p.builder.in_block()) {
        calls.stack.called(p, s.stack_pointer, 0);
    }
}

/// Gives a temporary the value of an address, anchored at the variable it is in.
fn anchored(p: &mut Places<'_, '_, '_>, anchor: &Anchor) {
    let (Ok(value), Ok(to)) = (p.read(anchor.value), p.read(anchor.temporary)) else { return };
    let start = p.constant(64, anchor.found.start);
    let base = match anchor.value.space {
        Space::Const => start,
        Space::Register | Space::Memory | Space::Unique => {
            let sum = p.temp(64);
            p.emit(Op::Add, 64, sum, value.raw(), start.raw(), NONE);
            sum
        }
    };
    p.emit(Op::Anchor, 64, to, value.raw(), base.raw(), anchor.found.number);
}

/// Ends the path: the instruction cannot be lifted.
fn unsupported(s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>, it: &Instruction, bytes: &[u8], what: &str) {
    let (mnemonic, body) = s.decoder.text(it.address, bytes);
    p.flush();
    if p.builder.in_block() {
        p.builder.unsupported(&format!("instruction `{}` ({what})", format!("{mnemonic} {body}").trim_end().to_lowercase()));
    }
}

/// Begins the block of a label, reached from the open block too.
fn open_label(p: &mut Places<'_, '_, '_>, label: Option<BlockId>) {
    let Some(label) = label else { return };
    p.flush();
    p.forget();
    if p.builder.in_block() {
        p.builder.jump_to(label);
    }
    p.builder.start(label);
}

/// If operation `n` is a branch over the rest of the instruction, and the rest only computes (a conditional move): its condition.
fn skips_rest(it: &Instruction, n: usize) -> Option<Varnode> {
    let op = &it.ops[n];
    if op.op != OpCode::BranchConditional || it.destination(n) != Some(Destination::Inside(it.ops.len())) {
        return None;
    }
    let rest = &it.ops[n + 1..];
    let computes = rest.iter().all(|op| match op.op {
        OpCode::Copy | OpCode::Piece | OpCode::Subpiece => true,
        OpCode::Int(i) => !matches!(i, IntOp::Divide(_) | IntOp::Remainder(_)),
        _ => false,
    });
    let memory = rest.iter().flat_map(|op| op.inputs.iter().chain(&op.output)).any(|v| v.space == Space::Memory);
    let narrow = rest.iter().flat_map(|op| &op.output).all(|v| v.width() <= 64);
    let others = (0..it.ops.len()).filter_map(|m| match it.destination(m) {
        Some(Destination::Inside(to)) => Some(to),
        Some(Destination::Address(_)) | None => None,
    });
    let entered = others.into_iter().any(|to| n < to && to < it.ops.len());
    (computes && !memory && narrow && !entered).then(|| op.inputs[1])
}

/// Lifts one operation, or says what cannot be.
fn operation(
    s: &Surroundings<'_>,
    p: &mut Places<'_, '_, '_>,
    it: &Instruction,
    n: usize,
    returning: Option<Returning>,
    labels: &[Option<BlockId>],
    block_of: BlockOf<'_>,
) -> Result<(), String> {
    let op = &it.ops[n];
    if matches!(op.op, OpCode::Call | OpCode::CallIndirect) {
        p.flush();
        if let Some(calls) = s.calls {
            calls.stack.called(p, s.stack_pointer, it.next());
        }
        p.calls.extend(p.builder.open_block().map(|block| (it.next(), block)));
    }
    match op.op {
        OpCode::Branch | OpCode::Call => {
            p.flush();
            let to = destination(p, it, n, labels, block_of)?;
            p.builder.jump_to(to);
        }
        OpCode::BranchConditional => {
            p.flush();
            let cond = p.read(op.inputs[1])?;
            let (to, on) = (destination(p, it, n, labels, block_of)?, p.builder.block());
            let (then, other) = (p.builder.edge(to), p.builder.edge(on));
            p.builder.cond_br(cond, then, other);
            p.builder.start(on);
        }
        OpCode::BranchIndirect | OpCode::CallIndirect | OpCode::Return => {
            p.flush();
            let to = p.read(op.inputs[0])?;
            match (returning, s.calls) {
                (Some(returning), Some(noted)) if op.op == OpCode::Return => calls::go_back(p, returning, to, noted),
                _ => {
                    p.returns.extend(p.builder.open_block().filter(|_| op.op == OpCode::Return));
                    p.builder.jump(to);
                }
            }
        }
        OpCode::Store => {
            let (address, value) = (p.read(op.inputs[1])?, p.read(op.inputs[2])?);
            let width = op.inputs[2].width();
            p.store(width, address, value, it.alignment_of(width));
        }
        OpCode::Pseudo(PseudoOp::CallOther) => match s.decoder.user_op(op.inputs[0].offset) {
            Some(UserOp::SystemCall) => system_call(s, p, it.next())?,
            Some(UserOp::Nothing) => {}
            None => return Err("an operation SLEIGH leaves open".to_owned()),
        },
        _ => {
            let Some(output) = op.output else { return Err(format!("p-code {:?} without a result", op.op)) };
            let dst = value(p, op, output, it)?;
            p.wrote(output, dst)?;
            if op.op == OpCode::Int(IntOp::Extension(IntSign::Unsigned)) {
                p.wrote_narrow(output, op.inputs[0].width());
            }
        }
    }
    Ok(())
}

fn destination(
    p: &mut Places<'_, '_, '_>,
    it: &Instruction,
    n: usize,
    labels: &[Option<BlockId>],
    block_of: BlockOf<'_>,
) -> Result<BlockId, String> {
    match it.destination(n) {
        Some(Destination::Address(to)) => Ok(block_of(p, to)),
        Some(Destination::Inside(to)) => labels[to].ok_or_else(|| "a branch to nowhere".to_owned()),
        None => Err("a branch without a destination".to_owned()),
    }
}

/// Tells the environment that the program asks for what a constant answers.
fn note(s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>, asked: Asked) {
    let number = match asked {
        Asked::Processor => wryneck_ir::ASKS_PROCESSOR,
        Asked::Time => wryneck_ir::ASKS_TIME,
    };
    let (number, zero, result) = (p.constant(64, number), p.constant(64, 0), p.temp(64));
    let mut args = vec![(zero, 64); 7];
    args[0].0 = number;
    p.builder.call_to(Some(result), Callee::Symbol(s.system_call), CallDef { args: &args, ret_width: 64, flags: 0, named: 0 });
}

/// Emits the system call, and what the kernel does to the registers besides.
fn system_call(s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>, next: u64) -> Result<(), String> {
    let call = &s.cpu.system_call;
    let register = |p: &mut Places<'_, '_, '_>, name: &str| {
        let r = s.registers.named(name).map_err(|e| e.to_string())?;
        Ok::<Slot, String>(p.register(r.param))
    };
    let mut args = Vec::with_capacity(7);
    for name in std::iter::once(&call.number).chain(call.arguments) {
        args.push((register(p, name)?, 64));
    }
    let result = register(p, call.result)?;
    let (set_base, sets_base) = (p.constant(64, call.set_base), p.temp(1));
    p.emit(Op::Eq, 64, sets_base, args[0].0.raw(), set_base.raw(), NONE);
    p.builder.call_to(Some(result), Callee::Symbol(s.system_call), CallDef { args: &args, ret_width: 64, flags: 0, named: 0 });
    for (code, name) in call.bases {
        let (base, code, named, set) = (register(p, name)?, p.constant(64, *code), p.temp(1), p.temp(1));
        p.emit(Op::Eq, 64, named, args[1].0.raw(), code.raw(), NONE);
        p.emit(Op::And, 1, set, named.raw(), sets_base.raw(), NONE);
        p.emit(Op::Select, 64, base, set.raw(), args[2].0.raw(), base.raw());
    }
    let mut flags = p.constant(64, call.flags_set);
    for (name, bit) in call.flag_bits {
        let (flag, by, shifted, all) = (register(p, name)?, p.constant(64, u64::from(*bit)), p.temp(64), p.temp(64));
        p.emit(Op::Shl, 64, shifted, flag.raw(), by.raw(), 0);
        p.emit(Op::Or, 64, all, flags.raw(), shifted.raw(), NONE);
        flags = all;
    }
    let (next_address, packed) = (register(p, call.next_address)?, register(p, call.flags)?);
    p.emit(Op::Imm, 64, next_address, next as u32, (next >> 32) as u32, NONE);
    p.copy(64, packed, flags);
    Ok(())
}

/// Emits an operation with a result and says where the result is.
fn value(p: &mut Places<'_, '_, '_>, op: &Pcode, output: Varnode, it: &Instruction) -> Result<Slot, String> {
    let width = output.width();
    let unknown = || format!("p-code {:?}", op.op);
    let Some(&first) = op.inputs.first() else { return Err(unknown()) };
    let from = first.width();
    let a = match op.op {
        OpCode::Load => p.read(*op.inputs.get(1).ok_or_else(unknown)?)?,
        _ => p.read(first)?,
    };
    match op.op {
        OpCode::Load => {
            let dst = if width <= 64 { p.target(output) } else { p.temp(width) };
            p.load(width, dst, a, it.reads(width));
            return Ok(dst);
        }
        OpCode::Copy => {
            let dst = p.target(output);
            p.copy(width, dst, a);
            return Ok(dst);
        }
        OpCode::Popcount => return counted(p, output, Op::Ctpop, from, a),
        OpCode::LzCount => return counted(p, output, Op::Ctlz, from, a),
        OpCode::Subpiece => {
            let skip = op.inputs[1].offset.saturating_mul(8).min(u64::from(from)) as u32;
            if skip + width > from {
                return Err(unknown());
            }
            return Ok(emit(p, output, Op::Extract, width, a.raw(), skip, from));
        }
        OpCode::Int(IntOp::Extension(sign)) => return Ok(extended(p, output, sign, from, a)),
        OpCode::Int(IntOp::Negate) => {
            let zero = p.constant(width, 0);
            return Ok(emit(p, output, Op::Sub, width, zero.raw(), a.raw(), NONE));
        }
        OpCode::Int(IntOp::Bitwise(BoolOp::Negate)) => return Ok(inverted(p, output, a)),
        OpCode::Bool(BoolOp::Negate) => {
            let one = p.constant(1, 1);
            return Ok(emit(p, output, Op::Xor, 1, a.raw(), one.raw(), NONE));
        }
        OpCode::Float(f) if op.inputs.len() == 1 => return float(p, f, output, from, a),
        _ => {}
    }
    let Some(&second) = op.inputs.get(1) else { return Err(unknown()) };
    let b = p.read(second)?;
    match op.op {
        OpCode::Piece if second.width().is_multiple_of(64) => {
            let dst = p.temp(width);
            p.copy(second.width(), dst, b);
            p.copy(from, dst.limb(limbs(second.width())), a);
            Ok(dst)
        }
        OpCode::Piece => Ok(emit(p, output, Op::Concat, width, a.raw(), b.raw(), second.width())),
        OpCode::Bool(b_op) => Ok(emit(p, output, bitwise(b_op).ok_or_else(unknown)?, 1, a.raw(), b.raw(), NONE)),
        OpCode::Int(IntOp::Bitwise(b_op)) => {
            let (dst, op) = (p.target(output), bitwise(b_op).ok_or_else(unknown)?);
            for i in 0..limbs(width) {
                p.emit(op, (width - 64 * i).min(64), dst.limb(i), a.limb(i).raw(), b.limb(i).raw(), NONE);
            }
            Ok(dst)
        }
        OpCode::Int(i @ (IntOp::ShiftLeft | IntOp::ShiftRight(_))) => {
            let shift = match i {
                IntOp::ShiftLeft => Op::Shl,
                IntOp::ShiftRight(IntSign::Signed) => Op::Ashr,
                _ => Op::Lshr,
            };
            let by = amount(p, width, second, b);
            Ok(emit(p, output, shift, width, a.raw(), by.raw(), 0))
        }
        OpCode::Int(i) => {
            let (op, of_operands) = integer(i).ok_or_else(unknown)?;
            if from != second.width() {
                return Err(unknown());
            }
            Ok(emit(p, output, op, if of_operands { from } else { width }, a.raw(), b.raw(), NONE))
        }
        OpCode::Float(f) => {
            if let Some(predicate) = predicate(f) {
                return Ok(emit(p, output, Op::Fcmp, from, a.raw(), b.raw(), predicate));
            }
            let op = match f {
                FloatOp::Add => Op::Fadd,
                FloatOp::Subtract => Op::Fsub,
                FloatOp::Multiply => Op::Fmul,
                FloatOp::Divide => Op::Fdiv,
                _ => return Err(unknown()),
            };
            Ok(emit(p, output, op, width, a.raw(), b.raw(), NONE))
        }
        _ => Err(unknown()),
    }
}

/// Emits an instruction into the output's place.
fn emit(p: &mut Places<'_, '_, '_>, output: Varnode, op: Op, width: u32, a: u32, b: u32, c: u32) -> Slot {
    let dst = p.target(output);
    p.emit(op, width, dst, a, b, c);
    dst
}

/// The IR's operator, and whether its width is the operands'.
fn integer(op: IntOp) -> Option<(Op, bool)> {
    use IntSign::{Signed, Unsigned};
    Some(match op {
        IntOp::Add => (Op::Add, false),
        IntOp::Subtract => (Op::Sub, false),
        IntOp::Multiply => (Op::Mul, false),
        IntOp::Divide(Unsigned) => (Op::Udiv, false),
        IntOp::Divide(Signed) => (Op::Sdiv, false),
        IntOp::Remainder(Unsigned) => (Op::Urem, false),
        IntOp::Remainder(Signed) => (Op::Srem, false),
        IntOp::Equal => (Op::Eq, true),
        IntOp::NotEqual => (Op::Ne, true),
        IntOp::LessThan(Unsigned) => (Op::Ult, true),
        IntOp::LessThan(Signed) => (Op::Slt, true),
        IntOp::LessThanOrEqual(Unsigned) => (Op::Ule, true),
        IntOp::LessThanOrEqual(Signed) => (Op::Sle, true),
        IntOp::Carry(Unsigned) => (Op::UaddOverflow, true),
        IntOp::Carry(Signed) => (Op::SaddOverflow, true),
        IntOp::Borrow => (Op::SsubOverflow, true),
        IntOp::Negate | IntOp::Extension(_) | IntOp::ShiftLeft | IntOp::ShiftRight(_) | IntOp::Bitwise(_) => return None,
    })
}

fn bitwise(op: BoolOp) -> Option<Op> {
    match op {
        BoolOp::And => Some(Op::And),
        BoolOp::Or => Some(Op::Or),
        BoolOp::Xor => Some(Op::Xor),
        BoolOp::Negate => None,
    }
}

fn predicate(op: FloatOp) -> Option<u32> {
    match op {
        FloatOp::Equal => Some(FcmpPred::EQ),
        FloatOp::NotEqual => Some(FcmpPred::LT | FcmpPred::GT | FcmpPred::UNORDERED),
        FloatOp::LessThan => Some(FcmpPred::LT),
        FloatOp::LessThanOrEqual => Some(FcmpPred::LT | FcmpPred::EQ),
        _ => None,
    }
}

/// Counts bits of `a`, of `from` bits; the count fits the output's width, whatever it is.
fn counted(p: &mut Places<'_, '_, '_>, output: Varnode, op: Op, from: u32, a: Slot) -> Result<Slot, String> {
    if from > 64 || output.width() > 64 {
        return Err("bits counted in more than 64".to_owned());
    }
    Ok(emit(p, output, op, from, a.raw(), NONE, NONE))
}

fn extended(p: &mut Places<'_, '_, '_>, output: Varnode, sign: IntSign, from: u32, a: Slot) -> Slot {
    let (width, dst) = (output.width(), p.target(output));
    match sign {
        IntSign::Signed => p.emit(Op::Sext, width, dst, a.raw(), NONE, from),
        IntSign::Unsigned if width <= 64 => p.emit(Op::Zext, width, dst, a.raw(), NONE, from),
        IntSign::Unsigned => {
            p.copy(from, dst, a);
            for i in limbs(from)..limbs(width) {
                p.emit(Op::Imm, (width - 64 * i).min(64), dst.limb(i), 0, 0, NONE);
            }
        }
    }
    dst
}

fn inverted(p: &mut Places<'_, '_, '_>, output: Varnode, a: Slot) -> Slot {
    let (width, dst) = (output.width(), p.target(output));
    for i in 0..limbs(width) {
        let w = (width - 64 * i).min(64);
        let ones = p.constant(w, u64::MAX);
        p.emit(Op::Xor, w, dst.limb(i), a.limb(i).raw(), ones.raw(), NONE);
    }
    dst
}

/// A shift's amount at the width of what is shifted; amounts too large for that stay too large.
fn amount(p: &mut Places<'_, '_, '_>, width: u32, by: Varnode, slot: Slot) -> Slot {
    let from = by.width();
    if from <= width && width <= 64 || from == width {
        // Slots hold narrow values zero-extended.
        return slot;
    }
    let fitted = p.temp(width);
    if from < width {
        p.copy(from, fitted, slot);
        for i in limbs(from)..limbs(width) {
            p.emit(Op::Imm, (width - 64 * i).min(64), fitted.limb(i), 0, 0, NONE);
        }
        return fitted;
    }
    let (limit, low, fits) = (p.constant(from, u64::from(width)), p.temp(width), p.temp(1));
    let all = p.constant(width, u64::from(width));
    p.emit(Op::Ult, from, fits, slot.raw(), limit.raw(), NONE);
    p.emit(Op::Trunc, width, low, slot.raw(), NONE, from);
    p.emit(Op::Select, width, fitted, fits.raw(), low.raw(), all.raw());
    fitted
}

/// Float operations with one operand.
fn float(p: &mut Places<'_, '_, '_>, op: FloatOp, output: Varnode, from: u32, a: Slot) -> Result<Slot, String> {
    let width = output.width();
    let (op, b, c) = match op {
        FloatOp::IsNaN => return Ok(emit(p, output, Op::Fcmp, from, a.raw(), a.raw(), FcmpPred::UNORDERED)),
        FloatOp::Negate => (Op::Fneg, NONE, NONE),
        FloatOp::AbsoluteValue => (Op::Fabs, NONE, NONE),
        FloatOp::SquareRoot => (Op::Fsqrt, NONE, NONE),
        FloatOp::IntToFloat => (Op::StoF, NONE, from),
        FloatOp::FloatToFloat if from == width => (Op::Copy, NONE, NONE),
        FloatOp::FloatToFloat => (Op::Fcast, NONE, from),
        FloatOp::Truncate => (Op::FtoS, NONE, from),
        FloatOp::Ceiling => (Op::Fround, Round::Ceil as u32, NONE),
        FloatOp::Floor => (Op::Fround, Round::Floor as u32, NONE),
        FloatOp::Round => (Op::Fround, Round::Even as u32, NONE),
        other => return Err(format!("p-code {other:?} of one operand")),
    };
    Ok(emit(p, output, op, width, a.raw(), b, c))
}
