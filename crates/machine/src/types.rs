//! The types of a function's parameters, from DWARF, as far as the fields of structures are found by them. Linear in the debug information.

use gimli::{AttributeValue, DebuggingInformationEntry, Unit, UnitOffset, constants};
use rustc_hash::FxHashMap;

use crate::dwarf::{Bytes, Dwarf};
use crate::prototype::Entries;

/// A type. Numbers are those of [`Types::all`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// To the type of this number, if that is known.
    Pointer(Option<usize>),
    /// Of so many bytes.
    Integer {
        bytes: u64,
        signed: bool,
    },
    /// The fields of a structure or union; bit-fields have the type `Other`.
    Record(Vec<Field>),
    Array {
        of: usize,
        /// Bytes of an element.
        size: u64,
    },
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Empty if it has none.
    pub name: String,
    pub offset: u64,
    pub kind: usize,
}

/// Types that refer to each other.
#[derive(Clone, Debug, Default)]
pub struct Types {
    pub all: Vec<Type>,
    /// Each parameter's type, by its name.
    pub params: Vec<(String, usize)>,
}

/// Types lead to types, at most so many times.
const MAX_TYPES: usize = 10_000;

/// Where a type is described: the unit's number, and the entry.
type At = (usize, UnitOffset);

struct Reading {
    dwarf: gimli::Dwarf<Bytes>,
    units: Vec<Unit<Bytes>>,
    /// Structures and unions with their fields, by name: other units may only declare them.
    defined: FxHashMap<String, At>,
    known: FxHashMap<At, usize>,
    types: Types,
}

impl Dwarf {
    /// The types of the parameters of the function of this name; `None` if it is not described.
    pub fn types_of(&self, function: &str) -> Option<Types> {
        let dwarf = self.load().ok()?;
        let mut headers = dwarf.units();
        let mut units = Vec::new();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header));
        }
        let mut reading = Reading { dwarf, units, defined: FxHashMap::default(), known: FxHashMap::default(), types: Types::default() };
        reading.find_records();
        let params = reading.parameters(function)?;
        for (name, at) in params {
            let kind = reading.kind(at);
            reading.types.params.push((name, kind));
        }
        Some(reading.types)
    }
}

