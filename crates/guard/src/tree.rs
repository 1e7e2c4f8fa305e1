//! The decision tree in memory, where paths are added and trees are merged.
//!
//! The steps of a path are those of the exploration in their order, so paths with a common prefix share nodes. Every text, fact and condition is
//! kept once. Cost of adding a path: one look into a table for each step.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::form;

/// What a node demands of whoever comes from its parent: a number in the tree's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// A question about the world has this answer.
    Fact(u32),
    /// A condition on input bytes holds.
    Holds(u32),
}

/// What is known of a path. Texts are numbers in the tree's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ends without a fault.
    Clean,
    /// It ends with the fault that the text describes.
    Faulty(u32),
    /// Nothing is known, for the reason that the text gives.
    Unverified(u32),
}

impl Verdict {
    /// The verdict of a path that was given two: a fault counts before all, and knowledge before none.
    fn with(self, other: Verdict) -> Verdict {
        let weight = |verdict| match verdict {
            Verdict::Faulty(_) => 2,
            Verdict::Clean => 1,
            Verdict::Unverified(_) => 0,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

/// Numbers for values, each kept once.
pub(crate) struct Interner<T> {
    numbers: FxHashMap<T, u32>,
    pub(crate) all: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { numbers: FxHashMap::default(), all: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            next
        })
    }
}

/// A node: what may follow, and the verdict of the path that ends here.
#[derive(Default)]
pub(crate) struct Node {
    /// Steps and the nodes they lead to, in the order in which they came.
    pub(crate) arms: Vec<(Step, u32)>,
    pub(crate) verdict: Option<Verdict>,
}

/// The verified paths of one program.
pub struct Tree {
    /// Names of inputs.
    pub(crate) names: Interner<Rc<[u8]>>,
    /// Questions, answers, and what verdicts say.
    pub(crate) texts: Interner<Rc<[u8]>>,
    pub(crate) facts: Interner<(u32, u32)>,
    pub(crate) conditions: Interner<Rc<[u8]>>,
    pub(crate) nodes: Vec<Node>,
    /// Nodes with a verdict, in the order in which they got it.
    pub(crate) leaves: Vec<u32>,
    arms: FxHashMap<(u32, Step), u32>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree {
            names: Interner::default(),
            texts: Interner::default(),
            facts: Interner::default(),
            conditions: Interner::default(),
            nodes: vec![Node::default()],
            leaves: Vec::new(),
            arms: FxHashMap::default(),
        }
    }
}

impl Tree {
    /// The number of an input's name, for [`form::write`].
    pub fn name(&mut self, name: &[u8]) -> u32 {
        self.names.number(name.into())
    }

    pub fn text(&mut self, text: &[u8]) -> u32 {
        self.texts.number(text.into())
    }

    pub fn fact(&mut self, question: &[u8], answer: &[u8]) -> Step {
        let (question, answer) = (self.text(question), self.text(answer));
        Step::Fact(self.facts.number((question, answer)))
    }

    /// A condition's form, whose inputs have numbers by [`Tree::name`].
    pub fn condition(&mut self, form: &[u8]) -> Step {
        Step::Holds(self.conditions.number(form.into()))
    }

    /// Adds a path.
    pub fn add(&mut self, steps: impl IntoIterator<Item = Step>, verdict: Verdict) {
        let mut at = 0;
        for step in steps {
            at = self.child(at, step);
        }
        self.end(at, verdict);
    }

    /// How many paths have a verdict.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    pub(crate) fn child(&mut self, node: u32, step: Step) -> u32 {
        let next = self.nodes.len() as u32;
        let child = *self.arms.entry((node, step)).or_insert(next);
        if child == next {
            self.nodes.push(Node::default());
            self.nodes[node as usize].arms.push((step, child));
        }
        child
    }

    pub(crate) fn end(&mut self, node: u32, verdict: Verdict) {
        let known = &mut self.nodes[node as usize].verdict;
        if known.is_none() {
            self.leaves.push(node);
        }
        *known = Some(known.map_or(verdict, |known| known.with(verdict)));
    }

    /// Adds all paths of another tree.
    pub fn merge(&mut self, other: &Tree) {
        let names: Vec<u32> = other.names.all.iter().map(|name| self.names.number(name.clone())).collect();
        let texts: Vec<u32> = other.texts.all.iter().map(|text| self.texts.number(text.clone())).collect();
        let facts: Vec<Step> =
            other.facts.all.iter().map(|(q, a)| Step::Fact(self.facts.number((texts[*q as usize], texts[*a as usize])))).collect();
        let conditions: Vec<Step> = other
            .conditions
            .all
            .iter()
            .map(|form| {
                let mut form = form.to_vec();
                form::renumber(&mut form, &mut |name| names[name as usize]);
                self.condition(&form)
            })
            .collect();
        let mut places = vec![0; other.nodes.len()];
        // Nodes come after their parents.
        for (i, node) in other.nodes.iter().enumerate() {
            for &(step, child) in &node.arms {
                let step = match step {
                    Step::Fact(fact) => facts[fact as usize],
                    Step::Holds(condition) => conditions[condition as usize],
                };
                places[child as usize] = self.child(places[i], step);
            }
        }
        for &leaf in &other.leaves {
            let verdict = match other.nodes[leaf as usize].verdict {
                Some(Verdict::Clean) => Verdict::Clean,
                Some(Verdict::Faulty(text)) => Verdict::Faulty(texts[text as usize]),
                Some(Verdict::Unverified(text)) => Verdict::Unverified(texts[text as usize]),
                None => continue,
            };
            self.end(places[leaf as usize], verdict);
        }
    }
}
