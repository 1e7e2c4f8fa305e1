//! Decoded instructions: p-code, control flow, and what else lifting needs.

use std::ops::Range;
use std::rc::Rc;

use smallvec::SmallVec;
use wryneck_ir::Part;

use crate::anchor::Anchor;
use crate::cpu::{Cpu, Own, UserOp};
use crate::error::MachineError;
pub use crate::opcode::{BoolOp, FloatOp, IntOp, IntSign, OpCode, PseudoOp};
use crate::sleigh::{DecodeError, Specification};

/// Where a varnode's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Nowhere: the offset is the value.
    Const,
    Memory,
    Register,
    /// A temporary of one instruction.
    Unique,
}

/// Bytes that an operation reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Varnode {
    pub space: Space,
    pub offset: u64,
    /// Bytes.
    pub size: u32,
}

impl Varnode {
    /// Width in bits.
    pub fn width(self) -> u32 {
        8 * self.size
    }
    /// Offset behind the last byte.
    pub fn end(self) -> u64 {
        self.offset.wrapping_add(u64::from(self.size))
    }
    /// Whether it has bytes of another one.
    pub fn overlaps(self, other: Varnode) -> bool {
        self.space == other.space && self.space != Space::Const && self.offset < other.end() && other.offset < self.end()
    }
}

/// What an operation reads: three values at most, but for user-defined ones.
pub type Inputs = SmallVec<[Varnode; 3]>;

/// One p-code operation.
#[derive(Clone, Debug)]
pub struct Pcode {
    pub op: OpCode,
    pub output: Option<Varnode>,
    pub inputs: Inputs,
}

/// Where a branch of p-code leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a code address.
    Address(u64),
    /// To an operation of the same instruction; the number behind the last one is the next instruction.
    Inside(usize),
}

/// How an instruction reads memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads {
    /// Bytes; 0: it does not care. The processor faults at other addresses.
    pub alignment: u32,
    /// What loads of limbs are parts of, if it reads a vector.
    pub whole: Option<Part>,
}

/// An instruction, decoded.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub address: u64,
    /// Bytes.
    pub len: u64,
    pub ops: Vec<Pcode>,
    /// Bytes to which the processor wants operands of 16 and more bytes aligned; 0: it does not care.
    pub alignment: u32,
    /// What of a vector it loads, if it loads one half: what is read is judged as a vector is.
    pub loads_half: Option<Part>,
    /// It reads, changes and writes memory without a lock.
    pub plain: bool,
    /// Pushes a word of memory: what was noted of a call there is over.
    pub pushes_memory: bool,
    /// Its temporaries that are anchored addresses.
    pub anchors: Vec<Anchor>,
    /// Lifted by us.
    pub own: Option<Rc<dyn Own>>,
    /// Has the CPU confirmed what its form is lifted to? What it has not is unsupported.
    pub confirmed: bool,
}

impl Instruction {
    /// Address of the instruction behind this one.
    pub fn next(&self) -> u64 {
        self.address.wrapping_add(self.len)
    }

    /// The alignment the processor wants of a memory operand of `width` bits.
    pub fn alignment_of(&self, width: u32) -> u32 {
        if width < 128 { 0 } else { self.alignment }
    }

    /// How it reads a memory operand of `width` bits.
    pub fn reads(&self, width: u32) -> Reads {
        let vector = || width.is_multiple_of(128).then_some(Part { of: width / 8, at: 0 });
        Reads { alignment: self.alignment_of(width), whole: self.loads_half.filter(|_| width == 64).or_else(vector) }
    }

    /// Where operation `n` branches to, if it is a branch with a fixed destination. A branch to the next instruction's
    /// address is one inside.
    pub fn destination(&self, n: usize) -> Option<Destination> {
        let op = &self.ops[n];
        if !matches!(op.op, OpCode::Branch | OpCode::BranchConditional | OpCode::Call) {
            return None;
        }
        let to = op.inputs.first()?;
        Some(match to.space {
            // Relative to this operation, as a signed number of the varnode's size.
            Space::Const => {
                let unused = 64u32.saturating_sub(to.width());
                let distance = ((to.offset << unused) as i64) >> unused;
                Destination::Inside((n as i64).saturating_add(distance).clamp(0, self.ops.len() as i64) as usize)
            }
            Space::Memory | Space::Register | Space::Unique if to.offset == self.next() && op.op != OpCode::Call => {
                Destination::Inside(self.ops.len())
            }
            Space::Memory | Space::Register | Space::Unique => Destination::Address(to.offset),
        })
    }

