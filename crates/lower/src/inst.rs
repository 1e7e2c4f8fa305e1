//! Instructions: one match from LLVM's opcodes to ours; arithmetic, comparisons, casts and control flow.
//!
//! Constant expressions come through the same match. Shapes folded here because clang emits them everywhere: a test of
//! a widened bit is the bit, a choice between a bit and a constant bit is a conjunction or disjunction, a cut and
//! widened value is a mask, an inverted condition swaps the edges. LLVM's `add nsw` and friends wrap, after a check if one is
//! asked for.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{CallDef, Callee, EdgeId, Slot};
use wryneck_ir::{NONE, Op, limbs};

use crate::body::Body;
use crate::constant::cut;
use crate::error::Unsupported;
use crate::ffi::{Block, IntPredicate, Opcode, Type, TypeKind, Value, ValueKind};
use crate::types::Shape;
use crate::value::Val;

/// The model that checks an operation.
const CHECK: &str = "__wryneck_overflow";

/// A value, nothing (stores, branches), or why not.
pub type Lowered = Result<Option<Val>, Unsupported>;

impl<'m> Body<'_, 'm> {
    /// Lowers an instruction or constant expression.
    pub fn operation(&mut self, opcode: Opcode, v: Value<'m>) -> Lowered {
        use Opcode as O;
        match opcode {
            O::LLVMAdd => self.binary(Op::Add, v),
            O::LLVMSub => self.binary(Op::Sub, v),
            O::LLVMMul => self.binary(Op::Mul, v),
            O::LLVMUDiv => self.binary(Op::Udiv, v),
            O::LLVMSDiv => self.binary(Op::Sdiv, v),
            O::LLVMURem => self.binary(Op::Urem, v),
            O::LLVMSRem => self.binary(Op::Srem, v),
            O::LLVMAnd => self.binary(Op::And, v),
            O::LLVMOr => self.binary(Op::Or, v),
            O::LLVMXor => self.binary(Op::Xor, v),
            O::LLVMShl => self.shift(Op::Shl, v),
            O::LLVMLShr => self.shift(Op::Lshr, v),
            O::LLVMAShr => self.shift(Op::Ashr, v),
            O::LLVMFAdd => self.float_binary(Op::Fadd, v),
            O::LLVMFSub => self.float_binary(Op::Fsub, v),
            O::LLVMFMul => self.float_binary(Op::Fmul, v),
            O::LLVMFDiv => self.float_binary(Op::Fdiv, v),
            O::LLVMFRem => self.float_binary(Op::Frem, v),
            O::LLVMFNeg => self.float_negation(v),
            O::LLVMICmp => self.compare(v),
            O::LLVMFCmp => self.float_compare(v),
            O::LLVMTrunc => self.cast(Op::Trunc, v),
            O::LLVMZExt => self.zero_extend(v),
            O::LLVMSExt => self.cast(Op::Sext, v),
            O::LLVMPtrToInt | O::LLVMIntToPtr | O::LLVMPtrToAddr => self.resize(v),
            O::LLVMBitCast | O::LLVMAddrSpaceCast => self.bit_cast(v),
            O::LLVMFPToUI => self.float_cast(Op::FtoU, v),
            O::LLVMFPToSI => self.float_cast(Op::FtoS, v),
            O::LLVMUIToFP => self.float_cast(Op::UtoF, v),
            O::LLVMSIToFP => self.float_cast(Op::StoF, v),
            O::LLVMFPTrunc | O::LLVMFPExt => self.float_cast(Op::Fcast, v),
            O::LLVMSelect => self.select(v),
            O::LLVMFreeze => self.value(v.operand(0)).map(Some),
            O::LLVMExtractElement => self.extract_element(v),
            O::LLVMInsertElement => self.insert_element(v),
            O::LLVMShuffleVector => self.shuffle(v),
            O::LLVMExtractValue => self.extract_value(v),
            O::LLVMInsertValue => self.insert_value(v),
            O::LLVMAlloca => self.alloca(v),
            O::LLVMLoad => self.load_instruction(v),
            O::LLVMStore => self.store_instruction(v),
            O::LLVMGetElementPtr => self.gep(v),
            O::LLVMFence => Ok(None),
            O::LLVMAtomicCmpXchg => self.compare_exchange(v),
            O::LLVMAtomicRMW => self.read_modify_write(v),
            O::LLVMVAArg => self.va_arg(v),
            O::LLVMCall | O::LLVMInvoke => self.call(v),
            O::LLVMRet => self.ret(v),
            O::LLVMBr => self.branch(v),
            O::LLVMSwitch => self.switch(v),
            O::LLVMIndirectBr => self.indirect_branch(v),
            O::LLVMUnreachable => {
                self.b.unreachable();
                Ok(None)
            }
            O::LLVMPHI => self.value(v).map(Some),
            O::LLVMCallBr => Err(Unsupported::Instruction("callbr")),
            O::LLVMResume => self.resume(v),
            O::LLVMLandingPad => self.landing_pad(v),
            O::LLVMCleanupRet => Err(Unsupported::Instruction("cleanupret")),
            O::LLVMCatchRet => Err(Unsupported::Instruction("catchret")),
            O::LLVMCatchPad => Err(Unsupported::Instruction("catchpad")),
            O::LLVMCleanupPad => Err(Unsupported::Instruction("cleanuppad")),
            O::LLVMCatchSwitch => Err(Unsupported::Instruction("catchswitch")),
            O::LLVMUserOp1 | O::LLVMUserOp2 => Err(Unsupported::Instruction("userop")),
        }
    }

    /// Width of a scalar or of a vector's elements, and how many leaves.
    fn elements(&mut self, v: Value<'m>) -> Result<u16, Unsupported> {
        let shape = self.cx.types.shape(v.ty())?;
        match shape.pieces[..] {
            [piece] => Ok(piece.bits),
            _ => Err(Unsupported::Type(v.ty().to_string())),
        }
    }
    /// `f` on each leaf of operand 0.
    pub fn each1(&mut self, v: Value<'m>, mut f: impl FnMut(&mut Self, Slot) -> Slot) -> Lowered {
        let a = self.value(v.operand(0))?;
        Ok(Some(a.leaves().iter().map(|&a| f(self, a)).collect()))
    }
    /// `f` on each pair of leaves of operands 0 and 1.
    pub fn each2(&mut self, v: Value<'m>, mut f: impl FnMut(&mut Self, Slot, Slot) -> Slot) -> Lowered {
        let (a, b) = (self.value(v.operand(0))?, self.value(v.operand(1))?);
        Ok(Some(a.leaves().iter().zip(b.leaves()).map(|(&a, &b)| f(self, a, b)).collect()))
    }
    fn binary(&mut self, op: Op, v: Value<'m>) -> Lowered {
        let width = self.elements(v.operand(0))?;
        if self.cx.overflow {
            self.check_overflow(op, width, v)?;
        }
        self.each2(v, |s, a, b| s.b.binary(op, width, a, b))
    }
    /// Has the engine check an operation that promises not to overflow (`__wryneck_overflow`). As for shifts, what an optimiser computes before
    /// the condition that guards it is no mistake of the program.
    fn check_overflow(&mut self, op: Op, width: u16, v: Value<'m>) -> Result<(), Unsupported> {
        let (overflows, number) = match op {
            Op::Add => (Op::SaddOverflow, 0),
            Op::Sub => (Op::SsubOverflow, 1),
            Op::Mul => (Op::SmulOverflow, 2),
            _ => return Ok(()),
        };
        if !v.is_instruction() || !v.no_signed_wrap() || !(self.as_written || is_surely_used(v, v.parent(), 4)) {
            return Ok(());
        }
        let (a, b) = (self.value(v.operand(0))?, self.value(v.operand(1))?);
        for (&a, &b) in a.leaves().iter().zip(b.leaves()) {
            let bit = self.b.binary(overflows, width, a, b);
            let (operator, bits) = (self.b.int(32, number), self.b.int(32, width.into()));
            let symbol = self.b.names.symbol(self.b.module, CHECK);
            let args = [(bit, 1), (operator, 32), (bits, 32), (a, width), (b, width)];
            self.b.call(Callee::Symbol(symbol), CallDef { args: &args, ret_width: 0, flags: 0, named: args.len() as u32 });
        }
        Ok(())
    }
    /// A shift too far is undefined in the source, but LLVM computes shifts ahead of the condition that guards them,
    /// and ignores the result: it is reported only where the result is sure to be used.
    fn shift(&mut self, op: Op, v: Value<'m>) -> Lowered {
        let width = self.elements(v.operand(0))?;
        let in_range = self.splat_number(v.operand(1)).is_some_and(|n| n < u64::from(width));
        let undefined = u32::from(!in_range && (self.as_written || v.is_instruction() && is_surely_used(v, v.parent(), 4)));
        self.each2(v, |s, a, b| s.b.value(op, width, a, b, undefined))
    }
    fn float_binary(&mut self, op: Op, v: Value<'m>) -> Lowered {
        let width = self.cx.types.float(v.ty())?;
        self.each2(v, |s, a, b| s.b.binary(op, width, a, b))
    }
    fn float_negation(&mut self, v: Value<'m>) -> Lowered {
        if self.cx.types.is_bfloat(v.ty()) {
            let sign = self.b.int(16, 0x8000);
            return self.each1(v, |s, a| s.b.binary(Op::Xor, 16, a, sign));
        }
        let width = self.cx.types.float(v.ty())?;
        self.each1(v, |s, a| s.b.unary(Op::Fneg, width, a))
    }
    fn compare(&mut self, v: Value<'m>) -> Lowered {
        use IntPredicate as P;
        let predicate = v.predicate();
        if let Some(bit) = widened_bit(self, v) {
            let bit = self.scalar(bit)?;
            return Ok(Some(if predicate == P::LLVMIntNE { bit } else { self.not(bit) }.into()));
        }
        let width = self.elements(v.operand(0))?;
        let (op, swap) = match predicate {
            P::LLVMIntEQ => (Op::Eq, false),
            P::LLVMIntNE => (Op::Ne, false),
            P::LLVMIntUGT => (Op::Ult, true),
            P::LLVMIntUGE => (Op::Ule, true),
            P::LLVMIntULT => (Op::Ult, false),
            P::LLVMIntULE => (Op::Ule, false),
            P::LLVMIntSGT => (Op::Slt, true),
            P::LLVMIntSGE => (Op::Sle, true),
            P::LLVMIntSLT => (Op::Slt, false),
            P::LLVMIntSLE => (Op::Sle, false),
        };
        self.each2(v, |s, a, b| if swap { s.b.binary(op, width, b, a) } else { s.b.binary(op, width, a, b) })
    }
    /// The other bit.
    pub fn not(&mut self, bit: Slot) -> Slot {
        let one = self.b.int(1, 1);
        self.b.binary(Op::Xor, 1, bit, one)
    }
    fn float_compare(&mut self, v: Value<'m>) -> Lowered {
        let width = self.cx.types.float(v.operand(0).ty())?;
        let predicate = v.float_predicate() & 15;
        self.each2(v, |s, a, b| match predicate {
            0 | 15 => s.b.int(1, u64::from(predicate & 1)),
            _ => s.b.value(Op::Fcmp, width, a, b, predicate),
        })
    }

    fn cast(&mut self, op: Op, v: Value<'m>) -> Lowered {
        if only_masked(v) {
            return Ok(None);
        }
        let (to, from) = (self.elements(v)?, self.elements(v.operand(0))?);
        self.each1(v, |s, a| s.integer_cast(op, to, from, a))
    }
    /// A cast of one slot run; of a wide value, only the limbs that matter are read.
    pub fn integer_cast(&mut self, op: Op, to: u16, from: u16, a: Slot) -> Slot {
        match op {
            _ if to == from => a,
            Op::Trunc if from > 64 && to <= 64 => {
                let limb = if from >= 64 { 64 } else { from };
                self.extract(to, a, 0, limb)
            }
            _ => self.b.cast(op, to, from, a),
        }
    }
    fn zero_extend(&mut self, v: Value<'m>) -> Lowered {
        if only_tested(v) {
            return Ok(None);
        }
        let (to, from) = (self.elements(v)?, self.elements(v.operand(0))?);
        if let Some(original) = masked(v)
            && to <= 64
        {
            let (a, mask) = (self.scalar(original)?, self.b.int(to, cut(u64::MAX, from)));
            return Ok(Some(self.b.binary(Op::And, to, a, mask).into()));
        }
        self.each1(v, |s, a| s.integer_cast(Op::Zext, to, from, a))
    }
    /// Pointer to integer or back: other widths than 64 bits are cut or zero-extended.
    fn resize(&mut self, v: Value<'m>) -> Lowered {
        let (to, from) = (self.elements(v)?, self.elements(v.operand(0))?);
        let op = if to < from { Op::Trunc } else { Op::Zext };
        self.each1(v, |s, a| s.integer_cast(op, to, from, a))
    }
    fn bit_cast(&mut self, v: Value<'m>) -> Lowered {
        let val = self.value(v.operand(0))?;
        let (to, from) = (self.cx.types.shape(v.ty())?, self.cx.types.shape(v.operand(0).ty())?);
        let ([to], [from]) = (&to.pieces[..], &from.pieces[..]) else {
            return Err(Unsupported::Type(v.ty().to_string()));
        };
        if to.len == from.len {
            return Ok(Some(val));
        }
        let mut leaves = Vec::new();
        if to.bits > 1 && from.bits.is_multiple_of(to.bits) {
            // Each element falls apart into some of the new ones.
            for &whole in val.leaves() {
                self.unpack(crate::types::Piece { bits: to.bits, len: u32::from(from.bits / to.bits), offset: 0 }, whole, &mut leaves);
            }
        } else if to.bits.is_multiple_of(from.bits) {
            // Some elements make each of the new ones.
            let part = crate::types::Piece { bits: from.bits, len: u32::from(to.bits / from.bits), offset: 0 };
            for group in val.leaves().chunks(part.len as usize) {
                leaves.push(self.pack(part, group));
            }
        } else {
            let whole = self.pack(*from, val.leaves());
            self.unpack(*to, whole, &mut leaves);
        }
        Ok(Some(leaves.into_iter().collect()))
    }
    fn float_cast(&mut self, op: Op, v: Value<'m>) -> Lowered {
        let (from_ty, to_ty) = (v.operand(0).ty(), v.ty());
        if self.cx.types.is_bfloat(from_ty) && op == Op::Fcast {
            // A bfloat is the upper half of a float.
            let to = self.cx.types.float(to_ty)?;
            let zero = self.b.int(16, 0);
            return self.each1(v, |s, a| {
                let float = s.b.value(Op::Concat, 32, a, zero, 16);
                if to == 32 { float } else { s.b.cast(Op::Fcast, to, 32, float) }
            });
        }
        for ty in [from_ty, to_ty] {
            if self.cx.types.is_bfloat(ty) {
                return Err(Unsupported::Float(ty.to_string()));
            }
        }
        let (to, from) = (self.elements(v)?, self.elements(v.operand(0))?);
        self.each1(v, |s, a| s.b.cast(op, to, from, a))
    }

    fn select(&mut self, v: Value<'m>) -> Lowered {
        let (condition, then, other) = (v.operand(0), v.operand(1), v.operand(2));
        let shape = self.cx.types.shape(v.ty())?;
        if shape.scalar() == Some(1) && condition.ty().kind() == TypeKind::LLVMIntegerTypeKind {
            let (t, o) = (self.number(then), self.number(other));
            let bit = self.scalar(condition)?;
            let result = match (t, o) {
                (Some(1), Some(0)) => Some(bit),
                (Some(0), Some(1)) => Some(self.not(bit)),
                (_, Some(0)) => {
                    let then = self.scalar(then)?;
                    Some(self.b.binary(Op::And, 1, bit, then))
                }
                (Some(1), _) => {
                    let other = self.scalar(other)?;
                    Some(self.b.binary(Op::Or, 1, bit, other))
                }
                _ => None,
            };
            if let Some(slot) = result {
                return Ok(Some(slot.into()));
            }
        }
        let conditions = self.value(condition)?;
        let (then, other) = (self.value(then)?, self.value(other)?);
        let bits = conditions.leaves().iter().cycle();
        let parts = shape.leaves().zip(bits).zip(then.leaves()).zip(other.leaves());
        Ok(Some(parts.map(|(((width, &bit), &t), &o)| self.choose(width, bit, t, o)).collect()))
    }
    /// `bit ? then : other`.
    pub fn choose(&mut self, width: u16, bit: Slot, then: Slot, other: Slot) -> Slot {
        if then == other { then } else { self.b.value(Op::Select, width, bit, then, other) }
    }

    fn ret(&mut self, v: Value<'m>) -> Lowered {
        if v.operands() == 0 {
            self.b.ret(0, None);
            return Ok(None);
        }
        let val = self.value(v.operand(0))?;
        let shape = self.cx.types.shape(v.operand(0).ty())?;
        let pieces = self.pack_pieces(&shape, &val);
        self.return_pieces(&shape, &pieces);
        Ok(None)
    }
    fn return_pieces(&mut self, shape: &Shape, pieces: &[(Slot, u16)]) {
        use wryneck_ir::build::Field;
        if let [(slot, width)] = *pieces {
            return self.b.ret(width, Some(slot));
        }
        let slots = pieces.iter().flat_map(|&(slot, width)| (0..limbs(u32::from(width))).map(move |i| slot.limb(i).field()));
        let slots: Vec<u32> = slots.collect();
        let list = self.b.module.slot_lists.extend(&slots);
        self.b.emit(Op::Ret, shape.result_width(), NONE, list.first, list.count, NONE);
    }
    fn branch(&mut self, v: Value<'m>) -> Lowered {
        let from = v.parent();
        if !v.is_conditional() || v.successor(0) == v.successor(1) {
            return self.go_on(from, v.successor(0)).map(|()| None);
        }
        let (mut condition, mut then, mut other) = (v.condition(), v.successor(0), v.successor(1));
        while let Some(inverted) = inverted(condition) {
            condition = inverted;
            (then, other) = (other, then);
        }
        let condition = self.scalar(condition)?;
        let (then, other) = (self.edge(from, then)?, self.edge(from, other)?);
        self.b.cond_br(condition, then, other);
        Ok(None)
    }
    fn switch(&mut self, v: Value<'m>) -> Lowered {
        let value = self.scalar(v.operand(0))?;
        let width = self.elements(v.operand(0))?;
        let from = v.parent();
        let cases: Vec<_> = (1..v.successors()).map(|i| (v.case_value(i), v.successor(i))).collect();
        let default = v.successor(0);
        if width > 64 {
            return self.wide_switch(width, value, from, default, &cases);
        }
        let mut known = FxHashMap::default();
        for to in cases.iter().map(|&(_, to)| to).chain([default]) {
            if let Entry::Vacant(place) = known.entry(to) {
                place.insert(self.edge(from, to)?);
            }
        }
        let rows: Vec<(u64, EdgeId)> = cases.iter().filter_map(|(n, to)| Some((n.as_int()?, known[to]))).collect();
        self.b.switch(width, value, known[&default], &rows);
        Ok(None)
    }
    /// A switch on more than a word: a chain of comparisons.
    fn wide_switch(&mut self, width: u16, value: Slot, from: Block<'m>, default: Block<'m>, cases: &[(Value<'m>, Block<'m>)]) -> Lowered {
        for &(n, to) in cases {
            let n = self.scalar(n)?;
            let equal = self.b.binary(Op::Eq, width, value, n);
            let next = self.b.block();
            let (hit, miss) = (self.edge(from, to)?, self.b.edge(next));
            self.b.cond_br(equal, hit, miss);
            self.b.start(next);
        }
        let edge = self.edge(from, default)?;
        self.b.br(edge);
        Ok(None)
    }
    /// A jump to a block's number: a switch over the blocks it may go to.
    fn indirect_branch(&mut self, v: Value<'m>) -> Lowered {
        let address = self.scalar(v.operand(0))?;
        let mut rows = FxHashMap::default();
        for to in (0..v.successors()).map(|i| v.successor(i)) {
            let number = self.cx.block_number(self.function, to);
            if let Entry::Vacant(place) = rows.entry(number) {
                place.insert(self.edge(v.parent(), to)?);
            }
        }
        let nowhere = self.b.block();
        let default = self.b.edge(nowhere);
        self.b.switch(64, address, default, &rows.into_iter().collect::<Vec<_>>());
        self.b.start(nowhere);
        self.b.unreachable();
        Ok(None)
    }
}

