//! Which slots an instruction uses and defines, from the operators' own table.

use wryneck_ir::{Inst, NONE, Op, Operand, limbs};

/// Runs of slots: first and count.
pub type Run = (u32, u32);

/// The slots an instruction reads; arguments of calls and values of returns are in lists that are not looked at here.
pub fn uses(inst: &Inst) -> impl Iterator<Item = Run> {
    let op = inst.operator().unwrap_or(Op::Unreachable);
    let [_, a, b, c] = op.operands();
    let width = u32::from(inst.width);
    let source = move |first: bool| match op {
        Op::Concat if first => width - inst.c,
        _ => inst.c,
    };
    let fields = [(a, inst.a, true), (b, inst.b, false), (c, inst.c, false)];
    let runs = fields.map(|(kind, slot, first)| match kind {
        Operand::Val => (slot, limbs(width)),
        Operand::Word | Operand::Bit => (slot, 1),
        Operand::SrcVal => (slot, limbs(source(first))),
        _ => (slot, 0),
    });
    runs.into_iter().filter(|(slot, count)| *slot != NONE && *count > 0)
}

/// The slots an instruction writes, but for calls.
pub fn defines(inst: &Inst) -> Option<Run> {
    let kind = inst.operator()?.operands()[0];
    match kind {
        _ if inst.dst == NONE => None,
        Operand::Val => Some((inst.dst, limbs(u32::from(inst.width)))),
        Operand::Word | Operand::Bit => Some((inst.dst, 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_the_table() {
        let runs = |inst: Inst| uses(&inst).collect::<Vec<_>>();
        assert_eq!(runs(Inst::new(Op::Add, 128, 9, 1, 3, NONE)), [(1, 2), (3, 2)]);
        assert_eq!(runs(Inst::new(Op::Concat, 128, 9, 1, 3, 8)), [(1, 2), (3, 1)]);
        assert_eq!(runs(Inst::new(Op::Store, 32, NONE, 1, 3, 0)), [(1, 1), (3, 1)]);
        assert_eq!(runs(Inst::new(Op::Trunc, 8, 9, 1, NONE, 65)), [(1, 2)]);
        assert_eq!(defines(&Inst::new(Op::Eq, 128, 9, 1, 3, NONE)), Some((9, 1)));
        assert_eq!(defines(&Inst::new(Op::Store, 32, NONE, 1, 3, 0)), None);
    }
}
