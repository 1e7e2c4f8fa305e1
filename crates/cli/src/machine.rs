//! Targets of machine code: an executable, loaded as the kernel loads it, as a program that grows while it runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result};
use wryneck_environ::{Process, StandIn, stand_ins, start};
use wryneck_exec::Image;
use wryneck_exec::config::{Undefined, Uninit};
use wryneck_exec::memory::Static;
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_ir::{Function, Module, param_kind, symbol_kind};
use wryneck_machine::{FUNCTION, Known, Library, MachineProgram, calls, load};

use crate::args::RunArgs;
use crate::build;
use crate::problem::problem;
use crate::{carried, program};

/// An executable in memory, and how it begins.
pub struct Executable {
    source: MachineProgram,
    module: Module,
    /// The C library's functions that run in place of the executable's.
    library: Option<Module>,
    pub process: Process,
    pub notes: Vec<String>,
}

/// Functions without a model that read strings by whole words, which symbolic bytes make costly: those of the lowered C library, which read
/// byte by byte, run in their place. They touch nothing but what their arguments lead to.
const BYTEWISE: [&str; 15] = [
    "__memrchr", "__stpcpy", "__stpncpy", "__strchrnul", "memccpy", "memrchr", "stpcpy", "stpncpy", "strcat", "strchrnul", "strcpy",
    "strlcpy", "strncat", "strncpy", "strrchr",
];

/// Options of `run` that say nothing about machine code yet, whether they are given, and why.
type Refused = (&'static str, fn(&RunArgs) -> bool, &'static str);

const PRUNING: &str = "machine code is not pruned yet";

static REFUSED: &[Refused] = &[
    ("--audit-pruning", |a| a.config.audit > 0.0, PRUNING),
    ("--cc-flag", |a| !a.cc_flags.is_empty(), "nothing is compiled"),
    ("--entry", |a| a.entry.is_some(), "an executable begins at its own entry"),
    ("--explain", |a| a.explain.is_some(), PRUNING),
    ("--fail-calls", |a| a.fail_calls > 0, "an executable has no replay library that makes the same calls fail"),
    ("--loop-limit", |a| a.config.loop_limit != u32::MAX, "loops of machine code are not known while it runs"),
    ("--no-libc", |a| !a.libc, "an executable brings its own C library"),
    ("--summaries", |a| !a.summaries.is_empty(), PRUNING),
    ("--undefined", |a| a.config.undefined != Undefined::Symbolic, "an executable has no undefined functions"),
];

/// Loads the target, of this content; the calls of functions of the names `watched` are told.
pub fn load(args: &RunArgs, content: &[u8], watched: &[String]) -> Result<Executable> {
    let shown = args.target.display();
    if let Some((option, _, why)) = REFUSED.iter().find(|(_, given, _)| given(args)) {
        return Err(problem(format!("`{option}` cannot be used with machine code: {why}"), format!("leave out `{option}`")));
    }
    let load::Process { mut elf, auxiliary } =
        load::Process::load(content, &mut |path| interpreter(args, path)).map_err(|e| e.context(format!("`{shown}` cannot be loaded")))?;
    let (library, notes) = build::lower_libc()?.map(program::opened).transpose()?.unzip();
    let mut notes = notes.unwrap_or_default();
    functions_of(library.as_ref()).mark(&mut elf);
    let watched: Vec<Known> = watched.iter().map(|name| shape_of(name, library.as_ref())).collect();
    let library = library.filter(|_| args.stand_ins);
    let known = if args.stand_ins { known(library.as_ref()) } else { Vec::new() };
    if args.stand_ins && library.is_none() {
        notes.push("functions of strings run as they are in the executable: the C library is not set up (`cargo xtask setup libc`)".into());
    }
    let (source, module) =
        MachineProgram::with(elf, &known, &watched, Some(load::SHADOWED)).with_context(|| format!("`{shown}` cannot be lifted"))?;
    let source = if args.variables { source.with_variables() } else { source };
    let registers = source.start_arguments(0)?;
    let process = Process {
        function: FUNCTION.into(),
        registers,
        stack_pointer: source.stack_argument(),
        stack_end: load::STACK + load::STACK_SIZE,
        auxiliary,
    };
    Ok(Executable { source, module, library, process, notes })
}

