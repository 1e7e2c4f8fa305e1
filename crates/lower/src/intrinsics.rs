//! Intrinsics: one sorted table from names to what they lower to.
//!
//! LLVM appends the types an intrinsic is used at (`llvm.smax.v4i32`); a row's name is the part before them, found by
//! dropping the last components one by one. Rows say what kind of thing the intrinsic is where that is enough, and name
//! a function where it is not.

mod float;
mod integer;
mod memory;
mod trap;
mod vector;

use wryneck_ir::build::Slot;
use wryneck_ir::{Op, Round};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::Value;
use crate::inst::Lowered;
use crate::unwind;

/// What an intrinsic lowers to.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// Nothing: a hint, or something a single-threaded program cannot see.
    Nothing,
    /// Its argument 0.
    Argument,
    /// A constant in every leaf.
    Constant(u64),
    /// An operator on each leaf of its integer arguments.
    Integer(Op),
    /// An operator on each leaf of its float arguments.
    Float(Op),
    /// Rounding to an integral float.
    Rounded(Round),
    /// Rounding to a signed integer.
    RoundedToInteger(Round),
    /// A call of the C library's function of this name (for `double`).
    Libm(&'static str),
    /// Result and overflow of an operation.
    Overflow(Op, Op),
    /// The smaller, or (true) the larger, by this comparison.
    Extreme(Op, bool),
    /// All elements folded by an integer operator.
    Reduce(Op),
    /// All elements folded by the smaller, or the larger.
    ReduceExtreme(Op, bool),
    /// Argument 0 compared with argument 1 by this `less`: -1, 0 or 1.
    ThreeWay(Op),
    /// The program stops itself.
    Trap(&'static str),
    /// Anything else.
    By(for<'b, 'a, 'm> fn(&'b mut Body<'a, 'm>, Value<'m>) -> Lowered),
}

use Meaning as M;

/// One more intrinsic: a row at its place in the order of names, and a use of it in `tests/programs`.
static INTRINSICS: &[(&str, Meaning)] = &[
    ("llvm.abs", M::By(integer::abs)),
    ("llvm.acos", M::Libm("acos")),
    ("llvm.allow.runtime.check", M::Constant(1)),
    ("llvm.allow.ubsan.check", M::Constant(1)),
    ("llvm.annotation", M::Argument),
    ("llvm.asin", M::Libm("asin")),
    ("llvm.assume", M::Nothing),
    ("llvm.atan", M::Libm("atan")),
    ("llvm.atan2", M::Libm("atan2")),
    ("llvm.bitreverse", M::Integer(Op::Bitreverse)),
    ("llvm.bswap", M::Integer(Op::Bswap)),
    ("llvm.canonicalize", M::Argument),
    ("llvm.ceil", M::Rounded(Round::Ceil)),
    ("llvm.copysign", M::By(float::copysign)),
    ("llvm.cos", M::Libm("cos")),
    ("llvm.cosh", M::Libm("cosh")),
    ("llvm.ctlz", M::Integer(Op::Ctlz)),
    ("llvm.ctpop", M::Integer(Op::Ctpop)),
    ("llvm.cttz", M::Integer(Op::Cttz)),
    ("llvm.dbg.assign", M::Nothing),
    ("llvm.dbg.declare", M::Nothing),
    ("llvm.dbg.label", M::Nothing),
    ("llvm.dbg.value", M::Nothing),
    ("llvm.debugtrap", M::Trap("llvm.debugtrap")),
    ("llvm.donothing", M::Nothing),
    ("llvm.eh.sjlj.longjmp", M::By(unwind::long_jump)),
    ("llvm.eh.sjlj.setjmp", M::By(unwind::set_jump)),
    ("llvm.eh.typeid.for", M::By(unwind::type_id)),
    ("llvm.exp", M::Libm("exp")),
    ("llvm.exp10", M::Libm("exp10")),
    ("llvm.exp2", M::Libm("exp2")),
    ("llvm.expect", M::Argument),
    ("llvm.expect.with.probability", M::Argument),
    ("llvm.experimental.constrained.ceil", M::Rounded(Round::Ceil)),
    ("llvm.experimental.constrained.cos", M::Libm("cos")),
    ("llvm.experimental.constrained.exp", M::Libm("exp")),
    ("llvm.experimental.constrained.exp2", M::Libm("exp2")),
    ("llvm.experimental.constrained.fadd", M::Float(Op::Fadd)),
    ("llvm.experimental.constrained.fcmp", M::By(float::constrained_compare)),
    ("llvm.experimental.constrained.fcmps", M::By(float::constrained_compare)),
    ("llvm.experimental.constrained.fdiv", M::Float(Op::Fdiv)),
    ("llvm.experimental.constrained.floor", M::Rounded(Round::Floor)),
    ("llvm.experimental.constrained.fma", M::Float(Op::Fma)),
    ("llvm.experimental.constrained.fmul", M::Float(Op::Fmul)),
    ("llvm.experimental.constrained.fmuladd", M::By(float::multiply_add)),
    ("llvm.experimental.constrained.fpext", M::By(float::convert)),
    ("llvm.experimental.constrained.fptosi", M::By(float::to_signed)),
    ("llvm.experimental.constrained.fptoui", M::By(float::to_unsigned)),
    ("llvm.experimental.constrained.fptrunc", M::By(float::convert)),
    ("llvm.experimental.constrained.frem", M::Float(Op::Frem)),
    ("llvm.experimental.constrained.fsub", M::Float(Op::Fsub)),
    ("llvm.experimental.constrained.llrint", M::RoundedToInteger(Round::Even)),
    ("llvm.experimental.constrained.llround", M::RoundedToInteger(Round::Away)),
    ("llvm.experimental.constrained.log", M::Libm("log")),
    ("llvm.experimental.constrained.log10", M::Libm("log10")),
    ("llvm.experimental.constrained.log2", M::Libm("log2")),
    ("llvm.experimental.constrained.lrint", M::RoundedToInteger(Round::Even)),
    ("llvm.experimental.constrained.lround", M::RoundedToInteger(Round::Away)),
    ("llvm.experimental.constrained.maxnum", M::Float(Op::Fmax)),
    ("llvm.experimental.constrained.minnum", M::Float(Op::Fmin)),
    ("llvm.experimental.constrained.nearbyint", M::Rounded(Round::Even)),
    ("llvm.experimental.constrained.pow", M::Libm("pow")),
    ("llvm.experimental.constrained.rint", M::Rounded(Round::Even)),
    ("llvm.experimental.constrained.round", M::Rounded(Round::Away)),
    ("llvm.experimental.constrained.roundeven", M::Rounded(Round::Even)),
    ("llvm.experimental.constrained.sin", M::Libm("sin")),
    ("llvm.experimental.constrained.sitofp", M::By(float::from_signed)),
    ("llvm.experimental.constrained.sqrt", M::Float(Op::Fsqrt)),
    ("llvm.experimental.constrained.trunc", M::Rounded(Round::Trunc)),
    ("llvm.experimental.constrained.uitofp", M::By(float::from_unsigned)),
    ("llvm.experimental.noalias.scope.decl", M::Nothing),
    ("llvm.fabs", M::Float(Op::Fabs)),
    ("llvm.fake.use", M::Nothing),
    ("llvm.floor", M::Rounded(Round::Floor)),
    ("llvm.fma", M::Float(Op::Fma)),
    ("llvm.fmuladd", M::By(float::multiply_add)),
    ("llvm.fptosi.sat", M::By(float::to_signed_saturating)),
    ("llvm.fptoui.sat", M::By(float::to_unsigned_saturating)),
    ("llvm.frameaddress", M::By(memory::frame_address)),
    ("llvm.frexp", M::By(float::frexp)),
    ("llvm.fshl", M::Integer(Op::Fshl)),
    ("llvm.fshr", M::Integer(Op::Fshr)),
    ("llvm.get.rounding", M::Constant(1)),
    ("llvm.invariant.end", M::Nothing),
    ("llvm.invariant.start", M::Constant(0)),
    ("llvm.is.constant", M::Constant(0)),
    ("llvm.is.fpclass", M::By(float::is_class)),
    ("llvm.launder.invariant.group", M::Argument),
    ("llvm.ldexp", M::Libm("ldexp")),
    ("llvm.lifetime.end", M::Nothing),
    ("llvm.lifetime.start", M::By(memory::lifetime_start)),
    ("llvm.llrint", M::RoundedToInteger(Round::Even)),
    ("llvm.llround", M::RoundedToInteger(Round::Away)),
    ("llvm.load.relative", M::By(memory::load_relative)),
    ("llvm.log", M::Libm("log")),
    ("llvm.log10", M::Libm("log10")),
    ("llvm.log2", M::Libm("log2")),
    ("llvm.lrint", M::RoundedToInteger(Round::Even)),
    ("llvm.lround", M::RoundedToInteger(Round::Away)),
    ("llvm.masked.compressstore", M::By(vector::masked_compress_store)),
    ("llvm.masked.expandload", M::By(vector::masked_expand_load)),
    ("llvm.masked.gather", M::By(vector::masked_gather)),
    ("llvm.masked.load", M::By(vector::masked_load)),
    ("llvm.masked.scatter", M::By(vector::masked_scatter)),
    ("llvm.masked.store", M::By(vector::masked_store)),
    ("llvm.maximum", M::By(float::maximum)),
    ("llvm.maximumnum", M::By(float::maximum_number)),
    ("llvm.maxnum", M::Float(Op::Fmax)),
    ("llvm.memcpy", M::By(memory::copy)),
    ("llvm.memcpy.element.unordered.atomic", M::By(memory::copy)),
    ("llvm.memcpy.inline", M::By(memory::copy)),
    ("llvm.memmove", M::By(memory::shift)),
    ("llvm.memmove.element.unordered.atomic", M::By(memory::shift)),
    ("llvm.memset", M::By(memory::set)),
    ("llvm.memset.element.unordered.atomic", M::By(memory::set)),
    ("llvm.memset.inline", M::By(memory::set)),
    ("llvm.minimum", M::By(float::minimum)),
    ("llvm.minimumnum", M::By(float::minimum_number)),
    ("llvm.minnum", M::Float(Op::Fmin)),
    ("llvm.modf", M::By(float::modf)),
    ("llvm.nearbyint", M::Rounded(Round::Even)),
    ("llvm.objectsize", M::By(memory::object_size)),
    ("llvm.pow", M::Libm("pow")),
    ("llvm.powi", M::By(float::power)),
    ("llvm.prefetch", M::Nothing),
    ("llvm.pseudoprobe", M::Nothing),
    ("llvm.ptr.annotation", M::Argument),
    ("llvm.ptrmask", M::By(memory::pointer_mask)),
    ("llvm.public.type.test", M::Constant(1)),
    ("llvm.returnaddress", M::By(memory::return_address)),
    ("llvm.rint", M::Rounded(Round::Even)),
    ("llvm.round", M::Rounded(Round::Away)),
    ("llvm.roundeven", M::Rounded(Round::Even)),
    ("llvm.sadd.sat", M::By(integer::saturating_signed_add)),
    ("llvm.sadd.with.overflow", M::Overflow(Op::Add, Op::SaddOverflow)),
    ("llvm.scmp", M::ThreeWay(Op::Slt)),
    ("llvm.set.rounding", M::Nothing),
    ("llvm.sideeffect", M::Nothing),
    ("llvm.sin", M::Libm("sin")),
    ("llvm.sincos", M::By(float::sine_cosine)),
    ("llvm.sinh", M::Libm("sinh")),
    ("llvm.smax", M::Extreme(Op::Slt, true)),
    ("llvm.smin", M::Extreme(Op::Slt, false)),
    ("llvm.smul.with.overflow", M::Overflow(Op::Mul, Op::SmulOverflow)),
    ("llvm.sqrt", M::Float(Op::Fsqrt)),
    ("llvm.ssa.copy", M::Argument),
    ("llvm.sshl.sat", M::By(integer::saturating_signed_shift)),
    ("llvm.ssub.sat", M::By(integer::saturating_signed_sub)),
    ("llvm.ssub.with.overflow", M::Overflow(Op::Sub, Op::SsubOverflow)),
    ("llvm.stackrestore", M::By(memory::stack_restore)),
    ("llvm.stacksave", M::By(memory::stack_save)),
    ("llvm.strip.invariant.group", M::Argument),
    ("llvm.tan", M::Libm("tan")),
    ("llvm.tanh", M::Libm("tanh")),
    ("llvm.threadlocal.address", M::Argument),
    ("llvm.trap", M::Trap("llvm.trap")),
    ("llvm.trunc", M::Rounded(Round::Trunc)),
    ("llvm.type.test", M::Constant(1)),
    ("llvm.uadd.sat", M::By(integer::saturating_unsigned_add)),
    ("llvm.uadd.with.overflow", M::Overflow(Op::Add, Op::UaddOverflow)),
    ("llvm.ubsantrap", M::By(trap::sanitizer)),
    ("llvm.ucmp", M::ThreeWay(Op::Ult)),
    ("llvm.umax", M::Extreme(Op::Ult, true)),
    ("llvm.umin", M::Extreme(Op::Ult, false)),
    ("llvm.umul.with.overflow", M::Overflow(Op::Mul, Op::UmulOverflow)),
    ("llvm.ushl.sat", M::By(integer::saturating_unsigned_shift)),
    ("llvm.usub.sat", M::By(integer::saturating_unsigned_sub)),
    ("llvm.usub.with.overflow", M::Overflow(Op::Sub, Op::UsubOverflow)),
    ("llvm.va_copy", M::By(memory::va_copy)),
    ("llvm.va_end", M::Nothing),
    ("llvm.va_start", M::By(memory::va_start)),
    ("llvm.var.annotation", M::Nothing),
    ("llvm.vector.deinterleave2", M::By(vector::deinterleave)),
    ("llvm.vector.extract", M::By(vector::extract)),
    ("llvm.vector.insert", M::By(vector::insert)),
    ("llvm.vector.interleave2", M::By(vector::interleave)),
    ("llvm.vector.partial.reduce.add", M::By(vector::partial_reduce_add)),
    ("llvm.vector.reduce.add", M::Reduce(Op::Add)),
    ("llvm.vector.reduce.and", M::Reduce(Op::And)),
    ("llvm.vector.reduce.fadd", M::By(vector::reduce_float_add)),
    ("llvm.vector.reduce.fmax", M::By(vector::reduce_float_max)),
    ("llvm.vector.reduce.fmin", M::By(vector::reduce_float_min)),
    ("llvm.vector.reduce.fmul", M::By(vector::reduce_float_mul)),
    ("llvm.vector.reduce.mul", M::Reduce(Op::Mul)),
    ("llvm.vector.reduce.or", M::Reduce(Op::Or)),
    ("llvm.vector.reduce.smax", M::ReduceExtreme(Op::Slt, true)),
    ("llvm.vector.reduce.smin", M::ReduceExtreme(Op::Slt, false)),
    ("llvm.vector.reduce.umax", M::ReduceExtreme(Op::Ult, true)),
    ("llvm.vector.reduce.umin", M::ReduceExtreme(Op::Ult, false)),
    ("llvm.vector.reduce.xor", M::Reduce(Op::Xor)),
    ("llvm.vector.reverse", M::By(vector::reverse)),
    ("llvm.vector.splice", M::By(vector::splice)),
    ("llvm.vector.splice.left", M::By(vector::splice)),
    ("llvm.x86.sse.sfence", M::Nothing),
    ("llvm.x86.sse2.lfence", M::Nothing),
    ("llvm.x86.sse2.mfence", M::Nothing),
    ("llvm.x86.sse2.pause", M::Nothing),
];

/// The row of an intrinsic, by its name with types.
fn find(name: &str) -> Option<Meaning> {
    let mut name = name;
    loop {
        if let Ok(i) = INTRINSICS.binary_search_by(|(row, _)| row.cmp(&name)) {
            return Some(INTRINSICS[i].1);
        }
        name = &name[..name.rfind('.').filter(|&dot| dot > "llvm".len())?];
    }
}

impl<'m> Body<'_, 'm> {
    /// Lowers a call of an intrinsic.
    pub fn intrinsic(&mut self, v: Value<'m>, name: &[u8]) -> Lowered {
        let name = String::from_utf8_lossy(name);
        match find(&name) {
            Some(meaning) => self.meaning(meaning, v),
            None => Err(Unsupported::Intrinsic(name.into_owned())),
        }
    }
    fn meaning(&mut self, meaning: Meaning, v: Value<'m>) -> Lowered {
        match meaning {
            Meaning::Nothing => Ok(None),
            Meaning::Argument => self.value(v.operand(0)).map(Some),
            Meaning::Constant(n) => {
                let shape = self.cx.types.shape(v.ty())?;
                Ok(Some(shape.leaves().map(|bits| self.b.int(bits, n)).collect()))
            }
            Meaning::Integer(op) => {
                let width = self.element_width(v.operand(0))?;
                self.each(op, width, v)
            }
            Meaning::Float(op) => {
                let width = self.cx.types.float(v.operand(0).ty())?;
                self.each(op, width, v)
            }
            Meaning::Rounded(round) => {
                let width = self.cx.types.float(v.ty())?;
                self.each1(v, |s, a| s.rounded(width, round, a))
            }
            Meaning::RoundedToInteger(round) => {
                let (from, to) = (self.cx.types.float(v.operand(0).ty())?, self.element_width(v)?);
                self.each1(v, |s, a| {
                    let integral = s.rounded(from, round, a);
                    s.b.cast(Op::FtoS, to, from, integral)
                })
            }
            Meaning::Libm(function) => self.libm(function, v),
            Meaning::Overflow(op, overflow) => {
                let width = self.element_width(v.operand(0))?;
                let (a, b) = (self.value(v.operand(0))?, self.value(v.operand(1))?);
                let pairs = || a.leaves().iter().zip(b.leaves());
                let mut out: Vec<Slot> = pairs().map(|(&a, &b)| self.b.binary(op, width, a, b)).collect();
                out.extend(pairs().map(|(&a, &b)| self.b.binary(overflow, width, a, b)));
                Ok(Some(out.into_iter().collect()))
            }
            Meaning::Extreme(less, larger) => {
                let width = self.element_width(v)?;
                self.each2(v, |s, a, b| s.extreme(less, larger, width, a, b))
            }
            Meaning::Reduce(op) => {
                let (width, val) = (self.element_width(v)?, self.value(v.operand(0))?);
                Ok(Some(self.reduce(&val, |s, a, b| s.b.binary(op, width, a, b)).into()))
            }
            Meaning::ReduceExtreme(less, larger) => {
                let (width, val) = (self.element_width(v)?, self.value(v.operand(0))?);
                Ok(Some(self.reduce(&val, |s, a, b| s.extreme(less, larger, width, a, b)).into()))
            }
            Meaning::ThreeWay(less) => integer::three_way(self, less, v),
            Meaning::Trap(which) => {
                self.b.trap(which);
                Ok(None)
            }
            Meaning::By(lower) => lower(self, v),
        }
    }
    /// Width of a scalar, or of a vector's elements.
    pub fn element_width(&mut self, v: Value<'m>) -> Result<u16, Unsupported> {
        let shape = self.cx.types.shape(v.ty())?;
        shape.pieces.first().map(|p| p.bits).ok_or_else(|| Unsupported::Type(v.ty().to_string()))
    }
    /// An operator on each leaf of as many arguments as it has operands.
    fn each(&mut self, op: Op, width: u16, v: Value<'m>) -> Lowered {
        use wryneck_ir::Operand;
        let operands = op.operands()[1..].iter().filter(|o| **o == Operand::Val).count() as u32;
        let args = (0..operands).map(|i| self.value(v.operand(i))).collect::<Result<Vec<_>, _>>()?;
        let mut out = Vec::new();
        for i in 0..args[0].leaves().len() {
            let at = |n: usize| args.get(n).map(|val| val.leaves()[i]);
            out.push(self.b.value(op, width, at(0), at(1), at(2)));
        }
        Ok(Some(out.into_iter().collect()))
    }
    fn rounded(&mut self, width: u16, round: Round, a: Slot) -> Slot {
        self.b.value(Op::Fround, width, a, round as u32, wryneck_ir::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_found_with_their_types() {
        assert!(INTRINSICS.windows(2).all(|w| w[0].0 < w[1].0), "rows out of order");
        assert!(matches!(find("llvm.smul.with.overflow.i32"), Some(Meaning::Overflow(Op::Mul, Op::SmulOverflow))));
        assert!(matches!(find("llvm.trap"), Some(Meaning::Trap(_))));
        assert!(matches!(find("llvm.trunc.v2f64"), Some(Meaning::Rounded(Round::Trunc))));
        assert!(find("llvm.eh.dwarf.cfa").is_none());
        assert!(find("llvm").is_none());
    }
}
