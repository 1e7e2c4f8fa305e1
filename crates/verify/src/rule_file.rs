//! Rule files: TOML, checked with the place of every mistake.
//!
//! ```toml
//! id = "open-close"
//! summary = "an opened stream is closed, and closed once"
//! cwe = 775
//! severity = "warning"        # or "error", "note"
//! instance = "stream"
//!
//! [[event]]
//! name = "open"
//! return = ["fopen"]          # or `call`: before the function runs
//! key = "result"              # or arg0, arg1, …; *arg0 is the pointer it points to
//! when = ["result != 0"]      # all must hold
//!
//! [[state]]                   # the first one is where an instance begins
//! name = "unknown"
//! on = { open = "open" }
//!
//! [[state]]
//! name = "open"
//! at-exit = "is never closed"
//! errors = { open = "is opened twice" }
//! ```
//! Several events may share a name.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::rule::{At, Condition, Event, Operand, Rule, Severity, State, Step};

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
    #[serde(rename = "at-exit")]
    at_exit: Option<String>,
}

/// Reads a rule file.
pub fn parse(text: &str) -> Result<Rule, Mistake> {
    let file: File = toml::from_str(text).map_err(|e| Mistake::at(text, e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    let reader = Reader { text };
    let events: Vec<Event> = file.events.into_iter().map(|e| reader.event(e)).collect::<Result<_, _>>()?;
    let names: Vec<String> = file.states.iter().map(|s| s.name.get_ref().clone()).collect();
    if names.is_empty() {
        return Err(Mistake::at(text, 0, "the rule has no state".into()));
    }
    let states = file.states.into_iter().map(|s| reader.state(s, &events, &names)).collect::<Result<_, _>>()?;
    let File { id, summary, cwe, severity, instance, .. } = file;
    Ok(Rule { id, summary, cwe, severity, instance, events, states })
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
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<String>, message: String) -> Result<T, Mistake> {
        Err(Mistake::at(self.text, at.span().start, message))
    }

    fn event(&self, e: FileEvent) -> Result<Event, Mistake> {
        let (at, functions) = match (e.call, e.returns) {
            (Some(call), None) => (At::Call, call),
            (None, Some(returns)) => (At::Return, returns),
            (None, None) => return self.wrong(&e.name, "an event has a list of functions, `call` or `return`".into()),
            (Some(_), Some(_)) => return self.wrong(&e.name, "an event is at the `call` or at the `return`, not at both".into()),
        };
        let key = e.key.as_ref().map(|key| self.operand(key, key.get_ref(), at)).transpose()?;
        let when = e.when.iter().map(|c| self.condition(c, at)).collect::<Result<_, _>>()?;
        Ok(Event { name: e.name.into_inner(), at, functions, key, when })
    }

    fn operand(&self, whole: &Spanned<String>, text: &str, at: At) -> Result<Operand, Mistake> {
        let number = |text: &str| text.strip_prefix("arg").and_then(|n| n.parse().ok());
        match (text, text.strip_prefix('*'), number(text)) {
            ("result", ..) if at == At::Return => Ok(Operand::Result),
            ("result", ..) => self.wrong(whole, "there is no result before the function runs; make it an event at `return`".into()),
            (_, None, Some(i)) => Ok(Operand::Arg(i)),
            (_, Some(pointer), _) if number(pointer).is_some() => Ok(Operand::At(number(pointer).unwrap_or_default())),
            _ => self.wrong(whole, format!("`{text}` is no operand: expected `result`, `arg0`, `arg1` …, or `*arg0`")),
        }
    }

    fn condition(&self, whole: &Spanned<String>, at: At) -> Result<Condition, Mistake> {
        let words: Vec<&str> = whole.get_ref().split_whitespace().collect();
        let &[operand, relation, value] = &words[..] else {
            return self.wrong(whole, format!("`{}` is no condition: expected one such as `result != 0`", whole.get_ref()));
        };
        let equal = match relation {
            "==" => true,
            "!=" => false,
            _ => return self.wrong(whole, format!("`{relation}` is unknown: expected `==` or `!=`")),
        };
        let Ok(value) = value.parse() else { return self.wrong(whole, format!("`{value}` is no number")) };
        Ok(Condition { operand: self.operand(whole, operand, at)?, equal, value })
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
        Ok(State { name: s.name.into_inner(), steps, at_exit: s.at_exit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(rule.events[0].when[1], Condition { operand: Operand::At(1), equal: true, value: 3 });
        assert_eq!(rule.states[0].steps["make"], Step::To(1));
        assert_eq!(rule.states[1].steps["use"], Step::Error("is used".into()));
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
        check("result != 0", "result > 0", 10, "`>` is unknown");
        check("call = [\"use\"]\n", "", 12, "`call` or `return`");
        check("cwe = 1", "cwe = \"one\"", 3, "invalid type");
        check("cwe = 1", "cve = 1", 3, "unknown field");
    }
}
