//! What a worker notes while paths run, and what it tells of them: from the engine's results to plain data.
//!
//! Cost per path end: an entry in a map where it showed something wrong. Inputs are read out of the model only where the path may leave a test.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHasher;
use serde_json::json;
use wryneck_environ::{STDOUT, World};
use wryneck_exec::prefix::PrefixId;
use wryneck_exec::{Control, Core, Ended, Explorer, FaultKind, Job, Leak, Limit, PathEnd};
use wryneck_report::{Class, InputValue, Object, Totals};
use wryneck_solver::Stop;

use crate::coverage::LineMap;
use crate::decided::Decisions;
use crate::halt::Halt;
use crate::left::{Covered, Left};
use crate::path_tree::PathTree;
use crate::plan::Emit;
use crate::report::{Interim, Outline, PathReport, Rest, RulesSoFar, Shown};
use crate::results::{self, Defect, Seen};
use crate::rules::Rules;
use crate::seeds::Seeds;
use crate::usage;

/// Most bytes of standard output that a test records, to be compared by a replay.
const MOST_OUTPUT: usize = 1 << 16;

/// What is to be told now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Due {
    /// With lines and functions whose coverage is new.
    pub lines: bool,
}

/// Where a worker's results go.
pub trait Sink {
    /// Whether the exploration is to end, and why. Asked often, and before [`Sink::due`].
    fn stop(&mut self, pending: usize) -> Option<Limit>;
    /// Whether the worker is to tell what it knows ([`Sink::interim`]).
    fn due(&mut self) -> Option<Due>;
    fn interim(&mut self, interim: Interim);
    fn ended(&mut self, report: PathReport);
    /// Whether what is left is to be told from time to time. If so, a worker tells what it knows first.
    fn keeps_rest(&self) -> bool;
    fn rest(&mut self, rest: Rest);
    /// How many jobs others wait for.
    fn wanted(&mut self) -> usize {
        0
    }
    fn hand_out(&mut self, _: Vec<Job>) {}
}

/// What a worker notes.
pub struct Recorder {
    pub seen: Seen,
    pub lines: LineMap,
    pub rules: Option<Rules>,
    /// The paths that ended, if somebody asks for all of them.
    pub tree: Option<PathTree>,
    pub seeds: Seeds,
    pub left: Left,
    pub solver_time: Rc<Cell<Duration>>,
    /// For one query.
    pub solver_timeout: Option<Duration>,
    pub emit: Emit,
    /// Paths of an earlier run that are run again.
    pub again: BTreeSet<PrefixId>,
    pub halt: Halt,
    /// Whether other workers have to know blocks and sides by name, and those that they know of this one.
    pub names_blocks: bool,
    pub named: Vec<u8>,
    pub named_sides: usize,
}

impl Recorder {
    /// What is known so far.
    pub fn interim(&mut self, core: &Core, pending: usize, due: Due) -> Interim {
        if due.lines {
            self.lines.grow(&core.image);
        }
        Interim {
            totals: self.totals(core),
            solver: self.solver_time.get(),
            pending,
            ledger: results::ledger(&core.ledger, &[]),
            short_of_memory: core.stats.snapshots_given_up > 0,
            share: self.lines.share(&core.coverage),
            lines: due.lines.then(|| {
                let (lines, functions) = self.lines.news(&core.coverage);
                (self.lines.count(&core.coverage), lines, functions)
            }),
        }
    }

    fn totals(&self, core: &Core) -> Totals {
        let solver = core.solver.stats();
        Totals {
            paths: core.stats.paths,
            instructions: core.stats.instructions,
            decisions: core.stats.decisions,
            tests: 0,
            queries: solver.queries,
            solver_calls: solver.solver_calls,
            solver_seconds: self.solver_time.get().as_secs_f64(),
            memory: usage::peak(),
            inputs: None,
        }
    }

