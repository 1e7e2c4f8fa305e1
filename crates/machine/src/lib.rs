//! Machine code: ELF executables on the same IR as bitcode (docs/design/003).
//!
//! All machine code of a program is **one IR function**, whose parameters are the register file and which never returns. It starts as one
//! block that jumps to the instruction pointer. Whenever the engine reaches an address without a block, [`MachineProgram::block_at`]
//! extends the function: by the block there, and the blocks along its fixed branches and calls, up to a bound. Beyond the bound is a
//! jump, which requests the next extension if it is ever reached.
//!
//! Suggested reading order: [`elf`], [`pcode`] (decoded instructions), [`block`] and [`simplify`] (removing what is not needed),
//! [`registers`] and [`place`] (where values live), [`lift`]. System calls are calls of [`SYSTEM_CALL`], which the environment models.
//!
//! Limits: code is lifted from memory that is not writable, so it never changes. MMX, EVEX and the other instructions that
//! `docs/results/lift.jsonl` names are unsupported where they are reached. AF is not computed. Floating-point exceptions set no flags.

#![forbid(unsafe_code)]

pub mod anchor;
pub mod block;
pub mod calls;
pub mod cpu;
pub mod disassembly;
pub mod dwarf;
pub mod elf;
mod errno;
pub mod error;
mod flow;
mod frames;
mod growth;
mod kept;
pub mod library;
pub mod lift;
pub mod link;
pub mod load;
mod opcode;
pub mod pcode;
pub mod place;
pub mod prototype;
mod ranges;
pub mod recognise;
pub mod registers;
mod relocate;
pub mod scope;
mod shape;
mod simplify;
pub mod sleigh;
pub mod types;
mod unaddressed;
mod uses;
pub mod variables;
mod variants;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};
use wryneck_ir::build::{FunctionDef, ModuleBuilder, Names};
use wryneck_ir::code_source::{Data, FrameVariables, LoopPast, ReadBytes, Stack, Taken, ThreadImage, Unaddressed, ValueUses};
use wryneck_ir::{
    ActiveCall, Calling, CodeObject, ControlFlow, Convention, Lowering, Module, NoCode, Objects, SymbolId, Transfer, function_flags,
    linkage,
};

pub use elf::{Elf, Segment};
pub use error::MachineError;
pub use kept::Kept;
pub use library::{LIBRARY_START, Library};
pub use load::Process;
pub use recognise::{Known, More, Passed};

use block::Ahead;
use calls::{BAD_RETURN, Calls, RETURNED, Shadowed};
use flow::Ways;
use growth::{Grown, Session};
use lift::Surroundings;
use pcode::{Decoder, Space, Varnode};
use place::Places;
use recognise::Recognition;
use registers::RegisterFile;
use variables::Variables;

/// The function that machine code calls for a system call: number and six arguments, 64 bits each, to a 64-bit result.
pub const SYSTEM_CALL: &str = "__wryneck_syscall";
/// The function that all machine code is.
pub const FUNCTION: &str = "__wryneck_machine_code";

/// Functions of C libraries in which programs begin.
const BEGIN: [&str; 4] = ["__libc_start_main", "_start", "_start_c", "libc_start_main_stage2"];
/// The return address of functions that are called from outside; nothing else has this address.
pub const BACK: u64 = load::STACK - (1 << 33);
/// Bytes at the end of the stack that belong to callers from outside.
const CALLERS: u64 = 4096;

/// An executable whose code is lifted on demand.
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
    /// Functions whose calls and returns are observed.
    told: Recognition,
    /// The shadow stack, if there is one.
    calls: Option<Calls>,
    convention: Convention,
    /// The known bounds of variables, if bounds are on, and the registers that addresses are computed from.
    variables: Variables,
    addressed_by: anchor::Registers,
    /// How control leaves blocks.
    ways: Ways,
    loops_past: uses::LoopsPast,
    /// Addresses right behind functions, ascending, once they were asked for.
    ends: OnceCell<Vec<u64>>,
    /// Whether code of the program reads saved frame pointers, once that was asked for.
    walks_frames: OnceCell<bool>,
    /// The addresses that code was lifted from: the number of the module's first instruction, and the address. By number.
    addresses: Vec<(u32, u64)>,
    blocks: FxHashMap<Start, u32>,
    ahead: Ahead,
    /// The addresses of blocks, except of those after an observed beginning.
    named: FxHashMap<u32, u64>,
    /// Cached lifting of earlier runs, by file, if the cache is used.
    kept: Vec<Kept>,
}

