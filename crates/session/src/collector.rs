//! The collector of a run: removes duplicates, numbers tests and findings, chooses which paths leave a test, feeds the run folder, keeps the limits, and
//! decides when to stop. It never looks into a state (docs/design/013).
//!
//! Cost per path end: counting it, and a message to the writer thread. Reading the clock costs 25 ns.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use wryneck_exec::prefix::PrefixId;
use wryneck_exec::{Limit, Outcome};
use wryneck_report::{Class, Finding, Goal, KTest, LedgerRow, Reached, RuleResult, Run, Status, Totals};

use crate::export::Export;
use crate::folder::{self, EarlierPath, Folder, PathRow, Test};
use crate::host::Shared;
use crate::known::Known;
use crate::left::{self, Changes, Covered, SoFar};
use crate::plan::Emit;
use crate::recorder::{Due, Sink};
use crate::report::{Ends, Interim, Outline, PathReport, Rest, RulesEnd, RulesSoFar};
use crate::results::{self, Findings};
use crate::{budget, signal, usage};

mod limits;
mod lines;

pub use limits::Limits;
use lines::AllLines;

/// Between writings of what has changed but for coverage; findings that are new are written at once.
const SAVE: Duration = Duration::from_millis(500);
/// Between writings of coverage, for which all lines are looked at.
const SAVE_COVERAGE: Duration = Duration::from_secs(3);
/// Between tellings of the watchdog.
const TELL: Duration = Duration::from_millis(100);

/// What progress shows.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    pub paths: u64,
    pub findings: usize,
    pub instructions: u64,
    /// Share of the application's blocks, from 0 to 1.
    pub coverage: f64,
    pub pending: usize,
    /// Wall time in the solver, over all workers.
    pub solver: Duration,
    /// Bytes.
    pub memory: u64,
}

/// What a command shows and does while paths run. All of it may be left out.
pub trait Listener {
    /// Called often: how far the run is.
    fn progress(&mut self, _now: Instant, _numbers: &dyn Fn() -> Numbers) {}
    /// A path was the first to show this.
    fn found(&mut self, _: &Finding) {}
    /// These findings are on their way to the folder, and will be replayed.
    fn stored(&mut self, _: &Folder, _: &[&Finding]) {}
    /// What [`Listener::stored`] has built, for what comes after the exploration.
    fn builds(&mut self) -> Option<Box<dyn Any>> {
        None
    }
    /// The exploration has ended.
    fn done(&mut self) {}
}

/// Listens to nothing.
pub struct Silent;

impl Listener for Silent {}

/// What a run that goes on knows of the one before.
#[derive(Default)]
pub struct Before {
    pub so_far: SoFar,
    /// Paths of the earlier run that are run again.
    pub again: BTreeMap<PrefixId, Again>,
    /// Paths that were taken over as they were.
    pub paths: u64,
}

/// A path that was the first to show findings.
pub struct Again {
    /// For each of them, the paths that showed it.
    pub counts: Vec<u64>,
    /// The number of its test.
    pub test: Option<u64>,
}

/// The collector of a run.
pub struct Collector {
    pub folder: Folder,
    /// Ends, and what a watchdog tells where the run is cut off.
    pub known: Known,
    pub findings: Findings,
    pub limits: Limits,
    /// What the lowering left out, and other notes.
    pub notes: Vec<String>,
    /// What was given up, and why.
    pub given_up: Vec<LedgerRow>,
    /// Where inputs go as plain files.
    pub export: Option<Export>,
    pub listener: Box<dyn Listener>,
    emit: Emit,
    /// The command line that tests record: program and words after the target.
    args: Vec<Vec<u8>>,
    host: Shared,
    tests: u64,
    /// Symbolic inputs of the path that had most.
    inputs: u64,
    /// Tests that were not written, since the folder is full.
    tests_left_out: u64,
    /// A goal is reached, and the exploration ends.
    reached: bool,
    before: Before,
    /// Rows of paths, and those of paths that the end of the run cuts off.
    rows: u64,
    cut: Vec<u64>,
    /// By worker: what it told last, and what its rules have and which blocks it entered where what is left was told.
    workers: Vec<Interim>,
    rules: Vec<(RulesSoFar, Covered)>,
    /// Of several workers: the blocks that were entered, by name.
    entered: FxHashSet<u64>,
    lines: AllLines,
    ends: Option<RulesEnd>,
    saves: bool,
    next_save: Instant,
    next_coverage: Instant,
    next_tell: Instant,
}

