//! The variables in scope where a program stopped, with their values, by DWARF (DWARF 5: 2.5 expressions, 2.6 locations, 3.3
//! subroutines).
//!
//! The shadow stack ([`crate::calls`]) gives each frame and its canonical frame address without unwinding. The unwinding tables say where
//! a caller's registers were saved. Used for findings only: each frame costs one pass over its unit.

use gimli::{
    AttributeValue, BaseAddresses, DebuggingInformationEntry, Dwarf, EvaluationResult, Expression, Location, Reader, RegisterRule, Unit,
    UnwindContext, UnwindSection, Value, constants,
};
use wryneck_ir::code_source::ReadBytes;

use crate::dwarf::Dwarf as File;
use crate::growth::word_at;
use crate::prototype::Entries;
use crate::shape::Shape;
use crate::{MachineProgram, calls};

/// The text for a value that the compiler kept nowhere, and for one whose memory is absent or uninitialised.
const OPTIMISED_OUT: &str = "optimised-out";
const UNWRITTEN: &str = "unwritten";
/// The most steps of one expression.
const MAX_STEPS: u32 = 10_000;
/// Larger variables (bytes) are shown by their beginning.
const MAX_BYTES: u64 = 256;

/// A variable in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Its value in words.
    pub value: String,
}

/// A call in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InScope {
    /// An address inside its current instruction.
    pub address: u64,
    /// The variables of the functions at this address: of inlined ones first, innermost first, and of the function itself last.
    pub functions: Vec<Vec<Variable>>,
}

/// The registers of a call in progress, by DWARF's numbers, as far as they are known, and its call site.
struct Frame<'a> {
    address: u64,
    registers: Vec<Option<u64>>,
    /// The canonical frame address.
    cfa: Option<u64>,
    read: ReadBytes<'a>,
}

impl MachineProgram {
    /// The calls in progress at an instruction of the module, innermost first. `limb` returns the value of a limb of the parameters.
    pub fn in_scope(&self, instruction: u32, limb: &dyn Fn(usize) -> Option<u64>, read: ReadBytes<'_>) -> Vec<InScope> {
        let (Some(stack), Some(pointer), Some(address)) =
            (self.calls.map(|c| c.stack), limb(self.stack_limb), self.address_of(instruction))
        else {
            return Vec::new();
        };
        let names = self.elf.cpu.dwarf_registers.iter();
        let registers = names.map(|name| limb(self.registers.named(name).ok()?.limb)).collect();
        let mut frame = Frame { address, registers, cfa: None, read };
        let mut all = Vec::new();
        for (at, back) in calls::in_progress(stack, pointer, read, usize::MAX) {
            frame.cfa = Some(at + 8);
            all.push(self.functions(&frame));
            if self.goes_back(back) {
                return all;
            }
            frame = self.caller(&frame, at + 8, back);
        }
        all.push(self.functions(&frame));
        all
    }

    fn functions(&self, frame: &Frame<'_>) -> InScope {
        let found = self.elf.dwarf.iter().map(|dwarf| dwarf.functions(frame)).find(|found| !found.is_empty());
        InScope { address: frame.address, functions: found.unwrap_or_default() }
    }

    /// The frame that a frame with this canonical frame address returns to.
    fn caller<'a>(&self, frame: &Frame<'a>, cfa: u64, back: u64) -> Frame<'a> {
        let cpu = self.elf.cpu;
        let mut registers = vec![None; frame.registers.len()];
        let saved = self.elf.dwarf.iter().find_map(|dwarf| dwarf.saved(frame.address));
        for (n, name) in cpu.dwarf_registers.iter().enumerate() {
            registers[n] = match saved.as_ref().map(|saved| saved.iter().find(|(register, _)| usize::from(*register) == n)) {
                _ if *name == cpu.stack_pointer => Some(cfa),
                None => None,
                Some(Some((_, distance))) => word_at(frame.read, cfa.wrapping_add_signed(*distance)),
                Some(None) => frame.registers[n].filter(|_| cpu.call.saved.contains(name)),
            };
        }
        // Inside of the call instruction.
        Frame { address: back.wrapping_sub(1), registers, cfa: None, read: frame.read }
    }
}

