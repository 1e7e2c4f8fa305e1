//! The events of a path in order: paths with equal sequences are the same to the rules (paper 1, section 4).
//!
//! A tree seen from its leaves: forks share what they have in common. Addresses do not occur: instances are numbered as they are met.

use std::rc::Rc;

/// An event on a path: indices of the rule and, in it, of the event, and the number of the instance, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occurred {
    pub rule: u32,
    pub event: u32,
    pub instance: u32,
}

/// Events, cheap to clone and to append to.
#[derive(Clone, Default)]
pub struct Sequence {
    last: Option<Rc<Node>>,
}

struct Node {
    occurred: Occurred,
    hash: u64,
    before: Sequence,
}

impl Sequence {
    pub fn push(&mut self, occurred: Occurred) {
        let Occurred { rule, event, instance } = occurred;
        let word = u64::from(rule) << 48 ^ u64::from(event) << 32 ^ u64::from(instance);
        let hash = (self.hash().rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let before = std::mem::take(self);
        self.last = Some(Rc::new(Node { occurred, hash: hash ^ hash >> 31, before }));
    }

    /// Equal for equal sequences, and as good as never for others.
    pub fn hash(&self) -> u64 {
        self.last.as_ref().map_or(0, |node| node.hash)
    }

    /// First to last.
    pub fn to_vec(&self) -> Vec<Occurred> {
        let mut all = Vec::new();
        let mut at = self;
        while let Some(node) = &at.last {
            all.push(node.occurred);
            at = &node.before;
        }
        all.reverse();
        all
    }
}

impl Drop for Sequence {
    /// In a loop: a recursive drop of a long sequence would overflow the stack.
    fn drop(&mut self) {
        let mut at = self.last.take();
        while let Some(node) = at {
            match Rc::try_unwrap(node) {
                Ok(mut node) => at = node.before.last.take(),
                Err(_) => break,
            }
        }
    }
}
