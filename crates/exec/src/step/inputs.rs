//! Symbolic input that a path makes: its bytes are part of the path's test case.

use std::rc::Rc;

use wryneck_expr::ExprId;

use crate::ground::path_end::{Limit, PathEnd};
use crate::state::Input;
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// Bytes of memory for a symbolic byte: symbol, expression, facts, support and cell. Measured of an object of 4 MB: 343.
const PER_INPUT_BYTE: u64 = 350;

/// New symbolic input of `len` bytes: one 8-bit symbol each, part of the path's test case. A name used before gets a number.
pub fn new_input(cx: &mut Cx<'_>, name: &str, len: u64) -> Vec<ExprId> {
    let name: Rc<str> = unused_input_name(cx, name).into();
    let symbols: Rc<[_]> = (0..len as u32).map(|i| cx.core.pool.symbol(&name, i, 8)).collect();
    let exprs = symbols.iter().map(|s| cx.core.input_byte(*s)).collect();
    cx.state.inputs.push(Input { name, bytes: symbols });
    cx.state.dirty = true;
    exprs
}

/// Whether there is room for an input of `len` bytes; what takes too much memory ends its path by name. To be asked where the user or the program
/// says how large an input is.
pub fn room_for_input(cx: &mut Cx<'_>, name: &str, len: u64) -> Result<(), Stop> {
    if len.saturating_mul(PER_INPUT_BYTE) <= cx.core.config.max_memory {
        return Ok(());
    }
    let what = format!("the symbolic input `{name}` of {len} bytes takes more memory than there may be");
    cx.core.ledger.note(LedgerKind::Limit, what);
    Err(PathEnd::Limit(Limit::PathMemory).into())
}

/// The bytes [`new_input`] would make, so that a model can decide on them before it makes them.
pub fn coming_input(cx: &mut Cx<'_>, name: &str, len: u64) -> Vec<ExprId> {
    let name = unused_input_name(cx, name);
    (0..len as u32)
        .map(|i| {
            let symbol = cx.core.pool.symbol(&name, i, 8);
            cx.core.input_byte(symbol)
        })
        .collect()
}

/// A name no input of the path has: the given one, or with `_1`, `_2` … after it, as KLEE names objects.
pub(crate) fn unused_input_name(cx: &Cx<'_>, name: &str) -> String {
    let used = |name: &str| cx.state.inputs.iter().any(|i| *i.name == *name);
    if !used(name) {
        return name.to_owned();
    }
    let mut number = cx.state.inputs.iter().filter(|i| i.name.starts_with(name)).count();
    while used(&format!("{name}_{number}")) {
        number += 1;
    }
    format!("{name}_{number}")
}
