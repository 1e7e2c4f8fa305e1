//! The static analysis of small programs in text form, against results that were worked out by hand.

mod common;

use std::rc::Rc;

use common::image;
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_verify::checker::Pointers;
use wryneck_verify::flow::{Events, Flow, ObjectId, SYSTEM_CALL, Summaries};

fn flow(text: &str) -> (Flow, Rc<Image>) {
    flow_from(text, None)
}

fn flow_from(text: &str, entry: Option<&str>) -> (Flow, Rc<Image>) {
    let image = image(text);
    let named = image.clone();
    let is_event = move |_, callee| match callee {
        Callee::Body(f) => named.name(f) == "event",
        Callee::Model(_) | Callee::Undefined(_) => false,
    };
    (Flow::new(image.clone(), Box::new(is_event), Summaries::builtin(), entry, None).expect("the program is small"), image)
}

fn number(image: &Image, name: &str) -> u32 {
    (0..image.program.functions().len() as u32).find(|f| image.name(*f) == name).unwrap_or_else(|| panic!("no function `{name}`"))
}

fn variable(flow: &Flow, image: &Image, name: &str) -> ObjectId {
    let target = image.program.lookup(name).unwrap_or_else(|| panic!("no `{name}`"));
    flow.global_object(image.target_address(target)).unwrap_or_else(|| panic!("`{name}` has no object")).0
}

#[test]
fn sides_end_where_they_meet_again() {
    let (flow, image) = flow(
        "func strong @event() { entry: ret }
         func strong @main(%x: 8) -> 8 {
         entry: %c = eq.8 %x, 1 condbr %c, yes, no
         yes: call @event() br end
         no: %d = eq.8 %x, 2 condbr %d, out, end
         out: ret.8 7
         end: %e = eq.8 %x, 3 condbr %e, loop, done
         loop: %f = eq.8 %x, 4 condbr %f, loop, done
         done: ret.8 0 }",
    );
    let main = number(&image, "main");
    // Blocks: entry, yes, no, out, end, loop, done.
    let joins: Vec<_> = (0..7).map(|b| flow.join(main, 0, b)).collect();
    assert_eq!(joins, [None, Some(4), None, None, Some(6), Some(6), None]);
    let ways = flow.edges(main, 0, 0);
    assert!(flow.side(main, 0, 0, ways[0]).event && !flow.side(main, 0, 0, ways[1]).event);
    assert!(!flow.side(main, 0, 0, ways[0]).leaves);
}

#[test]
fn output_gives_no_negative_number() {
    let (flow, image) = flow(
        "declare func @putchar
         func strong @event() { entry: ret }
         func strong @main(%x: 32) -> 32 {
         entry: %r = call.32 @putchar(%x:32) %c = slt.32 %r, 0 condbr %c, bad, next
         bad: call @event() br next
         next: %d = eq.32 %r, -1 condbr %d, bad, more
         more: %e = slt.32 -1, %r condbr %e, line, bad
         line: %f = eq.32 %r, 10 condbr %f, bad, end
         end: ret.32 0 }",
    );
    let main = number(&image, "main");
    // Blocks: entry, bad, next, more, line, end.
    assert_eq!([0, 2, 3, 4].map(|block| flow.edges(main, 0, block).len()), [1, 1, 1, 2]);
}

#[test]
fn ways_that_return_meet_whether_or_not_others_leave() {
    let (flow, image) = flow(
        "declare func @exit
         func strong @die() { entry: call @exit(1:32) ret }
         func strong @spin() { entry: br entry }
         func strong @main(%x: 8) -> 8 {
         entry: %c = eq.8 %x, 1 condbr %c, yes, no
         yes: call @die() br end
         no: %d = eq.8 %x, 2 condbr %d, far, end
         far: call @spin() br end
         end: ret.8 0 }",
    );
    let main = number(&image, "main");
    // Blocks: entry, yes, no, far, end.
    assert_eq!((flow.join(main, 0, 0), flow.join(main, 0, 2)), (Some(2), Some(4)));
    let [yes, no] = flow.edges(main, 0, 0)[..] else { panic!("two ways") };
    // What comes behind the join belongs to no side.
    assert!(flow.side(main, 0, 0, yes).leaves && !flow.side(main, 0, 0, no).leaves);
    let [far, end] = flow.edges(main, 0, 2)[..] else { panic!("two ways") };
    assert!(flow.side(main, 0, 2, far).leaves && !flow.side(main, 0, 2, end).leaves);
    assert!(flow.function(number(&image, "spin")).leaves);
}

