//! Comparisons instead of flags: a conditional instruction that reads flags becomes the comparison that set them.
//!
//! One forward pass over a block's p-code tracks what is known at each operation: copies, and how truth values were computed (a local
//! value numbering; Cocke, Schwartz: "Programming Languages and Their Compilers", 1970). `cmp a, b; jle` becomes `a <= b`, not a
//! combination of three flags. So the flags are nearly always dead, and conditions on symbolic values are simple. Linear in the
//! operations, times the few facts that are known at once.

use std::ops::Range;

use smallvec::smallvec;

use crate::pcode::{BoolOp, Destination, Instruction, IntOp, IntSign, OpCode, Pcode, PseudoOp, Space, Varnode};

/// How a value came about.
#[derive(Clone, Copy, PartialEq)]
enum Fact {
    /// It is a copy.
    Is(Varnode),
    Less(IntSign, Varnode, Varnode),
    LessOrEqual(IntSign, Varnode, Varnode),
    Equal(Varnode, Varnode),
    NotEqual(Varnode, Varnode),
    /// Does the difference of both overflow, as a signed number?
    Borrow(Varnode, Varnode),
    Difference(Varnode, Varnode),
    /// The sign of the difference.
    Negative(Varnode, Varnode),
}

impl Fact {
    fn operands(self) -> [Varnode; 2] {
        match self {
            Fact::Is(a) => [a, a],
            Fact::Less(_, a, b) | Fact::LessOrEqual(_, a, b) | Fact::Equal(a, b) | Fact::NotEqual(a, b) => [a, b],
            Fact::Borrow(a, b) | Fact::Difference(a, b) | Fact::Negative(a, b) => [a, b],
        }
    }

    /// The operation that gives it, for truth values that are comparisons.
    fn comparison(self) -> Option<(OpCode, [Varnode; 2])> {
        let op = match self {
            Fact::Less(sign, ..) => IntOp::LessThan(sign),
            Fact::LessOrEqual(sign, ..) => IntOp::LessThanOrEqual(sign),
            Fact::Equal(..) => IntOp::Equal,
            Fact::NotEqual(..) => IntOp::NotEqual,
            Fact::Is(_) | Fact::Borrow(..) | Fact::Difference(..) | Fact::Negative(..) => return None,
        };
        Some((OpCode::Int(op), self.operands()))
    }

    fn negated(self) -> Option<Fact> {
        Some(match self {
            Fact::Less(sign, a, b) => Fact::LessOrEqual(sign, b, a),
            Fact::LessOrEqual(sign, a, b) => Fact::Less(sign, b, a),
            Fact::Equal(a, b) => Fact::NotEqual(a, b),
            Fact::NotEqual(a, b) => Fact::Equal(a, b),
            Fact::Is(_) | Fact::Borrow(..) | Fact::Difference(..) | Fact::Negative(..) => return None,
        })
    }
}

/// What is known of values, by varnode.
#[derive(Default)]
struct Facts(Vec<(Varnode, Fact)>);

fn overlap(a: Varnode, b: Varnode) -> bool {
    a.space == b.space && a.space != Space::Const && a.offset < b.end() && b.offset < a.end()
}

fn is_zero(v: Varnode) -> bool {
    v.space == Space::Const && v.offset == 0
}

impl Facts {
    fn of(&self, v: Varnode) -> Option<Fact> {
        self.0.iter().find(|(known, _)| *known == v).map(|(_, fact)| *fact)
    }

    /// The value is written: what was known of it, or by it, is not any more.
    fn forget(&mut self, written: Varnode) {
        self.0.retain(|(v, fact)| !overlap(*v, written) && fact.operands().iter().all(|o| !overlap(*o, written)));
    }

    fn learn(&mut self, v: Varnode, fact: Fact) {
        let steady = |o: &Varnode| !overlap(*o, v) && o.space != Space::Memory;
        if fact.operands().iter().all(steady) && v.space != Space::Memory {
            self.0.push((v, fact));
        }
    }

    /// Temporaries end with their instruction.
    fn end_instruction(&mut self) {
        let lasts = |v: &Varnode| v.space != Space::Unique;
        self.0.retain(|(v, fact)| lasts(v) && fact.operands().iter().all(lasts));
    }
}

