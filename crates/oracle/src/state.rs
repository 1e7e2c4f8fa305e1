//! What an instruction starts from and leaves behind: registers, flags, vectors, x87, a window of memory.

use bytemuck::{Pod, Zeroable};

/// Where the instruction lies: in the middle of a page, so that jumps from it land in the page too.
pub const CODE: u64 = 0x1000_0800;
/// The page that memory operands lie in; nothing is mapped beside it.
pub const SCRATCH: u64 = 0x2000_0000;
/// Bytes of the page.
pub const PAGE: u64 = 4096;
/// First byte of the window, the part of the page that is not zero.
pub const WINDOW: u64 = SCRATCH + 2048;
/// 64-bit words of the window.
pub const WINDOW_WORDS: usize = 64;

/// Bits of the flags register.
pub mod flag {
    pub const CF: u64 = 1;
    pub const PF: u64 = 1 << 2;
    pub const AF: u64 = 1 << 4;
    pub const ZF: u64 = 1 << 6;
    pub const SF: u64 = 1 << 7;
    pub const DF: u64 = 1 << 10;
    pub const OF: u64 = 1 << 11;
    /// All that arithmetic sets.
    pub const STATUS: u64 = CF | PF | AF | ZF | SF | OF;
}

/// Numbers of general registers in the encoding.
pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RBX: usize = 3;
pub const RSP: usize = 4;
pub const RBP: usize = 5;
pub const RDI: usize = 7;

/// A state; `harness.c` has the same structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// By number in the encoding.
    pub gpr: [u64; 16],
    pub rip: u64,
    pub rflags: u64,
    pub fs: u64,
    pub gs: u64,
    /// 256 bits each.
    pub vec: [[u64; 4]; 16],
    /// 80 bits each; by distance from the top of the x87's stack.
    pub st: [[u64; 2]; 8],
    pub fcw: u16,
    pub fsw: u16,
    /// A bit per x87 register, by its own number: it holds something.
    pub ftw: u16,
    pub unused: u16,
    pub mxcsr: u32,
    /// What ended the instruction; a breakpoint, if it just went on.
    pub signal: u32,
    /// Memory outside of the window was written: not comparable.
    pub spilled: u32,
    pub unused2: u32,
    pub window: [u64; WINDOW_WORDS],
}

impl State {
    pub fn zero() -> State {
        Zeroable::zeroed()
    }

    /// Writes bytes into the window at an address, as far as they are inside.
    pub fn poke(&mut self, address: u64, bytes: &[u8]) {
        let window: &mut [u8] = bytemuck::cast_slice_mut(&mut self.window);
        for (i, byte) in (0u64..).zip(bytes) {
            let at = address.wrapping_add(i).wrapping_sub(WINDOW);
            if let Some(there) = usize::try_from(at).ok().and_then(|at| window.get_mut(at)) {
                *there = *byte;
            }
        }
    }
}
