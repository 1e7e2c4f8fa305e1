//! Vectors of 256 values, and the loops over them.
//!
//! The operator is decided outside of each loop, and results are written in place, so the compiler makes vector code of them: of two kinds,
//! among which the processor is asked at run time (`multiversion`).

use multiversion::multiversion;

use super::Sweep;
use crate::eval;
use crate::node::{ExprId, Kind, Op, SymId, Width, arithmetic, comparison};
use crate::pool::Pool;
use crate::wide::mask;

pub(super) const LANES: usize = 256;

/// One value of a vector.
pub(super) trait Lane: Copy {
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

/// Writes a vector by lane.
#[inline(always)]
pub(super) fn fill<R: Lane>(out: &mut [R; LANES], value: impl Fn(usize) -> u64) {
    for (v, lane) in out.iter_mut().enumerate() {
        *lane = R::from_u64(value(v));
    }
}

/// The vector of a node.
#[derive(Clone, Copy)]
pub(super) enum Lanes<'a> {
    /// Of at most 8 bits.
    Bytes(&'a [u8; LANES]),
    Words(&'a [u64; LANES]),
    /// Of 65 to 128 bits; only `quads.rs` of this module looks into them.
    Quads(&'a [u128; LANES]),
}

impl Lanes<'_> {
    #[inline(always)]
    pub(super) fn map<R: Lane>(self, out: &mut [R; LANES], f: impl Fn(u64) -> u64) {
        match self {
            Lanes::Bytes(x) => fill(out, |i| f(x[i].to_u64())),
            Lanes::Words(x) => fill(out, |i| f(x[i].to_u64())),
            Lanes::Quads(_) => unreachable!("operands above 64 bits have loops of their own"),
        }
    }

    /// Of two operands of the same width.
    #[inline(always)]
    fn pair<R: Lane>(self, other: Lanes<'_>, out: &mut [R; LANES], f: impl Fn(u64, u64) -> u64) {
        match (self, other) {
            (Lanes::Bytes(x), Lanes::Bytes(y)) => fill(out, |i| f(x[i].to_u64(), y[i].to_u64())),
            (Lanes::Words(x), Lanes::Words(y)) => fill(out, |i| f(x[i].to_u64(), y[i].to_u64())),
            _ => unreachable!("operands of one width have lanes of one kind, and those above 64 bits have loops of their own"),
        }
    }

    /// Of two operands of any widths up to 64 bits.
    #[inline(always)]
    fn zip<R: Lane>(self, other: Lanes<'_>, out: &mut [R; LANES], f: impl Fn(u64, u64) -> u64) {
        match (self, other) {
            (Lanes::Bytes(x), Lanes::Words(y)) => fill(out, |i| f(x[i].to_u64(), y[i].to_u64())),
            (Lanes::Words(x), Lanes::Bytes(y)) => fill(out, |i| f(x[i].to_u64(), y[i].to_u64())),
            _ => self.pair(other, out, f),
        }
    }

    #[inline]
    pub(super) fn at(self, i: usize) -> u64 {
        self.quad(i) as u64
    }

    #[inline]
    pub(super) fn quad(self, i: usize) -> u128 {
        match self {
            Lanes::Bytes(x) => x[i].into(),
            Lanes::Words(x) => x[i].into(),
            Lanes::Quads(x) => x[i],
        }
    }
}

/// The vector of a node of at most 8 bits from those of its operands.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn bytes(sweep: &Sweep, pool: &Pool, e: ExprId, sym: SymId, out: &mut [u8; LANES]) {
    computed(sweep, pool, e, sym, out);
}

/// The same of 9 to 64 bits.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn words(sweep: &Sweep, pool: &Pool, e: ExprId, sym: SymId, out: &mut [u64; LANES]) {
    computed(sweep, pool, e, sym, out);
}

#[inline(always)]
fn computed<R: Lane>(sweep: &Sweep, pool: &Pool, e: ExprId, sym: SymId, out: &mut [R; LANES]) {
    let width = pool.width(e);
    let of = |operand: ExprId| sweep.lanes(pool, operand);
    let kind = pool.kind(e);
    if kind.children().any(|operand| pool.width(operand) > 64) {
        return sweep.computed_of_wide(pool, e, out);
    }
    match kind {
        Kind::Const => unreachable!("a constant does not depend on the symbol"),
        Kind::Sym(symbol) => {
            debug_assert_eq!(symbol, sym, "other symbols do not depend on this one");
            fill(out, |v| v as u64 & mask(width));
        }
        Kind::Not(a) => of(a).map(out, |x| !x & mask(width)),
        Kind::Neg(a) => of(a).map(out, |x| x.wrapping_neg() & mask(width)),
        Kind::Zext(a) => of(a).map(out, |x| x),
        Kind::Sext(a) => {
            let from = pool.width(a);
            of(a).map(out, |x| eval::signed(from, x) as u64 & mask(width));
        }
        Kind::Extract(a, lo) => of(a).map(out, |x| x >> lo & mask(width)),
        Kind::Concat(hi, lo) => {
            let shift = pool.width(lo);
            of(hi).zip(of(lo), out, |x, y| x << shift | y);
        }
        Kind::PtrAdd(base, offset) => of(offset).map(out, |x| base.wrapping_add(x)),
        Kind::Float(op, a, b) => sweep.live.float(op, (pool.width(a), width), of(a), of(b), out, |value| R::from_u64(value as u64)),
        Kind::Ite(c, a, b) => {
            // The condition as a mask: no branch in the loop.
            let Lanes::Bytes(c) = of(c) else { unreachable!("a 1-bit expression has byte lanes") };
            match (of(a), of(b)) {
                (Lanes::Bytes(x), Lanes::Bytes(y)) => fill(out, |i| chosen(c[i], x[i].to_u64(), y[i].to_u64())),
                (Lanes::Words(x), Lanes::Words(y)) => fill(out, |i| chosen(c[i], x[i].to_u64(), y[i].to_u64())),
                _ => unreachable!("both sides of a choice have one width"),
            }
        }
        Kind::Read(array, index) => sweep.read(pool, array, of(index), out),
        arithmetic!(a, b) | comparison!(a, b) => binary(pool.op(e), pool.width(a), of(a), of(b), out),
    }
}

#[inline(always)]
fn chosen(c: u8, x: u64, y: u64) -> u64 {
    let mask = u64::from(c).wrapping_neg();
    x & mask | y & !mask
}

/// A loop of its own for each operator, so that `apply` is decided outside.
#[inline(always)]
fn binary<R: Lane>(op: Op, width: Width, a: Lanes<'_>, b: Lanes<'_>, out: &mut [R; LANES]) {
    macro_rules! loops {
        ($($name:ident)*) => {
            match op {
                $(Op::$name => a.pair(b, out, |x, y| eval::apply(Op::$name, width, x, y).unwrap_or(0)),)*
                Op::Const | Op::Sym | Op::Not | Op::Neg | Op::Ite | Op::Concat | Op::Extract | Op::Zext | Op::Sext
                | Op::Read | Op::PtrAdd | Op::Float => unreachable!("`{}` is not binary", op.smt()),
            }
        };
    }
    loops!(And Or Xor Add Sub Mul Udiv Urem Sdiv Srem Shl Lshr Ashr Eq Ult Ule Slt Sle);
}
