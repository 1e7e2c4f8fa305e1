//! Verification: explores along an input's path first, then its neighbours, and stores what it learns.
//!
//! It runs in a process of its own, so its limits, its memory and its end are not those of the program. What it was asked, and what it has to say,
//! is in one file in memory that both share. The process that asked looks the input up again afterwards: it believes the store alone.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wryneck_environ::observed::{UNKNOWN, VOLATILE, Window, is_volatile, named};
use wryneck_environ::{Linux, ProgramInput, World};
use wryneck_exec::config::Uninit;
use wryneck_exec::{Control, Core, Ended, Explorer, FaultKind, Image, Limit, Outcome, PathEnd, search};
use wryneck_expr::{ExprId, Kind, Pool, form};
use wryneck_guard::file::Key;
use wryneck_guard::lookup::{EITHER, SIDES};
use wryneck_guard::{Step, Store, Tree, Verdict};
use wryneck_solver::{Solver, Stop};

use super::policy::Policy;
use super::process::STANDARD;
use super::program::{FrontEnd, Program};
use super::shape::{Actual, Shape};
use super::world::{Assume, Here, UNWRITTEN, is_argument};
use crate::args;
use crate::budget::{self, Budget};
use crate::target::{Linked, Target};
use crate::{kept, machine, results, signal, watchdog};

/// What is to be verified.
#[derive(Serialize, Deserialize)]
pub struct Request {
    pub file: PathBuf,
    pub key: Key,
    pub front: FrontEnd,
    pub assume: Assume,
    pub store: PathBuf,
    pub actual: Actual,
    pub policy: Policy,
    /// Answers that only the process that is to become the program knows: question and answer.
    pub answers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Seconds for all.
    pub time: f64,
    /// Most paths.
    pub paths: u64,
    /// Bytes.
    pub memory: u64,
    /// Whether the paths beside the input's own are explored.
    pub siblings: bool,
    /// Nobody waits.
    pub background: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    /// Paths that were stored.
    pub paths: u64,
    /// How the input's own path ended, in words; empty if the budget ended first.
    pub first: String,
    /// Seconds until then.
    pub seconds: f64,
    /// Everything was explored.
    pub complete: bool,
    /// Why paths were not stored, and how many.
    pub left_out: BTreeMap<String, u64>,
}

/// Verifies what was asked for.
pub fn verify(request: Request, key: [u8; 32]) -> Result<Reply> {
    let began = Instant::now();
    signal::catch();
    let time = Duration::from_secs_f64(request.time.min(1e6));
    // The exploration ends itself in time; what it knows is then still to be written.
    watchdog::start(Budget { began, time: Some(time + WRITING), memory: request.memory });
    let store = Store::open(&request.store, key)?;
    let about = serde_json::json!({
        "program": request.file.display().to_string(),
        "machine_code": request.front == FrontEnd::MachineCode,
        "arguments_only": request.assume == Assume::ArgumentsOnly,
    });
    store.describe(&request.key, about.to_string().as_bytes())?;
    // Only one verifies in the background; who waits for an answer does not wait for others.
    let lock = store.try_lock(&request.key, "verify")?;
    if lock.is_none() && request.background {
        return Ok(Reply { first: "another verification of this program is under way".into(), ..Reply::default() });
    }
    let program = Program::open(&request.file, request.front, request.assume, &store)?;
    if program.key != request.key {
        return Ok(Reply { first: "the program changed meanwhile".into(), ..Reply::default() });
    }
    let here = Rc::new(Here::new(request.answers.iter().cloned().collect()));
    let shape = request.actual.shape(&request.policy);
    let mut explorer = explorer(&request, &shape, here.clone())?;
    explorer.explorer.follow(&shape.seeds);
    let mut keeper = Keeper {
        linux: explorer.linux.clone(),
        store,
        key: request.key,
        facts: facts(&shape, &here),
        minute: here.answer(b"minute").unwrap_or_default(),
        inherited: inherited(&here),
        lengths: request
            .actual
            .variables()
            .iter()
            .map(|(name, value)| (format!("env_{}", String::from_utf8_lossy(name)), value.len()))
            .collect(),
        tree: Tree::default(),
        forms: FxHashMap::default(),
        inputs: shape.seeds.iter().map(|(name, _)| name.clone()).collect(),
        began,
        deadline: began + time,
        most: request.paths,
        siblings: request.siblings,
        program,
        next: None,
        first: false,
        reply: Reply::default(),
        failed: None,
    };
    watchdog::works_on("the verification");
    let outcome = match explorer.explorer.start(explorer.entry, |_| Ok(Vec::new())) {
        Ok(()) => explorer.explorer.explore(&mut keeper),
        Err(_) => Outcome::Stopped(Limit::Interrupted),
    };
    budget::ends();
    keeper.reply.complete = outcome == Outcome::Complete;
    keeper.commit();
    if let Some(code) = &explorer.code {
        kept::save(&code.borrow(), &explorer.kept);
    }
    let reply = std::mem::take(&mut keeper.reply);
    let failed = keeper.failed.take();
    // The process ends: taking apart what it knows would take longer than many a path.
    std::mem::forget(explorer);
    std::mem::forget(keeper);
    failed.map_or(Ok(reply), |error| Err(error.into()))
}

