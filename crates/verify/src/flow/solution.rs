//! The result of the points-to analysis: plain numbers, which can be cached for the next run of the same program, and the queries on
//! them.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_ir::Op;

use super::ObjectId;
use super::local::Local;
use super::objects::{ARGUMENTS, CONSTANT, OUTSIDE, Objects, TEXT};
use super::places::{Form, Place};
use super::sparse::Sparse;

/// A function's number and an operation in it.
type At = (u32, u32);
/// Index of a set.
type Set = u32;

/// The objects each pointer of a program may point to. It follows from the program as it is linked, from the summaries and from the function that begins,
/// so where these are the same it can be used again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solution {
    /// Functions that a call may reach, ascending.
    pub(super) reached: Vec<u32>,
    /// By number of the heap object: the object it is seen from a caller, and the call.
    pub(super) made: Vec<(Option<ObjectId>, At)>,
    pub(super) places: Vec<Place>,
    /// Each once: places by their numbers.
    pub(super) sets: Vec<Sparse>,
    /// By function and class of its values: what these may point to.
    pub(super) values: Vec<(u32, u32, Set)>,
    /// By object: what it may hold.
    pub(super) held: Vec<(ObjectId, Set)>,
    /// What functions nobody knows may have.
    pub(super) escaped: Set,
    /// By call of a pointer, in order of discovery: what it may call.
    pub(super) targets: Vec<(At, Vec<Target>)>,
    /// Functions that are allocators themselves, and the classes that only hold new objects.
    pub(super) allocators: Vec<(u32, Vec<u32>)>,
    /// Sizes of the problem: nodes, edges, members of their sets.
    pub(super) sizes: (u32, u32, u32),
}

/// A callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Target {
    Body(u32),
    Model(u32),
    Undefined(u32),
}

impl From<Callee> for Target {
    fn from(callee: Callee) -> Target {
        match callee {
            Callee::Body(f) => Target::Body(f),
            Callee::Model(m) => Target::Model(m),
            Callee::Undefined(u) => Target::Undefined(u),
        }
    }
}

impl From<Target> for Callee {
    fn from(target: Target) -> Callee {
        match target {
            Target::Body(f) => Callee::Body(f),
            Target::Model(m) => Callee::Model(m),
            Target::Undefined(u) => Callee::Undefined(u),
        }
    }
}

/// Answers questions about pointers.
pub struct PointsTo {
    pub objects: Objects,
    pub(super) locals: Vec<Option<Rc<Local>>>,
    solution: Solution,
    /// It was given.
    kept: bool,
    values: FxHashMap<(u32, u32), Set>,
    held: FxHashMap<ObjectId, Set>,
    targets: FxHashMap<CodePos, Vec<Callee>>,
    allocators: FxHashMap<u32, FxHashSet<u32>>,
    /// Of whose addresses some value holds a part, or that are compared with numbers.
    in_parts: BTreeSet<ObjectId>,
}

impl PointsTo {
    /// Of the program that this solution is of.
    pub(super) fn new(image: &Image, objects: Objects, locals: Vec<Option<Rc<Local>>>, solution: Solution) -> PointsTo {
        let values = solution.values.iter().map(|(func, class, set)| ((*func, *class), *set)).collect();
        let held = solution.held.iter().copied().collect();
        let targets = solution.targets.iter();
        let targets = targets.map(|(at, all)| (position(*at), all.iter().map(|target| Callee::from(*target)).collect())).collect();
        let allocators = solution.allocators.iter().map(|(func, fresh)| (*func, fresh.iter().copied().collect())).collect();
        let of_values = solution.values.iter().map(|(.., set)| set).chain(solution.held.iter().map(|(_, set)| set));
        let held_sets: BTreeSet<Set> = of_values.copied().collect();
        let places = held_sets.into_iter().flat_map(|set| solution.sets[set as usize].iter()).map(|loc| solution.places[loc as usize]);
        let in_parts = places.filter(|place| place.form == Form::Part).map(|place| place.object).collect();
        let mut all = PointsTo { objects, locals, solution, kept: false, values, held, targets, allocators, in_parts };
        all.in_parts.extend(all.compared(image));
        all
    }

    /// The objects whose addresses the program compares with numbers: comparisons alone may tell it an address.
    fn compared(&self, image: &Image) -> Vec<ObjectId> {
        let mut objects = Vec::new();
        for (func, local) in (0..).zip(&self.locals).filter(|(func, _)| !image.is_library(*func)) {
            let Some(local) = local else { continue };
            let constants = image.function(func).1.consts.count;
            let compares = |op: Op| matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
            for inst in local.values.insts.iter().filter(|inst| inst.width == 64 && inst.operator().is_some_and(compares)) {
                for (address, number) in [(inst.a, inst.b), (inst.b, inst.a)] {
                    if number >= constants && !local.fixed.contains_key(&number) && self.is_unknown(func, number) {
                        objects.extend(local.fixed.get(&address).map(|(object, _)| *object));
                        objects.extend(self.of_slot(func, address).map(|place| place.object));
                    }
                }
            }
        }
        objects
    }

