//! ELF executables: segments with their permissions, entry, names of code. Addresses are the file's own (DESIGN 1.5).
//!
//! Only executables with fixed addresses and without an interpreter: relocations and dynamic linking are not done.
//! Nothing here trusts the file: sizes are checked before they are used.

use object::elf::{ET_EXEC, PF_W, PF_X, PT_INTERP, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Object, ObjectSymbol, SymbolKind};

use crate::cpu::{CPUS, Cpu};
use crate::error::MachineError;

/// A range of memory the file fills.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Address of its first byte.
    pub base: u64,
    /// Bytes in memory; those behind `bytes` are zero.
    pub size: u64,
    pub bytes: Vec<u8>,
    pub writable: bool,
    pub executable: bool,
}

/// A loaded executable.
pub struct Elf {
    pub cpu: &'static Cpu,
    pub entry: u64,
    /// By address, apart.
    pub segments: Vec<Segment>,
    /// Functions' names by address.
    symbols: Vec<(u64, String)>,
}

/// Larger segments than this (bytes) are taken for nonsense.
const MAX_SEGMENT: u64 = 1 << 32;

impl Elf {
    /// Reads an executable from the bytes of its file.
    pub fn parse(file: &[u8]) -> Result<Elf, MachineError> {
        let elf: ElfFile64<'_> = ElfFile64::parse(file).map_err(MachineError::NotElf)?;
        let (header, endian) = (elf.elf_header(), elf.endian());
        let machine = header.e_machine(endian).0;
        let cpu = CPUS.iter().find(|c| c.elf_machine == machine).ok_or(MachineError::UnknownCpu(machine))?;
        let kind = header.e_type(endian);
        if kind != ET_EXEC {
            return Err(MachineError::NotStatic(kind.0));
        }
        let mut segments = Vec::new();
        for h in elf.elf_program_headers() {
            let (base, size, in_file) = (h.p_vaddr(endian), h.p_memsz(endian), h.p_filesz(endian));
            match h.p_type(endian) {
                PT_INTERP => return Err(MachineError::Dynamic(base)),
                PT_LOAD if size > 0 => {}
                _ => continue,
            }
            let bad = MachineError::BadSegment { base, file: in_file, memory: size };
            let Ok(bytes) = h.data(endian, file) else { return Err(bad) };
            if in_file > size || size > MAX_SEGMENT || base.checked_add(size).is_none() {
                return Err(bad);
            }
            let flags = h.p_flags(endian);
            let (writable, executable) = (flags.0 & PF_W.0 != 0, flags.0 & PF_X.0 != 0);
            segments.push(Segment { base, size, bytes: bytes.to_vec(), writable, executable });
        }
        segments.sort_by_key(|s| s.base);
        if let Some(w) = segments.windows(2).find(|w| w[0].base + w[0].size > w[1].base) {
            return Err(MachineError::Overlap(w[0].base, w[1].base));
        }
        let functions = elf.symbols().filter(|s| s.kind() == SymbolKind::Text || s.name() == Ok("_start"));
        let mut symbols: Vec<(u64, String)> = functions.map(|s| (s.address(), s.name().unwrap_or("").to_owned())).collect();
        symbols.sort();
        Ok(Elf { cpu, entry: elf.entry(), segments, symbols })
    }

    /// The segment an address lies in.
    pub fn segment(&self, address: u64) -> Option<&Segment> {
        let before = self.segments.partition_point(|s| s.base <= address).checked_sub(1)?;
        self.segments.get(before).filter(|s| address - s.base < s.size)
    }

    /// A code address in words: the function before it, and the distance; or the bare address.
    pub fn place_name(&self, address: u64) -> String {
        let before = self.symbols.partition_point(|s| s.0 <= address).checked_sub(1);
        match before.map(|i| &self.symbols[i]) {
            Some((base, name)) if *base == address => name.clone(),
            Some((base, name)) => format!("{name}+{:#x}", address - base),
            None => format!("{address:#x}"),
        }
    }
}
