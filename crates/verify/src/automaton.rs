//! Rule files as checkers: one automaton per instance.
//!
//! An instance is known by names, each in a name space. Its first name, in the name space without a name, creates it. A step out of an end
//! state restarts the instance without its history. So a stream can be opened at the address of a closed one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_exec::{Cx, PathData, Stop, Value, memory};
use wryneck_expr::{ExprId, Remap};

use crate::checker::{About, Checker, Happened, Here, Key, Learned, Name, Occurrence, Operands, Pointers, Shown, Word, Wrong};
use crate::names::{self, Form, Naming, Text};
use crate::rule::{self, Condition, Event, Lost, Operand, Relation, Rule, Step, Whose};

#[derive(Clone)]
struct Instance {
    state: usize,
    /// In the order in which a path meets them, from 1. A new life gets a new one, as if it were at another address.
    number: u32,
    /// What changed its state in this life, each once.
    trail: Rc<Vec<Happened>>,
    /// A name that means something to people.
    label: Option<Rc<[u8]>>,
}

/// The instances of a rule on a path.
#[derive(Clone, Default)]
struct Instances {
    all: BTreeMap<u32, Instance>,
    names: BTreeMap<Name, u32>,
    /// How many lives were met.
    met: u32,
    /// Symbolic strings that instances are or were known by.
    texts: BTreeMap<u32, Text>,
}

impl Instances {
    fn of(data: &dyn PathData) -> &Instances {
        data.as_any().downcast_ref().expect("the rule that made the data reads it")
    }

    fn find(&self, name: &Name) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// A new instance, in the first state.
    fn add(&mut self, name: Name) -> u32 {
        let label = match &name.key {
            Key::Text(text) => Some(text.clone()),
            Key::Number(_) | Key::Symbolic(_) => None,
        };
        self.met += 1;
        let id = self.met;
        self.all.insert(id, Instance { state: 0, number: id, trail: Rc::default(), label });
        self.names.insert(name, id);
        id
    }
}

/// An address of x86-64 has so many bits.
const ADDRESS_BITS: u32 = 48;

impl Checker for Rule {
    fn about(&self) -> &About {
        &self.about
    }

    fn functions(&self) -> Vec<&str> {
        self.by_function.keys().map(String::as_str).collect()
    }

    fn operands(&self, function: &str) -> Operands {
        let mut all = Operands::default();
        self.by_function.get(function).into_iter().flatten().for_each(|event| all |= self.events[*event].operands());
        all
    }

    fn pointers(&self, function: &str) -> Option<Pointers> {
        let events = self.by_function.get(function)?.iter().map(|event| &self.events[*event]);
        events.map(|event| self.event_pointers(event)).reduce(|all, event| all?.or(event?)).flatten()
    }

    fn event_name(&self, event: usize) -> &str {
        &self.events[event].name
    }

    fn wants_no_event(&self) -> bool {
        let steps = &self.states[0].steps;
        !steps.is_empty() && steps.values().all(|step| matches!(step, Step::Error(_)))
    }

    fn start(&self) -> Rc<dyn PathData> {
        Rc::new(Instances::default())
    }

    fn events(&self, call: &Shown<'_>, known: &dyn PathData, cx: &mut Cx<'_>) -> Result<Vec<Occurrence>, Stop> {
        let mut all = Vec::new();
        let known = Instances::of(known);
        let thread = if self.per_thread { u64::from(cx.state.thread()) << ADDRESS_BITS } else { 0 };
        let mut naming = Naming { known: &known.names, texts: &known.texts, thread, named: Vec::new(), new: Vec::new() };
        for index in self.events_at(call) {
            let event = &self.events[index];
            if holds(event, call, cx)?
                && let Some(occurrence) = occurrence(index, event, call, &mut naming, cx)?
            {
                all.push(occurrence);
            }
        }
        Ok(all)
    }

    fn concerns(&self, call: &Shown<'_>, known: &dyn PathData) -> bool {
        let known = Instances::of(known);
        self.events_at(call).into_iter().any(|index| {
            let event = &self.events[index];
            let fails = |condition: &Condition| match condition {
                Condition::Compare { operand: Operand::Arg(i), mask, relation, value } => {
                    call.arg(*i).and_then(|word| word.constant(*mask)).is_some_and(|left| !relation.holds(left, *value))
                }
                Condition::Compare { .. } | Condition::Has { .. } => false,
            };
            let unknown = match &event.whose {
                Whose::Named(rule::Naming { space, operand: Operand::Arg(i) }) if *space > 0 => match call.arg(*i).map(|word| word.value) {
                    Some(Value::Bits(key)) => known.find(&Name { space: *space, key: Key::Number(key) }).is_none(),
                    Some(Value::Sym(_)) | None => false,
                },
                Whose::Every => known.all.is_empty(),
                Whose::Named(_) | Whose::Only => false,
            };
            !unknown && !event.when.iter().any(fails)
        })
    }

