//! Loops under a limit: how often a path takes a loop, and how the path continues once it took the loop too often.
//!
//! With lazily made inputs, such a loop is skipped (paper 2, section 2.2). What the loop may have changed becomes unknown, and the path
//! continues at the loop's head as in any iteration. From there it leaves the loop by the loop's own tests, or ends when it takes a back
//! edge.

pub mod lifted;
pub mod operation;
pub mod round;
pub mod uses;

use std::rc::Rc;

use rustc_hash::FxHashSet;
use wryneck_ir::{Inst, Module, NONE, Op, Operand, limbs};

use super::control::take;
use crate::ground::code::{Code, Kind};
use crate::ground::image::CodePos;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::places;
use crate::state::LoopCount;
use crate::step::cx::Cx;
use crate::step::plugin::{LoopEffects, Stop, Value};

/// Tests at a loop's head that count as one back edge: such a loop is one over a string or a list.
const HEADS: u32 = 4;
/// Marks the number of an operation among those of edges: a test that may leave a loop.
const HEAD: u32 = 1 << 31;
/// Marks the first operation of a loop that the path has skipped.
const SKIPPED: u32 = 1 << 30;

/// The loops of a function, innermost first.
pub(crate) struct Loops {
    all: Vec<Loop>,
    /// First operation of each block, and the blocks that it leads to.
    starts: Vec<u32>,
    next: Vec<Vec<usize>>,
}

/// A loop: everything that comes back to its head.
struct Loop {
    head: usize,
    blocks: Vec<usize>,
    /// Nothing but its head is entered from outside.
    is_natural: bool,
}

/// Counts an edge that a symbolic branch takes: back edges in one call, tests at loops' heads, and in machine code the blocks that such branches
/// lead to. `true`: the loop was skipped, and the path is at its head.
pub(super) fn count(cx: &mut Cx<'_>, code: &Code, edge: u32) -> Result<bool, Stop> {
    let limit = cx.core.config.loop_limit;
    if limit == u32::MAX {
        return Ok(false);
    }
    let taken = &code.edges[edge as usize];
    if cx.core.image.is_machine_code(code.func) {
        return count_visit(cx, code.func, taken.block).map(|()| false);
    }
    let op = cx.pos().op;
    let is_lazy = cx.core.lazy.is_some();
    if is_lazy && recursion(cx, code.func) > limit.saturating_mul(HEADS) {
        return Err(PathEnd::Limit(Limit::Loop).into());
    }
    let depth = cx.state.frames.len() as u32;
    let is_back = taken.target <= op;
    if !is_back && !is_lazy {
        return Ok(false);
    }
    let loops = loops(cx, code);
    let here = loops.at(op);
    let target = loops.at(taken.target);
    let found = match is_back {
        true => loops.all.iter().find(|l| l.head == target && l.blocks.contains(&here)),
        // A loop that tests at its head has no other symbolic branch that comes round.
        false => loops.all.iter().find(|l| l.blocks.contains(&here)).filter(|l| loops.leaves(l, here)),
    };
    if let Some(l) = found.filter(|l| is_lazy && is_skipped(cx, &loops, l, code.func, depth)) {
        return in_skipped(cx, &loops, l, (code.func, op, depth), is_back, target).map(|()| false);
    }
    let is_over = match is_back {
        true => count_up_to(cx, code.func, edge, depth, limit),
        false if found.is_none() => false,
        false => count_up_to(cx, code.func, HEAD | op, depth, limit.saturating_mul(HEADS)),
    };
    match found {
        _ if !is_over => Ok(false),
        Some(l) if is_lazy && !l.blocks.contains(&target) => Ok(false),
        Some(l) if is_lazy && l.is_natural => skip(cx, code, &loops, l).map(|()| true),
        _ => Err(PathEnd::Limit(Limit::Loop).into()),
    }
}

/// Counts that a path comes to a block, however deep in calls.
pub(super) fn count_visit(cx: &mut Cx<'_>, func: u32, block: u32) -> Result<(), Stop> {
    let limit = cx.core.config.loop_limit;
    match limit != u32::MAX && count_up_to(cx, func, block, 0, limit) {
        true => Err(PathEnd::Limit(Limit::Loop).into()),
        false => Ok(()),
    }
}

