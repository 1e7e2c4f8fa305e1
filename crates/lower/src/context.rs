//! What lowering knows of the whole module: symbols, types, attributes, debug information, notes.
//!
//! Policies stated here once: `undef` and `poison` are zero. Volatile and atomic accesses are plain ones and fences
//! vanish (one thread). A block's address is its position in its function, counted from 1, so that jump tables and
//! differences of labels are plain numbers. A weak definition and a `linkonce` one are the same; an
//! `available_externally` body is ignored, since its real one is elsewhere.

use rustc_hash::FxHashMap;
use wryneck_ir::build::{FunctionBuilder, ModuleBuilder};
use wryneck_ir::{SymbolId, linkage};

use crate::debug_info::{DebugInfo, Tables};
use crate::error::Note;
use crate::ffi::{Attribute, Block, Linkage, Module, Value};
use crate::types::Types;
use crate::unwind::Pad;

/// The attributes lowering asks for.
pub struct Attributes {
    pub no_return: Attribute,
    pub by_value: Attribute,
    pub align: Attribute,
    pub no_optimisation: Attribute,
    pub in_alloca: Attribute,
    pub preallocated: Attribute,
}

/// The module being lowered.
pub struct Context<'m> {
    pub llvm: &'m Module,
    pub types: Types<'m>,
    pub debug: DebugInfo<'m>,
    pub attributes: Attributes,
    pub symbols: FxHashMap<Value<'m>, SymbolId>,
    /// Tables of 32-bit differences from their own start, kept as tables of addresses instead.
    pub relative_tables: FxHashMap<Value<'m>, SymbolId>,
    /// The tables of landing pads, and those that are not defined yet.
    pub pad_symbols: FxHashMap<Value<'m>, SymbolId>,
    pub pads: Vec<Pad>,
    pub notes: Vec<Note>,
    /// Whether `nsw` is checked.
    pub overflow: bool,
    block_numbers: FxHashMap<Block<'m>, u64>,
}

impl<'m> Context<'m> {
    pub fn new(llvm: &'m Module, overflow: bool) -> Context<'m> {
        let attributes = Attributes {
            no_return: Attribute::named("noreturn"),
            by_value: Attribute::named("byval"),
            align: Attribute::named("align"),
            no_optimisation: Attribute::named("optnone"),
            in_alloca: Attribute::named("inalloca"),
            preallocated: Attribute::named("preallocated"),
        };
        Context {
            llvm,
            types: Types::new(llvm),
            debug: DebugInfo::new(llvm),
            attributes,
            symbols: FxHashMap::default(),
            relative_tables: FxHashMap::default(),
            pad_symbols: FxHashMap::default(),
            pads: Vec::new(),
            notes: Vec::new(),
            overflow,
            block_numbers: FxHashMap::default(),
        }
    }
    /// The number that stands for a block's address: its position in its function, from 1.
    pub fn block_number(&mut self, function: Value<'m>, block: Block<'m>) -> u64 {
        if !self.block_numbers.contains_key(&block) {
            for (b, n) in blocks(function).zip(1..) {
                self.block_numbers.insert(b, n);
            }
        }
        self.block_numbers[&block]
    }
}

/// The blocks of a function, in order.
pub fn blocks<'m>(function: Value<'m>) -> impl Iterator<Item = Block<'m>> {
    std::iter::successors(function.first_block(), |b| b.next())
}

/// The instructions of a block, in order.
pub fn instructions<'m>(block: Block<'m>) -> impl Iterator<Item = Value<'m>> {
    std::iter::successors(block.first_instruction(), |i| i.next_instruction())
}

/// Where debug information is interned while a module is set up.
pub fn module_tables(b: &mut ModuleBuilder) -> Tables<'_> {
    Tables { module: &mut b.module, names: &mut b.names }
}

/// Where debug information is interned while a function is lowered.
pub fn function_tables<'b>(b: &'b mut FunctionBuilder<'_>) -> Tables<'b> {
    Tables { module: &mut *b.module, names: &mut *b.names }
}

/// A global's name as the linker sees it (`\x01` tells LLVM to add nothing to it).
pub fn linker_name<'m>(global: Value<'m>) -> &'m [u8] {
    let name = global.name();
    name.strip_prefix(b"\x01").unwrap_or(name)
}

/// Does the module define it, rather than only declare it?
pub fn is_definition(global: Value) -> bool {
    !global.is_declaration() && global.linkage() != Linkage::LLVMAvailableExternallyLinkage
}

/// Is it invisible outside the module?
pub fn is_local(global: Value) -> bool {
    linkage_of(global) == linkage::INTERNAL
}

/// The IR's linkage of a defined global.
pub fn linkage_of(global: Value) -> u32 {
    match global.linkage() {
        Linkage::LLVMInternalLinkage
        | Linkage::LLVMPrivateLinkage
        | Linkage::LLVMLinkerPrivateLinkage
        | Linkage::LLVMLinkerPrivateWeakLinkage => linkage::INTERNAL,
        Linkage::LLVMLinkOnceAnyLinkage
        | Linkage::LLVMLinkOnceODRLinkage
        | Linkage::LLVMLinkOnceODRAutoHideLinkage
        | Linkage::LLVMWeakAnyLinkage
        | Linkage::LLVMWeakODRLinkage => linkage::WEAK,
        Linkage::LLVMCommonLinkage => linkage::COMMON,
        Linkage::LLVMExternalWeakLinkage => linkage::EXTERN_WEAK,
        Linkage::LLVMExternalLinkage
        | Linkage::LLVMAvailableExternallyLinkage
        | Linkage::LLVMAppendingLinkage
        | Linkage::LLVMDLLImportLinkage
        | Linkage::LLVMDLLExportLinkage
        | Linkage::LLVMGhostLinkage => linkage::STRONG,
    }
}
