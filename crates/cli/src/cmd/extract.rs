//! `wryneck extract`: the bitcode of a program, an object or a static library, as a file.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::build::Kind;
use crate::carried::Carried;
use crate::options::{self, Opt, Words};
use crate::problem::problem;
use crate::{carried, output};

#[derive(Default)]
struct Args {
    output: Option<PathBuf>,
}

static OPTIONS: &[Opt<Args>] = &[Opt {
    name: "-o",
    value: "FILE",
    help: "where to write it (default: beside PROGRAM, with `.bc` at the end)",
    set: |a, v| {
        a.output = Some(v.into());
        Ok(())
    },
}];

const EXAMPLE: &str =
    "  wryneck extract src/program            writes src/program.bc\n  wryneck extract libx.a -o x.bc         of all its members";

pub fn help() -> String {
    format!("usage: wryneck extract PROGRAM|OBJECT|LIBRARY [-o FILE.bc]\n\n{}\n{EXAMPLE}\n", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let mut args = Args::default();
    let mut words = Words::new(words);
    options::parse(OPTIONS, &mut args, &mut words)?;
    let Some(program) = words.next().map(PathBuf::from) else {
        return Err(problem("no program is given", "write `wryneck extract PROGRAM -o FILE.bc`"));
    };
    options::parse(OPTIONS, &mut args, &mut words)?;
    if let Some(word) = words.next() {
        return Err(problem(format!("`{word}` is one file too many"), "write `wryneck extract PROGRAM -o FILE.bc`"));
    }
    if Kind::of(&program)? != Kind::Native {
        return Err(problem(format!("`{}` is not a program, an object or a static library", program.display()), ""));
    }
    let Carried { bitcode, bare, of_host: _ } = carried::extract(&program, &carried::read(&program)?)?;
    for object in &bare {
        output::say("wryneck", carried::lacking(object));
    }
    let mut beside = program.clone().into_os_string();
    beside.push(".bc");
    let output = args.output.unwrap_or(beside.into());
    fs::copy(&bitcode, &output).with_context(|| format!("cannot write `{}`", output.display()))?;
    Ok(0)
}
