//! Calls: arguments as pieces. Variable arguments are laid out by their caller (variadic.rs), and their address is a hidden
//! last argument.

use wryneck_ir::build::{CallDef, Callee};
use wryneck_ir::call_flags;

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{ON_FUNCTION, Opcode, TypeKind, Value, ValueKind};
use crate::inst::Lowered;

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
}
