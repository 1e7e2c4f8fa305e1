//! Functions of machine code, recovered from the lifted blocks on first need: blocks, calls, post-dominators, effects.
//!
//! A function is what its entry reaches without going into calls. A jump to another function's code makes that code part of it. Effects
//! are closed over direct calls, by strongly connected components of the call graph. A call through a pointer may do anything.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::code::Callee;
use wryneck_exec::machine_code::MachineCode;
use wryneck_exec::{Image, State, places};
use wryneck_ir::{CodeSource, Inst, Op, Transfer, call_flags};

use super::effects::{Effects, Memory};
use super::layout::Layout;
use super::pointers::{Pointers, is_from_the_beginning};
use super::private::Private;
use super::values::{Saves, Value, Values};
use crate::flow::cfg::{Block, End};
use crate::flow::{BitSet, Cfg, Grows, Summaries, Summary, components};
use crate::operand::slots_written;

/// The number of edges that the IR does not have: from a call to its return address, and to the target of a block that only jumps.
pub const BEYOND: u32 = u32::MAX;

/// The slots of the calling convention's registers.
pub struct Registers {
    pub arguments: Vec<u32>,
    pub result: u32,
    /// The second word of a result, and floating-point results.
    pub second: u32,
    pub float_results: Vec<u32>,
    /// The arguments that are floating-point numbers, and how many of them a variadic call has.
    pub floats: Vec<Vec<u32>>,
    pub count_of_floats: u32,
    pub stack_pointer: u32,
    pub thread: u32,
    /// The slots that calls may change, and those that they preserve.
    pub clobbered: BitSet,
    pub saved: Vec<u32>,
}

impl Registers {
    /// Whether a call preserves a slot.
    pub(super) fn stays(&self, slot: u32) -> bool {
        slot == self.thread || !self.clobbered.contains(slot)
    }
}

/// A call that ends a block.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// The block of the function it calls; `None`: through a pointer.
    pub callee: Option<u32>,
    /// The block it returns to.
    pub back: Option<u32>,
}

/// A recovered function, by the numbers of its blocks in the machine code function.
pub struct Function {
    pub entry: u32,
    /// By local number: the block, and the known values at its beginning.
    pub blocks: Vec<u32>,
    pub(super) values: Vec<Values>,
    pub(super) saves: Saves,
    /// Ranges of its frame that no pointer leads to, as distances from its return address, ascending.
    pub private: Vec<(i64, i64)>,
    pub(super) pointers: Pointers,
    local: FxHashMap<u32, u32>,
    pub cfg: Cfg,
    pub(super) calls: FxHashMap<u32, Called>,
    /// The effects of a call of it.
    pub whole: Effects,
    /// What it may write on paths that never return.
    ends: Memory,
    pub(super) done: RefCell<FxHashMap<u32, Rc<Effects>>>,
    /// By block: for each operation, a bit for each of its operands whose value is known.
    pub(super) known: RefCell<FxHashMap<u32, Rc<Vec<u8>>>>,
    pub(super) sides: RefCell<FxHashMap<(u32, u32), Rc<Effects>>>,
    pub(super) rests: RefCell<FxHashMap<u32, Rc<Effects>>>,
}

impl Function {
    pub fn local(&self, block: u32) -> Option<u32> {
        self.local.get(&block).copied()
    }

    /// By block: its immediate post-dominator.
    pub fn join(&self, block: u32) -> Option<u32> {
        self.cfg.join(self.local(block)?).map(|join| self.blocks[join as usize])
    }
}

/// The recovered functions of the program's machine code.
pub struct Facts {
    pub source: Rc<RefCell<dyn CodeSource>>,
    pub summaries: Summaries,
    pub(super) inside_libraries: bool,
    /// The program may have functions of its own called at exit.
    pub event_at_exit: bool,
    pub func: u32,
    /// The number of slots of the machine code function.
    pub(super) slots: u32,
    /// First operations of blocks, ascending, with the blocks.
    order: Vec<(u32, u32)>,
    pub registers: Option<Registers>,
    pub(super) functions: FxHashMap<u32, Rc<Function>>,
    /// By block: a function that it is part of.
    owner: FxHashMap<u32, u32>,
    pub(super) summarised: FxHashMap<u32, Option<Rc<Summary>>>,
    pub layout: Layout,
}

