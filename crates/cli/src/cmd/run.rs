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
use wryneck_exec::{Explorer, Image, Outcome, PathEnd, Stop};
use wryneck_expr::Pool;
use wryneck_report::{Run, Status, Totals};
use wryneck_solver::Solver;
use wryneck_verify::slice::Explain;

use crate::args::{self, RunArgs};
use crate::coverage::LineMap;
use crate::explore::{Limits, Watch};
use crate::folder::Folder;
use crate::host::RealHost;
use crate::machine;
use crate::path_tree::PathTree;
use crate::problem::problem;
use crate::progress::Progress;
use crate::results::{Ends, Findings};
use crate::rules::{self, Rules, Unsliced};
use crate::target::{Linked, Target};
use crate::timed::Timed;
use crate::{data, facts, heap, kept, objects, output, replay, seal, signal, sym_file, symbolic, way};

/// The name under which a run folder keeps bitcode that clang made.
pub const KEPT: &str = "program.bc";

pub fn run(words: Vec<String>) -> Result<u8> {
    explore("run", words, |args| args.prune = None)
}

/// Explores a program as the words after the command `name` say, completed by `complete`; the exit code.
pub fn explore(name: &str, words: Vec<String>, complete: impl FnOnce(&mut RunArgs)) -> Result<u8> {
    let start = Instant::now();
    let command = ["wryneck", name].map(str::to_owned).into_iter().chain(words.iter().cloned()).collect();
    let Some(mut args) = args::parse(name, words)? else { return Ok(0) };
    complete(&mut args);
    heap::prepare();
    let checkers = rules::find(&args.rules)?;
    args.words = sym_file::expand(args.words)?;
    let words = symbolic::parse(&args.words)?;
    let mut input = program_input(&args)?;
    words.fill(&mut input);
    let target = Target::open(&args, &mut input, &rules::functions(&checkers))?;
    let begins = input.entry.function().map(str::to_owned);
    let host = Rc::new(RealHost::default());
    input.uname = host.uname();
    input.user = RealHost::user();
    let record = host.record();
    let environment = Rc::new(Linux::new(input, host));
    let Linked { program, entry, bitcode, mut code, kept, mut notes } = target.link(&args, &environment)?;

    let folder = Folder::create(args.output.as_deref())?;
    let bitcode = bitcode.map(|bitcode| keep(&args, bitcode, &folder.path)).transpose()?;
    describe(&folder, &args, &command, bitcode.as_deref());
    let shown = folder.path.display().to_string();
    signal::catch();

    let mut pool = Pool::new();
    let mut image = Image::new(program, &*environment, &mut pool);
    if let Some(code) = &mut code {
        machine::map(&args, code, &mut image, &mut pool)?;
    }
    if args.config.uninit == Uninit::SymbolicGlobals {
        let variables = code.as_ref().map_or_else(|| image.zeroed(), |code| code.elf.without_bytes());
        image.leave_unwritten(&variables, &mut pool);
    }
    let rules = (!checkers.is_empty()).then(|| Rules::new(checkers, args.policy, &image, code.is_some()));
    let monitor = rules.as_ref().map(|rules| rules.automata.clone() as Rc<dyn Monitor>);
    let solver_time = Rc::new(Cell::new(Duration::ZERO));
    let lines = match &code {
        Some(code) => LineMap::of_machine_code(&image, &code.elf.lines()),
        None => LineMap::new(&image),
    };
    let searcher = |names: &[String], image: &Image| {
        search::by_names(names, args.config.seed, image).map_err(|name| problem(format!("no searcher is called `{name}`"), ""))
    };
    let search = searcher(args.search.as_ref().unwrap_or(&args.config.search), &image)?;
    // The exploration spares memory at half of what the run may have.
    let config = wryneck_exec::Config { max_memory: args.max_memory / 2, machine_code: code.is_some(), ..args.config.clone() };
    let mut explorer = Explorer::new(image, pool, solver(&args, solver_time.clone())?, environment, monitor, config, search);
    let code = code.map(|code| Rc::new(RefCell::new(code)));
    explorer.core.code_source = code.clone().map(|code| code as _);
    let slicer = match (args.prune, &rules) {
        (Some(_), Some(_)) if args.config.keep_going > 0 => {
            notes.push("paths go on behind faults, so nothing is pruned".into());
            None
        }
        // Where calls fail on demand, what the summaries assume does not hold.
        (Some(_), Some(_)) if args.fail_calls > 0 => {
            notes.push("calls are made to fail, so nothing is pruned".into());
            None
        }
        (Some(pruning), Some(_)) if !args.slices => {
            explorer.prune(pruning, Rc::new(Unsliced));
            None
        }
        (Some(pruning), Some(rules)) => {
            let explain = args.explain.as_ref().map(|(file, line)| Explain::new(file, *line));
            let summaries = rules::summaries(&args.summaries)?;
            let slicer = match &explorer.core.code_source {
                Some(code) => rules.machine_slicer(code.clone(), summaries, explain),
                None => {
                    let image = explorer.core.image.clone();
                    let kept = facts::path(&image.program, &args.summaries, begins.as_deref());
                    rules.slicer(image, summaries, begins.as_deref(), kept.as_deref(), explain)
                }
            };
            explorer.prune(pruning, slicer.clone());
            Some(slicer)
        }
        _ => None,
    };
    if args.search.is_none() && explorer.subsumes() {
        explorer.search_by(searcher(&["subtrees".into()], &explorer.core.image)?);
    }
    let mut watch = watch(&args, start, folder, lines, record, notes, solver_time.clone());
    watch.rules = rules;
    watch.findings.machine = code.clone();

    let outcome = match explorer.start(entry, |_| Ok(Vec::new())) {
        Ok(()) => explorer.explore(&mut watch),
        Err(Stop::End(end)) => return Err(problem(format!("the program cannot begin: {}", end_text(&end)), "")),
    };
    watch.finish(&explorer.core);
    let explored = start.elapsed();
    if !watch.findings.all.is_empty() {
        way::trace(&mut explorer, &mut watch.findings);
        if args.replay {
            watch.folder.commit();
            replay::findings(&watch.folder.path, &mut watch.findings.all, args.unconfined)?;
        }
        watch.save(&explorer.core);
    }
    let run = summary(command, shown, explored, outcome, &explorer, &watch);
    if let (Some(file), Some(rules)) = (&args.sequences, &watch.rules) {
        rules.write_sequences(file)?;
    }
    if let (Some(file), Some(tree)) = (&args.tree, &watch.tree) {
        tree.write(file, &mut explorer)?;
    }
    watch.folder.finish(&run)?;
    args.formats.write_of(Path::new(&run.folder))?;
    print(&args, &run)?;
    let explained = slicer.map(|slicer| slicer.explained(&explorer.core.image)).unwrap_or_default();
    output::write(|out| explained.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    if let Some(code) = code {
        kept::save(&code.borrow(), &kept);
    }
    // The process ends: taking apart what it knows would take longer than many a run.
    std::mem::forget(explorer);
    Ok(run.exit_code())
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
    let stdin = match &args.stdin {
        Some(file) => Stdin::Bytes(fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?),
        None => Stdin::Bytes(Vec::new()),
    };
    let here = env::current_dir().context("the working directory cannot be found")?;
    let name = args.target.file_stem().unwrap_or(args.target.as_os_str()).as_bytes().to_vec();
    Ok(ProgramInput {
        name,
        stdin,
        fail_calls: args.fail_calls,
        working_directory: here.into_os_string().into_vec(),
        ..ProgramInput::default()
    })
}

fn solver(args: &RunArgs, spent: Rc<Cell<Duration>>) -> Result<Solver> {
    let row = wryneck_solver::backend::by_name(args.solver.backend)?;
    if let Some(tool) = row.program()
        && !env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(tool).is_file())
    {
        return Err(problem(format!("the solver `{tool}` is not installed"), "install it, or leave out `--solver`"));
    }
    let inner = row.make(&args.solver);
    Ok(Solver::with_backend(args.solver.clone(), Box::new(Timed { inner, spent })))
}

