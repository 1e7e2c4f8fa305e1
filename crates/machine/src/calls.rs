//! The shadow stack: calls in progress, which machine code has only as words on its stack.
//!
//! The shadow lies beside the stack at a fixed distance (a parallel shadow stack: Dang, Maniatis, Wagner, "The Performance Cost of Shadow
//! Stacks and Stack Canaries", ASIA CCS 2015). A call writes its return address there too, and a return clears it. So a return to another
//! address is detected, and the shadow's words above the stack pointer are the call stack. Long jumps need nothing: the frames that they
//! leave lie below the stack pointer. Calls made while the stack pointer is elsewhere are unknown.
//!
//! The highest byte of a shadow word counts the observed functions that began with this return address (several, if one jumps to the
//! next). Only a return that finds it non-zero takes the slower path that reports the return.
//!
//! Cost: ten instructions of IR per call, fifteen per return.

use wryneck_ir::build::{CallDef, Callee, Slot};
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{NONE, Op, SymbolId, call_flags};

use crate::place::Places;

/// Lowest bit of the count of observed functions.
const TOLD: u32 = 56;

/// What lifting needs to maintain the shadow stack.
#[derive(Clone, Copy, Hash)]
pub struct Calls {
    pub stack: Shadowed,
    /// [`BAD_RETURN`].
    pub bad_return: SymbolId,
    /// [`RETURNED`], and the parameter that holds results; if returns are observed.
    pub returned: Option<(SymbolId, usize)>,
}

/// The function that marks an observed return; it is never called.
pub const RETURNED: &str = "__wryneck_returned";

/// The function that is called when a return does not lead to its call: with both addresses, 64 bits each.
pub const BAD_RETURN: &str = "__wryneck_bad_return";

/// The location of the stack and of its shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shadowed {
    /// First address of the stack, and its size in bytes.
    pub base: u64,
    pub size: u64,
    /// First address of the shadow; after it are [`SPARE`] bytes more.
    pub shadow: u64,
    /// The rooms of threads that the stack begins with, before that of the first thread: how many, and bytes of each.
    pub rooms: (u64, u64),
}

/// Bytes after the shadow: one word to write to and one to read from where the stack pointer is elsewhere.
pub const SPARE: u64 = 16;

impl Shadowed {
    /// The offset behind the last byte of the stack of one thread, which this offset lies in.
    fn end(&self, offset: u64) -> u64 {
        let (count, size) = self.rooms;
        if offset < count * size { (offset + 1).next_multiple_of(size) } else { self.size }
    }

    /// The address of the shadow of the word that the stack pointer points to, or of the spare word `spare`.
    fn word(&self, p: &mut Places<'_, '_, '_>, stack_pointer: usize, spare: u64) -> Slot {
        let pointer = p.register(stack_pointer);
        let (base, size) = (p.constant(64, self.base), p.constant(64, self.size));
        let (offset, inside) = (p.temp(64), p.temp(1));
        p.emit(Op::Sub, 64, offset, pointer.raw(), base.raw(), NONE);
        p.emit(Op::Ult, 64, inside, offset.raw(), size.raw(), NONE);
        let (spare, chosen) = (p.constant(64, self.size + 8 * spare), p.temp(64));
        p.emit(Op::Select, 64, chosen, inside.raw(), offset.raw(), spare.raw());
        let (shadow, word) = (p.constant(64, self.shadow), p.temp(64));
        p.emit(Op::Add, 64, word, shadow.raw(), chosen.raw(), NONE);
        word
    }

    /// Pushes the return address `next` of a call on the shadow stack.
    pub fn called(&self, p: &mut Places<'_, '_, '_>, stack_pointer: usize, next: u64) {
        let word = self.word(p, stack_pointer, 0);
        let next = p.constant(64, next);
        p.builder.store(64, word, next, 8);
    }

    /// Observes the return of the function that begins here, if `wanted` is 1 (64 bits).
    pub fn tell_return(&self, p: &mut Places<'_, '_, '_>, stack_pointer: usize, wanted: Slot) {
        let word = self.word(p, stack_pointer, 0);
        let (before, count, by, after) = (p.temp(64), p.temp(64), p.constant(64, TOLD.into()), p.temp(64));
        p.emit(Op::Load, 64, before, word.raw(), 0, NONE);
        p.emit(Op::Shl, 64, count, wanted.raw(), by.raw(), 0);
        p.emit(Op::Add, 64, after, before.raw(), count.raw(), NONE);
        p.builder.store(64, word, after, 8);
    }

    /// Begins a return: reads the expected return address, or 0 if it is not known.
    pub fn returning(&self, p: &mut Places<'_, '_, '_>, stack_pointer: usize) -> Returning {
        let (word, expected, before) = (self.word(p, stack_pointer, 1), p.temp(64), p.temp(64));
        p.emit(Op::Load, 64, expected, word.raw(), 0, NONE);
        let pointer = p.register(stack_pointer);
        p.copy(64, before, pointer);
        Returning { stack_pointer, before, word, expected }
    }
}

