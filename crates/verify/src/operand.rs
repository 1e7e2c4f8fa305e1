//! Which slots an instruction reads and writes, from the operator table.

use wryneck_ir::{Inst, Module, NONE, Op, Operand, Range, limbs};

/// The slots of operand `n` (0: the result, which for calls is not known here).
pub fn operand_slots(inst: &Inst, n: usize) -> std::ops::Range<u32> {
    let Some(op) = inst.operator() else { return 0..0 };
    let field = [inst.dst, inst.a, inst.b, inst.c][n];
    let width = match op.operands()[n] {
        Operand::Val => u32::from(inst.width),
        Operand::Word | Operand::Bit => 1,
        Operand::SrcVal if op == Op::Concat && n == 1 => u32::from(inst.width).saturating_sub(inst.c),
        Operand::SrcVal => inst.c,
        Operand::No | Operand::Imm | Operand::Edge | Operand::Switch | Operand::Symbol => 0,
        Operand::Str | Operand::Call | Operand::Alloca | Operand::List => 0,
    };
    if field == NONE { 0..0 } else { field..field + limbs(width) }
}

/// The slots an instruction writes.
pub fn slots_written(module: &Module, inst: &Inst) -> std::ops::Range<u32> {
    match inst.operator() {
        Some(Op::Call | Op::CallIndirect) if inst.dst == NONE => 0..0,
        Some(Op::Call | Op::CallIndirect) => inst.dst..inst.dst + limbs(module.calls[inst.b as usize].ret_width),
        _ => operand_slots(inst, 0),
    }
}

/// The slots an instruction reads, by operand; of calls and returns what they list last.
pub fn slots_read(module: &Module, inst: &Inst) -> Vec<Vec<u32>> {
    let mut runs: Vec<Vec<u32>> = (1..4).map(|n| operand_slots(inst, n).collect()).collect();
    let list = match inst.operator() {
        Some(Op::Call | Op::CallIndirect) => module.calls[inst.b as usize].args,
        Some(Op::Ret) => Range { first: inst.a, count: inst.b },
        Some(_) | None => Range::default(),
    };
    if list.count > 0 {
        runs.push(module.slot_lists.range(list).to_vec());
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_table() {
        let read = |inst: Inst| {
            let runs = (1..4).map(|n| operand_slots(&inst, n)).filter(|slots| !slots.is_empty());
            runs.map(|slots| (slots.start, slots.len())).collect::<Vec<_>>()
        };
        assert_eq!(read(Inst::new(Op::Add, 128, 9, 1, 3, NONE)), [(1, 2), (3, 2)]);
        assert_eq!(read(Inst::new(Op::Concat, 128, 9, 1, 3, 8)), [(1, 2), (3, 1)]);
        assert_eq!(read(Inst::new(Op::Store, 32, NONE, 1, 3, 0)), [(1, 1), (3, 1)]);
        assert_eq!(read(Inst::new(Op::Trunc, 8, 9, 1, NONE, 65)), [(1, 2)]);
        assert_eq!(operand_slots(&Inst::new(Op::Eq, 128, 9, 1, 3, NONE), 0), 9..10);
        assert!(operand_slots(&Inst::new(Op::Store, 32, NONE, 1, 3, 0), 0).is_empty());
    }
}