    fn learn(&self, occurrence: &Occurrence, here: Here<'_>, known: &mut dyn PathData) -> Learned {
        let known: &mut Instances = known.as_any_mut().downcast_mut().expect("the rule that made the data changes it");
        known.texts.extend(occurrence.texts.iter().cloned());
        let event = &self.events[occurrence.event];
        let name = occurrence.key.clone().unwrap_or(Name { space: 0, key: Key::Number(0) });
        let id = match (&event.whose, known.find(&name)) {
            (Whose::Every, _) => {
                let ids: Vec<u32> = known.all.keys().copied().collect();
                let wrong = ids.iter().filter_map(|id| self.step(event, *id, here, known)).collect();
                return Learned { instance: (!ids.is_empty()).then_some(0), wrong };
            }
            (_, Some(id)) => id,
            (_, None) if name.space == 0 => known.add(name),
            (_, None) => return Learned::default(),
        };
        let wrong = self.step(event, id, here, known).into_iter().collect();
        let learned = Learned { instance: known.all.get(&id).map(|instance| instance.number), wrong };
        self.rename(occurrence, event, id, known);
        learned
    }

    fn at_exit(&self, known: &dyn PathData) -> Vec<Wrong> {
        let left = |instance: &Instance| {
            let (what, first) = (self.states[instance.state].at_exit.as_ref()?, instance.trail.first()?);
            let message = format!("{} from `{}` {what}", self.called(instance), first.function);
            Some(Wrong { message, stack: first.stack, trail: instance.trail.clone() })
        };
        Instances::of(known).all.values().filter_map(left).collect()
    }

    fn explain(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        crate::explain::rule(self, out)
    }
}

impl Rule {
    /// The events that a call may be by its function alone: their indices, ascending.
    fn events_at(&self, call: &Shown<'_>) -> BTreeSet<usize> {
        let of_function = call.names.iter().filter_map(|name| self.by_function.get(&**name)).flatten();
        of_function.copied().filter(|index| self.events[*index].at == call.at).collect()
    }

    /// As [`Checker::pointers`], of an event.
    fn event_pointers(&self, event: &Event) -> Option<Pointers> {
        match &event.whose {
            Whose::Named(rule::Naming { space, operand: Operand::Arg(arg) }) if *space > 0 => {
                let mut makers = BTreeSet::new();
                for maker in &self.events {
                    let mut gained = maker.gains.iter().filter(|gained| gained.space == *space).peekable();
                    if gained.peek().is_some() {
                        gained.all(|gained| gained.operand == Operand::Result).then_some(())?;
                        makers.extend(maker.functions.iter().cloned());
                    }
                }
                Some(Pointers { arg: *arg, null: false, makers })
            }
            Whose::Every => event.when.iter().find_map(|condition| match condition {
                Condition::Compare { operand: Operand::Arg(arg), mask: None, relation: Relation::Equal, value: 0 } => {
                    Some(Pointers { arg: *arg, null: true, makers: BTreeSet::new() })
                }
                _ => None,
            }),
            Whose::Named(_) | Whose::Only => None,
        }
    }

    /// Moves an instance's automaton.
    fn step(&self, event: &Event, id: u32, here: Here<'_>, known: &mut Instances) -> Option<Wrong> {
        let instance = known.all.get_mut(&id)?;
        let step = self.states[instance.state].steps.get(&event.name)?;
        let ended = self.states[instance.state].end && matches!(step, Step::To(_));
        if ended || instance.state == 0 {
            instance.trail = Rc::default();
        }
        if ended {
            known.met += 1;
            instance.number = known.met;
        }
        let happened = Happened { event: event.name.as_str().into(), function: here.function.clone(), stack: here.stack };
        if !instance.trail.contains(&happened) {
            Rc::make_mut(&mut instance.trail).push(happened);
        }
        match step {
            Step::To(state) => instance.state = *state,
            Step::Error(what) => {
                let message = format!("{} {what}", self.called(instance));
                return Some(Wrong { message, stack: here.stack, trail: instance.trail.clone() });
            }
        }
        None
    }

    fn rename(&self, occurrence: &Occurrence, event: &Event, id: u32, known: &mut Instances) {
        for name in &occurrence.loses {
            known.names.retain(|n, owner| n != name || *owner != id);
        }
        for lost in &event.loses {
            if let Lost::Space(space) = lost {
                known.names.retain(|n, owner| n.space != *space || *owner != id);
            }
        }
        for name in &occurrence.gains {
            known.names.insert(name.clone(), id);
        }
    }

