//! What the tests of a call tell once the call has ended. A function may accept null and say so to nobody: its caller then knows no more than before.
//! Calls that a compiler has inlined are calls, as far as debug information says so.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::{CodePos, Cx, Image, SourcePos, Uses, uses_of_inlined, uses_of_result};
use wryneck_expr::ExprId;

use crate::data::{CALLERS, Inputs, SmallTest};

/// Why a null pointer that only calls which have ended have tested is a may error.
pub const CALLEE_ALONE: &str = "only a callee has tested the pointer, and paths on which it is valid get here, too";

/// An operation, and the call that it is in.
type Place = [Option<CodePos>; 2];

/// What all paths of a function have shown of calls.
#[derive(Default)]
pub struct Calls {
    /// Where lazily made pointers were used.
    used: RefCell<FxHashSet<Place>>,
    /// What callers do with what calls give; `None`: not known.
    uses: RefCell<FxHashMap<Ended, Option<Rc<Uses>>>>,
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

    /// What its caller does with what a call gave; not known of machine code.
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

    /// Whether the calls in progress know of a test: it was made in one of them, or in a call of which the caller looks at what it gave.
    fn tell(&self, call: &Ended, cx: &mut Cx<'_>) -> bool {
        self.uses(call, cx).is_none_or(|uses| uses.is_tested)
    }
}

/// The tests of the path that the calls in progress know nothing of, by number.
pub(crate) fn untold(calls: &Calls, cx: &mut Cx<'_>) -> FxHashSet<usize> {
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let here = frames(&cx.core.image, &cx.core.call_stack(cx.state, CALLERS));
    // Of machine code it is not known what is done with what a call gave.
    let mut is_untold = |test: &SmallTest| {
        let Some(call) = ended(test, &here, cx) else { return false };
        calls.uses(&call, cx).is_none_or(|uses| !uses.is_tested)
    };
    (0..tests.len()).filter(|i| is_untold(&tests[*i])).collect()
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
    /// Only such calls, and nobody looks at what they gave.
    No,
}

/// What is known of the null pointer that the path uses.
pub(crate) fn known(word: ExprId, calls: &Calls, cx: &mut Cx<'_>) -> Known {
    let pool = &cx.core.pool;
    let own = pool.support(word);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let here = frames(&cx.core.image, &cx.core.call_stack(cx.state, CALLERS));
    let of_it = tests.iter().filter(|test| pool.support(test.cond).iter().any(|symbol| own.contains(symbol)));
    let Some(calls_ended) = of_it.map(|test| ended(test, &here, cx)).collect::<Option<Vec<Ended>>>() else { return Known::Here };
    match calls_ended.is_empty() {
        true => Known::Here,
        false if calls_ended.iter().any(|call| calls.tell(call, cx)) => Known::IfUnused(Null(place(cx))),
        false => Known::No,
    }
}

/// Whether a null pointer that is used here is the result of a call that the caller does not test: whoever wrote the call may know that this call
/// does not give null. The name of the function that gave it.
pub(crate) fn untested_null(calls: &Calls, cx: &mut Cx<'_>) -> Option<String> {
    let stack = cx.core.call_stack(cx.state, CALLERS);
    let here = frames(&cx.core.image, &stack);
    let tests = cx.state.lazy::<Inputs>().small_tests.clone();
    let mut seen = Vec::new();
    for call in tests.iter().filter_map(|test| ended(test, &here, cx)).collect::<Vec<_>>() {
        if seen.contains(&call) {
            continue;
        }
        let mut at = stack.iter().filter(|pos| pos.func == call.pos.func);
        if calls.uses(&call, cx).is_some_and(|uses| !uses.is_tested && at.any(|pos| uses.reach(*pos))) {
            return Some(call.name);
        }
        seen.push(call);
    }
    None
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
        let sources = image.source(*pos).into_iter();
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
