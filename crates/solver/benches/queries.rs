//! Queries as coreutils-like programs ask them, in queries per second: `cargo bench -p wryneck-solver`.
//!
//! Each family is a set of conditions over eight input bytes; a miniature exploration forks on random ones, as the engine would: `quick` first,
//! then `check` for the side the model does not take. Families are run with the stages on, and with only bit-blasting, which is the
//! price of the SAT solver. The clock is read here only.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use wryneck_expr::{Evaluator, ExprId, Model, Pool, SymId};
use wryneck_solver::{Answer, Budget, Config, PathCondition, Solver};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

type Family = (&'static str, fn(&mut Pool, &[SymId]) -> Vec<ExprId>);

/// `x == c`, `x < c`, ranges: option letters, digits, blanks.
fn single_bytes(pool: &mut Pool, ids: &[SymId]) -> Vec<ExprId> {
    let mut all = Vec::new();
    for &id in ids {
        let x = pool.sym(id);
        for c in *b"\0\n -./09:=AZ\\_az" {
            let c = pool.bits(8, u64::from(c));
            all.extend([pool.eq(x, c), pool.ult(x, c), pool.slt(c, x)]);
            let wide = pool.sext(x, 32);
            let c = pool.sext(c, 32);
            all.extend([pool.eq(wide, c), pool.sle(wide, c)]);
        }
    }
    all
}

/// Two bytes against each other, and 16-bit words.
fn two_bytes(pool: &mut Pool, ids: &[SymId]) -> Vec<ExprId> {
    let mut all = Vec::new();
    for pair in ids.windows(2) {
        let (x, y) = (pool.sym(pair[0]), pool.sym(pair[1]));
        all.extend([pool.eq(x, y), pool.ult(x, y), pool.sle(x, y)]);
        let word = pool.concat(y, x);
        for value in [0x2d2d, 0x0a0d, 0x7fff, 0x1000] {
            let value = pool.bits(16, value);
            all.extend([pool.eq(word, value), pool.ult(word, value)]);
        }
        let or = pool.or(x, y);
        let letter = pool.bits(8, 0x61);
        all.push(pool.eq(or, letter));
    }
    all.extend(single_bytes(pool, ids).into_iter().step_by(5));
    all
}

/// 32-bit sums and decimal numbers of several bytes, as checksums and `atoi` build them.
fn sums(pool: &mut Pool, ids: &[SymId]) -> Vec<ExprId> {
    let mut all = Vec::new();
    let zero = pool.bits(32, 48);
    let ten = pool.bits(32, 10);
    let (mut number, mut sum) = (pool.zero(32), pool.zero(32));
    for &id in &ids[..5] {
        let x = pool.sym(id);
        let x = pool.zext(x, 32);
        let digit = pool.sub(x, zero);
        let scaled = pool.mul(number, ten);
        number = pool.add(scaled, digit);
        sum = pool.add(sum, x);
        for value in [7, 100, 255, 300, 1000, 12345] {
            let value = pool.bits(32, value);
            all.extend([pool.eq(number, value), pool.ult(number, value), pool.slt(value, number)]);
            all.extend([pool.eq(sum, value), pool.ult(sum, value)]);
        }
    }
    for &id in ids {
        let x = pool.sym(id);
        let (low, high) = (pool.bits(8, 48), pool.bits(8, 57));
        all.extend([pool.ule(low, x), pool.ule(x, high)]);
    }
    all
}

/// A class table read at a byte, and differences of bytes, as `strcmp` returns them.
fn tables_and_differences(pool: &mut Pool, ids: &[SymId]) -> Vec<ExprId> {
    let classes: Vec<ExprId> = (0..256u64).map(|c| pool.bits(8, (c * c / 7) & 0x3f)).collect();
    let table = pool.array(&classes);
    let mut all = Vec::new();
    for pair in ids.windows(2) {
        let (x, y) = (pool.sym(pair[0]), pool.sym(pair[1]));
        let index = pool.add(x, y);
        for e in [x, index] {
            let index = pool.zext(e, 64);
            let class = pool.read(table, index);
            for mask in [1, 4, 0x30] {
                let (mask, none) = (pool.bits(8, mask), pool.zero(8));
                let hit = pool.and(class, mask);
                all.push(pool.eq(hit, none));
            }
        }
        let (x, y) = (pool.zext(x, 32), pool.zext(y, 32));
        let difference = pool.sub(x, y);
        let none = pool.zero(32);
        all.extend([pool.eq(difference, none), pool.slt(difference, none)]);
    }
    all
}

const FAMILIES: &[Family] =
    &[("single bytes", single_bytes), ("two bytes", two_bytes), ("sums of bytes", sums), ("tables, differences", tables_and_differences)];

struct State {
    pc: PathCondition,
    model: Model,
}

/// Nanoseconds that each call took. Percentiles, not means: on a busy machine a few calls are interrupted.
#[derive(Default)]
struct Times(Vec<u64>);

impl Times {
    fn time<T>(&mut self, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = f();
        self.0.push(start.elapsed().as_nanos() as u64);
        result
    }

    fn show(&mut self) -> String {
        self.0.sort_unstable();
        let at = |percent: usize| self.0.get((self.0.len() * percent / 100).min(self.0.len().saturating_sub(1))).copied().unwrap_or(0);
        // The mean without the slowest hundredth.
        let most = &self.0[..self.0.len() - self.0.len() / 100];
        let mean = most.iter().sum::<u64>() as f64 / most.len().max(1) as f64 / 1e3;
        let [half, nine, all] = [50, 90, 99].map(|percent| at(percent) as f64 / 1e3);
        format!("50 % {half:7.2} us, 90 % {nine:7.2} us, 99 % {all:8.2} us, mean {mean:7.2} us, {:9.0}/s", 1e6 / mean)
    }
}

/// Forks at random until `queries` checks were asked.
fn explore(solver: &mut Solver, pool: &mut Pool, conditions: &[ExprId], queries: usize) -> (Times, Times) {
    let (mut quicks, mut checks) = (Times::default(), Times::default());
    let mut random = Random(1);
    let mut evaluator = Evaluator::new();
    let mut states = vec![State { pc: PathCondition::new(), model: Model::empty() }];
    let budget = Budget::default();
    while checks.0.len() < queries {
        let at = random.below(states.len());
        let cond = conditions[random.below(conditions.len())];
        let State { pc, model } = &states[at];
        if quicks.time(|| solver.quick(pool, pc, cond)).is_some() {
            continue;
        }
        let not = pool.not(cond);
        let (taken, flip) = if evaluator.holds(pool, cond, model) { (cond, not) } else { (not, cond) };
        let answer = checks.time(|| solver.check(pool, pc, flip, model, &budget));
        if let Answer::Sat(model) = answer {
            let mut pc = pc.clone();
            solver.push(pool, &mut pc, flip);
            if pc.len() < 40 {
                states.push(State { pc, model });
            }
        }
        solver.push(pool, &mut states[at].pc, taken);
        if states[at].pc.len() > 40 {
            states.swap_remove(at);
        }
        if states.is_empty() {
            states.push(State { pc: PathCondition::new(), model: Model::empty() });
        }
    }
    (quicks, checks)
}

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, config, queries) in [("stages on", Config::default(), 20_000), ("only bit-blasting", Config::plain(), 3_000)] {
        println!("{name}");
        for (family, make) in FAMILIES.iter().filter(|(family, _)| only.as_ref().is_none_or(|only| family.contains(only.as_str()))) {
            let mut pool = Pool::new();
            let ids: Vec<SymId> = (0..8).map(|i| pool.symbol("arg", i, 8)).collect();
            let conditions = make(&mut pool, &ids);
            let mut solver = Solver::new(config.clone()).expect("a row of the table");
            let (mut quicks, mut checks) = explore(&mut solver, &mut pool, &conditions, queries);
            println!("  {family:20} quick {}", quicks.show());
            println!("  {:20} check {}", "", checks.show());
            let stages: Vec<String> = solver.stats().by_stage().filter(|(_, n)| *n > 0).map(|(stage, n)| format!("{stage} {n}")).collect();
            let stats = solver.stats();
            println!("  {:20} {}; {} conflicts", "", stages.join(", "), stats.conflicts);
        }
    }
}
