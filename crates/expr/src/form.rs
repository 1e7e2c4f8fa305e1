//! Conditions that outlive their pool: a compact, self-contained list of nodes over named input bytes (docs/design/017).
//!
//! A condition is a list of records of [`NODE`] bytes in topological order; its value is that of the last one. A record refers to earlier
//! ones by their distance from the start. Values above 64 bits are taken apart into limbs as the form is written, so the evaluator
//! works on words. It needs no pool, allocates nothing, and accepts any bytes: what is not a condition is [`Trouble::Damaged`].
//! Cost: some nanoseconds for each record.

pub mod open;

use rustc_hash::FxHashMap;

use crate::eval::{apply, signed};
use crate::float::{self, FloatOp};
use crate::node::{ExprId, Kind, Op, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// Changes with the meaning of a record, and with the numbers of [`Op`].
pub const VERSION: u32 = 2;
/// Bytes of a record: operator, width of the result in bits, two zeros, and three words whose meaning the operator says.
pub const NODE: usize = 16;
/// Most records of a condition, and so the most values its evaluation needs.
pub const MOST: usize = 1 << 16;
/// Not an operator: three elements of a table, each the distance of a record.
const TABLE: u8 = 0xff;
/// Elements that a table's record holds.
const ELEMENTS: u32 = 3;

/// Why an expression has no form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// An operator on values above 64 bits that is not taken apart.
    Wide(Op),
    /// More than [`MOST`] records.
    Long,
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unwritable::Wide(op) => write!(f, "a condition with `{}` on more than 64 bits", op.smt()),
            Unwritable::Long => write!(f, "a condition of more than {MOST} operations"),
        }
    }
}

/// Why a condition has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// This input's byte is not known.
    Missing { input: u32, byte: u32 },
    /// These bytes are not a condition.
    Damaged,
}

/// The form of an expression of 1 to 64 bits. `input` numbers the inputs by their names.
pub fn write(pool: &Pool, root: ExprId, input: &mut dyn FnMut(&str) -> u32) -> Result<Vec<u8>, Unwritable> {
    let mut writer = Writer { pool, nodes: Vec::new(), known: FxHashMap::default(), input };
    writer.all(root)?;
    // The value is that of the last record.
    let [last] = writer.known[&root][..] else { return Err(Unwritable::Wide(pool.op(root))) };
    if last as usize != writer.count() - 1 {
        let width = pool.width(root);
        writer.node(Op::Zext as u8, width, [last, 0, 0])?;
    }
    Ok(writer.nodes)
}

/// The names of inputs that records refer to are given new numbers.
pub fn renumber(nodes: &mut [u8], number: &mut dyn FnMut(u32) -> u32) {
    for node in nodes.chunks_exact_mut(NODE).filter(|node| node[0] == Op::Sym as u8) {
        let new = number(word(node, 4));
        node[4..8].copy_from_slice(&new.to_le_bytes());
    }
}

/// The inputs that a condition reads, each as often as it does.
pub fn inputs(nodes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    nodes.chunks_exact(NODE).filter(|node| node[0] == Op::Sym as u8).map(|node| word(node, 4))
}

struct Writer<'a> {
    pool: &'a Pool,
    nodes: Vec<u8>,
    /// The limbs of what is written, lowest first.
    known: FxHashMap<ExprId, Vec<u32>>,
    input: &'a mut dyn FnMut(&str) -> u32,
}

/// What an expression reads directly, array elements included.
fn operands(pool: &Pool, e: ExprId) -> Vec<ExprId> {
    let mut all: Vec<ExprId> = pool.kind(e).children().collect();
    if let Kind::Read(array, _) = pool.kind(e) {
        all.extend(pool.array_elems(array));
    }
    all
}

