//! Contracts inferred from what all callers in a program guarantee, and checked on their paths.
//!
//! Candidates are kept as long as no call breaks one (Houdini: Flanagan and Leino, FME 2001): each caller is probed under its own candidates, and
//! loses those that its calls do not keep. What is left holds at every call that was reached, if it holds of the functions nobody calls, of which
//! nothing is assumed. A caller of which only a part of the paths was explored is named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wryneck_expr::Pool;
use wryneck_ir::{Module, NONE, Op, linkage, param_kind, symbol_kind};
use wryneck_probe::contract::{self, Types};
use wryneck_probe::shape::Param;

use super::args::ProbeArgs;
use super::check::{Seen, line};
use super::functions;
use super::outcome::{Outcome, Status};
use super::sweep;
use crate::problem::problem;
use crate::{output, scratch};

/// Bytes of a condition that is a candidate.
const LONGEST: usize = 120;
/// Conditions of a function that are candidates, beside those of its parameters.
const MOST: usize = 8;
/// Rounds after which what still changes is left out.
const ROUNDS: usize = 12;

/// Who calls whom, by name.
#[derive(Default)]
struct Calls {
    callers: BTreeMap<String, BTreeSet<String>>,
    /// Functions whose address is taken: not all of their callers are known.
    taken: BTreeSet<String>,
    /// Functions that others than this program may call.
    visible: BTreeSet<String>,
}

impl Calls {
    fn of(module: &Module) -> Calls {
        let mut calls = Calls::default();
        let function = |mut symbol: u32| -> Option<String> {
            // Aliases lead to others.
            for _ in 0..module.symbols.len() {
                let s = module.symbols.get(symbol as usize)?;
                match s.kind {
                    symbol_kind::FUNCTION => return Some(module.str(module.functions[s.index as usize].name).to_owned()),
                    symbol_kind::ALIAS => symbol = s.index,
                    _ => return None,
                }
            }
            None
        };
        for symbol in module.symbols.iter().filter(|s| s.kind == symbol_kind::FUNCTION && s.linkage != linkage::INTERNAL) {
            calls.visible.insert(module.str(symbol.name).to_owned());
        }
        let constants = module.functions.iter().flat_map(|f| module.consts.range(f.consts)).map(|c| c.symbol);
        let stored = module.relocs.iter().map(|r| r.symbol);
        calls.taken = constants.chain(stored).filter(|symbol| *symbol != NONE).filter_map(function).collect();
        for f in module.functions.iter() {
            let caller = module.str(f.name);
            let insts = module.blocks.range(f.blocks).iter().flat_map(|block| module.insts.range(block.insts));
            for callee in insts.filter(|inst| inst.op == Op::Call as u16).filter_map(|inst| function(inst.a)) {
                calls.callers.entry(callee).or_default().insert(caller.to_owned());
            }
        }
        calls
    }

    /// These functions, and all that call them.
    fn upward(&self, from: BTreeSet<String>) -> BTreeSet<String> {
        let (mut all, mut work): (BTreeSet<String>, Vec<String>) = (from.clone(), from.into_iter().collect());
        while let Some(name) = work.pop() {
            for caller in self.callers.get(&name).into_iter().flatten() {
                if all.insert(caller.clone()) {
                    work.push(caller.clone());
                }
            }
        }
        all
    }
}

