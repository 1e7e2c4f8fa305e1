//! Points-to analysis: the objects that each pointer may point to. Andersen's analysis over all functions that may be called from the
//! entry.
//!
//! It is inclusion-based, sensitive to fields at constant offsets, and insensitive to the order of instructions. [`local`](super::local)
//! collects a function's constraints, [`waves`](super::waves) solves them. Functions are added when a call may reach them; calls through
//! pointers are resolved as sets grow. Context sensitivity: a function that only returns what it has just allocated (xmalloc, xcalloc …) is
//! an allocator itself. So its objects differ by caller, up to a limit. A summary's pointer flows replace the body. A function without
//! body, summary or model may do anything with its arguments.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_ir::link::Target;
use wryneck_ir::{NONE, limbs};

use super::ObjectId;
use super::broken::What;
use super::local::{CallSite, CallTarget, Constraint, Local};
use super::objects::{ARGUMENTS, MAPPED, OUTSIDE, Objects, TEXT};
use super::places::Loc;
use super::solution::{PointsTo, Solution};
use super::sparse::Sparse;
use super::summary::{CellKind, Holder, Place, PointerFlow, Summaries, Summary};
use super::waves::{Access, Node, Shift, TooLarge, Waves};
use super::wrappers::Wrapper;

/// The functions through which a program begins (models of the environment), and what calls of them run.
const START: &str = "__wryneck_start";
const LIBC_START: &str = "__libc_start_main";
const BEGIN: [&str; 2] = ["__wryneck_begin", "__wryneck_run_init_array"];
/// What libc's start-up code runs in place of `main` where another function begins, and what that calls to begin it.
const ENTRY_CALL: &str = "__wryneck_entry_call";
const CALL: &str = "__wryneck_call";
const FINISH: [&str; 2] = ["__wryneck_finish", "__wryneck_run_fini_array"];
const ENTRY: &str = "__wryneck_entry";
const OUT_OF_MEMORY: &str = "__wryneck_out_of_memory";

/// What was found so far.
pub(super) struct Found {
    pub objects: Objects,
    waves: Waves,
    pub locals: Vec<Option<Rc<Local>>>,
    /// By function and class; those that never hold a pointer have no node.
    nodes: Vec<FxHashMap<u32, Node>>,
    /// By function: what it returns.
    results: Vec<Node>,
    /// What functions nobody knows may have.
    escaped: Node,
    /// Handlers of signals.
    handlers: Node,
    /// Parts of addresses that were written to files, pipes and streams.
    files: Node,
    /// By call of a pointer, in order of discovery without repetition.
    targets: FxHashMap<CodePos, Vec<Callee>>,
    /// What the functions that are allocators themselves allocate: calls of theirs, and the classes of their objects.
    pub wrappers: FxHashMap<u32, Option<Rc<Wrapper>>>,
}

pub(super) struct Solver<'a> {
    pub(super) image: &'a Image,
    pub(super) summaries: &'a Summaries,
    pub(super) to: Found,
    /// What begins where it is not `main`, and what the C library calls as `main`.
    entry: Option<&'a str>,
    main: &'static str,
    todo: Vec<u32>,
    /// Watched calls by pointer, by number.
    watched: Vec<(u32, CallSite)>,
    linked: FxHashSet<(u32, ObjectId)>,
    escaped_seen: FxHashSet<u32>,
}

/// The number under which escaped objects are named.
const ESCAPED: u32 = u32::MAX;

