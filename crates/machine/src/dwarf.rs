//! Source positions of machine code, from DWARF if a file has it. DWARF is never required; damaged parts count as absent.
//!
//! Addresses are those of the running program. The file's own addresses are smaller by the load base.

use std::sync::Arc;

use addr2line::{Context, Location};
use gimli::{EndianArcSlice, RunTimeEndian};
use object::{Object, ObjectSection};

use crate::prototype::{self, Parameter};
use crate::variables::{Array, Frames, Variables};

pub(crate) type Bytes = EndianArcSlice<RunTimeEndian>;

/// The line table and functions of one file.
pub struct Dwarf {
    context: Context<Bytes>,
    sections: Sections,
    base: u64,
}

/// The sections themselves, by name, with their addresses in the file.
struct Sections {
    all: Vec<(gimli::SectionId, Bytes)>,
    eh_frame: Option<u64>,
    text: u64,
}

impl Sections {
    fn load(&self) -> gimli::Result<gimli::Dwarf<Bytes>> {
        gimli::Dwarf::load(|id| Ok(self.get(id)))
    }

    fn get(&self, id: gimli::SectionId) -> Bytes {
        let found = self.all.iter().find(|(known, _)| *known == id);
        found.map_or_else(|| EndianArcSlice::new(Arc::from([]), RunTimeEndian::Little), |(_, bytes)| bytes.clone())
    }
}

/// A source position, as [`wryneck_ir::Loc`] has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub function: String,
    /// Empty if unknown.
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    pub column: u32,
}

impl Dwarf {
    /// Reads the debug information of a file that is loaded at `base`; `None` if there is none of use.
    pub fn read<'a>(file: &impl Object<'a>, base: u64) -> Option<Dwarf> {
        file.section_by_name(".debug_line")?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut all = Vec::new();
        let mut read = |id: gimli::SectionId| {
            let bytes = file.section_by_name(id.name()).and_then(|s| s.uncompressed_data().ok()).unwrap_or_default();
            all.push((id, EndianArcSlice::new(Arc::from(&*bytes), endian)));
        };
        gimli::Dwarf::<()>::load(|id| {
            read(id);
            Ok::<_, gimli::Error>(())
        })
        .ok()?;
        [gimli::SectionId::EhFrame, gimli::SectionId::DebugFrame].into_iter().for_each(read);
        let address = |name| file.section_by_name(name).map(|s| s.address());
        let sections = Sections { all, eh_frame: address(".eh_frame"), text: address(".text").unwrap_or(0) };
        Some(Dwarf { context: Context::from_dwarf(sections.load().ok()?).ok()?, sections, base })
    }

    /// Reads the debug information in sections: name, address, and what is there.
    pub fn of_sections(sections: &[(String, u64, Vec<u8>)]) -> Option<Dwarf> {
        let find = |name: &str| sections.iter().find(|(known, ..)| known == name);
        find(".debug_line")?;
        let mut all = Vec::new();
        let mut read = |id: gimli::SectionId| {
            let bytes = find(id.name()).map_or(&[][..], |(.., bytes)| bytes);
            all.push((id, EndianArcSlice::new(Arc::from(bytes), RunTimeEndian::Little)));
        };
        gimli::Dwarf::<()>::load(|id| {
            read(id);
            Ok::<_, gimli::Error>(())
        })
        .ok()?;
        [gimli::SectionId::EhFrame, gimli::SectionId::DebugFrame].into_iter().for_each(read);
        let address = |name| find(name).map(|(_, address, _)| *address);
        let sections = Sections { all, eh_frame: address(".eh_frame"), text: address(".text").unwrap_or(0) };
        Some(Dwarf { context: Context::from_dwarf(sections.load().ok()?).ok()?, sections, base: 0 })
    }

    /// Adds the variables of the file's code that was not optimised. `pointer` is the number of the frame pointer's register;
    /// `symbol_size` gives the bytes that the symbol at an address has, or 0; `array` the array that holds an address: see [`Frames`].
    pub fn variables(&self, pointer: u16, symbol_size: &dyn Fn(u64) -> u64, array: Array<'_>, all: &mut Variables) {
        let Ok(dwarf) = self.load() else { return };
        let frames = Frames { eh: self.eh_frame(), debug: self.debug_frame(), pointer: gimli::Register(pointer), symbol_size, array };
        all.read(&dwarf, &frames, self.base);
    }

    /// What was added to the file's addresses.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn load(&self) -> gimli::Result<gimli::Dwarf<Bytes>> {
        self.sections.load()
    }

    /// The unwinding tables that the program has in memory, if it has some.
    pub(crate) fn eh_frame(&self) -> Option<(gimli::EhFrame<Bytes>, gimli::BaseAddresses)> {
        self.sections.eh_frame.map(|at| {
            let bases = gimli::BaseAddresses::default().set_eh_frame(at).set_text(self.sections.text);
            (gimli::EhFrame::from(self.sections.get(gimli::SectionId::EhFrame)), bases)
        })
    }

    /// The unwinding tables of the debug information.
    pub(crate) fn debug_frame(&self) -> gimli::DebugFrame<Bytes> {
        gimli::DebugFrame::from(self.sections.get(gimli::SectionId::DebugFrame))
    }

    /// The parameters of the function that begins at an address.
    pub fn parameters(&self, address: u64) -> Option<Vec<Parameter>> {
        prototype::parameters(&self.sections.load().ok()?, address.wrapping_sub(self.base))
    }

    /// Whether the function that begins at an address is known to have no result.
    pub fn returns_nothing(&self, address: u64) -> bool {
        self.result(address) == Some(None)
    }

    /// What the function that begins at an address gives: `None` if that is not known, `Some(None)` if it gives nothing.
    pub fn result(&self, address: u64) -> Option<Option<prototype::ParameterKind>> {
        prototype::result(&self.sections.load().ok()?, address.wrapping_sub(self.base))
    }

    /// The positions of a code address, inlined calls unfolded: innermost first, the function itself last. Empty if it has none.
    pub fn positions(&self, address: u64) -> Vec<Position> {
        let mut all = Vec::new();
        let Ok(mut frames) = self.context.find_frames(address.wrapping_sub(self.base)).skip_all_loads() else { return all };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|f| f.raw_name().ok()).map(|name| name.into_owned());
            let (file, line, column) = place(frame.location.as_ref());
            all.push(Position { function: function.unwrap_or_default(), file: file.to_owned(), line, column });
        }
        all
    }

    /// Every line that has code between two addresses, with its file, by address.
    pub fn lines(&self, low: u64, high: u64) -> Vec<(u64, String, u32)> {
        let mut all = Vec::new();
        let (low, high) = (low.wrapping_sub(self.base), high.wrapping_sub(self.base));
        let Ok(rows) = self.context.find_location_range(low, high) else { return all };
        for (address, _, location) in rows {
            if let (file, line @ 1.., _) = place(Some(&location)) {
                all.push((address.wrapping_add(self.base), file.to_owned(), line));
            }
        }
        all
    }
}

fn place<'a>(location: Option<&Location<'a>>) -> (&'a str, u32, u32) {
    let Some(l) = location else { return ("", 0, 0) };
    match (l.file, l.line) {
        (Some(file), Some(line)) => (file, line, l.column.unwrap_or(0)),
        _ => ("", 0, 0),
    }
}
