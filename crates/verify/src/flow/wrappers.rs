//! Allocator wrappers: functions that return only what they have just allocated and keep no address of it.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use wryneck_exec::code::Callee;
use wryneck_ir::NONE;

use super::local::{CallSite, CallTarget, Constraint, Local};
use super::points_to::{Solver, summary};
use super::summary::{Holder, PointerFlow, Summary};

/// A function that only hands out what it has just allocated.
pub struct Wrapper {
    pub(super) calls: Vec<CallSite>,
    /// Classes that only hold new objects.
    pub fresh: FxHashSet<u32>,
}

impl Solver<'_> {
    /// How the function is an allocator itself, if it is one.
    pub(super) fn wrapper(&mut self, func: u32) -> Option<Rc<Wrapper>> {
        if let Some(known) = self.to.wrappers.get(&func) {
            return known.clone();
        }
        // A function that calls itself is none.
        self.to.wrappers.insert(func, None);
        let local = self.local_unread(func);
        let found = self.find_wrapper(&local).map(Rc::new);
        self.to.wrappers.insert(func, found.clone());
        found
    }

    /// A function's constraints, which are not taken in by this.
    fn local_unread(&mut self, func: u32) -> Rc<Local> {
        match &self.to.locals[func as usize] {
            Some(local) => local.clone(),
            None => Rc::new(Local::read(self.image, &self.to.objects, func)),
        }
    }

    fn find_wrapper(&mut self, local: &Local) -> Option<Wrapper> {
        if local.returned.is_empty() || local.jumps {
            return None;
        }
        let mut stale: FxHashSet<u32> = local.params.iter().map(|(class, _)| *class).collect();
        let mut copies: Vec<(u32, u32)> = Vec::new();
        let mut calls = Vec::new();
        let (mut kept, mut moves): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        for c in &local.constraints {
            match *c {
                Constraint::Address { to, .. } | Constraint::Load { to, .. } => drop(stale.insert(to)),
                Constraint::Copy { to, from } => copies.push((to, from)),
                Constraint::Move { to, from, .. } => moves.push((to, from)),
                Constraint::Store { value, .. } => kept.push(value),
                Constraint::Index { to, pointer, .. } => moves.push((to, pointer)),
                Constraint::Transfer { .. } | Constraint::Sum { .. } | Constraint::Difference { .. } => {}
            }
        }
        for call in &local.calls {
            let summary = self.callee_summary(call).cloned();
            let body = if let CallTarget::Direct(Some(Callee::Body(f))) = call.target { self.wrapper(f).map(|_| ()) } else { None };
            let allocates = |s: &Summary| s.flows.contains(&PointerFlow { to: Holder::Result, from: Holder::New });
            let argument = |i: u32| call.args.get(i as usize).and_then(|at| call.limbs.get(*at as usize)).copied().filter(|s| *s != NONE);
            match summary {
                Some(s) => {
                    if call.result != NONE && allocates(&s) {
                        calls.push(call.clone());
                    }
                    for flow in &s.flows {
                        match (flow.to, flow.from) {
                            (Holder::Result, Holder::Arg(i)) => copies.extend(argument(i).map(|from| (call.result, from))),
                            (Holder::Result, Holder::Into(i)) => moves.extend(argument(i).map(|from| (call.result, from))),
                            (Holder::Result, Holder::New) => {}
                            (Holder::Result, _) => drop(stale.insert(call.result)),
                            (_, Holder::Arg(i) | Holder::Into(i)) => kept.extend(argument(i)),
                            _ => {}
                        }
                    }
                    if s.flows.iter().all(|f| f.to != Holder::Result) {
                        stale.insert(call.result);
                    }
                }
                None => {
                    kept.extend(call.limbs.iter().filter(|limb| **limb != NONE));
                    if body.is_some() && call.result != NONE {
                        calls.push(call.clone());
                    } else {
                        stale.insert(call.result);
                    }
                }
            }
        }
        let spread = |set: &mut FxHashSet<u32>, ways: &[&[(u32, u32)]]| loop {
            let before = set.len();
            for (to, from) in ways.iter().flat_map(|way| way.iter()) {
                if set.contains(from) {
                    set.insert(*to);
                }
            }
            if set.len() == before {
                break;
            }
        };
        spread(&mut stale, &[&copies, &moves]);
        // What only holds new objects, their beginnings and what is in them.
        let begins: FxHashSet<u32> = calls.iter().map(|c| c.result).collect();
        let mut fresh = begins.clone();
        spread(&mut fresh, &[&copies, &moves]);
        let mut within: FxHashSet<u32> = moves.iter().filter(|(_, from)| fresh.contains(from)).map(|(to, _)| *to).collect();
        spread(&mut within, &[&copies, &moves]);
        let handed_out = local.returned.iter().all(|class| fresh.contains(class) && !within.contains(class));
        let leaks = kept.iter().any(|class| fresh.contains(class)) || fresh.iter().any(|class| stale.contains(class));
        (handed_out && !leaks && !calls.is_empty()).then_some(Wrapper { calls, fresh })
    }

    /// The summary of a direct call.
    pub(super) fn callee_summary(&self, call: &CallSite) -> Option<&Summary> {
        match call.target {
            CallTarget::Direct(Some(callee)) => summary(self.image, self.summaries, callee, call.number),
            CallTarget::Direct(None) | CallTarget::Indirect(_) => None,
        }
    }
}
