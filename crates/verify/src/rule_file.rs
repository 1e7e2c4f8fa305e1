//! Rule files: TOML. A mistake is reported with its line and column.
//!
//! ```toml
//! id = "open-close"
//! summary = "an opened stream is closed, and closed once"
//! cwe = 775
//! severity = "warning"        # or "error", "note"
//! instance = "stream"
//! notes = "Shown by `wryneck rules`."     # optional
//!
//! [[event]]
//! name = "open"
//! return = ["fopen"]          # or `call`: before the function runs
//! key = "result"              # which stream; without a key the rule is about one thing, and "every" means all known streams
//! when = ["result != 0"]      # all must hold
//!
//! [[event]]
//! name = "close"
//! call = ["fclose"]
//! key = "arg0"
//!
//! [[state]]                   # the first one: an instance before its first event
//! name = "unknown"
//! on = { open = "open" }
//!
//! [[state]]
//! name = "open"
//! at-exit = "is never closed"
//! on = { close = "closed" }
//! errors = { open = "is opened twice" }
//!
//! [[state]]
//! name = "closed"
//! end = true                  # the next event concerns another stream, which may have the same address
//! on = { open = "open" }
//! errors = { close = "is closed again" }
//! ```
//!
//! Operands: `result`, `arg0`; `*arg0`, the pointer that it points to; `arg0[1]`, an `int` of the array that it points to; `text arg0`, a
//! string; `path arg0`, a string that is a file name; `global stdout`, the value of a global pointer. Conditions (`terms.rs`) compare an
//! operand, or bits of it (`arg1 & 0x3 != 0`), with a number. The relations are `==`, `!=`, `<`, `<=`, `>`, `>=`, signed at the operand's
//! width. `text arg1 has w+` asks for one of these characters, `lacks` for none of them.
//!
//! One instance may have several names. `also = ["descriptor: result"]` gives it a name in another name space, and an event finds it there
//! by `key = "descriptor: arg0"`. In the name space without a name, every key is the name of an instance. In the others, only names that
//! `also` gave are. `loses = ["descriptor: arg0"]` removes a name, `loses = ["descriptor"]` all names of that name space.
//!
//! Several events may share a name. All events that fit a call happen, in the order of the file.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::checker::{About, At, Severity};
use crate::rule::{Condition, Event, Lost, Naming, Operand, Rule, State, Step, Whose};
use crate::terms;

