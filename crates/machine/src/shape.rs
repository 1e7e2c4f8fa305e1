//! Types for showing values: numbers, texts, pointers, structures and arrays of them, by DWARF (chapter 5). Bounded in depth and length.
//! What is damaged or unknown is shown as bytes.

use gimli::{AttributeValue, DebuggingInformationEntry, Reader, UnitOffset, constants};
use wryneck_ir::code_source::ReadBytes;

use crate::prototype::Entries;

/// Types inside types, and types that stand for others, at most so many.
const MAX_DEPTH: u32 = 8;
/// Members and elements shown.
const SHOWN: usize = 8;
/// Bytes of a text shown.
const TEXT: usize = 32;

/// What the bytes of a value mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Integer {
        size: u64,
        signed: bool,
    },
    Character {
        size: u64,
    },
    Boolean {
        size: u64,
    },
    Float {
        size: u64,
    },
    Pointer {
        size: u64,
        /// To characters.
        text: bool,
    },
    Enumeration {
        size: u64,
        names: Vec<(i64, String)>,
    },
    Array {
        count: u64,
        of: Box<Shape>,
    },
    Structure {
        size: u64,
        members: Vec<(String, u64, Shape)>,
    },
    Unknown {
        size: u64,
    },
}

impl Shape {
    pub fn of<R: Reader<Offset = usize>>(of: &Entries<'_, R>, kind: UnitOffset) -> Shape {
        Shape::inner(of, kind, 0)
    }

    fn inner<R: Reader<Offset = usize>>(of: &Entries<'_, R>, kind: UnitOffset, depth: u32) -> Shape {
        let Some(entry) = of.unit.entry(kind).ok().filter(|_| depth < MAX_DEPTH) else { return Shape::Unknown { size: 0 } };
        let size = entry.attr_value(constants::DW_AT_byte_size).and_then(|v| v.udata_value());
        let target = || of.kind(&entry).map(|kind| Shape::inner(of, kind, depth + 1));
        let known = size.unwrap_or(0);
        match entry.tag() {
            constants::DW_TAG_base_type => match entry.attr_value(constants::DW_AT_encoding) {
                Some(AttributeValue::Encoding(encoding)) => Shape::base(encoding, known),
                _ => Shape::Unknown { size: known },
            },
            constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type | constants::DW_TAG_rvalue_reference_type => {
                let size = size.unwrap_or_else(|| of.unit.encoding().address_size.into());
                Shape::Pointer { size, text: matches!(target(), Some(Shape::Character { size: 1 })) }
            }
            constants::DW_TAG_enumeration_type => Shape::Enumeration { size: known, names: names(of, kind) },
            constants::DW_TAG_array_type => {
                let element = target().unwrap_or(Shape::Unknown { size: 0 });
                // Of several dimensions the first counts the rest.
                dimensions(of, kind).into_iter().rev().fold(element, |inner, count| Shape::Array { count, of: Box::new(inner) })
            }
            constants::DW_TAG_structure_type | constants::DW_TAG_class_type | constants::DW_TAG_union_type => {
                Shape::Structure { size: known, members: members(of, kind, depth) }
            }
            constants::DW_TAG_typedef
            | constants::DW_TAG_const_type
            | constants::DW_TAG_volatile_type
            | constants::DW_TAG_restrict_type
            | constants::DW_TAG_atomic_type => target().unwrap_or(Shape::Unknown { size: known }),
            _ => Shape::Unknown { size: known },
        }
    }

    fn base(encoding: gimli::DwAte, size: u64) -> Shape {
        match encoding {
            constants::DW_ATE_signed => Shape::Integer { size, signed: true },
            constants::DW_ATE_unsigned => Shape::Integer { size, signed: false },
            constants::DW_ATE_signed_char | constants::DW_ATE_unsigned_char | constants::DW_ATE_UTF => Shape::Character { size },
            constants::DW_ATE_boolean => Shape::Boolean { size },
            constants::DW_ATE_float => Shape::Float { size },
            _ => Shape::Unknown { size },
        }
    }

    /// Bytes of a value.
    pub fn size(&self) -> u64 {
        match self {
            Shape::Integer { size, .. }
            | Shape::Character { size }
            | Shape::Boolean { size }
            | Shape::Float { size }
            | Shape::Pointer { size, .. }
            | Shape::Enumeration { size, .. }
            | Shape::Structure { size, .. }
            | Shape::Unknown { size } => *size,
            Shape::Array { count, of } => count.saturating_mul(of.size()),
        }
    }

