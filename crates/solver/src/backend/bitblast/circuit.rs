//! Circuits: bit-vector operators as and-inverter graphs, on slices of literals, lowest bit first.
//!
//! Technique: the textbook circuits (ripple carry, shift-and-add with canonical signed digits for constants, barrel shifter,
//! balanced multiplexer tree); division is in `divide`. Constant bits fold as gates are made, so zero-extended operands cost only their
//! low part. The circuits of more than linear size ask the [`Meter`] between rows. Cost per operator in gates: linear for sums and
//! comparisons, `width * log width` for shifts, quadratic for products.
use super::aig::{Aig, Lit};
use super::meter::Meter;
use crate::answer::Why;

/// The bits of a value, lowest first.
pub(super) type Bits = Vec<Lit>;

pub(super) fn constant(value: u64, width: usize) -> Bits {
    (0..width).map(|i| Lit::constant(i < 64 && value >> i & 1 == 1)).collect()
}

/// In two's complement.
pub(super) fn constant_signed(value: i64, width: usize) -> Bits {
    (0..width).map(|i| Lit::constant(value >> i.min(63) & 1 == 1)).collect()
}

/// At another length; bits that are added are `by`.
pub(super) fn extend(bits: &[Lit], by: Lit, width: usize) -> Bits {
    let mut bits = bits.to_vec();
    bits.resize(width, by);
    bits
}

/// Shifted up until the top bit is set, and by how much. All zeros stay, with an amount of at least the length less one.
pub(super) fn normalise(aig: &mut Aig, bits: &[Lit], meter: &Meter) -> Result<(Bits, Bits), Why> {
    let length = bits.len();
    let rows = (usize::BITS - (length - 1).leading_zeros()) as usize;
    let mut bits = bits.to_vec();
    let mut amount = constant(0, rows);
    for row in (0..rows).rev() {
        meter.check(aig)?;
        let step = 1usize << row;
        let empty = !any(aig, bits[length.saturating_sub(step)..].iter().copied());
        let moved: Bits = (0..length).map(|i| i.checked_sub(step).map_or(Lit::FALSE, |from| bits[from])).collect();
        bits = select(aig, empty, &moved, &bits);
        amount[row] = empty;
    }
    Ok((bits, amount))
}

pub(super) fn not(a: &[Lit]) -> Bits {
    a.iter().map(|&bit| !bit).collect()
}

/// Bit by bit.
pub(super) fn zip(aig: &mut Aig, a: &[Lit], b: &[Lit], gate: fn(&mut Aig, Lit, Lit) -> Lit) -> Bits {
    a.iter().zip(b).map(|(&x, &y)| gate(aig, x, y)).collect()
}

/// `if c { t } else { e }`.
pub(super) fn select(aig: &mut Aig, c: Lit, t: &[Lit], e: &[Lit]) -> Bits {
    t.iter().zip(e).map(|(&x, &y)| aig.ite(c, x, y)).collect()
}

/// `a + b + carry`, at the width of `a`; a shorter `b` is zero-extended.
pub(super) fn add(aig: &mut Aig, a: &[Lit], b: &[Lit], mut carry: Lit) -> Bits {
    let mut sum = Vec::with_capacity(a.len());
    for (i, &x) in a.iter().enumerate() {
        let (bit, next) = aig.full_add(x, b.get(i).copied().unwrap_or(Lit::FALSE), carry);
        sum.push(bit);
        carry = next;
    }
    sum
}

pub(super) fn sub(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Bits {
    add(aig, a, &not(b), Lit::TRUE)
}

pub(super) fn neg(aig: &mut Aig, a: &[Lit]) -> Bits {
    add(aig, &constant(0, a.len()), &not(a), Lit::TRUE)
}

/// `if negate { -a } else { a }`.
pub(super) fn neg_if(aig: &mut Aig, negate: Lit, a: &[Lit]) -> Bits {
    let flipped: Bits = a.iter().map(|&bit| aig.xor(bit, negate)).collect();
    add(aig, &flipped, &[], negate)
}

pub(super) fn any(aig: &mut Aig, bits: impl IntoIterator<Item = Lit>) -> Lit {
    bits.into_iter().fold(Lit::FALSE, |so_far, bit| aig.or(so_far, bit))
}

pub(super) fn equal(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    a.iter().zip(b).fold(Lit::TRUE, |so_far, (&x, &y)| {
        let same = !aig.xor(x, y);
        aig.and(so_far, same)
    })
}

/// Unsigned `a < b`, or `a <= b` if `or_equal`.
pub(super) fn less(aig: &mut Aig, a: &[Lit], b: &[Lit], or_equal: bool) -> Lit {
    a.iter().zip(b).fold(Lit::constant(or_equal), |lower, (&x, &y)| {
        let differ = aig.xor(x, y);
        aig.ite(differ, y, lower)
    })
}

/// Signed `a < b`, or `a <= b` if `or_equal`: unsigned with the sign bits inverted.
pub(super) fn less_signed(aig: &mut Aig, a: &[Lit], b: &[Lit], or_equal: bool) -> Lit {
    let biased = |bits: &[Lit]| {
        let mut bits = bits.to_vec();
        if let Some(sign) = bits.last_mut() {
            *sign = !*sign;
        }
        bits
    };
    less(aig, &biased(a), &biased(b), or_equal)
}

/// Which way a shift goes, and what comes in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
    RightSigned,
}

