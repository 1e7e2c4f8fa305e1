//! What the integer operators mean, as pure functions: the one place the interpreter and the engine both ask.
//!
//! [`narrow`] is for widths 1 to 64, on one `u64` each, bits above the width 0 (in and out); it is inlined, so a call with a
//! constant operator costs that operator. [`wide`] is for any width, on limb slices, lowest first; slow and plain, with a
//! `u128` short cut for two limbs. SMT-LIB's bit-vector semantics except where the operator's table says otherwise; division
//! by zero and the like are a [`Trap`], never a value.

use crate::inst::{Op, limbs};

/// Why an integer operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Division or remainder by zero.
    DivisionByZero,
    /// Signed MIN / -1 or MIN % -1.
    DivisionOverflow,
    /// A shift that its language leaves undefined, by at least the width.
    ShiftTooFar,
    /// The operator is not one of this file's: the caller's table is wrong.
    NotInteger,
}

/// All `width` low bits set; `width` is 1 to 64.
#[inline(always)]
pub fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The `width` low bits of `v` as a signed number; `width` is 1 to 64.
#[inline(always)]
pub fn signed(width: u32, v: u64) -> i64 {
    ((v << (64 - width)) as i64) >> (64 - width)
}

/// The integer operators at 1 to 64 bits. `c` is the third slot's value (funnel shifts, select) or the raw field (shifts).
#[inline(always)]
#[rustfmt::skip]
pub fn narrow(op: Op, width: u32, a: u64, b: u64, c: u64) -> Result<u64, Trap> {
    let m = mask(width);
    let s = |v| signed(width, v);
    let min = 1u64 << (width - 1);
    Ok(match op {
        Op::Copy | Op::Anchor => a,
        Op::Add => a.wrapping_add(b) & m,
        Op::Sub => a.wrapping_sub(b) & m,
        Op::Mul => a.wrapping_mul(b) & m,
        Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem if b == 0 => return Err(Trap::DivisionByZero),
        Op::Sdiv | Op::Srem if a == min && b == m => return Err(Trap::DivisionOverflow),
        Op::Udiv => a / b,
        Op::Urem => a % b,
        Op::Sdiv => (s(a) / s(b)) as u64 & m,
        Op::Srem => (s(a) % s(b)) as u64 & m,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl | Op::Lshr | Op::Ashr if b >= u64::from(width) && c == 1 => return Err(Trap::ShiftTooFar),
        Op::Shl => if b < u64::from(width) { (a << b) & m } else { 0 },
        Op::Lshr => if b < u64::from(width) { a >> b } else { 0 },
        Op::Ashr => (s(a) >> b.min(u64::from(width) - 1)) as u64 & m,
        Op::Fshl | Op::Fshr => {
            let w = u64::from(width);
            match (op, c % w) {
                (Op::Fshl, 0) => a,
                (_, 0) => b,
                (Op::Fshl, n) => ((a << n) | (b >> (w - n))) & m,
                (_, n) => ((a << (w - n)) | (b >> n)) & m,
            }
        }
        Op::Eq => u64::from(a == b),
        Op::Ne => u64::from(a != b),
        Op::Ult => u64::from(a < b),
        Op::Ule => u64::from(a <= b),
        Op::Slt => u64::from(s(a) < s(b)),
        Op::Sle => u64::from(s(a) <= s(b)),
        Op::UaddOverflow => u64::from(u128::from(a) + u128::from(b) > u128::from(m)),
        Op::UsubOverflow => u64::from(a < b),
        Op::UmulOverflow => u64::from(u128::from(a) * u128::from(b) > u128::from(m)),
        Op::SaddOverflow => u64::from(!fits(width, i128::from(s(a)) + i128::from(s(b)))),
        Op::SsubOverflow => u64::from(!fits(width, i128::from(s(a)) - i128::from(s(b)))),
        Op::SmulOverflow => u64::from(!fits(width, i128::from(s(a)) * i128::from(s(b)))),
        Op::Select => if a != 0 { b } else { c },
        Op::Bswap => a.swap_bytes() >> (64 - width),
        Op::Bitreverse => a.reverse_bits() >> (64 - width),
        Op::Ctpop => u64::from(a.count_ones()),
        Op::Ctlz => u64::from(a.leading_zeros() - (64 - width)),
        Op::Cttz => u64::from(a.trailing_zeros().min(width)),
        // `a` base, `b` count, `c` scale.
        Op::PtrAdd => a.wrapping_add(b.wrapping_mul(c)),
        _ => return Err(Trap::NotInteger),
    })
}

