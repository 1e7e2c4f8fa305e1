//! What our own x86-64 instructions are made of: operands by their encoding, lanes, checks that raise the processor's faults.

use wryneck_ir::build::{BlockId, Slot};
use wryneck_ir::{NONE, Op};

use super::encoding::{Address, Encoding, Rm};
use crate::pcode::Instruction;
use crate::place::Places;
use crate::registers::RegisterFile;

const GENERAL: [&str; 16] = ["RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"];
const VECTOR: [&str; 16] =
    ["YMM0", "YMM1", "YMM2", "YMM3", "YMM4", "YMM5", "YMM6", "YMM7", "YMM8", "YMM9", "YMM10", "YMM11", "YMM12", "YMM13", "YMM14", "YMM15"];

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RBX: usize = 3;
pub const RSI: usize = 6;
pub const RDI: usize = 7;

/// Emits one instruction.
pub struct Emit<'a, 'f, 'm, 'r> {
    pub p: &'a mut Places<'f, 'm, 'r>,
    pub registers: &'a RegisterFile,
    pub it: &'a Instruction,
    pub e: &'a Encoding,
    /// Vector registers are those of MMX: the significands of the x87's.
    pub mmx: bool,
}

/// The x87's registers, by distance from the top of its stack.
const STACK: [&str; 8] = ["ST0", "ST1", "ST2", "ST3", "ST4", "ST5", "ST6", "ST7"];

impl Emit<'_, '_, '_, '_> {
    /// A binary operation into a slot of its own; comparisons have a result of one bit.
    pub fn op(&mut self, op: Op, width: u32, a: Slot, b: Slot) -> Slot {
        let dst = self.p.temp(width);
        self.p.emit(op, width, dst, a.raw(), b.raw(), if shifts(op) { 0 } else { NONE });
        dst
    }
    pub fn unary(&mut self, op: Op, width: u32, a: Slot) -> Slot {
        let dst = self.p.temp(width);
        self.p.emit(op, width, dst, a.raw(), NONE, NONE);
        dst
    }
    /// A change of width.
    pub fn cast(&mut self, op: Op, width: u32, from: u32, a: Slot) -> Slot {
        let dst = self.p.temp(width);
        self.p.emit(op, width, dst, a.raw(), NONE, from);
        dst
    }
    /// Bits `low .. low + width` of a value of `of` bits.
    pub fn bits(&mut self, a: Slot, of: u32, low: u32, width: u32) -> Slot {
        if width == of {
            return a;
        }
        let dst = self.p.temp(width);
        self.p.emit(Op::Extract, width, dst, a.raw(), low, of);
        dst
    }
    pub fn concat(&mut self, high: Slot, high_width: u32, low: Slot, low_width: u32) -> Slot {
        let dst = self.p.temp(high_width + low_width);
        self.p.emit(Op::Concat, high_width + low_width, dst, high.raw(), low.raw(), low_width);
        dst
    }
    pub fn select(&mut self, width: u32, bit: Slot, then: Slot, other: Slot) -> Slot {
        let dst = self.p.temp(width);
        self.p.emit(Op::Select, width, dst, bit.raw(), then.raw(), other.raw());
        dst
    }
    pub fn constant(&mut self, width: u32, value: u64) -> Slot {
        self.p.constant(width, value)
    }

