//! The built-in rules: the files in `rules/`, which a test checks, and the rules that are Rust code.

use std::rc::Rc;

use crate::checker::Checker;
use crate::rule_file;
use crate::unchecked::Unchecked;

/// Where a built-in rule is from.
enum Source {
    /// The text of its file.
    File(&'static str),
    Code(fn() -> Rc<dyn Checker>),
}

macro_rules! file {
    ($id:literal) => {
        ($id, Source::File(include_str!(concat!("../../../rules/", $id, ".toml"))))
    };
}

// One more rule: a file in `rules/`, or a type that is a `Checker` in a file here; its row (sorted); and its programs, `tests/rules/ID.c`.
static RULES: &[(&str, Source)] = &[
    file!("assertion"),
    file!("data-loss"),
    file!("descriptors"),
    file!("directories"),
    file!("file-access"),
    file!("locks"),
    file!("memory-leak"),
    file!("open-close"),
    ("unchecked-results", Source::Code(Unchecked::checker)),
];

/// All of them, by id.
pub fn rules() -> Vec<Rc<dyn Checker>> {
    let checker = |(_, source): &(&str, Source)| match source {
        Source::File(text) => Rc::new(rule_file::parse(text).expect("tested: every built-in rule is right")),
        Source::Code(make) => make(),
    };
    RULES.iter().map(checker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_rule_is_right_and_named_as_in_the_table() {
        for (name, source) in RULES {
            if let Source::File(text) = source {
                rule_file::parse(text).unwrap_or_else(|m| panic!("rules/{name}.toml: {m}"));
            }
        }
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rules");
        for ((name, _), rule) in RULES.iter().zip(rules()) {
            assert_eq!(rule.about().id, *name);
            assert!(programs.join(format!("{name}.c")).is_file(), "tests/rules/{name}.c shows what {name} is about");
            let mut text = String::new();
            rule.explain(&mut text).expect("a string takes everything");
            assert!(rule.functions().iter().all(|function| text.contains(function)), "{name} explains every function it watches");
        }
        assert!(RULES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
