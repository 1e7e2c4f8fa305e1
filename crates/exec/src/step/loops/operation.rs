//! Properties of single operations: the one that a path is at, and the test of a branch. For callers that tell must errors from may errors.
//! No solver is asked.

use std::rc::Rc;

use wryneck_ir::{Inst, Op};

use super::{inst_at, operands};
use crate::ground::code::Kind;
use crate::ground::image::CodePos;
use crate::step::cx::Cx;
use crate::step::plugin::Value;

/// Operations between a branch's condition and the comparison that it comes from.
const NEAR: u32 = 12;
/// Bytes between the end of a variable and an access that is taken for one of it.
const BEHIND: u64 = 12;

/// The operations that compute the condition of a branch, of its own block, the last one first.
pub(super) fn comparisons(test: CodePos, cx: &Cx<'_>) -> impl Iterator<Item = (u32, Inst)> {
    let module = cx.core.image.function(test.func).0;
    let inst = |op: u32| inst_at(CodePos { op, ..test }, cx);
    let mut wanted = vec![inst(test.op).a];
    let mut found = Vec::new();
    for op in (test.op.saturating_sub(NEAR)..test.op).rev() {
        let before = inst(op);
        if before.operator().is_some_and(|operator| operator != Op::Store) && wanted.contains(&before.dst) {
            wanted.retain(|slot| *slot != before.dst);
            wanted.extend(operands(module, &before));
            found.push((op, before));
        }
    }
    found.into_iter()
}

fn is_const(slot: u32, pos: CodePos, cx: &Cx<'_>) -> bool {
    cx.core.image.code(pos.func).consts.get(slot as usize).is_some()
}

/// The slot of the address of the access that the path is at, if it is at one.
fn address_slot(cx: &Cx<'_>) -> Option<u32> {
    let inst = inst_at(cx.pos(), cx);
    matches!(inst.operator(), Some(Op::Load | Op::Store)).then_some(inst.a)
}

/// Whether the path is at an access of machine code to an address that the code itself names.
pub fn names_address(cx: &Cx<'_>) -> bool {
    let pos = cx.pos();
    cx.core.image.is_machine_code(pos.func) && address_slot(cx).is_some_and(|slot| is_const(slot, pos, cx))
}

/// The variable that the access the path is at lies in, or shortly behind, if its address is fixed.
pub fn accessed(cx: &mut Cx<'_>) -> Option<Rc<str>> {
    let slot = address_slot(cx)?;
    let Value::Bits(address) = cx.operand(slot, 64) else { return None };
    cx.state.memory.static_near(address, BEHIND).map(|variable| variable.name.clone())
}

/// Whether the branch at this place asks which of two values is larger, and both are computed. Such a test tells null only because the other value
/// happens to be null, or because an address wraps around.
pub fn orders_values(test: CodePos, cx: &Cx<'_>) -> bool {
    if cx.core.image.code(test.func).ops.get(test.op as usize).is_none_or(|p| p.kind != Kind::CondBr) {
        return false;
    }
    let of_computed = |(_, inst): (u32, Inst)| match inst.operator()? {
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => Some(!is_const(inst.a, test, cx) && !is_const(inst.b, test, cx)),
        Op::Eq | Op::Ne if inst.width > 1 => Some(false),
        _ => None,
    };
    comparisons(test, cx).find_map(of_computed).unwrap_or(false)
}
