//! Links relocatable objects into one program in memory, as a static link does (System V gABI, chapter 4, "Symbol Table" and
//! "Relocation"; of section groups the first one of a name is kept).
//!
//! Each section is a segment of its own with room around it, so that accesses out of bounds are found. Symbols that no object defines are
//! requested: functions get placeholder addresses, variables get their addresses later ([`Linked::resolve`]). Everything lies in the
//! lowest 2 GiB, because code that is not position-independent reaches no further.
//!
//! Nothing here trusts the files. Cost: one pass over symbols and one over relocations.

mod apply;
pub mod shared;

use std::collections::BTreeMap;

use object::elf::{
    ET_REL, GRP_COMDAT, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_WRITE, SHN_ABS, SHN_COMMON, SHT_FINI_ARRAY, SHT_GROUP, SHT_INIT_ARRAY,
    SHT_NOBITS, STB_LOCAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_TLS,
};
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolIndex};
use rustc_hash::FxHashMap;

use wryneck_ir::code_source::ThreadImage;

use crate::dwarf::Dwarf;
use crate::elf::{Elf, Headers, Segment, Symbol, cpu_of};
use crate::error::MachineError;
use crate::relocate::Kind;

/// Where objects are put.
const BASE: u64 = 0x6000_0000;
/// The first address after the room for them.
const END: u64 = 0x7c00_0000;
/// The table of addresses of symbols (the GOT), and addresses that stand for functions elsewhere.
const TABLE: u64 = 0x7c00_0000;
const OUTSIDE: u64 = 0x7e00_0000;
/// Bytes between such addresses, and of the regions.
const STRIDE: u64 = 16;
const REGION: u64 = 0x200_0000;
/// Bytes of a page of the CPU's.
const PAGE: u64 = 4096;
/// Bytes between sections.
const GAP: u64 = 16;
/// Larger alignments (bytes) are taken for nonsense.
const MAX_ALIGN: u64 = 1 << 20;
/// Bytes at the thread pointer: its own address first, and the guard of the stack at 40.
const THREAD: u64 = 64;
/// What stack guards are compared with.
const GUARD: u64 = 0x5f7e_3a91_c42d_6b00;
/// Symbols that linkers define. What they lead to is not looked at.
const OWN: [&str; 2] = ["_GLOBAL_OFFSET_TABLE_", "__dso_handle"];

type File<'a> = ElfFile64<'a, Endianness>;

/// What a name is that no object defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// A function that can be called.
    Function,
    /// A variable, whose address is known later.
    Variable,
    /// It cannot be called, for this reason in words.
    Missing(&'static str),
}

/// A function that is not in the program. What is recognised of it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    pub address: u64,
    pub name: String,
    /// Why it cannot be called where it is not recognised, in words.
    pub why: &'static str,
}

/// A place that holds an address which was not known when objects were linked.
#[derive(Clone, Debug)]
struct Late {
    place: u64,
    kind: &'static Kind,
    symbol: String,
    addend: i64,
}

/// What linking objects left to be done, and what is known of the result beside. An executable has none.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// By address.
    pub outside: Vec<Outside>,
    /// Functions to call before the program and at its end, in order.
    pub constructors: Vec<u64>,
    pub destructors: Vec<u64>,
    /// Where the thread's variables end.
    pub thread_pointer: Option<u64>,
    late: Vec<Late>,
}

impl Linked {
    /// The function outside of the program that an address stands for.
    pub fn outside_at(&self, address: u64) -> Option<&Outside> {
        self.outside.get(usize::try_from(address.checked_sub(OUTSIDE)? / STRIDE).ok()?)
    }
}

/// The name of the function that stands for any one.
const ANY: &str = "any function";

impl Linked {
    pub(crate) fn any_function(&self) -> Option<u64> {
        self.outside.iter().find(|o| o.name == ANY).map(|o| o.address)
    }
}

