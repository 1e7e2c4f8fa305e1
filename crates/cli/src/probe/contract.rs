//! Contracts from a file: what functions require of their callers, a line each.
//!
//! `list_head: requires lst != 0 && *(uint32_t *)(lst + 4) < 2`. Names may have `*` and `?`; `#` begins a comment.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wryneck_expr::{ExprId, Pool};
use wryneck_ir::Module;
use wryneck_probe::contract::{self, Types};
use wryneck_probe::shape::Param;

use super::args::ProbeArgs;
use super::check::Required;
use super::functions;
use crate::names::matches;
use crate::problem::problem;

/// A line of a file of contracts.
pub struct Contract {
    glob: String,
    /// The condition.
    pub text: String,
    /// The file's name and the line.
    place: String,
}

/// The contracts of a function.
pub fn of(args: &ProbeArgs, function: &str) -> Result<Vec<Contract>> {
    let Some(file) = &args.contracts else { return Ok(Vec::new()) };
    let mut all = read(file)?;
    all.retain(|contract| matches(&contract.glob, function));
    Ok(all)
}

/// What the calls of a function are to keep, of those that a module defines.
pub fn checked(args: &ProbeArgs, module: &Module) -> Result<Vec<Required>> {
    let Some(file) = &args.check else { return Ok(Vec::new()) };
    let mut all: Vec<Required> = Vec::new();
    for contract in read(file)? {
        if let Some(known) = all.iter_mut().find(|required| required.function == contract.glob) {
            known.conditions.push(contract.text);
            continue;
        }
        let Some(index) = functions::find(module, &contract.glob) else { continue };
        let Ok(params) = functions::params(module, &module.functions[index]) else { continue };
        all.push(Required { function: contract.glob, conditions: vec![contract.text], params });
    }
    Ok(all)
}

/// Reads a file of contracts.
pub fn read(file: &Path) -> Result<Vec<Contract>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read the contracts `{}`", file.display()))?;
    parse(&text, &file.display().to_string())
}

fn parse(text: &str, file: &str) -> Result<Vec<Contract>> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let parts = line.split_once(':').and_then(|(glob, rest)| Some((glob.trim(), rest.trim().strip_prefix("requires ")?.trim())));
            let Some((glob, text)) = parts else {
                return Err(problem(format!("{file}:{number}: no contract: `{line}`"), "write `FUNCTION: requires CONDITION`"));
            };
            Ok(Contract { glob: glob.into(), text: text.trim_end_matches(';').into(), place: format!("{file}:{number}") })
        })
        .collect()
}

impl Contract {
    /// What it requires, over the inputs of a function with these parameters.
    pub fn condition(&self, params: &[Param], types: &Types, pool: &mut Pool) -> Result<ExprId> {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        contract::parse(&self.text, params, types, pool)
            .map_err(|why| problem(format!("{}: {why}", self.place), format!("the parameters are: {}", names.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_contracts() {
        let all = parse("# none\n\nlist_*: requires lst != 0; # why\n", "c").expect("it is fine");
        assert_eq!((all.len(), &*all[0].glob, &*all[0].text, &*all[0].place), (1, "list_*", "lst != 0", "c:3"));
        assert!(parse("list_head lst != 0", "c").is_err());
    }
}
