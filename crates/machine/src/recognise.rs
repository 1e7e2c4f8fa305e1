//! Hooked functions: a library function with a known symbol calls its model, with the arguments of the calling convention, and returns
//! (the "function summaries" of paper 3, chapter 4).
//!
//! Only functions that came with the C library are hooked ([`crate::library`]): a program's own `strlen` is its own. Functions by which a
//! program speaks to the tool are hooked whoever defines them, so that an executable can be linked. The address is hooked: every call,
//! jump or pointer that reaches it gets the model. Of functions whose results are input, only the program's calls get the model: the C library's own run
//! their code, as [`wryneck_ir::OWN_CALL`] says.

use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::Range;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{CallDef, Callee, ModuleBuilder, Slot};
use wryneck_ir::{NONE, Op, SymbolId, call_flags};

use crate::cpu::Cpu;
use crate::elf::{Elf, Symbol};
use crate::error::MachineError;
use crate::lift::Surroundings;
use crate::pcode::Reads;
use crate::place::Places;
use crate::registers::RegisterFile;

/// A parameter or result that registers hold: its width in bits, at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passed {
    /// An integer or a pointer.
    Word(u16),
    Float(u16),
}

/// The arguments of a function after its parameters, and how its model gets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum More {
    #[default]
    Nothing,
    /// A few more words, in registers: passed as the address of a `va_list`, as variadic functions of the IR expect.
    Words,
    /// Variable arguments: passed as the address of a `va_list`, which is one more parameter.
    List,
}

/// A function that is hooked or observed, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    /// The function that replaces it.
    pub callee: String,
    /// Parameters without a free register are on the stack.
    pub params: Vec<Passed>,
    pub more: More,
    pub result: Option<Passed>,
    /// An intrinsic, with a name that no library has.
    pub intrinsic: bool,
    /// What is asked first, whoever defines the function, with a name that no library has: where it answers 0, the function's own code runs. [`wryneck_ir::OWN_CALL`]
    /// is for functions whose results are input, [`wryneck_ir::TURN`] for those by which threads synchronise.
    pub asks: Option<&'static str>,
}

impl Known {
    /// A function with integer parameters of these widths in bits, whose replacement has the same name.
    pub fn of_words(name: &str, widths: impl IntoIterator<Item = u16>, ret_width: u16) -> Known {
        Known {
            name: name.to_owned(),
            callee: name.to_owned(),
            params: widths.into_iter().map(Passed::Word).collect(),
            more: More::Nothing,
            result: (ret_width > 0).then_some(Passed::Word(ret_width)),
            intrinsic: false,
            asks: None,
        }
    }
}

/// Bytes below the stack pointer at which registers are saved for variable arguments, and at which their `va_list` lies.
const SAVED: u64 = 256;
const LIST: u64 = 64;

/// A hooked function of the program.
#[derive(Clone, Hash)]
struct Recognised {
    model: SymbolId,
    params: Vec<Passed>,
    more: More,
    result: Option<Passed>,
    /// What is asked first.
    own: Option<SymbolId>,
    /// Of what chooses a function when the program begins: the address by which that function is hooked.
    gives: Option<u64>,
}

/// Bytes behind the beginning of what chooses a function, at which the function is hooked. No other function begins there.
const CHOSEN: u64 = 1;

/// Whether a function that is chosen when the program begins is hooked at this address.
pub fn is_chosen_at(elf: &Elf, name: &str, address: u64) -> bool {
    elf.chosen.iter().any(|symbol| symbol.address + CHOSEN == address && symbol.name == name)
}

/// The hooked functions of a program, by address.
#[derive(Default)]
pub struct Recognition {
    by_address: FxHashMap<u64, Recognised>,
    /// By name: functions that a library may bring which the program's loader has yet to load.
    coming: FxHashMap<String, Recognised>,
}

impl Recognition {
    /// Finds the known functions among those that came with the C library, and the intrinsics. Declares them in the program's module.
    pub fn of_library(elf: &Elf, known: &[Known], m: &mut ModuleBuilder) -> Recognition {
        Recognition::among(elf, known, m, |symbol, known| known.asks.is_some() || !symbol.local && (symbol.library || known.intrinsic))
    }

    /// Finds the known functions among all.
    pub fn of_program(elf: &Elf, known: &[Known], m: &mut ModuleBuilder) -> Recognition {
        Recognition::among(elf, known, m, |_, _| true)
    }

