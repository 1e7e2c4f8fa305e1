//! Variables in a function's frame that no pointer leads to: only the function's own instructions access them, at fixed distances from its
//! return address.
//!
//! Debug information of unoptimised code gives the variables. One pass over the function's blocks finds the addresses of its frame that
//! escape. An address escapes if it is in a register, stored, passed to a call, returned, or computed with. Use as the address of a load or
//! a store is no escape, and neither is a comparison. Variables that contain an escaped address, or end there, may be accessed through
//! pointers. If an array or a structure begins there, the address is taken to be its own. An address that [`Values`] does not follow
//! further counts as escaped. So the function's code accesses the remaining variables at known distances alone.
//!
//! Only numbers and pointers qualify, because compilers name elements of arrays by addresses outside of them. No variable qualifies in
//! functions with computed jumps, or if an escaped address lies between the variables. Accesses by an escaped address are assumed to stay
//! in its variable, below all variables, or in the arguments on the stack. An access that leaves its variable is a fault, by the same debug
//! information. Each verdict lists the assumption that pruned code has no such fault.

use wryneck_exec::Image;
use wryneck_exec::code::Code;
use wryneck_ir::code_source::FrameVariable;
use wryneck_ir::{Inst, Module, Op};

use super::code::{Facts, Function, Registers};
use super::pointers::{Holds, Word};
use super::values::{Value, Values};
use crate::flow::BitSet;
use crate::flow::cfg::End;
use crate::operand::{slots_read, slots_written};

/// Larger distances are none in a frame: those from the beginning of the stack, which find a word's shadow.
const FAR: u64 = 1 << 40;
/// Where the frame pointer points: right below the return address.
const FRAME_POINTER: i64 = -8;
/// Bytes of a return address.
const RETURN_ADDRESS: i64 = 8;
/// Results of at most so many bits are no addresses, and no sequence of them is made into one by other means than shifts.
const BITS: u16 = 8;

/// Bytes of a pointer.
const WORD: i64 = 8;

/// Variables of a function that no pointer leads to.
#[derive(Default)]
pub(super) struct Private {
    pub ranges: Vec<(i64, i64)>,
    pub words: Vec<Word>,
}

/// Addresses of a frame that are used otherwise than to access what is there: distances from the return address.
#[derive(Default)]
struct Uses {
    at: Vec<i64>,
    /// Where whole words are stored.
    words: Vec<i64>,
}

impl Uses {
    fn add(&mut self, value: Option<Value>) {
        if let Some(Value::Frame(k)) = value
            && k.unsigned_abs() < FAR
            && !self.at.contains(&k)
        {
            self.at.push(k);
        }
    }
}

impl Facts {
    /// Ranges of a function's frame, as distances from its return address, ascending and apart, that only its own instructions access; and where
    /// pointers begin in them.
    pub(super) fn private(&self, image: &Image, function: &Function) -> Private {
        let Some(registers) = &self.registers else { return Private::default() };
        let address = |op: u32| self.source.borrow().address_of(image.code(self.func).first_inst + op);
        let entry = function.cfg.blocks[0].ops.start;
        let Some(frame) = address(entry).and_then(|address| self.source.borrow().frame_variables(address)) else {
            return Private::default();
        };
        if !frame.variables.iter().any(|variable| variable.scalar) {
            return Private::default();
        }
        let inside = |op: u32| address(op).is_some_and(|address| (frame.code.0..frame.code.1).contains(&address));
        for block in &function.cfg.blocks {
            let known = !matches!(block.end, Some(End::Jump));
            if !known || block.ops.is_empty() || !inside(block.ops.start) || !inside(block.ops.end - 1) {
                return Private::default();
            }
        }
        let uses = self.uses(image, function, registers);
        let ranges = left(&frame.variables, &uses.at);
        let meets =
            |at: i64, len: i64, other: &FrameVariable| other.start < at + len && at < other.start.saturating_add_unsigned(other.size);
        let word = |at: &FrameVariable| {
            let len = i64::try_from(at.size).ok().filter(|len| matches!(len, 1 | 2 | 4 | 8))?;
            let alone = !frame.variables.iter().any(|other| other != at && meets(at.start, len, other));
            let inside = ranges.iter().any(|(low, high)| *low <= at.start && at.start + len <= *high);
            let holds = if at.pointer && len == WORD { Holds::Pointer } else { Holds::Number };
            (alone && inside).then_some(Word { at: at.start, len, holds })
        };
        let mut words: Vec<Word> = frame.variables.iter().filter_map(word).collect();
        // Compilers keep intermediate results between the variables, where no address leads that is one of a variable.
        let lowest = frame.variables.iter().map(|variable| variable.start).min().unwrap_or(0);
        if !ranges.is_empty() && uses.at.iter().all(|k| *k >= lowest) {
            let own = uses
                .words
                .iter()
                .filter(|at| **at + WORD <= FRAME_POINTER && !frame.variables.iter().any(|other| meets(**at, WORD, other)));
            words.extend(own.map(|at| Word { at: *at, len: WORD, holds: Holds::Unknown }));
        }
        Private { ranges, words }
    }

