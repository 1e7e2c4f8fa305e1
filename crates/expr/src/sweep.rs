//! Sweeps: the value of an expression for all 256 values of one symbol, node by node over vectors of 256 values.
//!
//! One pass over the nodes replaces 256 evaluations; it decides a condition on one input byte without a solver. Values of at
//! most 8 bits are kept in bytes, others in words; the loops are over [`eval::apply`] with the operator fixed, which the
//! compiler turns into vector code. Some tens of nanoseconds for a node of at most 8 bits, some hundreds for a wider one.
//! What does not fit (a part above 64 bits, more than [`MOST_NODES`] nodes) is evaluated 256 times instead.

use crate::eval::{self, Evaluator};
use crate::model::Model;
use crate::node::{ArrayId, ExprId, Kind, Op, SymId, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// The largest expression swept in one pass, in nodes: 8 MiB of vectors.
const MOST_NODES: usize = 4096;

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

/// The vector of a node.
#[derive(Clone, Copy)]
enum Lanes<'a> {
    /// Of at most 8 bits.
    Bytes(&'a [u8; LANES]),
    Words(&'a [u64; LANES]),
}

impl Lanes<'_> {
    #[inline(always)]
    fn map<R: Lane>(self, f: impl Fn(u64) -> u64) -> [R; LANES] {
        match self {
            Lanes::Bytes(x) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64()))),
            Lanes::Words(x) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64()))),
        }
    }

    #[inline(always)]
    fn zip<R: Lane>(self, other: Lanes<'_>, f: impl Fn(u64, u64) -> u64) -> [R; LANES] {
        match (self, other) {
            (Lanes::Bytes(x), Lanes::Bytes(y)) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Words(x), Lanes::Words(y)) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Bytes(x), Lanes::Words(y)) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
            (Lanes::Words(x), Lanes::Bytes(y)) => std::array::from_fn(|i| R::from_u64(f(x[i].to_u64(), y[i].to_u64()))),
        }
    }

    #[inline]
    fn at(self, i: usize) -> u64 {
        match self {
            Lanes::Bytes(x) => x[i].to_u64(),
            Lanes::Words(x) => x[i].to_u64(),
        }
    }
}

/// Working memory of sweeps over one pool; [`clear`](Sweep::clear) it when the pool is compacted.
#[derive(Default)]
pub struct Sweep {
    /// By node: the sweep it was last part of, and its place among the vectors.
    places: Vec<(u32, u32)>,
    current: u32,
    bytes: Vec<[u8; LANES]>,
    words: Vec<[u64; LANES]>,
    stack: Vec<ExprId>,
    evaluator: Evaluator,
}