    /// The whole register of this name.
    pub fn named(&mut self, name: &str) -> Result<Slot, String> {
        let register = self.registers.named(name).map_err(|e| e.to_string())?;
        Ok(self.p.register(register.param))
    }
    /// The whole general register.
    pub fn general(&mut self, n: usize) -> Result<Slot, String> {
        self.named(GENERAL[n])
    }
    /// The whole vector register: four limbs, or the one of MMX.
    pub fn vector(&mut self, n: usize) -> Result<Slot, String> {
        self.named(if self.mmx { STACK[n & 7] } else { VECTOR[n] })
    }
    /// From here on, vector registers are those of MMX. They are the x87's by number, which we have by distance from the top.
    pub fn enter_mmx(&mut self) -> Result<(), String> {
        let (status, zero) = (self.named("FPUStatusWord")?, self.constant(3, 0));
        let top = self.bits(status, 16, 11, 3);
        let used = self.op(Op::Ne, 3, top, zero);
        self.unsupported_if(used, "MMX registers while the stack of the x87 is in use");
        self.mmx = true;
        Ok(())
    }
    /// The low bits of a general register.
    pub fn low(&mut self, n: usize, width: u32) -> Result<Slot, String> {
        let whole = self.general(n)?;
        Ok(self.bits(whole, 64, 0, width))
    }
    /// Writes a general register as the processor does: 32 bits clear the rest, fewer keep it.
    pub fn set_general(&mut self, n: usize, width: u32, value: Slot) -> Result<(), String> {
        let whole = self.general(n)?;
        match width {
            64 => self.p.copy(64, whole, value),
            32 => self.p.emit(Op::Zext, 64, whole, value.raw(), NONE, 32),
            _ => {
                let rest = self.bits(whole, 64, width, 64 - width);
                let joined = self.concat(rest, 64 - width, value, width);
                self.p.copy(64, whole, joined);
            }
        }
        Ok(())
    }
    /// Sets a flag to a bit.
    pub fn set_flag(&mut self, name: &str, bit: Slot) -> Result<(), String> {
        let flag = self.named(name)?;
        self.p.copy(8, flag, bit);
        Ok(())
    }

    /// Width of the general operands, in bits.
    pub fn width(&self) -> u32 {
        match (self.e.wide, self.e.operand16) {
            (true, _) => 64,
            (false, true) => 16,
            (false, false) => 32,
        }
    }

    /// Where a memory operand is.
    pub fn address(&mut self, a: &Address) -> Result<Slot, String> {
        let fixed = if a.relative { self.it.next() } else { 0 };
        let mut sum = self.constant(64, fixed.wrapping_add(a.displacement as u64));
        if let Some(base) = a.base {
            let base = self.general(base)?;
            sum = self.op(Op::Add, 64, base, sum);
        }
        if let Some((index, scale)) = a.index {
            let (index, by) = (self.general(index)?, self.constant(64, scale.trailing_zeros().into()));
            let scaled = self.op(Op::Shl, 64, index, by);
            sum = self.op(Op::Add, 64, sum, scaled);
        }
        if a.narrow {
            let cut = self.constant(64, 0xffff_ffff);
            sum = self.op(Op::And, 64, sum, cut);
        }
        if let Some(segment) = a.segment {
            let base = self.named(segment)?;
            sum = self.op(Op::Add, 64, base, sum);
        }
        Ok(sum)
    }
    /// The ModRM operand, a general register or memory.
    pub fn read_general(&mut self, width: u32) -> Result<Slot, String> {
        match self.e.rm {
            Rm::Register(n) if width == 8 && !self.e.rex && n >= 4 => {
                let whole = self.general(n - 4)?;
                Ok(self.bits(whole, 64, 8, 8))
            }
            Rm::Register(n) => self.low(n, width),
            Rm::Memory(a) => self.load(&a, width),
        }
    }
    /// The low bits of the ModRM operand, a vector register or memory.
    pub fn read_vector(&mut self, width: u32) -> Result<Slot, String> {
        match self.e.rm {
            Rm::Register(n) => {
                let whole = self.vector(n)?;
                Ok(if width < 64 { self.bits(whole, 64, 0, width) } else { whole })
            }
            Rm::Memory(a) => self.load(&a, width),
        }
    }
    pub fn load(&mut self, a: &Address, width: u32) -> Result<Slot, String> {
        let (address, value) = (self.address(a)?, self.p.temp(width));
        self.p.load(width, value, address, self.it.reads(width));
        Ok(value)
    }
    pub fn store(&mut self, a: &Address, width: u32, value: Slot) -> Result<(), String> {
        let address = self.address(a)?;
        self.p.store(width, address, value, self.it.alignment_of(width));
        Ok(())
    }

