//! Sweeps: the value of an expression for all 256 values of one symbol, node by node over vectors of 256 values.
//!
//! One pass over the nodes replaces 256 evaluations; it decides a condition on one input byte without a solver. Values of at
//! most 8 bits are kept in bytes, others in words; the loops are over [`eval::apply`] with the operator fixed, which the
//! compiler turns into vector code. Some tens of nanoseconds for a node of at most 8 bits, some hundreds for a wider one. A
//! vector is reused once the last node that needs it is done, so memory follows the width of the expression, not its depth. Sweeps of more than
//! a few nodes keep the vectors of what depends on the symbol alone, so that conditions along a computation cost what is new in them.
//! What does not depend on the symbol is evaluated once. Above 64 bits (the x87's numbers) a vector holds 128 bits a value and is slower;
//! what has a part above that is evaluated 256 times instead.

use rustc_hash::FxHashMap;

use crate::eval::{self, Evaluator};
use crate::float::{self, FloatOp};
use crate::model::Model;
use crate::node::{ArrayId, ExprId, Kind, Op, SymId, Width, arithmetic, comparison};
use crate::pool::Pool;
use crate::wide::mask;

mod quads;

const LANES: usize = 256;

/// One value of a vector.
trait Lane: Copy {
    fn from_u64(value: u64) -> Self;
    fn to_u64(self) -> u64;
}

impl Lane for u8 {
    #[inline(always)]
    fn from_u64(value: u64) -> u8 {
        value as u8
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }
}

impl Lane for u64 {
    #[inline(always)]
    fn from_u64(value: u64) -> u64 {
        value
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }
}

/// A vector by lane. A plain loop: the closures of `std::array::from_fn` are inlined or not as the rest of the module changes.
#[inline(always)]
fn lanes<R: Lane>(value: impl Fn(usize) -> R) -> [R; LANES] {
    let mut lanes = [R::from_u64(0); LANES];
    for (v, lane) in lanes.iter_mut().enumerate() {
        *lane = value(v);
    }
    lanes
}

/// The vector of a node.
#[derive(Clone, Copy)]
enum Lanes<'a> {
    /// Of at most 8 bits.
    Bytes(&'a [u8; LANES]),
    Words(&'a [u64; LANES]),
    /// Of 65 to 128 bits; only `wide.rs` of this module looks into them.
    Quads(&'a [u128; LANES]),
}

impl Lanes<'_> {
    #[inline(always)]
    fn map<R: Lane>(self, f: impl Fn(u64) -> u64) -> [R; LANES] {
        match self {
            Lanes::Bytes(x) => lanes(|i| R::from_u64(f(x[i].to_u64()))),
            Lanes::Words(x) => lanes(|i| R::from_u64(f(x[i].to_u64()))),
            Lanes::Quads(_) => unreachable!("operands above 64 bits have loops of their own"),
        }
    }

    #[inline(always)]
    fn zip<R: Lane>(self, other: Lanes<'_>, f: impl Fn(u64, u64) -> u64) -> [R; LANES] {
        match (self, other) {
            (Lanes::Bytes(x), Lanes::Bytes(y)) => lanes(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Words(x), Lanes::Words(y)) => lanes(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Bytes(x), Lanes::Words(y)) => lanes(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Words(x), Lanes::Bytes(y)) => lanes(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Quads(_), _) | (_, Lanes::Quads(_)) => unreachable!("operands above 64 bits have loops of their own"),
        }
    }

    #[inline]
    fn at(self, i: usize) -> u64 {
        self.quad(i) as u64
    }

    #[inline]
    fn quad(self, i: usize) -> u128 {
        match self {
            Lanes::Bytes(x) => x[i].into(),
            Lanes::Words(x) => x[i].into(),
            Lanes::Quads(x) => x[i],
        }
    }
}

/// Working memory of sweeps over one pool; [`clear`](Sweep::clear) it when the pool is compacted.
#[derive(Default)]
pub struct Sweep {
    places: Vec<Place>,
    current: u32,
    bytes: Vectors<u8>,
    words: Vectors<u64>,
    quads: Vectors<u128>,
    order: Vec<ExprId>,
    stack: Vec<ExprId>,
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
    fn float<R>(self, op: FloatOp, widths: (Width, Width), a: Lanes<'_>, b: Lanes<'_>, to: impl Fn(u128) -> R) -> [R; LANES] {
        let value = |v: usize| if self.has(v) { float::eval(op, widths.0, widths.1, a.quad(v), b.quad(v)) } else { 0 };
        std::array::from_fn(|v| to(value(v)))
    }
}

/// Where the vector of a node is.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The sweep the node was last part of; 0: none.
    sweep: u32,
    /// How many operands in this sweep are still to be fetched from it; [`KEPT`]: it is among the kept ones.
    uses: u32,
    slot: u32,
}

