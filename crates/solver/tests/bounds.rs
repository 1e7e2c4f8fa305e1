//! Smallest and largest values against brute force, with tables and without.

mod common;

use common::{Random, assignments, hash, random_expr, satisfies, symbols};
use wryneck_expr::{Evaluator, Model, Op, Pool};
use wryneck_solver::{Budget, Config, PathCondition, Solver, Why};

#[test]
fn bounds_agree_with_brute_force() {
    let at_once = Config { classes_after: 0, ..Config::default() };
    for config in [Config::default(), at_once, Config { byte_domain: false, ..Config::default() }, Config::plain()] {
        let mut random = Random(11);
        let mut solver = Solver::new(config).unwrap();
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[4, 3, 3]);
        let models = assignments(&pool, &ids);
        let budget = Budget::default();
        for _ in 0..60 {
            let mut pc = PathCondition::new();
            let mut left = models.clone();
            let mut evaluator = Evaluator::new();
            for _ in 0..random.below(4) {
                let cond = random_expr(&mut pool, &mut random, &ids, 1, 4);
                if left.iter().any(|model| evaluator.holds(&pool, cond, model)) {
                    left.retain(|model| evaluator.holds(&pool, cond, model));
                    solver.push(&pool, &mut pc, cond);
                }
            }
            let some = &ids[..1 + random.below(3) as usize];
            let width = random.pick(&[4, 8, 16]);
            let e = random_expr(&mut pool, &mut random, some, width, 4);
            let base = left[random.below(left.len() as u64) as usize].clone();
            let values: Vec<u64> = left.iter().map(|model| evaluator.eval(&pool, e, model)).collect();
            let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
            assert_eq!(solver.range(&mut pool, &pc, e, &base, &budget), Ok((min, max)));
            let (value, model) = solver.min_value(&mut pool, &pc, e, &base, &budget).unwrap();
            assert_eq!((value, evaluator.eval(&pool, e, &model)), (min, min));
            assert!(satisfies(&mut evaluator, &pool, &pc.constraints(), &model));
            let limit = pool.bits(width, max);
            let cond = pool.ult(e, limit);
            assert_eq!(solver.must_hold(&mut pool, &pc, cond, &base, &budget), Ok(values.iter().all(|&v| v < max)));
        }
    }
}

/// Slots of a hash table: what contradicts each other whatever the hash is, and what does because of what it is.
#[test]
fn bounds_of_hashes_agree_with_brute_force() {
    for (seed, abstraction) in (0..40).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mut random = Random(seed);
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[3, 4, 3]);
        let hash = hash(&mut pool, &ids);
        let mut solver = Solver::new(Config { abstraction, ..Config::default() }).unwrap();
        let mut pc = PathCondition::new();
        let mut left = assignments(&pool, &ids);
        let mut evaluator = Evaluator::new();
        for _ in 0..12 {
            let low = 1 + random.below(4) as u32;
            let (slot, value) = (pool.extract(hash, random.below(2) as u32, low), pool.bits(low, random.next()));
            let equal = pool.eq(slot, value);
            let cond = random.pick(&[pool.not(equal), pool.ule(slot, value), pool.ult(value, slot)]);
            if left.iter().any(|model| evaluator.holds(&pool, cond, model)) {
                left.retain(|model| evaluator.holds(&pool, cond, model));
                solver.push(&pool, &mut pc, cond);
            }
            let slot = pool.extract(hash, 0, 5);
            let (wide, size) = (pool.zext(slot, 64), pool.bits(64, random.pick(&[1, 8])));
            let offset = pool.binary(Op::Mul, wide, size);
            let values: Vec<u64> = left.iter().map(|model| evaluator.eval(&pool, offset, model)).collect();
            let base = left[random.below(left.len() as u64) as usize].clone();
            let range = solver.range(&mut pool, &pc, offset, &base, &Budget::default());
            assert_eq!(range, Ok((*values.iter().min().unwrap(), *values.iter().max().unwrap())), "seed {seed}, abstraction {abstraction}");
        }
    }
}

#[test]
fn bounds_of_wide_symbols_take_few_queries() {
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[64]);
    let mut solver = Solver::default();
    let mut pc = PathCondition::new();
    let (x, lo, hi) = (pool.sym(ids[0]), pool.bits(64, 1 << 40), pool.bits(64, u64::MAX - 7));
    for cond in [pool.ult(lo, x), pool.ult(x, hi)] {
        solver.push(&pool, &mut pc, cond);
    }
    let base = Model::empty().with(&[(ids[0], 1 << 50)]);
    let range = solver.range(&mut pool, &pc, x, &base, &Budget::default());
    assert_eq!(range, Ok(((1 << 40) + 1, u64::MAX - 8)));
    assert!(solver.stats().queries < 140, "{}", solver.stats().queries);
    let wide = pool.concat(x, x);
    assert_eq!(solver.range(&mut pool, &pc, wide, &base, &Budget::default()), Err(Why::TooWide));
}