impl File {
    /// The variables of the functions at the frame's address, as in [`InScope`]; empty if the file has no information about it.
    fn functions(&self, frame: &Frame<'_>) -> Vec<Vec<Variable>> {
        let (at, Ok(dwarf)) = (frame.address.wrapping_sub(self.base()), self.load()) else { return Vec::new() };
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let mut scope = Scope { of: Entries { dwarf: &dwarf, unit: &unit }, frame, at, base: self.base(), frame_base: None };
            match scope.functions() {
                Ok(mut found) if !found.is_empty() => {
                    found.reverse();
                    return found;
                }
                _ => {}
            }
        }
        Vec::new()
    }

    /// The registers that the code at an address has saved, with the distances from the canonical frame address; `None`: not known.
    fn saved(&self, address: u64) -> Option<Vec<(u16, i64)>> {
        let at = address.wrapping_sub(self.base());
        let of_eh = self.eh_frame().and_then(|(section, bases)| saved(&section, &bases, at));
        of_eh.or_else(|| saved(&self.debug_frame(), &BaseAddresses::default(), at))
    }
}

fn saved<R: Reader<Offset = usize>, S: UnwindSection<R>>(section: &S, bases: &BaseAddresses, at: u64) -> Option<Vec<(u16, i64)>>
where
    S::Offset: gimli::UnwindOffset<usize>,
{
    let fde = section.fde_for_address(bases, at, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = fde.unwind_info_for_address(section, bases, &mut context, at).ok()?;
    let distance = |rule: RegisterRule<usize>| if let RegisterRule::Offset(distance) = rule { Some(distance) } else { None };
    Some(row.registers().filter_map(|(register, rule)| Some((register.0, distance(rule.clone())?))).collect())
}

/// A unit, seen from a frame.
struct Scope<'a, R: Reader<Offset = usize>> {
    of: Entries<'a, R>,
    frame: &'a Frame<'a>,
    /// The frame's address in the file, and what is added to such addresses in memory.
    at: u64,
    base: u64,
    frame_base: Option<u64>,
}