fn fits(width: u32, v: i128) -> bool {
    let half = 1i128 << (width - 1);
    (-half..half).contains(&v)
}

/// `a`, of `from` bits, sign-extended to `to`; both 1 to 64.
#[inline(always)]
pub fn sext(from: u32, to: u32, a: u64) -> u64 {
    signed(from, a) as u64 & mask(to)
}

/// Clears the bits of the top limb above `width`.
pub fn trim(width: u32, v: &mut [u64]) {
    if let (Some(top), 1..) = (v.last_mut(), width % 64) {
        *top &= mask(width % 64);
    }
}

/// Bit `i` of `v`; 0 beyond it.
pub fn bit(v: &[u64], i: u32) -> bool {
    v.get((i / 64) as usize).is_some_and(|limb| limb >> (i % 64) & 1 == 1)
}

/// The integer operators at any width, on limbs. `dst` has the result's limbs ([`result_limbs`]) and overlaps no operand.
/// `c` is the third operand's limbs (funnel shifts, select) or one limb with the raw field (shifts).
pub fn wide(op: Op, width: u32, dst: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) -> Result<(), Trap> {
    dst.fill(0);
    let n = limbs(width) as usize;
    let neg = |v: &[u64]| bit(v, width - 1);
    let raw_c = c.first().copied().unwrap_or(0);
    match op {
        Op::Copy => dst.copy_from_slice(a),
        Op::Add => _ = add(dst, a, b, false),
        Op::Sub => _ = sub(dst, a, b),
        Op::Mul => mul(dst, a, b),
        Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => divide(op, width, dst, a, b)?,
        Op::And => zip(dst, a, b, |x, y| x & y),
        Op::Or => zip(dst, a, b, |x, y| x | y),
        Op::Xor => zip(dst, a, b, |x, y| x ^ y),
        Op::Shl | Op::Lshr | Op::Ashr => {
            let far = b[1..].iter().any(|&l| l != 0) || b[0] >= u64::from(width);
            match op {
                _ if far && raw_c == 1 => return Err(Trap::ShiftTooFar),
                Op::Ashr if neg(a) => {
                    shr(dst, a, if far { width } else { b[0] as u32 });
                    fill_ones(dst, if far { 0 } else { width - b[0] as u32 });
                }
                _ if far => {}
                Op::Shl => shl(dst, a, b[0] as u32),
                _ => shr(dst, a, b[0] as u32),
            }
        }
        Op::Fshl | Op::Fshr => funnel(op, width, dst, a, b, c),
        Op::Eq => dst[0] = u64::from(a == b),
        Op::Ne => dst[0] = u64::from(a != b),
        Op::Ult => dst[0] = u64::from(less(a, b)),
        Op::Ule => dst[0] = u64::from(!less(b, a)),
        Op::Slt => dst[0] = u64::from(if neg(a) == neg(b) { less(a, b) } else { neg(a) }),
        Op::Sle => dst[0] = u64::from(if neg(a) == neg(b) { !less(b, a) } else { neg(a) }),
        Op::UaddOverflow | Op::SaddOverflow | Op::UsubOverflow | Op::SsubOverflow => {
            let mut sum = vec![0; n + 1];
            let (a, b) = (extended(op, width, a), extended(op, width, b));
            match op {
                Op::UaddOverflow | Op::SaddOverflow => _ = add(&mut sum, &a, &b, false),
                _ => _ = sub(&mut sum, &a, &b),
            }
            dst[0] = u64::from(extended(op, width, &cut(width, &sum)) != sum);
        }
        Op::UmulOverflow | Op::SmulOverflow => {
            let twice = |v: &[u64]| {
                let mut v = extended(op, width, v);
                let sign = v[n];
                v.resize(2 * n + 1, sign);
                v
            };
            let mut product = vec![0; 2 * n + 1];
            mul(&mut product, &twice(a), &twice(b));
            dst[0] = u64::from(twice(&cut(width, &product)) != product);
        }
        Op::Select => dst.copy_from_slice(if a[0] != 0 { b } else { c }),
        Op::Bswap => (0..width / 8).for_each(|i| put(dst, (width / 8 - 1 - i) * 8, (a[(i / 8) as usize] >> (i % 8 * 8)) & 0xff)),
        Op::Bitreverse => (0..width).for_each(|i| put(dst, width - 1 - i, u64::from(bit(a, i)))),
        Op::Ctpop => dst[0] = a.iter().map(|l| u64::from(l.count_ones())).sum(),
        Op::Ctlz => dst[0] = u64::from((0..width).rev().take_while(|&i| !bit(a, i)).count() as u32),
        Op::Cttz => dst[0] = u64::from((0..width).take_while(|&i| !bit(a, i)).count() as u32),
        _ => return Err(Trap::NotInteger),
    }
    if dst.len() == n {
        trim(width, dst);
    }
    Ok(())
}

