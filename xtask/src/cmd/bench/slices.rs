//! How much of what pruning keeps a perfect slice would leave out (paper 1, section 5: slices are conservative): five programs of coreutils
//! explored to the end without pruning, so that of each decision it is known what is below all of its sides.
//!
//! The paths form a tree. A *side* is another way of a decision on a path that pruning explores, on which some path goes: what is infeasible
//! is none. Ours keeps a side if `wryneck verify` explores it. A *perfect slice* keeps a side if some path below it has a sequence of events that no
//! path has below the way that was taken, or below another side of the same decision that is kept: it knows all of the two subtrees, and nothing of the rest of
//! the tree. Keeping those sides alone finds all sequences, path by path, as *perfect slices* counts. Who knows the whole tree explores a path per sequence.
//! Cost: seconds for each row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::explore::{Exploration, GNULIB, Mode, Programs};

#[derive(clap::Args)]
pub struct Args {
    /// Where results go, one JSON object a line
    #[arg(long, default_value = "docs/results/slices.jsonl")]
    results: PathBuf,
    #[command(flatten)]
    programs: Programs,
    /// Lines shown of each row, those first that keep most sides a perfect slice would not
    #[arg(long, default_value_t = 4)]
    lines: usize,
}

const RULES: [&str; 3] = ["open-close", "file-access", "memory-leak"];
/// Programs with input that has few enough paths to explore them all, and decides about events.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("comm", &["--sym-arg", "2", "A", "B", "--sym-files", "2", "2"]),
    ("cut", &["-f", "--sym-arg", "2", "A", "--sym-files", "1", "3"]),
    ("head", &["--sym-arg", "2", "A", "--sym-files", "1", "3"]),
    ("paste", &["--sym-arg", "2", "A", "B", "--sym-files", "2", "2"]),
    ("uniq", &["--sym-arg", "2", "A", "--sym-files", "1", "3"]),
];
/// For one exploration.
const SECONDS: u32 = 120;

pub fn run(args: &Args) -> Result<()> {
    let programs = args.programs.folder()?;
    head();
    let mut lines = String::new();
    for (program, input) in PROGRAMS {
        for rule in RULES {
            let row = measure(&programs.join(program).with_extension("bc"), program, input, rule)?;
            show(&row, args.lines);
            lines += &format!("{row}\n");
        }
    }
    fs::write(&args.results, lines).with_context(|| format!("cannot write `{}`", args.results.display()))
}

fn measure(target: &Path, program: &str, input: &[&str], rule: &str) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("tree");
    let rules = &[rule];
    let exploration = |mode, tree| Exploration {
        target,
        input,
        rules,
        mode,
        summaries: Some(Path::new(GNULIB)),
        seconds: SECONDS,
        memory: "6G",
        search: None,
        off: Some("subsumption"),
        tree,
    };
    let all = exploration(Mode::Unpruned, Some(&file)).run()?;
    let pruned = exploration(Mode::Pruned, None).run()?;
    for run in [&all.run, &pruned.run] {
        ensure!(run["status"]["kind"] == "complete", "{program} under {rule} was not explored to the end: {}", run["status"]);
    }
    ensure!(pruned.sequences == all.sequences, "{program} under {rule}: pruning loses {} sequences", all.sequences - pruned.sequences);
    let tree = Tree::read(&fs::read_to_string(&file)?).with_context(|| format!("{program} under {rule}"))?;
    let sides = tree.sides();
    let count = |which: &dyn Fn(&Side) -> bool| sides.iter().filter(|side| which(side)).count();
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    for side in sides.iter().filter(|side| side.kept && !side.needed) {
        *lost.entry(side.place).or_default() += 1;
    }
    let mut lost: Vec<_> = lost.into_iter().collect();
    lost.sort_by_key(|(place, count)| (std::cmp::Reverse(*count), *place));
    Ok(json!({
        "program": program, "rule": rule, "input": input.join(" "), "paths": tree.ends.len(), "no_exit": tree.no_exit(),
        "pruned": pruned.run["totals"]["paths"], "perfect_slices": tree.with_perfect_slices(0),
        "sequences": all.sequences, "sides": sides.len(), "kept": count(&|side| side.kept), "perfect": count(&|side| side.needed),
        "both": count(&|side| side.kept && side.needed), "lines": lost,
    }))
}

/// Columns behind program and rule, and what of a row they show.
const COLUMNS: [(&str, &str); 8] = [
    ("all paths", "paths"),
    ("pruned", "pruned"),
    ("perfect slices", "perfect_slices"),
    ("sequences", "sequences"),
    ("sides", "sides"),
    ("kept", "kept"),
    ("perfect", "perfect"),
    ("both", "both"),
];

fn head() {
    println!("{:<6} {:<12}{}", "", "", COLUMNS.map(|(head, _)| format!("{head:>15}")).concat());
}

fn show(row: &Value, lines: usize) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let counts = COLUMNS.map(|(_, name)| format!("{:>15}", row[name].to_string()));
    println!("{:<6} {:<12}{}", text(&row["program"]), text(&row["rule"]), counts.concat());
    let places = row["lines"].as_array().into_iter().flatten().take(lines);
    let places: Vec<String> = places.map(|line| format!("{} ({})", text(&line[0]), line[1])).collect();
    println!("       kept, and not by a perfect slice: {}", places.join(", "));
}

/// The tree of all paths, as `wryneck verify --tree` writes it.
#[derive(Default)]
struct Tree {
    /// The root first, each behind its parent.
    nodes: Vec<Node>,
    /// The nodes that paths end at.
    ends: Vec<usize>,
}

