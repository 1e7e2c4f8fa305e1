//! Values while a function is lowered: which slots hold their leaves, and how leaves are packed and unpacked.
//!
//! Many LLVM instructions only rename leaves (insertions, extractions, shuffles, bit casts, freezes): they make a new
//! [`Val`] over the same slots and emit nothing. This is SSA copy propagation, so it is sound wherever the original
//! dominates. Packing works limb by limb, so that no instruction is wider than a word unless an element is.

use std::rc::Rc;

use wryneck_ir::build::Slot;
use wryneck_ir::{NONE, Op, limbs};

use crate::body::Body;
use crate::constant::Linear;
use crate::error::Unsupported;
use crate::ffi::{TypeKind, Value, ValueKind};
use crate::types::{Piece, Shape};

/// The slots of a value's leaves, in order.
#[derive(Clone, Debug)]
pub enum Val {
    One(Slot),
    Many(Rc<[Slot]>),
}

impl Val {
    pub fn leaves(&self) -> &[Slot] {
        match self {
            Val::One(slot) => std::slice::from_ref(slot),
            Val::Many(slots) => slots,
        }
    }
}

impl FromIterator<Slot> for Val {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Val {
        let slots: Vec<Slot> = slots.into_iter().collect();
        match slots[..] {
            [one] => Val::One(one),
            _ => Val::Many(slots.into()),
        }
    }
}

impl From<Slot> for Val {
    fn from(slot: Slot) -> Val {
        Val::One(slot)
    }
}

