//! Constants: folded to a number or to a symbol plus a number, and written into the images of global variables.
//!
//! A constant expression whose value is not such a pair (a product of addresses, half of one) is computed by
//! instructions where code uses it, and is a [`Note`] where an initialiser does. Cost: linear in the size of the
//! initialiser; runs of plain numbers are copied whole.

use wryneck_ir::{NONE, Reloc};

use crate::context::Context;
use crate::error::{Note, Unsupported};
use crate::ffi::{Opcode, Type, TypeKind, Value, ValueKind};

/// The address of `symbol` plus `value`; the number `value` if `symbol` is [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    pub symbol: u32,
    pub value: u64,
}

impl Linear {
    pub fn number(value: u64) -> Linear {
        Linear { symbol: NONE, value }
    }
    fn plus(self, addend: u64) -> Linear {
        Linear { value: self.value.wrapping_add(addend), ..self }
    }
    /// The number, if it is one.
    pub fn as_number(self) -> Option<u64> {
        (self.symbol == NONE).then_some(self.value)
    }
}

/// One step of an address computation: the base moves by an index times a number of bytes.
pub struct GepStep<'m> {
    pub index: Value<'m>,
    pub scale: u64,
}

/// Splits a `getelementptr` into bytes known at once (structure fields) and indexed steps.
pub fn gep_steps<'m>(cx: &Context<'m>, gep: Value<'m>) -> (u64, Vec<GepStep<'m>>) {
    let mut ty = gep.gep_element_type();
    let (mut fixed, mut steps) = (0u64, Vec::new());
    for i in 1..gep.operands() as u32 {
        let index = gep.operand(i);
        if i > 1 && ty.kind() == TypeKind::LLVMStructTypeKind {
            // A vector of addresses has the same field in every element.
            let field = index.as_int().or_else(|| index.element(0)?.as_int()).unwrap_or(0) as u32;
            fixed = fixed.wrapping_add(cx.llvm.field_offset(ty, field));
            ty = ty.field(field);
            continue;
        }
        if i > 1 {
            ty = ty.element();
        }
        steps.push(GepStep { index, scale: cx.llvm.alloc_size(ty) });
    }
    (fixed, steps)
}

