//! SLEIGH: decodes instructions to p-code by a processor's specification.
//!
//! A specification consists of constructors. Each one matches bits of the instruction and of the context, and has operands (registers,
//! numbers, other constructors) and a template of p-code. An instruction is a tree of constructors ([`parse`]). The tree determines its
//! operands and p-code ([`emit`]), and its assembler text ([`text`]).
//!
//! The build lays out the compiled specification as words ([`layout`], `build/`), which are read in place: nothing is loaded, and the
//! decoder touches only what an instruction needs. Ghidra's own decoder is the oracle (`tests/sleigh.rs`). Delay slots, p-code from other
//! instructions, and contexts set for other instructions are not implemented: none of our CPUs has them.

mod emit;
#[allow(dead_code, reason = "the build script's half")]
mod layout;
mod parse;
mod text;

use crate::pcode::{Pcode, Space};
use layout::{NONE, header, space};
use parse::Parse;

/// Why bytes are no instruction that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("no instruction is encoded like this")]
    NoInstruction,
    #[error("the instruction has more than 16 bytes")]
    TooLong,
    #[error("the instruction goes on behind the {0} bytes that are there")]
    CutOff(usize),
    #[error("the instruction has no p-code")]
    NoPcode,
    #[error("the instruction needs more of SLEIGH than others do")]
    Unknown,
}

/// Bytes where words may be.
#[repr(C, align(4))]
pub struct Aligned<const N: usize>(pub [u8; N]);

impl<const N: usize> Aligned<N> {
    /// The words: the build writes them as the machine it builds for has them.
    pub fn words(&self) -> &[u32] {
        bytemuck::cast_slice(&self.0)
    }
}

/// A space of the specification.
#[derive(Clone, Copy, Debug)]
struct SpaceRow {
    kind: Space,
    highest: u64,
}

/// Where a record begins.
type At = u32;

/// A specification, laid out as words.
pub struct Specification {
    words: &'static [u32],
    spaces: Vec<SpaceRow>,
    /// What the context is before an instruction is looked at.
    context: Vec<u32>,
    tables: At,
    constructors: At,
}

impl Specification {
    /// The specification that the build laid out.
    pub fn new(words: &'static [u32]) -> Specification {
        let mut s = Specification { words, spaces: Vec::new(), context: Vec::new(), tables: 0, constructors: 0 };
        (s.tables, s.constructors) = (s.word(header::TABLES), s.word(header::CONSTRUCTORS));
        let (context, spaces) = (s.word(header::CONTEXT), s.word(header::SPACES));
        s.context = (1..=s.word(context)).map(|i| s.word(context + i)).collect();
        let row = |n: u32| {
            let at = spaces + 1 + layout::SPACE_WORDS * n;
            let kind = match s.word(at) {
                space::CONST => Space::Const,
                space::REGISTER => Space::Register,
                space::UNIQUE => Space::Unique,
                _ => Space::Memory,
            };
            SpaceRow { kind, highest: s.wide(at + 1) }
        };
        let rows = (0..s.word(spaces)).map(row).collect();
        s.spaces = rows;
        s
    }

    /// The p-code of the instruction that the bytes begin with, and its length in bytes.
    pub fn decode(&self, address: u64, bytes: &[u8]) -> Result<(usize, Vec<Pcode>), DecodeError> {
        let mut parse = Parse::of(self, address, bytes)?;
        let ops = emit::pcode(&mut parse)?;
        Ok((parse.length(), ops))
    }

    /// Mnemonic and operands of the instruction that the bytes begin with.
    pub fn text(&self, address: u64, bytes: &[u8]) -> Result<(String, String), DecodeError> {
        text::of(&Parse::of(self, address, bytes)?)
    }

    /// A register's first byte in the register space and its size in bytes.
    pub fn register(&self, name: &str) -> Option<(u64, u32)> {
        let (rows, count) = (self.word(header::REGISTERS), self.word(header::REGISTER_COUNT));
        let row = |n: u32| rows + layout::REGISTER_WORDS * n;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if self.text_at(self.word(row(middle))) < name.as_bytes() { low = middle + 1 } else { high = middle }
        }
        let found = (low < count && self.text_at(self.word(row(low))) == name.as_bytes()).then(|| row(low))?;
        Some((self.wide(found + 2), self.word(found + 4)))
    }

    fn word(&self, at: At) -> u32 {
        self.words.get(at as usize).copied().unwrap_or(NONE)
    }

    /// A number of two words.
    fn wide(&self, at: At) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 1)) << 32
    }

    /// The bytes of a text.
    fn text_at(&self, at: At) -> &'static [u8] {
        let words = self.words.get(at as usize + 1..).unwrap_or_default();
        bytemuck::cast_slice(words).get(..self.word(at) as usize).unwrap_or_default()
    }

    fn constructor(&self, number: u32) -> At {
        self.word(self.constructors + number)
    }

    /// The record of a constructor's operand.
    fn operand(&self, constructor: At, number: u32) -> At {
        self.word(constructor + layout::constructor::LISTS + number)
    }

    /// Number of the space of constants.
    const CONSTANTS: u32 = 0;

    fn space(&self, number: u32) -> SpaceRow {
        self.spaces.get(number as usize).copied().unwrap_or(SpaceRow { kind: Space::Memory, highest: u64::MAX })
    }

    /// The offset, as the space counts.
    fn wrapped(&self, space: u32, offset: u64) -> u64 {
        // The number of offsets is a power of 2.
        offset & self.space(space).highest
    }
}
