//! Clauses and search: the cone of gates below a query's literals as CNF, decided by CaDiCaL under assumptions.
//!
//! Technique: Tseitin clauses, with if-then-else and exclusive-or gates recognised and trees of ANDs that nothing else reads merged into one
//! clause set (Een, Mishchenko and Soerensson, "Applying Logic Synthesis for Speeding Up SAT", SAT 2007, section 4, without the cut search).
//!
//! One instance serves many queries, each a set of assumptions (Een and Soerensson, "Temporal Induction by Incremental SAT Solving", 2003), and
//! starts afresh when it outgrows the query ([`ALWAYS_KEPT`]). It searches leanly; a query that needs more than [`LEAN_CONFLICTS`] goes to an instance
//! of its own with all of CaDiCaL's inprocessing. Measured by `cargo bench -p wryneck-solver` with only bit-blasting, median and mean per query:
//!
//! | conditions over | fresh, default | fresh, lean (`plain`) | incremental, lean |
//! |---|---|---|---|
//! | single bytes | 117, 193 us | 100, 301 us | 66, 156 us |
//! | two bytes | 160, 362 us | 148, 446 us | 66, 110 us |
//! | sums of bytes | 11,424, 9,202 us | 1,612, 4,859 us | 62, 395 us |
//! | tables, differences | 13,804, 12,350 us | over 30,000 us | 408, 1,780 us |
//!
//! (Two shared cores under heavy load: read the ratios. CaDiCaL's start-up preprocessing alone costs milliseconds on these small cones.)
use rustc_hash::FxHashSet;
use rustsat::solvers::{ControlSignal, GetInternalStats, LimitConflicts, Solve, SolveIncremental, SolverResult, Terminate};
use rustsat::types::{Lit as SatLit, TernaryVal};
use rustsat_cadical::CaDiCaL;

use super::aig::{Aig, Lit, Node};
use crate::answer::Why;
use crate::backend::Effort;
use crate::budget::{Budget, Stop};

/// An instance of at most so many variables is kept in any case. A larger one is kept while it has at most [`MOST_PER_GATE`] variables for each
/// gate of the query: a satisfiable answer assigns all of them, needed or not, but what was learned about needed ones is worth
/// keeping. Mean per query exploring `expr` of coreutils, whose cones are small, with fixed bounds: 638 us at 300 variables, 442 us at
/// 1,000, 596 us at 2,000, 1,252 us at 10,000; the sums of bytes above take 7 times as long at 1,000 as at 10,000.
const ALWAYS_KEPT: u32 = 1_000;
const MOST_PER_GATE: u32 = 8;
/// Conflicts after which a query gets an instance of its own.
const LEAN_CONFLICTS: u64 = 3_000;
/// Gates that get their clauses between two looks at the stop signal.
const LOOK: usize = 4096;
/// Most operands an AND is given by merging.
const WIDEST: usize = 24;

pub(super) enum Outcome {
    Sat,
    /// These of the literals asked for are contradictory.
    Unsat(FxHashSet<Lit>),
    Unknown(Why),
}

pub(super) struct Sat {
    /// By node: the instance it was last given a variable in, and that variable.
    variables: Vec<(u32, u32)>,
    /// Number of the instance, from 1.
    round: u32,
    /// Variables of the instance.
    next: u32,
    /// By node: the number of the look at a cone that last met it.
    seen: Vec<u32>,
    look: u32,
    /// Nodes that have a variable but no clauses yet.
    undefined: Vec<u32>,
    solver: CaDiCaL<'static, 'static>,
    thorough: bool,
}

/// How hard an instance tries to simplify.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Simplify {
    /// Search alone.
    Lean,
    /// Everything CaDiCaL does by default.
    Thorough,
}

/// CaDiCaL's options that [`Simplify::Lean`] sets to 0: what pays only in long searches.
const LEAN: [&str; 4] = ["preprocesslight", "inprocessing", "walk", "lucky"];

fn instance(how: Simplify) -> CaDiCaL<'static, 'static> {
    let mut solver = CaDiCaL::default();
    if how == Simplify::Lean {
        for option in LEAN {
            // An option this version of CaDiCaL does not have is one it does not spend time on.
            let _ = solver.set_option(option, 0);
        }
    }
    solver
}

/// A node as a gate with clauses.
enum Gate {
    Input,
    And(Vec<Lit>),
    /// `if .0 { .1 } else { .2 }`.
    Choose(Lit, Lit, Lit),
}

