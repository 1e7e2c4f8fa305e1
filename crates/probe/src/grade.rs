//! Must or may (docs/design/011): one query over what the code tested and what the engine assumed.
//!
//! A path condition has three kinds of constraint: tested by the code (or required for its accesses to be valid), assumed by the engine (the
//! object of a pointer, a fixed value, a bounded index), and names (the address that an object happens to have). An error that happens on a
//! path **must** happen if what was tested implies what was assumed, as far as the error needs it. An assumption that two objects are
//! distinct is needed where one was read after the other had been written at the same offsets.

use rustc_hash::FxHashSet;
use wryneck_exec::{
    CodePos, Cx, Exit, FaultKind, PathEnd, Round, WITHOUT_BASE, accessed, all_rounds_of_input, asks_of_operand, code, places,
    round_of_input,
};
use wryneck_expr::{ExprId, Kind, Pool};
use wryneck_solver::{Answer, Budget, PathCondition};

use crate::data::{CALLERS, Inputs, SmallTest};
use crate::told::{self, Calls, Known, Null};
use crate::versions;
use crate::{MARK, is_lazy};

/// How sure an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// It happens for all inputs that take the path.
    Must,
    /// Some precondition may exclude it.
    May,
}

/// What is known of a path's end.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub grade: Grade,
    /// Why it is only a may error, in words.
    pub why: Vec<String>,
    /// The path condition of an error, with what the code tested though it was known.
    pub constraints: Vec<ExprId>,
    /// The use of a null pointer that is no must error if another path uses a valid pointer there.
    pub null: Option<Null>,
}

/// Addresses below are null pointers, and as many at the end are error codes.
pub(crate) const PAGE: u64 = 4096;
/// Conflicts that the query about an end may take.
const CONFLICTS: u64 = 2_000;

/// Grades the end of a path.
pub(crate) fn verdict(end: &PathEnd, possible: Option<ExprId>, calls: &Calls, cx: &mut Cx<'_>) -> Verdict {
    let mut null = None;
    let (grade, why) = graded(end, possible, (calls, &mut null), cx);
    let mut constraints = Vec::new();
    if matches!(end, PathEnd::Fault(_) | PathEnd::Exit(_)) {
        constraints = cx.state.path.constraints();
        constraints.extend(cx.state.lazy::<Inputs>().tested.iter().copied());
    }
    Verdict { grade, why, constraints, null }
}

/// Asks the solver if the path rests on assumptions. `null`: as that of a verdict.
fn graded(end: &PathEnd, possible: Option<ExprId>, (calls, null): (&Calls, &mut Option<Null>), cx: &mut Cx<'_>) -> (Grade, Vec<String>) {
    if !matches!(end, PathEnd::Fault(_) | PathEnd::Exit(_)) {
        return (Grade::May, Vec::new());
    }
    if let Some(ok) = possible
        && is_touched(ok, cx)
        && !(matches!(end, PathEnd::Fault(fault) if is_of_index(fault.kind)) && is_selected(&cx.core.pool, ok, 0) && !told::is_of_model(cx))
    {
        return (Grade::May, vec!["some inputs of the path avoid it".into()]);
    }
    if let PathEnd::Fault(fault) = end {
        let asked = Asked { kind: fault.kind, ok: possible.or_else(|| asks_of_operand(cx)) };
        if let Some(why) = DOUBTS.iter().find_map(|doubt| doubt(&asked, calls, cx)) {
            return (Grade::May, vec![why]);
        }
        if fault.kind == FaultKind::NullDereference {
            match told::known(calls, cx) {
                Known::Here => {}
                Known::IfUnused(place) => *null = Some(place),
                Known::No(why) => return (Grade::May, vec![why]),
            }
        }
    }
    let doubts = &cx.state.lazy::<Inputs>().doubts;
    if !doubts.is_empty() {
        return (Grade::May, doubts.iter().map(|why| why.to_string()).collect());
    }
    let needed = needed(cx);
    if needed.is_empty() {
        return (Grade::Must, Vec::new());
    }
    let tested = tested(calls, cx);
    let mut doubt = ExprId::FALSE;
    for (cond, _) in &needed {
        let not = cx.core.pool.not(*cond);
        doubt = cx.core.pool.or(doubt, not);
    }
    if implied(&tested, doubt, cx) {
        return (Grade::Must, Vec::new());
    }
    let mut why: Vec<String> = Vec::new();
    for (cond, words) in needed {
        let not = cx.core.pool.not(cond);
        if !why.contains(&words) && !implied(&tested, not, cx) {
            why.push(words);
        }
    }
    (Grade::May, why)
}

