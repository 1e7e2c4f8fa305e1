//! What the pointers of unoptimised code are derived from: variables in frames, arguments, constant addresses, new memory.
//!
//! A pointer that was derived from another one leads into the same object; arithmetic that leaves the object is a fault when the address is
//! used. Each verdict lists the assumption that pruned code has no such fault. So a store need not be taken for one to anywhere: it writes
//! the objects that the pointers lead to from which its address is derived.
//!
//! Only [`super::private`] variables count. A sum of a variable with a pointer's type and of a number is derived from the pointer, if the
//! number itself is computed from small constants alone: an offset that memory, a difference of addresses or an unknown call gave may lead
//! to any object, and such sums are not followed. Inside of a block registers are followed as well; the result of a call is followed into
//! the block after it. What a variable holds is the union of all that the way assigns to it, and of what it held where the way began. All
//! else may lead anywhere.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::Image;
use wryneck_exec::code::Code;
use wryneck_ir::{Inst, Op};

use super::code::{Called, Facts, Function};
use super::effects::{Effects, Memory};
use super::stores::{Distance, Through};
use super::values::{Value, Values};
use crate::flow::cfg::End;
use crate::flow::{BitSet, Cfg};
use crate::operand::slots_written;

/// What a pointer is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// What a [`Word`] holds where the way begins: bytes from the function's return address.
    Variable(i64),
    /// The register argument of this number, where the function begins.
    Argument(u32),
    Address(u64),
    /// Memory that the way allocates. Nothing else refers to it.
    New,
    /// The pointer may be at some distance from the other roots.
    Moved,
    /// The distance is computed from what the variable holds, or from the argument; so these have to come from constants.
    ByVariable(i64),
    ByArgument(u32),
}

impl Root {
    /// As a number that others are computed from; `None`: it may be an address.
    fn as_number(self) -> Option<Option<Root>> {
        match self {
            Root::Variable(k) | Root::ByVariable(k) => Some(Some(Root::ByVariable(k))),
            Root::Argument(number) | Root::ByArgument(number) => Some(Some(Root::ByArgument(number))),
            Root::Address(number) if number.min(number.wrapping_neg()) < LEAST_ADDRESS => Some(None),
            Root::Moved => Some(None),
            Root::Address(_) | Root::New => None,
        }
    }

    /// A pointer leads where this does.
    fn leads(&self) -> bool {
        matches!(self, Root::Variable(_) | Root::Argument(_) | Root::Address(_) | Root::New)
    }
}

/// The roots of a pointer, or of null; `None`: they are those of a number, which may lead anywhere as a pointer.
pub fn as_pointer(roots: &[Root]) -> Option<&[Root]> {
    (roots.is_empty() || roots.iter().any(Root::leads)).then_some(roots)
}

/// No program has an object below.
const LEAST_ADDRESS: u64 = 1 << 16;

/// Of several numbers: what a number that is computed from them depends on.
pub fn numbers(roots: impl IntoIterator<Item = Root>) -> Roots {
    let mut all = Vec::new();
    for root in roots {
        all.extend(root.as_number()?.filter(|root| !all.contains(root)));
    }
    Some(all)
}

/// A part of the frame that only the function's own instructions access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Bytes from the function's return address.
    pub at: i64,
    /// Bytes.
    pub len: i64,
    pub holds: Holds,
}

/// What a [`Word`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It is a variable of a pointer's type.
    Pointer,
    /// It is a variable of another type.
    Number,
    /// It is an intermediate result.
    Unknown,
}

/// What is known of a function's pointers.
#[derive(Default)]
pub struct Pointers {
    pub words: Vec<Word>,
    /// By block: the only one that leads to it.
    only_before: Vec<Option<u32>>,
    /// By block: a bit for each argument register that holds the argument there.
    arguments: Vec<u32>,
    pub(super) rows: RefCell<FxHashMap<u32, Rc<Row>>>,
    /// What the whole function assigns to its words.
    pub assigned: Assigned,
    /// What it returns.
    returned: Roots,
}