#[test]
fn where_none_returns_those_meet_that_end_alike() {
    let (flow, image) = flow(
        "declare func @exit
         declare func @abort
         func strong @main(%x: 8) -> 8 {
         entry: %c = eq.8 %x, 1 condbr %c, yes, no
         yes: %d = eq.8 %x, 2 condbr %d, far, bad
         far: br out
         bad: %e = eq.8 %x, 3 condbr %e, far, worse
         worse: call @abort() ret.8 1
         out: call @exit(1:32) br no
         no: ret.8 0 }",
    );
    let main = number(&image, "main");
    // Blocks: entry, yes, far, bad, worse, out, no.
    let joins: Vec<_> = [0, 1, 3].into_iter().map(|b| flow.join(main, 0, b)).collect();
    assert_eq!(joins, [Some(6), Some(2), Some(2)]);
}

#[test]
fn calls_by_pointer_reach_events_and_writes() {
    let (flow, image) = flow(
        "data strong @hook size 8 align 8
         data strong @g size 16 align 8
         data strong @h size 8 align 8
         func strong @event() { entry: ret }
         func strong @loud() { entry: call @event() store.32 @g+4, 1 ret }
         func strong @silent() { entry: store.32 @h, 1 ret }
         func strong @main(%x: 8) -> 8 {
         entry: store.64 @hook, @loud %c = eq.8 %x, 1 condbr %c, yes, no
         yes: %p = load.64 @hook call.indirect %p() br end
         no: call @silent() br end
         end: ret.8 0 }",
    );
    let main = number(&image, "main");
    let [yes, no] = flow.edges(main, 0, 0)[..] else { panic!("two ways") };
    let (yes, no) = (flow.side(main, 0, 0, yes), flow.side(main, 0, 0, no));
    assert!(yes.event && !no.event);
    let (g, h) = (variable(&flow, &image, "g"), variable(&flow, &image, "h"));
    let touched = |o| (0..16).filter(|i| yes.changes.writes.touches(o, *i)).collect::<Vec<_>>();
    assert_eq!((touched(g), touched(h)), (vec![4, 5, 6, 7], vec![]));
    assert!(no.changes.writes.touches(h, 3) && !no.changes.writes.touches(g, 4));
}

#[test]
fn a_first_argument_of_zero_is_told_apart() {
    let (flow, image) = flow(
        "declare func @exit
         data strong @g size 8 align 8
         func strong @event() { entry: ret }
         func strong @error(%s: 32) { entry: call @tail(%s:32) ret }
         func strong @tail(%s: 32) { entry: %c = eq.32 %s, 0 condbr %c, back, out
         out: call @event() call @exit(%s:32) ret
         back: store.64 @g, 1 ret }
         func strong @main(%x: 8) -> 8 {
         entry: %c = eq.8 %x, 1 condbr %c, yes, no
         yes: call @error(0:32) br end
         no: call @error(1:32) br end
         end: ret.8 0 }",
    );
    let main = number(&image, "main");
    let [yes, no] = flow.edges(main, 0, 0)[..] else { panic!("two ways") };
    let (yes, no) = (flow.side(main, 0, 0, yes), flow.side(main, 0, 0, no));
    assert!(!yes.event && !yes.leaves && yes.changes.writes.touches(variable(&flow, &image, "g"), 0));
    assert!(no.event && no.leaves);
}

