//! Exploration is complete and correct, whichever parts of the engine are switched off. On random programs the path ends are those of all
//! inputs run concretely. Each path's input ends as the path did, and replaying a path's decisions gives its state.

mod common;

use std::collections::BTreeSet;
use std::rc::Rc;

use common::{Collect, Generator, class, concrete, explore, inputs};
use wryneck_exec::core::Core;
use wryneck_exec::{Config, Control, Ended, Limit, Outcome, Pruner, Pruning, Step, Traced, Wanted};
use wryneck_solver::Stop;

const PROGRAMS: u64 = 150;

/// The ends of all 256 inputs.
fn truth(text: &str) -> Vec<String> {
    (0..256u32).map(|n| class(&concrete(text, &[(n & 15) as u8, (n >> 4) as u8]))).collect()
}

fn check(name: &str, config: &Config, solver: &wryneck_solver::Config, programs: u64) {
    for seed in 0..programs {
        let text = Generator::program(seed * 7919 + 1, true);
        let truth = truth(&text);
        let (_, all) = explore(&text, config.clone(), solver.clone());
        let want: BTreeSet<&String> = truth.iter().collect();
        let ends: Vec<String> = all.ended.iter().map(|e| class(&e.end)).collect();
        let got: BTreeSet<&String> = ends.iter().collect();
        // A path's end names its own input's; other inputs of the path may exit differently only by the value they return.
        for (ended, end) in all.ended.iter().zip(&ends) {
            let bytes = inputs(ended);
            let n = usize::from(bytes[0] & 15) | usize::from(bytes[1] & 15) << 4;
            assert_eq!(*end, truth[n], "{name}, seed {seed}, input {bytes:?}\n{text}");
        }
        let faults =
            |set: &BTreeSet<&String>| set.iter().filter(|s| !s.starts_with("exit")).map(|s| s.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(faults(&got), faults(&want), "{name}, seed {seed}\n{text}");
    }
}

/// Programs whose result is decided by branches alone: every end must be found, exit statuses included.
fn check_all_ends(name: &str, config: &Config, solver: &wryneck_solver::Config, programs: u64) {
    for seed in 0..programs {
        // The returned byte is decided bit by bit, so each value is a path of its own.
        let mut text = Generator::program(seed * 104_729 + 5, true);
        let at = text.rfind("  ret.8 ").expect("main returns");
        let value = text[at + 8..].trim_end_matches(['\n', '}']).to_owned();
        text.truncate(at);
        text.push_str("  br d0(%r = 0)\n");
        for bit in 0..8 {
            text.push_str(&format!(
                "d{bit}:\n  %b{bit} = extract.1 {value} at {bit} of 8\n  condbr %b{bit}, d{}(%r = %w{bit}), d{}(%r = %r)\n",
                bit + 1,
                bit + 1
            ));
            text = text.replace(&format!("%b{bit} = extract"), &format!("%w{bit} = or.8 %r, {}\n  %b{bit} = extract", 1 << bit));
        }
        text.push_str("d8:\n  ret.8 %r\n}\n");
        if !value.starts_with('%') {
            continue;
        }
        let want: BTreeSet<String> = truth(&text).into_iter().collect();
        let (_, all) = explore(&text, config.clone(), solver.clone());
        let got: BTreeSet<String> = all.ended.iter().map(|e| class(&e.end)).collect();
        assert_eq!(got, want, "{name}, seed {seed}\n{text}");
    }
}

#[test]
fn all_ends_are_found_and_each_is_true() {
    check("default", &Config::default(), &Default::default(), PROGRAMS);
    check_all_ends("default", &Config::default(), &Default::default(), PROGRAMS);
}

#[test]
fn every_searcher_finds_the_same() {
    for row in wryneck_exec::search::SEARCHERS {
        // With the shortest batch each path is paused often.
        for batch in [Config::default().batch, 1] {
            let config = Config { search: vec![row.name.into()], batch, ..Config::default() };
            check_all_ends(row.name, &config, &Default::default(), 40);
        }
    }
}

#[test]
fn switching_parts_of_the_engine_off_changes_nothing() {
    let without_quick = Config { quick_checks: false, ..Config::default() };
    check_all_ends("no quick checks", &without_quick, &Default::default(), 40);
    let without_snapshots = Config { snapshots: false, ..Config::default() };
    check("no snapshots", &without_snapshots, &Default::default(), 40);
    check_all_ends("no snapshots", &without_snapshots, &Default::default(), 40);
    let shared_snapshots = Config { own_snapshots: 0, ..Config::default() };
    check("shared snapshots", &shared_snapshots, &Default::default(), 100);
    check_all_ends("shared snapshots", &shared_snapshots, &Default::default(), 100);
    let compacting = Config { compact_above: 0, ..Config::default() };
    check_all_ends("compaction all the time", &compacting, &Default::default(), 40);
    check_all_ends("plain solver", &Config::default(), &wryneck_solver::Config::plain(), 40);
}

#[test]
fn queries_that_are_put_off_are_asked_in_the_end() {
    for (solver, name) in [(Default::default(), "default"), (wryneck_solver::Config::plain(), "plain")] {
        let impatient = Config { query_patience: 0, ..Config::default() };
        let no_gates = Config { query_gates: 0, ..Config::default() };
        for config in [impatient, no_gates] {
            check("no patience", &config, &solver, 40);
            check_all_ends(name, &config, &solver, 40);
        }
    }
}

#[test]
fn a_path_is_its_decisions() {
    for seed in 0..60 {
        let text = Generator::program(seed * 31 + 2, false);
        let config = Config { hash_states: true, compact_above: if seed % 2 == 0 { 0 } else { 4_000_000 }, ..Config::default() };
        let (mut explorer, all) = explore(&text, config, Default::default());
        for ended in &all.ended {
            let stop = wryneck_solver::Stop::never();
            let (state, end) = explorer.retrace(&ended.prefix.to_vec(), ended.model.clone(), &stop, &mut |_, _| {});
            assert_eq!(end, ended.end, "seed {seed}\n{text}");
            assert_eq!(Some(state.structural_hash(&explorer.core.pool)), ended.hash, "seed {seed}, {:?}\n{text}", ended.end);
            assert_eq!(state.prefix.to_vec(), ended.prefix.to_vec());
            let (mut seen, before) = (Vec::new(), explorer.core.stats.instructions);
            explorer.retrace(&ended.prefix.to_vec(), ended.model.clone(), &wryneck_solver::Stop::never(), &mut |_, decided| {
                seen.push(decided.decision)
            });
            assert_eq!((seen, explorer.core.stats.instructions), (ended.prefix.to_vec(), before), "seed {seed}\n{text}");
        }
    }
}

#[test]
fn searchers_and_compactions_give_the_same_states() {
    for seed in 0..40 {
        let text = Generator::program(seed * 17 + 3, false);
        let hashes = |search: &str, compact_above| {
            let config = Config { hash_states: true, search: vec![search.into()], compact_above, ..Config::default() };
            let (_, all) = explore(&text, config, Default::default());
            all.ended.iter().map(|e| (e.prefix.to_vec(), e.hash)).collect::<BTreeSet<_>>()
        };
        let dfs = hashes("dfs", usize::MAX);
        assert_eq!(dfs, hashes("bfs", 0), "seed {seed}\n{text}");
        assert_eq!(dfs, hashes("random-path", 500), "seed {seed}\n{text}");
    }
}

/// Wants every decision of a path that was recorded whole.
struct WantsAll;

impl Pruner for WantsAll {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let decisions = path.trace.steps.iter().filter_map(|step| match step {
            Step::Decision { index } => Some(*index),
            _ => None,
        });
        let decisions: Vec<u32> = decisions.collect();
        assert_eq!(decisions.last().map_or(0, |last| last + 1), path.state.prefix.len(), "recorded to its end");
        assert!(decisions.windows(2).all(|w| w[0] + 1 == w[1]) && decisions.first().is_none_or(|first| *first <= path.oldest));
        Ok(Wanted { decisions, settled: false, noted: false })
    }
}

