//! Random floating-point expressions for tests: chains on converted integers, patterns, and what is asked of them.

use crate::float::{self, FloatOp};
use crate::node::Width;
use crate::random::{Pair, Rng, Twins};

const FORMATS: [Width; 3] = [32, 64, 80];

fn format(rng: &mut Rng) -> Width {
    FORMATS[rng.below(3) as usize]
}

impl Twins {
    fn float(&mut self, op: FloatOp, a: Pair, b: Pair, width: Width) -> Pair {
        self.both(|pool, of| pool.float(op, of(a), of(b), width))
    }

    /// A constant of a format: small and round numbers mostly, extremes and NaNs.
    fn float_constant(&mut self, rng: &mut Rng, width: Width) -> Pair {
        let whole = |value: u64| float::eval(FloatOp::FromSigned, 64, width, value.into(), 0);
        let value = match rng.below(8) {
            0 => whole(0),
            1 => whole(1),
            2 => whole(rng.below(20).wrapping_sub(10)),
            3 => whole(10u64.pow(rng.below(9) as u32)),
            4 => {
                let part = whole(rng.below(2000).wrapping_sub(1000));
                float::eval(FloatOp::Div, width, width, part, whole(10u64.pow(1 + rng.below(3) as u32)))
            }
            5 => float::eval(FloatOp::Div, width, width, whole(rng.below(3).wrapping_sub(1)), 0),
            6 => whole(rng.next()),
            _ => u128::from(rng.next()) << 64 | u128::from(rng.next()),
        };
        let limbs = float::limbs(width, value & (u128::MAX >> (128 - width)));
        self.both(|pool, _| pool.wide(width, &limbs))
    }

    /// A number of some format made of `a`.
    fn number(&mut self, rng: &mut Rng, a: Pair) -> Pair {
        let width = self.plain.width(a.plain);
        if FORMATS.contains(&width) && rng.one_in(2) {
            return a;
        }
        let to = format(rng);
        if width > 64 || rng.one_in(12) {
            return self.both(|pool, of| if pool.width(of(a)) >= to { pool.trunc(of(a), to) } else { pool.zext(of(a), to) });
        }
        // Integers in programs are wider than their values.
        let long = width + if rng.one_in(2) { rng.below(u64::from(65 - width)) as Width } else { 0 };
        let signed = rng.one_in(2);
        let integer = self.both(|pool, of| if signed { pool.sext(of(a), long) } else { pool.zext(of(a), long) });
        let op = if rng.one_in(2) { FloatOp::FromSigned } else { FloatOp::FromUnsigned };
        self.float(op, integer, integer, to)
    }

    /// Some operations on a number, then perhaps a comparison or a conversion to an integer.
    pub(crate) fn grow_float(&mut self, rng: &mut Rng, a: Pair) -> Pair {
        let mut value = self.number(rng, a);
        for _ in 0..rng.below(4) {
            let width = self.plain.width(value.plain);
            value = match rng.below(7) {
                0 => {
                    let (through, to) = (format(rng), format(rng));
                    let there = self.float(FloatOp::Cast, value, value, through);
                    self.float(FloatOp::Cast, there, there, to)
                }
                1 => {
                    let mode = wryneck_ir::Round::ALL[rng.below(5) as usize];
                    self.float(FloatOp::Round(mode), value, value, width)
                }
                2 if rng.one_in(2) => self.float(FloatOp::Sqrt, value, value, width),
                2 => {
                    let other = self.pick(rng);
                    let other = self.number(rng, other);
                    let other = self.float(FloatOp::Cast, other, other, width);
                    let op = FloatOp::ALL[rng.below(4) as usize];
                    self.float(op, value, other, width)
                }
                _ => {
                    let (op, k) = (FloatOp::ALL[rng.below(4) as usize], self.float_constant(rng, width));
                    let (x, y) = if rng.one_in(4) { (k, value) } else { (value, k) };
                    self.float(op, x, y, width)
                }
            };
        }
        let width = self.plain.width(value.plain);
        match rng.below(4) {
            0 | 1 => {
                let other = if rng.one_in(3) {
                    let other = self.pick(rng);
                    let other = self.number(rng, other);
                    self.float(FloatOp::Cast, other, other, width)
                } else {
                    self.float_constant(rng, width)
                };
                let predicate = FloatOp::Compare(rng.below(16) as u8);
                let (x, y) = if rng.one_in(4) { (other, value) } else { (value, other) };
                self.float(predicate, x, y, 1)
            }
            2 => {
                let to = if rng.one_in(2) { 32 } else { 64 };
                self.float(FloatOp::ToSigned, value, value, to)
            }
            _ => value,
        }
    }
}
