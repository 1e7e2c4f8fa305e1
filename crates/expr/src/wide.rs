//! Arithmetic on values of any width, as limbs: 64 bits each, lowest first, bits above the width 0.
//!
//! Schoolbook algorithms, one loop each; values wider than 64 bits are rare. Every function takes and gives normalised
//! limbs ([`limbs_for`] of them).

use std::cmp::Ordering;

use crate::node::{Op, Width};

/// How many limbs a width takes.
#[inline]
pub fn limbs_for(width: Width) -> usize {
    width.div_ceil(64) as usize
}

/// All ones at a width of at most 64 bits.
#[inline]
pub fn mask(width: Width) -> u64 {
    u64::MAX >> (64 - width)
}

/// Clears the bits above the width, after making the length right.
pub fn normalise(width: Width, mut limbs: Vec<u64>) -> Vec<u64> {
    limbs.resize(limbs_for(width), 0);
    let top = width % 64;
    if let (Some(last), 1..) = (limbs.last_mut(), top) {
        *last &= mask(top);
    }
    limbs
}

/// Bit `i`, 0 beyond the end.
#[inline]
pub fn bit(limbs: &[u64], i: Width) -> bool {
    limbs.get((i / 64) as usize).is_some_and(|limb| limb >> (i % 64) & 1 == 1)
}

fn is_zero(limbs: &[u64]) -> bool {
    limbs.iter().all(|&limb| limb == 0)
}

/// `~a`
pub fn not(width: Width, a: &[u64]) -> Vec<u64> {
    normalise(width, a.iter().map(|limb| !limb).collect())
}

/// `-a`
pub fn neg(width: Width, a: &[u64]) -> Vec<u64> {
    sub(width, &vec![0; a.len()], a)
}

/// `a + b`
fn add(width: Width, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut carry = false;
    let sum = |(&x, &y): (&u64, &u64)| {
        let (s, c1) = x.overflowing_add(y);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        carry = c1 || c2;
        s
    };
    normalise(width, a.iter().zip(b).map(sum).collect())
}

/// `a - b`
fn sub(width: Width, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    let difference = |(&x, &y): (&u64, &u64)| {
        let (d, b1) = x.overflowing_sub(y);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        borrow = b1 || b2;
        d
    };
    normalise(width, a.iter().zip(b).map(difference).collect())
}

/// `a * b`
fn mul(width: Width, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0u64; a.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, slot) in out[i..].iter_mut().enumerate() {
            let t = u128::from(x) * u128::from(b[j]) + u128::from(*slot) + carry;
            *slot = t as u64;
            carry = t >> 64;
        }
    }
    normalise(width, out)
}

/// Quotient and remainder, by restoring division bit by bit; by zero: all ones and the dividend.
fn udivrem(width: Width, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    if is_zero(b) {
        return (not(width, &vec![0; a.len()]), a.to_vec());
    }
    let (mut quotient, mut rest) = (vec![0u64; a.len()], vec![0u64; a.len() + 1]);
    let divisor: Vec<u64> = b.iter().copied().chain([0]).collect();
    for i in (0..width).rev() {
        let mut carry = u64::from(bit(a, i));
        for limb in &mut rest {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 63);
        }
        if cmp(&rest, &divisor) != Ordering::Less {
            rest = sub(64 * rest.len() as Width, &rest, &divisor);
            quotient[(i / 64) as usize] |= 1 << (i % 64);
        }
    }
    rest.truncate(a.len());
    (quotient, rest)
}

/// Quotient and remainder of signed values: those of the magnitudes, with signs put back.
fn sdivrem(width: Width, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let magnitude = |x: &[u64]| if bit(x, width - 1) { neg(width, x) } else { x.to_vec() };
    let (mut quotient, mut rest) = udivrem(width, &magnitude(a), &magnitude(b));
    if bit(a, width - 1) != bit(b, width - 1) {
        quotient = neg(width, &quotient);
    }
    if bit(a, width - 1) {
        rest = neg(width, &rest);
    }
    (quotient, rest)
}

