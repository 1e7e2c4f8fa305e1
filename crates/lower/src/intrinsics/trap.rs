//! The trap a sanitizer in trapping mode (`-fsanitize-trap`) puts where a check fails: which check it was.

use crate::body::Body;
use crate::ffi::Value;
use crate::inst::Lowered;

/// Checks by clang's number, in its order (`SanitizerHandler.h`).
const CHECKS: &[&str] = &[
    "add-overflow",
    "unreachable",
    "cfi-check-fail",
    "division-overflow",
    "dynamic-type-mismatch",
    "float-cast-overflow",
    "function-type-mismatch",
    "implicit-conversion",
    "invalid-builtin",
    "invalid-objc-cast",
    "invalid-value",
    "missing-return",
    "multiplication-overflow",
    "negation-overflow",
    "nullability-argument",
    "nullability-return",
    "nonnull-argument",
    "nonnull-return",
    "out-of-bounds",
    "pointer-overflow",
    "shift-out-of-bounds",
    "subtraction-overflow",
    "type-mismatch",
    "alignment-assumption",
    "vla-bound-not-positive",
    "bounds-safety",
];

pub fn sanitizer<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let check = s.number(v.operand(0)).and_then(|n| CHECKS.get(n as usize));
    s.b.trap(&format!("ubsan: {}", check.unwrap_or(&"unknown check")));
    Ok(None)
}
