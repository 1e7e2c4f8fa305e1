//! The vectors of values of 65 to 128 bits, and of what is made of such: one loop over the values, the operator decided within.

use super::Sweep;
use super::lanes::{LANES, Lane, Lanes, fill};
use crate::float;
use crate::node::{ExprId, Kind, Op, Width, arithmetic, comparison};
use crate::pool::Pool;
use crate::wide;

fn mask(width: Width) -> u128 {
    u128::MAX >> (128 - width)
}

fn signed(width: Width, value: u128) -> i128 {
    ((value << (128 - width)) as i128) >> (128 - width)
}

/// An operator on two values of `width` (at most 128) bits.
fn apply(op: Op, width: Width, x: u128, y: u128) -> u128 {
    let value = match op {
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::Mul => x.wrapping_mul(y),
        Op::Eq => u128::from(x == y),
        Op::Ult => u128::from(x < y),
        Op::Ule => u128::from(x <= y),
        Op::Slt => u128::from(signed(width, x) < signed(width, y)),
        Op::Sle => u128::from(signed(width, x) <= signed(width, y)),
        _ => {
            let limbs = |value: u128| [value as u64, (value >> 64) as u64];
            float::joined(&wide::binary(op, width, &limbs(x), &limbs(y)).expect("a binary operator"))
        }
    };
    value & mask(width)
}

impl Sweep {
    /// The vector of a node of 65 to 128 bits.
    pub(super) fn computed_wide(&self, pool: &Pool, e: ExprId) -> [u128; LANES] {
        let width = pool.width(e);
        let of = |operand: ExprId| self.lanes(pool, operand);
        let one = |a: Lanes<'_>, f: &dyn Fn(u128) -> u128| std::array::from_fn(|i| f(a.quad(i)) & mask(width));
        match pool.kind(e) {
            Kind::Not(a) => one(of(a), &|x| !x),
            Kind::Neg(a) => one(of(a), &u128::wrapping_neg),
            Kind::Zext(a) => one(of(a), &|x| x),
            Kind::Sext(a) => one(of(a), &|x| signed(pool.width(a), x) as u128),
            Kind::Extract(a, lo) => one(of(a), &|x| x >> lo),
            Kind::Concat(hi, lo) => {
                let (high, low, shift) = (of(hi), of(lo), pool.width(lo));
                std::array::from_fn(|i| high.quad(i) << shift | low.quad(i))
            }
            Kind::Ite(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                std::array::from_fn(|i| if c.quad(i) != 0 { a.quad(i) } else { b.quad(i) })
            }
            Kind::Float(op, a, b) => {
                let mut out = [0; LANES];
                self.live.float(op, (pool.width(a), width), of(a), of(b), &mut out, |value| value);
                out
            }
            arithmetic!(a, b) => {
                let (op, a, b) = (pool.op(e), of(a), of(b));
                std::array::from_fn(|i| apply(op, width, a.quad(i), b.quad(i)))
            }
            comparison!(_a, _b) => unreachable!("of 1 bit"),
            Kind::Const | Kind::Sym(_) | Kind::Read(..) | Kind::PtrAdd(..) => unreachable!("independent of the symbol, or at most 64 bits"),
        }
    }

    /// The vector of a node of at most 64 bits with an operand above.
    #[inline(never)]
    pub(super) fn computed_of_wide<R: Lane>(&self, pool: &Pool, e: ExprId, out: &mut [R; LANES]) {
        let width = pool.width(e);
        let of = |operand: ExprId| self.lanes(pool, operand);
        let narrow = |value: u128| (value & mask(width)) as u64;
        match pool.kind(e) {
            Kind::Extract(a, lo) => {
                let a = of(a);
                fill(out, |i| narrow(a.quad(i) >> lo));
            }
            Kind::Float(op, a, b) => {
                self.live.float(op, (pool.width(a), width), of(a), of(b), out, |value| R::from_u64(narrow(value)));
            }
            comparison!(a, b) => {
                let (op, from, a, b) = (pool.op(e), pool.width(a), of(a), of(b));
                fill(out, |i| narrow(apply(op, from, a.quad(i), b.quad(i))));
            }
            _ => unreachable!("no other operator makes less of more than 64 bits"),
        }
    }
}
