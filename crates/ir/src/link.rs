//! Linking: several verified modules become one [`Program`], in which every symbol of every module has one [`Target`].
//!
//! The rules are those of a static ELF link (System V gABI, "Symbol Table"), the program's modules first, libraries after:
//! 1. An internal symbol is its own module's definition.
//! 2. A definition in a program module wins over any in a library, as an object file's does over an archive's.
//! 3. Among the rest strong wins over common over weak; of equals the first. Two strong ones in program modules are an error.
//! 4. Of common definitions the largest size holds.
//! 5. An alias is an address in its own module: what it stands for there, even if that name is defined better elsewhere.
//! 6. What nobody defines is `Null` where its module says extern-weak, else an entry in the one table of undefined symbols.
//!
//! No addresses: the engine gives them. Cost: one hash look-up per visible symbol and one pass over the instructions to
//! tell undefined functions from data.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::inst::Op;
use crate::module::{Function, Global, Module, Symbol, SymbolId, linkage, symbol_kind};

/// A function of the program, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);
/// A variable of the program, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);
/// A symbol nobody defines, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UndefId(pub u32);

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Func(FuncId),
    /// A variable and an offset in bytes.
    Data(GlobalId, u64),
    Undefined(UndefId),
    /// Undefined and allowed to be: address 0.
    Null,
}

/// A module to link.
pub struct Unit {
    /// For messages: a file's name.
    pub name: String,
    pub module: Module,
    /// Below the program: its definitions give way, and its undefined symbols are nobody's fault.
    pub library: bool,
}

/// Record `index` of a table of module `unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub unit: u32,
    pub index: u32,
}

/// A variable of the program.
#[derive(Clone, Copy, Debug)]
pub struct LinkedGlobal {
    pub place: Place,
    /// Bytes; differs from the record's only for common symbols.
    pub size: u64,
    /// Some symbol stands for it; if none does, it was replaced by another definition and needs no memory.
    pub live: bool,
}

/// A symbol nobody defines.
#[derive(Clone, Debug)]
pub struct Undefined {
    pub name: Box<[u8]>,
    /// It is called somewhere, or declared a function; data otherwise.
    pub function: bool,
    /// Only libraries refer to it.
    pub library: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("`{symbol}` is defined in both `{first}` and `{second}`")]
    Duplicate { symbol: String, first: String, second: String },
    #[error("`{unit}`: the alias `{symbol}` stands for itself")]
    AliasCycle { unit: String, symbol: String },
    #[error("`{unit}`: the alias `{symbol}` points {offset} bytes into a function")]
    AliasIntoFunction { unit: String, symbol: String, offset: u64 },
}

/// Linked modules. Reached by index everywhere; nothing moves once it has an id.
pub struct Program {
    pub units: Vec<Unit>,
    functions: Vec<Place>,
    globals: Vec<LinkedGlobal>,
    undefined: Vec<Undefined>,
    undefined_ids: FxHashMap<Box<[u8]>, UndefId>,
    /// Names that the program's own modules refer to as extern-weak and that nobody defines.
    weak: BTreeSet<Box<[u8]>>,
    /// By unit and symbol.
    targets: Vec<Vec<Target>>,
    /// By unit and index of the module's tables.
    ids: Vec<Ids>,
    /// Visible definitions by name.
    names: FxHashMap<Box<[u8]>, Definition>,
    ctors: Vec<Target>,
    dtors: Vec<Target>,
}

#[derive(Clone, Copy)]
struct Definition {
    unit: u32,
    symbol: SymbolId,
    /// Rules 2 and 3: the larger wins.
    rank: (bool, u8),
}

#[derive(Default)]
struct Ids {
    functions: Vec<FuncId>,
    globals: Vec<GlobalId>,
}

impl Program {
    /// Links verified modules, the program's in link order and then the libraries'.
    pub fn link(units: Vec<Unit>) -> Result<Program, LinkError> {
        let count = units.len();
        let mut p = Program {
            units,
            functions: Vec::new(),
            globals: Vec::new(),
            undefined: Vec::new(),
            undefined_ids: FxHashMap::default(),
            weak: BTreeSet::new(),
            targets: (0..count).map(|_| Vec::new()).collect(),
            ids: (0..count).map(|_| Ids::default()).collect(),
            names: FxHashMap::default(),
            ctors: Vec::new(),
            dtors: Vec::new(),
        };
        for unit in 0..count {
            p.number(unit);
            p.define(unit, 0)?;
        }
        for unit in 0..count {
            p.resolve(unit)?;
        }
        p.mark_called();
        p.order_constructors();
        Ok(p)
    }

