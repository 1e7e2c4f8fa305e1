//! Whole explorations in miniature: random paths grow by random conditions, and every answer is compared with brute force while each stage
//! is switched off in turn; across compactions; against z3 on wide symbols.

mod common;

use common::{Random, assignments, hash, needs, random_expr, satisfies, symbols};
use wryneck_expr::{Evaluator, ExprId, Model, Op, Pool, SymId};
use wryneck_solver::backend::{self, Verdict};
use wryneck_solver::{Answer, Budget, Config, PathCondition, RemapMemo, Seen, Solver, Why};

/// Named settings: everything on, each stage off, everything off.
fn settings() -> Vec<(&'static str, Config)> {
    let on = Config { validate: true, ..Config::default() };
    vec![
        ("all on", on.clone()),
        ("no substitution", Config { substitution: false, ..on.clone() }),
        ("no known bits", Config { known_bits: false, ..on.clone() }),
        ("no byte domain", Config { byte_domain: false, ..on.clone() }),
        ("no independence", Config { independence: false, ..on.clone() }),
        ("no enumeration", Config { enumeration: false, ..on.clone() }),
        ("no abstraction", Config { abstraction: false, ..on.clone() }),
        ("no neighbours", Config { neighbours: false, ..on.clone() }),
        ("no value sets", Config { value_sets: false, ..on.clone() }),
        ("no search", Config { search: false, ..on.clone() }),
        ("no cache", Config { cache: false, ..on.clone() }),
        ("no recent models", Config { recent_models: false, ..on.clone() }),
        ("small bounds", Config { graph_nodes: 2000, cached: 5, recent: 1, most_combinations: 1 << 16, ..on.clone() }),
        ("classes at once", Config { classes_after: 0, enumeration: false, value_sets: false, neighbours: false, ..on }),
        ("all off", Config { validate: true, ..Config::plain() }),
    ]
}

/// One state of the miniature exploration.
#[derive(Clone)]
struct State {
    pc: PathCondition,
    model: Model,
}

/// A random walk over states: forks on random conditions, keeps some of both sides. `judge` sees every query and answer.
fn explore(
    solver: &mut Solver,
    pool: &mut Pool,
    random: &mut Random,
    conditions: &[ExprId],
    steps: u32,
    judge: &mut dyn FnMut(&mut Pool, &State, ExprId, &Answer),
) {
    let mut states = vec![State { pc: PathCondition::new(), model: Model::empty() }];
    for _ in 0..steps {
        let at = random.below(states.len() as u64) as usize;
        let mut state = states[at].clone();
        let cond = random.pick(conditions);
        let taken = solver.check(pool, &state.pc, cond, &state.model, &Budget::default());
        judge(pool, &state, cond, &taken);
        if let Some(said) = solver.quick(pool, &state.pc, cond) {
            let other = pool.not(cond);
            let impossible = if said { other } else { cond };
            let answer = solver.check(pool, &state.pc, impossible, &state.model, &Budget::default());
            assert!(answer.is_unsat(), "`quick` says {said} of {cond:?}, `check` disagrees");
        }
        if let Answer::Sat(model) = taken {
            solver.push(pool, &mut state.pc, cond);
            state.model = model;
            if states.len() > 12 {
                states.swap_remove(random.below(12) as usize);
            }
            states.push(state);
        }
    }
}

/// The core is unsatisfiable with the condition, by brute force over the symbols involved.
fn core_is_right(pool: &Pool, models: &[Model], pc: &PathCondition, cond: ExprId, core: &[u32]) -> bool {
    let mut all: Vec<ExprId> = core.iter().map(|&index| pc.constraint(index).unwrap()).collect();
    all.push(cond);
    let mut evaluator = Evaluator::new();
    core.is_sorted() && !models.iter().any(|model| satisfies(&mut evaluator, pool, &all, model))
}