impl<'m> Body<'_, 'm> {
    /// The value's slots: known, a constant's, or (phis, and values only unreachable code defines) fresh ones.
    pub fn value(&mut self, v: Value<'m>) -> Result<Val, Unsupported> {
        if let Some(known) = self.values.get(&v) {
            return Ok(known.clone());
        }
        if v.is_constant() {
            return self.constant(v);
        }
        let shape = self.cx.types.shape(v.ty())?;
        let val: Val = shape.leaves().map(|bits| self.b.temp(bits)).collect();
        self.values.insert(v, val.clone());
        Ok(val)
    }
    /// The slot of a scalar.
    pub fn scalar(&mut self, v: Value<'m>) -> Result<Slot, Unsupported> {
        match self.value(v)? {
            Val::One(slot) => Ok(slot),
            Val::Many(_) => Err(Unsupported::Type(v.ty().to_string())),
        }
    }
    /// The scalar constant of `bits` bits that every leaf of a value is, if it is one.
    pub fn splat_number(&mut self, v: Value<'m>) -> Option<u64> {
        if !v.is_constant() {
            return None;
        }
        let element = if v.ty().kind() == TypeKind::LLVMVectorTypeKind { v.element(0)? } else { v };
        let number = self.cx.fold(element)?.as_number()?;
        let same = v.ty().kind() != TypeKind::LLVMVectorTypeKind
            || (1..v.ty().vector_len()).all(|i| v.element(i).and_then(|e| self.cx.fold(e)) == Some(Linear::number(number)));
        same.then_some(number)
    }
    fn constant(&mut self, c: Value<'m>) -> Result<Val, Unsupported> {
        let shape = self.cx.types.shape(c.ty())?;
        if c.is_undef() || c.is_null() {
            return Ok(shape.leaves().map(|bits| self.b.int(bits, 0)).collect());
        }
        let Some(bits) = shape.scalar().filter(|_| is_scalar(c)) else { return self.aggregate_constant(c) };
        if bits <= 64
            && let Some(linear) = self.cx.fold(c)
        {
            return Ok(match linear.as_number() {
                Some(n) => self.b.int(bits, n),
                None => self.b.address(linear.symbol, linear.value),
            }
            .into());
        }
        if c.kind() == ValueKind::LLVMConstantExprValueKind {
            let val = self.operation(c.constant_opcode(), c)?;
            return val.ok_or(Unsupported::Constant);
        }
        let number = self.cx.wide_number(c, bits)?;
        Ok(self.b.wide(bits, &number).into())
    }
    fn aggregate_constant(&mut self, c: Value<'m>) -> Result<Val, Unsupported> {
        if c.kind() == ValueKind::LLVMConstantExprValueKind {
            return self.operation(c.constant_opcode(), c)?.ok_or(Unsupported::Constant);
        }
        let ty = c.ty();
        let len = match ty.kind() {
            TypeKind::LLVMStructTypeKind => ty.fields(),
            TypeKind::LLVMArrayTypeKind => ty.array_len() as u32,
            TypeKind::LLVMVectorTypeKind => ty.vector_len(),
            _ => return Err(Unsupported::Constant),
        };
        let mut slots = Vec::new();
        for i in 0..len {
            let element = c.element(i).ok_or(Unsupported::Constant)?;
            slots.extend_from_slice(self.constant(element)?.leaves());
        }
        Ok(slots.into_iter().collect())
    }

    /// The packed form of one piece's leaves: a value of `piece.width()` bits.
    pub fn pack(&mut self, piece: Piece, leaves: &[Slot]) -> Slot {
        if let [one] = leaves {
            return *one;
        }
        if !64u16.is_multiple_of(piece.bits) {
            return self.concat(piece.bits, leaves);
        }
        let per_limb = usize::from(64 / piece.bits);
        if leaves.len() <= per_limb {
            return self.concat(piece.bits, leaves);
        }
        let whole = self.b.temp(piece.width());
        for (i, chunk) in leaves.chunks(per_limb).enumerate() {
            let limb = self.concat(piece.bits, chunk);
            self.b.emit(Op::Copy, piece.bits * chunk.len() as u16, whole.limb(i as u32), limb, NONE, NONE);
        }
        whole
    }
    /// The limbs of a packed vector, without gathering them: slot and width each. `None` if elements straddle limbs.
    pub fn pack_limbs(&mut self, piece: Piece, leaves: &[Slot]) -> Option<Vec<(Slot, u16)>> {
        if !64u16.is_multiple_of(piece.bits) {
            return None;
        }
        let chunks = leaves.chunks(usize::from(64 / piece.bits));
        Some(chunks.map(|chunk| (self.concat(piece.bits, chunk), piece.bits * chunk.len() as u16)).collect())
    }
    /// Elements of `bits` bits concatenated, the first lowest.
    fn concat(&mut self, bits: u16, elements: &[Slot]) -> Slot {
        let (mut whole, mut width) = (elements[0], bits);
        for &element in &elements[1..] {
            let low = u32::from(width);
            width += bits;
            whole = self.b.value(Op::Concat, width, element, whole, low);
        }
        whole
    }
    /// Appends the leaves of a packed piece that lies in consecutive slots from `whole`.
    pub fn unpack(&mut self, piece: Piece, whole: Slot, out: &mut Vec<Slot>) {
        if piece.len == 1 {
            return out.push(whole);
        }
        let total = u32::from(piece.width());
        for i in 0..piece.len {
            let at = i * u32::from(piece.bits);
            let leaf = if 64u16.is_multiple_of(piece.bits) {
                let limb_width = (total - at / 64 * 64).min(64) as u16;
                self.extract(piece.bits, whole.limb(at / 64), (at % 64) as u16, limb_width)
            } else {
                self.extract(piece.bits, whole, at as u16, total as u16)
            };
            out.push(leaf);
        }
    }
    /// Bits `[from, from + width)` of `a`, a value of `of` bits.
    pub fn extract(&mut self, width: u16, a: Slot, from: u16, of: u16) -> Slot {
        match (from, width == of) {
            (_, true) => a,
            (0, _) => self.b.cast(Op::Trunc, width, of, a),
            _ => self.b.value(Op::Extract, width, a, u32::from(from), u32::from(of)),
        }
    }
    /// Takes the result of a call or of another boundary apart: pieces in consecutive slots, whole slots each.
    pub fn unpack_result(&mut self, shape: &Shape, mut at: Slot) -> Val {
        let mut out = Vec::new();
        for &piece in &shape.pieces {
            self.unpack(piece, at, &mut out);
            at = at.limb(limbs(u32::from(piece.width())));
        }
        out.into_iter().collect()
    }
    /// The packed pieces of a value, each with its width: how it crosses calls.
    pub fn pack_pieces(&mut self, shape: &Shape, val: &Val) -> Vec<(Slot, u16)> {
        let mut leaves = val.leaves();
        let mut out = Vec::with_capacity(shape.pieces.len());
        for &piece in &shape.pieces {
            let (own, rest) = leaves.split_at(piece.len as usize);
            out.push((self.pack(piece, own), piece.width()));
            leaves = rest;
        }
        out
    }
}

fn is_scalar(v: Value) -> bool {
    !matches!(v.ty().kind(), TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind)
}
