//! The sequence of events of a path. Paths with equal sequences are the same to the rules (paper 1, section 4).
//!
//! Sequences contain no addresses: instances are numbered in the order of their first event.

use std::hash::Hash;

use wryneck_exec::chain::Chain;
use wryneck_exec::digest::Digest;

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
    /// With the hash of the events up to each.
    events: Chain<(Occurred, u128)>,
}

impl Sequence {
    pub fn push(&mut self, occurred: Occurred) {
        let Occurred { rule, event, instance } = occurred;
        let mut digest = Digest::default();
        digest.add(self.hash());
        (rule, event, instance).hash(&mut digest);
        self.events.push((occurred, digest.digest()));
    }

    /// Equal for equal sequences, and as good as never for others.
    pub fn hash(&self) -> u128 {
        self.events.last().map_or(0, |(_, hash)| *hash)
    }

    /// First to last.
    pub fn to_vec(&self) -> Vec<Occurred> {
        let mut all: Vec<Occurred> = self.events.backwards().map(|((occurred, _), _)| *occurred).collect();
        all.reverse();
        all
    }
}