fn random_conditions(pool: &mut Pool, random: &mut Random, ids: &[SymId], count: usize) -> Vec<ExprId> {
    let mut conditions = Vec::new();
    for _ in 0..count {
        let mut some = vec![random.pick(ids), random.pick(ids), random.pick(ids)];
        some.truncate(1 + random.below(3) as usize);
        let size = 2 + random.below(4) as u32;
        let cond = random_expr(pool, random, &some, 1, size);
        let not = pool.not(cond);
        conditions.extend([cond, not]);
    }
    // Products and remainders of several bytes, which they seldom have.
    let small: Vec<SymId> = ids.iter().copied().filter(|id| pool.sym_info(*id).width <= 8).collect();
    for _ in 0..count / 8 {
        let [a, b, c] = std::array::from_fn(|_| {
            let symbol = pool.sym(random.pick(&small));
            pool.zext(symbol, 16)
        });
        let (product, ten, value) = (pool.binary(Op::Mul, a, b), pool.bits(16, 10), pool.bits(16, random.below(10)));
        let sum = pool.binary(Op::Add, product, c);
        let rest = pool.binary(Op::Urem, sum, ten);
        conditions.push(pool.eq(rest, value));
    }
    // Scanners: a state is an entry of a table, at the state before plus a byte.
    for _ in 0..count / 8 {
        let mut state = pool.bits(16, 0);
        for round in 0..1 + random.below(3) {
            let entries = 24 + random.below(16);
            let symbol = pool.sym(random.pick(&small));
            let most = random.below(3) == 0;
            let mut bytes: Vec<ExprId> = (0..2 * entries)
                .map(|i| (i % 2, random.below(if i % 2 == 0 { entries } else { 2 })))
                .map(|(high, value)| pool.bits(8, value * u64::from(high == 0 || most)))
                .collect();
            if random.below(3) == 0 {
                bytes[2 * random.below(entries) as usize] = pool.zext(symbol, 8);
            }
            let table = pool.array(&bytes);
            let mut class = pool.zext(symbol, 64);
            if random.below(2) == 0 {
                // Several bytes are of one class.
                let classes: Vec<ExprId> = (0..16).map(|_| pool.bits(8, random.below(3))).collect();
                let (classes, mask) = (pool.array(&classes), pool.bits(64, 15));
                let low = pool.binary(Op::And, class, mask);
                let entry = pool.read(classes, low);
                class = pool.zext(entry, 64);
            } else {
                let mask = pool.bits(64, 7 + 8 * round);
                class = pool.binary(Op::And, class, mask);
            }
            let before = pool.zext(state, 64);
            let sum = pool.binary(Op::Add, before, class);
            let (two, one) = (pool.bits(64, 2), pool.bits(64, 1));
            let first = pool.binary(Op::Mul, sum, two);
            let second = pool.binary(Op::Add, first, one);
            let (low, high) = (pool.read(table, first), pool.read(table, second));
            state = pool.concat(high, low);
            let limit = pool.bits(16, random.below(64));
            let over = pool.binary(Op::Ult, limit, state);
            let equal = pool.eq(limit, state);
            conditions.extend([over, pool.not(over), equal]);
        }
    }
    // Equalities fix symbols, which random conditions seldom do.
    for &symbol in ids {
        let (e, value) = (pool.sym(symbol), random.next());
        let value = pool.bits(pool.width(e), value);
        conditions.push(pool.eq(e, value));
    }
    conditions
}

#[test]
fn every_setting_agrees_with_brute_force() {
    for (name, config) in settings() {
        let mut queries = 0;
        for seed in 0..12 {
            let mut random = Random(seed);
            let mut pool = Pool::new();
            // 9 bits of value symbols in all, one of them wider than a byte's domain machinery would take if it were free.
            let ids = symbols(&mut pool, &[2, 3, 1, 3, 2]);
            let models = assignments(&pool, &ids);
            let conditions = random_conditions(&mut pool, &mut random, &ids, 25);
            let mut solver = Solver::new(config.clone()).unwrap();
            let mut evaluator = Evaluator::new();
            explore(&mut solver, &mut pool, &mut random, &conditions, 250, &mut |pool, state, cond, answer| {
                queries += 1;
                let mut all = state.pc.constraints();
                all.push(cond);
                let sat = models.iter().any(|model| satisfies(&mut evaluator, pool, &all, model));
                match answer {
                    Answer::Sat(model) => {
                        assert!(sat && satisfies(&mut evaluator, pool, &all, model), "{name}: seed {seed}: {cond:?}");
                        let independent = config.independence;
                        assert!(!independent || only_touched_groups_change(pool, &state.pc, cond, &state.model, model, &ids));
                    }
                    Answer::Unsat(core) => {
                        assert!(!sat, "{name}: seed {seed}: {cond:?} is satisfiable");
                        assert!(core_is_right(pool, &models, &state.pc, cond, &core.0), "{name}: seed {seed}: core {core:?}");
                    }
                    Answer::Unknown(why) => panic!("{name}: seed {seed}: {why}"),
                }
            });
        }
        assert_eq!(queries, 12 * 250);
    }
}

