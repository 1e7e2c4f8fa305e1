//! The verifier: what a well-formed module is, as numbered rules ([`Rule`], one test each).
//!
//! **The promise.** After [`verify`] returns `Ok`, every index in every record of the module is in range for what it indexes:
//! an interpreter may index a frame of `Function::slots` slots and all tables unchecked, take every operator and enumeration
//! as known, and follow ranges, edges, switches, aliases and inlining chains without bounds or cycles (of aliases, a cycle
//! is [`crate::link`]'s to find). Constants fit the widths they are read at. Not promised: that a slot is written before it is
//! read (a fresh frame is all zeros), or that a slot is read at the width it was written at.
//!
//! Bytes of any origin may be verified: nothing is read out of range on the way. Linear in the module's size.

mod function;

use crate::inst::{NONE, limbs};
use crate::module::{Ctor, Function, Global, Module, Range, SymbolId, function_flags, global_flags, linkage, param_kind, symbol_kind};

macro_rules! rules {
    ($($(#[$doc:meta])* $number:literal $name:ident $text:literal;)*) => {
        /// A rule of a well-formed module. The text says what holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule { $(#[doc = $text] $(#[$doc])* $name = $number,)* }

        impl Rule {
            pub const ALL: &'static [Rule] = &[$(Rule::$name),*];
            pub fn text(self) -> &'static str { match self { $(Rule::$name => $text),* } }
        }
    };
}

rules! {
    1 Strings "every string lies in the text table, and string 0 is empty";
    2 Locations "every position's file, function and caller exist, callers before callees; position 0 is none; one per instruction";
    3 Symbols "a symbol has a name, a known kind and linkage, and the index its kind wants";
    4 Definitions "a function or variable and its symbol name each other";
    5 Globals "a variable's size is under 2^47, its alignment a power of two, its value no longer than it, its flags known";
    6 Relocations "addresses in a variable lie inside it, sorted, apart, and name symbols";
    7 Constructors "a constructor is a symbol that can be a function, before main or at exit";
    8 Partition "the functions' ranges of blocks, edges, switches, constants, parameters and allocas cover those tables in order";
    9 Signature "parameters and results are at most 65535 bits wide, parameters not empty, kinds and flags known; addresses have 64 bits";
    10 Slots "a function's slots hold its constants and parameters and are at most 2^24";
    11 Constants "a constant's symbol exists";
    12 Allocas "an alloca has a size from 1 byte to under 2^47 and an alignment that is a power of two";
    13 Blocks "a function has a block; a block has instructions of its own, of which the last, and only it, ends it";
    14 Operators "every instruction's operator is known";
    15 Widths "an instruction's width and raw numbers are among those its operator allows";
    16 Operands "an operand names what its kind says: slots of the function for its whole width (all constants or none), a record that exists, or nothing";
    17 Results "a result goes to slots that are no constants, and a result of several limbs not to slots of an operand";
    18 Fit "a constant read as an operand has no bits above the operand's width, and an address is read whole";
    19 Calls "a call's argument widths add up to its argument slots, its result width is the instruction's, its flags are known";
    20 Returns "a function returns as many bits as it says";
    21 Edges "an edge goes to a block of its function, and copies slots to distinct slots that are no constants";
    22 Switches "a switch's edges exist, its cases are sorted, without repetition, and fit its width";
}

/// What is wrong with a module: a rule, and where it is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{table}[{index}]{}: rule {}: {}", in_function(.function), *.rule as u32, .rule.text())]
pub struct Malformed {
    pub rule: Rule,
    /// The function it is in, if in one, by its name.
    pub function: Option<String>,
    /// The table and the record in it.
    pub table: &'static str,
    pub index: u32,
}

fn in_function(name: &Option<String>) -> String {
    name.as_ref().map_or(String::new(), |n| format!(" in function `{n}`"))
}

/// Record `index` of `table` breaks `rule`, unless `holds`.
fn check(holds: bool, rule: Rule, table: &'static str, index: usize) -> Result<(), Malformed> {
    if holds { Ok(()) } else { Err(Malformed { rule, function: None, table, index: index as u32 }) }
}

/// Sizes of variables stay below the address space of a process.
const MAX_SIZE: u64 = 1 << 47;
const MAX_SLOTS: u32 = 1 << 24;

/// Checks all rules; the first broken one is the error.
pub fn verify(module: &Module) -> Result<(), Malformed> {
    let m = module;
    strings(m)?;
    locations(m)?;
    symbols(m)?;
    globals(m)?;
    for (i, &Ctor { symbol, at_exit, .. }) in m.ctors.iter().enumerate() {
        let callable = m.symbols.get(symbol as usize).is_some_and(|s| s.kind != symbol_kind::DATA);
        check(callable && at_exit <= 1, Rule::Constructors, "ctors", i)?;
    }
    partition(m)?;
    for (i, c) in m.consts.iter().enumerate() {
        check(c.symbol == NONE || (c.symbol as usize) < m.symbols.len(), Rule::Constants, "consts", i)?;
    }
    for (i, a) in m.allocas.iter().enumerate() {
        let sized = (1..MAX_SIZE).contains(&a.size) && a.align.is_power_of_two();
        check(sized && has_str(m, a.name) && has_loc(m, a.loc), Rule::Allocas, "allocas", i)?;
    }
    let mut scratch = function::Scratch::default();
    for i in 0..m.functions.len() {
        signature(m, i).and_then(|()| function::blocks(m, i, function::Start::default(), &mut scratch)).map_err(|e| named(m, i, e))?;
    }
    Ok(())
}

/// Checks the blocks, edges and switches added to the last function of a verified module; `before` is its record as it was.
pub fn verify_growth(module: &Module, before: &Function) -> Result<(), Malformed> {
    let Some(last) = module.functions.len().checked_sub(1) else { return Ok(()) };
    let from = function::Start { block: before.blocks.count, edge: before.edges.count, switch: before.switches.count };
    check(module.functions[last].slots <= MAX_SLOTS, Rule::Slots, "functions", last)
        .and_then(|()| function::blocks(module, last, from, &mut function::Scratch::default()))
        .map_err(|e| named(module, last, e))
}

fn named(m: &Module, function: usize, e: Malformed) -> Malformed {
    let name = m.functions[function].name;
    Malformed { function: has_str(m, name).then(|| m.str(name).to_owned()), ..e }
}

fn has_str(m: &Module, id: u32) -> bool {
    (id as usize) < m.strings.len()
}

fn has_loc(m: &Module, id: u32) -> bool {
    (id as usize) < m.locations.len()
}

fn inside(r: Range, len: usize) -> bool {
    u64::from(r.first) + u64::from(r.count) <= len as u64
}

fn strings(m: &Module) -> Result<(), Malformed> {
    check(m.strings.first().is_some_and(|s| s.len == 0), Rule::Strings, "strings", 0)?;
    for (i, s) in m.strings.iter().enumerate() {
        check(inside(Range { first: s.start, count: s.len }, m.text.len()), Rule::Strings, "strings", i)?;
    }
    Ok(())
}

fn locations(m: &Module) -> Result<(), Malformed> {
    let rule = Rule::Locations;
    check(
        m.locations.first().is_some_and(|l| l.file | l.line | l.column | l.function | l.inlined_at | l.library == 0),
        rule,
        "locations",
        0,
    )?;
    for (i, l) in m.locations.iter().enumerate().skip(1) {
        check(has_str(m, l.file) && has_str(m, l.function) && (l.inlined_at as usize) < i && l.library <= 1, rule, "locations", i)?;
    }
    check(m.inst_locs.len() == m.insts.len(), rule, "inst_locs", m.insts.len())?;
    let bad = m.inst_locs.iter().position(|&l| !has_loc(m, l));
    check(bad.is_none(), rule, "inst_locs", bad.unwrap_or(0))
}

fn symbols(m: &Module) -> Result<(), Malformed> {
    for (i, s) in m.symbols.iter().enumerate() {
        let known = has_str(m, s.name) && s.linkage <= linkage::EXTERN_WEAK;
        let index = s.index as usize;
        let indexed = match s.kind {
            symbol_kind::UNDEFINED | symbol_kind::UNDEFINED_FUNCTION => {
                s.index == NONE && matches!(s.linkage, linkage::STRONG | linkage::EXTERN_WEAK)
            }
            symbol_kind::FUNCTION => index < m.functions.len() && s.linkage < linkage::COMMON,
            symbol_kind::DATA => index < m.globals.len() && s.linkage != linkage::EXTERN_WEAK,
            symbol_kind::ALIAS => index < m.symbols.len() && s.linkage < linkage::COMMON,
            _ => false,
        };
        check(known && indexed && (s.kind == symbol_kind::ALIAS || s.offset == 0), Rule::Symbols, "symbols", i)?;
        let mutual = match s.kind {
            symbol_kind::FUNCTION => m.functions[index].symbol as usize == i,
            symbol_kind::DATA => m.globals[index].symbol as usize == i,
            _ => true,
        };
        check(mutual, Rule::Definitions, "symbols", i)?;
    }
    let names = |symbol: SymbolId, kind, i| m.symbols.get(symbol as usize).is_some_and(|s| s.kind == kind && s.index as usize == i);
    for (i, f) in m.functions.iter().enumerate() {
        check(names(f.symbol, symbol_kind::FUNCTION, i), Rule::Definitions, "functions", i)?;
    }
    for (i, g) in m.globals.iter().enumerate() {
        check(names(g.symbol, symbol_kind::DATA, i), Rule::Definitions, "globals", i)?;
    }
    Ok(())
}

fn globals(m: &Module) -> Result<(), Malformed> {
    let known = global_flags::READ_ONLY | global_flags::THREAD_LOCAL | global_flags::UNNAMED;
    let mut used = 0;
    for (i, g) in m.globals.iter().enumerate() {
        let Global { flags, size, align, init, relocs, loc, .. } = *g;
        let sized = size < MAX_SIZE && align.is_power_of_two() && u64::from(init.count) <= size;
        let stored = inside(init, m.bytes.len()) && inside(relocs, m.relocs.len());
        check(sized && stored && flags & !known == 0 && has_loc(m, loc), Rule::Globals, "globals", i)?;
        used += u64::from(relocs.count);
        check(used <= m.relocs.len() as u64, Rule::Relocations, "globals", i)?;
        let mut free = 0;
        for r in m.relocs.range(relocs) {
            let ok = r.offset >= free && size >= 8 && r.offset <= size - 8 && (r.symbol as usize) < m.symbols.len();
            check(ok, Rule::Relocations, "globals", i)?;
            free = r.offset + 8;
        }
    }
    Ok(())
}

fn partition(m: &Module) -> Result<(), Malformed> {
    type Of = fn(&Function) -> Range;
    let tables: [(Of, usize); 6] = [
        (|f| f.blocks, m.blocks.len()),
        (|f| f.edges, m.edges.len()),
        (|f| f.switches, m.switches.len()),
        (|f| f.consts, m.consts.len()),
        (|f| f.params, m.params.len()),
        (|f| f.allocas, m.allocas.len()),
    ];
    for (range, len) in tables {
        let mut end = 0u64;
        for (i, f) in m.functions.iter().enumerate() {
            let r = range(f);
            check(u64::from(r.first) == end, Rule::Partition, "functions", i)?;
            end += u64::from(r.count);
            check(end <= len as u64, Rule::Partition, "functions", i)?;
        }
        check(end == len as u64, Rule::Partition, "functions", m.functions.len())?;
    }
    Ok(())
}

fn signature(m: &Module, i: usize) -> Result<(), Malformed> {
    let f = &m.functions[i];
    let fine = has_str(m, f.name) && has_loc(m, f.loc) && f.flags & !function_flags::ALL == 0 && f.ret_width <= u32::from(u16::MAX);
    check(fine, Rule::Signature, "functions", i)?;
    let mut slots = u64::from(f.consts.count);
    for (n, p) in m.params.range(f.params).iter().enumerate() {
        let fits = match p.kind {
            param_kind::INTEGER | param_kind::FLOAT => (1..=u32::from(u16::MAX)).contains(&p.width),
            param_kind::POINTER | param_kind::BY_VALUE | param_kind::VARIADIC => p.width == 64,
            _ => false,
        };
        check(fits && has_str(m, p.name), Rule::Signature, "params", f.params.first as usize + n)?;
        slots += u64::from(limbs(p.width));
    }
    let variadic = m.params.range(f.params).last().is_some_and(|p| p.kind == param_kind::VARIADIC);
    check(variadic == (f.flags & function_flags::VARIADIC != 0), Rule::Signature, "functions", i)?;
    check(slots <= u64::from(f.slots) && f.slots <= MAX_SLOTS, Rule::Slots, "functions", i)
}

#[cfg(test)]
mod tests;
