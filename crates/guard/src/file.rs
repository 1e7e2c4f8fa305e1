//! The decision tree as a file: tables of fixed-size records, little-endian, in an order that a lookup reads forwards.
//!
//! The file begins with a header (what it is, of which versions, for which program, how many records) and ends with a keyed hash of all
//! before it. Nodes are in depth-first order, so a child comes after its parent. A [`View`] reads a file of any content: what points out of a
//! table is [`Damaged`].

use wryneck_expr::form::{self, NODE};

use crate::tree::{Step, Tree, Verdict};

const MAGIC: [u8; 8] = *b"wryguard";
/// Changes with the layout, and with what steps and verdicts mean.
pub const VERSION: u32 = 1;
/// Bytes of the seal at the end.
pub const SEAL: usize = 32;
/// Names a program and everything that runs with it.
pub type Key = [u8; 32];

/// Tables in the order of the file, with the size of a record.
const TABLES: [usize; 9] = [
    20,   // nodes: first arm, arms, verdict, parent, step
    8,    // arms: step, node
    8,    // facts: question, answer
    8,    // conditions: first record, records
    NODE, // records of conditions
    8,    // names: first byte, bytes
    8,    // texts
    4,    // leaves
    1,    // bytes of names and texts
];
const HEADER: usize = 8 + 4 + 4 + 32 + 4 + 4 * TABLES.len();
/// Set in a step that is a fact.
const FACT: u32 = 1 << 31;

/// These bytes are no store of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is damaged, or of another version")]
pub struct Damaged;

/// A store's bytes without the seal; `None` if it outgrew its numbers.
pub fn encode(tree: &Tree, key: &Key) -> Option<Vec<u8>> {
    let mut tables: [Vec<u8>; TABLES.len()] = Default::default();
    let put = |table: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| table.extend(word.to_le_bytes()));
    let word = |step: Step| match step {
        Step::Fact(fact) => fact | FACT,
        Step::Holds(condition) => condition,
    };
    // Depth first: the new number of each node, with its parent and the step that leads to it.
    let (mut order, mut new) = (Vec::with_capacity(tree.nodes.len()), vec![0u32; tree.nodes.len()]);
    let mut stack = vec![(0u32, 0u32, 0u32)];
    while let Some((node, parent, step)) = stack.pop() {
        new[node as usize] = order.len() as u32;
        order.push((node, parent, step));
        stack.extend(tree.nodes[node as usize].arms.iter().rev().map(|(step, child)| (*child, node, word(*step))));
    }
    let mut arms = 0u32;
    for (node, parent, step) in order {
        let node = &tree.nodes[node as usize];
        let verdict = match node.verdict {
            None => 0,
            Some(Verdict::Clean) => 1,
            Some(Verdict::Faulty(text)) => 2 + 2 * text,
            Some(Verdict::Unverified(text)) => 3 + 2 * text,
        };
        put(&mut tables[0], &[arms, node.arms.len() as u32, verdict, new[parent as usize], step]);
        node.arms.iter().for_each(|(step, child)| put(&mut tables[1], &[word(*step), new[*child as usize]]));
        arms += node.arms.len() as u32;
    }
    tree.facts.all.iter().for_each(|(question, answer)| put(&mut tables[2], &[*question, *answer]));
    let (mut most, mut first) = (0, 0);
    for form in &tree.conditions.all {
        let records = (form.len() / NODE) as u32;
        put(&mut tables[3], &[first, records]);
        tables[4].extend(&form[..]);
        (most, first) = (most.max(records), first + records);
    }
    for (table, all) in [(5, &tree.names.all), (6, &tree.texts.all)] {
        for text in all {
            let at = tables[8].len() as u32;
            put(&mut tables[table], &[at, text.len() as u32]);
            tables[8].extend(&text[..]);
        }
    }
    tree.leaves.iter().for_each(|leaf| put(&mut tables[7], &[new[*leaf as usize]]));
    let total: usize = tables.iter().map(Vec::len).sum();
    if total > FACT as usize {
        return None;
    }
    let mut out = Vec::with_capacity(HEADER + total + SEAL);
    out.extend(MAGIC);
    put(&mut out, &[VERSION, form::VERSION]);
    out.extend(key);
    put(&mut out, &[most]);
    tables.iter().zip(TABLES).for_each(|(table, size)| put(&mut out, &[(table.len() / size) as u32]));
    tables.iter().for_each(|table| out.extend(table));
    Some(out)
}

/// A store's file, read in place.
#[derive(Clone, Copy)]
pub struct View<'a> {
    tables: [&'a [u8]; TABLES.len()],
    /// Records of the longest condition.
    pub most_records: usize,
}

/// A node as the file has it.
#[derive(Clone, Copy, Debug)]
pub struct NodeView {
    first_arm: u32,
    pub arms: u32,
    pub verdict: Option<Verdict>,
    pub parent: u32,
    pub step: Step,
}

