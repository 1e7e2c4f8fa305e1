//! The types of a function's parameters, from debug information, for contracts that name fields.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use wryneck_machine::link::{self, Elsewhere};
use wryneck_machine::types as described;
use wryneck_machine::{Elf, MachineProgram};
use wryneck_probe::contract::{Field, Type, Types};

use crate::compile::CLANG;
use crate::data;
use crate::native::tool;
use crate::scratch::Scratch;

/// The types of a function's parameters; none are known where there is no debug information. Compiles bitcode, which has it in a form that only
/// LLVM reads.
pub fn of(function: &str, code: Option<&MachineProgram>, bitcode: Option<&Path>) -> Result<Types> {
    let find = |elf: &Elf| elf.dwarf.iter().find_map(|dwarf| dwarf.types_of(function));
    let found = match (code, bitcode) {
        (Some(code), _) => find(&code.elf),
        (None, Some(bitcode)) => find(&compiled(bitcode)?),
        (None, None) => None,
    };
    Ok(found.map(taken).unwrap_or_default())
}

fn compiled(bitcode: &Path) -> Result<Elf> {
    let scratch = Scratch::new().context("cannot make a scratch folder")?;
    let object = scratch.path().join("types.o");
    let flags = ["--target=x86_64-linux-gnu", "-g", "-O0", "-w", "-Wno-override-module", "-c", "-o"];
    tool(Command::new(CLANG).env("TMPDIR", scratch.path()).args(flags).arg(&object).arg(bitcode))?;
    let content = data::read(&object, data::PROGRAM)?;
    Ok(link::objects(&[("types.o".to_owned(), content)], &|_| Elsewhere::Function)?)
}

fn taken(types: described::Types) -> Types {
    let field = |f: described::Field| Field { name: f.name, offset: f.offset, kind: f.kind };
    let kind = |kind| match kind {
        described::Type::Pointer(of) => Type::Pointer(of),
        described::Type::Integer { bytes, signed } => Type::Integer { bits: 8 * bytes as u32, signed },
        described::Type::Record(fields) => Type::Record(fields.into_iter().map(field).collect()),
        described::Type::Array { of, size } => Type::Array { of, size },
        described::Type::Other => Type::Other,
    };
    Types { all: types.all.into_iter().map(kind).collect(), params: types.params }
}
