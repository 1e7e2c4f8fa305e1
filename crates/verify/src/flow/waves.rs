//! The solver of inclusion constraints: a graph of nodes, each with a set of memory locations, and edges along which the sets flow.
//!
//! Algorithm: wave propagation (Pereira and Berlin, "Wave propagation and deep propagation for pointer analysis", CGO 2009). Cycles are
//! collapsed to one node. New elements flow in topological order. Then loads and stores through pointers add edges. This repeats until
//! nothing is new. All loads through one pointer share a node, and so do its stores. So a location is connected to two nodes instead of one
//! per access.
//!
//! An object's contents have a node for each cell of 8 bytes that is accessed at a known offset. A node for stores at unknown offsets flows
//! into all of them. All of them flow into a node for loads at unknown offsets. An access touches the cells that its bytes lie in.
//!
//! Values that are no address carry parts of addresses ([`Form`]) and distances between them. [`arithmetic`](super::arithmetic) combines
//! them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ObjectId;
use super::arithmetic::Arithmetic;
use super::graph::components;
use super::objects::CONSTANT;
use super::places::{Form, Loc, Places};
use super::sparse::Sparse;

/// The points-to sets of a program take more work than [`MOST_WORK`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Members of sets that may flow or be looked at: some 10 to 30 s. `xmlwf` needs 39,000 million in 13 s, `lua` 14,000 million; a C++ program with
/// streams is not done after minutes.
const MOST_WORK: u64 = 60_000_000_000;

/// A node by its number; several numbers may be one node.
pub type Node = u32;
const NONE: Node = Node::MAX;

/// How an address moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shift {
    /// So many bytes on.
    By(i64),
    /// To somewhere in the same object.
    Somewhere,
    /// To some of its bits, or a number computed from them.
    Part,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load or store of 8 bytes.
    LoadWord,
    StoreWord,
    /// A load or store of fewer.
    LoadPart,
    StorePart,
}

impl Access {
    const ALL: [Access; 4] = [Access::LoadWord, Access::StoreWord, Access::LoadPart, Access::StorePart];
    fn loads(self) -> bool {
        matches!(self, Access::LoadWord | Access::LoadPart)
    }
    /// Bytes, at most: parts of more than 4 are rare.
    fn bytes(self) -> u32 {
        if matches!(self, Access::LoadWord | Access::StoreWord) { 8 } else { 4 }
    }
}

#[derive(Clone, Debug, Default)]
struct Data {
    now: Sparse,
    /// What has flowed on already.
    passed: Sparse,
    /// What loads, stores and calls have seen already.
    seen: Sparse,
    next: Vec<Node>,
    /// Nodes that hold what this one does, moved.
    moved: Vec<(Shift, Node)>,
    calls: Vec<u32>,
}

/// What an object holds.
#[derive(Clone, Copy)]
struct Content {
    /// Flows into all cells.
    anywhere: Node,
    /// All cells flow into it.
    all: Node,
}

#[derive(Default)]
pub struct Waves {
    parent: Vec<Node>,
    data: Vec<Data>,
    /// By access: what is loaded through the node's pointers, or stored.
    accessed: [Vec<Node>; 4],
    edges: FxHashSet<(Node, Node)>,
    pub places: Places,
    contents: FxHashMap<ObjectId, Content>,
    cells: FxHashMap<(ObjectId, u32), Node>,
    /// Sizes of objects in bytes, 0 if their bytes are not told apart.
    sizes: FxHashMap<ObjectId, u64>,
    /// Something was added to a set.
    grew: bool,
    /// Members that have flowed along edges, and that loads, stores and moves have looked at.
    pub(super) work: u64,
    pub(super) arithmetic: Arithmetic,
}

impl Waves {
    pub fn node(&mut self) -> Node {
        self.parent.push(self.data.len() as Node);
        self.data.push(Data::default());
        self.accessed.iter_mut().for_each(|table| table.push(NONE));
        self.data.len() as Node - 1
    }

