//! Results that overflow and conversions that lose a value: the handlers of clang's undefined-behaviour sanitizer, whose calls `--overflow`
//! has clang compile into C sources, and the check that the lowering makes of `nsw` in bitcode given as it is.
//!
//! A handler is called where the operation has overflowed already, on a branch of its own. Its first argument leads to a record of the
//! place and the types (compiler-rt's `ubsan_handlers.h`); values of up to 64 bits come as they are, wider ones by address.
//! Where the path survives the fault, it goes on with the wrapped result.

use wryneck_exec::{Cx, Fault, FaultKind, PathEnd, Reply, Stop, Value, heap_calls, memory, survive};
use wryneck_expr::ExprId;

use crate::Linux;
use crate::sig::Args;

/// Where the types begin in a handler's record: after file name, line and column.
const TYPES: u64 = 16;

/// A type as a record describes it.
struct Type {
    name: String,
    bits: u32,
    is_signed: bool,
    is_float: bool,
}

impl Type {
    /// The type at this index of the record.
    fn of(cx: &mut Cx<'_>, args: &Args<'_>, index: u64) -> Option<Type> {
        let record = args.fixed(cx, 0)?.wrapping_add(TYPES + 8 * index);
        let at = number(cx, record, 8)?;
        let (kind, info) = (number(cx, at, 2)?, number(cx, at.wrapping_add(2), 2)?);
        let name = heap_calls::concrete_string(cx, Value::Bits(at.wrapping_add(4))).ok()??;
        // `'size_t' (aka 'unsigned long')`.
        let name = String::from_utf8_lossy(&name).split('\'').nth(1).unwrap_or("a type").to_owned();
        match kind {
            0 => Some(Type { name, bits: 1 << (info >> 1).min(16), is_signed: info & 1 != 0, is_float: false }),
            1 => Some(Type { name, bits: info as u32, is_signed: true, is_float: true }),
            _ => None,
        }
    }

    /// A value of the type on this path, as a number.
    fn shown(&self, cx: &mut Cx<'_>, value: Value) -> String {
        let e = match (self.bits, value) {
            (..=64, value) => cx.expr(value, self.bits),
            (_, Value::Bits(address)) => match memory::read_bytes(cx, address, u64::from(self.bits / 8)) {
                Ok(bytes) => memory::joined(cx, &bytes),
                Err(_) => return "a value".into(),
            },
            (_, Value::Sym(_)) => return "a value".into(),
        };
        let bits = evaluated(cx, e);
        match (self.is_float, self.bits) {
            (true, 32) => f32::from_bits(bits as u32).to_string(),
            (true, 64) => f64::from_bits(bits as u64).to_string(),
            (true, _) => "a value".into(),
            (false, width) => decimal(bits, width, self.is_signed),
        }
    }
}

/// What an expression of up to 128 bits is under the path's model.
fn evaluated(cx: &mut Cx<'_>, e: ExprId) -> u128 {
    let width = cx.core.pool.width(e);
    let mut part = |from: u32, to: u32| {
        let e = cx.core.pool.extract(e, from, to - from);
        u128::from(cx.core.eval.eval(&cx.core.pool, e, &cx.state.model))
    };
    let low = part(0, width.min(64));
    if width > 64 { low | part(64, width.min(128)) << 64 } else { low }
}

fn decimal(bits: u128, width: u32, is_signed: bool) -> String {
    let unused = 128 - width.clamp(1, 128);
    match is_signed {
        true => ((bits << unused).cast_signed() >> unused).to_string(),
        false => bits.to_string(),
    }
}

/// A number in the program's constant data.
fn number(cx: &mut Cx<'_>, address: u64, bytes: u64) -> Option<u64> {
    let bytes = memory::read_bytes(cx, address, bytes).ok()?;
    let e = memory::joined(cx, &bytes);
    cx.core.pool.as_u64(e)
}

/// The path has this fault, and goes on if it may.
fn found(cx: &mut Cx<'_>, kind: FaultKind, message: String) -> Result<Reply, Stop> {
    survive::survive(cx, Stop::End(PathEnd::Fault(Fault { kind, message }))).map(|()| Reply::Void)
}

fn kind(is_signed: bool) -> FaultKind {
    if is_signed { FaultKind::SignedOverflow } else { FaultKind::UnsignedOverflow }
}