/// What a collector begins with.
pub struct Begin {
    pub folder: Folder,
    pub known: Known,
    pub limits: Limits,
    pub emit: Emit,
    /// Program and words after the target.
    pub args: Vec<Vec<u8>>,
    pub host: Shared,
    pub notes: Vec<String>,
    pub workers: u32,
    pub listener: Box<dyn Listener>,
}

impl Collector {
    pub fn new(begin: Begin) -> Collector {
        let now = Instant::now();
        let Begin { folder, known, limits, emit, args, host, notes, workers, listener } = begin;
        Collector {
            folder,
            known,
            findings: Findings::default(),
            limits,
            notes,
            given_up: Vec::new(),
            export: None,
            listener,
            emit,
            args,
            host,
            tests: 0,
            inputs: 0,
            tests_left_out: 0,
            reached: false,
            before: Before::default(),
            rows: 0,
            cut: Vec::new(),
            workers: (0..workers).map(|_| Interim::default()).collect(),
            rules: (0..workers).map(|_| Default::default()).collect(),
            entered: FxHashSet::default(),
            lines: AllLines::new(workers),
            ends: None,
            saves: false,
            next_save: now,
            next_coverage: now + SAVE_COVERAGE,
            next_tell: now,
        }
    }

    /// Goes on with what an earlier run knew; `paths`: those that are taken over as they are.
    pub fn go_on(&mut self, so_far: SoFar, again: BTreeMap<PrefixId, Again>, paths: &[EarlierPath]) {
        (self.tests, self.tests_left_out, self.rows) = (so_far.tests, so_far.tests_left_out, paths.len() as u64);
        self.inputs = so_far.totals.inputs.unwrap_or(0);
        self.known.with(|facts| {
            for path in paths {
                facts.ends.add(path.class, &Arc::from(path.what.as_str()));
            }
        });
        self.before = Before { so_far, again, paths: paths.len() as u64 };
    }

    /// Has the exploration end where one of these is reached.
    pub fn aim_at(&self, find: &[String]) {
        let goal = (!find.is_empty()).then(|| Goal { wanted: find.to_vec(), reached: None });
        self.known.with(|facts| facts.goal = goal);
    }

