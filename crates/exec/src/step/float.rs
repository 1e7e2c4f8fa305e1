//! Floating point, bit for bit as x86-64 computes it, on concrete and on symbolic operands.
//!
//! A symbolic operand makes a node of the expression language (`wryneck_expr::float`), without a branch or a query. Three kinds of values are
//! concretised:
//! - in executables, an integer of few values that is converted to floating point ([`FEW`]);
//! - a floating-point number of few values whose bits the program takes apart ([`taken_apart`]);
//! - operands of operations that have no such node: remainders, `fma` of 80 bits, functions of the x87, formats of 16 and 128 bits, and conversions of integers above 64 bits.

use wryneck_expr::{ExprId, FloatOp, Kind, Model, Pool, SymId};
use wryneck_ir::float::{self, Format};
use wryneck_ir::{FcmpPred, Inst, Op, Round, X87, limbs};

use wryneck_solver::{Domain, ranges};

use crate::ground::path_end::PathEnd;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};

/// Integers of at most so many values are concretised when they become numbers in machine code, whose C library takes numbers apart to print them. That of
/// bitcode concretises what is printed (`runtime/musl/src/stdio/vfprintf.c`), so that numbers which are compared stay symbolic.
const FEW: u64 = 100;

/// Numbers of at most so many values are concretised where their bits are taken apart.
const MOST_APART: u64 = 1000;
const TAKEN_APART: &str = "input of a number whose bits are taken apart";

pub fn is_float(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Fadd | Fsub
            | Fmul
            | Fdiv
            | Frem
            | Fneg
            | Fabs
            | Fsqrt
            | Fma
            | Fmin
            | Fmax
            | Fround
            | X87
            | Fcmp
            | Fcast
            | FtoS
            | FtoU
            | StoF
            | UtoF
    )
}

/// Does the operation at the top frame.
pub fn step(cx: &mut Cx<'_>, op: Op, inst: &Inst) -> Result<(), Stop> {
    let width = u32::from(inst.width);
    let from = if matches!(op, Op::Fcast | Op::FtoS | Op::FtoU | Op::StoF | Op::UtoF) { inst.c } else { width };
    let mut a = cx.wide_operand(inst.a, from);
    if matches!(op, Op::StoF | Op::UtoF) && has_few_values(cx, a, op == Op::StoF) {
        let value = cx.concretise(Value::Sym(a), "number given to a floating-point operation")?;
        a = cx.core.pool.bits(from, value);
    }
    if matches!(op, Op::Fneg | Op::Fabs) {
        let result = sign_changed(cx, op, a, width);
        cx.put_wide(inst.dst, result);
        return Ok(());
    }
    let mut operands = vec![a];
    if matches!(op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Frem | Op::Fma | Op::Fmin | Op::Fmax | Op::X87 | Op::Fcmp) {
        operands.push(cx.wide_operand(inst.b, width));
    }
    if op == Op::Fma {
        operands.push(cx.wide_operand(inst.c, width));
    }
    for operand in &mut operands {
        *operand = settled(cx, *operand)?;
    }
    let known: Option<Vec<u128>> = operands.iter().map(|&e| cx.core.pool.as_u128(e)).collect();
    if known.is_none()
        && let Some(result) = symbolic(cx, op, inst, &operands)
    {
        cx.put_wide(inst.dst, result);
        return Ok(());
    }
    let known = match known {
        Some(known) => known,
        None => operands.iter().map(|&e| concretised(cx, op, e)).collect::<Result<_, _>>()?,
    };
    if op == Op::Fcmp {
        let f = Format::of(width).ok_or_else(|| no_format(op, width))?;
        cx.put(inst.dst, Value::Bits(u64::from(float::cmp(f, inst.c, known[0], known[1]))));
        return Ok(());
    }
    let result = concrete(op, inst, &known).ok_or_else(|| no_format(op, width))?;
    let result = cx.core.pool.wide(width, &[result as u64, (result >> 64) as u64][..limbs(width) as usize]);
    cx.put_wide(inst.dst, result);
    Ok(())
}

