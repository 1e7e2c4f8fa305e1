//! Our side: the instruction lifted alone into a function whose parameters are the registers and that ends by a jump to
//! wherever control goes; the reference interpreter runs it.

use std::borrow::Cow;
use wryneck_ir::build::{BlockId, FunctionDef, ModuleBuilder, Names};
use wryneck_ir::interp::{Fault, Interp, Libc, Stop};
use wryneck_ir::link::{FuncId, Program, Target, Unit};
use wryneck_ir::{Loc, Module, function_flags, linkage};
use wryneck_machine::block::{Ahead, Block, Code};
use wryneck_machine::cpu::{CPUS, Cpu};
use wryneck_machine::lift::{self, Surroundings};
use wryneck_machine::pcode::Decoder;
use wryneck_machine::place::Places;
use wryneck_machine::registers::RegisterFile;

use crate::OracleError;
use crate::state::{CODE, PAGE, SCRATCH, State, WINDOW, WINDOW_WORDS, flag};

/// Signals, as Linux numbers them.
pub const SIGILL: u32 = 4;
pub const SIGTRAP: u32 = 5;
pub const SIGBUS: u32 = 7;
pub const SIGFPE: u32 = 8;
pub const SIGSEGV: u32 = 11;

/// Instructions of the IR that one instruction may take.
const STEPS: u64 = 100_000;
/// The function that an instruction is.
pub(crate) const NAME: &str = "case";
/// What an engine calls behind the instruction: with the address, and all registers.
pub(crate) const STOP: &str = "stop";

/// What a run from one state comes to.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The state behind the instruction; its signal is [`SIGTRAP`] if it just went on.
    State(Box<State>),
    /// We do not say, and why.
    Unsupported(String),
    /// Our own defect.
    Wrong(String),
}

/// Lifts instructions of one CPU.
pub struct Lifter {
    cpu: &'static Cpu,
    decoder: Decoder,
    pub registers: RegisterFile,
}

/// An instruction, lifted.
pub struct Lifted {
    program: Program,
    function: FuncId,
}

const GENERAL: [&str; 16] = ["RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"];
const FLAGS: [(&str, u64); 7] =
    [("CF", flag::CF), ("PF", flag::PF), ("AF", flag::AF), ("ZF", flag::ZF), ("SF", flag::SF), ("DF", flag::DF), ("OF", flag::OF)];

impl Lifter {
    /// Lifts what programs are lifted to: forms that the CPU has not confirmed are unsupported.
    pub fn new() -> Result<Lifter, OracleError> {
        Lifter::with(false)
    }

    /// Lifts all forms, so that the CPU may confirm them.
    pub fn of_all_forms() -> Result<Lifter, OracleError> {
        Lifter::with(true)
    }

    fn with(trusts_all: bool) -> Result<Lifter, OracleError> {
        let cpu = CPUS[0];
        let mut decoder = Decoder::new(cpu)?;
        decoder.trusts_all = trusts_all;
        let registers = RegisterFile::new(cpu, &decoder)?;
        Ok(Lifter { cpu, decoder, registers })
    }

