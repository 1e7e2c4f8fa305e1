//! The order in which a sweep computes vectors, and where it puts them. It is kept for the next sweep of the same expressions: searches repeat one
//! thousands of times, with other values of the other symbols.

use std::rc::Rc;

use super::{Sweep, TooWide, depends};
use crate::node::{ExprId, Kind, SymId, Width};
use crate::pool::Pool;
use crate::visit::operands;

/// The steps of a sweep over one symbol.
pub(super) struct Order {
    pub steps: Vec<Step>,
    /// Nodes whose vectors an earlier sweep kept, and where.
    pub kept: Kept,
    /// How many vectors of each kind it needs at once.
    pub most: [u32; 3],
    /// Steps that are floating-point operations.
    pub floats: usize,
}

/// Nodes, and where their vectors are kept.
type Kept = Vec<(ExprId, u32)>;

/// Computes the vector of one node.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub node: ExprId,
    pub slot: u32,
    /// It does not depend on the symbol.
    pub is_fixed: bool,
}

impl Order {
    /// Bytes, about.
    pub fn bytes(&self) -> usize {
        self.steps.len() * size_of::<Step>() + self.kept.len() * size_of::<(ExprId, u32)>() + 200
    }
}

/// Where the vector of a node is.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// The order that the node was last part of; 0: none.
    order: u32,
    /// How many operands in this order are still to be fetched from it.
    uses: u32,
    pub slot: u32,
    /// It is among the kept ones.
    pub is_kept: bool,
}

impl Place {
    pub fn keep(&mut self, slot: u32) {
        (self.slot, self.is_kept) = (slot, true);
    }

    pub fn compute(&mut self, slot: u32) {
        (self.slot, self.is_kept) = (slot, false);
    }
}

/// The kind of a node's vector: bytes, words, quads.
pub(super) fn kind_of(width: Width) -> usize {
    match width {
        ..=8 => 0,
        9..=64 => 1,
        _ => 2,
    }
}

/// Which vectors of one kind are free.
#[derive(Default)]
struct Slots {
    free: Vec<u32>,
    most: u32,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.most += 1;
            self.most - 1
        })
    }
}

impl Sweep {
    /// The order of a sweep that computes the vectors of these.
    pub(super) fn order(&mut self, pool: &Pool, roots: &[ExprId], sym: SymId) -> Result<Rc<Order>, TooWide> {
        let (nodes, kept) = self.list(pool, roots, sym)?;
        let mut slots: [Slots; 3] = Default::default();
        let mut steps = Vec::with_capacity(nodes.len());
        for node in nodes {
            let slot = slots[kind_of(pool.width(node))].take();
            self.places[node.index()].slot = slot;
            let is_fixed = !depends(pool, node, sym);
            steps.push(Step { node, slot, is_fixed });
            if is_fixed {
                continue;
            }
            for operand in operands(pool, node) {
                let place = &mut self.places[operand.index()];
                if place.is_kept {
                    continue;
                }
                place.uses -= 1;
                if place.uses == 0 {
                    slots[kind_of(pool.width(operand))].free.push(place.slot);
                }
            }
        }
        let floats = steps.iter().filter(|step| matches!(pool.kind(step.node), Kind::Float(..))).count();
        Ok(Rc::new(Order { steps, kept, most: slots.map(|slots| slots.most), floats }))
    }

    /// Lists these and the nodes below them that depend on `sym` or are operands of such, operands first, and counts how often each is an operand.
    /// Apart: those whose vectors are kept.
    fn list(&mut self, pool: &Pool, roots: &[ExprId], sym: SymId) -> Result<(Vec<ExprId>, Kept), TooWide> {
        self.current = self.current.wrapping_add(1);
        if self.current == 0 {
            self.places.clear();
            self.current = 1;
        }
        // A new place belongs to no order.
        self.places.resize(self.places.len().max(pool.len()), Place::default());
        let (mut nodes, mut kept, mut stack) = (Vec::new(), Kept::new(), Vec::new());
        // The caller needs these.
        roots.iter().for_each(|&root| self.use_once(pool, root, sym, &mut stack, &mut kept));
        while let Some(e) = stack.pop() {
            if pool.width(e) > 128 {
                return Err(TooWide);
            }
            nodes.push(e);
            if depends(pool, e, sym) {
                operands(pool, e).for_each(|operand| self.use_once(pool, operand, sym, &mut stack, &mut kept));
            }
        }
        // Ids ascend from operands to what is made of them.
        nodes.sort_unstable();
        Ok((nodes, kept))
    }

    /// Counts a use, and has the node listed at its first.
    fn use_once(&mut self, pool: &Pool, e: ExprId, sym: SymId, stack: &mut Vec<ExprId>, all_kept: &mut Kept) {
        let place = &mut self.places[e.index()];
        if place.order != self.current {
            let kept = self.kept.get(pool, e, sym);
            *place = Place { order: self.current, uses: 0, slot: kept.unwrap_or(0), is_kept: kept.is_some() };
            match kept {
                Some(slot) => all_kept.push((e, slot)),
                None => stack.push(e),
            }
        }
        place.uses += 1;
    }
}