/// A place on paths: the decisions up to there.
#[derive(Default)]
struct Node {
    parent: usize,
    /// In the order in which paths first came there.
    children: Vec<usize>,
    /// Where the decision was made that leads here.
    place: String,
    /// Pruning explores what is below, if it comes to the node before.
    wanted: bool,
    /// The sequences of events of paths below, by number; of those that the program ended.
    sequences: BTreeSet<usize>,
}

/// Another side of a decision on a path that pruning explores.
struct Side<'a> {
    place: &'a str,
    kept: bool,
    needed: bool,
}

impl Tree {
    fn read(text: &str) -> Result<Tree> {
        let mut tree = Tree { nodes: vec![Node { wanted: true, ..Node::default() }], ends: Vec::new() };
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for line in text.lines() {
            let path: Value = serde_json::from_str(line)?;
            let mut at = path["after"].as_u64().context("a path leaves the tree nowhere")? as usize;
            for new in path["new"].as_array().into_iter().flatten() {
                ensure!(at < tree.nodes.len(), "a path leaves the tree at a node that is not there");
                let node = tree.nodes.len();
                tree.nodes[at].children.push(node);
                let (place, wanted) = (new[1].as_str().unwrap_or_default().to_owned(), new[2] == true);
                tree.nodes.push(Node { parent: at, place, wanted, ..Node::default() });
                at = node;
            }
            if let Some(events) = path["events"].as_str() {
                let next = numbers.len();
                tree.nodes[at].sequences.insert(*numbers.entry(events.to_owned()).or_insert(next));
            }
            tree.ends.push(at);
        }
        for node in (1..tree.nodes.len()).rev() {
            let sequences = tree.nodes[node].sequences.clone();
            let parent = tree.nodes[node].parent;
            tree.nodes[parent].sequences.extend(sequences);
        }
        Ok(tree)
    }

    /// Paths that the program did not end: they have no sequence.
    fn no_exit(&self) -> usize {
        self.ends.iter().filter(|end| self.nodes[**end].sequences.is_empty()).count()
    }

    /// The children of a node, that of the way taken first: pruning explores it in any case.
    fn ways(&self, node: usize) -> Vec<usize> {
        let mut ways = self.nodes[node].children.clone();
        let taken = ways.iter().position(|way| self.nodes[*way].wanted).unwrap_or(0);
        ways[..(taken + 1).min(self.nodes[node].children.len())].rotate_right(usize::from(taken > 0));
        ways
    }

    /// Whether a perfect slice keeps each of these ways; the first is the one that was taken.
    fn needed(&self, ways: &[usize]) -> Vec<bool> {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let brings = |way: &usize| {
            let (before, first) = (found.len(), found.is_empty() && ways.first() == Some(way));
            found.extend(&self.nodes[*way].sequences);
            first || found.len() > before
        };
        ways.iter().map(brings).collect()
    }

    /// All sides on the paths that pruning explores.
    fn sides(&self) -> Vec<Side<'_>> {
        let mut sides = Vec::new();
        let mut todo = vec![0];
        while let Some(node) = todo.pop() {
            let ways = self.ways(node);
            for (way, needed) in ways.iter().zip(self.needed(&ways)) {
                let Node { place, wanted, .. } = &self.nodes[*way];
                if Some(way) != ways.first() {
                    sides.push(Side { place, kept: *wanted, needed });
                }
                if *wanted {
                    todo.push(*way);
                }
            }
        }
        sides
    }

    /// The paths below a node that are explored if perfect slices say what is.
    fn with_perfect_slices(&self, node: usize) -> usize {
        let (mut paths, mut todo) = (0, vec![node]);
        while let Some(node) = todo.pop() {
            let ways = self.ways(node);
            let needed = self.needed(&ways);
            paths += usize::from(ways.is_empty());
            todo.extend(ways.iter().zip(needed).filter(|(_, needed)| *needed).map(|(way, _)| *way));
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the two paths below the first decision's second side only the one with `b` is needed, and of that decision of three ways the third.
    const TREE: &str = r#"{"after":0,"new":[["true","f.c:1",true],["way 0","f.c:2",true]],"end":"exit","events":"a"}
{"after":1,"new":[["way 1","f.c:2",true]],"end":"exit","events":"a"}
{"after":1,"new":[["way 2","f.c:2",false]],"end":"exit","events":"c"}
{"after":0,"new":[["false","f.c:1",true],["true","f.c:3",true]],"end":"exit","events":"a"}
{"after":5,"new":[["false","f.c:3",true]],"end":"exit","events":"b"}
{"after":5,"new":[["value 3","f.c:3",false]],"end":"fault","events":null}
"#;

    #[test]
    fn a_perfect_slice_keeps_sides_that_bring_a_sequence() {
        let tree = Tree::read(TREE).expect("it is a tree");
        let sides: Vec<_> = tree.sides().iter().map(|side| (side.place.to_owned(), side.kept, side.needed)).collect();
        let side = |place: &str, kept, needed| (place.to_owned(), kept, needed);
        let wanted = [
            side("f.c:1", true, true),
            side("f.c:3", true, true),
            side("f.c:3", false, false),
            side("f.c:2", true, false),
            side("f.c:2", false, true),
        ];
        assert_eq!(sides, wanted);
        assert_eq!((tree.ends.len(), tree.no_exit(), tree.with_perfect_slices(0)), (6, 1, 4));
    }

    #[test]
    fn the_way_taken_is_never_one_that_nobody_wants() {
        let text = "{\"after\":0,\"new\":[[\"true\",\"\",false]],\"end\":\"exit\",\"events\":\"\"}\n\
                    {\"after\":0,\"new\":[[\"false\",\"\",true]],\"end\":\"exit\",\"events\":\"\"}\n";
        assert_eq!(Tree::read(text).expect("it is a tree").ways(0), [2, 1]);
    }
}
