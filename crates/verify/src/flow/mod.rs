//! What a program may do beside a path: the static facts that path slicing asks for (paper 1, sections 5 and 7.3; Jhala and Majumdar,
//! "Path slicing", PLDI 2005).
//!
//! [`cfg`] finds where the sides of a branch meet again, [`summary`] holds what calls do whose instructions nobody looks at.
//! Facts are computed when they are first asked for, and kept.

pub mod bits;
pub mod cfg;
pub mod summary;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};

pub use bits::BitSet;
pub use cfg::Cfg;
pub use summary::{CellKind, Cells, Place, SYSTEM_CALL, Summaries, Summary};

/// A variable, a stack slot of a function, what one call allocates: an object as the static facts know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// Bytes `low .. high` of an object; `u64::MAX`: unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub low: u64,
    pub high: u64,
}

/// What may be written.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    pub everything: bool,
    /// Objects that may be written anywhere.
    pub whole: BitSet,
    /// Objects that may be written in part.
    pub parts: BTreeMap<ObjectId, Extent>,
}

impl Writes {
    /// Whether byte `offset` of the object may be written.
    pub fn touches(&self, object: ObjectId, offset: u64) -> bool {
        self.everything
            || self.whole.contains(object.0)
            || self.parts.get(&object).is_some_and(|e| e.low <= offset && (offset < e.high || e.high == u64::MAX))
    }
}

/// What may happen on a way.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// An event of the rules.
    pub event: bool,
    /// The program may end, or never come back to the way's end.
    pub leaves: bool,
    /// Slots of the function that may be written.
    pub slots: BitSet,
    pub writes: Writes,
    /// Cells of the environment that may be written.
    pub cells: Cells,
}

/// May such a call be an event? The number of the function that calls, and what it calls.
pub type IsEvent = Box<dyn Fn(u32, Callee) -> bool>;

/// The static facts of a program.
pub struct Flow {
    image: Rc<Image>,
    is_event: IsEvent,
    summaries: Summaries,
    cfgs: Vec<OnceCell<Rc<Cfg>>>,
}

impl Flow {
    pub fn new(image: Rc<Image>, is_event: IsEvent, summaries: Summaries) -> Flow {
        let functions = image.program.functions().len();
        Flow { cfgs: vec![OnceCell::new(); functions], image, is_event, summaries }
    }

    fn cfg(&self, func: u32) -> &Rc<Cfg> {
        self.cfgs[func as usize].get_or_init(|| {
            let (module, function) = self.image.function(func);
            Rc::new(Cfg::new(module, function, &|_| false))
        })
    }

    /// The block that operation `op` lies in.
    pub fn block_of(&self, func: u32, op: u32) -> u32 {
        self.cfg(func).block_of(op)
    }

    /// The first block where all ways out of the branch that ends `block` meet again; `None`: only at the function's return, or never.
    pub fn join(&self, func: u32, block: u32) -> Option<u32> {
        self.cfg(func).join(block)
    }

    /// What may happen when the branch that ends `block` takes `edge` (as the function numbers it), from the edge's copies on until the
    /// join, copies of edges into the join with it, or until the function returns if there is none.
    pub fn side(&self, func: u32, _block: u32, _edge: u32) -> Rc<Effects> {
        self.anything(func)
    }

    /// What may happen in `func` behind the call at `op` until `func` returns.
    pub fn rest(&self, func: u32, _op: u32) -> Rc<Effects> {
        self.anything(func)
    }

    /// What the operation at `op` may do, whatever its operands are: a store through a pointer any of the objects the pointer may lead to, a
    /// call by pointer any of the functions. No slots.
    pub fn operation(&self, func: u32, _op: u32) -> Rc<Effects> {
        self.function(func)
    }

    /// First operation of a block.
    pub fn first_op(&self, func: u32, block: u32) -> u32 {
        self.cfg(func).blocks[block as usize].ops.start
    }

    /// The edges a block ends with.
    pub fn edges(&self, func: u32, block: u32) -> Vec<u32> {
        self.cfg(func).blocks[block as usize].edges.iter().map(|(edge, _)| *edge).collect()
    }

    /// The summary of a function without a body; of a system call by its number, if that is known.
    pub fn summary_of(&self, name: &str, number: Option<u64>) -> Option<&Summary> {
        match name {
            SYSTEM_CALL => self.summaries.system_call(number?),
            _ => self.summaries.get(name),
        }
    }

    /// What a call of the function may do; no slots.
    pub fn function(&self, func: u32) -> Rc<Effects> {
        let _ = (self.is_event)(func, Callee::Body(func));
        Rc::new(Effects { slots: BitSet::default(), ..(*self.anything(func)).clone() })
    }

    fn anything(&self, func: u32) -> Rc<Effects> {
        let slots = (0..self.image.function(func).1.slots).collect();
        Rc::new(Effects { event: true, leaves: true, slots, writes: Writes { everything: true, ..Writes::default() }, cells: Cells::ALL })
    }

    /// The variable at an address, and where it begins.
    pub fn global_object(&self, address: u64) -> Option<(ObjectId, u64)> {
        let at = self.image.statics.partition_point(|s| s.base <= address).checked_sub(1)?;
        let s = &self.image.statics[at];
        (address - s.base < s.size.max(1)).then_some((ObjectId(1 + at as u32), s.base))
    }

    /// The instance, in a frame of `func`, of its stack variable `alloca`.
    pub fn alloca_object(&self, _func: u32, _alloca: u32) -> ObjectId {
        self.outside_object()
    }

    /// What frames of `func` allocate as they go, and their copies of structures passed by value.
    pub fn dynamic_object(&self, _func: u32) -> ObjectId {
        self.outside_object()
    }

    /// What the call at the first place allocates; the places after it are its callers, innermost first. May be cut off.
    pub fn heap_object(&self, _stack: &[CodePos]) -> ObjectId {
        self.outside_object()
    }

    /// Memory the environment made: arguments, variables of the environment, mappings.
    pub fn outside_object(&self) -> ObjectId {
        ObjectId(0)
    }

    /// An object in words.
    pub fn object_name(&self, object: ObjectId) -> String {
        format!("object {}", object.0)
    }

    pub fn summaries(&self) -> &Summaries {
        &self.summaries
    }
}
