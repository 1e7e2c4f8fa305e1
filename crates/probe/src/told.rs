//! Which tests of callees their callers know.
//!
//! A callee may handle null without telling its caller. After it has returned, the caller knows the outcome of the callee's test in two cases: it branches
//! on the callee's result, or one side of the test has written to memory. Inlined calls count as calls; debug information says where they are.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::{
    CodePos, Cx, Exit, Image, SourcePos, Uses, called, names_address, orders_values, places, sides_write, uses_of_cases, uses_of_inlined,
    uses_of_loop, uses_of_result,
};

use wryneck_expr::{ExprId, Kind};

use crate::data::{CALLERS, Inputs, SmallTest};
use crate::grade;

/// Why the use of a null pointer is a may error, if only callees that have returned have tested it.
pub const CALLEE_ALONE: &str = "only a callee has tested the pointer, and paths on which it is valid get here, too";

/// An operation, and the call that it is in.
type Place = [Option<CodePos>; 2];

/// A test, and the side of it that a path takes.
type Side = (CodePos, bool);

/// What all paths of a function have shown of calls.
#[derive(Default)]
pub struct Calls {
    /// Where lazily made pointers were used.
    used: RefCell<FxHashSet<Place>>,
    /// What callers do with what calls give; `None`: not known.
    uses: RefCell<FxHashMap<Ended, Option<Rc<Uses>>>>,
    /// What is done with what loops make, by the test that goes past one and its side.
    loops: RefCell<FxHashMap<Side, Option<Rc<Uses>>>>,
    /// Whether the sides of a test change memory, by the test and the side taken.
    writes: RefCell<FxHashMap<Side, bool>>,
}

impl Calls {
    /// Notes that the operation which the path is at uses a pointer.
    pub(crate) fn note_use(&self, cx: &Cx<'_>) {
        self.used.borrow_mut().insert(place(cx));
    }

    /// Whether some path has used a valid pointer where another one found it null.
    pub fn refute(&self, null: &Null) -> bool {
        self.used.borrow().contains(&null.0)
    }

    /// Whether the callers of a call may know how a test in it ended: they look at what it gave, or one side of the test changes memory. Of machine code that is
    /// not known.
    fn tell(&self, call: &Ended, test: &SmallTest, cx: &mut Cx<'_>) -> bool {
        let side = (test.stack[0], test.taken);
        let writes = |cx: &mut Cx<'_>| *self.writes.borrow_mut().entry(side).or_insert_with(|| sides_write(side.0, side.1, cx));
        self.uses(call, cx).is_none_or(|uses| uses.is_tested) || writes(cx)
    }

    /// What is done with what the loop makes that a test goes past.
    fn uses_of_loop(&self, test: &SmallTest, cx: &mut Cx<'_>) -> Option<Rc<Uses>> {
        let side = (test.stack[0], test.taken);
        self.loops.borrow_mut().entry(side).or_insert_with(|| uses_of_loop(side.0, side.1, cx).map(Rc::new)).clone()
    }

    /// What its caller does with what a call gave.
    fn uses(&self, call: &Ended, cx: &mut Cx<'_>) -> Option<Rc<Uses>> {
        if let Some(known) = self.uses.borrow().get(call) {
            return known.clone();
        }
        let found = match call.inlined.is_empty() {
            true => uses_of_result(call.pos, cx),
            false => uses_of_inlined(call.pos.func, &call.inlined, cx),
        };
        let found = found.map(Rc::new);
        self.uses.borrow_mut().insert(call.clone(), found.clone());
        found
    }
}

/// The tests of the path that the calls in progress know nothing of, by number: those of ended calls, and that a loop has no round.
pub(crate) fn untold(calls: &Calls, cx: &mut Cx<'_>) -> FxHashSet<usize> {
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let here = frames(&cx.core.image, &cx.core.call_stack(cx.state, CALLERS));
    // What callers in machine code look at is not known, and assumptions are doubted more readily than null pointers.
    let mut is_told = |test: &SmallTest| {
        let Some(call) = ended(test, &here, cx) else { return true };
        !cx.core.image.is_machine_code(call.pos.func) && calls.tell(&call, test, cx)
    };
    (0..tests.len()).filter(|i| tests[*i].left == Some(Exit::WithoutRound) || !is_told(&tests[*i])).collect()
}

/// The use of a null pointer that only calls which have ended have tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Null(Place);

fn place(cx: &Cx<'_>) -> Place {
    let mut frames = cx.state.frames.iter().rev().map(|frame| CodePos { func: frame.func(), op: frame.op() });
    [frames.next(), frames.next()]
}

