//! Machine code targets: an executable, loaded as the kernel loads it, linked objects, or a shared object. All are lifted on demand.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_environ::{Entry, FUZZER, Parameter, ParameterKind, Process, ProgramInput, stand_ins, start};
use wryneck_exec::config::{Undefined, Uninit};
use wryneck_exec::ground::memory::Static;
use wryneck_exec::{Image, globals};
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_ir::{LOADED, Module, TURN, linkage, symbol_kind};
use wryneck_machine::{BACK, Elf, FUNCTION, Known, LIBRARY_START, Library, MachineProgram, More, Passed, calls, load, prototype};

use crate::build;
use crate::objects::{self, of_body, of_model};
use crate::plan::Plan;
use crate::problem::problem;
use crate::{cache, carried, kept, names, program, sym_calls};

/// A program in memory.
pub struct Executable {
    source: MachineProgram,
    module: Module,
    /// The C library's functions that run in place of the program's, or that it has not.
    library: Option<Module>,
    pub notes: Vec<String>,
    /// Where its lowered code is kept.
    pub kept: Vec<PathBuf>,
}

/// Functions without a model that read strings by whole words, which symbolic bytes make costly: those of the lowered C library, which read
/// byte by byte, run in their place. They touch nothing but what their arguments lead to.
const BYTEWISE: [&str; 15] = [
    "__memrchr", "__stpcpy", "__stpncpy", "__strchrnul", "memccpy", "memrchr", "stpcpy", "stpncpy", "strcat", "strchrnul", "strcpy",
    "strlcpy", "strncat", "strncpy", "strrchr",
];

/// Options of `run` that say nothing about machine code yet, whether they are given (and it is objects), and why.
type Refused = (&'static str, fn(&Plan, bool) -> bool, &'static str);

static REFUSED: &[Refused] = &[
    ("--cc-flag", |a, _| !a.cc_flags.is_empty(), "nothing is compiled"),
    ("--no-libc", |a, objects| !a.libc && !objects, "an executable brings its own C library"),
    ("--off stand-ins", |a, objects| !a.stand_ins && objects, "objects have no C library of their own"),
    ("--overflow", |a, _| a.overflow.is_wanted(), "an instruction does not say whether its result may wrap"),
    ("--undefined", |a, _| a.config.undefined != Undefined::Symbolic, "a call of a function that is defined nowhere ends its path"),
];

