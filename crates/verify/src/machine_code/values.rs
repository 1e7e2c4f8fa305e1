//! Which values of machine code are constants or addresses in the frame: a forward pass over a function's blocks.
//!
//! Any other value is unknown. Calls preserve the registers that the calling convention preserves. Cost: a few passes over the function's
//! instructions.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wryneck_exec::code::Code;
use wryneck_ir::{Inst, Module, Op};

use super::layout::Layout;
use crate::operand::slots_written;

/// What is known about the 64-bit value of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// This many bytes from the stack address of the function's return address.
    Frame(i64),
    Number(u64),
    /// An address in the shadow stack, which the program itself cannot reach.
    Shadow,
    /// This many bytes from the address of thread-local memory, which the word there is, too (System V ABI for x86-64, thread-local storage).
    Thread(i64),
    /// What this register held when the function began, one that the function has to preserve. The value itself is not known.
    Saved(u32),
}

impl Value {
    /// Whether the value follows from the program point.
    pub fn is_known(self) -> bool {
        !matches!(self, Value::Saved(_))
    }
}

/// Where a function saves registers: distances from its return address, with the registers.
pub type Saves = BTreeSet<(i64, u32)>;

/// The known values at a program location, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    known: FxHashMap<u32, Value>,
}

impl Values {
    /// At the beginning of a function, which preserves `saved`.
    pub fn at_entry(stack_pointer: u32, thread: u32, saved: &[u32]) -> Values {
        let saved = saved.iter().map(|slot| (*slot, Value::Saved(*slot)));
        Values { known: saved.chain([(stack_pointer, Value::Frame(0)), (thread, Value::Thread(0))]).collect() }
    }

    pub fn get(&self, code: &Code, slot: u32) -> Option<Value> {
        match code.consts.get(slot as usize) {
            Some(number) => Some(Value::Number(*number)),
            None => self.known.get(&slot).copied(),
        }
    }

    /// The slots whose values are the same on all paths to this location.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.known.keys().copied()
    }

    fn put(&mut self, slot: u32, value: Option<Value>) {
        match value {
            Some(value) => _ = self.known.insert(slot, value),
            None => _ = self.known.remove(&slot),
        }
    }

    /// Keeps the values that both agree on. Returns whether any value was lost.
    pub fn meet(&mut self, other: &Values) -> bool {
        let before = self.known.len();
        self.known.retain(|slot, value| other.known.get(slot) == Some(value));
        self.known.len() < before
    }

    /// Transfers the values over an operation of a function that saves registers at `saves`.
    pub fn pass(&mut self, module: &Module, code: &Code, inst: &Inst, layout: &Layout, saves: &Saves) {
        use Value::{Frame, Number, Saved, Shadow, Thread};
        let get = |slot: u32| self.get(code, slot);
        let whole = inst.width == 64;
        let result = match inst.operator() {
            Some(Op::Imm) if inst.width <= 64 => Some(Number(u64::from(inst.b) << 32 | u64::from(inst.a))),
            Some(Op::Copy) if whole => get(inst.a),
            Some(Op::Anchor) => get(inst.a),
            Some(Op::Load) if whole => match get(inst.a) {
                Some(Frame(k)) => saves.range((k, 0)..=(k, u32::MAX)).next().map(|(_, slot)| Saved(*slot)),
                Some(Number(address)) => layout.constant(address).map(Number),
                Some(Thread(0)) => Some(Thread(0)),
                _ => None,
            },
            Some(Op::Add) if whole => match (get(inst.a), get(inst.b)) {
                (Some(Number(base)), _) | (_, Some(Number(base))) if layout.is_shadow(base) => Some(Shadow),
                (Some(Frame(k)), Some(Number(n))) | (Some(Number(n)), Some(Frame(k))) => Some(Frame(k.wrapping_add(n as i64))),
                (Some(Thread(k)), Some(Number(n))) | (Some(Number(n)), Some(Thread(k))) => Some(Thread(k.wrapping_add(n as i64))),
                (Some(Number(a)), Some(Number(b))) => Some(Number(a.wrapping_add(b))),
                _ => None,
            },
            Some(Op::Sub) if whole => match (get(inst.a), get(inst.b)) {
                (Some(Frame(k)), Some(Number(n))) => Some(Frame(k.wrapping_sub(n as i64))),
                (Some(Number(a)), Some(Number(b))) => Some(Number(a.wrapping_sub(b))),
                _ => None,
            },
            // The idiom that sets a register to zero.
            Some(Op::Xor) if inst.width <= 64 && inst.a == inst.b => Some(Number(0)),
            Some(Op::Zext) if inst.c <= 64 && inst.width <= 64 => get(inst.a).filter(|v| matches!(v, Number(_))),
            _ => None,
        };
        let mut written = slots_written(module, inst);
        written.clone().for_each(|slot| self.put(slot, None));
        if let (Some(slot), Some(_)) = (written.next(), result) {
            self.put(slot, result);
        }
    }

    /// Transfers the values over a call of a function that keeps the calling convention: it preserves `saved` and pops its return address.
    /// `result`: what the call returns, if known, with the register of results.
    pub fn pass_call(&mut self, stack_pointer: u32, saved: &dyn Fn(u32) -> bool, result: Option<(u32, Value)>) {
        self.known.retain(|slot, _| saved(*slot));
        self.known.extend(result);
        if let Some(Value::Frame(k)) = self.known.get_mut(&stack_pointer) {
            *k += 8;
        }
    }
}
