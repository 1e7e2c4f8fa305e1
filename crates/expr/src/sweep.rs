//! Sweeps: the value of an expression for all 256 values of one symbol, node by node over vectors of 256 values.
//!
//! One pass over the nodes replaces 256 evaluations; it decides a condition on one input byte without a solver. Values of at
//! most 8 bits are kept in bytes, others in words ([`lanes`]). Some ten nanoseconds for a node of at most 8 bits, some tens for a wider one. A
//! vector is reused once the last node that needs it is done ([`order`]), so memory follows the width of the expression, not its depth. Sweeps of
//! more than a few nodes keep the vectors of what depends on the symbol alone, so that conditions along a computation cost what is new in them;
//! vectors of constants are kept by all. What does not depend on the symbol is evaluated once. Above 64 bits (the x87's numbers) a vector holds 128
//! bits a value and is slower; what has a part above that is evaluated 256 times instead.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::eval::Evaluator;
use crate::float::{self, FloatOp};
use crate::model::Model;
use crate::node::{ArrayId, ExprId, Kind, SymId, Width};
use crate::pool::Pool;
use crate::wide::mask;

mod lanes;
mod order;
mod quads;

use lanes::{LANES, Lane, Lanes};
use order::{Order, Place, Step, kind_of};

/// Working memory of sweeps over one pool; [`clear`](Sweep::clear) it when the pool is compacted.
#[derive(Default)]
pub struct Sweep {
    places: Vec<Place>,
    current: u32,
    orders: FxHashMap<SymId, FxHashMap<Box<[ExprId]>, Rc<Order>>>,
    order_bytes: usize,
    /// That of the last sweep.
    order: Option<Rc<Order>>,
    bytes: Vectors<u8>,
    words: Vectors<u64>,
    quads: Vectors<u128>,
    evaluator: Evaluator,
    kept: KeptVectors,
    live: Live,
}

/// The values of the symbol that a sweep is asked for, a bit each as in a truth table. Floating-point operations are done for these alone: each takes as
/// long as a whole vector of others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Live([u64; 4]);

impl Default for Live {
    fn default() -> Live {
        Live([u64::MAX; 4])
    }
}

impl Live {
    fn has(self, v: usize) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }

    /// The vector of an operation from `widths.0` to `widths.1` bits. Not inlined: the loops of other operators are to stay what the compiler makes vector code of.
    #[inline(never)]
    fn float<R>(self, op: FloatOp, widths: (Width, Width), a: Lanes<'_>, b: Lanes<'_>, out: &mut [R; LANES], to: impl Fn(u128) -> R) {
        let value = |v: usize| if self.has(v) { float::eval(op, widths.0, widths.1, a.quad(v), b.quad(v)) } else { 0 };
        out.iter_mut().enumerate().for_each(|(v, lane)| *lane = to(value(v)));
    }
}

/// A sweep of more nodes keeps its vectors.
const KEEP_ABOVE: usize = 32;
/// Bytes of kept vectors; above, all are forgotten.
const MOST_KEPT: usize = 64 << 20;
/// The same of orders.
const MOST_OF_ORDERS: usize = 32 << 20;

/// The vectors of nodes that depend on one symbol alone, which are the same in every sweep over it, and of constants.
#[derive(Default)]
struct KeptVectors {
    /// `None`: a constant.
    by_node: FxHashMap<(Option<SymId>, ExprId), u32>,
    vectors: Vec<KeptVector>,
    bytes: usize,
    /// Does this sweep keep its own?
    wanted: bool,
}

enum KeptVector {
    Bytes(Box<[u8; LANES]>),
    Words(Box<[u64; LANES]>),
    Quads(Box<[u128; LANES]>),
}

impl KeptVectors {
    /// Where the vector of a node is, in a sweep over a symbol.
    fn get(&self, pool: &Pool, e: ExprId, sym: SymId) -> Option<u32> {
        let of = if pool.support(e).is_empty() { None } else { Some(sym) };
        self.by_node.get(&(of, e)).copied()
    }

    /// Keeps a vector of a sweep over a symbol, if the vector is the same in every one and this sweep keeps its own.
    fn offer(&mut self, pool: &Pool, e: ExprId, sym: SymId, lanes: Lanes<'_>) {
        let of = match pool.support(e) {
            [] => None,
            &[symbol] if symbol == sym && self.wanted && !matches!(pool.kind(e), Kind::Sym(_)) => Some(symbol),
            _ => return,
        };
        let (vector, bytes) = match lanes {
            Lanes::Bytes(x) => (KeptVector::Bytes(Box::new(*x)), LANES),
            Lanes::Words(x) => (KeptVector::Words(Box::new(*x)), 8 * LANES),
            Lanes::Quads(x) => (KeptVector::Quads(Box::new(*x)), 16 * LANES),
        };
        self.by_node.insert((of, e), self.vectors.len() as u32);
        self.vectors.push(vector);
        self.bytes += bytes;
    }