/// Loads the target, of this content; the calls of functions of the names `watched` are told. Says in `input` how it begins.
pub fn load(plan: &Plan, content: &[u8], watched: &[String], input: &mut ProgramInput) -> Result<Executable> {
    let shown = plan.target.display();
    let are_objects = objects::is_object(&plan.target) || objects::is_shared(content);
    if let Some((option, _, why)) = REFUSED.iter().find(|(_, given, _)| given(plan, are_objects)) {
        return Err(problem(format!("`{option}` cannot be used with machine code: {why}"), format!("leave out `{option}`")));
    }
    let lowered = if plan.libc { build::lower_libc()? } else { None };
    // What the lowered code hangs on: of the loader, and of all.
    let mut parts: Vec<String> = lowered.iter().map(|lowered| lowered.file.display().to_string()).collect();
    let (library, notes): (Option<Module>, Option<Vec<String>>) = lowered.map(|lowered| (lowered.module, lowered.notes)).unzip();
    let mut notes = notes.unwrap_or_default();
    let loaded = match are_objects {
        true => objects::link(plan, content, library.as_ref()).map(|elf| load::Process {
            elf,
            auxiliary: Vec::new(),
            program: 0..0,
            loader: None,
        }),
        false => load::Process::load(content, &mut |path| {
            let loader = interpreter(plan, path)?;
            parts.push(cache::digest(&[&loader]));
            anyhow::Ok(loader)
        }),
    };
    let load::Process { mut elf, auxiliary, program, loader } = loaded.map_err(|e| e.context(format!("`{shown}` cannot be loaded")))?;
    names_of(library.as_ref(), Library::is_linked(&elf)).mark(&mut elf);
    if let Some((name, address)) = plan.entry.as_deref().and_then(|name| Some((name, names::address(name)?))) {
        let range = format!("`{shown}` has no code at {name}");
        elf.add_function(name, address).ok_or_else(|| problem(range, "addresses are those of the file (`nm`, `objdump -d`)"))?;
    }
    if plan.skip_undefined {
        elf.add_any_function()?;
    }
    let skipped = skipped(plan, &mut elf);
    let watched: Vec<Known> = watched.iter().map(|name| shape_of(name, library.as_ref())).collect();
    if library.is_none() && (plan.stand_ins && !are_objects || are_objects && plan.libc) {
        notes.push("functions of the C library are not there in a form that is easy to explore (`cargo xtask setup libc`)".into());
    }
    let library = library.filter(|_| plan.stand_ins);
    let threads = !are_objects && plan.stand_ins && has_threads(&elf, loader.is_some());
    let mut known = if plan.stand_ins { known(library.as_ref(), threads) } else { Vec::new() };
    if !threads && !are_objects {
        // The program's own makes threads as the kernel does.
        known.retain(|known| !MAKE_THREADS.contains(&known.name.as_str()));
        if plan.config.schedules > 0 {
            known.extend(SYNCHRONISE.map(|name| Known { asks: Some(TURN), ..Known::of_words(name, [], 0) }));
        }
    }
    // A program that begins otherwise has its loader's calls fail, too.
    let begins = |content: &[u8]| content.windows(LIBRARY_START.len()).any(|name| name == LIBRARY_START.as_bytes());
    let is_loaded_first = plan.fail_calls > 0 && loader.is_some() && begins(content);
    if is_loaded_first {
        known.push(Known { asks: Some(LOADED), ..Known::of_words(LIBRARY_START, [], 0) });
    }
    known.extend(objects::known_outside(&elf, library.as_ref(), plan.skip_undefined));
    known.extend(skipped);
    let inputs = sym_calls::of_machine_code(&input.sym_calls, &elf, &|name| shape_of(name, library.as_ref()))?;
    known.retain(|known| !inputs.iter().any(|input| input.name == known.name));
    known.extend(inputs);
    input.entry = entry(plan, &elf, are_objects, &mut notes)?;
    if !are_objects && input.entry != Entry::Main {
        // What would call `main` calls the entry.
        let params = [32, 64, 64].map(Passed::Word).to_vec();
        known.retain(|k| k.name != "main");
        known.push(Known { callee: start::CALL.into(), params, intrinsic: true, ..Known::of_words("main", [], 32) });
    }
    let variables = sym_calls::variables(&elf);
    let (source, module) =
        MachineProgram::with(elf, &known, &watched, Some(load::SHADOWED)).with_context(|| format!("`{shown}` cannot be lifted"))?;
    let source = if plan.variables { source.with_variables() } else { source };
    let mut source = if plan.frames { source.with_frames() } else { source };
    // Libraries that the loader maps may be others in the next run.
    let of_program = if loader.is_some() { program } else { 0..u64::MAX };
    let alone = loader.filter(|range| source.stands_alone(range)).map(|range| kept::Part { range, content: parts.clone() });
    parts.push(cache::digest(&[content]));
    let all = (!are_objects).then_some(kept::Part { range: of_program, content: parts });
    let kept = kept::load(&mut source, &alone.into_iter().chain(all).collect::<Vec<_>>());
    if !are_objects {
        input.process = Some(Process {
            function: FUNCTION.into(),
            registers: source.start_arguments(0)?,
            stack_pointer: source.stack_argument(),
            threads,
            is_loaded_first,
            stack_end: load::STACK + load::STACK_SIZE,
            auxiliary,
            variables,
        });
    }
    Ok(Executable { source, module, library, notes, kept })
}

/// The program's functions whose calls are skipped. They count as a library's, which nobody defines.
fn skipped(plan: &Plan, elf: &mut Elf) -> Vec<Known> {
    let is_skipped = |name: &str| plan.entry.as_deref() != Some(name) && plan.skip.iter().any(|pattern| names::matches(pattern, name));
    let mut all = Vec::new();
    for symbol in elf.symbols.iter_mut().filter(|s| s.code && !s.library && is_skipped(&s.name)) {
        (symbol.library, symbol.local) = (true, false);
        all.push(Known::of_words(&symbol.name, [64; 6], 64));
    }
    elf.symbols.sort();
    all
}

