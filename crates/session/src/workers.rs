//! The workers of a run: one on the caller's thread, or several on threads of their own, to which the collector's side hands out jobs (docs/design/014).
//!
//! Of several workers the first begins at the root. A worker that has nothing left says so; those that have something then hand out flips after few
//! decisions. The exploration is complete when all have nothing left and no job is on its way: what a worker sends comes in its order, so
//! its jobs come before its word that it has nothing.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wryneck_exec::{Job, Limit, Outcome};
use wryneck_report::{Finding, LedgerRow};

use crate::allocator;
use crate::collector::Collector;
use crate::halt::Halt;
use crate::host::Shared;
use crate::left::Changes;
use crate::plan::Plan;
use crate::problem::problem;
use crate::recorder::{Due, Sink};
use crate::report::{Ends, Explored, Interim, PathReport, Rest};
use crate::worker::{Earlier, Place, Prepared, Worker};

/// Between two looks of the collector at the limits.
const LOOK: Duration = Duration::from_millis(5);
/// Between two tellings of a worker.
const TELL: Duration = Duration::from_millis(100);
/// Between two tellings of coverage.
const LINES: Duration = Duration::from_secs(3);
/// Bytes of a worker's stack, as much as a main thread has at least.
const STACK: usize = 64 << 20;
/// Jobs that a worker hands out for each one that waits, at most: then it does not have to be asked again soon.
const TOGETHER: usize = 8;

/// What a run's workers share.
#[derive(Clone)]
pub struct Work {
    pub plan: Plan,
    pub host: Shared,
    pub halt: Halt,
    /// All paths are to be kept for [`Team::write_tree`].
    pub keeps_tree: bool,
}

impl Work {
    fn place(&self, number: u32, of: u32) -> Place {
        let memory = self.plan.max_memory / u64::from(of);
        Place { halt: self.halt.clone(), number, of, keeps_tree: self.keeps_tree, memory }
    }
}

/// The workers of a run.
pub enum Team {
    Alone(Box<Worker>),
    Several(Several),
}

impl Team {
    /// As many workers, of which the first may use what is prepared.
    pub fn new(work: Work, prepared: Prepared, count: u32) -> Result<Team> {
        if count <= 1 {
            return Ok(Team::Alone(Box::new(Worker::new(prepared, work.place(0, 1))?)));
        }
        Several::new(&work, count).map(Team::Several)
    }

    /// By rule: its name, what must hold, and the paths that had to do with it so far.
    pub fn rules(&self) -> Vec<(String, String, u64)> {
        match self {
            Team::Alone(worker) => worker.rules(),
            Team::Several(several) => several.begun.rules.clone(),
        }
    }

    /// What there is to say of the search.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Team::Alone(worker) => worker.notes.clone(),
            Team::Several(several) => several.begun.notes.clone(),
        }
    }

    /// Explores from the root, or what an earlier run left, until nothing is left or the collector ends it.
    pub fn explore(&mut self, earlier: Option<Earlier>, collector: &mut Collector) -> Result<()> {
        match self {
            Team::Alone(worker) => {
                worker.begin(earlier)?;
                let Explored { outcome, pending } = worker.explore(&mut collector.alone());
                let ends = worker.ends();
                crate::budget::ends();
                collector.explored(outcome, pending as u64, ends);
                let has_time = collector.has_time_for(pending as u64);
                worker.tell(&mut collector.alone(), has_time);
                collector.save();
                Ok(())
            }
            Team::Several(several) => several.explore(earlier, collector),
        }
    }

    /// Adds the way to each finding.
    pub fn trace(&mut self, collector: &mut Collector) {
        match self {
            Team::Alone(worker) => {
                let mut findings = collector.findings_of(0);
                let given_up = worker.trace(&mut findings);
                collector.given_up.extend(given_up);
                collector.set_findings(0, findings);
            }
            Team::Several(several) => several.after(collector, Request::Trace),
        }
    }

    /// Judges the findings that no native run could.
    pub fn judge(&mut self, collector: &mut Collector) {
        match self {
            Team::Alone(worker) => {
                let mut findings = collector.findings_of(0);
                worker.judge(&mut findings);
                collector.set_findings(0, findings);
            }
            Team::Several(several) => several.after(collector, Request::Judge),
        }
    }

    /// Writes the tree of paths of a worker alone. What was given up, since the run is over.
    pub fn write_tree(&mut self, file: &Path) -> Result<Option<LedgerRow>> {
        match self {
            Team::Alone(worker) => worker.write_tree(file),
            Team::Several(_) => Ok(None),
        }
    }

    /// Why branches were kept or pruned, if the plan asks for that.
    pub fn explained(&self) -> Vec<String> {
        match self {
            Team::Alone(worker) => worker.explained(),
            Team::Several(_) => Vec::new(),
        }
    }

    /// Keeps in the cache what was lowered.
    pub fn keep(&mut self) {
        match self {
            Team::Alone(worker) => worker.keep(),
            Team::Several(several) => several.keep(),
        }
    }

    /// Leaves the workers as they are.
    pub fn forget(self) {
        match self {
            Team::Alone(worker) => worker.forget(),
            Team::Several(several) => std::mem::forget(several),
        }
    }
}

