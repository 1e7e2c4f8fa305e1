//! `--overflow`: which results that overflow are findings, and how the front ends leave them in the program.
//!
//! Clang compiles C sources with the checks of its undefined-behaviour sanitizer, whose handlers the environment models. Bitcode given as it
//! is says only of signed additions, subtractions and multiplications that they may not overflow (`nsw`).

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::options::one_of;
use crate::problem::problem;

/// Classes of results that are findings where they overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    pub signed: bool,
    pub unsigned: bool,
    pub conversions: bool,
}

/// Clang's flag for each class.
pub const SIGNED: &str = "-fsanitize=signed-integer-overflow,shift-base";
pub const UNSIGNED: &str = "-fsanitize=unsigned-integer-overflow,unsigned-shift-base";
pub const CONVERSIONS: &str = "-fsanitize=implicit-conversion,float-cast-overflow";

impl Overflow {
    /// Of `signed,conversions` or `all`.
    ///
    /// # Errors
    /// What is wrong with the first word that is no class.
    pub fn parse(text: &str) -> Result<Overflow, String> {
        type Set = fn(&mut Overflow);
        const CLASSES: &[(&str, Set)] = &[
            ("signed", |o| o.signed = true),
            ("unsigned", |o| o.unsigned = true),
            ("conversions", |o| o.conversions = true),
            ("all", |o| *o = Overflow { signed: true, unsigned: true, conversions: true }),
        ];
        let mut wanted = Overflow::default();
        for word in text.split(',') {
            one_of(word, CLASSES)?(&mut wanted);
        }
        Ok(wanted)
    }

    pub fn is_wanted(self) -> bool {
        self != Overflow::default()
    }

    /// What clang is told.
    pub fn flags(self) -> impl Iterator<Item = String> {
        [(self.signed, SIGNED), (self.unsigned, UNSIGNED), (self.conversions, CONVERSIONS)]
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, flag)| flag.to_owned())
    }

    /// Whether this can be seen in a target of which a part is C source.
    ///
    /// # Errors
    /// The class that cannot.
    pub fn check(self, from_source: bool) -> Result<()> {
        let unseen = [
            ("unsigned", self.unsigned, "which results are unsigned"),
            ("conversions", self.conversions, "which conversions are implicit"),
        ];
        match unseen.into_iter().find(|(_, wanted, _)| *wanted && !from_source) {
            Some((class, _, what)) => Err(problem(
                format!("`--overflow {class}` needs C source: bitcode does not say {what}"),
                format!("give the `.c` file, or compile with `{}`", if class == "unsigned" { UNSIGNED } else { CONVERSIONS }),
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named() {
        let parsed = |text| Overflow::parse(text).map(|o| (o.signed, o.unsigned, o.conversions));
        assert_eq!(parsed("signed"), Ok((true, false, false)));
        assert_eq!(parsed("signed,conversions"), Ok((true, false, true)));
        assert_eq!(parsed("all"), Ok((true, true, true)));
        assert_eq!(parsed("signed,"), Err("not one of `signed`, `unsigned`, `conversions`, `all`".into()));
        assert!(parsed("").is_err());
    }
}
