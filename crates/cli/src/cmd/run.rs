//! `wryneck run`: from a target to a run folder and a summary.
//!
//! Start-up is part of the product: IR files are mapped, the database is opened on another thread, nothing is read twice.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

use anyhow::{Context, Result};
use wryneck_environ::{FUZZER, Linux, ProgramInput, Stdin};
use wryneck_exec::config::Uninit;
use wryneck_exec::plugin::Monitor;
use wryneck_exec::search;
use wryneck_exec::{Explorer, Image, LedgerKind, PathEnd, Stop};
use wryneck_expr::Pool;
use wryneck_report::{Run, Status};
use wryneck_solver::Solver;
use wryneck_solver::backend::SmtlibProcess;
use wryneck_verify::flow::fitting::fitting_machine_code;
use wryneck_verify::slice::Explain;

use crate::args::{self, RunArgs};
use crate::budget::{self, Budget, Cause};
use crate::child;
use crate::coverage::LineMap;
use crate::explore::{Limits, Watch};
use crate::export::Export;
use crate::folder::{Fact, Folder};
use crate::host::{RealHost, Refused};
use crate::known::Known;
use crate::left::Left;
use crate::machine;
use crate::path_tree::PathTree;
use crate::problem::{self, problem};
use crate::progress::Progress;
use crate::results::Findings;
use crate::resume::{self, Before, Resume};
use crate::rules::{self, Rules, Unsliced};
use crate::seeds::Seeds;
use crate::target::{Linked, Target};
use crate::timed::Timed;
use crate::{concrete, data, facts, goals, heap, kept, objects, output, replay, seal, signal, sym_file, symbolic, watchdog, way};

/// The name under which a run folder keeps bitcode that clang made.
pub const KEPT: &str = "program.bc";

pub fn run(words: Vec<String>) -> Result<u8> {
    explore("run", words, |args| args.plan.prune = None)
}

