//! ELF files: segments with permissions, the entry point, and names of code and data (System V gABI, chapters 4 and 5).
//!
//! Fixed addresses are the file's own (docs/design/005); position-independent files get a base. A segment is cut at its sections, so that
//! findings name them. What no section covers (headers, padding) is a piece too. Nothing here trusts the file: sizes are checked before
//! use.

use std::ops::Range;

use object::elf::{
    ET_DYN, ET_EXEC, PF_W, PF_X, PT_DYNAMIC, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_TLS, SHF_ALLOC, SHF_TLS, SHT_NOBITS, STT_GNU_IFUNC,
};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SymbolKind};
use wryneck_ir::code_source::{Data, NoCode, ThreadImage};

use crate::cpu::{CPUS, Cpu};
use crate::dwarf::Dwarf;
use crate::error::MachineError;
use crate::link::Linked;
use crate::load::SHADOWED;

/// A range of memory the file fills: a section, or what is between sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The section's name, or words.
    pub name: String,
    /// Address of its first byte.
    pub base: u64,
    /// Bytes in memory; those after `bytes` are zero.
    pub size: u64,
    pub bytes: Vec<u8>,
    pub writable: bool,
    pub executable: bool,
}

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    pub address: u64,
    /// Not visible to other files.
    pub local: bool,
    pub name: String,
    /// Bytes; 0 if the file does not say.
    pub size: u64,
    /// A function, not data.
    pub code: bool,
    /// It came with a library, not with the program.
    pub library: bool,
}

/// The address of the program headers, as given to the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    pub address: u64,
    /// Bytes of one.
    pub size: u64,
    pub count: u64,
}

/// What a program is in memory before it begins.
pub struct Elf {
    pub cpu: &'static Cpu,
    pub entry: u64,
    /// By address, apart.
    pub segments: Vec<Segment>,
    pub headers: Headers,
    /// Path of the program that is to load this one.
    pub interpreter: Option<Vec<u8>>,
    /// It can be started, as a shared library cannot.
    pub is_program: bool,
    /// What was added to the file's addresses.
    pub base: u64,
    /// By address.
    pub symbols: Vec<Symbol>,
    /// Functions that are chosen when the program begins, those of mapped libraries too: each stands at the address of what chooses it.
    pub chosen: Vec<Symbol>,
    /// Functions that libraries are to bring: names, and where the loader is to write an address of each.
    pub imports: Vec<(String, u64)>,
    /// Another program, which is there too, loads it and its libraries.
    pub is_loaded: bool,
    /// Debug information, of each file that has some.
    pub dwarf: Vec<Dwarf>,
    /// What each thread's variables begin with; not those of libraries.
    pub thread_image: ThreadImage,
    /// Its stack may be executed: gcc's nested functions write code there.
    pub code_on_stack: bool,
    /// If it was linked from objects.
    pub linked: Linked,
}

/// Where position-independent programs are put.
pub const PROGRAM_BASE: u64 = 0x5555_5555_4000;
/// Where their interpreters are put.
pub const INTERPRETER_BASE: u64 = 0x7fff_f000_0000;
/// Bytes of a page of the CPU's.
const PAGE: u64 = 4096;
/// Larger segments than this (bytes) are taken for nonsense.
const MAX_SEGMENT: u64 = 1 << 32;
/// More sections or symbols than this are taken for nonsense.
const MAX_NAMES: usize = 1 << 24;

type File<'a> = ElfFile64<'a, Endianness>;

/// The parts of a file by name: section or words, first address, address after the last.
type Part = (String, u64, u64);

impl Elf {
    /// Reads an executable from the bytes of its file.
    pub fn parse(file: &[u8]) -> Result<Elf, MachineError> {
        Elf::parse_at(file, PROGRAM_BASE)
    }