    fn lanes(&self, slot: u32) -> Lanes<'_> {
        match &self.vectors[slot as usize] {
            KeptVector::Bytes(x) => Lanes::Bytes(x),
            KeptVector::Words(x) => Lanes::Words(x),
            KeptVector::Quads(x) => Lanes::Quads(x),
        }
    }
}

/// Vectors of one kind.
#[derive(Default)]
struct Vectors<L> {
    lanes: Vec<Box<[L; LANES]>>,
    /// Where the next one is written.
    spare: Option<Box<[L; LANES]>>,
}

impl<L: Copy + From<u8>> Vectors<L> {
    fn reserve(&mut self, most: u32) {
        while self.lanes.len() < most as usize {
            self.lanes.push(Box::new([L::from(0); LANES]));
        }
    }

    fn take(&mut self) -> Box<[L; LANES]> {
        self.spare.take().unwrap_or_else(|| Box::new([L::from(0); LANES]))
    }

    fn put(&mut self, slot: u32, mut vector: Box<[L; LANES]>) {
        std::mem::swap(&mut self.lanes[slot as usize], &mut vector);
        self.spare = Some(vector);
    }
}

/// A part has more than 128 bits: the expression has to be evaluated value by value.
struct TooWide;

impl Sweep {
    pub fn new() -> Sweep {
        Sweep::default()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Sweep::default();
    }

    /// The truth table of a 1-bit expression over the values of `sym` (at most 8 bits; beyond its width the table repeats),
    /// bit `v % 64` of word `v / 64` for value `v`. Every other symbol is 0.
    pub fn sweep(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; 4] {
        self.sweep_in(pool, e, sym, &Model::empty())
    }

    /// The same where every other symbol has its value in a model.
    pub fn sweep_in(&mut self, pool: &Pool, e: ExprId, sym: SymId, model: &Model) -> [u64; 4] {
        self.sweep_all(pool, &[e], sym, model, [u64::MAX; 4])[0]
    }

    /// The same of several expressions at once: what they share is computed once. Only the bits of the values in `live` are asked for; others may have any value.
    pub fn sweep_all(&mut self, pool: &Pool, all: &[ExprId], sym: SymId, model: &Model, live: [u64; 4]) -> Vec<[u64; 4]> {
        self.live = Live(live);
        let ended = self.run(pool, all, sym, model);
        self.live = Live::default();
        match ended {
            Ok(()) => all.iter().map(|&e| self.table(pool, e)).collect(),
            Err(TooWide) => {
                let table = |&e: &ExprId| {
                    let bits: [u8; LANES] = self.value_by_value(pool, e, sym, model).map(|value| value as u8);
                    std::array::from_fn(|word| pack(&bits[64 * word..64 * word + 64]))
                };
                all.iter().map(table).collect()
            }
        }
    }

    /// Bytes held, about.
    pub fn memory(&self) -> usize {
        self.kept.bytes + self.order_bytes + self.places.capacity() * size_of::<Place>()
    }

    /// How many vectors the last sweep computed, and how many of these by floating-point operations.
    pub fn vectors(&self) -> (usize, usize) {
        self.order.as_ref().map_or((0, 0), |order| (order.steps.len(), order.floats))
    }

    fn table(&self, pool: &Pool, e: ExprId) -> [u64; 4] {
        match self.lanes(pool, e) {
            Lanes::Bytes(x) => std::array::from_fn(|word| pack(&x[64 * word..64 * word + 64])),
            Lanes::Words(_) | Lanes::Quads(_) => unreachable!("a 1-bit expression has byte lanes"),
        }
    }

    /// The values of an expression of at most 64 bits over the values of `sym`, as [`sweep`](Self::sweep).
    pub fn sweep_values(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; LANES] {
        self.sweep_values_in(pool, e, sym, &Model::empty())
    }

    /// The same where every other symbol has its value in a model.
    pub fn sweep_values_in(&mut self, pool: &Pool, e: ExprId, sym: SymId, model: &Model) -> [u64; LANES] {
        match self.run(pool, &[e], sym, model) {
            Ok(()) => {
                let mut values = [0; LANES];
                self.lanes(pool, e).map(&mut values, |value| value);
                values
            }
            Err(TooWide) => self.value_by_value(pool, e, sym, model),
        }
    }