    /// The ModRM operand, which must be a vector register, and its number.
    pub fn rm_vector(&mut self) -> Result<(Slot, usize), String> {
        match self.e.rm {
            Rm::Register(n) => Ok((self.vector(n)?, n)),
            Rm::Memory(_) => Err("memory where a register belongs".to_owned()),
        }
    }

    /// Width of the vector operands, in bits.
    pub fn vector_width(&self) -> u32 {
        if self.mmx {
            return 64;
        }
        if self.e.vex.is_some_and(|v| v.long) { 256 } else { 128 }
    }
    /// The first source: the extra one of VEX, or the destination.
    pub fn first_source(&mut self) -> Result<Slot, String> {
        let n = self.e.vex.map_or(self.e.reg, |v| v.source);
        self.vector(n)
    }
    /// Writes the low `width` bits of vector register `n`; VEX clears the rest, its predecessor keeps it.
    pub fn set_vector(&mut self, n: usize, width: u32, value: Slot) -> Result<(), String> {
        let whole = self.vector(n)?;
        self.p.copy(width, whole, value);
        if self.mmx {
            self.p.emit(Op::Imm, 16, whole.limb(1), 0xffff, 0, NONE);
        } else if self.e.vex.is_some() {
            self.clear_above(n, width)?;
        }
        Ok(())
    }
    /// Clears the limbs of vector register `n` from bit `width` on.
    pub fn clear_above(&mut self, n: usize, width: u32) -> Result<(), String> {
        let whole = self.vector(n)?;
        for limb in width.div_ceil(64)..4 {
            self.p.emit(Op::Imm, 64, whole.limb(limb), 0, 0, NONE);
        }
        Ok(())
    }

    /// Makes 64 bits out of lanes, the lowest first.
    pub fn lanes(&mut self, lane: u32, mut each: impl FnMut(&mut Self, u32) -> Slot) -> Slot {
        let mut all = each(self, 0);
        for i in 1..64 / lane {
            let next = each(self, i);
            all = self.concat(next, lane, all, lane * i);
        }
        all
    }

    /// Lane `i` of a vector, of at most 64 bits.
    pub fn lane(&mut self, vector: Slot, lane: u32, i: u32) -> Slot {
        let at = lane * i;
        self.bits(vector.limb(at / 64), 64, at % 64, lane)
    }
    /// A vector of `width` bits made of lanes. What a lane is made with is free again behind it.
    pub fn build(&mut self, width: u32, lane: u32, mut each: impl FnMut(&mut Self, u32) -> Slot) -> Slot {
        let dst = self.p.temp(width);
        let per_limb = 64 / lane;
        for limb in 0..width / 64 {
            let mark = self.p.mark();
            let value = self.lanes(lane, |x, i| each(x, limb * per_limb + i));
            self.p.copy(64, dst.limb(limb), value);
            self.p.release(mark);
        }
        dst
    }

    /// Runs `there` only where `bit` is 1.
    pub fn only_if(&mut self, bit: Slot, there: impl FnOnce(&mut Self)) {
        let joined = self.block();
        self.unless(bit, |x| {
            there(x);
            x.p.builder.jump_to(joined);
        });
        self.p.builder.jump_to(joined);
        self.p.builder.start(joined);
    }

    /// Goes on in a new block where `bit` is 0; where it is 1, `there` emits what ends the path or goes elsewhere.
    pub fn unless(&mut self, bit: Slot, there: impl FnOnce(&mut Self)) {
        self.p.flush();
        let (bad, good) = (self.p.builder.block(), self.p.builder.block());
        let (then, other) = (self.p.builder.edge(bad), self.p.builder.edge(good));
        self.p.builder.cond_br(bit, then, other);
        self.p.builder.start(bad);
        there(self);
        self.p.builder.start(good);
    }
    /// Ends the path as unsupported where `bit` is 1.
    pub fn unsupported_if(&mut self, bit: Slot, why: &str) {
        self.unless(bit, |x| x.p.builder.unsupported(why));
    }
    pub fn block(&mut self) -> BlockId {
        self.p.builder.block()
    }
}

fn shifts(op: Op) -> bool {
    matches!(op, Op::Shl | Op::Lshr | Op::Ashr)
}
