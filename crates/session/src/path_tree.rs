//! The tree of explored paths as JSON lines, from which `cargo xtask bench slices` computes what perfect pruning would leave out.
//!
//! One line per path, in the order in which they ended: `after`, the node where it leaves the tree of earlier paths; `new`, its decisions
//! from there on, each one the next node, as `[decision, place, wanted]`; `end`, the class of its end; `events`, its sequence of events
//! if the program ended it. The root is node 0. `wanted` is false for the alternative of a decision that pruning would have left out.
//! Cost: one replay per path, because exploration does not record where decisions are made.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use wryneck_exec::prefix::{Decision, Prefix, PrefixId};
use wryneck_exec::{Ended, Explorer, places};
use wryneck_expr::Model;
use wryneck_report::LedgerRow;
use wryneck_solver::Stop;

use crate::{budget, known, results};

/// The paths that have ended.
#[derive(Default)]
pub struct PathTree {
    paths: Vec<Known>,
}

/// A path, and what is known of its end.
struct Known {
    prefix: Prefix,
    model: Model,
    end: &'static str,
    events: Option<String>,
}

impl PathTree {
    pub fn add(&mut self, ended: &Ended, events: Option<String>) {
        let end = results::class(&ended.end).0.name();
        self.paths.push(Known { prefix: ended.prefix.clone(), model: ended.model.clone(), end, events });
    }

    /// Writes the tree; what was given up, since the run is over.
    pub fn write(&self, file: &Path, explorer: &mut Explorer) -> Result<Option<LedgerRow>> {
        let cannot = || format!("cannot write `{}`", file.display());
        let mut out = BufWriter::new(File::create(file).with_context(cannot)?);
        let mut nodes = FxHashMap::from_iter([(PrefixId::default(), 0_usize)]);
        let stop = Stop::when(|| budget::over_for_good().is_some());
        let mut given_up = None;
        for (number, path) in self.paths.iter().enumerate() {
            if let Some(cause) = budget::over_for_good() {
                let left = (self.paths.len() - number) as u64;
                given_up = Some(known::cut_off("writing the tree of paths", left, cause));
                break;
            }
            writeln!(out, "{}", line(path, &mut nodes, explorer, &stop)).with_context(cannot)?;
        }
        out.flush().with_context(cannot)?;
        Ok(given_up)
    }
}

/// A path's line; its new decisions become nodes.
fn line(path: &Known, nodes: &mut FxHashMap<PrefixId, usize>, explorer: &mut Explorer, stop: &Stop) -> Value {
    let mut places = Vec::new();
    explorer.retrace(&path.prefix.to_vec(), path.model.clone(), stop, &mut |image, decided| {
        places.push(decided.stack.first().map_or(String::new(), |pos| places::name(image, *pos)));
    });
    let mut new = Vec::new();
    let (mut after, mut id) = (0, path.prefix.id());
    for made in path.prefix.backwards() {
        if let Some(node) = nodes.get(&id) {
            after = *node;
            break;
        }
        new.push((id, json!([text(made.decision), places.get(made.index as usize), explorer.wants(made.before, made.decision)])));
        id = made.before;
    }
    new.reverse();
    for (id, _) in &new {
        nodes.insert(*id, nodes.len());
    }
    let new: Vec<Value> = new.into_iter().map(|(_, row)| row).collect();
    json!({ "after": after, "new": new, "end": path.end, "events": path.events })
}

fn text(decision: Decision) -> String {
    match decision {
        Decision::Branch(taken) => taken.to_string(),
        Decision::Choice(way) => format!("way {way}"),
        Decision::Value(value) => format!("value {value}"),
        Decision::Above(value) => format!("above {value}"),
        Decision::Tried(value) => format!("tried {value}"),
    }
}
