//! The pool: hash-consing, symbols, arrays, and the facts kept with each node.
//!
//! One node costs 16 bytes for itself, 48 for its facts and about 16 in the table. The table is open addressing with
//! linear probing over (hash, id) pairs. Ids ascend from children to parents.

use rustc_hash::FxHashMap;

use crate::facts::Facts;
use crate::node::{ArrayId, ExprId, Kind, MAX_WIDTH, Node, Op, SymId, Width};
use crate::support::{SetId, Supports};
use crate::wide;

/// What a symbol is: `name` and `index` say which input it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymInfo {
    pub name: Box<str>,
    pub index: u32,
    /// At most 64 bits.
    pub width: Width,
}

/// What is known of a node besides itself.
#[derive(Clone, Copy)]
pub(crate) struct Meta {
    pub(crate) facts: Facts,
    /// Hash of the structure, the same in every pool and process.
    pub(crate) hash: u128,
    pub(crate) support: SetId,
    /// It is an anchored pointer or chooses one.
    pub(crate) anchored: bool,
}

pub(crate) struct Array {
    pub(crate) elems: Box<[ExprId]>,
    /// The elements that are no constants, each once.
    open: Box<[ExprId]>,
    /// The values of those that are; 0 for the others.
    bytes: Box<[u8]>,
    /// What holds of every element.
    pub(crate) facts: Facts,
    pub(crate) hash: u128,
    pub(crate) support: SetId,
}

/// Owner of expressions.
pub struct Pool {
    pub(crate) nodes: Vec<Node>,
    pub(crate) meta: Vec<Meta>,
    table: Table,
    pub(crate) wides: Vec<Box<[u64]>>,
    wide_ids: FxHashMap<(Width, Box<[u64]>), u32>,
    symbols: Vec<SymInfo>,
    symbol_ids: FxHashMap<(u32, u32, Width), SymId>,
    names: FxHashMap<Box<str>, u32>,
    pub(crate) arrays: Vec<Array>,
    array_ids: FxHashMap<Box<[ExprId]>, ArrayId>,
    /// Those of constants, by their values.
    byte_array_ids: FxHashMap<Box<[u8]>, ArrayId>,
    array_elems: usize,
    pub(crate) supports: Supports,
    pub(crate) simplifying: bool,
    /// How many constructors are at work inside one another.
    pub(crate) nesting: u32,
    /// Nodes that were asked for and not known; and how many there may be until the outermost constructor is done with rewriting.
    pub(crate) rewrites: u64,
    pub(crate) most_rewrites: u64,
    /// Nodes asked for that simplified to others, by their hash; one is forgotten for another.
    rewritten: Box<[(Node, ExprId)]>,
}

