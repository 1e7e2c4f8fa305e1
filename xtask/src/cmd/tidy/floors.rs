//! The floors of the engine: each imports from itself and from those below it, and no type has many methods on one floor.
//!
//! Paths are read from all code that begins with `crate::`, in `use` lines and elsewhere, but not from comments or from the tests at the end of a file.

use std::collections::BTreeMap;

use super::{Complaints, Source};

/// The crate that has floors.
const CRATE: &str = "crates/exec/src/";

/// Its floors, from the bottom: a folder each (ARCHITECTURE.md, "The floors of the engine").
pub const FLOORS: &[&str] = &["ground", "state", "step", "explore", "relevance", "engine"];

/// The most methods of a type on a floor, those of traits not counted.
const MOST_METHODS: usize = 30;

/// The floor of a file, and its name on the floor.
fn floor_of(path: &str) -> Option<(usize, &str)> {
    let (floor, name) = path.strip_prefix(CRATE)?.split_once('/')?;
    Some((FLOORS.iter().position(|known| *known == floor)?, name))
}

/// Imports from a floor above, or past the floors.
pub fn imports(source: &Source) -> Complaints {
    if !source.path.starts_with(CRATE) || source.path == format!("{CRATE}lib.rs") {
        return Vec::new();
    }
    let Some((own, name)) = floor_of(&source.path) else {
        return vec![(1, format!("the file is on no floor: {}", FLOORS.join(", ")))];
    };
    let mut found = Vec::new();
    for (number, line) in source.lines_before_tests() {
        let code = line.split("//").next().unwrap_or_default();
        for rest in code.split("crate::").skip(1) {
            let target: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            match FLOORS.iter().position(|floor| *floor == target) {
                Some(floor) if floor <= own => {}
                Some(_) => found.push((number, format!("`{}` may not use `{target}`, which is above it", FLOORS[own]))),
                None => found.push((number, format!("`crate::{target}` names no floor"))),
            }
        }
        // A floor's own file would leave the floor by one `super`, one below it by two.
        let climbs = if name == "mod.rs" { code.contains("super::") } else { code.contains("super::super") };
        if climbs && !code.contains("pub(in ") {
            found.push((number, "`super` may leave the floor: name the floor".to_owned()));
        }
    }
    found
}

/// Types with too many methods, over all files of the engine.
pub fn methods<'a>(sources: impl Iterator<Item = &'a Source>) -> Vec<String> {
    let mut counts: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for source in sources {
        let Some((floor, _)) = floor_of(&source.path) else { continue };
        for (name, count) in counted(source) {
            *counts.entry((floor, name)).or_default() += count;
        }
    }
    let many = counts.into_iter().filter(|(_, count)| *count > MOST_METHODS);
    many.map(|((floor, name), count)| {
        let floor = FLOORS[floor];
        format!("{CRATE}{floor}: methods: `{name}` has {count}, {MOST_METHODS} are the most")
    })
    .collect()
}

/// The methods of each type in the inherent `impl` blocks of a file, as rustfmt lays them out.
fn counted(source: &Source) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut of: Option<String> = None;
    for (_, line) in source.lines_before_tests() {
        if let Some(rest) = line.strip_prefix("impl").filter(|_| !line.contains(" for ")) {
            of = Some(type_name(rest));
        } else if line == "}" {
            of = None;
        } else if let Some(name) = &of
            && line.starts_with("    ")
            && !line.starts_with("     ")
            && is_function(line.trim_start())
        {
            *counts.entry(name.clone()).or_default() += 1;
        }
    }
    counts
}

/// The name of the type after `impl`, which may have parameters of its own first.
fn type_name(rest: &str) -> String {
    let mut depth = 0;
    let mut rest = rest.trim_start();
    if rest.starts_with('<') {
        let end = rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        });
        rest = rest[end.map_or(0, |end| end + 1)..].trim_start();
    }
    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn is_function(line: &str) -> bool {
    let mut words =
        line.split_whitespace().skip_while(|word| word.starts_with("pub") || matches!(*word, "const" | "unsafe" | "super)" | "in"));
    words.next() == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: format!("{CRATE}{path}"), text: text.to_owned() }
    }

    #[test]
    fn imports_from_above_are_found() {
        let complaints = |path: &str, text: &str| imports(&source(path, text)).len();
        assert_eq!(complaints("state/a.rs", "use crate::ground::memory::Memory;\nuse crate::state::Frame;\n"), 0);
        assert_eq!(complaints("state/a.rs", "use crate::step::core::Core;\n"), 1);
        assert_eq!(complaints("state/a.rs", "fn f() { crate::engine::run() }\n"), 1);
        assert_eq!(complaints("state/a.rs", "/// As [`crate::step::core::Core`].\nfn f() {}\n"), 0);
        assert_eq!(complaints("state/a.rs", "use crate::Config;\n"), 1);
        assert_eq!(complaints("cellar/a.rs", ""), 1);
        assert_eq!(complaints("lib.rs", "use crate::Config;\n"), 0);
        assert_eq!(complaints("step/mod.rs", "use super::engine::Explorer;\n"), 1);
        assert_eq!(complaints("step/a.rs", "use super::cx::Cx;\n"), 0);
        assert_eq!(complaints("step/a.rs", "use super::super::engine::Explorer;\n"), 1);
        assert_eq!(complaints("step/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::engine::Explorer;\n}\n"), 0);
    }

    #[test]
    fn types_with_many_methods_are_found() {
        let many =
            |count: usize| format!("impl<'a> Big<'a> {{\n{}}}\n", "    pub(super) fn f() {\n        fn g() {}\n    }\n".repeat(count));
        let found = |first: usize, second: usize| {
            let all = [source("state/a.rs", &many(first)), source("state/b.rs", &many(second)), source("step/a.rs", &many(1))];
            methods(all.iter())
        };
        assert_eq!(found(MOST_METHODS - 1, 1), [""; 0]);
        assert_eq!(found(MOST_METHODS, 1), ["crates/exec/src/state: methods: `Big` has 31, 30 are the most"]);
        let of_trait = source("state/a.rs", "impl Clone for Big {\n    fn clone(&self) -> Big {\n    }\n}\n");
        assert_eq!(counted(&of_trait), BTreeMap::new());
    }
}
