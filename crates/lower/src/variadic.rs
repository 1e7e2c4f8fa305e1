//! Variable arguments, passed in registers and on the stack as on x86-64 (System V ABI AMD64, section 3.5.7).
//!
//! The caller makes the `va_list`. It writes one object: the list, the register area, the overflow area. The hidden last
//! argument is the object's address, and `va_start` copies the list. The register area has its arguments at its end, so
//! the list says that no register is left once those that the call passed have been read. The overflow area ends with the
//! last argument. Reading one argument too many is therefore out of bounds.
//!
//! `lay_out` counts registers because of structures that are aligned to 16 bytes. clang passes such a structure in two registers if two are left, and in
//! memory otherwise. `va_arg` reads the list to find out which of both clang did.

use wryneck_ir::build::Slot;
use wryneck_ir::va_list::{self, VECTORS_END, WORDS_END};
use wryneck_ir::{NONE, Op};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{Type, TypeKind, Value};
use crate::inst::Lowered;

/// Byte offset of the register area in the caller's object.
const SAVED: u64 = 32;
/// Registers of each kind.
const MAX_WORDS: u64 = 6;
const MAX_VECTORS: u64 = 8;

/// Registers that an argument takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Words(u64),
    Vector,
    Memory,
}

/// Registers in use.
#[derive(Clone, Copy, Default)]
struct Taken {
    words: u64,
    vectors: u64,
}

impl Taken {
    /// Takes the registers of one more argument. False: not enough are left, and it is passed in memory.
    fn take(&mut self, class: Class) -> bool {
        let (count, most, more) = match class {
            Class::Words(n) => (&mut self.words, MAX_WORDS, n),
            Class::Vector => (&mut self.vectors, MAX_VECTORS, 1),
            Class::Memory => return false,
        };
        let fits = *count + more <= most;
        *count += if fits { more } else { 0 };
        fits
    }
}

/// One variable argument.
struct Laid<'m> {
    value: Value<'m>,
    place: Place,
    /// Bytes to copy from where the argument points, for structures passed by value.
    by_value: Option<u64>,
}

/// Where an argument lies.
enum Place {
    /// This many words, or vectors, behind the first.
    Word(u64),
    Vector(u64),
    /// Bytes from the start of the overflow area.
    Overflow(u64),
}

