//! The CPUs that we lift: one row and one file each.

pub mod x86_64;

use wryneck_ir::build::BlockId;

use crate::pcode::Instruction;
use crate::place::Places;
use crate::registers::RegisterFile;

/// What is particular about a CPU: everything else is SLEIGH's business.
pub struct Cpu {
    pub name: &'static str,
    /// `e_machine` of its ELF files.
    pub elf_machine: u16,
    /// SLEIGH's specification with the processor's variant, as the build laid it out.
    pub specification: fn() -> &'static [u32],
    /// Longest instruction in bytes.
    pub max_instruction: usize,
    /// The register file, by SLEIGH's names of the widest form: these live in slots, all others are unsupported.
    pub registers: &'static [&'static str],
    /// What Linux starts a program with, where that is not 0.
    pub initial: &'static [(&'static str, u64)],
    pub instruction_pointer: &'static str,
    pub stack_pointer: &'static str,
    /// What a thread's own variables are addressed by.
    pub thread_pointer: &'static str,
    /// What compilers address variables on the stack by, and its number in DWARF.
    pub frame_pointer: (&'static str, u16),
    /// The registers in the order of DWARF's numbers, from 0 on.
    pub dwarf_registers: &'static [&'static str],
    pub system_call: SystemCall,
    pub call: Convention,
    /// Instructions whose meaning SLEIGH leaves to user-defined operations.
    pub user_ops: &'static [UserOpRow],
    /// The first and the last of the flags in SLEIGH's register space.
    pub flags: (&'static str, &'static str),
    /// Corrects the p-code of an instruction with these bytes, or makes it one of our own.
    pub adjust: fn(&mut Instruction, &[u8]),
}

/// What an instruction asks for that is answered by a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Which CPU it runs on.
    Processor,
    Time,
}

/// An instruction that is lifted by us, not by its p-code. It may read and write any register, but reads no flag.
pub trait Own: std::fmt::Debug {
    /// Does its p-code follow, for the cases it leaves to that?
    fn has_fallback(&self) -> bool;
    /// Does it ask for what another CPU, or another run, answers otherwise?
    fn asks(&self) -> Option<Asked> {
        None
    }
    /// Emits it into the open block. `end` is the block behind the instruction, if it has a fallback. Errors say what cannot be.
    fn emit(&self, registers: &RegisterFile, p: &mut Places<'_, '_, '_>, it: &Instruction, end: Option<BlockId>) -> Result<(), String>;
}

/// How functions are called.
pub struct Convention {
    /// Registers of integers and pointers, and of floats, whose result is in the first one.
    pub arguments: &'static [&'static str],
    pub floats: &'static [&'static str],
    /// How many bytes of a register of floats an argument or a result takes at most.
    pub float_bytes: u32,
    /// The register that says how many registers of floats a variadic call uses.
    pub count_of_floats: &'static str,
    pub result: &'static str,
    /// Where the second word of a result is, and where floating-point results are.
    pub second: &'static str,
    pub float_results: &'static [&'static str],
    /// Those that functions leave as they were, the stack pointer among them.
    pub saved: &'static [&'static str],
    /// Those that functions leave as they like: of words, and of vectors.
    pub scratch: &'static [&'static str],
    pub vectors: &'static [&'static str],
    /// Where the thread's own memory is.
    pub thread: &'static str,
    /// The instruction that returns.
    pub returns: &'static [u8],
}

/// The system call convention of the CPU's Linux.
pub struct SystemCall {
    pub number: &'static str,
    pub arguments: &'static [&'static str],
    pub result: &'static str,
    /// Gets the address of the next instruction.
    pub next_address: &'static str,
    /// Gets the flags, packed: [`SystemCall::flag_bits`] over [`SystemCall::flags_set`].
    pub flags: &'static str,
    pub flag_bits: &'static [(&'static str, u8)],
    pub flags_set: u64,
    /// The system call that gives its second argument to the register that its first argument names: the bases of segments.
    pub set_base: u64,
    pub bases: &'static [(u64, &'static str)],
}

/// What a user-defined operation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserOp {
    SystemCall,
    /// Says something about other processors or about prediction, nothing about this one's state.
    Nothing,
}

/// User-defined operations have no names in compiled specifications: the row says which instruction's p-code consists of them.
pub struct UserOpRow {
    pub instruction: &'static [u8],
    pub meaning: UserOp,
}

/// One more CPU: a file with its row, a line here, and its instructions compared with the CPU in `tests/`.
pub static CPUS: &[&Cpu] = &[&x86_64::CPU];
