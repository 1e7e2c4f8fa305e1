//! `wryneck rules`: lists the built-in rules, explains a rule, checks a rule file.

use anyhow::{Context, Result};
use wryneck_verify::builtin;

use crate::{output, rules};

const HELP: &str = "\
usage: wryneck rules [ID|FILE …]

examples:
  wryneck rules                 lists the rules that are built in
  wryneck rules open-close      explains one: its events and what they mean in each state
  wryneck rules my-rule.toml    checks and explains a rule of your own; mistakes are reported with line and column

A rule is checked by `wryneck verify --rule ID|FILE TARGET …`. The built-in ones are examples of the format: rules/*.toml in the sources.
";

pub fn help() -> String {
    HELP.to_owned()
}

pub fn run(words: Vec<String>) -> Result<u8> {
    if words.is_empty() {
        let all = builtin::rules();
        output::write(|out| {
            all.iter().map(|rule| rule.about()).try_for_each(|rule| writeln!(out, "{:<18} {} (CWE-{})", rule.id, rule.summary, rule.cwe))
        })?;
        return Ok(0);
    }
    let all = rules::find(&words)?;
    let mut text = String::new();
    for rule in all {
        rule.explain(&mut text).context("a rule cannot be explained")?;
        text.push('\n');
    }
    output::write(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}
