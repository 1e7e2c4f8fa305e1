//! Adoption loses and repeats nothing: over any number of stops, the paths are those of an exploration that was never stopped.

mod common;

use std::cell::Cell;
use std::rc::Rc;

use common::{Collect, Generator, class, concrete, explore, explorer, inputs};
use wryneck_exec::core::Core;
use wryneck_exec::prefix::{Decision, PrefixId, encode};
use wryneck_exec::{
    Config, Control, Deferral, Deferred, Ended, Explorer, Job, LedgerKind, Limit, Outcome, PathEnd, Pruner, Pruning, Rest, Step, Traced,
    Wanted,
};

/// A path that ended: its decisions, how, and the hash of its state. What a path exits with may be any of several values.
type Path = (Vec<Decision>, String, Option<u64>);

fn path(ended: &Ended) -> Path {
    let end = if matches!(ended.end, PathEnd::Exit(_)) { "exit".into() } else { class(&ended.end) };
    (ended.prefix.to_vec(), end, ended.hash)
}

/// Ends the exploration when it was asked so often.
struct Stops {
    after: u64,
    asked: Rc<Cell<u64>>,
    /// Whether the queries of running paths end, too.
    inside: bool,
    paths: Vec<Path>,
    /// Input of paths, and how they ended on it.
    inputs: Vec<(Vec<u8>, String)>,
}

impl Stops {
    fn new(after: u64, inside: bool) -> Stops {
        Stops { after, asked: Rc::default(), inside, paths: Vec::new(), inputs: Vec::new() }
    }

    fn is_over(asked: &Cell<u64>, after: u64) -> bool {
        asked.set(asked.get() + 1);
        asked.get() > after
    }
}

impl Control for Stops {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        Stops::is_over(&self.asked, self.after).then_some(Limit::Interrupted)
    }
    fn ended(&mut self, _: &mut Core, ended: Ended) {
        if ended.end != PathEnd::Limit(Limit::Interrupted) {
            self.paths.push(path(&ended));
            self.inputs.push((inputs(&ended), class(&ended.end)));
        }
    }
    fn end_signal(&mut self) -> wryneck_solver::Stop {
        let (asked, after) = (self.asked.clone(), self.after);
        if self.inside { wryneck_solver::Stop::when(move || Stops::is_over(&asked, after)) } else { wryneck_solver::Stop::never() }
    }
    fn solver_stop(&mut self) -> wryneck_solver::Stop {
        self.end_signal()
    }
}

/// Jobs and deferred flips as they come out of a file.
fn left(explorer: &Explorer) -> (Vec<Job>, Deferred) {
    let decoded = |job: Job| Job::decode(&encode(&job.prefix), &job.encode_input()).expect("it was just encoded");
    let jobs = explorer.left().map(|left| {
        let job = left.job();
        assert_eq!(left.id, PrefixId::of(&job.prefix), "a name is that of the decisions");
        assert_eq!(PrefixId::from_bytes(left.id.to_bytes()), left.id);
        decoded(job)
    });
    (jobs.collect(), explorer.deferred().collect::<Vec<Deferral>>().into_iter().collect())
}

/// Explores by explorers of which each goes on where the one before was stopped. Their paths, sorted, and how many there were.
fn resumed(text: &str, config: &Config, every: u64, inside: bool, pruner: Option<Rc<dyn Pruner>>) -> (Vec<Path>, u32) {
    let (mut paths, mut sessions, mut rest) = (Vec::new(), 0, None);
    loop {
        let mut explorer = explorer(text, None, config.clone(), Default::default());
        if let Some(pruner) = &pruner {
            explorer.prune(Pruning::Wanted, pruner.clone());
        }
        if let Some((jobs, deferred)) = rest.take() {
            explorer.adopt(Rest { jobs, deferred, ..Rest::default() });
        }
        // An explorer that is stopped at once has done nothing: each gets a bit further.
        let mut control = Stops::new(every + sessions / 4, inside);
        let outcome = explorer.explore(&mut control);
        paths.append(&mut control.paths);
        for (input, end) in control.inputs {
            let masked: Vec<u8> = input.iter().map(|byte| byte & 15).collect();
            assert_eq!(class(&concrete(text, &masked)), end, "input {input:?}\n{text}");
        }
        sessions += 1;
        let dropped = explorer.core.ledger.rows.keys().find(|(kind, _)| *kind == LedgerKind::DroppedFlip);
        assert_eq!(dropped, None, "a job does not fit\n{text}");
        match outcome {
            Outcome::Complete => break,
            Outcome::Stopped(_) => rest = Some(left(&explorer)),
        }
        assert!(sessions < 10_000, "no end\n{text}");
    }
    paths.sort();
    (paths, sessions as u32)
}