/// Entries of the cache of rewritten nodes (20 bytes each).
const REWRITTEN: usize = 1 << 14;

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// An empty pool whose constructors simplify.
    pub fn new() -> Pool {
        let mut pool = Pool {
            nodes: Vec::new(),
            meta: Vec::new(),
            table: Table::new(),
            wides: Vec::new(),
            wide_ids: FxHashMap::default(),
            symbols: Vec::new(),
            symbol_ids: FxHashMap::default(),
            names: FxHashMap::default(),
            arrays: Vec::new(),
            array_ids: FxHashMap::default(),
            byte_array_ids: FxHashMap::default(),
            array_elems: 0,
            supports: Supports::new(),
            simplifying: true,
            nesting: 0,
            rewrites: 0,
            most_rewrites: 0,
            rewritten: vec![(Node::new(Op::Const, 1, 0, 0, 0), ExprId::FALSE); REWRITTEN].into_boxed_slice(),
        };
        let (no, yes) = (pool.bits(1, 0), pool.bits(1, 1));
        debug_assert!((no, yes) == (ExprId::FALSE, ExprId::TRUE));
        pool
    }

    /// An empty pool whose constructors make exactly the node asked for: no law, no folding. The oracle of the laws.
    pub fn plain() -> Pool {
        Pool { simplifying: false, ..Pool::new() }
    }

    /// A constant of at most 64 bits; bits of `value` above the width are ignored.
    #[inline]
    pub fn bits(&mut self, width: Width, value: u64) -> ExprId {
        assert!(matches!(width, 1..=64), "`bits` makes 1 to 64 bits, not {width}");
        let value = value & wide::mask(width);
        self.intern(Node::new(Op::Const, width, value as u32, (value >> 32) as u32, 0))
    }

    /// A constant of any width from limbs, lowest first; missing limbs are 0, surplus bits are ignored.
    pub fn wide(&mut self, width: Width, limbs: &[u64]) -> ExprId {
        check_width(width);
        if width <= 64 {
            return self.bits(width, limbs.first().copied().unwrap_or(0));
        }
        let limbs = wide::normalise(width, limbs.to_vec()).into_boxed_slice();
        let next = self.wides.len() as u32;
        let slot = *self.wide_ids.entry((width, limbs)).or_insert_with_key(|(_, limbs)| {
            self.wides.push(limbs.clone());
            next
        });
        self.intern(Node::new(Op::Const, width, slot, 0, 0))
    }

    /// The symbol of that name, index and width (at most 64 bits): the same key gives the same symbol.
    pub fn symbol(&mut self, name: &str, index: u32, width: Width) -> SymId {
        assert!(matches!(width, 1..=64), "a symbol has 1 to 64 bits, not {width}");
        let name_id = match self.names.get(name) {
            Some(&id) => id,
            None => {
                let id = self.names.len() as u32;
                self.names.insert(name.into(), id);
                id
            }
        };
        let next = SymId(self.symbols.len() as u32);
        let id = *self.symbol_ids.entry((name_id, index, width)).or_insert(next);
        if id == next {
            self.symbols.push(SymInfo { name: name.into(), index, width });
        }
        id
    }

    /// The symbol as an expression.
    #[inline]
    pub fn sym(&mut self, symbol: SymId) -> ExprId {
        let width = self.symbols[symbol.index()].width;
        self.intern(Node::new(Op::Sym, width, symbol.0, 0, 0))
    }

    pub fn sym_info(&self, symbol: SymId) -> &SymInfo {
        &self.symbols[symbol.index()]
    }

    /// How many symbols there are; their ids are the numbers below.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// The array of these 8-bit elements, from index 0; may be empty.
    pub fn array(&mut self, elems: &[ExprId]) -> ArrayId {
        if let Some(&id) = self.array_ids.get(elems) {
            return id;
        }
        let (mut hash, mut support) = (0, SetId::EMPTY);
        let facts = elems.iter().map(|elem| self.meta[elem.index()].facts).reduce(Facts::or);
        for &elem in elems {
            assert!(self.width(elem) == 8, "an array's elements have 8 bits, not {}", self.width(elem));
            hash = mix(hash, self.digest(elem));
            support = self.supports.union(support, self.meta[elem.index()].support);
        }
        let bytes = elems.iter().map(|&elem| self.as_u64(elem).unwrap_or(0) as u8).collect();
        let mut open: Vec<ExprId> = elems.iter().copied().filter(|&elem| self.as_u64(elem).is_none()).collect();
        open.sort_unstable();
        open.dedup();
        let id = ArrayId(self.arrays.len() as u32);
        self.arrays.push(Array {
            elems: elems.into(),
            open: open.into(),
            bytes,
            facts: facts.unwrap_or(Facts::constant(8, 0)),
            hash,
            support,
        });
        self.array_ids.insert(elems.into(), id);
        self.array_elems += 2 * elems.len();
        id
    }

    /// The array of these constants, as [`array`](Self::array).
    pub fn array_of_bytes(&mut self, bytes: &[u8]) -> ArrayId {
        if let Some(&id) = self.byte_array_ids.get(bytes) {
            return id;
        }
        let elems: Vec<ExprId> = bytes.iter().map(|&byte| self.bits(8, byte.into())).collect();
        let id = self.array(&elems);
        self.byte_array_ids.insert(bytes.into(), id);
        // Which count four bytes each.
        self.array_elems += bytes.len().div_ceil(4);
        id
    }

    pub fn array_elems(&self, array: ArrayId) -> &[ExprId] {
        &self.arrays[array.index()].elems
    }

    /// The elements that are no constants, each once, in the order of their ids.
    pub fn array_open(&self, array: ArrayId) -> &[ExprId] {
        &self.arrays[array.index()].open
    }

    /// The values of the elements that are constants; 0 for the others.
    pub fn array_bytes(&self, array: ArrayId) -> &[u8] {
        &self.arrays[array.index()].bytes
    }

    /// Width in bits.
    #[inline]
    pub fn width(&self, e: ExprId) -> Width {
        self.nodes[e.index()].width()
    }

    #[inline]
    pub fn op(&self, e: ExprId) -> Op {
        self.nodes[e.index()].op()
    }

    #[inline]
    pub fn kind(&self, e: ExprId) -> Kind {
        self.nodes[e.index()].kind()
    }

    /// The value of a constant of at most 64 bits, or of an anchored pointer, which is no [`Op::Const`].
    #[inline]
    pub fn as_u64(&self, e: ExprId) -> Option<u64> {
        let node = self.nodes[e.index()];
        match node.op() {
            Op::Const if node.width() <= 64 => Some(Node::join(node.a, node.b)),
            Op::PtrAdd => self.anchored_address(node),
            _ => None,
        }
    }

    /// The value of an [`Op::Const`] of at most 64 bits: what stands for nothing but its value.
    #[inline]
    pub fn as_plain(&self, e: ExprId) -> Option<u64> {
        let node = self.nodes[e.index()];
        (node.op() == Op::Const && node.width() <= 64).then(|| Node::join(node.a, node.b))
    }

    /// The address an anchored pointer is: one whose offset is constant.
    fn anchored_address(&self, pointer: Node) -> Option<u64> {
        let offset = self.nodes[pointer.a as usize];
        (offset.op() == Op::Const).then(|| Node::join(pointer.b, pointer.c).wrapping_add(Node::join(offset.a, offset.b)))
    }

    /// Is it a pointer whose offset is constant?
    #[inline]
    pub fn is_anchored(&self, e: ExprId) -> bool {
        self.meta[e.index()].anchored && self.op(e) == Op::PtrAdd
    }

    /// The value of a constant of any width, as limbs, lowest first.
    pub fn as_limbs(&self, e: ExprId) -> Option<&[u64]> {
        let node = self.nodes[e.index()];
        match (node.op(), node.width()) {
            (Op::Const, 0..=64) => Some(std::slice::from_ref(&self.meta[e.index()].facts.ones)),
            (Op::Const, _) => Some(&self.wides[node.a as usize]),
            _ => None,
        }
    }

    /// The value of a constant of at most 128 bits.
    pub fn as_u128(&self, e: ExprId) -> Option<u128> {
        let limbs = self.as_limbs(e).filter(|limbs| limbs.len() <= 2)?;
        Some(limbs.iter().rev().fold(0, |value, limb| value << 64 | u128::from(*limb)))
    }

    #[inline]
    pub fn is_const(&self, e: ExprId) -> bool {
        self.op(e) == Op::Const
    }

    /// Base address and offset of a pointer made by [`Pool::ptr`].
    #[inline]
    pub fn as_ptr(&self, e: ExprId) -> Option<(u64, ExprId)> {
        match self.kind(e) {
            Kind::PtrAdd(base, offset) => Some((base, offset)),
            _ => None,
        }
    }

    /// Masks of the bits that are 0, and that are 1, under every model. Both 0 (nothing known) above 64 bits.
    #[inline]
    pub fn known_bits(&self, e: ExprId) -> (u64, u64) {
        let facts = &self.meta[e.index()].facts;
        (facts.zeros, facts.ones)
    }

    /// Inclusive unsigned bounds. Above 64 bits: nothing known, `(0, u64::MAX)`, and not to be relied on.
    #[inline]
    pub fn interval(&self, e: ExprId) -> (u64, u64) {
        let facts = &self.meta[e.index()].facts;
        (facts.lo, facts.hi)
    }

    /// The symbols the value may depend on, ascending.
    #[inline]
    pub fn support(&self, e: ExprId) -> &[SymId] {
        self.supports.get(self.meta[e.index()].support)
    }

    /// A hash of the structure: symbols by name, constants by value, no ids. The same in every pool, run and process.
    #[inline]
    pub fn structural_hash(&self, e: ExprId) -> u64 {
        self.meta[e.index()].hash as u64
    }

    /// The same with 128 bits: as good as never equal for different structures.
    #[inline]
    pub fn digest(&self, e: ExprId) -> u128 {
        self.meta[e.index()].hash
    }

    /// The parts of a conjunction, in order.
    pub fn conjuncts(&self, cond: ExprId) -> Vec<ExprId> {
        let (mut all, mut parts) = (Vec::new(), vec![cond]);
        while let Some(part) = parts.pop() {
            match self.kind(part) {
                Kind::And(a, b) if self.width(part) == 1 => parts.extend([b, a]),
                _ => all.push(part),
            }
        }
        all
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes were asked for that were not known, and a share of the symbols that unions of supports copied: a measure of the work
    /// done, for those who look at a clock now and then.
    pub fn rewrites(&self) -> u64 {
        self.rewrites + self.supports.copied() / 64
    }

    /// Never: every pool has the two truth values.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes of memory held, about.
    pub fn memory(&self) -> usize {
        let wides: usize = self.wides.iter().map(|limbs| 16 * limbs.len() + 64).sum();
        self.nodes.capacity() * size_of::<Node>()
            + self.meta.capacity() * size_of::<Meta>()
            + self.table.slots.len() * 8
            + wides
            + self.symbols.len() * 80
            + self.array_elems * 4
            + self.arrays.len() * 80
            + self.supports.bytes()
            + REWRITTEN * size_of::<(Node, ExprId)>()
    }

    /// The node, new or known. The only place that adds one.
    #[inline]
    pub(crate) fn intern(&mut self, node: Node) -> ExprId {
        match self.find(node) {
            Some(id) => id,
            None => self.insert(node),
        }
    }

    /// The node, if there is one.
    #[inline]
    pub(crate) fn find(&self, node: Node) -> Option<ExprId> {
        let hash = node.key_hash();
        let mut at = hash as u32 as usize;
        loop {
            let (tag, id) = self.table.slot(at)?;
            if tag == (hash >> 32) as u32 && self.nodes[id as usize] == node {
                return Some(ExprId::from_raw(id));
            }
            at += 1;
        }
    }

    /// What the node simplified to when it was last asked for, if that is remembered.
    #[inline]
    pub(crate) fn recall(&self, node: Node) -> Option<ExprId> {
        let (known, result) = self.rewritten[node.key_hash() as usize % REWRITTEN];
        (known == node).then_some(result)
    }

    pub(crate) fn remember(&mut self, node: Node, result: ExprId) {
        self.rewritten[node.key_hash() as usize % REWRITTEN] = (node, result);
    }

    #[cold]
    fn insert(&mut self, node: Node) -> ExprId {
        check_width(node.width());
        let id = self.nodes.len() as u32;
        assert!(id < u32::MAX - 1, "the pool holds at most 2^32 - 2 nodes");
        let meta = Meta {
            facts: self.derive_facts(node),
            hash: self.derive_hash(node),
            support: self.derive_support(node),
            anchored: self.derive_anchored(node),
        };
        self.nodes.push(node);
        self.meta.push(meta);
        self.table.insert(node.key_hash(), id, &self.nodes);
        ExprId::from_raw(id)
    }

    fn derive_hash(&self, node: Node) -> u128 {
        let of = |raw: u32| self.meta[raw as usize].hash;
        let seed = mix(both(node.width().into()), both(node.op() as u64 + 1));
        match node.kind() {
            Kind::Const if node.width() <= 64 => mix(seed, both(Node::join(node.a, node.b))),
            Kind::Const => self.wides[node.a as usize].iter().fold(seed, |hash, &limb| mix(hash, both(limb))),
            Kind::Sym(symbol) => {
                let info = self.sym_info(symbol);
                info.name.bytes().fold(mix(seed, both(info.index.into())), |hash, byte| mix(hash, both(byte.into())))
            }
            Kind::Extract(a, lo) => mix(mix(seed, of(a.raw())), both(lo.into())),
            Kind::Read(array, index) => mix(mix(seed, self.arrays[array.index()].hash), of(index.raw())),
            Kind::PtrAdd(base, offset) => mix(mix(seed, both(base)), of(offset.raw())),
            Kind::Float(op, a, b) => mix(mix(mix(seed, both(op.code().into())), of(a.raw())), of(b.raw())),
            kind => kind.children().fold(seed, |hash, child| mix(hash, self.digest(child))),
        }
    }

    fn derive_anchored(&self, node: Node) -> bool {
        match node.kind() {
            Kind::PtrAdd(_, offset) => self.is_const(offset),
            Kind::Ite(_, a, b) => [a, b].iter().any(|e| self.meta[e.index()].anchored),
            _ => false,
        }
    }

    fn derive_support(&mut self, node: Node) -> SetId {
        match node.kind() {
            Kind::Sym(symbol) => self.supports.intern(&[symbol]),
            Kind::Read(array, index) => {
                let (elems, index) = (self.arrays[array.index()].support, self.meta[index.index()].support);
                self.supports.union(elems, index)
            }
            kind => {
                let mut set = SetId::EMPTY;
                for child in kind.children() {
                    set = self.supports.union(set, self.meta[child.index()].support);
                }
                set
            }
        }
    }
}

