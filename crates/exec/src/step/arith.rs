//! Arithmetic on symbolic operands: one expression for one operation. Nothing here forks or asks the solver.

use std::cmp::Ordering;

use wryneck_expr::{ExprId, Pool};
use wryneck_ir::{FcmpPred, Op};

use super::loops::inst_at;
use super::run::expr_of;
use crate::ground::code::{Kind, Prepared};
use crate::step::cx::Cx;
use crate::step::plugin::Value;

/// The expression of a slot at a width: a tagged slot's own, cut or zero-extended to the width; a constant otherwise.
pub fn slot_expr(pool: &mut Pool, value: u64, tag: u8, width: u32) -> ExprId {
    if tag == 0 {
        return pool.bits(width, if width < 64 { value & ((1 << width) - 1) } else { value });
    }
    let e = expr_of(value);
    fit(pool, e, width)
}

/// The expression at another width: its low bits, or zero-extended.
pub fn fit(pool: &mut Pool, e: ExprId, width: u32) -> ExprId {
    match pool.width(e).cmp(&width) {
        Ordering::Equal => e,
        Ordering::Less => pool.zext(e, width),
        Ordering::Greater => pool.extract(e, 0, width),
    }
}

/// What a slot holds for this expression: (contents, tag).
pub fn to_slot(pool: &Pool, e: ExprId) -> (u64, u8) {
    match pool.as_plain(e) {
        Some(value) => (value, 0),
        None => (u64::from(e.raw()), 1),
    }
}

/// Does a prepared operation of at most 64 bits with a symbolic operand; `slots` and `tags` are the frame's.
#[inline(never)]
pub fn symbolic(pool: &mut Pool, slots: &mut [u64], tags: &mut [u8], p: &Prepared) {
    let width = 64 - u32::from(p.shift);
    let operand = |pool: &mut Pool, slot: u32, width: u32| slot_expr(pool, slots[slot as usize], tags[slot as usize], width);
    let result = match p.kind {
        Kind::Sext => {
            let a = operand(pool, p.a, 64 - u32::from(p.extra));
            pool.sext(a, width)
        }
        Kind::Trunc => operand(pool, p.a, width),
        Kind::Extract => {
            let a = operand(pool, p.a, 64);
            pool.extract(a, p.b, width)
        }
        Kind::Concat => {
            let (hi, lo) = (operand(pool, p.a, width - p.c), operand(pool, p.b, p.c));
            pool.concat(hi, lo)
        }
        Kind::Select => {
            let c = operand(pool, p.a, 1);
            let (a, b) = (operand(pool, p.b, width), operand(pool, p.c, width));
            pool.ite(c, a, b)
        }
        Kind::Bswap => {
            let a = operand(pool, p.a, width);
            pool.bswap(a)
        }
        kind => {
            let (a, b) = (operand(pool, p.a, width), operand(pool, p.b, width));
            plain(pool, kind, a, b)
        }
    };
    let (value, tag) = to_slot(pool, result);
    slots[p.dst as usize] = value;
    tags[p.dst as usize] = tag;
}

fn plain(pool: &mut Pool, kind: Kind, a: ExprId, b: ExprId) -> ExprId {
    match kind {
        Kind::Add => pool.add(a, b),
        Kind::Sub => pool.sub(a, b),
        Kind::Mul => pool.mul(a, b),
        Kind::And => pool.and(a, b),
        Kind::Or => pool.or(a, b),
        Kind::Xor => pool.xor(a, b),
        Kind::Eq | Kind::EqBr => pool.eq(a, b),
        Kind::Ne | Kind::NeBr => pool.ne(a, b),
        Kind::Ult | Kind::UltBr => pool.ult(a, b),
        Kind::Ule | Kind::UleBr => pool.ule(a, b),
        Kind::Slt | Kind::SltBr => pool.slt(a, b),
        Kind::Sle | Kind::SleBr => pool.sle(a, b),
        other => unreachable!("{other:?} is not plain arithmetic: the inner loop does not send it here"),
    }
}

