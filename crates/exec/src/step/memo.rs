//! What was read off expressions before, kept between paths.
//!
//! Paths of one program look the same keys up in the same tables: the same words at the same symbolic offset, and then the same choice of
//! pointers. Both results follow from the expressions alone, never from a path's state. So a hit gives what would be computed again.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::ExprId;

use super::resolve::Target;

/// Words and targets that are kept, 16 or 24 bytes each; with more, all are forgotten.
const MOST_KEPT: usize = 1 << 20;

/// Words of a table and their offsets.
pub(super) type Words = Vec<(u64, ExprId)>;

/// Results by the expressions that they follow from.
#[derive(Default)]
pub struct Memo {
    elements: FxHashMap<(ExprId, Words), ExprId>,
    targets: FxHashMap<ExprId, Option<Rc<[Target]>>>,
    kept: usize,
}

impl Memo {
    /// The element of a table of these words at this offset, or what makes it.
    pub(super) fn element(&self, key: &(ExprId, Words)) -> Option<ExprId> {
        self.elements.get(key).copied()
    }

    pub(super) fn keep_element(&mut self, key: (ExprId, Words), element: ExprId) {
        self.make_room(key.1.len());
        self.elements.insert(key, element);
    }

    /// What this choice of pointers may point to, if it was looked at; inside, nothing where some pointer has no base.
    pub(super) fn targets(&self, choice: ExprId) -> Option<Option<Rc<[Target]>>> {
        self.targets.get(&choice).cloned()
    }

    pub(super) fn keep_targets(&mut self, choice: ExprId, targets: Option<Rc<[Target]>>) {
        self.make_room(targets.as_ref().map_or(1, |targets| targets.len()));
        self.targets.insert(choice, targets);
    }

    /// Forgets everything, as expressions are renumbered.
    pub(crate) fn clear(&mut self) {
        *self = Memo::default();
    }

    fn make_room(&mut self, more: usize) {
        if self.kept + more > MOST_KEPT {
            self.clear();
        }
        self.kept += more;
    }
}