impl Writer<'_> {
    fn count(&self) -> usize {
        self.nodes.len() / NODE
    }

    fn node(&mut self, op: u8, width: Width, words: [u32; 3]) -> Result<u32, Unwritable> {
        if self.count() == MOST {
            return Err(Unwritable::Long);
        }
        self.nodes.extend([op, width as u8, 0, 0]);
        words.iter().for_each(|word| self.nodes.extend(word.to_le_bytes()));
        Ok(self.count() as u32 - 1)
    }

    fn constant(&mut self, width: Width, value: u64) -> Result<u32, Unwritable> {
        self.node(Op::Const as u8, width, [value as u32, (value >> 32) as u32, 0])
    }

    /// Writes what is missing below `root`, operands first. The walk keeps its own stack.
    fn all(&mut self, root: ExprId) -> Result<(), Unwritable> {
        let mut stack = vec![(root, false)];
        while let Some((e, met)) = stack.pop() {
            if self.known.contains_key(&e) {
                continue;
            }
            if met {
                let limbs = self.limbs(e)?;
                self.known.insert(e, limbs);
                continue;
            }
            stack.push((e, true));
            stack.extend(operands(self.pool, e).into_iter().map(|operand| (operand, false)));
        }
        Ok(())
    }

    fn of(&self, e: ExprId) -> Vec<u32> {
        self.known[&e].clone()
    }

    fn limbs(&mut self, e: ExprId) -> Result<Vec<u32>, Unwritable> {
        let (pool, width) = (self.pool, self.pool.width(e));
        let op = pool.op(e);
        if let Some(limbs) = pool.as_limbs(e) {
            return (0..).zip(limbs.to_vec()).map(|(i, limb)| self.constant(limb_width(width, i), limb)).collect();
        }
        if let Some(value) = pool.as_u64(e) {
            return Ok(vec![self.constant(width, value)?]);
        }
        let one = |limbs: &[u32]| limbs[0];
        Ok(match pool.kind(e) {
            Kind::Const => return Err(Unwritable::Wide(op)),
            Kind::Sym(symbol) => {
                let info = pool.sym_info(symbol);
                let (input, byte) = ((self.input)(&info.name), info.index);
                vec![self.node(op as u8, width, [input, byte, 0])?]
            }
            Kind::Not(a) | Kind::Neg(a) if width <= 64 => {
                let a = one(&self.of(a));
                vec![self.node(op as u8, width, [a, 0, 0])?]
            }
            Kind::Not(a) => {
                let each = |w: &mut Self, (i, a): (u32, u32)| w.node(op as u8, limb_width(width, i), [a, 0, 0]);
                let limbs = self.of(a);
                (0..).zip(limbs).map(|pair| each(self, pair)).collect::<Result<_, _>>()?
            }
            Kind::Neg(a) => {
                let limbs = self.of(a);
                let zeros = (0..limbs.len() as u32).map(|i| self.constant(limb_width(width, i), 0)).collect::<Result<Vec<_>, _>>()?;
                self.subtract(width, &zeros, &limbs)?
            }
            crate::node::arithmetic!(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                match op {
                    _ if width <= 64 => vec![self.node(op as u8, width, [a[0], b[0], 0])?],
                    Op::And | Op::Or | Op::Xor => self.each(op, width, &a, &b)?,
                    Op::Add => self.add(width, &a, &b)?,
                    Op::Sub => self.subtract(width, &a, &b)?,
                    _ => return Err(Unwritable::Wide(op)),
                }
            }
            crate::node::comparison!(a, b) => {
                let width = pool.width(a);
                let (a, b) = (self.of(a), self.of(b));
                vec![self.compare(op, width, &a, &b)?]
            }
            Kind::Ite(c, a, b) => {
                let (c, a, b) = (one(&self.of(c)), self.of(a), self.of(b));
                let pairs: Vec<_> = (0..).zip(a.into_iter().zip(b)).collect();
                pairs.into_iter().map(|(i, (a, b))| self.node(op as u8, limb_width(width, i), [c, a, b])).collect::<Result<_, _>>()?
            }
            Kind::Concat(hi, lo) => {
                let low = pool.width(lo);
                let (hi, lo) = (self.of(hi), self.of(lo));
                (0..limb_count(width)).map(|i| self.joined(&hi, &lo, low, 64 * i, limb_width(width, i))).collect::<Result<_, _>>()?
            }
            Kind::Extract(a, from) => {
                let a = self.of(a);
                (0..limb_count(width)).map(|i| self.piece(&a, from + 64 * i, limb_width(width, i))).collect::<Result<_, _>>()?
            }
            Kind::Zext(a) | Kind::Sext(a) => {
                let (from, a) = (pool.width(a), self.of(a));
                (0..limb_count(width)).map(|i| self.extended(op, &a, from, 64 * i, limb_width(width, i))).collect::<Result<_, _>>()?
            }
            Kind::Read(array, index) => {
                let index = one(&self.of(index));
                let elements: Vec<u32> = pool.array_elems(array).iter().map(|e| self.known[e][0]).collect();
                let first = self.count() as u32;
                for part in elements.chunks(ELEMENTS as usize) {
                    let mut words = [0; 3];
                    words[..part.len()].copy_from_slice(part);
                    self.node(TABLE, 8, words)?;
                }
                vec![self.node(op as u8, width, [index, first, elements.len() as u32])?]
            }
            Kind::Float(operation, a, b) if operation != FloatOp::Fma && width.max(pool.width(b)) <= 64 => {
                let (a, b, from) = (self.of(a)[0], self.of(b)[0], pool.width(a));
                vec![self.node(op as u8, width, [a, b, operation.code() << 8 | from])?]
            }
            Kind::Float(..) => return Err(Unwritable::Wide(op)),
            Kind::PtrAdd(base, offset) => {
                let (base, offset) = (self.constant(64, base)?, one(&self.of(offset)));
                vec![self.node(Op::Add as u8, 64, [base, offset, 0])?]
            }
        })
    }

    fn each(&mut self, op: Op, width: Width, a: &[u32], b: &[u32]) -> Result<Vec<u32>, Unwritable> {
        (0..).zip(a.iter().zip(b)).map(|(i, (a, b))| self.node(op as u8, limb_width(width, i), [*a, *b, 0])).collect()
    }

    /// Sum with a carry from limb to limb.
    fn add(&mut self, width: Width, a: &[u32], b: &[u32]) -> Result<Vec<u32>, Unwritable> {
        let (mut out, mut carry) = (Vec::new(), None);
        for (i, (&a, &b)) in (0..).zip(a.iter().zip(b)) {
            let width = limb_width(width, i);
            let plain = self.node(Op::Add as u8, width, [a, b, 0])?;
            let over = self.compare_words(Op::Ult, width, plain, a)?;
            let (sum, more) = match carry {
                None => (plain, None),
                Some(carry) => {
                    let carry = self.node(Op::Zext as u8, width, [carry, 0, 1])?;
                    let sum = self.node(Op::Add as u8, width, [plain, carry, 0])?;
                    (sum, Some(self.compare_words(Op::Ult, width, sum, plain)?))
                }
            };
            carry = Some(match more {
                Some(more) => self.node(Op::Or as u8, 1, [over, more, 0])?,
                None => over,
            });
            out.push(sum);
        }
        Ok(out)
    }

    /// Difference with a borrow from limb to limb.
    fn subtract(&mut self, width: Width, a: &[u32], b: &[u32]) -> Result<Vec<u32>, Unwritable> {
        let (mut out, mut borrow) = (Vec::new(), None);
        for (i, (&a, &b)) in (0..).zip(a.iter().zip(b)) {
            let width = limb_width(width, i);
            let plain = self.node(Op::Sub as u8, width, [a, b, 0])?;
            let under = self.compare_words(Op::Ult, width, a, b)?;
            let (difference, more) = match borrow {
                None => (plain, None),
                Some(borrow) => {
                    let borrow = self.node(Op::Zext as u8, width, [borrow, 0, 1])?;
                    let difference = self.node(Op::Sub as u8, width, [plain, borrow, 0])?;
                    (difference, Some(self.compare_words(Op::Ult, width, plain, borrow)?))
                }
            };
            borrow = Some(match more {
                Some(more) => self.node(Op::Or as u8, 1, [under, more, 0])?,
                None => under,
            });
            out.push(difference);
        }
        Ok(out)
    }

    fn compare_words(&mut self, op: Op, width: Width, a: u32, b: u32) -> Result<u32, Unwritable> {
        self.node(op as u8, 1, [a, b, width])
    }

    /// From the lowest limb up: a limb decides unless it is equal.
    fn compare(&mut self, op: Op, width: Width, a: &[u32], b: &[u32]) -> Result<u32, Unwritable> {
        if let ([a], [b]) = (a, b) {
            return self.compare_words(op, width, *a, *b);
        }
        let top = a.len() - 1;
        let mut known = None;
        for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
            let width = limb_width(width, i as u32);
            let equal = self.compare_words(Op::Eq, width, a, b)?;
            known = Some(match (op, known) {
                (Op::Eq, None) => equal,
                (Op::Eq, Some(below)) => self.node(Op::And as u8, 1, [equal, below, 0])?,
                (_, None) => self.compare_words(if matches!(op, Op::Ule | Op::Sle) { Op::Ule } else { Op::Ult }, width, a, b)?,
                (_, Some(below)) => {
                    let less = if i == top && matches!(op, Op::Slt | Op::Sle) { Op::Slt } else { Op::Ult };
                    let less = self.compare_words(less, width, a, b)?;
                    let below = self.node(Op::And as u8, 1, [equal, below, 0])?;
                    self.node(Op::Or as u8, 1, [less, below, 0])?
                }
            });
        }
        known.ok_or(Unwritable::Wide(op))
    }

    /// Up to 64 bits of a value, from bit `from` on; all of them are in the value.
    fn piece(&mut self, limbs: &[u32], from: Width, width: Width) -> Result<u32, Unwritable> {
        let (at, skip) = ((from / 64) as usize, from % 64);
        if skip + width <= 64 {
            return self.node(Op::Extract as u8, width, [limbs[at], skip, 0]);
        }
        let low = self.node(Op::Extract as u8, 64 - skip, [limbs[at], skip, 0])?;
        let high = self.node(Op::Extract as u8, width - (64 - skip), [limbs[at + 1], 0, 0])?;
        self.node(Op::Concat as u8, width, [high, low, 64 - skip])
    }

    /// A piece of `hi` above the `low` bits of `lo`.
    fn joined(&mut self, hi: &[u32], lo: &[u32], low: Width, from: Width, width: Width) -> Result<u32, Unwritable> {
        if from >= low {
            return self.piece(hi, from - low, width);
        }
        if from + width <= low {
            return self.piece(lo, from, width);
        }
        let below = self.piece(lo, from, low - from)?;
        let above = self.piece(hi, 0, width - (low - from))?;
        self.node(Op::Concat as u8, width, [above, below, low - from])
    }

    /// A limb of a value extended by `op` from `whole` bits.
    fn extended(&mut self, op: Op, limbs: &[u32], whole: Width, from: Width, width: Width) -> Result<u32, Unwritable> {
        if from + width <= whole {
            return self.piece(limbs, from, width);
        }
        match (from < whole, op) {
            (true, _) => {
                let piece = self.piece(limbs, from, whole - from)?;
                self.node(op as u8, width, [piece, 0, whole - from])
            }
            (false, Op::Sext) => {
                let sign = self.piece(limbs, whole - 1, 1)?;
                self.node(op as u8, width, [sign, 0, 1])
            }
            (false, _) => self.constant(width, 0),
        }
    }
}

