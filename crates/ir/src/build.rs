//! Building modules: interned names, constants found as one goes, blocks filled in any order, growth while running.
//!
//! Constants come first in a function's slots but are discovered last, so a [`Slot`] is provisional: constants are numbered
//! apart (top bit set) and [`FunctionBuilder::finish`] renumbers every operand once. Misuse (a second terminator, a block
//! left open, a symbol defined twice) is kept as the builder's first error and returned by `finish`, so that emitting needs no
//! `Result`; a module whose builder failed is thrown away. What a builder produces still has to pass the verifier. Cost: linear in what is emitted.
//!
//! Growth: [`FunctionBuilder::append`] adds blocks to the **last** function of a module while the program runs (machine code,
//! lowered on first visit). Tables only get longer and existing records keep their places; constants become `imm`
//! instructions; temporaries live for one session and the next session uses their slots again.

use rustc_hash::FxHashMap;

mod function;
mod growth;

pub use function::{AllocaId, BlockId, CallDef, Callee, EdgeId, Field, FunctionBuilder, Slot};
pub use growth::{Asked, attach, detach};

use crate::inst::{NONE, limbs};
use crate::module::{Ctor, Function, Global, Loc, LocId, Module, Param, Range, Reloc, Str, StrId, Symbol, SymbolId, linkage, symbol_kind};

/// What a front end did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("symbol `{0}` is defined twice")]
    Redefined(String),
    #[error("function `{function}`: block {block} has no terminator")]
    OpenBlock { function: String, block: u32 },
    #[error("function `{function}`: block {block} is started twice")]
    Restarted { function: String, block: u32 },
    #[error("function `{function}`: `{op}` is emitted outside any block")]
    OutsideBlock { function: String, op: &'static str },
    #[error("function `{function}`: a switch has the case {value} twice")]
    DuplicateCase { function: String, value: u64 },
    #[error("function `{function}` is not the module's last and cannot grow")]
    CannotGrow { function: String },
    #[error("function `{function}`: an address constant in code made at run time")]
    AddressWhileGrowing { function: String },
}

/// What has a number by what it says: strings, symbols, positions. Kept beside a module that grows.
#[derive(Default)]
pub struct Names {
    strings: FxHashMap<Box<[u8]>, StrId>,
    symbols: FxHashMap<StrId, SymbolId>,
    locations: FxHashMap<Loc, LocId>,
    /// What is asked for, if somebody wants to know.
    asked: Option<Asked>,
}

impl Names {
    /// The string's number; the same bytes give the same number.
    pub fn str(&mut self, module: &mut Module, text: impl AsRef<[u8]>) -> StrId {
        let text = text.as_ref();
        let id = self.strings.get(text).copied().unwrap_or_else(|| {
            let bytes = module.text.extend(text);
            let id = module.strings.push(Str { start: bytes.first, len: bytes.count });
            self.strings.insert(text.into(), id);
            id
        });
        self.asked.iter_mut().for_each(|asked| asked.strings.push(id));
        id
    }
    /// The symbol of that name, undefined and strong until something defines it.
    pub fn symbol(&mut self, module: &mut Module, name: impl AsRef<[u8]>) -> SymbolId {
        let name = self.str(module, name);
        *self.symbols.entry(name).or_insert_with(|| module.symbols.push(undefined(name)))
    }
    /// The position's number.
    pub fn loc(&mut self, module: &mut Module, loc: Loc) -> LocId {
        let id = *self.locations.entry(loc).or_insert_with(|| module.locations.push(loc));
        self.asked.iter_mut().for_each(|asked| asked.locations.push(id));
        id
    }
    /// From here on, what is asked for is noted.
    pub fn note(&mut self) {
        self.asked = Some(Asked::default());
    }
    /// What was asked for since then; nothing is noted any more.
    pub fn take_asked(&mut self) -> Asked {
        self.asked.take().unwrap_or_default()
    }
}

fn undefined(name: StrId) -> Symbol {
    Symbol { name, kind: symbol_kind::UNDEFINED, linkage: linkage::STRONG, index: NONE, offset: 0 }
}

fn is_undefined(s: &Symbol) -> bool {
    matches!(s.kind, symbol_kind::UNDEFINED | symbol_kind::UNDEFINED_FUNCTION)
}

