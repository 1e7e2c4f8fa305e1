//! Effects: which events, ends of the program and writes may happen in a block, on an alternative, or in a function with its callees.
//!
//! The effects of a function are those of its blocks, closed over the call graph by strongly connected components. Stack variables of a
//! function that has returned are gone. A function that cannot be active already gets new ones at each call. So callers do not see writes
//! to the function's own stack variables. Callers outside of a recursive component do not see writes to those of its members. Writes of an
//! allocator to what it has just allocated are left out, because nothing else refers to it yet.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_ir::{Function, Inst, Module, NONE, Op, function_flags};

use super::ObjectId;
use super::bits::BitSet;
use super::broken::What;
use super::cfg::{Cfg, End};
use super::context::{ContextId, InContext, Specialised};
use super::events::{self, Events};
use super::fitting::{fitting, formats_are_safe, is_referenced};
use super::graph::components;
use super::known::Known;
use super::local::{CallSite, CallTarget, Local};
use super::points_to;
use super::solution::{PointsTo, Solution};
use super::summary::{Summaries, Summary};
use super::waves::TooLarge;
use super::writer::{MAPPING, SHARING, Writer, arguments, first_limbs, standard_streams, variable};
use super::writes::{Effects, Grows, Writes};
use crate::operand::slots_written;

/// What a call of a function may do.
struct Closed {
    /// Its component of the call graph.
    component: u32,
    /// For callers in the component, and for others.
    inside: Rc<Effects>,
    outside: Rc<Effects>,
}

pub struct Facts {
    pub(super) image: Rc<Image>,
    pub(super) events: Box<dyn Events>,
    /// By callee, and by function that makes pointers: what is known, once it was asked for.
    pub(super) known: RefCell<FxHashMap<Callee, Option<events::Known>>>,
    pub(super) made: RefCell<FxHashMap<String, Option<FxHashSet<ObjectId>>>>,
    pub summaries: Summaries,
    pub points_to: PointsTo,
    /// By function: how the program ends in it if it never returns.
    never: Vec<Option<End>>,
    /// By function: whether it never returns null.
    pub(super) not_null: Vec<bool>,
    cfgs: Vec<OnceCell<Rc<Cfg>>>,
    closed: Vec<Option<Closed>>,
    /// By function and block: what happens there, calls included.
    blocks: Vec<OnceCell<Vec<OnceCell<Rc<Effects>>>>>,
    pub(super) errno: Option<(ObjectId, u64)>,
    /// Standard input, output and error, the streams: objects and addresses.
    pub(super) standard: Vec<(ObjectId, u64)>,
    /// What the operations of all functions write.
    pub(super) written: OnceCell<Writes>,
    /// A result was assumed of standard input.
    pub(super) assumed_input: Cell<bool>,
    /// Streams may share a descriptor.
    pub(super) shares: bool,
    /// The program maps files.
    pub(super) maps: bool,
    /// The C library's variable that holds the locale.
    pub(super) locale: Option<ObjectId>,
    /// C's `exit`, if it has a body.
    pub(super) exit: Option<u32>,
    library_events: RefCell<FxHashMap<u32, bool>>,
    pub(super) specialised: Specialised,
}

impl Facts {
    pub fn new(
        image: Rc<Image>,
        events: Box<dyn Events>,
        mut summaries: Summaries,
        entry: Option<&str>,
        kept: Option<Solution>,
    ) -> Result<Facts, TooLarge> {
        fitting(&image, &mut summaries);
        let known = kept.and_then(|solution| PointsTo::kept(&image, solution));
        let mut points_to = known.map_or_else(|| points_to::solve(&image, &summaries, entry), Ok)?;
        if !formats_are_safe(&image, &summaries, &points_to) {
            summaries.retain(|_, summary| summary.format.is_none());
            points_to = points_to::solve(&image, &summaries, entry)?;
        }
        let standard = standard_streams(&image, &points_to.objects);
        let count = image.program.functions().len();
        let mut facts = Facts {
            never: (0..count as u32).map(|f| (image.function(f).1.flags & function_flags::NO_RETURN != 0).then_some(End::Leave)).collect(),
            not_null: vec![false; count],
            cfgs: vec![OnceCell::new(); count],
            closed: (0..count).map(|_| None).collect(),
            blocks: vec![OnceCell::new(); count],
            errno: None,
            shares: SHARING.iter().any(|name| is_referenced(&image.program, name)),
            standard,
            written: OnceCell::new(),
            assumed_input: Cell::default(),
            maps: MAPPING.iter().any(|name| is_referenced(&image.program, name)),
            locale: variable(&image, &points_to.objects, "__libc").map(|(object, _)| object),
            exit: match image.program.lookup("exit") {
                Some(wryneck_ir::link::Target::Func(f)) if image.is_library(f.0) => Some(f.0),
                Some(_) | None => None,
            },
            library_events: RefCell::default(),
            specialised: Specialised::default(),
            image,
            events,
            known: RefCell::default(),
            made: RefCell::default(),
            summaries,
            points_to,
        };
        facts.errno = facts.find_errno();
        facts.find_never();
        facts.close();
        Ok(facts)
    }