    /// What is left, as changes since the last time.
    pub fn rest(&mut self, explorer: &Explorer) -> Rest {
        let core = &explorer.core;
        Rest {
            changes: self.left.changes(explorer),
            rules: self.rules.as_ref().map_or_else(RulesSoFar::default, |rules| rules.so_far(explorer)),
            covered: Covered::of(core),
        }
    }

    fn report(&mut self, core: &Core, ended: &Ended) -> PathReport {
        let id = ended.prefix.id();
        let again = self.again.remove(&id);
        self.seeds.ended(ended);
        let (class, what) = results::class(&ended.end);
        let fault = match &ended.end {
            PathEnd::Fault(fault) => Some(Defect::fault(fault, &ended.call_stack)),
            PathEnd::Exit(_) | PathEnd::Unsupported(_) | PathEnd::Limit(_) | PathEnd::Assumed | PathEnd::Internal(_) => None,
        };
        let leaks = ended.leaks.iter().map(|leak| Defect::fault(&leak.fault, &leak.stack));
        if let Some(tree) = &mut self.tree {
            tree.add(ended, self.rules.as_ref().and_then(|rules| rules.events(ended)));
        }
        let violations = self.rules.as_mut().map_or(Vec::new(), |rules| match again {
            false => rules.ended(core, ended),
            true => rules.ended_again(core, ended),
        });
        let survived = ended.survived.iter().map(|s| Defect::fault(&s.fault, &s.stack));
        let all = survived.chain(fault).scan(false, |behind, defect| {
            let is_guess = std::mem::replace(behind, *behind || *defect.id != *FaultKind::Panic.id());
            Some(if is_guess { defect.behind_another() } else { defect })
        });
        let shown: Vec<Shown> = all.chain(leaks).chain(violations).map(|defect| self.seen.add(core, defect, ended)).collect();
        let is_first = shown.iter().any(|shown| shown.first.is_some());
        let may_emit = match self.emit {
            Emit::New => is_first || ended.covers_new && ended.end != PathEnd::Assumed,
            Emit::All => ended.end != PathEnd::Assumed,
            Emit::None => false,
        };
        let may_emit = may_emit || ended.reached.is_some();
        PathReport {
            id,
            class,
            cut: matches!(ended.end, PathEnd::Limit(Limit::Time | Limit::Memory | Limit::Disk | Limit::Interrupted | Limit::Goal)),
            instructions: ended.instructions,
            depth: ended.prefix.len(),
            inputs: ended.inputs.len() as u64,
            approximated: ended.approximated.is_some(),
            reached: ended.reached,
            covers_new: ended.covers_new,
            entered: if ended.covers_new && self.names_blocks { self.entered(core) } else { Vec::new() },
            shown,
            decisions: (may_emit || is_first).then(|| Decisions::of(&core.image, &ended.prefix)),
            test: may_emit.then(|| outline(core, ended, class, &what)),
            what,
        }
    }

    /// The names of the blocks that were entered, and of the sides that were taken, since the last time: a block's number, or in machine code its address, with
    /// the highest bit set; of a side a hash of where it begins and leads, with the next bit. So they are the same for all workers, whatever they lifted first.
    fn entered(&mut self, core: &Core) -> Vec<u64> {
        self.named.resize(core.coverage.len(), 0);
        let machine = self.seen.machine.as_ref().map(|machine| machine.borrow());
        let address = |func: u32, inst: u32| machine.as_ref().filter(|_| core.image.is_machine_code(func))?.address_of(inst);
        let of_block = |block: u32| {
            let (func, index) = core.image.block_owner(block);
            let (module, f) = core.image.function(func);
            let address = address(func, module.blocks.range(f.blocks)[index as usize].insts.first);
            address.map_or(u64::from(block), |address| address | 1 << 63)
        };
        let mut names = Vec::new();
        for (block, (covered, named)) in (0..).zip(core.coverage.iter().zip(&mut self.named)) {
            if *covered == *named {
                continue;
            }
            *named = *covered;
            names.push(of_block(block));
        }
        let sides = core.sides.by_paths();
        for &(from, to) in &sides[std::mem::replace(&mut self.named_sides, sides.len())..] {
            let begins = address(from.func, core.image.code(from.func).first_inst + from.op).unwrap_or(from.op.into());
            let mut hash = FxHasher::default();
            (from.func, begins, of_block(to)).hash(&mut hash);
            names.push(hash.finish() >> 2 | 1 << 62);
        }
        names
    }
}