/// What is wrong with a rule file, and where (lines and columns from 1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Mistake {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    summary: String,
    cwe: u16,
    severity: Severity,
    instance: String,
    #[serde(default, rename = "per-thread")]
    per_thread: bool,
    #[serde(default)]
    notes: String,
    #[serde(rename = "event")]
    events: Vec<FileEvent>,
    #[serde(rename = "state")]
    states: Vec<FileState>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEvent {
    name: Spanned<String>,
    call: Option<Vec<String>>,
    #[serde(rename = "return")]
    returns: Option<Vec<String>>,
    key: Option<Spanned<String>>,
    #[serde(default)]
    also: Vec<Spanned<String>>,
    #[serde(default)]
    loses: Vec<Spanned<String>>,
    #[serde(default)]
    when: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileState {
    name: Spanned<String>,
    #[serde(default)]
    on: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    errors: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    end: bool,
    #[serde(rename = "at-exit")]
    at_exit: Option<String>,
}

/// Reads a rule file.
pub fn parse(text: &str) -> Result<Rule, Mistake> {
    let file: File = toml::from_str(text).map_err(|e| Mistake::at(text, e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    let mut reader = Reader { text, spaces: vec![String::new()] };
    // Names are given before they are looked for, in whatever order the events are.
    for e in &file.events {
        reader.spaces(&e.also)?;
    }
    let events: Vec<Event> = file.events.into_iter().map(|e| reader.event(e)).collect::<Result<_, _>>()?;
    let names: Vec<String> = file.states.iter().map(|s| s.name.get_ref().clone()).collect();
    if names.is_empty() {
        return Err(Mistake::at(text, 0, "the rule has no state".into()));
    }
    let states = file.states.into_iter().map(|s| reader.state(s, &events, &names)).collect::<Result<_, _>>()?;
    let mut by_function: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        event.functions.iter().for_each(|function| by_function.entry(function.clone()).or_default().push(index));
    }
    let File { id, summary, cwe, severity, instance, per_thread, notes, .. } = file;
    let about = About { id, summary, cwe, severity, instance, notes: notes.trim().into() };
    Ok(Rule { about, events, by_function, spaces: reader.spaces, states, per_thread })
}

impl Mistake {
    /// A mistake at byte `at` of the text.
    pub(crate) fn at(text: &str, at: usize, message: String) -> Mistake {
        let before = &text[..at.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        Mistake { line, column, message }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Of names; see [`Rule::spaces`].
    spaces: Vec<String>,
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<String>, message: String) -> Result<T, Mistake> {
        Err(Mistake::at(self.text, at.span().start, message))
    }

    fn spaces(&mut self, also: &[Spanned<String>]) -> Result<(), Mistake> {
        for name in also {
            if let Some((space, _)) = name.get_ref().split_once(':')
                && !self.spaces.iter().any(|s| s == space)
            {
                if self.spaces.len() > usize::from(u8::MAX) {
                    return self.wrong(name, "there are more than 255 name spaces".into());
                }
                self.spaces.push(space.to_owned());
            }
        }
        Ok(())
    }

    fn event(&self, e: FileEvent) -> Result<Event, Mistake> {
        let (at, functions) = match (e.call, e.returns) {
            (Some(call), None) => (At::Call, call),
            (None, Some(returns)) => (At::Return, returns),
            (None, None) => return self.wrong(&e.name, "an event has a list of functions, `call` or `return`".into()),
            (Some(_), Some(_)) => return self.wrong(&e.name, "an event is at the `call` or at the `return`, not at both".into()),
        };
        let whose = match &e.key {
            None => Whose::Only,
            Some(key) if key.get_ref() == "every" => Whose::Every,
            Some(key) => Whose::Named(self.naming(key, at)?),
        };
        let gains: Vec<Naming> = e.also.iter().map(|name| self.naming(name, at)).collect::<Result<_, _>>()?;
        if let (Whose::Every, Some(name)) = (&whose, e.also.first().or(e.loses.first())) {
            return self.wrong(name, "a name is one instance's; the event is `every` one's".into());
        }
        let loses = e.loses.iter().map(|name| self.lost(name, at)).collect::<Result<_, _>>()?;
        let when = e.when.iter().map(|c| self.condition(c, at)).collect::<Result<_, _>>()?;
        Ok(Event { name: e.name.into_inner(), at, functions, whose, gains, loses, when })
    }

    fn lost(&self, name: &Spanned<String>, at: At) -> Result<Lost, Mistake> {
        match self.spaces.iter().position(|s| s == name.get_ref() && !s.is_empty()) {
            Some(space) => Ok(Lost::Space(space as u8)),
            None => self.naming(name, at).map(Lost::Name),
        }
    }

    /// `OPERAND`, or `SPACE: OPERAND`.
    fn naming(&self, name: &Spanned<String>, at: At) -> Result<Naming, Mistake> {
        let (space, operand) = name.get_ref().split_once(':').map_or(("", name.get_ref().as_str()), |(s, o)| (s, o.trim()));
        let Some(number) = self.spaces.iter().position(|s| s == space) else {
            return self.wrong(name, format!("nothing gets a name of `{space}`: an `also` of some event would"));
        };
        let operand = terms::operand(operand).or_else(|why| self.wrong(name, why))?;
        self.at_right_time(name, &operand, at)?;
        Ok(Naming { space: number as u8, operand })
    }

    fn at_right_time(&self, whole: &Spanned<String>, operand: &Operand, at: At) -> Result<(), Mistake> {
        match (operand, at) {
            (Operand::Result, At::Call) => {
                self.wrong(whole, "there is no result before the function runs; make it an event at `return`".into())
            }
            _ => Ok(()),
        }
    }

    fn condition(&self, whole: &Spanned<String>, at: At) -> Result<Condition, Mistake> {
        let condition = terms::condition(whole.get_ref()).or_else(|why| self.wrong(whole, why))?;
        let (Condition::Compare { operand, .. } | Condition::Has { text: operand, .. }) = &condition;
        self.at_right_time(whole, operand, at)?;
        Ok(condition)
    }

    fn state(&self, s: FileState, events: &[Event], names: &[String]) -> Result<State, Mistake> {
        let mut steps = BTreeMap::new();
        let known = |event: &Spanned<String>| match events.iter().any(|e| e.name == *event.get_ref()) {
            true => Ok(event.get_ref().clone()),
            false => self.wrong(event, format!("no event is called `{}`", event.get_ref())),
        };
        for (event, to) in &s.on {
            let Some(number) = names.iter().position(|n| n == to.get_ref()) else {
                return self.wrong(to, format!("no state is called `{}`: there are `{}`", to.get_ref(), names.join("`, `")));
            };
            steps.insert(known(event)?, Step::To(number));
        }
        for (event, message) in &s.errors {
            if steps.insert(known(event)?, Step::Error(message.clone())).is_some() {
                return self.wrong(event, format!("`{}` is both in `on` and in `errors`", event.get_ref()));
            }
        }
        Ok(State { name: s.name.into_inner(), steps, end: s.end, at_exit: s.at_exit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Operands;
    use crate::rule::Relation;

    const GOOD: &str = r#"id = "x"
summary = "s"
cwe = 1
severity = "note"
instance = "thing"
[[event]]
name = "make"
return = ["make", "make2"]
key = "result"
when = ["result != 0", "*arg1 == 3"]
[[event]]
name = "use"
call = ["use"]
key = "arg0"
[[state]]
name = "unknown"
on = { make = "made" }
[[state]]
name = "made"
at-exit = "is left"
errors = { use = "is used" }
"#;

    #[test]
    fn a_file_is_a_rule() {
        let rule = parse(GOOD).expect("a good file");
        assert_eq!((rule.events.len(), rule.states.len()), (2, 2));
        assert_eq!(rule.events[0].at, At::Return);
        let third = Condition::Compare { operand: Operand::At(1), mask: None, relation: Relation::Equal, value: 3 };
        assert_eq!(rule.events[0].when[1], third);
        assert_eq!(rule.events[0].operands(), Operands { args: 2, result: true });
        assert_eq!(rule.by_function["make2"], [0]);
        assert_eq!(rule.states[0].steps["make"], Step::To(1));
        assert_eq!(rule.states[1].steps["use"], Step::Error("is used".into()));
    }

    #[test]
    fn examples_are_rules() {
        let documentation = include_str!("../../../docs/rules.md");
        let (_, behind) = documentation.split_once("```toml\n").expect("the documentation shows a rule");
        let (example, _) = behind.split_once("```").expect("the example ends");
        assert_eq!(parse(example).map(|rule| rule.about.id), Ok("directories".into()));
        let header = include_str!("rule_file.rs").lines().take_while(|line| line.starts_with("//!"));
        let header: String = header.map(|line| line.trim_start_matches("//!").trim_start().to_owned() + "\n").collect();
        let (_, behind) = header.split_once("```toml\n").expect("the header shows a rule");
        let (example, _) = behind.split_once("```").expect("the example ends");
        assert_eq!(parse(example).map(|rule| rule.about.id), Ok("open-close".into()));
    }

    #[test]
    fn mistakes_have_their_place() {
        let check = |from: &str, to: &str, line: usize, words: &str| {
            let m = parse(&GOOD.replace(from, to)).expect_err(to);
            assert!(m.line == line && m.message.contains(words), "{to}: {m}");
        };
        check("key = \"arg0\"", "key = \"first\"", 14, "`first` is no operand");
        check("key = \"arg0\"", "key = \"result\"", 14, "no result before");
        check("make = \"made\"", "make = \"gone\"", 17, "no state is called `gone`");
        check("{ use = ", "{ used = ", 21, "no event is called `used`");
        check("result != 0", "result =! 0", 10, "`=!` is unknown");
        check("result != 0", "result != 0\", \"text arg1 == w", 10, "is a string");
        check("key = \"arg0\"", "key = \"file: arg0\"", 14, "nothing gets a name of `file`");
        check("key = \"arg0\"", "key = \"arg0\"\nalso = [\"file: first\"]", 15, "`first` is no operand");
        check("key = \"arg0\"", "key = \"every\"\nloses = [\"arg0\"]", 15, "a name is one instance's");
        check("key = \"arg0\"", "key = \"arg0\"\nwhen = [\"result == 0\"]", 15, "no result before");
        check("call = [\"use\"]\n", "", 12, "`call` or `return`");
        check("cwe = 1", "cwe = \"one\"", 3, "invalid type");
        check("cwe = 1", "cve = 1", 3, "unknown field");
    }
}
