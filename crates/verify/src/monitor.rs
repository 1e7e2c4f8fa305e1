//! Rules along a path: an automaton per rule and instance.
//!
//! Each call of a function that a rule names is shown before it runs and when it has returned. Conditions on symbolic values are decided
//! (the path splits), keys are concretised; both before anything changes. A violation is noted and the path goes on. Calls that a library
//! makes inside itself are not the program's and are left out unless asked for (paper 1, section 6).

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::rc::Rc;

use wryneck_exec::plugin::Monitor;
use wryneck_exec::stacks::StackId;
use wryneck_exec::{Call, CodePos, Cx, PathData, PathEnd, Step as Recorded, Stop, Value};
use wryneck_expr::{ExprId, Remap};

use crate::rule::{At, Event, Operand, Rule, Step};
use crate::sequence::{Occurred, Sequence};

/// The automata of some rules, as a monitor.
pub struct Automata {
    rules: Vec<Rule>,
    /// By function: (rule, event), in the order of the rules' files.
    by_function: BTreeMap<String, Vec<(usize, usize)>>,
    inside_libraries: bool,
}

/// What happened to an instance.
#[derive(Clone, Debug)]
pub struct Happened {
    pub event: String,
    /// The function called.
    pub function: Rc<str>,
    /// Where, innermost first.
    pub stack: StackId,
}

/// A rule that a path broke.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Index among the rules.
    pub rule: usize,
    /// What is wrong, without the place.
    pub message: String,
    /// Where: the last event, or for what is wrong at exit the instance's first.
    pub stack: Vec<CodePos>,
    /// The events of the instance so far.
    pub trail: Vec<Happened>,
}

#[derive(Clone)]
struct Instance {
    state: usize,
    /// Among those of its rule, by first appearance on the path, from 1.
    number: u32,
    trail: Rc<Vec<Happened>>,
}

/// A call that has not returned yet.
#[derive(Clone)]
struct Pending {
    function: Rc<str>,
    args: Vec<Value>,
    stack: StackId,
}

/// What the rules know of a path.
#[derive(Clone, Default)]
pub struct Observed {
    instances: BTreeMap<(usize, u64), Instance>,
    pending: Vec<Pending>,
    pub violations: Vec<Violation>,
    /// Events per rule.
    pub events: Vec<u64>,
    pub sequence: Sequence,
    /// Instances met, per rule.
    met: Vec<u32>,
}

