//! Path data: what plug-ins keep per path, in a table of slots.
//!
//! Each plug-in with data needs a [`Slot`]. Fork, compaction and hash go through the table.

use std::any::Any;
use std::hash::Hasher;
use std::rc::Rc;

use wryneck_expr::{ExprId, Remap};

use crate::ground::sharing::{Memo, Visited};

/// Whose data it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Environment,
    Monitor,
    /// Lazily made inputs.
    Inputs,
}

/// The number of slots.
const SLOTS: usize = Slot::Inputs as usize + 1;

/// The data of all plug-ins. A copy shares all of it.
#[derive(Clone)]
pub struct Slots([Rc<dyn PathData>; SLOTS]);

impl Default for Slots {
    fn default() -> Slots {
        Slots(std::array::from_fn(|_| Rc::new(NoData) as Rc<dyn PathData>))
    }
}

impl Slots {
    pub fn get(&self, slot: Slot) -> &Rc<dyn PathData> {
        &self.0[slot as usize]
    }

    pub fn set(&mut self, slot: Slot, data: Rc<dyn PathData>) {
        self.0[slot as usize] = data;
    }

    /// The data of the environment.
    pub fn environment(&self) -> &dyn PathData {
        &**self.get(Slot::Environment)
    }

    /// The data of the monitor.
    pub fn monitor(&self) -> &dyn PathData {
        &**self.get(Slot::Monitor)
    }

    /// The data of lazily made inputs.
    pub fn inputs(&self) -> &dyn PathData {
        &**self.get(Slot::Inputs)
    }

    /// The data of a plug-in, as the type it has.
    pub(crate) fn typed<T: 'static>(&self, slot: Slot) -> &T {
        self.get(slot).as_any().downcast_ref().expect("the plug-in that made the data reads it")
    }

    pub(crate) fn typed_mut<T: 'static>(&mut self, slot: Slot) -> &mut T {
        own_data(&mut self.0[slot as usize]).as_any_mut().downcast_mut().expect("the plug-in that made the data reads it")
    }

    pub(crate) fn for_each_expr(&self, visited: &mut Visited, f: &mut dyn FnMut(ExprId)) {
        for data in &self.0 {
            if visited.is_new(data) {
                data.for_each_expr(f);
            }
        }
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Memo<dyn PathData>) {
        for data in &mut self.0 {
            *data = rebuilt.rebuild(data, |data| {
                if !data.has_exprs() {
                    return data.clone();
                }
                let mut new = data.clone_data();
                Rc::get_mut(&mut new).expect("just cloned").remap(map);
                new
            });
        }
    }

    pub(crate) fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.0.iter().for_each(|data| data.hash_into(h, hash_expr));
    }
}

/// What all path data can, since it can be cloned.
pub trait AnyData {
    fn clone_data(&self) -> Rc<dyn PathData>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: PathData + Clone> AnyData for T {
    fn clone_data(&self) -> Rc<dyn PathData> {
        Rc::new(self.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// What a plug-in keeps per path. Cloned when a path that shares it writes to it.
pub trait PathData: AnyData + Any {
    /// Calls `f` with every expression kept, so that a compaction keeps them.
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId));
    /// Whether there is any expression to renumber: shared data without one stays shared at a compaction.
    fn has_exprs(&self) -> bool {
        let mut any = false;
        self.for_each_expr(&mut |_| any = true);
        any
    }
    fn remap(&mut self, map: &Remap);
    /// Adds what decides behaviour to a structural hash; expressions go through `hash_expr`.
    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64);
}

/// Path data of a plug-in that keeps none.
#[derive(Clone)]
pub struct NoData;

impl PathData for NoData {
    fn for_each_expr(&self, _: &mut dyn FnMut(ExprId)) {}
    fn remap(&mut self, _: &Remap) {}
    fn hash_into(&self, _: &mut dyn Hasher, _: &mut dyn FnMut(ExprId) -> u64) {}
}

/// The data to be changed: of its own, if it was shared.
pub fn own_data(data: &mut Rc<dyn PathData>) -> &mut dyn PathData {
    if Rc::get_mut(data).is_none() {
        *data = data.clone_data();
    }
    Rc::get_mut(data).expect("just made unique")
}
