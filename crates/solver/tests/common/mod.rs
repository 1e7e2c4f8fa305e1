//! What the tests share: a seeded generator, random conditions, and brute force over all assignments.
#![allow(dead_code, reason = "each test binary uses its own part")]

use wryneck_expr::{Evaluator, ExprId, Model, Op, Pool, Shape, SymId};

/// A small seeded generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Symbols `x0, x1, ...` of these widths.
pub fn symbols(pool: &mut Pool, widths: &[u32]) -> Vec<SymId> {
    (0u32..).zip(widths).map(|(i, &width)| pool.symbol("x", i, width)).collect()
}

/// A random expression of `width` bits over the symbols, about `size` operators.
pub fn random_expr(pool: &mut Pool, random: &mut Random, symbols: &[SymId], width: u32, size: u32) -> ExprId {
    if size == 0 {
        return leaf(pool, random, symbols, width);
    }
    let left = size / 2;
    match random.below(10) {
        0 => {
            let op = random.pick(&[Op::Not, Op::Neg]);
            let a = random_expr(pool, random, symbols, width, size - 1);
            pool.unary(op, a)
        }
        1 => {
            let c = random_expr(pool, random, symbols, 1, size / 3);
            let a = random_expr(pool, random, symbols, width, size / 3);
            let b = random_expr(pool, random, symbols, width, size / 3);
            pool.ite(c, a, b)
        }
        2 if width > 1 => {
            let lo = 1 + random.below(u64::from(width) - 1) as u32;
            let high = random_expr(pool, random, symbols, width - lo, left);
            let low = random_expr(pool, random, symbols, lo, left);
            pool.concat(high, low)
        }
        3 => {
            let from = width + random.below(4) as u32;
            let lo = random.below(u64::from(from - width) + 1) as u32;
            let a = random_expr(pool, random, symbols, from, size - 1);
            pool.extract(a, lo, width)
        }
        4 if width > 1 => {
            let from = 1 + random.below(u64::from(width) - 1) as u32;
            let a = random_expr(pool, random, symbols, from, size - 1);
            if random.below(2) == 0 { pool.zext(a, width) } else { pool.sext(a, width) }
        }
        5 if width == 8 => {
            let elems: Vec<ExprId> = (0..random.below(7)).map(|_| leaf(pool, random, symbols, 8)).collect();
            let array = pool.array(&elems);
            let index = random_expr(pool, random, symbols, 4, size - 1);
            let index = pool.zext(index, 64);
            pool.read(array, index)
        }
        _ if width == 1 && random.below(4) > 0 => {
            let compare: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.shape() == Shape::Compare).collect();
            let op = random.pick(&compare);
            let of = random.pick(&[2, 4, 7, 8]);
            let a = random_expr(pool, random, symbols, of, left);
            let b = random_expr(pool, random, symbols, of, left);
            pool.binary(op, a, b)
        }
        _ => {
            let binary: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.shape() == Shape::Binary).collect();
            let op = random.pick(&binary);
            let a = random_expr(pool, random, symbols, width, left);
            let b = random_expr(pool, random, symbols, width, left);
            pool.binary(op, a, b)
        }
    }
}

fn leaf(pool: &mut Pool, random: &mut Random, symbols: &[SymId], width: u32) -> ExprId {
    if width <= 64 && random.below(3) == 0 {
        let value = random.next();
        return pool.bits(width, value);
    }
    let symbol = random.pick(symbols);
    let e = pool.sym(symbol);
    let has = pool.width(e);
    match has.cmp(&width) {
        std::cmp::Ordering::Equal => e,
        std::cmp::Ordering::Less => pool.zext(e, width),
        std::cmp::Ordering::Greater => pool.extract(e, random.below(u64::from(has - width) + 1) as u32, width),
    }
}

/// Every assignment of the symbols, at most 20 bits together.
pub fn assignments(pool: &Pool, symbols: &[SymId]) -> Vec<Model> {
    let widths: Vec<u32> = symbols.iter().map(|&symbol| pool.sym_info(symbol).width).collect();
    let bits: u32 = widths.iter().sum();
    assert!(bits <= 20, "too many assignments for brute force");
    (0..1u64 << bits)
        .map(|mut n| {
            let values: Vec<(SymId, u64)> = symbols
                .iter()
                .zip(&widths)
                .map(|(&symbol, &width)| {
                    let value = n & ((1 << width) - 1);
                    n >>= width;
                    (symbol, value)
                })
                .collect();
            Model::empty().with(&values)
        })
        .collect()
}

/// Does the model satisfy all of these?
pub fn satisfies(evaluator: &mut Evaluator, pool: &Pool, all: &[ExprId], model: &Model) -> bool {
    all.iter().all(|&e| evaluator.holds(pool, e, model))
}

/// A program of that name has to be installed: a test without its oracle shows nothing.
pub fn needs(program: &str) {
    let run = std::process::Command::new(program).arg("--version").output();
    assert!(run.is_ok(), "`{program}` is not installed: ./test installs it");
}

/// A hash of these symbols, of 32 bits.
pub fn hash(pool: &mut Pool, symbols: &[SymId]) -> ExprId {
    let mut lanes = [pool.bits(32, 0x9e37_79b9), pool.bits(32, 0x85eb_ca6b)];
    for round in 0..16 {
        let symbol = pool.sym(symbols[round % symbols.len()]);
        let byte = pool.zext(symbol, 32);
        let sum = pool.binary(Op::Add, lanes[1], byte);
        let (high, low) = (pool.extract(lanes[0], 20, 12), pool.extract(lanes[0], 0, 20));
        let turned = pool.concat(low, high);
        lanes = [pool.binary(Op::Xor, turned, sum), pool.binary(Op::Add, sum, lanes[0])];
    }
    pool.binary(Op::Xor, lanes[0], lanes[1])
}