    /// Reads an executable from the bytes of its file; a position-independent one is put at `base`.
    pub fn parse_at(file: &[u8], base: u64) -> Result<Elf, MachineError> {
        let elf: File<'_> = File::parse(file).map_err(|e| narrow(file).unwrap_or(MachineError::NotElf(e)))?;
        let (header, endian) = (elf.elf_header(), elf.endian());
        let cpu = cpu_of(&elf)?;
        let base = match header.e_type(endian) {
            ET_EXEC => 0,
            ET_DYN => base,
            other => return Err(MachineError::NotExecutable(other.0)),
        };
        let parts = sections(&elf, base)?;
        let mut segments = Vec::new();
        let (mut headers, mut interpreter, mut thread_image, mut code_on_stack) = (Headers::default(), None, ThreadImage::default(), false);
        let at_offset = header.e_phoff(endian);
        for h in elf.elf_program_headers() {
            let (start, size, in_file) = (h.p_vaddr(endian), h.p_memsz(endian), h.p_filesz(endian));
            let bad = MachineError::BadSegment { base: start, file: in_file, memory: size };
            let kind = h.p_type(endian);
            if kind == PT_TLS {
                let (address, align) = (start.wrapping_add(base), h.p_align(endian).max(1));
                thread_image = ThreadImage { address, bytes: in_file.min(size), size, align };
            }
            code_on_stack |= kind == PT_GNU_STACK && h.p_flags(endian).0 & PF_X.0 != 0;
            if kind != PT_INTERP && (kind != PT_LOAD || size == 0) {
                continue;
            }
            let Ok(bytes) = h.data(endian, file) else { return Err(bad) };
            if kind == PT_INTERP {
                interpreter = Some(bytes.split(|b| *b == 0).next().unwrap_or_default().to_vec());
                continue;
            }
            let Some(start) = start.checked_add(base) else { return Err(bad) };
            if in_file > size || size > MAX_SEGMENT || start.checked_add(size).is_none() {
                return Err(bad);
            }
            let flags = h.p_flags(endian);
            let (writable, executable) = (flags.0 & PF_W.0 != 0, flags.0 & PF_X.0 != 0);
            let whole = Segment { name: format!("the segment at {start:#x}"), base: start, size, bytes: Vec::new(), writable, executable };
            cut(&whole, bytes, &parts, &mut segments);
            if let Some(inside) = at_offset.checked_sub(h.p_offset(endian)).filter(|inside| *inside < in_file) {
                let (size, count) = (header.e_phentsize(endian).into(), elf.elf_program_headers().len() as u64);
                headers = Headers { address: start + inside, size, count };
            }
        }
        apart(&mut segments)?;
        fill_pages(&mut segments);
        let entry = elf.entry().wrapping_add(base);
        let (symbols, chosen) = symbols(&elf, base)?;
        Ok(Elf {
            cpu,
            entry,
            segments,
            headers,
            interpreter,
            is_program: is_program(&elf, file),
            base,
            symbols,
            chosen,
            imports: imports(&elf, base),
            is_loaded: false,
            dwarf: Dwarf::read(&elf, base).into_iter().collect(),
            thread_image,
            code_on_stack,
            linked: Linked::default(),
        })
    }

    /// Is there code at the address that will stay as it is?
    pub fn code_at(&self, address: u64) -> Result<(), NoCode> {
        match self.segment(address) {
            Some(s) if s.executable && s.writable => Err(NoCode::Unsupported(format!("code at {address:#x}, which can be written"))),
            Some(s) if s.executable => Ok(()),
            Some(s) => Err(NoCode::NotExecutable(address, format!(" in `{}`, which may not be executed", s.name))),
            None if self.code_on_stack && (SHADOWED.base..SHADOWED.base + SHADOWED.size).contains(&address) => {
                Err(NoCode::Unsupported(format!("code at {address:#x}, which the program has written to its stack")))
            }
            None => Err(NoCode::NotExecutable(address, ", where no code is".to_owned())),
        }
    }

    /// Puts a library's file into the same memory.
    pub fn join(&mut self, other: Elf) -> Result<(), MachineError> {
        self.segments.extend(other.segments);
        self.dwarf.extend(other.dwarf);
        self.is_loaded = true;
        self.code_on_stack |= other.code_on_stack;
        self.add_symbols(other.symbols);
        apart(&mut self.segments)
    }