/// Of a node whose vector an earlier sweep computed.
const KEPT: u32 = u32::MAX;
/// A sweep of more nodes keeps its vectors.
const KEEP_ABOVE: usize = 32;
/// Bytes of kept vectors; above, all are forgotten.
const MOST_KEPT: usize = 64 << 20;

/// The vectors of nodes that depend on one symbol alone, which are the same in every sweep over it.
#[derive(Default)]
struct KeptVectors {
    by_node: FxHashMap<(SymId, ExprId), u32>,
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
    /// Keeps a vector if this sweep does.
    fn offer(&mut self, pool: &Pool, e: ExprId, lanes: Lanes<'_>) {
        let &[symbol] = pool.support(e) else { return };
        if !self.wanted || matches!(pool.kind(e), Kind::Sym(_)) {
            return;
        }
        let (vector, bytes) = match lanes {
            Lanes::Bytes(x) => (KeptVector::Bytes(Box::new(*x)), LANES),
            Lanes::Words(x) => (KeptVector::Words(Box::new(*x)), 8 * LANES),
            Lanes::Quads(x) => (KeptVector::Quads(Box::new(*x)), 16 * LANES),
        };
        self.by_node.insert((symbol, e), self.vectors.len() as u32);
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

/// Vectors of one kind, reused when free.
#[derive(Default)]
struct Vectors<L> {
    lanes: Vec<[L; LANES]>,
    free: Vec<u32>,
}

impl<L> Vectors<L> {
    fn clear(&mut self) {
        self.lanes.clear();
        self.free.clear();
    }

    fn store(&mut self, lanes: [L; LANES]) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.lanes[slot as usize] = lanes;
            return slot;
        }
        self.lanes.push(lanes);
        self.lanes.len() as u32 - 1
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
        self.kept.bytes + self.places.capacity() * size_of::<Place>()
    }

    /// Nodes that the last sweep computed a vector of.
    pub fn nodes(&self) -> &[ExprId] {
        &self.order
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
            Ok(()) => self.lanes(pool, e).map(|value| value),
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
        self.bytes.clear();
        self.words.clear();
        self.quads.clear();
        if self.kept.bytes > MOST_KEPT {
            self.kept = KeptVectors::default();
        }
        self.list(pool, roots, sym)?;
        let is_whole = |&e: &ExprId| !matches!(pool.kind(e), Kind::Float(..));
        self.kept.wanted = self.order.len() > KEEP_ABOVE && (self.live == Live::default() || self.order.iter().all(is_whole));
        for i in 0..self.order.len() {
            let e = self.order[i];
            self.compute(pool, e, sym, model);
            if depends(pool, e, sym) {
                operands(pool, e).for_each(|operand| self.release(pool, operand));
            }
        }
        Ok(())
    }

