//! Branches and switches on symbolic conditions, and edges taken outside the inner loop.

use std::rc::Rc;

use wryneck_expr::ExprId;
use wryneck_ir::{Inst, NoCode, Op};

use super::{contexts, loops};
use crate::ground::code::{Code, PreparedEdge};
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::step::cx::{Cx, require_or_end};
use crate::step::plugin::{Stop, Value};
use crate::step::recorder::Step;
use crate::step::resolve;
use crate::step::sides::Way;

/// Takes the branch the top frame is at.
pub fn branch(cx: &mut Cx<'_>, code: &Code, op: Op) -> Result<(), Stop> {
    let p = code.ops[cx.pos().op as usize];
    let edge = match op {
        Op::CondBr => {
            let cond = cx.wide_operand(p.a, 1);
            let ways = (Way::of(code, p.b), Way::of(code, p.c));
            if cx.decide_branch(cond, Some(ways))? { p.b } else { p.c }
        }
        Op::Switch => switch(cx, code, p.b, p.a, 64 - u32::from(p.shift))?,
        _ => p.a,
    };
    if loops::count(cx, code, edge)? {
        return Ok(());
    }
    if let Some(recorder) = &mut cx.core.recorder {
        recorder.step(Step::Edge { op: cx.state.frame().op(), edge });
    }
    let op = cx.pos().op;
    cx.core.take_side(cx.state, code, op, edge);
    if cx.core.tree.remembers() && cx.core.counting.is_none() {
        cx.core.contexts.enter(contexts::number(&cx.state.frames, code.edges[edge as usize].block));
    }
    take(cx, &code.edges[edge as usize], code);
    Ok(())
}

/// The edge a switch takes: one decision among its distinct edges, in order of first appearance, the default last.
fn switch(cx: &mut Cx<'_>, code: &Code, number: u32, slot: u32, width: u32) -> Result<u32, Stop> {
    let s = &code.switches[number as usize];
    let value = match cx.operand(slot, width) {
        Value::Bits(v) => return Ok(s.cases.binary_search_by_key(&v, |c| c.0).map_or(s.default, |i| s.cases[i].1)),
        Value::Sym(e) => e,
    };
    let mut sides: Vec<(u32, ExprId)> = Vec::new();
    let pool = &mut cx.core.pool;
    let mut any = pool.fls();
    for &(v, edge) in &s.cases {
        let constant = pool.bits(width, v);
        let is = pool.eq(value, constant);
        any = pool.or(any, is);
        if edge == s.default {
            continue;
        }
        match sides.iter_mut().find(|(e, _)| *e == edge) {
            Some((_, cond)) => *cond = pool.or(*cond, is),
            None => sides.push((edge, is)),
        }
    }
    let listed = sides.iter().map(|(_, c)| *c).fold(pool.fls(), |a, b| pool.or(a, b));
    let other = pool.not(listed);
    sides.push((s.default, other));
    let conds: Vec<ExprId> = sides.iter().map(|(_, c)| *c).collect();
    let ways: Vec<Way> = sides.iter().map(|(e, _)| Way::of(code, *e)).collect();
    Ok(sides[cx.choose(&conds, &ways)?].0)
}

