//! The blasting budget: how many gates a query may make, and the caller's stop signal, asked between rows of circuits.
use super::aig::Aig;
use crate::answer::Why;
use crate::budget::Stop;

/// More nodes than this never fit one graph: literals are 32 bits, and a row adds at most a few nodes per bit of the widest value.
const MOST_NODES: usize = 1 << 30;

pub(super) struct Meter {
    most: usize,
    stop: Stop,
}

impl Meter {
    /// Allows `nodes` more than the graph has now.
    pub(super) fn new(aig: &Aig, nodes: u64, stop: &Stop) -> Meter {
        let most = usize::try_from(nodes).unwrap_or(MOST_NODES).saturating_add(aig.len()).min(MOST_NODES);
        Meter { most, stop: stop.clone() }
    }

    pub(super) fn check(&self, aig: &Aig) -> Result<(), Why> {
        if aig.len() > self.most {
            return Err(Why::Nodes);
        }
        if self.stop.asked() { Err(Why::Stopped) } else { Ok(()) }
    }
}
