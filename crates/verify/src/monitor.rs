//! Runs the rules along a path, as a monitor of the engine.
//!
//! The monitor observes each call of a function that a rule names, before it runs and after it returns. It decides conditions on symbolic
//! values (the path splits), concretises numbers that are keys, and compares names ([`crate::names`]). It does all that before it changes
//! anything. A violation is recorded and the path continues. Calls that a library makes inside itself are no events unless asked for (paper
//! 1, section 6).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use wryneck_exec::plugin::Monitor;
use wryneck_exec::stacks::StackId;
use wryneck_exec::state::own_data;
use wryneck_exec::threads::ThreadId;
use wryneck_exec::{Call, CodePos, Cx, Image, PathData, PathEnd, Step as Recorded, Stop, Value, places};
use wryneck_expr::{ExprId, Remap};
use wryneck_ir::Op;
use wryneck_ir::link::Target;

use crate::checker::{At, Checker, Happened, Here, Occurrence, Operands, Pointers, Shown, Word, Wrong};
use crate::sequence::{Occurred, Sequence};

/// What the end of a program excuses (`--at-exit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AtExit {
    /// Nothing: each instance that is left after the exit handlers have run is a violation, although the kernel cleans up (paper 1).
    #[default]
    Strict,
    /// One of each kind: instances that are left are a violation if two of them come from the same calls, so that more input may leave more.
    Lenient,
}

/// How rules are monitored.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Policy {
    /// Calls that libraries make inside themselves are events too.
    pub inside_libraries: bool,
    pub at_exit: AtExit,
}

/// Rules, as a monitor.
pub struct Automata {
    checkers: Vec<Rc<dyn Checker>>,
    /// By the image's name of a function. Rules may use other names of it.
    watched: BTreeMap<String, Watched>,
    policy: Policy,
}

/// A function that rules name.
#[derive(Default)]
struct Watched {
    /// The names that rules use for it; the image's name comes first if it is one of them.
    names: Vec<Rc<str>>,
    /// The rules that name it.
    checkers: Vec<usize>,
    /// The parts of a call that they read (paper 1, section 4: the event mask).
    operands: Operands,
}

/// A rule that a path broke.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Index among the rules.
    pub rule: usize,
    /// What is wrong, without the place.
    pub message: String,
    /// The place of the last event, or for a violation at exit that of the instance's first.
    pub stack: Vec<CodePos>,
    /// The events of the instance so far.
    pub trail: Rc<Vec<Happened>>,
}

/// A call that has not returned yet.
#[derive(Clone)]
struct Pending {
    /// Who made it: calls of several threads overlap.
    thread: ThreadId,
    /// The image's name of the function.
    function: Rc<str>,
    args: Vec<Word>,
    ret_width: u32,
    stack: StackId,
    pos: CodePos,
}

/// The data of the rules on a path.
#[derive(Clone, Default)]
pub struct Observed {
    /// By rule.
    known: Vec<Rc<dyn PathData>>,
    pending: Vec<Pending>,
    pub violations: Vec<Violation>,
    /// Events per rule.
    pub events: Vec<u64>,
    pub sequence: Sequence,
}

impl Automata {
    /// `canonical` is the image's name for the function that a name stands for.
    pub fn new(checkers: Vec<Rc<dyn Checker>>, policy: Policy, canonical: &dyn Fn(&str) -> String) -> Automata {
        let mut watched: BTreeMap<String, Watched> = BTreeMap::new();
        for (c, checker) in checkers.iter().enumerate() {
            for name in checker.functions() {
                let body = canonical(name);
                let of = watched.entry(body.clone()).or_default();
                of.operands |= checker.operands(name);
                if !of.names.iter().any(|n| **n == *name) {
                    of.names.insert(if body == name { 0 } else { of.names.len() }, name.into());
                }
                if of.checkers.last() != Some(&c) {
                    of.checkers.push(c);
                }
            }
        }
        Automata { checkers, watched, policy }
    }

    /// The pointers for which calls of a function (by the image's name) are events, if not for all. `canonical` names the functions that return them.
    pub fn pointers(&self, function: &str, canonical: &dyn Fn(&str) -> String) -> Option<Pointers> {
        let watched = self.watched.get(function)?;
        let rules = watched.checkers.iter().flat_map(|c| watched.names.iter().map(move |name| (&self.checkers[*c], name)));
        let rules = rules.filter(|(checker, name)| checker.functions().contains(&&***name));
        let all = rules.map(|(checker, name)| checker.pointers(name)).reduce(|all, rule| all?.or(rule?)).flatten()?;
        Some(Pointers { makers: all.makers.iter().map(|maker| canonical(maker)).collect(), ..all })
    }

