//! The chain: which stages a query goes through, in which order. The first stage with an answer ends it.
//!
//! The order is by cost: what takes nanoseconds first, the SAT solver last (Cadar, Dunbar and Engler, KLEE, OSDI 2008, section 3.3, has the
//! idea; substitution, byte domains and the base model are ours). Each stage is one file in `stage/`.
//!
//! Median per call by `cargo bench -p wryneck-solver` (two shared cores under load): `quick` 0.3 us and `check` 0.5 us on single bytes, 7 to 10 us
//! on conditions over two bytes and sums of bytes, where two thirds of the queries end before the backend; a call of the backend 65 us.
use wryneck_expr::{ExprId, Model, Pool};

use crate::answer::Answer;
use crate::budget::Budget;
use crate::config::Config;
use crate::path::PathCondition;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::{
    abstraction, backend, byte_domain, cache, constant, enumerate, independence, known_bits, log, neighbours, recent_models, search,
    substitute, validate, value_sets,
};

pub(crate) struct Stage {
    pub(crate) name: &'static str,
    enabled: fn(&Config) -> bool,
    run: fn(&mut Solver, &mut Pool, &mut Query<'_>) -> Option<Answer>,
    /// Whether its answers cost enough to be remembered by the cache and the recent models.
    remember: bool,
    /// A larger budget is nothing to it, and trying costs: it is not tried again ([`Budget::again`]).
    once: bool,
}

// One more stage: a file in `stage/`, a row here, a flag in `Config`; `tests/stages.rs` then compares on with off.
#[rustfmt::skip]
pub(crate) static CHAIN: [Stage; 16] = [
    Stage { name: "log",           enabled: |_| true,          run: log::run,           remember: false, once: false },
    Stage { name: "constant",      enabled: |_| true,          run: constant::run,      remember: false, once: false },
    Stage { name: "substitution",  enabled: |c| c.substitution,  run: substitute::run,    remember: false, once: false },
    Stage { name: "known bits",    enabled: |c| c.known_bits,    run: known_bits::run,    remember: false, once: false },
    Stage { name: "byte domain",   enabled: |c| c.byte_domain,   run: byte_domain::run,   remember: false, once: false },
    Stage { name: "independence",  enabled: |_| true,          run: independence::run,  remember: false, once: false },
    Stage { name: "cache",         enabled: |c| c.cache,         run: cache::run,         remember: false, once: false },
    Stage { name: "recent models", enabled: |c| c.recent_models, run: recent_models::run, remember: true, once: false },
    Stage { name: "enumeration",   enabled: |c| c.enumeration,   run: enumerate::run,     remember: true, once: false },
    Stage { name: "abstraction",   enabled: |c| c.abstraction,   run: abstraction::run,   remember: true, once: true },
    Stage { name: "neighbours",    enabled: |c| c.neighbours,    run: neighbours::run,    remember: true, once: false },
    Stage { name: "value sets",    enabled: |c| c.value_sets,    run: value_sets::run,    remember: true, once: true },
    Stage { name: "search",        enabled: |c| c.search,        run: search::run,        remember: true, once: true },
    Stage { name: "short backend", enabled: |c| c.search,        run: backend::short,     remember: true, once: true },
    Stage { name: "deep search",   enabled: |c| c.search,        run: search::deep,       remember: true, once: true },
    Stage { name: "backend",       enabled: |_| true,          run: backend::run,       remember: true, once: false },
];

impl Solver {
    /// Is `cond` (1 bit) satisfiable together with the path condition? `base` satisfies the path condition; a model returned satisfies both and,
    /// unless independence is switched off, equals it outside the independent groups that `cond` touches.
    pub fn check(&mut self, pool: &mut Pool, pc: &PathCondition, cond: ExprId, base: &Model, budget: &Budget) -> Answer {
        self.stats.queries += 1;
        let mut query = Query::new(pc, cond, base, budget);
        let (at, answer) = self.first_answer(pool, &mut query);
        self.stats.answered[at] += 1;
        if CHAIN[at].remember {
            cache::remember(self, &query, &answer);
            recent_models::remember(self, &answer);
        }
        let answer = validate::run(self, pool, &query, answer);
        match answer {
            Answer::Sat(_) => self.stats.sat += 1,
            Answer::Unsat(_) => self.stats.unsat += 1,
            Answer::Unknown(_) => self.stats.unknown += 1,
        }
        answer
    }

    fn first_answer(&mut self, pool: &mut Pool, query: &mut Query<'_>) -> (usize, Answer) {
        for (at, stage) in CHAIN.iter().enumerate() {
            if (stage.enabled)(&self.config)
                && !(stage.once && query.budget.again)
                && let Some(answer) = (stage.run)(self, pool, query)
            {
                return (at, answer);
            }
        }
        unreachable!("the backend answers every query")
    }
}
