//! What a path knows of its lazily made inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::{CodePos, Exit, PathData};
use wryneck_expr::{ExprId, Remap, SymId};
use wryneck_solver::PVec;

use crate::grade::Verdict;

/// An object that a path made because it used a pointer.
#[derive(Clone, Debug)]
pub struct Made {
    /// The pointer's name: `lst`, or `*lst[16]` for the word at offset 16 of what `lst` points to.
    pub pointer: Rc<str>,
    /// First address of the memory booked for it.
    pub base: u64,
    /// The address that the pointer was bound to; offsets count from here.
    pub at: u64,
    /// The pointer.
    pub word: ExprId,
    /// Offsets used so far: `low..high`.
    pub low: i64,
    pub high: i64,
    /// What was written so far.
    pub written: Rc<Vec<Written>>,
}

/// A range of offsets that was written, and the size of one such access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub low: i64,
    pub high: i64,
    pub size: u64,
    /// Counts up with the writes of the path: the latest such write.
    pub(crate) latest: u64,
}

/// A pointer and the address it was bound to.
#[derive(Clone, Debug)]
pub struct Bound {
    pub word: ExprId,
    pub pointer: Rc<str>,
    pub object: u64,
    pub at: u64,
}

/// A condition that the engine, not the code, chose.
#[derive(Clone, Debug)]
pub struct Assumed {
    pub cond: ExprId,
    /// It was added to the path condition for this reason alone.
    pub asserted: bool,
    pub why: Rc<str>,
}

/// A byte that the path read before it wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Initial {
    pub address: u64,
    pub symbol: SymId,
}

/// A call that was not followed.
#[derive(Clone, Debug)]
pub struct Skipped {
    pub name: Rc<str>,
    /// The symbols of its result, lowest byte first.
    pub result: Rc<[SymId]>,
    /// First address and length of each range that it may have changed.
    pub forgotten: Rc<[(u64, u64)]>,
}

/// A loop that was left out.
#[derive(Clone, Debug)]
pub struct SkippedLoop {
    pub place: Rc<str>,
    /// The function, and how deep in calls.
    pub(crate) func: u32,
    pub(crate) depth: usize,
    /// Operations of the only block that leaves it.
    pub(crate) exit: Option<std::ops::Range<u32>>,
}

/// Bytes of an object that something not followed may have changed.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Forgotten {
    pub address: u64,
    pub len: u64,
    pub by_loop: bool,
}

/// Innermost calls by which the place of a test is known.
pub(crate) const CALLERS: usize = 6;

/// A decision of the code.
#[derive(Clone, Debug)]
pub struct Test {
    /// As it was decided.
    pub cond: ExprId,
    /// How many constraints the path had; `None`: they left no choice.
    pub before: Option<u32>,
    /// Where, innermost first; at most [`CALLERS`] calls.
    pub stack: Rc<[CodePos]>,
}

/// A test of a limited number of bytes, and who made it.
#[derive(Clone, Debug)]
pub(crate) struct SmallTest {
    /// As it was decided.
    pub cond: ExprId,
    /// The side of the branch.
    pub taken: bool,
    /// Where, innermost first; at most [`CALLERS`] calls.
    pub stack: Rc<[CodePos]>,
    /// How it went past a loop. That a loop may have no round says nothing of its bound.
    pub left: Option<Exit>,
}

/// The path data of lazily made inputs.
#[derive(Clone, Default)]
pub struct Inputs {
    /// Addresses of the variables that the program itself can write.
    pub variables: Rc<[u64]>,
    pub objects: Rc<Vec<Made>>,
    pub bound: Rc<Vec<Bound>>,
    pub(crate) by_word: Rc<FxHashMap<ExprId, usize>>,
    /// Conditions that the engine chose and no error needs: the address of a pointer's object, the reach of an index.
    pub named: Rc<Vec<ExprId>>,
    pub assumed: Rc<Vec<Assumed>>,
    /// Conditions that the code tested though they were known to hold.
    pub tested: Rc<Vec<ExprId>>,
    /// Where the code has decided.
    pub branches: Rc<BTreeSet<CodePos>>,
    /// The latest decision of the code.
    pub last: Option<Test>,
    /// Writes to lazily made objects that were noted.
    pub(crate) writes: u64,
    /// Tests of few symbols, in their order.
    pub(crate) small_tests: Rc<Vec<SmallTest>>,
    /// The pointer that was null or an error code when it was used.
    pub(crate) invalid: Option<ExprId>,
    /// Pairs of objects, by index, where one was read after the other had been written at the same offsets.
    pub interfering: Rc<BTreeSet<(usize, usize)>>,
    /// First symbols of words that pointer arithmetic began with.
    pub(crate) bases: Rc<BTreeSet<SymId>>,
    /// Symbols of words that were taken for offsets, and might be pointers.
    pub(crate) indices: Rc<BTreeSet<SymId>>,
    /// What was forgotten, by the object's first address.
    pub(crate) forgotten: Rc<BTreeMap<u64, Vec<Forgotten>>>,
    /// Loops that were left out, and the symbols of what they may have changed.
    pub loops: Rc<Vec<SkippedLoop>>,
    pub(crate) of_loops: Rc<BTreeSet<SymId>>,
    /// Tests that a loop may never let come true, in words.
    pub(crate) doubts: Rc<BTreeSet<Rc<str>>>,
    pub initial: PVec<Initial>,
    pub skipped: Rc<Vec<Skipped>>,
    /// What bounded the inputs, in words.
    pub bounded: Rc<BTreeSet<Rc<str>>>,
    pub verdict: Option<Verdict>,
}