fn only_touched_groups_change(pool: &Pool, pc: &PathCondition, cond: ExprId, base: &Model, model: &Model, ids: &[SymId]) -> bool {
    let touched: Vec<SymId> = pc
        .groups()
        .into_iter()
        .filter(|(symbols, _)| pool.support(cond).iter().any(|symbol| symbols.contains(symbol)))
        .flat_map(|(symbols, _)| symbols)
        .chain(pool.support(cond).iter().copied())
        .collect();
    ids.iter().filter(|symbol| !touched.contains(symbol)).all(|&symbol| base.get(symbol) == model.get(symbol))
}

/// Conditions about the slots of a hash table: two may contradict each other whatever the hash is, or because of what it is.
#[test]
fn hashes_agree_with_brute_force() {
    let mut answered = Vec::new();
    for (seed, on) in (0..24).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mut random = Random(seed);
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[3, 4, 3]);
        let models = assignments(&pool, &ids);
        let hash = hash(&mut pool, &ids);
        let mut conditions = random_conditions(&mut pool, &mut random, &ids, 4);
        for _ in 0..12 {
            let low = 1 + random.below(4) as u32;
            let (slot, value) = (pool.extract(hash, random.below(2) as u32, low), pool.bits(low, random.next()));
            conditions.extend([pool.eq(slot, value), pool.ult(slot, value), pool.ult(value, slot)]);
        }
        let config = Config {
            abstraction: on,
            search: random.below(2) == 0,
            classes_after: 500 * random.below(2) as usize,
            validate: true,
            ..Config::default()
        };
        let mut solver = Solver::new(config).expect("bitblast is there");
        explore(&mut solver, &mut pool, &mut random, &conditions, 120, &mut |pool, state, cond, answer| {
            let mut all = state.pc.constraints();
            all.push(cond);
            let mut evaluator = Evaluator::new();
            let possible = models.iter().any(|model| satisfies(&mut evaluator, pool, &all, model));
            assert_eq!(!answer.is_unsat(), possible, "seed {seed}, abstraction {on}");
            if let Answer::Unsat(core) = answer {
                assert!(core_is_right(pool, &models, &state.pc, cond, &core.0), "seed {seed}, abstraction {on}: {core:?}");
            }
        });
        answered.extend(solver.stats().by_stage().filter(|(_, answers)| *answers > 0).map(|(name, _)| name));
    }
    assert!(["abstraction", "search"].iter().all(|stage| answered.contains(stage)), "{answered:?}");
}

#[test]
fn stages_do_answer_and_are_counted() {
    let mut random = Random(5);
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[8, 8, 3, 4, 16]);
    let conditions = random_conditions(&mut pool, &mut random, &ids, 60);
    let mut solver = Solver::default();
    explore(&mut solver, &mut pool, &mut random, &conditions, 4000, &mut |_, _, _, _| {});
    let stats = solver.stats();
    assert_eq!(stats.answered.iter().sum::<u64>(), stats.queries);
    assert_eq!(stats.sat + stats.unsat + stats.unknown, stats.queries);
    for (name, answered) in stats.by_stage() {
        // What only hard queries reach has a test of its own.
        let silent = ["log", "independence", "known bits", "abstraction", "deep search", "backend"].contains(&name);
        assert!(silent || answered > 0, "stage {name} never answered");
    }
}

#[test]
fn answers_survive_compactions() {
    let mut random = Random(6);
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[2, 3, 4, 3]);
    let models = assignments(&pool, &ids);
    let mut solver = Solver::default();
    let mut states = vec![State { pc: PathCondition::new(), model: Model::empty() }];
    for round in 0..30 {
        let mut conditions = random_conditions(&mut pool, &mut random, &ids, 8);
        for step in 0..40 {
            let mut state = states[random.below(states.len() as u64) as usize].clone();
            let cond = random.pick(&conditions);
            let mut all = state.pc.constraints();
            all.push(cond);
            let mut evaluator = Evaluator::new();
            let sat = models.iter().any(|model| satisfies(&mut evaluator, &pool, &all, model));
            let answer = solver.check(&mut pool, &state.pc, cond, &state.model, &Budget::default());
            assert_eq!(answer.is_sat(), sat, "round {round}, step {step}");
            if let Answer::Sat(model) = answer {
                solver.push(&pool, &mut state.pc, cond);
                states.push(State { model, ..state });
            }
            if step == 20 {
                compact(&mut pool, &mut solver, &mut states, &mut conditions);
            }
        }
        let excess = states.len().saturating_sub(8);
        states.drain(1..1 + excess);
    }
}