/// `dst` = bits [low, low + width) of `a`, zero beyond `a`'s end; `dst` has `limbs(width)` limbs. Zext, Trunc and Extract.
pub fn extract(width: u32, dst: &mut [u64], a: &[u64], low: u32) {
    shr(dst, a, low);
    trim(width, dst);
}

/// `dst` = `a`, of `from` bits, sign-extended to `width`.
pub fn sext_wide(from: u32, width: u32, dst: &mut [u64], a: &[u64]) {
    extract(width, dst, a, 0);
    if bit(a, from - 1) {
        fill_ones(dst, from);
        trim(width, dst);
    }
}

/// `dst` = `high` above `low`, which has `low_width` bits; the result has `width`.
pub fn concat(width: u32, dst: &mut [u64], high: &[u64], low: &[u64], low_width: u32) {
    shl(dst, high, low_width);
    for (d, l) in dst.iter_mut().zip(low) {
        *d |= l;
    }
    trim(width, dst);
}

fn zip(dst: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((d, &x), &y) in dst.iter_mut().zip(a).zip(b) {
        *d = f(x, y);
    }
}

/// dst = a + b + carry; returns the carry out.
fn add(dst: &mut [u64], a: &[u64], b: &[u64], mut carry: bool) -> bool {
    for ((d, &x), &y) in dst.iter_mut().zip(a).zip(b) {
        let (sum, c1) = x.overflowing_add(y);
        let (sum, c2) = sum.overflowing_add(u64::from(carry));
        (*d, carry) = (sum, c1 | c2);
    }
    carry
}

/// dst = a - b; returns whether there was no borrow.
fn sub(dst: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    let not_b: Vec<u64> = b.iter().map(|l| !l).collect();
    add(dst, a, &not_b, true)
}

/// dst = a * b, cut to dst's limbs; dst is 0 before.
fn mul(dst: &mut [u64], a: &[u64], b: &[u64]) {
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u128;
        let at = i.min(dst.len());
        for (d, &y) in dst[at..].iter_mut().zip(b) {
            carry += u128::from(*d) + u128::from(x) * u128::from(y);
            *d = carry as u64;
            carry >>= 64;
        }
        if let Some(d) = dst.get_mut(i + b.len()) {
            *d = carry as u64;
        }
    }
}