#[test]
fn addresses_go_through_wide_values_copies_and_new_objects() {
    let (flow, image) = flow(
        "declare func @realloc
         declare func @memcpy
         data strong @a size 8 align 8
         data strong @b size 8 align 8
         data strong @c size 8 align 8
         data strong @d size 8 align 8
         data strong @two size 16 align 8 { 0: @a, 8: @b }
         data strong @three size 16 align 8 { 8: @c }
         func strong @by_value(%s: byval 16) { entry: %q = ptradd %s, 8 %p = load.64 %q store.8 %p, 4 store.8 %s, 1 ret }
         func strong @main(%x: 8) -> 8 {
         $s: 16 align 8
         $t: 16 align 8
         entry: %s = alloca $s %t = alloca $t
         %w = load.128 @two store.128 %s, %w
         %r = call.64 @realloc(%s:64, 32:64) %q = ptradd %r, 8 %p = load.64 %q
         call.64 @memcpy(%t:64, @three:64, 16:64) %q = ptradd %t, 8 %k = load.64 %q
         %c = eq.8 %x, 1 condbr %c, one, other
         one: store.8 %p, 3 store.64 %k, 5 br end
         other: call @by_value(@two:64) br end
         end: ret.8 0 }",
    );
    let main = number(&image, "main");
    let [one, other] = flow.edges(main, 0, 0)[..] else { panic!("two ways") };
    let (one, other) = (flow.side(main, 0, 0, one), flow.side(main, 0, 0, other));
    let [a, b, c, d, two] = ["a", "b", "c", "d", "two"].map(|name| variable(&flow, &image, name));
    assert!(
        one.changes.writes.touches(b, 0)
            && one.changes.writes.touches(c, 7)
            && !one.changes.writes.touches(d, 0)
            && !one.changes.writes.touches(b, 1)
    );
    assert!(other.changes.writes.touches(b, 0) && !other.changes.writes.touches(two, 0) && !other.changes.writes.touches(a, 1));
}

#[test]
fn what_wrappers_allocate_differs_by_caller() {
    let (flow, image) = flow(
        "declare func @malloc
         declare func @exit
         func strong @xmalloc(%n: 64) -> 64 { entry: %p = call.64 @malloc(%n:64) %c = eq.64 %p, 0 condbr %c, bad, good
         bad: call @exit(1:32) unreachable
         good: ret.64 %p }
         func strong @pair() -> 64 { entry: %p = call.64 @xmalloc(16:64) store.64 %p, 1 ret.64 %p }
         func strong @main(%x: 8) -> 8 {
         entry: %p = call.64 @pair() %q = call.64 @pair() %c = eq.8 %x, 1 condbr %c, one, other
         one: store.8 %p, 3 br end
         other: %r = call.64 @pair() br end
         end: ret.8 0 }",
    );
    let [main, pair, xmalloc] = ["main", "pair", "xmalloc"].map(|name| number(&image, name));
    let at = |func, op| CodePos { func, op };
    let made = |op| flow.heap_object(&[at(xmalloc, 0), at(pair, 0), at(main, op)]);
    let [one, other] = flow.edges(main, 0, 0)[..] else { panic!("two ways") };
    let (one, other) = (flow.side(main, 0, 0, one), flow.side(main, 0, 0, other));
    assert!(one.changes.writes.touches(made(0), 0) && !one.changes.writes.touches(made(0), 1) && !one.changes.writes.touches(made(1), 0));
    assert!(![0, 1].iter().any(|op| other.changes.writes.touches(made(*op), 0)), "what is new was nobody's");
    assert!(!one.leaves && !other.leaves, "allocation succeeds");
}

#[test]
fn faults_are_assumed_not_to_happen_on_other_sides() {
    let (flow, image) = flow(
        "declare func @abort
         data strong @g size 8 align 8
         func strong @event() { entry: ret }
         func strong @give_up() { entry: store.8 @g, 1 call @abort() unreachable }
         func strong @main(%x: 8) -> 8 {
         entry: %c = eq.8 %x, 1 condbr %c, bad, end
         bad: call @event() call @give_up() unreachable
         end: ret.8 0 }",
    );
    let main = number(&image, "main");
    let side = flow.side(main, 0, 0, flow.edges(main, 0, 0)[0]);
    assert!(side.event && !side.leaves && !side.changes.writes.touches(variable(&flow, &image, "g"), 0));
}

