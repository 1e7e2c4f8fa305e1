//! The rules inside functions: blocks, instructions, edges, switches.

use super::{Malformed, Rule, check, has_str, inside};
use crate::arith;
use crate::float::Format;
use crate::inst::{ATOMIC, Flow, Inst, NONE, Op, Operand, PLAIN, Part, Round, X87, limbs};
use crate::module::{Call, Function, Module, Range, call_flags};

/// What checking one function after another uses again.
#[derive(Default)]
pub(super) struct Scratch {
    /// By slot: the last edge that wrote it, so that "distinct" costs one look.
    written_by: Vec<u32>,
    /// Instructions, copies, cases and call lists seen so far; more than there are means that some are used twice, and
    /// checking could take quadratic time.
    insts: u64,
    copies: u64,
    cases: u64,
    lists: u64,
}

/// The first block, edge and switch of a function to check.
#[derive(Clone, Copy, Default)]
pub(super) struct Start {
    pub(super) block: u32,
    pub(super) edge: u32,
    pub(super) switch: u32,
}

/// Checks function `index` from `start` on; its record and signature are checked.
pub(super) fn blocks(m: &Module, index: usize, start: Start, scratch: &mut Scratch) -> Result<(), Malformed> {
    let f = &m.functions[index];
    check(f.blocks.count > 0, Rule::Blocks, "functions", index)?;
    edges(m, f, start, scratch)?;
    switches(m, f, start, scratch)?;
    for b in f.blocks.first + start.block..f.blocks.first + f.blocks.count {
        let insts = m.blocks[b as usize].insts;
        scratch.insts += u64::from(insts.count);
        let own = scratch.insts <= m.insts.len() as u64;
        check(insts.count > 0 && inside(insts, m.insts.len()) && own, Rule::Blocks, "blocks", b as usize)?;
        let last = insts.first + insts.count - 1;
        for i in insts.first..=last {
            let inst = &m.insts[i as usize];
            let Some(op) = inst.operator() else { return check(false, Rule::Operators, "insts", i as usize) };
            check((op.flow() == Flow::Ends) == (i == last), Rule::Blocks, "insts", i as usize)?;
            let rule = broken(m, f, op, inst, scratch);
            check(rule.is_none(), rule.unwrap_or(Rule::Operands), "insts", i as usize)?;
        }
    }
    Ok(())
}

fn edges(m: &Module, f: &Function, start: Start, scratch: &mut Scratch) -> Result<(), Malformed> {
    scratch.written_by.clear();
    scratch.written_by.resize(f.slots as usize, NONE);
    for e in f.edges.first + start.edge..f.edges.first + f.edges.count {
        let edge = &m.edges[e as usize];
        scratch.copies += u64::from(edge.copies.count);
        let own = inside(edge.copies, m.copies.len()) && scratch.copies <= m.copies.len() as u64;
        check(edge.block < f.blocks.count && own, Rule::Edges, "edges", e as usize)?;
        for copy in m.copies.range(edge.copies) {
            let ok = copy.src < f.slots && (f.consts.count..f.slots).contains(&copy.dst);
            check(ok && scratch.written_by[copy.dst as usize] != e, Rule::Edges, "edges", e as usize)?;
            scratch.written_by[copy.dst as usize] = e;
        }
    }
    Ok(())
}

fn switches(m: &Module, f: &Function, start: Start, scratch: &mut Scratch) -> Result<(), Malformed> {
    for s in f.switches.first + start.switch..f.switches.first + f.switches.count {
        let switch = &m.switches[s as usize];
        scratch.cases += u64::from(switch.cases.count);
        let own = inside(switch.cases, m.cases.len()) && scratch.cases <= m.cases.len() as u64;
        check(switch.default < f.edges.count && own, Rule::Switches, "switches", s as usize)?;
        let cases = m.cases.range(switch.cases);
        let sorted = cases.windows(2).all(|w| w[0].value < w[1].value);
        check(sorted && cases.iter().all(|c| c.edge < f.edges.count), Rule::Switches, "switches", s as usize)?;
    }
    Ok(())
}