    pub fn find(&self, mut node: Node) -> Node {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    /// Has the bytes of an object be told apart.
    pub fn set_size(&mut self, object: ObjectId, size: u64) {
        self.sizes.insert(object, size);
    }

    /// The number of a byte of an object.
    pub fn at(&mut self, object: ObjectId, offset: u64) -> Loc {
        let size = self.sizes.get(&object).copied().unwrap_or(0);
        self.places.at(object, offset, size)
    }

    fn content(&mut self, object: ObjectId) -> Content {
        if let Some(content) = self.contents.get(&object) {
            return *content;
        }
        let content = Content { anywhere: self.node(), all: self.node() };
        self.contents.insert(object, content);
        self.edge(content.anywhere, content.all);
        content
    }

    /// What is stored somewhere in the object.
    pub fn anywhere(&mut self, object: ObjectId) -> Node {
        self.content(object).anywhere
    }

    /// All that the object holds.
    pub fn all(&mut self, object: ObjectId) -> Node {
        self.content(object).all
    }

    /// The nodes of what an access at a place loads or stores.
    fn held(&mut self, loc: Loc, access: Access) -> [Option<Node>; 2] {
        let place = self.places.place(loc);
        if !place.is_address() {
            return [None, None];
        }
        let Some(offset) = place.offset else {
            let content = self.content(place.object);
            return [Some(if access.loads() { content.all } else { content.anywhere }), None];
        };
        let first = offset & !7;
        let second = (offset + access.bytes() > first + 8).then(|| self.cell_of(place.object, first + 8));
        [Some(self.cell_of(place.object, first)), second]
    }

    fn cell_of(&mut self, object: ObjectId, offset: u32) -> Node {
        if let Some(cell) = self.cells.get(&(object, offset)) {
            return *cell;
        }
        let (content, cell) = (self.content(object), self.node());
        self.cells.insert((object, offset), cell);
        self.edge(content.anywhere, cell);
        self.edge(cell, content.all);
        cell
    }

    /// The cells at two places of which `len` bytes are copied; `None`: they are not told apart.
    pub(super) fn copied(&mut self, to: Loc, from: Loc, len: u32) -> Option<Vec<(Node, Node)>> {
        let (to, from) = (self.places.place(to), self.places.place(from));
        let (at, begin) = (to.offset?, from.offset?);
        if at % 8 != begin % 8 {
            return None;
        }
        let cells = (0..len + begin % 8).step_by(8);
        Some(cells.map(|i| (self.cell_of(to.object, (at & !7) + i), self.cell_of(from.object, (begin & !7) + i))).collect())
    }

    /// What lies in the cell at a place.
    pub fn cell(&mut self, loc: Loc) -> Node {
        let access = Access::StoreWord;
        let [first, _] = self.held(loc, access);
        first.unwrap_or(NONE)
    }

    /// All that the object holds, if anything was ever asked about it.
    pub fn in_object(&self, object: ObjectId) -> Option<&Sparse> {
        self.contents.get(&object).map(|content| self.points_to(content.all))
    }

    /// The objects that anything was ever asked about, ascending.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = self.contents.keys().copied().collect();
        objects.sort_unstable();
        objects
    }

    pub fn points_to(&self, node: Node) -> &Sparse {
        &self.data[self.find(node) as usize].now
    }

    pub fn add(&mut self, node: Node, loc: Loc) {
        let node = self.find(node);
        self.grew |= self.data[node as usize].now.insert(loc);
    }

    /// A new node that holds what `from` does, moved.
    pub fn moved(&mut self, from: Node, by: Shift) -> Node {
        let to = self.node();
        self.move_to(from, by, to);
        to
    }

    /// Has `to` hold what `from` does, moved.
    pub fn move_to(&mut self, from: Node, by: Shift, to: Node) {
        let from = self.find(from);
        self.data[from as usize].moved.push((by, to));
        self.data[from as usize].seen = Sparse::default();
    }

    pub fn edge(&mut self, from: Node, to: Node) {
        let (from, to) = (self.find(from), self.find(to));
        if from != to && self.edges.insert((from, to)) {
            self.data[from as usize].next.push(to);
            // What has passed does not pass again.
            let passed = std::mem::take(&mut self.data[from as usize].passed);
            self.data[to as usize].now.union_with(&passed);
            self.data[from as usize].passed = passed;
        }
    }

    /// What is loaded or stored so through the node's pointers.
    pub fn accessed(&mut self, address: Node, access: Access) -> Node {
        let address = self.find(address);
        if self.accessed[access as usize][address as usize] == NONE {
            let node = self.node();
            self.accessed[access as usize][address as usize] = node;
            self.data[address as usize].seen = Sparse::default();
        }
        self.accessed[access as usize][address as usize]
    }

    /// Has [`Waves::run`] name what the node comes to point to, with this number.
    pub fn watch(&mut self, node: Node, number: u32) {
        let node = self.find(node);
        self.data[node as usize].calls.push(number);
        self.data[node as usize].seen = Sparse::default();
    }

    /// Lets sets flow until nothing changes but for what the watched nodes newly point to: (number, place), some perhaps again.
    pub fn run(&mut self) -> Result<Vec<(u32, u32)>, TooLarge> {
        loop {
            let order = self.collapse();
            for node in order {
                if self.work > MOST_WORK {
                    return Err(TooLarge);
                }
                let data = &self.data[node as usize];
                let new = data.now.without(&data.passed);
                if new.is_empty() {
                    continue;
                }
                let next = std::mem::take(&mut self.data[node as usize].next);
                self.work += new.len() as u64 * (1 + next.len() as u64);
                for to in &next {
                    let to = self.find(*to);
                    self.data[to as usize].now.union_with(&new);
                }
                let data = &mut self.data[node as usize];
                data.next = next;
                data.passed = data.now.clone();
            }
            let before = self.edges.len();
            self.grew = false;
            let news = self.through_pointers();
            self.compute();
            if !news.is_empty() {
                return Ok(news);
            }
            if self.edges.len() == before && !self.grew {
                return Ok(Vec::new());
            }
        }
    }

