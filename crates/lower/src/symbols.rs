//! What the linker sees: functions, variables with their initial bytes, aliases, constructors.
//!
//! Symbols are made first, for everything the module names, so that constants and code can refer to any of them. A
//! table of 32-bit differences from its own start (LLVM builds them from switches for position-independent code) is not
//! expressible as bytes and addresses; where only `llvm.load.relative` reads it, it becomes a table of addresses twice
//! its size.

use wryneck_ir::build::{BuildError, DataDef, ModuleBuilder};
use wryneck_ir::{SymbolId, global_flags, linkage};

use crate::constant::{Image, Initializer, Linear};
use crate::context::{Context, is_definition, is_local, linkage_of, linker_name, module_tables};
use crate::error::Note;
use crate::ffi::{Linkage, Opcode, TypeKind, Value, ValueKind};
use crate::memory::MAX_VARIABLE;

/// Lists of LLVM's own that say something about functions: name, and whether they run at exit.
const CTOR_LISTS: &[(&[u8], u32)] = &[(b"llvm.global_ctors", 0), (b"llvm.global_dtors", 1)];

/// Sections whose variables are lists of functions, written by hand, and whether these run at exit. Musl looks at no others.
const CTOR_SECTIONS: &[(&[u8], u32)] = &[(b".fini_array", 1), (b".init_array", 0)];

/// Makes a symbol for every global of the module.
pub fn declare<'m>(cx: &mut Context<'m>, b: &mut ModuleBuilder) {
    let llvm = cx.llvm;
    let all = llvm.functions().chain(llvm.globals()).chain(llvm.aliases()).chain(llvm.ifuncs());
    for global in all.filter(|g| !g.name().starts_with(b"llvm.")) {
        let local = is_local(global);
        let symbol = if local { b.local_symbol(linker_name(global)) } else { b.symbol(linker_name(global)) };
        if global.linkage() == Linkage::LLVMExternalWeakLinkage {
            b.extern_weak(symbol);
        }
        cx.symbols.insert(global, symbol);
    }
    for ifunc in llvm.ifuncs() {
        cx.notes.push(Note::Ifunc(String::from_utf8_lossy(linker_name(ifunc)).into_owned()));
    }
    if let Some(line) = llvm.inline_asm().split(|&c| c == b'\n').find(|l| !l.is_empty()) {
        cx.notes.push(Note::ModuleAsm { first_line: String::from_utf8_lossy(line).into_owned() });
    }
}

/// Defines the module's variables, aliases and constructor lists.
///
/// # Errors
/// The builder's, if a name is defined twice.
pub fn define<'m>(cx: &mut Context<'m>, b: &mut ModuleBuilder) -> Result<(), BuildError> {
    let llvm = cx.llvm;
    for global in llvm.globals() {
        if let Some(&(_, at_exit)) = CTOR_LISTS.iter().find(|(name, _)| *name == global.name()) {
            constructors(cx, b, global, at_exit);
        } else if let Some(&symbol) = cx.symbols.get(&global).filter(|_| is_definition(global)) {
            variable(cx, b, global, symbol)?;
        }
    }
    for alias in llvm.aliases() {
        let symbol = cx.symbols[&alias];
        match cx.fold(alias.aliasee()) {
            Some(target) if target.as_number().is_none() => b.alias(symbol, linkage_of(alias), target.symbol, target.value)?,
            _ => cx.notes.push(Note::Alias(String::from_utf8_lossy(linker_name(alias)).into_owned())),
        }
    }
    Ok(())
}

fn variable<'m>(cx: &mut Context<'m>, b: &mut ModuleBuilder, global: Value<'m>, symbol: SymbolId) -> Result<(), BuildError> {
    let loc = cx.debug.global_loc(&mut module_tables(b), global);
    let align = match global.alignment() {
        0 => cx.llvm.preferred_alignment(global),
        asked => asked,
    };
    let mut size = cx.llvm.alloc_size(global.value_type());
    if size >= MAX_VARIABLE {
        let global = String::from_utf8_lossy(linker_name(global)).into_owned();
        cx.notes.push(Note::TooLarge { global, bytes: size });
        return Ok(());
    }
    let image = match relative_table(cx, global) {
        Some(image) => {
            size *= 2;
            cx.relative_tables.insert(global, symbol);
            image
        }
        None => {
            let mut init = Initializer { cx, global, image: Image::default() };
            if let Some(value) = global.initializer() {
                init.write(value, 0);
            }
            init.image
        }
    };
    if let Some((priority, at_exit)) = listed(global.section()) {
        // Those with parameters (Rust's standard library has one, for its arguments) get them from glibc alone.
        let plain = |symbol: SymbolId| cx.llvm.functions().any(|f| cx.symbols.get(&f) == Some(&symbol) && f.params() == 0);
        image.relocs.iter().filter(|reloc| plain(reloc.symbol)).for_each(|reloc| b.ctor(reloc.symbol, priority, at_exit));
    }
    let flags = [
        (global.is_global_constant(), global_flags::READ_ONLY),
        (global.is_thread_local(), global_flags::THREAD_LOCAL),
        (global.linkage() == Linkage::LLVMPrivateLinkage, global_flags::UNNAMED),
    ];
    let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum();
    let def = DataDef { size, align: align.max(1), init: &image.bytes, relocs: &image.relocs, flags, loc };
    b.data(symbol, linkage_of(global), def)?;
    Ok(())
}

