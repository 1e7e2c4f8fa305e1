//! Properties of random expressions: a sweep is 256 evaluations, compaction and substitution keep the meaning, and the normal
//! form depends on structure alone.

use rustc_hash::FxHashMap;

use crate::eval::Evaluator;
use crate::float::{self, FloatOp};
use crate::model::Model;
use crate::node::{ExprId, Kind, Op, SymId};
use crate::pool::Pool;
use crate::random::{Pair, Rng, Twins};
use crate::subst::subst;
use crate::sweep::Sweep;

fn grown(seed: u64, widths: &[u32], widest: u32, steps: usize) -> (Twins, Vec<Pair>, Rng) {
    let mut rng = Rng::new(seed);
    let mut twins = Twins::new(widths, widest);
    twins.floats = seed % 2 == 1;
    let pairs = (0..steps).map(|_| twins.grow(&mut rng)).collect();
    (twins, pairs, rng)
}

fn random_model(symbols: &[SymId], rng: &mut Rng) -> Model {
    let values: Vec<_> = symbols.iter().map(|&symbol| (symbol, rng.next() >> rng.below(64))).collect();
    Model::empty().with(&values)
}

#[test]
fn a_sweep_is_256_evaluations() {
    for seed in 0..300 {
        let widths = [[8, 8], [5, 8], [1, 3]][seed as usize % 3];
        let (twins, pairs, mut rng) = grown(3_000_000 + seed, &widths, [16, 64, 130][seed as usize % 3], 20);
        let (mut sweep, mut evaluator) = (Sweep::new(), Evaluator::new());
        for (pool, e) in pairs.iter().flat_map(|pair| [(&twins.simple, pair.simple), (&twins.plain, pair.plain)]) {
            if pool.width(e) > 64 {
                continue;
            }
            let symbol = twins.symbols[0];
            // Twins share one sweep: what it keeps is only valid for one pool.
            sweep.clear();
            evaluator.clear();
            let expected: [u64; 256] = std::array::from_fn(|v| evaluator.eval(pool, e, &Model::empty().with(&[(symbol, v as u64)])));
            assert_eq!(sweep.sweep_values(pool, e, symbol), expected);
            if pool.width(e) == 1 {
                let table = sweep.sweep(pool, e, symbol);
                assert!((0..256).all(|v| table[v / 64] >> (v % 64) & 1 == expected[v]));
                let model = random_model(&twins.symbols, &mut rng);
                let table = sweep.sweep_in(pool, e, symbol, &model);
                let mut value = |v: u64| evaluator.eval(pool, e, &model.with(&[(symbol, v)]));
                let mut holds = |table: [u64; 4], v: u64| table[v as usize / 64] >> (v % 64) & 1 == value(v);
                let all = 0..1 << pool.sym_info(symbol).width;
                assert!(all.clone().all(|v| holds(table, v)));
                // Some values alone, and all again: nothing is kept that was not computed.
                let live = [0; 4].map(|_: u64| rng.next() & rng.next() & rng.next());
                let table = sweep.sweep_all(pool, &[e], symbol, &model, live)[0];
                assert!(all.clone().filter(|v| live[*v as usize / 64] >> (v % 64) & 1 == 1).all(|v| holds(table, v)));
                let table = sweep.sweep_in(pool, e, symbol, &model);
                assert!(all.clone().all(|v| holds(table, v)));
            }
        }
    }
}

#[test]
fn bounds_of_floating_point_hold_what_is_between() {
    let (mut rng, mut known) = (Rng::new(77), 0);
    for _ in 0..200_000 {
        let op = FloatOp::ALL[rng.below(FloatOp::ALL.len() as u64) as usize];
        let widths = [32, 64];
        let (from, to) = (widths[rng.below(2) as usize], widths[rng.below(2) as usize]);
        let to = if matches!(op, FloatOp::Compare(_)) { 1 } else { to };
        if op == FloatOp::Fma || !op.fits(from, from, to) {
            continue;
        }
        // Patterns of all sizes, most of them positive.
        let most = u64::MAX >> (64 - from);
        let mut range = || {
            let mut end = || match rng.below(5) {
                0 => rng.next() & most,
                1 => float::eval(FloatOp::FromUnsigned, 64, from, rng.below(3).into(), 0) as u64,
                2 => float::eval(FloatOp::FromUnsigned, 64, from, (rng.next() >> rng.below(64)).into(), 0) as u64,
                3 => float::eval(FloatOp::Div, from, from, float::eval(FloatOp::FromUnsigned, 64, from, 1, 0), 0) as u64,
                _ => (rng.next() & most) >> 1,
            };
            let (x, y) = (end(), end());
            (x.min(y), x.max(y))
        };
        let (a, b) = (range(), range());
        let Some((lo, hi)) = float::bounds(op, from, to, a, b) else { continue };
        known += 1;
        for _ in 0..8 {
            let mut within = |(lo, hi): (u64, u64)| lo + rng.next() % (hi - lo).saturating_add(1);
            let (x, y) = (within(a), within(b));
            let value = float::eval(op, from, to, x.into(), y.into()) as u64;
            assert!(lo <= value && value <= hi, "{op:?} of {x:#x} and {y:#x}: {value:#x} is not in {lo:#x} to {hi:#x}");
        }
    }
    assert!(known > 20_000, "{known}");
}