    pub fn cfg(&self, func: u32) -> &Rc<Cfg> {
        self.cfgs[func as usize].get_or_init(|| Rc::new(self.make_cfg(func)))
    }

    fn make_cfg(&self, func: u32) -> Cfg {
        self.with_known(func, |known, module, function| Cfg::new(module, function, &InContext { known, context: 0 }))
    }

    /// Calls `with` with what is known of the function's calls.
    pub(super) fn with_known<T>(&self, func: u32, with: impl FnOnce(&Known<'_>, &Module, &Function) -> T) -> T {
        let (module, function) = self.image.function(func);
        let none = Local::default();
        let local = self.points_to.local(func).map_or(&none, |local| local);
        with(&Known::of(self, func, local), module, function)
    }

    /// The value of a slot that is a constant number.
    pub(super) fn constant(&self, func: u32, slot: Option<u32>) -> Option<u64> {
        let (module, function) = self.image.function(func);
        module.consts.range(function.consts).get(slot? as usize).filter(|c| c.symbol == NONE).map(|c| c.value)
    }

    /// The summary that stands for a call; `number` is the first argument if it is constant.
    pub fn summary(&self, callee: Callee, number: Option<u64>) -> Option<&Summary> {
        points_to::summary(&self.image, &self.summaries, callee, number)
    }

    /// How the program ends in a call that never returns.
    pub(super) fn never_returns(&self, callee: Callee, number: Option<u64>) -> Option<End> {
        match (self.summary(callee, number), callee) {
            (Some(summary), _) if summary.never_returns => Some(if summary.may_end { End::Leave } else { End::Fault }),
            (_, Callee::Body(f)) => self.never[f as usize],
            (_, Callee::Model(_) | Callee::Undefined(_)) => None,
        }
    }

    /// Functions that no return is reached in never return; so do those that must call one of them. Those that return only what is not
    /// null do not return null.
    fn find_never(&mut self) {
        let reached: Vec<u32> = (0..self.never.len() as u32).filter(|f| self.points_to.local(*f).is_some_and(|l| !l.jumps)).collect();
        loop {
            let mut changed = false;
            for &f in &reached {
                let before = (self.never[f as usize], self.not_null[f as usize]);
                if before.0 == Some(End::Fault) {
                    continue;
                }
                let cfg = self.make_cfg(f);
                self.never[f as usize] = cfg.never_returns().or(before.0);
                self.not_null[f as usize] = before.1 || before.0.is_none() && self.returns_object(f, &cfg);
                changed |= before != (self.never[f as usize], self.not_null[f as usize]);
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether all that the function returns are addresses that are not null.
    fn returns_object(&self, func: u32, cfg: &Cfg) -> bool {
        let (_, function) = self.image.function(func);
        let Some(local) = self.points_to.local(func).filter(|_| function.ret_width == 64) else { return false };
        let reached = cfg.reachable([0], None);
        let mut known = Known::of(self, func, local);
        known.follow(cfg, &reached);
        let returned = reached.iter().map(|b| &cfg.blocks[*b as usize]).filter(|b| b.end == Some(End::Return));
        let mut values = returned.map(|b| local.values.list(b.ops.end - 1)).peekable();
        values.peek().is_some() && values.all(|value| value.iter().all(|v| known.not_null.contains(v)))
    }

    /// Where C's errno lies.
    fn find_errno(&self) -> Option<(ObjectId, u64)> {
        let Some(wryneck_ir::link::Target::Func(f)) = self.image.program.lookup("__errno_location") else { return None };
        let local = self.points_to.local(f.0)?;
        let ret = (0..).zip(&local.values.insts).find(|(_, inst)| inst.operator() == Some(Op::Ret))?.0;
        local.fixed.get(local.values.list(ret).first()?).copied()
    }

    /// Closes the functions' effects over the call graph.
    fn close(&mut self) {
        let count = self.never.len();
        let callees: Vec<Vec<u32>> = (0..count as u32).map(|f| self.bodies_called(f)).collect();
        for (component, members) in
            (0..).zip(components(callees.len(), 0..callees.len() as u32, |node, edge| callees[node as usize].get(edge).copied()))
        {
            let own: FxHashSet<u32> = members.iter().copied().collect();
            let cyclic = members.len() > 1 || members.iter().any(|f| callees[*f as usize].contains(f));
            let mut all = Effects::default();
            for f in &members {
                all.add_call(&self.whole(*f, self.cfg(*f), 0, &own));
            }
            let mut outside = all.clone();
            outside.forget(members.iter().flat_map(|f| self.points_to.objects.of_frame(*f)));
            let outside = Rc::new(outside);
            let inside = if cyclic { Rc::new(all) } else { outside.clone() };
            for f in members {
                self.closed[f as usize] = Some(Closed { component, inside: inside.clone(), outside: outside.clone() });
            }
        }
    }

    /// What a call of the function may do.
    pub fn function(&self, func: u32) -> Rc<Effects> {
        match &self.closed[func as usize] {
            Some(closed) => closed.inside.clone(),
            None => Rc::new(Effects::anything(0)),
        }
    }

    pub fn errno(&self) -> Option<(ObjectId, u64)> {
        self.errno
    }

    /// What all blocks of a function may do, but for calls of `own`.
    pub(super) fn whole(&self, func: u32, cfg: &Cfg, context: ContextId, own: &FxHashSet<u32>) -> Effects {
        match self.points_to.local(func) {
            None => Effects::anything(0),
            Some(local) if local.jumps => Effects::anything(0),
            Some(local) => {
                let (mut all, mut ends) = (Effects::default(), Effects::default());
                for block in cfg.reachable([0], None) {
                    let to = if cfg.returning(block) { &mut all } else { &mut ends };
                    self.add_block(func, local, cfg, context, block, Some(own), to);
                }
                let mut written = all.changes.clone();
                written.add(&ends.changes);
                all.add_end(&ends);
                all.close(&written);
                all
            }
        }
    }

    /// Whether the body of a function that has a summary may make an event, where a rule asks for those inside of the library. What has
    /// a summary calls nothing of the program's.
    pub(super) fn library_event(&self, callee: Callee) -> bool {
        let Callee::Body(start) = callee else { return false };
        if let Some(known) = self.library_events.borrow().get(&start) {
            return *known;
        }
        let (mut todo, mut seen, mut event) = (vec![start], FxHashSet::default(), false);
        while let Some(f) = todo.pop() {
            if !self.image.is_library(f) || !seen.insert(f) {
                continue;
            }
            for site in Local::read(&self.image, &self.points_to.objects, f).calls {
                let (callees, by_pointer) = match site.target {
                    CallTarget::Direct(callee) => (callee.into_iter().collect(), false),
                    // Streams' functions are called by pointer; any function of the library may be one of them.
                    CallTarget::Indirect(_) => (self.library_pointers(), true),
                };
                for callee in callees {
                    event |= self.events.may_be(f, callee, by_pointer);
                    todo.extend(if let Callee::Body(next) = callee { Some(next) } else { None });
                }
            }
        }
        self.library_events.borrow_mut().insert(start, event);
        event
    }

    /// The library's functions that variables hold the addresses of.
    fn library_pointers(&self) -> Vec<Callee> {
        let program = &self.image.program;
        let globals = program.globals().iter().filter(|g| g.live && program.units[g.place.unit as usize].library);
        let targets = globals.flat_map(|g| {
            let module = &program.units[g.place.unit as usize].module;
            let relocs = module.relocs.range(module.globals[g.place.index as usize].relocs);
            relocs.iter().filter_map(|r| self.image.callee_of(g.place.unit, r.symbol))
        });
        targets.collect()
    }

    /// What is called at a place.
    pub(super) fn callees(&self, func: u32, site: &CallSite) -> Vec<Callee> {
        let direct = match site.target {
            CallTarget::Direct(callee) => callee,
            CallTarget::Indirect(_) => None,
        };
        let others = self.points_to.targets(CodePos { func, op: site.op });
        direct.into_iter().chain(others.iter().copied()).collect()
    }

    /// The functions whose bodies a function's calls may run, those aside that a summary stands for, and `exit`.
    fn bodies_called(&self, func: u32) -> Vec<u32> {
        let Some(local) = self.points_to.local(func) else { return Vec::new() };
        let bodies = local.calls.iter().flat_map(|site| self.callees(func, site)).filter_map(|callee| match callee {
            Callee::Body(f) if self.summary(callee, None).is_none() && self.exit != Some(f) => Some(f),
            Callee::Body(_) | Callee::Model(_) | Callee::Undefined(_) => None,
        });
        let mut bodies: Vec<u32> = bodies.collect();
        bodies.sort_unstable();
        bodies.dedup();
        bodies
    }

    /// What may happen in a block, calls included.
    pub fn block(&self, func: u32, context: ContextId, block: u32) -> Rc<Effects> {
        if let (Some(local), true) = (self.points_to.local(func).filter(|local| !local.jumps), context > 0) {
            let mut effects = Effects::default();
            self.add_block(func, local, &self.cfg_in(func, context), context, block, None, &mut effects);
            return Rc::new(effects);
        }
        let cfg = self.cfg(func);
        let blocks = self.blocks[func as usize].get_or_init(|| vec![OnceCell::new(); cfg.blocks.len()]);
        let effects = blocks[block as usize].get_or_init(|| {
            let mut effects = Effects::default();
            match self.points_to.local(func) {
                Some(local) if !local.jumps => self.add_block(func, local, cfg, 0, block, None, &mut effects),
                Some(_) | None => effects = Effects::anything(self.image.function(func).1.slots),
            }
            Rc::new(effects)
        });
        effects.clone()
    }

    /// `own`: the functions of the component that is being closed.
    #[allow(clippy::too_many_arguments, reason = "what is asked, of which function, seen how")]
    fn add_block(
        &self,
        func: u32,
        local: &Local,
        cfg: &Cfg,
        context: ContextId,
        block: u32,
        own: Option<&FxHashSet<u32>>,
        all: &mut Effects,
    ) {
        let b = &cfg.blocks[block as usize];
        all.leaves |= cfg.endless(block);
        self.add_ops(func, local, context, b.ops.clone(), own, all);
    }

    /// What the operation may do; no slots.
    pub fn operation(&self, func: u32, context: ContextId, op: u32) -> Effects {
        let mut all = Effects::default();
        match self.points_to.local(func) {
            Some(local) if !local.jumps => {
                self.add_ops(func, local, context, op..op + 1, None, &mut all);
                all.slots = BitSet::default();
            }
            Some(_) | None => all = Effects::anything(0),
        }
        all
    }

    /// What the operations behind `op` in its block may do.
    pub fn behind(&self, func: u32, context: ContextId, op: u32) -> Effects {
        let (cfg, mut all) = (self.cfg_in(func, context), Effects::default());
        let b = &cfg.blocks[cfg.block_of(op) as usize];
        match self.points_to.local(func) {
            Some(local) if !local.jumps => self.add_ops(func, local, context, op + 1..b.ops.end, None, &mut all),
            Some(_) | None => all = Effects::anything(self.image.function(func).1.slots),
        }
        all
    }

    fn add_ops(
        &self,
        func: u32,
        local: &Local,
        context: ContextId,
        ops: std::ops::Range<u32>,
        own: Option<&FxHashSet<u32>>,
        all: &mut Effects,
    ) {
        let (module, _) = self.image.function(func);
        let first_inst = self.cfg(func).first_inst;
        let mut at = Writer { facts: self, func, local, context, new: own.is_some(), all };
        for op in ops.filter(|op| !self.is_broken(func, local, *op)) {
            at.all.slots.extend(slots_written(module, &module.insts[(first_inst + op) as usize]));
            let inst = &local.values.insts[op as usize];
            match inst.operator() {
                Some(Op::Call | Op::CallIndirect) => self.add_call(func, context, op, inst, own, &mut at),
                Some(_) | None => self.add_plain(func, inst, &mut at),
            }
        }
    }

    /// What an operation may do that is no call.
    pub(super) fn add_plain(&self, func: u32, inst: &Inst, at: &mut Writer<'_>) {
        match inst.operator() {
            Some(Op::Store) => at.memory(inst.a, Some(u64::from(inst.width.div_ceil(8)))),
            Some(Op::MemUndef) => at.memory(inst.a, self.constant(func, Some(inst.b))),
            Some(Op::MemCopy | Op::MemMove | Op::MemSet) => at.memory(inst.a, self.constant(func, Some(inst.c))),
            Some(Op::Unsupported) | None => at.all.goes_elsewhere(),
            Some(Op::Jump) => *at.all = Effects::anything(self.image.function(func).1.slots),
            // Nothing else writes anything but its result.
            Some(_) => {}
        }
    }

    /// Whether what an operation does is left out on purpose.
    pub(super) fn is_broken(&self, func: u32, local: &Local, op: u32) -> bool {
        let Some(broken) = self.summaries.broken() else { return false };
        let kind = |op: u32| match local.values.insts[op as usize].operator() {
            Some(Op::Store | Op::MemCopy | Op::MemMove | Op::MemSet) => Some(What::Store),
            Some(Op::Call | Op::CallIndirect) => Some(What::Callee),
            Some(_) | None => None,
        };
        let Some(what) = kind(op) else { return false };
        let number = (0..op).filter(|op| kind(*op) == Some(what)).count();
        broken.is(what, self.image.name(func), number)
    }

    fn add_call(&self, func: u32, context: ContextId, op: u32, inst: &Inst, own: Option<&FxHashSet<u32>>, at: &mut Writer<'_>) {
        let Ok(index) = at.local.calls.binary_search_by_key(&op, |site| site.op) else { return };
        let site = &at.local.calls[index];
        let (module, _) = self.image.function(func);
        let args = arguments(module, inst, at.local.values.list(op));
        let callees = self.callees(func, site);
        let by_pointer = matches!(site.target, CallTarget::Indirect(_));
        match site.target {
            CallTarget::Indirect(pointer) if callees.is_empty() && !self.is_never_set(func, at.local, pointer) => at.all.goes_elsewhere(),
            CallTarget::Indirect(_) | CallTarget::Direct(_) => {}
        }
        for callee in callees {
            at.all.event |= self.may_be_event(func, at.local, callee, by_pointer, &args);
            // Cancellation points hand the number of a system call on.
            let number = site.number.or_else(|| self.value(func, context, *args.first().filter(|_| context > 0)?));
            match (self.summary(callee, number), callee) {
                (Some(summary), _) => {
                    at.all.event |= self.library_event(callee);
                    at.summary(summary, &args, &first_limbs(module, inst, at.local.values.list(op)));
                }
                (None, Callee::Body(f)) if self.exit == Some(f) => at.all.exits = true,
                (None, Callee::Body(f)) => {
                    // In the same component only what holds everywhere is known.
                    let recursive = own.is_some_and(|own| own.contains(&f));
                    let inner = if recursive { 0 } else { self.context(func, context, at.local.values.list(op), f) };
                    if inner > 0
                        && self.closed[f as usize].is_some()
                        && let Some(effects) = self.function_in(f, inner)
                    {
                        at.all.add_call(&effects);
                        continue;
                    }
                    let closed = self.closed[f as usize].as_ref();
                    let same = closed.zip(self.closed[func as usize].as_ref()).is_some_and(|(a, b)| a.component == b.component);
                    match closed {
                        Some(c) => at.all.add_call(if same { &c.inside } else { &c.outside }),
                        None if own.is_some_and(|own| own.contains(&f)) => {}
                        None => at.all.add_call(&Effects::anything(0)),
                    }
                }
                (None, Callee::Model(_) | Callee::Undefined(_)) => at.unknown(&args),
            }
        }
    }
}
