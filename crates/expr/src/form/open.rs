//! Conditions some of whose input is open: whether they hold for every value of it, for none, or for some.
//!
//! The condition is built again in a pool, with known bytes as constants. What the simplifier and the pool's facts do not decide counts as
//! open, so the answer is sound and not complete. No solver is asked. Cost: some hundred nanoseconds for each record.

use super::{ELEMENTS, NODE, TABLE, Trouble, word};
use crate::float::FloatOp;
use crate::node::{ExprId, Op, Shape, Width};
use crate::pool::Pool;

/// What is known of a byte of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    Known(u8),
    /// It may have any value; the same input has the same.
    Open,
    /// The same, of an input that is a number of up to 8 bytes, lowest first, between these two.
    Within(u64, u64),
}

/// Comparisons of open values inside a condition, at most: each is tried both ways.
const SPLITS: usize = 4;

/// The value of a condition, if it has one whatever open bytes are. `input` says what a byte of an input is.
pub fn decide(nodes: &[u8], pool: &mut Pool, input: &mut dyn FnMut(u32, u32) -> Option<Byte>) -> Result<Option<bool>, Trouble> {
    let mut open = Vec::new();
    if let Some(value) = build(nodes, pool, input, &mut |pool, i, e| {
        if pool.width(e) == 1 && !pool.is_const(e) {
            open.push(i);
        }
        e
    })? {
        return Ok(Some(value));
    }
    // Whatever comparisons inside say, each for itself: the outermost one is the condition.
    open.truncate(SPLITS);
    let mut seen = None;
    for case in 0..1u32 << open.len() {
        let value = build(nodes, pool, input, &mut |pool, i, e| match open.iter().position(|known| *known == i) {
            Some(bit) if !pool.is_const(e) => pool.bits(1, (case >> bit & 1).into()),
            _ => e,
        })?;
        if value.is_none() || seen.is_some_and(|seen| seen != value) {
            return Ok(None);
        }
        seen = Some(value);
    }
    Ok(seen.flatten())
}

