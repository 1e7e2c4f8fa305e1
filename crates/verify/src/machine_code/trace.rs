//! The calls of a recorded path of machine code: which steps entered a function, and which returned from it.
//!
//! The trace has one frame for all machine code. One pass over its steps finds the calls by the operations that end blocks with calls and
//! returns. It starts with the calls in progress when recording began.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use wryneck_exec::{Step, Traced, TracedCall};
use wryneck_ir::{Op, Transfer};

use super::code::Facts;
use crate::slice::walk::Mismatch;

/// A call of the path.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    /// The first block of the called function, if known.
    pub entry: Option<u32>,
    /// The first block of the function in which the call ended, if it jumped there through a pointer.
    pub last: Option<u32>,
    /// The stack address of its return address; 0: unknown.
    pub base: u64,
    /// The block that ends with the call; `None` for the program's start.
    pub site: Option<u32>,
    /// Its register arguments, and the step that made it, if recorded.
    pub made: Option<TracedCall>,
}

/// What a step at the end of a block did.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    /// It called a function.
    Call,
    /// It returned from this call.
    Return(u32),
    /// It called a function through a pointer in tail position. The block is the first one of the jumping function.
    Tail(Option<u32>),
}

/// The calls of a path.
pub struct Calls {
    pub all: Vec<Activation>,
    pub moves: FxHashMap<usize, Move>,
    /// The calls in progress at the end, outermost first.
    pub end: Vec<u32>,
    words: OnceCell<Words>,
}

/// By address, a multiple of a word's bytes: the words that were there after so many steps, in order. `None`: something else was stored.
type Words = FxHashMap<u64, Vec<(u32, Option<u64>)>>;

/// Bytes of a word.
const WORD: u64 = 8;

/// Functions that unwind calls without returning from them.
const JUMPS_FAR: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__libc_longjmp"];

impl Calls {
    pub fn find(facts: &mut Facts, path: &Traced<'_>) -> Result<Calls, Mismatch> {
        let (image, trace) = (path.image, path.trace);
        let mut all = vec![Activation { entry: None, last: None, base: 0, site: None, made: None }];
        let mut stack = vec![0u32];
        for active in &trace.active {
            let direct = active.block.and_then(|block| facts.called(image, block)).and_then(|called| called.callee);
            stack.push(all.len() as u32);
            all.push(Activation { entry: direct, last: None, base: active.base, site: active.block, made: None });
        }
        // Frames of the IR above the frame of machine code.
        let machine = trace.frames.iter().position(|frame| frame.func == facts.func);
        let Some(machine) = machine.map(|number| number as u32) else { return Err(Mismatch("a path without machine code")) };
        // Functions that are called through pointers are identified by their address.
        let here = (machine < trace.open).then(|| facts.block_of(trace.frames[machine as usize].op));
        for at in 1..all.len() {
            let Some(block) = all.get(at + 1).map_or(here, |inner| inner.site) else { continue };
            match all[at].entry {
                Some(entry) if facts.summary(entry).is_some() || facts.function(image, entry).local(block).is_some() => {}
                // It has continued in another function.
                Some(_) => all[at].last = facts.around(image, block).map(|function| function.entry),
                None => all[at].entry = facts.around(image, block).map(|function| function.entry),
            }
        }
        let mut calls = Calls { all, moves: FxHashMap::default(), end: Vec::new(), words: OnceCell::new() };
        let made: FxHashMap<usize, &TracedCall> = trace.calls.iter().map(|call| (call.step as usize, call)).collect();
        let (mut depth, mut running) = (0usize, machine < trace.open);
        if running {
            depth = (trace.open - 1 - machine) as usize;
        }
        for (at, step) in trace.steps.iter().enumerate() {
            match *step {
                Step::Enter { frame } if frame == machine => running = true,
                Step::Enter { .. } if running => depth += 1,
                Step::Leave { .. } if running => depth = depth.saturating_sub(1),
                Step::Edge { .. } | Step::Jump { .. } if running && depth == 0 => {
                    if let Step::Jump { target, .. } = *step
                        && jumps_far(facts, facts.block_of(target))
                    {
                        return Err(Mismatch("a long jump"));
                    }
                    if let Some(call) = made.get(&at) {
                        calls.call(facts, path, at, step, **call, &mut stack)?;
                    } else if let Step::Jump { op, .. } = *step
                        && facts.transfer(facts.block_of(op)) == Transfer::Return
                    {
                        // A call in progress when recording began is identified by where it returns from.
                        let callee = match stack.pop() {
                            Some(callee) if !stack.is_empty() => callee,
                            _ => return Err(Mismatch("a return without a call")),
                        };
                        let entry = &mut calls.all[callee as usize].entry;
                        *entry = entry.or_else(|| facts.around(image, facts.block_of(op)).map(|function| function.entry));
                        calls.moves.insert(at, Move::Return(callee));
                    } else if let Step::Jump { op, target } = *step
                        && facts.transfer(facts.block_of(op)) == Transfer::Inside
                        && facts.begins_function(facts.block_of(target))
                        && let Some(top) = stack.last()
                    {
                        let top = &mut calls.all[*top as usize];
                        calls.moves.insert(at, Move::Tail(top.last.or(top.entry)));
                        top.last = Some(facts.block_of(target));
                    }
                }
                _ => {}
            }
        }
        calls.end = stack;
        Ok(calls)
    }