/// Bytes of stack that a process must have; a path may use a quarter, since native frames are larger than ours.
const STACK: u64 = 8 << 20;
/// Calls in progress on a path, at most.
const CALLS: u32 = 2000;
/// Descriptors of a path, at most.
const DESCRIPTORS: usize = 48;

/// Whether the limits of a process (as [`super::process::limits`] says them) are such as the models have.
fn limits_are_wide(limits: &[u8]) -> bool {
    let text = std::str::from_utf8(limits).unwrap_or_default();
    let soft: Vec<u64> =
        text.split(' ').map(|pair| u64::from_str_radix(pair.split(':').next().unwrap_or_default(), 16).unwrap_or(0)).collect();
    let at = |resource: u32| soft.get(resource as usize).copied().unwrap_or(0);
    let unlimited = [libc::RLIMIT_CPU, libc::RLIMIT_FSIZE, libc::RLIMIT_DATA, libc::RLIMIT_AS]
        .iter()
        .all(|resource| at(*resource) == libc::RLIM_INFINITY);
    unlimited && at(libc::RLIMIT_STACK) >= STACK && at(libc::RLIMIT_NOFILE) > DESCRIPTORS as u64
}

/// The facts that every path of a shape begins with.
fn facts(shape: &Shape, here: &Here) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut facts = shape.facts.clone();
    for question in ["ids", "limits", "auxiliary", "filter", "timers"] {
        facts.push((question.into(), here.answer(question.as_bytes()).unwrap_or_default()));
    }
    if !limits_are_wide(&here.answer(b"limits").unwrap_or_default()) {
        facts.push((
            format!("{UNKNOWN} limits of time, memory, stack, files or descriptors that are narrower than usual").into_bytes(),
            Vec::new(),
        ));
    }
    if here.answer(b"timers").is_none_or(|answer| answer != b"none") {
        facts.push((format!("{UNKNOWN} when a timer ends that was set before the program began").into_bytes(), Vec::new()));
    }
    match here.answer(b"descriptors") {
        Some(answer) if answer.starts_with(STANDARD.as_bytes()) => facts.push((b"descriptors".to_vec(), answer)),
        _ => facts.push((
            format!("{UNKNOWN} which descriptors are open: one of 0 to 2 is closed, or opened the other way").into_bytes(),
            Vec::new(),
        )),
    }
    facts
}

fn inherited(here: &Here) -> Option<u64> {
    let answer = here.answer(b"descriptors")?;
    std::str::from_utf8(&answer).ok()?.strip_prefix(STANDARD)?.split_whitespace().next()?.parse().ok()
}

struct Prepared {
    explorer: Explorer,
    linux: Rc<Linux>,
    entry: u32,
    code: Option<Rc<RefCell<wryneck_machine::MachineProgram>>>,
    kept: Vec<PathBuf>,
}

