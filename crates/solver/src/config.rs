//! What can be set: the stages, one flag each, and the bounds.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A solver's settings. Switching a stage off changes how long answers take, never whether they are satisfiable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Replace symbols the path fixes to one value, in queries only.
    pub substitution: bool,
    /// Decide by known bits and ranges.
    pub known_bits: bool,
    /// Decide conditions on one byte by its domain.
    pub byte_domain: bool,
    /// Ask only about the constraints that share symbols with the condition.
    pub independence: bool,
    /// Try every value of the one or two symbols left, if there are few.
    pub enumeration: bool,
    /// Look whether the condition contradicts others whatever the hashes in them are.
    pub abstraction: bool,
    /// Try other values of one byte, where the condition is costly.
    pub neighbours: bool,
    /// Decide by the sets of values that tables and sums of bytes can have.
    pub value_sets: bool,
    /// Try every combination of a few bytes, where the constraints are costly.
    pub search: bool,
    /// Look for the query, a larger satisfiable or a smaller unsatisfiable one among those answered.
    pub cache: bool,
    /// Try the models of recent answers.
    pub recent_models: bool,
    /// Evaluate every model on everything asked before it is answered. Debug builds always do.
    pub validate: bool,
    /// The row of [`BACKENDS`](crate::backend::BACKENDS) that decides what no stage did, by name.
    #[serde(deserialize_with = "backend")]
    pub backend: Cow<'static, str>,
    /// Most combinations of values the enumeration tries.
    pub most_combinations: u32,
    /// Vectors of a search over all values, before it finds the classes of values.
    pub classes_after: usize,
    /// Models kept for trying.
    pub recent: usize,
    /// Answers kept by the cache before it starts afresh.
    pub cached: usize,
    /// Gates the and-inverter graph may hold before it starts afresh.
    pub graph_nodes: usize,
}

fn backend<'d, D: Deserializer<'d>>(name: D) -> Result<Cow<'static, str>, D::Error> {
    let name = String::deserialize(name)?;
    crate::backend::by_name(&name).map(|row| row.name.into()).map_err(D::Error::custom)
}

impl Default for Config {
    fn default() -> Config {
        Config {
            substitution: true,
            known_bits: true,
            byte_domain: true,
            independence: true,
            enumeration: true,
            abstraction: true,
            neighbours: true,
            value_sets: true,
            search: true,
            cache: true,
            recent_models: true,
            validate: false,
            backend: "bitblast".into(),
            most_combinations: 128,
            classes_after: 500,
            recent: 8,
            cached: 100_000,
            graph_nodes: 4_000_000,
        }
    }
}

impl Config {
    /// Every optional stage off: bit-blast everything.
    pub fn plain() -> Config {
        Config {
            substitution: false,
            known_bits: false,
            byte_domain: false,
            independence: false,
            enumeration: false,
            abstraction: false,
            neighbours: false,
            value_sets: false,
            search: false,
            cache: false,
            recent_models: false,
            ..Config::default()
        }
    }
}
