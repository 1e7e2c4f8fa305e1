//! wryneck's intermediate representation: small, typed by bit width, made for running, and a file (docs/design/003).
//!
//! Reading order: [`inst`] (what an instruction is), [`module`] (the tables), [`build`] (how they are made). Imports nothing
//! of ours.

#![deny(unsafe_code)]

pub mod arith;
pub mod build;
pub mod code_source;
pub mod file;
pub mod float;
pub mod inst;
pub mod interp;
pub mod link;
pub mod module;
pub mod pad;
pub mod text;
pub mod va_list;
pub mod verify;

#[cfg(test)]
mod samples;

pub use code_source::{ActiveCall, Calling, CodeObject, CodeSource, ControlFlow, Convention, Lowering, NoCode, Objects, Transfer};
pub use inst::{ATOMIC, FcmpPred, Inst, NONE, Op, Operand, PLAIN, Part, Round, X87, limbs};
pub use module::*;

/// The variable in which the C library of bitcode describes the running thread (`runtime/musl`): each thread has one.
pub const THREAD: &str = "__wryneck_thread";
/// The name of the function that machine code asks, before the model of a function whose results are input, whether the call is the program's: 64 bits, 1
/// or 0.
pub const OWN_CALL: &str = "__wryneck_own_call";

/// Called before a function by which threads synchronise, whose own code runs then: another thread may go on first. Its result is 0.
pub const TURN: &str = "__wryneck_turn";

/// Called before the function by which a program begins that another one has loaded: calls may fail from now on. Its result is 0.
pub const LOADED: &str = "__wryneck_loaded";

/// The function, linked with each program, that calls what it is given, with the argument that it is given.
pub const CALL_BACK: &str = "__wryneck_call_back";

/// Numbers of system calls that no kernel has: lifted code asks by them for what a constant answers, so that a verdict can name it. Which processor?
pub const ASKS_PROCESSOR: u64 = 0x1_0000_0001;
/// What time?
pub const ASKS_TIME: u64 = 0x1_0000_0002;

/// What `cpuid` answers: leaf, then EAX, EBX, ECX, EDX; zeros of other leaves. An early x86-64: SSE2, and nothing that came later.
pub const PROCESSOR: &[(u64, [u64; 4])] = &[
    // Highest leaf; `GenuineIntel`.
    (0, [4, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
    // FPU, TSC, CMPXCHG8B, CMOV, MMX, FXSAVE, SSE, SSE2.
    (1, [0x0000_0f00, 0, 0, 1 | 1 << 4 | 1 << 8 | 1 << 15 | 1 << 23 | 1 << 24 | 1 << 25 | 1 << 26]),
    // No descriptors of caches.
    (2, [1, 0, 0, 0]),
    (0x8000_0000, [0x8000_0001, 0, 0, 0]),
    // LAHF; SYSCALL, NX, 64 bits.
    (0x8000_0001, [0, 0, 1, 1 << 11 | 1 << 20 | 1 << 29]),
];