    /// Takes in what was added to a unit's module since it was linked (code lowered while running). Existing ids and
    /// targets stay as they are; a new definition never replaces one.
    pub fn extend(&mut self, unit: usize) -> Result<(), LinkError> {
        self.number(unit);
        self.define(unit, self.targets[unit].len())?;
        self.resolve(unit)
    }

    /// All functions by id: where their records are.
    pub fn functions(&self) -> &[Place] {
        &self.functions
    }
    /// All variables by id.
    pub fn globals(&self) -> &[LinkedGlobal] {
        &self.globals
    }
    /// The symbols nobody defines, by id.
    pub fn undefined(&self) -> &[Undefined] {
        &self.undefined
    }
    /// Names that the program's own modules refer to as extern-weak and that nobody defines: null.
    pub fn weak(&self) -> &BTreeSet<Box<[u8]>> {
        &self.weak
    }
    /// The function's module and record.
    #[inline]
    pub fn function(&self, id: FuncId) -> (&Module, &Function) {
        let Place { unit, index } = self.functions[id.0 as usize];
        let module = &self.units[unit as usize].module;
        (module, &module.functions[index as usize])
    }
    /// The variable's module and record.
    pub fn global(&self, id: GlobalId) -> (&Module, &Global) {
        let Place { unit, index } = self.globals[id.0 as usize].place;
        let module = &self.units[unit as usize].module;
        (module, &module.globals[index as usize])
    }
    /// Id of function `index` of a unit's module.
    pub fn func_id(&self, unit: u32, index: u32) -> FuncId {
        self.ids[unit as usize].functions[index as usize]
    }
    /// The name a function has for the linker.
    pub fn symbol_name(&self, id: FuncId) -> &str {
        let (module, function) = self.function(id);
        module.str(module.symbols[function.symbol as usize].name)
    }
    /// What symbol `symbol` of a unit is.
    #[inline]
    pub fn target(&self, unit: u32, symbol: SymbolId) -> Target {
        self.targets[unit as usize][symbol as usize]
    }
    /// What a visible name is. Internal symbols have none.
    pub fn lookup(&self, name: impl AsRef<[u8]>) -> Option<Target> {
        self.names.get(name.as_ref()).map(|d| self.target(d.unit, d.symbol))
    }
    /// What to call before main, in order: lowest priority first, then link order.
    pub fn constructors(&self) -> &[Target] {
        &self.ctors
    }
    /// What to call at exit, in order: highest priority first, then against link order.
    pub fn destructors(&self) -> &[Target] {
        &self.dtors
    }

    fn name_of(&self, unit: usize, symbol: &Symbol) -> String {
        String::from_utf8_lossy(self.units[unit].module.raw_str(symbol.name)).into_owned()
    }

    /// Gives ids to the functions and variables of a unit that have none.
    fn number(&mut self, unit: usize) {
        let (module, ids) = (&self.units[unit].module, &mut self.ids[unit]);
        let place = |index: usize| Place { unit: unit as u32, index: index as u32 };
        for index in ids.functions.len()..module.functions.len() {
            ids.functions.push(FuncId(self.functions.len() as u32));
            self.functions.push(place(index));
        }
        for (index, g) in module.globals.iter().enumerate().skip(ids.globals.len()) {
            ids.globals.push(GlobalId(self.globals.len() as u32));
            self.globals.push(LinkedGlobal { place: place(index), size: g.size, live: false });
        }
    }

