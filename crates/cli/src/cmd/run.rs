//! `wryneck run`: from a target to a run folder and a summary.
//!
//! Start-up is part of the product: IR files are mapped, the database is opened on another thread, nothing is read twice.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

use anyhow::{Context, Result};
use wryneck_environ::FUZZER;
use wryneck_report::{Finding, Run};
use wryneck_session::collector::{Begin, Collector, Limits, Listener, Numbers};
use wryneck_session::halt::Halt;
use wryneck_session::host::Shared;
use wryneck_session::worker::Prepared;
use wryneck_session::workers::{Team, Work};

use crate::args::{self, RunArgs};
use crate::budget::{self, Budget, Cause};
use crate::early::Early;
use crate::explored::Explored;
use crate::export::Export;
use crate::folder::{Fact, Folder};
use crate::known::Known;
use crate::problem::{self, problem};
use crate::progress::Progress;
use crate::resume::{self, Resume};
use crate::{data, objects, output, replay, seal, signal, sym_file, watchdog};

/// The name under which a run folder keeps bitcode that clang made.
pub const KEPT: &str = "program.bc";

pub fn help() -> String {
    args::help("run")
}

pub fn run(words: Vec<String>) -> Result<u8> {
    explore("run", words, |args| args.plan.prune = None)
}

/// Explores a program as the words after the command `name` say, completed by `complete`; the exit code.
pub fn explore(name: &str, words: Vec<String>, complete: impl FnOnce(&mut RunArgs)) -> Result<u8> {
    let start = Instant::now();
    let (mut resume, args) = resume::of(name, &words)?.unzip();
    let asked = resume.as_ref().map_or(&words, |resume: &Resume| &resume.words);
    let command = ["wryneck", name].map(str::to_owned).into_iter().chain(asked.iter().cloned()).collect();
    let mut args = args.map_or_else(|| args::parse(name, words), Ok)?;
    complete(&mut args);
    let mut of_resume = Vec::new();
    resume.iter().try_for_each(|resume| resume.check(&mut args, &mut of_resume))?;
    signal::catch();
    let budget = Budget { began: start, time: args.max_time.map(Duration::from_secs_f64), memory: args.plan.max_memory };
    watchdog::start(budget);
    args.check_files()?;
    args.check_aims()?;
    args.check_jobs()?;
    args.plan.words = sym_file::expand(std::mem::take(&mut args.plan.words))?;
    let plan = &args.plan;
    let host = Shared::after(resume.as_mut().map(Resume::host).unwrap_or_default());
    let prepared = Prepared::new(plan, &host)?;
    let export = args.export.as_ref().map(|word| Export::new(word, &prepared.input)).transpose()?;
    resume.iter().try_for_each(|resume| resume.check_bitcode(prepared.bitcode.as_deref()))?;

    let mut of_request = BTreeMap::from([("command", json(&command))]);
    let folder = Folder::create(args.output.as_deref(), args.max_disk, &begun(&args, &command, resume.as_ref()))?;
    let bitcode = prepared.bitcode.clone().map(|bitcode| keep(&args, bitcode, &folder.path)).transpose()?;
    if let Some(resume) = &resume {
        of_request.insert(resume::BEFORE, resume.folder().display().to_string());
    }
    describe(&folder, &args, of_request, bitcode.as_deref());
    let known = Known::default();
    known.with(|facts| (facts.command, facts.folder, facts.replays) = (command.clone(), folder.path.display().to_string(), args.replay));
    watchdog::end_by(end_of(&args, budget, known.clone(), folder.clone()));

    let limits = Limits {
        halt: Halt::new(),
        time: args.max_time.map(Duration::from_secs_f64),
        instructions: plan.config.max_instructions,
        replays: args.replay,
    };
    limits.halt.set_deadline(budget::deadline());
    let work = Work { plan: plan.clone(), host: host.clone(), halt: limits.halt.clone(), keeps_tree: args.tree.is_some() };
    let notes = prepared.notes.iter().cloned().chain(of_resume).collect();
    let mut team = Team::new(work, prepared, args.jobs)?;
    let program = plan.target.display().to_string().into_bytes();
    let mut collector = Collector::new(Begin {
        folder,
        known: known.clone(),
        limits,
        emit: plan.emit,
        args: std::iter::once(program).chain(plan.words.iter().map(|w| w.clone().into_bytes())).collect(),
        host,
        notes,
        workers: args.jobs,
        listener: Box::new(Shown { progress: Progress::new(args.quiet || args.json, args.max_time), early: None }),
    });
    known.with(|facts| facts.rules = team.rules());
    collector.notes.extend(team.notes());
    collector.export = export;
    collector.aim_at(&plan.find);
    let earlier = resume.and_then(|resume| resume.begin(&mut collector));
    team.explore(earlier, &mut collector)?;
    let explored = start.elapsed();
    // What cannot be written is told behind the summary.
    let mut failures = Vec::new();
    if !collector.findings.all.is_empty() {
        watchdog::works_on("looking at the ways to the findings");
        team.trace(&mut collector);
        if args.replay {
            watchdog::works_on("replaying the findings");
            collector.folder.commit();
            let early = collector.listener.builds().and_then(|builds| builds.downcast::<Early>().ok()).map(|early| *early);
            failures.extend(replay::findings(&collector.folder.path, &mut collector.findings.all, args.unconfined, early).err());
            watchdog::works_on("running the findings' input concretely");
            team.judge(&mut collector);
        }
        collector.findings.all_changed();
        known.with(|facts| facts.findings.clone_from(&collector.findings.all));
    }
    if let (Some(file), Some(rules)) = (&args.sequences, collector.rules()) {
        watchdog::works_on("writing the sequences of events");
        failures.extend(rules.so_far.write_sequences(file).err());
    }
    if let Some(file) = &args.tree {
        watchdog::works_on("writing the tree of paths");
        match team.write_tree(file) {
            Ok(given_up) => collector.given_up.extend(given_up),
            Err(error) => failures.push(error),
        }
    }
    match collector.export.take().map(Export::finish) {
        Some(Ok(note)) => collector.notes.push(note),
        Some(Err(error)) => failures.push(error),
        None => {}
    }
    collector.save();
    let run = collector.run(command, explored);
    watchdog::run_ends();
    watchdog::works_on("printing the summary");
    failures.extend(print(&args, &run).err());
    let explained = team.explained();
    failures.extend(output::write(|out| explained.iter().try_for_each(|line| writeln!(out, "{line}"))).err());
    watchdog::works_on("writing the run folder");
    failures.extend(collector.folder.finish(&run));
    failures.extend(args.formats.write_of(Path::new(&run.folder)));
    if budget::over().is_none() {
        watchdog::works_on("keeping what was lowered");
        team.keep();
    }
    failures.iter().for_each(problem::print);
    // The process ends: taking apart what it knows would take longer than many a run.
    team.forget();
    Ok(if failures.is_empty() { run.exit_code() } else { 2 })
}

