//! Debug information: source positions with the calls they were inlined through, and names of variables.
//!
//! Positions are interned, so the many instructions of one line share one record. Files are made absolute with the
//! compile directory, so that positions of modules compiled in different places can stand side by side. Cost: each node
//! is read once.

use rustc_hash::FxHashMap;
use wryneck_ir::build::Names;
use wryneck_ir::{Loc, LocId, Module as IrModule, StrId};

use crate::ffi::{Metadata, MetadataKind as Kind, Module, Value};

/// Where interned strings and positions go.
pub struct Tables<'a> {
    pub module: &'a mut IrModule,
    pub names: &'a mut Names,
}

impl Tables<'_> {
    fn str(&mut self, text: impl AsRef<[u8]>) -> StrId {
        self.names.str(self.module, text)
    }
    fn loc(&mut self, loc: Loc) -> LocId {
        self.names.loc(self.module, loc)
    }
}

// Operands of debug nodes, as LLVM lays them out.
const SCOPE_PARENT: usize = 1;
const SUBPROGRAM_NAME: usize = 2;
const VARIABLE_NAME: usize = 1;

/// What has been read of a module's debug information.
pub struct DebugInfo<'m> {
    llvm: &'m Module,
    locs: FxHashMap<Metadata<'m>, LocId>,
    scopes: FxHashMap<Metadata<'m>, (StrId, StrId)>,
    files: FxHashMap<Metadata<'m>, StrId>,
}

/// A source variable: its name and where it is declared.
pub struct Variable<'m> {
    pub name: &'m [u8],
    pub loc: LocId,
    /// The function it belongs to.
    pub subprogram: Option<Metadata<'m>>,
}

impl<'m> DebugInfo<'m> {
    pub fn new(llvm: &'m Module) -> DebugInfo<'m> {
        DebugInfo { llvm, locs: FxHashMap::default(), scopes: FxHashMap::default(), files: FxHashMap::default() }
    }
    /// The position an instruction or debug record carries; 0 without one.
    pub fn loc(&mut self, t: &mut Tables, di: Option<Metadata<'m>>) -> LocId {
        let Some(di) = di else { return 0 };
        if let Some(&known) = self.locs.get(&di) {
            return known;
        }
        let (file, function) = self.scope(t, di.scope());
        let inlined_at = self.loc(t, di.inlined_at());
        let loc = t.loc(Loc { file, line: di.line(), column: di.column(), function, inlined_at, library: 0 });
        self.locs.insert(di, loc);
        loc
    }
    /// Where a function is defined; 0 without debug information.
    pub fn function_loc(&mut self, t: &mut Tables, function: Value<'m>) -> LocId {
        let Some(subprogram) = function.subprogram() else { return 0 };
        let (file, function) = self.scope(t, subprogram);
        t.loc(Loc { file, line: subprogram.subprogram_line(), column: 0, function, inlined_at: 0, library: 0 })
    }
    /// A function's name in the source; the symbol's without debug information.
    pub fn function_name(&self, function: Value<'m>) -> &'m [u8] {
        let subprogram = function.subprogram();
        subprogram.and_then(|s| s.string(self.llvm, SUBPROGRAM_NAME)).unwrap_or_else(|| function.name())
    }
    /// Where a global variable is declared; 0 without debug information.
    pub fn global_loc(&mut self, t: &mut Tables, global: Value<'m>) -> LocId {
        match global.global_debug() {
            Some(expression) if matches!(expression.kind(), Kind::LLVMDIGlobalVariableExpressionMetadataKind) => {
                self.variable_loc(t, expression.global_variable())
            }
            _ => 0,
        }
    }
    /// A local variable a debug record speaks of.
    pub fn variable(&mut self, t: &mut Tables, di: Metadata<'m>) -> Variable<'m> {
        let scope = di.variable_scope();
        Variable {
            name: di.string(self.llvm, VARIABLE_NAME).unwrap_or_default(),
            loc: self.variable_loc(t, di),
            subprogram: scope.and_then(|s| self.subprogram(s)),
        }
    }
    fn variable_loc(&mut self, t: &mut Tables, di: Metadata<'m>) -> LocId {
        let function = di.variable_scope().map_or(0, |s| self.scope(t, s).1);
        let Some(file) = di.variable_file() else { return 0 };
        let file = self.file(t, file);
        t.loc(Loc { file, line: di.variable_line(), column: 0, function, inlined_at: 0, library: 0 })
    }
    /// File and function of a scope.
    fn scope(&mut self, t: &mut Tables, scope: Metadata<'m>) -> (StrId, StrId) {
        if let Some(&known) = self.scopes.get(&scope) {
            return known;
        }
        let file = match has_file(scope.kind()).then(|| scope.scope_file()).flatten() {
            Some(f) => self.file(t, f),
            None => 0,
        };
        let name = self.subprogram(scope).and_then(|s| s.string(self.llvm, SUBPROGRAM_NAME)).unwrap_or_default();
        let found = (file, t.str(name));
        self.scopes.insert(scope, found);
        found
    }
    /// The function a scope lies in.
    fn subprogram(&self, scope: Metadata<'m>) -> Option<Metadata<'m>> {
        let mut scope = scope;
        loop {
            match scope.kind() {
                Kind::LLVMDISubprogramMetadataKind => return Some(scope),
                Kind::LLVMDILexicalBlockMetadataKind | Kind::LLVMDILexicalBlockFileMetadataKind => {
                    scope = scope.node(self.llvm, SCOPE_PARENT)?;
                }
                _ => return None,
            }
        }
    }
    /// Absolute path of a file.
    fn file(&mut self, t: &mut Tables, file: Metadata<'m>) -> StrId {
        if let Some(&known) = self.files.get(&file) {
            return known;
        }
        let (directory, name) = (file.directory(), file.filename());
        let name = name.strip_prefix(b"./").unwrap_or(name);
        let path = match name.starts_with(b"/") || directory.is_empty() {
            true => name.to_vec(),
            false => [directory, b"/", name].concat(),
        };
        let id = t.str(path);
        self.files.insert(file, id);
        id
    }
}

fn has_file(kind: Kind) -> bool {
    matches!(kind, Kind::LLVMDISubprogramMetadataKind | Kind::LLVMDILexicalBlockMetadataKind | Kind::LLVMDILexicalBlockFileMetadataKind)
}
