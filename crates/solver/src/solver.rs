//! The solver: what its stages share, the facts asked at every branch, and its part in a pool's compaction.
use std::io::Write;
use std::rc::Rc;

use wryneck_expr::{Evaluator, ExprId, Model, Pool, Remap};

use crate::backend::{self, Backend, UnknownBackend};
use crate::config::Config;
use crate::domain::Domain;
use crate::path::PathCondition;
use crate::ranges;
use crate::stage::abstraction::{self, Abstraction};
use crate::stage::cache::Cache;
use crate::stage::credit::Credits;
use crate::stage::known_bits;
use crate::stage::recent_models::RecentModels;
use crate::stage::substitute::Replaced;
use crate::stats::Stats;
use crate::tables::Tables;
use crate::values;

/// Answers queries about the path conditions of one pool. Keep one per pool; see [`Solver::remap`].
pub struct Solver {
    pub(crate) config: Config,
    pub(crate) stats: Stats,
    pub(crate) evaluator: Evaluator,
    /// Truth tables, needed to [`push`](PathCondition::push) too.
    pub tables: Tables,
    pub(crate) replaced: Replaced,
    pub(crate) abstraction: Abstraction,
    pub(crate) credits: Credits,
    pub(crate) cache: Cache,
    pub(crate) recent: RecentModels,
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) log: Option<Box<dyn Write>>,
    pub(crate) broken: Option<String>,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new(Config::default()).expect("the default backend is in the table")
    }
}

impl Solver {
    /// A solver with these settings; fails if no backend has the name.
    pub fn new(config: Config) -> Result<Solver, UnknownBackend> {
        Solver::wrapped(config, &|backend| backend)
    }

    /// A solver whose backends are wrapped: the one that the settings name, and the abstraction's.
    pub fn wrapped(config: Config, wrap: &dyn Fn(Box<dyn Backend>) -> Box<dyn Backend>) -> Result<Solver, UnknownBackend> {
        let backend = wrap(backend::by_name(&config.backend)?.make(&config));
        Ok(Solver {
            abstraction: Abstraction::new(wrap(abstraction::backend(&config))),
            credits: Credits::default(),
            config,
            stats: Stats::default(),
            evaluator: Evaluator::new(),
            tables: Tables::new(),
            replaced: Replaced::default(),
            cache: Cache::default(),
            recent: RecentModels::default(),
            backend,
            log: None,
            broken: None,
        })
    }

    /// From now on every query is written to `log` as an SMT-LIB 2 script.
    pub fn log_to(&mut self, log: Box<dyn Write>) {
        self.log = Some(log);
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Vectors of 256 values that sweeps computed, and what took as long: the work that is not the SAT solver's.
    pub fn vectors(&self) -> u64 {
        self.tables.vectors
    }

    /// The first condition, in words, that a model was answered for and does not satisfy: a defect of ours.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Adds a condition to a path condition; see [`PathCondition::push`].
    pub fn push(&mut self, pool: &Pool, pc: &mut PathCondition, cond: ExprId) -> std::ops::Range<u32> {
        pc.push(pool, &mut self.tables, cond)
    }

    /// What facts alone say of a 1-bit condition on this path: `Some(true)`, it must hold; `Some(false)`, it cannot; `None`, they do not say.
    /// For a condition over one byte that shares no constraint with other symbols `None` means that both are possible. Takes well under a
    /// microsecond; the first time for an expression, a sweep of its nodes. Asks no SAT solver.
    pub fn quick(&mut self, pool: &mut Pool, pc: &PathCondition, cond: ExprId) -> Option<bool> {
        self.stats.quick += 1;
        let decided = self.by_facts(pool, pc, cond);
        self.stats.quick_decided += u64::from(decided.is_some());
        decided
    }

    /// A superset of the values, ascending, that an expression of at most 64 bits can have on this path; `None`: there are more than `most`, or they
    /// are costly to know, or value sets are off. Relations between symbols are ignored ([`crate::values`]). No SAT solver is asked, and no model matters.
    pub fn values(&mut self, pool: &Pool, pc: &PathCondition, e: ExprId, most: usize) -> Option<Rc<[u64]>> {
        if self.config.value_sets { values::of(pool, pc, &mut self.tables, e, most) } else { None }
    }

    fn by_facts(&mut self, pool: &mut Pool, pc: &PathCondition, cond: ExprId) -> Option<bool> {
        if let Some(value) = known_bits::decided(pool, cond) {
            return Some(value);
        }
        if let Some(symbol) = Tables::byte_symbol(pool, cond) {
            // The domain contains what every constraint over this symbol alone says, this very condition or its negation included.
            let domain = pc.domain(symbol).unwrap_or_else(|| Domain::full(pool.sym_info(symbol).width));
            let table = self.tables.get(pool, cond, symbol);
            return match (domain.and(table).is_empty(), domain.within(table)) {
                (true, _) => Some(false),
                (_, true) => Some(true),
                (false, false) => None,
            };
        }
        if pool.support(cond).is_empty() {
            return Some(self.evaluator.holds(pool, cond, &Model::empty())); // A constant that no law folded.
        }
        if pc.contains(pool, cond) {
            return Some(true);
        }
        let negation = pool.not(cond);
        if pc.contains(pool, negation) {
            return Some(false);
        }
        if self.config.known_bits { ranges::decided(pool, pc, cond) } else { None }
    }

    /// After a compaction of the pool: keeps what is known of the expressions that survived, and starts the graph and the SAT solver afresh.
    pub fn remap(&mut self, remap: &Remap) {
        self.tables.remap(remap);
        self.cache.remap(remap);
        self.forget_pool();
    }

    /// Forgets everything but settings and statistics.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.cache.clear();
        self.recent.clear();
        self.credits = Credits::default();
        self.forget_pool();
    }

    fn forget_pool(&mut self) {
        self.evaluator.clear();
        self.replaced.clear();
        self.abstraction.clear();
        self.backend.forget();
    }

    /// Bytes held, about.
    pub fn memory(&self) -> usize {
        self.tables.memory()
            + self.evaluator.memory()
            + self.replaced.memory()
            + self.abstraction.memory()
            + self.cache.memory()
            + self.recent.memory()
            + self.backend.memory()
    }
}
