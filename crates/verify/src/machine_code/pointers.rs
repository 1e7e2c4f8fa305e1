//! What the pointers of unoptimised code are derived from: variables in frames, arguments, constant addresses, new memory.
//!
//! A pointer that was derived from another one leads into the same object; arithmetic that leaves the object is a fault when the address is
//! used. Each verdict lists the assumption that pruned code has no such fault. So a store need not be taken for one to anywhere: it writes
//! the objects that the pointers lead to from which its address is derived.
//!
//! Only [`super::private`] variables count that debug information gives a pointer's type. A sum of such a pointer and an unknown number is
//! derived from the pointer. Differences, and sums of two pointers, are not followed. Inside of a block registers are followed as well; the
//! result of a call is followed into the block after it. What a variable holds is the union of all that the way assigns to it, and of what it
//! held where the way began. All else may lead anywhere.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::Image;
use wryneck_exec::code::Code;
use wryneck_ir::{Inst, Op};

use super::code::{Called, Facts, Function};
use super::effects::{Effects, Memory};
use super::values::{Value, Values};
use crate::flow::cfg::End;
use crate::flow::{BitSet, Cfg};
use crate::operand::slots_written;
use crate::slice::live::Live;

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
}

/// A word of the frame that only the function's own instructions access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Bytes from the function's return address.
    pub at: i64,
    /// It is a variable of a pointer's type, not an intermediate result.
    pub typed: bool,
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

/// How far a pointer may be from what it is derived from: the low bits of the distance are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Bytes.
    bytes: u64,
    /// So many bits are known; 64: all.
    bits: u32,
}

impl Distance {
    const NONE: Distance = Distance { bytes: 0, bits: 64 };
    pub const UNKNOWN: Distance = Distance { bytes: 0, bits: 0 };

    /// The low bits that are known.
    fn mask(self) -> u64 {
        u64::MAX.checked_shr(64 - self.bits).unwrap_or(0)
    }

    fn and(self, more: u64) -> Distance {
        Distance { bytes: self.bytes.wrapping_add(more) & self.mask(), bits: self.bits }
    }

    /// With a multiple of a power of two.
    fn and_multiple(self, log: u32) -> Distance {
        let less = Distance { bits: self.bits.min(log), ..self };
        Distance { bytes: less.bytes & less.mask(), ..less }
    }

    /// Whether an access of so many bytes may touch a byte, if what the pointer is derived from leads to `from`.
    fn meets(self, from: u64, len: u64, byte: u64) -> bool {
        byte.wrapping_sub(from).wrapping_sub(self.bytes) & self.mask() < len
    }
}

/// A store by a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    pub root: Root,
    pub distance: Distance,
    /// Bytes stored.
    pub len: u64,
    /// It stores a pointer to memory that the way allocates, or null.
    pub new: bool,
}

impl Through {
    /// By a pointer that is derived from this root, at an unknown distance.
    fn by(self, root: Root) -> Through {
        Through { root, distance: Distance::UNKNOWN, ..self }
    }

    /// Whether it may write something live in an object. The root leads to `from`, if that is known.
    pub fn touches(&self, live: &Live, from: Option<u64>, (address, len): (u64, u64)) -> bool {
        let Some(from) = from.filter(|_| self.distance.bits > 0) else { return live.is_live(address, len) };
        // A pointer to new memory may take the place of another one, but not of parts of two.
        let whole = self.new && self.distance.bits >= WORD.trailing_zeros() && from.wrapping_add(self.distance.bytes) % WORD == 0;
        let is_live = |address, len| if whole { live.has_value(address, len) } else { live.is_live(address, len) };
        is_live(address, len) && {
            let mut bytes = live.offsets(address, len).into_iter().map(|offset| address + offset);
            bytes.any(|byte| self.distance.meets(from, self.len, byte) && is_live(byte, 1))
        }
    }
}

/// Bytes of a pointer.
const WORD: u64 = 8;

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
        if let Root::Variable(k) = root
            && let Some(more) = assigned.get(&k)
        {
            join(&mut all, more.as_deref());
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
            Root::Argument(number) => join(&mut all, row.argument(*number)),
            // It is gone.
            Root::Variable(_) => return None,
            root => join(&mut all, Some(&[*root])),
        }
    }
    all
}

