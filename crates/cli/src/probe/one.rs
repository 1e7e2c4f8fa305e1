//! The probe of one function, in this process.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustc_hash::FxHashSet;
use wryneck_environ::{Entry, Linux, NoHost, Parameter, ParameterKind, ProgramInput};
use wryneck_exec::config::Uninit;
use wryneck_exec::plugin::Monitor;
use wryneck_exec::{Config, Cx, Explorer, Image, LedgerKind, Limit, Outcome as Ending, PathEnd, Stop, globals, search};
use wryneck_expr::Pool;
use wryneck_probe::contract::Types;
use wryneck_probe::shape::Param;
use wryneck_probe::{Calls, MARK, Probe};
use wryneck_session::{Overflow, Plan};
use wryneck_solver::Solver;

use super::args::ProbeArgs;
use super::check::Checks;
use super::collect::Collector;
use super::contract;
use super::functions;
use super::outcome::{Outcome, Status};
use super::types;
use crate::names::matches;
use crate::problem::problem;
use crate::rules::{self, Rules};
use crate::target::{Linked, Target};
use crate::{child, machine, watchdog};

/// Conflicts of the SAT search that one query may cost.
const QUERY_CONFLICTS: u64 = 2_000;

/// What was found, and the bitcode that it was found in.
pub struct Probed {
    pub outcome: Outcome,
    pub bitcode: Option<PathBuf>,
    /// Some path has skipped a call that `--skip` names.
    skipped_by_name: bool,
}

impl Probed {
    fn unsupported(function: &str, why: String) -> Probed {
        Probed { outcome: Outcome::unsupported(function, why), bitcode: None, skipped_by_name: false }
    }
}

/// The arguments that `wryneck run` would have for one function of the target.
pub fn run_args(args: &ProbeArgs, function: &str) -> Plan {
    let config = Config {
        uninit: Uninit::Symbolic,
        loop_limit: args.loop_limit,
        max_memory: args.max_memory / 2,
        max_resolutions: 16,
        max_targets: 64,
        max_symbolic_block: 1 << 18,
        // A hash or a product costs one path its rest, not the function its time.
        query_conflicts: QUERY_CONFLICTS,
        ..Config::default()
    };
    Plan {
        target: args.target.clone(),
        entry: Some(function.to_owned()),
        cc_flags: args.cc_flags.clone(),
        overflow: args.overflow.as_deref().and_then(|text| Overflow::parse(text).ok()).unwrap_or_default(),
        machine_code: args.machine_code,
        fail_calls: args.fail_calls,
        max_memory: args.max_memory,
        rules: args.rules.clone(),
        skip_undefined: true,
        skip: args.skip.clone(),
        config,
        ..Plan::default()
    }
}

/// Probes one function; then again without skipping what `--skip` names, if calls were skipped for it and time is left (iterative deepening,
/// paper 2, section 2.2). The error is one of the target or of the options, not of the function.
pub fn probe(args: &ProbeArgs, function: &str) -> Result<Probed> {
    let start = Instant::now();
    let mut first = round(args, function)?;
    let left = args.max_time - start.elapsed().as_secs_f64();
    // Of less time the second round would make nothing but partial results.
    if !args.deepen || !first.skipped_by_name || left < args.max_time / 4.0 {
        return Ok(first);
    }
    let deeper = round(&ProbeArgs { skip: Vec::new(), max_time: left, ..args.clone() }, function)?;
    first.outcome.deepen(deeper.outcome);
    Ok(first)
}