/// Kept vectors are those of the swept symbol.
#[test]
fn a_sweep_over_another_symbol_takes_its_value_from_the_model() {
    let (mut pool, mut sweep, mut evaluator) = (Pool::new(), Sweep::new(), Evaluator::new());
    let [a, b] = [0, 1].map(|index| pool.symbol("in", index, 8));
    let mut chain = pool.sym(a);
    for round in 1..60 {
        let by = pool.bits(8, round * 7 + 1);
        let (sum, turned) = (pool.binary(Op::Add, chain, by), pool.binary(Op::Lshr, chain, by));
        let half = pool.binary(Op::Mul, sum, by);
        chain = if round % 2 == 0 { pool.binary(Op::Xor, half, turned) } else { pool.binary(Op::Xor, sum, turned) };
    }
    let other = pool.sym(b);
    let both = pool.binary(Op::Add, chain, other);
    let limit = pool.bits(8, 99);
    let (alone, joint) = (pool.ult(chain, limit), pool.ult(both, limit));
    for (cond, symbol) in [(alone, a), (joint, b), (joint, a), (alone, a)] {
        let model = Model::empty().with(&[(a, 7), (b, 30)]);
        let table = sweep.sweep_in(&pool, cond, symbol, &model);
        for value in 0..256 {
            let holds = evaluator.holds(&pool, cond, &model.with(&[(symbol, value)]));
            assert_eq!(table[value as usize / 64] >> (value % 64) & 1 == 1, holds, "{cond:?} over {symbol:?} at {value}");
        }
    }
}

/// Programs and kept vectors of earlier sweeps are those of the same expressions and the same symbol.
#[test]
fn sweeps_of_one_pool_leave_each_other_alone() {
    for seed in 0..60 {
        let (twins, pairs, mut rng) = grown(5_000_000 + seed, &[8, 8, 5], [24, 64, 130][seed as usize % 3], 60);
        let pool = &twins.simple;
        let conditions: Vec<ExprId> = pairs.iter().map(|pair| pair.simple).filter(|&e| pool.width(e) == 1).collect();
        let models: Vec<Model> = (0..4).map(|_| random_model(&twins.symbols, &mut rng)).collect();
        let (mut sweep, mut evaluator) = (Sweep::new(), Evaluator::new());
        for _ in 0..if conditions.is_empty() { 0 } else { 200 } {
            let asked: Vec<ExprId> = (0..=rng.below(4)).map(|_| conditions[rng.below(conditions.len() as u64) as usize]).collect();
            let symbol = twins.symbols[rng.below(3) as usize];
            let model = &models[rng.below(4) as usize];
            let live = if rng.below(2) == 0 { [u64::MAX; 4] } else { [0; 4].map(|_: u64| rng.next()) };
            let tables = sweep.sweep_all(pool, &asked, symbol, model, live);
            for (e, table) in asked.into_iter().zip(tables) {
                let values: Vec<u64> = (0..8).map(|_| rng.next() % (1 << pool.sym_info(symbol).width)).collect();
                for v in values.into_iter().filter(|v| live[*v as usize / 64] >> (v % 64) & 1 == 1) {
                    let value = evaluator.eval(pool, e, &model.with(&[(symbol, v)]));
                    assert_eq!(table[v as usize / 64] >> (v % 64) & 1, value, "seed {seed}: {e:?} over {symbol:?} at {v}");
                }
            }
        }
    }
}

#[test]
fn compaction_keeps_the_meaning_of_roots_and_drops_the_rest() {
    for seed in 0..200 {
        let (mut twins, pairs, mut rng) = grown(4_000_000 + seed, &[8, 16, 64], 130, 30);
        let pool = &mut twins.simple;
        let roots: Vec<ExprId> = pairs.iter().step_by(3).map(|pair| pair.simple).collect();
        let models: Vec<Model> = (0..6).map(|_| random_model(&twins.symbols, &mut rng)).collect();
        let mut evaluator = Evaluator::new();
        let mut values =
            |pool: &Pool, e: ExprId| -> Vec<Vec<u64>> { models.iter().map(|model| evaluator.eval_wide(pool, e, model)).collect() };
        let before: Vec<_> = roots.iter().map(|&e| (values(pool, e), pool.structural_hash(e), pool.support(e).to_vec())).collect();
        let (nodes, hashes) = (pool.len(), pool.structural_hash(ExprId::TRUE));

        let remap = pool.compact(&mut |mark| roots.iter().for_each(|&root| mark(root)));
        assert!(pool.len() <= nodes);
        assert_eq!((remap.get(ExprId::TRUE), pool.structural_hash(ExprId::TRUE)), (Some(ExprId::TRUE), hashes));
        let new: Vec<ExprId> = roots.iter().map(|&root| remap.get(root).expect("a root survives")).collect();
        let mut evaluator = Evaluator::new();
        for (&e, (values, hash, support)) in new.iter().zip(&before) {
            let after: Vec<Vec<u64>> = models.iter().map(|model| evaluator.eval_wide(pool, e, model)).collect();
            assert_eq!((&after, pool.structural_hash(e), pool.support(e)), (values, *hash, support.as_slice()));
        }
        let again = pool.compact(&mut |mark| new.iter().for_each(|&root| mark(root)));
        assert!(new.iter().all(|&e| again.get(e) == Some(e)), "nothing is left to drop");
        assert_eq!(pool.symbol("s", 1, 16), twins.symbols[1]);
    }
}

