//! Bounds without debug information: of variables by the sizes of their symbols, and of frames, so that saved registers and the return
//! address are another object.
//!
//! In a function with a frame pointer, the first instructions give the frame's size (System V x86-64 ABI, figure 3.3). Compilers emit a
//! frame pointer where they do not optimise. For other functions the unwinding tables give the canonical frame address and the registers
//! saved below it (DWARF 5, 6.4). One look at each function's first instructions, and one at its rows of the table.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, FrameDescriptionEntry, LittleEndian, Reader, RegisterRule, UnwindContext,
    UnwindSection,
};
use wryneck_ir::CodeObject;

use crate::cpu::Cpu;
use crate::elf::{Elf, Symbol};
use crate::variables::{Function, Placed, Variables, find, join, order};

/// What a function may use below the stack pointer.
const RED_ZONE: u64 = 128;
/// Larger frames (bytes) are ignored as implausible.
const MAX_FRAME: i64 = 1 << 31;

/// A function's frame, from its first instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Length of the code (bytes) that sets the frame pointer.
    set: u64,
    /// Bytes right below the frame pointer that hold saved registers, and bytes of variables below.
    saved: u64,
    variables: u64,
}

impl Frame {
    /// Reads `push %rbp; mov %rsp,%rbp`, more pushes, `sub $N,%rsp`.
    fn of(code: &[u8]) -> Option<Frame> {
        let landed = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
        let pushed = landed.strip_prefix(&[0x55])?;
        let mut rest = pushed.strip_prefix(&[0x48, 0x89, 0xe5]).or_else(|| pushed.strip_prefix(&[0x48, 0x8b, 0xec]))?;
        let (set, mut saved) = ((code.len() - rest.len()) as u64, 0);
        loop {
            rest = match rest {
                [0x53, rest @ ..] | [0x41, 0x54..=0x57, rest @ ..] => rest,
                _ => break,
            };
            saved += 8;
        }
        let variables = match rest {
            [0x48, 0x83, 0xec, size, ..] => u64::from(*size),
            [0x48, 0x81, 0xec, a, b, c, d, ..] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            // The stack is realigned.
            [0x48, 0x83, 0xe4, ..] => return None,
            _ => RED_ZONE,
        };
        // A negative size is no size.
        (variables < 1 << 31 && (rest.get(1) != Some(&0x83) || variables < 128)).then_some(Frame { set, saved, variables })
    }
}

/// Whether a function of the program itself reads a saved frame pointer other than to restore it, as `__builtin_frame_address (1)` does:
/// `mov (%rbp),REGISTER`. By such addresses it may access the variables of its callers.
pub fn are_walked(elf: &Elf) -> bool {
    let reads = |code: &[u8]| matches!(code, [0x48 | 0x4c, 0x8b, modrm, 0] if modrm & 0xc7 == 0x45);
    elf.segments.iter().filter(|segment| segment.executable).any(|segment| {
        let mut places = (segment.base..).zip(segment.bytes.windows(4));
        places.any(|(address, code)| reads(code) && !elf.is_library(address))
    })
}

/// The unwinding information of a function that addresses its frame by the stack pointer.
struct Unwound {
    /// Where the canonical frame address is the stack pointer plus a distance.
    rows: Vec<(u64, u64, i64)>,
    /// Bytes right below the canonical frame address that hold the return address and saved registers, and bytes of the frame, these included.
    saved: u64,
    depth: u64,
}

impl Unwound {
    fn of<R: Reader<Offset = usize>>(
        table: &EhFrame<R>,
        bases: &BaseAddresses,
        fde: &FrameDescriptionEntry<R>,
        cpu: &Cpu,
    ) -> Option<Unwound> {
        let stack_pointer = cpu.dwarf_registers.iter().position(|name| *name == cpu.stack_pointer)?;
        let mut context = UnwindContext::new();
        let mut table = fde.rows(table, bases, &mut context).ok()?;
        let (mut rows, mut saved, mut depth) = (Vec::new(), 8, 8);
        while let Some(row) = table.next_row().ok()? {
            let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
            if usize::from(register.0) != stack_pointer || !(8..MAX_FRAME).contains(offset) {
                return None;
            }
            rows.push((row.start_address(), row.end_address(), *offset));
            depth = depth.max(*offset as u64);
            let below = |rule: &RegisterRule<usize>| if let RegisterRule::Offset(at) = rule { at.checked_neg() } else { None };
            let deepest = row.registers().filter_map(|(_, rule)| below(rule)).max().unwrap_or(8);
            saved = saved.max(u64::try_from(deepest).ok()?);
        }
        (saved <= depth).then_some(Unwound { rows, saved, depth })
    }
}

/// What is done with a function's part of the unwinding tables.
type Each<'a> = &'a mut dyn FnMut(&EhFrame<Section<'_>>, &BaseAddresses, &FrameDescriptionEntry<Section<'_>>);

/// A section of a file.
type Section<'a> = EndianSlice<'a, LittleEndian>;

/// Calls `each` with the functions of the unwinding tables.
fn for_each_unwound(elf: &Elf, each: Each<'_>) {
    for section in elf.segments.iter().filter(|s| s.name == ".eh_frame") {
        let bases = BaseAddresses::default().set_eh_frame(section.base);
        let table = EhFrame::new(&section.bytes, LittleEndian);
        let mut entries = table.entries(&bases);
        // Nothing is known after a damaged part.
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
            each(&table, &bases, &fde);
        }
    }
}

