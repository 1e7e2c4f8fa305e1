//! `wryneck report`: a run folder as one HTML page. It changes nothing in the folder; the run may still go on.

use std::path::Path;

use anyhow::Result;

use crate::folder::{self, Code};
use crate::formats::Wanted;
use crate::options::{self, Opt};
use crate::output;
use crate::problem::problem;

struct Args {
    file: String,
    code: Code,
}

/// Where the page goes unless something else is asked for: not into the folder, which may come from a stranger.
const FILE: &str = "wryneck-report.html";

// One more option: a row (sorted by name).
static OPTIONS: &[Opt<Args>] = &[
    Opt {
        name: "--libc",
        value: "",
        help: "coverage of the C library too",
        set: |a, _| {
            a.code = Code::All;
            Ok(())
        },
    },
    Opt {
        name: "--output",
        value: "FILE",
        help: "where the page goes (default `wryneck-report.html`); `-` is standard output",
        set: |a, v| {
            a.file = v.into();
            Ok(())
        },
    },
];

const SYNOPSIS: &str = "usage: wryneck report [options] RUN\n\n\
    Writes one HTML page that needs no other file and no network: findings with their paths, coverage of each source line, the tree\n\
    of paths, tests with their inputs, ledger, time. RUN is a run folder, such as `wryneck-last`. Options, before or after it:\n";

const EXAMPLES: &str = "\nExamples:\n\
    \x20 wryneck report wryneck-last                      write wryneck-report.html\n\
    \x20 wryneck report --output parse.html wryneck-out-3\n\
    \x20 wryneck run --html parse.html parse.c --sym-stdin 8   the same at the end of a run\n";

pub fn help() -> String {
    format!("{SYNOPSIS}{}{EXAMPLES}", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let mut args = Args { file: FILE.into(), code: Code::Application };
    let folder = options::parse_run("report", OPTIONS, &mut args, words)?;
    let mut wanted = Wanted::default();
    wanted.add("html", &args.file).map_err(|why| problem(format!("`--output`: {why}"), "write `--output FILE`"))?;
    wanted.write(&folder::report(Path::new(&folder), args.code, wanted.details())?)?;
    for file in wanted.files() {
        output::note(format!("wrote `{}`", file.display()));
    }
    Ok(0)
}
