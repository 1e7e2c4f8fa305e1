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

#[test]
fn a_model_changes_by_copy_and_keeps_its_serial_where_nothing_changes() {
    let mut pool = Pool::new();
    let (x, y) = (pool.symbol("x", 0, 8), pool.symbol("x", 1, 64));
    let empty = Model::empty();
    let one = empty.with(&[(y, u64::MAX)]);
    let two = one.with(&[(x, 3), (y, 5)]);
    assert_eq!((empty.get(x), empty.get(y)), (0, 0));
    assert_eq!((one.get(x), one.get(y)), (0, u64::MAX));
    assert_eq!((two.get(x), two.get(y)), (3, 5));
    assert_eq!(one.with(&[(x, 0)]).serial(), one.serial());
    let serials = [empty.serial(), one.serial(), two.serial()];
    assert!(serials.iter().all(|&serial| serial != 0) && serials[0] != serials[1] && serials[1] != serials[2]);
}

#[test]
fn a_pointer_keeps_its_base_and_gives_up_differences() {
    let mut pool = Pool::new();
    let symbol = pool.symbol("i", 0, 32);
    let (i, eight) = (pool.sym(symbol), pool.bits(64, 8));
    let offset = pool.zext(i, 64);
    let pointer = pool.ptr(0x7000_0000, offset);
    let further = pool.add(pointer, eight);
    let moved = pool.add(offset, eight);
    assert_eq!(pool.as_ptr(further), Some((0x7000_0000, moved)));
    assert_eq!(pool.sub(further, pointer), eight);
    let start = pool.bits(64, 0x7000_0000);
    assert_eq!(pool.sub(pointer, start), offset);
    let (none, same) = (pool.eq(pointer, start), pool.is_zero(i));
    assert_eq!(none, same);
    assert_eq!(pool.interval(further), (0x7000_0008, 0x1_7000_0007));
}