fn less(a: &[u64], b: &[u64]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

fn shl(dst: &mut [u64], a: &[u64], n: u32) {
    for (limb, at) in dst.iter_mut().zip((0i64..).step_by(64)) {
        *limb = window(a, at - i64::from(n));
    }
}

fn shr(dst: &mut [u64], a: &[u64], n: u32) {
    for (limb, at) in dst.iter_mut().zip((0i64..).step_by(64)) {
        *limb = window(a, at + i64::from(n));
    }
}

/// Bits [from, from + 64) of `a`, 0 outside it.
fn window(a: &[u64], from: i64) -> u64 {
    let limb = |i: i64| usize::try_from(i).ok().and_then(|i| a.get(i)).copied().unwrap_or(0);
    let (i, n) = (from.div_euclid(64), from.rem_euclid(64));
    if n == 0 { limb(i) } else { limb(i) >> n | limb(i + 1) << (64 - n) }
}

fn fill_ones(dst: &mut [u64], from: u32) {
    for (i, d) in dst.iter_mut().enumerate() {
        *d |= match from.saturating_sub(i as u32 * 64) {
            0 => u64::MAX,
            n @ 1..64 => u64::MAX << n,
            _ => 0,
        };
    }
}

/// Ors `v` in at bit `at`; the bits there lie in one limb.
fn put(dst: &mut [u64], at: u32, v: u64) {
    dst[(at / 64) as usize] |= v << (at % 64);
}

fn cut(width: u32, v: &[u64]) -> Vec<u64> {
    let mut v = v[..limbs(width) as usize].to_vec();
    trim(width, &mut v);
    v
}

/// `v` in one limb more, extended as the overflow operator's sign has it.
fn extended(op: Op, width: u32, v: &[u64]) -> Vec<u64> {
    let mut out = v.to_vec();
    out.push(0);
    if matches!(op, Op::SaddOverflow | Op::SsubOverflow | Op::SmulOverflow) && bit(v, width - 1) {
        fill_ones(&mut out, width);
    }
    out
}

fn funnel(op: Op, width: u32, dst: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) {
    let by = c.iter().rev().fold(0u128, |rest, &l| ((rest << 64) | u128::from(l)) % u128::from(width)) as u32;
    let (mut high, mut low) = (vec![0; dst.len()], vec![0; dst.len()]);
    match op {
        Op::Fshl => {
            shl(&mut high, a, by);
            shr(&mut low, b, width - by);
        }
        _ => {
            shl(&mut high, a, width - by);
            shr(&mut low, b, by);
        }
    }
    zip(dst, &high, &low, |x, y| x | y);
}

fn divide(op: Op, width: u32, dst: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), Trap> {
    if b.iter().all(|&l| l == 0) {
        return Err(Trap::DivisionByZero);
    }
    let is_signed = matches!(op, Op::Sdiv | Op::Srem);
    let (neg_a, neg_b) = (is_signed && bit(a, width - 1), is_signed && bit(b, width - 1));
    let negated = |negate: bool, v: &[u64]| {
        let mut out = v.to_vec();
        if negate {
            sub(&mut out, &vec![0; v.len()], v);
            trim(width, &mut out);
        }
        out
    };
    let (x, y) = (negated(neg_a, a), negated(neg_b, b));
    if neg_a && neg_b && x == a && y[0] == 1 && y[1..].iter().all(|&l| l == 0) {
        return Err(Trap::DivisionOverflow);
    }
    let (quotient, rest) = divide_unsigned(width, &x, &y);
    let result = match op {
        Op::Udiv | Op::Sdiv => negated(neg_a != neg_b, &quotient),
        _ => negated(neg_a, &rest),
    };
    dst.copy_from_slice(&result);
    Ok(())
}

/// (a / b, a % b): one subtraction per bit, except at two limbs.
fn divide_unsigned(width: u32, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let n = a.len();
    if let (&[a0, a1], &[b0, b1]) = (a, b) {
        let (a, b) = (u128::from(a1) << 64 | u128::from(a0), u128::from(b1) << 64 | u128::from(b0));
        let two = |v: u128| vec![v as u64, (v >> 64) as u64];
        return (two(a / b), two(a % b));
    }
    let (mut quotient, mut rest, mut next) = (vec![0; n], vec![0; n + 1], vec![0; n + 1]);
    let divisor = [b, &[0]].concat();
    for i in (0..width).rev() {
        shl(&mut next, &rest, 1);
        next[0] |= u64::from(bit(a, i));
        if sub(&mut rest, &next, &divisor) {
            put(&mut quotient, i, 1);
        } else {
            rest.copy_from_slice(&next);
        }
    }
    rest.truncate(n);
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }
    /// A number with interesting corners: few bits, all bits, or any.
    fn number(seed: &mut u64) -> u64 {
        let r = rng(seed);
        match r % 6 {
            0 => r >> 60,
            1 => u64::MAX - (r >> 60),
            2 => 1 << (r >> 58),
            3 => u64::MAX >> (r >> 58),
            _ => rng(seed),
        }
    }

    const BOTH: &[Op] = &[
        Op::Copy,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Udiv,
        Op::Sdiv,
        Op::Urem,
        Op::Srem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Lshr,
        Op::Ashr,
        Op::Fshl,
        Op::Fshr,
        Op::Eq,
        Op::Ne,
        Op::Ult,
        Op::Ule,
        Op::Slt,
        Op::Sle,
        Op::UaddOverflow,
        Op::SaddOverflow,
        Op::UsubOverflow,
        Op::SsubOverflow,
        Op::UmulOverflow,
        Op::SmulOverflow,
        Op::Select,
        Op::Bswap,
        Op::Bitreverse,
        Op::Ctpop,
        Op::Ctlz,
        Op::Cttz,
    ];

    #[test]
    fn wide_at_one_limb_is_narrow() {
        let seed = &mut 1;
        for round in 0..200_000u32 {
            let op = BOTH[round as usize % BOTH.len()];
            let width = if op == Op::Bswap { 8 + round / 7 % 8 * 8 } else { 1 + round / 7 % 64 };
            let m = mask(width);
            let (mut a, b, mut c) = (number(seed) & m, number(seed) & m, number(seed) & m);
            match op {
                Op::Shl | Op::Lshr | Op::Ashr => c = 0,
                Op::Select => a &= 1,
                _ => {}
            }
            let mut dst = [0];
            let wide = wide(op, width, &mut dst, &[a], &[b], &[c]).map(|()| dst[0]);
            assert_eq!(wide, narrow(op, width, a, b, c), "{op:?} {width} {a:#x} {b:#x} {c:#x}");
        }
    }

    /// The oracle at 65 to 128 bits: the machine's `u128`.
    fn by_u128(op: Op, w: u32, a: u128, b: u128) -> Option<u128> {
        let m = u128::MAX >> (128 - w);
        let s = |v: u128| ((v << (128 - w)) as i128) >> (128 - w);
        let far = b >= u128::from(w);
        Some(match op {
            Op::Add => a.wrapping_add(b) & m,
            Op::Sub => a.wrapping_sub(b) & m,
            Op::Mul => a.wrapping_mul(b) & m,
            Op::Udiv => a.checked_div(b)?,
            Op::Urem => a.checked_rem(b)?,
            Op::Sdiv | Op::Srem if b == m && a == 1 << (w - 1) => return None,
            Op::Sdiv => s(a).checked_div(s(b))? as u128 & m,
            Op::Srem => s(a).checked_rem(s(b))? as u128 & m,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Shl => {
                if far {
                    0
                } else {
                    a << b & m
                }
            }
            Op::Lshr => {
                if far {
                    0
                } else {
                    a >> b
                }
            }
            Op::Ashr => (s(a) >> if far { 127 } else { b }) as u128 & m,
            Op::Ult => u128::from(a < b),
            Op::Ule => u128::from(a <= b),
            Op::Slt => u128::from(s(a) < s(b)),
            Op::Sle => u128::from(s(a) <= s(b)),
            Op::UaddOverflow => u128::from(a.checked_add(b).is_none_or(|r| r > m)),
            Op::UsubOverflow => u128::from(a < b),
            Op::UmulOverflow => u128::from(a.checked_mul(b).is_none_or(|r| r > m)),
            Op::SaddOverflow => u128::from(s(a).checked_add(s(b)).is_none_or(|r| s(r as u128) != r)),
            Op::SsubOverflow => u128::from(s(a).checked_sub(s(b)).is_none_or(|r| s(r as u128) != r)),
            Op::SmulOverflow => u128::from(s(a).checked_mul(s(b)).is_none_or(|r| s(r as u128) != r)),
            Op::Bitreverse => a.reverse_bits() >> (128 - w),
            Op::Ctpop => u128::from(a.count_ones()),
            Op::Ctlz => u128::from(a.leading_zeros() - (128 - w)),
            Op::Cttz => u128::from(a.trailing_zeros().min(w)),
            _ => return Some(u128::MAX),
        })
    }

    #[test]
    fn wide_at_two_limbs_is_u128() {
        let seed = &mut 2;
        let limbs_of = |v: u128| [v as u64, (v >> 64) as u64];
        for round in 0..200_000u32 {
            let op = BOTH[round as usize % BOTH.len()];
            let width = 65 + round / 7 % 64;
            let m = u128::MAX >> (128 - width);
            let a = (u128::from(number(seed)) << 64 | u128::from(number(seed))) & m;
            let mut b = (u128::from(number(seed)) << 64 | u128::from(number(seed))) & m;
            match op {
                Op::Shl | Op::Lshr | Op::Ashr => b >>= if round % 3 == 0 { 0 } else { width - 7 },
                Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => b >>= rng(seed) % u64::from(width),
                _ => {}
            }
            let mut dst = [0; 2];
            let got = wide(op, width, &mut dst, &limbs_of(a), &limbs_of(b), &[0; 2]);
            let want = by_u128(op, width, a, b);
            if want != Some(u128::MAX) {
                let got = got.ok().map(|()| u128::from(dst[1]) << 64 | u128::from(dst[0]));
                assert_eq!(got, want, "{op:?} {width} {a:#x} {b:#x}");
            }
        }
    }

    #[test]
    fn long_division_gives_back_the_dividend() {
        let seed = &mut 3;
        for _ in 0..300 {
            let width = 129 + (rng(seed) % 200) as u32;
            let n = limbs(width) as usize;
            let mut v = || -> Vec<u64> { cut(width, &(0..n).map(|_| number(seed)).collect::<Vec<_>>()) };
            let (a, b) = (v(), v());
            let (mut q, mut r, mut back, mut sum) = (vec![0; n], vec![0; n], vec![0; n], vec![0; n]);
            if wide(Op::Udiv, width, &mut q, &a, &b, &[]).is_err() {
                continue;
            }
            wide(Op::Urem, width, &mut r, &a, &b, &[]).unwrap();
            wide(Op::Mul, width, &mut back, &q, &b, &[]).unwrap();
            wide(Op::Add, width, &mut sum, &back, &r, &[]).unwrap();
            assert!(less(&r, &b) && sum == a);
        }
    }

    #[test]
    fn cutting_and_joining() {
        let a = [0x0123_4567_89ab_cdef, 0x8765_4321];
        let mut high = [0; 1];
        extract(40, &mut high, &a, 56);
        assert_eq!(high, [0x87_6543_2101]);
        let mut low = [0; 1];
        extract(56, &mut low, &a, 0);
        let mut both = [0; 2];
        concat(96, &mut both, &high, &low, 56);
        assert_eq!(both, a);
        let mut s = [0; 3];
        sext_wide(96, 130, &mut s, &a);
        assert_eq!(s, [a[0], 0xffff_ffff_8765_4321, 3]);
    }
}
