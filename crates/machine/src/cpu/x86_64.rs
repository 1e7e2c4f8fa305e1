//! x86-64 as Linux programs see it: general registers, flags one by one, segment bases, SSE registers.

use sleigh_config::processor_x86::{PSPEC_X86_64, SLA_X86_64};

use super::{Convention, Cpu, SystemCall, UserOp, UserOpRow};

pub static CPU: Cpu = Cpu {
    name: "x86-64",
    elf_machine: object::elf::EM_X86_64.0,
    specification: SLA_X86_64,
    processor: PSPEC_X86_64,
    max_instruction: 15,
    registers: &[
        "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "RIP", "FS_OFFSET",
        "GS_OFFSET", "CF", "PF", "AF", "ZF", "SF", "DF", "OF", "rflags", "TF", "IF", "IOPL", "NT", "RF", "VM", "AC", "VIF", "VIP", "ID",
        "MXCSR", "XMM0", "XMM1", "XMM2", "XMM3", "XMM4", "XMM5", "XMM6", "XMM7", "XMM8", "XMM9", "XMM10", "XMM11", "XMM12", "XMM13",
        "XMM14", "XMM15", "xmmTmp1", "xmmTmp2",
    ],
    initial: &[("IF", 1), ("MXCSR", 0x1f80)],
    instruction_pointer: "RIP",
    stack_pointer: "RSP",
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
    call: Convention { arguments: &["RDI", "RSI", "RDX", "RCX", "R8", "R9"], result: "RAX", returns: &[0xc3] },
    user_ops: &[
        // syscall
        UserOpRow { instruction: &[0x0f, 0x05], meaning: UserOp::SystemCall },
        // lock incq (%rax): the engine runs one thread.
        UserOpRow { instruction: &[0xf0, 0x48, 0xff, 0x00], meaning: UserOp::Nothing },
    ],
    traps: &["UD2", "INT3", "HLT"],
};
