//! What the page's script draws: tests, their inputs, the tree of paths, and sources, as JSON in the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::colour;
use super::inputs::Inputs;
use crate::report::{Report, Test};
use crate::run::Place;
use crate::{shown, units};

/// Bytes of source text in the page, and tests and nodes of the tree.
const MOST_SOURCE: usize = 3 << 19;
pub const MOST_TESTS: usize = 20_000;
const MOST_NODES: usize = 60_000;

/// The data, and for each file of the coverage the number of its text, if the page holds that.
pub fn of(report: &Report) -> (String, Vec<Option<usize>>) {
    let (texts, text_of) = texts(report);
    let mut ends = Ends::default();
    let mut inputs = Inputs::default();
    let tests: Vec<Value> = report
        .tests
        .iter()
        .take(MOST_TESTS)
        .map(|test| json!([shown::text(&test.file), ends.number(test), test.instructions, test.depth, inputs.of(test)]))
        .collect();
    let (mut tree, mut places) = (Vec::new(), Vec::new());
    if shows_tree(report) {
        let known = |test: &u32| (*test as usize) < tests.len();
        let or_none = |number: Option<u32>| number.map_or(-1, i64::from);
        let nodes = report.tree.nodes.iter();
        tree.extend(nodes.map(|node| json!([node.parent, node.decisions, or_none(node.test.filter(known)), or_none(node.place)])));
        places.extend(report.tree.places.iter().map(|place| json!([short(place), position(place), code(report, place)])));
    }
    let folder = units::shell_word(&report.run.folder);
    let data = json!({
        "folder": folder, "tests": tests, "ends": ends.names, "kinds": ends.kinds, "inputs": inputs.names,
        "tree": tree, "places": places, "files": texts
    });
    (in_html(&data), text_of)
}

/// JSON that ends no element and begins none.
fn in_html(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Whether the page's script shows a test of this name where a link leads to it.
pub fn is_linked(report: &Report, test: &str) -> bool {
    let number = test.strip_prefix("test").and_then(|rest| rest.strip_suffix(".ktest"));
    number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit())) && report.tests.iter().take(MOST_TESTS).any(|t| t.file == test)
}

/// The ends of tests, each once, with their colours.
#[derive(Default)]
struct Ends {
    numbers: BTreeMap<String, usize>,
    names: Vec<String>,
    kinds: Vec<&'static str>,
}

impl Ends {
    fn number(&mut self, test: &Test) -> usize {
        let mut name = test.class.clone();
        if !test.what.is_empty() {
            let _ = write!(name, " {}", test.what);
        }
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            self.names.push(name);
            self.kinds.push(colour(&test.class));
            self.names.len() - 1
        })
    }
}

pub fn shows_tree(report: &Report) -> bool {
    (2..=MOST_NODES).contains(&report.tree.nodes.len())
}

/// A place in a box of the tree.
fn short(place: &Place) -> String {
    match place.file.is_empty() {
        true => place.function.clone(),
        false => format!("{}:{}", place.file.rsplit('/').next().unwrap_or(&place.file), place.line),
    }
}

fn position(place: &Place) -> String {
    if place.file.is_empty() { place.text() } else { format!("{} in {}", place.text(), place.function) }
}

/// The line there.
fn code(report: &Report, place: &Place) -> String {
    /// Characters of it.
    const MOST: usize = 120;
    report.sources.line(&place.file, place.line).map_or(String::new(), |line| line.trim().chars().take(MOST).collect())
}

/// The texts of covered files that the page holds, and for each file of the coverage which of them is its own.
fn texts(report: &Report) -> (Vec<Value>, Vec<Option<usize>>) {
    let (mut left, mut texts) = (MOST_SOURCE, Vec::new());
    let mut of = vec![None; report.coverage.len()];
    let places = report.run.findings.iter().flat_map(|f| &f.stack);
    let of_findings: BTreeSet<&str> = places.map(|place| place.file.as_str()).collect();
    // Those of findings come first.
    let mut order: Vec<usize> = (0..report.coverage.len()).collect();
    order.sort_by_key(|&i| (!of_findings.contains(report.coverage[i].file.as_str()), i));
    for i in order {
        let file = &report.coverage[i];
        let Some(lines) = report.sources.file(&file.file) else { continue };
        let Some(rest) =
            lines.iter().map(|line| line.len() + 3).sum::<usize>().checked_add(12 * file.lines.len()).and_then(|n| left.checked_sub(n))
        else {
            continue;
        };
        left = rest;
        let numbers = |ran: bool| -> Vec<u32> { file.lines.iter().filter(|l| l.1 == ran).map(|l| l.0).collect() };
        of[i] = Some(texts.len());
        texts.push(json!([lines, numbers(true), numbers(false)]));
    }
    (texts, of)
}
