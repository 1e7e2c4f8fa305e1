//! `wryneck show`: prints a run folder for people, or in a format for other tools. It changes nothing; the run may still go on.

use std::path::Path;

use anyhow::Result;
use wryneck_report::show::{self, Section};

use crate::folder::{self, Code};
use crate::formats::Wanted;
use crate::options::{self, Opt};
use crate::output;

struct Args {
    formats: Wanted,
    code: Code,
    sections: Vec<Section>,
}

// One more option: a row (sorted by name).
#[rustfmt::skip]
static OPTIONS: &[Opt<Args>] = &[
    Opt { name: "--coverage", value: "", help: "lines per file and function, and those that never ran",
        set: |a, _| { a.sections.push(Section::Coverage); Ok(()) } },
    Opt { name: "--ends", value: "", help: "how paths ended, and what it took",
        set: |a, _| { a.sections.push(Section::Ends); Ok(()) } },
    Opt { name: "--findings", value: "", help: "findings with their source and the decisions on the way",
        set: |a, _| { a.sections.push(Section::Findings); Ok(()) } },
    Opt { name: "--html", value: "FILE", help: "one HTML page that needs no other file, as `wryneck report` writes it",
        set: |a, v| a.formats.add("html", v) },
    Opt { name: "--json", value: "", help: "the run as one JSON object, as `wryneck run --json` prints it",
        set: |a, _| a.formats.add("json", "-") },
    Opt { name: "--jsonl", value: "FILE", help: "JSON lines: run, findings, ends, tests, ledger, coverage, each line with its `type`",
        set: |a, v| a.formats.add("jsonl", v) },
    Opt { name: "--lcov", value: "FILE", help: "line and function coverage, for genhtml and editors",
        set: |a, v| a.formats.add("lcov", v) },
    Opt { name: "--ledger", value: "", help: "what was skipped, bounded or given up, with the flag that changes it",
        set: |a, _| { a.sections.push(Section::Ledger); Ok(()) } },
    Opt { name: "--libc", value: "", help: "coverage of the C library too",
        set: |a, _| { a.code = Code::All; Ok(()) } },
    Opt { name: "--sarif", value: "FILE", help: "findings as SARIF 2.1.0, for code scanning services and editors",
        set: |a, v| a.formats.add("sarif", v) },
    Opt { name: "--source", value: "FILE", help: "a source file with what ran and what never did; may be repeated",
        set: |a, v| { a.sections.push(Section::Source(v.into())); Ok(()) } },
];

const SYNOPSIS: &str = "usage: wryneck show [options] RUN\n\n\
    RUN is a run folder, such as `wryneck-last`; the run may still go on, or have been killed. Options, before or after it:\n";

const EXAMPLES: &str = "\nWithout an option: findings, ends, coverage, ledger. A FILE `-` is standard output.\n\n\
    Examples:\n\
    \x20 wryneck show wryneck-last                        everything, for people\n\
    \x20 wryneck show wryneck-last --findings             the findings only\n\
    \x20 wryneck show wryneck-last --source parse.c       a file line by line, with what ran\n\
    \x20 wryneck show wryneck-last --sarif out.sarif      for code scanning\n\
    \x20 wryneck show wryneck-last --lcov out.info        then `genhtml out.info`\n\
    \x20 wryneck show wryneck-last --jsonl - | jq 'select(.type == \"finding\")'\n";

pub fn help() -> String {
    format!("{SYNOPSIS}{}{EXAMPLES}", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let mut args = Args { formats: Wanted::default(), code: Code::Application, sections: Vec::new() };
    let folder = options::parse_run("show", OPTIONS, &mut args, words)?;
    let report = folder::report(Path::new(&folder), args.code, args.formats.details())?;
    args.formats.write(&report)?;
    match (args.sections.is_empty(), args.formats.is_empty()) {
        (false, _) => output::write(|out| show::write(out, &report, &args.sections))?,
        (true, true) => output::write(|out| show::write(out, &report, &Section::ALL))?,
        (true, false) => {}
    }
    Ok(0)
}
