//! Floating point on concrete operands, bit for bit as x86-64 computes it. On symbolic operands it is a named limit, never a guess.
//!
//! A symbolic integer that is converted to floating point is concretised (ledger): each value is a path of its own. So a program that
//! reads digits into a `double` still runs to its end. A select between floating-point numbers is decided.

use wryneck_expr::{ExprId, Kind};
use wryneck_ir::float::{self, Format};
use wryneck_ir::{Inst, Op, Round, limbs};

use crate::core::LedgerKind;
use crate::cx::Cx;
use crate::path_end::PathEnd;
use crate::plugin::{Stop, Value};

pub fn is_float(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Fadd | Fsub | Fmul | Fdiv | Frem | Fneg | Fabs | Fsqrt | Fma | Fmin | Fmax | Fround | Fcmp | Fcast | FtoS | FtoU | StoF | UtoF
    )
}

/// Does the operation at the top frame; sign operations work on symbolic bits too.
pub fn step(cx: &mut Cx<'_>, op: Op, inst: &Inst) -> Result<(), Stop> {
    let width = u32::from(inst.width);
    if matches!(op, Op::Fneg | Op::Fabs) {
        let a = cx.wide_operand(inst.a, width);
        let pool = &mut cx.core.pool;
        let sign = pool.signed_min(width);
        let result = if op == Op::Fneg {
            pool.xor(a, sign)
        } else {
            let rest = pool.not(sign);
            pool.and(a, rest)
        };
        cx.put_wide(inst.dst, result);
        return Ok(());
    }
    let result = match op {
        Op::Fcast | Op::FtoS | Op::FtoU | Op::StoF | Op::UtoF => {
            let a = bits(cx, op, inst.a, inst.c)?;
            convert(op, width, inst.c, a)
        }
        _ => {
            let f = Format::of(width).ok_or_else(|| no_format(op, width))?;
            let a = bits(cx, op, inst.a, width)?;
            match op {
                Op::Fcmp => {
                    let b = bits(cx, op, inst.b, width)?;
                    cx.put(inst.dst, Value::Bits(u64::from(float::cmp(f, inst.c, a, b))));
                    return Ok(());
                }
                Op::Fround => ROUNDS.get(inst.b as usize).map(|mode| float::round(f, *mode, a)),
                Op::Fsqrt => float::eval(op, f, a, 0, 0),
                Op::Fma => {
                    let (b, c) = (bits(cx, op, inst.b, width)?, bits(cx, op, inst.c, width)?);
                    float::eval(op, f, a, b, c)
                }
                _ => {
                    let b = bits(cx, op, inst.b, width)?;
                    float::eval(op, f, a, b, 0)
                }
            }
        }
    };
    let result = result.ok_or_else(|| no_format(op, width))?;
    let e = cx.core.pool.wide(width, &[result as u64, (result >> 64) as u64][..limbs(width) as usize]);
    cx.put_wide(inst.dst, e);
    Ok(())
}

const ROUNDS: [Round; 5] = [Round::Floor, Round::Ceil, Round::Trunc, Round::Even, Round::Away];

fn convert(op: Op, width: u32, from: u32, a: u128) -> Option<u128> {
    let signed = |x: u128| ((x << (128 - from)) as i128) >> (128 - from);
    Some(match op {
        Op::Fcast => float::cast(Format::of(from)?, Format::of(width)?, a),
        Op::FtoS => float::to_signed(Format::of(from)?, width, a),
        Op::FtoU => float::to_unsigned(Format::of(from)?, width, a),
        Op::StoF => float::from_signed(Format::of(width)?, signed(a)),
        _ => float::from_unsigned(Format::of(width)?, a),
    })
}

fn no_format(op: Op, width: u32) -> Stop {
    PathEnd::Unsupported(format!("`{}` at {width} bits", op.name())).into()
}

/// The concrete bits of an operand of at most 128 bits: a choice of values is decided; another symbolic one ends the path as unsupported, by name.
fn bits(cx: &mut Cx<'_>, op: Op, slot: u32, width: u32) -> Result<u128, Stop> {
    let mut e = cx.wide_operand(slot, width);
    while let Kind::Ite(condition, holds, not) = cx.core.pool.kind(e) {
        e = if cx.decide(condition)? { holds } else { not };
    }
    if let Some(bits) = scaled(cx, e, width)? {
        return Ok(bits);
    }
    match cx.core.pool.as_limbs(e) {
        Some(l) if l.len() <= 2 => Ok(u128::from(l[0]) | u128::from(l.get(1).copied().unwrap_or(0)) << 64),
        Some(_) => Err(no_format(op, width)),
        None if width <= 64 && (matches!(op, Op::StoF | Op::UtoF) || is_choice(cx, e, width)) => {
            let value = cx.concretise(Value::Sym(e), "number given to a floating-point operation")?;
            Ok(value.into())
        }
        None => {
            let why = format!("floating point on symbolic input (`{}`)", op.name());
            cx.core.ledger.note(LedgerKind::UnsupportedOperation, why.clone());
            Err(PathEnd::Unsupported(why).into())
        }
    }
}

/// An x87 number of which only sign and exponent are symbolic, as `scalbn` makes them: these are concretised. `None` for others.
fn scaled(cx: &mut Cx<'_>, e: ExprId, width: u32) -> Result<Option<u128>, Stop> {
    if width != 80 || cx.core.pool.as_limbs(e).is_some() {
        return Ok(None);
    }
    let (exponent, fraction) = (cx.core.pool.extract(e, 64, 16), cx.core.pool.extract(e, 0, 64));
    let Some(fraction) = cx.core.pool.as_u64(fraction) else { return Ok(None) };
    let exponent = cx.concretise(Value::Sym(exponent), "exponent of a floating-point number")?;
    Ok(Some(u128::from(exponent) << 64 | u128::from(fraction)))
}

/// Whether all but a few bits of a number are known: it was chosen among a few.
fn is_choice(cx: &Cx<'_>, e: ExprId, width: u32) -> bool {
    const BITS: u32 = 4;
    let (zeros, ones) = cx.core.pool.known_bits(e);
    (zeros | ones).count_ones() + BITS >= width
}