    /// Adds code that was mapped at an address: whether it is new there; `None` where other code is.
    pub fn map_code(&mut self, base: u64, bytes: Vec<u8>) -> Option<bool> {
        let (segments, size) = (&mut self.segments, bytes.len() as u64);
        let at = segments.partition_point(|s| s.base < base);
        if let Some(there) = segments.get(at).filter(|s| s.base == base && s.size == size) {
            return (there.bytes == bytes).then_some(false);
        }
        let end = base.checked_add(size)?;
        let over = at.checked_sub(1).and_then(|n| segments.get(n)).is_some_and(|s| s.base + s.size > base);
        if over || segments.get(at).is_some_and(|s| s.base < end) {
            return None;
        }
        let name = "a mapping of code".to_owned();
        segments.insert(at, Segment { name, base, size, bytes, writable: false, executable: true });
        Some(true)
    }

    /// Adds the names of a library.
    pub fn add_symbols(&mut self, symbols: Vec<Symbol>) {
        self.symbols.extend(symbols.into_iter().map(|s| Symbol { library: true, ..s }));
        self.symbols.sort();
    }

    /// The segment an address lies in.
    pub fn segment(&self, address: u64) -> Option<&Segment> {
        let before = self.segments.partition_point(|s| s.base <= address).checked_sub(1)?;
        self.segments.get(before).filter(|s| address - s.base < s.size)
    }

    /// The name, start and bytes of the array of variables that holds an address: a section with the name of an identifier. The linker
    /// defines `__start_NAME` and `__stop_NAME` for it, so the address of its first variable may mean all of them.
    pub fn array(&self, address: u64) -> Option<(String, u64, u64)> {
        let identifier =
            |name: &str| !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        self.segment(address).filter(|s| !s.executable && identifier(&s.name)).map(|s| (s.name.clone(), s.base, s.size))
    }

    /// The function at or before a code address: the first of those that begin there.
    pub fn function(&self, address: u64) -> Option<&Symbol> {
        self.function_and_range(address).0
    }

    /// The same, and all addresses of which it is that.
    pub fn function_and_range(&self, address: u64) -> (Option<&Symbol>, Range<u64>) {
        let before = self.symbols.partition_point(|s| s.address <= address);
        let end = self.symbols[before..].iter().find(|s| s.code).map_or(u64::MAX, |s| s.address);
        let (start, section_end) = self.segment(address).map_or((0, u64::MAX), |s| (s.base, s.base.saturating_add(s.size)));
        let end = end.min(section_end);
        // What lies before the first function of a section belongs to none that has a name.
        let nearest = self.symbols[..before].iter().rfind(|s| s.code).filter(|nearest| nearest.address >= start);
        let Some(nearest) = nearest else { return (None, start..end) };
        let first = self.symbols.partition_point(|s| s.address < nearest.address);
        (self.symbols[first..].iter().find(|s| s.code), nearest.address..end)
    }

