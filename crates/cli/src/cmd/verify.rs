//! `wryneck verify`: `wryneck run` with rules, and a verdict on each.

use std::time::Instant;

use anyhow::Result;
use wryneck_verify::builtin;

use super::run;
use crate::args;

pub fn run(words: Vec<String>) -> Result<u8> {
    let start = Instant::now();
    let command = ["wryneck".to_owned(), "verify".to_owned()].into_iter().chain(words.iter().cloned()).collect();
    let Some(mut args) = args::parse(words)? else { return Ok(0) };
    if args.rules.is_empty() {
        args.rules = builtin::rules().into_iter().map(|rule| rule.id).collect();
    }
    run::explore(start, command, args)
}
