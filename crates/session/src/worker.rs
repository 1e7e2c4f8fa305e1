//! A worker: built from a plan inside its own thread, it owns pool, solver, image and explorer. It takes jobs and gives back plain data ([`crate::report`]).
//! It prints nothing and decides nothing about what is new.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, Result};
use wryneck_environ::{Linux, ProgramInput, Stdin};
use wryneck_exec::config::Uninit;
use wryneck_exec::plugin::Monitor;
use wryneck_exec::prefix::PrefixId;
use wryneck_exec::search::{self, Searcher};
use wryneck_exec::{Deferred, Explorer, Image, Job, LedgerKind, PathEnd, Pruner, Rest, Stop, globals};
use wryneck_expr::Pool;
use wryneck_ir::link::Program;
use wryneck_machine::MachineProgram;
use wryneck_report::{Finding, LedgerRow};
use wryneck_solver::Solver;
use wryneck_solver::backend::SmtlibProcess;
use wryneck_verify::Checker;
use wryneck_verify::flow::TooLarge;
use wryneck_verify::flow::fitting::{fitting_machine_code, is_referenced};
use wryneck_verify::slice::Explain;

use crate::coverage::LineMap;
use crate::halt::Halt;
use crate::host::{RealHost, Shared};
use crate::left::{Left, SoFar};
use crate::path_tree::PathTree;
use crate::plan::Plan;
use crate::problem::problem;
use crate::recorder::{Due, Recorder, Sink, Telling};
use crate::report::{Ends, Explored};
use crate::results::Seen;
use crate::rules::{self, Rules, Unsliced};
use crate::seeds::Seeds;
use crate::target::{Linked, Target};
use crate::timed::Timed;
use crate::{child, concrete, facts, goals, kept, machine, symbolic, usage, way};

/// Bytes of memory for each gate of a query: its nodes, clauses, and what CaDiCaL has for a variable, with as much again for everything else.
const PER_GATE: u64 = 2000;

/// A plan's program, linked, before it is in memory.
pub struct Prepared {
    plan: Plan,
    environment: Rc<Linux>,
    program: Program,
    entry: u32,
    /// The name of the function that begins, if it is not `main`.
    begins: Option<String>,
    code: Option<MachineProgram>,
    kept: Vec<PathBuf>,
    checkers: Vec<Rc<dyn Checker>>,
    seeds: Seeds,
    /// What the target was compiled to.
    pub bitcode: Option<PathBuf>,
    /// What the lowering left out, and other notes for the report.
    pub notes: Vec<String>,
    /// The input of the program, as far as it is known before it runs.
    pub input: ProgramInput,
}

impl Prepared {
    /// Compiles, lowers and links what the plan names. All workers of a run see one `host`.
    pub fn new(plan: &Plan, host: &Shared) -> Result<Prepared> {
        let checkers = rules::find(&plan.rules)?;
        let words = symbolic::parse(&plan.words)?;
        let mut input = program_input(plan)?;
        words.fill(&mut input);
        usage::works_on("preparing the target");
        let target = Target::open(plan, &mut input, &rules::functions(&checkers))?;
        let begins = input.entry.function().map(str::to_owned);
        let seeds = Seeds::read(plan, &input)?;
        let host = Rc::new(RealHost::of(plan.max_memory, host.clone()));
        input.uname = host.uname();
        input.user = RealHost::user();
        let environment = Rc::new(Linux::new(input.clone(), host));
        usage::works_on("linking");
        let Linked { program, entry, bitcode, code, kept, notes } = target.link(plan, &environment)?;
        let plan = plan.clone();
        Ok(Prepared { plan, environment, program, entry, begins, code, kept, checkers, seeds, bitcode, notes, input })
    }
}