#[cold]
fn bad_width(width: Width) -> ! {
    panic!("a width is 1 to {MAX_WIDTH} bits, not {width}")
}

#[inline]
pub(crate) fn check_width(width: Width) {
    if !matches!(width, 1..=MAX_WIDTH) {
        bad_width(width)
    }
}

/// A number for both halves of the structural hash.
#[inline]
fn both(value: u64) -> u128 {
    u128::from(value) << 64 | u128::from(value)
}

/// One step of the structural hash: two hashes of 64 bits, each with a multiplier and a rotation of its own.
#[inline]
fn mix(hash: u128, value: u128) -> u128 {
    let half = |hash: u64, value: u64, turn: u32, by: u64, shift: u32| {
        let x = (hash.rotate_left(turn) ^ value).wrapping_mul(by);
        x ^ x >> shift
    };
    let low = half(hash as u64, value as u64, 23, 0x9e37_79b9_7f4a_7c15, 29);
    let high = half((hash >> 64) as u64, (value >> 64) as u64, 41, 0xd6e8_feb8_6659_fd93, 32);
    u128::from(high) << 64 | u128::from(low)
}

/// The hash table: 0 is an empty slot, else the hash's upper half above the id plus one.
struct Table {
    slots: Vec<u64>,
    used: usize,
}