/// Explores a program as the words after the command `name` say, completed by `complete`; the exit code.
pub fn explore(name: &str, words: Vec<String>, complete: impl FnOnce(&mut RunArgs)) -> Result<u8> {
    let start = Instant::now();
    let (mut resume, args) = resume::of(name, &words)?.unzip();
    let asked = resume.as_ref().map_or(&words, |resume: &Resume| &resume.words);
    let command = ["wryneck", name].map(str::to_owned).into_iter().chain(asked.iter().cloned()).collect();
    let parsed = if args.is_some() { args } else { args::parse(name, words)? };
    let Some(mut args) = parsed else { return Ok(0) };
    complete(&mut args);
    let mut of_resume = Vec::new();
    resume.iter().try_for_each(|resume| resume.check(&mut args, &mut of_resume))?;
    signal::catch();
    let budget = Budget { began: start, time: args.max_time.map(Duration::from_secs_f64), memory: args.plan.max_memory };
    watchdog::start(budget);
    heap::prepare();
    args.check_files()?;
    args.check_aims()?;
    let checkers = rules::find(&args.plan.rules)?;
    args.plan.words = sym_file::expand(args.plan.words)?;
    let words = symbolic::parse(&args.plan.words)?;
    let mut input = program_input(&args)?;
    words.fill(&mut input);
    watchdog::works_on("preparing the target");
    let target = Target::open(&args.plan, &mut input, &rules::functions(&checkers))?;
    let begins = input.entry.function().map(str::to_owned);
    let seeds = Seeds::read(&args.plan.seeds, &input)?;
    let export = args.export.as_ref().map(|word| Export::new(word, &input)).transpose()?;
    let host = Rc::new(RealHost::after(args.plan.max_memory, resume.as_mut().map(Resume::host).unwrap_or_default()));
    input.uname = host.uname();
    input.user = RealHost::user();
    let (record, refused) = (host.record(), host.refused());
    let environment = Rc::new(Linux::new(input, host));
    watchdog::works_on("linking");
    let Linked { program, entry, bitcode, mut code, kept, mut notes } = target.link(&args.plan, &environment)?;
    resume.iter().try_for_each(|resume| resume.check_bitcode(bitcode.as_deref()))?;
    notes.extend(of_resume);

    let mut of_request = BTreeMap::from([("command", json(&command))]);
    let folder = Folder::create(args.output.as_deref(), args.max_disk, &begun(&args, &command))?;
    let bitcode = bitcode.map(|bitcode| keep(&args, bitcode, &folder.path)).transpose()?;
    if let Some(resume) = &resume {
        of_request.insert(resume::BEFORE, resume.folder().display().to_string());
    }
    describe(&folder, &args, of_request, bitcode.as_deref());
    let known = Known::default();
    known.with(|facts| (facts.command, facts.folder, facts.replays) = (command.clone(), folder.path.display().to_string(), args.replay));
    watchdog::end_by(end_of(&args, budget, known.clone(), folder.clone()));

    let mut pool = Pool::new();
    let mut image = Image::new(program, &*environment, &mut pool);
    if let Some(code) = &mut code {
        machine::map(&args.plan, code, &mut image, &mut pool)?;
    }
    if args.plan.config.uninit == Uninit::SymbolicGlobals {
        let variables = code.as_ref().map_or_else(|| image.zeroed(), |code| code.elf.without_bytes());
        image.leave_unwritten(&variables, &mut pool);
    }
    watchdog::works_on("the static analysis");
    let mut rules = (!checkers.is_empty()).then(|| Rules::new(checkers, args.plan.policy, &image, code.is_some()));
    rules.iter_mut().for_each(|rules| rules.calls_fail = args.plan.fail_calls > 0);
    let monitor = rules.as_ref().map(|rules| rules.automata.clone() as Rc<dyn Monitor>);
    let solver_time = Rc::new(Cell::new(Duration::ZERO));
    let lines = match &code {
        Some(code) => LineMap::of_machine_code(&image, &code.elf.lines()),
        None => LineMap::new(&image),
    };
    let searcher = |names: &[String]| {
        search::by_names(names, args.plan.config.seed).map_err(|name| problem(format!("no searcher is called `{name}`"), ""))
    };
    let mut search = searcher(args.plan.search.as_ref().unwrap_or(&args.plan.config.search))?;
    if !seeds.is_empty() && args.plan.search.is_none() {
        search = search::after_seeds(search);
    }
    let aims = !args.plan.find.is_empty() || !args.plan.avoid.is_empty();
    let elf = code.as_ref().map(|code| &code.elf);
    let goals = aims.then(|| goals::resolve(&args.plan, &image, elf, begins.as_deref(), &mut notes)).transpose()?;
    if !args.plan.find.is_empty() {
        search = search::to_goals(search);
    }
    // The exploration spares memory at half of what the run may have.
    let config = wryneck_exec::Config {
        max_memory: args.plan.max_memory / 2,
        machine_code: code.is_some(),
        compare_whole: args.plan.compare_whole && !args.plan.find.is_empty(),
        ..args.plan.config.clone()
    };
    let mut explorer = Explorer::new(image, pool, solver(&args, solver_time.clone())?, environment, monitor, config, search);
    let code = code.map(|code| Rc::new(RefCell::new(code)));
    explorer.core.code_source = code.clone().map(|code| code as _);
    let slicer = match (args.plan.prune, &rules) {
        (Some(_), Some(_)) if args.plan.config.keep_going > 0 => {
            notes.push("paths go on behind faults, so nothing is pruned".into());
            None
        }
        // Where calls fail on demand, what the summaries assume does not hold.
        (Some(_), Some(_)) if args.plan.fail_calls > 0 => {
            notes.push("calls are made to fail, so nothing is pruned".into());
            None
        }
        (Some(pruning), Some(_)) if !args.plan.slices => {
            explorer.prune(pruning, Rc::new(Unsliced));
            None
        }
        (Some(pruning), Some(rules)) => {
            let explain = args.plan.explain.as_ref().map(|(file, line)| Explain::new(file, *line));
            let mut summaries = rules::summaries(&args.plan.summaries, args.plan.broken_fact.as_deref())?;
            let slicer = match &explorer.core.code_source {
                Some(code) => {
                    let files: Vec<_> =
                        std::iter::once(&args.plan.target).chain(&args.plan.objects).filter_map(|file| fs::read(file).ok()).collect();
                    fitting_machine_code(&|name| files.iter().any(|file| has_symbol(file, name)), &mut summaries);
                    rules.machine_slicer(code.clone(), summaries, explain)
                }
                None => {
                    let image = explorer.core.image.clone();
                    let kept =
                        facts::path(&image.program, &args.plan.summaries, begins.as_deref()).filter(|_| args.plan.broken_fact.is_none());
                    rules.slicer(image, summaries, begins.as_deref(), kept.as_deref(), explain, args.plan.checks)
                }
            };
            explorer.prune(pruning, slicer.clone());
            Some(slicer)
        }
        _ => None,
    };
    if args.plan.search.is_none() && explorer.subsumes() {
        explorer.search_by(searcher(&["subtrees".into()])?);
    }
    let mut watch = watch(&args, &known, folder, lines, record, notes, solver_time.clone());
    known.with(|facts| facts.rules = rules.as_ref().map_or(Vec::new(), Rules::names));
    watch.rules = rules;
    watch.refused = refused;
    watch.findings.machine = code.clone();

    seeds.give(&mut explorer);
    (watch.seeds, watch.export) = (seeds, export);
    if let Some(goals) = goals {
        watchdog::works_on("preparing the search for the goal");
        goals.give(&mut explorer)?;
        watch.aim_at(&args.plan.find);
    }
    watchdog::works_on("the exploration");
    let outcome = match explorer.start(entry, |_| Ok(Vec::new())) {
        Ok(()) => {
            resume.map_or(Ok(()), |resume| resume.begin(&mut explorer, &mut watch))?;
            explorer.explore(&mut watch)
        }
        Err(Stop::End(end)) => return Err(problem(format!("the program cannot begin: {}", end_text(&end)), "")),
        Err(Stop::Bind(_)) => return Err(problem("the program cannot begin: a pointer is unbound", "")),
    };
    for what in watch.rules.iter().flat_map(|rules| rules.automata.missed(&explorer.core.image)) {
        explorer.core.ledger.note(LedgerKind::UnsupportedOperation, format!("{what}, so events of a rule may be missed"));
    }
    watch.notes.extend(watch.seeds.notes(explorer.seed_ends()));
    watch.explored(outcome, &explorer);
    let explored = start.elapsed();
    // What cannot be written is told behind the summary.
    let mut failures = Vec::new();
    if !watch.findings.all.is_empty() {
        watchdog::works_on("looking at the ways to the findings");
        watch.given_up.extend(way::trace(&mut explorer, &mut watch.findings));
        if args.replay {
            watchdog::works_on("replaying the findings");
            watch.folder.commit();
            let early = watch.early.take();
            failures.extend(replay::findings(&watch.folder.path, &mut watch.findings.all, args.unconfined, early).err());
            watchdog::works_on("running the findings' input concretely");
            concrete::judge(&mut explorer, &mut watch.findings);
        }
        watch.findings.all_changed();
        known.with(|facts| facts.findings.clone_from(&watch.findings.all));
    }
    if let (Some(file), Some(rules)) = (&args.sequences, &watch.rules) {
        watchdog::works_on("writing the sequences of events");
        failures.extend(rules.write_sequences(file).err());
    }
    if let (Some(file), Some(tree)) = (&args.tree, &watch.tree) {
        watchdog::works_on("writing the tree of paths");
        match tree.write(file, &mut explorer) {
            Ok(given_up) => watch.given_up.extend(given_up),
            Err(error) => failures.push(error),
        }
    }
    match watch.export.take().map(Export::finish) {
        Some(Ok(note)) => watch.notes.push(note),
        Some(Err(error)) => failures.push(error),
        None => {}
    }
    watch.save(&explorer.core);
    let run = summary(command, explored, &explorer, &watch);
    watchdog::run_ends();
    watchdog::works_on("printing the summary");
    failures.extend(print(&args, &run).err());
    let explained = slicer.map(|slicer| slicer.explained(&explorer.core.image)).unwrap_or_default();
    failures.extend(output::write(|out| explained.iter().try_for_each(|line| writeln!(out, "{line}"))).err());
    watchdog::works_on("writing the run folder");
    failures.extend(watch.folder.finish(&run));
    failures.extend(args.formats.write_of(Path::new(&run.folder)));
    if let Some(code) = code.filter(|_| budget::over().is_none()) {
        watchdog::works_on("keeping what was lowered");
        kept::save(&code.borrow(), &kept);
    }
    failures.iter().for_each(problem::print);
    // The process ends: taking apart what it knows would take longer than many a run.
    std::mem::forget(explorer);
    Ok(if failures.is_empty() { run.exit_code() } else { 2 })
}