/// What a worker is asked to do.
enum Request {
    /// Explore from the root, or what an earlier run left.
    Begin(Option<Box<Earlier>>),
    Explore(Vec<Job>),
    /// All is explored: tell what is known, and what is left if that is asked for.
    End {
        rest: bool,
    },
    Trace(Vec<(u32, Finding)>),
    Judge(Vec<(u32, Finding)>),
    Keep,
}

/// What a worker tells.
enum Event {
    Ready {
        notes: Vec<String>,
        rules: Vec<(String, String, u64)>,
    },
    Failed(anyhow::Error),
    Ended(Box<PathReport>),
    Interim(Box<Interim>),
    Jobs(Vec<Job>),
    /// It has explored what it was given.
    Idle(Explored),
    Rest(Box<Rest>),
    Closed(Box<Ends>),
    Findings(Vec<(u32, Finding)>, Option<LedgerRow>),
    Kept,
}

/// What a worker's sink tells it to; set by the collector's side.
struct Demand {
    /// Workers that have nothing left.
    waiting: AtomicUsize,
}

/// Workers on threads.
pub struct Several {
    requests: Vec<Sender<Request>>,
    events: Receiver<(u32, Event)>,
    demand: Arc<Demand>,
    halt: Halt,
    begun: Begun,
}

/// What the first worker says before it begins.
#[derive(Default)]
struct Begun {
    notes: Vec<String>,
    rules: Vec<(String, String, u64)>,
}

impl Several {
    fn new(work: &Work, count: u32) -> Result<Several> {
        let (sender, events) = channel();
        let demand = Arc::new(Demand { waiting: AtomicUsize::new(0) });
        let mut requests = Vec::new();
        for number in 0..count {
            let (request, asked) = channel();
            requests.push(request);
            let (work, demand, events) = (work.clone(), demand.clone(), sender.clone());
            let now = Instant::now();
            let told = Told { number, events, demand, halt: work.halt.clone(), next: now, next_lines: now + LINES };
            let life = move || {
                let events = told.events.clone();
                let lived = catch_unwind(AssertUnwindSafe(|| be_worker(&work, count, told, &asked)));
                if lived.is_err() {
                    let _ = events.send((number, Event::Failed(lost())));
                }
            };
            thread::Builder::new().stack_size(STACK).spawn(life).context("cannot start a worker's thread")?;
        }
        let mut several = Several { requests, events, demand, halt: work.halt.clone(), begun: Begun::default() };
        for _ in 0..count {
            match several.events.recv() {
                Ok((0, Event::Ready { notes, rules })) => several.begun = Begun { notes, rules },
                Ok((_, Event::Failed(error))) => return Err(error),
                Ok(_) => {}
                Err(_) => return Err(lost()),
            }
        }
        Ok(several)
    }

    fn ask(&self, worker: u32, request: Request) {
        // A worker that is gone is noticed where its answer is awaited.
        let _ = self.requests[worker as usize].send(request);
    }