/// A fault, and the condition under which it does not happen, if that is symbolic.
struct Asked {
    kind: FaultKind,
    ok: Option<ExprId>,
}

impl Asked {
    /// Whether it is about a number that the path uses: an index, a divisor or a width.
    fn is_of_number(&self) -> bool {
        is_of_index(self.kind) || matches!(self.kind, FaultKind::DivisionByZero | FaultKind::ShiftTooFar)
    }
}

/// Why a fault need not happen, though all inputs of its path have it. May ask the solver.
type Doubt = fn(&Asked, &Calls, &mut Cx<'_>) -> Option<String>;

const DOUBTS: &[Doubt] = &[
    passes_own_test, may_end_program, counts_rounds, comes_from_loop, rests_on_untold, gives_untested, needs_change, comes_from_case,
    passes_end_mark, reads_target_from_table, uses_pointer_of_loop,
];

/// Other inputs pass the test that the fault itself makes.
fn passes_own_test(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let (cond, before) = own_test(asked.kind, cx)?;
    let what = if asked.kind == FaultKind::AssertionFailed { "satisfy the assertion" } else { "avoid it" };
    is_avoidable(cond, before, cx).then(|| format!("some inputs of the path {what}"))
}

/// `abort` in a function that has no way to return, or in machine code, of which that is not known; or right after an allocation has failed.
fn may_end_program(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let fails = |cond: &ExprId| cx.core.pool.support(*cond).iter().all(|s| cx.core.pool.sym_info(*s).name.starts_with("fail_"));
    if matches!(asked.kind, FaultKind::Abort | FaultKind::Trap) && cx.state.path.constraints().last().is_some_and(fails) {
        return Some("the program ends itself where there is no memory".into());
    }
    let (func, image) = (cx.pos().func, &cx.core.image);
    let returns = || !image.is_machine_code(func) && image.code(func).ops.iter().any(|op| op.kind == code::Kind::Ret);
    (asked.kind == FaultKind::Abort && !returns()).then(|| "its function may be there to end the program".into())
}

/// An index inside a loop that counts by an input; or a shift, after which the loop may have gone round until a count that is too large was all that is left.
fn counts_rounds(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let rounds = match asked.kind {
        kind if is_of_index(kind) || kind == FaultKind::OverwrittenReturn => round_of_input(cx).into_iter().collect(),
        FaultKind::ShiftTooFar => all_rounds_of_input(cx),
        _ => Vec::new(),
    };
    let round = rounds.into_iter().find(|round| counts_input(round, cx))?;
    Some(format!("the count of the loop at {} is an input, and may be kept within bounds", round.place))
}

/// A number, of which only a loop without a round says what it is, or a call that tells nobody.
fn rests_on_untold(asked: &Asked, calls: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let ok = asked.ok.filter(|_| asked.is_of_number())?;
    let untold = told::untold(calls, cx);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let pool = &cx.core.pool;
    let of_it = |i: &usize| pool.support(tests[*i].cond).iter().any(|symbol| pool.support(ok).contains(symbol));
    if !untold.iter().any(of_it) {
        return None;
    }
    let told: Vec<ExprId> = (0..tests.len()).filter(|i| !untold.contains(i)).map(|i| tests[i].cond).collect();
    (!excludes(&told, ok, cx)).then(|| "only a loop without a round says so, or a call of which nobody looks at the result".into())
}

/// A null pointer, an index, a divisor or a width that a loop without a round would have made; or a null pointer that a loop may replace.
fn comes_from_loop(asked: &Asked, calls: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let is_null = asked.kind == FaultKind::NullDereference;
    if !is_null && !asked.is_of_number() {
        return None;
    }
    let why = match told::comes_from_loop(is_null, calls, cx)? {
        Exit::WithoutRound => "a loop that has no round here may have one",
        Exit::AfterRounds => "a loop may set the pointer, and nobody tests it after the loop",
    };
    Some(why.into())
}

/// A known number that a call gives, and nobody tests: whoever wrote the call may know that this call gives another one.
fn gives_untested(asked: &Asked, calls: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    if !asked.is_of_number() || asked.ok.is_some_and(|ok| is_lazy(&cx.core.pool, ok)) {
        return None;
    }
    Some(format!("`{}` gives the number, and its caller does not test it", told::untested(true, calls, cx)?))
}

/// A value that the cases of a switch would make, of which none holds.
fn comes_from_case(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let is_value = asked.is_of_number() || matches!(asked.kind, FaultKind::NullDereference | FaultKind::BadCallTarget);
    (is_value && told::comes_from_case(cx)).then(|| "no case of a switch holds, and what it switches on may have no other value".into())
}

/// An access behind the end of a variable whose contents the path has tested: a table may have an end mark.
fn passes_end_mark(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let name = accessed(cx).filter(|_| is_of_index(asked.kind) && !cx.core.image.is_machine_code(cx.pos().func))?;
    let inputs = cx.state.lazy::<Inputs>();
    let is_of_it = |symbol: &wryneck_expr::SymId| cx.core.pool.sym_info(*symbol).name.strip_prefix(MARK) == Some(&name);
    let tested = inputs.small_tests.iter().any(|test| cx.core.pool.support(test.cond).iter().any(is_of_it));
    tested.then(|| format!("what `{name}` holds may mark its end"))
}

/// What the path tested last would have to be changed by a skipped call.
fn needs_change(_: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    versions::disagree(cx)
}

fn reads_target_from_table(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let has_table = || cx.state.lazy::<Inputs>().assumed.iter().any(|assumed| &*assumed.why == WITHOUT_BASE);
    (asked.kind == FaultKind::BadCallTarget && has_table()).then(|| "the target is read from a table of which the size is not known".into())
}

/// The path has used a pointer that a loop which was left out has made. Such a pointer leads to an object of its own here, and most often to one that the
/// loop knew.
fn uses_pointer_of_loop(asked: &Asked, _: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let inputs = cx.state.lazy::<Inputs>();
    let of_loop = |word: ExprId| cx.core.pool.support(word).iter().any(|symbol| inputs.of_loops.contains(symbol));
    let uses_one = || inputs.bound.iter().any(|bound| of_loop(bound.word));
    (is_of_index(asked.kind) && uses_one()).then(|| "a loop that was left out may leave a pointer elsewhere".into())
}

/// The condition of an assertion that failed, if the path's latest decision was its test: an assertion is a check, no test of the code that
/// makes its failure certain (paper 2, section 2.2). The test may be in functions that the assertion's line calls. Where the program aborts, it is
/// the latest decision of the functions that are running.
fn own_test(kind: FaultKind, cx: &Cx<'_>) -> Option<(ExprId, u32)> {
    let is_assertion = match kind {
        FaultKind::AssertionFailed => true,
        // The test is the compiler's.
        FaultKind::SignedOverflow | FaultKind::UnsignedOverflow | FaultKind::LossyConversion => true,
        FaultKind::Abort | FaultKind::Panic | FaultKind::Uncaught | FaultKind::Trap | FaultKind::Reported => false,
        _ => return None,
    };
    let test = cx.state.lazy::<Inputs>().last.clone()?;
    let before = test.before?;
    let here = cx.core.call_stack(cx.state, CALLERS);
    // Innermost first: a call of the line may have been inlined.
    let lines = |pos: &CodePos| -> Vec<(String, u32)> {
        let all = places::source(&cx.core.image, *pos);
        all.iter().filter(|s| s.line > 0).map(|s| (s.file.to_string(), s.line)).collect()
    };
    let same_line = |test: &CodePos, here: &CodePos| {
        let (test, here) = (lines(test), lines(here));
        here.first().is_none_or(|line| test.is_empty() || test.contains(line))
    };
    // A stack may be cut off at its outer end.
    let callers = |a: &[CodePos], b: &[CodePos]| a.iter().zip(b).all(|(a, b)| a == b);
    let own = match is_assertion {
        true => {
            let frames = test.stack.iter().enumerate();
            let mut at_line = frames.filter(|(_, pos)| pos.func == here[0].func && same_line(pos, &here[0]));
            at_line.any(|(i, _)| callers(&test.stack[i + 1..], &here[1..]))
        }
        false => {
            let mut running = here.iter().enumerate().filter(|(_, pos)| pos.func == test.stack[0].func);
            running.any(|(i, _)| callers(&test.stack[1..], &here[i + 1..]))
        }
    };
    own.then_some((test.cond, before))
}

/// Whether the path could have gone the other way at this decision, before which it had so many constraints.
fn is_avoidable(cond: ExprId, before: u32, cx: &mut Cx<'_>) -> bool {
    let mut path = PathCondition::new();
    for other in cx.state.path.constraints().into_iter().take(before as usize) {
        cx.core.solver.push(&cx.core.pool, &mut path, other);
    }
    let other = cx.core.pool.not(cond);
    !implied(&path, other, cx)
}

/// Whether some tests follow from others. Asks the solver.
pub(crate) fn follow(tests: &[ExprId], others: &[ExprId], cx: &mut Cx<'_>) -> bool {
    let mut doubt = ExprId::FALSE;
    for test in tests {
        let not = cx.core.pool.not(*test);
        doubt = cx.core.pool.or(doubt, not);
    }
    excludes(others, doubt, cx)
}

/// Whether a condition cannot hold where these tests hold. Asks the solver.
pub(crate) fn excludes(tests: &[ExprId], cond: ExprId, cx: &mut Cx<'_>) -> bool {
    let path = path_of(tests, cx);
    implied(&path, cond, cx)
}

/// Whether a condition cannot hold.
fn implied(path: &PathCondition, doubt: ExprId, cx: &mut Cx<'_>) -> bool {
    if doubt == ExprId::FALSE {
        return true;
    }
    let budget = Budget { conflicts: CONFLICTS, ..Budget::until(cx.core.end_signal().clone()) };
    let base = cx.state.model.clone();
    matches!(cx.core.solver.check(&mut cx.core.pool, path, doubt, &base, &budget), Answer::Unsat(_))
}

/// The path condition without what the engine chose, and with what the code tested though it was known. Tests that the
/// calls in progress know nothing of are left out.
fn tested(calls: &Calls, cx: &mut Cx<'_>) -> PathCondition {
    let untold = told::untold(calls, cx);
    let inputs = cx.state.lazy::<Inputs>().clone();
    let pool = &cx.core.pool;
    let chosen = chosen(&inputs, pool);
    let parts = |are_left_out: bool| -> FxHashSet<ExprId> {
        let tests = inputs.small_tests.iter().enumerate().filter(|(i, _)| untold.contains(i) == are_left_out);
        tests.flat_map(|(_, test)| pool.conjuncts(test.cond).into_iter().chain([test.cond])).collect()
    };
    let (left_out, others) = (parts(true), parts(false));
    let all = cx.state.path.constraints().into_iter().filter(|cond| !chosen.contains(cond)).chain(inputs.tested.iter().copied());
    let mut all: Vec<ExprId> = all.filter(|cond| !left_out.contains(cond) || others.contains(cond)).collect();
    // Pointers that were used are valid: a path on which one is not has ended there.
    for bound in inputs.bound.iter() {
        // An object neither begins in the first page nor wraps around.
        let reach = inputs.made(bound.object).map_or(0, |made| made.high.max(0) as u64);
        let (lowest, highest) = (cx.core.pool.bits(64, PAGE), cx.core.pool.bits(64, (PAGE + reach).wrapping_neg()));
        all.push(cx.core.pool.ule(lowest, bound.word));
        all.push(cx.core.pool.ule(bound.word, highest));
    }
    let mut path = PathCondition::new();
    for cond in all {
        if cx.core.pool.as_u64(cond).is_none() && !path.contains(&cx.core.pool, cond) {
            cx.core.solver.push(&cx.core.pool, &mut path, cond);
        }
    }
    path
}

/// These tests as a path condition. The one of the path has what follows from several tests in place of them.
fn path_of(tests: &[ExprId], cx: &mut Cx<'_>) -> PathCondition {
    let mut path = PathCondition::new();
    for test in tests {
        if !path.contains(&cx.core.pool, *test) {
            cx.core.solver.push(&cx.core.pool, &mut path, *test);
        }
    }
    path
}

/// Whether the tests of a loop count by a word of input, and no other test of the path implies how they were decided. Only the word's owner may know its
/// bounds. A test counts if it looks at nothing that the loop has loaded, if another round tested the same word at the same place, or if the word was
/// tested before the loop. A loop over data tests other bytes in each round. Asks the solver.
fn counts_input(round: &Round, cx: &mut Cx<'_>) -> bool {
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let pool = &cx.core.pool;
    let is_inside = |test: &SmallTest| test.stack.first().is_some_and(|pos| round.contains(*pos));
    let counts = |i: &usize| {
        let (test, support) = (&tests[*i], pool.support(tests[*i].cond));
        let compares = |j: usize, other: &SmallTest| {
            let words = pool.support(other.cond);
            match is_inside(other) {
                true => *i != j && other.stack == test.stack && words == support,
                false => support.iter().all(|symbol| words.contains(symbol)),
            }
        };
        is_inside(test) && (round.counts(test.stack[0]) || tests.iter().enumerate().any(|(j, other)| compares(j, other)))
    };
    let (counts, others): (Vec<usize>, Vec<usize>) = (0..tests.len()).partition(counts);
    let conds = |some: Vec<usize>| some.into_iter().map(|i| tests[i].cond).collect::<Vec<ExprId>>();
    !follow(&conds(counts), &conds(others), cx)
}

/// The constraints that our choices added to the path condition, which holds conjunctions part by part.
pub fn chosen(inputs: &Inputs, pool: &Pool) -> FxHashSet<ExprId> {
    let all = inputs.named.iter().copied().chain(inputs.assumed.iter().filter(|a| a.asserted).map(|a| a.cond));
    all.flat_map(|cond| pool.conjuncts(cond).into_iter().chain([cond])).collect()
}

/// What was assumed and may matter, in words.
fn needed(cx: &mut Cx<'_>) -> Vec<(ExprId, String)> {
    let inputs = cx.state.lazy::<Inputs>().clone();
    let mut all: Vec<(ExprId, String)> = inputs.assumed.iter().map(|a| (a.cond, a.why.to_string())).collect();
    for &(a, b) in inputs.interfering.iter() {
        let (a, b) = (&inputs.objects[a], &inputs.objects[b]);
        let distinct = cx.core.pool.ne(a.word, b.word);
        all.push((distinct, format!("`{}` and `{}` point to different objects", a.pointer, b.pointer)));
    }
    all
}

fn is_of_index(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::OutOfBoundsRead | FaultKind::OutOfBoundsWrite)
}

