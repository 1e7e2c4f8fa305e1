//! Variables of unoptimised code, from DWARF: the variable of an address that is computed from the frame pointer or given as a constant.
//!
//! Only unoptimised code computes an address from the variable that it means, so only such code has variables here. Optimising compilers
//! form addresses before and after objects. The address of a variable right after an array may mean the array's end, so its bounds are
//! those of both. Read once; damaged parts count as absent. Linear in the debug information of the unoptimised units.

use std::ops::Range;

use gimli::{
    AttributeValue, CfaRule, DebuggingInformationEntry, Dwarf, Operation, Reader, UnitOffset, UnwindContext, UnwindSection, constants,
};
use wryneck_ir::CodeObject;
use wryneck_ir::code_source::{FrameVariable, FrameVariables};

use crate::prototype::Entries;

/// The most steps from type to type.
const MAX_TYPES: usize = 64;
/// Larger variables (bytes) are ignored as implausible.
const MAX_SIZE: u64 = 1 << 40;

/// The variable of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The distance to its first byte: for addresses in the frame, signed, from the frame pointer.
    pub start: u64,
    /// Its number.
    pub number: u32,
}

/// A variable, as a range of addresses or of distances from the frame's base.
pub(crate) struct Placed {
    pub start: u64,
    pub size: u64,
    pub number: u32,
    /// Programs may compute the address of its end.
    pub ends: bool,
    /// It is a number or a pointer; and which.
    pub scalar: bool,
    pub pointer: bool,
    /// The code range in which it is in scope: the first address, and the one after the last. Everywhere if empty.
    pub scope: Vec<(u64, u64)>,
}

/// The registers that addresses in frames are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    Frame,
    Stack,
}

/// A function with known variables in its frame.
pub(crate) struct Function {
    pub low: u64,
    pub high: u64,
    /// From the frame's base to the return address.
    pub back: i64,
    /// The code ranges in which the frame's base is the frame pointer plus a distance, and those in which it is the stack pointer plus a distance.
    pub bases: Vec<(u64, u64, i64)>,
    pub stack_bases: Vec<(u64, u64, i64)>,
    pub locals: Vec<Placed>,
    /// No code but its own accesses them, unless by their addresses.
    pub apart: bool,
}

/// The variables of a program, by address.
#[derive(Default)]
pub struct Variables {
    pub(crate) objects: Vec<CodeObject>,
    /// By object on the stack: the distance from its beginning to its function's return address.
    pub(crate) backs: Vec<Option<i64>>,
    pub(crate) functions: Vec<Function>,
    pub(crate) statics: Vec<Placed>,
}

/// The name, start and bytes of the array of variables that holds an address.
pub type Array<'a> = &'a dyn Fn(u64) -> Option<(String, u64, u64)>;

/// The unwinding tables of a file, which give the bases of frames.
pub struct Frames<'a, R: Reader> {
    pub eh: Option<(gimli::EhFrame<R>, gimli::BaseAddresses)>,
    pub debug: gimli::DebugFrame<R>,
    /// DWARF's number of the frame pointer.
    pub pointer: gimli::Register,
    /// The size in bytes that the symbol at an address has, or 0.
    pub symbol_size: &'a dyn Fn(u64) -> u64,
    /// The array of variables that holds an address: see [`Elf::array`].
    ///
    /// [`Elf::array`]: crate::Elf::array
    pub array: Array<'a>,
}

