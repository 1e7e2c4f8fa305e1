//! Paths that follow given inputs. A state starts with the input as its model (docs/design/001), and concretisation fixes values to those
//! of the input.
//!
//! On other paths a concretisation takes the smallest value, or that of the model where the smallest one is hard to find. A guided path
//! first decides whether the value is its model's. So the path of the seed is run first, and the other values are its flip. The value is a
//! decision of its own ([`Decision::Tried`]), so a prefix needs no seed to be replayed. Flips of guided paths are guided, too: their models
//! differ from the seed where they must.

use std::rc::Rc;

use wryneck_expr::{ExprId, Model, Pool, SymId};
use wryneck_solver::PVec;

use crate::ground::prefix::Decision;
use crate::state::Input;
use crate::step::core::{Core, Ended};
use crate::step::cx::{Cx, Least, is_in};
use crate::step::inputs;
use crate::step::plugin::Stop;

/// Values of bytes by the names of the inputs that they are in.
pub type Inputs = Vec<(String, Vec<u8>)>;

/// The model that gives inputs these bytes, and others 0.
pub(crate) fn model(pool: &mut Pool, inputs: &[(String, Vec<u8>)]) -> Model {
    let all: Vec<_> = inputs.iter().flat_map(|(name, bytes)| values(pool, name, bytes)).collect();
    Model::empty().with(&all)
}

/// The bytes that a model gives inputs.
pub(crate) fn given(inputs: &PVec<Input>, model: &Model) -> Inputs {
    let bytes = |input: &Input| input.bytes.iter().map(|symbol| model.get(*symbol) as u8).collect();
    inputs.iter().map(|input| (input.name.to_string(), bytes(input))).collect()
}

fn values(pool: &mut Pool, name: &str, bytes: &[u8]) -> Vec<(SymId, u64)> {
    (0..).zip(bytes).map(|(i, byte)| (pool.symbol(name, i, 8), u64::from(*byte))).collect()
}

impl Core {
    /// The seed's bytes of an input.
    pub(crate) fn add_seed(&mut self, name: &str, bytes: &[u8]) {
        let values = values(&mut self.pool, name, bytes);
        self.seed = self.seed.as_ref().map(|seed| seed.with(&values));
    }

    /// Whether a path that ended is the seed's. Asks no solver.
    pub fn follows_seed(&mut self, ended: &Ended) -> bool {
        let Some(seed) = self.seed.clone() else { return false };
        ended.path.constraints().into_iter().all(|cond| self.eval.holds(&self.pool, cond, &seed))
    }
}

/// Fixes an expression to the value that the path's model has; all others become a pending flip. Asks no solver.
pub(crate) fn take_value_of_model(cx: &mut Cx<'_>, e: ExprId) -> Result<u64, Stop> {
    let value = cx.core.eval.eval(&cx.core.pool, e, &cx.state.model);
    cx.record(Decision::Tried(value));
    let is = is_in(cx, e, (value, 1));
    cx.decide(is)?;
    Ok(value)
}

/// The value that a guided path's model, or the script, has for an expression: what is to be tried first.
fn tried(cx: &mut Cx<'_>, e: ExprId) -> Result<Option<u64>, Stop> {
    let value = match cx.state.script.front() {
        Some(&Decision::Tried(value)) => {
            cx.state.script.pop_front();
            value
        }
        None if cx.state.guided => {
            cx.count_decision()?;
            cx.core.eval.eval(&cx.core.pool, e, &cx.state.model)
        }
        Some(_) | None => return Ok(None),
    };
    cx.record(Decision::Tried(value));
    Ok(Some(value))
}

/// The value of an expression on a guided path, if the path takes the value that its model has, which is decided here.
pub(crate) fn seeded(cx: &mut Cx<'_>, e: ExprId) -> Result<Option<u64>, Stop> {
    Ok(seeded_range(cx, e, &|_, value| (value, 1))?.map(|(value, _)| value))
}

/// As `seeded`, of the range that the value lies in, which `range` tells (first value and how many). Gives the model's value and the range. On a path that is
/// run again more than one may have been tried: each time the smallest of the others was hard to find.
pub(crate) fn seeded_range(cx: &mut Cx<'_>, e: ExprId, range: &dyn Fn(&Cx<'_>, u64) -> (u64, u64)) -> Result<Option<Least>, Stop> {
    while let Some(value) = tried(cx, e)? {
        let range = range(cx, value);
        let is = is_in(cx, e, range);
        if cx.decide(is)? {
            return Ok(Some((value, range)));
        }
        if !matches!(cx.state.script.front(), Some(Decision::Tried(_))) {
            break;
        }
    }
    Ok(None)
}

/// As `seeded`, of a string: its bytes up to the first zero.
pub fn seeded_string(cx: &mut Cx<'_>, bytes: &[ExprId]) -> Result<Option<Vec<u8>>, Stop> {
    let (mut name, mut same) = (Vec::new(), ExprId::TRUE);
    for &byte in bytes {
        let Some(value) = tried(cx, byte)? else { return Ok(None) };
        let is = is_in(cx, byte, (value, 1));
        same = cx.core.pool.and(same, is);
        if value == 0 {
            break;
        }
        name.push(value as u8);
    }
    Ok(cx.decide(same)?.then_some(name))
}

/// New symbolic input whose bytes the seed has. A path that decides for itself takes them; one that is run again has its model.
pub fn seeded_input(cx: &mut Cx<'_>, name: &str, bytes: &[u8]) -> Vec<ExprId> {
    let symbols = inputs::new_input(cx, name, bytes.len() as u64);
    let Some(name) = cx.state.inputs.iter().last().map(|input| Rc::clone(&input.name)) else { return symbols };
    seed_with(cx, &name, bytes);
    symbols
}

/// The bytes [`seeded_input`] would make, so that a model can decide on them before it makes them, by [`inputs::new_input`].
pub fn coming_input(cx: &mut Cx<'_>, name: &str, bytes: &[u8]) -> Vec<ExprId> {
    let symbols = inputs::coming_input(cx, name, bytes.len() as u64);
    let name = inputs::unused_input_name(cx, name);
    seed_with(cx, &name, bytes);
    symbols
}

fn seed_with(cx: &mut Cx<'_>, name: &str, bytes: &[u8]) {
    cx.core.add_seed(name, bytes);
    if cx.state.script.is_empty() {
        let values = values(&mut cx.core.pool, name, bytes);
        cx.state.model = cx.state.model.with(&values);
    }
}
