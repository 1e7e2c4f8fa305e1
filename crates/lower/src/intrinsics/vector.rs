//! Intrinsics about vectors: masked accesses, rearrangements, reductions of floats.

use wryneck_ir::build::Slot;
use wryneck_ir::{NONE, Op};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{Type, Value};
use crate::inst::Lowered;

/// Runs `body` only where `bit` is set; what it computes is `other` elsewhere.
fn guarded<'a, 'm>(
    s: &mut Body<'a, 'm>,
    bit: Slot,
    width: u16,
    other: Option<Slot>,
    body: impl FnOnce(&mut Body<'a, 'm>) -> Option<Slot>,
) -> Option<Slot> {
    let (inside, after) = (s.b.block(), s.b.block());
    let result = other.map(|_| s.b.temp(width));
    let (enter, skip) = (s.b.edge(inside), s.b.edge(after));
    if let (Some(result), Some(other)) = (result, other) {
        s.b.copy_on(skip, width, result, other);
    }
    s.b.cond_br(bit, enter, skip);
    s.b.start(inside);
    let inner = body(s);
    let leave = s.b.edge(after);
    if let (Some(result), Some(inner)) = (result, inner) {
        s.b.copy_on(leave, width, result, inner);
    }
    s.b.br(leave);
    s.b.start(after);
    result
}

/// Bytes from one element in memory to the next; `None` if elements do not fill bytes.
fn stride<'m>(s: &Body<'_, 'm>, vector: Type<'m>) -> Result<u64, Unsupported> {
    let bits = s.cx.llvm.bits(vector.element());
    if bits.is_multiple_of(8) { Ok(bits / 8) } else { Err(Unsupported::Type(vector.to_string())) }
}

/// `count` more than `mask` bits: the next element's index in a compressed run.
fn count_up(s: &mut Body, address: Slot, bit: Slot, stride: u64) -> Slot {
    let step = s.b.cast(Op::Zext, 64, 1, bit);
    s.b.value(Op::PtrAdd, 64, address, step, stride as u32)
}

// Older modules have the alignment as an argument before the mask; LLVM's reader upgrades them.
const LOAD_MASK: u32 = 1;
const LOAD_OTHERWISE: u32 = 2;
const STORE_MASK: u32 = 2;

pub fn masked_load<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (address, stride, width) = (s.scalar(v.operand(0))?, stride(s, v.ty())?, s.element_width(v)?);
    let (mask, otherwise) = (s.value(v.operand(LOAD_MASK))?, s.value(v.operand(LOAD_OTHERWISE))?);
    let mut out = Vec::new();
    for (i, (&bit, &other)) in (0u64..).zip(mask.leaves().iter().zip(otherwise.leaves())) {
        let element = guarded(s, bit, width, Some(other), |s| {
            let at = s.offset(address, i * stride);
            Some(s.b.load(width, at, 0))
        });
        out.extend(element);
    }
    Ok(Some(out.into_iter().collect()))
}

pub fn masked_store<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (value, address, mask) = (s.value(v.operand(0))?, s.scalar(v.operand(1))?, s.value(v.operand(STORE_MASK))?);
    let (stride, width) = (stride(s, v.operand(0).ty())?, s.element_width(v.operand(0))?);
    for (i, (&bit, &element)) in (0u64..).zip(mask.leaves().iter().zip(value.leaves())) {
        guarded(s, bit, width, None, |s| {
            let at = s.offset(address, i * stride);
            s.b.store(width, at, element, 0);
            None
        });
    }
    Ok(None)
}

pub fn masked_gather<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (addresses, width) = (s.value(v.operand(0))?, s.element_width(v)?);
    let (mask, otherwise) = (s.value(v.operand(LOAD_MASK))?, s.value(v.operand(LOAD_OTHERWISE))?);
    let mut out = Vec::new();
    for ((&at, &bit), &other) in addresses.leaves().iter().zip(mask.leaves()).zip(otherwise.leaves()) {
        out.extend(guarded(s, bit, width, Some(other), |s| Some(s.b.load(width, at, 0))));
    }
    Ok(Some(out.into_iter().collect()))
}

pub fn masked_scatter<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (value, addresses, mask) = (s.value(v.operand(0))?, s.value(v.operand(1))?, s.value(v.operand(STORE_MASK))?);
    let width = s.element_width(v.operand(0))?;
    for ((&element, &at), &bit) in value.leaves().iter().zip(addresses.leaves()).zip(mask.leaves()) {
        guarded(s, bit, width, None, |s| {
            s.b.store(width, at, element, 0);
            None
        });
    }
    Ok(None)
}

