//! Forms of instructions, and which of them the CPU has confirmed.
//!
//! A form is what decides the meaning of an instruction but for its operands: prefixes, opcode, the part of ModRM that belongs to
//! the opcode, and whether an operand is in memory. `confirmed.txt` lists the forms that `cargo xtask gate lift --forms` ran
//! natively and lifted with the same results; the build packs their keys. An instruction of any other form lowers to
//! `Unsupported`. One binary search an instruction.

use super::encoding::{Encoding, Map, Rm};
use crate::sleigh::Aligned;

static CONFIRMED: Aligned<{ KEYS.len() }> = Aligned(*KEYS);
const KEYS: &[u8; include_bytes!(concat!(env!("OUT_DIR"), "/x86-64.confirmed")).len()] =
    include_bytes!(concat!(env!("OUT_DIR"), "/x86-64.confirmed"));

/// The form of an instruction, packed: equal keys are equal forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Form(pub u32);

impl Form {
    /// The form of an instruction. `None`: its encoding is not one we take apart (EVEX, XOP, cut off).
    pub fn of(bytes: &[u8]) -> Option<Form> {
        Encoding::decode(bytes).map(|e| Form::of_encoding(&e))
    }

    pub(super) fn of_encoding(e: &Encoding) -> Form {
        let (memory, rm) = match e.rm {
            Rm::Register(n) => (false, n as u32 & 7),
            Rm::Memory(_) => (true, 0),
        };
        let vex = e.vex.map_or(0, |v| if v.long { 2 } else { 1 });
        // Register fields count from 1 where they are part of the opcode, and are 0 where they are operands.
        let reg = if in_reg(e.map, e.opcode) { 1 + (e.reg as u32 & 7) } else { 0 };
        let rm = match (e.map, e.opcode) {
            // `nop` or `pause`, but `xchg` with one of the upper registers.
            (Map::One, 0x90) => 1 + u32::from(e.upper),
            _ if !memory && in_rm(e.map, e.opcode) => 1 + rm,
            _ => 0,
        };
        let unusual = implicit_address(e.map, e.opcode) && (e.segment.is_some() || e.narrow);
        let fields = [
            (u32::from(unusual), 1),
            (u32::from(e.lock), 1),
            (vex, 2),
            (e.map as u32, 2),
            (e.mandatory as u32, 2),
            (u32::from(e.operand16), 1),
            (u32::from(e.wide), 1),
            (u32::from(e.opcode), 8),
            (reg, 4),
            (rm, 4),
            (u32::from(memory), 1),
        ];
        Form(fields.into_iter().fold(0, |key, (value, bits)| key << bits | value))
    }

    /// Has the CPU confirmed what we lift it to?
    pub fn is_confirmed(self) -> bool {
        CONFIRMED.words().binary_search(&self.0).is_ok()
    }

    /// How many forms the CPU has confirmed.
    pub fn confirmed() -> usize {
        CONFIRMED.words().len()
    }
}

/// Is the register field of ModRM part of the opcode?
pub(super) fn in_reg(map: Map, opcode: u8) -> bool {
    match map {
        Map::One => {
            matches!(opcode, 0x80..=0x83 | 0x8f | 0xc0 | 0xc1 | 0xc6 | 0xc7 | 0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff)
        }
        Map::Two => matches!(opcode, 0x00 | 0x01 | 0x0d | 0x18..=0x1f | 0x71..=0x73 | 0xae | 0xb9 | 0xba | 0xc7),
        Map::Three38 => opcode == 0xf3,
        Map::Three3A => false,
    }
}

/// Is its register operand, too?
pub(super) fn in_rm(map: Map, opcode: u8) -> bool {
    match map {
        Map::One => matches!(opcode, 0xd8..=0xdf),
        Map::Two => matches!(opcode, 0x01 | 0x1e | 0xae),
        Map::Three38 | Map::Three3A => false,
    }
}

/// Instructions on memory without ModRM: strings, and moves to fixed addresses.
fn implicit_address(map: Map, opcode: u8) -> bool {
    map == Map::One && matches!(opcode, 0xa0..=0xa7 | 0xaa..=0xaf | 0xd7)
}
