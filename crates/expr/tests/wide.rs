//! Arithmetic above 64 bits against `u128`, and at any width against loops over single bits.

use wryneck_expr::{Evaluator, Model, Op, Pool, Shape, Width, wide};

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Limbs of a width, with long runs of zeros and ones, and small values, among them.
    fn value(&mut self, width: Width) -> Vec<u64> {
        let kind = self.next() % 5;
        let limbs = (0..width.div_ceil(64)).map(|i| match kind {
            0 => self.next(),
            1 => [0, u64::MAX, self.next()][(self.next() % 3) as usize],
            2 if i == 0 => self.next() % 300,
            3 => u64::MAX << (self.next() % 64),
            _ => 0,
        });
        let limbs = limbs.collect();
        wide::normalise(width, limbs)
    }
}

fn binary_operators() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| matches!(op.shape(), Shape::Binary | Shape::Compare))
}

/// What `op` gives at 128 bits.
fn with_u128(op: Op, x: u128, y: u128) -> u128 {
    let (sx, sy) = (x as i128, y as i128);
    match op {
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::Mul => x.wrapping_mul(y),
        Op::Udiv => x.checked_div(y).unwrap_or(u128::MAX),
        Op::Urem => x.checked_rem(y).unwrap_or(x),
        Op::Sdiv if y == 0 => {
            if sx < 0 {
                1
            } else {
                u128::MAX
            }
        }
        Op::Sdiv => sx.wrapping_div(sy) as u128,
        Op::Srem if y == 0 => x,
        Op::Srem => sx.wrapping_rem(sy) as u128,
        Op::Shl => {
            if y < 128 {
                x << y
            } else {
                0
            }
        }
        Op::Lshr => {
            if y < 128 {
                x >> y
            } else {
                0
            }
        }
        Op::Ashr => (sx >> y.min(127)) as u128,
        Op::Eq => u128::from(x == y),
        Op::Ult => u128::from(x < y),
        Op::Ule => u128::from(x <= y),
        Op::Slt => u128::from(sx < sy),
        Op::Sle => u128::from(sx <= sy),
        other => panic!("`{}` is not binary", other.smt()),
    }
}

fn join(limbs: &[u64]) -> u128 {
    u128::from(limbs[0]) | limbs.get(1).map_or(0, |&high| u128::from(high) << 64)
}

#[test]
fn at_128_bits_every_operator_agrees_with_u128() {
    let mut rng = Rng(7);
    let mut pool = Pool::new();
    for op in binary_operators() {
        for _ in 0..2000 {
            let (x, y) = (rng.value(128), rng.value(128));
            let expected = with_u128(op, join(&x), join(&y));
            assert_eq!(join(&wide::binary(op, 128, &x, &y).expect("binary")), expected, "{op:?} {x:x?} {y:x?}");
            let (a, b) = (pool.wide(128, &x), pool.wide(128, &y));
            let folded = pool.binary(op, a, b);
            assert_eq!(join(pool.as_limbs(folded).expect("a constant")), expected);
        }
    }
}

/// A value as single bits, lowest first.
fn bits(width: Width, limbs: &[u64]) -> Vec<bool> {
    (0..width).map(|i| wide::bit(limbs, i)).collect()
}

fn add_bits(a: &[bool], b: &[bool], mut carry: bool) -> Vec<bool> {
    let sum = a.iter().zip(b).map(|(&x, &y)| {
        let digit = x ^ y ^ carry;
        carry = x & y | carry & (x | y);
        digit
    });
    sum.collect()
}

fn negated(a: &[bool]) -> Vec<bool> {
    add_bits(&a.iter().map(|x| !x).collect::<Vec<_>>(), &vec![false; a.len()], true)
}

fn shifted(a: &[bool], by: usize) -> Vec<bool> {
    (0..a.len()).map(|i| i >= by && a[i - by]).collect()
}

#[test]
fn at_any_width_sums_and_products_agree_with_loops_over_bits() {
    let mut rng = Rng(11);
    for width in [1, 2, 63, 64, 65, 80, 127, 128, 129, 192, 257, 512] {
        for _ in 0..20 {
            let (x, y) = (rng.value(width), rng.value(width));
            let (a, b) = (bits(width, &x), bits(width, &y));
            let of = |op: Op| bits(width, &wide::binary(op, width, &x, &y).expect("binary"));
            assert_eq!(of(Op::Add), add_bits(&a, &b, false));
            assert_eq!(of(Op::Sub), add_bits(&a, &negated(&b), false));
            assert_eq!(bits(width, &wide::neg(width, &x)), negated(&a));
            let product = (0..a.len()).filter(|&i| b[i]).fold(vec![false; a.len()], |sum, i| add_bits(&sum, &shifted(&a, i), false));
            assert_eq!(of(Op::Mul), product);
            // a = quotient * b + rest, rest < b.
            let (quotient, rest) =
                (wide::binary(Op::Udiv, width, &x, &y).expect("binary"), wide::binary(Op::Urem, width, &x, &y).expect("binary"));
            let back = wide::binary(Op::Mul, width, &quotient, &y).expect("binary");
            let back = wide::binary(Op::Add, width, &back, &rest).expect("binary");
            assert_eq!(back, x);
            assert!(y.iter().all(|&limb| limb == 0) || wide::cmp(&rest, &y).is_lt());
        }
    }
}

#[test]
fn wide_parts_agree_with_bits() {
    let mut rng = Rng(13);
    let mut pool = Pool::new();
    for width in [65, 128, 200, 1000, 65_536] {
        let x = rng.value(width);
        let e = pool.wide(width, &x);
        for _ in 0..20 {
            let lo = (rng.next() % u64::from(width)) as Width;
            let len = 1 + (rng.next() % u64::from(width - lo)) as Width;
            let part = pool.extract(e, lo, len);
            let expected: Vec<bool> = (lo..lo + len).map(|i| wide::bit(&x, i)).collect();
            assert_eq!(bits(len, pool.as_limbs(part).expect("a constant")), expected);
        }
        let at = 1 + (rng.next() % u64::from(width - 1)) as Width;
        let (high, low) = (pool.extract(e, at, width - at), pool.extract(e, 0, at));
        assert_eq!(pool.concat(high, low), e);
    }
}

#[test]
fn a_buffer_of_the_greatest_width_is_stored_and_loaded() {
    let mut pool = Pool::new();
    let bytes: Vec<_> = (0..8192)
        .map(|i| {
            let symbol = pool.symbol("byte", i, 8);
            pool.sym(symbol)
        })
        .collect();
    let buffer = pool.concat_all(&bytes);
    assert_eq!(pool.width(buffer), 65_536);
    for i in [0, 1, 4095, 8191] {
        assert_eq!(pool.byte(buffer, i), bytes[i as usize]);
    }
    let symbol = pool.symbol("byte", 8191, 8);
    let top = pool.extract(buffer, 65_536 - 16, 16);
    assert_eq!(Evaluator::new().eval(&pool, top, &Model::empty().with(&[(symbol, 0xab)])), 0xab00);
    let value = Evaluator::new().eval_wide(&pool, buffer, &Model::empty().with(&[(symbol, 0xab)]));
    assert_eq!((value.len(), value[1023]), (1024, 0xab << 56));
}
