//! One instruction.

use super::externals::Answer;
use super::{Callee, ExternalCall, Externals, Fault, Halt, Interp, memory};
use crate::arith::{self, Trap};
use crate::float::{self, Format};
use crate::inst::{ATOMIC, Inst, NONE, Op, Operand, PLAIN, Part, Round, X87, limbs};
use crate::module::Module;

impl<'p, E: Externals> Interp<'p, E> {
    fn module(&self) -> &'p Module {
        let unit = self.frames.last().map_or(0, |f| f.unit);
        &self.program.units[unit as usize].module
    }
    /// The limbs of a value of `width` bits.
    fn get(&self, slot: u32, width: u32) -> Vec<u64> {
        let frame = self.frames.last().map_or(&[][..], |f| &f.slots);
        frame[slot as usize..][..limbs(width) as usize].to_vec()
    }
    fn one(&self, slot: u32) -> u64 {
        self.get(slot, 64)[0]
    }
    fn set(&mut self, slot: u32, value: &[u64]) {
        if let Some(frame) = self.frames.last_mut() {
            frame.slots[slot as usize..][..value.len()].copy_from_slice(value);
        }
    }
    fn set_one(&mut self, slot: u32, value: u64) {
        self.set(slot, &[value]);
    }

    /// Runs the instruction that is next.
    pub(super) fn step(&mut self) -> Result<(), Halt> {
        let module = self.module();
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let inst = module.insts[frame.next as usize];
        frame.next += 1;
        let Some(op) = inst.operator() else {
            return Err(Fault::Unverified { op: "?", width: inst.width }.into());
        };
        let width = u32::from(inst.width);
        match op {
            Op::Copy | Op::Add | Op::Sub | Op::Mul | Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => self.integer(op, &inst)?,
            Op::And | Op::Or | Op::Xor | Op::Shl | Op::Lshr | Op::Ashr | Op::Fshl | Op::Fshr => self.integer(op, &inst)?,
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Select => self.integer(op, &inst)?,
            Op::UaddOverflow | Op::SaddOverflow | Op::UsubOverflow => self.integer(op, &inst)?,
            Op::SsubOverflow | Op::UmulOverflow | Op::SmulOverflow => self.integer(op, &inst)?,
            Op::Bswap | Op::Bitreverse | Op::Ctpop | Op::Ctlz | Op::Cttz | Op::PtrAdd | Op::Anchor => self.integer(op, &inst)?,
            // Nothing is thrown here: who could catch it is the engine's.
            Op::Unwound => self.set_one(inst.dst, 0),
            Op::Imm => self.set_one(inst.dst, u64::from(inst.a) | u64::from(inst.b) << 32),
            Op::Zext | Op::Sext | Op::Trunc | Op::Extract | Op::Concat => self.resize(op, &inst),
            Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Frem | Op::Fneg | Op::Fabs => self.float(op, &inst)?,
            Op::Fsqrt | Op::Fma | Op::Fmin | Op::Fmax | Op::Fround | Op::X87 | Op::Fcmp => self.float(op, &inst)?,
            Op::Fcast | Op::FtoS | Op::FtoU | Op::StoF | Op::UtoF => self.float_cast(op, &inst)?,
            Op::Load => {
                let align = if Part::unpack(inst.b).is_some() || [ATOMIC, PLAIN].contains(&inst.b) { 0 } else { inst.b };
                let bytes = self.access(self.one(inst.a), align).and_then(|a| self.memory.read(a, u64::from(width.div_ceil(8))))?;
                let mut value: Vec<u64> = bytes.chunks(8).map(limb).collect();
                arith::trim(width, &mut value);
                self.set(inst.dst, &value);
            }
            Op::Store => {
                let bytes: Vec<u8> = self.get(inst.b, width).iter().flat_map(|l| l.to_le_bytes()).collect();
                let address = self.access(self.one(inst.a), if [ATOMIC, PLAIN].contains(&inst.c) { 0 } else { inst.c })?;
                self.memory.write(address, &bytes[..width.div_ceil(8) as usize])?;
            }
            Op::Alloca | Op::AllocaDyn | Op::StackSave | Op::StackRestore => self.stack(op, &inst)?,
            Op::MemUndef | Op::MemCopy | Op::MemMove | Op::MemSet => self.block_memory(op, &inst)?,
            Op::Call | Op::CallIndirect => self.call_inst(op, &inst)?,
            Op::Br => self.go(inst.a),
            Op::CondBr => self.go(if self.one(inst.a) != 0 { inst.b } else { inst.c }),
            Op::Switch => self.switch(&inst),
            Op::Ret => {
                let list = &module.slot_lists[inst.a as usize..][..inst.b as usize];
                let result = list.iter().map(|&slot| self.one(slot)).collect();
                self.leave(result);
            }
            Op::Jump => return Err(Fault::Jump { address: self.one(inst.a) }.into()),
            Op::Unreachable => return Err(Fault::Unreachable.into()),
            Op::Unsupported => return Err(Fault::Unsupported(module.str(inst.a).to_owned()).into()),
            Op::Trap => return Err(Fault::Trap(module.str(inst.a).to_owned()).into()),
        }
        Ok(())
    }

    /// The operators of [`arith`].
    fn integer(&mut self, op: Op, inst: &Inst) -> Result<(), Fault> {
        let width = u32::from(inst.width);
        let kinds = op.operands();
        let operand = |n: usize, field: u32| match kinds[n] {
            Operand::Val => self.get(field, width),
            Operand::Bit | Operand::Word => self.get(field, 1),
            Operand::Imm => vec![field.into()],
            _ => vec![0],
        };
        let (a, b, c) = (operand(1, inst.a), operand(2, inst.b), operand(3, inst.c));
        let result_width = if kinds[0] == Operand::Bit { 1 } else { width };
        let mut dst = vec![0; limbs(result_width) as usize];
        let done = if width <= 64 {
            arith::narrow(op, width, a[0], b[0], c[0]).map(|v| dst[0] = v)
        } else {
            arith::wide(op, width, &mut dst, &a, &b, &c)
        };
        done.map_err(|trap| match trap {
            Trap::DivisionByZero => Fault::DivisionByZero,
            Trap::DivisionOverflow => Fault::DivisionOverflow,
            Trap::ShiftTooFar => Fault::ShiftTooFar,
            Trap::NotInteger => Fault::Unverified { op: op.name(), width: inst.width },
        })?;
        self.set(inst.dst, &dst);
        Ok(())
    }
    fn resize(&mut self, op: Op, inst: &Inst) {
        let (width, from) = (u32::from(inst.width), inst.c);
        let mut dst = vec![0; limbs(width) as usize];
        if op == Op::Concat {
            let (high, low) = (self.get(inst.a, width - from), self.get(inst.b, from));
            arith::concat(width, &mut dst, &high, &low, from);
        } else {
            let a = self.get(inst.a, from);
            match op {
                Op::Sext => arith::sext_wide(from, width, &mut dst, &a),
                Op::Extract => arith::extract(width, &mut dst, &a, inst.b),
                _ => arith::extract(width, &mut dst, &a, 0),
            }
        }
        self.set(inst.dst, &dst);
    }

    fn wide_get(&self, slot: u32, width: u32) -> u128 {
        let v = self.get(slot, width);
        u128::from(v[0]) | v.get(1).map_or(0, |&high| u128::from(high) << 64)
    }
    fn wide_set(&mut self, slot: u32, width: u32, v: u128) {
        self.set(slot, &[v as u64, (v >> 64) as u64][..limbs(width) as usize]);
    }
    fn format(op: Op, width: u32) -> Result<Format, Fault> {
        Format::of(width).ok_or(Fault::Unverified { op: op.name(), width: width as u16 })
    }
    fn float(&mut self, op: Op, inst: &Inst) -> Result<(), Fault> {
        let width = u32::from(inst.width);
        let f = Self::format(op, width)?;
        let value = |n: usize, field| if op.operands()[n] == Operand::Val { self.wide_get(field, width) } else { 0 };
        let (a, b, c) = (value(1, inst.a), value(2, inst.b), value(3, inst.c));
        let unverified = Fault::Unverified { op: op.name(), width: inst.width };
        match op {
            Op::Fcmp => self.set_one(inst.dst, float::cmp(f, inst.c, a, b).into()),
            Op::Fround => {
                let mode = Round::from_u32(inst.b).ok_or(unverified)?;
                self.wide_set(inst.dst, width, float::round(f, mode, a));
            }
            Op::X87 => {
                let function = X87::from_u32(inst.c).ok_or(unverified)?;
                self.wide_set(inst.dst, width, float::x87(function, a, b));
            }
            _ => {
                let result = float::eval(op, f, a, b, c).ok_or(unverified)?;
                self.wide_set(inst.dst, width, result);
            }
        }
        Ok(())
    }
    fn float_cast(&mut self, op: Op, inst: &Inst) -> Result<(), Fault> {
        let (width, from) = (u32::from(inst.width), inst.c);
        let a = self.wide_get(inst.a, from);
        let result = match op {
            Op::Fcast => float::cast(Self::format(op, from)?, Self::format(op, width)?, a),
            Op::FtoS => float::to_signed(Self::format(op, from)?, width, a),
            Op::FtoU => float::to_unsigned(Self::format(op, from)?, width, a),
            Op::StoF => float::from_signed(Self::format(op, width)?, ((a << (128 - from)) as i128) >> (128 - from)),
            _ => float::from_unsigned(Self::format(op, width)?, a),
        };
        self.wide_set(inst.dst, width, result);
        Ok(())
    }

    /// The address, if it is as aligned as the CPU wants (0: anything goes).
    fn access(&self, address: u64, align: u32) -> Result<u64, Fault> {
        if align > 1 && !address.is_multiple_of(align.into()) {
            return Err(Fault::Misaligned { address, align });
        }
        Ok(address)
    }
    fn stack(&mut self, op: Op, inst: &Inst) -> Result<(), Fault> {
        let operand = if op.operands()[1] == Operand::Word { self.one(inst.a) } else { 0 };
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        match op {
            Op::Alloca => {
                let address = frame.allocas[inst.a as usize];
                self.set_one(inst.dst, address);
            }
            Op::AllocaDyn => {
                let address = self.memory.allocate(memory::Kind::Stack, operand, inst.b.into())?;
                frame.dynamic.push(address);
                self.set_one(inst.dst, address);
            }
            // A mark is how many dynamic allocas there are.
            Op::StackSave => {
                let mark = frame.dynamic.len() as u64;
                self.set_one(inst.dst, mark);
            }
            _ => {
                let keep = frame.dynamic.len().min(operand as usize);
                for address in frame.dynamic.split_off(keep) {
                    self.memory.release(address);
                }
            }
        }
        Ok(())
    }
    fn block_memory(&mut self, op: Op, inst: &Inst) -> Result<(), Fault> {
        let (to, middle) = (self.one(inst.a), self.one(inst.b));
        let bytes = match op {
            // Never read by a correct program until written: what is there stays, but it must be there.
            Op::MemUndef => return self.memory.read(to, middle).map(|_| ()),
            Op::MemSet => {
                let size = self.one(inst.c);
                self.memory.read(to, size)?;
                vec![middle as u8; size as usize]
            }
            _ => {
                let size = self.one(inst.c);
                let distance = to.abs_diff(middle);
                if op == Op::MemCopy && distance != 0 && distance < size {
                    return Err(Fault::Overlap);
                }
                self.memory.read(middle, size)?.to_vec()
            }
        };
        self.memory.write(to, &bytes)
    }

    /// Takes an edge: all copies at once, then the target block.
    fn go(&mut self, edge: u32) {
        let module = self.module();
        let Some(id) = self.frames.last().map(|f| f.function) else { return };
        let (_, f) = self.program.function(id);
        let edge = module.edges[(f.edges.first + edge) as usize];
        let copies = module.copies.range(edge.copies);
        let values: Vec<u64> = copies.iter().map(|c| self.one(c.src)).collect();
        for (c, v) in copies.iter().zip(values) {
            self.set_one(c.dst, v);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.block = edge.block;
            frame.next = module.blocks[(f.blocks.first + edge.block) as usize].insts.first;
        }
    }
    fn switch(&mut self, inst: &Inst) {
        let module = self.module();
        let Some(id) = self.frames.last().map(|f| f.function) else { return };
        let (_, f) = self.program.function(id);
        let switch = module.switches[(f.switches.first + inst.b) as usize];
        let value = self.one(inst.a);
        let case = module.cases.range(switch.cases).iter().find(|c| c.value == value);
        self.go(case.map_or(switch.default, |c| c.edge));
    }

    fn call_inst(&mut self, op: Op, inst: &Inst) -> Result<(), Halt> {
        let module = self.module();
        let call = module.calls[inst.b as usize];
        let args: Vec<u64> = module.slot_lists.range(call.args).iter().map(|&slot| self.one(slot)).collect();
        let unit = self.frames.last().map_or(0, |f| f.unit);
        let callee = match op {
            Op::Call => self.callee(self.program.target(unit, inst.a)),
            _ => self.code_at(self.one(inst.a)),
        };
        let result = if inst.dst == NONE { (0, 0) } else { (inst.dst, limbs(call.ret_width)) };
        let name = match callee {
            Some(Callee::Defined(id)) => return Ok(self.enter(id, &args, result)?),
            Some(Callee::External(name)) => name,
            None => {
                let address = if op == Op::Call { self.address(unit, inst.a) } else { self.one(inst.a) };
                return Err(Fault::BadCall { address }.into());
            }
        };
        let widths = module.slot_lists.range(call.widths);
        let external = ExternalCall { name: &name, args: &args, widths, ret_width: call.ret_width, memory: &mut self.memory };
        match self.externals.call(external)? {
            Answer::Return(limbs) => self.deliver(result, &limbs),
            Answer::Exit(status) => return Err(Halt::Exit(status)),
            Answer::Unknown => return Err(Fault::UndefinedFunction { name }.into()),
        }
        Ok(())
    }
}

/// Up to 8 bytes, lowest first.
fn limb(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}
