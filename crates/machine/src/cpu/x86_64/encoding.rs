//! The encoding of an x86-64 instruction, taken apart: prefixes, opcode, operands (Intel SDM 2, chapter 2). Only for the
//! instructions we lift ourselves; SLEIGH decodes the rest, and has found the length of all.

use super::form;

/// Prefix that is part of the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mandatory {
    None,
    P66,
    F3,
    F2,
}

/// Table of opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    One,
    /// 0F
    Two,
    /// 0F 38
    Three38,
    /// 0F 3A
    Three3A,
}

/// The VEX prefix, as far as it is not in the other fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vex {
    /// 256 bits instead of 128.
    pub long: bool,
    /// Number of the extra source register.
    pub source: usize,
}

/// The operand of ModRM that is a register or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    Register(usize),
    Memory(Address),
}

/// base + index * scale + displacement (+ segment base).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Option<usize>,
    pub index: Option<(usize, u32)>,
    /// What an index is multiplied by, if there is one or not.
    pub scale: u32,
    pub displacement: i64,
    /// From the next instruction on.
    pub relative: bool,
    pub segment: Option<&'static str>,
    /// Only 32 bits of it count.
    pub narrow: bool,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    pub mandatory: Mandatory,
    /// The prefix 66, whether it is part of the opcode or not.
    pub operand16: bool,
    pub wide: bool,
    /// Addresses are 32 bits.
    pub narrow: bool,
    /// Some REX prefix is there: byte registers 4-7 are the low bytes.
    pub rex: bool,
    /// It makes the base, or the register of the opcode, one of the upper eight.
    pub upper: bool,
    pub vex: Option<Vex>,
    pub map: Map,
    pub opcode: u8,
    /// Register, or part of the opcode.
    pub reg: usize,
    pub rm: Rm,
    /// The last byte, if there is one behind the operands.
    pub immediate: Option<u8>,
    /// The prefix that adds a base to addresses.
    pub segment: Option<&'static str>,
    /// The index of a memory operand as a number, which may be that of a vector register.
    pub index: usize,
    /// Other processors see it as one access.
    pub lock: bool,
}

/// One-byte opcodes with a ModRM byte, of those we look at.
fn has_modrm(map: Map, opcode: u8) -> bool {
    match map {
        Map::One => {
            matches!(opcode, 0x80..=0x8f | 0xc0 | 0xc1 | 0xc6 | 0xc7 | 0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff)
                || opcode < 0x40 && opcode & 7 < 4
                || opcode == 0x63
                || matches!(opcode, 0x69 | 0x6b)
        }
        Map::Two => {
            !matches!(opcode, 0x05 | 0x06 | 0x07..=0x09 | 0x0b | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf)
        }
        Map::Three38 | Map::Three3A => true,
    }
}

impl Encoding {
    /// Does it read, change and write a memory operand in steps that other processors may come between?
    pub fn changes_memory(&self) -> bool {
        let of_group = |groups: &[(u8, &[usize])]| groups.iter().any(|(opcode, regs)| *opcode == self.opcode && regs.contains(&self.reg));
        let changes = match self.map {
            // Arithmetic but comparisons; shifts; `not`, `neg`, `inc` and `dec`.
            Map::One => {
                self.opcode < 0x38 && self.opcode & 7 < 2
                    || matches!(self.opcode, 0x80..=0x83) && self.reg != 7
                    || matches!(self.opcode, 0xc0 | 0xc1 | 0xd0..=0xd3)
                    || of_group(&[(0xf6, &[2, 3]), (0xf7, &[2, 3]), (0xfe, &[0, 1]), (0xff, &[0, 1])])
            }
            // Bits that are set, cleared or changed; double shifts; `cmpxchg` and `xadd`.
            Map::Two => {
                matches!(self.opcode, 0xa4 | 0xa5 | 0xab | 0xac | 0xad | 0xb0 | 0xb1 | 0xb3 | 0xbb | 0xc0 | 0xc1)
                    || of_group(&[(0xba, &[5, 6, 7]), (0xc7, &[1])])
            }
            Map::Three38 | Map::Three3A => false,
        };
        changes && !self.lock && self.vex.is_none() && matches!(self.rm, Rm::Memory(_))
    }