    fn among(elf: &Elf, known: &[Known], m: &mut ModuleBuilder, is_it: fn(&Symbol, &Known) -> bool) -> Recognition {
        let by_name: FxHashMap<&str, &Known> = known.iter().map(|k| (k.name.as_str(), k)).collect();
        let mut all = Recognition::default();
        for symbol in elf.symbols.iter().filter(|s| s.code) {
            let Some(known) = by_name.get(symbol.name.as_str()).filter(|known| is_it(symbol, known)) else { continue };
            let recognised = Recognised::of(known, m);
            match all.by_address.entry(symbol.address) {
                // Another name of the same function.
                Entry::Occupied(mut had) if known.asks.is_some() => _ = had.insert(recognised),
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => _ = place.insert(recognised),
            }
        }
        if elf.is_loaded {
            all.coming = known.iter().map(|known| (known.name.clone(), Recognised::of(known, m))).collect();
        }
        all
    }

    /// Hooks the functions of a library that was put into memory: those that `counts` says are what their names say, and those whose results are input,
    /// whoever defines them. Functions that are chosen are chosen by wryneck.
    pub fn add(&mut self, symbols: &[Symbol], chosen: &[Symbol], counts: &dyn Fn(&str) -> bool) {
        let visible = symbols.iter().filter(|s| s.code).map(|s| (s, None)).chain(chosen.iter().map(|s| (s, Some(s.address + CHOSEN))));
        for (symbol, gives) in visible.filter(|(symbol, _)| !symbol.local) {
            let Some(known) = self.coming.get(&symbol.name).filter(|known| known.own.is_some() || counts(&symbol.name)) else { continue };
            // What is chosen has no code of its own that could run for some calls.
            let known = Recognised { own: known.own.filter(|_| gives.is_none()), ..known.clone() };
            if let Some(at) = gives {
                self.by_address.entry(at).or_insert_with(|| known.clone());
            }
            self.by_address.entry(symbol.address).or_insert_with(|| Recognised { gives, ..known });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty() && self.coming.is_empty()
    }

    /// The hooked functions at these addresses, ascending, for comparison.
    pub fn at(&self, range: &Range<u64>) -> impl Hash + use<'_> {
        let mut all: Vec<(&u64, &Recognised)> = self.by_address.iter().filter(|(address, _)| range.contains(address)).collect();
        all.sort_unstable_by_key(|(address, _)| **address);
        all
    }

    pub fn contains(&self, address: u64) -> bool {
        self.by_address.contains_key(&address)
    }

    /// Emits the question whether the call of the function at an address is the program's, where that matters: its answer, of one bit.
    pub fn is_own_call(&self, address: u64, flags: u32, p: &mut Places<'_, '_, '_>) -> Option<Slot> {
        let own = self.by_address.get(&address)?.own?;
        let (word, zero, is_own) = (p.temp(64), p.constant(64, 0), p.temp(1));
        p.builder.call_to(Some(word), Callee::Symbol(own), CallDef { args: &[], ret_width: 64, flags, named: 0 });
        p.emit(Op::Ne, 64, is_own, word.raw(), zero.raw(), NONE);
        Some(is_own)
    }

    /// Emits the call of the model of the function at an address, if there is one, with these flags. The caller emits the return.
    pub fn call(&self, address: u64, flags: u32, s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>) -> Result<(), MachineError> {
        let (cpu, registers) = (s.cpu, s.registers);
        let Some(function) = self.by_address.get(&address) else { return Ok(()) };
        if let Some(chosen) = function.gives {
            let (result, chosen) = (p.register(registers.named(cpu.call.result)?.param), p.constant(64, chosen));
            p.copy(64, result, chosen);
            return Ok(());
        }
        let mut args = function.arguments(cpu, registers, p)?;
        let named = args.len() as u32;
        let variadic = function.variable(cpu, registers, p)?;
        args.extend(variadic.map(|address| (address, 64)));
        let flags = flags | call_flags::REPLACES | if function.more == More::Words { call_flags::VARIADIC } else { 0 };
        let (name, ret_width) = match function.result {
            Some(Passed::Float(width)) => (cpu.call.floats[0], width),
            Some(Passed::Word(width)) => (cpu.call.result, width),
            None => (cpu.call.result, 0),
        };
        let result = p.register(registers.named(name)?.param);
        let def = CallDef { args: &args, ret_width, flags, named: if function.more == More::Words { named } else { 0 } };
        p.builder.call_to((ret_width > 0).then_some(result), Callee::Symbol(function.model), def);
        Ok(())
    }

