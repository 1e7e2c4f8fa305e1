//! A shared object alone in memory, relocated as a dynamic linker does it (System V gABI, chapter 5; the ABI of x86-64, section 4.4.1).
//!
//! What the object takes from other libraries is requested as for relocatable objects: functions get addresses that stand for them, variables get
//! their addresses later ([`Linked::resolve`]). Its own definitions win. A variable of another library that is not known gets
//! [`FOREIGN_SIZE`] bytes of memory. A function that is chosen when the program begins (IFUNC) is a function elsewhere, because its chooser is not run.
//!
//! Variables of the thread lie below the thread pointer, in the one block there is; `__tls_get_addr` is a few instructions of our own.
//! Nothing here trusts the file. Cost: one pass over symbols and one over relocations.
//!
//! [`Linked::resolve`]: crate::Elf::resolve

use object::elf::{PT_TLS, SHT_FINI_ARRAY, SHT_INIT_ARRAY, SHT_RELR, STB_WEAK, STT_GNU_IFUNC, STT_OBJECT, STT_TLS};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, SymbolIndex, SymbolKind};

use super::{BASE, END, Elsewhere, File, GUARD, Late, Linked, OUTSIDE, PAGE, STRIDE, TABLE, THREAD, new_outside};
use crate::elf::{Elf, PROGRAM_BASE, Segment, Symbol, is_program};
use crate::error::MachineError;
use crate::relocate;

/// Bytes of a variable of another library of which only the name is known.
const FOREIGN_SIZE: u64 = PAGE;
/// The function that finds a variable of a thread: module and offset are in the two words that it is given.
const FIND: &str = "__tls_get_addr";
/// mov %fs:0,%rax; add 8(%rdi),%rax; ret
const FIND_CODE: &[u8] = &[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x03, 0x47, 0x08, 0xc3];
const CHOSEN: &str = "which is chosen when the program begins (IFUNC)";

/// Kinds of relocations that only dynamic linkers meet, by their numbers in the ABI.
const ADDRESS: u32 = 1;
const IN_TABLE: u32 = 6;
const JUMP: u32 = 7;
const OWN: u32 = 8;
const MODULE: u32 = 16;
const IN_MODULE: u32 = 17;
const BY_POINTER: u32 = 18;
const CHOICE: u32 = 37;

/// Whether a file of this content is a shared object, which nothing can start.
pub fn is_shared(content: &[u8]) -> bool {
    use object::elf::ET_DYN;
    File::parse(content).is_ok_and(|file| file.elf_header().e_type(file.endian()) == ET_DYN && !is_program(&file, content))
}

/// What a symbol is worth.
enum Value {
    Address(u64),
    /// From the thread pointer on.
    Thread(u64),
    Late(String),
}

struct Loader<'a, 'e> {
    file: &'a File<'a>,
    elf: Elf,
    /// Where other libraries' variables are, by name.
    foreign: Vec<(String, u64)>,
    /// Bytes of the thread's variables, aligned.
    thread_size: u64,
    elsewhere: &'e dyn Fn(&str) -> Elsewhere,
}

/// Places a shared object; `elsewhere` says what the names are that it does not define.
pub fn shared(content: &[u8], elsewhere: &dyn Fn(&str) -> Elsewhere) -> Result<Elf, MachineError> {
    let elf = Elf::parse_at(content, PROGRAM_BASE)?;
    let file: File<'_> = File::parse(content).map_err(MachineError::NotElf)?;
    let mut loader = Loader { file: &file, elf, foreign: Vec::new(), thread_size: 0, elsewhere };
    loader.elf.entry = 0;
    loader.elf.is_program = true;
    loader.place_thread(content)?;
    loader.relocate()?;
    loader.relocate_packed(content)?;
    loader.find_constructors();
    Ok(loader.finish())
}

impl Loader<'_, '_> {
    /// Makes the block of the thread: its variables as they begin, and what the thread pointer points to.
    fn place_thread(&mut self, content: &[u8]) -> Result<(), MachineError> {
        let endian = self.file.endian();
        let header = self.file.elf_program_headers().iter().find(|h| h.p_type(endian) == PT_TLS);
        if let Some(h) = header {
            let (size, align) = (h.p_memsz(endian), h.p_align(endian).max(1));
            let bytes = h.data(endian, content).unwrap_or_default().to_vec();
            if size > END - BASE - PAGE || align > PAGE || !align.is_power_of_two() || bytes.len() as u64 > size {
                return Err(MachineError::BadSection { name: "of the thread's variables".into(), size, align });
            }
            self.thread_size = size.next_multiple_of(align);
            if size > 0 {
                let name = "the thread's variables".to_owned();
                self.elf.segments.push(Segment { name, base: self.thread_begins(), size, bytes, writable: true, executable: false });
            }
        }
        let pointer = self.thread_pointer();
        let mut bytes = vec![0; THREAD as usize];
        bytes[..8].copy_from_slice(&pointer.to_le_bytes());
        bytes[40..48].copy_from_slice(&GUARD.to_le_bytes());
        let name = "what the thread pointer points to".to_owned();
        self.elf.segments.push(Segment { name, base: pointer, size: THREAD, bytes, writable: true, executable: false });
        self.elf.linked.thread_pointer = Some(pointer);
        self.elf.segments.sort_by_key(|s| s.base);
        Ok(())
    }