    /// A part of the collector for one worker on the same thread.
    pub fn alone(&mut self) -> Alone<'_> {
        Alone { collector: self }
    }

    /// Which limit of the run is met, if one is.
    pub fn stop(&self, now: Instant, pending: usize) -> Option<Limit> {
        match self.limits.met(now, pending) {
            None if self.reached => Some(Limit::Goal),
            None if self.folder.has_failed() || self.folder.is_full() => Some(Limit::Disk),
            limit => limit,
        }
    }

    /// What workers are to tell now.
    pub fn due(&mut self, now: Instant) -> Option<Due> {
        let is_due = |next: &mut Instant, pause: Duration| {
            let due = now >= *next;
            if due {
                *next = now + pause;
            }
            due
        };
        let saves = is_due(&mut self.next_save, SAVE);
        let lines = is_due(&mut self.next_coverage, SAVE_COVERAGE);
        let tells = is_due(&mut self.next_tell, TELL);
        self.saves |= saves;
        (saves || lines || tells).then_some(Due { lines })
    }

    /// Shows how far the run is.
    pub fn progress(&mut self, now: Instant) {
        let sum = |of: fn(&Interim) -> u64| self.workers.iter().map(of).sum();
        let numbers = || Numbers {
            paths: sum(|w| w.totals.paths),
            findings: self.findings.all.len(),
            instructions: sum(|w| w.totals.instructions),
            coverage: self.workers.iter().map(|w| w.share).fold(0.0, f64::max),
            pending: self.workers.iter().map(|w| w.pending).sum(),
            solver: self.workers.iter().map(|w| w.solver).sum(),
            memory: usage::memory(),
        };
        self.listener.progress(now, &numbers);
    }

    /// Takes in what a worker knows of itself.
    pub fn interim(&mut self, worker: u32, mut interim: Interim) {
        if let Some((count, lines, functions)) = interim.lines.take() {
            let (lines, functions) = self.lines.add(worker, count, lines, functions);
            self.folder.coverage(lines, functions);
        }
        self.workers[worker as usize] = interim;
        self.tell();
        if std::mem::take(&mut self.saves) {
            self.save();
        }
    }

    /// Writes what has changed.
    pub fn save(&mut self) {
        self.folder.host_reads(self.host.take_record());
        self.folder.findings(self.findings.take_changed());
        self.folder.ledger(self.ledger());
    }

    /// Takes in what a worker has left, and writes it.
    pub fn rest(&mut self, worker: u32, rest: Rest) {
        self.rules[worker as usize] = (rest.rules, rest.covered);
        self.more_rest(rest.changes);
    }

    /// Writes what is left beside what workers have.
    pub fn more_rest(&mut self, changes: Changes) {
        let mut rules = RulesSoFar::default();
        self.rules.iter().for_each(|(of, _)| rules.add(of.clone()));
        let RulesSoFar { relevant, sequences, wanted, subsumed } = rules;
        let so_far = SoFar {
            paths: self.rows,
            cut: self.cut.clone(),
            tests: self.tests,
            tests_left_out: self.tests_left_out,
            counts: self.findings.all.iter().map(|finding| finding.count).collect(),
            ledger: sum(self.engine_ledger(), &self.before.so_far.ledger),
            totals: self.totals(),
            relevant,
            sequences,
            wanted,
            subsumed,
            covered: Covered::either(self.rules.iter().map(|(_, covered)| covered)),
        };
        self.folder.left(changes, serde_json::to_string(&so_far).unwrap_or_default());
    }

    /// Notes how the exploration ended, with so much pending, and what there is to say of it.
    pub fn explored(&mut self, outcome: Outcome, pending: u64, ends: Ends) {
        let status = match outcome {
            Outcome::Complete => Status::Complete,
            Outcome::Stopped(limit) => {
                let (limit, flag) = limit.name_and_flag();
                let what = format!("the exploration: paths that were running or pending ({limit})");
                self.given_up.push(LedgerRow { kind: "cut-off".into(), what, count: pending.max(1), flag: flag.into() });
                Status::Stopped { limit: limit.into(), flag: flag.into(), pending }
            }
        };
        self.notes.extend(ends.notes);
        let pruning = ends.rules.as_ref().map(|rules| rules.pruning.clone());
        self.ends = ends.rules;
        self.known.with(|facts| (facts.status, facts.pruning) = (Some(status), pruning));
        self.listener.done();
    }

    /// Whether there is time to write so much that is left: who interrupts a run does not wait long. Then what is left is what was last written.
    pub fn has_time_for(&self, pending: u64) -> bool {
        !signal::interrupted() || left::cost(usize::try_from(pending).unwrap_or(usize::MAX)) < budget::AFTER / 2
    }

    /// The ledger so far.
    pub fn ledger(&self) -> Vec<LedgerRow> {
        let mut rows = self.engine_ledger();
        rows.extend(results::ledger(&Default::default(), &self.notes));
        let mut rows = sum(rows, &self.before.so_far.ledger);
        if self.tests_left_out > 0 {
            let what = "tests were not written: the run folder is full (disk)".into();
            rows.push(LedgerRow { kind: "cut-off".into(), what, count: self.tests_left_out, flag: "--max-disk".into() });
        }
        if self.workers.iter().any(|worker| worker.short_of_memory) {
            let what = "little memory was left: which paths come first, and so what a limit leaves out, may differ from run to run".into();
            rows.push(LedgerRow { kind: "warning".into(), what, count: 1, flag: "--max-memory".into() });
        }
        let refused = |what: String| LedgerRow { kind: "limit".into(), what, count: 1, flag: "--max-memory".into() };
        rows.extend(self.host.refused().into_iter().map(refused));
        rows.extend(self.given_up.iter().cloned());
        rows
    }

    /// What the workers' engines noted.
    fn engine_ledger(&self) -> Vec<LedgerRow> {
        let mut workers = self.workers.iter();
        let first = workers.next().map_or(Vec::new(), |worker| worker.ledger.clone());
        workers.fold(first, |rows, worker| sum(rows, &worker.ledger))
    }

    /// What the watchdog is to know.
    fn tell(&self) {
        let (ledger, totals) = (self.ledger(), self.totals());
        let pending = self.workers.iter().map(|worker| worker.pending as u64).sum();
        self.known.with(|facts| {
            (facts.ledger, facts.totals, facts.pending) = (ledger, totals, pending);
        });
    }

    /// Counters so far.
    pub fn totals(&self) -> Totals {
        let before = &self.before.so_far.totals;
        let mut all = Totals {
            paths: self.before.paths,
            tests: self.tests,
            memory: before.memory.max(usage::peak()),
            inputs: Some(self.inputs),
            ..before.clone()
        };
        for Totals { paths, instructions, decisions, queries, solver_calls, solver_seconds, .. } in self.workers.iter().map(|w| &w.totals) {
            all.paths += paths;
            all.instructions += instructions;
            all.decisions += decisions;
            all.queries += queries;
            all.solver_calls += solver_calls;
            all.solver_seconds += solver_seconds;
        }
        all
    }

    /// Instructions of this run so far.
    pub fn instructions(&self) -> u64 {
        self.workers.iter().map(|worker| worker.totals.instructions).sum()
    }

    /// Takes in a path that ended.
    pub fn ended(&mut self, worker: u32, report: PathReport) {
        let PathReport {
            id,
            class,
            what,
            cut,
            instructions,
            depth,
            inputs,
            approximated,
            reached,
            covers_new,
            entered,
            shown,
            decisions,
            test,
        } = report;
        self.inputs = self.inputs.max(inputs);
        let again = self.before.again.remove(&id);
        let reached = reached.filter(|_| !self.reached);
        let found = shown.into_iter().filter_map(|shown| self.findings.add(worker, shown));
        let first: Vec<usize> = found.filter(|(first, _)| *first).map(|(_, index)| index).collect();
        for (&index, count) in first.iter().zip(again.iter().flat_map(|again| &again.counts)) {
            self.findings.count_earlier(index, count.saturating_sub(1));
        }
        // Its worker may have told these blocks with another path that is not one to leave a test; then nothing is known of its own.
        let is_known = !entered.is_empty() && entered.iter().all(|block| self.entered.contains(block));
        if class != Class::Assumed {
            self.entered.extend(entered);
        }
        let covers_new = covers_new && !is_known;
        let emit = match self.emit {
            Emit::New => !first.is_empty() || covers_new && class != Class::Assumed,
            Emit::All => class != Class::Assumed,
            Emit::None => false,
        };
        let emit = emit || reached.is_some();
        let room = reached.is_some() || !first.is_empty() || self.folder.has_room_for_tests();
        self.tests_left_out += u64::from(emit && !room);
        let test = test.filter(|_| emit && room).map(|outline| self.test(*outline, again.as_ref().and_then(|again| again.test)));
        if let Some(goal) = reached {
            self.reached = true;
            let (test, end) = (test.as_ref().map(|test| folder::test_name(test.number)), format!("{} {what}", class.name()));
            self.known.with(|facts| {
                let goals = facts.goal.as_mut();
                goals.into_iter().for_each(|g| {
                    g.reached = Some(Reached { goal: g.wanted[goal as usize].clone(), test: test.clone(), end: end.clone() })
                });
            });
        }
        if let (Some(test), Some(export)) = (&test, &mut self.export) {
            export.test(&test.ktest);
        }
        if let Some(test) = &test {
            first.iter().for_each(|&index| self.findings.set_test(index, test.number));
        }
        let found = &self.findings.all;
        self.known.with(|facts| {
            facts.ends.add(class, &what);
            if !first.is_empty() {
                facts.findings.clone_from(found);
            }
        });
        self.rows += 1;
        if cut && first.is_empty() {
            self.cut.push(self.rows);
        }
        let decisions = decisions.filter(|_| test.is_some() || !first.is_empty());
        self.folder.path_ended(PathRow {
            finds: first.len() as u64,
            decisions,
            class,
            what,
            instructions,
            depth,
            covers_new,
            approximated,
            test,
        });
        first.iter().for_each(|&index| self.listener.found(&self.findings.all[index]));
        if !first.is_empty() {
            // Its test is on its way before it.
            self.folder.findings(self.findings.take_changed());
            self.limits.leave_time_for(self.findings.all.len());
            if self.limits.replays {
                let first: Vec<&Finding> = first.iter().map(|&index| &self.findings.all[index]).collect();
                self.listener.stored(&self.folder, &first);
            }
        }
    }

    fn test(&mut self, outline: Outline, number: Option<u64>) -> Box<Test> {
        let number = number.unwrap_or(self.tests + 1);
        self.tests = self.tests.max(number);
        Box::new(Test { number, ktest: KTest { args: self.args.clone(), objects: outline.objects }, about: outline.about })
    }

    /// The report of the run, which had this command and has explored for this long.
    pub fn run(&self, command: Vec<String>, explored: Duration) -> Run {
        let (status, pruning, ends, goal) =
            self.known.with(|facts| (facts.status.clone(), facts.pruning.clone(), facts.ends.rows(), facts.goal.clone()));
        let mut run = Run {
            command,
            folder: self.folder.path.display().to_string(),
            status: status.unwrap_or(Status::Unfinished),
            seconds: explored.as_secs_f64(),
            ends,
            findings: self.findings.all.clone(),
            ledger: self.ledger(),
            totals: self.totals(),
            lines: self.lines.count(),
            rules: Vec::new(),
            pruning,
            goal,
        };
        run.rules = self.verdicts(&run);
        run
    }

    fn verdicts(&self, run: &Run) -> Vec<RuleResult> {
        self.ends.as_ref().map_or(Vec::new(), |rules| rules.judge(run))
    }

    /// What the rules came to, once all is explored.
    pub fn rules(&self) -> Option<&RulesEnd> {
        self.ends.as_ref()
    }

    /// The findings that a worker was the first to show, with its numbers.
    pub fn findings_of(&self, worker: u32) -> Vec<(u32, Finding)> {
        let all = self.findings.shown_by.iter().zip(&self.findings.all);
        all.filter(|((by, _), _)| *by == worker).map(|((_, number), finding)| (*number, finding.clone())).collect()
    }

    /// Takes in what a worker added to its findings.
    pub fn set_findings(&mut self, worker: u32, changed: Vec<(u32, Finding)>) {
        let mut changed = changed.into_iter();
        for ((by, _), finding) in self.findings.shown_by.iter().zip(&mut self.findings.all) {
            if *by == worker
                && let Some((_, new)) = changed.next()
            {
                *finding = new;
            }
        }
    }
}

