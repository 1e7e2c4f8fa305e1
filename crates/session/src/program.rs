//! From IR files to a linked program and its entry.

use anyhow::{Context, Result};
use wryneck_environ::{Entry, FUZZER, start};
use wryneck_exec::Environment;
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_ir::{Module, Table, linkage, symbol_kind};

use crate::build::{self, Lowered};
use crate::plan::Plan;
use crate::problem::problem;

/// What the exploration begins with: what was asked for, `main`, or a fuzz entry. `names` are those of the functions there are.
pub fn entry(names: &[&str], plan: &Plan) -> Result<Entry> {
    let (asked, bytes) = (plan.entry.as_deref(), plan.entry_bytes);
    let defines = |name: &str| names.contains(&name);
    if let Some(name) = &plan.preamble {
        if asked.is_none_or(|asked| asked == "main") {
            return Err(problem("`--preamble` sets up what another entry than `main` works on", "give one by `--entry NAME`"));
        }
        if !defines(name) {
            return Err(problem(format!("the program has no function `{name}`"), defined(names)));
        }
    }
    match asked {
        Some("main") | None if defines("main") => Ok(Entry::Main),
        Some(FUZZER) | None if defines(FUZZER) => Ok(Entry::Fuzzer { max_len: bytes }),
        Some(name) if defines(name) => Ok(Entry::Function { name: name.into(), pointee: bytes.into(), parameters: None }),
        Some(name) => Err(problem(format!("the program has no function `{name}`"), defined(names))),
        None => Err(problem("the program has no function `main`", format!("begin with another one by `--entry NAME`; {}", defined(names)))),
    }
}

/// The names of a module's functions.
pub fn functions(module: &Module) -> Vec<&str> {
    module.functions.iter().map(|f| module.str(f.name)).collect()
}

/// Makes a function of a module visible, so that the exploration can begin with it; its symbol. C++ and Rust name symbols otherwise than functions.
pub fn make_visible(module: &mut Module, function: usize) -> Option<String> {
    let symbol = module.symbols.iter().position(|s| s.kind == symbol_kind::FUNCTION && s.index as usize == function)?;
    if module.symbols[symbol].linkage == linkage::INTERNAL {
        module.make_owned();
        if let Table::Owned(symbols) = &mut module.symbols {
            symbols[symbol].linkage = linkage::STRONG;
        }
    }
    Some(module.str(module.symbols[symbol].name).to_owned())
}

fn defined(all: &[&str]) -> String {
    let names: Vec<_> = all.iter().take(8).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "it defines no function at all".into(),
        _ => format!("it defines {}{}", names.join(", "), if all.len() > 8 { ", …" } else { "" }),
    }
}

/// The C library's IR file, if the program leaves something undefined that it has to define; also where it could only help out a
/// model, if it is set up.
pub fn libc(module: &Module, environment: &dyn Environment) -> Result<Option<Lowered>> {
    let undefined = module
        .symbols
        .iter()
        .filter(|s| matches!(s.kind, symbol_kind::UNDEFINED | symbol_kind::UNDEFINED_FUNCTION) && s.linkage != linkage::EXTERN_WEAK);
    let mut helps = false;
    for symbol in undefined {
        let name = module.str(symbol.name);
        if environment.model(name, false).is_none() {
            let missing =
                || problem("the C library is not set up", "set it up once with `cargo xtask setup libc`, or run without it: `--no-libc`");
            return build::lower_libc()?.ok_or_else(missing).map(Some);
        }
        helps |= wryneck_environ::needs_body(name);
    }
    if helps { build::lower_libc() } else { Ok(None) }
}

/// Most bytes of all variables of static storage and of the gaps that their alignment leaves: what describes them takes memory, too.
const MOST_GLOBALS: u64 = 64 << 30;

/// Links the program with the library and the start; gives the number of the function that begins.
pub fn link(name: String, module: Module, libc: Option<Module>) -> Result<(Program, u32)> {
    let mut units = vec![Unit { name, module, library: false }];
    units.extend(libc.map(|module| Unit { name: "libc".into(), module, library: true }));
    units.push(start::unit().context("the start is not well formed")?);
    let program = Program::link(units)?;
    let size = program.globals().iter().filter(|g| g.live).fold(0u64, |sum, g| {
        let align = program.units[g.place.unit as usize].module.globals[g.place.index as usize].align;
        sum.saturating_add(g.size).saturating_add(u64::from(align))
    });
    if size > MOST_GLOBALS {
        return Err(problem(
            format!("the program's variables, as they are aligned, need {size} bytes, at most {MOST_GLOBALS} are possible"),
            "make its largest arrays or alignments smaller, such as by `--cc-flag=-DNAME=SIZE`",
        ));
    }
    match program.lookup(start::ENTRY) {
        Some(Target::Func(f)) => Ok((program, f.0)),
        Some(Target::Data(..) | Target::Undefined(_) | Target::Null) | None => {
            Err(problem(format!("the program defines `{}` itself", start::ENTRY), "rename it"))
        }
    }
}
