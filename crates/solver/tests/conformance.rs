//! Every row of `BACKENDS` against brute force: all operators at widths 1 to 8, cores solved again, budgets and stop signals obeyed.

mod common;

use common::{Random, assignments, needs, random_expr, satisfies, symbols};
use wryneck_expr::{Evaluator, ExprId, FloatOp, Model, Op, Pool, Shape};
use wryneck_solver::backend::{self, BACKENDS, Backend, SmtlibProcess, Verdict};
use wryneck_solver::{Budget, Config, Stop, Why};

/// Every row; its program has to be installed.
fn rows() -> Vec<(&'static str, Box<dyn Backend>)> {
    let mut rows = Vec::new();
    for row in BACKENDS {
        if let Some(program) = row.program() {
            needs(program);
        }
        rows.push((row.name, row.make(&Config::default())));
    }
    rows
}

/// Checks one verdict against the oracle's truth; true if satisfiable.
fn conforms(backend: &mut dyn Backend, pool: &Pool, assertions: &[ExprId], sat: bool, what: &str) {
    match backend.check(pool, assertions, &Budget::default()) {
        Verdict::Sat(values) => {
            assert!(sat, "{what}: unsatisfiable, answered {values:?}");
            let model = Model::empty().with(&values);
            assert!(satisfies(&mut Evaluator::new(), pool, assertions, &model), "{what}: {values:?} is no model");
        }
        Verdict::Unsat(core) => {
            assert!(!sat, "{what}: satisfiable, answered with core {core:?}");
            let core: Vec<ExprId> = core.into_iter().map(|at| assertions[at]).collect();
            let again = backend.check(pool, &core, &Budget::default());
            assert!(matches!(again, Verdict::Unsat(_)), "{what}: the core alone is not unsatisfiable");
        }
        Verdict::Unknown(why) => panic!("{what}: unknown: {why}"),
    }
}

/// An operator over two symbols of `width` bits: the result, as a term.
fn applied(pool: &mut Pool, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
    let width = pool.width(a);
    Some(match op.shape() {
        Shape::Leaf => return None,
        Shape::Unary => pool.unary(op, a),
        Shape::Binary | Shape::Compare => pool.binary(op, a, b),
        Shape::Special => match op {
            Op::Ite => {
                let c = pool.ult(a, b);
                let not = pool.not(a);
                pool.ite(c, not, b)
            }
            Op::Concat => pool.concat(a, b),
            Op::Extract => pool.extract(a, width / 2, width - width / 2),
            Op::Zext => pool.zext(a, width + 3),
            Op::Sext => pool.sext(a, width + 3),
            Op::Read => {
                let wide = pool.zext(b, 8);
                let seven = pool.bits(8, 7);
                let array = pool.array(&[wide, seven, wide, seven, seven]);
                let index = pool.zext(a, 64);
                pool.read(array, index)
            }
            Op::PtrAdd => {
                let offset = pool.sext(a, 64);
                pool.ptr(0x7fff_fffe, offset)
            }
            // Wider ones take solver processes seconds.
            Op::Float if width > 1 => return None,
            Op::Float => {
                // Sums and products that are rounded, and a conversion back.
                let (x, y) = (pool.float(FloatOp::FromSigned, a, a, 32), pool.float(FloatOp::FromUnsigned, b, b, 32));
                let tenth = pool.bits(32, 0x3dcc_cccd);
                let product = pool.float(FloatOp::Mul, x, tenth, 32);
                let sum = pool.float(FloatOp::Add, product, y, 32);
                let wide = pool.float(FloatOp::Cast, sum, sum, 64);
                let whole = pool.float(FloatOp::ToSigned, wide, wide, 32);
                let part = pool.extract(wide, 32, 32);
                pool.xor(whole, part)
            }
            _ => unreachable!("`{op:?}` is no special operator"),
        },
    })
}

#[test]
fn operators_agree_with_brute_force() {
    for (name, mut backend) in rows() {
        let asked_per_case = if name == "bitblast" { 12 } else { 2 };
        let mut random = Random(1);
        for width in 1..=8 {
            backend.forget();
            // No laws: the backend has to do all of the work.
            let mut pool = Pool::plain();
            let ids = symbols(&mut pool, &[width, width]);
            let (a, b) = (pool.sym(ids[0]), pool.sym(ids[1]));
            let models = assignments(&pool, &ids);
            for &op in Op::ALL {
                let constant = pool.bits(width, random.next());
                for (a, b) in [(a, b), (a, constant), (constant, b)] {
                    let Some(e) = applied(&mut pool, op, a, b) else { continue };
                    let mut evaluator = Evaluator::new();
                    let values: Vec<u64> = models.iter().map(|model| evaluator.eval(&pool, e, model)).collect();
                    for asked in 0..asked_per_case {
                        let value = if asked % 2 == 0 { random.pick(&values) } else { random.next() };
                        let value = pool.bits(pool.width(e), value);
                        let equal = pool.eq(e, value);
                        let sat = values.contains(&pool.as_u64(value).unwrap());
                        conforms(&mut *backend, &pool, &[equal], sat, &format!("{name}: {op:?} at {width}"));
                    }
                }
            }
        }
    }
}