const EXIT: &str = "exit";

/// Functions that register others to be called at exit.
const AT_EXIT: [&str; 4] = ["atexit", "on_exit", "__cxa_atexit", "at_quick_exit"];

impl Facts {
    pub fn new(source: Rc<RefCell<dyn CodeSource>>, summaries: Summaries, inside_libraries: bool) -> Facts {
        let (stack, event_at_exit) = (source.borrow().stack(), source.borrow().has_destructors());
        Facts {
            source,
            summaries,
            inside_libraries,
            event_at_exit,
            func: 0,
            slots: 0,
            order: Vec::new(),
            registers: None,
            functions: FxHashMap::default(),
            owner: FxHashMap::default(),
            summarised: FxHashMap::default(),
            layout: Layout::of(stack),
        }
    }

    /// Adds the blocks that were lifted since the last call.
    pub fn grow(&mut self, image: &Image, state: &State) {
        self.layout.find(&*self.source.borrow(), state);
        let Some(MachineCode { func, code, .. }) = image.machine_code() else { return };
        let (module, function) = image.function(*func);
        let records = module.blocks.range(function.blocks);
        (self.func, self.slots) = (*func, code.slots);
        if records.len() > self.order.len() {
            self.order = (0..).zip(records).map(|(block, record)| (record.insts.first - code.first_inst, block)).collect();
            self.order.sort_unstable();
        }
        let first = code.consts.len() as u32;
        let slot = |limb: &usize| first + *limb as u32;
        self.registers = self.source.borrow().convention().map(|convention| {
            let saved: FxHashSet<u32> = convention.saved.iter().map(slot).collect();
            Registers {
                arguments: convention.arguments.iter().map(slot).collect(),
                result: slot(&convention.result),
                second: slot(&convention.second),
                float_results: convention.float_results.iter().map(slot).collect(),
                floats: convention.floats.iter().map(|limbs| limbs.iter().map(slot).collect()).collect(),
                count_of_floats: slot(&convention.count_of_floats),
                stack_pointer: slot(&convention.stack_pointer),
                thread: slot(&convention.thread),
                clobbered: (first..code.slots).filter(|slot| !saved.contains(slot)).collect(),
                saved: convention.saved.iter().map(slot).collect(),
            }
        });
        let calls = self.source.borrow().call_blocks();
        self.event_at_exit = self.event_at_exit || calls.into_iter().any(|block| self.registers_at_exit(image, block));
    }

    /// Whether the call that ends a block registers a function of the program to be called at exit.
    fn registers_at_exit(&self, image: &Image, block: u32) -> bool {
        !places::in_library(image, places::end_of(image, self.func, block))
            && self.called(image, block).and_then(|called| called.callee).is_some_and(|callee| {
                // A stub of the linker may jump anywhere.
                let last = self.inst(image, self.ops(image, callee).end - 1);
                let stub = last.operator() == Some(Op::Jump) && self.transfer(callee) == Transfer::Inside;
                stub || self.registers_functions(callee)
            })
    }

    /// Whether a function begins with a block that registers others to be called at exit.
    pub(super) fn registers_functions(&self, block: u32) -> bool {
        self.source.borrow().names_of(block).iter().any(|(name, library)| *library && AT_EXIT.contains(&name.as_str()))
    }

    /// The block that an operation lies in.
    pub fn block_of(&self, op: u32) -> u32 {
        let behind = self.order.partition_point(|(first, _)| *first <= op);
        self.order.get(behind.saturating_sub(1)).map_or(0, |(_, block)| *block)
    }

    /// The operations of a block.
    pub fn ops(&self, image: &Image, block: u32) -> std::ops::Range<u32> {
        let (module, function) = image.function(self.func);
        let insts = module.blocks.range(function.blocks)[block as usize].insts;
        let first = insts.first - image.code(self.func).first_inst;
        first..first + insts.count
    }

    pub fn inst(&self, image: &Image, op: u32) -> Inst {
        image.function(self.func).0.insts[(image.code(self.func).first_inst + op) as usize]
    }