/// Builds the condition, whose comparisons `compared` may replace: it is given the number of the record. The value, if it is a constant.
fn build(
    nodes: &[u8],
    pool: &mut Pool,
    input: &mut dyn FnMut(u32, u32) -> Option<Byte>,
    compared: &mut dyn FnMut(&mut Pool, usize, ExprId) -> ExprId,
) -> Result<Option<bool>, Trouble> {
    const DAMAGED: Trouble = Trouble::Damaged;
    if !nodes.len().is_multiple_of(NODE) || nodes.len() / NODE > super::MOST {
        return Err(DAMAGED);
    }
    let mut all: Vec<ExprId> = Vec::with_capacity(nodes.len() / NODE);
    for (i, node) in nodes.chunks_exact(NODE).enumerate() {
        let (a, b, c) = (word(node, 4), word(node, 8), word(node, 12));
        let width = Width::from(node[1]);
        if node[0] == TABLE {
            all.push(ExprId::FALSE);
            continue;
        }
        let Some(&op) = Op::ALL.get(usize::from(node[0])) else { return Err(DAMAGED) };
        let bits = |width: u32| if (1..=64).contains(&width) { Ok(width) } else { Err(DAMAGED) };
        bits(width)?;
        let value = |at: u32| all.get(at as usize).copied().ok_or(DAMAGED);
        let e = match op {
            Op::Const => pool.bits(width, (u64::from(b) << 32 | u64::from(a)) & crate::wide::mask(width)),
            Op::Sym => match input(a, b).ok_or(Trouble::Missing { input: a, byte: b })? {
                Byte::Known(byte) => pool.bits(8, byte.into()),
                Byte::Open => {
                    let symbol = pool.symbol(&a.to_string(), b, 8);
                    pool.sym(symbol)
                }
                Byte::Within(least, most) => {
                    let number = within(pool, a, least, most);
                    pool.extract(number, 8 * b.min(7), 8)
                }
            },
            Op::Not | Op::Neg => {
                let a = fit(pool, value(a)?, width);
                pool.unary(op, a)
            }
            Op::Ite => {
                let condition = fit(pool, value(a)?, 1);
                let (a, b) = (fit(pool, value(b)?, width), fit(pool, value(c)?, width));
                pool.ite(condition, a, b)
            }
            Op::Concat if bits(c)? < width => {
                let (hi, lo) = (fit(pool, value(a)?, width - c), fit(pool, value(b)?, c));
                pool.concat(hi, lo)
            }
            Op::Extract if b < 64 => {
                let whole = fit(pool, value(a)?, 64);
                pool.extract(whole, b, width.min(64 - b))
            }
            Op::Concat | Op::Extract => return Err(DAMAGED),
            Op::Zext | Op::PtrAdd => value(a)?,
            Op::Sext => {
                let a = fit(pool, value(a)?, bits(c)?);
                pool.sext(a, 64)
            }
            Op::Float => {
                let from = bits(c & 0xff)?;
                let operation = FloatOp::of_code(c >> 8).filter(|op| op.fits(from, from, width)).ok_or(DAMAGED)?;
                let (a, b) = (fit(pool, value(a)?, from), fit(pool, value(b)?, from));
                let e = pool.float(operation, a, b, width);
                if width == 1 { compared(pool, i, e) } else { e }
            }
            Op::Read => {
                let (index, mut elements) = (fit(pool, value(a)?, 64), Vec::new());
                for element in 0..c.min(nodes.len() as u32) {
                    let at = (u64::from(b) + u64::from(element / ELEMENTS)) as usize;
                    let entry = nodes.get(at * NODE..(at + 1) * NODE).filter(|entry| at < i && entry[0] == TABLE).ok_or(DAMAGED)?;
                    elements.push(fit(pool, value(word(entry, 4 + 4 * (element % ELEMENTS) as usize))?, 8));
                }
                let array = pool.array(&elements);
                pool.read(array, index)
            }
            _ => {
                let of = if op.shape() == Shape::Compare { bits(c)? } else { width };
                let (a, b) = (fit(pool, value(a)?, of), fit(pool, value(b)?, of));
                let e = pool.binary(op, a, b);
                if op.shape() == Shape::Compare { compared(pool, i, e) } else { e }
            }
        };
        all.push(fit(pool, e, width));
    }
    let last = all.last().copied().ok_or(DAMAGED)?;
    Ok(pool.as_u64(last).map(|value| value == 1))
}

/// An open number of 64 bits between two.
fn within(pool: &mut Pool, input: u32, least: u64, most: u64) -> ExprId {
    let symbol = pool.symbol(&input.to_string(), u32::MAX, 64);
    let number = pool.sym(symbol);
    let Some(count) = most.wrapping_sub(least).checked_add(1) else { return number };
    let (count, least) = (pool.bits(64, count), pool.bits(64, least));
    let above = pool.urem(number, count);
    pool.add(least, above)
}

