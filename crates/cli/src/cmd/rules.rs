//! `wryneck rules`: lists the built-in rules, explains one, checks a rule file.

use std::io::{self, Write};

use anyhow::Result;
use wryneck_verify::rule::{At, Step};
use wryneck_verify::{Rule, builtin};

use crate::{output, rules};

const HELP: &str = "\
usage: wryneck rules [ID|FILE …]

examples:
  wryneck rules                 lists the rules that are built in
  wryneck rules open-close      explains one: its events and what they mean in each state
  wryneck rules my-rule.toml    checks and explains a rule of your own; a mistake is told with line and column

A rule is checked by `wryneck verify --rule ID|FILE TARGET …`. The built-in ones are examples of the format: rules/*.toml in the sources.
";

pub fn run(words: Vec<String>) -> Result<u8> {
    if matches!(words.first().map(String::as_str), Some("--help" | "-h")) {
        output::write(|out| out.write_all(HELP.as_bytes()))?;
        return Ok(0);
    }
    if words.is_empty() {
        let all = builtin::rules();
        output::write(|out| all.iter().try_for_each(|rule| writeln!(out, "{:<14} {} (CWE-{})", rule.id, rule.summary, rule.cwe)))?;
        return Ok(0);
    }
    let all = rules::find(&words)?;
    output::write(|out| all.iter().try_for_each(|rule| explain(out, rule)))?;
    Ok(0)
}

fn explain(out: &mut dyn Write, rule: &Rule) -> io::Result<()> {
    writeln!(out, "{}: {} (CWE-{})\n", rule.id, rule.summary, rule.cwe)?;
    writeln!(out, "events of a {}:", rule.instance)?;
    for event in &rule.events {
        let at = match event.at {
            At::Call => "call of",
            At::Return => "return of",
        };
        write!(out, "  {}: {at} {}", event.name, event.functions.join(", "))?;
        let key = event.key.map(|key| format!("; the {} is {key}", rule.instance)).unwrap_or_default();
        let when: Vec<String> = event.when.iter().map(ToString::to_string).collect();
        let when = if when.is_empty() { String::new() } else { format!("; when {}", when.join(" and ")) };
        writeln!(out, "{key}{when}")?;
    }
    writeln!(out, "states, the first is where a {} begins:", rule.instance)?;
    for state in &rule.states {
        writeln!(out, "  {}:", state.name)?;
        for (event, step) in &state.steps {
            match step {
                Step::To(to) => writeln!(out, "    {event} -> {}", rule.states[*to].name)?,
                Step::Error(what) => writeln!(out, "    {event}: violation, {} {what}", rule.instance)?,
            }
        }
        if let Some(what) = &state.at_exit {
            writeln!(out, "    at exit: violation, {} {what}", rule.instance)?;
        }
    }
    writeln!(out)
}
