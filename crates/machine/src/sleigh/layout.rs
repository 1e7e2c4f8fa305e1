//! The layout of a specification as words of 32 bits, shared by the build script that writes it and the decoder that reads it.
//!
//! Everything is a record of words at an index. Records refer to each other by index, and equal records are stored once. Tables (the
//! choices among constructors) and constructors refer to each other in cycles, so they have numbers, and two lists map the numbers to
//! records. Numbers of 64 bits are two words, the low one first. What is absent is [`NONE`].

/// Nothing.
pub const NONE: u32 = u32::MAX;

/// What the first words are: list of tables, list of constructors, list of registers and its length (by name: name, space, offset, size), the context
/// that instructions begin with (length, words), spaces (their number, kind and highest offset of each), first offset of temporaries that are free, the space of code,
/// the table of instructions.
pub mod header {
    pub const TABLES: u32 = 0;
    pub const CONSTRUCTORS: u32 = 1;
    pub const REGISTERS: u32 = 2;
    pub const REGISTER_COUNT: u32 = 3;
    pub const CONTEXT: u32 = 4;
    pub const SPACES: u32 = 5;
    pub const FREE_TEMPORARIES: u32 = 6;
    pub const CODE_SPACE: u32 = 7;
    pub const ROOT: u32 = 8;
    pub const SIZE: u32 = 9;
}

/// Words of a register's row, and of a space's.
pub const REGISTER_WORDS: u32 = 5;
pub const SPACE_WORDS: u32 = 3;

/// Kinds of spaces.
pub mod space {
    pub const CONST: u32 = 0;
    pub const MEMORY: u32 = 1;
    pub const REGISTER: u32 = 2;
    pub const UNIQUE: u32 = 3;
}

/// Nodes of decisions: bits to look at, 0 for a list of patterns and constructors; from the context; first bit; children or number of pairs and pairs.
pub mod decision {
    pub const BITS: u32 = 0;
    pub const OF_CONTEXT: u32 = 1;
    pub const FIRST_BIT: u32 = 2;
    pub const CHILDREN: u32 = 3;
    pub const PAIRS: u32 = 4;
}

/// Patterns: the block of instruction bytes and that of the context, each: whether it can match, first byte, number of pairs of mask and value.
pub mod pattern {
    pub const POSSIBLE: u32 = 0;
    pub const FIRST_BYTE: u32 = 1;
    pub const COUNT: u32 = 2;
    pub const WORDS: u32 = 3;
}

/// Constructors: then follow their operands, what they print (twice a text, or twice an operand's number and one), what they do to the context.
pub mod constructor {
    pub const MIN_LENGTH: u32 = 0;
    /// The piece that is printed between mnemonic and operands.
    pub const BLANK: u32 = 1;
    /// The only operand, if nothing else is printed.
    pub const THROUGH: u32 = 2;
    pub const TEMPLATE: u32 = 3;
    pub const OPERANDS: u32 = 4;
    pub const PIECES: u32 = 5;
    pub const CHANGES: u32 = 6;
    pub const LISTS: u32 = 7;
}

/// Operands: offset after the end of the operand `BASE`, or after the constructor's beginning.
pub mod operand {
    pub const OFFSET: u32 = 0;
    pub const BASE: u32 = 1;
    pub const MIN_LENGTH: u32 = 2;
    pub const SYMBOL: u32 = 3;
    /// The expression it is, if it is no symbol.
    pub const DEFINED: u32 = 4;
    /// The expression that it is in others.
    pub const VALUE: u32 = 5;
}

/// Changes of the context: word, shift, mask, expression.
pub mod change {
    pub const WORD: u32 = 0;
    pub const SHIFT: u32 = 1;
    pub const MASK: u32 = 2;
    pub const VALUE: u32 = 3;
}

