//! Compaction: drops the nodes no root reaches and renumbers the rest, in the same order.
//!
//! Symbols keep their ids. An array survives if a surviving `Read` uses it. After it every [`ExprId`] and [`ArrayId`] held
//! elsewhere must have gone through the [`Remap`]; evaluators and other caches by id are cleared.

use crate::node::{ArrayId, ExprId, Kind, Node, Op};
use crate::pool::Pool;
use crate::visit::Reached;

/// From the ids before a compaction to those after it.
pub struct Remap {
    /// New raw id plus one by old index; 0: dropped.
    nodes: Vec<u32>,
    arrays: Vec<u32>,
}

impl Remap {
    /// The new id, if the node survived.
    #[inline]
    pub fn get(&self, old: ExprId) -> Option<ExprId> {
        self.nodes.get(old.index())?.checked_sub(1).map(ExprId::from_raw)
    }

    /// The new id, if the array survived.
    pub fn array(&self, old: ArrayId) -> Option<ArrayId> {
        self.arrays.get(old.index())?.checked_sub(1).map(ArrayId)
    }
}

/// Calls the function it is given on every root.
pub type Roots<'a> = dyn FnMut(&mut dyn FnMut(ExprId)) + 'a;

impl Pool {
    /// Keeps what is reachable from the roots, which are asked for once.
    pub fn compact(&mut self, roots: &mut Roots<'_>) -> Remap {
        let mut reached = Reached::new(self);
        reached.add(self, ExprId::FALSE);
        reached.add(self, ExprId::TRUE);
        roots(&mut |root| reached.add(self, root));

        let mut old = std::mem::take(self);
        self.adopt_symbols(&mut old);
        self.simplifying = old.simplifying;
        let mut remap = Remap { nodes: vec![0; old.len()], arrays: vec![0; old.arrays.len()] };
        for e in reached.in_order() {
            let new = self.copy_node(&old, e, &mut remap);
            remap.nodes[e.index()] = new.raw() + 1;
        }
        remap
    }

    fn copy_node(&mut self, old: &Pool, e: ExprId, remap: &mut Remap) -> ExprId {
        let node = old.nodes[e.index()];
        let new = |nodes: &[u32], child: u32| nodes[child as usize] - 1;
        let (op, width) = (node.op(), node.width());
        let at = |raw: u32| new(&remap.nodes, raw);
        let node = match node.kind() {
            Kind::Const => {
                let limbs = old.as_limbs(e).expect("a constant");
                return self.wide(width, limbs);
            }
            Kind::Sym(symbol) => return self.sym(symbol),
            Kind::Not(_) | Kind::Neg(_) | Kind::Extract(..) | Kind::Zext(_) | Kind::Sext(_) | Kind::PtrAdd(..) => {
                Node::new(op, width, at(node.a), node.b, node.c)
            }
            Kind::Ite(..) => Node::new(op, width, at(node.a), at(node.b), at(node.c)),
            Kind::Read(array, _) => {
                if remap.arrays[array.index()] == 0 {
                    let elems: Vec<ExprId> = old.array_elems(array).iter().map(|elem| ExprId::from_raw(at(elem.raw()))).collect();
                    remap.arrays[array.index()] = self.array(&elems).0 + 1;
                }
                Node::new(Op::Read, width, remap.arrays[array.index()] - 1, new(&remap.nodes, node.b), 0)
            }
            Kind::And(..)
            | Kind::Or(..)
            | Kind::Xor(..)
            | Kind::Add(..)
            | Kind::Sub(..)
            | Kind::Mul(..)
            | Kind::Udiv(..)
            | Kind::Urem(..)
            | Kind::Sdiv(..)
            | Kind::Srem(..)
            | Kind::Shl(..)
            | Kind::Lshr(..)
            | Kind::Ashr(..)
            | Kind::Eq(..)
            | Kind::Ult(..)
            | Kind::Ule(..)
            | Kind::Slt(..)
            | Kind::Sle(..)
            | Kind::Concat(..)
            | Kind::Float(..) => Node::new(op, width, at(node.a), at(node.b), node.c),
        };
        self.intern(node)
    }
}