/// What of a run a worker has to know beside its plan.
pub struct Place {
    pub halt: Halt,
    /// Its number, from 0, and how many there are.
    pub number: u32,
    pub of: u32,
    /// All paths are to be kept for [`Worker::write_tree`].
    pub keeps_tree: bool,
    /// Memory that its solver may have, in bytes.
    pub memory: u64,
}

/// What a run that goes on gives its worker.
pub struct Earlier {
    pub rest: Rest,
    pub so_far: SoFar,
    /// Lines that are covered.
    pub covered: BTreeSet<(String, u32)>,
}

/// An explorer of a plan.
pub struct Worker {
    explorer: Explorer,
    entry: u32,
    recorder: Recorder,
    code: Option<Rc<RefCell<MachineProgram>>>,
    kept: Vec<PathBuf>,
    slicer: Option<Rc<dyn Pruner>>,
    /// Of the search, for the report.
    pub notes: Vec<String>,
}

impl Worker {
    /// Puts a program into memory, ready to begin.
    pub fn new(prepared: Prepared, place: Place) -> Result<Worker> {
        let Prepared { plan, environment, program, entry, begins, mut code, kept, checkers, mut seeds, .. } = prepared;
        let (plan, begins, mut notes) = (&plan, begins.as_deref(), Vec::new());
        let mut pool = Pool::new();
        let mut image = Image::new(program, &*environment, &mut pool);
        if let Some(code) = &mut code {
            machine::map(plan, code, &mut image, &mut pool)?;
        }
        if plan.config.uninit == Uninit::SymbolicGlobals {
            let variables = code.as_ref().map_or_else(|| globals::zeroed(&image), |code| code.elf.without_bytes());
            globals::leave_unwritten(&mut image, &variables, &mut pool);
        }
        usage::works_on("the static analysis");
        let mut rules = (!checkers.is_empty()).then(|| Rules::new(checkers, plan.policy, &image, code.is_some()));
        rules.iter_mut().for_each(|rules| rules.calls_fail = plan.fail_calls > 0);
        let monitor = rules.as_ref().map(|rules| rules.automata.clone() as Rc<dyn Monitor>);
        let solver_time = Rc::new(Cell::new(Duration::ZERO));
        let lines = match &code {
            Some(code) => LineMap::of_machine_code(&image, &code.elf.lines()),
            None => LineMap::new(&image),
        };
        let mut search = searcher(plan, plan.search.as_ref().unwrap_or(&plan.config.search))?;
        if !seeds.is_empty() && plan.search.is_none() {
            search = search::after_seeds(search);
        }
        let aims = !plan.find.is_empty() || !plan.avoid.is_empty();
        let elf = code.as_ref().map(|code| &code.elf);
        let goals = aims.then(|| goals::resolve(plan, &image, elf, begins, &mut notes)).transpose()?;
        if !plan.find.is_empty() {
            search = search::to_goals(search);
        }
        // The exploration spares memory at half of what the run may have.
        let config = wryneck_exec::Config {
            max_memory: plan.max_memory / 2,
            machine_code: code.is_some(),
            alone: place.of == 1,
            // One value of bytes that were never written is a fault for all inputs, those too that differ in an earlier byte.
            compare_whole: plan.compare_whole && plan.config.uninit != Uninit::Report && plan.is_led(),
            ..plan.config.clone()
        };
        let solver = solver(plan, place.memory, solver_time.clone())?;
        let mut explorer = Explorer::new(image, pool, solver, environment, monitor, config, search);
        note_linker_defined(&mut explorer);
        let code = code.map(|code| Rc::new(RefCell::new(code)));
        explorer.core.code_source = code.clone().map(|code| code as _);
        let slicer = prune(plan, begins, rules.as_ref(), &mut explorer, &mut notes)?;
        if plan.search.is_none() && explorer.subsumes() {
            explorer.search_by(searcher(plan, &["subtrees".into()])?);
        }
        let borrowed = code.as_ref().map(|code| code.borrow());
        seeds.give(plan, borrowed.as_ref().map(|code| &code.elf), &mut explorer);
        drop(borrowed);
        if let Some(goals) = goals {
            usage::works_on("preparing the search for the goal");
            goals.give(&mut explorer)?;
        }
        let recorder = Recorder {
            seen: Seen::new(code.clone()),
            lines,
            rules,
            tree: place.keeps_tree.then(PathTree::default),
            seeds,
            left: Left::new(Instant::now(), place.number, place.of),
            solver_time,
            solver_timeout: plan.solver_timeout.map(Duration::from_secs_f64),
            emit: plan.emit,
            again: BTreeSet::new(),
            halt: place.halt,
            names_blocks: place.of > 1,
            named: Vec::new(),
            named_sides: 0,
        };
        Ok(Worker { explorer, entry, recorder, code, kept, slicer, notes })
    }

