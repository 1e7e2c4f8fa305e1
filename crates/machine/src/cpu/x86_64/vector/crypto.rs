//! AES, SHA and CRC32C, by their definitions (FIPS 197, FIPS 180-4, Castagnoli et al. 1993). Bytes of AES are computed eight at a
//! time, without tables: an inverse is a power.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use super::X;

/// The polynomial of the field without its highest bit.
const FIELD: u64 = 0x1b;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Each byte times x.
fn doubled(x: &mut X<'_, '_, '_, '_>, a: Slot) -> Slot {
    let (seven, one, top) = (x.constant(64, 7), x.constant(64, 1), x.constant(64, 0x7f7f_7f7f_7f7f_7f7f));
    let (low, ones, field) = (x.op(Op::And, 64, a, top), x.constant(64, ONES), x.constant(64, FIELD));
    let moved = x.op(Op::Shl, 64, low, one);
    let carries = x.op(Op::Lshr, 64, a, seven);
    let carries = x.op(Op::And, 64, carries, ones);
    let reduced = x.op(Op::Mul, 64, carries, field);
    x.op(Op::Xor, 64, moved, reduced)
}
/// Each byte times the other's.
fn times(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot) -> Slot {
    let dst = x.p.temp(64);
    let mark = x.p.mark();
    let (ones, all) = (x.constant(64, ONES), x.constant(64, 0xff));
    let (mut sum, mut a) = (x.constant(64, 0), a);
    for bit in 0..8 {
        let by = x.constant(64, bit);
        let chosen = x.op(Op::Lshr, 64, b, by);
        let chosen = x.op(Op::And, 64, chosen, ones);
        let mask = x.op(Op::Mul, 64, chosen, all);
        let part = x.op(Op::And, 64, a, mask);
        sum = x.op(Op::Xor, 64, sum, part);
        a = doubled(x, a);
    }
    x.p.copy(64, dst, sum);
    x.p.release(mark);
    dst
}
/// Each byte's inverse, 0 for 0: its 254th power.
fn inverse(x: &mut X<'_, '_, '_, '_>, a: Slot) -> Slot {
    let mut power = times(x, a, a);
    let mut product = power;
    for _ in 0..6 {
        power = times(x, power, power);
        product = times(x, product, power);
    }
    product
}
/// Each byte turned left by so many bits.
fn turned(x: &mut X<'_, '_, '_, '_>, a: Slot, by: u64) -> Slot {
    let low = 0xff >> by;
    let (left, right) = (x.constant(64, by), x.constant(64, 8 - by));
    let (low_mask, high_mask) = (x.constant(64, ONES * low), x.constant(64, ONES * (0xff ^ low)));
    let (kept, over) = (x.op(Op::And, 64, a, low_mask), x.op(Op::And, 64, a, high_mask));
    let (kept, over) = (x.op(Op::Shl, 64, kept, left), x.op(Op::Lshr, 64, over, right));
    x.op(Op::Or, 64, kept, over)
}
fn xor_all(x: &mut X<'_, '_, '_, '_>, all: &[Slot]) -> Slot {
    let mut sum = all[0];
    for next in &all[1..] {
        sum = x.op(Op::Xor, 64, sum, *next);
    }
    sum
}
/// The substitution of eight bytes.
fn substituted(x: &mut X<'_, '_, '_, '_>, a: Slot) -> Slot {
    let inverse = inverse(x, a);
    let parts: Vec<Slot> = (0..5).map(|by| if by == 0 { inverse } else { turned(x, inverse, by) }).collect();
    let (sum, constant) = (xor_all(x, &parts), x.constant(64, ONES * 0x63));
    x.op(Op::Xor, 64, sum, constant)
}
/// The substitution undone.
fn restored(x: &mut X<'_, '_, '_, '_>, a: Slot) -> Slot {
    let parts: Vec<Slot> = [1, 3, 6].map(|by| turned(x, a, by)).into();
    let (sum, constant) = (xor_all(x, &parts), x.constant(64, ONES * 0x05));
    let inverted = x.op(Op::Xor, 64, sum, constant);
    inverse(x, inverted)
}

/// Which half of a round, and in which direction.
#[derive(Clone, Copy, PartialEq)]
enum Round {
    Encrypts,
    Decrypts,
}

