//! Machine code: ELF executables run on the same IR as everything else (DESIGN 1.3).
//!
//! All machine code of a program is **one IR function** whose parameters are the register file and which never returns. It
//! begins as one block that jumps to the instruction pointer, and grows by [`MachineProgram::block_at`] whenever the engine
//! jumps where nobody was before: the block there, and what its fixed branches and calls lead to, up to a bound, become
//! blocks of the function; what is beyond the bound becomes a jump, which asks again if it is ever reached.
//!
//! Suggested reading order: [`elf`], [`pcode`] (decoded instructions), [`block`] and [`simplify`] (what of them is needed), [`registers`] and
//! [`place`] (where values live), [`lift`]. System calls are calls of [`SYSTEM_CALL`], which the environment models.
//!
//! Limits: code is lowered from memory that cannot be written, so it never changes; MMX, EVEX and what else the list in
//! `docs/results/lift.jsonl` names are unsupported where they are reached; AF is not computed; exceptions of floating point leave
//! no flags.

#![forbid(unsafe_code)]

pub mod block;
pub mod calls;
pub mod cpu;
pub mod dwarf;
pub mod elf;
pub mod error;
pub mod library;
pub mod lift;
pub mod load;
pub mod pcode;
pub mod place;
pub mod recognise;
pub mod registers;
mod simplify;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{BlockId, FunctionBuilder, FunctionDef, ModuleBuilder, Names};
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{CodeSource, Module, NoCode, SymbolId, function_flags, linkage};

pub use elf::{Elf, Segment};
pub use error::MachineError;
pub use library::Library;
pub use load::Process;
pub use recognise::Known;

use block::Block;
use calls::{BAD_RETURN, Calls, RETURNED, Shadowed};
use lift::Surroundings;
use pcode::Decoder;
use place::Places;
use recognise::Recognition;
use registers::RegisterFile;

/// The function that machine code calls for a system call: number and six arguments, 64 bits each, to a 64-bit result.
pub const SYSTEM_CALL: &str = "__wryneck_syscall";
/// The function that all machine code is.
pub const FUNCTION: &str = "__wryneck_machine_code";

/// Functions of C libraries in which programs begin.
const BEGIN: [&str; 4] = ["__libc_start_main", "_start", "_start_c", "libc_start_main_stage2"];
/// Blocks lowered at one visit, at most.
const MAX_BLOCKS: usize = 64;

/// An executable whose code is lowered as it is reached.
pub struct MachineProgram {
    pub elf: Elf,
    decoder: Decoder,
    registers: RegisterFile,
    /// The stack pointer's number among the parameters, and that of its limb.
    stack_pointer: usize,
    stack_limb: usize,
    names: Names,
    function: u32,
    system_call: SymbolId,
    recognition: Recognition,
    /// Functions whose calls and returns are told.
    told: Recognition,
    /// How calls are noted, if they are.
    calls: Option<Calls>,
    /// Blocks that end with calls, by return address.
    call_sites: FxHashMap<u64, u32>,
    /// By address of their first instruction.
    blocks: FxHashMap<u64, u32>,
}

impl MachineProgram {
    /// The program, and the module its code will be in: link it alone, or last.
    pub fn new(elf: Elf) -> Result<(MachineProgram, Module), MachineError> {
        MachineProgram::with(elf, &[], &[], None)
    }

    /// As [`MachineProgram::new`]; functions known by these names are not run but called, as undefined functions of the module, calls
    /// are noted beside this stack, and, if they are, those of the functions of these names are told.
    pub fn with(elf: Elf, known: &[Known], told: &[Known], shadowed: Option<Shadowed>) -> Result<(MachineProgram, Module), MachineError> {
        let decoder = Decoder::new(elf.cpu)?;
        let registers = RegisterFile::new(elf.cpu, &decoder)?;
        let stack = registers.named(elf.cpu.stack_pointer)?;
        let (stack_pointer, stack_limb) = (stack.param, stack.limb);
        let mut m = ModuleBuilder::new();
        let system_call = m.symbol(SYSTEM_CALL);
        m.declare_function(system_call);
        let recognition = Recognition::of_library(&elf, known, &mut m);
        let told = Recognition::of_program(&elf, told, &mut m);
        let result = registers.named(elf.cpu.call.result)?.param;
        let mut declared = |name| {
            let symbol = m.symbol(name);
            m.declare_function(symbol);
            symbol
        };
        let calls = shadowed.map(|stack| {
            let returned = (!told.is_empty()).then(|| (declared(RETURNED), result));
            Calls { stack, bad_return: declared(BAD_RETURN), returned }
        });
        let symbol = m.symbol(FUNCTION);
        let (params, flags) = (registers.params(), function_flags::NO_RETURN);
        let def = FunctionDef { name: FUNCTION, params: &params, ret_width: 0, flags, loc: 0 };
        let mut b = m.function(symbol, linkage::STRONG, def)?;
        let entry = b.block();
        b.start(entry);
        let start = b.param(registers.named(elf.cpu.instruction_pointer)?.param);
        place::READY.iter().for_each(|value| _ = b.int(64, *value));
        b.jump(start);
        let function = b.finish()?;
        let ModuleBuilder { module, names } = m;
        let (blocks, call_sites) = (FxHashMap::default(), FxHashMap::default());
        Ok((
            MachineProgram {
                elf,
                decoder,
                registers,
                stack_pointer,
                stack_limb,
                names,
                function,
                system_call,
                recognition,
                told,
                calls,
                call_sites,
                blocks,
            },
            module,
        ))
    }