    /// A value in words, given its first bytes.
    pub fn shown(&self, bytes: &[u8], read: ReadBytes<'_>) -> String {
        match self {
            Shape::Integer { size, signed: true } => signed(bytes, *size).to_string(),
            Shape::Integer { size, signed: false } => unsigned(bytes, *size).to_string(),
            Shape::Character { size } => match (signed(bytes, *size), u8::try_from(unsigned(bytes, *size))) {
                (number, Ok(byte @ b' '..=b'~')) => format!("{number} '{}'", byte.escape_ascii()),
                (number, _) => number.to_string(),
            },
            Shape::Boolean { size } => if unsigned(bytes, *size) == 0 { "false" } else { "true" }.to_owned(),
            Shape::Float { size: 4 } => f32::from_bits(unsigned(bytes, 4) as u32).to_string(),
            Shape::Float { size: 8 } => f64::from_bits(unsigned(bytes, 8)).to_string(),
            Shape::Pointer { size, text } => {
                let address = unsigned(bytes, *size);
                match at(address, read).filter(|_| *text) {
                    Some(text) => format!("{address:#x} {text}"),
                    None => format!("{address:#x}"),
                }
            }
            Shape::Enumeration { size, names } => {
                let value = signed(bytes, *size);
                names.iter().find(|(n, _)| *n == value).map_or_else(|| value.to_string(), |(_, name)| name.clone())
            }
            Shape::Array { of, count } if **of == Shape::Character { size: 1 } => {
                text(&bytes[..bytes.len().min(*count as usize)], bytes.len() as u64 >= *count)
            }
            Shape::Array { count, of } => {
                let size = of.size().max(1) as usize;
                let mut parts: Vec<String> =
                    bytes.chunks(size).take((*count as usize).min(SHOWN)).map(|part| of.shown(part, read)).collect();
                parts.extend((*count as usize > parts.len()).then(|| "…".to_owned()));
                format!("{{{}}}", parts.join(", "))
            }
            Shape::Structure { members, .. } => {
                let part = |start: u64| bytes.get(start as usize..).unwrap_or_default();
                let shown = members.iter().take(SHOWN).map(|(name, start, shape)| format!("{name} = {}", shape.shown(part(*start), read)));
                let mut parts: Vec<String> = shown.collect();
                parts.extend((members.len() > SHOWN).then(|| "…".to_owned()));
                format!("{{{}}}", parts.join(", "))
            }
            Shape::Float { size } | Shape::Unknown { size } => {
                let shown: String = bytes.iter().take((*size as usize).min(TEXT)).map(|byte| format!("{byte:02x}")).collect();
                format!("bytes {shown}")
            }
        }
    }
}

/// The first bytes, little-endian, as a number; missing ones are zero.
fn unsigned(bytes: &[u8], size: u64) -> u64 {
    let mut word = [0; 8];
    let count = bytes.len().min(size as usize).min(8);
    word[..count].copy_from_slice(&bytes[..count]);
    u64::from_le_bytes(word)
}

fn signed(bytes: &[u8], size: u64) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    (unsigned(bytes, size) << unused) as i64 >> unused
}

/// The bytes up to the first zero as a text; `whole` if they are all of it.
fn text(bytes: &[u8], whole: bool) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    let shown = &bytes[..end.unwrap_or(bytes.len()).min(TEXT)];
    let more = if end.unwrap_or(bytes.len()) > TEXT || end.is_none() && !whole { "…" } else { "" };
    format!("\"{}\"{more}", shown.escape_ascii())
}

/// The text at an address, if it is there as far as it is shown.
fn at(address: u64, read: ReadBytes<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    for i in 0..=TEXT as u64 {
        let mut byte = [0];
        if !read(address.wrapping_add(i), &mut byte) {
            break;
        }
        bytes.push(byte[0]);
        if byte[0] == 0 {
            break;
        }
    }
    (!bytes.is_empty()).then(|| text(&bytes, false))
}

/// Calls `f` with the entries right inside an entry.
fn children<R: Reader<Offset = usize>>(of: &Entries<'_, R>, at: UnitOffset, f: &mut dyn FnMut(&DebuggingInformationEntry<R>)) {
    let Ok(mut tree) = of.unit.entries_tree(Some(at)) else { return };
    let Ok(root) = tree.root() else { return };
    let mut inner = root.children();
    while let Ok(Some(child)) = inner.next() {
        f(child.entry());
    }
}

fn names<R: Reader<Offset = usize>>(of: &Entries<'_, R>, kind: UnitOffset) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    children(of, kind, &mut |entry| {
        let value = entry.attr_value(constants::DW_AT_const_value).and_then(|v| v.sdata_value());
        all.extend(value.and_then(|value| Some((value, of.name(entry)?))));
    });
    all
}

fn dimensions<R: Reader<Offset = usize>>(of: &Entries<'_, R>, kind: UnitOffset) -> Vec<u64> {
    let mut all = Vec::new();
    children(of, kind, &mut |entry| {
        let number = |name| entry.attr_value(name).and_then(|v: AttributeValue<R>| v.udata_value());
        let count = number(constants::DW_AT_count).or_else(|| number(constants::DW_AT_upper_bound)?.checked_add(1));
        all.push(count.unwrap_or(0));
    });
    all
}

fn members<R: Reader<Offset = usize>>(of: &Entries<'_, R>, kind: UnitOffset, depth: u32) -> Vec<(String, u64, Shape)> {
    let mut all = Vec::new();
    children(of, kind, &mut |entry| {
        // Bits of a member that shares bytes with others are shown as none of its own.
        let shares = [constants::DW_AT_bit_size, constants::DW_AT_data_bit_offset].iter().any(|a| entry.attr_value(*a).is_some());
        if entry.tag() != constants::DW_TAG_member || shares {
            return;
        }
        let start = entry.attr_value(constants::DW_AT_data_member_location).and_then(|v| v.udata_value()).unwrap_or(0);
        let shape = of.kind(entry).map_or(Shape::Unknown { size: 0 }, |kind| Shape::inner(of, kind, depth + 1));
        all.push((of.name(entry).unwrap_or_default(), start, shape));
    });
    all
}