    /// The addresses of a function's frame that are used otherwise than to access what is there.
    fn uses(&self, image: &Image, function: &Function, registers: &Registers) -> Uses {
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let first = code.consts.len() as u32;
        let behind = first + code.param_slots;
        // Registers, and what instructions of several blocks keep between them.
        let mut lasting: BitSet = (first..behind).collect();
        for block in &function.cfg.blocks {
            let mut written = BitSet::default();
            for op in block.ops.clone() {
                let inst = self.inst(image, op);
                let read = slots_read(module, &inst).into_iter().flatten();
                lasting.extend(read.filter(|slot| *slot >= first && !written.contains(*slot)).collect::<Vec<_>>());
                written.extend(slots_written(module, &inst));
            }
        }
        let mut uses = Uses::default();
        for (local, block) in (0u32..).zip(&function.cfg.blocks) {
            let mut values = function.values[local as usize].clone();
            for op in block.ops.clone() {
                let inst = self.inst(image, op);
                let before = values.clone();
                self.pass(image, module, code, &mut values, op..op + 1, &function.saves);
                used(module, code, &inst, &before, &values, &mut uses);
                // In a register it may be moved on from there, but for the stack pointer and the frame pointer.
                for slot in slots_written(module, &inst).filter(|slot| (first..behind).contains(slot)) {
                    let value = values.get(code, slot);
                    let upkeep = slot == registers.stack_pointer
                        || value == Some(Value::Frame(FRAME_POINTER)) && !registers.clobbered.contains(slot);
                    uses.add(value.filter(|_| !upkeep));
                }
            }
            let is_call = function.calls.contains_key(&function.blocks[local as usize]);
            let ends = block.end.is_some();
            let kept = |slot: u32| !registers.clobbered.contains(slot);
            // What the callee or the caller may find in a register.
            for slot in (first..behind).filter(|slot| (is_call || ends) && !kept(*slot)) {
                uses.add(values.get(code, slot));
            }
            if is_call {
                values.pass_call(registers.stack_pointer, &kept, None);
            }
            for (_, to) in &block.edges {
                let there = &function.values[*to as usize];
                let lost = lasting.iter().filter(|slot| values.get(code, *slot) != there.get(code, *slot));
                lost.for_each(|slot| uses.add(values.get(code, slot)));
            }
        }
        uses
    }
}

/// Adds the addresses of the frame that an operation uses otherwise than to access what is there.
fn used(module: &Module, code: &Code, inst: &Inst, before: &Values, after: &Values, uses: &mut Uses) {
    let get = |slot: u32| before.get(code, slot);
    match inst.operator() {
        Some(Op::Load) => {}
        Some(Op::Store) => {
            if let Some(Value::Frame(k)) = get(inst.a)
                && inst.width == 64
                && !uses.words.contains(&k)
            {
                uses.words.push(k);
            }
            let slots = slots_read(module, inst).into_iter().skip(1).flatten();
            slots.for_each(|slot| uses.add(get(slot)));
        }
        Some(Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::UaddOverflow | Op::SaddOverflow | Op::SsubOverflow) => {}
        // It is made where an address in a variable is computed, which begins at the second operand.
        Some(Op::Anchor) => {
            uses.add(get(inst.b));
            if slots_written(module, inst).any(|slot| after.get(code, slot).is_none()) {
                uses.add(get(inst.a));
            }
        }
        Some(Op::Trunc | Op::And) if inst.width <= BITS => {}
        Some(Op::Extract) if inst.width <= BITS && inst.b == 0 => {}
        // The flag of a sum's lowest byte.
        Some(Op::And) if [inst.a, inst.b].into_iter().any(|slot| matches!(get(slot), Some(Value::Number(0..=0xff)))) => {}
        _ => {
            let result = slots_written(module, inst);
            let followed = match inst.operator() {
                Some(Op::Copy | Op::Add | Op::Sub) if inst.width == 64 => result.len() == 1 && after.get(code, result.start).is_some(),
                _ => false,
            };
            if !followed {
                let read = slots_read(module, inst).into_iter().flatten();
                read.for_each(|slot| uses.add(get(slot)));
            }
        }
    }
}