/// The first rule the instruction breaks.
fn broken(m: &Module, f: &Function, op: Op, inst: &Inst, scratch: &mut Scratch) -> Option<Rule> {
    if !widths(op, inst) {
        return Some(Rule::Widths);
    }
    let kinds = op.operands();
    let fields = [inst.dst, inst.a, inst.b, inst.c];
    for (n, (kind, field)) in kinds.into_iter().zip(fields).enumerate() {
        let exists = match kind {
            Operand::No => field == NONE,
            Operand::Val | Operand::Word | Operand::Bit | Operand::SrcVal => {
                let width = operand_width(op, inst, n, kind);
                let unused = n == 0 && field == NONE && matches!(op, Op::Call | Op::CallIndirect);
                if n == 0 && !unused && field < f.consts.count {
                    return Some(Rule::Results);
                }
                if !unused {
                    let end = u64::from(field) + u64::from(limbs(width));
                    let mixed = field < f.consts.count && end > u64::from(f.consts.count);
                    if end > u64::from(f.slots) || width == 0 || mixed {
                        return Some(Rule::Operands);
                    }

                    if n > 0 && !fits(m, f, field, width) {
                        return Some(Rule::Fit);
                    }
                }
                true
            }
            Operand::Imm => true,
            Operand::Edge => field < f.edges.count,
            Operand::Switch => field < f.switches.count,
            Operand::Symbol => (field as usize) < m.symbols.len(),
            Operand::Str => has_str(m, field),
            Operand::Call => (field as usize) < m.calls.len(),
            Operand::Alloca => field < f.allocas.count,
            Operand::List => inside(Range { first: field, count: inst.b }, m.slot_lists.len()),
        };
        if !exists {
            return Some(Rule::Operands);
        }
    }
    if limbs(result_width(op, inst)) > 1 && overlaps(op, inst) {
        return Some(Rule::Results);
    }
    match op {
        Op::Call | Op::CallIndirect => call(m, f, inst, scratch),
        Op::Ret => {
            scratch.lists += u64::from(inst.b);
            let listed = u32::from(inst.width) == f.ret_width && inst.b == limbs(f.ret_width);
            let lists = scratch.lists <= m.slot_lists.len() as u64;
            let slots = || m.slot_lists.range(Range { first: inst.a, count: inst.b }).iter().all(|&s| s < f.slots);
            (!(listed && lists && slots())).then_some(Rule::Returns)
        }
        Op::Switch => {
            let switch = &m.switches[(f.switches.first + inst.b) as usize];
            let top = m.cases.range(switch.cases).last().map_or(0, |c| c.value);
            (top & !arith::mask(inst.width.into()) != 0).then_some(Rule::Switches)
        }
        _ => None,
    }
}

fn result_width(op: Op, inst: &Inst) -> u32 {
    operand_width(op, inst, 0, op.operands()[0])
}

/// Width in bits of operand `n` (0 is the result), which is slots.
fn operand_width(op: Op, inst: &Inst, n: usize, kind: Operand) -> u32 {
    match kind {
        Operand::Word => 64,
        Operand::Bit => 1,
        Operand::SrcVal if op == Op::Concat && n == 1 => u32::from(inst.width) - inst.c,
        Operand::SrcVal => inst.c,
        _ => u32::from(inst.width),
    }
}

fn overlaps(op: Op, inst: &Inst) -> bool {
    let kinds = op.operands();
    let (start, end) = (inst.dst, inst.dst.saturating_add(limbs(result_width(op, inst))));
    [inst.a, inst.b, inst.c].into_iter().enumerate().any(|(n, field)| match kinds[n + 1] {
        kind @ (Operand::Val | Operand::Word | Operand::Bit | Operand::SrcVal) => {
            field < end && start < field + limbs(operand_width(op, inst, n + 1, kind))
        }
        _ => false,
    })
}

/// If the slots are constants: do they fit the width?
fn fits(m: &Module, f: &Function, slot: u32, width: u32) -> bool {
    let top = slot + limbs(width) - 1;
    if width.is_multiple_of(64) || top >= f.consts.count {
        return true;
    }
    let c = &m.consts[(f.consts.first + top) as usize];
    c.symbol == NONE && c.value & !arith::mask(width % 64) == 0
}

