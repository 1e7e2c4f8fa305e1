//! Cached lifting: extensions of the machine code function that an earlier run stored are appended without decoding an instruction.
//!
//! Extensions are cached by file. In a dynamically linked program those of the loader (with the C library) serve all programs. An
//! extension depends on the file, on the hooked functions ([`crate::MachineProgram::shape`]), on which blocks existed before (blocks end
//! where others begin), and on a few words of memory. It stores these questions with their answers. It is replayed wherever the answers
//! are the same, in any order; the module then equals the lifted one record for record. If no stored extension fits an address, the run
//! lifts and stores one more. An extension that depends on anything outside of the file's addresses is not stored.
//!
//! A cache file is a module. Its tables have the appended records ([`wryneck_ir::build::detach`]), one extension after the other. Its
//! `bytes` have the steps as words, read on demand. Appended records are verified like any extension. Cost: that of copying.

use std::ops::Range;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{Asked, Names, attach, detach};
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{Lengths, Module};

use crate::Start;
use crate::growth::{Grown, word_at};

/// The most IR instructions that are cached per file: 24 bytes each, and half as much again for their other records.
const MAX_INSTS: usize = 1 << 17;
/// The most extensions that are cached per address.
const MAX_OF_ADDRESS: usize = 8;
/// The format number at the start of the words. It changes with anything in this file.
const FORMAT: u64 = 4;
const LENGTHS: usize = size_of::<Lengths>() / 4;

/// One extension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    address: u64,
    /// The function's number of slots after it.
    slots: u32,
    /// The ranges of its records in the tables.
    begin: Lengths,
    end: Lengths,
    /// Its blocks and instructions are numbered from 0.
    grown: Grown,
}

/// The cached extensions of a file.
#[derive(Default)]
pub struct Kept {
    /// The file's addresses.
    range: Range<u64>,
    /// By address: where its steps begin in the words.
    by_address: FxHashMap<u64, Vec<usize>>,
    /// The appended records, and the steps.
    records: Module,
    /// Something was added.
    is_new: bool,
}

impl Kept {
    /// An empty cache for the file at these addresses.
    pub fn empty(range: Range<u64>) -> Kept {
        let mut records = Module::default();
        records.bytes.extend(&FORMAT.to_ne_bytes());
        Kept { range, records, ..Kept::default() }
    }

    /// Reads the result of [`Kept::to_module`]; `None` if it is not one.
    pub fn from_module(records: Module, range: Range<u64>) -> Option<Kept> {
        let (words, []) = records.bytes.as_chunks() else { return None };
        let mut rest = Words(words);
        let mut by_address: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        if rest.take()? != [FORMAT] {
            return None;
        }
        while !rest.0.is_empty() {
            let at = words.len() - rest.0.len();
            let [count, address] = rest.take()?;
            rest.0 = rest.0.get(usize::try_from(count).ok()?..)?;
            by_address.entry(address).or_default().push(at);
        }
        Some(Kept { range, by_address, records, is_new: false })
    }

