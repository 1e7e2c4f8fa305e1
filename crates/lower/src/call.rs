//! Calls: arguments as pieces, variable arguments laid out as x86-64 lays them on the stack.
//!
//! A variadic call writes its variable arguments to an object of exactly their size, so that reading one too many is
//! out of bounds, and passes its address as a hidden last argument. `va_start` makes a System V `va_list` whose
//! register areas are used up, so the code clang emits for `va_arg` always takes the memory path (System V ABI AMD64,
//! section 3.5.7). One thing does not survive that: a structure of at most 16 bytes aligned to 16, which clang passes
//! as two words for two registers, is looked for at a multiple of 16.

use wryneck_ir::build::{CallDef, Callee, Slot};
use wryneck_ir::{NONE, Op, call_flags};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{ON_FUNCTION, Opcode, TypeKind, Value, ValueKind};
use crate::inst::Lowered;

/// `gp_offset` 48 and `fp_offset` 176, as one little-endian word: no register is left.
const REGISTERS_USED_UP: u64 = 176 << 32 | 48;
/// Bytes of a System V `va_list`.
pub const VA_LIST_SIZE: u64 = 24;
/// Byte offset of `overflow_arg_area` in a `va_list`.
const OVERFLOW_AREA: u64 = 8;
/// Byte offset of `reg_save_area` in a `va_list`.
const REGISTER_AREA: u64 = 16;

/// One argument in the overflow area.
struct Laid<'m> {
    value: Value<'m>,
    offset: u64,
    /// Bytes to copy from where the argument points, for structures passed by value.
    by_value: Option<u64>,
}

