//! Objects on demand: lazy initialisation (Khurshid et al. 2003, as paper 2 uses it), with aliases and cycles.
//!
//! The first use of an unbound pointer excludes null and binds the pointer: to a new object, or to one of the existing ones, a flip each.
//! Its word stays symbolic; the path condition gets `word == address`, and [`resolve`] looks the address up. So tests of pointers, before or
//! after they are bound, are decisions of the code that [`crate::grade`] can tell from our choices.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::ground::memory::heap;
use wryneck_exec::ground::memory::page::Byte;
use wryneck_exec::pointer::{self, What};
use wryneck_exec::{Cx, FaultKind, Limit, PathEnd, Stop, heap_calls};
use wryneck_expr::subst::subst;
use wryneck_expr::{ExprId, Kind, Pool};

use crate::data::{Bound, Inputs, Made};
use crate::{LEAD, Probe, is_lazy, word};

/// The kind of heap object that lazily made ones are, for the engine's books.
pub(crate) const KIND: u32 = 0x75c;
/// What a pointer may have in its lowest bits.
const TAGS: [u64; 3] = [1, 2, 4];

/// An address with its bound pointers replaced by their objects.
pub(crate) fn resolve(address: ExprId, cx: &mut Cx<'_>) -> Result<ExprId, Stop> {
    if !is_lazy(&cx.core.pool, address) {
        return Ok(address);
    }
    let resolved = replaced(address, cx);
    if has_choice(&cx.core.pool, resolved, 0) || has_base(cx, resolved) { Ok(resolved) } else { Err(Stop::Bind(resolved)) }
}

/// An address with its bound pointers replaced, as far as they are.
pub(crate) fn replaced(address: ExprId, cx: &mut Cx<'_>) -> ExprId {
    let State { map, single } = bound_words(address, cx);
    match single {
        Some(e) => e,
        None if map.is_empty() => address,
        None => subst(&mut cx.core.pool, address, &map),
    }
}

struct State {
    map: FxHashMap<ExprId, ExprId>,
    single: Option<ExprId>,
}

/// The bound words that an address may mention, and the address itself where it is one of them and a constant.
fn bound_words(address: ExprId, cx: &mut Cx<'_>) -> State {
    let inputs = cx.state.lazy::<Inputs>();
    let pool = &cx.core.pool;
    let (word, rest) = match pool.kind(address) {
        Kind::Add(a, b) if pool.as_u64(b).is_some() => (a, pool.as_u64(b).unwrap_or(0)),
        Kind::Add(a, b) if pool.as_u64(a).is_some() => (b, pool.as_u64(a).unwrap_or(0)),
        _ => (address, 0),
    };
    if let Some(bound) = inputs.by_word.get(&word).map(|i| &inputs.bound[*i]) {
        let (object, offset) = (bound.object, bound.at.wrapping_sub(bound.object).wrapping_add(rest));
        let offset = cx.core.pool.bits(64, offset);
        return State { map: FxHashMap::default(), single: Some(cx.core.pool.ptr(object, offset)) };
    }
    let all: Vec<(ExprId, u64, u64)> = inputs.bound.iter().map(|b| (b.word, b.object, b.at)).collect();
    let mut map = FxHashMap::default();
    for (word, object, at) in all {
        let offset = cx.core.pool.bits(64, at.wrapping_sub(object));
        map.insert(word, cx.core.pool.ptr(object, offset));
    }
    State { map, single: None }
}

/// Whether an address is a choice, which the engine decides first.
fn has_choice(pool: &Pool, e: ExprId, depth: u32) -> bool {
    match pool.kind(e) {
        Kind::Ite(..) => true,
        Kind::Add(a, b) if depth < 16 => has_choice(pool, a, depth + 1) || has_choice(pool, b, depth + 1),
        Kind::Sub(a, _) if depth < 16 => has_choice(pool, a, depth + 1),
        _ => false,
    }
}

/// Whether an address begins in an object that is known, or in memory of the program: of stripped machine code not every variable is known.
fn has_base(cx: &Cx<'_>, e: ExprId) -> bool {
    let is_base = |term| match cx.core.pool.kind(term) {
        Kind::PtrAdd(..) => true,
        Kind::Const => cx.core.pool.as_u64(term).is_some_and(|address| pointer::object_at(cx, address).is_some() || is_mapped(cx, address)),
        _ => false,
    };
    word::any_term(&cx.core.pool, e, &is_base)
}

