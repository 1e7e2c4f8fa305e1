//! Functions of a C library recognised by their symbols: a call of one that somebody models calls the model, with the arguments that the
//! calling convention has in registers, and returns (the paper's "function summaries", chapter 4).
//!
//! Only functions that came with the library are recognised ([`crate::library`]): what a program calls `strlen` itself is its own. Functions by which
//! a program speaks to the tool are recognised whoever defines them, so that an executable can be linked.
//! What is recognised is the address: whoever gets there, by call, jump or pointer, gets the model.

use rustc_hash::FxHashMap;
use wryneck_ir::build::{CallDef, Callee, ModuleBuilder, Slot};
use wryneck_ir::{NONE, Op, SymbolId, call_flags};

use crate::cpu::Cpu;
use crate::elf::{Elf, Symbol};
use crate::error::MachineError;
use crate::place::Places;
use crate::registers::RegisterFile;

/// A function that is modelled, or watched, under its name. Only integers and pointers are passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    /// Widths of the parameters in bits, at most 64; no more than there are registers for.
    pub widths: Vec<u16>,
    /// 0: no result.
    pub ret_width: u16,
    /// Speaks to the tool, under a name that no library has.
    pub intrinsic: bool,
}

/// A function of the program that is recognised.
struct Recognised {
    model: SymbolId,
    widths: Vec<u16>,
    ret_width: u16,
}

/// The recognised functions of a program, by address.
#[derive(Default)]
pub struct Recognition {
    by_address: FxHashMap<u64, Recognised>,
}

impl Recognition {
    /// Finds the known functions among those that came with a library, and the intrinsics; declares them in the program's module.
    pub fn of_library(elf: &Elf, known: &[Known], m: &mut ModuleBuilder) -> Recognition {
        Recognition::among(elf, known, m, |symbol, known| !symbol.local && (symbol.library || known.intrinsic))
    }

    /// Finds the known functions among all.
    pub fn of_program(elf: &Elf, known: &[Known], m: &mut ModuleBuilder) -> Recognition {
        Recognition::among(elf, known, m, |_, _| true)
    }

    fn among(elf: &Elf, known: &[Known], m: &mut ModuleBuilder, is_it: fn(&Symbol, &Known) -> bool) -> Recognition {
        let by_name: FxHashMap<&str, &Known> = known.iter().map(|k| (k.name.as_str(), k)).collect();
        let mut by_address = FxHashMap::default();
        for symbol in elf.symbols.iter().filter(|s| s.code) {
            let Some(known) = by_name.get(symbol.name.as_str()) else { continue };
            if !is_it(symbol, known) || known.widths.len() > elf.cpu.call.arguments.len() {
                continue;
            }
            let model = m.symbol(&known.name);
            m.declare_function(model);
            by_address.entry(symbol.address).or_insert(Recognised { model, widths: known.widths.clone(), ret_width: known.ret_width });
        }
        Recognition { by_address }
    }

    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    pub fn contains(&self, address: u64) -> bool {
        self.by_address.contains_key(&address)
    }

    /// Emits the call of the model of the function at an address, if there is one, with these flags. Returning is the caller's.
    pub fn call(
        &self,
        address: u64,
        flags: u32,
        cpu: &Cpu,
        registers: &RegisterFile,
        p: &mut Places<'_, '_, '_>,
    ) -> Result<(), MachineError> {
        let Some(function) = self.by_address.get(&address) else { return Ok(()) };
        let args = function.arguments(cpu, registers, p)?;
        let result = p.register(registers.named(cpu.call.result)?.param);
        let def = CallDef { args: &args, ret_width: function.ret_width, flags, named: 0 };
        p.builder.call_to((function.ret_width > 0).then_some(result), Callee::Symbol(function.model), def);
        Ok(())
    }

    /// Emits what tells that the function at an address begins, with these flags too; 1 (64 bits) if its return is to be told. `None`: there is
    /// none.
    pub fn tell(
        &self,
        address: u64,
        flags: u32,
        cpu: &Cpu,
        registers: &RegisterFile,
        p: &mut Places<'_, '_, '_>,
    ) -> Result<Option<Slot>, MachineError> {
        let Some(function) = self.by_address.get(&address) else { return Ok(None) };
        let args = function.arguments(cpu, registers, p)?;
        let wanted = p.temp(64);
        let def = CallDef { args: &args, ret_width: 64, flags: flags | call_flags::TELLS_CALL, named: function.ret_width.into() };
        p.builder.call_to(Some(wanted), Callee::Symbol(function.model), def);
        Ok(Some(wanted))
    }
}

impl Recognised {
    /// What the calling convention has in registers, cut to the parameters' widths (bits).
    fn arguments(&self, cpu: &Cpu, registers: &RegisterFile, p: &mut Places<'_, '_, '_>) -> Result<Vec<(Slot, u16)>, MachineError> {
        let mut args: Vec<(Slot, u16)> = Vec::with_capacity(self.widths.len());
        for (name, width) in cpu.call.arguments.iter().zip(&self.widths) {
            let whole = p.register(registers.named(name)?.param);
            let value = if *width == 64 { whole } else { p.temp((*width).into()) };
            if *width < 64 {
                p.emit(Op::Trunc, (*width).into(), value, whole.raw(), NONE, 64);
            }
            args.push((value, *width));
        }
        Ok(args)
    }
}
