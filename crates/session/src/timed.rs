//! A solver backend with a clock. The core reads no clock, so the solver's share of time is measured here.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wryneck_expr::{ExprId, Pool};
use wryneck_solver::Budget;
use wryneck_solver::backend::{Backend, Effort, Verdict};

/// Another backend, timed.
pub struct Timed {
    pub inner: Box<dyn Backend>,
    /// Wall time spent in `inner`.
    pub spent: Rc<Cell<Duration>>,
}

impl Backend for Timed {
    fn check(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Verdict {
        let start = Instant::now();
        let verdict = self.inner.check(pool, assertions, budget);
        self.spent.set(self.spent.get() + start.elapsed());
        verdict
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    fn effort(&self) -> Effort {
        self.inner.effort()
    }

    fn memory(&self) -> usize {
        self.inner.memory()
    }
}