    /// The names of the function that begins at an address, and whether each came with a library.
    pub fn names_at(&self, address: u64) -> impl Iterator<Item = (String, bool)> + '_ {
        let first = self.symbols.partition_point(|s| s.address < address);
        let here = self.symbols[first..].iter().take_while(move |s| s.address == address).filter(|s| s.code);
        here.map(|s| (s.name.clone(), s.library))
    }

    /// The data symbol at an address, the largest if there are several.
    pub fn data(&self, address: u64) -> Option<&Symbol> {
        let first = self.symbols.partition_point(|s| s.address < address);
        self.symbols[first..].iter().take_while(|s| s.address == address).filter(|s| !s.code).max_by_key(|s| s.size)
    }

    /// The variable that an address lies in, by its symbol: of several the largest, a visible one if it can be.
    pub fn data_over(&self, address: u64) -> Option<&Symbol> {
        let before = &self.symbols[..self.symbols.partition_point(|s| s.address <= address)];
        let nearest = before.iter().rfind(|s| !s.code && s.size > 0)?;
        self.data(nearest.address).filter(|s| address - s.address < s.size)
    }

    /// Whether there is a function of this name; `None` where that is not known: libraries are loaded later, or the program is stripped and has no
    /// names, or those alone that a loader needs.
    pub fn has_function(&self, name: &str) -> Option<bool> {
        let functions = || self.symbols.iter().filter(|symbol| symbol.code);
        let are_known = self.interpreter.is_none() && !self.is_loaded && functions().next().is_some();
        are_known.then(|| functions().any(|symbol| symbol.name == name))
    }

    /// Where the visible variable of this name is: the program's own before those of libraries, as loaders find it.
    pub fn visible_data(&self, name: &str) -> Option<u64> {
        let all = || self.symbols.iter().filter(|s| !s.code && !s.local && s.name == name);
        all().find(|s| !s.library).or_else(|| all().next()).map(|s| s.address)
    }

    /// The variables of the program itself that the file has no bytes for, apart: those of `.bss`.
    pub fn without_bytes(&self) -> Vec<Data> {
        self.variables(&|segment, at| segment.bytes.len() as u64 <= at)
    }

    /// The variables of the program itself that it can write, apart.
    pub fn written(&self) -> Vec<Data> {
        // The loader alone writes these, once.
        self.variables(&|segment, _| !segment.name.contains(".data.rel.ro"))
    }

    /// The variables in writable segments that `wanted` accepts: the segment, and the offset there.
    fn variables(&self, wanted: &dyn Fn(&Segment, u64) -> bool) -> Vec<Data> {
        let empty = |s: &Symbol| self.segment(s.address).is_some_and(|g| g.writable && wanted(g, s.address - g.base));
        let mut all: Vec<Data> = Vec::new();
        for s in self.symbols.iter().filter(|s| !s.code && !s.library && s.size > 0).filter(|s| empty(s)) {
            if all.last().is_none_or(|last| last.address + last.size <= s.address) {
                all.extend(self.data_over(s.address).map(|s| Data { name: s.name.clone(), address: s.address, size: s.size }));
            }
        }
        all
    }

    /// Whether the code at an address came with a library.
    pub fn is_library(&self, address: u64) -> bool {
        self.function(address).is_some_and(|f| f.library)
    }

    /// Every source line of the program that has code, with its file; not those of libraries.
    pub fn lines(&self) -> Vec<(String, u32)> {
        let code = self.segments.iter().filter(|s| s.executable);
        let all = code.flat_map(|s| self.dwarf.iter().flat_map(move |d| d.lines(s.base, s.base + s.size)));
        let mut own: Vec<_> = all.filter(|(address, ..)| !self.is_library(*address)).map(|(_, file, line)| (file, line)).collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    /// A code address in words: the function before it, and the distance; or the bare address.
    pub fn place_name(&self, address: u64) -> String {
        place_in(self, self.function(address), address)
    }
}

/// A code address in words, by the function before it; without one, by the section and the file's own address.
pub fn place_in(elf: &Elf, function: Option<&Symbol>, address: u64) -> String {
    match function {
        Some(f) if f.address == address => f.name.clone(),
        Some(f) => format!("{}+{:#x}", f.name, address - f.address),
        None => match elf.segment(address) {
            Some(segment) => format!("{} at {:#x}", segment.name, address.wrapping_sub(elf.base)),
            None => format!("{address:#x}"),
        },
    }
}

/// The error of a file that is ELF, but with addresses of 32 bits.
fn narrow(file: &[u8]) -> Option<MachineError> {
    const CLASS_32: u8 = 1;
    let (head, machine) = (file.get(..5)?, file.get(18..20)?);
    let machine =
        if file.get(5) == Some(&2) { u16::from_be_bytes([machine[0], machine[1]]) } else { u16::from_le_bytes([machine[0], machine[1]]) };
    (head.starts_with(b"\x7fELF") && head[4] == CLASS_32).then_some(MachineError::NarrowAddresses(machine))
}