#[test]
fn what_another_entry_calls_is_known() {
    let text = "declare func @__wryneck_start declare func @__wryneck_call
         func strong @__wryneck_entry() { entry: call @__wryneck_start() ret }
         func strong @__wryneck_entry_call() -> 32 { entry: call @__wryneck_call() ret.32 0 }
         func strong @event() { entry: ret }
         func strong @check(%x: 8) { entry: %c = eq.8 %x, 1 condbr %c, yes, no yes: call @event() br no no: ret }";
    for (entry, known) in [(Some("check"), true), (None, false)] {
        let (flow, image) = flow_from(text, entry);
        let check = number(&image, "check");
        let [yes, no] = flow.edges(check, 0, 0)[..] else { panic!("two ways") };
        assert!(flow.side(check, 0, 0, yes).event);
        assert!(!flow.side(check, 0, 0, no).event || !known);
        assert_eq!(!flow.function(check).leaves, known, "{entry:?}");
    }
}

/// Calls of `event` with a pointer that `make` returned, or with null.
struct OfMade(Rc<Image>, bool);

impl Events for OfMade {
    fn may_be(&self, _: u32, callee: Callee, _: bool) -> bool {
        self.0.callee_name(callee) == "event"
    }
    fn pointers(&self, _: Callee) -> Option<Pointers> {
        Some(Pointers { arg: 0, null: self.1, makers: ["make".to_owned()].into() })
    }
}

#[test]
fn calls_about_what_no_rule_knows_are_no_events() {
    let text = "data strong @one size 8 align 8
         data strong @two size 8 align 8
         data strong @fixed size 8 align 8 [read_only] { 0: @two }
         data strong @variable size 8 align 8 { 0: @two }
         func strong @make() -> 64 { entry: ret.64 @one }
         func strong @event(%p: ptr) { entry: ret }
         func strong @made() { entry: %p = call.64 @make() call @event(%p:64) ret }
         func strong @other() { entry: call @event(@two:64) ret }
         func strong @read() { entry: %p = load.64 @fixed call @event(%p:64) ret }
         func strong @null() { entry: %p = load.64 @variable call @event(%p:64) ret }
         func strong @number(%n: 64) { entry: call @event(%n:64) ret }
         func strong @main(%x: 8) -> 8 {
         entry: call @made() call @other() call @read() call @null() call @number(3:64) ret.8 0 }";
    let image = image(text);
    for null in [false, true] {
        let flow = Flow::new(image.clone(), Box::new(OfMade(image.clone(), null)), Summaries::builtin(), None, None)
            .expect("the program is small");
        let events = ["made", "other", "read", "null", "number"].map(|f| flow.function(number(&image, f)).event);
        assert_eq!(events, [true, false, false, null, true], "null: {null}");
    }
}

#[test]
fn the_number_of_a_system_call_may_be_handed_on() {
    let (flow, image) = flow(
        "declare func @SYSTEM_CALL
         func strong @cancellable(%n: 64, %a: 64) -> 64 { entry: %r = call.64 @SYSTEM_CALL(%n:64, %a:64) ret.64 %r }
         func strong @getpid() -> 64 { entry: %r = call.64 @cancellable(39:64, 0:64) ret.64 %r }
         func strong @exit_group() -> 64 { entry: %r = call.64 @cancellable(231:64, 0:64) ret.64 %r }
         func strong @main(%x: 64) -> 64 {
         entry: %a = call.64 @getpid() %b = call.64 @exit_group() %c = call.64 @cancellable(%x:64, 0:64) ret.64 %a }"
            .replace("SYSTEM_CALL", SYSTEM_CALL)
            .as_str(),
    );
    let leaves = ["getpid", "exit_group", "cancellable"].map(|f| flow.function(number(&image, f)).leaves);
    assert_eq!(leaves, [false, true, true]);
}