/// Barrel shifter: one row of multiplexers per bit of the amount that matters, then one for amounts too far.
pub(super) fn shift(aig: &mut Aig, a: &[Lit], amount: &[Lit], way: Shift, meter: &Meter) -> Result<Bits, Why> {
    let width = a.len();
    let fill = match way {
        Shift::Left | Shift::Right => Lit::FALSE,
        Shift::RightSigned => a[width - 1],
    };
    let rows = (usize::BITS - (width - 1).leading_zeros()) as usize;
    let mut bits = a.to_vec();
    for (row, &by) in amount.iter().enumerate().take(rows) {
        meter.check(aig)?;
        let step = 1usize << row;
        let moved: Bits = (0..width)
            .map(|i| match way {
                Shift::Left => i.checked_sub(step).map_or(fill, |from| bits[from]),
                Shift::Right | Shift::RightSigned => bits.get(i + step).copied().unwrap_or(fill),
            })
            .collect();
        bits = select(aig, by, &moved, &bits);
    }
    let too_far = any(aig, amount.iter().skip(rows).copied());
    Ok(bits.into_iter().map(|bit| aig.ite(too_far, fill, bit)).collect())
}

pub(super) fn mul(aig: &mut Aig, a: &[Lit], b: &[Lit], meter: &Meter) -> Result<Bits, Why> {
    // The factor with fewer bits that can be 1 makes the rows.
    let rows_of = |bits: &[Lit]| bits.iter().filter(|&&bit| bit != Lit::FALSE).count();
    let (many, few) = if rows_of(a) < rows_of(b) { (b, a) } else { (a, b) };
    let width = a.len();
    if let Some(digits) = signed_digits(few) {
        return mul_constant(aig, many, &digits, meter);
    }
    let mut sum = constant(0, width);
    for (i, &bit) in few.iter().enumerate().filter(|(_, bit)| **bit != Lit::FALSE) {
        meter.check(aig)?;
        let row: Bits = many[..width - i].iter().map(|&x| aig.and(x, bit)).collect();
        let high = add(aig, &sum[i..], &row, Lit::FALSE);
        sum.truncate(i);
        sum.extend(high);
    }
    Ok(sum)
}

fn mul_constant(aig: &mut Aig, a: &[Lit], digits: &[Digit], meter: &Meter) -> Result<Bits, Why> {
    let width = a.len();
    let mut sum = constant(0, width);
    for (i, digit) in digits.iter().enumerate().take(width) {
        let (row, carry) = match digit {
            Digit::Zero => continue,
            Digit::Plus => (a[..width - i].to_vec(), Lit::FALSE),
            Digit::Minus => (not(&a[..width - i]), Lit::TRUE),
        };
        meter.check(aig)?;
        let high = add(aig, &sum[i..], &row, carry);
        sum.truncate(i);
        sum.extend(high);
    }
    Ok(sum)
}

/// A digit of a constant factor, by its weight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digit {
    Zero,
    Plus,
    Minus,
}

/// The digits of a constant, in binary or, where that has fewer rows by two, as canonical signed digits (Reitwieser 1960): a
/// subtracted row makes the high bits depend on everything, so it must pay. `None` if not a constant.
fn signed_digits(bits: &[Lit]) -> Option<Vec<Digit>> {
    if !bits.iter().all(|bit| bit.is_constant()) {
        return None;
    }
    let plain: Vec<Digit> = bits.iter().map(|&bit| if bit == Lit::TRUE { Digit::Plus } else { Digit::Zero }).collect();
    let mut signed = Vec::with_capacity(bits.len());
    let mut carry = false;
    for i in 0..bits.len() {
        let here = bits[i] == Lit::TRUE;
        let next = bits.get(i + 1).copied().unwrap_or(Lit::FALSE) == Lit::TRUE;
        signed.push(match (here != carry, next) {
            (false, _) => Digit::Zero,
            (true, false) => Digit::Plus,
            (true, true) => Digit::Minus,
        });
        // A run of ones becomes minus one at its foot and a carry past its head.
        carry = if here == carry { carry } else { next };
    }
    let rows = |digits: &[Digit]| digits.iter().filter(|&&digit| digit != Digit::Zero).count();
    Some(if rows(&signed) + 2 <= rows(&plain) { signed } else { plain })
}

/// The bits of an array's element.
pub(super) type Byte = [Lit; 8];

/// The element of `table`, not empty, at `index`. Past the table's end it is `outside`; `None`: the index never is. Pairs are merged
/// from the lowest index bit up, so that equal stretches of constant tables share their gates.
pub(super) fn read(aig: &mut Aig, table: Vec<Byte>, index: &[Lit], outside: Option<Byte>, meter: &Meter) -> Result<Bits, Why> {
    let mut select = |c: Lit, t: Byte, e: Byte| -> Byte { std::array::from_fn(|i| aig.ite(c, t[i], e[i])) };
    let mut level = table;
    let mut used = 0;
    while level.len() > 1 {
        let bit = *index.get(used).expect("a table has at most as many elements as the index has values");
        used += 1;
        let merge = |pair: &[Byte]| match (pair.get(1).copied(), outside) {
            (Some(odd), _) | (None, Some(odd)) => select(bit, odd, pair[0]),
            (None, None) => pair[0],
        };
        level = level.chunks(2).map(merge).collect();
    }
    meter.check(aig)?;
    let found = level.pop().unwrap_or([Lit::FALSE; 8]);
    let Some(outside) = outside else { return Ok(found.to_vec()) };
    let left = any(aig, index[used..].iter().copied());
    Ok(std::array::from_fn::<Lit, 8, _>(|i| aig.ite(left, outside[i], found[i])).to_vec())
}