/// Whether a check of an index rests on comparisons of the code alone, which a compiler has made values of: `a[n == 0 ? 0 : 2]` tests `n`.
fn is_selected(pool: &Pool, e: ExprId, depth: u32) -> bool {
    let compares = |e| matches!(pool.kind(e), Kind::Eq(..) | Kind::Ult(..) | Kind::Ule(..) | Kind::Slt(..) | Kind::Sle(..));
    let both = |a, b| is_selected(pool, a, depth + 1) && is_selected(pool, b, depth + 1);
    if depth > 24 {
        return false;
    }
    match pool.kind(e) {
        Kind::Const => true,
        // A comparison below the check's own is the code's.
        Kind::Not(a) if pool.width(a) == 1 && compares(a) && depth > 1 => true,
        _ if compares(e) && depth > 1 && pool.width(e) == 1 => true,
        Kind::Not(a) | Kind::Zext(a) | Kind::Sext(a) | Kind::Neg(a) | Kind::Extract(a, _) => is_selected(pool, a, depth + 1),
        Kind::Ite(_, a, b) => both(a, b),
        Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Add(a, b)
        | Kind::Sub(a, b)
        | Kind::Mul(a, b)
        | Kind::Shl(a, b)
        | Kind::Concat(a, b)
        | Kind::Eq(a, b)
        | Kind::Ult(a, b)
        | Kind::Ule(a, b)
        | Kind::Slt(a, b)
        | Kind::Sle(a, b) => both(a, b),
        _ => false,
    }
}

/// Whether a condition mentions an under-constrained symbol, or one that shares constraints with such a symbol.
fn is_touched(cond: ExprId, cx: &Cx<'_>) -> bool {
    let pool: &Pool = &cx.core.pool;
    if is_lazy(pool, cond) {
        return true;
    }
    let support = pool.support(cond);
    let constraints = cx.state.path.constraints();
    let groups = cx.state.path.groups();
    let mut touching = groups.iter().filter(|(symbols, _)| symbols.iter().any(|s| support.contains(s)));
    touching.any(|(symbols, indices)| {
        let lazy = |s: &wryneck_expr::SymId| pool.sym_info(*s).name.starts_with(crate::MARK);
        symbols.iter().any(lazy) || indices.iter().any(|i| constraints.get(*i as usize).is_some_and(|c| is_lazy(pool, *c)))
    })
}