impl Sat {
    pub(super) fn new() -> Sat {
        Sat {
            variables: Vec::new(),
            round: 1,
            next: 0,
            seen: Vec::new(),
            look: 0,
            undefined: Vec::new(),
            solver: instance(Simplify::Lean),
            thorough: false,
        }
    }

    /// Decides the conjunction of `lits`, none of them the constant false. Adds what it cost to `effort`.
    pub(super) fn solve(&mut self, aig: &Aig, lits: &[Lit], budget: &Budget, effort: &mut Effort) -> Outcome {
        let lean = Budget { conflicts: budget.conflicts.min(LEAN_CONFLICTS), ..budget.clone() };
        if self.thorough || self.outgrown(aig, lits) {
            self.start(Simplify::Lean);
        }
        let before = effort.conflicts;
        let outcome = self.run(aig, lits, &lean, effort);
        let left = budget.conflicts.saturating_sub(effort.conflicts - before);
        match outcome {
            Outcome::Unknown(Why::Conflicts) if left > 0 => {
                self.start(Simplify::Thorough);
                self.run(aig, lits, &Budget { conflicts: left, ..budget.clone() }, effort)
            }
            decided => decided,
        }
    }

    /// Is the instance too large for this query?
    fn outgrown(&mut self, aig: &Aig, lits: &[Lit]) -> bool {
        self.next > ALWAYS_KEPT && self.first_beyond(aig, lits.iter().copied(), (self.next / MOST_PER_GATE).into()).is_none()
    }

    /// The first of these literals below which, and those before it, there are more gates and inputs than so many. Cost: so many gates are looked at.
    pub(super) fn first_beyond(&mut self, aig: &Aig, lits: impl IntoIterator<Item = Lit>, most: u64) -> Option<usize> {
        if aig.len() as u64 <= most {
            return None;
        }
        self.look += 1;
        self.seen.resize(aig.len(), 0);
        let (mut allowed, mut open) = (most, Vec::new());
        for (at, lit) in lits.into_iter().enumerate() {
            open.push(lit);
            while let Some(lit) = open.pop() {
                if std::mem::replace(&mut self.seen[lit.node() as usize], self.look) != self.look {
                    if allowed == 0 {
                        return Some(at);
                    }
                    allowed -= 1;
                    if let Node::And(a, b) = aig.node(lit.node()) {
                        open.extend([a, b]);
                    }
                }
            }
        }
        None
    }

    /// A new instance.
    fn start(&mut self, how: Simplify) {
        self.solver = instance(how);
        self.thorough = how == Simplify::Thorough;
        self.round += 1;
        self.next = 0;
    }

    fn run(&mut self, aig: &Aig, lits: &[Lit], budget: &Budget, effort: &mut Effort) -> Outcome {
        self.variables.resize(aig.len(), (0, 0));
        let (conflicts, propagations) = (self.solver.conflicts(), self.solver.propagations());
        let outcome = self.search(aig, lits, budget, effort).unwrap_or_else(Outcome::Unknown);
        effort.conflicts += (self.solver.conflicts() - conflicts) as u64;
        effort.propagations += (self.solver.propagations() - propagations) as u64;
        outcome
    }

    fn search(&mut self, aig: &Aig, lits: &[Lit], budget: &Budget, effort: &mut Effort) -> Result<Outcome, Why> {
        let assumptions: Vec<SatLit> = lits.iter().filter(|&&lit| lit != Lit::TRUE).map(|&lit| self.lit(lit)).collect();
        self.define_all(aig, &budget.stop, effort)?;
        // CaDiCaL counts in 31 bits; more is no limit.
        let limit = u32::try_from(budget.conflicts).ok().filter(|&limit| limit < 1 << 31);
        self.solver.limit_conflicts(limit).map_err(failed)?;
        if budget.stop.is_never() {
            self.solver.detach_terminator();
        } else {
            let stop = budget.stop.clone();
            self.solver.attach_terminator(move || match stop.asked() {
                true => ControlSignal::Terminate,
                false => ControlSignal::Continue,
            });
        }
        Ok(match self.solver.solve_assumps(&assumptions).map_err(failed)? {
            SolverResult::Sat => Outcome::Sat,
            SolverResult::Unsat => {
                let core: FxHashSet<SatLit> = self.solver.core().map_err(failed)?.into_iter().map(|lit| !lit).collect();
                Outcome::Unsat(lits.iter().copied().filter(|&lit| lit != Lit::TRUE && core.contains(&self.lit(lit))).collect())
            }
            SolverResult::Interrupted if budget.stop.asked() => Outcome::Unknown(Why::Stopped),
            SolverResult::Interrupted => Outcome::Unknown(Why::Conflicts),
        })
    }