/// The priority of functions that are listed in a section (`.init_array.00200`), and whether they run at exit.
fn listed(section: &[u8]) -> Option<(u32, u32)> {
    let (name, at_exit) = CTOR_SECTIONS.iter().find(|(name, _)| section.starts_with(name))?;
    let priority = match section[name.len()..].strip_prefix(b".") {
        Some(digits) => str::from_utf8(digits).ok()?.parse().ok()?,
        None if section.len() == name.len() => u16::MAX.into(),
        None => return None,
    };
    Some((priority, *at_exit))
}

/// The addresses of a table whose every element is `trunc (address - table)`, if only `llvm.load.relative` reads it.
fn relative_table<'m>(cx: &mut Context<'m>, global: Value<'m>) -> Option<Image> {
    let ty = global.value_type();
    let table = ty.kind() == TypeKind::LLVMArrayTypeKind
        && ty.element().kind() == TypeKind::LLVMIntegerTypeKind
        && ty.element().int_width() == 32
        && is_local(global);
    let values = global.initializer().filter(|v| table && v.kind() == ValueKind::LLVMConstantArrayValueKind)?;
    // The initialiser mentions the table itself; anything else must be the base of a relative load.
    let loads = |user: Value<'m>| {
        operand_of(user, Opcode::LLVMPtrToInt, 0).is_some()
            || (is_call(user) && user.called_value().name().starts_with(b"llvm.load.relative"))
    };
    if !global.users().all(loads) {
        return None;
    }
    let mut image = Image::default();
    for i in 0..values.operands() as u32 {
        let element = values.operand(i);
        let difference = operand_of(element, Opcode::LLVMTrunc, 0)?;
        let own = cx.fold(operand_of(difference, Opcode::LLVMSub, 1)?)?;
        if own != (Linear { symbol: cx.symbols[&global], value: 0 }) {
            return None;
        }
        image.put_linear(u64::from(i) * 8, cx.fold(operand_of(difference, Opcode::LLVMSub, 0)?)?, 8);
    }
    Some(image)
}

fn is_call(v: Value) -> bool {
    v.is_instruction() && v.opcode() == Opcode::LLVMCall
}

/// Operand `i` of a constant expression of this opcode.
fn operand_of<'m>(c: Value<'m>, opcode: Opcode, i: u32) -> Option<Value<'m>> {
    let matches = c.kind() == ValueKind::LLVMConstantExprValueKind && c.constant_opcode() == opcode;
    matches.then(|| c.operand(i))
}

/// The entries `{ priority, function, data }` of a constructor list.
fn constructors<'m>(cx: &mut Context<'m>, b: &mut ModuleBuilder, list: Value<'m>, at_exit: u32) {
    let Some(entries) = list.initializer() else { return };
    let mut found = Vec::new();
    for entry in (0..).map_while(|i| entries.element(i)) {
        let priority = entry.element(0).and_then(Value::as_int).unwrap_or(u64::from(u16::MAX)) as u32;
        let function = entry.element(1).and_then(|f| cx.fold(f)).filter(|f| f.as_number().is_none());
        found.extend(function.map(|f| (priority, f.symbol)));
    }
    found.sort_by_key(|&(priority, _)| priority);
    for (priority, symbol) in found {
        b.ctor(symbol, priority, at_exit);
    }
}

/// The IR's linkage of a definition, for functions.
pub fn definition_linkage(function: Value) -> u32 {
    match linkage_of(function) {
        linkage::EXTERN_WEAK => linkage::STRONG,
        other => other,
    }
}
