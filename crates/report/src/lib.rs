//! Findings and runs as plain data, and the formats they are written in. Knows no engine: numbers, names and bytes in, text out.
//!
//! Reading order: [`run`] and [`report`] are the data, [`ktest`] is the format of tests. [`terminal`] and [`json`] write summaries. [`show`], [`annotate`] and [`html`]
//! write a run folder for people. [`jsonl`], [`lcov`] and [`sarif`] write it for other tools. [`shown`] escapes what programs say, [`units`] writes numbers.

pub mod annotate;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod ktest;
pub mod lcov;
pub mod report;
pub mod rules;
pub mod run;
pub mod sarif;
pub mod show;
pub mod shown;
pub mod terminal;
pub mod units;

use std::io::{self, Write};

pub use ktest::{KTest, Object};
pub use report::{FileCoverage, FunctionCoverage, Report, Sources, Test, Tree, TreeNode};
pub use rules::{Checked, RuleResult, Verdict};
pub use run::{
    Class, CodeLine, EndCount, Finding, Goal, InputValue, Kind, LOSSES, LedgerRow, Lines, Native, Place, Pruning, Reached, Run, Status,
    Step, Totals, Variable,
};

/// A row of [`FORMATS`].
pub struct Format {
    pub name: &'static str,
    /// It shows the tree of paths and the inputs of tests, which take a while to read.
    pub details: bool,
    pub write: fn(&mut dyn Write, &Report) -> io::Result<()>,
}

// One more format: a file with its `write`, a row here (sorted by name), an option in the command line, and a test on
// `report::tests::golden`.
#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "html", details: true, write: html::write },
    Format { name: "json", details: false, write: |out, report| json::write(out, &report.run) },
    Format { name: "jsonl", details: false, write: jsonl::write },
    Format { name: "lcov", details: false, write: lcov::write },
    Format { name: "sarif", details: false, write: sarif::write },
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}