/// The value of an operand of an operation that there is no expression for, 64 bits after 64 bits.
fn concretised(cx: &mut Cx<'_>, op: Op, e: ExprId) -> Result<u128, Stop> {
    let width = cx.core.pool.width(e);
    if width > 128 {
        return Err(no_format(op, width));
    }
    let mut value = 0;
    for at in (0..width).step_by(64) {
        let part = cx.core.pool.extract(e, at, (width - at).min(64));
        let part = cx.concretise(Value::Sym(part), &format!("operand of `{}`", op.name()))?;
        value |= u128::from(part) << at;
    }
    Ok(value)
}

/// Whether an integer is symbolic and has so few values that a path for each of them costs less than symbolic numbers.
fn has_few_values(cx: &Cx<'_>, e: ExprId, signed: bool) -> bool {
    let pool = &cx.core.pool;
    if pool.width(e) > 64 || pool.as_u64(e).is_some() || !cx.core.image.is_machine_code(cx.pos().func) {
        return false;
    }
    let (lo, hi) = ranges::bounds(pool, &cx.state.path, e);
    let (least, most) = pool.signed_interval(e);
    hi - lo < FEW || signed && most.wrapping_sub(least) as u64 <= FEW
}

/// The number, or the part of one, as a constant, if ranges tell that the path leaves it one value.
fn settled(cx: &mut Cx<'_>, e: ExprId) -> Result<ExprId, Stop> {
    let pool = &cx.core.pool;
    let width = pool.width(e);
    if width > 64 || pool.support(e).is_empty() {
        return Ok(e);
    }
    let (lo, hi) = ranges::bounds(pool, &cx.state.path, e);
    if lo != hi {
        return Ok(e);
    }
    let value = cx.concretise(Value::Sym(e), "number of fixed input")?;
    Ok(cx.core.pool.bits(width, value))
}

/// Does `op` with this second operand take a part of a number, other than its sign or all but its sign?
pub fn takes_part(pool: &Pool, op: Op, e: ExprId, second: u64) -> bool {
    let width = u64::from(pool.width(unextended(pool, e)).min(64));
    let sign = 1 << (width - 1);
    let takes = match op {
        Op::And => second != sign && second != sign - 1,
        Op::Lshr => second != width - 1,
        _ => false,
    };
    takes && number_of(pool, e).is_some()
}

fn unextended(pool: &Pool, e: ExprId) -> ExprId {
    if let Kind::Zext(part) = pool.kind(e) { part } else { e }
}

/// The result of an operation on numbers that this is, or a part of.
fn number_of(pool: &Pool, e: ExprId) -> Option<ExprId> {
    let part = unextended(pool, e);
    let number = if let Kind::Extract(whole, _) = pool.kind(part) { whole } else { part };
    matches!(pool.kind(number), Kind::Float(op, ..) if !matches!(op, FloatOp::Compare(_) | FloatOp::ToSigned)).then_some(number)
}

/// What an operation on integers is given, of which it takes a part. A number of few values becomes a constant: programs look at exponents and mantissas to
/// print, and each value is another text. Bytes whose values the number tells apart are fixed before, so that all that is made of them is known.
pub fn taken_apart(cx: &mut Cx<'_>, e: ExprId) -> Result<ExprId, Stop> {
    let Some(number) = number_of(&cx.core.pool, e) else { return Ok(e) };
    let known = settled(cx, e)?;
    if cx.core.pool.support(known).is_empty() {
        return Ok(known);
    }
    let Some(fixed) = telling(cx, number) else { return Ok(e) };
    for symbol in fixed {
        let byte = cx.core.pool.sym(symbol);
        cx.concretise(Value::Sym(byte), TAKEN_APART)?;
    }
    let width = cx.core.pool.width(e);
    if width > 64 {
        return Ok(e);
    }
    let value = cx.concretise(Value::Sym(e), TAKEN_APART)?;
    Ok(cx.core.pool.bits(width, value))
}