    #[cold]
    fn value_by_value(&mut self, pool: &Pool, e: ExprId, sym: SymId, model: &Model) -> [u64; LANES] {
        let mask = mask(pool.sym_info(sym).width);
        std::array::from_fn(|v| self.evaluator.eval(pool, e, &model.with(&[(sym, v as u64 & mask)])))
    }

    /// Computes the vectors of these.
    fn run(&mut self, pool: &Pool, roots: &[ExprId], sym: SymId, model: &Model) -> Result<(), TooWide> {
        if self.kept.bytes > MOST_KEPT || self.order_bytes > MOST_OF_ORDERS {
            self.kept = KeptVectors::default();
            self.orders.clear();
            self.order_bytes = 0;
        }
        let known = self.orders.get(&sym).and_then(|of| of.get(roots)).cloned();
        let order = match &known {
            Some(order) => Rc::clone(order),
            None => self.order(pool, roots, sym)?,
        };
        self.bytes.reserve(order.most[0]);
        self.words.reserve(order.most[1]);
        self.quads.reserve(order.most[2]);
        for &(e, slot) in &order.kept {
            self.places[e.index()].keep(slot);
        }
        self.kept.wanted = order.steps.len() > KEEP_ABOVE && (self.live == Live::default() || order.floats == 0);
        let before = self.kept.vectors.len();
        for step in &order.steps {
            self.compute(pool, *step, sym, model);
        }
        // The next order finds the new kept vectors.
        let is_stale = self.kept.vectors.len() > before;
        match known {
            Some(_) if is_stale => {
                self.orders.get_mut(&sym).and_then(|of| of.remove(roots));
                self.order_bytes -= order.bytes();
            }
            None if !is_stale => {
                self.order_bytes += order.bytes();
                self.orders.entry(sym).or_default().insert(roots.into(), Rc::clone(&order));
            }
            _ => {}
        }
        self.order = Some(order);
        Ok(())
    }

    fn lanes(&self, pool: &Pool, e: ExprId) -> Lanes<'_> {
        let place = self.places[e.index()];
        if place.is_kept {
            return self.kept.lanes(place.slot);
        }
        let slot = place.slot as usize;
        match kind_of(pool.width(e)) {
            0 => Lanes::Bytes(&self.bytes.lanes[slot]),
            1 => Lanes::Words(&self.words.lanes[slot]),
            _ => Lanes::Quads(&self.quads.lanes[slot]),
        }
    }

    fn compute(&mut self, pool: &Pool, Step { node: e, slot, is_fixed }: Step, sym: SymId, model: &Model) {
        let fixed = is_fixed.then(|| match pool.width(e) {
            ..=64 => self.evaluator.eval(pool, e, model).into(),
            _ => float::joined(&self.evaluator.eval_wide(pool, e, model)),
        });
        match kind_of(pool.width(e)) {
            0 => {
                let mut out = self.bytes.take();
                match fixed {
                    Some(value) => out.fill(value as u8),
                    None => lanes::bytes(self, pool, e, sym, &mut out),
                }
                self.kept.offer(pool, e, sym, Lanes::Bytes(&out));
                self.bytes.put(slot, out);
            }
            1 => {
                let mut out = self.words.take();
                match fixed {
                    Some(value) => out.fill(value as u64),
                    None => lanes::words(self, pool, e, sym, &mut out),
                }
                self.kept.offer(pool, e, sym, Lanes::Words(&out));
                self.words.put(slot, out);
            }
            _ => {
                let mut out = self.quads.take();
                match fixed {
                    Some(value) => out.fill(value),
                    None => *out = self.computed_wide(pool, e),
                }
                self.kept.offer(pool, e, sym, Lanes::Quads(&out));
                self.quads.put(slot, out);
            }
        }
        self.places[e.index()].compute(slot);
    }

    #[inline(always)]
    fn read<R: Lane>(&self, pool: &Pool, array: ArrayId, index: Lanes<'_>, out: &mut [R; LANES]) {
        let bytes = pool.array_bytes(array);
        index.map(out, |i| bytes.get(i as usize).copied().unwrap_or(0).into());
        if !pool.array_open(array).is_empty() {
            let elems = pool.array_elems(array);
            for (v, lane) in out.iter_mut().enumerate() {
                if let Some(&elem) = elems.get(index.at(v) as usize).filter(|&&elem| pool.as_u64(elem).is_none()) {
                    *lane = R::from_u64(self.lanes(pool, elem).at(v));
                }
            }
        }
    }
}

/// Does the value depend on the symbol?
fn depends(pool: &Pool, e: ExprId, sym: SymId) -> bool {
    pool.support(e).binary_search(&sym).is_ok()
}

/// Bit `i` is byte `i`'s lowest.
fn pack(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 1 | u64::from(byte & 1))
}