/// A variable to define.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataDef<'a> {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two (0 is read as 1).
    pub align: u32,
    /// First bytes of the value; trailing zeros need not be given.
    pub init: &'a [u8],
    pub relocs: &'a [Reloc],
    /// [`crate::global_flags`].
    pub flags: u32,
    pub loc: LocId,
}

/// A function to define.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionDef<'a> {
    /// The source name, for messages; the linker uses the symbol's.
    pub name: &'a str,
    pub params: &'a [ParamDef<'a>],
    /// Width of the result in bits, 0 for none.
    pub ret_width: u16,
    /// [`crate::function_flags`].
    pub flags: u32,
    pub loc: LocId,
}

/// A parameter, see [`Param`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ParamDef<'a> {
    pub width: u16,
    /// [`crate::param_kind`].
    pub kind: u32,
    pub size: u32,
    pub name: &'a str,
}

/// A module under construction.
pub struct ModuleBuilder {
    pub module: Module,
    pub names: Names,
}

impl Default for ModuleBuilder {
    fn default() -> Self {
        ModuleBuilder::new()
    }
}

impl ModuleBuilder {
    pub fn new() -> ModuleBuilder {
        let mut b = ModuleBuilder { module: Module::default(), names: Names::default() };
        b.names.str(&mut b.module, "");
        b.names.loc(&mut b.module, Loc { file: 0, line: 0, column: 0, function: 0, inlined_at: 0, library: 0 });
        b
    }
    /// See [`Names::str`].
    pub fn str(&mut self, text: impl AsRef<[u8]>) -> StrId {
        self.names.str(&mut self.module, text)
    }
    /// See [`Names::symbol`].
    pub fn symbol(&mut self, name: impl AsRef<[u8]>) -> SymbolId {
        self.names.symbol(&mut self.module, name)
    }
    /// A new symbol not found by its name: local symbols of object files may share names.
    pub fn local_symbol(&mut self, name: impl AsRef<[u8]>) -> SymbolId {
        let name = self.str(name);
        self.module.symbols.push(Symbol { linkage: linkage::INTERNAL, ..undefined(name) })
    }
    /// See [`Names::loc`]. Position 0 is "none".
    pub fn loc(&mut self, loc: Loc) -> LocId {
        self.names.loc(&mut self.module, loc)
    }
    /// Lets `symbol`, if nothing defines it, have the address 0.
    pub fn extern_weak(&mut self, symbol: SymbolId) {
        let s = &mut self.module.symbols.owned()[symbol as usize];
        if is_undefined(s) {
            s.linkage = linkage::EXTERN_WEAK;
        }
    }
    /// Says that `symbol`, if nothing defines it, is a function.
    pub fn declare_function(&mut self, symbol: SymbolId) {
        let s = &mut self.module.symbols.owned()[symbol as usize];
        if is_undefined(s) {
            s.kind = symbol_kind::UNDEFINED_FUNCTION;
        }
    }
    fn define(&mut self, id: SymbolId, kind: u32, linkage: u32, index: u32, offset: u64) -> Result<(), BuildError> {
        let old = self.module.symbols[id as usize];
        if !is_undefined(&old) {
            return Err(BuildError::Redefined(self.module.str(old.name).to_owned()));
        }
        self.module.symbols.owned()[id as usize] = Symbol { name: old.name, kind, linkage, index, offset };
        Ok(())
    }
    /// Defines a variable; returns its index in the module's globals.
    pub fn data(&mut self, symbol: SymbolId, linkage: u32, def: DataDef) -> Result<u32, BuildError> {
        let index = self.module.globals.len() as u32;
        self.define(symbol, symbol_kind::DATA, linkage, index, 0)?;
        let used = def.init.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let mut relocs = def.relocs.to_vec();
        relocs.sort_by_key(|r| r.offset);
        let m = &mut self.module;
        let (init, relocs) = (m.bytes.extend(&def.init[..used]), m.relocs.extend(&relocs));
        let DataDef { size, align, flags, loc, .. } = def;
        Ok(m.globals.push(Global { symbol, flags, size, align: align.max(1), init, relocs, loc }))
    }
    /// Makes `symbol` another name for `target` plus `offset` bytes.
    pub fn alias(&mut self, symbol: SymbolId, linkage: u32, target: SymbolId, offset: u64) -> Result<(), BuildError> {
        self.define(symbol, symbol_kind::ALIAS, linkage, target, offset)
    }
    /// Calls `symbol` before main (`at_exit` 0) or at exit (1).
    pub fn ctor(&mut self, symbol: SymbolId, priority: u32, at_exit: u32) {
        self.module.ctors.push(Ctor { symbol, priority, at_exit });
    }
    /// Begins a function's body.
    pub fn function(&mut self, symbol: SymbolId, linkage: u32, def: FunctionDef) -> Result<FunctionBuilder<'_>, BuildError> {
        let index = self.module.functions.len() as u32;
        self.define(symbol, symbol_kind::FUNCTION, linkage, index, 0)?;
        let name = self.str(def.name);
        let params: Vec<Param> =
            def.params.iter().map(|p| Param { width: u32::from(p.width), kind: p.kind, size: p.size, name: self.str(p.name) }).collect();
        let m = &mut self.module;
        let first = |len: usize| Range { first: len as u32, count: 0 };
        let function = Function {
            name,
            symbol,
            consts: first(m.consts.len()),
            params: m.params.extend(&params),
            slots: params.iter().map(|p| limbs(p.width)).sum(),
            ret_width: u32::from(def.ret_width),
            blocks: first(m.blocks.len()),
            edges: first(m.edges.len()),
            switches: first(m.switches.len()),
            allocas: first(m.allocas.len()),
            loc: def.loc,
            flags: def.flags,
        };
        m.functions.push(function);
        Ok(FunctionBuilder::over(m, &mut self.names, index, false))
    }
    /// The module. It still has to be verified.
    pub fn finish(self) -> Module {
        self.module
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::Op;

    #[test]
    fn constants_come_first_however_late_they_are_found() {
        let mut m = ModuleBuilder::new();
        let f = m.symbol("f");
        let params = [ParamDef { width: 32, name: "x", ..ParamDef::default() }];
        let def = FunctionDef { name: "f", params: &params, ret_width: 32, ..FunctionDef::default() };
        let mut b = m.function(f, linkage::STRONG, def).unwrap();
        let entry = b.block();
        b.start(entry);
        let x = b.param(0);
        let y = b.binary(Op::Add, 32, x, x);
        let seven = b.int(32, 7);
        let z = b.binary(Op::Mul, 32, y, seven);
        assert_eq!(b.int(32, 7), seven);
        b.ret(32, Some(z));
        b.finish().unwrap();
        let m = m.finish();
        let f = m.functions[0];
        assert_eq!((f.consts.count, f.slots), (1, 4));
        assert_eq!((m.insts[0].dst, m.insts[0].a), (2, 1));
        assert_eq!((m.insts[1].dst, m.insts[1].a, m.insts[1].b), (3, 2, 0));
        assert_eq!(m.slot_lists[m.insts[2].a as usize], 3);
    }

    #[test]
    fn the_last_function_grows() {
        let mut m = ModuleBuilder::new();
        let f = m.symbol("f");
        let mut b = m.function(f, linkage::STRONG, FunctionDef::default()).unwrap();
        let entry = b.block();
        b.start(entry);
        b.unreachable();
        let index = b.finish().unwrap();
        let ModuleBuilder { mut module, mut names } = m;
        for round in 1..4 {
            let mut b = FunctionBuilder::append(&mut module, &mut names, index).unwrap();
            let (one, two) = (b.block(), b.block());
            assert_eq!(one.index(), 2 * round - 1);
            b.start(one);
            let c = b.int(64, 0x1_0000_0002);
            let edge = b.edge(two);
            b.br(edge);
            b.start(two);
            b.jump(c);
            b.finish().unwrap();
        }
        let f = module.functions[0];
        assert_eq!((f.blocks.count, f.edges.count, f.slots), (7, 3, 1));
        assert_eq!(module.edges[2].block, 6);
    }

    #[test]
    fn misuse_is_the_first_error() {
        let mut m = ModuleBuilder::new();
        let f = m.symbol("f");
        let mut b = m.function(f, linkage::STRONG, FunctionDef { name: "f", ..FunctionDef::default() }).unwrap();
        let x = b.temp(8);
        b.emit(Op::Copy, 8, x, x, NONE, NONE);
        b.block();
        let function = "f".to_owned();
        assert_eq!(b.finish(), Err(BuildError::OutsideBlock { function, op: "copy" }));
        let again = m.function(f, linkage::STRONG, FunctionDef::default()).err();
        assert_eq!(again, Some(BuildError::Redefined("f".to_owned())));
    }
}