pub fn masked_expand_load<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (mut at, stride, width) = (s.scalar(v.operand(0))?, stride(s, v.ty())?, s.element_width(v)?);
    let (mask, otherwise) = (s.value(v.operand(1))?, s.value(v.operand(2))?);
    let mut out = Vec::new();
    for (&bit, &other) in mask.leaves().iter().zip(otherwise.leaves()) {
        out.extend(guarded(s, bit, width, Some(other), |s| Some(s.b.load(width, at, 0))));
        at = count_up(s, at, bit, stride);
    }
    Ok(Some(out.into_iter().collect()))
}

pub fn masked_compress_store<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (value, mut at, mask) = (s.value(v.operand(0))?, s.scalar(v.operand(1))?, s.value(v.operand(2))?);
    let (stride, width) = (stride(s, v.operand(0).ty())?, s.element_width(v.operand(0))?);
    for (&element, &bit) in value.leaves().iter().zip(mask.leaves()) {
        guarded(s, bit, width, None, |s| {
            s.b.store(width, at, element, 0);
            None
        });
        at = count_up(s, at, bit, stride);
    }
    Ok(None)
}

pub fn reverse<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let value = s.value(v.operand(0))?;
    Ok(Some(value.leaves().iter().rev().copied().collect()))
}

/// Elements of the first vector followed by those of the second, from an index on; negative: from the first's end.
pub fn splice<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (a, b) = (s.value(v.operand(0))?, s.value(v.operand(1))?);
    let (len, from) = (a.leaves().len(), s.number(v.operand(2)).unwrap_or(0) as i32);
    let from = if from < 0 { len - (from.unsigned_abs() as usize).min(len) } else { (from as usize).min(len) };
    let all: Vec<Slot> = a.leaves().iter().chain(b.leaves()).copied().collect();
    Ok(Some(all[from..from + len].iter().copied().collect()))
}

pub fn interleave<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (a, b) = (s.value(v.operand(0))?, s.value(v.operand(1))?);
    Ok(Some(a.leaves().iter().zip(b.leaves()).flat_map(|(&a, &b)| [a, b]).collect()))
}

/// The even elements, then the odd ones: two vectors in a structure.
pub fn deinterleave<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let value = s.value(v.operand(0))?;
    let (even, odd) = (value.leaves().iter().step_by(2), value.leaves().iter().skip(1).step_by(2));
    Ok(Some(even.chain(odd).copied().collect()))
}

pub fn extract<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let value = s.value(v.operand(0))?;
    let (from, len) = (s.number(v.operand(1)).unwrap_or(0) as usize, v.ty().vector_len() as usize);
    let part = value.leaves().get(from..from + len);
    part.map(|p| Some(p.iter().copied().collect())).ok_or_else(|| Unsupported::Type(v.ty().to_string()))
}

pub fn insert<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (value, part) = (s.value(v.operand(0))?, s.value(v.operand(1))?);
    let from = s.number(v.operand(2)).unwrap_or(0) as usize;
    let mut leaves = value.leaves().to_vec();
    for (i, &leaf) in part.leaves().iter().enumerate() {
        if let Some(place) = leaves.get_mut(from + i) {
            *place = leaf;
        }
    }
    Ok(Some(leaves.into_iter().collect()))
}

/// Adds a longer vector's elements onto a shorter accumulator, round and round.
pub fn partial_reduce_add<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (sums, value, width) = (s.value(v.operand(0))?, s.value(v.operand(1))?, s.element_width(v)?);
    let mut sums = sums.leaves().to_vec();
    let len = sums.len();
    for (i, &element) in value.leaves().iter().enumerate() {
        sums[i % len] = s.b.binary(Op::Add, width, sums[i % len], element);
    }
    Ok(Some(sums.into_iter().collect()))
}

pub fn reduce_float_add<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    reduce_ordered(s, v, Op::Fadd)
}

pub fn reduce_float_mul<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    reduce_ordered(s, v, Op::Fmul)
}

/// From a start value on, in order: the order that is allowed whether or not others are.
fn reduce_ordered<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, op: Op) -> Lowered {
    let width = s.cx.types.float(v.ty())?;
    let (start, value) = (s.scalar(v.operand(0))?, s.value(v.operand(1))?);
    Ok(Some(value.leaves().iter().fold(start, |sum, &leaf| s.b.binary(op, width, sum, leaf)).into()))
}

pub fn reduce_float_max<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (width, val) = (s.cx.types.float(v.ty())?, s.value(v.operand(0))?);
    Ok(Some(s.reduce(&val, |s, a, b| s.b.value(Op::Fmax, width, a, b, NONE)).into()))
}

pub fn reduce_float_min<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (width, val) = (s.cx.types.float(v.ty())?, s.value(v.operand(0))?);
    Ok(Some(s.reduce(&val, |s, a, b| s.b.value(Op::Fmin, width, a, b, NONE)).into()))
}