fn whole(text: &str, config: &Config) -> Vec<Path> {
    let all: Collect = explore(text, config.clone(), Default::default()).1;
    let mut paths: Vec<Path> = all.ended.iter().map(path).collect();
    paths.sort();
    paths
}

#[test]
fn over_many_stops_the_paths_are_those_of_one_exploration() {
    let mut stops = 0;
    for seed in 0..150 {
        let text = Generator::program(seed * 7919 + 9, false);
        let row = &wryneck_exec::search::SEARCHERS[seed as usize % wryneck_exec::search::SEARCHERS.len()];
        let config = Config {
            hash_states: true,
            search: vec![row.name.into()],
            snapshots: seed % 3 != 0,
            batch: 1 + seed * 97 % 20_000,
            ..Config::default()
        };
        let want = whole(&text, &config);
        for (every, inside) in [(2 + seed % 7, false), (3 + seed % 11, true)] {
            let (got, sessions) = resumed(&text, &config, every, inside, None);
            assert_eq!(got, want, "seed {seed}, {}, every {every}, inside {inside}\n{text}", row.name);
            stops += sessions - 1;
        }
    }
    assert!(stops > 500, "{stops} stops are too few to show anything");
}

/// Wants every decision of a path.
struct WantsAll;

impl Pruner for WantsAll {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let decisions = path.trace.steps.iter().filter_map(|step| match step {
            Step::Decision { index } => Some(*index),
            _ => None,
        });
        Ok(Wanted { decisions: decisions.collect(), settled: false, noted: false })
    }
}

/// Wants the decisions of even index: what they lead to does not depend on which paths come first, if they are all wanted by all.
struct WantsEven;

impl Pruner for WantsEven {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        Ok(Wanted { decisions: (path.oldest..path.state.prefix.len()).filter(|i| i % 2 == 0).collect(), settled: false, noted: false })
    }
}

#[test]
fn deferred_flips_become_relevant_after_a_stop_as_before() {
    let (mut even, mut all, mut stops) = (0, 0, 0);
    for seed in 0..400 {
        let text = Generator::program(seed * 7919 + 7, false);
        // Pruning turns implied values off, with which some accesses decide nothing, and numbers the states of automata over all paths.
        let config =
            Config { hash_states: true, snapshots: seed % 2 == 0, implied_values: false, keep_infeasible_flips: true, ..Config::default() };
        let want = whole(&text, &config);
        if want.len() < 5 {
            continue;
        }
        let every = 2 + seed % 4;
        let (got, sessions) = resumed(&text, &config, every, false, Some(Rc::new(WantsAll)));
        assert_eq!(got, want, "seed {seed}\n{text}");
        stops += sessions - 1;
        let mut explorer = explorer(&text, None, config.clone(), Default::default());
        explorer.prune(Pruning::Wanted, Rc::new(WantsEven));
        let mut one = Collect::default();
        explorer.explore(&mut one);
        let (got, _) = resumed(&text, &config, every, false, Some(Rc::new(WantsEven)));
        assert!(got.windows(2).all(|two| two[0].0 != two[1].0), "a path came twice, seed {seed}\n{text}");
        (even, all) = (even + got.len(), all + want.len());
        // Which side of a decision that nobody wants is taken depends on models.
        let (got, one) = (got.len().abs_diff(one.ended.len()), one.ended.len());
        assert!(got <= one / 3 + 3, "seed {seed}: {got} more or fewer than {one}\n{text}");
    }
    assert!(even < all, "{even} of {all}: nothing was pruned");
    assert!(stops > 100, "{stops} stops are too few to show anything");
}

