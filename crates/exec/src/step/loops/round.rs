//! Loops that iterate again because of symbolic input, for callers that tell must errors from may errors.

use std::ops::Range;

use rustc_hash::FxHashSet;
use wryneck_ir::{Inst, Module, Op};

use super::{HEAD, Loop, Loops, SKIPPED, edges_of, lifted, loops, operands, results};
use crate::ground::code::{Code, Kind};
use crate::ground::image::CodePos;
use crate::ground::places;
use crate::state::LoopCount;
use crate::step::cx::Cx;

/// Times that a loop's operations are looked at for what reaches the next round.
const ROUNDS: u32 = 3;
/// Blocks without a branch that may lie between a test and the loop that it is about.
const JUMPS: u32 = 4;

/// A loop of which input decided that it goes round again.
pub struct Round {
    /// Where it begins, in words.
    pub place: String,
    func: u32,
    /// Its operations; `None`: all of the function's, which is machine code and has no loops.
    ops: Option<Vec<Range<u32>>>,
    /// Its operations on what it has loaded: tests of data are among them.
    on_loads: Vec<u32>,
}

impl Round {
    /// Whether a place is inside the loop.
    pub fn contains(&self, pos: CodePos) -> bool {
        pos.func == self.func && self.ops.as_ref().is_none_or(|all| all.iter().any(|ops| ops.contains(&pos.op)))
    }

    /// Whether the branch at this place only counts: it tests nothing that the loop has loaded. `false` for machine code, where that is not known.
    pub fn counts(&self, pos: CodePos) -> bool {
        self.ops.is_some() && self.contains(pos) && !self.on_loads.contains(&pos.op)
    }
}

/// The innermost loop that the path is inside of and that input had go round again, in any call in progress. Machine code has no loops: there it is the
/// function of which the path entered a block twice by symbolic branches. Counts of loops are kept only under a loop limit. Asks no solver.
pub fn round_of_input(cx: &mut Cx<'_>) -> Option<Round> {
    rounds(cx, false).pop()
}

/// The loops that input had go round again in the calls in progress, those that the path has left as well; as above.
pub fn all_rounds_of_input(cx: &mut Cx<'_>) -> Vec<Round> {
    rounds(cx, true)
}

/// All such loops, or the innermost that the path is inside of.
fn rounds(cx: &mut Cx<'_>, all: bool) -> Vec<Round> {
    let mut found = Vec::new();
    let image = cx.core.image.clone();
    let frames: Vec<(u32, u32, u32)> = (1..).zip(&cx.state.frames).map(|(depth, f)| (depth, f.func(), f.op())).collect();
    let top = frames.len() as u32;
    for (depth, func, op) in frames.into_iter().rev() {
        // The operation after a call, but where the path is.
        let op = if depth == top { op } else { op.saturating_sub(1) };
        if image.is_machine_code(func) {
            if cx.state.loops.iter().any(|c| c.func == func && c.count > 1) {
                let place = places::name(&image, CodePos { func, op });
                found.push(Round { place, func, ops: None, on_loads: Vec::new() });
                if !all {
                    break;
                }
            }
            continue;
        }
        let counts: Vec<LoopCount> = cx.state.loops.iter().filter(|c| (c.func, c.depth) == (func, depth)).copied().collect();
        if counts.is_empty() {
            continue;
        }
        let code = image.code(func);
        let loops = loops(cx, code);
        let here = loops.at(op);
        let goes_round = |l: &Loop| {
            counts.iter().any(|c| match c.edge {
                mark if mark & HEAD != 0 => c.count > 1 && l.blocks.contains(&loops.at(mark & !HEAD)),
                mark if mark & SKIPPED != 0 => loops.starts[l.head] == mark & !SKIPPED,
                edge => loops.at(code.edges[edge as usize].target) == l.head,
            })
        };
        for l in loops.all.iter().filter(|l| (all || l.blocks.contains(&here)) && goes_round(l)) {
            let place = places::name(&image, CodePos { func, op: loops.starts[l.head] });
            let ops = Some(l.blocks.iter().map(|block| loops.ops(*block, code)).collect());
            found.push(Round { place, func, ops, on_loads: loops.on_loads(l, code, image.function(func).0) });
            if !all {
                return found;
            }
        }
    }
    found
}

/// How a path goes past a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It has met none of the loop's tests before, in this call.
    WithoutRound,
    AfterRounds,
}

/// How this side of the branch that the path is at goes past a loop: out of it, or past one that the branch stands before. `None`: it does not. Asks no
/// solver.
pub fn leaves_loop(cx: &mut Cx<'_>, taken: bool) -> Option<Exit> {
    let (pos, depth) = (cx.pos(), cx.state.frames.len() as u32);
    let (is_own, met) = if cx.core.image.is_machine_code(pos.func) {
        let is_own = lifted::loop_past(pos, taken, cx)?.is_own;
        let code = cx.core.image.code(pos.func);
        let p = code.ops[pos.op as usize];
        let into = code.edges[(if taken { p.c } else { p.b }) as usize].block;
        (is_own, cx.state.loops.iter().any(|c| (c.func, c.edge) == (pos.func, into)))
    } else {
        let met = cx.state.loops.iter().any(|c| (c.func, c.edge, c.depth) == (pos.func, HEAD | pos.op, depth));
        (loop_left_out(pos, taken, cx)?.0, met)
    };
    Some(if is_own && met { Exit::AfterRounds } else { Exit::WithoutRound })
}