    /// Is it a call?
    pub fn calls(&self) -> bool {
        self.ops.iter().any(|op| matches!(op.op, OpCode::Call | OpCode::CallIndirect))
    }

    /// Does control leave it in other ways than to the next instruction?
    pub fn transfers(&self) -> bool {
        (0..self.ops.len()).any(|n| match self.ops[n].op {
            OpCode::BranchIndirect | OpCode::CallIndirect | OpCode::Return => true,
            _ => matches!(self.destination(n), Some(Destination::Address(_))),
        })
    }

    /// Are there branches from one of its operations to another, or over the rest of them?
    pub fn branches_inside(&self) -> bool {
        (0..self.ops.len()).any(|n| self.branches_inside_at(n))
    }

    /// Is operation `n` such a branch?
    pub fn branches_inside_at(&self, n: usize) -> bool {
        matches!(self.destination(n), Some(Destination::Inside(_)))
    }
}

/// Decodes the instructions of one CPU.
pub struct Decoder {
    specification: Specification,
    user_ops: Vec<(u64, UserOp)>,
    /// Bytes of the flags in the register space.
    pub flags: Range<u64>,
    adjust: fn(&mut Instruction, &[u8]),
    /// All forms count as confirmed: only whoever confirms them wants that.
    pub trusts_all: bool,
}

impl Decoder {
    /// The CPU's decoder; finds out the numbers of its user-defined operations.
    pub fn new(cpu: &Cpu) -> Result<Decoder, MachineError> {
        let specification = Specification::new((cpu.specification)());
        let mut decoder = Decoder { specification, user_ops: Vec::new(), flags: 0..0, adjust: cpu.adjust, trusts_all: false };
        let ((first, _), (last, size)) = (decoder.register(cpu.flags.0)?, decoder.register(cpu.flags.1)?);
        decoder.flags = first..last + u64::from(size);
        for (i, row) in (0u64..).zip(cpu.user_ops) {
            let instruction = decoder.decode(0x1000 * (i + 1), row.instruction)?;
            let calls = instruction.ops.iter().filter(|op| op.op == OpCode::Pseudo(PseudoOp::CallOther));
            let numbers: Vec<u64> = calls.filter_map(|op| op.inputs.first()).map(|v| v.offset).collect();
            if numbers.is_empty() {
                return Err(MachineError::NoUserOp(row.instruction));
            }
            decoder.user_ops.extend(numbers.into_iter().map(|n| (n, row.meaning)));
        }
        Ok(decoder)
    }

    /// What a user-defined operation means to us, if anything.
    pub fn user_op(&self, number: u64) -> Option<UserOp> {
        self.user_ops.iter().find(|(n, _)| *n == number).map(|(_, meaning)| *meaning)
    }

    /// A register's first byte in the register space and its size in bytes.
    pub fn register(&self, name: &str) -> Result<(u64, u32), MachineError> {
        self.specification.register(name).ok_or_else(|| MachineError::NoRegister(name.to_owned()))
    }

    /// The instruction at `address`, whose bytes `bytes` begins with.
    pub fn decode(&self, address: u64, bytes: &[u8]) -> Result<Instruction, DecodeError> {
        let (len, ops) = self.specification.decode(address, bytes)?;
        let mut it = Instruction {
            address,
            len: len as u64,
            ops,
            alignment: 0,
            loads_half: None,
            plain: false,
            pushes_memory: false,
            anchors: Vec::new(),
            own: None,
            confirmed: false,
        };
        (self.adjust)(&mut it, bytes.get(..len).unwrap_or(bytes));
        it.confirmed |= self.trusts_all;
        Ok(it)
    }

    /// The instruction in words: mnemonic and operands.
    pub fn text(&self, address: u64, bytes: &[u8]) -> (String, String) {
        self.specification.text(address, bytes).unwrap_or_else(|_| ("?".to_owned(), String::new()))
    }
}
