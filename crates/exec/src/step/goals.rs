//! Goals: places in the code, or output, that a path is to reach or to avoid.
//!
//! A place is an operation of a block. A path that enters the block awaits the operation. It has reached the place when it is at the
//! operation, or has left the block by its end. So a line after a call that never returns is not reached. The block of a goal stays
//! uncovered until then. The inner loop tests coverage anyway, so goals cost nothing elsewhere.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::ExprId;

use crate::ground::image::{CodePos, Image};
use crate::ground::path_end::PathEnd;
use crate::state::State;
pub use crate::state::awaited::Aim;
use crate::state::awaited::Awaited;
use crate::step::core::{Core, LedgerKind};
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// A goal as code that is not lowered yet can have it: machine code by address or by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    Address(u64),
    /// Code near this address only leads to the goal.
    Hint(u64),
    /// Where the code of a function begins that was put inline.
    Inlined(String),
    /// Where a library's function of this name begins, once it is mapped.
    Loaded(String),
    /// A line of the files whose paths end so (see [`is_file`]).
    Line(String, u32),
}

/// The goals of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Goals {
    /// The operations (of their function) to be reached, by block.
    places: FxHashMap<u32, Vec<(u32, Aim)>>,
    /// Blocks that the search goes to.
    pub toward: Vec<u32>,
    /// Sought in machine code as it is lowered.
    marks: Vec<(Mark, Aim)>,
    /// Text in what the program writes to its standard output or error.
    pub outputs: Rc<[(Vec<u8>, Aim)]>,
    /// Blocks of machine code that were looked at.
    seen: u32,
    /// Some path has reached a goal.
    pub(crate) is_reached: bool,
    /// The blocks of functions by their first operations, of so many blocks.
    starts: FxHashMap<u32, (u32, Vec<(u32, u32)>)>,
}

