//! The exploration of one function as the command controls it: the clock, and path ends as findings.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wryneck_exec::{Control, Core, Ended, Explorer, Limit, PathEnd};
use wryneck_probe::condition;
use wryneck_probe::harness::{self, Function};
use wryneck_probe::shape::{Param, Shape};
use wryneck_probe::told::{self, Calls, Null};
use wryneck_probe::{Inputs, Verdict};
use wryneck_solver::Stop;

use super::outcome::{Finding, Grade, Native, Place};
use crate::names::matches;
use crate::results::{self, Defect};
use crate::rules::Rules;
use crate::{child, signal, watchdog};

/// Conditions of a precondition that are shown.
const CONDITIONS: usize = 24;
/// Findings of one function that are kept.
const MOST: usize = 400;

/// A finding that is kept.
struct Kept {
    finding: Finding,
    /// The uses of a null pointer that make it a must error as long as no path uses a valid pointer there. `None`: it is one anyhow.
    nulls: Option<Vec<Null>>,
}

/// What is collected of one function's paths.
pub struct Collector<'a> {
    pub function: &'a str,
    pub params: &'a [Param],
    pub deadline: Instant,
    /// Paths without new code or findings after which the exploration ends.
    pub most_stale: u64,
    stale: u64,
    /// Processor time without such after which it ends, and when the latest came.
    pub most_stale_time: Duration,
    news: Duration,
    /// The least sure findings that are kept.
    pub least: Grade,
    pub rules: Option<Rules>,
    /// Whether the program defines a function.
    pub defined: &'a dyn Fn(&str) -> bool,
    kept: Vec<Kept>,
    pub calls: Rc<Calls>,
    by_place: BTreeMap<(String, Vec<Place>), usize>,
    pub bounded: BTreeMap<String, u64>,
    pub unsupported: BTreeMap<String, u64>,
    pub complete: u64,
    pub branches: BTreeMap<u64, u64>,
    /// What callers guarantee, for the ledgers of findings.
    pub contracts: Vec<String>,
    pub havocked: u64,
    /// Patterns of functions whose calls are skipped, and whether some path has skipped one.
    pub skips: &'a [String],
    pub skipped_by_name: bool,
}

impl<'a> Collector<'a> {
    pub fn new(
        function: &'a str,
        params: &'a [Param],
        deadline: Instant,
        least: Grade,
        defined: &'a dyn Fn(&str) -> bool,
    ) -> Collector<'a> {
        Collector {
            function,
            params,
            deadline,
            most_stale: u64::MAX,
            stale: 0,
            most_stale_time: Duration::MAX,
            news: child::processor_time(),
            least,
            rules: None,
            defined,
            kept: Vec::new(),
            calls: Rc::default(),
            by_place: BTreeMap::new(),
            bounded: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            complete: 0,
            branches: BTreeMap::new(),
            contracts: Vec::new(),
            havocked: 0,
            skips: &[],
            skipped_by_name: false,
        }
    }

    fn finding(&self, core: &Core, defect: &Defect<'_>, ended: &Ended, verdict: &Verdict, grade: Grade, stack: Vec<Place>) -> Finding {
        let shape = Shape::of(ended, &core.pool, self.params);
        let title = format!("{}: {} in {}", defect.id, defect.message, self.function);
        let function = Function { name: self.function, params: self.params };
        let mut ledger: Vec<String> = Vec::new();
        if let Some(inputs) = ended.data.inputs().as_any().downcast_ref::<Inputs>() {
            ledger.extend(inputs.skipped.iter().map(|call| format!("skipped: `{}`", call.name)));
            ledger.extend(inputs.loops.iter().map(|skipped| format!("skipped: the loop at {}", skipped.place)));
            ledger.extend(inputs.assumed.iter().map(|assumed| format!("assumed: {}", assumed.why)));
            ledger.extend(inputs.bounded.iter().map(|what| format!("bounded: {what}")));
        }
        ledger.extend(self.contracts.iter().map(|contract| format!("contract: {contract}")));
        ledger.sort();
        ledger.dedup();
        Finding {
            kind: defect.id.to_string(),
            cwe: defect.cwe,
            grade,
            message: defect.message.clone(),
            stack,
            why: verdict.why.clone(),
            inputs: shape.lines(self.params),
            precondition: condition::precondition(ended, &verdict.constraints, &core.pool, CONDITIONS),
            ledger,
            harness: harness::text(&shape, &function, &title, self.defined),
            native: Native::NotRun("not asked for".into()),
            paths: 1,
            seen_from: vec![self.function.to_owned()],
        }
    }

    fn add(&mut self, core: &Core, defect: &Defect<'_>, ended: &Ended, is_of_rule: bool) {
        let inputs = ended.data.inputs().as_any().downcast_ref::<Inputs>();
        let Some(mut verdict) = inputs.and_then(|inputs| inputs.verdict.clone()) else { return };
        // What a skipped loop allocates, locks or loses is not known.
        if let Some(skipped) = inputs.and_then(|inputs| inputs.loops.first()).filter(|_| is_of_rule) {
            verdict.grade = wryneck_probe::Grade::May;
            verdict.why.push(format!("the loop at {} was left out", skipped.place));
        }
        let grade = match verdict.grade {
            wryneck_probe::Grade::Must => Grade::Must,
            wryneck_probe::Grade::May => Grade::May,
        };
        if grade > self.least {
            return;
        }
        let place = |p: wryneck_report::Place| Place { file: p.file, line: p.line, function: p.function };
        let stack: Vec<Place> = results::stack(&core.image, defect.at).into_iter().map(place).collect();
        let key = (defect.id.to_string(), vec![stack[0].clone()]);
        match self.by_place.get(&key) {
            Some(&index) => {
                let (kept, is_must) = (&self.kept[index], grade == Grade::Must);
                let paths = kept.finding.paths + 1;
                if grade < kept.finding.grade || is_must && verdict.null.is_none() && kept.nulls.is_some() {
                    self.kept[index].finding = self.finding(core, defect, ended, &verdict, grade, stack);
                }
                let kept = &mut self.kept[index];
                kept.finding.paths = paths;
                match (verdict.null, &mut kept.nulls) {
                    (Some(null), Some(all)) if is_must && !all.contains(&null) => all.push(null),
                    (None, nulls) if is_must => *nulls = None,
                    _ => {}
                }
            }
            None if self.kept.len() < MOST => {
                self.note_news();
                self.by_place.insert(key, self.kept.len());
                let finding = self.finding(core, defect, ended, &verdict, grade, stack);
                let nulls = if grade == Grade::Must { verdict.null.map(|null| vec![null]) } else { Some(Vec::new()) };
                self.kept.push(Kept { finding, nulls });
            }
            None => {}
        }
    }

    /// The findings. Where a null pointer was used is compared with the other paths, all of which are known now.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        let graded = |mut kept: Kept| {
            let is_refuted = kept.nulls.is_some_and(|nulls| nulls.iter().all(|null| self.calls.refute(null)));
            if kept.finding.grade == Grade::Must && is_refuted {
                kept.finding.grade = Grade::May;
                kept.finding.why.push(told::CALLEE_ALONE.into());
            }
            kept.finding
        };
        let all = std::mem::take(&mut self.kept).into_iter().map(graded);
        all.filter(|finding| finding.grade <= self.least).collect()
    }

    /// Whether the latest paths have shown nothing new.
    pub fn is_stale(&self) -> bool {
        self.stale >= self.most_stale || child::processor_time().saturating_sub(self.news) >= self.most_stale_time
    }

    fn note_news(&mut self) {
        (self.stale, self.news) = (0, child::processor_time());
    }

    /// Blocks of the function under test that were entered, and all it has.
    pub fn blocks(explorer: &Explorer, function: &str) -> (u64, u64) {
        let image = &explorer.core.image;
        let all = 0..image.program.functions().len() as u32;
        let Some(func) = all.into_iter().find(|f| !image.is_library(*f) && image.name(*f) == function) else { return (0, 0) };
        let (first, count) = (image.first_block_of(func) as usize, image.function(func).1.blocks.count as usize);
        let entered = explorer.core.coverage.get(first..first + count).map_or(0, |marks| marks.iter().filter(|mark| **mark != 0).count());
        (entered as u64, count as u64)
    }
}

