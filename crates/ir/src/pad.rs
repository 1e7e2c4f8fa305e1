//! Tables of landing pads: what an exception has to be to be caught by one. The front end writes them as data of the program, which
//! [`Op::Unwound`](crate::Op::Unwound) names and the unwinder reads.
//!
//! A table has words of 64 bits: whether the pad cleans up (lands whatever is thrown), the number of its clauses, and the clauses in order, two
//! words each. The first is the selector that tells the pad which clause it was. If it is positive, the second is the address of the type
//! that is caught (null: any). If it is negative, the clause lands what is *not* listed; the second is the number of types in the list, which follow,
//! a word each.

/// Bytes of a word of a table.
pub const WORD: u64 = 8;