#[test]
fn random_conjunctions_agree_with_brute_force() {
    for (name, mut backend) in rows() {
        let rounds = if name == "bitblast" { 1500 } else { 150 };
        let mut random = Random(2);
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[3, 4, 5]);
        let models = assignments(&pool, &ids);
        let mut unsat = 0;
        for round in 0..rounds {
            let all: Vec<ExprId> = (0..1 + random.below(4)).map(|_| random_expr(&mut pool, &mut random, &ids, 1, 6)).collect();
            let mut evaluator = Evaluator::new();
            let sat = models.iter().any(|model| satisfies(&mut evaluator, &pool, &all, model));
            unsat += u32::from(!sat);
            conforms(&mut *backend, &pool, &all, sat, &format!("{name}: round {round}"));
        }
        assert!(unsat > rounds / 50, "{name}: too few unsatisfiable queries to mean anything: {unsat}");
    }
}

/// `x * y = p * q` for large primes, which have no bits in common with simple numbers: far too hard.
fn hard(pool: &mut Pool) -> Vec<ExprId> {
    let ids = symbols(pool, &[64, 64]);
    let (x, y) = (pool.sym(ids[0]), pool.sym(ids[1]));
    let (x128, y128) = (pool.zext(x, 128), pool.zext(y, 128));
    let product = pool.mul(x128, y128);
    let number = 11_400_714_819_323_198_549u128 * 14_029_467_366_897_019_727;
    let number = pool.wide(128, &[number as u64, (number >> 64) as u64]);
    let one = pool.bits(64, 1);
    [pool.eq(product, number), pool.ult(one, x), pool.ult(one, y), pool.ule(x, y)].to_vec()
}

#[test]
fn budgets_and_stop_signals_end_hard_queries() {
    let mut pool = Pool::new();
    let hard = hard(&mut pool);
    let mut bitblast = backend::by_name("bitblast").unwrap().make(&Config::default());
    let conflicts = Budget { conflicts: 100, ..Budget::unlimited() };
    assert_eq!(bitblast.check(&pool, &hard, &conflicts), Verdict::Unknown(Why::Conflicts));
    let nodes = Budget { nodes: 1000, ..Budget::unlimited() };
    bitblast.forget();
    assert_eq!(bitblast.check(&pool, &hard, &nodes), Verdict::Unknown(Why::Nodes));
    // A cone that is too large is not built to its end.
    bitblast.forget();
    let before = bitblast.effort().gates;
    assert_eq!(bitblast.check(&pool, &hard, &Budget { cone: 1000, ..Budget::unlimited() }), Verdict::Unknown(Why::Cone));
    let made = bitblast.effort().gates - before;
    assert!((1000..10_000).contains(&made), "{made} gates");
    for (name, mut backend) in rows() {
        let asked = std::cell::Cell::new(0);
        let stop = Stop::when(move || asked.replace(asked.get() + 1) > 40);
        let verdict = backend.check(&pool, &hard, &Budget { stop, ..Budget::unlimited() });
        assert_eq!(verdict, Verdict::Unknown(Why::Stopped), "{name}");
        // And it still works afterwards.
        let easy = hard[3];
        assert!(matches!(backend.check(&pool, &[easy], &Budget::default()), Verdict::Sat(_)), "{name}");
    }
}

#[test]
fn a_process_that_dies_or_babbles_is_unknown() {
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[8]);
    let x = pool.sym(ids[0]);
    let nine = pool.bits(8, 9);
    let equal = pool.eq(x, nine);
    for command in [&["false"][..], &["echo", "hello"], &["no such program"], &[]] {
        let mut process = SmtlibProcess::new(command.iter().map(|&word| word.to_owned()).collect());
        for _ in 0..2 {
            assert_eq!(process.check(&pool, &[equal], &Budget::default()), Verdict::Unknown(Why::Process), "{command:?}");
        }
    }
}

#[test]
fn backend_names_are_sorted_and_found() {
    assert!(BACKENDS.is_sorted_by_key(|row| row.name));
    assert!(backend::by_name("cvc5").is_ok() && backend::by_name("z3").is_ok());
    assert_eq!(backend::by_name("abc").err().unwrap().to_string(), "no solver backend is called `abc`");
}