/// What is shown and done while paths run.
struct Shown {
    progress: Progress,
    /// Native builds that findings began.
    early: Option<Early>,
}

impl Listener for Shown {
    fn progress(&mut self, now: Instant, numbers: &dyn Fn() -> Numbers) {
        self.progress.update(now, numbers);
    }

    fn found(&mut self, finding: &Finding) {
        let place = finding.stack.first().map_or(String::new(), |place| format!(" ({})", place.text()));
        self.progress.tell("found", &format!("{}: {}{place}", finding.kind.id, finding.message));
    }

    /// Begins to build what replays of these findings need.
    fn stored(&mut self, folder: &Folder, first: &[&Finding]) {
        if self.early.is_none() {
            folder.commit();
            // What goes wrong here is told where findings are replayed.
            self.early = Explored::of(&folder.path, &[]).and_then(|explored| Early::new(&explored)).ok();
        }
        for finding in first {
            self.early.iter_mut().for_each(|early| early.shows(&finding.kind.id));
        }
    }

    fn builds(&mut self) -> Option<Box<dyn Any>> {
        self.early.take().map(|early| Box::new(early) as Box<dyn Any>)
    }

    fn done(&mut self) {
        self.progress.done();
    }
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

/// The facts that a folder has from its beginning: what was asked for, and when.
fn begun(args: &RunArgs, command: &Vec<String>, resume: Option<&Resume>) -> Vec<Fact> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let before = resume.map(|resume| (resume::BEFORE, resume.folder().display().to_string()));
    let always = [
        ("status", "running".into()),
        ("directory", directory()),
        ("command", json(command)),
        ("words", json(&args.plan.words)),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("started", now.to_string()),
    ];
    always.into_iter().chain(before).collect()
}

fn directory() -> String {
    env::current_dir().unwrap_or_default().display().to_string()
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
    built.insert("cc_flags", json(&args.plan.compiler_flags()));
    built.insert("fail_calls", args.plan.fail_calls.to_string());
    built.insert("libc", args.plan.libc.to_string());
    let named = args.plan.stdin.iter().chain(&args.plan.summaries).cloned().chain(args.plan.rules.iter().map(PathBuf::from));
    files.extend(named.filter(|file| file.is_file()).map(|file| absolute(&file)));
    built.insert("directory", directory());
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