#[test]
fn a_pool_goes_on_as_before_after_compaction() {
    let build = |pool: &mut Pool| {
        let symbol = pool.symbol("x", 0, 32);
        let (x, k) = (pool.sym(symbol), pool.bits(32, 1000));
        let sum = pool.add(x, k);
        pool.ult(sum, x)
    };
    let mut pool = Pool::new();
    let garbage: Vec<ExprId> = (0..5000).map(|i| pool.bits(64, i)).collect();
    let condition = build(&mut pool);
    let remap = pool.compact(&mut |mark| mark(condition));
    assert!(pool.len() < 10);
    assert!(garbage.iter().all(|&e| remap.get(e).is_none()));
    assert_eq!(Some(build(&mut pool)), remap.get(condition));
}

#[test]
fn structure_alone_decides_the_normal_form() {
    for seed in 0..200 {
        let (twins, pairs, _) = grown(5_000_000 + seed, &[8, 8, 64], 130, 25);
        // Other things first, symbols in another order, and the roots in reverse: ids have nothing in common.
        let mut other = Pool::new();
        for i in (0..3).rev() {
            let info = twins.plain.sym_info(twins.symbols[i]).clone();
            let symbol = other.symbol(&info.name, info.index, info.width);
            let (x, k) = (other.sym(symbol), other.number(info.width, 5));
            other.mul(x, k);
        }
        for pair in pairs.iter().rev() {
            let copy = copied(&twins.plain, &mut other, pair.plain);
            assert_eq!(other.structural_hash(copy), twins.simple.structural_hash(pair.simple), "seed {seed}");
        }
    }
}

/// The expression rebuilt in another pool, by name of symbols.
fn copied(from: &Pool, to: &mut Pool, e: ExprId) -> ExprId {
    let width = from.width(e);
    match from.kind(e) {
        Kind::Const => to.wide(width, from.as_limbs(e).expect("a constant")),
        Kind::Sym(symbol) => {
            let info = from.sym_info(symbol);
            let symbol = to.symbol(&info.name, info.index, info.width);
            to.sym(symbol)
        }
        Kind::Ite(c, a, b) => {
            let (c, a, b) = (copied(from, to, c), copied(from, to, a), copied(from, to, b));
            to.ite(c, a, b)
        }
        Kind::Concat(a, b) => {
            let (a, b) = (copied(from, to, a), copied(from, to, b));
            to.concat(a, b)
        }
        Kind::Extract(a, lo) => {
            let a = copied(from, to, a);
            to.extract(a, lo, width)
        }
        Kind::Zext(a) => {
            let a = copied(from, to, a);
            to.zext(a, width)
        }
        Kind::Sext(a) => {
            let a = copied(from, to, a);
            to.sext(a, width)
        }
        Kind::Read(array, index) => {
            let elems: Vec<ExprId> = from.array_elems(array).iter().map(|&elem| copied(from, to, elem)).collect();
            let (array, index) = (to.array(&elems), copied(from, to, index));
            to.read(array, index)
        }
        Kind::PtrAdd(base, offset) => {
            let offset = copied(from, to, offset);
            to.ptr(base, offset)
        }
        Kind::Float(op, a, b) => {
            let (a, b) = (copied(from, to, a), copied(from, to, b));
            to.float(op, a, b, width)
        }
        kind => {
            let operands: Vec<ExprId> = kind.children().map(|child| copied(from, to, child)).collect();
            match *operands.as_slice() {
                [a] => to.unary(from.op(e), a),
                [a, b] => to.binary(from.op(e), a, b),
                _ => unreachable!("one or two operands"),
            }
        }
    }
}

#[test]
fn substitution_is_evaluation_under_the_changed_model() {
    for seed in 0..200 {
        let (mut twins, pairs, mut rng) = grown(6_000_000 + seed, &[8, 16, 64], 130, 25);
        let (pool, symbol) = (&mut twins.simple, twins.symbols[1]);
        let value = rng.next() & 0xffff;
        let (from, to) = (pool.sym(symbol), pool.bits(16, value));
        let map: FxHashMap<ExprId, ExprId> = [(from, to)].into_iter().collect();
        let model = random_model(&twins.symbols, &mut rng);
        let changed = model.with(&[(symbol, value)]);
        let mut evaluator = Evaluator::new();
        for pair in &pairs {
            let replaced = subst(pool, pair.simple, &map);
            assert!(!pool.support(replaced).contains(&symbol));
            assert_eq!(evaluator.eval_wide(pool, replaced, &model), evaluator.eval_wide(pool, pair.simple, &changed));
        }
    }
}
