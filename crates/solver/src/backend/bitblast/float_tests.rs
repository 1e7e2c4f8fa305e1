//! Each circuit of floating point against `wryneck_ir::float` (which is tested against the CPU), 64 values at a time, on hard and random patterns.

use wryneck_expr::FloatOp;
use wryneck_expr::float::eval;

use super::aig::{Aig, Lit, Node};
use super::float;
use super::meter::Meter;
use crate::budget::Stop;

/// Batches of 64 pairs of operands for each operation and format; `WRYNECK_FLOAT_BATCHES`, when this is compiled, asks for more.
const BATCHES: usize = 400;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A pattern of `width` bits: random, or of an exponent and a significand that tend to be extreme.
    fn pattern(&mut self, width: u32, near: u128) -> u128 {
        let all = u128::from(self.next()) << 64 | u128::from(self.next());
        let mask = u128::MAX >> (128 - width);
        if !matches!(width, 32 | 64 | 80) {
            return match self.next() % 4 {
                0 => all & mask,
                1 => (all >> (self.next() % 64)) & mask & u128::from(u64::MAX >> (self.next() % 64)),
                2 => (1u128 << (self.next() % u64::from(width))).wrapping_sub(u128::from(self.next() % 3)) & mask,
                _ => (all % 300).wrapping_sub(150) & mask,
            };
        }
        let (exponent, fraction): (u32, u32) = match width {
            32 => (8, 23),
            64 => (11, 52),
            _ => (15, 63),
        };
        let stored = width - 1 - exponent;
        let bias = (1u128 << (exponent - 1)) - 1;
        let top = (1u128 << exponent) - 1;
        let e = match self.next() % 10 {
            0 => 0,
            1 => top,
            2 => top - 1,
            3 => 1 + u128::from(self.next() % 70),
            4 | 5 => bias - 3 + u128::from(self.next() % 70),
            6 => bias / 2 + u128::from(self.next() % 120),
            7 => (near >> stored & top).wrapping_add(u128::from(self.next() % 7)).wrapping_sub(3) & top,
            _ => u128::from(self.next()) & top,
        };
        let f = match self.next() % 8 {
            0 => 0,
            1 => (1 << fraction) - 1,
            2 => 1u128 << (self.next() % u64::from(fraction)),
            3 => near & ((1 << fraction) - 1),
            4 => (all >> (self.next() % 64)) << (self.next() % 60),
            _ => all,
        } & ((1 << fraction) - 1);
        // The x87's integer bit mostly fits the exponent.
        let integer = if width == 80 && (e != 0) != self.next().is_multiple_of(16) { 1u128 << 63 } else { 0 };
        u128::from(self.next() & 1) << (width - 1) | e << stored | integer | f
    }
}

/// The values of all nodes, 64 inputs side by side.
fn simulate(aig: &Aig, inputs: &[(Lit, u64)]) -> Vec<u64> {
    let mut values = vec![0u64; aig.len()];
    for &(input, value) in inputs {
        values[input.node() as usize] = value;
    }
    let of = |values: &[u64], lit: Lit| values[lit.node() as usize] ^ if lit.inverted() { u64::MAX } else { 0 };
    for node in 0..aig.len() {
        if let Node::And(a, b) = aig.node(node as u32) {
            values[node] = of(&values, a) & of(&values, b);
        }
    }
    values
}

fn check(op: FloatOp, from: u32, second: u32, to: u32) {
    let batches = option_env!("WRYNECK_FLOAT_BATCHES").and_then(|text| text.parse().ok()).unwrap_or(BATCHES);
    let mut aig = Aig::new();
    let a: Vec<Lit> = (0..from).map(|_| aig.input()).collect();
    let b: Vec<Lit> = if op.is_binary() { (0..second).map(|_| aig.input()).collect() } else { a.clone() };
    let meter = Meter::new(&aig, u64::MAX, &Stop::default());
    let out = float::operation(&mut aig, op, &a, &b, to, &meter).unwrap();
    assert_eq!(out.len(), to as usize);
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15 ^ u64::from(op.code() * 1000 + from * 7 + to));
    for _ in 0..batches {
        let pairs: Vec<(u128, u128)> = (0..64)
            .map(|_| {
                let x = rng.pattern(from, 0);
                let y = match op {
                    FloatOp::Fma => {
                        let y = rng.pattern(from, x);
                        // Addends near the product, so that sums cancel.
                        let product = eval(FloatOp::Mul, from, from, x, y);
                        let z = if rng.next().is_multiple_of(2) { rng.pattern(from, product) } else { rng.pattern(from, x) };
                        z << from | y
                    }
                    _ if op.is_binary() => rng.pattern(from, x),
                    _ => x,
                };
                (x, y)
            })
            .collect();
        let lanes = |bit: usize, value: &dyn Fn(&(u128, u128)) -> u128| {
            (0..64).fold(0u64, |word, i| word | ((value(&pairs[i]) >> bit & 1) as u64) << i)
        };
        let mut inputs: Vec<(Lit, u64)> = a.iter().enumerate().map(|(bit, &lit)| (lit, lanes(bit, &|pair| pair.0))).collect();
        if op.is_binary() {
            inputs.extend(b.iter().enumerate().map(|(bit, &lit)| (lit, lanes(bit, &|pair| pair.1))));
        }
        let values = simulate(&aig, &inputs);
        for (i, &(x, y)) in pairs.iter().enumerate() {
            let got = out.iter().enumerate().fold(0u128, |word, (bit, lit)| {
                let value = values[lit.node() as usize] >> i & 1 ^ u64::from(lit.inverted());
                word | u128::from(value) << bit
            });
            let want = eval(op, from, to, x, y);
            assert_eq!(got, want, "{} of {x:#x} and {y:#x}, {from} to {to} bits: {got:#x}, not {want:#x}", op.name());
        }
    }
}

#[test]
fn arithmetic_is_the_cpus() {
    for op in [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Sqrt] {
        for width in [32, 64, 80] {
            check(op, width, width, width);
        }
    }
}

#[test]
fn fused_products_are_the_cpus() {
    check(FloatOp::Fma, 32, 64, 32);
    check(FloatOp::Fma, 64, 128, 64);
}

#[test]
fn rounding_to_integers_is_the_cpus() {
    for mode in wryneck_ir::Round::ALL {
        for width in [32, 64, 80] {
            check(FloatOp::Round(mode), width, width, width);
        }
    }
}

#[test]
fn conversions_are_the_cpus() {
    for from in [32, 64, 80] {
        for to in [32, 64, 80] {
            if from != to {
                check(FloatOp::Cast, from, from, to);
            }
        }
        for to in if from == 80 { &[16, 32, 64][..] } else { &[32, 64] } {
            check(FloatOp::ToSigned, from, from, *to);
        }
        for integer in [1, 8, 13, 16, 32, 64] {
            check(FloatOp::FromSigned, integer, integer, from);
            check(FloatOp::FromUnsigned, integer, integer, from);
        }
    }
}

#[test]
fn comparisons_are_the_cpus() {
    for predicate in 0..16 {
        for width in [32, 64, 80] {
            check(FloatOp::Compare(predicate), width, width, 1);
        }
    }
}