impl<R: Reader<Offset = usize>> Scope<'_, R> {
    fn unit(&self) -> &Unit<R> {
        self.of.unit
    }

    fn dwarf(&self) -> &Dwarf<R> {
        self.of.dwarf
    }

    /// The variables of the function at the address and of those inlined there, outermost first.
    fn functions(&mut self) -> Result<Vec<Vec<Variable>>, gimli::Error> {
        let mut all: Vec<Vec<Variable>> = Vec::new();
        let mut entries = self.of.unit.entries();
        // Children are skipped if the entry is no scope, or a scope of other code.
        let mut closed = None;
        while let Some(entry) = entries.next_dfs()? {
            if closed.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            let variable = matches!(entry.tag(), constants::DW_TAG_formal_parameter | constants::DW_TAG_variable);
            if let (true, Some(function)) = (variable, all.len().checked_sub(1)) {
                all[function].extend(self.variable(entry));
            }
            let scope = match entry.tag() {
                // The outermost scopes, and those in which languages nest functions.
                constants::DW_TAG_compile_unit | constants::DW_TAG_namespace => true,
                constants::DW_TAG_subprogram if self.is_here(entry)? => {
                    self.frame_base = self.frame_base_of(entry);
                    all.push(Vec::new());
                    true
                }
                constants::DW_TAG_inlined_subroutine if self.is_here(entry)? => {
                    all.push(Vec::new());
                    true
                }
                constants::DW_TAG_lexical_block => self.is_here(entry)?,
                _ => false,
            };
            closed = (!scope).then(|| entry.depth());
        }
        Ok(all)
    }

    /// Whether an entry's code is where the frame is.
    fn is_here(&self, entry: &DebuggingInformationEntry<R>) -> Result<bool, gimli::Error> {
        let mut ranges = self.dwarf().die_ranges(self.unit(), entry)?;
        while let Some(range) = ranges.next()? {
            if (range.begin..range.end).contains(&self.at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn frame_base_of(&self, function: &DebuggingInformationEntry<R>) -> Option<u64> {
        let expression = self.here(function.attr_value(constants::DW_AT_frame_base)?)?;
        match self.evaluate(expression, None)?.as_slice() {
            [(_, Location::Register { register })] => self.register(register.0),
            [(_, Location::Address { address })] => Some(*address),
            [(_, Location::Value { value })] => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }

    fn register(&self, number: u16) -> Option<u64> {
        self.frame.registers.get(usize::from(number)).copied().flatten()
    }

    fn variable(&self, entry: &DebuggingInformationEntry<R>) -> Option<Variable> {
        let name = self.of.name(entry)?;
        let shape = self.of.kind(entry).map_or(Shape::Unknown { size: 8 }, |kind| Shape::of(&self.of, kind));
        let value = match self.bytes(entry, shape.size().min(MAX_BYTES)) {
            Ok(bytes) => shape.shown(&bytes, self.frame.read),
            Err(why) => why.to_owned(),
        };
        Some(Variable { name, value })
    }

    /// The first bytes of a variable's value, or why there are none.
    fn bytes(&self, entry: &DebuggingInformationEntry<R>, size: u64) -> Result<Vec<u8>, &'static str> {
        if let Some(value) = self.of.attribute(entry, constants::DW_AT_const_value) {
            let word = value.sdata_value().map(|v| v as u64).or_else(|| value.udata_value()).ok_or(OPTIMISED_OUT)?;
            return Ok(word.to_le_bytes().into_iter().chain(std::iter::repeat(0)).take(size as usize).collect());
        }
        let location = self.of.attribute(entry, constants::DW_AT_location).and_then(|location| self.here(location));
        let pieces = location.and_then(|e| self.evaluate(e, self.frame_base)).ok_or(OPTIMISED_OUT)?;
        let mut bytes = Vec::new();
        for (bits, location) in pieces {
            let left = size.saturating_sub(bytes.len() as u64);
            let count = bits.map_or(left, |bits| (bits / 8).min(left)) as usize;
            let part = match location {
                Location::Address { address } => {
                    let mut part = vec![0; count];
                    let there = (self.frame.read)(address, &mut part);
                    if there { part } else { return Err(UNWRITTEN) }
                }
                Location::Register { register } => self.register(register.0).ok_or(OPTIMISED_OUT)?.to_le_bytes().to_vec(),
                Location::Value { value } => plain(value).to_le_bytes().to_vec(),
                Location::Bytes { value } => value.to_slice().map_err(|_| OPTIMISED_OUT)?.to_vec(),
                Location::Empty | Location::ImplicitPointer { .. } => return Err(OPTIMISED_OUT),
            };
            bytes.extend(part.into_iter().chain(std::iter::repeat(0)).take(count));
        }
        Ok(bytes)
    }

    /// The expression that holds at the frame's address.
    fn here(&self, location: AttributeValue<R>) -> Option<Expression<R>> {
        if let AttributeValue::Exprloc(expression) = location {
            return Some(expression);
        }
        let mut entries = self.dwarf().attr_locations(self.unit(), location).ok()??;
        while let Ok(Some(entry)) = entries.next() {
            if (entry.range.begin..entry.range.end).contains(&self.at) {
                return Some(entry.data);
            }
        }
        None
    }

    /// The location that an expression computes: pieces, each with its size in bits if there are several. `None` if it is not known.
    fn evaluate(&self, expression: Expression<R>, frame_base: Option<u64>) -> Option<Vec<(Option<u64>, Location<R>)>> {
        let mut machine = expression.evaluation(self.unit().encoding());
        machine.set_max_iterations(MAX_STEPS);
        let mut asks = machine.evaluate().ok()?;
        loop {
            asks = match asks {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    machine.resume_with_register(Value::Generic(self.register(register.0)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let mut bytes = [0; 8];
                    let there = (self.frame.read)(address, bytes.get_mut(..usize::from(size))?);
                    machine.resume_with_memory(Value::Generic(there.then(|| u64::from_le_bytes(bytes))?)).ok()?
                }
                EvaluationResult::RequiresFrameBase => machine.resume_with_frame_base(frame_base?).ok()?,
                EvaluationResult::RequiresCallFrameCfa => machine.resume_with_call_frame_cfa(self.frame.cfa?).ok()?,
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    machine.resume_with_relocated_address(address.wrapping_add(self.base)).ok()?
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let address = self.dwarf().address(self.unit(), index).ok()?;
                    machine.resume_with_indexed_address(if relocate { address.wrapping_add(self.base) } else { address }).ok()?
                }
                EvaluationResult::RequiresBaseType(kind) => {
                    let entry = self.unit().entry(kind).ok()?;
                    machine.resume_with_base_type(gimli::ValueType::from_entry(&entry).ok()??).ok()?
                }
                // Values of registers at the function's entry, and values elsewhere.
                _ => return None,
            };
        }
        Some(machine.result().into_iter().map(|piece| (piece.size_in_bits, piece.location)).collect())
    }
}

/// A value's bits.
fn plain(value: Value) -> u64 {
    match value {
        Value::F32(v) => v.to_bits().into(),
        Value::F64(v) => v.to_bits(),
        other => other.to_u64(u64::MAX).unwrap_or(0),
    }
}
