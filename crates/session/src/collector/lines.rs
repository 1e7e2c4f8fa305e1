//! The lines and functions of a program and which of them ran, over all workers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use wryneck_report::Lines;

use crate::coverage::{FunctionRow, LineRow};

/// Lines with code, over all workers. A worker alone counts them itself.
pub(super) struct AllLines {
    several: bool,
    count: Lines,
    lines: BTreeMap<(Arc<str>, u32), LineRow>,
    functions: BTreeMap<(Arc<str>, u32, Arc<str>), FunctionRow>,
}

impl AllLines {
    pub(super) fn new(workers: u32) -> AllLines {
        AllLines { several: workers > 1, count: Lines::default(), lines: BTreeMap::new(), functions: BTreeMap::new() }
    }

    /// Takes in what has changed for a worker; gives what has changed for all.
    pub(super) fn add(
        &mut self,
        _: u32,
        count: Lines,
        lines: Vec<LineRow>,
        functions: Vec<FunctionRow>,
    ) -> (Vec<LineRow>, Vec<FunctionRow>) {
        self.count = count;
        if !self.several {
            return (lines, functions);
        }
        let lines = lines.into_iter().filter(|row| match self.lines.entry((row.file.clone(), row.line)) {
            Entry::Vacant(entry) => {
                entry.insert(row.clone());
                true
            }
            Entry::Occupied(mut entry) => {
                let news = row.covered && !entry.get().covered;
                entry.get_mut().covered |= row.covered;
                news
            }
        });
        let lines = lines.collect();
        let functions = functions.into_iter().filter(|row| match self.functions.entry((row.file.clone(), row.line, row.name.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(row.clone());
                true
            }
            Entry::Occupied(mut entry) => {
                let news = row.entered && !entry.get().entered;
                entry.get_mut().entered |= row.entered;
                news
            }
        });
        (lines, functions.collect())
    }

    /// Lines of the application.
    pub(super) fn count(&self) -> Lines {
        if !self.several {
            return self.count.clone();
        }
        let application = || self.lines.values().filter(|line| !line.library);
        Lines { covered: application().filter(|line| line.covered).count() as u64, all: application().count() as u64 }
    }
}
