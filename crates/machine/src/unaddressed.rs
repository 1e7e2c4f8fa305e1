//! Variables that only the instructions that name them reach, because nothing in the program holds or computes their addresses.
//!
//! Each place of a static program at a fixed address is looked at where four or eight bytes could be such an address. If they are the operand
//! of an instruction that names the variable directly (`mov 0x10704(%rip),%rax`), they are an access. Otherwise, or if the instruction is
//! `lea`, or a writing one of the C library, the address counts as taken, and so does that of a variable's end. So what is found is never too much, however the bytes are cut into
//! instructions. Arrays and structures are left out: compilers name them by addresses before them (`a[i - 1]`).

use wryneck_ir::code_source::Unaddressed;

use crate::elf::{Elf, Segment};

/// The function of the compiler's own start that is called at the end, and its variable, which it alone accesses.
const AT_END: &str = "__do_global_dtors_aux";
const DONE: &str = "completed.";

fn is_of_start(name: &str) -> bool {
    name.strip_prefix(DONE).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The variables of the program itself that nobody has the address of. Cost: a pass over the program's bytes.
pub fn unaddressed(elf: &Elf) -> Vec<Unaddressed> {
    // A loader or the start code of a program that moves would write addresses, and libraries find variables by name.
    if elf.interpreter.is_some() || !elf.is_program || elf.base != 0 {
        return Vec::new();
    }
    let all = elf.written().into_iter().filter(|data| matches!(data.size, 1 | 2 | 4 | 8));
    let of_start = elf.symbols.iter().filter(|symbol| !symbol.code && symbol.library && symbol.size == 1 && is_of_start(&symbol.name));
    let variables = all.map(|data| (data.address, data.size)).chain(of_start.map(|symbol| (symbol.address, symbol.size)));
    let mut variables: Vec<Unaddressed> = variables.map(|(address, size)| Unaddressed { address, size, written: false }).collect();
    variables.sort_unstable_by_key(|variable| variable.address);
    variables.dedup_by(|next, before| next.address < before.address + before.size);
    let mut found = Found { taken: Vec::new(), variables };
    found.taken.resize(found.variables.len(), false);
    for segment in &elf.segments {
        found.words(segment);
        if segment.executable {
            found.operands(elf, segment);
        } else {
            found.halves(segment);
        }
    }
    let kept = found.variables.into_iter().zip(found.taken).filter(|(_, taken)| !taken);
    kept.map(|(variable, _)| variable).collect()
}

struct Found {
    /// By address, apart.
    variables: Vec<Unaddressed>,
    taken: Vec<bool>,
}

impl Found {
    fn variable(&self, address: u64) -> Option<usize> {
        let at = self.variables.partition_point(|v| v.address <= address).checked_sub(1)?;
        (address - self.variables[at].address < self.variables[at].size).then_some(at)
    }

    /// The address is in the program: the variable that it is in may be reached by it, and so may one that ends there.
    fn take(&mut self, address: u64) {
        let behind = self.variables.partition_point(|v| v.address <= address);
        for at in behind.saturating_sub(2)..behind {
            let variable = &self.variables[at];
            self.taken[at] |= address - variable.address <= variable.size;
        }
    }

    /// Eight bytes that are an address.
    fn words(&mut self, segment: &Segment) {
        for word in segment.bytes.windows(8) {
            self.take(u64::from_le_bytes(std::array::from_fn(|i| word[i])));
        }
    }

    /// Four bytes of data that are one.
    fn halves(&mut self, segment: &Segment) {
        for half in segment.bytes.windows(4) {
            self.take(half_word(half).into());
        }
    }

    /// Four bytes of code that are one, or the distance of one from the instruction's end.
    fn operands(&mut self, elf: &Elf, segment: &Segment) {
        for (at, half) in segment.bytes.windows(4).enumerate() {
            let (number, before) = (half_word(half), &segment.bytes[..at]);
            // ModRM and SIB of an absolute address without registers.
            let opcode = match before {
                [opcode @ .., modrm, 0x25] if modrm & 0xc7 == 0x04 => Some((opcode, *modrm)),
                _ => None,
            };
            self.access(elf, segment.base + at as u64, number.into(), opcode);
            if let [opcode @ .., modrm] = before
                && modrm & 0xc7 == 0x05
            {
                // An immediate operand may come between the distance and the instruction's end.
                for immediate in [0, 1, 2, 4] {
                    let end = segment.base + at as u64 + 4 + immediate;
                    self.access(elf, segment.base + at as u64, end.wrapping_add_signed((number as i32).into()), Some((opcode, *modrm)));
                }
            }
        }
    }

    /// Bytes of code at `at` that are the address of a variable, as the operand of the instruction whose opcode ends these bytes, with this ModRM.
    fn access(&mut self, elf: &Elf, at: u64, address: u64, opcode: Option<(&[u8], u8)>) {
        match opcode {
            Some((opcode, modrm)) if opcode.last() != Some(&LEA) => {
                let Some(variable) = self.variable(address) else { return };
                let writes = !only_reads(opcode, modrm);
                self.variables[variable].written |= writes;
                // What functions of the C library write is said of them as a whole.
                let of_start = elf.function(at).is_some_and(|function| function.name == AT_END);
                self.taken[variable] |= writes && elf.is_library(at) && !of_start;
            }
            Some(_) | None => self.take(address),
        }
    }
}

const LEA: u8 = 0x8d;

/// Whether the instruction whose opcode ends these bytes is one that is known not to write its memory operand.
fn only_reads(bytes: &[u8], modrm: u8) -> bool {
    let [before @ .., opcode] = bytes else { return false };
    // The operation that some opcodes have in ModRM.
    let number = modrm >> 3 & 7;
    if before.len() >= 4 && before[before.len() - 4] == EVEX {
        return false;
    }
    match (before.last(), opcode) {
        // movzx, movsx
        (Some(0x0f), 0xb6 | 0xb7 | 0xbe | 0xbf) => true,
        (Some(0x0f), _) => false,
        // mov, cmp, test, movsxd
        (_, 0x8b | 0x38..=0x3b | 0x84 | 0x85 | 0x63) => true,
        (_, 0x80 | 0x81 | 0x83) => number == 7,
        (_, 0xf6 | 0xf7) => number == 0,
        // call, jmp, push
        (_, 0xff) => matches!(number, 2 | 4 | 6),
        _ => false,
    }
}

const EVEX: u8 = 0x62;

fn half_word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
