//! Every law, applied by random construction and proved by brute force: a simplifying pool and a plain one are given the
//! same constructor calls, and all results are compared under every assignment of the symbols.

use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::coverage;
use crate::eval::Evaluator;
use crate::float::FloatOp;
use crate::model::Model;
use crate::node::{ExprId, Op, Shape, Width};
use crate::pool::Pool;
use crate::print::{human::human, smtlib};
use crate::random::{Pair, Rng, Twins};

/// Every assignment of the symbols.
fn assignments(twins: &Twins) -> Vec<Model> {
    let widths: Vec<Width> = twins.symbols.iter().map(|&symbol| twins.plain.sym_info(symbol).width).collect();
    let total: Width = widths.iter().sum();
    (0..1u64 << total)
        .map(|bits| {
            let mut rest = bits;
            let values: Vec<_> = twins
                .symbols
                .iter()
                .zip(&widths)
                .map(|(&symbol, &width)| {
                    let value = rest & crate::wide::mask(width);
                    rest >>= width;
                    (symbol, value)
                })
                .collect();
            Model::empty().with(&values)
        })
        .collect()
}

/// The two expressions of each pair are equal under the models, and all facts hold.
fn check(twins: &Twins, pairs: &[Pair], models: &[Model], evaluators: &mut (Evaluator, Evaluator)) {
    for model in models {
        for pair in pairs {
            let simple = evaluators.0.eval_wide(&twins.simple, pair.simple, model);
            let plain = evaluators.1.eval_wide(&twins.plain, pair.plain, model);
            assert!(
                simple == plain,
                "{} simplified to {}: {plain:x?} became {simple:x?} under {:x?}",
                human(&twins.plain, pair.plain),
                human(&twins.simple, pair.simple),
                model.values(),
            );
            check_facts(&twins.simple, pair.simple, plain[0]);
            check_facts(&twins.plain, pair.plain, plain[0]);
        }
    }
}

fn check_facts(pool: &Pool, e: ExprId, value: u64) {
    if pool.width(e) > 64 {
        return;
    }
    let ((zeros, ones), (lo, hi)) = (pool.known_bits(e), pool.interval(e));
    let (least, greatest) = pool.signed_interval(e);
    let signed = crate::eval::signed(pool.width(e), value);
    let holds = value & zeros == 0 && value & ones == ones && lo <= value && value <= hi && least <= signed && signed <= greatest;
    assert!(holds, "{value:#x} of {}: zeros {zeros:#x} ones {ones:#x} interval {lo:#x} {hi:#x}", human(pool, e));
}

/// Random growth from symbols of these widths, all results checked under every assignment.
fn grow_and_check(seed: u64, widths: &[Width], widest: Width, floats: bool) {
    let mut rng = Rng::new(seed);
    let mut twins = Twins::new(widths, widest);
    twins.floats = floats;
    let mut evaluators = (Evaluator::new(), Evaluator::new());
    let pairs: Vec<Pair> = (0..14).map(|_| twins.grow(&mut rng)).collect();
    let models = assignments(&twins);
    check(&twins, &pairs, &models, &mut evaluators);
}

fn anchored(pool: &mut Pool, base: u64, offset: u64) -> ExprId {
    let offset = pool.bits(64, offset);
    pool.ptr(base, offset)
}

/// One of two anchored pointers, by the lowest bit of `x`.
fn choice_of_anchored(pool: &mut Pool, x: ExprId) -> ExprId {
    let (a, b, c) = (anchored(pool, 0x1000, 8), anchored(pool, 0x2000, 12), pool.extract(x, 0, 1));
    pool.ite(c, a, b)
}

/// Bits of the product of `x`, extended to 16 bits, with a constant.
fn high_of_product(pool: &mut Pool, x: ExprId, signed: bool, k: i32, lo: Width, width: Width) -> ExprId {
    let (long, k) = (if signed { pool.sext(x, 16) } else { pool.zext(x, 16) }, pool.bits(16, k as u64 & 0xffff));
    let product = pool.mul(long, k);
    pool.extract(product, lo, width)
}

