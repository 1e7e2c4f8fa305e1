//! What the file beside a test says of its path. The file is data: it has a limit, and what is not asked for is not kept.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::data;

/// How a test's path ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    pub class: Option<String>,
    /// Exit status, kind of fault, what is unsupported, which limit.
    pub what: String,
    /// Of a fault.
    pub message: String,
    /// What was written to standard output, if all of it is known.
    pub stdout: Option<Vec<u8>>,
    pub leaks: Vec<Leak>,
    pub approximated: bool,
    /// What was skipped or assumed, if the path is approximated: the first few things.
    pub assumed: Option<String>,
    /// The path goes on behind its fault.
    pub goes_on: bool,
    /// Memory that was never written is input of the path.
    pub unwritten_input: bool,
    /// The program handles signals of its own faults.
    pub handles_faults: bool,
    /// The path made threads or processes.
    pub threads: bool,
    /// The order in which its threads ran, if it made any.
    pub order: Option<Ordered>,
}

/// The order in which the threads of a path ran.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Ordered {
    /// For each switch, the thread that it made run, and the number of decisions before it, modulo 256, as far as they are recorded.
    pub first: Vec<[u8; 2]>,
    /// The number of switches.
    pub count: u64,
    /// A thread gave way because it had run for long.
    pub sliced: bool,
}

/// A leak where the path ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Leak {
    pub message: String,
    pub bytes: u64,
    pub objects: u64,
}

impl About {
    /// What was skipped or assumed on an approximated path.
    pub fn assumption(&self) -> &str {
        self.assumed.as_deref().unwrap_or("see the ledger")
    }

    /// Of a test, from the `.json` beside it.
    pub fn of_test(test: &Path) -> Result<About> {
        let file = test.with_extension("json");
        let shown = file.display();
        let text = data::read_here(&file, data::TEST).with_context(|| format!("cannot read `{shown}`, which says how the path ended"))?;
        serde_json::from_slice(&text).with_context(|| format!("`{shown}` is damaged"))
    }
}
