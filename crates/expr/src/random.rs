//! Random expressions for tests, the same made in two pools: one that simplifies and one that does not.

use crate::node::{ExprId, Op, Shape, SymId, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// A small deterministic generator (xorshift*, Marsaglia 2003 / Vigna 2016).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// One expression, in the simplifying and in the plain pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) simple: ExprId,
    pub(crate) plain: ExprId,
}

/// The two pools and what was made in them.
pub(crate) struct Twins {
    pub(crate) simple: Pool,
    pub(crate) plain: Pool,
    pub(crate) symbols: Vec<SymId>,
    pub(crate) made: Vec<Pair>,
    /// No expression is made wider than this.
    pub(crate) widest: Width,
    /// Floating point is made, too.
    pub(crate) floats: bool,
}

impl Twins {
    /// Twins with symbols of the given widths.
    pub(crate) fn new(widths: &[Width], widest: Width) -> Twins {
        let (mut simple, mut plain) = (Pool::new(), Pool::plain());
        let (mut symbols, mut made) = (Vec::new(), Vec::new());
        for (i, &width) in widths.iter().enumerate() {
            let symbol = simple.symbol("s", i as u32, width);
            assert_eq!(plain.symbol("s", i as u32, width), symbol);
            symbols.push(symbol);
            made.push(Pair { simple: simple.sym(symbol), plain: plain.sym(symbol) });
        }
        Twins { simple, plain, symbols, made, widest, floats: false }
    }

    pub(crate) fn both(&mut self, make: impl Fn(&mut Pool, &dyn Fn(Pair) -> ExprId) -> ExprId) -> Pair {
        let simple = make(&mut self.simple, &|pair| pair.simple);
        let plain = make(&mut self.plain, &|pair| pair.plain);
        assert_eq!(self.simple.width(simple), self.plain.width(plain));
        Pair { simple, plain }
    }

    fn width(&self, pair: Pair) -> Width {
        self.plain.width(pair.plain)
    }

    /// A constant likely to matter.
    pub(crate) fn constant(&mut self, rng: &mut Rng, width: Width) -> Pair {
        let low = mask(width.min(64));
        let value = match rng.below(9) {
            0 => 0,
            1 => 1,
            2 => low,
            3 => low >> 1,
            4 => (low >> 1) + 1,
            5 => 1 << rng.below(u64::from(width.min(64))),
            6 => (low >> rng.below(u64::from(width.min(64)))) & !(low >> rng.below(u64::from(width.min(64)))),
            7 => 1 + rng.below(7),
            _ => rng.next(),
        } & low;
        let high = match rng.below(3) {
            0 => 0,
            1 => u64::MAX,
            _ => rng.next() & rng.next(),
        };
        let limbs: Vec<u64> = (0..width.div_ceil(64)).map(|i| if i == 0 { value } else { high }).collect();
        self.both(|pool, _| pool.wide(width, &limbs))
    }

    /// Something made before, recent things preferred.
    pub(crate) fn pick(&mut self, rng: &mut Rng) -> Pair {
        let len = self.made.len() as u64;
        let from = if rng.one_in(2) { len.saturating_sub(3) } else { 0 };
        self.made[(from + rng.below(len - from)) as usize]
    }

    /// Something made before or a constant, brought to a width.
    pub(crate) fn pick_at(&mut self, rng: &mut Rng, width: Width) -> Pair {
        if rng.one_in(4) {
            return self.constant(rng, width);
        }
        let same: Vec<Pair> = self.made.iter().copied().filter(|&pair| self.width(pair) == width).collect();
        if !same.is_empty() && !rng.one_in(4) {
            return same[rng.below(same.len() as u64) as usize];
        }
        let pair = self.pick(rng);
        let from = self.width(pair);
        let signed = rng.one_in(2);
        match from {
            _ if from > width => {
                let lo = if rng.one_in(2) { 0 } else { rng.below(u64::from(from - width + 1)) as Width };
                self.both(|pool, of| pool.extract(of(pair), lo, width))
            }
            _ if signed => self.both(|pool, of| pool.sext(of(pair), width)),
            _ => self.both(|pool, of| pool.zext(of(pair), width)),
        }
    }

    /// Makes one more expression.
    pub(crate) fn grow(&mut self, rng: &mut Rng) -> Pair {
        let pair = if rng.one_in(4) { self.pattern(rng) } else { self.grown(rng) };
        if self.width(pair) <= self.widest {
            self.made.push(pair);
        }
        pair
    }

    fn grown(&mut self, rng: &mut Rng) -> Pair {
        let a = self.pick(rng);
        let width = self.width(a);
        // Floating point is the last operator.
        let op = Op::ALL[rng.below(Op::ALL.len() as u64 - u64::from(!self.floats)) as usize];
        match op.shape() {
            Shape::Unary => self.both(|pool, of| pool.unary(op, of(a))),
            Shape::Binary | Shape::Compare => {
                let b = self.pick_at(rng, width);
                let (a, b) = if rng.one_in(2) { (a, b) } else { (b, a) };
                self.both(|pool, of| pool.binary(op, of(a), of(b)))
            }
            Shape::Leaf => self.constant(rng, width),
            Shape::Special => self.special(rng, op, a),
        }
    }

