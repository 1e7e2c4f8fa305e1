//! `wryneck verify`: `wryneck run` with rules, and a verdict on each.

use anyhow::Result;
use wryneck_verify::builtin;

use super::run;
use crate::args;

pub fn help() -> String {
    args::help("verify")
}

pub fn run(words: Vec<String>) -> Result<u8> {
    run::explore("verify", words, |args| {
        if args.plan.rules.is_empty() {
            args.plan.rules = builtin::rules().into_iter().map(|rule| rule.about().id.clone()).collect();
        }
    })
}