    pub fn checkers(&self) -> &[Rc<dyn Checker>] {
        &self.checkers
    }

    /// By rule: whether a function whose calls may be events occurs in the program itself.
    pub fn occurring(&self, image: &Image) -> Vec<bool> {
        let mut occurs = vec![false; self.checkers.len()];
        for (n, unit) in image.program.units.iter().enumerate().filter(|(_, unit)| !unit.library) {
            for symbol in 0..unit.module.symbols.len() as u32 {
                let name = match image.program.target(n as u32, symbol) {
                    Target::Func(f) => image.name(f.0),
                    Target::Undefined(u) => image.undefined_name(u.0),
                    Target::Data(..) | Target::Null => continue,
                };
                self.watched.get(name).into_iter().flat_map(|w| &w.checkers).for_each(|c| occurs[*c] = true);
            }
        }
        occurs
    }

    /// By rule: whether the program itself calls a function whose calls may be events. Calls through pointers do not count. In machine code,
    /// which is not read before it runs, having the function counts.
    pub fn may_happen(&self, image: &Image, machine_code: bool) -> Vec<bool> {
        let mut may = vec![false; self.checkers.len()];
        let mut note = |unit: u32, symbol: u32| {
            let name = match image.program.target(unit, symbol) {
                Target::Func(f) => image.name(f.0),
                Target::Undefined(u) => image.undefined_name(u.0),
                Target::Data(..) | Target::Null => return,
            };
            self.watched.get(name).into_iter().flat_map(|w| &w.checkers).for_each(|c| may[*c] = true);
        };
        if let Some((n, unit)) = image.program.units.iter().enumerate().next_back().filter(|_| machine_code) {
            for symbol in 0..unit.module.symbols.len() as u32 {
                note(n as u32, symbol);
            }
        }
        for (f, place) in (0u32..).zip(image.program.functions()).filter(|(f, _)| !image.is_library(*f)) {
            let (module, function) = image.function(f);
            let insts = module.blocks.range(function.blocks).iter().flat_map(|block| module.insts.range(block.insts));
            for call in insts.filter(|inst| inst.operator() == Some(Op::Call)) {
                note(place.unit, call.a);
            }
        }
        may
    }

    /// Functions of the program that rules name and whose calls are no events everywhere: the compiler put some inline, as debug information
    /// says of the code that was lowered, or made clones of them with other parameters.
    pub fn missed(&self, image: &Image) -> BTreeSet<String> {
        // What headers define inline calls the library's own functions.
        let of_library = |name: &str| matches!(image.program.lookup(name), Some(Target::Func(f)) if image.is_library(f.0));
        let is_ours = |name: &str| self.watched.contains_key(name) && !of_library(name);
        let mut missed = BTreeSet::new();
        for module in image.program.units.iter().filter(|unit| !unit.library).map(|unit| &unit.module) {
            for loc in module.locations.iter().filter(|loc| loc.inlined_at != 0 && loc.library == 0) {
                let name = module.str(loc.function);
                if is_ours(name) {
                    missed.insert(format!("calls of `{name}` were inlined"));
                }
            }
            for symbol in module.symbols.iter() {
                let name = module.str(symbol.name);
                if let Some(of) = clone_of(name).filter(|of| is_ours(of)) {
                    missed.insert(format!("the compiler made a clone `{name}` of `{of}`"));
                }
            }
        }
        missed
    }

    /// The events of a call, by rule. May decide.
    fn happening(&self, watched: &Watched, shown: &Shown<'_>, cx: &mut Cx<'_>) -> Result<Vec<(usize, Occurrence)>, Stop> {
        let mut all = Vec::new();
        for &c in &watched.checkers {
            let known = observed(cx)?.known[c].clone();
            all.extend(self.checkers[c].events(shown, &*known, cx)?.into_iter().map(|occurrence| (c, occurrence)));
        }
        Ok(all)
    }