    /// Enters a unit's visible definitions under their names (rules 2 to 4).
    fn define(&mut self, unit: usize, from: usize) -> Result<(), LinkError> {
        let program = !self.units[unit].library;
        for symbol in from..self.units[unit].module.symbols.len() {
            let module = &self.units[unit].module;
            let s = module.symbols[symbol];
            let strength = match s.linkage {
                linkage::STRONG => 3,
                linkage::COMMON => 2,
                linkage::WEAK => 1,
                _ => continue,
            };
            if !defines(&s) {
                continue;
            }
            let name = module.raw_str(s.name);
            let new = Definition { unit: unit as u32, symbol: symbol as SymbolId, rank: (program, strength) };
            let Some(&old) = self.names.get(name) else {
                self.names.insert(name.into(), new);
                continue;
            };
            if old.rank == (true, 3) && new.rank == (true, 3) {
                let (symbol, first) = (self.name_of(unit, &s), self.units[old.unit as usize].name.clone());
                return Err(LinkError::Duplicate { symbol, first, second: self.units[unit].name.clone() });
            }
            // While running (`from` > 0) nothing is replaced.
            let winner = if new.rank > old.rank && from == 0 { new } else { old };
            if old.rank.1 == 2 && new.rank.1 == 2 {
                let size = |d: Definition| self.data_of(d).map_or(0, |g| self.globals[g.0 as usize].size);
                let size = size(old).max(size(new));
                if let Some(g) = self.data_of(winner) {
                    self.globals[g.0 as usize].size = size;
                }
            }
            if let Some(entry) = self.names.get_mut(self.units[unit].module.raw_str(s.name)) {
                *entry = winner;
            }
        }
        Ok(())
    }

    fn data_of(&self, d: Definition) -> Option<GlobalId> {
        let s = self.units[d.unit as usize].module.symbols[d.symbol as usize];
        (s.kind == symbol_kind::DATA).then(|| self.ids[d.unit as usize].globals[s.index as usize])
    }

    /// Gives each symbol of a unit that has none its target.
    fn resolve(&mut self, unit: usize) -> Result<(), LinkError> {
        for symbol in self.targets[unit].len()..self.units[unit].module.symbols.len() {
            let s = &self.units[unit].module.symbols[symbol];
            let visible = s.linkage != linkage::INTERNAL;
            let name = self.units[unit].module.raw_str(s.name);
            let target = match self.names.get(name) {
                Some(d) if visible => self.own(d.unit as usize, d.symbol)?,
                _ => self.own(unit, symbol as SymbolId)?,
            };
            let target = target.unwrap_or_else(|(unit, symbol)| self.undefine(unit, symbol));
            if let Target::Data(g, _) = target {
                self.globals[g.0 as usize].live = true;
            }
            self.targets[unit].push(target);
        }
        Ok(())
    }

    /// The symbol's own definition, through aliases (rule 5); `Err` names the symbol that turns out to be undefined.
    fn own(&self, mut unit: usize, start: SymbolId) -> Result<Result<Target, (usize, SymbolId)>, LinkError> {
        let (mut symbol, mut offset) = (start, 0u64);
        let whole = |unit: usize| (self.units[unit].name.clone(), self.name_of(unit, &self.units[unit].module.symbols[start as usize]));
        let first = unit;
        for _ in 0..64 {
            let s = self.units[unit].module.symbols[symbol as usize];
            match s.kind {
                symbol_kind::DATA => {
                    return Ok(Ok(Target::Data(self.ids[unit].globals[s.index as usize], offset)));
                }
                symbol_kind::FUNCTION if offset == 0 => {
                    return Ok(Ok(Target::Func(self.ids[unit].functions[s.index as usize])));
                }
                symbol_kind::FUNCTION => {
                    let (unit, symbol) = whole(first);
                    return Err(LinkError::AliasIntoFunction { unit, symbol, offset });
                }
                symbol_kind::ALIAS => {
                    offset = offset.wrapping_add(s.offset);
                    symbol = s.index;
                }
                _ => match self.names.get(self.units[unit].module.raw_str(s.name)) {
                    Some(d) => (unit, symbol) = (d.unit as usize, d.symbol),
                    None => return Ok(Err((unit, symbol))),
                },
            }
        }
        let (unit, symbol) = whole(first);
        Err(LinkError::AliasCycle { unit, symbol })
    }

    /// Rule 6.
    fn undefine(&mut self, unit: usize, symbol: SymbolId) -> Target {
        let Unit { module, library, .. } = &self.units[unit];
        let s = &module.symbols[symbol as usize];
        let name = module.raw_str(s.name);
        if s.linkage == linkage::EXTERN_WEAK {
            if !library {
                self.weak.insert(name.into());
            }
            return Target::Null;
        }
        let function = s.kind == symbol_kind::UNDEFINED_FUNCTION;
        if let Some(&id) = self.undefined_ids.get(name) {
            let old = &mut self.undefined[id.0 as usize];
            old.library &= library;
            old.function |= function;
            return Target::Undefined(id);
        }
        let id = UndefId(self.undefined.len() as u32);
        self.undefined.push(Undefined { name: name.into(), function, library: *library });
        self.undefined_ids.insert(name.into(), id);
        Target::Undefined(id)
    }

