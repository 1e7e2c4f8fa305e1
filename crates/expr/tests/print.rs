//! The printers on one query that has every kind of node.

use expect_test::expect;
use wryneck_expr::print::{human::human, smtlib};
use wryneck_expr::{ExprId, Pool};

/// A condition over two bytes, and the pool it is in.
fn sample() -> (Pool, ExprId) {
    let mut pool = Pool::new();
    let (x, y) = (pool.symbol("stdin", 0, 8), pool.symbol("argv", 1, 8));
    let (x, y) = (pool.sym(x), pool.sym(y));
    let (k, index) = (pool.bits(8, 7), pool.zext(x, 64));
    let product = pool.mul(x, y);
    let array = pool.array(&[x, product, k]);
    let (read, pointer) = (pool.read(array, index), pool.ptr(0x1000, index));
    let (low, signed) = (pool.extract(pointer, 0, 8), pool.sext(y, 9));
    let less = pool.slt(read, low);
    let (quotient, k) = (pool.sdiv(y, x), pool.bits(8, 100));
    let chosen = pool.ite(less, product, quotient);
    let (chosen, wide) = (pool.sext(chosen, 9), pool.bits(9, 0x155));
    let (differ, k) = (pool.xor(chosen, wide), pool.concat(ExprId::TRUE, k));
    let sum = pool.add(differ, signed);
    let equal = pool.ult(sum, k);
    (pool, equal)
}

#[test]
fn people_read_it_short() {
    let (pool, e) = sample();
    expect!["(((sext9(((array0[zext64(stdin[0])] <s ptr(0x1000, zext64(stdin[0]))[7:0]) ? (stdin[0] * argv[1]) : (argv[1] /s stdin[0]))) ^ 0x155:9) + sext9(argv[1])) <u 0x164:9)"].assert_eq(&human(&pool, e));
}

#[test]
fn solvers_read_it_whole() {
    let (pool, e) = sample();
    expect![[r#"
        (set-logic QF_BV)
        (declare-const s0 (_ BitVec 8))
        (declare-const s1 (_ BitVec 8))
        (assert (let ((e5 ((_ zero_extend 56) s0))) (let ((e6 (bvmul s0 s1))) (let ((e7 (ite (= e5 #x0000000000000000) s0 (ite (= e5 #x0000000000000001) e6 (ite (= e5 #x0000000000000002) #x07 #x00))))) (let ((e8 (bvadd #x0000000000001000 e5))) (let ((e9 ((_ extract 7 0) e8))) (let ((e10 ((_ sign_extend 1) s1))) (let ((e11 (ite (bvslt e7 e9) #b1 #b0))) (let ((e12 (bvsdiv s1 s0))) (let ((e14 (ite (= e11 #b1) e6 e12))) (let ((e15 ((_ sign_extend 1) e14))) (let ((e17 (bvxor e15 #b101010101))) (let ((e19 (bvadd e17 e10))) (let ((e23 (ite (bvult e19 #b101100100) #b1 #b0))) (= e23 #b1)))))))))))))))
        (check-sat)
    "#]].assert_eq(&smtlib::query(&pool, &[e]));
}