    /// Whether the address is in the file.
    pub(crate) fn holds(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// Extends the module by a cached extension at an address, and returns it. `None`: no extension fits, and nothing was added except perhaps
    /// names.
    pub(crate) fn replay(
        &self,
        address: u64,
        module: &mut Module,
        names: &mut Names,
        blocks: &FxHashMap<Start, u32>,
        read: ReadBytes<'_>,
    ) -> Option<Grown> {
        let steps = self.by_address.get(&address)?.iter();
        let words: &[[u8; 8]] = self.records.bytes.as_chunks().0;
        let fits = |step: &Step| {
            let words = &step.grown.words;
            step.grown.asked.iter().all(|(start, was)| blocks.contains_key(start) == was.is_some())
                && words.iter().all(|(at, word)| word_at(read, *at) == *word)
        };
        let step = steps.filter_map(|at| Words(words.get(*at..)?).step()).find(fits)?;
        let Step { slots, begin, end, mut grown, .. } = step;
        let before = module.functions.last()?.blocks.count;
        let was = grown.asked.iter().filter(|(_, was)| was.is_some());
        let outside: Vec<u32> = was.filter_map(|(start, _)| blocks.get(start).copied()).collect();
        let insts = module.insts.len() as u32;
        if !grown.fits(address, end.blocks.checked_sub(begin.blocks)?) {
            return None;
        }
        if !attach(module, names, &self.records, &begin, &end, slots, &outside) {
            return None;
        }
        grown.renumber(|block| block.wrapping_add(before), |inst| inst.wrapping_add(insts));
        Some(grown)
    }

    /// Stores an extension at an address: the module's records after the lengths `before`, and the names that it requested.
    pub(crate) fn keep(&mut self, address: u64, module: &Module, before: &Lengths, asked: &Asked, grown: &Grown) {
        let full = self.records.insts.len() >= MAX_INSTS || self.by_address.get(&address).is_some_and(|of| of.len() >= MAX_OF_ADDRESS);
        let own = |at: u64| self.range.contains(&at);
        let inside = grown.asked.iter().all(|(start, _)| own(start.address))
            && grown.words.iter().all(|(at, word)| own(*at) && word.is_none_or(own));
        let Some(f) = module.functions.last().filter(|_| !full && inside) else { return };
        if !self.is_new {
            self.make_owned();
        }
        let begin = self.records.lengths();
        let outside: Vec<u32> = grown.asked.iter().filter_map(|(_, was)| *was).collect();
        let number = |block: u32| outside.iter().position(|known| *known == block).map(|n| n as u32);
        if !detach(module, before, asked, number, &mut self.records) {
            return;
        }
        let mut grown = grown.clone();
        let blocks = before.blocks - f.blocks.first;
        grown.renumber(|block| block.wrapping_sub(blocks), |inst| inst.wrapping_sub(before.insts));
        let step = Step { address, slots: f.slots, begin, end: self.records.lengths(), grown };
        let mut words = Vec::new();
        step.write(&mut words);
        let at = self.records.bytes.len() / 8;
        self.records.bytes.extend(bytemuck::cast_slice(&words));
        self.by_address.entry(address).or_default().push(at);
    }

    /// The records as tables that can grow.
    fn make_owned(&mut self) {
        self.is_new = true;
        self.records.make_owned();
    }

    /// Everything to cache, if this run added something.
    pub fn to_module(&self) -> Option<&Module> {
        self.is_new.then_some(&self.records)
    }
}

impl Step {
    fn write(&self, words: &mut Vec<u64>) {
        words.extend([0, self.address, u64::from(self.slots)]);
        for lengths in [self.begin, self.end] {
            words.extend(bytemuck::cast::<Lengths, [u32; LENGTHS]>(lengths).map(u64::from));
        }
        let Grown { new, calls, addresses, returns, jumps, words: memory, asked } = &self.grown;
        let mut list = |rows: &mut dyn ExactSizeIterator<Item = [u64; 2]>| {
            words.push(rows.len() as u64);
            words.extend(rows.flatten());
        };
        let start = |start: &Start, more: u32| [start.address, u64::from(more) << 1 | u64::from(start.told)];
        list(&mut new.iter().map(|(at, block)| start(at, *block)));
        list(&mut calls.iter().map(|(back, block)| [*back, u64::from(*block)]));
        list(&mut addresses.iter().map(|(instruction, address)| [u64::from(*instruction), *address]));
        list(&mut returns.iter().map(|block| [0, u64::from(*block)]));
        list(&mut jumps.iter().map(|(address, block)| [*address, u64::from(*block)]));
        let concrete = |(at, word): &(u64, Option<u64>)| word.map(|word| [*at, word]);
        list(&mut memory.iter().filter_map(concrete).collect::<Vec<_>>().into_iter());
        let unknown = |(at, word): &(u64, Option<u64>)| word.is_none().then_some([*at, 0]);
        list(&mut memory.iter().filter_map(unknown).collect::<Vec<_>>().into_iter());
        list(&mut asked.iter().map(|(at, was)| start(at, was.is_some().into())));
        words[0] = words.len() as u64 - 2;
    }
}

/// The words that are still to be read.
struct Words<'a>(&'a [[u8; 8]]);

impl<'a> Words<'a> {
    fn step(&mut self) -> Option<Step> {
        let [_, address, slots] = self.take()?;
        let [begin, end]: [[u64; LENGTHS]; 2] = [self.take()?, self.take()?];
        let lengths = |all: [u64; LENGTHS]| bytemuck::cast(all.map(|n| n as u32));
        let row = |[address, block]: [u64; 2]| (address, block as u32);
        let start = |[address, more]: [u64; 2]| (Start { address, told: more & 1 == 1 }, (more >> 1) as u32);
        let grown = Grown {
            new: self.list()?.map(start).collect(),
            calls: self.list()?.map(row).collect(),
            addresses: self.list()?.map(|[instruction, address]| (instruction as u32, address)).collect(),
            returns: self.list()?.map(|[_, block]| block as u32).collect(),
            jumps: self.list()?.map(row).collect(),
            words: {
                let concrete = self.list()?.map(|[at, word]| (at, Some(word)));
                concrete.chain(self.list()?.map(|[at, _]| (at, None))).collect()
            },
            asked: self.list()?.map(start).map(|(start, was)| (start, (was == 1).then_some(0))).collect(),
        };
        Some(Step { address, slots: slots as u32, begin: lengths(begin), end: lengths(end), grown })
    }

    fn take<const N: usize>(&mut self) -> Option<[u64; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(first.map(u64::from_ne_bytes))
    }

    /// A count, and that many rows.
    fn list(&mut self) -> Option<impl Iterator<Item = [u64; 2]> + use<'a>> {
        let [count] = self.take()?;
        let (rows, rest) = self.0.split_at_checked(usize::try_from(count).ok()?.checked_mul(2)?)?;
        self.0 = rest;
        Some(rows.as_chunks().0.iter().map(|row: &[_; 2]| row.map(u64::from_ne_bytes)))
    }
}
