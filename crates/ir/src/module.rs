//! A module: flat tables of plain records that refer to one another by index. A module in a file is these tables, mapped.
//!
//! Everything inside a function is numbered from the function's own first record (`blocks`, `edges`, `switches`, `allocas`,
//! `consts`, `params`); symbols, strings, calls, slot lists, locations are numbered over the module.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::inst::Inst;

/// A table of records: built in memory, or a window of a mapped file.
pub enum Table<T: Pod> {
    Owned(Vec<T>),
    /// `len` records start at byte `start` of the map; alignment and length were checked when it was made.
    Mapped {
        map: Arc<memmap2::Mmap>,
        start: usize,
        len: usize,
    },
}

/// Records `first .. first + count` of some table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Range {
    pub first: u32,
    pub count: u32,
}

/// Index into [`Module::strings`].
pub type StrId = u32;
/// Index into [`Module::symbols`].
pub type SymbolId = u32;
/// Index into [`Module::locations`]; 0 means none.
pub type LocId = u32;

/// A function with a body. Slots: first the constants, then the parameters' limbs in order, then temporaries.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Function {
    pub name: StrId,
    pub symbol: SymbolId,
    /// Constants, in slots `0 .. consts.count`, one limb each.
    pub consts: Range,
    /// Parameters, in the slots after the constants. A variadic function's last parameter is the address of a
    /// `va_list` of its variable arguments, or null (System V ABI AMD64, section 3.5.7).
    pub params: Range,
    /// All slots: constants, parameters, temporaries.
    pub slots: u32,
    /// Width of the result in bits; 0 for none.
    pub ret_width: u32,
    pub blocks: Range,
    pub edges: Range,
    pub switches: Range,
    pub allocas: Range,
    /// Where it is defined.
    pub loc: LocId,
    /// [`function_flags`].
    pub flags: u32,
}

pub mod function_flags {
    /// Never returns to its caller.
    pub const NO_RETURN: u32 = 1;
    /// Takes variable arguments (its last parameter is the address of their `va_list`).
    pub const VARIADIC: u32 = 2;
    /// Its source file belongs to a library below the program (libc), not to the application; coverage is counted separately.
    pub const LIBRARY: u32 = 4;
    /// The result is a float.
    pub const RETURNS_FLOAT: u32 = 8;
    /// Machine code: it grows while the program runs, so it is the last function of its module.
    pub const GROWS: u32 = 16;

    pub const ALL: u32 = NO_RETURN | VARIADIC | LIBRARY | RETURNS_FLOAT | GROWS;
}

/// A run of instructions of [`Module::insts`] of which the last one, and only it, ends the block. Block 0 is the entry.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Block {
    pub insts: Range,
}

/// A way from one block to another: `copies` happen at once (all sources are read before any target is written), which is
/// how phis are lowered.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Edge {
    /// Target, a block of the same function.
    pub block: u32,
    pub copies: Range,
}

/// One limb of a parallel copy.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SlotCopy {
    pub dst: u32,
    pub src: u32,
}

/// A switch: `cases` sorted by value, without repetition.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Switch {
    pub default: u32,
    pub cases: Range,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Case {
    pub value: u64,
    /// An edge of the same function.
    pub edge: u32,
    pub _pad: u32,
}

/// A constant limb: `value`, or, if `symbol` is not NONE, the address of that symbol plus `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Const {
    pub value: u64,
    pub symbol: u32,
    pub _pad: u32,
}

/// A parameter, `limbs(width)` slots. What `--entry` needs to make one up.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Param {
    pub width: u32,
    /// [`param_kind`].
    pub kind: u32,
    /// For `BY_VALUE`: size in bytes of what the address points to (the caller's copy; the callee owns it).
    pub size: u32,
    pub name: StrId,
}

pub mod param_kind {
    pub const INTEGER: u32 = 0;
    pub const POINTER: u32 = 1;
    pub const FLOAT: u32 = 2;
    /// An address of a structure passed by value. The *engine* makes the callee's copy at the call.
    pub const BY_VALUE: u32 = 3;
    /// The address of a `va_list` of the variable arguments, or null.
    pub const VARIADIC: u32 = 4;
}

