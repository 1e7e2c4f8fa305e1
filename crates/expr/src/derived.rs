//! The rest of SMT-LIB's bit-vector theory, and the operators compilers add to it, in terms of the primitive ones.
//!
//! No operator of its own for any of these: what builds them decides their meaning, and the laws see through them.

use crate::node::{ExprId, MAX_WIDTH, Width};
use crate::pool::Pool;
use crate::wide::limbs_for;

impl Pool {
    /// The 1-bit 1.
    pub const fn tru(&self) -> ExprId {
        ExprId::TRUE
    }
    /// The 1-bit 0.
    pub const fn fls(&self) -> ExprId {
        ExprId::FALSE
    }
    /// A truth value as 1 bit.
    pub const fn boolean(&self, value: bool) -> ExprId {
        if value { ExprId::TRUE } else { ExprId::FALSE }
    }
    /// 0 at any width.
    pub fn zero(&mut self, width: Width) -> ExprId {
        self.wide(width, &[])
    }
    /// A small number at any width.
    pub fn number(&mut self, width: Width, value: u64) -> ExprId {
        self.wide(width, &[value])
    }
    /// All ones at any width.
    pub fn ones(&mut self, width: Width) -> ExprId {
        self.wide(width, &vec![u64::MAX; limbs_for(width)])
    }
    /// Only the top bit.
    pub fn signed_min(&mut self, width: Width) -> ExprId {
        let mut limbs = vec![0; limbs_for(width)];
        limbs[((width - 1) / 64) as usize] = 1 << ((width - 1) % 64);
        self.wide(width, &limbs)
    }
    /// Is it 0?
    pub fn is_zero(&mut self, a: ExprId) -> ExprId {
        let zero = self.zero(self.width(a));
        self.eq(a, zero)
    }
    /// The top bit.
    pub fn sign_bit(&mut self, a: ExprId) -> ExprId {
        self.extract(a, self.width(a) - 1, 1)
    }
    /// The low `width` bits.
    pub fn trunc(&mut self, a: ExprId, width: Width) -> ExprId {
        self.extract(a, 0, width)
    }
    /// Byte `i`, counted from the low end, of a value of at least `8 * i + 8` bits.
    pub fn byte(&mut self, a: ExprId, i: u32) -> ExprId {
        self.extract(a, 8 * i, 8)
    }
    /// The value whose parts are given from the low end up (bytes as they lie in memory); at least one part.
    pub fn concat_all(&mut self, parts: &[ExprId]) -> ExprId {
        let (&low, rest) = parts.split_first().expect("`concat_all` of at least one part");
        rest.iter().fold(low, |value, &part| self.concat(part, value))
    }

    pub fn ne(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let equal = self.eq(a, b);
        self.not(equal)
    }
    pub fn ugt(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.ult(b, a)
    }
    pub fn uge(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.ule(b, a)
    }
    pub fn sgt(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.slt(b, a)
    }
    pub fn sge(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.sle(b, a)
    }
    /// 1 bit: `a => b`.
    pub fn implies(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let not_a = self.not(a);
        self.or(not_a, b)
    }
    /// SMT-LIB's `bvcomp`: equality, as 1 bit, which all our truth values are.
    pub fn comp(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.eq(a, b)
    }
    pub fn nand(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let both = self.and(a, b);
        self.not(both)
    }
    pub fn nor(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let either = self.or(a, b);
        self.not(either)
    }
    pub fn xnor(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let differ = self.xor(a, b);
        self.not(differ)
    }

    /// Remainder with the sign of the divisor; by zero: the dividend.
    pub fn smod(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let rest = self.srem(a, b);
        let (sign_a, sign_b) = (self.sign_bit(a), self.sign_bit(b));
        let signs_differ = self.xor(sign_a, sign_b);
        let exact = self.is_zero(rest);
        let inexact = self.not(exact);
        let shift = self.and(signs_differ, inexact);
        let shifted = self.add(rest, b);
        self.ite(shift, shifted, rest)
    }

    /// `a` copied `times` (at least once) over.
    pub fn repeat(&mut self, a: ExprId, times: u32) -> ExprId {
        assert!(times >= 1, "`repeat` of 0 times has no width");
        (1..times).fold(a, |value, _| self.concat(a, value))
    }
    /// Rotated by a number of bits, taken modulo the width.
    pub fn rotate_left(&mut self, a: ExprId, by: u32) -> ExprId {
        let width = self.width(a);
        let by = by % width;
        if by == 0 {
            return a;
        }
        let (hi, lo) = (self.extract(a, 0, width - by), self.extract(a, width - by, by));
        self.concat(hi, lo)
    }
    /// Rotated by a number of bits, taken modulo the width.
    pub fn rotate_right(&mut self, a: ExprId, by: u32) -> ExprId {
        let width = self.width(a);
        self.rotate_left(a, width - by % width)
    }
    /// Rotated by an expression, taken modulo the width.
    pub fn rotl(&mut self, a: ExprId, by: ExprId) -> ExprId {
        self.fshl(a, a, by)
    }
    /// Rotated by an expression, taken modulo the width.
    pub fn rotr(&mut self, a: ExprId, by: ExprId) -> ExprId {
        self.fshr(a, a, by)
    }
    /// Funnel shift: the high half of `a ++ b` shifted left by `c` modulo the width.
    pub fn fshl(&mut self, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        let (by, rest) = self.shares(c);
        let (high, low) = (self.shl(a, by), self.lshr(b, rest));
        self.or(high, low)
    }
    /// Funnel shift: the low half of `a ++ b` shifted right by `c` modulo the width.
    pub fn fshr(&mut self, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        let (by, rest) = self.shares(c);
        let (high, low) = (self.shl(a, rest), self.lshr(b, by));
        self.or(high, low)
    }
    /// `c` modulo the width, and what is left of the width (which every width can hold, and which shifts everything out).
    fn shares(&mut self, c: ExprId) -> (ExprId, ExprId) {
        let width = self.number(self.width(c), u64::from(self.width(c)));
        let by = self.urem(c, width);
        (by, self.sub(width, by))
    }

