//! Seeds and goals on random programs. The path of a seed is that of its input, and every input still belongs to exactly one path. A goal
//! is reached if and only if some concrete input reaches it.

mod common;

use common::{Collect, Generator, class, concrete};
use wryneck_exec::goals::{Aim, Goals};
use wryneck_exec::{Config, Ended, Explorer, Fuzzer, Inputs, Mutator, Outcome, PathEnd, SeedEnd, search};
use wryneck_expr::Model;

/// The bytes of input number `n` of 256.
fn bytes(n: u32) -> Vec<u8> {
    vec![(n & 15) as u8, (n >> 4) as u8]
}

/// Whether an input takes a path.
fn takes(explorer: &mut Explorer, ended: &Ended, n: u32) -> bool {
    let core = &mut explorer.core;
    let values: Vec<_> = (0..).zip(bytes(n)).map(|(i, b)| (core.pool.symbol("in", i, 8), b.into())).collect();
    let model = Model::empty().with(&values);
    ended.path.constraints().into_iter().all(|cond| core.eval.holds(&core.pool, cond, &model))
}

#[test]
fn paths_of_seeds_come_first_and_none_is_run_twice() {
    let (mut ran, mut known) = (0, 0);
    for program in 0..120u64 {
        let text = Generator::program(program * 6007 + 11, false);
        let seeds: Vec<u32> = (0..9).map(|i| ((program * 31 + i * 57) % 256) as u32).collect();
        let config = Config {
            snapshots: !program.is_multiple_of(3),
            quick_checks: !program.is_multiple_of(5),
            compact_above: if program.is_multiple_of(2) { 0 } else { 4_000_000 },
            batch: if program.is_multiple_of(7) { 50 } else { 2_000_000 },
            ..Config::default()
        };
        let search = search::after_seeds(search::by_names(&["default".into()], program).expect("it is known"));
        let mut explorer = common::prepared(&text, None, config.clone(), Default::default(), |explorer| {
            explorer.search_by(search);
            explorer.add_seeds(seeds.iter().map(|n| vec![("in".into(), bytes(*n))]).collect());
        });
        let mut all = Collect::default();
        assert_eq!(explorer.explore(&mut all), Outcome::Complete);
        let ends = explorer.seed_ends().to_vec();
        let is_settled = |end: &SeedEnd| matches!(end, SeedEnd::Ran | SeedEnd::Known);
        assert!(ends.iter().all(is_settled), "{ends:?}, program {program}\n{text}");
        ran += ends.iter().filter(|end| **end == SeedEnd::Ran).count();
        known += ends.iter().filter(|end| **end == SeedEnd::Known).count();
        for ended in &all.ended {
            if let Some(seed) = ended.seed {
                let n = seeds[seed as usize];
                assert_eq!(common::inputs(ended), bytes(n), "program {program}\n{text}");
                assert_eq!(class(&ended.end), class(&concrete(&text, &bytes(n))), "program {program}\n{text}");
            }
        }
        // Constraints are renumbered where expressions are collected.
        if config.compact_above > 0 {
            for n in 0..256 {
                let count = all.ended.iter().filter(|ended| takes(&mut explorer, ended, n)).count();
                assert_eq!(count, 1, "input {n}, program {program}\n{text}");
            }
        }
        let last = all.ended.iter().rposition(|ended| ended.seed.is_some()).unwrap_or(0);
        let others = all.ended[..last].iter().filter(|ended| ended.seed.is_none());
        assert!(others.clone().count() <= 2 * seeds.len(), "{} other paths before the last seed's", others.count());
    }
    assert!(ran > 100 && known > 100, "{ran} seeds with paths of their own, {known} without");
}