/// The loop that a side of a branch goes past: the branch's own, or one that it stands before. Whether it is its own, and the loop's operations.
pub(super) fn loop_left_out(pos: CodePos, taken: bool, cx: &mut Cx<'_>) -> Option<(bool, Vec<Range<u32>>)> {
    let image = cx.core.image.clone();
    if image.is_machine_code(pos.func) {
        return None;
    }
    let code = image.code(pos.func);
    let p = code.ops[pos.op as usize];
    if p.kind != Kind::CondBr {
        return None;
    }
    let loops = loops(cx, code);
    let block = |edge: u32| loops.at(code.edges[loops.decided(edge, code) as usize].target);
    let (to, other) = if taken { (block(p.b), block(p.c)) } else { (block(p.c), block(p.b)) };
    let here = loops.at(pos.op);
    // Blocks that only go on may lie before a loop's head.
    let past_jumps = |mut at: usize| {
        for _ in 0..JUMPS {
            match loops.next[at].as_slice() {
                [next] if !loops.all.iter().any(|l| l.head == at) => at = *next,
                _ => break,
            }
        }
        at
    };
    let is_own = |l: &Loop| l.blocks.contains(&here) && !l.blocks.contains(&to) && l.blocks.contains(&other);
    // Compilers test before a loop what the loop tests: on the same line of the source.
    let line = |op: u32| places::source(&image, CodePos { func: pos.func, op }).into_iter().next().map(|s| (s.file, s.line));
    let head = past_jumps(other);
    let is_test_of = |l: &Loop| {
        let last = |block: &usize| loops.ops(*block, code).end - 1;
        l.blocks.iter().any(|block| loops.leaves(l, *block) && line(last(block)) == line(pos.op))
    };
    let is_before = |l: &Loop| l.head == head && !l.blocks.contains(&here) && !l.blocks.contains(&past_jumps(to)) && is_test_of(l);
    let own = loops.all.iter().find(|l| is_own(l));
    let l = own.or_else(|| loops.all.iter().find(|l| is_before(l)))?;
    Some((own.is_some(), l.blocks.iter().map(|block| loops.ops(*block, code)).collect()))
}

impl Loops {
    /// The edge that control takes by itself after this one: `a && b` goes to a branch on a constant where `a` does not hold.
    fn decided(&self, mut edge: u32, code: &Code) -> u32 {
        for _ in 0..JUMPS {
            let (target, copies) = (code.edges[edge as usize].target, code.edges[edge as usize].copies);
            let last = code.ops[self.ops(self.at(target), code).end as usize - 1];
            let copies = &code.copies[copies.first as usize..(copies.first + copies.count) as usize];
            let copied = copies.iter().find(|copy| last.kind == Kind::CondBr && copy.dst == last.a);
            let Some(value) = copied.and_then(|copy| code.consts.get(copy.src as usize)) else { break };
            edge = if value & 1 == 1 { last.b } else { last.c };
        }
        edge
    }

    /// The operations of a loop that read what it loads, or what its calls give, in this round or the one before; in the order of its blocks.
    fn on_loads(&self, l: &Loop, code: &Code, module: &Module) -> Vec<u32> {
        let mut blocks = l.blocks.clone();
        blocks.sort_unstable();
        let insts =
            blocks.into_iter().flat_map(|block| self.ops(block, code)).map(|op| (op, module.insts[(code.first_inst + op) as usize]));
        let insts: Vec<(u32, Inst)> = insts.collect();
        let (mut loaded, mut readers): (FxHashSet<u32>, FxHashSet<u32>) = Default::default();
        for _ in 0..ROUNDS {
            for (op, inst) in &insts {
                let reads = operands(module, inst).iter().any(|slot| loaded.contains(slot));
                if reads {
                    readers.insert(*op);
                }
                // A slot has several values, one after the other.
                for slot in results(module, inst) {
                    match reads || matches!(inst.operator(), Some(Op::Load | Op::Call | Op::CallIndirect)) {
                        true => loaded.insert(slot),
                        false => loaded.remove(&slot),
                    };
                }
                let p = code.ops[*op as usize];
                for edge in edges_of(code, p.kind, p.a, p.b, p.c) {
                    let copies = code.edges[edge as usize].copies;
                    let copies = &code.copies[copies.first as usize..(copies.first + copies.count) as usize];
                    loaded.extend(copies.iter().filter(|copy| loaded.contains(&copy.src)).map(|copy| copy.dst).collect::<Vec<_>>());
                }
            }
        }
        readers.into_iter().collect()
    }
}