/// Whether an address is an offset from memory of the program of which no object is known.
pub(crate) fn is_in_program(address: ExprId, cx: &Cx<'_>) -> bool {
    let is_mapped = |term| cx.core.pool.as_u64(term).is_some_and(|address| is_mapped(cx, address));
    word::any_term(&cx.core.pool, address, &is_mapped)
}

fn is_mapped(cx: &Cx<'_>, address: u64) -> bool {
    // A compiler may count from before an object.
    heap::contains(address) || !matches!(cx.state.memory.space.byte(address), Byte::Dead)
}

/// Chooses the object of the unbound pointer in an address. Asks the solver.
pub(crate) fn bind(probe: &Probe, address: ExprId, cx: &mut Cx<'_>) -> Result<(), Stop> {
    let address = replaced(address, cx);
    let (word, others) = word::pointer(cx, address);
    if !others.is_empty() {
        Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().indices).extend(others);
    }
    if cx.state.lazy::<Inputs>().by_word.contains_key(&word) {
        return Err(PathEnd::Internal(format!(
            "a bound pointer was to be bound again: {} in {}",
            wryneck_expr::print::human::human(&cx.core.pool, word),
            wryneck_expr::print::human::human(&cx.core.pool, address)
        ))
        .into());
    }
    let pointer: Rc<str> = word::name(&cx.core.pool, word).into();
    if !probe.bounds.makes {
        return Err(PathEnd::fault(FaultKind::WildPointer, format!("use of `{pointer}`, which is input")).into());
    }
    let size = LEAD + probe.bounds.object_bytes;
    let Some(base) = next_address(cx, size) else {
        return Err(PathEnd::Internal("no room for a lazily made object".into()).into());
    };
    let inputs = cx.state.lazy::<Inputs>();
    // The heap uses freed memory again; what was freed there has to stay what it is.
    if inputs.objects.len() >= probe.bounds.objects as usize || inputs.made(base).is_some() {
        cx.state.lazy_mut::<Inputs>().note_bound("objects of one path");
        return Err(PathEnd::Limit(Limit::ObjectSize).into());
    }
    let fresh = base + LEAD;
    let mut targets = vec![Target { object: base, at: fresh }];
    targets.extend(aliases(probe, word, cx));
    let last_alias = targets.len();
    // What the code has tested may leave no other value than the one of the model: an object that it has compared the pointer with.
    let now = cx.core.eval.eval(&cx.core.pool, word, &cx.state.model);
    if let Some(object) =
        pointer::object_at(cx, now).filter(|o| now.wrapping_sub(o.base) <= o.size && !matches!(o.what, What::Function { .. }))
    {
        targets.push(Target { object: object.base, at: now });
    }
    targets.extend(TAGS.map(|tag| Target { object: base, at: fresh + tag }));
    let conds: Vec<ExprId> = targets.iter().map(|target| equation(&mut cx.core.pool, word, target.at)).collect();
    let before = cx.state.path.clone();
    let Some(chosen) = cx.choose_first(&conds, 1..last_alias)? else { return Err(invalid(word, &pointer, cx)?.into()) };
    let target = &targets[chosen];
    if target.object == base {
        let made = heap_calls::allocate(cx, size, 16, false, KIND);
        debug_assert_eq!(made, Some(base), "the next address was asked for");
        let made = Made { pointer: pointer.clone(), base, at: target.at, word, low: 0, high: 0, written: Rc::default() };
        Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().objects).push(made);
    }
    let Target { object, at } = *target;
    let on_path = cx.core.pool.conjuncts(conds[chosen]).into_iter().all(|part| before.contains(&cx.core.pool, part));
    let inputs = cx.state.lazy_mut::<Inputs>();
    match inputs.made(object).map(|made| made.pointer.clone()) {
        Some(other) if object != base => {
            let made = inputs.made(object).map(|made| (made.word, at.wrapping_sub(made.at)));
            Rc::make_mut(&mut inputs.named).push(conds[chosen]);
            if let Some((other_word, distance)) = made {
                // Not as an address, which only our choice has given the other pointer.
                let distance = cx.core.pool.bits(64, distance);
                let there = cx.core.pool.add(other_word, distance);
                let same = cx.core.pool.eq(word, there);
                cx.state.lazy_mut::<Inputs>().assume(same, false, &format!("`{pointer}` points where `{other}` does"));
            }
        }
        Some(_) => Rc::make_mut(&mut inputs.named).push(conds[chosen]),
        None if on_path => {}
        None => inputs.assume(conds[chosen], true, &format!("`{pointer}` points to a variable of the program")),
    }
    cx.state.lazy_mut::<Inputs>().bind(Bound { word, pointer, object, at });
    Ok(())
}

