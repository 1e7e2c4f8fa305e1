//! Rules from the command line to verdicts: found by name or file, monitored along paths, judged at the end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use wryneck_exec::code::Callee;
use wryneck_exec::{Core, Ended, Explorer, Image, PathEnd, Pruner, Traced, Wanted, places};
use wryneck_ir::CodeSource;
use wryneck_report::{Pruning, RuleResult, Run, rules};
use wryneck_verify::checker::{Happened, Pointers};
use wryneck_verify::flow::{Broken, Events, Flow, Summaries, TooLarge};
use wryneck_verify::sequence::Occurred;
use wryneck_verify::slice::Explain;
use wryneck_verify::{Automata, Checker, MachineSlicer, Observed, Policy, Sequence, Slicer, builtin, rule_file};

use crate::left::SoFar;
use crate::problem::problem;
use crate::report::{RulesEnd, RulesSoFar};
use crate::results::Defect;
use crate::{data, facts};

/// The built-in rules of these names, and those in these files.
pub fn find(names: &[String]) -> Result<Vec<Rc<dyn Checker>>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let builtin = builtin::rules();
    let find = |name: &String| match builtin.iter().find(|rule| rule.about().id == *name) {
        Some(rule) => Ok(rule.clone()),
        None if Path::new(name).exists() => {
            let text = data::read_text(Path::new(name), data::RULES).with_context(|| format!("cannot read `{name}`"))?;
            let rule = rule_file::parse(&text).with_context(|| format!("`{name}` is no rule"))?;
            Ok(Rc::new(rule) as Rc<dyn Checker>)
        }
        None => {
            let ids: Vec<&str> = builtin.iter().map(|rule| rule.about().id.as_str()).collect();
            let help = format!("the built-in rules are {}; or give a file", ids.join(", "));
            Err(problem(format!("no rule is called `{name}`"), help))
        }
    };
    names.iter().map(find).collect()
}

/// The functions whose calls may be events of these rules.
pub fn functions(rules: &[Rc<dyn Checker>]) -> Vec<String> {
    let all: BTreeSet<&str> = rules.iter().flat_map(|rule| rule.functions()).collect();
    all.into_iter().map(str::to_owned).collect()
}

/// The built-in summaries of functions, and those in these files; with a fact that is broken on purpose, if one is named.
pub fn summaries(files: &[PathBuf], broken: Option<&str>) -> Result<Summaries> {
    let mut all = Summaries::builtin();
    for file in files {
        let text = data::read_text(file, data::RULES).with_context(|| format!("cannot read `{}`", file.display()))?;
        all.add_of_program(&text).with_context(|| format!("`{}` is no file of summaries", file.display()))?;
    }
    if let Some(text) = broken {
        let known = Broken::parse(text).is_some_and(|broken| all.break_fact(broken));
        ensure!(known, "there is no fact `{text}`");
    }
    Ok(all)
}

/// Which calls may be events of a run's rules.
struct ByRules {
    image: Rc<Image>,
    automata: Rc<Automata>,
    inside_libraries: bool,
}

impl Events for ByRules {
    fn may_be(&self, caller: u32, callee: Callee, by_pointer: bool) -> bool {
        // What a library calls by pointer, the program gave it.
        self.image.is_watched(callee) && (self.inside_libraries || by_pointer || !self.image.is_library(caller))
    }
    fn pointers(&self, callee: Callee) -> Option<Pointers> {
        // Calls that libraries make inside of what has a summary make pointers, too.
        if self.inside_libraries {
            return None;
        }
        self.automata.pointers(self.image.callee_name(callee), &|name| self.image.canonical(name).to_owned())
    }
}

/// What every verdict takes for granted; the first where no calls are made to fail.
const ASSUMED: [&str; 2] = [
    "allocation, output to streams and closing files do not fail (--fail-calls)",
    "no signal arrives but those that the program sends itself",
];

/// The rules of a run, and how many paths had to do with each.
pub struct Rules {
    pub automata: Rc<Automata>,
    inside_libraries: bool,
    /// Calls are made to fail.
    pub calls_fail: bool,
    /// By rule: a function whose calls are its events occurs in the program.
    occurs: Vec<bool>,
    relevant: Vec<u64>,
    /// What the run knew that this one goes on with.
    earlier: SoFar,
    /// By rule: a path without an event has to do with it too, since the program could have made one.
    without: Vec<bool>,
    /// The distinct sequences of events of paths that the program ended, by hash.
    sequences: BTreeMap<u128, Sequence>,
    /// Those that pruning lost: where the audited flip branches off, in words.
    lost: Vec<(u128, String)>,
}

