//! Where p-code's values live among the slots, and how parts of them are read and written.
//!
//! A varnode is bits of a **place**: a register of the register file, or a temporary of the instruction (overlapping temporaries share
//! one). A write to a part of a register is kept **pending** in a slot of its own, because x86-64 writes most 32-bit results twice: the
//! part, and then the whole, zero-extended. Each instruction reuses the slots of temporaries.

use std::ops::Range;

use wryneck_ir::build::{BlockId, FunctionBuilder, Slot};
use wryneck_ir::{Loc, NONE, Op, PLAIN, limbs};

use crate::dwarf::Position;
use crate::elf::{Elf, Symbol, place_in};
use crate::pcode::{Instruction, Reads, Space, Varnode};
use crate::registers::RegisterFile;

/// Constants that code is full of: the function has them from its beginning.
#[rustfmt::skip]
pub const READY: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 24, 31, 32, 40, 48, 56, 63, 64, 127, 128, 255, 256, 0xff00, 0xffff, 0xffff_ffff,
    u64::MAX, u64::MAX - 7, u64::MAX - 15,
];

/// A whole register or temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Home {
    slot: Slot,
    /// Width in bits.
    width: u32,
}

/// Bits `low .. low + width` of a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    home: Home,
    low: u32,
    width: u32,
}

/// Emits into one function with p-code's values in their places.
pub struct Places<'f, 'm, 'r> {
    pub builder: &'f mut FunctionBuilder<'m>,
    registers: &'r RegisterFile,
    /// The instruction's temporaries: first byte, byte after the last, slot. By first byte.
    uniques: Vec<(u64, u64, Slot)>,
    /// Slots for temporaries this session has; the first of them; how many the instruction uses.
    scratch: Option<Slot>,
    allocated: u32,
    used: u32,
    pending: Option<(Part, Slot)>,
    /// Registers whose value has no bits from this one on, in the open block.
    narrow: Vec<(Slot, u32)>,
    /// Parts of registers that the instruction has read, and where they are.
    parts: Vec<(Part, Slot)>,
    /// Return addresses of calls, and the blocks that end with the calls.
    pub calls: Vec<(u64, BlockId)>,
    /// Blocks that are part of a return, or end by beginning it.
    pub returns: Vec<BlockId>,
    /// The numbers of first instructions of the module, and the addresses they were lifted from, by number.
    pub addresses: Vec<(u32, u64)>,
    /// The address that what is emitted stands at, and the function around it, with all addresses it is around.
    here: Option<u64>,
    around: Option<(Option<Symbol>, Range<u64>)>,
    /// The instruction reads, changes and writes memory without a lock.
    plain: bool,
    /// The rest of the instruction happens only where this bit is 0: what it writes is chosen by it.
    skip_if: Option<Slot>,
}

impl<'f, 'm, 'r> Places<'f, 'm, 'r> {
    pub fn new(builder: &'f mut FunctionBuilder<'m>, registers: &'r RegisterFile) -> Self {
        Places {
            builder,
            registers,
            uniques: Vec::new(),
            scratch: None,
            allocated: 0,
            used: 0,
            pending: None,
            calls: Vec::new(),
            returns: Vec::new(),
            addresses: Vec::new(),
            here: None,
            around: None,
            narrow: Vec::new(),
            parts: Vec::new(),
            plain: false,
            skip_if: None,
        }
    }