fn compact(pool: &mut Pool, solver: &mut Solver, states: &mut [State], conditions: &mut [ExprId]) {
    let remap = pool.compact(&mut |root| {
        let mut seen = Seen::default();
        states.iter().for_each(|state| state.pc.for_each_expr(&mut seen, root));
        conditions.iter().for_each(|&cond| root(cond));
    });
    let mut memo = RemapMemo::default();
    states.iter_mut().for_each(|state| state.pc.remap(&remap, &mut memo));
    conditions.iter_mut().for_each(|cond| *cond = remap.get(*cond).unwrap());
    solver.remap(&remap);
}

#[test]
fn wide_queries_agree_with_z3() {
    needs("z3");
    let mut z3 = backend::by_name("z3").unwrap().make(&Config::default());
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..8 {
        let mut random = Random(100 + seed);
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[8, 8, 16, 32, 64, 8]);
        let conditions = random_conditions(&mut pool, &mut random, &ids, 30);
        let mut solver = Solver::default();
        explore(&mut solver, &mut pool, &mut random, &conditions, 60, &mut |pool, state, cond, answer| {
            let mut all = state.pc.constraints();
            all.push(cond);
            let judged = z3.check(pool, &all, &Budget::default());
            match (answer, judged) {
                (Answer::Sat(_), Verdict::Sat(_)) => sat += 1,
                (Answer::Unsat(core), Verdict::Unsat(_)) => {
                    let mut all: Vec<ExprId> = core.0.iter().map(|&index| state.pc.constraint(index).unwrap()).collect();
                    all.push(cond);
                    assert!(matches!(z3.check(pool, &all, &Budget::default()), Verdict::Unsat(_)), "core of {cond:?}");
                    unsat += 1;
                }
                (answer, judged) => panic!("seed {seed}: {cond:?}: {answer:?}, but z3 says {judged:?}"),
            }
        });
    }
    assert!(sat > 50 && unsat > 50, "{sat} satisfiable, {unsat} not");
}

#[test]
fn a_solver_may_stand_on_a_process() {
    needs("z3");
    let mut solver = Solver::new(Config { backend: "z3".into(), ..Config::plain() }).unwrap();
    let mut random = Random(8);
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[2, 3, 4]);
    let models = assignments(&pool, &ids);
    let conditions = random_conditions(&mut pool, &mut random, &ids, 10);
    explore(&mut solver, &mut pool, &mut random, &conditions, 100, &mut |pool, state, cond, answer| {
        let mut all = state.pc.constraints();
        all.push(cond);
        let mut evaluator = Evaluator::new();
        assert_eq!(answer.is_sat(), models.iter().any(|model| satisfies(&mut evaluator, pool, &all, model)));
    });
}

#[test]
fn unknown_is_answered_and_not_remembered() {
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[64, 64]);
    let (x, y) = (pool.sym(ids[0]), pool.sym(ids[1]));
    let product = pool.mul(x, y);
    let number = pool.bits(64, 0x8000_0000_0000_0001);
    let cond = pool.eq(product, number);
    let mut solver = Solver::default();
    let pc = PathCondition::new();
    let little = Budget { nodes: 500, ..Budget::default() };
    let answer = solver.check(&mut pool, &pc, cond, &Model::empty(), &little);
    assert!(matches!(answer, Answer::Unknown(Why::Nodes)), "{answer:?}");
    let answer = solver.check(&mut pool, &pc, cond, &Model::empty(), &Budget::default());
    assert!(answer.is_sat(), "{answer:?}");
}