    /// How control leaves a block.
    pub fn transfer(&self, block: u32) -> Transfer {
        self.source.borrow().transfer(block)
    }

    /// Whether a block is part of a return and comes after the return instruction. Such a block changes no register.
    pub fn ends_return(&self, image: &Image, block: u32) -> bool {
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let registers = code.consts.len() as u32..code.consts.len() as u32 + code.param_slots;
        let changes = |op: u32| slots_written(module, &self.inst(image, op)).any(|slot| registers.contains(&slot));
        self.transfer(block) == Transfer::Return && !self.ops(image, block).any(changes)
    }

    /// The block that a branch to this one reaches, past blocks that only jump; `None`: it is not lifted.
    pub fn resolved(&self, block: u32) -> Option<u32> {
        match self.transfer(block) {
            Transfer::To(address) => self.source.borrow().block_of(address),
            Transfer::Inside | Transfer::Call { .. } | Transfer::Return => Some(block),
        }
    }

    /// The call that ends a block, if one does.
    pub fn called(&self, image: &Image, block: u32) -> Option<Called> {
        let Transfer::Call { back, .. } = self.transfer(block) else { return None };
        let last = self.inst(image, self.ops(image, block).end - 1);
        let (module, function) = image.function(self.func);
        let direct = (last.operator() == Some(Op::Br)).then(|| module.edges.range(function.edges)[last.a as usize].block);
        Some(Called { callee: direct.and_then(|block| self.resolved(block)), back: self.source.borrow().block_of(back) })
    }

    /// The summary of the function that begins with a block: of the C library, or given by the user.
    pub fn summary(&mut self, entry: u32) -> Option<Rc<Summary>> {
        if let Some(known) = self.summarised.get(&entry) {
            return known.clone();
        }
        let names = self.source.borrow().names_of(entry);
        let found = names.iter().find_map(|(name, library)| match library {
            true if name == EXIT => None,
            true => self.summaries.external(name),
            false => self.summaries.of_program(name),
        });
        let found = found.cloned().map(Rc::new);
        self.summarised.insert(entry, found.clone());
        found
    }

    /// The summary of a call of the function that begins with a block, by its arguments.
    pub fn summary_of_call(&mut self, entry: u32, argument: &dyn Fn(u32) -> Option<Value>) -> Option<Rc<Summary>> {
        let all = self.summary(entry)?;
        let of_command = match argument(1) {
            Some(Value::Number(command)) => all.of_command(command).cloned().map(Rc::new),
            _ => None,
        };
        Some(of_command.unwrap_or(all))
    }

    /// Whether a function is the program's own, by the block that it begins with.
    pub fn of_program(&self, entry: u32) -> bool {
        !self.source.borrow().names_of(entry).iter().any(|(_, library)| *library)
    }

    /// Whether a function with a format is a `vprintf`, whose arguments are in a list, not in registers.
    pub fn takes_list(&self, entry: u32) -> bool {
        let after = |name: &str| name.trim_start_matches("__").trim_start_matches("isoc99_").starts_with('v');
        self.source.borrow().names_of(entry).iter().any(|(name, library)| *library && after(name))
    }

    /// Whether C's `exit` begins with a block. All paths that end the program normally pass it.
    pub fn is_exit(&self, entry: u32) -> bool {
        self.source.borrow().names_of(entry).iter().any(|(name, library)| *library && name == EXIT)
    }

    /// Whether the program's `main` begins with a block.
    pub fn is_main(&self, entry: u32) -> bool {
        self.source.borrow().names_of(entry).iter().any(|(name, library)| !library && name == "main")
    }

    /// The function whose observed call a block stands for, if the block is the beginning of that function.
    fn announced(&self, image: &Image, block: u32) -> Option<Callee> {
        let (module, _) = image.function(self.func);
        self.ops(image, block).map(|op| self.inst(image, op)).find_map(|inst| {
            let call = (inst.operator() == Some(Op::Call)).then(|| &module.calls[inst.b as usize])?;
            (call.flags & call_flags::STANDS_IN != 0).then(|| image.callee_of(image.code(self.func).module, inst.a))?
        })
    }