#[test]
fn flips_that_wait_until_they_are_wanted_are_the_same_in_the_end() {
    let prefixes = |all: &Collect| all.ended.iter().map(|ended| ended.prefix.to_vec()).collect::<BTreeSet<_>>();
    for seed in 0..40 {
        let text = Generator::program(seed * 23 + 6, false);
        let row = &wryneck_exec::search::SEARCHERS[seed as usize % wryneck_exec::search::SEARCHERS.len()];
        // Pruning turns implied values off, with which some accesses decide nothing, and numbers the states of automata over all paths.
        let (_, want) =
            explore(&text, Config { implied_values: false, keep_infeasible_flips: true, ..Config::default() }, Default::default());
        for (snapshots, own_snapshots) in [(true, 8), (true, 0), (false, 8)] {
            let config = Config { search: vec![row.name.into()], snapshots, own_snapshots, ..Config::default() };
            let mut explorer = common::explorer(&text, None, config, Default::default());
            explorer.prune(Pruning::Wanted, Rc::new(WantsAll));
            let mut got = Collect::default();
            assert_eq!(explorer.explore(&mut got), Outcome::Complete);
            assert_eq!(prefixes(&got), prefixes(&want), "{}, seed {seed}\n{text}", row.name);
            assert_eq!(explorer.unwanted(), Some(0));
        }
    }
}