impl<'a> View<'a> {
    /// The tables of a file, seal included, for the program of this key. The seal is not checked here.
    pub fn of(bytes: &'a [u8], key: &Key) -> Result<View<'a>, Damaged> {
        let head = bytes.get(..HEADER).ok_or(Damaged)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..8] != MAGIC || word(8) != VERSION || word(12) != form::VERSION || head[16..48] != key[..] {
            return Err(Damaged);
        }
        let most_records = word(48) as usize;
        if most_records > form::MOST {
            return Err(Damaged);
        }
        let mut tables = [&bytes[..0]; TABLES.len()];
        let mut rest = bytes[HEADER..].len().checked_sub(SEAL).map(|len| &bytes[HEADER..][..len]).ok_or(Damaged)?;
        for (i, (table, size)) in tables.iter_mut().zip(TABLES).enumerate() {
            let len = (word(52 + 4 * i) as usize).checked_mul(size).ok_or(Damaged)?;
            (*table, rest) = rest.split_at_checked(len).ok_or(Damaged)?;
        }
        if rest.is_empty() { Ok(View { tables, most_records }) } else { Err(Damaged) }
    }

    fn record<const N: usize>(&self, table: usize, i: u32) -> Result<[u32; N], Damaged> {
        let at = (i as usize).checked_mul(4 * N).ok_or(Damaged)?;
        let bytes = self.tables[table].get(at..).and_then(|rest| rest.get(..4 * N)).ok_or(Damaged)?;
        Ok(std::array::from_fn(|w| u32::from_le_bytes([bytes[4 * w], bytes[4 * w + 1], bytes[4 * w + 2], bytes[4 * w + 3]])))
    }

    fn count(&self, table: usize) -> u32 {
        (self.tables[table].len() / TABLES[table]) as u32
    }

    pub fn nodes(&self) -> u32 {
        self.count(0)
    }

    /// Paths with a verdict.
    pub fn leaves(&self) -> u32 {
        self.count(7)
    }

    pub fn names(&self) -> u32 {
        self.count(5)
    }

    pub fn facts(&self) -> u32 {
        self.count(2)
    }

    pub fn conditions(&self) -> u32 {
        self.count(3)
    }

    pub fn node(&self, i: u32) -> Result<NodeView, Damaged> {
        let [first_arm, arms, verdict, parent, step] = self.record(0, i)?;
        let verdict = match verdict {
            0 => None,
            1 => Some(Verdict::Clean),
            n if n % 2 == 0 => Some(Verdict::Faulty(n / 2 - 1)),
            n => Some(Verdict::Unverified(n / 2 - 1)),
        };
        Ok(NodeView { first_arm, arms, verdict, parent, step: step_of(step) })
    }

    /// A node's arms: the step and where it leads, always to a later node.
    pub fn arm(&self, at: u32, node: &NodeView, arm: u32) -> Result<(Step, u32), Damaged> {
        let [step, child] = self.record(1, node.first_arm.checked_add(arm).ok_or(Damaged)?)?;
        if child <= at { Err(Damaged) } else { Ok((step_of(step), child)) }
    }

    pub fn leaf(&self, i: u32) -> Result<u32, Damaged> {
        self.record(7, i).map(|[node]| node)
    }

    /// The number of the leaf that a node is. It stays when paths are added to the store; the node's does not.
    pub fn leaf_at(&self, node: u32) -> Option<u32> {
        (0..self.leaves()).find(|leaf| self.leaf(*leaf) == Ok(node))
    }

    /// Question and answer.
    pub fn fact(&self, fact: u32) -> Result<(&'a [u8], &'a [u8]), Damaged> {
        let [question, answer] = self.record(2, fact)?;
        Ok((self.text(question)?, self.text(answer)?))
    }

    /// A condition's form.
    pub fn condition(&self, condition: u32) -> Result<&'a [u8], Damaged> {
        let [first, records] = self.record(3, condition)?;
        if records as usize > self.most_records {
            return Err(Damaged);
        }
        let at = (first as usize).checked_mul(NODE).ok_or(Damaged)?;
        self.tables[4].get(at..).and_then(|rest| rest.get(..records as usize * NODE)).ok_or(Damaged)
    }

    pub fn name(&self, name: u32) -> Result<&'a [u8], Damaged> {
        self.spelled(5, name)
    }

    pub fn text(&self, text: u32) -> Result<&'a [u8], Damaged> {
        self.spelled(6, text)
    }

    fn spelled(&self, table: usize, i: u32) -> Result<&'a [u8], Damaged> {
        let [at, len] = self.record(table, i)?;
        self.tables[8].get(at as usize..).and_then(|rest| rest.get(..len as usize)).ok_or(Damaged)
    }

    /// The tree, to add to it.
    pub fn tree(&self) -> Result<Tree, Damaged> {
        let mut tree = Tree::default();
        for i in 0..self.names() {
            tree.name(self.name(i)?);
        }
        for i in 0..self.count(6) {
            tree.text(self.text(i)?);
        }
        for i in 0..self.facts() {
            let (question, answer) = self.fact(i)?;
            tree.fact(question, answer);
        }
        for i in 0..self.conditions() {
            tree.condition(self.condition(i)?);
        }
        let mut places = vec![0; self.nodes() as usize];
        for i in 0..self.nodes() {
            let node = self.node(i)?;
            for arm in 0..node.arms {
                let (step, child) = self.arm(i, &node, arm)?;
                *places.get_mut(child as usize).ok_or(Damaged)? = tree.child(places[i as usize], step);
            }
        }
        for i in 0..self.leaves() {
            let leaf = self.leaf(i)?;
            let verdict = self.node(leaf)?.verdict.ok_or(Damaged)?;
            tree.end(places[leaf as usize], verdict);
        }
        Ok(tree)
    }
}

fn step_of(word: u32) -> Step {
    if word & FACT != 0 { Step::Fact(word & !FACT) } else { Step::Holds(word) }
}