    /// Byte order reversed; the width is a multiple of 8.
    pub fn bswap(&mut self, a: ExprId) -> ExprId {
        self.reversed(a, 8)
    }
    /// Bit order reversed.
    pub fn bitreverse(&mut self, a: ExprId) -> ExprId {
        self.reversed(a, 1)
    }
    fn reversed(&mut self, a: ExprId, unit: Width) -> ExprId {
        assert!(self.width(a).is_multiple_of(unit), "{} bits are not whole units of {unit}", self.width(a));
        let units = self.width(a) / unit;
        let parts: Vec<ExprId> = (0..units).rev().map(|i| self.extract(a, unit * i, unit)).collect();
        self.concat_all(&parts)
    }

    /// How many bits are 1.
    pub fn ctpop(&mut self, a: ExprId) -> ExprId {
        let width = self.width(a);
        if width == 1 {
            return a;
        }
        if let Some(value) = self.as_plain(a) {
            return self.number(width, value.count_ones().into());
        }
        // A balanced tree of sums keeps the depth logarithmic.
        let mut sums: Vec<ExprId> = (0..width)
            .map(|i| {
                let bit = self.extract(a, i, 1);
                self.zext(bit, width)
            })
            .collect();
        while sums.len() > 1 {
            sums = sums.chunks(2).map(|pair| if let [x, y] = *pair { self.add(x, y) } else { pair[0] }).collect();
        }
        sums[0]
    }
    /// How many bits above the highest 1 are 0; of 0: the width (modulo 2^width, at widths 1 and 2 too).
    pub fn ctlz(&mut self, a: ExprId) -> ExprId {
        self.zeros_before_one(a, |i, width| width - 1 - i)
    }
    /// How many bits below the lowest 1 are 0; of 0: the width (modulo 2^width).
    pub fn cttz(&mut self, a: ExprId) -> ExprId {
        self.zeros_before_one(a, |i, _| i)
    }
    fn zeros_before_one(&mut self, a: ExprId, place: fn(Width, Width) -> Width) -> ExprId {
        let width = self.width(a);
        if let Some(value) = self.as_plain(a) {
            let first = (0..width).find(|&i| value >> place(i, width) & 1 != 0);
            return self.number(width, first.unwrap_or(width).into());
        }
        (0..width).rev().fold(self.number_mod(width), |count, i| {
            let (bit, here) = (self.extract(a, place(i, width), 1), self.number(width, u64::from(i)));
            self.ite(bit, here, count)
        })
    }
    /// The width as a value of that width.
    fn number_mod(&mut self, width: Width) -> ExprId {
        self.number(width, u64::from(width))
    }

    /// Does the unsigned sum exceed the width?
    pub fn uadd_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let sum = self.add(a, b);
        self.ult(sum, a)
    }
    /// Does the signed sum leave the width?
    pub fn sadd_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let sum = self.add(a, b);
        self.sign_changes(a, b, sum)
    }
    /// Is `a - b` below 0, unsigned?
    pub fn usub_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.ult(a, b)
    }
    /// Does the signed difference leave the width?
    pub fn ssub_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let difference = self.sub(a, b);
        let not_b = self.not(b);
        self.sign_changes(a, not_b, difference)
    }
    /// Do `a` and `b` have one sign and `result` the other?
    fn sign_changes(&mut self, a: ExprId, b: ExprId, result: ExprId) -> ExprId {
        let (from_a, from_b) = (self.xor(a, result), self.xor(b, result));
        let both = self.and(from_a, from_b);
        self.sign_bit(both)
    }
    /// Does the unsigned product exceed the width?
    pub fn umul_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        if width > MAX_WIDTH / 2 {
            let product = self.mul(a, b);
            let back = self.udiv(product, a);
            return self.differs_unless_zero(a, back, b);
        }
        let (a, b) = (self.zext(a, 2 * width), self.zext(b, 2 * width));
        let product = self.mul(a, b);
        let high = self.extract(product, width, width);
        let fits = self.is_zero(high);
        self.not(fits)
    }
    /// Does the signed product leave the width?
    pub fn smul_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        if width > MAX_WIDTH / 2 {
            let product = self.mul(a, b);
            let back = self.sdiv(product, a);
            let (wrong, wraps) = (self.differs_unless_zero(a, back, b), self.sdiv_overflow(b, a));
            return self.or(wrong, wraps);
        }
        let (a, b) = (self.sext(a, 2 * width), self.sext(b, 2 * width));
        let product = self.mul(a, b);
        let low = self.extract(product, 0, width);
        let low = self.sext(low, 2 * width);
        self.ne(low, product)
    }
    /// `a != 0 & x != y`
    fn differs_unless_zero(&mut self, a: ExprId, x: ExprId, y: ExprId) -> ExprId {
        let (zero, differ) = (self.is_zero(a), self.ne(x, y));
        let nonzero = self.not(zero);
        self.and(nonzero, differ)
    }
    /// Is it MIN / -1?
    pub fn sdiv_overflow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let (min, ones) = (self.signed_min(self.width(a)), self.ones(self.width(a)));
        let (is_min, is_ones) = (self.eq(a, min), self.eq(b, ones));
        self.and(is_min, is_ones)
    }
    /// Is it MIN?
    pub fn neg_overflow(&mut self, a: ExprId) -> ExprId {
        let min = self.signed_min(self.width(a));
        self.eq(a, min)
    }
}
