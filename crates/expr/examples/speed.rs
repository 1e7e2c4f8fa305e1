//! How fast nodes are made, found again, evaluated and swept. Run with
//! `cargo run --release -p wryneck-expr --example speed`.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::time::Instant;

use wryneck_expr::{Evaluator, ExprId, Model, Pool, Sweep};

/// Runs `work`, which does `count` things, eight times, and prints the time of one thing in the fastest run: other processes
/// can only make it slower.
fn measure(what: &str, count: u64, mut work: impl FnMut()) {
    let runs = (0..8).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64 / count as f64
    });
    println!("{what:<58} {:>10.2} ns", runs.fold(f64::INFINITY, f64::min));
}

/// A condition as a byte parser has it: is the byte a digit, a letter or a blank?
fn character_class(pool: &mut Pool, c: ExprId) -> ExprId {
    let c = pool.zext(c, 32);
    let mut any = pool.fls();
    for (first, last) in [(b'0', b'9'), (b'a', b'z'), (b' ', b' ')] {
        let (first, last) = (pool.bits(32, first.into()), pool.bits(32, last.into()));
        let (not_below, not_above) = (pool.sle(first, c), pool.sle(c, last));
        let within = pool.and(not_below, not_above);
        any = pool.or(any, within);
    }
    any
}

/// A sum that grows by one term, never simplified, `n` times.
fn chain(pool: &mut Pool, n: u32) -> ExprId {
    let symbol = pool.symbol("word", 0, 64);
    let x = pool.sym(symbol);
    (0..n).fold(x, |sum, i| {
        let k = pool.bits(64, 2 * u64::from(i) + 3);
        let product = pool.mul(sum, k);
        pool.xor(product, x)
    })
}

fn main() {
    let mut pool = Pool::new();
    let bytes: Vec<_> = (0..64).map(|i| pool.symbol("byte", i, 8)).collect();
    let exprs: Vec<ExprId> = bytes.iter().map(|&symbol| pool.sym(symbol)).collect();
    let (x, y) = (exprs[0], exprs[1]);

    const MANY: u64 = 2_000_000;
    measure("make x + y again (8 bits)", MANY, || {
        for _ in 0..MANY {
            black_box(pool.add(black_box(x), black_box(y)));
        }
    });
    measure("make the constant 77 again", MANY, || {
        for _ in 0..MANY {
            black_box(pool.bits(32, black_box(77)));
        }
    });
    measure("make a character class again (27 constructor calls)", MANY / 100, || {
        for _ in 0..MANY / 100 {
            black_box(character_class(&mut pool, black_box(x)));
        }
    });
    measure("make new nodes (x * k ^ x chains), per node", 150_000, || {
        pool = Pool::new();
        black_box(chain(&mut pool, 50_000));
    });
    println!("{:<58} {:>10.1} bytes", "memory per node", pool.memory() as f64 / pool.len() as f64);

    let bytes: Vec<_> = (0..64).map(|i| pool.symbol("byte", i, 8)).collect();
    let x = pool.sym(bytes[0]);
    let sum = chain(&mut pool, 50_000);
    let mut evaluator = Evaluator::new();
    let models: Vec<Model> = (0..8).map(|i| Model::empty().with(&[(bytes[0], i + 1), (bytes[1], i + 3)])).collect();
    let mut turn = 0;
    measure("evaluate a chain 50,000 deep under another model, per node", 150_000, || {
        turn += 1;
        black_box(evaluator.eval(&pool, sum, &models[turn % 2]));
    });
    let last = models[turn % 2].clone();
    measure("evaluate a memoised node", MANY, || {
        for _ in 0..MANY {
            black_box(evaluator.eval(&pool, black_box(sum), &last));
        }
    });
    let class = character_class(&mut pool, x);
    measure("evaluate a character class under another model", MANY / 10, || {
        for i in 0..MANY / 10 {
            black_box(evaluator.eval(&pool, class, &models[i as usize % 8]));
        }
    });

    let mut sweep = Sweep::new();
    let newline = pool.bits(8, 10);
    let is_newline = pool.eq(x, newline);
    measure("sweep c == 10", 10_000, || {
        for _ in 0..10_000 {
            black_box(sweep.sweep(&pool, is_newline, bytes[0]));
        }
    });
    measure("sweep a character class", 10_000, || {
        for _ in 0..10_000 {
            black_box(sweep.sweep(&pool, class, bytes[0]));
        }
    });
    let word = pool.zext(x, 64);
    let hash = pool.bits(64, 31);
    let product = pool.mul(word, hash);
    let (shift, limit) = (pool.bits(64, 7), pool.bits(64, 40));
    let rest = pool.urem(product, shift);
    let quotient = pool.udiv(product, limit);
    let less = pool.ult(quotient, rest);
    measure("sweep c * 31 / 40 < c * 31 % 7", 10_000, || {
        for _ in 0..10_000 {
            black_box(sweep.sweep(&pool, less, bytes[0]));
        }
    });
}