fn call(m: &Module, f: &Function, inst: &Inst, scratch: &mut Scratch) -> Option<Rule> {
    let Call { args, widths, ret_width, flags, named } = m.calls[inst.b as usize];
    let tells = flags & call_flags::TELLS_CALL != 0;
    scratch.lists += u64::from(args.count) + u64::from(widths.count);
    let listed = inside(args, m.slot_lists.len()) && inside(widths, m.slot_lists.len()) && scratch.lists <= m.slot_lists.len() as u64;
    if !listed || flags & !call_flags::ALL != 0 || !tells && named > widths.count || ret_width != u32::from(inst.width) {
        return Some(Rule::Calls);
    }
    if inst.dst != NONE && ret_width == 0 {
        return Some(Rule::Calls);
    }
    let mut next = args.first as usize;
    let end = next + args.count as usize;
    for &width in m.slot_lists.range(widths) {
        let n = limbs(width) as usize;
        if !(1..=u32::from(u16::MAX)).contains(&width) || next + n > end {
            return Some(Rule::Calls);
        }
        // Limbs of one argument need not be neighbours.
        let slots = &m.slot_lists[next..next + n];
        if slots.iter().any(|&s| s >= f.slots) {
            return Some(Rule::Calls);
        }
        if !fits(m, f, slots[n - 1], (width - 1) % 64 + 1) {
            return Some(Rule::Fit);
        }
        if n > 1 && inst.dst != NONE && slots.iter().any(|&s| (inst.dst..inst.dst + limbs(ret_width)).contains(&s)) {
            return Some(Rule::Results);
        }
        next += n;
    }
    (next != end).then_some(Rule::Calls)
}

/// Are the width and the raw numbers among those the operator allows?
fn widths(op: Op, inst: &Inst) -> bool {
    let width = u32::from(inst.width);
    let float = |w: u32| Format::of(w).is_some();
    let integer = |w: u32| (1..=128).contains(&w);
    let align = |a: u32| a == 0 || a.is_power_of_two();
    match op {
        Op::Copy | Op::Add | Op::Sub | Op::Mul | Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => width > 0,
        Op::And | Op::Or | Op::Xor | Op::Fshl | Op::Fshr | Op::Select => width > 0,
        Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => width > 0,
        Op::UaddOverflow | Op::SaddOverflow | Op::UsubOverflow => width > 0,
        Op::SsubOverflow | Op::UmulOverflow | Op::SmulOverflow => width > 0,
        Op::Bitreverse | Op::Ctpop | Op::Ctlz | Op::Cttz => width > 0,
        Op::Shl | Op::Lshr | Op::Ashr => width > 0 && inst.c <= 1,
        Op::Imm => {
            let value = u64::from(inst.a) | u64::from(inst.b) << 32;
            (1..=64).contains(&width) && value & !arith::mask(width) == 0
        }
        Op::Bswap => width > 0 && width % 8 == 0,
        Op::Zext | Op::Sext => (1..width).contains(&inst.c),
        Op::Trunc => width > 0 && (width + 1..=u32::from(u16::MAX)).contains(&inst.c),
        Op::Extract => {
            let end = u64::from(inst.b) + u64::from(width);
            width > 0 && end <= u64::from(inst.c) && inst.c <= u32::from(u16::MAX)
        }
        Op::Concat => (1..width).contains(&inst.c),
        Op::PtrAdd => width == 64 && inst.c >= 1,
        Op::Load => width > 0 && (align(inst.b) || Part::unpack(inst.b).is_some() || [ATOMIC, PLAIN].contains(&inst.b)),
        Op::Store => width > 0 && (align(inst.c) || [ATOMIC, PLAIN].contains(&inst.c)),
        Op::Alloca | Op::StackSave | Op::Anchor => width == 64,
        Op::AllocaDyn => width == 64 && inst.b.is_power_of_two(),
        Op::StackRestore | Op::MemUndef | Op::MemCopy | Op::MemMove | Op::MemSet => width == 0,
        Op::Call | Op::CallIndirect => true,
        Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Frem | Op::Fneg | Op::Fabs => float(width),
        Op::Fsqrt | Op::Fma | Op::Fmin | Op::Fmax => float(width),
        Op::X87 => width == 80 && X87::from_u32(inst.c).is_some(),
        Op::Fround => float(width) && Round::from_u32(inst.b).is_some(),
        Op::Fcmp => float(width) && inst.c < 16,
        Op::Fcast => float(width) && float(inst.c) && width != inst.c,
        Op::FtoS | Op::FtoU => integer(width) && float(inst.c),
        Op::StoF | Op::UtoF => float(width) && integer(inst.c),
        Op::Switch => (1..=64).contains(&width),
        Op::Ret => true,
        Op::Br | Op::CondBr | Op::Jump | Op::Unreachable | Op::Unsupported | Op::Trap | Op::Unwound => width == 0,
    }
}
