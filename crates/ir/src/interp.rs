//! The reference interpreter: runs a linked [`Program`] on concrete values, one instruction after another, as the operator
//! table says and nothing else. It is the oracle for the engine, so it stays naive: every operand is a fresh vector of limbs,
//! memory is a sorted map of objects ([`memory`]), nothing is cached. Some millions of instructions per second.
//!
//! Faults are results ([`Fault`]), so are exits. Functions nobody defines go to an [`Externals`]; [`Libc`] knows a handful.
//! Memory nobody wrote reads as 0. Machine code's computed jumps need the engine's code source; here they are a fault.

pub mod externals;
pub mod memory;
mod step;

pub use externals::{Answer, ExternalCall, Externals, Libc};
pub use memory::Memory;

use crate::inst::limbs;
use crate::link::{FuncId, LinkedGlobal, Program, Target, UndefId};
use crate::module::{LocId, SymbolId, param_kind};

/// What the program did wrong, or what cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{} of {size} bytes at {address:#x}, where there is no such object", if *.write { "write" } else { "read" })]
    OutOfBounds { address: u64, size: u64, write: bool },
    #[error("write of {size} bytes at {address:#x}, which is read-only")]
    ReadOnly { address: u64, size: u64 },
    #[error("access at {address:#x}, which is not aligned to {align}")]
    Misaligned { address: u64, align: u32 },
    #[error("free of {address:#x}, which is no live heap object")]
    BadFree { address: u64 },
    #[error("copy between overlapping ranges")]
    Overlap,
    #[error("division by zero")]
    DivisionByZero,
    #[error("the quotient of the least number and -1")]
    DivisionOverflow,
    #[error("shift by at least the width")]
    ShiftTooFar,
    #[error("call of {address:#x}, which is no function")]
    BadCall { address: u64 },
    #[error("call of `{name}`, which nobody defines")]
    UndefinedFunction { name: String },
    #[error("jump to {address:#x}: there is no code source")]
    Jump { address: u64 },
    #[error("control reached what it cannot reach")]
    Unreachable,
    #[error("trap: {0}")]
    Trap(String),
    #[error("unsupported: {0}")]
    Unsupported(String),
    #[error("an object of {size} bytes, too many for this interpreter")]
    OutOfMemory { size: u64 },
    #[error("more than {MAX_DEPTH} calls deep")]
    StackOverflow,
    #[error("aborted")]
    Abort,
    #[error("not a verified module: `{op}` at {width} bits")]
    Unverified { op: &'static str, width: u16 },
}

/// Why running stopped before the function returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program ended itself.
    Exit(i32),
    /// Where: the function and the position of the instruction in its module.
    Fault { fault: Fault, function: FuncId, loc: LocId },
    /// The step limit was reached.
    Limit,
}

/// Calls deeper than this are a stack overflow.
pub const MAX_DEPTH: usize = 20_000;

/// Function `id`, defined or not, has the address `CODE + 16 * id`; the undefined come after the defined.
const CODE: u64 = 0x1000_0000;
/// Undefined data number `n` is at this plus 4096 * n, where there is no object.
const MISSING_DATA: u64 = 0x7000_0000_0000;

struct Frame {
    function: FuncId,
    unit: u32,
    slots: Vec<u64>,
    /// Block of the function, and instruction of the module's table.
    block: u32,
    next: u32,
    /// Addresses of the static allocas, of copies of structures passed by value, and of dynamic allocas.
    allocas: Vec<u64>,
    copies: Vec<u64>,
    dynamic: Vec<u64>,
    /// Where the caller wants the result, and its limbs.
    result: (u32, u32),
}

/// A running program.
pub struct Interp<'p, E> {
    program: &'p Program,
    pub externals: E,
    pub memory: Memory,
    globals: Vec<u64>,
    frames: Vec<Frame>,
    returned: Vec<u64>,
    /// Instructions left before [`Stop::Limit`].
    pub steps_left: u64,
}