/// Tells the end of a run that the watchdog cuts off; gives the exit code.
fn end_of(args: &RunArgs, budget: Budget, known: Known, folder: Folder) -> impl Fn(Cause, &str) -> u8 + Send + Sync + 'static {
    let (json, quiet, asked) = (args.json, args.quiet, args.files());
    move |cause, work| {
        let run = known.cut_off(budget.began, cause, work);
        let mut failures = Vec::new();
        failures.extend(print_as(json, quiet, &run).err());
        folder.findings((1..).zip(run.findings.iter().cloned()).collect());
        folder.ledger(run.ledger.clone());
        failures.extend(folder.finish(&run));
        let lost =
            |file: &PathBuf| problem(format!("`{}` was not written: {}", file.display(), cause.shown()), "`wryneck show` writes reports");
        failures.extend(asked.iter().map(lost));
        failures.iter().for_each(problem::print);
        if failures.is_empty() { run.exit_code() } else { 2 }
    }
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
fn program_input(args: &RunArgs) -> Result<ProgramInput> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let stdin = match &args.plan.stdin {
        Some(file) => Stdin::Bytes(fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?),
        None => Stdin::Bytes(Vec::new()),
    };
    let here = env::current_dir().context("the working directory cannot be found")?;
    let name = args.plan.target.file_stem().unwrap_or(args.plan.target.as_os_str()).as_bytes().to_vec();
    Ok(ProgramInput {
        name,
        stdin,
        fail_calls: args.plan.fail_calls,
        working_directory: here.into_os_string().into_vec(),
        ..ProgramInput::default()
    })
}