/// Counts; whether that is more than the limit.
fn count_up_to(cx: &mut Cx<'_>, func: u32, edge: u32, depth: u32, limit: u32) -> bool {
    let deepest = cx.state.frames.len() as u32;
    let loops = Rc::make_mut(&mut cx.state.loops);
    loops.retain(|l| l.depth <= deepest);
    let count = match loops.iter_mut().find(|l| (l.func, l.edge, l.depth) == (func, edge, depth)) {
        Some(l) => {
            l.count += 1;
            l.count
        }
        None => {
            loops.push(LoopCount { func, edge, depth, count: 1 });
            1
        }
    };
    count > limit
}

/// Calls of a function that are in progress: recursion over a structure has no other bound where that is cyclic.
fn recursion(cx: &Cx<'_>, func: u32) -> u32 {
    cx.state.frames.iter().filter(|frame| frame.func() == func).count() as u32
}

fn loops(cx: &mut Cx<'_>, code: &Code) -> Rc<Loops> {
    cx.core.loops.entry(code.func).or_insert_with(|| Rc::new(Loops::of(code))).clone()
}

fn is_skipped(cx: &Cx<'_>, loops: &Loops, l: &Loop, func: u32, depth: u32) -> bool {
    let mark = (func, SKIPPED | loops.starts[l.head], depth);
    cx.state.loops.iter().any(|c| (c.func, c.edge, c.depth) == mark)
}

/// A branch in the one iteration that stands for all: each test is passed once. To come round again would show nothing new.
fn in_skipped(cx: &mut Cx<'_>, loops: &Loops, l: &Loop, at: (u32, u32, u32), is_back: bool, target: usize) -> Result<(), Stop> {
    let (func, op, depth) = at;
    if is_back || count_up_to(cx, func, HEAD | op, depth, 1) {
        return Err(PathEnd::Limit(Limit::Loop).into());
    }
    if !l.blocks.contains(&target) {
        // It is left. The next time it is skipped at once.
        let most = cx.core.config.loop_limit.saturating_mul(HEADS);
        let mark = SKIPPED | loops.starts[l.head];
        Rc::make_mut(&mut cx.state.loops).retain(|c| (c.func, c.edge, c.depth) != (func, mark, depth));
        set_tests(cx, loops, l, func, depth, most);
    }
    Ok(())
}

/// Sets how often the path has passed the tests of a loop.
fn set_tests(cx: &mut Cx<'_>, loops: &Loops, l: &Loop, func: u32, depth: u32, count: u32) {
    let tests = Rc::make_mut(&mut cx.state.loops).iter_mut().filter(|c| (c.func, c.depth) == (func, depth) && c.edge & HEAD != 0);
    tests.filter(|c| l.blocks.contains(&loops.at(c.edge & !HEAD))).for_each(|c| c.count = count);
}

/// Forgets what a loop may have changed, and goes to its head: in the iteration that stands for any.
fn skip(cx: &mut Cx<'_>, code: &Code, loops: &Loops, l: &Loop) -> Result<(), Stop> {
    let Some(lazy) = cx.core.lazy.clone() else { return Err(PathEnd::Limit(Limit::Loop).into()) };
    let depth = cx.state.frames.len() as u32;
    let head = loops.starts[l.head];
    let back = (0u32..).zip(&code.edges).find(|(_, edge)| edge.target == head && l.blocks.iter().any(|b| loops.next[*b].contains(&l.head)));
    let Some((_, back)) = back.filter(|_| head < SKIPPED) else { return Err(PathEnd::Limit(Limit::Loop).into()) };
    set_tests(cx, loops, l, code.func, depth, 0);
    Rc::make_mut(&mut cx.state.loops).push(LoopCount { func: code.func, edge: SKIPPED | head, depth, count: 1 });
    let (effects, written) = Scan::of(cx, code, loops, l);
    cx.state.dirty = true;
    cx.state.approximates("a loop is skipped");
    let fresh = lazy.skip_loop(&effects, written.len(), cx);
    take(cx, back, code);
    for (slot, value) in written.into_iter().zip(fresh) {
        cx.put(slot, value);
    }
    Ok(())
}

impl Loops {
    fn of(code: &Code) -> Loops {
        let mut starts: Vec<u32> = code.edges.iter().map(|edge| edge.target).chain([code.entry.target]).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut loops = Loops { all: Vec::new(), next: vec![Vec::new(); starts.len()], starts };
        for (at, p) in (0u32..).zip(&code.ops) {
            let edges = edges_of(code, p.kind, p.a, p.b, p.c);
            if !edges.is_empty() {
                let from = loops.at(at);
                loops.next[from] = edges.into_iter().map(|edge| loops.at(code.edges[edge as usize].target)).collect();
            }
        }
        for head in 0..loops.starts.len() {
            let last: Vec<usize> = (head..loops.starts.len()).filter(|from| loops.next[*from].contains(&head)).collect();
            if !last.is_empty() {
                let found = loops.natural(head, last);
                loops.all.push(found);
            }
        }
        loops.all.sort_by_key(|l| l.blocks.len());
        loops
    }