/// A path's test.
fn outline(core: &Core, ended: &Ended, class: Class, what: &str) -> Box<Outline> {
    let object = |i: InputValue| Object { name: i.name.into_bytes(), bytes: i.bytes };
    let objects = results::inputs(ended).into_iter().map(object).collect();
    let mut about =
        json!({ "class": class.name(), "what": what, "instructions": ended.instructions, "approximated": ended.approximated.is_some() });
    if let Some(what) = &ended.approximated {
        about["assumed"] = (**what).into();
    }
    if ended.unwritten_input {
        about["unwritten_input"] = true.into();
    }
    if ended.threads {
        about["threads"] = true.into();
    }
    if let Some(order) = &ended.order {
        about["order"] = json!({ "first": order.first, "count": order.count, "sliced": order.sliced });
    }
    let fault = match &ended.end {
        PathEnd::Fault(fault) => Some((fault, &ended.call_stack)),
        _ => None,
    };
    // A native run may do anything after the first fault, but for a panic, which unwinds.
    let survived = ended.survived.iter().find(|s| s.fault.kind != FaultKind::Panic).map(|s| (&s.fault, &s.stack));
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
    if let Some(world) = World::left_by(ended.data.environment()) {
        if world.handles_faults() {
            about["handles_faults"] = true.into();
        }
        let stdout = world.written(STDOUT, &core.pool, &ended.model);
        if stdout.len() <= MOST_OUTPUT {
            about["stdout"] = json!(stdout);
        }
    }
    Box::new(Outline { objects, about })
}

/// A recorder at work, which tells a sink.
pub struct Telling<'a> {
    pub recorder: &'a mut Recorder,
    pub sink: &'a mut dyn Sink,
}

impl Control for Telling<'_> {
    fn stop(&mut self, core: &Core, pending: usize) -> Option<Limit> {
        let stop = self.sink.stop(pending);
        if stop.is_none()
            && let Some(due) = self.sink.due()
        {
            let interim = self.recorder.interim(core, pending, due);
            self.sink.interim(interim);
        }
        stop
    }

    fn ended(&mut self, core: &mut Core, mut ended: Ended) {
        // The path saw the signal, and not whose it was.
        if let (PathEnd::Limit(Limit::Interrupted), Some(limit)) = (&ended.end, self.recorder.halt.ends_by()) {
            ended.end = PathEnd::Limit(limit);
        }
        let report = self.recorder.report(core, &ended);
        self.sink.ended(report);
    }

    fn between(&mut self, explorer: &mut Explorer) {
        // An audit only adds to what is complete.
        if self.sink.keeps_rest() && !explorer.core.auditing && self.recorder.left.is_due(Instant::now()) {
            let interim = self.recorder.interim(&explorer.core, explorer.pending(), Due::default());
            self.sink.interim(interim);
            let rest = self.recorder.rest(explorer);
            self.sink.rest(rest);
        }
        let wanted = self.sink.wanted();
        if wanted > 0 {
            let jobs = explorer.hand_out(wanted.min(explorer.pending() / 2));
            self.sink.hand_out(jobs);
        }
    }

    fn memory_used(&mut self) -> u64 {
        usage::memory()
    }

    fn memory_trimmed(&mut self) -> u64 {
        usage::memory_trimmed()
    }

    fn end_signal(&mut self) -> Stop {
        self.recorder.halt.signal(None)
    }

    fn solver_stop(&mut self) -> Stop {
        self.recorder.halt.signal(self.recorder.solver_timeout)
    }
}