impl Rules {
    pub fn new(rules: Vec<Rc<dyn Checker>>, policy: Policy, image: &Image, machine_code: bool) -> Rules {
        let relevant = vec![0; rules.len()];
        let automata = Rc::new(Automata::new(rules, policy, &|name| image.canonical(name).to_owned()));
        let inside_libraries = policy.inside_libraries;
        let without =
            automata.checkers().iter().zip(automata.may_happen(image, machine_code)).map(|(c, may)| may && c.wants_no_event()).collect();
        let occurs = automata.occurring(image);
        let (sequences, lost, earlier) = (BTreeMap::new(), Vec::new(), SoFar::default());
        Rules { relevant, earlier, without, occurs, calls_fail: false, inside_libraries, sequences, lost, automata }
    }

    /// Goes on with what an earlier run knew.
    pub fn go_on(&mut self, earlier: &SoFar) {
        self.relevant.iter_mut().zip(&earlier.relevant).for_each(|(relevant, before)| *relevant += before);
        self.earlier =
            SoFar { sequences: earlier.sequences.clone(), wanted: earlier.wanted, subsumed: earlier.subsumed, ..SoFar::default() };
    }

    /// What they came to so far.
    pub fn so_far(&self, explorer: &Explorer) -> RulesSoFar {
        let stats = &explorer.core.stats;
        RulesSoFar {
            relevant: self.relevant.clone(),
            sequences: self.lines(),
            wanted: self.earlier.wanted + stats.flips_wanted,
            subsumed: self.earlier.subsumed + stats.flips_subsumed,
        }
    }

    /// What they came to at the end.
    pub fn end(&self, explorer: &Explorer) -> RulesEnd {
        let about = self.automata.checkers().iter().map(|c| c.about()).zip(&self.occurs);
        RulesEnd {
            so_far: self.so_far(explorer),
            rules: about.map(|(rule, occurs)| (rule.id.clone(), rule.summary.clone(), *occurs)).collect(),
            pruning: self.pruning(explorer),
            calls_fail: self.calls_fail,
        }
    }

    /// The distinct sequences, those of earlier runs among them.
    fn lines(&self) -> BTreeSet<String> {
        self.sequences.values().map(|sequence| self.line(sequence)).chain(self.earlier.sequences.iter().cloned()).collect()
    }

    /// What says which flips can matter to these rules in a program that begins with `entry`, or with `main`; `kept`: where its facts are kept.
    pub fn slicer(
        &self,
        image: Rc<Image>,
        summaries: Summaries,
        entry: Option<&str>,
        kept: Option<&Path>,
        explain: Option<Explain>,
        checks: bool,
    ) -> Result<Rc<dyn Pruner>, TooLarge> {
        let events = ByRules { image: image.clone(), automata: self.automata.clone(), inside_libraries: self.inside_libraries };
        let flow = Flow::new(image, Box::new(events), summaries, entry, kept.and_then(facts::load))?;
        if let (Some(solution), Some(path)) = (flow.solved(), kept) {
            facts::save(solution, path);
        }
        Ok(Rc::new(Slicer::new(flow, explain, checks)))
    }

    /// The same of machine code, which comes from `code`.
    pub fn machine_slicer(&self, code: Rc<RefCell<dyn CodeSource>>, summaries: Summaries, explain: Option<Explain>) -> Rc<dyn Pruner> {
        Rc::new(MachineSlicer::new(code, summaries, self.inside_libraries, explain))
    }

    /// What the exploration came to for the rules.
    pub fn pruning(&self, explorer: &Explorer) -> Pruning {
        let sequences = if self.earlier.sequences.is_empty() { self.sequences.len() } else { self.lines().len() } as u64;
        let relevant = explorer.relevant();
        Pruning {
            sequences,
            relevant,
            redundant: relevant.map(|relevant| explorer.core.stats.paths - relevant),
            wanted: self.earlier.wanted + explorer.core.stats.flips_wanted,
            subsumed: self.earlier.subsumed + explorer.core.stats.flips_subsumed,
            never: explorer.unwanted().map(|count| count as u64),
            audited: explorer.core.stats.flips_audited,
            lost: self
                .lost
                .iter()
                .filter_map(|(hash, at)| Some(format!("{} (branch at {at})", self.line(self.sequences.get(hash)?))))
                .collect(),
        }
    }

    /// The events of a path that the program ended, in a line.
    pub fn events(&self, ended: &Ended) -> Option<String> {
        let observed = ended.data.monitor().as_any().downcast_ref::<Observed>()?;
        matches!(ended.end, PathEnd::Exit(_)).then(|| self.line(&observed.sequence))
    }

    fn line(&self, sequence: &Sequence) -> String {
        let event = |o: Occurred| {
            let rule = &self.automata.checkers()[o.rule as usize];
            format!("{}/{}#{}", rule.about().id, rule.event_name(o.event as usize), o.instance)
        };
        sequence.to_vec().into_iter().map(event).collect::<Vec<_>>().join(" ")
    }