/// `x - quotient * k`
fn rest_of(pool: &mut Pool, x: ExprId, quotient: ExprId, k: ExprId) -> ExprId {
    let product = pool.mul(quotient, k);
    pool.sub(x, product)
}

/// Shapes that random growth meets too rarely.
fn check_rare_shapes() {
    type Shape = fn(&mut Pool, ExprId) -> ExprId;
    let shapes: &[Shape] = &[
        |pool, x| {
            let other = pool.not(x);
            let [a, b] = [x, other].map(|e| {
                let number = pool.float(FloatOp::FromSigned, e, e, 32);
                let root = pool.float(FloatOp::Sqrt, number, number, 32);
                pool.float(FloatOp::Cast, root, root, 80)
            });
            pool.float(FloatOp::Compare(12), a, b, 1)
        },
        |pool, x| {
            let (three, five) = (pool.bits(8, 3), pool.bits(8, 5));
            let third = pool.udiv(x, three);
            pool.udiv(third, five)
        },
        |pool, x| {
            let (y, ones) = (pool.sext(x, 9), pool.ones(9));
            let (seven, z) = (pool.bits(9, 7), pool.zext(x, 9));
            let (y, z) = (pool.mul(y, seven), pool.mul(z, seven));
            let both = pool.and(y, z);
            pool.eq(both, ones)
        },
        |pool, x| {
            let (wide, greatest) = (pool.zext(x, 100), pool.ones(100));
            let three = pool.number(100, 3);
            let product = pool.mul(wide, three);
            pool.ult(greatest, product)
        },
        |pool, x| {
            let (wide, least) = (pool.zext(x, 100), pool.zero(100));
            let three = pool.number(100, 3);
            let product = pool.mul(wide, three);
            pool.ult(product, least)
        },
        |pool, x| {
            let (wide, k1, k2) = (pool.sext(x, 10), pool.bits(10, 300), pool.bits(10, 0x2c0));
            let sum = pool.add(wide, k1);
            pool.slt(sum, k2)
        },
        // Quotients and remainders by products.
        |pool, x| high_of_product(pool, x, false, 205, 11, 5),
        |pool, x| high_of_product(pool, x, false, 205, 9, 7),
        |pool, x| high_of_product(pool, x, true, 103, 15, 1),
        |pool, x| high_of_product(pool, x, true, 86, 8, 8),
        |pool, x| {
            let part = high_of_product(pool, x, true, 103, 10, 6);
            pool.sext(part, 16)
        },
        |pool, x| {
            let part = high_of_product(pool, x, true, 147 - 256, 8, 8);
            let (sum, two) = (pool.add(x, part), pool.bits(8, 2));
            let (floor, seven) = (pool.ashr(sum, two), pool.bits(8, 7));
            let sign = pool.sign_bit(x);
            let below = pool.sext(sign, 8);
            let quotient = pool.sub(floor, below);
            rest_of(pool, x, quotient, seven)
        },
        |pool, x| {
            let part = high_of_product(pool, x, true, 103, 10, 6);
            let (floor, sign) = (pool.sext(part, 8), pool.sign_bit(x));
            let above = pool.zext(sign, 8);
            pool.add(floor, above)
        },
        |pool, x| {
            let (high, one, two) = (high_of_product(pool, x, false, 37, 8, 8), pool.bits(8, 1), pool.bits(8, 2));
            let difference = pool.sub(x, high);
            let half = pool.lshr(difference, one);
            let sum = pool.add(half, high);
            pool.lshr(sum, two)
        },
        |pool, x| {
            let (seven, three) = (pool.bits(8, 7), pool.bits(8, 3));
            let quotient = pool.udiv(x, seven);
            let eight = pool.shl(quotient, three);
            let product = pool.sub(eight, quotient);
            pool.sub(x, product)
        },
        |pool, x| {
            let (seven, k) = (pool.bits(8, 7), pool.bits(16, 0u64.wrapping_sub(7) & 0xffff));
            let quotient = pool.udiv(x, seven);
            let (long, quotient) = (pool.zext(x, 16), pool.zext(quotient, 16));
            let product = pool.mul(quotient, k);
            pool.add(product, long)
        },
        |pool, x| {
            let three = pool.bits(8, 3);
            let third = pool.udiv(x, three);
            let five = pool.bits(8, 5);
            let other = pool.udiv(third, five);
            rest_of(pool, third, other, five)
        },
        |pool, x| {
            let (seven, long) = (pool.bits(8, 7), pool.bits(16, 7));
            let (quotient, rest) = (pool.udiv(x, seven), pool.urem(x, seven));
            let (quotient, rest) = (pool.zext(quotient, 16), pool.zext(rest, 16));
            let product = pool.mul(quotient, long);
            pool.add(product, rest)
        },
        |pool, x| {
            let minus_seven = pool.bits(8, 0xf9);
            let (quotient, rest) = (pool.sdiv(x, minus_seven), pool.srem(x, minus_seven));
            let product = pool.mul(quotient, minus_seven);
            pool.add(rest, product)
        },
        |pool, x| {
            let (three, fifteen) = (pool.bits(8, 3), pool.bits(8, 15));
            let quotient = pool.sdiv(x, three);
            let rest = pool.srem(x, fifteen);
            let less = pool.slt(rest, quotient);
            pool.zext(less, 8)
        },
        // A sum with a choice of anchored pointers, and what else sees one.
        |pool, x| {
            let chosen = choice_of_anchored(pool, x);
            let k = pool.bits(64, 24);
            pool.add(chosen, k)
        },
        |pool, x| {
            let (chosen, k) = (choice_of_anchored(pool, x), pool.bits(64, 0x1010));
            pool.ult(chosen, k)
        },
        |pool, x| {
            let chosen = choice_of_anchored(pool, x);
            pool.extract(chosen, 8, 8)
        },
        |pool, x| {
            let (a, b) = (anchored(pool, 0x1000, 3), anchored(pool, 0x2000, 5));
            let (sum, long) = (pool.add(a, b), pool.zext(x, 64));
            pool.xor(sum, long)
        },
    ];
    let mut twins = Twins::new(&[8], 128);
    let x = twins.made[0];
    let pairs: Vec<Pair> = shapes.iter().map(|shape| twins.both(|pool, of| shape(pool, of(x)))).collect();
    let models = assignments(&twins);
    check(&twins, &pairs, &models, &mut (Evaluator::new(), Evaluator::new()));
}

