//! Path conditions: groups and domains against naive ones, forks that share, hashes, compaction.

mod common;

use std::collections::BTreeSet;

use common::{Random, random_expr, symbols};
use wryneck_expr::{ExprId, Kind, Pool, SymId};
use wryneck_solver::{Domain, PathCondition, RemapMemo, Seen, Solver, Tables};

/// Groups recomputed from nothing: symbols and indices, sorted.
fn naive_groups(pool: &Pool, constraints: &[ExprId]) -> BTreeSet<(Vec<SymId>, Vec<u32>)> {
    let mut groups: Vec<(BTreeSet<SymId>, BTreeSet<u32>)> = Vec::new();
    for (index, &constraint) in (0u32..).zip(constraints) {
        let mut joined: (BTreeSet<SymId>, BTreeSet<u32>) = (pool.support(constraint).iter().copied().collect(), [index].into());
        if joined.0.is_empty() {
            continue;
        }
        groups.retain(|group| {
            let apart = group.0.is_disjoint(&joined.0);
            if !apart {
                joined.0.extend(&group.0);
                joined.1.extend(&group.1);
            }
            apart
        });
        groups.push(joined);
    }
    groups.into_iter().map(|(s, i)| (s.into_iter().collect(), i.into_iter().collect())).collect()
}

fn naive_domain(pool: &Pool, tables: &mut Tables, constraints: &[ExprId], symbol: SymId) -> Domain {
    let full = Domain::full(pool.sym_info(symbol).width);
    let alone = constraints.iter().filter(|&&constraint| pool.support(constraint) == [symbol]);
    alone.fold(full, |domain, &constraint| domain.and(tables.get(pool, constraint, symbol)))
}

fn check_against_naive(pool: &Pool, tables: &mut Tables, pc: &PathCondition, ids: &[SymId]) {
    let constraints = pc.constraints();
    assert_eq!(constraints.len(), pc.len());
    let groups = pc.groups();
    let ours: BTreeSet<_> = groups.iter().cloned().collect();
    assert_eq!(ours.len(), groups.len());
    assert_eq!(ours, naive_groups(pool, &constraints));
    for &symbol in ids {
        if let Some(domain) = pc.domain(symbol) {
            assert_eq!(domain, naive_domain(pool, tables, &constraints, symbol));
        }
    }
    for (index, &constraint) in (0u32..).zip(&constraints) {
        assert_eq!(pc.constraint(index), Some(constraint));
        assert_eq!(pc.index_of(pool, constraint), Some(index));
    }
}

#[test]
fn forks_grow_independently_and_survive_compactions() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[8, 8, 8, 8, 3, 1, 16, 32, 8, 8, 8, 8]);
        let mut tables = Tables::new();
        let mut states: Vec<(PathCondition, Vec<ExprId>)> = vec![Default::default()];
        // A common stem, long enough to be shared after a fork.
        for value in 0..40 {
            let (x, value) = (pool.sym(ids[7]), pool.bits(32, value));
            let equal = pool.eq(x, value);
            let cond = pool.not(equal);
            states[0].0.push(&pool, &mut tables, cond);
            states[0].1.push(cond);
        }
        for _ in 0..150 {
            let (mut pc, mut pushed) = states[random.below(states.len() as u64) as usize].clone();
            let pair = [random.pick(&ids), random.pick(&ids)];
            let some = &pair[..1 + random.below(2) as usize];
            let cond = random_expr(&mut pool, &mut random, some, 1, 3);
            let before = pc.len() as u32;
            let added = pc.push(&pool, &mut tables, cond);
            assert_eq!(added, before..pc.len() as u32);
            let mut parts = vec![cond];
            while let Some(part) = parts.pop() {
                match pool.kind(part) {
                    Kind::And(a, b) => parts.extend([b, a]),
                    _ if part == ExprId::TRUE || pushed.contains(&part) => {}
                    _ => pushed.push(part),
                }
            }
            assert_eq!(pc.constraints(), pushed);
            check_against_naive(&pool, &mut tables, &pc, &ids);
            states.push((pc, pushed));
        }
        compact(&mut pool, &mut tables, &mut states);
        for (pc, pushed) in &states {
            assert_eq!(&pc.constraints(), pushed);
            check_against_naive(&pool, &mut tables, pc, &ids);
        }
    }
}

fn compact(pool: &mut Pool, tables: &mut Tables, states: &mut [(PathCondition, Vec<ExprId>)]) {
    let mut calls = 0;
    let remap = pool.compact(&mut |root| {
        let mut seen = Seen::default();
        states.iter().for_each(|(pc, _)| {
            pc.for_each_expr(&mut seen, &mut |e| {
                calls += 1;
                root(e);
            })
        });
    });
    let all: usize = states.iter().map(|(pc, _)| pc.len()).sum();
    assert!(calls < all, "shared parts are visited once: {calls} calls for {all} constraints");
    let mut memo = RemapMemo::default();
    for (pc, pushed) in states {
        let hash = pc.hash();
        pc.remap(&remap, &mut memo);
        assert_eq!(pc.hash(), hash);
        pushed.iter_mut().for_each(|e| *e = remap.get(*e).unwrap());
    }
    tables.remap(&remap);
}

#[test]
fn hashes_depend_on_order_and_structure_not_on_the_pool() {
    let build = |noise: u32, order: [u64; 3]| {
        let mut pool = Pool::new();
        for i in 0..noise {
            pool.bits(32, u64::from(i) + 1000);
        }
        let ids = symbols(&mut pool, &[8]);
        let mut tables = Tables::new();
        let mut pc = PathCondition::new();
        for limit in order {
            let (x, limit) = (pool.sym(ids[0]), pool.bits(8, limit));
            let cond = pool.ult(x, limit);
            pc.push(&pool, &mut tables, cond);
        }
        pc.hash()
    };
    assert_eq!(build(0, [30, 20, 10]), build(50, [30, 20, 10]));
    assert_ne!(build(0, [30, 20, 10]), build(0, [20, 30, 10]));
    assert_ne!(build(0, [30, 20, 10]), PathCondition::new().hash());
}

#[test]
fn quick_is_exact_for_independent_bytes() {
    let mut random = Random(3);
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[8, 5, 8]);
    let mut solver = Solver::default();
    let mut evaluator = wryneck_expr::Evaluator::new();
    for _ in 0..300 {
        let mut pc = PathCondition::new();
        let symbol = random.pick(&ids);
        let models = common::assignments(&pool, &[symbol]);
        let mut left = models.clone();
        for _ in 0..6 {
            let cond = random_expr(&mut pool, &mut random, &[symbol], 1, 4);
            let holds = left.iter().filter(|model| evaluator.holds(&pool, cond, model)).count();
            let expected = match holds {
                0 => Some(false),
                n if n == left.len() => Some(true),
                _ => None,
            };
            // Nothing is known of a symbol before the first constraint, unless every value agrees.
            match solver.quick(&mut pool, &pc, cond) {
                None if pc.is_empty() => {}
                said => assert_eq!(said, expected),
            }
            if holds > 0 {
                solver.push(&pool, &mut pc, cond);
                left.retain(|model| evaluator.holds(&pool, cond, model));
            }
        }
    }
}