impl Automata {
    pub fn new(rules: Vec<Rule>, inside_libraries: bool) -> Automata {
        let mut by_function: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (r, rule) in rules.iter().enumerate() {
            for (e, event) in rule.events.iter().enumerate() {
                for function in &event.functions {
                    by_function.entry(function.clone()).or_default().push((r, e));
                }
            }
        }
        Automata { rules, by_function, inside_libraries }
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Argument limbs of a function, a bit each, that its events look at (paper 1, section 4: the event mask).
    fn interest(&self, function: &str) -> u32 {
        let events = self.by_function.get(function).into_iter().flatten().map(|&(r, e)| &self.rules[r].events[e]);
        let operands = events.flat_map(|event| event.key.into_iter().chain(event.when.iter().map(|condition| condition.operand)));
        operands.fold(0, |mask, operand| match operand {
            Operand::Arg(i) | Operand::At(i) => mask | 1u32.checked_shl(i).unwrap_or(0),
            Operand::Result => mask,
        })
    }

    /// The events of a call that happen, at most one per rule, with the keys of their instances. May decide.
    fn happening(&self, at: At, call: &Shown<'_>, cx: &mut Cx<'_>) -> Result<Vec<(usize, usize, u64)>, Stop> {
        let mut all: Vec<(usize, usize, u64)> = Vec::new();
        for &(r, e) in self.by_function.get(call.function).into_iter().flatten() {
            let event = &self.rules[r].events[e];
            if event.at != at || all.iter().any(|(rule, ..)| *rule == r) || !holds(event, call, cx)? {
                continue;
            }
            let key = match event.key {
                None => Some(0),
                Some(operand) => match call.operand(operand, cx)? {
                    Some(value) => Some(cx.concretise(value, "an operand that a rule follows")?),
                    None => None,
                },
            };
            all.extend(key.map(|key| (r, e, key)));
        }
        Ok(all)
    }

    /// Moves the automata; the path's data changes.
    fn step(&self, happening: &[(usize, usize, u64)], function: &Rc<str>, stack: StackId, cx: &mut Cx<'_>) {
        let places = cx.core.stacks.get(stack).to_vec();
        let data = cx.state.monitor_mut::<Observed>();
        for &(r, e, key) in happening {
            let rule = &self.rules[r];
            let event = &rule.events[e];
            data.events[r] += 1;
            let met = &mut data.met[r];
            let instance = data.instances.entry((r, key)).or_insert_with(|| {
                *met += 1;
                Instance { state: 0, number: *met, trail: Rc::default() }
            });
            data.sequence.push(Occurred { rule: r as u32, event: e as u32, instance: instance.number });
            let Some(step) = rule.states[instance.state].steps.get(&event.name) else { continue };
            let trail = Rc::make_mut(&mut instance.trail);
            if instance.state == 0 {
                trail.clear();
            }
            trail.push(Happened { event: event.name.clone(), function: function.clone(), stack });
            match step {
                Step::To(0) => drop(data.instances.remove(&(r, key))),
                Step::To(state) => instance.state = *state,
                Step::Error(what) => {
                    let message = format!("{} {what}", rule.instance);
                    data.violations.push(Violation { rule: r, message, stack: places.clone(), trail: trail.clone() });
                }
            }
        }
    }
}

fn holds(event: &Event, call: &Shown<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop> {
    for condition in &event.when {
        let Some(value) = call.operand(condition.operand, cx)? else { return Ok(false) };
        let equal = match value {
            Value::Bits(bits) => bits == condition.value,
            Value::Sym(e) => {
                let width = cx.core.pool.width(e);
                let constant = cx.core.pool.number(width, condition.value);
                let equal = cx.core.pool.eq(e, constant);
                cx.decide(equal)?
            }
        };
        if equal != condition.equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A call as events see it.
struct Shown<'a> {
    function: &'a str,
    args: &'a [Value],
    result: Option<Value>,
}

impl Shown<'_> {
    /// The value of an operand; `None` if the call has none such.
    fn operand(&self, operand: Operand, cx: &mut Cx<'_>) -> Result<Option<Value>, Stop> {
        let arg = |i: u32| self.args.get(i as usize).copied();
        Ok(match operand {
            Operand::Result => self.result,
            Operand::Arg(i) => arg(i),
            Operand::At(i) => match arg(i) {
                Some(pointer) => {
                    let addr = cx.concretise(pointer, "a pointer that a rule follows")?;
                    // A pointer that cannot be followed is the program's fault, which it meets itself.
                    cx.read_bytes(addr, 8).ok().map(|bytes| {
                        let word = cx.joined(&bytes);
                        cx.value(word)
                    })
                }
                None => None,
            },
        })
    }
}

/// The call stack, where the innermost call is at its place or just behind it.
fn stack(cx: &mut Cx<'_>, behind: bool) -> StackId {
    let mut stack = cx.state.call_stack();
    if let Some(innermost) = stack.first_mut() {
        innermost.op = innermost.op.saturating_sub(u32::from(behind));
    }
    cx.core.stacks.intern(&stack)
}

impl Monitor for Automata {
    fn initial(&self) -> Rc<dyn PathData> {
        let none = || vec![0; self.rules.len()];
        Rc::new(Observed { events: vec![0; self.rules.len()], met: none(), ..Observed::default() })
    }

    fn watches(&self, name: &str) -> bool {
        self.by_function.contains_key(name)
    }

    fn on_call(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop> {
        let caller = cx.state.frame().func;
        if cx.core.image.is_library(caller) && !self.inside_libraries {
            return Ok(false);
        }
        cx.mark(Recorded::Event { args: self.interest(call.name) });
        let shown = Shown { function: call.name, args: call.args, result: None };
        let happening = self.happening(At::Call, &shown, cx)?;
        let (function, stack): (Rc<str>, _) = (call.name.into(), stack(cx, false));
        self.step(&happening, &function, stack, cx);
        cx.state.monitor_mut::<Observed>().pending.push(Pending { function, args: call.args.to_vec(), stack });
        Ok(true)
    }

    fn on_return(&self, result: Option<Value>, cx: &mut Cx<'_>) -> Result<(), Stop> {
        let pending = cx.state.monitor.as_any().downcast_ref::<Observed>().and_then(|o| o.pending.last()).cloned();
        let Some(Pending { function, args, stack }) = pending else {
            return Err(PathEnd::Internal("a call returned that no rule saw".into()).into());
        };
        cx.mark(Recorded::ResultMatters);
        let shown = Shown { function: &function, args: &args, result };
        let happening = self.happening(At::Return, &shown, cx)?;
        self.step(&happening, &function, stack, cx);
        cx.state.monitor_mut::<Observed>().pending.pop();
        Ok(())
    }

    fn on_end(&self, end: &PathEnd, cx: &mut Cx<'_>) {
        if !matches!(end, PathEnd::Exit(_)) {
            return;
        }
        let data = cx.state.monitor_mut::<Observed>();
        let mut left = Vec::new();
        for ((r, _), instance) in &data.instances {
            let rule = &self.rules[*r];
            if let (Some(what), Some(first)) = (&rule.states[instance.state].at_exit, instance.trail.first()) {
                left.push((*r, format!("{} from `{}` {what}", rule.instance, first.function), first.stack, instance.trail.to_vec()));
            }
        }
        for (rule, message, stack, trail) in left {
            let stack = cx.core.stacks.get(stack).to_vec();
            cx.state.monitor_mut::<Observed>().violations.push(Violation { rule, message, stack, trail });
        }
    }
}

impl PathData for Observed {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        for value in self.pending.iter().flat_map(|p| &p.args) {
            if let Value::Sym(e) = value {
                f(*e);
            }
        }
    }
    fn remap(&mut self, map: &Remap) {
        for value in self.pending.iter_mut().flat_map(|p| &mut p.args) {
            if let Value::Sym(e) = value {
                *e = map.get(*e).expect("every expression of a state was a root of the compaction");
            }
        }
    }
    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        for ((rule, key), instance) in &self.instances {
            h.write_usize(*rule);
            h.write_u64(*key);
            h.write_usize(instance.state);
        }
        for value in self.pending.iter().flat_map(|p| &p.args) {
            h.write_u64(match value {
                Value::Bits(bits) => *bits,
                Value::Sym(e) => hash_expr(*e),
            });
        }
        h.write_usize(self.violations.len());
        self.events.iter().for_each(|n| h.write_u64(*n));
        h.write_u64(self.sequence.hash());
    }
}
