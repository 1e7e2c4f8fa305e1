//! Under-constrained execution (paper 2): any function runs without set-up, and only errors that must happen are reported.
//!
//! [`Probe`] implements the engine's [`LazyInputs`]. Suggested reading order:
//!
//! - [`data`]: what a path knows of its inputs.
//! - [`word`]: which part of an address is the pointer.
//! - [`bind`]: objects on demand.
//! - [`access`]: growing objects.
//! - [`skip`]: calls that are not followed.
//! - [`grade`]: must or may.
//! - [`told`]: which tests of callees their callers know.
//! - [`shape`], [`condition`]: inputs and preconditions as C.
//! - [`harness`]: a C program that shows a finding.
//! - [`contract`]: what callers guarantee.
//!
//! **Marks.** A symbol whose name begins with [`MARK`] is under-constrained; any other is exactly constrained. A mark travels with a value, because it
//! belongs to the symbol. Where an exact symbol shares constraints with an under-constrained one, [`grade`] treats it as under-constrained, too:
//! on that path alone, and only symbols of the same independent set (paper 2, section 2.2).
#![forbid(unsafe_code)]

mod access;
mod bind;
pub mod condition;
pub mod contract;
pub mod data;
pub mod grade;
pub mod harness;
pub mod shape;
mod skip;
pub mod told;
mod versions;
mod word;

use std::rc::Rc;

use wryneck_exec::ground::memory::HeapObject;
use wryneck_exec::plugin::{LazyInputs, LoopEffects};
use wryneck_exec::pointer::Object;
use wryneck_exec::{Call, CodePos, Cx, PathData, PathEnd, Stop, Value, leaves_loop};
use wryneck_expr::{ExprId, Pool};

pub use data::{Inputs, Made};
pub use grade::{Grade, Verdict};
pub use told::Calls;

/// What the names of under-constrained symbols begin with; no input of a program does.
pub const MARK: &str = "uc:";

/// Bytes before the address that a pointer is bound to: room for `container_of`.
pub const LEAD: u64 = 512;

/// Symbols of a test that is kept for later. A value that tables were asked for has hundreds.
const SMALL: usize = 512;

/// Bounds of the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes that a lazily made object may grow to after the address its pointer has.
    pub object_bytes: u64,
    /// Existing objects that an unbound pointer may also point to.
    pub aliases: u32,
    /// Objects on one path.
    pub objects: u32,
    /// Whether objects are made at all; if not, the first use of an unbound pointer is a fault (the base of paper 2's Figure 3).
    pub makes: bool,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { object_bytes: 16384, aliases: 2, objects: 64, makes: true }
    }
}

/// Makes inputs on demand.
pub struct Probe {
    pub bounds: Bounds,
    /// What the paths so far have shown of calls.
    pub calls: Rc<Calls>,
    /// Addresses of the variables that the program itself can write.
    pub variables: Rc<[u64]>,
}

/// Whether an expression mentions an under-constrained symbol.
pub fn is_lazy(pool: &Pool, e: ExprId) -> bool {
    pool.support(e).iter().any(|s| pool.sym_info(*s).name.starts_with(MARK))
}

/// The address that a pointer has on the path, if it is bound or known. Asks no solver.
pub fn resolved(pointer: ExprId, cx: &mut Cx<'_>) -> Option<u64> {
    let pointer = bind::replaced(pointer, cx);
    cx.core.pool.as_u64(pointer)
}

