//! `wryneck probe`: any function without set-up (paper 2).

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wryneck_ir::Module;

use crate::budget::Budget;
use crate::build::{self, Kind};
use crate::probe::args::{self, ProbeArgs};
use crate::probe::functions;
use crate::probe::one::{self, Probed};
use crate::probe::outcome::{Outcome, Status};
use crate::probe::{evidence, infer, show, sweep};
use crate::problem::problem;
use crate::{carried, output, program, several, signal, watchdog};

/// Time beyond its own that one probe has to prepare the target and to run harnesses.
const MORE: Duration = Duration::from_secs(50);

pub fn run(words: Vec<String>) -> Result<u8> {
    let args = args::parse(words)?;
    signal::catch();
    if args.one {
        // The function's own time is the exploration's; this is for all.
        let time = Duration::from_secs_f64(args.max_time) + MORE;
        watchdog::start(Budget { began: Instant::now(), time: Some(time), memory: args.max_memory });
        let function = args.functions.first().cloned().unwrap_or_default();
        let outcome = probed(&args, &function)?;
        output::write(|out| writeln!(out, "{}", serde_json::to_string(&outcome).unwrap_or_default()))?;
        return Ok(0);
    }
    let names = names(&args)?;
    let chosen = functions::select(&names, &args.functions, &args.target.display().to_string())?;
    let chosen = sweep::shard(chosen, args.shard);
    if args.list {
        let target = args.target.display().to_string();
        output::write(|out| {
            chosen.iter().try_for_each(|name| writeln!(out, "{}", serde_json::json!({ "target": target, "function": name })))
        })?;
        return Ok(0);
    }
    if let Some(file) = &args.infer {
        infer::run(&args, &module(&args)?, &chosen, file)?;
        return Ok(0);
    }
    let outcomes = sweep::run(&args, &chosen)?;
    if let Some(dir) = &args.harnesses {
        fs::create_dir_all(dir).with_context(|| format!("cannot make `{}`", dir.display()))?;
        for (number, finding) in show::merged(&outcomes).iter().enumerate() {
            let Ok(text) = &finding.harness else { continue };
            let file = dir.join(format!("{:03}-{}.c", number + 1, finding.kind));
            fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
        }
    }
    match args.json {
        true => output::write(|out| outcomes.iter().try_for_each(|o| writeln!(out, "{}", serde_json::to_string(o).unwrap_or_default())))?,
        false => output::write(|out| show::write(&outcomes, out))?,
    }
    let clean = outcomes.iter().all(|o| o.findings.is_empty());
    let whole = outcomes.len() == chosen.len() && outcomes.iter().all(|o| o.status == Status::Exhausted);
    Ok(match (clean, whole) {
        (false, _) => 1,
        (true, true) => 0,
        (true, false) => 3,
    })
}

fn probed(args: &ProbeArgs, function: &str) -> Result<Outcome> {
    let Probed { mut outcome, bitcode, .. } = one::probe(args, function)?;
    if args.replay {
        watchdog::works_on("running the harnesses");
        evidence::run(&mut outcome.findings, function, bitcode.as_deref(), args.unconfined)?;
    }
    Ok(outcome)
}

/// The names of the target's functions, in their order.
fn names(args: &ProbeArgs) -> Result<Vec<String>> {
    let content = if Kind::of(&args.target)? == Kind::Native { carried::read(&args.target)? } else { Vec::new() };
    if args.machine_code || carried::is_bare(&content) {
        return functions::of_machine_code(&content, &args.target);
    }
    Ok(program::functions(&module(args)?).into_iter().map(str::to_owned).collect())
}

/// The target, which is bitcode or has it.
fn module(args: &ProbeArgs) -> Result<Module> {
    let content = if Kind::of(&args.target)? == Kind::Native { carried::read(&args.target)? } else { Vec::new() };
    if args.machine_code || carried::is_bare(&content) {
        let what = "`--infer` needs bitcode, which says who calls whom with what";
        return Err(problem(what, "give a C file, bitcode, or what `wryneck build` has made"));
    }
    let carried = several::bitcode(&one::run_args(args, ""), &args.target)?;
    Ok(build::lower(&carried.bitcode, false)?.module)
}