/// Infers contracts for the functions that have findings, and writes them to a file.
pub fn run(args: &ProbeArgs, module: &Module, chosen: &[String], file: &Path) -> Result<()> {
    let calls = Calls::of(module);
    let plain = ProbeArgs { contracts: None, replay: false, results: None, ..args.clone() };
    let outcomes = sweep::run(&plain, chosen)?;
    let wanted: BTreeSet<String> = outcomes.iter().filter(|o| !o.findings.is_empty()).map(|o| o.function.clone()).collect();
    let all = calls.upward(wanted.clone());
    let mut left: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for function in all.iter().filter(|name| calls.callers.contains_key(*name) && !calls.taken.contains(*name)) {
        let outcome = outcomes.iter().find(|o| o.function == *function);
        left.insert(function.clone(), candidates(module, function, outcome));
    }
    let scratch = scratch::Scratch::new().context("cannot make a scratch folder")?;
    let place = scratch.path().join("candidates");
    let callers: Vec<String> = all.iter().filter(|name| left.keys().any(|f| calls.callers[f].contains(*name))).cloned().collect();
    let (mut seen, mut partly): (BTreeMap<String, BTreeMap<String, Seen>>, BTreeSet<String>) = Default::default();
    let mut again: BTreeSet<String> = callers.iter().cloned().collect();
    let mut stable = false;
    for _ in 0..ROUNDS {
        fs::write(&place, text_of(&left)).with_context(|| format!("cannot write `{}`", place.display()))?;
        let probes = ProbeArgs { contracts: Some(place.clone()), check: Some(place.clone()), ..plain.clone() };
        let now: Vec<String> = again.iter().cloned().collect();
        for outcome in sweep::run(&probes, &now)? {
            match outcome.status {
                Status::Exhausted => partly.remove(&outcome.function),
                Status::Bounded | Status::Unsupported => partly.insert(outcome.function.clone()),
            };
            seen.insert(outcome.function, outcome.checked);
        }
        let before = left.clone();
        for (function, conditions) in &mut left {
            let from = &calls.callers[function];
            // A caller that was not explored as far as its calls guarantees nothing.
            conditions.retain(|condition| {
                let of = |caller: &String| seen.get(caller).and_then(|seen| seen.get(&line(function, condition))).copied();
                let all: Vec<Seen> = from.iter().filter_map(of).collect();
                let probed = from.iter().all(|caller| of(caller).is_some() || !partly.contains(caller));
                probed && all.iter().any(|seen| seen.held > 0) && all.iter().all(|seen| seen.broken == 0)
            });
        }
        stable = left == before;
        if stable {
            break;
        }
        again = before
            .iter()
            .filter(|(f, conditions)| left[*f] != **conditions)
            .map(|(f, _)| f.clone())
            .filter(|f| callers.contains(f))
            .collect();
        if again.is_empty() {
            stable = true;
            break;
        }
    }
    if !stable {
        return Err(problem("the contracts of some functions still change after several rounds", "choose fewer functions by `--function`"));
    }
    left.retain(|_, conditions| !conditions.is_empty());
    let target = args.target.display();
    let mut out = format!(
        "# What all callers in {target} guarantee: inferred by `wryneck probe --infer`, checked along their paths.\n\
         # Callers outside of it were not seen: they may break what is marked `exported`.\n"
    );
    for (function, conditions) in &left {
        let from = &calls.callers[function];
        let mut note = format!("{} callers", from.len());
        let of: Vec<&str> = from.iter().filter(|caller| partly.contains(*caller)).map(String::as_str).collect();
        if !of.is_empty() {
            let _ = write!(note, "; explored in part: {}", of.join(", "));
        }
        if calls.visible.contains(function) {
            note.push_str("; exported");
        }
        let _ = writeln!(out, "# {function}: {note}");
        conditions.iter().for_each(|condition| _ = writeln!(out, "{}", line(function, condition)));
    }
    fs::write(file, out).with_context(|| format!("cannot write `{}`", file.display()))?;
    let count: usize = left.values().map(BTreeSet::len).sum();
    output::write(|out| {
        writeln!(out, "contracts   {count} of {} functions, from {} callers, in `{}`", left.len(), callers.len(), file.display())?;
        writeln!(out, "            {} functions have findings; probe them again with `--contracts {}`", wanted.len(), file.display())
    })
}

fn text_of(all: &BTreeMap<String, BTreeSet<String>>) -> String {
    all.iter().flat_map(|(function, conditions)| conditions.iter().map(move |condition| line(function, condition) + "\n")).collect()
}

/// What a function may require: that its parameters are not null or negative, and that what led to its findings does not hold.
fn candidates(module: &Module, function: &str, outcome: Option<&Outcome>) -> BTreeSet<String> {
    let Some(f) = functions::find(module, function).map(|index| &module.functions[index]) else { return BTreeSet::new() };
    let Ok(params) = functions::params(module, f) else { return BTreeSet::new() };
    let mut texts = Vec::new();
    for (param, record) in params.iter().zip(module.params.range(f.params)).filter(|(param, _)| param.by_value == 0 && param.width <= 64) {
        let name = &param.name;
        match record.kind {
            param_kind::POINTER => texts.push(format!("{name} != NULL")),
            param_kind::INTEGER => texts.extend([format!("{name} != 0"), format!("{name} >= 0")]),
            _ => {}
        }
    }
    let conditions = outcome.into_iter().flat_map(|o| &o.findings).flat_map(|finding| &finding.precondition);
    let negated = conditions.filter(|c| !c.contains("/*") && c.len() <= LONGEST && !c.ends_with("!= NULL")).map(|c| format!("!({c})"));
    texts.extend(negated.collect::<BTreeSet<_>>().into_iter().take(MOST));
    usable(texts, &params).into_iter().collect()
}

/// Those conditions that can be read and say something. The first of several that are one, or that deny each other.
fn usable(texts: Vec<String>, params: &[Param]) -> Vec<String> {
    let mut pool = Pool::new();
    let (mut all, mut known) = (Vec::new(), BTreeSet::new());
    for text in texts {
        let Ok(cond) = contract::parse(&text, params, &Types::default(), &mut pool) else { continue };
        let not = pool.not(cond);
        if pool.as_u64(cond).is_none() && !known.contains(&not) && known.insert(cond) {
            all.push(text);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_neither_repeat_nor_deny_each_other() {
        let params = [("p", 64), ("n", 32)].map(|(name, width)| Param { name: name.into(), width, by_value: 0 });
        let texts = ["p != NULL", "!(p == 0)", "!(p != 0)", "n >= 0", "1 == 1", "q != 0", "!(n == 3)"].map(str::to_owned).to_vec();
        assert_eq!(usable(texts, &params), ["p != NULL", "n >= 0", "!(n == 3)"]);
    }
}