/// Jumps to the code address in a slot; a symbolic address is concretised. If the address has no block yet, the machine code function is
/// extended. This needs the image unshared: hold no other reference to it while paths run.
pub fn jump(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let target = match cx.operand(inst.a, 64) {
        // The address of a variable is no input.
        Value::Sym(e) => cx.core.pool.as_u64(e).map_or(Value::Sym(e), Value::Bits),
        target @ Value::Bits(_) => target,
    };
    let Some(source) = cx.core.code_source.clone() else {
        return Err(PathEnd::Unsupported("computed jump without a code source".into()).into());
    };
    let unknown = match target {
        Value::Sym(target) if !cx.core.pool.is_chosen(target) => resolve::unknown_function(cx, Value::Sym(target))?,
        Value::Sym(_) | Value::Bits(_) => None,
    };
    let any = source.borrow().any_function();
    let (address, symbolic) = match (unknown, any) {
        // What is there stands for any function: its call is skipped, and it returns.
        (Some(name), Some(address)) => {
            cx.state.called_unknown = Some(name.into());
            (address, false)
        }
        (Some(name), None) => {
            return Err(PathEnd::Unsupported(format!("machine code calls the unknown function `{name}`")).into());
        }
        (None, _) => {
            if let Value::Sym(target) = target {
                let ranges = source.borrow().executable();
                if !ranges.is_empty() {
                    let inside = is_within(cx, target, &ranges);
                    require_code(cx, target, inside)?;
                }
            }
            (cx.target(target, "target of a computed jump")?, matches!(target, Value::Sym(_)))
        }
    };
    let func = cx.pos().func;
    if let Some(name) = cx.core.image.name_at(address) {
        return Err(PathEnd::Unsupported(format!("a jump to `{name}`, which is not machine code here")).into());
    }
    if !cx.core.image.is_machine_code(func) {
        return Err(PathEnd::Unsupported("a computed jump in code that is not machine code".into()).into());
    }
    let image = Rc::get_mut(&mut cx.core.image).ok_or_else(|| PathEnd::Internal("the program is in use and cannot grow".into()))?;
    let memory = &cx.state.memory;
    let edge = image.edge_to(address, &mut *source.borrow_mut(), &|at, out| memory.space.read(at, out));
    let edge = edge.map_err(|no| match no {
        NoCode::NotExecutable(..) => PathEnd::fault(FaultKind::BadCallTarget, format!("jump to {no}")),
        NoCode::Unsupported(why) => PathEnd::Unsupported(why),
        NoCode::Malformed(why) => {
            cx.core.code_source = None;
            PathEnd::Internal(why.to_string())
        }
    })?;
    cx.core.coverage.grow(image.blocks);
    cx.core.mark_lowered();
    if let Some(recorder) = &mut cx.core.recorder {
        let frame = cx.state.frame();
        let (slots, tags) = frame.slots();
        recorder.leaves(func, frame.op(), slots, tags);
        recorder.step(Step::Jump { op: frame.op(), target: edge.target });
    }
    if symbolic {
        loops::count_visit(cx, func, edge.block)?;
    }
    let image = cx.core.image.clone();
    take(cx, &edge, image.code(func));
    Ok(())
}

/// Whether an address lies in one of these ranges (address and length).
pub(super) fn is_within(cx: &mut Cx<'_>, address: ExprId, ranges: &[(u64, u64)]) -> ExprId {
    let pool = &mut cx.core.pool;
    let mut inside = pool.fls();
    for (base, size) in ranges {
        let (base, size) = (pool.bits(64, *base), pool.bits(64, *size));
        let offset = pool.sub(address, base);
        let here = pool.ult(offset, size);
        inside = pool.or(inside, here);
    }
    inside
}

/// Faults if an address that is jumped to can be none of code (`inside` is false): one finding, not one for each address without code.
/// Where input chooses the address, as in a table of functions, each one inside is followed. Where the address is input itself, such as a
/// function pointer that was overwritten, what code happens to lie there tells nothing more, and the path ends.
pub(super) fn require_code(cx: &mut Cx<'_>, target: ExprId, inside: ExprId) -> Result<(), Stop> {
    const OUTSIDE: &str = "jump to an address made of input, which can lie outside of executable memory";
    let fault = |_: &Cx<'_>, _: &_| PathEnd::fault(FaultKind::BadCallTarget, OUTSIDE);
    // What an under-constrained pointer may be is graded and assumed away, as other errors are.
    let is_lazy = cx.core.lazy.clone().is_some_and(|lazy| lazy.is_lazy(target, cx));
    match is_lazy || cx.core.pool.is_chosen(target) {
        true => cx.require(inside, fault),
        false => require_or_end(cx, inside, fault),
    }
}

/// Makes an edge's copies and moves the top frame to its target.
pub fn take(cx: &mut Cx<'_>, edge: &PreparedEdge, code: &Code) {
    let frame = cx.state.frame_mut();
    for c in &code.copies[edge.copies.first as usize..(edge.copies.first + edge.copies.count) as usize] {
        frame.copy(c.dst as usize, c.src as usize);
    }
    frame.go_to(edge.target);
    cx.state.instructions += u64::from(edge.weight);
    cx.core.entered += u64::from(edge.weight);
    cx.core.cover(cx.state, edge.block);
}