    /// The word that a call's variable holds before a step of the path, if the call stored it. No pointer leads to the variable.
    pub fn word(&self, path: &Traced<'_>, call: u32, address: u64, before: usize) -> Option<u64> {
        let made = self.all[call as usize].made.map_or(0, |made| made.step);
        let stored = self.words.get_or_init(|| words(path)).get(&address)?;
        let (after, word) = stored[..stored.partition_point(|(after, _)| *after as usize <= before)].last()?;
        word.filter(|_| *after >= made)
    }

    fn call(
        &mut self,
        facts: &mut Facts,
        path: &Traced<'_>,
        at: usize,
        step: &Step,
        call: TracedCall,
        stack: &mut Vec<u32>,
    ) -> Result<(), Mismatch> {
        let (module, function) = path.image.function(facts.func);
        let (op, entry) = match *step {
            Step::Edge { op, edge } => (op, facts.resolved(module.edges.range(function.edges)[edge as usize].block)),
            Step::Jump { op, target } => (op, Some(facts.block_of(target))),
            _ => return Err(Mismatch("a call by what is no branch")),
        };
        let entry = entry.ok_or(Mismatch("a call of what is not lowered"))?;
        if jumps_far(facts, entry) {
            return Err(Mismatch("a long jump"));
        }
        debug_assert!(matches!(facts.inst(path.image, op).operator(), Some(Op::Br | Op::Jump)));
        let callee = self.all.len() as u32;
        stack.push(callee);
        self.moves.insert(at, Move::Call);
        self.all.push(Activation { entry: Some(entry), last: None, base: call.base, site: Some(facts.block_of(op)), made: Some(call) });
        Ok(())
    }
}

/// The words that a path stores. Longer writes are left out: they do not reach variables that no pointer leads to.
fn words(path: &Traced<'_>) -> Words {
    let mut words: Words = path.trace.held.iter().map(|(address, word)| (*address, vec![(0, Some(*word))])).collect();
    let mut known = path.trace.words.iter().peekable();
    for (at, step) in (0u32..).zip(&path.trace.steps) {
        let (address, bytes) = match *step {
            Step::Store { address, bytes, .. } => (address, u64::from(bytes)),
            Step::Write { address, len } => (address, u64::from(len)),
            _ => continue,
        };
        let word = known.next_if(|(step, _)| *step == at).map(|(_, word)| *word);
        match word {
            Some(word) if address % WORD == 0 => words.entry(address).or_default().push((at + 1, Some(word))),
            _ if bytes <= WORD => {
                let first = address - address % WORD;
                for part in [first, first + WORD].into_iter().filter(|part| *part < address + bytes) {
                    if let Some(there) = words.get_mut(&part) {
                        there.push((at + 1, None));
                    }
                }
            }
            _ => {}
        }
    }
    words
}

fn jumps_far(facts: &Facts, block: u32) -> bool {
    facts.source.borrow().names_of(block).iter().any(|(name, library)| *library && JUMPS_FAR.contains(&name.as_str()))
}
