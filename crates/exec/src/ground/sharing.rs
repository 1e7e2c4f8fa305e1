//! The two walks of a compaction over all states, which visit each shared part once.
//!
//! Parts are identified by their address. Both walks keep the parts alive, so no address is reused meanwhile.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_solver::Seen;

/// The parts met so far. Valid while no state changes.
#[derive(Default)]
pub struct Visited {
    parts: FxHashSet<*const ()>,
    pub(crate) paths: Seen,
}

impl Visited {
    /// Is this the first meeting with a part?
    pub fn is_new<T: ?Sized>(&mut self, part: &Rc<T>) -> bool {
        self.parts.insert(Rc::as_ptr(part).cast())
    }
}

/// Old parts with what replaces them.
pub struct Memo<T: ?Sized> {
    done: FxHashMap<*const (), (Rc<T>, Rc<T>)>,
}

impl<T: ?Sized> Default for Memo<T> {
    fn default() -> Self {
        Memo { done: FxHashMap::default() }
    }
}

impl<T: ?Sized> Memo<T> {
    /// What replaces `old`; `make` is called the first time.
    pub fn rebuild(&mut self, old: &Rc<T>, make: impl FnOnce(&Rc<T>) -> Rc<T>) -> Rc<T> {
        let key = Rc::as_ptr(old).cast();
        if let Some((_, new)) = self.done.get(&key) {
            return new.clone();
        }
        let new = make(old);
        self.done.insert(key, (old.clone(), new.clone()));
        new
    }
}

impl<T: Clone> Memo<T> {
    /// Changes a part: in place if it is unshared, else in a copy that replaces it for all its owners. A part for which `wanted` is
    /// false is not changed.
    pub fn change(&mut self, part: &mut Rc<T>, wanted: impl FnOnce(&T) -> bool, change: impl FnOnce(&mut T)) {
        if let Some(own) = Rc::get_mut(part) {
            change(own);
            return;
        }
        *part = self.rebuild(part, |old| {
            if !wanted(old) {
                return old.clone();
            }
            let mut new = T::clone(old);
            change(&mut new);
            Rc::new(new)
        });
    }
}
