//! The evaluator: the value of an expression under a model. What it says is what the operators mean.
//!
//! Values are memoised per node under the serial of the model they were computed for, so the second look at a node under
//! one model is one comparison. Recursion is bounded, and the walk keeps its own stack beyond that: depth is bounded by
//! memory only. An `Ite` evaluates only the side chosen, a `Read` only the element read.

use crate::float::{self, FloatOp};
use crate::model::Model;
use crate::node::{ExprId, Kind, Op, Width, arithmetic, comparison};
use crate::pool::Pool;
use crate::wide::{self, mask};

/// Sign-extends the low `width` bits to 64.
#[inline]
pub fn signed(width: Width, value: u64) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

/// A binary or comparing operator applied to two values of `width` (at most 64) bits, zero-extended as its result is.
/// `None`: the operator is neither.
#[inline(always)]
#[rustfmt::skip]
pub fn apply(op: Op, width: Width, x: u64, y: u64) -> Option<u64> {
    let (sx, sy) = (signed(width, x), signed(width, y));
    let shift_in_range = y < u64::from(width);
    let value = match op {
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::Mul => x.wrapping_mul(y),
        Op::Udiv => x.checked_div(y).unwrap_or(u64::MAX),
        Op::Urem => x.checked_rem(y).unwrap_or(x),
        Op::Sdiv if sy == 0 => (if sx < 0 { 1i64 } else { -1 }) as u64,
        Op::Sdiv => sx.wrapping_div(sy) as u64,
        Op::Srem if sy == 0 => x,
        Op::Srem => sx.wrapping_rem(sy) as u64,
        Op::Shl => if shift_in_range { x << y } else { 0 },
        Op::Lshr => if shift_in_range { x >> y } else { 0 },
        Op::Ashr => (sx >> y.min(63)) as u64,
        Op::Eq => return Some(u64::from(x == y)),
        Op::Ult => return Some(u64::from(x < y)),
        Op::Ule => return Some(u64::from(x <= y)),
        Op::Slt => return Some(u64::from(sx < sy)),
        Op::Sle => return Some(u64::from(sx <= sy)),
        Op::Const | Op::Sym | Op::Not | Op::Neg | Op::Ite | Op::Concat | Op::Extract => return None,
        Op::Zext | Op::Sext | Op::Read | Op::PtrAdd | Op::Float => return None,
    };
    Some(value & mask(width))
}

/// The value of a node of this kind from the values of its operands, all of at most 64 bits. It is no symbol and no floating-point operation, which
/// take more than that.
#[inline(always)]
pub fn of_operands<E>(pool: &Pool, e: ExprId, kind: Kind, mut get: impl FnMut(ExprId) -> Result<u64, E>) -> Result<u64, E> {
    let width = pool.width(e);
    Ok(match kind {
        Kind::Const => pool.as_u64(e).expect("a constant of at most 64 bits"),
        Kind::Sym(_) | Kind::Float(..) => unreachable!("their values are not of operands alone"),
        Kind::Not(a) => !get(a)? & mask(width),
        Kind::Neg(a) => get(a)?.wrapping_neg() & mask(width),
        Kind::Ite(c, a, b) => {
            let chosen = if get(c)? != 0 { a } else { b };
            get(chosen)?
        }
        Kind::Concat(hi, lo) => {
            let (x, y) = (get(hi)?, get(lo)?);
            x << pool.width(lo) | y
        }
        Kind::Extract(a, lo) => get(a)? >> lo & mask(width),
        Kind::Zext(a) => get(a)?,
        Kind::Sext(a) => signed(pool.width(a), get(a)?) as u64 & mask(width),
        Kind::Read(array, index) => match pool.array_elems(array).get(get(index)? as usize) {
            Some(&elem) => match pool.as_u64(elem) {
                Some(value) => value,
                None => get(elem)?,
            },
            None => 0,
        },
        Kind::PtrAdd(base, offset) => base.wrapping_add(get(offset)?),
        arithmetic!(a, b) | comparison!(a, b) => apply(pool.op(e), pool.width(a), get(a)?, get(b)?).expect("a binary operator"),
    })
}