fn limb_count(width: Width) -> u32 {
    width.div_ceil(64)
}

fn limb_width(width: Width, limb: u32) -> Width {
    (width - 64 * limb).min(64)
}

#[inline]
fn word(node: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([node[at], node[at + 1], node[at + 2], node[at + 3]])
}

/// The value of a condition. `input` gives the byte of an input; `values` has room for one value for each record, [`MOST`] at most.
pub fn eval(nodes: &[u8], input: &mut dyn FnMut(u32, u32) -> Option<u64>, values: &mut [u64]) -> Result<u64, Trouble> {
    const DAMAGED: Trouble = Trouble::Damaged;
    let mut last = Err(DAMAGED);
    if !nodes.len().is_multiple_of(NODE) || nodes.len() / NODE > values.len() {
        return last;
    }
    for (i, node) in nodes.chunks_exact(NODE).enumerate() {
        let (a, b, c) = (word(node, 4), word(node, 8), word(node, 12));
        let width = Width::from(node[1]);
        if node[0] == TABLE {
            continue;
        }
        let Some(&op) = Op::ALL.get(usize::from(node[0])) else { return Err(DAMAGED) };
        if !(1..=64).contains(&width) {
            return Err(DAMAGED);
        }
        let value = |at: u32| values[..i].get(at as usize).copied().ok_or(DAMAGED);
        let bits = |width: u32| if (1..=64).contains(&width) { Ok(width) } else { Err(DAMAGED) };
        let result = match op {
            Op::Const => u64::from(b) << 32 | u64::from(a),
            Op::Sym => input(a, b).ok_or(Trouble::Missing { input: a, byte: b })?,
            Op::Not => !value(a)?,
            Op::Neg => value(a)?.wrapping_neg(),
            Op::Ite => value(if value(a)? & 1 != 0 { b } else { c })?,
            Op::Concat => {
                let low = bits(c)?;
                if low >= width {
                    return Err(DAMAGED);
                }
                value(a)? << low | value(b)?
            }
            Op::Extract if b < 64 => value(a)? >> b,
            Op::Extract => return Err(DAMAGED),
            Op::Zext | Op::PtrAdd => value(a)?,
            Op::Sext => signed(bits(c)?, value(a)?) as u64,
            Op::Float => {
                let from = bits(c & 0xff)?;
                let operation = FloatOp::of_code(c >> 8).filter(|op| op.fits(from, from, width)).ok_or(DAMAGED)?;
                let mask = u128::from(mask(from));
                float::eval(operation, from, width, u128::from(value(a)?) & mask, u128::from(value(b)?) & mask) as u64
            }
            Op::Read => {
                let index = value(a)?;
                if index < u64::from(c) {
                    let index = index as u32;
                    let at = (u64::from(b) + u64::from(index / ELEMENTS)) as usize;
                    let entry = nodes.get(at * NODE..(at + 1) * NODE).filter(|entry| at < i && entry[0] == TABLE).ok_or(DAMAGED)?;
                    value(word(entry, 4 + 4 * (index % ELEMENTS) as usize))?
                } else {
                    0
                }
            }
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => apply(op, bits(c)?, value(a)?, value(b)?).ok_or(DAMAGED)?,
            _ => apply(op, width, value(a)?, value(b)?).ok_or(DAMAGED)?,
        };
        let result = result & mask(width);
        values[i] = result;
        last = Ok(result);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::model::Model;
    use crate::random::{Rng, Twins};

    #[test]
    fn numbers_of_operators_are_those_of_this_version() {
        let numbers = [Op::Const, Op::Sym, Op::Not, Op::Udiv, Op::Eq, Op::Ite, Op::Read, Op::PtrAdd].map(|op| op as u8);
        assert_eq!((numbers, Op::ALL.len(), VERSION), ([0, 1, 2, 10, 17, 22, 27, 28], 30, 2), "a new number needs a new version");
    }

    #[test]
    fn the_form_of_a_random_expression_has_its_value() {
        let (mut compared, mut wide) = (0, 0);
        let mut values = vec![0; MOST];
        for seed in 0..2_000 {
            let mut rng = Rng::new(9_000_000 + seed);
            let widths = [[8, 8, 8], [8, 16, 64], [1, 8, 64]][seed as usize % 3];
            let mut twins = Twins::new(&widths, [16, 64, 140][seed as usize % 3]);
            twins.floats = seed % 4 == 0;
            let pairs: Vec<_> = (0..25).map(|_| twins.grow(&mut rng)).collect();
            let models: Vec<Model> = (0..4)
                .map(|_| Model::empty().with(&twins.symbols.iter().map(|s| (*s, rng.next() >> rng.below(64))).collect::<Vec<_>>()))
                .collect();
            let mut evaluator = Evaluator::new();
            let all = pairs.iter().flat_map(|pair| [(&twins.simple, pair.simple), (&twins.plain, pair.plain)]);
            for (pool, e) in all.filter(|(pool, e)| pool.width(*e) <= 64) {
                evaluator.clear();
                let form = match write(pool, e, &mut |_| 7) {
                    Ok(form) => form,
                    Err(Unwritable::Wide(_)) => {
                        wide += 1;
                        continue;
                    }
                    Err(Unwritable::Long) => panic!("seed {seed}: a small expression is long"),
                };
                for model in &models {
                    let mut input = |name: u32, index: u32| (name == 7).then(|| model.get(twins.symbols[index as usize]));
                    assert_eq!(eval(&form, &mut input, &mut values), Ok(evaluator.eval(pool, e, model)), "seed {seed}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 100_000 && wide * 20 < compared, "{compared} compared, {wide} without a form");
    }

    #[test]
    fn any_bytes_are_damaged_or_have_a_value() {
        let (mut rng, mut values, mut damaged) = (Rng::new(5), vec![0; 64], 0);
        let mut pool = Pool::new();
        let symbol = pool.symbol("s", 0, 8);
        let (s, k) = (pool.sym(symbol), pool.bits(8, 9));
        let sum = pool.add(s, k);
        let condition = pool.ult(sum, s);
        let form = write(&pool, condition, &mut |_| 0).expect("it has one");
        for _ in 0..200_000 {
            let mut bytes = form.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next() as u8;
            }
            bytes.truncate(bytes.len() - if rng.one_in(4) { rng.below(bytes.len() as u64) as usize } else { 0 });
            damaged += usize::from(eval(&bytes, &mut |_, _| Some(3), &mut values) == Err(Trouble::Damaged));
        }
        assert!(damaged > 1000);
    }

    #[test]
    fn an_unknown_byte_and_new_numbers() {
        let mut pool = Pool::new();
        let symbol = pool.symbol("s", 3, 8);
        let (s, k) = (pool.sym(symbol), pool.bits(8, 9));
        let condition = pool.eq(s, k);
        let mut form = write(&pool, condition, &mut |_| 4).expect("it has one");
        renumber(&mut form, &mut |old| old + 1);
        assert_eq!(inputs(&form).collect::<Vec<_>>(), [5]);
        assert_eq!(eval(&form, &mut |_, _| None, &mut [0; 8]), Err(Trouble::Missing { input: 5, byte: 3 }));
        assert_eq!(eval(&form, &mut |_, byte| Some(u64::from(byte) * 3), &mut [0; 8]), Ok(1));
    }
}
