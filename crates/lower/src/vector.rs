//! Parts of vectors and aggregates: insertion, extraction, shuffles. With leaves apart, constant positions only rename
//! slots.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{Type, TypeKind, Value};
use crate::inst::Lowered;
use crate::value::Val;

impl<'m> Body<'_, 'm> {
    pub fn extract_element(&mut self, v: Value<'m>) -> Lowered {
        let vector = self.value(v.operand(0))?;
        let leaves = vector.leaves();
        if let Some(i) = self.number(v.operand(1)) {
            // Out of range is poison.
            return Ok(Some(leaves[(i as usize).min(leaves.len() - 1)].into()));
        }
        let width = self.cx.types.scalar(v.ty())?;
        let mut result = leaves[0];
        for (i, &leaf) in leaves.iter().enumerate().skip(1) {
            let here = self.is_index(v.operand(1), i)?;
            result = self.choose(width, here, leaf, result);
        }
        Ok(Some(result.into()))
    }
    pub fn insert_element(&mut self, v: Value<'m>) -> Lowered {
        let (vector, new) = (self.value(v.operand(0))?, self.scalar(v.operand(1))?);
        let mut leaves = vector.leaves().to_vec();
        if let Some(i) = self.number(v.operand(2)) {
            if let Some(leaf) = leaves.get_mut(i as usize) {
                *leaf = new;
            }
            return Ok(Some(leaves.into_iter().collect()));
        }
        let width = self.cx.types.scalar(v.operand(1).ty())?;
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let here = self.is_index(v.operand(2), i)?;
            *leaf = self.choose(width, here, new, *leaf);
        }
        Ok(Some(leaves.into_iter().collect()))
    }
    fn is_index(&mut self, index: Value<'m>, i: usize) -> Result<Slot, Unsupported> {
        let (slot, width) = (self.scalar(index)?, self.cx.types.scalar(index.ty())?);
        let i = self.b.int(width, i as u64);
        Ok(self.b.binary(Op::Eq, width, slot, i))
    }
    pub fn shuffle(&mut self, v: Value<'m>) -> Lowered {
        let (a, b) = (self.value(v.operand(0))?, self.value(v.operand(1))?);
        let width = self.cx.types.scalar(v.ty().element())?;
        let pool: Vec<Slot> = a.leaves().iter().chain(b.leaves()).copied().collect();
        let zero = self.b.int(width, 0);
        let pick = |i| usize::try_from(v.mask(i)).ok().and_then(|at| pool.get(at)).copied().unwrap_or(zero);
        Ok(Some((0..v.mask_elements()).map(pick).collect()))
    }
    pub fn extract_value(&mut self, v: Value<'m>) -> Lowered {
        let aggregate = self.value(v.operand(0))?;
        let (first, len) = self.member(v.operand(0).ty(), v.indices())?;
        Ok(Some(aggregate.leaves()[first..first + len].iter().copied().collect()))
    }
    pub fn insert_value(&mut self, v: Value<'m>) -> Lowered {
        let (aggregate, new) = (self.value(v.operand(0))?, self.value(v.operand(1))?);
        let (first, len) = self.member(v.ty(), v.indices())?;
        let mut leaves = aggregate.leaves().to_vec();
        leaves.splice(first..first + len, new.leaves().iter().copied());
        Ok(Some(leaves.into_iter().collect()))
    }
    /// First leaf and number of leaves of a member.
    fn member(&mut self, ty: Type<'m>, indices: &[u32]) -> Result<(usize, usize), Unsupported> {
        let (mut first, mut ty) = (0, ty);
        for &i in indices {
            if ty.kind() == TypeKind::LLVMArrayTypeKind {
                ty = ty.element();
                first += i as usize * self.leaf_count(ty)?;
            } else {
                for before in 0..i {
                    first += self.leaf_count(ty.field(before))?;
                }
                ty = ty.field(i);
            }
        }
        Ok((first, self.leaf_count(ty)?))
    }
    fn leaf_count(&mut self, ty: Type<'m>) -> Result<usize, Unsupported> {
        Ok(self.cx.types.shape(ty)?.leaves().count())
    }
    /// All leaves folded into one by `f`, from the first on.
    pub fn reduce(&mut self, val: &Val, mut f: impl FnMut(&mut Self, Slot, Slot) -> Slot) -> Slot {
        let leaves = val.leaves();
        leaves[1..].iter().fold(leaves[0], |sum, &leaf| f(self, sum, leaf))
    }
}
