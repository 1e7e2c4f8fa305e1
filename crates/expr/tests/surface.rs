//! The public surface on small examples: what other crates lean on first.

use wryneck_expr::{Evaluator, ExprId, Model, Pool, Sweep};

#[test]
fn ids_are_small_and_truths_have_fixed_ones() {
    assert_eq!(size_of::<Option<ExprId>>(), 4);
    let mut pool = Pool::new();
    assert_eq!((pool.bits(1, 0), pool.bits(1, 1)), (ExprId::FALSE, ExprId::TRUE));
    assert_eq!(ExprId::from_raw(7).raw(), 7);
}

#[test]
fn the_same_key_is_the_same_symbol() {
    let mut pool = Pool::new();
    let a = pool.symbol("stdin", 3, 8);
    assert_eq!(pool.symbol("stdin", 3, 8), a);
    assert_ne!(pool.symbol("stdin", 4, 8), a);
    assert_ne!(pool.symbol("arg", 3, 8), a);
    assert_eq!((&*pool.sym_info(a).name, pool.sym_info(a).index, pool.sym_info(a).width), ("stdin", 3, 8));
}

#[test]
fn a_condition_evaluates_and_sweeps() {
    let mut pool = Pool::new();
    let symbol = pool.symbol("c", 0, 8);
    let (c, newline) = (pool.sym(symbol), pool.bits(8, 10));
    let condition = pool.eq(c, newline);
    let mut evaluator = Evaluator::new();
    assert!(!evaluator.holds(&pool, condition, &Model::empty()));
    assert!(evaluator.holds(&pool, condition, &Model::empty().with(&[(symbol, 10)])));
    assert_eq!(Sweep::new().sweep(&pool, condition, symbol), [1 << 10, 0, 0, 0]);
    assert_eq!(pool.support(condition), [symbol]);
}
