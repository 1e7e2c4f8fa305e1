//! Source positions of machine code, from DWARF where a file has it (never required; what is damaged counts as absent).
//!
//! Addresses are those of the running program; the file's own are less by its base.

use std::sync::Arc;

use addr2line::{Context, Location};
use gimli::{EndianArcSlice, RunTimeEndian};
use object::{Object, ObjectSection};

type Bytes = EndianArcSlice<RunTimeEndian>;

/// The line table and functions of one file.
pub struct Dwarf {
    context: Context<Bytes>,
    base: u64,
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
        let section = |id: gimli::SectionId| {
            let bytes = file.section_by_name(id.name()).and_then(|s| s.uncompressed_data().ok()).unwrap_or_default();
            Ok::<_, gimli::Error>(EndianArcSlice::new(Arc::from(&*bytes), endian))
        };
        let dwarf = gimli::Dwarf::load(section).ok()?;
        Some(Dwarf { context: Context::from_dwarf(dwarf).ok()?, base })
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