#[test]
fn queries_are_logged_as_scripts() {
    struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(text)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let mut solver = Solver::default();
    solver.log_to(Box::new(Shared(log.clone())));
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[8]);
    let (x, five) = (pool.sym(ids[0]), pool.bits(8, 5));
    let cond = pool.ult(five, x);
    assert!(solver.check(&mut pool, &PathCondition::new(), cond, &Model::empty(), &Budget::default()).is_sat());
    let text = String::from_utf8(log.borrow().clone()).unwrap();
    assert!(text.starts_with("; query 1\n(set-logic QF_BV)\n(declare-const s0 (_ BitVec 8))\n(assert "), "{text}");
    assert!(text.ends_with("(check-sat)\n(reset)\n"), "{text}");
}

#[test]
fn ranges_on_a_path_decide_and_are_sound() {
    let mut random = Random(21);
    let (mut decided, mut rounds) = (0, 0);
    for _ in 0..40 {
        let mut pool = Pool::new();
        let ids = symbols(&mut pool, &[5, 5]);
        let mut solver = Solver::default();
        let mut pc = PathCondition::new();
        let mut left = assignments(&pool, &ids);
        let mut evaluator = Evaluator::new();
        for &id in &ids {
            let (lo, size) = (random.below(28), 1 + random.below(8));
            let (x, lo, hi) = (pool.sym(id), pool.bits(5, lo), pool.bits(5, (lo + size).min(31)));
            for cond in [pool.ule(lo, x), pool.ule(x, hi)] {
                solver.push(&pool, &mut pc, cond);
                left.retain(|model| evaluator.holds(&pool, cond, model));
            }
        }
        for _ in 0..60 {
            let width = random.pick(&[6, 8, 16, 33, 64]);
            let a = random_expr(&mut pool, &mut random, &ids, width, 3);
            let b = random_expr(&mut pool, &mut random, &ids, width, 2);
            let op = random.pick(&[Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle]);
            let cond = pool.binary(op, a, b);
            let holds = left.iter().filter(|model| evaluator.holds(&pool, cond, model)).count();
            rounds += 1;
            match solver.quick(&mut pool, &pc, cond) {
                Some(true) => assert_eq!(holds, left.len(), "{cond:?} need not hold"),
                Some(false) => assert_eq!(holds, 0, "{cond:?} can hold"),
                None => continue,
            }
            decided += 1;
        }
    }
    assert!(decided > rounds / 5, "{decided} of {rounds}");
}

#[test]
fn three_digits_are_below_a_thousand_without_a_solver() {
    let mut pool = Pool::new();
    let ids = symbols(&mut pool, &[8, 8, 8]);
    let mut solver = Solver::default();
    let mut pc = PathCondition::new();
    let (zero, nine, ten) = (pool.bits(8, 48), pool.bits(8, 57), pool.bits(32, 10));
    let mut number = pool.zero(32);
    for &id in &ids {
        let x = pool.sym(id);
        for cond in [pool.ule(zero, x), pool.ule(x, nine)] {
            solver.push(&pool, &mut pc, cond);
        }
        let (digit, bias) = (pool.zext(x, 32), pool.bits(32, 48));
        let digit = pool.sub(digit, bias);
        let scaled = pool.mul(number, ten);
        number = pool.add(scaled, digit);
    }
    let (thousand, limit) = (pool.bits(32, 1000), pool.bits(32, 999));
    let (below, above) = (pool.slt(number, thousand), pool.ult(limit, number));
    assert_eq!(solver.quick(&mut pool, &pc, below), Some(true));
    let base = Model::empty().with(&ids.iter().map(|&id| (id, 48)).collect::<Vec<_>>());
    let answer = solver.check(&mut pool, &pc, above, &base, &Budget::default());
    assert!(matches!(answer, Answer::Unsat(core) if core.0.len() == 6));

    // A value between the ends of a domain may be missing from it.
    let (first, five) = (pool.sym(ids[0]), pool.bits(8, 53));
    let is_five = pool.eq(first, five);
    let (fives, not_five) = (pool.zext(is_five, 32), pool.not(is_five));
    let scaled = pool.mul(fives, thousand);
    let more = pool.add(number, scaled);
    let below = pool.slt(more, thousand);
    assert_eq!(solver.quick(&mut pool, &pc, below), None);
    solver.push(&pool, &mut pc, not_five);
    assert_eq!(solver.quick(&mut pool, &pc, below), Some(true));
    assert_eq!(solver.stats().solver_calls, 0);
}
