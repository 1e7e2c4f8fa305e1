//! LLVM bitcode to IR: the only crate that links LLVM, built as the executable `wryneck-lower`, run as a child.
//!
//! Reading order: [`bitcode`] (what can go wrong with a file), [`types`] (what values are made of), [`context`] (policies), `body` (blocks
//! and phis), `inst` (the instructions), `memory`, `call`, [`intrinsics`]. No pass of LLVM runs: what the compiler wrote is what is lowered.
//! Cost: linear in the module; about a microsecond an instruction.

pub mod bitcode;
mod body;
mod call;
mod constant;
pub mod context;
mod debug_info;
pub mod error;
pub mod ffi;
mod inst;
pub mod intrinsics;
mod memory;
mod symbols;
pub mod types;
mod value;
mod vector;

use wryneck_ir::build::{BuildError, ModuleBuilder};
use wryneck_ir::function_flags;

pub use error::{Diagnostic, Note, ReadError, Unsupported};

/// What can be chosen about a lowering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The module belongs to a library below the program: its functions are marked so.
    pub library: bool,
}

/// A module lowered, and what was left out of its data.
pub struct Lowered {
    pub module: wryneck_ir::Module,
    pub notes: Vec<Note>,
}

/// Lowers a module. What one place of it cannot be lowered becomes an `unsupported` instruction there. The result still has to
/// pass the IR's verifier.
///
/// # Errors
/// Misuse of the builder, which is a defect of this crate.
pub fn lower_module(llvm: &ffi::Module, options: Options) -> Result<Lowered, BuildError> {
    let mut builder = ModuleBuilder::new();
    let mut cx = context::Context::new(llvm);
    symbols::declare(&mut cx, &mut builder);
    symbols::define(&mut cx, &mut builder)?;
    let flags = if options.library { function_flags::LIBRARY } else { 0 };
    for function in llvm.functions().filter(|&f| context::is_definition(f)) {
        body::lower(&mut cx, &mut builder, function, flags)?;
    }
    Ok(Lowered { module: builder.finish(), notes: cx.notes })
}

/// Temporary.
pub fn dump(m: &wryneck_ir::Module) -> String {
    use std::fmt::Write;
    use wryneck_ir::*;
    let mut o = String::new();
    for f in m.functions.iter() {
        writeln!(o, "fn {} params {:?} slots {} ret {} flags {}", m.str(f.name), m.params.range(f.params).iter().map(|p| (p.width, p.kind, m.str(p.name))).collect::<Vec<_>>(), f.slots, f.ret_width, f.flags).ok();
        for (i, c) in m.consts.range(f.consts).iter().enumerate() {
            writeln!(o, "  const %{i} = {}{:#x}", if c.symbol == NONE { "" } else { m.str(m.symbols[c.symbol as usize].name) }, c.value).ok();
        }
        for a in m.allocas.range(f.allocas) {
            writeln!(o, "  alloca {} size {} align {} line {}", m.str(a.name), a.size, a.align, m.locations[a.loc as usize].line).ok();
        }
        for (i, b) in m.blocks.range(f.blocks).iter().enumerate() {
            writeln!(o, " b{i}:").ok();
            for (j, inst) in m.insts.range(b.insts).iter().enumerate() {
                let op = inst.operator().unwrap();
                let k = op.operands();
                let mut s = format!("    {}.{}", op.name(), inst.width);
                for (kind, v) in k.into_iter().zip([inst.dst, inst.a, inst.b, inst.c]) {
                    if v == NONE { continue; }
                    match kind {
                        Operand::Imm => write!(s, " #{v}"),
                        Operand::Edge => { let e = m.edges.range(f.edges)[v as usize]; write!(s, " b{}{:?}", e.block, m.copies.range(e.copies).iter().map(|c| (c.dst, c.src)).collect::<Vec<_>>()) }
                        Operand::Symbol => write!(s, " @{}", m.str(m.symbols[v as usize].name)),
                        Operand::Str => write!(s, " {:?}", m.str(v)),
                        Operand::Call => { let c = m.calls[v as usize]; write!(s, " ({:?}) flags {}", m.slot_lists.range(c.args), c.flags) }
                        Operand::List => write!(s, " list{:?}", &m.slot_lists[v as usize..(v + inst.b) as usize]),
                        _ => write!(s, " %{v}"),
                    }.ok();
                }
                let l = m.locations[m.inst_locs[b.insts.first as usize + j] as usize];
                writeln!(o, "{s}   ; {}:{}", l.line, l.column).ok();
            }
        }
    }
    o
}