    fn called(&self, instance: &Instance) -> String {
        match &instance.label {
            Some(label) => format!("{} `{}`", self.about.instance, String::from_utf8_lossy(label)),
            None => self.about.instance.clone(),
        }
    }
}

/// The event with the names it is about; `None` if the call has no such operand.
fn occurrence(index: usize, event: &Event, call: &Shown<'_>, naming: &mut Naming<'_>, cx: &mut Cx<'_>) -> Result<Option<Occurrence>, Stop> {
    let mut found = Occurrence { event: index, ..Occurrence::default() };
    if let Whose::Named(of) = &event.whose {
        found.key = name(of, call, naming, cx)?;
        if found.key.is_none() {
            return Ok(None);
        }
    }
    for gained in &event.gains {
        found.gains.extend(name(gained, call, naming, cx)?);
    }
    for lost in &event.loses {
        if let Lost::Name(lost) = lost {
            found.loses.extend(name(lost, call, naming, cx)?);
        }
    }
    found.texts.clone_from(&naming.new);
    Ok(Some(found))
}

fn name(of: &rule::Naming, call: &Shown<'_>, naming: &mut Naming<'_>, cx: &mut Cx<'_>) -> Result<Option<Name>, Stop> {
    let key = match &of.operand {
        Operand::Text(i) => call.arg(*i).map(|arg| naming.key(of.space, Form::Plain, arg, cx)).transpose()?.flatten(),
        Operand::Path(i) => call.arg(*i).map(|arg| naming.key(of.space, Form::Path, arg, cx)).transpose()?.flatten(),
        operand => match call.word(operand, cx)? {
            Some(word) => Some(Key::Number(cx.concretise(word.value, "an operand that a rule follows")? ^ naming.thread)),
            None => None,
        },
    };
    Ok(key.map(|key| Name { space: of.space, key }))
}

