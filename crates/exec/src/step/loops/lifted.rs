//! The same questions about machine code, which answers them by its addresses: its blocks are lifted one by one, so no function is there as a whole.

use std::rc::Rc;

use wryneck_ir::Op;
use wryneck_ir::code_source::{LoopPast, Taken, ValueUses};

use super::operands;
use crate::ground::code::Kind;
use crate::ground::image::CodePos;
use crate::step::cx::Cx;
use crate::step::plugin::Value;

/// Operations between a branch's condition and the comparison that it comes from.
const NEAR: u32 = 12;
/// Blocks of a branch's instruction that only go on.
const JUMPS: u32 = 4;

/// The loop of machine code that a side of a branch goes past.
pub(super) fn loop_past(test: CodePos, taken: bool, cx: &Cx<'_>) -> Option<LoopPast> {
    let code = cx.core.image.code(test.func);
    let p = code.ops.get(test.op as usize).filter(|p| p.kind == Kind::CondBr)?;
    let (went, other) = if taken { (p.b, p.c) } else { (p.c, p.b) };
    let branch = address(test, cx)?;
    let compare = comparisons(test, cx).find_map(|op| address(CodePos { op, ..test }, cx).filter(|at| *at != branch))?;
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
    cx.core.code_source.as_ref()?.borrow().uses_of_result(cx.core.image.instruction(call))
}

/// The address that an operation of machine code was lifted from.
pub(super) fn address(pos: CodePos, cx: &Cx<'_>) -> Option<u64> {
    cx.core.code_source.as_ref()?.borrow().address_of(cx.core.image.instruction(pos))
}

/// The operations that compute the condition of a branch, of its own block, the last one first.
fn comparisons(test: CodePos, cx: &Cx<'_>) -> impl Iterator<Item = u32> {
    let module = cx.core.image.function(test.func).0;
    let first = cx.core.image.code(test.func).first_inst;
    let inst = |op: u32| module.insts[(first + op) as usize];
    let mut wanted = vec![inst(test.op).a];
    let mut found = Vec::new();
    for op in (test.op.saturating_sub(NEAR)..test.op).rev() {
        let before = inst(op);
        if before.operator().is_some_and(|operator| operator != Op::Store) && wanted.contains(&before.dst) {
            wanted.retain(|slot| *slot != before.dst);
            wanted.extend(operands(module, &before));
            found.push(op);
        }
    }
    found.into_iter()
}

/// Whether the path is at an access of machine code to an address that the code itself names.
pub fn names_address(cx: &Cx<'_>) -> bool {
    let pos = cx.pos();
    let code = cx.core.image.code(pos.func);
    let inst = cx.core.image.function(pos.func).0.insts[(code.first_inst + pos.op) as usize];
    let is_access = matches!(inst.operator(), Some(Op::Load | Op::Store));
    is_access && cx.core.image.is_machine_code(pos.func) && code.consts.get(inst.a as usize).is_some()
}

/// The variable that the access the path is at lies in, or shortly behind, if its address is fixed.
pub fn accessed(cx: &mut Cx<'_>) -> Option<Rc<str>> {
    let pos = cx.pos();
    let code = cx.core.image.code(pos.func);
    let inst = cx.core.image.function(pos.func).0.insts[(code.first_inst + pos.op) as usize];
    if !matches!(inst.operator(), Some(Op::Load | Op::Store)) {
        return None;
    }
    let Value::Bits(address) = cx.operand(inst.a, 64) else { return None };
    cx.state.memory.static_near(address, NEAR.into()).map(|variable| variable.name.clone())
}

/// Whether the branch at this place asks which of two values is larger, and both are computed. Such a test tells null only because the other value
/// happens to be null, or because an address wraps around. Asks no solver.
pub fn orders_values(test: CodePos, cx: &Cx<'_>) -> bool {
    let code = cx.core.image.code(test.func);
    if code.ops.get(test.op as usize).is_none_or(|p| p.kind != Kind::CondBr) {
        return false;
    }
    let module = cx.core.image.function(test.func).0;
    let is_const = |slot: u32| code.consts.get(slot as usize).is_some();
    let mut comparisons = comparisons(test, cx).map(|op| module.insts[(code.first_inst + op) as usize]);
    comparisons
        .find_map(|inst| match inst.operator()? {
            Op::Ult | Op::Ule | Op::Slt | Op::Sle => Some(!is_const(inst.a) && !is_const(inst.b)),
            Op::Eq | Op::Ne if inst.width > 1 => Some(false),
            _ => None,
        })
        .unwrap_or(false)
}