fn watch(
    args: &RunArgs,
    start: Instant,
    folder: Folder,
    lines: LineMap,
    host: Rc<std::cell::RefCell<Vec<crate::host::HostRead>>>,
    notes: Vec<String>,
    solver_time: Rc<Cell<Duration>>,
) -> Watch {
    let program = args.target.display().to_string().into_bytes();
    Watch {
        folder,
        ends: Ends::default(),
        findings: Findings::default(),
        lines,
        tests: 0,
        memory: 0,
        inputs: 0,
        progress: Progress::new(args.quiet || args.json),
        limits: Limits {
            deadline: args.max_time.map(|s| start + Duration::from_secs_f64(s)),
            memory: args.max_memory,
            solver: args.solver_timeout.map(Duration::from_secs_f64),
        },
        emit: args.emit,
        args: std::iter::once(program).chain(args.words.iter().map(|w| w.clone().into_bytes())).collect(),
        host,
        rules: None,
        tree: args.tree.is_some().then(PathTree::default),
        notes,
        solver_time,
        next_memory: start,
        last_memory: 0,
        next_save: start + Duration::from_secs(3),
    }
}

/// The facts a replay needs, and when the run began.
fn describe(folder: &Folder, args: &RunArgs, command: &Vec<String>, bitcode: Option<&Path>) {
    let json = |words: &Vec<String>| serde_json::json!(words).to_string();
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or(path.to_owned()).display().to_string();
    folder.fact("command", json(command));
    folder.fact("words", json(&args.words));
    // What a replay compiles and runs. Of several targets as bitcode, what they were linked to stands for them.
    let mut built: BTreeMap<&'static str, String> = BTreeMap::new();
    let program = absolute(bitcode.filter(|_| !args.objects.is_empty()).unwrap_or(&args.target));
    let objects = if bitcode.is_none() { linked(args) } else { Vec::new() };
    let mut files: Vec<String> = objects.iter().chain([&program]).cloned().collect();
    built.insert("program", program);
    built.insert("objects", json(&objects));
    if let Some(bitcode) = bitcode {
        files.push(absolute(bitcode));
        built.insert("bitcode", absolute(bitcode));
    }
    let entry = args.entry.as_deref().filter(|name| !["main", FUZZER].contains(name));
    built.insert("entry", entry.unwrap_or_default().into());
    built.insert("cc_flags", json(&args.cc_flags));
    built.insert("fail_calls", args.fail_calls.to_string());
    built.insert("libc", args.libc.to_string());
    built.insert("directory", env::current_dir().unwrap_or_default().display().to_string());
    for (name, value) in &built {
        folder.fact(name, value.clone());
    }
    let own = absolute(&folder.path.join(KEPT));
    folder.facts(move || {
        let name = |file: &String| if *file == own { KEPT.to_owned() } else { file.clone() };
        let files: Vec<(String, PathBuf)> = files.iter().map(|file| (name(file), file.into())).collect();
        let built = built.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        seal::of(built, &files)
    });
    folder.fact("version", env!("CARGO_PKG_VERSION").into());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    folder.fact("started", now.to_string());
}