/// What begins, and what that takes as far as debug information tells.
fn entry(plan: &Plan, elf: &Elf, are_objects: bool, notes: &mut Vec<String>) -> Result<Entry> {
    let functions: Vec<_> = elf.symbols.iter().filter(|s| s.code && !s.library).collect();
    let names: Vec<&str> = functions.iter().map(|s| s.name.as_str()).collect();
    if plan.entry.is_none() && plan.preamble.is_none() && !are_objects {
        return Ok(Entry::Main);
    }
    let entry = program::entry(&names, plan)?;
    let Entry::Function { name, pointee, .. } = entry else { return Ok(entry) };
    let symbol = functions.iter().filter(|s| s.name == name).min_by_key(|s| s.local);
    let known = symbol.and_then(|s| elf.dwarf.iter().find_map(|d| d.parameters(s.address)));
    let parameters = match known {
        Some(known) => known.into_iter().enumerate().map(|(n, p)| parameter(&name, n, p)).collect::<Result<_>>()?,
        None => {
            let count = elf.cpu.call.arguments.len();
            notes.push(format!("what `{name}` takes is not known without debug information: {count} words of input are in its registers"));
            (0..count).map(|n| Parameter { name: format!("argument{n}"), kind: ParameterKind::Scalar(64) }).collect()
        }
    };
    Ok(Entry::Function { name, pointee, parameters: Some(parameters) })
}

fn parameter(function: &str, number: usize, known: prototype::Parameter) -> Result<Parameter> {
    let name = if known.name.is_empty() { format!("argument{number}") } else { known.name };
    let kind = match known.kind {
        prototype::ParameterKind::Pointer => ParameterKind::Pointer,
        prototype::ParameterKind::Integer(bytes) => ParameterKind::Scalar(8 * bytes as u32),
        prototype::ParameterKind::Float(_) | prototype::ParameterKind::Other => {
            let what =
                format!("the parameter `{name}` of `{function}` is neither an integer nor a pointer, which is not passed to machine code");
            return Err(problem(what, "begin with a function that calls it"));
        }
        prototype::ParameterKind::Rest => {
            let what = format!("`{function}` takes variable arguments, whose number only a caller knows");
            return Err(problem(what, "begin with a function that calls it"));
        }
    };
    Ok(Parameter { name, kind })
}

/// The variables of the C library, by all their names, and its functions if `functions` are asked for.
fn names_of(library: Option<&Module>, functions: bool) -> Library<'_> {
    let mut all = Library::default();
    // Some of these have models alone, each in a file of its name.
    stand_ins(true).filter(|_| functions).for_each(|s| all.add_own(s.name));
    let Some(m) = library else { return all };
    for symbol in m.symbols.iter() {
        let mut of = *symbol;
        while of.kind == symbol_kind::ALIAS {
            of = m.symbols[of.index as usize];
        }
        match of.kind {
            symbol_kind::FUNCTION if functions => {
                all.add(m.str(symbol.name), m.str(m.locations[m.functions[of.index as usize].loc as usize].file))
            }
            symbol_kind::DATA if symbol.linkage != linkage::INTERNAL => all.add_variable(m.str(symbol.name)),
            _ => {}
        }
    }
    all
}

/// Functions of threads, one of which each program with threads or locks has.
const OF_THREADS: [&str; 9] = [
    "__pthread_create", "__pthread_mutex_lock", "mtx_lock", "pthread_cond_wait", "pthread_create", "pthread_mutex_lock",
    "pthread_rwlock_wrlock", "pthread_spin_lock", "sem_wait",
];

/// Those that make a thread.
const MAKE_THREADS: [&str; 2] = ["__pthread_create", "pthread_create"];

/// Functions before which another thread may go on first: where a lock is taken or given back, and where others are woken or waited for. Those of C11
/// call them.
const SYNCHRONISE: [&str; 18] = [
    "pthread_barrier_wait", "pthread_cond_broadcast", "pthread_cond_signal", "pthread_cond_timedwait", "pthread_cond_wait", "pthread_join",
    "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_rwlock_rdlock", "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock", "pthread_spin_lock", "pthread_spin_unlock", "sem_post", "sem_trywait", "sem_wait", "thrd_join",
];

/// Whether a program has threads or locks of musl's, whose functions have models. `loaded`: musl's loader loads it.
fn has_threads(elf: &Elf, loaded: bool) -> bool {
    let has = |names: &[&str]| elf.symbols.iter().any(|s| s.code && names.contains(&s.name.as_str()));
    (loaded || has(&["__init_tp"])) && has(&OF_THREADS)
}

/// What is known of functions by their names: the models, where nothing is missing of what they need, and functions of `library`.
fn known(library: Option<&Module>, threads: bool) -> Vec<Known> {
    let models = stand_ins(threads).filter(|s| !s.needs_body || library.is_some()).map(|s| of_model(&s));
    let bodies = library.into_iter().flat_map(|m| m.functions.iter().map(move |f| (m, f)));
    let bytewise = bodies.filter(|(m, f)| BYTEWISE.contains(&m.str(f.name))).filter_map(|(m, f)| of_body(m.str(f.name), m, f));
    models.chain(bytewise).collect()
}