    /// Begins an instruction: its temporaries get slots.
    pub fn begin(&mut self, instruction: &Instruction) {
        self.used = 0;
        self.plain = instruction.plain;
        self.parts.clear();
        let operands = instruction.ops.iter().flat_map(|op| op.inputs.iter().chain(&op.output));
        let mut ranges: Vec<(u64, u64)> = operands.filter(|v| v.space == Space::Unique).map(|v| (v.offset, v.end())).collect();
        ranges.sort_unstable();
        self.uniques.clear();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (start, end) in ranges {
            match merged.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        for (start, end) in merged {
            let slot = self.temp(8 * (end - start) as u32);
            self.uniques.push((start, end, slot));
        }
    }

    /// Ends an instruction; the slots of its temporaries are free again.
    pub fn end(&mut self) {
        self.flush();
        self.skip_if = None;
        self.plain = false;
        self.used = 0;
    }

    /// From here to the end of the instruction, nothing is written where `bit` is 1.
    pub fn skip_if(&mut self, bit: Slot) {
        self.flush();
        let kept = self.temp(1);
        self.emit(Op::Copy, 1, kept, bit.raw(), NONE, NONE);
        self.skip_if = Some(kept);
    }

    /// A slot (slots, if wide) of the instruction's own.
    pub fn temp(&mut self, width: u32) -> Slot {
        let count = limbs(width).max(1);
        while self.allocated < self.used + count {
            let slot = self.builder.temp(64);
            self.scratch.get_or_insert(slot);
            self.allocated += 1;
        }
        self.used += count;
        self.scratch.expect("the loop above has made one").limb(self.used - count)
    }

    /// The temporaries there are; [`Places::release`] frees those that came later.
    pub fn mark(&self) -> u32 {
        self.used
    }
    /// Frees the temporaries made since the mark: their values are not needed any more.
    pub fn release(&mut self, mark: u32) {
        self.used = mark;
    }

    /// Emits, unless the block has ended already (what follows a transfer of control never runs).
    pub fn emit(&mut self, op: Op, width: u32, dst: Slot, a: u32, b: u32, c: u32) {
        if self.builder.in_block() {
            self.builder.emit(op, width as u16, dst, a, b, c);
        }
    }

    /// A constant of `width` bits, to be read only.
    pub fn constant(&mut self, width: u32, value: u64) -> Slot {
        let value = if width < 64 { value & ((1 << width) - 1) } else { value };
        if width <= 64
            && let Some(ready) = self.builder.ready(value)
        {
            return ready;
        }
        let slot = self.temp(width);
        for i in 0..limbs(width).max(1) {
            let (value, w) = (if i == 0 { value } else { 0 }, (width - 64 * i).min(64));
            self.emit(Op::Imm, w, slot.limb(i), value as u32, (value >> 32) as u32, NONE);
        }
        slot
    }

    fn part(&self, v: Varnode) -> Result<Part, String> {
        let (home, start) = match v.space {
            Space::Register => {
                let r =
                    self.registers.holding(v.offset, v.size).ok_or_else(|| format!("the register at {:#x}, {} bytes", v.offset, v.size))?;
                let slot = self.builder.param(r.param);
                (Home { slot, width: 8 * r.size }, r.offset)
            }
            Space::Unique => {
                let found = self.uniques.iter().find(|(start, end, _)| (*start..*end).contains(&v.offset));
                let (start, end, slot) = *found.expect("`begin` saw every operand of the instruction");
                (Home { slot, width: 8 * (end - start) as u32 }, start)
            }
            Space::Const | Space::Memory => return Err("a constant or memory as a place".to_owned()),
        };
        Ok(Part { home, low: 8 * (v.offset - start) as u32, width: v.width() })
    }

    /// The slot(s) that hold the varnode's value. They are good until one of its bytes is written.
    pub fn read(&mut self, v: Varnode) -> Result<Slot, String> {
        if v.size == 0 {
            return Err("a value of no bytes".to_owned());
        }
        match v.space {
            Space::Const => Ok(self.constant(v.width(), v.offset)),
            Space::Memory => {
                let address = self.constant(64, v.offset);
                let value = self.temp(v.width());
                self.load(v.width(), value, address, Reads::default());
                Ok(value)
            }
            Space::Register | Space::Unique => {
                let part = self.part(v)?;
                if let Some((pending, slot)) = self.pending {
                    if pending == part {
                        return Ok(slot);
                    }
                    if pending.home == part.home {
                        self.flush();
                    }
                }
                Ok(self.read_part(part))
            }
        }
    }

    fn read_part(&mut self, part: Part) -> Slot {
        let Part { home, low, width } = part;
        if low == 0 && width == home.width {
            return home.slot;
        }
        if low.is_multiple_of(64) && width.is_multiple_of(64) {
            return home.slot.limb(low / 64);
        }
        if low == 0 && self.narrow.iter().any(|(slot, from)| *slot == home.slot && *from <= width) {
            return home.slot;
        }
        if let Some((_, slot)) = self.parts.iter().find(|(known, _)| *known == part) {
            return *slot;
        }
        // Inside one limb, only that limb is looked at.
        let limb = low / 64;
        let (from, low, of) = match low % 64 + width <= 64 {
            true => (home.slot.limb(limb), low % 64, (home.width - 64 * limb).min(64)),
            false => (home.slot, low, home.width),
        };
        if low == 0 && width == of {
            return from;
        }
        let value = self.temp(width);
        self.emit(Op::Extract, width, value, from.raw(), low, of);
        self.parts.push((part, value));
        value
    }

    /// Control comes here from elsewhere, or something has written registers: what was known of them is not any more.
    pub fn forget(&mut self) {
        self.narrow.clear();
        self.parts.clear();
    }

    /// The varnode was given a value of so many bits, zero-extended.
    pub fn wrote_narrow(&mut self, v: Varnode, width: u32) {
        if v.space == Space::Register
            && let Ok(Part { home, low: 0, width: whole }) = self.part(v)
            && whole == home.width
            && whole <= 64
            && self.skip_if.is_none()
        {
            self.narrow.push((home.slot, width));
        }
    }

    /// Where to compute the varnode's value, before [`Places::wrote`]: its own slots if nothing speaks against it.
    pub fn target(&mut self, v: Varnode) -> Slot {
        match self.part(v) {
            Ok(Part { home, low: 0, width }) if width == home.width && width <= 64 && self.skip_if.is_none() => home.slot,
            _ => self.temp(v.width()),
        }
    }

    /// Copies a value, limb by limb.
    pub fn copy(&mut self, width: u32, to: Slot, from: Slot) {
        for i in (0..limbs(width)).filter(|_| to != from) {
            self.emit(Op::Copy, (width - 64 * i).min(64), to.limb(i), from.limb(i).raw(), NONE, NONE);
        }
    }

    /// Gives the varnode the value that was computed in `value`, which [`Places::target`] gave.
    pub fn wrote(&mut self, v: Varnode, value: Slot) -> Result<(), String> {
        if v.space == Space::Memory {
            if self.skip_if.is_some() {
                return Err("a conditional store".to_owned());
            }
            let address = self.constant(64, v.offset);
            self.store(v.width(), address, value, 0);
            return Ok(());
        }
        let part = self.part(v)?;
        self.narrow.retain(|(slot, _)| *slot != part.home.slot);
        self.parts.retain(|(known, _)| known.home != part.home);
        let value = match self.skip_if {
            None => value,
            Some(bit) => {
                let (old, chosen) = (self.read(v)?, self.temp(v.width()));
                self.emit(Op::Select, v.width(), chosen, bit.raw(), old.raw(), value.raw());
                chosen
            }
        };
        let whole = part.low == 0 && part.width == part.home.width;
        if let Some((pending, _)) = self.pending
            && pending.home == part.home
        {
            match whole || pending == part {
                true => self.pending = None,
                false => self.flush(),
            }
        }
        if whole {
            self.copy(part.width, part.home.slot, value);
        } else if part.low.is_multiple_of(64) && part.width.is_multiple_of(64) {
            self.flush();
            self.copy(part.width, part.home.slot.limb(part.low / 64), value);
        } else {
            self.flush();
            self.pending = Some((part, value));
        }
        Ok(())
    }

    /// Writes the pending part into its register. Needed before control goes anywhere.
    pub fn flush(&mut self) {
        let Some((Part { home, low, width }, value)) = self.pending.take() else { return };
        let limb = low / 64;
        if low % 64 + width <= 64 {
            let of = (home.width - 64 * limb).min(64);
            return self.insert(home.slot.limb(limb), of, low % 64, width, value);
        }
        self.insert(home.slot, home.width, low, width, value);
    }

    /// Replaces bits `low .. low + width` of the `of` bits in `whole` by `value`.
    fn insert(&mut self, whole: Slot, of: u32, low: u32, width: u32, value: Slot) {
        let (mut joined, mut so_far) = (value, width);
        if low > 0 {
            let below = self.temp(low);
            self.emit(Op::Extract, low, below, whole.raw(), 0, of);
            (joined, so_far) = (self.concat(joined, width, below, low), width + low);
        }
        if so_far < of {
            let above = self.temp(of - so_far);
            self.emit(Op::Extract, of - so_far, above, whole.raw(), so_far, of);
            joined = self.concat(above, of - so_far, joined, so_far);
        }
        self.copy(of, whole, joined);
    }

    fn concat(&mut self, high: Slot, high_width: u32, low: Slot, low_width: u32) -> Slot {
        let joined = self.temp(high_width + low_width);
        self.emit(Op::Concat, high_width + low_width, joined, high.raw(), low.raw(), low_width);
        joined
    }

    /// A load, limb by limb, faulting as the processor does.
    pub fn load(&mut self, width: u32, to: Slot, address: Slot, reads: Reads) {
        self.check_alignment(address, reads.alignment);
        for i in 0..limbs(width) {
            let from = self.behind(address, i);
            let alone = if self.plain { PLAIN } else { 0 };
            let part = reads.whole.map_or(alone, |whole| wryneck_ir::Part { at: whole.at + 8 * i, ..whole }.pack());
            self.emit(Op::Load, (width - 64 * i).min(64), to.limb(i), from.raw(), part, NONE);
        }
    }

    /// A store, likewise.
    pub fn store(&mut self, width: u32, address: Slot, value: Slot, alignment: u32) {
        self.check_alignment(address, alignment);
        for i in 0..limbs(width) {
            let to = self.behind(address, i);
            if self.builder.in_block() {
                self.builder.store((width - 64 * i).min(64) as u16, to, value.limb(i), if self.plain { PLAIN } else { 0 });
            }
        }
    }

    /// The address of limb `i`.
    fn behind(&mut self, address: Slot, i: u32) -> Slot {
        if i == 0 {
            return address;
        }
        let (by, sum) = (self.constant(64, u64::from(8 * i)), self.temp(64));
        self.emit(Op::Add, 64, sum, address.raw(), by.raw(), NONE);
        sum
    }

    fn check_alignment(&mut self, address: Slot, alignment: u32) {
        if alignment == 0 || !self.builder.in_block() {
            return;
        }
        self.flush();
        let (mask, zero) = (self.constant(64, u64::from(alignment - 1)), self.constant(64, 0));
        let (low, bit) = (self.temp(64), self.temp(1));
        self.emit(Op::And, 64, low, address.raw(), mask.raw(), NONE);
        self.emit(Op::Ne, 64, bit, low.raw(), zero.raw(), NONE);
        let (bad, good) = (self.builder.block(), self.builder.block());
        let (then, other) = (self.builder.edge(bad), self.builder.edge(good));
        self.builder.cond_br(bit, then, other);
        self.builder.start(bad);
        self.builder.trap(&format!("memory operand not aligned to {alignment} bytes"));
        self.builder.start(good);
    }

    /// What is emitted from here on stands at this address of the program: at its source lines, or else at its place in words.
    pub fn at(&mut self, elf: &Elf, address: u64) {
        if self.here.replace(address) == Some(address) {
            return;
        }
        let around = self.around.take().filter(|(_, range)| range.contains(&address)).unwrap_or_else(|| {
            let (function, range) = elf.function_and_range(address);
            (function.cloned(), range)
        });
        let (function, _) = self.around.insert(around);
        let mut positions = elf.dwarf.iter().map(|d| d.positions(address)).find(|p| !p.is_empty()).unwrap_or_default();
        if positions.last().is_none_or(|p| p.function.is_empty()) {
            positions.pop();
            positions.push(Position { function: place_in(elf, function.as_ref(), address), ..Position::default() });
        }
        let (mut inlined_at, library) = (0, function.as_ref().is_some_and(|f| f.library).into());
        for p in positions.iter().rev() {
            let [function, file] = [&p.function, &p.file].map(|text| self.builder.names.str(self.builder.module, text));
            let loc = Loc { file, line: p.line, column: p.column, function, inlined_at, library };
            inlined_at = self.builder.names.loc(self.builder.module, loc);
        }
        self.builder.loc = inlined_at;
        self.addresses.push((self.builder.module.insts.len() as u32, address));
    }

    /// The slot of a whole register, with nothing pending in it.
    pub fn register(&mut self, param: usize) -> Slot {
        self.flush();
        // Who has the slot may write it.
        self.forget();
        self.builder.param(param)
    }
}