/// The bytes of variables that have none of these addresses. None, if an address is between the variables and in none.
fn left(variables: &[FrameVariable], uses: &[i64]) -> Vec<(i64, i64)> {
    let end = |variable: &FrameVariable| variable.start.saturating_add_unsigned(variable.size);
    let lowest = variables.iter().map(|variable| variable.start).min().unwrap_or(0);
    let begins = |k: i64| variables.iter().any(|variable| variable.start == k && !variable.scalar);
    let mut taken = vec![false; variables.len()];
    // The caller's arguments lie above the return address.
    for k in uses.iter().filter(|k| **k < RETURN_ADDRESS) {
        let mut found = *k < lowest;
        for (variable, taken) in variables.iter().zip(&mut taken) {
            let here = (variable.start..end(variable)).contains(k);
            *taken |= here || end(variable) == *k && !begins(*k);
            found |= here;
        }
        if !found {
            return Vec::new();
        }
    }
    let of = |scalar: bool| {
        let taken = taken.iter().copied();
        let all = variables.iter().zip(taken).filter(move |(variable, taken)| scalar == (variable.scalar && !taken));
        all.map(|(variable, _)| (variable.start, end(variable)))
    };
    let others: Vec<_> = of(false).collect();
    let apart = |(low, high): &(i64, i64)| *high <= 0 && others.iter().all(|(l, h)| *high <= *l || *h <= *low);
    let mut found: Vec<(i64, i64)> = of(true).filter(apart).collect();
    found.sort_unstable();
    found.dedup_by(|next, before| {
        let meets = next.0 < before.1;
        if meets {
            before.1 = before.1.max(next.1);
        }
        meets
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_take_the_variables_they_are_in() {
        let scalar = |start, size| FrameVariable { start, size, scalar: true, pointer: false };
        let array = FrameVariable { start: -32, size: 8, scalar: false, pointer: false };
        let all = [scalar(-12, 4), scalar(-16, 4), scalar(-24, 8), array];
        assert_eq!(left(&all, &[]), [(-24, -16), (-16, -12), (-12, -8)]);
        // The beginning, the middle, and the end, which may be meant by the address of the next one.
        assert_eq!(left(&all, &[-24]), [(-16, -12), (-12, -8)]);
        assert_eq!(left(&all, &[-20]), [(-16, -12), (-12, -8)]);
        assert_eq!(left(&all, &[-16]), [(-12, -8)]);
        assert_eq!(left(&all, &[-32]), [(-24, -16), (-16, -12), (-12, -8)]);
        assert_eq!(left(&[scalar(-36, 4), array], &[-32]), [(-36, -32)]);
        // Arguments for callees lie below, those of the function above its return address; what lies between is not known.
        assert_eq!(left(&all, &[-40, 8]).len(), 3);
        assert_eq!(left(&all, &[-8]), []);
        assert_eq!(left(&[scalar(-12, 4), array], &[-20]), []);
    }

    #[test]
    fn variables_that_overlap_are_taken_together() {
        let of = |start, size, scalar| FrameVariable { start, size, scalar, pointer: false };
        let all = [of(-16, 8, true), of(-12, 4, true), of(-24, 8, true)];
        assert_eq!(left(&all, &[]), [(-24, -16), (-16, -8)]);
        assert_eq!(left(&all, &[-10]), [(-24, -16)]);
        assert_eq!(left(&[of(-16, 8, false), of(-12, 4, true)], &[]), []);
        // An argument of the caller's frame.
        assert_eq!(left(&[of(16, 8, true)], &[]), []);
    }
}
