//! Blocks of machine code: straight-line instructions up to a transfer of control, without dead operations.
//!
//! Most operations compute flags that the next instruction computes again. A backward pass drops pure operations whose result is
//! overwritten before it is read (liveness by bytes, "Compilers" 9.2.5). After the block, a register is dead if the next few instructions
//! overwrite it on all fixed branches; everything else is live. Everything around instructions with branches of their own is live too.
//! Linear in the operations.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::pcode::{Decoder, Destination, Instruction, IntOp, OpCode, Pcode, Space, Varnode};
use crate::ranges::Bytes;
use crate::simplify::simplify;
use crate::sleigh::DecodeError;

/// The most instructions in one block.
const MAX_INSTRUCTIONS: usize = 64;

/// Instructions after a block that the look-ahead reads.
const LOOK_AHEAD: usize = 6;

/// Instructions that the look-ahead decoded before their block was decoded, by address.
pub type Ahead = FxHashMap<u64, Instruction>;

/// Code, with the instructions that are decoded already.
pub struct Code<'a> {
    decoder: &'a Decoder,
    /// The bytes an instruction may have at an address, as many as there are.
    bytes_at: &'a dyn Fn(u64) -> Cow<'a, [u8]>,
    pub ahead: Ahead,
}

impl<'a> Code<'a> {
    pub fn new(decoder: &'a Decoder, bytes_at: &'a dyn Fn(u64) -> Cow<'a, [u8]>, ahead: Ahead) -> Code<'a> {
        Code { decoder, bytes_at, ahead }
    }

    /// The bytes an instruction may have at an address.
    pub fn bytes(&self, address: u64) -> Cow<'a, [u8]> {
        (self.bytes_at)(address)
    }

    fn take(&mut self, address: u64) -> Result<Instruction, DecodeError> {
        match self.ahead.remove(&address) {
            Some(instruction) => Ok(instruction),
            None => self.decoder.decode(address, &self.bytes(address)),
        }
    }

    fn look(&mut self, address: u64) -> Result<&Instruction, DecodeError> {
        use std::collections::hash_map::Entry;
        Ok(match self.ahead.entry(address) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.decoder.decode(address, &(self.bytes_at)(address))?),
        })
    }
}

/// A block of machine code.
pub struct Block {
    pub instructions: Vec<Instruction>,
    /// Address after it.
    pub end: u64,
    /// Why it ends where it does not transfer control: the instruction after it cannot be decoded.
    pub broken: Option<String>,
}

impl Block {
    /// Decodes the block at `address`, which ends before addresses that `begins` says another block begins at.
    pub fn decode(code: &mut Code<'_>, address: u64, begins: &dyn Fn(u64) -> bool) -> Block {
        let flags = code.decoder.flags.clone();
        let mut block = Block { instructions: Vec::new(), end: address, broken: None };
        while block.instructions.len() < MAX_INSTRUCTIONS {
            match code.take(block.end) {
                Ok(instruction) => {
                    let last = instruction.transfers();
                    block.end = instruction.next();
                    block.instructions.push(instruction);
                    if last || begins(block.end) {
                        break;
                    }
                }
                Err(e) => {
                    block.broken = Some(format!("no instruction can be decoded at {:#x}: {e}", block.end));
                    break;
                }
            }
        }
        simplify(&mut block.instructions, &flags);
        let overwritten = block.overwritten_behind(code);
        block.drop_dead(overwritten, &flags);
        block
    }

    /// Bytes of registers that every path after the block writes before it reads them, as far as the look-ahead shows.
    fn overwritten_behind(&self, code: &mut Code<'_>) -> Bytes {
        let mut own = Bytes::default();
        let outputs = self.instructions.iter().flat_map(|it| &it.ops).filter_map(|op| op.output);
        outputs.filter(|v| v.space == Space::Register).for_each(|v| own.add(v.offset..v.end()));
        let Some(last) = self.instructions.last().filter(|_| self.broken.is_none()) else { return Bytes::default() };
        let mut ways = Vec::new();
        for n in 0..last.ops.len() {
            match (last.ops[n].op, last.destination(n)) {
                (OpCode::BranchIndirect | OpCode::CallIndirect | OpCode::Return, _) => return Bytes::default(),
                (op, Some(Destination::Address(to))) => ways.push((to, op == OpCode::BranchConditional)),
                _ => {}
            }
        }
        let goes_on = last.ops.last().is_none_or(|op| !matches!(op.op, OpCode::Branch | OpCode::Call)) || last.branches_inside();
        ways.extend(goes_on.then_some((self.end, true)));
        let mut ways = ways.into_iter().map(|(to, inside)| overwritten_at(code, to, inside, own.clone()));
        let mut all = ways.next().unwrap_or_default();
        ways.for_each(|way| all.intersect(&way));
        all
    }

