//! Memory: allocas, loads, stores, address arithmetic, atomics as accesses that say that they are.
//!
//! Only what an access really touches is accessed: padding is neither read nor written, a vector goes limb by limb.
//! Address arithmetic is one `ptradd` per variable index and one for all constants together, last, so that the base
//! keeps its bounds.

use wryneck_ir::build::Slot;
use wryneck_ir::{ATOMIC, NONE, Op};

use crate::body::Body;
use crate::constant::{GepStep, gep_steps, sign_extend};
use crate::error::Unsupported;
use crate::ffi::{Ordering, RmwOp, Type, TypeKind, Value};
use crate::inst::Lowered;
use crate::types::{Piece, Shape};
use crate::value::Val;

/// Variables stay below the address space of a process.
pub const MAX_VARIABLE: u64 = 1 << 47;

impl<'m> Body<'_, 'm> {
    /// An alloca of constant size in the entry block is one object per call; any other grows the stack where it stands.
    pub fn alloca(&mut self, v: Value<'m>) -> Lowered {
        let ty = v.allocated_type();
        let (size, align) = (self.cx.llvm.alloc_size(ty), v.alignment().max(1));
        let count = self.number(v.operand(0));
        if let Some(count) = count.filter(|_| v.parent() == self.entry) {
            let bytes = size.saturating_mul(count);
            if bytes >= MAX_VARIABLE {
                return Err(Unsupported::TooLarge { bytes });
            }
            let (name, loc) = self.variables.get(&v).copied().unwrap_or((v.name(), self.b.loc));
            let here = std::mem::replace(&mut self.b.loc, loc);
            let id = self.b.alloca(bytes, align, &String::from_utf8_lossy(name));
            self.b.loc = here;
            return Ok(Some(self.b.value(Op::Alloca, 64, id, NONE, NONE).into()));
        }
        let bytes = match count {
            Some(count) => self.word(size.saturating_mul(count)),
            None => {
                let (count, width) = (self.scalar(v.operand(0))?, self.cx.types.scalar(v.operand(0).ty())?);
                let op = if width > 64 { Op::Trunc } else { Op::Zext };
                let count = self.integer_cast(op, 64, width, count);
                let size = self.word(size);
                self.b.binary(Op::Mul, 64, count, size)
            }
        };
        Ok(Some(self.b.value(Op::AllocaDyn, 64, bytes, align, NONE).into()))
    }
    /// `base` plus a number of bytes.
    pub fn offset(&mut self, base: Slot, bytes: u64) -> Slot {
        if bytes == 0 {
            return base;
        }
        let bytes = self.word(bytes);
        self.b.value(Op::PtrAdd, 64, base, bytes, 1)
    }
    pub fn gep(&mut self, v: Value<'m>) -> Lowered {
        if v.is_constant()
            && let Some(linear) = self.cx.fold(v)
        {
            return Ok(Some(self.b.address(linear.symbol, linear.value).into()));
        }
        let (fixed, steps) = gep_steps(self.cx, v);
        let base = self.value(v.operand(0))?;
        let len = if v.ty().kind() == TypeKind::LLVMVectorTypeKind { v.ty().vector_len() as usize } else { 1 };
        let mut out = Vec::with_capacity(len);
        for i in 0..len {
            let base = base.leaves()[i.min(base.leaves().len() - 1)];
            out.push(self.gep_one(base, fixed, &steps, i)?);
        }
        Ok(Some(out.into_iter().collect()))
    }
    /// One address: element `i` of vector indices.
    fn gep_one(&mut self, base: Slot, fixed: u64, steps: &[GepStep<'m>], i: usize) -> Result<Slot, Unsupported> {
        let (mut at, mut fixed) = (base, fixed);
        for step in steps {
            let index = step.index;
            let is_vector = index.ty().kind() == TypeKind::LLVMVectorTypeKind;
            let width = self.cx.types.scalar(if is_vector { index.ty().element() } else { index.ty() })?;
            let constant = if is_vector && index.is_constant() { index.element(i as u32) } else { Some(index) };
            if let Some(n) = constant.and_then(|c| self.number(c)) {
                fixed = fixed.wrapping_add(sign_extend(n, width).wrapping_mul(step.scale));
            } else if step.scale > 0 {
                let indices = self.value(index)?;
                let index = indices.leaves()[i.min(indices.leaves().len() - 1)];
                at = self.indexed(at, index, width, step.scale);
            }
        }
        Ok(self.offset(at, fixed))
    }
    fn indexed(&mut self, base: Slot, index: Slot, width: u16, scale: u64) -> Slot {
        let op = if width > 64 { Op::Trunc } else { Op::Sext };
        let index = self.integer_cast(op, 64, width, index);
        match u32::try_from(scale) {
            Ok(scale) => self.b.value(Op::PtrAdd, 64, base, index, scale),
            Err(_) => {
                let scale = self.word(scale);
                let bytes = self.b.binary(Op::Mul, 64, index, scale);
                self.b.value(Op::PtrAdd, 64, base, bytes, 1)
            }
        }
    }

    /// What a load or store says of itself.
    fn access_of(v: Value<'m>) -> u32 {
        if v.ordering() == Ordering::LLVMAtomicOrderingNotAtomic { 0 } else { ATOMIC }
    }

    pub fn load_instruction(&mut self, v: Value<'m>) -> Lowered {
        let address = self.scalar(v.operand(0))?;
        self.access = Self::access_of(v);
        let loaded = self.load(v.ty(), address);
        self.access = 0;
        loaded.map(Some)
    }
    /// Reads a value of a type.
    pub fn load(&mut self, ty: Type<'m>, address: Slot) -> Result<Val, Unsupported> {
        let shape = self.cx.types.shape(ty)?;
        let mut leaves = Vec::new();
        for &piece in &shape.pieces {
            let at = self.offset(address, piece.offset);
            self.load_piece(piece, at, &mut leaves);
        }
        Ok(leaves.into_iter().collect())
    }
    fn load_piece(&mut self, piece: Piece, at: Slot, out: &mut Vec<Slot>) {
        let Piece { bits, len, .. } = piece;
        if len > 1 && bits > 64 && bits.is_multiple_of(8) {
            for i in 0..len {
                let at = self.offset(at, u64::from(i) * u64::from(bits / 8));
                out.push(self.b.load(bits, at, self.access));
            }
        } else if len > 1 && 64u16.is_multiple_of(bits) {
            let mut left = u32::from(piece.width());
            for limb in 0u64.. {
                let width = left.min(64) as u16;
                let at = self.offset(at, limb * 8);
                let whole = self.b.load(width, at, self.access);
                self.unpack(Piece { bits, len: u32::from(width / bits), offset: 0 }, whole, out);
                left -= u32::from(width);
                if left == 0 {
                    break;
                }
            }
        } else {
            let whole = self.b.load(piece.width(), at, self.access);
            self.unpack(piece, whole, out);
        }
    }
    pub fn store_instruction(&mut self, v: Value<'m>) -> Lowered {
        let (value, address) = (self.value(v.operand(0))?, self.scalar(v.operand(1))?);
        let shape = self.cx.types.shape(v.operand(0).ty())?;
        self.access = Self::access_of(v);
        self.store(&shape, &value, address);
        self.access = 0;
        Ok(None)
    }
    /// Writes a value of a shape.
    pub fn store(&mut self, shape: &Shape, value: &Val, address: Slot) {
        for (piece, leaves) in Self::pieces(shape, value) {
            let at = self.offset(address, piece.offset);
            self.store_piece(piece, &leaves, at);
        }
    }
    fn store_piece(&mut self, piece: Piece, leaves: &[Slot], at: Slot) {
        let Piece { bits, len, .. } = piece;
        if len > 1 && bits > 64 && bits.is_multiple_of(8) {
            for (i, &leaf) in (0u64..).zip(leaves) {
                let at = self.offset(at, i * u64::from(bits / 8));
                self.b.store(bits, at, leaf, self.access);
            }
            return;
        }
        match self.pack_limbs(piece, leaves).filter(|_| len > 1) {
            Some(limbs) => {
                for (i, (limb, width)) in (0u64..).zip(limbs) {
                    let at = self.offset(at, i * 8);
                    self.b.store(width, at, limb, self.access);
                }
            }
            None => {
                let whole = self.pack(piece, leaves);
                self.b.store(piece.width(), at, whole, self.access);
            }
        }
    }

    /// The old value and whether it was the expected one; only then is memory changed.
    pub fn compare_exchange(&mut self, v: Value<'m>) -> Lowered {
        let address = self.scalar(v.operand(0))?;
        let (expected, new) = (self.scalar(v.operand(1))?, self.scalar(v.operand(2))?);
        let width = self.cx.types.scalar(v.operand(1).ty())?;
        let old = self.b.load(width, address, ATOMIC);
        let same = self.b.binary(Op::Eq, width, old, expected);
        let kept = self.choose(width, same, new, old);
        self.b.store(width, address, kept, ATOMIC);
        Ok(Some([old, same].into_iter().collect()))
    }
    pub fn read_modify_write(&mut self, v: Value<'m>) -> Lowered {
        let address = self.scalar(v.operand(0))?;
        let ty = v.operand(1).ty();
        let shape = self.cx.types.shape(ty)?;
        self.access = ATOMIC;
        let old = self.load(ty, address);
        self.access = 0;
        let old = old?;
        let operand = self.value(v.operand(1))?;
        let mut new = Vec::new();
        for ((width, &a), &b) in shape.leaves().zip(old.leaves()).zip(operand.leaves()) {
            new.push(self.modified(v.rmw_op(), ty, width, a, b)?);
        }
        self.access = ATOMIC;
        self.store(&shape, &new.into_iter().collect(), address);
        self.access = 0;
        Ok(Some(old))
    }
    fn modified(&mut self, op: RmwOp, ty: Type<'m>, width: u16, a: Slot, b: Slot) -> Result<Slot, Unsupported> {
        use RmwOp as R;
        let simple = match op {
            R::LLVMAtomicRMWBinOpXchg => return Ok(b),
            R::LLVMAtomicRMWBinOpAdd => Op::Add,
            R::LLVMAtomicRMWBinOpSub => Op::Sub,
            R::LLVMAtomicRMWBinOpAnd | R::LLVMAtomicRMWBinOpNand => Op::And,
            R::LLVMAtomicRMWBinOpOr => Op::Or,
            R::LLVMAtomicRMWBinOpXor => Op::Xor,
            R::LLVMAtomicRMWBinOpMax => return Ok(self.extreme(Op::Slt, true, width, a, b)),
            R::LLVMAtomicRMWBinOpMin => return Ok(self.extreme(Op::Slt, false, width, a, b)),
            R::LLVMAtomicRMWBinOpUMax => return Ok(self.extreme(Op::Ult, true, width, a, b)),
            R::LLVMAtomicRMWBinOpUMin => return Ok(self.extreme(Op::Ult, false, width, a, b)),
            R::LLVMAtomicRMWBinOpFAdd => Op::Fadd,
            R::LLVMAtomicRMWBinOpFSub => Op::Fsub,
            R::LLVMAtomicRMWBinOpFMax => Op::Fmax,
            R::LLVMAtomicRMWBinOpFMin => Op::Fmin,
            R::LLVMAtomicRMWBinOpUIncWrap
            | R::LLVMAtomicRMWBinOpUDecWrap
            | R::LLVMAtomicRMWBinOpUSubCond
            | R::LLVMAtomicRMWBinOpUSubSat
            | R::LLVMAtomicRMWBinOpFMaximum
            | R::LLVMAtomicRMWBinOpFMinimum => {
                return Err(Unsupported::Instruction("atomicrmw of a wrapping or IEEE 2019 kind"));
            }
        };
        if matches!(simple, Op::Fadd | Op::Fsub | Op::Fmax | Op::Fmin) {
            self.cx.types.float(ty)?;
        }
        let result = self.b.binary(simple, width, a, b);
        if op != R::LLVMAtomicRMWBinOpNand {
            return Ok(result);
        }
        let ones = self.ones(width);
        Ok(self.b.binary(Op::Xor, width, result, ones))
    }
    /// The smaller (or the larger) by this comparison.
    pub fn extreme(&mut self, less: Op, larger: bool, width: u16, a: Slot, b: Slot) -> Slot {
        let is_less = self.b.binary(less, width, a, b);
        let (then, other) = if larger { (b, a) } else { (a, b) };
        self.choose(width, is_less, then, other)
    }
    /// All bits set.
    pub fn ones(&mut self, width: u16) -> Slot {
        self.b.wide(width, &vec![u64::MAX; usize::from(width.div_ceil(64))])
    }
}