/// Simplifies the block's p-code. `flags` are the bytes of the flags, each of which is 0 or 1.
pub fn simplify(instructions: &mut [Instruction], flags: &Range<u64>) {
    let mut facts = Facts::default();
    for it in instructions {
        let opaque = it.own.is_some() || it.ops.iter().any(|op| op.op == OpCode::Pseudo(PseudoOp::CallOther));
        if opaque {
            facts.0.clear();
            continue;
        }
        // Behind a branch inside, only what is forgotten counts; so it does everywhere in a loop.
        let first_branch = (0..it.ops.len()).find(|&n| it.branches_inside_at(n)).unwrap_or(it.ops.len());
        let loops = (0..it.ops.len()).any(|n| matches!(it.destination(n), Some(Destination::Inside(to)) if to <= n));
        let straight = if loops { 0 } else { first_branch };
        for (n, op) in it.ops.iter_mut().enumerate() {
            if n < straight {
                substitute(op, &facts);
                fold(op, &facts, flags);
            }
            let Some(output) = op.output else { continue };
            let fact = (n < straight).then(|| fact_of(op, &facts, flags)).flatten();
            facts.forget(output);
            if let Some(fact) = fact {
                facts.learn(output, fact);
            }
        }
        facts.end_instruction();
    }
}

/// Reads what a copy is of.
fn substitute(op: &mut Pcode, facts: &Facts) {
    let first = match op.op {
        OpCode::Branch | OpCode::Call | OpCode::BranchConditional | OpCode::Load | OpCode::Store => 1,
        _ => 0,
    };
    for v in op.inputs.iter_mut().skip(first) {
        if let Some(Fact::Is(of)) = facts.of(*v) {
            *v = of;
        }
    }
}

/// Says the operation as a simpler one.
fn fold(op: &mut Pcode, facts: &Facts, flags: &Range<u64>) {
    let &[a, b] = &op.inputs[..] else {
        if let (OpCode::Bool(BoolOp::Negate), &[a]) = (op.op, &op.inputs[..])
            && a.space == Space::Const
        {
            return copy(op, Varnode { offset: u64::from(a.offset == 0), ..a });
        }
        if op.op == OpCode::Bool(BoolOp::Negate)
            && let Some(fact) = op.inputs.first().and_then(|v| facts.of(*v)).and_then(Fact::negated)
        {
            say(op, fact);
        }
        return;
    };
    let is_flag = |v: Varnode| v.space == Space::Register && v.size == 1 && flags.contains(&v.offset);
    // Counts of shifts are constants that p-code still asks about.
    let is_truth =
        |v: Varnode| is_flag(v) || facts.of(v).is_some_and(|fact| fact.comparison().is_some() || matches!(fact, Fact::Negative(..)));
    if let (Some(value), Some(output)) = (constant(op.op, a, b), op.output) {
        return copy(op, Varnode { space: Space::Const, offset: value & mask(output), size: output.size });
    }
    let (all, other) = if a.space == Space::Const { (a, b) } else { (b, a) };
    let known = (all.space == Space::Const).then_some(all.offset & mask(all));
    match op.op {
        OpCode::Int(IntOp::Multiply) if b.space == Space::Const && b.offset == 1 => copy(op, a),
        OpCode::Int(IntOp::Multiply) if b.space == Space::Const && b.size <= 8 && b.offset.is_power_of_two() => {
            let by = Varnode { space: Space::Const, offset: b.offset.trailing_zeros().into(), size: 4 };
            (op.op, op.inputs) = (OpCode::Int(IntOp::ShiftLeft), smallvec![a, by]);
        }
        OpCode::Int(IntOp::Bitwise(BoolOp::And | BoolOp::Or)) if a == b => copy(op, a),
        OpCode::Int(IntOp::Bitwise(BoolOp::And)) | OpCode::Bool(BoolOp::And) if known == Some(0) => copy(op, all),
        OpCode::Int(IntOp::Bitwise(BoolOp::And)) | OpCode::Bool(BoolOp::And) if known == Some(1) && all.size == 1 && is_truth(other) => {
            copy(op, other);
        }
        OpCode::Int(IntOp::Bitwise(BoolOp::Or | BoolOp::Xor)) | OpCode::Bool(BoolOp::Or) if known == Some(0) => copy(op, other),
        OpCode::Int(IntOp::Equal) if is_zero(b) => {
            if let Some(Fact::Difference(x, y)) = facts.of(a) {
                say(op, Fact::Equal(x, y));
            }
        }
        OpCode::Int(IntOp::NotEqual) if is_zero(a) && is_flag(b) => copy(op, b),
        OpCode::Int(IntOp::Equal | IntOp::NotEqual) => {
            if let (Some(Fact::Borrow(x, y)), Some(Fact::Negative(p, q))) = (facts.of(a), facts.of(b))
                && (x, y) == (p, q)
            {
                let less = Fact::Less(IntSign::Signed, x, y);
                let equal = op.op == OpCode::Int(IntOp::Equal);
                say(op, if equal { less.negated().unwrap_or(less) } else { less });
            }
        }
        OpCode::Bool(BoolOp::Or) => both(op, (a, b), facts, |one, other| match (one, other) {
            (Fact::Equal(x, y), Fact::Less(sign, p, q)) if (x, y) == (p, q) => Some(Fact::LessOrEqual(sign, p, q)),
            _ => None,
        }),
        OpCode::Bool(BoolOp::And) => both(op, (a, b), facts, |one, other| match (one, other) {
            (Fact::NotEqual(x, y), Fact::LessOrEqual(sign, p, q)) if (x, y) == (q, p) => Some(Fact::Less(sign, p, q)),
            _ => None,
        }),
        _ => {}
    }
}