    /// The value of an input under the model just found; one the query did not need is 0.
    pub(super) fn input_value(&self, node: u32) -> bool {
        match self.variables.get(node as usize) {
            Some(&(round, variable)) if round == self.round => {
                matches!(self.solver.lit_val(SatLit::positive(variable)), Ok(TernaryVal::True))
            }
            _ => false,
        }
    }

    /// Bytes held, about; CaDiCaL's own are estimated by variable.
    pub(super) fn memory(&self) -> usize {
        self.variables.capacity() * 8 + self.seen.capacity() * 4 + self.next as usize * 500
    }

    /// The SAT literal of a graph literal that is no constant; its node is noted to be defined.
    fn lit(&mut self, lit: Lit) -> SatLit {
        let entry = &mut self.variables[lit.node() as usize];
        if entry.0 != self.round {
            *entry = (self.round, self.next);
            self.next += 1;
            self.undefined.push(lit.node());
        }
        SatLit::new(entry.1, lit.inverted())
    }

    fn clause(&mut self, lits: &[SatLit]) -> Result<(), Why> {
        self.solver.add_clause_ref(lits).map_err(failed)
    }

    /// Gives clauses to all nodes that have none. One that is stopped goes on the next time.
    fn define_all(&mut self, aig: &Aig, stop: &Stop, effort: &mut Effort) -> Result<(), Why> {
        let mut defined = 0_usize;
        loop {
            defined += 1;
            if defined.is_multiple_of(LOOK) && stop.asked() {
                return Err(Why::Stopped);
            }
            let Some(node) = self.undefined.pop() else { return Ok(()) };
            effort.clauses += 1;
            let out = SatLit::positive(self.variables[node as usize].1);
            match gate(aig, node) {
                Gate::Input => {}
                Gate::And(operands) => {
                    let mut whole = vec![out];
                    for operand in operands {
                        let operand = self.lit(operand);
                        self.clause(&[!out, operand])?;
                        whole.push(!operand);
                    }
                    self.clause(&whole)?;
                }
                Gate::Choose(c, t, e) => {
                    let (c, t, e) = (self.lit(c), self.lit(t), self.lit(e));
                    for clause in [[!out, !c, t], [out, !c, !t], [!out, c, e], [out, c, !e]] {
                        self.clause(&clause)?;
                    }
                }
            }
        }
    }
}

/// CaDiCaL ran out of memory or was called wrongly; which one makes no difference to a query.
fn failed<E>(_: E) -> Why {
    Why::Backend
}

fn gate(aig: &Aig, node: u32) -> Gate {
    match aig.node(node) {
        Node::False | Node::Input => Gate::Input,
        Node::And(a, b) => match choice(aig, a, b) {
            Some((c, t, e)) => Gate::Choose(c, t, e),
            None => Gate::And(conjuncts(aig, a, b)),
        },
    }
}

/// Reads `!(c & t) & !(!c & e)` as `if c { !t } else { !e }`.
fn choice(aig: &Aig, a: Lit, b: Lit) -> Option<(Lit, Lit, Lit)> {
    if !(a.inverted() && b.inverted()) {
        return None;
    }
    let (Node::And(p, q), Node::And(r, s)) = (aig.node(a.node()), aig.node(b.node())) else { return None };
    match () {
        () if p == !r => Some((p, !q, !s)),
        () if p == !s => Some((p, !q, !r)),
        () if q == !r => Some((q, !p, !s)),
        () if q == !s => Some((q, !p, !r)),
        () => None,
    }
}

/// The operands of a tree of ANDs whose inner nodes nothing else reads.
fn conjuncts(aig: &Aig, a: Lit, b: Lit) -> Vec<Lit> {
    let mut open = vec![b, a];
    let mut leaves = Vec::new();
    while let Some(lit) = open.pop() {
        match aig.node(lit.node()) {
            Node::And(c, d)
                if !lit.inverted() && aig.read_once(lit.node()) && leaves.len() + open.len() < WIDEST && choice(aig, c, d).is_none() =>
            {
                open.extend([d, c]);
            }
            Node::And(..) | Node::Input | Node::False => leaves.push(lit),
        }
    }
    leaves
}