#[test]
fn every_law_is_exercised_and_holds_for_all_values() {
    let mut seed = 0;
    for round in 0..2000 {
        // Floating point in a part of the rounds, so that the laws of integers are met as often as before.
        for widths in [&[3, 3][..], &[1, 1, 4], &[1, 1, 1, 1, 1], &[2, 2, 2], &[8], &[5], &[6], &[7], &[4, 4], &[1, 6]] {
            seed += 1;
            let widest = [8, 16, 64, 64, 130][seed as usize % 5];
            grow_and_check(seed, widths, widest, round >= 1500);
        }
    }
    check_rare_shapes();
    let hits = coverage::hits();
    let missing: Vec<_> = coverage::all_laws().into_iter().filter(|law| !hits.contains_key(law)).collect();
    assert!(missing.is_empty(), "{} of {} laws never applied: {missing:#?}", missing.len(), coverage::all_laws().len());
}

/// What z3 prints for a script.
fn z3(script: &str) -> String {
    let child = Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("z3 is not installed: install Debian's `z3`");
    let stdin = child.stdin.take();
    let script = script.to_string();
    // z3 answers while it reads: write from another thread, lest both wait.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(script.as_bytes())));
    let output = child.wait_with_output().expect("z3 ends");
    writer.join().expect("the writer does not panic").expect("its input is a pipe").expect("z3 reads");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

#[test]
fn z3_finds_no_difference_between_simplified_and_plain() {
    let mut script = String::from("(set-option :timeout 200)\n");
    let mut questions = Vec::new();
    for seed in 0..60 {
        let mut rng = Rng::new(1_000_000 + seed);
        let widths = [1 + rng.below(64) as Width, 1 + rng.below(64) as Width];
        let mut twins = Twins::new(&widths, 128);
        let pairs: Vec<Pair> = (0..14).map(|_| twins.grow(&mut rng)).collect();
        for pair in pairs {
            let mut question = String::from("(push)\n");
            smtlib::declare(&twins.plain, &[pair.plain], &mut question);
            let (simple, plain) = (smtlib::term(&twins.simple, pair.simple), smtlib::term(&twins.plain, pair.plain));
            writeln!(question, "(assert (distinct {simple} {plain}))\n(check-sat)\n(pop)").expect("a string takes any text");
            script.push_str(&question);
            questions.push(question);
        }
    }
    let answers = z3(&script);
    let mut proved = 0;
    for (answer, question) in answers.lines().zip(&questions) {
        match answer {
            "unsat" => proved += 1,
            // z3 gave up within its time.
            "unknown" => {}
            other => panic!("z3 says {other} to\n{question}"),
        }
    }
    assert_eq!(answers.lines().count(), questions.len());
    assert!(proved * 10 > questions.len() * 8, "z3 proved only {proved} of {}", questions.len());
}

/// The value stored as bytes and loaded again, in both orders of putting it together.
fn through_memory(pool: &mut Pool, e: ExprId) -> (ExprId, ExprId) {
    let bytes: Vec<ExprId> = (0..pool.width(e) / 8).map(|i| pool.byte(e, i)).collect();
    let upwards = pool.concat_all(&bytes);
    let downwards = bytes.iter().rev().copied().reduce(|value, byte| pool.concat(value, byte)).expect("a byte at least");
    (upwards, downwards)
}

#[test]
fn a_value_stored_and_loaded_is_the_identical_node() {
    let mut pool = Pool::new();
    let symbol = |pool: &mut Pool, index: u32, width: Width| {
        let symbol = pool.symbol("s", index, width);
        pool.sym(symbol)
    };
    let (byte, half, word, long) = (symbol(&mut pool, 0, 8), symbol(&mut pool, 1, 16), symbol(&mut pool, 2, 32), symbol(&mut pool, 3, 64));
    let (zero_extended, sign_extended) = (pool.zext(byte, 32), pool.sext(half, 64));
    let (word_as_long, k) = (pool.zext(word, 64), pool.bits(32, 0x1234_5678));
    let (sum, product, masked) = (pool.add(word, k), pool.mul(word, zero_extended), pool.and(word, k));
    let (difference, quotient, rest) = (pool.sub(word, zero_extended), pool.udiv(word, k), pool.srem(word, zero_extended));
    let (pointer, small_pointer) = (pool.ptr(0x7000_0000_0000, long), pool.ptr(0x7000_0000_0000, word_as_long));
    let small_sum = pool.add(zero_extended, zero_extended);
    let less = pool.slt(word, k);
    let (flag, chosen, selected) = (pool.zext(less, 32), pool.ite(less, k, word), pool.ite(less, zero_extended, word));
    let shifted = pool.shl(sum, zero_extended);
    let text = pool.concat_all(&[byte, byte, byte, byte]);
    let text_or_one = pool.ite(less, text, k);
    let values = [
        byte, half, word, long, zero_extended, sign_extended, sum, product, masked, difference, quotient, rest, pointer, small_pointer,
        small_sum, flag, chosen, selected, shifted, text, text_or_one,
    ];
    for value in values {
        assert_eq!(through_memory(&mut pool, value), (value, value), "{}", human(&pool, value));
    }
}

#[test]
fn nearly_every_random_value_stored_and_loaded_is_the_identical_node() {
    let (mut differ, mut tried) = (0, 0);
    let mut evaluator = Evaluator::new();
    for seed in 0..1500 {
        let mut rng = Rng::new(2_000_000 + seed);
        let mut twins = Twins::new(&[8, 8, 16, 32, 64], 64);
        let steps: Vec<Pair> = (0..14).map(|_| twins.grow(&mut rng)).collect();
        evaluator.clear();
        for pair in steps.into_iter().filter(|pair| matches!(twins.plain.width(pair.plain), 16 | 32 | 64)) {
            let pool = &mut twins.simple;
            let (upwards, downwards) = through_memory(pool, pair.simple);
            tried += 1;
            // Bytes of anchored pointers are constants.
            differ += u32::from(!pool.meta[pair.simple.index()].anchored && (upwards, downwards) != (pair.simple, pair.simple));
            for _ in 0..4 {
                let values: Vec<_> = twins.symbols.iter().map(|&symbol| (symbol, rng.next() & rng.next())).collect();
                let model = Model::empty().with(&values);
                let value = evaluator.eval(pool, pair.simple, &model);
                assert_eq!(evaluator.eval(pool, upwards, &model), value);
                assert_eq!(evaluator.eval(pool, downwards, &model), value);
            }
        }
    }
    assert!(differ * 300 < tried, "{differ} of {tried} are not the identical node");
}

/// What an anchored pointer keeps its base through, and what takes it for a constant.
#[test]
fn anchored_pointers_keep_their_base_and_nothing_else_sees_it() {
    let mut pool = Pool::new();
    let (base, symbol) = (0x7ffe_0000_1000, pool.symbol("s", 0, 64));
    let (p, q) = (anchored(&mut pool, base, 8), anchored(&mut pool, base + 64, 0));
    let (k, x, c) = (pool.bits(64, 24), pool.sym(symbol), pool.symbol("c", 0, 1));
    let c = pool.sym(c);
    assert_eq!((pool.as_u64(p), pool.is_const(p), pool.is_anchored(p)), (Some(base + 8), false, true));
    let of = |pool: &Pool, e: ExprId| pool.as_ptr(e).map(|(base, offset)| (base, pool.as_u64(offset)));
    let (sum, difference, zero) = (pool.add(p, k), pool.sub(p, k), pool.zero(64));
    assert_eq!((of(&pool, sum), of(&pool, difference)), (Some((base, Some(32))), Some((base, Some(8u64.wrapping_sub(24))))));
    assert_eq!((pool.add(p, zero), pool.extract(p, 0, 64)), (p, p));
    let symbolic = pool.add(x, p);
    assert_eq!(of(&pool, symbolic), Some((base, None)));
    let chosen = pool.ite(c, p, q);
    let moved = pool.add(chosen, k);
    let (one, other) = (pool.add(p, k), pool.add(q, k));
    assert_eq!(moved, pool.ite(c, one, other));

    let plain = |pool: &mut Pool, value: u64| pool.bits(64, value);
    let (p_plain, q_plain) = (plain(&mut pool, base + 8), plain(&mut pool, base + 64));
    for op in Op::ALL.iter().copied().filter(|op| matches!(op.shape(), Shape::Binary | Shape::Compare) && *op != Op::Add) {
        for y in [k, x] {
            if op == Op::Sub && y == x {
                continue;
            }
            let (seen, meant) = (pool.binary(op, y, p), pool.binary(op, y, p_plain));
            assert_eq!(seen, meant, "{op:?}");
            if op != Op::Sub {
                assert_eq!(pool.binary(op, p, y), pool.binary(op, p_plain, y), "{op:?}");
            }
        }
        assert_eq!(pool.binary(op, p, q), pool.binary(op, p_plain, q_plain), "{op:?}");
    }
    let (distance, low, wide) = (pool.sub(x, p), pool.extract(p, 0, 32), pool.zext(p, 128));
    assert_eq!(distance, pool.sub(x, p_plain));
    assert!(pool.is_const(low) && pool.is_const(wide));
    let (equal, meant) = (pool.eq(chosen, q), pool.ite(c, p_plain, q_plain));
    assert_eq!(equal, pool.eq(meant, q_plain));
    let roots = [p, chosen];
    let map = pool.compact(&mut |root| roots.iter().for_each(|e| root(*e)));
    let p = map.get(p).expect("a root");
    assert!(pool.is_anchored(p) && pool.as_u64(p) == Some(base + 8));
}