impl LazyInputs for Probe {
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(Inputs { variables: self.variables.clone(), ..Inputs::default() })
    }

    fn resolve(&self, address: ExprId, cx: &mut Cx<'_>) -> Result<ExprId, Stop> {
        let resolved = bind::resolve(address, cx)?;
        if resolved != address {
            self.calls.note_use(cx);
        }
        Ok(resolved)
    }

    fn is_lazy(&self, address: ExprId, cx: &Cx<'_>) -> bool {
        is_lazy(&cx.core.pool, address)
    }

    fn is_unbound(&self, address: ExprId, cx: &Cx<'_>) -> bool {
        is_lazy(&cx.core.pool, address) && !bind::is_in_program(address, cx)
    }

    fn bind(&self, address: ExprId, cx: &mut Cx<'_>) -> Result<(), Stop> {
        bind::bind(self, address, cx)
    }

    fn access(&self, object: &Object, offset: ExprId, size: u64, write: bool, cx: &mut Cx<'_>) -> Result<ExprId, Stop> {
        access::access(self, object, offset, size, write, cx)
    }

    fn unwritten(&self, address: u64, cx: &mut Cx<'_>) -> ExprId {
        access::unwritten(address, cx)
    }

    fn name(&self, object: u64, cx: &Cx<'_>) -> Option<(String, u64)> {
        let made = cx.state.lazy::<Inputs>().made(object)?;
        Some((format!("what `{}` points to", made.pointer), made.at - made.base))
    }

    fn pointer(&self, pointer: ExprId, cx: &Cx<'_>) -> String {
        word::name(&cx.core.pool, pointer)
    }

    fn freed(&self, address: u64, cx: &Cx<'_>) -> Option<HeapObject> {
        let found = cx.state.memory.heap.find(address)?;
        let made = cx.state.lazy::<Inputs>().made(found.base)?;
        // It may begin anywhere up to where its pointer points to (`container_of`), but not after bytes that the path has used.
        let start = address.wrapping_sub(made.at) as i64;
        let size = found.size.saturating_sub(address - found.base);
        (address <= made.at && made.low >= start).then_some(HeapObject { base: address, size, ..found })
    }

    fn is_index(&self, offset: ExprId, scale: u32, cx: &Cx<'_>) -> bool {
        is_lazy(&cx.core.pool, offset) && (scale > 1 || !word::has_pointer(offset, cx))
    }

    fn is_base(&self, address: ExprId, cx: &mut Cx<'_>) {
        word::note_base(address, cx);
    }

    fn skip(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Vec<Value>, Stop> {
        skip::skip(call, cx)
    }

    fn skip_loop(&self, effects: &LoopEffects, slots: usize, cx: &mut Cx<'_>) -> Vec<Value> {
        skip::skip_loop(effects, slots, cx)
    }

    fn tested(&self, cond: ExprId, taken: bool, before: Option<u32>, cx: &mut Cx<'_>) {
        if cx.core.pool.as_u64(cond).is_some() {
            return;
        }
        let cond = if taken { cond } else { cx.core.pool.not(cond) };
        let here = cx.pos();
        if !cx.state.lazy::<Inputs>().branches.contains(&here) {
            Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().branches).insert(here);
        }
        let stack = cx.core.call_stack(cx.state, data::CALLERS).into();
        let stack: Rc<[CodePos]> = stack;
        cx.state.lazy_mut::<Inputs>().last = Some(data::Test { cond, before, stack: stack.clone() });
        if !is_lazy(&cx.core.pool, cond) {
            return;
        }
        if cx.core.pool.support(cond).len() <= SMALL {
            let left = leaves_loop(cx, taken);
            let test = data::SmallTest { cond, taken, stack, left };
            Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().small_tests).push(test);
        }
        skip::note_test_of_loop(cond, cx);
        // A path condition holds conjunctions part by part.
        let parts = cx.core.pool.conjuncts(cond);
        let known = parts.iter().all(|part| cx.state.path.contains(&cx.core.pool, *part));
        // What is known because the engine chose it is tested now.
        let chosen = || grade::chosen(cx.state.lazy::<Inputs>(), &cx.core.pool);
        if !known || !chosen().is_disjoint(&parts.into_iter().collect()) {
            cx.state.lazy_mut::<Inputs>().note_tested(cond);
        }
    }

    fn assumed(&self, cond: ExprId, why: &str, cx: &mut Cx<'_>) {
        let pool = &cx.core.pool;
        if pool.as_u64(cond).is_none() && is_lazy(pool, cond) {
            cx.state.lazy_mut::<Inputs>().assume(cond, true, why);
        }
    }

    fn ends(&self, end: &PathEnd, possible: Option<ExprId>, cx: &mut Cx<'_>) {
        let verdict = grade::verdict(end, possible, &self.calls, cx);
        cx.state.lazy_mut::<Inputs>().verdict = Some(verdict);
    }
}
