//! Where a function keeps the values of its callers' registers.
//!
//! A caller's live registers are not followed into a function that preserves them. But two states are equal for a caller only if its
//! registers will be the same, so the places that hold them are compared. A register holds the caller's value until the function writes it.
//! Before that write the function stores it in its frame, at a fixed distance from its return address. Assumed: such a place holds nothing
//! else.

use wryneck_exec::Image;
use wryneck_ir::Op;

use super::code::{Facts, Function};
use super::values::{Saves, Value, Values};
use crate::flow::Cfg;

/// Where the value of a register is.
pub enum Place {
    /// In this register.
    Register(u32),
    /// At these addresses, or distances from the return address.
    Memory(Vec<u64>),
    Unknown,
}

impl Facts {
    /// Where the value is that a register held when the function began, after these operations, the first ones of a block.
    pub fn saved_in(&self, image: &Image, function: &Function, ops: std::ops::Range<u32>, slot: u32) -> Place {
        if self.values_between(image, function, ops).get(image.code(self.func), slot) == Some(Value::Saved(slot)) {
            return Place::Register(slot);
        }
        let places: Vec<u64> = function.saves.iter().filter(|(_, saved)| *saved == slot).map(|(k, _)| *k as u64).collect();
        if places.is_empty() { Place::Unknown } else { Place::Memory(places) }
    }

    /// Where a function saves registers, by its operations and the known values at the beginnings of its blocks.
    pub(super) fn saves(&self, image: &Image, cfg: &Cfg, values: &[Values]) -> Saves {
        let (module, code, none) = (image.function(self.func).0, image.code(self.func), Saves::new());
        let mut saves = Saves::new();
        for (block, values) in cfg.blocks.iter().zip(values) {
            let mut values = values.clone();
            for op in block.ops.clone() {
                let inst = self.inst(image, op);
                if inst.operator() == Some(Op::Store)
                    && inst.width == 64
                    && let (Some(Value::Frame(k)), Some(Value::Saved(slot))) = (values.get(code, inst.a), values.get(code, inst.b))
                {
                    saves.insert((k, slot));
                }
                self.pass(image, module, code, &mut values, op..op + 1, &none);
            }
        }
        saves
    }
}