fn is_opcode(v: Value, opcode: Opcode) -> bool {
    v.is_instruction() && v.opcode() == opcode
}

/// A comparison that asks whether a zero-extended bit is zero: the bit.
fn widened_bit<'m>(body: &mut Body<'_, 'm>, compare: Value<'m>) -> Option<Value<'m>> {
    let equality = matches!(compare.predicate(), IntPredicate::LLVMIntEQ | IntPredicate::LLVMIntNE);
    let wide = compare.operand(0);
    let bit = (equality && is_opcode(wide, Opcode::LLVMZExt) && body.number(compare.operand(1)) == Some(0)).then(|| wide.operand(0))?;
    (bit.ty().kind() == TypeKind::LLVMIntegerTypeKind && bit.ty().int_width() == 1).then_some(bit)
}

/// A widened bit that is only compared with zero is never needed.
fn only_tested(v: Value) -> bool {
    let bit = v.operand(0).ty();
    let tested = |user: Value| {
        is_opcode(user, Opcode::LLVMICmp)
            && matches!(user.predicate(), IntPredicate::LLVMIntEQ | IntPredicate::LLVMIntNE)
            && user.operand(0) == v
            && user.operand(1).is_null()
    };
    bit.kind() == TypeKind::LLVMIntegerTypeKind && bit.int_width() == 1 && v.first_use().is_some() && v.users().all(tested)
}

