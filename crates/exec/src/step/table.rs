//! Loads at a symbolic offset of words that may be pointers, loads through a choice of few pointers, and loads of automata.
//!
//! A word of a table becomes a choice of whole words, not of bytes: a pointer keeps its object that way. A load through a pointer to one of few
//! objects becomes a choice of the words there. Neither enumerates values, and no path is split where every access is surely in bounds.
//!
//! Generated scanners and parsers are automata as tables: an element of a table, with the next byte, gives an index into a table. As one
//! expression, the automaton's state after several bytes has a multiplexer for each byte. So where such an index has few values, each is a
//! path of its own ([`automaton_offset`]), with a constant for its state.

use std::rc::Rc;

use wryneck_expr::visit::top_down;
use wryneck_expr::{ExprId, Kind, Pool};
use wryneck_solver::PathCondition;

use super::pointer::{Object, Place, What};
use super::resolve::{Candidate, Lead};
use crate::ground::config::Uninit;
use crate::ground::memory::Byte;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;
use crate::step::{chosen, memory, pointer};

/// Words of a table that become a choice whatever they are.
const FEW_WORDS: u64 = 16;
/// Words of a table that become a choice if there are addresses among them.
const MOST_WORDS: u64 = 512;
/// Words of the parts of a table's search tree that are kept.
const PART: std::ops::Range<usize> = 8..16;
/// Objects whose words become one value. Of more, each is a path of its own.
const FEW_OBJECTS: usize = 8;
/// Bytes of one object that such a load may be of.
const MOST_SPREAD: u64 = 256;
/// Values of an index into the table of an automaton that become a path each.
const MOST_STATES: usize = 32;
/// Values of an offset of which the least and the greatest are looked for: those of a byte.
const MOST_VALUES: usize = 256;
/// Nodes of such an index among which a load of a table is looked for.
const MOST_OF_INDEX: usize = 32;
/// Choices inside a word that are followed to see whether it is an address.
const CHOICES: u32 = 4;

/// A load through a choice of few pointers as a choice of what is there. Where some of them are not surely good, one decision tells
/// these apart from the good ones together. `Err`: the place that was decided for, one of the others.
pub(super) fn load_any(cx: &mut Cx<'_>, candidates: &mut Vec<Candidate>, size: u64) -> Result<Option<ExprId>, Stop> {
    let (good, bad): (Vec<Candidate>, Vec<Candidate>) = candidates.iter().cloned().partition(|c| is_readable(cx, &c.lead, size));
    if good.len() < 2 || good.len() > FEW_OBJECTS {
        return Ok(None);
    }
    if !bad.is_empty() {
        let any = good.iter().fold(ExprId::FALSE, |any, c| cx.core.pool.or(any, c.cond));
        let conds: Vec<ExprId> = std::iter::once(any).chain(bad.iter().map(|c| c.cond)).collect();
        if let Some(at) = pointer::choose_object(cx, &conds)?.checked_sub(1) {
            *candidates = vec![bad[at].clone()];
            return Ok(None);
        }
    }
    let mut word = None;
    for Candidate { cond, lead } in good.iter().rev() {
        let Lead::To(Place::In(object, offset)) = lead else { continue };
        let here = memory::load_within(cx, object, *offset, size)?;
        word = Some(match word {
            None => here,
            Some(before) => cx.core.pool.ite(*cond, here, before),
        });
    }
    Ok(word)
}

/// Whether a read there is surely in bounds of a live object, and of few bytes that were all written.
fn is_readable(cx: &Cx<'_>, lead: &Lead, size: u64) -> bool {
    let Lead::To(Place::In(object, offset)) = lead else { return false };
    let dead = matches!(object.what, What::Heap { freed: Some(_), .. } | What::Function { .. }) || pointer::has_returned(cx, object);
    let (low, high) = cx.core.pool.interval(*offset);
    if dead || low > high || size > object.size || high > object.size - size || high - low > MOST_SPREAD {
        return false;
    }
    (low..high + size).all(|at| match cx.state.memory.space.byte(object.base + at) {
        Byte::Dead => false,
        Byte::Uninitialised => cx.core.config.uninit == Uninit::Zero,
        Byte::Concrete(_) | Byte::Symbolic { .. } => true,
    })
}

