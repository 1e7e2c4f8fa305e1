//! Loading as the kernel does it: the executable, and the interpreter that it names, which then loads the rest itself.
//!
//! Beside its arguments a program gets the auxiliary vector (System V x86-64 ABI, section 3.4.3).

use std::ops::Range;

use crate::calls::Shadowed;
use crate::elf::{Elf, INTERPRETER_BASE};
use crate::error::MachineError;

/// First address of the room for the first thread's stack, and its size in bytes.
pub const STACK: u64 = 0x7ffe_0000_0000;
pub const STACK_SIZE: u64 = 8 << 20;
/// Threads beside the first that have room for a stack, which lies below that of the first. The highest page of a room is not used.
pub const THREADS: u64 = 31;
pub const ROOM: u64 = 16 << 20;
/// All stacks, and where their shadow is.
pub const SHADOWED: Shadowed =
    Shadowed { base: STACK - THREADS * ROOM, size: THREADS * ROOM + STACK_SIZE, shadow: STACK - (1 << 32), rooms: (THREADS, ROOM) };

/// A program in memory, about to begin.
pub struct Process {
    pub elf: Elf,
    /// The rows of the auxiliary vector that say where the program is.
    pub auxiliary: Vec<(u64, u64)>,
    /// The addresses of its own file, and of the one that loads it, if another one does.
    pub program: Range<u64>,
    pub loader: Option<Range<u64>>,
}

const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_BASE: u64 = 7;
const AT_FLAGS: u64 = 8;
const AT_ENTRY: u64 = 9;

/// Gives the bytes of the program at a path.
pub type ReadFile<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<Vec<u8>, E>;

impl Process {
    /// Loads an executable from its bytes; `read` is asked for the interpreter.
    pub fn load<E: From<MachineError>>(file: &[u8], read: ReadFile<'_, E>) -> Result<Process, E> {
        let mut elf = Elf::parse(file)?;
        if !elf.is_program {
            return Err(MachineError::SharedLibrary.into());
        }
        let (entry, headers) = (elf.entry, elf.headers);
        let (program, mut base, mut loader) = (addresses(&elf), 0, None);
        if let Some(path) = elf.interpreter.take() {
            let interpreter = Elf::parse_at(&read(&path)?, INTERPRETER_BASE)?;
            if interpreter.interpreter.is_some() {
                return Err(MachineError::Interpreter(String::from_utf8_lossy(&path).into_owned()).into());
            }
            (base, elf.entry) = (interpreter.base, interpreter.entry);
            loader = Some(addresses(&interpreter)).filter(|range| !range.is_empty());
            elf.join(interpreter)?;
        }
        let auxiliary = vec![
            (AT_PHDR, headers.address),
            (AT_PHENT, headers.size),
            (AT_PHNUM, headers.count),
            (AT_BASE, base),
            (AT_FLAGS, 0),
            (AT_ENTRY, entry),
        ];
        Ok(Process { elf, auxiliary, program, loader })
    }
}

/// From a file's first segment to its last.
fn addresses(elf: &Elf) -> Range<u64> {
    elf.segments.first().zip(elf.segments.last()).map_or(0..0, |(first, last)| first.base..last.base + last.size)
}
