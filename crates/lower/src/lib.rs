//! LLVM bitcode to IR: the only crate that links LLVM, built as the executable `wryneck-lower`, run as a child.
//!
//! Reading order: [`bitcode`] (what can go wrong with a file), `types` (what values are made of), `context` (policies),
//! `body` (blocks and phis), `inst` (the instructions), `memory`, `call`, `intrinsics`, `frame` (slots). No pass of
//! LLVM runs: what the compiler wrote is what is lowered. Cost: linear in the module; about six microseconds an
//! instruction, of which half are LLVM's reader and verifier.

mod asm;
mod asm_arithmetic;
pub mod bitcode;
mod body;
mod call;
mod constant;
mod context;
mod debug_info;
pub mod error;
pub mod ffi;
mod frame;
mod inst;
mod intrinsics;
mod memory;
mod symbols;
mod types;
mod unwind;
mod value;
mod variadic;
mod vector;

use wryneck_ir::build::{BuildError, ModuleBuilder};
use wryneck_ir::function_flags;

pub use error::{Diagnostic, Note, ReadError, Unsupported};

/// What can be chosen about a lowering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The module belongs to a library below the program: its functions are marked so.
    pub library: bool,
    /// Additions, subtractions and multiplications that promise not to overflow (`nsw`) are checked.
    pub overflow: bool,
}

/// A module lowered, and what was left out of its data.
pub struct Lowered {
    pub module: wryneck_ir::Module,
    pub notes: Vec<Note>,
}

/// Lowers a module. What one place of it cannot be lowered becomes an `unsupported` instruction there. The result still
/// has to pass the IR's verifier.
///
/// # Errors
/// Misuse of the builder, which is a defect of this crate.
pub fn lower_module(llvm: &ffi::Module, options: Options) -> Result<Lowered, BuildError> {
    let mut builder = ModuleBuilder::new();
    let mut cx = context::Context::new(llvm, options.overflow);
    symbols::declare(&mut cx, &mut builder);
    symbols::define(&mut cx, &mut builder)?;
    let flags = if options.library { function_flags::LIBRARY } else { 0 };
    for function in llvm.functions().filter(|&f| context::is_definition(f)) {
        body::lower(&mut cx, &mut builder, function, flags)?;
    }
    unwind::define_pads(&mut cx, &mut builder)?;
    Ok(Lowered { module: builder.finish(), notes: cx.notes })
}
