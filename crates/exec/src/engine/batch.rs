//! A batch: how long a path runs before the searcher selects again. Meanwhile the caller is asked at intervals whether to go on.

use super::Control;
use super::adopt::Adopting;
use crate::ground::path_end::PathEnd;
use crate::state::State;
use crate::step::core::Core;
use crate::step::held;
use crate::step::plugin::Stop;
use crate::step::turn::{BLOCK, POLL, step};

/// Queries inside a path between two looks at the clock.
const POLL_QUERIES: u64 = 16;
/// Decisions between two looks at the clock.
const POLL_DECISIONS: u64 = 64;
/// New expressions asked for between two looks at the clock.
const POLL_REWRITES: u64 = 200_000;
/// Bytes of memory that block operations may fill between two looks at the clock and at memory.
const POLL_BYTES: u64 = 16 << 20;

/// Runs a path until it ends (`Some`) or its batch is used up.
pub(super) fn run(core: &mut Core, adopting: &mut Adopting, pending: usize, state: &mut State, control: &mut dyn Control) -> Option<Stop> {
    let batch = core.config.batch;
    core.shares_snapshots = shares_snapshots(core, pending);
    let (mut used, mut before) = (0, None);
    while used < batch {
        let mut budget = POLL;
        let (queries, decisions, work) = (core.stats.solver_checks, core.stats.decisions, core.work());
        let rewrites = core.pool.rewrites();
        core.block_bytes = 0;
        let ended = loop {
            let mut stepped = step(core, state, &mut budget);
            if !state.awaited.is_empty() && stepped.is_ok() {
                stepped = core.note_reached(state).map_err(Stop::from);
            }
            let asked = core.stats.solver_checks - queries >= POLL_QUERIES;
            let decided = core.stats.decisions - decisions >= POLL_DECISIONS;
            let rewritten = core.pool.rewrites().wrapping_sub(rewrites) >= POLL_REWRITES;
            match stepped {
                Ok(()) if budget < 0 || asked || decided || rewritten || core.block_bytes >= POLL_BYTES => break None,
                Ok(()) => {}
                Err(stop) => break Some(stop),
            }
        };
        let ran = (POLL - budget) as u64 + std::mem::take(&mut core.entered);
        state.instructions += (POLL - budget) as u64;
        core.stats.instructions += ran;
        used += core.work().saturating_sub(work).max(1) + core.block_bytes / BLOCK;
        if ended.is_some() {
            return ended;
        }
        let mut checked = held::check(core, state);
        if checked.is_ok() && core.config.alone && (budget < 0 || core.block_bytes >= POLL_BYTES) {
            let now = control.memory_used();
            let before = *before.get_or_insert(now);
            checked = held::check_growth(core, before, now);
            // Tables that double leave their old half with the allocator for a while.
            if checked.is_err() {
                checked = held::check_growth(core, before, control.memory_trimmed());
            }
        }
        if let Err(stop) = checked {
            return Some(stop);
        }
        if let Some(limit) = control.stop(core, pending) {
            adopting.cut_path(core, state);
            return Some(PathEnd::Limit(limit).into());
        }
    }
    None
}

/// Whether flips share snapshots ([`crate::Config::own_snapshots`]).
fn shares_snapshots(core: &Core, pending: usize) -> bool {
    /// Paths that count as ended from the beginning: a small frontier has its snapshots.
    const PATHS: u64 = 128;
    let Core { monitor, lazy, goals, stats, config, .. } = core;
    let own = config.own_snapshots.saturating_mul(stats.paths + PATHS);
    monitor.is_none() && lazy.is_none() && goals.is_none() && pending as u64 >= own
}
