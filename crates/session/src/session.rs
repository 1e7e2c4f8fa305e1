//! A whole exploration in one call, for programs that use the library.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wryneck_report::Run;

use crate::collector::{Begin, Collector, Limits, Listener, Silent};
use crate::folder::Folder;
use crate::halt::Halt;
use crate::host::Shared;
use crate::known::Known;
use crate::plan::Plan;
use crate::worker::Prepared;
use crate::workers::{Team, Work};

/// How an exploration is done. None of it changes what a plan's paths are.
pub struct Options {
    /// Workers side by side. A plan that prunes, or that has seeds or goals, takes one.
    pub workers: u32,
    /// Wall time for the exploration.
    pub time: Option<Duration>,
    /// The run folder, which must be new or empty; without it one is made for the time of the call.
    pub folder: Option<PathBuf>,
    /// Bytes of the run folder.
    pub max_disk: u64,
    /// Told of progress and findings.
    pub listener: Box<dyn Listener>,
}

impl Default for Options {
    fn default() -> Options {
        Options { workers: 1, time: None, folder: None, max_disk: 10 << 30, listener: Box::new(Silent) }
    }
}

/// Explores what a plan says; the report. Findings are not replayed natively. Errors: the target cannot be opened, compiled or linked, an option of the
/// plan is wrong, or the run folder cannot be written.
pub fn explore(plan: &Plan, options: Options) -> Result<Run> {
    let start = Instant::now();
    let Options { workers, time, folder, max_disk, listener } = options;
    let alone = plan.prune.is_some() && !plan.rules.is_empty() || plan.is_led() || !plan.avoid.is_empty();
    let workers = if alone { 1 } else { workers.max(1) };
    let scratch = tempfile::tempdir().context("cannot make a scratch folder")?;
    let place = folder.unwrap_or_else(|| scratch.path().join("run"));
    let host = Shared::default();
    let prepared = Prepared::new(plan, &host)?;
    let folder = Folder::create(Some(&place), max_disk, &[])?;
    let limits = Limits { halt: Halt::new(), time, instructions: plan.config.max_instructions, replays: false };
    limits.halt.set_deadline(time.map(|time| start + time));
    let work = Work { plan: plan.clone(), host: host.clone(), halt: limits.halt.clone(), keeps_tree: false };
    let notes = prepared.notes.clone();
    let mut team = Team::new(work, prepared, workers)?;
    let program = plan.target.display().to_string().into_bytes();
    let mut collector = Collector::new(Begin {
        folder,
        known: Known::default(),
        limits,
        emit: plan.emit,
        args: std::iter::once(program).chain(plan.words.iter().map(|word| word.clone().into_bytes())).collect(),
        host,
        notes,
        workers,
        listener,
    });
    collector.notes.extend(team.notes());
    collector.aim_at(&plan.find);
    team.explore(None, &mut collector)?;
    let explored = start.elapsed();
    team.trace(&mut collector);
    collector.findings.all_changed();
    collector.save();
    let run = collector.run(Vec::new(), explored);
    if let Some(error) = collector.folder.finish(&run).into_iter().next() {
        return Err(error);
    }
    team.keep();
    Ok(run)
}
