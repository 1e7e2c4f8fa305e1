//! Types: what a first-class value is made of.
//!
//! A value is a list of **leaves**, each an integer of some width in slots of its own: a scalar is one leaf, a
//! structure or array the leaves of its members in order, a vector **one leaf per element**. Keeping vector elements
//! apart makes insertion, extraction, shuffles and every elementwise operation as cheap as on scalars; the packed form
//! (elements concatenated, element 0 lowest) is made only where someone else looks: memory, bit casts, arguments and
//! results. A [`Shape`] groups leaves into [`Piece`]s, the units of those places. Cost: each type is analysed once.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_ir::limbs;

use crate::error::Unsupported;
use crate::ffi::{Module, Type, TypeKind};

/// Widest value an instruction can name, in bits.
const MAX_BITS: u64 = u16::MAX as u64;

/// A scalar, or a vector of scalars, at its place in the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Width of the scalar, or of one element.
    pub bits: u16,
    /// Elements; 1 for a scalar.
    pub len: u32,
    /// Bytes from the start of the type.
    pub offset: u64,
}

impl Piece {
    /// Width of the packed form in bits; [`Shape`]s hold only pieces whose width fits.
    pub fn width(self) -> u16 {
        self.bits * self.len as u16
    }
}

/// The pieces of a type, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    pub pieces: Vec<Piece>,
}

impl Shape {
    /// The width, if the type is one scalar.
    pub fn scalar(&self) -> Option<u16> {
        match self.pieces[..] {
            [Piece { bits, len: 1, .. }] => Some(bits),
            _ => None,
        }
    }
    /// Width of each leaf, in order.
    pub fn leaves(&self) -> impl Iterator<Item = u16> {
        self.pieces.iter().flat_map(|p| (0..p.len).map(|_| p.bits))
    }
    /// Width of a result of this type: one piece keeps its own, several take whole slots each.
    pub fn result_width(&self) -> u16 {
        match self.pieces[..] {
            [] => 0,
            [piece] => piece.width(),
            _ => self.pieces.iter().map(|p| 64 * limbs(u32::from(p.width())) as u16).sum(),
        }
    }
}

/// The shapes of a module's types.
pub struct Types<'m> {
    llvm: &'m Module,
    shapes: FxHashMap<Type<'m>, Result<Rc<Shape>, Unsupported>>,
}

impl<'m> Types<'m> {
    pub fn new(llvm: &'m Module) -> Types<'m> {
        Types { llvm, shapes: FxHashMap::default() }
    }
    /// The shape of a first-class type, or of `void` (no pieces).
    pub fn shape(&mut self, ty: Type<'m>) -> Result<Rc<Shape>, Unsupported> {
        if let Some(known) = self.shapes.get(&ty) {
            return known.clone();
        }
        let mut pieces = Vec::new();
        let shape = self.pieces(ty, 0, &mut pieces).and_then(|()| {
            let words: u64 = pieces.iter().map(|p| u64::from(limbs(u32::from(p.width())))).sum();
            if words * 64 > MAX_BITS { Err(Unsupported::TooManyLeaves { leaves: words }) } else { Ok(Rc::new(Shape { pieces })) }
        });
        self.shapes.insert(ty, shape.clone());
        shape
    }
    /// Width of a scalar of this type.
    pub fn scalar(&self, ty: Type<'m>) -> Result<u16, Unsupported> {
        let bits = match ty.kind() {
            TypeKind::LLVMIntegerTypeKind => u64::from(ty.int_width()),
            TypeKind::LLVMPointerTypeKind => 64,
            TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => 16,
            TypeKind::LLVMFloatTypeKind => 32,
            TypeKind::LLVMDoubleTypeKind => 64,
            TypeKind::LLVMX86_FP80TypeKind => 80,
            TypeKind::LLVMFP128TypeKind => 128,
            _ => return Err(Unsupported::Type(ty.to_string())),
        };
        u16::try_from(bits).map_err(|_| Unsupported::TooWide { bits })
    }
    /// Width of an IEEE or x87 float (or vector of them).
    pub fn float(&self, ty: Type<'m>) -> Result<u16, Unsupported> {
        let scalar = if ty.kind() == TypeKind::LLVMVectorTypeKind { ty.element() } else { ty };
        match scalar.kind() {
            TypeKind::LLVMHalfTypeKind
            | TypeKind::LLVMFloatTypeKind
            | TypeKind::LLVMDoubleTypeKind
            | TypeKind::LLVMX86_FP80TypeKind
            | TypeKind::LLVMFP128TypeKind => self.scalar(scalar),
            _ => Err(Unsupported::Float(scalar.to_string())),
        }
    }
    /// Is it `bfloat` or a vector of it? Its width does not tell it from `half`.
    pub fn is_bfloat(&self, ty: Type<'m>) -> bool {
        let scalar = if ty.kind() == TypeKind::LLVMVectorTypeKind { ty.element() } else { ty };
        scalar.kind() == TypeKind::LLVMBFloatTypeKind
    }
    fn pieces(&mut self, ty: Type<'m>, offset: u64, out: &mut Vec<Piece>) -> Result<(), Unsupported> {
        if out.len() as u64 * 64 > MAX_BITS {
            return Err(Unsupported::TooManyLeaves { leaves: out.len() as u64 });
        }
        match ty.kind() {
            TypeKind::LLVMVoidTypeKind => {}
            TypeKind::LLVMStructTypeKind => {
                for i in 0..ty.fields() {
                    self.pieces(ty.field(i), offset + self.llvm.field_offset(ty, i), out)?;
                }
            }
            TypeKind::LLVMArrayTypeKind => {
                if ty.array_len() == 0 {
                    return Ok(());
                }
                if ty.array_len() * 64 > MAX_BITS {
                    return Err(Unsupported::TooManyLeaves { leaves: ty.array_len() });
                }
                let stride = self.llvm.alloc_size(ty.element());
                for i in 0..ty.array_len() {
                    self.pieces(ty.element(), offset + i * stride, out)?;
                }
            }
            TypeKind::LLVMVectorTypeKind => {
                let (bits, len) = (self.scalar(ty.element())?, ty.vector_len());
                let total = u64::from(bits) * u64::from(len);
                if total > MAX_BITS {
                    return Err(Unsupported::TooWide { bits: total });
                }
                out.push(Piece { bits, len, offset });
            }
            _ => out.push(Piece { bits: self.scalar(ty)?, len: 1, offset }),
        }
        Ok(())
    }
}