/// Wants the decisions of these indices.
struct WantsSome(fn(u32) -> bool);

impl Pruner for WantsSome {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        Ok(Wanted {
            decisions: (path.oldest..path.state.prefix.len()).filter(|index| self.0(*index)).collect(),
            settled: false,
            noted: false,
        })
    }
}

#[test]
fn of_paths_too_long_to_be_recorded_all_flips_are_explored() {
    let (mut short, mut long) = (0, 0);
    for seed in 0..20 {
        let text = Generator::program(seed * 23 + 6, false);
        let all = explore(&text, Config::default(), Default::default()).1.ended.len();
        let explored = |max_recorded| {
            let config = Config { max_recorded, ..Config::default() };
            let mut explorer = common::explorer(&text, None, config, Default::default());
            explorer.prune(Pruning::Wanted, Rc::new(WantsSome(|_| false)));
            let mut got = Collect::default();
            assert_eq!(explorer.explore(&mut got), Outcome::Complete);
            let why = "a path is too long to be sliced, so all its flips are explored";
            let noted = explorer.core.ledger.rows.keys().any(|(_, what)| what == why);
            assert!(got.ended.len() <= all && noted <= (max_recorded == 0), "seed {seed}\n{text}");
            got.ended.len()
        };
        short += explored(usize::MAX);
        long += explored(0);
    }
    assert!(long > short, "{long} paths of what is too long, {short} of what is not");
}

#[test]
fn paths_are_told_apart_as_pruning_would() {
    let (mut pruned, mut relevant) = (0, 0);
    for seed in 0..40 {
        let text = Generator::program(seed * 29 + 8, false);
        let all = explore(&text, Config::default(), Default::default()).1.ended.len() as u64;
        let told = |pruning, wants: fn(u32) -> bool| {
            let mut explorer = common::explorer(&text, None, Config::default(), Default::default());
            explorer.prune(pruning, Rc::new(WantsSome(wants)));
            assert_eq!(explorer.explore(&mut Collect::default()), Outcome::Complete);
            (explorer.core.stats.paths, explorer.relevant().expect("it is told"))
        };
        assert_eq!(told(Pruning::Classified, |_| true), (all, all), "seed {seed}\n{text}");
        let none = told(Pruning::Wanted, |_| false);
        assert_eq!(none.0, none.1);
        assert_eq!(told(Pruning::Classified, |_| false), (all, none.1), "seed {seed}\n{text}");
        let half = told(Pruning::Classified, |index| index % 2 == 0);
        assert_eq!(half.0, all, "seed {seed}\n{text}");
        pruned += told(Pruning::Wanted, |index| index % 2 == 0).0;
        relevant += half.1;
    }
    // Which path comes first differs, and what turns out relevant late wants all.
    assert!(relevant >= pruned && relevant - pruned <= pruned / 4, "{relevant} relevant paths, {pruned} of them if pruned");
}

#[test]
fn under_memory_pressure_snapshots_go_first_and_nothing_is_lost() {
    let mut given_up = 0;
    for seed in 0..30 {
        let text = Generator::program(seed * 13 + 4, false);
        let want = explore(&text, Config::default(), Default::default()).1.ended.len();
        let config = Config { max_memory: 1, search: vec!["bfs".into()], ..Config::default() };
        let mut explorer = common::explorer(&text, None, config, Default::default());
        // Memory seems to grow with every look.
        let mut all = Collect { memory: 1 << 20, ..Collect::default() };
        assert_eq!(explorer.explore(&mut all), Outcome::Complete);
        given_up += explorer.core.stats.snapshots_given_up;
        assert_eq!((all.ended.len(), explorer.core.stats.flips_lost), (want, 0), "seed {seed}");
    }
    assert!(given_up > 0, "no program was large enough to come under pressure");
}

#[test]
fn a_prefix_that_is_run_again_covers_nothing_new() {
    for seed in 0..10 {
        let text = Generator::program(seed * 13 + 4, false);
        let covering = |snapshots, own_snapshots| {
            let config = Config { snapshots, own_snapshots, search: vec!["bfs".into()], ..Config::default() };
            explore(&text, config, Default::default()).1.ended.iter().filter(|e| e.covers_new).count()
        };
        assert_eq!(covering(false, 8), covering(true, 8), "seed {seed}");
        assert_eq!(covering(true, 0), covering(true, 8), "shared, seed {seed}");
    }
}