    /// Counts a path that ended; what it did wrong.
    pub fn ended<'a>(&mut self, core: &Core, ended: &'a Ended) -> Vec<Defect<'a>> {
        self.see(core, ended, true)
    }

    /// What a path did wrong that an earlier run has counted.
    pub fn ended_again<'a>(&mut self, core: &Core, ended: &'a Ended) -> Vec<Defect<'a>> {
        self.see(core, ended, false)
    }

    fn see<'a>(&mut self, core: &Core, ended: &'a Ended, counts: bool) -> Vec<Defect<'a>> {
        let Some(observed) = ended.data.monitor().as_any().downcast_ref::<Observed>() else { return Vec::new() };
        let exits = matches!(ended.end, PathEnd::Exit(_));
        for ((relevant, events), without) in self.relevant.iter_mut().zip(&observed.events).zip(&self.without) {
            *relevant += u64::from(counts && (*events > 0 || exits && *without));
        }
        if exits {
            let hash = observed.sequence.hash();
            let is_first = self.sequences.insert(hash, observed.sequence.clone()).is_none();
            if is_first && core.auditing && !self.earlier.sequences.contains(&self.line(&observed.sequence)) {
                self.lost.push((hash, places::name(&core.image, core.audited)));
            }
        }
        let defect = |v: &'a wryneck_verify::Violation| {
            let rule = self.automata.checkers()[v.rule].about();
            let message = match v.trail.len() {
                0 | 1 => v.message.clone(),
                _ => format!("{}; its events: {}", v.message, trail(core, &v.trail)),
            };
            Defect { id: rules::kind(&rule.id).into(), cwe: rule.cwe, message, at: &v.stack, story: &v.trail }
        };
        observed.violations.iter().map(defect).collect()
    }

    /// For each rule its name, what must hold, and the paths that had to do with it so far.
    pub fn names(&self) -> Vec<(String, String, u64)> {
        let rules = self.automata.checkers().iter().map(|c| c.about()).zip(&self.relevant);
        rules.map(|(rule, relevant)| (rule.id.clone(), rule.summary.clone(), *relevant)).collect()
    }
}

impl RulesEnd {
    /// The verdict on each rule.
    pub fn judge(&self, run: &Run) -> Vec<RuleResult> {
        let assumptions = &ASSUMED[usize::from(self.calls_fail)..];
        let checked = self.rules.iter().zip(&self.so_far.relevant).map(|((id, summary, occurs), relevant)| wryneck_report::Checked {
            id,
            summary,
            relevant: *relevant,
            occurs: *occurs,
            assumptions,
        });
        checked.map(|rule| RuleResult::new(run, &rule)).collect()
    }

    /// Adds what another worker's rules came to.
    pub fn add(&mut self, other: RulesEnd) {
        self.so_far.add(other.so_far);
        let (own, its) = (&mut self.pruning, other.pruning);
        own.sequences = self.so_far.sequences.len() as u64;
        own.relevant = own.relevant.zip(its.relevant).map(|(a, b)| a + b);
        own.redundant = own.redundant.zip(its.redundant).map(|(a, b)| a + b);
        own.wanted += its.wanted;
        own.subsumed += its.subsumed;
    }
}

impl RulesSoFar {
    /// Adds what another worker's rules came to.
    pub fn add(&mut self, other: RulesSoFar) {
        self.relevant.resize(self.relevant.len().max(other.relevant.len()), 0);
        self.relevant.iter_mut().zip(&other.relevant).for_each(|(own, its)| *own += its);
        self.sequences.extend(other.sequences);
        self.wanted += other.wanted;
        self.subsumed += other.subsumed;
    }

    /// Writes the distinct sequences, a line each, sorted.
    pub fn write_sequences(&self, file: &Path) -> Result<()> {
        let lines: Vec<String> = self.sequences.iter().map(|line| format!("{line}\n")).collect();
        fs::write(file, lines.concat()).with_context(|| format!("cannot write `{}`", file.display()))
    }
}

/// Wants nothing of the paths that are recorded: what recording alone costs.
pub struct Unsliced;

impl Pruner for Unsliced {
    fn wanted(&self, _: &Traced<'_>) -> Result<Wanted, String> {
        Ok(Wanted { decisions: Vec::new(), settled: true, noted: false })
    }
}

fn trail(core: &Core, trail: &[Happened]) -> String {
    let event = |h: &Happened| {
        let stack = core.stacks.get(h.stack);
        let place = stack.iter().find(|pos| !places::in_library(&core.image, **pos)).or(stack.first());
        let place = place.map_or(String::new(), |pos| format!(" at {}", places::name(&core.image, *pos)));
        format!("{} by `{}`{place}", h.event, h.function)
    };
    trail.iter().map(event).collect::<Vec<_>>().join(", ")
}
