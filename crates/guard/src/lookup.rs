//! Lookup: which verified path an input takes.
//!
//! In the order [`Order::Tree`] a lookup walks decisions by concrete evaluation, so its cost is the depth of one path. The orders of the paper (section
//! 3, constraint cache) try one path condition after the other: [`Order::Linear`] from the first that was stored, [`Order::Recent`]
//! from those that were met last. They are here to be compared with.
//!
//! Input that has another value at each run (clocks, process ids) decides nothing by its value: the walk of the tree demands that a condition on it holds
//! for every value, or that both sides of the decision end alike. The orders of the paper never hit such paths.

use wryneck_expr::Pool;
use wryneck_expr::form::open::{self, Byte};
use wryneck_expr::form::{self, Trouble};

use crate::file::{Damaged, View};
use crate::tree::{Step, Verdict};

/// What an input of a path is at the moment.
pub enum Given {
    Bytes(Vec<u8>),
    /// It is not known before the run: conditions on it do not hold.
    Unknown,
    /// It has another value at each run: every value is to be verified.
    Any,
    /// The same, of a number of up to 8 bytes, lowest first, between these two.
    Within(u64, u64),
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

/// What questions begin with that tell the two sides of a decision apart which depends on input that has another value at each run. The rest names
/// the decision; the answers are [`SIDES`]. The condition of the side comes next.
pub const EITHER: &str = "either ";
pub const SIDES: [&[u8]; 2] = [b"0", b"1"];
/// Decisions on such input on one path, at most: a lookup goes into both sides of each.
const DEEPEST: u32 = 64;

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
            if walk.side(step)?.is_some() || walk.holds(step)? {
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
    /// Where conditions with open input are built.
    pool: Option<Pool>,
    /// Nodes that the walk came to.
    visited: u32,
    answer: Answer<'a>,
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(view: &View<'a>, world: &'w mut dyn World) -> Walk<'a, 'w> {
        Walk {
            view: *view,
            world,
            values: vec![0; view.most_records],
            inputs: (0..view.names()).map(|_| None).collect(),
            pool: None,
            visited: 0,
            answer: Answer { verdict: None, text: &[], node: 0, leaf: None, steps: 0 },
        }
    }

    fn tree(&mut self) -> Result<(), Damaged> {
        let found = self.below(0, 0)?;
        found.map_or(Ok(()), |(node, verdict)| self.found(node, None, Some(verdict)))
    }

    /// The weightiest verdict that the input meets from a node on, and where.
    fn below(&mut self, from: u32, depth: u32) -> Result<Option<(u32, Verdict)>, Damaged> {
        let (mut stack, mut best) = (vec![from], None);
        while let Some(at) = stack.pop() {
            let node = self.view.node(at)?;
            weigh(&mut best, at, node.verdict);
            let mut sides: Vec<(&[u8], [Option<u32>; 2])> = Vec::new();
            for arm in 0..node.arms {
                let (step, child) = self.view.arm(at, &node, arm)?;
                match self.side(step)? {
                    None if self.holds(step)? => stack.push(child),
                    None => {}
                    Some((decision, side)) => {
                        let known = sides.iter().position(|(known, _)| *known == decision);
                        let known = known.unwrap_or_else(|| {
                            sides.push((decision, [None; 2]));
                            sides.len() - 1
                        });
                        sides[known].1[side] = Some(child);
                    }
                }
            }
            for (_, children) in sides {
                let both = self.either(children, depth, &mut stack)?;
                both.into_iter().for_each(|(at, verdict)| weigh(&mut best, at, Some(verdict)));
            }
            // Each node of a tree is come to once.
            self.visited += 1;
            if self.visited > self.view.nodes() {
                return Err(Damaged);
            }
        }
        Ok(best)
    }

    /// The sides of a decision on input that may have any value. A side that is the only one goes onto the stack. Where both are possible, the input
    /// meets what both end with.
    fn either(&mut self, children: [Option<u32>; 2], depth: u32, stack: &mut Vec<u32>) -> Result<Option<(u32, Verdict)>, Damaged> {
        let (mut truths, mut behind) = ([None; 2], [None; 2]);
        for (side, child) in children.into_iter().enumerate() {
            let Some(child) = child else { continue };
            let node = self.view.node(child)?;
            // Its condition is the one step that follows; else nobody knows what the side is.
            if node.arms != 1 {
                return Ok(None);
            }
            let (step, next) = self.view.arm(child, &node, 0)?;
            (truths[side], behind[side]) = (self.truth(step)?, Some(next));
        }
        for side in 0..2 {
            // One side is the other's opposite.
            if truths[side].or(truths[1 - side].map(|truth| !truth)) == Some(true) {
                stack.extend(behind[side]);
            }
        }
        let ([None, None], [Some(one), Some(other)]) = (truths, behind) else { return Ok(None) };
        if depth == DEEPEST {
            return Ok(None);
        }
        let (Some((at, one)), Some((_, other))) = (self.below(one, depth + 1)?, self.below(other, depth + 1)?) else { return Ok(None) };
        Ok(match (one, other) {
            (Verdict::Clean, Verdict::Clean) | (Verdict::Faulty(_), Verdict::Faulty(_)) => Some((at, one)),
            _ => None,
        })
    }

    /// The decision whose side a step tells, and which side it is.
    fn side(&self, step: Step) -> Result<Option<(&'a [u8], usize)>, Damaged> {
        let Step::Fact(fact) = step else { return Ok(None) };
        let (question, answer) = self.view.fact(fact)?;
        if !question.starts_with(EITHER.as_bytes()) {
            return Ok(None);
        }
        let side = SIDES.iter().position(|side| *side == answer).ok_or(Damaged)?;
        Ok(Some((question, side)))
    }

    /// Whether a condition holds for every value of input that may have any (`true`), or for none.
    fn truth(&mut self, step: Step) -> Result<Option<bool>, Damaged> {
        let Step::Holds(condition) = step else { return Err(Damaged) };
        let condition = self.view.condition(condition)?;
        let (view, world, inputs) = (&self.view, &mut *self.world, &mut self.inputs);
        let mut byte = |name: u32, byte: u32| match given(view, inputs, world, name)? {
            Given::Bytes(bytes) => bytes.get(byte as usize).map(|b| Byte::Known(*b)),
            Given::Any => Some(Byte::Open),
            Given::Within(least, most) => Some(Byte::Within(*least, *most)),
            Given::Unknown | Given::Assumed => None,
        };
        match open::decide(condition, self.pool.get_or_insert_default(), &mut byte) {
            Ok(truth) => Ok(truth),
            Err(Trouble::Missing { input, .. }) => Ok(Some(matches!(self.inputs.get(input as usize), Some(Some(Given::Assumed))))),
            Err(Trouble::Damaged) => Err(Damaged),
        }
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
        let text = match verdict {
            None => return Ok(()),
            Some(Verdict::Clean) => None,
            Some(Verdict::Unverified(text) | Verdict::Faulty(text)) => Some(text),
        };
        if weight(verdict) > weight(self.answer.verdict) {
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
        let mut bytes = |name: u32, byte: u32| match given(view, inputs, world, name)? {
            Given::Bytes(bytes) => bytes.get(byte as usize).map(|b| u64::from(*b)),
            Given::Unknown | Given::Any | Given::Within(..) | Given::Assumed => None,
        };
        match form::eval(condition, &mut bytes, &mut self.values) {
            Ok(value) => Ok(value == 1),
            Err(Trouble::Missing { input, .. }) => Ok(matches!(self.inputs.get(input as usize), Some(Some(Given::Assumed)))),
            Err(Trouble::Damaged) => Err(Damaged),
        }
    }
}

/// A fault counts before *clean*, and knowledge before none.
fn weight(verdict: Option<Verdict>) -> u8 {
    match verdict {
        None => 0,
        Some(Verdict::Unverified(_)) => 1,
        Some(Verdict::Clean) => 2,
        Some(Verdict::Faulty(_)) => 3,
    }
}

fn weigh(best: &mut Option<(u32, Verdict)>, at: u32, verdict: Option<Verdict>) {
    if let Some(new) = verdict
        && weight(verdict) > weight(best.map(|(_, known)| known))
    {
        *best = Some((at, new));
    }
}

/// What an input is, asked once.
fn given<'i>(view: &View<'_>, inputs: &'i mut [Option<Given>], world: &mut dyn World, name: u32) -> Option<&'i Given> {
    let given = inputs.get_mut(name as usize)?;
    Some(given.get_or_insert_with(|| view.name(name).map_or(Given::Unknown, |name| world.input(name))))
}