/// A word of a table as a choice of whole words, if there are few or they are addresses.
pub(super) fn load_element(
    cx: &mut Cx<'_>,
    object: &Object,
    offset: ExprId,
    size: u64,
    low: u64,
    high: u64,
) -> Result<Option<ExprId>, Stop> {
    if size != 8 {
        return Ok(None);
    }
    let (step, rest) = stride(&cx.core.pool, offset, 0);
    let first = match step {
        0 => rest,
        _ => low + (rest % step + step - low % step) % step,
    };
    if (1..size).contains(&step) || first < low || first > high || step > 0 && (high - first) / step >= MOST_WORDS {
        return Ok(None);
    }
    let mut words = Vec::new();
    let step = if step == 0 { usize::MAX } else { step as usize };
    for at in (first..=high).step_by(step) {
        words.push((at, memory::load_at(cx, object.base + at, size)?));
    }
    if words.len() as u64 > FEW_WORDS && !words.iter().any(|(_, word)| is_address(cx, *word, CHOICES)) {
        return Ok(None);
    }
    let key = (offset, words);
    if let Some(element) = cx.core.memo.element(&key) {
        return Ok(Some(element));
    }
    let by = Offset::of(&cx.core.pool, offset);
    let element = search_tree(cx, &key.1, &by);
    // The words are all that there are at any value of the offset, whatever the path.
    if cx.core.pool.interval(offset) == (low, high) {
        chosen::keep_element(cx, element, &by, &key.1);
    }
    cx.core.memo.keep_element(key, element);
    Ok(Some(element))
}

/// The values of a number, ascending, if there are at most `most`: those of the path's domains, under pruning those of all paths. The backend is not asked.
fn values(cx: &mut Cx<'_>, number: ExprId, most: usize) -> Option<Rc<[u64]>> {
    let any = PathCondition::default();
    let path = if cx.core.config.keep_infeasible_flips { &any } else { &cx.state.path };
    cx.core.solver.values(&cx.core.pool, path, number, most)
}

/// The least and the greatest value of an offset that has few, such as that of `isspace(toupper(c))`: each is computed.
pub(super) fn bounds_of_few(cx: &mut Cx<'_>, offset: ExprId) -> Option<(u64, u64)> {
    let values = values(cx, offset, MOST_VALUES)?;
    Some((*values.first()?, *values.last()?))
}

/// The offset; as a constant, if it is an index into the table of an automaton that has few values: over several symbols, one of them by way of another
/// table. One decision. The values are those of the path's domains, so they are the same in a replay. Under pruning they are those of all paths: a value
/// that the path excludes is an infeasible flip, whose core tells on which branches its absence depends.
pub(super) fn automaton_offset(cx: &mut Cx<'_>, offset: ExprId) -> Result<ExprId, Stop> {
    let pool = &cx.core.pool;
    if pool.support(offset).len() < 2 || !reads_table(pool, offset) {
        return Ok(offset);
    }
    let Some(values) = values(cx, offset, MOST_STATES) else { return Ok(offset) };
    let width = cx.core.pool.width(offset);
    let mut is = |&value: &u64| {
        let value = cx.core.pool.bits(width, value);
        cx.core.pool.eq(offset, value)
    };
    let conds: Vec<ExprId> = values.iter().map(&mut is).collect();
    let at = cx.choose(&conds, &[])?;
    Ok(cx.core.pool.bits(width, values[at]))
}

/// Whether an element of a table is part of this number, near its top.
fn reads_table(pool: &Pool, number: ExprId) -> bool {
    let mut found = false;
    top_down(pool, &[number], MOST_OF_INDEX, |e| {
        found |= matches!(pool.kind(e), Kind::Read(..));
        !found
    });
    found
}

/// Whether a word may be the address of an object or a function.
fn is_address(cx: &Cx<'_>, word: ExprId, depth: u32) -> bool {
    match cx.core.pool.kind(word) {
        Kind::PtrAdd(..) => true,
        Kind::Ite(_, a, b) if depth > 0 => is_address(cx, a, depth - 1) || is_address(cx, b, depth - 1),
        _ => cx.core.pool.as_u64(word).is_some_and(|addr| pointer::object_at(cx, addr).is_some()),
    }
}

