//! Growths that earlier runs kept: what lowering would append is appended, without a look at an instruction.
//!
//! What a growth brings follows from the program's files, from what is recognised ([`crate::MachineProgram::shape`]), from the growths before it
//! (blocks end where others begin, numbers count on), and from a few words of memory, which it names. So growths are kept as a tree, each below
//! the one before it and by the address that was asked for, and a run that asks for the same addresses in the same order has the same module, record for
//! record, as if it had lowered it. Where it asks for another one, it lowers, and keeps a branch of its own.
//!
//! What is kept is a module: its tables have what the growths appended, one behind the other, and its `bytes` the tree, in words. What is appended
//! is verified as other growths are. Cost: that of copying.

use rustc_hash::FxHashMap;
use wryneck_ir::build::grow_again;
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{Lengths, Module};

use crate::Start;
use crate::growth::{Grown, word_at};

/// Instructions of IR that are kept of a program, at most: 24 bytes each, and half as much again for what belongs to them.
const MAX_INSTS: usize = 1 << 18;
/// What the tree begins with; another one when anything here changes.
const FORMAT: u64 = 2;
const LENGTHS: usize = size_of::<Lengths>() / 4;

/// One growth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    /// The number of the growth before it and 1; 0: it is the first.
    before: u32,
    address: u64,
    /// Slots that the function has behind it.
    slots: u32,
    /// Where in the tables its records end, which begin where those of the step before it in the list end.
    end: Lengths,
    grown: Grown,
}

/// The growths there are, and how far this run has come.
#[derive(Default)]
pub struct Kept {
    steps: Vec<Step>,
    by_address: FxHashMap<(u32, u64), u32>,
    /// What they appended.
    records: Module,
    /// How many steps earlier runs kept.
    known: usize,
    /// The last growth's number and 1; `None`: it was not kept.
    last: Option<u32>,
}

impl Kept {
    /// Nothing yet.
    pub fn empty() -> Kept {
        Kept { last: Some(0), ..Kept::default() }
    }

    /// What [`Kept::to_module`] gave; `None` if it did not.
    pub fn from_module(records: Module) -> Option<Kept> {
        let steps = Words::steps(&records.bytes)?;
        let rows = steps.iter().zip(0..).map(|(step, n)| ((step.before, step.address), n));
        Some(Kept { by_address: rows.collect(), known: steps.len(), steps, records, last: Some(0) })
    }

