//! Anchors: gives addresses in variables of unoptimised code their provenance.
//!
//! In such code an address in a variable starts as the frame pointer plus a constant, or as a constant, in one instruction or two
//! neighbours; the sum may have an index. The first operand is replaced by a temporary with the same value that is anchored at the
//! variable ([`wryneck_ir::Op::Anchor`]). So everything computed from it is anchored too. Accesses at constant addresses need no anchor.
//! One pass over a block; linear.

use crate::pcode::{Instruction, IntOp, OpCode, Space, Varnode};
use crate::variables::{Found, Pointer, Variables};

/// A temporary that gets an anchored value before the instruction.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    pub temporary: Varnode,
    /// Its value: the frame pointer or a constant.
    pub value: Varnode,
    pub found: Found,
}

/// Registers in which addresses computed from the frame are not anchored.
pub struct Registers {
    pub frame_pointer: Varnode,
    pub stack_pointer: Varnode,
}

/// The temporaries of anchors have these offsets among SLEIGH's.
const TEMPORARIES: u64 = 0xffff_0000;

/// An operand: the operation of the instruction, and which of its inputs.
type Site = (usize, usize);

/// A sum, as far as it matters for an address.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// The operand that brings in the frame pointer.
    frame: Option<(Site, Pointer)>,
    /// The operand that brings in a constant.
    constant: Option<Site>,
    /// All constants.
    total: u64,
    /// It has other terms.
    rest: bool,
}

impl Sum {
    const UNKNOWN: Sum = Sum { frame: None, constant: None, total: 0, rest: true };

    fn plus(self, other: Sum) -> Sum {
        if self.frame.is_some() && other.frame.is_some() {
            return Sum::UNKNOWN;
        }
        Sum {
            frame: self.frame.or(other.frame),
            constant: self.constant.or(other.constant),
            total: self.total.wrapping_add(other.total),
            rest: self.rest || other.rest,
        }
    }
}

/// Anchors the addresses that a block computes.
pub fn mark(instructions: &mut [Instruction], registers: &Registers, variables: &Variables) {
    for i in 0..instructions.len() {
        let (these, later) = instructions.split_at_mut(i + 1);
        let it = &mut these[i];
        if it.own.is_none() && variables.knows(it.address) {
            let found = find(it, later.first(), registers, variables);
            for (site, found) in found {
                replace(it, site, found);
            }
        }
    }
}

fn replace(it: &mut Instruction, (op, input): Site, found: Found) {
    let value = it.ops[op].inputs[input];
    let temporary = Varnode { space: Space::Unique, offset: TEMPORARIES + 16 * it.anchors.len() as u64, size: 8 };
    it.ops[op].inputs[input] = temporary;
    it.anchors.push(Anchor { temporary, value, found });
}

/// The operands with which addresses in variables start.
fn find(it: &Instruction, next: Option<&Instruction>, registers: &Registers, variables: &Variables) -> Vec<(Site, Found)> {
    let mut sums: Vec<(Varnode, Sum)> = Vec::new();
    let mut found: Vec<(Site, Found)> = Vec::new();
    for (n, op) in it.ops.iter().enumerate() {
        let sum_of = |input: usize| {
            let v = op.inputs[input];
            match v.space {
                _ if v == registers.frame_pointer => Sum { frame: Some(((n, input), Pointer::Frame)), ..Sum::default() },
                _ if v == registers.stack_pointer => Sum { frame: Some(((n, input), Pointer::Stack)), ..Sum::default() },
                Space::Const if v.size == 8 => Sum { constant: Some((n, input)), total: v.offset, ..Sum::default() },
                Space::Unique => sums.iter().find(|(known, _)| *known == v).map_or(Sum::UNKNOWN, |(_, sum)| *sum),
                Space::Const | Space::Register | Space::Memory => Sum::UNKNOWN,
            }
        };
        // An access at a constant address needs no anchor; a value that is stored does.
        let mut uses = Vec::new();
        let result = match (op.op, op.inputs.len()) {
            (OpCode::Copy, 1) => sum_of(0),
            (OpCode::Int(IntOp::Add), 2) => sum_of(0).plus(sum_of(1)),
            (OpCode::Int(IntOp::Subtract), 2) if op.inputs[1].space == Space::Const && op.inputs[1].size == 8 => {
                let less = sum_of(0);
                Sum { total: less.total.wrapping_sub(op.inputs[1].offset), ..less }
            }
            (OpCode::Load, 2) => {
                uses.extend(Some(sum_of(1)).filter(|sum| sum.rest));
                Sum::UNKNOWN
            }
            (OpCode::Store, 3) => {
                uses.extend(Some(sum_of(1)).filter(|sum| sum.rest));
                uses.extend(Some(sum_of(2)).filter(|_| op.inputs[2].size == 8));
                Sum::UNKNOWN
            }
            _ => Sum::UNKNOWN,
        };
        if let Some(output) = op.output.filter(|v| v.size == 8) {
            // Values computed from the stack pointer may go to the other register as to any.
            let of_frame = result.frame.is_none_or(|(_, pointer)| pointer == Pointer::Frame);
            let own = output == registers.stack_pointer || output == registers.frame_pointer && of_frame;
            if output.space == Space::Register && !own {
                let on = result.frame.filter(|_| result.total == 0).and(next).and_then(|next| added(next, output));
                uses.push(Sum { total: result.total.wrapping_add(on.unwrap_or(0)), ..result });
            }
            sums.retain(|(known, _)| *known != output);
            sums.push((output, result));
        }
        for sum in uses {
            let at = match (sum.frame, sum.constant) {
                (Some((site, pointer)), _) => variables.in_frame(it.address, pointer, sum.total as i64).map(|found| (site, found)),
                (None, Some(site)) => variables.at(it.address, sum.total).map(|found| (site, found)),
                (None, None) => None,
            };
            found.extend(at.filter(|(site, _)| found.iter().all(|(known, _)| known != site)));
        }
    }
    found
}

/// The constant that the instruction adds to a register first, if it does.
fn added(next: &Instruction, register: Varnode) -> Option<u64> {
    next.ops.iter().find_map(|op| match (op.op, &op.inputs[..]) {
        (OpCode::Int(IntOp::Add), &[a, k]) if a == register && k.space == Space::Const => Some(k.offset),
        (OpCode::Int(IntOp::Add), &[k, a]) if a == register && k.space == Space::Const => Some(k.offset),
        (OpCode::Int(IntOp::Subtract), &[a, k]) if a == register && k.space == Space::Const => Some(k.offset.wrapping_neg()),
        _ => None,
    })
}
