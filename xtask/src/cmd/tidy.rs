//! `xtask tidy`: the conventions that no compiler checks, one row of [`RULES`] each. Also a plain test, so `./test` runs it.
//!
//! One more convention: a function over one [`Source`] and its row; the tests below break each rule once. Text is matched line by
//! line, which is enough for code that rustfmt laid out. [`documents`] checks links and citations, [`floors`] the floors of the engine.

mod documents;
mod floors;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cache::files;

#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> Result<()> {
    let complaints = complaints(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} places are not tidy", complaints.len());
    }
    Ok(())
}

/// A file of the workspace: a Rust source, or a crate's manifest.
struct Source {
    /// From the root, with `/`.
    path: String,
    text: String,
}

/// What is wrong, and on which line (from 1).
type Complaints = Vec<(usize, String)>;

struct Rule {
    name: &'static str,
    check: fn(&Source) -> Complaints,
}

const RULES: &[Rule] = &[
    Rule { name: "edge", check: edges },
    Rule { name: "floor", check: floors::imports },
    Rule { name: "header", check: header },
    Rule { name: "length", check: length },
    Rule { name: "words", check: words },
];

/// Which of our crates a crate may use (ARCHITECTURE.md, "The crates"), outside of its tests.
const EDGES: &[(&str, &[&str])] = &[
    ("cli", &["confine", "environ", "exec", "expr", "guard", "ir", "machine", "probe", "report", "session", "solver", "verify"]),
    ("confine", &[]),
    ("environ", &["exec", "expr", "ir"]),
    ("exec", &["expr", "ir", "solver"]),
    ("expr", &["ir"]),
    ("guard", &["exec", "expr"]),
    ("ir", &[]),
    ("lower", &["ir"]),
    ("machine", &["ir"]),
    ("oracle", &["exec", "expr", "ir", "machine", "solver"]),
    ("probe", &["exec", "expr", "ir", "solver"]),
    ("report", &[]),
    ("session", &["environ", "exec", "expr", "ir", "machine", "report", "solver", "verify"]),
    ("solver", &["expr", "ir"]),
    ("verify", &["exec", "expr", "ir", "machine"]),
];

/// The most lines of a file, its tests not counted.
const LONGEST: usize = 600;

/// Files that are longer, and how long they may be. The list shrinks: a file that became shorter takes its new length here.
const LONGER: &[(&str, usize)] = &[("crates/verify/src/flow/points_to.rs", 685)];

/// Programs that tests compile: material, not our code.
const FIXTURES: &[&str] = &["crates/lower/tests/languages/", "crates/lower/tests/programs/"];

/// What must not be written, where, and why.
struct Word {
    text: &'static str,
    /// Beginnings of the paths where it is allowed.
    allowed: &'static [&'static str],
    /// Whether tests may have it.
    in_tests: bool,
    why: &'static str,
}

/// Those that print. What may be called is in `clippy.toml`.
const PRINTS: &[&str] =
    &["crates/cli/", "crates/confine/", "crates/lower/src/main.rs", "crates/machine/build/main.rs", "crates/session/examples/", "xtask/"];

const WORDS: &[Word] = &[
    Word { text: "#[ignore", allowed: &[], in_tests: false, why: "a test runs or is not there" },
    Word { text: "#[should_panic", allowed: &[], in_tests: false, why: "a panic is our bug, errors are values" },
    Word { text: "eprintln!", allowed: PRINTS, in_tests: true, why: "only the command prints" },
    Word { text: " println!", allowed: PRINTS, in_tests: true, why: "only the command prints" },
];