fn explorer(request: &Request, shape: &Shape, here: Rc<Here>) -> Result<Prepared> {
    let mut words = vec![request.file.display().to_string()];
    if request.front == FrontEnd::MachineCode {
        words.insert(0, "--machine-code".to_owned());
    }
    let plan = args::parse("run", words)?.plan;
    let (user, uname) = here.user_and_system();
    let working_directory = here.answer(b"cwd").unwrap_or_else(|| b"/".to_vec());
    let mut input = ProgramInput {
        name: request.actual.name.clone(),
        args: shape.args.clone(),
        env: shape.env.clone(),
        stdin: shape.stdin.clone(),
        named_files: request.policy.named_files(),
        attributes: request.policy.attributes,
        working_directory,
        uname,
        user,
        ..ProgramInput::default()
    };
    let target = Target::open(&plan, &mut input, &[])?;
    let linux = Rc::new(Linux::new(input, here).noting_facts());
    let Linked { program, entry, mut code, kept, .. } = target.link(&plan, &linux)?;
    let mut pool = Pool::new();
    let mut image = Image::new(program, &*linux, &mut pool);
    if let Some(code) = &mut code {
        machine::map(&plan, code, &mut image, &mut pool)?;
    }
    let config = wryneck_exec::Config {
        max_memory: request.memory / 2,
        machine_code: code.is_some(),
        // A path that depends on memory that it never wrote is a fault: natively that memory holds anything.
        uninit: Uninit::Report,
        scratch: true,
        // A path that depends on the time is of use once the other sides are verified, too.
        urgent: VOLATILE,
        stack_size: STACK / 4,
        max_frames: CALLS,
        // The input's own path is not put off for its neighbours.
        batch: u64::MAX,
        undefined: wryneck_exec::config::Undefined::Error,
        ..plan.config.clone()
    };
    let searcher = search::by_names(&["nearest".to_owned()], 0).map_err(anyhow::Error::msg)?;
    let mut explorer = Explorer::new(image, pool, Solver::new(wryneck_solver::Config::default())?, linux.clone(), None, config, searcher);
    let code = code.map(|code| Rc::new(RefCell::new(code)));
    explorer.core.code_source = code.clone().map(|code| code as _);
    Ok(Prepared { explorer, linux, entry, code, kept })
}

/// Keeps what paths show, and says when to stop.
struct Keeper {
    linux: Rc<Linux>,
    store: Store,
    key: Key,
    /// Of every path.
    facts: Vec<(Vec<u8>, Vec<u8>)>,
    /// When the verification began.
    minute: Vec<u8>,
    /// The first descriptor above 2 that the program inherits: the models have none.
    inherited: Option<u64>,
    /// Bytes of variables of the environment, by the name of the input.
    lengths: BTreeMap<String, usize>,
    /// What is not in the store yet.
    tree: Tree,
    /// Conditions that were written, by their structure.
    forms: FxHashMap<u128, Result<Condition, String>>,
    /// Names of inputs that are known before a run, beside attributes.
    inputs: BTreeSet<String>,
    began: Instant,
    deadline: Instant,
    most: u64,
    siblings: bool,
    /// What is verified.
    program: Program,
    /// When the store is written next.
    next: Option<Instant>,
    /// The input's own path has ended.
    first: bool,
    reply: Reply,
    failed: Option<wryneck_guard::StoreError>,
}

/// Time to write what is known, after the budget.
pub const WRITING: Duration = Duration::from_secs(10);
/// Between two writings of the store, which is written as a whole.
const SAVE: Duration = Duration::from_secs(5);

/// A step that nobody can check.
struct Uncheckable {
    /// Its place.
    at: usize,
    /// What it asks.
    why: String,
    /// Where both sides of a decision would have to be verified.
    volatile: Option<Rc<Volatile>>,
}

/// A condition that was written.
#[derive(Clone)]
struct Condition {
    step: Step,
    /// The variables of the environment that it reads.
    variables: Rc<[String]>,
    /// An input that it reads and that nobody knows before a run.
    unknown: Option<Rc<str>>,
    /// Where it reads input that has another value at each run.
    volatile: Option<Rc<Volatile>>,
}

/// What a decision is that depends on input that has another value at each run.
struct Volatile {
    /// What it depends on, in words.
    what: String,
    /// The hours that the time of day is taken to be in.
    windows: BTreeSet<Window>,
    /// The decision and the side that the condition is.
    question: Vec<u8>,
    side: usize,
}

