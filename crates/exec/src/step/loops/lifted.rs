//! Loops, and uses of results, in machine code. Its blocks are lifted one by one, so no function is known as a whole. The code source
//! answers instead, by addresses.

use std::rc::Rc;

use wryneck_ir::code_source::{LoopPast, Taken, ValueUses};

use super::operation::comparisons;
use crate::ground::code::Kind;
use crate::ground::image::CodePos;
use crate::ground::places;
use crate::step::cx::Cx;

/// Blocks of a branch's instruction that only go on.
const JUMPS: u32 = 4;

/// The loop of machine code that a side of a branch goes past.
pub(super) fn loop_past(test: CodePos, taken: bool, cx: &Cx<'_>) -> Option<Rc<LoopPast>> {
    let code = cx.core.image.code(test.func);
    let p = code.ops.get(test.op as usize).filter(|p| p.kind == Kind::CondBr)?;
    let (went, other) = if taken { (p.b, p.c) } else { (p.c, p.b) };
    let branch = address(test, cx)?;
    let compare = comparisons(test, cx).find_map(|(op, _)| address(CodePos { op, ..test }, cx).filter(|at| *at != branch))?;
    let target = |edge: u32| {
        // Blocks that only go on belong to the branch.
        let mut op = code.edges[edge as usize].target;
        for _ in 0..JUMPS {
            match (address(CodePos { op, ..test }, cx)?, code.ops[op as usize]) {
                (at, p) if at == branch && p.kind == Kind::Br => op = code.edges[p.a as usize].target,
                (at, _) => return Some(at),
            }
        }
        None
    };
    let taken = Taken { branch, compare, went: target(went)?, other: target(other)? };
    cx.core.code_source.as_ref()?.borrow().loop_past(taken)
}

/// What machine code does with the result of the call at this place.
pub(super) fn uses_of_result(call: CodePos, cx: &Cx<'_>) -> Option<ValueUses> {
    cx.core.code_source.as_ref()?.borrow().uses_of_result(places::instruction(&cx.core.image, call))
}

/// The address that an operation of machine code was lifted from.
pub(super) fn address(pos: CodePos, cx: &Cx<'_>) -> Option<u64> {
    cx.core.code_source.as_ref()?.borrow().address_of(places::instruction(&cx.core.image, pos))
}
