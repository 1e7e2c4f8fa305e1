//! The exploration as the command controls it: clock, memory and Ctrl-C as inputs, path ends as outputs.
//!
//! Cost per path end: counting it, and a message to the writer thread. Reading the clock costs 25 ns. The watchdog reads memory use.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use wryneck_environ::{STDOUT, World};
use wryneck_exec::{Control, Core, Ended, Explorer, Leak, Limit, Outcome, PathEnd};
use wryneck_report::{Class, Goal, KTest, LedgerRow, Object, Reached, Status, Totals};
use wryneck_session::Emit;
use wryneck_solver::Stop;

use crate::budget;
use crate::coverage::LineMap;
use crate::early::Early;
use crate::explored::Explored;
use crate::export::Export;
use crate::folder::{self, Folder, PathRow, Test};
use crate::host::{HostRead, Refused};
use crate::known::Known;
use crate::left::{self, Left, SoFar};
use crate::path_tree::PathTree;
use crate::progress::{Numbers, Progress};
use crate::results::{self, Defect, Findings};
use crate::resume::{self, Before};
use crate::rules::Rules;
use crate::seeds::Seeds;
use crate::{signal, watchdog};

/// Between writings of what has changed but for coverage; findings that are new are written at once.
const SAVE: Duration = Duration::from_millis(500);
/// Between writings of coverage, for which all lines are looked at.
const SAVE_COVERAGE: Duration = Duration::from_secs(3);
/// Between tellings of the watchdog.
const TELL: Duration = Duration::from_millis(100);

/// Most bytes of standard output that a test records, to be compared by a replay.
const MOST_OUTPUT: usize = 1 << 16;

/// What the command watches and keeps while paths run.
pub struct Watch {
    pub folder: Folder,
    /// Ends, and what the watchdog tells where the run is cut off.
    pub known: Known,
    pub findings: Findings,
    pub lines: LineMap,
    pub tests: u64,
    /// Symbolic inputs of the path that had most.
    pub inputs: u64,
    /// Tests that were not written, since the folder is full.
    pub tests_left_out: u64,
    pub progress: Progress,
    pub limits: Limits,
    pub emit: Emit,
    /// The command line that tests record: program and words after the target.
    pub args: Vec<Vec<u8>>,
    pub host: Rc<RefCell<Vec<HostRead>>>,
    /// Rules that are checked.
    pub rules: Option<Rules>,
    /// The paths that ended, if somebody asks for all of them.
    pub tree: Option<PathTree>,
    /// What the lowering left out.
    pub notes: Vec<String>,
    /// Files of the host that were too large.
    pub refused: Refused,
    /// What was given up, and why.
    pub given_up: Vec<LedgerRow>,
    pub solver_time: Rc<Cell<Duration>>,
    /// Native builds that findings began.
    pub early: Option<Early>,
    pub seeds: Seeds,
    /// Where inputs go as plain files.
    pub export: Option<Export>,
    /// A goal is reached, and the exploration ends.
    pub reached: bool,
    /// The run that this one goes on with.
    pub before: Before,
    /// Rows of paths, and those of paths that the end of the run cuts off.
    pub rows: u64,
    pub cut: Vec<u64>,
    pub left: Left,
    pub next_save: Instant,
    pub next_coverage: Instant,
    pub next_tell: Instant,
}

/// When to stop.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When the exploration ends; earlier once there is something to replay.
    pub deadline: Rc<Cell<Option<Instant>>>,
    /// All that the run may take.
    pub time: Option<Duration>,
    /// Findings are replayed.
    pub replays: bool,
    /// For one query.
    pub solver: Option<Duration>,
}

impl Limits {
    /// Time that replays get of the run's: to build the program natively, longer in a long run, where it is little beside, and for each finding, but
    /// no more than a fifth of it.
    fn leave_time_for(&self, findings: usize) {
        const BUILD: Duration = Duration::from_millis(2000);
        const EACH: Duration = Duration::from_millis(150);
        if let Some((end, time)) = budget::deadline().zip(self.time).filter(|_| self.replays) {
            let each = EACH.saturating_mul(u32::try_from(findings).unwrap_or(u32::MAX));
            let build = BUILD.max(time / 40);
            self.deadline.set(end.checked_sub(build.saturating_add(each).min(time / 5)));
        }
    }
}