/// All that a pointer may be derived from; `None`: it may lead anywhere. Null is derived from nothing.
pub type Roots = Option<Vec<Root>>;

/// More are not followed.
const MOST: usize = 16;

/// Functions of the C library whose results lead to new memory, or are null.
const ALLOCATORS: [&str; 4] = ["malloc", "__libc_malloc", "calloc", "__libc_calloc"];

/// The pointers of a block.
#[derive(Default)]
pub struct Row {
    /// By operation: where a store leads whose address is not known otherwise.
    stores: FxHashMap<u32, Vec<Through>>,
    /// What the block stores to words.
    assigned: Vec<(i64, Roots)>,
    /// At its end: the argument registers and the register of results.
    arguments: Vec<Roots>,
    result: Roots,
}

impl Row {
    /// Where the store at an operation leads; `None`: anywhere, or it is known otherwise.
    pub fn store(&self, op: u32) -> Option<&[Through]> {
        self.stores.get(&op).map(Vec::as_slice)
    }

    pub fn argument(&self, number: u32) -> Option<&[Root]> {
        self.arguments.get(number as usize)?.as_deref()
    }
}

/// What is assigned to words, by their places.
pub type Assigned = FxHashMap<i64, Roots>;

/// Adds to roots; they may lead anywhere if there are too many.
pub fn join(all: &mut Roots, more: Option<&[Root]>) {
    let (Some(known), Some(more)) = (&mut *all, more) else {
        *all = None;
        return;
    };
    for root in more {
        if !known.contains(root) {
            known.push(*root);
        }
    }
    if known.len() > MOST {
        *all = None;
    }
}