/// The word at an offset that is one of these, as a search tree. Parts of the tree are kept: tables of different paths differ in few words.
fn word_at(cx: &mut Cx<'_>, words: &[(u64, ExprId)], offset: &Offset) -> ExprId {
    if !PART.contains(&words.len()) {
        return search_tree(cx, words, offset);
    }
    let key = (offset.whole, words.to_vec());
    if let Some(part) = cx.core.memo.element(&key) {
        return part;
    }
    let part = search_tree(cx, words, offset);
    cx.core.memo.keep_element(key, part);
    part
}

fn search_tree(cx: &mut Cx<'_>, words: &[(u64, ExprId)], offset: &Offset) -> ExprId {
    let (left, right) = words.split_at(words.len() / 2);
    match (left, right) {
        ([], [(_, word)]) => *word,
        ([(_, one)], [(at, other)]) => {
            let is = offset.is(&mut cx.core.pool, *at);
            cx.core.pool.ite(is, *other, *one)
        }
        (_, []) => unreachable!("there is at least one word"),
        (_, [(middle, _), ..]) => {
            let (low, high) = (word_at(cx, left, offset), word_at(cx, right, offset));
            let below = offset.is_below(&mut cx.core.pool, *middle);
            cx.core.pool.ite(below, low, high)
        }
    }
}

/// An offset into a table, as what conditions on its value are made of: the index that it is a multiple of, where the expression shows one.
/// Conditions on the index are what the laws of expressions would make of those on the offset, at length and for each word again.
pub(super) struct Offset {
    whole: ExprId,
    number: ExprId,
    /// The whole is the number, moved to the left by so many bits.
    shift: u32,
}

impl Offset {
    pub(super) fn of(pool: &Pool, offset: ExprId) -> Offset {
        if let Kind::Zext(wide) = pool.kind(offset)
            && let Kind::Concat(number, low) = pool.kind(wide)
            && pool.as_u64(low) == Some(0)
        {
            return Offset { whole: offset, number, shift: pool.width(low) };
        }
        Offset { whole: offset, number: offset, shift: 0 }
    }

    /// Whether it is this value, which it can have.
    pub(super) fn is(&self, pool: &mut Pool, value: u64) -> ExprId {
        let value = pool.bits(pool.width(self.number), value >> self.shift);
        pool.eq(self.number, value)
    }

    /// Whether it is below this value, which it can have.
    pub(super) fn is_below(&self, pool: &mut Pool, value: u64) -> ExprId {
        let value = pool.bits(pool.width(self.number), value >> self.shift);
        pool.ult(self.number, value)
    }
}

/// A step and a rest: every value of the expression is the rest plus a multiple of the step (0: it is the rest). Both modulo 2^64, so a step that is no power of
/// two is only given where nothing wraps.
fn stride(pool: &Pool, e: ExprId, depth: u32) -> (u64, u64) {
    let aligned = || (1u64.checked_shl(pool.known_bits(e).0.trailing_ones()).unwrap_or(0), 0);
    if let Some(value) = pool.as_u64(e) {
        return (0, value);
    }
    let joined = |(a, b): (u64, u64), (c, d): (u64, u64), at: u64| {
        let step = gcd(gcd(a, c), at);
        (step, if step == 0 { b.wrapping_add(d) } else { (b % step + d % step) % step })
    };
    let wraps = |a: ExprId, b: ExprId, by: fn(u64, u64) -> Option<u64>| by(pool.interval(a).1, pool.interval(b).1).is_none();
    let found = match pool.kind(e) {
        _ if depth > 16 || pool.width(e) != 64 => aligned(),
        Kind::Add(a, b) if !wraps(a, b, u64::checked_add) => joined(stride(pool, a, depth + 1), stride(pool, b, depth + 1), 0),
        Kind::Mul(a, b) if !wraps(a, b, u64::checked_mul) => match (pool.as_u64(a), pool.as_u64(b)) {
            (Some(k), _) | (_, Some(k)) => (k, 0),
            _ => aligned(),
        },
        Kind::Ite(_, a, b) => {
            let ((a, x), (c, y)) = (stride(pool, a, depth + 1), stride(pool, b, depth + 1));
            let step = gcd(gcd(a, c), x.abs_diff(y));
            (step, if step == 0 { x } else { x % step })
        }
        _ => aligned(),
    };
    if found.0 == 0 || found.0 >= aligned().0 { found } else { aligned() }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