/// Bytes of memory for each gate of a query: its nodes, clauses, and what CaDiCaL has for a variable, with as much again for everything else.
const PER_GATE: u64 = 2000;

fn solver(args: &RunArgs, spent: Rc<Cell<Duration>>) -> Result<Solver> {
    SmtlibProcess::prepare_by(|command| child::bind(command, libc::SIGKILL));
    let gates = usize::try_from(args.plan.max_memory / PER_GATE).unwrap_or(usize::MAX);
    let config = wryneck_solver::Config { graph_nodes: args.plan.solver.graph_nodes.min(gates), ..args.plan.solver.clone() };
    let row = wryneck_solver::backend::by_name(&args.plan.solver.backend)?;
    if let Some(tool) = row.program()
        && !env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(tool).is_file())
    {
        return Err(problem(format!("the solver `{tool}` is not installed"), "install it, or leave out `--solver`"));
    }
    let inner = row.make(&config);
    Ok(Solver::with_backend(config, Box::new(Timed { inner, spent })))
}

fn watch(
    args: &RunArgs,
    known: &Known,
    folder: Folder,
    lines: LineMap,
    host: Rc<std::cell::RefCell<Vec<crate::host::HostRead>>>,
    notes: Vec<String>,
    solver_time: Rc<Cell<Duration>>,
) -> Watch {
    let program = args.plan.target.display().to_string().into_bytes();
    let now = Instant::now();
    Watch {
        folder,
        known: known.clone(),
        findings: Findings::default(),
        lines,
        tests: 0,
        inputs: 0,
        tests_left_out: 0,
        progress: Progress::new(args.quiet || args.json),
        limits: Limits {
            deadline: Rc::new(Cell::new(budget::deadline())),
            time: args.max_time.map(Duration::from_secs_f64),
            replays: args.replay,
            solver: args.plan.solver_timeout.map(Duration::from_secs_f64),
        },
        emit: args.plan.emit,
        args: std::iter::once(program).chain(args.plan.words.iter().map(|w| w.clone().into_bytes())).collect(),
        host,
        rules: None,
        tree: args.tree.is_some().then(PathTree::default),
        notes,
        given_up: Vec::new(),
        refused: Refused::default(),
        solver_time,
        early: None,
        seeds: Seeds::default(),
        export: None,
        reached: false,
        before: Before::default(),
        rows: 0,
        cut: Vec::new(),
        left: Left::new(now),
        next_save: now,
        next_coverage: now + Duration::from_secs(3),
        next_tell: now,
    }
}

/// The facts that a folder has from its beginning: what was asked for, and when.
fn begun(args: &RunArgs, command: &Vec<String>) -> Vec<Fact> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    vec![
        ("status", "running".into()),
        ("command", json(command)),
        ("words", json(&args.plan.words)),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("started", now.to_string()),
    ]
}

fn json(words: &Vec<String>) -> String {
    serde_json::json!(words).to_string()
}