/// What is known of a null pointer where it is used.
pub(crate) enum Known {
    /// A function that goes on has tested it.
    Here,
    /// Only calls that have ended have, and their callers look at what they gave.
    IfUnused(Null),
    /// Nobody who goes on looks at what calls gave that have ended; in words.
    No(String),
}

/// What is known of the null pointer that the path uses.
pub(crate) fn known(calls: &Calls, cx: &mut Cx<'_>) -> Known {
    let Some(word) = cx.state.lazy::<Inputs>().invalid else {
        let why = |name| format!("the null is what `{name}` gives, which its caller does not test");
        return untested(false, calls, cx).map_or(Known::Here, |name| Known::No(why(name)));
    };
    let pool = &cx.core.pool;
    let own = pool.support(word);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let here = frames(&cx.core.image, &cx.core.call_stack(cx.state, CALLERS));
    let of_it: Vec<&SmallTest> = tests.iter().filter(|test| pool.support(test.cond).iter().any(|symbol| own.contains(symbol))).collect();
    // Of several tests of it, those count that no valid pointer passes.
    let lowest = cx.core.pool.bits(64, grade::PAGE);
    let valid = cx.core.pool.ule(lowest, word);
    let excluding: Vec<&SmallTest> = of_it.iter().copied().filter(|test| grade::excludes(&[test.cond], valid, cx)).collect();
    let of_it = if excluding.is_empty() { of_it } else { excluding };
    if !of_it.is_empty() && of_it.iter().all(|test| orders_values(test.stack[0], cx)) {
        return Known::No("only a comparison of two addresses tells that the pointer is null".into());
    }
    let all = of_it.into_iter().map(|test| Some((ended(test, &here, cx)?, test))).collect::<Option<Vec<(Ended, &SmallTest)>>>();
    match all {
        None => Known::Here,
        Some(ended) if ended.is_empty() => Known::Here,
        Some(ended) if ended.iter().any(|(call, test)| calls.tell(call, test, cx)) => Known::IfUnused(Null(place(cx))),
        Some(_) => Known::No("only a callee has tested the pointer, and its caller does not look at what it gave".into()),
    }
}

/// How the loop was left that may make otherwise what the path uses here, if no test has looked at it since. After rounds that counts for null pointers
/// alone. A null pointer that the loop's own test has found is one however often the loop goes round.
pub(crate) fn comes_from_loop(is_null: bool, calls: &Calls, cx: &mut Cx<'_>) -> Option<Exit> {
    let stack = cx.core.call_stack(cx.state, CALLERS);
    let inputs = cx.state.lazy::<Inputs>();
    let (tests, invalid) = (inputs.small_tests.clone(), inputs.invalid);
    let here = frames(&cx.core.image, &stack);
    if let Some(left) = tests.last().filter(|_| is_null && names_address(cx)).and_then(|test| test.left) {
        // Compilers put the use of a null pointer that they know of where its test leads.
        return Some(left);
    }
    tests.iter().find_map(|test| {
        let left = test.left?;
        let pool = &cx.core.pool;
        let is_tested = || invalid.is_some_and(|word| pool.support(word).iter().any(|symbol| pool.support(test.cond).contains(symbol)));
        if left == Exit::AfterRounds && !is_null || is_null && is_tested() || ended(test, &here, cx).is_some() {
            return None;
        }
        calls.uses_of_loop(test, cx).is_some_and(|uses| reach_untested(&uses, test.stack[0].func, &stack, cx)).then_some(left)
    })
}

/// Whether a value of a function that nobody tests reaches one of the operations of these calls in progress.
fn reach_untested(uses: &Uses, func: u32, stack: &[CodePos], cx: &Cx<'_>) -> bool {
    !uses.is_tested && stack.iter().any(|pos| pos.func == func && uses.reach(*pos, cx))
}

/// Whether what is used here would be made by the cases of a switch of which none holds, and no test has looked at it since: the type of what is switched
/// on may have no other value.
pub(crate) fn comes_from_case(cx: &mut Cx<'_>) -> bool {
    let stack = cx.core.call_stack(cx.state, CALLERS);
    let here = frames(&cx.core.image, &stack);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    tests.iter().any(|test| {
        let pool = &cx.core.pool;
        let is_default = pool.conjuncts(test.cond).iter().all(|part| matches!(pool.kind(*part), Kind::Not(_)));
        is_default
            && ended(test, &here, cx).is_none()
            && uses_of_cases(test.stack[0], cx).is_some_and(|uses| reach_untested(&uses, test.stack[0].func, &stack, cx))
    })
}

