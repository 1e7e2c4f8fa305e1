//! From expressions to bits: each node once, children first, its bits remembered.
//!
//! One arm per operator; what it means as gates is in `circuit` and `divide`. The walk keeps its own stack. Cost: one hash look-up per node
//! seen again.
use rustc_hash::FxHashMap;
use wryneck_expr::{ArrayId, ExprId, Kind, Pool, SymId};

use super::aig::{Aig, Lit};
use super::circuit::{self, Bits, Byte, Shift};
use super::divide;
use super::float;
use super::meter::Meter;
use crate::answer::Why;

#[derive(Default)]
pub(super) struct Blaster {
    /// Where the bits of an expression start in `bits`; there are as many as it is wide.
    starts: FxHashMap<ExprId, u32>,
    bits: Vec<Lit>,
    symbols: FxHashMap<SymId, (u32, u32)>,
    stack: Vec<ExprId>,
}

impl Blaster {
    /// The literal of a 1-bit expression.
    pub(super) fn bit(&mut self, pool: &Pool, aig: &mut Aig, e: ExprId, meter: &Meter) -> Result<Lit, Why> {
        self.stack.clear();
        self.stack.push(e);
        while let Some(&top) = self.stack.last() {
            if !self.starts.contains_key(&top) {
                let before = self.stack.len();
                self.push_missing(pool, top);
                if self.stack.len() > before {
                    continue;
                }
                meter.check(aig)?;
                let bits = self.node(pool, aig, top, meter)?;
                self.keep(pool, top, &bits);
            }
            self.stack.pop();
        }
        Ok(self.of(pool, e)[0])
    }

    /// The bits of a symbol, if it has been met.
    pub(super) fn symbol_bits(&self, symbol: SymId) -> Option<&[Lit]> {
        let &(start, width) = self.symbols.get(&symbol)?;
        Some(&self.bits[start as usize..(start + width) as usize])
    }

    /// Bytes held, about.
    pub(super) fn memory(&self) -> usize {
        self.bits.capacity() * 4 + self.starts.capacity() * 9 + self.symbols.capacity() * 13
    }

    fn push_missing(&mut self, pool: &Pool, e: ExprId) {
        let kind = pool.kind(e);
        let starts = &self.starts;
        self.stack.extend(kind.children().filter(|child| !starts.contains_key(child)));
        if let Kind::Read(array, index) = kind {
            let elems = reachable(pool, array, index);
            self.stack.extend(elems.iter().copied().filter(|elem| !starts.contains_key(elem)));
        }
    }

    fn keep(&mut self, pool: &Pool, e: ExprId, bits: &[Lit]) {
        let start = u32::try_from(self.bits.len()).unwrap_or(u32::MAX);
        self.bits.extend_from_slice(bits);
        self.starts.insert(e, start);
        if let Kind::Sym(symbol) = pool.kind(e) {
            self.symbols.insert(symbol, (start, pool.width(e)));
        }
    }

    fn of(&self, pool: &Pool, e: ExprId) -> &[Lit] {
        let start = self.starts[&e] as usize;
        &self.bits[start..start + pool.width(e) as usize]
    }