/// In the names of code that compilers move out of functions. It has a symbol but is never called.
const COLD: &str = ".cold";

/// Where a block of code begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Start {
    address: u64,
    /// After the observation of the function that begins there.
    told: bool,
}

impl Start {
    fn at(address: u64) -> Start {
        Start { address, told: false }
    }
}

impl MachineProgram {
    /// The program, and the module its code will be in: link it alone, or last.
    pub fn new(elf: Elf) -> Result<(MachineProgram, Module), MachineError> {
        MachineProgram::with(elf, &[], &[], None)
    }

    /// Has addresses anchored at the variables that debug information tells of. Before any code is lowered.
    pub fn with_variables(mut self) -> MachineProgram {
        let size = |address: u64| self.elf.data(address).map_or(0, |s| s.size);
        for dwarf in &self.elf.dwarf {
            dwarf.variables(self.elf.cpu.frame_pointer.1, &size, &|address| self.elf.array(address), &mut self.variables);
        }
        self.variables.add_known_by_symbols(&self.elf);
        if self.elf.code_on_stack {
            self.variables.forget_frames();
        }
        self
    }

    /// Has addresses anchored at the frames that unwinding tables tell of, of functions of which nothing better is known. Before any code is
    /// lowered.
    pub fn with_frames(mut self) -> MachineProgram {
        self.variables.add_known_by_unwinding(&self.elf);
        self
    }

    /// Also lifts forms that no CPU has confirmed: for tests that compare the result with the CPU.
    pub fn trust_all_forms(&mut self) {
        self.decoder.trusts_all = true;
    }