impl Elf {
    /// Names the code at an address of the file, of an object at an offset of its first section of code; `None` if there is none.
    pub fn add_function(&mut self, name: &str, address: u64) -> Option<()> {
        let first = self.segments.iter().find(|s| s.executable && self.base == 0 && (BASE..END).contains(&s.base)).map(|s| s.base);
        let address = first.unwrap_or(self.base).checked_add(address)?;
        self.segment(address).filter(|s| s.executable)?;
        self.symbols.push(Symbol { address, local: true, name: name.to_owned(), size: 0, code: true, library: false });
        self.symbols.sort();
        Some(())
    }

    /// Adds a function that stands for any one, so that calls through unknown pointers have a target: one outside of the program.
    pub fn add_any_function(&mut self) -> Result<(), MachineError> {
        let address = new_outside(&mut self.linked.outside, ANY.to_owned(), "of which nothing is known")?;
        let end = OUTSIDE + STRIDE * self.linked.outside.len() as u64;
        let (size, bytes) = (end - OUTSIDE, vec![0xf4; (end - OUTSIDE) as usize]);
        match self.segments.iter_mut().find(|s| s.base == OUTSIDE) {
            Some(segment) => (segment.size, segment.bytes) = (size, bytes),
            None => {
                let name = "functions outside of the program".to_owned();
                self.segments.push(Segment { name, base: OUTSIDE, size, bytes, writable: false, executable: true });
            }
        }
        self.symbols.push(Symbol { address, local: false, name: ANY.to_owned(), size: 0, code: true, library: true });
        self.symbols.sort();
        crate::elf::apart(&mut self.segments)
    }
}

/// A section in memory.
struct Placed {
    segment: Segment,
    align: u64,
    /// Of thread-local storage.
    thread: bool,
}

/// An object, as far as it is linked.
struct Unit<'a> {
    name: String,
    file: File<'a>,
    /// By section: its number among what is placed.
    placed: Vec<Option<usize>>,
    /// By section: another object's is used.
    discarded: Vec<bool>,
}

/// A definition: of which object, its symbol, and how it ranks (strong over common over weak).
#[derive(Clone, Copy)]
struct Definition {
    unit: usize,
    symbol: SymbolIndex,
    rank: u8,
}

const STRONG: u8 = 2;
const COMMON: u8 = 1;
const WEAK: u8 = 0;

/// What a symbol is worth.
enum Value {
    Address(u64),
    /// The address of a thread's variable, in the block that they begin as.
    Thread(u64),
    Late(String),
    /// It was in a section of which another object's is used.
    Discarded,
}

/// Objects being linked.
struct Linker<'a, 'e> {
    units: Vec<Unit<'a>>,
    names: FxHashMap<String, Definition>,
    /// Common symbols: size, alignment, and number among what is placed.
    common: BTreeMap<String, (u64, u64, usize)>,
    placed: Vec<Placed>,
    /// Words of the table, by what they hold: symbol's object and number, or name; relative to the thread pointer or not.
    slots: FxHashMap<(String, bool), u64>,
    table: Vec<u8>,
    linked: Linked,
    elsewhere: &'e dyn Fn(&str) -> Elsewhere,
}

/// Links objects, each with a name for messages; `elsewhere` says what the names are that none of them defines.
pub fn objects(files: &[(String, Vec<u8>)], elsewhere: &dyn Fn(&str) -> Elsewhere) -> Result<Elf, MachineError> {
    let mut linker = Linker {
        units: Vec::new(),
        names: FxHashMap::default(),
        common: BTreeMap::new(),
        placed: Vec::new(),
        slots: FxHashMap::default(),
        table: Vec::new(),
        linked: Linked::default(),
        elsewhere,
    };
    let mut cpu = None;
    for (name, bytes) in files {
        let unit = || unit(name, bytes);
        let unit = unit().map_err(|e| e.of(name))?;
        cpu = Some(cpu_of(&unit.file).map_err(|e| e.of(name))?);
        linker.units.push(unit);
    }
    let Some(cpu) = cpu else { return Err(MachineError::NotExecutable(ET_REL.0)) };
    linker.choose_groups()?;
    for (unit, (name, _)) in files.iter().enumerate() {
        linker.define(unit).map_err(|e| e.of(name))?;
    }
    for (unit, (name, _)) in files.iter().enumerate() {
        linker.take_sections(unit).map_err(|e| e.of(name))?;
    }
    linker.take_common();
    linker.lay_out()?;
    for (unit, (name, _)) in files.iter().enumerate() {
        linker.relocate(unit).map_err(|e| e.of(name))?;
    }
    let mut dwarf = Vec::new();
    for (unit, (name, _)) in files.iter().enumerate() {
        dwarf.extend(linker.debug_information(unit).map_err(|e| e.of(name))?);
    }
    let symbols = linker.symbols()?;
    linker.find_constructors();
    let (segments, linked) = linker.finish();
    let (headers, thread_image) = (Headers::default(), ThreadImage::default());
    Ok(Elf {
        cpu,
        entry: 0,
        segments,
        headers,
        interpreter: None,
        is_program: true,
        base: 0,
        symbols,
        chosen: Vec::new(),
        imports: Vec::new(),
        is_loaded: false,
        dwarf,
        thread_image,
        code_on_stack: false,
        linked,
    })
}