    /// The arguments to call the function with: a value per limb, as the CPU starts but for these registers' lowest limbs.
    pub fn arguments(&self, values: &[(&str, u64)]) -> Result<Vec<u64>, MachineError> {
        let mut limbs = vec![0; self.registers.limbs];
        for (name, value) in self.elf.cpu.initial.iter().chain(values) {
            limbs[self.registers.named(name)?.limb] = *value;
        }
        Ok(limbs)
    }

    /// The arguments to start a program with: at its entry, with this stack pointer.
    pub fn start_arguments(&self, stack: u64) -> Result<Vec<u64>, MachineError> {
        let cpu = self.elf.cpu;
        self.arguments(&[(cpu.instruction_pointer, self.elf.entry), (cpu.stack_pointer, stack)])
    }

    /// Which of the arguments is the stack pointer.
    pub fn stack_argument(&self) -> usize {
        self.stack_limb
    }

    /// Is there code at the address that will stay as it is?
    fn check(&self, address: u64) -> Result<(), NoCode> {
        match self.elf.segment(address) {
            Some(s) if s.executable && s.writable => Err(NoCode::Unsupported(format!("code at {address:#x}, which can be written"))),
            Some(s) if s.executable => Ok(()),
            Some(s) => Err(NoCode::NotExecutable(address, format!(" in `{}`, which may not be executed", s.name))),
            None => Err(NoCode::NotExecutable(address, ", where no code is".to_owned())),
        }
    }
}

/// The bytes an instruction may have at an address: as many as are there, up to `max`.
fn bytes_at(read: ReadBytes<'_>, address: u64, max: usize) -> Vec<u8> {
    let mut bytes = vec![0; max];
    if read(address, &mut bytes) {
        return bytes;
    }
    let there = (0..max).take_while(|&i| read(address.wrapping_add(i as u64), &mut bytes[i..=i])).count();
    bytes.truncate(there);
    bytes
}

impl CodeSource for MachineProgram {
    fn block_at(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Result<u32, NoCode> {
        if let Some(&block) = self.blocks.get(&address) {
            return Ok(block);
        }
        self.check(address)?;
        let mut names = std::mem::take(&mut self.names);
        let lowered = Session::run(self, module, &mut names, address, read);
        self.names = names;
        let (new, calls) = lowered.map_err(|e| NoCode::Unsupported(e.to_string()))?;
        self.blocks.extend(new.into_iter().map(|(address, block)| (address, block.index())));
        self.call_sites.extend(calls.into_iter().map(|(address, block)| (address, block.index())));
        self.blocks.get(&address).copied().ok_or_else(|| NoCode::NotExecutable(address, " without code".to_owned()))
    }

    fn executable(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for s in self.elf.segments.iter().filter(|s| s.executable && !s.writable) {
            match ranges.last_mut() {
                Some((base, size)) if *base + *size == s.base => *size += s.size,
                _ => ranges.push((s.base, s.size)),
            }
        }
        ranges
    }

    fn calls_in_progress(&self, limb: &dyn Fn(usize) -> Option<u64>, read: ReadBytes<'_>, most: usize) -> Vec<u32> {
        let (Some(Calls { stack, .. }), Some(pointer)) = (self.calls, limb(self.stack_limb)) else { return Vec::new() };
        let backs = calls::in_progress(stack, pointer, read, most).into_iter();
        // What begins `main` is no part of the program.
        let begins = |back: &u64| self.elf.function(back.wrapping_sub(1)).is_some_and(|f| BEGIN.contains(&f.name.as_str()));
        backs.take_while(|back| !begins(back)).filter_map(|back| self.call_sites.get(&back).copied()).collect()
    }
}

/// The new blocks by address, and those that end with calls by return address.
type Grown = (FxHashMap<u64, BlockId>, Vec<(u64, BlockId)>);

/// One growth of the function: from an address, along fixed branches.
struct Session<'p> {
    program: &'p MachineProgram,
    new: FxHashMap<u64, BlockId>,
    /// To be lowered.
    queue: VecDeque<(u64, BlockId)>,
    /// Beyond the bound: blocks that only jump.
    jumps: Vec<(u64, BlockId)>,
}