/// A function of several results that has one block for all of them, as compilers optimise it.
#[test]
fn each_side_of_a_branch_is_new_once() {
    const SIDES: u32 = 6;
    let mut text = String::from(
        "declare func @input\nfunc strong @main() -> 8 {\n  $in: 6\nentry:\n  %in = alloca $in\n  call @input(%in:64, 6:64)\n  br b0\n",
    );
    for i in 0..SIDES {
        text.push_str(&format!("b{i}:\n  %at{i} = ptradd %in, {i} scale 1\n  %c{i} = load.8 %at{i}\n  %is{i} = eq.8 %c{i}, 65\n"));
        let next = if i + 1 < SIDES { format!("b{}", i + 1) } else { "out(%r = 99)".to_owned() };
        text.push_str(&format!("  condbr %is{i}, out(%r = {i}), {next}\n"));
    }
    text.push_str("out:\n  ret.8 %r\n}\n");
    for row in wryneck_exec::search::SEARCHERS {
        let config = Config { search: vec![row.name.into()], ..Config::default() };
        let (_, all) = explore(&text, config, Default::default());
        let ends: BTreeSet<String> = all.ended.iter().map(|ended| class(&ended.end)).collect();
        assert_eq!((ends.len(), all.ended.len()), (SIDES as usize + 1, SIDES as usize + 1), "{}", row.name);
        assert!(all.ended.iter().all(|ended| ended.covers_new), "{}: a path takes a side that no other does", row.name);
    }
}

/// Both bytes are compared by one branch, and what they have in common is a number when the program branches on it.
#[test]
fn a_side_that_a_path_takes_by_constants_is_new_once() {
    let text = "declare func @input
func strong @main() -> 8 {
  $in: 2
entry:
  %in = alloca $in
  call @input(%in:64, 2:64)
  br next(%i = 0, %count = 0)
next:
  %at = ptradd %in, %i scale 1
  %c = load.8 %at
  %is = eq.8 %c, 65
  condbr %is, on(%more = 1), on(%more = 0)
on:
  %sum = add.64 %count, %more
  %then = add.64 %i, 1
  %goes_on = ult.64 %then, 2
  condbr %goes_on, next(%i = %then, %count = %sum), end
end:
  %both = eq.64 %sum, 2
  condbr %both, out(%r = 1), out(%r = 0)
out:
  ret.8 %r
}
";
    for row in wryneck_exec::search::SEARCHERS {
        let config = Config { search: vec![row.name.into()], ..Config::default() };
        let (_, all) = explore(text, config, Default::default());
        let both: Vec<bool> = all.ended.iter().filter(|ended| class(&ended.end).ends_with('1')).map(|ended| ended.covers_new).collect();
        assert_eq!((all.ended.len(), both), (4, vec![true]), "{}", row.name);
    }
}

/// Stops nothing by itself; a signal says that the run is to end from some look on.
struct Signalled {
    all: Collect,
    looks: Rc<std::cell::Cell<u32>>,
}

impl Control for Signalled {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        None
    }
    fn ended(&mut self, core: &mut Core, ended: Ended) {
        self.all.ended(core, ended);
    }
    fn end_signal(&mut self) -> Stop {
        let looks = self.looks.clone();
        Stop::when(move || {
            looks.set(looks.get().saturating_sub(1));
            looks.get() == 0
        })
    }
}

#[test]
fn a_run_whose_end_was_signalled_is_complete_only_if_nothing_is_left() {
    let (mut stopped, mut complete) = (0, 0);
    for seed in 0..20 {
        let text = Generator::program(seed * 13 + 4, false);
        let want = explore(&text, Config::default(), Default::default()).1.ended.len();
        for looks in [1, 2, 3, 5, 8, 13, 21, 50, u32::MAX] {
            // The signal is asked where queries take long.
            let solver =
                wryneck_solver::Config { enumeration: false, search: false, byte_domain: false, neighbours: false, ..Default::default() };
            let mut explorer = common::explorer(&text, None, Config::default(), solver);
            let mut control = Signalled { all: Collect::default(), looks: Rc::new(looks.into()) };
            let outcome = explorer.explore(&mut control);
            let left = explorer.left().count();
            assert_eq!(explorer.pending(), left, "seed {seed}, {looks}");
            match outcome {
                Outcome::Complete => assert_eq!((control.all.ended.len(), left), (want, 0), "seed {seed}, {looks}"),
                Outcome::Stopped(_) => assert!(left > 0, "seed {seed}, {looks}"),
            }
            *if outcome == Outcome::Complete { &mut complete } else { &mut stopped } += 1;
        }
    }
    assert!(stopped > 20 && complete > 20, "{stopped} stopped, {complete} complete");
}