impl Table {
    fn new() -> Table {
        Table { slots: vec![0; 1 << 10], used: 0 }
    }

    /// Tag and id in the slot at a position taken modulo the size.
    #[inline]
    fn slot(&self, at: usize) -> Option<(u32, u32)> {
        let slot = self.slots[at & (self.slots.len() - 1)];
        (slot != 0).then(|| ((slot >> 32) as u32, (slot as u32).wrapping_sub(1)))
    }

    fn insert(&mut self, hash: u64, id: u32, nodes: &[Node]) {
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            for (id, node) in nodes.iter().enumerate() {
                self.place(node.key_hash(), id as u32);
            }
        } else {
            self.place(hash, id);
        }
    }

    fn place(&mut self, hash: u64, id: u32) {
        let mut at = hash as u32 as usize;
        while self.slot(at).is_some() {
            at += 1;
        }
        let mask = self.slots.len() - 1;
        self.slots[at & mask] = (hash >> 32) << 32 | u64::from(id + 1);
    }
}

impl Pool {
    /// Takes the symbols, with their ids, from a pool that is being replaced.
    pub(crate) fn adopt_symbols(&mut self, old: &mut Pool) {
        self.symbols = std::mem::take(&mut old.symbols);
        self.symbol_ids = std::mem::take(&mut old.symbol_ids);
        self.names = std::mem::take(&mut old.names);
    }
}
