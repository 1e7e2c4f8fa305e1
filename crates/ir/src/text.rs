//! The text form: what people read in tests and messages and write by hand. [`print`] and [`parse`] are each other's inverse
//! up to the numbering of strings, symbols, constants and edges (an edge that two branches share is written at each).
//!
//! ```text
//! module   = { loc | declare | data | alias | ctor | func }          `;` starts a comment, line breaks mean nothing
//! loc      = "loc" N "=" STRING line ":" column "in" STRING [ "inlined" N ] [ "library" ]       positions, numbered from 1
//! declare  = "declare" [ "func" ] [ "extern_weak" ] symbol
//! data     = "data" linkage symbol "size" N [ "align" N ] [ flags ] [ at ] [ "=" STRING ] [ "{" { N ":" symbol [ offset ] [ "," ] } "}" ]
//! alias    = "alias" linkage symbol "=" symbol [ offset ]
//! ctor     = ( "ctor" | "dtor" ) symbol priority
//! func     = "func" linkage symbol [ STRING ] "(" [ param { "," param } ] ")" [ "->" width ] [ flags ] [ "slots" N ] [ at ]
//!            "{" { "$"NAME ":" size [ "align" N ] [ STRING ] [ at ] } { LABEL ":" { [ at ] inst } } "}"
//! param    = slot ":" ( width | "f"width | "ptr" | "byval" size | "va" ) [ STRING ]
//! inst     = [ slot "=" ] OP[.width] operands                        operands in the order of `Op`'s table
//! operand  = slot | number | symbol [ offset ] | "{" limb { "," limb } "}"        slots; literals stand for constant slots
//! raw      = WORD value                                              `align 4`, `from 32`, `at 8 of 64`, `is olt`, `to even`
//! edge     = LABEL [ "(" slot [ ":" width ] "=" operand { "," … } ")" ]           copies of one limb if no width is given
//! call     = [ slot "=" ] ( "call"[.width] symbol | "call.indirect"[.width] operand ) "(" { operand ":" width } ")" [ "named" N ] [ flags ]
//! switch   = "switch"[.width] operand "[" { number ":" edge [ "," ] } "]" "else" edge
//! ret      = "ret"[.width] [ operand ]
//! linkage  = "internal" | "strong" | "weak" | "common"               flags = "[" { WORD [ "," ] } "]"
//! at       = "!"N     position of what it follows; before an instruction: of it and the following ones
//! symbol   = "@"NAME | "@"STRING, then "#"N for the N-th further local symbol of that name
//! slot     = "%"NAME  a number is the slot's place after the constants; other names get the places left, in order
//! number   = decimal or 0x hexadecimal, cut to the width; `-` negates
//! ```
//! Operators without a choice of width (`ptradd`, `mem.copy`, branches) have none in the text. Raw words that say nothing
//! are left out (`align 0`, a shift's `checked 0`, `scale 1`). Strings are in double quotes, with `\xx` (hexadecimal) for
//! what is not printable ASCII. Parsing does not verify.

mod body;
mod lex;
mod parse;
mod print;
mod words;

pub use parse::parse;
pub use print::print;

use crate::build::BuildError;

/// Where parsing stopped, and why. Lines and columns count from 1, columns in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {why}")]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: &'static str, found: String },
    #[error("expected `{word}` and its value, found {found}")]
    Field { word: &'static str, found: String },
    #[error("a string that does not end")]
    OpenString,
    #[error("`{0}` is no character of the text form")]
    Character(char),
    #[error("`{0}` is no operator")]
    Operator(String),
    #[error("the number does not fit in {width} bits")]
    TooLarge { width: u32 },
    #[error("`%{0}` is never written")]
    NeverWritten(String),
    #[error("block `{0}` does not exist")]
    NoBlock(String),
    #[error("`{0}` is declared twice in this function")]
    Twice(String),
    #[error("`${0}` is not declared")]
    NoAlloca(String),
    #[error("positions are numbered from 1 without gaps, the next is {next}")]
    Position { next: u32 },
    #[error("position {0} does not exist")]
    NoPosition(u32),
    #[error(transparent)]
    Build(#[from] BuildError),
}

#[cfg(test)]
mod tests;