impl Variables {
    /// Adds those of a file that is loaded at `base`.
    pub fn read<R: Reader<Offset = usize>>(&mut self, dwarf: &Dwarf<R>, frames: &Frames<'_, R>, base: u64) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let (objects, found) = (self.objects.len(), Variables::default());
            let mut new = Reading { of: Entries { dwarf, unit: &unit }, frames, base, objects, found, adds: false };
            let Some(producer) = new.unoptimised() else { continue };
            new.adds = producer.starts_with("GNU ");
            if new.entries().is_ok_and(|optimised| !optimised) {
                let Variables { objects, backs, functions, statics } = new.found;
                self.objects.extend(objects);
                self.backs.extend(backs);
                self.functions.extend(functions);
                self.statics.extend(statics);
            }
        }
        self.functions.sort_by_key(|f| f.low);
        for f in &mut self.functions {
            order(&mut f.locals);
            join(&f.locals, &mut self.objects);
        }
        order(&mut self.statics);
        join(&self.statics, &mut self.objects);
    }

    /// Frames hold more than the variables that debug information tells of.
    pub fn forget_frames(&mut self) {
        self.functions.iter_mut().for_each(|f| f.locals.clear());
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub fn object(&self, number: u32) -> Option<&CodeObject> {
        self.objects.get(number as usize)
    }

    /// The distance from a variable's beginning to its function's return address.
    pub fn return_address(&self, number: u32) -> Option<i64> {
        self.backs.get(number as usize).copied().flatten()
    }

    fn function(&self, pc: u64) -> Option<&Function> {
        let before = self.functions.partition_point(|f| f.low <= pc).checked_sub(1)?;
        self.functions.get(before).filter(|f| pc < f.high)
    }

    /// The variable at this distance from the register, at `pc`.
    pub fn in_frame(&self, pc: u64, pointer: Pointer, distance: i64) -> Option<Found> {
        let function = self.function(pc)?;
        let bases = match pointer {
            Pointer::Frame => &function.bases,
            Pointer::Stack => &function.stack_bases,
        };
        let (_, _, base) = *bases.iter().find(|(low, high, _)| (*low..*high).contains(&pc))?;
        let found = find(&function.locals, (distance.wrapping_sub(base)) as u64, pc)?;
        Some(Found { start: found.start.wrapping_add_signed(base), ..found })
    }

    /// The static variable at an address that the code at `pc` has as a constant. Optimised code may mean another one.
    pub fn at(&self, pc: u64, address: u64) -> Option<Found> {
        self.function(pc).filter(|f| f.stack_bases.is_empty()).and_then(|_| find(&self.statics, address, 0))
    }

    /// The variables in the frame of the function around an address, if debug information gives them, and no other code shares the frame.
    pub fn frame(&self, pc: u64) -> Option<FrameVariables> {
        let function = self.function(pc).filter(|f| f.apart)?;
        let variable = |p: &Placed| {
            let start = (p.start as i64).wrapping_sub(function.back);
            FrameVariable { start, size: p.size, scalar: p.scalar, pointer: p.pointer }
        };
        Some(FrameVariables { code: (function.low, function.high), variables: function.locals.iter().map(variable).collect() })
    }

    /// Whether something is known of frames of code at these addresses.
    pub fn touch(&self, range: &Range<u64>) -> bool {
        self.functions.iter().any(|f| f.low < range.end && range.start < f.high)
    }

    /// Whether something is known of the frame of the code at an address.
    pub fn knows(&self, pc: u64) -> bool {
        self.function(pc).is_some()
    }
}

pub(crate) fn order(placed: &mut [Placed]) {
    placed.sort_by_key(|p| p.start as i64);
}

/// Gives variables right after arrays the bounds of both.
pub(crate) fn join(placed: &[Placed], objects: &mut [CodeObject]) {
    for p in placed {
        let Some(before) = placed.iter().find(|q| q.ends && q.start.wrapping_add(q.size) == p.start) else { continue };
        let name = objects[before.number as usize].name.clone();
        let object = &mut objects[p.number as usize];
        if object.before == 0 {
            object.before = before.size;
            object.name = format!("{}` and `{}", name.rsplit('`').next().unwrap_or_default(), object.name);
        }
    }
}

/// The smallest variable with the address in it, of those in scope.
pub(crate) fn find(placed: &[Placed], address: u64, pc: u64) -> Option<Found> {
    let in_scope = |p: &&Placed| p.scope.is_empty() || p.scope.iter().any(|(low, high)| (*low..*high).contains(&pc));
    let holds = placed.iter().filter(|p| address.wrapping_sub(p.start) < p.size).filter(in_scope);
    holds.min_by_key(|p| p.size).map(|p| Found { start: p.start, number: p.number })
}

/// The entries that enclose the current one.
struct Scope {
    depth: isize,
    ranges: Vec<(u64, u64)>,
}

