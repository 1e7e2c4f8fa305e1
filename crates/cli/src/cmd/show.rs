//! `wryneck show`: what a run folder tells, for people or in a format for other tools. Changes nothing; the run may still go on.

use std::path::Path;

use anyhow::Result;
use wryneck_report::show::{self, Section};
use wryneck_report::{FORMATS, Format};

use crate::folder::{self, Code};
use crate::options::{self, Opt, Words, one_of};
use crate::output;
use crate::problem::problem;

struct Args {
    format: Option<&'static Format>,
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
    Opt { name: "--format", value: "NAME", help: "print the whole run in a format instead:",
        set: |a, v| { a.format = Some(format(v)?); Ok(()) } },
    Opt { name: "--ledger", value: "", help: "what was skipped, bounded or given up, with the flag that changes it",
        set: |a, _| { a.sections.push(Section::Ledger); Ok(()) } },
    Opt { name: "--libc", value: "", help: "coverage of the C library too",
        set: |a, _| { a.code = Code::All; Ok(()) } },
    Opt { name: "--source", value: "FILE", help: "a source file with what ran and what never did; may be repeated",
        set: |a, v| { a.sections.push(Section::Source(v.into())); Ok(()) } },
];

const EXAMPLES: &str = "
Examples:
  wryneck show wryneck-last                            findings, ends, coverage, the ledger
  wryneck show wryneck-last --findings                 the findings only
  wryneck show wryneck-last --source parse.c           a file, line by line
  wryneck show wryneck-last --format sarif > out.sarif for code scanning
  wryneck show wryneck-last --format lcov > out.info   then `genhtml out.info`
";

pub fn format(name: &str) -> Result<&'static Format, String> {
    let known: Vec<_> = FORMATS.iter().map(|f| (f.name, f)).collect();
    one_of(name, &known)
}

pub fn run(words: Vec<String>) -> Result<u8> {
    if words.iter().any(|w| w == "--help" || w == "-h") {
        output::write(|out| out.write_all(help().as_bytes()))?;
        return Ok(0);
    }
    let mut args = Args { format: None, code: Code::Application, sections: Vec::new() };
    let mut words = Words::new(words);
    options::parse(OPTIONS, &mut args, &mut words)?;
    let Some(folder) = words.next() else {
        return Err(problem("no run is given", "write `wryneck show wryneck-last`"));
    };
    options::parse(OPTIONS, &mut args, &mut words)?;
    if let Some(word) = words.next() {
        return Err(problem(format!("`{word}` is one word too many"), "one run is shown at a time"));
    }
    let report = folder::report(Path::new(&folder), args.code)?;
    match args.format {
        Some(format) => output::write(|out| (format.write)(out, &report))?,
        None if args.sections.is_empty() => output::write(|out| show::write(out, &report, &Section::ALL))?,
        None => output::write(|out| show::write(out, &report, &args.sections))?,
    }
    Ok(0)
}

fn help() -> String {
    let mut text = format!("usage: wryneck show [options] RUN\n\nRUN is a run folder. Options, before or after it:\n");
    for option in OPTIONS {
        text += &options::help(std::slice::from_ref(option));
        if option.name == "--format" {
            FORMATS.iter().for_each(|f| text += &format!("  {:<28}   {:<9} {}\n", "", f.name, f.help));
        }
    }
    text + EXAMPLES
}
