//! Optimistic solving: a side that cannot be taken on its path may be taken by an input of another path. A parser has looked at a byte before it looks at it
//! again, so the path excludes what the second look asks for. The side's condition alone then gives an input, which is tried as a mutant is
//! (Yun et al., "QSYM", USENIX Security 2018, section 3.3).

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Model};
use wryneck_solver::{Answer, Budget, PVec, PathCondition};

use crate::state::Input;
use crate::step::core::{Core, Flip};
use crate::step::seed::{Inputs, given};
use crate::step::sides::Way;

/// Tries of a block or a side.
const MOST: u8 = 16;
/// As in [`Budget`].
const CONFLICTS: u64 = 100;
const GATES: u64 = 20_000;

/// Inputs for sides that no path has taken.
#[derive(Default)]
pub struct Optimistic {
    /// There is a fuzzer that tries them.
    pub(crate) wanted: bool,
    /// By [`Entry::index`].
    tried: FxHashMap<usize, u8>,
    found: Vec<Inputs>,
}

impl Optimistic {
    /// Those since it was asked last.
    pub(crate) fn take(&mut self) -> Vec<Inputs> {
        std::mem::take(&mut self.found)
    }
}

/// A side whose condition cannot hold on its path, which made these inputs and has this model. Asks the solver, without the path, if a fuzzer
/// tries such inputs and no path has taken the side.
pub(crate) fn try_alone(core: &mut Core, cond: ExprId, way: Option<Way>, inputs: &PVec<Input>, model: &Model) {
    let Some(way) = way.filter(|_| core.optimistic.wanted && core.recorder.is_none()) else { return };
    let Some(new) = way.new_entry(core) else { return };
    let tried = core.optimistic.tried.entry(new.index()).or_default();
    if *tried == MOST {
        return;
    }
    *tried += 1;
    let budget = Budget { conflicts: CONFLICTS, cone: GATES, ..Budget::until(core.end_signal.clone()) };
    if let Answer::Sat(model) = core.solver.check(&mut core.pool, &PathCondition::default(), cond, model, &budget) {
        core.optimistic.found.push(given(inputs, &model));
    }
}

/// As [`try_alone`], of a flip that cannot be taken, or whose query was given up.
pub(crate) fn try_flip_alone(core: &mut Core, flip: &Flip) {
    if let Some(state) = &flip.state {
        try_alone(core, flip.cond, flip.way, &state.inputs, &flip.model);
    }
}