impl Limits {
    /// Time that is left to write so many pending paths: no more than a fifth of the run's.
    fn time_for(&self, pending: usize) -> Duration {
        left::cost(pending).min(self.time.unwrap_or_default() / 5)
    }
}

impl Watch {
    pub fn save(&mut self, core: &Core) {
        self.folder.host_reads(std::mem::take(&mut self.host.borrow_mut()));
        self.folder.findings(self.findings.take_changed());
        self.folder.ledger(self.ledger(core));
    }

    fn save_coverage(&mut self, core: &Core) {
        self.lines.grow(&core.image);
        let (lines, functions) = self.lines.news(&core.coverage);
        self.folder.coverage(lines, functions);
    }

    /// The ledger so far.
    pub fn ledger(&self, core: &Core) -> Vec<LedgerRow> {
        let mut rows = resume::sum(results::ledger(&core.ledger, &self.notes), &self.before.so_far.ledger);
        if self.tests_left_out > 0 {
            let what = "tests were not written: the run folder is full (disk)".into();
            rows.push(LedgerRow { kind: "cut-off".into(), what, count: self.tests_left_out, flag: "--max-disk".into() });
        }
        if core.stats.snapshots_given_up > 0 {
            let what = "little memory was left: which paths come first, and so what a limit leaves out, may differ from run to run".into();
            rows.push(LedgerRow { kind: "warning".into(), what, count: 1, flag: "--max-memory".into() });
        }
        let refused = |what: &String| LedgerRow { kind: "limit".into(), what: what.clone(), count: 1, flag: "--max-memory".into() };
        rows.extend(self.refused.borrow().iter().map(refused));
        rows.extend(self.given_up.iter().cloned());
        rows
    }

    /// Has what is left to explore written.
    fn save_left(&mut self, explorer: &Explorer) {
        let core = &explorer.core;
        let mut so_far = SoFar {
            paths: self.rows,
            cut: self.cut.clone(),
            tests: self.tests,
            tests_left_out: self.tests_left_out,
            counts: self.findings.all.iter().map(|finding| finding.count).collect(),
            ledger: resume::sum(results::ledger(&core.ledger, &[]), &self.before.so_far.ledger),
            totals: self.totals(core),
            blocks: if core.code_source.is_none() { left::runs(&core.coverage) } else { Vec::new() },
            ..SoFar::default()
        };
        self.rules.iter().for_each(|rules| rules.tell(explorer, &mut so_far));
        let changes = self.left.changes(explorer, &so_far);
        self.folder.left(changes);
    }

    /// Writes what is known at the end.
    fn finish(&mut self, core: &Core) {
        self.progress.done();
        self.save(core);
        self.save_coverage(core);
    }

    /// Notes how the exploration ended.
    pub fn explored(&mut self, outcome: Outcome, explorer: &Explorer) {
        let pending = explorer.pending() as u64;
        let status = match outcome {
            Outcome::Complete => Status::Complete,
            Outcome::Stopped(limit) => {
                let (limit, flag) = limit.name_and_flag();
                let what = format!("the exploration: paths that were running or pending ({limit})");
                self.given_up.push(LedgerRow { kind: "cut-off".into(), what, count: pending.max(1), flag: flag.into() });
                Status::Stopped { limit: limit.into(), flag: flag.into(), pending }
            }
        };
        budget::ends();
        let pruning = self.rules.as_ref().map(|rules| rules.pruning(explorer));
        self.known.with(|facts| (facts.status, facts.pruning) = (Some(status), pruning));
        self.tell(&explorer.core, explorer.pending());
        // Who interrupts a run does not wait long: then what is left is what was last written.
        if !signal::interrupted() || left::cost(explorer.pending()) < budget::AFTER / 2 {
            self.save_left(explorer);
        }
        self.finish(&explorer.core);
    }

    /// Has the exploration end where one of these is reached.
    pub fn aim_at(&self, find: &[String]) {
        let goal = (!find.is_empty()).then(|| Goal { wanted: find.to_vec(), reached: None });
        self.known.with(|facts| facts.goal = goal);
    }

    /// Begins to build what replays of these findings need.
    fn build_for(&mut self, first: &[usize]) {
        if self.early.is_none() {
            self.folder.commit();
            // What goes wrong here is told where findings are replayed.
            self.early = Explored::of(&self.folder.path, &[]).and_then(|explored| Early::new(&explored)).ok();
        }
        for finding in first.iter().map(|&index| &self.findings.all[index]) {
            self.early.iter_mut().for_each(|early| early.shows(&finding.kind.id));
        }
    }

