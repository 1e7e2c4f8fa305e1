//! Where a thread's `errno` is: what the C library's function for it computes from the thread pointer. Models that fail set it there.

use smallvec::SmallVec;
use wryneck_ir::code_source::ReadBytes;

use crate::MachineProgram;
use crate::opcode::{IntOp, OpCode};
use crate::pcode::{Pcode, Space, Varnode};

/// The function of musl and glibc.
const FUNCTION: &str = "__errno_location";
/// It adds a distance to the thread pointer, which takes a few instructions.
const MOST: usize = 8;

/// The address of `errno` of the thread with this thread pointer; `None` where the program has no such function, or one that does more.
pub fn address(program: &MachineProgram, thread: u64, read: ReadBytes<'_>) -> Option<u64> {
    let mut at = program.elf.symbols.iter().find(|s| s.code && s.name == FUNCTION)?.address;
    let pointer = program.register(program.elf.cpu.thread_pointer)?;
    let result = program.register(program.elf.cpu.call.result)?;
    let mut known = Known { values: SmallVec::new(), read };
    known.set(pointer, Some(thread));
    for _ in 0..MOST {
        let instruction = program.instruction(at)?;
        for op in &instruction.ops {
            match op.op {
                OpCode::Return => return known.get(result),
                OpCode::Branch
                | OpCode::BranchConditional
                | OpCode::BranchIndirect
                | OpCode::Call
                | OpCode::CallIndirect
                | OpCode::Store => {
                    return None;
                }
                _ => known.run(op),
            }
        }
        at = instruction.next();
    }
    None
}

/// Values of registers and temporaries.
struct Known<'r> {
    values: SmallVec<[(Varnode, u64); 8]>,
    read: ReadBytes<'r>,
}

impl Known<'_> {
    fn get(&self, of: Varnode) -> Option<u64> {
        match of.space {
            Space::Const => Some(of.offset),
            Space::Memory => self.word(of.offset, of.size),
            Space::Register | Space::Unique => self.values.iter().find(|(known, _)| *known == of).map(|(_, value)| *value),
        }
    }

    fn word(&self, at: u64, size: u32) -> Option<u64> {
        let mut bytes = [0; 8];
        (size == 8 && (self.read)(at, &mut bytes)).then(|| u64::from_le_bytes(bytes))
    }

    fn set(&mut self, to: Varnode, value: Option<u64>) {
        self.values.retain(|(known, _)| !known.overlaps(to));
        self.values.extend(value.map(|value| (to, value)));
    }

    /// What is not understood is not known afterwards.
    fn run(&mut self, op: &Pcode) {
        let Some(output) = op.output else { return };
        let input = |n: usize| op.inputs.get(n).and_then(|input| self.get(*input));
        let value = match op.op {
            _ if output.size != 8 => None,
            OpCode::Copy => input(0),
            OpCode::Load => input(1).and_then(|at| self.word(at, output.size)),
            OpCode::Int(IntOp::Add) => input(0).zip(input(1)).map(|(a, b)| a.wrapping_add(b)),
            _ => None,
        };
        self.set(output, value);
    }
}
