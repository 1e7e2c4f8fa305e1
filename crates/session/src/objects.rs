//! Relocatable and shared objects as targets: what the C library supplies for names that they do not define. The library's functions run as
//! lowered bitcode, called by the machine code.

use std::path::Path;

use anyhow::Result;
use wryneck_environ::{StandIn, stand_ins};
use wryneck_ir::{Function, Module, function_flags, param_kind, symbol_kind};
use wryneck_machine::link::{self, Elsewhere};
use wryneck_machine::{Elf, Known, More, Passed};

use crate::plan::Plan;
use crate::{carried, data};

/// Variadic functions whose variable arguments are a few words.
const WORDS: [&str; 8] = ["fcntl", "ioctl", "open", "openat", "prctl", "ptrace", "semctl", "ulimit"];

const NOWHERE: &str = "which is defined nowhere";
const UNPASSED: &str = "whose arguments or result are passed as machine code is not followed yet";

/// Whether a file is a relocatable object.
pub fn is_object(path: &Path) -> bool {
    let header = data::beginning(path, 64).unwrap_or_default();
    // ET_REL, in either byte order.
    header.starts_with(b"\x7fELF") && matches!(header.get(16..18), Some([1, 0] | [0, 1]))
}

/// Links the target, of this content, with the other objects; or places it, if it is a shared one.
pub fn link(plan: &Plan, content: &[u8], library: Option<&Module>) -> Result<Elf> {
    let models: Vec<StandIn> = stand_ins(false).collect();
    let elsewhere = |name: &str| match known(name, library, &models) {
        Found::Missing(NOWHERE) if plan.skip_undefined => Elsewhere::Function,
        Found::Known(_) => Elsewhere::Function,
        Found::Variable => Elsewhere::Variable,
        Found::Missing(why) => Elsewhere::Missing(why),
    };
    if link::shared::is_shared(content) {
        return Ok(link::shared::shared(content, &elsewhere)?);
    }
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut files = vec![(name(&plan.target), content.to_vec())];
    for path in &plan.objects {
        files.push((name(path), carried::read(path)?));
    }
    Ok(link::objects(&files, &elsewhere)?)
}

/// Whether a file of this content is a shared object, which nothing starts.
pub fn is_shared(content: &[u8]) -> bool {
    link::shared::is_shared(content)
}

/// Who stands for the functions that the objects do not define. `skips`: calls of those defined nowhere are skipped, with the words in registers.
pub fn known_outside(elf: &Elf, library: Option<&Module>, skips: bool) -> Vec<Known> {
    let models: Vec<StandIn> = stand_ins(false).collect();
    let outside = elf.linked.outside.iter().filter_map(|o| match known(&o.name, library, &models) {
        Found::Known(known) => Some(known),
        Found::Missing(NOWHERE) if skips => Some(Known::of_words(&o.name, [64; 6], 64)),
        Found::Variable | Found::Missing(_) => None,
    });
    outside.collect()
}

/// What a name that no object defines is.
enum Found {
    Known(Known),
    Variable,
    Missing(&'static str),
}

fn known(name: &str, library: Option<&Module>, models: &[StandIn]) -> Found {
    if let Some(model) = models.iter().find(|s| s.name == name) {
        return Found::Known(of_model(model));
    }
    match library.map(|m| (m, defined(m, name))) {
        Some((m, Some(Defined::Function(f)))) => of_body(name, m, f).map_or(Found::Missing(UNPASSED), Found::Known),
        Some((_, Some(Defined::Variable))) => Found::Variable,
        Some((_, None)) | None => Found::Missing(NOWHERE),
    }
}

/// What a module defines under a name.
enum Defined<'m> {
    Function(&'m Function),
    Variable,
}

fn defined<'m>(m: &'m Module, name: &str) -> Option<Defined<'m>> {
    let mut symbol = m.symbols.iter().find(|s| m.str(s.name) == name)?;
    while symbol.kind == symbol_kind::ALIAS {
        symbol = &m.symbols[symbol.index as usize];
    }
    match symbol.kind {
        symbol_kind::FUNCTION => Some(Defined::Function(&m.functions[symbol.index as usize])),
        symbol_kind::DATA => Some(Defined::Variable),
        _ => None,
    }
}

/// A function with a body, if all that it takes and gives is passed in ways that are followed.
pub fn of_body(name: &str, m: &Module, f: &Function) -> Option<Known> {
    let variadic = f.flags & function_flags::VARIADIC != 0;
    let mut params = Vec::new();
    for param in m.params.range(f.params) {
        match (param.kind, u16::try_from(param.width).ok().filter(|width| *width <= 64)) {
            (param_kind::VARIADIC, _) => {}
            (param_kind::BY_VALUE, _) | (_, None) => return None,
            (param_kind::FLOAT, Some(width)) => params.push(Passed::Float(width)),
            (_, Some(width)) => params.push(Passed::Word(width)),
        }
    }
    let result = match (f.ret_width, f.flags & function_flags::RETURNS_FLOAT != 0) {
        (0, _) => None,
        (65.., _) => return None,
        (width, true) => Some(Passed::Float(width as u16)),
        (width, false) => Some(Passed::Word(width as u16)),
    };
    let list = format!("v{}", name.trim_start_matches("__isoc99_"));
    let (callee, more) = match variadic {
        false => (name.to_owned(), More::Nothing),
        true if matches!(defined(m, &list), Some(Defined::Function(_))) => (list, More::List),
        true if WORDS.contains(&name) => (name.to_owned(), More::Words),
        true => return None,
    };
    Some(Known { name: name.to_owned(), callee, params, more, result, intrinsic: false, asks: None })
}

pub fn of_model(s: &StandIn) -> Known {
    let widths = s.widths.iter().map(|w| *w as u16);
    Known { intrinsic: s.intrinsic, ..Known::of_words(s.name, widths, s.ret_width as u16) }
}
