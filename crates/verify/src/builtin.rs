//! The rules that come with the tool: the files in `rules/`, checked by a test.

use crate::rule::Rule;
use crate::rule_file;

macro_rules! builtin {
    ($($id:literal),*) => {
        /// Names and texts.
        static FILES: &[(&str, &str)] = &[$(($id, include_str!(concat!("../../../rules/", $id, ".toml")))),*];
    };
}

// One more rule: a file in `rules/`, its name here (sorted), and fixtures in `tests/fail/rules` and `tests/pass/rules`.
builtin!("assertion", "file-access", "memory-leak", "open-close");

/// All of them, by id.
pub fn rules() -> Vec<Rule> {
    FILES.iter().map(|(_, text)| rule_file::parse(text).expect("tested: every built-in rule is right")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_right_and_named_for_its_rule() {
        for (name, text) in FILES {
            let rule = rule_file::parse(text).unwrap_or_else(|m| panic!("rules/{name}.toml: {m}"));
            assert_eq!(rule.id, *name);
        }
        assert!(FILES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