/// `entry`: the function that begins, where it is not `main`.
pub fn solve(image: &Rc<Image>, summaries: &Summaries, entry: Option<&str>) -> Result<PointsTo, TooLarge> {
    let functions = image.program.functions().len();
    let mut waves = Waves::default();
    let results = (0..functions).map(|_| waves.node()).collect();
    let (escaped, handlers, files) = (waves.node(), waves.node(), waves.node());
    let to = Found {
        objects: Objects::new(image.clone()),
        waves,
        locals: vec![None; functions],
        nodes: vec![FxHashMap::default(); functions],
        results,
        escaped,
        handlers,
        files,
        targets: FxHashMap::default(),
        wrappers: FxHashMap::default(),
    };
    let mut solver = Solver {
        image,
        summaries,
        to,
        entry,
        main: if entry.is_some() { ENTRY_CALL } else { "main" },
        todo: Vec::new(),
        watched: Vec::new(),
        linked: FxHashSet::default(),
        escaped_seen: FxHashSet::default(),
    };
    solver.globals();
    solver.roots();
    solver.run()?;
    let solution = solver.to.solution();
    Ok(PointsTo::new(image, solver.to.objects, solver.to.locals, solution))
}

impl Found {
    /// All of it as plain numbers, in an order of their own.
    fn solution(&self) -> Solution {
        let mut sets = Sets::default();
        let mut values: Vec<(u32, u32, Node)> = Vec::new();
        for (func, nodes) in (0..).zip(&self.nodes) {
            values.extend(nodes.iter().map(|(class, node)| (func, *class, self.waves.find(*node))));
        }
        values.sort_unstable();
        let values = values.into_iter().map(|(func, class, node)| (func, class, sets.number(self.waves.points_to(node)))).collect();
        let held =
            self.waves.objects().into_iter().filter_map(|object| Some((object, sets.number(self.waves.in_object(object)?)))).collect();
        let escaped = sets.number(self.waves.points_to(self.escaped));
        let mut targets: Vec<_> = self.targets.iter().collect();
        targets.sort_unstable_by_key(|(at, _)| **at);
        let targets = targets.into_iter().map(|(at, all)| ((at.func, at.op), all.iter().map(|callee| (*callee).into()).collect()));
        let fresh = |wrapper: &Wrapper| {
            let mut fresh: Vec<u32> = wrapper.fresh.iter().copied().collect();
            fresh.sort_unstable();
            fresh
        };
        let mut allocators: Vec<_> = self.wrappers.iter().filter_map(|(func, wrapper)| Some((*func, fresh(wrapper.as_ref()?)))).collect();
        allocators.sort_unstable();
        let (nodes, edges, members) = self.waves.sizes();
        Solution {
            reached: (0..).zip(&self.locals).filter(|(_, local)| local.is_some()).map(|(func, _)| func).collect(),
            made: self.objects.made(),
            places: self.waves.places.all().to_vec(),
            sets: sets.all,
            values,
            held,
            escaped,
            targets: targets.collect(),
            allocators,
            sizes: (nodes as u32, edges as u32, members as u32),
        }
    }
}

/// Sets, each once.
#[derive(Default)]
struct Sets {
    all: Vec<Sparse>,
    numbers: FxHashMap<Sparse, u32>,
}

impl Sets {
    fn number(&mut self, set: &Sparse) -> u32 {
        if let Some(number) = self.numbers.get(set) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(set.clone());
        self.numbers.insert(set.clone(), number);
        number
    }
}

