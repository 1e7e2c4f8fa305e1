//! x86-64 as Linux programs see it: general registers, flags one by one, segment bases, vectors of 256 bits, x87.
//!
//! SLEIGH decodes all and says what most instructions do. The oracle (`crates/oracle`) found what it gets wrong: [`adjust`]
//! corrects its p-code where a line does, and puts an instruction of ours in its place where not ([`integer`], [`vector`],
//! [`x87`]).

mod emit;
mod encoding;
pub mod form;
mod integer;
mod state;
mod vector;
mod x87;

use std::rc::Rc;

use wryneck_ir::Part;
use wryneck_ir::build::BlockId;

use super::{Asked, Convention, Cpu, Own, SystemCall, UserOp, UserOpRow};
use smallvec::smallvec;

use crate::pcode::{Instruction, IntOp, IntSign, OpCode, Pcode, Space, Varnode};
use crate::place::Places;
use crate::registers::RegisterFile;
use crate::sleigh::Aligned;
use emit::Emit;
use encoding::{Encoding, Mandatory, Map};
use form::Form;
use integer::Integer;

static SPECIFICATION: Aligned<{ WORDS.len() }> = Aligned(*WORDS);
const WORDS: &[u8; include_bytes!(concat!(env!("OUT_DIR"), "/x86-64.words")).len()] =
    include_bytes!(concat!(env!("OUT_DIR"), "/x86-64.words"));