/// Where a pointer may point to.
#[derive(Clone, Copy)]
struct Target {
    object: u64,
    at: u64,
}

/// The address that the next heap object of a size gets.
fn next_address(cx: &mut Cx<'_>, size: u64) -> Option<u64> {
    let here = cx.pos();
    let origin = cx.core.stacks.intern(&[here]);
    cx.state.memory.heap.clone().allocate(size, 16, origin, KIND).map(|(address, _)| address)
}

/// Existing objects that a pointer may also point to: the one it is stored in (a cycle), then the newest.
fn aliases(probe: &Probe, word: ExprId, cx: &Cx<'_>) -> Vec<Target> {
    let inputs = cx.state.lazy::<Inputs>();
    let live = |made: &&Made| heap::contains(made.base) && inputs.index_of(made.base).is_some();
    let holder = cx.core.pool.support(word).first().map(|s| cx.core.pool.sym_info(*s).name.clone());
    let holds = |made: &Made| holder.as_ref().is_some_and(|name| name.trim_start_matches(crate::MARK) == format!("*{}", made.pointer));
    let mut all: Vec<&Made> = inputs.objects.iter().rev().filter(live).collect();
    all.sort_by_key(|made| !holds(made));
    all.iter().take(probe.bounds.aliases as usize).map(|made| Target { object: made.base, at: made.at }).collect()
}

fn equation(pool: &mut Pool, word: ExprId, address: u64) -> ExprId {
    let address = pool.bits(64, address);
    pool.eq(word, address)
}

/// Whether the path relates a pointer to other inputs.
fn is_compared(word: ExprId, cx: &Cx<'_>) -> bool {
    let pool = &cx.core.pool;
    let own = pool.support(word);
    cx.state.path.constraints().into_iter().any(|cond| {
        let support = pool.support(cond);
        support.iter().any(|s| own.contains(s)) && !support.iter().all(|s| own.contains(s))
    })
}

/// Why no object fits what the code has tested of a pointer.
fn invalid(word: ExprId, pointer: &str, cx: &mut Cx<'_>) -> Result<PathEnd, Stop> {
    const LOWEST: u64 = 4096;
    let (low, high) = (cx.core.pool.bits(64, LOWEST), cx.core.pool.bits(64, LOWEST.wrapping_neg()));
    let (above, below) = (cx.core.pool.ule(low, word), cx.core.pool.ult(word, high));
    let valid = cx.core.pool.and(above, below);
    if cx.ask(valid)?.is_some() {
        return Ok(PathEnd::Unsupported(format!("no object fits what the code tested of `{pointer}`")));
    }
    let now = cx.core.eval.eval(&cx.core.pool, word, &cx.state.model);
    // Comparisons with other values may wrap around, which no real pointer does.
    let value = cx.core.pool.bits(64, now);
    let other = cx.core.pool.ne(word, value);
    // So may a test of a field's address, which only one value passes.
    if now >= LOWEST && (is_compared(word, cx) || cx.ask(other)?.is_none()) {
        return Ok(PathEnd::Unsupported(format!("no object fits what the code tested of `{pointer}`")));
    }
    let inputs = cx.state.lazy::<Inputs>();
    if cx.core.pool.support(word).iter().any(|symbol| inputs.indices.contains(symbol)) {
        let doubt = format!("`{pointer}` is a part of an address, and may be an offset");
        Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().doubts).insert(doubt.into());
    }
    cx.state.lazy_mut::<Inputs>().invalid = Some(word);
    Ok(match now < LOWEST {
        true => PathEnd::fault(FaultKind::NullDereference, format!("use of `{pointer}`, which is null here")),
        false => PathEnd::fault(FaultKind::WildPointer, format!("use of `{pointer}`, which is {now:#x} here, an error code")),
    })
}
