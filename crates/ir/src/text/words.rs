//! The words of the text form: tables that printing and parsing share.

use crate::inst::{Op, Operand};
use crate::module::{call_flags, function_flags, global_flags};

/// By [`crate::linkage`].
pub(super) const LINKAGES: &[&str] = &["internal", "strong", "weak", "common", "extern_weak"];

pub(super) type Flags = &'static [(u32, &'static str)];
pub(super) const GLOBAL_FLAGS: Flags =
    &[(global_flags::READ_ONLY, "read_only"), (global_flags::THREAD_LOCAL, "thread_local"), (global_flags::UNNAMED, "unnamed")];
pub(super) const FUNCTION_FLAGS: Flags = &[
    (function_flags::NO_RETURN, "no_return"),
    (function_flags::VARIADIC, "variadic"),
    (function_flags::LIBRARY, "library"),
    (function_flags::RETURNS_FLOAT, "float"),
    (function_flags::GROWS, "grows"),
];
pub(super) const CALL_FLAGS: Flags = &[
    (call_flags::NO_RETURN, "no_return"),
    (call_flags::VARIADIC, "variadic"),
    (call_flags::RETURNS_POINTER, "pointer"),
    (call_flags::RETURNS_FLOAT, "float"),
    (call_flags::STANDS_IN, "stands_in"),
    (call_flags::TELLS_CALL, "tells_call"),
    (call_flags::TELLS_RETURN, "tells_return"),
    (call_flags::REPLACES, "replaces"),
];

/// By the bits of [`crate::FcmpPred`].
const PREDICATES: &[&str] =
    &["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une", "true"];
/// By [`crate::Round`].
const ROUNDINGS: &[&str] = &["floor", "ceil", "trunc", "even", "away"];

/// By [`crate::X87`].
const X87: &[&str] = &["sine", "cosine", "tangent", "angle", "logarithm", "logarithm_of_one_more", "power_less_one"];

/// How a raw field is written: a word, then its value: a number, or one of some names.
#[derive(Clone, Copy)]
pub(super) struct Raw {
    pub(super) word: &'static str,
    pub(super) names: &'static [&'static str],
    /// The value that is left out.
    pub(super) default: Option<u32>,
}

/// Field `n` (1 to 3) of an operator, which is a raw number.
pub(super) fn raw(op: Op, n: usize) -> Raw {
    let number = |word| Raw { word, names: &[], default: None };
    match (op, n) {
        (Op::Load | Op::Store | Op::AllocaDyn, _) => Raw { default: Some(0), ..number("align") },
        (Op::Shl | Op::Lshr | Op::Ashr, _) => Raw { default: Some(0), ..number("checked") },
        (Op::Extract, 2) => number("at"),
        (Op::Extract, _) => number("of"),
        (Op::Concat, _) => number("low"),
        (Op::PtrAdd, _) => Raw { default: Some(1), ..number("scale") },
        (Op::Anchor, _) => number("object"),
        (Op::Fcmp, _) => Raw { names: PREDICATES, ..number("is") },
        (Op::X87, _) => Raw { names: X87, ..number("function") },
        (Op::Fround, _) => Raw { names: ROUNDINGS, ..number("to") },
        _ => number("from"),
    }
}

/// Does the text give the operator a width?
pub(super) fn has_width(op: Op) -> bool {
    let kinds = op.operands();
    kinds.iter().any(|k| matches!(k, Operand::Val | Operand::SrcVal | Operand::List))
}