impl<'m> Body<'_, 'm> {
    pub fn call(&mut self, v: Value<'m>) -> Lowered {
        let callee = v.called_value();
        let result = match callee.kind() {
            ValueKind::LLVMInlineAsmValueKind => self.inline_asm(v, callee),
            ValueKind::LLVMFunctionValueKind if callee.name().starts_with(b"llvm.") => self.intrinsic(v, callee.name()),
            ValueKind::LLVMGlobalIFuncValueKind => Err(Unsupported::Ifunc(String::from_utf8_lossy(callee.name()).into_owned())),
            _ => self.ordinary_call(v, callee),
        }?;
        if v.opcode() == Opcode::LLVMInvoke && self.b.in_block() {
            // The value must be known before a block appended here uses it.
            if let Some(val) = &result {
                self.values.insert(v, val.clone());
            }
            match callee.kind() {
                ValueKind::LLVMInlineAsmValueKind => self.go_on(v.parent(), v.normal_dest())?,
                ValueKind::LLVMFunctionValueKind if callee.name().starts_with(b"llvm.") => self.go_on(v.parent(), v.normal_dest())?,
                _ => self.land_or_go_on(v)?,
            }
        }
        Ok(result)
    }
    fn ordinary_call(&mut self, v: Value<'m>, callee: Value<'m>) -> Lowered {
        let ty = v.called_type();
        let fixed = ty.param_types();
        let mut args = Vec::new();
        for i in 0..v.args() {
            for (refused, name) in [(self.cx.attributes.in_alloca, "inalloca"), (self.cx.attributes.preallocated, "preallocated")] {
                if v.call_attribute(i + 1, refused).is_some() {
                    return Err(Unsupported::Passing(name));
                }
            }
            if i < fixed {
                let (shape, val) = (self.cx.types.shape(v.operand(i).ty())?, self.value(v.operand(i))?);
                args.extend(self.pack_pieces(&shape, &val));
            }
        }
        let named = args.len() as u32;
        // An unprototyped call of a function that turns out to have fixed parameters is an ordinary one.
        let fixed_callee = callee.is_function() && !callee.is_declaration() && !callee.value_type().is_var_arg();
        let variadic = ty.is_var_arg() && !(fixed_callee && v.args() == fixed);
        if variadic {
            args.push((self.lay_out(v, fixed)?, 64));
        }
        let target = match self.cx.fold(callee).filter(|_| callee.is_constant()) {
            Some(linear) if linear.as_number().is_none() && linear.value == 0 => Callee::Symbol(linear.symbol),
            _ => Callee::Address(self.scalar(callee)?),
        };
        let shape = self.cx.types.shape(v.ty())?;
        let def = CallDef { args: &args, ret_width: shape.result_width(), flags: self.call_flags(v, callee, variadic), named };
        if shape.pieces.is_empty() || v.first_use().is_none() {
            self.b.call_to(None, target, def);
            return Ok(None);
        }
        let result = self.b.call(target, def);
        Ok(Some(self.unpack_result(&shape, result)))
    }
    fn call_flags(&mut self, v: Value<'m>, callee: Value<'m>, variadic: bool) -> u32 {
        let kind = self.cx.attributes.no_return;
        let no_return = v.call_attribute(ON_FUNCTION, kind).is_some()
            || (callee.is_function() && callee.function_attribute(ON_FUNCTION, kind).is_some());
        let facts = [
            (no_return, call_flags::NO_RETURN),
            (variadic, call_flags::VARIADIC),
            (v.ty().kind() == TypeKind::LLVMPointerTypeKind, call_flags::RETURNS_POINTER),
            (self.cx.types.float(v.ty()).is_ok(), call_flags::RETURNS_FLOAT),
        ];
        facts.iter().filter(|(holds, _)| *holds).map(|(_, flag)| flag).sum()
    }

    /// Writes the arguments after the first `fixed` to memory and returns its address (null without any).
    fn lay_out(&mut self, v: Value<'m>, fixed: u32) -> Result<Slot, Unsupported> {
        let (mut laid, mut size, mut area_align) = (Vec::new(), 0u64, 16u32);
        for i in fixed..v.args() {
            let value = v.operand(i);
            let by_value = v.call_attribute(i + 1, self.cx.attributes.by_value).map(|a| a.ty());
            let ty = by_value.unwrap_or(value.ty());
            let own = match by_value {
                Some(_) => v.call_attribute(i + 1, self.cx.attributes.align).map_or(8, |a| a.number() as u32),
                None => self.cx.llvm.alignment(ty),
            };
            let align = own.max(8);
            area_align = area_align.max(align);
            let offset = size.next_multiple_of(u64::from(align));
            size = offset + self.cx.llvm.alloc_size(ty).next_multiple_of(8);
            laid.push(Laid { value, offset, by_value: by_value.map(|ty| self.cx.llvm.alloc_size(ty)) });
        }
        if size == 0 {
            return Ok(self.word(0));
        }
        let area = self.b.alloca(size, area_align, "variable arguments");
        let area = self.b.value(Op::Alloca, 64, area, NONE, NONE);
        for Laid { value, offset, by_value } in laid {
            let at = self.offset(area, offset);
            if let Some(bytes) = by_value {
                let (from, bytes) = (self.scalar(value)?, self.word(bytes));
                self.b.emit(Op::MemCopy, 0, NONE, at, from, bytes);
            } else {
                let (shape, val) = (self.cx.types.shape(value.ty())?, self.value(value)?);
                self.store(&shape, &val, at);
            }
        }
        Ok(area)
    }
    /// Fills a `va_list`.
    pub fn va_start(&mut self, list: Slot) {
        let (used_up, null) = (self.word(REGISTERS_USED_UP), self.word(0));
        let arguments = self.variable_arguments.unwrap_or(null);
        for (offset, word) in [(0, used_up), (OVERFLOW_AREA, arguments), (REGISTER_AREA, null)] {
            let at = self.offset(list, offset);
            self.b.store(64, at, word, 0);
        }
    }
    /// LLVM's own `va_arg`, which clang does not use on x86-64: the memory path of the ABI.
    pub fn va_arg(&mut self, v: Value<'m>) -> Lowered {
        let list = self.scalar(v.operand(0))?;
        let place = self.offset(list, OVERFLOW_AREA);
        let mut at = self.b.load(64, place, 0);
        let align = u64::from(self.cx.llvm.alignment(v.ty()));
        if align > 8 {
            at = self.offset(at, align - 1);
            let mask = self.word(!(align - 1));
            at = self.b.binary(Op::And, 64, at, mask);
        }
        let value = self.load(v.ty(), at)?;
        let next = self.offset(at, self.cx.llvm.alloc_size(v.ty()).next_multiple_of(8));
        self.b.store(64, place, next, 0);
        Ok(Some(value))
    }
}
