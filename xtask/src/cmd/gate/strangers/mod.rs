//! Files from strangers: crafted and mutated run folders, tests, rule files, summaries and caches (issue 17, gate 2).
//!
//! Each is given to `wryneck show`, `replay`, `run` or `verify`. Nothing in it may run (a compiler plugin and programs leave a mark), write
//! outside of its own folder, hang, crash the tool, or bring a control character to the terminal. That the marks work is tried first.

mod crafted;
mod forged;
mod mutated;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::{Result, ensure};

use self::world::World;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many mutants, seeds 1 to N; the crafted ones are always tried
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u64,
}

pub fn run(args: &Args) -> Result<()> {
    let world = World::new()?;
    world.try_marks()?;
    let answers: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let bad: Mutex<Vec<String>> = Mutex::default();
    let note = |what: String, answer: Result<String>| match answer {
        Ok(answer) => *answers.lock().expect("no holder panics").entry(answer).or_default() += 1,
        Err(why) => bad.lock().expect("no holder panics").push(format!("{what}: {why:#}")),
    };
    process::parallel(crafted::CASES, |case| {
        note(format!("crafted `{}`", case.name), crafted::run(&world, case));
        Ok(())
    })?;
    let seeds: Vec<u64> = (args.first..args.first + args.count).collect();
    process::parallel(&seeds, |&seed| {
        note(format!("mutant {seed}"), mutated::run(&world, seed));
        Ok(())
    })?;
    let bad = bad.into_inner().expect("no holder panics");
    bad.iter().for_each(|line| println!("{line}"));
    println!("strangers: {} crafted, {} mutants: {:?}", crafted::CASES.len(), args.count, answers.into_inner().expect("no holder panics"));
    ensure!(bad.is_empty(), "{} of them broke the tool", bad.len());
    Ok(())
}
