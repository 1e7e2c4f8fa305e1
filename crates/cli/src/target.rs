//! Targets: what is explored, from bitcode or machine code to a linked program.

use std::path::PathBuf;

use anyhow::Result;
use wryneck_environ::{Entry, Linux, ProgramInput};
use wryneck_ir::Module;
use wryneck_ir::link::Program;
use wryneck_machine::MachineProgram;

use crate::args::RunArgs;
use crate::build::{self, Kind, Lowered};
use crate::carried::{self, Carried};
use crate::compile::{self, Libc};
use crate::machine::{self, Executable};
use crate::problem::problem;
use crate::program;

/// What is explored.
pub enum Target {
    Bitcode { carried: Carried, module: Box<Module>, notes: Vec<String> },
    Machine(Box<Executable>),
}

/// A program, and what is known of it beside.
pub struct Linked {
    pub program: Program,
    /// The function that begins.
    pub entry: u32,
    pub bitcode: Option<PathBuf>,
    /// What lowers machine code as it is reached.
    pub code: Option<MachineProgram>,
    pub notes: Vec<String>,
}

impl Target {
    /// Reads the target and says how it begins.
    pub fn open(args: &RunArgs, input: &mut ProgramInput) -> Result<Target> {
        if machine::is_wanted(args)? {
            let executable = machine::load(args)?;
            input.entry = Entry::Process(executable.process.clone());
            return Ok(Target::Machine(Box::new(executable)));
        }
        if !args.stand_ins {
            return Err(problem("`--off stand-ins` is for machine code", "leave it out, or run an executable by `--machine-code`"));
        }
        let carried = bitcode(args)?;
        let Lowered { file, notes } = build::lower(&carried.bitcode)?;
        let module = Box::new(program::open(&file)?);
        input.entry = program::entry(&module, args.entry.as_deref(), args.entry_bytes)?;
        Ok(Target::Bitcode { carried, module, notes })
    }

    /// Links it with the start and with what it needs of the C library.
    pub fn link(self, args: &RunArgs, environment: &Linux) -> Result<Linked> {
        let name = args.target.display().to_string();
        let (carried, module, mut notes) = match self {
            Target::Bitcode { carried, module, notes } => (carried, module, notes),
            Target::Machine(mut executable) => {
                let notes = std::mem::take(&mut executable.notes);
                let (program, entry, code) = executable.link(name)?;
                return Ok(Linked { program, entry, bitcode: None, code: Some(code), notes });
            }
        };
        notes.extend(carried.bare.iter().map(|object| carried::lacking(object)));
        let libc = if args.libc { program::libc(&module, environment)? } else { None };
        let libc = match libc {
            Some(lowered) => {
                notes.extend(lowered.notes);
                Some(program::open(&lowered.file)?)
            }
            None => None,
        };
        let (program, entry) = program::link(name, *module, libc)?;
        Ok(Linked { program, entry, bitcode: Some(carried.bitcode), code: None, notes })
    }
}

/// The bitcode that is explored: the target, what clang makes of it, or what it carries.
fn bitcode(args: &RunArgs) -> Result<Carried> {
    let bitcode = match Kind::of(&args.target)? {
        Kind::Llvm => args.target.clone(),
        Kind::Native => return carried::extract(&args.target),
        Kind::C => compile::bitcode(&args.target, if args.libc { Libc::Musl } else { Libc::None }, &args.cc_flags)?,
    };
    Ok(Carried { bitcode, bare: Vec::new() })
}
