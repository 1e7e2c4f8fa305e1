//! Credit: stages that cost work and answer hardly any query of a program are seldom tried.

/// Where a stage had no credit left, it is tried for one query in so many.
const SELDOM: u32 = 16;

/// Of each stage that needs it.
pub(crate) struct Credits {
    pub(crate) neighbours: Credit,
    pub(crate) value_sets: Credit,
    pub(crate) short_search: Credit,
    pub(crate) deep_search: Credit,
}

impl Default for Credits {
    fn default() -> Credits {
        // Searches and neighbours are counted, whatever they cost: that is bounded. What the other stages take for a query is about a million operations on sets.
        let search = || Credit::new(32, 4);
        Credits { neighbours: search(), value_sets: Credit::new(10_000_000, 1_500_000), short_search: search(), deep_search: search() }
    }
}

/// How well a stage did.
pub(crate) struct Credit {
    /// The most work in vain.
    most: usize,
    /// The work that an answer makes up for.
    answer: usize,
    in_vain: usize,
    passed: u32,
}

impl Credit {
    fn new(most: usize, answer: usize) -> Credit {
        Credit { most, answer, in_vain: 0, passed: 0 }
    }

    /// Whether to try the stage for this query.
    pub(crate) fn is_due(&mut self) -> bool {
        self.passed = (self.passed + 1) % SELDOM;
        self.in_vain < self.most || self.passed == 0
    }

    pub(crate) fn note(&mut self, answered: bool, work: usize) {
        self.in_vain = if answered { self.in_vain.saturating_sub(self.answer) } else { (self.in_vain + work).min(self.most) };
    }
}