/// A function of this name with the parameters it has in the C library or in our model; elsewhere all words that a call may pass in registers.
fn shape_of(name: &str, library: Option<&Module>) -> Known {
    let body = library.and_then(|m| Some((m, m.functions.iter().find(|f| m.str(f.name) == name)?)));
    let model = || stand_ins(true).find(|s| s.name == name);
    let named = |known: Known| Known { callee: name.to_owned(), more: More::Nothing, ..known };
    let of_body = body.and_then(|(m, f)| of_body(name, m, f)).map(named);
    of_body.or_else(|| model().map(|s| of_model(&s))).unwrap_or_else(|| Known::of_words(name, [64; 6], 64))
}

/// Beginnings of the names of loaders that are known to run: glibc's and musl's.
pub const GLIBC: &[u8] = b"ld-linux-x86-64";
const MUSL: &[u8] = b"ld-musl";

/// Whether a path is that of a loader whose name begins so.
pub fn is_loader(path: &[u8], name: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).file_name().is_some_and(|file| file.as_bytes().starts_with(name))
}

/// The bytes of the program that loads the target.
fn interpreter(plan: &Plan, path: &[u8]) -> Result<Vec<u8>> {
    let is_known = [GLIBC, MUSL].iter().any(|loader| is_loader(path, loader));
    let path = Path::new(OsStr::from_bytes(path));
    if !is_known {
        return Err(problem(
            format!("`{}` is linked dynamically, for the loader `{}`", plan.target.display(), path.display()),
            "machine code is run if it is linked statically, or for glibc's or musl's loader; or build it with its bitcode: `wryneck build -- make`",
        ));
    }
    carried::read(path)
}

impl Executable {
    /// Links the code with the start; gives the program, the number of the function that begins, and what its code comes from.
    pub fn link(self, name: String) -> Result<(Program, u32, MachineProgram)> {
        let mut units = vec![start::unit().context("the start is not well formed")?];
        units.extend(self.library.map(|module| Unit { name: "libc".into(), module, library: true }));
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
pub fn map(plan: &Plan, source: &mut MachineProgram, image: &mut Image, pool: &mut Pool) -> Result<()> {
    source.elf.resolve(&|name| image.variable(name)).context("the objects do not link")?;
    // What stands for functions elsewhere holds nothing.
    for s in source.elf.segments.iter().filter(|s| source.elf.linked.outside_at(s.base).is_none()) {
        globals::map(
            image,
            Static { base: s.base, size: s.size, name: s.name.as_str().into(), writable: s.writable },
            Some(&s.bytes),
            pool,
        );
    }
    let linked = &source.elf.linked;
    (image.machine_code_begins, image.machine_code_ends) = (linked.constructors.clone(), linked.destructors.clone());
    let begins = [Some("main"), Some(FUZZER), plan.entry.as_deref(), plan.preamble.as_deref()];
    let functions = || source.elf.symbols.iter().filter(|s| s.code && !s.library && begins.contains(&Some(&s.name)));
    for symbol in functions().filter(|s| !s.local).chain(functions().filter(|s| s.local)) {
        image.place_function(&symbol.name, symbol.address);
    }
    // What the last thread calls that ends.
    let exit = source.elf.symbols.iter().filter(|s| s.code && s.name == "exit").min_by_key(|s| s.local);
    exit.into_iter().for_each(|s| image.place_function(&s.name, s.address));
    // Those of the program come before the library's, and are the ones that count.
    source.elf.symbols.iter().filter(|s| !s.code && !s.local).for_each(|s| image.place_variable(&s.name, s.address));
    // Those of other threads are mapped where these are made.
    let begin = load::SHADOWED.shadow + (load::STACK - load::SHADOWED.base);
    let shadow = Static { base: begin, size: load::STACK_SIZE + calls::SPARE, name: "the shadow of the stack".into(), writable: true };
    globals::map(image, shadow, Some(&[]), pool);
    // An unwinder looks at the code that a thread's function returns to, and finds nothing known there.
    let outside = Static { base: BACK, size: 64, name: "the code that calls from outside".into(), writable: false };
    globals::map(image, outside, Some(&[0xf4; 64]), pool);
    let stack = Static { base: load::STACK, size: load::STACK_SIZE, name: "the stack".into(), writable: true };
    // As the kernel gives it, but for those who ask what the program does where it never wrote.
    let zeros: Option<&[u8]> = (plan.config.uninit == Uninit::Zero).then_some(&[]);
    globals::map(image, stack, zeros, pool);
    Ok(())
}