fn round(args: &ProbeArgs, function: &str) -> Result<Probed> {
    let (start, worked) = (Instant::now(), child::processor_time());
    let run = run_args(args, function);
    let checkers = rules::find(&run.rules)?;
    let mut input = ProgramInput { constructors: args.constructors, fail_calls: args.fail_calls, ..ProgramInput::default() };
    watchdog::works_on("preparing the target");
    let mut target = match Target::open(&run, &mut input, &rules::functions(&checkers)) {
        Ok(target) => target,
        Err(error)
            if ["is neither an integer nor a pointer", "takes variable arguments"].iter().any(|why| error.to_string().contains(why)) =>
        {
            return Ok(Probed::unsupported(function, error.to_string()));
        }
        Err(error) => return Err(error),
    };
    let required = match &target {
        Target::Bitcode { module, .. } => contract::checked(args, module)?,
        Target::Machine(_) => Vec::new(),
    };
    let mut entry = function.to_owned();
    let params = match &mut target {
        Target::Bitcode { module, .. } => {
            let index = functions::find(module, function)
                .ok_or_else(|| problem(format!("the program has no function `{function}`"), "`--list --all` lists them"))?;
            entry = wryneck_session::program::make_visible(module, index).unwrap_or(entry);
            functions::params(module, &module.functions[index])
        }
        Target::Machine(_) => Ok(params_of(&input.entry)),
    };
    let params = match params {
        Ok(params) => params,
        Err(why) => return Ok(Probed::unsupported(function, why)),
    };
    let given = params.iter().map(parameter).collect();
    input.entry = Entry::Function { name: entry, pointee: 0, parameters: Some(given) };
    let environment = Rc::new(Linux::new(input, Rc::new(NoHost)));
    watchdog::works_on("linking");
    let Linked { program, entry, bitcode, mut code, .. } = target.link(&run, &environment)?;
    let mut pool = Pool::new();
    let mut image = Image::new(program, &*environment, &mut pool);
    if let Some(code) = &mut code {
        machine::map(&run, code, &mut image, &mut pool)?;
    }
    let variables = code.as_ref().map_or_else(|| globals::written(&image), |code| code.elf.written());
    if !args.globals_initial {
        globals::leave_unwritten(&mut image, &variables, &mut pool);
    }
    let is_machine_code = code.is_some();
    let all = || 0..image.program.functions().len() as u32;
    let own = |f: &u32| !image.is_library(*f);
    let skipped: FxHashSet<u32> = all().filter(own).filter(|f| args.skip.iter().any(|p| matches(p, image.name(*f)))).collect();
    let names: FxHashSet<String> = all().filter(own).map(|f| image.name(f).to_owned()).collect();
    let contracts = contract::of(args, function)?;
    let types = match contracts.iter().any(|contract| contract.text.contains("->")) {
        true => types::of(function, code.as_ref(), bitcode.as_deref())?,
        false => Types::default(),
    };
    let checks = (!required.is_empty()).then(|| Rc::new(Checks::new(required)));
    let watched = (!checkers.is_empty()).then(|| Rules::new(checkers, run.policy, &image, is_machine_code));
    let rules = || watched.as_ref().map(|rules| rules.automata.clone() as Rc<dyn Monitor>);
    let monitor = checks.clone().map(|checks| checks as Rc<dyn Monitor>).or_else(rules);
    let solver = Solver::new(run.solver.clone()).map_err(|error| problem(error.to_string(), ""))?;
    let search =
        search::by_names(&run.config.search, run.config.seed).map_err(|name| problem(format!("no searcher is called `{name}`"), ""))?;
    let config = Config { machine_code: is_machine_code, ..run.config.clone() };
    let mut explorer = Explorer::new(image, pool, solver, environment, monitor, config, search);
    explorer.core.code_source = code.map(|code| Rc::new(RefCell::new(code)) as _);
    let calls = Rc::new(Calls::default());
    explorer.make_inputs(
        Rc::new(Probe { bounds: args.bounds, calls: calls.clone(), variables: variables.iter().map(|v| v.address).collect() }),
        skipped,
    );
    let defined = |name: &str| names.contains(name);
    let deadline = start + Duration::from_secs_f64(args.max_time);
    let mut collector = Collector::new(function, &params, deadline, args.report, &defined);
    collector.rules = watched;
    collector.calls = calls;
    collector.most_stale = args.stale;
    collector.most_stale_time = Duration::from_secs_f64(args.stale_time);
    collector.skips = &args.skip;
    let mut required = Vec::new();
    for contract in &contracts {
        required.push(contract.condition(&params, &types, &mut explorer.core.pool)?);
        collector.contracts.push(contract.text.clone());
    }
    watchdog::works_on("the exploration");
    let holds = |cx: &mut Cx<'_>| {
        required.iter().try_for_each(|cond| cx.assume(*cond))?;
        Ok(Vec::new())
    };
    let ending = match explorer.start(entry, holds) {
        Ok(()) => explorer.explore(&mut collector),
        Err(Stop::End(PathEnd::Assumed)) => {
            return Err(problem(format!("no input of `{function}` satisfies its contracts"), "see the file that `--contracts` names"));
        }
        Err(Stop::End(_) | Stop::Bind(_) | Stop::Switch(_)) => Ending::Stopped(Limit::Interrupted),
    };
    if let Ending::Stopped(limit) = ending {
        let what = if collector.is_stale() { "stale" } else { limit.name_and_flag().0 };
        *collector.bounded.entry(what.to_owned()).or_default() += explorer.pending().max(1) as u64;
    }
    // Values that the engine did not try, and calls that no model follows.
    let left_out = [LedgerKind::DroppedFlip, LedgerKind::FailedModel, LedgerKind::UnknownSystemCall];
    for ((_, what), count) in explorer.core.ledger.rows.iter().filter(|((kind, _), _)| left_out.contains(kind)) {
        *collector.bounded.entry(what.clone()).or_default() += count;
    }
    let status = match (collector.bounded.is_empty(), collector.unsupported.is_empty(), explorer.core.stats.paths) {
        (true, true, _) => Status::Exhausted,
        (true, false, paths) if collector.unsupported.values().sum::<u64>() == paths => Status::Unsupported,
        _ => Status::Bounded,
    };
    let stats = &explorer.core.stats;
    let outcome = Outcome {
        paths: stats.paths,
        complete: collector.complete,
        branches: std::mem::take(&mut collector.branches),
        havocked: collector.havocked,
        instructions: stats.instructions,
        blocks: Collector::blocks(&explorer, function),
        milliseconds: start.elapsed().as_millis() as u64,
        processor_milliseconds: child::processor_time().saturating_sub(worked).as_millis() as u64,
        bounded: std::mem::take(&mut collector.bounded),
        unsupported: std::mem::take(&mut collector.unsupported),
        findings: collector.take_findings(),
        checked: checks.map(|checks| checks.seen.take()).unwrap_or_default(),
        ..Outcome::empty(function, status)
    };
    let skipped_by_name = collector.skipped_by_name;
    // Taking the exploration apart would take longer than many a probe.
    std::mem::forget(explorer);
    Ok(Probed { outcome, bitcode, skipped_by_name })
}

/// What a function of machine code takes.
fn params_of(entry: &Entry) -> Vec<Param> {
    let Entry::Function { parameters: Some(parameters), .. } = entry else { return Vec::new() };
    let param = |p: &Parameter| match p.kind {
        ParameterKind::Scalar(width) => Param { name: p.name.clone(), width, by_value: 0 },
        ParameterKind::Pointer | ParameterKind::Variable => Param { name: p.name.clone(), width: 64, by_value: 0 },
        ParameterKind::ByValue(size) => Param { name: p.name.clone(), width: 64, by_value: size as u32 },
    };
    parameters.iter().map(param).collect()
}

/// A parameter as an under-constrained input.
fn parameter(param: &Param) -> Parameter {
    let kind = match param.by_value {
        0 => ParameterKind::Scalar(param.width),
        size => ParameterKind::ByValue(size.into()),
    };
    Parameter { name: format!("{MARK}{}", param.name), kind }
}
