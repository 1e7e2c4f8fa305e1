//! Targets: from bitcode or machine code to a linked program.

use std::path::PathBuf;

use anyhow::Result;
use wryneck_environ::{Entry, Linux, ProgramInput};
use wryneck_ir::Module;
use wryneck_ir::link::Program;
use wryneck_machine::MachineProgram;

use crate::build::{self, Kind, Lowered};
use crate::carried::{self, Carried};
use crate::machine::{self, Executable};
use crate::plan::Plan;
use crate::problem::problem;
use crate::{program, several, sym_calls};

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
    /// What lowers machine code as it is reached, and where that is kept.
    pub code: Option<MachineProgram>,
    pub kept: Vec<PathBuf>,
    pub notes: Vec<String>,
}

impl Target {
    /// Reads the target, the bitcode that clang makes of it or that it carries, or its machine code, and says how it begins. Rules watch the
    /// functions `watched`.
    pub fn open(plan: &Plan, input: &mut ProgramInput, watched: &[String]) -> Result<Target> {
        input.preamble.clone_from(&plan.preamble);
        let kind = Kind::of(&plan.target)?;
        let content = if kind == Kind::Native { carried::read(&plan.target)? } else { Vec::new() };
        if plan.machine_code && kind != Kind::Native && plan.objects.is_empty() {
            return Err(problem(format!("`{}` is not an executable", plan.target.display()), "leave out `--machine-code`"));
        }
        // One of C++ is linked with its library.
        let several = !plan.objects.is_empty() || kind == Kind::Cxx;
        let machine_code = if several { several::are_machine_code(plan)? } else { plan.machine_code || carried::is_bare(&content) };
        if machine_code {
            let executable = machine::load(plan, &content, watched, input)?;
            return Ok(Target::Machine(Box::new(executable)));
        }
        if let Some((name, _)) = [("stand-ins", plan.stand_ins), ("variables", plan.variables)].iter().find(|(_, on)| !on) {
            return Err(problem(format!("`--off {name}` is for machine code"), "leave it out, or run an executable by `--machine-code`"));
        }
        if plan.frames {
            return Err(problem("`--frames` is for machine code", "leave it out, or run an executable by `--machine-code`"));
        }
        let targets = || std::iter::once(&plan.target).chain(&plan.objects);
        let is_source = |target: &PathBuf| matches!(Kind::of(target), Ok(Kind::C));
        let from_source = targets().all(is_source);
        plan.overflow.check(from_source)?;
        let check_promises = plan.overflow.signed && !from_source;
        let carried = if several { several::linked(plan)? } else { several::bitcode(plan, &plan.target)? };
        let Lowered { module, notes, .. } = build::lower(&carried.bitcode, check_promises)?;
        sym_calls::check(&input.sym_calls, &module)?;
        let mut module = Box::new(module);
        input.entry = program::entry(&program::functions(&module), plan)?;
        if let Entry::Function { name, .. } = &mut input.entry
            && let Some(function) = module.functions.iter().position(|f| module.str(f.name) == *name)
            && let Some(symbol) = program::make_visible(&mut module, function)
        {
            *name = symbol;
        }
        Ok(Target::Bitcode { carried, module, notes })
    }

    /// Links it with the start and with what it needs of the C library.
    pub fn link(self, plan: &Plan, environment: &Linux) -> Result<Linked> {
        let name = plan.target.display().to_string();
        let (carried, module, mut notes) = match self {
            Target::Bitcode { carried, module, notes } => (carried, module, notes),
            Target::Machine(mut executable) => {
                let (notes, kept) = (std::mem::take(&mut executable.notes), std::mem::take(&mut executable.kept));
                let (program, entry, code) = executable.link(name)?;
                return Ok(Linked { program, entry, bitcode: None, code: Some(code), kept, notes });
            }
        };
        notes.extend(carried.bare.iter().map(|object| carried::lacking(object)));
        let libc = if plan.libc { program::libc(&module, environment)? } else { None };
        let (libc, more): (Option<Module>, Option<Vec<String>>) = libc.map(|lowered| (lowered.module, lowered.notes)).unzip();
        notes.extend(more.unwrap_or_default());
        let (program, entry) = program::link(name, *module, libc)?;
        Ok(Linked { program, entry, bitcode: Some(carried.bitcode), code: None, kept: Vec::new(), notes })
    }
}