/// Joins what is known of both operands, in either order.
fn both(op: &mut Pcode, (a, b): (Varnode, Varnode), facts: &Facts, join: impl Fn(Fact, Fact) -> Option<Fact>) {
    if let (Some(x), Some(y)) = (facts.of(a), facts.of(b))
        && let Some(fact) = join(x, y).or_else(|| join(y, x))
    {
        say(op, fact);
    }
}

/// The bits a varnode of at most 8 bytes has.
fn mask(v: Varnode) -> u64 {
    if v.size < 8 { (1 << v.width()) - 1 } else { u64::MAX }
}

/// The value of an operation on constants of at most 8 bytes.
fn constant(op: OpCode, a: Varnode, b: Varnode) -> Option<u64> {
    if a.space != Space::Const || b.space != Space::Const || a.size > 8 || b.size > 8 {
        return None;
    }
    let (x, y) = (a.offset & mask(a), b.offset & mask(b));
    Some(match op {
        OpCode::Int(IntOp::Bitwise(BoolOp::And)) => x & y,
        OpCode::Int(IntOp::Bitwise(BoolOp::Or)) => x | y,
        OpCode::Int(IntOp::Bitwise(BoolOp::Xor)) => x ^ y,
        OpCode::Int(IntOp::Add) => x.wrapping_add(y),
        OpCode::Int(IntOp::Subtract) => x.wrapping_sub(y),
        OpCode::Int(IntOp::Multiply) => x.wrapping_mul(y),
        OpCode::Int(IntOp::Equal) => u64::from(x == y),
        OpCode::Int(IntOp::NotEqual) => u64::from(x != y),
        OpCode::Int(IntOp::LessThan(IntSign::Unsigned)) => u64::from(x < y),
        OpCode::Int(IntOp::LessThanOrEqual(IntSign::Unsigned)) => u64::from(x <= y),
        _ => return None,
    })
}

fn copy(op: &mut Pcode, of: Varnode) {
    (op.op, op.inputs) = (OpCode::Copy, smallvec![of]);
}

fn say(op: &mut Pcode, fact: Fact) {
    if let Some((code, operands)) = fact.comparison() {
        (op.op, op.inputs) = (code, operands[..].into());
    }
}

/// What the operation tells of its output.
fn fact_of(op: &Pcode, facts: &Facts, flags: &Range<u64>) -> Option<Fact> {
    let output = op.output?;
    let is_flag = output.space == Space::Register && flags.contains(&output.offset);
    match (op.op, &op.inputs[..]) {
        (OpCode::Copy, &[a]) if output.space == Space::Unique || is_flag && a.space == Space::Const => Some(Fact::Is(a)),
        (OpCode::Int(IntOp::Subtract), &[a, b]) => Some(Fact::Difference(a, b)),
        (OpCode::Int(IntOp::Borrow), &[a, b]) => Some(Fact::Borrow(a, b)),
        (OpCode::Int(IntOp::LessThan(IntSign::Signed)), &[a, b]) if is_zero(b) => match facts.of(a) {
            Some(Fact::Difference(x, y)) => Some(Fact::Negative(x, y)),
            _ => Some(Fact::Less(IntSign::Signed, a, b)),
        },
        (OpCode::Int(IntOp::LessThan(sign)), &[a, b]) => Some(Fact::Less(sign, a, b)),
        (OpCode::Int(IntOp::LessThanOrEqual(sign)), &[a, b]) => Some(Fact::LessOrEqual(sign, a, b)),
        (OpCode::Int(IntOp::Equal), &[a, b]) => Some(Fact::Equal(a, b)),
        (OpCode::Int(IntOp::NotEqual), &[a, b]) => Some(Fact::NotEqual(a, b)),
        _ => None,
    }
}