    fn at(&self, op: u32) -> usize {
        self.starts.partition_point(|start| *start <= op).saturating_sub(1)
    }

    fn ops(&self, block: usize, code: &Code) -> std::ops::Range<u32> {
        self.starts[block]..self.starts.get(block + 1).copied().unwrap_or(code.ops.len() as u32)
    }

    /// The loop of the edges that come back from `last` to `head`: what leads to those without passing `head`.
    fn natural(&self, head: usize, last: Vec<usize>) -> Loop {
        let mut blocks = vec![head];
        let mut work = last;
        while let Some(block) = work.pop() {
            if !blocks.contains(&block) {
                blocks.push(block);
                work.extend((0..self.next.len()).filter(|from| self.next[*from].contains(&block)));
            }
        }
        let entered = |block: &usize| (0..self.next.len()).any(|from| !blocks.contains(&from) && self.next[from].contains(block));
        // The function's first block is entered by its call.
        let is_natural = blocks[1..].iter().all(|block| *block != 0 && !entered(block));
        Loop { head, is_natural, blocks }
    }

    /// The blocks that a block leads to, itself among them.
    fn reachable(&self, block: usize) -> FxHashSet<usize> {
        let (mut all, mut work) = (FxHashSet::default(), vec![block]);
        while let Some(block) = work.pop() {
            if all.insert(block) {
                work.extend(&self.next[block]);
            }
        }
        all
    }

    fn leaves(&self, l: &Loop, block: usize) -> bool {
        self.next[block].iter().any(|to| !l.blocks.contains(to))
    }
}

/// The edges that an operation may take.
fn edges_of(code: &Code, kind: Kind, a: u32, b: u32, c: u32) -> Vec<u32> {
    match kind {
        Kind::Br => vec![a],
        Kind::CondBr => vec![b, c],
        Kind::Switch => {
            let s = &code.switches[b as usize];
            s.cases.iter().map(|(_, edge)| *edge).chain([s.default]).collect()
        }
        _ => Vec::new(),
    }
}

/// What a loop may change, found by a look at its instructions.
struct Scan<'a> {
    module: &'a Module,
    /// Slots that it writes.
    written: FxHashSet<u32>,
    effects: LoopEffects,
    /// Pointers that it uses as more than the address of a load or store.
    used: Vec<Value>,
    /// It writes to addresses that it computes.
    computes: bool,
}

