//! The exploration as the command controls it: clock, memory and Ctrl-C as inputs, path ends as outputs.
//!
//! Cost per path end: counting it, and a message to the writer thread. Reading the clock costs 25 ns, reading memory use 20 µs (every
//! tenth of a second).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use wryneck_environ::{STDOUT, World};
use wryneck_exec::{Control, Core, Ended, Leak, Limit, PathEnd};
use wryneck_report::{Class, KTest, LedgerRow, Object};
use wryneck_solver::Stop;

use crate::args::Emit;
use crate::coverage::LineMap;
use crate::folder::{Folder, PathRow, Test};
use crate::host::HostRead;
use crate::path_tree::PathTree;
use crate::progress::{self, Numbers, Progress};
use crate::results::{self, Defect, Ends, Findings};
use crate::rules::Rules;
use crate::signal;

/// Between looks at memory.
const MEMORY: Duration = Duration::from_millis(100);
/// Between writings of findings, ledger and coverage.
const SAVE: Duration = Duration::from_secs(3);

/// Most bytes of standard output that a test records, to be compared by a replay.
const MOST_OUTPUT: usize = 1 << 16;

/// What the command watches and keeps while paths run.
pub struct Watch {
    pub folder: Folder,
    pub ends: Ends,
    pub findings: Findings,
    pub lines: LineMap,
    pub tests: u64,
    /// Most resident memory seen, in bytes.
    pub memory: u64,
    /// Symbolic inputs of the path that had most.
    pub inputs: u64,
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
    pub solver_time: Rc<Cell<Duration>>,
    pub next_memory: Instant,
    /// Bytes at the last look.
    pub last_memory: u64,
    pub next_save: Instant,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub deadline: Option<Instant>,
    /// Bytes.
    pub memory: u64,
    /// For one query.
    pub solver: Option<Duration>,
}

impl Watch {
    pub fn save(&mut self, core: &Core) {
        self.folder.host_reads(std::mem::take(&mut self.host.borrow_mut()));
        self.folder.state(self.findings.all.clone(), self.ledger(core));
        self.lines.grow(&core.image);
        let (lines, functions) = self.lines.news(&core.coverage);
        self.folder.coverage(lines, functions);
    }

    /// The ledger so far.
    pub fn ledger(&self, core: &Core) -> Vec<LedgerRow> {
        results::ledger(&core.ledger, &self.notes)
    }

    /// Writes what is known at the end.
    pub fn finish(&mut self, core: &Core) {
        self.progress.done();
        self.memory = self.memory.max(progress::memory());
        self.save(core);
    }

    fn look_at_memory(&mut self, now: Instant) -> Option<Limit> {
        if now < self.next_memory {
            return None;
        }
        self.next_memory = now + MEMORY;
        let memory = progress::memory();
        self.last_memory = memory;
        self.memory = self.memory.max(memory);
        (memory > self.limits.memory).then_some(Limit::Memory)
    }

    fn test(&mut self, core: &Core, ended: &Ended, class: Class, what: &str) -> Box<Test> {
        self.tests += 1;
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
        let prefix = wryneck_exec::prefix::encode(&ended.prefix.to_vec());
        Box::new(Test { number: self.tests, ktest: KTest { args: self.args.clone(), objects }, about, prefix })
    }
}

impl Control for Watch {
    fn stop(&mut self, core: &Core, pending: usize) -> Option<Limit> {
        let now = Instant::now();
        if signal::interrupted() || self.folder.has_failed() {
            return Some(Limit::Interrupted);
        }
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Limit::Time);
        }
        if let Some(limit) = self.look_at_memory(now) {
            return Some(limit);
        }
        if now >= self.next_save {
            self.next_save = now + SAVE;
            self.save(core);
        }
        let numbers = || Numbers {
            paths: core.stats.paths,
            findings: self.findings.all.len(),
            instructions: core.stats.instructions,
            coverage: self.lines.share(&core.coverage),
            pending,
            solver: self.solver_time.get(),
            memory: self.memory,
        };
        self.progress.update(now, numbers);
        None
    }

    fn ended(&mut self, core: &mut Core, ended: Ended) {
        self.inputs = self.inputs.max(ended.inputs.len() as u64);
        let (class, what) = results::class(&ended.end);
        self.ends.add(class, &what);
        let fault = match &ended.end {
            PathEnd::Fault(fault) => Some(Defect::fault(fault, &ended.call_stack)),
            PathEnd::Exit(_) | PathEnd::Unsupported(_) | PathEnd::Limit(_) | PathEnd::Assumed | PathEnd::Internal(_) => None,
        };
        let leaks = ended.leaks.iter().map(|leak| Defect::fault(&leak.fault, &leak.stack));
        if let Some(tree) = &mut self.tree {
            tree.add(&ended, self.rules.as_ref().and_then(|rules| rules.events(&ended)));
        }
        let violations = self.rules.as_mut().map_or(Vec::new(), |rules| rules.ended(core, &ended));
        let survived = ended.survived.iter().map(|s| Defect::fault(&s.fault, &s.stack));
        let all = survived.chain(fault).enumerate().map(|(n, defect)| if n == 0 { defect } else { defect.behind_another() });
        let shown = all.chain(leaks).chain(violations);
        let found = shown.map(|defect| self.findings.add(core, defect, &ended));
        let first: Vec<usize> = found.filter(|(first, _)| *first).map(|(_, index)| index).collect();
        let emit = match self.emit {
            Emit::New => !first.is_empty() || ended.covers_new && ended.end != PathEnd::Assumed,
            Emit::All => ended.end != PathEnd::Assumed,
            Emit::None => false,
        };
        let test = emit.then(|| self.test(core, &ended, class, &what));
        if let Some(test) = &test {
            first.into_iter().for_each(|index| self.findings.set_test(index, test.number));
        }
        self.folder.path_ended(PathRow {
            class,
            what,
            instructions: ended.instructions,
            depth: ended.prefix.len(),
            covers_new: ended.covers_new,
            approximated: ended.approximated,
            test,
        });
    }

    fn memory_used(&mut self) -> u64 {
        self.look_at_memory(Instant::now());
        self.last_memory
    }

    fn end_signal(&mut self) -> Stop {
        let Some(deadline) = self.limits.deadline else { return Stop::when(signal::interrupted) };
        Stop::when(move || signal::interrupted() || Instant::now() >= deadline)
    }

    fn solver_stop(&mut self) -> Stop {
        let query = self.limits.solver.map(|time| Instant::now() + time);
        let Some(until) = [query, self.limits.deadline].into_iter().flatten().min() else {
            return Stop::when(signal::interrupted);
        };
        Stop::when(move || signal::interrupted() || Instant::now() >= until)
    }
}