impl Keeper {
    fn commit(&mut self) {
        if self.tree.is_empty() || self.failed.is_some() {
            return;
        }
        if self.program.is_same().is_err() {
            // Its paths may be those of another file.
            self.tree = Tree::default();
            self.forms.clear();
            self.reply.first = "the program changed meanwhile".to_owned();
            return;
        }
        self.failed = self.store.commit(&self.key, &self.tree).err();
        self.tree = Tree::default();
        self.forms.clear();
        self.next = Some(Instant::now() + SAVE);
    }

    fn condition(&mut self, core: &mut Core, cond: ExprId) -> Result<Condition, String> {
        let digest = core.pool.digest(cond);
        if let Some(known) = self.forms.get(&digest) {
            return known.clone();
        }
        let tree = &mut self.tree;
        let form = form::write(&core.pool, cond, &mut |name| tree.name(name.as_bytes())).map_err(|why| why.to_string());
        let names: BTreeSet<String> = core.pool.support(cond).iter().map(|symbol| core.pool.sym_info(*symbol).name.to_string()).collect();
        // Attributes have a zero in their names, which no program can make.
        let unknown = names.iter().find(|name| !name.contains('\0') && !self.inputs.contains(*name)).map(|name| Rc::from(name.as_str()));
        let volatile = volatile(core, cond, &names).map(Rc::new);
        let variables = names.into_iter().filter(|name| self.lengths.contains_key(name)).collect();
        let known = form.map(|form| Condition { step: self.tree.condition(&form), variables, unknown, volatile });
        self.forms.insert(digest, known.clone());
        known
    }

    /// The steps of a path, or why there are none; and what of its facts nobody can check.
    fn steps(&mut self, core: &mut Core, ended: &Ended, is_fault: bool) -> Result<(Vec<Step>, Vec<Uncheckable>), String> {
        let (mut steps, mut unknown) = (Vec::new(), Vec::new());
        for (question, answer) in &self.facts.clone() {
            note(&mut self.tree, question, answer, &mut steps, &mut unknown);
        }
        let linux = self.linux.clone();
        let observed = World::left_by(ended.data.environment()).map(|world| world.observed.clone()).unwrap_or_default();
        let (names, observed): (Vec<_>, Vec<_>) = observed
            .iter()
            .map(|o| (linux.fact(o.fact), o.after as usize))
            .partition(|(fact, _)| fact.as_ref().is_some_and(|(q, _)| named(q).is_some()));
        let names: Vec<_> = names.iter().filter_map(|(fact, _)| named(&fact.as_ref()?.0)).collect();
        let mut observed = observed.into_iter().peekable();
        let mut measured: Vec<String> = Vec::new();
        let constraints = ended.path.constraints();
        for i in 0..=constraints.len() {
            while let Some((fact, _)) = observed.next_if(|(_, after)| *after <= i) {
                let (question, answer) = fact.ok_or("a fact without a question")?;
                note(&mut self.tree, &question, &answer, &mut steps, &mut unknown);
            }
            let Some(&cond) = constraints.get(i) else { break };
            if names.iter().any(|range| range.contains(&i))
                && let Some((question, byte)) = byte_of_argument(core, cond)
            {
                steps.push(self.tree.fact(question.as_bytes(), &[byte]));
                continue;
            }
            let Condition { step, variables, unknown: foreign, volatile } = match self.condition(core, cond) {
                Ok(condition) => condition,
                Err(why) => {
                    let of_arguments =
                        core.pool.support(cond).iter().any(|symbol| is_argument(core.pool.sym_info(*symbol).name.as_bytes()));
                    let kind = if of_arguments { UNWRITTEN } else { UNKNOWN };
                    note(&mut self.tree, format!("{kind} {why}, which a store cannot hold").as_bytes(), b"", &mut steps, &mut unknown);
                    continue;
                }
            };
            if let Some(name) = foreign {
                note(&mut self.tree, format!("{UNKNOWN} the value of `{name}`").as_bytes(), b"", &mut steps, &mut unknown);
            }
            for variable in variables.iter() {
                self.measure(variable, &mut measured, &mut steps);
            }
            if let Some(volatile) = volatile {
                for window in &volatile.windows {
                    steps.push(self.tree.fact(window.name().as_bytes(), b"yes"));
                }
                for at in [steps.len(), steps.len() + 1] {
                    let why = format!("{}, whose other values are not verified", volatile.what);
                    unknown.push(Uncheckable { at, why, volatile: Some(volatile.clone()) });
                }
                steps.push(self.tree.fact(&volatile.question, SIDES[volatile.side]));
            }
            steps.push(step);
        }
        if is_fault {
            // Where a variable ends decides what lies out of bounds, and no branch shows it.
            for variable in self.lengths.keys().cloned().collect::<Vec<_>>() {
                self.measure(&variable, &mut measured, &mut steps);
            }
        }
        Ok((steps, unknown))
    }