    /// Lists these and the nodes below them that depend on `sym` or are operands of such, operands first, and counts how often each is an operand.
    fn list(&mut self, pool: &Pool, roots: &[ExprId], sym: SymId) -> Result<(), TooWide> {
        self.current = self.current.wrapping_add(1);
        if self.current == 0 {
            self.places.clear();
            self.current = 1;
        }
        // A new place belongs to no sweep.
        self.places.resize(self.places.len().max(pool.len()), Place::default());
        self.order.clear();
        self.stack.clear();
        // The caller needs these.
        roots.iter().for_each(|&root| self.use_once(root, sym));
        while let Some(e) = self.stack.pop() {
            if pool.width(e) > 128 {
                return Err(TooWide);
            }
            self.order.push(e);
            if depends(pool, e, sym) {
                operands(pool, e).for_each(|operand| self.use_once(operand, sym));
            }
        }
        // Ids ascend from operands to what is made of them.
        self.order.sort_unstable();
        Ok(())
    }

    /// Counts a use, and has the node listed at its first.
    fn use_once(&mut self, e: ExprId, sym: SymId) {
        let place = &mut self.places[e.index()];
        if place.sweep != self.current {
            match self.kept.by_node.get(&(sym, e)) {
                Some(&slot) => *place = Place { sweep: self.current, uses: KEPT, slot },
                None => {
                    *place = Place { sweep: self.current, uses: 0, slot: 0 };
                    self.stack.push(e);
                }
            }
        }
        if place.uses != KEPT {
            place.uses += 1;
        }
    }

    /// Counts a use as over, and frees the vector after the last.
    fn release(&mut self, pool: &Pool, e: ExprId) {
        let place = &mut self.places[e.index()];
        if place.uses == KEPT {
            return;
        }
        place.uses -= 1;
        if place.uses == 0 {
            let free = match pool.width(e) {
                ..=8 => &mut self.bytes.free,
                9..=64 => &mut self.words.free,
                _ => &mut self.quads.free,
            };
            free.push(place.slot);
        }
    }

