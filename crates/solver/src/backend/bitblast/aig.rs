//! The and-inverter graph: Boolean functions as two-input ANDs with inverters on the edges.
//!
//! Technique: structural hashing plus local two-level minimisation (Brummayer and Biere, "Local Two-Level And-Inverter Graph
//! Minimization without Blowup", MEMICS 2006). Invariants: a node's operands are older than the node; operands are ordered; no two
//! AND nodes have the same operands; node 0 is the constant false. Cost: one hash look-up per gate asked for, 16 bytes per node.
use rustc_hash::FxHashMap;

/// A literal: a node, possibly inverted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) const FALSE: Lit = Lit(0);
    pub(crate) const TRUE: Lit = Lit(1);

    pub(crate) fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
    pub(crate) fn node(self) -> u32 {
        self.0 >> 1
    }
    pub(crate) fn inverted(self) -> bool {
        self.0 & 1 == 1
    }
    pub(crate) fn is_constant(self) -> bool {
        self.0 < 2
    }
    /// The literal, inverted if `flip`.
    pub(crate) fn flip_if(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    False,
    /// A free Boolean variable.
    Input,
    And(Lit, Lit),
}

/// A node as stored: an AND's two operands, or twice `FALSE` for a constant or an input (no AND has a constant operand).
#[derive(Clone, Copy)]
struct Stored {
    a: Lit,
    b: Lit,
    /// How many ANDs were built over this node, saturating: one means its clause can be merged into its only reader's.
    readers: u8,
}

pub(crate) struct Aig {
    nodes: Vec<Stored>,
    ands: FxHashMap<(Lit, Lit), u32>,
}

/// What two-level rewriting found for a pair of operands.
enum Rewrite {
    /// The AND is this literal.
    Is(Lit),
    /// The AND equals the AND of these two.
    Instead(Lit, Lit),
    Nothing,
}

impl Aig {
    pub(crate) fn new() -> Aig {
        let mut aig = Aig { nodes: Vec::new(), ands: FxHashMap::default() };
        aig.clear();
        aig
    }

    /// Starts afresh, in the memory that it has.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.ands.clear();
        self.fresh(Lit::FALSE, Lit::FALSE);
    }

    /// Number of nodes, the constant and the inputs included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, node: u32) -> Node {
        let stored = self.nodes[node as usize];
        match (node, stored.a.is_constant()) {
            (0, _) => Node::False,
            (_, true) => Node::Input,
            (_, false) => Node::And(stored.a, stored.b),
        }
    }

    /// Whether at most one AND reads this node.
    pub(crate) fn read_once(&self, node: u32) -> bool {
        self.nodes[node as usize].readers <= 1
    }

    pub(crate) fn input(&mut self) -> Lit {
        self.fresh(Lit::FALSE, Lit::FALSE)
    }

    /// Bytes held by the graph, about.
    pub(crate) fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Stored>() + self.ands.capacity() * (size_of::<((Lit, Lit), u32)>() + 1)
    }

    pub(crate) fn and(&mut self, mut a: Lit, mut b: Lit) -> Lit {
        // Each `Instead` replaces one operand by an older literal, so the loop ends.
        loop {
            if a > b {
                std::mem::swap(&mut a, &mut b);
            }
            if a == Lit::FALSE || a == !b {
                return Lit::FALSE;
            }
            if a == Lit::TRUE || a == b {
                return b;
            }
            if let Some(&node) = self.ands.get(&(a, b)) {
                return Lit(node << 1);
            }
            match self.two_level(a, b) {
                Rewrite::Is(lit) => return lit,
                Rewrite::Instead(c, d) => (a, b) = (c, d),
                Rewrite::Nothing => break,
            }
        }
        for operand in [a, b] {
            let stored = &mut self.nodes[operand.node() as usize];
            stored.readers = stored.readers.saturating_add(1);
        }
        let lit = self.fresh(a, b);
        self.ands.insert((a, b), lit.node());
        lit
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        if a.is_constant() || b.is_constant() || a.node() == b.node() {
            return match (a, b) {
                (Lit::FALSE, other) | (other, Lit::FALSE) => other,
                (Lit::TRUE, other) | (other, Lit::TRUE) => !other,
                _ => Lit::constant(a != b),
            };
        }
        // Inversions move to the output, so that `a ^ b` and `a ^ !b` share their gates.
        let flip = a.inverted() != b.inverted();
        let (a, b) = (Lit(a.0 & !1), Lit(b.0 & !1));
        let both = self.and(a, b);
        let neither = self.and(!a, !b);
        self.and(!both, !neither).flip_if(flip)
    }

    /// `if c { t } else { e }`.
    pub(crate) fn ite(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        if t == e || c == Lit::TRUE {
            return t;
        }
        if c == Lit::FALSE {
            return e;
        }
        if t == !e {
            return self.xor(c, e);
        }
        // A constant or repeated branch makes it one AND.
        if t == Lit::TRUE || t == c {
            return self.or(c, e);
        }
        if t == Lit::FALSE || t == !c {
            return self.and(!c, e);
        }
        if e == Lit::TRUE || e == !c {
            return self.or(!c, t);
        }
        if e == Lit::FALSE || e == c {
            return self.and(c, t);
        }
        let then = self.and(c, t);
        let other = self.and(!c, e);
        self.or(then, other)
    }

    /// Sum and carry of three bits.
    pub(crate) fn full_add(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        let sum = self.xor(half, c);
        let both = self.and(a, b);
        let through = self.and(half, c);
        (sum, self.or(both, through))
    }

    fn fresh(&mut self, a: Lit, b: Lit) -> Lit {
        let node = u32::try_from(self.nodes.len()).expect("the node budget keeps the graph below 2^31 nodes");
        self.nodes.push(Stored { a, b, readers: 0 });
        Lit(node << 1)
    }

    /// The operands of an AND node; `None` for an input.
    fn operands(&self, lit: Lit) -> Option<[Lit; 2]> {
        match self.node(lit.node()) {
            Node::And(a, b) => Some([a, b]),
            Node::False | Node::Input => None,
        }
    }

    fn two_level(&self, a: Lit, b: Lit) -> Rewrite {
        let (x, y) = (self.operands(a), self.operands(b));
        if let Some(ops) = x {
            match one_sided(a, ops, b) {
                Rewrite::Nothing => {}
                found => return found,
            }
        }
        if let Some(ops) = y {
            match one_sided(b, ops, a) {
                Rewrite::Nothing => {}
                found => return found,
            }
        }
        match (x, y) {
            (Some(x), Some(y)) => two_sided(a, x, b, y),
            _ => Rewrite::Nothing,
        }
    }
}