impl Control for Collector<'_> {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        if signal::interrupted() {
            return Some(Limit::Interrupted);
        }
        if Instant::now() >= self.deadline {
            return Some(Limit::Time);
        }
        // The caller names it by `is_stale`.
        if self.is_stale() {
            return Some(Limit::Interrupted);
        }
        watchdog::memory_is_over().then_some(Limit::Memory)
    }

    fn ended(&mut self, core: &mut Core, ended: Ended) {
        match ended.covers_new {
            true => self.note_news(),
            false => self.stale += 1,
        }
        match &ended.end {
            PathEnd::Exit(_) | PathEnd::Assumed => self.complete += 1,
            PathEnd::Fault(_) => {}
            PathEnd::Unsupported(what) | PathEnd::Internal(what) => *self.unsupported.entry(what.clone()).or_default() += 1,
            PathEnd::Limit(limit) => *self.bounded.entry(limit.name_and_flag().0.to_owned()).or_default() += 1,
        }
        if let Some(inputs) = ended.data.inputs().as_any().downcast_ref::<Inputs>() {
            *self.branches.entry(inputs.branches.len() as u64).or_default() += 1;
            let by_name = |name: &str| self.skips.iter().any(|pattern| matches(pattern, name));
            self.skipped_by_name |= inputs.skipped.iter().any(|call| by_name(&call.name));
            self.havocked += u64::from(!inputs.skipped.is_empty() || !inputs.loops.is_empty());
            if !matches!(ended.end, PathEnd::Limit(_)) {
                for what in inputs.bounded.iter() {
                    *self.bounded.entry(what.to_string()).or_default() += 1;
                }
            }
        }
        let violations = self.rules.as_mut().map_or(Vec::new(), |rules| rules.ended(core, &ended));
        for violation in violations {
            self.add(core, &violation, &ended, true);
        }
        if let PathEnd::Fault(fault) = &ended.end {
            self.add(core, &Defect::fault(fault, &ended.call_stack), &ended, false);
        }
    }

    fn memory_used(&mut self) -> u64 {
        watchdog::memory()
    }

    fn memory_trimmed(&mut self) -> u64 {
        watchdog::memory_trimmed()
    }

    fn end_signal(&mut self) -> Stop {
        let deadline = self.deadline;
        Stop::when(move || signal::interrupted() || watchdog::memory_is_over() || Instant::now() >= deadline)
    }

    fn solver_stop(&mut self) -> Stop {
        self.end_signal()
    }
}