/// Whether a file can be started, as a shared library cannot.
pub(crate) fn is_program(elf: &File<'_>, file: &[u8]) -> bool {
    let (header, endian) = (elf.elf_header(), elf.endian());
    let says_so = |h: &object::elf::ProgramHeader64<Endianness>| match h.p_type(endian) {
        PT_INTERP => true,
        PT_DYNAMIC => h.data(endian, file).is_ok_and(|rows| says_it_is_a_program(rows, endian)),
        _ => false,
    };
    header.e_type(endian) == ET_EXEC || elf.elf_program_headers().iter().any(says_so)
}

/// Do the rows of a dynamic section say that the file is a position-independent program?
fn says_it_is_a_program(rows: &[u8], endian: Endianness) -> bool {
    const FLAGS_1: u64 = 0x6fff_fffb;
    const PIE: u64 = 0x0800_0000;
    let word = |bytes: &[u8]| {
        let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
        if endian == Endianness::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    };
    rows.chunks_exact(16).any(|row| word(&row[..8]) == FLAGS_1 && word(&row[8..]) & PIE != 0)
}

/// The CPU a file is for.
pub(crate) fn cpu_of(elf: &File<'_>) -> Result<&'static Cpu, MachineError> {
    let machine = elf.elf_header().e_machine(elf.endian()).0;
    CPUS.iter().find(|c| c.elf_machine == machine).copied().ok_or(MachineError::UnknownCpu(machine))
}

/// The sections that are in memory, by address; of such that overlap, which is nonsense, the first.
fn sections(elf: &File<'_>, base: u64) -> Result<Vec<Part>, MachineError> {
    let endian = elf.endian();
    let mut parts = Vec::new();
    for section in elf.sections().take(MAX_NAMES) {
        let h = section.elf_section_header();
        let flags = h.sh_flags(endian).0;
        // Zeros of thread-local storage are in no memory before there is a thread.
        let nowhere = flags & SHF_TLS.0 != 0 && h.sh_type(endian) == SHT_NOBITS;
        if flags & SHF_ALLOC.0 == 0 || nowhere || section.size() == 0 {
            continue;
        }
        let name = section.name().map_err(MachineError::Damaged)?;
        let start = section.address().wrapping_add(base);
        parts.push((name.to_owned(), start, start.saturating_add(section.size())));
    }
    parts.sort_by_key(|(_, start, _)| *start);
    parts.dedup_by(|later, before| later.1 < before.2);
    Ok(parts)
}

/// Cuts a segment of these bytes at the sections inside it.
fn cut(whole: &Segment, bytes: &[u8], parts: &[Part], out: &mut Vec<Segment>) {
    let end = whole.base + whole.size;
    let piece = |name: &str, from: u64, to: u64| {
        let (start, stop) = ((from - whole.base) as usize, (to - whole.base) as usize);
        let bytes = bytes.get(start.min(bytes.len())..stop.min(bytes.len())).unwrap_or_default().to_vec();
        Segment { name: name.to_owned(), base: from, size: to - from, bytes, ..*whole }
    };
    let mut at = whole.base;
    for (name, start, stop) in parts.iter().filter(|(_, start, stop)| whole.base <= *start && *stop <= end) {
        if at < *start {
            out.push(piece(&whole.name, at, *start));
        }
        out.push(piece(name, *start, *stop));
        at = *stop;
    }
    if at < end {
        out.push(piece(&whole.name, at, end));
    }
}

/// Sorts segments, which must not overlap.
pub(crate) fn apart(segments: &mut [Segment]) -> Result<(), MachineError> {
    segments.sort_by_key(|s| s.base);
    match segments.windows(2).find(|w| w[0].base + w[0].size > w[1].base) {
        Some(w) => Err(MachineError::Overlap(w[0].base, w[1].base)),
        None => Ok(()),
    }
}

/// Fills the pages of segments as mapping files does, in front of them and after: C libraries give what is left there to their allocators.
fn fill_pages(segments: &mut Vec<Segment>) {
    let mut rest = Vec::new();
    for (i, s) in segments.iter().enumerate() {
        let before = i.checked_sub(1).map_or(0, |i| segments[i].base + segments[i].size);
        let after = segments.get(i + 1).map_or(u64::MAX, |s| s.base);
        let (start, end) = (s.base & !(PAGE - 1), (s.base + s.size).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX));
        let mut piece = |name: &str, from: u64, to: u64| {
            if from < to {
                rest.push(Segment { name: format!("the page {name} {:#x}", s.base), base: from, size: to - from, bytes: Vec::new(), ..*s });
            }
        };
        piece("before", start.max(before), s.base);
        // What is on the next segment's page goes to it.
        let stop = s.base + s.size;
        piece("behind", stop, end.min((after & !(PAGE - 1)).max(stop)));
    }
    segments.extend(rest);
    segments.sort_by_key(|s| s.base);
}

