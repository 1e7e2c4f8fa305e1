//! `wryneck guard`: the native run of a program whose input's path is verified.

use std::os::unix::ffi::OsStrExt;

use anyhow::Result;

use crate::guard::options::{GuardArgs, OPTIONS};
use crate::guard::{ask, manage, program, worker};
use crate::options::{self, Words};
use crate::problem::problem;

const USAGE: &str = "\
wryneck guard runs a program after it has looked up whether the path of this very input is verified

usage: wryneck guard [options] -- PROGRAM [ARGUMENT…]
       wryneck guard status
       wryneck guard forget PROGRAM…|--all
       wryneck guard warm [options] PROGRAM --history FILE|--tests DIR
       wryneck guard install --to DIR PROGRAM…

A path that ends without a fault runs at once; a path with a fault does not run. Where nothing is known, the path is verified first.
When guard does not run the program, its exit code is 125.

examples:
  wryneck guard -- ./program -n 5        verify once, then run
  wryneck guard --answer -- ./program x  only say what is known
  wryneck guard install --to ~/guarded ls wc; PATH=~/guarded:$PATH

options:
";

/// A first word, and what it does with the others.
type Subcommand = (&'static str, fn(Vec<String>) -> Result<u8>);

/// What else `wryneck guard` does, by its first word.
static SUBCOMMANDS: &[Subcommand] = &[
    (worker::WORD, |words| worker::work(&words)),
    ("forget", |words| manage::forget(&words)),
    ("install", manage::install),
    ("status", |_| manage::status()),
    ("warm", manage::warm),
];

/// A shim runs: `guard-shim SHIM ARGUMENTS`.
pub fn shim(words: Vec<String>) -> Result<u8> {
    manage::shim(words)
}

pub fn help() -> String {
    format!("{USAGE}{}", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    if let Some((_, run)) = SUBCOMMANDS.iter().find(|(name, _)| words.first().is_some_and(|word| word == name)) {
        return run(words.into_iter().skip(1).collect());
    }
    let (mut args, mut words) = (GuardArgs::default(), Words::new(words));
    options::parse(OPTIONS, &mut args, &mut words)?;
    let mut rest = words.rest();
    if rest.first().is_some_and(|word| word == "--") {
        rest.remove(0);
    }
    if rest.is_empty() {
        return Err(problem("no program is given", "write `wryneck guard -- PROGRAM ARGUMENTS`"));
    }
    let mut rest = program::given(rest.len())?;
    let name = rest.remove(0);
    let file = program::find(&name)?;
    let arguments: Vec<Vec<u8>> = rest.iter().map(|word| word.as_bytes().to_vec()).collect();
    let question = ask::question(&args, &name, &file, &arguments)?;
    if args.answer { question.answer() } else { question.act() }
}