/// A return in progress.
#[derive(Clone, Copy)]
pub struct Returning {
    stack_pointer: usize,
    /// The stack pointer before the return.
    before: Slot,
    /// The address of the shadow word, and what it holds.
    word: Slot,
    expected: Slot,
}

/// Ends the block by returning to `to`, which must be the expected address.
pub fn go_back(p: &mut Places<'_, '_, '_>, returning: Returning, to: Slot, calls: Calls) {
    let Returning { stack_pointer, before, word, expected } = returning;
    p.returns.extend(p.builder.open_block());
    if let Some((returned, result)) = calls.returned {
        tell_returns(p, word, expected, returned, result);
    }
    let (same, unknown, zero) = (p.temp(1), p.temp(1), p.constant(64, 0));
    let (fine, other, free, bad) = (p.builder.block(), p.builder.block(), p.builder.block(), p.builder.block());
    p.returns.extend([fine, other, free, bad]);
    p.emit(Op::Eq, 64, same, expected.raw(), to.raw(), NONE);
    let (then, otherwise) = (p.builder.edge(fine), p.builder.edge(other));
    p.builder.cond_br(same, then, otherwise);
    p.builder.start(fine);
    p.builder.store(64, word, zero, 8);
    p.builder.jump(expected);
    p.builder.start(other);
    p.emit(Op::Eq, 64, unknown, expected.raw(), zero.raw(), NONE);
    let (then, otherwise) = (p.builder.edge(free), p.builder.edge(bad));
    p.builder.cond_br(unknown, then, otherwise);
    p.builder.start(free);
    p.builder.jump(to);
    p.builder.start(bad);
    // The call has not returned.
    let pointer = p.register(stack_pointer);
    p.copy(64, pointer, before);
    let def = CallDef { args: &[(to, 64), (expected, 64)], ret_width: 0, flags: call_flags::NO_RETURN, named: 0 };
    p.builder.call_to(None, Callee::Symbol(calls.bad_return), def);
    p.builder.unreachable();
}

/// Observes as many returns as the shadow word counts. `expected` is the address without the count afterwards.
fn tell_returns(p: &mut Places<'_, '_, '_>, word: Slot, expected: Slot, returned: SymbolId, result: usize) {
    let (again, told, on) = (p.builder.block(), p.builder.block(), p.builder.block());
    p.returns.extend([again, told, on]);
    let (limit, one, counted) = (p.constant(64, 1 << TOLD), p.constant(64, 1 << TOLD), p.temp(1));
    p.builder.jump_to(again);
    p.builder.start(again);
    p.emit(Op::Ule, 64, counted, limit.raw(), expected.raw(), NONE);
    let (then, otherwise) = (p.builder.edge(told), p.builder.edge(on));
    p.builder.cond_br(counted, then, otherwise);
    p.builder.start(told);
    p.emit(Op::Sub, 64, expected, expected.raw(), one.raw(), NONE);
    p.builder.store(64, word, expected, 8);
    let result = p.register(result);
    let def = CallDef { args: &[(result, 64)], ret_width: 0, flags: call_flags::TELLS_RETURN, named: 0 };
    p.builder.call_to(None, Callee::Symbol(returned), def);
    p.builder.jump_to(again);
    p.builder.start(on);
}

/// Whether the call whose return address was at this stack address has ended.
pub fn is_over(stack: Shadowed, at: u64, read: ReadBytes<'_>) -> bool {
    let (offset, mut word) = (at.wrapping_sub(stack.base), [0; 8]);
    offset < stack.size && read(stack.shadow + offset, &mut word) && word == [0; 8]
}

/// Finds the call stack: the return addresses of the calls in progress with their stack addresses, innermost first, up to a limit.
pub fn in_progress(stack: Shadowed, pointer: u64, read: ReadBytes<'_>, most: usize) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut at = pointer.wrapping_sub(stack.base).checked_next_multiple_of(8).unwrap_or(u64::MAX);
    // Words, read a chunk at a time, because deep recursions are long.
    let mut chunk = [0; 512];
    let end = stack.end(at);
    while at < end && found.len() < most {
        let chunk = &mut chunk[..(end - at).min(512) as usize];
        if read(stack.shadow + at, chunk) {
            let words = chunk.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
            let words = (stack.base + at..).step_by(8).zip(words).filter(|(_, word)| *word != 0);
            found.extend(words.map(|(at, word)| (at, word & ((1 << TOLD) - 1))).take(most - found.len()));
        }
        at += chunk.len() as u64;
    }
    found
}