/// A variable with one instance per call. Offsets in the frame are the engine's choice.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Alloca {
    /// Size in bytes, not 0.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    pub name: StrId,
    pub loc: LocId,
    pub _pad: u32,
}

/// The facts of one call site.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Call {
    /// Argument limbs, in order: a run of [`Module::slot_lists`].
    pub args: Range,
    /// Widths of the arguments (not limbs), in order: a run of [`Module::slot_lists`] too. A variadic call's last argument
    /// is the 64-bit address of the `va_list` that the caller made, or null.
    pub widths: Range,
    pub ret_width: u32,
    /// [`call_flags`].
    pub flags: u32,
    /// How many named arguments a variadic call has before the hidden address.
    pub named: u32,
}

pub mod call_flags {
    pub const NO_RETURN: u32 = 1;
    pub const VARIADIC: u32 = 2;
    /// The result is a pointer (a fresh symbolic result of an undefined function is then not an address).
    pub const RETURNS_POINTER: u32 = 4;
    /// The result is a float.
    pub const RETURNS_FLOAT: u32 = 8;
    /// The code replaces a called function: the call belongs to the function's caller.
    pub const STANDS_IN: u32 = 16;
    /// Not made: marks where the function of this name begins with these arguments, in code of many functions that is one function. The result says whether
    /// its return is observed; [`Call::named`] is the width of its own result in bits, 0 for none.
    pub const TELLS_CALL: u32 = 32;
    /// Not made: marks that the innermost observed function has returned. The argument is where its result would be.
    pub const TELLS_RETURN: u32 = 64;
    /// Machine code called a function that is replaced here: the real one would leave other words in scratch registers and below the stack pointer.
    pub const REPLACES: u32 = 128;

    pub const ALL: u32 = NO_RETURN | VARIADIC | RETURNS_POINTER | RETURNS_FLOAT | STANDS_IN | TELLS_CALL | TELLS_RETURN | REPLACES;
}

/// A name the linker sees: function, data, alias, or something defined elsewhere.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Symbol {
    pub name: StrId,
    /// [`symbol_kind`].
    pub kind: u32,
    /// [`linkage`].
    pub linkage: u32,
    /// Function: index into functions. Data: index into globals. Alias: the symbol it stands for. Else NONE.
    pub index: u32,
    /// Alias: bytes added to the address it stands for.
    pub offset: u64,
}

pub mod symbol_kind {
    /// Defined elsewhere; a function if it is ever called, data otherwise.
    pub const UNDEFINED: u32 = 0;
    pub const FUNCTION: u32 = 1;
    pub const DATA: u32 = 2;
    pub const ALIAS: u32 = 3;
    /// Defined elsewhere, and declared as a function.
    pub const UNDEFINED_FUNCTION: u32 = 4;
}

pub mod linkage {
    /// Not visible outside its module.
    pub const INTERNAL: u32 = 0;
    pub const STRONG: u32 = 1;
    /// Gives way to a strong one.
    pub const WEAK: u32 = 2;
    /// C's tentative definition: gives way to a strong one, wins over a weak one, and the largest size holds.
    pub const COMMON: u32 = 3;
    /// An undefined symbol that may stay so: its address is then 0.
    pub const EXTERN_WEAK: u32 = 4;
}

/// A variable of static (or thread) storage.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Global {
    pub symbol: SymbolId,
    /// [`global_flags`].
    pub flags: u32,
    /// Size in bytes; 0 is possible.
    pub size: u64,
    pub align: u32,
    /// First bytes of the value, in [`Module::bytes`]; the rest is zero.
    pub init: Range,
    /// Addresses inside the value, in [`Module::relocs`], sorted by offset.
    pub relocs: Range,
    pub loc: LocId,
}

pub mod global_flags {
    pub const READ_ONLY: u32 = 1;
    pub const THREAD_LOCAL: u32 = 2;
    /// Private constants such as string literals: no name of their own in messages.
    pub const UNNAMED: u32 = 4;
}

/// Eight bytes at `offset` of a global hold the address of `symbol` plus `addend`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Reloc {
    pub offset: u64,
    pub addend: i64,
    pub symbol: SymbolId,
    pub _pad: u32,
}

