//! May-events: calls of functions that rules name, unless their pointer cannot be one that the rule's calls made.

use rustc_hash::FxHashSet;
use wryneck_exec::CodePos;
use wryneck_exec::code::Callee;
use wryneck_ir::{Inst, NONE, Op};

use super::ObjectId;
use super::effects::Facts;
use super::local::{CallTarget, Local};
use super::objects::{MAPPED, OUTSIDE};
use crate::checker::Pointers;

/// What rules say of calls.
pub trait Events {
    /// May such a call be an event? The number of the function that calls, and what it calls.
    /// `by_pointer`: the call is made through a pointer.
    fn may_be(&self, caller: u32, callee: Callee, by_pointer: bool) -> bool;
    /// Calls of it are events for some pointers only.
    fn pointers(&self, _: Callee) -> Option<Pointers> {
        None
    }
}

impl<F: Fn(u32, Callee) -> bool> Events for F {
    fn may_be(&self, caller: u32, callee: Callee, _: bool) -> bool {
        self(caller, callee)
    }
}

/// [`Pointers`] with the objects that the pointers may lead to; `None`: to any.
pub(super) struct Known {
    arg: u32,
    null: bool,
    objects: Option<FxHashSet<ObjectId>>,
}

impl Facts {
    /// Whether a call with these arguments may be an event. What is not known to lead to other objects may lead to those that matter.
    pub(super) fn may_be_event(&self, func: u32, local: &Local, callee: Callee, by_pointer: bool, args: &[u32]) -> bool {
        if !self.events.may_be(func, callee, by_pointer) {
            return false;
        }
        if !self.known.borrow().contains_key(&callee) {
            let known = self.events.pointers(callee).map(|pointers| self.known(&pointers));
            self.known.borrow_mut().insert(callee, known);
        }
        let known = self.known.borrow();
        let Some(Some(Known { arg, null, objects: Some(objects) })) = known.get(&callee) else { return true };
        let Some(slot) = args.get(*arg as usize).copied().filter(|slot| *slot != NONE) else { return true };
        let fixed = local.fixed.get(&slot).map(|(object, _)| *object);
        let mut led_to = fixed.into_iter().chain(self.points_to.of_slot(func, slot).map(|place| place.object)).peekable();
        led_to.peek().is_none()
            || *null && fixed.is_none() && !self.is_constant_address(local, slot)
            || led_to.any(|object| object == MAPPED || object == OUTSIDE || objects.contains(&object))
    }

    fn known(&self, pointers: &Pointers) -> Known {
        let mut made = self.made.borrow_mut();
        let mut objects = Some(FxHashSet::default());
        for maker in &pointers.makers {
            let made = made.entry(maker.clone()).or_insert_with(|| self.made_by(maker));
            objects = objects.zip(made.as_ref()).map(|(all, made)| &all | made);
        }
        Known { arg: pointers.arg, null: pointers.null, objects }
    }

    /// The objects that a function's results may lead to; `None`: any.
    fn made_by(&self, maker: &str) -> Option<FxHashSet<ObjectId>> {
        let mut made = FxHashSet::default();
        for func in 0..self.image.program.functions().len() as u32 {
            let Some(local) = self.points_to.local(func) else { continue };
            for site in &local.calls {
                let direct = if let CallTarget::Direct(callee) = site.target { callee } else { None };
                let others = self.points_to.targets(CodePos { func, op: site.op });
                let result = local.values.insts[site.op as usize].dst;
                if result == NONE || !direct.iter().chain(others).any(|callee| self.image.callee_name(*callee) == maker) {
                    continue;
                }
                let mut places = self.points_to.of_slot(func, result).peekable();
                // Numbers, or what nobody knows.
                places.peek()?;
                for object in places.map(|place| place.object) {
                    if object == MAPPED || object == OUTSIDE {
                        return None;
                    }
                    self.points_to.objects.with_clones(object, &mut |clone| _ = made.insert(clone));
                }
            }
        }
        Some(made)
    }

    /// Whether a value, which leads somewhere, is read from a constant variable.
    fn is_constant_address(&self, local: &Local, value: u32) -> bool {
        is_read_from(local, value, &|object| self.points_to.objects.is_constant(object))
    }
}

/// Whether a value is only ever read from such variables.
pub(super) fn is_read_from(local: &Local, value: u32, variable: &dyn Fn(ObjectId) -> bool) -> bool {
    let reads = |inst: &Inst| inst.operator() == Some(Op::Load) && local.fixed.get(&inst.a).is_some_and(|(object, _)| variable(*object));
    let mut made = local.values.insts.iter().filter(|inst| inst.dst == value).peekable();
    made.peek().is_some() && made.all(reads)
}
