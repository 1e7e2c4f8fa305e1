//! Expressions as deep as a long run makes them: nothing here may recurse over them.

use wryneck_expr::print::smtlib;
use wryneck_expr::{Evaluator, ExprId, Model, Pool, Sweep, subst, visit};

const DEPTH: u64 = 200_000;

/// A hash over and over one byte, as deep as it is long.
fn deep(pool: &mut Pool) -> (ExprId, wryneck_expr::SymId) {
    let symbol = pool.symbol("c", 0, 8);
    let c = pool.sym(symbol);
    let word = pool.zext(c, 32);
    let factor = pool.bits(32, 31);
    let hash = (0..DEPTH).fold(word, |hash, _| {
        let product = pool.mul(hash, factor);
        pool.xor(product, word)
    });
    (hash, symbol)
}

#[test]
fn deep_expressions_are_evaluated_swept_rebuilt_printed_and_compacted() {
    let mut pool = Pool::new();
    let (hash, symbol) = deep(&mut pool);
    let expected = (0..DEPTH).fold(7u32, |hash, _| hash.wrapping_mul(31) ^ 7);
    let model = Model::empty().with(&[(symbol, 7)]);
    assert_eq!(Evaluator::new().eval(&pool, hash, &model), u64::from(expected));

    let (k, byte) = (pool.bits(32, u64::from(expected)), pool.bits(8, 7));
    let hit = pool.eq(hash, k);
    let table = Sweep::new().sweep(&pool, hit, symbol);
    assert_eq!(table[0] >> 7 & 1, 1);
    let hashes = Sweep::new().sweep_values(&pool, hash, symbol);
    assert!((0..256).all(|v| (hashes[v] == u64::from(expected)) == (table[v / 64] >> (v % 64) & 1 == 1)));

    let c = pool.sym(symbol);
    let map = [(c, byte)].into_iter().collect();
    assert_eq!(subst::subst(&mut pool, hash, &map), k);

    let mut seen = 0;
    visit::post_order(&pool, &[hash], |_| seen += 1);
    assert!(seen > DEPTH);
    assert!(smtlib::query(&pool, &[hit]).len() > DEPTH as usize);

    let remap = pool.compact(&mut |mark| mark(hash));
    let hash = remap.get(hash).expect("a root survives");
    assert_eq!(Evaluator::new().eval(&pool, hash, &model), u64::from(expected));
}

#[test]
fn deep_choices_and_byte_lists_are_simplified_without_recursion_over_them() {
    let mut pool = Pool::new();
    let symbol = pool.symbol("i", 0, 32);
    let i = pool.sym(symbol);
    let none = pool.bits(32, 0);
    let chain = (0..DEPTH).fold(none, |rest, n| {
        let (n, square) = (pool.bits(32, n), pool.bits(32, n * 7 + 1));
        let here = pool.eq(i, n);
        pool.ite(here, square, rest)
    });
    let (k, low) = (pool.bits(32, 15), pool.extract(chain, 0, 8));
    let (is_k, less) = (pool.eq(chain, k), pool.ult(chain, k));
    let model = Model::empty().with(&[(symbol, 2)]);
    let mut evaluator = Evaluator::new();
    assert_eq!(evaluator.eval(&pool, is_k, &model), 1);
    assert_eq!(evaluator.eval(&pool, less, &model), 0);
    assert_eq!(evaluator.eval(&pool, low, &model), 15);
}

#[test]
fn a_long_chain_of_invertible_steps_is_compared() {
    let mut pool = Pool::new();
    let symbol = pool.symbol("x", 0, 64);
    let x = pool.sym(symbol);
    let (k1, k2) = (pool.bits(64, 0x5555), pool.bits(64, 0x1234_5677));
    let chain = (0..DEPTH).fold(x, |value, _| {
        let differ = pool.xor(value, k1);
        pool.add(differ, k2)
    });
    let expected = (0..DEPTH).fold(9u64, |value, _| (value ^ 0x5555).wrapping_add(0x1234_5677));
    let k = pool.bits(64, expected);
    let equal = pool.eq(chain, k);
    let mut evaluator = Evaluator::new();
    assert!(evaluator.holds(&pool, equal, &Model::empty().with(&[(symbol, 9)])));
    assert!(!evaluator.holds(&pool, equal, &Model::empty().with(&[(symbol, 8)])));
}

#[test]
fn values_of_thousands_of_parts_are_combined() {
    let mut pool = Pool::new();
    let bytes: Vec<ExprId> = (0..8192)
        .map(|i| {
            let symbol = pool.symbol("byte", i, 8);
            pool.sym(symbol)
        })
        .collect();
    let buffer = pool.concat_all(&bytes);
    let reversed: Vec<ExprId> = bytes.iter().rev().copied().collect();
    let reversed = pool.concat_all(&reversed);
    let (differ, zero) = (pool.xor(buffer, reversed), pool.zero(65_536));
    let (same, blank, complement) = (pool.eq(buffer, reversed), pool.eq(differ, zero), pool.not(buffer));
    let part = pool.extract(complement, 4, 65_000);
    let mut evaluator = Evaluator::new();
    assert!(evaluator.holds(&pool, same, &Model::empty()));
    assert!(evaluator.holds(&pool, blank, &Model::empty()));
    assert_eq!(evaluator.eval_wide(&pool, part, &Model::empty())[0], u64::MAX);
    let first = pool.symbol("byte", 0, 8);
    let model = Model::empty().with(&[(first, 1)]);
    assert!(!evaluator.holds(&pool, same, &model));
    assert!(!evaluator.holds(&pool, blank, &model));
}