    fn through_pointers(&mut self) -> Vec<(u32, u32)> {
        let mut news = Vec::new();
        for node in 0..self.parent.len() as Node {
            let at = node as usize;
            let data = &self.data[at];
            let accessed = self.accessed.each_ref().map(|table| table[at]);
            let used = accessed.iter().any(|node| *node != NONE) || !data.calls.is_empty() || !data.moved.is_empty();
            if self.parent[at] != node || !used {
                continue;
            }
            let new = data.now.without(&data.seen);
            if new.is_empty() {
                continue;
            }
            let users = accessed.iter().filter(|node| **node != NONE).count() + data.calls.len() + data.moved.len();
            self.work += (new.len() * users) as u64;
            self.data[at].seen = self.data[at].now.clone();
            let moved = std::mem::take(&mut self.data[at].moved);
            for loc in new.iter() {
                for (access, node) in Access::ALL.into_iter().zip(accessed).filter(|(_, node)| *node != NONE) {
                    for held in self.held(loc, access).into_iter().flatten() {
                        if access.loads() { self.edge(held, node) } else { self.edge(node, held) }
                    }
                }
                for (by, to) in &moved {
                    if let Some(there) = self.shifted(loc, *by) {
                        self.add(*to, there);
                    }
                }
                news.extend(self.data[at].calls.iter().map(|call| (*call, loc)));
            }
            self.data[at].moved.extend(moved);
        }
        news
    }

    /// What a value holds of a place, moved; `None`: nothing that could matter.
    fn shifted(&mut self, loc: Loc, by: Shift) -> Option<Loc> {
        let place = self.places.place(loc);
        match (place.form, place.offset, by) {
            (Form::Part | Form::Distance(_), ..) => Some(loc),
            (Form::Address, Some(offset), Shift::By(by)) => Some(self.at(place.object, u64::from(offset).wrapping_add_signed(by))),
            (Form::Address, ..) if place.object == CONSTANT && by == Shift::Part => None,
            (Form::Address, _, Shift::Part) => Some(self.places.in_form(place.object, Form::Part)),
            (Form::Address, _, Shift::By(_) | Shift::Somewhere) => Some(self.places.somewhere(place.object)),
        }
    }

    /// Nodes, edges, and members of all sets.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let own = self.data.iter().zip(&self.parent).enumerate().filter(|(i, (_, parent))| **parent as usize == *i);
        let members = own.clone().map(|(_, (data, _))| data.now.len()).sum();
        (own.count(), self.edges.len(), members)
    }

    /// Makes one node of each cycle; the nodes that are left, each before those its set flows to.
    fn collapse(&mut self) -> Vec<Node> {
        let starts: Vec<Node> = (0..self.parent.len() as Node).filter(|node| self.parent[*node as usize] == *node).collect();
        let found = components(self.parent.len(), starts, |node, edge| {
            let next = *self.data[node as usize].next.get(edge)?;
            Some(self.find(next))
        });
        let mut order = Vec::with_capacity(found.len());
        for members in found {
            order.push(members[0]);
            members[1..].iter().rev().for_each(|member| self.merge(members[0], *member));
        }
        order.reverse();
        order
    }

    /// Makes `other` the same node as `into`; both are representatives.
    pub fn merge(&mut self, into: Node, other: Node) {
        let (into, other) = (self.find(into), self.find(other));
        if into == other {
            return;
        }
        let from = std::mem::take(&mut self.data[other as usize]);
        self.parent[other as usize] = into;
        let data = &mut self.data[into as usize];
        data.now.union_with(&from.now);
        data.passed = Sparse::default();
        data.seen = Sparse::default();
        data.calls.extend(from.calls);
        data.moved.extend(from.moved);
        // An edge keeps its place among the known ones under its old name; under the new one it may be there twice, which costs little.
        data.next.extend(from.next);
        for kind in 0..self.accessed.len() {
            let (mine, theirs) = (self.accessed[kind][into as usize], self.accessed[kind][other as usize]);
            match (mine, theirs) {
                (NONE, _) => self.accessed[kind][into as usize] = theirs,
                (_, NONE) => {}
                (mine, theirs) => self.merge(mine, theirs),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_a_bound() {
        let mut waves = Waves::default();
        let (from, to) = (waves.node(), waves.node());
        let loc = waves.at(ObjectId(1), 0);
        waves.add(from, loc);
        waves.edge(from, to);
        assert_eq!(waves.run(), Ok(Vec::new()));
        assert!((1..10).contains(&waves.work) && !waves.points_to(to).is_empty());
        waves.work = MOST_WORK + 1;
        assert_eq!(waves.run(), Err(TooLarge));
    }
}
