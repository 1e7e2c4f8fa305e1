//! Contracts checked where they are relied on: at each call of a function, whether the path implies what the function requires.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use wryneck_exec::plugin::Monitor;
use wryneck_exec::state::NoData;
use wryneck_exec::{Call, Cx, PathData, PathEnd, Stop, Value, memory};
use wryneck_expr::{ExprId, Pool};
use wryneck_probe::contract::{self, Source, Types};
use wryneck_probe::shape::Param;

/// What is required of the calls of one function.
pub struct Required {
    pub function: String,
    /// Conditions in C syntax.
    pub conditions: Vec<String>,
    pub params: Vec<Param>,
}

/// What calls showed of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Calls whose path implies it.
    pub held: u64,
    /// Other calls.
    pub broken: u64,
}

/// Looks at the calls of some functions.
pub struct Checks {
    all: Vec<Required>,
    /// By `function: condition`.
    pub seen: RefCell<BTreeMap<String, Seen>>,
}

impl Checks {
    pub fn new(all: Vec<Required>) -> Checks {
        Checks { all, seen: RefCell::default() }
    }
}

/// The name of a condition of a function, in a file of contracts and in results.
pub fn line(function: &str, condition: &str) -> String {
    format!("{function}: requires {condition}")
}

impl Monitor for Checks {
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(NoData)
    }

    fn watches(&self, name: &str) -> bool {
        self.all.iter().any(|required| required.function == name)
    }

    fn on_call(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop> {
        for required in self.all.iter().filter(|required| required.function == call.name) {
            for text in &required.conditions {
                let mut place = CallPlace { call, params: &required.params, cx };
                // What cannot be told is not guaranteed.
                let holds = match contract::condition(text, &Types::default(), &mut place) {
                    Ok(cond) => implied(cond, cx)?,
                    Err(_) => false,
                };
                let mut seen = self.seen.borrow_mut();
                let seen = seen.entry(line(call.name, text)).or_default();
                match holds {
                    true => seen.held += 1,
                    false => seen.broken += 1,
                }
            }
        }
        Ok(false)
    }

    fn on_return(&self, _: Option<Value>, _: &mut Cx<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn on_unwind(&self, _: u32, _: &mut Cx<'_>) {}

    fn on_end(&self, _: &PathEnd, _: &mut Cx<'_>) {}
}

/// Whether the path implies a condition. Asks the solver.
fn implied(cond: ExprId, cx: &mut Cx<'_>) -> Result<bool, Stop> {
    let not = cx.core.pool.not(cond);
    match cx.core.pool.as_u64(not) {
        Some(not) => Ok(not == 0),
        None => Ok(cx.ask(not)?.is_none()),
    }
}

/// The values at a call.
struct CallPlace<'a, 'c, 'x> {
    call: &'a Call<'a>,
    params: &'a [Param],
    cx: &'c mut Cx<'x>,
}

impl Source for CallPlace<'_, '_, '_> {
    fn pool(&mut self) -> &mut Pool {
        &mut self.cx.core.pool
    }

    fn param(&mut self, name: &str) -> Option<contract::Value> {
        let index = self.params.iter().position(|param| param.name == name && param.by_value == 0)?;
        // Wider ones take several arguments.
        let is_word = |param: &Param| param.width <= 64;
        let param = self.params[..=index].iter().all(is_word).then(|| &self.params[index])?;
        let pool = &mut self.cx.core.pool;
        let whole = match *self.call.args.get(index)? {
            Value::Bits(bits) => pool.bits(param.width, bits),
            Value::Sym(e) if pool.width(e) > param.width => pool.extract(e, 0, param.width),
            Value::Sym(e) => e,
        };
        let expr = if pool.width(whole) < 64 { pool.sext(whole, 64) } else { whole };
        Some(contract::Value::of_param(param, expr))
    }

    fn load(&mut self, from: &contract::Value, bits: u32) -> Result<ExprId, String> {
        let address = wryneck_probe::resolved(from.expr, self.cx).ok_or("a pointer to a known object")?;
        let bytes: Option<Vec<ExprId>> = (0..u64::from(bits / 8)).map(|i| memory::byte_at(self.cx, address.wrapping_add(i))).collect();
        let bytes = bytes.ok_or("a pointer to memory")?;
        Ok(memory::joined(self.cx, &bytes))
    }
}
