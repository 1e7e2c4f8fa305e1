//! Lookup: which verified path an input takes.
//!
//! In the order [`Order::Tree`] a lookup walks decisions by concrete evaluation, so its cost is the depth of one path. The orders of the paper (section
//! 3, constraint cache) try one path condition after the other: [`Order::Linear`] from the first that was stored, [`Order::Recent`]
//! from those that were met last. They are here to be compared with.

use wryneck_expr::form::{self, Trouble};

use crate::file::{Damaged, View};
use crate::tree::{Step, Verdict};

/// What an input of a path is at the moment.
pub enum Given {
    Bytes(Vec<u8>),
    /// It is not known before the run: conditions on it do not hold.
    Unknown,
    /// The user says that conditions on it hold.
    Assumed,
}

/// Who knows the input that is looked up, and the world it runs in.
pub trait World {
    fn input(&mut self, name: &[u8]) -> Given;
    /// Whether the question has this answer.
    fn holds(&mut self, question: &[u8], answer: &[u8]) -> bool;
}

/// In which order paths are tried.
pub enum Order<'a> {
    Tree,
    Linear,
    /// Leaves that were met last, latest first; the others follow as in [`Order::Linear`].
    Recent(&'a [u32]),
}

/// What a lookup found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// `None`: no stored path is this input's.
    pub verdict: Option<Verdict>,
    /// What the verdict says besides.
    pub text: &'a [u8],
    /// The node where the path ends.
    pub node: u32,
    /// Which of the leaves it is, if they were tried one after the other.
    pub leaf: Option<u32>,
    /// Conditions and facts that were looked at.
    pub steps: u64,
}

/// Looks an input up. All paths that fit are found, and a fault counts before *clean*.
pub fn find<'a>(view: &View<'a>, order: Order<'_>, world: &mut dyn World) -> Result<Answer<'a>, Damaged> {
    let mut walk = Walk::new(view, world);
    match order {
        Order::Tree => walk.tree()?,
        Order::Linear => walk.list(0..view.leaves())?,
        Order::Recent(recent) => {
            let others = (0..view.leaves()).filter(|leaf| !recent.contains(leaf));
            walk.list(recent.iter().copied().chain(others))?;
        }
    }
    Ok(walk.answer)
}

/// The step that no stored path gets past for this input, in words, as far down the tree as any does.
pub fn obstacle(view: &View<'_>, world: &mut dyn World) -> Result<Option<String>, Damaged> {
    let mut walk = Walk::new(view, world);
    let (mut stack, mut deepest) = (vec![(0, 0u32)], (0, 0));
    while let Some((at, depth)) = stack.pop() {
        let node = view.node(at)?;
        let before = stack.len();
        for arm in 0..node.arms {
            let (step, child) = view.arm(at, &node, arm)?;
            if walk.holds(step)? {
                stack.push((child, depth + 1));
            }
        }
        if stack.len() == before && depth >= deepest.0 {
            deepest = (depth, at);
        }
    }
    let node = view.node(deepest.1)?;
    if node.arms == 0 {
        return Ok(None);
    }
    Ok(Some(match view.arm(deepest.1, &node, 0)?.0 {
        Step::Fact(fact) => String::from_utf8_lossy(view.fact(fact)?.0).into_owned(),
        Step::Holds(condition) => {
            let mut names = Vec::new();
            for input in form::inputs(view.condition(condition)?) {
                let name = String::from_utf8_lossy(view.name(input)?).replace('\0', "");
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            format!("a condition on {}", names.join(", "))
        }
    }))
}

struct Walk<'a, 'w> {
    view: View<'a>,
    world: &'w mut dyn World,
    values: Vec<u64>,
    /// By name, once asked for.
    inputs: Vec<Option<Given>>,
    answer: Answer<'a>,
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(view: &View<'a>, world: &'w mut dyn World) -> Walk<'a, 'w> {
        Walk {
            view: *view,
            world,
            values: vec![0; view.most_records],
            inputs: (0..view.names()).map(|_| None).collect(),
            answer: Answer { verdict: None, text: &[], node: 0, leaf: None, steps: 0 },
        }
    }

    fn tree(&mut self) -> Result<(), Damaged> {
        let (mut stack, mut visited) = (vec![0], 0);
        while let Some(at) = stack.pop() {
            let node = self.view.node(at)?;
            self.found(at, None, node.verdict)?;
            for arm in 0..node.arms {
                let (step, child) = self.view.arm(at, &node, arm)?;
                if self.holds(step)? {
                    stack.push(child);
                }
            }
            // Each node of a tree is come to once.
            visited += 1;
            if visited > self.view.nodes() {
                return Err(Damaged);
            }
        }
        Ok(())
    }

    /// One path condition after the other, until one holds.
    fn list(&mut self, leaves: impl Iterator<Item = u32>) -> Result<(), Damaged> {
        let mut steps = Vec::new();
        for leaf in leaves {
            let end = self.view.leaf(leaf)?;
            steps.clear();
            let (mut at, mut node) = (end, self.view.node(end)?);
            while at != 0 {
                steps.push(node.step);
                if node.parent >= at {
                    return Err(Damaged);
                }
                at = node.parent;
                node = self.view.node(at)?;
            }
            let mut all = true;
            for step in steps.iter().rev() {
                all = all && self.holds(*step)?;
            }
            if all {
                let verdict = self.view.node(end)?.verdict;
                self.found(end, Some(leaf), verdict)?;
                if !matches!(verdict, Some(Verdict::Unverified(_))) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn found(&mut self, node: u32, leaf: Option<u32>, verdict: Option<Verdict>) -> Result<(), Damaged> {
        let (weight, text) = match verdict {
            None => return Ok(()),
            Some(Verdict::Unverified(text)) => (1, Some(text)),
            Some(Verdict::Clean) => (2, None),
            Some(Verdict::Faulty(text)) => (3, Some(text)),
        };
        let known = match self.answer.verdict {
            None => 0,
            Some(Verdict::Unverified(_)) => 1,
            Some(Verdict::Clean) => 2,
            Some(Verdict::Faulty(_)) => 3,
        };
        if weight > known {
            let text = text.map_or(Ok(&[][..]), |text| self.view.text(text))?;
            self.answer = Answer { verdict, text, node, leaf, ..self.answer };
        }
        Ok(())
    }

    fn holds(&mut self, step: Step) -> Result<bool, Damaged> {
        self.answer.steps += 1;
        let condition = match step {
            Step::Fact(fact) => {
                let (question, answer) = self.view.fact(fact)?;
                return Ok(self.world.holds(question, answer));
            }
            Step::Holds(condition) => self.view.condition(condition)?,
        };
        let (view, world, inputs) = (&self.view, &mut *self.world, &mut self.inputs);
        let mut bytes = |name: u32, byte: u32| {
            let given = inputs.get_mut(name as usize)?;
            if given.is_none() {
                *given = Some(view.name(name).map_or(Given::Unknown, |name| world.input(name)));
            }
            match given {
                Some(Given::Bytes(bytes)) => bytes.get(byte as usize).map(|b| u64::from(*b)),
                Some(Given::Unknown | Given::Assumed) | None => None,
            }
        };
        match form::eval(condition, &mut bytes, &mut self.values) {
            Ok(value) => Ok(value == 1),
            Err(Trouble::Missing { input, .. }) => Ok(matches!(self.inputs.get(input as usize), Some(Some(Given::Assumed)))),
            Err(Trouble::Damaged) => Err(Damaged),
        }
    }
}
