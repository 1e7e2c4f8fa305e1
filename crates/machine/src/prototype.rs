//! The parameters of functions, from DWARF: the values that an entry is called with. Linear in the debug information.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Reader, Unit, UnitOffset, constants};

/// Types lead to types, at most so many times.
const MAX_TYPES: usize = 64;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Empty if it has none.
    pub name: String,
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Pointer,
    /// Of so many bytes.
    Integer(u64),
    /// A floating-point number of so many bytes, 4 or 8.
    Float(u64),
    /// Of another type, which is not passed as these are.
    Other,
    /// Variable arguments.
    Rest,
}

/// What entries of a unit say of themselves.
pub(crate) struct Entries<'a, R: Reader<Offset = usize>> {
    pub dwarf: &'a Dwarf<R>,
    pub unit: &'a Unit<R>,
}

impl<R: Reader<Offset = usize>> Entries<'_, R> {
    /// The attribute of the entry, or of what it stands for.
    pub fn attribute(&self, entry: &DebuggingInformationEntry<R>, name: gimli::DwAt) -> Option<AttributeValue<R>> {
        if let Some(value) = entry.attr_value(name) {
            return Some(value);
        }
        let of = entry.attr_value(constants::DW_AT_specification).or_else(|| entry.attr_value(constants::DW_AT_abstract_origin))?;
        let AttributeValue::UnitRef(of) = of else { return None };
        self.unit.entry(of).ok()?.attr_value(name)
    }

    pub fn name(&self, entry: &DebuggingInformationEntry<R>) -> Option<String> {
        let name = self.dwarf.attr_string(self.unit, self.attribute(entry, constants::DW_AT_name)?).ok()?;
        Some(name.to_string_lossy().ok()?.into_owned())
    }

    /// The entry's type.
    pub fn kind(&self, entry: &DebuggingInformationEntry<R>) -> Option<UnitOffset> {
        match self.attribute(entry, constants::DW_AT_type)? {
            AttributeValue::UnitRef(kind) => Some(kind),
            _ => None,
        }
    }

    /// The parameters of the function whose code begins at an address of the file, if it is here.
    fn parameters(&self, address: u64) -> Option<Vec<Parameter>> {
        let mut tree = self.unit.entries();
        while let Ok(Some(entry)) = tree.next_dfs() {
            if entry.tag() != constants::DW_TAG_subprogram || self.begins(entry) != Some(address) {
                continue;
            }
            let inner = entry.depth() + 1;
            let mut all = Vec::new();
            while let Ok(Some(entry)) = tree.next_dfs() {
                match entry.depth() {
                    depth if depth < inner => break,
                    depth if depth == inner && entry.tag() == constants::DW_TAG_formal_parameter => {
                        let kind = self.kind(entry).map_or(ParameterKind::Other, |kind| self.passed(kind));
                        all.push(Parameter { name: self.name(entry).unwrap_or_default(), kind });
                    }
                    depth if depth == inner && entry.tag() == constants::DW_TAG_unspecified_parameters => {
                        all.push(Parameter { name: String::new(), kind: ParameterKind::Rest });
                    }
                    _ => {}
                }
            }
            return Some(all);
        }
        None
    }

    /// What the function whose code begins at an address of the file gives, if it is here.
    fn result(&self, address: u64) -> Option<Option<ParameterKind>> {
        let mut tree = self.unit.entries();
        while let Ok(Some(entry)) = tree.next_dfs() {
            if entry.tag() == constants::DW_TAG_subprogram && self.begins(entry) == Some(address) {
                return Some(match self.attribute(entry, constants::DW_AT_type) {
                    Some(AttributeValue::UnitRef(kind)) => Some(self.passed(kind)),
                    Some(_) => Some(ParameterKind::Other),
                    None => None,
                });
            }
        }
        None
    }

    fn begins(&self, entry: &DebuggingInformationEntry<R>) -> Option<u64> {
        self.dwarf.attr_address(self.unit, entry.attr_value(constants::DW_AT_low_pc)?).ok()?
    }

    /// How a value of a type is passed.
    fn passed(&self, mut kind: UnitOffset) -> ParameterKind {
        for _ in 0..MAX_TYPES {
            let Ok(entry) = self.unit.entry(kind) else { return ParameterKind::Other };
            let size = entry.attr_value(constants::DW_AT_byte_size).and_then(|v| v.udata_value());
            match entry.tag() {
                constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type | constants::DW_TAG_rvalue_reference_type => {
                    return ParameterKind::Pointer;
                }
                constants::DW_TAG_base_type => {
                    let encoding = match entry.attr_value(constants::DW_AT_encoding) {
                        Some(AttributeValue::Encoding(encoding)) => Some(encoding),
                        _ => None,
                    };
                    return match (encoding, size) {
                        (Some(constants::DW_ATE_float), Some(size @ (4 | 8))) => ParameterKind::Float(size),
                        (Some(constants::DW_ATE_float | constants::DW_ATE_complex_float), _) => ParameterKind::Other,
                        (_, Some(size @ ..=8)) => ParameterKind::Integer(size),
                        _ => ParameterKind::Other,
                    };
                }
                constants::DW_TAG_enumeration_type => return size.map_or(ParameterKind::Other, ParameterKind::Integer),
                constants::DW_TAG_structure_type | constants::DW_TAG_union_type | constants::DW_TAG_class_type => {
                    return ParameterKind::Other;
                }
                _ => match self.kind(&entry) {
                    Some(of) => kind = of,
                    None => return ParameterKind::Other,
                },
            }
        }
        ParameterKind::Other
    }
}

/// The parameters of the function whose code begins at an address of the file.
pub(crate) fn parameters<R: Reader<Offset = usize>>(dwarf: &Dwarf<R>, address: u64) -> Option<Vec<Parameter>> {
    in_units(dwarf, |entries| entries.parameters(address))
}

/// What the function whose code begins at an address of the file gives: `None` if that is not known, `Some(None)` if it gives nothing.
pub(crate) fn result<R: Reader<Offset = usize>>(dwarf: &Dwarf<R>, address: u64) -> Option<Option<ParameterKind>> {
    in_units(dwarf, |entries| entries.result(address))
}

/// What the first unit gives that gives something.
fn in_units<R: Reader<Offset = usize>, T>(dwarf: &Dwarf<R>, ask: impl Fn(&Entries<'_, R>) -> Option<T>) -> Option<T> {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let found = ask(&Entries { dwarf, unit: &unit });
        if found.is_some() {
            return found;
        }
    }
    None
}