    fn explore(&mut self, earlier: Option<Earlier>, collector: &mut Collector) -> Result<()> {
        let count = self.requests.len() as u32;
        self.ask(0, Request::Begin(earlier.map(Box::new)));
        let mut idle: Vec<u32> = (1..count).collect();
        let mut queue: VecDeque<Job> = VecDeque::new();
        let (mut limit, mut is_whole, mut pending) = (None, true, vec![0; count as usize]);
        loop {
            let now = Instant::now();
            if limit.is_none() {
                limit = collector.stop(now, pending.iter().sum::<usize>() + queue.len());
                let is_over = collector.instructions() >= collector.limits.instructions;
                limit = limit.or(is_over.then_some(Limit::Instructions));
            }
            if let Some(limit) = limit {
                self.halt.end(limit);
            }
            collector.progress(now);
            while limit.is_none()
                && !queue.is_empty()
                && let Some(worker) = idle.pop()
            {
                let share = queue.len().div_ceil(idle.len() + 1);
                self.ask(worker, Request::Explore(queue.drain(..share).collect()));
            }
            if idle.len() == count as usize {
                break;
            }
            self.demand.waiting.store(if queue.is_empty() { idle.len() } else { 0 }, Ordering::Relaxed);
            match self.events.recv_timeout(LOOK) {
                Ok((worker, event)) => match event {
                    Event::Ended(report) => collector.ended(worker, *report),
                    Event::Interim(interim) => {
                        pending[worker as usize] = interim.pending;
                        collector.due(now);
                        collector.interim(worker, *interim);
                    }
                    Event::Jobs(jobs) => queue.extend(jobs),
                    Event::Idle(Explored { outcome, pending: left }) => {
                        pending[worker as usize] = left;
                        if let Outcome::Stopped(by) = outcome {
                            is_whole = false;
                            limit = limit.or(Some(by));
                        }
                        idle.push(worker);
                    }
                    Event::Failed(error) => return Err(error),
                    Event::Ready { .. } | Event::Rest(_) | Event::Closed(_) | Event::Findings(..) | Event::Kept => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            }
        }
        // A limit that was met when nothing was left any more has left out nothing.
        let limit = limit.filter(|_| !is_whole || !queue.is_empty());
        self.close(collector, limit, pending.iter().sum::<usize>(), queue)
    }

    /// Ends the exploration: all workers wait.
    fn close(&mut self, collector: &mut Collector, limit: Option<Limit>, pending: usize, queue: VecDeque<Job>) -> Result<()> {
        let count = self.requests.len() as u32;
        let pending = (pending + queue.len()) as u64;
        crate::budget::ends();
        let rest = collector.has_time_for(pending);
        (0..count).for_each(|worker| self.ask(worker, Request::End { rest }));
        let (mut closed, mut all, mut said): (u32, Vec<(u32, Rest)>, Option<Ends>) = (0, Vec::new(), None);
        while closed < count {
            match self.events.recv() {
                Ok((worker, Event::Interim(interim))) => collector.interim(worker, *interim),
                Ok((worker, Event::Rest(rest))) => all.push((worker, *rest)),
                Ok((_, Event::Closed(ends))) => {
                    closed += 1;
                    match &mut said {
                        Some(said) => said.add(*ends),
                        None => said = Some(*ends),
                    }
                }
                Ok((_, Event::Failed(error))) => return Err(error),
                Ok(_) => {}
                Err(_) => return Err(lost()),
            }
        }
        collector.explored(limit.map_or(Outcome::Complete, Outcome::Stopped), pending, said.unwrap_or_default());
        all.into_iter().for_each(|(worker, rest)| collector.rest(worker, rest));
        if rest && !queue.is_empty() {
            let row = |(row, job): (i64, Job)| (row, wryneck_exec::prefix::encode(&job.prefix), job.encode_input());
            // Rows that no worker has.
            let new = (1..).map(|n: i64| -n).zip(queue).map(row).collect();
            collector.more_rest(Changes { gone: Vec::new(), new, no_longer_deferred: Vec::new(), deferred: Vec::new() });
        }
        collector.save();
        Ok(())
    }

    /// Has each worker do something with its findings.
    fn after(&mut self, collector: &mut Collector, request: fn(Vec<(u32, Finding)>) -> Request) {
        let count = self.requests.len() as u32;
        (0..count).for_each(|worker| self.ask(worker, request(collector.findings_of(worker))));
        let mut done = 0;
        while done < count {
            match self.events.recv() {
                Ok((worker, Event::Findings(findings, given_up))) => {
                    collector.given_up.extend(given_up);
                    collector.set_findings(worker, findings);
                    done += 1;
                }
                // Findings stay as they are.
                Ok((_, Event::Failed(_))) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    fn keep(&mut self) {
        self.ask(0, Request::Keep);
        while let Ok((_, event)) = self.events.recv() {
            if matches!(event, Event::Kept | Event::Failed(_)) {
                return;
            }
        }
    }
}

fn lost() -> anyhow::Error {
    problem("a worker broke down", "this is a defect of wryneck, please report it with the lines above")
}

/// The life of a worker on its thread.
fn be_worker(work: &Work, count: u32, mut told: Told, requests: &Receiver<Request>) {
    allocator::may_be_held();
    let number = told.number;
    let made = Prepared::new(&work.plan, &work.host).and_then(|prepared| Worker::new(prepared, work.place(number, count)));
    let mut worker = match made {
        Ok(worker) => worker,
        Err(error) => return told.send(Event::Failed(error)),
    };
    told.send(Event::Ready { notes: worker.notes.clone(), rules: worker.rules() });
    let mut has_begun = false;
    while let Ok(request) = requests.recv() {
        let mut begin = |worker: &mut Worker, earlier| if std::mem::replace(&mut has_begun, true) { Ok(()) } else { worker.begin(earlier) };
        match request {
            Request::Begin(earlier) => match begin(&mut worker, earlier.map(|earlier| *earlier)) {
                Ok(()) => {
                    let explored = worker.explore(&mut told);
                    told.send(Event::Idle(explored));
                }
                Err(error) => told.send(Event::Failed(error)),
            },
            Request::Explore(jobs) => match begin(&mut worker, None) {
                Ok(()) => {
                    worker.take(jobs);
                    let explored = worker.explore(&mut told);
                    told.send(Event::Idle(explored));
                }
                Err(error) => told.send(Event::Failed(error)),
            },
            Request::End { rest } => {
                let ends = worker.ends();
                worker.tell(&mut told, rest);
                told.send(Event::Closed(Box::new(ends)));
            }
            Request::Trace(mut findings) => {
                let given_up = worker.trace(&mut findings);
                told.send(Event::Findings(findings, given_up));
            }
            Request::Judge(mut findings) => {
                worker.judge(&mut findings);
                told.send(Event::Findings(findings, None));
            }
            Request::Keep => {
                worker.keep();
                told.send(Event::Kept);
            }
        }
    }
}

/// The collector's side as a worker on a thread sees it.
struct Told {
    number: u32,
    events: Sender<(u32, Event)>,
    demand: Arc<Demand>,
    halt: Halt,
    /// When it tells again what it knows, and which lines are covered.
    next: Instant,
    next_lines: Instant,
}

impl Told {
    fn send(&self, event: Event) {
        // Where nobody listens any more, the run is over.
        let _ = allocator::undisturbed(|| self.events.send((self.number, event)));
    }
}

impl Sink for Told {
    fn stop(&mut self, _: usize) -> Option<Limit> {
        self.halt.ends_by()
    }

    fn due(&mut self) -> Option<Due> {
        let now = Instant::now();
        (now >= self.next).then(|| {
            self.next = now + TELL;
            let lines = now >= self.next_lines;
            if lines {
                self.next_lines = now + LINES;
            }
            Due { lines }
        })
    }

    fn interim(&mut self, interim: Interim) {
        self.send(Event::Interim(Box::new(interim)));
    }

    fn ended(&mut self, report: PathReport) {
        self.send(Event::Ended(Box::new(report)));
    }

    fn keeps_rest(&self) -> bool {
        false
    }

    fn rest(&mut self, rest: Rest) {
        self.send(Event::Rest(Box::new(rest)));
    }

    fn wanted(&mut self) -> usize {
        // Asked after each path: most often nobody waits, and then the others' caches stay as they are.
        match self.demand.waiting.load(Ordering::Relaxed) {
            0 => 0,
            _ => TOGETHER * self.demand.waiting.swap(0, Ordering::Relaxed),
        }
    }

    fn hand_out(&mut self, jobs: Vec<Job>) {
        if !jobs.is_empty() {
            self.send(Event::Jobs(jobs));
        }
    }
}