    /// Takes the instruction apart. `None`: EVEX or XOP, two segments, or cut off.
    pub fn decode(bytes: &[u8]) -> Option<Encoding> {
        let mut e = Encoding {
            mandatory: Mandatory::None,
            operand16: false,
            wide: false,
            narrow: false,
            rex: false,
            upper: false,
            vex: None,
            map: Map::One,
            opcode: 0,
            reg: 0,
            rm: Rm::Register(0),
            immediate: None,
            segment: None,
            index: 0,
            lock: false,
        };
        let (mut at, mut plain_segment) = (0, false);
        loop {
            match *bytes.get(at)? {
                0x66 => e.operand16 = true,
                0x67 => e.narrow = true,
                0xf2 => e.mandatory = Mandatory::F2,
                0xf3 => e.mandatory = Mandatory::F3,
                0x64 => e.segment = Some("FS_OFFSET"),
                0x65 => e.segment = Some("GS_OFFSET"),
                0xf0 => e.lock = true,
                0x26 | 0x2e | 0x36 | 0x3e => plain_segment = true,
                _ => break,
            }
            at += 1;
        }
        // Which of two segments counts is not something that compilers ask.
        if plain_segment && e.segment.is_some() {
            return None;
        }
        if e.operand16 && e.mandatory == Mandatory::None {
            e.mandatory = Mandatory::P66;
        }
        // Bits 3 of reg, index and base.
        let (mut r, mut x, mut b) = (0, 0, 0);
        match *bytes.get(at)? {
            rex @ 0x40..=0x4f => {
                (e.rex, e.wide, e.upper) = (true, rex & 8 != 0, rex & 1 != 0);
                (r, x, b) = (rex & 4, (rex & 2) << 1, (rex & 1) << 2);
                at += 1;
            }
            prefix @ (0xc4 | 0xc5) => {
                let first = *bytes.get(at + 1)?;
                r = (!first & 0x80) >> 5;
                let mut last = first;
                e.map = Map::Two;
                if prefix == 0xc4 {
                    (x, b) = ((!first & 0x40) >> 4, (!first & 0x20) >> 3);
                    e.map = [Map::Two, Map::Three38, Map::Three3A].get(usize::from(first & 31).checked_sub(1)?).copied()?;
                    at += 1;
                    last = *bytes.get(at + 1)?;
                    e.wide = last & 0x80 != 0;
                }
                e.vex = Some(Vex { long: last & 4 != 0, source: usize::from(!last >> 3 & 15) });
                e.mandatory = [Mandatory::None, Mandatory::P66, Mandatory::F3, Mandatory::F2][usize::from(last & 3)];
                at += 2;
            }
            // EVEX, and XOP, which shares its first byte with `pop`.
            0x62 => return None,
            0x8f if bytes.get(at + 1)? & 0x1f >= 8 => return None,
            _ => {}
        }
        e.opcode = *bytes.get(at)?;
        at += 1;
        if e.vex.is_none() && e.opcode == 0x0f {
            e.map = Map::Two;
            e.opcode = *bytes.get(at)?;
            at += 1;
            if let 0x38 | 0x3a = e.opcode {
                e.map = if e.opcode == 0x38 { Map::Three38 } else { Map::Three3A };
                e.opcode = *bytes.get(at)?;
                at += 1;
            }
        }
        if has_modrm(e.map, e.opcode) {
            let modrm = *bytes.get(at)?;
            e.reg = usize::from(modrm >> 3 & 7 | r << 1);
            at += 1;
            let rm = modrm & 7;
            e.rm = match modrm >> 6 {
                3 => Rm::Register(usize::from(rm | b << 1)),
                mode => {
                    let mut address = Address {
                        base: None,
                        index: None,
                        scale: 1,
                        displacement: 0,
                        relative: false,
                        segment: e.segment,
                        narrow: e.narrow,
                    };
                    at = e.memory(&mut address, bytes, at, (mode, rm, x, b))?;
                    Rm::Memory(address)
                }
            };
        }
        e.immediate = bytes.get(at..)?.last().copied();
        // What REX adds to fields that are part of the opcode does not count.
        if form::in_reg(e.map, e.opcode) {
            e.reg &= 7;
        }
        if let Rm::Register(n) = &mut e.rm
            && form::in_rm(e.map, e.opcode)
        {
            *n &= 7;
        }
        Some(e)
    }

    /// The rest of a memory operand, from the byte behind ModRM on; where the next part begins.
    fn memory(&mut self, a: &mut Address, bytes: &[u8], mut at: usize, (mode, rm, x, b): (u8, u8, u8, u8)) -> Option<usize> {
        let mut size = [0, 1, 4][usize::from(mode)];
        let mut base = rm;
        if rm == 4 {
            let sib = *bytes.get(at)?;
            at += 1;
            let index = usize::from(sib >> 3 & 7 | x << 1);
            self.index = index;
            a.scale = 1 << (sib >> 6);
            a.index = (index != 4).then_some((index, a.scale));
            base = sib & 7;
        }
        if base == 5 && mode == 0 {
            size = 4;
            a.relative = rm == 5;
        } else {
            a.base = Some(usize::from(base | b << 1));
        }
        let displacement = bytes.get(at..at + size)?;
        a.displacement = match *displacement {
            [] => 0,
            [byte] => i64::from(byte as i8),
            [p, q, r, s] => i64::from(i32::from_le_bytes([p, q, r, s])),
            _ => return None,
        };
        Some(at + size)
    }
}