impl Session<'_> {
    fn run(
        program: &MachineProgram,
        module: &mut Module,
        names: &mut Names,
        address: u64,
        read: ReadBytes<'_>,
    ) -> Result<Grown, wryneck_ir::build::BuildError> {
        let mut builder = FunctionBuilder::append(module, names, program.function)?;
        let mut session = Session { program, new: FxHashMap::default(), queue: VecDeque::new(), jumps: Vec::new() };
        let mut places = Places::new(&mut builder, &program.registers);
        session.block_of(&mut places, address);
        while let Some((address, block)) = session.queue.pop_front() {
            session.lower(&mut places, address, block, read);
        }
        for (address, block) in session.jumps {
            places.at(&program.elf, address);
            places.builder.start(block);
            let to = places.constant(64, address);
            places.builder.jump(to);
            places.end();
        }
        let calls = std::mem::take(&mut places.calls);
        builder.finish()?;
        Ok((session.new, calls))
    }

    /// The block that stands for a code address: there already, to be lowered, or a jump.
    fn block_of(&mut self, places: &mut Places<'_, '_, '_>, address: u64) -> BlockId {
        if let Some(&block) = self.new.get(&address) {
            return block;
        }
        if let Some(&block) = self.program.blocks.get(&address) {
            return places.builder.existing(block);
        }
        let block = places.builder.block();
        if self.new.len() < MAX_BLOCKS && self.program.check(address).is_ok() {
            self.new.insert(address, block);
            self.queue.push_back((address, block));
        } else {
            self.jumps.push((address, block));
        }
        block
    }

    fn lower(&mut self, places: &mut Places<'_, '_, '_>, address: u64, block: BlockId, read: ReadBytes<'_>) {
        let program = self.program;
        let max = program.elf.cpu.max_instruction;
        let bytes = |at: u64| if program.check(at).is_ok() { bytes_at(read, at, max) } else { Vec::new() };
        let begins = |at: u64| {
            self.new.contains_key(&at) || program.blocks.contains_key(&at) || program.recognition.contains(at) || program.told.contains(at)
        };
        let surroundings = Surroundings {
            cpu: program.elf.cpu,
            decoder: &program.decoder,
            registers: &program.registers,
            system_call: program.system_call,
            calls: program.calls,
            stack_pointer: program.stack_pointer,
        };
        places.builder.start(block);
        places.forget();
        if program.recognition.contains(address) {
            places.at(&program.elf, address);
            if let Err(why) = self.stand_in(&surroundings, places, address) {
                places.builder.unsupported(&why.to_string());
            }
            return;
        }
        if let Err(why) = self.tell(&surroundings, places, address) {
            return places.builder.unsupported(&why.to_string());
        }
        let code = Block::decode(&program.decoder, address, &bytes, &begins);
        for it in &code.instructions {
            places.at(&program.elf, it.address);
            lift::instruction(&surroundings, places, it, &bytes(it.address), &mut |places, to| self.block_of(places, to));
        }
        if !places.builder.in_block() {
            return;
        }
        match code.broken {
            Some(why) => places.builder.unsupported(&why),
            None => {
                let next = self.block_of(places, code.end);
                places.builder.jump_to(next);
            }
        }
    }

    /// Tells that a function begins, if somebody wants to know.
    fn tell(&self, s: &Surroundings<'_>, places: &mut Places<'_, '_, '_>, address: u64) -> Result<(), MachineError> {
        let Some(calls) = s.calls.filter(|_| self.program.told.contains(address)) else { return Ok(()) };
        places.at(&self.program.elf, address);
        if let Some(wanted) = self.program.told.tell(address, s.cpu, s.registers, places)? {
            calls.stack.tell_return(places, s.stack_pointer, wanted);
        }
        places.end();
        Ok(())
    }

    /// A recognised function: the call of its model, and the return.
    fn stand_in(&mut self, s: &Surroundings<'_>, places: &mut Places<'_, '_, '_>, address: u64) -> Result<(), MachineError> {
        let program = self.program;
        // SLEIGH remembers instructions by address: none is at this one.
        let returns = s.cpu.call.returns;
        let back = program.decoder.decode(0, returns)?;
        program.recognition.call(address, s.cpu, s.registers, places)?;
        places.end();
        lift::instruction(s, places, &back, returns, &mut |places, to| self.block_of(places, to));
        Ok(())
    }
}
