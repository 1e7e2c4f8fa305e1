//! Blocks of machine code: straight-line instructions up to a transfer of control, without the operations nobody reads.
//!
//! Most of what instructions compute is flags that the next instruction computes again. A backward pass over the block drops
//! pure operations whose result is overwritten before it is read (liveness by bytes, "Compilers" 9.2.5); everything is live at
//! the end of the block, and around instructions with branches of their own. Linear in the operations.

use rustc_hash::FxHashSet;

use crate::pcode::{Decoder, Instruction, IntOp, OpCode, Pcode, Space, Varnode};

/// Instructions in one block, at most.
const MAX_INSTRUCTIONS: usize = 64;

/// A block of machine code.
pub struct Block {
    pub instructions: Vec<Instruction>,
    /// Address behind it.
    pub end: u64,
    /// Why it ends where it does not transfer control: the instruction behind it cannot be decoded.
    pub broken: Option<String>,
}

impl Block {
    /// Decodes the block at `address`. `bytes_at` gives the bytes an instruction may have at an address, as many as there are;
    /// the block ends before addresses that `begins` says another block begins at.
    pub fn decode(decoder: &Decoder, address: u64, bytes_at: &dyn Fn(u64) -> Vec<u8>, begins: &dyn Fn(u64) -> bool) -> Block {
        let mut block = Block { instructions: Vec::new(), end: address, broken: None };
        while block.instructions.len() < MAX_INSTRUCTIONS {
            match decoder.decode(block.end, &bytes_at(block.end)) {
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
        block.drop_dead();
        block
    }

    fn drop_dead(&mut self) {
        // Bytes of registers that are written before they are read, and bytes of temporaries that are read.
        let mut overwritten = FxHashSet::default();
        for instruction in self.instructions.iter_mut().rev() {
            if instruction.transfers() || instruction.branches_inside() || instruction.ops.iter().any(|op| matches!(op.op, OpCode::Pseudo(_))) {
                overwritten.clear();
                continue;
            }
            let mut read = FxHashSet::default();
            let mut keep = vec![true; instruction.ops.len()];
            for (op, keep) in instruction.ops.iter().zip(&mut keep).rev() {
                *keep = !is_pure(op) || op.output.is_some_and(|v| is_live(v, &overwritten, &read));
                if !*keep {
                    continue;
                }
                if let Some(v) = op.output {
                    match v.space {
                        Space::Register => overwritten.extend(v.offset..v.end()),
                        Space::Unique => (v.offset..v.end()).for_each(|b| _ = read.remove(&b)),
                        Space::Const | Space::Memory => {}
                    }
                }
                for v in &op.inputs {
                    match v.space {
                        Space::Register => (v.offset..v.end()).for_each(|b| _ = overwritten.remove(&b)),
                        Space::Unique => read.extend(v.offset..v.end()),
                        Space::Const | Space::Memory => {}
                    }
                }
            }
            let mut keep = keep.into_iter();
            instruction.ops.retain(|_| keep.next().unwrap_or(true));
        }
    }
}

fn is_live(v: Varnode, overwritten: &FxHashSet<u64>, read: &FxHashSet<u64>) -> bool {
    let mut bytes = v.offset..v.end();
    match v.space {
        Space::Register => bytes.any(|b| !overwritten.contains(&b)),
        Space::Unique => bytes.any(|b| read.contains(&b)),
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
