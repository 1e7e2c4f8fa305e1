//! Checks of the static analysis against recorded paths, which show what the program really wrote, read and called. If a path does what the
//! static analysis excludes, the analysis is wrong, and no verdict may rest on it. Checked are:
//!
//! - stores, against the objects that their pointers may point to;
//! - calls by pointer, against the possible callees;
//! - calls with a summary, against the summary: accesses to memory that the program can see, and calls of the program's functions;
//! - events, against may-events;
//! - branches, against their immediate post-dominators.
//!
//! Results that were right are cached, so checking costs a look-up for each store of a path that is sliced.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image, places};

use super::live::Placed;
use crate::flow::{ContextId, Flow, ObjectId, Place, Summary};

/// The most contradictions that are recorded.
const MOST: usize = 64;

/// The results of the checks.
pub struct Checked {
    on: bool,
    right: RefCell<FxHashSet<(CodePos, ContextId, ObjectId)>>,
    wrong: RefCell<BTreeSet<String>>,
}

impl Checked {
    /// If `on` is false, no contradiction is recorded.
    pub fn new(on: bool) -> Checked {
        Checked { on, right: RefCell::default(), wrong: RefCell::default() }
    }

    /// Whether the static analysis is checked.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The contradictions since the last call, in words.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.wrong.borrow_mut()).into_iter().collect()
    }

    fn contradicted(&self, image: &Image, at: CodePos, what: &str) {
        let mut wrong = self.wrong.borrow_mut();
        if self.on && wrong.len() < MOST {
            wrong.insert(format!("{}: {what}", places::name(image, at)));
        }
    }

    /// The operation wrote bytes of an object.
    pub fn wrote(&self, flow: &Flow, image: &Image, at: CodePos, context: ContextId, placed: Placed, bytes: (u64, u64)) {
        let ((object, base), (address, len)) = (placed, bytes);
        if len == 0 || self.right.borrow().contains(&(at, context, object)) {
            return;
        }
        let effects = flow.operation(at.func, context, at.op);
        let writes = &effects.changes.writes;
        if writes.everything || writes.whole.contains(object.0) {
            self.right.borrow_mut().insert((at, context, object));
            return;
        }
        let offset = address.wrapping_sub(base);
        if !writes.touches(object, offset) || !writes.touches(object, offset + len - 1) {
            self.contradicted(image, at, &format!("writes {}, which is not among what it may write", flow.object_name(object)));
        }
    }

    /// A call by pointer entered a function.
    pub fn called(&self, flow: &Flow, image: &Image, at: CodePos, callee: u32) {
        if !flow.targets(at).contains(&Callee::Body(callee)) {
            self.contradicted(image, at, &format!("calls `{}`, which is not among what it may call", image.name(callee)));
        }
    }

    /// An event happened in an operation.
    pub fn happened(&self, flow: &Flow, image: &Image, at: CodePos, context: ContextId) {
        if !flow.operation(at.func, context, at.op).event {
            self.contradicted(image, at, "makes an event, which it is known not to do");
        }
    }

    /// A function with a summary called one of the program's.
    pub fn called_back(&self, image: &Image, at: CodePos, summarised: u32, callee: u32) {
        let (name, callee) = (image.name(summarised), image.name(callee));
        self.contradicted(image, at, &format!("`{name}` calls `{callee}`, which its summary does not say"));
    }

    /// A call returned, but the walk passed no immediate post-dominator of a branch in it.
    pub fn never_met(&self, image: &Image, at: CodePos) {
        self.contradicted(image, at, "the ways of the branch do not meet where they are known to");
    }

    /// A call with a summary read bytes of an object that the program can see. `arguments`: the objects that arguments point to, where
    /// these are known.
    pub fn read(
        &self,
        flow: &Flow,
        image: &Image,
        at: CodePos,
        call: (u32, &Summary),
        object: Placed,
        arguments: &dyn Fn(u32) -> Option<Placed>,
    ) {
        let (callee, summary) = call;
        let declared = |place: &Place| match place {
            Place::Reachable(_) | Place::Everything => true,
            Place::Memory(i) => arguments(*i).is_none_or(|argument| argument == object),
            _ => false,
        };
        if !summary.reads.iter().chain(&summary.writes).any(declared) {
            let (name, object) = (image.name(callee), flow.object_name(object.0));
            self.contradicted(image, at, &format!("`{name}` reads {object}, which its summary does not say"));
        }
    }
}