pub static CPU: Cpu = Cpu {
    name: "x86-64",
    elf_machine: object::elf::EM_X86_64.0,
    specification: || SPECIFICATION.words(),
    max_instruction: 15,
    registers: &[
        "RAX",
        "RCX",
        "RDX",
        "RBX",
        "RSP",
        "RBP",
        "RSI",
        "RDI",
        "R8",
        "R9",
        "R10",
        "R11",
        "R12",
        "R13",
        "R14",
        "R15",
        "RIP",
        "FS_OFFSET",
        "GS_OFFSET",
        "CF",
        "PF",
        "AF",
        "ZF",
        "SF",
        "DF",
        "OF",
        "rflags",
        "TF",
        "IF",
        "IOPL",
        "NT",
        "RF",
        "VM",
        "AC",
        "VIF",
        "VIP",
        "ID",
        "MXCSR",
        "YMM0",
        "YMM1",
        "YMM2",
        "YMM3",
        "YMM4",
        "YMM5",
        "YMM6",
        "YMM7",
        "YMM8",
        "YMM9",
        "YMM10",
        "YMM11",
        "YMM12",
        "YMM13",
        "YMM14",
        "YMM15",
        "xmmTmp1",
        "xmmTmp2",
        "ST0",
        "ST1",
        "ST2",
        "ST3",
        "ST4",
        "ST5",
        "ST6",
        "ST7",
        "FPUControlWord",
        "FPUStatusWord",
        "FPUTagWord",
        "FPULastInstructionOpcode",
        "FPUDataPointer",
        "FPUInstructionPointer",
        "C0",
        "C1",
        "C2",
        "C3",
        "DR0",
    ],
    initial: &[("IF", 1), ("MXCSR", 0x1f80), ("FPUControlWord", 0x37f)],
    instruction_pointer: "RIP",
    stack_pointer: "RSP",
    thread_pointer: "FS_OFFSET",
    frame_pointer: ("RBP", 6),
    // System V x86-64 ABI, figure 3.36; of vectors the lowest 64 bits.
    dwarf_registers: &[
        "RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "RIP", "YMM0",
        "YMM1", "YMM2", "YMM3", "YMM4", "YMM5", "YMM6", "YMM7", "YMM8", "YMM9", "YMM10", "YMM11", "YMM12", "YMM13", "YMM14", "YMM15",
    ],
    system_call: SystemCall {
        number: "RAX",
        arguments: &["RDI", "RSI", "RDX", "R10", "R8", "R9"],
        result: "RAX",
        next_address: "RCX",
        flags: "R11",
        flag_bits: &[("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11)],
        // Bit 1 is always set, bit 9 lets interrupts in.
        flags_set: 0x202,
        // arch_prctl with ARCH_SET_GS, ARCH_SET_FS.
        set_base: 158,
        bases: &[(0x1001, "GS_OFFSET"), (0x1002, "FS_OFFSET")],
    },
    // System V x86-64 ABI, section 3.2.3.
    call: Convention {
        arguments: &["RDI", "RSI", "RDX", "RCX", "R8", "R9"],
        floats: &["YMM0", "YMM1", "YMM2", "YMM3", "YMM4", "YMM5", "YMM6", "YMM7"],
        float_bytes: 16,
        count_of_floats: "RAX",
        result: "RAX",
        second: "RDX",
        float_results: &["YMM0", "YMM1", "ST0", "ST1"],
        saved: &["RBX", "RSP", "RBP", "R12", "R13", "R14", "R15", "FS_OFFSET", "GS_OFFSET", "DF", "MXCSR", "FPUControlWord"],
        scratch: &["RAX", "RCX", "RDX", "RSI", "RDI", "R8", "R9", "R10", "R11"],
        vectors: &[
            "YMM0", "YMM1", "YMM2", "YMM3", "YMM4", "YMM5", "YMM6", "YMM7", "YMM8", "YMM9", "YMM10", "YMM11", "YMM12", "YMM13", "YMM14",
            "YMM15",
        ],
        thread: "FS_OFFSET",
        returns: &[0xc3],
    },
    user_ops: &[
        // syscall
        UserOpRow { instruction: &[0x0f, 0x05], meaning: UserOp::SystemCall },
        // lock incq (%rax): the engine runs one thread.
        UserOpRow { instruction: &[0xf0, 0x48, 0xff, 0x00], meaning: UserOp::Nothing },
    ],
    flags: ("CF", "OF"),
    adjust,
};

/// Which of our instructions.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Integer(Integer),
    Vector(vector::Row),
    X87(x87::X87),
}

/// An instruction that we lift.
#[derive(Debug)]
struct Ours {
    encoding: Encoding,
    kind: Kind,
}

impl Own for Ours {
    fn has_fallback(&self) -> bool {
        matches!(self.kind, Kind::Integer(Integer::Copy | Integer::Fill) | Kind::X87(x87::X87::Nearest))
    }
    fn asks(&self) -> Option<Asked> {
        match self.kind {
            Kind::Integer(Integer::Identify) => Some(Asked::Processor),
            Kind::Integer(Integer::TimeStamp) => Some(Asked::Time),
            Kind::Integer(_) | Kind::Vector(_) | Kind::X87(_) => None,
        }
    }
    fn emit(&self, registers: &RegisterFile, p: &mut Places<'_, '_, '_>, it: &Instruction, end: Option<BlockId>) -> Result<(), String> {
        let mut x = Emit { p, registers, it, e: &self.encoding, mmx: false };
        match self.kind {
            Kind::Integer(what) => integer::emit(&mut x, what, end),
            Kind::Vector(row) => vector::emit(&mut x, row),
            Kind::X87(what) => x87::emit(&mut x, what),
        }
    }
}

/// Where SLEIGH has RAX to R15, bytes.
const GENERAL: std::ops::Range<u64> = 0..0xc0;
/// Size of the vector registers as SLEIGH clears them, and as we have them, bytes.
const VECTOR: (u32, u32) = (64, 32);

/// A temporary that SLEIGH does not use.
const TEMPORARY: u64 = 0xfff0_0000;

/// Corrects what SLEIGH says of an instruction.
fn adjust(it: &mut Instruction, bytes: &[u8]) {
    let Some(e) = Encoding::decode(bytes) else { return };
    it.confirmed = Form::of_encoding(&e).is_confirmed();
    if e.map == Map::One && e.opcode == 0x9b {
        // SLEIGH reads `fwait` and the next instruction as one.
        let prefixes = bytes.iter().take_while(|byte| **byte != 0x9b).count();
        (it.len, it.ops) = (prefixes as u64 + 1, Vec::new());
        return;
    }
    it.alignment = vector::alignment(&e);
    it.plain = e.changes_memory();
    it.pushes_memory = e.map == Map::One && e.opcode == 0xff && e.reg == 6 && matches!(e.rm, encoding::Rm::Memory(_));
    it.loads_half = match e.opcode {
        _ if e.map != Map::Two || !matches!(e.mandatory, Mandatory::None | Mandatory::P66) => None,
        0x12 => Some(Part { of: 8, at: 0 }),
        // The high half comes after the low one, which lies before it in memory.
        0x16 => Some(Part { of: 16, at: 8 }),
        _ => None,
    };
    it.ops.iter_mut().for_each(clip_vector);
    if e.map == Map::One && matches!(e.opcode, 0xd0 | 0xd1) && e.reg == 5 {
        overflow_of_shift(it);
    }
    if e.map == Map::One && e.opcode == 0x90 && !e.upper {
        // SLEIGH takes it for `xchg` where REX says anything at all.
        it.ops.clear();
    }
    if e.map == Map::Two && e.opcode == 0x1e && e.mandatory == Mandatory::F3 && e.reg == 1 {
        // `rdssp` does nothing where the kernel gives no shadow stack. The unwinder of gcc's library asks with it.
        it.ops.clear();
    }
    if e.map == Map::Two && matches!(e.opcode, 0xc0 | 0xc1) {
        store_first(it);
    }
    clear_upper_half(it);
    align_pieces(it);
    x87::adjust(it, &e);
    let kind = integer::meaning(&e).map(Kind::Integer).or(vector::meaning(&e).map(Kind::Vector)).or(x87::meaning(&e).map(Kind::X87));
    if let Some(kind) = kind {
        let own = Ours { encoding: e, kind };
        if !own.has_fallback() {
            it.ops.clear();
        }
        it.own = Some(Rc::new(own));
    }
}

/// `xadd` stores before it changes its register, which the address may be in. SLEIGH does so for 32 and 64 bits alone.
fn store_first(it: &mut Instruction) {
    let general = |op: &Pcode| op.output.is_some_and(|to| to.space == Space::Register && GENERAL.contains(&to.offset));
    let (store, register) = (it.ops.iter().position(|op| op.op == OpCode::Store), it.ops.iter().position(general));
    if let (Some(store), Some(register)) = (store, register)
        && register < store
        && let Some(to) = it.ops[register].output
    {
        let old = Varnode { space: Space::Unique, offset: TEMPORARY, size: to.size };
        it.ops[register].output = Some(old);
        it.ops.insert(store + 1, Pcode { op: OpCode::Copy, output: Some(to), inputs: smallvec![old] });
    }
}

/// An operand of 16 bytes that is loaded in pieces is looked at as a whole first, as the processor does.
fn align_pieces(it: &mut Instruction) {
    let loads = |op: &&Pcode| op.op == OpCode::Load;
    let sizes = it.ops.iter().filter(loads).filter_map(|op| op.output).map(|v| v.size);
    let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    let first = it.ops.iter().position(|op| op.op == OpCode::Load);
    if let Some(first) = first.filter(|_| it.alignment == 16 && count > 1 && bytes == 16) {
        let whole = Varnode { space: Space::Unique, offset: TEMPORARY, size: 16 };
        it.ops.insert(first, Pcode { output: Some(whole), ..it.ops[first].clone() });
    }
}

/// AVX clears registers of 512 bits, of which there are only 256.
fn clip_vector(op: &mut Pcode) {
    let narrow = op.op == OpCode::Int(IntOp::Extension(IntSign::Unsigned)) && op.inputs[0].size <= VECTOR.1;
    if let Some(v) = op.output.as_mut().filter(|v| narrow && v.space == Space::Register && v.size == VECTOR.0) {
        v.size = VECTOR.1;
    }
}

/// `shr` by 1 sets OF to the sign of what is shifted; SLEIGH clears it.
fn overflow_of_shift(it: &mut Instruction) {
    let shifts = |op: &Pcode| op.op == OpCode::Int(IntOp::ShiftRight(IntSign::Unsigned));
    let Some(shift) = it.ops.iter().position(shifts) else { return };
    let value = it.ops[shift].inputs[0];
    let clears = |op: &Pcode| op.op == OpCode::Copy && op.inputs[0] == Varnode { space: Space::Const, offset: 0, size: 1 };
    if let Some(op) = it.ops[..shift].iter_mut().find(|op| clears(op)) {
        let zero = Varnode { space: Space::Const, offset: 0, size: value.size };
        (op.op, op.inputs) = (OpCode::Int(IntOp::LessThan(IntSign::Signed)), smallvec![value, zero]);
    }
}

/// Writing 32 bits of a general register clears the other half, which SLEIGH forgets where two registers are written.
fn clear_upper_half(it: &mut Instruction) {
    if it.branches_inside() || it.transfers() {
        return;
    }
    let mut forgotten = Vec::new();
    for (n, op) in it.ops.iter().enumerate() {
        let Some(v) = op.output.filter(|v| v.space == Space::Register && v.size == 4 && v.offset % 8 == 0 && GENERAL.contains(&v.offset))
        else {
            continue;
        };
        let whole = Varnode { size: 8, ..v };
        if !it.ops[n + 1..].iter().any(|later| later.output == Some(whole)) {
            forgotten.push(Pcode { op: OpCode::Int(IntOp::Extension(IntSign::Unsigned)), output: Some(whole), inputs: smallvec![v] });
        }
    }
    it.ops.append(&mut forgotten);
}