    /// Grows the module by what was kept of the growth at an address, and says what that is. `None`: nothing was, and nothing is changed.
    pub(crate) fn replay(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Option<Grown> {
        let number = *self.by_address.get(&(self.last?, address))?;
        let step = self.steps.get(number as usize)?;
        let (from, to) = (self.end(number), step.end);
        let same = step.grown.words.iter().all(|(at, word)| word_at(read, *at) == *word);
        let blocks = module.functions.last()?.blocks.count.checked_add(to.blocks.checked_sub(from.blocks)?)?;
        if !same || !step.grown.fits(address, blocks) || !grow_again(module, &self.records, &from, &to, step.slots) {
            return None;
        }
        self.last = Some(number + 1);
        Some(step.grown.clone())
    }

    /// Where the records before those of a step end.
    fn end(&self, number: u32) -> Lengths {
        let before = number.checked_sub(1).and_then(|before| self.steps.get(before as usize));
        before.map_or(Lengths::default(), |step| step.end)
    }

    /// Keeps a growth at an address: what the module has behind the lengths `before`.
    pub(crate) fn keep(&mut self, address: u64, module: &Module, before: &Lengths, grown: &Grown) {
        // Where the same one is kept with other words of memory, that is enough.
        let free = |last: &u32| self.records.insts.len() < MAX_INSTS && !self.by_address.contains_key(&(*last, address));
        let Some(last) = self.last.take().filter(free) else { return };
        if self.steps.len() == self.known {
            self.make_owned();
        }
        let Some(f) = module.functions.last().filter(|_| self.records.append(module, before, &module.lengths())) else { return };
        let number = self.steps.len() as u32;
        self.steps.push(Step { before: last, address, slots: f.slots, end: self.records.lengths(), grown: grown.clone() });
        self.by_address.insert((last, address), number);
        self.last = Some(number + 1);
    }

    /// The records, but for the tree, as tables that can grow.
    fn make_owned(&mut self) {
        let mut owned = Module::default();
        if owned.append(&self.records, &Lengths::default(), &self.end(self.steps.len() as u32)) {
            self.records = owned;
        }
    }

    /// Everything there is to keep, if this run brought something new.
    pub fn to_module(&self) -> Option<Module> {
        let mut all = Module::default();
        let new = self.steps.len() > self.known && all.append(&self.records, &Lengths::default(), &self.records.lengths());
        let mut words = vec![FORMAT, self.steps.len() as u64];
        self.steps.iter().for_each(|step| step.write(&mut words));
        all.bytes.extend(bytemuck::cast_slice(&words));
        new.then_some(all)
    }
}

impl Step {
    fn write(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.before), self.address, u64::from(self.slots)]);
        words.extend(bytemuck::cast::<Lengths, [u32; LENGTHS]>(self.end).map(u64::from));
        let Grown { new, calls, addresses, returns, jumps, words: memory } = &self.grown;
        let mut list = |rows: &mut dyn ExactSizeIterator<Item = [u64; 2]>| {
            words.push(rows.len() as u64);
            words.extend(rows.flatten());
        };
        list(&mut new.iter().map(|(start, block)| [start.address, u64::from(*block) << 1 | u64::from(start.told)]));
        list(&mut calls.iter().map(|(back, block)| [*back, u64::from(*block)]));
        list(&mut addresses.iter().map(|(instruction, address)| [u64::from(*instruction), *address]));
        list(&mut returns.iter().map(|block| [0, u64::from(*block)]));
        list(&mut jumps.iter().map(|(address, block)| [*address, u64::from(*block)]));
        let concrete = |(at, word): &(u64, Option<u64>)| word.map(|word| [*at, word]);
        list(&mut memory.iter().filter_map(concrete).collect::<Vec<_>>().into_iter());
        let unknown = |(at, word): &(u64, Option<u64>)| word.is_none().then_some([*at, 0]);
        list(&mut memory.iter().filter_map(unknown).collect::<Vec<_>>().into_iter());
    }
}

/// Words that are still to be read, wherever they lie.
struct Words<'a>(&'a [[u8; 8]]);

impl<'a> Words<'a> {
    /// All steps, if these bytes are the words of some.
    fn steps(bytes: &[u8]) -> Option<Vec<Step>> {
        let (words, []) = bytes.as_chunks() else { return None };
        let mut all = Words(words);
        let [format, count] = all.take()?;
        let steps: Vec<Step> =
            (0..count).map(|number| all.step().filter(|step| u64::from(step.before) <= number)).collect::<Option<_>>()?;
        (format == FORMAT && all.0.is_empty()).then_some(steps)
    }

    fn step(&mut self) -> Option<Step> {
        let [before, address, slots] = self.take()?;
        let end: [u64; LENGTHS] = self.take()?;
        let row = |[address, block]: [u64; 2]| (address, block as u32);
        let grown = Grown {
            new: self.list()?.map(|[address, block]| (Start { address, told: block & 1 == 1 }, (block >> 1) as u32)).collect(),
            calls: self.list()?.map(row).collect(),
            addresses: self.list()?.map(|[instruction, address]| (instruction as u32, address)).collect(),
            returns: self.list()?.map(|[_, block]| block as u32).collect(),
            jumps: self.list()?.map(row).collect(),
            words: {
                let concrete = self.list()?.map(|[at, word]| (at, Some(word)));
                concrete.chain(self.list()?.map(|[at, _]| (at, None))).collect()
            },
        };
        Some(Step { before: before as u32, address, slots: slots as u32, end: bytemuck::cast(end.map(|n| n as u32)), grown })
    }

    fn take<const N: usize>(&mut self) -> Option<[u64; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(first.map(u64::from_ne_bytes))
    }

    /// A number of rows, and the rows.
    fn list(&mut self) -> Option<impl Iterator<Item = [u64; 2]> + use<'a>> {
        let [count] = self.take()?;
        let (rows, rest) = self.0.split_at_checked(usize::try_from(count).ok()?.checked_mul(2)?)?;
        self.0 = rest;
        Some(rows.as_chunks().0.iter().map(|row: &[_; 2]| row.map(u64::from_ne_bytes)))
    }
}