    /// The module whose one function the instruction at [`CODE`] is.
    pub fn module(&self, code: &[u8]) -> Result<(Module, Names), OracleError> {
        let mut m = ModuleBuilder::new();
        let stop = m.symbol(STOP);
        m.declare_function(stop);
        let system_call = m.symbol(wryneck_machine::SYSTEM_CALL);
        m.declare_function(system_call);
        let symbol = m.symbol(NAME);
        let params = self.registers.params();
        let def =
            FunctionDef { name: NAME, params: &params, ret_width: 0, flags: function_flags::NO_RETURN | function_flags::GROWS, loc: 0 };
        let mut builder = m.function(symbol, linkage::STRONG, def)?;
        let entry = builder.block();
        let body = builder.block();
        builder.start(entry);
        builder.jump_to(body);
        builder.start(body);
        let mut places = Places::new(&mut builder, &self.registers);
        let end = CODE + code.len() as u64;
        // SLEIGH reads on behind the instruction: the page's breakpoints.
        let page = [code, &[0xcc; 32]].concat();
        let bytes = |at: u64| Cow::Borrowed(page.get(at.wrapping_sub(CODE) as usize..).unwrap_or_default());
        let block = Block::decode(&mut Code::new(&self.decoder, &bytes, Ahead::default()), CODE, &|at| at == end);
        let mut exits: Vec<(u64, BlockId)> = Vec::new();
        let surroundings =
            Surroundings { cpu: self.cpu, decoder: &self.decoder, registers: &self.registers, system_call, calls: None, stack_pointer: 0 };
        for it in &block.instructions {
            let mut block_of = |p: &mut Places<'_, '_, '_>, to: u64| match exits.iter().find(|(at, _)| *at == to) {
                Some((_, block)) => *block,
                None => {
                    let block = if to == CODE { body } else { p.builder.block() };
                    if to != CODE {
                        exits.push((to, block));
                    }
                    block
                }
            };
            lift::instruction(&surroundings, &mut places, it, &bytes(it.address), &mut block_of);
        }
        if places.builder.in_block() {
            match &block.broken {
                Some(why) => places.builder.unsupported(why),
                None => {
                    let to = places.constant(64, block.end);
                    places.builder.jump(to);
                }
            }
        }
        for (address, block) in exits {
            places.builder.start(block);
            let to = places.constant(64, address);
            places.builder.jump(to);
            places.end();
        }
        builder.loc = builder.names.loc(builder.module, Loc { file: 0, line: 0, column: 0, function: 0, inlined_at: 0, library: 0 });
        builder.finish()?;
        let ModuleBuilder { module, names } = m;
        wryneck_ir::verify::verify(&module).map_err(|e| OracleError::Malformed(e.to_string()))?;
        Ok((module, names))
    }

    /// Bytes of the instruction that `bytes` begins with, if it is one.
    pub fn length(&self, bytes: &[u8]) -> Option<usize> {
        self.decoder.decode(CODE, bytes).ok().map(|it| it.len as usize)
    }

    /// What the instruction at [`CODE`] is lifted to, in the text form of the IR.
    pub fn text(&self, code: &[u8]) -> Result<String, OracleError> {
        Ok(wryneck_ir::text::print(&self.module(code)?.0))
    }

    /// Lifts the instruction at [`CODE`].
    pub fn lift(&self, code: &[u8]) -> Result<Lifted, OracleError> {
        let unit = Unit { name: NAME.into(), module: self.module(code)?.0, library: false };
        let program = Program::link(vec![unit]).map_err(|e| OracleError::Malformed(format!("{e:?}")))?;
        let Some(Target::Func(function)) = program.lookup(NAME) else {
            return Err(OracleError::Malformed("the function is not there".into()));
        };
        Ok(Lifted { program, function })
    }

    /// Why the instruction is unsupported from every state, if it is.
    pub fn unsupported(&self, lifted: &Lifted) -> Option<String> {
        let module = &lifted.program.units[0].module;
        let f = module.functions[0];
        let body = module.blocks.range(f.blocks).get(1)?;
        let last = module.insts.range(body.insts).last()?;
        (last.operator() == Some(wryneck_ir::Op::Unsupported)).then(|| module.str(last.a).to_owned())
    }

    /// The registers as arguments, limb by limb.
    pub fn arguments(&self, s: &State) -> Vec<u64> {
        let mut limbs = vec![0; self.registers.limbs];
        self.for_each_register(&mut |limb, count, place| {
            for i in 0..count {
                limbs[limb + i] = get(s, place, i);
            }
        });
        limbs
    }

    /// The state that these limbs of the registers are.
    pub fn state(&self, limbs: &[u64], before: &State) -> State {
        let mut s = *before;
        self.for_each_register(&mut |limb, count, place| {
            for i in 0..count {
                set(&mut s, place, i, limbs[limb + i]);
            }
        });
        s
    }

    /// Registers that a state has: lowest limb, limbs, what they are.
    fn for_each_register(&self, f: &mut dyn FnMut(usize, usize, Place)) {
        let mut one = |name: &str, count, place| {
            if let Ok(r) = self.registers.named(name) {
                f(r.limb, count, place);
            }
        };
        GENERAL.iter().enumerate().for_each(|(n, name)| one(name, 1, Place::General(n)));
        FLAGS.iter().for_each(|(name, bit)| one(name, 1, Place::Flag(*bit)));
        one("FS_OFFSET", 1, Place::Fs);
        one("GS_OFFSET", 1, Place::Gs);
        one("MXCSR", 1, Place::Mxcsr);
        one("FPUControlWord", 1, Place::ControlWord);
        one("FPUStatusWord", 1, Place::StatusWord);
        (0..16).for_each(|n| one(&format!("XMM{n}"), 2, Place::Vector(n)));
        (0..16).for_each(|n| one(&format!("YMM{n}"), 4, Place::Vector(n)));
        (0..8).for_each(|n| one(&format!("ST{n}"), 2, Place::Stack(n)));
    }

    /// Limbs of these general registers, and of all registers that hold no plain numbers; of the vectors and the x87 too where
    /// `floats` says so.
    pub(crate) fn limbs_but(&self, general: &[usize], floats: bool) -> Vec<usize> {
        let mut free = vec![false; self.registers.limbs];
        self.for_each_register(&mut |limb, count, place| {
            let symbolic = match place {
                Place::General(n) => !general.contains(&n),
                Place::Flag(bit) => bit != flag::DF,
                Place::Vector(_) => !floats,
                Place::Fs | Place::Gs | Place::Mxcsr | Place::ControlWord | Place::StatusWord | Place::Stack(_) => false,
            };
            free[limb..limb + count].fill(symbolic);
        });
        (0..free.len()).filter(|n| !free[*n]).collect()
    }

    /// Runs the lifted instruction from a state.
    pub fn run(&self, lifted: &Lifted, before: &State) -> Answer {
        match self.interpret(lifted, before) {
            Ok(answer) => answer,
            Err(fault) => Answer::Wrong(fault.to_string()),
        }
    }

    fn interpret(&self, lifted: &Lifted, before: &State) -> Result<Answer, Fault> {
        let mut interp = Interp::new(&lifted.program, Libc::default(), STEPS)?;
        interp.memory.map(SCRATCH, PAGE)?;
        interp.memory.write(WINDOW, bytemuck::cast_slice(&before.window))?;
        let stop = interp.call(lifted.function, &self.arguments(before)).err();
        let Some(Stop::Fault { fault, .. }) = stop else { return Ok(Answer::Wrong(format!("{stop:?}"))) };
        let signal = match fault {
            Fault::Jump { address } => {
                let module = &lifted.program.units[0].module;
                let first = module.functions[0].consts.count as usize;
                let mut after = self.state(&interp.slots()[first..], before);
                after.rip = address;
                after.signal = SIGTRAP;
                after.window.copy_from_slice(bytemuck::cast_slice(&aligned(interp.memory.read(WINDOW, 8 * WINDOW_WORDS as u64)?)));
                return Ok(Answer::State(Box::new(after)));
            }
            Fault::Unsupported(why) => return Ok(Answer::Unsupported(why)),
            Fault::DivisionByZero | Fault::DivisionOverflow => SIGFPE,
            Fault::OutOfBounds { .. } | Fault::ReadOnly { .. } | Fault::Misaligned { .. } => SIGSEGV,
            Fault::Trap(which) => match which.as_str() {
                "int3" => SIGTRAP,
                "ud2" => SIGILL,
                _ => SIGSEGV,
            },
            other => return Err(other),
        };
        Ok(Answer::State(Box::new(State { signal, ..*before })))
    }
}