    /// As [`MachineProgram::new`]. Functions in `known` are hooked: they become calls of undefined functions of the module. Calls are tracked in the shadow of
    /// this stack. If they are tracked, calls of the functions in `told` are observed.
    pub fn with(elf: Elf, known: &[Known], told: &[Known], shadowed: Option<Shadowed>) -> Result<(MachineProgram, Module), MachineError> {
        let decoder = Decoder::new(elf.cpu)?;
        let registers = RegisterFile::new(elf.cpu, &decoder)?;
        let stack = registers.named(elf.cpu.stack_pointer)?;
        let (stack_pointer, stack_limb) = (stack.param, stack.limb);
        let register = |name| registers.named(name).map(|r| Varnode { space: Space::Register, offset: r.offset, size: r.size });
        let addressed_by =
            anchor::Registers { frame_pointer: register(elf.cpu.frame_pointer.0)?, stack_pointer: register(elf.cpu.stack_pointer)? };
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
        let calling = shadowed.map(|stack| calling(&elf, &registers, stack)).transpose()?;
        let convention = flow::convention(elf.cpu, &registers, calling)?;
        let symbol = m.symbol(FUNCTION);
        let params = registers.params();
        // It returns to its caller from outside.
        let (flags, ret_width) = if convention.calling.is_some() { (0, 64) } else { (function_flags::NO_RETURN, 0) };
        let def = FunctionDef { name: FUNCTION, params: &params, ret_width, flags: flags | function_flags::GROWS, loc: 0 };
        let mut b = m.function(symbol, linkage::STRONG, def)?;
        let entry = b.block();
        b.start(entry);
        let start = b.param(registers.named(elf.cpu.instruction_pointer)?.param);
        place::READY.iter().for_each(|value| _ = b.int(64, *value));
        b.jump(start);
        let function = b.finish()?;
        let ModuleBuilder { module, names } = m;
        let (blocks, named) = (FxHashMap::default(), FxHashMap::default());
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
                convention,
                variables: Variables::default(),
                addressed_by,
                ways: Ways::default(),
                loops_past: uses::LoopsPast::default(),
                ends: OnceCell::new(),
                walks_frames: OnceCell::new(),
                addresses: Vec::new(),
                blocks,
                ahead: Ahead::default(),
                named,
                kept: Vec::new(),
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

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            cpu: self.elf.cpu,
            decoder: &self.decoder,
            registers: &self.registers,
            system_call: self.system_call,
            calls: self.calls,
            stack_pointer: self.stack_pointer,
        }
    }

    /// Whether this address returns to a caller from outside.
    fn goes_back(&self, address: u64) -> bool {
        self.convention.calling.as_ref().is_some_and(|calling| calling.back == address)
    }

    /// Returns to outside, with what the result's register has.
    fn go_back(&self, places: &mut Places<'_, '_, '_>) {
        places.forget();
        let result = self.registers.named(self.elf.cpu.call.result).map(|r| r.param);
        match result {
            Ok(param) => {
                let value = places.register(param);
                places.builder.ret(64, Some(value));
            }
            Err(why) => places.builder.unsupported(&why.to_string()),
        }
    }

    /// The address that an instruction of the module was lifted from.
    pub fn address_of(&self, instruction: u32) -> Option<u64> {
        let before = self.addresses.partition_point(|(first, _)| *first <= instruction).checked_sub(1)?;
        Some(self.addresses[before].1)
    }

    /// Where a register of the file is in the register space.
    pub fn register(&self, name: &str) -> Option<Varnode> {
        let r = self.registers.named(name).ok()?;
        Some(Varnode { space: Space::Register, offset: r.offset, size: r.size })
    }

    /// The frame pointer of a function that keeps one, by its first instructions.
    pub fn frame_pointer_of(&self, function: &elf::Symbol) -> Option<Varnode> {
        self.register(self.elf.cpu.frame_pointer.0).filter(|_| frames::keeps_frame_pointer(&self.elf, function))
    }

    /// Lowers the blocks at an address and along its fixed branches.
    fn grow(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Result<Grown, NoCode> {
        let (mut names, ahead) = (std::mem::take(&mut self.names), std::mem::take(&mut self.ahead));
        let kept = self.kept.iter().position(|kept| kept.holds(address));
        let before = module.lengths();
        if kept.is_some() {
            names.note();
        }
        let lowered = Session::run(self, module, &mut names, ahead, address, read);
        let asked = names.take_asked();
        self.names = names;
        let (grown, ahead) = lowered.map_err(|e| NoCode::Unsupported(e.to_string()))?;
        self.ahead = ahead;
        if let Some(kept) = kept {
            self.kept[kept].keep(address, module, &before, &asked, &grown);
        }
        Ok(grown)
    }

    /// Has growths that earlier runs kept of a file replayed, and new ones kept; of several that hold an address the first counts. Before any
    /// code is lowered; of a file with the same content and the same [`MachineProgram::shape`] at the same addresses.
    pub fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
    }

    /// What there is to keep for later runs, in the order of [`MachineProgram::keep`]; `None` where nothing is new.
    pub fn kept(&self) -> impl Iterator<Item = Option<&Module>> {
        self.kept.iter().map(Kept::to_module)
    }

    /// A hash of what lifting depends on at these addresses, apart from the program's files: which functions are hooked and observed, and how.
    pub fn shape(&self, range: &Range<u64>) -> u64 {
        let mut hasher = FxHasher::default();
        (range.start, range.end, self.calls, self.system_call).hash(&mut hasher);
        (self.recognition.at(range), self.told.at(range)).hash(&mut hasher);
        self.variables.touch(range).then_some(self.variables.objects.len()).hash(&mut hasher);
        let first = self.elf.symbols.partition_point(|s| s.address < range.start);
        self.elf.symbols[first..].iter().take_while(|s| s.address < range.end).for_each(|s| s.hash(&mut hasher));
        hasher.finish()
    }

    /// Whether of all content lifting code at these addresses hangs on that of the file there alone. Where variables are known their
    /// numbers hang on those of other files.
    pub fn stands_alone(&self, range: &Range<u64>) -> bool {
        !self.variables.touch(range)
    }

    /// The bytes of an instruction at an address, as many as there are: those of the file, which cannot change.
    fn code_at(&self, address: u64, read: ReadBytes<'_>) -> Cow<'_, [u8]> {
        let max = self.elf.cpu.max_instruction;
        let segment = self.elf.segment(address).filter(|s| s.executable && !s.writable);
        match segment.and_then(|s| s.bytes.get((address - s.base) as usize..)?.get(..max)) {
            Some(bytes) => Cow::Borrowed(bytes),
            None if self.check(address).is_ok() => Cow::Owned(bytes_at(read, address, max)),
            None => Cow::Borrowed(&[]),
        }
    }

    /// Is there code at the address that will stay as it is?
    fn check(&self, address: u64) -> Result<(), NoCode> {
        if self.goes_back(address) || self.recognition.contains(address) {
            return Ok(());
        }
        if let Some(missing) = self.elf.linked.outside_at(address).filter(|o| o.address == address) {
            return Err(NoCode::Unsupported(format!("call of `{}`, {}", missing.name, missing.why)));
        }
        self.elf.code_at(address)
    }
}