/// Whether what is used here comes from a call whose result the caller does not test: whoever wrote the call may know what this call gives. The name of
/// the function that gave it. `models`: functions that the engine models count, too.
pub(crate) fn untested(models: bool, calls: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let stack = cx.core.call_stack(cx.state, CALLERS);
    let here = frames(&cx.core.image, &stack);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let modelled =
        |test: &SmallTest| Some(Ended { name: called(test.stack[0], cx).filter(|_| models)?.0, pos: test.stack[0], inlined: Vec::new() });
    let calls_of: Vec<Option<Ended>> = tests.iter().map(|test| ended(test, &here, cx).or_else(|| modelled(test))).collect();
    let mut seen = Vec::new();
    for call in calls_of.iter().flatten() {
        if seen.contains(&call) {
            continue;
        }
        let is_untested = match calls.uses(call, cx) {
            Some(uses) => reach_untested(&uses, call.pos.func, &stack, cx),
            // An inlined call of machine code.
            None => !call.inlined.is_empty(),
        };
        if is_untested {
            // What the caller has tested itself may say how the call's tests end.
            let conds = |of: Option<&Ended>| -> Vec<ExprId> {
                tests.iter().zip(&calls_of).filter(|(_, other)| other.as_ref() == of).map(|(test, _)| test.cond).collect()
            };
            return (!grade::follow(&conds(Some(call)), &conds(None), cx)).then(|| call.name.clone());
        }
        seen.push(call);
    }
    None
}

/// Whether what is used here comes from a call of a function that is not the program's own, whose result its caller does not test.
pub(crate) fn is_of_model(cx: &mut Cx<'_>) -> bool {
    let here = cx.pos();
    if cx.core.image.is_machine_code(here.func) {
        return false;
    }
    let calls = (0..cx.core.image.code(here.func).ops.len() as u32).map(|op| CodePos { op, ..here });
    let calls: Vec<CodePos> = calls.filter(|call| called(*call, cx).is_some_and(|(_, is_own)| !is_own)).collect();
    calls.into_iter().any(|call| uses_of_result(call, cx).is_some_and(|uses| reach_untested(&uses, here.func, &[here], cx)))
}

/// A call that has ended since a test was made in it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Ended {
    name: String,
    /// The call; if it was inlined, a place inside it.
    pos: CodePos,
    /// The inlined call, and those around it, innermost first: the function's own frame is the last. Empty if it was not inlined.
    inlined: Vec<SourcePos>,
}

/// A frame of the source, and the frame of the stack that it belongs to.
struct Frame {
    source: SourcePos,
    of: usize,
    of_machine_code: bool,
}

/// The frames of a stack, innermost first, inlined calls unfolded.
fn frames(image: &Image, stack: &[CodePos]) -> Vec<Frame> {
    let of_one = |(of, pos): (usize, &CodePos)| {
        let of_machine_code = image.is_machine_code(pos.func);
        let sources = places::source(image, *pos).into_iter();
        sources.map(move |source| Frame { source, of, of_machine_code }).collect::<Vec<_>>()
    };
    stack.iter().enumerate().flat_map(of_one).collect()
}

/// The outermost call around a test that has ended; `None`: the test's own function goes on. `here`: the frames of the path.
fn ended(test: &SmallTest, here: &[Frame], cx: &Cx<'_>) -> Option<Ended> {
    let image = &cx.core.image;
    let all = frames(image, &test.stack);
    let same = |a: &Frame, b: &Frame| (&a.source.function, a.source.line) == (&b.source.function, b.source.line);
    let depth = |frames: &[Frame]| frames.iter().filter(|frame| frame.of_machine_code).count();
    let goes_on = |i: usize| {
        let mut running = here.iter().enumerate().filter(|(j, frame)| match all[i].of_machine_code {
            // Symbols name few of its functions, so the calls around say which call it is. A stack may be cut off.
            true => depth(&all[i..]) == depth(&here[*j..]) || depth(&all).max(depth(here)) >= CALLERS,
            false => frame.source.function == all[i].source.function,
        });
        running.any(|(j, _)| all[i + 1..].iter().zip(&here[j + 1..]).all(|(a, b)| same(a, b)))
    };
    let outer = (0..all.len()).find(|i| goes_on(*i))?;
    let inner = outer.checked_sub(1)?;
    let name = all[inner].source.function.clone();
    let of = all[outer].of;
    match all[inner].of == of {
        false => Some(Ended { name, pos: test.stack[of], inlined: Vec::new() }),
        true => {
            let around = all[inner..].iter().take_while(|frame| frame.of == of).map(|frame| frame.source.clone());
            Some(Ended { name, pos: test.stack[of], inlined: around.collect() })
        }
    }
}