    /// Updates the data of the rules with events.
    fn step(&self, happening: &[(usize, Occurrence)], here: Here<'_>, cx: &mut Cx<'_>) {
        let (mut wrong, mut happens) = (Vec::new(), false);
        let data = cx.state.monitor_mut::<Observed>();
        for (c, occurrence) in happening {
            let learned = self.checkers[*c].learn(occurrence, here, own_data(&mut data.known[*c]));
            happens |= learned.instance.is_some() || !learned.wrong.is_empty();
            if let Some(instance) = learned.instance {
                data.events[*c] += 1;
                data.sequence.push(Occurred { rule: *c as u32, event: occurrence.event as u32, instance });
            }
            wrong.extend(learned.wrong.into_iter().map(|w| (*c, w)));
        }
        note(wrong, cx);
        if happens {
            cx.mark(Recorded::Happens);
        }
    }
}

/// Adds violations to the path's.
fn note(wrong: Vec<(usize, Wrong)>, cx: &mut Cx<'_>) {
    for (rule, Wrong { message, stack, trail }) in wrong {
        let stack = cx.core.stacks.get(stack).to_vec();
        cx.state.monitor_mut::<Observed>().violations.push(Violation { rule, message, stack, trail });
    }
}

fn observed<'a>(cx: &'a Cx<'_>) -> Result<&'a Observed, Stop> {
    let data = cx.state.data.monitor().as_any().downcast_ref::<Observed>();
    data.ok_or_else(|| PathEnd::Internal("the monitor's data is not the rules'".into()).into())
}

/// The arguments with their widths; of one wider than 64 bits the lowest bits.
fn words(call: &Call<'_>) -> Vec<Word> {
    let mut limb = 0;
    let word = |&width: &u32| {
        let value = call.args.get(limb).copied().unwrap_or(Value::Bits(0));
        limb += (width.div_ceil(64) as usize).max(1);
        Word { value, width: width.min(64) }
    };
    call.widths.iter().map(word).collect()
}

/// The lowest bits of a value, which may have more.
fn low(value: Value, width: u32, cx: &mut Cx<'_>) -> Word {
    let value = match value {
        Value::Bits(bits) => Value::Bits(bits & (u64::MAX >> (64 - width))),
        Value::Sym(e) if cx.core.pool.width(e) > width => Value::Sym(cx.core.pool.extract(e, 0, width)),
        Value::Sym(e) => Value::Sym(e),
    };
    Word { value, width }
}

/// A bit for each argument as a bit for the lowest limb of each.
fn limbs(args: u32, call: &Call<'_>) -> u32 {
    let (mut limb, mut mask) = (0, 0);
    for (i, width) in (0..32).zip(call.widths) {
        mask |= (args >> i & 1).checked_shl(limb).unwrap_or(0);
        limb += width.div_ceil(64).max(1);
    }
    mask
}

/// The function that a compiler's clone of other parameters, or a part of it, was made of.
fn clone_of(name: &str) -> Option<&str> {
    const CLONES: [&str; 4] = [".constprop.", ".isra.", ".part.", ".specialized."];
    CLONES.iter().filter_map(|clone| name.find(clone)).min().map(|at| &name[..at])
}

/// Whether a call that a library makes is of a function that the program gave it, for `atexit` or `tdestroy` to call: those are called by pointer.
/// In machine code the linkage tables of libraries call by pointer too; what is observed there, at `here`, is the beginning of the function, which is
/// the program's own.
fn is_handed_over(image: &Image, pos: CodePos, here: CodePos) -> bool {
    if image.is_machine_code(here.func) {
        return !places::in_library(image, here);
    }
    let (module, code) = (image.function(pos.func).0, image.code(pos.func));
    module.insts.get((code.first_inst + pos.op) as usize).is_some_and(|inst| inst.operator() == Some(Op::CallIndirect))
}

/// The call stack, with the innermost call at its current operation.
fn stack(cx: &mut Cx<'_>) -> StackId {
    let stack = cx.core.call_stack(cx.state, usize::MAX);
    cx.core.stacks.intern(&stack)
}

impl Monitor for Automata {
    fn initial(&self) -> Rc<dyn PathData> {
        let known = self.checkers.iter().map(|checker| checker.start()).collect();
        Rc::new(Observed { known, events: vec![0; self.checkers.len()], ..Observed::default() })
    }

    fn watches(&self, name: &str) -> bool {
        self.watched.contains_key(name)
    }