impl Scan<'_> {
    /// The effects, and the slots that the loop writes, in order.
    fn of(cx: &mut Cx<'_>, code: &Code, loops: &Loops, l: &Loop) -> (LoopEffects, Vec<u32>) {
        let image = cx.core.image.clone();
        let module = image.function(code.func).0;
        let insts = |block: usize| loops.ops(block, code).map(|op| (op, module.insts[(code.first_inst + op) as usize]));
        let mut written = FxHashSet::default();
        for &block in &l.blocks {
            for (op, inst) in insts(block) {
                written.extend(results(module, &inst));
                let p = code.ops[op as usize];
                for edge in edges_of(code, p.kind, p.a, p.b, p.c) {
                    let copies = code.edges[edge as usize].copies;
                    written.extend(code.copies[copies.first as usize..(copies.first + copies.count) as usize].iter().map(|c| c.dst));
                }
            }
        }
        let leaving: Vec<usize> = l.blocks.iter().copied().filter(|block| loops.leaves(l, *block)).collect();
        let exit = match leaving[..] {
            [only] => Some(loops.ops(only, code)),
            _ => None,
        };
        let place = places::name(&cx.core.image, cx.pos());
        let effects = LoopEffects { place, exit, ..LoopEffects::default() };
        let mut scan = Scan { module, written, effects, used: Vec::new(), computes: false };
        for &block in &l.blocks {
            // Values of the block that do not change from iteration to iteration, by slot.
            let mut known: Vec<(u32, Value)> = Vec::new();
            for (_, inst) in insts(block) {
                scan.instruction(cx, &inst, &mut known);
            }
        }
        let mut order: Vec<u32> = scan.written.iter().copied().collect();
        order.sort_unstable();
        if scan.computes {
            for &slot in &order {
                let value = cx.operand(slot, 64);
                scan.used.push(value);
            }
            scan.effects.reached = scan.used;
        } else {
            scan.effects.loaded.clear();
        }
        (scan.effects, order)
    }

    /// The value of a slot, if it is the same in each iteration.
    fn value(&self, cx: &mut Cx<'_>, slot: u32, known: &[(u32, Value)]) -> Option<Value> {
        match known.iter().rev().find(|(s, _)| *s == slot) {
            Some((_, value)) => Some(*value),
            None if self.written.contains(&slot) => None,
            None => Some(cx.operand(slot, 64)),
        }
    }

    fn instruction(&mut self, cx: &mut Cx<'_>, inst: &Inst, known: &mut Vec<(u32, Value)>) {
        let Some(op) = inst.operator() else { return };
        let address = if matches!(op, Op::Load | Op::Store) { self.value(cx, inst.a, known) } else { None };
        match op {
            Op::Store => match address {
                Some(address) => self.effects.stores.push((address, u64::from(inst.width).div_ceil(8))),
                None => self.computes = true,
            },
            Op::MemUndef | Op::MemCopy | Op::MemMove | Op::MemSet => {
                let len = if op == Op::MemUndef { inst.b } else { inst.c };
                match (self.value(cx, inst.a, known), self.value(cx, len, known)) {
                    (Some(to), Some(Value::Bits(len))) => self.effects.stores.push((to, len)),
                    _ => self.computes = true,
                }
            }
            Op::Call | Op::CallIndirect => (self.computes, self.effects.calls) = (true, true),
            _ => {}
        }
        let own = if matches!(op, Op::Load | Op::Store) { inst.a } else { NONE };
        let slots = cx.state.frame().len();
        for slot in operands(self.module, inst).into_iter().filter(|slot| (*slot as usize) < slots) {
            if let Some(value) = self.value(cx, slot, known) {
                let list = if slot == own { &mut self.effects.loaded } else { &mut self.used };
                list.push(value);
            }
        }
        let result = match op {
            Op::Alloca => {
                let frame = cx.state.frame();
                let offset = cx.core.image.code(frame.func()).frame[inst.a as usize].offset;
                Some(Value::Bits(frame.base + offset))
            }
            Op::PtrAdd => match (self.value(cx, inst.a, known), self.value(cx, inst.b, known)) {
                (Some(Value::Bits(base)), Some(Value::Bits(count))) => {
                    Some(Value::Bits(base.wrapping_add(count.wrapping_mul(inst.c.into()))))
                }
                (Some(Value::Sym(base)), Some(Value::Bits(count))) => {
                    let offset = cx.core.pool.bits(64, count.wrapping_mul(inst.c.into()));
                    Some(Value::Sym(cx.core.pool.add(base, offset)))
                }
                _ => None,
            },
            _ => None,
        };
        let dst: Vec<u32> = results(self.module, inst).collect();
        known.retain(|(slot, _)| !dst.contains(slot));
        if let Some(value) = result {
            known.push((inst.dst, value));
        }
    }
}

/// The instruction that the operation at a place was made from.
pub(super) fn inst_at(pos: CodePos, cx: &Cx<'_>) -> Inst {
    let image = &cx.core.image;
    image.function(pos.func).0.insts[(image.code(pos.func).first_inst + pos.op) as usize]
}

/// The slots that an instruction writes.
fn results(module: &Module, inst: &Inst) -> std::ops::Range<u32> {
    let count = match inst.operator() {
        Some(Op::Call | Op::CallIndirect) => limbs(module.calls[inst.b as usize].ret_width),
        Some(op) => match op.operands()[0] {
            Operand::No => 0,
            Operand::Val => limbs(inst.width.into()),
            _ => 1,
        },
        None => 0,
    };
    if inst.dst == NONE { 0..0 } else { inst.dst..inst.dst + count }
}

/// The slots that an instruction reads.
fn operands(module: &Module, inst: &Inst) -> Vec<u32> {
    let Some(op) = inst.operator() else { return Vec::new() };
    let mut all = Vec::new();
    for (operand, field) in op.operands().into_iter().zip([inst.dst, inst.a, inst.b, inst.c]).skip(1) {
        let count = match operand {
            Operand::Val => limbs(inst.width.into()),
            Operand::SrcVal => limbs(inst.c).max(1),
            Operand::Word | Operand::Bit => 1,
            Operand::Call => {
                all.extend(module.slot_lists.range(module.calls[field as usize].args).iter().copied());
                0
            }
            _ => 0,
        };
        if field != NONE {
            all.extend(field..field + count);
        }
    }
    all
}
