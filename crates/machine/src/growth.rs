//! On-demand lifting: one extension of the machine code function, with the blocks at an address and along its fixed branches.
//!
//! At a bound on the number of blocks, branches lead to blocks that only jump; these request lifting when they are reached. In the
//! program's own code, a jump to a hooked or observed function is a call in tail position.

use std::cell::RefCell;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{BlockId, FunctionBuilder, Names};
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{Module, call_flags};

use crate::block::{Ahead, Block, Code};
use crate::error::MachineError;
use crate::pcode::{Instruction, OpCode, Space};
use crate::place::Places;
use crate::{MachineProgram, Start, anchor, bytes_at, lift};

/// The most blocks that are lifted by one extension.
const MAX_BLOCKS: usize = 8;

/// The result of an extension. Blocks are given by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grown {
    /// The new blocks by address.
    pub new: Vec<(Start, u32)>,
    /// The blocks that end with calls, by return address.
    pub calls: Vec<(u64, u32)>,
    /// The numbers of first instructions, and the addresses they were lifted from, by number.
    pub addresses: Vec<(u32, u64)>,
    /// Blocks that are part of returns.
    pub returns: Vec<u32>,
    /// Blocks that only jump to an address.
    pub jumps: Vec<(u64, u32)>,
    /// The words of memory that it depends on, by address; `None`: the word was not concrete.
    pub words: Vec<(u64, Option<u64>)>,
    /// The addresses outside of the extension for which it requested a block, ascending, with the block that existed before.
    pub asked: Vec<(Start, Option<u32>)>,
}

/// One extension of the function: from an address, along fixed branches.
pub struct Session<'p> {
    program: &'p MachineProgram,
    new: FxHashMap<Start, BlockId>,
    /// Addresses to be lifted.
    queue: VecDeque<(Start, BlockId)>,
    tails: VecDeque<Tail>,
    /// Beyond the bound: blocks that only jump.
    jumps: Vec<(u64, BlockId)>,
    words: Vec<(u64, Option<u64>)>,
    asked: RefCell<FxHashMap<Start, Option<u32>>>,
}

/// A block for a jump to a hooked or observed function: a call by the jumping function, then the function itself.
struct Tail {
    from: u64,
    to: u64,
    block: BlockId,
}

impl Grown {
    /// Whether the extension has a block for the address, and all its blocks are within a function of this many.
    pub fn fits(&self, address: u64, blocks: u32) -> bool {
        if self.new.iter().all(|(start, _)| *start != Start::at(address)) {
            return false;
        }
        let rows = self.calls.iter().chain(&self.jumps).map(|(_, block)| block);
        self.new.iter().map(|(_, block)| block).chain(rows).chain(&self.returns).all(|block| *block < blocks)
    }

    /// Renumbers its blocks and instructions.
    pub fn renumber(&mut self, block: impl Fn(u32) -> u32, instruction: impl Fn(u32) -> u32) {
        self.addresses.iter_mut().for_each(|(inst, _)| *inst = instruction(*inst));
        let rows = self.calls.iter_mut().chain(&mut self.jumps).map(|(_, number)| number);
        let all = self.new.iter_mut().map(|(_, number)| number).chain(rows).chain(&mut self.returns);
        all.for_each(|number| *number = block(*number));
    }
}

/// The word at an address, if it is concrete.
pub fn word_at(read: ReadBytes<'_>, address: u64) -> Option<u64> {
    let mut word = [0; 8];
    read(address, &mut word).then_some(u64::from_le_bytes(word))
}