    fn on_call(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop> {
        let pos = cx.core.site(cx.state);
        if places::in_library(&cx.core.image, pos) && !self.policy.inside_libraries && !is_handed_over(&cx.core.image, pos, cx.pos()) {
            return Ok(false);
        }
        let Some(watched) = self.watched.get(call.name) else { return Ok(false) };
        cx.mark(Recorded::Event { args: limbs(watched.operands.args, call) });
        let args = words(call);
        let shown = Shown { at: At::Call, names: &watched.names, args: &args, result: None, pos };
        let happening = self.happening(watched, &shown, cx)?;
        let stack = stack(cx);
        self.step(&happening, Here { function: &watched.names[0], stack }, cx);
        let pending = Pending { thread: cx.state.thread(), function: call.name.into(), args, ret_width: call.ret_width, stack, pos };
        cx.state.monitor_mut::<Observed>().pending.push(pending);
        Ok(true)
    }

    fn on_return(&self, result: Option<Value>, cx: &mut Cx<'_>) -> Result<(), Stop> {
        let thread = cx.state.thread();
        let last = observed(cx)?.pending.iter().enumerate().rfind(|(_, pending)| pending.thread == thread);
        let Some((at, pending, watched)) = last.and_then(|(at, p)| Some((at, p.clone(), self.watched.get(&*p.function)?))) else {
            return Err(PathEnd::Internal("a call returned that no rule saw".into()).into());
        };
        let result = result.filter(|_| pending.ret_width > 0).map(|value| low(value, pending.ret_width.min(64), cx));
        let shown = Shown { at: At::Return, names: &watched.names, args: &pending.args, result, pos: pending.pos };
        let known = &observed(cx)?.known;
        if watched.operands.result && watched.checkers.iter().any(|c| self.checkers[*c].concerns(&shown, &*known[*c])) {
            cx.mark(Recorded::ResultMatters);
        }
        let happening = self.happening(watched, &shown, cx)?;
        self.step(&happening, Here { function: &watched.names[0], stack: pending.stack }, cx);
        cx.state.monitor_mut::<Observed>().pending.remove(at);
        Ok(())
    }

    fn on_unwind(&self, calls: u32, cx: &mut Cx<'_>) {
        let thread = cx.state.thread();
        let pending = &mut cx.state.monitor_mut::<Observed>().pending;
        for _ in 0..calls {
            let Some(at) = pending.iter().rposition(|pending| pending.thread == thread) else { return };
            pending.remove(at);
        }
    }

    fn on_end(&self, end: &PathEnd, cx: &mut Cx<'_>) {
        if !matches!(end, PathEnd::Exit(_)) {
            return;
        }
        let data = cx.state.monitor_mut::<Observed>();
        let mut left = Vec::new();
        for (c, checker) in self.checkers.iter().enumerate() {
            let all = checker.at_exit(&*data.known[c]);
            let alike = |w: &Wrong| all.iter().filter(|other| (other.stack, &other.message) == (w.stack, &w.message)).count();
            let counts = |w: &&Wrong| match self.policy.at_exit {
                AtExit::Strict => true,
                AtExit::Lenient => alike(w) > 1,
            };
            left.extend(all.iter().filter(counts).map(|w| (c, w.clone())));
        }
        note(left, cx);
    }
}

impl PathData for Observed {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        for word in self.pending.iter().flat_map(|p| &p.args) {
            if let Value::Sym(e) = word.value {
                f(e);
            }
        }
        self.known.iter().for_each(|known| known.for_each_expr(f));
    }
    fn remap(&mut self, map: &Remap) {
        for word in self.pending.iter_mut().flat_map(|p| &mut p.args) {
            if let Value::Sym(e) = &mut word.value {
                *e = map.get(*e).expect("every expression of a state was a root of the compaction");
            }
        }
        self.known.iter_mut().filter(|known| known.has_exprs()).for_each(|known| own_data(known).remap(map));
    }
    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.known.iter().for_each(|known| known.hash_into(h, hash_expr));
        for word in self.pending.iter().flat_map(|p| &p.args) {
            h.write_u64(match word.value {
                Value::Bits(bits) => bits,
                Value::Sym(e) => hash_expr(e),
            });
        }
        h.write_usize(self.violations.len());
        self.events.iter().for_each(|n| h.write_u64(*n));
        h.write_u128(self.sequence.hash());
    }
}
