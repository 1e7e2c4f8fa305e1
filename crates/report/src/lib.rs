//! Findings and runs as plain data, and the formats they are written in. Knows no engine: numbers, names and bytes in, text out.
//!
//! Reading order: [`run`] (what there is to tell), [`ktest`] (test files), [`terminal`] and [`json`] (summaries), [`units`].

pub mod json;
pub mod ktest;
pub mod run;
pub mod terminal;
pub mod units;

use std::io::{self, Write};

pub use ktest::{KTest, Object};
pub use run::{Class, EndCount, Finding, InputValue, Kind, LedgerRow, Lines, Native, Place, Run, Status, Totals};

/// A row of [`FORMATS`].
pub struct Format {
    pub name: &'static str,
    pub write: fn(&mut dyn Write, &Run) -> io::Result<()>,
}

// One more format: a file with its `write`, a row here (sorted by name), and a snapshot of `Run::golden` in its tests.
pub static FORMATS: &[Format] = &[Format { name: "json", write: json::write }, Format { name: "terminal", write: terminal::write }];
