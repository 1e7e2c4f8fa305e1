//! A rule in words: what `wryneck rules RULE` prints.

use std::fmt::{Result, Write};

use crate::checker::{About, At};
use crate::rule::{Event, Lost, Naming, Rule, Step, Whose};

/// Columns of a line of functions.
const WIDTH: usize = 110;

/// What every rule begins with.
pub fn head(about: &About, out: &mut dyn Write) -> Result {
    writeln!(out, "{}: {} (CWE-{})\n", about.id, about.summary, about.cwe)?;
    if about.notes.is_empty() { Ok(()) } else { writeln!(out, "{}\n", about.notes) }
}

/// `intro` and names, over several lines.
pub fn functions<'a>(intro: &str, names: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> Result {
    let mut line = intro.to_owned();
    let mut separator = "";
    for name in names {
        line.push_str(separator);
        if line.len() + 1 + name.len() > WIDTH {
            writeln!(out, "{line}")?;
            line = "     ".to_owned();
        }
        line.push(' ');
        line.push_str(name);
        separator = ",";
    }
    writeln!(out, "{line}")
}

/// A rule file's rule: its events with their functions, then its states.
pub fn rule(rule: &Rule, out: &mut dyn Write) -> Result {
    head(&rule.about, out)?;
    let instance = &rule.about.instance;
    writeln!(out, "events of a {instance}:")?;
    for event in &rule.events {
        explain_event(rule, event, out)?;
    }
    writeln!(out, "\nstates, the first is where a {instance} begins:")?;
    for state in &rule.states {
        let end = if state.end { format!(" (the end of a {instance})") } else { String::new() };
        writeln!(out, "  {}{end}", state.name)?;
        for (event, step) in &state.steps {
            match step {
                Step::To(to) => writeln!(out, "    {event} -> {}", rule.states[*to].name)?,
                Step::Error(what) => writeln!(out, "    {event}: violation, {instance} {what}")?,
            }
        }
        if let Some(what) = &state.at_exit {
            writeln!(out, "    at exit: violation, {instance} {what}")?;
        }
    }
    Ok(())
}

fn explain_event(rule: &Rule, event: &Event, out: &mut dyn Write) -> Result {
    let at = match event.at {
        At::Call => "call of",
        At::Return => "return of",
    };
    functions(&format!("  {}: {at}", event.name), event.functions.iter().map(String::as_str), out)?;
    let naming = |n: &Naming| match rule.spaces[usize::from(n.space)].as_str() {
        "" => n.operand.to_string(),
        space => format!("{space} {}", n.operand),
    };
    let mut words = Vec::new();
    match &event.whose {
        Whose::Only => {}
        Whose::Every => words.push(format!("of every {}", rule.about.instance)),
        Whose::Named(n) => words.push(format!("the {} is {}", rule.about.instance, naming(n))),
    }
    if !event.when.is_empty() {
        words.push(format!("when {}", event.when.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")));
    }
    words.extend(event.gains.iter().map(|n| format!("from now on also {}", naming(n))));
    words.extend(event.loses.iter().map(|lost| match lost {
        Lost::Name(n) => format!("no longer {}", naming(n)),
        Lost::Space(space) => format!("no longer any {}", rule.spaces[usize::from(*space)]),
    }));
    if words.is_empty() { Ok(()) } else { writeln!(out, "      {}", words.join("; ")) }
}