fn holds(event: &Event, call: &Shown<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop> {
    for condition in &event.when {
        let holds = match condition {
            Condition::Compare { operand, mask, relation, value } => match call.word(operand, cx)? {
                Some(word) => compare(word, *mask, *relation, *value, cx)?,
                None => false,
            },
            Condition::Has { text: operand, any, of } => {
                let (Operand::Text(i) | Operand::Path(i)) = operand else { return Ok(false) };
                let Some(has) = call.arg(*i).map(|arg| names::has(arg, of.as_bytes(), cx)).transpose()?.flatten() else { return Ok(false) };
                has == *any
            }
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares at the operand's width; decides if it is symbolic.
fn compare(word: Word, mask: Option<u64>, relation: Relation, value: i64, cx: &mut Cx<'_>) -> Result<bool, Stop> {
    if let Some(left) = word.constant(mask) {
        return Ok(relation.holds(left, value));
    }
    let Value::Sym(e) = word.value else { return Ok(false) };
    let pool = &mut cx.core.pool;
    let width = pool.width(e);
    let e = match mask {
        Some(mask) => {
            let mask = pool.number(width, mask);
            pool.and(e, mask)
        }
        None => e,
    };
    let value = pool.number(width, value as u64);
    let cond = match relation {
        Relation::Equal => pool.eq(e, value),
        Relation::NotEqual => pool.ne(e, value),
        Relation::Less => pool.slt(e, value),
        Relation::AtMost => pool.sle(e, value),
        Relation::Greater => pool.slt(value, e),
        Relation::AtLeast => pool.sle(value, e),
    };
    cx.decide(cond)
}

impl Shown<'_> {
    fn arg(&self, i: u32) -> Option<Word> {
        self.args.get(i as usize).copied()
    }

    /// The value of an operand that is no string; `None` if the call has none such, or if a pointer cannot be followed, which is the program's
    /// fault and which it meets itself.
    fn word(&self, operand: &Operand, cx: &mut Cx<'_>) -> Result<Option<Word>, Stop> {
        let (pointer, offset, width) = match operand {
            Operand::Result => return Ok(self.result),
            Operand::Arg(i) => return Ok(self.arg(*i)),
            Operand::At(i) => (self.arg(*i), 0, 64),
            Operand::Int(i, index) => (self.arg(*i), 4 * u64::from(*index), 32),
            Operand::Global(name) => {
                let value = cx.core.image.variable(name).map(Value::Bits);
                (value.map(|value| Word { value, width: 64 }), 0, 64)
            }
            Operand::Text(_) | Operand::Path(_) => return Ok(None),
        };
        let Some(pointer) = pointer else { return Ok(None) };
        let addr = cx.concretise(pointer.value, "a pointer that a rule follows")?;
        let bytes = memory::read_bytes(cx, addr.wrapping_add(offset), u64::from(width) / 8).ok();
        Ok(bytes.map(|bytes| {
            let word = memory::joined(cx, &bytes);
            Word { value: cx.value(word), width }
        }))
    }
}

impl PathData for Instances {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.texts.values().flat_map(|text| text.iter()).for_each(|byte| f(*byte));
    }
    fn remap(&mut self, map: &Remap) {
        for text in self.texts.values_mut() {
            *text = text.iter().map(|byte| map.get(*byte).expect("every expression of a state was a root of the compaction")).collect();
        }
    }
    fn hash_into(&self, mut h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        for (id, instance) in &self.all {
            (id, instance.state).hash(&mut h);
        }
        self.names.hash(&mut h);
        self.texts.values().flat_map(|text| text.iter()).for_each(|byte| h.write_u64(hash_expr(*byte)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule_file;
    use wryneck_exec::stacks::Stacks;

    /// A file with a stream: what it is called by moves.
    const RULE: &str = r#"id = "x"
summary = "s"
cwe = 1
severity = "note"
instance = "file"
[[event]]
name = "open"
return = ["open"]
key = "path arg0"
also = ["stream: result"]
[[event]]
name = "write"
call = ["write"]
key = "stream: arg0"
[[event]]
name = "rename"
return = ["rename"]
key = "path arg0"
also = ["path arg1"]
loses = ["path arg0"]
[[event]]
name = "check"
call = ["check"]
key = "path arg0"
[[event]]
name = "close"
call = ["close"]
key = "stream: arg0"
loses = ["stream"]
[[event]]
name = "write"
call = ["write_all"]
key = "every"
[[state]]
name = "clean"
on = { write = "written" }
[[state]]
name = "written"
errors = { check = "is written" }
at-exit = "is left"
"#;

    struct Run {
        rule: Rule,
        known: Rc<dyn PathData>,
        stack: StackId,
    }

    use wryneck_exec::stacks::StackId;

    impl Run {
        fn new() -> Run {
            let rule = rule_file::parse(RULE).expect("a good rule");
            let stack = Stacks::default().intern(&[]);
            Run { known: rule.start(), rule, stack }
        }

        /// An event of `function` with these names; whether it happened, and what is wrong.
        fn event(&mut self, function: &str, key: Option<Name>, gains: &[Name], loses: &[Name]) -> (bool, Option<String>) {
            let event = self.rule.by_function[function][0];
            let occurrence = Occurrence { event, key, gains: gains.to_vec(), loses: loses.to_vec(), texts: Vec::new() };
            let here = Here { function: &function.into(), stack: self.stack };
            let learned = self.rule.learn(&occurrence, here, Rc::get_mut(&mut self.known).expect("nobody else has it"));
            (learned.instance.is_some(), learned.wrong.first().map(|w| w.message.clone()))
        }
    }

    fn path(text: &str) -> Name {
        Name { space: 0, key: Key::Text(text.as_bytes().into()) }
    }

    fn stream(number: u64) -> Name {
        Name { space: 1, key: Key::Number(number) }
    }

    #[test]
    fn names_lead_to_instances_and_move() {
        let mut run = Run::new();
        let fine = (true, None);
        let none = (false, None);
        assert_eq!(run.event("write", Some(stream(7)), &[], &[]), none, "nobody knows the stream");
        assert_eq!(run.event("open", Some(path("a")), &[stream(7)], &[]), fine);
        assert_eq!(run.event("write", Some(stream(7)), &[], &[]), fine);
        assert_eq!(run.event("check", Some(path("b")), &[], &[]), fine, "another file");
        assert_eq!(run.event("check", Some(path("a")), &[], &[]), (true, Some("file `a` is written".into())));
        assert_eq!(run.event("rename", Some(path("a")), &[path("b")], &[path("a")]), fine);
        assert_eq!(run.event("check", Some(path("a")), &[], &[]), fine, "the name is free");
        assert_eq!(run.event("check", Some(path("b")), &[], &[]), (true, Some("file `a` is written".into())));
        assert_eq!(run.event("close", Some(stream(7)), &[], &[]), fine);
        assert_eq!(run.event("write", Some(stream(7)), &[], &[]), none, "the stream is no more");
        assert_eq!(run.rule.at_exit(&*run.known).len(), 1);
        assert_eq!(run.event("open", Some(path("c")), &[stream(8)], &[]), fine);
        assert_eq!(run.event("write_all", None, &[], &[]), fine);
        assert_eq!(run.rule.at_exit(&*run.known).len(), 4, "every path that was mentioned");
    }
}