    /// What the watchdog is to know.
    fn tell(&self, core: &Core, pending: usize) {
        let (ledger, totals) = (self.ledger(core), self.totals(core));
        self.known.with(|facts| {
            (facts.ledger, facts.totals, facts.pending) = (ledger, totals, pending as u64);
        });
    }

    /// Counters so far.
    pub fn totals(&self, core: &Core) -> Totals {
        let (stats, before) = (core.solver.stats(), &self.before.so_far.totals);
        Totals {
            paths: self.before.paths + core.stats.paths,
            instructions: before.instructions + core.stats.instructions,
            decisions: before.decisions + core.stats.decisions,
            tests: self.tests,
            queries: before.queries + stats.queries,
            solver_calls: before.solver_calls + stats.solver_calls,
            solver_seconds: before.solver_seconds + self.solver_time.get().as_secs_f64(),
            memory: before.memory.max(watchdog::peak()),
            inputs: Some(self.inputs),
        }
    }

    fn test(&mut self, core: &Core, ended: &Ended, class: Class, what: &str, number: Option<u64>) -> Box<Test> {
        let number = number.unwrap_or(self.tests + 1);
        self.tests = self.tests.max(number);
        let object = |i: wryneck_report::InputValue| Object { name: i.name.into_bytes(), bytes: i.bytes };
        let objects = results::inputs(ended).into_iter().map(object).collect();
        let mut about =
            json!({ "class": class.name(), "what": what, "instructions": ended.instructions, "approximated": ended.approximated });
        if ended.unwritten_input {
            about["unwritten_input"] = true.into();
        }
        let fault = match &ended.end {
            PathEnd::Fault(fault) => Some((fault, &ended.call_stack)),
            _ => None,
        };
        // A native run may do anything after the first fault.
        let survived = ended.survived.first().map(|s| (&s.fault, &s.stack));
        if let Some((fault, stack)) = survived.or(fault) {
            about["class"] = Class::Fault.name().into();
            about["what"] = fault.kind.id().into();
            about["message"] = fault.message.as_str().into();
            about["stack"] = json!(results::stack(&core.image, stack));
        }
        if survived.is_some() {
            about["goes_on"] = true.into();
        }
        if !ended.leaks.is_empty() {
            let leak = |l: &Leak| {
                let stack = results::stack(&core.image, &l.stack);
                json!({ "message": l.fault.message, "bytes": l.bytes, "objects": l.objects, "stack": stack })
            };
            about["leaks"] = ended.leaks.iter().map(leak).collect();
        }
        if let Some(world) = World::left_by(&*ended.env) {
            let stdout = world.written(STDOUT, &core.pool, &ended.model);
            if stdout.len() <= MOST_OUTPUT {
                about["stdout"] = json!(stdout);
            }
        }
        Box::new(Test { number, ktest: KTest { args: self.args.clone(), objects }, about })
    }
}

impl Drop for Watch {
    /// Also where the exploration breaks down, what it found is kept.
    fn drop(&mut self) {
        self.folder.close();
    }
}

impl Control for Watch {
    fn stop(&mut self, core: &Core, pending: usize) -> Option<Limit> {
        let now = Instant::now();
        if signal::interrupted() {
            return Some(Limit::Interrupted);
        }
        if self.reached {
            return Some(Limit::Goal);
        }
        if self.limits.deadline.get().is_some_and(|deadline| now + self.limits.time_for(pending) >= deadline) {
            return Some(Limit::Time);
        }
        if watchdog::memory_is_over() {
            return Some(Limit::Memory);
        }
        if self.folder.has_failed() || self.folder.is_full() {
            return Some(Limit::Disk);
        }
        if now >= self.next_save {
            self.next_save = now + SAVE;
            self.save(core);
        }
        if now >= self.next_coverage {
            self.next_coverage = now + SAVE_COVERAGE;
            self.save_coverage(core);
        }
        if now >= self.next_tell {
            self.next_tell = now + TELL;
            self.tell(core, pending);
        }
        let numbers = || Numbers {
            paths: core.stats.paths,
            findings: self.findings.all.len(),
            instructions: core.stats.instructions,
            coverage: self.lines.share(&core.coverage),
            pending,
            solver: self.solver_time.get(),
            memory: watchdog::memory(),
        };
        self.progress.update(now, numbers);
        None
    }