    /// By rule: its name, what must hold, and the paths that had to do with it so far.
    pub fn rules(&self) -> Vec<(String, String, u64)> {
        self.recorder.rules.as_ref().map_or(Vec::new(), Rules::names)
    }

    /// Puts the path from the root there, or what an earlier run left in its place.
    pub fn begin(&mut self, earlier: Option<Earlier>) -> Result<()> {
        usage::works_on("the exploration");
        match self.explorer.start(self.entry, |_| Ok(Vec::new())) {
            Ok(()) => {}
            Err(Stop::End(end)) => return Err(problem(format!("the program cannot begin: {}", end_text(&end)), "")),
            Err(Stop::Bind(_)) => return Err(problem("the program cannot begin: a pointer is unbound", "")),
            Err(Stop::Switch(_)) => return Err(problem("the program cannot begin: another process goes on", "")),
        }
        if let Some(Earlier { rest, so_far, covered }) = earlier {
            so_far.covered.restore(&mut self.explorer.core);
            self.recorder.lines.go_on(covered);
            self.recorder.rules.iter_mut().for_each(|rules| rules.go_on(&so_far));
            self.recorder.again = rest.ended.iter().map(|job| PrefixId::of(&job.prefix)).collect();
            self.explorer.adopt(rest);
        }
        Ok(())
    }

    /// Takes these jobs in place of what is pending.
    pub fn take(&mut self, jobs: Vec<Job>) {
        self.explorer.adopt(Rest { ended: Vec::new(), jobs, deferred: Deferred::default() });
    }

    /// Explores until nothing is left or the sink ends it.
    pub fn explore(&mut self, sink: &mut dyn Sink) -> Explored {
        let Worker { explorer, recorder, .. } = self;
        let outcome = explorer.explore(&mut Telling { recorder, sink });
        Explored { outcome, pending: explorer.pending() }
    }

    /// What there is to say when all is explored.
    pub fn ends(&mut self) -> Ends {
        let Worker { explorer, recorder, .. } = self;
        for what in recorder.rules.iter().flat_map(|rules| rules.automata.missed(&explorer.core.image)) {
            explorer.core.ledger.note(LedgerKind::UnsupportedOperation, format!("{what}, so events of a rule may be missed"));
        }
        Ends {
            notes: recorder.seeds.notes(explorer.seed_ends(), explorer.fuzzer.count()),
            rules: recorder.rules.as_ref().map(|rules| rules.end(explorer)),
        }
    }

    /// Tells what is known at the end, and what is left if that is asked for.
    pub fn tell(&mut self, sink: &mut dyn Sink, rest: bool) {
        let Worker { explorer, recorder, .. } = self;
        sink.interim(recorder.interim(&explorer.core, explorer.pending(), Due { lines: true }));
        if rest {
            sink.rest(recorder.rest(explorer));
        }
    }

    /// Runs the paths again that first showed these findings of its numbers, and adds their decisions. What was given up, since the run is over.
    pub fn trace(&mut self, findings: &mut [(u32, Finding)]) -> Option<LedgerRow> {
        way::trace(&mut self.explorer, &self.recorder.seen, findings)
    }