/// How functions are called from outside, on this stack.
fn calling(elf: &Elf, registers: &RegisterFile, stack: Shadowed) -> Result<Calling, MachineError> {
    let cpu = elf.cpu;
    let limb = |name| registers.named(name).map(|r| r.limb);
    let mut initial = vec![0; registers.limbs];
    let pointer = stack.base + stack.size - CALLERS;
    let own = [(cpu.stack_pointer, pointer), (cpu.thread_pointer, elf.linked.thread_pointer.unwrap_or(0))];
    for (name, value) in cpu.initial.iter().chain(&own) {
        initial[limb(name)?] = *value;
    }
    Ok(Calling { initial, instruction_pointer: limb(cpu.instruction_pointer)?, back: BACK, shadow: stack.shadow.wrapping_sub(stack.base) })
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

impl Lowering for MachineProgram {
    fn block_at(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Result<u32, NoCode> {
        if let Some(&block) = self.blocks.get(&Start::at(address)) {
            return Ok(block);
        }
        self.check(address)?;
        let kept = self.kept.iter().find(|kept| kept.holds(address));
        let grown = kept.and_then(|kept| kept.replay(address, module, &mut self.names, &self.blocks, read));
        let grown = match grown {
            Some(grown) => grown,
            None => self.grow(address, module, read)?,
        };
        let begins = |back: u64| self.elf.function(back.wrapping_sub(1)).is_some_and(|f| BEGIN.contains(&f.name.as_str()));
        self.ways.grow(&grown, &begins);
        let Grown { new, addresses, .. } = grown;
        self.addresses.extend(addresses);
        self.named.extend(new.iter().filter(|(start, _)| !start.told).map(|(start, block)| (*block, start.address)));
        self.blocks.extend(new);
        self.blocks.get(&Start::at(address)).copied().ok_or_else(|| NoCode::NotExecutable(address, " without code".to_owned()))
    }

    fn take_beyond(&mut self) -> Vec<u64> {
        let beyond = self.ways.take_beyond();
        beyond.into_iter().filter(|address| self.block_of(*address).is_none() && self.check(*address).is_ok()).collect()
    }

    fn map_code(&mut self, address: u64, bytes: Vec<u8>, file: &dyn Fn() -> Vec<u8>, offset: u64) -> bool {
        match self.elf.map_code(address, bytes) {
            Some(true) => {}
            other => return other.is_some(),
        }
        let file = file();
        if let Some(base) = elf::base_of(&file, offset, address) {
            let (symbols, chosen) = elf::library_symbols(&file, base);
            self.recognition.add(&symbols, &chosen, &Library::counts(&self.elf, &symbols));
            self.told.add(&symbols, &chosen, &|_| true);
            self.elf.add_symbols(symbols);
            variants::name(self, &chosen);
            self.elf.chosen.extend(chosen);
            self.ends = OnceCell::new();
        }
        true
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

    fn any_function(&self) -> Option<u64> {
        self.elf.linked.any_function()
    }

    fn address_of(&self, instruction: u32) -> Option<u64> {
        MachineProgram::address_of(self, instruction)
    }

    fn begins_at(&self, name: &str, address: u64) -> bool {
        self.elf.names_at(address).any(|(known, _)| known == name) || recognise::is_chosen_at(&self.elf, name, address)
    }
}

impl Objects for MachineProgram {
    fn object(&self, number: u32) -> Option<&CodeObject> {
        self.variables.object(number)
    }

    fn has_returned(&self, number: u32, base: u64, read: ReadBytes<'_>) -> bool {
        let (Some(Calls { stack, .. }), Some(back)) = (self.calls, self.variables.return_address(number)) else { return false };
        calls::is_over(stack, base.wrapping_add_signed(back), read)
    }

    fn frame_variables(&self, address: u64) -> Option<FrameVariables> {
        let walks = *self.walks_frames.get_or_init(|| frames::are_walked(&self.elf));
        self.variables.frame(address).filter(|_| !walks)
    }

    fn data(&self, address: u64) -> Option<Data> {
        let symbol = self.elf.data_over(address)?;
        Some(Data { name: symbol.name.clone(), address: symbol.address, size: symbol.size })
    }

    fn errno(&self, thread: u64, read: ReadBytes<'_>) -> Option<u64> {
        errno::address(self, thread, read)
    }

    fn address_of_data(&self, name: &str) -> Option<u64> {
        self.elf.visible_data(name)
    }

    fn bounds(&self, address: u64) -> Option<(u64, u64)> {
        let array = self.elf.array(address).map(|(_, start, size)| (start, size));
        array.or_else(|| self.elf.data_over(address).map(|symbol| (symbol.address, symbol.size)))
    }

    fn unaddressed(&self) -> Vec<Unaddressed> {
        unaddressed::unaddressed(&self.elf)
    }

    fn thread_image(&self) -> ThreadImage {
        self.elf.thread_image
    }

    fn stack(&self) -> Option<Stack> {
        let stack = self.calls?.stack;
        Some(Stack { base: stack.base, size: stack.size, shadow: (stack.shadow, stack.size + calls::SPARE), rooms: stack.rooms })
    }

    fn elsewhere(&self, address: u64) -> Option<&str> {
        self.elf.linked.outside_at(address).map(|o| o.name.as_str())
    }

    fn has_function(&self, name: &str) -> Option<bool> {
        self.elf.has_function(name)
    }

    fn has_destructors(&self) -> bool {
        // The compiler's own start has one.
        let sections = self.elf.segments.iter().filter(|s| s.name.starts_with(".fini_array"));
        sections.map(|s| s.size).sum::<u64>() > 8
    }
}

impl ControlFlow for MachineProgram {
    fn block_of(&self, address: u64) -> Option<u32> {
        self.blocks.get(&Start::at(address)).copied()
    }

    fn transfer(&self, block: u32) -> Transfer {
        self.ways.of(block)
    }

    fn call_blocks(&self) -> Vec<u32> {
        self.ways.calls()
    }

    fn names_of(&self, block: u32) -> Vec<(String, bool)> {
        self.named.get(&block).into_iter().flat_map(|address| self.elf.names_at(*address)).collect()
    }

    fn entry_around(&self, block: u32) -> Option<u32> {
        let address = *self.named.get(&block)?;
        let function = self.elf.function(address).filter(|f| address - f.address < f.size && !f.name.contains(COLD))?;
        self.block_of(function.address)
    }

    fn is_behind_function(&self, address: u64) -> bool {
        self.ends.get_or_init(|| frames::ends(&self.elf)).binary_search(&address).is_ok()
    }

    fn convention(&self) -> Option<&Convention> {
        Some(&self.convention)
    }

    fn calls_in_progress(&self, limb: &dyn Fn(usize) -> Option<u64>, read: ReadBytes<'_>, most: usize) -> Vec<ActiveCall> {
        let (Some(Calls { stack, .. }), Some(pointer)) = (self.calls, limb(self.stack_limb)) else { return Vec::new() };
        let call = |(base, back)| {
            let site = self.ways.call_to(back);
            ActiveCall {
                base,
                block: site.map(|(block, _)| block),
                is_outer: self.goes_back(back) || site.is_some_and(|(_, begins)| begins),
            }
        };
        calls::in_progress(stack, pointer, read, most).into_iter().map(call).collect()
    }

    fn uses_of_result(&self, instruction: u32) -> Option<ValueUses> {
        MachineProgram::uses_of_result(self, self.address_of(instruction)?)
    }

    fn loop_past(&self, taken: Taken) -> Option<Rc<LoopPast>> {
        MachineProgram::loop_past(self, taken)
    }
}
