//! The constructors built from others, compared with what the words mean, for all values of up to 4 bits and random wider ones.

use wryneck_expr::{Evaluator, ExprId, Model, Pool, Width};

type Build = fn(&mut Pool, ExprId, ExprId) -> ExprId;
/// Width, operands as numbers -> the value, before it is cut to the result's width.
type Meaning = fn(Width, u64, u64) -> u64;

fn mask(width: Width) -> u64 {
    u64::MAX >> (64 - width)
}

fn signed(width: Width, x: u64) -> i128 {
    i128::from(((x << (64 - width)) as i64) >> (64 - width))
}

/// Is the exact signed result outside the width?
fn leaves(width: Width, exact: i128) -> u64 {
    let limit = 1i128 << (width - 1);
    u64::from(exact < -limit || exact >= limit)
}

fn rotated(width: Width, x: u64, by: u64) -> u64 {
    let by = (by % u64::from(width)) as u32;
    if by == 0 { x } else { x << by | x >> (width - by) }
}

/// Every derived constructor of one or two operands; sorted by name.
const DERIVED: &[(&str, Build, Meaning)] = &[
    ("bitreverse", |p, a, _| p.bitreverse(a), |w, x, _| x.reverse_bits() >> (64 - w)),
    ("comp", Pool::comp, |_, x, y| u64::from(x == y)),
    ("ctlz", |p, a, _| p.ctlz(a), |w, x, _| u64::from(x.leading_zeros() - (64 - w))),
    ("ctpop", |p, a, _| p.ctpop(a), |_, x, _| u64::from(x.count_ones())),
    ("cttz", |p, a, _| p.cttz(a), |w, x, _| u64::from(x.trailing_zeros().min(w))),
    (
        "fshl",
        |p, a, b| p.fshl(a, b, b),
        |w, x, y| {
            let by = y % u64::from(w);
            ((u128::from(x) << w | u128::from(y)) << by >> w) as u64
        },
    ),
    ("fshr", |p, a, b| p.fshr(a, b, b), |w, x, y| ((u128::from(x) << w | u128::from(y)) >> (y % u64::from(w))) as u64),
    ("implies", |p, a, b| p.implies(a, b), |_, x, y| !x | y),
    ("is_zero", |p, a, _| p.is_zero(a), |_, x, _| u64::from(x == 0)),
    ("nand", Pool::nand, |_, x, y| !(x & y)),
    ("ne", Pool::ne, |_, x, y| u64::from(x != y)),
    ("neg_overflow", |p, a, _| p.neg_overflow(a), |w, x, _| leaves(w, -signed(w, x))),
    ("nor", Pool::nor, |_, x, y| !(x | y)),
    ("rotate_left 3", |p, a, _| p.rotate_left(a, 3), |w, x, _| rotated(w, x, 3)),
    ("rotate_right 3", |p, a, _| p.rotate_right(a, 3), |w, x, _| rotated(w, x, 4 * u64::from(w) - 3)),
    ("rotl", Pool::rotl, rotated),
    ("rotr", Pool::rotr, |w, x, y| rotated(w, x, u64::from(w) - y % u64::from(w))),
    ("sadd_overflow", Pool::sadd_overflow, |w, x, y| leaves(w, signed(w, x) + signed(w, y))),
    ("sdiv_overflow", Pool::sdiv_overflow, |w, x, y| {
        let (x, y) = (signed(w, x), signed(w, y));
        if y == 0 { 0 } else { leaves(w, x / y) }
    }),
    ("sge", Pool::sge, |w, x, y| u64::from(signed(w, x) >= signed(w, y))),
    ("sgt", Pool::sgt, |w, x, y| u64::from(signed(w, x) > signed(w, y))),
    ("sign_bit", |p, a, _| p.sign_bit(a), |w, x, _| x >> (w - 1)),
    ("smod", Pool::smod, |w, x, y| {
        let (x, y) = (signed(w, x), signed(w, y));
        if y == 0 { x as u64 } else { (x - y * x.div_euclid(y) - if y < 0 && x.rem_euclid(y) != 0 { -y } else { 0 }) as u64 }
    }),
    ("smul_overflow", Pool::smul_overflow, |w, x, y| leaves(w, signed(w, x) * signed(w, y))),
    ("ssub_overflow", Pool::ssub_overflow, |w, x, y| leaves(w, signed(w, x) - signed(w, y))),
    ("uadd_overflow", Pool::uadd_overflow, |w, x, y| u64::from(u128::from(x) + u128::from(y) > u128::from(mask(w)))),
    ("uge", Pool::uge, |_, x, y| u64::from(x >= y)),
    ("ugt", Pool::ugt, |_, x, y| u64::from(x > y)),
    ("umul_overflow", Pool::umul_overflow, |w, x, y| u64::from(u128::from(x) * u128::from(y) > u128::from(mask(w)))),
    ("usub_overflow", Pool::usub_overflow, |_, x, y| u64::from(x < y)),
    ("xnor", Pool::xnor, |_, x, y| !(x ^ y)),
];

