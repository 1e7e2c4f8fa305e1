//! Functions from which the address of a stack variable escapes: they store it outside of their frame, or return it. The memory of such a
//! frame is not used again at once ([`crate::step`]), so that an access through the escaped address finds no object.
//!
//! This is a hint, not a proof: an address that a callee stores is not followed.

use rustc_hash::FxHashSet;
use wryneck_ir::{Function, Inst, Module, NONE, Op, Range, limbs};

/// What the slots and the variables of a function hold, as far as known.
struct Known {
    /// Slots that hold an address of the frame.
    own: Vec<bool>,
    /// Of those that hold the address of one variable: which.
    variable: Vec<Option<u32>>,
    /// Variables that an address of the frame was stored in.
    holders: FxHashSet<u32>,
    /// An address of the frame was stored in the frame, nobody knows where.
    anywhere: bool,
    left_behind: bool,
    changed: bool,
}

/// Whether the function may return with an address of its frame stored elsewhere.
pub fn leaves_address_behind(m: &Module, f: &Function) -> bool {
    if f.allocas.count == 0 {
        return false;
    }
    let slots = f.slots as usize + 1;
    let mut known = Known {
        own: vec![false; slots],
        variable: vec![None; slots],
        holders: FxHashSet::default(),
        anywhere: false,
        left_behind: false,
        changed: true,
    };
    while std::mem::take(&mut known.changed) && !known.left_behind {
        for block in m.blocks.range(f.blocks) {
            m.insts.range(block.insts).iter().for_each(|inst| known.follow(m, inst));
        }
        for edge in m.edges.range(f.edges) {
            m.copies.range(edge.copies).iter().for_each(|copy| known.hold(copy.dst, known.is_own(copy.src, 1)));
        }
    }
    known.left_behind
}

impl Known {
    fn is_own(&self, slot: u32, width: u32) -> bool {
        slot != NONE && (slot..slot + limbs(width)).any(|slot| self.own[slot as usize])
    }

    fn hold(&mut self, slot: u32, own: bool) {
        if own && !std::mem::replace(&mut self.own[slot as usize], true) {
            self.changed = true;
        }
    }

    /// Whether memory of the frame at the address in a slot may hold an address of the frame.
    fn holds(&self, address: u32) -> bool {
        let there = |v: u32| self.holders.contains(&v);
        self.own[address as usize] && (self.anywhere || self.variable[address as usize].map_or(!self.holders.is_empty(), there))
    }

    fn stored(&mut self, address: u32) {
        self.changed |= match self.variable[address as usize] {
            _ if !self.own[address as usize] => !std::mem::replace(&mut self.left_behind, true),
            Some(variable) => self.holders.insert(variable),
            None => !std::mem::replace(&mut self.anywhere, true),
        };
    }

    fn follow(&mut self, m: &Module, inst: &Inst) {
        let &Inst { width, dst, a, b, c, .. } = inst;
        let width = u32::from(width);
        match inst.operator() {
            Some(Op::Alloca) => {
                self.hold(dst, true);
                self.variable[dst as usize] = Some(a);
            }
            Some(Op::PtrAdd | Op::Anchor) => {
                self.hold(dst, self.is_own(a, 64));
                self.variable[dst as usize] = self.variable[a as usize];
            }
            Some(Op::Copy | Op::And) => self.hold(dst, self.is_own(a, width)),
            Some(Op::Add | Op::Sub | Op::Concat) if width >= 64 => self.hold(dst, self.is_own(a, 64) || self.is_own(b, 64)),
            Some(Op::Select) => self.hold(dst, self.is_own(b, width) || self.is_own(c, width)),
            Some(Op::Load) if width >= 64 => self.hold(dst, self.holds(a)),
            Some(Op::Store) if width >= 64 && self.is_own(b, width) => self.stored(a),
            Some(Op::MemCopy | Op::MemMove) if self.holds(b) => self.stored(a),
            Some(Op::Ret) if b > 0 => {
                let returned = m.slot_lists.range(Range { first: a, count: b });
                self.left_behind |= returned.iter().any(|slot| self.own[*slot as usize]);
            }
            _ => {}
        }
    }
}