    fn node(&self, pool: &Pool, aig: &mut Aig, e: ExprId, meter: &Meter) -> Result<Bits, Why> {
        let width = pool.width(e) as usize;
        let of = |child: ExprId| self.of(pool, child);
        Ok(match pool.kind(e) {
            Kind::Const => {
                let limbs = pool.as_limbs(e).unwrap_or_default();
                (0..width).map(|i| Lit::constant(limbs[i / 64] >> (i % 64) & 1 == 1)).collect()
            }
            Kind::Sym(_) => (0..width).map(|_| aig.input()).collect(),
            Kind::Not(a) => circuit::not(of(a)),
            Kind::Neg(a) => circuit::neg(aig, of(a)),
            Kind::And(a, b) => circuit::zip(aig, of(a), of(b), Aig::and),
            Kind::Or(a, b) => circuit::zip(aig, of(a), of(b), Aig::or),
            Kind::Xor(a, b) => circuit::zip(aig, of(a), of(b), Aig::xor),
            Kind::Add(a, b) => circuit::add(aig, of(a), of(b), Lit::FALSE),
            Kind::Sub(a, b) => circuit::sub(aig, of(a), of(b)),
            Kind::Mul(a, b) => circuit::mul(aig, of(a), of(b), meter)?,
            Kind::Udiv(a, b) => divide::unsigned(aig, of(a), of(b), meter)?.0,
            Kind::Urem(a, b) => divide::unsigned(aig, of(a), of(b), meter)?.1,
            Kind::Sdiv(a, b) => divide::signed(aig, of(a), of(b), meter)?.0,
            Kind::Srem(a, b) => divide::signed(aig, of(a), of(b), meter)?.1,
            Kind::Shl(a, b) => circuit::shift(aig, of(a), of(b), Shift::Left, meter)?,
            Kind::Lshr(a, b) => circuit::shift(aig, of(a), of(b), Shift::Right, meter)?,
            Kind::Ashr(a, b) => circuit::shift(aig, of(a), of(b), Shift::RightSigned, meter)?,
            Kind::Eq(a, b) => vec![circuit::equal(aig, of(a), of(b))],
            Kind::Ult(a, b) => vec![circuit::less(aig, of(a), of(b), false)],
            Kind::Ule(a, b) => vec![circuit::less(aig, of(a), of(b), true)],
            Kind::Slt(a, b) => vec![circuit::less_signed(aig, of(a), of(b), false)],
            Kind::Sle(a, b) => vec![circuit::less_signed(aig, of(a), of(b), true)],
            Kind::Ite(c, a, b) => circuit::select(aig, of(c)[0], of(a), of(b)),
            Kind::Concat(hi, lo) => [of(lo), of(hi)].concat(),
            Kind::Extract(a, lo) => of(a)[lo as usize..lo as usize + width].to_vec(),
            Kind::Zext(a) => circuit::extend(of(a), Lit::FALSE, width),
            Kind::Sext(a) => circuit::extend(of(a), of(a)[pool.width(a) as usize - 1], width),
            Kind::Read(array, index) => self.read(pool, aig, array, index, meter)?,
            Kind::Float(op, a, b) => float::operation(aig, op, of(a), of(b), width as u32, meter)?,
            Kind::PtrAdd(base, offset) => circuit::add(aig, &circuit::constant(base, 64), of(offset), Lit::FALSE),
        })
    }

    /// Only the elements the index's interval allows take part; an index that cannot leave the array needs no test for that.
    fn read(&self, pool: &Pool, aig: &mut Aig, array: ArrayId, index: ExprId, meter: &Meter) -> Result<Bits, Why> {
        let (all, allowed) = (pool.array_elems(array), reachable(pool, array, index));
        let (lo, hi) = pool.interval(index);
        let Some(&first) = allowed.first() else { return Ok(circuit::constant(0, 8)) };
        let byte = |e: ExprId| -> Byte { std::array::from_fn(|i| self.of(pool, e)[i]) };
        // Elements before the interval are never chosen: the first allowed one stands in for them.
        let padding = std::iter::repeat_n(byte(first), all.len().min(lo as usize));
        let table = padding.chain(allowed.iter().map(|&elem| byte(elem))).collect();
        let can_leave = hi >= all.len() as u64;
        circuit::read(aig, table, self.of(pool, index), can_leave.then_some([Lit::FALSE; 8]), meter)
    }
}

/// The elements that an index within its interval can choose.
fn reachable(pool: &Pool, array: ArrayId, index: ExprId) -> &[ExprId] {
    let elems = pool.array_elems(array);
    let (lo, hi) = pool.interval(index);
    let end = elems.len().min(usize::try_from(hi).unwrap_or(usize::MAX).saturating_add(1));
    elems.get(usize::try_from(lo).unwrap_or(usize::MAX)..end).unwrap_or_default()
}