/// The location of a variable.
enum Location {
    /// The distance from the frame's base.
    Frame(i64),
    Static(u64),
}

/// What is known of a type's values.
struct Kind {
    /// Bytes.
    size: u64,
    /// Programs compute the address of its end.
    ends: bool,
    /// It is a number or a pointer; and which.
    scalar: bool,
    pointer: bool,
}

struct Reading<'a, R: Reader<Offset = usize>> {
    of: Entries<'a, R>,
    frames: &'a Frames<'a, R>,
    base: u64,
    /// The number of objects before.
    objects: usize,
    found: Variables,
    /// The compiler computes the end of a stack variable as a sum with its beginning. So an address in a neighbour means the neighbour.
    adds: bool,
}

impl<R: Reader<Offset = usize>> Reading<'_, R> {
    /// The compiler of the unit, if it was run without optimisation. GNU compilers record this; for others, [`Reading::entries`] detects it.
    fn unoptimised(&self) -> Option<String> {
        let mut entries = self.of.unit.entries();
        let root = entries.next_dfs().ok()??;
        let producer = root.attr_value(constants::DW_AT_producer).and_then(|v| self.of.dwarf.attr_string(self.of.unit, v).ok());
        let producer = producer.and_then(|p| p.to_string_lossy().ok().map(|p| p.into_owned())).unwrap_or_default();
        let level = producer.split(' ').rev().find_map(|word| word.strip_prefix("-O"));
        level.is_none_or(|level| level == "0").then_some(producer)
    }

    /// Whether the unit is in C, so that nothing catches exceptions, which go on where no branch leads.
    fn is_c(&self) -> Result<bool, gimli::Error> {
        use constants::{DW_AT_language, DW_LANG_C, DW_LANG_C11, DW_LANG_C89, DW_LANG_C99};
        let mut entries = self.of.unit.entries();
        let language = entries.next_dfs()?.and_then(|root| root.attr_value(DW_AT_language));
        Ok(matches!(language, Some(AttributeValue::Language(DW_LANG_C | DW_LANG_C89 | DW_LANG_C99 | DW_LANG_C11))))
    }

    /// Walks the unit. Returns whether it was optimised, as far as it shows: variables then move.
    fn entries(&mut self) -> Result<bool, gimli::Error> {
        let mut entries = self.of.unit.entries();
        let mut scopes: Vec<Scope> = Vec::new();
        let is_c = self.is_c()?;
        // The type of the structure that the current function returns.
        let mut returned = None;
        // C functions with nested ones, and these: gcc keeps variables that they share in a structure, by whose address both access them.
        let mut share = Vec::new();
        while let Some(entry) = entries.next_dfs()? {
            while scopes.last().is_some_and(|s| s.depth >= entry.depth()) {
                scopes.pop();
            }
            match entry.tag() {
                constants::DW_TAG_subprogram => {
                    let ranges = self.ranges(entry)?;
                    // A function in a function accesses the outer one's variables by its frame. In C that is each one below the unit.
                    let nested = !ranges.is_empty() && if is_c { entry.depth() > 1 } else { !scopes.is_empty() };
                    let before = self.found.functions.len();
                    if let Some(outer) = self.found.functions.last_mut().filter(|_| nested) {
                        outer.apart = false;
                    }
                    self.function(entry, &ranges, is_c && !nested);
                    if is_c && nested {
                        share.push(before.saturating_sub(1)..self.found.functions.len());
                    }
                    returned = self.of.kind(entry).filter(|kind| self.kind_of(*kind).is_some_and(|kind| kind.ends));
                    scopes = vec![Scope { depth: entry.depth(), ranges }];
                }
                constants::DW_TAG_lexical_block | constants::DW_TAG_inlined_subroutine => {
                    scopes.push(Scope { depth: entry.depth(), ranges: self.ranges(entry)? });
                }
                constants::DW_TAG_variable | constants::DW_TAG_formal_parameter => match entry.attr_value(constants::DW_AT_location) {
                    Some(AttributeValue::Exprloc(_)) => self.variable(entry, &scopes)?,
                    // What a function returns in memory moves where its address does, in unoptimised code, too.
                    Some(_) if returned.is_some() && self.of.kind(entry) == returned => {
                        self.found.functions.last_mut().into_iter().for_each(|function| function.apart = false);
                    }
                    Some(_) => return Ok(true),
                    None => {}
                },
                _ => {}
            }
        }
        share.into_iter().flatten().for_each(|function| self.found.functions[function].locals.clear());
        Ok(false)
    }

    /// The addresses of an entry's code, in the running program.
    fn ranges(&self, entry: &DebuggingInformationEntry<R>) -> Result<Vec<(u64, u64)>, gimli::Error> {
        let mut all = Vec::new();
        let mut ranges = self.of.dwarf.die_ranges(self.of.unit, entry)?;
        while let Some(r) = ranges.next()? {
            all.extend((r.begin != 0 && r.begin < r.end).then(|| (r.begin.wrapping_add(self.base), r.end.wrapping_add(self.base))));
        }
        Ok(all)
    }

    /// Begins a function, if the location of its frame's base is known.
    fn function(&mut self, entry: &DebuggingInformationEntry<R>, ranges: &[(u64, u64)], apart: bool) {
        let &[(low, high)] = ranges else { return };
        let Some(AttributeValue::Exprloc(base)) = entry.attr_value(constants::DW_AT_frame_base) else { return };
        // The return address lies below the canonical frame address, and above the saved frame pointer.
        let (bases, back) = match base.operations(self.of.unit.encoding()).next() {
            Ok(Some(Operation::CallFrameCFA)) => (self.canonical_frame(low, high), -8),
            Ok(Some(Operation::Register { register })) if register == self.frames.pointer => (vec![(low, high, 0)], 8),
            _ => (Vec::new(), 0),
        };
        self.found.functions.push(Function { low, high, back, bases, stack_bases: Vec::new(), locals: Vec::new(), apart });
    }

    /// The ranges of a function in which the canonical frame address is the frame pointer plus a distance.
    fn canonical_frame(&self, low: u64, high: u64) -> Vec<(u64, u64, i64)> {
        let at = low.wrapping_sub(self.base);
        let of_eh = self.frames.eh.as_ref().map(|(section, bases)| self.rows(section, bases, at)).unwrap_or_default();
        let rows = if of_eh.is_empty() { self.rows(&self.frames.debug, &gimli::BaseAddresses::default(), at) } else { of_eh };
        let moved = rows.into_iter().map(|(from, to, distance)| (from.wrapping_add(self.base), to.wrapping_add(self.base), distance));
        moved.filter(|(from, to, _)| *from < high && *to > low).collect()
    }

    fn rows<S: UnwindSection<R>>(&self, section: &S, bases: &gimli::BaseAddresses, at: u64) -> Vec<(u64, u64, i64)>
    where
        S::Offset: gimli::UnwindOffset<usize>,
    {
        let mut found = Vec::new();
        let Ok(fde) = section.fde_for_address(bases, at, S::cie_from_offset) else { return found };
        let mut context = UnwindContext::new();
        let Ok(mut table) = fde.rows(section, bases, &mut context) else { return found };
        while let Ok(Some(row)) = table.next_row() {
            if let CfaRule::RegisterAndOffset { register, offset } = row.cfa()
                && *register == self.frames.pointer
            {
                found.push((row.start_address(), row.end_address(), *offset));
            }
        }
        found
    }

    fn variable(&mut self, entry: &DebuggingInformationEntry<R>, scopes: &[Scope]) -> Result<(), gimli::Error> {
        let (Some(mut location), Some(mut name), Some(kind)) =
            (self.location(entry), self.of.name(entry), self.of.kind(entry).and_then(|kind| self.kind_of(kind)))
        else {
            return Ok(());
        };
        let Kind { mut size, ends, scalar, pointer } = kind;
        if let Location::Static(address) = location {
            // Members of no size at the end may have values.
            size = size.max((self.frames.symbol_size)(address));
            if let Some((array, start, bytes)) = (self.frames.array)(address) {
                (name, size, location) = (array, bytes, Location::Static(start));
            }
        }
        if size == 0 || size > MAX_SIZE {
            return Ok(());
        }
        let number = (self.objects + self.found.objects.len()) as u32;
        let back = match (&location, self.found.functions.last()) {
            // Arguments lie above it, which belong to the caller until then.
            (Location::Frame(distance), Some(function)) if *distance < function.back => Some(function.back - distance),
            _ => None,
        };
        self.found.backs.push(back);
        self.found.objects.push(CodeObject { name, size, before: 0, known_by: "debug information" });
        let placed = |start, scope| Placed { start, size, number, ends, scalar, pointer, scope };
        match location {
            Location::Static(address) => self.found.statics.push(placed(address, Vec::new())),
            Location::Frame(distance) => {
                let scope = match scopes {
                    [_, .., inner] => inner.ranges.clone(),
                    _ => Vec::new(),
                };
                // A variable of an inlined function without code of its own, or of no function.
                if let Some(function) = self.found.functions.last_mut().filter(|_| !scopes.is_empty()) {
                    function.locals.push(Placed { ends: ends && !self.adds, ..placed(distance as u64, scope) });
                }
            }
        }
        Ok(())
    }

    fn location(&self, entry: &DebuggingInformationEntry<R>) -> Option<Location> {
        let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(constants::DW_AT_location) else { return None };
        let mut operations = expression.operations(self.of.unit.encoding());
        let location = match operations.next().ok()?? {
            Operation::FrameOffset { offset } => Location::Frame(offset),
            Operation::Address { address } => Location::Static(address.wrapping_add(self.base)),
            Operation::AddressIndex { index } => Location::Static(self.of.dwarf.address(self.of.unit, index).ok()?.wrapping_add(self.base)),
            _ => return None,
        };
        // A longer expression is something else: an address in memory, or thread-local storage.
        operations.next().ok()?.is_none().then_some(location)
    }

    /// What is known of values of a type, if their size is.
    fn kind_of(&self, mut kind: UnitOffset) -> Option<Kind> {
        let mut count = 1u64;
        let mut ends = false;
        for _ in 0..MAX_TYPES {
            let entry = self.of.unit.entry(kind).ok()?;
            let size = entry.attr_value(constants::DW_AT_byte_size).and_then(|v| v.udata_value());
            match entry.tag() {
                constants::DW_TAG_array_type => {
                    count = count.checked_mul(self.elements(kind)?)?;
                    ends = true;
                    kind = self.of.kind(&entry)?;
                }
                constants::DW_TAG_typedef
                | constants::DW_TAG_const_type
                | constants::DW_TAG_volatile_type
                | constants::DW_TAG_restrict_type
                | constants::DW_TAG_atomic_type => kind = self.of.kind(&entry)?,
                constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type | constants::DW_TAG_rvalue_reference_type => {
                    let size = size.unwrap_or_else(|| self.of.unit.encoding().address_size.into());
                    return Some(Kind { size: size.checked_mul(count)?, ends, scalar: !ends, pointer: !ends });
                }
                tag => {
                    ends |= [constants::DW_TAG_structure_type, constants::DW_TAG_union_type, constants::DW_TAG_class_type].contains(&tag);
                    let scalar = !ends && [constants::DW_TAG_base_type, constants::DW_TAG_enumeration_type].contains(&tag);
                    return Some(Kind { size: size?.checked_mul(count)?, ends, scalar, pointer: false });
                }
            }
        }
        None
    }

    /// How many elements an array of that type has.
    fn elements(&self, array: UnitOffset) -> Option<u64> {
        let mut tree = self.of.unit.entries_tree(Some(array)).ok()?;
        let mut dimensions = tree.root().ok()?.children();
        let mut count = 1u64;
        while let Ok(Some(dimension)) = dimensions.next() {
            let entry = dimension.entry();
            let number = |name| entry.attr_value(name).and_then(|v: AttributeValue<R>| v.udata_value());
            let elements = number(constants::DW_AT_count).or_else(|| number(constants::DW_AT_upper_bound)?.checked_add(1))?;
            count = count.checked_mul(elements)?;
        }
        Some(count)
    }
}