/// The values of a constructor at a width, in a simplifying and a plain pool, symbolic and constant operands alike.
fn check(name: &str, build: Build, meaning: Meaning, width: Width, values: &[(u64, u64)]) {
    for mut pool in [Pool::new(), Pool::plain()] {
        let (x, y) = (pool.symbol("x", 0, width), pool.symbol("y", 0, width));
        let (a, b) = (pool.sym(x), pool.sym(y));
        let e = build(&mut pool, a, b);
        let mut evaluator = Evaluator::new();
        for &(p, q) in values {
            let model = Model::empty().with(&[(x, p), (y, q)]);
            let expected = meaning(width, p, q) & mask(pool.width(e));
            assert_eq!(evaluator.eval(&pool, e, &model), expected, "{name} of {p:#x} and {q:#x} at {width} bits");
            let (p, q) = (pool.bits(width, p), pool.bits(width, q));
            let constant = build(&mut pool, p, q);
            assert_eq!(evaluator.eval(&pool, constant, &Model::empty()), expected, "{name} of constants at {width} bits");
        }
    }
}

#[test]
fn derived_constructors_mean_what_they_say() {
    assert!(DERIVED.is_sorted_by_key(|(name, ..)| name));
    for &(name, build, meaning) in DERIVED {
        for width in 1..=4 {
            let all: Vec<_> = (0..1 << (2 * width)).map(|v: u64| (v & mask(width), v >> width)).collect();
            check(name, build, meaning, width, &all);
        }
        for width in [8, 31, 32, 33, 63, 64] {
            let mut state = 0x9e37_79b9_7f4a_7c15u64;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> (state % 61)) & mask(width)
            };
            let some: Vec<_> = (0..40).map(|_| (next(), next())).chain([(1 << (width - 1), mask(width)), (0, 0)]).collect();
            check(name, build, meaning, width, &some);
        }
    }
}

#[test]
fn bytes_reverse_and_repeat() {
    let mut pool = Pool::new();
    let symbol = pool.symbol("x", 0, 32);
    let x = pool.sym(symbol);
    let (swapped, repeated) = (pool.bswap(x), pool.repeat(x, 3));
    let model = Model::empty().with(&[(symbol, 0x1234_5678)]);
    let mut evaluator = Evaluator::new();
    assert_eq!(evaluator.eval(&pool, swapped, &model), 0x7856_3412);
    assert_eq!(evaluator.eval_wide(&pool, repeated, &model), [0x1234_5678_1234_5678, 0x1234_5678]);
    assert_eq!(pool.bswap(swapped), x);
}

#[test]
fn products_of_the_widest_values_overflow_where_the_halves_say() {
    let mut pool = Pool::new();
    let width = 65_535;
    let power = |pool: &mut Pool, n: u32| {
        let mut limbs = vec![0; 1024];
        limbs[n as usize / 64] = 1 << (n % 64);
        pool.wide(width, &limbs)
    };
    let (half, other, minus_one, least) = (power(&mut pool, 32_767), power(&mut pool, 32_768), pool.ones(width), pool.signed_min(width));
    let overflows = [
        pool.umul_overflow(half, other),
        pool.umul_overflow(half, half),
        pool.smul_overflow(half, half),
        pool.smul_overflow(half, other),
        pool.smul_overflow(minus_one, least),
        pool.smul_overflow(minus_one, half),
    ];
    let yes = ExprId::TRUE;
    let no = ExprId::FALSE;
    // 2^65535 is beyond both; 2^65534 only beyond the signed range.
    assert_eq!(overflows, [yes, no, yes, yes, yes, no]);
}