/// How deep the evaluator recurses before it notes where it is and starts afresh from there.
const LEVELS: u32 = 64;

/// Evaluates expressions of one pool. Keep one per pool, and [`clear`](Evaluator::clear) it when the pool is compacted.
#[derive(Default)]
pub struct Evaluator {
    memo: Vec<Entry>,
    /// Values above 64 bits; a node's entry holds its number here.
    wides: Vec<Vec<u64>>,
    stack: Vec<ExprId>,
}

/// The value under the model of that serial; serial 0: never evaluated.
#[derive(Clone, Copy, Default)]
struct Entry {
    serial: u64,
    value: u64,
}

/// An operand without a value, too far down to be evaluated at once.
struct Missing(ExprId);

impl Evaluator {
    pub fn new() -> Evaluator {
        Evaluator::default()
    }

    /// The value, zero-extended, of an expression of at most 64 bits.
    #[inline]
    pub fn eval(&mut self, pool: &Pool, e: ExprId, model: &Model) -> u64 {
        match self.memo.get(e.index()) {
            Some(entry) if entry.serial == model.serial() => entry.value,
            _ => self.run(pool, e, model),
        }
    }

    /// The value of an expression of any width as limbs, lowest first.
    pub fn eval_wide(&mut self, pool: &Pool, e: ExprId, model: &Model) -> Vec<u64> {
        let value = self.eval(pool, e, model);
        if pool.width(e) <= 64 { vec![value] } else { self.wides[value as usize].clone() }
    }

    /// Is the 1-bit expression 1?
    #[inline]
    pub fn holds(&mut self, pool: &Pool, e: ExprId, model: &Model) -> bool {
        self.eval(pool, e, model) != 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Evaluator::default();
    }

    /// Bytes of memory held, about.
    pub fn memory(&self) -> usize {
        self.memory_of_wides() + self.memo.capacity() * size_of::<Entry>()
    }

    fn memory_of_wides(&self) -> usize {
        self.wides.iter().map(|limbs| limbs.len() * 8 + 24).sum()
    }