/// A source position, with the chain of inlined calls it came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Loc {
    pub file: StrId,
    pub line: u32,
    pub column: u32,
    /// Source name of the function the line belongs to.
    pub function: StrId,
    /// Position of the call it was inlined at, or 0.
    pub inlined_at: LocId,
    /// 1: the code came with a library, though its function did not.
    pub library: u32,
}

/// A string of [`Module::text`]: UTF-8 where it is a name we made; raw bytes otherwise.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Str {
    pub start: u32,
    pub len: u32,
}

/// A function to call before main (or at exit), lowest priority first.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Ctor {
    pub symbol: SymbolId,
    pub priority: u32,
    /// 0: before main; 1: at exit.
    pub at_exit: u32,
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        /// The tables. `strings[0]` is empty, `locations[0]` means "none".
        #[derive(Default)]
        pub struct Module { $($(#[$doc])* pub $name: Table<$ty>,)* }

        /// Numbers of records, by table.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
        #[repr(C)]
        pub struct Lengths { $(pub $name: u32,)* }

        impl Module {
            /// Calls `f` with each table's name, size of a record in bytes, and its bytes: what a file holds, in order.
            pub fn for_each_table(&self, mut f: impl FnMut(&'static str, usize, &[u8])) {
                $(f(stringify!($name), size_of::<$ty>(), bytemuck::cast_slice(&self.$name));)*
            }
            /// How many records each table has.
            pub fn lengths(&self) -> Lengths {
                Lengths { $($name: self.$name.len() as u32),* }
            }
            /// Has all tables in memory, so that they can grow.
            pub fn make_owned(&mut self) {
                $(self.$name = Table::Owned(self.$name.to_vec());)*
            }
            /// Builds a module from a source of tables, asked in file order by name.
            pub fn from_tables<E>(mut source: impl TableSource<Error = E>) -> Result<Module, E> {
                Ok(Module { $($name: source.table(stringify!($name))?,)* })
            }
        }
    };
}

/// Where [`Module::from_tables`] gets its tables.
pub trait TableSource {
    type Error;
    fn table<T: Pod>(&mut self, name: &'static str) -> Result<Table<T>, Self::Error>;
}

tables! {
    functions: Function,
    blocks: Block,
    insts: Inst,
    /// One per instruction.
    inst_locs: LocId,
    edges: Edge,
    copies: SlotCopy,
    switches: Switch,
    cases: Case,
    consts: Const,
    params: Param,
    allocas: Alloca,
    calls: Call,
    slot_lists: u32,
    symbols: Symbol,
    globals: Global,
    relocs: Reloc,
    bytes: u8,
    locations: Loc,
    strings: Str,
    text: u8,
    ctors: Ctor,
}

impl<T: Pod> Default for Table<T> {
    fn default() -> Self {
        Table::Owned(Vec::new())
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Table::Owned(v) => v,
            Table::Mapped { map, start, len } => bytemuck::cast_slice(&map[*start..*start + *len * size_of::<T>()]),
        }
    }
}

impl<T: Pod> Table<T> {
    /// Appends a record and returns its index. Only a module being built (owned tables) grows.
    pub fn push(&mut self, record: T) -> u32 {
        let v = self.owned();
        v.push(record);
        u32::try_from(v.len() - 1).expect("tables stay under 4 G records: the builder checks sizes")
    }
    /// The records to change. Only a module being built (owned tables) changes.
    pub fn owned(&mut self) -> &mut Vec<T> {
        let Table::Owned(v) = self else { panic!("a mapped module is not changed") };
        v
    }
    /// Appends several records and returns where they are.
    pub fn extend(&mut self, records: &[T]) -> Range {
        let first = u32::try_from(self.len()).expect("tables stay under 4 G records");
        self.owned().extend_from_slice(records);
        Range { first, count: u32::try_from(records.len()).expect("tables stay under 4 G records") }
    }
    /// The records of a range.
    pub fn range(&self, r: Range) -> &[T] {
        &self[r.first as usize..(r.first + r.count) as usize]
    }
}

impl Module {
    pub fn str(&self, id: StrId) -> &str {
        std::str::from_utf8(self.raw_str(id)).unwrap_or("<not UTF-8>")
    }
    pub fn raw_str(&self, id: StrId) -> &[u8] {
        let s = self.strings[id as usize];
        &self.text[s.start as usize..(s.start + s.len) as usize]
    }
}