    /// Whether a call that a block ends with, of the function at `callee`, may be an event.
    pub(super) fn is_event(&self, image: &Image, block: u32, callee: u32) -> bool {
        let counts = self.inside_libraries || !places::in_library(image, places::end_of(image, self.func, block));
        counts && self.announced(image, callee).is_some_and(|callee| image.is_watched(callee))
    }

    /// Whether a function that has a name begins with a block.
    pub fn begins_function(&self, block: u32) -> bool {
        !self.source.borrow().names_of(block).is_empty()
    }

    /// A function that a block is part of, if one is known.
    pub fn owner(&self, block: u32) -> Option<Rc<Function>> {
        self.functions.get(self.owner.get(&block)?).cloned()
    }

    /// A function that a block is part of. If none is known, the symbol around the block is used.
    pub fn around(&mut self, image: &Image, block: u32) -> Option<Rc<Function>> {
        self.owner(block).or_else(|| {
            let entry = self.source.borrow().entry_around(block)?;
            Some(self.function(image, entry)).filter(|function| function.local(block).is_some())
        })
    }

    /// The function that begins with a block.
    pub fn function(&mut self, image: &Image, entry: u32) -> Rc<Function> {
        if let Some(known) = self.functions.get(&entry) {
            return known.clone();
        }
        // Its callees first.
        let (mut found, mut callees): (Vec<u32>, Vec<Vec<u32>>) = (vec![entry], Vec::new());
        let mut number: FxHashMap<u32, u32> = [(entry, 0)].into_iter().collect();
        while let Some(&next) = found.get(callees.len()) {
            let mut calls = Vec::new();
            for callee in self.callees(image, next) {
                if self.functions.contains_key(&callee) || self.summary(callee).is_some() || self.is_exit(callee) {
                    continue;
                }
                let n = *number.entry(callee).or_insert_with(|| {
                    found.push(callee);
                    found.len() as u32 - 1
                });
                calls.push(n);
            }
            callees.push(calls);
        }
        for members in components(found.len(), [0], |node, edge| callees[node as usize].get(edge).copied()) {
            let recursive = members.len() > 1 || callees[members[0] as usize].contains(&members[0]);
            let mut functions: Vec<Function> = members.iter().map(|member| self.recover(image, found[*member as usize])).collect();
            if recursive {
                // The effects of calls inside of the component were not known yet.
                let mut all = Effects::default();
                functions.iter().for_each(|function| all.add(&function.whole));
                let mut written = all.changes.clone();
                functions.iter().for_each(|function| written.add(&function.ends));
                all.close(&written);
                // Arguments of inner calls are others, unless the function passes its own on.
                let same = functions.len() == 1 && self.passes_on(image, &functions[0], &all);
                if !same {
                    [&mut all.changes, &mut all.at_exit].into_iter().for_each(|changes| self.forget_arguments(changes));
                }
                for function in &mut functions {
                    function.whole = all.clone();
                    function.done.get_mut().clear();
                    // What it returned was taken for unknown inside of it.
                    function.pointers.rows.get_mut().clear();
                }
            }
            for function in functions {
                let entry = function.entry;
                function.blocks.iter().for_each(|block| _ = self.owner.entry(*block).or_insert(entry));
                self.functions.insert(entry, Rc::new(function));
            }
        }
        self.functions.get(&entry).cloned().expect("every member of a component was recovered")
    }

    /// The functions that are called directly from the blocks of the one that begins here.
    fn callees(&self, image: &Image, entry: u32) -> Vec<u32> {
        let (mut todo, mut seen, mut callees) = (vec![entry], FxHashSet::default(), Vec::new());
        while let Some(block) = todo.pop() {
            if !seen.insert(block) {
                continue;
            }
            if let Some(called) = self.called(image, block) {
                callees.extend(called.callee);
            }
            todo.extend(self.next(image, block, &mut |_| None).edges.iter().map(|(_, to)| *to));
        }
        callees.sort_unstable();
        callees.dedup();
        callees
    }