    /// The length of a variable becomes the path's, once.
    fn measure(&mut self, variable: &str, measured: &mut Vec<String>, steps: &mut Vec<Step>) {
        if measured.iter().any(|known| known == variable) {
            return;
        }
        let len = self.lengths.get(variable).copied().unwrap_or_default();
        let question = variable.replacen("env_", "envlen ", 1);
        steps.push(self.tree.fact(question.as_bytes(), len.to_string().as_bytes()));
        measured.push(variable.to_owned());
    }

    fn leave_out(&mut self, why: &str) {
        *self.reply.left_out.entry(why.to_owned()).or_default() += 1;
    }

    /// Whether a path is none of real inputs: it takes a byte that ends a variable's value for another one.
    fn is_of_no_input(core: &mut Core, ended: &Ended) -> bool {
        let zeros: Vec<_> = core.zeros.iter().map(|symbol| (*symbol, 0)).collect();
        let model = ended.model.with(&zeros);
        !ended.path.constraints().into_iter().all(|cond| core.eval.holds(&core.pool, cond, &model))
    }

    fn store(&mut self, core: &mut Core, ended: &Ended, is_first: bool) {
        if Self::is_of_no_input(core, ended) {
            return;
        }
        let inexact = ended.approximated.as_ref().map(|what| format!("what the program does there is not modelled exactly: {what}"));
        if let Some(why) = inexact.as_ref().filter(|_| !is_first) {
            // The path of such an input itself may be exact: where a name is symbolic, it leads to the files that the run has come across.
            return self.leave_out(why);
        }
        let (class, what) = results::class(&ended.end);
        let meets_inherited = self.inherited.is_some_and(|first| {
            World::left_by(ended.data.environment()).is_none_or(|world| world.bad_descriptor || world.own.fds.len() as u64 > first)
        });
        let verdict = match &ended.end {
            PathEnd::Exit(_) | PathEnd::Fault(_) if inexact.is_some() => Err(inexact.unwrap_or_default()),
            PathEnd::Exit(_) if World::left_by(ended.data.environment()).is_none_or(|world| world.own.fds.len() > DESCRIPTORS) => {
                Err("it opens more files than any limit allows for sure".to_owned())
            }
            PathEnd::Exit(_) if ended.threads => Err("it has several threads, which may run in another order".to_owned()),
            PathEnd::Exit(_) if meets_inherited => Err("it may meet descriptors that the program inherits".to_owned()),
            PathEnd::Exit(_) => Ok(Verdict::Clean),
            // How much stack a call takes natively is not known.
            PathEnd::Fault(fault) if fault.kind == FaultKind::StackOverflow => {
                Err("it calls too deep to know that the stack is enough".to_owned())
            }
            PathEnd::Fault(fault) => {
                let places = results::stack(&core.image, &ended.call_stack);
                let place = places.first().map(|place| match place.line {
                    0 => format!(" in `{}`", place.function),
                    line => format!(" at {}:{line} in `{}`", place.file, place.function),
                });
                let text = format!("{}: {}{}", fault.kind, fault.message, place.unwrap_or_default());
                Ok(Verdict::Faulty(self.tree.text(text.as_bytes())))
            }
            PathEnd::Unsupported(what) => Err(format!("unsupported: {what}")),
            PathEnd::Assumed => return,
            PathEnd::Limit(limit) => {
                // Nothing is known, and more time may show more.
                let why = format!("limit: {}", limit.name_and_flag().0);
                if is_first {
                    self.reply.first.clone_from(&why);
                }
                return self.leave_out(&why);
            }
            PathEnd::Internal(what) => Err(format!("a defect of wryneck: {what}")),
        };
        let (steps, unknown) = match self.steps(core, ended, matches!(ended.end, PathEnd::Fault(_))) {
            Ok(all) => all,
            Err(why) => return self.leave_out(&why),
        };
        let verdict = verdict.unwrap_or_else(|why| Verdict::Unverified(self.tree.text(why.as_bytes())));
        if is_first {
            self.reply.first = format!("{}: {what}", class.name());
        }
        // Where sides of a decision are to be verified still, the next verification may do so: that of another input followed its own path first.
        let is_open = unknown.iter().all(|step| step.volatile.is_some()) && !(self.siblings && is_first);
        if let Some(Uncheckable { why, .. }) = unknown.first().filter(|_| !is_open) {
            // Under everything that can be checked nothing is known: this is what is found next time.
            let mut checked: Vec<Step> =
                steps.iter().enumerate().filter(|(i, _)| unknown.iter().all(|step| step.at != *i)).map(|(_, step)| *step).collect();
            if unknown.iter().any(|step| step.volatile.as_ref().is_some_and(|volatile| !volatile.windows.is_empty())) {
                // Soon the time may decide nothing.
                checked.push(self.tree.fact(b"minute", &self.minute));
            }
            let why = self.tree.text(format!("the path depends on {why}").as_bytes());
            self.tree.add(checked, Verdict::Unverified(why));
        }
        self.tree.add(steps, verdict);
        self.reply.paths += 1;
    }
}