    /// An undefined symbol that is called is a function.
    fn mark_called(&mut self) {
        if self.undefined.iter().all(|u| u.function) {
            return;
        }
        for (unit, targets) in self.units.iter().zip(&self.targets) {
            for inst in unit.module.insts.iter().filter(|i| i.op == Op::Call as u16) {
                if let Target::Undefined(id) = targets[inst.a as usize] {
                    self.undefined[id.0 as usize].function = true;
                }
            }
        }
    }

    fn order_constructors(&mut self) {
        let all = self
            .units
            .iter()
            .zip(&self.targets)
            .flat_map(|(unit, targets)| unit.module.ctors.iter().map(|c| (c.at_exit, c.priority, targets[c.symbol as usize])));
        let (mut dtors, mut ctors): (Vec<_>, Vec<_>) = all.partition(|&(at_exit, ..)| at_exit != 0);
        ctors.sort_by_key(|&(_, priority, _)| priority);
        dtors.sort_by_key(|&(_, priority, _)| priority);
        self.ctors = ctors.into_iter().map(|(.., target)| target).collect();
        self.dtors = dtors.into_iter().rev().map(|(.., target)| target).collect();
    }
}

fn defines(s: &Symbol) -> bool {
    matches!(s.kind, symbol_kind::FUNCTION | symbol_kind::DATA | symbol_kind::ALIAS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{DataDef, FunctionDef, ModuleBuilder};

    /// A module from words: `f` strong function, `w` weak, `i` internal, `d` data of size 4, `c12` common of 12 bytes,
    /// `a=b+4` alias, `?x` reference, `~x` extern weak, `!x` call.
    fn unit(name: &str, library: bool, words: &str) -> Unit {
        let mut m = ModuleBuilder::new();
        let mut called = Vec::new();
        for word in words.split_whitespace() {
            let (what, name) = word.split_once(':').unwrap();
            let s = if what == "i" { m.local_symbol(name) } else { m.symbol(name.split('=').next().unwrap()) };
            let body = |m: &mut ModuleBuilder, linkage| {
                let mut f = m.function(s, linkage, FunctionDef { name, ..FunctionDef::default() }).unwrap();
                let b = f.block();
                f.start(b);
                f.ret(0, None);
                f.finish().unwrap();
            };
            match (what, what.get(1..).and_then(|n| n.parse().ok())) {
                ("f", _) => body(&mut m, linkage::STRONG),
                ("w", _) => body(&mut m, linkage::WEAK),
                ("i", _) => m.module.symbols.owned()[s as usize].linkage = linkage::INTERNAL,
                ("d", _) => _ = m.data(s, linkage::STRONG, DataDef { size: 4, ..DataDef::default() }).unwrap(),
                (_, Some(size)) => _ = m.data(s, linkage::COMMON, DataDef { size, ..DataDef::default() }).unwrap(),
                ("a", _) => {
                    let (target, offset) = name.split_once('=').unwrap().1.split_once('+').unwrap();
                    let target = m.symbol(target);
                    m.alias(s, linkage::STRONG, target, offset.parse().unwrap()).unwrap();
                }
                ("~", _) => m.extern_weak(s),
                ("!", _) => called.push(s),
                _ => assert_eq!(what, "?"),
            }
        }
        let s = m.local_symbol("caller");
        let mut f = m.function(s, linkage::INTERNAL, FunctionDef::default()).unwrap();
        let b = f.block();
        f.start(b);
        for s in called {
            f.call(crate::build::Callee::Symbol(s), crate::build::CallDef::default());
        }
        f.unreachable();
        f.finish().unwrap();
        Unit { name: name.into(), module: m.finish(), library }
    }
    fn link(units: &[(&str, bool, &str)]) -> Result<Program, LinkError> {
        Program::link(units.iter().map(|&(name, library, words)| unit(name, library, words)).collect())
    }
    fn from_unit(p: &Program, name: &str) -> u32 {
        match p.lookup(name).unwrap() {
            Target::Func(f) => p.functions()[f.0 as usize].unit,
            Target::Data(g, _) => p.globals()[g.0 as usize].place.unit,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_program_wins_over_the_library_and_strong_over_common_over_weak() {
        let p = link(&[("a", false, "w:x ?:lib c8:v w:z"), ("b", false, "f:x w:malloc c24:v c4:z"), ("libc", true, "f:malloc f:lib d:v")])
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((from_unit(&p, "x"), from_unit(&p, "malloc"), from_unit(&p, "lib")), (1, 1, 2));
        assert_eq!((from_unit(&p, "v"), from_unit(&p, "z")), (0, 1));
        let Some(Target::Data(v, 0)) = p.lookup("v") else { panic!() };
        assert_eq!(p.globals()[v.0 as usize].size, 24);
        let live: Vec<bool> = p.globals().iter().map(|g| g.live).collect();
        assert_eq!(live, [true, false, true, false]);
        assert_eq!(p.undefined().len(), 0);
    }
    #[test]
    fn two_strong_definitions_are_an_error_only_in_the_program() {
        let e = link(&[("a.c", false, "f:x"), ("b.c", false, "d:x")]).err().unwrap();
        assert_eq!(e.to_string(), "`x` is defined in both `a.c` and `b.c`");
        let p = link(&[("m", false, "?:x"), ("l1", true, "f:x"), ("l2", true, "f:x")]).ok().unwrap();
        assert_eq!(from_unit(&p, "x"), 1);
    }
    #[test]
    fn an_alias_is_an_address_in_its_own_module() {
        let p = link(&[("a", false, "d:t"), ("l", true, "d:t a:u=t+2 a:w=u+1 ?:t")]).ok().unwrap();
        assert_eq!((from_unit(&p, "t"), from_unit(&p, "w")), (0, 1));
        assert!(matches!(p.lookup("w"), Some(Target::Data(_, 3))));
        let e = link(&[("a", false, "a:p=q+0 a:q=p+0")]).err().unwrap();
        assert!(matches!(e, LinkError::AliasCycle { .. }));
        let e = link(&[("a", false, "f:f a:q=f+3")]).err().unwrap();
        assert_eq!(e.to_string(), "`a`: the alias `q` points 3 bytes into a function");
    }
    #[test]
    fn the_undefined_are_one_table() {
        let p = link(&[("a", false, "!:f ?:d ~:weak"), ("l", true, "?:f ?:only ~:d")]).ok().unwrap();
        let table: Vec<_> = p.undefined().iter().map(|u| (String::from_utf8_lossy(&u.name).into_owned(), u.function, u.library)).collect();
        let row = |n: &str, f, l| (n.to_owned(), f, l);
        assert_eq!(table, [row("f", true, false), row("d", false, false), row("only", false, true)]);
        assert_eq!(p.lookup("weak"), None);
        assert_eq!(p.target(0, 2), Target::Null);
        assert_eq!(p.weak().iter().map(|name| &**name).collect::<Vec<_>>(), [b"weak"]);
    }
    #[test]
    fn constructors_run_by_priority_and_then_in_order() {
        let with = |words: &str, ctors: &[(u32, u32)]| {
            let mut u = unit("u", false, words);
            for &(priority, at_exit) in ctors {
                let symbol = (0..).find(|&s| u.module.symbols[s as usize].kind == symbol_kind::FUNCTION).unwrap();
                u.module.ctors.push(crate::module::Ctor { symbol, priority, at_exit });
            }
            u
        };
        let p = Program::link(vec![with("f:a", &[(65535, 0), (1, 1)]), with("f:b", &[(101, 0), (65535, 0), (1, 1)])]).ok().unwrap();
        let (a, b) = (p.lookup("a").unwrap(), p.lookup("b").unwrap());
        assert_eq!((p.constructors(), p.destructors()), (&[b, a, b][..], &[b, a][..]));
    }
    #[test]
    fn a_unit_grows() {
        let mut p = link(&[("a", false, "f:x"), ("b", false, "!:x")]).ok().unwrap();
        let m = &mut p.units[1].module;
        let mut names = crate::build::Names::default();
        let (x, y) = (names.symbol(m, "x"), names.symbol(m, "y"));
        p.extend(1).unwrap();
        assert_eq!(p.target(1, x), p.lookup("x").unwrap());
        assert_eq!(p.target(1, y), Target::Undefined(UndefId(0)));
    }
}