    /// Of a solution that was kept; `None`: it is not of this program.
    pub(super) fn kept(image: &Rc<Image>, solution: Solution) -> Option<PointsTo> {
        let mut objects = Objects::new(image.clone());
        let functions = image.program.functions().len();
        for (inner, at) in &solution.made {
            objects.remake(*inner, position(*at))?;
        }
        let set = |set: Set| (set as usize) < solution.sets.len();
        let func = |func: u32| (func as usize) < functions;
        let fits = set(solution.escaped)
            && solution.made.iter().all(|(_, at)| func(at.0))
            && solution.places.iter().all(|place| place.object.0 < objects.count())
            && solution.sets.iter().all(|set| set.is_below(solution.places.len() as u64))
            && solution.values.iter().all(|(_, _, of)| set(*of))
            && solution.held.iter().all(|(_, of)| set(*of))
            && solution.targets.iter().flat_map(|(_, all)| all).all(|target| !matches!(target, Target::Body(f) if !func(*f)));
        if !fits {
            return None;
        }
        let mut locals = vec![None; functions];
        for func in &solution.reached {
            *locals.get_mut(*func as usize)? = Some(Rc::new(Local::read(image, &objects, *func)));
        }
        Some(PointsTo { kept: true, ..PointsTo::new(image, objects, locals, solution) })
    }

    /// What may be kept for another start, if it was not.
    pub fn solved(&self) -> Option<&Solution> {
        (!self.kept).then_some(&self.solution)
    }

    /// What a set says of places that an address may lead to. What the program is given is one object to those who ask.
    fn places(&self, set: Option<&Set>) -> impl Iterator<Item = Place> + '_ {
        let set = set.map(|set| &self.solution.sets[*set as usize]);
        let places = set.into_iter().flat_map(Sparse::iter).map(|loc| self.solution.places[loc as usize]);
        places.filter(|place| place.is_address() && place.object != CONSTANT).map(|place| match place.object {
            ARGUMENTS | TEXT => Place { object: OUTSIDE, offset: None, ..place },
            _ => place,
        })
    }

    /// The places that the value in a slot may be the address of.
    pub fn of_slot(&self, func: u32, slot: u32) -> impl Iterator<Item = Place> + '_ {
        let class = self.local(func).map(|local| local.class(slot));
        self.places(class.and_then(|class| self.values.get(&(func, class))))
    }

    /// Whether nothing is known of where the value in a slot may lead: it holds no address that the program's instructions could have put there.
    pub fn is_unknown(&self, func: u32, slot: u32) -> bool {
        let set = self.local(func).and_then(|local| self.values.get(&(func, local.class(slot))));
        let is_address = |loc| self.solution.places[loc as usize].is_address();
        !set.is_some_and(|set| self.solution.sets[*set as usize].iter().any(is_address))
    }

    /// The objects whose addresses may come to be in a way that is not followed: some value holds a part of one, or one is compared with numbers.
    pub fn in_parts(&self) -> &BTreeSet<ObjectId> {
        &self.in_parts
    }

    /// The objects that the object may hold addresses of.
    pub fn in_object(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let others = [ARGUMENTS, TEXT].into_iter().filter(move |_| object == OUTSIDE);
        others.chain([object]).flat_map(|object| self.places(self.held.get(&object))).map(|place| place.object)
    }

    /// What functions nobody knows may have.
    pub fn escaped(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.places(Some(&self.solution.escaped)).map(|place| place.object)
    }

    /// What the function says about pointers; `None`: no call reaches it.
    pub fn local(&self, func: u32) -> Option<&Rc<Local>> {
        self.locals[func as usize].as_ref()
    }

    /// What the call by pointer at a place may call.
    pub fn targets(&self, at: CodePos) -> &[Callee] {
        self.targets.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The classes of values that only hold what the function has just allocated, if it is an allocator itself.
    pub fn allocator(&self, func: u32) -> Option<&FxHashSet<u32>> {
        self.allocators.get(&func)
    }

    /// Sizes, in words.
    pub fn statistics(&self) -> String {
        let (functions, allocators) = (self.solution.reached.len(), self.allocators.len());
        let (nodes, edges, members) = self.solution.sizes;
        format!("{functions} functions, of which {allocators} are allocators; {nodes} nodes, {edges} edges, {members} members of sets")
    }
}

fn position((func, op): At) -> CodePos {
    CodePos { func, op }
}