/// The roots with what is assigned to their variables on the way.
pub fn with_assigned(roots: &[Root], assigned: &Assigned) -> Roots {
    let mut all = Some(roots.to_vec());
    let mut at = 0;
    while let Some(root) = all.as_ref()?.get(at).copied() {
        match root {
            Root::Variable(k) if let Some(more) = assigned.get(&k) => join(&mut all, more.as_deref().and_then(as_pointer)),
            Root::ByVariable(k) if let Some(more) = assigned.get(&k) => {
                let more = more.as_ref().and_then(|more| numbers(more.iter().copied()));
                join(&mut all, more.as_deref());
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// The roots of a function's pointers as its caller sees them, by the call's arguments.
pub fn of_caller(roots: &[Root], row: &Row) -> Roots {
    let mut all = Some(Vec::new());
    for root in roots {
        match root {
            Root::Argument(number) => join(&mut all, row.argument(*number).and_then(as_pointer)),
            Root::ByArgument(number) => {
                let number = row.argument(*number).and_then(|roots| numbers(roots.iter().copied()));
                join(&mut all, number.as_deref());
            }
            // It is gone.
            Root::Variable(_) | Root::ByVariable(_) => return None,
            root => join(&mut all, Some(&[*root])),
        }
    }
    all
}

/// Without variables: where a function begins they hold nothing.
pub fn is_from_the_beginning(root: Root) -> bool {
    !matches!(root, Root::Variable(_) | Root::ByVariable(_))
}

impl Facts {
    /// Finds the pointers of a function with these words.
    pub(super) fn find_pointers(&self, image: &Image, function: &mut Function, words: Vec<Word>) {
        function.pointers.words = words;
        if !function.pointers.words.is_empty() {
            function.pointers.only_before = only_before(&function.cfg);
            function.pointers.arguments = self.held_arguments(image, function);
        }
        let all: Vec<u32> = (0..function.blocks.len() as u32).collect();
        function.pointers.assigned = self.assigned(image, function, &all);
        function.pointers.returned = self.returned(image, function);
    }

    /// The pointers of a block of a function.
    pub fn row(&self, image: &Image, function: &Function, local: u32) -> Rc<Row> {
        if let Some(known) = function.pointers.rows.borrow().get(&local) {
            return known.clone();
        }
        let row = Rc::new(self.read_row(image, function, local));
        function.pointers.rows.borrow_mut().insert(local, row.clone());
        row
    }

    fn read_row(&self, image: &Image, function: &Function, local: u32) -> Row {
        let mut row = Row::default();
        let Some(registers) = self.registers.as_ref().filter(|_| !function.pointers.words.is_empty()) else { return row };
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let mut known = Known::default();
        let held = function.pointers.arguments.get(local as usize).copied().unwrap_or(0);
        let arguments = (0..).zip(&registers.arguments).filter(|(number, _)| held >> number & 1 != 0);
        known.pointers.extend(arguments.map(|(number, slot)| (*slot, Pointer::new(vec![Root::Argument(number)]))));
        if let Some(result) = self.result_before(image, function, local) {
            known.pointers.insert(registers.result, Pointer { distance: Distance::UNKNOWN, ..Pointer::new(result) });
        }
        let mut values = function.values[local as usize].clone();
        let record = &function.cfg.blocks[local as usize];
        for op in record.ops.clone() {
            let inst = self.inst(image, op);
            if inst.operator() == Some(Op::Store) {
                match values.get(code, inst.a) {
                    Some(Value::Frame(k)) => {
                        let bytes = i64::from(inst.width.div_ceil(8));
                        let meets = |word: &&Word| k < word.at + word.len && word.at < k + bytes;
                        for Word { at, len, .. } in function.pointers.words.iter().filter(meets) {
                            let whole = *at == k && bytes == *len;
                            row.assigned.push((*at, known.roots(code, &values, inst.b).filter(|_| whole)));
                        }
                    }
                    None => row.stores.extend(known.pointers.get(&inst.a).filter(|to| to.roots.iter().any(Root::leads)).map(|to| {
                        let value = known.roots(code, &values, inst.b).filter(|_| inst.width == 64);
                        let new = value.is_some_and(|roots| roots.iter().all(|root| matches!(root, Root::New | Root::Moved)));
                        let through =
                            |root: &Root| Through { root: *root, distance: to.distance, len: u64::from(inst.width.div_ceil(8)), new };
                        (op, to.roots.iter().map(through).collect())
                    })),
                    Some(_) => {}
                }
            }
            known.pass(module, code, &inst, &values, &function.pointers.words);
            values.pass(module, code, &inst, &self.layout, &function.saves);
        }
        row.arguments = registers.arguments.iter().map(|slot| known.roots(code, &values, *slot)).collect();
        row.result = known.roots(code, &values, registers.result);
        row
    }

    /// By block: a bit for each argument register that still holds the argument where the block begins.
    fn held_arguments(&self, image: &Image, function: &Function) -> Vec<u32> {
        let mut held = vec![u32::MAX; function.cfg.blocks.len()];
        let Some(registers) = &self.registers else { return vec![0; held.len()] };
        let module = image.function(self.func).0;
        let keeps = |local: usize| {
            if function.calls.contains_key(&function.blocks[local]) {
                return 0;
            }
            let ops = function.cfg.blocks[local].ops.clone();
            let written: BitSet = ops.flat_map(|op| slots_written(module, &self.inst(image, op))).collect();
            let numbers = (0u32..).zip(&registers.arguments).filter(|(_, slot)| !written.contains(**slot));
            numbers.fold(0, |bits, (number, _)| bits | 1 << number)
        };
        let mut todo = vec![0usize];
        let mut reached = vec![false; held.len()];
        while let Some(at) = todo.pop() {
            reached[at] = true;
            let after = held[at] & keeps(at);
            for (_, to) in &function.cfg.blocks[at].edges {
                let to = *to as usize;
                // The beginning is where the function's caller leads, too.
                let less = held[to] & after;
                if less != held[to] || !reached[to] {
                    held[to] = less;
                    todo.push(to);
                }
            }
        }
        held
    }

    /// What a call returned, if nothing but the call leads to this block.
    fn result_before(&self, image: &Image, function: &Function, local: u32) -> Roots {
        let before = function.pointers.only_before.get(local as usize).copied().flatten()?;
        let Called { callee, .. } = function.calls.get(&function.blocks[before as usize])?;
        let callee = (*callee)?;
        let names = self.source.borrow().names_of(callee);
        if names.iter().any(|(name, library)| *library && ALLOCATORS.contains(&name.as_str())) {
            return Some(vec![Root::New]);
        }
        let returned = self.functions.get(&callee)?.pointers.returned.as_ref()?;
        of_caller(returned, &self.row(image, function, before))
    }

    /// What these blocks of a function assign to its private pointers.
    pub(super) fn assigned(&self, image: &Image, function: &Function, blocks: &[u32]) -> Assigned {
        let mut all = Assigned::default();
        if function.pointers.words.is_empty() {
            return all;
        }
        for block in blocks {
            for (k, roots) in &self.row(image, function, *block).assigned {
                join(all.entry(*k).or_insert_with(|| Some(Vec::new())), roots.as_deref());
            }
        }
        all
    }

    /// What a function returns is derived from, for its callers.
    fn returned(&self, image: &Image, function: &Function) -> Roots {
        let mut all = Some(Vec::new());
        let (mut returns, blocks) = (false, (0..).zip(&function.cfg.blocks));
        for (local, _) in blocks.filter(|(_, block)| block.end == Some(End::Return)) {
            returns = true;
            let result =
                self.row(image, function, local).result.as_deref().and_then(|roots| with_assigned(roots, &function.pointers.assigned));
            join(&mut all, result.as_deref());
        }
        let mut all = all.filter(|_| returns)?;
        all.retain(|root| is_from_the_beginning(*root));
        Some(all)
    }

    /// Whether each call of a function by itself passes these arguments on as they are.
    pub(super) fn passes_on(&self, image: &Image, function: &Function, effects: &Effects) -> bool {
        let arguments = || effects.changes.arguments().chain(effects.at_exit.arguments());
        let calls = (0..).zip(&function.blocks).filter(|(_, block)| {
            let called = function.calls.get(block);
            called.is_some_and(|called| called.callee == Some(function.entry))
        });
        calls.into_iter().all(|(local, _)| {
            let row = self.row(image, function, local);
            arguments().all(|argument| {
                let roots = of_caller(&[argument], &row).and_then(|roots| with_assigned(&roots, &function.pointers.assigned));
                roots.is_some_and(|mut roots| {
                    roots.retain(|root| is_from_the_beginning(*root));
                    roots.iter().all(|root| *root == argument)
                })
            })
        })
    }

    /// The changes of a way, with what it assigns to the variables that its stores go through.
    pub(super) fn follow(&self, changes: &mut Memory, assigned: &Assigned) {
        if !changes.through.is_empty() {
            let through = std::mem::take(&mut changes.through);
            for store in through {
                // What a variable holds that the way assigns to is at an unknown distance from what it held before.
                let is_assigned = matches!(store.root, Root::Variable(k) | Root::ByVariable(k) if assigned.contains_key(&k));
                match with_assigned(&[store.root], assigned) {
                    Some(roots) if is_assigned => changes.write_through(roots.into_iter().map(|root| store.by(root))),
                    Some(_) => changes.write_through([store]),
                    None => {
                        changes.go_anywhere();
                        break;
                    }
                }
            }
        }
        if !changes.formats.is_empty() {
            match with_assigned(&changes.formats, assigned) {
                Some(formats) => changes.formats = formats,
                None => changes.take_formats(&self.layout.format(None)),
            }
        }
    }

    /// Without arguments: what is written through them may be anything.
    pub(super) fn forget_arguments(&self, changes: &mut Memory) {
        let is_argument = |root: &Root| matches!(root, Root::Argument(_) | Root::ByArgument(_));
        if changes.through.iter().any(|store| is_argument(&store.root)) {
            changes.go_anywhere();
        }
        if changes.formats.iter().any(is_argument) {
            changes.take_formats(&self.layout.format(None));
        }
    }

    /// The changes of a called function, by the arguments of the block that ends with the call.
    pub(super) fn for_caller(&self, changes: &mut Memory, row: &Row) {
        let through = std::mem::take(&mut changes.through);
        for store in through {
            match of_caller(&[store.root], row) {
                Some(roots) => changes.write_through(roots.into_iter().map(|root| store.by(root))),
                None => changes.go_anywhere(),
            }
        }
        let formats = std::mem::take(&mut changes.formats);
        match of_caller(&formats, row) {
            Some(formats) => changes.formats = formats,
            None => changes.take_formats(&self.layout.format(None)),
        }
    }
}

/// By block: the only one that leads to it, if there is one.
fn only_before(cfg: &Cfg) -> Vec<Option<u32>> {
    let mut found = vec![(0, None); cfg.blocks.len()];
    for (block, record) in (0..).zip(&cfg.blocks) {
        for (_, to) in &record.edges {
            let (count, before) = &mut found[*to as usize];
            (*count, *before) = (*count + 1, Some(block));
        }
    }
    found.into_iter().map(|(count, before)| before.filter(|_| count == 1)).collect()
}

/// A pointer in a register.
#[derive(Clone)]
struct Pointer {
    roots: Vec<Root>,
    /// From its root, if there is only one.
    distance: Distance,
}

impl Pointer {
    fn new(roots: Vec<Root>) -> Pointer {
        Pointer { distance: if roots.len() == 1 { Distance::NONE } else { Distance::UNKNOWN }, roots }
    }
}

/// What is known of registers, at a point of a block.
#[derive(Default)]
struct Known {
    pointers: FxHashMap<u32, Pointer>,
    /// Multiples of powers of two, by the logarithm.
    multiples: FxHashMap<u32, u32>,
}

impl Known {
    /// What the pointer in a slot is derived from.
    fn roots(&self, code: &Code, values: &Values, slot: u32) -> Roots {
        match (self.pointers.get(&slot), values.get(code, slot)) {
            (Some(pointer), _) => {
                let moved = (pointer.distance != Distance::NONE).then_some(Root::Moved);
                Some(pointer.roots.iter().copied().filter(|root| *root != Root::Moved).chain(moved).collect())
            }
            (None, Some(Value::Number(0))) => Some(Vec::new()),
            (None, Some(Value::Number(address))) => Some(vec![Root::Address(address)]),
            (None, _) => None,
        }
    }

    fn pass(&mut self, module: &wryneck_ir::Module, code: &Code, inst: &Inst, values: &Values, words: &[Word]) {
        // Arguments are not known to be pointers until a variable of such a type holds them, nor are intermediate results.
        let is_pointer = |root: &Root| match root {
            Root::Variable(k) => words.iter().any(|word| word.at == *k && word.holds == Holds::Pointer),
            Root::New | Root::Moved | Root::ByVariable(_) | Root::ByArgument(_) => true,
            Root::Argument(_) | Root::Address(_) => false,
        };
        let pointer = |slot: u32| {
            let pointer = self.pointers.get(&slot);
            pointer.filter(|pointer| pointer.roots.iter().any(Root::leads) && pointer.roots.iter().all(is_pointer))
        };
        let number = |slot: u32| match values.get(code, slot) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let computed = |slots: &[u32]| -> Roots {
            let all: Option<Vec<_>> = slots.iter().map(|slot| self.roots(code, values, *slot)).collect();
            numbers(all?.into_iter().flatten())
        };
        let sum = |base: u32, more: u32| {
            let base = pointer(base)?;
            let distance = match number(more) {
                Some(number) => base.distance.and(number),
                None => base.distance.and_multiple(self.multiples.get(&more).copied().unwrap_or(0)),
            };
            let roots = base.roots.iter().copied().chain(computed(&[more])?);
            Some(Pointer { distance, roots: roots.collect() })
        };
        let whole = inst.width == 64;
        let of_number = |slots: &[u32]| Some(Pointer { roots: computed(slots)?, distance: Distance::UNKNOWN });
        let result = match inst.operator() {
            Some(Op::Load) => match values.get(code, inst.a) {
                Some(Value::Frame(k)) => {
                    let word = words.iter().find(|word| word.at == k && word.len * 8 == i64::from(inst.width));
                    word.map(|word| match word.holds {
                        Holds::Number => Pointer::new(vec![Root::ByVariable(k)]),
                        Holds::Pointer | Holds::Unknown => Pointer::new(vec![Root::Variable(k)]),
                    })
                }
                _ => None,
            },
            Some(Op::Copy) if whole => self.pointers.get(&inst.a).cloned(),
            Some(Op::Anchor) => self.pointers.get(&inst.a).cloned(),
            Some(Op::Add) if whole && pointer(inst.a).is_some() => sum(inst.a, inst.b),
            Some(Op::Add) if whole && pointer(inst.b).is_some() => sum(inst.b, inst.a),
            Some(Op::Sub) if whole && pointer(inst.a).is_some() => pointer(inst.a)
                .zip(number(inst.b))
                .map(|(base, number)| Pointer { distance: base.distance.and(number.wrapping_neg()), ..base.clone() }),
            Some(Op::Copy) if inst.width <= 64 => of_number(&[inst.a]),
            // From a value of `c` bits.
            Some(Op::Zext | Op::Sext | Op::Trunc | Op::Extract) if inst.width <= 64 && inst.c <= 64 => of_number(&[inst.a]),
            Some(
                Op::Add
                | Op::Sub
                | Op::Mul
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::Shl
                | Op::Lshr
                | Op::Ashr
                | Op::Udiv
                | Op::Urem
                | Op::Sdiv
                | Op::Srem
                | Op::Concat,
            ) if inst.width <= 64 => of_number(&[inst.a, inst.b]),
            _ => None,
        };
        let multiple = match inst.operator() {
            Some(Op::Shl) if whole => number(inst.b).and_then(|count| u32::try_from(count).ok()).filter(|count| *count < 64),
            Some(Op::Mul) if whole => number(inst.a).or_else(|| number(inst.b)).map(|factor| factor.trailing_zeros().min(63)),
            Some(Op::Copy) if whole => self.multiples.get(&inst.a).copied(),
            _ => None,
        };
        let mut written = slots_written(module, inst);
        for slot in written.clone() {
            self.pointers.remove(&slot);
            self.multiples.remove(&slot);
        }
        if let Some(slot) = written.next() {
            self.pointers.extend(result.map(|pointer| (slot, pointer)));
            self.multiples.extend(multiple.map(|log| (slot, log)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_what_the_way_assigns_and_what_they_were() {
        let assigned: Assigned =
            [(-8, Some(vec![Root::Variable(-16), Root::New])), (-16, Some(vec![Root::Argument(1), Root::Variable(-8)])), (-24, None)]
                .into_iter()
                .collect();
        let found = with_assigned(&[Root::Variable(-8)], &assigned);
        assert_eq!(found, Some(vec![Root::Variable(-8), Root::Variable(-16), Root::New, Root::Argument(1)]));
        assert_eq!(with_assigned(&[Root::Variable(-24)], &assigned), None);
        assert_eq!(with_assigned(&[Root::Variable(-32)], &assigned), Some(vec![Root::Variable(-32)]));
    }

    #[test]
    fn callers_see_their_arguments() {
        let row = Row { arguments: vec![None, Some(vec![Root::Variable(-8)])], ..Row::default() };
        assert_eq!(of_caller(&[Root::Argument(1), Root::New], &row), Some(vec![Root::Variable(-8), Root::New]));
        assert_eq!(of_caller(&[Root::Argument(0)], &row), None);
        assert_eq!(of_caller(&[Root::Argument(7)], &row), None);
    }
}