impl<'m> Context<'m> {
    /// Folds a scalar constant of at most 64 bits. `None`: it is not a number or an address plus a number.
    pub fn fold(&mut self, c: Value<'m>) -> Option<Linear> {
        if c.is_undef() {
            return Some(Linear::number(0));
        }
        match c.kind() {
            ValueKind::LLVMConstantIntValueKind => c.as_int().map(Linear::number),
            ValueKind::LLVMConstantFPValueKind => {
                let bits = self.types.scalar(c.ty()).ok().filter(|&bits| bits <= 64)?;
                Some(Linear::number(self.llvm.number(c, u32::from(bits))[0]))
            }
            ValueKind::LLVMConstantPointerNullValueKind => Some(Linear::number(0)),
            ValueKind::LLVMFunctionValueKind
            | ValueKind::LLVMGlobalVariableValueKind
            | ValueKind::LLVMGlobalAliasValueKind
            | ValueKind::LLVMGlobalIFuncValueKind => Some(Linear { symbol: *self.symbols.get(&c)?, value: 0 }),
            ValueKind::LLVMBlockAddressValueKind => {
                let number = self.block_number(c.block_address_function(), c.block_address_block());
                Some(Linear::number(number))
            }
            ValueKind::LLVMConstantExprValueKind => self.fold_expression(c),
            // `dso_local_equivalent` and `no_cfi` have no kind of their own: they stand for the function they name.
            ValueKind::LLVMInstructionValueKind if c.operands() == 1 && c.operand(0).is_function() => self.fold(c.operand(0)),
            _ => None,
        }
    }
    fn fold_expression(&mut self, c: Value<'m>) -> Option<Linear> {
        match c.constant_opcode() {
            Opcode::LLVMGetElementPtr => {
                let base = self.fold(c.operand(0))?;
                let (fixed, steps) = gep_steps(self, c);
                steps.iter().try_fold(base.plus(fixed), |at, step| {
                    let width = self.types.scalar(step.index.ty()).ok()?;
                    let index = self.fold(step.index)?.as_number()?;
                    Some(at.plus(sign_extend(index, width).wrapping_mul(step.scale)))
                })
            }
            Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => self.fold(c.operand(0)),
            Opcode::LLVMIntToPtr | Opcode::LLVMPtrToInt | Opcode::LLVMPtrToAddr | Opcode::LLVMTrunc => {
                let (to, from) = (self.types.scalar(c.ty()).ok()?, self.types.scalar(c.operand(0).ty()).ok()?);
                let value = self.fold(c.operand(0)).filter(|_| to <= 64)?;
                match value.as_number() {
                    Some(n) => Some(Linear::number(cut(n, to))),
                    None => (to == 64 && from == 64).then_some(value),
                }
            }
            op @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor) => {
                let width = self.types.scalar(c.ty()).ok()?;
                let (a, b) = (self.fold(c.operand(0))?, self.fold(c.operand(1))?);
                match (op, a.as_number(), b.as_number()) {
                    (Opcode::LLVMAdd, _, Some(n)) if width == 64 => Some(a.plus(n)),
                    (Opcode::LLVMAdd, Some(n), _) if width == 64 => Some(b.plus(n)),
                    (Opcode::LLVMSub, _, Some(n)) if width == 64 => Some(a.plus(n.wrapping_neg())),
                    (Opcode::LLVMSub, _, _) if a.symbol == b.symbol => Some(Linear::number(cut(a.value.wrapping_sub(b.value), width))),
                    (Opcode::LLVMAdd, Some(m), Some(n)) => Some(Linear::number(cut(m.wrapping_add(n), width))),
                    (Opcode::LLVMXor, Some(m), Some(n)) => Some(Linear::number(m ^ n)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
    /// The limbs of a plain number (integer or float) of any width.
    pub fn wide_number(&self, c: Value<'m>, bits: u16) -> Result<Vec<u64>, Unsupported> {
        match c.kind() {
            ValueKind::LLVMConstantIntValueKind | ValueKind::LLVMConstantFPValueKind => Ok(self.llvm.number(c, u32::from(bits))),
            _ if c.is_null() || c.is_undef() => Ok(vec![0]),
            _ => Err(Unsupported::Constant),
        }
    }
}

/// The low `width` bits.
pub fn cut(value: u64, width: u16) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// A number of `width` bits, at most 64, extended by its sign.
pub fn sign_extend(value: u64, width: u16) -> u64 {
    let shift = 64 - u32::from(width.clamp(1, 64));
    (((value << shift) as i64) >> shift) as u64
}

/// What a global variable begins as.
#[derive(Default)]
pub struct Image {
    /// First bytes; the rest is zero.
    pub bytes: Vec<u8>,
    pub relocs: Vec<Reloc>,
}

impl Image {
    fn put(&mut self, offset: u64, data: &[u8]) {
        let used = data.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let (start, data) = (offset as usize, &data[..used]);
        if used > 0 {
            self.bytes.resize(self.bytes.len().max(start + used), 0);
            self.bytes[start..start + used].copy_from_slice(data);
        }
    }
    /// Puts a number or an address of `size` bytes at `offset`; false if an address has no room.
    pub fn put_linear(&mut self, offset: u64, value: Linear, size: u64) -> bool {
        match value.as_number() {
            Some(n) => self.put(offset, &n.to_le_bytes()[..size.min(8) as usize]),
            None if size < 8 => return false,
            None => self.relocs.push(Reloc { offset, addend: value.value as i64, symbol: value.symbol, _pad: 0 }),
        }
        true
    }
}

/// Writes constants into the image of one global.
pub struct Initializer<'c, 'm> {
    pub cx: &'c mut Context<'m>,
    pub global: Value<'m>,
    pub image: Image,
}

impl<'m> Initializer<'_, 'm> {
    /// Writes `c` at `offset`.
    pub fn write(&mut self, c: Value<'m>, offset: u64) {
        let ty = c.ty();
        if c.is_undef() || c.is_null() {
            return;
        }
        match c.kind() {
            ValueKind::LLVMConstantDataArrayValueKind | ValueKind::LLVMConstantDataVectorValueKind => {
                self.image.put(offset, c.raw_data());
            }
            ValueKind::LLVMConstantStructValueKind => {
                for i in 0..c.operands() as u32 {
                    self.write(c.operand(i), offset + self.cx.llvm.field_offset(ty, i));
                }
            }
            ValueKind::LLVMConstantArrayValueKind => {
                let stride = self.cx.llvm.alloc_size(ty.element());
                for i in 0..c.operands() as u32 {
                    self.write(c.operand(i), offset + u64::from(i) * stride);
                }
            }
            ValueKind::LLVMConstantVectorValueKind if self.cx.llvm.bits(ty.element()).is_multiple_of(8) => {
                let stride = self.cx.llvm.bits(ty.element()) / 8;
                for i in 0..c.operands() as u32 {
                    self.write(c.operand(i), offset + u64::from(i) * stride);
                }
            }
            ValueKind::LLVMConstantVectorValueKind => self.write_packed(c, ty, offset),
            _ => self.write_scalar(c, offset),
        }
    }
    /// A vector whose elements do not fill bytes: its bits are packed.
    fn write_packed(&mut self, c: Value<'m>, ty: Type<'m>, offset: u64) {
        let width = self.cx.llvm.bits(ty.element());
        let mut bytes = vec![0u8; self.cx.llvm.bits(ty).div_ceil(8) as usize];
        for i in 0..c.operands() as u32 {
            let Some(value) = self.cx.fold(c.operand(i)).and_then(Linear::as_number) else {
                return self.leave_out(c, offset);
            };
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                let at = u64::from(i) * width + bit;
                bytes[(at / 8) as usize] |= 1 << (at % 8);
            }
        }
        self.image.put(offset, &bytes);
    }
    fn write_scalar(&mut self, c: Value<'m>, offset: u64) {
        let Ok(bits) = self.cx.types.scalar(c.ty()) else { return self.leave_out(c, offset) };
        if bits <= 64 {
            let done = self.cx.fold(c).is_some_and(|v| self.image.put_linear(offset, v, u64::from(bits.div_ceil(8))));
            if !done {
                self.leave_out(c, offset);
            }
            return;
        }
        match self.cx.wide_number(c, bits) {
            Ok(limbs) => {
                let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
                self.image.put(offset, &bytes[..usize::from(bits.div_ceil(8))]);
            }
            Err(_) => self.leave_out(c, offset),
        }
    }
    fn leave_out(&mut self, c: Value<'m>, offset: u64) {
        let global = String::from_utf8_lossy(self.global.name()).into_owned();
        let bytes = self.cx.llvm.alloc_size(c.ty());
        self.cx.notes.push(Note::Initializer { global, offset, bytes });
    }
}