    /// Emits the observation that the function at an address begins, with these additional flags. Its result is 1 (64 bits) if the return is observed.
    /// `None`: the function is not observed.
    pub fn tell(&self, address: u64, flags: u32, s: &Surroundings<'_>, p: &mut Places<'_, '_, '_>) -> Result<Option<Slot>, MachineError> {
        let Some(function) = self.by_address.get(&address) else { return Ok(None) };
        let args = function.arguments(s.cpu, s.registers, p)?;
        let wanted = p.temp(64);
        let ret_width = function.result.map_or(0, |(Passed::Word(width) | Passed::Float(width))| width);
        let def = CallDef { args: &args, ret_width: 64, flags: flags | call_flags::TELLS_CALL, named: ret_width.into() };
        p.builder.call_to(Some(wanted), Callee::Symbol(function.model), def);
        Ok(Some(wanted))
    }
}

impl Recognised {
    /// Declares what stands for the function.
    fn of(known: &Known, m: &mut ModuleBuilder) -> Recognised {
        let mut declared = |name: &str| {
            let symbol = m.symbol(name);
            m.declare_function(symbol);
            symbol
        };
        let (model, own) = (declared(&known.callee), known.asks.map(&mut declared));
        Recognised { model, params: known.params.clone(), more: known.more, result: known.result, own, gives: None }
    }

    /// How many of the registers of words and of floats the parameters take.
    fn taken(&self, cpu: &Cpu) -> (usize, usize) {
        let words = self.params.iter().filter(|param| matches!(param, Passed::Word(_))).count();
        (words.min(cpu.call.arguments.len()), (self.params.len() - words).min(cpu.call.floats.len()))
    }

    /// The arguments, from registers and from the stack above the return address, truncated to the parameters' widths (bits).
    fn arguments(&self, cpu: &Cpu, registers: &RegisterFile, p: &mut Places<'_, '_, '_>) -> Result<Vec<(Slot, u16)>, MachineError> {
        let mut args: Vec<(Slot, u16)> = Vec::with_capacity(self.params.len());
        let (mut words, mut floats, mut pushed) = (cpu.call.arguments.iter(), cpu.call.floats.iter(), 0);
        for param in &self.params {
            let (register, width) = match param {
                Passed::Word(width) => (words.next(), *width),
                Passed::Float(width) => (floats.next(), *width),
            };
            let whole = match register {
                Some(name) => p.register(registers.named(name)?.param),
                None => {
                    pushed += 8;
                    let (at, word) = (address(cpu, registers, p, pushed)?, p.temp(64));
                    p.load(64, word, at, Reads::default());
                    word
                }
            };
            let value = if width == 64 { whole } else { p.temp(width.into()) };
            if width < 64 {
                p.emit(Op::Trunc, width.into(), value, whole.raw(), NONE, 64);
            }
            args.push((value, width));
        }
        Ok(args)
    }

    /// Saves the registers that may hold variable arguments (System V x86-64 ABI, section 3.5.7), for the replacing function.
    fn variable(&self, cpu: &Cpu, registers: &RegisterFile, p: &mut Places<'_, '_, '_>) -> Result<Option<Slot>, MachineError> {
        if self.more == More::Nothing {
            return Ok(None);
        }
        let (words, floats) = self.taken(cpu);
        let saved = |n: usize| SAVED.wrapping_sub(8 * n as u64).wrapping_neg();
        for (n, name) in cpu.call.arguments.iter().enumerate().skip(words) {
            let (value, at) = (p.register(registers.named(name)?.param), address(cpu, registers, p, saved(n))?);
            p.store(64, at, value, 0);
        }
        let behind = cpu.call.arguments.len();
        let are_saved = if self.more == More::List { cpu.call.floats.len() } else { 0 };
        for (n, name) in cpu.call.floats.iter().enumerate().take(are_saved).skip(floats) {
            let (value, at) = (p.register(registers.named(name)?.param), address(cpu, registers, p, saved(behind + 2 * n))?);
            p.store(128, at, value, 0);
        }
        let offsets = p.constant(64, (8 * words as u64) | ((8 * behind as u64 + 16 * floats as u64) << 32));
        let (pushed, area) = (address(cpu, registers, p, 8)?, address(cpu, registers, p, saved(0))?);
        for (n, word) in [offsets, pushed, area].into_iter().enumerate() {
            let at = address(cpu, registers, p, (LIST - 8 * n as u64).wrapping_neg())?;
            p.store(64, at, word, 0);
        }
        address(cpu, registers, p, LIST.wrapping_neg()).map(Some)
    }
}

/// The address this many bytes above the stack pointer.
fn address(cpu: &Cpu, registers: &RegisterFile, p: &mut Places<'_, '_, '_>, distance: u64) -> Result<Slot, MachineError> {
    let pointer = p.register(registers.named(cpu.stack_pointer)?.param);
    let (distance, sum) = (p.constant(64, distance), p.temp(64));
    p.emit(Op::Add, 64, sum, pointer.raw(), distance.raw(), NONE);
    Ok(sum)
}