/// The functions of the C library, by all their names.
fn functions_of(library: Option<&Module>) -> Library {
    let mut all = Library::default();
    // Some of these have models alone. Each is in a file of its name.
    stand_ins().for_each(|s| all.add(s.name, &format!("{}.c", s.name)));
    let Some(m) = library else { return all };
    for symbol in m.symbols.iter() {
        let mut of = *symbol;
        while of.kind == symbol_kind::ALIAS {
            of = m.symbols[of.index as usize];
        }
        if of.kind == symbol_kind::FUNCTION {
            all.add(m.str(symbol.name), m.str(m.locations[m.functions[of.index as usize].loc as usize].file));
        }
    }
    all
}

/// What is known of functions by their names: the models, where nothing is missing of what they need, and functions of `library`.
fn known(library: Option<&Module>) -> Vec<Known> {
    let models = stand_ins().filter(|s| !s.needs_body || library.is_some()).map(|s| of_model(&s));
    let bodies = library.into_iter().flat_map(|m| m.functions.iter().map(move |f| (m, f)));
    let bytewise = bodies.filter(|(m, f)| BYTEWISE.contains(&m.str(f.name))).map(|(m, f)| of_body(m.str(f.name), m, f));
    models.chain(bytewise).collect()
}

/// A function with the parameters of a body, but for what stands for variable ones.
fn of_body(name: &str, m: &Module, f: &Function) -> Known {
    let params = m.params.range(f.params).iter().filter(|p| p.kind != param_kind::VARIADIC);
    Known { name: name.into(), widths: params.map(|p| p.width as u16).collect(), ret_width: f.ret_width as u16, intrinsic: false }
}

/// A function of this name with the parameters it has in the C library or in our model; elsewhere all words that a call may pass in registers.
fn shape_of(name: &str, library: Option<&Module>) -> Known {
    let body = library.and_then(|m| Some((m, m.functions.iter().find(|f| m.str(f.name) == name)?)));
    let model = || stand_ins().find(|s| s.name == name);
    let words = || Known { name: name.into(), widths: vec![64; 6], ret_width: 64, intrinsic: false };
    body.map(|(m, f)| of_body(name, m, f)).or_else(|| model().map(|s| of_model(&s))).unwrap_or_else(words)
}

fn of_model(s: &StandIn) -> Known {
    let widths = s.widths.iter().map(|w| *w as u16).collect();
    Known { name: s.name.into(), widths, ret_width: s.ret_width as u16, intrinsic: s.intrinsic }
}

/// The bytes of the program that loads the target.
fn interpreter(args: &RunArgs, path: &[u8]) -> Result<Vec<u8>> {
    let path = Path::new(OsStr::from_bytes(path));
    let is_musl = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-musl"));
    if !is_musl {
        return Err(problem(
            format!("`{}` is linked dynamically, for the loader `{}`", args.target.display(), path.display()),
            "machine code is run if it is linked statically or for musl (`musl-gcc`); or build it with its bitcode: `wryneck build -- make`",
        ));
    }
    carried::read(path)
}

impl Executable {
    /// Links the code with the start; gives the program, the number of the function that begins, and what its code comes from.
    pub fn link(self, name: String) -> Result<(Program, u32, MachineProgram)> {
        let mut units = vec![start::unit().context("the start is not well formed")?];
        units.extend(self.library.map(|module| Unit { name: "libc".into(), module, library: true }));
        // What grows comes last.
        units.push(Unit { name, module: self.module, library: false });
        let program = Program::link(units)?;
        match program.lookup(start::ENTRY) {
            Some(Target::Func(f)) => Ok((program, f.0, self.source)),
            Some(Target::Data(..) | Target::Undefined(_) | Target::Null) | None => {
                Err(problem("the start of the program is not there", "this is a defect of wryneck, please report it"))
            }
        }
    }
}

/// Puts the program and its stack into memory.
pub fn map(source: &MachineProgram, image: &mut Image, uninit: Uninit, pool: &mut Pool) {
    for s in &source.elf.segments {
        image.map(Static { base: s.base, size: s.size, name: s.name.as_str().into(), writable: s.writable }, Some(&s.bytes), pool);
    }
    // Those of the program come before the library's, and are the ones that count.
    source.elf.symbols.iter().filter(|s| !s.code && !s.local).for_each(|s| image.place_variable(&s.name, s.address));
    let shadow = load::SHADOWED;
    let shadow = Static { base: shadow.shadow, size: shadow.size + calls::SPARE, name: "the shadow of the stack".into(), writable: true };
    image.map(shadow, Some(&[]), pool);
    let stack = Static { base: load::STACK, size: load::STACK_SIZE, name: "the stack".into(), writable: true };
    // As the kernel gives it, but for those who ask what the program does where it never wrote.
    let zeros: Option<&[u8]> = (uninit == Uninit::Zero).then_some(&[]);
    image.map(stack, zeros, pool);
}
