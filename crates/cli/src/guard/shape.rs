//! Generalisation: which part of an input becomes symbolic, and what of its form a path keeps as facts (paper 4, argument generalization).
//!
//! An argument, a file and standard input are symbolic with their length, or up to a length; a variable of the environment with its name. The length of a variable is a fact of those
//! paths alone that branch on its bytes. What stays concrete is a fact itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wryneck_environ::observed::UNKNOWN;
use wryneck_environ::{Arg, EnvValue, Stdin};

use super::policy::Policy;

/// The input of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Actual {
    /// `argv[0]`.
    pub name: Vec<u8>,
    pub arguments: Vec<Vec<u8>>,
    /// Names and values, in order; `None` if not all entries have both.
    pub environment: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    /// The content of a regular file on standard input.
    pub stdin: Option<Vec<u8>>,
}

/// An input in general: what a program is given, the facts that say of which inputs this is the generalisation, and the input's own bytes.
pub struct Shape {
    pub args: Vec<Arg>,
    pub env: Vec<(Vec<u8>, EnvValue)>,
    pub stdin: Stdin,
    /// Question and answer, in the order of the decision tree.
    pub facts: Vec<(Vec<u8>, Vec<u8>)>,
    /// By the name of an input: where the first path begins.
    pub seeds: Vec<(String, Vec<u8>)>,
}

impl Actual {
    /// Bytes of every input and answer to every question of a shape, whatever the policy was.
    pub fn answers(&self, policy: &Policy) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        all.insert("argc".to_owned(), self.arguments.len().to_string().into_bytes());
        all.insert("argv0".to_owned(), self.name.clone());
        let mut symbolic = 0;
        for (i, argument) in self.arguments.iter().enumerate() {
            all.insert(format!("len {i}"), argument.len().to_string().into_bytes());
            all.insert(format!("word {i}"), argument.clone());
            if let Some(room) = policy.room(argument) {
                all.insert(format!("up-to {i}"), room.to_string().into_bytes());
            }
            // Whether an argument is symbolic is a function of the argument and the policy, so its number is, too.
            if policy.is_symbolic(argument) {
                all.insert(format!("arg{symbolic:02}"), with_zero(argument));
                symbolic += 1;
            }
        }
        all.insert("policy".to_owned(), policy.of_arguments());
        all.insert("env".to_owned(), if self.environment.is_some() { self.names() } else { b"other entries".to_vec() });
        for (name, value) in self.variables() {
            let name = String::from_utf8_lossy(name);
            all.insert(format!("var {name}"), value.clone());
            all.insert(format!("envlen {name}"), value.len().to_string().into_bytes());
            all.insert(format!("env_{name}"), with_zero(value));
        }
        if let Some(stdin) = &self.stdin {
            all.insert("stdin".to_owned(), stdin.clone());
            all.insert("stdin_size".to_owned(), (stdin.len() as u64).to_le_bytes().to_vec());
        }
        all
    }

    /// The names of the variables.
    fn names(&self) -> Vec<u8> {
        self.variables().iter().flat_map(|(name, _)| [name, &b"\0"[..]].concat()).collect()
    }

    /// Variables of the environment that have a name and a value.
    pub fn variables(&self) -> &[(Vec<u8>, Vec<u8>)] {
        self.environment.as_deref().unwrap_or_default()
    }

    /// The generalisation by a policy.
    pub fn shape(&self, policy: &Policy) -> Shape {
        let answers = self.answers(policy);
        let (mut facts, mut seeds) = (Vec::new(), Vec::new());
        let mut fact = |question: String| facts.push((question.clone().into_bytes(), answers.get(&question).cloned().unwrap_or_default()));
        ["argc", "argv0", "policy"].into_iter().for_each(|question| fact(question.to_owned()));
        let mut args = Vec::new();
        for (i, argument) in self.arguments.iter().enumerate() {
            let symbolic = policy.is_symbolic(argument);
            let room = policy.room(argument);
            fact(match (symbolic, room) {
                (true, Some(_)) => format!("up-to {i}"),
                (true, None) => format!("len {i}"),
                (false, _) => format!("word {i}"),
            });
            if symbolic {
                let number = args.iter().filter(|arg| !matches!(arg, Arg::Concrete(_))).count();
                let mut seed = with_zero(argument);
                seed.resize(room.unwrap_or(argument.len()) + 1, 0);
                seeds.push((format!("arg{number:02}"), seed));
                args.push(room.map_or(Arg::Exact(argument.len() as u32), |room| Arg::Symbolic(room as u32)));
            } else {
                args.push(Arg::Concrete(argument.clone()));
            }
        }
        fact("env".to_owned());
        if self.environment.is_none() {
            fact(format!("{UNKNOWN} entries of the environment that are no variables"));
        }
        let mut env = Vec::new();
        for (name, value) in self.variables() {
            let spelled = String::from_utf8(name.clone()).ok();
            let single = self.variables().iter().filter(|(other, _)| other == name).count() == 1;
            let symbolic = spelled.filter(|_| single && policy.environment && value.len() <= policy.variable);
            match symbolic {
                Some(spelled) => {
                    seeds.push((format!("env_{spelled}"), with_zero(value)));
                    env.push((name.clone(), EnvValue::Exact(value.len() as u32)));
                }
                None => {
                    // Names that are not text, or not the only ones, would be mixed up: nobody answers for their values.
                    fact(match std::str::from_utf8(name) {
                        Ok(name) if single => format!("var {name}"),
                        _ => format!("{UNKNOWN} variables of one name, or of a name that is not UTF-8"),
                    });
                    env.push((name.clone(), EnvValue::Concrete(value.clone())));
                }
            }
        }
        let stdin = match &self.stdin {
            Some(content) if policy.stdin_up_to > 0 && content.len() <= policy.stdin_up_to => {
                let mut seed = content.clone();
                seed.resize(policy.stdin_up_to, 0);
                seeds.push(("stdin_size".to_owned(), (content.len() as u64).to_le_bytes().to_vec()));
                seeds.push(("stdin".to_owned(), seed));
                Stdin::Symbolic(0, policy.stdin_up_to as u64)
            }
            Some(content) if content.len() <= policy.stdin => {
                seeds.push(("stdin".to_owned(), content.clone()));
                Stdin::Symbolic(content.len() as u64, content.len() as u64)
            }
            Some(content) => Stdin::Bytes(content.clone()),
            None => Stdin::Bytes(Vec::new()),
        };
        Shape { args, env, stdin, facts, seeds }
    }
}

fn with_zero(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\0"].concat()
}