/// Kinds of symbols, each with what follows.
pub mod symbol {
    /// Number of the table.
    pub const TABLE: u32 = 0;
    pub const EPSILON: u32 = 1;
    /// Expression.
    pub const VALUE: u32 = 2;
    /// Expression, number of values, values of 64 bits.
    pub const VALUES: u32 = 3;
    /// Expression, number of names, names.
    pub const NAMES: u32 = 4;
    /// Space, offset of 64 bits, size, name.
    pub const VARNODE: u32 = 5;
    /// Expression, number of varnodes, symbols.
    pub const VARNODES: u32 = 6;
    pub const START: u32 = 7;
    pub const NEXT: u32 = 8;
    pub const AFTER_NEXT: u32 = 9;
}

/// Values of a map that are none.
pub const NO_VALUE: u64 = 0xbad_beef;

/// Kinds of expressions, each with what follows.
pub mod expression {
    /// Big-endian, signed, first byte, last byte, shift, highest bit.
    pub const TOKEN: u32 = 0;
    /// Signed, first byte, last byte, shift, highest bit.
    pub const CONTEXT: u32 = 1;
    /// A number of 64 bits.
    pub const CONSTANT: u32 = 2;
    /// Constructor, number of the operand.
    pub const OPERAND: u32 = 3;
    pub const START: u32 = 4;
    pub const NEXT: u32 = 5;
    /// Two operands each.
    pub const ADD: u32 = 6;
    pub const SUB: u32 = 7;
    pub const MUL: u32 = 8;
    pub const SHIFT_LEFT: u32 = 9;
    pub const SHIFT_RIGHT: u32 = 10;
    pub const AND: u32 = 11;
    pub const OR: u32 = 12;
    pub const XOR: u32 = 13;
    pub const DIV: u32 = 14;
    /// One operand each.
    pub const MINUS: u32 = 15;
    pub const NOT: u32 = 16;
    pub const AFTER_NEXT: u32 = 17;
}

/// Templates of p-code: number of labels, bytes in the delay slot, what is exported, number of operations, operations.
pub mod template {
    pub const LABELS: u32 = 0;
    pub const DELAY: u32 = 1;
    pub const EXPORT: u32 = 2;
    pub const COUNT: u32 = 3;
    pub const OPS: u32 = 4;
}

/// What is exported, seven constants.
pub mod export {
    pub const SPACE: u32 = 0;
    pub const SIZE: u32 = 1;
    pub const POINTER_SPACE: u32 = 2;
    pub const POINTER_OFFSET: u32 = 3;
    pub const POINTER_SIZE: u32 = 4;
    pub const TEMP_SPACE: u32 = 5;
    pub const TEMP_OFFSET: u32 = 6;
}

/// Operations: code, output, number of inputs, inputs; varnodes are three constants.
pub mod operation {
    pub const CODE: u32 = 0;
    pub const OUTPUT: u32 = 1;
    pub const COUNT: u32 = 2;
    pub const INPUTS: u32 = 3;
}
pub mod varnode {
    pub const SPACE: u32 = 0;
    pub const OFFSET: u32 = 1;
    pub const SIZE: u32 = 2;
}

/// Kinds of constants in templates, each with what follows.
pub mod constant {
    /// A number of 64 bits.
    pub const REAL: u32 = 0;
    /// Operand, field, a number of 64 bits for `OFFSET_PLUS`.
    pub const HANDLE: u32 = 1;
    pub const START: u32 = 2;
    pub const NEXT: u32 = 3;
    pub const CODE_SPACE: u32 = 4;
    pub const CODE_SPACE_SIZE: u32 = 5;
    /// Number of a space.
    pub const SPACE: u32 = 6;
    /// A label, as a number of 64 bits.
    pub const LABEL: u32 = 7;
    /// What no instruction of the CPU has.
    pub const OTHER: u32 = 8;
}

/// Fields of handles.
pub mod field {
    pub const SPACE: u32 = 0;
    pub const OFFSET: u32 = 1;
    pub const SIZE: u32 = 2;
    pub const OFFSET_PLUS: u32 = 3;
}

/// Codes of operations that direct what is built.
pub mod directive {
    pub const BUILD: u32 = 60;
    pub const DELAY_SLOT: u32 = 61;
    pub const LABEL: u32 = 65;
    pub const CROSS_BUILD: u32 = 66;
}