    /// Judges those of these findings of its numbers that no native run could.
    pub fn judge(&mut self, findings: &mut [(u32, Finding)]) {
        concrete::judge(&mut self.explorer, &self.recorder.seen, findings);
    }

    /// Writes the tree of paths, if it was kept. What was given up, since the run is over.
    pub fn write_tree(&mut self, file: &Path) -> Result<Option<LedgerRow>> {
        match &self.recorder.tree {
            Some(tree) => tree.write(file, &mut self.explorer),
            None => Ok(None),
        }
    }

    /// Why branches were kept or pruned, if the plan asks for that.
    pub fn explained(&self) -> Vec<String> {
        self.slicer.as_ref().map(|slicer| slicer.explained(&self.explorer.core.image)).unwrap_or_default()
    }

    /// Keeps in the cache what was lowered.
    pub fn keep(&self) {
        if let Some(code) = &self.code {
            kept::save(&code.borrow(), &self.kept);
        }
    }

    /// Leaves it as it is: taking it apart would take longer than many a run.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

fn searcher(plan: &Plan, names: &[String]) -> Result<Box<dyn Searcher>> {
    search::by_names(names, plan.config.seed).map_err(|name| problem(format!("no searcher is called `{name}`"), ""))
}

/// Has the exploration leave out what cannot matter to the rules, as the plan says.
fn prune(
    plan: &Plan,
    begins: Option<&str>,
    rules: Option<&Rules>,
    explorer: &mut Explorer,
    notes: &mut Vec<String>,
) -> Result<Option<Rc<dyn Pruner>>> {
    let (Some(pruning), Some(rules)) = (plan.prune, rules) else { return Ok(None) };
    if plan.config.keep_going > 0 {
        notes.push("paths go on behind faults, so nothing is pruned".into());
        return Ok(None);
    }
    // Where calls fail on demand, what the summaries assume does not hold.
    if plan.fail_calls > 0 {
        notes.push("calls are made to fail, so nothing is pruned".into());
        return Ok(None);
    }
    // What runs in another thread, and what a key's value points to, no static analysis follows.
    let makers = wryneck_environ::threads::MAKERS;
    let makes_threads = match &explorer.core.code_source {
        None => makers.iter().any(|name| is_referenced(&explorer.core.image.program, name)),
        Some(_) => files(plan).iter().any(|file| makers.iter().any(|name| has_symbol(file, name))),
    };
    if makes_threads {
        notes.push("the program makes threads or their keys, so nothing is pruned".into());
        return Ok(None);
    }
    // The walk over machine code knows what the functions do, not what the input does in their place.
    if explorer.core.code_source.is_some() && !symbolic::parse(&plan.words)?.calls.is_empty() {
        notes.push("results of calls are input, so nothing is pruned".into());
        return Ok(None);
    }
    if !plan.slices {
        explorer.prune(pruning, Rc::new(Unsliced));
        return Ok(None);
    }
    let explain = plan.explain.as_ref().map(|(file, line)| Explain::new(file, *line));
    let mut summaries = rules::summaries(&plan.summaries, plan.broken_fact.as_deref())?;
    let slicer = match &explorer.core.code_source {
        Some(code) => {
            let files = files(plan);
            fitting_machine_code(&|name| files.iter().any(|file| has_symbol(file, name)), &mut summaries);
            rules.machine_slicer(code.clone(), summaries, explain)
        }
        None => {
            let image = explorer.core.image.clone();
            let kept = facts::path(&image.program, &plan.summaries, begins).filter(|_| plan.broken_fact.is_none());
            match rules.slicer(image, summaries, begins, kept.as_deref(), explain, plan.checks) {
                Ok(slicer) => slicer,
                Err(TooLarge) => {
                    notes.push("it takes too long to say what the program's pointers may point to, so nothing is pruned".into());
                    return Ok(None);
                }
            }
        }
    };
    explorer.prune(pruning, slicer.clone());
    Ok(Some(slicer))
}

/// The contents of the files that are the program.
fn files(plan: &Plan) -> Vec<Vec<u8>> {
    std::iter::once(&plan.target).chain(&plan.objects).filter_map(|file| fs::read(file).ok()).collect()
}

/// Whether a name stands between zeros in a file, as in its tables of symbols.
fn has_symbol(file: &[u8], name: &str) -> bool {
    let name = [b"\0", name.as_bytes(), b"\0"].concat();
    file.windows(name.len()).any(|bytes| bytes == name)
}

fn end_text(end: &PathEnd) -> String {
    match end {
        PathEnd::Fault(fault) => fault.message.clone(),
        PathEnd::Exit(status) => format!("exit {status}"),
        PathEnd::Unsupported(what) | PathEnd::Internal(what) => what.clone(),
        PathEnd::Limit(limit) => format!("{} limit", limit.name_and_flag().0),
        PathEnd::Assumed => "an assumption does not hold".into(),
    }
}

/// What the program is given apart from its symbolic input.
fn program_input(plan: &Plan) -> Result<ProgramInput> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let stdin = match &plan.stdin {
        Some(file) => Stdin::Bytes(fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?),
        None => Stdin::Bytes(Vec::new()),
    };
    let here = env::current_dir().context("the working directory cannot be found")?;
    let name = plan.target.file_stem().unwrap_or(plan.target.as_os_str()).as_bytes().to_vec();
    Ok(ProgramInput {
        file: fs::canonicalize(&plan.target).unwrap_or_default().into_os_string().into_vec(),
        name,
        stdin,
        fail_calls: plan.fail_calls,
        working_directory: here.into_os_string().into_vec(),
        ..ProgramInput::default()
    })
}