impl Solver<'_> {
    fn globals(&mut self) {
        let image = self.image;
        for (g, global) in (0..).zip(image.program.globals()).filter(|(_, g)| g.live) {
            let (module, record) = image.program.global(wryneck_ir::link::GlobalId(g));
            let relocs = module.relocs.range(record.relocs);
            let Some((object, _)) = self.to.objects.target(Target::Data(wryneck_ir::link::GlobalId(g), 0)) else { continue };
            for r in relocs {
                if let Some((target, offset)) = self.to.objects.target(image.program.target(global.place.unit, r.symbol)) {
                    let at = self.at(object, r.offset);
                    let cell = self.to.waves.cell(at);
                    self.add_address(cell, target, offset.wrapping_add_signed(r.addend));
                }
            }
        }
        for (holder, held) in [(OUTSIDE, OUTSIDE), (OUTSIDE, TEXT), (ARGUMENTS, TEXT)] {
            let holder = self.to.waves.anywhere(holder);
            self.add_address(holder, held, 0);
        }
        for object in [OUTSIDE, ARGUMENTS, TEXT, MAPPED] {
            self.add_address(self.to.escaped, object, 0);
        }
        self.to.waves.watch(self.to.escaped, ESCAPED);
    }

    /// The program's start; without one, main; without one, any function, given anything from outside.
    fn roots(&mut self) {
        let lookup = |name: &str| match self.image.program.lookup(name) {
            Some(Target::Func(f)) => Some(f.0),
            Some(Target::Data(..) | Target::Undefined(_) | Target::Null) | None => None,
        };
        if let Some(entry) = lookup(ENTRY) {
            return self.reach(entry);
        }
        let main = lookup("main");
        let all = 0..self.image.program.functions().len() as u32;
        let roots: Vec<u32> = main.map_or(all.collect(), |main| vec![main]);
        for root in roots {
            self.reach(root);
            self.given(root, if main.is_some() { ARGUMENTS } else { OUTSIDE });
        }
        self.call_all(self.image.program.constructors());
        self.call_all(self.image.program.destructors());
    }

    /// A function is called from outside, with addresses of this.
    fn given(&mut self, func: u32, object: ObjectId) {
        self.reach(func);
        let local = self.local(func);
        let (module, function) = self.image.function(func);
        let widths = module.params.range(function.params).iter().flat_map(|param| (0..limbs(param.width)).map(|_| param.width));
        for ((class, _), width) in local.params.iter().zip(widths) {
            if width >= 64 {
                let node = self.node(func, *class);
                self.add_address(node, object, 0);
            }
        }
    }

    /// The place at a byte of an object.
    fn at(&mut self, object: ObjectId, offset: u64) -> Loc {
        let size = self.to.objects.size(object);
        self.to.waves.set_size(object, size);
        self.to.waves.at(object, offset)
    }

    fn add_address(&mut self, node: Node, object: ObjectId, offset: u64) {
        let loc = self.at(object, offset);
        self.to.waves.add(node, loc);
    }

    fn call_all(&mut self, targets: &[Target]) {
        for target in targets {
            if let Target::Func(f) = target {
                self.reach(f.0);
            }
        }
    }

    fn run(&mut self) -> Result<(), TooLarge> {
        loop {
            while let Some(func) = self.todo.pop() {
                self.read(func);
            }
            let news = self.to.waves.run()?;
            if news.is_empty() && self.todo.is_empty() && !self.to.waves.settle() {
                return Ok(());
            }
            for (number, loc) in news {
                let place = self.to.waves.places.place(loc);
                if place.is_address() {
                    self.found(number, place.object);
                }
            }
        }
    }

    fn reach(&mut self, func: u32) {
        if self.to.locals[func as usize].is_none() {
            self.local(func);
            self.todo.push(func);
        }
    }

    fn local(&mut self, func: u32) -> Rc<Local> {
        if let Some(local) = &self.to.locals[func as usize] {
            return local.clone();
        }
        let mut local = Local::read(self.image, &self.to.objects, func);
        if let Some(broken) = self.summaries.broken() {
            let mut n = 0..;
            local.constraints.retain(|_| !broken.is(What::Pointer, self.image.name(func), n.next().unwrap_or(0)));
        }
        let local = Rc::new(local);
        self.to.locals[func as usize] = Some(local.clone());
        local
    }

    fn node(&mut self, func: u32, class: u32) -> Node {
        if let Some(node) = self.to.nodes[func as usize].get(&class) {
            return *node;
        }
        let node = self.to.waves.node();
        self.to.nodes[func as usize].insert(class, node);
        node
    }

    /// Takes a function's constraints in.
    fn read(&mut self, func: u32) {
        let local = self.local(func);
        for c in &local.constraints {
            match *c {
                Constraint::Address { to, object, offset } => {
                    let to = self.node(func, to);
                    self.add_address(to, object, offset);
                }
                Constraint::Copy { to, from } => {
                    let (to, from) = (self.node(func, to), self.node(func, from));
                    self.to.waves.edge(from, to);
                }
                Constraint::Move { to, from, by } => {
                    let (to, from) = (self.node(func, to), self.node(func, from));
                    self.to.waves.move_to(from, by, to);
                }
                Constraint::Load { to, address, limbs: 0 } => {
                    let (to, address) = (self.node(func, to), self.node(func, address));
                    let loaded = self.to.waves.accessed(address, Access::LoadPart);
                    self.to.waves.move_to(loaded, Shift::Part, to);
                }
                Constraint::Load { to, address, limbs } => {
                    let to = self.node(func, to);
                    for address in self.limbs(func, address, limbs) {
                        let loaded = self.to.waves.accessed(address, Access::LoadWord);
                        self.to.waves.edge(loaded, to);
                    }
                }
                Constraint::Store { address, value, limbs: 0 } => {
                    let (value, address) = (self.node(func, value), self.node(func, address));
                    let stored = self.to.waves.accessed(address, Access::StorePart);
                    self.to.waves.edge(value, stored);
                }
                Constraint::Store { address, value, limbs } => {
                    let value = self.node(func, value);
                    for address in self.limbs(func, address, limbs) {
                        let stored = self.to.waves.accessed(address, Access::StoreWord);
                        self.to.waves.edge(value, stored);
                    }
                }
                Constraint::Transfer { to, from, len } => {
                    let (to, from) = (self.node(func, to), self.node(func, from));
                    self.to.waves.copy(to, from, len);
                }
                Constraint::Sum { to, a, b } => {
                    let (to, a, b) = (self.node(func, to), self.node(func, a), self.node(func, b));
                    self.to.waves.sum(a, b, to);
                }
                Constraint::Difference { to, a, b } => {
                    let (to, a, b) = (self.node(func, to), self.node(func, a), self.node(func, b));
                    self.to.waves.difference(a, b, to);
                }
                Constraint::Index { to, pointer, index } => {
                    let (to, pointer, index) = (self.node(func, to), self.node(func, pointer), self.node(func, index));
                    self.to.waves.index(pointer, index, to);
                }
            }
        }
        for class in &local.returned {
            let node = self.node(func, *class);
            self.to.waves.edge(node, self.to.results[func as usize]);
        }
        for call in &local.calls {
            match call.target {
                CallTarget::Direct(None) => {}
                CallTarget::Direct(Some(callee)) => self.call(func, call, callee, true),
                CallTarget::Indirect(class) => {
                    let node = self.node(func, class);
                    self.to.waves.watch(node, self.watched.len() as u32);
                    self.watched.push((func, call.clone()));
                }
            }
        }
    }

    /// The addresses of so many limbs.
    fn limbs(&mut self, func: u32, address: u32, limbs: u32) -> Vec<Node> {
        let first = self.node(func, address);
        let others: Vec<Node> = (1..limbs).map(|i| self.to.waves.moved(first, Shift::By(8 * i64::from(i)))).collect();
        [first].into_iter().chain(others).collect()
    }

    /// A watched node has come to point to an object.
    fn found(&mut self, number: u32, object: ObjectId) {
        if number == ESCAPED {
            return self.escapes(object);
        }
        if !self.linked.insert((number, object)) {
            return;
        }
        let Some(callee) = self.to.objects.callee(object) else { return };
        let (func, call) = self.watched[number as usize].clone();
        let targets = self.to.targets.entry(CodePos { func, op: call.op }).or_default();
        if !targets.contains(&callee) {
            targets.push(callee);
            self.call(func, &call, callee, false);
        }
    }

    /// A function nobody knows has the object: it may change it, and call it.
    fn escapes(&mut self, object: ObjectId) {
        if !self.escaped_seen.insert(object.0) {
            return;
        }
        let escaped = self.to.escaped;
        match self.to.objects.callee(object) {
            Some(Callee::Body(f)) => {
                self.reach(f);
                for (class, _) in &self.local(f).params {
                    let node = self.node(f, *class);
                    self.to.waves.edge(escaped, node);
                }
                self.to.waves.edge(self.to.results[f as usize], escaped);
            }
            Some(Callee::Model(_) | Callee::Undefined(_)) => {}
            None => {
                let (all, anywhere) = (self.to.waves.all(object), self.to.waves.anywhere(object));
                self.to.waves.edge(all, escaped);
                self.to.waves.edge(escaped, anywhere);
            }
        }
    }

    fn call(&mut self, func: u32, call: &CallSite, callee: Callee, direct: bool) {
        let image = self.image;
        match (summary(image, self.summaries, callee, call.number), callee) {
            (_, Callee::Model(m)) if self.start(CodePos { func, op: call.op }, image.model_name(m)) => {}
            (Some(summary), _) => self.summarised(func, call, summary),
            (None, Callee::Body(f)) => self.call_body(func, call, f, direct),
            (None, Callee::Model(_) | Callee::Undefined(_)) => self.unknown(func, call),
        }
    }

    fn call_body(&mut self, func: u32, call: &CallSite, callee: u32, direct: bool) {
        self.reach(callee);
        let local = self.local(callee);
        for (limb, (param, by_value)) in call.limbs.iter().zip(&local.params).filter(|(limb, _)| **limb != NONE) {
            let (from, to) = (self.node(func, *limb), self.node(callee, *param));
            if *by_value {
                // The callee's own copy of the structure.
                let copy = self.to.objects.dynamic(callee);
                self.add_address(to, copy, 0);
                self.to.waves.copy(to, from, None);
            } else {
                self.to.waves.edge(from, to);
            }
        }
        if call.result == NONE {
            return;
        }
        let result = self.node(func, call.result);
        match self.wrapper(callee).filter(|_| direct) {
            Some(wrapper) => {
                for object in self.objects_of(callee, &wrapper) {
                    let seen = self.seen_from(object, CodePos { func, op: call.op });
                    self.add_address(result, seen, 0);
                }
            }
            None => self.to.waves.edge(self.to.results[callee as usize], result),
        }
    }

    /// What an object is for a caller, who sees in it what is in there.
    fn seen_from(&mut self, object: ObjectId, at: CodePos) -> ObjectId {
        let seen = self.to.objects.seen_from(object, at);
        if seen != object {
            let (inner, outer) = (self.to.waves.all(object), self.to.waves.anywhere(seen));
            self.to.waves.edge(inner, outer);
        }
        seen
    }

    /// What a wrapper's own calls allocate.
    fn objects_of(&mut self, func: u32, wrapper: &Wrapper) -> Vec<ObjectId> {
        let mut all = Vec::new();
        for call in &wrapper.calls {
            let at = CodePos { func, op: call.op };
            let CallTarget::Direct(Some(callee)) = call.target else { continue };
            match callee {
                Callee::Body(f) if self.callee_summary(call).is_none() => {
                    let Some(inner) = self.wrapper(f) else { continue };
                    for object in self.objects_of(f, &inner) {
                        all.push(self.seen_from(object, at));
                    }
                }
                Callee::Body(_) | Callee::Model(_) | Callee::Undefined(_) => all.push(self.to.objects.allocated(at)),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Calls that begin the program, or run what runs before and behind it.
    fn start(&mut self, at: CodePos, name: &str) -> bool {
        let image = self.image;
        let runs: Vec<Target> = match name {
            START => image.program.lookup(LIBC_START).or_else(|| image.program.lookup(self.main)).into_iter().collect(),
            CALL => self.entry.and_then(|entry| image.program.lookup(entry)).into_iter().collect(),
            name if FINISH.contains(&name) => image.program.destructors().to_vec(),
            name if BEGIN.contains(&name) => image.program.constructors().to_vec(),
            _ => return false,
        };
        for target in runs {
            let Target::Func(f) = target else { continue };
            self.reach(f.0);
            self.to.targets.entry(at).or_default().push(Callee::Body(f.0));
            if name == START || name == CALL {
                self.given(f.0, if name == START { ARGUMENTS } else { OUTSIDE });
            }
            if name == START {
                let main = image.program.lookup(self.main).and_then(|main| self.to.objects.target(main));
                if let (Some((object, _)), Some((class, _))) = (main, self.local(f.0).params.first()) {
                    let node = self.node(f.0, *class);
                    self.add_address(node, object, 0);
                }
            }
        }
        true
    }

    fn holder(&mut self, func: u32, call: &CallSite, holder: Holder) -> Option<Node> {
        let argument = |i: u32| call.args.get(i as usize).and_then(|at| call.limbs.get(*at as usize)).copied().filter(|s| *s != NONE);
        let slot = match holder {
            Holder::New | Holder::Outside | Holder::Mapped => return None,
            Holder::Handlers => return Some(self.to.handlers),
            Holder::Files => return Some(self.to.files),
            Holder::Result | Holder::InResult => Some(call.result).filter(|s| *s != NONE),
            Holder::Arg(i) | Holder::Into(i) | Holder::In(i) => argument(i),
        };
        slot.map(|slot| self.node(func, slot))
    }

    fn summarised(&mut self, func: u32, call: &CallSite, summary: &Summary) {
        for flow in &summary.flows {
            self.flow(func, call, *flow);
        }
        self.computed(func, call, summary);
        // What fails to allocate goes on here.
        if summary.flows.iter().any(|f| f.from == Holder::New)
            && let Some(Target::Func(f)) = self.image.program.lookup(OUT_OF_MEMORY)
        {
            self.reach(f.0);
        }
    }

    /// What a call with a summary computes from what it reads: parts of addresses go to what it writes, where no flow says more. Files and
    /// pipes pass them on.
    fn computed(&mut self, func: u32, call: &CallSite, summary: &Summary) {
        let is_cell = |place: &Place| matches!(place, Place::Cell(kind, _) if !matches!(kind, CellKind::Clock | CellKind::StreamError));
        let reads_memory = summary.reads.iter().any(|place| matches!(place, Place::Memory(_) | Place::Reachable(_)));
        let (inputs, outputs) = (summary.reads.iter().any(is_cell), summary.writes.iter().any(is_cell));
        let is_address = |i: u32| {
            let named = |place: &Place| matches!(place, Place::Memory(n) | Place::Reachable(n) | Place::Cell(_, Some(n)) if *n == i);
            let moved = |flow: &PointerFlow| {
                [flow.to, flow.from].iter().any(|h| matches!(h, Holder::Arg(n) | Holder::Into(n) | Holder::In(n) if *n == i))
            };
            summary.reads.iter().chain(&summary.writes).any(named) || summary.flows.iter().any(moved)
        };
        let mut read = Vec::new();
        for place in &summary.reads {
            match *place {
                // Numbers that say how much to read or write are no part of it.
                Place::Arg(i) if !is_address(i) && !(reads_memory && (inputs || outputs)) => {
                    read.extend(self.holder(func, call, Holder::Arg(i)).map(|node| (node, false)));
                }
                Place::Memory(i) => read.extend(self.contents(func, call, i).map(|node| (node, false))),
                Place::Reachable(i) => read.extend(self.contents(func, call, i).map(|node| (node, true))),
                _ => {}
            }
        }
        let mut to: Vec<Node> = Vec::new();
        for place in &summary.writes {
            match *place {
                Place::Result if summary.flows.iter().all(|flow| flow.to != Holder::Result) => {
                    to.extend(self.holder(func, call, Holder::Result))
                }
                Place::Memory(i) | Place::Reachable(i) if summary.flows.iter().all(|flow| flow.to != Holder::In(i)) => {
                    if let Some(address) = self.holder(func, call, Holder::Arg(i)) {
                        let anywhere = self.to.waves.moved(address, Shift::Somewhere);
                        let pointed = if matches!(place, Place::Reachable(_)) { self.reachable(anywhere) } else { anywhere };
                        to.push(self.to.waves.accessed(pointed, Access::StoreWord));
                    }
                }
                _ => {}
            }
        }
        if to.is_empty() && !outputs {
            return;
        }
        let parts = self.to.waves.node();
        for (node, reachable) in &read {
            let node = if *reachable { self.reachable(*node) } else { *node };
            self.to.waves.move_to(node, Shift::Part, parts);
        }
        // Text that is formatted says addresses only by `%p`, which is seldom read back from a file.
        if outputs && !read.iter().any(|(_, reachable)| *reachable) {
            self.to.waves.edge(parts, self.to.files);
        }
        if inputs {
            self.to.waves.edge(self.to.files, parts);
        }
        to.into_iter().for_each(|node| self.to.waves.edge(parts, node));
    }

    /// What the objects hold that an argument points to.
    fn contents(&mut self, func: u32, call: &CallSite, argument: u32) -> Option<Node> {
        let address = self.holder(func, call, Holder::Arg(argument))?;
        let anywhere = self.to.waves.moved(address, Shift::Somewhere);
        Some(self.to.waves.accessed(anywhere, Access::LoadWord))
    }

    /// What a node holds, and all that can be reached from there.
    fn reachable(&mut self, from: Node) -> Node {
        let all = self.to.waves.node();
        self.to.waves.edge(from, all);
        let anywhere = self.to.waves.moved(all, Shift::Somewhere);
        let loaded = self.to.waves.accessed(anywhere, Access::LoadWord);
        self.to.waves.edge(loaded, all);
        all
    }

    fn flow(&mut self, func: u32, call: &CallSite, flow: PointerFlow) {
        let Some(to) = self.holder(func, call, flow.to) else { return };
        let from = match flow.from {
            Holder::New => self.address_of(|to| to.objects.allocated(CodePos { func, op: call.op })),
            Holder::Outside => self.address_of(|_| OUTSIDE),
            Holder::Mapped => self.address_of(|_| MAPPED),
            Holder::Files | Holder::Handlers | Holder::Result | Holder::Arg(_) => match self.holder(func, call, flow.from) {
                Some(node) => node,
                None => return,
            },
            Holder::Into(_) => match self.holder(func, call, flow.from) {
                Some(node) => self.to.waves.moved(node, Shift::Somewhere),
                None => return,
            },
            Holder::InResult | Holder::In(_) => match self.holder(func, call, flow.from) {
                Some(node) => {
                    let anywhere = self.to.waves.moved(node, Shift::Somewhere);
                    self.to.waves.accessed(anywhere, Access::LoadWord)
                }
                None => return,
            },
        };
        let to = match flow.to {
            Holder::InResult | Holder::In(_) => {
                let anywhere = self.to.waves.moved(to, Shift::Somewhere);
                self.to.waves.accessed(anywhere, Access::StoreWord)
            }
            Holder::Files => {
                self.to.waves.move_to(from, Shift::Part, to);
                return;
            }
            Holder::New | Holder::Outside | Holder::Mapped | Holder::Handlers | Holder::Result | Holder::Arg(_) | Holder::Into(_) => to,
        };
        self.to.waves.edge(from, to);
    }

    fn address_of(&mut self, object: impl FnOnce(&mut Found) -> ObjectId) -> Node {
        let object = object(&mut self.to);
        let node = self.to.waves.node();
        self.add_address(node, object, 0);
        node
    }

    fn unknown(&mut self, func: u32, call: &CallSite) {
        for limb in call.limbs.iter().filter(|limb| **limb != NONE) {
            let node = self.node(func, *limb);
            self.to.waves.edge(node, self.to.escaped);
        }
        if call.result != NONE {
            let node = self.node(func, call.result);
            self.to.waves.edge(self.to.escaped, node);
        }
    }
}

/// The summary that stands for a call; `number` is the first argument if it is known. The program's own functions have none.
pub fn summary<'s>(image: &Image, summaries: &'s Summaries, callee: Callee, number: Option<u64>) -> Option<&'s Summary> {
    match callee {
        Callee::Body(f) if image.is_library(f) => summaries.get(image.name(f)),
        Callee::Body(f) => summaries.of_program(image.name(f)),
        Callee::Model(m) => summaries.of_call(image.model_name(m), number),
        Callee::Undefined(u) => summaries.external(image.undefined_name(u)),
    }
}