/// Bytes of the state, 16 of each 128 bits, with rows turned.
fn rows(x: &mut X<'_, '_, '_, '_>, state: Slot, round: Round, width: u32) -> Slot {
    x.build(width, 8, |x, i| {
        let (block, i) = (i / 16 * 16, i % 16);
        let (row, column) = (i % 4, i / 4);
        let from = if round == Round::Encrypts { (column + row) % 4 } else { (column + 4 - row) % 4 };
        x.lane(state, 8, block + 4 * from + row)
    })
}
/// Columns times the fixed polynomial, or its inverse: `a` is 64 bits, two columns.
fn columns(x: &mut X<'_, '_, '_, '_>, a: Slot, round: Round) -> Slot {
    // Each byte of a column from the one so many further.
    let further = |x: &mut X<'_, '_, '_, '_>, a: Slot, by: u32| {
        x.lanes(8, |x, i| {
            let from = i / 4 * 4 + (i + by) % 4;
            x.bits(a, 64, 8 * from, 8)
        })
    };
    let two = doubled(x, a);
    let factors = match round {
        Round::Encrypts => {
            let three = x.op(Op::Xor, 64, two, a);
            [two, three, a, a]
        }
        Round::Decrypts => {
            let four = doubled(x, two);
            let eight = doubled(x, four);
            [xor_all(x, &[eight, four, two]), xor_all(x, &[eight, two, a]), xor_all(x, &[eight, four, a]), xor_all(x, &[eight, a])]
        }
    };
    let parts: Vec<Slot> = (0..4).zip(factors).map(|(by, part)| further(x, part, by)).collect();
    xor_all(x, &parts)
}
fn each_limb(x: &mut X<'_, '_, '_, '_>, width: u32, a: Slot, mut f: impl FnMut(&mut X<'_, '_, '_, '_>, Slot) -> Slot) -> Slot {
    x.build(width, 64, |x, i| f(x, a.limb(i)))
}

/// One round: DC and DD encrypt, DE and DF decrypt, the second of each is the last round.
pub(super) fn aes_round(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let (round, last) = (if x.e.opcode < 0xde { Round::Encrypts } else { Round::Decrypts }, x.e.opcode & 1 == 1);
    let (state, key) = (x.first_source()?, x.read_vector(width)?);
    let state = rows(x, state, round, width);
    let value = each_limb(x, width, state, |x, a| {
        let a = if round == Round::Encrypts { substituted(x, a) } else { restored(x, a) };
        if last { a } else { columns(x, a, round) }
    });
    let value = x.build(width, 64, |x, i| x.op(Op::Xor, 64, value.limb(i), key.limb(i)));
    x.set_vector(x.e.reg, width, value)
}
/// The inverse of the columns of a round key.
pub(super) fn aes_inverse_columns(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let key = x.read_vector(128)?;
    let value = each_limb(x, 128, key, |x, a| columns(x, a, Round::Decrypts));
    x.set_vector(x.e.reg, 128, value)
}
/// Words 1 and 3 substituted, and turned by a byte with the immediate added.
pub(super) fn aes_key(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (key, add) = (x.read_vector(128)?, u64::from(x.e.immediate.unwrap_or(0)));
    let value = x.build(128, 64, |x, i| {
        let all = substituted(x, key.limb(i));
        let word = x.bits(all, 64, 32, 32);
        let (eight, rest, add) = (x.constant(32, 8), x.constant(32, 24), x.constant(32, add));
        let (low, high) = (x.op(Op::Lshr, 32, word, eight), x.op(Op::Shl, 32, word, rest));
        let turned = x.op(Op::Or, 32, low, high);
        let turned = x.op(Op::Xor, 32, turned, add);
        x.concat(turned, 32, word, 32)
    });
    x.set_vector(x.e.reg, 128, value)
}

