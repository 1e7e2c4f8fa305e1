//! Angles, logarithms and powers: by the host's own instructions ([`ir::X87`]), since processors disagree about the last bits.
//!
//! Angles from 2^63 on, which the processor leaves as they are and says so by C2, and those that are no numbers are unsupported.

use wryneck_ir::build::Slot;
use wryneck_ir::{Op, X87};

use super::remainder::{BIAS, exponent};
use super::{only_nearest, pop, push};
use crate::cpu::x86_64::emit::Emit;

/// C2 in the status word: an angle was out of range.
const OUT_OF_RANGE: u64 = 0x400;

/// In the place of the top, or of both numbers that it takes.
pub(super) fn function(x: &mut Emit<'_, '_, '_, '_>, function: X87) -> Result<(), String> {
    only_nearest(x)?;
    match function {
        X87::Sine | X87::Cosine | X87::Tangent => in_range(x)?,
        X87::PowerLessOne => {}
        X87::Angle | X87::Logarithm | X87::LogarithmOfOneMore => {
            let below = x.named("ST1")?;
            let result = computed(x, function, below)?;
            pop(x)?;
            return put(x, result);
        }
    }
    let top = x.named("ST0")?;
    let result = computed(x, function, top)?;
    put(x, result)
}

/// `fptan`.
pub(super) fn tangent(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    function(x, X87::Tangent)?;
    let one = x.p.temp(80);
    let (significand, exponent) = (x.constant(64, 1 << 63), x.constant(16, BIAS));
    x.p.copy(64, one, significand);
    x.p.copy(16, one.limb(1), exponent);
    push(x, one)
}

/// `fsincos`.
pub(super) fn sine_and_cosine(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    only_nearest(x)?;
    in_range(x)?;
    let top = x.named("ST0")?;
    let (sine, cosine) = (computed(x, X87::Sine, top)?, computed(x, X87::Cosine, top)?);
    put(x, sine)?;
    push(x, cosine)
}

fn computed(x: &mut Emit<'_, '_, '_, '_>, function: X87, below: Slot) -> Result<Slot, String> {
    let (top, result) = (x.named("ST0")?, x.p.temp(80));
    x.p.emit(Op::X87, 80, result, top.raw(), below.raw(), function as u32);
    Ok(result)
}

fn put(x: &mut Emit<'_, '_, '_, '_>, value: Slot) -> Result<(), String> {
    let top = x.named("ST0")?;
    x.p.copy(80, top, value);
    Ok(())
}

/// Ends the path where the top is no angle that the processor computes with; the status word says that this one is.
fn in_range(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let (top, least) = (x.named("ST0")?, x.constant(16, BIAS + 63));
    let exponent = exponent(x, top);
    let far = x.op(Op::Ule, 16, least, exponent);
    x.unsupported_if(far, "an angle of the x87 from 2^63 on, or that is no number");
    let (word, others) = (x.named("FPUStatusWord")?, x.constant(16, 0xffff & !OUT_OF_RANGE));
    let rest = x.op(Op::And, 16, word, others);
    x.p.copy(16, word, rest);
    Ok(())
}
