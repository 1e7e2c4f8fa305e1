//! Control flow for static analysis: which blocks end with calls, which end with returns, and what lies beyond the lifted code.
//!
//! To the analysis a call is an effect of its function, and control continues at the return address.

use rustc_hash::FxHashMap;
use wryneck_ir::{Calling, Convention, Transfer, limbs};

use crate::cpu::Cpu;
use crate::error::MachineError;
use crate::growth::Grown;
use crate::registers::RegisterFile;

/// How control leaves the blocks that do more than follow their edges.
#[derive(Default)]
pub struct Ways {
    transfers: FxHashMap<u32, Transfer>,
    /// By return address: a block that ends with a call, and whether programs begin by it.
    calls: FxHashMap<u64, (u32, bool)>,
    /// Addresses that may not be lifted yet.
    beyond: Vec<u64>,
}

impl Ways {
    /// Adds new blocks: calls with their return addresses, parts of returns, and blocks that only jump to an address. `begins`: whether the call
    /// with a return address is one by which programs begin.
    pub fn grow(&mut self, grown: &Grown, begins: &dyn Fn(u64) -> bool) {
        for &(back, block) in &grown.calls {
            let begins = begins(back);
            self.transfers.insert(block, Transfer::Call { back, begins });
            self.calls.insert(back, (block, begins));
            self.beyond.push(back);
        }
        grown.returns.iter().for_each(|block| _ = self.transfers.insert(*block, Transfer::Return));
        for &(address, block) in &grown.jumps {
            self.transfers.insert(block, Transfer::To(address));
            self.beyond.push(address);
        }
    }

    pub fn of(&self, block: u32) -> Transfer {
        self.transfers.get(&block).copied().unwrap_or(Transfer::Inside)
    }

    /// A block that ends with a call with this return address, and whether programs begin by it.
    pub fn call_to(&self, back: u64) -> Option<(u32, bool)> {
        self.calls.get(&back).copied()
    }

    /// The blocks that end with calls, ascending. Several may end with the same one.
    pub fn calls(&self) -> Vec<u32> {
        let calls = self.transfers.iter().filter(|(_, transfer)| matches!(transfer, Transfer::Call { .. }));
        let mut calls: Vec<u32> = calls.map(|(block, _)| *block).collect();
        calls.sort_unstable();
        calls
    }

    /// Addresses that may not be lifted yet; each is returned once.
    pub fn take_beyond(&mut self) -> Vec<u64> {
        let mut beyond = std::mem::take(&mut self.beyond);
        beyond.sort_unstable();
        beyond.dedup();
        beyond
    }
}

/// The slots of the calling convention's registers; `calling`: how functions are called from outside.
pub fn convention(cpu: &Cpu, registers: &RegisterFile, calling: Option<Calling>) -> Result<Convention, MachineError> {
    let limb = |name: &&str| registers.named(name).map(|r| r.limb);
    // A number is at the low end of its register.
    let float =
        |name: &&str| registers.named(name).map(|r| (r.limb..r.limb + limbs(8 * r.size.min(cpu.call.float_bytes)) as usize).collect());
    let floats = |names: &[&str]| names.iter().map(float).collect::<Result<Vec<Vec<usize>>, _>>();
    Ok(Convention {
        arguments: cpu.call.arguments.iter().map(limb).collect::<Result<_, _>>()?,
        result: limb(&cpu.call.result)?,
        second: limb(&cpu.call.second)?,
        float_results: floats(cpu.call.float_results)?.concat(),
        floats: floats(cpu.call.floats)?,
        count_of_floats: limb(&cpu.call.count_of_floats)?,
        stack_pointer: limb(&cpu.stack_pointer)?,
        scratch: [registers.limbs_of(cpu.call.scratch)?, registers.limbs_of(cpu.call.vectors)?],
        calling,
        saved: cpu.call.saved.iter().map(limb).collect::<Result<_, _>>()?,
        thread: limb(&cpu.call.thread)?,
    })
}
