//! Addresses that are computed from more than one: sums, differences, indices and copies of known length, over the nodes of [`Waves`].
//!
//! An address plus the distance between two objects leads from one object to the other. A pointer plus an index stays in the pointer's
//! object. Addresses ([`Form`](super::places::Form)) in the index are followed only if the pointer may be other than a whole address. Each
//! constraint is evaluated again when a set that it reads has grown. Cost: small; few values carry distances.

use super::ObjectId;
use super::places::{ANY, Form};
use super::waves::{Access, Node, Shift, Waves};

/// A difference of more pairs of objects is between any two.
const PAIRS: usize = 256;
/// A copy between more pairs of places, or of more bytes, does not tell cells apart.
const COPIES: usize = 256;
const LONGEST: u32 = 1 << 10;

/// A constraint over two nodes, and how large their sets were when it was looked at.
struct Pair<T> {
    a: Node,
    b: Node,
    to: T,
    seen: (usize, usize),
}

impl<T> Pair<T> {
    fn new(a: Node, b: Node, to: T) -> Pair<T> {
        Pair { a, b, to, seen: (0, 0) }
    }
}

/// The constraints.
#[derive(Default)]
pub struct Arithmetic {
    /// To `a + b`: where a distance leads.
    sums: Vec<Pair<Node>>,
    /// To `a - b`: the distance.
    differences: Vec<Pair<Node>>,
    /// To a pointer `a` with the index `b`: the parts in the index.
    indices: Vec<Pair<Node>>,
    /// From the memory at `b` to the memory at `a`, so many bytes; `None`: cells are not told apart any more.
    copies: Vec<Pair<Option<u32>>>,
}

impl Waves {
    /// `to` holds the sum or the difference of what the others hold, as far as distances say where that is.
    pub fn sum(&mut self, a: Node, b: Node, to: Node) {
        self.arithmetic.sums.push(Pair::new(a, b, to));
    }

    /// `to` holds the distances between what the others hold.
    pub fn difference(&mut self, a: Node, b: Node, to: Node) {
        self.arithmetic.differences.push(Pair::new(a, b, to));
    }

    /// `to` holds the pointer with the index added.
    pub fn index(&mut self, pointer: Node, index: Node, to: Node) {
        self.move_to(pointer, Shift::Somewhere, to);
        self.sum(pointer, index, to);
        self.arithmetic.indices.push(Pair::new(pointer, index, to));
    }

    /// The memory at one address is copied to the memory at another; `len`: so many bytes, if that is known.
    pub fn copy(&mut self, to: Node, from: Node, len: Option<u32>) {
        match len.filter(|len| *len <= LONGEST) {
            Some(len) => self.arithmetic.copies.push(Pair::new(to, from, Some(len))),
            None => self.copy_somewhere(to, from),
        }
    }

    fn copy_somewhere(&mut self, to: Node, from: Node) {
        let (to, from) = (self.moved(to, Shift::Somewhere), self.moved(from, Shift::Somewhere));
        let (loaded, stored) = (self.accessed(from, Access::LoadWord), self.accessed(to, Access::StoreWord));
        self.edge(loaded, stored);
    }

    /// Looks at the constraints whose sets have grown.
    pub(super) fn compute(&mut self) {
        let mut all = std::mem::take(&mut self.arithmetic);
        for pair in &mut all.sums {
            if let Some((a, b, to)) = self.grown(pair) {
                self.add_sum(a, b, to);
            }
        }
        for pair in &mut all.differences {
            if let Some((a, b, to)) = self.grown(pair) {
                self.add_difference(a, b, to);
            }
        }
        for pair in &mut all.copies {
            if let Some(len) = pair.to
                && let Some((to, from, _)) = self.grown(pair)
                && !self.add_copy(to, from, len)
            {
                pair.to = None;
                self.copy_somewhere(to, from);
            }
        }
        self.arithmetic = all;
    }