impl<'m> Body<'_, 'm> {
    /// Writes the arguments after the first `fixed` to memory and returns the address of their `va_list` (null without any).
    pub fn lay_out(&mut self, v: Value<'m>, fixed: u32) -> Result<Slot, Unsupported> {
        if v.args() == fixed {
            return Ok(self.word(0));
        }
        let mut taken = Taken::default();
        for i in 0..fixed {
            taken.take(self.class(v, i));
        }
        let (named, mut laid, mut size, mut align) = (taken, Vec::new(), 0u64, 16u32);
        for i in fixed..v.args() {
            let (value, class) = (v.operand(i), self.class(v, i));
            let by_value = v.call_attribute(i + 1, self.cx.attributes.by_value).map(|a| a.ty());
            let before = taken;
            let place = match class {
                Class::Words(_) if taken.take(class) => Place::Word(before.words - named.words),
                Class::Vector if taken.take(class) => Place::Vector(before.vectors - named.vectors),
                _ => {
                    let ty = by_value.unwrap_or(value.ty());
                    let own = match by_value {
                        Some(_) => v.call_attribute(i + 1, self.cx.attributes.align).map_or(8, |a| a.number() as u32),
                        None => self.cx.llvm.alignment(ty),
                    };
                    align = align.max(own);
                    let offset = size.next_multiple_of(u64::from(own.max(8)));
                    size = offset + self.cx.llvm.alloc_size(ty).next_multiple_of(8);
                    Place::Overflow(offset)
                }
            };
            laid.push(Laid { value, place, by_value: by_value.map(|ty| self.cx.llvm.alloc_size(ty)) });
        }
        let (words, vectors) = (taken.words - named.words, taken.vectors - named.vectors);
        let (first_word, first_vector) = (WORDS_END - 8 * words, VECTORS_END - 16 * vectors);
        let saved = if vectors == 0 { WORDS_END } else { VECTORS_END };
        let overflow = (SAVED + saved).next_multiple_of(align.into());
        let list = self.b.alloca(overflow + size, align, "variable arguments");
        let list = self.b.value(Op::Alloca, 64, list, NONE, NONE);
        let offsets = self.word(first_vector << 32 | first_word);
        let (pushed, area) = (self.offset(list, overflow), self.offset(list, SAVED));
        self.store_list(list, [offsets, pushed, area]);
        for Laid { value, place, by_value } in laid {
            let at = match place {
                Place::Word(n) => SAVED + first_word + 8 * n,
                Place::Vector(n) => SAVED + first_vector + 16 * n,
                Place::Overflow(offset) => overflow + offset,
            };
            let at = self.offset(list, at);
            if let Some(bytes) = by_value {
                let (from, bytes) = (self.scalar(value)?, self.word(bytes));
                self.b.emit(Op::MemCopy, 0, NONE, at, from, bytes);
            } else {
                let (shape, val) = (self.cx.types.shape(value.ty())?, self.value(value)?);
                self.store(&shape, &val, at);
            }
        }
        Ok(list)
    }
    /// How argument `i` of a call is passed. Structures that are values of LLVM, which no C compiler passes, are in memory.
    fn class(&self, v: Value<'m>, i: u32) -> Class {
        if v.call_attribute(i + 1, self.cx.attributes.by_value).is_some() { Class::Memory } else { self.class_of(v.operand(i).ty()) }
    }
    fn class_of(&self, ty: Type<'m>) -> Class {
        match ty.kind() {
            TypeKind::LLVMPointerTypeKind => Class::Words(1),
            TypeKind::LLVMIntegerTypeKind if ty.int_width() <= 128 => Class::Words(u64::from(ty.int_width()).div_ceil(64)),
            TypeKind::LLVMHalfTypeKind
            | TypeKind::LLVMBFloatTypeKind
            | TypeKind::LLVMFloatTypeKind
            | TypeKind::LLVMDoubleTypeKind
            | TypeKind::LLVMFP128TypeKind => Class::Vector,
            TypeKind::LLVMVectorTypeKind if self.cx.llvm.alloc_size(ty) <= 16 => Class::Vector,
            _ => Class::Memory,
        }
    }
    /// Writes the three words of a `va_list`.
    fn store_list(&mut self, list: Slot, words: [Slot; 3]) {
        for (n, word) in words.into_iter().enumerate() {
            let at = self.offset(list, 8 * n as u64);
            self.b.store(64, at, word, 0);
        }
    }
    /// Fills a `va_list` with the caller's. Without one (no variable arguments, or a call by another type) nothing is left to read.
    pub fn va_start(&mut self, list: Slot) {
        let null = self.word(0);
        let used_up = self.word(va_list::USED_UP);
        self.store_list(list, [used_up, null, null]);
        let Some(callers) = self.variable_arguments else { return };
        let is_null = self.b.binary(Op::Eq, 64, callers, null);
        let size = self.word(va_list::SIZE);
        let size = self.b.value(Op::Select, 64, is_null, null, size);
        self.b.emit(Op::MemCopy, 0, NONE, list, callers, size);
    }
    /// LLVM's own `va_arg`, which clang does not use on x86-64.
    pub fn va_arg(&mut self, v: Value<'m>) -> Lowered {
        let list = self.scalar(v.operand(0))?;
        let place = self.offset(list, va_list::OVERFLOW);
        let pushed = self.b.load(64, place, 0);
        let align = u64::from(self.cx.llvm.alignment(v.ty()));
        let mut at = pushed;
        if align > 8 {
            at = self.offset(at, align - 1);
            let mask = self.word(!(align - 1));
            at = self.b.binary(Op::And, 64, at, mask);
        }
        let mut next = self.offset(at, self.cx.llvm.alloc_size(v.ty()).next_multiple_of(8));
        let (offset, step, end) = match self.class_of(v.ty()) {
            Class::Words(n) => (va_list::WORDS, 8 * n, WORDS_END),
            Class::Vector => (va_list::VECTORS, 16, VECTORS_END),
            Class::Memory => (0, 0, 0),
        };
        if step > 0 {
            let (counter, area) = (self.offset(list, offset), self.offset(list, va_list::REGISTERS));
            let used = self.b.load(32, counter, 0);
            let last = self.b.int(32, end - step);
            let fits = self.b.binary(Op::Ule, 32, used, last);
            let (area, wide) = (self.b.load(64, area, 0), self.b.cast(Op::Zext, 64, 32, used));
            let saved = self.b.value(Op::PtrAdd, 64, area, wide, 1u32);
            at = self.b.value(Op::Select, 64, fits, saved, at);
            next = self.b.value(Op::Select, 64, fits, pushed, next);
            let step = self.b.int(32, step);
            let more = self.b.binary(Op::Add, 32, used, step);
            let used = self.b.value(Op::Select, 32, fits, more, used);
            self.b.store(32, counter, used, 0);
        }
        let value = self.load(v.ty(), at)?;
        self.b.store(64, place, next, 0);
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Taken};

    #[test]
    fn registers_are_taken_while_enough_are_left() {
        let mut taken = Taken::default();
        assert!((0..5).all(|_| taken.take(Class::Words(1))));
        assert!(!taken.take(Class::Words(2)), "one is left");
        assert!(taken.take(Class::Words(1)), "what did not fit took none");
        assert!(!taken.take(Class::Words(1)) && taken.take(Class::Vector) && !taken.take(Class::Memory));
        assert_eq!((taken.words, taken.vectors), (6, 1));
    }
}
