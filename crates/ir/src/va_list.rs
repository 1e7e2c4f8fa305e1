//! The `va_list` of variadic functions (System V ABI AMD64, section 3.5.7). A caller makes it, and its address is the hidden last argument.

/// Bytes of a list.
pub const SIZE: u64 = 24;
/// Byte offsets: how far words and vectors were read (32 bits each), the area for what no register holds, that of registers.
pub const WORDS: u64 = 0;
pub const VECTORS: u64 = 4;
pub const OVERFLOW: u64 = 8;
pub const REGISTERS: u64 = 16;
/// Bytes of the area of registers up to the end of its words, and of its vectors.
pub const WORDS_END: u64 = 48;
pub const VECTORS_END: u64 = 176;
/// The first word of a list that has nothing in registers.
pub const USED_UP: u64 = VECTORS_END << 32 | WORDS_END;
