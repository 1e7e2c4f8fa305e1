//! A persistent list, addressed from its end. Forks share their common prefix, and appending is one allocation.

use std::rc::Rc;

/// Items, cheap to clone and to append to.
pub struct Chain<T> {
    last: Option<Rc<Link<T>>>,
}

struct Link<T> {
    item: T,
    before: Chain<T>,
}

impl<T> Default for Chain<T> {
    fn default() -> Chain<T> {
        Chain { last: None }
    }
}

impl<T> Clone for Chain<T> {
    fn clone(&self) -> Chain<T> {
        Chain { last: self.last.clone() }
    }
}

impl<T> Chain<T> {
    pub fn push(&mut self, item: T) {
        let before = std::mem::take(self);
        self.last = Some(Rc::new(Link { item, before }));
    }

    pub fn last(&self) -> Option<&T> {
        self.last.as_ref().map(|link| &link.item)
    }

    /// From the last item to the first, each with those before it.
    pub fn backwards(&self) -> impl Iterator<Item = (&T, &Chain<T>)> {
        let mut at = self;
        std::iter::from_fn(move || {
            let link = at.last.as_ref()?;
            at = &link.before;
            Some((&link.item, &link.before))
        })
    }
}

impl<T> Drop for Chain<T> {
    /// Long lists are unlinked in a loop: a recursive drop of a path with a million decisions would overflow the stack.
    fn drop(&mut self) {
        let mut at = self.last.take();
        while let Some(link) = at {
            match Rc::try_unwrap(link) {
                Ok(mut link) => at = link.before.last.take(),
                Err(_) => break,
            }
        }
    }
}