/// The value as one of so many bits: zeros above it, or its lowest bits.
fn fit(pool: &mut Pool, e: ExprId, width: Width) -> ExprId {
    if pool.width(e) < width { pool.zext(e, width) } else { pool.extract(e, 0, width) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form;
    use crate::random::{Rng, Twins};

    #[test]
    fn what_is_decided_is_so_for_every_value() {
        let (mut decided, mut open) = (0, 0);
        let mut values = vec![0; form::MOST];
        for seed in 0..1_500 {
            let mut rng = Rng::new(70_000_000 + seed);
            let mut twins = Twins::new(&[8, 8, 8], 24);
            twins.floats = seed % 3 == 0;
            let pairs: Vec<_> = (0..25).map(|_| twins.grow(&mut rng)).collect();
            // The first symbol is known, the others are open.
            let known = rng.next() as u8;
            for pair in pairs.iter().filter(|pair| twins.simple.width(pair.simple) == 1) {
                for (pool, e) in [(&twins.simple, pair.simple), (&twins.plain, pair.plain)] {
                    // Numbers of 80 bits have no form.
                    let Ok(form) = form::write(pool, e, &mut |_| 7) else { continue };
                    let mut fresh = Pool::new();
                    let mut say = |_: u32, index: u32| Some(if index == 0 { Byte::Known(known) } else { Byte::Open });
                    let said = decide(&form, &mut fresh, &mut say).expect("it is whole");
                    let Some(said) = said else {
                        open += 1;
                        continue;
                    };
                    decided += 1;
                    for _ in 0..20 {
                        let others = rng.next();
                        let byte = |index: u32| if index == 0 { u64::from(known) } else { others >> (8 * index) & 0xff };
                        let value = form::eval(&form, &mut |_, index| Some(byte(index)), &mut values);
                        assert_eq!(value, Ok(u64::from(said)), "seed {seed}");
                    }
                }
            }
        }
        assert!(decided > 500 && open > 500, "{decided} decided, {open} open");
    }

    /// `order(a) + 10 + order(b) > 0`, where an order is -1, 0 or 1: as programs compare times.
    #[test]
    fn comparisons_inside_are_tried_both_ways() {
        let mut pool = Pool::new();
        let [known, open] = [0, 1].map(|i| pool.symbol("s", i, 8)).map(|symbol| pool.sym(symbol));
        let mut order = |a: ExprId, b: ExprId| {
            let (more, less) = (pool.ult(b, a), pool.ult(a, b));
            let [more, less] = [more, less].map(|e| pool.zext(e, 32));
            pool.sub(more, less)
        };
        let (first, second) = (order(known, open), order(open, known));
        let ten = pool.bits(32, 10);
        let (shifted, zero) = (pool.add(first, ten), pool.bits(32, 0));
        let sum = pool.add(shifted, second);
        let condition = pool.slt(zero, sum);
        let form = form::write(&pool, condition, &mut |_| 0).expect("it is small");
        let mut say = |_: u32, index: u32| Some(if index == 0 { Byte::Known(7) } else { Byte::Open });
        assert_eq!(decide(&form, &mut Pool::new(), &mut say), Ok(Some(true)));
    }

    #[test]
    fn any_bytes_are_no_panic() {
        let mut rng = Rng::new(6);
        let mut pool = Pool::new();
        let symbol = pool.symbol("s", 0, 8);
        let (s, k) = (pool.sym(symbol), pool.bits(8, 9));
        let (sum, wide) = (pool.add(s, k), pool.sext(s, 64));
        let far = pool.bits(64, 77);
        let (below, less) = (pool.ult(sum, s), pool.slt(wide, far));
        let condition = pool.and(below, less);
        let form = form::write(&pool, condition, &mut |_| 0).expect("it has one");
        for _ in 0..20_000 {
            let mut bytes = form.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next() as u8;
            }
            let _ = decide(&bytes, &mut Pool::new(), &mut |_, _| Some(Byte::Open));
        }
    }

    #[test]
    fn an_hour_is_before_the_next_day() {
        let mut pool = Pool::new();
        let [low, high] = [0, 1].map(|i| pool.symbol("volatile", i, 8)).map(|symbol| pool.sym(symbol));
        let offset = pool.concat(high, low);
        let (hour, start, end) = (pool.bits(16, 3600), pool.bits(64, 1_790_000_000), pool.bits(64, 1_790_003_600));
        let offset = pool.urem(offset, hour);
        let offset = pool.zext(offset, 64);
        let now = pool.add(start, offset);
        let before = pool.ult(now, end);
        let form = form::write(&pool, before, &mut |_| 0).expect("it is small");
        assert_eq!(decide(&form, &mut Pool::new(), &mut |_, _| Some(Byte::Open)), Ok(Some(true)));
        // From half past on it is not before the half.
        let half = pool.bits(64, 1_790_001_800);
        let early = pool.ult(now, half);
        let form = form::write(&pool, early, &mut |_| 0).expect("it is small");
        let asked = |byte: Byte| decide(&form, &mut Pool::new(), &mut |_, _| Some(byte));
        let [open, late, first] = [Byte::Open, Byte::Within(1800, 2400), Byte::Within(0, 1799)].map(asked);
        assert_eq!((open, late, first), (Ok(None), Ok(Some(false)), Ok(Some(true))));
    }
}