    fn ended(&mut self, core: &mut Core, ended: Ended) {
        self.inputs = self.inputs.max(ended.inputs.len() as u64);
        let again = self.before.again.remove(&ended.prefix.id());
        self.seeds.ended(&ended);
        let reached = ended.reached.filter(|_| !self.reached);
        let (class, what) = results::class(&ended.end);
        let fault = match &ended.end {
            PathEnd::Fault(fault) => Some(Defect::fault(fault, &ended.call_stack)),
            PathEnd::Exit(_) | PathEnd::Unsupported(_) | PathEnd::Limit(_) | PathEnd::Assumed | PathEnd::Internal(_) => None,
        };
        let leaks = ended.leaks.iter().map(|leak| Defect::fault(&leak.fault, &leak.stack));
        if let Some(tree) = &mut self.tree {
            tree.add(&ended, self.rules.as_ref().and_then(|rules| rules.events(&ended)));
        }
        let violations = self.rules.as_mut().map_or(Vec::new(), |rules| match &again {
            None => rules.ended(core, &ended),
            Some(_) => rules.ended_again(core, &ended),
        });
        let survived = ended.survived.iter().map(|s| Defect::fault(&s.fault, &s.stack));
        let all = survived.chain(fault).enumerate().map(|(n, defect)| if n == 0 { defect } else { defect.behind_another() });
        let shown = all.chain(leaks).chain(violations);
        let found = shown.map(|defect| self.findings.add(core, defect, &ended));
        let first: Vec<usize> = found.filter(|(first, _)| *first).map(|(_, index)| index).collect();
        for (&index, count) in first.iter().zip(again.iter().flat_map(|again| &again.counts)) {
            self.findings.count_earlier(index, count.saturating_sub(1));
        }
        let emit = match self.emit {
            Emit::New => !first.is_empty() || ended.covers_new && ended.end != PathEnd::Assumed,
            Emit::All => ended.end != PathEnd::Assumed,
            Emit::None => false,
        };
        let emit = emit || reached.is_some();
        let room = reached.is_some() || !first.is_empty() || self.folder.has_room_for_tests();
        self.tests_left_out += u64::from(emit && !room);
        let test = (emit && room).then(|| self.test(core, &ended, class, &what, again.as_ref().and_then(|again| again.test)));
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
        if let PathEnd::Limit(Limit::Time | Limit::Memory | Limit::Disk | Limit::Interrupted | Limit::Goal) = ended.end
            && first.is_empty()
        {
            self.cut.push(self.rows);
        }
        let prefix = (test.is_some() || !first.is_empty()).then(|| wryneck_exec::prefix::encode(&ended.prefix.to_vec()));
        self.folder.path_ended(PathRow {
            finds: first.len() as u64,
            prefix,
            class,
            what,
            instructions: ended.instructions,
            depth: ended.prefix.len(),
            covers_new: ended.covers_new,
            approximated: ended.approximated,
            test,
        });
        for finding in first.iter().map(|&index| &self.findings.all[index]) {
            let place = finding.stack.first().map_or(String::new(), |place| format!(" ({})", place.text()));
            self.progress.tell("found", &format!("{}: {}{place}", finding.kind.id, finding.message));
        }
        if !first.is_empty() {
            // Its test is on its way before it.
            self.folder.findings(self.findings.take_changed());
            self.limits.leave_time_for(self.findings.all.len());
            if self.limits.replays {
                self.build_for(&first);
            }
        }
    }

    fn between(&mut self, explorer: &Explorer) {
        // An audit only adds to what is complete.
        if !explorer.core.auditing && self.left.is_due(Instant::now()) {
            self.save_left(explorer);
        }
    }

    fn memory_used(&mut self) -> u64 {
        watchdog::memory()
    }

    fn end_signal(&mut self) -> Stop {
        ended_by(None, &self.limits)
    }

    fn solver_stop(&mut self) -> Stop {
        ended_by(self.limits.solver.map(|time| Instant::now() + time), &self.limits)
    }
}

/// A signal that comes with an interrupt, with the limits, and at `query`.
fn ended_by(query: Option<Instant>, limits: &Limits) -> Stop {
    let deadline = limits.deadline.clone();
    Stop::when(move || {
        let over = || {
            let now = Instant::now();
            query.is_some_and(|until| now >= until) || deadline.get().is_some_and(|until| now >= until)
        };
        signal::interrupted() || watchdog::memory_is_over() || over()
    })
}