    /// Drops dead operations. `overwritten` are bytes of registers that are written before they are read after the block.
    fn drop_dead(&mut self, mut overwritten: Bytes, flags: &Range<u64>) {
        for instruction in self.instructions.iter_mut().rev() {
            if instruction.own.is_some() {
                // It reads no flag, but may read anything else.
                overwritten.keep(flags);
            }
            if instruction.ops.iter().any(|op| matches!(op.op, OpCode::Pseudo(_))) {
                overwritten.clear();
                continue;
            }
            if instruction.branches_inside() || transfers_early(instruction) {
                // Its writes may not happen; its reads may happen.
                let read = instruction.ops.iter().flat_map(|op| &op.inputs).filter(|v| v.space == Space::Register);
                read.for_each(|v| overwritten.remove(v.offset..v.end()));
                continue;
            }
            // Bytes of temporaries that are read.
            let mut read = Bytes::default();
            let mut keep = vec![true; instruction.ops.len()];
            for (op, keep) in instruction.ops.iter().zip(&mut keep).rev() {
                *keep = !is_pure(op) || op.output.is_some_and(|v| is_live(v, &overwritten, &read));
                if !*keep {
                    continue;
                }
                if let Some(v) = op.output {
                    match v.space {
                        Space::Register => overwritten.add(v.offset..v.end()),
                        Space::Unique => read.remove(v.offset..v.end()),
                        Space::Const | Space::Memory => {}
                    }
                }
                for v in &op.inputs {
                    match v.space {
                        Space::Register => overwritten.remove(v.offset..v.end()),
                        Space::Unique => read.add(v.offset..v.end()),
                        Space::Const | Space::Memory => {}
                    }
                }
            }
            let mut keep = keep.into_iter();
            instruction.ops.retain(|_| keep.next().unwrap_or(true));
        }
    }
}

/// Does control leave it before its last operation?
fn transfers_early(instruction: &Instruction) -> bool {
    let leaves = |op: &Pcode| {
        matches!(op.op, OpCode::Branch | OpCode::BranchConditional | OpCode::BranchIndirect)
            || matches!(op.op, OpCode::Call | OpCode::CallIndirect | OpCode::Return)
    };
    let last = instruction.ops.len().saturating_sub(1);
    instruction.ops[..last].iter().any(leaves)
}

/// Has it branches of its own, or operations that may read anything?
fn is_opaque(instruction: &Instruction) -> bool {
    instruction.branches_inside() || instruction.ops.iter().any(|op| matches!(op.op, OpCode::Pseudo(_)))
}

/// Bytes of these registers that the next few instructions at an address write before they read them. If the address may belong to another
/// function (not `inside`), that function may be replaced, so only flags count, because they are no arguments.
fn overwritten_at(code: &mut Code<'_>, mut address: u64, mut inside: bool, mut wanted: Bytes) -> Bytes {
    let (mut written, flags) = (Bytes::default(), code.decoder.flags.clone());
    for _ in 0..LOOK_AHEAD {
        if !inside {
            wanted.keep(&flags);
        }
        if wanted.is_empty() {
            break;
        }
        let Ok(instruction) = code.look(address) else { break };
        if is_opaque(instruction) || instruction.own.is_some() {
            break;
        }
        for op in &instruction.ops {
            let register = |v: &&Varnode| v.space == Space::Register;
            op.inputs.iter().filter(register).for_each(|v| wanted.remove(v.offset..v.end()));
            if let Some(v) = op.output.as_ref().filter(register) {
                wanted.give(v.offset..v.end(), &mut written);
            }
        }
        inside &= !instruction.transfers();
        let last = instruction.ops.len().saturating_sub(1);
        address = match instruction.ops.last().map(|op| op.op) {
            Some(OpCode::Branch | OpCode::Call) if !transfers_early(instruction) => match instruction.destination(last) {
                Some(Destination::Address(to)) => to,
                Some(Destination::Inside(_)) | None => break,
            },
            _ if instruction.transfers() => break,
            _ => instruction.next(),
        };
    }
    written
}

fn is_live(v: Varnode, overwritten: &Bytes, read: &Bytes) -> bool {
    match v.space {
        Space::Register => !overwritten.covers(v.offset..v.end()),
        Space::Unique => read.touches(v.offset..v.end()),
        Space::Const | Space::Memory => true,
    }
}

/// Has it no effect but its output? A division may fault, and so may a load.
fn is_pure(op: &Pcode) -> bool {
    let memory = op.inputs.iter().any(|v| v.space == Space::Memory);
    match op.op {
        OpCode::Int(IntOp::Divide(_) | IntOp::Remainder(_)) => false,
        OpCode::Copy | OpCode::Piece | OpCode::Subpiece | OpCode::Popcount | OpCode::LzCount => !memory,
        OpCode::Bool(_) | OpCode::Int(_) | OpCode::Float(_) => !memory,
        _ => false,
    }
}