impl Drop for Collector {
    /// Also where the exploration breaks down, what it found is kept.
    fn drop(&mut self) {
        self.folder.close();
    }
}

/// The collector as the only worker of a run sees it.
pub struct Alone<'a> {
    collector: &'a mut Collector,
}

impl Sink for Alone<'_> {
    fn stop(&mut self, pending: usize) -> Option<Limit> {
        self.collector.stop(Instant::now(), pending)
    }

    fn due(&mut self) -> Option<Due> {
        let now = Instant::now();
        self.collector.progress(now);
        self.collector.due(now)
    }

    fn interim(&mut self, interim: Interim) {
        self.collector.interim(0, interim);
    }

    fn ended(&mut self, report: PathReport) {
        self.collector.ended(0, report);
    }

    fn keeps_rest(&self) -> bool {
        true
    }

    fn rest(&mut self, rest: Rest) {
        self.collector.rest(0, rest);
    }
}

/// The sum of two ledgers.
pub fn sum(mut rows: Vec<LedgerRow>, more: &[LedgerRow]) -> Vec<LedgerRow> {
    for row in more {
        match rows.iter_mut().find(|known| (&known.kind, &known.what) == (&row.kind, &row.what)) {
            Some(known) => known.count += row.count,
            None => rows.push(row.clone()),
        }
    }
    rows
}