fn binary(args: &Args<'_>, cx: &mut Cx<'_>, operator: &str) -> Result<Reply, Stop> {
    let Some(ty) = Type::of(cx, args, 0) else { return found(cx, FaultKind::SignedOverflow, format!("`{operator}` overflows")) };
    let (a, b) = (ty.shown(cx, args.value(1)), ty.shown(cx, args.value(2)));
    let b = if b.starts_with('-') { format!("({b})") } else { b };
    found(cx, kind(ty.is_signed), format!("{a} {operator} {b} overflows `{}`", ty.name))
}

pub fn add(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    binary(args, cx, "+")
}

pub fn sub(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    binary(args, cx, "-")
}

pub fn mul(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    binary(args, cx, "*")
}

pub fn negate(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let Some(ty) = Type::of(cx, args, 0) else { return found(cx, FaultKind::SignedOverflow, "a negation overflows".into()) };
    let value = ty.shown(cx, args.value(1));
    found(cx, kind(ty.is_signed), format!("-({value}) overflows `{}`", ty.name))
}

/// The engine decides this itself, at the division that follows.
pub fn divide(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Void)
}

pub fn shift(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(ty), Some(by)) = (Type::of(cx, args, 0), Type::of(cx, args, 1)) else {
        return found(cx, FaultKind::SignedOverflow, "a shift overflows".into());
    };
    let amount = cx.expr(args.value(2), by.bits.min(64));
    let amount = evaluated(cx, amount);
    if amount >= u128::from(ty.bits) {
        // The engine decides this itself, at the shift that follows.
        return Ok(Reply::Void);
    }
    let value = ty.shown(cx, args.value(1));
    let message = match value.starts_with('-') {
        true => format!("({value}) << {amount} shifts a negative `{}`", ty.name),
        false => format!("{value} << {amount} overflows `{}`", ty.name),
    };
    found(cx, kind(ty.is_signed), message)
}

/// An implicit conversion between integers.
pub fn convert(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(from), Some(to)) = (Type::of(cx, args, 0), Type::of(cx, args, 1)) else {
        return found(cx, FaultKind::LossyConversion, "a conversion changes the value".into());
    };
    let field = args.fixed(cx, 0).and_then(|record| number(cx, record.wrapping_add(TYPES + 20), 4)).unwrap_or(0);
    let (was, is) = (from.shown(cx, args.value(1)), to.shown(cx, args.value(2)));
    let what = if field > 0 { format!("a bit-field of {field} bits") } else { format!("`{}`", to.name) };
    found(cx, FaultKind::LossyConversion, format!("{was} (`{}`) becomes {is} as {what}", from.name))
}

/// A floating-point number that is out of the range of an integer or another floating-point type.
pub fn convert_float(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(from), Some(to)) = (Type::of(cx, args, 0), Type::of(cx, args, 1)) else {
        return found(cx, FaultKind::LossyConversion, "a number is out of range".into());
    };
    let value = from.shown(cx, args.value(1));
    found(cx, FaultKind::LossyConversion, format!("{value} (`{}`) is out of the range of `{}`", from.name, to.name))
}

/// `__wryneck_overflow(overflows, operator, width, a, b)`: an operation of bitcode that says it does not overflow. `operator` is 0, 1 or 2.
pub fn check(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if args.concrete(0) == Some(0) {
        return Ok(Reply::Void);
    }
    let overflows = cx.expr(args.value(0), 1);
    if cx.decide(overflows)? {
        let operator = ["+", "-", "*"].get(args.concrete(1).unwrap_or(0) as usize).copied().unwrap_or("+");
        let width = args.concrete(2).unwrap_or(64) as u32;
        let ty = Type { name: format!("int{width}_t"), bits: width, is_signed: true, is_float: false };
        let limbs = width.div_ceil(64) as usize;
        let (a, b) = match limbs {
            1 => (ty.shown(cx, args.value(3)), ty.shown(cx, args.value(4))),
            _ => ("a value".into(), "another".into()),
        };
        let b = if b.starts_with('-') { format!("({b})") } else { b };
        return found(cx, FaultKind::SignedOverflow, format!("{a} {operator} {b} overflows `{}`", ty.name));
    }
    Ok(Reply::Void)
}