impl<'p, E: Externals> Interp<'p, E> {
    /// Lays out the program's variables. `steps` is the most instructions that will run.
    pub fn new(program: &'p Program, externals: E, steps: u64) -> Result<Interp<'p, E>, Fault> {
        let mut memory = Memory::default();
        let place = |g: &LinkedGlobal| {
            let module = &program.units[g.place.unit as usize].module;
            let align = module.globals[g.place.index as usize].align;
            if g.live { memory.allocate(memory::Kind::Global, g.size, align.into()) } else { Ok(0) }
        };
        let globals = program.globals().iter().map(place).collect::<Result<Vec<u64>, Fault>>()?;
        let (frames, returned) = (Vec::new(), Vec::new());
        let mut interp = Interp { program, externals, memory, globals, frames, returned, steps_left: steps };
        interp.initialise()?;
        Ok(interp)
    }

    fn initialise(&mut self) -> Result<(), Fault> {
        for (i, g) in self.program.globals().iter().enumerate().filter(|(_, g)| g.live) {
            let module = &self.program.units[g.place.unit as usize].module;
            let global = &module.globals[g.place.index as usize];
            let base = self.globals[i];
            let mut bytes = module.bytes.range(global.init).to_vec();
            bytes.resize(g.size as usize, 0);
            for r in module.relocs.range(global.relocs) {
                let value = self.address(g.place.unit, r.symbol).wrapping_add(r.addend as u64);
                bytes[r.offset as usize..][..8].copy_from_slice(&value.to_le_bytes());
            }
            self.memory.write(base, &bytes)?;
            if global.flags & crate::module::global_flags::READ_ONLY != 0 {
                self.memory.make_read_only(base);
            }
        }
        Ok(())
    }

    /// Address of a unit's symbol.
    pub fn address(&self, unit: u32, symbol: SymbolId) -> u64 {
        self.target_address(self.program.target(unit, symbol))
    }
    fn target_address(&self, target: Target) -> u64 {
        match target {
            Target::Func(f) => CODE + 16 * u64::from(f.0),
            Target::Data(g, offset) => self.globals[g.0 as usize].wrapping_add(offset),
            Target::Undefined(u) if self.program.undefined()[u.0 as usize].function => {
                CODE + 16 * (self.program.functions().len() as u64 + u64::from(u.0))
            }
            Target::Undefined(u) => MISSING_DATA + 4096 * u64::from(u.0),
            Target::Null => 0,
        }
    }
    /// What a call of the symbol's target runs.
    fn callee(&self, target: Target) -> Option<Callee> {
        match target {
            Target::Func(id) => Some(Callee::Defined(id)),
            Target::Undefined(id) => {
                let name = &self.program.undefined()[id.0 as usize].name;
                Some(Callee::External(String::from_utf8_lossy(name).into_owned()))
            }
            Target::Data(..) | Target::Null => None,
        }
    }
    /// What code there is at an address.
    fn code_at(&self, address: u64) -> Option<Callee> {
        let n = address.checked_sub(CODE).filter(|d| d % 16 == 0)? / 16;
        let functions = self.program.functions().len() as u64;
        if n < functions {
            return Some(Callee::Defined(FuncId(n as u32)));
        }
        let id = u32::try_from(n - functions).ok().filter(|&id| (id as usize) < self.program.undefined().len())?;
        self.callee(Target::Undefined(UndefId(id)))
    }

    /// Runs constructors, `main(argc, argv, envp)` and destructors; the result is the exit status or why it stopped.
    /// `None`: there is no `main`.
    pub fn run_main(&mut self, args: &[&[u8]]) -> Option<Stop> {
        let Some(Target::Func(main)) = self.program.lookup("main") else { return None };
        Some(self.try_main(main, args).unwrap_or_else(|stop| stop))
    }
    fn try_main(&mut self, main: FuncId, args: &[&[u8]]) -> Result<Stop, Stop> {
        let vector = self.arguments(args).map_err(|fault| Stop::Fault { fault, function: main, loc: 0 })?;
        for &target in self.program.constructors() {
            self.call_target(target)?;
        }
        let envp = vector + 8 * (args.len() as u64 + 1);
        let status = self.call(main, &[args.len() as u64, vector, envp])?;
        for &target in self.program.destructors() {
            self.call_target(target)?;
        }
        Ok(Stop::Exit(status.first().map_or(0, |&s| s as i32) & 0xff))
    }
    /// `argv` and an empty `envp` after it.
    fn arguments(&mut self, args: &[&[u8]]) -> Result<u64, Fault> {
        let vector = self.memory.allocate(memory::Kind::Global, 8 * (args.len() as u64 + 2), 16)?;
        for (i, arg) in args.iter().enumerate() {
            let string = [arg, &b"\0"[..]].concat();
            let address = self.memory.allocate(memory::Kind::Global, string.len() as u64, 16)?;
            self.memory.write(address, &string)?;
            self.memory.write(vector + 8 * i as u64, &address.to_le_bytes())?;
        }
        Ok(vector)
    }
    fn call_target(&mut self, target: Target) -> Result<(), Stop> {
        match target {
            Target::Func(f) => self.call(f, &[]).map(|_| ()),
            Target::Data(..) | Target::Undefined(_) | Target::Null => Ok(()),
        }
    }

    /// Calls a function with its parameters' limbs (missing ones are 0) and runs until it returns; gives the result's limbs.
    pub fn call(&mut self, function: FuncId, args: &[u64]) -> Result<Vec<u64>, Stop> {
        let depth = self.frames.len();
        self.enter(function, args, (0, 0)).map_err(|fault| Stop::Fault { fault, function, loc: 0 })?;
        while self.frames.len() > depth {
            if self.steps_left == 0 {
                return Err(Stop::Limit);
            }
            self.steps_left -= 1;
            if let Err(halt) = self.step() {
                let stop = match halt {
                    Halt::Fault(fault) => self.stopped(fault),
                    Halt::Exit(status) => Stop::Exit(status),
                };
                return Err(stop);
            }
        }
        Ok(std::mem::take(&mut self.returned))
    }
    /// The slots of the function that runs, or that a fault stopped; none when all have returned.
    pub fn slots(&self) -> &[u64] {
        self.frames.last().map_or(&[], |frame| &frame.slots)
    }
    fn stopped(&self, fault: Fault) -> Stop {
        let Some(frame) = self.frames.last() else { return Stop::Fault { fault, function: FuncId(0), loc: 0 } };
        let module = &self.program.units[frame.unit as usize].module;
        let loc = module.inst_locs[frame.next.saturating_sub(1) as usize];
        Stop::Fault { fault, function: frame.function, loc }
    }

    /// Makes a frame and goes to the entry block.
    fn enter(&mut self, id: FuncId, args: &[u64], result: (u32, u32)) -> Result<(), Fault> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(Fault::StackOverflow);
        }
        let unit = self.program.functions()[id.0 as usize].unit;
        let (module, f) = self.program.function(id);
        let mut slots = vec![0; f.slots as usize];
        for (slot, c) in slots.iter_mut().zip(module.consts.range(f.consts)) {
            let base = if c.symbol == crate::inst::NONE { 0 } else { self.address(unit, c.symbol) };
            *slot = base.wrapping_add(c.value);
        }
        let (mut copies, mut next) = (Vec::new(), 0);
        for p in module.params.range(f.params) {
            for i in 0..limbs(p.width) {
                let value = args.get((next + i) as usize).copied().unwrap_or(0);
                slots[(f.consts.count + next + i) as usize] = value;
            }
            if p.kind == param_kind::BY_VALUE {
                let slot = (f.consts.count + next) as usize;
                let bytes = self.memory.read(slots[slot], p.size.into())?.to_vec();
                slots[slot] = self.memory.allocate(memory::Kind::Stack, p.size.into(), 16)?;
                self.memory.write(slots[slot], &bytes)?;
                copies.push(slots[slot]);
            }
            next += limbs(p.width);
        }
        let allocas = module.allocas.range(f.allocas).iter();
        let allocas = allocas.map(|a| self.memory.allocate(memory::Kind::Stack, a.size, a.align.into()));
        let allocas = allocas.collect::<Result<Vec<u64>, Fault>>()?;
        let next = module.blocks[f.blocks.first as usize].insts.first;
        self.frames.push(Frame { function: id, unit, slots, block: 0, next, allocas, copies, dynamic: Vec::new(), result });
        Ok(())
    }

    /// Drops the frame and hands the result's limbs to the caller.
    fn leave(&mut self, result: Vec<u64>) {
        let Some(frame) = self.frames.pop() else { return };
        for address in frame.allocas.iter().chain(&frame.copies).chain(&frame.dynamic) {
            self.memory.release(*address);
        }
        self.deliver(frame.result, &result);
        self.returned = result;
    }
    /// Writes a call's result where the caller wants it.
    fn deliver(&mut self, (dst, limbs): (u32, u32), result: &[u64]) {
        let Some(frame) = self.frames.last_mut() else { return };
        for i in 0..limbs {
            frame.slots[(dst + i) as usize] = result.get(i as usize).copied().unwrap_or(0);
        }
    }
}

enum Callee {
    Defined(FuncId),
    External(String),
}

/// Why a step ends the run.
enum Halt {
    Fault(Fault),
    Exit(i32),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

#[cfg(test)]
mod tests;