    /// Evaluates whatever is missing below `root`: by recursion for some levels, and by a stack of the nodes where that
    /// ended for any number of them.
    #[cold]
    fn run(&mut self, pool: &Pool, root: ExprId, model: &Model) -> u64 {
        if self.memo.len() < pool.len() {
            self.memo.resize(pool.len(), Entry::default());
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(root);
        while let Some(&e) = stack.last() {
            match self.get(pool, e, model, LEVELS) {
                Ok(_) => drop(stack.pop()),
                Err(Missing(operand)) => stack.push(operand),
            }
        }
        self.stack = stack;
        self.memo[root.index()].value
    }

    /// The value of a node, evaluated now if need be and no more than `levels` down. Above 64 bits: its number in `wides`.
    #[inline]
    fn get(&mut self, pool: &Pool, e: ExprId, model: &Model, levels: u32) -> Result<u64, Missing> {
        let entry = self.memo[e.index()];
        if entry.serial == model.serial() { Ok(entry.value) } else { self.compute(pool, e, model, levels) }
    }

    fn compute(&mut self, pool: &Pool, e: ExprId, model: &Model, levels: u32) -> Result<u64, Missing> {
        let Some(levels) = levels.checked_sub(1) else { return Err(Missing(e)) };
        if pool.width(e) > 64 {
            let limbs = self.limbs(pool, e, model, levels)?;
            return Ok(self.store_wide(e, model, limbs));
        }
        let value = self.narrow(pool, e, model, levels)?;
        self.memo[e.index()] = Entry { serial: model.serial(), value };
        Ok(value)
    }

    /// The value of a node of at most 64 bits.
    fn narrow(&mut self, pool: &Pool, e: ExprId, model: &Model, levels: u32) -> Result<u64, Missing> {
        let width = pool.width(e);
        Ok(match pool.kind(e) {
            Kind::Sym(symbol) => model.get(symbol) & mask(width),
            Kind::Float(op, a, b) => self.float(pool, op, (a, b), width, model, levels)? as u64,
            Kind::Extract(a, lo) if pool.width(a) > 64 => wide::extract(&self.get_limbs(pool, a, model, levels)?, lo, width)[0],
            arithmetic!(a, b) | comparison!(a, b) if pool.width(a) > 64 => {
                let (x, y) = (self.get_limbs(pool, a, model, levels)?, self.get_limbs(pool, b, model, levels)?);
                wide::binary(pool.op(e), pool.width(a), &x, &y).expect("a binary operator")[0]
            }
            kind => of_operands(pool, e, kind, |operand| self.get(pool, operand, model, levels))?,
        })
    }

    /// The value of a node above 64 bits.
    fn limbs(&mut self, pool: &Pool, e: ExprId, model: &Model, levels: u32) -> Result<Vec<u64>, Missing> {
        let width = pool.width(e);
        let mut get = |operand: ExprId| self.get_limbs(pool, operand, model, levels);
        Ok(match pool.kind(e) {
            Kind::Const => pool.as_limbs(e).expect("a constant").to_vec(),
            Kind::Sym(_) | Kind::Read(..) | Kind::PtrAdd(..) => unreachable!("of at most 64 bits"),
            Kind::Eq(..) | Kind::Ult(..) | Kind::Ule(..) | Kind::Slt(..) | Kind::Sle(..) => unreachable!("of 1 bit"),
            Kind::Not(a) => wide::not(width, &get(a)?),
            Kind::Neg(a) => wide::neg(width, &get(a)?),
            Kind::Ite(c, a, b) => {
                let chosen = if get(c)?[0] != 0 { a } else { b };
                get(chosen)?
            }
            Kind::Concat(hi, lo) => wide::concat(width, &get(hi)?, &get(lo)?, pool.width(lo)),
            Kind::Extract(a, lo) => wide::extract(&get(a)?, lo, width),
            Kind::Zext(a) => wide::zext(width, &get(a)?),
            Kind::Sext(a) => wide::sext(width, &get(a)?, pool.width(a)),
            Kind::Float(op, a, b) => float::limbs(width, self.float(pool, op, (a, b), width, model, levels)?),
            arithmetic!(a, b) => wide::binary(pool.op(e), width, &get(a)?, &get(b)?).expect("a binary operator"),
        })
    }

    /// The value of a floating-point operation.
    fn float(
        &mut self,
        pool: &Pool,
        op: FloatOp,
        (a, b): (ExprId, ExprId),
        width: Width,
        model: &Model,
        levels: u32,
    ) -> Result<u128, Missing> {
        let x = float::joined(&self.get_limbs(pool, a, model, levels)?);
        let y = if op.is_binary() { float::joined(&self.get_limbs(pool, b, model, levels)?) } else { x };
        Ok(float::eval(op, pool.width(a), width, x, y))
    }

    /// The value of an operand of any width, as limbs.
    fn get_limbs(&mut self, pool: &Pool, e: ExprId, model: &Model, levels: u32) -> Result<Vec<u64>, Missing> {
        let value = self.get(pool, e, model, levels)?;
        Ok(if pool.width(e) <= 64 { vec![value] } else { self.wides[value as usize].clone() })
    }

    fn store_wide(&mut self, e: ExprId, model: &Model, limbs: Vec<u64>) -> u64 {
        let entry = &mut self.memo[e.index()];
        if entry.serial == 0 {
            entry.value = self.wides.len() as u64;
            self.wides.push(limbs);
        } else {
            self.wides[entry.value as usize] = limbs;
        }
        entry.serial = model.serial();
        entry.value
    }
}