/// The bytes whose values a number tells apart; `None`: it may have more than [`MOST_APART`] values. A byte is looked at while the others have
/// the smallest values that their conditions leave them. The path's model must not matter: a replay takes the same decisions under another one.
fn telling(cx: &mut Cx<'_>, number: ExprId) -> Option<Vec<SymId>> {
    let domains: Vec<(SymId, Domain)> =
        cx.core.pool.support(number).iter().map(|&symbol| Some((symbol, domain(cx, symbol)?))).collect::<Option<_>>()?;
    let smallest: Vec<(SymId, u64)> =
        domains.iter().map(|(symbol, domain)| Some((*symbol, domain.min()?.into()))).collect::<Option<_>>()?;
    let base = Model::empty().with(&smallest);
    let (mut telling, mut values) = (Vec::new(), 1_u64);
    for (symbol, domain) in domains {
        let distinct = distinct(cx, number, symbol, domain, &base);
        values = values.saturating_mul(distinct);
        if values > MOST_APART {
            return None;
        }
        if distinct > 1 && distinct == u64::from(domain.count()) {
            telling.push(symbol);
        }
    }
    Some(telling)
}

/// The values that the path's conditions on this symbol alone leave it; `None`: it has more than eight bits.
fn domain(cx: &Cx<'_>, symbol: SymId) -> Option<Domain> {
    let width = cx.core.pool.sym_info(symbol).width;
    (width <= 8).then(|| cx.state.path.domain(symbol).unwrap_or(Domain::full(width)))
}

