//! The known values of registers at points of functions: [`Values`] by block, for each operation, and after calls.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::Image;
use wryneck_ir::{Module, Transfer};

use super::code::{Called, Facts, Function};
use super::values::{Saves, Value, Values};
use crate::flow::Cfg;
use crate::operand::operand_slots;

/// C libraries' functions that return the address of `errno`.
const LOCATES_ERRNO: [&str; 2] = ["__errno_location", "___errno_location"];

impl Facts {
    /// The known values at the beginnings of a function's blocks.
    pub(super) fn values(&self, image: &Image, blocks: &[u32], cfg: &Cfg, calls: &FxHashMap<u32, Called>, saves: &Saves) -> Vec<Values> {
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let Some(registers) = &self.registers else { return vec![Values::default(); blocks.len()] };
        let mut known: Vec<Option<Values>> = vec![None; blocks.len()];
        known[0] = Some(Values::at_entry(registers.stack_pointer, registers.thread, &registers.saved));
        let mut todo = vec![0u32];
        while let Some(at) = todo.pop() {
            let Some(mut values) = known[at as usize].clone() else { continue };
            let record = &cfg.blocks[at as usize];
            self.pass(image, module, code, &mut values, record.ops.clone(), saves);
            if let Some(called) = calls.get(&blocks[at as usize]) {
                let result =
                    called.callee.and_then(|callee| self.address_of_errno(image, callee)).map(|address| (registers.result, address));
                values.pass_call(registers.stack_pointer, &|slot| registers.stays(slot), result);
            }
            for (_, to) in &record.edges {
                let less = match &mut known[*to as usize] {
                    Some(there) => there.meet(&values),
                    none => {
                        *none = Some(values.clone());
                        true
                    }
                };
                if less {
                    todo.push(*to);
                }
            }
        }
        known.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// What a call returns of the function that begins with a block, if that is the one which returns the address of `errno`.
    fn address_of_errno(&self, image: &Image, entry: u32) -> Option<Value> {
        let registers = self.registers.as_ref()?;
        let names = self.source.borrow().names_of(entry);
        if !names.iter().any(|(name, library)| *library && LOCATES_ERRNO.contains(&name.as_str())) {
            return None;
        }
        let then = self.next(image, entry, &mut |_| None).edges;
        if self.transfer(entry) != Transfer::Return && (then.is_empty() || !then.iter().all(|(_, block)| self.ends_return(image, *block))) {
            return None;
        }
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let mut values = Values::at_entry(registers.stack_pointer, registers.thread, &registers.saved);
        self.pass(image, module, code, &mut values, self.ops(image, entry), &Saves::new());
        values.get(code, registers.result).filter(|value| matches!(value, Value::Thread(_)))
    }

    pub(super) fn pass(
        &self,
        image: &Image,
        module: &Module,
        code: &wryneck_exec::code::Code,
        values: &mut Values,
        ops: std::ops::Range<u32>,
        saves: &Saves,
    ) {
        ops.for_each(|op| values.pass(module, code, &self.inst(image, op), &self.layout, saves));
    }

    /// The known values before an operation of a function.
    pub fn values_at(&self, image: &Image, function: &Function, op: u32) -> Values {
        self.values_between(image, function, self.ops(image, self.block_of(op)).start..op)
    }

    /// The known values after these operations, the first ones of a block of a function.
    pub fn values_between(&self, image: &Image, function: &Function, ops: std::ops::Range<u32>) -> Values {
        let Some(local) = function.local(self.block_of(ops.start)) else { return Values::default() };
        let mut values = function.values[local as usize].clone();
        self.pass(image, image.function(self.func).0, image.code(self.func), &mut values, ops, &function.saves);
        values
    }

    /// A bit for each operand (a, b, c) of an operation whose value is known: a constant, or an address of the frame.
    pub fn known_operands(&self, image: &Image, function: &Function, op: u32) -> u8 {
        let Some(local) = function.local(self.block_of(op)) else { return 0 };
        let ops = function.cfg.blocks[local as usize].ops.clone();
        let at = (op - ops.start) as usize;
        if let Some(known) = function.known.borrow().get(&local) {
            return known.get(at).copied().unwrap_or(0);
        }
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let mut values = function.values[local as usize].clone();
        let row = |op: u32| {
            let inst = self.inst(image, op);
            let is_known = |n: usize| {
                let slots = operand_slots(&inst, n + 1);
                slots.len() == 1 && values.get(code, slots.start).is_some_and(Value::is_known)
            };
            let bits = (0..3).filter(|n| is_known(*n)).fold(0u8, |bits, n| bits | 1 << n);
            self.pass(image, module, code, &mut values, op..op + 1, &function.saves);
            bits
        };
        let known: Rc<Vec<u8>> = Rc::new(ops.map(row).collect());
        function.known.borrow_mut().insert(local, known.clone());
        known.get(at).copied().unwrap_or(0)
    }
}