/// The address that stands for a function elsewhere, among those that have one.
fn new_outside(all: &mut Vec<Outside>, name: String, why: &'static str) -> Result<u64, MachineError> {
    if let Some(known) = all.iter().find(|o| o.name == name) {
        return Ok(known.address);
    }
    let address = OUTSIDE + STRIDE * all.len() as u64;
    if address + STRIDE > OUTSIDE + REGION {
        return Err(MachineError::TooLarge);
    }
    all.push(Outside { address, name, why });
    Ok(address)
}

/// Whether a file of this content is a relocatable object.
pub fn is_object(content: &[u8]) -> bool {
    File::parse(content).is_ok_and(|file| file.elf_header().e_type(file.endian()) == ET_REL)
}

fn unit<'a>(name: &str, bytes: &'a [u8]) -> Result<Unit<'a>, MachineError> {
    let file: File<'a> = File::parse(bytes).map_err(MachineError::NotElf)?;
    let kind = file.elf_header().e_type(file.endian());
    if kind != ET_REL {
        return Err(MachineError::NotObject(kind.0));
    }
    let sections = file.elf_section_table().len();
    Ok(Unit { name: name.to_owned(), file, placed: vec![None; sections], discarded: vec![false; sections] })
}

impl Linker<'_, '_> {
    /// Of groups of the same name, keeps the first.
    fn choose_groups(&mut self) -> Result<(), MachineError> {
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for (number, unit) in self.units.iter_mut().enumerate() {
            let (file, endian) = (&unit.file, unit.file.endian());
            let damaged = |e| MachineError::Damaged(e).of(&unit.name);
            for section in file.elf_section_table().iter().filter(|h| h.sh_type(endian) == SHT_GROUP) {
                let Some((flags, members)) = section.group(endian, file.data()).map_err(damaged)? else { continue };
                let signature = file.symbol_by_index(SymbolIndex(section.sh_info(endian) as usize)).map_err(damaged)?;
                let name = match signature.section_index().filter(|_| signature.name() == Ok("")) {
                    Some(section) => file.section_by_index(section).map_err(damaged)?.name().map_err(damaged)?.to_owned(),
                    None => signature.name().map_err(damaged)?.to_owned(),
                };
                let first = *known.entry(name).or_insert(number);
                if flags.0 & GRP_COMDAT.0 == 0 || first == number {
                    continue;
                }
                for member in members {
                    if let Some(discarded) = unit.discarded.get_mut(member.get(endian) as usize) {
                        *discarded = true;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes in the visible definitions of an object.
    fn define(&mut self, number: usize) -> Result<(), MachineError> {
        let unit = &self.units[number];
        let endian = unit.file.endian();
        for s in unit.file.symbols() {
            let raw = s.elf_symbol();
            if raw.st_bind() == STB_LOCAL || s.is_undefined() || unit.is_discarded(s.section_index()) {
                continue;
            }
            let name = s.name().map_err(MachineError::Damaged)?;
            if raw.st_type() == STT_GNU_IFUNC {
                return Err(MachineError::ChosenFunction(name.to_owned()));
            }
            let common = raw.st_shndx(endian) == SHN_COMMON;
            let rank = if common {
                COMMON
            } else if raw.st_bind() == STB_WEAK {
                WEAK
            } else {
                STRONG
            };
            let new = Definition { unit: number, symbol: s.index(), rank };
            if common {
                let (size, align, _) = self.common.entry(name.to_owned()).or_insert((0, 1, usize::MAX));
                (*size, *align) = ((*size).max(s.size()), (*align).max(s.address()));
            }
            match self.names.get_mut(name) {
                Some(old) if old.rank == STRONG && rank == STRONG => {
                    let first = self.units[old.unit].name.clone();
                    return Err(MachineError::Duplicate { symbol: name.to_owned(), first });
                }
                Some(old) if old.rank >= rank => {}
                Some(old) => *old = new,
                None => _ = self.names.insert(name.to_owned(), new),
            }
        }
        Ok(())
    }

    /// Takes the sections of an object that are to be in memory.
    fn take_sections(&mut self, number: usize) -> Result<(), MachineError> {
        let single = self.units.len() == 1;
        let unit = &mut self.units[number];
        let endian = unit.file.endian();
        for section in unit.file.sections() {
            let (index, header) = (section.index().0, section.elf_section_header());
            let flags = header.sh_flags(endian).0;
            if flags & SHF_ALLOC.0 == 0 || unit.discarded.get(index) != Some(&false) {
                continue;
            }
            let name = section.name().map_err(MachineError::Damaged)?;
            let (size, align) = (section.size(), section.align().max(1));
            let bytes = if header.sh_type(endian) == SHT_NOBITS { &[] } else { section.data().map_err(MachineError::Damaged)? };
            if size > END - BASE || align > MAX_ALIGN || !align.is_power_of_two() || bytes.len() as u64 > size {
                return Err(MachineError::BadSection { name: name.to_owned(), size, align });
            }
            unit.placed[index] = Some(self.placed.len());
            let segment = Segment {
                name: if single { name.to_owned() } else { format!("{}({name})", unit.name) },
                base: 0,
                size,
                bytes: bytes.to_vec(),
                writable: flags & SHF_WRITE.0 != 0,
                executable: flags & SHF_EXECINSTR.0 != 0,
            };
            self.placed.push(Placed { segment, align, thread: flags & SHF_TLS.0 != 0 });
        }
        Ok(())
    }

    /// Gives common symbols that nothing better defines memory of their own.
    fn take_common(&mut self) {
        let names = &self.names;
        self.common.retain(|name, _| names.get(name).is_some_and(|d| d.rank == COMMON));
        for (name, (size, align, at)) in &mut self.common {
            *at = self.placed.len();
            let segment = Segment { name: name.clone(), base: 0, size: *size, bytes: Vec::new(), writable: true, executable: false };
            let align = align.checked_next_power_of_two().unwrap_or(1).min(MAX_ALIGN);
            self.placed.push(Placed { segment, align, thread: false });
        }
    }

    /// Gives everything its address: code, constants and variables on pages of their own, and the variables of the thread together.
    fn lay_out(&mut self) -> Result<(), MachineError> {
        let class = |p: &Placed| match (p.thread, p.segment.executable, p.segment.writable) {
            (true, ..) => 4,
            (_, true, false) => 0,
            (_, true, true) => 1,
            (_, false, false) => 2,
            (_, false, true) => 3,
        };
        let mut at = BASE;
        for wanted in 0..=4 {
            at = at.next_multiple_of(PAGE) + PAGE;
            for p in self.placed.iter_mut().filter(|p| class(p) == wanted) {
                at = at.next_multiple_of(p.align);
                p.segment.base = at;
                // What is of the thread is one block.
                at += p.segment.size + if p.thread { 0 } else { GAP };
                if at > END {
                    return Err(MachineError::TooLarge);
                }
            }
        }
        let largest = self.placed.iter().filter(|p| p.thread).map(|p| p.align).max().unwrap_or(1);
        let pointer = at.next_multiple_of(largest.max(16));
        self.linked.thread_pointer = Some(pointer);
        if pointer + THREAD > END {
            return Err(MachineError::TooLarge);
        }
        let mut bytes = vec![0; THREAD as usize];
        bytes[..8].copy_from_slice(&pointer.to_le_bytes());
        bytes[40..48].copy_from_slice(&GUARD.to_le_bytes());
        let name = "what the thread pointer points to".to_owned();
        let segment = Segment { name, base: pointer, size: THREAD, bytes, writable: true, executable: false };
        self.placed.push(Placed { segment, align: 1, thread: false });
        Ok(())
    }

    /// What a symbol of an object is worth.
    fn value(&mut self, number: usize, symbol: SymbolIndex) -> Result<Value, MachineError> {
        let unit = &self.units[number];
        let s = unit.file.symbol_by_index(symbol).map_err(MachineError::Damaged)?;
        let (raw, endian) = (s.elf_symbol(), unit.file.endian());
        if raw.st_bind() == STB_LOCAL || symbol.0 == 0 {
            if symbol.0 != 0 && s.is_undefined() {
                return Err(MachineError::NoSymbol(symbol.0));
            }
            return Ok(self.own(number, symbol));
        }
        let name = s.name().map_err(MachineError::Damaged)?.to_owned();
        if let Some(d) = self.names.get(&name).copied() {
            if d.rank == COMMON {
                let at = self.common.get(&name).map(|(.., at)| *at).and_then(|at| self.placed.get(at));
                return at.map(|p| Value::Address(p.segment.base)).ok_or(MachineError::NoSymbol(symbol.0));
            }
            return Ok(self.own(d.unit, d.symbol));
        }
        if OWN.contains(&name.as_str()) {
            return Ok(Value::Address(TABLE));
        }
        let may_lack = raw.st_bind() == STB_WEAK;
        if raw.st_type() == STT_TLS || raw.st_shndx(endian) == SHN_ABS {
            return Err(MachineError::Undefined(name));
        }
        match (self.elsewhere)(&name) {
            Elsewhere::Variable => Ok(Value::Late(name)),
            Elsewhere::Missing(_) if may_lack => Ok(Value::Address(0)),
            Elsewhere::Missing(why) => self.outside(name, why),
            Elsewhere::Function => self.outside(name, "which is not recognised"),
        }
    }

    /// The address that stands for a function elsewhere.
    fn outside(&mut self, name: String, why: &'static str) -> Result<Value, MachineError> {
        new_outside(&mut self.linked.outside, name, why).map(Value::Address)
    }

    /// What a symbol is worth that its object defines.
    fn own(&self, number: usize, symbol: SymbolIndex) -> Value {
        let unit = &self.units[number];
        let Ok(s) = unit.file.symbol_by_index(symbol) else { return Value::Address(0) };
        let Some(section) = s.section_index() else { return Value::Address(s.address()) };
        match unit.placed.get(section.0).copied().flatten().map(|at| &self.placed[at]) {
            Some(p) if p.thread => Value::Thread(p.segment.base.wrapping_add(s.address())),
            Some(p) => Value::Address(p.segment.base.wrapping_add(s.address())),
            None if unit.is_discarded(Some(section)) => Value::Discarded,
            // Debug information is counted from its section's beginning.
            None => Value::Address(s.address()),
        }
    }

    /// The debug information of an object, relocated.
    fn debug_information(&mut self, number: usize) -> Result<Option<Dwarf>, MachineError> {
        let mut sections: Vec<(String, u64, Vec<u8>)> = Vec::new();
        let unit = &self.units[number];
        let found: Vec<(SectionIndex, String, Option<usize>)> = unit
            .file
            .sections()
            .filter(|s| !unit.is_discarded(Some(s.index())))
            .filter_map(|s| Some((s.index(), s.name().ok()?.to_owned(), unit.placed.get(s.index().0).copied().flatten())))
            .collect();
        for (index, name, placed) in found {
            match placed.map(|at| &self.placed[at].segment) {
                Some(segment) if name == ".eh_frame" || name == ".text" => sections.push((name, segment.base, segment.bytes.clone())),
                None if name.starts_with(".debug_") => {
                    let section = self.units[number].file.section_by_index(index).map_err(MachineError::Damaged)?;
                    let Ok(bytes) = section.uncompressed_data() else { continue };
                    let mut bytes = bytes.into_owned();
                    // What is damaged counts as absent.
                    if self.apply(number, index, 0, &mut bytes, true).is_ok() {
                        sections.push((name, 0, bytes));
                    }
                }
                Some(_) | None => {}
            }
        }
        Ok(Dwarf::of_sections(&sections))
    }

    /// Names of code and data.
    fn symbols(&self) -> Result<Vec<Symbol>, MachineError> {
        let mut all = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            for s in unit.file.symbols() {
                let (raw, local) = (s.elf_symbol(), s.elf_symbol().st_bind() == STB_LOCAL);
                let name = s.name().map_err(MachineError::Damaged)?;
                let here = self.names.get(name).is_some_and(|d| (d.unit, d.symbol) == (number, s.index()));
                let placed = s.section_index().and_then(|section| unit.placed.get(section.0).copied().flatten()).map(|at| &self.placed[at]);
                let Some(Placed { segment, thread: false, .. }) = placed else { continue };
                // Assembly may leave out what a symbol is.
                let code = raw.st_type() == STT_FUNC || !local && raw.st_type().0 == 0 && segment.executable;
                if name.is_empty() || !local && !here || !code && raw.st_type() != STT_OBJECT {
                    continue;
                }
                let address = segment.base.wrapping_add(s.address());
                all.push(Symbol { address, local, name: name.to_owned(), size: s.size(), code, library: false });
            }
        }
        let data = self.common.iter().map(|(name, (size, _, at))| (name, *size, self.placed[*at].segment.base));
        all.extend(data.map(|(name, size, address)| Symbol {
            address,
            local: false,
            name: name.clone(),
            size,
            code: false,
            library: false,
        }));
        let outside = self.linked.outside.iter().map(|o| (o.address, o.name.clone()));
        all.extend(outside.map(|(address, name)| Symbol { address, local: false, name, size: 0, code: true, library: true }));
        all.sort();
        Ok(all)
    }

    /// Reads the arrays of functions that run before the program and at its end.
    fn find_constructors(&mut self) {
        let mut all: Vec<(u32, bool, Vec<u64>)> = Vec::new();
        for unit in &self.units {
            let endian = unit.file.endian();
            for section in unit.file.sections() {
                let kind = section.elf_section_header().sh_type(endian);
                let at_end = kind == SHT_FINI_ARRAY;
                let Some(at) = unit.placed.get(section.index().0).copied().flatten().filter(|_| at_end || kind == SHT_INIT_ARRAY) else {
                    continue;
                };
                // `.init_array.NNNNN` has a priority; without one it is the last.
                let priority = section.name().ok().and_then(|name| name.rsplit('.').next()?.parse().ok()).unwrap_or(u32::MAX);
                let words = self.placed[at].segment.bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap_or_default()));
                all.push((priority, at_end, words.filter(|word| *word != 0 && *word != u64::MAX).collect()));
            }
        }
        all.sort_by_key(|(priority, ..)| *priority);
        let of = |end: bool| all.iter().filter(move |(_, at_end, _)| *at_end == end).flat_map(|(.., words)| words.iter().copied());
        self.linked.constructors = of(false).collect();
        self.linked.destructors = of(true).collect();
        self.linked.destructors.reverse();
    }

    fn finish(self) -> (Vec<Segment>, Linked) {
        let mut segments: Vec<Segment> = self.placed.into_iter().map(|p| p.segment).filter(|s| s.size > 0).collect();
        let mut more = |name: &str, base, bytes: Vec<u8>, executable| {
            if !bytes.is_empty() {
                segments.push(Segment { name: name.into(), base, size: bytes.len() as u64, bytes, writable: false, executable });
            }
        };
        more("the table of addresses", TABLE, self.table, false);
        more("functions outside of the objects", OUTSIDE, vec![0xf4; STRIDE as usize * self.linked.outside.len()], true);
        segments.sort_by_key(|s| s.base);
        (segments, self.linked)
    }
}

impl Unit<'_> {
    fn is_discarded(&self, section: Option<SectionIndex>) -> bool {
        section.is_some_and(|section| self.discarded.get(section.0) == Some(&true))
    }
}
