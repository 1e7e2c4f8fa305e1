//! Quotients and remainders that a compiler computes by products.
//!
//! Machine code divides `x` by a constant `d` as `(x * k) >> s`, where `k` is `2^s / d`, rounded up (H. S. Warren: "Hacker's Delight", chapter 10). As
//! a division, a remainder has bounds, and the solver need not find out about the product. A product is a quotient only where that holds for each `x`.

use super::law;
use crate::node::{ExprId, Kind, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// How many sums and shifts a multiple of a quotient is looked for through.
const LEVELS: u32 = 4;

/// `x * k`, which does not wrap.
struct Product {
    x: ExprId,
    k: u128,
    signed: bool,
}

/// A quotient `x / d`, extended by zeros, times `k`.
struct Multiple {
    quotient: ExprId,
    k: u64,
}

impl Pool {
    /// The product of an extended value and a constant, as a whole number.
    fn as_product(&self, e: ExprId) -> Option<Product> {
        let Kind::Mul(a, k) = self.kind(e) else { return None };
        let (x, signed) = match self.kind(a) {
            Kind::Zext(x) => (x, false),
            Kind::Sext(x) => (x, true),
            _ => return None,
        };
        let k = self.as_u128(k)?;
        let bits = 128 - k.leading_zeros();
        (self.width(x) <= 64 && bits + self.width(x) <= self.width(e)).then_some(Product { x, k, signed })
    }

    /// The divisor `d` of which `x * k >> shift` is the quotient for all `x` of this width: without a sign, or with one and rounded down.
    fn divisor(k: u128, shift: Width, width: Width, signed: bool) -> Option<u64> {
        let bits = if signed { width - 1 } else { width };
        let power = 1u128.checked_shl(shift).filter(|_| shift < 127 && k > 1)?;
        let d = power.div_ceil(k);
        // By so much the reciprocal is too large, in units of `2^-shift / d`.
        let above = k.checked_mul(d)? - power;
        let exact = above > 0 && above.leading_zeros() >= bits && above << bits <= power;
        (exact && d > 1 && bits <= 64 && d < 1 << bits).then_some(d as u64)
    }

    /// `x / d`, rounded down, of the width of `x`.
    fn rounded_down(&mut self, x: ExprId, d: u64, signed: bool) -> ExprId {
        let width = self.width(x);
        let d = self.bits(width, d);
        if !signed {
            return self.udiv(x, d);
        }
        let (quotient, sign) = (self.sdiv(x, d), self.sign_bit(x));
        let below = self.sext(sign, width);
        self.add(quotient, below)
    }

    /// Part of a product, or of a sum, that is a quotient.
    pub(super) fn extract_quotient(&mut self, a: ExprId, lo: Width, width: Width) -> Option<ExprId> {
        if let Kind::Add(x, y) = self.kind(a) {
            return self.extract_long_quotient(x, y, lo, width).or_else(|| self.extract_long_quotient(y, x, lo, width));
        }
        let Product { x, k, signed } = self.as_product(a)?;
        if signed && lo + 1 == self.width(a) && k > 0 {
            return law!("(sext(x) * k)[sign] => x < 0, k positive", self.sign_bit(x));
        }
        let from = self.width(x);
        // A signed part that is too short for `x` is seen where its sign is extended.
        if signed && width < from {
            return None;
        }
        let d = Pool::divisor(k, lo, from, signed)?;
        law!("(x * k)[high] => x / d, k being its reciprocal", {
            let quotient = self.rounded_down(x, d, signed);
            match (width < from, signed) {
                (true, _) => self.extract(quotient, 0, width),
                (false, false) => self.zext(quotient, width),
                (false, true) => self.sext(quotient, width),
            }
        })
    }

    /// `(((x - h) >> 1) + h) >> lo` with `h = x * k >> n`, where the reciprocal has one bit more than the `n` of `x`.
    fn extract_long_quotient(&mut self, half: ExprId, h: ExprId, lo: Width, width: Width) -> Option<ExprId> {
        let Kind::Zext(half) = self.kind(half) else { return None };
        let Kind::Extract(difference, 1) = self.kind(half) else { return None };
        let Kind::Sub(x, same) = self.kind(difference) else { return None };
        let Kind::Extract(product, at) = self.kind(h) else { return None };
        let n = self.width(x);
        let found = self.as_product(product).filter(|product| product.x == x && !product.signed && at == n && same == h)?;
        if found.k >> n != 0 || self.width(half) + 1 != n {
            return None;
        }
        let d = Pool::divisor(found.k + (1 << n), n + 1 + lo, n, false)?;
        law!("(((x - h) >>u 1) + h)[high] => x udiv d, h being x * k", {
            let quotient = self.rounded_down(x, d, false);
            self.extract(quotient, 0, width)
        })
    }

    /// `sext((sext(x) * k)[high])` that is a quotient.
    pub(super) fn sext_quotient(&mut self, a: ExprId, width: Width) -> Option<ExprId> {
        let Kind::Extract(product, lo) = self.kind(a) else { return None };
        let Product { x, k, signed: true } = self.as_product(product)? else { return None };
        let from = self.width(x);
        if lo + self.width(a) != self.width(product) || width < from {
            return None;
        }
        let d = Pool::divisor(k, lo, from, true)?;
        law!("sext((sext(x) * k)[high]) => x / d, k being its reciprocal", {
            let quotient = self.rounded_down(x, d, true);
            self.sext(quotient, width)
        })
    }

    /// `(x + sext(c)) + zext(c)`: a quotient that was rounded down is rounded towards zero.
    pub(super) fn add_undone_sign(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let (Kind::Add(x, y), Kind::Zext(c)) = (self.kind(a), self.kind(b)) else { return None };
        let undone = |e: ExprId| self.kind(e) == Kind::Sext(c) && self.width(c) == 1;
        let rest = if undone(x) { y } else { Some(x).filter(|_| undone(y))? };
        law!("(x + sext(c)) + zext(c), c of 1 bit => x", rest)
    }

    /// `(sext(x) * k)[n bits from n] + x`: the reciprocal has one bit more than the `n` of `x`.
    pub(super) fn add_to_product(&mut self, part: ExprId, x: ExprId) -> Option<ExprId> {
        let Kind::Extract(product, lo) = self.kind(part) else { return None };
        let Kind::Mul(long, k) = self.kind(product) else { return None };
        let n = self.width(x);
        if self.kind(long) != Kind::Sext(x) || lo != n || self.width(product) != 2 * n || n > 64 {
            return None;
        }
        let k = self.as_u128(k)?;
        law!("(sext(x) * k)[n..2n] + x => (sext(x) * (k + 2^n))[n..2n]", {
            let k = k.wrapping_add(1 << n) & (u128::MAX >> (128 - 2 * n));
            let k = self.wide(2 * n, &[k as u64, (k >> 64) as u64][..(2 * n).div_ceil(64) as usize]);
            let product = self.mul(long, k);
            self.extract(product, n, n)
        })
    }

    /// A multiple of a quotient by a constant, where it is that of at most 64 bits.
    fn as_multiple(&self, e: ExprId, levels: u32) -> Option<Multiple> {
        let levels = levels.checked_sub(1)?;
        match self.kind(e) {
            Kind::Udiv(..) | Kind::Sdiv(..) => Some(Multiple { quotient: e, k: 1 }),
            Kind::Zext(x) if matches!(self.kind(x), Kind::Udiv(..)) => Some(Multiple { quotient: x, k: 1 }),
            Kind::Mul(x, k) => {
                let (of, k) = (self.as_multiple(x, levels)?, self.as_u64(k)?);
                Some(Multiple { k: of.k.wrapping_mul(k), ..of })
            }
            // `x << n`
            Kind::Concat(x, zeros) if self.is_zero_const(zeros) => {
                let Kind::Extract(whole, 0) = self.kind(x) else { return None };
                let n = self.width(zeros);
                let of = self.as_multiple(whole, levels).filter(|_| self.width(whole) == self.width(e) && n < 64)?;
                Some(Multiple { k: of.k.wrapping_shl(n), ..of })
            }
            Kind::Add(x, y) | Kind::Sub(x, y) => {
                let (x, y) = (self.as_multiple(x, levels)?, self.as_multiple(y, levels)?);
                let k = if matches!(self.kind(e), Kind::Add(..)) { x.k.wrapping_add(y.k) } else { x.k.wrapping_sub(y.k) };
                (x.quotient == y.quotient).then_some(Multiple { k, ..x })
            }
            Kind::Neg(x) => self.as_multiple(x, levels).map(|of| Multiple { k: of.k.wrapping_neg(), ..of }),
            _ => None,
        }
    }

    /// `a + b` where `b` is the remainder of the division that `a` is a multiple of.
    pub(super) fn add_remainder(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let bare = if let Kind::Zext(x) = self.kind(b) { x } else { b };
        let (x, d, signed) = match self.kind(bare) {
            Kind::Urem(x, d) => (x, d, false),
            Kind::Srem(x, d) if bare == b => (x, d, true),
            _ => return None,
        };
        let of = self.as_multiple(a, LEVELS).filter(|_| width <= 64)?;
        let same = match self.kind(of.quotient) {
            Kind::Udiv(y, e) => !signed && (x, d) == (y, e),
            Kind::Sdiv(y, e) => signed && (x, d) == (y, e),
            _ => false,
        };
        if !same || of.k & mask(width) != self.as_u64(d)? {
            return None;
        }
        law!("(x / d) * d + x rem d => x", self.zext(x, width))
    }

    /// `a - b`, or `a + b` if it is a `sum`, that is a remainder of `a`.
    pub(super) fn simplify_remainder(&mut self, a: ExprId, b: ExprId, sum: bool) -> Option<ExprId> {
        let width = self.width(a);
        if width > 64 || !matches!(self.kind(b), Kind::Mul(..) | Kind::Concat(..) | Kind::Add(..) | Kind::Sub(..) | Kind::Neg(_)) {
            return None;
        }
        let of = self.as_multiple(b, LEVELS)?;
        let k = if sum { of.k.wrapping_neg() } else { of.k } & mask(width);
        let (dividend, divisor, signed) = match self.kind(of.quotient) {
            Kind::Udiv(x, d) => (x, self.as_u64(d)?, false),
            Kind::Sdiv(x, d) => (x, self.as_u64(d)?, true),
            _ => return None,
        };
        let bare = match self.kind(a) {
            Kind::Zext(x) if !signed && self.width(x) == self.width(dividend) => x,
            _ if width == self.width(dividend) => a,
            _ => return None,
        };
        // A quotient of a quotient is one quotient.
        let is_remainder = match self.kind(bare) {
            _ if bare == dividend => k == divisor,
            Kind::Udiv(x, d) if !signed && x == dividend => self.as_u64(d)?.checked_mul(k) == Some(divisor),
            _ => false,
        };
        if !is_remainder || k > mask(self.width(bare)) {
            return None;
        }
        let k = self.number(self.width(bare), k);
        law!("x - (x / d) * d => x rem d, also of a quotient x", {
            let remainder = if signed { self.srem(bare, k) } else { self.urem(bare, k) };
            self.zext(remainder, width)
        })
    }
}