/// The objects that were linked, if the target is one: its native form is linked of them too.
fn linked(args: &RunArgs) -> Vec<String> {
    let are_objects = !args.objects.is_empty() || objects::is_object(&args.target);
    let all = std::iter::once(&args.target).chain(&args.objects).filter(|_| are_objects);
    all.map(|path| std::path::absolute(path).unwrap_or(path.clone()).display().to_string()).collect()
}

fn summary(command: Vec<String>, folder: String, explored: Duration, outcome: Outcome, explorer: &Explorer, watch: &Watch) -> Run {
    let core = &explorer.core;
    let status = match outcome {
        Outcome::Complete => Status::Complete,
        Outcome::Stopped(limit) => {
            let (limit, flag) = limit.name_and_flag();
            Status::Stopped { limit: limit.into(), flag: flag.into(), pending: explorer.pending() as u64 }
        }
    };
    let stats = core.solver.stats();
    let mut run = Run {
        command,
        folder,
        status,
        seconds: explored.as_secs_f64(),
        ends: watch.ends.rows(),
        findings: watch.findings.all.clone(),
        ledger: watch.ledger(core),
        totals: Totals {
            paths: core.stats.paths,
            instructions: core.stats.instructions,
            decisions: core.stats.decisions,
            tests: watch.tests,
            queries: stats.queries,
            solver_calls: stats.solver_calls,
            solver_seconds: watch.solver_time.get().as_secs_f64(),
            memory: watch.memory,
            inputs: Some(watch.inputs),
        },
        lines: watch.lines.count(&core.coverage),
        rules: Vec::new(),
        pruning: watch.rules.as_ref().map(|rules| rules.pruning(explorer)),
    };
    run.rules = watch.rules.as_ref().map_or(Vec::new(), |rules| rules.judge(&run));
    run
}

fn print(args: &RunArgs, run: &Run) -> Result<()> {
    match (args.json, args.quiet) {
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
    if bitcode == args.target {
        return Ok(bitcode);
    }
    let kept = folder.join(KEPT);
    copy_new(&bitcode, &kept).with_context(|| format!("cannot write `{}`", kept.display()))?;
    Ok(kept)
}
