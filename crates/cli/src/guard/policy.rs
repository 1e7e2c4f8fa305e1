//! The policy of generalisation: a small file with defaults.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use wryneck_environ::input::{NamedFiles, matches};

use crate::data;
use crate::problem::problem;

/// What becomes symbolic. Every field has a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Arguments are symbolic, with the length that they have.
    pub arguments: bool,
    /// Longest argument that is symbolic, in bytes.
    pub argument: usize,
    /// Arguments of at most so many bytes are symbolic with any such length, so their length is no part of a path's condition; 0: none.
    pub up_to: usize,
    /// Arguments that stay concrete: a `*` at the end stands for anything.
    pub concrete: Vec<String>,
    /// Variables of the environment are symbolic.
    pub environment: bool,
    /// Longest value of a variable that is symbolic, in bytes.
    pub variable: usize,
    /// Largest regular file on standard input whose content is symbolic, in bytes.
    pub stdin: usize,
    /// Standard input of at most so many bytes is symbolic with any such length; 0: with the length that it has.
    pub stdin_up_to: usize,
    /// Largest file that the program opens whose content is symbolic, in bytes.
    pub file: usize,
    /// Files of at most so many bytes are symbolic with any such length; 0: with the length that they have.
    pub file_up_to: usize,
    /// Files whose content stays concrete, by absolute path: a `*` at the end stands for anything.
    pub concrete_files: Vec<String>,
    /// Attributes of files, such as their times, are symbolic.
    pub attributes: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            arguments: true,
            argument: 64,
            up_to: 0,
            concrete: Vec::new(),
            environment: true,
            variable: 4096,
            stdin: 4096,
            stdin_up_to: 0,
            file: 1024,
            file_up_to: 0,
            concrete_files: Vec::new(),
            attributes: true,
        }
    }
}

/// Most bytes of a policy's file.
const MOST: u64 = 1 << 20;
/// Most bytes of an argument, of standard input or of a file of any length.
const MOST_ROOM: usize = 4096;

impl Policy {
    /// The policy in a file, or the default one.
    pub fn read(file: Option<&Path>) -> Result<Policy> {
        let Some(file) = file else { return Ok(Policy::default()) };
        let shown = file.display();
        let text = data::read(file, MOST).with_context(|| format!("cannot read the policy `{shown}`"))?;
        let text = String::from_utf8(text).map_err(|_| problem(format!("the policy `{shown}` is not UTF-8"), ""))?;
        toml::from_str(&text)
            .map_err(|error| {
                problem(format!("the policy `{shown}`: {}", error.message()), "`wryneck guard --help` lists what a policy says")
            })
            .and_then(|policy: Policy| {
                let rooms = [("up_to", policy.up_to), ("stdin_up_to", policy.stdin_up_to), ("file_up_to", policy.file_up_to)];
                match rooms.iter().find(|(_, room)| *room > MOST_ROOM) {
                    None => Ok(policy),
                    Some((name, room)) => {
                        Err(problem(format!("the policy `{shown}`: `{name}` is {room}"), format!("{MOST_ROOM} is the most")))
                    }
                }
            })
    }

    pub fn is_symbolic(&self, argument: &[u8]) -> bool {
        let concrete = self.concrete.iter().any(|pattern| matches(pattern, argument));
        self.arguments && !argument.is_empty() && argument.len() <= self.argument && !concrete
    }

    /// Bytes that a symbolic argument may have, if not those alone that it has.
    pub fn room(&self, argument: &[u8]) -> Option<usize> {
        (self.is_symbolic(argument) && argument.len() <= self.up_to).then_some(self.up_to)
    }

    /// The same, with nothing symbolic but arguments: what else a path depends on is taken to be as it was.
    #[must_use]
    pub fn of_arguments_alone(self) -> Policy {
        Policy { environment: false, stdin: 0, stdin_up_to: 0, file: 0, file_up_to: 0, attributes: false, ..self }
    }

    /// Which files that the program opens have symbolic content.
    pub fn named_files(&self) -> NamedFiles {
        NamedFiles { most: self.file as u64, up_to: self.file_up_to as u64, concrete: self.concrete_files.clone() }
    }

    /// What decides which arguments are symbolic, so that their numbers mean the same.
    pub fn of_arguments(&self) -> Vec<u8> {
        format!("{} {} {} {:?}", self.arguments, self.argument, self.up_to, self.concrete).into_bytes()
    }
}