/// How many values the number has over the symbol's, where all others have their values in a model.
fn distinct(cx: &mut Cx<'_>, number: ExprId, symbol: SymId, domain: Domain, model: &Model) -> u64 {
    let (pool, eval) = (&cx.core.pool, &mut cx.core.eval);
    let mut values: Vec<_> = domain.iter().map(|value| eval.eval_wide(pool, number, &model.with(&[(symbol, value.into())]))).collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

fn sign_changed(cx: &mut Cx<'_>, op: Op, a: ExprId, width: u32) -> ExprId {
    let pool = &mut cx.core.pool;
    let sign = pool.signed_min(width);
    if op == Op::Fneg {
        return pool.xor(a, sign);
    }
    let rest = pool.not(sign);
    pool.and(a, rest)
}

/// The result on known operands. `None`: no such operation on this format.
fn concrete(op: Op, inst: &Inst, operands: &[u128]) -> Option<u128> {
    let (width, from) = (u32::from(inst.width), inst.c);
    let a = operands[0];
    let signed = |x: u128| ((x << (128 - from)) as i128) >> (128 - from);
    Some(match op {
        Op::Fcast => float::cast(Format::of(from)?, Format::of(width)?, a),
        Op::FtoS => float::to_signed(Format::of(from)?, width, a),
        Op::FtoU => float::to_unsigned(Format::of(from)?, width, a),
        Op::StoF => float::from_signed(Format::of(width)?, signed(a)),
        Op::UtoF => float::from_unsigned(Format::of(width)?, a),
        Op::Fround => float::round(Format::of(width)?, *Round::ALL.get(inst.b as usize)?, a),
        Op::X87 => float::x87(X87::from_u32(inst.c)?, a, *operands.get(1)?),
        _ => {
            let operand = |i: usize| operands.get(i).copied().unwrap_or(0);
            return float::eval(op, Format::of(width)?, a, operand(1), operand(2));
        }
    })
}

/// The result on symbolic operands. `None`: there is no expression for it.
fn symbolic(cx: &mut Cx<'_>, op: Op, inst: &Inst, operands: &[ExprId]) -> Option<ExprId> {
    let (width, a) = (u32::from(inst.width), operands[0]);
    let pool = &mut cx.core.pool;
    let has_format = |width: u32| matches!(width, 32 | 64 | 80);
    let plain = match op {
        Op::Fadd => FloatOp::Add,
        Op::Fsub => FloatOp::Sub,
        Op::Fmul => FloatOp::Mul,
        Op::Fdiv => FloatOp::Div,
        Op::Fsqrt => FloatOp::Sqrt,
        Op::Fcast => FloatOp::Cast,
        Op::StoF => FloatOp::FromSigned,
        Op::UtoF => FloatOp::FromUnsigned,
        Op::Fround => FloatOp::Round(*Round::ALL.get(inst.b as usize)?),
        Op::Fcmp => return has_format(width).then(|| pool.float_compare(inst.c, a, operands[1])),
        Op::Fma => {
            let both = pool.concat(operands[2], operands[1]);
            return matches!(width, 32 | 64).then(|| pool.float(FloatOp::Fma, a, both, width));
        }
        Op::Fmin | Op::Fmax if has_format(width) => {
            // The second operand, where it is less (greater) or the first is a NaN.
            let b = operands[1];
            let (x, y) = if op == Op::Fmin { (b, a) } else { (a, b) };
            let (beyond, nan) = (pool.float_compare(FcmpPred::LT, x, y), pool.float_is_nan(a));
            let second = pool.or(beyond, nan);
            return Some(pool.ite(second, b, a));
        }
        Op::FtoS => return truncated(cx, a, width),
        Op::FtoU => return truncated_unsigned(cx, a, width),
        _ => return None,
    };
    let b = operands.get(1).copied().unwrap_or(a);
    plain.fits(pool.width(a), pool.width(b), width).then(|| pool.float(plain, a, b, width))
}

/// To a signed integer: by the CPU's conversions to 16 (x87), 32 and 64 bits, cut.
fn truncated(cx: &mut Cx<'_>, a: ExprId, width: u32) -> Option<ExprId> {
    let pool = &mut cx.core.pool;
    let whole = match (pool.width(a), width) {
        (80, ..=16) => 16,
        (32 | 64 | 80, ..=32) => 32,
        (32 | 64 | 80, ..=64) => 64,
        _ => return None,
    };
    let value = pool.float(FloatOp::ToSigned, a, a, whole);
    Some(pool.trunc(value, width))
}

/// To an unsigned integer, as clang builds it from signed conversions (see [`float::to_unsigned`]).
fn truncated_unsigned(cx: &mut Cx<'_>, a: ExprId, width: u32) -> Option<ExprId> {
    let from = cx.core.pool.width(a);
    match (from, width) {
        (80, 16) => return truncated(cx, a, 32).map(|value| cx.core.pool.trunc(value, 16)),
        (80, ..16) | (_, ..32) => return truncated(cx, a, width),
        (_, ..64) => return truncated(cx, a, 64).map(|value| cx.core.pool.trunc(value, width)),
        (32 | 64 | 80, 64) => {}
        _ => return None,
    }
    let pool = &mut cx.core.pool;
    let limit = float::from_unsigned(Format::of(from)?, 1 << 63);
    let limit = pool.wide(from, &[limit as u64, (limit >> 64) as u64][..limbs(from) as usize]);
    let less = pool.float(FloatOp::Sub, a, limit, from);
    if from == 80 {
        let far = pool.float_compare(FcmpPred::GT | FcmpPred::EQ | FcmpPred::UNORDERED, a, limit);
        let rest = pool.ite(far, less, a);
        let value = pool.float(FloatOp::ToSigned, rest, rest, 64);
        let (top, zero) = (pool.signed_min(64), pool.zero(64));
        let top = pool.ite(far, top, zero);
        return Some(pool.xor(value, top));
    }
    let (small, large) = (pool.float(FloatOp::ToSigned, a, a, 64), pool.float(FloatOp::ToSigned, less, less, 64));
    let (far, either) = (pool.sign_bit(small), pool.or(small, large));
    Some(pool.ite(far, either, small))
}

fn no_format(op: Op, width: u32) -> Stop {
    PathEnd::Unsupported(format!("`{}` at {width} bits", op.name())).into()
}