impl Inputs {
    /// The object whose memory begins at an address, if it was lazily made.
    pub fn made(&self, base: u64) -> Option<&Made> {
        self.objects.iter().find(|made| made.base == base)
    }

    pub(crate) fn index_of(&self, base: u64) -> Option<usize> {
        self.objects.iter().position(|made| made.base == base)
    }

    pub(crate) fn note_tested(&mut self, cond: ExprId) {
        if !self.tested.contains(&cond) {
            Rc::make_mut(&mut self.tested).push(cond);
        }
    }

    pub(crate) fn assume(&mut self, cond: ExprId, asserted: bool, why: &str) {
        if asserted && self.tested.contains(&cond) {
            Rc::make_mut(&mut self.tested).retain(|tested| *tested != cond);
        }
        if !self.assumed.iter().any(|a| a.cond == cond) {
            Rc::make_mut(&mut self.assumed).push(Assumed { cond, asserted, why: why.into() });
        }
    }

    pub(crate) fn bind(&mut self, bound: Bound) {
        Rc::make_mut(&mut self.by_word).insert(bound.word, self.bound.len());
        Rc::make_mut(&mut self.bound).push(bound);
    }

    pub(crate) fn note_bound(&mut self, what: &str) {
        if !self.bounded.contains(what) {
            Rc::make_mut(&mut self.bounded).insert(what.into());
        }
    }

    /// How often a byte of an object was forgotten, and whether a loop did so last.
    pub(crate) fn epoch(&self, base: u64, address: u64) -> (usize, bool) {
        let Some(ranges) = self.forgotten.get(&base) else { return (0, false) };
        let has = |range: &&Forgotten| address.wrapping_sub(range.address) < range.len;
        (ranges.iter().filter(has).count(), ranges.iter().rev().find(has).is_some_and(|range| range.by_loop))
    }

    pub(crate) fn forget(&mut self, base: u64, range: Forgotten) {
        Rc::make_mut(&mut self.forgotten).entry(base).or_default().push(range);
    }
}

impl PathData for Inputs {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.objects.iter().for_each(|made| f(made.word));
        self.bound.iter().for_each(|bound| f(bound.word));
        self.assumed.iter().for_each(|assumed| f(assumed.cond));
        self.named.iter().chain(self.tested.iter()).for_each(|e| f(*e));
        self.last.iter().for_each(|test| f(test.cond));
        self.small_tests.iter().for_each(|test| f(test.cond));
        self.invalid.iter().for_each(|word| f(*word));
    }

    fn remap(&mut self, map: &Remap) {
        let new = |e: ExprId| map.get(e).expect("every expression of the data was a root of the compaction");
        Rc::make_mut(&mut self.objects).iter_mut().for_each(|made| made.word = new(made.word));
        Rc::make_mut(&mut self.bound).iter_mut().for_each(|bound| bound.word = new(bound.word));
        Rc::make_mut(&mut self.assumed).iter_mut().for_each(|assumed| assumed.cond = new(assumed.cond));
        Rc::make_mut(&mut self.named).iter_mut().for_each(|e| *e = new(*e));
        Rc::make_mut(&mut self.tested).iter_mut().for_each(|e| *e = new(*e));
        self.last.iter_mut().for_each(|test| test.cond = new(test.cond));
        Rc::make_mut(&mut self.small_tests).iter_mut().for_each(|test| test.cond = new(test.cond));
        self.invalid.iter_mut().for_each(|word| *word = new(*word));
        self.by_word = Rc::new(self.bound.iter().enumerate().map(|(i, bound)| (bound.word, i)).collect());
    }

    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        let mut h = h;
        for bound in self.bound.iter() {
            h.write_u64(hash_expr(bound.word));
            (bound.object, bound.at).hash(&mut h);
        }
        self.forgotten.iter().for_each(|forgotten| forgotten.hash(&mut h));
    }
}