/// `zext (trunc x)` back to the type of `x`: `x`.
fn masked<'m>(extension: Value<'m>) -> Option<Value<'m>> {
    let cut = extension.operand(0);
    let back = is_opcode(cut, Opcode::LLVMTrunc) && cut.operand(0).ty() == extension.ty();
    // A bit is left alone: a test of its extension reads the bit itself.
    let widths = |ty: Type| ty.kind() == TypeKind::LLVMIntegerTypeKind && (2..=64).contains(&ty.int_width());
    (back && widths(extension.ty()) && widths(cut.ty())).then(|| cut.operand(0))
}

/// A truncation whose users all mask the original instead.
fn only_masked(v: Value) -> bool {
    is_opcode(v, Opcode::LLVMTrunc)
        && v.first_use().is_some()
        && v.users().all(|user| is_opcode(user, Opcode::LLVMZExt) && masked(user).is_some())
}

/// `xor x, true`: `x`.
fn inverted(condition: Value) -> Option<Value> {
    let is_not = is_opcode(condition, Opcode::LLVMXor) && condition.operand(1).as_int() == Some(1);
    is_not.then(|| condition.operand(0))
}

/// Does the value reach, inside its own block, something the program does with it?
fn is_surely_used<'m>(v: Value<'m>, block: Block<'m>, depth: u32) -> bool {
    use Opcode as O;
    depth > 0
        && v.users().filter(|u| u.kind() == ValueKind::LLVMInstructionValueKind && u.parent() == block).any(|user| match user.opcode() {
            O::LLVMStore | O::LLVMRet | O::LLVMBr | O::LLVMSwitch | O::LLVMLoad => true,
            O::LLVMCall => !user.called_value().name().starts_with(b"llvm."),
            O::LLVMAdd | O::LLVMSub | O::LLVMMul | O::LLVMAnd | O::LLVMOr | O::LLVMXor => is_surely_used(user, block, depth - 1),
            O::LLVMShl | O::LLVMLShr | O::LLVMAShr | O::LLVMICmp | O::LLVMGetElementPtr => is_surely_used(user, block, depth - 1),
            O::LLVMTrunc | O::LLVMZExt | O::LLVMSExt => is_surely_used(user, block, depth - 1),
            _ => false,
        })
}