#[test]
fn paths_that_had_ended_are_shown_again_in_their_order() {
    let mut shown = 0;
    for seed in 0..60 {
        let text = Generator::program(seed * 7919 + 11, false);
        let config = Config { hash_states: true, batch: 3, ..Config::default() };
        let mut first = explorer(&text, None, config.clone(), Default::default());
        let mut control = Stops::new(6, false);
        first.explore(&mut control);
        let (jobs, deferred) = left(&first);
        let ended: Vec<Job> = control.paths.iter().rev().step_by(2).map(|path| Job { prefix: path.0.clone(), ..Job::default() }).collect();
        let want: Vec<Vec<Decision>> = ended.iter().map(|job| job.prefix.clone()).collect();
        let mut second = explorer(&text, None, config.clone(), Default::default());
        second.adopt(Rest { ended, jobs, deferred });
        let mut rest = Stops::new(u64::MAX, false);
        assert_eq!(second.explore(&mut rest), Outcome::Complete);
        let got: Vec<Vec<Decision>> = rest.paths.iter().take(want.len()).map(|path| path.0.clone()).collect();
        assert_eq!(got, want, "seed {seed}\n{text}");
        shown += want.len();
        let mut all = [control.paths, rest.paths].concat();
        all.sort();
        all.dedup();
        assert_eq!(all, whole(&text, &config), "seed {seed}\n{text}");
    }
    assert!(shown > 50, "{shown} paths are too few to show anything");
}

#[test]
fn an_input_that_does_not_fit_costs_queries_and_nothing_else() {
    let mut left_out = 0;
    for seed in 0..80 {
        let text = Generator::program(seed * 43 + 5, false);
        let config = Config { hash_states: true, ..Config::default() };
        let want = whole(&text, &config);
        let mut first = explorer(&text, None, config.clone(), Default::default());
        let mut control = Stops::new(4, false);
        if first.explore(&mut control) == Outcome::Complete {
            continue;
        }
        let (mut jobs, deferred) = left(&first);
        for job in &mut jobs {
            job.input.iter_mut().for_each(|known| known.value ^= 0x55);
            left_out += job.input.len();
        }
        // A path that cannot be, and one of another program.
        let mut other = explorer(&text, None, config.clone(), Default::default());
        other.adopt(Rest { jobs, deferred, ..Rest::default() });
        let mut rest = Stops::new(u64::MAX, false);
        assert_eq!(other.explore(&mut rest), Outcome::Complete);
        let mut got = [control.paths, rest.paths].concat();
        got.sort();
        assert_eq!(got, want, "seed {seed}\n{text}");
    }
    assert!(left_out > 20, "{left_out} values are too few to show anything");
}

#[test]
fn prefixes_of_elsewhere_lead_nowhere_and_are_counted() {
    for seed in 0..30 {
        let text = Generator::program(seed * 47 + 3, false);
        let config = Config { hash_states: true, ..Config::default() };
        let want = whole(&text, &config);
        let mut strange = explorer(&text, None, config, Default::default());
        let prefixes = [
            vec![Decision::Choice(9); 3],
            vec![Decision::Branch(seed % 2 == 0); 40],
            vec![Decision::Value(u64::MAX), Decision::Above(u64::MAX)],
            vec![Decision::Tried(7), Decision::Branch(true)],
        ];
        let count = prefixes.len() as u64;
        strange.adopt(Rest { jobs: prefixes.map(|prefix| Job { prefix, ..Job::default() }).into(), ..Rest::default() });
        let mut control = Stops::new(u64::MAX, false);
        assert_eq!(strange.explore(&mut control), Outcome::Complete);
        assert!(control.paths.iter().all(|path| want.contains(path)), "seed {seed}: {:?}\n{text}", control.paths);
        let stats = &strange.core.stats;
        let met = stats.flips_lost + stats.flips_infeasible + stats.paths;
        assert!(met >= count, "seed {seed}: {met} of {count}\n{text}");
        assert!(stats.flips_lost > 0 && strange.core.ledger.rows.keys().any(|(kind, _)| *kind == LedgerKind::DroppedFlip));
    }
}