/// The facts of what a replay compiles and runs. Of several targets as bitcode, what they were linked to stands for them.
fn describe(folder: &Folder, args: &RunArgs, mut built: BTreeMap<&'static str, String>, bitcode: Option<&Path>) {
    let is_several = bitcode.is_some() && !args.plan.objects.is_empty();
    let program = if is_several { KEPT.to_owned() } else { absolute(&args.plan.target) };
    let objects = if bitcode.is_none() { linked(args) } else { Vec::new() };
    let mut files: Vec<String> = objects.iter().chain((!is_several).then_some(&program)).cloned().collect();
    built.insert("program", program);
    built.insert("objects", json(&objects));
    if let Some(bitcode) = bitcode {
        files.push(absolute(bitcode));
        built.insert("bitcode", absolute(bitcode));
    }
    let entry = args.plan.entry.as_deref().filter(|name| !["main", FUZZER].contains(name));
    built.insert("entry", entry.unwrap_or_default().into());
    built.insert("cc_flags", json(&args.plan.cc_flags));
    built.insert("fail_calls", args.plan.fail_calls.to_string());
    built.insert("libc", args.plan.libc.to_string());
    let named = args.plan.stdin.iter().chain(&args.plan.summaries).cloned().chain(args.plan.rules.iter().map(PathBuf::from));
    files.extend(named.filter(|file| file.is_file()).map(|file| absolute(&file)));
    built.insert("directory", env::current_dir().unwrap_or_default().display().to_string());
    for (name, value) in &built {
        folder.fact(name, value.clone());
    }
    let own = absolute(&folder.path.join(KEPT));
    folder.facts(move || {
        let name = |file: &String| if *file == own { KEPT.to_owned() } else { file.clone() };
        let files: Vec<(String, PathBuf)> = files.iter().map(|file| (name(file), file.into())).collect();
        let tool = resume::tool();
        let all = built.into_iter().chain([("tool", tool.clone())]).map(|(name, value)| (name.to_owned(), value)).collect();
        seal::of(all, &files).into_iter().chain([("tool", tool)]).collect()
    });
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or(path.to_owned()).display().to_string()
}

/// The objects that were linked, if the target is one: its native form is linked of them too.
fn linked(args: &RunArgs) -> Vec<String> {
    let are_objects = !args.plan.objects.is_empty() || objects::is_object(&args.plan.target);
    let all = std::iter::once(&args.plan.target).chain(&args.plan.objects).filter(|_| are_objects);
    all.map(|path| std::path::absolute(path).unwrap_or(path.clone()).display().to_string()).collect()
}

fn summary(command: Vec<String>, explored: Duration, explorer: &Explorer, watch: &Watch) -> Run {
    let core = &explorer.core;
    let (status, pruning, ends) = watch.known.with(|facts| (facts.status.clone(), facts.pruning.clone(), facts.ends.rows()));
    let mut run = Run {
        command,
        folder: watch.folder.path.display().to_string(),
        status: status.unwrap_or(Status::Unfinished),
        seconds: explored.as_secs_f64(),
        ends,
        findings: watch.findings.all.clone(),
        ledger: watch.ledger(core),
        totals: watch.totals(core),
        lines: watch.lines.count(&core.coverage),
        rules: Vec::new(),
        pruning,
        goal: watch.known.with(|facts| facts.goal.clone()),
    };
    run.rules = watch.rules.as_ref().map_or(Vec::new(), |rules| rules.judge(&run));
    run
}

fn print(args: &RunArgs, run: &Run) -> Result<()> {
    print_as(args.json, args.quiet, run)
}

fn print_as(json: bool, quiet: bool, run: &Run) -> Result<()> {
    match (json, quiet) {
        (true, _) => output::write(|out| wryneck_report::json::write(out, run)),
        (false, true) => Ok(()),
        (false, false) => output::write(|out| wryneck_report::terminal::write(out, run)),
    }
}

/// Copies a file to a place where there is none.
fn copy_new(from: &Path, to: &Path) -> std::io::Result<u64> {
    std::io::copy(&mut data::open(from)?.0, &mut fs::File::create_new(to)?)
}

/// Copies what clang made into the run folder, where a replay finds it; where the bitcode now is.
fn keep(args: &RunArgs, bitcode: PathBuf, folder: &Path) -> Result<PathBuf> {
    if bitcode == args.plan.target {
        return Ok(bitcode);
    }
    let kept = folder.join(KEPT);
    copy_new(&bitcode, &kept).with_context(|| format!("cannot write `{}`", kept.display()))?;
    Ok(kept)
}