/// Whether a path ends with the components of another, such as `src/wc.c` with `wc.c`.
pub fn is_file(path: &str, end: &str) -> bool {
    path.strip_suffix(end.trim_start_matches("./")).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

impl Goals {
    /// Adds an operation of a block of the program.
    pub fn add(&mut self, block: u32, op: u32, aim: Aim) {
        if matches!(aim, Aim::Find(_)) {
            self.toward.push(block);
        }
        self.places.entry(block).or_default().push((op, aim));
    }

    /// Adds what is to be sought in machine code.
    pub fn mark(&mut self, mark: Mark, aim: Aim) {
        self.marks.push((mark, aim));
    }

    /// Bytes of the longest text that output is to have.
    pub fn longest_output(&self) -> usize {
        self.outputs.iter().map(|(text, _)| text.len()).max().unwrap_or_default()
    }

    /// The blocks of places in the code, in their order.
    pub(crate) fn blocks(&mut self, places: &[CodePos], image: &Image) -> Rc<[u32]> {
        let mut block = |pos: &CodePos| {
            let count = image.function(pos.func).1.blocks.count;
            let (known, starts) = self.starts.entry(pos.func).or_default();
            if *known != count {
                let first = image.first_block_of(pos.func);
                *starts = (first..first + count).map(|block| (image.operations(block).0, block)).collect();
                starts.sort_unstable();
                *known = count;
            }
            let at = starts.partition_point(|(op, _)| *op <= pos.op).saturating_sub(1);
            starts.get(at).map_or(0, |(_, block)| *block)
        };
        places.iter().map(&mut block).collect()
    }

    /// Whether there is a place for this, as far as code is known.
    pub fn has_place(&self, aim: Aim) -> bool {
        self.places.values().flatten().any(|(_, known)| *known == aim)
    }

    /// Whether entering a block is reaching what is to be avoided.
    fn avoids(&self, block: u32, image: &Image) -> bool {
        let begins = |(op, aim): &(u32, Aim)| *aim == Aim::Avoid && *op == image.operations(block).0;
        self.places.get(&block).is_some_and(|places| places.iter().any(begins))
    }
}

impl Core {
    /// Looks for goals in the machine code that was lowered since it was last asked.
    pub(crate) fn mark_lowered(&mut self) {
        let Some(goals) = &mut self.goals else { return };
        if goals.marks.is_empty() || goals.seen == self.image.blocks {
            return;
        }
        let Some(source) = self.code_source.clone() else { return };
        let source = source.borrow();
        let Some(machine) = self.image.machine_code() else { return };
        let (module, function) = self.image.function(machine.func);
        let first = machine.first.block;
        let new = goals.seen.max(first)..self.image.blocks;
        goals.seen = self.image.blocks;
        let mut found = Vec::new();
        for block in new {
            let insts = module.blocks.range(function.blocks)[(block - first) as usize].insts;
            let start = self.image.operations(block).0;
            for (mark, aim) in &goals.marks {
                let matches = |inst: u32| match mark {
                    Mark::Address(address) => source.address_of(inst) == Some(*address),
                    Mark::Hint(address) => source.address_of(inst).is_some_and(|at| at <= *address && address - at < 8),
                    Mark::Inlined(name) => {
                        let at = module.locations[module.inst_locs[inst as usize] as usize];
                        at.line != 0 && module.str(at.function) == name
                    }
                    Mark::Loaded(name) => source.address_of(inst).is_some_and(|at| source.begins_at(name, at)),
                    Mark::Line(file, line) => {
                        let at = module.locations[module.inst_locs[inst as usize] as usize];
                        at.line == *line && is_file(module.str(at.file), file)
                    }
                };
                if let Some(inst) = (insts.first..insts.first + insts.count).find(|inst| matches(*inst)) {
                    found.push((block, start + (inst - insts.first), matches!(mark, Mark::Hint(_)), *aim));
                }
            }
        }
        for (block, op, hint, aim) in found {
            match hint {
                true => goals.toward.push(block),
                false => {
                    goals.add(block, op, aim);
                    self.coverage[block as usize] = 0;
                }
            }
        }
    }

    /// A path enters a block that may be a goal's; `false`: it is none.
    pub(crate) fn meet(&mut self, state: &mut State, block: u32) -> bool {
        let Some(goals) = self.goals.as_ref().filter(|goals| goals.places.contains_key(&block)) else { return false };
        let operations = self.image.operations(block);
        let (depth, func) = (state.frames.len(), self.image.block_owner(block).0);
        for &(op, aim) in &goals.places[&block] {
            state.awaited.retain(|a| (a.depth, a.op, a.aim) != (depth, op, aim));
            state.awaited.push(Awaited { depth, func, block, operations, op, aim });
        }
        true
    }

    /// Notes what a path has reached of what it awaits; an error ends a path that has reached what is to be avoided.
    pub(crate) fn note_reached(&mut self, state: &mut State) -> Result<(), PathEnd> {
        let awaited = std::mem::take(&mut state.awaited);
        for a in awaited {
            match a.aim {
                _ if a.is_ahead(state) => state.awaited.push(a),
                _ if state.reached.is_some() => {}
                Aim::Find(goal) => {
                    state.reached = Some(goal);
                    self.reach(Some(a.block));
                }
                Aim::Avoid => return Err(self.avoided()),
            }
        }
        Ok(())
    }

    /// The goal that a path has reached which ends now, and how it ends.
    pub(crate) fn reached_at_end(&mut self, state: &State, end: PathEnd) -> (Option<u32>, PathEnd) {
        if state.reached.is_some() {
            return (state.reached, end);
        }
        match state.awaited.iter().find(|a| !a.is_ahead(state)).copied() {
            Some(Awaited { aim: Aim::Find(goal), block, .. }) => {
                self.reach(Some(block));
                (Some(goal), end)
            }
            Some(Awaited { aim: Aim::Avoid, .. }) => (None, self.avoided()),
            None => (None, end),
        }
    }

    fn reach(&mut self, block: Option<u32>) {
        if let Some(goals) = &mut self.goals {
            goals.is_reached = true;
        }
        if let Some(block) = block {
            self.coverage[block as usize] = 1;
        }
    }

    fn avoided(&mut self) -> PathEnd {
        self.ledger.note(LedgerKind::Assumption, "paths that reached what `--avoid` names");
        PathEnd::Assumed
    }

    /// Whether the other side of a decision is not explored, since it leads to what is to be avoided.
    pub(crate) fn leads_astray(&mut self, block: Option<u32>) -> bool {
        let avoids = block.zip(self.goals.as_ref()).is_some_and(|(block, goals)| goals.avoids(block, &self.image));
        if avoids {
            self.avoided();
        }
        avoids
    }
}

/// The program is about to write these 8-bit values, behind others. Decides whether a goal's text is among them. Before anything is changed.
pub fn wrote(cx: &mut Cx<'_>, before: &[ExprId], new: &[ExprId]) -> Result<(), Stop> {
    let Some(goals) = cx.core.goals.as_ref().filter(|_| cx.state.reached.is_none()) else { return Ok(()) };
    let outputs = goals.outputs.clone();
    for (text, aim) in outputs.iter() {
        let context = before.len().min(text.len().saturating_sub(1));
        let all: Vec<ExprId> = before[before.len() - context..].iter().chain(new).copied().collect();
        let mut here = ExprId::FALSE;
        for window in all.windows(text.len()) {
            let mut same = ExprId::TRUE;
            for (&byte, &wanted) in window.iter().zip(text) {
                let wanted = cx.core.pool.bits(8, wanted.into());
                let equal = cx.core.pool.eq(byte, wanted);
                same = cx.core.pool.and(same, equal);
                if same == ExprId::FALSE {
                    break;
                }
            }
            here = cx.core.pool.or(here, same);
        }
        if !cx.decide(here)? {
            continue;
        }
        match aim {
            Aim::Avoid => return Err(cx.core.avoided().into()),
            Aim::Find(goal) => {
                cx.state.reached = Some(*goal);
                cx.core.reach(None);
                return Ok(());
            }
        }
    }
    Ok(())
}