/// Without variables: where a function begins they hold nothing.
pub fn is_from_the_beginning(root: Root) -> bool {
    !matches!(root, Root::Variable(_))
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
                        for Word { at, .. } in function.pointers.words.iter().filter(|word| k < word.at + 8 && word.at < k + bytes) {
                            let whole = *at == k && bytes == 8;
                            row.assigned.push((*at, known.roots(code, &values, inst.b).filter(|_| whole)));
                        }
                    }
                    None => row.stores.extend(known.pointers.get(&inst.a).map(|to| {
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
        let numbers = || effects.changes.arguments().chain(effects.at_exit.arguments());
        let calls = (0..).zip(&function.blocks).filter(|(_, block)| {
            let called = function.calls.get(block);
            called.is_some_and(|called| called.callee == Some(function.entry))
        });
        calls.into_iter().all(|(local, _)| {
            let row = self.row(image, function, local);
            numbers().all(|number| {
                let roots = row.argument(number).and_then(|roots| with_assigned(roots, &function.pointers.assigned));
                roots.is_some_and(|mut roots| {
                    roots.retain(|root| is_from_the_beginning(*root));
                    roots.iter().all(|root| *root == Root::Argument(number))
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
                let is_assigned = matches!(store.root, Root::Variable(k) if assigned.contains_key(&k));
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
        let is_argument = |root: &Root| matches!(root, Root::Argument(_));
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
            Root::Variable(k) => words.iter().any(|word| word.at == *k && word.typed),
            Root::New | Root::Moved => true,
            Root::Argument(_) | Root::Address(_) => false,
        };
        let pointer = |slot: u32| self.pointers.get(&slot).filter(|pointer| pointer.roots.iter().all(is_pointer)).cloned();
        let number = |slot: u32| match values.get(code, slot) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let sum = |base: u32, more: u32| {
            let base = pointer(base)?;
            let distance = match number(more) {
                Some(number) => base.distance.and(number),
                None => base.distance.and_multiple(self.multiples.get(&more).copied().unwrap_or(0)),
            };
            Some(Pointer { distance, ..base })
        };
        let whole = inst.width == 64;
        let result = match inst.operator() {
            Some(Op::Load) if whole => match values.get(code, inst.a) {
                Some(Value::Frame(k)) => words.iter().any(|word| word.at == k).then(|| Pointer::new(vec![Root::Variable(k)])),
                _ => None,
            },
            Some(Op::Copy) if whole => self.pointers.get(&inst.a).cloned(),
            Some(Op::Anchor) => self.pointers.get(&inst.a).cloned(),
            Some(Op::Add) if whole => match (self.pointers.contains_key(&inst.a), self.pointers.contains_key(&inst.b)) {
                (true, false) => sum(inst.a, inst.b),
                (false, true) => sum(inst.b, inst.a),
                _ => None,
            },
            Some(Op::Sub) if whole => pointer(inst.a)
                .zip(number(inst.b))
                .map(|(base, number)| Pointer { distance: base.distance.and(number.wrapping_neg()), ..base }),
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
    fn distances_tell_what_a_store_leaves_alone() {
        // The second field of some element of 16 bytes.
        let field = Distance::NONE.and_multiple(4).and(8);
        let hit = |distance: Distance, byte: u64| distance.meets(0x1000, 8, byte);
        assert!(hit(field, 0x1008) && hit(field, 0x103f) && !hit(field, 0x1007) && !hit(field, 0x1040));
        assert!(hit(Distance::NONE, 0x1007) && !hit(Distance::NONE, 0x1008) && hit(Distance::UNKNOWN, 0x1234));
        assert!(hit(Distance::NONE.and(u64::MAX), 0xfff), "a distance may be negative");
        assert!(hit(field.and_multiple(2), 0x1000) && hit(field.and_multiple(0).and(3), 0x1001), "the smaller power of two counts");
    }

    #[test]
    fn pointers_to_new_memory_replace_others_as_a_whole() {
        let mut live = Live::default();
        live.add_address(Default::default(), 0x1008);
        live.add(Default::default(), 0x1020, 8);
        let store = |bytes: u64, new: bool| {
            let distance = Distance::NONE.and(bytes);
            Through { root: Root::Variable(-8), distance, len: 8, new }
        };
        let touches = |store: Through, from| store.touches(&live, from, (0x1000, 64));
        assert!(touches(store(8, false), Some(0x1000)) && !touches(store(8, true), Some(0x1000)));
        assert!(touches(store(4, true), Some(0x1000)), "half of it");
        assert!(touches(store(32, true), Some(0x1000)), "a value");
        assert!(touches(store(8, true), None) && touches(Through { distance: Distance::UNKNOWN, ..store(8, true) }, Some(0x1000)));
        assert!(!touches(store(16, false), Some(0x1000)));
    }

    #[test]
    fn callers_see_their_arguments() {
        let row = Row { arguments: vec![None, Some(vec![Root::Variable(-8)])], ..Row::default() };
        assert_eq!(of_caller(&[Root::Argument(1), Root::New], &row), Some(vec![Root::Variable(-8), Root::New]));
        assert_eq!(of_caller(&[Root::Argument(0)], &row), None);
        assert_eq!(of_caller(&[Root::Argument(7)], &row), None);
    }
}