    /// The successors of a block in its function. `never` says how the program ends in a function that never returns.
    pub(super) fn next(&self, image: &Image, block: u32, never: &mut dyn FnMut(u32) -> Option<End>) -> Block {
        let ops = self.ops(image, block);
        let end = |end| Block { ops: ops.clone(), edges: Vec::new(), end: Some(end) };
        let to = |edges: Vec<(u32, u32)>| Block { ops: ops.clone(), edges, end: None };
        match self.transfer(block) {
            Transfer::Return => return end(End::Return),
            Transfer::To(_) => return self.resolved(block).map_or(end(End::Jump), |there| to(vec![(BEYOND, there)])),
            Transfer::Call { .. } => {
                let Some(called) = self.called(image, block) else { return end(End::Jump) };
                let stops = called.callee.and_then(never);
                return match (stops, called.back) {
                    (Some(stops), _) => end(stops),
                    (None, Some(back)) => to(vec![(BEYOND, back)]),
                    (None, None) => end(End::Jump),
                };
            }
            Transfer::Inside => {}
        }
        let (module, function) = image.function(self.func);
        let last = self.inst(image, ops.end - 1);
        let mut edges: Vec<u32> = match last.operator() {
            Some(Op::Br) => vec![last.a],
            Some(Op::CondBr) => vec![last.b, last.c],
            Some(Op::Jump) => return end(End::Jump),
            Some(Op::Unreachable | Op::Trap) => return end(End::Fault),
            Some(_) | None => return end(End::Leave),
        };
        edges.dedup();
        to(edges.into_iter().map(|edge| (edge, module.edges.range(function.edges)[edge as usize].block)).collect())
    }

    /// How the program ends in a function that never returns.
    fn never_returns(&mut self, entry: u32) -> Option<End> {
        match self.summary(entry) {
            None if self.is_exit(entry) => Some(End::Leave),
            Some(summary) => summary.never_returns.then_some(if summary.may_end { End::Leave } else { End::Fault }),
            None => self.functions.get(&entry).and_then(|function| function.cfg.never_returns()),
        }
    }

    /// Recovers a function whose callees outside of its own component are known.
    fn recover(&mut self, image: &Image, entry: u32) -> Function {
        let (mut blocks, mut local, mut records) = (vec![entry], FxHashMap::default(), Vec::new());
        local.insert(entry, 0u32);
        let mut calls = FxHashMap::default();
        while let Some(&block) = blocks.get(records.len()) {
            let called = self.called(image, block);
            let never = called.and_then(|called| called.callee).and_then(|callee| self.never_returns(callee));
            let mut record = self.next(image, block, &mut |_| never);
            for (_, to) in &mut record.edges {
                *to = *local.entry(*to).or_insert_with(|| {
                    blocks.push(*to);
                    blocks.len() as u32 - 1
                });
            }
            calls.extend(called.map(|called| (block, called)));
            records.push(record);
        }
        let cfg = Cfg::of(records);
        let mut values = self.values(image, &blocks, &cfg, &calls, &Saves::new());
        let saves = self.saves(image, &cfg, &values);
        if !saves.is_empty() {
            // What was saved is restored.
            values = self.values(image, &blocks, &cfg, &calls, &saves);
        }
        let mut function = Function {
            entry,
            blocks,
            values,
            saves,
            private: Vec::new(),
            pointers: Pointers::default(),
            local,
            cfg,
            calls,
            whole: Effects::default(),
            ends: Memory::default(),
            done: RefCell::default(),
            known: RefCell::default(),
            sides: RefCell::default(),
            rests: RefCell::default(),
        };
        let Private { ranges, words } = self.private(image, &function);
        function.private = ranges;
        self.find_pointers(image, &mut function, words);
        let reached: Vec<u32> = (0..function.blocks.len() as u32).collect();
        function.whole = self.on_ways(image, &function, &reached, &|block| function.cfg.returning(block));
        for block in reached.into_iter().filter(|block| !function.cfg.returning(*block)) {
            let effects = self.block(image, &function, block);
            function.ends.add(&effects.changes);
        }
        self.follow(&mut function.ends, &function.pointers.assigned);
        for changes in [&mut function.whole.changes, &mut function.whole.at_exit, &mut function.ends] {
            changes.through.retain(|store| is_from_the_beginning(store.root));
            changes.formats.retain(|root| is_from_the_beginning(*root));
        }
        function
    }
}