/// The expression of an integer operator of any width that neither forks nor faults; `None` for other operators. Operands are
/// whole values; `number` is the raw number the operator has in `c` (or `b`), if any.
pub fn integer(pool: &mut Pool, op: Op, width: u32, operands: &[ExprId], number: u32) -> Option<ExprId> {
    let a = *operands.first()?;
    let b = operands.get(1).copied().unwrap_or(a);
    Some(match op {
        Op::Copy => a,
        Op::Add => pool.add(a, b),
        Op::Sub => pool.sub(a, b),
        Op::Mul => pool.mul(a, b),
        Op::Udiv => pool.udiv(a, b),
        Op::Sdiv => pool.sdiv(a, b),
        Op::Urem => pool.urem(a, b),
        Op::Srem => pool.srem(a, b),
        Op::And => pool.and(a, b),
        Op::Or => pool.or(a, b),
        Op::Xor => pool.xor(a, b),
        Op::Shl => pool.shl(a, b),
        Op::Lshr => pool.lshr(a, b),
        Op::Ashr => pool.ashr(a, b),
        Op::Fshl => pool.fshl(a, b, *operands.get(2)?),
        Op::Fshr => pool.fshr(a, b, *operands.get(2)?),
        Op::Eq => pool.eq(a, b),
        Op::Ne => pool.ne(a, b),
        Op::Ult => pool.ult(a, b),
        Op::Ule => pool.ule(a, b),
        Op::Slt => pool.slt(a, b),
        Op::Sle => pool.sle(a, b),
        Op::UaddOverflow => pool.uadd_overflow(a, b),
        Op::SaddOverflow => pool.sadd_overflow(a, b),
        Op::UsubOverflow => pool.usub_overflow(a, b),
        Op::SsubOverflow => pool.ssub_overflow(a, b),
        Op::UmulOverflow => pool.umul_overflow(a, b),
        Op::SmulOverflow => pool.smul_overflow(a, b),
        Op::Zext => pool.zext(a, width),
        Op::Sext => pool.sext(a, width),
        Op::Trunc => pool.extract(a, 0, width),
        Op::Extract => pool.extract(a, number, width),
        Op::Concat => pool.concat(a, b),
        Op::Select => pool.ite(a, b, *operands.get(2)?),
        Op::Bswap => pool.bswap(a),
        Op::Bitreverse => pool.bitreverse(a),
        Op::Ctpop => pool.ctpop(a),
        Op::Ctlz => pool.ctlz(a),
        Op::Cttz => pool.cttz(a),
        _ => return None,
    })
}

/// Outcome of a float comparison under a predicate of [`FcmpPred`], as 0 or 1.
pub fn fcmp(order: Option<Ordering>, pred: u32) -> u64 {
    let outcome = match order {
        Some(Ordering::Equal) => FcmpPred::EQ,
        Some(Ordering::Greater) => FcmpPred::GT,
        Some(Ordering::Less) => FcmpPred::LT,
        None => FcmpPred::UNORDERED,
    };
    u64::from(pred & outcome != 0)
}

/// What the operation that the path is at asks of its second operand, if that is symbolic: a divisor is not zero, and a shift is below the width.
/// Asks no solver.
pub fn asks_of_operand(cx: &mut Cx<'_>) -> Option<ExprId> {
    let inst = inst_at(cx.pos(), cx);
    let (operator, width) = (inst.operator()?, u32::from(inst.width));
    let divides = matches!(operator, Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem);
    if width > 64 || !divides && !matches!(operator, Op::Shl | Op::Lshr | Op::Ashr) {
        return None;
    }
    let Value::Sym(operand) = cx.operand(inst.b, width) else { return None };
    let pool = &mut cx.core.pool;
    let bound = pool.bits(width, if divides { 0 } else { width.into() });
    Some(if divides { pool.ne(operand, bound) } else { pool.ult(operand, bound) })
}
