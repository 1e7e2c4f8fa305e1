//! Functions of a C library recognised by their symbols: a call of one that somebody models calls the model, with the arguments that the
//! calling convention has in registers, and returns (the paper's "function summaries", chapter 4).
//!
//! Only functions that came with the library are recognised ([`crate::library`]): what a program calls `strlen` itself is its own.
//! What is recognised is the address: whoever gets there, by call, jump or pointer, gets the model.

use rustc_hash::FxHashMap;
use wryneck_ir::build::{CallDef, Callee, ModuleBuilder, Slot};
use wryneck_ir::{NONE, Op, SymbolId, call_flags};

use crate::cpu::Cpu;
use crate::elf::Elf;
use crate::error::MachineError;
use crate::place::Places;
use crate::registers::RegisterFile;

/// A function that is modelled under its name. Only integers and pointers are passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    /// Widths of the parameters in bits, at most 64; no more than there are registers for.
    pub widths: Vec<u16>,
    /// 0: no result.
    pub ret_width: u16,
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
    /// Finds the known functions among a program's symbols; declares them in its module.
    pub fn new(elf: &Elf, known: &[Known], m: &mut ModuleBuilder) -> Recognition {
        let by_name: FxHashMap<&str, &Known> = known.iter().map(|k| (k.name.as_str(), k)).collect();
        let mut by_address = FxHashMap::default();
        for symbol in elf.symbols.iter().filter(|s| s.code && s.library && !s.local) {
            let Some(known) = by_name.get(symbol.name.as_str()) else { continue };
            if known.widths.len() > elf.cpu.call.arguments.len() {
                continue;
            }
            let model = m.symbol(&known.name);
            m.declare_function(model);
            by_address.entry(symbol.address).or_insert(Recognised { model, widths: known.widths.clone(), ret_width: known.ret_width });
        }
        Recognition { by_address }
    }

    pub fn contains(&self, address: u64) -> bool {
        self.by_address.contains_key(&address)
    }

    /// Emits the call of the model of the function at an address; `false` if there is none. Returning is the caller's.
    pub fn call(&self, address: u64, cpu: &Cpu, registers: &RegisterFile, p: &mut Places<'_, '_, '_>) -> Result<bool, MachineError> {
        let Some(function) = self.by_address.get(&address) else { return Ok(false) };
        let mut args: Vec<(Slot, u16)> = Vec::with_capacity(function.widths.len());
        for (name, width) in cpu.call.arguments.iter().zip(&function.widths) {
            let whole = p.register(registers.named(name)?.param);
            let value = if *width == 64 { whole } else { p.temp((*width).into()) };
            if *width < 64 {
                p.emit(Op::Trunc, (*width).into(), value, whole.raw(), NONE, 64);
            }
            args.push((value, *width));
        }
        let result = p.register(registers.named(cpu.call.result)?.param);
        let def = CallDef { args: &args, ret_width: function.ret_width, flags: call_flags::STANDS_IN, named: 0 };
        p.builder.call_to((function.ret_width > 0).then_some(result), Callee::Symbol(function.model), def);
        Ok(true)
    }
}