/// Every complaint on the workspace at `root`, as `path:line: rule: text`.
fn complaints(root: &Path) -> Result<Vec<String>> {
    let (mut found, mut sources) = (Vec::new(), Vec::new());
    for folder in ["crates", "xtask", "fuzz", "benches", "tests"] {
        let folder = root.join(folder);
        if !folder.is_dir() {
            continue;
        }
        for file in files(&folder)? {
            let path = file.strip_prefix(root).expect("listed below it").to_string_lossy().into_owned();
            if path.contains("/target/") || !(path.ends_with(".rs") || path.ends_with("/Cargo.toml")) {
                continue;
            }
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{path}`"))?;
            let source = Source { path, text };
            for rule in RULES {
                let place = |(line, text)| format!("{}:{line}: {}: {text}", source.path, rule.name);
                found.extend((rule.check)(&source).into_iter().map(place));
            }
            found.extend(documents::citations(root, &source.path, &source.text));
            sources.push(source);
        }
    }
    found.extend(floors::methods(sources.iter()));
    found.extend(documents::complaints(root)?);
    Ok(found)
}

impl Source {
    /// Whether the whole file is tests, or measures.
    fn is_tests(&self) -> bool {
        ["/tests/", "/examples/", "/benches/"].iter().any(|folder| self.path.contains(folder))
            || self.path.ends_with("/tests.rs")
            || self.path.starts_with("tests/")
    }

    /// Numbered lines before the tests at the end of the file.
    fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let opens_tests = |at: usize| {
            let mut rest = self.text.lines().skip(at);
            rest.next() == Some("#[cfg(test)]") && rest.find(|line| !line.starts_with('#')).is_some_and(|l| l.ends_with('{'))
        };
        (1..).zip(self.text.lines()).take_while(move |(number, line)| !(line.starts_with("#[cfg(test)]") && opens_tests(number - 1)))
    }
}

fn edges(source: &Source) -> Complaints {
    let Some(name) = source.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml")) else {
        return Vec::new();
    };
    let Some((_, allowed)) = EDGES.iter().find(|(from, _)| *from == name) else {
        return vec![(1, format!("crate `{name}` has no row in EDGES"))];
    };
    let mut section = "";
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        if line.starts_with('[') {
            section = line;
        }
        let target = line.strip_prefix("wryneck-").and_then(|rest| rest.split(['.', ' ', '=']).next());
        if let Some(target) = target
            && section == "[dependencies]"
            && !allowed.contains(&target)
        {
            found.push((number, format!("`{name}` may not use `{target}`")));
        }
    }
    found
}

fn header(source: &Source) -> Complaints {
    let fixture = FIXTURES.iter().any(|folder| source.path.starts_with(folder));
    if fixture || !source.path.ends_with(".rs") || source.text.starts_with("//!") {
        return Vec::new();
    }
    vec![(1, "the file does not open with `//!` and its one job".to_owned())]
}

fn length(source: &Source) -> Complaints {
    if !source.path.ends_with(".rs") || source.is_tests() {
        return Vec::new();
    }
    let lines = source.lines_before_tests().count();
    let listed = LONGER.iter().find(|(path, _)| *path == source.path).map(|(_, lines)| *lines);
    match listed {
        None if lines > LONGEST => {
            vec![(LONGEST, format!("{lines} lines, {LONGEST} are the most"))]
        }
        Some(most) if lines > most => vec![(most, format!("{lines} lines, it had {most}"))],
        Some(most) if lines < most => {
            vec![(lines, format!("{lines} lines, LONGER still says {most}"))]
        }
        None | Some(_) => Vec::new(),
    }
}

fn words(source: &Source) -> Complaints {
    // This file names them all.
    if !source.path.ends_with(".rs") || source.path == "xtask/src/cmd/tidy.rs" {
        return Vec::new();
    }
    let applies = |word: &&Word| !word.allowed.iter().any(|path| source.path.starts_with(path));
    let complaint = |number: usize, word: &Word| (number, format!("`{}`: {}", word.text.trim(), word.why));
    let mut found = Vec::new();
    let before_tests = if source.is_tests() { 0 } else { source.lines_before_tests().count() };
    for (number, line) in (1..).zip(source.text.lines()) {
        let code = line.split("//").next().unwrap_or_default();
        let wrong = WORDS.iter().filter(applies).filter(|word| number <= before_tests || !word.in_tests);
        found.extend(wrong.filter(|word| code.contains(word.text)).map(|word| complaint(number, word)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let found = complaints(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the workspace is readable");
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    fn broken(path: &str, text: &str) -> Vec<&'static str> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        RULES.iter().filter(|rule| !(rule.check)(&source).is_empty()).map(|rule| rule.name).collect()
    }

    #[test]
    fn each_rule_can_be_broken() {
        assert_eq!(broken("crates/ir/Cargo.toml", "[dependencies]\nwryneck-expr.workspace = true\n"), ["edge"]);
        assert_eq!(broken("crates/ir/Cargo.toml", "[dev-dependencies]\nwryneck-expr.workspace = true\n"), [""; 0]);
        assert_eq!(broken("crates/new/Cargo.toml", ""), ["edge"]);
        assert_eq!(broken("crates/exec/src/state/a.rs", "//! a\nuse crate::step::Cx;\n"), ["floor"]);
        assert_eq!(broken("crates/ir/src/a.rs", "use x;\n\nfn f() {}\n"), ["header"]);
        assert_eq!(broken("crates/ir/src/a.rs", &format!("//! a\n{}", "\n".repeat(LONGEST))), ["length"]);
        let tests = format!("//! a\n#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(LONGEST));
        assert_eq!(broken("crates/ir/src/a.rs", &tests), [""; 0]);
        assert_eq!(broken("crates/ir/src/a.rs", "//! a\n    eprintln!(\"x\");\n"), ["words"]);
        assert_eq!(broken("crates/cli/src/a.rs", "//! a\n    eprintln!(\"x\");\n"), [""; 0]);
        assert_eq!(broken("crates/ir/tests/a.rs", "//! a\n    println!(\"x\");\n"), [""; 0]);
        assert_eq!(broken("crates/ir/tests/a.rs", "//! a\n#[ignore]\n"), ["words"]);
    }
}