/// 32 bits turned right.
fn right(x: &mut X<'_, '_, '_, '_>, a: Slot, by: u64) -> Slot {
    let (by, rest) = (x.constant(32, by), x.constant(32, 32 - by));
    let (low, high) = (x.op(Op::Lshr, 32, a, by), x.op(Op::Shl, 32, a, rest));
    x.op(Op::Or, 32, low, high)
}
fn xor3(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot, c: Slot) -> Slot {
    let sum = x.op(Op::Xor, 32, a, b);
    x.op(Op::Xor, 32, sum, c)
}
fn add(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot) -> Slot {
    x.op(Op::Add, 32, a, b)
}
/// The second where a bit of the first is set, the third elsewhere.
fn chosen(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot, c: Slot) -> Slot {
    let differ = x.op(Op::Xor, 32, b, c);
    let differ = x.op(Op::And, 32, differ, a);
    x.op(Op::Xor, 32, c, differ)
}
fn majority(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot, c: Slot) -> Slot {
    let (both, either) = (x.op(Op::And, 32, a, b), x.op(Op::Or, 32, a, b));
    let third = x.op(Op::And, 32, either, c);
    x.op(Op::Or, 32, both, third)
}
fn words(x: &mut X<'_, '_, '_, '_>, vector: Slot) -> [Slot; 4] {
    [0, 1, 2, 3].map(|i| x.lane(vector, 32, i))
}
fn set_words(x: &mut X<'_, '_, '_, '_>, words: [Slot; 4]) -> Result<(), String> {
    let value = x.build(128, 32, |_, i| words[i as usize]);
    x.set_vector(x.e.reg, 128, value)
}
/// 38 C8 to CD: the steps of SHA-1 and SHA-256 between rounds, and two rounds of SHA-256.
pub(super) fn sha(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (a, b) = (x.first_source()?, x.read_vector(128)?);
    let (first, second) = (words(x, a), words(x, b));
    match x.e.opcode {
        // sha1nexte: the operand, with the first's top word turned and added to its top word.
        0xc8 => {
            let turned = right(x, first[3], 2);
            let top = add(x, second[3], turned);
            set_words(x, [second[0], second[1], second[2], top])
        }
        // sha1msg1
        0xc9 => {
            let old = [second[2], second[3], first[0], first[1]];
            let mut new = first;
            (0..4).for_each(|i| new[i] = x.op(Op::Xor, 32, first[i], old[i]));
            set_words(x, new)
        }
        // sha1msg2: from the top word down.
        0xca => {
            let mut new = first;
            for (i, old) in [(3, Some(2)), (2, Some(1)), (1, Some(0)), (0, None)] {
                let from = old.map_or(new[3], |n: usize| second[n]);
                let sum = x.op(Op::Xor, 32, first[i], from);
                new[i] = right(x, sum, 31);
            }
            set_words(x, new)
        }
        0xcb => sha256_rounds(x, first, second),
        // sha256msg1
        0xcc => {
            let next = [first[1], first[2], first[3], second[0]];
            let mut new = first;
            for i in 0..4 {
                let three = x.constant(32, 3);
                let (one, two, moved) = (right(x, next[i], 7), right(x, next[i], 18), x.op(Op::Lshr, 32, next[i], three));
                let sum = xor3(x, one, two, moved);
                new[i] = add(x, first[i], sum);
            }
            set_words(x, new)
        }
        // sha256msg2
        _ => {
            let mut new = first;
            for i in 0..4 {
                let from = if i < 2 { second[i + 2] } else { new[i - 2] };
                let ten = x.constant(32, 10);
                let (one, two, moved) = (right(x, from, 17), right(x, from, 19), x.op(Op::Lshr, 32, from, ten));
                let sum = xor3(x, one, two, moved);
                new[i] = add(x, first[i], sum);
            }
            set_words(x, new)
        }
    }
}
/// Two rounds: the destination has C, D, G, H (the highest first), the operand A, B, E, F, register 0 the words to add.
fn sha256_rounds(x: &mut X<'_, '_, '_, '_>, first: [Slot; 4], second: [Slot; 4]) -> Result<(), String> {
    let adds = x.vector(0)?;
    let [mut h, mut g, mut d, mut c] = first;
    let [mut f, mut e, mut b, mut a] = second;
    for i in 0..2 {
        let (one, two, three) = (right(x, e, 6), right(x, e, 11), right(x, e, 25));
        let (high, choice, word) = (xor3(x, one, two, three), chosen(x, e, f, g), x.lane(adds, 32, i));
        let mut sum = add(x, high, choice);
        sum = add(x, sum, word);
        sum = add(x, sum, h);
        let (one, two, three) = (right(x, a, 2), right(x, a, 13), right(x, a, 22));
        let (low, most) = (xor3(x, one, two, three), majority(x, a, b, c));
        let rest = add(x, low, most);
        let (new_a, new_e) = (add(x, sum, rest), add(x, sum, d));
        (h, g, f, e, d, c, b, a) = (g, f, e, new_e, c, b, a, new_a);
    }
    set_words(x, [f, e, b, a])
}
/// Four rounds of SHA-1 by the function that the immediate says.
pub(super) fn sha1_rounds(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    const CONSTANTS: [u64; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];
    let which = usize::from(x.e.immediate.unwrap_or(0) & 3);
    let (state, adds) = (x.first_source()?, x.read_vector(128)?);
    let [mut d, mut c, mut b, mut a] = words(x, state);
    let adds = words(x, adds);
    // The fifth word is part of the first word to add.
    let mut e = x.constant(32, 0);
    for i in 0..4 {
        let mixed = match which {
            0 => chosen(x, b, c, d),
            2 => majority(x, b, c, d),
            _ => xor3(x, b, c, d),
        };
        let (turned, constant) = (right(x, a, 27), x.constant(32, CONSTANTS[which]));
        let mut sum = add(x, mixed, turned);
        sum = add(x, sum, adds[3 - i]);
        sum = add(x, sum, e);
        sum = add(x, sum, constant);
        (e, d, c, b, a) = (d, c, right(x, b, 2), a, sum);
    }
    set_words(x, [d, c, b, a])
}
