//! Program locations: the instruction at a location, its kind, and its position in the source.

use wryneck_ir::{self as ir, LocId, NONE};

use crate::ground::image::{CodePos, Image};

/// A source position; `function` is the source's name of it. Without debug information, `file` is empty and `line` 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePos {
    pub function: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// The kind of an operation, for explaining a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does<'a> {
    Branch,
    /// With the callee's name, if the call names it.
    Call(Option<&'a str>),
    Other,
}

/// A place in the code in words: file and line, or the function.
pub fn name(image: &Image, pos: CodePos) -> String {
    let source = source(image, pos);
    match source.first() {
        Some(s) if s.line > 0 => format!("{}:{}", s.file.rsplit('/').next().unwrap_or(&s.file), s.line),
        Some(s) => format!("`{}`", s.function),
        None => "an unknown place".into(),
    }
}

/// Whether the code at a place came with a library: its function did, or, where code of both is one function, it did itself.
pub fn in_library(image: &Image, pos: CodePos) -> bool {
    let (module, f) = image.function(pos.func);
    came_with_library(module, f, (image.code(pos.func).first_inst + pos.op) as usize)
}

/// As [`in_library`], of an instruction of a function's module.
pub(super) fn came_with_library(module: &ir::Module, f: &ir::Function, inst: usize) -> bool {
    let here = || module.inst_locs.get(inst).is_some_and(|loc| module.locations[*loc as usize].library != 0);
    f.flags & ir::function_flags::LIBRARY != 0 || f.flags & ir::function_flags::GROWS != 0 && here()
}

/// Parts of the names of files that came with a compiler: Rust's standard library, the crates that it uses, the headers of libc++.
const OF_TOOLCHAIN: [&str; 3] = ["/include/c++/v1/", "/rust/deps/", "/rustc/"];

/// Whether the code at a place is known to be the program's: it has lines, not all of them inlined from what came with the compiler.
pub fn is_own(image: &Image, pos: CodePos) -> bool {
    !in_library(image, pos) && source(image, pos).iter().any(|source| !source.file.is_empty() && !is_of_toolchain(&source.file))
}

/// Whether a source file came with a compiler.
pub fn is_of_toolchain(file: &str) -> bool {
    OF_TOOLCHAIN.iter().any(|part| file.contains(part))
}

/// Whether the operation is a call that stands for the beginning of its own function, so that the event belongs to the function's caller.
pub fn stands_in(image: &Image, pos: CodePos) -> bool {
    let module = image.function(pos.func).0;
    let inst = module.insts.get((image.code(pos.func).first_inst + pos.op) as usize);
    let call = inst.filter(|i| i.operator() == Some(ir::Op::Call)).map(|i| module.calls[i.b as usize]);
    call.is_some_and(|call| call.flags & ir::call_flags::STANDS_IN != 0)
}

/// The last operation of a block of a function.
pub fn end_of(image: &Image, func: u32, block: u32) -> CodePos {
    let (module, f) = image.function(func);
    let insts = module.blocks.range(f.blocks)[block as usize].insts;
    CodePos { func, op: (insts.first + insts.count).saturating_sub(1 + image.code(func).first_inst) }
}

/// What the operation at a place does.
pub fn does(image: &Image, pos: CodePos) -> Does<'_> {
    let (module, f) = image.function(pos.func);
    let first = module.blocks.range(f.blocks).iter().map(|b| b.insts.first).min().unwrap_or(0);
    let Some(inst) = module.insts.get((first + pos.op) as usize) else { return Does::Other };
    match inst.operator() {
        Some(ir::Op::CondBr | ir::Op::Switch) => Does::Branch,
        Some(ir::Op::Call) => Does::Call(Some(module.str(module.symbols[inst.a as usize].name))),
        Some(ir::Op::CallIndirect) => Does::Call(None),
        Some(_) | None => Does::Other,
    }
}

/// The number of a place's instruction in its module.
pub fn instruction(image: &Image, pos: CodePos) -> u32 {
    let (module, f) = image.function(pos.func);
    let first = module.blocks.range(f.blocks).iter().map(|b| b.insts.first).min().unwrap_or(0);
    first + pos.op
}

/// The number of a place's source position in its module; 0 if it has none.
pub fn location(image: &Image, pos: CodePos) -> LocId {
    image.function(pos.func).0.inst_locs.get(instruction(image, pos) as usize).copied().unwrap_or(0)
}

/// The source position of a place, inlined calls unfolded: innermost first, the function itself last.
pub fn source(image: &Image, pos: CodePos) -> Vec<SourcePos> {
    let (module, f) = image.function(pos.func);
    let mut loc = location(image, pos);
    let mut all = Vec::new();
    while loc != 0 && all.len() < 64 {
        let l = module.locations[loc as usize];
        all.push(source_pos(module, loc));
        loc = l.inlined_at;
    }
    if all.is_empty() {
        let mut here = source_pos(module, f.loc);
        here.function = image.name(pos.func).to_owned();
        all.push(here);
    }
    all
}

fn source_pos(module: &ir::Module, loc: LocId) -> SourcePos {
    if loc == 0 || loc == NONE {
        return SourcePos::default();
    }
    let l = module.locations[loc as usize];
    SourcePos { function: module.str(l.function).to_owned(), file: module.str(l.file).to_owned(), line: l.line, column: l.column }
}