    fn lanes(&self, pool: &Pool, e: ExprId) -> Lanes<'_> {
        let Place { slot, uses, .. } = self.places[e.index()];
        if uses == KEPT {
            return self.kept.lanes(slot);
        }
        let slot = slot as usize;
        match pool.width(e) {
            ..=8 => Lanes::Bytes(&self.bytes.lanes[slot]),
            9..=64 => Lanes::Words(&self.words.lanes[slot]),
            _ => Lanes::Quads(&self.quads.lanes[slot]),
        }
    }

    fn compute(&mut self, pool: &Pool, e: ExprId, sym: SymId, model: &Model) {
        let fixed = (!depends(pool, e, sym)).then(|| match pool.width(e) {
            ..=64 => self.evaluator.eval(pool, e, model).into(),
            _ => float::joined(&self.evaluator.eval_wide(pool, e, model)),
        });
        let slot = match (pool.width(e), fixed) {
            (..=8, Some(value)) => self.bytes.store([value as u8; LANES]),
            (..=8, None) => {
                let lanes = self.computed::<u8>(pool, e, sym, model);
                self.kept.offer(pool, e, Lanes::Bytes(&lanes));
                self.bytes.store(lanes)
            }
            (9..=64, Some(value)) => self.words.store([value as u64; LANES]),
            (9..=64, None) => {
                let lanes = self.computed::<u64>(pool, e, sym, model);
                self.kept.offer(pool, e, Lanes::Words(&lanes));
                self.words.store(lanes)
            }
            (_, Some(value)) => self.quads.store([value; LANES]),
            (_, None) => {
                let lanes = self.computed_wide(pool, e);
                self.kept.offer(pool, e, Lanes::Quads(&lanes));
                self.quads.store(lanes)
            }
        };
        self.places[e.index()].slot = slot;
    }

    /// The vector of a node from those of its operands.
    fn computed<R: Lane>(&self, pool: &Pool, e: ExprId, sym: SymId, model: &Model) -> [R; LANES] {
        let width = pool.width(e);
        let of = |operand: ExprId| self.lanes(pool, operand);
        if pool.kind(e).children().any(|operand| pool.width(operand) > 64) {
            return self.computed_of_wide(pool, e);
        }
        match pool.kind(e) {
            Kind::Const => [R::from_u64(pool.as_u64(e).expect("a constant of at most 64 bits")); LANES],
            Kind::Sym(symbol) if symbol == sym => lanes(|v| R::from_u64(v as u64 & mask(width))),
            Kind::Sym(other) => [R::from_u64(model.get(other) & mask(width)); LANES],
            Kind::Not(a) => of(a).map(|x| !x & mask(width)),
            Kind::Neg(a) => of(a).map(|x| x.wrapping_neg() & mask(width)),
            Kind::Zext(a) => of(a).map(|x| x),
            Kind::Sext(a) => {
                let from = pool.width(a);
                of(a).map(|x| eval::signed(from, x) as u64 & mask(width))
            }
            Kind::Extract(a, lo) => of(a).map(|x| x >> lo & mask(width)),
            Kind::Concat(hi, lo) => {
                let shift = pool.width(lo);
                of(hi).zip(of(lo), |x, y| x << shift | y)
            }
            Kind::PtrAdd(base, offset) => of(offset).map(|x| base.wrapping_add(x)),
            Kind::Float(op, a, b) => self.live.float(op, (pool.width(a), width), of(a), of(b), |value| R::from_u64(value as u64)),
            Kind::Ite(c, a, b) => {
                // The condition as a mask: no branch in the loop.
                let chosen: [R; LANES] = of(c).zip(of(a), |c, x| c.wrapping_neg() & x);
                let other: [R; LANES] = of(c).zip(of(b), |c, x| c.wrapping_sub(1) & x);
                lanes(|i| R::from_u64(chosen[i].to_u64() | other[i].to_u64()))
            }
            Kind::Read(array, index) => self.read(pool, array, of(index)),
            arithmetic!(a, b) | comparison!(a, b) => binary(pool.op(e), pool.width(a), of(a), of(b)),
        }
    }

    fn read<R: Lane>(&self, pool: &Pool, array: ArrayId, index: Lanes<'_>) -> [R; LANES] {
        let bytes = pool.array_bytes(array);
        let mut lanes = index.map(|i| bytes.get(i as usize).copied().unwrap_or(0).into());
        if !pool.array_open(array).is_empty() {
            let elems = pool.array_elems(array);
            for (v, lane) in lanes.iter_mut().enumerate() {
                if let Some(&elem) = elems.get(index.at(v) as usize).filter(|&&elem| pool.as_u64(elem).is_none()) {
                    *lane = R::from_u64(self.lanes(pool, elem).at(v));
                }
            }
        }
        lanes
    }
}

/// Does the value depend on the symbol?
fn depends(pool: &Pool, e: ExprId, sym: SymId) -> bool {
    pool.support(e).binary_search(&sym).is_ok()
}

/// The operands of a node that get vectors; of a `Read` also the elements that are no constants.
fn operands(pool: &Pool, e: ExprId) -> impl Iterator<Item = ExprId> {
    let kind = pool.kind(e);
    let elems = if let Kind::Read(array, _) = kind { pool.array_open(array) } else { &[] };
    kind.children().chain(elems.iter().copied())
}

/// Bit `i` is byte `i`'s lowest.
fn pack(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 1 | u64::from(byte & 1))
}

/// A loop of its own for each operator, so that `apply` is decided outside.
fn binary<R: Lane>(op: Op, width: Width, a: Lanes<'_>, b: Lanes<'_>) -> [R; LANES] {
    macro_rules! loops {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => a.zip(b, |x, y| eval::apply(Op::$name, width, x, y).unwrap_or(0)),)*
                Op::Const | Op::Sym | Op::Not | Op::Neg | Op::Ite | Op::Concat | Op::Extract | Op::Zext | Op::Sext
                | Op::Read | Op::PtrAdd | Op::Float => unreachable!("`{}` is not binary", op.smt()),
            }
        };
    }
    loops!(And Or Xor Add Sub Mul Udiv Urem Sdiv Srem Shl Lshr Ashr Eq Ult Ule Slt Sle)
}
