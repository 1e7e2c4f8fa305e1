//! How much work a query may cost. Work is counted, so that an answer is the same on every machine; a wall clock can only come in through
//! [`Stop`], which the caller owns.
use std::rc::Rc;

/// The most one query may cost.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Conflicts of the SAT search.
    pub conflicts: u64,
    /// Gates made by bit-blasting.
    pub nodes: u64,
    /// Gates of the query, new or not: one that has more is not given to the SAT solver, and its gates are not all made if they are many more.
    pub cone: u64,
    /// The query was given up before, with a smaller budget: only what that bounded is tried again.
    pub again: bool,
    /// Asked again and again while work goes on.
    pub stop: Stop,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { conflicts: 200_000, nodes: 8_000_000, cone: u64::MAX, again: false, stop: Stop::never() }
    }
}

impl Budget {
    /// No bound but the graph's own (2^30 nodes).
    pub fn unlimited() -> Budget {
        Budget { conflicts: u64::MAX, nodes: u64::MAX, cone: u64::MAX, again: false, stop: Stop::never() }
    }

    /// The default amounts of work, and a signal to give up.
    pub fn until(stop: Stop) -> Budget {
        Budget { stop, ..Budget::default() }
    }
}

/// A question the solver asks its caller while it works: shall I give up? Cloning bumps a count.
#[derive(Clone, Default)]
pub struct Stop(Option<Rc<dyn Fn() -> bool>>);

impl Stop {
    /// Never gives up.
    pub fn never() -> Stop {
        Stop(None)
    }

    /// Gives up once `asked` says so. It must be cheap: it is asked every few gates' rows and every few conflicts.
    pub fn when(asked: impl Fn() -> bool + 'static) -> Stop {
        Stop(Some(Rc::new(asked)))
    }

    /// Whether to give up.
    pub fn asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }

    pub(crate) fn is_never(&self) -> bool {
        self.0.is_none()
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_never() { "Stop::never" } else { "Stop::when" })
    }
}
