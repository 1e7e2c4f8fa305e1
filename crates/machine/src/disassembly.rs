//! Disassembly for programs without debug information: the instructions around an address, in the CPU manual's notation, with symbols.
//!
//! x86 instructions have no marked beginnings, so decoding starts at the function's first instruction. In a function without a symbol, or
//! a very long one, it starts at the address itself.

use crate::MachineProgram;
use crate::elf::Elf;
use crate::pcode::{Decoder, Instruction};

/// Bytes between the beginning of a function and an address in it, above which the function is not decoded from its beginning.
const FAR: u64 = 1 << 16;

/// An instruction in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub address: u64,
    /// The function, and the distance from its beginning.
    pub place: String,
    /// Mnemonic and operands; what they name is in `<>`.
    pub text: String,
}

impl MachineProgram {
    /// The instruction at an address of the program's files, if code may be there.
    pub fn instruction(&self, address: u64) -> Option<Instruction> {
        self.decoder.decode(address, bytes_at(&self.elf, address)?).ok()
    }

    /// The instructions around the one at an address: this many before it and after it.
    pub fn disassembled(&self, address: u64, before: usize, behind: usize) -> Vec<Line> {
        around(&self.elf, &self.decoder, address, before, behind)
    }
}

/// The bytes at an address that an instruction there may have, if code may be there.
fn bytes_at(elf: &Elf, address: u64) -> Option<&[u8]> {
    let segment = elf.segment(address).filter(|s| s.executable)?;
    let rest = segment.bytes.get(usize::try_from(address - segment.base).ok()?..)?;
    Some(&rest[..rest.len().min(elf.cpu.max_instruction)])
}

/// The instruction at an address, and so many before and after it in its function. Empty if there is no code.
pub fn around(elf: &Elf, decoder: &Decoder, address: u64, before: usize, behind: usize) -> Vec<Line> {
    let begins = |at: u64| elf.function(at).map(|f| f.address);
    let own = begins(address);
    let mut at = own.filter(|first| address - first <= FAR).unwrap_or(address);
    let (mut lines, mut here) = (Vec::new(), None);
    while here.is_none_or(|here| lines.len() <= here + behind) && begins(at) == own {
        // Data among code: decode from the address itself.
        if here.is_none() && at > address {
            lines.clear();
            at = address;
        }
        let Some((line, next)) = line(elf, decoder, at) else { break };
        if at == address {
            here = Some(lines.len());
        }
        lines.push(line);
        at = next;
    }
    let first = here.unwrap_or(lines.len()).saturating_sub(before);
    lines.split_off(first)
}

/// An instruction in words, and the address after it.
fn line(elf: &Elf, decoder: &Decoder, address: u64) -> Option<(Line, u64)> {
    let bytes = bytes_at(elf, address)?;
    let next = decoder.decode(address, bytes).ok()?.next();
    let (mnemonic, operands) = decoder.text(address, bytes);
    let text = format!("{:<8}{}", mnemonic.to_lowercase(), operands.to_lowercase().replace(',', ", ").replace("+ -", "- "));
    let named = operands.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| name(elf, word)).next();
    let name = named.map_or(String::new(), |name| format!(" <{name}>"));
    Some((Line { address, place: elf.place_name(address), text: format!("{}{name}", text.trim_end()) }, next))
}

/// What is at the address that a word is.
fn name(elf: &Elf, word: &str) -> Option<String> {
    let address = u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
    let segment = elf.segment(address)?;
    let data = || elf.symbols.iter().find(|s| s.address == address && !s.code).map(|s| s.name.clone());
    Some(if segment.executable { elf.place_name(address) } else { data().unwrap_or(segment.name.clone()) })
}