/// The unsigned order.
pub fn cmp(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// The signed order.
fn scmp(width: Width, a: &[u64], b: &[u64]) -> Ordering {
    bit(b, width - 1).cmp(&bit(a, width - 1)).then_with(|| cmp(a, b))
}

/// The bits `[lo, lo + width)`; bits beyond the end are 0.
pub fn extract(a: &[u64], lo: Width, width: Width) -> Vec<u64> {
    let (skip, shift) = ((lo / 64) as usize, lo % 64);
    let limb = |i: usize| a.get(i + skip).copied().unwrap_or(0);
    let shifted = (0..limbs_for(width)).map(|i| limb(i) >> shift | (limb(i + 1) << 1).wrapping_shl(63 - shift));
    normalise(width, shifted.collect())
}

/// `a << by` for `by` below the width.
fn shl(width: Width, a: &[u64], by: Width) -> Vec<u64> {
    let (skip, shift) = ((by / 64) as usize, by % 64);
    let limb = |i: usize| if i < skip { 0 } else { a[i - skip] };
    let below = |i: usize| if i <= skip { 0 } else { a[i - skip - 1] };
    let shifted = (0..a.len()).map(|i| limb(i) << shift | (below(i) >> 1).wrapping_shr(63 - shift));
    normalise(width, shifted.collect())
}

/// `hi` above the `lo_width` bits of `lo`.
pub fn concat(width: Width, hi: &[u64], lo: &[u64], lo_width: Width) -> Vec<u64> {
    or(&shl(width, &zext(width, hi), lo_width), &zext(width, lo))
}

/// Zero-extended.
pub fn zext(width: Width, a: &[u64]) -> Vec<u64> {
    normalise(width, a.to_vec())
}

/// Sign-extended from `from` bits.
pub fn sext(width: Width, a: &[u64], from: Width) -> Vec<u64> {
    let a = zext(width, a);
    if bit(&a, from - 1) { or(&a, &shl_ones(width, from)) } else { a }
}

/// Ones from bit `from` up.
fn shl_ones(width: Width, from: Width) -> Vec<u64> {
    let ones = not(width, &vec![0; limbs_for(width)]);
    if from < width { shl(width, &ones, from) } else { vec![0; ones.len()] }
}

fn or(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| x | y).collect()
}

/// The shift amount, if below the width.
fn amount(width: Width, b: &[u64]) -> Option<Width> {
    let small = b[1..].iter().all(|&limb| limb == 0) && b[0] < u64::from(width);
    small.then_some(b[0] as Width)
}

/// A binary or comparing operator applied to two values of `width` bits. `None`: the operator is neither.
pub fn binary(op: Op, width: Width, a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let zero = || vec![0; a.len()];
    let truth = |holds: bool| vec![u64::from(holds)];
    let bitwise = |f: fn(u64, u64) -> u64| a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect();
    Some(match op {
        Op::And => bitwise(|x, y| x & y),
        Op::Or => or(a, b),
        Op::Xor => bitwise(|x, y| x ^ y),
        Op::Add => add(width, a, b),
        Op::Sub => sub(width, a, b),
        Op::Mul => mul(width, a, b),
        Op::Udiv => udivrem(width, a, b).0,
        Op::Urem => udivrem(width, a, b).1,
        Op::Sdiv => sdivrem(width, a, b).0,
        Op::Srem => sdivrem(width, a, b).1,
        Op::Shl => amount(width, b).map_or_else(zero, |by| shl(width, a, by)),
        Op::Lshr => amount(width, b).map_or_else(zero, |by| extract(a, by, width)),
        Op::Ashr => {
            let by = amount(width, b).unwrap_or(width - 1);
            sext(width, &extract(a, by, width), width - by)
        }
        Op::Eq => truth(a == b),
        Op::Ult => truth(cmp(a, b) == Ordering::Less),
        Op::Ule => truth(cmp(a, b) != Ordering::Greater),
        Op::Slt => truth(scmp(width, a, b) == Ordering::Less),
        Op::Sle => truth(scmp(width, a, b) != Ordering::Greater),
        Op::Const | Op::Sym | Op::Not | Op::Neg | Op::Ite | Op::Concat | Op::Extract => return None,
        Op::Zext | Op::Sext | Op::Read | Op::PtrAdd | Op::Float => return None,
    })
}