    /// When nothing else changes: lets parts in indices be part of pointers that are no mere addresses. Whether that changed anything.
    pub fn settle(&mut self) -> bool {
        let mut all = std::mem::take(&mut self.arithmetic);
        let mut grew = false;
        for pair in &mut all.indices {
            let pointer = self.points_to(pair.a);
            let mere = !pointer.is_empty() && pointer.iter().all(|loc| self.places.place(loc).form == Form::Address);
            if !mere && let Some((_, index, to)) = self.grown(pair) {
                let parts: Vec<_> = self.points_to(index).iter().filter(|loc| self.places.place(*loc).form != Form::Address).collect();
                let addresses: Vec<ObjectId> = self
                    .points_to(index)
                    .iter()
                    .map(|loc| self.places.place(loc))
                    .filter(|p| p.form == Form::Address)
                    .map(|p| p.object)
                    .collect();
                let before = self.points_to(to).len();
                parts.into_iter().for_each(|loc| self.add(to, loc));
                addresses.into_iter().for_each(|object| self.add_in_form(to, object, Form::Part));
                grew |= self.points_to(to).len() > before;
            }
        }
        self.arithmetic = all;
        grew
    }

    /// The nodes of a constraint, if a set that it reads has grown.
    fn grown<T: Copy>(&self, pair: &mut Pair<T>) -> Option<(Node, Node, T)> {
        let now = (self.points_to(pair.a).len(), self.points_to(pair.b).len());
        (std::mem::replace(&mut pair.seen, now) != now).then_some((pair.a, pair.b, pair.to))
    }

    fn add_in_form(&mut self, to: Node, object: ObjectId, form: Form) {
        let loc = self.places.in_form(object, form);
        self.add(to, loc);
    }

    /// The objects that a node holds addresses of, or parts of addresses.
    fn objects_in(&self, node: Node) -> Vec<ObjectId> {
        let places = self.points_to(node).iter().map(|loc| self.places.place(loc));
        let mut objects: Vec<ObjectId> = places.filter(|place| place.is_address()).map(|place| place.object).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// The distances that a node holds.
    fn distances_in(&self, node: Node) -> Vec<(ObjectId, ObjectId)> {
        let places = self.points_to(node).iter().map(|loc| self.places.place(loc));
        let distance = |place: super::places::Place| match place.form {
            Form::Distance(other) => Some((place.object, other)),
            Form::Address | Form::Part => None,
        };
        places.filter_map(distance).collect()
    }

    fn add_sum(&mut self, a: Node, b: Node, to: Node) {
        for (pointer, distance) in [(a, b), (b, a)] {
            let distances = self.distances_in(distance);
            if distances.is_empty() {
                continue;
            }
            let from = self.objects_in(pointer);
            for (x, y) in distances {
                // A distance leads both ways.
                if y == ANY && !from.is_empty() || from.binary_search(&y).is_ok() {
                    self.add_in_form(to, x, Form::Part);
                }
                if y != ANY && from.binary_search(&x).is_ok() {
                    self.add_in_form(to, y, Form::Part);
                }
            }
        }
    }

    fn add_difference(&mut self, a: Node, b: Node, to: Node) {
        let (from, what) = (self.objects_in(a), self.objects_in(b));
        if from.len() * what.len() > PAIRS {
            from.into_iter().chain(what).for_each(|object| self.add_in_form(to, object, Form::Distance(ANY)));
            return;
        }
        for (x, y) in from.iter().flat_map(|x| what.iter().map(move |y| (*x, *y))).filter(|(x, y)| x != y) {
            self.add_in_form(to, x, Form::Distance(y));
        }
    }

    /// Whether cells are told apart.
    fn add_copy(&mut self, to: Node, from: Node, len: u32) -> bool {
        let (to, from) = (self.points_to(to).clone(), self.points_to(from).clone());
        if to.len() * from.len() > COPIES {
            return false;
        }
        for (to, from) in to.iter().flat_map(|to| from.iter().map(move |from| (to, from))) {
            let (there, here) = (self.places.place(to), self.places.place(from));
            if !there.is_address() || !here.is_address() {
                continue;
            }
            let cells = self.copied(to, from, len).unwrap_or_else(|| vec![(self.anywhere(there.object), self.all(here.object))]);
            cells.into_iter().for_each(|(to, from)| self.edge(from, to));
        }
        true
    }
}
