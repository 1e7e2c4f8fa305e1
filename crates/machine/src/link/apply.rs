//! Applies relocations to memory, and to debug information, whose addresses count from the start of their sections.

use object::elf::STB_LOCAL;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex, SymbolIndex};

use super::{Late, Linker, REGION, TABLE, Value};
use crate::elf::Elf;
use crate::error::MachineError;
use crate::relocate::{self, Formula, Kind};

impl Linker<'_, '_> {
    /// Applies the relocations of everything of an object that is in memory.
    pub(super) fn relocate(&mut self, number: usize) -> Result<(), MachineError> {
        for index in 0..self.units[number].placed.len() {
            let Some(at) = self.units[number].placed[index] else { continue };
            let mut bytes = std::mem::take(&mut self.placed[at].segment.bytes);
            let base = self.placed[at].segment.base;
            let tolerant = self.placed[at].segment.name.contains(".eh_frame");
            self.apply(number, SectionIndex(index), base, &mut bytes, tolerant)?;
            self.placed[at].segment.bytes = bytes;
        }
        Ok(())
    }

    /// Applies the relocations of a section that begins at `base`; a `tolerant` one may refer to what was discarded.
    pub(super) fn apply(
        &mut self,
        number: usize,
        index: SectionIndex,
        base: u64,
        bytes: &mut [u8],
        tolerant: bool,
    ) -> Result<(), MachineError> {
        let section = self.units[number].file.section_by_index(index).map_err(MachineError::Damaged)?;
        let name = section.name().unwrap_or_default().to_owned();
        let all: Vec<(u64, object::Relocation)> = section.relocations().collect();
        let mut called = None;
        for (offset, r) in all {
            let RelocationFlags::Elf { r_type } = r.flags() else { continue };
            let bad = |what: &str| MachineError::Relocation { section: name.clone(), offset, what: what.to_owned() };
            let Some(kind) = relocate::kind(r_type.0) else { return Err(bad(&format!("has the kind {}, which is not known", r_type.0))) };
            if kind.formula == Formula::Nothing || called.take_if(|skip| *skip == offset).is_some() {
                continue;
            }
            let RelocationTarget::Symbol(symbol) = r.target() else { return Err(bad("has no symbol")) };
            if let Some(code) = relocate::thread_code(kind.formula) {
                let start = offset.checked_sub(code.before).map(|start| start as usize);
                let room = start.and_then(|start| bytes.get_mut(start..start.checked_add(code.bytes.len())?));
                let Some(room) = room else { return Err(bad("lies outside of its section")) };
                let value = match (code.value, self.value(number, symbol)?) {
                    (None, _) => 0,
                    (Some(_), Value::Thread(at)) => at.wrapping_sub(self.thread_pointer()),
                    (Some(_), _) => return Err(bad("is of no variable of a thread")),
                };
                room.copy_from_slice(code.bytes);
                if let Some(at) = code.value {
                    room[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
                }
                // The call, which is no more.
                called = Some(offset - code.before + code.bytes.len() as u64 - 4);
                continue;
            }
            let place = base.wrapping_add(offset);
            let value = match self.worth(number, symbol, kind, place, r.addend())? {
                Ok(value) => value,
                Err(Value::Discarded) if tolerant => 0,
                Err(Value::Discarded) => return Err(bad("leads to a section of which another object's is used")),
                Err(Value::Thread(_)) => return Err(bad(&format!("({}) is of a variable of a thread", kind.name))),
                Err(Value::Address(_)) => return Err(bad(&format!("({}) is of no variable of a thread", kind.name))),
                Err(Value::Late(symbol)) => {
                    self.linked.late.push(Late { place, kind, symbol, addend: r.addend() });
                    continue;
                }
            };
            let start = offset as usize;
            let room = start.checked_add(kind.size).and_then(|end| bytes.get_mut(start..end));
            let Some(room) = room else { return Err(bad("lies outside of its section")) };
            let Some(new) = kind.bytes(value) else { return Err(bad(&format!("({}) has no room for {value:#x}", kind.name))) };
            room.copy_from_slice(&new);
        }
        Ok(())
    }

    fn thread_pointer(&self) -> u64 {
        self.linked.thread_pointer.unwrap_or(0)
    }

    /// What a relocation writes; or what its symbol is worth, if nothing comes of that yet.
    fn worth(
        &mut self,
        number: usize,
        symbol: SymbolIndex,
        kind: &Kind,
        place: u64,
        addend: i64,
    ) -> Result<Result<u64, Value>, MachineError> {
        let thread = self.thread_pointer();
        let value = self.value(number, symbol)?;
        let with = |s: u64| s.wrapping_add_signed(addend);
        Ok(match (kind.formula, value) {
            (Formula::Table, _) => Ok(with(TABLE).wrapping_sub(place)),
            (Formula::Size, _) => {
                let size = self.units[number].file.symbol_by_index(symbol).map_err(MachineError::Damaged)?.size();
                Ok(with(size))
            }
            (Formula::Slot, value @ (Value::Address(_) | Value::Late(_))) => {
                Ok(with(self.slot(number, symbol, value, false)?).wrapping_sub(place))
            }
            (Formula::ThreadSlot, Value::Thread(at)) => {
                let slot = self.slot(number, symbol, Value::Address(at.wrapping_sub(thread)), true)?;
                Ok(with(slot).wrapping_sub(place))
            }
            (Formula::Absolute, Value::Address(s)) => Ok(with(s)),
            (Formula::Relative, Value::Address(s)) => Ok(with(s).wrapping_sub(place)),
            (Formula::InTable, Value::Address(s)) => Ok(with(s).wrapping_sub(TABLE)),
            (Formula::Thread, Value::Thread(s)) => Ok(with(s).wrapping_sub(thread)),
            (_, value) => Err(value),
        })
    }

    /// The address of the table's word that holds this value.
    fn slot(&mut self, number: usize, symbol: SymbolIndex, value: Value, thread: bool) -> Result<u64, MachineError> {
        let s = self.units[number].file.symbol_by_index(symbol).map_err(MachineError::Damaged)?;
        let local = s.elf_symbol().st_bind() == STB_LOCAL;
        let key = if local { format!("{number} {}", symbol.0) } else { s.name().map_err(MachineError::Damaged)?.to_owned() };
        if let Some(slot) = self.slots.get(&(key.clone(), thread)) {
            return Ok(*slot);
        }
        let slot = TABLE + self.table.len() as u64;
        if self.table.len() as u64 + 8 > REGION {
            return Err(MachineError::TooLarge);
        }
        let word = match value {
            Value::Address(address) => address,
            Value::Late(symbol) => {
                let kind = relocate::kind(1).expect("R_X86_64_64 is in the table");
                self.linked.late.push(Late { place: slot, kind, symbol, addend: 0 });
                0
            }
            Value::Thread(_) | Value::Discarded => 0,
        };
        self.table.extend(word.to_le_bytes());
        self.slots.insert((key, thread), slot);
        Ok(slot)
    }
}

impl Elf {
    /// Writes the addresses of variables that lie elsewhere, once they are known; `of` gives them.
    pub fn resolve(&mut self, of: &dyn Fn(&str) -> Option<u64>) -> Result<(), MachineError> {
        for late in std::mem::take(&mut self.linked.late) {
            let Late { place, kind, symbol, addend } = late;
            let address = of(&symbol).ok_or_else(|| MachineError::Undefined(symbol.clone()))?.wrapping_add_signed(addend);
            let value = if kind.formula == Formula::Relative { address.wrapping_sub(place) } else { address };
            let at = self.segments.partition_point(|s| s.base <= place).checked_sub(1);
            let segment = at.and_then(|at| self.segments.get_mut(at));
            let start = segment.as_ref().map_or(0, |s| (place - s.base) as usize);
            let room = segment.and_then(|s| s.bytes.get_mut(start..start.checked_add(kind.size)?));
            let (Some(room), Some(new)) = (room, kind.bytes(value)) else { return Err(MachineError::OutOfReach { symbol, place }) };
            room.copy_from_slice(&new);
        }
        Ok(())
    }
}