    fn special(&mut self, rng: &mut Rng, op: Op, a: Pair) -> Pair {
        let width = self.width(a);
        match op {
            Op::Ite => {
                let c = self.pick_at(rng, 1);
                let b = self.pick_at(rng, width);
                let a = if rng.one_in(3) { self.constant(rng, width) } else { a };
                self.both(|pool, of| pool.ite(of(c), of(a), of(b)))
            }
            Op::Concat => {
                let b = if rng.one_in(4) { self.constant(rng, 1 + a.plain.raw() % 9) } else { self.pick(rng) };
                let (a, b) = if rng.one_in(2) { (a, b) } else { (b, a) };
                self.both(|pool, of| pool.concat(of(a), of(b)))
            }
            Op::Extract => {
                let lo = rng.below(u64::from(width)) as Width;
                let len = 1 + rng.below(u64::from(width - lo)) as Width;
                self.both(|pool, of| pool.extract(of(a), lo, len))
            }
            Op::Zext | Op::Sext => {
                let to = width + rng.below(u64::from(self.widest.max(width) - width + 1)) as Width;
                self.both(|pool, of| if op == Op::Zext { pool.zext(of(a), to) } else { pool.sext(of(a), to) })
            }
            Op::Read => {
                let repeated = rng.one_in(2).then(|| self.pick_at(rng, 8));
                let elems: Vec<Pair> = (0..1 + rng.below(5)).map(|_| repeated.unwrap_or_else(|| self.pick_at(rng, 8))).collect();
                let index = self.pick_at(rng, 64);
                self.both(|pool, of| {
                    let elems: Vec<ExprId> = elems.iter().map(|&elem| of(elem)).collect();
                    let array = pool.array(&elems);
                    pool.read(array, of(index))
                })
            }
            Op::PtrAdd => {
                let (base, offset) = (0x1000 << rng.below(3), self.pick_at(rng, 64));
                self.both(|pool, of| pool.ptr(base, of(offset)))
            }
            Op::Float if self.floats => self.grow_float(rng, a),
            _ => a,
        }
    }

    /// Shapes that programs have and independent choices rarely hit.
    fn pattern(&mut self, rng: &mut Rng) -> Pair {
        let a = self.pick(rng);
        let width = self.width(a);
        let binary = |rng: &mut Rng| loop {
            let op = Op::ALL[rng.below(Op::ALL.len() as u64 - 1) as usize];
            if op.shape() == Shape::Binary {
                return op;
            }
        };
        match rng.below(if self.floats { 6 } else { 5 }) {
            5 => self.grow_float(rng, a),
            // Operators with constants in a row, perhaps compared with a constant in the end.
            0 => {
                let repeated = rng.one_in(2).then(|| binary(rng));
                let mut value = a;
                let width = width + rng.below(3) as Width;
                match rng.below(4) {
                    0 => value = self.both(|pool, of| pool.sext(of(a), width)),
                    1 => {
                        let (c, x, y) = (self.pick_at(rng, 1), self.constant(rng, width), self.constant(rng, width));
                        value = self.both(|pool, of| pool.ite(of(c), of(x), of(y)));
                    }
                    _ => value = self.both(|pool, of| pool.zext(of(value), width)),
                }
                for _ in 0..2 {
                    let (op, k) = (repeated.unwrap_or_else(|| binary(rng)), self.constant(rng, width));
                    value = self.both(|pool, of| pool.binary(op, of(value), of(k)));
                }
                let (op, k) = ([Op::Ult, Op::Slt, Op::Eq, Op::Add][rng.below(4) as usize], self.constant(rng, width));
                self.both(|pool, of| pool.binary(op, of(value), of(k)))
            }
            // A value taken apart and put together again.
            1 if width > 1 => {
                let at = 1 + rng.below(u64::from(width - 1)) as Width;
                self.both(|pool, of| {
                    let (high, low) = (pool.extract(of(a), at, width - at), pool.extract(of(a), 0, at));
                    pool.concat(high, low)
                })
            }
            // The same done to two values, which then meet.
            2 => {
                let (b, k, c) = (self.pick_at(rng, width), self.constant(rng, width), self.pick_at(rng, 1));
                let (how, meet) = (rng.below(6), [Op::Ult, Op::Sle, Op::Eq, Op::Sub, Op::Sub, Op::Xor][rng.below(6) as usize]);
                let choose = rng.one_in(4);
                self.both(|pool, of| {
                    let mut alter = |e: ExprId| match how {
                        0 => pool.not(e),
                        1 => pool.neg(e),
                        2 => pool.add(e, of(k)),
                        3 => pool.ite(of(c), e, of(k)),
                        4 => pool.ite(of(c), of(k), e),
                        _ => pool.sext(e, width + 1),
                    };
                    let (x, y) = (alter(of(a)), alter(of(b)));
                    if choose { pool.ite(of(c), x, y) } else { pool.binary(meet, x, y) }
                })
            }
            // Pointers into one object.
            3 => {
                let b = self.pick(rng);
                if width > 64 || self.width(b) > 64 {
                    return a;
                }
                let meet = [Op::Ult, Op::Ule, Op::Eq, Op::Sub][rng.below(4) as usize];
                self.both(|pool, of| {
                    let (x, y) = (pool.zext(of(a), 64), pool.zext(of(b), 64));
                    let (p, q) = (pool.ptr(0x1000, x), pool.ptr(0x1000, y));
                    pool.binary(meet, p, q)
                })
            }
            // The low part of a value of known size, extended.
            _ => {
                let (op, k) = ([Op::Urem, Op::Lshr, Op::And, Op::Add][rng.below(4) as usize], self.constant(rng, width));
                let low = 1 + rng.below(u64::from(width)) as Width;
                let to = low + rng.below(u64::from(width)) as Width;
                self.both(|pool, of| {
                    let value = pool.binary(op, of(a), of(k));
                    let part = pool.extract(value, 0, low);
                    pool.zext(part, to)
                })
            }
        }
    }
}