impl Session<'_> {
    pub fn run(
        program: &MachineProgram,
        module: &mut Module,
        names: &mut Names,
        ahead: Ahead,
        address: u64,
        read: ReadBytes<'_>,
    ) -> Result<(Grown, Ahead), wryneck_ir::build::BuildError> {
        let mut builder = FunctionBuilder::append(module, names, program.function)?;
        let mut session = Session {
            program,
            new: FxHashMap::default(),
            queue: VecDeque::new(),
            tails: VecDeque::new(),
            jumps: Vec::new(),
            words: Vec::new(),
            asked: RefCell::default(),
        };
        let mut places = Places::new(&mut builder, &program.registers);
        session.block_of(&mut places, Start::at(address));
        let bytes = |at: u64| program.code_at(at, read);
        let mut code = Code::new(&program.decoder, &bytes, ahead);
        loop {
            if let Some((start, block)) = session.queue.pop_front() {
                session.lower(&mut places, start, block, &mut code, read);
            } else if let Some(tail) = session.tails.pop_front() {
                session.tail(&mut places, &tail);
            } else {
                break;
            }
        }
        for (address, block) in &session.jumps {
            places.at(&program.elf, *address);
            places.builder.start(*block);
            let to = places.constant(64, *address);
            places.builder.jump(to);
            places.end();
        }
        let numbers = |rows: Vec<(u64, BlockId)>| rows.into_iter().map(|(address, block)| (address, block.index())).collect();
        let mut new: Vec<(Start, u32)> = session.new.into_iter().map(|(start, block)| (start, block.index())).collect();
        new.sort_unstable_by_key(|(_, block)| *block);
        let mut asked: Vec<_> = session.asked.into_inner().into_iter().collect();
        asked.sort_unstable_by_key(|(start, _)| (start.address, start.told));
        let grown = Grown {
            new,
            calls: numbers(std::mem::take(&mut places.calls)),
            addresses: std::mem::take(&mut places.addresses),
            returns: places.returns.iter().map(|block| block.index()).collect(),
            jumps: numbers(session.jumps),
            words: session.words,
            asked,
        };
        let ahead = code.ahead;
        builder.finish()?;
        Ok((grown, ahead))
    }

    /// The block for a code address: an existing one, one to be lifted, or a jump.
    fn block_of(&mut self, places: &mut Places<'_, '_, '_>, start: Start) -> BlockId {
        if let Some(&block) = self.new.get(&start) {
            return block;
        }
        if let Some(block) = self.before(start) {
            return places.builder.existing(block);
        }
        let block = places.builder.block();
        // A jump to this address reaches the beginning of a function.
        if start.told || self.new.len() < MAX_BLOCKS && self.program.check(start.address).is_ok() {
            self.new.insert(start, block);
            self.queue.push_back((start, block));
        } else {
            self.jumps.push((start.address, block));
        }
        block
    }

    /// The block that existed before.
    fn before(&self, start: Start) -> Option<u32> {
        let block = self.program.blocks.get(&start).copied();
        self.asked.borrow_mut().insert(start, block);
        block
    }

    /// The block that an instruction leads to. In the program's own code, a jump to a hooked or observed function is a call in tail position. In a library it
    /// is a plain jump.
    fn way(&mut self, places: &mut Places<'_, '_, '_>, from: &Instruction, to: u64, read: ReadBytes<'_>) -> BlockId {
        let jumps = !from.ops.iter().any(|op| op.op == OpCode::Call);
        let (program, function) = (self.program, self.behind_stub(to, read));
        let told = program.calls.is_some() && program.told.contains(function);
        if !jumps || !told && !program.recognition.contains(function) {
            return self.block_of(places, Start::at(to));
        }
        // A function that jumps to its own beginning is a loop.
        let itself = program.elf.function(from.address).is_some_and(|f| f.address == function);
        if itself || program.elf.is_library(from.address) {
            return self.block_of(places, Start { address: function, told });
        }
        let block = places.builder.block();
        self.tails.push_back(Tail { from: from.address, to: function, block });
        block
    }

    /// The target of the linker's stub at an address; without a stub, the address itself.
    fn behind_stub(&mut self, address: u64, read: ReadBytes<'_>) -> u64 {
        let program = self.program;
        let named = |at: u64, prefix: &str| program.elf.segment(at).is_some_and(|s| s.name.starts_with(prefix));
        if !named(address, ".plt") {
            return address;
        }
        let bytes = bytes_at(read, address, program.elf.cpu.max_instruction);
        let jump = program.decoder.decode(address, &bytes).ok().and_then(|it| it.ops.last().cloned());
        let slot = jump.filter(|op| op.op == OpCode::BranchIndirect && op.inputs[0].space == Space::Memory).map(|op| op.inputs[0].offset);
        let Some(slot) = slot.filter(|slot| named(*slot, ".got")) else { return address };
        let word = word_at(read, slot);
        self.words.push((slot, word));
        word.unwrap_or(address)
    }

    fn tail(&mut self, places: &mut Places<'_, '_, '_>, tail: &Tail) {
        let Tail { from, to, block } = *tail;
        places.builder.start(block);
        places.forget();
        places.at(&self.program.elf, from);
        let done = match self.program.recognition.contains(to) {
            true => self.stand_in(places, to, 0),
            false => self.tell(places, to, 0).map(|()| {
                let on = self.block_of(places, Start { address: to, told: true });
                places.builder.jump_to(on);
            }),
        };
        if let Err(why) = done {
            places.builder.unsupported(&why.to_string());
        }
    }

    fn lower(&mut self, places: &mut Places<'_, '_, '_>, start: Start, block: BlockId, code: &mut Code<'_>, read: ReadBytes<'_>) {
        let (program, address) = (self.program, start.address);
        let begins = |at: u64| {
            let known = self.new.contains_key(&Start::at(at)) || self.before(Start::at(at)).is_some();
            known || program.recognition.contains(at) || program.told.contains(at)
        };
        places.builder.start(block);
        places.forget();
        if program.goes_back(address) {
            return program.go_back(places);
        }
        if program.recognition.contains(address) && !start.told {
            places.at(&program.elf, address);
            if let Err(why) = self.stand_in(places, address, call_flags::STANDS_IN) {
                places.builder.unsupported(&why.to_string());
            }
            return;
        }
        places.at(&program.elf, address);
        let told = if start.told { Ok(()) } else { self.tell(places, address, call_flags::STANDS_IN) };
        if let Err(why) = told {
            return places.builder.unsupported(&why.to_string());
        }
        let surroundings = program.surroundings();
        let mut lifted = Block::decode(code, address, &begins);
        anchor::mark(&mut lifted.instructions, &program.addressed_by, &program.variables);
        for it in &lifted.instructions {
            places.at(&program.elf, it.address);
            lift::instruction(&surroundings, places, it, &code.bytes(it.address), &mut |places, to| self.way(places, it, to, read));
        }
        if !places.builder.in_block() {
            return;
        }
        match lifted.broken {
            Some(why) => places.builder.unsupported(&why),
            None => {
                let next = self.block_of(places, Start::at(lifted.end));
                places.builder.jump_to(next);
            }
        }
    }

    /// Emits the observation that a function begins, if it is observed.
    fn tell(&self, places: &mut Places<'_, '_, '_>, address: u64, flags: u32) -> Result<(), MachineError> {
        let program = self.program;
        let Some(calls) = program.calls.filter(|_| program.told.contains(address)) else { return Ok(()) };
        if let Some(wanted) = program.told.tell(address, flags, &program.surroundings(), places)? {
            calls.stack.tell_return(places, program.stack_pointer, wanted);
        }
        places.end();
        Ok(())
    }

    /// A hooked function: the call of its model, and the return.
    fn stand_in(&mut self, places: &mut Places<'_, '_, '_>, address: u64, flags: u32) -> Result<(), MachineError> {
        let program = self.program;
        let s = program.surroundings();
        let returns = s.cpu.call.returns;
        let back = program.decoder.decode(0, returns)?;
        if let Some(is_own) = program.recognition.is_own_call(address, flags, places) {
            places.end();
            let (models, code) = (places.builder.block(), self.block_of(places, Start { address, told: true }));
            let (then, otherwise) = (places.builder.edge(models), places.builder.edge(code));
            places.builder.cond_br(is_own, then, otherwise);
            places.builder.start(models);
            places.forget();
            places.at(&program.elf, address);
        }
        program.recognition.call(address, flags, &s, places)?;
        places.end();
        lift::instruction(&s, places, &back, returns, &mut |places, to| self.block_of(places, Start::at(to)));
        Ok(())
    }
}