impl Reading {
    fn entries(&self, unit: usize) -> Entries<'_, Bytes> {
        Entries { dwarf: &self.dwarf, unit: &self.units[unit] }
    }

    fn find_records(&mut self) {
        let mut defined = FxHashMap::default();
        for number in 0..self.units.len() {
            let entries = self.entries(number);
            let mut tree = self.units[number].entries();
            while let Ok(Some(entry)) = tree.next_dfs() {
                let is_record = matches!(entry.tag(), constants::DW_TAG_structure_type | constants::DW_TAG_union_type);
                if is_record
                    && entry.attr_value(constants::DW_AT_declaration).is_none()
                    && let Some(name) = entries.name(entry)
                {
                    defined.entry(name).or_insert((number, entry.offset()));
                }
            }
        }
        self.defined = defined;
    }

    /// The names and types of a function's parameters.
    fn parameters(&self, function: &str) -> Option<Vec<(String, At)>> {
        for number in 0..self.units.len() {
            let entries = self.entries(number);
            let mut tree = self.units[number].entries();
            while let Ok(Some(entry)) = tree.next_dfs() {
                let is_it = entry.tag() == constants::DW_TAG_subprogram
                    && entry.attr_value(constants::DW_AT_declaration).is_none()
                    && entries.name(entry).is_some_and(|name| name == function);
                if !is_it {
                    continue;
                }
                let inner = entry.depth() + 1;
                let mut all = Vec::new();
                while let Ok(Some(entry)) = tree.next_dfs() {
                    match entry.depth() {
                        depth if depth < inner => break,
                        depth if depth == inner && entry.tag() == constants::DW_TAG_formal_parameter => {
                            let name = entries.name(entry).unwrap_or_default();
                            all.extend(entries.kind(entry).map(|kind| (name, (number, kind))));
                        }
                        _ => {}
                    }
                }
                return Some(all);
            }
        }
        None
    }

    /// The number of a type.
    fn kind(&mut self, at: At) -> usize {
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        let number = self.types.all.len();
        self.types.all.push(Type::Other);
        self.known.insert(at, number);
        if number < MAX_TYPES {
            self.types.all[number] = self.described(at);
        }
        number
    }

    fn described(&mut self, (number, offset): At) -> Type {
        let Ok(entry) = self.units[number].entry(offset) else { return Type::Other };
        let of = self.entries(number).kind(&entry).map(|kind| (number, kind));
        let size = entry.attr_value(constants::DW_AT_byte_size).and_then(|v| v.udata_value());
        match entry.tag() {
            constants::DW_TAG_pointer_type => Type::Pointer(of.map(|of| self.kind(of))),
            constants::DW_TAG_base_type => {
                let unsigned = [constants::DW_ATE_unsigned, constants::DW_ATE_unsigned_char, constants::DW_ATE_boolean];
                let signed = [constants::DW_ATE_signed, constants::DW_ATE_signed_char];
                match (entry.attr_value(constants::DW_AT_encoding), size) {
                    (Some(AttributeValue::Encoding(e)), Some(bytes @ (1 | 2 | 4 | 8))) if unsigned.contains(&e) || signed.contains(&e) => {
                        Type::Integer { bytes, signed: signed.contains(&e) }
                    }
                    _ => Type::Other,
                }
            }
            constants::DW_TAG_enumeration_type => match size {
                Some(bytes @ (1 | 2 | 4 | 8)) => Type::Integer { bytes, signed: false },
                _ => Type::Other,
            },
            constants::DW_TAG_structure_type | constants::DW_TAG_union_type | constants::DW_TAG_class_type => {
                let declared = entry.attr_value(constants::DW_AT_declaration).is_some();
                let elsewhere = self.entries(number).name(&entry).filter(|_| declared).and_then(|name| self.defined.get(&name).copied());
                let at = elsewhere.unwrap_or((number, offset));
                Type::Record(self.fields(at))
            }
            constants::DW_TAG_array_type => match of {
                Some(of) => {
                    let of = self.kind(of);
                    self.size(of).map_or(Type::Other, |size| Type::Array { of, size })
                }
                None => Type::Other,
            },
            // Names and qualifiers of other types.
            _ => match of {
                Some(of) => {
                    let of = self.kind(of);
                    self.types.all[of].clone()
                }
                None => Type::Other,
            },
        }
    }

    fn fields(&mut self, (number, offset): At) -> Vec<Field> {
        let mut found: Vec<(String, u64, Option<At>)> = Vec::new();
        let unit = &self.units[number];
        let entries = Entries { dwarf: &self.dwarf, unit };
        let Ok(mut tree) = unit.entries_tree(Some(offset)) else { return Vec::new() };
        let Ok(root) = tree.root() else { return Vec::new() };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry: &DebuggingInformationEntry<Bytes> = child.entry();
            if entry.tag() != constants::DW_TAG_member {
                continue;
            }
            let offset = entry.attr_value(constants::DW_AT_data_member_location).map_or(Some(0), |at| at.udata_value());
            let is_bits = entry.attr_value(constants::DW_AT_bit_size).is_some();
            let kind = entries.kind(entry).filter(|_| !is_bits).map(|kind| (number, kind));
            found.extend(offset.map(|offset| (entries.name(entry).unwrap_or_default(), offset, kind)));
        }
        let field = |(name, offset, kind): (String, u64, Option<At>)| {
            let kind = match kind {
                Some(kind) => self.kind(kind),
                None => {
                    self.types.all.push(Type::Other);
                    self.types.all.len() - 1
                }
            };
            Field { name, offset, kind }
        };
        found.into_iter().map(field).collect()
    }

    /// Bytes of a type without holes at its end.
    fn size(&self, kind: usize) -> Option<u64> {
        match self.types.all.get(kind)? {
            Type::Pointer(_) => Some(8),
            Type::Integer { bytes, .. } => Some(*bytes),
            Type::Record(_) | Type::Array { .. } | Type::Other => None,
        }
    }
}