/// The symbols of a library's file that was put at this address, and those of functions that are chosen; none where it cannot be read.
pub fn library_symbols(file: &[u8], base: u64) -> (Vec<Symbol>, Vec<Symbol>) {
    File::parse(file).ok().and_then(|elf: File<'_>| symbols(&elf, base).ok()).unwrap_or_default()
}

/// Where a file is whose part at this offset in bytes was put at an address, if that part is one of its segments.
pub fn base_of(file: &[u8], offset: u64, address: u64) -> Option<u64> {
    let elf: File<'_> = File::parse(file).ok()?;
    let endian = elf.endian();
    let page = |n: u64| n & !(PAGE - 1);
    let segment = elf.elf_program_headers().iter().find(|h| h.p_type(endian) == PT_LOAD && page(h.p_offset(endian)) == offset)?;
    address.checked_sub(page(segment.p_vaddr(endian)))
}

/// The names of code and data, those of the dynamic table among them, by address, and those of functions that are chosen.
fn symbols(elf: &File<'_>, base: u64) -> Result<(Vec<Symbol>, Vec<Symbol>), MachineError> {
    let (mut symbols, mut choosers) = (Vec::new(), Vec::new());
    for s in elf.symbols().chain(elf.dynamic_symbols()).take(MAX_NAMES) {
        let code = match s.kind() {
            SymbolKind::Text => true,
            SymbolKind::Data => false,
            // Assembly may leave out what a symbol is.
            SymbolKind::Label | SymbolKind::Unknown if matches!(s.name(), Ok("_start" | "_init" | "_fini")) => true,
            _ => continue,
        };
        // The address of one that is chosen when the program begins is not the function's, but that of what chooses.
        let chosen = s.elf_symbol().st_type() == STT_GNU_IFUNC;
        if s.is_undefined() {
            continue;
        }
        let name = s.name().map_err(MachineError::Damaged)?.to_owned();
        let to = if chosen { &mut choosers } else { &mut symbols };
        to.push(Symbol { address: s.address().wrapping_add(base), local: !s.is_global(), name, size: s.size(), code, library: false });
    }
    for all in [&mut symbols, &mut choosers] {
        all.sort();
        all.dedup();
    }
    Ok((symbols, choosers))
}

/// The functions that a file asks its loader for.
fn imports(elf: &File<'_>, base: u64) -> Vec<(String, u64)> {
    let named = |(slot, relocation): (u64, object::Relocation)| {
        let RelocationTarget::Symbol(number) = relocation.target() else { return None };
        let symbol = elf.dynamic_symbol_table()?.symbol_by_index(number).ok()?;
        let is_asked = symbol.is_undefined() && symbol.kind() != SymbolKind::Data;
        is_asked.then(|| symbol.name().ok().map(|name| (name.to_owned(), slot.wrapping_add(base)))).flatten()
    };
    elf.dynamic_relocations().into_iter().flatten().take(MAX_NAMES).filter_map(named).collect()
}