#[test]
fn a_goal_is_reached_exactly_where_an_input_reaches_it() {
    let (mut reached, mut not) = (0, 0);
    for program in 0..80u64 {
        let text = Generator::program(program * 9311 + 3, false);
        // Every block of the program in turn is the goal of one exploration.
        let blocks = common::explore(&text, Config::default(), Default::default()).0.core.image.blocks;
        let block = (program * 13 % u64::from(blocks)) as u32;
        let mut natively = false;
        for n in 0..256 {
            let mut run = common::explorer(&text, Some(bytes(n)), Config::default(), Default::default());
            run.explore(&mut Collect::default());
            natively |= run.core.coverage[block as usize] != 0;
        }
        let search = search::to_goals(search::by_names(&["default".into()], program).expect("it is known"));
        let mut explorer = common::prepared(&text, None, Config::default(), Default::default(), |explorer| {
            explorer.search_by(search);
            let mut goals = Goals::default();
            goals.add(block, explorer.core.image.operations(block).0, Aim::Find(0));
            explorer.set_goals(goals, &[]);
        });
        let mut all = Collect::default();
        explorer.explore(&mut all);
        let hits: Vec<&Ended> = all.ended.iter().filter(|ended| ended.reached == Some(0)).collect();
        assert_eq!(!hits.is_empty(), natively, "block {block}, program {program}\n{text}");
        for ended in hits {
            let mut run = common::explorer(&text, Some(common::inputs(ended)), Config::default(), Default::default());
            run.explore(&mut Collect::default());
            assert_ne!(run.core.coverage[block as usize], 0, "block {block}, program {program}\n{text}");
            reached += 1;
        }
        not += u32::from(!natively);
        // Avoided instead: no input that reaches it has a path of the program's own end.
        let mut explorer = common::prepared(&text, None, Config::default(), Default::default(), |explorer| {
            let mut goals = Goals::default();
            goals.add(block, explorer.core.image.operations(block).0, Aim::Avoid);
            explorer.set_goals(goals, &[]);
        });
        let mut all = Collect::default();
        explorer.explore(&mut all);
        for ended in all.ended.iter().filter(|ended| ended.end != PathEnd::Assumed) {
            let mut run = common::explorer(&text, Some(common::inputs(ended)), Config::default(), Default::default());
            run.explore(&mut Collect::default());
            assert_eq!(run.core.coverage[block as usize], 0, "block {block}, program {program}\n{text}");
        }
    }
    assert!(reached > 20 && not > 0, "{reached} paths reached their goals, {not} goals cannot be");
}

/// Makes no mutants: what runs is what optimistic solving gives.
struct NoMutants;

impl Mutator for NoMutants {
    fn keep(&mut self, _: Inputs, _: bool) {}
    fn note(&mut self, _: &Inputs) {}
    fn mutant(&mut self) -> Option<Inputs> {
        None
    }
    fn longer(&self, _: &Inputs) -> Option<Inputs> {
        None
    }
    fn replaced(&self, _: &Inputs, _: &[u8], _: &[u8]) -> Vec<Inputs> {
        Vec::new()
    }
}

/// To the end from one seed, with optimistic solving.
fn solved_optimistically(text: &str, seed: Vec<u8>) -> (Explorer, Collect) {
    let mut explorer =
        common::prepared(text, None, Config { compact_above: 4_000_000, ..Config::default() }, Default::default(), |explorer| {
            explorer.search_by(search::after_seeds(search::by_names(&["default".into()], 0).expect("it is known")));
            explorer.fuzzer = Fuzzer::new(Box::new(NoMutants));
            explorer.add_seeds(vec![vec![("in".into(), seed)]]);
        });
    let mut all = Collect::default();
    assert_eq!(explorer.explore(&mut all), Outcome::Complete);
    (explorer, all)
}

/// A byte is looked at twice: on the seed's path, and on that of its one flip that is feasible at first, the second look excludes one side each.
const TWO_LOOKS: &str = "declare func @input
func strong @main() -> 8 {
  $in: 2
entry:
  %p = alloca $in
  call @input(%p:64, 2:64)
  %a = load.8 %p
  %small = ult.8 %a, 16
  condbr %small, first, other
first:
  %large = ult.8 99, %a
  condbr %large, never, other
never:
  ret.8 1
other:
  %odd = eq.8 %a, 200
  condbr %odd, deep, end
deep:
  ret.8 2
end:
  ret.8 0
}";

#[test]
fn a_side_that_its_path_excludes_is_tried_by_its_condition_alone() {
    let (explorer, all) = solved_optimistically(TWO_LOOKS, vec![7, 0]);
    let count = explorer.fuzzer.count();
    assert!(count.run > 0 && count.seeds > 0, "{count:?}: an input of 200 is found where the path of a small byte excludes it");
    let mut ends: Vec<String> = all.ended.iter().map(|ended| class(&ended.end)).collect();
    ends.sort();
    assert_eq!(ends, ["exit 0", "exit 0", "exit 2"], "nothing reaches `never`, and no path is run twice");
}

#[test]
fn optimistic_solving_keeps_the_paths() {
    let mut tried = 0;
    for program in 0..120u64 {
        let text = Generator::program(program * 7793 + 5, false);
        let (mut explorer, all) = solved_optimistically(&text, bytes((program * 37 % 256) as u32));
        tried += explorer.fuzzer.count().run;
        for n in 0..256 {
            let paths: Vec<&Ended> = all.ended.iter().filter(|ended| takes(&mut explorer, ended, n)).collect();
            assert_eq!(paths.len(), 1, "input {n}, program {program}\n{text}");
        }
    }
    assert!(tried > 20, "{tried} inputs were tried");
}