/// The bytes as words.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect()
}

/// Part of a state that a register is.
#[derive(Clone, Copy)]
enum Place {
    General(usize),
    Flag(u64),
    Fs,
    Gs,
    Mxcsr,
    ControlWord,
    StatusWord,
    Vector(usize),
    Stack(usize),
}

fn get(s: &State, place: Place, limb: usize) -> u64 {
    match place {
        Place::General(n) => s.gpr[n],
        Place::Flag(bit) => u64::from(s.rflags & bit != 0),
        Place::Fs => s.fs,
        Place::Gs => s.gs,
        Place::Mxcsr => s.mxcsr.into(),
        Place::ControlWord => s.fcw.into(),
        Place::StatusWord => s.fsw.into(),
        Place::Vector(n) => s.vec[n][limb],
        Place::Stack(n) => s.st[n][limb],
    }
}

fn set(s: &mut State, place: Place, limb: usize, value: u64) {
    match place {
        Place::General(n) => s.gpr[n] = value,
        // A flag is a byte to SLEIGH; only 0 and 1 are right.
        Place::Flag(bit) if value > 1 => s.rflags |= bit | 1 << 40,
        Place::Flag(bit) => s.rflags = s.rflags & !bit | (bit * value),
        Place::Fs => s.fs = value,
        Place::Gs => s.gs = value,
        Place::Mxcsr => s.mxcsr = value as u32,
        Place::ControlWord => s.fcw = value as u16,
        Place::StatusWord => s.fsw = value as u16,
        Place::Vector(n) => s.vec[n][limb] = value,
        Place::Stack(n) => s.st[n][limb] = value,
    }
}