/// Rules for `and & other` with `and`'s operands `[x, y]` in view.
fn one_sided(and: Lit, [x, y]: [Lit; 2], other: Lit) -> Rewrite {
    if and.inverted() {
        return match other {
            o if o == !x || o == !y => Rewrite::Is(other), // !(x & y) & !x => !x
            o if o == x => Rewrite::Instead(other, !y),    // !(x & y) & x => x & !y
            o if o == y => Rewrite::Instead(other, !x),
            _ => Rewrite::Nothing,
        };
    }
    match other {
        o if o == !x || o == !y => Rewrite::Is(Lit::FALSE), // (x & y) & !x => 0
        o if o == x || o == y => Rewrite::Is(and),          // (x & y) & x => x & y
        _ => Rewrite::Nothing,
    }
}

/// Rules for `a & b` with both pairs of operands in view.
fn two_sided(a: Lit, x: [Lit; 2], b: Lit, y: [Lit; 2]) -> Rewrite {
    match (a.inverted(), b.inverted()) {
        (false, false) => both_plain(a, x, y),
        (true, false) => one_inverted(x, b, y),
        (false, true) => one_inverted(y, a, x),
        (true, true) => both_inverted(x, y),
    }
}

fn both_plain(a: Lit, x: [Lit; 2], y: [Lit; 2]) -> Rewrite {
    for p in x {
        for (j, q) in y.into_iter().enumerate() {
            if p == !q {
                return Rewrite::Is(Lit::FALSE); // (p & _) & (!p & _) => 0
            }
            if p == q {
                return Rewrite::Instead(a, y[1 - j]); // (p & r) & (p & s) => (p & r) & s
            }
        }
    }
    Rewrite::Nothing
}

/// `!(x0 & x1) & b` with `b = y0 & y1`.
fn one_inverted(x: [Lit; 2], b: Lit, y: [Lit; 2]) -> Rewrite {
    for (i, p) in x.into_iter().enumerate() {
        for q in y {
            if p == !q {
                return Rewrite::Is(b); // !(p & _) & (!p & _) => !p & _
            }
            if p == q {
                return Rewrite::Instead(b, !x[1 - i]); // !(p & r) & (p & s) => (p & s) & !r
            }
        }
    }
    Rewrite::Nothing
}

/// `!(x0 & x1) & !(y0 & y1)`.
fn both_inverted(x: [Lit; 2], y: [Lit; 2]) -> Rewrite {
    for (i, p) in x.into_iter().enumerate() {
        for (j, q) in y.into_iter().enumerate() {
            if p == q && x[1 - i] == !y[1 - j] {
                return Rewrite::Is(!p); // !(p & r) & !(p & !r) => !p
            }
        }
    }
    Rewrite::Nothing
}