/// What is to be known of a condition that depends on input which has another value at each run.
fn volatile(core: &mut Core, cond: ExprId, names: &BTreeSet<String>) -> Option<Volatile> {
    let (mut what, mut windows) = (BTreeSet::new(), BTreeSet::new());
    for (name, window) in names.iter().filter_map(|name| is_volatile(name)) {
        what.insert(name);
        windows.extend(window);
    }
    if what.is_empty() {
        return None;
    }
    let opposite = core.pool.not(cond);
    let digests = [cond, opposite].map(|e| core.pool.digest(e));
    // Both sides name their decision by the lower digest.
    let question = format!("{EITHER}{:032x}", digests[0].min(digests[1])).into_bytes();
    Some(Volatile { what: Vec::from_iter(what).join(", "), windows, question, side: usize::from(digests[1] < digests[0]) })
}

/// A condition that says that a byte of an argument is this one: the question about it, and the byte.
fn byte_of_argument(core: &Core, cond: ExprId) -> Option<(String, u8)> {
    let Kind::Eq(a, b) = core.pool.kind(cond) else { return None };
    let (symbol, value) = match (core.pool.kind(a), core.pool.kind(b)) {
        (Kind::Sym(symbol), Kind::Const) => (symbol, b),
        (Kind::Const, Kind::Sym(symbol)) => (symbol, a),
        _ => return None,
    };
    let info = core.pool.sym_info(symbol);
    is_argument(info.name.as_bytes()).then_some(())?;
    Some((format!("byte {} {}", info.name, info.index), u8::try_from(core.pool.as_u64(value)?).ok()?))
}

/// Adds a fact to a path's steps; where it is one that nobody can check, also its place and what it is.
fn note(tree: &mut Tree, question: &[u8], answer: &[u8], steps: &mut Vec<Step>, unknown: &mut Vec<Uncheckable>) {
    if let Some(what) = [UNWRITTEN, UNKNOWN].iter().find_map(|kind| question.strip_prefix(kind.as_bytes())) {
        let why = String::from_utf8_lossy(what).trim().to_owned();
        unknown.push(Uncheckable { at: steps.len(), why, volatile: None });
    }
    steps.push(tree.fact(question, answer));
}

impl Control for Keeper {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        let now = Instant::now();
        let done = self.first && !self.siblings || self.reply.paths >= self.most;
        match () {
            () if signal::interrupted() || done || self.failed.is_some() => Some(Limit::Interrupted),
            () if now >= self.deadline => Some(Limit::Time),
            () if watchdog::memory_is_over() => Some(Limit::Memory),
            () => {
                if self.next.is_some_and(|next| now >= next) {
                    self.commit();
                }
                None
            }
        }
    }

    fn ended(&mut self, core: &mut Core, ended: Ended) {
        let is_first = !self.first && core.follows_seed(&ended);
        self.store(core, &ended, is_first);
        if is_first {
            self.first = true;
            self.reply.seconds = self.began.elapsed().as_secs_f64();
            self.commit();
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