    /// The thread pointer, which is aligned to a page.
    fn thread_pointer(&self) -> u64 {
        BASE + PAGE + self.thread_size.next_multiple_of(PAGE)
    }

    fn thread_begins(&self) -> u64 {
        self.thread_pointer() - self.thread_size
    }

    fn relocate(&mut self) -> Result<(), MachineError> {
        let file = self.file;
        for (offset, r) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = r.flags() else { continue };
            let bad = |what: &str| MachineError::Relocation { section: "dynamic".into(), offset, what: what.to_owned() };
            let value = match r.target() {
                RelocationTarget::Symbol(symbol) => Some(self.value(symbol)?),
                _ => None,
            };
            let (place, addend) = (self.elf.base.wrapping_add(offset), r.addend());
            let word = match (r_type.0, value) {
                (0, _) => continue,
                (OWN, _) => self.elf.base.wrapping_add_signed(addend),
                (CHOICE, _) => {
                    self.outside(format!("the function that {:#x} chooses", self.elf.base.wrapping_add_signed(addend)), CHOSEN)?
                }
                (ADDRESS | IN_TABLE | JUMP, Some(Value::Address(s))) => s.wrapping_add_signed(if r_type.0 == ADDRESS { addend } else { 0 }),
                (ADDRESS | IN_TABLE | JUMP, Some(Value::Late(symbol))) => {
                    let kind = relocate::kind(ADDRESS).expect("R_X86_64_64 is in the table");
                    let addend = if r_type.0 == ADDRESS { addend } else { 0 };
                    self.elf.linked.late.push(Late { place, kind, symbol, addend });
                    0
                }
                (MODULE, Some(_)) => 1,
                // The word behind it is an offset into the module's variables already, which nothing relocates.
                (MODULE, None) => {
                    let next = place.wrapping_add(8);
                    let offset = self.word(next).ok_or_else(|| bad("lies outside of memory"))?;
                    self.write(next, offset.wrapping_sub(self.thread_size)).ok_or_else(|| bad("lies outside of memory"))?;
                    1
                }
                (IN_MODULE | BY_POINTER, Some(Value::Thread(s))) => s.wrapping_add_signed(addend),
                // Of the module itself.
                (IN_MODULE | BY_POINTER, None) => self.thread_size.wrapping_neg().wrapping_add_signed(addend),
                (ADDRESS..=IN_MODULE | BY_POINTER, _) => return Err(bad(&format!("(kind {}) has no value", r_type.0))),
                (other, _) => return Err(bad(&format!("has the kind {other}, which is not known"))),
            };
            self.write(place, word).ok_or_else(|| bad("lies outside of memory"))?;
        }
        Ok(())
    }

    /// The packed form of the relocations that only add where the file is.
    fn relocate_packed(&mut self, content: &[u8]) -> Result<(), MachineError> {
        let (file, endian) = (self.file, self.file.endian());
        for section in file.elf_section_table().iter().filter(|h| h.sh_type(endian) == SHT_RELR) {
            let Some(all) = section.relr(endian, content).map_err(MachineError::Damaged)? else { continue };
            for offset in all {
                let bad = || MachineError::Relocation { section: "dynamic".into(), offset, what: "lies outside of memory".into() };
                let place = self.elf.base.wrapping_add(offset);
                let old = self.word(place).ok_or_else(bad)?;
                self.write(place, old.wrapping_add(self.elf.base)).ok_or_else(bad)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, index: SymbolIndex) -> Result<Value, MachineError> {
        let table = self.file.dynamic_symbol_table().ok_or(MachineError::NoSymbol(index.0))?;
        let s = table.symbol_by_index(index).map_err(MachineError::Damaged)?;
        let kind = s.elf_symbol().st_type();
        let name = s.name().map_err(MachineError::Damaged)?.to_owned();
        if !s.is_undefined() {
            return Ok(match kind {
                STT_TLS => Value::Thread(s.address().wrapping_sub(self.thread_size)),
                STT_GNU_IFUNC => Value::Address(self.outside(name, CHOSEN)?),
                _ => Value::Address(self.elf.base.wrapping_add(s.address())),
            });
        }
        if name == FIND {
            return Ok(Value::Address(TABLE));
        }
        if kind == STT_TLS {
            return Err(MachineError::Undefined(name));
        }
        let may_lack = s.elf_symbol().st_bind() == STB_WEAK;
        Ok(match (self.elsewhere)(&name) {
            Elsewhere::Variable => Value::Late(name),
            Elsewhere::Missing(_) if may_lack => Value::Address(0),
            _ if kind == STT_OBJECT => Value::Address(self.foreign(name)?),
            Elsewhere::Missing(why) => Value::Address(self.outside(name, why)?),
            Elsewhere::Function => Value::Address(self.outside(name, "which is not recognised")?),
        })
    }

    fn outside(&mut self, name: String, why: &'static str) -> Result<u64, MachineError> {
        new_outside(&mut self.elf.linked.outside, name, why)
    }

    /// The address of a variable of another library.
    fn foreign(&mut self, name: String) -> Result<u64, MachineError> {
        if let Some((_, address)) = self.foreign.iter().find(|(known, _)| *known == name) {
            return Ok(*address);
        }
        let first = self.thread_pointer() + PAGE;
        let address = first + self.foreign.len() as u64 * 2 * FOREIGN_SIZE;
        if address + FOREIGN_SIZE > END {
            return Err(MachineError::TooLarge);
        }
        self.foreign.push((name, address));
        Ok(address)
    }

    fn segment_of(&mut self, place: u64) -> Option<(&mut Segment, usize)> {
        let before = self.elf.segments.partition_point(|s| s.base <= place).checked_sub(1)?;
        let segment = &mut self.elf.segments[before];
        let at = place - segment.base;
        (at.checked_add(8)? <= segment.size).then_some((segment, at as usize))
    }

    fn word(&mut self, place: u64) -> Option<u64> {
        let (segment, at) = self.segment_of(place)?;
        let mut bytes = [0; 8];
        let there = segment.bytes.get(at..).unwrap_or_default();
        let count = there.len().min(8);
        bytes[..count].copy_from_slice(&there[..count]);
        Some(u64::from_le_bytes(bytes))
    }

    fn write(&mut self, place: u64, word: u64) -> Option<()> {
        let (segment, at) = self.segment_of(place)?;
        if segment.bytes.len() < at + 8 {
            segment.bytes.resize(at + 8, 0);
        }
        segment.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        Some(())
    }

    /// Reads the arrays of functions that run before the program and at its end, as they are after relocation.
    fn find_constructors(&mut self) {
        let (file, base) = (self.file, self.elf.base);
        for section in file.sections() {
            let kind = section.elf_section_header().sh_type(file.endian());
            if kind != SHT_INIT_ARRAY && kind != SHT_FINI_ARRAY {
                continue;
            }
            let start = base.wrapping_add(section.address());
            let all = (0..section.size() / 8).map_while(|i| self.word(start.wrapping_add(8 * i)));
            let mut all: Vec<u64> = all.filter(|word| *word != 0 && *word != u64::MAX).collect();
            if kind == SHT_INIT_ARRAY {
                self.elf.linked.constructors.append(&mut all);
            } else {
                all.reverse();
                self.elf.linked.destructors.append(&mut all);
            }
        }
    }

    fn finish(mut self) -> Elf {
        let Linked { outside, .. } = &self.elf.linked;
        let mut more = |name: &str, base, bytes: Vec<u8>, size, writable| {
            self.elf.segments.push(Segment { name: name.into(), base, size, bytes, writable, executable: !writable });
        };
        more("the code that finds a thread's variables", TABLE, FIND_CODE.to_vec(), FIND_CODE.len() as u64, false);
        if !outside.is_empty() {
            let size = STRIDE * outside.len() as u64;
            more("functions outside of the shared object", OUTSIDE, vec![0xf4; size as usize], size, false);
        }
        self.foreign.iter().for_each(|(name, address)| more(name, *address, Vec::new(), FOREIGN_SIZE, true));
        let code = outside.iter().map(|o| (o.address, o.name.clone(), 0, true)).chain([(TABLE, FIND.to_owned(), 0, true)]);
        let data = self.foreign.iter().map(|(name, address)| (*address, name.clone(), FOREIGN_SIZE, false));
        let symbols = code.chain(data).map(|(address, name, size, code)| Symbol { address, local: false, name, size, code, library: code });
        self.elf.symbols.extend(symbols.collect::<Vec<_>>());
        self.name_variables();
        self.elf.symbols.sort();
        self.elf.segments.sort_by_key(|s| s.base);
        self.elf
    }

    /// Where local variables have no names, all of a section are one variable.
    fn name_variables(&mut self) {
        if self.file.symbols().any(|s| s.kind() == SymbolKind::Data) {
            return;
        }
        let sections = self.elf.segments.iter().filter(|s| s.writable && [".data", ".bss"].contains(&s.name.as_str()));
        let named =
            sections.map(|s| Symbol { address: s.base, local: true, name: s.name.clone(), size: s.size, code: false, library: false });
        self.elf.symbols.extend(named.collect::<Vec<_>>());
    }
}