/// The expression has to be evaluated value by value.
struct DoesNotFit;

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
        match self.run(pool, e, sym) {
            Ok(()) => match self.lanes(pool, e) {
                Lanes::Bytes(x) => std::array::from_fn(|word| pack(&x[64 * word..64 * word + 64])),
                Lanes::Words(_) => unreachable!("a 1-bit expression has byte lanes"),
            },
            Err(DoesNotFit) => {
                let bits: [u8; LANES] = self.value_by_value(pool, e, sym).map(|value| value as u8);
                std::array::from_fn(|word| pack(&bits[64 * word..64 * word + 64]))
            }
        }
    }

    /// The values of an expression of at most 64 bits over the values of `sym`, as [`sweep`](Self::sweep).
    pub fn sweep_values(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; LANES] {
        match self.run(pool, e, sym) {
            Ok(()) => self.lanes(pool, e).map(|value| value),
            Err(DoesNotFit) => self.value_by_value(pool, e, sym),
        }
    }

    #[cold]
    fn value_by_value(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; LANES] {
        std::array::from_fn(|v| self.evaluator.eval(pool, e, &Model::empty().with(&[(sym, v as u64)])))
    }

    /// Computes the vectors of `root` and of all below it.
    fn run(&mut self, pool: &Pool, root: ExprId, sym: SymId) -> Result<(), DoesNotFit> {
        self.bytes.clear();
        self.words.clear();
        self.current = self.current.wrapping_add(1);
        if self.places.len() < pool.len() || self.current == 0 {
            self.places.clear();
            self.places.resize(pool.len(), (0, 0));
            self.current = 1;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push(root);
        while let Some(&e) = stack.last() {
            if pool.width(e) > 64 || self.bytes.len() + self.words.len() > MOST_NODES {
                self.stack = stack;
                return Err(DoesNotFit);
            }
            let before = stack.len();
            self.push_missing(pool, e, &mut stack);
            if stack.len() == before {
                stack.pop();
                if !self.is_done(e) {
                    self.compute(pool, e, sym)?;
                }
            }
        }
        self.stack = stack;
        Ok(())
    }

    fn is_done(&self, e: ExprId) -> bool {
        self.places[e.index()].0 == self.current
    }

    fn push_missing(&self, pool: &Pool, e: ExprId, stack: &mut Vec<ExprId>) {
        let kind = pool.kind(e);
        stack.extend(kind.children().filter(|&child| !self.is_done(child)));
        if let Kind::Read(array, _) = kind {
            stack.extend(pool.array_elems(array).iter().copied().filter(|&elem| !self.is_done(elem)));
        }
    }

    fn lanes(&self, pool: &Pool, e: ExprId) -> Lanes<'_> {
        let place = self.places[e.index()].1 as usize;
        if pool.width(e) <= 8 { Lanes::Bytes(&self.bytes[place]) } else { Lanes::Words(&self.words[place]) }
    }

    fn compute(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> Result<(), DoesNotFit> {
        let place = if pool.width(e) <= 8 {
            let lanes = self.computed::<u8>(pool, e, sym)?;
            self.bytes.push(lanes);
            self.bytes.len() - 1
        } else {
            let lanes = self.computed::<u64>(pool, e, sym)?;
            self.words.push(lanes);
            self.words.len() - 1
        };
        self.places[e.index()] = (self.current, place as u32);
        Ok(())
    }

    /// The vector of a node from those of its operands.
    fn computed<R: Lane>(&self, pool: &Pool, e: ExprId, sym: SymId) -> Result<[R; LANES], DoesNotFit> {
        let width = pool.width(e);
        let of = |operand: ExprId| self.lanes(pool, operand);
        let fits = |operand: ExprId| if pool.width(operand) <= 64 { Ok(()) } else { Err(DoesNotFit) };
        Ok(match pool.kind(e) {
            Kind::Const => [R::from_u64(pool.as_u64(e).ok_or(DoesNotFit)?); LANES],
            Kind::Sym(symbol) if symbol == sym => std::array::from_fn(|v| R::from_u64(v as u64 & mask(width))),
            Kind::Sym(_) => [R::from_u64(0); LANES],
            Kind::Not(a) => of(a).map(|x| !x & mask(width)),
            Kind::Neg(a) => of(a).map(|x| x.wrapping_neg() & mask(width)),
            Kind::Zext(a) => of(a).map(|x| x),
            Kind::Sext(a) => {
                let from = pool.width(a);
                of(a).map(|x| eval::signed(from, x) as u64 & mask(width))
            }
            Kind::Extract(a, lo) => {
                fits(a)?;
                of(a).map(|x| x >> lo & mask(width))
            }
            Kind::Concat(hi, lo) => {
                let shift = pool.width(lo);
                of(hi).zip(of(lo), |x, y| x << shift | y)
            }
            Kind::PtrAdd(base, offset) => of(offset).map(|x| base.wrapping_add(x)),
            Kind::Ite(c, a, b) => {
                // The condition as a mask: no branch in the loop.
                let chosen: [R; LANES] = of(c).zip(of(a), |c, x| c.wrapping_neg() & x);
                let other: [R; LANES] = of(c).zip(of(b), |c, x| c.wrapping_sub(1) & x);
                std::array::from_fn(|i| R::from_u64(chosen[i].to_u64() | other[i].to_u64()))
            }
            Kind::Read(array, index) => self.read(pool, array, of(index)),
            Kind::And(a, b) | Kind::Or(a, b) | Kind::Xor(a, b) | Kind::Add(a, b) | Kind::Sub(a, b) | Kind::Mul(a, b)
            | Kind::Udiv(a, b) | Kind::Urem(a, b) | Kind::Sdiv(a, b) | Kind::Srem(a, b) | Kind::Shl(a, b)
            | Kind::Lshr(a, b) | Kind::Ashr(a, b) | Kind::Eq(a, b) | Kind::Ult(a, b) | Kind::Ule(a, b)
            | Kind::Slt(a, b) | Kind::Sle(a, b) => {
                fits(a)?;
                binary(pool.op(e), pool.width(a), of(a), of(b))
            }
        })
    }

    fn read<R: Lane>(&self, pool: &Pool, array: ArrayId, index: Lanes<'_>) -> [R; LANES] {
        let elems = pool.array_elems(array);
        std::array::from_fn(|v| {
            let elem = elems.get(index.at(v) as usize);
            R::from_u64(elem.map_or(0, |&elem| self.lanes(pool, elem).at(v)))
        })
    }
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
                | Op::Read | Op::PtrAdd => unreachable!("`{}` is not binary", op.smt()),
            }
        };
    }
    loops!(And Or Xor Add Sub Mul Udiv Urem Sdiv Srem Shl Lshr Ashr Eq Ult Ule Slt Sle)
}
