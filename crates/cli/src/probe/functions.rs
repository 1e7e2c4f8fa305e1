//! The functions of a target, by name patterns.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use wryneck_ir::{Function, Module, function_flags, param_kind};
use wryneck_probe::shape::Param;

use crate::names::{address, matches};
use crate::problem::problem;

/// Those of `names` that one of the patterns matches, in their order, each once; after them the patterns that are addresses. A pattern without a
/// match is an error.
pub fn select(names: &[String], patterns: &[String], target: &str) -> Result<Vec<String>> {
    for pattern in patterns.iter().filter(|pattern| address(pattern).is_none()) {
        if !names.iter().any(|name| matches(pattern, name)) {
            let near: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
            let help = match near.is_empty() {
                true => "it has no symbols of functions: give it before it is stripped, or an address (`--function 0x1234`)".to_owned(),
                false => format!("it defines {}{}", near.join(", "), if names.len() > 8 { ", …" } else { "" }),
            };
            return Err(problem(format!("`{target}` has no function `{pattern}`"), help));
        }
    }
    let mut chosen: Vec<String> = names.iter().filter(|name| patterns.iter().any(|p| matches(p, name))).cloned().collect();
    chosen.dedup();
    chosen.extend(patterns.iter().filter(|pattern| address(pattern).is_some()).cloned());
    Ok(chosen)
}

/// The index of a function of a module by name; a visible one first.
pub fn find(module: &Module, name: &str) -> Option<usize> {
    let named = || module.functions.iter().enumerate().filter(|(_, f)| module.str(f.name) == name);
    named().map(|(i, _)| i).next()
}

/// What a function of bitcode takes.
pub fn params(module: &Module, function: &Function) -> Result<Vec<Param>, String> {
    if function.flags & function_flags::VARIADIC != 0 {
        return Err("it takes variable arguments, whose number only a caller knows".into());
    }
    let mut all = Vec::new();
    for (number, param) in module.params.range(function.params).iter().enumerate() {
        let name = module.str(param.name);
        let name = if name.is_empty() { format!("argument{number}") } else { name.to_owned() };
        all.push(match param.kind {
            param_kind::VARIADIC => return Err("it takes variable arguments, whose number only a caller knows".into()),
            param_kind::BY_VALUE => Param { name, width: 64, by_value: param.size },
            _ => Param { name, width: param.width, by_value: 0 },
        });
    }
    Ok(all)
}

/// The names of the functions that the symbols of machine code define, each once, in the order of their addresses. None: it is stripped.
pub fn of_machine_code(content: &[u8], target: &Path) -> Result<Vec<String>> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let shown = target.display();
    let file = object::File::parse(content).map_err(|error| problem(format!("`{shown}` cannot be read: {error}"), ""))?;
    let defined = |s: &object::Symbol<'_, '_>| s.kind() == SymbolKind::Text && s.is_definition() && s.size() > 0;
    let mut all: Vec<(usize, u64, String)> = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(defined)
        .map(|s| (s.section_index().map_or(0, |i| i.0), s.address(), s.name().unwrap_or_default().to_owned()))
        .collect();
    all.sort();
    let mut seen = BTreeSet::new();
    // A compiler's own part of a function begins in its middle.
    let whole = |name: &String| !name.ends_with(".cold") && !name.contains(".cold.");
    let names: Vec<String> = all.into_iter().map(|(_, _, name)| name).filter(whole).filter(|name| seen.insert(name.clone())).collect();
    Ok(names)
}