fn solver(plan: &Plan, memory: u64, spent: Rc<Cell<Duration>>) -> Result<Solver> {
    SmtlibProcess::prepare_by(|command| child::bind(command, libc::SIGKILL));
    let gates = usize::try_from(memory / PER_GATE).unwrap_or(usize::MAX);
    let config = wryneck_solver::Config { graph_nodes: plan.solver.graph_nodes.min(gates), ..plan.solver.clone() };
    let row = wryneck_solver::backend::by_name(&plan.solver.backend)?;
    if let Some(tool) = row.program()
        && crate::build::on_path(tool, |tool| tool.is_file()).is_none()
    {
        return Err(problem(format!("the solver `{tool}` is not installed"), "install it, or leave out `--solver`"));
    }
    Ok(Solver::wrapped(config, &|inner| Box::new(Timed { inner, spent: spent.clone() }))?)
}

/// Symbols that a linker defines beside those of sections: ends of segments, and arrays of functions.
const LINKER_DEFINED: [&str; 15] = [
    "etext", "_etext", "edata", "_edata", "end", "_end", "__bss_start", "__executable_start", "__ehdr_start", "__preinit_array_start",
    "__preinit_array_end", "__init_array_start", "__init_array_end", "__fini_array_start", "__fini_array_end",
];

/// Notes the symbols that a linker would define: here nothing is laid out as it lays it out.
fn note_linker_defined(explorer: &mut Explorer) {
    let program = &explorer.core.image.program;
    let undefined = program.undefined().iter().filter(|u| !u.function && !u.library).map(|u| &u.name);
    let names = undefined.chain(program.weak()).map(|name| String::from_utf8_lossy(name).into_owned());
    let by_linker = |name: &String| name.starts_with("__start_") || name.starts_with("__stop_") || LINKER_DEFINED.contains(&name.as_str());
    for name in names.filter(by_linker).collect::<Vec<_>>() {
        explorer.core.ledger.note(LedgerKind::UnsupportedOperation, format!("`{name}`, which the linker defines"));
    }
}
