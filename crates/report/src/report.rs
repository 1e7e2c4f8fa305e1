//! Everything in a run folder: the run, its coverage in detail, its tests, and their source.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::run::{InputValue, Place, Run};

/// The text of source files, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources(BTreeMap<String, Vec<String>>);

/// A run and its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub run: Run,
    /// Version of the tool that made it.
    pub version: String,
    /// Absolute; names of files in formats are relative to it where they lie below.
    pub directory: String,
    /// By name of the file; the application's first.
    pub coverage: Vec<FileCoverage>,
    /// In the order they were written.
    pub tests: Vec<Test>,
    /// The paths of the first tests. Empty if details were not asked for.
    pub tree: Tree,
    pub sources: Sources,
}

/// Paths as a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Each node before those below it.
    pub nodes: Vec<TreeNode>,
    /// Where the forks are, each place once.
    pub places: Vec<Place>,
}

/// Paths that make the same decisions up to here, where they part or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// Its number; that of the root is its own.
    pub parent: u32,
    /// Decisions made after the parent's.
    pub decisions: u32,
    /// The test, by its number among the tests, whose path ends here.
    pub test: Option<u32>,
    /// The place, by its number in the tree, of the decision after these, with which the paths part. `None` if none makes one, or it is not known.
    pub place: Option<u32>,
}

/// Coverage of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileCoverage {
    pub file: String,
    /// Not of the application but of the C library.
    pub library: bool,
    /// Lines with code in their order, and whether a path ran them.
    pub lines: Vec<(u32, bool)>,
    /// In the order of their lines.
    pub functions: Vec<FunctionCoverage>,
}

/// Coverage of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCoverage {
    pub name: String,
    /// Where it begins.
    pub line: u32,
    pub entered: bool,
}

/// A test of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Test {
    pub file: String,
    /// How its path ended: class, and what within the class.
    pub class: String,
    pub what: String,
    pub instructions: u64,
    /// Decisions.
    pub depth: u64,
    /// The values of its inputs; `None` if details were not asked for, or its file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<InputValue>>,
}

impl FileCoverage {
    /// Lines that ran.
    pub fn covered(&self) -> usize {
        self.lines.iter().filter(|(_, ran)| *ran).count()
    }

    /// The lines with code of a function, by its index: from where it begins to where the next one does.
    pub fn lines_of(&self, function: usize) -> &[(u32, bool)] {
        let first = self.functions[function].line;
        let end = self.functions[function..].iter().map(|f| f.line).find(|&line| line > first).unwrap_or(u32::MAX);
        let at = |line| self.lines.partition_point(|(l, _)| *l < line);
        self.lines.get(at(first)..at(end)).unwrap_or_default()
    }

    /// The lines that never ran, neighbours among the lines with code as ranges.
    pub fn never_ran(&self) -> Vec<(u32, u32)> {
        let runs = self.lines.chunk_by(|a, b| a.1 == b.1);
        runs.filter(|run| !run[0].1).map(|run| (run[0].0, run[run.len() - 1].0)).collect()
    }
}

impl Sources {
    /// Adds a file's text.
    pub fn add(&mut self, file: String, text: &str) {
        self.0.insert(file, text.lines().map(str::to_owned).collect());
    }

    /// With names and lines as these give them.
    pub(crate) fn map(&self, name: fn(&str) -> String, line: fn(&str) -> String) -> Sources {
        Sources(self.0.iter().map(|(file, lines)| (name(file), lines.iter().map(|l| line(l)).collect())).collect())
    }

    /// All lines of a file, if its source is there.
    pub fn file(&self, file: &str) -> Option<&[String]> {
        self.0.get(file).map(Vec::as_slice)
    }

    /// A line, from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.file(file)?.get(index).map(String::as_str)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const SOURCE: &str = "#include <string.h>\n\nvoid unused(void) {}\nvoid fill(char *a, int n) {\n  int i = n;\n  \
        if (i > 3)\n    a[i] = 1;\n}\n\nint main(int c, char **v) {\n  if (strchr(v[1], 'x'))\n  fill(v[1], c);\n}\n";

    /// The one run folder every format shows in its tests.
    pub(crate) fn golden() -> Report {
        let function = |name: &str, line, entered| FunctionCoverage { name: name.into(), line, entered };
        let mut sources = Sources::default();
        sources.add("t.c".into(), SOURCE);
        Report {
            run: crate::run::tests::golden(),
            version: "0.1.0".into(),
            directory: "/home/me".into(),
            coverage: vec![
                FileCoverage {
                    file: "t.c".into(),
                    library: false,
                    lines: [3, 5, 6, 7, 8, 11, 12, 13].map(|line| (line, line != 3 && line != 13)).into(),
                    functions: vec![function("unused", 3, false), function("fill", 4, true), function("main", 10, true)],
                },
                FileCoverage {
                    file: "/musl/strchr.c".into(),
                    library: true,
                    lines: vec![(4, true)],
                    functions: vec![function("strchr", 3, true)],
                },
            ],
            tests: vec![Test {
                file: "test000002.ktest".into(),
                class: "fault".into(),
                what: "out-of-bounds-write".into(),
                instructions: 90,
                depth: 4,
                inputs: Some(vec![InputValue { name: "arg00".into(), bytes: b"x\x01\0".into() }]),
            }],
            tree: Tree {
                nodes: vec![
                    TreeNode { parent: 0, decisions: 0, test: None, place: Some(0) },
                    TreeNode { parent: 0, decisions: 4, test: Some(0), place: None },
                ],
                places: vec![Place { function: "main".into(), file: "t.c".into(), line: 11, column: 7 }],
            },
            sources,
        }
    }

    #[test]
    fn lines_belong_to_the_function_before_them() {
        let file = &golden().coverage[0];
        assert_eq!(file.lines_of(0), [(3, false)]);
        assert_eq!(file.lines_of(1).iter().map(|l| l.0).collect::<Vec<_>>(), [5, 6, 7, 8]);
        assert_eq!(file.lines_of(2).last(), Some(&(13, false)));
        assert_eq!(file.never_ran(), [(3, 3), (13, 13)]);
    }
}
