//! Encodings of every form there may be: prefixes, maps, opcodes and the part of ModRM that belongs to the opcode, all combined;
//! registers, addresses and immediates at random. Which of them are instructions is for a disassembler and the CPU to say.

use std::collections::BTreeMap;

use wryneck_machine::cpu::x86_64::form::Form;

use crate::random::Random;
use crate::state::WINDOW;

/// Legacy prefixes that change what an instruction does.
const PREFIXES: &[&[u8]] = &[&[], &[0x66], &[0xf3], &[0xf2], &[0x66, 0xf3], &[0x66, 0xf2], &[0xf0], &[0x66, 0xf0]];
/// Bytes behind the prefixes, up to the opcode.
const MAPS: &[&[u8]] = &[&[], &[0x0f], &[0x0f, 0x38], &[0x0f, 0x3a]];

/// One-byte opcodes that are no opcodes (prefixes, escapes), and those that nobody may run: they call or leave the system.
fn is_excluded(map: usize, opcode: u8, modrm: u8) -> bool {
    match map {
        0 => {
            matches!(opcode, 0x0f | 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x62 | 0x64..=0x67 | 0xc4 | 0xc5 | 0xcd | 0xcf | 0xf0..=0xf3)
        }
        1 => {
            matches!(opcode, 0x07 | 0x34 | 0x35 | 0x38 | 0x3a | 0x3b..=0x3f)
                || opcode == 0x01 && modrm >= 0xc0 && !matches!(modrm, 0xd0 | 0xf9)
        }
        _ => false,
    }
}

/// ModRM, SIB and displacement with this register field, in a register or in memory.
fn operands((reg, memory, rm): (u8, bool, u8), random: &mut Random) -> Vec<u8> {
    let any = |random: &mut Random, n| random.below(n) as u8;
    if !memory {
        return vec![0xc0 | reg << 3 | rm];
    }
    let displacement = |random: &mut Random, bytes: usize| random.word().to_le_bytes()[..bytes].to_vec();
    match random.below(4) {
        0 => {
            let base = [0, 1, 2, 3, 6, 7][random.below(6) as usize];
            vec![reg << 3 | base]
        }
        1 => {
            let base = [0, 1, 2, 3, 5, 6, 7][random.below(7) as usize];
            [vec![0x40 | reg << 3 | base], displacement(random, 1)].concat()
        }
        // With an index.
        2 => [
            vec![0x44 | reg << 3, any(random, 4) << 6 | [0, 1, 2, 3, 5, 6, 7][random.below(7) as usize] << 3 | any(random, 4)],
            displacement(random, 1),
        ]
        .concat(),
        // From the next instruction on; the case writes it anew.
        _ => [vec![reg << 3 | 5], displacement(random, 4)].concat(),
    }
}

/// An encoding without VEX, with random bytes behind.
fn legacy(prefix: &[u8], wide: bool, map: usize, opcode: u8, operand: (u8, bool, u8), random: &mut Random) -> Option<Vec<u8>> {
    let operands = operands(operand, random);
    if is_excluded(map, opcode, operands[0]) {
        return None;
    }
    let mut bytes = prefix.to_vec();
    let rex = 0x40 | u8::from(wide) << 3 | if random.below(2) == 0 { random.below(8) as u8 } else { 0 };
    if wide || rex != 0x40 || random.below(4) == 0 {
        bytes.push(rex);
    }
    bytes.extend(MAPS[map]);
    bytes.push(opcode);
    if map == 0 && (0xa0..=0xa3).contains(&opcode) {
        bytes.extend((WINDOW + 128).to_le_bytes());
        return Some(bytes);
    }
    bytes.extend(operands);
    Some(bytes)
}

/// An encoding with VEX. Most instructions of two operands exist only where the extra register is all ones.
fn vex(fields: u8, (wide, extra): (bool, u8), map: usize, opcode: u8, operand: (u8, bool, u8), random: &mut Random) -> Vec<u8> {
    let high = random.below(8) as u8;
    let third = u8::from(wide) << 7 | extra << 3 | fields;
    [vec![0xc4, high << 5 | map as u8, third, opcode], operands(operand, random)].concat()
}

/// Up to `each` encodings of every form, cut to the length that `length` says (none where it does not decode them).
pub fn all(
    each: usize,
    wanted: &dyn Fn(Form) -> bool,
    length: &dyn Fn(&[u8]) -> Option<usize>,
    random: &mut Random,
) -> BTreeMap<Form, Vec<Vec<u8>>> {
    let mut forms: BTreeMap<Form, Vec<Vec<u8>>> = BTreeMap::new();
    let mut add = |bytes: Vec<u8>, random: &mut Random| {
        let mut bytes = bytes;
        while bytes.len() < 15 {
            bytes.push(random.word() as u8);
        }
        let Some(form) = Form::of(&bytes).filter(|form| wanted(*form)) else { return };
        let there = forms.entry(form).or_default();
        if there.len() < each
            && let Some(length) = length(&bytes)
        {
            bytes.truncate(length);
            there.push(bytes);
        }
    };
    for opcode in 0..=255 {
        for reg in 0..8 {
            for memory in [false, true] {
                for wide in [false, true] {
                    // Of some opcodes the register operand is a part, too.
                    let rounds = if matches!(opcode, 0x01 | 0x1e | 0xae | 0xd8..=0xdf) { 8 } else { each.div_ceil(8).max(1) as u8 };
                    for round in 0..rounds {
                        let rm = if rounds == 8 { round } else { random.below(8) as u8 };
                        let operand = (reg, memory, rm);
                        for map in 0..MAPS.len() {
                            for prefix in PREFIXES {
                                legacy(prefix, wide, map, opcode, operand, random).into_iter().for_each(|bytes| add(bytes, random));
                            }
                        }
                        for map in 1..=3 {
                            for fields in 0..8 {
                                for extra in [15, random.below(15) as u8] {
                                    let bytes = vex(fields, (wide, extra), map, opcode, operand, random);
                                    add(bytes, random);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    forms
}