/// The addresses right behind functions, ascending: by their symbols, and by the unwinding tables.
pub fn ends(elf: &Elf) -> Vec<u64> {
    let by_symbols = elf.symbols.iter().filter(|s| s.code && s.size > 0).map(|s| s.address.saturating_add(s.size));
    let mut all: Vec<u64> = by_symbols.collect();
    for_each_unwound(elf, &mut |_, _, fde| all.push(fde.end_address()));
    all.sort_unstable();
    all
}

impl Variables {
    /// Adds the frames of program functions without debug information, and, if there is such code, the program's variables.
    pub fn add_known_by_symbols(&mut self, elf: &Elf) {
        let functions = elf.symbols.iter().filter(|s| s.code && !s.library && s.size > 0);
        let unknown: Vec<(&Symbol, Frame)> =
            functions.filter(|s| !self.knows(s.address)).filter_map(|s| Some((s, Frame::of(code(elf, s)?)?))).collect();
        if unknown.is_empty() {
            return;
        }
        for (symbol, Frame { set, saved, variables }) in unknown {
            let start = (saved + variables).wrapping_neg();
            let number =
                self.add(format!("the frame of {}", symbol.name), variables, "the frame pointer", Some((saved + variables + 8) as i64));
            let (low, high) = (symbol.address, symbol.address.saturating_add(symbol.size));
            let locals = vec![Placed { start, size: variables, number, ends: false, scalar: false, pointer: false, scope: Vec::new() }];
            self.functions.push(Function {
                low,
                high,
                back: 8,
                bases: vec![(low + set, high, 0)],
                stack_bases: Vec::new(),
                locals,
                apart: false,
            });
        }
        self.functions.sort_by_key(|f| f.low);
        let mut last = None;
        for s in elf.symbols.iter().filter(|s| !s.code && s.size > 0) {
            if find(&self.statics, s.address, 0).is_none() && last != Some(s.address) {
                let own = || (s.name.clone(), s.address, elf.data(s.address).map_or(s.size, |largest| largest.size));
                let (name, start, size) = elf.array(s.address).unwrap_or_else(own);
                let number = self.add(name, size, "its symbol", None);
                self.statics.push(Placed { start, size, number, ends: true, scalar: false, pointer: false, scope: Vec::new() });
                last = Some(s.address);
            }
        }
        order(&mut self.statics);
        join(&self.statics, &mut self.objects);
    }

    /// Adds the frames of the remaining program functions from unwinding tables, if these give the canonical
    /// frame address as the stack pointer plus a distance throughout the function.
    pub fn add_known_by_unwinding(&mut self, elf: &Elf) {
        let mut found = Vec::new();
        for_each_unwound(elf, &mut |table, bases, fde| {
            let (low, high) = (fde.initial_address(), fde.end_address());
            let own = elf.function(low).filter(|f| !f.library && !self.knows(low));
            found.extend(own.and_then(|f| Some((low, high, f.name.clone(), Unwound::of(table, bases, fde, elf.cpu)?))));
        });
        for (low, high, name, Unwound { rows, saved, depth }) in found {
            let size = if depth == saved { RED_ZONE } else { depth - saved };
            let start = (saved + size).wrapping_neg();
            let number = self.add(format!("the frame of {name}"), size, "the unwinding tables", Some((saved + size) as i64 - 8));
            let locals = vec![Placed { start, size, number, ends: false, scalar: false, pointer: false, scope: Vec::new() }];
            self.functions.push(Function { low, high, back: -8, bases: Vec::new(), stack_bases: rows, locals, apart: false });
        }
        self.functions.sort_by_key(|f| f.low);
    }

    fn add(&mut self, name: String, size: u64, known_by: &'static str, back: Option<i64>) -> u32 {
        self.objects.push(CodeObject { name, size, before: 0, known_by });
        self.backs.push(back);
        self.objects.len() as u32 - 1
    }
}

/// Whether a function keeps a frame pointer, from its first instructions.
pub(crate) fn keeps_frame_pointer(elf: &Elf, symbol: &Symbol) -> bool {
    code(elf, symbol).and_then(Frame::of).is_some()
}

/// A function's code.
fn code<'e>(elf: &'e Elf, symbol: &Symbol) -> Option<&'e [u8]> {
    let segment = elf.segment(symbol.address)?;
    let code = segment.bytes.get((symbol.address - segment.base) as usize..)?;
    Some(&code[..code.len().min(symbol.size as usize)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_from_first_instructions() {
        let frame = |set, saved, variables| Some(Frame { set, saved, variables });
        assert_eq!(Frame::of(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0xc3]), frame(4, 0, 64));
        let landing = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, 0x48, 0x81, 0xec, 0, 1, 0, 0];
        assert_eq!(Frame::of(&landing), frame(8, 16, 256));
        assert_eq!(Frame::of(&[0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3]), frame(4, 0, RED_ZONE));
        assert_eq!(Frame::of(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0]), None);
        assert_eq!(Frame::of(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x80]), None);
        assert_eq!((Frame::of(&[0x53, 0xc3]), Frame::of(&[]), Frame::of(&[0x55])), (None, None, None));
    }
}
